"""Reading back a relaxation's answer: starts that some machine of the same size could keep become a schedule of this one."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import NamedTuple

import numpy as np

from ..models import Dispatch, Profit, Schedule
from .arrays import Arrays, arrays
from .clock import Clock, KernelStopped
from .errors import NoSchedule
from .kernels.profile import Ints
from .list_scheduling.first_solution import ListScheduler
from .list_scheduling.moves import move_jobs
from .list_scheduling.multi_search import AFTERWARDS

ROUNDS = 120  # moves of single jobs where no time is given
KEPT = 3  # answers that a repair goes back to
MANY_ROUNDS = 10**6


class Try(NamedTuple):
    """One placing: its objective, who placed, the order of the jobs, their starts and nodes, whether starts were bounded."""

    value: float
    scheduler: ListScheduler
    order: Ints
    placed: tuple[Ints, Ints]
    bounded: bool

    def schedule(self) -> Schedule:
        """What was placed, with the nodes."""
        return self.scheduler.arrays.schedule(*self.placed)


class Allocator:
    """Makes schedules of given starts, for many answers to one problem; the arrays are made once.

    >>> from schedlab.models import Job, NodeGroup, Platform, Queue
    >>> jobs = [Job(n, 0, 10, 1, {"cores": 9}, "q") for n in "ab"]
    >>> p = Dispatch(Platform([NodeGroup("n", 1, {"cores": 16})]), jobs, [Queue("q", 60)], "waiting")
    >>> Allocator(p).allocate({"a": 3, "b": 0}).start
    {'a': 10, 'b': 0}
    """

    def __init__(self, problem: Dispatch | Profit, time_limit: float | None = None, began: float | None = None) -> None:
        """``time_limit``: seconds from ``began`` (by ``time.perf_counter``; None: now), for ``allocate``."""
        self.problem = problem
        now = time.perf_counter()
        prepared = arrays(problem)
        self._afterwards = AFTERWARDS * (time.perf_counter() - now)
        self._clock = Clock(time_limit, began)
        self._clock.reserve(self._afterwards)
        self._sign = prepared.sign
        self._schedulers = _choosers(prepared)
        self._best: list[tuple[float, Ints]] = []
        self.failure: NoSchedule | None = None

    def allocate(self, starts: Mapping[str, int]) -> Schedule | None:
        """Jobs in the order of their starts, each where it was or at the earliest after, or at its earliest at all.

        The better of the two, quickly; None if windows and deadlines defeat both, or where the time limit is reached:
        only the first schedule of all is always finished. The starts are remembered for ``repair``. Raises KeyError for
        a job without a start.
        """
        given = np.array([starts[j.id] for j in self.problem.jobs], np.int64)
        order = next(self._orders(given))
        with self._clock as clock:
            best = _least(self._tries(self._schedulers[0], order, given, clock, finished=bool(self._best)))
        if best is None:
            return None
        self._best = sorted([*self._best, (best.value, given)], key=lambda b: b[0])[:KEPT]
        return best.schedule()

    def repair(self, seconds: float | None = None, seed: int = 0, rounds: int = ROUNDS) -> Schedule | None:
        """The best that more effort makes of the answers so far: more ways to order jobs and to choose nodes, then moves.

        ``seconds``: for all of it; None: ``rounds`` moves and no clock, so that it is reproducible.
        """
        with Clock(seconds) as clock:
            clock.reserve(self._afterwards)
            best = free = None
            for t in self._all_tries(clock):
                best = _least((best, t))
                free = free if t.bounded else _least((free, t))
        if best is None:
            return None
        found = best.schedule()
        if free is not None and not clock.over and (rounds or seconds is not None):
            ids = [self.problem.jobs[j].id for j in free.order.tolist()]
            count, left = (rounds, None) if seconds is None else (MANY_ROUNDS, clock.left)
            moved = move_jobs(free.scheduler, ids, count, seed, left, placed=free.placed).schedule
            found = min(found, moved, key=lambda s: self._sign * self.problem.objective(s))
        return found

    def _all_tries(self, clock: Clock) -> Iterator[Try]:
        for _, given in self._best:
            for scheduler, order in product(self._schedulers, self._orders(given)):
                if clock.over:
                    return
                yield from self._tries(scheduler, order, given, clock)

    def _tries(
        self, scheduler: ListScheduler, order: Ints, given: Ints, clock: Clock, finished: bool = True
    ) -> Iterator[Try]:
        """Both placings, as far as the time goes; ``finished``: there is a schedule already, so that none must be finished."""
        for bound in (given, None):
            try:
                placed = scheduler.place(order, bound, clock.stop if finished else None)
            except NoSchedule as why:
                self.failure = why
            except KernelStopped:
                return
            else:
                finished = True
                yield Try(scheduler.objective(placed[0]), scheduler, order, placed, bound is not None)

    def _orders(self, given: Ints) -> Iterator[Ints]:
        """By start, the widest, largest, shortest or first submitted of those that start together first; by middle; by end."""
        a = self._schedulers[0].arrays
        submit, duration, total = a.costs.submit, a.jobs.duration, a.shares * a.jobs.units
        for tie in (-total, -total * duration, duration, submit):
            yield np.lexsort((submit, tie, given))
        yield np.lexsort((submit, 2 * given + duration))
        yield np.lexsort((submit, given + duration))


def _least(tries: Iterable[Try | None]) -> Try | None:
    return min((t for t in tries if t is not None), key=lambda t: t.value, default=None)


def allocate(problem: Dispatch | Profit, starts: Mapping[str, int], rounds: int = ROUNDS, seed: int = 0) -> Schedule:
    """A schedule near the given starts (job id -> seconds), the best by the problem's objective of several tries.

    Jobs are placed in the order of their starts (with several ways to order those that start together), of their middles
    and of their ends, with several ways to choose nodes; each at its given start or the earliest feasible one after it,
    or at its earliest start at all. The best of these orders is then improved by ``rounds`` moves of single jobs
    (``move_jobs``; seeded, no clock).
    Raises KeyError for a job without a start, NoSchedule if windows and deadlines defeat every try.
    """
    allocator = Allocator(problem)
    first = allocator.allocate(starts)
    if first is None:
        assert allocator.failure is not None
        raise allocator.failure
    return allocator.repair(None, seed, rounds) or first


def _choosers(prepared: Arrays) -> Sequence[ListScheduler]:
    """Schedulers that fill the nodes where the least lies free of what is in demand; of any resource; the first that fits."""
    machine = prepared.machine
    shares = 1 / np.maximum(1, machine.capacity.sum(axis=0))
    worths = (machine.worth, shares, np.zeros_like(machine.worth))
    return [ListScheduler(replace(prepared, machine=machine._replace(worth=w))) for w in worths]
