"""What the relaxation prices: the jobs, and the running jobs, which have one possible start."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ...models import Dispatch
from ...models.dispatch.job_arrays import Floats, Ints, column, offsets, request_rows
from ...models.dispatch.objectives import Excess, Late

Vector = tuple[int, ...]
Demand = tuple[tuple[int, Vector], ...]
"""Units and request of each chunk of a job."""


class Items(NamedTuple):
    """Jobs, then running jobs, as arrays.

    A start s of item i costs ``weight[i] * max(0, s - free[i])``, or 1 if ``late`` and ``s > free[i]``; ``constant`` is the
    cost that no start changes.

    Parameters
    ----------
    duration : array of int, shape (items,)
        Seconds; of a running job what is left from ``now``.
    weight : array of float, shape (items,)
        Cost per second of delay.
    free : array of int, shape (items,)
        The last start in seconds without cost.
    late : bool
        Whether the objective counts late jobs.
    constant : float
        The part of the cost that is the same for all schedules.
    first : array of int, shape (items + 1,)
        The start windows of item i are ``first[i]`` to ``first[i + 1] - 1``.
    low, high : array of int, shape (windows,)
        First and last start of each window in seconds.
    kind : array of int, shape (items,)
        Index of the demand of the item.
    demands : list of Demand
        The distinct demands.
    jobs : int
        The number of jobs.
    """

    duration: Ints
    weight: Floats
    free: Ints
    late: bool
    constant: float
    first: Ints
    low: Ints
    high: Ints
    kind: Ints
    demands: list[Demand]
    jobs: int

    @property
    def release(self) -> Ints:
        """The earliest start of each item in seconds."""
        return self.low[self.first[:-1]]


def supported(problem: Dispatch) -> bool:
    """Return whether the objective is a sum over jobs, and every job has a start window."""
    return isinstance(problem.costs, Excess | Late) and all(map(problem.start_windows, problem.jobs))


def items_of(problem: Dispatch) -> Items:
    """Return the jobs and the running jobs of a problem whose objective is a sum over jobs."""
    costs, jobs = problem.costs, problem.job_arrays
    assert isinstance(costs, Excess | Late)
    running = [r for r in problem.running if r.end > problem.now]
    windows = [problem.start_windows(j) for j in problem.jobs] + [((problem.now, problem.now),) for _ in running]
    number: dict[Demand, int] = {}
    kind = [number.setdefault(demand, len(number)) for demand in _demands(problem)]
    excess = costs if isinstance(costs, Excess) else None
    weight = np.zeros(len(jobs)) if excess is None else excess.weight
    return Items(
        np.concatenate([jobs.duration, column(r.end - problem.now for r in running)]),
        np.concatenate([weight, np.zeros(len(running))]),
        np.concatenate([jobs.submit + costs.grace, np.full(len(running), problem.now)]),
        excess is None,
        0.0 if excess is None else float(excess.constant.sum()),
        offsets([len(w) for w in windows]),
        column(lo for w in windows for lo, _ in w),
        column(hi for w in windows for _, hi in w),
        column(kind),
        list(number),
        len(jobs),
    )


def _demands(problem: Dispatch) -> Iterator[Demand]:
    """Yield the demand of each job, then of each running job."""
    resources = problem.platform.resources
    for job in problem.jobs:
        yield tuple(zip((part.units for part in job.parts), request_rows(job.parts, resources), strict=True))
    for r in problem.running:
        if r.end > problem.now:
            yield ((sum(r.nodes.values()), request_rows([r.job], resources)[0]),)
