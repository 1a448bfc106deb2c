"""The days of a schedule by efficiency: how its PUE stands to the point at which cooling turns dear (thesis 6.8.3).

Where the thesis leaves room: a day counts if at least 23 hours of it lie within the time looked at, and of the day before
too, whose utilisation is the share of the machine's core-hours. The PUE of a day is its energy over that of the work. Its
slope-change point is the PUE at the slope change of each segment's cooling curve, a mean weighted by the time of the
segments that have one. Efficiency is lost for profit where the PUE lies above that point, so there, and only there, the
near-optimal schedule is taken to maximise utilisation; a PUE on the point itself counts as below it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from ..problem import Schedule
from ..step_function import DAY, HOUR
from .accounting import daily, makespan
from .guide import MAXIMISE, OPTIMISE, Advice
from .problem import Profit
from .segments import Segment

ON_THE_POINT = 1e-9  # a smaller distance is rounding
WHOLE = 23 * HOUR  # of a day, so that the day of the last submission need not end with it


@dataclass(frozen=True)
class Day:
    """A day from ``begin`` (seconds). ``utilisation``: of the day before, a share of the core-hours; the rest are PUEs."""

    begin: int
    cooling: str
    utilisation: float
    pue: float
    slope_change: float

    @property
    def distance(self) -> float:
        """How far the PUE lies above the slope-change point."""
        return self.pue - self.slope_change

    @property
    def aim(self) -> Advice:
        """What the schedule of the day does.

        >>> Day(86400, "hybrid", 0.9, pue=1.09, slope_change=1.08).aim
        'maximise utilisation'
        """
        return MAXIMISE if self.distance > ON_THE_POINT else OPTIMISE


@dataclass(frozen=True)
class Days:
    """The days of a schedule that tell something, and why how many others do not."""

    days: tuple[Day, ...]
    left_out: Counter[str] = field(default_factory=Counter)


def days(problem: Profit, schedule: Schedule, to_the_end: bool = False) -> Days:
    """The days of a schedule, up to the problem's ``until``, or to the end of the last job.

    Raises KeyError for a job without a start.
    """
    end = problem.horizon_end
    if to_the_end:
        end = max(end, -(-makespan(problem, schedule) // DAY) * DAY)
    segments = problem.segments_to(end)
    found: list[Day] = []
    left_out: Counter[str] = Counter()
    whole = [a for a in daily(problem, schedule, end) if a.end - a.begin >= WHOLE]
    for before, today in pairwise(whole):
        point = slope_change_pue(problem, [s for s in segments if today.begin <= s.begin < today.end])
        if today.pue is None:
            left_out["nothing runs"] += 1
        elif point is None:
            left_out[f"cooling {problem.cooling.name!r} has no slope change at the temperatures of the day"] += 1
        else:
            found.append(Day(today.begin, problem.cooling.name, before.utilisation, today.pue, point))
    return Days(tuple(found), left_out)


def slope_change_pue(problem: Profit, segments: Sequence[Segment]) -> float | None:
    """The PUE at the slope change, its mean over the time of the segments that have one; None if none has."""
    weighted = seconds = 0.0
    for s in segments:
        power = problem.cooling.slope_change(s.celsius)
        pue = None if power is None else problem.cooling.pue(power, s.celsius)
        if pue is not None:
            weighted += (s.end - s.begin) * pue
            seconds += s.end - s.begin
    return weighted / seconds if seconds else None


__all__ = ["Day", "Days", "days", "slope_change_pue"]
