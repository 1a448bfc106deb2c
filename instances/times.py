"""Times of jobs that a log does not record, and times that move with the submit times."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
UNKNOWN = -1
NEVER = 2**62  # a time (seconds) after all others


def later(times: Ints, seconds: Ints | int) -> Ints:
    """Return times that are later by some seconds; ``NEVER`` stays.

    >>> later(np.array([5, NEVER]), 10).tolist() == [15, NEVER]
    True
    """
    return np.where(times == NEVER, NEVER, times + seconds)
