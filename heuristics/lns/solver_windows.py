"""Operator "solver": a backend repairs a part of the schedule."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...models.excerpt import with_short_repr
from ...models.neighbourhood import Neighbourhoods
from ...models.schedule_arrays import POSTPONED, ScheduleArrays
from ..kernels.costs import objective
from ..neighbourhood_solve import check_available, improve_placed, limits_of_turn

if TYPE_CHECKING:
    from .state import LnsSearch


@with_short_repr
@dataclass(frozen=True)
class SolverWindows:
    """Operator "solver": a backend reschedules some jobs with consecutive starts and some waiting jobs.

    It keeps better schedules only, so that it needs no acceptance criterion.

    Parameters
    ----------
    backend
        Name of the backend.
    threads
        Threads of the solver; None: all cores.
    jobs
        Jobs in the first window; half as many waiting jobs are added. The next window is larger after a quick solve,
        else smaller.
    most_jobs
        Most jobs in a window.
    spare_nodes
        Nodes in a window beside those of its jobs.
    seconds
        Time limit of one window.
    work
        Limit of one window without a clock, in the solver's own unit of work.
    name
        Its name in the results.
    """

    backend: str
    threads: int | None = None
    jobs: int = 12
    most_jobs: int = 40
    spare_nodes: int = 8
    seconds: float = 1.0
    work: float = 0.2
    name: str = "solver"

    def start(self, search: LnsSearch) -> Callable[[float | None], None]:
        """Return the function that takes the turns. Raises SolverUnavailable and UnknownName."""
        check_available(self.backend)
        return _Windows(self, search).turn


class _Windows:
    """The windows of one search."""

    def __init__(self, settings: SolverWindows, search: LnsSearch) -> None:
        self.settings = settings
        self.search = search
        self.around = Neighbourhoods(search.problem)
        self.size = settings.jobs

    def turn(self, seconds: float | None) -> None:
        """Let the backend improve one window."""
        from ...backends import LoweringTooLarge, SolverUnavailable

        s = self.search
        settings = self.settings
        s.check(0.2)
        seed = int(s.rng.integers(2**31))
        limits = limits_of_turn(seconds, s.clock, settings.seconds, settings.work, settings.threads, seed)
        free, nodes = self._free()
        placement = ScheduleArrays(s.best.starts.copy(), s.best.nodes.copy())
        began = time.perf_counter()
        try:
            better = improve_placed(self.around, placement, free, settings.backend, limits, nodes=nodes)
        except (SolverUnavailable, LoweringTooLarge):
            self.size = max(2, self.size // 2)
            return
        # a window that was solved to optimality quickly can be larger next time
        grown = 1.1 if time.perf_counter() - began < 0.3 * settings.seconds else 0.9
        self.size = int(np.clip(round(self.size * grown), 3, settings.most_jobs))
        if better is not None:
            starts = better.placement.starts
            s.keep(float(objective(s.arrays.costs, s.arrays.jobs, starts)), starts, better.placement.nodes)

    def _free(self) -> tuple[list[int], list[int]]:
        """Choose the jobs of a window, some waiting jobs, and the nodes that they may use."""
        s = self.search
        starts = self.search.best.starts
        scheduled = np.flatnonzero(starts != POSTPONED)
        order = scheduled[np.argsort(starts[scheduled], kind="stable")]
        first = int(s.rng.integers(max(1, order.size - self.size + 1)))
        jobs = order[first : first + self.size]
        last = int(starts[jobs].max(initial=s.arrays.machine.now))
        waits = np.flatnonzero((s.arrays.jobs.release <= last) & ((starts == POSTPONED) | (starts > last)))
        free = np.concatenate([jobs, s.rng.permutation(waits)[: self.size // 2]])
        first_unit = s.arrays.jobs.first_unit
        used = [s.best.nodes[first_unit[j] : first_unit[j + 1]] for j in jobs.tolist()]
        spare = s.rng.permutation(s.arrays.machine.capacity.shape[0])[: self.settings.spare_nodes]
        return free.tolist(), np.unique(np.concatenate([*used, spare])).tolist()
