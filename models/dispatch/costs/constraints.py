"""Limits on objectives as constraints of a model: exact, in whole numbers.

Let ``w[j]`` be the wait of job j, ``x[j] = max(0, w[j] - grace[j])``, and L the greatest cost::

    LastEnd    v[j].end <= floor(L)                       for each job j
    Late       sum_j (w[j] >= grace[j] + 1) <= floor(L)
    Excess     sum_j C[j] x[j] <= floor(D (L - constants))

where the weights are fractions ``C[j] / D``, D their least common denominator (expected waiting times of 3600, 18000 and
86400 s: D = 432000), divided by the common divisor of the C. If ``D * sum_j weight[j] x[j]`` can be greater than 2^53,
as with the slowdown of many different durations, the row keeps its real weights, and L is lowered by the tolerance that
the language has for real numbers, so that every answer keeps the limit; a schedule within this tolerance may be lost.

Jobs that stay where they are (``neighbourhood``) subtract their part from the right-hand side, exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ... import language as sl
from ...language import Interval, Model
from ...language.offsets import REAL_TOLERANCE
from ...whole_numbers import rational
from ..objectives import Excess, Ints, LastEnd, Late
from .expressions import cost_terms
from .limits import CostLimit

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
