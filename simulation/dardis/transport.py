"""What carries messages between the task manager and the node managers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .costs import Traffic
from .messages import Event, Limits, Offers, Placement, Request, joined
from .nodes.managers import NodeManagers
from .nodes.moves import Moves

Ints = NDArray[np.int64]


class Transport(Protocol):
    """The node managers of a machine, as the task manager reaches them.

    A transport has four methods and two attributes. It waits for answers until its timer ends, and goes on without those that have not
    arrived [Bridi2018, 5.3, phase 4]. It never changes a message, and delivers what it sends to one node in order.

    Attributes
    ----------
    silent : ndarray of int64
        The nodes whose managers do not answer any more, ascending; it only grows. They are not asked any more, and the jobs
        that are planned on them are planned anew.
    traffic : Traffic or None
        What is measured between processes; None: there is one process.
    """

    @property
    def silent(self) -> Ints:
        """The nodes whose managers do not answer any more."""

    @property
    def traffic(self) -> Traffic | None:
        """What is measured between processes."""

    def ask(self, request: Request) -> Offers:
        """Send a request to all node managers, or to ``request.nodes``, and collect the offers (phases 1 to 3).

        Offers that arrive after the timer are lost. The entries are in the order of the nodes.
        """

    def next_move(self, moves: Moves, first: int, now: int) -> int:
        """Return the first of the notified jobs from ``first`` on that may have an earlier start on its nodes.

        Node managers in one process answer at once for the jobs that have none. Between processes it is ``first``: each
        job runs the protocol, with the same result.
        """

    def confirm(self, placement: Placement) -> Ints:
        """Send a placement to all node managers, or to ``placement.to`` (phases 5, 6); the chosen ones acknowledge it.

        Returns those of the chosen nodes it was sent to that have not acknowledged it, ascending.
        """

    def post(self, event: Event) -> Ints:
        """Send an event to the node managers that it concerns.

        Returns the nodes that report reservations beyond their capacity because of it, ascending.
        """


class InProcess:
    """Node managers in this process; no message is lost.

    Parameters
    ----------
    managers : sequence of NodeManagers
        The managers of disjoint ranges that together are all nodes.
    """

    silent = np.empty(0, np.int64)
    traffic = None

    def __init__(self, managers: Sequence[NodeManagers]) -> None:
        self._managers = managers

    def ask(self, request: Request) -> Offers:
        """Collect the offers."""
        if len(self._managers) == 1:
            return self._managers[0].answer(request)
        return joined([m.answer(request) for m in self._managers])

    def next_move(self, moves: Moves, first: int, now: int) -> int:
        """Pass over the jobs whose nodes have no room before their starts."""
        return self._managers[0].next_move(moves, first, now) if len(self._managers) == 1 else first

    def confirm(self, placement: Placement) -> Ints:
        """Let the chosen nodes reserve; all do."""
        for m in self._managers:
            m.reserve(placement)
        return np.empty(0, np.int64)

    def post(self, event: Event) -> Ints:
        """Deliver an event."""
        full = [m.receive(event) for m in self._managers]
        return full[0] if len(full) == 1 else np.sort(np.concatenate(full))


Connect = Callable[[Ints, str, Limits | None], Transport]
"""Function of the capacity (nodes, resources), the name of the generator and the desired use, which returns a transport."""


def in_process(capacity: Ints, generator: str, limits: Limits | None) -> Transport:
    """Return all node managers in this process."""
    return InProcess([NodeManagers(capacity, generator, limits)])
