"""The method ``bounds``: lower bounds of the makespan of a project; docs/appendix/bounds.md has the proofs.

1. Take the start, or the best schedule of ``multi-sgs``.
2. Critical path: the longest path with the shortest modes.
3. Energy: for each renewable resource, for sets of resources among which tasks choose, and for sets of tasks that exclude
   each other, the greatest least head + work / capacity + least tail over sets of tasks. With a capacity of 1 it is the
   length of the preemptive schedule of one machine [Carlier1982].
4. The same for the predecessors of each task raises its head, and for its successors its tail; then step 3 again.
5. Energetic reasoning [Erschler1991]: the greatest makespan for which the least energies in an interval of time exceed what the
   capacity allows, by bisection.

A search may have another bound: that of a short run of CP-SAT from its best schedule (``proved_bound``).
"""

from __future__ import annotations

import math
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np

from ...backends.result import Result
from ...models import Mode, Project, Resource, Schedule, Task
from ...models.array_types import Ints
from ...models.long_calls import Deadline
from ...models.project.formulations import exclusive_sets, modes
from ..errors import NotForThisProblem
from ..kernels.project_bounds import Groups, Work, group_bound, longest_paths, refuted, strengthen
from ..search_parts import Clock, Incumbents, OnIncumbent, compiled_first
from .arrays import ProjectArrays
from .serial_sgs import CONDITION, bounds_hold, longest_path, multi_sgs, refused, takes

START_SHARE = 0.5  # of the time limit, for the first schedule
MOST_TASKS = 2000  # a path between each two of them takes 32 MB; the model of more takes a solver seconds
MOST_EXCLUSIVE = 400  # tasks up to which sets that exclude each other are looked for: 0.2 s
MOST_SETS = 30  # sets of resources among which tasks choose
LARGEST = 2**62  # sums of the kernels stay below it


@compiled_first("project.bounds:warm_up")
def project_bounds(
    problem: Project,
    *,
    time_limit: float | None = None,
    warm_start: Schedule | None = None,
    on_incumbent: OnIncumbent | None = None,
) -> Result:
    """Compute lower bounds of the makespan of a project.

    Parameters
    ----------
    problem
        The project.
    time_limit
        Seconds; None: until all bounds are computed. That of the longest path always is.
    warm_start
        A schedule; None: that of ``multi_sgs``.
    on_incumbent
        Called with each Incumbent; return False to stop.

    Returns
    -------
    Result
        With the schedule and the greatest bound. Its ``details``: the bounds "critical path", "energy", "heads and tails",
        "energetic reasoning", as far as they were computed.

    Raises
    ------
    NothingFound
        No choice of modes was found for which the non-renewable resources suffice, and there is no start.
    NotForThisProblem
        There is no start, and ``multi_sgs`` makes none.

    Examples
    --------
    >>> tasks = [Task.single(n, d, {"crew": 2}) for n, d in (("a", 2), ("b", 3), ("c", 3))]
    >>> project_bounds(Project(tasks, [Resource("crew", 3)])).details
    {'critical path': 3, 'energy': 8}
    """
    seen = Incumbents(problem, "bounds", on_incumbent, warm_start, Deadline(time_limit))
    schedule = seen.start
    if schedule is None:
        if not takes(problem):
            has = ", ".join(refused(problem))
            raise NotForThisProblem(f"bounds needs a start, as multi-sgs supports only {CONDITION}; this one has {has}")
        listed = multi_sgs(problem, time_limit=seen.deadline.share(START_SHARE).limit)
        assert listed.schedule is not None and listed.objective is not None
        schedule = listed.schedule
        seen.report(listed.objective, lambda: schedule)
    with Clock(seen.deadline) as clock:
        if seen.stopped:
            clock.stop[0] = 1
        found_bounds = MakespanBounds(problem, clock).compute(int(problem.value(schedule)))
    best = max(found_bounds.values())
    result = seen.result(schedule, message=", ".join(f"{k} {v}" for k, v in found_bounds.items()), details=found_bounds)
    if result.status != "error":
        result.bound = best
        result.status = "optimal" if result.objective == best else result.status
    return result


class MakespanBounds:
    """The bounds of a project.

    Parameters
    ----------
    project
        The project.
    clock
        The clock; what it interrupts is left out.
    """

    def __init__(self, project: Project, clock: Clock) -> None:
        self.project = project
        self.clock = clock
        self.arrays = ProjectArrays(project)
        self.tasks = self.arrays.tasks._replace(simple=True)  # the kernels look at no other part
        self.back = self.arrays.back._replace(simple=True)
        net = self.arrays.net
        t = self.tasks
        n = len(net.names)
        self.heads = np.array([project.heads[name] for name in net.names], np.int64)
        self.tails = np.array([project.tails[name] for name in net.names], np.int64)
        shortest = np.array([min(m.duration for m in options) for options in net.modes], np.int64)
        self.work = Work(
            np.array(net.order, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64), shortest
        )
        self.back_work = self.work._replace(order=self.work.order[::-1].copy())
        self.owner = np.repeat(np.arange(n), np.diff(t.mode_first))

    @cached_property
    def groups(self) -> Groups:
        """What the tasks compete for."""
        rows, capacity = self._resources()
        for names in exclusive_sets(self.project) if self.heads.size <= MOST_EXCLUSIVE else ():
            index = np.isin(self.owner, [self.arrays.net.names.index(name) for name in names])
            rows.append(index.astype(np.int64))
            capacity.append(1)
        return self._groups(rows, capacity)

    def _resources(self) -> tuple[list[Ints], list[int]]:
        """Return the demands of the modes of each renewable resource, and of sets of resources; and the capacities."""
        a = self.arrays
        renewable = [r for r in self.project.resources if r.renewable and r.capacity]
        single = {r.name: np.array([m.demands.get(r.name, 0) for m in a.modes], np.int64) for r in renewable}
        used = [
            frozenset(name for mode in options for name, d in mode.demands.items() if d and name in single)
            for options in a.net.modes
            if len(options) > 1
        ]
        sets = sorted({each for each in used if len(each) > 1}, key=lambda each: (-used.count(each), sorted(each)))
        sets = sets[:MOST_SETS] + ([frozenset(single)] if sets and frozenset(single) not in sets[:MOST_SETS] else [])
        rows = [*single.values(), *(np.array([single[name] for name in each]).sum(axis=0) for each in sets)]
        return rows, [r.capacity for r in renewable] + [
            sum(self.project.capacity[name] for name in each) for each in sets
        ]

    def _groups(self, rows: list[Ints], capacity: list[int]) -> Groups:
        t = self.tasks
        n = len(self.arrays.net.names)
        demand = np.array(rows, np.int64).reshape(len(rows), t.duration.size)
        energy = np.zeros((len(rows), n), np.int64)
        for k in range(len(rows)):
            energy[k] = np.minimum.reduceat(demand[k] * t.duration, t.mode_first[:-1])
        return Groups(demand, energy, np.array(capacity, np.int64))

    @property
    def _over(self) -> bool:
        return self.clock.over or self.clock.stop[0] != 0

    @property
    def _exact(self) -> bool:
        """Whether no sum of the kernels can exceed 64 bits."""
        most = sum(max(m.duration for m in options) for options in self.arrays.net.modes)
        least = max([r.capacity for r in self.project.resources if r.renewable], default=1)
        total = sum(r.capacity for r in self.project.resources if r.renewable)
        return (most + self.project.horizon + 1) * (total + least + 1) < LARGEST

    def quick(self) -> dict[str, int]:
        """Return the bounds that take little time: "critical path" and "energy"."""
        bounds = {"critical path": longest_path(self.project)}
        if self.heads.size and self._exact:
            bounds["energy"] = self._by_groups(bounds)
        return bounds

    def compute(self, objective: int) -> dict[str, int]:
        """Return the bounds by name; those after one that equals the objective are left out."""
        bounds = {"critical path": longest_path(self.project)}
        if bounds["critical path"] == objective or self._over:
            return bounds
        bounds = self.quick()
        if max(bounds.values()) == objective or self._over or self.heads.size > MOST_TASKS or not self._exact:
            return bounds
        self._strengthen()
        bounds["heads and tails"] = self._by_groups(bounds)
        if max(bounds.values()) < objective and not self._over:
            bounds["energetic reasoning"] = self._by_intervals(max(bounds.values()), objective)
        return bounds

    def _by_groups(self, bounds: dict[str, int]) -> int:
        paths = int((self.heads + self.work.shortest + self.tails).max())
        return max(*bounds.values(), paths, int(group_bound(self.groups, self.work, self.heads, self.tails)))

    def _strengthen(self) -> None:
        t = self.tasks
        back = self.back
        n = self.heads.size
        path = np.zeros((n, n), np.int64)
        longest_paths(t, self.work, path)
        strengthen(t, self.groups, self.work, path, self.heads, True, self.clock.stop)
        strengthen(back, self.groups, self.back_work, path, self.tails, False, self.clock.stop)

    def _by_intervals(self, bound: int, objective: int) -> int:
        """Return the greatest refuted makespan plus 1, by bisection between a bound and a schedule."""
        low = bound - 1  # refuted
        high = objective  # not refuted
        while high - low > 1 and not self._over:
            middle = (low + high) // 2
            no = refuted(self.tasks, self.groups, self.work, self.heads, self.tails, middle, self.clock.stop)
            if no:
                low, high = (middle, high)
            else:
                low, high = (low, middle)
        return low + 1


@cache
def warm_up() -> None:
    """Compile the kernels of the bounds, or load them from numba's cache."""
    modes = (Mode("fast", 2, {"crew": 2}), Mode("slow", 3, {"crew": 1}))
    tasks = [Task(name, modes) for name in "abcde"]
    bounds = MakespanBounds(Project(tasks, [Resource("crew", 3)], [("a", "b"), ("b", "c")]), Clock())
    bounds.compute(100)


# --- A bound by a short run of CP-SAT from the best schedule of a search.

SOLVER = "cpsat"
SHARE = 0.1  # of the time limit of a search
SHORTEST = 4.9  # seconds of a search below which the share would not suffice to build the model: of a limit of 5 s, less what the call has taken


class Proved(NamedTuple):
    """A bound, and a schedule that is better than the best one of the search, if the solver has found one."""

    bound: int
    schedule: Schedule | None
    interrupted: bool = False


def kept_for_bound(problem: Project, time_limit: float | None) -> float:
    """Return the seconds of a search that are kept for its bound.

    0 without a time limit, if the solver is missing, or if a makespan of all tasks is not the objective.
    """
    from ...backends import backend

    if (
        not bounds_hold(problem)
        or time_limit is None
        or not SHORTEST <= time_limit < math.inf
        or len(problem.tasks) > MOST_TASKS
    ):
        return 0.0
    if backend(SOLVER).availability().ok:
        return SHARE * time_limit
    return 0.0


def proved_bound(problem: Project, best: Schedule, least: int, seconds: float, threads: int, seed: int) -> Proved:
    """Return the better one of the bounds of schedlab and CP-SAT.

    Parameters
    ----------
    problem
        The project.
    best
        A feasible schedule, from which the solver starts. No longer one is looked for.
    least
        A bound that is known.
    seconds
        Time limit, above 0. The solver also ends after as many units of its own work, so that on an idle machine the bound
        does not depend on a clock.
    threads, seed
        Of the solver.

    Returns
    -------
    Proved
    """
    from ...backends import INTERRUPTED, Limits, LoweringTooLarge, SolverUnavailable, run

    limits = Limits(seconds, threads, seed, deterministic=seconds, log=False).begun()
    makespan = int(problem.value(best))
    with Clock(limits.deadline) as clock:
        least = max(least, *MakespanBounds(problem, clock).compute(makespan).values())
    if least == makespan:
        return Proved(least, None)
    # the sets are redundant
    if len(problem.tasks) <= MOST_EXCLUSIVE:
        exclusive = None
    else:
        exclusive = ()
    encoding = modes(problem, makespan, exclusive)
    try:
        result = run(encoding.model, SOLVER, limits, warm_start=encoding.write(best), conflict=False, known_bound=least)
    except (SolverUnavailable, LoweringTooLarge):
        return Proved(least, None)
    if result.status not in ("optimal", "feasible", "unknown"):
        return Proved(least, None, result.message == INTERRUPTED)
    assert result.bound is not None and not isinstance(result.bound, tuple)  # at least ``least``
    shorter = result.assignment is not None and not result.violations and result.objective != makespan
    schedule = None
    if shorter and result.assignment is not None:
        schedule = encoding.read(result.assignment)
    return Proved(round(result.bound), schedule, result.message == INTERRUPTED)
