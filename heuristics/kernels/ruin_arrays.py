"""Arrays of ruin and recreate: the schedule, what a step reads, scratch arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .aggregate import Aggregate, no_aggregate
from .by_address import by_address
from .costs import Bools, Jobs
from .earliest import Scratch, new_scratch
from .placement import Hopeless, new_hopeless
from .profile import Floats, Ints, Machine


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
    by_start
        Indices of the scheduled jobs by start, shape (scheduled jobs,).
    share
        Share of the platform of one unit of each job, shape (jobs,).
    begin, end
        Time range in seconds in which idle times are searched.
    """

    by_start: Ints
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
        ``no_aggregate``.
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


def new_room(machine: Machine, jobs: Jobs, places: Places, most: int) -> Room:
    """Return scratch arrays for this problem and at most ``most`` removed jobs."""
    nodes = machine.capacity.shape[0]
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
        no_aggregate(),
    )
