"""Synthetic summer and winter temperatures, for instances that shall not depend on a weather file."""

from __future__ import annotations

import difflib
import math
import random
from collections.abc import Mapping
from dataclasses import dataclass

from ...models.step_function import StepFunction

WARMEST = 15  # o'clock
KEPT = 0.7  # of the drift from one day to the next


@dataclass(frozen=True)
class SyntheticSeason:
    """Degrees C: the mean, from the coldest to the warmest hour of a day, and the most that a day drifts anew."""

    mean: float
    swing: float
    drift: float


SEASONS: Mapping[str, SyntheticSeason] = {
    "summer": SyntheticSeason(23.0, 8.0, 1.5),
    "winter": SyntheticSeason(3.5, 5.0, 1.0),
}


def synthetic(season: str, days: int, seed: int) -> StepFunction:
    """Hourly temperatures of a season, from midnight on, rounded to 0.01 degrees.

    A cosine over the day, warmest at 15:00, about the mean of the season (summer 23 degrees with a swing of 8, winter 3.5
    with 5: near weeks of July and January in the Po valley), plus a drift: every day 0.7 times that of the day before and
    a new part, uniform within 1.5 degrees (winter: 1), linear from midnight to midnight. So summer stays within 14 and 32
    degrees, winter within -2.4 and 9.4. The same seed gives the same temperatures on every machine.

    Raises ValueError for another season, or less than a day.

    >>> synthetic("summer", 1, 7).at(15 * 3600) > synthetic("winter", 1, 7).at(15 * 3600)
    True
    """
    if season not in SEASONS:
        near = difflib.get_close_matches(season, SEASONS, n=1)
        raise ValueError(f"there is no season {season!r}; {f'did you mean {near[0]}' if near else 'summer or winter'}?")
    if days < 1:
        raise ValueError(f"temperatures of {days} days; at least 1 is expected")
    kind, draw = SEASONS[season], random.Random(seed)
    drift = [kind.drift * (2 * draw.random() - 1)]
    for _ in range(days):
        drift.append(KEPT * drift[-1] + kind.drift * (2 * draw.random() - 1))
    values = []
    for hour in range(24 * days):
        day, share = hour // 24, (hour % 24) / 24
        daily = kind.swing / 2 * math.cos(2 * math.pi * (hour % 24 - WARMEST) / 24)
        values.append(round(kind.mean + daily + (1 - share) * drift[day] + share * drift[day + 1], 2))
    return StepFunction.hourly(values)
