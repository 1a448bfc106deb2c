"""Repair operators of ruin and recreate: the order in which removed jobs are inserted, each at its earliest start."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ...errors import WrongValue
from ...models.arguments import checked
from ...models.excerpt import with_short_repr
from ..arrays import Placement
from ..kernels.profile import Floats, Ints
from ..kernels.ruin import recreate as kernel

NUMBERS = {
    "random": kernel.RANDOM,
    "area": kernel.AREA,
    "width": kernel.WIDTH,
    "duration": kernel.DURATION,
    "start": kernel.START,
    "release": kernel.RELEASE,
    "near-start": kernel.NEAR_START,
    "power-per-profit": kernel.POWER_PER_PROFIT,
    "weight-per-area": kernel.WEIGHT_PER_AREA,
}


class Repair(Protocol):
    """A repair operator in Python."""

    @property
    def weight(self) -> float:
        """Relative frequency among the repair operators."""
        ...

    def keys(self, placement: Placement, removed: Ints, rng: np.random.Generator) -> Sequence[float] | Floats:
        """Return a key for each removed job; the job with the least key is inserted first.

        Parameters
        ----------
        placement
            The schedule as arrays, which must not be changed; the removed jobs still have their old places.
        removed
            Indices of the removed jobs, shape (removed jobs,).
        rng
            Random numbers.
        """
        ...


@with_short_repr
@checked
@dataclass(frozen=True)
class InsertBy:
    """Insert the removed jobs in the order of a key with noise; compiled.

    Parameters
    ----------
    key
        "random"; "area" (largest work first), "width" (widest first), "duration" (longest first); "start" (old start),
        "release", "near-start" (old start with noise); "power-per-profit" (least first, profit problems only),
        "weight-per-area" (largest first).
    spread
        Noise: the key is multiplied by a random factor from 1 - spread to 1 + spread. For "near-start": a share of the
        time range that is added or subtracted at most. "random", "start" and "release" have none.
    weight
        Relative frequency.
    """

    key: str
    spread: float = 0.0
    weight: float = 1.0

    def __post_init__(self) -> None:
        if self.key not in NUMBERS:
            raise WrongValue(f"the key {self.key!r} is unknown; known: {', '.join(NUMBERS)}")

    @property
    def number(self) -> int:
        """The number of the key in compiled code."""
        return NUMBERS[self.key]


def usual_repair(profits: bool) -> tuple[InsertBy, ...]:
    """Return the default repair operators.

    Parameters
    ----------
    profits
        Whether they are for a profit problem.

    Returns
    -------
    tuple
        An ``InsertBy`` for each key that fits.
    """
    return (
        InsertBy("random"),
        InsertBy("area", 0.5),
        InsertBy("width", 0.3),
        InsertBy("duration", 0.5),
        InsertBy("start"),
        InsertBy("release"),
        InsertBy("power-per-profit", 0.05) if profits else InsertBy("weight-per-area", 0.5),
        InsertBy("near-start", 0.1),
    )
