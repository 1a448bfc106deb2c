"""Decompositions of functions of time: levels, compared at the times at which they may leave their bounds; states."""

from __future__ import annotations

import math
from functools import partial
from itertools import combinations
from typing import NamedTuple

from ...models.language import (
    Comparison,
    Constraint,
    Evaluator,
    Interval,
    Level,
    Linear,
    StateFunction,
    all_of,
    element,
    holds,
)
from ...models.language import sum as total
from ...models.language.constraints import StateUse
from ...models.language.expressions import linear
from ...models.language.levels import segments
from .constructs import LEVELS, STATES, of_level, of_state
from .decomposition import Decomposition

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
    """A level becomes comparisons of truth values (formulas: see the module)."""

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
            _, above, below = kinds.get(key, (time, False, False))
            kinds[key] = time, above or most > 0, below or least < 0

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


# --- The decomposition of state functions: each pair of intervals is in one segment, or one is after the other.


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
