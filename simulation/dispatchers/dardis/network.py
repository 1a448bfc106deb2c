"""The network between the task manager and the node managers, as text, and one that loses and delays messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ....errors import WrongValue
from ....models.array_types import Ints
from ....models.registry import Registry, Seconds
from ....models.words import how_many
from .messages import Event, Limits, Offers, Placement, Request, Traffic
from .nodes import Moves, chances, key_of
from .transport import Connect, Transport, in_process

if TYPE_CHECKING:
    from .transport import Link


# --- A network that loses and delays messages, for replays; every loss is drawn from the seed and the message.

REQUEST, OFFER, CONFIRMATION, ACKNOWLEDGEMENT = range(4)


def unreliable(loss: float = 0.0, late: float = 0.0, seed: int = 0, connect: Connect = in_process) -> Connect:
    """Return the argument ``connect`` of ``Dardis`` for a network that loses and delays messages.

    Parameters
    ----------
    loss : float
        Probability that a request, an offer, a confirmation or an acknowledgement is lost, 0 to 1.
    late : float
        Probability that an offer or an acknowledgement arrives after the timer of the task manager.
    seed : int
        Seed of the draws.
    connect : callable
        Makes the transport below.

    Raises
    ------
    WrongValue
        If a probability is not between 0 and 1.

    Examples
    --------
    >>> import schedlab as sl
    >>> from schedlab.simulation.dispatchers.dardis.dispatcher import Dardis
    >>> dispatcher = Dardis("throughput", connect=unreliable(loss=0.05, late=0.05))
    >>> sl.simulate("eurora_99", dispatcher=dispatcher).violations, dispatcher.costs.timeouts > 0
    ([], True)
    """
    for name, value in (("loss", loss), ("late", late)):
        if not 0 <= value <= 1:
            raise WrongValue(f"unreliable: {name} is {value}; expected a probability, 0 to 1")

    def made(capacity: Ints, generator: str, limits: Limits | None) -> Transport:
        return Unreliable(connect(capacity, generator, limits), capacity.shape[0], loss, late, seed)

    return made


class Unreliable:
    """A transport that drops some messages of another one.

    Offers that arrive after the timer do not count, like lost ones. A node that gets a confirmation reserves, also if its
    acknowledgement is lost; a node that does not get it keeps what it had. Events always arrive: nodes know themselves
    when jobs end, and the task manager repeats that a reservation is given up until all nodes know it.

    Parameters
    ----------
    below : Transport
        The transport.
    nodes : int
        Number of nodes.
    loss, late : float
        Probabilities that a message is lost, and that an answer is late.
    seed : int
        Seed of the draws.
    """

    def __init__(self, below: Transport, nodes: int, loss: float, late: float, seed: int) -> None:
        self._below = below
        self._nodes = nodes
        self._seed = seed
        self._lost = loss  # of a message
        self._missed = 1 - (1 - loss) * (1 - late)  # of an answer
        self._sent = 0

    @property
    def silent(self) -> Ints:
        """The nodes whose managers do not answer any more."""
        return self._below.silent

    @property
    def traffic(self) -> Traffic | None:
        """What the transport below measures."""
        return self._below.traffic

    def ask(self, request: Request) -> Offers:
        """Collect the offers that are neither lost nor late."""
        asked = np.arange(self._nodes) if request.nodes is None else request.nodes
        reached = asked[self._arrives(REQUEST, request.job, asked, self._lost)]
        offers = self._below.ask(request._replace(nodes=reached))
        back = np.zeros(self._nodes, np.bool_)
        back[reached[self._arrives(OFFER, request.job, reached, self._missed)]] = True
        kept = back[offers.node]
        silent = reached.size - int(back.sum())
        return Offers(
            offers.node[kept],
            offers.low[kept],
            offers.high[kept],
            offers.fit[kept],
            offers.seconds,
            max(0, offers.nodes - silent),
        )

    def next_move(self, moves: Moves, first: int, now: int) -> int:
        """Return ``first``: the nodes are asked by messages."""
        return first

    def confirm(self, placement: Placement) -> Ints:
        """Confirm on the nodes that the message reaches; return the chosen nodes whose acknowledgement is missing."""
        sent = np.arange(self._nodes) if placement.to is None else placement.to
        reached = sent[self._arrives(CONFIRMATION, placement.job, sent, self._lost)]
        self._below.confirm(placement._replace(to=reached))
        back = reached[self._arrives(ACKNOWLEDGEMENT, placement.job, reached, self._missed)]
        return np.setdiff1d(np.intersect1d(placement.nodes, sent), back)

    def post(self, event: Event) -> Ints:
        """Deliver an event."""
        return self._below.post(event)

    def _arrives(self, kind: int, job: str, nodes: Ints, loss: float) -> NDArray[np.bool_]:
        """Return whether a message of this kind to or from each of the nodes arrives in time."""
        self._sent += 1
        return np.asarray(chances(key_of(self._seed, job, kind, self._sent), nodes) >= loss)


# --- The network between the task manager and the node managers, as text: ``mpi:processes=4:timer=10:lost=0.01``.

SIMULATE = "simulate"
MPI = "mpi"
DASK = "dask"
TIMER = 10.0  # seconds


def _local(processes: int) -> Link:
    from .transport import LocalLink

    return LocalLink(processes)


def _mpi(processes: int) -> Link:
    from .transport import MpiLink, TransportError

    link = MpiLink()
    if link.processes != processes:
        raise TransportError(f"the MPI job has {how_many(link.processes + 1, 'process')}; expected {processes + 1}")
    return link


def _dask(processes: int) -> Link:
    from .transport import DaskLink

    return DaskLink(processes)


LINKS: dict[str, Callable[[int], Link]] = {SIMULATE: _local, MPI: _mpi, DASK: _dask}
"""Engine -> function of the number of processes of node managers, which returns a link to them."""


@dataclass(frozen=True)
class Network:
    """A network.

    Parameters
    ----------
    transport : str
        Name of the engine, in ``LINKS``.
    processes : int
        Number of processes with that of the task manager, at least 2. The nodes are spread over the others in equal ranges.
    timer : float, optional
        Seconds in which a process must answer (phase 4). Not for ``simulate``, in which messages take no time.
    lost : float
        Probability that a message is lost, 0 to 1.
    late : float
        Probability that an answer arrives after the timer, 0 to 1.
    fault : str, optional
        ``PROCESS@PACKET``: this process of node managers, counted from 1, does not answer from this packet on.

    Raises
    ------
    WrongValue
        If a value is not valid.

    Examples
    --------
    >>> Network.parse("mpi:processes=4:lost=0.01").lost
    0.01
    >>> Network("dask", 3, fault="1@500").text
    'dask:processes=3:fault=1@500'
    """

    transport: str = SIMULATE
    processes: int = 4
    timer: Seconds | None = None
    lost: float = 0.0
    late: float = 0.0
    fault: str | None = None

    def __post_init__(self) -> None:
        if self.transport not in LINKS:
            raise WrongValue(f"transport {self.transport}: expected one of {', '.join(LINKS)}")
        if self.processes < 2:
            raise WrongValue(f"processes {self.processes}: expected at least 2, one of them for the task manager")
        if self.timer is not None and self.transport == SIMULATE:
            raise WrongValue(f"timer {self.timer:g}: not for simulate, in which messages take no time; see late")
        if self.timer is not None and not 0 < self.timer < float("inf"):
            raise WrongValue(f"timer {self.timer:g}: expected a number of seconds above 0, such as {TIMER:g}")
        for name, value in (("lost", self.lost), ("late", self.late)):
            if not 0 <= value <= 1:
                raise WrongValue(f"{name} {value:g}: expected a probability, 0 to 1")
        self._faulty()

    def _faulty(self) -> tuple[int, int] | None:
        """Return the process, counted from 0, and the packet of the fault."""
        if self.fault is None:
            return None
        process, at, packet = self.fault.partition("@")
        if not (
            at and process.isdecimal() and packet.isdecimal() and 1 <= int(process) < self.processes and int(packet)
        ):
            raise WrongValue(
                f"fault {self.fault}: expected PROCESS@PACKET such as 1@500, a process of node managers from 1 to "
                f"{self.processes - 1}, and a packet from 1"
            )
        return int(process) - 1, int(packet)

    @property
    def text(self) -> str:
        """The network as text: the transport, the number of processes, and the options that are not the default."""
        given = {
            f.name: getattr(self, f.name) for f in fields(self)[1:] if f.name == "processes" or getattr(self, f.name)
        }
        return ":".join(
            [self.transport, *(f"{k}={v:g}" if isinstance(v, float) else f"{k}={v}" for k, v in given.items())]
        )

    @classmethod
    def parse(cls, text: str) -> Network:
        """Return the network of a text. Raises UnknownName, WrongOption."""
        return NETWORKS.make(text)

    @contextmanager
    def link(self) -> Iterator[Link]:
        """Connect with the processes; inside ``mpiexec`` for MPI. They end after the context, or with the MPI job.

        Raises
        ------
        MissingPackage
            If the engine is not installed.
        TransportError
            If the processes cannot be reached.
        """
        opened = LINKS[self.transport](self.processes - 1)
        try:
            yield opened
        finally:
            opened.close()

    def over(self, link: Link, seed: int = 0, faults: bool = True) -> Connect:
        """Return the argument ``connect`` of ``Dardis`` for node managers behind a link.

        Parameters
        ----------
        link : Link
            The processes.
        seed : int
            Seed of the draws of lost and late messages.
        faults : bool
            Whether messages are lost and the fault happens; without, for a replay that only compiles.
        """
        from .transport import Processes

        def connect(capacity: Ints, generator: str, limits: Limits | None) -> Transport:
            fault = self._faulty() if faults else None
            return Processes(link, capacity, generator, limits, self.timer or TIMER, fault)

        return unreliable(self.lost, self.late, seed, connect) if faults and (self.lost or self.late) else connect


NETWORKS: Registry[Network] = Registry("network", "", {transport: partial(Network, transport) for transport in LINKS})
"""The networks by name."""
