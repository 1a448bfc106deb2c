"""The side of the node managers: a process that has those of a range of nodes."""

from __future__ import annotations

import io
import pickle
import traceback
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..messages import Event, Extend, Limits, Offers, Placement, Release, Request
from ..nodes.managers import NodeManagers

Ints = NDArray[np.int64]
PROTOCOL = 4  # of pickle: 5 makes read-only arrays of some, for which the kernels would be compiled again


class Setup(NamedTuple):
    """The first message of a replay: the nodes of this process, which begin without reservations.

    Parameters
    ----------
    capacity : ndarray of int64, shape (nodes, resources)
        Amounts of each node of the range.
    generator : str
        Name of the generator of starts.
    limits : Limits or None
        The desired use of these nodes.
    first : int
        Number of the first node of the range in the platform.
    fault : int or None
        The packet, counted from 1, from which on this process does not answer any more: an experiment. None: it always does.
    """

    capacity: Ints
    generator: str
    limits: Limits | None
    first: int
    fault: int | None


class Failure(NamedTuple):
    """The answer of a process in which an exception was raised: its traceback."""

    text: str


Message = Setup | Request | Placement | Event
Answer = Offers | Ints | Failure


def packed(what: Message | Answer) -> bytes:
    """Return a message or an answer as bytes; several messages in sequence are a packet."""
    return pickle.dumps(what, PROTOCOL)


def unpacked(answer: bytes) -> Answer:
    """Return an answer."""
    found: Answer = pickle.loads(answer)
    return found


class Block:
    """The node managers of one process, as packets reach them. The first message is a ``Setup``."""

    def __init__(self) -> None:
        self._managers: NodeManagers | None = None
        self._fault: int | None = None
        self._packets = 0

    def handle(self, packet: bytes) -> bytes | None:
        """Carry out the messages of a packet in their order and return the answer to the last one.

        The answer is an ``Offers`` to a ``Request``, the nodes that have reserved to a ``Placement``, the nodes beyond their
        capacity to an event, a ``Failure`` after an exception. None: from now on, this process does not answer.
        """
        self._packets += 1
        if self._fault is not None and self._packets >= self._fault:
            return None
        stream, answer = io.BytesIO(packet), np.empty(0, np.int64)
        found: Answer = answer
        try:
            while stream.tell() < len(packet):
                found = self._answer(pickle.load(stream))
        except Exception:  # the task manager raises it
            found = Failure(traceback.format_exc())
        return packed(found)

    def _answer(self, message: Message) -> Answer:
        if isinstance(message, Setup):
            warm_up(message.generator)
            self._managers = NodeManagers(message.capacity, message.generator, message.limits, message.first)
            self._packets, self._fault = 0, message.fault
            return np.empty(0, np.int64)
        assert self._managers is not None, "the first message is a Setup"
        if isinstance(message, Request):
            return self._managers.answer(message)
        if isinstance(message, Placement):
            self._managers.reserve(message)
            return self._own(message.nodes if message.to is None else np.intersect1d(message.nodes, message.to))
        return self._managers.receive(message)

    def _own(self, nodes: Ints) -> Ints:
        """Return those of these nodes that belong to this process."""
        assert self._managers is not None
        first = self._managers.first
        return np.asarray(nodes[(nodes >= first) & (nodes < first + self._managers.capacity.shape[0])])


def warm_up(generator: str) -> None:
    """Compile or load all that node managers call, before the timer of the first request runs."""
    one, none = np.ones(1, np.int64), np.zeros(1, np.int64)
    managers = NodeManagers(np.ones((1, 1), np.int64), generator)
    managers.answer(Request("", 0, 1, one, 1, np.array([[0, 1]]), 1, False, 0))
    managers.reserve(Placement("", 0, 1, none, one, one, 0))
    managers.receive(Extend("", 2))
    managers.receive(Release("", 1))
