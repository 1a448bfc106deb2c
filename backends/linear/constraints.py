"""Alternative, synchronize and precedence in linear form, the same for both lowerings."""

from __future__ import annotations

from typing import Literal

from ...models.language import Alternative, Interval, Precedence, Synchronize
from ...models.language.bounds import attribute_bounds
from .form import INF, Affine, FormBuilder
from .intervals import Intervals

BOTH_ENDS: tuple[Literal["start"], Literal["end"]] = ("start", "end")


def alternative(form: FormBuilder, intervals: Intervals, c: Alternative, *, starts: bool = True) -> None:
    """``sum(presence of options) = count * presence``; a present option has the start and end of the interval.

    The aggregated rows ``sum(start of options) = count * start`` hold as well and tighten the relaxation.
    ``starts=False`` leaves the starts out, where they are linked otherwise.
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
    """``difference = 0`` where ``present`` is 1; it lies in [lo, hi] where that is 0."""
    form.row(difference.plus(present, hi), -INF, hi)
    form.row(difference.plus(present, lo), lo, INF)


def synchronize(form: FormBuilder, intervals: Intervals, c: Synchronize) -> None:
    """Where the interval and another one are both present, their starts and ends are equal."""
    for o in c.others:
        for field in BOTH_ENDS:
            _before(form, intervals, (c.interval, field), (o, field), 0)
            _before(form, intervals, (o, field), (c.interval, field), 0)


def precedence(form: FormBuilder, intervals: Intervals, c: Precedence) -> None:
    """``before + delay <= after``, relaxed by a big-M for each of the two that is absent."""
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
