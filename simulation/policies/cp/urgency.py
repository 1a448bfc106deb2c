"""Protection against starvation (``max_stretch``): urgent jobs start first, or hold a reservation.

A job is urgent for one of two reasons:

- *overdue*: it has waited longer than its fair wait, and longer than one day. The longest wait goes first. One such job
  holds a reservation. The fair wait is the time that the whole machine needs for all jobs that ran or waited before
  this job when it was first seen, and for the job itself::

      max_r (sum of duration * amount[r] of all units, over these jobs) / total[r]

  where a running job has its expected remaining duration.

  Without idle capacity, first come, first served would have started the job by then. The fair wait grows with the load,
  so that not every job is urgent on a machine with work for several weeks.
- *stretched*: its slowdown, if it starts now, is above ``max_stretch``. The highest slowdown goes first. Two such jobs
  hold reservations.

Reservations use walltimes, not predictions, both for running jobs and for jobs that may start before the reservation. A
job that runs longer than predicted is taken to end one second later. Reservations from predictions are therefore always
near, keep other jobs away, and are never met: on the KTH trace at load 1.2 they doubled the mean wait.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....heuristics.kernels.profile import Floats, Ints
from ....models.dispatch.job_arrays import distinct_requests
from ....models.dispatch.jobs import DAY, Window
from ...dispatcher import Moment, Start
from .allocation import Allocation, NodeTimeline, Requests, requests_of
from .chunks import Nodes, by_part, start_of
from .model import FOLLOWED, windows_of
from .priority import by_slowdown
from .reserved import FixedJobs
from .waiting import Waiting

STRETCH = 50.0  # default of max_stretch: a slowdown
SLOTS = (1, 2)  # reservations for overdue jobs, for stretched jobs


class Held(NamedTuple):
    """The urgent jobs of a moment: they start now or hold a reservation.

    Parameters
    ----------
    jobs : Waiting
        The urgent jobs.
    allocations : list of Allocation
        Start and nodes of each urgent job. The start is ``now`` or later; later means a reservation.
    rest : ndarray of bool, shape (waiting jobs,)
        Mask of the waiting jobs that are not in ``jobs``.
    now : int
        The current time in seconds.
    fixed : int
        Number of the last of ``jobs`` that are reservations of the machine, not jobs.
    """

    jobs: Waiting
    allocations: list[Allocation]
    rest: NDArray[np.bool_]
    now: int
    fixed: int = 0

    @property
    def urgent(self) -> int:
        """Number of urgent jobs."""
        return len(self.allocations) - self.fixed

    def beside(self, reservations: FixedJobs) -> Held:
        """Return the urgent jobs and, after them, reservations of the machine."""
        jobs = self.jobs.joined(reservations.jobs)
        return Held(jobs, [*self.allocations, *reservations.allocations], self.rest, self.now, len(reservations.starts))

    @property
    def windows(self) -> list[tuple[Window, ...]]:
        """One start window per job, with the fixed start as both ends."""
        return [((int(p.start[0]), int(p.start[0])),) for p in self.allocations]

    def end(self) -> int:
        """Return the expected end of the last urgent job, in seconds; ``now`` if there are none."""
        return max(
            [self.now, *(int(p.start[0] + d) for p, d in zip(self.allocations, self.jobs.duration, strict=True))]
        )

    def nodes(self, names: tuple[str, ...]) -> dict[str, dict[str, int]]:
        """Return {node name: units} of each chunk by its name; ``names`` are the names of all nodes."""
        found: dict[str, dict[str, int]] = {}
        for k, job in enumerate(self.jobs.jobs):
            found |= by_part(job, self._nodes_of_job(k, names))
        return found

    def _nodes_of_job(self, k: int, names: tuple[str, ...]) -> tuple[Nodes, ...]:
        """Return {node name: units} of each chunk of job k."""
        return self.allocations[k].nodes(self.requests_of_job(k), 0, names)

    def starts(self, names: tuple[str, ...]) -> list[Start]:
        """Return the urgent jobs that start now; ``names`` are the names of all nodes."""
        now = [k for k in range(self.urgent) if self.allocations[k].start[0] == self.now]
        return [start_of(self.jobs.jobs[k], self._nodes_of_job(k, names)) for k in now]

    def requests_of_job(self, k: int) -> Requests:
        """Return urgent job k with its start as the only window, and its expected duration."""
        one = self.jobs.some(np.array([k]))
        return requests_of(one, [self.windows[k]], self.allocations[k].node.size)

    def reserve_on(self, timeline: NodeTimeline) -> NodeTimeline:
        """Subtract the urgent jobs from the timeline and return it."""
        for k, allocation in enumerate(self.allocations):
            timeline.hold(self.requests_of_job(k), allocation)
        return timeline


class Guard:
    """The selection of urgent jobs during one replay.

    Parameters
    ----------
    max_stretch : float
        The slowdown above which a job is urgent.
    resources : tuple of str
        The resources of the platform.
    totals : ndarray of int64, shape (resources,)
        Capacity of the platform.
    """

    def __init__(self, max_stretch: float, resources: tuple[str, ...], totals: Ints) -> None:
        self.max_stretch, self.resources, self.totals = max_stretch, resources, totals
        self._fair: dict[str, float] = {}

    def observe(self, moment: Moment, jobs: Waiting) -> None:
        """Compute the fair wait of each job that was not seen before."""
        new = [k for k, j in enumerate(jobs.jobs) if j.id not in self._fair]
        if not new:
            return
        ahead = np.cumsum(jobs.duration[:, None] * jobs.amounts, axis=0)
        left = np.array([sum(r.nodes.values()) * max(1, r.end - moment.now) for r in moment.running], np.int64)
        requests, kind = distinct_requests([r.job for r in moment.running], self.resources)
        fair = ((ahead[new] + left @ requests[kind]) / self.totals).max(axis=1)
        self._fair.update((jobs.jobs[k].id, f) for k, f in zip(new, fair.tolist(), strict=True))

    def overdue(self, now: int, jobs: Waiting) -> Ints:
        """Return the indices of the jobs that are overdue, longest wait first."""
        fair = np.array([self._fair[j.id] for j in jobs.jobs])
        wait = now - jobs.submit
        late = np.flatnonzero(wait > np.maximum(fair, DAY))
        return late[np.argsort(-wait[late], kind="stable")]

    def stretched(self, now: int, jobs: Waiting) -> Ints:
        """Return the indices of the jobs whose slowdown is above ``max_stretch``, highest slowdown first."""
        stretch: Floats = by_slowdown(now, jobs)
        late = np.flatnonzero(stretch > self.max_stretch)
        return late[np.argsort(-stretch[late], kind="stable")]

    def hold(self, moment: Moment, jobs: Waiting, timeline: NodeTimeline) -> Held:
        """Allocate the urgent jobs on a timeline: they start now, or hold a reservation.

        The running jobs of the timeline must end at their walltimes (``RunningUsage.by_walltime``).
        """
        now, rest = moment.now, np.ones(len(jobs.jobs), np.bool_)
        kept: list[int] = []
        found: list[Allocation] = []
        for reason, most in zip((self.overdue(now, jobs), self.stretched(now, jobs)), SLOTS, strict=True):
            slots = most
            for j in reason[rest[reason]].tolist():
                allocation = self._place(moment, jobs.some(np.array([j])), timeline)
                if allocation.start[0] < 0:
                    continue
                rest[j] = False
                kept.append(j)
                found.append(allocation)
                slots -= int(allocation.start[0] > now)
                if slots == 0:
                    break
        return Held(jobs.some(np.array(kept, np.int64)), found, rest, now)

    def _place(self, moment: Moment, one: Waiting, timeline: NodeTimeline) -> Allocation:
        # follow calendars to the end: a reservation at a time when they are closed would leave its nodes idle
        last = max(moment.now, timeline.end()) + FOLLOWED + int(one.duration[0])
        requests = requests_of(
            by_walltime(one), windows_of(moment, one, last, followed=last - moment.now + 1), timeline.nodes
        )
        return timeline.place(requests, np.arange(1))


def by_walltime(jobs: Waiting) -> Waiting:
    """Return the jobs with max(walltime, expected duration) as duration."""
    return jobs.changed(duration=np.maximum(jobs.duration, jobs.walltime))
