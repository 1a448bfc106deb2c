"""What the jobs of a cycle run beside: running jobs, and accepted reservations of the machine [Bridi2018, (4.1)].

Without reservations, jobs take their expected durations. A reservation must find its nodes free, so beside reservations
all jobs, waiting and running, take their walltimes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ....heuristics.kernels.profile import Ints
from ....models.dispatch.job_arrays import NodeArrays
from ....models.dispatch.jobs import Window
from ....models.problem import Encoding, Schedule
from ...dispatcher import Moment
from ..cp.allocation import NodeTimeline
from ..cp.model import FOLLOWED, RunningUsage, Usage
from ..cp.reserved import FixedJobs, fixed_jobs
from ..cp.urgency import by_walltime
from ..cp.waiting import Waiting


class Surroundings(NamedTuple):
    """The surroundings of the jobs of a cycle.

    Parameters
    ----------
    usage : tuple of ndarray
        The use of nodes by the running jobs, see ``cp.model.Usage``.
    fixed : FixedJobs
        The reservations that the model has: those that start within the walltime of any waiting job, so that no start
        now runs into another one, and those of the next two days.
    timeline : NodeTimeline
        The free capacity beside the running jobs and all reservations.
    nodes : tuple of str
        The names of the nodes.
    """

    usage: Usage
    fixed: FixedJobs
    timeline: NodeTimeline
    nodes: tuple[str, ...]

    @property
    def windows(self) -> list[tuple[Window, ...]]:
        """The fixed start of each reservation, as its only window."""
        return [((start, start),) for start in self.fixed.starts]

    @property
    def end(self) -> int:
        """The end of the last reservation of the model in seconds; now if there is none."""
        ends = np.array(self.fixed.starts, np.int64) + self.fixed.jobs.duration
        return int(max([self.timeline.now, *ends.tolist()]))

    def completed(self, schedule: Schedule) -> Schedule:
        """Return a schedule of jobs with the reservations."""
        jobs = self.fixed.jobs.jobs
        starts = dict(zip([j.id for j in jobs], self.fixed.starts, strict=True))
        return Schedule({**schedule.start, **starts}, {**schedule.nodes, **self.fixed.nodes(self.nodes)})

    def fix_nodes(self, encoding: Encoding) -> None:
        """Fix the nodes of the reservations in a model (formulations ``counts`` and ``units``)."""
        names = [j.id for j in self.fixed.jobs.jobs]
        if not names:
            return
        known = self.completed(Schedule({v.name: v.windows[0][0] for v in encoding.model.intervals if not v.optional}))
        values = encoding.write(known)
        for x in encoding.model.integers:
            if x.name.startswith(tuple(f"{name} on " for name in names)):
                encoding.model.add(x == values.integer[x.index], f"reserved: {x.name}")
        for v in encoding.model.intervals:
            if v.optional and v.name.startswith(tuple(f"{name}." for name in names)):
                encoding.model.add(v.presence == int(values.present[v.index]), f"reserved: {v.name}")


def surroundings(
    moment: Moment,
    jobs: Waiting,
    usage: RunningUsage,
    nodes: NodeArrays,
    timeline_of: Callable[[Ints, int, Usage], NodeTimeline] = NodeTimeline,
) -> tuple[Waiting, Surroundings]:
    """Return the jobs with the durations that they take, and their surroundings; ``timeline_of`` makes a timeline."""
    fixed, names = fixed_jobs(moment, nodes), moment.platform.nodes
    if not moment.reserved:
        timeline = timeline_of(nodes.capacity, moment.now, usage.expected)
        return jobs, Surroundings(usage.expected, fixed, timeline, names)
    timeline = timeline_of(nodes.capacity, moment.now, usage.by_walltime)
    fixed.hold_on(timeline)
    jobs = by_walltime(jobs)
    near = moment.now + max(FOLLOWED, int(jobs.duration.max(initial=0)))
    return jobs, Surroundings(usage.by_walltime, fixed.before(near), timeline, names)
