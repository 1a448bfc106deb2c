"""Arrays of the branch and bound: the problem, prices over time, the present schedule, the open decisions, visited states.

Times are in seconds from the time of the problem on, costs and prices in whole multiples of 1 / Q.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..by_address import by_address
from ..profile import Ints

Hashes = NDArray[np.uint64]
NONE = -1  # start of a job that has none; no twin


@by_address
class Case(NamedTuple):
    """The jobs, then the running jobs, and the nodes.

    Parameters
    ----------
    jobs
        The number of jobs without the running jobs.
    order
        The order in which the jobs are decided at one time, shape (jobs,).
    duration, units
        Seconds and units of each item, shape (items,).
    request
        Request of one unit, shape (items, resources).
    first, low, high
        The start windows of job j are ``first[j]`` to ``first[j + 1] - 1``, sorted; their first and last starts.
    weight, free, late
        A start s costs ``weight * max(0, s - free)``; with ``late``, it costs ``weight`` if ``s > free``.
    twin
        A job that is equal but for its number, and starts no later; ``NONE`` without one.
    kind
        Nodes of the same kind have the same capacity, shape (nodes,).
    """

    jobs: int
    order: Ints
    duration: Ints
    units: Ints
    request: Ints
    first: Ints
    low: Ints
    high: Ints
    weight: Ints
    free: Ints
    late: bool
    twin: Ints
    kind: Ints


@by_address
class Tables(NamedTuple):
    """Prices at some times, in seconds after now; the last entry also stands for all later times.

    Parameters
    ----------
    step
        Seconds between two entries; 0 if they are not equally far apart.
    time
        The time of each entry, increasing from 0, shape (entries,).
    paid
        What an item pays from 0 to this time, shape (items, entries).
    least
        The least cost with prices of a start from this time on, ``FAR`` if there is none, shape (jobs, entries).
    rest
        The most that all items which run together pay from this time on, shape (entries,).
    """

    step: int
    time: Ints
    paid: Ints
    least: Ints
    rest: Ints


@by_address
class Now(NamedTuple):
    """The present partial schedule.

    Parameters
    ----------
    start, end
        Times of each item in seconds; ``NONE`` for jobs without a start, shape (items,).
    put
        Units of each item on each node, shape (items, nodes).
    free, before
        Free amounts of each node, now and just before the last event, shape (nodes, resources).
    node_hash
        Two hashes of what runs on each node, shape (nodes, 2).
    item_hash
        Two hashes of the end and the request of each item, shape (items, 2).
    started
        Bits of the jobs with a start, shape (1,).
    fit
        Scratch: units that fit each node, shape (nodes,).
    """

    start: Ints
    end: Ints
    put: Ints
    free: Ints
    before: Ints
    node_hash: Hashes
    item_hash: Hashes
    started: Hashes
    fit: Ints


@by_address
class Open(NamedTuple):
    """The open decisions, one after another.

    Parameters
    ----------
    depth
        The number of the last decision, -1 at the end, shape (1,).
    time, next, stage
        Time, place in the order, and what was done of each decision, shape (most decisions,).
    bound, cost
        Bound on the cost of all completions, and cost of the starts, shape (most decisions,).
    left
        Placements that are still to be tried, shape (most decisions,).
    before
        ``Now.before`` of earlier events, shape (most decisions, nodes, resources).
    pile, top
        Placements that are still to be tried, shape (most placements, nodes), and their number, shape (1,).
    limit
        A bound from which on completions are not looked at, shape (1,).
    visits
        The number of decisions so far, shape (1,).
    """

    depth: Ints
    time: Ints
    next: Ints
    stage: Ints
    bound: Ints
    cost: Ints
    left: Ints
    before: Ints
    pile: Ints
    top: Ints
    limit: Ints
    visits: Ints


@by_address
class Visited(NamedTuple):
    """States that were visited: two hashes and the least cost of each.

    Parameters
    ----------
    key
        The hashes, 0 for an empty place, shape (places, 2).
    cost
        The least cost, shape (places,).
    """

    key: Hashes
    cost: Ints
