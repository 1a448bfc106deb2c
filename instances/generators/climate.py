"""Synthetic summer and winter temperatures, for instances without a weather file."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass

from ...errors import WrongValue
from ...models.excerpt import hint
from ...models.step_function import StepFunction
from ...models.words import how_many

WARMEST = 15  # warmest hour of the day
KEPT = 0.7  # share of the drift of a day that remains on the next day


@dataclass(frozen=True)
class SyntheticSeason:
    """Mean temperature, daily range, and largest new drift per day, all in degrees C."""

    mean: float
    swing: float
    drift: float


SEASONS: Mapping[str, SyntheticSeason] = {
    "summer": SyntheticSeason(23.0, 8.0, 1.5),
    "winter": SyntheticSeason(3.5, 5.0, 1.0),
}


def synthetic(season: str, days: int, seed: int) -> StepFunction:
    """Return hourly temperatures of a season, "summer" or "winter", from midnight on, rounded to 0.01 degrees C.

    The temperature is a cosine over the day plus a drift. The cosine has its maximum at 15:00 and the mean of the
    season (summer: 23 degrees, difference of warmest and coldest hour 8; winter: 3.5 and 5; close to weeks of July and
    January in the Po valley). The drift at midnight is 0.7 times that of the midnight before plus a new part, uniform
    within 1.5 degrees (winter: 1); it is linear from midnight to midnight. So summer stays within 14 and 32 degrees,
    winter within -2.4 and 9.4. The same seed gives the same temperatures on every machine.

    Raises ValueError for another season, or less than one day.

    >>> synthetic("summer", 1, 7).at(15 * 3600) > synthetic("winter", 1, 7).at(15 * 3600)
    True
    """
    if season not in SEASONS:
        raise WrongValue(f"there is no season {season!r}; {hint(season, SEASONS)}")
    if days < 1:
        raise WrongValue(f"temperatures of {how_many(days, 'day')}; at least 1 is expected")
    kind = SEASONS[season]
    draw = random.Random(seed)
    drift = [kind.drift * (2 * draw.random() - 1)]
    for _ in range(days):
        drift.append(KEPT * drift[-1] + kind.drift * (2 * draw.random() - 1))
    values = []
    for hour in range(24 * days):
        day = hour // 24
        share = (hour % 24) / 24
        daily = kind.swing / 2 * math.cos(2 * math.pi * (hour % 24 - WARMEST) / 24)
        values.append(round(kind.mean + daily + (1 - share) * drift[day] + share * drift[day + 1], 2))
    return StepFunction.hourly(values)
