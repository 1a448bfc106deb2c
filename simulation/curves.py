"""Step functions over the time of a replay: number of waiting and running jobs, used amount of a resource.

A curve is a pair of arrays of equal length: ``times`` (seconds, increasing) and ``values``. The value is ``values[k]``
in ``[times[k], times[k + 1])``, and 0 before ``times[0]``. All changes at one time are one step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..backends import UnknownName
from ..instances.workload import Workload
from ..models.array_types import Ints

if TYPE_CHECKING:
    from .records import History, ReplayData


from dataclasses import dataclass

from ..models.array_types import Floats
from ..models.platform import Platform


def queue_length(simulation: ReplayData) -> tuple[Ints, Ints]:
    """Return the number of waiting jobs over time.

    A job waits from its submit time to its start, and after an attempt that ended early to the next one; a job that
    leaves the queue (deleted, or without a further reservation) until then. Another one that never starts waits without
    end.

    Parameters
    ----------
    simulation : Simulation
        A replay.

    Returns
    -------
    times, values : ndarray of int64
        The curve: seconds, number of jobs.
    """
    return queue_curve(simulation.workload.submit, simulation.start, simulation.history, left_at(simulation))


def left_at(simulation: ReplayData) -> Ints:
    """Return the seconds at which jobs left the queue without a start, in any order."""
    record = simulation.production
    return np.array([] if record is None else list(record.left_at.values()), np.int64)


def utilisation(simulation: ReplayData, resource: str) -> tuple[Ints, Ints]:
    """Return the used amount of a resource over time; jobs that run at the begin of the replay count.

    Parameters
    ----------
    simulation : Simulation
        A replay.
    resource : str
        A resource of the platform.

    Returns
    -------
    times, values : ndarray of int64
        The curve: seconds, used amount on the whole platform in the unit of the resource.

    Raises
    ------
    UnknownName
        If the platform has no such resource.
    """
    s = simulation
    if resource not in s.platform.resources:
        raise UnknownName("resource", resource, list(s.platform.resources))
    p = s.placement
    before = np.concatenate([[0], np.cumsum(np.maximum(p.high - p.low + 1, 0))])
    return usage(s.workload, resource, s.start, s.end, s.history, before[p.first[1:]] - before[p.first[:-1]])


def usage(
    workload: Workload,
    resource: str,
    start: Ints,
    end: Ints,
    history: History | None = None,
    nodes: Ints | None = None,
) -> tuple[Ints, Ints]:
    """Return the curve of the amount of a resource in use by all attempts and the jobs that run at the begin.

    ``nodes``: the number of nodes of the last attempt of each job, shape (jobs,); None: each has one at least.
    """
    amount = workload.job_arrays.amounts[:, workload.resources.index(resource)]
    each = workload.on_each_node([resource])[:, 0]
    if each.any():
        amount = amount + each * (1 if nodes is None else nodes)
    if workload.running:
        held = [(r.true_end, r.job.units * r.job.request.get(resource, 0)) for r in workload.running]
        more = np.array(held, np.int64)
        start = np.append(start, np.full(len(more), workload.begin, np.int64))
        end = np.append(end, more[:, 0])
        amount = np.append(amount, more[:, 1])
    return use_curve(start, end, amount, history)


def running(simulation: ReplayData) -> tuple[Ints, Ints]:
    """Return the number of running jobs over time.

    Parameters
    ----------
    simulation : Simulation
        A replay.

    Returns
    -------
    times, values : ndarray of int64
        The curve: seconds, number of jobs.
    """
    return use_curve(simulation.start, simulation.end, np.ones_like(simulation.start), simulation.history)


def resources(simulation: ReplayData) -> dict[str, tuple[Ints, Ints]]:
    """Return the used amount of each resource of the platform over time, as ``utilisation`` does for one of them."""
    return {name: utilisation(simulation, name) for name in simulation.platform.resources}


def queue_curve(submit: Ints, start: Ints, history: History | None, left: Ints) -> tuple[Ints, Ints]:
    """Return ``waiting`` of all attempts: those of ``history`` and the last ones, with these starts."""
    if history is None:
        return waiting(submit, start, left)
    begun = np.maximum(history.start, 0)  # one that runs at the begin may start before second 0
    return waiting(np.concatenate([submit, history.end]), np.concatenate([start, begun]), left)


def use_curve(start: Ints, end: Ints, amount: Ints, history: History | None) -> tuple[Ints, Ints]:
    """Return ``in_use`` of all attempts: those of ``history`` and the last ones; ``amount``: of each job."""
    if history is None:
        return in_use(start, end, amount)
    return in_use(
        np.concatenate([start, np.maximum(history.start, 0)]),  # one that runs at the begin may start before second 0
        np.concatenate([end, history.end]),
        np.concatenate([amount, amount[history.rows]]),
    )


def waiting(submit: Ints, start: Ints, left: Ints) -> tuple[Ints, Ints]:
    """Return the curve of the number of waiting jobs; a start of -1 means never started, ``left``: seconds of leaving.

    Examples
    --------
    >>> [a.tolist() for a in waiting(np.array([0, 0, 5]), np.array([0, 10, -1]), np.array([7]))]
    [[0, 5, 7, 10], [1, 2, 1, 0]]
    """
    done = np.concatenate([start[start >= 0], left])
    return _steps(np.concatenate([submit, done]), np.repeat([1, -1], [len(submit), len(done)]))


def in_use(start: Ints, end: Ints, amount: Ints) -> tuple[Ints, Ints]:
    """Return the curve of the amount in use by jobs that use ``amount`` from start to end.

    Jobs without a start or an end (-1) use nothing.

    Examples
    --------
    >>> [a.tolist() for a in in_use(np.array([0, 10, -1]), np.array([10, 12, -1]), np.array([4, 2, 1]))]
    [[0, 10, 12], [4, 2, 0]]
    """
    done = (start >= 0) & (end >= 0)
    amount = amount[done]
    return _steps(np.concatenate([start[done], end[done]]), np.concatenate([amount, -amount]))


def busy_nodes(start: Ints, end: Ints, first: Ints, low: Ints, high: Ints) -> tuple[Ints, Ints]:
    """Return the begins and ends of the times in which nodes run jobs, those of one node without overlap.

    Parameters
    ----------
    start, end : ndarray of int64, shape (jobs,)
        Seconds.
    first, low, high : ndarray of int64
        The nodes of the jobs, as ``NodeRanges``.

    Examples
    --------
    Two jobs on nodes 0 and 1 and on node 1:

    >>> nodes = np.array([0, 1, 2]), np.array([0, 1]), np.array([1, 1])
    >>> [a.tolist() for a in busy_nodes(np.array([0, 5]), np.array([10, 20]), *nodes)]
    [[0, 0, 10], [10, 10, 20]]
    """
    job = np.repeat(np.repeat(np.arange(len(start)), np.diff(first)), high - low + 1)
    width = high - low + 1
    node = np.arange(width.sum()) + np.repeat(low - np.cumsum(width) + width, width)
    order = np.lexsort((start[job], node))
    node = node[order]
    begin = start[job][order]
    until = end[job][order].copy()
    reach = np.empty_like(until)
    last, latest = -1, 0
    for k, (n, e) in enumerate(zip(node.tolist(), until.tolist(), strict=True)):
        latest = latest if n == last else -(2**62)
        reach[k] = latest
        latest = max(latest, e)
        last = n
    begin = np.maximum(begin, reach)  # without the time that is covered by the jobs before
    kept = begin < until
    return begin[kept], until[kept]


def _steps(times: Ints, changes: Ints) -> tuple[Ints, Ints]:
    order = np.argsort(times, kind="stable")
    times = times[order]
    values = np.cumsum(changes[order])
    last = np.append(np.diff(times) > 0, True) if times.size else np.zeros(0, np.bool_)
    return times[last], values[last]


def share_used(curve: tuple[Ints, Ints] | None, begin: int, end: int | None, offered: int | None) -> float | None:
    """Return the used share of the capacity ``offered`` from ``begin`` to ``end``, 0 to 1."""
    if curve is None or end is None or end <= begin or not offered:
        return None
    return area(curve, begin, end) / (offered * (end - begin))


def over_time(curve: tuple[Ints, Ints], begin: int, finish: int | None) -> tuple[int | None, float | None]:
    """Return the largest and the mean value of a curve over the makespan."""
    if finish is None:
        return None, None
    within = curve[1][curve[0] <= finish]
    mean = area(curve, begin, finish) / (finish - begin) if finish > begin else None
    return int(within.max(initial=0)), mean


def area(curve: tuple[Ints, Ints], begin: int, end: int) -> float:
    """Return the integral of a step function over [begin, end)."""
    times, values = curve
    edges = np.clip(np.append(times, end), begin, end)
    return float((np.diff(edges) * values).sum())


# --- Jobs and nodes per hour of a log.


HOUR = 3600


@dataclass(frozen=True, eq=False)
class Hours:
    """Jobs and nodes of a log in each hour, as recorded on the real machine.

    Parameters
    ----------
    begin : int
        Begin of the first hour in seconds, a multiple of 3,600 on the clock of the log.
    submitted : ndarray of int64, shape (hours,)
        Number of jobs submitted in the hour.
    running, nodes : ndarray of float, shape (hours,) or None
        Mean number of running jobs and of nodes in use over the hour; None if the log records no starts. A job uses
        ``units * max_r request[r] / (largest capacity of a node for r)`` nodes; jobs without a recorded start are left out.
    unknown : int
        Number of jobs without a recorded start.
    """

    begin: int
    submitted: Ints
    running: Floats | None
    nodes: Floats | None
    unknown: int


def hours_of(workload: Workload, platform: Platform) -> Hours:
    """Return the jobs and nodes in each hour of a log.

    Parameters
    ----------
    workload : Workload
        The log.
    platform : Platform
        Its machine.

    Returns
    -------
    Hours
        From the hour of the first submission to the hour of the last submission or recorded end.
    """
    origin = 0 if workload.unix_start is None else workload.unix_start % HOUR
    known = workload.recorded_start >= 0
    start = workload.recorded_start[known]
    end = start + np.maximum(workload.runtime[known], 0)
    begin = (int(workload.submit.min()) + origin) // HOUR * HOUR - origin
    last = max(int(workload.submit.max()) + 1, int(end.max(initial=0)))
    count = -(-(last - begin) // HOUR)
    submitted = np.bincount((workload.submit - begin) // HOUR, minlength=count)
    if not known.any():
        return Hours(begin, submitted, None, None, len(workload))
    nodes = _nodes(workload, platform)[known]
    running = _means(begin, count, start, end, np.ones(len(start)))
    return Hours(begin, submitted, running, _means(begin, count, start, end, nodes), int((~known).sum()))


def _nodes(workload: Workload, platform: Platform) -> Floats:
    """Return the number of nodes that each job occupies, by its largest share of a resource."""
    most = [max((g.capacity.get(r, 0) for g in platform.groups), default=0) for r in workload.resources]
    nodes: Floats = workload.units * (workload.request / np.maximum(most, 1)).max(axis=1)
    for k in workload.chunks:
        nodes[k] = (workload.job_arrays.amounts[k] / np.maximum(most, 1)).max()
    return nodes


def _means(begin: int, count: int, start: Ints, end: Ints, amount: Floats) -> Floats:
    """Return the mean of ``sum of amount[j] over the jobs j with start[j] <= t < end[j]`` over each hour."""
    edges = begin + HOUR * np.arange(count + 1)
    return np.diff(_integral(edges, start, amount) - _integral(edges, end, amount)) / HOUR


def _integral(times: Ints, since: Ints, amount: Floats) -> Floats:
    """Return ``sum_j amount[j] * max(0, t - since[j])`` for each of the times t."""
    order = np.argsort(since, kind="stable")
    total = np.concatenate([[0.0], np.cumsum(amount[order])])
    moment = np.concatenate([[0.0], np.cumsum(amount[order] * since[order])])
    before = np.searchsorted(since[order], times, side="right")
    integral: Floats = total[before] * times - moment[before]
    return integral
