"""Statistics of a quantity over jobs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..models.excerpt import with_short_repr


@with_short_repr
@dataclass(frozen=True)
class Spread:
    """Statistics of a quantity over jobs, in the unit of the quantity; all None if there is no job.

    Parameters
    ----------
    mean : float
        ``sum(x) / n``.
    std : float
        Standard deviation of the population, ``sqrt(sum((x - mean)^2) / n)``.
    median, p95, p99 : float
        The 50th, 95th and 99th percentiles, with linear interpolation (``numpy.percentile``).
    max : float
        The largest value.
    """

    mean: float | None = None
    std: float | None = None
    median: float | None = None
    p95: float | None = None
    p99: float | None = None
    max: float | None = None

    @classmethod
    def of(cls, values: NDArray[np.int64] | NDArray[np.float64]) -> Spread:
        """Return the statistics of an array with one value per job."""
        if not values.size:
            return cls()
        median, p95, p99 = np.percentile(values, [50, 95, 99]).tolist()
        return cls(float(values.mean()), float(values.std()), median, p95, p99, float(values.max()))
