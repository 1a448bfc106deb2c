"""Relaxation search: nodes of multi-unit jobs are fixed, a backend improves the rest [Bridi2018, 6.7.2], eq. 6.5.

1. Run multi-search. With a start, the better one of the two schedules is improved.
2. Build one model if it is small enough (``LARGEST``): jobs of several units keep their nodes, jobs of one unit may use
   any node, all starts are free. A backend looks for a better objective, with the schedule as warm start.
3. If the model is too large, or its optimum is not proven in half of the remaining time: go through the schedule window
   by window of time. In each window some jobs that start there and some waiting jobs may move; all other jobs stay
   (``improve_placed``).
4. Repeat step 3 until a whole round improves nothing or the time limit is reached. Measured with CP-SAT and 30 s:
   one model of 400 jobs on 30 nodes improves almost nothing, windows up to 2 %.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..backends.result import Result
from ..models import Dispatch, Profit, Schedule
from ..models.arguments import Natural, NonNegative, Positive, checked
from ..models.array_types import Ints
from ..models.dispatch.objectives import broken_limits, excess_of
from ..models.kind import WithProblem, given_problem
from ..models.language import Assignment
from ..models.long_calls import Deadline
from ..models.neighbourhood import Neighbourhood, Neighbourhoods, Some
from ..models.schedule_arrays import POSTPONED, ScheduleArrays
from .arrays import Placement, arrays
from .list_scheduling import AFTERWARDS, ListScheduler, place_all_orders
from .search_parts import Clock, Incumbents, OnIncumbent, compiled_first, improves, keeping_limits

if TYPE_CHECKING:
    from ..backends import Limits


BETTER = 1e-9  # relative: smaller improvements are rounding errors


def check_available(backend: str) -> None:
    """Raise SolverUnavailable if a backend cannot be used, UnknownName if there is none of this name."""
    from ..backends import SolverUnavailable
    from ..backends import backend as find

    here = find(backend).availability()
    if not here.ok:
        raise SolverUnavailable(f"backend {backend!r} is not available: {here.reason}")


def limits_of_turn(
    seconds: float | None, clock: Clock, most: float, work: float, threads: int | None, seed: int
) -> Limits:
    """Return the limits of the backend in one turn of a search.

    Parameters
    ----------
    seconds
        Seconds of the turn; None: a turn without a clock.
    clock
        The clock of the search.
    most
        Most seconds of a solution.
    work
        Limit without a clock, in the solver's own unit of work.
    threads
        Threads of the solver; None: all cores.
    seed
        Seed of the solver.
    """
    from ..backends import Limits

    if seconds is None:
        return Limits(None, threads, seed, log=False, deterministic=work)
    return Limits(clock.deadline.at_most(most), threads, seed, log=False)


class Better(NamedTuple):
    """A better schedule.

    Parameters
    ----------
    placement
        Starts and nodes as arrays.
    objective
        The objective by the model; it may differ from the problem's by rounding.
    """

    placement: ScheduleArrays
    objective: float


def improve_placed(
    around: Neighbourhoods,
    placement: ScheduleArrays,
    free: Some,
    backend: str = "cpsat",
    limits: Limits | None = None,
    keep_nodes: Some = (),
    nodes: Some | None = None,
    since: int | None = None,
    until: int | None = None,
    **options: Any,
) -> Better | None:
    """Return a better schedule in which only some jobs have moved; None if none was found.

    The answer is checked against the model, without the solver.

    Parameters
    ----------
    around
        The neighbourhoods of the problem.
    placement
        The schedule as arrays.
    free
        Indices of the jobs whose starts and nodes may change.
    backend
        Name of the backend.
    limits
        Time for the whole call, threads, seed.
    keep_nodes
        Indices of the jobs whose starts may change, but not their nodes.
    nodes
        Indices of the nodes that free jobs may use beside their own; None: all.
    since, until
        Range of the new starts in seconds; None: no bound. See ``Neighbourhoods.model``.
    **options
        Options of the backend.

    Returns
    -------
    Better or None
        The better schedule as arrays.

    Raises
    ------
    SolverUnavailable
        If the backend is missing or rejects the model.
    LoweringTooLarge
        If the model is too large for the lowering.
    ProblemError
        If the jobs that stay overfill a node.
    Interrupted
        After Ctrl-C.
    """
    from ..backends import INTERRUPTED, Interrupted, Limits, SolverUnavailable, run

    limits = (Limits() if limits is None else limits).begun()
    neighbourhood = around.model(placement, free, keep_nodes, nodes, since, until)
    if not neighbourhood.moving:
        return None
    start = neighbourhood.write(placement)
    result: Result = run(neighbourhood.model, backend, limits, warm_start=start, **options)
    if result.status == "unavailable":
        raise SolverUnavailable(result.message)
    if result.message == INTERRUPTED:
        raise Interrupted
    value = result.objective
    if result.assignment is None or result.violations or value is None or isinstance(value, tuple):
        return None
    before = float(neighbourhood.model.value(neighbourhood.model.objectives[0], start))
    sign = around.sign
    broken = excess_of(around.flat.dispatch, placement.starts) > 0  # then any schedule that keeps the limits is better
    if not broken and sign * (before - value) <= BETTER * abs(before):
        return None
    return Better(neighbourhood.read(result.assignment, placement), float(value))


# The size of a model is the sum over its units of the nodes that the unit may use ("units x nodes"). CP-SAT keeps 60 s
# with 30,000 (1,000 jobs of a profit problem, 60 nodes, 0.5 GB), overruns by 100 s with 150,000 (3,000, 100, 1.4 GB).
LARGEST = 40_000  # largest size of one model of the whole problem
# Seconds per unit x node until CP-SAT begins to search: 3.5 s for 37,000 of a profit problem, 7 s on a busy computer.
LOWERING = 2e-4
WINDOW = 1_500  # size of the model of one window; half of it for waiting jobs
NODES = 40  # nodes that a job of one unit may use in a window, beside its own
SMALLEST = 8  # size of the smallest window that is tried with a backend that rejects larger ones
WINDOW_SECONDS = 5.0  # time limit of one window
FIRST_SHARE = 0.5  # share of the time for multi-search
ONE_SHARE = 0.5  # share of the remaining time for the model of the whole problem


class Window(NamedTuple):
    """A part of the schedule that a backend may change.

    Parameters
    ----------
    jobs
        Indices of the jobs that may move.
    nodes
        Indices of the nodes that jobs of one unit may use, beside their own.
    first_start, last_start
        Range of the new starts in seconds.
    """

    jobs: Ints
    nodes: Ints
    first_start: int
    last_start: int


@checked(skip=("problem", "warm_start"))
@compiled_first("list_scheduling:warm_up")
def relaxation_search(
    problem: Dispatch | Profit | WithProblem | str,
    *,
    time_limit: NonNegative | None = None,
    threads: Positive | None = None,
    seed: Natural = 0,
    warm_start: Schedule | None = None,
    on_incumbent: OnIncumbent | None = None,
    backend: str = "cpsat",
    largest: Positive = LARGEST,
    **options: Any,
) -> Result:
    """Improve the multi-search schedule with a backend while jobs of several units keep their nodes.

    The result is verified. Source: [Bridi2018, 6.7.2], equation 6.5.

    Parameters
    ----------
    problem
        A dispatching or profit problem, an Instance, or the name of one.
    time_limit
        Seconds for the whole search. None: one model is solved to optimality, or windows until a round improves
        nothing.
    threads
        Threads of the backend; None: all cores.
    seed
        Seed of the backend and of the windows.
    warm_start
        A schedule that is improved if it is better than that of multi-search; None: no start.
    on_incumbent
        Called with each Incumbent, those of multi-search first; return False to stop.
    backend
        Name of the backend.
    largest
        Largest model of the whole problem, in units x nodes; less if the time limit is too short to build it.
    **options
        Options of the backend.

    Returns
    -------
    Result
        Its ``details``: ``order``, the ordering that was best in multi-search (None: the start was better);
        ``complete``, whether the backend proved that no better schedule exists with these nodes of the multi-unit jobs.

    Raises
    ------
    NoSchedule
        If no ordering leads to a schedule, and there is no start.
    LimitsBroken
        If no schedule was found that keeps the limits on objectives.
    SolverUnavailable
        If the backend is not installed.
    UnknownName
        If the name of the backend is unknown.
    """
    p: Dispatch | Profit = given_problem(problem, ("dispatch", "profit"), "relaxation_search")
    check_available(backend)
    seen = Incumbents(p, "relaxation-search", on_incumbent, warm_start, Deadline(time_limit))
    search = _RelaxationSearch(p, backend, threads, seed, seen, options)
    search.begin()
    if not seen.stopped:
        search.improve(largest)
    return search.result()


class _RelaxationSearch:
    """The best schedule so far, and the clock."""

    def __init__(
        self,
        problem: Dispatch | Profit,
        backend: str,
        threads: int | None,
        seed: int,
        seen: Incumbents,
        options: dict[str, Any],
    ) -> None:
        self.problem = problem
        self.backend = backend
        self.options = options
        self.seen = seen
        self.threads = threads
        self.seed = seed
        self.around = Neighbourhoods(problem)
        preparing = Deadline()
        self.arrays = arrays(problem)
        # twice: the last schedule is made and verified here, and verified again for the result
        self.last = 2 * AFTERWARDS * preparing.elapsed
        self.complete = self.by_windows = False
        self.rng = np.random.default_rng(seed)
        self.message = ""

    @property
    def left(self) -> float | None:
        """Seconds left for searching; None: no limit."""
        return self.seen.deadline.earlier(self.last).remaining

    def begin(self) -> None:
        """Run multi-search and keep its schedule, or the start if that is better."""
        limit = self.seen.deadline.limit
        scheduler = ListScheduler(self.arrays)
        with Clock(Deadline(None if limit is None else FIRST_SHARE * limit)) as clock:
            clock.reserve(self.last / 2)
            first = place_all_orders(scheduler, clock, self.seen)
        if first.placement is None:
            best = self.seen.start
        else:
            best = self.arrays.schedule(*first.placement)
        assert best is not None  # without a start, an ordering has led to a schedule
        self.schedule, self.objective, self.order = best, float(self.problem.value(best)), first.order
        self.kept = not any(broken_limits(self.arrays.dispatch, best))  # whether the schedule keeps the limits
        self.placement = self.around.flat.placed(best)
        if first.order is None:
            self.message = "no order is better than the start"
        else:
            self.message = f"best order: {first.order}"

    def improve(self, largest: int) -> None:
        """Solve one model if it is small enough and the backend accepts it, then windows."""
        from ..backends import LoweringTooLarge, SolverUnavailable

        size = self._size(np.arange(self.placement.starts.size), len(self.around.flat.nodes.capacity))
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
        if why:
            self.message += f"; not one model ({why})"
        self.message += "; windows of time"
        self.by_windows = True
        self._windows()

    def _size(self, jobs: Ints, nodes: int) -> int:
        """Return the sum over the units of these jobs of the nodes that the unit may use."""
        units = self.around.flat.jobs.all_units[jobs]
        return int(np.where(units == 1, nodes, units).sum())

    def _split(self, jobs: Ints) -> tuple[list[int], list[int]]:
        """Split the jobs into those of one unit and those of several."""
        several = self.around.flat.jobs.all_units[jobs] > 1
        return jobs[~several].tolist(), jobs[several].tolist()

    def _one_model(self) -> None:
        """Solve equation 6.5, with the best schedule as warm start."""
        from ..backends import INTERRUPTED, Interrupted, Limits, SolverUnavailable, run

        limits = Limits(None if self.left is None else ONE_SHARE * self.left, self.threads, self.seed).begun()
        self._best = self.placement
        one, several = self._split(np.arange(self.placement.starts.size))
        neighbourhood = self.around.model(self.placement, one, several)
        result = run(
            neighbourhood.model,
            self.backend,
            limits,
            warm_start=neighbourhood.write(self.placement),
            on_incumbent=lambda incumbent: not self.seen.stopped,
            judge=lambda assignment: self._judge(neighbourhood, assignment),
            **self.options,
        )
        if result.message == INTERRUPTED:
            raise Interrupted
        if result.status == "unavailable":
            raise SolverUnavailable(result.message)
        self.placement = self._best
        self.complete = result.status == "optimal"
        self.message += f"; one model: {result.status}"

    def _judge(self, neighbourhood: Neighbourhood, assignment: Assignment) -> float | None:
        """Return the problem's objective of an answer; None if the answer is not a feasible schedule."""
        answer = neighbourhood.read(assignment, self.placement)
        schedule = self.arrays.schedule(*answer)
        if self.problem.verify(schedule):
            return None
        value = float(self.problem.value(schedule))
        if self._is_better(value) and not self.by_windows:  # a solver may report once more after its time limit
            self.schedule = schedule
            self.objective = value
            self.kept = True
            self._best = answer
            self.seen.report(value, placement=Placement(self.arrays, *answer))
        return value

    def _is_better(self, value: float) -> bool:
        return not self.kept or self.around.sign * (self.objective - value) > BETTER * abs(self.objective)

    def _windows(self) -> None:
        """Improve window after window, until a second round improves nothing or the time limit is reached."""
        from ..backends import LoweringTooLarge, SolverUnavailable

        size = WINDOW
        tried = 0
        better = 0
        rounds = 0
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
                    self.message += f"; {self.backend} accepts none: {e}"
                continue
            if better == before and rounds:
                break
            rounds += 1
        self.message += f", {better} of {tried} improved the schedule"

    @property
    def _over(self) -> bool:
        return self.seen.stopped or self.left == 0.0

    def _each_window(self, size: int, rounds: int) -> Iterator[Window]:
        """Yield windows of jobs with consecutive starts and some waiting jobs; odd rounds are shifted."""
        starts = self.placement.starts
        flat = self.around.flat
        nodes = min(NODES, len(flat.nodes.capacity))
        weight = np.where(flat.jobs.all_units == 1, nodes, flat.jobs.all_units)
        scheduled = np.flatnonzero(starts != POSTPONED)
        order = scheduled[np.argsort(starts[scheduled], kind="stable")]
        number = (np.cumsum(weight[order]) + rounds % 2 * size // 4) // max(1, size // 2)
        for w in np.unique(number):
            jobs = order[number == w]
            first = int(starts[jobs].min())
            last = int(starts[jobs].max())
            waits = (self.placement.starts == POSTPONED) | (self.placement.starts > last)
            waits = self.rng.permutation(np.setdiff1d(np.flatnonzero((flat.jobs.submit <= last) & waits), jobs))
            waits = waits[np.cumsum(weight[waits]) <= size // 2]
            some = self.rng.permutation(len(flat.nodes.capacity))[:nodes]
            yield Window(np.concatenate([jobs, waits]), some, first, 2 * last - first)

    def _window(self, jobs: Ints, nodes: Ints, first_start: int, last_start: int) -> bool:
        """Return whether the backend improved the schedule in this window."""
        from ..backends import Limits

        one, several = self._split(jobs)
        seconds = self.seen.deadline.earlier(self.last).at_most(WINDOW_SECONDS)
        better = improve_placed(
            self.around,
            self.placement,
            one,
            self.backend,
            Limits(seconds, self.threads, self.seed, log=False),
            several,
            nodes,
            first_start,
            last_start,
            **self.options,
        )
        best = None
        if self.seen.trace:
            best = self.seen.trace[-1].objective
        if better is None or not improves(self.problem, better.objective, best):
            return False
        self.placement = better.placement
        self.seen.report(better.objective, placement=Placement(self.arrays, *better.placement))
        return True

    def result(self) -> Result:
        """Return the result with the best schedule, verified."""
        if self.by_windows:
            schedule = self.arrays.schedule(*self.placement)
            broken = self.problem.verify(schedule)
            if broken:
                self.message += f"; the result of the windows is not used: {broken[0].message}"
            elif self._is_better(value := float(self.problem.value(schedule))):
                self.schedule = schedule
                self.objective = value
        details = {"order": self.order, "complete": self.complete}
        return self.seen.result(
            keeping_limits(self.arrays.dispatch, self.schedule), message=self.message, details=details
        )
