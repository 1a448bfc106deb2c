"""Verification and objective of eviction plans from the data alone, without a formulation, heuristic or solver."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...errors import MissingValue, WrongArgument
from ..language import Violation
from ..problem import Schedule
from .plan import STRATEGIES, EvictionPlan

if TYPE_CHECKING:
    from .problem import Eviction

CHECKPOINTS = ("app", "sys")


def verify(problem: Eviction, schedule: Schedule) -> list[Violation]:
    """Return all violations of the plan, each with the job concerned; an empty list for a feasible plan.

    Every job must have one strategy, and a checkpoint only of a kind that it can take. Enough nodes must be freed. The
    checkpoints must end by the deadline: one after another, or with a shared bandwidth in parallel, where none starts
    before its earliest time and the file system's bandwidth is never exceeded.
    """
    if not isinstance(schedule, EvictionPlan):
        return [Violation("plan", 1, f"an eviction problem needs an EvictionPlan, not a {type(schedule).__name__}")]
    fractions = [Violation(j, 1, text) for j, text in schedule.not_whole()]
    if fractions:
        return fractions
    known = problem.by_id
    found = [Violation(j, 1, f"job {j!r} is not one of the problem") for j in schedule.strategy if j not in known]
    for c in problem.candidates:
        strategy = schedule.strategy.get(c.id)
        if strategy not in STRATEGIES:
            found.append(
                Violation(c.id, 1, f"job {c.id!r} must be one of {', '.join(STRATEGIES)}; given is {strategy!r}")
            )
        elif strategy in CHECKPOINTS and strategy not in problem.checkpoint_steps[c.id]:
            found.append(Violation(c.id, 1, f"job {c.id!r} cannot take a checkpoint of kind {strategy!r}"))
    freed = sum(known[j].nodes for j in schedule.evicted if j in known)
    if freed < problem.nodes_needed:
        missing = problem.nodes_needed - freed
        found.append(Violation("nodes", missing, f"{freed} nodes are freed, {problem.nodes_needed} are needed"))
    if not found and problem.shared_bandwidth:
        found += _in_parallel(problem, schedule)
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
    """Yield the jobs that take a checkpoint, each with the kind of checkpoint."""
    return ((c.id, plan.strategy[c.id]) for c in problem.candidates if plan.strategy.get(c.id) in CHECKPOINTS)


def _in_parallel(problem: Eviction, plan: EvictionPlan) -> Iterator[Violation]:
    """Yield violations of starts and of the bandwidth; at equal times, ends are processed before starts."""
    events: list[tuple[int, float, str]] = []
    for job, strategy in _checkpoints(problem, plan):
        start = plan.start.get(job)
        if start is None:
            yield Violation(job, 1, f"job {job!r} takes a checkpoint but has no start of it")
            continue
        size = problem.writing_steps[job][strategy] * problem.step_s
        earliest = problem.checkpoint_steps[job][strategy] * problem.step_s - size
        if start < earliest:
            early = earliest - start
            text = (
                f"job {job!r} writes its checkpoint from {start} s on, {early} s before the earliest time, {earliest} s"
            )
            yield Violation(job, earliest - start, text)
        bandwidth = float(problem.by_id[job].mb_s or 0)
        if size:
            events += [(start, bandwidth, job), (start + size, -bandwidth, job)]
    used, most = 0.0, float(problem.file_system_mb_s or 0)
    for time, change, job in sorted(events):
        used += change
        if change > 0 and used > most * (1 + 1e-9):
            text = f"at {time} s checkpoints use {used:g} MB/s, but the file system has {most:g} MB/s (job {job!r} starts to write)"
            yield Violation("bandwidth", used - most, text)
            return


def _checkpoint_steps(problem: Eviction, plan: EvictionPlan) -> int:
    """Return the number of steps until the last checkpoint has ended."""
    if not problem.shared_bandwidth:
        return sum(problem.checkpoint_steps[job][strategy] for job, strategy in _checkpoints(problem, plan))
    writing = problem.writing_steps
    ends = (plan.start[job] + writing[job][strategy] * problem.step_s for job, strategy in _checkpoints(problem, plan))
    return -(-max(ends, default=0) // problem.step_s)


def objective(problem: Eviction, schedule: Schedule) -> tuple[int, int]:
    """Return (loss in node-seconds, checkpoint time in seconds).

    Raises
    ------
    TypeError
        If the schedule is no EvictionPlan.
    KeyError
        If the plan lacks a strategy or a start that it needs, or has a job that the problem has not.
    """
    if not isinstance(schedule, EvictionPlan):
        raise WrongArgument(f"an eviction problem needs an EvictionPlan, not a {type(schedule).__name__}")
    missing = [c.id for c in problem.candidates if c.id not in schedule.strategy]
    if missing:
        raise MissingValue(
            f"job {missing[0]!r} has no strategy in the plan ({len(missing)} of {len(problem.candidates)} jobs); the "
            "objective is that of all jobs"
        )
    unknown = [j for j in schedule.strategy if j not in problem.by_id]
    if unknown:
        raise MissingValue(f"job {unknown[0]!r} of the plan is not one of the problem")
    for job, strategy in _checkpoints(problem, schedule):
        if strategy not in problem.checkpoint_steps[job]:
            raise MissingValue(f"job {job!r} cannot take a checkpoint of kind {strategy!r}")
        if problem.shared_bandwidth and job not in schedule.start:
            raise MissingValue(f"job {job!r} takes a checkpoint but has no start of it")
    loss = sum(problem.by_id[job].loss for job, strategy in schedule.strategy.items() if strategy == "kill")
    return loss, _checkpoint_steps(problem, schedule) * problem.step_s
