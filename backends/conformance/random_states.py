"""Random models of state functions: required and constant values, transition times, alignment, and batches."""

from __future__ import annotations

import random
from itertools import product

from ...models.language import (
    Interval,
    Model,
    StateFunction,
    always_constant,
    always_equal,
    cumulative,
    state_function,
)
from ...models.language import max as latest
from ...models.language import sum as total
from ...models.language.constraints import StateUse

PATTERN = "states"


class RandomStates:
    """A random model with a state function, and often a capacity of the same intervals.

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
        rng = self.rng = random.Random(f"states {seed}")
        self.model = Model(f"random {seed}")
        self.used = {PATTERN}
        self.origin = rng.choice([0, 0, 0, -3, 2])
        n = rng.choice([2, 3, 3, 3, 4])
        several = [self._interval(f"i{k}", n) for k in range(n)]
        batch = rng.random() < 0.7
        self.model.add(self._state(several, batch), "state")
        if batch:
            self.used.add("batches")
            self.model.add(cumulative(several, [rng.randint(1, 2) for _ in several], rng.randint(2, 3)), "capacity")
        ends = [v.end for v in several]
        aim = latest(ends) if rng.random() < 0.3 else total(ends, [rng.choice([1, 1, 2, -1]) for _ in ends])
        absent = total([1 - v.presence for v in several])
        if rng.random() < 0.9:
            self.used.add("minimize")
            self.model.minimize(aim + rng.choice([0, 6]) * absent)

    def _interval(self, name: str, n: int) -> Interval:
        rng = self.rng
        size = rng.randint(1, 3)
        begin = self.origin + rng.choice([0, 0, 1])
        window = (begin, begin + rng.randint(2, 3 if n == 4 else 6))
        sizes = (size, size + rng.choice([0, 0, 1]))
        return self.model.interval(name, sizes, window, optional=rng.random() < 0.3)

    def _state(self, several: list[Interval], batch: bool) -> StateFunction:
        rng = self.rng
        uses: list[StateUse] = []
        for v in several:
            start = batch or rng.random() < 0.3
            end = rng.random() < (0.6 if batch else 0.3)
            if start or end:
                self.used.add("alignment")
            if rng.random() < 0.35:
                self.used.add("constant state")
                uses.append(always_constant(v, start, end))
            else:
                uses.append(always_equal(v, rng.randint(0, 2), start, end))
        if rng.random() < 0.25:
            return state_function(uses)
        self.used.add("transitions of states")
        return state_function(uses, self._times())

    def _times(self) -> list[list[int]]:
        """Return random times between three states that obey the triangle inequality."""
        rng = self.rng
        times = [[rng.choice([0, 1, 2, 4]) if s != t else rng.choice([0, 0, 2]) for t in range(3)] for s in range(3)]
        for b, a, c in product(range(3), repeat=3):
            times[a][c] = min(times[a][c], times[a][b] + times[b][c])
        return times


def random_states(seed: int) -> tuple[Model, set[str]]:
    """Return the random model of a seed and the constructs that it contains.

    Examples
    --------
    >>> random_states(1)[0].name
    'random 1'
    """
    made = RandomStates(seed)
    return made.model, made.used
