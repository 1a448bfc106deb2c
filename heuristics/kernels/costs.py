"""The jobs that are placed, the objectives of their starts, and the penalty of schedules that break limits on objectives."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...models import Profit
from ...models.array_types import Bools, Floats, Ints
from ...models.compiled import borrowing, by_address, compiled, internal, internal_borrowing
from ...models.profit.problem import JOULES
from .sorting import sort_places

EXCESS = 0  # modes of ``Costs``
LATE = 1
LAST_END = 2
EARNINGS = 3


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
        Number of units, of a heterogeneous job those of its first chunk, shape (jobs,).
    request
        Amounts per unit, of the first chunk, shape (jobs, resources).
    first_unit
        Index of the first unit of each job in arrays over all units, shape (jobs + 1,); chunk after chunk.
    first_further
        Index of the first further chunk of each job, shape (jobs + 1,).
    further_units, further_request
        Number of units, and amounts per unit, of the further chunks; shapes (chunks,) and (chunks, resources).
    kind
        Number of the kind of each job, shape (jobs,): jobs of one kind have similar units, durations and requests.
    group
        Group of start windows of each job, shape (jobs,).
    first_window
        Index of the first window of each group, shape (groups + 1,).
    lo, hi
        First and last start of each window, shape (windows,).
    node_set
        The row of ``Machine.allowed`` of each job, shape (jobs,).
    per_node
        The most units of each job on one node, ``NEVER`` without such a limit, shape (jobs,).
    licences
        What each job holds of the licences of the machine, shape (jobs, licences).
    """

    release: Ints
    latest: Ints
    duration: Ints
    units: Ints
    request: Ints
    first_unit: Ints
    first_further: Ints
    further_units: Ints
    further_request: Ints
    kind: Ints
    group: Ints
    first_window: Ints
    lo: Ints
    hi: Ints
    node_set: Ints
    per_node: Ints
    licences: Ints


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
class Over(NamedTuple):
    """The cost of the use of the machine above a desired profile, a row for each resource; amounts in thousandths.

    Parameters
    ----------
    price
        Cost of a thousandth of an amount above the profile for one second.
    first
        First step of each row, shape (rows + 1,); the last entry is the number of steps.
    time
        The time in seconds from which each step holds, increasing in a row, shape (steps,).
    level
        What the jobs may use without cost, shape (steps,).
    demand
        What each job uses, shape (rows, jobs).
    """

    price: float
    first: Ints
    time: Ints
    level: Ints
    demand: Ints


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
    over
        Cost of the use above a desired profile, which is added to the objective; without rows for EARNINGS.
    """

    mode: int
    submit: Ints
    weight: Floats
    grace: Ints
    constant: float
    ledger: Ledger
    may_postpone: Bools
    bounds: Bounds
    over: Over


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
def penalized(costs: Costs) -> bool:
    """Return whether ``penalty`` can be above 0."""
    return bool(costs.bounds.mode.size > 0 or costs.over.demand.shape[0] > 0)


@internal
def over_cost(o: Over, jobs: Jobs, starts: Ints) -> float:
    """Return the cost of the use above the profile of the starts of all jobs (seconds, shape (jobs,))."""
    n = starts.size
    if o.demand.shape[0] == 0:
        return 0.0
    time = np.empty(2 * n, np.float64)
    order = np.empty(2 * n, np.int64)
    for j in range(n):
        time[j], time[n + j] = starts[j], starts[j] + jobs.duration[j]
    sort_places(time, 2 * n, order)
    total = 0.0
    for row in range(o.demand.shape[0]):
        used = 0
        k = o.first[row]
        last = o.first[row + 1] - 1
        t = o.time[k]
        for e in range(2 * n + 1):  # after the last event running jobs may still be above the profile
            to = np.int64(time[order[e]]) if e < 2 * n else max(t, o.time[last])
            while t < to:
                end = to if k == last else min(to, o.time[k + 1])
                total += float(max(0, used - o.level[k])) * (end - t)
                t = end
                if k < last and t == o.time[k + 1]:
                    k += 1
            if e < 2 * n:
                j = order[e]
                used += o.demand[row, j] if j < n else -o.demand[row, j - n]
    return o.price * total


@internal
def penalty(costs: Costs, jobs: Jobs, starts: Ints) -> float:
    """Return what is added to the cost of the starts of all jobs (seconds, shape (jobs,)).

    It is the penalty of broken limits, 0 if all are kept, and the cost of the use above a desired profile.
    """
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
    broken = b.penalty * (1.0 + excess) if excess > 0.0 else 0.0
    return broken + over_cost(costs.over, jobs, starts)


@compiled
def objective(costs: Costs, jobs: Jobs, starts: Ints) -> float:
    """Return the objective of all starts (seconds, shape (jobs,)), to be minimized, with ``penalty``."""
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


# --- Profit of a schedule: earnings of the jobs minus energy costs, per segment; ``Profit.objective`` is the definition.
#
# profit = sum_j run(j) * gain[j]
#          - sum_s price[s] * (sum_j watts[j] * run(j, s) + cooling_s(mean power in s) * length(s)),
#
# where run(j, s) is the time in seconds that job j runs in segment s, and cooling_s is a piecewise linear curve. The jobs
# that run at the begin of the problem are constant parts of the sums.


@by_address
class Ledger(NamedTuple):
    """Prices, cooling curves and jobs of a profit problem. Times in seconds, power in watts, money in euro.

    Parameters
    ----------
    bound
        Ends of the segments, shape (segments + 1,): segment s is [bound[s], bound[s + 1]).
    euro_per_joule
        Energy price of each segment, shape (segments,).
    point
        Index of the first point of each segment's cooling curve, shape (segments + 1,).
    it, cooling
        Points of all curves, shape (points,): mean power of the jobs, and cooling power for it.
    gain
        What each job earns per second, shape (jobs,).
    watts
        Power of each job, shape (jobs,).
    running_joules
        Energy of the running jobs in each segment in joules, shape (segments,).
    running_euro
        What the running jobs earn, less the cost of their energy without cooling.
    """

    bound: Ints
    euro_per_joule: Floats
    point: Ints
    it: Floats
    cooling: Floats
    gain: Floats
    watts: Floats
    running_joules: Floats
    running_euro: float


def ledger(problem: Profit | None = None) -> Ledger:
    """Return the ledger of a problem; an empty one for None."""
    if problem is None:
        none = np.zeros(0)
        return Ledger(np.zeros(1, np.int64), none, np.zeros(1, np.int64), none, none, none, none, none, 0.0)
    segments = problem.segments
    points = [p for s in segments for p in s.curve]
    return Ledger(
        bound=np.array([segments[0].begin, *(s.end for s in segments)], np.int64),
        euro_per_joule=np.array([s.energy_price for s in segments], float) / JOULES,
        point=np.cumsum([0, *(len(s.curve) for s in segments)]).astype(np.int64),
        it=np.array([x for x, _ in points], float),
        cooling=np.array([y for _, y in points], float),
        gain=problem.price * problem.cores / 3600,
        watts=problem.watts.copy(),
        running_joules=problem.running.joules.copy(),
        running_euro=problem.running.euro,
    )


@internal_borrowing
def first_segment(bound: Ints, t: int) -> int:
    """Return the segment of time t: 0 before the first one, the number of segments after the last one."""
    low = 0
    high = bound.size - 1
    while low < high:
        middle = (low + high) // 2
        if bound[middle + 1] > t:
            high = middle
        else:
            low = middle + 1
    return low


@internal_borrowing
def book(ledger: Ledger, j: int, start: int, end: int, sign: float, joules: Floats) -> float:
    """Add the energy of job j to the segments (sign 1) or subtract it (-1); return its earnings less energy cost.

    Parameters
    ----------
    ledger
        Prices and powers.
    j
        Index of the job.
    start, end
        Times in seconds.
    sign
        1.0 or -1.0.
    joules
        Energy of the jobs per segment in joules, shape (segments,); changed in place.
    """
    earned = 0.0
    s = first_segment(ledger.bound, start)
    while s < joules.size and ledger.bound[s] < end:
        ran = min(end, ledger.bound[s + 1]) - max(start, ledger.bound[s])
        if ran > 0:
            joules[s] += sign * ran * ledger.watts[j]
            earned += sign * ran * (ledger.gain[j] - ledger.watts[j] * ledger.euro_per_joule[s])
        s += 1
    return earned


@internal_borrowing
def cooling_cost(ledger: Ledger, s: int, joules: float) -> float:
    """Return the cooling cost in euro of segment s if the jobs use ``joules`` in it."""
    length = ledger.bound[s + 1] - ledger.bound[s]
    mean = joules / length
    k = ledger.point[s] + 1
    last = ledger.point[s + 1] - 1
    while k < last and ledger.it[k] < mean:
        k += 1
    x = ledger.it[k - 1]
    y = ledger.cooling[k - 1]
    slope = (ledger.cooling[k] - y) / (ledger.it[k] - x)
    return float((y + slope * (mean - x)) * length * ledger.euro_per_joule[s])


@internal_borrowing
def cooling_costs(ledger: Ledger, joules: Floats) -> float:
    """Return the cooling cost of all segments in euro; ``joules`` has the shape (segments,)."""
    total = 0.0
    for s in range(joules.size):
        total += cooling_cost(ledger, s, joules[s])
    return total


@borrowing
def profit(ledger: Ledger, duration: Ints, starts: Ints, joules: Floats) -> float:
    """Return the profit in euro of the running jobs and of the jobs that have a start (not below 0).

    Parameters
    ----------
    ledger
        Prices and powers.
    duration
        Duration of each job in seconds, shape (jobs,).
    starts
        Start of each job in seconds, shape (jobs,); below 0: no start.
    joules
        Output: energy of the jobs per segment in joules, shape (segments,).
    """
    for s in range(joules.size):
        joules[s] = ledger.running_joules[s]
    earned = ledger.running_euro
    for j in range(starts.size):
        if starts[j] >= 0:
            earned += book(ledger, j, starts[j], starts[j] + duration[j], 1.0, joules)
    return earned - cooling_costs(ledger, joules)


@borrowing
def profits(ledger: Ledger, duration: Ints, starts: Ints, joules: Floats, found: Floats) -> None:
    """Write the profit in euro of each segment to ``found``, without what the running jobs earn, shape (segments,).

    Parameters
    ----------
    ledger, duration, starts, joules
        As for ``profit``.
    found
        Output: the profit of each segment in euro, shape (segments,).
    """
    for s in range(joules.size):
        joules[s], found[s] = ledger.running_joules[s], 0.0
    for j in range(starts.size):
        s = first_segment(ledger.bound, starts[j])
        end = starts[j] + duration[j] if starts[j] >= 0 else -1
        while s < joules.size and ledger.bound[s] < end:
            ran = min(end, ledger.bound[s + 1]) - max(starts[j], ledger.bound[s])
            if ran > 0:
                joules[s] += ran * ledger.watts[j]
                found[s] += ran * ledger.gain[j]
            s += 1
    for s in range(joules.size):
        found[s] -= joules[s] * ledger.euro_per_joule[s] + cooling_cost(ledger, s, joules[s])
