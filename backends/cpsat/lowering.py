"""The lowering of a model to CP-SAT: intervals, constraints and the objective, nearly one to one."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from itertools import combinations, pairwise
from typing import Any, NamedTuple, TypeVar

from ...models.language import (
    AllDifferent,
    AllOrNone,
    Alternative,
    Assignment,
    Comparison,
    Cumulative,
    DirectTransitions,
    ForbidExtent,
    Integer,
    Interval,
    Level,
    Linear,
    Model,
    NoIdle,
    NoOverlap,
    Order,
    Precedence,
    SameSequence,
    Stated,
    StateFunction,
    Synchronize,
    Table,
)
from ...models.language.constraints import Constraint
from ...models.language.expressions import Atom, Attribute, Max, Window
from ...models.language.semantics import real_tolerance
from ...models.long_calls import look
from ..base import MissingConstruct
from ..decompositions.decomposition import NOT_RESERVOIR, of_level
from .constraints import Sequences, stated
from .expressions import (
    CpSatExpressions,
    Form,
    NativeModel,
    NumberRangeError,
    Objective,
    WholeForm,
    message,
    set_objective,
)

# --- Many native variables, intervals and demands at once.
#
# A call of ortools for one variable takes 4 us, for one interval 6 us. Here one message is filled in again and again, and
# copies of it are appended to the ``CpModelProto``: 1 us and 2 us. The Python objects of ortools that stand for variables and
# intervals are made when they are first used.


T = TypeVar("T")
TRUTH = ((0, 1),)
"""The windows of a 0-1 variable."""


def add_variables(native: NativeModel, rows: Sequence[tuple[tuple[Window, ...], str]]) -> range:
    """Add variables of the model.

    Parameters
    ----------
    native : NativeModel
        The model under construction.
    rows : sequence of (windows, str)
        The domain and the name of each variable.

    Returns
    -------
    range
        Their indices.
    """
    first = len(native.lo)
    templates = {}
    for windows in {windows for windows, _ in rows}:
        templates[windows] = made = message("variables")
        made.domain.extend(native.domain(windows).flattened_intervals())
    append = native.model.proto.variables.append
    for windows, name in rows:
        look()
        made = templates[windows]
        made.name = name
        append(made)
    native.vars.add(len(rows))
    native.lo += [windows[0][0] for windows, _ in rows]
    native.hi += [windows[-1][1] for windows, _ in rows]
    return range(first, first + len(rows))


def add_intervals(lowering: CpSatLowering, members: Iterable[Interval]) -> None:
    """Make the native intervals of those members that have none and a fixed size above 0.

    They are made in groups: optional or not, with a variable start or a fixed one.
    """
    e = lowering.expressions
    known = lowering.rows
    lo = lowering.native.lo
    hi = lowering.native.hi
    presence = e.presence
    sizes = e.size
    start = e.start
    kinds = [(optional, fixed) for optional in (False, True) for fixed in (False, True)]
    groups: dict[tuple[bool, bool], list[tuple[Interval, int]]] = {kind: [] for kind in kinds}
    for v in members:
        i = v.index
        if i not in known and sizes[i] < 0 < v.size_lo and i not in lowering.intervals:
            k = start[i]
            groups[presence[i] >= 0, lo[k] == hi[k]].append((v, k))
    for (optional, fixed), rows in groups.items():
        if rows:
            _append(lowering, rows, optional, fixed)


def _append(lowering: CpSatLowering, rows: Sequence[tuple[Interval, int]], optional: bool, fixed: bool) -> None:
    """Append the intervals with these start variables to the native model; ``fixed``: their ends are numbers."""
    known = lowering.rows
    presence = lowering.expressions.presence
    lo = lowering.native.lo
    constraints = lowering.native.model.proto.constraints
    made = message("constraints")
    append = constraints.append
    start = made.interval.start
    end = made.interval.end
    size = made.interval.size
    for edge in (start,) if fixed else (start, end):
        edge.vars.append(0)
        edge.coeffs.append(1)
    if optional:
        made.enforcement_literal.append(0)
    start_vars = start.vars
    end_vars = end.vars
    literals = made.enforcement_literal
    for row, (v, k) in enumerate(rows, len(constraints)):
        look()
        start_vars[0] = k
        if fixed:
            end.offset = lo[k] + v.size_lo
        else:
            end_vars[0] = k
            end.offset = v.size_lo
        if optional:
            literals[0] = presence[v.index]
        size.offset = v.size_lo
        made.name = v.name
        append(made)
        known[v.index] = row


def add_cumulative(lowering: CpSatLowering, c: Cumulative) -> bool:
    """Post a cumulative of one capacity whose intervals ``add_intervals`` makes and whose demands are numbers.

    Returns
    -------
    bool
        Whether it is such a cumulative; if not, nothing is posted.
    """
    plain = len(c.steps) == 1 and not lowering.guarded and set(map(type, c.demands)) == {int}
    if not plain or lowering.choices.shared(c.intervals):
        return False
    add_intervals(lowering, c.intervals)
    known = lowering.rows
    if not known.keys() >= {v.index for v in c.intervals}:
        return False
    rows = [(known[v.index], amount) for v, amount in zip(c.intervals, c.demands, strict=True) if amount]
    posted = lowering.native.model.proto.constraints.add().cumulative
    posted.capacity.offset = c.steps[0][1]
    posted.intervals.extend([row for row, _ in rows])
    demand = message("constraints").interval.size
    append = posted.demands.append
    for _, demand.offset in rows:
        append(demand)
    lowering.native.nonzeros += len(rows)
    return True


# --- Demands and capacities of ``cumulative`` in CP-SAT: each demand becomes a number or one variable, with a literal for "above 0".
#
# CP-SAT takes a demand that is a constant or ``c x + b`` with one variable x. CP-SAT 9.15 also keeps an interval whose
# demand is 0 away from where others take the whole capacity, unless the interval is absent: it calls the intervals [2, 4)
# with demand 0..2 and [0, 6) with demand 2, on capacity 2, infeasible. In the language such an interval takes no part.
#
# Data
#     D         linear expression of a demand, over integer variables y
#     v         the interval with this demand, with presence p[v]
# New variables
#     w = D     if D has two or more variables; else w stands for D itself
#     q         1 if the demand is above 0; only if the demand can be 0 and its variable has more than two values
# Constraints
#     w = sum_k c[k] y[k] + b
#     q = 1  =>  w >= 1
#     q = 0  =>  w <= 0
#     interval of v in the cumulative: present if and only if p[v] = 1 and q = 1, with demand w


class Demands:
    """The lowering of demands. All cumulative constraints share the literals q of the module's text."""

    def __init__(self, native: NativeModel, expressions: CpSatExpressions) -> None:
        self.native, self.expressions = native, expressions
        self._above_zero: dict[tuple[int, int, bool], int] = {}

    def lower(self, demand: Linear) -> tuple[tuple[int, ...], Any]:
        """Return (the literal q, if it is needed; the native demand: an integer or an expression of one variable)."""
        if len(demand.terms) == 1 and not demand.constant:
            ((atom, factor),) = demand.terms.items()
            if type(atom) is Integer and type(factor) is int and factor > 0:  # the most common case, made fast
                x = self.expressions.integer[atom.index]
                return self._above(x), self.native.multiple(x, factor)
        w = self.native.whole(self.expressions.form(demand), 1)
        low, high = self.native.bounds(w)
        if len(w.terms) > 1 or low < 0:
            # no demand is negative, but the bounds of its native form can be: those of a difference, for example
            total = self.native.variable(((max(low, 0), high),), "", w.value)
            self.native.inside(WholeForm({**w.terms, total: -1}, w.constant), [(0, 0)], ())
            w = WholeForm({total: 1}, 0)
        return self._demanding(w), self.native.expression(w) if w.terms else w.constant

    def _above(self, x: int) -> tuple[int, ...]:
        """Return the same as ``_demanding`` for a positive multiple of variable x."""
        if self.native.lo[x] > 0 or self.native.hi[x] <= 1:
            return ()
        key = (x, 1, True)
        if key not in self._above_zero:
            self._above_zero[key] = self.native.positive(x)
        return (self._above_zero[key],)

    def _demanding(self, w: WholeForm) -> tuple[int, ...]:
        """Return the literal q of a demand that can be 0; none for a constant or for a 0-1 variable times a number."""
        low, high = self.native.bounds(w)
        if low > 0 or not w.terms:
            return ()
        ((x, c),) = w.terms.items()
        if self.native.hi[x] - self.native.lo[x] <= 1 or high <= 0:
            return ()
        edge = (1 - w.constant) / c  # demands with the same edge are above 0 together and share q
        key = (x, math.ceil(edge) if c > 0 else math.floor(edge), c > 0)
        if key not in self._above_zero:
            literal = self.native.boolean("", lambda values: int(w.value(values) > 0))
            self.native.inside(w, [(1, high)], (literal,))
            self.native.inside(w, [(low, 0)], (~literal,))
            self._above_zero[key] = literal
        return (self._above_zero[key],)


def segments(c: Cumulative) -> Iterable[tuple[int, int, int]]:
    """Yield (from, to, capacity) of each segment of time, within the time range of the intervals."""
    low = min((v.start_lo for v in c.intervals), default=0)
    high = max((v.start_hi + v.size_hi for v in c.intervals), default=0)
    for k, (time, capacity) in enumerate(c.steps):
        if k == 0:
            start = low
        else:
            start = max(low, time)
        if k + 1 == len(c.steps):
            end = high
        else:
            end = min(high, c.steps[k + 1][0])
        if start < end:
            yield start, end, capacity


# --- A redundant row for objectives that sum times, such as weighted tardiness: the ends on a resource, weighted by the work.
#
# For intervals i that are always present, with fixed sizes z[i] and demands d[i], on a resource of capacity C that none of
# them uses before the time t, let w[i] = d[i] z[i] be the work, and W its sum. The work of i is done at s[i] + z[i] / 2 on
# the average. The average over all work is least if it is done at full capacity from t on, until t + W / C, so that
#
#     sum_i w[i] (e[i] - z[i] / 2) >= W (t + W / (2 C))
#
# On one machine this is Smith's rule for weights that are the sizes. Without it the linear relaxation does not see that
# the intervals are late one after another, and CP-SAT's bound on the sum of 10 tardinesses of a 10 x 5 job shop is near 0.


LARGEST_WORK = 2**50  # of the row; with greater numbers it is left out


def sums_times(model: Model) -> bool:
    """Return whether the first objective is the better the earlier several times are: a sum of them, or of their functions."""
    if not model.objectives:
        return False
    sign = -1
    if model.sense == "minimize":
        sign = 1
    late = [a for a, c in model.objectives[0].terms.items() if sign * c > 0 and _is_time(a)]
    return len(late) > 1


def _is_time(a: Atom) -> bool:
    return isinstance(a, Max) or (isinstance(a, Attribute) and a.field in ("start", "end"))


def work_done(
    lowering: CpSatLowering, members: Sequence[Interval], demands: Sequence[int | Linear], capacity: int
) -> None:
    """Post that the intervals on a resource cannot all end early."""
    work = {
        v: d * v.size_lo
        for v, d in zip(members, demands, strict=True)
        if isinstance(d, int) and d * v.size_lo > 0 and v.size_lo == v.size_hi and not v.optional
    }
    if len(work) < 2 or capacity < 1:
        return
    total = sum(work.values())
    begin = min(v.start_lo for v in work)
    reach = max(abs(begin), *(abs(v.start_hi) + v.size_hi for v in work))
    if max(capacity, total) * reach > LARGEST_WORK:
        return
    twice = 2 * capacity * total * begin + total * total + capacity * sum(w * v.size_lo for v, w in work.items())
    terms: Counter[int] = Counter()
    constant = 0
    for v, w in work.items():
        end = lowering.edge(v, "end")
        constant += w * int(end.constant)
        for i, factor in end.terms.items():
            terms[i] += w * int(factor)
    lowering.native.require(Form(dict(terms), constant), -(-twice // (2 * capacity)), float("inf"))


# --- Forbidden extents and transition times in CP-SAT, which has neither.
#
# For an interval i, ``s[i]``, ``e[i]`` are its start and end, and ``r[i]`` the literal that it is present with a positive
# size (and, in the search for a conflict, that the constraint is switched on).
#
# Forbid extent
# -------------
# With the forbidden windows ``[lo, hi)``, an interval of fixed size D > 0, and one of variable size::
#
#     p[i] = 1  =>  s[i] is in no window [lo - D + 1, hi - 1]
#     no_overlap(i if r[i], the fixed intervals [lo, hi))
#
# Transition times
# ----------------
# For a no_overlap with the times ``t[i,j]``, ``m[i] = min_j t[i,j]`` over the other intervals j, and the presence p (with
# the same condition in the search for a conflict). If ``m[i] = 0``, r takes the place of p in the first row::
#
#     no_overlap(interval from s[i] to e[i] + m[i], if p[i])                               redundant, but it propagates
#     p[i] and p[j] and b[i,j]       =>  e[i] + t[i,j] <= s[j]
#     p[i] and p[j] and not b[i,j]   =>  e[j] + t[j,i] <= s[i]
#
# for each pair i, j for which ``t[i,j] > m[i]`` or ``t[j,i] > m[j]`` or the least size and m of i or j are 0, with a new
# literal b; for the others the no_overlap is enough. n points with times on a cycle (``NoOverlap.cyclic_points``) have ranks
# q in {0, ..., n - 1}. For each pair of them with exactly one time above 0::
#
#     p[i] and p[j] and b[i,j]       =>  q[i] + 1 <= q[j]
#     p[i] and p[j] and not b[i,j]   =>  q[j] + 1 <= q[i]


def forbid_extent(lowering: CpSatLowering, c: ForbidExtent) -> None:
    """Post a forbid_extent."""
    v = c.interval
    native = lowering.native
    windows = c.within_reach()
    if not windows or v.size_hi == 0:
        return
    if v.size_lo < v.size_hi:
        fixed = [native.model.new_fixed_size_interval_var(lo, hi - lo, "") for lo, hi in windows]
        native.model.add_no_overlap([lowering.occupying_interval(v), *fixed])
        return
    edges = [v.start_lo, *(t for lo, hi in windows for t in (lo - v.size_lo, hi)), v.start_hi]
    allowed = zip(edges[::2], edges[1::2], strict=True)  # those that are empty are left out by ``inside``
    start = WholeForm({lowering.expressions.start[v.index]: 1}, 0)
    native.inside(start, allowed, (*lowering.present(v), *native.guard))


def transitions(lowering: CpSatLowering, c: NoOverlap) -> None:
    """Post a no_overlap with transition times."""
    c = c.capped()
    n = len(c.intervals)
    least = [min((c.transition(i, j) for j in range(n) if j != i), default=0) for i in range(n)]
    spans = []
    for v, after in zip(c.intervals, least, strict=True):
        if v.size_hi + after > 0:
            if after:
                literal = lowering.taking_part(v)
            else:
                literal = lowering.running(v)
            spans.append(lowering.span_interval(v, literal, after))
    lowering.native.model.add_no_overlap(spans)
    cycles = c.cyclic_points()
    ranks = {k: q for some in cycles for k, q in zip(some, _ranks(lowering, c, some), strict=True)}
    cyclic = {pair for some in cycles for pair in combinations(some, 2)}
    for i, j in combinations(range(n), 2):
        forth = c.transition(i, j)
        back = c.transition(j, i)
        points = any(c.intervals[k].size_lo + least[k] == 0 for k in (i, j))
        if points or forth > least[i] or back > least[j]:
            when = tuple(p for k in (i, j) if (p := lowering.taking_part(c.intervals[k])) >= 0)
            first = _order(lowering, (c.intervals[i], c.intervals[j]), (forth, back), when)
            if (i, j) in cyclic and bool(forth) != bool(back):
                lowering.native.require(Form({ranks[j]: 1, ranks[i]: -1}), 1, float("inf"), (first, *when))
                lowering.native.require(Form({ranks[i]: 1, ranks[j]: -1}), 1, float("inf"), (~first, *when))


def _ranks(lowering: CpSatLowering, c: NoOverlap, some: tuple[int, ...]) -> list[int]:
    """Make the variables of the ranks of the intervals at some positions."""
    part = c.part(some)
    edges = [(lowering.edge(v, "start"), lowering.edge(v, "end"), lowering.present(v)) for v in part.intervals]

    def rank(k: int, values: Sequence[int]) -> int:
        spans = [
            (_value(start, values), _value(end, values)) if all(values[p] for p in present) else None
            for start, end, present in edges
        ]
        order = part.sequence(spans) or []
        if k in order:
            return order.index(k)
        return 0

    native = lowering.native
    last = len(some) - 1
    return [native.variable(((0, last),), "", partial(rank, k)) for k in range(len(some))]


def _positive_value(w: WholeForm, values: list[int]) -> int:
    return int(w.value(values) > 0)


def _value(f: Form, values: Sequence[int]) -> int:
    return int(sum(factor * values[x] for x, factor in f.terms.items()) + f.constant)


def _order(
    lowering: CpSatLowering, pair: tuple[Interval, Interval], times: tuple[int, int], when: tuple[int, ...]
) -> int:
    """Post the two orders of a pair of intervals under a new literal and its negation; return the literal."""
    native, (v, w) = lowering.native, pair
    gap = _gap(lowering, v, w)
    whole = native.whole(gap, 1)
    first = native.boolean("", lambda values: int(whole.value(values) >= times[0]))
    native.require(gap, times[0], float("inf"), (first, *when))
    native.require(_gap(lowering, w, v), times[1], float("inf"), (~first, *when))
    return first


def _gap(lowering: CpSatLowering, v: Interval, w: Interval) -> Form:
    """Return the start of w minus the end of v."""
    left = lowering.edge(v, "end")
    right = lowering.edge(w, "start")
    terms = Counter(right.terms)
    terms.subtract(left.terms)
    return Form(dict(terms), right.constant - left.constant)


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
        self.sums_times = not guarded and sums_times(model)
        self.expressions = CpSatExpressions(self.native, model, lambda atom: self.sequences.neighbours(atom))
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
            self._guarded(self._constraint, constraint, name)
        for aim in model.objectives[:1]:
            self._guarded(self._set_objective, aim, "the objective")

    @cached_property
    def sequences(self) -> Sequences:
        """The circuits of the model, which it has once a constraint on the order of a sequence is lowered."""
        return Sequences(self)

    @property
    def has_sequences(self) -> bool:
        """Whether a sequence was lowered."""
        return "sequences" in vars(self) and self.sequences.used

    def _guarded(self, lower: Callable[[T, str], None], part: T, name: str) -> None:
        """Lower a constraint or an objective, under a literal of its own if all are guarded."""
        look()
        if self.guarded:
            self.expressions.forget()
            self.guards.append(self.native.boolean(""))
            self.native.guard = (self.guards[-1],)
        try:
            lower(part, name)
        except NumberRangeError as e:
            self.fault = self.fault or f"{name}: the numbers are too large for CP-SAT's 64-bit arithmetic: {e}"

    def _variables(self) -> None:
        e = self.expressions
        native = self.native
        model = self.model
        n = len(model.intervals)
        e.start = [-1] * n
        e.size = [-1] * n
        e.end = [-1] * n
        e.presence = [-1] * n
        self.shares = master = {} if self.guarded else masters(model)
        first = len(native.lo)
        rows: list[tuple[tuple[Window, ...], str]] = []
        for i, v in enumerate(model.intervals):
            if v.optional:
                e.presence[i] = first + len(rows)
                rows.append((TRUTH, f"{v.name} present"))
            if i in master:
                continue
            windows = v.windows
            lo, hi = windows[0][0], windows[-1][1]
            if lo < hi:
                e.start[i] = first + len(rows)
                rows.append((windows, v.name))
            if v.size_lo < v.size_hi:
                e.size[i] = first + len(rows)
                e.end[i] = e.size[i] + 1
                rows.append((((v.size_lo, v.size_hi),), f"{v.name} size"))
                rows.append((((lo + v.size_lo, hi + v.size_hi),), f"{v.name} end"))
        add_variables(native, rows)
        for i, v in enumerate(model.intervals):
            if i in master:
                continue
            if e.start[i] < 0:
                e.start[i] = native.constant(v.start_lo)
            if e.size[i] >= 0:
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
        if p >= 0:
            return (p,)
        return ()

    def edge(self, v: Interval, field: str) -> Form:
        """Return the native start or end, which is free if the interval is absent."""
        variable, more = self.moment(v, field)
        return Form({variable: 1}, more)

    def moment(self, v: Interval, field: str) -> tuple[int, int]:
        """Return (variable, number) whose sum is the native start or end, which is free if the interval is absent."""
        e, i = self.expressions, v.index
        if field == "start":
            return e.start[i], 0
        if e.end[i] >= 0:
            return (e.end[i], 0)
        return (e.start[i], v.size_lo)

    def interval(self, v: Interval) -> Any:
        """Return the native interval variable, made at the first call."""
        native = self.intervals.get(v.index)
        if native is None:
            row = self.rows.get(v.index)
            if row is None:
                native = self.span_interval(v, self.expressions.presence[v.index])
            else:
                native = self.native.model.get_interval_var_from_proto_index(row)
            self.intervals[v.index] = native
        return native

    def native_interval(self, v: Interval) -> NativeInterval:
        """Return all native objects of an interval of the model."""
        p = self.expressions.presence[v.index]
        return NativeInterval(*self._span(v), self.native.vars[p] if p >= 0 else None, self.interval(v))

    def _span(self, v: Interval) -> tuple[Any, Any, Any]:
        """Return the native start, size and end; intervals that share a start and a size get the same objects."""
        e, i = self.expressions, v.index
        key = (e.start[i], e.size[i], v.size_lo)
        span = self._spans.get(key)
        if span is None:
            lo = self.native.lo[e.start[i]]
            hi = self.native.hi[e.start[i]]
            native = self.native.vars
            start = native[e.start[i]]
            span = (start, v.size_lo, (start if lo < hi else lo) + v.size_lo)
            if e.size[i] >= 0:
                span = (start, native[e.size[i]], native[e.end[i]])
            self._spans[key] = span
        return span

    def span_interval(self, v: Interval, presence: int, after: int = 0) -> Any:
        """Return a native interval with the start and end of v, present if the literal holds (-1: always).

        It ends ``after`` seconds after the end of v.
        """
        start, size, end = self._span(v)
        if after:
            size = size + after
            end = end + after
        if presence < 0:
            return self.native.model.new_interval_var(start, size, end, v.name)
        return self.native.model.new_optional_interval_var(start, size, end, self.native.vars[presence], v.name)

    def _constraint(self, constraint: Constraint, name: str) -> None:
        match constraint:  # those of which models have most come first
            case Precedence():
                self._precedence(constraint)
            case Comparison():
                self._comparison(name, constraint)
            case Alternative():
                self._alternative(constraint)
            case Cumulative(intervals, demands, steps):
                self._cumulative(constraint)
                if self.sums_times:
                    work_done(self, intervals, demands, max(capacity for _, capacity in steps))
            case NoOverlap(intervals):
                single = [1] * len(intervals)
                if constraint.timed:
                    transitions(self, constraint)
                else:
                    occupying, _ = self.rows_of(intervals, single)
                    self.native.model.add_no_overlap(occupying)
                if self.sums_times:
                    work_done(self, intervals, single, 1)
            case AllOrNone(intervals):
                presence = self.expressions.presence
                for v, w in pairwise(intervals):
                    self.native.equal(presence[v.index], presence[w.index])
            case ForbidExtent():
                forbid_extent(self, constraint)
            case Synchronize(v, others):
                for other in others:
                    self._together(other, v, (*self.present(other), *self.present(v)))
            case AllDifferent(expressions):
                self._all_different(expressions)
            case Table():
                self._table(constraint)
            case Level():
                self._level(constraint)
            case Order() | DirectTransitions() | SameSequence():
                self.sequences.constraint(constraint)
            case NoIdle():
                raise MissingConstruct("CP-SAT has no sequences without idle time")
            case StateFunction():
                raise MissingConstruct("CP-SAT has no state functions")
            case Stated():
                stated(self, constraint)

    def constraint(self, c: Constraint) -> None:
        """Post a constraint that is a part of the one that is being lowered."""
        self._constraint(c, "")

    def _all_different(self, expressions: Sequence[Linear]) -> None:
        """Post an all_different; under a guard, which it does not take, as an order of each pair."""
        forms = [self.expressions.form(e) for e in expressions]
        if not self.guarded:
            self.native.model.add_all_different([self.expressions.affine(f)[1] for f in forms])
            return
        for f, g in combinations(forms, 2):
            terms = Counter(g.terms)
            terms.subtract(f.terms)
            gap = Form(dict(terms), g.constant - f.constant)
            whole = self.native.whole(gap, 1)
            after = self.native.boolean("", partial(_positive_value, whole))
            self.native.require(gap, 1, float("inf"), (after,))
            self.native.require(gap, -float("inf"), -1, (~after,))

    def _level(self, c: Level) -> None:
        """Post a level: pulses below a capacity as a cumulative, others as a reservoir, in which a pulse is two changes."""
        if NOT_RESERVOIR.intersection(of_level(c)):
            raise MissingConstruct("CP-SAT has levels with constant heights at all times alone")
        heights = [int(height) for _, _, height in c.changes if isinstance(height, int)]
        if not (c.lo or 0) <= 0 <= (c.hi or 0):
            self.native.require(Form(constant=1), 0, 0)  # the level is 0 before the first change
            return
        pulses = {v.index for edge, v, _ in c.changes if edge == "pulse"}
        plain = len(pulses) == len(c.changes) and not c.steps and min(heights, default=0) >= 0
        if plain:  # never below 0
            if c.hi is not None:
                self._cumulative(Cumulative(tuple(v for _, v, _ in c.changes), tuple(heights), ((0, c.hi),)))
            return
        reach = sum(map(abs, heights)) + sum(abs(amount) for _, amount in c.steps)
        if c.lo is None:
            low = -reach
        else:
            low = c.lo
        if c.hi is None:
            high = reach
        else:
            high = c.hi
        events: list[tuple[Any, int, Any]] = []
        for (edge, v, _), height in zip(c.changes, heights, strict=True):
            literal = self.taking_part(v)
            present = self.native.literal(literal if literal >= 0 else self.native.constant(1))
            ends = {"at_start": (("start", 1),), "at_end": (("end", 1),), "pulse": (("start", 1), ("end", -1))}[edge]
            for field, sign in ends:
                events.append((self.expressions.affine(self.edge(v, field))[1], sign * height, present))
        guard = self.native.literal(self.native.guard[0] if self.native.guard else self.native.constant(1))
        events += [(time, amount, guard) for time, amount in c.steps]  # ortools would make a variable of True by itself
        self.native.nonzeros += len(events)
        times, amounts, actives = ([e[k] for e in events] for k in range(3))
        self.native.model.add_reservoir_constraint_with_active(times, amounts, actives, low, high)

    def _table(self, c: Table) -> None:
        """Post a table; under a guard, which it does not take, as a choice of a tuple."""
        forms = [self.expressions.form(e) for e in c.expressions]
        if not c.tuples:
            self.native.require(Form(constant=1), 0, 0)
            return
        if not self.guarded:
            self.native.model.add_allowed_assignments([self.expressions.affine(f)[1] for f in forms], c.tuples)
            return
        chosen = [self.native.boolean("") for _ in c.tuples]
        self.native.exactly_one(chosen)
        for f, column in zip(forms, zip(*c.tuples, strict=True), strict=True):
            terms = Counter(f.terms)
            terms.subtract(dict(zip(chosen, column, strict=True)))
            self.native.require(Form(dict(terms), f.constant), 0, 0)

    def _comparison(self, name: str, c: Comparison) -> None:
        f = self.expressions.form(c.expr)
        if c.integral:
            self.native.require(f, c.lo, c.hi)
            return
        self.native.require(f, c.lo, c.hi, slack=real_tolerance(c, self.expressions.far_origin) / 2)
        self.scaled.append(name)

    def _alternative(self, c: Alternative) -> None:
        chosen = [self.expressions.presence[o.index] for o in c.options]
        own = self.present(c.interval)
        if c.count == 1 and not self.guarded:
            self.native.exactly_one([*chosen, *(~p for p in own)])
        else:
            terms: dict[int, Any] = dict.fromkeys(chosen, 1)
            terms.update(dict.fromkeys(own, -c.count))
            wanted = 0
            if not own:
                wanted = c.count
            self.native.require(Form(terms), wanted, wanted)
        for o in c.options:
            if o.index not in self.shares:
                self._together(o, c.interval, self.present(o))

    def _together(self, v: Interval, w: Interval, when: tuple[int, ...]) -> None:
        """Require the same start and end, if all literals hold."""
        fixed = v.size_lo == v.size_hi == w.size_lo == w.size_hi
        for field in ("start",) if fixed else ("start", "end"):
            left = self.edge(v, field)
            right = self.edge(w, field)
            terms = Counter(left.terms)
            terms.subtract(right.terms)
            self.native.require(Form(dict(terms), left.constant - right.constant), 0, 0, when)

    def _precedence(self, c: Precedence) -> None:
        field, other = c.fields
        i, left = self.moment(c.before, field)
        j, right = self.moment(c.after, other)
        when = self.present(c.before) + self.present(c.after)
        shift = left - right
        most = None
        if c.at_most is not None:
            most = c.at_most + shift
        self.native.lag(i, j, c.delay + shift, most, when)

    def _cumulative(self, c: Cumulative) -> None:
        if add_cumulative(self, c):
            return
        intervals, demands = self.rows_of(c.intervals, c.demands)
        self.native.nonzeros += len(intervals)
        most = max(capacity for _, capacity in c.steps)
        if len(c.steps) > 1:
            for start, end, capacity in segments(c):
                if capacity < most:
                    intervals.append(self.native.model.new_fixed_size_interval_var(start, end - start, ""))
                    demands.append(most - capacity)
        self.native.model.add_cumulative(intervals, demands, most)

    def rows_of(self, members: Sequence[Interval], amounts: Sequence[int | Linear]) -> tuple[list[Any], list[Any]]:
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
            if isinstance(demand, Linear):
                also, height = self._demands.lower(demand)
            else:
                also = ()
                height = demand
            if type(height) is int and not height:
                continue
            occupying = self.occupying_interval(v, also)
            if occupying is not None:
                intervals.append(occupying)
                demands.append(height)
        return intervals, demands

    def _chosen(self, group: Sequence[Row]) -> tuple[Any, Any]:
        """Return (interval, demand) for several options of one alternative: their master, if one of them is chosen."""
        choices = self.choices
        c = choices.alternative(group)
        present = choices.any_of(group)
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
            if conditions:
                return conditions[0]
            return -1
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
            if conditions:
                self._running[key] = self.native.all_of(conditions)
            else:
                self._running[key] = -1
        return self._running[key]

    def _positive(self, v: Interval) -> int:
        """Return a literal: the native size is above 0."""
        size = self.expressions.size[v.index]
        positive = self.native.boolean("", lambda values: int(values[size] > 0))
        self.native.inside(WholeForm({size: 1}, 0), [(1, v.size_hi)], (positive,))
        self.native.inside(WholeForm({size: 1}, 0), [(0, 0)], (~positive,))
        return positive

    def _set_objective(self, aim: Linear, _: str) -> None:
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
                values[e.size[i]] = end - start
                values[e.end[i]] = end
        for x, value in zip(e.integer, assignment.integer, strict=True):
            values[x] = value
        return self.native.complete(values)


# --- The options of alternatives in CP-SAT: they share their master's start, and are one interval on each resource.
#
# The *master* of an alternative is the interval that its options stand for.
#
# Sharing of starts
# -----------------
# An option o of one alternative only, with the same least and greatest size as its master a, has no start variable::
#
#     start[o] = start[a],  end[o] = end[a]
#     p[o] = 1  =>  start[a] in windows[o]               if the start windows of o and a differ
#
# One interval for several options on one resource
# ------------------------------------------------
# Sets and data
#     O         options of an alternative of master a that chooses one option
#     G         those in O that are in one ``cumulative`` (or ``no_overlap``, with demands of 1); at least two
#     d[o] > 0  constant demand of option o;  m = min of d[o] for o in G
#     s[o] > 0  least size of option o
# Variables of the model
#     p[o]      1 if option o is present;  p[a] likewise (constant 1 if the master is not optional)
# New variables
#     u         1 if an option in G is present
#     w         demand of the master's interval in this constraint
# Constraints
#     u + sum_{o in O, not in G} p[o] + (1 - p[a]) = 1   (if G = O: u = p[a], no new variable)
#     w = sum_{o in G} d[o] p[o] + (1 - u) m             (if all d[o] are equal: w = m, no new variable)
#     size[a] = sum_{o in O} s[o] p[o]                   (redundant; if a is not optional and all sizes are fixed)
#
# In the constraint the options of G are replaced by one interval with the start and end of a, presence u and demand w. It
# takes at least m for at least the least size of an option. This gives the propagation and the cuts of a ``cumulative``
# much more information than several intervals that may all be absent.


Row = tuple[Interval, int | Linear]
"""An interval and its demand of a resource."""


def masters(model: Model) -> dict[int, int]:
    """Return, for each option that shares a start variable, the index of the interval that has this variable."""
    master_of: dict[int, int | None] = {}
    for _, c in model.constraints:
        if isinstance(c, Alternative):
            master = c.interval
            for o in c.options:
                if o.index in master_of or o.size_lo != master.size_lo or o.size_hi != master.size_hi:
                    master_of[o.index] = None  # two masters, or another size
                else:
                    master_of[o.index] = master.index
    direct = {i: m for i, m in master_of.items() if m is not None}
    roots = {i: m if m not in direct else _root(i, direct) for i, m in direct.items()}
    return {i: root for i, root in roots.items() if root is not None}


def _root(i: int, direct: dict[int, int]) -> int | None:
    """Return the last interval in the chain of masters that begins at i; None if the chain ends in a cycle."""
    i = direct[i]
    seen = set()
    while i in direct:
        seen.add(i)
        i = direct[i]
        if i in seen:
            return None
    return i


class Choices:
    """The alternatives of a model that choose one option, and the literals for groups of their options.

    Parameters
    ----------
    constraints : iterable of (str, Constraint)
        The constraints of the model with their names.
    native : NativeModel
    presence : list of int
        The presence literal of each interval, by its index; -1 if it is not optional.
    """

    def __init__(self, constraints: Iterable[tuple[str, Constraint]], native: NativeModel, presence: list[int]) -> None:
        self.native = native
        self.presence = presence
        self.of_option = {
            o.index: c
            for _, c in constraints
            if isinstance(c, Alternative) and c.count == 1 and len(c.options) > 1
            for o in c.options
        }
        self._any: dict[tuple[int, ...], int] = {}
        self._sized: set[int] = set()

    def shared(self, intervals: Sequence[Interval]) -> bool:
        """Return whether two of the intervals are options of one alternative."""
        known = [c for c in map(self.of_option.get, [v.index for v in intervals]) if c is not None]
        return len(set(map(id, known))) < len(known)

    def groups(self, rows: Iterable[Row]) -> tuple[list[list[Row]], list[Row]]:
        """Split the rows into groups of options of one alternative (with constant demands), and all other rows.

        At most one option of a group is present.
        """
        of: dict[int, list[Row]] = {}
        single = []
        for v, demand in rows:
            c = self.of_option.get(v.index)
            if c is not None and type(demand) is int and demand and v.size_lo:
                of.setdefault(id(c), []).append((v, demand))
            else:
                single.append((v, demand))
        several = [group for group in of.values() if len(group) > 1]
        single += [group[0] for group in of.values() if len(group) == 1]
        return several, single

    def alternative(self, group: Sequence[Row]) -> Alternative:
        """Return the alternative that the options of a group belong to."""
        return self.of_option[group[0][0].index]

    def any_of(self, group: Sequence[Row]) -> int:
        """Return the literal u of the module's text: an option of the group is present; -1 if one always is."""
        c = self.alternative(group)
        own = self.presence[c.interval.index]
        if len(group) == len(c.options):
            return own
        inside = tuple(self.presence[v.index] for v, _ in group)
        if inside not in self._any:
            one = self.native.boolean("", lambda values: int(any(values[i] for i in inside)))
            others = [p for o in c.options if (p := self.presence[o.index]) not in inside]
            self.native.exactly_one([one, *others, *(() if own < 0 else (~own,))])
            self._any[inside] = one
        return self._any[inside]

    def demand(self, group: Sequence[Row], present: int) -> Any:
        """Return the demand w of the module's text: a number, or a native variable."""
        amounts = {self.presence[v.index]: demand for v, demand in group if type(demand) is int}
        values = sorted(set(amounts.values()))
        if len(values) == 1:
            return values[0]
        least = values[0]
        if present < 0:
            w = WholeForm(amounts, 0)
        else:
            w = WholeForm({**amounts, present: -least}, least)
        total = self.native.variable(tuple((value, value) for value in values), "", w.value)
        self.native.inside(WholeForm({**w.terms, total: -1}, w.constant), [(0, 0)], ())
        return self.native.vars[total]

    def add_size(self, c: Alternative, size: int) -> None:
        """Post ``size[a] = sum s[o] p[o]`` once per alternative: without it proofs take four times as long.

        It does not hold for a master that can be absent: its size is free then, and may be that of another interval.
        """
        own = self.presence[c.interval.index]
        if size >= 0 and own < 0 and id(c) not in self._sized and all(o.size_lo == o.size_hi for o in c.options):
            self._sized.add(id(c))
            terms = {self.presence[o.index]: o.size_lo for o in c.options}
            self.native.inside(WholeForm({**terms, size: -1}, 0), [(0, 0)], ())
