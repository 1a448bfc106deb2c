"""Planted faults: copies of a model with one error each, such as a wrong lowering would make; a test of the test.

The conformance run must catch each fault within some random models. The copies are solved by enumeration, so no solver
is needed. The first line of each class is printed in a table of the run.
"""

from __future__ import annotations

import math
from typing import Any

from ...models import language as sl
from ...models.language import (
    Alternative,
    Comparison,
    Constraint,
    Cumulative,
    Interval,
    Linear,
    Model,
    NoOverlap,
    Precedence,
    Synchronize,
    element,
    holds,
    implies,
    overlap,
    start_before_start,
)
from ...models.language.expressions import Attribute, Element, Function, Holds, Number, Overlap, Piecewise
from ..decompositions.model_copy import Steps
from ..result import Result
from .brute_force import brute_force
from .copies import Copy
from .planted_transitions import TRANSITION_FAULTS


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
    objective = values if len(values) > 1 else values[0] if values else None
    bound: Any = objective
    if values and issubclass(fault, FalseBound):
        first = fault.bound(values[0], 1 if model.sense == "minimize" else -1)
        bound = (first, *values[1:]) if len(values) > 1 else first
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
        v, e = self.intervals[atom.interval], super().attribute(atom)
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
        a, options = self.intervals[c.interval], self.several(c.options)
        chosen = Linear({o.presence: 1 for o in options})
        self.model.add(implies(a.presence, holds(chosen == c.count)), "fault")
        return Synchronize(a, options)


class SynchronizedStarts(Copy):
    """Synchronized intervals start at the same time, but may end at different times."""

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint, with the fault."""
        if not isinstance(c, Synchronize):
            return super().constraint(c)
        a, others = self.intervals[c.interval], self.several(c.others)
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
)
