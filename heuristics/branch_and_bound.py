"""The method ``branch-and-bound``: dispatching problems with few jobs are solved to proven optimality."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import numpy as np

from ..backends.result import Result
from ..models import Dispatch, Schedule
from ..models.arguments import rational
from ..models.array_types import Ints
from ..models.dispatch.arrays import column, request_rows
from ..models.long_calls import Deadline
from .kernels.branch_and_bound import (
    DONE,
    FAR,
    FULL,
    LEAF,
    NONE,
    Case,
    Now,
    Open,
    Tables,
    Visited,
    branch,
    put_running,
    root_bound,
)
from .lagrangian import Items, Relaxation, WholePrices, is_sum_over_jobs, whole_weight
from .list_scheduling import tiny
from .lns.search import lns
from .lns.search import warm_up as warm_up_lns
from .search_parts import Clock, Incumbents, OnIncumbent, compiled_first

# --- Prices of a relaxation as tables over time, in whole multiples of 1 / Q.
#
# The functions of time are linear between a few *corners*: the grid points of the prices, those less the duration of the job,
# the time up to which a start is free, the ends of its windows. So an entry is computed from the corners behind it, and the
# size of the tables does not depend on how far apart these are.

MOST = 20_000_000  # entries, of 8 bytes


def tables_of(items: Items, prices: WholePrices) -> Tables:
    """Return the tables of prices, with as small steps as ``MOST`` allows.

    An entry bounds all times up to the next one: the least cost of a start does not fall with time, and no price is
    negative.
    """
    now = int(prices.points[0])
    points = prices.points - now
    step, time = _times(items, now, int(points[-1]) + 1)
    paid = np.empty((items.duration.size, time.size), np.int64)
    least = np.empty((items.jobs, time.size), np.int64)
    for i in range(items.duration.size):
        until = _Sum(points, prices.price[i])
        paid[i] = until(time)
        if i < items.jobs:
            least[i] = _least(items, i, prices.shift, now, until, time)
    together = _Sum(points, prices.together)
    return Tables(step, time, paid, least, together.total - together(time))


def _times(items: Items, now: int, size: int) -> tuple[int, Ints]:
    """Return the step in seconds, 0 if it is not constant, and the times of the entries, after now.

    All that jobs do happens within the sum of all durations after the begin of a window; in the other times there are no
    entries.
    """
    reach = int(items.duration.sum()) + 1
    begins = np.unique(np.clip(items.low - now, 0, size - 1))
    firsts = [0]
    ends = [reach]
    for begin in begins.tolist():
        if begin > ends[-1]:
            firsts.append(begin)
            ends.append(begin + reach)
        else:
            ends[-1] = max(ends[-1], begin + reach)
    ends = [min(end, size) for end in ends]
    if len(firsts) == 1 and size <= 2 * ends[0]:
        ends[0] = size
    entries = sum(end - first for first, end in zip(firsts, ends, strict=True))
    step = max(1, math.ceil(entries * (items.duration.size + items.jobs) / MOST))
    if ends == [size]:
        return step, np.arange(0, size, step)
    parts = [np.arange(first, end, step) for first, end in zip(firsts, ends, strict=True)]
    return 0, np.unique(np.concatenate([*parts, [size - 1]]))


class _Sum:
    """What a price per second adds up to from the first point to a time; nothing is paid after the last point."""

    def __init__(self, points: Ints, price: Ints) -> None:
        self.points = points
        self.price = price
        self.paid = np.concatenate([[0], np.cumsum(price * np.diff(points))])
        self.total = int(self.paid[-1])

    def __call__(self, time: Ints) -> Ints:
        inside = np.minimum(time, self.points[-1])
        cell = np.clip(np.searchsorted(self.points, inside, side="right") - 1, 0, self.price.size - 1)
        cost: Ints = self.paid[cell] + self.price[cell] * (inside - self.points[cell])
        return cost


def _least(items: Items, j: int, shift: int, now: int, until: _Sum, time: Ints) -> Ints:
    """Return the least cost with prices of job j from each time on; ``until``: what it pays up to each second."""
    last = int(until.points[-1])
    windows = slice(items.first[j], items.first[j + 1])
    low = items.low[windows] - now
    high = items.high[windows] - now
    free = int(items.free[j]) - now
    corners = [until.points, until.points - items.duration[j], low, high, np.array([free, free + 1])]
    start = np.unique(np.concatenate([time, *corners]))
    start = start[(start >= 0) & (start <= last)]
    cost = _cost(items, j, shift, start + now) + until(start + items.duration[j]) - until(start)
    window = np.searchsorted(low, start, side="right") - 1
    cost[(window < 0) | (start > high[np.maximum(window, 0)])] = FAR
    behind = FAR  # the first start after the last point, where no price is paid
    later = np.maximum(low, last + 1)
    if (later <= high).any():
        behind = int(_cost(items, j, shift, later[later <= high][:1] + now)[0])
    cost[-1] = min(int(cost[-1]), behind)
    from_here = np.minimum.accumulate(cost[::-1])[::-1]
    least: Ints = from_here[np.searchsorted(start, time)]
    return least


def _cost(items: Items, j: int, shift: int, start: Ints) -> Ints:
    over = start - items.free[j]
    if items.late:
        one: Ints = (over > 0) * np.int64(1 << shift)
        return one
    cost: Ints = np.maximum(0, over) * whole_weight(float(items.weight[j]), shift)
    return cost


# --- The arrays of a dispatching problem for the branch and bound.

JOBS = 64  # bits of the set of started jobs
PILE = 50_000  # placements
PLACES = 1 << 21  # visited states, of 24 bytes


def can_branch(problem: Dispatch) -> bool:
    """Return whether the branch and bound is for a problem: its objective, its jobs, nothing beside them."""
    plain = not problem.limits and problem.desired is None and all(len(j.parts) == 1 for j in problem.jobs)
    lasting = all(problem.duration(j) > 0 for j in problem.jobs)
    beside = [*problem.jobs, *(r.job for r in problem.running)]
    plain = plain and not any(j.whole_nodes or j.licences for j in beside)
    return plain and lasting and len(problem.jobs) <= JOBS and is_sum_over_jobs(problem)


def case_of(problem: Dispatch, items: Items, shift: int) -> Case:
    """Return the arrays of a problem, with costs in multiples of ``2 ** -shift``."""
    running = [r.job for r in problem.running if r.end > problem.now]
    members = [*problem.jobs, *running]
    capacity = _capacity(problem)
    request = column(x for row in request_rows(members, problem.platform.resources) for x in row)
    request = request.reshape(len(members), capacity.shape[1])
    units = column(j.units for j in members)
    weight = _whole_weights(items, shift)
    windows = slice(0, int(items.first[items.jobs]))
    case = Case(
        items.jobs,
        np.argsort(-_urgency(items, units, request, capacity), kind="stable"),
        items.duration,
        units,
        request,
        items.first[: items.jobs + 1].copy(),
        items.low[windows] - problem.now,
        items.high[windows] - problem.now,
        weight,
        items.free[: items.jobs] - problem.now,
        items.late,
        np.full(items.jobs, NONE),
        column((problem.node_classes.of_node[name] for name in problem.platform.nodes), len(capacity)),
        _most(problem),
    )
    return case._replace(twin=_twins(case))


def _most(problem: Dispatch) -> Ints:
    """Return the most units of each job on each node by its own data, shape (jobs, nodes)."""
    sets = problem.node_sets
    units = column(j.units if j.per_node is None else min(j.units, j.per_node) for j in problem.jobs)
    most: Ints = units[:, None] * sets.sets[sets.number]
    return most


def _whole_weights(items: Items, shift: int) -> Ints:
    if items.late:
        return np.full(items.jobs, 1 << shift, np.int64)
    return column(whole_weight(float(w), shift) for w in items.weight[: items.jobs])


def _urgency(items: Items, units: Ints, request: Ints, capacity: Ints) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the cost of a second of delay over the share of the machine, times its seconds, that a job takes."""
    share = (request / np.maximum(1, capacity.sum(axis=0))).max(axis=1, initial=0.0) * units + 1e-9
    if items.late:
        weight = np.ones(items.jobs)
    else:
        weight = items.weight[: items.jobs]
    urgency: np.ndarray[tuple[int], np.dtype[np.float64]] = weight / (share * items.duration)[: items.jobs]
    return urgency


def _twins(case: Case) -> Ints:
    """Return for each job an earlier one that may start first without loss: equal but for a submit time that is over."""
    last: dict[tuple[object, ...], int] = {}
    twins = np.full(case.jobs, NONE)
    for j in range(case.jobs):
        windows = slice(case.first[j], case.first[j + 1])
        if not case.late:
            free = max(0, int(case.free[j]))
        else:
            free = int(case.free[j])
        spans = (tuple(case.low[windows].tolist()), tuple(case.high[windows].tolist()))
        own = (tuple(case.request[j]), tuple(case.most[j]))
        key = (*spans, int(case.duration[j]), int(case.units[j]), *own, int(case.weight[j]), free)
        twins[j] = last.get(key, NONE)
        last[key] = j
    return twins


def _capacity(problem: Dispatch) -> Ints:
    amounts = list(problem.platform.capacity.values())
    return np.array(amounts, np.int64).reshape(len(amounts), len(problem.platform.resources))


def first_state(problem: Dispatch, case: Case) -> Now:
    """Return the state at the time of the problem: the running jobs run, no job has a start."""
    capacity = _capacity(problem)
    items = case.duration.size
    nodes = {name: n for n, name in enumerate(problem.platform.nodes)}
    now = Now(
        np.full(items, NONE),
        np.full(items, NONE),
        np.zeros((items, len(nodes)), np.int64),
        capacity.copy(),
        capacity,
        np.zeros((len(nodes), 2), np.uint64),
        np.zeros((items, 2), np.uint64),
        np.zeros(1, np.uint64),
        np.zeros(len(nodes), np.int64),
    )
    for i, r in enumerate((r for r in problem.running if r.end > problem.now), case.jobs):
        now.start[i], now.end[i] = 0, case.duration[i]
        for name, units in r.nodes.items():
            now.put[i, nodes[name]] += units
    put_running(case, now)
    return now


def first_decision(case: Case, now: Now, bound: int, limit: int) -> Open:
    """Return the open decisions at the begin: that at the time 0."""
    windows = int(case.first[-1])
    size = (case.duration.size + windows + 2) * (case.jobs + 1) + 2
    time, following, stage, bound_of, cost, left = np.zeros((6, size), np.int64)
    bound_of[0] = bound
    return Open(
        np.zeros(1, np.int64),
        time,
        following,
        stage,
        bound_of,
        cost,
        left,
        np.zeros((size, *now.free.shape), np.int64),
        np.zeros((PILE, case.kind.size), np.int64),
        np.zeros(1, np.int64),
        np.array([limit]),
        np.zeros(1, np.int64),
    )


def no_visits() -> Visited:
    """Return an empty table of visited states."""
    return Visited(np.zeros((PLACES, 2), np.uint64), np.zeros(PLACES, np.int64))


def schedule_of(problem: Dispatch, case: Case, now: Now) -> Schedule:
    """Return the present schedule."""
    names = list(problem.platform.nodes)
    starts = {j.id: problem.now + int(now.start[k]) for k, j in enumerate(problem.jobs)}
    nodes = {
        j.id: {names[n]: int(now.put[k, n]) for n in np.flatnonzero(now.put[k])} for k, j in enumerate(problem.jobs)
    }
    return Schedule(starts, nodes)


def exact_cost(items: Items, problem: Dispatch, schedule: Schedule) -> Fraction:
    """Return the cost of a schedule without rounding."""
    over = [schedule.start[j.id] - int(items.free[k]) for k, j in enumerate(problem.jobs)]
    constant = Fraction(rational(items.constant))
    if items.late:
        return constant + sum(x > 0 for x in over)
    return constant + sum(Fraction(rational(float(w))) * max(0, x) for w, x in zip(items.weight, over, strict=False))


LNS_SHARE = 0.1  # of the time limit
ROUNDS = 4  # of lns for each job
RELAXATION_SHARE = 0.4  # of the time limit, LNS included


@compiled_first("branch_and_bound:warm_up")
def branch_and_bound(
    problem: Dispatch,
    *,
    time_limit: float | None = None,
    warm_start: Schedule | None = None,
    on_incumbent: OnIncumbent | None = None,
    seed: int = 0,
) -> Result:
    """Find the best schedule and prove that there is no better one.

    Parameters
    ----------
    problem
        A dispatching problem with at most 64 jobs without chunks, an objective that is a sum over jobs, no limits, and no
        desired use.
    time_limit
        Seconds; None: until the proof is complete.
    warm_start
        A schedule to start from; None: that of ``lns``.
    on_incumbent
        Called with each Incumbent; return False to stop.
    seed
        Seed of ``lns``.

    Returns
    -------
    Result
        If the time limit ends the search, its bound is that of the relaxation. Its ``details``: those of
        ``lagrangian``, and ``decisions``, the number of decisions that were looked at.

    Raises
    ------
    NoSchedule
        If no order leads to a schedule, and there is no start.
    """
    seen = Incumbents(problem, "branch-and-bound", on_incumbent, warm_start, Deadline(time_limit))
    relaxation = Relaxation(problem, seen, seen.deadline.share(RELAXATION_SHARE))
    with relaxation.clock:
        if relaxation.begin() and problem.jobs:
            _improve_by_lns(relaxation, seed)
            relaxation.improve()
    with Clock(seen.deadline) as clock:
        if relaxation.prices is not None and not relaxation.proven and not seen.stopped:
            _Branching(relaxation, clock).run()
    return relaxation.result()


def _improve_by_lns(relaxation: Relaxation, seed: int) -> None:
    """Improve the first schedule: its starts and ends become grid points, so that it matters for the bound as well."""
    problem = relaxation.problem
    seconds = relaxation.seen.deadline.share(LNS_SHARE).limit
    rounds = ROUNDS * len(problem.jobs)
    improved = lns(problem, time_limit=seconds, warm_start=relaxation.schedule, seed=seed, threads=1, rounds=rounds)
    if improved.schedule is not None:
        relaxation.take(improved.schedule)


class _Branching:
    """The search over partial schedules, from the best schedule and the prices of a relaxation."""

    def __init__(self, relaxation: Relaxation, clock: Clock) -> None:
        assert relaxation.prices is not None
        self.relaxation = relaxation
        self.clock = clock
        self.problem = relaxation.problem
        self.items = relaxation.items
        self.shift = relaxation.prices.shift
        self.case = case_of(self.problem, self.items, self.shift)
        self.tables = tables_of(self.items, relaxation.prices)
        self.now = first_state(self.problem, self.case)
        self.best = exact_cost(self.items, self.problem, relaxation.schedule)
        root = root_bound(self.case, self.now, self.tables)
        self.stack = first_decision(self.case, self.now, root, self._limit())

    def run(self) -> None:
        """Search until the proof is complete, the time is over, or an array is full."""
        ended = LEAF
        seen = no_visits()
        while ended not in (DONE, FULL) and not (self.clock.over or self.relaxation.seen.stopped):
            ended = branch(self.case, self.now, self.tables, self.stack, seen, self.clock.stop)
            if ended == LEAF:
                self._keep()
        self.relaxation.details["decisions"] = int(self.stack.visits[0])
        if ended == DONE:
            self.relaxation.bound = self.best

    def _keep(self) -> None:
        """Keep the present schedule if it is better; the cost of the kernel is rounded down."""
        schedule = schedule_of(self.problem, self.case, self.now)
        cost = exact_cost(self.items, self.problem, schedule)
        if cost < self.best:
            assert not self.problem.verify(schedule)
            self.best = cost
            self.relaxation.take(schedule)
        self.stack.limit[0] = self._limit()

    def _limit(self) -> int:
        """Return the bound from which on a completion costs more than the best schedule less the unit of all costs."""
        aim = self.best - Fraction(rational(self.items.constant)) - self.relaxation.unit
        return math.floor(aim * (1 << self.shift)) + 1


@cache
def warm_up() -> None:
    """Compile the kernels; those of the search over partial schedules also where the relaxation proves the optimum."""
    warm_up_lns()
    problem = tiny()
    relaxation = Relaxation(problem, Incumbents(problem, "branch-and-bound", None, None, Deadline()), Deadline())
    with relaxation.clock:
        relaxation.begin()
        _improve_by_lns(relaxation, seed=0)
        relaxation.improve()
    with Clock(Deadline()) as clock:
        _Branching(relaxation, clock).run()
