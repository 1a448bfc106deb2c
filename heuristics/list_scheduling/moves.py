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
from collections.abc import Generator, Sequence
from contextlib import closing

import numpy as np

from ...backends.result import Result
from ...models import Dispatch, Profit
from ..arrays import Placement
from ..clock import Clock
from ..compiled_first import compiled_first
from ..errors import keeping_limits
from ..incumbents import Incumbents, OnIncumbent
from ..kernels.orders.moves import OrderResult
from ..kernels.profile import Floats, Ints
from .first_solution import ListScheduler

BATCH = 200  # moves of one kernel call
FIRST_BATCH = 4  # moves of the first call with a time limit
BATCH_SECONDS = 0.1  # wanted time of one call with a time limit


@compiled_first("list_scheduling.warm_up:warm_up_moves")
def move_jobs(
    problem: Dispatch | Profit,
    order: str | Sequence[str],
    *,
    time_limit: float | None = None,
    seed: int = 0,
    on_incumbent: OnIncumbent | None = None,
    rounds: int = 1000,
) -> Result:
    """Move single jobs to other places of the order, at random; keep a move if the objective does not become worse.

    Deterministic for a given seed if there is no time limit.

    Parameters
    ----------
    problem
        A dispatching or profit problem.
    order
        A criterion (see ``CRITERIA``), ``-criterion``, or a list of all job ids.
    time_limit
        Seconds; None: no limit.
    seed
        Seed of the moves.
    on_incumbent
        Called with each Incumbent; return False to stop.
    rounds
        Number of moves.

    Returns
    -------
    Result
        Its ``details``: ``order``, the job ids in the best order.

    Raises
    ------
    NoSchedule, LimitsBroken, UnknownOrder, CriterionUnusable
        As ``first_solution``.
    """
    seen = Incumbents(problem, "move-jobs", on_incumbent)
    scheduler = ListScheduler(problem)
    first = scheduler.order(order).astype(np.int64)
    answer = OrderResult(first, *scheduler.place(first))
    improve_order(scheduler, answer, rounds, seed, Clock(time_limit, seen.began), seen)
    ids = tuple(problem.jobs[j].id for j in answer.order.tolist())
    schedule = keeping_limits(scheduler.arrays.dispatch, scheduler.arrays.schedule(answer.starts, answer.nodes))
    return seen.result(schedule, details={"order": ids})


def improve_order(
    scheduler: ListScheduler,
    answer: OrderResult,
    rounds: int,
    seed: int,
    clock: Clock,
    seen: Incumbents | None = None,
) -> None:
    """Move single jobs of an order and its placement, in place; report the incumbents to ``seen``."""
    a, value = scheduler.arrays, scheduler.objective(answer.starts)

    def report() -> bool:
        placement = Placement(a, answer.starts, answer.nodes)
        return seen is None or not a.keeps_limits(value) or seen.report(a.sign * value, placement=placement)

    if not report():
        return
    mover = scheduler.mover()
    with closing(batches(answer.order.size, rounds, seed, clock)) as every:
        for moves in every:
            single = np.arange(len(moves) + 1)
            found, _, _ = mover.improve(answer, moves, single, value, value, *not_worse(len(moves)), clock.stop)
            if found < value:
                value = float(found)
                if not report():
                    return


def not_worse(moves: int) -> tuple[Floats, Floats]:
    """Return the limits of ``improve`` for moves that are accepted if the objective does not become worse."""
    return np.zeros(moves), np.full(moves, np.inf)


def batches(jobs: int, rounds: int, seed: int, clock: Clock) -> Generator[Ints, None, None]:
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
