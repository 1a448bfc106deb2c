"""The nodes of a neighbourhood: the units of the moving jobs on each node, and the capacity that the other jobs leave."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from . import language as sl
from .dispatch.job_intervals import DemandRow, JobModel
from .language import Cumulative, Integer, Interval, Linear
from .schedule_arrays import Bools, Flat, Ints, ScheduleArrays


class NeighbourhoodNodes:
    """The nodes of one neighbourhood: which jobs may be there, and what the others leave free."""

    def __init__(
        self, flat: Flat, placed: ScheduleArrays, base: JobModel, moving: tuple[int, ...], stays: Bools
    ) -> None:
        self.flat, self.placed, self.base, self.moving, self.stays = flat, placed, base, moving, stays
        self.begin = min((v.windows[0][0] for v in base.jobs), default=0)
        self.end = max((v.windows[-1][1] + v.size_hi for v in base.jobs), default=1)
        self.here: dict[
            int, list[tuple[int, Interval, int, Integer | None]]
        ] = {}  # of a node: job, its interval, units

    def declare(self, kept: set[int], where: Bools) -> tuple[Mapping[int, Integer] | None, ...]:
        """The numbers of units per job, and the capacities of the nodes."""
        flat, base = self.flat, self.base
        own = [np.unique(flat.nodes_of(self.placed, j), return_counts=True) for j in self.moving]
        used = where.copy() if any(j not in kept for j in self.moving) else np.zeros_like(where)
        for nodes, _ in own:
            used[nodes] = True
        free = {
            n: self._clipped(n, f.times, f.amounts)
            for n, f in flat.free(self.placed, self.stays, np.flatnonzero(used)).items()
        }
        most = np.zeros_like(flat.capacity)
        for n, (_, amounts) in free.items():
            most[n] = amounts.max(axis=0)
        units: list[Mapping[int, Integer] | None] = []
        for k, (j, v, (nodes, counts)) in enumerate(zip(self.moving, base.jobs, own, strict=True)):
            if j in kept:
                units.append(None)
                for n, count in zip(nodes.tolist(), counts.tolist(), strict=True):
                    self.here.setdefault(n, []).append((k, v, count, None))
                continue
            allowed = where.copy()
            allowed[nodes] = True
            units.append(self._units(k, v, most, np.flatnonzero(allowed)))
        for n, rows in self.here.items():
            self._capacity(n, *free[n], rows)
        return tuple(units)

    def _clipped(self, n: int, times: Ints, amounts: Ints) -> tuple[Ints, Ints]:
        """What is free on a node while jobs of the model can run, from ``begin`` on."""
        begun, last = np.searchsorted(times, self.begin, side="right"), np.searchsorted(times, self.end)
        at = np.arange(begun, max(begun, last) + 1)
        times, amounts = np.concatenate([[self.begin], times]), np.concatenate([self.flat.capacity[n][None], amounts])
        times[begun] = self.begin
        return times[at], amounts[at]

    def _units(self, k: int, v: Interval, most: Ints, nodes: Ints) -> Mapping[int, Integer]:
        """How many units of a job are on each node, as far as they can be there."""
        job, names, model = self.base.problem.jobs[k], self.base.problem.platform.nodes, self.base.model
        request = self.flat.request[self.moving[k]]
        asked = request > 0
        fit = np.full(nodes.size, job.units)
        if asked.any():
            fit = np.minimum(fit, (most[nodes][:, asked] // request[asked]).min(axis=1))
        made = {}
        for n, hi in zip(nodes.tolist(), fit.tolist(), strict=True):
            if hi > 0:
                made[n] = model.integer(f"{job.id} on {names[n]}", 0, hi)
                self.here.setdefault(n, []).append((k, v, 1, made[n]))
        count = sl.sum(made.values())
        model.add(count - job.units * v.presence == 0 if v.optional else count == job.units, f"units of {job.id}")
        return made

    def _capacity(
        self, n: int, times: Ints, amounts: Ints, here: Iterable[tuple[int, Interval, int, Integer | None]]
    ) -> None:
        """The jobs that move stay within what the others leave free on a node."""
        request = self.flat.request
        for r, resource in enumerate(self.base.problem.platform.resources):
            rows = [
                DemandRow(v, count * need, x) for k, v, count, x in here if (need := int(request[self.moving[k], r]))
            ]
            most = sum(row.most for row in rows)
            left = np.minimum(amounts[:, r], most)
            if not rows or left.min() == most:
                continue
            at = np.flatnonzero(np.diff(left, prepend=-1))
            steps = tuple(zip(times[at].tolist(), left[at].tolist(), strict=True))
            demands = tuple(amount if x is None else Linear({x: amount}) for _, amount, x in rows)
            name = f"{resource} of {self.base.problem.platform.nodes[n]}"
            self.base.model.add(Cumulative(tuple(row.interval for row in rows), demands, steps), name)
