"""The jobs of a profit problem that earn nothing any more: they follow by a rule once nothing counts."""

from __future__ import annotations

from ..models import Profit, Running, Schedule
from .rules import schedule_by_rule


def with_parked(problem: Profit, schedule: Schedule) -> Schedule:
    """The schedule with a start for the jobs that it lacks, by ``rule:est`` from the problem's ``until`` on.

    Jobs that could not wait may start later than that; the others then follow after all of them.
    """
    rest = [j for j in problem.jobs if j.id not in schedule.start]
    if not rest:
        return schedule
    dispatch = problem.dispatch
    placed = [(j, schedule.start[j.id]) for j in problem.jobs if j.id in schedule.start]
    ends = [start + dispatch.duration(j) for j, start in placed if start >= problem.until]
    now = max([problem.until, *ends])
    running = [
        Running(j, start, schedule.nodes[j.id], start + dispatch.duration(j))
        for j, start in placed
        if start + dispatch.duration(j) > now
    ]
    after = schedule_by_rule(dispatch.replace(jobs=rest, now=now, running=running), "est")
    return Schedule({**schedule.start, **after.start}, {**schedule.nodes, **after.nodes})
