"""Operator "solver": a backend solves a part of the best schedule of a project."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ....models.excerpt import with_short_repr
from ....models.project.cliques import exclusive_sets
from ....models.project.part import part_formulation
from ...neighbourhood_solve import check_available, limits_of_turn
from ..bounds import MOST_EXCLUSIVE

if TYPE_CHECKING:
    from ....backends import Limits
    from ....models import Schedule
    from ...kernels.profile import Ints
    from .state import ProjectSearch

TRIES = 5  # parts in a turn of which the longest path shows that they cannot be improved
QUICK = 0.3  # share of the time limit of a part; after a quicker proof the next part is larger


@with_short_repr
@dataclass(frozen=True)
class SolverParts:
    """Operator "solver": a backend looks for a shorter schedule in which some tasks are free.

    The others keep their modes and, in the partial order in which they give each other resources, their order
    (``models.project.part``, [Godard2005]). The free tasks are those that run around a time, those of them that use one of
    some resources, or those that precedences connect with a task.

    Parameters
    ----------
    backend
        Name of the backend.
    threads
        Threads of the solver; None: all cores.
    tasks
        Free tasks in the first part. The next part is larger after a quick proof that there is nothing better, and smaller if
        the time is over.
    most_tasks
        Most free tasks.
    seconds
        Time limit of one part.
    work
        Limit of one part without a clock, in the solver's own unit of work.
    name
        Its name in the results.
    """

    backend: str
    threads: int | None = 1
    tasks: int = 30
    most_tasks: int = 150
    seconds: float = 1.0
    work: float = 0.2
    name: str = "solver"

    def start(self, search: ProjectSearch) -> Callable[[float | None], None]:
        """Return the function that takes the turns. Raises SolverUnavailable and UnknownName."""
        check_available(self.backend)
        return _Parts(self, search).turn


class _Parts:
    """The parts of one search."""

    def __init__(self, settings: SolverParts, search: ProjectSearch) -> None:
        self.settings, self.search, self.size = settings, search, settings.tasks
        few = len(search.problem.tasks) <= MOST_EXCLUSIVE  # the sets are redundant
        self.exclusive = list(exclusive_sets(search.problem)) if few else []

    def turn(self, seconds: float | None) -> None:
        """Let the backend improve one part."""
        from ....backends import INTERRUPTED, Interrupted, LoweringTooLarge, SolverUnavailable

        s, settings = self.search, self.settings
        s.check(0.2)
        seed = int(s.rng.integers(2**31))
        limits = limits_of_turn(seconds, s.clock, settings.seconds, settings.work, settings.threads, seed)
        try:
            status, found = self._solved(limits)
        except (SolverUnavailable, LoweringTooLarge):
            status, found = "unknown", None
        if status == INTERRUPTED:
            raise Interrupted
        grown = {"infeasible": 1.2, "slow": 1.0, "optimal": 1.0}.get(status, 0.85)
        self.size = int(np.clip(round(self.size * grown), 4, settings.most_tasks))
        if found is not None:
            starts, modes = s.arrays.placed(found)
            better = s.made(starts.astype(np.float64), modes, False, False)
            s.replace_worst(better)
            s.keep(*better)

    def _solved(self, limits: Limits) -> tuple[str, Schedule | None]:
        """Solve a part; return the status, "slow" for a proof that took long, and the schedule, if it is shorter."""
        from ....backends import run

        s, began = self.search, time.perf_counter()
        schedule = s.schedule()
        for _ in range(TRIES):
            free = [s.arrays.net.names[k] for k in self._free().tolist()]
            part = part_formulation(s.problem, schedule, frozenset(free), int(s.best_value) - 1, self.exclusive)
            if part is not None:
                break
            self.size = min(self.settings.most_tasks, self.size + 1)
        else:
            return "infeasible", None
        found = run(part.model, self.settings.backend, limits, began=began, conflict=False)
        if found.assignment is None or found.violations:
            slow = found.status == "infeasible" and found.phases["solve"] > QUICK * self.settings.seconds
            return ("slow" if slow else found.message or found.status), None
        return found.status, part.read(found.assignment)

    def _free(self) -> Ints:
        """Choose the tasks of a part."""
        s = self.search
        assert s.best is not None
        t, n = s.arrays.tasks, s.best.starts.size
        middle = s.best.starts + t.duration[s.best.modes] / 2
        at, kind = int(s.rng.integers(n)), int(s.rng.integers(3))
        among = np.arange(n)
        if kind == 0 and t.capacity.size > 1:
            among = self._users(s.rng.permutation(t.capacity.size)[: int(s.rng.integers(1, t.capacity.size + 1))])
        if kind == 1:
            return self._connected(at)
        distance = np.abs(middle[among] - middle[at])
        return among[np.argsort(distance, kind="stable")[: self.size]]

    def _users(self, resources: Ints) -> Ints:
        """Return the tasks of which a mode uses one of some resources."""
        t = self.search.arrays.tasks
        rows = np.isin(t.resource, resources)
        modes = np.repeat(np.arange(t.duration.size), np.diff(t.demand_first))[rows]
        return np.unique(np.searchsorted(t.mode_first, modes, side="right") - 1)

    def _connected(self, task: int) -> Ints:
        """Return a task and the ones nearest to it in the network of precedences."""
        net = self.search.arrays.net
        found = {task: None}
        queue = [task]
        for k in queue:
            near = [j for j, _ in (*net.before[k], *net.after[k]) if j not in found]
            for j in self.search.rng.permutation(near).tolist() if near else ():
                if len(found) < self.size and j not in found:
                    found[j] = None
                    queue.append(j)
        return np.array(list(found), np.int64)
