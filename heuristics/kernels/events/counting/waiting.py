"""The waiting jobs in their order, as a tree that finds the next one that may start.

Each job has a fixed place in the order of the priorities. A binary tree over the places holds the least units and the
least expected duration of the waiting jobs below each of its vertices.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .....models.compiled import internal_borrowing
from ...by_address import by_address
from ...profile import NEVER, Floats, Ints


@by_address
class Waiting(NamedTuple):
    """The tree; vertex v has the children 2v and 2v + 1, place i is the vertex ``leaves + i``.

    Parameters
    ----------
    place
        Place of each job, shape (jobs,).
    job
        Job at each place, shape (jobs,).
    units, duration
        Least units and least expected duration in seconds below each vertex, shape (2 * leaves,); NEVER: no job.
    """

    place: Ints
    job: Ints
    units: Ints
    duration: Ints


def no_jobs(base: Floats) -> Waiting:
    """Return a tree without waiting jobs; ``base``: priorities, least first, ties in the order of the jobs."""
    jobs = base.size
    order = np.argsort(base, kind="stable")
    place = np.empty(jobs, np.int64)
    place[order] = np.arange(jobs)
    leaves = 1 << max(0, jobs - 1).bit_length()
    return Waiting(place, order, np.full(2 * leaves, NEVER, np.int64), np.full(2 * leaves, NEVER, np.int64))


@internal_borrowing
def put(waiting: Waiting, place: int, units: int, duration: int) -> None:
    """Set what waits at a place; NEVER, NEVER: no job."""
    least_units, least_duration = waiting.units, waiting.duration
    v = least_units.size // 2 + place
    least_units[v], least_duration[v] = units, duration
    v >>= 1
    while v > 0:
        u, d = min(least_units[2 * v], least_units[2 * v + 1]), min(least_duration[2 * v], least_duration[2 * v + 1])
        if least_units[v] == u and least_duration[v] == d:
            break
        least_units[v], least_duration[v] = u, d
        v >>= 1


@internal_borrowing
def next_place(waiting: Waiting, first: int, any_time: int, most: int, longest: int) -> int:
    """Return the first place from ``first`` on of a job that may start; -1 if there is none.

    Parameters
    ----------
    waiting
        The tree.
    first
        The first place that is looked at.
    any_time
        Jobs of at most this number of units may start, whatever their duration.
    most, longest
        Jobs of at most ``most`` units may start if their expected duration is at most ``longest`` seconds.
    """
    units, duration = waiting.units, waiting.duration
    leaves = units.size // 2
    if first >= leaves:
        return -1
    v = leaves + first
    while True:
        if units[v] <= any_time or (units[v] <= most and duration[v] <= longest):
            if v >= leaves:
                return int(v - leaves)
            v *= 2
        else:
            while v & 1:
                v >>= 1
            if v == 0:  # v was on the right edge
                return -1
            v += 1
