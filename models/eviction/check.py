"""Verification and objective of eviction plans, on the data alone: no formulation, heuristic or solver takes part."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..language import Violation
from ..problem import Schedule
from .plan import STRATEGIES, EvictionPlan

if TYPE_CHECKING:
    from .problem import Eviction

CHECKPOINTS = ("app", "sys")


def verify(problem: Eviction, schedule: Schedule) -> list[Violation]:
    """Everything that the plan breaks, with the job concerned; empty if it is right.

    Checked: every job has one strategy, a checkpoint only where it is possible, enough nodes are freed, and the checkpoints
    end by the deadline: one after another, or side by side within the file system's bandwidth and none before its moment.
    """
    if not isinstance(schedule, EvictionPlan):
        return [
            Violation("plan", 1, f"an eviction problem is answered by an EvictionPlan, not a {type(schedule).__name__}")
        ]
    fractions = [Violation(j, 1, text) for j, text in schedule.not_whole()]
    if fractions:
        return fractions
    known = problem.by_id
    found = [Violation(j, 1, f"job {j!r} is not one of the problem") for j in schedule.strategy if j not in known]
    for c in problem.candidates:
        what = schedule.strategy.get(c.id)
        if what not in STRATEGIES:
            found.append(Violation(c.id, 1, f"job {c.id!r} must be one of {', '.join(STRATEGIES)}; given is {what!r}"))
        elif what in CHECKPOINTS and what not in problem.checkpoint_steps[c.id]:
            found.append(Violation(c.id, 1, f"job {c.id!r} cannot take a checkpoint of kind {what!r}"))
    freed = sum(known[j].nodes for j in schedule.evicted if j in known)
    if freed < problem.nodes_needed:
        missing = problem.nodes_needed - freed
        found.append(Violation("nodes", missing, f"{freed} nodes are freed, {problem.nodes_needed} are needed"))
    if not found and problem.shared_bandwidth:
        found += _side_by_side(problem, schedule)
    if not found:
        late = _checkpoint_steps(problem, schedule) - problem.steps
        if late > 0:
            took, limit = (problem.steps + late) * problem.step_s, problem.deadline_s
            found.append(
                Violation(
                    "deadline", late * problem.step_s, f"the checkpoints take {took} s, the deadline is {limit} s"
                )
            )
    return found


def _checkpoints(problem: Eviction, plan: EvictionPlan) -> Iterator[tuple[str, str]]:
    """The jobs that take a checkpoint, each with its kind."""
    return ((c.id, plan.strategy[c.id]) for c in problem.candidates if plan.strategy.get(c.id) in CHECKPOINTS)


def _side_by_side(problem: Eviction, plan: EvictionPlan) -> Iterator[Violation]:
    """Starts of checkpoints, and the bandwidth at every instant: at one instant ends come before starts."""
    events: list[tuple[int, float, str]] = []
    for job, what in _checkpoints(problem, plan):
        start = plan.start.get(job)
        if start is None:
            yield Violation(job, 1, f"job {job!r} has no start of its checkpoint")
            continue
        size = problem.writing_steps[job][what] * problem.step_s
        earliest = problem.checkpoint_steps[job][what] * problem.step_s - size
        if start < earliest:
            text = f"job {job!r} writes its checkpoint from {start} s on, {earliest - start} s before its moment"
            yield Violation(job, earliest - start, text)
        draw = float(problem.by_id[job].mb_s or 0)
        if size:
            events += [(start, draw, job), (start + size, -draw, job)]
    used, most = 0.0, float(problem.file_system_mb_s or 0)
    for time, draw, job in sorted(events):
        used += draw
        if draw > 0 and used > most * (1 + 1e-9):
            text = f"at {time} s checkpoints draw {used:g} MB/s, the file system has {most:g} (job {job!r} begins)"
            yield Violation("bandwidth", used - most, text)
            return


def _checkpoint_steps(problem: Eviction, plan: EvictionPlan) -> int:
    """Steps until the last checkpoint has ended."""
    if not problem.shared_bandwidth:
        return sum(problem.checkpoint_steps[job][what] for job, what in _checkpoints(problem, plan))
    writing = problem.writing_steps
    ends = (plan.start[job] + writing[job][what] * problem.step_s for job, what in _checkpoints(problem, plan))
    return -(-max(ends, default=0) // problem.step_s)


def objective(problem: Eviction, schedule: Schedule) -> tuple[int, int]:
    """(loss in node-seconds, checkpoint time in seconds). Raises TypeError for a schedule that is no plan."""
    if not isinstance(schedule, EvictionPlan):
        raise TypeError(f"an eviction problem is answered by an EvictionPlan, not a {type(schedule).__name__}")
    loss = sum(problem.by_id[job].loss for job, what in schedule.strategy.items() if what == "kill")
    return loss, _checkpoint_steps(problem, schedule) * problem.step_s
