"""Planted faults in calendars and structures (see ``planted``)."""

from __future__ import annotations

from dataclasses import replace

from ...models.language import (
    Bounds,
    Constraint,
    Cumulative,
    InDomain,
    Intensity,
    Isomorphism,
    Precedence,
    Span,
    VariableCapacity,
    VariableDelay,
    overlap,
)
from ...models.language import sum as total
from ..decompositions.decomposition import Copy


class IntensityZeroBefore(Copy):
    """An intensity is 0 before its first step."""

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint, with the fault."""
        copied = super().constraint(c)
        if not isinstance(copied, Intensity):
            return copied
        return replace(copied, steps=((copied.steps[0][0] - 1, 0), *copied.steps))


class IntensityRoundedUp(Copy):
    """A part of a second of work counts as a whole one."""

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint, with the fault."""
        copied = super().constraint(c)
        if not isinstance(copied, Intensity):
            return copied
        v = copied.interval
        pieces = copied.pieces(v.start_lo, v.start_hi + v.size_hi)
        work = total([percent * overlap(v, a, b) for a, b, percent in pieces])
        self.model.add(work >= (100 * copied.work[0] - 99) * v.presence, "fault")
        return work <= 100 * copied.work[1]


class BreakOneLater(Copy):
    """The steps of an intensity are 1 s late."""

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint, with the fault."""
        copied = super().constraint(c)
        if not isinstance(copied, Intensity):
            return copied
        return replace(copied, steps=tuple((time + 1, percent) for time, percent in copied.steps))


class DomainWithoutHoles(Copy):
    """The holes of a domain are filled."""

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint, with the fault."""
        copied = super().constraint(c)
        if not isinstance(copied, InDomain) or not copied.windows:
            return copied
        return replace(copied, windows=((copied.windows[0][0], copied.windows[-1][1]),))


class DomainOfAbsent(Copy):
    """The end windows of an absent interval hold for the number 0."""

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint, with the fault."""
        copied = super().constraint(c)
        return replace(copied, interval=None) if isinstance(copied, InDomain) else copied


class SpanCovers(Copy):
    """An interval over others may begin before them and end after them."""

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint, with the fault."""
        copied = super().constraint(c)
        if not isinstance(copied, Span):
            return copied
        for part in copied.parts:
            self.model.add(part.presence <= copied.interval.presence, "fault")
            self.model.add(Precedence(copied.interval, part, 0, "start_before_start"), "fault")
            self.model.add(Precedence(part, copied.interval, 0, "end_before_end"), "fault")
        return total([part.presence for part in copied.parts]) >= copied.interval.presence


class SpanWithoutParts(Copy):
    """An interval over others may be present although none of them is."""

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint, with the fault."""
        copied = super().constraint(c)
        if not isinstance(copied, Span) or not all(v.optional for v in copied.parts):
            return copied
        v = copied.interval
        spare = self.model.interval("spare", (v.size_lo, v.size_hi), list(v.windows), True)
        none = total([part.presence for part in copied.parts])
        self.model.add(spare.presence <= v.presence, "fault")
        self.model.add(len(copied.parts) * spare.presence + none <= len(copied.parts), "fault")
        return Span(v, (*copied.parts, spare))


class IsomorphismCounts(Copy):
    """As many intervals of both lists are present, at any times."""

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint, with the fault."""
        copied = super().constraint(c)
        if not isinstance(copied, Isomorphism):
            return copied
        first, second = (total([v.presence for v in side]) for side in (copied.first, copied.second))
        both = first == second
        return both if both.expr.terms else super().constraint(c)


class CapacityAtMost(Copy):
    """A variable capacity has its greatest value."""

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint, with the fault."""
        copied = super().constraint(c)
        if not isinstance(copied, VariableCapacity):
            return copied
        most = int(Bounds().of(copied.capacity)[1])
        return Cumulative(copied.intervals, copied.demands, ((0, most),))


class LagOfAbsent(Copy):
    """A variable time lag holds for absent intervals, too."""

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint, with the fault."""
        copied = super().constraint(c)
        if not isinstance(copied, VariableDelay):
            return copied
        left, right = copied.ends
        late = left + copied.delay <= right
        return late if late.expr.terms else copied


class MaximumLagForgotten(Copy):
    """A variable maximum time lag is not kept."""

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint, with the fault."""
        copied = super().constraint(c)
        return replace(copied, at_most=None) if isinstance(copied, VariableDelay) else copied


STRUCTURE_FAULTS: tuple[type[Copy], ...] = (
    IntensityZeroBefore,
    IntensityRoundedUp,
    BreakOneLater,
    DomainWithoutHoles,
    DomainOfAbsent,
    SpanCovers,
    SpanWithoutParts,
    IsomorphismCounts,
    CapacityAtMost,
    LagOfAbsent,
    MaximumLagForgotten,
)
