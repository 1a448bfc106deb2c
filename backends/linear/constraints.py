"""Linear rows for alternative, synchronize and precedence, used by all lowerings. All three are exact.

Symbols p, s, z, e as in ``schedlab.backends.linear``. ``lo(x)`` and ``hi(x)`` bound a start, end or size over all
values that the model allows, with the 0 of an absent interval included (``attribute_bounds``). The big-M constants are
computed from these bounds.

**Alternative** of interval a and the set O of options with count k::

    sum_{o in O} p[o] = k p[a]
    for f = s, and f = z unless all sizes are fixed and equal:
        f[a] - f[o] <= U (1 - p[o])   for each o in O,   U = max(hi(f[a]), 0)
        f[a] - f[o] >= L (1 - p[o])   for each o in O,   L = min(lo(f[a]), 0)
        sum_{o in O} f[o] = k f[a]

A present option (``p[o] = 1``) has the start and size of a, hence its end. For an absent option ``f[o] = 0``, so the
two rows hold for each value of ``f[a]``. The last row is implied for whole ``p``; it tightens the linear relaxation.

**Precedence** of field f of interval i and field g of interval j (f, g: start or end) with a delay in seconds::

    f[i] + delay <= g[j] + M (1 - p[i]) + M (1 - p[j]),   M = max(0, hi(f[i]) + delay - lo(g[j]))

If an interval is absent, the row holds for all values within their bounds. An interval that is not optional has
no M term.

**Synchronize** of interval a and the set O of others, with precedences of delay 0::

    s[a] <= s[o],  s[o] <= s[a],  e[a] <= e[o],  e[o] <= e[a]   for each o in O, relaxed where a or o is absent
"""

from __future__ import annotations

from typing import Literal

from ...models.language import Alternative, Interval, Precedence, Synchronize
from ...models.language.bounds import attribute_bounds
from .form import INF, Affine, FormBuilder
from .intervals import Intervals

BOTH_ENDS: tuple[Literal["start"], Literal["end"]] = ("start", "end")


def alternative(form: FormBuilder, intervals: Intervals, c: Alternative, *, starts: bool = True) -> None:
    """Add the rows of an alternative.

    Parameters
    ----------
    form : FormBuilder
        Receives the rows.
    intervals : Intervals
        Gives the presences, starts and sizes as columns.
    c : Alternative
        The constraint.
    starts : bool
        If False, the rows of the starts are left out, because the caller links the starts in another way.
    """
    master = c.interval
    fields: list[Literal["start", "size"]] = ["start"] if starts else []
    if master.size_lo != master.size_hi or any((o.size_lo, o.size_hi) != (master.size_lo,) * 2 for o in c.options):
        fields.append("size")
    total = intervals.present(master).times(-c.count)
    for o in c.options:
        total = total.plus(intervals.present(o))
    form.row(total, 0, 0)
    for field in fields:
        whole = intervals.view(master, field)
        lo, hi = attribute_bounds(master, field)
        total = whole.times(-c.count)
        for o in c.options:
            part = intervals.view(o, field)
            total = total.plus(part)
            _equal_if(form, whole.plus(part, -1), min(lo, 0), max(hi, 0), intervals.present(o))
        form.row(total, 0, 0)


def _equal_if(form: FormBuilder, difference: Affine, lo: float, hi: float, present: Affine) -> None:
    """Add rows for: difference = 0 if ``present`` is 1, lo <= difference <= hi if it is 0."""
    form.row(difference.plus(present, hi), -INF, hi)
    form.row(difference.plus(present, lo), lo, INF)


def synchronize(form: FormBuilder, intervals: Intervals, c: Synchronize) -> None:
    """Add the rows of a synchronize.

    Parameters
    ----------
    form : FormBuilder
        Receives the rows.
    intervals : Intervals
        Gives the presences, starts and ends as columns.
    c : Synchronize
        The constraint.
    """
    for o in c.others:
        for field in BOTH_ENDS:
            _before(form, intervals, (c.interval, field), (o, field), 0)
            _before(form, intervals, (o, field), (c.interval, field), 0)


def precedence(form: FormBuilder, intervals: Intervals, c: Precedence) -> None:
    """Add the row of a precedence: before + delay <= after if both intervals are present."""
    left, right = c.fields
    _before(form, intervals, (c.before, left), (c.after, right), c.delay)


End = tuple[Interval, Literal["start", "end"]]


def _before(form: FormBuilder, intervals: Intervals, left: End, right: End, delay: int) -> None:
    first, second = intervals.view(*left), intervals.view(*right)
    slack = max(0, attribute_bounds(*left)[1] + delay - attribute_bounds(*right)[0])
    e = first.plus(second, -1)
    limit = float(-delay)
    for v in (left[0], right[0]):
        if v.optional:
            e = e.plus(intervals.present(v), slack)
            limit += slack
    form.row(e, -INF, limit)
