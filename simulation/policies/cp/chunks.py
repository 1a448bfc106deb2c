"""Heterogeneous jobs on the timeline of the nodes: all chunks of a job start together.

The placement is that of list scheduling (``heuristics.kernels.chunks``): the earliest start at which best fit finds nodes
for all chunks. Jobs of equal units have a kernel of their own (``allocation``), so this one is compiled only where it is
needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ....heuristics.kernels.aggregate import Aggregate, no_aggregate
from ....heuristics.kernels.chunks.together import place_together
from ....heuristics.kernels.costs import Jobs
from ....heuristics.kernels.earliest import Scratch
from ....heuristics.kernels.events.nodes import of_chunks
from ....heuristics.kernels.profile import NEVER, Ints, Machine, Profile
from ....models import Job, Schedule
from ....models.compiled import compiled
from ....models.dispatch.job_arrays import Bools, offsets
from ...dispatcher import Start

if TYPE_CHECKING:
    from .allocation import Allocation, Requests

Nodes = Mapping[str, int]
"""Node name -> number of units."""


def have_chunks(requests: Requests) -> Bools:
    """Return the mask of the heterogeneous jobs."""
    found: Bools = np.diff(requests.first_further) > 0
    return found


def units_of_chunks(requests: Requests, j: int) -> list[int]:
    """Return the number of units of each chunk of a job."""
    further = requests.further_units[requests.first_further[j] : requests.first_further[j + 1]]
    return [int(requests.units[j]), *further.tolist()]


def place_chunks(
    profile: Profile, machine: Machine, scratch: Scratch, requests: Requests, j: int, allocation: Allocation
) -> Profile:
    """Allocate heterogeneous job j at its earliest start in its windows; return the profile with the job.

    Its entries of the allocation are chunk after chunk. If it does not fit in its windows, its start stays -1.
    """
    units = units_of_chunks(requests, j)
    chosen = np.empty(sum(units), np.int64)
    start, profile = _place(profile, machine, _as_jobs(requests), scratch, no_aggregate(), j, chosen)
    allocation.start[j] = start
    at = int(requests.slot[j])
    for nodes in np.split(chosen, np.cumsum(units)[:-1]) if start >= 0 else ():
        used, put = np.unique(nodes, return_counts=True)
        allocation.node[at : at + used.size], allocation.put[at : at + used.size] = used, put
        at += used.size
    allocation.pieces[j] = at - requests.slot[j]
    return profile


def nodes_of_chunks(requests: Requests, allocation: Allocation, j: int, names: Sequence[str]) -> tuple[Nodes, ...]:
    """Return {node name: units} of each chunk of an allocated job."""
    entries = slice(requests.slot[j], requests.slot[j] + allocation.pieces[j])
    node, put = allocation.node[entries], allocation.put[entries]
    return tuple(of_chunks((np.array([0, node.size]), node, node, put), 0, units_of_chunks(requests, j), names))


def start_of(job: Job, nodes: Sequence[Nodes]) -> Start:
    """Return the start of a job; ``nodes``: those of each chunk."""
    return Start(job.id, nodes[0], tuple(nodes[1:]))


def by_part(job: Job, nodes: Sequence[Nodes]) -> dict[str, dict[str, int]]:
    """Return the nodes of a job as a schedule has them: those of each chunk by its name (``Job.parts``)."""
    return {part.id: dict(on) for part, on in zip(job.parts, nodes, strict=True)}


def nodes_of_parts(
    allocation: Allocation, requests: Requests, jobs: Mapping[int, Job], names: Sequence[str]
) -> dict[str, dict[str, int]]:
    """Return the nodes of allocated jobs, given by their indices, as a schedule has them."""
    found: dict[str, dict[str, int]] = {}
    if requests.further_units.size:
        for j, job in jobs.items():
            found |= by_part(job, allocation.nodes(requests, j, names))
        return found
    slot, pieces, node, put = (a.tolist() for a in (requests.slot, allocation.pieces, allocation.node, allocation.put))
    for j, job in jobs.items():
        at, end = slot[j], slot[j] + pieces[j]
        found[job.id] = {names[n]: units for n, units in zip(node[at:end], put[at:end], strict=True)}
    return found


def nodes_in(schedule: Schedule, job: Job) -> list[Nodes]:
    """Return the nodes of each chunk of a job in a schedule."""
    return [schedule.nodes[part.id] for part in job.parts]


def _as_jobs(requests: Requests) -> Jobs:
    """Return the jobs as list scheduling takes them; each has a group of windows of its own."""
    n = requests.units.size
    units = requests.units.copy()
    np.add.at(units, np.repeat(np.arange(n), np.diff(requests.first_further)), requests.further_units)
    return Jobs(
        release=np.full(n, -NEVER),
        latest=np.full(n, NEVER),
        duration=requests.duration,
        units=requests.units,
        request=requests.request,
        first_unit=offsets(units),
        first_further=requests.first_further,
        further_units=requests.further_units,
        further_request=requests.further_request,
        kind=np.zeros(n, np.int64),
        group=np.arange(n),
        first_window=requests.first,
        lo=requests.lo,
        hi=requests.hi,
    )


@compiled
def _place(
    profile: Profile, machine: Machine, jobs: Jobs, s: Scratch, a: Aggregate, j: int, chosen: Ints
) -> tuple[int, Profile]:
    return place_together(profile, machine, jobs, s, a, j, -NEVER, NEVER, chosen)
