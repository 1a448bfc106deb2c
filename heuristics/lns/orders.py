"""The orders that a search keeps, and which of them is changed next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...models.comparing import compared_by_identity
from ...models.excerpt import with_short_repr
from ..kernels.orders.moves import OrderResult
from ..kernels.profile import Floats


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
