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
from ..messages import Answering, Bools, Event, Extend, Limits, Offers, Placement, Release, Request, Wish, no_offers
from ..names import GENERATORS
from .answering import change, forget, offers_of, overfull
from .fitting import unlimited
from .moves import Moves, next_move

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
        self._reserved: dict[str, list[Reservation]] = {}  # several if messages to some nodes were lost

    def answer(self, request: Request) -> Offers:
        """Generate starts on the nodes of this range that are asked and answer (phases 2 and 3)."""
        nodes = self._asked
        if request.nodes is not None:
            nodes = self._own(request.nodes)
            nodes = nodes[self._answering[nodes]]
        if nodes.size == 0:
            return no_offers()
        began = time.thread_time()
        forget(self._profile, nodes, request.now)
        own = self._reserved.get(request.job, ())
        for held in own:
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
        for held in own:
            self._change(held, held.start, 1)
        return Offers(*found, time.thread_time() - began, nodes.size)

    def next_move(self, moves: Moves, first: int, now: int) -> int:
        """Return the first of the jobs from ``first`` on that may have an earlier start; for managers of all nodes."""
        if not self._answering.all():
            return first
        return next_move(self._profile, self.capacity, moves, first, now)

    def reserve(self, placement: Placement) -> None:
        """Reserve what a job needs on the nodes of this range, instead of what it had (phase 6)."""
        here = (placement.nodes >= self.first) & (placement.nodes < self.first + self._all.size)
        if placement.to is None:
            self._remove(placement.job, placement.now)
        else:
            self._remove_on(self._own(placement.to), placement)
            here &= np.isin(placement.nodes, placement.to)
        if not here.any():
            return
        nodes, units = placement.nodes[here] - self.first, placement.units[here]
        held = Reservation(placement.start, placement.end, nodes, units, placement.request)
        forget(self._profile, held.nodes, placement.now)
        self._change(held, held.start, 1)
        self._reserved.setdefault(placement.job, []).append(held)

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
            case Wish():
                own = event.limits.curve[self.first : self.first + self._all.size]
                self._limits = event.limits._replace(curve=own)
        return np.empty(0, np.int64)

    def _extend(self, event: Extend) -> Ints:
        full, extended = [np.empty(0, np.int64)], []
        for held in self._reserved.get(event.job, ()):
            extended.append(held._replace(end=event.end))
            self._change(extended[-1], held.end, 1)
            full.append(held.nodes[overfull(self._profile, held.nodes, held.end, event.end)] + self.first)
        if extended:
            self._reserved[event.job] = extended
        return np.asarray(np.sort(np.concatenate(full)))

    def _remove(self, job: str, now: int) -> None:
        """Give up what a job has from now on."""
        for held in self._reserved.pop(job, ()):
            if held.end > now:
                self._change(held, max(held.start, now), -1)

    def _remove_on(self, nodes: Ints, placement: Placement) -> None:
        """Give up what a job has from now on, on some of its nodes."""
        for held in self._reserved.pop(placement.job, ()):
            gone = np.isin(held.nodes, nodes)
            for on, kept in ((gone, False), (~gone, True)):
                part = held._replace(nodes=held.nodes[on], units=held.units[on])
                if kept and on.any():
                    self._reserved.setdefault(placement.job, []).append(part)
                elif on.any() and held.end > placement.now:
                    self._change(part, max(held.start, placement.now), -1)

    def _change(self, held: Reservation, begin: int, sign: int) -> None:
        self._profile = change(self._profile, held.nodes, held.units, begin, held.end, held.request, sign)

    def _own(self, nodes: Ints) -> Ints:
        """Return the indices, in this range, of those of these nodes that belong to it."""
        lo, hi = np.searchsorted(nodes, (self.first, self.first + self._all.size))
        return np.asarray(nodes[lo:hi] - self.first)
