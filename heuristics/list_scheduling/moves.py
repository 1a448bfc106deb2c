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
from typing import Any, NamedTuple

import numpy as np

from ...models import Dispatch, Profit, Schedule
from ...models.compiled import compiled
from ..arrays import Placement
from ..clock import Clock
from ..kernels.earliest import Scratch, new_scratch
from ..kernels.placement import (
    EARNINGS,
    KINDS,
    LAST_END,
    POSTPONED,
    Costs,
    Hopeless,
    Jobs,
    cost,
    new_hopeless,
    objective,
    place,
    put,
)
from ..kernels.profile import NEVER, Floats, Ints, Machine, Profile, new_profile
from .first_solution import ListScheduler

BATCH = 200  # moves of one kernel call
FIRST_BATCH = 4  # moves of the first call with a time limit
BATCH_SECONDS = 0.1  # wanted time of one call with a time limit


class OrderResult(NamedTuple):
    """An order of jobs and its placement.

    Parameters
    ----------
    order
        Indices of the jobs, shape (jobs,).
    starts
        Start of each job in seconds, shape (jobs,).
    nodes
        Node index of each unit, shape (units of all jobs,).
    """

    order: Ints
    starts: Ints
    nodes: Ints


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


@compiled
def _add(costs: Costs, total: float, one: float) -> float:
    return max(total, one) if costs.mode == LAST_END else total + one


@compiled
def _put_from(profile: Profile, jobs: Jobs, answer: OrderResult, first: int, last: int, sign: int) -> Profile:
    """Add the jobs ``order[first:last]`` to the profile (sign 1) or remove them (sign -1)."""
    for k in range(first, last):
        j = answer.order[k]
        if answer.starts[j] == POSTPONED:
            continue
        chosen = answer.nodes[jobs.first_unit[j] : jobs.first_unit[j + 1]]
        profile = put(profile, jobs, j, answer.starts[j], chosen, sign)
    return profile


@compiled
def _move(order: Ints, trial: Ints, i: int, to: int) -> None:
    """Write ``order`` to ``trial`` with the job at place i moved to place ``to``."""
    if i < to:
        trial[i:to] = order[i + 1 : to + 1]
    else:
        trial[to + 1 : i + 1] = order[to:i]
    trial[to] = order[i]


@compiled
def _at_least(costs: Costs, floor: Floats, order: Ints, low: int, rest: Floats) -> None:
    """Set ``rest[k]`` to a lower bound of the cost of the jobs from place k on: each at its earliest start."""
    rest[order.size] = -np.inf if costs.mode == LAST_END else 0.0
    for k in range(order.size - 1, low - 1, -1):
        rest[k] = _add(costs, rest[k + 1], floor[order[k]])


@compiled
def _place_from(
    profile: Profile,
    machine: Machine,
    jobs: Jobs,
    costs: Costs,
    s: Scratch,
    known: Hopeless,
    trial: OrderResult,
    low: int,
    rest: Floats,
    limit: float,
    stop: Ints,
) -> tuple[Profile, float, int]:
    """Place the jobs from place ``low`` on; return the profile, the objective and the number of placed jobs.

    Stops when the cost of the placed jobs plus ``rest`` exceeds ``limit``; the objective is then infinite. Profits are
    no sum over jobs and are compared at the end.
    """
    spent = costs.constant
    for k in range(low):
        spent = _add(costs, spent, cost(costs, jobs, trial.order[k], trial.starts[trial.order[k]]))
    for k in range(low, trial.order.size):
        if stop[0] != 0:
            return profile, np.inf, k
        j = trial.order[k]
        chosen = trial.nodes[jobs.first_unit[j] : jobs.first_unit[j + 1]]
        trial.starts[j], profile = place(profile, machine, jobs, s, known, None, j, -NEVER, chosen)
        if trial.starts[j] == POSTPONED:
            if costs.may_postpone[j]:
                continue
            return profile, np.inf, k
        spent = _add(costs, spent, cost(costs, jobs, j, trial.starts[j]))
        if costs.mode != EARNINGS and _add(costs, spent, rest[k + 1]) > limit + 1e-12 * abs(limit):
            return profile, np.inf, k + 1
    if costs.mode == EARNINGS:
        spent = objective(costs, jobs, trial.starts)
        spent = np.inf if spent > limit + 1e-12 * abs(limit) else spent
    return profile, spent, trial.order.size


@compiled
def improve(
    machine: Machine,
    jobs: Jobs,
    costs: Costs,
    answer: OrderResult,
    moves: Ints,
    value: float,
    best: float,
    over_current: Floats,
    over_best: Floats,
    stop: Ints,
) -> tuple[float, float, OrderResult]:
    """Try moves; change the answer where a move is accepted.

    Parameters
    ----------
    machine, jobs, costs
        The problem, see ``Arrays``.
    answer
        The order and its placement; changed in place.
    moves
        (from, to) places in the order, shape (moves, 2).
    value, best
        The objective of the answer and the best one of the search, to be minimized.
    over_current, over_best
        What the objective after a move may be worse than the answer's, and than the best one, shape (moves,).
    stop
        ``stop`` of a ``Clock``. A move that it interrupts is dropped.

    Returns
    -------
    tuple
        The objective of the answer; the objective of the best order that the moves found and left for a worse one, if
        it is better than ``best``, and this order; else ``best`` and an order without a meaning.
    """
    n = answer.order.size
    s, known = new_scratch(machine.capacity.shape[0]), new_hopeless(jobs, KINDS)
    profile = _put_from(new_profile(machine, 64), jobs, answer, 0, n, 1)
    trial = OrderResult(answer.order.copy(), answer.starts.copy(), answer.nodes.copy())
    record = OrderResult(answer.order.copy(), answer.starts.copy(), answer.nodes.copy())
    floor, rest = np.empty(n, np.float64), np.empty(n + 1, np.float64)
    for j in range(n):
        floor[j] = cost(costs, jobs, j, jobs.release[j])
    for m in range(moves.shape[0]):
        i, to = moves[m]
        low = min(i, to)
        _move(answer.order, trial.order, i, to)
        _at_least(costs, floor, trial.order, low, rest)
        profile = _put_from(profile, jobs, answer, low, n, -1)
        known.end[:] = 0
        limit = min(value + over_current[m], min(best, value) + over_best[m])
        profile, found, done = _place_from(profile, machine, jobs, costs, s, known, trial, low, rest, limit, stop)
        if stop[0] != 0:  # no need to restore the profile: nothing reads it after this call
            break
        if done == n and found < np.inf:
            if found > value and value < best:
                best = value
                record.order[:], record.starts[:], record.nodes[:] = answer.order, answer.starts, answer.nodes
            value = found
            kept, changed = trial, answer
        else:
            profile = _put_from(profile, jobs, trial, low, done, -1)
            profile = _put_from(profile, jobs, answer, low, n, 1)
            kept, changed = answer, trial
        changed.order[:], changed.starts[:], changed.nodes[:] = kept.order, kept.starts, kept.nodes
    return value, best, record
