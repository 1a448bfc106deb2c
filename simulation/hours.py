"""Jobs and nodes per hour of a log."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..instances.workload import Workload
from ..models.array_types import Floats, Ints
from ..models.platform import Platform

HOUR = 3600


@dataclass(frozen=True, eq=False)
class Hours:
    """Jobs and nodes of a log in each hour, as recorded on the real machine.

    Parameters
    ----------
    begin : int
        Begin of the first hour in seconds, a multiple of 3,600 on the clock of the log.
    submitted : ndarray of int64, shape (hours,)
        Number of jobs submitted in the hour.
    running, nodes : ndarray of float, shape (hours,) or None
        Mean number of running jobs and of nodes in use over the hour; None if the log records no starts. A job uses
        ``units * max_r request[r] / (largest capacity of a node for r)`` nodes; jobs without a recorded start are left out.
    unknown : int
        Number of jobs without a recorded start.
    """

    begin: int
    submitted: Ints
    running: Floats | None
    nodes: Floats | None
    unknown: int


def hours_of(workload: Workload, platform: Platform) -> Hours:
    """Return the jobs and nodes in each hour of a log.

    Parameters
    ----------
    workload : Workload
        The log.
    platform : Platform
        Its machine.

    Returns
    -------
    Hours
        From the hour of the first submission to the hour of the last submission or recorded end.
    """
    origin = 0 if workload.unix_start is None else workload.unix_start % HOUR
    known = workload.recorded_start >= 0
    start = workload.recorded_start[known]
    end = start + np.maximum(workload.runtime[known], 0)
    begin = (int(workload.submit.min()) + origin) // HOUR * HOUR - origin
    last = max(int(workload.submit.max()) + 1, int(end.max(initial=0)))
    count = -(-(last - begin) // HOUR)
    submitted = np.bincount((workload.submit - begin) // HOUR, minlength=count)
    if not known.any():
        return Hours(begin, submitted, None, None, len(workload))
    nodes = _nodes(workload, platform)[known]
    running = _means(begin, count, start, end, np.ones(len(start)))
    return Hours(begin, submitted, running, _means(begin, count, start, end, nodes), int((~known).sum()))


def _nodes(workload: Workload, platform: Platform) -> Floats:
    """Return the number of nodes that each job occupies, by its largest share of a resource."""
    most = [max((g.capacity.get(r, 0) for g in platform.groups), default=0) for r in workload.resources]
    nodes: Floats = workload.units * (workload.request / np.maximum(most, 1)).max(axis=1)
    for k in workload.chunks:
        nodes[k] = (workload.job_arrays.amounts[k] / np.maximum(most, 1)).max()
    return nodes


def _means(begin: int, count: int, start: Ints, end: Ints, amount: Floats) -> Floats:
    """Return the mean of ``sum of amount[j] over the jobs j with start[j] <= t < end[j]`` over each hour."""
    edges = begin + HOUR * np.arange(count + 1)
    return np.diff(_integral(edges, start, amount) - _integral(edges, end, amount)) / HOUR


def _integral(times: Ints, since: Ints, amount: Floats) -> Floats:
    """Return ``sum_j amount[j] * max(0, t - since[j])`` for each of the times t."""
    order = np.argsort(since, kind="stable")
    total = np.concatenate([[0.0], np.cumsum(amount[order])])
    moment = np.concatenate([[0.0], np.cumsum(amount[order] * since[order])])
    before = np.searchsorted(since[order], times, side="right")
    integral: Floats = total[before] * times - moment[before]
    return integral
