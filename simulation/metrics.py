"""The metrics of a replay, of all jobs and of groups: wait, slowdown, lateness, utilisation, queue length, decisions, accuracy of predictions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import NDArray

from ..backends import UnknownName
from ..errors import MissingPackage, WrongArgument, WrongValue
from ..instances.log_preparation import arrived
from ..instances.workload import NEVER, Workload
from ..models.array_types import Floats, Ints
from ..models.comparing import hashable
from ..models.dispatch.jobs import SiteRequest
from ..models.platform import Platform
from ..models.words import hint, how_many, with_short_repr
from .curves import (
    amounts_in_use,
    desired_figures,
    left_at,
    over_time,
    power_peak,
    queue_curve,
    share_used,
    usage,
    use_curve,
)  # fmt: skip
from .dispatcher import Ended
from .predictors import Accuracy, accuracy
from .records import PREEMPTED_BY, REQUEUED, Attempt, History, ModelSizes, NodeRanges, ReplayData
from .users import accuracy_class, class_names, request_accuracy

if TYPE_CHECKING:
    import pandas

    from .records import Decisions


# --- Statistics of a quantity over jobs.


@with_short_repr
@dataclass(frozen=True)
class Spread:
    """Statistics of a quantity over jobs, in the unit of the quantity; all None if there is no job.

    Parameters
    ----------
    mean : float
        ``sum(x) / n``.
    std : float
        Standard deviation of the population, ``sqrt(sum((x - mean)^2) / n)``.
    median, p95, p99 : float
        The 50th, 95th and 99th percentiles, with linear interpolation (``numpy.percentile``).
    max : float
        The largest value.
    """

    mean: float | None = None
    std: float | None = None
    median: float | None = None
    p95: float | None = None
    p99: float | None = None
    max: float | None = None

    @classmethod
    def of(cls, values: NDArray[np.int64] | NDArray[np.float64]) -> Spread:
        """Return the statistics of an array with one value per job."""
        if not values.size:
            return cls()
        median, p95, p99 = np.percentile(values, [50, 95, 99]).tolist()
        return cls(float(values.mean()), float(values.std()), median, p95, p99, float(values.max()))


LARGEST = 10  # groups that are listed one by one; the jobs of all other groups are ``others``
OTHERS = "others"
LATE = ("late_starts", "late_share")
UNITS = (2, 5, 17, 65, 257, 1025, 4097)  # first number of units of each class after the first
CORE_HOURS = (1, 10, 100, 1000, 10_000)


@with_short_repr
@dataclass(frozen=True, eq=False)
class JobFigures:
    """Arrays with one entry per job that started, from which the metrics are computed.

    Parameters
    ----------
    row : ndarray of int64
        The row of the job in the workload.
    wait : ndarray of int64
        Seconds.
    slowdown, bounded_slowdown : ndarray of float
        Without unit.
    expected_ratio : ndarray of float or None
        Expected duration / duration; None if no durations were expected.
    late : ndarray of float or None
        Seconds after the job's latest start, 0 for a start in time, NaN for a job without a latest start; None if no job
        of the workload has one.
    """

    row: Ints
    wait: Ints
    slowdown: Floats
    bounded_slowdown: Floats
    expected_ratio: Floats | None
    late: Floats | None = None


@with_short_repr
@dataclass(frozen=True)
class GroupMetrics:
    """The metrics of the jobs of one group; None where no job of the group started.

    Parameters
    ----------
    name : str
        The name of the group, such as a user.
    jobs, started : int
        Number of jobs of the group in the workload, and of those that started.
    wait_share : float or None
        Sum of the waits of the group / sum of the waits of all jobs, from 0 to 1; None if no job waited.
    expected_ratio : float or None
        Mean of expected duration / duration (durations are at least 1 s); above 1 if durations are overestimated.
    wait : Spread
        Seconds.
    slowdown, bounded_slowdown : Spread
        Without unit.
    late_starts : int or None
        Number of jobs that started after their latest start; None if no job of the workload has a latest start.
    late_share : float or None
        Share of these among the started jobs of the group with a latest start; None if there are none.
    """

    name: str
    jobs: int
    started: int
    wait_share: float | None
    expected_ratio: float | None
    wait: Spread
    slowdown: Spread
    bounded_slowdown: Spread
    late_starts: int | None = None
    late_share: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return all values as a flat dict: ``name``, ``jobs``, ``wait_mean``, ``bounded_slowdown_p99``, ...

        ``late_starts`` and ``late_share`` are left out if no job of the workload has a latest start.
        """
        values: dict[str, Any] = {}
        for part in fields(self):
            if part.name in LATE and self.late_starts is None:
                continue
            value = getattr(self, part.name)
            if isinstance(value, Spread):
                values |= {f"{part.name}_{s.name}": getattr(value, s.name) for s in fields(value)}
            else:
                values[part.name] = value
        return values


@with_short_repr
@dataclass(frozen=True, repr=False, eq=False)
class Groups(Mapping[str, GroupMetrics]):
    """The metrics of all groups of jobs with respect to one property: a mapping from the name of a group to its metrics.

    Parameters
    ----------
    by : str
        The property, one of ``GROUPINGS``.
    groups : sequence of GroupMetrics
        The groups, those with most jobs first.
    others : GroupMetrics or None
        The metrics of all jobs outside the 10 largest groups together; None if there are at most 10 groups.
    """

    by: str
    groups: Sequence[GroupMetrics]
    others: GroupMetrics | None = None

    @cached_property
    def _index(self) -> dict[str, GroupMetrics]:
        return {group.name: group for group in self.groups}

    def __getitem__(self, name: str) -> GroupMetrics:
        return self._index[name]

    def __iter__(self) -> Iterator[str]:
        return (group.name for group in self.groups)

    def __len__(self) -> int:
        return len(self.groups)

    def __repr__(self) -> str:
        return f"Groups(by {self.by}, {how_many(len(self), 'group')})"

    @property
    def largest(self) -> list[GroupMetrics]:
        """The 10 largest groups, then all other jobs as the group ``"others"``."""
        return [*self.groups[:LARGEST], *([self.others] if self.others else [])]

    def as_dict(self) -> dict[str, Any]:
        """Return ``{"columns": {"name": [...], "jobs": [...], ...}, "others": {...} or None}`` for JSON."""
        rows = [group.as_dict() for group in self.groups]
        columns = {}
        if rows:
            columns = {name: [row[name] for row in rows] for name in rows[0]}
        return {"columns": columns, "others": self.others.as_dict() if self.others else None}

    def to_pandas(self) -> pandas.DataFrame:
        """Return a table with a row per group, the largest first: name, jobs, started, wait_share, wait_mean, ..."""
        try:
            import pandas
        except ImportError as e:
            raise MissingPackage("to_pandas needs pandas: pip install 'schedlab[pandas]'") from e
        return pandas.DataFrame(self.as_dict()["columns"])


def groups_of(workload: Workload, figures: JobFigures) -> dict[str, Groups]:
    """Return the metrics of the groups of a workload by each property of ``GROUPINGS`` that the log records."""
    groups = {}
    for by, grouping in GROUPINGS.items():
        grouped = grouping(workload)
        if grouped is not None:
            groups[by] = _groups(by, *grouped, figures)
    return groups


def _groups(by: str, code: Ints, names: Sequence[str], figures: JobFigures) -> Groups:
    """Return the metrics of the groups; ``code``: the index of each job's group in ``names``."""
    jobs = np.bincount(code, minlength=len(names))
    mine = code[figures.row]
    started = np.bincount(mine, minlength=len(names))
    kinds = ("wait", "slowdown", "bounded_slowdown")
    spreads = {kind: spreads_of(getattr(figures, kind), mine, len(names)) for kind in kinds}
    waited = np.bincount(mine, figures.wait, len(names))
    ratio = None
    if figures.expected_ratio is not None:
        ratio = np.bincount(mine, figures.expected_ratio, len(names))
    has_latest, late = _late(figures, mine, len(names))
    order = sorted(np.flatnonzero(jobs).tolist(), key=lambda k: (-int(jobs[k]), names[k]))

    def group(name: str, which: Ints, values: Sequence[Spread]) -> GroupMetrics:
        ran = int(started[which].sum())
        total = float(waited.sum())
        asked = int(has_latest[which].sum())
        missed = int(late[which].sum())
        return GroupMetrics(
            name,
            int(jobs[which].sum()),
            ran,
            float(waited[which].sum()) / total if total > 0 else None,
            float(ratio[which].sum()) / ran if ran and ratio is not None else None,
            **dict(zip(kinds, values, strict=True)),
            late_starts=None if figures.late is None else missed,
            late_share=missed / asked if asked else None,
        )

    members = [group(names[k], np.array([k]), [spreads[kind][k] for kind in kinds]) for k in order]
    rest = np.array(order[LARGEST:], np.int64)
    if not rest.size:
        return Groups(by, members)
    outside = np.isin(mine, rest)
    together = [Spread.of(getattr(figures, kind)[outside]) for kind in kinds]
    return Groups(by, members, group(OTHERS, rest, together))


def _late(figures: JobFigures, code: Ints, groups: int) -> tuple[Ints, Ints]:
    """Return for each group the number of started jobs with a latest start, and of those that started after it."""
    if figures.late is None:
        return np.zeros(groups, np.int64), np.zeros(groups, np.int64)
    known = np.isfinite(figures.late)
    missed = figures.late > 0
    return np.bincount(code[known], minlength=groups), np.bincount(code[missed], minlength=groups)


def spreads_of(values: Ints | Floats, code: Ints, groups: int) -> list[Spread]:
    """Return the statistics of the values of each group, as ``Spread.of`` gives them; one sort serves all groups.

    Parameters
    ----------
    values : ndarray of int64 or float, shape (jobs,)
        The values.
    code : ndarray of int64, shape (jobs,)
        The group of each job, from 0 to ``groups - 1``.
    groups : int
        Number of groups.

    Examples
    --------
    >>> [s.median for s in spreads_of(np.array([3, 1, 7]), np.array([0, 0, 2]), 3)]
    [2.0, None, 7.0]
    """
    count = np.bincount(code, minlength=groups)
    there = np.flatnonzero(count)
    spreads = [Spread()] * groups
    if not there.size:
        return spreads
    order = np.lexsort((values, code))
    ordered = values[order].astype(np.float64)
    n = count[there]
    first = np.cumsum(n) - n
    mean = np.add.reduceat(ordered, first) / n
    std = np.sqrt(np.add.reduceat((ordered - np.repeat(mean, n)) ** 2, first) / n)
    percentiles = [_percentile(ordered, first, n, q) for q in (50, 95, 99)]
    columns = [c.tolist() for c in (mean, std, *percentiles, ordered[first + n - 1])]
    for k, row in zip(there.tolist(), zip(*columns, strict=True), strict=True):
        spreads[k] = Spread(*row)
    return spreads


def _percentile(ordered: Floats, first: Ints, n: Ints, q: float) -> Floats:
    """Return a percentile of each group with linear interpolation between neighbours, as ``numpy.percentile``."""
    place = (n - 1) * (q / 100)
    below = place.astype(np.int64)
    low = ordered[first + below]
    high = ordered[first + np.minimum(below + 1, n - 1)]
    percentile: Floats = low + (high - low) * (place - below)
    return percentile


def _by_queue(workload: Workload) -> tuple[Ints, Sequence[str]]:
    return workload.queue, [queue.name for queue in workload.queues]


def _by_user(workload: Workload) -> tuple[Ints, Sequence[str]]:
    return workload.user, workload.users


def _by_account(workload: Workload) -> tuple[Ints, Sequence[str]] | None:
    return _by_request(workload, "account")


def _by_qos(workload: Workload) -> tuple[Ints, Sequence[str]] | None:
    return _by_request(workload, "qos")


def _by_request(workload: Workload, name: str) -> tuple[Ints, Sequence[str]] | None:
    """Return the values of a field of what jobs asked of their site, ``"none"`` without one; None for logs that record none."""
    if workload.site is None:
        return None
    values = [str(getattr(request, name)) for request in workload.site.requests]
    if not any(values):
        return None
    names, index = np.unique([value or "none" for value in values], return_inverse=True)
    return index.astype(np.int64)[workload.site.request], [str(each) for each in names]


def _by_partition(workload: Workload) -> tuple[Ints, Sequence[str]] | None:
    """Return the partitions; None for logs that record none.

    A job that asked for several is one of ``"a,b"``, in the order in which it named them: which of them it gets is decided by
    a replay, and differs from one to the next. ``bench calibrate`` and ``bench whatif`` have the same names.
    """
    w = workload
    asked = []
    if w.site is not None:
        asked = [",".join(request.partitions) for request in w.site.requests]
    if not any(asked):
        if w.partitions:
            return (w.partition, w.partitions)
        return None
    if w.partitions:
        ran_in = [w.partitions[k] for k in w.partition.tolist()]
    else:
        ran_in = [""] * len(w)
    if w.site is not None:
        names = [asked[k] or own for k, own in zip(w.site.request.tolist(), ran_in, strict=True)]
    else:
        names = ran_in
    number = {name: k for k, name in enumerate(dict.fromkeys(names))}
    return np.array([number[name] for name in names], np.int64), list(number)


def sizes_asked(workload: Workload) -> Ints:
    """Return the size that each job asked for, shape (jobs,), whatever a dispatcher made of it.

    It is the number of CPUs where the log says what jobs asked of their site, else the number of units: a dispatcher that
    divides the CPUs of a job otherwise than the log, as ``slurm`` does, changes its units.
    """
    units = workload.job_arrays.all_units
    site = workload.site
    if site is None:
        return units
    at = None
    if "cores" in workload.resources:
        at = workload.resources.index("cores")
    if at is None:
        given = units
    else:
        given = workload.job_arrays.amounts[:, at]
    asked = np.array([cpus_asked(request) for request in site.requests], np.int64)[site.request]
    asked[list(workload.chunks)] = 0  # of a heterogeneous job, the first chunk alone is known
    return np.where(asked > 0, asked, given)


def cpus_asked(request: SiteRequest) -> int:
    """Return the CPUs that a job asked its site for; 0 if the log does not tell.

    >>> cpus_asked(SiteRequest(cpus=4)), cpus_asked(SiteRequest(tasks=3, cpus_per_task=2)), cpus_asked(SiteRequest())
    (4, 6, 0)
    """
    return max(request.cpus or 0, (request.tasks or 0) * (request.cpus_per_task or 1))


def size_name(workload: Workload) -> str:
    """Return what ``sizes_asked`` counts: ``"CPUs"`` or ``"units"``."""
    if workload.site is None:
        return "units"
    return "CPUs"


def size_class_names() -> list[str]:
    """Return the names of the classes of sizes; ``"2-4"`` holds 2, 3 and 4.

    >>> size_class_names()[:3]
    ['1', '2-4', '5-16']
    """
    names = [f"{a}-{b - 1}" if b > a + 1 else f"{a}" for a, b in pairwise((1, *UNITS))]
    return [*names, f"{UNITS[-1]} or more"]


def size_class(sizes: Ints) -> Ints:
    """Return the index in ``size_class_names`` of the class of each size."""
    return np.searchsorted(UNITS, sizes, side="right")


def _by_units(workload: Workload) -> tuple[Ints, Sequence[str]]:
    return size_class(sizes_asked(workload)), size_class_names()


def core_hours(workload: Workload) -> Floats:
    """Return cores * runtime of each job in hours, shape (jobs,); of machines without cores, a unit counts as one.

    The cores are those that the log recorded, where it did; those of equal shares on its nodes are rounded up.
    """
    arrays = workload.job_arrays
    at = None
    if "cores" in workload.resources:
        at = workload.resources.index("cores")
    if at is None:
        cores = arrays.all_units
    else:
        cores = arrays.amounts[:, at]
    if workload.site is not None:
        cores = np.where(workload.site.cpus >= 0, workload.site.cpus, cores)
    return _hours(cores, workload)


def _hours(cores: Ints, workload: Workload) -> Floats:
    hours: Floats = cores * np.maximum(workload.runtime, 0) / 3600
    return hours


def _by_core_hours(workload: Workload) -> tuple[Ints, Sequence[str]]:
    """Return the classes by core-hours; ``"1-10"`` holds 1, not 10."""
    names = [f"below {CORE_HOURS[0]}", *(f"{a}-{b}" for a, b in pairwise(CORE_HOURS)), f"{CORE_HOURS[-1]} or more"]
    if workload.site is None:
        hours = core_hours(workload)
    else:
        hours = _hours(sizes_asked(workload), workload)
    return np.searchsorted(CORE_HOURS, hours, side="right"), names


def _by_accuracy(workload: Workload) -> tuple[Ints, Sequence[str]]:
    """Return the classes by runtime / walltime of the job."""
    return accuracy_class(request_accuracy(workload.runtime, workload.walltime)) - 1, class_names()


def _by_user_accuracy(workload: Workload) -> tuple[Ints, Sequence[str]]:
    """Return the classes by the mean of runtime / walltime over all jobs of the job's user."""
    accuracy = request_accuracy(workload.runtime, workload.walltime)
    users = len(workload.users)
    mean = np.bincount(workload.user, accuracy, users) / np.maximum(1, np.bincount(workload.user, minlength=users))
    return accuracy_class(mean)[workload.user] - 1, class_names()


GROUPINGS: Mapping[str, Callable[[Workload], tuple[Ints, Sequence[str]] | None]] = {
    "queue": _by_queue,
    "user": _by_user,
    "account": _by_account,
    "qos": _by_qos,
    "partition": _by_partition,
    "units": _by_units,
    "core-hours": _by_core_hours,
    "accuracy": _by_accuracy,
    "user-accuracy": _by_user_accuracy,
}
CLASSES = ("units", "core-hours")  # the groupings that are meant by "class"


# --- Late starts: jobs that start after the latest start of their data.


def lateness(workload: Workload, start: Ints, row: Ints) -> Floats | None:
    """Return by how many seconds each job starts after its latest start.

    Parameters
    ----------
    workload : Workload
        The jobs.
    start : ndarray of int64, shape (all jobs,)
        Starts in seconds.
    row : ndarray of int64, shape (jobs,)
        The jobs that are looked at.

    Returns
    -------
    ndarray of float, shape (jobs,), or None
        Seconds, 0 for a start in time, NaN for a job without a latest start. None if no job of the workload has one.
    """
    latest = workload.latest_start
    if (latest == NEVER).all():
        return None
    return np.where(latest[row] == NEVER, np.nan, np.maximum(0.0, start[row] - latest[row]))


def late_starts(late: Floats | None) -> Mapping[str, float | None]:
    """Return the number of jobs with a latest start, of those that start after it, their share, and the tardiness.

    Parameters
    ----------
    late : ndarray of float, shape (jobs,), or None
        Seconds after the latest start, as ``lateness`` returns them.

    Returns
    -------
    mapping
        ``"tardiness"`` is the sum of the seconds after the latest starts. Empty for None.

    Examples
    --------
    >>> late_starts(np.array([7.0, 0.0, np.nan, 0.0, 0.0]))
    {'jobs': 4, 'count': 1, 'share': 0.25, 'tardiness': 7.0}
    """
    if late is None:
        return {}
    jobs = int(np.isfinite(late).sum())
    count = int((late > 0).sum())
    return {"jobs": jobs, "count": count, "share": count / jobs if jobs else None, "tardiness": float(np.nansum(late))}


# --- The waits of the jobs against the expected waiting times of their queues, and by queue [Bridi2018, 3.4 and 4.5].

OF_EWT = (0, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10)  # edges of the histogram of wait / ewt


def thesis_lateness(workload: Workload, wait: Ints, done: NDArray[np.bool_]) -> dict[str, float | None]:
    """Return the metrics of [Bridi2018, 4.5] that depend on the waits: AQ, WQT, NL, TR, WT."""
    if not wait.size:
        return dict.fromkeys(("AQ", "WQT", "NL", "TR", "WT"))
    ewt = np.array([q.ewt for q in workload.queues], np.int64)[workload.queue[done]]
    delay = np.maximum(0, wait - ewt)
    return {
        "AQ": float(wait.mean()),
        "WQT": float((wait / ewt).sum()),
        "NL": int((delay > 0).sum()),
        "TR": int(delay.sum()),
        "WT": float((delay / ewt).sum()),
    }


def wait_over_ewt(workload: Workload, wait: Ints, done: NDArray[np.bool_]) -> dict[str, int]:
    """Return the histogram of wait / ewt; a bin holds its upper edge, not its lower one."""
    if not wait.size:
        return {}
    ewt = np.array([q.ewt for q in workload.queues], np.int64)[workload.queue[done]]
    counts = np.bincount(np.searchsorted(OF_EWT, wait / ewt, side="left"), minlength=len(OF_EWT) + 1)
    names = ["0", *(f"{a:g}-{b:g}" for a, b in pairwise(OF_EWT)), f"above {OF_EWT[-1]:g}"]
    return dict(zip(names, counts.tolist(), strict=True))


def wait_contribution(workload: Workload, wait: Ints, done: NDArray[np.bool_]) -> dict[str, float]:
    """Return queue -> sum of the waits of its jobs / number of all jobs."""
    if not wait.size:
        return {}
    total = np.bincount(workload.queue[done], wait, len(workload.queues))
    return {q.name: float(t) / wait.size for q, t in zip(workload.queues, total.tolist(), strict=True)}


# --- The figures of a replay with on-demand jobs: their delays, and what the batch jobs lose.

HOUR = 3600
Figures = dict[str, float | None]


def preemption_figures(replay: ReplayData, figures: JobFigures) -> Figures:
    """Return the figures of a replay by name; an empty dict without preemption.

    Parameters
    ----------
    replay : ReplayData
        The replay.
    figures : JobFigures
        Wait and slowdown of its jobs.

    Returns
    -------
    dict
        ``jobs``: on-demand jobs; ``delay_mean``, ``delay_max``: seconds from submission to first start; ``missed``: jobs
        that started late or never. ``lost_node_hours``: node-hours of batch jobs that did not count, the sum of
        ``repeated_`` (work since the last checkpoint), ``writing_`` (checkpoints at departures, and the wait for the file
        system) and ``restart_node_hours``. ``killed``, ``application``, ``system``: departures by strategy; ``failed``:
        attempts that ended as a node failed. ``batch_wait_mean`` (s), ``batch_slowdown_mean`` and
        ``batch_bounded_slowdown_mean``: of batch jobs. ``decisions``: calls of the evictor; ``decision_ms_mean``,
        ``decision_ms_max``: their wall time.
    """
    record = replay.preemption
    if record is None:
        return {}
    rows = np.array(record.rows, np.int64)
    batch = ~np.isin(figures.row, rows)
    jobs = zip(record.rows, record.settings.jobs, strict=True)
    delays = {job.id: record.first_start[row] - job.submit for row, job in jobs if row in record.first_start}
    late = [job.id for job in record.settings.jobs if delays.get(job.id, job.start_within + 1) > job.start_within]
    kinds = [d.strategy for d in record.departures]
    seconds = [1000 * d.seconds for d in record.decisions]
    return {
        "jobs": len(rows),
        "delay_mean": _mean(list(delays.values())),
        "delay_max": max(delays.values(), default=None),
        "missed": len(late),
        **_losses(replay),
        "killed": kinds.count("kill"),
        "application": kinds.count("app"),
        "system": kinds.count("sys"),
        "batch_wait_mean": Spread.of(figures.wait[batch]).mean,
        "batch_slowdown_mean": Spread.of(figures.slowdown[batch]).mean,
        "batch_bounded_slowdown_mean": Spread.of(figures.bounded_slowdown[batch]).mean,
        "decisions": len(seconds),
        "decision_ms_mean": _mean(seconds),
        "decision_ms_max": max(seconds, default=None),
    }


def _mean(values: list[int] | list[float]) -> float | None:
    if values:
        return float(np.mean(values))
    return None


def _losses(replay: ReplayData) -> Figures:
    """Return the node-hours that batch jobs lost, and the number of attempts that failed."""
    record = replay.preemption
    history = replay.history
    units = replay.workload.units
    assert record is not None
    left = {(d.row, d.attempt): d for d in record.departures}
    lost = writing = restart = 0
    failed, again = 0, record.settings.restart
    for k, a in [] if history is None else zip(history.rows.tolist(), history.early, strict=True):
        if k in record.rows:
            continue
        nodes = int(units[k])
        d = left.get((k, a.number))
        failed += d is None and a.why != REQUEUED and not a.why.startswith(PREEMPTED_BY)
        lost += nodes * a.lost
        begun = min(again if a.number > 1 else 0, a.end - a.start)
        written = 0
        if d is not None:
            written = min(d.end - d.stop, a.end - a.start - begun)
        writing = writing + nodes * written
        restart = restart + nodes * begun
    if history is None:
        last = set()
    else:
        last = set(history.rows.tolist()) - set(record.rows)
    final = sum(int(units[k]) * again for k in last if replay.start[k] >= 0)
    lost = lost + final
    restart = restart + final
    return {
        "lost_node_hours": lost / HOUR,
        "repeated_node_hours": (lost - writing - restart) / HOUR,
        "writing_node_hours": writing / HOUR,
        "restart_node_hours": restart / HOUR,
        "failed": failed,
    }


# --- The records of metrics: one class for the whole replay (``Metrics``) and one for each group of values.

BSLD_FLOOR = 10.0  # seconds, the usual least duration in the bounded slowdown


@with_short_repr
@dataclass(frozen=True)
class JobClass:
    """The metrics of the jobs of one class of durations.

    Parameters
    ----------
    jobs : int
        Number of jobs of the class that started.
    wait : Spread
        Seconds.
    slowdown, bounded_slowdown : Spread
        Without unit.
    """

    jobs: int
    wait: Spread
    slowdown: Spread
    bounded_slowdown: Spread


@with_short_repr
@dataclass(frozen=True)
class Timing:
    """Wall time of the calls of a dispatcher, in seconds; None if unknown.

    Parameters
    ----------
    mean, max, total : float
        Mean, largest value and sum over the calls.
    p99 : float
        The 99th percentile.
    """

    mean: float | None = None
    p99: float | None = None
    max: float | None = None
    total: float | None = None

    @classmethod
    def of(cls, seconds: Floats) -> Timing:
        """Return the statistics of an array with one value (seconds) per call."""
        if not seconds.size:
            return cls()
        return cls(float(seconds.mean()), float(np.percentile(seconds, 99)), float(seconds.max()), float(seconds.sum()))


@with_short_repr
@hashable
@dataclass(frozen=True)
class DecisionMetrics:
    """The metrics of the calls of a dispatcher; None if it does not report the value.

    Parameters
    ----------
    made : int
        Number of calls.
    skipped : int
        Number of events without a call, because no waiting job could have started.
    solver : int
        Number of calls with ``ended`` other than ``"trivial"``.
    ended : mapping of str to int
        How the calls ended (see ``moment.Ended``) -> number of calls.
    seconds : Timing
        Wall time per call in seconds. For compiled replays: mean = time of the replay / calls, no p99 and max.
    solver_seconds : Timing
        Wall time in seconds of the calls that used a solver (those with a solve time above 0).
    start_seconds, model_seconds, solve_seconds, allocate_seconds : Timing
        Wall time in seconds of the parts of all calls: warm starts, building and lowering the model, solving it, choosing nodes.
    gain_mean : float
        Mean of ``(start - end) / |start|`` over the calls with a warm start: the relative improvement of the objective
        from ``start`` (warm start) to ``end`` (result). Without unit.
    gain_none : int
        Number of these calls without improvement.
    urgent : int
        Sum over the calls of the number of jobs that ``max_stretch`` put before all others.
    models : ModelSizes
        Mean sizes of the models.
    phases : mapping of str to float
        Other parts of the calls, such as ``"selection"`` -> sum of their wall time in seconds.
    used : mapping of str to int
        Name of a method, of a dispatcher with several -> number of calls that used it.
    counts : mapping of str to int
        Numbers that a dispatcher reports, such as ``"messages"`` -> sum over the calls.
    """

    made: int | None = None
    skipped: int | None = None
    solver: int | None = None
    ended: Mapping[str, int | None] = field(default_factory=lambda: dict.fromkeys(get_args(Ended)))
    seconds: Timing = Timing()
    solver_seconds: Timing = Timing()
    start_seconds: Timing = Timing()
    model_seconds: Timing = Timing()
    solve_seconds: Timing = Timing()
    allocate_seconds: Timing = Timing()
    gain_mean: float | None = None
    gain_none: int | None = None
    urgent: int | None = None
    models: ModelSizes = field(default_factory=ModelSizes)
    phases: Mapping[str, float] = field(default_factory=dict)
    used: Mapping[str, int] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)


@with_short_repr
@hashable
@dataclass(frozen=True)
class Metrics:
    """The metrics of a replay. Times are seconds; a value that is not known is None.

    For each job that started: s is its start, e its end, q its submit time, ``wait = s - q``, and
    ``d = max(1 s, e - s)`` its duration in the replay (a killed job's is shorter than its runtime). Jobs that run at the
    begin of the replay count in the utilisation only. If the begin is given, it replaces ``min(q)``. If a job has
    several attempts, s is the start of the last one, wait the sum of its waiting times, d the work of all attempts, and
    the slowdowns count the time that was lost as well: ``(e - q) / d``. Jobs that did not come back after a failure
    count as not started; utilisation and queue lengths follow all attempts.

    Parameters
    ----------
    jobs : int
        Number of jobs in the workload.
    started, not_started : int
        Number of jobs that started; ``jobs - started``. In metrics of recorded starts, ``not_started`` is the number of
        jobs whose start is unknown.
    killed : int
        Number of jobs killed at their walltime.
    wait : Spread
        ``wait = s - q``, seconds.
    slowdown : Spread
        ``(wait + d) / d``, without unit, at least 1.
    bounded_slowdown : Spread
        ``max(1, (wait + d) / max(d, bsld_floor))``, without unit.
    by_class : mapping of str to JobClass
        The metrics of the jobs by ``e - s``: ``"short"`` (less than 1 h), ``"medium"`` (1 to 5 h), ``"long"`` (more
        than 5 h) [Galleguillos2019, 5].
    thesis : mapping of str to float
        The metrics of [Bridi2018, 4.5], where ewt is the expected waiting time of the job's queue, in seconds:

        - ``AQ``: mean of wait, seconds.
        - ``WQT``: sum of ``wait / ewt``, without unit.
        - ``NL``: number of jobs with ``wait > ewt``.
        - ``TR``: sum of ``max(0, wait - ewt)``, seconds.
        - ``WT``: sum of ``max(0, wait - ewt) / ewt``, without unit.
        - ``AO``, ``MO``: mean and maximum wall time per decision, seconds.
        - ``%O``: ``100 * (wall time of all decisions) / makespan``, percent.
    makespan : int
        ``max(e) - min(q)``, seconds.
    utilisation : mapping of str to float
        For each resource r, ``(sum of units * request[r] * (e - s)) / (capacity[r] * makespan)``, from 0 to 1, where
        capacity[r] is that of the whole platform.
    utilisation_submitting : mapping of str to float
        The same between the first and the last submit time, instead of over the makespan; None if all jobs have the
        same submit time.
    queue_max : int
        Largest number of waiting jobs, those with ``q <= t < s``, over all times t of the makespan. A job that starts
        at its submit time never counts; a job that never starts waits to the end.
    queue_mean : float
        Mean number of waiting jobs over the makespan: (integral of the number of waiting jobs) / makespan.
    running_max, running_mean : float
        Largest and mean number of running jobs over the makespan, as for waiting jobs.
    in_use : mapping of str to float
        For each resource, the mean amount in use over the makespan, in the unit of the resource.
    wait_over_ewt : mapping of str to int
        Histogram of ``wait / ewt``: bin -> number of jobs. ``"0"`` are jobs without wait, ``"0.5-0.75"`` those with
        ``0.5 < wait / ewt <= 0.75``, ``"above 10"`` those with more than 10. Empty if no job started.
    decisions : DecisionMetrics
        The calls of the dispatcher.
    accuracy : Accuracy
        The expected durations compared with the durations in the replay.
    prediction_seconds : float
        Wall time of the predictor in the whole replay, in seconds, without what it does in compiled code (``last-two`` under
        ``easy++``).
    bsld_floor : float
        The least duration in the bounded slowdown, in seconds.
    groups : mapping of str to Groups
        The same metrics per queue, user, partition (if the log records it), class of units and class of core-hours: see
        ``by``.
    percentiles : mapping of str to tuple of float
        The 101 percentiles 0, 1, ..., 100 (linear interpolation) of ``"wait"``, ``"slowdown"`` and ``"ratio"``
        (duration / expected duration); quantities without a value are left out.
    late_starts : mapping of str to float
        ``"jobs"``: number of jobs that started and have a latest start; ``"count"``: of these, those with
        ``s > latest start``; ``"share"``: count / jobs; ``"tardiness"``: sum of ``max(0, s - latest start)`` in seconds.
        Empty if no job of the workload has a latest start.
    wait_contribution : mapping of str to float
        For each queue, the sum of the waits of its jobs / number of all started jobs, in seconds [Bridi2018, table
        3.4]; their sum is the mean wait.
    running_submitting : float
        Mean number of running jobs between the begin and the last submit time; None if these are equal.
    desired : mapping of str to mapping
        The use beside the desired profile, for the resources with a wish: ``"over"``: volume of use above it, summed over
        the nodes, in amount-hours; ``"machine_over"``: the same for the whole machine; ``"dissimilarity"`` and
        ``"squared_distance"``, without unit. See ``schedlab.simulation.curves``. Empty without a profile.
    power_peak : float
        The greatest power of all running jobs in watts; None if the power of a job is unknown.
    preemption : mapping of str to float
        Delays of on-demand jobs and losses of batch jobs, see ``schedlab.simulation.metrics``. Empty without
        preemption.
    """

    jobs: int
    started: int
    not_started: int
    killed: int | None
    wait: Spread
    slowdown: Spread
    bounded_slowdown: Spread
    by_class: Mapping[str, JobClass]
    thesis: Mapping[str, float | None]
    makespan: int | None
    utilisation: Mapping[str, float | None]
    utilisation_submitting: Mapping[str, float | None]
    queue_max: int | None
    queue_mean: float | None
    decisions: DecisionMetrics
    accuracy: Accuracy
    running_max: int | None = None
    running_mean: float | None = None
    in_use: Mapping[str, float | None] = field(default_factory=dict)
    wait_over_ewt: Mapping[str, int] = field(default_factory=dict)
    prediction_seconds: float | None = None
    bsld_floor: float = BSLD_FLOOR
    groups: Mapping[str, Groups] = field(default_factory=dict, repr=False)
    percentiles: Mapping[str, tuple[float, ...]] = field(default_factory=dict, repr=False)
    late_starts: Mapping[str, float | None] = field(default_factory=dict)
    wait_contribution: Mapping[str, float] = field(default_factory=dict)
    running_submitting: float | None = None
    desired: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)
    preemption: Mapping[str, float | None] = field(default_factory=dict)
    power_peak: float | None = None

    def by(self, grouping: str) -> Groups:
        """Return the metrics of the groups of jobs with respect to a property.

        Parameters
        ----------
        grouping : {"queue", "user", "account", "qos", "partition", "units", "core-hours", "accuracy", "user-accuracy"}
            The property. ``"units"`` are classes by the number of units of a job (of CPUs, where the log tells how many it
            asked its site for), ``"core-hours"`` by cores * runtime, ``"accuracy"`` by runtime / walltime,
            ``"user-accuracy"`` by its mean over the jobs of the user.

        Returns
        -------
        Groups
            A mapping from the name of a group to its metrics, the groups with most jobs first.

        Raises
        ------
        UnknownName
            If there is no such property.
        WrongArgument
            If the log does not record the property.

        Examples
        --------
        >>> import schedlab as sl
        >>> queues = sl.simulate("eurora_99", dispatcher="easy").metrics.by("queue")
        >>> list(queues), queues["debug"].jobs
        (['parallel', 'debug', 'np_longpar'], 27)
        """
        if grouping not in GROUPINGS:
            raise UnknownName("grouping", grouping, list(GROUPINGS))
        if grouping not in self.groups:
            raise WrongArgument(
                f"by {grouping}: the log does not record the {grouping} of its jobs; {hint(grouping, self.groups, 'known:', 'it records no groups')}"
            )
        return self.groups[grouping]

    def as_dict(self) -> dict[str, Any]:
        """Return all values as one flat dict for JSON.

        Keys are joined with underscores (``wait_mean``, ``short_slowdown_max``, ``utilisation_cores``,
        ``decisions_ended_optimal``, ``accuracy_mae``); the keys of ``thesis`` stay as they are (``AQ``, ``%O``).
        ``groups`` and ``percentiles`` are not part of it.
        """
        values: dict[str, Any] = {}
        for name, value in parts_of(self):
            if name not in ("groups", "percentiles"):
                _flatten("" if name in ("by_class", "thesis") else name, value, values)
        return values


def parts_of(value: Any) -> list[tuple[str, Any]]:
    """Return the names and values of the fields of a dataclass, without conversion."""
    return [(f.name, getattr(value, f.name)) for f in fields(value)]


def _flatten(name: str, value: Any, into: dict[str, Any]) -> None:
    if not is_dataclass(value) and not isinstance(value, Mapping):
        into[name] = value
        return
    for part, inner in value.items() if isinstance(value, Mapping) else parts_of(value):
        _flatten(f"{name}_{part}" if name else part, inner, into)


PHASES = ("start", "model", "solve", "allocate")


def metrics(simulation: ReplayData, bsld_floor: float = BSLD_FLOOR) -> Metrics:
    """Return the metrics of a replay, or of the partial result of a replay that failed.

    Parameters
    ----------
    simulation : Simulation
        The result of ``simulate``, or ``SimulationError.partial``.
    bsld_floor : float
        The least duration in the bounded slowdown, in seconds, above 0; usual values are 10 and 60.

    Returns
    -------
    Metrics
        All metrics; jobs that never started count only in ``not_started`` and in the queue length.

    Raises
    ------
    ValueError
        If ``bsld_floor`` is not a number above 0.

    Examples
    --------
    >>> import schedlab as sl
    >>> found = metrics(sl.simulate("eurora_99", dispatcher="easy"))
    >>> found.started, found.slowdown.mean >= 1
    (99, True)
    """
    s = simulation
    done = _completed(s.start, s.end, s.history)
    measured = _measure(
        s.workload,
        s.start,
        s.end,
        s.platform,
        killed=int(s.killed[done].sum()),
        decisions=s.decisions,
        expected=s.expected,
        prediction_seconds=s.prediction_seconds,
        bsld_floor=bsld_floor,
        history=s.history,
        left=left_at(s),
        placement=s.placement,
    )
    measured = replace(measured, desired=desired_figures(s, s.desired), power_peak=power_peak(s))
    if s.preemption is None:
        return measured
    figures = job_figures(s.workload, s.start, s.end, s.expected, bsld_floor, s.history)
    return replace(measured, preemption=preemption_figures(s, figures))


def recorded(workload: Workload, platform: Platform | None = None, bsld_floor: float = BSLD_FLOOR) -> Metrics | None:
    """Return the metrics of the starts that the trace records from the real machine.

    Waits are counted as in a replay: of a job that waits for another one (``workload.after``), from the recorded end of
    that job and the think time on; of a job that was requeued, before all its recorded attempts, without the time in which
    they ran.

    Parameters
    ----------
    workload : Workload
        The trace. Jobs without a recorded start count only in ``jobs`` and ``not_started``.
    platform : Platform, optional
        The machine; without it there is no utilisation.
    bsld_floor : float
        The least duration in the bounded slowdown, in seconds, above 0.

    Returns
    -------
    Metrics or None
        None if the trace records no start.
    """
    known = workload.recorded_start >= 0
    if not known.any():
        return None
    start = workload.recorded_start
    end = np.where(known, start + workload.runtime, -1)
    counted = arrived(workload, end)
    if workload.after:  # a job that did not wait for the other one, although the log names it, arrived by its start
        counted = replace(counted, submit=np.where(known, np.minimum(counted.submit, start), counted.submit))
    ran = counted.keep(known)
    attempts = _recorded_attempts(ran)
    measured = _measure(ran, start[known], end[known], platform, bsld_floor=bsld_floor, history=attempts)
    missing = int((~known).sum())
    values = dict(parts_of(measured))
    all_attempts = _recorded_attempts(counted)
    figures = job_figures(counted, np.where(known, start, -1), end, bsld_floor=bsld_floor, history=all_attempts)
    groups = groups_of(counted, figures)  # of all jobs, so that the groups are those of a replay
    return Metrics(**{**values, "jobs": len(workload), "not_started": missing, "groups": groups})


def _recorded_attempts(workload: Workload) -> History | None:
    """Return the attempts that a log recorded before the last ones of its jobs, as those of a replay; None if it has none."""
    if workload.site is None:
        return None
    early = []
    rows = []
    for row, attempts in sorted(workload.site.attempts.items()):
        ran = [each for each in attempts if each.start >= 0 and each.end > each.start]
        for number, each in enumerate(ran, 1):
            early.append(Attempt(workload.ids[row], number, each.start, each.end, {}, each.state, 0))
            rows.append(row)
    return History.of(early, rows, {}, len(workload), {}, ())


def _measure(
    workload: Workload,
    start: Ints,
    end: Ints,
    platform: Platform | None,
    *,
    killed: int | None = None,
    decisions: Decisions | None = None,
    expected: Ints | None = None,
    prediction_seconds: float | None = None,
    bsld_floor: float = BSLD_FLOOR,
    history: History | None = None,
    left: Ints | None = None,
    placement: NodeRanges | None = None,
) -> Metrics:
    done = _completed(start, end, history)
    figures = job_figures(workload, start, end, expected, bsld_floor, history)
    wait = figures.wait
    slowdown = figures.slowdown
    bounded = figures.bounded_slowdown
    work = (end - start)[done]  # of all attempts
    if history is None:
        took = work
    else:
        took = work + history.less[done]
    if workload.begin is None:
        begin = int(workload.submit.min())
    else:
        begin = workload.begin
    if done.any():
        last = int(workload.submit.max())
        finish = int(end[done].max())
    else:
        last = None
        finish = None
    makespan = None
    if finish is not None:
        makespan = finish - begin
    used = _used(workload, platform, start, end, history, placement)
    if not platform:
        offered = dict.fromkeys(workload.resources)
    else:
        offered = {r: platform.total(r) for r in platform.resources}
    if left is None:
        gone = np.zeros(0, np.int64)
    else:
        gone = left
    queue = queue_curve(np.maximum(workload.submit, begin), start, history, gone)
    queue_max, queue_mean = over_time(queue, begin, finish)
    running_curve = use_curve(start, end, np.ones_like(start), history)
    running_max, running_mean = over_time(running_curve, begin, finish)
    calls = _decisions(decisions)
    return Metrics(
        jobs=len(workload),
        started=int(done.sum()),
        not_started=int((~done).sum()),
        killed=killed,
        wait=Spread.of(wait),
        slowdown=Spread.of(slowdown),
        bounded_slowdown=Spread.of(bounded),
        by_class=_by_class(wait, work, slowdown, bounded),
        thesis={**thesis_lateness(workload, wait, done), **overhead(calls.seconds, makespan)},
        makespan=makespan,
        utilisation={r: share_used(used.get(r), begin, finish, offered[r]) for r in offered},
        utilisation_submitting={r: share_used(used.get(r), begin, last, offered[r]) for r in offered},
        queue_max=queue_max,
        queue_mean=queue_mean,
        decisions=calls,
        accuracy=Accuracy() if expected is None else accuracy(expected[done], took),
        running_max=running_max,
        running_mean=running_mean,
        in_use={r: over_time(used[r], begin, finish)[1] if r in used else None for r in offered},
        wait_over_ewt=wait_over_ewt(workload, wait, done),
        prediction_seconds=prediction_seconds,
        bsld_floor=float(bsld_floor),
        groups=groups_of(workload, figures),
        percentiles=_percentiles(figures),
        late_starts=late_starts(figures.late),
        wait_contribution=wait_contribution(workload, wait, done),
        running_submitting=share_used(running_curve, begin, last, 1),
    )


def _completed(start: Ints, end: Ints, history: History | None) -> NDArray[np.bool_]:
    """Return the mask of the jobs whose work was done."""
    done = (start >= 0) & (end >= 0)
    if history is not None:
        done[list(history.dropped)] = False
    return np.asarray(done)


def job_figures(
    workload: Workload,
    start: Ints,
    end: Ints,
    expected: Ints | None = None,
    bsld_floor: float = BSLD_FLOOR,
    history: History | None = None,
) -> JobFigures:
    """Return wait, slowdown and bounded slowdown of each job with a known start and end.

    Parameters
    ----------
    workload : Workload
        The jobs.
    start, end : ndarray of int64, shape (jobs,)
        Seconds, -1 if unknown.
    expected : ndarray of int64, shape (jobs,), optional
        Expected durations in seconds.
    bsld_floor : float
        The least duration in the bounded slowdown, in seconds, above 0.
    history : History, optional
        The attempts that ended early.

    Returns
    -------
    JobFigures
        The figures, in the order of the workload.

    Raises
    ------
    ValueError
        If ``bsld_floor`` is not a number above 0.
    """
    if not 0 < bsld_floor < np.inf:
        raise WrongValue(f"bsld_floor is {bsld_floor}; expected a number of seconds above 0, such as 10 or 60")
    row = np.flatnonzero(_completed(start, end, history))
    wait = start[row] - workload.submit[row]
    work = end[row] - start[row]
    lost = np.zeros(len(row), np.int64)
    if history is not None:  # the time that was lost, and restarts, count as part of the response time only
        wait = wait - history.ran_before[row]
        work = work + history.less[row]
        lost = (history.ran_before - history.less)[row]
    duration = np.maximum(work, 1)
    response = wait + lost + duration
    bounded = np.maximum(1.0, response / np.maximum(duration, bsld_floor))
    ratio = None
    if expected is not None:
        ratio = expected[row] / duration
    return JobFigures(row, wait, response / duration, bounded, ratio, lateness(workload, start, row))


def _by_class(wait: Ints, took: Ints, slowdown: Floats, bounded: Floats) -> dict[str, JobClass]:
    masks = {
        "short": took < HOUR,
        "medium": (took >= HOUR) & (took <= 5 * HOUR),
        "long": took > 5 * HOUR,
    }
    return {
        name: JobClass(int(m.sum()), Spread.of(wait[m]), Spread.of(slowdown[m]), Spread.of(bounded[m]))
        for name, m in masks.items()
    }


def overhead(seconds: Timing, makespan: int | None) -> dict[str, float | None]:
    """Return the metrics of [Bridi2018, 4.5] that depend on the wall time of the decisions: AO, MO, %O.

    >>> overhead(Timing(mean=0.5, max=2.0, total=10.0), 1000)
    {'AO': 0.5, 'MO': 2.0, '%O': 1.0}
    """
    if seconds.total is None or not makespan:
        share = None
    else:
        share = 100 * seconds.total / makespan
    return {"AO": seconds.mean, "MO": seconds.max, "%O": share}


def _decisions(decisions: Decisions | None) -> DecisionMetrics:
    if decisions is None:
        return DecisionMetrics()
    d = decisions
    reported = bool(d.ended)
    total = np.asarray(d.seconds.get("total", ()), np.float64)
    parts = {name: np.asarray(d.seconds.get(name, ()), np.float64) for name in PHASES}
    solved = parts["solve"] > 0
    gains = np.asarray(d.gains, np.float64)
    gains = gains[np.isfinite(gains)]
    kinds = dict.fromkeys((*get_args(Ended), *d.ended))
    spread = Timing(mean=d.total_seconds / d.made if d.made else None, total=d.total_seconds)
    return DecisionMetrics(
        made=d.made,
        skipped=d.skipped,
        solver=sum(n for kind, n in d.ended.items() if kind != "trivial") if reported else None,
        ended={kind: d.ended.get(kind, 0) if reported else None for kind in kinds},
        seconds=Timing.of(total) if total.size else spread,
        solver_seconds=Timing.of(total[solved]) if solved.shape == total.shape else Timing(),
        start_seconds=Timing.of(parts["start"]),
        model_seconds=Timing.of(parts["model"]),
        solve_seconds=Timing.of(parts["solve"]),
        allocate_seconds=Timing.of(parts["allocate"]),
        gain_mean=float(gains.mean()) if gains.size else None,
        gain_none=int((gains <= 0).sum()) if gains.size else None,
        urgent=d.urgent if reported else None,
        models=d.models,
        phases=d.phases,
        used=d.used,
        counts=d.counts,
    )


def _used(
    workload: Workload,
    platform: Platform | None,
    start: Ints,
    end: Ints,
    history: History | None,
    placement: NodeRanges | None,
) -> dict[str, tuple[Ints, Ints]]:
    """Return resource -> curve of its use by all attempts; an empty dict without a platform."""
    curves = {}
    if platform is not None:
        for r in platform.resources:
            if r in workload.resources:
                amount = amounts_in_use(workload, r, platform, placement)
                curves[r] = usage(workload, r, start, end, amount, history)
    return curves


def _percentiles(figures: JobFigures) -> dict[str, tuple[float, ...]]:
    """Return the percentiles 0 to 100 of the wait, the slowdown, and duration / expected duration."""
    samples: dict[str, Ints | Floats] = {"wait": figures.wait, "slowdown": figures.slowdown}
    if figures.expected_ratio is not None:
        samples["ratio"] = 1 / figures.expected_ratio
    return {name: tuple(np.percentile(v, np.arange(101)).tolist()) for name, v in samples.items() if v.size}
