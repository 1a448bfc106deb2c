"""Decompositions of forbid_extent, and of the transition times of a no_overlap.

Symbols as in ``scheduling``; ``run[i]`` is 1 if interval i is present with a positive size: ``p[i]`` if its least size
is positive, else ``holds(z[i] >= 1)``.
"""

from __future__ import annotations

from itertools import combinations

from ...models.language import Constraint, Cumulative, ForbidExtent, Interval, Linear, NoOverlap, holds
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

    For each pair i, j of its intervals with the times ``t[i,j]`` and ``t[j,i]``, one of which is positive::

        holds(e[i] + t[i,j] <= s[j]) + holds(e[j] + t[j,i] <= s[i]) >= run[i] + run[j] - 1
    """

    replaces = frozenset([Construct.TRANSITIONS])

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint."""
        copied = super().constraint(c)
        if not isinstance(copied, NoOverlap) or not copied.transitions:
            return copied
        copied = copied.capped()
        for a, b in combinations(range(len(copied.intervals)), 2):
            i, j = copied.intervals[a], copied.intervals[b]
            if i.size_hi and j.size_hi and (copied.transition(a, b) or copied.transition(b, a)):
                order = holds(i.end + copied.transition(a, b) <= j.start) + holds(
                    j.end + copied.transition(b, a) <= i.start
                )
                self.add(order >= _runs(i) + _runs(j) - 1)
        return NoOverlap(copied.intervals)


def _runs(v: Interval) -> Linear:
    """Return 1 if the interval is present with a positive size, else 0, as an expression."""
    return v.presence.linear() if v.size_lo > 0 else holds(v.size >= 1)
