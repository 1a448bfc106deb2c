"""The first solution: jobs in a given order, each at its earliest feasible start, all units together (thesis 6.6)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...models import Dispatch, Profit, Schedule
from ..arrays import Arrays, arrays
from ..clock import KernelStopped, running
from ..errors import NoSchedule
from ..kernels import placement as kernels
from ..kernels.profile import NEVER, Ints
from .orders import order_by


class ListScheduler:
    """Evaluates orders of jobs of one problem; what searches over orders are made of.

    >>> scheduler = ListScheduler(problem)                             # doctest: +SKIP
    >>> objective, starts = scheduler.evaluate(scheduler.order("est"))  # doctest: +SKIP
    """

    def __init__(self, problem: Dispatch | Profit | Arrays) -> None:
        self.arrays = problem if isinstance(problem, Arrays) else arrays(problem)
        self._anytime = np.full(self.arrays.jobs.units.size, -NEVER, np.int64)

    def order(self, order: str | Sequence[str]) -> Ints:
        """The indices of the jobs in an order given by criterion or by job ids."""
        return order_by(self.arrays, order)

    def place(self, order: Ints, not_before: Ints | None = None, stop: Ints | None = None) -> tuple[Ints, Ints]:
        """Starts of the jobs, and nodes of all units, job after job; ``not_before``: a bound on each start.

        Of a profit problem, a job that finds no place before its ``horizon_end`` is parked (``kernels.POSTPONED``). Raises
        NoSchedule if any other job finds no place, KernelStopped where ``stop`` (of a ``Clock``) comes first.
        """
        a = self.arrays
        starts, nodes = np.empty(a.jobs.units.size, np.int64), np.empty(int(a.jobs.first_unit[-1]), np.int64)
        bound = self._anytime if not_before is None else not_before
        placed = kernels.build(
            a.machine, a.jobs, a.costs.may_postpone, order, bound, starts, nodes, running() if stop is None else stop
        )
        if placed < 0:
            raise KernelStopped
        if placed < order.size:
            raise NoSchedule(a.dispatch, a.problem.jobs[int(order[placed])])
        return starts, nodes

    def objective(self, starts: Ints) -> float:
        """The objective of these starts, by the kernel, for minimizing; the problem's own has the last word."""
        return float(kernels.objective(self.arrays.costs, self.arrays.jobs, starts))

    def evaluate(self, order: Ints, not_before: Ints | None = None) -> tuple[float, Ints]:
        """The objective and the starts of the jobs when they are placed in this order."""
        starts, _ = self.place(order, not_before)
        return self.objective(starts), starts

    def schedule(self, order: Ints, not_before: Ints | None = None) -> Schedule:
        """The schedule that this order makes, with the nodes."""
        return self.arrays.schedule(*self.place(order, not_before))


def first_solution(problem: Dispatch | Profit, order: str | Sequence[str] = "est") -> Schedule:
    """Each job at its earliest feasible start, in the order of a criterion, ``-criterion``, or a list of job ids.

    A job's units go where the least worth lies free at its start (an amount is worth its share of the platform, times
    how much the jobs ask for it), ties by the order of nodes. Raises NoSchedule if a job with windows or a deadline
    finds no place, UnknownOrder and CriterionUnusable for the order. Source: thesis 6.6, algorithm 5.
    """
    scheduler = ListScheduler(problem)
    return scheduler.schedule(scheduler.order(order))
