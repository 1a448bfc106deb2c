"""Placement of the jobs that a model of the profit problem leaves out: they start once profit no longer counts."""

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

AHEAD = 50  # only this number of waiting jobs, the first ones by release, is tried at a time

Ints = NDArray[np.int64]


def with_rest(problem: Profit, schedule: Schedule, *, with_nodes: bool = True) -> Schedule:
    """Return the schedule with a start for every job: missing jobs start from ``horizon_end`` on, when they fit.

    Parameters
    ----------
    problem : Profit
        The problem.
    schedule : Schedule
        A schedule of some jobs.
    with_nodes : bool, default True
        Whether the schedule has nodes. If not (the starts of a relaxation), the missing jobs start at ``horizon_end``
        or at their release.

    Returns
    -------
    Schedule
        A schedule of all jobs.
    """
    dispatch = problem.dispatch
    rest = [j for j in problem.jobs if j.id not in schedule.start]
    if not rest:
        return schedule
    if not with_nodes:
        late = {j.id: max(problem.horizon_end, dispatch.earliest(j)) for j in rest}
        return Schedule({**schedule.start, **late}, {})
    after = _AfterHorizon(dispatch, schedule, problem.horizon_end)
    start, nodes = dict(schedule.start), dict(schedule.nodes)
    for job, at, on in after.place(rest):
        start[job.id], nodes[job.id] = at, on
    return Schedule(start, nodes)


class _AfterHorizon:
    """The platform from the time ``begin`` on, with the jobs of a schedule that still run then."""

    def __init__(self, dispatch: Dispatch, schedule: Schedule, begin: int) -> None:
        self.dispatch = dispatch
        self.names = dispatch.platform.nodes
        self.free = np.array(list(dispatch.platform.capacity.values()), np.int64)
        # a heap of (end, a unique number as arrays cannot be compared, nodes, amounts to give back)
        self.ends: list[tuple[int, int, Ints, Ints]] = []
        self.taken = 0
        index = {n: i for i, n in enumerate(self.names)}
        jobs = {j.id: j for j in dispatch.jobs}
        starts = [schedule.start[i] for i in schedule.start if schedule.start[i] >= begin]
        ends = [schedule.start[i] + dispatch.duration(jobs[i]) for i in schedule.start if schedule.start[i] >= begin]
        # jobs that cannot be postponed may start after begin: the others follow all of them
        self.now = max([begin, *ends]) if starts else begin
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
        """Return (job, start, units by node) for each job."""
        waiting = sorted(rest, key=self.dispatch.earliest)
        found = []
        while waiting:
            released = [j for j in waiting[:AHEAD] if self.dispatch.earliest(j) <= self.now]
            started = {j.id: on for j in released if (on := self._fit(j)) is not None}
            found += [(j, self.now, started[j.id]) for j in released if j.id in started]
            waiting = [j for j in waiting if j.id not in started]
            self._next(waiting)
        return found

    def _fit(self, job: Job) -> dict[str, int] | None:
        request = self._request(job)
        requested = request > 0
        room = np.full(len(self.names), job.units)
        if requested.any():
            room = np.minimum(room, (self.free[:, requested] // request[requested]).min(axis=1))
        before = np.concatenate([[0], np.cumsum(room)])
        if before[-1] < job.units:
            return None
        units = np.minimum(before[1:], job.units) - np.minimum(before[:-1], job.units)
        where = np.flatnonzero(units)
        self._take(job, self.now + self.dispatch.duration(job), where, units[where])
        return {self.names[i]: int(units[i]) for i in where.tolist()}

    def _next(self, waiting: list[Job]) -> None:
        """Move to the next time at which a job ends or is released."""
        released = [at for j in waiting[:AHEAD] if (at := self.dispatch.earliest(j)) > self.now]
        times = [*released, *([self.ends[0][0]] if self.ends else [])]
        if waiting and times:
            self.now = min(times)
        while self.ends and self.ends[0][0] <= self.now:
            _, _, where, taken = heapq.heappop(self.ends)
            self.free[where] += taken
