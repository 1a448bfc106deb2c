"""The power of jobs of which a log records none: watts per core."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...models.whole_numbers import is_real, shown
from ..report import WorkloadError
from ..workload import Workload

CORES = "cores"
ABOVE = "above the power cap, left out"


def powered(workload: Workload, watts_per_core: float) -> Workload:
    """Return the workload in which each job without a power takes ``watts_per_core`` for each of its cores.

    Parameters
    ----------
    workload : Workload
        The jobs. Those with a power, also running ones, keep it.
    watts_per_core : float
        Watts above 0.

    Returns
    -------
    Workload
        The workload.

    Raises
    ------
    WorkloadError
        If the number is not above 0, or the jobs have no cores.

    Examples
    --------
    >>> from schedlab.models import Dispatch, Job, NodeGroup, Platform, Queue
    >>> jobs = [Job("a", 0, 60, 2, {"cores": 8}, "q", runtime=60), Job("b", 0, 60, 1, {}, "q", runtime=9, power=5)]
    >>> problem = Dispatch(Platform([NodeGroup("n", 2, {"cores": 8})]), jobs, [Queue("q", 60)])
    >>> powered(Workload.of(problem), 10).power.tolist()
    [160.0, 5.0]
    """
    if not is_real(watts_per_core) or not 0 < watts_per_core < np.inf:
        raise WorkloadError(f"the power per core is {shown(watts_per_core)} W; expected a number above 0, such as 12.5")
    if CORES not in workload.resources:
        raise WorkloadError(
            f"{workload.name}: its jobs request {', '.join(workload.resources)}, but no cores; expected cores for a power per core"
        )
    cores = workload.job_arrays.amounts[:, workload.resources.index(CORES)]
    power = np.where(np.isnan(workload.power), watts_per_core * cores, workload.power)
    running = tuple(
        replace(r, job=replace(r.job, power=watts_per_core * r.job.units * r.job.request.get(CORES, 0)))
        if r.job.power is None
        else r
        for r in workload.running
    )
    return replace(workload, power=power, running=running)


def below_power(workload: Workload, watts: float) -> Workload:
    """Return the workload without the jobs that take more than ``watts`` alone; they are listed in its report.

    Raises
    ------
    WorkloadError
        If no job is left.
    """
    above = workload.power > watts  # False where the power is unknown
    if not above.any():
        return workload
    gone = [
        (workload.ids[k], f"takes {workload.power[k]:,.0f} W, more than {watts:,.0f} W")
        for k in np.flatnonzero(above).tolist()
    ]
    return workload.keep(~above, workload.report.and_also({ABOVE: len(gone)}, gone))
