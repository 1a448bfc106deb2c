"""The orders that a search keeps, and random keys, which give new orders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...models.array_types import Floats, Ints
from ...models.comparing import compared_by_identity
from ...models.excerpt import with_short_repr
from ..arrays import Arrays
from ..kernels.orders import OrderResult

# --- The orders that a search keeps, and which of them is changed next.


@compared_by_identity
@with_short_repr
class Order(NamedTuple):
    """An order of the jobs.

    Parameters
    ----------
    value
        Objective of its schedule, to be minimized; infinite if some job finds no start.
    keys
        Random keys, shape (jobs,): the order sorts the jobs by key.
    answer
        The order and its placement.
    """

    value: float
    keys: Floats
    answer: OrderResult


@with_short_repr
@dataclass(frozen=True)
class Population:
    """How many orders are kept, and which of them are changed: any one at first, the best one later.

    Parameters
    ----------
    orders
        Number of kept orders; the first ones are the best presets (``random_keys.PRESETS``).
    focus
        How soon only the best order is changed: 1: at the end, 2: after half of the search.
    trials
        An order may be changed only if there is time for this many trials per order.
    presets_share
        Largest share of the time limit for the presets.
    """

    orders: int = 8
    focus: float = 1.3
    trials: int = 20
    presets_share: float = 0.4

    def parent(self, kept: int, over: float, trials_left: float | None, rng: np.random.Generator) -> int:
        """Return the index of the order to change.

        Parameters
        ----------
        kept
            Number of orders, the best one first.
        over
            Share of the search that is over, from 0 to 1.
        trials_left
            Placements of all jobs that the time limit allows; None: no limit.
        rng
            Random numbers.
        """
        among = round(kept * (1 - self.focus * over))
        if trials_left is not None:
            among = min(among, round(trials_left / self.trials))
        return int(rng.integers(max(1, among)))


# --- Random keys: a key per job is a weighted sum of its features plus noise; sorting by key gives an order of the jobs.
#
# All usual ordering criteria are special cases with one weight; the best orders combine several features.

USUAL: tuple[dict[str, float], ...] = (
    {"submit": 1},
    {"request": -1},
    {"duration": -1, "units": -1, "request": -1},  # largest area first
    # Low power first: helps in a profit problem with too much work (1 % more profit with 33,000 jobs of the Curie log).
    {"power": 10, "duration": -1, "units": -0.5, "request": -0.5},
    {"power": 3, "duration": -1, "units": -0.5, "request": -0.5},
    {"submit": 1, "duration": -0.1},
    {"units": -1, "request": -1},
    {"duration": -1},
    {"duration": 1},
    {"weight": -1, "duration": 1, "units": 1, "request": 1},  # largest weight per area first (Smith's rule)
    {"latest": 1},
    {"power": 1},
    {"power": 1, "duration": -1, "units": -1, "request": -1},
)
AROUND_AREA = tuple(
    {"duration": d, "units": u, "request": u, "submit": s}
    for s in (0.0, 1.0, 2.5)
    for d in (-1.0, -0.7, -1.4)
    for u in (-1.0, -0.5)
)
PRESETS = (*USUAL, *AROUND_AREA)
"""Weights of the first orders of a search, the most promising ones first."""
FOR_PROFIT: tuple[dict[str, float], ...] = (
    {"power": 3, "duration": -0.3, "units": -0.15, "request": -10},
    {"request": -1},
    {"power": 1, "duration": -1, "units": -0.5, "request": -1},
    {"power": 3, "duration": -1, "units": -0.5, "request": -10},
    {"power": 1, "duration": -0.3, "units": -0.15, "request": -3},
    {"power": 10, "duration": -1, "units": -0.5, "request": -0.5},
)
"""Weights of the first orders for a profit problem, tried before ``PRESETS``: large requests and low power first.

They were chosen from 49 orders on generated problems of 1,000 jobs (seeds 101 to 103) and on 23 days of CEA Curie from
2012-08-10 (33,593 jobs), for both prices of core-hours. The first two of them make the best join (``joins``).
"""


@dataclass(frozen=True, eq=False)
class Features:
    """Features of the jobs.

    Parameters
    ----------
    names
        Names of the features.
    values
        Value of each feature, shape (jobs, features); logarithms, except for submit times and latest starts.
    scale
        Standard deviation of each feature, shape (features,).
    """

    names: tuple[str, ...]
    values: Floats
    scale: Floats

    def keys(self, weights: dict[str, float]) -> Floats:
        """Return the weighted sum of the features of each job, shape (jobs,); unknown features are ignored."""
        sums = np.zeros(len(self.values))
        for k, name in enumerate(self.names):
            sums += weights.get(name, 0.0) * self.values[:, k]
        return sums

    def presets(self, profits: bool) -> list[Floats]:
        """Return the keys of the presets that differ for these jobs; ``profits``: whether they are for a profit problem."""
        presets = (*FOR_PROFIT, *PRESETS) if profits else PRESETS
        kinds = {tuple(sorted((n, w) for n, w in p.items() if n in self.names)): p for p in presets}
        return [self.keys(p) for kind, p in kinds.items() if kind]


def features(a: Arrays) -> Features:
    """Return the features in which the jobs differ.

    ``request`` is the share of the platform of one unit, ``latest`` the latest start, ``power`` the power per share.
    """
    share = np.maximum(1e-12, a.shares)
    span = max(1, int(a.costs.submit.max(initial=0) - a.costs.submit.min(initial=0)))
    known = {
        "duration": np.log(1.0 + a.jobs.duration),
        "units": np.log(a.jobs.units),
        "request": np.log(share),
        "submit": (a.costs.submit - a.costs.submit.min(initial=0)) / span,
        "latest": a.jobs.latest / max(1, int(a.jobs.latest.max(initial=1))),
        "weight": np.log(np.maximum(1e-12, a.costs.weight)),
    }
    if a.power is not None:
        known["power"] = np.log(np.maximum(1e-12, a.power / (share * a.jobs.units)))
    kept = {name: column for name, column in known.items() if column.size and column.std() > 0}
    values = np.column_stack(list(kept.values())) if kept else np.zeros((a.jobs.units.size, 0))
    return Features(tuple(kept), values, np.array([column.std() for column in kept.values()]))


@with_short_repr
@dataclass(frozen=True)
class KeyNoise:
    """A change of keys: other weights of some features, and noise on some jobs.

    Parameters
    ----------
    reweighted
        Probability that weights are changed.
    features
        Probability that the weight of a feature is changed, if weights are.
    weight_step
        Standard deviation of the change of a weight, in standard deviations of the feature.
    jobs
        Numbers of jobs with noise; one of them is drawn, or a part of all jobs.
    part
        This part of all jobs, plus one, is another number that can be drawn.
    noise
        Standard deviation of the noise on the key of a job.
    """

    reweighted: float = 0.6
    features: float = 0.4
    weight_step: float = 0.5
    jobs: tuple[int, ...] = (0, 1, 2, 5)
    part: float = 0.02
    noise: float = 1.0

    def apply(self, keys: Floats, known: Features, bulk: Floats, rng: np.random.Generator) -> Floats:
        """Return keys near the given ones.

        Parameters
        ----------
        keys
            The keys, shape (jobs,).
        known
            The features of the jobs.
        bulk
            Cumulative probabilities by which the jobs with noise are drawn, see ``bulk_of``; large jobs are more likely.
        rng
            Random numbers.
        """
        changed = keys
        if rng.random() < self.reweighted and known.scale.size:
            chosen = rng.random(known.scale.size) < self.features
            moved = rng.normal(0, self.weight_step, known.scale.size) * chosen / known.scale
            changed = changed + known.values @ moved
        count = int(rng.choice((*self.jobs, 1 + int(keys.size * self.part))))
        some = drawn(count, bulk, rng)
        changed = changed.copy()
        changed[some] += rng.normal(0, self.noise, some.size)
        return changed


def bulk_of(a: Arrays) -> Floats:
    """Return cumulative probabilities of the jobs for ``drawn``: half equal, half by the square root of the area."""
    area = np.sqrt(a.shares * a.jobs.units * np.maximum(1, a.jobs.duration))
    return np.cumsum(0.5 / max(1, area.size) + 0.5 * area / max(1e-12, float(area.sum())))


def drawn(count: int, bulk: Floats, rng: np.random.Generator) -> Ints:
    """Draw ``count`` jobs at random by their cumulative probabilities; return their indices."""
    drawn_ones = np.searchsorted(bulk, rng.random(count) * bulk[-1]) if bulk.size else np.zeros(0)
    return drawn_ones.astype(np.int64)


def keys_of(order: Ints, keys: Floats) -> Floats:
    """Return the same keys assigned to other jobs, so that sorting by key gives ``order``."""
    new_keys = np.empty(keys.size)
    new_keys[order] = np.sort(keys)
    return new_keys
