"""Moving single jobs in an order and placing all again: a local search over orders."""

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

BATCH = 200
FIRST_BATCH = 4
BATCH_SECONDS = 0.1


class OrderResult(NamedTuple):
    """An order of jobs, and what placing them in it gives: starts of the jobs, nodes of all units."""

    order: Ints
    starts: Ints
    nodes: Ints


@dataclass(frozen=True)
class Moved:
    """The best order found (job ids), its schedule and objective; ``trace``: (seconds, objective) of improvements."""

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
    """Try ``rounds`` moves of one job to another place in the order; a move stays if the objective gets no worse.

    With the same seed and no ``time_limit`` (seconds) it is deterministic. ``on_incumbent(seconds, objective,
    placement)`` returning False stops; ``placed``: starts and nodes that the order makes, if known. Raises what
    ``first_solution`` raises for the order.
    """
    began = time.perf_counter()
    scheduler = problem if isinstance(problem, ListScheduler) else ListScheduler(problem)
    a, best = scheduler.arrays, scheduler.order(order).astype(np.int64)
    answer = OrderResult(best, *(scheduler.place(best) if placed is None else (part.copy() for part in placed)))
    value = scheduler.objective(answer.starts)
    trace = [(time.perf_counter() - began, a.sign * value)]
    clock = Clock(time_limit, began)
    for moves in batches(best.size, rounds, seed, clock):
        found = improve(a.machine, a.jobs, a.costs, answer, moves, value, clock.stop)
        if found < value:
            value = float(found)
            trace.append((time.perf_counter() - began, a.sign * value))
            placement = Placement(a, answer.starts, answer.nodes)
            if on_incumbent is not None and on_incumbent(*trace[-1], placement) is False:
                break
    schedule = a.schedule(answer.starts, answer.nodes)
    ids = tuple(a.problem.jobs[j].id for j in best.tolist())
    return Moved(ids, schedule, a.problem.objective(schedule), tuple(trace))


def batches(jobs: int, rounds: int, seed: int, clock: Clock) -> Iterator[Ints]:
    """Moves (from, to) in batches, with the clock running; with a limit, small ones first, and none after it."""
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
    """Put the jobs at the places ``first .. last - 1`` of the order where the answer has them, or take them out."""
    for k in range(first, last):
        j = answer.order[k]
        if answer.starts[j] == POSTPONED:
            continue
        chosen = answer.nodes[jobs.first_unit[j] : jobs.first_unit[j + 1]]
        profile = put(profile, jobs, j, answer.starts[j], chosen, sign)
    return profile


@compiled
def _move(order: Ints, trial: Ints, i: int, to: int) -> None:
    """Write the order with the job at place i moved to place ``to``."""
    if i < to:
        trial[i:to] = order[i + 1 : to + 1]
    else:
        trial[to + 1 : i + 1] = order[to:i]
    trial[to] = order[i]


@compiled
def _at_least(costs: Costs, floor: Floats, order: Ints, low: int, rest: Floats) -> None:
    """``rest[k]``: what the jobs from place k on cost at their very earliest."""
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
    value: float,
    stop: Ints,
) -> tuple[Profile, float, int]:
    """Place the jobs from place ``low`` on; the profile, the objective and how many places are filled.

    It stops as soon as what is placed, and the rest at its very earliest, cost more than ``value``: the objective is
    then infinite. Profits are no sum over jobs: they are seen at the end.
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
        if costs.mode != EARNINGS and _add(costs, spent, rest[k + 1]) > value + 1e-12 * abs(value):
            return profile, np.inf, k + 1
    if costs.mode == EARNINGS:
        spent = objective(costs, jobs, trial.starts)
        spent = np.inf if spent > value + 1e-12 * abs(value) else spent
    return profile, spent, trial.order.size


@compiled
def improve(
    machine: Machine, jobs: Jobs, costs: Costs, answer: OrderResult, moves: Ints, value: float, stop: Ints
) -> float:
    """Try the moves (from, to), changing the answer where one is no worse; the objective at the end.

    A move takes the jobs from the first changed place on out of the profile and places them anew; one during which
    ``stop`` (of a ``Clock``) comes is forgotten.
    """
    n = answer.order.size
    s, known = new_scratch(machine.capacity.shape[0]), new_hopeless(jobs, KINDS)
    profile = _put_from(new_profile(machine, 64), jobs, answer, 0, n, 1)
    trial = OrderResult(answer.order.copy(), answer.starts.copy(), answer.nodes.copy())
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
        profile, found, done = _place_from(profile, machine, jobs, costs, s, known, trial, low, rest, value, stop)
        if stop[0] != 0:  # the profile is not needed any more
            break
        if done == n and found < np.inf:
            value = found
            kept, changed = trial, answer
        else:
            profile = _put_from(profile, jobs, trial, low, done, -1)
            profile = _put_from(profile, jobs, answer, low, n, 1)
            kept, changed = answer, trial
        changed.order[:], changed.starts[:], changed.nodes[:] = kept.order, kept.starts, kept.nodes
    return value
