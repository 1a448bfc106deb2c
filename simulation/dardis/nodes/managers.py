"""Node managers: each keeps the reservations of its node, and offers starts for jobs.

The managers of a range of nodes work together in one process, with the same result as one by one.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....errors import WrongValue
from ....heuristics.kernels.profile import Profile
from ..messages import Answering, Bools, Event, Extend, Offers, Placement, Release, Request, no_offers
from ..names import GENERATORS
from .answering import change, forget, offers_of, overfull
from .fitting import Limits, unlimited

Ints = NDArray[np.int64]
ROOM = 16  # breakpoints per node at first
BEGIN = -(2**62)  # the profiles begin before all times


class Reservation(NamedTuple):
    """What a job has on the nodes of this range; nodes are indices in the range."""

    start: int
    end: int
    nodes: Ints
    units: Ints
    request: Ints


class NodeManagers:
    """The managers of a range of nodes.

    Parameters
    ----------
    capacity : ndarray of int64, shape (nodes, resources)
        Amounts of each node of the range.
    generator : str
        Name of the generator of starts.
    limits : Limits, optional
        The desired use of these nodes. None: up to the capacity.
    first : int
        Number of the first node of the range in the platform.

    Raises
    ------
    WrongValue
        If the generator is unknown.
    """

    def __init__(self, capacity: Ints, generator: str = "first", limits: Limits | None = None, first: int = 0) -> None:
        if generator not in GENERATORS:
            raise WrongValue(f"generator is {generator!r}; expected one of {', '.join(GENERATORS)}")
        nodes, resources = capacity.shape
        self.capacity, self.first = np.ascontiguousarray(capacity), first
        self._generator = GENERATORS.index(generator)
        self._free = unlimited(nodes, resources)
        self._limits = self._free if limits is None else limits
        self._profile = Profile(
            np.ones(nodes, np.int64),
            np.full((nodes, ROOM), BEGIN, np.int64),
            np.repeat(self.capacity[:, None, :], ROOM, axis=1),
        )
        self._all = np.arange(nodes)
        self._answering: Bools = np.ones(nodes, np.bool_)
        self._asked = self._all  # the nodes that answer
        self._reserved: dict[str, Reservation] = {}

    def answer(self, request: Request) -> Offers:
        """Generate starts on the nodes of this range that are asked and answer (phases 2 and 3)."""
        nodes = self._asked
        if request.nodes is not None:
            nodes = self._own(request.nodes)
            nodes = nodes[self._answering[nodes]]
        if nodes.size == 0:
            return no_offers()
        began = time.perf_counter()
        forget(self._profile, nodes, request.now)
        held = self._reserved.get(request.job)
        if held is not None:
            self._change(held, held.start, -1)
        found = offers_of(
            self._profile,
            self.capacity,
            self._limits if request.profile else self._free,
            nodes,
            request.request,
            request.duration,
            request.windows,
            request.responses,
            self._generator,
            request.key,
            self.first,
        )
        if held is not None:
            self._change(held, held.start, 1)
        return Offers(*found, time.perf_counter() - began, nodes.size)

    def reserve(self, placement: Placement) -> None:
        """Reserve what a job needs on the nodes of this range, instead of what it had (phase 6)."""
        self._remove(placement.job, placement.now)
        here = (placement.nodes >= self.first) & (placement.nodes < self.first + self._all.size)
        if not here.any():
            return
        held = Reservation(
            placement.start,
            placement.end,
            placement.nodes[here] - self.first,
            placement.units[here],
            placement.request,
        )
        forget(self._profile, held.nodes, placement.now)
        self._change(held, held.start, 1)
        self._reserved[placement.job] = held

    def receive(self, event: Event) -> Ints:
        """Note an event; return the nodes on which reservations exceed the capacity because of it."""
        match event:
            case Release():
                self._remove(event.job, event.now)
            case Extend():
                return self._extend(event)
            case Answering():
                self._answering = event.nodes[self.first : self.first + self._all.size]
                self._asked = np.flatnonzero(self._answering)
        return np.empty(0, np.int64)

    def _extend(self, event: Extend) -> Ints:
        held = self._reserved.get(event.job)
        if held is None:
            return np.empty(0, np.int64)
        self._reserved[event.job] = held._replace(end=event.end)
        self._change(held._replace(end=event.end), held.end, 1)
        full = overfull(self._profile, held.nodes, held.end, event.end)
        return np.asarray(held.nodes[full] + self.first)

    def _remove(self, job: str, now: int) -> None:
        held = self._reserved.pop(job, None)
        if held is not None and held.end > now:
            self._change(held, max(held.start, now), -1)

    def _change(self, held: Reservation, begin: int, sign: int) -> None:
        self._profile = change(self._profile, held.nodes, held.units, begin, held.end, held.request, sign)

    def _own(self, nodes: Ints) -> Ints:
        """Return the indices, in this range, of those of these nodes that belong to it."""
        lo, hi = np.searchsorted(nodes, (self.first, self.first + self._all.size))
        return np.asarray(nodes[lo:hi] - self.first)
