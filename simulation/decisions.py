"""The answer of a dispatcher: its check, and the starts that it plans for later."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from heapq import heappop, heappush
from itertools import count
from math import isfinite
from numbers import Integral, Real
from typing import Any, NamedTuple, get_args

from ..heuristics.kernels.profile import NEVER
from ..models.array_types import Ints
from ..models.counts import how_many
from ..models.whole_numbers import is_whole, wrong
from .dispatcher import Decision, Ended, PlannedStart, Start
from .dispatchers.policy import Policy

# --- Check of a dispatcher's answer: its types and values (``fault_of``), and the units and nodes of its starts.
#
# Whether the jobs wait and may start is checked by the replay in ``engine``.

ENDINGS = get_args(Ended)
LONGEST = 80  # characters of a foreign object in a message


class DecisionFault(NamedTuple):
    """The first fault of an answer, and the id of the job and the name of the node concerned, if it names them."""

    why: str
    job: str | None = None
    node: str | None = None


def fault_of(answer: object) -> DecisionFault | None:
    """Return the first fault of the form of an answer, or None if there is none.

    ``answer.starts`` and ``answer.plan`` must not be generators: this function iterates over them.

    Examples
    --------
    >>> fault_of(Decision([Start("j1", {"n-1": 1})])) is None
    True
    >>> fault_of(Decision([Start("j1", {"n-1": 0.5})])).why
    "0.5 units of job 'j1' on node 'n-1'; expected a whole number"
    """
    if not isinstance(answer, Decision):
        return DecisionFault(f"decide returned {shown(answer)}; expected a Decision (schedlab.simulation)")
    if isinstance(answer.starts, str | Mapping) or not isinstance(answer.starts, Iterable):
        return DecisionFault(
            f"Decision.starts is {shown(answer.starts)}; expected a list of Start (schedlab.simulation)"
        )
    return (
        _fault_of_statistics(answer)
        or next(filter(None, map(_fault_of_start, answer.starts)), None)
        or _fault_of_plan(answer)
    )


def _fault_of_plan(answer: Decision) -> DecisionFault | None:
    """Return the first fault of the fields that ask for something later."""
    if answer.wake is not None and not is_whole(answer.wake):
        return DecisionFault(f"Decision.wake {wrong(answer.wake, or_none=True)}, a time in seconds")
    if answer.policy is not None and answer.policy.within_profile:
        return DecisionFault(
            f"Decision.policy {answer.policy.name} keeps to a desired profile; expected a plain policy"
        )
    plan: object = answer.plan
    withdrawn: Any = answer.withdrawn
    if isinstance(withdrawn, str) or not isinstance(withdrawn, Collection) or {type(n) for n in withdrawn} - {str}:
        return DecisionFault(f"Decision.withdrawn is {shown(withdrawn)}; expected a list of ids of jobs")
    if plan is None:
        return None
    if isinstance(plan, str | Mapping) or not isinstance(plan, Iterable):
        return DecisionFault(f"Decision.plan is {shown(plan)}; expected a list of PlannedStart, or None")
    named: set[str] = {start.job for start in answer.starts}
    for planned in plan:
        if not isinstance(planned, PlannedStart):
            return DecisionFault(
                f"Decision.plan contains {shown(planned)}; expected PlannedStart(job id, {{node: units}}, time)"
            )
        fault = _fault_of_start(Start(planned.job, planned.nodes, planned.further), "PlannedStart")
        if fault is not None:
            return fault
        if not is_whole(planned.time):
            return DecisionFault(f"PlannedStart.time of job {planned.job!r} {wrong(planned.time)}", planned.job)
        if planned.job in named:
            return DecisionFault(f"job {planned.job!r} has two starts in one Decision; expected one", planned.job)
        named.add(planned.job)
    return None


def _fault_of_statistics(answer: Decision) -> DecisionFault | None:
    """Return the first fault of the fields that the statistics use."""
    seconds: Any = answer.seconds
    if answer.ended not in ENDINGS:
        return DecisionFault(f"Decision.ended is {shown(answer.ended)}; expected one of {', '.join(ENDINGS)}")
    if not _holds(seconds, Real) or not all(isfinite(value) and value >= 0 for value in seconds.values()):
        return DecisionFault(
            f"Decision.seconds is {shown(seconds)}; expected {{part: number of at least 0}}, such as model, solve, allocate"
        )
    gain: Any = answer.gain
    if gain is not None and not (isinstance(gain, Real) and not isinstance(gain, bool) and isfinite(gain)):
        return DecisionFault(f"Decision.gain is {shown(gain)}; expected a finite number, or None if it is unknown")
    for what, number in (("urgent", answer.urgent), ("jobs", answer.jobs)):
        if not is_whole(number) or number < 0:
            return DecisionFault(f"Decision.{what} is {shown(number)}; expected a whole number of jobs, at least 0")
    counts: Any = answer.counts
    if not _holds(counts, Integral):
        return DecisionFault(f"Decision.counts is {shown(counts)}; expected {{name: whole number}}")
    if not isinstance(answer.used, str):
        return DecisionFault(f"Decision.used is {shown(answer.used)}; expected the name of a method, or an empty text")
    if answer.policy is not None and (not isinstance(answer.policy, Policy) or answer.policy.ranker is not None):
        return DecisionFault(f"Decision.policy is {shown(answer.policy)}; expected a Policy without a ranker, or None")
    requested: Any = answer.requested
    if not _holds(requested, Integral):
        return DecisionFault(f"Decision.requested is {shown(requested)}; expected {{resource: whole number}}")
    return None


def _holds(values: object, kind: type) -> bool:
    """Return whether the values are a mapping to numbers of a kind; checks of abstract types are slow, so few are made."""
    if type(values) is dict and not values:
        return True
    return isinstance(values, Mapping) and all(isinstance(value, kind) for value in values.values())


def _fault_of_start(start: object, kind: str = "Start") -> DecisionFault | None:
    if not isinstance(start, Start):
        return DecisionFault(f"Decision.starts contains {shown(start)}; expected Start(job id, {{node: units}})")
    job, nodes, further = start
    if not isinstance(job, str):
        return DecisionFault(f"{kind}.job is {shown(job)}; expected the id of a job, a string")
    if not isinstance(further, tuple | list):
        return DecisionFault(f"{kind}.further of job {job!r} is {shown(further)}; expected ({{node: units}}, ...)", job)
    for on in (nodes, *further):
        if not isinstance(on, Mapping):
            return DecisionFault(f"{kind}.nodes of job {job!r} is {shown(on)}; expected {{node: units}}", job)
        for node, units in on.items():
            if type(units) is not int and (not isinstance(units, Integral) or isinstance(units, bool)):
                return DecisionFault(
                    f"{shown(units)} units of job {job!r} on node {node!r}; expected a whole number", job
                )
    return None


def fault_of_units(job: str, nodes: Mapping[str, int], units: int, known: Mapping[str, int]) -> DecisionFault | None:
    """Return the fault of a start that has not all ``units`` of the job, or nodes that are not ``known``."""
    if sum(nodes.values()) != units or any(u < 1 for u in nodes.values()):
        return DecisionFault(
            f"job {job!r} has {how_many(units, 'unit')}; the units of its start are {dict(nodes)}", job
        )
    unknown = next((node for node in nodes if node not in known), None)
    if unknown is not None:
        why = f"the platform has no node {unknown!r}, which job {job!r} should use"
        return DecisionFault(why, job, unknown)
    return None


class Shortage(NamedTuple):
    """A node that cannot hold the units of a job: the amounts of a resource that are needed and that are there."""

    node: str
    resource: int
    need: int
    there: int


def shortage(nodes: Mapping[str, int], request: Ints, amounts: Ints, known: Mapping[str, int]) -> Shortage | None:
    """Return the first node that has too little for its units.

    Parameters
    ----------
    nodes : mapping of str to int
        Node name -> number of units.
    request : ndarray of int64, shape (resources,)
        Amounts per unit.
    amounts : ndarray of int64, shape (nodes, resources)
        Amounts that each node has.
    known : mapping of str to int
        Node name -> row of ``amounts``.

    Returns
    -------
    Shortage or None
        None if all nodes have enough.
    """
    for node, units in nodes.items():
        need, there = units * request, amounts[known[node]]
        lacks = need > there
        if lacks.any():
            r = int(lacks.argmax())
            return Shortage(node, r, int(need[r]), int(there[r]))
    return None


def shown(what: object) -> str:
    """Return the ``repr`` of an object for a message, cut after 80 characters."""
    text = repr(what)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


# --- Planned starts and requested calls: what a dispatcher has asked the engine to do later.


class Plans:
    """The planned starts and the requested calls of one replay.

    ``by_id`` holds the planned starts by the ids of the jobs. Jobs are identified by their row in the workload.
    """

    def __init__(self) -> None:
        self.by_id: dict[str, PlannedStart] = {}
        self._of: dict[int, tuple[int, PlannedStart]] = {}  # row -> number of the entry that is valid, planned start
        self._heap: list[tuple[int, int, int]] = []  # time, number of the entry, row; replaced entries stay in it
        self._calls: list[int] = []
        self._number = count()

    @property
    def pending(self) -> bool:
        """Whether there may be a planned start or a requested call; without any, the other methods have nothing to do."""
        return bool(self._heap or self._calls)

    def put(self, j: int, planned: PlannedStart) -> None:
        """Plan the start of job j, instead of the start that was planned before."""
        number = next(self._number)
        self._of[j] = number, planned
        self.by_id[planned.job] = planned
        heappush(self._heap, (planned.time, number, j))

    def remove(self, j: int) -> None:
        """Remove the planned start of job j, if there is one."""
        found = self._of.pop(j, None)
        if found is not None:
            del self.by_id[found[1].job]

    def clear(self) -> None:
        """Remove all planned starts; requested calls stay."""
        self.by_id.clear()
        self._of.clear()
        self._heap.clear()

    def due(self, now: int) -> list[tuple[int, PlannedStart]]:
        """Remove the planned starts up to now and return them with their rows, by time, then as they were planned."""
        found = []
        while self._next_start() <= now:
            _, _, j = heappop(self._heap)
            found.append((j, self._of[j][1]))
            self.remove(j)
        return found

    def call_at(self, time: int) -> None:
        """Request a call of the dispatcher."""
        if time not in self._calls:
            heappush(self._calls, time)

    def called(self, now: int) -> bool:
        """Remove the requested calls up to now; return whether there was one."""
        before = len(self._calls)
        while self._calls and self._calls[0] <= now:
            heappop(self._calls)
        return len(self._calls) < before

    def next_time(self) -> int:
        """Return the time of the next planned start or requested call; NEVER if there is none."""
        return min(self._next_start(), self._calls[0] if self._calls else NEVER)

    def _next_start(self) -> int:
        while self._heap:
            time, number, j = self._heap[0]
            if j in self._of and self._of[j][0] == number:
                return time
            heappop(self._heap)
        return NEVER
