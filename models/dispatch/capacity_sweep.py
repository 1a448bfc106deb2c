"""The capacity check: a sweep over the starts and ends of jobs in time order, on flat arrays; compiled for long ones.

It checks single schedules and the results of simulations, and shares no code with the dispatchers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[Any]  # int64, or Python's integers where 64 bits are too few
PLAIN = 20_000  # node visits up to which the loop runs uncompiled: loading numba would take longer
SAFE = 2.0**62  # sums of demands up to this size fit 64 bits


class Excess(NamedTuple):
    """The first time at which each overloaded node exceeds its capacity of a resource: one entry per node and resource.

    The entries are in the order of nodes, then times.

    Parameters
    ----------
    node, resource, job : array of int
        Indices as in the arrays that were given. ``job`` is the job whose start exceeds the capacity.
    time : array of int
        Seconds.
    used : array of int
        The amount in use after ``job`` has started.
    """

    node: Whole
    resource: Whole
    time: Whole
    used: Whole
    job: Whole


def excesses(
    start: Whole, end: Whole, first: Whole, low: Whole, high: Whole, units: Whole, request: Whole, capacity: Whole
) -> Excess:
    """Find where and when jobs use more than the capacity of a node; at equal times, ends are processed before starts.

    Job j runs in [``start[j]``, ``end[j]``) on the ranges of nodes ``first[j]`` to ``first[j + 1] - 1``. A job with
    ``end <= start``, a range without units, and nodes that do not exist occupy nothing.

    Parameters
    ----------
    start, end : array of int, shape (jobs,)
        Start and end of each job in seconds.
    first : array of int, shape (jobs + 1,)
        The first range of each job, and the number of ranges.
    low, high : array of int, shape (ranges,)
        The first and the last node of each range, both included.
    units : array of int, shape (ranges,)
        The number of units on each node of the range.
    request : array of int, shape (jobs, resources)
        The request of one unit.
    capacity : array of int, shape (nodes, resources)
        The capacity of each node.

    Returns
    -------
    Excess
        The overloaded nodes; empty arrays if there are none.

    Examples
    --------
    >>> import numpy as np
    >>> one, two = np.array([0]), np.array([0, 0])
    >>> found = excesses(np.array([0, 5]), np.array([9, 7]), np.arange(3), two, two, two + 2, two[:, None] + 4, one[:, None] + 10)
    >>> found.time, found.used, found.job
    (array([5]), array([16]), array([1]))
    """
    arrays = (start, end, units, request, capacity)
    wide = any(a.dtype == object for a in arrays)
    if not wide:
        most = request.max(axis=1, initial=0).astype(np.float64)
        wide = float((units * np.repeat(most, np.diff(first))).sum()) > SAFE
    start, end, units, request, capacity = (a.astype(object if wide else np.int64, copy=False) for a in arrays)
    first, low, high = (a.astype(np.int64, copy=False) for a in (first, low, high))
    order = np.argsort(np.concatenate([end, start]), kind="stable")
    visits = int(np.maximum(high - low + 1, 0).sum()) * capacity.shape[1]
    sweep = _sweep if wide or visits <= PLAIN else _compiled()
    job, time, used = sweep(order, start, end, first, low, high, units, request, capacity)
    found = zip(*np.nonzero(job >= 0), strict=True)
    node, resource = np.array(sorted(found, key=lambda f: (f[0], time[f], f[1])), np.int64).reshape(-1, 2).T
    at = (node, resource)
    return Excess(node, resource, time[at], used[at], job[at])


@cache
def _compiled() -> Callable[..., tuple[Whole, Whole, Whole]]:
    from ..compiled import compiled

    return compiled(_sweep)


def _sweep(
    order: Whole,
    start: Whole,
    end: Whole,
    first: Whole,
    low: Whole,
    high: Whole,
    units: Whole,
    request: Whole,
    capacity: Whole,
) -> tuple[Whole, Whole, Whole]:
    """Return per node and resource the first job that exceeds the capacity (-1: none), the time, and the amount in use.

    ``order``: the events by time; event e < n is the end of job e, event n + j is the start of job j.
    """
    n = len(start)
    nodes, resources = capacity.shape
    used = np.zeros_like(capacity)
    job_at = np.full((nodes, resources), -1, np.int64)
    time_at = np.zeros_like(capacity)
    used_at = np.zeros_like(capacity)
    for event in order:
        job = event if event < n else event - n
        if end[job] <= start[job]:
            continue
        starts = event >= n
        for k in range(first[job], first[job + 1]):
            for r in range(resources):
                amount = units[k] * request[job, r]
                if units[k] <= 0 or amount <= 0:
                    continue
                for node in range(max(low[k], 0), min(high[k] + 1, nodes)):
                    if not starts:
                        used[node, r] -= amount
                        continue
                    used[node, r] += amount
                    if used[node, r] > capacity[node, r] and job_at[node, r] < 0:
                        job_at[node, r] = job
                        time_at[node, r] = start[job]
                        used_at[node, r] = used[node, r]
    return job_at, time_at, used_at
