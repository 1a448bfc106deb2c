"""Where jobs may run: nodes of queues and of jobs, features, distinct and whole nodes; licences of the machine; from the data of a problem."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

import numpy as np

from ...errors import SchedlabError
from ..array_types import Bools, Ints
from ..platform import NodeGroup, Platform, ProblemError
from ..words import hint, how_many, listed, with_short_repr
from .jobs import Job, Queue, impossible, lack

if TYPE_CHECKING:
    from ..desired_profile import DesiredProfile
    from .arrays import JobArrays
    from .jobs import Durations, Running, Window


class DispatchData(Protocol):
    """The data of a dispatching problem; the fields are described in ``Dispatch``."""

    @property
    def platform(self) -> Platform:
        """The nodes."""

    @property
    def jobs(self) -> Sequence[Job]:
        """The jobs to start."""

    @property
    def queues(self) -> Sequence[Queue]:
        """The queues of the jobs."""

    @property
    def objective(self) -> str:
        """The name of the objective."""

    @property
    def sense(self) -> Literal["minimize", "maximize"]:
        """Whether the objective is minimized or maximized."""

    @property
    def now(self) -> int:
        """The time in seconds before which no job starts."""

    @property
    def running(self) -> Sequence[Running]:
        """The jobs that occupy nodes at ``now``."""

    @property
    def durations(self) -> Durations:
        """Whether a job takes its walltime or its runtime."""

    @property
    def limits(self) -> Mapping[str, float]:
        """The limits on other objectives, by their names."""

    @property
    def desired(self) -> DesiredProfile | None:
        """The desired use of the platform."""

    @property
    def over_cost(self) -> float | None:
        """The cost of an amount-hour above the desired use; None: it is a limit."""

    @property
    def ewt(self) -> dict[str, int]:
        """The expected waiting time in seconds of each queue, by its name."""

    @property
    def job_arrays(self) -> JobArrays:
        """The jobs as arrays."""

    @property
    def horizon(self) -> int:
        """A time in seconds by which some optimal schedule has started all jobs."""

    def earliest(self, job: Job) -> int:
        """Return the earliest start of the job in seconds, without regard to its windows."""

    def replace(self, **changes: Any) -> DispatchData:
        """Return a copy with other values of the named fields."""

    def duration(self, job: Job) -> int:
        """Return the duration of the job in seconds."""

    def calendar(self, job: Job) -> tuple[Window, ...]:
        """Return the daily windows in which the job may start; empty if it may start at any time."""


# --- Expressions of features, as of Slurm's ``--constraint``.
#
# ``a&b``: nodes with both; ``a|b``: nodes with one of them; parentheses group. Without parentheses ``&`` and ``|`` are applied
# from left to right, as Slurm does: ``a|b&c`` is ``(a|b)&c``.

TOKEN = re.compile(r"\s*([&|()]|[^&|()\[\]*,!\s]+)")
REFUSED = {
    "[": "[...] (all nodes of a job with the same one of several features, XOR)",
    "]": "[...] (all nodes of a job with the same one of several features, XOR)",
    "*": "'*' (numbers of nodes with a feature)",
    ",": "',' between features",
    "!": "'!' (nodes without a feature)",
}


class FeatureExpression(NamedTuple):
    """An expression of features that was read.

    Parameters
    ----------
    operator : str
        "&", "|", or "" for a feature alone.
    name : str
        The feature; empty with an operator.
    sides : tuple of FeatureExpression
        The two sides of an operator.
    """

    operator: str
    name: str = ""
    sides: tuple[FeatureExpression, ...] = ()

    @property
    def features(self) -> tuple[str, ...]:
        """The features that are named, each once."""
        if not self.operator:
            return (self.name,)
        return tuple(dict.fromkeys(name for side in self.sides for name in side.features))

    def holds(self, features: Iterable[str]) -> bool:
        """Return whether a node with these features satisfies the expression."""
        if isinstance(features, frozenset):
            has = features
        else:
            has = frozenset(features)
        if not self.operator:
            return self.name in has
        combine: Callable[[Iterable[bool]], bool]
        if self.operator == "&":
            combine = all
        else:
            combine = any
        return combine(side.holds(has) for side in self.sides)


def read_features(text: str) -> FeatureExpression:
    """Return the expression of a text.

    Parameters
    ----------
    text : str
        Such as "a", "a&b", "a|b", "(a|b)&c".

    Raises
    ------
    ProblemError
        If the text is no such expression; counts (``*``) and XOR (``[a|b]``) of Slurm are refused by name.

    Examples
    --------
    >>> read_features("(gpu|mic)&ib").holds({"mic", "ib"}), read_features("a|b&c").holds({"a"})
    (True, False)
    """
    tokens: list[str] = []
    at = 0
    while at < len(text.rstrip()):
        token = TOKEN.match(text, at)
        if token is None:
            character = text[at:].lstrip()[0]
            raise ProblemError(
                f"features {text!r}: {REFUSED.get(character, repr(character))} is not supported; expected names with "
                "'&', '|' and parentheses"
            )
        tokens.append(token.group(1))
        at = token.end()
    expression, rest = _expression(text, tokens)
    if rest:
        raise ProblemError(f"features {text!r}: {rest[0]!r} is not expected there")
    return expression


ONE_SET = re.compile(r"([^\[\]]*)\[([^\[\]*]*)\]([^\[\]*]*)")  # with [a|b] once, and no numbers of nodes


def alternative_features(text: str) -> tuple[str, ...]:
    """Return the expressions of features one of which all nodes of a job must have, as ``[a|b]`` of Slurm asks (XOR).

    Parameters
    ----------
    text : str
        Features as Slurm writes them. Without one such bracket, or with numbers of nodes in it, it is returned alone.

    Examples
    --------
    >>> alternative_features("ib&[rack1|(rack2&ssd)]"), alternative_features("a|b"), alternative_features("[a*2&b*1]")
    (('ib&rack1', 'ib&(rack2&ssd)'), ('a|b',), ('[a*2&b*1]',))
    """
    match = ONE_SET.fullmatch(text.strip())
    if match is None:
        return (text,)
    before, inside, after = match.groups()
    options = re.findall(r"(?:[^|()]|\([^()]*\))+", inside)
    names = [
        option.strip() if re.fullmatch(r"[^&|]*|\(.*\)", option.strip()) else f"({option.strip()})"
        for option in options
    ]
    return tuple(f"{before}{name}{after}" for name in names) or (text,)


def _expression(text: str, tokens: Sequence[str]) -> tuple[FeatureExpression, Sequence[str]]:
    """Return the expression at the begin of the tokens, up to a closing parenthesis, and the tokens after it."""
    made, rest = _operand(text, tokens)
    while rest and rest[0] in "&|":
        operator = rest[0]
        side, rest = _operand(text, rest[1:])
        made = FeatureExpression(operator, "", (made, side))
    return made, rest


def _operand(text: str, tokens: Sequence[str]) -> tuple[FeatureExpression, Sequence[str]]:
    if not tokens or tokens[0] in "&|)":
        where = "at the end"
        if tokens:
            where = f"before {tokens[0]!r}"
        raise ProblemError(f"features {text!r}: the name of a feature is expected {where}")
    if tokens[0] != "(":
        return FeatureExpression("", tokens[0]), tokens[1:]
    inside, rest = _expression(text, tokens[1:])
    if not rest or rest[0] != ")":
        raise ProblemError(f"features {text!r}: a closing parenthesis is missing")
    return inside, rest[1:]


# --- The nodes that jobs may use.


class Eligibility:
    """The nodes that jobs of some queues may use on a platform; equal answers are computed once.

    A job may use the nodes of its queue (``Queue.nodes``) that it names (``Job.nodes``) and that satisfy its features.

    Parameters
    ----------
    platform : Platform
        The nodes.
    queues : sequence of Queue
        The queues of the jobs.
    """

    def __init__(self, platform: Platform, queues: Sequence[Queue]) -> None:
        self.platform = platform
        self.queues = {q.name: q for q in queues}
        self._known: dict[tuple[tuple[str, ...], tuple[str, ...], str], Bools] = {}

    @cached_property
    def _index(self) -> dict[str, int]:
        return {name: n for n, name in enumerate(self.platform.nodes)}

    def nodes(self, job: Job) -> Bools:
        """Return whether a job may use each node, shape (nodes,)."""
        queue = self.queues.get(job.queue)
        key = (queue.nodes if queue is not None else (), job.nodes, job.features)
        if key not in self._known:
            self._known[key] = self._made(*key)
        return self._known[key]

    def _made(self, of_queue: Sequence[str], of_job: Sequence[str], features: str) -> Bools:
        may = np.ones(len(self.platform.nodes), np.bool_)
        for names in (of_queue, of_job):
            if names:
                named = np.zeros(may.size, np.bool_)
                named[[self._index[name] for name in names]] = True
                may &= named
        if features:
            expression = read_features(features)
            groups = self.platform.groups
            may &= np.repeat([expression.holds(g.features) for g in groups], [g.count for g in groups])
        return may


def eligible_nodes(platform: Platform, queues: Sequence[Queue], job: Job) -> tuple[str, ...]:
    """Return the names of the nodes that a job may use: those of its queue that it names and that have its features.

    Parameters
    ----------
    platform : Platform
        The nodes.
    queues : sequence of Queue
        The queues; that of the job need not be among them.
    job : Job
        The job.

    Returns
    -------
    tuple of str
        In the order of ``platform.nodes``. Whether the units of the job fit there is not tested.

    Examples
    --------
    >>> from schedlab.models.platform import NodeGroup
    >>> machine = Platform([NodeGroup("n", 3, {"cores": 4}), NodeGroup("g", 1, {"cores": 4}, features=("gpu",))])
    >>> eligible_nodes(machine, [Queue("q", 60, nodes=("n-3", "g-1"))], Job("a", 0, 9, 1, {}, "q", features="gpu"))
    ('g-1',)
    """
    may = Eligibility(platform, queues).nodes(job)
    return tuple(name for name, here in zip(platform.nodes, may.tolist(), strict=True) if here)


@with_short_repr
@dataclass(frozen=True, eq=False)
class NodeSets:
    """The sets of nodes that jobs may use, as arrays.

    Parameters
    ----------
    number : array of int, shape (jobs,)
        The row of ``sets`` of each job.
    sets : array of bool, shape (sets, nodes)
        The distinct sets of nodes; the first one is all nodes.

    Examples
    --------
    >>> from schedlab.models.platform import NodeGroup
    >>> machine = Platform([NodeGroup("n", 3, {"cores": 4})])
    >>> jobs = [Job("a", 0, 9, 1, {}, "q"), Job("b", 0, 9, 1, {}, "q", nodes=("n-2",))]
    >>> made = NodeSets.of(machine, [Queue("q", 60)], jobs)
    >>> made.number.tolist(), made.sets.tolist()
    ([0, 1], [[True, True, True], [False, True, False]])
    """

    number: Ints
    sets: Bools

    @classmethod
    def of(cls, platform: Platform, queues: Sequence[Queue], jobs: Sequence[Job]) -> NodeSets:
        """Make the sets of some jobs.

        Parameters
        ----------
        platform : Platform
            The nodes.
        queues : sequence of Queue
            The queues of the jobs.
        jobs : sequence of Job
            The jobs.
        """
        every = np.ones(len(platform.nodes), np.bool_)
        if not any(q.nodes for q in queues) and not _some(jobs, "nodes") and not _some(jobs, "features"):
            return cls(np.zeros(len(jobs), np.int64), every[None])
        eligibility = Eligibility(platform, queues)
        rows = {every.tobytes(): 0}
        sets = [every]
        number = np.zeros(len(jobs), np.int64)
        for k, job in enumerate(jobs):
            may = eligibility.nodes(job)
            row = rows.setdefault(may.tobytes(), len(sets))
            if row == len(sets):
                sets.append(may)
            number[k] = row
        return cls(number, np.stack(sets))

    @property
    def restricting(self) -> bool:
        """Whether a job may not use all nodes."""
        return bool(self.number.any())


def _some(jobs: Sequence[Job], field: str) -> bool:
    return any(map(attrgetter(field), jobs))


@with_short_repr
@dataclass(frozen=True, eq=False)
class NodeClasses:
    """Classes of equal nodes: of the same capacity, and in the same sets of nodes that jobs may use.

    Parameters
    ----------
    members : tuple of tuple of str
        The names of the nodes of each class.
    capacity : tuple of tuple of int
        The capacity of a node of each class, in the order of ``platform.resources``.
    sets : array of bool, shape (sets, classes)
        Whether the nodes of a class are in each of ``NodeSets.sets``.
    """

    members: tuple[tuple[str, ...], ...]
    capacity: tuple[tuple[int, ...], ...]
    sets: Bools

    @classmethod
    def of(cls, platform: Platform, sets: NodeSets) -> NodeClasses:
        """Make the classes of a platform; without restrictions those of ``platform.classes``."""
        if not sets.restricting:
            classes = platform.classes
            return cls(tuple(classes.values()), tuple(classes), np.ones((len(sets.sets), len(classes)), np.bool_))
        by_key: dict[tuple[tuple[int, ...], bytes], list[int]] = {}
        for n, name in enumerate(platform.nodes):
            by_key.setdefault((platform.capacity[name], sets.sets[:, n].tobytes()), []).append(n)
        names = platform.nodes
        first = [rows[0] for rows in by_key.values()]
        return cls(
            tuple(tuple(names[n] for n in rows) for rows in by_key.values()),
            tuple(capacity for capacity, _ in by_key),
            np.ascontiguousarray(sets.sets[:, first]),
        )

    @cached_property
    def of_node(self) -> dict[str, int]:
        """The class of each node by its name, in the order of the classes."""
        return {name: c for c, names in enumerate(self.members) for name in names}

    def units(self, job: Job, node_set: int, resources: Sequence[str]) -> list[int]:
        """Return how many units of a job of equal units an empty node of each class may hold.

        Parameters
        ----------
        job : Job
            A job, or a part of a heterogeneous job.
        node_set : int
            The row of ``sets`` with the nodes that it may use.
        resources : sequence of str
            Those of the platform.
        """
        request = [job.request.get(r, 0) for r in resources]
        if job.per_node is None:
            most = job.units
        else:
            most = min(job.units, job.per_node)
        may = self.sets[node_set].tolist()
        return [
            min([most, *(c // r for c, r in zip(vector, request, strict=True) if r > 0)]) if here else 0
            for vector, here in zip(self.capacity, may, strict=True)
        ]


def least_amounts(classes: NodeClasses, job: Job, node_set: int, resources: Sequence[str]) -> list[int]:
    """Return at least what a job of equal units takes of each resource of the machine while it runs.

    A whole-node job takes all of its nodes. A node with the amount C that holds at most m of its units contributes C / m of
    it for each unit there at least; so U units take at least U times the least C / m of all nodes, rounded up.

    Examples
    --------
    >>> from schedlab.models.platform import NodeGroup
    >>> machine = Platform([NodeGroup("n", 3, {"cores": 8})])
    >>> job = Job("a", 0, 9, 3, {"cores": 3}, "q", whole_nodes=True)
    >>> least_amounts(NodeClasses.of(machine, NodeSets.of(machine, [], [job])), job, 0, ["cores"])
    [12]
    """
    own = [job.units * job.request.get(r, 0) for r in resources]
    if not job.whole_nodes:
        return own
    room = classes.units(job, node_set, resources)
    usable = [(vector, most) for vector, most in zip(classes.capacity, room, strict=True) if most > 0]
    whole = [min(-(-job.units * vector[k] // most) for vector, most in usable) for k in range(len(resources))]
    return [max(amounts) for amounts in zip(own, whole, strict=True)]


# --- The checks of these fields.

PLACE_FIELDS = ("nodes", "features", "per_node", "whole_nodes", "licences")


def is_placed_freely(problem: DispatchData) -> bool:
    """Return whether any units may run on any nodes that hold them: no nodes, features, whole nodes, licences are asked for."""
    jobs = _all_jobs(problem)
    return _anywhere(problem) and not _some(jobs, "licences")


def _all_jobs(problem: DispatchData) -> Sequence[Job]:
    if problem.running:
        return [*problem.jobs, *(r.job for r in problem.running)]
    return problem.jobs


def _anywhere(problem: DispatchData) -> bool:
    """Return whether jobs may use all nodes, with as many units on each as fit, beside other jobs."""
    jobs = _all_jobs(problem)
    if any(q.nodes for q in problem.queues) or any(_some(jobs, name) for name in ("nodes", "features")):
        return False
    return not any(j.per_node is not None or j.whole_nodes for j in jobs)


def place_faults(problem: DispatchData) -> list[str]:
    """Return a message for each queue, job and running job whose nodes, features or licences contradict the platform."""
    if is_placed_freely(problem):
        return []
    platform = problem.platform
    known = set(platform.nodes)
    faults = []
    for q in problem.queues:
        faults += [f"queue {q.name!r}: {why}" for why in _unknown_nodes(q.nodes, known)]
    messages: dict[str, str | None] = {}
    features = sorted({f for g in platform.groups for f in g.features})
    for job in problem.jobs:
        who = f"job {job.id!r}"
        faults += [f"{who}: {why}" for why in _unknown_nodes(job.nodes, known)]
        if job.features:
            if job.features not in messages:
                messages[job.features] = _feature_fault(job.features, features)
            told = messages[job.features]
            if told is not None:
                faults.append(f"{who}: {told}")
        if job.chunks and (job.per_node is not None or job.whole_nodes):
            what = "whole_nodes"
            if job.per_node is not None:
                what = "per_node"
            faults.append(
                f"{who}: {what} is not supported for a heterogeneous job; give it to jobs of equal units alone"
            )
    for job in _all_jobs(problem):
        faults += [f"job {job.id!r}: {why}" for why in _licence_faults(job, platform.licences)]
    if problem.desired is not None and problem.over_cost is None and not _anywhere(problem):
        faults.append(
            "nodes, features, per_node and whole_nodes are not supported beside a desired use that is a limit; "
            "give it a cost (over_cost), or leave it out"
        )
    return faults


def _unknown_nodes(names: Sequence[str], known: set[str]) -> Iterator[str]:
    for name in names:
        if name not in known:
            yield f"there is no node {name!r}; {hint(name, sorted(known)[:1000])}"


def _feature_fault(text: str, known: Sequence[str]) -> str | None:
    try:
        expression = read_features(text)
    except ProblemError as e:
        return str(e)
    unknown = next((name for name in expression.features if name not in known), None)
    if unknown is None:
        return None
    return f"no node has the feature {unknown!r}; {hint(unknown, known, 'the features are', 'no node has features')}"


def _licence_faults(job: Job, licences: Mapping[str, int]) -> Iterator[str]:
    for name, amount in job.licences.items():
        if amount < 0:
            yield f"asks for {amount} licences of {name!r}; at least 0 is expected"
        elif name not in licences:
            yield f"there is no licence {name!r}; {hint(name, list(licences), 'the licences are', 'the platform has none')}"
        elif amount > licences[name]:
            yield f"asks for {amount} licences of {name!r}, the platform has {licences[name]}"


# --- Whether the empty platform holds a job on the nodes that it may use.


def impossible_jobs(platform: Platform, queues: Sequence[Queue], jobs: Sequence[Job]) -> list[tuple[Job, str]]:
    """Return the jobs that their nodes cannot hold while the machine is empty, each with a text that says why.

    Parameters
    ----------
    platform : Platform
        The nodes and licences.
    queues : sequence of Queue
        The queues of the jobs; their nodes, those of the jobs, and the features exist.
    jobs : sequence of Job
        The jobs.
    """
    of_queue = {q.name for q in queues if q.nodes}
    if not of_queue and not any(_some(jobs, name) for name in PLACE_FIELDS):
        return impossible(platform, jobs)
    refused = {job.id: why for job, why in impossible(platform, jobs)}
    eligibility = Eligibility(platform, queues)
    for job in jobs:
        if job.id not in refused and (job.queue in of_queue or any(getattr(job, name) for name in PLACE_FIELDS)):
            why = next(_licence_faults(job, platform.licences), None) or _does_not_fit(eligibility, job)
            if why is not None:
                refused[job.id] = why
    return [(job, refused[job.id]) for job in jobs if job.id in refused]


def _does_not_fit(eligibility: Eligibility, job: Job) -> str | None:
    """Return why the nodes that a job may use cannot hold it while they are empty; None if they can."""
    may = eligibility.nodes(job)
    whose = described_nodes(eligibility, job)
    if not may.any():
        return f"{whose}: there is no such node"
    platform = eligibility.platform
    usable = []
    first = 0
    for group in platform.groups:
        count = int(may[first : first + group.count].sum())
        first += group.count
        if count:
            usable.append((tuple(group.capacity.get(r, 0) for r in platform.resources), count))
    for part in job.parts:
        request = tuple(part.request.get(r, 0) for r in platform.resources)
        if part.per_node is None:
            most = part.units
        else:
            most = min(part.units, part.per_node)
        room = sum(count * min(most, platform.units_on(vector, request)) for vector, count in usable)
        if room < part.units:
            at_most = ""
            if part.per_node is not None:
                at_most = f", at most {part.per_node} on a node"
            asks = f"asks for {how_many(part.units, 'unit')} of {dict(part.request)}{at_most}"
            return (
                f"{asks}, but the {how_many(int(may.sum()), 'node')} that it may use hold only {room} of them ({whose})"
            )
    if not job.chunks:
        return None
    shape = [(p.units, tuple(p.request.get(r, 0) for r in platform.resources)) for p in job.parts]
    alone = [
        NodeGroup(f"g{k}", count, dict(zip(platform.resources, vector, strict=True)))
        for k, (vector, count) in enumerate(usable)
    ]
    why = lack(Platform(alone), shape)
    if why is None:
        return None
    return f"{why} ({whose})"


def described_nodes(eligibility: Eligibility, job: Job) -> str:
    """Return in words which nodes a job may use.

    Examples
    --------
    >>> from schedlab.models.platform import NodeGroup
    >>> machine = Platform([NodeGroup("n", 3, {"cores": 4}, features=("ib",))])
    >>> queues = [Queue("q", 60, nodes=("n-3",))]
    >>> described_nodes(Eligibility(machine, queues), Job("a", 0, 9, 1, {}, "q", features="ib"))
    "it may use the nodes of queue 'q' with the features 'ib'"
    """
    queue = eligibility.queues.get(job.queue)
    words = []
    if job.nodes:
        words.append(listed(job.nodes, 5))
    if queue is not None and queue.nodes:
        words.append(f"of queue {job.queue!r}")
    if job.features:
        words.append(f"with the features {job.features!r}")
    if words:
        return f"it may use the nodes {' '.join(words)}"
    return "it may use all nodes"


# --- Parts that do not obey these fields.


class NotPlaced(SchedlabError, ValueError):
    """A part of schedlab does not obey nodes, features, distinct and whole nodes, or licences; the message names it."""


def refuse_places(problem: DispatchData, what: str) -> None:
    """Raise NotPlaced if a problem restricts where jobs may run, or has licences.

    Parameters
    ----------
    problem : DispatchData
        The problem.
    what : str
        The part that does not obey this, at the begin of the message.
    """
    if is_placed_freely(problem):
        return
    asked = []
    jobs = _all_jobs(problem)
    if any(q.nodes for q in problem.queues):
        asked.append("nodes of queues")
    if _some(jobs, "nodes") or _some(jobs, "features"):
        asked.append("nodes or features of jobs")
    if any(j.per_node is not None for j in jobs):
        asked.append("per_node")
    if _some(jobs, "whole_nodes"):
        asked.append("whole_nodes")
    if _some(jobs, "licences"):
        asked.append("licences")
    raise NotPlaced(f"{what} does not obey {listed(asked)}; use another method, such as cpsat:counts")
