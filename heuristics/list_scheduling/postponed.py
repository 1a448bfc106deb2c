"""The jobs of a profit problem that earn nothing any more: they follow by a rule once nothing counts."""

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
    """The schedule with a start for the jobs that it lacks, by ``rule:est`` from the problem's ``horizon_end`` on.

    Jobs that could not wait may start later than that; the others then follow after all of them.
    """
    rest = [j for j in problem.jobs if j.id not in schedule.start]
    if not rest:
        return schedule
    dispatch = problem.dispatch
    placed = [(j, schedule.start[j.id]) for j in problem.jobs if j.id in schedule.start]
    ends = [start + dispatch.duration(j) for j, start in placed if start >= problem.horizon_end]
    now = max([problem.horizon_end, *ends])
    running = [
        Running(j, start, schedule.nodes[j.id], start + dispatch.duration(j))
        for j, start in placed
        if start + dispatch.duration(j) > now
    ]
    after = schedule_by_rule(dispatch.replace(jobs=rest, now=now, running=running), "est")
    return Schedule({**schedule.start, **after.start}, {**schedule.nodes, **after.nodes})


def reserve_for_postponed(clock: Clock, arrays: Arrays, starts: Ints, nodes: Ints) -> None:
    """Stop the search earlier by what ``with_postponed`` takes at its end, as measured on a first placement."""
    if (starts == POSTPONED).any():
        began = time.perf_counter()
        arrays.schedule(starts, nodes)
        clock.reserve(time.perf_counter() - began)
