"""Compilation of the kernels on a tiny problem."""

from __future__ import annotations

from functools import cache

from ...models import Dispatch, Job, NodeGroup, Platform, Queue
from .moves import move_jobs


def tiny() -> Dispatch:
    """Return a problem of three jobs on one node, for compiling kernels."""
    jobs = [Job(name, k, 10, 1, {"cores": 1}, "q", power=1.0) for k, name in enumerate("abc")]
    return Dispatch(Platform([NodeGroup("n", 1, {"cores": 1})]), jobs, [Queue("q", 1)])


@cache
def warm_up() -> None:
    """Compile the kernels, or load them from numba's cache, so that time measured afterwards is search time."""
    move_jobs(tiny(), "est", rounds=2)
