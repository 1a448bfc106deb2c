"""Planted faults: copies of a model with one error each, and wrong parameters of solvers; a test of the test."""

from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import replace
from importlib.metadata import version
from itertools import combinations, pairwise
from typing import Any

from ...models import language as sl
from ...models.language import (
    AllDifferent,
    AllOrNone,
    Alternative,
    Bounds,
    Comparison,
    Constraint,
    Cumulative,
    DirectTransitions,
    ForbidExtent,
    InDomain,
    Intensity,
    Interval,
    Isomorphism,
    Level,
    LevelFunction,
    Linear,
    Model,
    NoIdle,
    NoOverlap,
    Order,
    Precedence,
    SameSequence,
    Span,
    StateFunction,
    Synchronize,
    Table,
    VariableCapacity,
    VariableDelay,
    at_start,
    element,
    holds,
    implies,
    overlap,
    pulse,
    remainder,
    start_before_start,
)
from ...models.language import sum as total
from ...models.language.expressions import (
    Attribute,
    Element,
    Function,
    Holds,
    Neighbours,
    Number,
    Overlap,
    Piecewise,
    Product,
    Quotient,
)
from ..base import Limits
from ..decompositions.decomposition import Copy, Steps
from ..driver import run
from ..result import Result
from .agreement import judge
from .enumeration import EnumerationError, brute_force
from .random_models import random_model

# --- Planted faults in presences, forbidden windows, time lags and transition times (see ``planted_faults``).


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
            left = getattr(v, c.fields[0])
            right = getattr(w, c.fields[1])
            self.model.add(right - left <= c.at_most, "fault")
        return super().constraint(c)


class TransitionsDropped(Copy):
    """A no_overlap has no transition times."""

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint, with the fault."""
        if isinstance(c, NoOverlap):
            return NoOverlap(self.several(c.intervals))
        return super().constraint(c)


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
        n = len(c.intervals)
        least = [list(row) for row in c.transitions]
        for k in range(n):
            for i in range(n):
                for j in range(n):
                    if k not in (i, j):
                        detour = least[i][k] + max(1, c.intervals[k].size_lo) + least[k][j]
                        least[i][j] = min(least[i][j], detour)
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


# --- Planted faults: copies of a model with one error each, such as a wrong lowering would make; a test of the test.
#
# The conformance run must catch each fault within some random models. The copies are solved by enumeration, so no solver
# is needed. The first line of each class is printed in a table of the run.


def faulty(fault: type[Copy], model: Model) -> Result:
    """Return the result of a backend with this fault, as the driver reports it (objectives recomputed)."""
    copied = fault(model)
    truth = brute_force(copied.model)
    if truth.best is None:
        return Result("infeasible", fault.__name__, None, model=model)
    answer = copied.back(truth.best)
    violations = model.check(answer)
    if violations:
        return Result("error", fault.__name__, None, assignment=answer, violations=violations, model=model)
    values = tuple(model.value(e, answer) for e in model.objectives)
    objective: Any = values
    if len(values) < 2:
        objective = None
        if values:
            objective = values[0]
    bound: Any = objective
    if values and issubclass(fault, FalseBound):
        first = fault.bound(values[0], 1 if model.sense == "minimize" else -1)
        if len(values) > 1:
            bound = (first, *values[1:])
        else:
            bound = first
    return Result("optimal", fault.__name__, None, objective, bound, assignment=answer, model=model)


class FalseBound(Copy):
    """A correct answer is reported with a false bound."""

    @staticmethod
    def bound(value: Number, sign: int) -> Number:
        """Return the bound to report for the optimum ``value``; ``sign``: 1 for a minimization, else -1."""
        return value


class DroppedConstraint(Copy):
    """The last constraint is missing."""

    def constraint_order(self) -> list[tuple[str, Constraint]]:
        """Return the constraints without the last."""
        return super().constraint_order()[:-1]


class WindowOffByOne(Copy):
    """The last start window ends 1 s too late."""

    def interval(self, v: Interval) -> Interval:
        """Declare the interval with the longer window."""
        *others, (lo, hi) = v.windows
        return self.model.interval(v.name, (v.size_lo, v.size_hi), [*others, (lo, hi + 1)], v.optional)


class WindowsMerged(Copy):
    """Starts between the start windows are allowed."""

    def interval(self, v: Interval) -> Interval:
        """Declare the interval with one window."""
        return self.model.interval(v.name, (v.size_lo, v.size_hi), (v.start_lo, v.start_hi), v.optional)


class AbsentAtLowerBound(Copy):
    """The start of an absent interval is its earliest start instead of 0."""

    def attribute(self, atom: Attribute) -> Linear:
        """Return the attribute with the wrong value for an absent interval."""
        v = self.intervals[atom.interval]
        e = super().attribute(atom)
        if not v.optional or atom.field not in ("start", "end"):
            return e
        return e + (v.start_lo + (v.size_lo if atom.field == "end" else 0)) * (1 - v.presence)


class ZeroSizeOccupies(Copy):
    """An interval of size 0 must not lie inside another one of a no_overlap without transitions or of a full cumulative."""

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint, with the fault."""
        if isinstance(c, NoOverlap) and not c.transitions:
            self._keep_apart([(v, 1) for v in c.intervals], 1)
        if isinstance(c, Cumulative):
            pairs = zip(c.intervals, c.demands, strict=True)
            self._keep_apart([(v, d) for v, d in pairs if isinstance(d, int)], sorted(k for _, k in c.steps)[-1])
        return super().constraint(c)

    def _keep_apart(self, among: list[tuple[Interval, int]], capacity: int) -> None:
        """Add the false constraints for pairs whose demands together exceed the capacity."""
        for v, height in among:
            for w, other in among:
                if v is not w and v.size_lo == 0 < height and height + other > capacity:
                    a, b = self.intervals[v], self.intervals[w]
                    apart = holds(a.start <= b.start) + holds(a.start >= b.end)
                    self.model.add(a.presence + b.presence - 1 <= apart, "fault")


class StepShifted(Copy):
    """A stepwise capacity changes 1 s too late."""

    def steps(self, steps: Steps) -> Steps:
        """Return the capacity with later times."""
        return tuple((t + 1, c) for t, c in steps)


class AbsentDemandConstrained(Copy):
    """The variable demand of an absent or zero-size interval must not exceed the capacity."""

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint, with the fault."""
        if isinstance(c, Cumulative):
            top = sorted(capacity for _, capacity in c.steps)[-1]
            for demand in c.demands:
                if isinstance(demand, Linear):
                    self.model.add(self.linear(demand) <= top, "fault")
        return super().constraint(c)


class HoldsOneWay(Copy):
    """holds(c) may be 0 although the comparison c holds."""

    def function(self, atom: Function) -> Linear:
        """Return the copy of a function, with the fault."""
        if not isinstance(atom, Holds):
            return super().function(atom)
        known = super().function(atom)
        free = self.model.boolean(f"one way {atom}")
        self.model.add(free <= known, "fault")
        return free.linear()


class PrecedenceOfAbsent(Copy):
    """A precedence with an absent interval must hold, with the times of that interval equal to 0."""

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint, with the fault."""
        if not isinstance(c, Precedence):
            return super().constraint(c)
        left, right = (
            getattr(self.intervals[v], field) for v, field in zip((c.before, c.after), c.fields, strict=True)
        )
        bound: Comparison = left + c.delay <= right
        self.model.add(bound, "fault")
        return super().constraint(c)


class NegativeDelayDropped(Copy):
    """A negative delay of a precedence is replaced by 0."""

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint, with the fault."""
        copied = super().constraint(c)
        if isinstance(copied, Precedence) and copied.delay < 0:
            return Precedence(copied.before, copied.after, 0, copied.kind, copied.at_most)
        return copied


class ElementClamped(Copy):
    """An index outside the array is replaced by the nearest one inside instead of being infeasible."""

    def function(self, atom: Function) -> Linear:
        """Return the copy of a function, with the fault."""
        if not isinstance(atom, Element):
            return super().function(atom)
        last = len(atom.array) - 1
        return element(atom.array, sl.max([0, sl.min([last, self.linear(atom.operands[0])])]))


class PiecewiseConvex(Copy):
    """A piecewise function uses only its first and its last point."""

    def function(self, atom: Function) -> Linear:
        """Return the copy of a function, with the fault."""
        if not isinstance(atom, Piecewise):
            return super().function(atom)
        return super().function(Piecewise(atom.operands[0], (atom.points[0], atom.points[-1])))


class OverlapClosed(Copy):
    """The window of an overlap ends 1 s too late."""

    def function(self, atom: Function) -> Linear:
        """Return the copy of a function, with the fault."""
        if not isinstance(atom, Overlap):
            return super().function(atom)
        return overlap(self.intervals[atom.interval], atom.lo, atom.hi + 1)


class QuotientRoundedToZero(Copy):
    """A quotient of a negative number is rounded to 0, not down."""

    def function(self, atom: Function) -> Linear:
        """Return the copy of a function, with the fault."""
        copied = super().function(atom)
        if not isinstance(atom, Quotient):
            return copied
        dividend, divisor = (self.linear(e) for e in atom.operands)
        return copied + holds((dividend <= -1) & (remainder(dividend, divisor) >= 1))


class ProductPositive(Copy):
    """A product of two negative numbers is 0."""

    def function(self, atom: Function) -> Linear:
        """Return the copy of a function, with the fault."""
        if not isinstance(atom, Product):
            return super().function(atom)
        left, right = (self.linear(e) for e in atom.operands)
        return sl.max([left, 0]) * right + sl.min([left, 0]) * sl.max([right, 0])


class DifferentNeighbours(Copy):
    """An all_different compares each expression with the next one alone."""

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint, with the fault."""
        copied = super().constraint(c)
        if not isinstance(copied, AllDifferent) or len(copied.expressions) < 3:
            return copied
        for e, f in pairwise(copied.expressions):
            self.model.add(AllDifferent((e, f)), "fault")
        return None


class TableByColumns(Copy):
    """Each expression of a table has a value of some tuple, but not all of the same one."""

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint, with the fault."""
        copied = super().constraint(c)
        if not isinstance(copied, Table):
            return copied
        for e, column in zip(copied.expressions, zip(*copied.tuples, strict=True), strict=True):
            self.model.add(Table((e,), tuple((value,) for value in column)), "fault")
        return None


class LevelWithoutSteps(Copy):
    """A level has no steps at fixed times."""

    def level(self, c: Level) -> Level:
        """Return the copy of a level, with the fault."""
        return replace(super().level(c), steps=())


class LevelChangesAtStart(Copy):
    """A level changes at the start of an interval in place of its end."""

    def level(self, c: Level) -> Level:
        """Return the copy of a level, with the fault."""
        copied = super().level(c)
        early = LevelFunction((), ())
        for edge, v, height in copied.changes:
            early = early + (pulse(v, height) if edge == "pulse" else at_start(v, height))
        return replace(copied, changes=early.changes)


class LevelWindowShort(Copy):
    """The window of a level begins 1 s too late."""

    def level(self, c: Level) -> Level:
        """Return the copy of a level, with the fault."""
        copied = super().level(c)
        if copied.window is None:
            return copied
        return replace(copied, window=(copied.window[0] + 1, copied.window[1] + 1))


class DirectTransitionsOfAllPairs(Copy):
    """Transition times between direct neighbours hold between all pairs."""

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint, with the fault."""
        copied = super().constraint(c)
        if not isinstance(copied, DirectTransitions):
            return copied
        n = range(len(copied.intervals))
        return NoOverlap(copied.intervals, tuple(tuple(copied.transition(i, j) for j in n) for i in n))


class DirectTransitionsTransposed(Copy):
    """The transition time between direct neighbours i and j is that from j to i."""

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint, with the fault."""
        copied = super().constraint(c)
        if not isinstance(copied, DirectTransitions):
            return copied
        return replace(copied, times=tuple(zip(*copied.times, strict=True)))


class PreviousWithGap(Copy):
    """Of an interval that must directly precede another one, others may be between them."""

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint, with the fault."""
        copied = super().constraint(c)
        if isinstance(copied, Order) and copied.kind == "previous":
            return replace(copied, kind="before")
        return copied


class LastBeforeTheOthers(Copy):
    """The last interval of a sequence must be the first one."""

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint, with the fault."""
        copied = super().constraint(c)
        if isinstance(copied, Order) and copied.kind == "last":
            return replace(copied, kind="first")
        return copied


class IdleTimeAllowed(Copy):
    """A sequence without idle time may have some."""

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint, with the fault."""
        if isinstance(c, NoIdle):
            return NoOverlap(self.several(c.intervals))
        return super().constraint(c)


class SamePresencesAlone(Copy):
    """The intervals of two sequences that are the same are present alike, but in any order."""

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint, with the fault."""
        if not isinstance(c, SameSequence):
            return super().constraint(c)
        for v, w in zip(self.several(c.intervals), self.several(c.others), strict=True):
            self.model.add(v.presence == w.presence, "fault")
        self.model.add(NoOverlap(self.several(c.intervals)), "fault")
        return NoOverlap(self.several(c.others))


class CostsTransposed(Copy):
    """The cost of a transition from i to j is that from j to i."""

    def function(self, atom: Function) -> Linear:
        """Return the copy of a function, with the fault."""
        if not isinstance(atom, Neighbours):
            return super().function(atom)
        costs = tuple(zip(*atom.costs, strict=True))
        return Neighbours(self.several(atom.intervals), atom.types, costs, atom.first, atom.last).linear()


class CostsOfEndsDropped(Copy):
    """The first and the last interval of a sequence cost nothing."""

    def function(self, atom: Function) -> Linear:
        """Return the copy of a function, with the fault."""
        if not isinstance(atom, Neighbours):
            return super().function(atom)
        none = (0,) * len(atom.costs)
        return Neighbours(self.several(atom.intervals), atom.types, atom.costs, none, none).linear()


class StateTransitionsDropped(Copy):
    """A state changes in no time."""

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint, with the fault."""
        copied = super().constraint(c)
        if isinstance(copied, StateFunction):
            return replace(copied, transitions=())
        return copied


class StateAlignmentSwapped(Copy):
    """Where the start must be aligned with the segment of a state, the end is, and the other way round."""

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint, with the fault."""
        copied = super().constraint(c)
        if not isinstance(copied, StateFunction):
            return copied
        return replace(copied, uses=tuple((v, value, end, start) for v, value, start, end in copied.uses))


class ConstantStateForgotten(Copy):
    """An interval that requires a constant state requires nothing."""

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint, with the fault."""
        copied = super().constraint(c)
        if not isinstance(copied, StateFunction):
            return copied
        return replace(copied, uses=tuple(use for use in copied.uses if use[1] is not None))


class StateWithinItself(Copy):
    """Two segments of the same value need no time between them."""

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint, with the fault."""
        copied = super().constraint(c)
        if not isinstance(copied, StateFunction):
            return copied
        rows = enumerate(copied.transitions)
        return replace(
            copied, transitions=tuple(tuple(t if s != k else 0 for k, t in enumerate(row)) for s, row in rows)
        )


class CountIgnored(Copy):
    """An alternative chooses one option also if its count is greater."""

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint, with the fault."""
        if isinstance(c, Alternative):
            return Alternative(self.intervals[c.interval], self.several(c.options), 1)
        return super().constraint(c)


class OptionsOfAbsent(Copy):
    """The options of an absent interval may be present."""

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint, with the fault."""
        if not isinstance(c, Alternative):
            return super().constraint(c)
        a = self.intervals[c.interval]
        options = self.several(c.options)
        chosen = Linear({o.presence: 1 for o in options})
        self.model.add(implies(a.presence, holds(chosen == c.count)), "fault")
        return Synchronize(a, options)


class SynchronizedStarts(Copy):
    """Synchronized intervals start at the same time, but may end at different times."""

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint, with the fault."""
        if not isinstance(c, Synchronize):
            return super().constraint(c)
        a = self.intervals[c.interval]
        others = self.several(c.others)
        for o in others:
            self.model.add(start_before_start(a, o), "fault")
            self.model.add(start_before_start(o, a), "fault")
        return None


class OverlapAllowedAtEnd(Copy):
    """In a no_overlap of two intervals the second may start 1 s before the first ends."""

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint, with the fault."""
        if not isinstance(c, NoOverlap) or len(c.intervals) != 2 or c.transitions:
            return super().constraint(c)
        a, b = self.several(c.intervals)
        one_way = holds(a.start >= b.end) + holds(b.start >= a.end - 1)
        self.model.add(a.presence + b.presence - 1 <= one_way, "fault")
        return None


class FirstObjectiveOnly(Copy):
    """Of several objectives only the first is optimized."""

    def objective(self) -> None:
        """Add the first objective."""
        aims = [self.linear(e) for e in self.origin.objectives[:1]]
        if aims:
            (self.model.minimize if self.origin.sense == "minimize" else self.model.maximize)(aims)


class SenseForgotten(Copy):
    """A model to be maximized is minimized."""

    def objective(self) -> None:
        """Add the objectives, minimized."""
        if self.origin.objectives:
            self.model.minimize([self.linear(e) for e in self.origin.objectives])


class BoundBeyondOptimum(FalseBound):
    """The bound is better than the optimum by 1."""

    @staticmethod
    def bound(value: Number, sign: int) -> Number:
        """Return the false bound."""
        return value + sign


class BoundRoundedAway(FalseBound):
    """The bound of a real-valued objective is rounded to a whole number."""

    @staticmethod
    def bound(value: Number, sign: int) -> Number:
        """Return the false bound."""
        return sign * math.ceil(sign * value - 1e-9)


class BoundOfInfinity(FalseBound):
    """The bound is the largest number of the solver, 2^53."""

    @staticmethod
    def bound(value: Number, sign: int) -> Number:
        """Return the false bound."""
        return sign * 2**53


# --- Planted faults in calendars and structures (see ``planted``).


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
        if isinstance(copied, InDomain):
            return replace(copied, interval=None)
        return copied


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
        if both.expr.terms:
            return both
        return super().constraint(c)


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
        if late.expr.terms:
            return late
        return copied


class MaximumLagForgotten(Copy):
    """A variable maximum time lag is not kept."""

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint, with the fault."""
        copied = super().constraint(c)
        if isinstance(copied, VariableDelay):
            return replace(copied, at_most=None)
        return copied


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


FAULTS: tuple[type[Copy], ...] = (
    DroppedConstraint,
    WindowOffByOne,
    WindowsMerged,
    AbsentAtLowerBound,
    ZeroSizeOccupies,
    StepShifted,
    AbsentDemandConstrained,
    HoldsOneWay,
    PrecedenceOfAbsent,
    NegativeDelayDropped,
    ElementClamped,
    PiecewiseConvex,
    OverlapClosed,
    QuotientRoundedToZero,
    ProductPositive,
    DifferentNeighbours,
    TableByColumns,
    LevelWithoutSteps,
    LevelChangesAtStart,
    LevelWindowShort,
    DirectTransitionsOfAllPairs,
    DirectTransitionsTransposed,
    PreviousWithGap,
    LastBeforeTheOthers,
    IdleTimeAllowed,
    SamePresencesAlone,
    CostsTransposed,
    CostsOfEndsDropped,
    StateTransitionsDropped,
    StateAlignmentSwapped,
    ConstantStateForgotten,
    StateWithinItself,
    CountIgnored,
    OptionsOfAbsent,
    SynchronizedStarts,
    OverlapAllowedAtEnd,
    FirstObjectiveOnly,
    SenseForgotten,
    BoundBeyondOptimum,
    BoundRoundedAway,
    BoundOfInfinity,
    *TRANSITION_FAULTS,
    *STRUCTURE_FAULTS,
)


# --- Planted parameters of solvers: those that are known to give wrong answers, set for all models; a test of the test.
#
# They are tried in a process of their own, as they may end it.

PARAMETERS = {"use_dynamic_precedence_in_disjunctive": "CP-SAT branches on the order of any two intervals"}
WRONG = 3  # exit code of the process after a wrong answer; 1 is that of an exception
MODELS = 400  # the fault must be caught within this number of models


def known_to_be_wrong(name: str) -> bool:
    """Return whether the installed version of CP-SAT gives wrong answers with a parameter."""
    return name in PARAMETERS and version("ortools").startswith("9.15.")


def caught_by(name: str, seed: int, most: int = MODELS) -> int | None:
    """Return after how many random models a parameter gave a wrong answer or ended the process; None if it did not.

    Raises
    ------
    RuntimeError
        If the process ended with an error of its own, which proves nothing.
    """
    code = f"from {__name__} import search; search({name!r}, {seed}, {most})"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    tried = process.stdout.split()
    if process.returncode == 0:
        return None
    if process.returncode == 1 or not tried:
        raise RuntimeError(f"the process that tries {name} failed: {process.stderr.strip()[-2000:]}")
    return int(tried[-1])


def search(name: str, seed: int, most: int) -> None:
    """Print the number of each random model before it is solved with the parameter; exit at the first wrong answer."""
    for k in range(most):
        print(k + 1, flush=True)
        if _wrong(name, seed + k):
            sys.exit(WRONG)


def _wrong(name: str, seed: int) -> list[str]:
    """Return the error messages on the answer to a random model with the parameter."""
    model = random_model(seed).model
    try:
        truth = brute_force(model)
    except EnumerationError:
        return []
    return judge(model, truth, run(model, "cpsat", Limits(time=20, threads=1, parameters={name: True})))
