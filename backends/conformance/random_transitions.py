"""Random constraints on presences, forbidden windows, maximum time lags and transition times."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import permutations

from ...models.language import (
    Constraint,
    Interval,
    Model,
    NoOverlap,
    all_or_none,
    end_before_end,
    end_before_start,
    forbid_extent,
    no_overlap,
    start_before_end,
    start_before_start,
)

PRECEDENCES = (end_before_start, start_before_start, end_before_end, start_before_end)
SHARE = 0.2  # of the models that have each kind


class RandomTransitions:
    """A generator of these constraints for a model; it adds the constructs that it uses to the set ``used``."""

    def __init__(self, rng: random.Random, model: Model, used: set[str]) -> None:
        self.rng = rng
        self.model = model
        self.used = used

    def constraints(self) -> Iterator[Constraint]:
        """Yield the constraints; about one kind per model."""
        kinds = {
            self._forbid_extent: SHARE,
            self._maximum_lag: SHARE,
            self._cycle: SHARE,
            self._transitions: 1.5 * SHARE,  # some have no triangle inequality
            self._all_or_none: 2.5 * SHARE,  # few models have two optional intervals
        }
        for kind, share in kinds.items():
            if self.rng.random() < share:
                yield from kind()

    def _some(self, least: int, most: int, among: list[Interval] | None = None) -> list[Interval]:
        intervals = self.model.intervals if among is None else among
        return self.rng.sample(intervals, min(len(intervals), self.rng.randint(least, most)))

    def _all_or_none(self) -> Iterator[Constraint]:
        chosen = self._some(2, 3, [v for v in self.model.intervals if v.optional])
        if len(chosen) > 1:
            self.used.add("all_or_none")
            yield all_or_none(chosen)

    def _forbid_extent(self) -> Iterator[Constraint]:
        """Yield a constraint with windows in which the interval can run, most of them within its time range."""
        rng = self.rng
        empty = [v for v in self.model.intervals if v.size_lo == 0]
        (v,) = self._some(1, 1, empty if empty and rng.random() < 0.3 else None)
        windows = []
        for _ in range(rng.randint(1, 2)):
            lo = rng.randint(v.start_lo - 1, min(v.start_hi, v.start_lo + 2) + v.size_hi)
            windows.append((lo, lo + rng.choice([1, 1, 2, 3])))
        self.used.add("forbid_extent")
        yield forbid_extent(v, windows)

    def _maximum_lag(self) -> Iterator[Constraint]:
        before, after = self._some(2, 2)
        delay = self.rng.choice([0, 0, 1, 2, -1, -2, -3, -5])
        self.used.add("maximum lag")
        yield self.rng.choice(PRECEDENCES)(before, after, delay, at_most=delay + self.rng.choice([0, 1, 1, 2, 4]))

    def _cycle(self) -> Iterator[Constraint]:
        """Yield minimum lags around a cycle, whose sum is not positive in most cases."""
        chosen = self._some(2, 3)
        self.used.add("cycle of lags")
        for k, v in enumerate(chosen):
            delay = self.rng.choice([0, 0, 1, -1]) if k + 1 < len(chosen) else -self.rng.randint(2, 8)
            kind = self.rng.choice([start_before_start, start_before_start, end_before_start, end_before_end])
            yield kind(v, chosen[(k + 1) % len(chosen)], delay)

    def _transitions(self) -> Iterator[Constraint]:
        rng, short = self.rng, [v for v in self.model.intervals if v.size_hi <= 3]
        chosen = self._some(
            *rng.choice([(2, 2), (3, 3), (3, 4)]), short if len(short) > 1 and rng.random() < 0.7 else None
        )
        times = [[rng.choice([0, 0, 0, 1, 1, 2]) for _ in chosen] for _ in chosen]
        if len(chosen) > 2 and rng.random() < 0.7:  # the detours over the interval at position 1 are shorter
            for k in range(len(chosen)):
                times[1][k] = times[k][1] = 0
            times[0][2] = times[2][0] = max(1, chosen[1].size_lo) + rng.randint(1, 2)
        made = no_overlap(chosen, times)
        if made.transitions:
            self.used.add("transitions")
            if any(v.size_lo == 0 for v in chosen):
                self.used.add("transitions of points")
        if any(_detour(made, i, j, k) for i, j, k in permutations(range(len(chosen)), 3)):
            self.used.add("no triangle inequality")
        yield made


def _detour(c: NoOverlap, i: int, j: int, k: int) -> bool:
    """Return whether i to j takes longer than i to k, k, and k to j."""
    detour = c.transition(i, k) + max(1, c.intervals[k].size_lo) + c.transition(k, j)
    return detour < c.transition(i, j)
