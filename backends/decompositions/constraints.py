"""Decompositions of constraints on intervals: resources, presences, precedences, sequences, levels, states, calendars."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from itertools import combinations, pairwise, permutations
from typing import NamedTuple

from ...models import language as sl
from ...models.language import (
    AllOrNone,
    Alternative,
    Comparison,
    Constraint,
    Cumulative,
    DirectTransitions,
    Evaluator,
    ForbidExtent,
    InDomain,
    Integer,
    Intensity,
    Interval,
    Isomorphism,
    Level,
    Linear,
    NoIdle,
    NoOverlap,
    Order,
    Precedence,
    SameSequence,
    Span,
    Stated,
    StateFunction,
    Synchronize,
    VariableCapacity,
    VariableDelay,
    all_of,
    element,
    holds,
    overlap,
)
from ...models.language import sum as total
from ...models.language.calendars import FULL
from ...models.language.constraints import StateUse
from ...models.language.expressions import Function, Neighbours, linear
from ...models.language.levels import segments
from ...models.language.sequences import by_start
from .decomposition import (
    LEVELS,
    OF_STATED,
    PRECEDENCES,
    SEQUENCES,
    STATED,
    STATES,
    Construct,
    Decomposition,
    of_level,
    of_state,
)

# --- Decompositions of cumulative: stepwise capacities, variable demands, and the constraint itself.


class StepwiseCapacities(Decomposition):
    """A stepwise capacity becomes a constant one, with fixed intervals that take the rest.

    For capacities ``c[k]`` in ``[t[k], t[k+1])`` and ``C = max_k c[k]``, there is a present interval from ``t[k]`` to
    ``t[k+1]`` with demand ``C - c[k]`` for each k with ``c[k] < C``, and the capacity is C. The first and the last step
    are cut at the earliest start and the latest end of the intervals.
    """

    replaces = frozenset([Construct.STEPWISE_CAPACITY])

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint."""
        if not isinstance(c, Cumulative) or len(c.steps) == 1:
            return super().constraint(c)
        copied = super().constraint(c)
        assert isinstance(copied, Cumulative)
        members = list(copied.intervals)
        demands = list(copied.demands)
        peak = max(capacity for _, capacity in c.steps)
        begin = min((v.start_lo for v in members), default=0)
        end = max((v.start_hi + v.size_hi for v in members), default=0)
        times = [begin, *(min(max(begin, t), end) for t, _ in c.steps[1:]), end]
        for k, (_, capacity) in enumerate(c.steps):
            a = times[k]
            b = times[k + 1]
            if a < b and capacity < peak:
                members.append(self._fixed(f"{self.name}, capacity from {a}", a, b))
                demands.append(peak - capacity)
        return Cumulative(tuple(members), tuple(demands), ((0, peak),))

    def _fixed(self, name: str, a: int, b: int) -> Interval:
        made = self.model.interval(name, b - a, a)
        self.settle(made, a, b)
        return made


class VariableDemands(Decomposition):
    """A variable demand becomes the binary digits of the demand: one optional interval for each digit.

    For a demand d of interval i with ``L <= d <= U``, i has the demand L, and for ``k = 0, 1, ...`` with
    ``2^k <= U - L`` there is an optional interval ``i[k]`` with demand ``2^k`` and the windows and sizes of i::

        synchronize(i, all i[k]),   p[i[k]] <= p[i]
        0 <= d - L - sum_k 2^k p[i[k]] <= (U - L) (1 - p[i])

    So the digits of a present interval sum up to ``d - L``, and those of an absent one are absent.
    """

    replaces = frozenset([Construct.VARIABLE_DEMAND])

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint."""
        copied = super().constraint(c)
        if not isinstance(copied, Cumulative):
            return copied
        members: list[Interval] = []
        demands: list[int] = []
        for v, d in zip(copied.intervals, copied.demands, strict=True):
            for member, demand in [(v, d)] if isinstance(d, int) else self._digits(v, d):
                members.append(member)
                demands.append(demand)
        return Cumulative(tuple(members), tuple(demands), copied.steps)

    def _digits(self, v: Interval, d: Linear) -> list[tuple[Interval, int]]:
        """Return v with its least demand, and the optional interval of each digit with its demand."""
        least, most = (int(b) for b in self.bounds.of(d))
        room = most - least
        digits = []
        for k in range(room.bit_length()):
            digit = self.twin(f"{v.name}, {2**k} of its demand", v, partial(_digit, v=v, d=d, least=least, k=k))
            digits.append((digit, 2**k))
            if v.optional:
                self.add(digit.presence <= v.presence)
        rest = d - least - total([o.presence for o, _ in digits], [w for _, w in digits])
        self.add_range(rest, 0, room) if v.optional else self.add_range(rest, 0, 0)
        if v.optional:
            self.add_range(rest + room * v.presence, 0, room)
        if digits:
            self.add(Synchronize(v, tuple(o for o, _ in digits)))
        return [(v, least), *digits]


def _digit(ev: Evaluator, v: Interval, d: Linear, least: int, k: int) -> int:
    """Return whether the k-th binary digit of a demand is 1 and its interval is present."""
    return int(ev.value(v.presence)) * (int(ev.value(d)) - least >> k & 1)


class Cumulatives(Decomposition):
    """A cumulative with constant demands and capacity becomes one comparison for each of its intervals.

    For the demands ``d[i]`` and the capacity C, for each interval j::

        d[j] holds(z[j] >= 1) + sum_{i != j} d[i] (holds(s[i] <= s[j]) + holds(e[i] >= s[j] + 1) - 1) <= C

    The term of i is ``d[i]`` if i runs at the start of j, else 0, because at least one of the two comparisons is always
    true. The load rises only at starts, so it is enough to check it there; an absent j checks the load at time 0. (The
    start/start event model of [Artigues2013] in terms of truth values.)
    """

    replaces = frozenset([Construct.CUMULATIVE])

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint."""
        copied = super().constraint(c)
        if not isinstance(copied, Cumulative):
            return copied
        tasks = [(v, int(d)) for v, d in zip(copied.intervals, copied.demands, strict=True) if d and v.size_hi]  # type: ignore[arg-type]
        capacity = copied.steps[0][1]
        if sum(d for _, d in tasks) <= capacity:
            return None
        for j, own in tasks:
            load = own * (j.presence if j.size_lo > 0 else holds(j.size >= 1))
            others = [(i, d) for i, d in tasks if i is not j]
            running = [holds(i.start <= j.start) + holds(i.end >= j.start + 1) - 1 for i, _ in others]
            self.add_range(load + total(running, [d for _, d in others]), -math.inf, capacity)
        return None


# --- Decompositions of alternative, all_or_none, synchronize, no_overlap and precedences.
#
# Symbols, here and in the other modules of this folder, for an interval i: ``s[i]``, ``e[i]``, ``z[i]``, ``p[i]`` are its start, end,
# size and presence, all 0 if it is absent.


class Alternatives(Decomposition):
    """An alternative becomes a comparison and a synchronize.

    For the interval a, the options O and the count k::

        sum_{o in O} p[o] = k p[a],   synchronize(a, O)

    If a is absent, all options are absent; if it is present, k of them are, and each has its start and end.
    """

    replaces = frozenset([Construct.ALTERNATIVE])

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint."""
        if not isinstance(c, Alternative):
            return super().constraint(c)
        a = self.intervals[c.interval]
        options = self.several(c.options)
        self.add_range(total([o.presence for o in options]) - c.count * a.presence, 0, 0)
        return Synchronize(a, options)


class AllOrNones(Decomposition):
    """An all_or_none becomes equations of the presences: ``p[i] = p[j]`` for each interval i and the next one j."""

    replaces = frozenset([Construct.ALL_OR_NONE])

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint."""
        if not isinstance(c, AllOrNone):
            return super().constraint(c)
        for i, j in pairwise(self.several(c.intervals)):
            self.add(i.presence == j.presence)
        return None


class Synchronizations(Decomposition):
    """A synchronize becomes precedences, which hold only between present intervals.

    For the interval a and each o of the others::

        s[a] <= s[o],  s[o] <= s[a],  e[a] <= e[o],  e[o] <= e[a]
    """

    replaces = frozenset([Construct.SYNCHRONIZE])

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint."""
        if not isinstance(c, Synchronize):
            return super().constraint(c)
        a = self.intervals[c.interval]
        for o in self.several(c.others):
            for left, right in ((a, o), (o, a)):
                self.add(Precedence(left, right, 0, "start_before_start"))
                self.add(Precedence(left, right, 0, "end_before_end"))
        return None


class NoOverlaps(Decomposition):
    """A no_overlap becomes a cumulative with demands of 1 and a capacity of 1; both ignore intervals of size 0."""

    replaces = frozenset([Construct.NO_OVERLAP])

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint."""
        if not isinstance(c, NoOverlap):
            return super().constraint(c)
        members = self.several(c.intervals)
        return Cumulative(members, (1,) * len(members), ((0, 1),))


class MaximumLags(Decomposition):
    """A precedence with a maximum time lag becomes two without: a maximum lag is a negative minimum lag backwards.

    For the ends f of i and g of j (each a start or an end)::

        f[i] + delay <= g[j],   g[j] - at_most <= f[i]
    """

    replaces = frozenset([Construct.MAXIMUM_LAG])

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint."""
        copied = super().constraint(c)
        if not isinstance(copied, Precedence):
            return copied
        for part in copied.parts:
            self.add(part)
        return None


class Precedences(Decomposition):
    """A precedence becomes a comparison, or an implication if one of its intervals is optional.

    For the ends f of i and g of j (each a start or an end), a delay and perhaps a greatest lag::

        delay <= g[j] - f[i] <= at_most                                        if neither i nor j is optional
        holds(p[i] + p[j] >= 2) <= holds(delay <= g[j] - f[i] <= at_most)      otherwise
    """

    replaces = PRECEDENCES

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint."""
        if not isinstance(c, Precedence) or Construct(c.kind) not in self.missing:
            return super().constraint(c)
        i, j = self.intervals[c.before], self.intervals[c.after]
        left, right = ({"start": v.start, "end": v.end}[f] for v, f in zip((i, j), c.fields, strict=True))
        lag = (right - left).linear()
        if c.at_most is None:
            most = math.inf
        else:
            most = c.at_most
        ordered = Comparison(Linear(lag.terms), c.delay - lag.constant, most - lag.constant)
        optional = [v for v in (i, j) if v.optional]
        if not optional:
            return ordered
        both: Linear = total([v.presence for v in optional])
        return holds(both >= len(optional)) <= holds(ordered)


# --- Decompositions of forbid_extent, and of the transition times of a no_overlap.
#
# Symbols as before.


class ForbiddenExtents(Decomposition):
    """A forbid_extent becomes a cumulative of the interval alone, with the demand 1.

    The capacity is 0 within the windows and 1 elsewhere.
    """

    replaces = frozenset([Construct.FORBID_EXTENT])

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint."""
        copied = super().constraint(c)
        if not isinstance(copied, ForbidExtent):
            return copied
        if copied.windows:
            return Cumulative((copied.interval,), (1,), copied.steps)
        return None


class Transitions(Decomposition):
    """A no_overlap with transition times becomes one without, and a comparison for each pair with such a time.

    For each pair i, j of its intervals with the times ``t[i,j]`` and ``t[j,i]``, one of which is positive, or with an
    interval whose size can be 0, which is a point in the sequence::

        holds(e[i] + t[i,j] <= s[j]) + holds(e[j] + t[j,i] <= s[i]) >= p[i] + p[j] - 1

    n points with times on a cycle (``NoOverlap.cyclic_points``) have ranks q in {0, ..., n - 1}: for each pair with
    ``t[i,j] = 0 < t[j,i]``, for both orders::

        q[i] + 1 <= q[j] + n (3 - holds(e[i] + t[i,j] <= s[j]) - p[i] - p[j])
    """

    replaces = frozenset([Construct.TRANSITIONS])

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint."""
        copied = super().constraint(c)
        if not isinstance(copied, NoOverlap) or not copied.timed:
            return copied
        copied = copied.capped()
        for a, b in combinations(range(len(copied.intervals)), 2):
            if copied.separated(a, b):
                both = copied.intervals[a].presence + copied.intervals[b].presence
                self.add(_before(copied, a, b) + _before(copied, b, a) >= both - 1)
        for some in copied.cyclic_points():
            self._ranks(copied, some)
        return NoOverlap(copied.intervals)

    def _ranks(self, c: NoOverlap, some: tuple[int, ...]) -> None:
        """Add the ranks of the intervals at some positions, and the comparisons between them."""
        n = len(some)
        ranks = [self.auxiliary(f"rank {k}", 0, n - 1, partial(_rank, c.part(some), k)) for k in range(n)]
        for k, m in permutations(range(n), 2):
            i, j = some[k], some[m]
            if bool(c.transition(i, j)) != bool(c.transition(j, i)):
                held = _before(c, i, j) + c.intervals[i].presence + c.intervals[j].presence
                self.add(ranks[k] + 1 + n * held <= ranks[m] + 3 * n)


def _before(c: NoOverlap, i: int, j: int) -> Linear:
    """Return 1 if the interval at position i and the transition end before the one at position j starts, else 0."""
    return holds(c.intervals[i].end + c.transition(i, j) <= c.intervals[j].start)


def _rank(c: NoOverlap, k: int, evaluator: Evaluator) -> int:
    """Return the rank of the interval at position k; 0 if it is absent or there is no order."""
    s = evaluator.assignment
    spans = [(s.start[v.index], s.end[v.index]) if s.present[v.index] else None for v in c.intervals]
    order = c.sequence(spans) or []
    if k in order:
        return order.index(k)
    return 0


# --- The decomposition of sequences: truth values of direct neighbours, and comparisons of their times.
#
# For the intervals of a sequence, besides a no_overlap, with truth values
#
#     x[i,j]   j directly follows i
#     f[i]     i is the first one
#     l[i]     i is the last one
#
#     sum_j x[i,j] + l[i] = p[i],   sum_j x[j,i] + f[i] = p[i],   sum_i f[i] <= 1
#     s[j] - e[i] >= lo(s[j] - e[i]) (1 - x[i,j])
#
# The times exclude cycles, as all sizes are at least 1, and one first interval makes one chain. Pairs that the start windows
# exclude have no x. Then
#
#     first, last       f[i] >= p[i],   l[i] >= p[i]
#     previous i, j     x[i,j] >= p[i] + p[j] - 1
#     transitions       s[j] - e[i] - t[i,j] >= lo(s[j] - e[i] - t[i,j]) (1 - x[i,j]),
#                       or a no_overlap with times for all pairs, if no way over a third one is shorter
#     costs             sum c[i,j] x[i,j] + sum first[i] f[i] + sum last[i] l[i]
#     the same          p[i] = p'[i],   x[i,j] = x'[i,j]
#     before i, j       the precedence e[i] <= s[j]
#     no idle time      max_i (e[i] + L (1 - p[i])) - min_i (s[i] + U (1 - p[i])) <= sum_i z[i]
#
# where L is the earliest start, and U the latest end. If none is present, the left side is L - U <= 0.


class Arcs:
    """The truth values x, f and l of a sequence, by the positions of its intervals.

    Parameters
    ----------
    intervals : tuple of Interval
        Of the decomposed model.
    """

    def __init__(self, intervals: tuple[Interval, ...]) -> None:
        self.intervals = intervals
        self.next: dict[tuple[int, int], Integer] = {}
        self.first: list[Integer] = []
        self.last: list[Integer] = []
        self._seen: Evaluator | None = None
        self._pairs: set[tuple[int, int]] = set()
        self._ends: tuple[int, int] = (-1, -1)

    def follows(self, evaluator: Evaluator, i: int, j: int) -> int:
        """Return 1 if the interval at position j directly follows that at position i, else 0."""
        self._look(evaluator)
        return int((i, j) in self._pairs)

    def ends(self, evaluator: Evaluator, side: int, i: int) -> int:
        """Return 1 if the interval at position i is the first one (side 0) or the last one (side 1), else 0."""
        self._look(evaluator)
        return int(self._ends[side] == i)

    def _look(self, evaluator: Evaluator) -> None:
        if evaluator is self._seen:
            return
        order = by_start(self.intervals, evaluator.assignment)
        self._seen = evaluator
        self._pairs = set(pairwise(order))
        if order:
            self._ends = (order[0], order[-1])
        else:
            self._ends = (-1, -1)


class Sequences(Decomposition):
    """What is said of the order of a sequence becomes truth values of direct neighbours (formulas: above)."""

    replaces = SEQUENCES

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint."""
        copied = super().constraint(c)
        match copied:
            case Order(intervals, one, kind, other):
                self._order(intervals, one, kind, other)
            case DirectTransitions():
                self._transitions(copied)
            case NoIdle(intervals):
                self._no_idle(intervals)
            case SameSequence(intervals, others):
                self._same(intervals, others)
            case _:
                return copied
        return None

    def function(self, atom: Function) -> Linear:
        """Return the copy of a function, or what replaces it."""
        if not isinstance(atom, Neighbours):
            return super().function(atom)
        arcs = self._arcs(self.several(atom.intervals))
        kinds = atom.types
        parts = [x.linear() * atom.costs[kinds[i]][kinds[j]] for (i, j), x in arcs.next.items()]
        for kind, f, last in zip(kinds, arcs.first, arcs.last, strict=True):
            parts += [f.linear() * atom.first[kind], last.linear() * atom.last[kind]]
        return total(parts)

    def _order(self, intervals: tuple[Interval, ...], one: Interval, kind: str, other: Interval | None) -> None:
        i = intervals.index(one)
        if kind == "before":
            assert other is not None
            self.add(NoOverlap(intervals))
            self.add(Precedence(one, other, 0, "end_before_start"))
            return
        arcs = self._arcs(intervals)
        if kind in ("first", "last"):
            if kind == "first":
                side = arcs.first
            else:
                side = arcs.last
            self.add_range(side[i] - one.presence, 0, math.inf)
            return
        assert other is not None
        follows = arcs.next.get((i, intervals.index(other)))
        both = one.presence + other.presence
        self.add_range((follows if follows is not None else 0) - both, -1, math.inf)

    def _transitions(self, c: DirectTransitions) -> None:
        pairs = c.of_all_pairs()
        if pairs is not None:
            self.add(pairs)
            return
        arcs = self._arcs(c.intervals)
        for (i, j), x in arcs.next.items():
            if c.transition(i, j):
                self._after(c.intervals[i], c.intervals[j], c.transition(i, j), x)

    def _no_idle(self, intervals: tuple[Interval, ...]) -> None:
        if not intervals:
            return
        self.add(NoOverlap(intervals))
        early = min(v.start_lo for v in intervals)
        late = max(v.start_hi + v.size_hi for v in intervals)
        end = sl.max([v.end + early * _absent(v) for v in intervals])
        start = sl.min([v.start + late * _absent(v) for v in intervals])
        self.add_range(end - start - total([v.size for v in intervals]), -math.inf, 0)

    def _same(self, intervals: tuple[Interval, ...], others: tuple[Interval, ...]) -> None:
        for v, w in zip(intervals, others, strict=True):
            self.add_range(v.presence - w.presence, 0, 0)
        left, right = self._arcs(intervals), self._arcs(others)
        for pair in left.next.keys() | right.next.keys():
            here = left.next.get(pair)
            there = right.next.get(pair)
            gap = Linear({}, 0)
            if here is not None:
                gap = here.linear()
            if there is not None:
                gap = gap - there
            self.add_range(gap, 0, 0)

    def _arcs(self, intervals: tuple[Interval, ...]) -> Arcs:
        """Return the truth values of a sequence; each constraint has its own, so that a conflict names the right ones."""
        made = Arcs(intervals)
        n = len(intervals)
        if n > 1:
            self.add(NoOverlap(intervals))
        for i, j in permutations(range(n), 2):
            gap = intervals[j].start - intervals[i].end
            if self.bounds.of(gap)[1] >= 0:
                name = f"{intervals[j].name} after {intervals[i].name}"
                made.next[i, j] = x = self.auxiliary(name, 0, 1, partial(made.follows, i=i, j=j))
                self._after(intervals[i], intervals[j], 0, x)
        for i, v in enumerate(intervals):
            for side, several, what in ((0, made.first, "first"), (1, made.last, "last")):
                several.append(self.auxiliary(f"{v.name} {what}", 0, 1, partial(made.ends, side=side, i=i)))
            after = total([made.next[i, j] for j in range(n) if (i, j) in made.next])
            before = total([made.next[j, i] for j in range(n) if (j, i) in made.next])
            self.add_range(after + made.last[i] - v.presence, 0, 0)
            self.add_range(before + made.first[i] - v.presence, 0, 0)
        if n > 1:
            self.add_range(total(made.first), 0, 1)
        return made

    def _after(self, v: Interval, w: Interval, time: int, x: Integer) -> None:
        """Require a time between two intervals if a truth value is 1."""
        gap = w.start - v.end - time
        least = self.bounds.of(gap)[0]
        if least < 0:
            self.add_range(gap + least * x, least, math.inf)


def _absent(v: Interval) -> Linear:
    if v.optional:
        return 1 - v.presence
    return Linear({}, 0)


# --- Decompositions of functions of time: levels, compared at the times at which they may leave their bounds.
#
# For a change of interval i by h[i] with the time ``t[i]`` (its start or end), the contribution at a time T is
#
#     h[i] holds(t[i] <= T)                          if i is not optional
#     h[i] holds(t[i] + M (1 - p[i]) <= T)           if it is, M = max(0, hi(T) + 1): false for an absent i, whose t[i] is 0
#     h[i] (holds(s[i] <= T) - holds(e[i] <= T))     for a pulse: 0 for an absent i, as s[i] = e[i] = 0
#     h holds(T >= t)                                for a step of h at t
#
# and L(T) is their sum; a variable h[i] is multiplied with the truth values. The level rises above hi only at a change
# that can be positive, and falls below lo only at one that can be negative, so it is enough to compare it there:
#
#     at all times           lo <= 0 <= hi;   lo <= L(T) <= hi for the times T of these changes
#     in a window [a, b)     lo <= L(a) <= hi;   the same for the T with a < T < b
#     during an interval d   the same with its start and end, if it is present with a size above 0
#
# "If" is a truth value q, and big-M: ``L(T) + (max L - hi) q <= max L``. The time of an absent interval is 0, at which the
# level must be inside as well, if 0 is within the window.


class Times(NamedTuple):
    """When the bounds hold: the first time, the time before which they hold (both None: always), and the condition for it."""

    begin: Linear | None
    end: Linear | None
    condition: Linear


class Levels(Decomposition):
    """A level becomes comparisons of truth values (formulas: above)."""

    replaces = LEVELS

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint."""
        copied = super().constraint(c)
        if not isinstance(copied, Level) or not any(k in self.missing for k in of_level(copied)):
            return copied
        when = self._times(copied)
        if when.begin is None:
            if not (copied.lo or 0) <= 0 <= (copied.hi or 0):
                self.impossible()
        else:
            self._inside(copied, when.begin, when.condition, above=True, below=True)
        for time, above, below in self._events(copied):
            inner = Linear({}, 1)
            if when.begin is not None and when.end is not None:
                inner = holds(time >= when.begin + 1) + holds(time <= when.end - 1) - 1
            self._inside(copied, time, inner, above, below)
        return None

    def _times(self, c: Level) -> Times:
        if c.window is not None:
            return Times(linear(c.window[0]), linear(c.window[1]), Linear({}, 1))
        d = c.during
        if d is None:
            return Times(None, None, Linear({}, 1))
        return Times(d.start.linear(), d.end.linear(), d.presence.linear() if d.size_lo > 0 else holds(d.size >= 1))

    def _events(self, c: Level) -> list[tuple[Linear, bool, bool]]:
        """Return each time of a change, whether the level can rise there, and whether it can fall."""
        kinds: dict[tuple[int, str], tuple[Linear, bool, bool]] = {}

        def note(key: tuple[int, str], time: Linear, least: float, most: float) -> None:
            rises = most > 0
            falls = least < 0
            if key in kinds:
                rises = rises or kinds[key][1]
                falls = falls or kinds[key][2]
            kinds[key] = (time, rises, falls)

        for edge, v, height in c.changes:
            least, most = self.bounds.of(height)
            if edge != "at_end":
                note((v.index, "start"), v.start.linear(), least, most)
            if edge == "at_end":
                note((v.index, "end"), v.end.linear(), least, most)
            if edge == "pulse":
                note((v.index, "end"), v.end.linear(), -most, -least)
        for time, amount in c.steps:
            note((time, "step"), linear(time), amount, amount)
        return list(kinds.values())

    def _inside(self, c: Level, time: Linear, condition: Linear, above: bool, below: bool) -> None:
        """Require the bounds at a time, if a truth value is 1."""
        if not (above and c.hi is not None) and not (below and c.lo is not None):
            return
        level = self._level(c, time)
        least, most = self.bounds.of(level)
        if above and c.hi is not None and most > c.hi:
            self.add_range(level + (most - c.hi) * condition, -math.inf, most)
        if below and c.lo is not None and least < c.lo:
            self.add_range(level + (least - c.lo) * condition, least, math.inf)

    def _level(self, c: Level, time: Linear) -> Linear:
        """Return the level at a time, which may be that of an absent interval."""
        latest = int(self.bounds.of(time)[1])
        parts = [amount * holds(time >= t) for t, amount in c.steps]
        for edge, v, height in c.changes:
            if edge == "pulse":
                if v.size_hi == 0:
                    continue
                made = holds(v.start <= time) - holds(v.end <= time)
            else:
                made = _made(v, v.start.linear() if edge == "at_start" else v.end.linear(), time, latest)
            parts.append(made * height)
        return total(parts)


def _made(v: Interval, own: Linear, time: Linear, latest: int) -> Linear:
    """Return whether a change at a time of an interval is made at ``time``, which is at most ``latest``."""
    if not v.optional:
        return holds(own <= time)
    return holds(own + max(0, latest + 1) * (1 - v.presence) <= time)


# --- The decomposition of state functions: each pair of intervals is in one segment, or one is after the other.
#
# For the value q[i] that interval i requires, a number or a whole number in a range, and the
# transition times t, for each pair i, j of a state function:
#
#     holds(e[i] + t[q[i], q[j]] <= s[j]) + holds(e[j] + t[q[j], q[i]] <= s[i]) + together[i,j] >= p[i] + p[j] - 1
#
# where together[i,j] is the truth value of
#
#     q[i] = q[j]
#     s[i] = s[j]     if both are start-aligned;  s[i] <= s[j] if i alone is;  s[j] <= s[i] if j alone is
#     e[i] = e[j]     if both are end-aligned;    e[i] >= e[j] if i alone is;  e[j] >= e[i] if j alone is
#
# Pairs are enough: if i and j are in one segment, and j and k are, but i and k are not for their alignments, then i and k are
# apart, and j, which overlaps both or lies between them, contradicts the alignment of one of them. Two intervals that are
# not neighbours in time keep their transition time by the triangle inequality.


class States(Decomposition):
    """A state function becomes comparisons of each pair of intervals (formulas: above)."""

    replaces = STATES

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint."""
        copied = super().constraint(c)
        if not isinstance(copied, StateFunction) or not any(k in self.missing for k in of_state(copied)):
            return copied
        values = [self._value(copied, k) for k in range(len(copied.uses))]
        for i, j in combinations(range(len(copied.uses)), 2):
            self._pair(copied, (i, j), (values[i], values[j]))
        return None

    def _value(self, c: StateFunction, k: int) -> Linear:
        """Return the value that use k requires: a number, or a new variable."""
        interval, value, _, _ = c.uses[k]
        if value is not None:
            return Linear({}, value)
        name = f"state of {interval}"
        return self.auxiliary(name, 0, c.values[-1], partial(_state, c=c, k=k)).linear()

    def _pair(self, c: StateFunction, places: tuple[int, int], values: tuple[Linear, Linear]) -> None:
        one, other = (c.uses[k] for k in places)
        v, w = one[0], other[0]
        together = _together(one, other, values)
        if together is None:
            return
        apart = self._before(c, (v, w), values) + self._before(c, (w, v), values[::-1])
        self.add_range(apart + together - v.presence - w.presence, -1, float("inf"))

    def _before(self, c: StateFunction, pair: tuple[Interval, Interval], values: tuple[Linear, ...]) -> Linear:
        """Return 1 if the first interval and the transition end before the second one starts, else 0."""
        left, right = values
        time: Linear
        if not any(map(any, c.transitions)):
            time = Linear({}, 0)
        elif left.terms or right.terms:
            k = len(c.transitions)
            time = element([t for row in c.transitions for t in row], k * left + right)
        else:
            time = Linear({}, c.transition(int(left.constant), int(right.constant)))
        return holds(pair[1].start - pair[0].end - time >= 0)


def _together(one: StateUse, other: StateUse, values: tuple[Linear, Linear]) -> Linear | None:
    """Return the truth value that two intervals can be in one segment; None if they always can."""
    (v, _, first, last), (w, _, other_first, other_last) = one, other
    needed: list[Comparison] = []
    gap = values[0] - values[1]
    if gap.terms:
        needed.append(gap == 0)
    elif gap.constant:
        return Linear({}, 0)
    for mine, others, left, right in (
        (first, other_first, v.start, w.start),
        (last, other_last, w.end, v.end),
    ):
        if mine and others:
            needed.append(left - right == 0)
        elif mine:
            needed.append(left - right <= 0)
        elif others:
            needed.append(left - right >= 0)
    if not needed:
        return None
    return holds(needed[0] if len(needed) == 1 else all_of(needed))


def _state(evaluator: Evaluator, c: StateFunction, k: int) -> int:
    """Return the value of use k in segments that obey the state function; 0 if it has none."""
    return segments(c, evaluator.assignment).values[k] or 0


# --- Decompositions of calendars, domains with holes, spans, isomorphisms, and of capacities and lags that are expressions.
#
# Symbols for an interval i: ``s[i]``, ``e[i]``, ``z[i]``, ``p[i]`` are its start, end, size and presence, all 0 if it is
# absent. ``hi`` and ``lo`` of an expression are its bounds.


class Structures(Decomposition):
    """These constraints become comparisons, and a variable capacity a cumulative; the formulas stand at each method."""

    replaces = STATED

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint."""
        copied = super().constraint(c)
        if not isinstance(copied, Stated) or OF_STATED[type(copied)] not in self.missing:
            return copied
        match copied:
            case Intensity():
                self._intensity(copied)
            case InDomain():
                self._in_domain(copied)
            case Span():
                self._span(copied)
            case Isomorphism():
                self._isomorphism(copied)
            case VariableCapacity():
                return self._capacity(copied)
            case VariableDelay():
                self._delay(copied)
        return None

    def _intensity(self, c: Intensity) -> None:
        """Require the work W to lie between A and B, for the intensity r at the end of time and ``q[k]`` in [t[k], t[k+1]).

        ::

            W = r z + sum_k (q[k] - r) overlap(i, t[k], t[k+1]),   100 A p <= W <= 100 B + 99
        """
        v = c.interval
        if breaks_only(c):
            self._breaks(c)
            return
        work = percents_of_work(c)
        low, high = c.work
        self.add_range(work - FULL * low * v.presence, 0, math.inf)
        self.add_range(work, -math.inf, FULL * high + FULL - 1)

    def _breaks(self, c: Intensity) -> None:
        """Choose one of the ``Stretch`` of a calendar with breaks: ``w[k]`` is 1 for the one in which start and end lie.

        ::

            sum_k w[k] = p,   w[k] in {0, 1}
            sum_k lo(s, k) w[k] <= s[i] <= sum_k hi(s, k) w[k],   the same for the end and the size
        """
        v = c.interval
        made = stretches(c)
        chosen = [
            self.auxiliary(f"{v} in {k} of its calendar", 0, 1, partial(_within, v=v, one=one))
            for k, one in enumerate(made)
        ]
        self.add_range(total(chosen) - v.presence, 0, 0)
        for x, of in ((v.start, "starts"), (v.end, "ends"), (v.size, "sizes")):
            limits = [getattr(one, of) for one in made]
            self.add_range(x - total(chosen, [low for low, _ in limits]), 0, math.inf)
            self.add_range(x - total(chosen, [high for _, high in limits]), -math.inf, 0)

    def _in_domain(self, c: InDomain) -> None:
        """Require an expression x to lie in one of the windows ``[a[k], b[k]]``, if an interval with the presence p is present.

        ::

            sum_k w[k] = p,   w[k] in {0, 1}
            lo(x) + sum_k (a[k] - lo(x)) w[k] <= x <= hi(x) + sum_k (b[k] - hi(x)) w[k]
        """
        x = c.expression
        low, high = (int(b) for b in self.bounds.of(x))
        windows = c.within(low, high)
        if c.interval is None:
            present = linear(1)
        else:
            present = c.interval.presence.linear()
        if windows == ((low, high),):
            self.add_range(x, low, high)  # it may have no value
            return
        if len(windows) < 2:
            w = [present] * len(windows)
            if not windows:
                self.add_range(present, 0, 0)
        else:
            made = [
                self.auxiliary(f"{x} in {window}", 0, 1, partial(_inside, x=x, present=present, window=window))
                for window in windows
            ]
            w = [one.linear() for one in made]
            self.add_range(total(made) - present, 0, 0)
        self.add_range(x - total(w, [a - low for a, _ in windows]), low, math.inf)
        self.add_range(x - total(w, [b - high for _, b in windows]), -math.inf, high)

    def _span(self, c: Span) -> None:
        """Require an interval i to span its parts J, for M above all ends and N such that -N is below them.

        ::

            min_{j in J} s[j] + M (1 - p[j]) = s[i] + M (1 - p[i])
            max_{j in J} e[j] - N (1 - p[j]) = e[i] - N (1 - p[i])

        If no part is present, the min is M and the max is -N, so that i is absent, and the other way round. These
        follow, and are added: each j is within i, if both are present, and ``p[j] <= p[i]``.
        """
        several = c.members
        most = max(v.start_hi + v.size_hi for v in several) + 1
        least = 1 - min(v.start_lo + v.size_lo for v in several)
        m, n = max(most, 1), max(least, 1)
        starts = [v.start + m * (1 - v.presence) if v.optional else v.start.linear() for v in several]
        ends = [v.end - n * (1 - v.presence) if v.optional else v.end.linear() for v in several]
        self.add_range(sl.min(starts[1:]) - starts[0], 0, 0)
        self.add_range(sl.max(ends[1:]) - ends[0], 0, 0)
        for part in c.parts:
            self.add(Precedence(c.interval, part, 0, "start_before_start"))
            self.add(Precedence(part, c.interval, 0, "end_before_end"))
            if c.interval.optional:
                self.add_range(part.presence - c.interval.presence, -math.inf, 0)

    def _isomorphism(self, c: Isomorphism) -> None:
        """Choose the partner of each present interval: ``m[i,j]`` is 1 if i of the first list and j of the second are a pair.

        ::

            sum_j m[i,j] = p[i] for each i,   sum_i m[i,j] = p[j] for each j
            lo (1 - m[i,j]) <= s[i] - s[j] <= hi (1 - m[i,j]),   the same for the ends
        """
        pairs = {
            (i, j): self.auxiliary(f"{v} is {w}", 0, 1, partial(_partners, c=c, v=v, w=w))
            for i, v in enumerate(c.first)
            for j, w in enumerate(c.second)
        }
        for i, v in enumerate(c.first):
            self.add_range(total([pairs[i, j] for j in range(len(c.second))]) - v.presence, 0, 0)
        for j, w in enumerate(c.second):
            self.add_range(total([pairs[i, j] for i in range(len(c.first))]) - w.presence, 0, 0)
        for (i, j), m in pairs.items():
            v, w = c.first[i], c.second[j]
            if v is w:
                continue
            for gap in (v.start - w.start, v.end - w.end):
                low, high = self.bounds.of(gap)
                if low < 0:
                    self.add_range(gap - low * (1 - m), 0, math.inf)
                if high > 0:
                    self.add_range(gap - high * (1 - m), -math.inf, 0)

    def _capacity(self, c: VariableCapacity) -> Constraint | None:
        """Return a cumulative within the greatest capacity ``hi(C)``, in which a fixed interval takes ``hi(C) - C``."""
        most = int(self.bounds.of(c.capacity)[1])
        members, demands = list(c.intervals), list(c.demands)
        begin = min((v.start_lo for v in members), default=0)
        end = max((v.start_hi + v.size_hi for v in members), default=0)
        if begin < end:
            fixed = self.model.interval(f"{self.name}, capacity", end - begin, begin)
            self.settle(fixed, begin, end)
            rest = most - c.capacity
            members.append(fixed)
            demands.append(rest if rest.terms else int(rest.constant))
        return Cumulative(tuple(members), tuple(demands), ((0, most),))

    def _delay(self, c: VariableDelay) -> None:
        """Require ``f[i] + d <= g[j]`` if i and j are present, for the ends f and g; the same for a maximum lag D backwards.

        ::

            f[i] + d - g[j] <= U (2 - p[i] - p[j]),   U = max(0, hi(f[i] + d - g[j]))
            g[j] - f[i] - D <= V (2 - p[i] - p[j]),   V = max(0, hi(g[j] - f[i] - D))
        """
        left, right = c.ends
        absent = total([1 - v.presence for v in (c.before, c.after) if v.optional])
        late = [left + c.delay - right] + ([] if c.at_most is None else [right - left - c.at_most])
        for e in late:
            most = max(0, int(self.bounds.of(e)[1]))
            self.add_range(e - most * absent, -math.inf, 0)


def _inside(ev: Evaluator, x: Linear, present: Linear, window: tuple[int, int]) -> int:
    """Return whether an expression is in a window, and the interval is present."""
    return int(ev.value(present) == 1 and window[0] <= ev.value(x) <= window[1])


def _partners(ev: Evaluator, c: Isomorphism, v: Interval, w: Interval) -> int:
    """Return whether two intervals are partners: both lists are sorted by start and end."""
    s = ev.assignment

    def order(side: tuple[Interval, ...]) -> list[Interval]:
        present = [x for x in side if s.present[x.index]]
        return sorted(present, key=lambda x: (s.start[x.index], s.end[x.index], x.index))

    first, second = order(c.first), order(c.second)
    place = next((k for k, x in enumerate(first) if x is v), -1)
    return int(0 <= place < len(second) and second[place] is w)


def _within(ev: Evaluator, v: Interval, one: Stretch) -> int:
    """Return whether an interval is present and lies in a pair of pieces of its calendar."""
    s = ev.assignment
    return int(s.present[v.index] and one.holds(s.start[v.index], s.end[v.index]))


# --- Calendars with breaks alone: the pairs of pieces of time in which an interval of fixed work starts and ends.
#
# The intensity is 100 percent (work) or 0 (a break) in pieces [a, b] of time. W(t) is the work from the first piece to t, so
# that an interval of work A from s to e has W(e) = W(s) + A. For s in the piece i and e in the piece j::
#
#     i work,  j work      e - s = d with d = A + (a[j] - W(a[j])) - (a[i] - W(a[i]))
#     i work,  j break     s = a[i] + W(a[j]) - A - W(a[i]),  e anywhere in j
#     i break, j work      e = a[j] + W(a[i]) + A - W(a[j]),  s anywhere in i
#     i break, j break     W(a[j]) = W(a[i]) + A,  s anywhere in i, e anywhere in j
#
# A time at which work and a break meet belongs to the work, so that each start and end lie in one pair.


Range = tuple[int, int]


class Stretch(NamedTuple):
    """The least and the greatest start, end and size of an interval within a pair of pieces."""

    starts: Range
    ends: Range
    sizes: Range

    def holds(self, start: int, end: int) -> bool:
        """Return whether an interval with this start and end lies in the pair."""
        pairs = ((start, self.starts), (end, self.ends), (end - start, self.sizes))
        return all(low <= x <= high for x, (low, high) in pairs)


class Piece(NamedTuple):
    """A piece of time with both ends, whether it is work, and the work before it."""

    first: int
    last: int
    works: bool
    before: int

    def within(self, starts: Range) -> Range:
        """Return the part of a range of times that lies in the piece."""
        return max(self.first, starts[0]), min(self.last, starts[1])


def breaks_only(c: Intensity) -> bool:
    """Return whether the work is fixed and at least 1, and the intensity 0 or 100 percent everywhere."""
    low, high = c.work
    return low == high >= 1 and all(percent in (0, FULL) for _, percent in c.steps)


def percents_of_work(c: Intensity) -> Linear:
    """Return 100 times the work of an interval with any calendar: the percents of the pieces times the overlaps with them.

    With the percent of the last piece, which goes on, the rest need not be known.
    """
    v = c.interval
    rest = c.steps[-1][1]
    pieces = c.pieces(v.start_lo, v.start_hi + v.size_hi)
    parts = [(percent - rest) * overlap(v, a, b) for a, b, percent in pieces if percent != rest]
    return total([rest * v.size, *parts])


def stretches(c: Intensity) -> list[Stretch]:
    """Return the pairs of pieces that are possible; of an interval whose calendar has ``breaks_only``.

    Examples
    --------
    >>> from schedlab import Model
    >>> a = Model("m").interval("a", size=(0, 9), start=(0, 5))
    >>> [s.starts for s in stretches(Intensity(a, (3, 3), ((0, 100), (4, 0), (6, 100))))]
    [(0, 1), (1, 1), (1, 4), (5, 5)]
    """
    v = c.interval
    pieces = _pieces(c)
    some = (_pair(one, other, c.work[0]) for k, one in enumerate(pieces) for other in _ends(pieces[k:], one, c.work[0]))
    windows = [(max(s, v.start_lo), min(t, v.start_hi)) for s, t in v.windows]
    out = []
    for stretch in some:
        for window in windows:
            cut = _cut(stretch, window, (v.size_lo, v.size_hi))
            if cut is not None:
                out.append(cut)
    return out


def _pieces(c: Intensity) -> list[Piece]:
    """Return the pieces from the first start to the last end; equal neighbours are one, and breaks are without their ends."""
    v = c.interval
    joined: list[list[int]] = []
    for first, last, percent in c.pieces(v.start_lo, v.start_hi + v.size_hi):
        if joined and joined[-1][2] == percent:
            joined[-1][1] = last
        else:
            joined.append([first, last, percent])
    out, work = [], 0
    for k, (first, last, percent) in enumerate(joined):
        if percent:
            out.append(Piece(first, last, True, work))
            work += last - first
        else:
            out.append(Piece(first + (k > 0), last - (k + 1 < len(joined)), False, work))
    return [piece for piece in out if piece.first <= piece.last]


def _ends(later: list[Piece], one: Piece, work: int) -> Iterator[Piece]:
    """Yield the pieces in which an interval ends that starts in a piece."""
    most = one.before + work + (one.last - one.first if one.works else 0)
    for other in later:
        if other.before > most:
            return
        if other.before + (other.last - other.first if other.works else 0) >= one.before + work:
            yield other


def _pair(one: Piece, other: Piece, work: int) -> Stretch:
    starts, ends = (one.first, one.last), (other.first, other.last)
    todo = one.before + work - other.before  # of an interval that starts with the first piece, in the second one
    if one.works and other.works:
        size = todo + other.first - one.first
        starts = max(one.first, other.first - size), min(one.last, other.last - size)
        return Stretch(starts, (starts[0] + size, starts[1] + size), (size, size))
    if one.works:
        starts = (one.first - todo, one.first - todo)
    elif other.works:
        ends = (other.first + todo, other.first + todo)
    return Stretch(starts, ends, (ends[0] - starts[1], ends[1] - starts[0]))


def _cut(one: Stretch, window: Range, sizes: Range) -> Stretch | None:
    """Return the part of a pair whose starts lie in a window and whose sizes lie in a range, None if it is empty."""
    starts = max(one.starts[0], window[0]), min(one.starts[1], window[1])
    size = max(one.sizes[0], sizes[0]), min(one.sizes[1], sizes[1])
    starts = max(starts[0], one.ends[0] - size[1]), min(starts[1], one.ends[1] - size[0])
    ends = max(one.ends[0], starts[0] + size[0]), min(one.ends[1], starts[1] + size[1])
    if starts[0] > starts[1] or ends[0] > ends[1] or size[0] > size[1]:
        return None
    return Stretch(starts, ends, size)
