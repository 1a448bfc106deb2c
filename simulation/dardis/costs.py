"""The cost of the phases of the protocol, as if each node manager had a processor of its own [Bridi2018, table 5.2]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...models.excerpt import with_short_repr

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
        traffic, measured = self.traffic, dict[str, int]()
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
        found: dict[str, float] = {**self.counts, **self.all_seconds}
        for name, values in (("generation_one", self._generation), ("node_selection", self._selection)):
            array = np.array(values or [0.0])
            found |= {f"{name}_mean": float(array.mean()), f"{name}_sd": float(array.std())}
        return found
