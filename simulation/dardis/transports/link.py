"""What an engine such as MPI provides: one exchange of packets with the processes of the node managers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from ....errors import SchedlabError


class TransportError(SchedlabError, RuntimeError):
    """The processes of the node managers cannot be started, one of them has failed, or none of them answers any more."""


class Link(Protocol):
    """Connection of the task manager with processes, each of which runs one ``Block``; they have numbers from 0.

    An implementation hands each packet to ``Block.handle`` in its process and returns the answer. It neither reads nor
    changes packets, and has at most one packet to a process on its way.

    Attributes
    ----------
    processes : int
        Number of processes, without that of the task manager.
    """

    processes: int

    def exchange(self, packets: Mapping[int, bytes], seconds: float) -> Mapping[int, bytes]:
        """Send packets to processes and return the answers that arrive within a time.

        Parameters
        ----------
        packets : mapping of int to bytes
            Number of the process -> packet.
        seconds : float
            The timer of the protocol. A process that has not answered by then never gets a packet again.

        Returns
        -------
        mapping of int to bytes
            Number of the process -> answer. Processes that are known to have ended may be left out earlier.
        """

    def close(self) -> None:
        """End the processes, if the link has started them."""
