"""First solution: list scheduling in a given order [Bridi2018, 6.6], algorithm 5.

1. Order the jobs by a criterion (``orders``).
2. For each job in this order: find the earliest start, inside its start windows, at which all its units fit for the
   whole duration beside the jobs placed before.
3. Put its units on the nodes with the least free worth at that time (best fit). The worth of a free amount is its share
   of the platform's capacity times the demand of the jobs for that resource.
4. If a job has no feasible start: postpone it if a profit problem allows that, else fail (``NoSchedule``).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...models import Dispatch, Profit, Schedule
from ...models.arguments import checked
from ...models.given import WithProblem, given_problem
from ..arrays import Arrays, arrays
from ..clock import KernelStopped, running
from ..errors import NoSchedule, keeping_limits
from ..kernels import placement as kernels
from ..kernels.costs import objective
from ..kernels.orders.moves import Mover
from ..kernels.profile import NEVER, Ints
from .orders import order_by


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
        self.arrays = problem if isinstance(problem, Arrays) else arrays(problem)
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
        found = self.place_within(order, np.inf, not_before, stop)
        assert found is not None  # nothing exceeds an infinite cost
        return found

    def place_within(
        self, order: Ints, most: float, not_before: Ints | None = None, stop: Ints | None = None
    ) -> tuple[Ints, Ints] | None:
        """Place the jobs as ``place``, but give up when the cost of the placed jobs exceeds ``most``; then return None.

        Profits, which are no sum over jobs, are never given up.
        """
        a = self.arrays
        starts, nodes = np.empty(a.jobs.units.size, np.int64), np.empty(int(a.jobs.first_unit[-1]), np.int64)
        bound = self._anytime if not_before is None else not_before
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
