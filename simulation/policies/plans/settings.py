"""The parameters of a policy that plans."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....errors import WrongValue
from ....heuristics.kernels.events.rules import Planning
from ....instances.workload import Workload
from ....models.whole_numbers import is_real, is_whole, shown

DAY = 86400


@dataclass(frozen=True)
class Plan:
    """How a policy plans its queue at each decision; see ``docs/plans.md``.

    Parameters
    ----------
    work : float
        Weight of a job's work in its key, at least 0. 0: the key of the policy alone. Above 0: the key of the policy is
        not used, but ``arrival + work * T * own work / mean work``. The work of a job is its number of units times its
        expected duration, the mean is that of the waiting jobs, and T is the time that the whole machine needs for all
        running and waiting jobs.
    ewt : float
        Exponent, at least 0: the work of a job is multiplied by (ewt of its queue / mean ewt) ** ewt. 0: queues are
        alike.
    guard : float
        A job that has waited ``guard`` times its fair wait goes before all others; above 0, ``math.inf``: never.
    least : float
        No job goes first for that reason before it has waited this many seconds, at least 0.
    rounds : int
        Changes of the order that the search tries at each decision, at least 0.
    depth : int
        Number of jobs at the head of the plan that the search may change, at least 2.

    Raises
    ------
    ValueError
        If a parameter is not valid.
    """

    work: float = 0.0
    ewt: float = 0.0
    guard: float = np.inf
    least: float = DAY
    rounds: int = 0
    depth: int = 30

    def __post_init__(self) -> None:
        for name, least in (("work", 0), ("ewt", 0), ("least", 0)):
            value = getattr(self, name)
            if not is_real(value) or not least <= value < np.inf:
                raise WrongValue(f"plan: {name} is {shown(value)}; expected a number of at least {least}")
        if not (self.guard == np.inf or is_real(self.guard)) or not self.guard > 0:
            raise WrongValue(f"plan: guard is {shown(self.guard)}; expected a number above 0")
        for name, fewest in (("rounds", 0), ("depth", 2)):
            value = getattr(self, name)
            if not is_whole(value) or value < fewest:
                raise WrongValue(f"plan: {name} is {shown(value)}; expected a whole number of at least {fewest}")

    def planning(self, workload: Workload, seed: int) -> Planning:
        """Return the parameters as the kernels take them, for the jobs of a workload."""
        worth = np.empty(0)
        if self.work > 0:
            ewt = np.array([q.ewt for q in workload.queues], np.float64)
            worth = workload.job_arrays.all_units * ((ewt / ewt.mean()) ** self.ewt)[workload.queue]
        return Planning(
            True, float(self.work), float(self.guard), int(self.least), worth, int(self.rounds), int(self.depth), seed
        )
