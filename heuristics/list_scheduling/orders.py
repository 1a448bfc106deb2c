"""The eleven criteria by which jobs are ordered before they are placed one after another (thesis 6.7.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches

import numpy as np

from ..arrays import Arrays
from ..errors import CriterionUnusable, UnknownOrder
from ..kernels.profile import Floats, Ints


def _earliest(a: Arrays) -> Floats:
    """The first moment at which a job may start: of its release and its windows."""
    j, found = a.jobs, np.empty(a.jobs.release.size)
    for k, (release, g) in enumerate(zip(j.release.tolist(), j.group.tolist(), strict=True)):
        first, end = j.first_window[g], j.first_window[g + 1]
        w = first + np.searchsorted(j.hi[first:end], release)
        found[k] = max(release, j.lo[w]) if w < end else np.inf
    return found


def _latest(a: Arrays) -> Floats:
    """Deadline - duration; without a deadline, horizon - duration."""
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


CRITERIA: dict[str, Callable[[Arrays], tuple[Floats | Ints, ...]]] = {
    "est": lambda a: (_earliest(a),),
    "duration": lambda a: (a.jobs.duration,),
    "lst": lambda a: (_latest(a),),
    "units": lambda a: (a.jobs.units,),
    "request": lambda a: (a.shares,),
    "total": lambda a: (a.shares * a.jobs.units,),
    "area": lambda a: (a.shares * a.jobs.units * a.jobs.duration,),
    "power": lambda a: (_power(a),),
    "power-per-profit": lambda a: (_power_per_profit(a),),
    "power-per-profit,duration": lambda a: (_power_per_profit(a), a.jobs.duration),
    "power-per-profit,-duration": lambda a: (_power_per_profit(a), -a.jobs.duration),
}
"""By name: the key of each job, and what decides between equal ones. ``request`` is per unit, ``total`` of all units, both
as the sum of the shares of the platform's capacity; ``area`` is total times duration; ``lst`` is the latest start:
deadline - duration, or horizon - duration."""

ORDERINGS: tuple[str, ...] = tuple(sign + name for name in CRITERIA for sign in ("", "-"))


def order_by(arrays: Arrays, order: str | Sequence[str]) -> Ints:
    """The jobs' indices by a criterion, ``-criterion`` (the greatest first), or a list of all job ids.

    The sign turns the main key only. Ties: by submit time, then as declared. Raises UnknownOrder, and
    CriterionUnusable if the problem lacks what the criterion needs.
    """
    if not isinstance(order, str):
        return _listed(arrays, order)
    name = order.removeprefix("-")
    if name not in CRITERIA:
        near = get_close_matches(order, ORDERINGS, n=3)
        hint = f"; near it: {', '.join(near)}" if near else ""
        raise UnknownOrder(f"there is no ordering criterion {order!r}{hint}; known are {', '.join(CRITERIA)}")
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
