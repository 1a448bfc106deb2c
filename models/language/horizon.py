"""The horizon of a model that declares none: a time by which some optimal solution has started every interval.

Only intervals without start windows, called free here, can start late without end. All sizes, integers and presences
are bounded. The horizon is found by the removal of gaps.

**Gaps.** Take an optimal solution; among those, one whose sum of starts is least. A *gap* is a time ``[u, v)`` after
the *landmark* L in which no interval runs; the intervals that start at v or later are the *later* ones. Let all
later intervals start 1 s earlier. The order of all starts and ends stays, so ``no_overlap`` without transitions,
``cumulative``, ``level``, ``alternative``, ``synchronize``, ``span``, ``isomorphism``, ``all_or_none`` and the order of a
sequence stay as they are; so does a sequence without idle time, which runs at no gap between its intervals. L is at least
0 and at least every constant to which a single time is compared: starts of windows, steps of capacities and intensities,
ends of forbidden windows, bounds
in comparisons, points of functions. So these do not change either. By the choice of the solution, the shift is
impossible or makes the objective worse. It can be impossible only because of a difference of two times, one before u
and one after v, that is compared to a constant c and has just this value: a time lag, a transition time, a comparison
``a.end + 5 <= b.start``, or ``holds`` of one. Then ``v - u <= c``, and all gaps that are stopped by the same constant
lie between the same two times, so that together they are at most c long. (A ``no_overlap``, transitions between direct
neighbours and those of a state stop gaps behind interval i for at most its greatest transition time ``max_j t[i][j]``.)

**Case 1: the objective does not get worse by the shift** ("contracting": a sum of ends, a makespan, tardiness,
deviations from a due date, the absolute difference of two starts). Then every gap is stopped by a constraint, and all
starts are at most::

    H = L + sum of the greatest sizes + sum of the constants c

**Case 2: other objectives.** L is then also at least the last end of every interval that has start windows. Between the
constants the objective is linear in the length of a gap. If it gets worse by a shift of 1 s to earlier times, it gets
better by a shift of 1 s to later times, so this one must be impossible, too: it is stopped by a constant c, which now
may also be that of a maximum lag or that where two operands of a ``max`` or ``min`` are equal, with
``v - u <= c + 1``. If nothing stops it, the objective is unbounded. So H, with these constants, is valid if the
objective is known to be bounded: by the bounds of its terms, or because every time that is subtracted is followed by
one that is added.

**Other comparisons.** A sum of times with positive coefficients that must be at least a constant bounds the times that
stop a gap by a landmark. A time b that must be at least a combination ``lo + sum_k n[k] t[k]`` of earlier ones
(case 1) is stopped at most at that combination of times before the gap, so it multiplies what was reached so far by
``1 + sum of n`` and adds ``lo``. Comparisons of other forms (``2 * a.start - 3 * b.start + c.end <= 7``) have no such
argument.

**Products, quotients, remainders and elements of times** change with a shift in other ways; no argument applies to them.

**If no argument applies**, upper bounds of the times are looked for (deadlines in comparisons, passed on along
precedences). If some time has none, the horizon is as good as unlimited: it lies `UNLIMITED` seconds after the times
above. Then lowerings whose size or accuracy depends on the horizon ask for one, and an answer that reaches such times
is reported as unbounded.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from .bounds import arithmetic_range
from .calendars import InDomain, Intensity
from .constraints import (
    AllDifferent,
    Alternative,
    Constraint,
    Cumulative,
    DirectTransitions,
    ForbidExtent,
    NoOverlap,
    Precedence,
    Stated,
    StateFunction,
    Synchronize,
    Table,
    added_time,
    expressions_of,
)
from .constraints import Level as LevelConstraint
from .expressions import (
    Atom,
    Attribute,
    Comparison,
    Element,
    Entry,
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
    atoms_below,
)
from .structures import VariableCapacity, VariableDelay

if TYPE_CHECKING:
    from .constraints import ModelData

UNLIMITED = 2**40  # s, 35,000 years: the solvers still compute exactly with it
LARGEST = 2**40  # s: a derived horizon beyond it is of no more use than an unlimited one
ENDLESS = "the objective may become better without end, the later times are"
ROUNDS = 100  # most passes over the constraints in the search for upper bounds


class Horizon(NamedTuple):
    """A horizon, and whether it is proved to contain an optimal solution.

    Parameters
    ----------
    value : int
        The latest start of intervals without start windows, in seconds.
    proved : bool
        Whether some optimal solution has no later start, if there is one.
    reason : str
        Why it is not proved; else empty.
    endless : bool
        Whether the objective may become better without end, the later times are.
    """

    value: int
    proved: bool
    reason: str = ""
    endless: bool = False


class Level(NamedTuple):
    """A time, or the max or min of several: ``t + k`` for one of its times t, with ``low <= k <= high``.

    With ``fixed`` it may also be a constant in [low, high] without a time.
    """

    times: tuple[tuple[Interval, str], ...]
    low: Number = 0
    high: Number = 0
    fixed: bool = False
    least: bool = False  # the min of its times
    atom: Atom | None = None  # the max or min; two of them are never the same level

    @property
    def earliest(self) -> Number:
        """A lower bound of its value."""
        known = [_earliest(*t) + self.low for t in self.times]
        if self.fixed:
            return min([*known, self.low])
        return min(known)

    def latest(self, known: Latest) -> Number:
        """Return an upper bound of its value, given those of the times."""
        tops = [known.get(t[0], math.inf) + self.high for t in self.times]
        if self.least and not self.fixed:
            return min(tops)
        return max([*tops, self.high] if self.fixed else tops)


Latest = dict[Interval, Number]
"""Upper bounds of the ends of intervals, in seconds."""


@dataclass
class Form:
    """An expression as ``sum(c * level) + sum(c * kink) + rest`` with the rest in [low, high], which no shift changes."""

    levels: dict[Level, Number] = field(default_factory=dict)
    kinks: list[tuple[Number, Kink]] = field(default_factory=list)
    low: Number = 0
    high: Number = 0

    @property
    def largest(self) -> Number:
        """The greatest absolute value of the rest."""
        return max(abs(self.low), abs(self.high))

    @property
    def simple(self) -> bool:
        """Whether it has one time, or the difference of two."""
        return not self.kinks and (len(self.levels) < 2 or (len(self.levels) == 2 and not sum(self.levels.values())))

    def times(self, factor: Number) -> Form:
        """Return the form multiplied by a factor."""
        ends = sorted((self.low * factor, self.high * factor))
        return Form(
            {u: c * factor for u, c in self.levels.items()}, [(c * factor, k) for c, k in self.kinks], ends[0], ends[1]
        )

    def minus(self, other: Form) -> Form:
        """Return the difference of two forms without kinks."""
        levels = dict(self.levels)
        for u, c in other.levels.items():
            levels[u] = levels.get(u, 0) - c
        levels = {u: c for u, c in levels.items() if c}
        return Form(levels, [], self.low - other.high, self.high - other.low)


@dataclass(eq=False)
class Kink:
    """A max or min (``sign`` -1, all operands negated) whose operands are no levels of one coefficient."""

    sign: int
    operands: list[Form]  # of the max

    @property
    def least(self) -> Number:
        """A lower bound of the max; -inf if there is none."""
        lowest = [_lowest(f) for f in self.operands]
        for f, g in combinations(self.operands, 2):
            share = _cancelling(f, g)
            if share is not None:
                lowest.append(share * f.low + (1 - share) * g.low)
        return max(lowest)


def _cancelling(f: Form, g: Form) -> float | None:
    """Return the w in (0, 1) for which ``w f + (1 - w) g`` has no times; None if there is none."""
    if f.kinks or g.kinks or not f.levels or f.levels.keys() != g.levels.keys():
        return None
    ratios = {-f.levels[u] / g.levels[u] for u in f.levels}
    ratio = ratios.pop()
    if ratios or ratio <= 0:
        return None
    return 1 / (1 + ratio)


def _earliest(v: Interval, end: str) -> int:
    windows = v.declared_windows
    first = 0
    if windows is not None:
        first = windows[0][0]
    if end == "end":
        return first + v.size_lo
    return first


def _lowest(f: Form) -> Number:
    """Return a lower bound of a form; -inf if there is none."""
    total = f.low
    for u, c in f.levels.items():
        if c > 0:
            total += c * u.earliest
        else:
            total += -math.inf
    for c, k in f.kinks:
        if c * k.sign > 0:
            total += c * k.sign * k.least
        else:
            total += -math.inf
    return total


def _contracting(f: Form) -> bool:
    """Return whether the value does not increase when later times come 1 s earlier, beyond the constants of its kinks."""
    return all(c > 0 for c in f.levels.values()) and all(
        c * k.sign > 0 and k.least > -math.inf and all(_followed(g) for g in k.operands) for c, k in f.kinks
    )


def _followed(f: Form) -> bool:
    """Return whether an operand of a kink is a simple form or contracting."""
    return f.simple or _contracting(f)


def _slope(f: Form) -> Number:
    """Return by how much the value can change at most when some times change by 1 s."""
    total = sum(abs(c) for c in f.levels.values())
    return total + sum(abs(c) * max(_slope(g) for g in k.operands) for c, k in f.kinks)


class Forms:
    """The forms of expressions; each atom is analysed once."""

    def __init__(self) -> None:
        self._atoms: dict[Atom, Form] = {}

    def of(self, e: Linear) -> Form:
        """Return the form of an expression."""
        for atom in atoms_below([e]):
            if atom not in self._atoms:
                self._atoms[atom] = self._atom(atom)
        return self._linear(e)

    def _linear(self, e: Linear) -> Form:
        made = Form({}, [], e.constant, e.constant)
        both: dict[Interval, dict[str, Number]] = {}
        for atom, c in e.terms.items():
            if isinstance(atom, Attribute) and atom.field in ("start", "end"):
                of = both.setdefault(atom.interval, {})
                of[atom.field] = of.get(atom.field, 0) + c
                continue
            part = self._atoms[atom].times(c)
            for u, k in part.levels.items():
                made.levels[u] = made.levels.get(u, 0) + k
            made.kinks += part.kinks
            made.low = made.low + part.low
            made.high = made.high + part.high
        for v, of in both.items():
            self._time(made, v, of.get("start", 0), of.get("end", 0))
        made.levels = {u: c for u, c in made.levels.items() if c}
        return made

    def _time(self, made: Form, v: Interval, start: Number, end: Number) -> None:
        """Add ``start * v.start + end * v.end``: of both together the size is a part of the rest."""
        if start and end:
            sizes = sorted((end * v.size_lo, end * v.size_hi))
            if v.optional:
                low = min(sizes[0], 0)
                high = max(sizes[1], 0)
            else:
                low = sizes[0]
                high = sizes[1]
            made.low = made.low + low
            made.high = made.high + high
        one = Level(((v, "end" if end and not start else "start"),), fixed=v.optional)
        made.levels[one] = made.levels.get(one, 0) + start + end

    def _atom(self, atom: Atom) -> Form:
        match atom:
            case Integer():
                return Form({}, [], atom.lo, atom.hi)
            case Attribute(field="size"):
                low = 0
                if not atom.interval.optional:
                    low = atom.interval.size_lo
                return Form({}, [], low, atom.interval.size_hi)
            case Attribute(field="presence"):
                return Form({}, [], 0 if atom.interval.optional else 1, 1)
            case Overlap():
                return Form({}, [], 0, max(0, min(atom.hi - atom.lo, atom.interval.size_hi)))
            case Holds():
                return Form({}, [], 0, 1)
            case Neighbours():
                return Form({}, [], *atom.range())
            case Element():
                return Form({}, [], min(atom.array), max(atom.array))
            case Piecewise():
                heights = [y for _, y in atom.points]
                return Form({}, [], min(heights), max(heights))
            case Max() | Min():
                return self._extreme(atom, [self._linear(e) for e in atom.operands])
            case Product() | Quotient() | Remainder() | Entry():
                return _arithmetic(atom, [self._linear(e) for e in atom.operands])
            case _:  # start and end are added by _linear
                return Form()

    def _extreme(self, atom: Max | Min, operands: list[Form]) -> Form:
        """Return the form of a max or min: a constant, a level, or a kink."""
        plain = all(not f.kinks and len(f.levels) < 2 for f in operands)
        factors = {c for f in operands for c in f.levels.values()}
        if plain and not factors:
            if isinstance(atom, Max):
                pick = max
            else:
                pick = min
            return Form({}, [], pick(f.low for f in operands), pick(f.high for f in operands))
        if plain and len(factors) == 1:
            c = factors.pop()
            times: list[tuple[Interval, str]] = []
            ends: list[Number] = []
            fixed = False
            for f in operands:
                if c != 1:
                    low, high = sorted((f.low / c, f.high / c))
                else:
                    low = f.low
                    high = f.high
                u = next(iter(f.levels), None)
                fixed = fixed or u is None or u.fixed
                if u is not None:
                    times += u.times
                if u is None:
                    ends += [low, high]
                else:
                    ends += [low + u.low, high + u.high]
            least = isinstance(atom, Min) == (c > 0)
            return Form({Level(tuple(dict.fromkeys(times)), min(ends), max(ends), fixed, least, atom): c})
        sign = -1
        if isinstance(atom, Max):
            sign = 1
        return Form({}, [(1, Kink(sign, [f.times(sign) for f in operands]))])


def _arithmetic(atom: Product | Quotient | Remainder | Entry, operands: list[Form]) -> Form:
    """Return the form of a function that no shift changes, if it is one of no times; else one without bounds."""
    if any(f.levels or f.kinks for f in operands):
        return Form({}, [], -math.inf, math.inf)
    ranges = [(f.low, f.high) for f in operands]
    if isinstance(atom, Entry):
        return Form({}, [], min(lo for lo, _ in ranges[1:]), max(hi for _, hi in ranges[1:]))
    low, high = arithmetic_range(atom, ranges)
    return Form({}, [], low, high)


@dataclass
class Tally:
    """What one of the two cases of the argument has collected so far."""

    wide: bool  # case 2
    landmark: Number = 0
    constants: Number = 0
    factors: list[tuple[Number, Number]] = field(default_factory=list)
    outside: str = ""  # the first part of the model to which the argument does not apply

    def value(self, sizes: int) -> int | None:
        """Return the horizon in seconds; None if the argument does not apply."""
        if self.outside:
            return None
        total: Number = self.landmark + sizes + self.constants
        for more, factor in self.factors:
            total = (1 + factor) * total + more
        if total <= LARGEST:
            return math.ceil(total)
        return None

    def simple(self, f: Form, most: Number) -> None:
        """Note that a simple form is compared to constants of absolute value ``most`` and less."""
        if not f.levels or f.largest == math.inf:  # of an infinite one the argument was left already
            return
        step = min(map(abs, f.levels.values()))
        spread = sum(max(abs(u.low), abs(u.high)) for u in f.levels)
        reach = math.ceil((most + f.largest) / step + spread) + 1
        if len(f.levels) == 2:
            self.constants += max(0, reach)
        if len(f.levels) == 1 or any(u.fixed for u in f.levels):
            self.landmark = max(self.landmark, reach)

    def turns(self, f: Form) -> None:
        """Note up to which constants a contracting form may increase by a shift to earlier times."""
        for c, k in f.kinks:
            self.below(Form({}, [(c, k)]), c * k.sign * k.least)

    def below(self, f: Form, most: Number) -> None:
        """Note that a contracting form may stop a gap while its value is at most ``most``."""
        least = _lowest(f)
        if least == -math.inf:
            return
        for u, c in f.levels.items():
            self.landmark = max(self.landmark, math.ceil((most - least) / c + u.earliest - u.low) + 1)
        for c, k in f.kinks:
            lowest = k.least
            top = max((most - least) / abs(c) + lowest, lowest)
            for g in k.operands:
                if g.simple:
                    self.simple(g, max(abs(top), abs(lowest)))
                else:
                    self.below(g, top)


class Derivation:
    """The horizon of a model, derived from its intervals, constraints and objectives; new ones are added to what is known.

    Parameters
    ----------
    model : Model
        The model that declares the intervals. Copies of it with other constraints keep its horizon.
    """

    def __init__(self, model: ModelData) -> None:
        self.model = model
        self._key: tuple[object, ...] = ()
        self._kept: list[Linear] = []
        self._known = Horizon(0, True)
        self._restart()

    def forget(self) -> None:
        """Forget what is known of the constraints, after some were removed or replaced."""
        self._key = ()
        self._restart()

    def _restart(self) -> None:
        self._rows: list[object] | None = None
        self._intervals = self._done = self._sizes = 0
        self._free = False
        self._forms = Forms()
        self._seen: set[Atom] = set()
        self._cases = (Tally(wide=False), Tally(wide=True))

    def horizon(self) -> Horizon:
        """Return the horizon."""
        m = self.model
        aims = m.objectives
        if self._rows is not m.constraints or self._done > len(m.constraints):
            self._restart()
            self._rows = m.constraints  # type: ignore[assignment]
        key = (len(m.intervals), len(m.constraints), m.sense, *map(id, aims))
        if self._key == key:
            return self._known
        self._key = key  # kept, so that no other expression can have the same id
        self._kept = list(aims)
        try:
            self._known = self._derive()
        except (OverflowError, ValueError):  # of infinite numbers
            self._known = Horizon(UNLIMITED, False, "its numbers are too large")
        return self._known

    def _derive(self) -> Horizon:
        m = self.model
        for v in m.intervals[self._intervals :]:
            self._interval(v)
        self._intervals = len(m.intervals)
        if not self._free:
            return Horizon(max(0, *(v.start_hi for v in m.intervals), 0), True)
        for name, c in m.constraints[self._done :]:
            self._constraint(name, c)
        self._done = len(m.constraints)
        kept = self._cases
        seen = set(self._seen)
        narrow, wide = self._cases = tuple(replace(case, factors=list(case.factors)) for case in kept)  # type: ignore[assignment]
        try:
            return self._with_objective(narrow, wide)
        finally:
            self._cases, self._seen = kept, seen

    def _with_objective(self, narrow: Tally, wide: Tally) -> Horizon:
        """Return the horizon for the constraints noted so far; what the objective adds is noted in copies."""
        m = self.model
        aims = [self._aim(e, m.sense) for e in m.objectives]
        self._functions("the objective", m.objectives)
        endless = False
        if all(map(_contracting, aims)):
            for f in aims:
                narrow.turns(f)
            horizon = narrow.value(self._sizes)
            why = narrow.outside
        else:
            for f in aims:
                self._corners("the objective", f)
            horizon = wide.value(self._sizes)
            why = wide.outside
            endless = not self._bounded(aims)
            if endless:
                horizon, why = None, ENDLESS
        if horizon is not None:
            return Horizon(horizon, True)
        tops = self._latest()
        if all(v in tops for v in m.intervals):
            return Horizon(max(0, *(math.ceil(tops[v]) for v in m.intervals)), True)
        base = wide.landmark + self._sizes + wide.constants
        return Horizon(min(math.ceil(base), LARGEST) + UNLIMITED, False, why or "the derived one is too large", endless)

    def _interval(self, v: Interval) -> None:
        self._sizes += v.size_hi
        windows = v.declared_windows
        if windows is None:
            self._free = True
            return
        narrow, wide = self._cases
        narrow.landmark = max(narrow.landmark, windows[-1][0])
        wide.landmark = max(wide.landmark, windows[-1][1] + v.size_hi)

    def _aim(self, e: Linear, sense: str) -> Form:
        """Return the form of an objective that is minimized."""
        return self._forms.of(e).times(1 if sense == "minimize" else -1)

    def _constraint(self, name: str, c: Constraint) -> None:
        narrow, wide = self._cases
        self._functions(name, expressions_of(c))
        match c:
            case Comparison():
                f = self._forms.of(c.expr)
                self._corners(name, f)
                for lo, g in ((c.lo, f), (-c.hi, f.times(-1))):
                    if lo > -math.inf:
                        self._at_least(name, g, lo)
            case Precedence():
                narrow.constants += added_time(c)
                lags = (c.delay,) if c.at_most is None else (c.delay, c.at_most)
                wide.constants += max(map(abs, lags)) + 1
            case NoOverlap() | DirectTransitions() | StateFunction():
                narrow.constants += added_time(c)
                wide.constants += added_time(c)
            case Cumulative():
                if len(c.steps) > 1:
                    self._landmark(c.steps[-1][0])
                if any(self._forms.of(d).levels or self._forms.of(d).kinks for d in expressions_of(c)):
                    self._leave(name, "a demand depends on a time")
            case ForbidExtent() if c.windows:
                self._landmark(c.windows[-1][1])
            case LevelConstraint():
                for time in (*(t for t, _ in c.steps), *(c.window or ())):
                    self._landmark(time)
                if any(self._forms.of(h).levels or self._forms.of(h).kinks for h in expressions_of(c)):
                    self._leave(name, "a height depends on a time")
            case AllDifferent(expressions):
                for one, other in combinations(expressions, 2):
                    self._compared(name, self._forms.of(one - other), 1, "a difference of expressions")
            case Table(expressions, tuples):
                columns = zip(*tuples, strict=True) if tuples else ()
                for e, values in zip(expressions, columns, strict=bool(tuples)):
                    self._compared(name, self._forms.of(e), max(map(abs, values)) + 1, str(e))
            case Stated():
                self._stated(name, c)
            case _:
                pass

    def _stated(self, name: str, c: Stated) -> None:
        """Note a calendar or a structure; a span and an isomorphism keep their meaning when later intervals are shifted."""
        narrow, wide = self._cases
        match c:
            case Intensity(steps=steps) if len(steps) > 1:
                self._landmark(steps[-1][0])
            case InDomain(expression=e):
                most = max(map(abs, c.edges), default=0) + 1
                self._compared(name, self._forms.of(e), most, f"the windows of {e}")
            case VariableCapacity():
                if any(self._forms.of(e).levels or self._forms.of(e).kinks for e in c.numbers):
                    self._leave(name, "a demand or the capacity depends on a time")
            case VariableDelay():
                forms = [self._forms.of(e) for e in c.numbers]
                if any(f.levels or f.kinks for f in forms):
                    self._leave(name, "a time lag depends on a time")
                    return
                narrow.constants += max(0, forms[0].high, *(-f.low for f in forms[1:]))
                wide.constants += max(f.largest for f in forms) + 1
            case _:
                pass

    def _landmark(self, time: Number) -> None:
        for case in self._cases:
            case.landmark = max(case.landmark, time)

    def _leave(self, name: str, why: str, cases: Iterable[Tally] | None = None) -> None:
        for case in self._cases if cases is None else cases:
            case.outside = case.outside or f"{name}: {why}"

    def _functions(self, name: str, expressions: Sequence[Linear]) -> None:
        """Note the constants of all functions in expressions whose values a shift changes only there."""
        for atom in atoms_below(expressions, self._seen):
            match atom:
                case Overlap():
                    self._landmark(atom.hi)
                case Holds():
                    sides = [abs(b) for b in (atom.comparison.lo, atom.comparison.hi) if not math.isinf(b)]
                    self._threshold(name, atom, max(sides, default=0) + 1)
                case Element():
                    self._threshold(name, atom, len(atom.array))
                case Piecewise():
                    self._threshold(name, atom, max(abs(x) for x, _ in atom.points))
                case Product() | Quotient() | Remainder() | Entry():
                    if any(f.levels or f.kinks for f in map(self._forms.of, atom.operands)):
                        self._leave(name, f"{atom} depends on a time")
                case _:
                    pass

    def _threshold(self, name: str, atom: Function, most: Number) -> None:
        """Note that a function compares its operand to constants up to ``most``."""
        self._compared(name, self._forms.of(atom.operands[0]), most, str(atom))

    def _compared(self, name: str, f: Form, most: Number, what: str) -> None:
        """Note that a form is compared to constants up to ``most``."""
        for case in self._cases:
            if f.simple:
                case.simple(f, most)
            elif _contracting(f) or _contracting(f.times(-1)):
                case.below(f if _contracting(f) else f.times(-1), most + _slope(f))
            else:
                self._leave(name, f"{what} depends on more than the difference of two times", [case])

    def _corners(self, name: str, f: Form) -> None:
        """Note where the operands of max and min are equal, for the case in which an expression must be linear."""
        wide = self._cases[1]
        for u in f.levels:
            if len(u.times) > 1 or u.fixed:
                wide.constants += math.ceil(u.high - u.low) + 2
                wide.landmark = max(wide.landmark, math.ceil(max(abs(u.low), abs(u.high))) + 1)
        for _, k in f.kinks:
            for g, h in combinations(k.operands, 2):
                if g.kinks or h.kinks:
                    rest = Form()
                else:
                    rest = g.minus(h)
                if g.kinks or h.kinks or not rest.simple:
                    self._leave(name, "operands of a max or min are compared that have several times", [wide])
                else:
                    wide.simple(rest, 1)
            for g in k.operands:
                self._corners(name, g)

    def _at_least(self, name: str, f: Form, lo: Number) -> None:
        """Note the comparison ``f >= lo``."""
        narrow, wide = self._cases
        if math.isinf(f.low):
            return
        if f.simple:
            for case in self._cases:
                if case.wide:
                    case.simple(f, abs(lo))
                elif len(f.levels) == 1 and min(f.levels.values()) < 0:
                    pass  # a deadline: earlier is no worse
                else:
                    self._lag(f, lo)
            return
        if _contracting(f):
            for case in self._cases:
                case.below(f, lo + _slope(f))
        elif _contracting(f.times(-1)):
            wide.below(f.times(-1), -lo)
            narrow.turns(f.times(-1))
        elif f.kinks:
            self._leave(name, "it combines functions of times")
        else:
            self._combination(name, f, lo)

    def _lag(self, f: Form, lo: Number) -> None:
        """Note ``f >= lo`` in case 1, where f has a time, or the difference of two."""
        narrow = self._cases[0]
        for c in f.levels.values():
            if c > 0:
                spread = sum(w.high - w.low if len(w.times) > 1 else 0 for w in f.levels)
                ends = sum(max(abs(w.low), abs(w.high)) for w in f.levels)
                reach = max(0, math.ceil((lo - f.low) / c + spread + ends))
                if len(f.levels) == 2:
                    narrow.constants += reach
                if len(f.levels) == 1 or any(w.fixed for w in f.levels):
                    narrow.landmark = max(narrow.landmark, reach)

    def _combination(self, name: str, f: Form, lo: Number) -> None:
        """Note ``f >= lo`` for a sum of several times with coefficients of both signs."""
        narrow, wide = self._cases
        bounded = {u: _window_end(u) for u in f.levels}
        added = [u for u, c in f.levels.items() if c > 0]
        taken = [u for u, c in f.levels.items() if c < 0]
        if all(bounded[u] < math.inf for u in taken):
            room = lo - f.low - sum(f.levels[u] * bounded[u] for u in taken)
            first = sum(f.levels[u] * u.earliest for u in added)
            for u in added:
                c = f.levels[u]
                reach = math.ceil((room - (first - c * u.earliest)) / c - u.low) + 1
                self._landmark(max(0, reach))
            return
        if all(bounded[u] < math.inf for u in added):  # a deadline of the others: it stops only later times
            room = sum(f.levels[u] * bounded[u] for u in added) + f.high - lo
            first = sum(f.levels[u] * u.earliest for u in taken)
            for u in taken:
                c = f.levels[u]
                wide.landmark = max(wide.landmark, math.ceil((room - (first - c * u.earliest)) / -c - u.low) + 1)
            narrow.landmark = max(narrow.landmark, *(math.ceil(bounded[u]) for u in added))
            return
        self._leave(name, "it combines more times than the difference of two", [wide])
        self._earlier(name, f, lo, added, taken)

    def _earlier(self, name: str, f: Form, lo: Number, added: list[Level], taken: list[Level]) -> None:
        """Note, in case 1, ``c * t >= lo + combination of times`` for one time t."""
        narrow = self._cases[0]
        levels = [*added, *taken]
        one = len(added) == 1 and all(len(u.times) == 1 for u in levels)
        if added:
            c = f.levels[added[0]]
        else:
            c = 1
        if not one or any(-f.levels[u] < c for u in taken):
            self._leave(name, "it combines more times than the difference of two", [narrow])
            return
        factor = sum(-f.levels[u] for u in taken) / c
        more = max(0, math.ceil((lo - f.low) / c)) + 1 + factor * max((u.times[0][0].size_hi for u in taken), default=0)
        narrow.factors.append((more, factor))

    def _bounded(self, aims: Sequence[Form]) -> bool:
        """Return whether no objective can become better without end."""
        tops = self._latest()
        followers = _followers(self.model)
        return all(_bounded_below(f, tops, followers) for f in aims)

    def _latest(self) -> Latest:
        """Return upper bounds of the ends of intervals, where they follow from windows, comparisons and precedences."""
        m = self.model
        tops: Latest = {}
        for v in m.intervals:
            if v.declared_windows is not None:
                tops[v] = v.declared_windows[-1][1] + v.size_hi
        for _ in range(ROUNDS):
            before = dict(tops)
            for _, c in m.constraints:
                self._tighten(tops, c)
            if before == tops:
                break
        return tops

    def _tighten(self, tops: Latest, c: Constraint) -> None:
        match c:
            case Comparison():
                f = self._forms.of(c.expr)
                for hi, g in ((c.hi, f), (-c.lo, f.times(-1))):
                    if hi < math.inf and not g.kinks:
                        _tighten_by_sum(tops, g, hi)
            case Precedence(before, after, delay, _, at_most):
                if not after.optional and after in tops:
                    _lower(tops, before, tops[after] + after.size_hi + before.size_hi - min(delay, 0))
                if at_most is not None and not before.optional and before in tops:
                    _lower(tops, after, tops[before] + before.size_hi + after.size_hi + max(at_most, 0))
            case Alternative(a, options, _):
                for o in options:
                    if a in tops:
                        _lower(tops, o, tops[a])
                if all(o in tops for o in options):
                    _lower(tops, a, max(tops[o] for o in options))
            case Synchronize(a, others) if a in tops and not a.optional:
                for o in others:
                    _lower(tops, o, tops[a])
            case _:
                pass


def _lower(tops: Latest, v: Interval, top: Number) -> None:
    tops.setdefault(v, top)  # one bound suffices: the horizon is only as good as the others


def _tighten_by_sum(tops: Latest, f: Form, hi: Number) -> None:
    """Use ``f <= hi``: a time with a positive coefficient is at most what the others leave."""
    if math.isinf(f.low):
        return
    least = {u: c * u.earliest if c > 0 else c * u.latest(tops) for u, c in f.levels.items()}
    for u, c in f.levels.items():
        others = sum(x for w, x in least.items() if w is not u)
        if c > 0 and others > -math.inf and (len(u.times) == 1 or not u.least):
            for v, _ in u.times:
                _lower(tops, v, max(0, (hi - f.low - others) / c - u.low) + v.size_hi)


def _window_end(u: Level) -> Number:
    """Return the latest value of a level by the start windows of its intervals; inf if one of them has none."""
    latest: Latest = {v: v.declared_windows[-1][1] + v.size_hi for v, _ in u.times if v.declared_windows is not None}
    return u.latest(latest)


Followers = dict[Interval, set[Interval]]
"""For each interval those that are late if it is late."""


def _followers(model: ModelData) -> Followers:
    followers: Followers = {}
    for _, c in model.constraints:
        if isinstance(c, Precedence) and not (c.before.optional or c.after.optional):
            followers.setdefault(c.before, set()).add(c.after)
    return followers


def _bounded_below(f: Form, tops: Latest, followers: Followers) -> bool:
    """Return whether a form has a lower bound, or does not decrease when gaps grow."""
    if any(not (c * k.sign > 0 and k.least > -math.inf) for c, k in f.kinks):
        return False
    room = {u: c for u, c in f.levels.items() if c > 0}
    for u, c in f.levels.items():
        if c > 0 or u.latest(tops) < math.inf:
            continue
        left = -c
        for w in room:
            if left > 0 and _follows(w, u, followers):
                used = min(left, room[w])
                room[w] -= used
                left -= used
        if left > 0:
            return False
    return True


def _follows(w: Level, u: Level, followers: Followers) -> bool:
    """Return whether the level w is late whenever u is; an absent interval makes neither of them late."""
    of_w = {v for v, _ in w.times}
    of_u = {v for v, _ in u.times}
    if w.least and len(of_w) > 1:
        return u.least and not w.fixed and of_w <= of_u
    late = [bool(of_w & (followers.get(v, set()) | {v})) for v in of_u]
    if u.least:
        return any(late)
    return all(late)


__all__ = ["UNLIMITED", "Derivation", "Horizon"]
