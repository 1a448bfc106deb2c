"""Local search over orders: move single jobs in the order and place the jobs anew.

1. Place the jobs in the given order (``first_solution``).
2. Draw two places i and k of the order at random. Take the job from place i and insert it at place k.
3. Remove the jobs from place min(i, k) on from the profile and place them anew, each at its earliest start. Stop early
   if the cost of the placed jobs plus a lower bound of the cost of the others exceeds what would be accepted.
4. Keep the new order if it is accepted (by default: if its objective is not worse), else restore the old one.
5. Repeat from step 2 for the given number of rounds, or until the time limit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...models import Dispatch, Profit, Schedule
from ...models.excerpt import with_short_repr
from ..arrays import Placement
from ..clock import Clock
from ..kernels.order_moves import OrderResult, improve
from ..kernels.profile import Floats, Ints
from .first_solution import ListScheduler

BATCH = 200  # moves of one kernel call
FIRST_BATCH = 4  # moves of the first call with a time limit
BATCH_SECONDS = 0.1  # wanted time of one call with a time limit


@with_short_repr
@dataclass(frozen=True)
class Moved:
    """The result of ``move_jobs``.

    Parameters
    ----------
    order
        Job ids in the best order.
    schedule
        Its schedule.
    objective
        Its objective.
    trace
        (seconds, objective) of each incumbent.
    """

    order: tuple[str, ...]
    schedule: Schedule
    objective: float
    trace: tuple[tuple[float, float], ...]


def move_jobs(
    problem: Dispatch | Profit | ListScheduler,
    order: str | Sequence[str],
    rounds: int = 1000,
    seed: int = 0,
    time_limit: float | None = None,
    on_incumbent: Callable[[float, float, Placement], Any] | None = None,
    placed: tuple[Ints, Ints] | None = None,
) -> Moved:
    """Move single jobs to other places of the order, at random; keep a move if the objective does not become worse.

    Deterministic for a given seed if there is no time limit.

    Parameters
    ----------
    problem
        A dispatching or profit problem, or its scheduler.
    order
        A criterion (see ``CRITERIA``), ``-criterion``, or a list of all job ids.
    rounds
        Number of moves.
    seed
        Seed of the moves.
    time_limit
        Seconds; None: no limit.
    on_incumbent
        Called with (seconds, objective, placement) for each incumbent; return False to stop.
    placed
        Starts and nodes of this order, if they are known already.

    Returns
    -------
    Moved
        The best order and its schedule.

    Raises
    ------
    NoSchedule, UnknownOrder, CriterionUnusable
        As ``first_solution``.
    """
    began = time.perf_counter()
    scheduler = problem if isinstance(problem, ListScheduler) else ListScheduler(problem)
    a, best = scheduler.arrays, scheduler.order(order).astype(np.int64)
    answer = OrderResult(best, *(scheduler.place(best) if placed is None else (part.copy() for part in placed)))
    value = scheduler.objective(answer.starts)
    trace = [(time.perf_counter() - began, a.sign * value)]
    clock = Clock(time_limit, began)
    for moves in batches(best.size, rounds, seed, clock):
        found, _, _ = improve(
            a.machine, a.jobs, a.costs, answer, moves, value, value, *not_worse(len(moves)), clock.stop
        )
        if found < value:
            value = float(found)
            trace.append((time.perf_counter() - began, a.sign * value))
            placement = Placement(a, answer.starts, answer.nodes)
            if on_incumbent is not None and on_incumbent(*trace[-1], placement) is False:
                break
    schedule = a.schedule(answer.starts, answer.nodes)
    ids = tuple(a.problem.jobs[j].id for j in best.tolist())
    return Moved(ids, schedule, a.problem.objective(schedule), tuple(trace))


def not_worse(moves: int) -> tuple[Floats, Floats]:
    """Return the limits of ``improve`` for moves that are accepted if the objective does not become worse."""
    return np.zeros(moves), np.full(moves, np.inf)


def batches(jobs: int, rounds: int, seed: int, clock: Clock) -> Iterator[Ints]:
    """Yield random moves (from, to) in batches while the clock allows; the array has the shape (moves, 2).

    Parameters
    ----------
    jobs
        Number of jobs.
    rounds
        Number of moves in all.
    seed
        Seed of the random numbers.
    clock
        The clock of the search; it runs while the generator runs. With a limit, the first batches are small.
    """
    rng = np.random.default_rng(seed)
    size = BATCH if clock.end is None else FIRST_BATCH
    with clock:
        while rounds > 0 and jobs > 1:
            drawn = rng.integers(0, jobs, (min(rounds, BATCH), 2))
            rounds -= len(drawn)
            while len(drawn):
                began = time.perf_counter()
                if clock.over:
                    return
                yield drawn[:size]
                drawn = drawn[size:]
                if clock.end is not None:
                    took = max(1e-6, time.perf_counter() - began)
                    size = max(1, min(BATCH, 2 * size, int(size * BATCH_SECONDS / took)))
