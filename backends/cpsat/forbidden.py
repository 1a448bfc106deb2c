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
For a no_overlap with the times ``t[i,j]``, ``m[i] = min_j t[i,j]`` over the other intervals j, and the presence p (with
the same condition in the search for a conflict). If ``m[i] = 0``, r takes the place of p in the first row::

    no_overlap(interval from s[i] to e[i] + m[i], if p[i])                               redundant, but it propagates
    p[i] and p[j] and b[i,j]       =>  e[i] + t[i,j] <= s[j]
    p[i] and p[j] and not b[i,j]   =>  e[j] + t[j,i] <= s[i]

for each pair i, j for which ``t[i,j] > m[i]`` or ``t[j,i] > m[j]`` or the least size and m of i or j are 0, with a new
literal b; for the others the no_overlap is enough. n points with times on a cycle (``NoOverlap.cyclic_points``) have ranks
q in {0, ..., n - 1}. For each pair of them with exactly one time above 0::

    p[i] and p[j] and b[i,j]       =>  q[i] + 1 <= q[j]
    p[i] and p[j] and not b[i,j]   =>  q[j] + 1 <= q[i]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
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
    c = c.capped()
    n = len(c.intervals)
    least = [min((c.transition(i, j) for j in range(n) if j != i), default=0) for i in range(n)]
    spans = []
    for v, after in zip(c.intervals, least, strict=True):
        if v.size_hi + after > 0:
            literal = lowering.taking_part(v) if after else lowering.running(v)
            spans.append(lowering.span_interval(v, literal, after))
    lowering.native.model.add_no_overlap(spans)
    cycles = c.cyclic_points()
    ranks = {k: q for some in cycles for k, q in zip(some, _ranks(lowering, c, some), strict=True)}
    cyclic = {pair for some in cycles for pair in combinations(some, 2)}
    for i, j in combinations(range(n), 2):
        forth, back = c.transition(i, j), c.transition(j, i)
        points = any(c.intervals[k].size_lo + least[k] == 0 for k in (i, j))
        if points or forth > least[i] or back > least[j]:
            when = tuple(p for k in (i, j) if (p := lowering.taking_part(c.intervals[k])) >= 0)
            first = _order(lowering, (c.intervals[i], c.intervals[j]), (forth, back), when)
            if (i, j) in cyclic and bool(forth) != bool(back):
                lowering.native.require(Form({ranks[j]: 1, ranks[i]: -1}), 1, float("inf"), (first, *when))
                lowering.native.require(Form({ranks[i]: 1, ranks[j]: -1}), 1, float("inf"), (~first, *when))


def _ranks(lowering: CpSatLowering, c: NoOverlap, some: tuple[int, ...]) -> list[int]:
    """Make the variables of the ranks of the intervals at some positions."""
    part = c.part(some)
    edges = [(lowering.edge(v, "start"), lowering.edge(v, "end"), lowering.present(v)) for v in part.intervals]

    def rank(k: int, values: Sequence[int]) -> int:
        spans = [
            (_value(start, values), _value(end, values)) if all(values[p] for p in present) else None
            for start, end, present in edges
        ]
        order = part.sequence(spans) or []
        return order.index(k) if k in order else 0

    native, last = lowering.native, len(some) - 1
    return [native.variable(((0, last),), "", partial(rank, k)) for k in range(len(some))]


def _value(f: Form, values: Sequence[int]) -> int:
    return int(sum(factor * values[x] for x, factor in f.terms.items()) + f.constant)


def _order(
    lowering: CpSatLowering, pair: tuple[Interval, Interval], times: tuple[int, int], when: tuple[int, ...]
) -> int:
    """Post the two orders of a pair of intervals under a new literal and its negation; return the literal."""
    native, (v, w) = lowering.native, pair
    gap = _gap(lowering, v, w)
    whole = native.whole(gap, 1)
    first = native.boolean("", lambda values: int(whole.value(values) >= times[0]))
    native.require(gap, times[0], float("inf"), (first, *when))
    native.require(_gap(lowering, w, v), times[1], float("inf"), (~first, *when))
    return first


def _gap(lowering: CpSatLowering, v: Interval, w: Interval) -> Form:
    """Return the start of w minus the end of v."""
    left, right = lowering.edge(v, "end"), lowering.edge(w, "start")
    terms = Counter(right.terms)
    terms.subtract(left.terms)
    return Form(dict(terms), right.constant - left.constant)
