"""The portfolio of [Bridi2018, 4.5.2, figure 4.13]: the CP model, or PBS backfilling under a heavy load.

At each event the load is ``(job units submitted in the last 24 h) * nodes``. Up to the threshold of the thesis, 270,000,
``cpmodel`` decides, above it the policy ``pbs-walltime``. ``Decision.used`` names the one that did.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Any

from ....errors import WrongValue
from ....models import Platform, Queue
from ....models.dispatch.jobs import DAY
from ....models.excerpt import with_short_repr
from ...dispatcher import Decision, Moment
from ..policy import POLICIES
from .cycle import CPModel

THRESHOLD = 270_000  # job units in 24 h * nodes
HEAVY = "pbs-walltime"


@with_short_repr
class Portfolio:
    """The dispatcher ``portfolio@BACKEND``.

    Parameters
    ----------
    backend : str
        Name of the solver's backend.
    threshold : float
        Largest load, job units submitted in 24 h * nodes, that goes to ``cpmodel``; at least 0.
    **options
        Other arguments of ``CPModel``.

    Raises
    ------
    WrongValue
        If the threshold is negative or no number.

    Examples
    --------
    >>> Portfolio("cpsat", threshold=100_000).name
    'portfolio@cpsat'
    """

    delegates = True  # to a policy; beside reservations it needs walltimes
    always = True  # the reservations of the policy follow every event

    def __init__(self, backend: str = "cpsat", threshold: float = THRESHOLD, **options: Any) -> None:
        if isinstance(threshold, bool) or not threshold >= 0:
            raise WrongValue(f"portfolio: threshold is {threshold!r}; expected a number of at least 0")
        self.model, self.threshold = CPModel(backend, **options), threshold
        self.name = self.model.name.replace("cpmodel", "portfolio", 1)

    def begin(self, platform: Platform, queues: Sequence[Queue], seed: int) -> None:
        """Prepare for a replay."""
        self.model.begin(platform, queues, seed)
        self._seen: set[str] = set()  # ids of the jobs that have arrived
        self._recent: list[tuple[int, int]] = []  # heap of (submit time, units), of the last 24 h
        self._units = 0

    def load(self, moment: Moment) -> int:
        """Return the job units that were submitted in the last 24 h, times the number of nodes."""
        for job in moment.waiting:
            if job.id not in self._seen:
                self._seen.add(job.id)
                units = sum(part.units for part in job.parts)
                heapq.heappush(self._recent, (job.submit, units))
                self._units += units
        while self._recent and self._recent[0][0] <= moment.now - DAY:
            self._units -= heapq.heappop(self._recent)[1]
        return self._units * len(moment.platform.nodes)

    def decide(self, moment: Moment) -> Decision:
        """Return the jobs that start now, or the policy that starts them."""
        if self.load(moment) > self.threshold:
            return Decision((), policy=POLICIES[HEAVY], used=HEAVY)
        found = self.model.decide(moment)
        found.used = "cpmodel"
        return found
