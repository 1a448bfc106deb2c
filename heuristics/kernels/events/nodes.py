"""The nodes of the jobs of a replay."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ....models.problem import part_name
from ..profile import Ints
from .counting.numbering import numbered
from .state import UNSTARTED, State, TraceArrays

Ranges = tuple[Ints, Ints, Ints, Ints]
"""(first, low, high, units): job k has the ranges ``first[k] .. first[k + 1] - 1``. Range i is the nodes
``low[i] .. high[i]`` (both included) with ``units[i]`` units on each, chunk after chunk of a heterogeneous job. Shapes:
first (jobs + 1,), others (ranges,)."""


def by_name(ranges: Ranges, names: Sequence[str]) -> list[dict[str, int]]:
    """Return {node: units} of each job.

    Examples
    --------
    >>> one, two = np.array([1]), np.array([2])
    >>> by_name((np.array([0, 1]), one, two, one), ["n-0", "n-1", "n-2"])
    [{'n-1': 1, 'n-2': 1}]
    """
    first, low, high, units = (part.tolist() for part in ranges)
    found = []
    for here, following in pairwise(first):
        used: dict[str, int] = {}
        for k in range(here, following):
            used.update(dict.fromkeys(names[low[k] : high[k] + 1], units[k]))
        found.append(used)
    return found


def of_chunks(ranges: Ranges, job: int, units: Sequence[int], names: Sequence[str]) -> list[dict[str, int]]:
    """Return {node: units} of each chunk of a job; ``units``: the units of each chunk.

    Examples
    --------
    >>> low, each = np.array([1, 0]), np.array([2, 1])
    >>> of_chunks((np.array([0, 2]), low, low, each), 0, [2, 1], ["n-0", "n-1"])
    [{'n-1': 2}, {'n-0': 1}]
    """
    first, low, high, each = ranges
    found: list[dict[str, int]] = [{} for _ in units]
    chunk, left = 0, units[0]
    for k in range(int(first[job]), int(first[job + 1])):
        while left == 0 and chunk + 1 < len(units):
            chunk += 1
            left = units[chunk]
        nodes = names[int(low[k]) : int(high[k]) + 1]
        found[chunk].update(dict.fromkeys(nodes, int(each[k])))
        left -= len(nodes) * int(each[k])
    return found


def named_parts(
    ranges: Ranges, jobs: Sequence[tuple[int, str, Sequence[int]]], names: Sequence[str]
) -> dict[str, dict[str, int]]:
    """Return {node: units} of each part of heterogeneous jobs, by its name; ``jobs``: (row, id, units of the chunks)."""
    return {
        part_name(job, k): on for row, job, units in jobs for k, on in enumerate(of_chunks(ranges, row, units, names))
    }


def ranges_of(trace: TraceArrays, state: State, by_count: bool) -> Ranges:
    """Return the ranges of nodes of all started jobs; ``by_count``: nodes were counted, see ``machine.counted``."""
    started = state.start != UNSTARTED
    if by_count:
        units = np.where(started, trace.units, 0)
        end = state.start + trace.runtime
        when = np.concatenate([end[started], state.start[started]])
        who = np.concatenate([np.flatnonzero(started)] * 2)
        begins = np.arange(when.size) >= started.sum()
        instant = np.concatenate([(trace.runtime == 0)[started]] * 2)
        kept = ~instant | begins  # a job of duration 0 frees its nodes in the same event as it begins
        # At one time: ends, then jobs of duration 0, then the others, which may use the nodes of both.
        turn = begins.astype(np.int64) + (begins & ~instant)
        order = np.lexsort((turn[kept], when[kept]))
        first, low, high = numbered(
            int(trace.capacity[0, 0]), who[kept][order], begins[kept][order], trace.runtime, units
        )
        return first, low, high, np.ones(low.size, np.int64)
    return _ranges(trace, state, started)


def _ranges(trace: TraceArrays, state: State, started: NDArray[np.bool_]) -> Ranges:
    """Return the ranges of jobs whose places are nodes; neighbouring nodes with equal units become one range."""
    count = np.where(started, state.pieces, 0)
    job = np.repeat(np.arange(count.size), count)
    slot = np.repeat(trace.first[:-1] - (np.cumsum(count) - count), count) + np.arange(int(count.sum()))
    place, share = state.place[slot].astype(np.int64), state.share[slot].astype(np.int64)
    several = trace.further_units.size > 0  # a further key makes the sort slower
    chunk = _chunk_of_slot(trace, job, share) if several else job
    order = np.lexsort((place, chunk, job) if several else (place, job))
    job, place, share = job[order], place[order], share[order]
    apart = np.ones(job.size, np.bool_)
    apart[1:] = (job[1:] != job[:-1]) | (place[1:] != place[:-1] + 1) | (share[1:] != share[:-1])
    if several:
        chunk = chunk[order]
        apart[1:] |= chunk[1:] != chunk[:-1]
    begin = np.flatnonzero(apart)
    last = np.append(begin[1:], job.size)[: begin.size] - 1
    first = np.concatenate([[0], np.cumsum(np.bincount(job[begin], minlength=count.size))])
    return first.astype(np.int64), place[begin], place[last], share[begin]


def _chunk_of_slot(trace: TraceArrays, job: Ints, share: Ints) -> Ints:
    """Return the number of the chunk at each slot; the slots are given job after job, by the job and the units there."""
    found = np.zeros(job.size, np.int64)
    if not trace.further_units.size:
        return found
    before = np.cumsum(share) - share
    first = np.searchsorted(job, job)
    for j in np.flatnonzero(np.diff(trace.first_further)).tolist():
        at = slice(*np.searchsorted(job, [j, j + 1]).tolist())
        ends = trace.units[j] + np.concatenate(
            [[0], np.cumsum(trace.further_units[trace.first_further[j] : trace.first_further[j + 1]])]
        )
        found[at] = np.searchsorted(ends, before[at] - before[first[at]], side="right")
    return found
