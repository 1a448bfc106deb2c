"""Allocation: schedules near given starts, for example the starts of a relaxation that ignores single nodes.

1. Order the jobs by their given starts.
2. Place them one by one at the earliest feasible start that is not before the given start.
3. Place them in the same order without that bound.
4. Keep the better schedule.

``Allocator.repair`` repeats this with other orders (ties broken by size, area, duration or submit time; by the middle
or the end of a job) and other node choices, then moves single jobs in the best order (``move_jobs``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import NamedTuple

import numpy as np

from ..models import Dispatch, Encoding, Profit, Schedule
from ..models.array_types import Ints
from ..models.deadline import Deadline
from ..models.dispatch.objectives import broken_limits
from ..models.words import with_short_repr
from .arrays import Arrays, arrays
from .clock import Clock, KernelStopped
from .errors import ConstraintBroken, LimitsBroken, NoSchedule, NothingFound
from .kernels.orders import OrderResult
from .list_scheduling import AFTERWARDS, ListScheduler, improve_order

ROUNDS = 120  # moves of single jobs if there is no time limit
KEPT = 3  # answers that ``repair`` works on
MANY_ROUNDS = 10**6  # with a time limit: more than any limit allows


class Try(NamedTuple):
    """One placement of all jobs.

    Parameters
    ----------
    value
        The objective, minimized; with a penalty for broken limits.
    scheduler
        The scheduler that made it.
    order
        Indices of the jobs in the order of placement, shape (jobs,).
    placement
        Starts in seconds, shape (jobs,), and nodes, shape (units of all jobs,).
    bounded
        Whether jobs could not start before their given starts.
    """

    value: float
    scheduler: ListScheduler
    order: Ints
    placement: tuple[Ints, Ints]
    bounded: bool

    def schedule(self) -> Schedule:
        """Return the placement as a schedule of the problem."""
        return self.scheduler.arrays.schedule(*self.placement)

    @property
    def kept(self) -> bool:
        """Whether the placement keeps the limits on objectives."""
        return self.scheduler.arrays.keeps_limits(self.value)


@with_short_repr
class Allocator:
    """Converts given starts to schedules, for many answers to one problem; the arrays are made once.

    Parameters
    ----------
    problem
        A dispatching or profit problem.
    deadline
        When all calls of ``allocate`` must have ended; None: no limit.
    encoding
        The formulation whose answers the starts are. Only schedules that keep all constraints of its model are returned, those
        included that were added to it. None: those of the problem's data alone.

    Examples
    --------
    >>> from schedlab.models import Job, NodeGroup, Platform, Queue
    >>> jobs = [Job(n, 0, 10, 1, {"cores": 9}, "q") for n in "ab"]
    >>> p = Dispatch(Platform([NodeGroup("n", 1, {"cores": 16})]), jobs, [Queue("q", 60)], "waiting")
    >>> Allocator(p).allocate({"a": 3, "b": 0}).start
    {'a': 10, 'b': 0}
    """

    def __init__(
        self, problem: Dispatch | Profit, deadline: Deadline | None = None, encoding: Encoding | None = None
    ) -> None:
        self.problem = problem
        self.encoding = encoding
        preparing = Deadline()
        prepared = arrays(problem)
        self._afterwards = AFTERWARDS * preparing.elapsed
        self._clock = Clock(deadline)
        self._clock.reserve(self._afterwards)
        self._sign = prepared.sign
        self._schedulers = _choosers(prepared)
        self._best: list[tuple[float, Ints]] = []
        self.failure: NothingFound | None = None

    def allocate(self, starts: Mapping[str, int]) -> Schedule | None:
        """Return the better of two schedules: with and without the given starts (seconds, by job id) as lower bounds.

        The jobs are placed in the order of the given starts. Returns None if start windows and deadlines make both
        fail, if the better one breaks a limit on an objective, or if the time limit is reached; the first schedule of
        all is always finished. The starts are kept for ``repair``. Raises KeyError if a job has no start.
        """
        given = np.array([starts[j.id] for j in self.problem.jobs], np.int64)
        order = next(self._orders(given))
        with self._clock as clock:
            tries = list(self._tries(self._schedulers[0], order, given, clock, finished=bool(self._best)))
        if not tries:
            return None
        self._best = sorted([*self._best, (min(t.value for t in tries), given)], key=lambda b: b[0])[:KEPT]
        best = _least(t for t in tries if self._in_model(t.schedule))
        return best.schedule() if best is not None and best.kept else None

    def repair(self, seconds: float | None = None, seed: int = 0, rounds: int = ROUNDS) -> Schedule | None:
        """Return the best schedule that other orders, other node choices and moves of jobs make of the answers so far.

        ``seconds`` limits all of it. None: ``rounds`` moves without a clock, so that the result is reproducible.
        """
        with Clock(Deadline(seconds)) as clock:
            clock.reserve(self._afterwards)
            best = free = None
            for t in self._all_tries(clock):
                if self._in_model(t.schedule):
                    best = _least((best, t))
                free = free if t.bounded else _least((free, t))
        found = [] if best is None else [best.schedule()]
        if free is not None and not clock.over and (rounds or seconds is not None):
            count = rounds if seconds is None else MANY_ROUNDS
            answer = OrderResult(free.order.astype(np.int64), *(part.copy() for part in free.placement))
            improve_order(free.scheduler, answer, count, seed, Clock(clock.deadline))
            moved = free.scheduler.arrays.schedule(answer.starts, answer.nodes)
            found += [moved] if self._in_model(lambda: moved) else []
        kept = [schedule for schedule in found if not self._breaks(schedule)]
        return min(kept, key=lambda schedule: self._sign * self.problem.value(schedule), default=None)

    def _in_model(self, schedule: Callable[[], Schedule]) -> bool:
        """Return whether a schedule keeps the constraints of the model, if there is one; keep what it breaks as the failure."""
        if self.encoding is None:
            return True
        model = self.encoding.model
        violations = model.check(self.encoding.write(schedule()))
        if violations:
            self.failure = ConstraintBroken(model.name, violations[0].message)
        return not violations

    def _breaks(self, schedule: Schedule) -> bool:
        """Return whether a schedule breaks a limit on an objective."""
        return any(broken_limits(self._schedulers[0].arrays.dispatch, schedule))

    def _all_tries(self, clock: Clock) -> Iterator[Try]:
        for _, given in self._best:
            for scheduler, order in product(self._schedulers, self._orders(given)):
                if clock.over:
                    return
                yield from self._tries(scheduler, order, given, clock)

    def _tries(
        self, scheduler: ListScheduler, order: Ints, given: Ints, clock: Clock, finished: bool = True
    ) -> Iterator[Try]:
        """Yield both placements while time is left; ``finished``: a schedule exists, so the clock may stop them."""
        for bound in (given, None):
            try:
                placement = scheduler.place(order, bound, clock.stop if finished else None)
            except NoSchedule as why:
                self.failure = why
            except KernelStopped:
                return
            else:
                finished = True
                yield Try(scheduler.objective(placement[0]), scheduler, order, placement, bound is not None)

    def _orders(self, given: Ints) -> Iterator[Ints]:
        """Yield orders by start (ties: widest, largest area, shortest, first submitted), by middle, by end."""
        a = self._schedulers[0].arrays
        submit = a.costs.submit
        duration = a.jobs.duration
        total = a.shares * a.jobs.units
        for tie in (-total, -total * duration, duration, submit):
            yield np.lexsort((submit, tie, given))
        yield np.lexsort((submit, 2 * given + duration))
        yield np.lexsort((submit, given + duration))


def _least(tries: Iterable[Try | None]) -> Try | None:
    return min((t for t in tries if t is not None), key=lambda t: t.value, default=None)


def allocate(
    problem: Dispatch | Profit,
    starts: Mapping[str, int],
    rounds: int = ROUNDS,
    seed: int = 0,
    encoding: Encoding | None = None,
) -> Schedule:
    """Return a schedule near the given starts: the best of several orders and node choices, then improved by moves.

    Parameters
    ----------
    problem
        A dispatching or profit problem.
    starts
        Start of each job in seconds, by job id.
    rounds
        Number of moves of single jobs (``move_jobs``).
    seed
        Seed of the moves.
    encoding
        The formulation whose answers the starts are: the schedule keeps all constraints of its model, those included that were
        added to it. None: those of the problem's data alone.

    Returns
    -------
    Schedule
        The best schedule by the problem's objective.

    Raises
    ------
    KeyError
        If a job has no start.
    NoSchedule
        If start windows and deadlines make every order fail.
    LimitsBroken
        If no schedule was found that keeps the limits on objectives.
    ConstraintBroken
        If no schedule was found that keeps the constraints of the model.
    """
    allocator = Allocator(problem, encoding=encoding)
    first = allocator.allocate(starts)
    schedule = allocator.repair(None, seed, rounds) or first
    if schedule is None:
        raise allocator.failure or LimitsBroken(["the starts, and the moves of jobs that were tried, exceed it"])
    return schedule


def _choosers(prepared: Arrays) -> Sequence[ListScheduler]:
    """Return three schedulers: least free of scarce resources first, least free of all first, first nodes first."""
    machine = prepared.machine
    shares = 1 / np.maximum(1, machine.capacity.sum(axis=0))
    worths = (machine.worth, shares, np.zeros_like(machine.worth))
    return [ListScheduler(replace(prepared, machine=machine._replace(worth=w))) for w in worths]
