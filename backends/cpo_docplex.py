"""CP Optimizer through docplex, which is imported here alone: a model as a ``CpoModel``, and a run of the engine."""

from __future__ import annotations

import math
import operator
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any

import numpy as np
from docplex.cp import modeler as cp
from docplex.cp.expression import (
    INTERVAL_MAX,
    INTERVAL_MIN,
    integer_var,
    interval_var,
    sequence_var,
    state_function,
    transition_matrix,
)
from docplex.cp.function import CpoStepFunction
from docplex.cp.model import CpoModel
from docplex.cp.solver.cpo_callback import EVENT_OBJ_BOUND, EVENT_SOLUTION, CpoCallback
from docplex.cp.solver.solver import CpoSolver
from docplex.cp.utils import CpoException

from ..errors import WrongArgument
from ..models.language import (
    AllDifferent,
    AllOrNone,
    Alternative,
    Assignment,
    Bounds,
    Comparison,
    Constraint,
    Cumulative,
    DirectTransitions,
    ForbidExtent,
    InDomain,
    Integer,
    Intensity,
    Interval,
    Isomorphism,
    Level,
    Linear,
    Model,
    NoIdle,
    NoOverlap,
    Order,
    Precedence,
    SameSequence,
    Span,
    Stated,
    StateFunction,
    Synchronize,
    Table,
    VariableDelay,
)
from ..models.language.bounds import Breakpoint, points_within
from ..models.language.calendars import FULL
from ..models.language.constraints import REVERSED
from ..models.language.expressions import (
    Atom,
    Attribute,
    Element,
    Entry,
    Holds,
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
from ..models.language.semantics import far_origin, real_tolerance
from ..models.long_calls import Deadline, look
from .base import OBJECTIVE, Conflict, Limits, MissingConstruct, Outcome, Status, WarmStart, Watch, in_lowest_terms
from .solver_thread import SolverLog

# --- Step functions of time: calendars of starts, forbidden windows, and capacities that vary.


def calendar(v: Interval) -> Any:
    """Return a step function that is 0 in the gaps between an interval's start windows, and 1 elsewhere."""
    steps = [(INTERVAL_MIN, 1)]
    for (_, end), (begin, _) in pairwise(v.windows):
        steps += [(end + 1, 0), (begin, 1)]
    return CpoStepFunction(steps)


def outside(windows: tuple[Window, ...]) -> Any:
    """Return a step function that is 0 within the windows and 1 elsewhere."""
    return CpoStepFunction([(INTERVAL_MIN, 1), *(step for lo, hi in windows for step in ((lo, 0), (hi, 1)))])


def openings(c: InDomain, earlier: int) -> Any:
    """Return a step function that is 1 within the windows, moved by some seconds to earlier times, and 0 elsewhere."""
    steps = [(INTERVAL_MIN, 0)]
    for a, b in c.windows:
        steps.append((INTERVAL_MIN if a is None else a - earlier, 1))
        if b is not None:
            steps.append((b + 1 - earlier, 0))
    return CpoStepFunction(steps[1:] if len(steps) > 1 and steps[1][0] == INTERVAL_MIN else steps)


def percents(c: Intensity) -> Any:
    """Return the intensity as a step function; the first one also holds before its time."""
    (_, first), *later = c.steps
    return CpoStepFunction([(INTERVAL_MIN, first), *later])


def taken(c: Cumulative) -> tuple[list[Any], int]:
    """Return (the fixed pulses, the greatest capacity C) of a capacity over time, as in the module's text."""
    begin = min(v.start_lo for v in c.intervals)
    end = max(v.start_hi + v.size_hi for v in c.intervals)
    inside = [(begin, c.capacity_at(begin))] + [(t, capacity) for t, capacity in c.steps if begin < t < end]
    peak = max(capacity for _, capacity in inside)
    ends = [t for t, _ in inside[1:]] + [end]
    taken = [
        cp.pulse((t, u), peak - capacity)
        for (t, capacity), u in zip(inside, ends, strict=True)
        if capacity < peak and t < u
    ]
    return taken, peak


ROUNDING = 1e-9  # relative error that the engine's own arithmetic may add to a real number


class CpoLowering:
    """The lowering of one model.

    Attributes
    ----------
    native : CpoModel
    intervals, integers : list
        Native variable of each interval and each integer, by its index in the model.
    shadows : dict of int to CpoIntervalVar
        Shadow of an interval whose size can be 0, by the index of the interval, if one is needed.
    named : dict of int to str
        Name of each native constraint and variable, by its ``id``.
    real : bool
        Whether a constraint has real coefficients.
    """

    def __init__(self, model: Model) -> None:
        self.native: Any = CpoModel(name=_written(model.name), sfile="schedlab")
        self.native.source_loc = False  # without this, every add() walks the Python stack
        self.named: dict[int, str] = {}
        self.shadows: dict[int, Any] = {}
        self.real = False
        self._parameters: dict[str, str] = {}
        self._bounds = Bounds()
        self._far_origin = far_origin(model)
        self._atoms: dict[Atom, Any] = {}
        self._guards: list[Any] = []
        self._sequences: dict[tuple[tuple[int, ...], tuple[int, ...]], Any] = {}
        # one intensity of each interval; one with work of 0 would not occupy resources while its length is positive, and the
        # engine (22.1) may crash on one that is 100 percent at all times
        self.intense = {
            c.interval.index: c
            for _, c in model.constraints
            if isinstance(c, Intensity) and c.work[0] > 0 and any(percent != FULL for _, percent in c.steps)
        }
        self.intervals = [self._interval(v) for v in model.intervals]
        self.integers = [self._integer(x) for x in model.integers]
        self.native.add([*self.intervals, *self.integers])
        for v in model.intervals:
            if len(v.windows) > 1:
                self._post(cp.forbid_start(self.intervals[v.index], calendar(v)), v.name)
        for name, constraint in model.constraints:
            look()
            for native in self._constraint(constraint):
                self._post(native, name)
            self._post_guards(name)
        if model.objectives:
            if model.sense == "minimize":
                aim = cp.minimize
            else:
                aim = cp.maximize
            self.native.add(aim(self._expression(model.objectives[0])))
            self._post_guards(OBJECTIVE)
            if not model.objectives[0].integral:
                self._parameters["TemporalRelaxation"] = "Off"
        if self._parameters:
            self.native.set_parameters(**self._parameters)

    def size(self) -> dict[str, int]:
        """Return the numbers of variables, of constraints, and of nodes of the expression graph (as "nonzeros")."""
        counted = self.native.get_statistics()
        return {
            "variables": len(self.intervals) + len(self.integers) + len(self.shadows),
            "constraints": counted.nb_constraints - (self.native.objective is not None),
            "nonzeros": counted.nb_expr_nodes,
        }

    def _post(self, native: Any, name: str) -> None:
        native.set_name(_written(name))
        self.named[id(native)] = name
        self.native.add(native)

    def _post_guards(self, name: str) -> None:
        for guard in self._guards:
            self._post(guard, name)
        self._guards.clear()

    def _interval(self, v: Interval) -> Any:
        look()
        lo, hi = v.windows[0][0], v.windows[-1][1]
        own: dict[str, Any] = {"size": (v.size_lo, v.size_hi)}
        if v.index in self.intense:
            c = self.intense[v.index]
            own = {"length": (v.size_lo, v.size_hi), "size": c.work, "intensity": percents(c), "granularity": FULL}
        made = interval_var(
            start=(lo, hi),
            end=(lo + v.size_lo, hi + v.size_hi),
            optional=v.optional,
            name=_written(v.name),
            **own,
        )
        self.named[id(made)] = v.name
        return made

    def _integer(self, x: Integer) -> Any:
        made = integer_var(x.lo, x.hi, _written(x.name))
        self.named[id(made)] = x.name
        return made

    def _constraint(self, constraint: Constraint) -> Iterator[Any]:
        """Yield the native constraints of one constraint of the model."""
        match constraint:
            case Comparison():
                yield self._comparison(constraint)
            case Alternative(a, options, count):
                yield cp.alternative(self.intervals[a.index], [self.intervals[o.index] for o in options], count)
            case Synchronize(a, others):
                if others:
                    yield cp.synchronize(self.intervals[a.index], [self.intervals[o.index] for o in others])
            case Precedence():
                for p in constraint.parts:
                    yield getattr(cp, p.kind)(self.intervals[p.before.index], self.intervals[p.after.index], p.delay)
            case AllOrNone(intervals):
                for v, w in pairwise(intervals):
                    yield cp.presence_of(self.intervals[v.index]) == cp.presence_of(self.intervals[w.index])
            case ForbidExtent(v):
                x = self._running(v)
                windows = constraint.within_reach()
                if x is not None and windows:
                    yield cp.forbid_extent(x, outside(windows))
            case NoOverlap():
                yield from self._no_overlap(constraint)
            case Cumulative():
                yield from self._cumulative(constraint)
            case AllDifferent(expressions):
                if len(expressions) > 1:
                    yield cp.all_diff([self._expression(e) for e in expressions])
            case Table(expressions, tuples):
                yield self._table(expressions, tuples)
            case Level():
                yield from self._level(constraint)
            case Order() | DirectTransitions() | SameSequence():
                yield from self._order(constraint)
            case NoIdle():
                raise MissingConstruct("CP Optimizer has no sequences without idle time")
            case StateFunction():
                yield from self._state(constraint)
            case Stated():
                yield from self._stated(constraint)

    def _state(self, c: StateFunction) -> Iterator[Any]:
        """Yield a state function whose values are known; with always_constant, the engine (22.2) proves false optima."""
        if c.transitions:
            state = state_function(transition_matrix(c.transitions))
        else:
            state = state_function()
        for v, value, start, end in c.uses:
            if value is None:
                raise MissingConstruct("CP Optimizer has state functions with known values alone")
            yield cp.always_equal(state, self.intervals[v.index], value, start, end)

    def _order(self, c: Order | DirectTransitions | SameSequence) -> Iterator[Any]:
        """Yield a constraint on the order of a sequence, with a no_overlap that ties the order to the times."""
        match c:
            case Order(intervals, one, kind, other):
                sequence = self._sequence(intervals)
                yield cp.no_overlap(sequence)
                members = [self.intervals[v.index] for v in (one, other) if v is not None]
                yield getattr(cp, kind)(sequence, *members)
            case DirectTransitions(intervals, types, times):
                yield cp.no_overlap(self._sequence(intervals, types), transition_matrix(times), True)
            case SameSequence(intervals, others):
                one, other = self._sequence(intervals), self._sequence(others)
                yield cp.no_overlap(one)
                yield cp.no_overlap(other)
                yield cp.same_sequence(one, other)

    def _sequence(self, intervals: tuple[Interval, ...], types: tuple[int, ...] | None = None) -> Any:
        """Return the sequence variable of some intervals with these types."""
        if types is None:
            kinds = tuple(range(len(intervals)))
        else:
            kinds = types
        key = (tuple(v.index for v in intervals), kinds)
        if key not in self._sequences:
            self._sequences[key] = sequence_var([self.intervals[v.index] for v in intervals], list(kinds))
        return self._sequences[key]

    def _neighbours(self, atom: Neighbours) -> Any:
        """Return a sum over direct neighbours: an element for each interval, at the type of the next one."""
        sequence = self._sequence(atom.intervals, atom.types)
        self._guards.append(cp.no_overlap(sequence))
        last = len(atom.costs)  # the value for "none follows"; the next one is that for an absent interval
        parts = []
        for v, kind in zip(atom.intervals, atom.types, strict=True):
            x = self.intervals[v.index]
            after = [*atom.costs[kind], atom.last[kind], 0]
            if any(after):
                parts.append(cp.element(after, cp.type_of_next(sequence, x, last, last + 1)))
            if atom.first[kind]:
                before = [*(0 for _ in atom.costs), atom.first[kind], 0]
                parts.append(cp.element(before, cp.type_of_prev(sequence, x, last, last + 1)))
        if parts:
            return cp.sum(parts)
        return 0

    def _stated(self, constraint: Stated) -> Iterator[Any]:
        """Yield a calendar or a structure."""
        match constraint:
            case Intensity(v):
                if self.intense.get(v.index) is not constraint:
                    yield from self._work(constraint)
            case InDomain():
                yield self._in_domain(constraint)
            case Span(v, parts):
                yield cp.span(self.intervals[v.index], [self.intervals[o.index] for o in parts])
            case Isomorphism(first, second):
                yield from self._isomorphism(first, second)
            case VariableDelay(before, after):
                a, b = self.intervals[before.index], self.intervals[after.index]
                yield getattr(cp, constraint.relation)(a, b, self._expression(constraint.delay))
                if constraint.at_most is not None:
                    left, _, right = constraint.relation.partition("_before_")
                    yield getattr(cp, REVERSED[left, right])(b, a, self._expression(-constraint.at_most))
            case _:
                raise MissingConstruct(f"CP Optimizer has no {type(constraint).__name__}")

    def _work(self, c: Intensity) -> Iterator[Any]:
        """Yield the bounds on the work of an interval that has another intensity, or whose work may be 0."""
        x, v = self.intervals[c.interval.index], c.interval
        start, end = cp.start_of(x, 0), cp.end_of(x, 0)
        pieces = c.pieces(v.start_lo, v.start_hi + v.size_hi)
        parts = [percent * cp.max([cp.min([end, b]) - cp.max([start, a]), 0]) for a, b, percent in pieces if percent]
        work = 0
        if parts:
            work = cp.sum(parts)
        low, high = c.work
        yield _within(work, -math.inf, FULL * high + FULL - 1)
        if low:
            yield work >= FULL * low * cp.presence_of(x)

    def _in_domain(self, c: InDomain) -> Any:
        x = None
        if c.interval is not None:
            x = self.intervals[c.interval.index]
        if c.own_end in ("start", "end"):
            if c.own_end == "start":
                allowed = cp.forbid_start
            else:
                allowed = cp.forbid_end
            return allowed(x, openings(c, 1 if c.own_end == "end" else 0))
        e = self._expression(c.expression)
        inside = [_within(e, a, b) for a, b in c.sides]
        if len(inside) > 1:
            some = cp.logical_or(inside)
        elif inside:
            some = inside[0]
        else:
            some = cp.false()
        if x is None or not x.is_optional():
            return some
        return cp.logical_or([cp.presence_of(x) == 0, some])

    def _isomorphism(self, first: Sequence[Interval], second: Sequence[Interval]) -> Iterator[Any]:
        sides = [[self.intervals[v.index] for v in side] for side in (first, second)]
        if all(sides):
            yield cp.isomorphism(*sides)
            return
        for x in sides[0] or sides[1]:
            yield cp.presence_of(x) == 0

    def _level(self, c: Level) -> Iterator[Any]:
        """Yield a level, with a constant that keeps it >= 0 at all times: the engine takes no other cumul functions."""
        parts: list[tuple[int, Any]] = []
        kinds = {"at_start": cp.step_at_start, "at_end": cp.step_at_end, "pulse": cp.pulse}
        for edge, v, height in c.changes:
            if isinstance(height, Linear):
                raise MissingConstruct("CP Optimizer has levels with constant heights alone")
            if edge == "pulse":
                x = self._running(v)
            else:
                x = self.intervals[v.index]
            if height and x is not None:
                parts.append((height, kinds[edge](x, abs(height))))
        parts += [(amount, cp.step_at(time, abs(amount))) for time, amount in c.steps if amount]
        base = sum(-height for height, _ in parts if height < 0)
        lo = 0
        if c.lo is not None:
            lo = max(0, c.lo + base)
        hi = base + sum(height for height, _ in parts if height > 0)
        if c.hi is not None:
            hi = min(hi, c.hi + base)
        if c.window is None and c.during is None and not (c.lo or 0) <= 0 <= (c.hi or 0):
            yield cp.false()
            return
        if lo > hi and c.during is None:
            yield cp.false()
            return
        level: Any = None
        if base:
            level = cp.step_at(INTERVAL_MIN, base)
        for height, part in parts:
            if level is None:
                level = part
            else:
                if height > 0:
                    level = level + part
                else:
                    level = level - part
        if c.window is None:
            during = (INTERVAL_MIN, INTERVAL_MAX)
        else:
            during = c.window
        if c.during is not None:
            during = self._running(c.during)
            if during is None:
                return
            if lo > hi or level is None:
                inside = lo <= 0 <= hi
                if not inside:
                    yield cp.presence_of(during) == 0
                return
        if level is None:
            if not lo <= 0 <= hi:
                yield cp.false()
            return
        yield cp.always_in(level, during, lo, hi)

    def _table(self, expressions: Sequence[Linear], tuples: tuple[tuple[int, ...], ...]) -> Any:
        if not tuples:
            return cp.false()
        made = [self._expression(e) for e in expressions]
        moving = [k for k, e in enumerate(expressions) if e.terms]
        rows = [row for row in tuples if all(e.terms or row[k] == e.constant for k, e in enumerate(expressions))]
        if not rows or not moving:
            if rows:
                return cp.true()
            return cp.false()
        if len(moving) == 1:
            return cp.allowed_assignments(made[moving[0]], [row[moving[0]] for row in rows])
        return cp.allowed_assignments([made[k] for k in moving], [tuple(row[k] for k in moving) for row in rows])

    def _comparison(self, c: Comparison) -> Any:
        # the engine takes 90033 * presence == 5 for true if the interval is absent
        c = in_lowest_terms(_with_merged_presences(c))
        e = self._expression(c.expr)
        lo = c.lo
        hi = c.hi
        if not c.integral:
            self.real = True
            slack = real_tolerance(c, self._far_origin) / 2
            lo = lo - slack
            hi = hi + slack
        return _within(e, lo, hi)

    def _no_overlap(self, c: NoOverlap) -> Iterator[Any]:
        if c.timed:
            members = [self.intervals[v.index] for v in c.intervals]
            sequence = sequence_var(members, list(range(len(members))))
            yield cp.no_overlap(sequence, transition_matrix(c.capped().transitions))
            return
        running = [self._running(v) for v in c.intervals if v.size_hi > 0]
        if len(running) > 1:
            yield cp.no_overlap(running)

    def _cumulative(self, c: Cumulative) -> Iterator[Any]:
        pulses = []
        for v, demand in zip(c.intervals, c.demands, strict=True):
            lo, hi = self._bounds.of(demand)
            if isinstance(demand, Linear):
                height = self._expression(demand)
            else:
                height = demand
            x = None
            if hi > 0:
                x = self._running(v)
            if x is None:
                continue
            pulse = cp.pulse(x, lo if lo == hi else (lo, hi))
            pulses.append(pulse)
            if lo < hi:
                tie = cp.height_at_start(x, pulse) == height
                yield cp.if_then(cp.presence_of(x), tie) if x.is_optional() else tie
        if pulses:
            fixed, peak = taken(c)
            yield cp.sum([*pulses, *fixed]) <= peak

    def _running(self, v: Interval) -> Any:
        """Return the native interval for v on a resource: itself, its shadow, or None if its size is always 0."""
        if v.size_lo > 0:
            return self.intervals[v.index]
        if v.size_hi > 0 and v.index not in self.shadows:
            self.shadows[v.index] = self._shadow(v, self.intervals[v.index])
        return self.shadows.get(v.index)

    def _shadow(self, v: Interval, x: Any) -> Any:
        lo, hi = v.start_lo, v.start_hi
        made = interval_var(
            start=(lo, hi),
            end=(lo + 1, hi + v.size_hi),
            size=(1, v.size_hi),
            optional=True,
            name=_written(f"{v.name}, running"),
        )
        self.named[id(made)] = v.name
        self.native.add(made)
        self._post(cp.presence_of(made) == (cp.length_of(x, 0) >= 1), v.name)
        self._post(cp.start_at_start(made, x), v.name)
        self._post(cp.end_at_end(made, x), v.name)
        return made

    def _expression(self, e: Linear) -> Any:
        """Return the native expression, or a number if the expression is constant."""
        for atom in atoms_below([e]):
            if atom not in self._atoms:
                self._atoms[atom] = self._atom(atom)
        return self._linear(e)

    def _linear(self, e: Linear) -> Any:
        """Return the sum as one flat node, because docplex recurses along chains of ``+``."""
        e = _with_presences(e)
        if not e.terms:
            return e.constant
        atoms = [self._atoms[a] for a in e.terms]
        coefficients = list(e.terms.values())
        if any(c != 1 for c in coefficients):
            if len(atoms) > 1:
                total = cp.scal_prod(coefficients, atoms)
            else:
                total = coefficients[0] * atoms[0]
        else:
            if len(atoms) > 1:
                total = cp.sum(atoms)
            else:
                total = atoms[0]
        if e.constant:
            return total + e.constant
        return total

    def _atom(self, atom: Atom) -> Any:
        match atom:
            case Integer():
                return self.integers[atom.index]
            case Attribute():
                return self._attribute(atom)
            case Overlap():
                x = self.intervals[atom.interval.index]
                # 0 for an absent interval too, as its start and end count as 0
                return cp.max([cp.min([cp.end_of(x, 0), atom.hi]) - cp.max([cp.start_of(x, 0), atom.lo]), 0])
            case Max() | Min():
                if isinstance(atom, Max):
                    pick = cp.max
                else:
                    pick = cp.min
                return pick([self._linear(e) for e in atom.operands])
            case Holds():
                c = in_lowest_terms(_with_merged_presences(atom.comparison))
                return _within(self._linear(c.expr), c.lo, c.hi)
            case Element():
                index = self._linear(atom.operands[0])
                self._guards.append(_within(index, 0, len(atom.array) - 1))
                return cp.element(list(atom.array), index)
            case Piecewise():
                x = self._linear(atom.operands[0])
                lo = atom.points[0][0]
                hi = atom.points[-1][0]
                if not atom.operands[0].integral:
                    slack = ROUNDING * max(1, abs(lo), abs(hi))
                else:
                    slack = 0
                self._guards.append(_within(x, lo - slack, hi + slack))
                return _piecewise(x, points_within(atom.points, *self._bounds.of(atom.operands[0])))
            case Product(operands=(left, right)):
                return self._linear(left) * self._linear(right)
            case Quotient() | Remainder():
                return self._division(atom)
            case Neighbours():
                return self._neighbours(atom)
            case Entry():
                index = self._linear(atom.operands[0])
                self._guards.append(_within(index, 0, len(atom.entries) - 1))
                if isinstance(index, int):
                    return self._linear(atom.entries[min(max(index, 0), len(atom.entries) - 1)])
                return cp.element([self._linear(e) for e in atom.entries], index)
            case _:
                raise WrongArgument(f"CP Optimizer has no lowering for {type(atom).__name__}")

    def _division(self, atom: Quotient | Remainder) -> Any:
        """Return a quotient or remainder of x by d; the engine rounds to 0, so x is made >= 0 by a multiple of d."""
        x, d = (self._linear(e) for e in atom.operands)
        low = self._bounds.of(atom.operands[0])[0]
        least, most = self._bounds.of(atom.operands[1])
        if most < 1:
            self._guards.append(cp.false())
            return 0
        if least < 1:
            self._guards.append(d >= 1)
            d = cp.max([d, 1])  # without it, the engine searches for values of a quotient by 0
        shift = max(0, -(low // max(1, least)))
        if shift:
            moved = x + shift * d
        else:
            moved = x
        if isinstance(atom, Remainder):
            return cp.mod(moved, d)
        if shift:
            return cp.int_div(moved, d) - shift
        return cp.int_div(moved, d)

    def _attribute(self, atom: Attribute) -> Any:
        x = self.intervals[atom.interval.index]
        match atom.field:
            case "start":
                return cp.start_of(x, 0)
            case "end":
                return cp.end_of(x, 0)
            case "size":
                if atom.interval.index in self.intense:
                    return cp.length_of(x, 0)
                return cp.size_of(x, 0)
            case _:
                return cp.presence_of(x)


def _with_merged_presences(c: Comparison) -> Comparison:
    e = _with_presences(c.expr)
    if e is c.expr or not e.terms:
        return c
    return Comparison(Linear(e.terms), c.lo - e.constant, c.hi - e.constant)


def _with_presences(e: Linear) -> Linear:
    """Return a sum in which the truth values of presences are the presences, each in one term.

    The engine of version 22.2 calls ``(presenceOf(x) == 1) + presenceOf(x) == 1`` feasible, which no value satisfies, also
    with ``presenceOf(x)`` twice.
    """
    if not any(isinstance(atom, Holds) for atom in e.terms):
        return e
    terms: dict[Atom, Number] = {}
    constant = e.constant
    for atom, factor in e.terms.items():
        present = _presence_in(atom)
        if present is None:
            terms[atom] = terms.get(atom, 0) + factor
            continue
        presence, is_negated = present
        if is_negated:
            constant += factor
        terms[presence] = terms.get(presence, 0) + (-factor if is_negated else factor)
    return Linear({atom: factor for atom, factor in terms.items() if factor}, constant)


def _presence_in(atom: Atom) -> tuple[Attribute, bool] | None:
    """Return the presence of which a truth value depends alone, and whether it is true if the interval is absent."""
    if not isinstance(atom, Holds):
        return None
    c = atom.comparison
    e = _with_presences(c.expr)
    if len(e.terms) != 1:
        return None
    ((inner, factor),) = e.terms.items()
    if not isinstance(inner, Attribute) or inner.field != "presence":
        return None
    absent, present = (c.lo <= factor * n + e.constant <= c.hi for n in (0, 1))
    if absent != present:
        return (inner, absent)
    return None


def _written(name: str) -> str:
    """Return a name without control characters: a line break or a zero ends a comment or a text of the engine's format."""
    return "".join(c if c.isprintable() else " " for c in name)


def _within(e: Any, lo: Number, hi: Number) -> Any:
    """Return ``lo <= e <= hi`` as a native constraint, which can also serve as a truth value; e may be a number."""
    if isinstance(e, (int, float)):
        if lo <= e <= hi:
            return cp.true()
        return cp.false()
    if lo == hi:
        return e == lo
    if math.isinf(lo):
        if math.isinf(hi):
            return cp.true()
        return e <= hi
    if math.isinf(hi):
        return e >= lo
    return cp.logical_and(e >= lo, e <= hi)


def _piecewise(x: Any, points: Sequence[Breakpoint]) -> Any:
    """Return a piecewise-linear function by one of the three formulas of the module's text."""
    slopes = [(y1 - y0) / (x1 - x0) for (x0, y0), (x1, y1) in pairwise(points)]
    if isinstance(x, (int, float)):
        at, values = np.array(points, dtype=np.float64).T
        return float(np.interp(x, at, values))
    least = min(y for _, y in points)
    greatest = max(y for _, y in points)
    for pick, bends, edge in ((cp.max, operator.le, least), (cp.min, operator.ge, greatest)):
        if all(bends(a, b) for a, b in pairwise(slopes)):
            return pick([*(s * (x - at) + y for s, (at, y) in zip(slopes, points[:-1], strict=True)), edge])
    return cp.max([cp.min([_hinges(x, points, slopes), greatest]), least])


def _hinges(x: Any, points: Sequence[Breakpoint], slopes: Sequence[float]) -> Any:
    """Return a piecewise-linear function as the sum of hinges of the module's text."""
    (x0, y0), inner = points[0], points[1:-1]
    turns = [after - before for before, after in pairwise(slopes)]
    bends = [cp.max([x - at, 0]) for at, _ in inner]
    return cp.scal_prod([slopes[0], *turns], [x - x0, *bends]) + y0


# --- One run of the CP Optimizer engine: its parameters, its callbacks, how it is stopped, its outcome.


RELATIVE = 1e-12  # relative gap at which an optimum is proven: of an objective without its offset; the default is 1e-4
ABSOLUTE = 1e-12  # absolute gap, for objectives near 0
SMALLEST_STEP = 1e-9  # tolerances below it, relative to the objective, are less than the precision of an answer
GRACE = 0.25  # seconds after the time limit or Ctrl-C at which an engine that does not stop is killed
START_SECONDS = 30.0  # longest time until the engine's first answer; docplex has 5
STATUSES: dict[str, Status] = {
    "Optimal": "optimal",
    "Feasible": "feasible",
    "Infeasible": "infeasible",
    "Unknown": "unknown",
}
UNKNOWN_BOUND = 2.0**53 - 1
TOO_LARGE = "Problem size limit exceeded"
FATES = {
    "Starting point is complete and consistent": WarmStart("accepted"),
    "Starting point was completed": WarmStart("repaired", "the engine completed the starting point"),
    "Starting point is not consistent": WarmStart(
        "rejected", "the engine found that it is not consistent with the constraints"
    ),
}
NOT_NEEDED = WarmStart("accepted", "the engine solved the model by propagation, before it used the starting point")
NOT_USED = WarmStart("rejected", "the engine ended before it used the starting point")


def parameters(limits: Limits) -> dict[str, Any]:
    """Return the engine's parameters. A deterministic limit is a number of branches (BranchLimit), with one worker."""
    chosen: dict[str, Any] = {
        "LogVerbosity": "Terse" if limits.log else "Quiet",
        "OptimalityTolerance": ABSOLUTE,
        "RelativeOptimalityTolerance": max(RELATIVE, limits.gap or 0.0),
        "RandomSeed": limits.seed % 2**31,
    }
    if limits.threads is not None:
        chosen["Workers"] = limits.threads
    if limits.time is not None:
        chosen["TimeLimit"] = limits.time
    if limits.deterministic is not None:
        chosen["Workers"] = 1
        chosen["BranchLimit"] = max(1, int(limits.deterministic))
    return chosen | dict(limits.parameters)


def start(engine: str, native: Any, log: SolverLog, **chosen: Any) -> Any:
    """Start an engine and return its ``CpoSolver``, which writes to ``log`` and never to the terminal."""
    return CpoSolver(
        native,
        agent="local",
        execfile=engine,
        process_start_timeout=START_SECONDS,
        listeners=None,
        log_output=log,
        trace_log=True,
        add_log_to_solution=False,
        add_source_location=False,
        add_conflict_as_cpo=False,
        **chosen,
    )


def known_bound(answer: Any) -> float | None:
    """Return the bound of an answer, or None: the engine gives numbers of 2^53 - 1 and more for an unknown bound."""
    bound: float | None = answer.get_objective_bound()
    if bound is None or abs(bound) >= UNKNOWN_BOUND:
        return None
    return bound


def proven_bound(answer: Any, chosen: dict[str, Any]) -> float | None:
    """Return the bound that an answer proves.

    A search that went through the whole tree proves its incumbent within the tolerances, and leaves the bound that the
    engine reports as it was.
    """
    bound = known_bound(answer)
    if answer.get_solve_status() != "Optimal" or bound is None:
        return bound
    value: float = answer.get_objective_value()
    tolerance: float = max(chosen["OptimalityTolerance"], chosen["RelativeOptimalityTolerance"] * abs(value))
    if tolerance < SMALLEST_STEP * max(1.0, abs(value)):
        return value
    if bound < value:
        return max(bound, value - tolerance)
    return min(bound, value + tolerance)


def _abort(solver: Any) -> None:
    """Make the engine stop its search, unless it has ended."""
    with suppress(OSError, CpoException):  # a closed pipe
        solver.abort_search()


class EngineRun(CpoCallback):  # type: ignore[misc]
    """One solve: it reports solutions and bounds to a Watch, and always ends the engine.

    Parameters
    ----------
    engine : str
        Path of the program ``cpoptimizer``.
    native : CpoModel
    read : callable
        Converts a native answer to an assignment.
    watch : Watch
    limits : Limits
    """

    def __init__(
        self, engine: str, native: Any, read: Callable[[Any], Assignment], watch: Watch, limits: Limits
    ) -> None:
        self.engine = engine
        self.native = native
        self.read = read
        self.watch = watch
        self.limits = limits
        self.overdue = False
        self.halted = False
        self.solver: Any = None

    def invoke(self, solver: Any, event: str, answer: Any) -> None:
        """Handle an event of the engine; docplex calls this in the thread that waits for the engine."""
        going = True
        bound = known_bound(answer)
        if event == EVENT_SOLUTION:
            going = self.watch.solution(self.read(answer), bound)
        elif event == EVENT_OBJ_BOUND and bound is not None:
            going = self.watch.bound(bound)
        if not going:
            _abort(solver)

    def halt(self) -> None:
        """Make the engine stop, and kill it if it does not; for other threads."""
        agent = getattr(self.solver, "agent", None)  # None before the start and after the end
        if agent is not None and not self.halted:
            self.halted = True
            killer = threading.Timer(GRACE, self._kill, [agent.process])
            killer.daemon = True
            killer.start()
            _abort(self.solver)

    def run(self) -> Outcome:
        """Solve within the limits, in the current thread."""
        log = SolverLog()
        solver, timers = None, []
        try:
            deadline = self.limits.deadline
            chosen = parameters(self.limits)
            solver = self.solver = start(self.engine, self.native, log, **chosen)
            timers = self._timers(solver, deadline)
            solver.add_callback(self)
            outcome = self._outcome(solver.solve(), chosen)
        except (CpoException, OSError) as e:
            outcome = self._failure(e, solver)
        finally:
            for timer in timers:
                timer.cancel()
            if solver is not None:
                solver.end()
        outcome.log = log.text()
        if not self.limits.log:
            return outcome
        if outcome.status in ("optimal", "feasible"):
            silent = NOT_NEEDED
        else:
            silent = NOT_USED
        outcome.warm = next((fate for text, fate in FATES.items() if text in outcome.log), silent)
        return outcome

    def _timers(self, solver: Any, deadline: Deadline) -> list[threading.Timer]:
        """Start timers for the time limit: the engine's own clock starts only after docplex has written the model."""
        left = deadline.remaining
        if left is None:
            return []
        timers = [
            threading.Timer(left, _abort, [solver]),
            threading.Timer(left + GRACE, self._kill, [solver.agent.process]),
        ]
        for timer in timers:
            timer.daemon = True
            timer.start()
        return timers

    def _kill(self, process: Any) -> None:
        self.overdue = True
        process.kill()

    def _outcome(self, answer: Any, chosen: dict[str, Any]) -> Outcome:
        status = STATUSES.get(answer.get_solve_status(), "error")
        if answer.is_solution():
            self.watch.solution(self.read(answer), known_bound(answer))
        message = ""
        if status == "error":
            message = str(answer.get_fail_status())
        return Outcome(status, proven_bound(answer, chosen), message=message)

    def _failure(self, e: Exception, solver: Any) -> Outcome:
        if self.overdue:
            return Outcome(
                "unknown", message=f"the engine did not stop at its time limit; it was killed {GRACE:g} s later"
            )
        reason = " ".join(str(e).split())
        # also None after an error that the engine reported itself
        process = None
        if solver is not None:
            process = solver.agent.process
        if process is not None:
            process.kill()
            reason = f"the engine ended unexpectedly, with exit code {process.wait()}: {reason}"
        return Outcome("unavailable" if TOO_LARGE in reason else "error", message=reason)


def refine_conflict(engine: str, native: Any, named: dict[int, str], time_limit: float | None) -> Conflict:
    """Find a minimal set of constraints and domains that cannot hold together.

    Parameters
    ----------
    engine : str
        Path of the program ``cpoptimizer``.
    native : CpoModel
    named : dict of int to str
        Name of each native constraint and variable, by its ``id``.
    time_limit : float or None
        Wall time in seconds; None: no limit.

    Returns
    -------
    Conflict
    """
    limit = {}
    if time_limit is not None:
        limit = {"ConflictRefinerTimeLimit": time_limit, "TimeLimit": time_limit}
    solver, killer = None, None
    try:
        solver = start(engine, native, SolverLog(), ConflictRefinerOnVariables="On", **limit)
        if time_limit is not None:
            killer = threading.Timer(time_limit + GRACE, solver.agent.process.kill)
            killer.start()
        answer = solver.refine_conflict()
    except (CpoException, OSError) as e:
        return Conflict(None, f"the conflict refiner of CP Optimizer failed: {' '.join(str(e).split())}")
    finally:
        if killer is not None:
            killer.cancel()
        if solver is not None:
            solver.end()
    constraints = [*answer.get_all_member_constraints(), *answer.get_all_possible_constraints()]
    variables = [*answer.get_all_member_variables(), *answer.get_all_possible_variables()]
    names = tuple(dict.fromkeys(named[id(e)] for e in [*constraints, *variables] if id(e) in named))
    if not names:
        return Conflict(None, "the conflict refiner of CP Optimizer found no conflict in its time")
    minimal = answer.get_conflict_status() == "TerminatedNormally"
    kind = "a conflict, not yet minimal when the time ended,"
    if minimal:
        kind = "a minimal conflict"
    return Conflict(names, f"{kind} by the word of CP Optimizer")
