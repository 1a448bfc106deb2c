"""The eviction problem: which running jobs to kill or checkpoint so that nodes are free in time [Maurya2020]."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import gcd, lcm
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

from ...errors import MissingValue, WrongArgument
from .. import language as sl
from ..arguments import checked, is_number, is_whole, shown, unknown_keyword
from ..elements import Element, Elements, named, plain_sentence
from ..gantt import GREY, RED, Bar, Gantt, Mark, Row
from ..kind import ProblemKind, resolve
from ..language import Assignment, Integer, Interval, Linear, Model, Violation
from ..platform import ProblemError
from ..problem import Encoding, Schedule, checked_schedule
from ..words import ByName, duration, how_many, listed, with_short_repr
from .jobs import (
    STRATEGIES,
    BatchJob,
    Checkpointing,
    EvictionCandidate,
    EvictionPlan,
    Log,
    exact,
    job_faults,
    jobs_of_table,
    possible,
    running_jobs,
    whole_job,
    whole_steps,
)

if TYPE_CHECKING:
    import pandas


READ_LOG = "..instances.formats.swf:read_swf"  # of a path; imported when it is needed
SETTINGS = {"nodes_needed": 0, "deadline_s": 0, "step_s": 1, "now": None}  # whole numbers and their least values


@checked(values=False)
@with_short_repr
@dataclass(frozen=True, init=False)
class Eviction:
    """Free ``nodes_needed`` nodes within ``deadline_s`` with the least loss, and then with the least checkpoint time.

    The checkpoints are written one after another, and their times, waiting included, add up. With ``shared_bandwidth``
    they are written in parallel within the bandwidth of the file system, and the checkpoint time is the end of the last
    one. Times are rounded up to whole steps, the deadline is rounded down. Of equally good plans, one with the most
    application-level checkpoints is wanted. The objective is (loss in node-seconds, checkpoint time in seconds).

    Parameters
    ----------
    jobs : iterable of BatchJob or EvictionCandidate
        The running jobs. A BatchJob needs ``now`` and both bandwidths.
    nodes_needed : int
        The number of nodes to free.
    deadline_s : int
        Seconds from now by which all checkpoints must have ended.
    step_s : int, default 60
        The length of a time step in seconds.
    now : int, default 0
        The time in seconds, on the clock of the jobs.
    file_system_mb_s, node_mb_s : float, optional
        The bandwidth of the file system and that of one node, in MB/s.
    shared_bandwidth : bool, default False
        Whether checkpoints may be written in parallel.

    Raises
    ------
    ProblemError
        If the data contradict each other, or the jobs have fewer nodes than are needed; the message names the jobs.

    References
    ----------
    [Maurya2020].

    Examples
    --------
    >>> jobs = [EvictionCandidate("a", 64, 7200, 90, None), EvictionCandidate("b", 64, 3600, 300, 200)]
    >>> p = Eviction(jobs, nodes_needed=100, deadline_s=180)
    >>> p.value(EvictionPlan({"a": "sys", "b": "kill"}))
    (3600, 120)
    """

    jobs: tuple[BatchJob | EvictionCandidate, ...]
    nodes_needed: int
    deadline_s: int
    step_s: int
    now: int
    file_system_mb_s: float | None
    node_mb_s: float | None
    shared_bandwidth: bool
    candidates: tuple[EvictionCandidate, ...] = field(compare=False, repr=False)

    kind: str = field(default="eviction", init=False)
    sense: Literal["minimize", "maximize"] = field(default="minimize", init=False)

    def __init__(
        self,
        jobs: Iterable[BatchJob | EvictionCandidate],
        nodes_needed: int,
        deadline_s: int,
        step_s: int = 60,
        now: int = 0,
        file_system_mb_s: float | None = None,
        node_mb_s: float | None = None,
        shared_bandwidth: bool = False,
    ) -> None:
        checked = [whole_job(j) for j in jobs]
        values = {
            "jobs": tuple(made for made, _ in checked),
            "nodes_needed": nodes_needed,
            "deadline_s": deadline_s,
            "step_s": step_s,
            "now": now,
            "file_system_mb_s": file_system_mb_s,
            "node_mb_s": node_mb_s,
            "shared_bandwidth": shared_bandwidth,
            "candidates": (),
            "kind": "eviction",
            "sense": "minimize",
        }
        for name, value in values.items():
            object.__setattr__(self, name, int(value) if name in SETTINGS and is_whole(value) else value)
        _raise([*_settings_faults(self), *(why for _, faults_of_job in checked for why in faults_of_job)])
        _raise(wrong.of(j.id) for j in self.jobs for wrong in job_faults(j, self.now))
        object.__setattr__(self, "candidates", tuple(self._candidate(j) for j in self.jobs))
        _raise([*_too_few(self), *(_bandwidth_faults(self) if shared_bandwidth else ())])

    def _candidate(self, job: BatchJob | EvictionCandidate) -> EvictionCandidate:
        if isinstance(job, EvictionCandidate):
            return job
        assert self.file_system_mb_s is not None and self.node_mb_s is not None  # checked by _settings_faults
        return job.candidate(self.now, self.file_system_mb_s, self.node_mb_s)

    @classmethod
    @checked
    def from_trace(
        cls,
        trace: Log | str | Path,
        at: int,
        nodes_needed: int = 0,
        deadline_s: int = 900,
        step_s: int = 60,
        checkpointing: Checkpointing | None = None,
        shared_bandwidth: bool = False,
    ) -> Eviction:
        """Return the problem of the jobs that run at one time of a log.

        Logs have no data on checkpoints; they are drawn as ``checkpointing`` says.

        Parameters
        ----------
        trace : Log, str or Path
            A log whose units are nodes (``read_swf`` with one core per node), or the path of its file.
        at : int
            The time in seconds.
        nodes_needed, deadline_s, step_s, shared_bandwidth
            As for ``Eviction``.
        checkpointing : Checkpointing, optional
            The random model of checkpoints. None: the default values of ``Checkpointing``.

        Returns
        -------
        Eviction
            The problem.

        Raises
        ------
        ProblemError
            If no job runs at that time, or the jobs have fewer nodes than are needed.
        """
        if isinstance(trace, (str, Path)):
            trace = cast(Log, resolve(READ_LOG)(trace))
        settings = checkpointing or Checkpointing()
        jobs = [BatchJob(*row) for row in running_jobs(trace, at, settings)]
        bandwidths = settings.file_system_mb_s, settings.node_mb_s
        return cls(jobs, nodes_needed, deadline_s, step_s, at, *bandwidths, shared_bandwidth)

    @classmethod
    def from_pandas(cls, table: pandas.DataFrame, nodes_needed: int, deadline_s: int, **others: Any) -> Eviction:
        """Return the problem of the running jobs in a table.

        Parameters
        ----------
        table : pandas.DataFrame
            One row per job. The columns are the fields of ``EvictionCandidate``, or, if it has the column ``memory``, those of
            ``BatchJob``; ``id`` may be called ``job``. An empty cell is None.
        nodes_needed, deadline_s
            As for ``Eviction``.
        **others
            Further arguments of ``Eviction``, such as ``step_s``.

        Raises
        ------
        ProblemError
            If a column is missing or unknown, or the data contradict each other.

        Examples
        --------
        >>> import pandas
        >>> table = pandas.DataFrame({"job": ["a"], "nodes": [64], "loss": [7200], "system_s": [90]})
        >>> Eviction.from_pandas(table, nodes_needed=60, deadline_s=180).jobs
        (EvictionCandidate(id='a', nodes=64, loss=7200, system_s=90, application_s=None, wait_s=0, mb_s=None),)
        """
        return cls(jobs_of_table(table), nodes_needed, deadline_s, **others)

    @cached_property
    def steps(self) -> int:
        """The number of whole steps within the deadline."""
        return self.deadline_s // self.step_s

    @cached_property
    def nodes_in_use(self) -> int:
        """The number of nodes of all running jobs."""
        return sum(c.nodes for c in self.candidates)

    @cached_property
    def by_id(self) -> dict[str, EvictionCandidate]:
        """The candidates by the ids of their jobs."""
        return {c.id: c for c in self.candidates}

    @cached_property
    def checkpoint_steps(self) -> dict[str, dict[str, int]]:
        """{job: {"app": steps, "sys": steps}}: steps from now to the end of each possible checkpoint, rounded up."""
        return {c.id: {w: whole_steps(s, self.step_s) for w, s in possible(c)} for c in self.candidates}

    @cached_property
    def writing_steps(self) -> dict[str, dict[str, int]]:
        """The same without the waiting time: the steps for which a checkpoint writes."""
        return {
            c.id: {
                w: whole_steps(exact(s) - (exact(c.wait_s) if w == "app" else 0), self.step_s) for w, s in possible(c)
            }
            for c in self.candidates
        }

    def replace(self, **changes: Any) -> Eviction:
        """Return a copy with other values of the named parameters."""
        names = ("jobs", "nodes_needed", "deadline_s", "step_s", "now", "file_system_mb_s", "node_mb_s")
        values = {name: getattr(self, name) for name in (*names, "shared_bandwidth")}
        for name in changes:
            if name not in values:
                raise unknown_keyword("replace", name, values)
        return Eviction(**{**values, **changes})

    @property
    def formulations(self) -> Mapping[str, Callable[[], Encoding]]:
        """``serial``, or ``shared`` with a shared bandwidth; both are exact."""
        if self.shared_bandwidth:
            made = {"shared": lambda: shared(self)}
        else:
            made = {"serial": lambda: serial(self)}
        return ByName("formulation", made)

    def verify(self, schedule: Schedule) -> list[Violation]:
        """Return all violations of the plan, from the data alone."""
        return verify(self, checked_schedule(schedule, "verify"))

    def value(self, schedule: Schedule) -> tuple[int, int]:
        """Return (loss in node-seconds, checkpoint time in seconds) of a plan, from the data alone."""
        return objective(self, checked_schedule(schedule, "value"))

    def read(self, data: Any) -> EvictionPlan:
        """Return the plan of JSON data, as result records hold it; raise ValueError if they are malformed."""
        return EvictionPlan.from_json(data)


def _raise(faults: Iterable[str]) -> None:
    listed = list(faults)
    if listed:
        more = ""
        if len(listed) > 10:
            more = f"\n... and {len(listed) - 10} more"
        raise ProblemError("\n".join(listed[:10]) + more)


def _settings_faults(p: Eviction) -> Iterator[str]:
    """Yield a message for each wrong number of the problem, and for each job that is listed twice."""
    for name, least in SETTINGS.items():
        value = getattr(p, name)
        if not is_whole(value) or (least is not None and value < least):
            more = ""
            if least is not None:
                more = f" of at least {least}"
            yield f"{name} is {shown(value)}; a whole number{more} is expected"
    for name, count in Counter(j.id for j in p.jobs).items():
        if count > 1:
            yield f"job {name!r} is listed {how_many(count, 'time')}"
    physical = [j for j in p.jobs if isinstance(j, BatchJob)]
    for name, bandwidth in (("file_system_mb_s", p.file_system_mb_s), ("node_mb_s", p.node_mb_s)):
        if bandwidth is None and physical:
            yield f"{name} is missing: the checkpoints of job {physical[0].id!r} need this bandwidth in MB/s"
        elif bandwidth is not None and not (is_number(bandwidth) and bandwidth > 0):
            yield f"{name} is {shown(bandwidth)}; more than 0 MB/s is expected"


def _bandwidth_faults(p: Eviction) -> Iterator[str]:
    """Yield a message for each missing or wrong bandwidth that ``shared_bandwidth`` needs."""
    if p.file_system_mb_s is None:
        yield "shared_bandwidth needs file_system_mb_s, the bandwidth of the file system in MB/s; it is missing"
        return
    for c in p.candidates:
        if c.mb_s is None and p.checkpoint_steps[c.id]:
            yield f"job {c.id!r}: shared_bandwidth needs mb_s, the bandwidth that its nodes use in MB/s; it is missing"
        elif (c.mb_s or 0) > p.file_system_mb_s:
            yield f"job {c.id!r}: mb_s is {c.mb_s}; expected is at most the file system's {p.file_system_mb_s}"


def _too_few(p: Eviction) -> Iterator[str]:
    if p.nodes_needed > p.nodes_in_use:
        yield (
            f"{how_many(p.nodes_needed, 'node', verb='are')} needed, but the {how_many(len(p.candidates), 'running job', verb='have')} only {p.nodes_in_use}: "
            f"at most {p.nodes_in_use} can be freed"
        )


# --- Verification and objective of eviction plans from the data alone, without a formulation, heuristic or solver.

CHECKPOINTS = ("app", "sys")


def verify(problem: Eviction, schedule: Schedule) -> list[Violation]:
    """Return all violations of the plan, each with the job concerned; an empty list for a feasible plan.

    Every job must have one strategy, and a checkpoint only of a kind that it can take. Enough nodes must be freed. The
    checkpoints must end by the deadline: one after another, or with a shared bandwidth in parallel, where none starts
    before its earliest time and the file system's bandwidth is never exceeded.
    """
    if not isinstance(schedule, EvictionPlan):
        return [Violation("plan", 1, f"an eviction problem needs an EvictionPlan, not a {type(schedule).__name__}")]
    fractions = [Violation(j, 1, text) for j, text in schedule.not_whole()]
    if fractions:
        return fractions
    known = problem.by_id
    violations = [Violation(j, 1, f"job {j!r} is not one of the problem") for j in schedule.strategy if j not in known]
    for c in problem.candidates:
        strategy = schedule.strategy.get(c.id)
        if strategy not in STRATEGIES:
            violations.append(
                Violation(c.id, 1, f"job {c.id!r} must be one of {', '.join(STRATEGIES)}; given is {strategy!r}")
            )
        elif strategy in CHECKPOINTS and strategy not in problem.checkpoint_steps[c.id]:
            violations.append(Violation(c.id, 1, f"job {c.id!r} cannot take a checkpoint of kind {strategy!r}"))
    freed = sum(known[j].nodes for j in schedule.evicted if j in known)
    if freed < problem.nodes_needed:
        missing = problem.nodes_needed - freed
        violations.append(
            Violation(
                "nodes", missing, f"{how_many(freed, 'node', verb='are')} freed, {problem.nodes_needed} are needed"
            )
        )
    if not violations and problem.shared_bandwidth:
        violations += _in_parallel(problem, schedule)
    if not violations:
        late = _checkpoint_steps(problem, schedule) - problem.steps
        if late > 0:
            took = (problem.steps + late) * problem.step_s
            limit = problem.deadline_s
            violations.append(
                Violation(
                    "deadline", late * problem.step_s, f"the checkpoints take {took} s, the deadline is {limit} s"
                )
            )
    return violations


def _checkpoints(problem: Eviction, plan: EvictionPlan) -> Iterator[tuple[str, str]]:
    """Yield the jobs that take a checkpoint, each with the kind of checkpoint."""
    return ((c.id, plan.strategy[c.id]) for c in problem.candidates if plan.strategy.get(c.id) in CHECKPOINTS)


def _in_parallel(problem: Eviction, plan: EvictionPlan) -> Iterator[Violation]:
    """Yield violations of starts and of the bandwidth; at equal times, ends are processed before starts."""
    events: list[tuple[int, float, str]] = []
    for job, strategy in _checkpoints(problem, plan):
        start = plan.start.get(job)
        if start is None:
            yield Violation(job, 1, f"job {job!r} takes a checkpoint but has no start of it")
            continue
        size = problem.writing_steps[job][strategy] * problem.step_s
        earliest = problem.checkpoint_steps[job][strategy] * problem.step_s - size
        if start < earliest:
            early = earliest - start
            text = (
                f"job {job!r} writes its checkpoint from {start} s on, {early} s before the earliest time, {earliest} s"
            )
            yield Violation(job, earliest - start, text)
        bandwidth = float(problem.by_id[job].mb_s or 0)
        if size:
            events += [(start, bandwidth, job), (start + size, -bandwidth, job)]
    used = 0.0
    most = float(problem.file_system_mb_s or 0)
    for time, change, job in sorted(events):
        used += change
        if change > 0 and used > most * (1 + 1e-9):
            text = f"at {time} s checkpoints use {used:g} MB/s, but the file system has {most:g} MB/s (job {job!r} starts to write)"
            yield Violation("bandwidth", used - most, text)
            return


def _checkpoint_steps(problem: Eviction, plan: EvictionPlan) -> int:
    """Return the number of steps until the last checkpoint has ended."""
    if not problem.shared_bandwidth:
        return sum(problem.checkpoint_steps[job][strategy] for job, strategy in _checkpoints(problem, plan))
    writing = problem.writing_steps
    ends = (plan.start[job] + writing[job][strategy] * problem.step_s for job, strategy in _checkpoints(problem, plan))
    return -(-max(ends, default=0) // problem.step_s)


def objective(problem: Eviction, schedule: Schedule) -> tuple[int, int]:
    """Return (loss in node-seconds, checkpoint time in seconds).

    Raises
    ------
    TypeError
        If the schedule is no EvictionPlan.
    KeyError
        If the plan lacks a strategy or a start that it needs, or has a job that the problem has not.
    """
    if not isinstance(schedule, EvictionPlan):
        raise WrongArgument(f"an eviction problem needs an EvictionPlan, not a {type(schedule).__name__}")
    missing = [c.id for c in problem.candidates if c.id not in schedule.strategy]
    if missing:
        raise MissingValue(
            f"job {missing[0]!r} has no strategy in the plan ({len(missing)} of {how_many(len(problem.candidates), 'job')}); the "
            "objective is that of all jobs"
        )
    unknown = [j for j in schedule.strategy if j not in problem.by_id]
    if unknown:
        raise MissingValue(f"job {unknown[0]!r} of the plan is not one of the problem")
    for job, strategy in _checkpoints(problem, schedule):
        if strategy not in problem.checkpoint_steps[job]:
            raise MissingValue(f"job {job!r} cannot take a checkpoint of kind {strategy!r}")
        if problem.shared_bandwidth and job not in schedule.start:
            raise MissingValue(f"job {job!r} takes a checkpoint but has no start of it")
    loss = sum(problem.by_id[job].loss for job, strategy in schedule.strategy.items() if strategy == "kill")
    return loss, _checkpoint_steps(problem, schedule) * problem.step_s


# --- Formulations of the eviction problem: ``serial`` and ``shared``, both exact.
#
# Data: ``N`` nodes are needed within ``D`` steps. Job j has ``n[j]`` nodes and the loss ``l[j]`` in node-seconds if it is
# killed. Its checkpoint of kind c (app: application-level, sys: system-level) ends ``t[j,c]`` steps from now at the
# earliest and writes for ``w[j,c]`` steps. Checkpoints with ``t[j,c] > D`` are left out. A step has ``h`` seconds.
#
# ``serial``: checkpoints are written one after another (a knapsack problem with choices)::
#
#     x[j,kill], x[j,c] in {0, 1}
#     x[j,kill] + sum_c x[j,c] <= 1                                  for each job j
#     sum_j n[j] * (x[j,kill] + sum_c x[j,c]) >= N
#     T = sum_j,c t[j,c] * x[j,c] <= D
#
# ``shared``: checkpoints are written in parallel within the bandwidth ``B`` of the file system; job j needs ``b[j]``::
#
#     v[j,c]      optional interval of size w[j,c] with start in [t[j,c] - w[j,c], D - w[j,c]]; x[j,c] is its presence
#     cumulative(v[j,c], demand b[j]) <= B
#     T = max_j,c v[j,c].end
#
# and the first two constraints of ``serial``. Objectives of both, in lexicographic order (minimized)::
#
#     sum_j l[j] * x[j,kill],     h * T,     -sum_j x[j,app]

MOST_UNITS = 2**31 - 1  # the greatest capacity that every solver accepts


@dataclass
class StrategyVariables:
    """The variables of each job: a 0/1 variable or an optional interval per strategy.

    Parameters
    ----------
    problem : Eviction
        The problem.
    model : Model
        The model.
    choices : dict
        {job: {"kill", "app" or "sys": variable}}. Checkpoints that end after the deadline have no variable.
    """

    problem: Eviction
    model: Model
    choices: dict[str, dict[str, Integer | Interval]] = field(default_factory=dict)

    def add(self, job: str) -> None:
        """Declare the variables of one job, of which at most one is chosen."""
        choices: dict[str, Integer | Interval] = {"kill": self.model.boolean(f"kill {job}")}
        for what, steps in self.problem.checkpoint_steps[job].items():
            if steps > self.problem.steps:
                continue
            name = f"{what} checkpoint of {job}"
            if self.problem.shared_bandwidth:
                writing = self.problem.writing_steps[job][what]
                window = (steps - writing, self.problem.steps - writing)
                choices[what] = self.model.interval(name, writing, window, optional=True)
            else:
                choices[what] = self.model.boolean(name)
        self.choices[job] = choices
        if len(choices) > 1:
            self.model.add(sl.sum(map(_taken, choices.values())) <= 1, f"one strategy for {job}")

    def total(self, amount: dict[tuple[str, str], int]) -> Linear:
        """Return the sum of an amount {(job, strategy): number} over the chosen strategies."""
        chosen = [(self.choices[job][what], n) for (job, what), n in amount.items() if what in self.choices[job]]
        return sl.sum([_taken(v) for v, _ in chosen], weights=[n for _, n in chosen])

    @property
    def checkpoints(self) -> list[tuple[str, str, Integer | Interval]]:
        """The variables of all checkpoints, as (job, kind, variable)."""
        return [
            (job, what, v) for job, choices in self.choices.items() for what, v in choices.items() if what != "kill"
        ]

    def read(self, assignment: Assignment) -> EvictionPlan:
        """Return the plan of an assignment, without superfluous evictions.

        A job is kept if enough nodes are free without it. Only application-level checkpoints are never dropped: the last
        objective asks for as many as possible.
        """
        strategy = dict.fromkeys(self.choices, "keep")
        start = {}
        for job, choices in self.choices.items():
            for what, v in choices.items():
                if isinstance(v, Interval) and assignment.present[v.index]:
                    strategy[job], start[job] = what, assignment.start[v.index] * self.problem.step_s
                elif isinstance(v, Integer) and assignment.integer[v.index]:
                    strategy[job] = what
        nodes = {c.id: c.nodes for c in self.problem.candidates}
        spare = sum(nodes[job] for job, what in strategy.items() if what != "keep") - self.problem.nodes_needed
        for job, what in strategy.items():
            if what in ("kill", "sys") and nodes[job] <= spare:
                strategy[job] = "keep"
                start.pop(job, None)
                spare -= nodes[job]
        return EvictionPlan(strategy, start)

    def write(self, schedule: Schedule) -> Assignment:
        """Return the assignment of a feasible plan."""
        a = Assignment(self.model)
        for job, what in schedule.strategy.items() if isinstance(schedule, EvictionPlan) else ():
            v = self.choices[job].get(what)
            if isinstance(v, Interval):
                start = -(-schedule.start[job] // self.problem.step_s)
                a.set(v, start, start + v.size_lo)
            elif v is not None:
                a.integer[v.index] = 1
        return a


def _taken(v: Integer | Interval) -> sl.Expression:
    if isinstance(v, Integer):
        return v
    return v.presence


def _strategy_variables(problem: Eviction) -> StrategyVariables:
    name = f"{how_many(problem.nodes_needed, 'node')} from {how_many(len(problem.candidates), 'job')} in {problem.deadline_s} s"
    made = StrategyVariables(problem, Model(name, horizon=problem.steps))
    for c in problem.candidates:
        made.add(c.id)
    freed = {(c.id, what): c.nodes for c in problem.candidates for what in made.choices[c.id]}
    made.model.add(made.total(freed) >= problem.nodes_needed, "nodes needed")
    return made


def _objectives(made: StrategyVariables, time: Linear) -> list[Linear]:
    loss = made.total({(c.id, "kill"): c.loss for c in made.problem.candidates})
    application = made.total({(c.id, "app"): 1 for c in made.problem.candidates})
    return [loss, time, -application]


def serial(problem: Eviction) -> Encoding:
    """Make the formulation in which checkpoints are written one after another."""
    made = _strategy_variables(problem)
    steps = {(job, what): problem.checkpoint_steps[job][what] for job, what, _ in made.checkpoints}
    time = made.total(steps)
    made.model.add(time <= problem.steps, "deadline")
    loss, time, application = _objectives(made, time)
    made.model.minimize([loss, problem.step_s * time, application])
    return Encoding(made.model, made.read, made.write, ties=1)


def shared(problem: Eviction) -> Encoding:
    """Make the formulation in which checkpoints are written in parallel, within the bandwidth of the file system."""
    made = _strategy_variables(problem)
    intervals = [(job, v) for job, _, v in made.checkpoints if isinstance(v, Interval)]
    demands, capacity = _whole_units(problem)
    if sum(demands[job] for job in {job for job, _ in intervals}) > capacity:
        made.model.add(
            sl.cumulative([v for _, v in intervals], [demands[j] for j, _ in intervals], capacity), "bandwidth"
        )
    if intervals:
        last = sl.max([v.end for _, v in intervals])
    else:
        last = sl.sum([])
    loss, last, application = _objectives(made, last.linear())
    made.model.minimize([loss, problem.step_s * last, application])
    return Encoding(made.model, made.read, made.write, ties=1)


def _whole_units(problem: Eviction) -> tuple[dict[str, int], int]:
    """Return the bandwidth of each job and of the file system as the smallest integers that need no rounding.

    If these are greater than solvers accept, they are rounded such that every solution stays feasible.
    """
    draws = {c.id: Fraction(str(c.mb_s or 0)) for c in problem.candidates}
    total = Fraction(str(problem.file_system_mb_s or 0))
    scale = Fraction(lcm(total.denominator, *(d.denominator for d in draws.values())))
    scale /= gcd(int(total * scale), *(int(d * scale) for d in draws.values())) or 1
    if total:
        scale = min(scale, MOST_UNITS / total)
    return {job: -int(-d * scale // 1) for job, d in draws.items()}, int(total * scale)


# --- How it is shown: the Gantt chart and the table of a plan, and the elements of which an explanation speaks.
#
# The elements are the nodes needed, the deadline, the bandwidth, and the cost of evicting each job. Without its element, no
# nodes are needed; checkpoints may take any time; the file system writes all checkpoints at once; and a job can be killed
# without a loss. As every job can be killed, a problem is only infeasible with a limit on its objectives, the loss and the
# checkpoint time.

RUNS = "runs"
NAMES = {"app": "application-level checkpoint", "sys": "system-level checkpoint", "kill": "killed"}
AFTER = 0.04  # share of the deadline that is drawn after it, and half of it before now


class Checkpoint(NamedTuple):
    """The times of a checkpoint in seconds from now: it begins to wait, it writes, its nodes are free."""

    begin: int
    writes: int
    end: int


def checkpoints(problem: Eviction, plan: EvictionPlan) -> Iterator[tuple[str, Checkpoint]]:
    """Yield the jobs that take a checkpoint with its times; without shared bandwidth one after another, as listed.

    Examples
    --------
    >>> from .jobs import EvictionCandidate
    >>> jobs = [EvictionCandidate("a", 64, 7200, 90, None), EvictionCandidate("b", 64, 3600, 300, 200, wait_s=100)]
    >>> dict(checkpoints(Eviction(jobs, 128, 600), EvictionPlan({"a": "sys", "b": "app"})))["b"]
    Checkpoint(begin=120, writes=240, end=360)
    """
    at = 0
    for c in problem.candidates:
        what = plan.strategy.get(c.id, "keep")
        if what not in problem.checkpoint_steps[c.id]:
            continue
        whole, writing = (
            steps[c.id][what] * problem.step_s for steps in (problem.checkpoint_steps, problem.writing_steps)
        )
        if problem.shared_bandwidth:
            start = plan.start.get(c.id, whole - writing)
            yield c.id, Checkpoint(0, start, start + writing)
        else:
            yield c.id, Checkpoint(at, at + whole - writing, at + whole)
            at += whole


def gantt(problem: Eviction, plan: Schedule) -> Gantt:
    """Return the Gantt chart of a plan: jobs are rows; they hold their nodes as long as they run or write.

    Parameters
    ----------
    problem : Eviction
    plan : EvictionPlan

    Returns
    -------
    Gantt
        Times are seconds from now.

    Raises
    ------
    TypeError
        If the schedule is no plan.
    """
    strategy = _of(plan).strategy
    written = dict(checkpoints(problem, _of(plan)))
    end = max([-int(-problem.deadline_s * (1 + AFTER)), *(c.end for c in written.values()), 1])
    bars = []
    for k, c in enumerate(problem.candidates):
        what = strategy.get(c.id, "keep")
        if c.id in written:
            _, writes, free = written[c.id]
            if writes:
                bars += [Bar(k, 0, writes, "", RUNS, 0.3, 0.7)]
            bars.append(Bar(k, writes, free, what, NAMES[what]))
        elif what == "kill":
            bars.append(Bar(k, 0, 0, f"loses {c.loss / 3600:,.4g} node-h", NAMES["kill"], mark="X"))
        else:
            bars.append(Bar(k, 0, end, "", RUNS, 0.3, 0.7))
    return Gantt(
        tuple(Row(f"{c.id} ({how_many(c.nodes, 'node', ',')})") for c in problem.candidates),
        tuple(bars),
        (*NAMES.values(), RUNS),
        colours={RUNS: GREY, NAMES["kill"]: RED},
        title=f"{how_many(problem.nodes_needed, 'node', ',')} to free within {problem.deadline_s:,} s",
        start=-int(AFTER / 2 * problem.deadline_s),
        end=end,
        marks=(Mark(problem.deadline_s, "deadline"),),
    )


def rows(problem: Eviction, plan: Schedule) -> list[dict[str, Any]]:
    """Return a row for each job of a plan.

    Parameters
    ----------
    problem : Eviction
    plan : EvictionPlan

    Returns
    -------
    list of dict
        The columns job, strategy, start (of the checkpoint, with shared bandwidth), nodes (number), writes (begin of
        the checkpoint, s from now), end (the nodes are free, s from now; None if the job is kept), loss (node-seconds).
    """
    written = dict(checkpoints(problem, _of(plan)))
    entries = []
    for row in plan.rows():
        c = problem.by_id[row["job"]]
        times = written.get(c.id)
        killed = row["strategy"] == "kill"
        end = None
        if killed:
            end = 0
        writes = None
        if times is not None:
            end = times.end
            writes = times.writes
        loss = 0
        if killed:
            loss = c.loss
        entries.append({**row, "nodes": c.nodes, "writes": writes, "end": end, "loss": loss})
    return entries


def _of(plan: Schedule) -> EvictionPlan:
    if not isinstance(plan, EvictionPlan):
        raise WrongArgument(f"an eviction problem needs an EvictionPlan, not a {type(plan).__name__}")
    return plan


# --- The elements of which an explanation speaks.

NODES = "nodes needed"
DEADLINE = "deadline"
BANDWIDTH = "bandwidth"
LOSS, TIME = "loss in node-seconds", "checkpoint time in seconds"


class EvictionElements(Elements):
    """The elements of an eviction problem.

    Parameters
    ----------
    problem : Eviction
        The problem.
    """

    objectives = (LOSS, TIME)

    def __init__(self, problem: Eviction) -> None:
        self.problem = problem
        by_loss = sorted(problem.candidates, key=lambda c: -c.loss)
        self.all = (
            Element("limit", NODES, f"{how_many(problem.nodes_needed, 'node', verb='are')} needed"),
            Element("deadline", DEADLINE, f"checkpoints end within {duration(problem.deadline_s)}"),
            *([Element("limit", BANDWIDTH, _bandwidth(problem))] if problem.shared_bandwidth else []),
            *(Element("job", c.id, _cost(c)) for c in by_loss),
        )

    def part(self, kept: Collection[Element]) -> Eviction:
        """Return the problem with the kept elements alone."""
        p = self.problem
        names = {e.name for e in kept if e.kind != "job"}
        jobs = {e.name for e in kept if e.kind == "job"}
        longest = sum(max(steps.values(), default=0) for steps in p.checkpoint_steps.values())
        draw = sum(c.mb_s or 0 for c in p.candidates)
        bandwidth = p.file_system_mb_s
        if bandwidth is not None and BANDWIDTH not in names:
            bandwidth = max(bandwidth, int(draw) + 1)
        nodes = 0
        if NODES in names:
            nodes = p.nodes_needed
        if DEADLINE in names:
            deadline = p.deadline_s
        else:
            deadline = max(p.deadline_s, longest * p.step_s)
        candidates = [c if c.id in jobs else replace(c, loss=0) for c in p.candidates]
        return p.replace(jobs=candidates, nodes_needed=nodes, deadline_s=deadline, file_system_mb_s=bandwidth)

    def sentence(self, found: Sequence[Element]) -> str:
        """Return how many nodes are free without a loss in time, and what is missing."""
        jobs = named(found, "job")
        limits = [e.text for e in found if e.kind == "limit" and e.name in (LOSS, TIME)]
        if NODES not in {e.name for e in found} or not limits:
            return plain_sentence(found)
        others = [c.nodes for c in self.problem.candidates if c.id not in jobs]
        if not jobs:
            return plain_sentence(found)
        within = [e.text for e in found if e.name in (DEADLINE, BANDWIDTH)]
        return (
            f"{how_many(self.problem.nodes_needed, 'node', verb='are')} needed, and the jobs other than {listed(jobs)} have {sum(others)}; "
            f"no choice among {listed(jobs)} frees the missing nodes if {listed([*within, *limits])}"
        )


def _bandwidth(problem: Eviction) -> str:
    return f"the file system writes {problem.file_system_mb_s:g} MB/s"


def _cost(c: EvictionCandidate) -> str:
    """Return the nodes of a job, its loss and its checkpoints in words."""
    kinds = (("an application-level", c.application_s), ("a system-level", c.system_s))
    written = [f"{kind} one ends after {float(s):g} s" for kind, s in kinds if s is not None]
    checkpoint = "it can take no checkpoint"
    if written:
        checkpoint = f"with a checkpoint, {listed(written)}"
    return f"{c.id} ({how_many(c.nodes, 'node')}) loses {c.loss} node-seconds if it is killed; {checkpoint}"


# --- The registration of eviction problems.

EVICTION = ProblemKind(
    "eviction",
    Eviction,
    reader="..instances.files.eviction_folder:read",
    writer="..instances.files.eviction_folder:write",
    start="greedy",
    portfolio="..methods.portfolio:eviction_steps",
    solver_warm_up=("..heuristics.eviction:warm_up",),
    elements=".eviction.problem:EvictionElements",
    formulations=("serial", "shared"),
    bench="..bench.kinds.eviction:EVICTION",
    gantt=".eviction.problem:gantt",
    rows=".eviction.problem:rows",
    columns=("job", "strategy", "start", "nodes", "writes", "end", "loss"),
)
