"""Limits on objectives: a schedule must keep them, whichever objective is optimized [Bridi2018, 3.3].

A limit ``{name: value}`` requires that the objective ``name`` is at most ``value`` (at least, if that objective is
maximized). It holds within a tolerance: a value that is a whole number, such as a makespan, is compared exactly; any
other one within 1e-9 of ``max(1, |limit|)``, far above the rounding errors of its sum.

The excess of a schedule measures how far it breaks its limits, for searches: the sum over the limits of
``max(0, value - limit) / |limit - origin|``. The origin is ``now`` for the end of the last job, which is a time on a
clock, and 0 for the others; a divisor of 0 is replaced by 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...language import Violation
from ...platform import ProblemError
from ...whole_numbers import is_number, is_whole, shown
from ..objectives import Excess, JobCosts, LastEnd, find_objective

if TYPE_CHECKING:
    from ...problem import Schedule
    from ..objectives import Ints
    from ..problem import Dispatch

EXACT = 1e-6  # two whole numbers that differ by less are equal
RELATIVE = 1e-9


class CostLimit(NamedTuple):
    """A limit on the cost of the jobs of a problem.

    Parameters
    ----------
    name : str
        The name of the objective.
    costs : JobCosts
        Its costs, which are minimized.
    limit, tolerance : float
        The greatest cost, and by how much it may be exceeded.
    scale : float
        What an excess is divided by, above 0.
    """

    name: str
    costs: JobCosts
    limit: float
    tolerance: float
    scale: float

    @property
    def most(self) -> float:
        """The greatest cost, with the tolerance."""
        return self.limit + self.tolerance

    def excess(self, wait: Ints, end: Ints) -> float:
        """Return the relative excess of waits and ends of all jobs in seconds; 0 if the limit is kept."""
        return max(0.0, (self.costs.value(wait, end) - self.most) / self.scale)


def whole_limits(limits: object) -> dict[str, float]:
    """Return limits with Python's numbers.

    Raises
    ------
    ProblemError
        If they are no mapping of names of objectives to finite numbers.
    """
    if not isinstance(limits, Mapping):
        raise ProblemError(f"limits are {shown(limits)}; expected {{objective: number}}, such as {{'late-jobs': 4}}")
    found: dict[str, float] = {}
    for name, value in limits.items():
        find_objective(name)
        if not is_number(value):
            raise ProblemError(f"the limit on {name} is {shown(value)}; expected a finite number")
        found[name] = int(value) if is_whole(value) else float(value)
    return found


def tolerance(limit: float, exact: bool) -> float:
    """Return by how much a value may exceed a limit; ``exact``: the value is a whole number."""
    return EXACT if exact else RELATIVE * max(1.0, abs(limit))


def scale_of(problem: Dispatch, name: str, limit: float) -> float:
    """Return what an excess over a limit is divided by: the limit, for the end of the last job measured from now."""
    return abs(limit - origin_of(problem, name)) or 1.0


def origin_of(problem: Dispatch, name: str) -> int:
    """Return the value from which relative differences of an objective are measured.

    The end of the last job is a time on the clock of the problem, so it is measured from ``now``; others from 0.
    """
    costs = problem.costs if name == problem.objective else find_objective(name).costs_of(problem)
    return problem.now if isinstance(costs, LastEnd) else 0


def cost_limits(problem: Dispatch) -> tuple[CostLimit, ...]:
    """Return the limits of a problem as limits on costs, for models and searches."""
    found = []
    for name, limit in problem.limits.items():
        objective = find_objective(name)
        costs = objective.costs_of(problem)
        exact = costs.is_unweighted if isinstance(costs, Excess) else True
        most = limit if objective.sense == "minimize" else -limit
        found.append(CostLimit(name, costs, most, tolerance(limit, exact), scale_of(problem, name, limit)))
    return tuple(found)


def broken_limits(problem: Dispatch, schedule: Schedule) -> Iterator[Violation]:
    """Yield a violation for each limit that a schedule of all jobs breaks, by the values that the verifier computes."""
    for name, limit in problem.limits.items():
        objective = find_objective(name)
        value = objective.checked_value(problem, schedule)
        sign = 1 if objective.sense == "minimize" else -1
        over = sign * (value - limit)
        if over > tolerance(limit, is_whole(value)):
            most = "at most" if sign > 0 else "at least"
            text = f"{name} is {value:.10g}, the limit is {most} {limit:.10g}"
            yield Violation(name, over, text)


def excess_of(problem: Dispatch, starts: Ints) -> float:
    """Return the total relative excess of starts in seconds, shape (jobs,); 0 if all limits are kept."""
    if not problem.limits:
        return 0.0
    jobs = problem.job_arrays
    starts = np.asarray(starts, np.int64)
    return sum(limit.excess(starts - jobs.submit, starts + jobs.duration) for limit in problem.limit_costs)
