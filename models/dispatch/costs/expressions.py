"""Costs of the starts of jobs as expressions of the modelling language.

With the start variable s, submit time q, weight and grace of a job (``objectives``), and its wait w = s - q::

    Excess    sum over jobs of weight * (w - grace) + constant, with max(0, w - grace) where grace > 0
    Late      sum over jobs of (w >= grace + 1)
    LastEnd   max(ends of the jobs, other ends)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ... import language as sl
from ...language import Expression, Interval, Linear
from ...language.quantities import Number
from ..objectives import Excess, JobCosts, LastEnd, Late


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
            weights, shift = costs.weight.tolist(), float((costs.constant - costs.weight * begun).sum())
        # made directly: sl.sum would check weights again that are known to be finite
        found = Linear({v.start: w for v, w in zip(jobs, weights, strict=True) if w}, shift)
        return found if fixed is None else found + fixed
    terms = cost_terms(costs, jobs, submit)
    if isinstance(costs, Late):
        found = sl.sum(terms)
    else:
        found = sl.sum(terms, weights=None if costs.is_unweighted else costs.weight.tolist())
        if costs.constant.any():
            found = found + float(costs.constant.sum())
    return found if fixed is None else found + fixed


def cost_terms(costs: Excess | Late, jobs: Sequence[Interval], submit: Sequence[int]) -> list[Expression]:
    """Return for each job the wait beyond its grace in seconds, or 1 if it is late and 0 if not."""
    waits = [v.start - q for v, q in zip(jobs, submit, strict=True)]
    graces = costs.grace.tolist()
    if isinstance(costs, Late):
        return [sl.holds(w >= g + 1) for w, g in zip(waits, graces, strict=True)]
    # no job starts before its submit time: a grace of at most 0 needs no maximum
    return [sl.positive_part(w - g) if g > 0 else w - g for w, g in zip(waits, graces, strict=True)]
