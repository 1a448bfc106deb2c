"""Random models of levels: reservoirs, stocks and pulses with bounds at all times, in windows and during intervals."""

from __future__ import annotations

import random

from ...models.language import (
    Level,
    LevelFunction,
    Linear,
    Model,
    always_in,
    at_end,
    at_start,
    pulse,
    step_at,
)
from ...models.language import sum as total

PATTERN = "levels"


class RandomLevels:
    """A random model with one or two levels.

    Parameters
    ----------
    seed : int

    Attributes
    ----------
    model : Model
    used : set of str
        The constructs that it contains.
    """

    def __init__(self, seed: int) -> None:
        rng = self.rng = random.Random(f"levels {seed}")
        self.model = Model(f"random {seed}")
        self.used = {PATTERN}
        self.first = rng.choice([0, 0, 0, -3, 2])
        for k in range(rng.randint(2, 4)):
            size = rng.choice([0, 1, 2, 3])
            window = (self.first, self.first + rng.randint(2, 5))
            sizes = (size, size + rng.choice([0, 0, 0, 1]))
            self.model.interval(f"i{k}", sizes, window, optional=rng.random() < 0.35)
        self.units = self.model.integer("x0", 0, rng.randint(1, 2))
        for k in range(rng.randint(1, 2)):
            self.model.add(self._level(), f"level {k + 1}")
        weights = [rng.choice([1, 1, 2, -1]) for _ in self.model.intervals]
        absent = total([1 - v.presence for v in self.model.intervals])
        aim = total([v.end for v in self.model.intervals], weights) + rng.choice([0, 5]) * absent - self.units
        if rng.random() < 0.9:
            self.used.add("minimize")
            self.model.minimize(aim)

    def _level(self) -> Level:
        rng = self.rng
        made = LevelFunction((), ())
        pulses = rng.random() < 0.2
        for _ in range(rng.randint(2, 4)):
            v = rng.choice(self.model.intervals)
            maker = pulse if pulses else rng.choice([at_start, at_end, pulse])
            self.used.add(maker.__name__)
            made = made + maker(v, self._height(pulses))
        if not pulses and rng.random() < 0.6:
            self.used.add("step_at")
            made = made + step_at(self.first + rng.randint(-1, 3), rng.choice([1, 2, 3, -1]))
        lo = rng.choice([None, 0, 0, 0, -1, -2])
        hi = rng.choice([None, 1, 2, 3]) if lo is not None else rng.choice([1, 2, 3])
        draw = rng.random()
        if draw < 0.25:
            self.used.add("level always")
            return always_in(made, lo, hi)
        if draw < 0.65:
            self.used.add("level in a window")
            begin = self.first + rng.randint(-1, 5)
            return always_in(made, self._raised(lo, hi), hi, window=(begin, begin + rng.randint(1, 4)))
        self.used.add("level during")
        return always_in(made, self._raised(lo, hi), hi, during=rng.choice(self.model.intervals))

    def _raised(self, lo: int | None, hi: int | None) -> int | None:
        """Return a least level that may be above 0, which is possible in a window."""
        return 1 if lo == 0 and hi != 0 and self.rng.random() < 0.4 else lo

    def _height(self, positive: bool) -> int | Linear:
        rng = self.rng
        if rng.random() < 0.25:
            self.used.add("variable height")
            return rng.choice([1, 1, 2] if positive else [1, 2, -1]) * self.units + (
                0 if positive else rng.choice([0, 0, -1])
            )
        return rng.randint(0, 2) if positive else rng.choice([1, 1, 2, -1, -1, -2])


def random_levels(seed: int) -> tuple[Model, set[str]]:
    """Return the random model of a seed and the constructs that it contains.

    Examples
    --------
    >>> random_levels(1)[0].name
    'random 1'
    """
    made = RandomLevels(seed)
    return made.model, made.used
