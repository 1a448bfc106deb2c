"""Compilation of the kernels on a tiny problem."""

from __future__ import annotations

from functools import cache

import numpy as np

from ...models import Dispatch, Job, NodeGroup, Platform, Queue
from ...models.compiled import compile_for
from ..arrays import arrays
from ..clock import Clock
from ..kernels.aggregate import new_aggregate, take
from ..kernels.costs import objective
from ..kernels.earliest import choose, new_scratch
from ..kernels.orders.moves import OrderResult
from ..kernels.placement import put, put_counted
from ..kernels.profile import new_profile
from .first_solution import ListScheduler
from .moves import move_jobs, not_worse
from .multi_search import multi_search


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
    a, nodes = arrays(tiny()), np.zeros(1, np.int64)
    objective(a.costs, a.jobs, np.arange(3) * 10)
    profile = new_profile(a.machine, 64)
    aggregate = new_aggregate(a.machine, a.jobs, profile)
    compile_for(put, profile, a.jobs, 0, 0, nodes, 1)
    compile_for(take, aggregate, profile, a.jobs.request[0], 0, 10, nodes, 1)
    compile_for(choose, profile, a.machine, new_scratch(1), 1, 0, nodes)
    compile_for(put_counted, profile, a.jobs, aggregate, 0, 0, nodes)


def warm_up_moves_late() -> None:
    """Compile for a second process the moves of single jobs; it waits for the placement, which the first one compiles."""
    scheduler, starts = ListScheduler(arrays(tiny())), np.arange(3) * 10
    value = scheduler.objective(starts)
    answer = OrderResult(np.arange(3), starts, np.zeros(3, np.int64))
    scheduler.mover().improve(answer, np.array([[0, 1]]), np.arange(2), value, value, *not_worse(1), Clock(None).stop)
