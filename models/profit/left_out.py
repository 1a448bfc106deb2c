"""What a model of profit leaves out: the jobs that start when nothing counts any more, placed after all that does."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..dispatch.jobs import Job
from ..dispatch.problem import Dispatch
from ..problem import Schedule

if TYPE_CHECKING:
    from .problem import Profit

AHEAD = 50  # waiting jobs that are looked at: of more, the first ones go first

Ints = NDArray[np.int64]


def with_rest(problem: Profit, schedule: Schedule, *, placed: bool = True) -> Schedule:
    """The schedule with a start for every job: those it lacks follow from the problem's ``horizon_end`` on, where they fit.

    If nothing is ``placed`` (starts of a relaxation), they start at ``horizon_end``, or when they are submitted.
    """
    dispatch = problem.dispatch
    rest = [j for j in problem.jobs if j.id not in schedule.start]
    if not rest:
        return schedule
    if not placed:
        late = {j.id: max(problem.horizon_end, dispatch.earliest(j)) for j in rest}
        return Schedule({**schedule.start, **late}, {})
    after = _Later(dispatch, schedule, problem.horizon_end)
    start, nodes = dict(schedule.start), dict(schedule.nodes)
    for job, at, on in after.place(rest):
        start[job.id], nodes[job.id] = at, on
    return Schedule(start, nodes)


class _Later:
    """The machine from ``begin`` on, with what a schedule still runs there."""

    def __init__(self, dispatch: Dispatch, schedule: Schedule, begin: int) -> None:
        self.dispatch = dispatch
        self.names = dispatch.platform.nodes
        self.free = np.array(list(dispatch.platform.capacity.values()), np.int64)
        self.ends: list[tuple[int, int, Ints, Ints]] = []  # end, a number that differs, nodes, what they give back
        self.taken = 0
        index = {n: i for i, n in enumerate(self.names)}
        jobs = {j.id: j for j in dispatch.jobs}
        starts = [schedule.start[i] for i in schedule.start if schedule.start[i] >= begin]
        ends = [schedule.start[i] + dispatch.duration(jobs[i]) for i in schedule.start if schedule.start[i] >= begin]
        self.now = max([begin, *ends]) if starts else begin  # jobs that cannot wait may start later: after all of them
        for i, at in schedule.start.items():
            end = at + dispatch.duration(jobs[i])
            if end > self.now:
                on = schedule.nodes[i]
                self._take(jobs[i], end, np.array([index[n] for n in on]), np.array(list(on.values())))

    def _request(self, job: Job) -> Ints:
        return np.array([job.request.get(r, 0) for r in self.dispatch.platform.resources], np.int64)

    def _take(self, job: Job, end: int, where: Ints, units: Ints) -> None:
        taken = units[:, None] * self._request(job)
        self.free[where] -= taken
        self.taken += 1
        heapq.heappush(self.ends, (end, self.taken, where, taken))

    def place(self, rest: list[Job]) -> list[tuple[Job, int, dict[str, int]]]:
        """(job, start, units by node) of each."""
        waiting = sorted(rest, key=self.dispatch.earliest)
        found = []
        while waiting:
            come = [j for j in waiting[:AHEAD] if self.dispatch.earliest(j) <= self.now]
            placed = {j.id: on for j in come if (on := self._fit(j)) is not None}
            found += [(j, self.now, placed[j.id]) for j in come if j.id in placed]
            waiting = [j for j in waiting if j.id not in placed]
            self._next(waiting)
        return found

    def _fit(self, job: Job) -> dict[str, int] | None:
        request = self._request(job)
        asked = request > 0
        room = np.full(len(self.names), job.units)
        if asked.any():
            room = np.minimum(room, (self.free[:, asked] // request[asked]).min(axis=1))
        before = np.concatenate([[0], np.cumsum(room)])
        if before[-1] < job.units:
            return None
        units = np.minimum(before[1:], job.units) - np.minimum(before[:-1], job.units)
        where = np.flatnonzero(units)
        self._take(job, self.now + self.dispatch.duration(job), where, units[where])
        return {self.names[i]: int(units[i]) for i in where.tolist()}

    def _next(self, waiting: list[Job]) -> None:
        """On to the next moment at which something ends or comes."""
        come = [at for j in waiting[:AHEAD] if (at := self.dispatch.earliest(j)) > self.now]
        times = [*come, *([self.ends[0][0]] if self.ends else [])]
        if waiting and times:
            self.now = min(times)
        while self.ends and self.ends[0][0] <= self.now:
            _, _, where, taken = heapq.heappop(self.ends)
            self.free[where] += taken
