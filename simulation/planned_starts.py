"""Planned starts and requested calls: what a dispatcher has asked the engine to do later."""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count

from ..heuristics.kernels.profile import NEVER
from .dispatcher import PlannedStart


class Plans:
    """The planned starts and the requested calls of one replay.

    ``by_id`` holds the planned starts by the ids of the jobs. Jobs are identified by their row in the workload.
    """

    def __init__(self) -> None:
        self.by_id: dict[str, PlannedStart] = {}
        self._of: dict[int, tuple[int, PlannedStart]] = {}  # row -> number of the entry that is valid, planned start
        self._heap: list[tuple[int, int, int]] = []  # time, number of the entry, row; replaced entries stay in it
        self._calls: list[int] = []
        self._number = count()

    @property
    def pending(self) -> bool:
        """Whether there may be a planned start or a requested call; without any, the other methods have nothing to do."""
        return bool(self._heap or self._calls)

    def put(self, j: int, planned: PlannedStart) -> None:
        """Plan the start of job j, instead of the start that was planned before."""
        number = next(self._number)
        self._of[j] = number, planned
        self.by_id[planned.job] = planned
        heappush(self._heap, (planned.time, number, j))

    def remove(self, j: int) -> None:
        """Remove the planned start of job j, if there is one."""
        found = self._of.pop(j, None)
        if found is not None:
            del self.by_id[found[1].job]

    def clear(self) -> None:
        """Remove all planned starts; requested calls stay."""
        self.by_id.clear()
        self._of.clear()
        self._heap.clear()

    def due(self, now: int) -> list[tuple[int, PlannedStart]]:
        """Remove the planned starts up to now and return them with their rows, by time, then as they were planned."""
        found = []
        while self._next_start() <= now:
            _, _, j = heappop(self._heap)
            found.append((j, self._of[j][1]))
            self.remove(j)
        return found

    def call_at(self, time: int) -> None:
        """Request a call of the dispatcher."""
        if time not in self._calls:
            heappush(self._calls, time)

    def called(self, now: int) -> bool:
        """Remove the requested calls up to now; return whether there was one."""
        before = len(self._calls)
        while self._calls and self._calls[0] <= now:
            heappop(self._calls)
        return len(self._calls) < before

    def next_time(self) -> int:
        """Return the time of the next planned start or requested call; NEVER if there is none."""
        return min(self._next_start(), self._calls[0] if self._calls else NEVER)

    def _next_start(self) -> int:
        while self._heap:
            time, number, j = self._heap[0]
            if j in self._of and self._of[j][0] == number:
                return time
            heappop(self._heap)
        return NEVER
