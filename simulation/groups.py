"""The metrics of groups of jobs: per queue, user, number of units, accuracy, ... All groups at once, from sorted arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import MissingPackage
from ..instances.workload import Workload
from ..models.array_types import Floats, Ints
from ..models.dispatch.site_request import SiteRequest
from ..models.excerpt import with_short_repr
from ..models.words import how_many
from .users import accuracy_class, class_names, request_accuracy

if TYPE_CHECKING:
    import pandas


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
        columns = {name: [row[name] for row in rows] for name in rows[0]} if rows else {}
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
    ratio = None if figures.expected_ratio is None else np.bincount(mine, figures.expected_ratio, len(names))
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


def _by_partition(workload: Workload) -> tuple[Ints, Sequence[str]] | None:
    """Return the partitions; None for logs that record none.

    A job that asked for several is one of ``"a,b"``, in the order in which it named them: which of them it gets is decided by
    a replay, and differs from one to the next. ``bench calibrate`` and ``bench whatif`` have the same names.
    """
    w = workload
    asked = [] if w.site is None else [",".join(request.partitions) for request in w.site.requests]
    if not any(asked):
        return (w.partition, w.partitions) if w.partitions else None
    ran_in = [w.partitions[k] for k in w.partition.tolist()] if w.partitions else [""] * len(w)
    names = (
        [asked[k] or own for k, own in zip(w.site.request.tolist(), ran_in, strict=True)]
        if w.site is not None
        else ran_in
    )
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
    at = workload.resources.index("cores") if "cores" in workload.resources else None
    given = units if at is None else workload.job_arrays.amounts[:, at]
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
    return "units" if workload.site is None else "CPUs"


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
    at = workload.resources.index("cores") if "cores" in workload.resources else None
    cores = arrays.all_units if at is None else arrays.amounts[:, at]
    if workload.site is not None:
        cores = np.where(workload.site.cpus >= 0, workload.site.cpus, cores)
    return _hours(cores, workload)


def _hours(cores: Ints, workload: Workload) -> Floats:
    hours: Floats = cores * np.maximum(workload.runtime, 0) / 3600
    return hours


def _by_core_hours(workload: Workload) -> tuple[Ints, Sequence[str]]:
    """Return the classes by core-hours; ``"1-10"`` holds 1, not 10."""
    names = [f"below {CORE_HOURS[0]}", *(f"{a}-{b}" for a, b in pairwise(CORE_HOURS)), f"{CORE_HOURS[-1]} or more"]
    hours = core_hours(workload) if workload.site is None else _hours(sizes_asked(workload), workload)
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
    "partition": _by_partition,
    "units": _by_units,
    "core-hours": _by_core_hours,
    "accuracy": _by_accuracy,
    "user-accuracy": _by_user_accuracy,
}
ADDED = ("core-hours", "accuracy", "user-accuracy")  # properties that older records lack
CLASSES = ("units", "core-hours")  # the groupings that are meant by "class"
