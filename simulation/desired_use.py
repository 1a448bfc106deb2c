"""The use of a replay beside its desired profile [Bridi2018, 5.5.2], with the misprints of the source resolved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..models.array_types import Floats, Ints
from ..models.compiled import compiled, internal
from ..models.desired_profile import POWER, DesiredProfile
from .curves import usage
from .records import ReplayData, Runs, runs_of

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

HOUR = 3600


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
    begin = int(w.submit.min()) if w.begin is None else w.begin
    finish = int(runs.end[runs.started].max())
    figures: dict[str, dict[str, float | None]] = {}
    over = over_utilisation(runs, profile, begin, finish)
    for resource in profile.wished:
        times, use, wish = _curves(replay, profile, resource, begin, finish)
        length = np.diff(np.append(times, finish)).astype(np.float64)
        known_total = resource in replay.platform.resources  # power is no resource of a platform
        total = float(replay.platform.total(resource)) if known_total else 0.0
        most = total or float(wish[np.isfinite(wish)].max(initial=0.0))
        figures.setdefault("machine_over", {})[resource] = float((np.maximum(0, use - wish) * length).sum()) / HOUR
        figures.setdefault("over", {})[resource] = over.get(resource, figures["machine_over"][resource])
        known = np.isfinite(wish)  # no wish for the power: no distance
        figures.setdefault("dissimilarity", {})[resource] = dissimilarity(wish[known], use[known], length[known])
        distance = ((use - wish)[known] ** 2 * length[known]).sum() / (length[known].sum() * most**2 or np.nan)
        figures.setdefault("squared_distance", {})[resource] = None if np.isnan(distance) else float(distance)
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
        at, amount = usage(replay.workload, resource, replay.start, replay.end, replay.history)
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
    begin = int(w.submit.min()) if w.begin is None else w.begin
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
