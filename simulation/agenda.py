"""What a replay does at later times: one heap of actions, the order of what happens at one time, and planned starts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum, auto
from heapq import heappop, heappush
from itertools import count

from ..heuristics.kernels.profile import NEVER
from .dispatcher import PlannedStart

Action = Callable[[], object]


class Rank(IntEnum):
    """The order of the actions at one time; jobs that end, and then jobs that arrive, come before all of them.

    Parameters
    ----------
    value : int
        The place in the order: ``Rank(1)`` comes first.
    """

    NODE_STATE = auto()
    """Nodes go down, drain or come back; jobs on nodes that stop fail."""
    DESIRED_USE = auto()
    """The desired use or the power cap changes."""
    NODE_POWER = auto()
    """Nodes begin to boot, or are on; the node policy is called again."""
    CHECKPOINT_DONE = auto()
    """A job that has written its checkpoint leaves."""
    CHECKPOINT_BEGIN = auto()
    """A job that is to leave begins to write."""
    KILL = auto()
    """A job leaves without a checkpoint."""
    ON_DEMAND_SUBMIT = auto()
    """An on-demand job may start from now on."""
    ANNOUNCE = auto()
    """An on-demand job is announced, and the evictor decides."""
    EVICT = auto()
    """The evictor decides again."""
    PRIVATE_END = auto()
    """A job inside a reservation ends."""
    RESERVATION_END = auto()
    """A reservation is over."""
    SERVER_EVENT = auto()
    """The batch server stops a queue, changes a job, ..."""
    RESERVATION_REQUEST = auto()
    """A reservation is examined."""
    RESERVATION_START = auto()
    """A reservation starts."""
    PREEMPTION = auto()
    """The time is over that a job had to leave for another one."""
    OTHER = auto()
    """Anything else: features of third parties."""


@dataclass(order=True)
class Entry:
    """An action on an agenda; entries are ordered by time, rank and number."""

    time: int
    rank: Rank
    number: int
    action: Action = field(compare=False)
    waits_for_jobs: bool = field(compare=False)
    period: int = field(compare=False)
    done: bool = field(default=False, compare=False)


class Agenda:
    """The actions of one replay, by time, rank and order of entry.

    An action that ``waits_for_jobs`` only matters while jobs run, wait or are to come: it does not keep a replay going. An
    action with a ``period`` comes again and again, each time added anew: jobs are not waited for longer than one period.

    Examples
    --------
    >>> agenda, seen = Agenda(), []
    >>> later = agenda.add(5, Rank.OTHER, lambda: seen.append("b"))
    >>> sooner = agenda.add(5, Rank.NODE_STATE, lambda: seen.append("a"))
    >>> agenda.next_time()
    5
    >>> agenda.run(5)
    >>> seen
    ['a', 'b']
    """

    def __init__(self) -> None:
        self._heap: list[Entry] = []
        self._number = count()
        self._lasting = self._once = 0
        self.periods: set[int] = set()

    def add(self, time: int, rank: Rank, action: Action, *, waits_for_jobs: bool = False, period: int = 0) -> Entry:
        """Add an action at a time in seconds, and return its entry; ``period``: in seconds, 0 if it does not come again."""
        entry = Entry(time, rank, next(self._number), action, waits_for_jobs, period)
        heappush(self._heap, entry)
        self._count(entry, 1)
        if period:
            self.periods.add(period)
        return entry

    def cancel(self, entry: Entry) -> None:
        """Remove an action that has not run."""
        if not entry.done:
            entry.done = True
            self._count(entry, -1)

    def _count(self, entry: Entry, sign: int) -> None:
        if not entry.waits_for_jobs:
            self._lasting += sign
        if not entry.period:
            self._once += sign

    def next_time(self) -> int:
        """Return the time of the next action in seconds; NEVER if there is none."""
        while self._heap and self._heap[0].done:
            heappop(self._heap)
        if self._heap:
            return self._heap[0].time
        return NEVER

    @property
    def lasting(self) -> bool:
        """Whether there are actions that keep a replay going without jobs."""
        return self._lasting > 0

    @property
    def once(self) -> bool:
        """Whether there are actions that do not come again and again."""
        return self._once > 0

    def has_others(self, rank: Rank) -> bool:
        """Return whether there are actions of other ranks."""
        return any(entry.rank != rank and not entry.done for entry in self._heap)

    def run(self, now: int) -> None:
        """Run the actions up to now, which may add others."""
        while self.next_time() <= now:
            entry = heappop(self._heap)
            self.cancel(entry)
            entry.action()


# --- Planned starts and requested calls: what a dispatcher has asked the engine to do later.


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
        planned = self._of.pop(j, None)
        if planned is not None:
            del self.by_id[planned[1].job]

    def clear(self) -> None:
        """Remove all planned starts; requested calls stay."""
        self.by_id.clear()
        self._of.clear()
        self._heap.clear()

    def due(self, now: int) -> list[tuple[int, PlannedStart]]:
        """Remove the planned starts up to now and return them with their rows, by time, then as they were planned."""
        starts = []
        while self._next_start() <= now:
            _, _, j = heappop(self._heap)
            starts.append((j, self._of[j][1]))
            self.remove(j)
        return starts

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
