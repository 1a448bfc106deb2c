"""The decomposition of sequences: truth values of direct neighbours, and comparisons of their times."""

from __future__ import annotations

import math
from functools import partial
from itertools import pairwise, permutations

from ...models import language as sl
from ...models.language import (
    Constraint,
    DirectTransitions,
    Evaluator,
    Integer,
    Interval,
    Linear,
    NoIdle,
    NoOverlap,
    Order,
    Precedence,
    SameSequence,
)
from ...models.language import sum as total
from ...models.language.expressions import Function, Neighbours
from ...models.language.sequences import by_start
from .constructs import SEQUENCES
from .decomposition import Decomposition

# --- Symbols as in ``constraints``. For the intervals of a sequence, besides a no_overlap, with truth values
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
        self._ends = (order[0], order[-1]) if order else (-1, -1)


class Sequences(Decomposition):
    """What is said of the order of a sequence becomes truth values of direct neighbours (formulas: see the module)."""

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
            side = arcs.first if kind == "first" else arcs.last
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
            gap = (Linear({}, 0) if here is None else here.linear()) - (0 if there is None else there)
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
    return 1 - v.presence if v.optional else Linear({}, 0)
