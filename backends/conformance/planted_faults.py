"""Faults planted on purpose: what a wrong lowering would make of a model, to see that the conformance run notices.

Each fault is a copy of the model with one rule broken, solved by enumeration, so that no solver is needed.
"""

from __future__ import annotations

import math
from typing import Any

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
    max,
    min,
    overlap,
    start_before_start,
)
from ...models.language.expressions import Attribute, Element, Function, Holds, Number, Overlap, Piecewise
from ..result import Result
from .brute_force import brute_force
from .copies import Copy, Steps


def faulty(fault: type[Copy], model: Model) -> Result:
    """What a backend with this fault would answer, as the driver reports it: objectives recomputed, nothing checked."""
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
    """The answer is right, the bound is not; ``sign`` is 1 where less is better, else -1."""

    @staticmethod
    def bound(value: Number, sign: int) -> Number:
        """The bound that is reported with the optimum ``value``."""
        return value


class DroppedConstraint(Copy):
    """The last constraint is forgotten."""

    def constraint_order(self) -> list[tuple[str, Constraint]]:
        return super().constraint_order()[:-1]


class WindowOffByOne(Copy):
    """The last start window ends one second late."""

    def interval(self, v: Interval) -> Interval:
        *others, (lo, hi) = v.windows
        return self.model.interval(v.name, (v.size_lo, v.size_hi), [*others, (lo, hi + 1)], v.optional)


class WindowsMerged(Copy):
    """The gaps between the start windows are forgotten."""

    def interval(self, v: Interval) -> Interval:
        return self.model.interval(v.name, (v.size_lo, v.size_hi), (v.start_lo, v.start_hi), v.optional)


class AbsentAtLowerBound(Copy):
    """The start of an absent interval counts as its earliest start instead of 0."""

    def attribute(self, atom: Attribute) -> Linear:
        v, e = self.intervals[atom.interval], super().attribute(atom)
        if not v.optional or atom.field not in ("start", "end"):
            return e
        return e + (v.start_lo + (v.size_lo if atom.field == "end" else 0)) * (1 - v.presence)


class ZeroSizeOccupies(Copy):
    """An interval of size zero may not lie inside another one of a no_overlap or of a full cumulative."""

    def constraint(self, c: Constraint) -> Constraint | None:
        if isinstance(c, NoOverlap):
            self._keep_apart([(v, 1) for v in c.intervals], 1)
        if isinstance(c, Cumulative):
            pairs = zip(c.intervals, c.demands, strict=True)
            self._keep_apart([(v, d) for v, d in pairs if isinstance(d, int)], sorted(k for _, k in c.steps)[-1])
        return super().constraint(c)

    def _keep_apart(self, among: list[tuple[Interval, int]], capacity: int) -> None:
        for v, height in among:
            for w, other in among:
                if v is not w and v.size_lo == 0 < height and height + other > capacity:
                    a, b = self.intervals[v], self.intervals[w]
                    apart = holds(a.start <= b.start) + holds(a.start >= b.end)
                    self.model.add(a.presence + b.presence - 1 <= apart, "fault")


class StepShifted(Copy):
    """The steps of a capacity come one second late."""

    def steps(self, steps: Steps) -> Steps:
        return tuple((t + 1, c) for t, c in steps)


class AbsentDemandConstrained(Copy):
    """The variable demand of an interval that takes no part still has to fit the capacity."""

    def constraint(self, c: Constraint) -> Constraint | None:
        if isinstance(c, Cumulative):
            top = sorted(capacity for _, capacity in c.steps)[-1]
            for demand in c.demands:
                if isinstance(demand, Linear):
                    self.model.add(self.linear(demand) <= top, "fault")
        return super().constraint(c)


class HoldsOneWay(Copy):
    """A comparison held against 0/1 must hold if it is 1, but may hold if it is 0."""

    def function(self, atom: Function) -> Linear:
        if not isinstance(atom, Holds):
            return super().function(atom)
        known = super().function(atom)
        free = self.model.boolean(f"one way {atom}")
        self.model.add(free <= known, "fault")
        return free.linear()


class PrecedenceOfAbsent(Copy):
    """A precedence binds although a side is absent, whose times count as 0."""

    def constraint(self, c: Constraint) -> Constraint | None:
        if not isinstance(c, Precedence):
            return super().constraint(c)
        left, right = (
            getattr(self.intervals[v], field) for v, field in zip((c.before, c.after), c.fields, strict=True)
        )
        bound: Comparison = left + c.delay <= right
        return bound


class NegativeDelayDropped(Copy):
    """A negative delay counts as 0."""

    def constraint(self, c: Constraint) -> Constraint | None:
        copied = super().constraint(c)
        if isinstance(copied, Precedence) and copied.delay < 0:
            return Precedence(copied.before, copied.after, 0, copied.kind)
        return copied


class ElementClamped(Copy):
    """An index outside of the array counts as the nearest one inside instead of being infeasible."""

    def function(self, atom: Function) -> Linear:
        if not isinstance(atom, Element):
            return super().function(atom)
        last = len(atom.array) - 1
        return element(atom.array, max([0, min([last, self.linear(atom.operands[0])])]))


class PiecewiseConvex(Copy):
    """Only the first and the last point of a piecewise function count."""

    def function(self, atom: Function) -> Linear:
        if not isinstance(atom, Piecewise):
            return super().function(atom)
        return super().function(Piecewise(atom.operands[0], (atom.points[0], atom.points[-1])))


class OverlapClosed(Copy):
    """The window of an overlap is one second longer."""

    def function(self, atom: Function) -> Linear:
        if not isinstance(atom, Overlap):
            return super().function(atom)
        return overlap(self.intervals[atom.interval], atom.lo, atom.hi + 1)


class CountIgnored(Copy):
    """An alternative chooses one option, whatever its count."""

    def constraint(self, c: Constraint) -> Constraint | None:
        if isinstance(c, Alternative):
            return Alternative(self.intervals[c.interval], self.several(c.options), 1)
        return super().constraint(c)


class OptionsOfAbsent(Copy):
    """The options of an absent interval are free."""

    def constraint(self, c: Constraint) -> Constraint | None:
        if not isinstance(c, Alternative):
            return super().constraint(c)
        a, options = self.intervals[c.interval], self.several(c.options)
        chosen = Linear({o.presence: 1 for o in options})
        self.model.add(implies(a.presence, holds(chosen == c.count)), "fault")
        return Synchronize(a, options)


class SynchronizedStarts(Copy):
    """Synchronized intervals start together, but may end apart."""

    def constraint(self, c: Constraint) -> Constraint | None:
        if not isinstance(c, Synchronize):
            return super().constraint(c)
        a, others = self.intervals[c.interval], self.several(c.others)
        for o in others:
            self.model.add(start_before_start(a, o), "fault")
            self.model.add(start_before_start(o, a), "fault")
        return None


class OverlapAllowedAtEnd(Copy):
    """Each interval of a no_overlap is one second shorter for those declared after it."""

    def constraint(self, c: Constraint) -> Constraint | None:
        if not isinstance(c, NoOverlap) or len(c.intervals) != 2:
            return super().constraint(c)
        a, b = self.several(c.intervals)
        one_way = holds(a.start >= b.end) + holds(b.start >= a.end - 1)
        self.model.add(a.presence + b.presence - 1 <= one_way, "fault")
        return None


class FirstObjectiveOnly(Copy):
    """Of several objectives only the first one counts."""

    def objective(self) -> None:
        aims = [self.linear(e) for e in self.origin.objectives[:1]]
        if aims:
            (self.model.minimize if self.origin.sense == "minimize" else self.model.maximize)(aims)


class SenseForgotten(Copy):
    """A maximum is sought as a minimum."""

    def objective(self) -> None:
        if self.origin.objectives:
            self.model.minimize([self.linear(e) for e in self.origin.objectives])


class BoundBeyondOptimum(FalseBound):
    """The bound is better than the optimum by one unit."""

    @staticmethod
    def bound(value: Number, sign: int) -> Number:
        return value + sign


class BoundRoundedAway(FalseBound):
    """The bound of a real objective is rounded as if it were whole."""

    @staticmethod
    def bound(value: Number, sign: int) -> Number:
        return sign * math.ceil(sign * value - 1e-9)


class BoundOfInfinity(FalseBound):
    """The solver's largest number stands for the bound."""

    @staticmethod
    def bound(value: Number, sign: int) -> Number:
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
)
