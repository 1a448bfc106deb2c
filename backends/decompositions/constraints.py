"""Decompositions of constraints: cumulative, alternative, synchronize, no_overlap, precedences, transition times."""

from __future__ import annotations

import math
from functools import partial
from itertools import combinations, pairwise, permutations

from ...models.language import (
    AllOrNone,
    Alternative,
    Comparison,
    Constraint,
    Cumulative,
    Evaluator,
    ForbidExtent,
    Interval,
    Linear,
    NoOverlap,
    Precedence,
    Synchronize,
    holds,
)
from ...models.language import sum as total
from .constructs import PRECEDENCES, Construct
from .decomposition import Decomposition

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
# Symbols, here and in the other modules, for an interval i: ``s[i]``, ``e[i]``, ``z[i]``, ``p[i]`` are its start, end,
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
        most = math.inf if c.at_most is None else c.at_most
        ordered = Comparison(Linear(lag.terms), c.delay - lag.constant, most - lag.constant)
        optional = [v for v in (i, j) if v.optional]
        if not optional:
            return ordered
        both: Linear = total([v.presence for v in optional])
        return holds(both >= len(optional)) <= holds(ordered)


# --- Decompositions of forbid_extent, and of the transition times of a no_overlap.
#
# Symbols as in ``scheduling``.


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
        return Cumulative((copied.interval,), (1,), copied.steps) if copied.windows else None


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
    return order.index(k) if k in order else 0
