"""A transport over processes: the nodes are spread over them in ranges, and each exchange has a timer."""

from __future__ import annotations

import time
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ....errors import WrongValue
from ..costs import Traffic
from ..messages import Event, Extend, Limits, Offers, Placement, Request, joined
from ..nodes.moves import Moves
from .block import Answer, Failure, Message, Setup, packed, unpacked
from .link import Link, TransportError

Ints = NDArray[np.int64]
SETUP = 900.0  # seconds for the first answer: a new installation compiles the kernels


class Processes:
    """Node managers in several processes; the same for all engines.

    A packet has the messages to a process since the one before, in their order; its last message is answered. So messages
    that need no answer (releases, placements on other nodes) cost no packet. A process that has not answered when the
    timer ends is silent for the rest of the replay, and so are its nodes.

    Parameters
    ----------
    link : Link
        The connection with the processes.
    capacity : ndarray of int64, shape (nodes, resources)
        Amounts of each node.
    generator : str
        Name of the generator of starts.
    limits : Limits, optional
        The desired use of the nodes. None: up to the capacity.
    timer : float
        Seconds in which a process must answer.
    fault : tuple of int, optional
        A process and the packet from which on it does not answer.

    Attributes
    ----------
    silent : ndarray of int64
        The nodes whose managers do not answer any more, ascending.
    traffic : Traffic
        What was measured.

    Raises
    ------
    WrongValue
        If there are more processes than nodes, or no process to fail.
    TransportError
        If a process cannot be set up.
    """

    def __init__(
        self,
        link: Link,
        capacity: Ints,
        generator: str,
        limits: Limits | None = None,
        timer: float = 10.0,
        fault: tuple[int, int] | None = None,
    ) -> None:
        nodes, count = capacity.shape[0], link.processes
        if count > nodes:
            raise WrongValue(
                f"{count} processes of node managers for {nodes} nodes; expected at most one for each node"
            )
        if fault is not None and not 0 <= fault[0] < count:
            raise WrongValue(f"process {fault[0]} of node managers cannot fail; expected one from 0 to {count - 1}")
        self._link, self._timer, self._seconds = link, timer, SETUP
        self._edges = [k * nodes // count for k in range(count + 1)]
        self._process = np.repeat(np.arange(count), np.diff(self._edges))  # of each node
        self._held: list[list[bytes]] = [[] for _ in range(count)]  # messages that go with the next packet
        self._answers = np.ones(count, np.bool_)
        self.silent = np.empty(0, np.int64)
        self.traffic = Traffic()
        for k in range(count):
            a, b = self._edges[k : k + 2]
            own = None if limits is None else limits._replace(curve=limits.curve[a:b])
            last = None if fault is None or fault[0] != k else fault[1]
            self._held[k].append(packed(Setup(capacity[a:b], generator, own, a, last)))
        self._send(None, range(count))
        if self.silent.size:
            raise TransportError(f"processes of node managers did not begin within {SETUP:g} s")
        self._seconds, self.traffic = timer, Traffic()

    def ask(self, request: Request) -> Offers:
        """Collect the offers that arrive before the timer ends."""
        began = time.perf_counter()
        answers = self._send(request, self._of(request.nodes))
        self.traffic.seconds["wall_offers"] += time.perf_counter() - began
        return joined([offers for offers in answers if isinstance(offers, Offers)])

    def next_move(self, moves: Moves, first: int, now: int) -> int:
        """Return ``first``: the nodes are asked by messages."""
        return first

    def confirm(self, placement: Placement) -> Ints:
        """Confirm a placement; the processes of chosen nodes acknowledge it."""
        began = time.perf_counter()
        nodes = placement.nodes if placement.to is None else np.intersect1d(placement.nodes, placement.to)
        chosen = self._of(nodes)
        self._hold(placement, np.setdiff1d(self._of(placement.to), chosen))
        silent = np.setdiff1d(nodes, _together(self._send(placement, chosen)))
        self.traffic.seconds["wall_reservation"] += time.perf_counter() - began
        return silent

    def post(self, event: Event) -> Ints:
        """Deliver an event; only an extension is answered."""
        if not isinstance(event, Extend):
            self._hold(event, self._of(None))
            return np.empty(0, np.int64)
        began = time.perf_counter()
        full = np.sort(_together(self._send(event, self._of(None))))
        self.traffic.seconds["wall_events"] += time.perf_counter() - began
        return full

    def _of(self, nodes: Ints | None) -> Ints:
        """Return the processes that have any of these nodes, or any node; without silent ones."""
        found = np.arange(self._answers.size) if nodes is None else np.unique(self._process[nodes])
        return np.asarray(found[self._answers[found]])

    def _hold(self, message: Message, processes: Iterable[int]) -> None:
        """Keep a message for the next packet to these processes."""
        data = packed(message)
        for k in processes:
            self._held[k].append(data)

    def _send(self, message: Message | None, processes: Iterable[int]) -> list[Answer]:
        """Send a message, with those that were held, and return the answers in the order of the nodes."""
        data = b"" if message is None else packed(message)
        packets = {int(k): b"".join((*self._held[k], data)) for k in processes}
        if not packets:
            return []
        for k in packets:
            self._held[k].clear()
        answers = self._link.exchange(packets, self._seconds)
        self.traffic.packets += len(packets) + len(answers)
        self.traffic.bytes += sum(map(len, packets.values())) + sum(map(len, answers.values()))
        self._drop([k for k in packets if k not in answers])
        found = [unpacked(answers[k]) for k in sorted(answers)]
        for answer in found:
            if isinstance(answer, Failure):
                raise TransportError(f"a process of node managers has failed:\n{answer.text}")
        return found

    def _drop(self, processes: list[int]) -> None:
        """Note that processes are silent."""
        if not processes:
            return
        self._answers[processes] = False
        for k in processes:
            self._held[k].clear()
        self.silent = np.flatnonzero(~self._answers[self._process])
        if not self._answers.any():
            raise TransportError(
                "no process of node managers answers any more; the last ones did not before the timer ended"
            )


def _together(answers: list[Answer]) -> Ints:
    """Return the nodes of several answers."""
    return np.concatenate([np.empty(0, np.int64), *(nodes for nodes in answers if isinstance(nodes, np.ndarray))])
