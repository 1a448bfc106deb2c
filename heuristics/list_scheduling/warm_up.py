"""Compilation of the kernels on a tiny problem."""

from __future__ import annotations

from functools import cache

from ...models import Dispatch, Job, NodeGroup, Platform, Queue
from .moves import move_jobs
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
