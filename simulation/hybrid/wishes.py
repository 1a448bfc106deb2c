"""Which nodes a profile wishes to be in use, as the desired use that node managers follow.

The share d of an hour stands for whole nodes: ``ceil(N d)`` of a group of N nodes, and at least those in use or reserved
then. Nodes in use or reserved come first, the latest planned end first, then the others that are on, then those that are
off; ties by number. A node that is wished has its capacity as desired use, another one 0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...models.platform import Platform
from ...models.profiles import DesiredProfile
from ...models.profiles.extraction import count_on
from ...models.step_function import HOUR
from ..dardis.messages import Limits

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
EARLY = -(2**62)  # before all times


def wished(profile: DesiredProfile, begin: int, hours: int, now: int, ends: Ints, ready: Ints) -> Bools:
    """Return which nodes are wished in each hour.

    Parameters
    ----------
    profile : DesiredProfile
        The profile of a plan.
    begin, hours : int
        The begin of the first hour in seconds, and the number of hours.
    now : int
        The current time in seconds.
    ends : ndarray of int64, shape (nodes,)
        When the last running or planned job of each node ends, in seconds; up to now: there is none.
    ready : ndarray of int64, shape (nodes,)
        The earliest time in seconds at which each node can be on; up to now: it is on.

    Returns
    -------
    ndarray of bool, shape (hours, nodes)
        Whether the node is wished.

    Examples
    --------
    >>> from schedlab.models import NodeGroup
    >>> from schedlab.models.profiles import flat
    >>> half = flat(Platform([NodeGroup("n", 4, {"cores": 8})]), 0.5)
    >>> wished(half, 0, 1, 0, ends=np.array([0, 0, 0, 900]), ready=np.array([300, 0, 0, 0]))[0].tolist()
    [False, True, False, True]
    """
    found, first = np.zeros((hours, ends.size), np.bool_), 0
    for group in profile.platform.groups:
        nodes = np.arange(first, first + group.count)
        first += group.count
        until = np.maximum(ends[nodes], now)
        order = nodes[np.lexsort((nodes, ready[nodes] > now, -until))]
        for h in range(hours):
            t = begin + HOUR * h
            used = int(np.count_nonzero(until > max(t, now)))
            found[h, order[: max(used, count_on(profile, group, t))]] = True
    return found


def limits_of(platform: Platform, nodes: Bools, begin: int) -> Limits:
    """Return wished nodes as the desired use of each node.

    Parameters
    ----------
    platform : Platform
        The machine.
    nodes : ndarray of bool, shape (hours, nodes)
        Whether each node is wished, hour by hour from ``begin`` on; the last hour holds for ever.
    begin : int
        The begin of the first hour in seconds.

    Returns
    -------
    Limits
        A step function for each node.
    """
    hours, count = nodes.shape
    capacity = np.array([platform.capacity[n] for n in platform.nodes], np.float64)
    times = begin + HOUR * np.arange(hours)
    times[0] = EARLY
    return Limits(
        curve=np.arange(count),
        first=np.arange(count + 1) * hours,
        time=np.tile(times, count),
        amount=np.ascontiguousarray((nodes.T[:, :, None] * capacity[:, None, :]).reshape(count * hours, -1)),
        period=np.zeros(count, np.int64),
    )
