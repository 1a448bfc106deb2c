"""Forbidden extents and transition times in CP-SAT, which has neither.

For an interval i, ``s[i]``, ``e[i]`` are its start and end, and ``r[i]`` the literal that it is present with a positive
size (and, in the search for a conflict, that the constraint is switched on).

Forbid extent
-------------
With the forbidden windows ``[lo, hi)``, an interval of fixed size D > 0, and one of variable size::

    p[i] = 1  =>  s[i] is in no window [lo - D + 1, hi - 1]
    no_overlap(i if r[i], the fixed intervals [lo, hi))

Transition times
----------------
For a no_overlap with the times ``t[i,j]``, ``m[i] = min_j t[i,j]`` over the other intervals j::

    no_overlap(interval from s[i] to e[i] + m[i], if r[i])                               redundant, but it propagates
    r[i] and r[j] and b[i,j]       =>  e[i] + t[i,j] <= s[j]
    r[i] and r[j] and not b[i,j]   =>  e[j] + t[j,i] <= s[i]

for each pair i, j for which ``t[i,j] > m[i]`` or ``t[j,i] > m[j]``, with a new literal b; for the others the no_overlap
is enough.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING

from ...models.language import ForbidExtent, Interval, NoOverlap
from .native import Form, WholeForm

if TYPE_CHECKING:
    from .lowering import CpSatLowering


def forbid_extent(lowering: CpSatLowering, c: ForbidExtent) -> None:
    """Post a forbid_extent."""
    v, native, windows = c.interval, lowering.native, c.within_reach()
    if not windows or v.size_hi == 0:
        return
    if v.size_lo < v.size_hi:
        fixed = [native.model.new_fixed_size_interval_var(lo, hi - lo, "") for lo, hi in windows]
        native.model.add_no_overlap([lowering.occupying_interval(v), *fixed])
        return
    edges = [v.start_lo, *(t for lo, hi in windows for t in (lo - v.size_lo, hi)), v.start_hi]
    allowed = zip(edges[::2], edges[1::2], strict=True)  # those that are empty are left out by ``inside``
    start = WholeForm({lowering.expressions.start[v.index]: 1}, 0)
    native.inside(start, allowed, (*lowering.present(v), *native.guard))


def transitions(lowering: CpSatLowering, c: NoOverlap) -> None:
    """Post a no_overlap with transition times."""
    c = c.capped().part(tuple(k for k, v in enumerate(c.intervals) if v.size_hi > 0))
    n = len(c.intervals)
    least = [min((c.transition(i, j) for j in range(n) if j != i), default=0) for i in range(n)]
    runs = [lowering.running(v) for v in c.intervals]
    spans = zip(c.intervals, runs, least, strict=True)
    lowering.native.model.add_no_overlap([lowering.span_interval(v, run, after) for v, run, after in spans])
    for i, j in combinations(range(n), 2):
        forth, back = c.transition(i, j), c.transition(j, i)
        if forth > least[i] or back > least[j]:
            when = tuple(r for r in (runs[i], runs[j]) if r >= 0)
            _order(lowering, (c.intervals[i], c.intervals[j]), (forth, back), when)


def _order(
    lowering: CpSatLowering, pair: tuple[Interval, Interval], times: tuple[int, int], when: tuple[int, ...]
) -> None:
    """Post the two orders of a pair of intervals under a new literal and its negation."""
    native, (v, w) = lowering.native, pair
    gap = _gap(lowering, v, w)
    whole = native.whole(gap, 1)
    first = native.boolean("", lambda values: int(whole.value(values) >= times[0]))
    native.require(gap, times[0], float("inf"), (first, *when))
    native.require(_gap(lowering, w, v), times[1], float("inf"), (~first, *when))


def _gap(lowering: CpSatLowering, v: Interval, w: Interval) -> Form:
    """Return the start of w minus the end of v."""
    left, right = lowering.edge(v, "end"), lowering.edge(w, "start")
    terms = Counter(right.terms)
    terms.subtract(left.terms)
    return Form(dict(terms), right.constant - left.constant)
