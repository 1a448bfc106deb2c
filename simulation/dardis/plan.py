"""The planned and running jobs of DARDIS: in the order of their starts on each node, and of their ends."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Iterable
from heapq import heappop, heappush
from itertools import islice
from typing import NamedTuple

from ...models.excerpt import with_short_repr
from .task_manager import Placed, Task


class Planned(NamedTuple):
    """A job with its reservation; ``number``: jobs in the order in which they were first planned."""

    task: Task
    placed: Placed
    number: int

    @property
    def start(self) -> int:
        """Its planned or real start in seconds."""
        return self.placed.placement.start

    @property
    def end(self) -> int:
        """The end of its reservation in seconds."""
        return self.placed.placement.end


@with_short_repr
class Plan:
    """Jobs by id: ``planned`` start later, ``running`` have started."""

    def __init__(self) -> None:
        self.planned: dict[str, Planned] = {}
        self.running: dict[str, Planned] = {}
        self._on: dict[int, list[tuple[int, int, str]]] = defaultdict(list)  # node -> (start, number, id), ascending
        self._starts: list[tuple[int, int, str]] = []  # heaps; entries that are out of date stay in them
        self._ends: list[tuple[int, str]] = []
        self._latest: list[tuple[int, str]] = []  # -end, id
        self._numbers = 0

    def number(self) -> int:
        """Return the number of a new job."""
        self._numbers += 1
        return self._numbers

    def put(self, job: Planned) -> None:
        """Plan a job, instead of its plan before."""
        name = job.task.id
        self.remove(name)
        self.planned[name] = job
        entry = job.start, job.number, name
        for node in job.placed.placement.nodes.tolist():
            insort(self._on[node], entry)
        heappush(self._starts, entry)
        heappush(self._latest, (-job.end, name))

    def remove(self, name: str) -> Planned | None:
        """Remove a planned job and return it, if there is one."""
        job = self.planned.pop(name, None)
        if job is not None:
            entry = job.start, job.number, name
            for node in job.placed.placement.nodes.tolist():
                listed = self._on[node]
                del listed[bisect_left(listed, entry)]
        return job

    def begin(self, job: Planned) -> None:
        """Note that a job runs."""
        self.remove(job.task.id)
        self.running[job.task.id] = job
        heappush(self._ends, (job.end, job.task.id))
        heappush(self._latest, (-job.end, job.task.id))

    def extend(self, name: str, end: int) -> None:
        """Move the end of the reservation of a running job."""
        job = self.running[name]
        placement = job.placed.placement._replace(end=end)
        self.running[name] = job._replace(placed=job.placed._replace(placement=placement))
        heappush(self._ends, (end, name))
        heappush(self._latest, (-end, name))

    def due(self, now: int) -> list[Planned]:
        """Return the planned jobs whose starts are not after now, in the order of their starts; they stay planned."""
        found = []
        while self._starts and self._starts[0][0] <= now:
            start, _, name = heappop(self._starts)
            job = self.planned.get(name)
            if job is not None and job.start == start:
                found.append(job)
        return found

    def expired(self, now: int) -> list[str]:
        """Return the running jobs whose reservations have ended."""
        found = []
        while self._ends and self._ends[0][0] <= now:
            end, name = heappop(self._ends)
            if name in self.running and self.running[name].end == end:
                found.append(name)
        return found

    def next_end(self) -> int | None:
        """Return when the next reservation of a running job ends; None if no job runs."""
        while self._ends:
            end, name = self._ends[0]
            if name in self.running and self.running[name].end == end:
                return end
            heappop(self._ends)
        return None

    def first_on(self, nodes: Iterable[int], depth: int) -> list[str]:
        """Return the first ``depth`` planned jobs on each of these nodes, in the order of their starts."""
        found: set[tuple[int, int, str]] = set()
        for node in nodes:
            found.update(islice(self._on.get(node, ()), depth))
        return [name for _, _, name in sorted(found)]

    def before(self, nodes: Iterable[int], end: int) -> list[str]:
        """Return the planned jobs that start before ``end`` on any of these nodes, in the order of their starts."""
        found: set[tuple[int, int, str]] = set()
        for node in nodes:
            listed = self._on.get(node, [])
            found.update(listed[: bisect_left(listed, (end,))])
        return [name for _, _, name in sorted(found)]

    def on(self, nodes: Iterable[int]) -> list[str]:
        """Return the planned jobs on any of these nodes, in the order of their starts."""
        found = {entry for node in nodes for entry in self._on.get(node, ())}
        return [name for _, _, name in sorted(found)]

    def ends(self) -> dict[int, int]:
        """Return, for each node with running or planned jobs, when the last of them ends."""
        found: dict[int, int] = {}
        for jobs in (self.running, self.planned):
            for job in jobs.values():
                for node in job.placed.placement.nodes.tolist():
                    found[node] = max(found.get(node, job.end), job.end)
        return found

    def end_of_all(self) -> int:
        """Return the end of the last reservation; a time before all others if there is none."""
        while self._latest:
            end, name = self._latest[0]
            job = self.planned.get(name) or self.running.get(name)
            if job is not None and job.end == -end:
                return job.end
            heappop(self._latest)
        return -(2**62)
