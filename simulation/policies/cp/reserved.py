"""Reservations of the machine in the CP dispatchers: jobs with a fixed start and fixed nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ....models import Job
from ....models.dispatch.job_arrays import NodeArrays, column, request_rows
from ....models.production.reserved import Reserved
from ...dispatcher import Moment
from .allocation import Allocation, NodeTimeline, requests_of
from .waiting import Waiting


class FixedJobs(NamedTuple):
    """Reservations as jobs: what they hold from now on.

    Parameters
    ----------
    jobs : Waiting
        One job per reservation; its duration ends with the reservation.
    allocations : list of Allocation
        Start (now, or the start of the reservation) and nodes of each.
    """

    jobs: Waiting
    allocations: list[Allocation]

    @property
    def starts(self) -> list[int]:
        """The start of each job in seconds."""
        return [int(a.start[0]) for a in self.allocations]

    def hold_on(self, timeline: NodeTimeline) -> None:
        """Subtract the reservations from a timeline."""
        for k, allocation in enumerate(self.allocations):
            start = self.starts[k]
            one = self.jobs.some(np.array([k]))
            timeline.hold(requests_of(one, [((start, start),)], timeline.nodes), allocation)

    def nodes(self, names: Sequence[str]) -> dict[str, dict[str, int]]:
        """Return job id -> {node name: units}; ``names`` are the names of all nodes."""
        return {
            job.id: {
                names[n]: u for n, u in zip(a.node[: a.pieces[0]].tolist(), a.put[: a.pieces[0]].tolist(), strict=True)
            }
            for job, a in zip(self.jobs.jobs, self.allocations, strict=True)
        }

    def before(self, time: int) -> FixedJobs:
        """Return the reservations that start before a time in seconds."""
        kept = [k for k, start in enumerate(self.starts) if start < time]
        return FixedJobs(self.jobs.some(np.array(kept, np.int64)), [self.allocations[k] for k in kept])


def fixed_jobs(moment: Moment, nodes: NodeArrays) -> FixedJobs:
    """Return the accepted reservations of a moment as jobs."""
    listed = list(moment.reserved)
    starts = [max(moment.now, r.start) for r in listed]
    any_queue = moment.queues[0].name  # models know queues of the machine only; the start is fixed
    jobs = [
        Job(
            f"(reservation {r.name})",
            start,
            r.end - start,
            sum(r.nodes.values()),
            dict(r.request),
            r.queue or any_queue,
        )
        for r, start in zip(listed, starts, strict=True)
    ]
    count, lengths = len(jobs), column((j.walltime for j in jobs), len(jobs))
    requests = np.array(request_rows(jobs, moment.platform.resources), np.int64).reshape(
        count, len(moment.platform.resources)
    )
    units, begin, zeros = column((j.units for j in jobs), count), column(starts, count), np.zeros(count)
    waiting = Waiting(
        begin, begin, lengths, units, requests, np.arange(count), jobs, lengths, zeros, np.ones(count)
    )  # fmt: skip
    return FixedJobs(waiting, [_allocation(r, s, nodes) for r, s in zip(listed, starts, strict=True)])


def _allocation(reserved: Reserved, start: int, nodes: NodeArrays) -> Allocation:
    slots = min(sum(reserved.nodes.values()), len(nodes.platform.nodes))
    node, put = np.zeros(slots, np.int64), np.zeros(slots, np.int64)
    for k, (name, units) in enumerate(reserved.nodes.items()):
        node[k], put[k] = nodes.index[name], units
    return Allocation(np.array([start]), np.array([len(reserved.nodes)]), node, put)
