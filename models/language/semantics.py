"""The meaning of expressions and constraints in plain Python: evaluation and the check of an assignment.

This code uses no solver and no lowering, so that the result of every solver can be checked with it. Integers are exact.
If a constraint contains real numbers, a difference of 1e-6 (relative to its bound, without a time since 1970 in it) is
allowed (``real_tolerance``).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

from ...errors import SchedlabError, WrongArgument
from ..arguments import rational
from ..long_calls import look
from ..words import how_many, with_short_repr
from .bounds import Bounds
from .constraints import (
    AllDifferent,
    AllOrNone,
    Alternative,
    Constraint,
    Cumulative,
    DirectTransitions,
    ForbidExtent,
    Level,
    NoIdle,
    NoOverlap,
    Order,
    Precedence,
    SameSequence,
    Stated,
    StateFunction,
    Synchronize,
    Table,
    Violation,
)
from .expressions import (
    Atom,
    Attribute,
    Comparison,
    Element,
    Entry,
    Expression,
    Function,
    Holds,
    Integer,
    Interval,
    Linear,
    Max,
    Min,
    Neighbours,
    Number,
    Overlap,
    Piecewise,
    Product,
    Quotient,
    Remainder,
    Window,
    atoms_below,
)
from .levels import segments
from .sequences import order_of, order_violation

if TYPE_CHECKING:
    from .constraints import Assignment, ModelData

ROUNDING = 1e-15  # relative error of a sum of floating-point numbers, with a margin


class UndefinedValue(SchedlabError, ArithmeticError):
    """The argument of an ``element`` or ``piecewise`` is outside of its range, a divisor is 0, or a sequence overlaps."""


@with_short_repr
class Evaluator:
    """Values of expressions under one assignment; each atom is computed once.

    Parameters
    ----------
    assignment : Assignment
        The values of the variables.

    Examples
    --------
    >>> from schedlab import Model, Assignment, max
    >>> m = Model("m"); a = m.interval("a", size=3)
    >>> Evaluator(Assignment(m, {a: 4})).value(2 * max([a.end, 5]) + 1)
    15
    """

    def __init__(self, assignment: Assignment) -> None:
        self.assignment = assignment
        self._known: dict[Atom, Number | Fraction] = {}

    @cached_property
    def origin(self) -> int:
        """The earliest start, if times are far from 0 (``far_origin``)."""
        return far_origin(self.assignment.model)

    def rounding(self, e: Linear) -> float:
        """Return by how much the value of a real expression may differ from the exact one."""
        return ROUNDING * sum(
            (abs(float(c) * float(self._known[a])) for a, c in e.terms.items()), abs(float(e.constant))
        )

    def value(self, expression: Expression | Number) -> Number:
        """Return an int if the value is whole and exact, else a float."""
        if not isinstance(expression, Expression):
            return expression
        exact = self._exact(expression.linear())
        if isinstance(exact, Fraction):
            if exact.denominator == 1:
                return exact.numerator
            return float(exact)
        return exact

    def _exact(self, e: Linear) -> Number | Fraction:
        total: Number | Fraction = e.constant
        known = self._known
        for atom, c in e.terms.items():
            if atom not in known:
                if isinstance(atom, Function):
                    for inner in atoms_below(atom.operands):
                        if inner not in known:
                            known[inner] = self._atom(inner)
                known[atom] = self._atom(atom)
            total += c * known[atom]
        return total

    def _atom(self, atom: Atom) -> Number | Fraction:
        s = self.assignment
        match atom:
            case Integer():
                return s.integer[atom.index]
            case Attribute():
                return self._attribute(atom)
            case Overlap():
                i = atom.interval.index
                if s.present[i]:
                    return max(0, min(s.end[i], atom.hi) - max(s.start[i], atom.lo))
                return 0
            case Max():
                return max(self._exact(e) for e in atom.operands)
            case Min():
                return min(self._exact(e) for e in atom.operands)
            case Holds():
                return int(atom.comparison.lo <= self._exact(atom.comparison.expr) <= atom.comparison.hi)
            case Element():
                index = self._exact(atom.operands[0])
                if not 0 <= index < len(atom.array):
                    raise UndefinedValue(
                        f"{atom}: the index is {index}, but the array has {how_many(len(atom.array), 'entry')}"
                    )
                return atom.array[int(index)]
            case Piecewise():
                return self._interpolate(atom, self._exact(atom.operands[0]))
            case Product():
                return self._exact(atom.operands[0]) * self._exact(atom.operands[1])
            case Quotient() | Remainder():
                dividend, divisor = (self._exact(e) for e in atom.operands)
                if divisor <= 0:
                    raise UndefinedValue(f"{atom}: the divisor is {divisor}; it must be at least 1")
                if isinstance(atom, Quotient):
                    return dividend // divisor
                return dividend % divisor
            case Entry():
                index = self._exact(atom.operands[0])
                if not 0 <= index < len(atom.entries):
                    raise UndefinedValue(
                        f"{atom}: the index is {index}, but the array has {how_many(len(atom.entries), 'entry')}"
                    )
                return self._exact(atom.entries[int(index)])
            case Neighbours():
                order = order_of(atom.intervals, s)
                if order is None:
                    raise UndefinedValue(f"{atom}: two intervals of the sequence overlap")
                return atom.value(order)
            case _:
                raise WrongArgument(f"atoms of type {type(atom).__name__} cannot be evaluated")

    def _attribute(self, atom: Attribute) -> int:
        s, i = self.assignment, atom.interval.index
        if not s.present[i]:
            return 0
        if atom.field == "start":
            return s.start[i]
        if atom.field == "end":
            return s.end[i]
        if atom.field == "size":
            return s.end[i] - s.start[i]
        return 1

    def _interpolate(self, atom: Piecewise, x: Number | Fraction) -> Number | Fraction:
        points = atom.points
        first, last = points[0][0], points[-1][0]
        if isinstance(x, float) and not first <= x <= last:
            e = atom.operands[0]
            if _outside(x, first, last) <= real_tolerance(Comparison(e, x, x), self.origin) + self.rounding(e):
                x = min(max(x, first), last)
        if not first <= x <= last:
            raise UndefinedValue(f"{atom}: x is {x}, but the points cover only {first} to {last}")
        k = min(bisect_right(points, x, key=lambda p: p[0]), len(points) - 1)
        x0, y0 = points[k - 1]
        x1, y1 = points[k]
        if all(isinstance(v, (int, Fraction)) for v in (x, x0, y0, x1, y1)):
            return Fraction(y0) + Fraction(y1 - y0) * Fraction(x - x0) / Fraction(x1 - x0)
        return y0 + (y1 - y0) * ((x - x0) / (x1 - x0))


def check(model: ModelData, assignment: Assignment) -> list[Violation]:
    """Return all violations of domains and constraints, and the objectives that have no value.

    Raises
    ------
    OutOfTime
        At the deadline of this thread (``clock.within``), if there is one.
    """
    violations = [v for i in model.intervals if (v := _domain(i, assignment))]
    for x in model.integers:
        value = assignment.integer[x.index]
        if not x.lo <= value <= x.hi:
            violations.append(
                Violation(x.name, _outside(value, x.lo, x.hi), f"{x} = {value} is not in [{x.lo}, {x.hi}]")
            )
    evaluator = Evaluator(assignment)
    for name, constraint in model.constraints:
        look()
        try:
            problem = violation(constraint, evaluator)
        except UndefinedValue as e:
            problem = (1.0, str(e))
        if problem:
            violations.append(Violation(name, problem[0], f"{name}: {problem[1]}"))
    for k, objective in enumerate(model.objectives):
        try:
            evaluator.value(objective)
        except UndefinedValue as e:
            violations.append(Violation(f"objective {k + 1}", 1.0, str(e)))
    return violations


def _outside(value: Number | Fraction, lo: Number, hi: Number) -> float:
    return float(max(lo - value, value - hi, 0))


def _domain(v: Interval, s: Assignment) -> Violation | None:
    i = v.index
    if not s.present[i]:
        if v.optional:
            return None
        return Violation(v.name, 1.0, f"{v} is absent but not optional")
    start = s.start[i]
    size = s.end[i] - s.start[i]
    if not v.size_lo <= size <= v.size_hi:
        amount = _outside(size, v.size_lo, v.size_hi)
        return Violation(v.name, amount, f"{v} has size {size}, not in [{v.size_lo}, {v.size_hi}]")
    if v.declared_windows is None and v.model.declared_horizon is None:  # a horizon that is derived forbids nothing
        if start < 0:
            return Violation(v.name, -start, f"{v} starts at {start}, before 0")
        return None
    amount = min(_outside(start, lo, hi) for lo, hi in v.windows)
    if amount:
        return Violation(v.name, amount, f"{v} starts at {start}, outside of {list(v.windows)}")
    return None


def violation(constraint: Constraint, ev: Evaluator) -> tuple[float, str] | None:
    """Return (amount, text) for a violated constraint, or None if the constraint holds.

    Raises
    ------
    UndefinedValue
        If an expression of the constraint has no value.

    Examples
    --------
    >>> from schedlab import Model, Assignment, no_overlap
    >>> m = Model("m"); a, b = m.interval("a", size=3), m.interval("b", size=4)
    >>> violation(no_overlap([a, b]), Evaluator(Assignment(m, {a: 0, b: 1})))
    (2, 'b starts at 1 while a runs until 3')
    """
    match constraint:
        case Comparison():
            return _comparison(constraint, ev)
        case Alternative():
            return _alternative(constraint, ev.assignment)
        case Cumulative():
            return _cumulative(constraint, ev)
        case NoOverlap(intervals):
            if constraint.timed:
                return _transitions(constraint, ev.assignment)
            return _no_overlap(intervals, ev.assignment)
        case AllOrNone(intervals):
            return _all_or_none(intervals, ev.assignment)
        case ForbidExtent(v, windows):
            return _forbid_extent(v, windows, ev.assignment)
        case Synchronize(a, others):
            s = ev.assignment
            if not s.present[a.index]:
                return None
            return _apart(a, [o for o in others if s.present[o.index]], s)
        case Precedence():
            return _precedence(constraint, ev.assignment)
        case AllDifferent(expressions):
            return _all_different(expressions, ev)
        case Table(expressions, tuples):
            return _table(expressions, tuples, ev)
        case Level():
            return _level(constraint, ev)
        case Order() | DirectTransitions() | NoIdle() | SameSequence():
            return order_violation(constraint, ev.assignment)
        case StateFunction():
            return segments(constraint, ev.assignment).violation
        case Stated():
            return constraint.violation(ev)


def _comparison(c: Comparison, ev: Evaluator) -> tuple[float, str] | None:
    value = ev.value(c.expr)
    bounds = [b for b in (c.lo, c.hi) if not math.isinf(b)]
    exact = c.integral and all(isinstance(b, int) for b in bounds)
    amount = _outside(value, c.lo, c.hi)
    if not amount or (not exact and amount <= real_tolerance(c, ev.origin) + ev.rounding(c.expr)):
        return None
    return amount, f"the left side is {value}; {_side(c)} is expected"


def _side(c: Comparison) -> str:
    """Return what the left side of a comparison must be, in words."""
    if c.lo == c.hi:
        return f"{c.lo}"
    if math.isinf(c.lo):
        return f"at most {c.hi}"
    if math.isinf(c.hi):
        return f"at least {c.lo}"
    return f"{c.lo} to {c.hi}"


def _apart(a: Interval, others: list[Interval], s: Assignment) -> tuple[float, str] | None:
    i = a.index
    for o in others:
        j = o.index
        amount = max(abs(s.start[i] - s.start[j]), abs(s.end[i] - s.end[j]))
        if amount:
            return amount, f"{o} is [{s.start[j]}, {s.end[j]}), {a} is [{s.start[i]}, {s.end[i]})"
    return None


def _alternative(c: Alternative, s: Assignment) -> tuple[float, str] | None:
    chosen = [o for o in c.options if s.present[o.index]]
    wanted = 0
    if s.present[c.interval.index]:
        wanted = c.count
    if len(chosen) != wanted:
        return abs(len(chosen) - wanted), f"{how_many(len(chosen), 'option', verb='are')} present, {wanted} must be"
    return _apart(c.interval, chosen, s)


def _cumulative(c: Cumulative, ev: Evaluator) -> tuple[float, str] | None:
    s = ev.assignment
    changes: dict[int, Number] = {t: 0 for t, _ in c.steps}
    for v, demand in zip(c.intervals, c.demands, strict=True):
        i = v.index
        height = ev.value(demand)  # evaluated even if the interval is absent: its range errors count
        if s.present[i] and s.end[i] > s.start[i]:
            changes[s.start[i]] = changes.get(s.start[i], 0) + height
            changes[s.end[i]] = changes.get(s.end[i], 0) - height
    level: Number = 0
    worst: tuple[float, str] | None = None
    for t in sorted(changes):
        level += changes[t]
        excess = level - c.capacity_at(t)
        if level > 0 and excess > (worst[0] if worst else 0):
            worst = float(excess), f"at {t} the demand is {level}, the capacity {c.capacity_at(t)}"
    return worst


def _when(c: Level, s: Assignment) -> tuple[Number, Number]:
    """Return the time from which and the one before which the bounds of a level hold."""
    if c.during is None:
        if c.window is None:
            return (-math.inf, math.inf)
        return c.window
    i = c.during.index
    if s.present[i]:
        return (s.start[i], s.end[i])
    return (0, 0)


def _level(c: Level, ev: Evaluator) -> tuple[float, str] | None:
    """Return by how much a level is outside of its bounds at the worst time."""
    s = ev.assignment
    events: dict[int, Number] = {}
    for time, amount in c.steps:
        events[time] = events.get(time, 0) + amount
    for edge, v, height in c.changes:
        i = v.index
        by = ev.value(height)  # evaluated even if the interval is absent: its range errors count
        if not s.present[i]:
            continue
        if edge == "at_end":
            first = s.end[i]
        else:
            first = s.start[i]
        events[first] = events.get(first, 0) + by
        if edge == "pulse":
            events[s.end[i]] = events.get(s.end[i], 0) - by
    begin, end = _when(c, s)
    if begin >= end:
        return None
    level: Number = 0
    times = sorted(events)
    levels: list[tuple[Number, Number]] = [(begin, 0)]
    for t in times:
        level += events[t]
        if t <= begin:
            levels = [(begin, level)]
        elif t < end:
            levels.append((t, level))
    if c.lo is None:
        lo = -math.inf
    else:
        lo = c.lo
    if c.hi is None:
        hi = math.inf
    else:
        hi = c.hi
    excess, at, worst = max(((_outside(x, lo, hi), t, x) for t, x in levels), key=lambda p: p[0])
    if not excess:
        return None
    when = "before the first change"
    if not math.isinf(at):
        when = f"at {at}"
    if worst < lo:
        side = f"below {lo}"
    else:
        side = f"above {hi}"
    return excess, f"{when} the level is {worst}, {side}"


def _no_overlap(intervals: tuple[Interval, ...], s: Assignment) -> tuple[float, str] | None:
    running = sorted((s.start[v.index], s.end[v.index], v.name) for v in intervals if s.present[v.index])
    latest_end, last = -math.inf, ""
    for start, end, name in running:
        if end == start:
            continue
        if start < latest_end:
            return latest_end - start, f"{name} starts at {start} while {last} runs until {latest_end}"
        if end > latest_end:
            latest_end, last = end, name
    return None


def _transitions(c: NoOverlap, s: Assignment) -> tuple[float, str] | None:
    """Return the worst pair of intervals between which there is less than the transition time, in either order."""
    present = [k for k, v in enumerate(c.intervals) if s.present[v.index]]
    worst: tuple[float, str] | None = None
    for a, b in combinations(present, 2):
        missing = {(i, j): _missing(c, s, i, j) for i, j in ((a, b), (b, a))}
        (i, j), amount = min(missing.items(), key=lambda m: m[1])
        if amount > (worst[0] if worst else 0):
            v, w = c.intervals[i], c.intervals[j]
            start, end = s.start[w.index], s.end[v.index]
            worst = amount, f"{w} starts at {start}, {v} ends at {end}, the transition takes {c.transition(i, j)}"
    if worst is None and len(present) > 2:
        spans = [(s.start[v.index], s.end[v.index]) if s.present[v.index] else None for v in c.intervals]
        if c.sequence(spans) is None:
            names = ", ".join(str(v) for v in c.intervals if s.present[v.index] and s.start[v.index] == s.end[v.index])
            return 1, f"the transition times allow no order of the intervals of size 0 at the same time, of {names}"
    return worst


def _missing(c: NoOverlap, s: Assignment, i: int, j: int) -> int:
    """Return by how many seconds the interval at position j starts too early to follow the one at position i."""
    return s.end[c.intervals[i].index] + c.transition(i, j) - s.start[c.intervals[j].index]


def _all_or_none(intervals: tuple[Interval, ...], s: Assignment) -> tuple[float, str] | None:
    present = [v for v in intervals if s.present[v.index]]
    absent = [v for v in intervals if not s.present[v.index]]
    if not present or not absent:
        return None
    return min(len(present), len(absent)), f"{present[0]} is present, but {absent[0]} is absent"


def _forbid_extent(v: Interval, windows: tuple[Window, ...], s: Assignment) -> tuple[float, str] | None:
    if not s.present[v.index]:
        return None
    start, end = s.start[v.index], s.end[v.index]
    amount, (lo, hi) = max(((min(end, hi) - max(start, lo), (lo, hi)) for lo, hi in windows), default=(0, (0, 0)))
    if amount > 0:
        return (amount, f"{v} runs from {start} to {end}, within [{lo}, {hi})")
    return None


def _all_different(expressions: tuple[Linear, ...], ev: Evaluator) -> tuple[float, str] | None:
    """Return the number of expressions that repeat a value, and the first two that are equal."""
    first: dict[Number, Linear] = {}
    equal = ""
    repeated = 0
    for e in expressions:
        value = ev.value(e)
        if value in first:
            equal = equal or f"{first[value]} and {e} are both {value}"
            repeated += 1
        else:
            first[value] = e
    if repeated:
        return (repeated, equal)
    return None


def _table(
    expressions: tuple[Linear, ...], tuples: tuple[tuple[int, ...], ...], ev: Evaluator
) -> tuple[float, str] | None:
    """Return in how many values the nearest allowed tuple differs."""
    values = tuple(ev.value(e) for e in expressions)
    if values in tuples:
        return None
    wrong = min((sum(a != b for a, b in zip(values, row, strict=True)) for row in tuples), default=len(values))
    return max(wrong, 1), f"the values are {values}, which is no allowed tuple"


def _precedence(c: Precedence, s: Assignment) -> tuple[float, str] | None:
    i, j = c.before.index, c.after.index
    if not (s.present[i] and s.present[j]):
        return None
    if c.fields[0] == "end":
        left = s.end[i]
    else:
        left = s.start[i]
    if c.fields[1] == "end":
        right = s.end[j]
    else:
        right = s.start[j]
    if left + c.delay > right:
        return left + c.delay - right, f"{left} + {c.delay} is after {right}"
    if c.at_most is not None and right > left + c.at_most:
        return right - left - c.at_most, f"{right} is after {left} + {c.at_most}"
    return None


# --- Constant offsets of expressions, such as times since 1970, and the tolerance of comparisons of real numbers without them.

REAL_TOLERANCE = 1e-6
LARGEST_FACTOR = 10**4  # that makes real coefficients whole


def origin_of(model: ModelData) -> int:
    """Return the earliest start of all intervals of a model, in seconds; 0 without intervals."""
    return min((v.start_lo for v in model.intervals), default=0)


def offset_of(e: Linear, origin: int) -> Number:
    """Return the constant offset of an expression: what a shift of all times to begin at 0 takes off.

    Parameters
    ----------
    e : Linear
        The expression, such as an objective.
    origin : int
        The earliest start in seconds.

    Examples
    --------
    >>> from schedlab import Model, max
    >>> m = Model("m"); a, b = (m.interval(n, size=3, start=(1000, 1099)) for n in "ab")
    >>> offset_of(max([a.end, b.end]) - 5, origin_of(m)), offset_of(a.end - b.start, 1000)
    (995, 0)
    """
    known: dict[Atom, Number] = {}

    def value(f: Linear) -> Number:
        return f.constant + sum(c * known[a] for a, c in f.terms.items())

    for atom in atoms_below([e]):
        known[atom] = 0
        if isinstance(atom, Attribute) and atom.field in ("start", "end") and not atom.interval.optional:
            known[atom] = origin
        elif isinstance(atom, (Max, Min)):
            known[atom] = common_constant([value(f) for f in atom.operands])
    return value(e)


def common_constant(constants: Sequence[Number]) -> Number:
    """Return the constant of least absolute value if all have the same sign, else 0.

    >>> common_constant([7, 5]), common_constant([-7, 5])
    (5, 0)
    """
    if all(c > 0 for c in constants) or all(c < 0 for c in constants):
        return min(constants, key=abs)
    return 0


def far_origin(model: ModelData) -> int:
    """Return the earliest start if it is further from 0 than the latest end is from it, else 0.

    >>> from schedlab import Model
    >>> m = Model("m"); a = m.interval("a", size=3, start=(1000, 1099)); far_origin(m)
    1000
    """
    if not model.intervals or any(v.declared_windows is None for v in model.intervals):
        return 0
    origin = origin_of(model)
    span = max(v.start_hi + v.size_hi for v in model.intervals) - origin
    if abs(origin) > span:
        return origin
    return 0


def late_presence(e: Linear, model: ModelData) -> bool:
    """Return whether an expression has late times of optional intervals, whose offset changes with their presence.

    >>> from schedlab import Model
    >>> m = Model("m"); a = m.interval("a", size=3, start=(1000, 1099), optional=True); late_presence(2 * a.end, m)
    True
    """
    return bool(far_origin(model)) and _has_late_presence(e)


def _has_late_presence(e: Linear) -> bool:
    return any(
        isinstance(atom, Attribute) and atom.field in ("start", "end") and atom.interval.optional
        for atom in atoms_below([e])
    )


def whole_form(c: Comparison) -> Comparison | None:
    """Return a comparison of whole numbers for one of real numbers, with bounds within 1e-6; None if there is none.

    Examples
    --------
    >>> from schedlab import Model
    >>> m = Model("m"); x, y = m.integer("x", 0, 9), m.integer("y", 0, 9); whole_form(0.5 * x - 0.25 * y <= 1.3)
    2*x + -1*y <= 5
    >>> whole_form(3.141592653589793 * x <= 5) is None
    True
    """
    if not all(atom.integral for atom in c.expr.terms) or c.expr.constant:
        return None
    exact = {atom: Fraction(rational(k)) for atom, k in c.expr.terms.items()}
    factor = math.lcm(*(k.denominator for k in exact.values()))
    if factor > LARGEST_FACTOR:
        return None
    if math.isinf(c.lo):
        lo = c.lo
    else:
        lo = math.ceil((Fraction(rational(c.lo)) - Fraction(REAL_TOLERANCE)) * factor)
    if math.isinf(c.hi):
        hi = c.hi
    else:
        hi = math.floor((Fraction(rational(c.hi)) + Fraction(REAL_TOLERANCE)) * factor)
    return Comparison(Linear({atom: int(k * factor) for atom, k in exact.items()}), lo, hi)


def real_tolerance(c: Comparison, origin: int) -> float:
    """Return by how much a comparison of real numbers may be broken: 1e-6 relative to its bound without the offset.

    Parameters
    ----------
    c : Comparison
    origin : int
        What ``far_origin`` returns for the model of the comparison.

    Examples
    --------
    >>> from schedlab import Model
    >>> m = Model("m"); a = m.interval("a", size=3, start=(10**9, 10**9 + 9))
    >>> real_tolerance(0.5 * a.start <= 5 * 10**8 + 4, far_origin(m)), real_tolerance(0.5 * a.start <= 5000, 0)
    (4e-06, 0.005)
    """
    if origin and _has_late_presence(c.expr) and whole_form(c) is not None:
        return REAL_TOLERANCE
    if origin:
        offset = offset_of(c.expr, origin)
    else:
        offset = 0
    sizes = [min(abs(b), abs(b - offset)) for b in (c.lo, c.hi) if not math.isinf(b)]
    return REAL_TOLERANCE * max([1.0, *map(float, sizes)])


OFFSET_SHARE = 0.01  # of the range of the objective: a smaller offset does not matter


def needs_origin(model: ModelData) -> bool:
    """Return whether a model should be solved with times from its earliest start on.

    So it is if that start is further from 0 than the latest end is from it, or if the constant offset of the objective is
    not small beside the range of the objective, and the objective is as far from 0.
    """
    if far_origin(model):
        return True
    origin = origin_of(model)
    for e in model.objectives[:1]:
        offset = abs(offset_of(e, origin))
        if offset:
            lo, hi = Bounds().of(e)
            return min(offset, abs(lo), abs(hi)) > OFFSET_SHARE * (hi - lo)
    return False
