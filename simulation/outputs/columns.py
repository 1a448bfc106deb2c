"""The columns of a schedule file (``jobs.csv`` of Batsim) and the values of its final states."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]

COLUMNS = (
    "job_id", "workload_name", "profile", "submission_time", "requested_number_of_resources", "requested_time",
    "success", "final_state", "starting_time", "execution_time", "finish_time", "waiting_time", "turnaround_time",
    "stretch", "allocated_resources", "consumed_energy", "metadata",
)  # fmt: skip
NEEDED = (
    "job_id",
    "submission_time",
    "requested_number_of_resources",
    "starting_time",
    "finish_time",
    "allocated_resources",
)
DONE, KILLED, FAILED = "COMPLETED_SUCCESSFULLY", "COMPLETED_WALLTIME_REACHED", "COMPLETED_FAILED"
WAITING = "SUBMITTED"

SPECIAL = ',"\r\n'  # a CSV cell with one of these characters needs quotes
CHUNK = 20_000  # rows that are held as text at a time
