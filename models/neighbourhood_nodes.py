"""The nodes of a neighbourhood: units of the moving jobs, and the capacity that the other jobs leave free."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from . import language as sl
from .dispatch.job_arrays import Bools, Ints
from .dispatch.job_intervals import DemandRow, JobModel
from .dispatch.jobs import Job
from .language import Cumulative, Integer, Interval, Linear
from .schedule_arrays import Flat, ScheduleArrays

Counts = tuple[Mapping[int, Integer], ...]
"""For each chunk of a job {node index: number of its units there}."""


class NeighbourhoodNodes:
    """The nodes of one neighbourhood: the moving jobs that may use them, and the capacity that other jobs leave free.

    Parameters
    ----------
    flat : Flat
        The problem as arrays.
    schedule : ScheduleArrays
        The schedule of all jobs.
    base : JobModel
        The model with the intervals of the moving jobs.
    moving : tuple of int
        The moving jobs, as indices of the problem's jobs.
    stays : array of bool, shape (jobs,)
        Whether a job stays where it is.
    """

    def __init__(
        self, flat: Flat, schedule: ScheduleArrays, base: JobModel, moving: tuple[int, ...], stays: Bools
    ) -> None:
        self.flat, self.schedule, self.base, self.moving, self.stays = flat, schedule, base, moving, stays
        self.begin = min((v.windows[0][0] for v in base.jobs), default=0)
        self.end = max((v.windows[-1][1] + v.size_hi for v in base.jobs), default=1)
        # per node: row of the request, interval of the job, its units there: a number, times a variable if there is one
        self.on_node: dict[int, list[tuple[int, Interval, int, Integer | None]]] = {}

    def declare(self, kept: set[int], allowed: Bools) -> tuple[Counts | None, ...]:
        """Declare the numbers of units of each moving job, and the capacities of the nodes.

        ``kept``: the jobs that keep their nodes; ``allowed``: per node, whether free jobs may go there.
        """
        flat, base = self.flat, self.base
        own = [
            [(kind, *np.unique(on, return_counts=True)) for kind, on in flat.chunks_of(self.schedule, j)]
            for j in self.moving
        ]
        used = allowed.copy() if any(j not in kept for j in self.moving) else np.zeros_like(allowed)
        for chunks in own:
            for _, nodes, _ in chunks:
                used[nodes] = True
        free = {
            n: self._clipped(n, f.times, f.amounts)
            for n, f in flat.free(self.schedule, self.stays, np.flatnonzero(used)).items()
        }
        most = np.zeros_like(flat.nodes.capacity)
        for n, (_, amounts) in free.items():
            most[n] = amounts.max(axis=0)
        units: list[Counts | None] = []
        for j, job, v, chunks in zip(self.moving, base.problem.jobs, base.jobs, own, strict=True):
            if j in kept:
                units.append(None)
                for kind, nodes, counts in chunks:
                    for n, count in zip(nodes.tolist(), counts.tolist(), strict=True):
                        self.on_node.setdefault(n, []).append((kind, v, count, None))
                continue
            made = []
            for part, (kind, nodes, _) in zip(job.parts, chunks, strict=True):
                candidates = allowed.copy()
                candidates[nodes] = True
                made.append(self._units(part, kind, v, most, np.flatnonzero(candidates)))
            units.append(tuple(made))
        for n, rows in self.on_node.items():
            self._capacity(n, *free[n], rows)
        return tuple(units)

    def _clipped(self, n: int, times: Ints, amounts: Ints) -> tuple[Ints, Ints]:
        """Return the free capacity of a node while moving jobs can run, from ``self.begin`` to ``self.end``."""
        begun, last = np.searchsorted(times, self.begin, side="right"), np.searchsorted(times, self.end)
        at = np.arange(begun, max(begun, last) + 1)
        times, amounts = (
            np.concatenate([[self.begin], times]),
            np.concatenate([self.flat.nodes.capacity[n][None], amounts]),
        )
        times[begun] = self.begin
        return times[at], amounts[at]

    def _units(self, job: Job, kind: int, v: Interval, most: Ints, nodes: Ints) -> Mapping[int, Integer]:
        """Declare the number of units of a chunk of a free job on each node that can hold one."""
        names, model = self.base.problem.platform.nodes, self.base.model
        request = self.flat.jobs.requests[kind]
        needed = request > 0
        fit = np.full(nodes.size, job.units)
        if needed.any():
            fit = np.minimum(fit, (most[nodes][:, needed] // request[needed]).min(axis=1))
        made = {}
        for n, hi in zip(nodes.tolist(), fit.tolist(), strict=True):
            if hi > 0:
                made[n] = model.integer(f"{job.id} on {names[n]}", 0, hi)
                self.on_node.setdefault(n, []).append((kind, v, 1, made[n]))
        count = sl.sum(made.values())
        model.add(count - job.units * v.presence == 0 if v.optional else count == job.units, f"units of {job.id}")
        return made

    def _capacity(
        self, n: int, times: Ints, amounts: Ints, on_node: Iterable[tuple[int, Interval, int, Integer | None]]
    ) -> None:
        """Require that the moving jobs on a node stay within the free capacity of each resource."""
        request = self.flat.jobs.requests
        for r, resource in enumerate(self.base.problem.platform.resources):
            rows = [DemandRow(v, count * need, x) for kind, v, count, x in on_node if (need := int(request[kind, r]))]
            most = sum(row.most for row in rows)
            left = np.minimum(amounts[:, r], most)
            if not rows or left.min() == most:
                continue
            at = np.flatnonzero(np.diff(left, prepend=-1))
            steps = tuple(zip(times[at].tolist(), left[at].tolist(), strict=True))
            demands = tuple(amount if x is None else Linear({x: amount}) for _, amount, x in rows)
            name = f"{resource} of {self.base.problem.platform.nodes[n]}"
            self.base.model.add(Cumulative(tuple(row.interval for row in rows), demands, steps), name)
