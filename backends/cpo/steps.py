"""Step functions of time: calendars of starts, forbidden windows, and capacities that vary."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from docplex.cp import modeler as cp
from docplex.cp.expression import INTERVAL_MIN
from docplex.cp.function import CpoStepFunction

from ...models.language import Cumulative, Interval
from ...models.language.expressions import Window


def calendar(v: Interval) -> Any:
    """Return a step function that is 0 in the gaps between an interval's start windows, and 1 elsewhere."""
    steps = [(INTERVAL_MIN, 1)]
    for (_, end), (begin, _) in pairwise(v.windows):
        steps += [(end + 1, 0), (begin, 1)]
    return CpoStepFunction(steps)


def outside(windows: tuple[Window, ...]) -> Any:
    """Return a step function that is 0 within the windows and 1 elsewhere."""
    return CpoStepFunction([(INTERVAL_MIN, 1), *(step for lo, hi in windows for step in ((lo, 0), (hi, 1)))])


def taken(c: Cumulative) -> tuple[list[Any], int]:
    """Return (the fixed pulses, the greatest capacity C) of a capacity over time, as in the module's text."""
    begin = min(v.start_lo for v in c.intervals)
    end = max(v.start_hi + v.size_hi for v in c.intervals)
    inside = [(begin, c.capacity_at(begin))] + [(t, capacity) for t, capacity in c.steps if begin < t < end]
    peak = max(capacity for _, capacity in inside)
    ends = [t for t, _ in inside[1:]] + [end]
    taken = [
        cp.pulse((t, u), peak - capacity)
        for (t, capacity), u in zip(inside, ends, strict=True)
        if capacity < peak and t < u
    ]
    return taken, peak
