"""The messages between the task manager and the node managers.

Nodes have their numbers in the platform. All messages are named tuples of plain values and arrays, so that they can be
sent between processes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


class Limits(NamedTuple):
    """Desired use of each node over time, as flat arrays.

    Parameters
    ----------
    curve
        Number of the step function of each node, shape (nodes,).
    first
        First step of each step function, shape (curves + 1,).
    time
        Times of the steps in seconds, ascending within a step function. Before the first one, the first amounts hold.
    amount
        Desired amounts from each time on, shape (steps, resources); infinite without a limit.
    period
        Period of each step function in seconds, shape (curves,); 0 if it does not repeat. The times of one that repeats
        begin at 0 and end before the period.
    """

    curve: Ints
    first: Ints
    time: Ints
    amount: Floats
    period: Ints


class Request(NamedTuple):
    """Phase 1: a job is submitted to the node managers.

    Parameters
    ----------
    job : str
        Id of the job.
    key : int
        Key of all random draws for this job and window.
    units : int
        Number of its units.
    request : ndarray of int64, shape (resources,)
        Amounts of one unit.
    duration : int
        Seconds, at least 1.
    windows : ndarray of int64, shape (windows, 2)
        First and last start of each window in which the job may start, ascending.
    responses : int
        Number of different starts that each node returns; a node with fewer returns all of them.
    profile : bool
        Whether the starts must keep to the desired profile.
    now : int
        The time of the request in seconds.
    nodes : ndarray of int64, optional
        The nodes that are asked, ascending; None: all of them. A node that has a reservation for the job answers as if it
        had not.
    """

    job: str
    key: int
    units: int
    request: Ints
    duration: int
    windows: Ints
    responses: int
    profile: bool
    now: int
    nodes: Ints | None = None


class Offers(NamedTuple):
    """Phase 3: the starts that nodes offer; entry k is ``low[k]`` to ``high[k]`` (both included) on ``node[k]``.

    Parameters
    ----------
    node, low, high : ndarray of int64
        Node, first and last start of each entry, in the order of the nodes, then of the starts.
    fit : ndarray of float64
        The fitting index of these starts.
    seconds : float
        Time in which the node managers generated them, in sum over the nodes.
    nodes : int
        Number of node managers that have generated starts, or found that there are none.
    """

    node: Ints
    low: Ints
    high: Ints
    fit: Floats
    seconds: float
    nodes: int


class Placement(NamedTuple):
    """Phase 5: where a job starts, and when; the nodes among ``nodes`` reserve what it needs (phase 6).

    A node gives up the reservation that it has for the job before.

    Parameters
    ----------
    job : str
        Id of the job.
    start, end : int
        Times in seconds.
    nodes, units : ndarray of int64, shape (chosen nodes,)
        The nodes, ascending, and the units on each of them.
    request : ndarray of int64, shape (resources,)
        Amounts of one unit.
    now : int
        The time of the confirmation in seconds.
    to : ndarray of int64, optional
        The nodes that get this message, ascending; None: all of them.
    """

    job: str
    start: int
    end: int
    nodes: Ints
    units: Ints
    request: Ints
    now: int
    to: Ints | None = None


class Release(NamedTuple):
    """A job has ended, or its reservation is given up: its nodes are free from a time on."""

    job: str
    now: int


class Extend(NamedTuple):
    """A job runs longer than reserved: its nodes are reserved up to ``end``."""

    job: str
    end: int


class Answering(NamedTuple):
    """Which nodes take part in the protocol from now on, shape (nodes,)."""

    nodes: Bools


class Wish(NamedTuple):
    """Another desired use holds from now on, with a step function for each node of the platform."""

    limits: Limits


Event = Release | Extend | Answering | Wish


def no_offers(nodes: int = 0, seconds: float = 0.0) -> Offers:
    """Return the answer of nodes that have no start."""
    none = np.empty(0, np.int64)
    return Offers(none, none, none, np.empty(0), seconds, nodes)


def joined(offers: list[Offers]) -> Offers:
    """Return the offers of several groups of nodes, in the order of the nodes."""
    ordered = sorted((o for o in offers if o.node.size), key=lambda o: int(o.node[0]))
    seconds, nodes = sum(o.seconds for o in offers), sum(o.nodes for o in offers)
    if not ordered:
        return no_offers(nodes, seconds)
    arrays = [np.concatenate(parts) for parts in zip(*(o[:4] for o in ordered), strict=True)]
    return Offers(arrays[0], arrays[1], arrays[2], arrays[3], seconds, nodes)
