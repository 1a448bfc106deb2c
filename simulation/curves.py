"""Step functions over the time of a replay: waiting and running jobs, used amounts beside the desired ones [Bridi2018, 5.5.2].

A curve is a pair of arrays of equal length: ``times`` (seconds, increasing) and ``values``. The value is ``values[k]``
in ``[times[k], times[k + 1])``, and 0 before ``times[0]``. All changes at one time are one step.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..backends import UnknownName
from ..instances.workload import Workload
from ..models.array_types import Floats, Ints
from ..models.compiled import compiled, internal
from ..models.desired_profile import POWER, DesiredProfile
from ..models.platform import Platform
from .records import History, NodeRanges, ReplayData, Runs, runs_of


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
    amount = amounts_in_use(s.workload, resource, s.platform, s.placement)
    return usage(s.workload, resource, s.start, s.end, amount, s.history)


def usage(
    workload: Workload, resource: str, start: Ints, end: Ints, amount: Ints, history: History | None = None
) -> tuple[Ints, Ints]:
    """Return the curve of a resource in use by all attempts and the jobs that run at the begin; ``amount``: of each job."""
    if workload.running:
        held = [(r.true_end, r.job.units * r.job.request.get(resource, 0)) for r in workload.running]
        more = np.array(held, np.int64)
        start = np.append(start, np.full(len(more), workload.begin, np.int64))
        end = np.append(end, more[:, 0])
        amount = np.append(amount, more[:, 1])
    return use_curve(start, end, amount, history)


def amounts_in_use(workload: Workload, resource: str, platform: Platform, placement: NodeRanges | None = None) -> Ints:
    """Return the amount of a resource that each job uses, shape (jobs,).

    A job with whole nodes has all CPUs of its nodes. One of whose CPUs the log recorded fewer than its equal units have, which
    are rounded up, has as many as were recorded.

    ``placement``: the nodes of the last attempt of each job; None: they are unknown, each job has one at least.
    """
    amount: Ints = workload.job_arrays.amounts[:, workload.resources.index(resource)]
    each = workload.on_each_node([resource])[:, 0]
    if each.any():
        nodes: Ints | int = 1
        if placement is not None:
            nodes = _on_their_nodes(placement, np.ones(len(platform.nodes), np.int64))
        amount = amount + each * nodes
    if resource != "cores" or workload.site is None:
        return amount
    recorded = workload.site.cpus
    amount = np.where((recorded >= 0) & (recorded < amount), recorded, amount)
    whole = np.array([terms.whole_nodes for terms in workload.node_terms], np.bool_)[workload.node_term]
    if placement is None or not whole.any():
        return amount
    of_node = {
        name: vector[platform.resources.index("cores")] for vector, names in platform.classes.items() for name in names
    }
    cores = np.array([of_node[name] for name in platform.nodes], np.int64)
    return np.where(whole, np.maximum(amount, _on_their_nodes(placement, cores)), amount)


def _on_their_nodes(placement: NodeRanges, values: Ints) -> Ints:
    """Return the sum over the nodes of each job of a value of each node, shape (jobs,)."""
    up_to = np.concatenate([[0], np.cumsum(values)])
    of_range = np.where(placement.high >= placement.low, up_to[placement.high + 1] - up_to[placement.low], 0)
    before = np.concatenate([[0], np.cumsum(of_range)])
    summed: Ints = before[placement.first[1:]] - before[placement.first[:-1]]
    return summed


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
        if n != last:
            latest = -(2**62)
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
    if times.size:
        last = np.append(np.diff(times) > 0, True)
    else:
        last = np.zeros(0, np.bool_)
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
    mean = None
    if finish > begin:
        mean = area(curve, begin, finish) / (finish - begin)
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
    origin = 0
    if workload.unix_start is not None:
        origin = workload.unix_start % HOUR
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


# --- The volume of use above a desired profile, summed over the nodes; compiled.


@internal
def _above(first: Ints, time: Ints, amount: Floats, period: int, row: int, a: int, b: int, used: int) -> float:
    """Return the integral over [a, b) of what ``used`` is above the steps of a row; see ``ProfileArrays``."""
    shift = a // period * period if period > 0 else 0
    low = first[row]
    high = first[row + 1]
    k = low
    while k + 1 < high and time[k + 1] <= a - shift:
        k += 1
    volume = 0.0
    while a < b:
        if k + 1 < high:
            until = min(b, time[k + 1] + shift)
        else:
            until = min(b, shift + period) if period > 0 else b
        volume += max(0.0, used - amount[k]) * (until - a)
        a = until
        k += 1
        if k == high:
            k = low
            shift += period
    return volume


@compiled
def volume_above(
    order: Ints, start: Ints, end: Ints, low: Ints, high: Ints, used: Ints, begin: int, finish: int, nodes: int,
    first: Ints, time: Ints, amount: Floats, period: int, group: Ints,
) -> Floats:  # fmt: skip
    """Return the volume of use above the desired amounts in [begin, finish), for each resource, summed over the nodes.

    Parameters
    ----------
    order
        The events by time, shape (2 * pieces,): event e < pieces is the end of piece e, event pieces + e its start.
    start, end, low, high
        Times in seconds and first and last node of each piece, shape (pieces,).
    used
        What each piece uses on each of its nodes, shape (pieces, resources).
    begin, finish
        Seconds.
    nodes
        The number of nodes.
    first, time, amount, period, group
        The fields of ``ProfileArrays``.

    Returns
    -------
    ndarray of float64, shape (resources,)
        Amount times seconds.
    """
    pieces, resources = used.shape
    volume = np.zeros(resources, np.float64)
    now = np.zeros((nodes, resources), np.int64)
    since = np.full(nodes, begin, np.int64)
    for i in range(order.size):
        e = order[i]
        piece = e if e < pieces else e - pieces
        sign = -1 if e < pieces else 1
        t = min(max(end[piece] if e < pieces else start[piece], begin), finish)
        for p in range(low[piece], high[piece] + 1):
            for r in range(resources):
                if now[p, r] > 0 and since[p] < t:
                    row = group[p] * resources + r
                    volume[r] += _above(first, time, amount, period, row, since[p], t, now[p, r])
                now[p, r] += sign * used[piece, r]
            since[p] = t
    return volume


# --- The pieces of a replay: what each run uses on each range of its nodes.


class Pieces(NamedTuple):
    """One entry for each range of nodes of each run, also of those that run at the begin.

    Parameters
    ----------
    start, end : ndarray of int64
        Seconds; equal for a run that never started.
    low, high : ndarray of int64
        First and last node of the range, both included.
    amount : ndarray of int64, shape (pieces, resources)
        What the run uses on each node of the range, in the order of ``platform.resources``.
    row : ndarray of int64
        The row of the job in the workload, -1 for those that run at the begin.
    """

    start: Ints
    end: Ints
    low: Ints
    high: Ints
    amount: Ints
    row: Ints


def pieces_of(runs: Runs) -> Pieces:
    """Return the pieces of all runs of a replay."""
    w = runs.workload
    p = runs.placement
    resources = runs.platform.resources
    job = np.repeat(np.arange(len(w)), np.diff(p.first))
    missing = np.zeros(len(w), np.int64)
    column = {r: w.request[:, k] for k, r in enumerate(w.resources)}
    request = np.column_stack([column.get(r, missing) for r in resources])[job]
    for k, chunks in w.chunks.items():
        at = int(p.first[k])
        for chunk in chunks:
            left = chunk.units
            while left > 0 and at < p.first[k + 1]:
                request[at] = [chunk.request.get(r, 0) for r in resources]
                left -= int(p.units[at] * (p.high[at] - p.low[at] + 1))
                at += 1
    amount = request * p.units[:, None]
    pieces = Pieces(runs.start[job], np.where(runs.started, runs.end, runs.start)[job], p.low, p.high, amount, job)
    if not w.running:
        return pieces
    number = {name: n for n, name in enumerate(runs.platform.nodes)}
    held = [(r, number[node], units) for r in w.running for node, units in r.nodes.items() if node in number]
    nodes = np.array([n for _, n, _ in held], np.int64)
    begun = Pieces(
        np.array([r.start for r, _, _ in held], np.int64),
        np.array([r.true_end for r, _, _ in held], np.int64),
        nodes,
        nodes,
        np.array([[u * r.job.request.get(name, 0) for name in resources] for r, _, u in held], np.int64).reshape(
            -1, len(resources)
        ),
        np.full(len(held), -1, np.int64),
    )
    return Pieces(*(np.concatenate(pair) for pair in zip(pieces, begun, strict=True)))


def power_steps(runs: Runs) -> tuple[Ints, Floats]:
    """Return (times, watts): the power of all running jobs from each time on; jobs without a known power count 0."""
    watts = np.nan_to_num(runs.workload.power)
    start, end = runs.start[runs.started], runs.end[runs.started]
    held = [(r.start, r.true_end, r.job.power or 0.0) for r in runs.workload.running]
    start = np.append(start, [s for s, _, _ in held]).astype(np.int64)
    end = np.append(end, [e for _, e, _ in held]).astype(np.int64)
    each = np.append(watts[runs.started], [p for _, _, p in held])
    times = np.concatenate([start, end])
    order = np.argsort(times, kind="stable")
    total = np.cumsum(np.concatenate([each, -each])[order])
    last = np.append(np.diff(times[order]) > 0, True)[: len(times)]
    return times[order][last], np.round(total[last], 6)


# --- The figures of a replay beside its desired profile [Bridi2018, 5.5.2], with the misprints of the source resolved.
#
# - Over-utilisation: the volume of use above the desired amounts, summed over the nodes, in amount-hours (core-hours). Also
#   that of the whole machine, in which one node above its amount and another below it even out.
# - Dissimilarity of the use f of the machine and the desired use g: with psi = min g / f over the times with f > 0,
#   D = (R_gg - R_gf) / R_gg, where R_gg and R_gf are the integrals of g * g and psi * f * g. It is 0 if f is g times a
#   constant, and 1 if nothing is in use.
# - Squared distance: the mean over time of ((f - g) / c) ** 2, where c is the capacity, of power the greatest wish.
#
# The time is that from the begin of the replay to the end of the last job.


def desired_figures(replay: ReplayData, profile: DesiredProfile | None) -> Mapping[str, Any]:
    """Return the figures of a replay beside its desired profile.

    Parameters
    ----------
    replay : ReplayData
        A ``Simulation``, or a replay that was read from a file.
    profile : DesiredProfile, optional
        The desired profile.

    Returns
    -------
    mapping
        ``"over"`` and ``"machine_over"`` {resource: amount-hours}, ``"dissimilarity"`` and ``"squared_distance"``
        {resource: number without unit} for the resources with a wish. Empty without a desired profile, or if no job
        ended.
    """
    if profile is None or not (replay.start >= 0).any():
        return {}
    runs = runs_of(replay)
    w = replay.workload
    if w.begin is None:
        begin = int(w.submit.min())
    else:
        begin = w.begin
    finish = int(runs.end[runs.started].max())
    figures: dict[str, dict[str, float | None]] = {}
    over = over_utilisation(runs, profile, begin, finish)
    for resource in profile.wished:
        times, use, wish = _curves(replay, profile, resource, begin, finish)
        length = np.diff(np.append(times, finish)).astype(np.float64)
        known_total = resource in replay.platform.resources  # power is no resource of a platform
        total = 0.0
        if known_total:
            total = float(replay.platform.total(resource))
        most = total or float(wish[np.isfinite(wish)].max(initial=0.0))
        figures.setdefault("machine_over", {})[resource] = float((np.maximum(0, use - wish) * length).sum()) / HOUR
        figures.setdefault("over", {})[resource] = over.get(resource, figures["machine_over"][resource])
        known = np.isfinite(wish)  # no wish for the power: no distance
        figures.setdefault("dissimilarity", {})[resource] = dissimilarity(wish[known], use[known], length[known])
        distance = ((use - wish)[known] ** 2 * length[known]).sum() / (length[known].sum() * most**2 or np.nan)
        if np.isnan(distance):
            figures.setdefault("squared_distance", {})[resource] = None
        else:
            figures.setdefault("squared_distance", {})[resource] = float(distance)
    return figures


def power_peak(replay: ReplayData) -> float | None:
    """Return the greatest power of all running jobs of a replay in watts; None if the power of a job is unknown."""
    w = replay.workload
    if np.isnan(w.power).any() or any(r.job.power is None for r in w.running):
        return None
    return float(power_steps(runs_of(replay))[1].max(initial=0.0))


def over_utilisation(runs: Runs, profile: DesiredProfile, begin: int, finish: int) -> dict[str, float]:
    """Return the volume of use above the desired amounts in [begin, finish), summed over the nodes, in amount-hours."""
    pieces = pieces_of(runs)
    arrays = profile.arrays
    order = np.argsort(np.concatenate([pieces.end, pieces.start]), kind="stable")
    volume = volume_above(
        order, pieces.start, pieces.end, pieces.low, pieces.high, np.ascontiguousarray(pieces.amount), begin, finish,
        len(runs.platform.nodes), arrays.first, arrays.time, arrays.amount, arrays.period, arrays.group,
    )  # fmt: skip
    return {r: float(v) / HOUR for r, v in zip(runs.platform.resources, volume, strict=True)}


def dissimilarity(desired: Floats, used: Floats, length: Floats) -> float | None:
    """Return the dissimilarity of two step functions with the same steps; None if nothing is desired.

    Parameters
    ----------
    desired, used : ndarray of float
        The values g and f in each step.
    length : ndarray of float
        The length of each step in seconds.

    Examples
    --------
    >>> round(dissimilarity(np.array([4.0, 4, 2, 2]), np.array([2.0, 4, 1, 0]), np.ones(4)), 2)
    0.35
    """
    own = float((desired * desired * length).sum())
    if own == 0:
        return None
    some = (used > 0) & (length > 0)
    if not some.any():
        return 1.0
    psi = float((desired[some] / used[some]).min())
    return (own - psi * float((desired * used * length).sum())) / own


def _curves(
    replay: ReplayData, profile: DesiredProfile, resource: str, begin: int, finish: int
) -> tuple[Ints, Floats, Floats]:
    """Return times in [begin, finish) and the amounts of the machine in use and desired from each of them on."""
    if _is_power(profile, resource):
        at, use = power_steps(runs_of(replay))
    else:
        at, amount = utilisation(replay, resource)
        use = amount.astype(np.float64)
    wish_at, wish = profile.totals(resource, begin, max(finish, begin + 1))
    inside = at[(at > begin) & (at < finish)]
    times = np.unique(np.concatenate([[begin], inside, wish_at]))
    before = np.searchsorted(at, times, side="right") - 1
    used = np.where(before >= 0, use[np.maximum(before, 0)], 0.0)
    return times, used, wish[np.searchsorted(wish_at, times, side="right") - 1]


def _is_power(profile: DesiredProfile, resource: str) -> bool:
    return resource == POWER and POWER not in profile.platform.resources


def mean_curves(simulation: ReplayData, steps: int) -> dict[str, dict[str, list[float | None]]]:
    """Return use and desired use of the machine as means over equal intervals, for each resource with a wish.

    Parameters
    ----------
    simulation : Simulation
        A replay.
    steps : int
        The number of intervals.

    Returns
    -------
    dict
        ``{resource: {"time": ..., "use": ..., "desired": ...}}``: the begin of each interval in seconds, and the means; None
        where there is no wish. Empty without a desired profile, or if no job ended.
    """
    profile = simulation.desired
    ended = simulation.end[simulation.start >= 0]
    if profile is None or not ended.size:
        return {}
    w = simulation.workload
    if w.begin is None:
        begin = int(w.submit.min())
    else:
        begin = w.begin
    edges = np.linspace(begin, max(begin + 1, int(ended.max())), steps + 1)
    curves: dict[str, dict[str, list[float | None]]] = {}
    for resource in profile.wished:
        times, use, wish = _curves(simulation, profile, resource, begin, int(edges[-1]))
        curves[resource] = {"time": edges[:-1].tolist()}
        for name, values in (("use", use), ("desired", wish)):
            finite = np.where(np.isfinite(values), values, 0.0)
            until = np.append(times[1:], max(times[-1], edges[-1]))
            whole = np.concatenate([[0.0], np.cumsum(finite * (until - times))])
            at = np.interp(edges, np.append(times, until[-1]), whole)
            means = np.diff(at) / np.diff(edges)
            known = np.isfinite(values)[np.searchsorted(times, edges[:-1], side="right") - 1]
            curves[resource][name] = [float(m) if k else None for m, k in zip(means, known, strict=True)]
    return curves
