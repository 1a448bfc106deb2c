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
    """Return by how many seconds each job starts after its latest start.

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
        Seconds, 0 for a start in time, NaN for a job without a latest start. None if no job of the workload has one.
    """
    latest = workload.latest_start
    if (latest == NEVER).all():
        return None
    return np.where(latest[row] == NEVER, np.nan, np.maximum(0.0, start[row] - latest[row]))


def late_starts(late: Floats | None) -> Mapping[str, float | None]:
    """Return the number of jobs with a latest start, of those that start after it, their share, and the tardiness.

    Parameters
    ----------
    late : ndarray of float, shape (jobs,), or None
        Seconds after the latest start, as ``lateness`` returns them.

    Returns
    -------
    mapping
        ``"tardiness"`` is the sum of the seconds after the latest starts. Empty for None.

    Examples
    --------
    >>> late_starts(np.array([7.0, 0.0, np.nan, 0.0, 0.0]))
    {'jobs': 4, 'count': 1, 'share': 0.25, 'tardiness': 7.0}
    """
    if late is None:
        return {}
    jobs, count = int(np.isfinite(late).sum()), int((late > 0).sum())
    return {"jobs": jobs, "count": count, "share": count / jobs if jobs else None, "tardiness": float(np.nansum(late))}
