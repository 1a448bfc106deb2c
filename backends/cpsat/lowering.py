"""The lowering of a model to CP-SAT: intervals, constraints and the objective, nearly one to one.

The lowering of options of an ``alternative`` is stated in ``alternatives``, that of demands in ``demands``, that of
forbidden extents and transition times in ``forbidden``.

A capacity that varies over time, ``cap(t)`` with the greatest value C, becomes the constant capacity C with a fixed
interval of demand ``C - c`` in each segment of time where ``cap(t) = c < C``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from ...models.language import (
    AllOrNone,
    Alternative,
    Assignment,
    Comparison,
    Cumulative,
    ForbidExtent,
    Interval,
    Linear,
    Model,
    NoOverlap,
    Precedence,
    Synchronize,
)
from ...models.language.clock import look
from ...models.language.constraints import Constraint
from ...models.language.offsets import far_origin, real_tolerance
from .alternatives import Choices, Row, masters
from .bulk import add_cumulative, add_intervals, add_starts, add_variables
from .demands import Demands, segments
from .expressions import CpSatExpressions
from .forbidden import forbid_extent, transitions
from .native import Form, NativeModel, NumberRangeError, WholeForm
from .objective import Objective, set_objective


class NativeInterval(NamedTuple):
    """An interval in CP-SAT: its variables (size and end may be a number or an expression) and its ``IntervalVar``.

    ``presence`` is None for an interval that is not optional. The start of an absent interval is free.
    """

    start: Any
    size: Any
    end: Any
    presence: Any
    interval: Any


class CpSatLowering:
    """A model as a CpModel.

    With ``guarded``, each constraint holds only under a literal of its own: ``guards[k]`` for constraint k, the last
    one for the objective. ``fault`` names a constraint with numbers beyond 64 bits, which the native model then lacks.
    """

    def __init__(self, model: Model, *, guarded: bool = False) -> None:
        self.model = model
        self.guarded = guarded
        self.native = NativeModel(model.name)
        self.far_origin = far_origin(model)
        self.expressions = CpSatExpressions(self.native, self.far_origin)
        self.objective: Objective | None = None
        self.guards: list[int] = []
        self.fault = ""
        self.scaled: list[str] = []
        self.shares: dict[int, int] = {}
        self.intervals: dict[int, Any] = {}
        self.rows: dict[int, int] = {}  # the constraints of intervals that were made many at once
        self.choices = Choices((), self.native, [])
        self._spans: dict[tuple[int, int, int], tuple[Any, Any, Any]] = {}
        self._occupying: dict[tuple[int, tuple[int, ...], tuple[int, ...]], Any] = {}
        self._taking_part: dict[tuple[int, tuple[int, ...]], int] = {}
        self._running: dict[tuple[int, tuple[int, ...], tuple[int, ...]], int] = {}
        self._demands = Demands(self.native, self.expressions)
        try:
            self._variables()
        except NumberRangeError as e:
            self.fault = f"a variable of {model.name!r} is too large for CP-SAT: {e}"
            return
        for name, constraint in model.constraints:
            self._guarded(name, lambda name=name, c=constraint: self._constraint(name, c))
        for aim in model.objectives[:1]:
            self._guarded("the objective", lambda aim=aim: self._set_objective(aim))

    def _guarded(self, name: str, lower: Any) -> None:
        look()
        if self.guarded:
            self.expressions.forget()
            self.guards.append(self.native.boolean(""))
            self.native.guard = (self.guards[-1],)
        try:
            lower()
        except NumberRangeError as e:
            self.fault = self.fault or f"{name}: the numbers are too large for CP-SAT's 64-bit arithmetic: {e}"

    def _variables(self) -> None:
        e, native, model = self.expressions, self.native, self.model
        n = len(model.intervals)
        e.start, e.size, e.end, e.presence = [-1] * n, [-1] * n, [-1] * n, [-1] * n
        self.shares = master = {} if self.guarded else masters(model)
        add_starts(self)
        for i, v in enumerate(model.intervals):
            if v.optional:
                e.presence[i] = native.boolean(f"{v.name} present")
            if i in master or e.start[i] >= 0:
                continue
            lo, hi = (windows := v.windows)[0][0], windows[-1][1]
            e.start[i] = native.constant(lo) if lo == hi else native.variable(windows, v.name)
            if v.size_lo < v.size_hi:
                e.size[i] = native.variable(((v.size_lo, v.size_hi),), f"{v.name} size")
                e.end[i] = native.variable(((lo + v.size_lo, hi + v.size_hi),), f"{v.name} end")
                native.inside(WholeForm({e.start[i]: 1, e.size[i]: 1, e.end[i]: -1}, 0), [(0, 0)], ())
        for i, root in master.items():
            e.start[i], e.size[i], e.end[i] = e.start[root], e.size[root], e.end[root]
            windows = model.intervals[i].windows
            if windows != model.intervals[root].windows:
                native.inside(WholeForm({e.start[i]: 1}, 0), windows, (e.presence[i],))
        if not self.guarded:
            self.choices = Choices(model.constraints, native, e.presence)
        e.integer = list(add_variables(native, [(((x.lo, x.hi),), x.name) for x in model.integers]))

    def present(self, v: Interval) -> tuple[int, ...]:
        """Return the presence literal of an interval; nothing if it is not optional."""
        p = self.expressions.presence[v.index]
        return (p,) if p >= 0 else ()

    def edge(self, v: Interval, field: str) -> Form:
        """Return the native start or end, which is free if the interval is absent."""
        e, i = self.expressions, v.index
        if field == "start":
            return Form({e.start[i]: 1})
        return Form({e.end[i]: 1}) if e.end[i] >= 0 else Form({e.start[i]: 1}, v.size_lo)

    def interval(self, v: Interval) -> Any:
        """Return the native interval variable, made at the first call."""
        found = self.intervals.get(v.index)
        if found is None:
            row = self.rows.get(v.index)
            if row is None:
                found = self.span_interval(v, self.expressions.presence[v.index])
            else:
                found = self.native.model.get_interval_var_from_proto_index(row)
            self.intervals[v.index] = found
        return found

    def native_interval(self, v: Interval) -> NativeInterval:
        """Return all native objects of an interval of the model."""
        p = self.expressions.presence[v.index]
        return NativeInterval(*self._span(v), self.native.vars[p] if p >= 0 else None, self.interval(v))

    def _span(self, v: Interval) -> tuple[Any, Any, Any]:
        """Return the native start, size and end; intervals that share a start and a size get the same objects."""
        e, i = self.expressions, v.index
        key = (e.start[i], e.size[i], v.size_lo)
        found = self._spans.get(key)
        if found is None:
            lo, hi, native = self.native.lo[e.start[i]], self.native.hi[e.start[i]], self.native.vars
            start = native[e.start[i]]
            found = (start, v.size_lo, (start if lo < hi else lo) + v.size_lo)
            if e.size[i] >= 0:
                found = (start, native[e.size[i]], native[e.end[i]])
            self._spans[key] = found
        return found

    def span_interval(self, v: Interval, presence: int, after: int = 0) -> Any:
        """Return a native interval with the start and end of v, present if the literal holds (-1: always).

        It ends ``after`` seconds after the end of v.
        """
        start, size, end = self._span(v)
        if after:
            size, end = size + after, end + after
        if presence < 0:
            return self.native.model.new_interval_var(start, size, end, v.name)
        return self.native.model.new_optional_interval_var(start, size, end, self.native.vars[presence], v.name)

    def _constraint(self, name: str, constraint: Constraint) -> None:
        match constraint:
            case Comparison():
                self._comparison(name, constraint)
            case Alternative():
                self._alternative(constraint)
            case Cumulative():
                self._cumulative(constraint)
            case NoOverlap(intervals):
                if constraint.transitions:
                    transitions(self, constraint)
                else:
                    occupying, _ = self._rows(intervals, [1] * len(intervals))
                    self.native.model.add_no_overlap(occupying)
            case AllOrNone(intervals):
                presence = self.expressions.presence
                for v, w in pairwise(intervals):
                    self.native.equal(presence[v.index], presence[w.index])
            case ForbidExtent():
                forbid_extent(self, constraint)
            case Synchronize(v, others):
                for other in others:
                    self._together(other, v, (*self.present(other), *self.present(v)))
            case Precedence():
                self._precedence(constraint)

    def _comparison(self, name: str, c: Comparison) -> None:
        f = self.expressions.form(c.expr)
        if c.integral:
            self.native.require(f, c.lo, c.hi)
            return
        self.native.require(f, c.lo, c.hi, slack=real_tolerance(c, self.far_origin) / 2)
        self.scaled.append(name)

    def _alternative(self, c: Alternative) -> None:
        chosen = [self.expressions.presence[o.index] for o in c.options]
        own = self.present(c.interval)
        if c.count == 1 and not self.guarded:
            self.native.exactly_one([*chosen, *(~p for p in own)])
        else:
            terms: dict[int, Any] = dict.fromkeys(chosen, 1)
            terms.update(dict.fromkeys(own, -c.count))
            wanted = 0 if own else c.count
            self.native.require(Form(terms), wanted, wanted)
        for o in c.options:
            if o.index not in self.shares:
                self._together(o, c.interval, self.present(o))

    def _together(self, v: Interval, w: Interval, when: tuple[int, ...]) -> None:
        """Require the same start and end, if all literals hold."""
        fixed = v.size_lo == v.size_hi == w.size_lo == w.size_hi
        for field in ("start",) if fixed else ("start", "end"):
            left, right = self.edge(v, field), self.edge(w, field)
            terms = Counter(left.terms)
            terms.subtract(right.terms)
            self.native.require(Form(dict(terms), left.constant - right.constant), 0, 0, when)

    def _precedence(self, c: Precedence) -> None:
        left, right = self.edge(c.before, c.fields[0]), self.edge(c.after, c.fields[1])
        terms = Counter(right.terms)
        terms.subtract(left.terms)
        when = (*self.present(c.before), *self.present(c.after))
        most = float("inf") if c.at_most is None else c.at_most
        self.native.require(Form(dict(terms), right.constant - left.constant), c.delay, most, when)

    def _cumulative(self, c: Cumulative) -> None:
        if add_cumulative(self, c):
            return
        intervals, demands = self._rows(c.intervals, c.demands)
        self.native.nonzeros += len(intervals)
        most = max(capacity for _, capacity in c.steps)
        if len(c.steps) > 1:
            for start, end, capacity in segments(c):
                if capacity < most:
                    intervals.append(self.native.model.new_fixed_size_interval_var(start, end - start, ""))
                    demands.append(most - capacity)
        self.native.model.add_cumulative(intervals, demands, most)

    def _rows(self, members: Sequence[Interval], amounts: Sequence[int | Linear]) -> tuple[list[Any], list[Any]]:
        """Return the native intervals on a resource, and their demands."""
        intervals, demands = [], []
        rows: Iterable[Row] = zip(members, amounts, strict=True)
        if self.choices.shared(members):
            several, rows = self.choices.groups(rows)
            for group in several:
                interval, demand = self._chosen(group)
                intervals.append(interval)
                demands.append(demand)
        elif not self.guarded:
            add_intervals(self, members)
        for v, demand in rows:
            if type(demand) is int and v.index in self.rows and not self.guarded:
                if demand:
                    intervals.append(self.interval(v))
                    demands.append(demand)
                continue
            also, height = self._demands.lower(demand) if isinstance(demand, Linear) else ((), demand)
            if type(height) is int and not height:
                continue
            found = self.occupying_interval(v, also)
            if found is not None:
                intervals.append(found)
                demands.append(height)
        return intervals, demands

    def _chosen(self, group: Sequence[Row]) -> tuple[Any, Any]:
        """Return (interval, demand) for several options of one alternative: their master, if one of them is chosen."""
        choices = self.choices
        c, present = choices.alternative(group), choices.any_of(group)
        key = (c.interval.index, (present,), ())
        if key not in self._occupying:
            self._occupying[key] = self.span_interval(c.interval, present)
            choices.add_size(c, self.expressions.size[c.interval.index])
        return self._occupying[key], choices.demand(group, present)

    def occupying_interval(self, v: Interval, also: tuple[int, ...] = ()) -> Any:
        """Return the interval under its presence, size > 0, ``also`` and the guard; None if its size is always 0."""
        if v.size_hi == 0:
            return None
        if v.size_lo > 0 and not self.guarded and not also:
            return self.interval(v)
        key = (v.index, also, self.native.guard)
        if key not in self._occupying:
            self._occupying[key] = self.span_interval(v, self.running(v, also))
        return self._occupying[key]

    def taking_part(self, v: Interval) -> int:
        """Return a literal: v is present and the guard holds; -1 if both are always so."""
        conditions = (*self.present(v), *self.native.guard)
        if len(conditions) < 2:
            return conditions[0] if conditions else -1
        key = (v.index, conditions)
        if key not in self._taking_part:
            self._taking_part[key] = self.native.all_of(list(conditions))
        return self._taking_part[key]

    def running(self, v: Interval, also: tuple[int, ...] = ()) -> int:
        """Return a literal: v is present, its size above 0, ``also`` and the guard hold; -1 if all that is always so."""
        key = (v.index, also, self.native.guard)
        if key not in self._running:
            conditions = [*self.present(v), *also, *self.native.guard]
            if v.size_lo == 0:
                conditions.append(self._positive(v))
            self._running[key] = self.native.all_of(conditions) if conditions else -1
        return self._running[key]

    def _positive(self, v: Interval) -> int:
        """Return a literal: the native size is above 0."""
        size = self.expressions.size[v.index]
        positive = self.native.boolean("", lambda values: int(values[size] > 0))
        self.native.inside(WholeForm({size: 1}, 0), [(1, v.size_hi)], (positive,))
        self.native.inside(WholeForm({size: 1}, 0), [(0, 0)], (~positive,))
        return positive

    def _set_objective(self, aim: Linear) -> None:
        self.objective = set_objective(self.native, self.expressions.form(aim), self.model.sense == "maximize")

    def hint(self, assignment: Assignment) -> list[int]:
        """Return the values of all native variables, by index; starts of absent intervals get their least value."""
        e = self.expressions
        values = list(self.native.lo)
        for i in range(len(self.model.intervals)):
            present = assignment.present[i]
            if e.presence[i] >= 0:
                values[e.presence[i]] = int(present)
            if not present or i in self.shares:
                continue
            start, end = assignment.start[i], assignment.end[i]
            values[e.start[i]] = start
            if e.size[i] >= 0:
                values[e.size[i]], values[e.end[i]] = end - start, end
        for x, value in zip(e.integer, assignment.integer, strict=True):
            values[x] = value
        return self.native.complete(values)
