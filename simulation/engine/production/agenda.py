"""Actions of a replay at later times."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count

from ....heuristics.kernels.profile import NEVER

# the order of what happens at one time
PRIVATE_END, RESERVATION_END, SERVER_EVENT, REQUEST, RESERVATION_START = range(5)


class Agenda:
    """What happens later: actions by time, rank and order of entry."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, int, Callable[[], object]]] = []
        self._number = count()

    def add(self, time: int, rank: int, action: Callable[[], object]) -> None:
        """Add an action."""
        heappush(self._heap, (time, rank, next(self._number), action))

    def next_time(self) -> int:
        """Return the time of the next action in seconds; NEVER if there is none."""
        return self._heap[0][0] if self._heap else NEVER

    def run(self, now: int) -> None:
        """Run the actions up to now; they may add others."""
        while self.next_time() <= now:
            heappop(self._heap)[3]()
