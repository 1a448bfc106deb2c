"""The figures of a replay beside its desired profile [Bridi2018, 5.5.2], with the misprints of the source resolved.

- Over-utilisation: the volume of use above the desired amounts, summed over the nodes, in amount-hours (core-hours). Also
  that of the whole machine, in which one node above its amount and another below it even out.
- Dissimilarity of the use f of the machine and the desired use g: with psi = min g / f over the times with f > 0,
  D = (R_gg - R_gf) / R_gg, where R_gg and R_gf are the integrals of g * g and psi * f * g. It is 0 if f is g times a
  constant, and 1 if nothing is in use.
- Squared distance: the mean over time of ((f - g) / c) ** 2, where c is the capacity, of power the greatest wish.

The time is that from the begin of the replay to the end of the last job.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...models.profiles import DesiredProfile
from ...models.profiles.profile import POWER
from ..curves import usage
from ..verify.runs import Replay, Runs, runs_of
from .pieces import pieces_of, power_steps

if TYPE_CHECKING:
    from ..result import Simulation

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
HOUR = 3600


def desired_figures(replay: Replay, profile: DesiredProfile | None) -> Mapping[str, Any]:
    """Return the figures of a replay beside its desired profile.

    Parameters
    ----------
    replay : Replay
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
    runs, w = runs_of(replay), replay.workload
    begin = int(w.submit.min()) if w.begin is None else w.begin
    finish = int(runs.end[runs.started].max())
    found: dict[str, dict[str, float | None]] = {}
    over = over_utilisation(runs, profile, begin, finish)
    for resource in profile.wished:
        times, use, wish = _curves(replay, profile, resource, begin, finish)
        length = np.diff(np.append(times, finish)).astype(np.float64)
        known_total = resource in replay.platform.resources  # power is no resource of a platform
        total = float(replay.platform.total(resource)) if known_total else 0.0
        most = total or float(wish[np.isfinite(wish)].max(initial=0.0))
        found.setdefault("machine_over", {})[resource] = float((np.maximum(0, use - wish) * length).sum()) / HOUR
        found.setdefault("over", {})[resource] = over.get(resource, found["machine_over"][resource])
        known = np.isfinite(wish)  # no wish for the power: no distance
        found.setdefault("dissimilarity", {})[resource] = dissimilarity(wish[known], use[known], length[known])
        distance = ((use - wish)[known] ** 2 * length[known]).sum() / (length[known].sum() * most**2 or np.nan)
        found.setdefault("squared_distance", {})[resource] = None if np.isnan(distance) else float(distance)
    return found


def power_peak(replay: Replay) -> float | None:
    """Return the greatest power of all running jobs of a replay in watts; None if the power of a job is unknown."""
    w = replay.workload
    if np.isnan(w.power).any() or any(r.job.power is None for r in w.running):
        return None
    return float(power_steps(runs_of(replay))[1].max(initial=0.0))


def over_utilisation(runs: Runs, profile: DesiredProfile, begin: int, finish: int) -> dict[str, float]:
    """Return the volume of use above the desired amounts in [begin, finish), summed over the nodes, in amount-hours."""
    from .volume import volume_above  # lazy: it imports numba

    pieces, arrays = pieces_of(runs), profile.arrays
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
    replay: Replay, profile: DesiredProfile, resource: str, begin: int, finish: int
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


def mean_curves(simulation: Simulation, steps: int) -> dict[str, dict[str, list[float | None]]]:
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
    found: dict[str, dict[str, list[float | None]]] = {}
    for resource in profile.wished:
        times, use, wish = _curves(simulation, profile, resource, begin, int(edges[-1]))
        found[resource] = {"time": edges[:-1].tolist()}
        for name, values in (("use", use), ("desired", wish)):
            finite = np.where(np.isfinite(values), values, 0.0)
            until = np.append(times[1:], max(times[-1], edges[-1]))
            whole = np.concatenate([[0.0], np.cumsum(finite * (until - times))])
            at = np.interp(edges, np.append(times, until[-1]), whole)
            means = np.diff(at) / np.diff(edges)
            known = np.isfinite(values)[np.searchsorted(times, edges[:-1], side="right") - 1]
            found[resource][name] = [float(m) if k else None for m, k in zip(means, known, strict=True)]
    return found
