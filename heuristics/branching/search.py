"""The method ``branch-and-bound``: dispatching problems with few jobs are solved to proven optimality.

1. Run multi-search and ``lns`` for a schedule, unless there is a start.
2. Maximize the Lagrangian bound (``lagrangian``); keep its prices as whole numbers.
3. Go through the schedules in the order of time: at each event decide which waiting jobs start, and on which nodes. A partial
   schedule is left if its bound by the prices is not below the best schedule, or if an equal state was reached at no
   higher cost (``docs/bounds.md``).
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

from ...backends.result import Result
from ...models import Dispatch, Schedule
from ...models.whole_numbers import rational
from ..clock import Clock
from ..compiled_first import compiled_first
from ..incumbents import Incumbents, OnIncumbent
from ..kernels.branching.search import DONE, FULL, LEAF, branch, root_bound
from ..lagrangian.search import Relaxation
from ..list_scheduling.warm_up import tiny
from ..lns.search import lns
from .case import case_of, exact_cost, first_decision, first_state, no_visits, schedule_of
from .tables import tables_of

LNS_SHARE = 0.1  # of the time limit
ROUNDS = 4  # of lns for each job
RELAXATION_SHARE = 0.4  # of the time limit, LNS included


@compiled_first("branching.search:warm_up")
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
    seen = Incumbents(problem, "branch-and-bound", on_incumbent, warm_start)
    relaxation = Relaxation(problem, seen, None if time_limit is None else RELAXATION_SHARE * time_limit)
    with relaxation.clock:
        if relaxation.begin() and problem.jobs:
            _improve_by_lns(relaxation, time_limit, seed)
            relaxation.improve()
    with Clock(time_limit, seen.began) as clock:
        if relaxation.prices is not None and not relaxation.proven and not seen.stopped:
            _Branching(relaxation, clock).run()
    return relaxation.result()


def _improve_by_lns(relaxation: Relaxation, limit: float | None, seed: int) -> None:
    """Improve the first schedule: its starts and ends become grid points, so that it matters for the bound as well."""
    problem, seconds = relaxation.problem, None if limit is None else LNS_SHARE * limit
    rounds = ROUNDS * len(problem.jobs)
    found = lns(problem, time_limit=seconds, warm_start=relaxation.schedule, seed=seed, threads=1, rounds=rounds)
    if found.schedule is not None:
        relaxation.take(found.schedule)


class _Branching:
    """The search over partial schedules, from the best schedule and the prices of a relaxation."""

    def __init__(self, relaxation: Relaxation, clock: Clock) -> None:
        assert relaxation.prices is not None
        self.relaxation, self.clock = relaxation, clock
        self.problem, self.items = relaxation.problem, relaxation.items
        self.shift = relaxation.prices.shift
        self.case = case_of(self.problem, self.items, self.shift)
        self.tables = tables_of(self.items, relaxation.prices)
        self.now = first_state(self.problem, self.case)
        self.best = exact_cost(self.items, self.problem, relaxation.schedule)
        root = root_bound(self.case, self.now, self.tables)
        self.stack = first_decision(self.case, self.now, root, self._limit())

    def run(self) -> None:
        """Search until the proof is complete, the time is over, or an array is full."""
        ended, seen = LEAF, no_visits()
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
    """Compile the kernels."""
    branch_and_bound(tiny(), time_limit=1.0)
