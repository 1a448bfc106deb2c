"""Planted faults in presences, forbidden windows, time lags and transition times (see ``planted_faults``)."""

from __future__ import annotations

from itertools import combinations, pairwise

from ...models.language import (
    AllOrNone,
    Constraint,
    ForbidExtent,
    NoOverlap,
    Precedence,
    holds,
)
from .copies import Copy


class AllOrNoneOneWay(Copy):
    """In an all_or_none, an interval may be present although the next one is absent."""

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint, with the fault."""
        if not isinstance(c, AllOrNone):
            return super().constraint(c)
        for v, w in pairwise(self.several(c.intervals)):
            self.model.add(w.presence <= v.presence, "fault")
        return None


class ForbiddenWindowShort(Copy):
    """A forbidden window ends 1 s too early."""

    def forbidden(self, windows: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
        """Return the shorter windows."""
        return tuple((lo, hi - 1) for lo, hi in windows if hi - lo > 1)


class ForbiddenStartOnly(Copy):
    """In a forbidden window an interval may not start, but it may run."""

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint, with the fault."""
        if not isinstance(c, ForbidExtent):
            return super().constraint(c)
        v = self.intervals[c.interval]
        for lo, hi in c.windows:
            apart = holds(v.start <= lo - 1) + holds(v.start >= hi)
            self.model.add(apart >= holds(v.size >= 1), "fault")
        return None


class ForbiddenForSizeZero(Copy):
    """An interval of size 0 must not lie within a forbidden window."""

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint, with the fault."""
        if isinstance(c, ForbidExtent):
            v = self.intervals[c.interval]
            for lo, hi in c.windows:
                self.model.add(holds(v.end <= lo) + holds(v.start >= hi) >= v.presence, "fault")
        return super().constraint(c)


class MaximumLagDropped(Copy):
    """A precedence has no maximum time lag."""

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint, with the fault."""
        copied = super().constraint(c)
        if isinstance(copied, Precedence):
            return Precedence(copied.before, copied.after, copied.delay, copied.kind)
        return copied


class MaximumLagOfAbsent(Copy):
    """A maximum time lag must hold with the times of an absent interval equal to 0."""

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint, with the fault."""
        if isinstance(c, Precedence) and c.at_most is not None:
            v, w = self.intervals[c.before], self.intervals[c.after]
            left, right = getattr(v, c.fields[0]), getattr(w, c.fields[1])
            self.model.add(right - left <= c.at_most, "fault")
        return super().constraint(c)


class TransitionsDropped(Copy):
    """A no_overlap has no transition times."""

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint, with the fault."""
        return NoOverlap(self.several(c.intervals)) if isinstance(c, NoOverlap) else super().constraint(c)


class TransitionsTransposed(Copy):
    """The transition time from i to j is that from j to i."""

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint, with the fault."""
        if not isinstance(c, NoOverlap):
            return super().constraint(c)
        return NoOverlap(self.several(c.intervals), tuple(zip(*c.transitions, strict=True)))


class TransitionsOfNeighbours(Copy):
    """Transition times are shortened to the fastest detour over other intervals, as between neighbours alone."""

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint, with the fault."""
        if not isinstance(c, NoOverlap) or not c.transitions:
            return super().constraint(c)
        n, least = len(c.intervals), [list(row) for row in c.transitions]
        for k in range(n):
            for i in range(n):
                for j in range(n):
                    if k not in (i, j):
                        detour = least[i][k] + max(1, c.intervals[k].size_lo) + least[k][j]
                        least[i][j] = detour if detour < least[i][j] else least[i][j]
        return NoOverlap(self.several(c.intervals), tuple(map(tuple, least)))


class TransitionsOfSizesAlone(Copy):
    """Transition times do not hold for intervals of size 0, and these may lie inside other intervals."""

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint, with the fault."""
        if not isinstance(c, NoOverlap) or not c.transitions:
            return super().constraint(c)
        for (i, v), (j, w) in combinations(enumerate(self.several(c.intervals)), 2):
            order = holds(v.end + c.transition(i, j) <= w.start) + holds(w.end + c.transition(j, i) <= v.start)
            self.model.add(order >= holds(v.size >= 1) + holds(w.size >= 1) - 1, "fault")
        return NoOverlap(self.several(c.intervals))


class PointsWithoutOrder(Copy):
    """Each pair of a no_overlap keeps its transition times, but points at the same time need no common order."""

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint, with the fault."""
        if not isinstance(c, NoOverlap) or not c.transitions:
            return super().constraint(c)
        for (i, v), (j, w) in combinations(enumerate(self.several(c.intervals)), 2):
            order = holds(v.end + c.transition(i, j) <= w.start) + holds(w.end + c.transition(j, i) <= v.start)
            self.model.add(order >= v.presence + w.presence - 1, "fault")
        return None


TRANSITION_FAULTS: tuple[type[Copy], ...] = (
    AllOrNoneOneWay,
    ForbiddenWindowShort,
    ForbiddenStartOnly,
    ForbiddenForSizeZero,
    MaximumLagDropped,
    MaximumLagOfAbsent,
    TransitionsDropped,
    TransitionsTransposed,
    TransitionsOfNeighbours,
    TransitionsOfSizesAlone,
    PointsWithoutOrder,
)
