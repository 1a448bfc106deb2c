"""Times of jobs: those that a log does not record, in fractions of a second, beyond the limit, or moved."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..models.platform import LATEST

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
UNKNOWN = -1
NEVER = 2**62  # a time (seconds) after all others


def later(times: Ints, seconds: Ints | int) -> Ints:
    """Return times that are later by some seconds; ``NEVER`` stays.

    >>> later(np.array([5, NEVER]), 10).tolist() == [15, NEVER]
    True
    """
    return np.where(times == NEVER, NEVER, times + seconds)


def whole_seconds(times: Floats | None, rows: Ints) -> Ints:
    """Return the times of some rows in whole seconds; ``NEVER`` where there is none."""
    found = np.full(len(rows), NEVER, np.int64)
    if times is not None:
        known = np.isfinite(times[rows])
        found[known] = np.rint(times[rows][known]).astype(np.int64)
    return found


def fraction(seconds: Floats) -> Bools:
    """Return which times have fractions of a second."""
    found: Bools = np.isfinite(seconds) & (seconds != np.floor(seconds))
    return found


def beyond(*seconds: Floats) -> Bools:
    """Return which rows have a time after ``LATEST``."""
    found: Bools = np.any([np.isfinite(s) & (s > LATEST) for s in seconds], axis=0)
    return found
