"""The cost of the phases of the protocol, as if each node manager had a processor of its own [Bridi2018, table 5.2]."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np


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
        Wall time of phases 2, 4, and 5 with 6; that of phase 2 in sum over all node managers.
    """

    def __init__(self) -> None:
        self.messages = self.timeouts = self.restarts = 0
        self.seconds = {"generation": 0.0, "selection": 0.0, "reservation": 0.0}
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
        self.seconds["generation"] += generation
        self.seconds["selection"] += selection

    @property
    def runs(self) -> int:
        """The number of runs of the protocol."""
        return len(self._selection)

    def as_dict(self) -> Mapping[str, float]:
        """Return all figures; times in seconds, means and standard deviations over the runs."""
        found: dict[str, float] = {
            "jobs": self._jobs,
            "runs": self.runs,
            "messages": self.messages,
            "timeouts": self.timeouts,
            "restarts": self.restarts,
            **{f"{name}_total": seconds for name, seconds in self.seconds.items()},
        }
        parts = {"node": self._generation, "selection": self._selection}
        for name, values in parts.items():
            array = np.array(values or [0.0])
            found |= {f"{name}_mean": float(array.mean()), f"{name}_sd": float(array.std())}
        return found
