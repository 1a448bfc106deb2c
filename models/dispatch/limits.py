"""Limits on objectives: a schedule must keep them, whichever objective is optimized [Bridi2018, 3.3]."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from .. import language as sl
from ..arguments import is_number, is_whole, rational, shown
from ..array_types import Ints
from ..language import Expression, Interval, Linear, Model, Violation
from ..language.bounds import REAL_TOLERANCE
from ..language.quantities import Number
from ..platform import ProblemError
from .data import DispatchData
from .objectives import Excess, JobCosts, LastEnd, Late, find_objective

if TYPE_CHECKING:
    from ..problem import Schedule


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
    by_name: dict[str, float] = {}
    for name, value in limits.items():
        find_objective(name)
        if not is_number(value):
            raise ProblemError(f"the limit on {name} is {shown(value)}; expected a finite number")
        by_name[name] = int(value) if is_whole(value) else float(value)
    return by_name


def tolerance(limit: float, exact: bool) -> float:
    """Return by how much a value may exceed a limit; ``exact``: the value is a whole number."""
    return EXACT if exact else RELATIVE * max(1.0, abs(limit))


class WithCosts(DispatchData, Protocol):
    """A dispatching problem with the costs of its objective and of its limits."""

    @property
    def costs(self) -> JobCosts:
        """The objective as costs of the starts of the jobs."""

    @property
    def limit_costs(self) -> tuple[CostLimit, ...]:
        """The limits as limits on costs of the starts of the jobs."""


def scale_of(problem: WithCosts, name: str, limit: float) -> float:
    """Return what an excess over a limit is divided by: the limit, for the end of the last job measured from now."""
    return abs(limit - origin_of(problem, name)) or 1.0


def origin_of(problem: WithCosts, name: str) -> int:
    """Return the value from which relative differences of an objective are measured.

    The end of the last job is a time on the clock of the problem, so it is measured from ``now``; others from 0.
    """
    costs = problem.costs if name == problem.objective else find_objective(name).costs_of(problem)
    return problem.now if isinstance(costs, LastEnd) else 0


def cost_limits(problem: WithCosts) -> tuple[CostLimit, ...]:
    """Return the limits of a problem as limits on costs, for models and searches."""
    limits = []
    for name, limit in problem.limits.items():
        objective = find_objective(name)
        costs = objective.costs_of(problem)
        exact = costs.is_unweighted if isinstance(costs, Excess) else True
        most = limit if objective.sense == "minimize" else -limit
        limits.append(CostLimit(name, costs, most, tolerance(limit, exact), scale_of(problem, name, limit)))
    return tuple(limits)


def broken_limits(problem: DispatchData, schedule: Schedule) -> Iterator[Violation]:
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


def excess_of(problem: WithCosts, starts: Ints) -> float:
    """Return the total relative excess of starts in seconds, shape (jobs,); 0 if all limits are kept."""
    if not problem.limits:
        return 0.0
    jobs = problem.job_arrays
    starts = np.asarray(starts, np.int64)
    return sum(limit.excess(starts - jobs.submit, starts + jobs.duration) for limit in problem.limit_costs)


# --- Costs of the starts of jobs as expressions of the modelling language.
#
# With the start variable s, submit time q, weight and grace of a job (``objectives``), and its wait w = s - q::
#
#     Excess    sum over jobs of weight * (w - grace) + constant, with max(0, w - grace) where grace > 0
#     Late      sum over jobs of (w >= grace + 1)
#     LastEnd   max(ends of the jobs, other ends)


def total_cost(costs: JobCosts, jobs: Sequence[Interval], submit: Sequence[int], fixed: float | None) -> Expression:
    """Return the cost of the jobs, together with the cost of other jobs, whose starts are fixed.

    Parameters
    ----------
    costs : JobCosts
        The costs of the jobs.
    jobs : sequence of Interval
        The interval of each job.
    submit : sequence of int
        The submit time of each job in seconds.
    fixed : float or None
        The cost of the other jobs; None if there are none.

    Returns
    -------
    Expression
    """
    if isinstance(costs, LastEnd):
        return sl.max([*(v.end for v in jobs), *costs.others, *(() if fixed is None else (fixed,))])
    if isinstance(costs, Excess) and not (costs.grace > 0).any():  # linear in the starts
        begun = np.array(submit, np.int64) + costs.grace
        shift: Number = -int(begun.sum())
        weights: list[Number] = [1] * len(jobs)
        if not costs.is_unweighted:
            weights = costs.weight.tolist()
            shift = float((costs.constant - costs.weight * begun).sum())
        # made directly: sl.sum would check weights again that are known to be finite
        cost = Linear({v.start: w for v, w in zip(jobs, weights, strict=True) if w}, shift)
        return cost if fixed is None else cost + fixed
    terms = cost_terms(costs, jobs, submit)
    if isinstance(costs, Late):
        cost = sl.sum(terms)
    else:
        cost = sl.sum(terms, weights=None if costs.is_unweighted else costs.weight.tolist())
        if costs.constant.any():
            cost = cost + float(costs.constant.sum())
    return cost if fixed is None else cost + fixed


def cost_terms(costs: Excess | Late, jobs: Sequence[Interval], submit: Sequence[int]) -> list[Expression]:
    """Return for each job the wait beyond its grace in seconds, or 1 if it is late and 0 if not."""
    waits = [v.start - q for v, q in zip(jobs, submit, strict=True)]
    graces = costs.grace.tolist()
    if isinstance(costs, Late):
        return [sl.holds(w >= g + 1) for w, g in zip(waits, graces, strict=True)]
    # no job starts before its submit time: a grace of at most 0 needs no maximum
    return [sl.positive_part(w - g) if g > 0 else w - g for w, g in zip(waits, graces, strict=True)]


# --- Limits on objectives as constraints of a model: exact, in whole numbers.
#
# Let ``w[j]`` be the wait of job j, ``x[j] = max(0, w[j] - grace[j])``, and L the greatest cost::
#
#     LastEnd    v[j].end <= floor(L)                       for each job j
#     Late       sum_j (w[j] >= grace[j] + 1) <= floor(L)
#     Excess     sum_j C[j] x[j] <= floor(D (L - constants))
#
# where the weights are fractions ``C[j] / D``, D their least common denominator (expected waiting times of 3600, 18000 and
# 86400 s: D = 432000), divided by the common divisor of the C. If ``D * sum_j weight[j] x[j]`` can be greater than 2^53,
# as with the slowdown of many different durations, the row keeps its real weights, and L is lowered by the tolerance that
# the language has for real numbers, so that every answer keeps the limit; a schedule within this tolerance may be lost.
#
# Jobs that stay where they are (``neighbourhood``) subtract their part from the right-hand side, exactly.

LARGEST = 1 << 53  # a solver that computes in double precision adds whole numbers up to this one exactly


class Fixed(NamedTuple):
    """Jobs that stay: their indices in the costs of the limits, their waits and ends in seconds, shape (jobs,)."""

    jobs: Ints
    wait: Ints
    end: Ints


def add_limits(
    model: Model,
    limits: Sequence[CostLimit],
    intervals: Sequence[Interval],
    submit: Sequence[int],
    moving: Ints | None = None,
    fixed: Fixed | None = None,
) -> None:
    """Add the constraints of limits to a model.

    Parameters
    ----------
    model : Model
        The model.
    limits : sequence of CostLimit
        The limits of the whole problem.
    intervals : sequence of Interval
        The intervals of the jobs of the model, which are always present.
    submit : sequence of int
        The submit times of these jobs in seconds.
    moving : array of int, optional
        The indices of these jobs in the costs of the limits. None: all jobs, in their order.
    fixed : Fixed, optional
        All other jobs.
    """
    for limit in limits:
        for constraint in _constraints(limit, intervals, submit, moving, fixed):
            if isinstance(constraint, bool):
                if not constraint:
                    _forbid(model, f"limit on {limit.name}")
            else:
                model.add(constraint, f"limit on {limit.name}")


def _forbid(model: Model, name: str) -> None:
    """Make a model infeasible."""
    model.add(model.integer(name, 0, 0) >= 1, name)


def _constraints(
    limit: CostLimit,
    intervals: Sequence[Interval],
    submit: Sequence[int],
    moving: Ints | None,
    fixed: Fixed | None,
) -> Iterator[sl.Comparison | bool]:
    """Yield the constraints of one limit; True or False for one without a variable."""
    costs = limit.costs
    if isinstance(costs, LastEnd):
        most = math.floor(limit.most)
        yield max([*costs.others, *(() if fixed is None else fixed.end.tolist())], default=most) <= most
        yield from (v.end <= most for v in intervals)
        return
    own = costs if moving is None else costs.some(moving)
    terms = cost_terms(own, intervals, submit)
    if isinstance(costs, Late):
        spent = 0 if fixed is None else int(costs.some(fixed.jobs).value(fixed.wait, fixed.end))
        yield sl.sum(terms) <= math.floor(limit.most) - spent if terms else spent <= limit.most
        return
    assert isinstance(own, Excess)
    reach = [max(0, v.start_hi - q - g) for v, q, g in zip(intervals, submit, own.grace.tolist(), strict=True)]
    row = _whole_row(costs, limit.most)
    weights = list(row.weights) if moving is None else [row.weights[j] for j in moving.tolist()]
    spent = 0 if fixed is None else _spent(row, costs, fixed)
    if not terms:
        yield spent <= row.most
    elif sum(c * x for c, x in zip(weights, reach, strict=True)) + abs(row.most) <= LARGEST:
        yield sl.sum(terms, weights=weights) <= row.most - spent
    else:
        left = 0.0 if fixed is None else costs.some(fixed.jobs).value(fixed.wait, fixed.end)
        margin = REAL_TOLERANCE * max(1.0, abs(limit.limit)) + float(own.constant.sum())
        yield sl.sum(terms, weights=own.weight.tolist()) <= limit.limit - margin - left


class _Row(NamedTuple):
    """``sum_j weights[j] * x[j] <= most``, in whole numbers."""

    weights: tuple[int, ...]
    most: int


def _whole_row(costs: Excess, most: float) -> _Row:
    """Return a limit on all jobs in whole numbers."""
    weights = [Fraction(rational(w)) for w in costs.weight.tolist()]
    denominator = math.lcm(*(w.denominator for w in weights))
    whole = [int(w * denominator) for w in weights]
    constant = sum((Fraction(rational(c)) for c in costs.constant[costs.constant != 0].tolist()), Fraction(0))
    divisor = math.gcd(*whole) or 1
    limit = (Fraction(most) - constant) * denominator / divisor
    return _Row(tuple(w // divisor for w in whole), math.floor(limit))


def _spent(row: _Row, costs: Excess, fixed: Fixed) -> int:
    """Return the part of the jobs that stay in the left-hand side."""
    over = np.maximum(0, fixed.wait - costs.grace[fixed.jobs]).tolist()
    return sum(row.weights[j] * x for j, x in zip(fixed.jobs.tolist(), over, strict=True))
