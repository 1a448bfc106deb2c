"""Dispatchers: a class with ``begin`` and ``decide``, and a policy."""

from __future__ import annotations

from collections.abc import Sequence

import schedlab as sl
from schedlab.simulation import Decision, Moment, Start


class AreaFirst:
    """Starts waiting jobs by units times expected duration, the smallest first, on the first nodes that have room."""

    name = "area-first"

    def begin(self, platform: sl.Platform, queues: Sequence[sl.Queue], seed: int) -> None:
        """Keep the platform."""
        self.platform = platform

    def decide(self, moment: Moment) -> Decision:
        """Return the starts; a job that does not fit does not block the next ones."""
        jobs = [job for job, may_start in zip(moment.waiting, moment.may_start, strict=True) if may_start]
        starts, free = [], moment.free.copy()  # nodes x resources
        for job in sorted(jobs, key=lambda job: job.units * moment.expected[job.id]):
            request = [job.request.get(resource, 0) for resource in self.platform.resources]
            nodes, left = {}, job.units
            for n, name in enumerate(self.platform.nodes):
                fits = min([left, *(int(f) // q for f, q in zip(free[n], request, strict=True) if q > 0)])
                if fits > 0:
                    nodes[name], left = fits, left - fits
            if left == 0:
                for n, name in enumerate(self.platform.nodes):
                    free[n] -= [nodes.get(name, 0) * q for q in request]
                starts.append(Start(job.id, nodes))
        return Decision(starts)


WIDEST_EASY = sl.Policy("widest-easy", lambda workload, expected: -workload.units, reservations=1)
