"""Relaxation search: the nodes of the jobs of several units stay, a backend looks for better (thesis 6.7.2, equation 6.5).

Multi-search goes first. Then the jobs of several units keep the nodes of the best schedule; the nodes of the jobs of one
unit and all starts are free, and the objective may get no worse. A backend solves that as one model where it is small
enough (``LARGEST``). Where it is not, or its optimum is not proven in half of the time, the backend looks for better in
window after window of time (``improve_placed``), all other jobs staying where they are: seen with CP-SAT in 30 s, one
model of 400 jobs on 30 nodes brings next to nothing, and windows of it up to 2 %.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..models import Dispatch, Profit, Schedule
from ..models.language import Assignment
from ..models.neighbourhood import Neighbourhood, Neighbourhoods
from ..models.schedule_arrays import POSTPONED, Ints
from .arrays import Placement, arrays
from .list_scheduling.multi_search import AFTERWARDS, Improvement, multi_search
from .neighbourhood_solve import BETTER, improve_placed

# units of jobs x nodes they may be on, in one model: CP-SAT keeps its limit of 60 s with 30,000 (1,000 jobs of a profit
# problem on 60 nodes, 0.5 GB), and overruns it by 100 s with 150,000 (3,000 jobs on 100 nodes, 1.4 GB)
LARGEST = 40_000
LOWERING = 2e-4  # seconds per unit x node until CP-SAT searches: 3.5 s for 37,000 of a profit problem, twice that on a busy machine
WINDOW = 1_500  # ... of one window, half of them of jobs that wait
NODES = 40  # to which a job of one unit may go in a window, beside its own
SMALLEST = 8  # ... of the smallest window that is tried with a backend that refuses larger ones
WINDOW_SECONDS = 5.0
FIRST_SHARE = 0.5  # of the time, for multi-search
ONE_SHARE = 0.5  # of the time that is left then, for one model


class Window(NamedTuple):
    """Jobs that may move, nodes to which those of one unit may go, and when the jobs may start."""

    jobs: Ints
    nodes: Ints
    since: int
    until: int


@dataclass(frozen=True)
class Relaxed:
    """The best schedule found and its objective; ``trace``: (seconds, objective) of improvements, multi-search's first.

    ``message``: how it was found; ``complete``: the backend proved that these nodes allow nothing better.
    """

    schedule: Schedule
    objective: float
    trace: tuple[tuple[float, float], ...]
    message: str
    complete: bool


def relaxation_search(
    problem: Dispatch | Profit,
    backend: str = "cpsat",
    time_limit: float | None = None,
    threads: int | None = None,
    seed: int = 0,
    on_incumbent: Callable[[float, float, Placement], Any] | None = None,
    largest: int = LARGEST,
    **options: Any,
) -> Relaxed:
    """The best that a backend makes of the multi-search schedule while jobs of several units keep their nodes.

    ``time_limit`` in seconds, for all of it; without it one model is solved to its end, and windows until none of them
    brings anything; ``threads`` None: all cores; ``on_incumbent(seconds, objective, placement)`` returning False stops;
    ``largest``: units x nodes of one model, less where the limit leaves no time for making it; ``options``: of the backend.
    Every schedule is verified. Raises NoSchedule if no ordering leads to a schedule, SolverUnavailable for a backend that is not installed, UnknownName for one that is not known.
    Source: thesis 6.7.2.
    """
    from ..backends import SolverUnavailable
    from ..backends import backend as find

    here = find(backend).availability()
    if not here.ok:
        raise SolverUnavailable(f"backend {backend!r} cannot be used: {here.reason}")
    search = _RelaxationSearch(problem, backend, time_limit, threads, seed, on_incumbent, options)
    search.begin()
    if not search.stopped:
        search.improve(largest)
    return search.result()


class _RelaxationSearch:
    """The best schedule so far, and the clock."""

    def __init__(
        self,
        problem: Dispatch | Profit,
        backend: str,
        time_limit: float | None,
        threads: int | None,
        seed: int,
        call: Callable[[float, float, Placement], Any] | None,
        options: dict[str, Any],
    ) -> None:
        self.began = time.perf_counter()
        self.problem, self.backend, self.limit, self.call, self.options = problem, backend, time_limit, call, options
        self.threads, self.seed = threads, seed
        self.around = Neighbourhoods(problem)
        now = time.perf_counter()
        self.arrays = arrays(problem)
        # the last schedule is made and verified, and whoever asked for it verifies it, too
        self.last = 2 * AFTERWARDS * (time.perf_counter() - now)
        self.trace: list[tuple[float, float]] = []
        self.stopped = self.complete = self.by_windows = False
        self.rng = np.random.default_rng(seed)
        self.message = ""

    @property
    def left(self) -> float | None:
        """Seconds that are left for searching."""
        if self.limit is None:
            return None
        return max(0.0, self.limit - self.last - (time.perf_counter() - self.began))

    def begin(self) -> None:
        """The multi-search schedule is the first one."""

        def told(news: Improvement, placement: Placement) -> bool:
            self._tell(news.objective, placement)
            return not self.stopped

        first = multi_search(self.problem, None if self.limit is None else FIRST_SHARE * self.limit, told)
        self.schedule, self.objective = first.schedule, first.objective
        self.placed = self.around.flat.placed(first.schedule)
        self.message = f"best order: {first.order}"

    def _tell(self, objective: float, placement: Placement) -> None:
        self.trace.append((time.perf_counter() - self.began, objective))
        if self.call is not None and self.call(*self.trace[-1], placement) is False:
            self.stopped = True

    def improve(self, largest: int) -> None:
        """One model if it is small enough and the backend takes it, windows otherwise."""
        from ..backends import LoweringTooLarge, SolverUnavailable

        size = self._size(np.arange(self.placed.starts.size), len(self.around.flat.capacity))
        if self.left is not None:
            largest = min(largest, int(ONE_SHARE * self.left / LOWERING))
        why = f"{size:,} units x nodes, more than {largest:,}"
        if size <= largest:
            try:
                self._one_model()
                why = ""
            except (SolverUnavailable, LoweringTooLarge) as e:
                why = str(e)
        if self.complete or self._over or (self.left is None and not why):
            return
        self.message += f"; not one model ({why})" if why else ""
        self.message += "; windows of time"
        self.by_windows = True
        self._windows()

    def _size(self, jobs: Ints, nodes: int) -> int:
        """Units of these jobs x nodes that they may be on."""
        units = self.around.flat.units[jobs]
        return int(np.where(units == 1, nodes, units).sum())

    def _split(self, jobs: Ints) -> tuple[list[int], list[int]]:
        """Jobs of one unit, and those of several."""
        several = self.around.flat.units[jobs] > 1
        return jobs[~several].tolist(), jobs[several].tolist()

    def _one_model(self) -> None:
        """Equation 6.5. The start is the best schedule, so that only better ones are looked for."""
        from ..backends import INTERRUPTED, Interrupted, Limits, SolverUnavailable, run

        built, self._best = time.perf_counter(), self.placed
        one, several = self._split(np.arange(self.placed.starts.size))
        found = self.around.model(self.placed, one, several)
        result = run(
            found.model,
            self.backend,
            Limits(None if self.left is None else ONE_SHARE * self.left, self.threads, self.seed),
            warm_start=found.write(self.placed),
            on_incumbent=lambda news: not self.stopped,
            began=built,
            judge=lambda assignment: self._judge(found, assignment),
            **self.options,
        )
        if result.message == INTERRUPTED:
            raise Interrupted
        if result.status == "unavailable":
            raise SolverUnavailable(result.message)
        self.placed, self.complete = self._best, result.status == "optimal"
        self.message += f"; one model: {result.status}"

    def _judge(self, found: Neighbourhood, assignment: Assignment) -> float | None:
        """The objective of an answer, as the problem has it; None if it is no schedule."""
        answer = found.read(assignment, self.placed)
        schedule = self.arrays.schedule(*answer)
        if self.problem.verify(schedule):
            return None
        value = float(self.problem.objective(schedule))
        if self._is_better(value) and not self.by_windows:  # an engine may answer once more after its time
            self.schedule, self.objective = schedule, value
            self._best = answer
            self._tell(value, Placement(self.arrays, *answer))
        return value

    def _is_better(self, value: float) -> bool:
        return self.around.sign * (self.objective - value) > BETTER * abs(self.objective)

    def _windows(self) -> None:
        """Windows of time one after another, again and again, until a second round brings nothing or the time is over."""
        from ..backends import LoweringTooLarge, SolverUnavailable

        size, tried, better, rounds = WINDOW, 0, 0, 0
        while not self._over and size >= SMALLEST:
            before = better
            try:
                for window in self._each_window(size, rounds):
                    better += self._window(*window)
                    tried += 1
                    if self._over:
                        break
            except (SolverUnavailable, LoweringTooLarge) as e:
                size //= 2
                if size < SMALLEST:
                    self.message += f"; {self.backend} takes none: {e}"
                continue
            if better == before and rounds:
                break
            rounds += 1
        self.message += f", {better} of {tried} brought something"

    @property
    def _over(self) -> bool:
        return self.stopped or self.left == 0.0

    def _each_window(self, size: int, rounds: int) -> Iterator[Window]:
        """Jobs that start one after another, with some that wait then; in every other round half a window later."""
        starts, flat = self.placed.starts, self.around.flat
        nodes = min(NODES, len(flat.capacity))
        weight = np.where(flat.units == 1, nodes, flat.units)
        placed = np.flatnonzero(starts != POSTPONED)
        order = placed[np.argsort(starts[placed], kind="stable")]
        number = (np.cumsum(weight[order]) + rounds % 2 * size // 4) // max(1, size // 2)
        for w in np.unique(number):
            jobs = order[number == w]
            since, until = int(starts[jobs].min()), int(starts[jobs].max())
            now = self.placed.starts
            waits = np.flatnonzero((flat.submit <= until) & ((now == POSTPONED) | (now > until)))
            waits = self.rng.permutation(np.setdiff1d(waits, jobs))
            waits = waits[np.cumsum(weight[waits]) <= size // 2]
            some = self.rng.permutation(len(flat.capacity))[:nodes]
            yield Window(np.concatenate([jobs, waits]), some, since, 2 * until - since)

    def _window(self, jobs: Ints, nodes: Ints, since: int, until: int) -> bool:
        """Whether the jobs of this window are better now."""
        from ..backends import Limits

        one, several = self._split(jobs)
        seconds = WINDOW_SECONDS if self.left is None else min(WINDOW_SECONDS, self.left)
        found = improve_placed(
            self.around,
            self.placed,
            one,
            self.backend,
            Limits(seconds, self.threads, self.seed),
            several,
            nodes,
            since,
            until,
            **self.options,
        )
        if found is None or self.around.sign * (self.trace[-1][1] - found.objective) <= 0:
            return False
        self.placed = found.placed
        self._tell(found.objective, Placement(self.arrays, *found.placed))
        return True

    def result(self) -> Relaxed:
        """The best schedule, verified."""
        if self.by_windows:
            schedule = self.arrays.schedule(*self.placed)
            broken = self.problem.verify(schedule)
            if broken:
                self.message += f"; what the windows made is not used: {broken[0].message}"
            elif self._is_better(value := float(self.problem.objective(schedule))):
                self.schedule, self.objective = schedule, value
        return Relaxed(self.schedule, self.objective, tuple(self.trace), self.message, self.complete)
