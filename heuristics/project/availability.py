"""Where the renewable resources of a project are free: usage over time, breaks, and sequences with setups."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable
from typing import NamedTuple

from ...models.project.data import Mode, Resource, Task
from ...models.project.verification import Window, joined, suspended_end, suspending

# --- The use of a renewable resource over time.


class ResourceUsage:
    """The use of a renewable resource as a step function of time.

    Parameters
    ----------
    capacity : int
        The amount that is available at every time.

    Examples
    --------
    >>> crew = ResourceUsage(3)
    >>> crew.add(start=0, end=4, demand=2)
    >>> crew.earliest(start=1, duration=5, demand=2), crew.earliest(start=1, duration=5, demand=1)
    (4, 1)
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self._times = [0]
        self._used = [0]  # from each time to the next one; the last one is 0

    def earliest(self, start: int, duration: int, demand: int) -> int:
        """Return the first time, not before ``start``, from which the demand is free for the whole duration."""
        times = self._times
        used = self._used
        most = self.capacity - demand
        k = bisect_right(times, start) - 1
        while True:
            end = start + duration
            while k < len(times) and times[k] < end:
                if used[k] > most:
                    break
                k += 1
            else:
                return start
            k += 1
            start = times[k]

    def add(self, start: int, end: int, demand: int) -> None:
        """Occupy the demand from ``start`` to ``end``."""
        first = self._breakpoint(start)
        last = self._breakpoint(end)
        for k in range(first, last):
            self._used[k] += demand

    def _breakpoint(self, time: int) -> int:
        """Return the position of a breakpoint at this time, which is inserted if there is none."""
        k = bisect_left(self._times, time)
        if k == len(self._times) or self._times[k] != time:
            self._times.insert(k, time)
            self._used.insert(k, self._used[k - 1])
        return k


# --- The tasks on a resource with setups, one after another.


class Neighbour(NamedTuple):
    """A task in a sequence: its start, its end and its family."""

    start: int
    end: int
    kind: str


class SetupSequence:
    """The tasks on a resource of capacity 1 with setups.

    Parameters
    ----------
    resource : Resource
        The resource.

    Examples
    --------
    >>> oven = SetupSequence(Resource("oven", 1, setups={("a", "b"): 2, ("b", "a"): 1}))
    >>> oven.add(4, 6, "a")
    >>> oven.earliest(0, 3, "b"), oven.earliest(0, 4, "b"), oven.earliest(0, 4, "a")
    (0, 8, 0)
    """

    def __init__(self, resource: Resource) -> None:
        self._setups = resource.setups
        self._all_pairs = resource.all_pairs
        self._rows: list[Neighbour] = []

    def earliest(self, start: int, duration: int, kind: str) -> int:
        """Return the first time, not before ``start``, at which a task fits between two neighbours with their setups."""
        rows = self._rows
        for k in range(len(rows) + 1):
            before = rows[:k] if self._all_pairs else rows[max(0, k - 1) : k]
            after = rows[k:] if self._all_pairs else rows[k : k + 1]
            first = max([start, *(r.end + self._setups.get((r.kind, kind), 0) for r in before)])
            if all(first + duration + self._setups.get((kind, r.kind), 0) <= r.start for r in after):
                return first
        return start

    def add(self, start: int, end: int, kind: str) -> None:
        """Insert a task."""
        insort(self._rows, Neighbour(start, end, kind))


class Availability:
    """The renewable resources of a project, with what is placed on them.

    Parameters
    ----------
    resources : iterable of Resource
        The resources; those that are not renewable are ignored.

    Examples
    --------
    >>> free = Availability([Resource("crew", 1, breaks=((2, 5),), suspends=True)])
    >>> task = Task.single("a", 3, {"crew": 1})
    >>> free.earliest(task, task.modes[0], 0), free.earliest(task, task.modes[0], 2)
    ((0, 6), (5, 8))
    """

    def __init__(self, resources: Iterable[Resource]) -> None:
        renewable = [r for r in resources if r.renewable]
        self._usages = {r.name: ResourceUsage(r.capacity) for r in renewable}
        self._sequences = {r.name: SetupSequence(r) for r in renewable if r.setups}
        self._suspending = [r for r in renewable if r.suspends and r.breaks]
        for r in renewable:
            for begin, over in () if r.suspends else joined(r.breaks):
                self._usages[r.name].add(max(0, begin), max(0, over), r.capacity)

    def earliest(self, task: Task, mode: Mode, ready: int) -> tuple[int, int]:
        """Return the first start from ``ready`` on at which all renewable resources are free for a mode, and its end."""
        demands = _running(self._usages, mode)
        breaks = suspending(self._suspending, mode) if self._suspending else ()
        start = ready
        while True:
            before = start
            start = _after(start, breaks)
            end = suspended_end(start, mode.duration, breaks)
            for name, demand in demands:
                start = self._usages[name].earliest(start, end - start, demand)
                if name in self._sequences:
                    start = self._sequences[name].earliest(start, end - start, task.kind)
            if start == before:
                return start, end

    def add(self, task: Task, mode: Mode, start: int, end: int) -> None:
        """Place a task."""
        for name, demand in _running(self._usages, mode):
            self._usages[name].add(start, end, demand)
            if name in self._sequences:
                self._sequences[name].add(start, end, task.kind)


def _after(time: int, breaks: Iterable[Window]) -> int:
    """Return the end of the break that a time lies in; the time itself if it lies in none."""
    return next((over for begin, over in breaks if begin <= time < over), time)


def _running(usages: dict[str, ResourceUsage], mode: Mode) -> list[tuple[str, int]]:
    """Return the demands of a mode of renewable resources; a mode of duration 0 occupies nothing."""
    return [(name, demand) for name, demand in mode.demands.items() if demand and mode.duration and name in usages]
