"""Arrays of ruin and recreate: the schedule, what a step reads, scratch arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..aggregate import BLOCK, Aggregate, levels, new_aggregate, no_aggregate
from ..by_address import by_address
from ..chunks.hopeless import Hopeless, new_hopeless
from ..costs import Bools, Jobs
from ..earliest import Scratch, new_scratch
from ..profile import Floats, Ints, Machine, new_profile

COLUMNS = 48  # about the most columns of the bound: more exclude more starts, but take longer to change


@by_address
class Places(NamedTuple):
    """A schedule that the steps change in place.

    Parameters
    ----------
    starts, nodes
        Start of each job in seconds (``POSTPONED``: none), shape (jobs,); node of each unit, shape (units of all
        jobs,).
    joules
        Energy of the jobs per segment of the ledger in joules, shape (segments,); empty without a ledger.
    """

    starts: Ints
    nodes: Ints
    joules: Floats


@by_address
class Known(NamedTuple):
    """Data that a step reads beside the schedule.

    Parameters
    ----------
    by_start, by_release
        Indices of the scheduled jobs by start, shape (scheduled jobs,); of all jobs by release, shape (jobs,).
    rank
        Waiting jobs with less rank are chosen first, shape (jobs,): power per profit in profit problems, else 0.
    longest
        The longest duration of a job in seconds.
    share
        Share of the platform of one unit of each job, shape (jobs,).
    begin, end
        Time range in seconds in which idle times are searched.
    """

    by_start: Ints
    by_release: Ints
    rank: Floats
    longest: int
    share: Floats
    begin: int
    end: int


@by_address
class Room(NamedTuple):
    """Scratch arrays of a step.

    Parameters
    ----------
    free, key, starts
        Index, key and old start in seconds of each removed job, shape (most removed jobs,).
    is_free
        Whether a job is removed, shape (jobs,).
    nodes, joules
        Old nodes of the removed jobs' units, one job after another; old energy per segment; shapes as in ``Places``.
    target
        1 for each node that the step chose, else 0, shape (nodes,).
    sorted
        Places of the sorted keys or nodes, shape (at least removed jobs, nodes).
    fit, hopeless
        Scratch arrays over nodes; hopeless times of the kinds of jobs.
    bound
        Bound of the whole machine; ``no_aggregate`` if there are heterogeneous jobs.
    blocks
        The bound is counted anew when it has this number of blocks, shape (1,); 0: before the next step.
    """

    free: Ints
    is_free: Bools
    key: Floats
    starts: Ints
    nodes: Ints
    joules: Floats
    target: Ints
    sorted: Ints
    fit: Scratch
    hopeless: Hopeless
    bound: Aggregate
    blocks: Ints


def new_room(machine: Machine, jobs: Jobs, places: Places, most: int) -> Room:
    """Return scratch arrays for this problem and at most ``most`` removed jobs."""
    nodes = machine.capacity.shape[0]
    bound = no_aggregate()
    if jobs.further_units.size == 0:
        spare = jobs.release.size * 2 // BLOCK + machine.taken_node.size * 2 // BLOCK + 4 * most + 4
        bound = new_aggregate(machine, jobs, new_profile(machine, 64), levels(machine, jobs, COLUMNS), spare)
    return Room(
        np.empty(most, np.int64),
        np.zeros(places.starts.size, np.bool_),
        np.empty(most, np.float64),
        np.empty(most, np.int64),
        np.empty(places.nodes.size, np.int64),
        places.joules.copy(),
        np.zeros(nodes, np.int64),
        np.empty(max(most, nodes), np.int64),
        new_scratch(nodes),
        new_hopeless(jobs, 64),
        bound,
        np.zeros(1, np.int64),
    )
