"""The power of the machine as an amount of one more place, beside nodes that are followed one by one.

Every job has a further chunk of one unit that takes its power there, so that rules and backfilling need not know of it.
"""

from __future__ import annotations

import numpy as np

from ....heuristics.kernels.events.nodes import Ranges
from ....heuristics.kernels.events.state import TraceArrays
from ....models.dispatch.job_arrays import Ints


def with_power_place(trace: TraceArrays, power: Ints, ceiling: int) -> TraceArrays:
    """Return the arrays of a replay with a place of power.

    Parameters
    ----------
    trace : TraceArrays
        The arrays; the places are the nodes.
    power : ndarray of int64, shape (jobs,)
        Milliwatts of each job.
    ceiling : int
        Milliwatts of the machine.
    """
    nodes, resources = trace.capacity.shape
    jobs = np.arange(trace.release.size)
    capacity = np.zeros((nodes + 1, resources + 1), np.int64)
    capacity[:nodes, :resources] = trace.capacity
    capacity[nodes, resources] = ceiling
    further = np.zeros((trace.further_units.size, resources + 1), np.int64)
    further[:, :resources] = trace.further_request
    own = np.zeros((jobs.size, resources + 1), np.int64)
    own[:, resources] = power
    at = trace.first_further[1:]  # after the chunks of the job
    return trace._replace(
        capacity=capacity,
        request=np.column_stack([trace.request, np.zeros(jobs.size, np.int64)]),
        first=trace.first + np.arange(jobs.size + 1),
        first_further=trace.first_further + np.arange(jobs.size + 1),
        further_units=np.insert(trace.further_units, at, 1),
        further_request=np.ascontiguousarray(np.insert(further, at, own, axis=0)),
    )


def power_of_jobs(trace: TraceArrays, nodes: int) -> Ints | None:
    """Return the milliwatts of each job, shape (jobs,); None if there is no place of power beside the nodes."""
    if trace.capacity.shape[0] == nodes:
        return None
    found: Ints = trace.further_request[trace.first_further[1:] - 1, -1]
    return found


def of_nodes(ranges: Ranges, nodes: int) -> Ranges:
    """Return the ranges of jobs without a place of power.

    Examples
    --------
    >>> low = np.array([0, 4, 2, 4])
    >>> [part.tolist() for part in of_nodes((np.array([0, 2, 4]), low, low, np.ones(4, np.int64)), 4)]
    [[0, 1, 2], [0, 2], [0, 2], [1, 1]]
    """
    first, low, high, units = ranges
    kept = low < nodes
    before = np.concatenate([[0], np.cumsum(kept)])
    return before[first], low[kept], high[kept], units[kept]
