"""Decompositions of alternative, all_or_none, synchronize, no_overlap and precedences.

Symbols, here and in the other modules, for an interval i: ``s[i]``, ``e[i]``, ``z[i]``, ``p[i]`` are its start, end,
size and presence, all 0 if it is absent.
"""

from __future__ import annotations

from itertools import pairwise

from ...models.language import (
    AllOrNone,
    Alternative,
    Constraint,
    Cumulative,
    Linear,
    NoOverlap,
    Precedence,
    Synchronize,
    holds,
)
from ...models.language import sum as total
from .constructs import PRECEDENCES, Construct
from .decomposition import Decomposition


class Alternatives(Decomposition):
    """An alternative becomes a comparison and a synchronize.

    For the interval a, the options O and the count k::

        sum_{o in O} p[o] = k p[a],   synchronize(a, O)

    If a is absent, all options are absent; if it is present, k of them are, and each has its start and end.
    """

    replaces = frozenset([Construct.ALTERNATIVE])

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint."""
        if not isinstance(c, Alternative):
            return super().constraint(c)
        a, options = self.intervals[c.interval], self.several(c.options)
        self.add_range(total([o.presence for o in options]) - c.count * a.presence, 0, 0)
        return Synchronize(a, options)


class AllOrNones(Decomposition):
    """An all_or_none becomes equations of the presences: ``p[i] = p[j]`` for each interval i and the next one j."""

    replaces = frozenset([Construct.ALL_OR_NONE])

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint."""
        if not isinstance(c, AllOrNone):
            return super().constraint(c)
        for i, j in pairwise(self.several(c.intervals)):
            self.add(i.presence == j.presence)
        return None


class Synchronizations(Decomposition):
    """A synchronize becomes precedences, which hold only between present intervals.

    For the interval a and each o of the others::

        s[a] <= s[o],  s[o] <= s[a],  e[a] <= e[o],  e[o] <= e[a]
    """

    replaces = frozenset([Construct.SYNCHRONIZE])

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint."""
        if not isinstance(c, Synchronize):
            return super().constraint(c)
        a = self.intervals[c.interval]
        for o in self.several(c.others):
            for left, right in ((a, o), (o, a)):
                self.add(Precedence(left, right, 0, "start_before_start"))
                self.add(Precedence(left, right, 0, "end_before_end"))
        return None


class NoOverlaps(Decomposition):
    """A no_overlap becomes a cumulative with demands of 1 and a capacity of 1; both ignore intervals of size 0."""

    replaces = frozenset([Construct.NO_OVERLAP])

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint."""
        if not isinstance(c, NoOverlap):
            return super().constraint(c)
        members = self.several(c.intervals)
        return Cumulative(members, (1,) * len(members), ((0, 1),))


class MaximumLags(Decomposition):
    """A precedence with a maximum time lag becomes two without: a maximum lag is a negative minimum lag backwards.

    For the ends f of i and g of j (each a start or an end)::

        f[i] + delay <= g[j],   g[j] - at_most <= f[i]
    """

    replaces = frozenset([Construct.MAXIMUM_LAG])

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint."""
        copied = super().constraint(c)
        if not isinstance(copied, Precedence):
            return copied
        for part in copied.parts:
            self.add(part)
        return None


class Precedences(Decomposition):
    """A precedence becomes a comparison, or an implication if one of its intervals is optional.

    For the ends f of i and g of j (each a start or an end) and a delay::

        f[i] + delay <= g[j]                                          if neither i nor j is optional
        holds(p[i] + p[j] >= 2) <= holds(f[i] + delay <= g[j])        otherwise
    """

    replaces = PRECEDENCES

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint."""
        if not isinstance(c, Precedence) or Construct(c.kind) not in self.missing:
            return super().constraint(c)
        i, j = self.intervals[c.before], self.intervals[c.after]
        left, right = ({"start": v.start, "end": v.end}[f] for v, f in zip((i, j), c.fields, strict=True))
        ordered = left + c.delay <= right
        optional = [v for v in (i, j) if v.optional]
        if not optional:
            return ordered
        both: Linear = total([v.presence for v in optional])
        return holds(both >= len(optional)) <= holds(ordered)
