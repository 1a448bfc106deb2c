"""A network that loses and delays messages, for replays; every loss is drawn from the seed and the message."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...errors import WrongValue
from .costs import Traffic
from .messages import Event, Limits, Offers, Placement, Request
from .nodes.draws import chances, key_of
from .nodes.moves import Moves
from .transport import Connect, Transport, in_process

Ints = NDArray[np.int64]
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
    >>> from schedlab.simulation.dardis.dispatcher import Dardis
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
        self._below, self._nodes, self._seed = below, nodes, seed
        self._lost, self._missed = loss, 1 - (1 - loss) * (1 - late)  # of a message, of an answer
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
