"""The efficiency of the days of a schedule: the PUE of a day and that of its slope-change point [Bridi2018, 6.8.3].

Where the thesis leaves a choice, the definitions are:

- A day is used if at least 23 hours of it, and of the day before, lie in the period. The utilisation is that of the day
  before: its core-hours over those of the machine.
- The PUE of a day is the energy of work and cooling over that of work.
- The slope-change point of a day is the PUE at the slope change of the cooling curve, as the mean over its segments
  that have one, weighted by their lengths.
- If the PUE of a day lies above this point, efficiency was given up for profit: the near-optimal schedule maximised the
  utilisation. A PUE equal to the point counts as below it.
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

ON_THE_POINT = 1e-9  # a smaller difference of PUEs is rounding
WHOLE = 23 * HOUR  # of a day: the period may end shortly before midnight, at the last submission


@dataclass(frozen=True)
class Day:
    """A day of a schedule.

    Parameters
    ----------
    begin : int
        The begin of the day in seconds.
    cooling : str
        The name of the cooling.
    utilisation : float
        The core-hours of the day before as a share of those of the machine.
    pue, slope_change : float
        The PUE of the day, and that of the slope-change point.
    """

    begin: int
    cooling: str
    utilisation: float
    pue: float
    slope_change: float

    @property
    def distance(self) -> float:
        """The PUE less that of the slope-change point."""
        return self.pue - self.slope_change

    @property
    def aim(self) -> Advice:
        """The aim that the schedule of the day followed.

        Examples
        --------
        >>> Day(86400, "hybrid", 0.9, pue=1.09, slope_change=1.08).aim
        'maximise utilisation'
        """
        return MAXIMISE if self.distance > ON_THE_POINT else OPTIMISE


@dataclass(frozen=True)
class Days:
    """The days of a schedule that can be used, and how often each reason excluded another day."""

    days: tuple[Day, ...]
    left_out: Counter[str] = field(default_factory=Counter)


def days(problem: Profit, schedule: Schedule, to_the_end: bool = False) -> Days:
    """Return the days of a schedule up to ``horizon_end`` of the problem, or to the end of the last job.

    Parameters
    ----------
    problem : Profit
        The problem.
    schedule : Schedule
        The start of each job.
    to_the_end : bool, default False
        Whether the period ends with the last job, if that is later than ``horizon_end``.

    Returns
    -------
    Days
        The days.

    Raises
    ------
    KeyError
        If a job has no start.
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
    """Return the time-weighted mean PUE at the slope change of the segments that have one; None if none has one."""
    weighted = seconds = 0.0
    for s in segments:
        power = problem.cooling.slope_change(s.celsius)
        pue = None if power is None else problem.cooling.pue(power, s.celsius)
        if pue is not None:
            weighted += (s.end - s.begin) * pue
            seconds += s.end - s.begin
    return weighted / seconds if seconds else None


__all__ = ["Day", "Days", "days", "slope_change_pue"]
