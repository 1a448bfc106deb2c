"""List scheduling: jobs in a given order, each at its earliest feasible start; and searches over orders [Bridi2018, 6.6 and 6.7].

An allocation is a schedule near given starts, for example the starts of a relaxation that ignores single nodes:

1. Order the jobs by their given starts.
2. Place them one by one at the earliest feasible start that is not before the given start.
3. Place them in the same order without that bound.
4. Keep the better schedule.

``Allocator.repair`` repeats this with other orders (ties broken by size, area, duration or submit time; by the middle
or the end of a job) and other node choices, then moves single jobs in the best order (``move_jobs``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np

from ..backends.result import Result
from ..models import Dispatch, Encoding, Job, NodeGroup, Platform, Profit, Queue, Schedule
from ..models.arguments import NonNegative, checked
from ..models.array_types import Floats, Ints
from ..models.compiled import compile_for
from ..models.dispatch.objectives import broken_limits
from ..models.kind import WithProblem, given_problem
from ..models.long_calls import Deadline
from ..models.schedule_arrays import POSTPONED, Flat, ScheduleArrays
from ..models.words import hint, how_many, with_short_repr
from .arrays import Arrays, Placement, arrays, within_profile
from .errors import ConstraintBroken, CriterionUnusable, LimitsBroken, NoSchedule, NothingFound, UnknownOrder
from .kernels import placement as kernels
from .kernels.aggregate import new_aggregate, take
from .kernels.costs import objective, profits
from .kernels.earliest import choose, new_scratch
from .kernels.orders import Mover, OrderResult
from .kernels.placement import put, put_counted
from .kernels.profile import NEVER, new_profile
from .search_parts import SAME, Clock, Incumbents, KernelStopped, OnIncumbent, compiled_first, keeping_limits, running

# --- The criteria by which jobs are ordered before they are placed one by one.
#
# Eleven of them are those of [Bridi2018, 6.7.1]. Three more use the area of a job in nodes, which counts each unit as one
# node, and the declared cost of its wait.


def _earliest(a: Arrays) -> Floats:
    """Return the earliest possible start of each job in seconds: from its release time and its start windows."""
    j = a.jobs
    earliest = np.empty(a.jobs.release.size)
    for k, (release, g) in enumerate(zip(j.release.tolist(), j.group.tolist(), strict=True)):
        first = j.first_window[g]
        end = j.first_window[g + 1]
        w = first + np.searchsorted(j.hi[first:end], release)
        if w < end:
            earliest[k] = max(release, j.lo[w])
        else:
            earliest[k] = np.inf
    return earliest


def _latest(a: Arrays) -> Floats:
    """Return the latest start of each job in seconds: deadline - duration, or horizon - duration without a deadline."""
    last = a.dispatch.horizon - a.jobs.duration
    return np.minimum(last, a.jobs.latest).astype(float)


def _power(a: Arrays) -> Floats:
    if a.power is None:
        raise CriterionUnusable("the power of the jobs is not known")
    return a.power


def _power_per_profit(a: Arrays) -> Floats:
    if a.profit is None:
        raise CriterionUnusable("the profit of the jobs is not known")
    with np.errstate(divide="ignore", invalid="ignore"):  # 0 / 0: a job without power and profit goes last
        return _power(a) / a.profit


def _node_area(a: Arrays) -> Floats:
    """Return duration * units of each job in unit-seconds, of all chunks."""
    return (a.jobs.duration * np.diff(a.jobs.first_unit)).astype(float)


def _weighted_area(a: Arrays) -> Floats:
    """Return node area / weight: Smith's rule for jobs that occupy areas; infinite for jobs whose wait costs nothing.

    The weight is the cost of a second of wait (``Costs.weight``); 1 for objectives without weights.
    """
    with np.errstate(divide="ignore"):
        return np.where(a.costs.weight > 0, np.maximum(1.0, _node_area(a)) / a.costs.weight, np.inf)


def _submit_weighted_area(a: Arrays) -> Floats:
    """Return the time from which waiting costs + a share of the busy time * weighted area / its mean, in seconds.

    The busy time is the area of all jobs divided by the number of nodes. ``BUSY_SHARE`` was chosen on generated days.
    """
    weighted = _weighted_area(a)
    finite = weighted[np.isfinite(weighted)]
    busy = float(_node_area(a).sum()) / max(1, a.machine.capacity.shape[0])
    mean = 1.0
    if finite.size:
        mean = float(finite.mean())
    keys: Floats = a.costs.submit + a.costs.grace + BUSY_SHARE * busy * weighted / mean
    return keys


BUSY_SHARE = 0.25

CRITERIA: dict[str, Callable[[Arrays], tuple[Floats | Ints, ...]]] = {
    "submit-weighted-area": lambda a: (_submit_weighted_area(a),),
    "weighted-area": lambda a: (_weighted_area(a),),
    "node-area": lambda a: (_node_area(a),),
    "est": lambda a: (_earliest(a),),
    "duration": lambda a: (a.jobs.duration,),
    "lst": lambda a: (_latest(a),),
    "units": lambda a: (a.jobs.units,),
    "request": lambda a: (a.shares,),
    "total": lambda a: (a.shares * a.jobs.units,),
    "area": lambda a: (a.shares * a.jobs.units * a.jobs.duration,),
    "power": lambda a: (_power(a),),
    "power-per-profit": lambda a: (_power_per_profit(a),),
    "power-per-profit.duration": lambda a: (_power_per_profit(a), a.jobs.duration),
    "power-per-profit.-duration": lambda a: (_power_per_profit(a), -a.jobs.duration),
}
"""Criterion -> keys of the jobs (shape (jobs,)), main key first, then tie-breakers.

``node-area``: duration * units; ``weighted-area``: node area / cost of a second of wait; ``submit-weighted-area``: the
same, with the time from which waiting costs; ``est``: earliest start; ``lst``: latest start (deadline - duration, or horizon - duration); ``request``: sum over
resources of request of a unit / capacity of the platform; ``total``: the same for all units; ``area``: total * duration."""

ORDERINGS: tuple[str, ...] = tuple(sign + name for name in CRITERIA for sign in ("", "-"))


def order_by(arrays: Arrays, order: str | Sequence[str]) -> Ints:
    """Return the indices of the jobs in the given order.

    ``order`` is a criterion, ``-criterion`` (largest key first), or a list of all job ids. The sign changes the main
    key only. Ties: by submit time, then in the problem's order. Raises UnknownOrder for an unknown criterion or an
    incomplete list, CriterionUnusable if the problem lacks the data of the criterion.
    """
    if not isinstance(order, str):
        return _listed(arrays, order)
    name = order.removeprefix("-")
    if name not in CRITERIA:
        raise UnknownOrder(f"there is no ordering criterion {order!r}; {hint(order, ORDERINGS, 'known criteria:')}")
    main, *ties = CRITERIA[name](arrays)
    return np.lexsort((arrays.costs.submit, *reversed(ties), main if name == order else -main))


def _listed(arrays: Arrays, ids: Sequence[str]) -> Ints:
    index = {job.id: j for j, job in enumerate(arrays.problem.jobs)}
    unknown = next((i for i in ids if i not in index), None)
    if unknown is not None:
        raise UnknownOrder(f"the order lists {unknown!r}, which is not a job of the problem")
    indices = np.array([index[i] for i in ids], np.int64)
    if len(set(ids)) != len(ids):
        twice = next(i for k, i in enumerate(ids) if i in set(ids[:k]))
        raise UnknownOrder(f"the order lists job {twice!r} more than once")
    if len(indices) != len(index):
        missing = next(i for i in index if i not in set(ids))
        raise UnknownOrder(f"the order lists {len(indices)} of {how_many(len(index), 'job')}; {missing!r} is missing")
    return indices


# --- Given schedules in the form of the kernels, as starts of searches.


def start_placed(arrays: Arrays, schedule: Schedule) -> ScheduleArrays:
    """Return a feasible schedule of the problem as starts of the jobs and nodes of their units."""
    return Flat(arrays.problem).placed(schedule)


def order_of_starts(starts: Ints) -> Ints:
    """Return the indices of the jobs by their starts, postponed jobs last; ties in the problem's order."""
    return np.argsort(np.where(starts == POSTPONED, NEVER, starts), kind="stable")


# --- The time that a search reserves for the starts of postponed jobs (``models.profit.formulations``).


def reserve_for_postponed(clock: Clock, arrays: Arrays, starts: Ints, nodes: Ints) -> None:
    """Stop the search earlier by the time that ``with_rest`` takes, measured on a first placement.

    Parameters
    ----------
    clock
        The clock of the search.
    arrays
        The arrays of the problem.
    starts
        Start of each job in seconds, shape (jobs,); ``POSTPONED`` for a job without a start.
    nodes
        Node index of each unit, shape (units of all jobs,).
    """
    if (starts == POSTPONED).any():
        conversion = Deadline()
        arrays.schedule(starts, nodes)
        clock.reserve(conversion.elapsed)


# --- First solution: list scheduling in a given order [Bridi2018, 6.6], algorithm 5.
#
# 1. Order the jobs by a criterion (``orders``).
# 2. For each job in this order: find the earliest start, inside its start windows, at which all its units fit for the
#    whole duration beside the jobs placed before.
# 3. Put its units on the nodes with the least free worth at that time (best fit). The worth of a free amount is its share
#    of the platform's capacity times the demand of the jobs for that resource.
# 4. If a job has no feasible start: postpone it if a profit problem allows that, else fail (``NoSchedule``).


class ListScheduler:
    """Places the jobs of one problem in given orders; the base of all searches over orders.

    Parameters
    ----------
    problem
        A dispatching or profit problem, or its arrays.

    Examples
    --------
    >>> scheduler = ListScheduler(problem)                             # doctest: +SKIP
    >>> objective, starts = scheduler.evaluate(scheduler.order("est"))  # doctest: +SKIP
    """

    def __init__(self, problem: Dispatch | Profit | Arrays) -> None:
        if isinstance(problem, Arrays):
            self.arrays = problem
        else:
            self.arrays = arrays(problem)
        self._same = kernels.same_for(self.arrays.machine, self.arrays.jobs)
        self._anytime = np.full(self.arrays.jobs.units.size, -NEVER, np.int64)

    def mover(self) -> Mover:
        """Return the object that moves jobs in orders."""
        return Mover(self.arrays.machine, self.arrays.jobs, self.arrays.costs, self._same)

    def order(self, order: str | Sequence[str]) -> Ints:
        """Return the indices of the jobs in an order given by a criterion or by a list of job ids."""
        return order_by(self.arrays, order)

    def place(self, order: Ints, not_before: Ints | None = None, stop: Ints | None = None) -> tuple[Ints, Ints]:
        """Place the jobs in the given order; return their starts and the nodes of their units.

        Parameters
        ----------
        order
            Indices of the jobs, shape (jobs,).
        not_before
            Earliest start of each job in seconds, shape (jobs,); None: no bound.
        stop
            ``stop`` of a ``Clock``; None: no limit.

        Returns
        -------
        tuple of numpy.ndarray
            Starts in seconds, shape (jobs,), ``POSTPONED`` for postponed jobs; node indices, shape (units of all
            jobs,).

        Raises
        ------
        NoSchedule
            If a job that cannot be postponed finds no start.
        KernelStopped
            If ``stop`` is set before all jobs are placed.
        """
        placement = self.place_within(order, np.inf, not_before, stop)
        assert placement is not None  # nothing exceeds an infinite cost
        return placement

    def place_within(
        self, order: Ints, most: float, not_before: Ints | None = None, stop: Ints | None = None
    ) -> tuple[Ints, Ints] | None:
        """Place the jobs as ``place``, but give up when the cost of the placed jobs exceeds ``most``; then return None.

        Profits, which are no sum over jobs, are never given up.
        """
        a = self.arrays
        starts = np.empty(a.jobs.units.size, np.int64)
        nodes = np.empty(int(a.jobs.first_unit[-1]), np.int64)
        if not_before is None:
            bound = self._anytime
        else:
            bound = not_before
        count = kernels.build(
            a.machine,
            a.jobs,
            self._same,
            a.costs,
            order,
            bound,
            starts,
            nodes,
            running() if stop is None else stop,
            most,
        )
        if count < 0:
            raise KernelStopped
        if count == order.size:
            return starts, nodes
        if starts[order[count]] != kernels.POSTPONED:
            return None
        raise NoSchedule(a.dispatch, a.problem.jobs[int(order[count])])

    def objective(self, starts: Ints) -> float:
        """Return the kernel's objective of the starts, to be minimized; it may differ by rounding.

        With the penalty for broken limits, see ``Arrays.keeps_limits``.
        """
        return float(objective(self.arrays.costs, self.arrays.jobs, starts))

    def evaluate(self, order: Ints, not_before: Ints | None = None) -> tuple[float, Ints]:
        """Place the jobs in the given order; return the objective (to be minimized) and the starts."""
        starts, _ = self.place(order, not_before)
        return self.objective(starts), starts

    def schedule(self, order: Ints, not_before: Ints | None = None) -> Schedule:
        """Place the jobs in the given order; return the schedule."""
        return self.arrays.schedule(*self.place(order, not_before))


@checked(skip=("problem",))
def first_solution(problem: Dispatch | Profit | WithProblem | str, order: str | Sequence[str] = "est") -> Schedule:
    """Return the list schedule of an order: each job at its earliest feasible start.

    Units go to the nodes with the least free worth at the start (an amount's worth is its share of the platform's
    capacity times the demand of the jobs for it); ties: by the order of nodes.

    Parameters
    ----------
    problem
        A dispatching or profit problem, an Instance, or the name of one.
    order
        A criterion (see ``CRITERIA``), ``-criterion`` (largest key first), or a list of all job ids.

    Returns
    -------
    Schedule
        Starts and nodes of all jobs.

    Raises
    ------
    NoSchedule
        If a job with start windows or a deadline finds no start.
    LimitsBroken
        If the schedule breaks a limit on an objective.
    UnknownOrder
        If the criterion is unknown or the list is incomplete.
    CriterionUnusable
        If the problem lacks the data of the criterion.

    References
    ----------
    [Bridi2018, 6.6], algorithm 5.
    """
    p: Dispatch | Profit = given_problem(problem, ("dispatch", "profit"), "first_solution")
    scheduler = ListScheduler(p)
    return keeping_limits(scheduler.arrays.dispatch, scheduler.schedule(scheduler.order(order)))


# --- Multi-search: list schedules of all ordering criteria, ascending and descending; the best is kept [Bridi2018, 6.7.1].
#
# 1. For each criterion, in both directions (``ORDERINGS``: the eleven of the source, and three by the area in nodes):
#    place the jobs in that order (``first_solution``). Skip the ordering if the problem lacks the data of the criterion,
#    if some job finds no start, or if an ordering before gave the same order. Give it up when the placed jobs cost more
#    than the best schedule.
# 2. Compute the objective. If it is better than the best one so far, the schedule is the new incumbent. A schedule that
#    breaks a limit on another objective has a penalty, and is never reported (``kernels.costs.Bounds``).
# 3. With a soft desired profile, do the same within the profile: list schedules alone never delay a job to avoid its cost.
# 4. Stop after the last ordering, at the time limit (not before the first schedule), or when the callback returns False.

WITHIN = ", within the profile"
AFTERWARDS = 2.0  # time to convert and verify the best schedule, relative to the time for making the arrays


@checked(skip=("problem", "warm_start"))
@compiled_first("list_scheduling:warm_up")
def multi_search(
    problem: Dispatch | Profit | WithProblem | str,
    *,
    time_limit: NonNegative | None = None,
    warm_start: Schedule | None = None,
    on_incumbent: OnIncumbent | None = None,
    power: Mapping[str, float] | None = None,
    profit: Mapping[str, float] | None = None,
) -> Result:
    """Return the best list schedule of all criteria, ascending and descending, by the problem's objective.

    Criteria whose data are unknown are skipped, and orderings in which a job finds no start.

    Parameters
    ----------
    problem
        A dispatching or profit problem, an Instance, or the name of one.
    time_limit
        Seconds; None: no limit. An ordering that it interrupts is skipped, but the first schedule is always finished.
    warm_start
        A schedule that is returned if no ordering leads to a better one; None: no start.
    on_incumbent
        Called with each Incumbent; return False to stop.
    power
        Power of each job in watts, by job id; None: the powers that the problem contains.
    profit
        Profit of each job in euro per hour, by job id; None: as the problem says.

    Returns
    -------
    Result
        Its ``details``: ``order``, the ordering that made the schedule (None: it is the start); ``skipped``, the criteria
        and orderings that were skipped, each with the reason.

    Raises
    ------
    NoSchedule
        If no ordering leads to a schedule, and there is no start.
    LimitsBroken
        If no ordering leads to a schedule that keeps the limits on objectives, and there is no start.

    References
    ----------
    [Bridi2018, 6.7.1], algorithm 6.
    """
    p: Dispatch | Profit = given_problem(problem, ("dispatch", "profit"), "multi_search")
    seen = Incumbents(p, "multi-search", on_incumbent, warm_start, Deadline(time_limit))
    scheduler = ListScheduler(arrays(p, power, profit))
    with Clock(seen.deadline) as clock:
        clock.reserve(AFTERWARDS * clock.elapsed)
        best_order = place_all_orders(scheduler, clock, seen)
    schedule = seen.start if best_order.placement is None else scheduler.arrays.schedule(*best_order.placement)
    assert schedule is not None  # without a start, an ordering has led to a schedule
    keeping_limits(scheduler.arrays.dispatch, schedule)
    skipped = f"; skipped: {', '.join(best_order.skipped)}" if best_order.skipped else ""
    best = "no order is better than the start" if best_order.order is None else f"best order: {best_order.order}"
    return seen.result(
        schedule, message=best + skipped, details={"order": best_order.order, "skipped": best_order.skipped}
    )


class Orders(NamedTuple):
    """The best placement (starts of jobs, nodes of units) and its ordering; None if the start is not worse.

    ``skipped`` are the criteria and orderings that were skipped, each with the reason.
    """

    placement: tuple[Ints, Ints] | None
    order: str | None
    skipped: dict[str, str]


def place_all_orders(scheduler: ListScheduler, clock: Clock, seen: Incumbents) -> Orders:
    """Run multi-search on arrays, with the clock of the whole search; report to ``seen``. Raises NoSchedule."""
    a = scheduler.arrays
    least = math.inf
    if seen.start is not None:
        least = a.sign * float(a.problem.value(seen.start))
        least -= SAME * abs(least)
    best = None
    order = None
    skipped: dict[str, str] = {}
    failure: NoSchedule | None = None
    known: dict[tuple[bool, bytes], str] = {}  # the orders so far (without deadlines, "lst" is "-duration")
    kept = within_profile(a)
    both = [(scheduler, ""), *([] if kept is None else [(ListScheduler(kept), WITHIN)])]
    for (scheduler, how), ordering in () if seen.stopped else product(both, ORDERINGS):
        name = f"{ordering}{how}"
        tried = best is not None or failure is not None or seen.start is not None
        try:
            if tried and clock.over:
                raise KernelStopped
            order_of_jobs = scheduler.order(ordering)
            equal = known.setdefault((bool(how), order_of_jobs.tobytes()), name)
            if equal != name:
                if equal in skipped:
                    skipped |= {name: skipped[equal]}
                else:
                    skipped |= {}
                continue
            placement = scheduler.place_within(order_of_jobs, least, stop=clock.stop if tried else None)
        except KernelStopped:
            skipped[name] = "the time limit was reached"
            continue
        except CriterionUnusable as why:
            skipped[ordering.removeprefix("-")] = str(why)
            continue
        except NoSchedule as why:
            skipped[name] = str(why)
            failure = why
            continue
        if placement is None:
            value = math.inf
        else:
            value = scheduler.objective(placement[0])
        if placement is not None and value < least:
            if best is None:
                reserve_for_postponed(clock, a, *placement)
            least = value
            best = placement
            order = name
            if a.keeps_limits(value) and not seen.report(a.sign * value, placement=Placement(a, *placement)):
                break
    if best is None and seen.start is None:
        assert failure is not None  # "est" needs no optional data, so at least one ordering was tried
        raise failure
    return Orders(best, order, skipped)


# --- Joins of two orders of a profit problem: one order until a time, another one after it.
#
# The profit of a schedule is a sum over the segments of the ledger. One order may use the machine best in the first hours,
# when few jobs have been released, and another one, which prefers low power, may be best when there is too much work.
#
# 1. For each order, sum up the profit of its schedule from the begin to the end of each segment.
# 2. The estimate of a join is the profit of the first order's schedule before a segment's begin, plus that of the second
#    order's schedule after it. Take the join with the best estimate that was not tried.
# 3. Place the jobs that the first order starts before that time in the first order, then all others in the second one.
# 4. Add the result to the orders. Stop when no estimate is better than the best order, or the best estimates are those of
#    joins that were tried. With all joins, the kept orders are alike, and the search from them ends 0.1 % worse on average
#    (`profit_medium`).

GAP = 10.0  # between the keys of the two parts, so that changes of keys seldom mix them
LEAST = 1e-5  # least estimated improvement, as a share of the best profit


class Tried(NamedTuple):
    """An order that was tried: random keys, and the start of each job in seconds (below 0: none), shape (jobs,) each."""

    keys: Floats
    starts: Ints


class Joins:
    """The orders of a profit problem that were tried, and their joins.

    Parameters
    ----------
    arrays
        The problem.
    """

    def __init__(self, arrays: Arrays) -> None:
        self.ledger = arrays.costs.ledger
        self.duration = arrays.jobs.duration
        segments = self.ledger.euro_per_joule.size
        self.orders: list[Tried] = []
        self.earned = np.zeros((0, segments + 1))  # profit before the begin of each segment and in all, of each order
        self.tried: set[tuple[float, float]] = set()
        self._joules = np.empty(segments)

    def add(self, keys: Floats, starts: Ints) -> None:
        """Add an order, unless its schedule earns the same as another one in each segment."""
        by_segment = np.zeros(self._joules.size + 1)
        profits(self.ledger, self.duration, starts, self._joules, by_segment[1:])
        earned = np.cumsum(by_segment)
        if not (self.earned == earned).all(axis=1).any():
            self.orders.append(Tried(keys, starts))
            self.earned = np.vstack([self.earned, earned])

    def best(self) -> Floats | None:
        """Return the keys of the join with the best estimate, once.

        None if none is better than the best order, or if of the best estimates, one more than joins were tried, all belong
        to these.
        """
        if len(self.orders) < 2:
            return None
        whole = self.earned[:, -1]
        after = whole[:, None] - self.earned
        estimate = self.earned[:, None, :] + after[None, :, :]  # first order, second order, segment
        least = whole.max() + LEAST * abs(whole.max())
        for at in np.argsort(-estimate, axis=None)[: len(self.tried) + 1]:
            first, second, segment = np.unravel_index(at, estimate.shape)
            parts = (float(self.earned[first, segment]), float(after[second, segment]))
            if estimate[first, second, segment] <= least:
                return None
            if parts not in self.tried:
                self.tried.add(parts)
                return joined(self.orders[first], self.orders[second], int(self.ledger.bound[segment]))
        return None


def joined(first: Tried, second: Tried, time: int) -> Floats:
    """Return keys that sort the jobs which the first order starts before ``time`` (seconds) first, then the others.

    Parameters
    ----------
    first
        The order of the jobs that it starts before the time.
    second
        The order of all other jobs.
    time
        The time in seconds.
    """
    early = (first.starts >= 0) & (first.starts < time)
    keys = second.keys.copy()
    if early.any() and not early.all():
        keys[early] = first.keys[early] - first.keys[early].max() + second.keys[~early].min() - GAP
    return keys


# --- Local search over orders: move single jobs in the order and place the jobs anew.
#
# 1. Place the jobs in the given order (``first_solution``).
# 2. Draw two places i and k of the order at random. Take the job from place i and insert it at place k.
# 3. Remove the jobs from place min(i, k) on from the profile and place them anew, each at its earliest start. Stop early
#    if the cost of the placed jobs plus a lower bound of the cost of the others exceeds what would be accepted.
# 4. Keep the new order if it is accepted (by default: if its objective is not worse), else restore the old one.
# 5. Repeat from step 2 for the given number of rounds, or until the time limit.

BATCH = 200  # moves of one kernel call
FIRST_BATCH = 4  # moves of the first call with a time limit
BATCH_SECONDS = 0.1  # wanted time of one call with a time limit


@compiled_first("list_scheduling:warm_up_moves")
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
    seen = Incumbents(problem, "move-jobs", on_incumbent, deadline=Deadline(time_limit))
    scheduler = ListScheduler(problem)
    first = scheduler.order(order).astype(np.int64)
    answer = OrderResult(first, *scheduler.place(first))
    improve_order(scheduler, answer, rounds, seed, Clock(seen.deadline), seen)
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
    a = scheduler.arrays
    value = scheduler.objective(answer.starts)

    def report() -> bool:
        placement = Placement(a, answer.starts, answer.nodes)
        return seen is None or not a.keeps_limits(value) or seen.report(a.sign * value, placement=placement)

    if not report():
        return
    mover = scheduler.mover()
    with closing(batches(answer.order.size, rounds, seed, clock)) as every:
        for moves in every:
            single = np.arange(len(moves) + 1)
            moved, _, _ = mover.improve(answer, moves, single, value, value, *not_worse(len(moves)), clock.stop)
            if moved < value:
                value = float(moved)
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
    timed = clock.deadline.limit is not None
    if timed:
        size = FIRST_BATCH
    else:
        size = BATCH
    with clock:
        while rounds > 0 and jobs > 1:
            drawn = rng.integers(0, jobs, (min(rounds, BATCH), 2))
            rounds -= len(drawn)
            while len(drawn):
                batch = Deadline()
                if clock.over:
                    return
                yield drawn[:size]
                drawn = drawn[size:]
                if timed:
                    took = max(1e-6, batch.elapsed)
                    size = max(1, min(BATCH, 2 * size, int(size * BATCH_SECONDS / took)))


# --- Compilation of the kernels on a tiny problem.


def tiny() -> Dispatch:
    """Return a problem of three jobs on one node, for compiling kernels."""
    jobs = [Job(name, k, 10, 1, {"cores": 1}, "q", power=1.0) for k, name in enumerate("abc")]
    return Dispatch(Platform([NodeGroup("n", 1, {"cores": 1})]), jobs, [Queue("q", 1)])


@cache
def warm_up() -> None:
    """Compile list scheduling, or load it from numba's cache, so that time measured afterwards is search time."""
    multi_search(tiny())


@cache
def warm_up_moves() -> None:
    """Compile list scheduling and the moves of single jobs, which improve schedules made from a relaxation's starts."""
    warm_up()
    move_jobs(tiny(), "est", rounds=2)


def warm_up_late() -> None:
    """Compile for a second process what list scheduling needs late: the objective, and parts of the placement."""
    a = arrays(tiny())
    nodes = np.zeros(1, np.int64)
    objective(a.costs, a.jobs, np.arange(3) * 10)
    profile = new_profile(a.machine, 64)
    aggregate = new_aggregate(a.machine, a.jobs, profile)
    compile_for(put, profile, a.jobs, 0, 0, nodes, 1)
    compile_for(take, aggregate, profile, a.jobs.request[0], 0, 10, nodes, 1)
    compile_for(choose, profile, a.machine, new_scratch(1), 1, 0, nodes)
    compile_for(put_counted, profile, a.jobs, aggregate, 0, 0, nodes)


def warm_up_moves_late() -> None:
    """Compile for a second process the moves of single jobs; it waits for the placement, which the first one compiles."""
    scheduler = ListScheduler(arrays(tiny()))
    starts = np.arange(3) * 10
    value = scheduler.objective(starts)
    answer = OrderResult(np.arange(3), starts, np.zeros(3, np.int64))
    scheduler.mover().improve(answer, np.array([[0, 1]]), np.arange(2), value, value, *not_worse(1), running())


ROUNDS = 120  # moves of single jobs if there is no time limit
KEPT = 3  # answers that ``repair`` works on
MANY_ROUNDS = 10**6  # with a time limit: more than any limit allows


class Try(NamedTuple):
    """One placement of all jobs.

    Parameters
    ----------
    value
        The objective, minimized; with a penalty for broken limits.
    scheduler
        The scheduler that made it.
    order
        Indices of the jobs in the order of placement, shape (jobs,).
    placement
        Starts in seconds, shape (jobs,), and nodes, shape (units of all jobs,).
    bounded
        Whether jobs could not start before their given starts.
    """

    value: float
    scheduler: ListScheduler
    order: Ints
    placement: tuple[Ints, Ints]
    bounded: bool

    def schedule(self) -> Schedule:
        """Return the placement as a schedule of the problem."""
        return self.scheduler.arrays.schedule(*self.placement)

    @property
    def kept(self) -> bool:
        """Whether the placement keeps the limits on objectives."""
        return self.scheduler.arrays.keeps_limits(self.value)


@with_short_repr
class Allocator:
    """Converts given starts to schedules, for many answers to one problem; the arrays are made once.

    Parameters
    ----------
    problem
        A dispatching or profit problem.
    deadline
        When all calls of ``allocate`` must have ended; None: no limit.
    encoding
        The formulation whose answers the starts are. Only schedules that keep all constraints of its model are returned, those
        included that were added to it. None: those of the problem's data alone.

    Examples
    --------
    >>> from schedlab.models import Job, NodeGroup, Platform, Queue
    >>> jobs = [Job(n, 0, 10, 1, {"cores": 9}, "q") for n in "ab"]
    >>> p = Dispatch(Platform([NodeGroup("n", 1, {"cores": 16})]), jobs, [Queue("q", 60)], "waiting")
    >>> Allocator(p).allocate({"a": 3, "b": 0}).start
    {'a': 10, 'b': 0}
    """

    def __init__(
        self, problem: Dispatch | Profit, deadline: Deadline | None = None, encoding: Encoding | None = None
    ) -> None:
        self.problem = problem
        self.encoding = encoding
        preparing = Deadline()
        prepared = arrays(problem)
        self._afterwards = AFTERWARDS * preparing.elapsed
        self._clock = Clock(deadline)
        self._clock.reserve(self._afterwards)
        self._sign = prepared.sign
        self._schedulers = _choosers(prepared)
        self._best: list[tuple[float, Ints]] = []
        self.failure: NothingFound | None = None

    def allocate(self, starts: Mapping[str, int]) -> Schedule | None:
        """Return the better of two schedules: with and without the given starts (seconds, by job id) as lower bounds.

        The jobs are placed in the order of the given starts. Returns None if start windows and deadlines make both
        fail, if the better one breaks a limit on an objective, or if the time limit is reached; the first schedule of
        all is always finished. The starts are kept for ``repair``. Raises KeyError if a job has no start.
        """
        given = np.array([starts[j.id] for j in self.problem.jobs], np.int64)
        order = next(self._orders(given))
        with self._clock as clock:
            tries = list(self._tries(self._schedulers[0], order, given, clock, finished=bool(self._best)))
        if not tries:
            return None
        self._best = sorted([*self._best, (min(t.value for t in tries), given)], key=lambda b: b[0])[:KEPT]
        best = _least(t for t in tries if self._in_model(t.schedule))
        if best is not None and best.kept:
            return best.schedule()
        return None

    def repair(self, seconds: float | None = None, seed: int = 0, rounds: int = ROUNDS) -> Schedule | None:
        """Return the best schedule that other orders, other node choices and moves of jobs make of the answers so far.

        ``seconds`` limits all of it. None: ``rounds`` moves without a clock, so that the result is reproducible.
        """
        with Clock(Deadline(seconds)) as clock:
            clock.reserve(self._afterwards)
            best = free = None
            for t in self._all_tries(clock):
                if self._in_model(t.schedule):
                    best = _least((best, t))
                if not t.bounded:
                    free = _least((free, t))
        found = []
        if best is not None:
            found = [best.schedule()]
        if free is not None and not clock.over and (rounds or seconds is not None):
            if seconds is None:
                count = rounds
            else:
                count = MANY_ROUNDS
            answer = OrderResult(free.order.astype(np.int64), *(part.copy() for part in free.placement))
            improve_order(free.scheduler, answer, count, seed, Clock(clock.deadline))
            moved = free.scheduler.arrays.schedule(answer.starts, answer.nodes)
            if self._in_model(lambda: moved):
                found += [moved]
        kept = [schedule for schedule in found if not self._breaks(schedule)]
        return min(kept, key=lambda schedule: self._sign * self.problem.value(schedule), default=None)

    def _in_model(self, schedule: Callable[[], Schedule]) -> bool:
        """Return whether a schedule keeps the constraints of the model, if there is one; keep what it breaks as the failure."""
        if self.encoding is None:
            return True
        model = self.encoding.model
        violations = model.check(self.encoding.write(schedule()))
        if violations:
            self.failure = ConstraintBroken(model.name, violations[0].message)
        return not violations

    def _breaks(self, schedule: Schedule) -> bool:
        """Return whether a schedule breaks a limit on an objective."""
        return any(broken_limits(self._schedulers[0].arrays.dispatch, schedule))

    def _all_tries(self, clock: Clock) -> Iterator[Try]:
        for _, given in self._best:
            for scheduler, order in product(self._schedulers, self._orders(given)):
                if clock.over:
                    return
                yield from self._tries(scheduler, order, given, clock)

    def _tries(
        self, scheduler: ListScheduler, order: Ints, given: Ints, clock: Clock, finished: bool = True
    ) -> Iterator[Try]:
        """Yield both placements while time is left; ``finished``: a schedule exists, so the clock may stop them."""
        for bound in (given, None):
            try:
                placement = scheduler.place(order, bound, clock.stop if finished else None)
            except NoSchedule as why:
                self.failure = why
            except KernelStopped:
                return
            else:
                finished = True
                yield Try(scheduler.objective(placement[0]), scheduler, order, placement, bound is not None)

    def _orders(self, given: Ints) -> Iterator[Ints]:
        """Yield orders by start (ties: widest, largest area, shortest, first submitted), by middle, by end."""
        a = self._schedulers[0].arrays
        submit = a.costs.submit
        duration = a.jobs.duration
        total = a.shares * a.jobs.units
        for tie in (-total, -total * duration, duration, submit):
            yield np.lexsort((submit, tie, given))
        yield np.lexsort((submit, 2 * given + duration))
        yield np.lexsort((submit, given + duration))


def _least(tries: Iterable[Try | None]) -> Try | None:
    return min((t for t in tries if t is not None), key=lambda t: t.value, default=None)


def allocate(
    problem: Dispatch | Profit,
    starts: Mapping[str, int],
    rounds: int = ROUNDS,
    seed: int = 0,
    encoding: Encoding | None = None,
) -> Schedule:
    """Return a schedule near the given starts: the best of several orders and node choices, then improved by moves.

    Parameters
    ----------
    problem
        A dispatching or profit problem.
    starts
        Start of each job in seconds, by job id.
    rounds
        Number of moves of single jobs (``move_jobs``).
    seed
        Seed of the moves.
    encoding
        The formulation whose answers the starts are: the schedule keeps all constraints of its model, those included that were
        added to it. None: those of the problem's data alone.

    Returns
    -------
    Schedule
        The best schedule by the problem's objective.

    Raises
    ------
    KeyError
        If a job has no start.
    NoSchedule
        If start windows and deadlines make every order fail.
    LimitsBroken
        If no schedule was found that keeps the limits on objectives.
    ConstraintBroken
        If no schedule was found that keeps the constraints of the model.
    """
    allocator = Allocator(problem, encoding=encoding)
    first = allocator.allocate(starts)
    schedule = allocator.repair(None, seed, rounds) or first
    if schedule is None:
        raise allocator.failure or LimitsBroken(["the starts, and the moves of jobs that were tried, exceed it"])
    return schedule


def _choosers(prepared: Arrays) -> Sequence[ListScheduler]:
    """Return three schedulers: least free of scarce resources first, least free of all first, first nodes first."""
    machine = prepared.machine
    shares = 1 / np.maximum(1, machine.capacity.sum(axis=0))
    worths = (machine.worth, shares, np.zeros_like(machine.worth))
    return [ListScheduler(replace(prepared, machine=machine._replace(worth=w))) for w in worths]
