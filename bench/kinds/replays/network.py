"""Replays of DARDIS over a network: the connection of a worker with the processes of the node managers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ....simulation.dardis.transport import Connect

PREFIX = "dardis:"


@contextmanager
def connections(network: str | None, seed: int) -> Iterator[tuple[Connect | None, Connect | None]]:
    """Connect with the processes of a network; yield connections of ``Dardis``: without faults, and with those it asks for.

    Both are None without a network. The processes end with the context, or with the MPI job.
    """
    if network is None:
        yield None, None
        return
    from ....simulation.dardis.network import Network

    found = Network.parse(network)
    with found.link() as link:
        yield found.over(link, seed, faults=False), found.over(link, seed)


def connected(dispatcher: str, connect: Connect) -> Any:
    """Return the dispatcher DARDIS over a connection."""
    from ....simulation.dardis.dispatcher import Dardis

    return Dardis(dispatcher.removeprefix(PREFIX), connect=connect)
