"""Smaller numbers for the presence of optional intervals whose times are late, as Unix times are.

The end of an optional interval is ``e + O p``, where e is counted from the origin O and p is the presence: an absent
interval ends at 0, not at O. In a comparison, the great number O only says which intervals are present together; a number
just beyond the span of e says the same. Solvers that compute with tolerances refuse the great one.

Let ``f = O (P - h) + g``, where P is a sum of 0/1 values with whole coefficients, h a whole number, and g in [L, U]. If
``f < A`` whenever ``P < h`` and ``f > B`` whenever ``P > h``, then ``A <= f <= B`` is the same as
``A <= K (P - h) + g <= B`` for each K with::

    K > B - L,    K > U - A

Where A is absent, ``P < h`` must imply ``f <= B``, and ``K >= U - B``; where B is absent, ``P > h`` implies ``f >= A``, and
``K >= A - L``.

The greatest of several ends (or starts) ``e[k] + O p[k]`` with O > 0 is ``max(e) + O max(p)``, because e[k] >= 0, and
e[k] = 0 where p[k] = 0; likewise the least one. A piecewise-linear function F of ``c (e + O p) + d`` is
``F(c e + c O + d) + (F(d) - F(c O + d)) (1 - p)``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

from ...models.language import Bounds, Linear, piecewise
from ...models.language.bounds import Breakpoint, value_at
from ...models.language.expressions import Attribute
from ...models.language.linear_expressions import Atom
from ...models.language.quantities import Number

PART = 1e-3  # least share of the origin that a coefficient of a presence has


class Parts(NamedTuple):
    """An expression ``unit * (truths - level) + rest`` with a sum of 0/1 values; the bounds of truths and rest."""

    unit: int
    truths: Linear
    level: int
    rest: Linear
    sums: tuple[Number, Number]
    rests: tuple[Number, Number]


def nearer(e: Linear, origin: int, lo: Number, hi: Number, bounds: Bounds) -> Linear:
    """Return an expression with smaller coefficients that is between lo and hi exactly where ``e`` is.

    Within lo and hi, the two are equal if both are finite. If it has no smaller coefficients, or is real, so that it is compared
    with a tolerance, ``e`` is returned.

    Parameters
    ----------
    e : Linear
        Of a model with times from the origin on.
    origin : int
        Seconds by which the times of the model are earlier.
    lo, hi : number
        May be infinite.
    bounds : Bounds
        Of the atoms of ``e``.
    """
    finite = [b for b in (lo, hi) if not math.isinf(b)]
    parts = _parts(e, origin, int(finite[-1]), bounds) if finite and e.integral else None
    if parts is None:
        return e
    needed = _needed(parts, lo, hi)
    if needed is None or needed == parts.unit:
        return e
    return needed * (parts.truths - parts.level) + parts.rest


def extreme(
    operands: Sequence[Linear], origin: int, pick: Callable[[Sequence[Linear]], Linear], bounds: Bounds
) -> Linear | None:
    """Return the greatest (least) of times that are all counted from the origin if present; None if they are not.

    Parameters
    ----------
    operands : sequence of Linear
    origin : int
    pick : callable
        `max` or `min` of the modelling language.
    bounds : Bounds
    """
    if origin <= 0:
        return None
    times, present = [], []
    for e in operands:
        attributes = [a for a in e.terms if isinstance(a, Attribute)]
        times_of = [a for a in attributes if a.field in ("start", "end") and e.terms[a] == 1]
        if len(times_of) != 1 or bounds.of(times_of[0])[0] < 0:
            return None
        v = times_of[0].interval
        wanted = times_of[0].linear() + (origin * v.presence if v.optional else origin)
        if wanted.terms != e.terms or wanted.constant != e.constant:
            return None
        times.append(times_of[0].linear())
        present.append(v.presence.linear() if v.optional else Linear({}, 1))
    return pick(times) + origin * pick(present)


def piecewise_of_time(x: Linear, points: Sequence[Breakpoint], origin: int) -> Linear | None:
    """Return a piecewise-linear function of the time of one optional interval; None for another expression.

    Parameters
    ----------
    x : Linear
        Of a model with times from the origin on.
    points : sequence of pairs
        The points of the function.
    origin : int
    """
    times = [a for a in x.terms if isinstance(a, Attribute) and a.field in ("start", "end")]
    if len(times) != 1 or not times[0].interval.optional:
        return None
    time = times[0].linear()
    presence = times[0].interval.presence
    factor = x.terms[times[0]]
    if (factor * (time + origin * presence)).terms != x.terms:
        return None
    shift = factor * origin + x.constant
    absent = value_at(points, x.constant)
    at_origin = value_at(points, shift)
    moved = [(at - shift, value) for at, value in points]
    if absent is None or at_origin is None or any(a >= b for (a, _), (b, _) in pairwise(moved)):
        return None
    return piecewise(factor * time, moved) + (absent - at_origin) * (1 - presence)


def _parts(e: Linear, origin: int, level_at: Number, bounds: Bounds) -> Parts | None:
    """Return the parts of an expression; the level is the sum at which the expression is about ``level_at``."""
    bounds.of(e)
    great = {a: c for a, c in e.terms.items() if _is_truth(a, bounds) and abs(c) >= PART * abs(origin)}
    if not great:
        return None
    unit = int(min(map(abs, great.values())))
    truths: dict[Atom, Number] = {a: round(c / unit) for a, c in great.items()}
    rest = dict(e.terms)
    for a in great:
        rest[a] -= truths[a] * unit
    level = round((level_at - e.constant) / unit)
    left = Linear({a: c for a, c in rest.items() if c}, e.constant + level * unit)
    total = Linear(truths)
    return Parts(unit, total, level, left, bounds.of(total), bounds.of(left))


def _is_truth(atom: Atom, bounds: Bounds) -> bool:
    lo, hi = bounds.of_atom(atom)
    return atom.integral and lo >= 0 and hi <= 1


def _needed(parts: Parts, lo: Number, hi: Number) -> int | None:
    """Return the least unit that decides between lo and hi as the given one does; None if that decides otherwise."""
    unit, (least, most) = parts.unit, parts.rests
    needed: Number = 1
    if parts.sums[1] > parts.level:
        above = lo - least if math.isinf(hi) else hi - least + 1
        needed = max(needed, above)
    if parts.sums[0] < parts.level:
        below = most - hi if math.isinf(lo) else most - lo + 1
        needed = max(needed, below)
    return math.ceil(needed) if needed <= unit else None
