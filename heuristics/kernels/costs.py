"""The jobs that are placed, the objectives of their starts, and the penalty of schedules that break limits on objectives."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...models.compiled import compiled, internal
from .by_address import by_address
from .earnings import Ledger, profit
from .profile import Floats, Ints

Bools = NDArray[np.bool_]
EXCESS, LATE, LAST_END, EARNINGS = 0, 1, 2, 3  # modes of ``Costs``


@by_address
class Jobs(NamedTuple):
    """Arrays over jobs and over start windows; times in seconds.

    Job j may start in [lo[w], hi[w]] for the windows w of its group, from release[j] to latest[j].

    Parameters
    ----------
    release
        Earliest start, shape (jobs,).
    latest
        Latest start, shape (jobs,).
    duration
        Duration, shape (jobs,).
    units
        Number of units, shape (jobs,).
    request
        Amounts per unit, shape (jobs, resources).
    first_unit
        Index of the first unit of each job in arrays over all units, shape (jobs + 1,).
    kind
        Number of the kind of each job, shape (jobs,): jobs of one kind have similar units, durations and requests.
    group
        Group of start windows of each job, shape (jobs,).
    first_window
        Index of the first window of each group, shape (groups + 1,).
    lo, hi
        First and last start of each window, shape (windows,).
    """

    release: Ints
    latest: Ints
    duration: Ints
    units: Ints
    request: Ints
    first_unit: Ints
    kind: Ints
    group: Ints
    first_window: Ints
    lo: Ints
    hi: Ints


@by_address
class Bounds(NamedTuple):
    """Limits on other objectives, a row each; see ``Costs`` for the modes.

    Parameters
    ----------
    mode
        EXCESS, LATE or LAST_END, shape (limits,).
    weight, grace
        Weight and waiting time without cost of each job, shape (limits, jobs).
    constant
        Constant part of each cost, shape (limits,).
    most
        The greatest cost, shape (limits,).
    scale
        What the excess over ``most`` is divided by, shape (limits,).
    penalty
        The penalty of a schedule that breaks limits is ``penalty * (1 + sum of the relative excesses)``. It is a million
        times as large as the greatest absolute value of the objective, so that each schedule that keeps the limits is
        better than any other one, and of the others that with the least excess (within 1e-6) is the best.
    """

    mode: Ints
    weight: Floats
    grace: Ints
    constant: Floats
    most: Floats
    scale: Floats
    penalty: float


@by_address
class Costs(NamedTuple):
    """An objective of the starts, to be minimized, with wait = start - submit.

    EXCESS: sum_j weight[j] * max(0, wait[j] - grace[j]) + constant. LATE: number of jobs with wait[j] > grace[j].
    LAST_END: the last end, at least ``constant``. EARNINGS: minus the profit by the ledger, which is no sum over jobs.

    Parameters
    ----------
    mode
        EXCESS, LATE, LAST_END or EARNINGS.
    submit
        Submit time of each job in seconds, shape (jobs,).
    weight
        Weight of each job, shape (jobs,).
    grace
        Waiting time without cost in seconds, shape (jobs,).
    constant
        Constant part of the objective.
    ledger
        Prices and powers for EARNINGS.
    may_postpone
        Whether a job may be left without a start, shape (jobs,).
    bounds
        Limits on other objectives; without rows for EARNINGS.
    """

    mode: int
    submit: Ints
    weight: Floats
    grace: Ints
    constant: float
    ledger: Ledger
    may_postpone: Bools
    bounds: Bounds


@internal
def cost(costs: Costs, jobs: Jobs, j: int, start: int) -> float:
    """Return the part of one job in the objective, or its end for LAST_END.

    Parameters
    ----------
    costs
        The objective; for EARNINGS the result has no meaning.
    jobs
        The jobs.
    j
        Index of the job.
    start
        Start in seconds.
    """
    wait = start - costs.submit[j]
    if costs.mode == EXCESS:
        return float(costs.weight[j] * max(0, wait - costs.grace[j]))
    if costs.mode == LATE:
        return 1.0 if wait > costs.grace[j] else 0.0
    return float(start + jobs.duration[j])


@internal
def together(costs: Costs, some: float, one: float) -> float:
    """Return the cost of some jobs and one more, by their costs."""
    return max(some, one) if costs.mode == LAST_END else some + one


@internal
def penalty(costs: Costs, jobs: Jobs, starts: Ints) -> float:
    """Return the penalty of the starts of all jobs (seconds, shape (jobs,)); 0 if they keep all limits."""
    b = costs.bounds
    excess = 0.0
    for k in range(b.mode.size):
        total = b.constant[k]
        for j in range(starts.size):
            wait = starts[j] - costs.submit[j]
            if b.mode[k] == EXCESS:
                total += b.weight[k, j] * max(0, wait - b.grace[k, j])
            elif b.mode[k] == LATE:
                total += 1.0 if wait > b.grace[k, j] else 0.0
            else:
                total = max(total, float(starts[j] + jobs.duration[j]))
        if total > b.most[k]:
            excess += (total - b.most[k]) / b.scale[k]
    return b.penalty * (1.0 + excess) if excess > 0.0 else 0.0


@compiled
def objective(costs: Costs, jobs: Jobs, starts: Ints) -> float:
    """Return the objective of all starts (seconds, shape (jobs,)), to be minimized, with the penalty for broken limits."""
    if costs.mode == EARNINGS:
        return -profit(costs.ledger, jobs.duration, starts, np.empty(costs.ledger.euro_per_joule.size, np.float64))
    total = costs.constant
    for j in range(starts.size):
        one = cost(costs, jobs, j, starts[j])
        total = max(total, one) if costs.mode == LAST_END else total + one
    return total + penalty(costs, jobs, starts)


@compiled
def limits(jobs: Jobs, costs: Costs, order: Ints, starts: Ints, bound: Ints, i: int, rest: Floats) -> float:
    """Return the cost of ``order[:i]``; set ``rest[k]`` to a lower bound of the cost of ``order[k:]``."""
    n = order.size
    rest[n] = -np.inf if costs.mode == LAST_END else 0.0
    for k in range(n - 1, i, -1):
        j = order[k]
        rest[k] = together(costs, rest[k + 1], cost(costs, jobs, j, max(jobs.release[j], bound[j])))
    spent = costs.constant
    for k in range(i):
        spent = together(costs, spent, cost(costs, jobs, order[k], starts[order[k]]))
    return spent
