"""The method ``lagrangian``: a bound from a Lagrangian relaxation, and schedules in the order of its starts.

1. Run multi-search, unless there is a start. Its end bounds the grid.
2. Choose the rows with the most load, and sets of jobs that fit together (``rows``, ``sets``).
3. Maximize the smoothed dual on grids of more and more cells, each at lower and lower temperatures (``dual``).
4. After each grid, place the jobs in the order of their expected starts plus a share of their durations.
5. Compute the bound of the best prices in whole numbers (``exact``).
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache, cached_property

import numpy as np

from ..backends.result import Result, close
from ..models import Dispatch, Schedule
from ..models.arguments import rational
from ..models.array_types import Floats, Ints
from ..models.deadline import Deadline
from ..models.dispatch.objectives import Excess
from ..models.words import how_many
from .arrays import Placement, arrays
from .clock import Clock, KernelStopped, compiled_first
from .errors import NoSchedule, keeping_limits
from .incumbents import Incumbents, OnIncumbent, improves
from .lagrangian_relaxation import (
    Dual,
    DualStopped,
    Prices,
    Rows,
    Sets,
    WholePrices,
    base_rows,
    chosen_rows,
    exact_bound,
    items_of,
    maximal_sets,
    no_sets,
    rounded_down,
    uniform,
    whole_prices,
)
from .list_scheduling import AFTERWARDS, ListScheduler, place_all_orders, tiny
from .list_scheduling import warm_up as warm_up_lists

CELLS = (200, 600, 1200, 2400)  # of the grids, one after another
TEMPERATURES = (2e-2, 5e-3, 1.5e-3, 5e-4)  # times objective / jobs
STEPS = 300  # of L-BFGS at each temperature
MOST_CANDIDATES = 8_000_000  # jobs x cells, for 40 bytes each
FEW = 60  # jobs up to which sets of jobs that fit together are enumerated
SET_CELLS = 1_500_000  # sets x cells at most
ALPHAS = (0.0, 0.25, 0.5, 1.0)  # shares of the duration in the key of the list order
EXACT_SHARE = 0.1  # of the time limit, kept for the exact bound
SETS_SHARE = 0.3  # of the remaining time, for the sets
NEAR = 0.02  # relative: from this gap on the exact bound is computed after each temperature


@compiled_first("lagrangian:warm_up")
def lagrangian(
    problem: Dispatch,
    *,
    time_limit: float | None = None,
    warm_start: Schedule | None = None,
    on_incumbent: OnIncumbent | None = None,
) -> Result:
    """Compute a bound on the objective, and schedules from the relaxation that leads to it.

    Parameters
    ----------
    problem
        A dispatching problem whose objective is a sum over jobs.
    time_limit
        Seconds; None: until the last grid is done.
    warm_start
        A schedule that is returned if no better one is found; None: that of multi-search.
    on_incumbent
        Called with each Incumbent; return False to stop.

    Returns
    -------
    Result
        With a bound, also if the time limit ends the search. Its ``details``: ``rows``, ``sets`` and ``cells`` of the
        relaxation, ``evaluations`` of the dual.

    Raises
    ------
    NoSchedule
        If no order leads to a schedule, and there is no start.
    LimitsBroken
        If no schedule was found that keeps the limits on objectives.
    """
    seen = Incumbents(problem, "lagrangian", on_incumbent, warm_start, Deadline(time_limit))
    search = Relaxation(problem, seen, seen.deadline)
    with search.clock:
        if search.begin():
            search.improve()
        return search.result()


class Relaxation:
    """The best prices and the best schedule so far."""

    def __init__(self, problem: Dispatch, seen: Incumbents, deadline: Deadline) -> None:
        self.problem = problem
        self.seen = seen
        self.clock = Clock(deadline)
        self.reserved = 0.0
        self._reserve(EXACT_SHARE * (deadline.limit or 0.0))
        self.scheduler = ListScheduler(arrays(problem))
        self.items = items_of(problem)
        self.bound: Fraction | None = None
        self.prices: WholePrices | None = None
        self.details = {"rows": 0, "sets": 0, "cells": 0, "evaluations": 0}

    def begin(self) -> bool:
        """Make the first schedule; return whether the search should go on."""
        self.clock.reserve(AFTERWARDS * self.clock.elapsed)
        if self.seen.start is not None:
            self.schedule = self.seen.start
        else:
            best = place_all_orders(self.scheduler, self.clock, self.seen)
            assert best.placement is not None  # without a start, an ordering has led to a schedule
            self.schedule = self.scheduler.arrays.schedule(*best.placement)
        self.objective = float(self.problem.value(self.schedule))
        return not self.seen.stopped

    def _reserve(self, seconds: float) -> None:
        """Keep time for the exact bound; it takes about as long as the starts that are compared take to make."""
        self.clock.reserve(seconds - self.reserved)
        self.reserved = max(self.reserved, seconds)

    @property
    def over(self) -> bool:
        """Whether the search must end: the time limit, the caller, or a bound that proves the schedule."""
        return self.clock.over or self.seen.stopped

    def improve(self) -> None:
        """Maximize the dual, grid after grid."""
        items = self.items
        jobs = self.problem.jobs
        rows, sets = self._relaxation()
        self.details |= {"rows": int(rows.b.size), "sets": int(sets.first.size - 1)}
        end = max(self.schedule.start[j.id] + self.problem.duration(j) for j in jobs) if jobs else self.problem.now
        first = uniform(self.problem.now, end, 1)
        self._keep(Prices(first, np.zeros((rows.b.size, 1)), np.zeros((sets.items.size, 1))), rows, sets)
        prices = None
        scale = self._scale(end)
        for grid, points in enumerate(self._grids(end, sets)):
            if self.over or self.proven or scale == 0.0:
                return
            self.details["cells"] = int(points.size - 1)
            began = self.clock.elapsed
            try:
                dual = Dual(items, rows, sets, points, scale, lambda: self.over)
            except DualStopped:
                return
            self._reserve(self.clock.elapsed - began)
            prices = self._first_prices(points, rows, sets, scale) if prices is None else prices.on(points)
            with contextlib.suppress(DualStopped):
                for tau in TEMPERATURES[1 if grid else 0 :]:
                    prices = dual.maximize(prices, tau * abs(self.objective) / max(1, items.jobs), STEPS)
                    self._place(dual.mean[: items.jobs])
                    if self._may_prove(dual) or points.size < 100:
                        self._keep(dual.prices, rows, sets)
                        if self.proven:
                            return
            self.details["evaluations"] += dual.evaluations
            self._keep(dual.prices, rows, sets)

    def take(self, schedule: Schedule) -> None:
        """Keep a schedule if it is feasible and better than the best one."""
        value = float(self.problem.value(schedule))
        if improves(self.problem, value, self.objective) and not self.problem.verify(schedule):
            self.schedule = schedule
            self.objective = value
            self.seen.report(value, lambda: schedule)

    def _may_prove(self, dual: Dual) -> bool:
        """Return whether the best bound of a dual is near the schedule: computed exactly it may prove it."""
        return dual.best > self.scheduler.arrays.sign * self.objective - NEAR * abs(self.objective)

    def _relaxation(self) -> tuple[Rows, Sets]:
        """Return the sets of jobs that fit together, of few jobs, and the rows, unless the sets are of all jobs."""
        items = self.items
        platform = self.problem.platform
        load = np.bincount(items.kind, items.duration, len(items.demands)).astype(np.float64)
        rows = chosen_rows(platform, items.demands, load, site=items.site)
        share = (rows.a / rows.b[:, None]).max(axis=0, initial=0.0)[items.kind] * items.duration
        order = np.argsort(-share, kind="stable")
        if items.duration.size > FEW:
            return rows, no_sets()
        end = self.clock.elapsed + SETS_SHARE * self.clock.left
        sets = maximal_sets(
            platform,
            items,
            base_rows(platform, items.demands, items.site),
            order,
            lambda: self.over or self.clock.elapsed > end,
        )
        return (rows.some(np.zeros(0, np.int64)) if sets.items.size == items.duration.size else rows), sets

    def _scale(self, end: int) -> float:
        """Return the greatest cost per second of delaying all waiting jobs of the first schedule."""
        items = self.items
        jobs = self.problem.jobs
        starts = np.array([self.schedule.start[j.id] for j in jobs], np.int64)
        waiting = starts > items.free[: items.jobs]
        if items.late:
            return float(waiting.sum()) / max(1, end - self.problem.now)
        times = np.concatenate([items.free[: items.jobs][waiting], starts[waiting]])
        change = np.concatenate([items.weight[: items.jobs][waiting], -items.weight[: items.jobs][waiting]])
        order = np.lexsort((change, times))
        return max(0.0, float(np.cumsum(change[order]).max(initial=0.0)))

    def _first_prices(self, points: Ints, rows: Rows, sets: Sets, scale: float) -> Prices:
        """Return prices of the row with the most load that fall to 0 at the end."""
        cells = points.size - 1
        fall = scale * (1 - (points[:-1] - points[0]) / (points[-1] - points[0]))
        row = np.zeros((rows.b.size, cells))
        if rows.b.size:
            row[0] = fall / rows.b[0] / 2
        return Prices(points, row, np.zeros((sets.items.size, cells)))

    def _grids(self, end: int, sets: Sets) -> Iterator[Ints]:
        """Yield grids of more and more cells."""
        now = self.problem.now
        items = self.items
        for cells in CELLS:
            if cells > CELLS[0] and (
                cells * items.jobs > MOST_CANDIDATES // 2
                or cells * sets.first.size > SET_CELLS
                or cells > 2 * (end - now)
            ):
                return
            points = uniform(now, end, cells)
            if items.jobs <= FEW:  # prices change where jobs are released, start or end
                events = [t for j in self.problem.jobs for t in self._events(j.id, self.problem.duration(j))]
                points = np.unique(np.concatenate([points, items.release[: items.jobs], np.array(events, np.int64)]))
                points = points[points >= now]
            yield points

    def _events(self, job: str, duration: int) -> tuple[int, int]:
        return self.schedule.start[job], self.schedule.start[job] + duration

    def _place(self, mean: Floats) -> None:
        """Place the jobs in the order of their expected starts plus alpha times their durations; keep the best schedule."""
        duration = self.items.duration[: mean.size]
        for alpha in ALPHAS:
            if self.over:
                return
            try:
                placement = self.scheduler.place(
                    np.argsort(mean + alpha * duration, kind="stable"), stop=self.clock.stop
                )
            except (KernelStopped, NoSchedule):
                continue
            schedule = self.scheduler.arrays.schedule(*placement)
            value = float(self.problem.value(schedule))
            if improves(self.problem, value, self.objective) and not self.problem.verify(schedule):
                self.schedule = schedule
                self.objective = value
                self.seen.report(value, placement=Placement(self.scheduler.arrays, *placement))

    def _keep(self, prices: Prices | None, rows: Rows, sets: Sets) -> None:
        """Compute the exact bound of prices and keep it if it is better."""
        if prices is None:
            return
        whole = whole_prices(self.items, prices.points, rows, sets, prices.rows, prices.sets)
        bound = exact_bound(self.items, whole)
        if self.bound is None or bound > self.bound:
            self.bound = bound
            self.prices = whole

    @property
    def cost_bound(self) -> float | None:
        """The bound on the cost as a float: rounded up to the next value that a cost can have, never above it."""
        if self.bound is None:
            return None
        constant = Fraction(rational(self.items.constant))
        return rounded_down(constant + math.ceil((self.bound - constant) / self.unit) * self.unit)

    @cached_property
    def unit(self) -> Fraction:
        """A number of which all costs are multiples, but for ``Items.constant``."""
        costs = self.problem.costs
        whole = [Fraction(rational(w)) for w in costs.weight.tolist()] if isinstance(costs, Excess) else [Fraction(1)]
        return Fraction(math.gcd(*(w.numerator for w in whole)) or 1, math.lcm(*(w.denominator for w in whole)))

    @property
    def proven(self) -> bool:
        """Whether the bound proves that the schedule is optimal."""
        bound = self.cost_bound
        return bound is not None and close(abs(self.objective), abs(bound), offset=abs(self.items.constant))

    def result(self) -> Result:
        """Return the result with the best schedule, verified, and the bound."""
        bound = self.cost_bound
        schedule = keeping_limits(self.problem, self.schedule)
        message = "no bound" if bound is None else f"bound on {how_many(self.details['cells'], 'cell')}"
        result = self.seen.result(schedule, message=message, details=self.details)
        if bound is not None and result.status != "error":
            sign = self.scheduler.arrays.sign
            result.bound = sign * bound
            result.offset = sign * float(self.items.constant)
            if isinstance(result.objective, (int, float)) and close(
                result.objective, result.bound, offset=result.offset
            ):
                result.status = "optimal"
        return result


@cache
def warm_up() -> None:
    """Compile list scheduling and the kernels of the relaxation."""
    warm_up_lists()
    lagrangian(tiny())
