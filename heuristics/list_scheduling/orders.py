"""The criteria by which jobs are ordered before they are placed one by one.

Eleven of them are those of [Bridi2018, 6.7.1]. Three more use the area of a job in nodes, which counts each unit as one
node, and the declared cost of its wait.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...models.unknown_names import hint
from ..arrays import Arrays
from ..errors import CriterionUnusable, UnknownOrder
from ..kernels.profile import Floats, Ints


def _earliest(a: Arrays) -> Floats:
    """Return the earliest possible start of each job in seconds: from its release time and its start windows."""
    j, found = a.jobs, np.empty(a.jobs.release.size)
    for k, (release, g) in enumerate(zip(j.release.tolist(), j.group.tolist(), strict=True)):
        first, end = j.first_window[g], j.first_window[g + 1]
        w = first + np.searchsorted(j.hi[first:end], release)
        found[k] = max(release, j.lo[w]) if w < end else np.inf
    return found


def _latest(a: Arrays) -> Floats:
    """Return the latest start of each job in seconds: deadline - duration, or horizon - duration without a deadline."""
    last = a.dispatch.horizon - a.jobs.duration
    return np.minimum(last, a.jobs.latest).astype(float)


def _power(a: Arrays) -> Floats:
    if a.power is None:
        raise CriterionUnusable("the power of the jobs is not known")
    return a.power


def _power_per_profit(a: Arrays) -> Floats:
    if a.profit is None:
        raise CriterionUnusable("the profit of the jobs is not known")
    with np.errstate(divide="ignore"):
        return _power(a) / a.profit


def _node_area(a: Arrays) -> Floats:
    """Return duration * units of each job in unit-seconds, of all chunks."""
    return (a.jobs.duration * np.diff(a.jobs.first_unit)).astype(float)


def _weighted_area(a: Arrays) -> Floats:
    """Return node area / weight: Smith's rule for jobs that occupy areas; infinite for jobs whose wait costs nothing.

    The weight is the cost of a second of wait (``Costs.weight``); 1 for objectives without weights.
    """
    with np.errstate(divide="ignore"):
        return np.where(a.costs.weight > 0, np.maximum(1.0, _node_area(a)) / a.costs.weight, np.inf)


def _submit_weighted_area(a: Arrays) -> Floats:
    """Return the time from which waiting costs + a share of the busy time * weighted area / its mean, in seconds.

    The busy time is the area of all jobs divided by the number of nodes. ``BUSY_SHARE`` was chosen on generated days.
    """
    weighted = _weighted_area(a)
    finite = weighted[np.isfinite(weighted)]
    busy = float(_node_area(a).sum()) / max(1, a.machine.capacity.shape[0])
    mean = float(finite.mean()) if finite.size else 1.0
    found: Floats = a.costs.submit + a.costs.grace + BUSY_SHARE * busy * weighted / mean
    return found


BUSY_SHARE = 0.25

CRITERIA: dict[str, Callable[[Arrays], tuple[Floats | Ints, ...]]] = {
    "submit-weighted-area": lambda a: (_submit_weighted_area(a),),
    "weighted-area": lambda a: (_weighted_area(a),),
    "node-area": lambda a: (_node_area(a),),
    "est": lambda a: (_earliest(a),),
    "duration": lambda a: (a.jobs.duration,),
    "lst": lambda a: (_latest(a),),
    "units": lambda a: (a.jobs.units,),
    "request": lambda a: (a.shares,),
    "total": lambda a: (a.shares * a.jobs.units,),
    "area": lambda a: (a.shares * a.jobs.units * a.jobs.duration,),
    "power": lambda a: (_power(a),),
    "power-per-profit": lambda a: (_power_per_profit(a),),
    "power-per-profit.duration": lambda a: (_power_per_profit(a), a.jobs.duration),
    "power-per-profit.-duration": lambda a: (_power_per_profit(a), -a.jobs.duration),
}
"""Criterion -> keys of the jobs (shape (jobs,)), main key first, then tie-breakers.

``node-area``: duration * units; ``weighted-area``: node area / cost of a second of wait; ``submit-weighted-area``: the
same, with the time from which waiting costs; ``est``: earliest start; ``lst``: latest start (deadline - duration, or horizon - duration); ``request``: sum over
resources of request of a unit / capacity of the platform; ``total``: the same for all units; ``area``: total * duration."""

ORDERINGS: tuple[str, ...] = tuple(sign + name for name in CRITERIA for sign in ("", "-"))


def order_by(arrays: Arrays, order: str | Sequence[str]) -> Ints:
    """Return the indices of the jobs in the given order.

    ``order`` is a criterion, ``-criterion`` (largest key first), or a list of all job ids. The sign changes the main
    key only. Ties: by submit time, then in the problem's order. Raises UnknownOrder for an unknown criterion or an
    incomplete list, CriterionUnusable if the problem lacks the data of the criterion.
    """
    if not isinstance(order, str):
        return _listed(arrays, order)
    name = order.removeprefix("-")
    if name not in CRITERIA:
        raise UnknownOrder(f"there is no ordering criterion {order!r}; {hint(order, ORDERINGS, 'known criteria:')}")
    main, *ties = CRITERIA[name](arrays)
    return np.lexsort((arrays.costs.submit, *reversed(ties), main if name == order else -main))


def _listed(arrays: Arrays, ids: Sequence[str]) -> Ints:
    index = {job.id: j for j, job in enumerate(arrays.problem.jobs)}
    unknown = next((i for i in ids if i not in index), None)
    if unknown is not None:
        raise UnknownOrder(f"the order lists {unknown!r}, which is not a job of the problem")
    found = np.array([index[i] for i in ids], np.int64)
    if len(set(ids)) != len(ids):
        twice = next(i for k, i in enumerate(ids) if i in set(ids[:k]))
        raise UnknownOrder(f"the order lists job {twice!r} more than once")
    if len(found) != len(index):
        missing = next(i for i in index if i not in set(ids))
        raise UnknownOrder(f"the order lists {len(found)} of {len(index)} jobs; {missing!r} is missing")
    return found
