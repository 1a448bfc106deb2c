"""Moves of single jobs in an order: place the jobs after the move anew, keep or undo the move (``list_scheduling.moves``)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...models.compiled import compiled, internal, internal_borrowing
from .aggregate import Aggregate, no_aggregate
from .by_address import by_address
from .costs import EARNINGS, LAST_END, Costs, Jobs, cost, objective, penalty, together
from .earliest import Scratch, new_scratch
from .placement import KINDS, POSTPONED, Hopeless, new_hopeless, place, put_some
from .profile import NEVER, Floats, Ints, Machine, Profile, new_profile


@by_address
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


@internal
def _move(order: Ints, trial: Ints, i: int, to: int) -> None:
    """Write ``order`` to ``trial`` with the job at place i moved to place ``to``."""
    for k in range(i, to):
        trial[k] = order[k + 1]
    for k in range(to, i):
        trial[k + 1] = order[k]
    trial[to] = order[i]


@internal
def _at_least(costs: Costs, floor: Floats, order: Ints, low: int, rest: Floats) -> None:
    """Set ``rest[k]`` to a lower bound of the cost of the jobs from place k on: each at its earliest start."""
    rest[order.size] = -np.inf if costs.mode == LAST_END else 0.0
    for k in range(order.size - 1, low - 1, -1):
        rest[k] = together(costs, rest[k + 1], floor[order[k]])


@internal
def _place_from(
    profile: Profile,
    machine: Machine,
    jobs: Jobs,
    costs: Costs,
    s: Scratch,
    known: Hopeless,
    bound: Aggregate,
    trial: OrderResult,
    low: int,
    rest: Floats,
    limit: float,
    stop: Ints,
) -> tuple[Profile, float, int]:
    """Place the jobs from place ``low`` on; return the profile, the objective and the number of placed jobs.

    Stops when the cost of the placed jobs plus ``rest`` exceeds ``limit``; the objective is then infinite. Profits, which
    are no sum over jobs, and the penalty for broken limits are compared at the end.
    """
    spent = costs.constant
    for k in range(low):
        spent = together(costs, spent, cost(costs, jobs, trial.order[k], trial.starts[trial.order[k]]))
    for k in range(low, trial.order.size):
        if stop[0] != 0:
            return profile, np.inf, k
        j = trial.order[k]
        chosen = trial.nodes[jobs.first_unit[j] : jobs.first_unit[j + 1]]
        trial.starts[j], profile = place(profile, machine, jobs, s, known, bound, j, -NEVER, chosen)
        if trial.starts[j] == POSTPONED:
            if costs.may_postpone[j]:
                continue
            return profile, np.inf, k
        spent = together(costs, spent, cost(costs, jobs, j, trial.starts[j]))
        if costs.mode != EARNINGS and together(costs, spent, rest[k + 1]) > limit + 1e-12 * abs(limit):
            return profile, np.inf, k + 1
    if costs.mode == EARNINGS:
        spent = objective(costs, jobs, trial.starts)
    else:
        spent += penalty(costs, jobs, trial.starts)
    if spent > limit + 1e-12 * abs(limit):
        spent = np.inf
    return profile, spent, trial.order.size


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
    s, known = new_scratch(machine.capacity.shape[0]), new_hopeless(jobs, KINDS)
    trial, record = (OrderResult(*(part.copy() for part in answer)) for _ in range(2))
    floor, rest = np.empty(answer.order.size), np.empty(answer.order.size + 1)
    profile = new_profile(machine, 64)
    value, best = _improve(
        profile, machine, jobs, costs, s, known, no_aggregate(), answer, trial, record, floor, rest, moves,
        value, best, over_current, over_best, stop,
    )  # fmt: skip
    return value, best, record


@compiled
def _improve(
    profile: Profile,
    machine: Machine,
    jobs: Jobs,
    costs: Costs,
    s: Scratch,
    known: Hopeless,
    bound: Aggregate,
    answer: OrderResult,
    trial: OrderResult,
    record: OrderResult,
    floor: Floats,
    rest: Floats,
    moves: Ints,
    value: float,
    best: float,
    over_current: Floats,
    over_best: Floats,
    stop: Ints,
) -> tuple[float, float]:
    """Try moves, see ``improve``."""
    n = answer.order.size
    profile = put_some(profile, jobs, answer.order[0:n], answer.starts, answer.nodes, 1)
    for j in range(n):
        floor[j] = cost(costs, jobs, j, jobs.release[j])
    for m in range(moves.shape[0]):
        i, to = moves[m, 0], moves[m, 1]
        low = min(i, to)
        _move(answer.order, trial.order, i, to)
        _at_least(costs, floor, trial.order, low, rest)
        profile = put_some(profile, jobs, answer.order[low:n], answer.starts, answer.nodes, -1)
        for k in range(known.end.size):
            known.end[k] = 0
        limit = min(value + over_current[m], min(best, value) + over_best[m])
        profile, found, done = _place_from(
            profile, machine, jobs, costs, s, known, bound, trial, low, rest, limit, stop
        )
        if stop[0] != 0:  # no need to restore the profile: nothing reads it after this call
            break
        if done == n and found < np.inf:
            if found > value and value < best:
                best = value
                _copy(answer, record)
            value = found
            _copy(trial, answer)
        else:
            profile = put_some(profile, jobs, trial.order[low:done], trial.starts, trial.nodes, -1)
            profile = put_some(profile, jobs, answer.order[low:n], answer.starts, answer.nodes, 1)
            _copy(answer, trial)
    return value, best


@internal_borrowing
def _copy(kept: OrderResult, changed: OrderResult) -> None:
    for k in range(kept.order.size):
        changed.order[k] = kept.order[k]
        changed.starts[k] = kept.starts[k]
    for u in range(kept.nodes.size):
        changed.nodes[u] = kept.nodes[u]
