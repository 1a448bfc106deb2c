"""Verification of dispatching schedules from the data alone, without formulation or solver."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..language import Violation
from ..problem import Schedule
from ..words import how_many
from .arrays import Eligibility, described_nodes, is_placed_freely
from .desired import excess_on_nodes
from .jobs import DAY, Job
from .objectives import broken_limits

if TYPE_CHECKING:
    from .arrays import DispatchData


# --- The capacity check: a sweep over the starts and ends of jobs in time order, on flat arrays; compiled for long ones.
#
# It checks single schedules and the results of simulations, and shares no code with the dispatchers.

Whole = NDArray[Any]  # int64, or Python's integers where 64 bits are too few
PLAIN = 20_000  # node visits up to which the loop runs uncompiled: loading numba would take longer
SAFE = 2.0**62  # sums of demands up to this size fit 64 bits


class Excess(NamedTuple):
    """The first time at which each overloaded node exceeds its capacity of a resource: one entry per node and resource.

    The entries are in the order of nodes, then times.

    Parameters
    ----------
    node, resource, job : array of int
        Indices as in the arrays that were given. ``job`` is the job whose start exceeds the capacity.
    time : array of int
        Seconds.
    used : array of int
        The amount in use after ``job`` has started.
    """

    node: Whole
    resource: Whole
    time: Whole
    used: Whole
    job: Whole


def excesses(
    start: Whole, end: Whole, first: Whole, low: Whole, high: Whole, units: Whole, request: Whole, capacity: Whole
) -> Excess:
    """Find where and when jobs use more than the capacity of a node; at equal times, ends are processed before starts.

    Job j runs in [``start[j]``, ``end[j]``) on the ranges of nodes ``first[j]`` to ``first[j + 1] - 1``. A job with
    ``end <= start``, a range without units, and nodes that do not exist occupy nothing.

    Parameters
    ----------
    start, end : array of int, shape (jobs,)
        Start and end of each job in seconds.
    first : array of int, shape (jobs + 1,)
        The first range of each job, and the number of ranges.
    low, high : array of int, shape (ranges,)
        The first and the last node of each range, both included.
    units : array of int, shape (ranges,)
        The number of units on each node of the range.
    request : array of int, shape (jobs, resources)
        The request of one unit.
    capacity : array of int, shape (nodes, resources)
        The capacity of each node.

    Returns
    -------
    Excess
        The overloaded nodes; empty arrays if there are none.

    Examples
    --------
    >>> import numpy as np
    >>> one, two = np.array([0]), np.array([0, 0])
    >>> found = excesses(np.array([0, 5]), np.array([9, 7]), np.arange(3), two, two, two + 2, two[:, None] + 4, one[:, None] + 10)
    >>> found.time, found.used, found.job
    (array([5]), array([16]), array([1]))
    """
    arrays = (start, end, units, request, capacity)
    wide = any(a.dtype == object for a in arrays)
    if not wide:
        most = request.max(axis=1, initial=0).astype(np.float64)
        wide = float((units * np.repeat(most, np.diff(first))).sum()) > SAFE
    start, end, units, request, capacity = (a.astype(object if wide else np.int64, copy=False) for a in arrays)
    first, low, high = (a.astype(np.int64, copy=False) for a in (first, low, high))
    order = np.argsort(np.concatenate([end, start]), kind="stable")
    visits = int(np.maximum(high - low + 1, 0).sum()) * capacity.shape[1]
    if wide or visits <= PLAIN:
        sweep = _sweep
    else:
        sweep = _compiled()
    job, time, used = sweep(order, start, end, first, low, high, units, request, capacity)
    cells = zip(*np.nonzero(job >= 0), strict=True)
    node, resource = np.array(sorted(cells, key=lambda f: (f[0], time[f], f[1])), np.int64).reshape(-1, 2).T
    at = (node, resource)
    return Excess(node, resource, time[at], used[at], job[at])


@cache
def _compiled() -> Callable[..., tuple[Whole, Whole, Whole]]:
    from ..compiled import compiled

    return compiled(_sweep)


def _sweep(
    order: Whole,
    start: Whole,
    end: Whole,
    first: Whole,
    low: Whole,
    high: Whole,
    units: Whole,
    request: Whole,
    capacity: Whole,
) -> tuple[Whole, Whole, Whole]:
    """Return per node and resource the first job that exceeds the capacity (-1: none), the time, and the amount in use.

    ``order``: the events by time; event e < n is the end of job e, event n + j is the start of job j.
    """
    n = len(start)
    nodes, resources = capacity.shape
    used = np.zeros_like(capacity)
    job_at = np.full((nodes, resources), -1, np.int64)
    time_at = np.zeros_like(capacity)
    used_at = np.zeros_like(capacity)
    for event in order:
        if event < n:
            job = event
        else:
            job = event - n
        if end[job] <= start[job]:
            continue
        starts = event >= n
        for k in range(first[job], first[job + 1]):
            for r in range(resources):
                amount = units[k] * request[job, r]
                if units[k] <= 0 or amount <= 0:
                    continue
                for node in range(max(low[k], 0), min(high[k] + 1, nodes)):
                    if not starts:
                        used[node, r] -= amount
                        continue
                    used[node, r] += amount
                    if used[node, r] > capacity[node, r] and job_at[node, r] < 0:
                        job_at[node, r] = job
                        time_at[node, r] = start[job]
                        used_at[node, r] = used[node, r]
    return job_at, time_at, used_at


def verify(problem: DispatchData, schedule: Schedule) -> list[Violation]:
    """Return all violations, each with the job, node and time concerned; an empty list for a feasible schedule.

    Starts and units must be whole numbers; if not, nothing else is checked. Every job has a start that is
    not before now or its release and is inside of its windows; it ends by its deadline; all its units are on nodes that
    exist and that the job may use, at most ``per_node`` on each; no other job runs on the nodes of a whole-node job. The
    units of a job fit their node, also if it takes 0 s. Licences suffice at all times. Jobs and running jobs together never exceed the capacity of a node, nor a hard desired profile (``desired``). The limits
    on objectives are kept.
    """
    fractions = [Violation(j, 1, text) for j, text in schedule.not_whole()]
    if fractions:
        return fractions
    jobs = {j.id: j for j in problem.jobs}
    violations = [Violation(j, 1, f"job {j!r} is not one of the problem") for j in schedule.start if j not in jobs]
    for job in problem.jobs:
        if job.id not in schedule.start:
            violations.append(Violation(job.id, 1, f"job {job.id!r} has no start"))
            continue
        violations.extend(_start(problem, job, schedule.start[job.id]))
        for name, (units, request) in _groups(job):
            violations.extend(_check_nodes(problem, name, units, schedule.nodes.get(name, {})))
            if problem.duration(job) == 0:
                violations.extend(_check_fit(problem, name, request, schedule.nodes.get(name, {})))
    violations.extend(_capacity(problem, schedule, jobs))
    if not is_placed_freely(problem):
        violations.extend(_allowed_nodes(problem, schedule))
        violations.extend(_shared_nodes(problem, schedule))
        violations.extend(_licences(problem, schedule))
    if problem.desired is not None and problem.over_cost is None:
        violations.extend(excess_on_nodes(problem, problem.desired, schedule))
    if all(job.id in schedule.start for job in problem.jobs):
        violations.extend(broken_limits(problem, schedule))
    return violations


def _start(problem: DispatchData, job: Job, start: int) -> Iterator[Violation]:
    for limit, what in ((problem.now, "now"), (job.submit, "its submit time"), (job.release, "its earliest start")):
        if start < limit:
            yield Violation(job.id, limit - start, f"job {job.id!r} starts at {start}, before {what}, {limit}")
            break
    if job.windows and not any(lo <= start <= hi for lo, hi in job.windows):
        yield Violation(job.id, 1, f"job {job.id!r} starts at {start}, outside of its windows {list(job.windows)}")
    queue = next(q for q in problem.queues if q.name == job.queue)
    daily = queue.daily
    second = start % DAY
    rest = 0
    if queue.whole_run:
        rest = job.walltime
    if daily and not any(lo <= s and s + rest <= hi for s in (second, second + DAY) for lo, hi in daily):
        yield Violation(
            job.id,
            1,
            f"job {job.id!r} starts at {start}, {second} s of the day; queue {job.queue!r} allows {list(daily)}"
            + (f" for whole runs, its walltime is {job.walltime} s" if rest else ""),
        )
    end = start + problem.duration(job)
    if job.deadline is not None and end > job.deadline:
        yield Violation(job.id, end - job.deadline, f"job {job.id!r} ends at {end}, after its deadline {job.deadline}")


def _groups(job: Job) -> list[tuple[str, tuple[int, Mapping[str, int]]]]:
    """Return the name, the units and the request of each group of equal units of a job."""
    if not job.chunks:
        return [(job.id, (job.units, job.request))]
    return [(f"{job.id}+{k}" if k else job.id, chunk) for k, chunk in enumerate(job.chunks)]


def _check_nodes(problem: DispatchData, name: str, expected: int, nodes: dict[str, int]) -> Iterator[Violation]:
    for node, units in nodes.items():
        if node not in problem.platform.capacity:
            yield Violation(name, 1, f"job {name!r} has units on {node!r}, which is not a node of the platform")
        if units < 0:
            yield Violation(name, -units, f"job {name!r} has {how_many(units, 'unit')} on {node!r}")
    count = sum(nodes.values())
    if count != expected:
        yield Violation(
            name, abs(count - expected), f"job {name!r} has {how_many(count, 'unit')} on nodes, not {expected}"
        )


def _check_fit(
    problem: DispatchData, name: str, request: Mapping[str, int], nodes: dict[str, int]
) -> Iterator[Violation]:
    """Yield a violation for each node that cannot hold the units of a job of 0 s, which occupy it at no time."""
    for node, units in nodes.items():
        for resource, has in zip(problem.platform.resources, problem.platform.capacity.get(node, ()), strict=False):
            amount = units * request.get(resource, 0)
            if amount > has:
                text = f"job {name!r} asks for {amount} {resource} of node {node!r}, which has {has}"
                yield Violation(name, amount - has, text)


def _allowed_nodes(problem: DispatchData, schedule: Schedule) -> Iterator[Violation]:
    """Yield a violation for each node that a job may not use, and for each one with too many of its units."""
    eligibility = Eligibility(problem.platform, problem.queues)
    for job in problem.jobs:
        may = dict(zip(problem.platform.nodes, eligibility.nodes(job).tolist(), strict=True))
        for name, _ in _groups(job):
            for node, units in schedule.nodes.get(name, {}).items():
                if units > 0 and not may.get(node, True):
                    whose = described_nodes(eligibility, job)
                    yield Violation(name, units, f"job {name!r} has {how_many(units, 'unit')} on {node!r}; {whose}")
                if job.per_node is not None and units > job.per_node:
                    text = f"job {name!r} has {how_many(units, 'unit')} on {node!r}; at most {job.per_node} may be on a node"
                    yield Violation(name, units - job.per_node, text)


class _Run(NamedTuple):
    """A job from its start to its end, in seconds, on the nodes with its units."""

    job: Job
    start: int
    end: int
    nodes: list[str]


def _runs(problem: DispatchData, schedule: Schedule) -> Iterator[_Run]:
    """Yield what runs for some time: the scheduled jobs, then the running jobs."""
    for job in problem.jobs:
        start = schedule.start.get(job.id)
        if start is not None and problem.duration(job) > 0:
            parts = [schedule.nodes.get(name, {}) for name, _ in _groups(job)]
            nodes = list(dict.fromkeys(node for on in parts for node, units in on.items() if units > 0))
            yield _Run(job, start, start + problem.duration(job), nodes)
    for r in problem.running:
        if r.end > problem.now:
            yield _Run(r.job, problem.now, r.end, [node for node, units in r.nodes.items() if units > 0])


def _shared_nodes(problem: DispatchData, schedule: Schedule) -> Iterator[Violation]:
    """Yield a violation for each job that runs on a node of a whole-node job at the same time, of the problem at least one."""
    own = {job.id for job in problem.jobs}
    by_node: dict[str, list[_Run]] = {}
    for run in _runs(problem, schedule):
        for node in run.nodes:
            by_node.setdefault(node, []).append(run)
    for node, runs in by_node.items():
        if not any(run.job.whole_nodes for run in runs):
            continue
        for k, run in enumerate(runs):
            for other in runs[k + 1 :]:
                whole = next((r for r in (run, other) if r.job.whole_nodes), None)
                at = max(run.start, other.start)
                if whole is None or at >= min(run.end, other.end) or not {run.job.id, other.job.id} & own:
                    continue
                if whole is run:
                    guest = other
                else:
                    guest = run
                text = f"node {node!r} at {at}: job {guest.job.id!r} runs beside job {whole.job.id!r}, which takes whole nodes"
                yield Violation(node, 1, text)


def _licences(problem: DispatchData, schedule: Schedule) -> Iterator[Violation]:
    """Yield a violation for the first time at which more licences are held than there are, for each kind of them."""
    runs = [run for run in _runs(problem, schedule) if run.job.licences]
    for name, total in problem.platform.licences.items():
        holders = [(run, amount) for run in runs if (amount := run.job.licences.get(name, 0)) > 0]
        for time in sorted({run.start for run, _ in holders}):
            held = sum(amount for run, amount in holders if run.start <= time < run.end)
            if held > total:
                starter = next(run.job.id for run, _ in holders if run.start == time)
                text = f"licences of {name!r} at {time}: {held} in use, there are {total} (job {starter!r} starts)"
                yield Violation(name, held - total, text)
                break


def _capacity(problem: DispatchData, schedule: Schedule, jobs: dict[str, Job]) -> Iterator[Violation]:
    """Yield a violation for each node and resource whose capacity is exceeded."""
    platform = problem.platform
    index = {node: k for k, node in enumerate(platform.nodes)}
    occupying: list[tuple[str, Mapping[str, int], int, int, dict[str, int]]] = []
    for name, start in schedule.start.items():
        if name in jobs:
            end = start + problem.duration(jobs[name])
            for part, (_, request) in _groups(jobs[name]):
                occupying.append((part, request, start, end, schedule.nodes.get(part, {})))
    occupying.extend((r.job.id, r.job.request, r.start, r.end, dict(r.nodes)) for r in problem.running)
    on_nodes = [[(index[node], units) for node, units in nodes.items() if node in index] for *_, nodes in occupying]
    node = _whole([node for pairs in on_nodes for node, _ in pairs])
    excess = excesses(
        _whole([start for *_, start, _, _ in occupying]),
        _whole([end for *_, end, _ in occupying]),
        np.cumsum([0, *(len(pairs) for pairs in on_nodes)]),
        node,
        node,
        _whole([units for pairs in on_nodes for _, units in pairs]),
        _whole(
            [request.get(r, 0) for _, request, *_ in occupying for r in platform.resources], len(platform.resources)
        ),
        _whole([amount for n in platform.nodes for amount in platform.capacity[n]], len(platform.resources)),
    )
    for at, r, time, used, job in zip(*excess, strict=True):
        name, resource = platform.nodes[at], platform.resources[r]
        limit = platform.capacity[name][r]
        starter = occupying[job][0]
        used = int(used)
        text = f"node {name!r} at {time}: {used} {resource} in use, it has {limit} (job {starter!r} starts)"
        yield Violation(name, used - limit, text)


def _whole(values: list[int], columns: int | None = None) -> Whole:
    """Return an array of 64-bit integers with this number of columns, or of Python's integers if one is greater."""
    try:
        made: Whole = np.array(values, np.int64)
    except OverflowError:
        made = np.array(values, object)
    if columns is None:
        return made
    return made.reshape(-1, columns)
