"""The work of the jobs of a log."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...instances.workload import Workload


def core_seconds(workload: Workload) -> NDArray[np.float64]:
    """Return the core-seconds of each job, by its runtime; unit-seconds if the log has no resource ``cores``."""
    arrays = workload.job_arrays
    if "cores" in workload.resources:
        width = arrays.amounts[:, workload.resources.index("cores")]
    else:
        width = arrays.all_units
    return np.maximum(workload.runtime, 0) * width.astype(np.float64)
