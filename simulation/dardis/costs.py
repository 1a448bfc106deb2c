"""The cost of the phases of the protocol, as if each node manager had a processor of its own [Bridi2018, table 5.2]."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

PHASES = {
    "generation_all": "start time generation, all node managers one after the other",
    "generation_one": "start time generation, one node manager: the mean over those that answered",
    "node_selection": "resource selection",
    "reservation": "resource confirmation and reservation",
}


class Costs:
    """Times and numbers of messages of the runs of the protocol in one replay.

    Attributes
    ----------
    messages : int
        Messages that were sent and received: requests, offers, confirmations, notifications of backfilling.
    timeouts : int
        Number of runs in which the timer ended before all node managers had answered.
    restarts : int
        Number of runs that began again because a chosen node did not acknowledge its reservation.
    seconds : dict of str to float
        Processor time of the phases (``PHASES``), in sum over the runs.
    """

    def __init__(self) -> None:
        self.messages = self.timeouts = self.restarts = 0
        self.seconds = dict.fromkeys(PHASES, 0.0)
        self._generation: list[float] = []  # seconds of one node manager, the mean over those that answered
        self._selection: list[float] = []
        self._jobs = 0

    def add_job(self) -> None:
        """Count a job for which the protocol runs, once or several times."""
        self._jobs += 1

    def add_run(self, asked: int, answered: int, generation: float, selection: float) -> None:
        """Add a run of the protocol.

        Parameters
        ----------
        asked, answered : int
            Number of node managers that got the request, and whose offers arrived.
        generation, selection : float
            Seconds of phase 2 in sum over the node managers, and of phase 4.
        """
        self.messages += 2 * asked + answered
        self.timeouts += answered < asked
        self._generation.append(generation / max(1, answered))
        self._selection.append(selection)
        self.seconds["generation_all"] += generation
        self.seconds["generation_one"] += self._generation[-1]
        self.seconds["node_selection"] += selection

    @property
    def runs(self) -> int:
        """The number of runs of the protocol."""
        return len(self._selection)

    @property
    def counts(self) -> dict[str, int]:
        """The numbers of jobs, runs, messages, timeouts and restarts."""
        return {
            "dardis_jobs": self._jobs,
            "dardis_runs": self.runs,
            "messages": self.messages,
            "timeouts": self.timeouts,
            "restarts": self.restarts,
        }

    def as_dict(self) -> Mapping[str, float]:
        """Return all figures; times in seconds, with means and standard deviations over the runs."""
        found: dict[str, float] = {**self.counts, **self.seconds}
        for name, values in (("generation_one", self._generation), ("node_selection", self._selection)):
            array = np.array(values or [0.0])
            found |= {f"{name}_mean": float(array.mean()), f"{name}_sd": float(array.std())}
        return found
