"""Constraints that CP-SAT has in other words: sequences as circuits, calendars, domains, variable capacities and lags."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import pairwise, permutations
from typing import Any, Protocol

from ...models.arguments import Rational
from ...models.language import (
    Constraint,
    DirectTransitions,
    InDomain,
    Intensity,
    Interval,
    Linear,
    NoOverlap,
    Order,
    Precedence,
    SameSequence,
    Stated,
    VariableCapacity,
    VariableDelay,
)
from ...models.language.calendars import FULL
from ...models.language.expressions import Neighbours
from ..base import MissingConstruct
from ..decompositions.constraints import Stretch, breaks_only, percents_of_work, stretches
from .expressions import CpSatExpressions, Form, NativeModel, WholeForm


class Lowering(Protocol):
    """What is used here of the lowering of a model, ``lowering.CpSatLowering``."""

    native: NativeModel
    expressions: CpSatExpressions
    guarded: bool

    def present(self, v: Interval) -> tuple[int, ...]:
        """Return the presence literal of an interval; nothing if it is not optional."""

    def edge(self, v: Interval, field: str) -> Form:
        """Return the native start or end, which is free if the interval is absent."""

    def rows_of(self, members: Sequence[Interval], amounts: Sequence[int | Linear]) -> tuple[list[Any], list[Any]]:
        """Return the native intervals on a resource, and their demands."""

    def constraint(self, c: Constraint) -> None:
        """Post a constraint that is a part of the one that is being lowered."""


# --- The order of sequences: circuits whose arcs are direct neighbours.
#
# For the intervals of a sequence, there is a circuit through a depot and one node for each interval, with a loop at the node of
# an absent interval, and at the depot if none is present. Besides the no_overlap::
#
#     arc i -> j                =>  e[i] + t[i,j] <= s[j]      (t: transitions between direct neighbours, else 0)
#                                   without a circuit for all pairs, if no way over a third one is shorter
#     first, last               p[i]           =>  arc depot -> i,  arc i -> depot
#     previous i, j             p[i] and p[j]  =>  arc i -> j
#     before i, j               p[i] and p[j]  =>  e[i] <= s[j]
#     the same sequence         p[i] = p'[i],   arc i -> j = arc' i -> j
#     costs                     sum c[i,j] arc i -> j  + sum first[i] arc depot -> i  + sum last[i] arc i -> depot
#
# Arcs that the start windows exclude are left out. In the search for a conflict all are there, so that a circuit alone
# excludes no presences: the times, which do, are guarded.

DEPOT = -1
Arcs = dict[tuple[int, int], int]
"""The literals of direct neighbours, by the positions of two intervals; DEPOT is before the first and after the last one."""
Key = tuple[tuple[int, ...], tuple[int, ...]]


class Sequences:
    """The circuits of a model, one for each sequence, and one for each guard.

    Parameters
    ----------
    lowering : Lowering
    """

    def __init__(self, lowering: Lowering) -> None:
        self.lowering = lowering
        self.native = lowering.native
        self._arcs: dict[Key, Arcs] = {}
        self._apart: set[Key] = set()
        self._paired: dict[Key, list[DirectTransitions]] = {}

    @property
    def used(self) -> bool:
        """Whether the model has a sequence."""
        return bool(self._arcs or self._apart or self._paired)

    def constraint(self, c: Order | DirectTransitions | SameSequence) -> None:
        """Post a constraint on the order of a sequence."""
        match c:
            case Order(intervals, one, kind, other):
                self._order(intervals, one, kind, other)
            case DirectTransitions():
                self._transitions(c)
            case SameSequence():
                self._same(c)

    def neighbours(self, atom: Neighbours) -> Form:
        """Return a sum over direct neighbours."""
        kinds = atom.types
        terms: dict[int, Rational] = {}
        for (i, j), arc in self._circuit(atom.intervals).items():
            if i == DEPOT:
                terms[arc] = atom.first[kinds[j]]
            else:
                if j == DEPOT:
                    terms[arc] = atom.last[kinds[i]]
                else:
                    terms[arc] = atom.costs[kinds[i]][kinds[j]]
        return Form({arc: cost for arc, cost in terms.items() if cost})

    def _order(self, intervals: tuple[Interval, ...], one: Interval, kind: str, other: Interval | None) -> None:
        lowering = self.lowering
        if kind == "before" and other is not None:
            self._no_overlap(intervals)
            lowering.constraint(Precedence(one, other, 0, "end_before_start"))
            return
        arcs = self._circuit(intervals)
        i = intervals.index(one)
        if other is None:
            after = DEPOT
        else:
            after = intervals.index(other)
        if kind == "first":
            pair = (DEPOT, i)
        else:
            pair = (i, after)
        arc = arcs.get(pair)
        when = (*lowering.present(one), *(() if other is None else lowering.present(other)))
        self.native.require(Form() if arc is None else Form({arc: 1}), 1, float("inf"), when)

    def _transitions(self, c: DirectTransitions) -> None:
        """Post transition times: for all pairs if that is the same, and on the arcs of the circuit if there is one."""
        pairs, key = c.of_all_pairs(), self._key(c.intervals)
        if pairs is not None:
            self.lowering.constraint(pairs)
            self._paired.setdefault(key, []).append(c)
        if pairs is None or key in self._arcs:
            self._on_arcs(c, self._circuit(c.intervals))

    def _on_arcs(self, c: DirectTransitions, arcs: Arcs) -> None:
        for (i, j), arc in arcs.items():
            if DEPOT not in (i, j) and c.transition(i, j):
                self._after(c.intervals[i], c.intervals[j], c.transition(i, j), arc)

    def _same(self, c: SameSequence) -> None:
        for v, w in zip(c.intervals, c.others, strict=True):
            here, there = ((*self.lowering.present(x), -1)[0] for x in (v, w))
            self._equal(here, there, 1)
        left, right = self._circuit(c.intervals), self._circuit(c.others)
        for pair in dict.fromkeys([*left, *right]):
            self._equal(left.get(pair, -1), right.get(pair, -1), 0)

    def _equal(self, i: int, j: int, constant: int) -> None:
        """Require that two literals are equal; -1 stands for one that is always ``constant``."""
        terms: Counter[int] = Counter()
        rest = 0
        for literal, sign in ((i, 1), (j, -1)):
            if literal >= 0:
                terms[literal] += sign
            else:
                rest += sign * constant
        self.native.require(Form(dict(terms), rest), 0, 0)

    def _key(self, intervals: tuple[Interval, ...]) -> Key:
        return tuple(v.index for v in intervals), self.native.guard

    def _no_overlap(self, intervals: tuple[Interval, ...]) -> None:
        key = self._key(intervals)
        if key not in self._apart and len(intervals) > 1:
            self._apart.add(key)
            self.lowering.constraint(NoOverlap(intervals))

    def _circuit(self, intervals: tuple[Interval, ...]) -> Arcs:
        """Return the arcs of a sequence, made at the first call."""
        key = self._key(intervals)
        if key not in self._arcs:
            self._arcs[key] = self._made(intervals)
            for c in self._paired.get(key, ()):
                self._on_arcs(c, self._arcs[key])
        return self._arcs[key]

    def _made(self, intervals: tuple[Interval, ...]) -> Arcs:
        self._no_overlap(intervals)
        n = len(intervals)
        if not n:
            return {}
        native = self.native
        places = _Places(self.lowering, intervals)
        pairs = [*((DEPOT, k) for k in range(n)), *((k, DEPOT) for k in range(n))]
        pairs += [(i, j) for i, j in permutations(range(n), 2) if self._possible(intervals[i], intervals[j])]
        arcs = {pair: native.boolean("", partial(places.follows, pair=pair)) for pair in pairs}
        edges = [(i + 1, j + 1, native.literal(arc)) for (i, j), arc in arcs.items()]
        optional = [k for k, v in enumerate(intervals) if v.optional]
        present = [self.lowering.present(intervals[k])[0] for k in optional]
        edges += [(k + 1, k + 1, native.literal(~p)) for k, p in zip(optional, present, strict=True)]
        if len(optional) == n:
            edges.append((0, 0, native.literal(native.boolean("", partial(_none, present)))))
        native.model.add_circuit(edges)
        native.nonzeros += len(edges)
        for (i, j), arc in arcs.items():
            if DEPOT not in (i, j):
                self._after(intervals[i], intervals[j], 0, arc)
        return arcs

    def _possible(self, v: Interval, w: Interval) -> bool:
        return self.lowering.guarded or v.start_lo + v.size_lo <= w.start_hi

    def _after(self, v: Interval, w: Interval, time: int, arc: int) -> None:
        """Require a time between two intervals if the arc is used."""
        end, start = self.lowering.edge(v, "end"), self.lowering.edge(w, "start")
        terms = Counter(start.terms)
        terms.subtract(end.terms)
        self.native.require(Form(dict(terms), start.constant - end.constant), time, float("inf"), (arc,))


class _Places:
    """The direct neighbours in a sequence for values of the native variables; those of the last values are kept."""

    def __init__(self, lowering: Lowering, intervals: tuple[Interval, ...]) -> None:
        self._edges = [(lowering.edge(v, "start"), lowering.edge(v, "end"), lowering.present(v)) for v in intervals]
        self._known: tuple[tuple[object, ...], set[tuple[int, int]]] = ((), set())

    def follows(self, values: Sequence[int], pair: tuple[int, int]) -> int:
        """Return 1 if the intervals at two positions are direct neighbours, else 0."""
        spans = tuple(
            (_value(start, values), _value(end, values)) if all(values[p] for p in present) else None
            for start, end, present in self._edges
        )
        if self._known[0] != spans:
            present = sorted((span, k) for k, span in enumerate(spans) if span is not None)
            order = [DEPOT, *(k for _, k in present), DEPOT]
            self._known = spans, set(pairwise(order)) if present else set()
        return int(pair in self._known[1])


def _value(f: Form, values: Sequence[int]) -> int:
    return int(sum(factor * values[x] for x, factor in f.terms.items()) + f.constant)


def _none(present: Sequence[int], values: Sequence[int]) -> int:
    return int(not any(values[p] for p in present))


# --- Calendars, domains with holes, and capacities and time lags that are expressions.

ANY = 2**61  # no value of a form is beyond it


def stated(lowering: Lowering, c: Stated) -> None:
    """Post one of these constraints; raise MissingConstruct for others."""
    match c:
        case InDomain():
            in_domain(lowering, c)
        case Intensity():
            (breaks if breaks_only(c) else intensity)(lowering, c)
        case VariableCapacity():
            variable_capacity(lowering, c)
        case VariableDelay():
            variable_delay(lowering, c)
        case _:
            raise MissingConstruct(f"CP-SAT has no {type(c).__name__}")


def in_domain(lowering: Lowering, c: InDomain) -> None:
    """Post a domain with holes, as a linear expression in a domain."""
    native = lowering.native
    form = None
    if c.interval and c.own_end in ("start", "end"):
        form = lowering.edge(c.interval, c.own_end)
    w = native.whole(lowering.expressions.form(c.expression) if form is None else form, 1)
    if c.interval is not None:
        when = lowering.present(c.interval)
    else:
        when = ()
    native.inside(w, c.within(-ANY, ANY), (*when, *native.guard))


def breaks(lowering: Lowering, c: Intensity) -> None:
    """Post a calendar with breaks: one literal for each size, with all windows of the start that lead to it.

    An interval that starts or ends in a break has a literal for this break, with its own range of sizes.
    """
    v, native = c.interval, lowering.native
    start, end = lowering.edge(v, "start"), lowering.edge(v, "end")
    terms = Counter(end.terms)
    terms.subtract(start.terms)
    size = native.whole(Form({k: n for k, n in terms.items() if n}, end.constant - start.constant), 1)
    ends, starts = native.whole(end, 1), native.whole(start, 1)
    literals = []
    for same in _alike(stretches(c)):
        recipe = partial(_in_one_of, same=same, start=starts, end=ends)
        literal = native.boolean("", recipe)
        native.inside(starts, [one.starts for one in same], (literal,))
        native.inside(size, [same[0].sizes], (literal,))
        if same[0].sizes[0] < same[0].sizes[1]:
            native.inside(ends, [same[0].ends], (literal,))
        literals.append(literal)
    native.require(Form(dict.fromkeys(literals, 1)), 1, 1, lowering.present(v))


def _alike(made: list[Stretch]) -> list[list[Stretch]]:
    """Return the pairs of pieces by their size, those without a fixed size alone."""
    fixed: dict[int, list[Stretch]] = {}
    alone = []
    for one in made:
        if one.sizes[0] == one.sizes[1]:
            fixed.setdefault(one.sizes[0], []).append(one)
        else:
            alone.append([one])
    return [*fixed.values(), *alone]


def _in_one_of(values: list[int], same: list[Stretch], start: WholeForm, end: WholeForm) -> int:
    """Return whether the start and end lie in one of the pairs of pieces."""
    s, e = start.value(values), end.value(values)
    return int(any(one.holds(s, e) for one in same))


def intensity(lowering: Lowering, c: Intensity) -> None:
    """Post any other calendar: bounds on the work, in percent of seconds."""
    low, high = c.work
    work = lowering.expressions.form(percents_of_work(c))
    lowering.native.require(work, FULL * low, FULL * high + FULL - 1, lowering.present(c.interval))


def variable_capacity(lowering: Lowering, c: VariableCapacity) -> None:
    """Post a cumulative whose capacity is an expression of one variable."""
    intervals, demands = lowering.rows_of(c.intervals, c.demands)
    lowering.native.nonzeros += len(intervals)
    capacity = lowering.expressions.affine(lowering.expressions.form(c.capacity))[1]
    lowering.native.model.add_cumulative(intervals, demands, capacity)


def variable_delay(lowering: Lowering, c: VariableDelay) -> None:
    """Post linear comparisons under the presence of both intervals."""
    left, _, right = c.relation.partition("_before_")
    first = lowering.edge(c.before, left)
    second = lowering.edge(c.after, right)
    when = (*lowering.present(c.before), *lowering.present(c.after))
    for lag, sign in ((c.delay, 1), (c.at_most, -1)):
        if lag is None:
            continue
        own = lowering.expressions.form(lag)
        terms: Counter[int] = Counter()
        for form, factor in ((second, sign), (first, -sign), (own, -sign)):
            for k, coefficient in form.terms.items():
                terms[k] += factor * coefficient  # type: ignore[assignment]
        constant = sign * (second.constant - first.constant - own.constant)
        lowering.native.require(Form(dict(terms), constant), 0, float("inf"), when)
