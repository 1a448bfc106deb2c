"""Postponed jobs of a profit problem: jobs that find no start before ``horizon_end``, after which nothing is earned."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ...models import Profit, Running, Schedule
from ..clock import Clock
from ..kernels.placement import POSTPONED
from ..kernels.profile import Ints
from ..rules import schedule_by_rule

if TYPE_CHECKING:
    from ..arrays import Arrays


def with_postponed(problem: Profit, schedule: Schedule) -> Schedule:
    """Add starts for the jobs that the schedule lacks, by ``rule:est`` from ``horizon_end`` on.

    Some jobs cannot be postponed and may start after ``horizon_end``; the postponed jobs follow after the end of all of
    these.
    """
    rest = [j for j in problem.jobs if j.id not in schedule.start]
    if not rest:
        return schedule
    dispatch = problem.dispatch
    scheduled = [(j, schedule.start[j.id]) for j in problem.jobs if j.id in schedule.start]
    ends = [start + dispatch.duration(j) for j, start in scheduled if start >= problem.horizon_end]
    now = max([problem.horizon_end, *ends])
    running = [
        Running(j, start, schedule.nodes[j.id], start + dispatch.duration(j))
        for j, start in scheduled
        if start + dispatch.duration(j) > now
    ]
    after = schedule_by_rule(dispatch.replace(jobs=rest, now=now, running=running), "est")
    return Schedule({**schedule.start, **after.start}, {**schedule.nodes, **after.nodes})


def reserve_for_postponed(clock: Clock, arrays: Arrays, starts: Ints, nodes: Ints) -> None:
    """Stop the search earlier by the time that ``with_postponed`` takes, measured on a first placement.

    Parameters
    ----------
    clock
        The clock of the search.
    arrays
        The arrays of the problem.
    starts
        Start of each job in seconds, shape (jobs,); ``POSTPONED`` for a job without a start.
    nodes
        Node index of each unit, shape (units of all jobs,).
    """
    if (starts == POSTPONED).any():
        began = time.perf_counter()
        arrays.schedule(starts, nodes)
        clock.reserve(time.perf_counter() - began)
