"""The dispatching problem: jobs of units that start together on the nodes of a platform [Bridi2018, 3.3.1 and 4.1]."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from ..arguments import Natural, checked, clock_seconds, expect, is_whole, unknown_keyword
from ..comparing import hashable
from ..kind import ProblemKind, formulations_of
from ..language import Violation
from ..platform import LATEST, Platform, ProblemError
from ..problem import Encoding, Schedule, checked_schedule, value_of
from ..tables import table_rows, whole_cell
from ..words import hint, how_many, with_short_repr
from .arrays import (
    JobArrays,
    NodeArrays,
    NodeClasses,
    NodeSets,
    Returns,
    column,
    impossible_jobs,
    is_placed_freely,
    occupied,
    place_faults,
)
from .desired import OverCost, desired_faults, over_hours, waits
from .jobs import (
    DAY,
    Durations,
    Job,
    Queue,
    Running,
    Window,
    chunk_faults,
    impossible,
    power_faults,
    time_after_open,
    whole_jobs,
)
from .objectives import CostLimit, JobCosts, cost_limits, find_objective, whole_limits

if TYPE_CHECKING:
    import pandas

    from ..desired_profile import DesiredProfile


# --- Jobs of a dispatching problem from a table of pandas.

NEEDED = ("id", "submit", "walltime")
OWN = tuple(f.name for f in fields(Job) if f.name not in ("request", "chunks"))
FRACTIONS = ("power",)  # columns whose numbers need not be whole


def jobs_of_table(table: Any, resources: Sequence[str], queues: Sequence[Queue]) -> list[Job]:
    """Return the jobs of a table; see ``Dispatch.from_pandas``."""
    function = "Dispatch.from_pandas"
    needed = NEEDED if len(queues) == 1 else (*NEEDED, "queue")
    names, rows = table_rows(table, function, needed, OWN, resources, {"job": "id"})
    usual = ""
    if len(queues) == 1:
        usual = queues[0].name
    amounts = [name for name in names if name in resources and name not in OWN]
    own = [name for name in names if name not in amounts]
    jobs = []
    for row in rows:
        given = {name: value if name in FRACTIONS else whole_cell(value) for name, value in row.items()}
        values = {name: _place_cell(name, given[name]) for name in own if given[name] is not None}
        request = {name: given[name] for name in amounts if given[name] is not None}
        without = {"id": None, "submit": None, "walltime": None, "units": 1, "queue": usual}
        jobs.append(Job(**{**without, **values}, request=request))  # Dispatch checks them
    return jobs


def _place_cell(name: str, value: Any) -> Any:
    """Return the value of a field of a job of a cell: names and ``name:number`` may be texts with spaces between them."""
    if name == "nodes" and isinstance(value, str):
        return tuple(value.split())
    if name == "whole_nodes" and is_whole(value) and value in (0, 1):
        return value == 1
    if name == "licences" and isinstance(value, str):
        held = [part.rpartition(":") for part in value.split()]
        return {licence: int(n) if n.isdecimal() else n for licence, _, n in held}
    return value


@checked(values=False, skip=("limits",))
@with_short_repr
@hashable
@dataclass(frozen=True)
class Dispatch:
    """Start the waiting ``jobs`` from ``now`` on, next to the ``running`` jobs, so that the ``objective`` is best.

    Parameters
    ----------
    platform : Platform
        The nodes.
    jobs : iterable of Job
        The jobs to start.
    queues : iterable of Queue
        The queues of the jobs.
    objective : str, default "weighted-wait"
        The name of the objective, one of those in the notes or a registered one (``objectives``); ``p.value(schedule)``
        is its value for a schedule.
    now : int, default 0
        The time in seconds before which no job starts.
    running : iterable of Running, optional
        The jobs that occupy nodes at ``now``.
    durations : {"walltime", "runtime"}
        Whether a job takes its walltime, which a dispatcher knows, or its runtime, which is known only afterwards.
    limits : mapping of str to float, optional
        The greatest value of other objectives (the least value of one that is maximized), by their names. A makespan is
        a time in seconds, not a duration. See ``dispatch.limits``.
    desired : DesiredProfile, optional
        The desired use of the platform: a limit on the use of each node by ``jobs``, or with ``over_cost`` a wish. See
        ``models.dispatch.desired``.
    over_cost : float, optional
        The cost of an amount-hour (core-hour) of the machine above the profile, at least 0: it is added to the objective,
        or subtracted if that is maximized. None: the profile is a limit.

    Raises
    ------
    ProblemError
        If the data contradict each other. The message names the job, queue or node; for a job that fits no nodes also
        the resource that it exceeds.

    Notes
    -----
    With start s, submit time q and duration d of a job, and the expected waiting time ewt of its queue, the objectives are::

        makespan              the end of the last job
        waiting               sum of s - q
        weighted-wait         sum of (s - q) / ewt
        weighted-tardiness    sum of max(0, s - q - ewt) / ewt
        late-jobs             number of jobs with s - q > ewt
        queue-priority-wait   sum of (s - q) / ewt, multiplied by the greatest ewt
        slowdown              sum of (s - q + d) / d

    References
    ----------
    [Bridi2018, 3.1 to 3.3 and 4.2]; [Galleguillos2019, 2.2 and 4].

    Examples
    --------
    >>> from schedlab.models.platform import NodeGroup
    >>> job = Job("j1", submit=0, walltime=60, units=2, request={"cores": 8}, queue="debug")
    >>> p = Dispatch(Platform([NodeGroup("n", 1, {"cores": 16})]), [job], [Queue("debug", 3600)], "weighted-wait")
    >>> p.value(Schedule({"j1": 36}, {"j1": {"n-1": 2}}))
    0.01
    """

    platform: Platform
    jobs: Sequence[Job]
    queues: Sequence[Queue]
    objective: str = "weighted-wait"
    now: int = 0
    running: Sequence[Running] = ()
    durations: Durations = "walltime"
    limits: Mapping[str, float] = field(default_factory=dict)
    desired: DesiredProfile | None = None
    over_cost: float | None = None

    kind: str = field(default="dispatch", init=False)
    sense: Literal["minimize", "maximize"] = field(default="minimize", init=False)

    def __init__(
        self,
        platform: Platform,
        jobs: Iterable[Job],
        queues: Iterable[Queue],
        objective: str = "weighted-wait",
        now: int = 0,
        running: Iterable[Running] = (),
        durations: Durations = "walltime",
        limits: Mapping[str, float] | None = None,
        desired: DesiredProfile | None = None,
        over_cost: float | None = None,
    ) -> None:
        whole, faults = whole_jobs(tuple(jobs), tuple(running), now)
        values = {
            "platform": platform,
            "queues": tuple(queues),
            "objective": str(objective),
            "durations": durations,
            "limits": {} if limits is None else whole_limits(limits),
            "desired": desired,
            "over_cost": over_cost,
            "kind": "dispatch",
            "sense": find_objective(objective).sense,
        }
        for name, value in {**values, **whole}.items():
            object.__setattr__(self, name, value)
        if not faults:
            faults = contradictions(self)
            known = not faults or is_placed_freely(self)  # nodes and features exist
            if known:
                cannot = impossible_jobs(platform, self.queues, self.jobs)
            else:
                cannot = impossible(platform, self.jobs)
            faults += [f"job {j.id!r}: {why}" for j, why in cannot]
            if not faults and (self.desired is not None or self.over_cost is not None):
                faults = desired_faults(self)
        if faults:
            more = ""
            if len(faults) > 10:
                more = f"\n... and {len(faults) - 10} more"
            raise ProblemError("\n".join(faults[:10]) + more)

    @classmethod
    def unchecked(
        cls,
        platform: Platform,
        jobs: Sequence[Job],
        queues: Sequence[Queue],
        objective: str,
        now: int,
        running: Sequence[Running],
        arrays: JobArrays | None = None,
        returns: Returns | None = None,
    ) -> Dispatch:
        """Make a problem from data that were checked before, such as those of a moment of a replay.

        Parameters
        ----------
        platform, jobs, queues, objective, now, running
            As of the class; every job takes its walltime.
        arrays, returns : optional
            What ``job_arrays`` and ``returns`` will be, if they are known already.
        """
        made = object.__new__(cls)
        made.__dict__.update(
            platform=platform,
            jobs=tuple(jobs),
            queues=tuple(queues),
            objective=str(objective),
            now=now,
            running=running,
            durations="walltime",
            limits={},
            desired=None,
            over_cost=None,
            kind="dispatch",
            sense=find_objective(objective).sense,
        )
        known = {"job_arrays": arrays, "returns": returns}.items()
        made.__dict__.update({name: value for name, value in known if value is not None})
        return made

    @classmethod
    def from_pandas(
        cls,
        platform: Platform,
        table: pandas.DataFrame,
        queues: Iterable[Queue],
        objective: str = "weighted-wait",
        **others: Any,
    ) -> Dispatch:
        """Return the problem of the jobs in a table.

        Parameters
        ----------
        platform : Platform
            The nodes.
        table : pandas.DataFrame
            One row per job: the columns ``id`` (or ``job``), ``submit`` and ``walltime``, a column for each resource that
            one unit requests, such as ``cores``, and if known ``units`` (else 1), ``queue`` (may be left out if there is one queue) and
            the other fields of ``Job``; names in ``nodes``, and ``licences`` as ``name:number``, may be texts with spaces
            between them. An empty cell is an unknown value.
        queues : iterable of Queue
            The queues.
        objective : str
            As in ``Dispatch``.
        **others
            Further arguments of ``Dispatch``, such as ``now``.

        Raises
        ------
        ProblemError
            If a column is missing or unknown, or the data contradict each other.

        Examples
        --------
        >>> import pandas
        >>> from schedlab.models.platform import NodeGroup
        >>> table = pandas.DataFrame({"id": ["a", "b"], "submit": [0, 5], "walltime": [60, 60], "cores": [4, 8]})
        >>> Dispatch.from_pandas(Platform([NodeGroup("n", 1, {"cores": 8})]), table, [Queue("q", 600)]).jobs[1].request
        {'cores': 8}
        """
        expect("platform of Dispatch.from_pandas", platform, Platform)
        if isinstance(queues, Iterable):
            listed = tuple(queues)
        else:
            listed = queues
        expect("queues of Dispatch.from_pandas", listed, Sequence[Queue])
        return cls(platform, jobs_of_table(table, platform.resources, listed), listed, objective, **others)

    @cached_property
    def ewt(self) -> dict[str, int]:
        """The expected waiting time in seconds of each queue, by its name."""
        return {q.name: q.ewt for q in self.queues}

    @cached_property
    def costs(self) -> JobCosts:
        """The objective as costs of the starts of the jobs, from which models and searches are made."""
        return find_objective(self.objective).costs_of(self)

    @cached_property
    def limit_costs(self) -> tuple[CostLimit, ...]:
        """The limits as limits on costs of the starts of the jobs, from which models and searches are made."""
        return cost_limits(self)

    @cached_property
    def over(self) -> OverCost | None:
        """The cost of the use above a soft profile, from which models and searches are made; None without one."""
        if self.desired is None:
            return None
        return OverCost.of(self, self.desired, self.last_end)

    @cached_property
    def last_end(self) -> int:
        """A time in seconds by which all jobs that start by the horizon have ended."""
        return self.horizon + max(map(self.duration, self.jobs), default=0)

    @cached_property
    def job_arrays(self) -> JobArrays:
        """The jobs as arrays, with their durations and their earliest starts in this problem."""
        return JobArrays.of(self.jobs, self.platform.resources, self.duration, self.now)

    @cached_property
    def node_sets(self) -> NodeSets:
        """The sets of nodes that the jobs may use."""
        return NodeSets.of(self.platform, self.queues, self.jobs)

    @cached_property
    def node_classes(self) -> NodeClasses:
        """The classes of equal nodes: of the same capacity, and in the same sets of ``node_sets``."""
        return NodeClasses.of(self.platform, self.node_sets)

    @cached_property
    def returns(self) -> Returns:
        """What the running jobs give back to the machine at each of their ends after ``now``."""
        job, _, amount = occupied(self.running, NodeArrays(self.platform))
        return Returns.of(column((r.end for r in self.running), len(self.running))[job], amount, self.now)

    def duration(self, job: Job) -> int:
        """Return the duration of the job in this problem, in seconds."""
        if self.durations == "walltime" or job.runtime is None:
            return job.walltime
        return job.runtime

    def earliest(self, job: Job) -> int:
        """Return the earliest start of the job in seconds, without regard to its windows."""
        return max(self.now, job.release)

    @cached_property
    def horizon(self) -> int:
        """A time in seconds by which some optimal schedule, for any of the objectives, has started all jobs."""
        return self.horizon_from(self.now)

    def horizon_from(self, moment: int) -> int:
        """Return a time by which all jobs can have started, if only their own limits delay them before ``moment``.

        From the last release, the end of the last window and the last end of a running job on, the jobs can run one
        after another. A calendar delays each of them by at most a day, and all of them together at most while it is
        closed; a profile by at most a period. A later ``moment`` delays all of this.
        """
        last = [hi for j in self.jobs for _, hi in j.windows]
        steady, profiled = self.now, 0
        if self.desired is not None:
            steady, profiled = waits(self, self.desired)
        jobs = self.job_arrays
        begin: int = max([steady, self.now, *jobs.release.tolist(), *self.returns.end.tolist(), *last])
        begin += moment - self.now
        run = int(jobs.duration.sum())
        daily = {q.name for q in self.queues if q.daily}
        held = [j for j in self.jobs if j.queue in daily]
        latest = begin + run + DAY * len(held) + profiled
        if not held or self.desired is not None:
            return latest
        by_calendars = time_after_open({self.calendar(j) for j in held}, begin, run)
        if by_calendars is None:
            return latest
        return min(latest, by_calendars)

    def start_windows(self, job: Job, horizon: int | None = None) -> tuple[Window, ...]:
        """Return the windows (lo, hi) of the job's start up to the horizon, both ends included; or ()."""
        if horizon is None:
            horizon = self.horizon
        if job.deadline is None:
            last = horizon
        else:
            last = min(horizon, job.deadline - self.duration(job))
        windows: tuple[Window, ...] = ((self.earliest(job), last),)
        if not job.windows and not self._queues[job.queue].daily:  # the common case, kept fast
            if windows[0][0] <= last:
                return windows
            return ()
        if job.windows:
            windows = _intersect(windows, job.windows)
        daily = self.calendar(job)
        if daily:
            if windows:
                days = range(windows[0][0] // DAY - 1, last // DAY + 1)
            else:
                days = range(0)
            windows = _intersect(windows, [(d * DAY + lo, d * DAY + hi) for d in days for lo, hi in daily])
        return tuple((lo, hi) for lo, hi in windows if lo <= hi)

    def calendar(self, job: Job) -> tuple[Window, ...]:
        """Return the daily windows in which the job may start; empty if it may start at any time."""
        return self._queue(job).hours(job.walltime)

    def _queue(self, job: Job) -> Queue:
        return self._queues[job.queue]

    @cached_property
    def _queues(self) -> dict[str, Queue]:
        return {q.name: q for q in self.queues}

    def at(self, t: int | str, first: int | None = None) -> Dispatch:
        """Return the problem at time ``t``: the jobs submitted by then, none started.

        Parameters
        ----------
        t : int or str
            The time in seconds; a text is a time of the first day, such as "12:00".
        first : int, optional
            Keep only this number of jobs, at least 0, the first ones by submit time.

        Returns
        -------
        Dispatch
            The problem.

        Raises
        ------
        TypeError, ValueError
            If ``t`` is no time, or ``first`` is no whole number of at least 0.
        """
        now = clock_seconds(t, "t of at")
        expect("first of at", first, Natural | None)
        waiting = sorted((j for j in self.jobs if j.submit <= now), key=lambda j: j.submit)
        return self.replace(jobs=waiting[:first], now=now)

    def replace(self, **changes: Any) -> Dispatch:
        """Return a copy with other values of the named parameters, for instance ``jobs``, ``objective`` or ``now``."""
        names = (
            "platform", "jobs", "queues", "objective", "now", "running", "durations", "limits", "desired", "over_cost",
        )  # fmt: skip
        values = {name: getattr(self, name) for name in names}
        for name in changes:
            if name not in values:
                raise unknown_keyword("replace", name, values)
        return Dispatch(**{**values, **changes})

    @property
    def formulations(self) -> Mapping[str, Callable[..., Encoding]]:
        """The formulations ``units`` and ``counts`` and the relaxations ``classes`` and ``pool``, by name.

        ``formulations["counts"](horizon=H)`` lets the jobs start up to H, in seconds; without it, up to ``horizon``, which
        suffices for the problem alone, and not for constraints that are added to the model.
        """
        return formulations_of(self, ".dispatch.formulations:FORMULATIONS")

    def verify(self, schedule: Schedule) -> list[Violation]:
        """Return all violations of a schedule, found by a sweep over its events on the data alone."""
        from .check import verify

        return verify(self, checked_schedule(schedule, "verify"))

    def value(self, schedule: Schedule) -> float:
        """Return the value of the objective for a schedule that starts all jobs, from the data alone.

        Raises
        ------
        TypeError
            If it is no Schedule.
        KeyError
            If a job has no start.
        """
        return value_of(schedule, lambda: (j.id for j in self.jobs), self._value)

    def _value(self, schedule: Schedule) -> float:
        value = find_objective(self.objective).checked_value(self, schedule)
        if self.desired is None or self.over_cost is None:
            return value
        over = self.over_cost * over_hours(self, schedule)
        if self.sense == "minimize":
            return value + over
        return value - over

    def read(self, data: Any) -> Schedule:
        """Return the schedule of JSON data; raise ValueError, with the name of the job, if the data are malformed."""
        return Schedule.from_json(data)


def contradictions(p: Dispatch) -> list[str]:
    """Return a message for each contradiction in the data."""
    faults = []
    if not isinstance(p.durations, str) or p.durations not in ("walltime", "runtime"):
        faults.append(f"durations must be 'walltime' or 'runtime', not {p.durations!r}")
    queues = {q.name for q in p.queues}
    names = sorted(queues)
    whole_run = {q.name: q for q in reversed(p.queues) if q.whole_run}
    for name, count in Counter([j.id for j in p.jobs] + [r.job.id for r in p.running]).items():
        if count > 1:
            faults.append(f"job {name!r} is listed {how_many(count, 'time')}")
        if not name:
            faults.append("a job has the empty id ''; a text of at least one character is expected")
    faults += [
        f"queue {n!r} is listed {how_many(c, 'time')}" for n, c in Counter(q.name for q in p.queues).items() if c > 1
    ]
    known = set(p.platform.resources)
    for j in p.jobs:
        if j.queue not in queues:
            faults.append(
                f"job {j.id!r}: queue {j.queue!r} is not declared; {hint(j.queue, names, none='no queues are declared')}"
            )
        if j.walltime < 1:
            faults.append(f"job {j.id!r}: walltime is {j.walltime} s; at least 1 s is expected")
        if j.runtime is not None and j.runtime < 0:
            faults.append(f"job {j.id!r}: runtime is {j.runtime} s; at least 0 s, or None, is expected")
        hours = whole_run.get(j.queue)
        if hours is not None and not hours.hours(j.walltime):
            faults.append(
                f"job {j.id!r}: walltime {j.walltime} s does not fit into a daily window of queue {j.queue!r} (whole_run)"
            )
        times = (
            j.submit,
            j.walltime,
            j.runtime,
            j.earliest_start,
            j.deadline,
            j.latest_start,
            *(t for w in j.windows for t in w),
        )
        if any(t is not None and abs(t) > LATEST for t in times):
            faults.append(f"job {j.id!r}: a time beyond {LATEST:,} s (317 years) is not supported")
        for part in j.parts:
            if part.units < 1:
                faults.append(f"job {part.id!r}: {how_many(part.units, 'unit')}; at least 1 is expected")
            for resource, amount in part.request.items():
                if amount < 0:
                    faults.append(f"job {part.id!r}: requests {amount} {resource}; at least 0 is expected")
                elif amount > 0 and resource not in known:
                    has = hint(resource, p.platform.resources, "the platform has", "the platform has no resources")
                    faults.append(f"job {part.id!r}: requests {amount} {resource}; {has}")
        for lo, hi in j.windows:
            if lo > hi:
                faults.append(f"job {j.id!r}: the start window ({lo}, {hi}) ends before it begins")
    faults.extend(power_faults([*p.jobs, *(r.job for r in p.running)]))
    faults.extend(chunk_faults(p.jobs))
    faults.extend(place_faults(p))
    for r in p.running:
        missing = [n for n in r.nodes if n not in p.platform.capacity]
        faults.extend(f"running job {r.job.id!r}: there is no node {n!r}" for n in missing)
    return faults


def _intersect(some: Sequence[Window], others: Sequence[Window]) -> tuple[Window, ...]:
    """Return the common parts of two sets of windows."""
    common = [(max(a, c), min(b, d)) for a, b in some for c, d in others if max(a, c) <= min(b, d)]
    return tuple(sorted(common))


def with_durations(problem: Dispatch, durations: Durations) -> Dispatch:
    """Return the same problem in which every job takes its walltime, or its runtime."""
    return problem.replace(durations=durations)


# --- The registration of dispatching problems.

DISPATCH = ProblemKind(
    "dispatch",
    Dispatch,
    reader="..instances.files.dispatch_folder:read",
    writer="..instances.files.dispatch_folder:write",
    start="multi-search",
    portfolio="..methods.portfolio:dispatch_steps",
    solver_warm_up=("..heuristics.list_scheduling:warm_up_moves",),
    solver_warm_up_late=(
        "..heuristics.list_scheduling:warm_up_late",
        "..heuristics.list_scheduling:warm_up_moves_late",
    ),
    allocator="..heuristics.list_scheduling:Allocator",
    elements=".dispatch.display:DispatchElements",
    bench="..bench.kinds.dispatch:DISPATCH",
    formulations=("counts", "units", "classes", "pool"),
    gantt=".dispatch.display:gantt",
    rows=".dispatch.display:rows",
    columns=("job", "queue", "user", "submit", "start", "end", "wait", "duration", "units", "nodes", "node_list"),
)
