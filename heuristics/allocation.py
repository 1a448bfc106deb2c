"""Reading back a relaxation's answer: starts that some machine of the same size could keep become a schedule of this one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from ..models import Dispatch, Schedule
from .first_solution import ListScheduler, NoSchedule
from .kernels import Ints
from .moves import move_jobs


def allocate(problem: Dispatch, starts: Mapping[str, int], rounds: int = 300, seed: int = 0) -> Schedule:
    """A schedule near the given starts (job id -> seconds), the best by the problem's objective of several tries.

    Jobs are placed in the order of their starts, with several ways to order those that start together and by their middles
    and ends; each at its given start or the earliest feasible one after it, or at its earliest start at all. The best
    of these orders is then improved by ``rounds`` moves of single jobs (``move_jobs``; seeded, no clock).
    Raises KeyError for a job without a start, NoSchedule if windows and deadlines defeat every try.
    """
    scheduler = ListScheduler(problem)
    given = np.array([starts[j.id] for j in problem.jobs], np.int64)
    found: list[tuple[float, int, Ints, Ints | None]] = []
    failure: NoSchedule | None = None
    for order in _orders(scheduler, given):
        for bound in (given, None):
            try:
                value, _ = scheduler.evaluate(order, bound)
            except NoSchedule as why:
                failure = why
                continue
            found.append((value, len(found), order, bound))
    if not found:
        assert failure is not None
        raise failure
    tries = [scheduler.schedule(*min(found, key=lambda f: f[:2])[2:])]
    left = [f for f in found if f[3] is None]
    if rounds and left:
        ids = [problem.jobs[j].id for j in min(left, key=lambda f: f[:2])[2].tolist()]
        tries.append(move_jobs(scheduler, ids, rounds, seed).schedule)
    return min(tries, key=problem.objective)


def _orders(scheduler: ListScheduler, given: Ints) -> Iterator[Ints]:
    """By start, the widest, the largest, the shortest or the first submitted of those that start together first; by middle; by end."""
    a = scheduler.arrays
    submit, duration, total = a.costs.submit, a.jobs.duration, a.shares * a.jobs.units
    for tie in (-total, -total * duration, duration):
        yield np.lexsort((submit, tie, given))
    yield np.lexsort((submit, given))
    yield np.lexsort((submit, 2 * given + duration))
    yield np.lexsort((submit, given + duration))
