"""The decomposition of levels: comparisons of the level at the times at which it may leave its bounds."""

from __future__ import annotations

import math
from typing import NamedTuple

from ...models.language import Constraint, Interval, Level, Linear, holds
from ...models.language import sum as total
from ...models.language.linear_expressions import linear
from .constructs import LEVELS, of_level
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
