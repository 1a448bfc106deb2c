"""Late starts: jobs that start after the latest start of their data."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ..instances.times import NEVER
from ..instances.workload import Workload

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def lateness(workload: Workload, start: Ints, row: Ints) -> Floats | None:
    """Return whether each job starts late.

    Parameters
    ----------
    workload : Workload
        The jobs.
    start : ndarray of int64, shape (all jobs,)
        Starts in seconds.
    row : ndarray of int64, shape (jobs,)
        The jobs that are looked at.

    Returns
    -------
    ndarray of float, shape (jobs,), or None
        1 for a start after the latest start, 0 for one in time, NaN for a job without a latest start. None if no job of
        the workload has one.
    """
    latest = workload.latest_start
    if (latest == NEVER).all():
        return None
    return np.where(latest[row] == NEVER, np.nan, (start[row] > latest[row]).astype(np.float64))


def late_starts(late: Floats | None) -> Mapping[str, float | None]:
    """Return the number of jobs with a latest start, of those that start after it, and their share; {} for None.

    Examples
    --------
    >>> late_starts(np.array([1.0, 0.0, np.nan, 0.0, 0.0]))
    {'jobs': 4, 'count': 1, 'share': 0.25}
    """
    if late is None:
        return {}
    jobs, count = int(np.isfinite(late).sum()), int(np.nansum(late))
    return {"jobs": jobs, "count": count, "share": count / jobs if jobs else None}
