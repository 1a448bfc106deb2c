"""Against starvation: which waiting jobs go first, and what a reservation for them takes (``max_stretch``).

Two reasons, with one and two reservations at a time:

- *overdue*: a job that has waited longer than its fair wait, and longer than a day; the oldest first. The fair wait is
  what the whole machine would have needed for all that was ahead of the job when it was first seen, and for itself: a
  rule that serves in order of arrival without losses would have started it by then. It grows with the load, so that on
  a machine with work for weeks not every job is urgent.
- *stretched*: a job whose slowdown, were it to start now, would pass ``max_stretch``; the greatest first.

A reservation is reckoned by walltimes, not by predictions, both of what runs and of what may still start before it. Why:
a job that outlives its prediction is taken to end in a second, and reservations reckoned so are always near, keep other
jobs off the machine, and are never kept (on KTH at load 1.2 such reservations doubled the mean wait).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....heuristics.kernels.profile import Floats, Ints
from ....models.dispatch.jobs import DAY, Window
from ...engine.moment import Moment, Start
from .allocation import Allocation, NodeTimeline, Requests, asked_for
from .model import FOLLOWED, windows_of
from .priority import by_slowdown
from .waiting import Waiting

STRETCH = 50.0
SLOTS = (1, 2)  # reservations: of the overdue, of the stretched


class Held(NamedTuple):
    """The jobs that go first: ``rest`` (a mask over the waiting jobs) are not among them. ``placed`` has nodes and starts."""

    jobs: Waiting
    placed: list[Allocation]
    rest: NDArray[np.bool_]
    now: int

    @property
    def windows(self) -> list[tuple[Window, ...]]:
        """The start of each job, fixed."""
        return [((int(p.start[0]), int(p.start[0])),) for p in self.placed]

    def end(self) -> int:
        """When the last of them ends, as expected; ``now`` if there are none."""
        return max([self.now, *(int(p.start[0] + d) for p, d in zip(self.placed, self.jobs.duration, strict=True))])

    def nodes(self, names: tuple[str, ...]) -> dict[str, dict[str, int]]:
        """Job id -> {node name: units}."""
        found = {}
        for k, (job, placed) in enumerate(zip(self.jobs.jobs, self.placed, strict=True)):
            found[job.id] = dict(placed.nodes(self.asked(k), 0, names))
        return found

    def starts(self, names: tuple[str, ...]) -> list[Start]:
        """Those that start now."""
        nodes = self.nodes(names)
        return [
            Start(j.id, nodes[j.id]) for j, p in zip(self.jobs.jobs, self.placed, strict=True) if p.start[0] == self.now
        ]

    def asked(self, k: int) -> Requests:
        """Job k as it was placed, with its expected duration."""
        one = self.jobs.some(np.array([k]))
        return asked_for(one, [self.windows[k]], self.placed[k].node.size)

    def on(self, board: NodeTimeline) -> NodeTimeline:
        """The board, with the jobs on their nodes."""
        for k, placed in enumerate(self.placed):
            board.hold(self.asked(k), placed)
        return board


class Guard:
    """Says who goes first, from moment to moment of one replay. ``totals``: of the platform, per resource."""

    def __init__(self, max_stretch: float, resources: tuple[str, ...], totals: Ints) -> None:
        self.max_stretch, self.resources, self.totals = max_stretch, resources, totals
        self._fair: dict[str, float] = {}

    def look(self, moment: Moment, jobs: Waiting) -> None:
        """Note the fair wait of jobs not seen before."""
        new = [k for k, j in enumerate(jobs.jobs) if j.id not in self._fair]
        if not new:
            return
        ahead = np.cumsum((jobs.units * jobs.duration)[:, None] * jobs.request, axis=0)
        left = np.array([sum(r.nodes.values()) * max(1, r.end - moment.now) for r in moment.running], np.int64)
        request = np.array([[r.job.request.get(x, 0) for x in self.resources] for r in moment.running], np.int64)
        running = left @ request if left.size else np.zeros(len(self.totals), np.int64)
        fair = ((ahead[new] + running) / self.totals).max(axis=1)
        self._fair.update((jobs.jobs[k].id, f) for k, f in zip(new, fair.tolist(), strict=True))

    def overdue(self, now: int, jobs: Waiting) -> Ints:
        """Jobs that have waited longer than is fair, the oldest first."""
        fair = np.array([self._fair[j.id] for j in jobs.jobs])
        wait = now - jobs.submit
        late = np.flatnonzero(wait > np.maximum(fair, DAY))
        return late[np.argsort(-wait[late], kind="stable")]

    def stretched(self, now: int, jobs: Waiting) -> Ints:
        """Jobs whose slowdown would pass the most, the greatest first."""
        stretch: Floats = by_slowdown(now, jobs)
        late = np.flatnonzero(stretch > self.max_stretch)
        return late[np.argsort(-stretch[late], kind="stable")]

    def hold(self, moment: Moment, jobs: Waiting, board: NodeTimeline) -> Held:
        """Place them on the board, where everything ends by its walltime: they start now, or hold a reservation."""
        now, rest = moment.now, np.ones(len(jobs.jobs), np.bool_)
        kept: list[int] = []
        found: list[Allocation] = []
        for reason, most in zip((self.overdue(now, jobs), self.stretched(now, jobs)), SLOTS, strict=True):
            slots = most
            for j in reason[rest[reason]].tolist():
                placed = self._place(moment, jobs.some(np.array([j])), board)
                if placed.start[0] < 0:
                    continue
                rest[j] = False
                kept.append(j)
                found.append(placed)
                slots -= int(placed.start[0] > now)
                if slots == 0:
                    break
        return Held(jobs.some(np.array(kept, np.int64)), found, rest, now)

    def _place(self, moment: Moment, one: Waiting, board: NodeTimeline) -> Allocation:
        # calendars are followed to the end: a reservation for a time at which they are closed would idle its nodes
        last = max(moment.now, board.end()) + FOLLOWED + int(one.duration[0])
        asked = asked_for(by_walltime(one), windows_of(moment, one, last, followed=last - moment.now + 1), board.nodes)
        return board.place(asked, np.arange(1))


def by_walltime(jobs: Waiting) -> Waiting:
    """The jobs, each lasting for its walltime, or longer if more is expected."""
    return jobs._replace(duration=np.maximum(jobs.duration, jobs.walltime))
