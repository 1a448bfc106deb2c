"""The messages between the task manager and the node managers, and the cost of the phases of the protocol.

The names of DARDIS dispatchers stand here too: three setups [Bridi2018, 5.3.3 to 5.3.5], and all combinations of their parts
[Bridi2016].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ....models.array_types import Bools, Floats, Ints
from ....models.words import with_short_repr

# --- The messages between the task manager and the node managers.
#
# Nodes have their numbers in the platform. All messages are named tuples of plain values and arrays, so that they can be
# sent between processes.


class Limits(NamedTuple):
    """Desired use of each node over time, as flat arrays.

    Parameters
    ----------
    curve
        Number of the step function of each node, shape (nodes,).
    first
        First step of each step function, shape (curves + 1,).
    time
        Times of the steps in seconds, ascending within a step function. Before the first one, the first amounts hold.
    amount
        Desired amounts from each time on, shape (steps, resources); infinite without a limit.
    period
        Period of each step function in seconds, shape (curves,); 0 if it does not repeat. The times of one that repeats
        begin at 0 and end before the period.
    """

    curve: Ints
    first: Ints
    time: Ints
    amount: Floats
    period: Ints


class Request(NamedTuple):
    """Phase 1: a job is submitted to the node managers.

    Parameters
    ----------
    job : str
        Id of the job.
    key : int
        Key of all random draws for this job and window.
    units : int
        Number of its units.
    request : ndarray of int64, shape (resources,)
        Amounts of one unit.
    duration : int
        Seconds, at least 1.
    windows : ndarray of int64, shape (windows, 2)
        First and last start of each window in which the job may start, ascending.
    responses : int
        Number of different starts that each node returns; a node with fewer returns all of them.
    profile : bool
        Whether the starts must keep to the desired profile.
    now : int
        The time of the request in seconds.
    nodes : ndarray of int64, optional
        The nodes that are asked, ascending; None: all of them. A node that has a reservation for the job answers as if it
        had not.
    """

    job: str
    key: int
    units: int
    request: Ints
    duration: int
    windows: Ints
    responses: int
    profile: bool
    now: int
    nodes: Ints | None = None


class Offers(NamedTuple):
    """Phase 3: the starts that nodes offer; entry k is ``low[k]`` to ``high[k]`` (both included) on ``node[k]``.

    Parameters
    ----------
    node, low, high : ndarray of int64
        Node, first and last start of each entry, in the order of the nodes, then of the starts.
    fit : ndarray of float64
        The fitting index of these starts.
    seconds : float
        Time in which the node managers generated them, in sum over the nodes.
    nodes : int
        Number of node managers that have generated starts, or found that there are none.
    """

    node: Ints
    low: Ints
    high: Ints
    fit: Floats
    seconds: float
    nodes: int


class Placement(NamedTuple):
    """Phase 5: where a job starts, and when; the nodes among ``nodes`` reserve what it needs (phase 6).

    A node gives up the reservation that it has for the job before.

    Parameters
    ----------
    job : str
        Id of the job.
    start, end : int
        Times in seconds.
    nodes, units : ndarray of int64, shape (chosen nodes,)
        The nodes, ascending, and the units on each of them.
    request : ndarray of int64, shape (resources,)
        Amounts of one unit.
    now : int
        The time of the confirmation in seconds.
    to : ndarray of int64, optional
        The nodes that get this message, ascending; None: all of them.
    """

    job: str
    start: int
    end: int
    nodes: Ints
    units: Ints
    request: Ints
    now: int
    to: Ints | None = None


class Release(NamedTuple):
    """A job has ended, or its reservation is given up: its nodes are free from a time on."""

    job: str
    now: int


class Extend(NamedTuple):
    """A job runs longer than reserved: its nodes are reserved up to ``end``."""

    job: str
    end: int


class Answering(NamedTuple):
    """Which nodes take part in the protocol from now on, shape (nodes,)."""

    nodes: Bools


class Wish(NamedTuple):
    """Another desired use holds from now on, with a step function for each node of the platform."""

    limits: Limits


Event = Release | Extend | Answering | Wish


def no_offers(nodes: int = 0, seconds: float = 0.0) -> Offers:
    """Return the answer of nodes that have no start."""
    none = np.empty(0, np.int64)
    return Offers(none, none, none, np.empty(0), seconds, nodes)


def joined(offers: list[Offers]) -> Offers:
    """Return the offers of several groups of nodes, in the order of the nodes."""
    ordered = sorted((o for o in offers if o.node.size), key=lambda o: int(o.node[0]))
    seconds = sum(o.seconds for o in offers)
    nodes = sum(o.nodes for o in offers)
    if not ordered:
        return no_offers(nodes, seconds)
    arrays = [np.concatenate(parts) for parts in zip(*(o[:4] for o in ordered), strict=True)]
    return Offers(arrays[0], arrays[1], arrays[2], arrays[3], seconds, nodes)


# --- The cost of the phases of the protocol, as if each node manager had a processor of its own [Bridi2018, table 5.2].

PHASES = {
    "generation_all": "start time generation, all node managers one after the other",
    "generation_one": "start time generation, one node manager: the mean over those that answered",
    "node_selection": "resource selection",
    "reservation": "resource confirmation and reservation",
}

WALL = {
    "wall_offers": "submission, generation and responses, until the last offer has arrived or the timer ends",
    "wall_selection": "resource selection",
    "wall_reservation": "confirmation and reservation, until the chosen nodes have acknowledged it",
    "wall_events": "extensions of reservations",
}


@with_short_repr
class Traffic:
    """What a transport over processes measures in one replay.

    Attributes
    ----------
    packets : int
        Packets between processes, requests and answers. A packet has the messages for all node managers of a process.
    bytes : int
        Their bytes, without what the engine adds.
    seconds : dict of str to float
        Wall time of the phases (``WALL``), in sum over the runs.
    """

    def __init__(self) -> None:
        self.packets = self.bytes = 0
        self.seconds = dict.fromkeys(WALL, 0.0)


@with_short_repr
class Costs:
    """Times and numbers of messages of the runs of the protocol in one replay.

    Parameters
    ----------
    traffic : Traffic, optional
        What the transport measures, if it does.

    Attributes
    ----------
    messages : int
        Messages that were sent and received: requests, offers, confirmations, notifications of backfilling.
    timeouts : int
        Number of runs in which the timer ended before all node managers had answered.
    restarts : int
        Number of runs that began again because a chosen node did not acknowledge its reservation.
    silent : int
        Number of nodes whose managers do not answer any more.
    seconds : dict of str to float
        Processor time of the phases (``PHASES``), in sum over the runs.
    """

    def __init__(self, traffic: Traffic | None = None) -> None:
        self.messages = self.timeouts = self.restarts = self.silent = 0
        self.traffic = traffic
        self.seconds = dict.fromkeys(PHASES, 0.0)
        self._generation: list[float] = []  # seconds of one node manager, the mean over those that answered
        self._selection: list[float] = []
        self._jobs = 0

    def add_job(self) -> None:
        """Count a job for which the protocol runs, once or several times."""
        self._jobs += 1

    def add_run(self, asked: int, answered: int, generation: float, selection: float, wall: float = 0.0) -> None:
        """Add a run of the protocol.

        Parameters
        ----------
        asked, answered : int
            Number of node managers that got the request, and whose offers arrived.
        generation, selection : float
            Seconds of phase 2 in sum over the node managers, and of phase 4.
        wall : float
            Wall time of phase 4 in seconds.
        """
        if self.traffic is not None:
            self.traffic.seconds["wall_selection"] += wall
        self.messages += 2 * asked + answered
        self.timeouts += answered < asked
        self._generation.append(generation / max(1, answered))
        self._selection.append(selection)
        self.seconds["generation_all"] += generation
        self.seconds["generation_one"] += self._generation[-1]
        self.seconds["node_selection"] += selection

    def add_passed(self, asked: Sequence[int], seconds: float) -> None:
        """Add runs that find no earlier start, as their nodes know without a selection.

        Parameters
        ----------
        asked : sequence of int
            Number of node managers of each run; all of them answer.
        seconds : float
            Time of the test in sum over the runs.
        """
        one = seconds / sum(asked)
        self.messages += 3 * sum(asked)
        self._generation += [one] * len(asked)
        self._selection += [0.0] * len(asked)
        self.seconds["generation_all"] += seconds
        self.seconds["generation_one"] += one * len(asked)

    @property
    def runs(self) -> int:
        """The number of runs of the protocol."""
        return len(self._selection)

    @property
    def counts(self) -> dict[str, int]:
        """The numbers of jobs, runs, messages, timeouts and restarts; those that a transport over processes measures."""
        traffic = self.traffic
        measured = dict[str, int]()
        if traffic is not None:
            measured = {"packets": traffic.packets, "packet_bytes": traffic.bytes, "silent_nodes": self.silent}
        return {
            "dardis_jobs": self._jobs,
            "dardis_runs": self.runs,
            "messages": self.messages,
            "timeouts": self.timeouts,
            "restarts": self.restarts,
            **measured,
        }

    @property
    def all_seconds(self) -> dict[str, float]:
        """The processor time of the phases, and the wall time if a transport over processes measures it."""
        return self.seconds | (self.traffic.seconds if self.traffic is not None else {})

    def as_dict(self) -> Mapping[str, float]:
        """Return all figures; times in seconds, with means and standard deviations over the runs."""
        entries: dict[str, float] = {**self.counts, **self.all_seconds}
        for name, values in (("generation_one", self._generation), ("node_selection", self._selection)):
            array = np.array(values or [0.0])
            entries |= {f"{name}_mean": float(array.mean()), f"{name}_sd": float(array.std())}
        return entries


GENERATORS = ("first", "uniform", "exponential")
POLICIES = ("min-start", "max-prob", "min-prob", "random")


class Setup(NamedTuple):
    """A generator, a policy, and whether ends of jobs start backfilling."""

    generator: str
    policy: str
    backfilling: bool = False


SETUPS = {
    "throughput": Setup("first", "min-start", backfilling=True),
    "profile": Setup("uniform", "random"),
    "balance": Setup("exponential", "max-prob"),
    **{f"{generator}/{policy}": Setup(generator, policy) for generator in GENERATORS for policy in POLICIES},
}
