"""Decompositions of forbid_extent, and of the transition times of a no_overlap.

Symbols as in ``scheduling``.
"""

from __future__ import annotations

from functools import partial
from itertools import combinations, permutations

from ...models.language import Constraint, Cumulative, Evaluator, ForbidExtent, Linear, NoOverlap, holds
from .constructs import Construct
from .decomposition import Decomposition


class ForbiddenExtents(Decomposition):
    """A forbid_extent becomes a cumulative of the interval alone, with the demand 1.

    The capacity is 0 within the windows and 1 elsewhere.
    """

    replaces = frozenset([Construct.FORBID_EXTENT])

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint."""
        copied = super().constraint(c)
        if not isinstance(copied, ForbidExtent):
            return copied
        return Cumulative((copied.interval,), (1,), copied.steps) if copied.windows else None


class Transitions(Decomposition):
    """A no_overlap with transition times becomes one without, and a comparison for each pair with such a time.

    For each pair i, j of its intervals with the times ``t[i,j]`` and ``t[j,i]``, one of which is positive, or with an
    interval whose size can be 0, which is a point in the sequence::

        holds(e[i] + t[i,j] <= s[j]) + holds(e[j] + t[j,i] <= s[i]) >= p[i] + p[j] - 1

    n points with times on a cycle (``NoOverlap.cyclic_points``) have ranks q in {0, ..., n - 1}: for each pair with
    ``t[i,j] = 0 < t[j,i]``, for both orders::

        q[i] + 1 <= q[j] + n (3 - holds(e[i] + t[i,j] <= s[j]) - p[i] - p[j])
    """

    replaces = frozenset([Construct.TRANSITIONS])

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint."""
        copied = super().constraint(c)
        if not isinstance(copied, NoOverlap) or not copied.transitions:
            return copied
        copied = copied.capped()
        for a, b in combinations(range(len(copied.intervals)), 2):
            if copied.separated(a, b):
                both = copied.intervals[a].presence + copied.intervals[b].presence
                self.add(_before(copied, a, b) + _before(copied, b, a) >= both - 1)
        for some in copied.cyclic_points():
            self._ranks(copied, some)
        return NoOverlap(copied.intervals)

    def _ranks(self, c: NoOverlap, some: tuple[int, ...]) -> None:
        """Add the ranks of the intervals at some positions, and the comparisons between them."""
        n = len(some)
        ranks = [self.auxiliary(f"rank {k}", 0, n - 1, partial(_rank, c.part(some), k)) for k in range(n)]
        for k, m in permutations(range(n), 2):
            i, j = some[k], some[m]
            if bool(c.transition(i, j)) != bool(c.transition(j, i)):
                held = _before(c, i, j) + c.intervals[i].presence + c.intervals[j].presence
                self.add(ranks[k] + 1 + n * held <= ranks[m] + 3 * n)


def _before(c: NoOverlap, i: int, j: int) -> Linear:
    """Return 1 if the interval at position i and the transition end before the one at position j starts, else 0."""
    return holds(c.intervals[i].end + c.transition(i, j) <= c.intervals[j].start)


def _rank(c: NoOverlap, k: int, evaluator: Evaluator) -> int:
    """Return the rank of the interval at position k; 0 if it is absent or there is no order."""
    s = evaluator.assignment
    spans = [(s.start[v.index], s.end[v.index]) if s.present[v.index] else None for v in c.intervals]
    order = c.sequence(spans) or []
    return order.index(k) if k in order else 0
