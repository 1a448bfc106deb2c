"""The decomposition of state functions: each pair of intervals is in one segment, or one is after the other."""

from __future__ import annotations

from functools import partial
from itertools import combinations

from ...models.language import (
    Comparison,
    Constraint,
    Evaluator,
    Interval,
    Linear,
    StateFunction,
    all_of,
    element,
    holds,
)
from ...models.language.constraints import StateUse
from ...models.language.segments import segments
from .constructs import STATES, of_state
from .decomposition import Decomposition

# Symbols as in ``constraints``. For the value q[i] that interval i requires, a number or a whole number in a range, and the
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
    """A state function becomes comparisons of each pair of intervals (formulas: see the module)."""

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
