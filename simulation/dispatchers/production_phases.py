"""The phases of a scheduling cycle [Bridi2018, figure 4.3 and table 4.16] and their wall times."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

PHASES = {
    "update_jobs": "update jobs",
    "update_nodes": "update nodes",
    "check_jobs": "check jobs",
    "selection": "selection",
    "warm_start": "warm start",
    "model": "model creation",
    "solve": "model execution",
    "allocate": "commit",
}
"""Key in ``Decision.seconds`` -> name of the phase, in the order of the cycle.

The thesis has no warm start. Its other phases (update queues, check reservations, reservation check, reservation models)
are the work of the simulator, for all dispatchers alike.
"""


class PhaseClock:
    """The seconds of the phases of one cycle.

    Attributes
    ----------
    seconds : dict of str to float
        Key of ``PHASES`` -> wall time.

    Examples
    --------
    >>> clock = PhaseClock()
    >>> with clock.phase("selection"):
    ...     pass
    >>> list(clock.seconds)
    ['selection']
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def phase(self, key: str) -> Iterator[None]:
        """Add the wall time of the block to a phase."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[key] = self.seconds.get(key, 0.0) + time.perf_counter() - began
