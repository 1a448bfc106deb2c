"""The Gantt chart and the table of an eviction plan: when each job is killed, or writes its checkpoint."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ...errors import WrongArgument
from ..counts import how_many
from ..display.gantt import GREY, RED, Bar, Gantt, Mark, Row
from ..problem import Schedule
from .jobs import EvictionPlan
from .problem import Eviction

RUNS = "runs"
NAMES = {"app": "application-level checkpoint", "sys": "system-level checkpoint", "kill": "killed"}
AFTER = 0.04  # share of the deadline that is drawn after it, and half of it before now


class Checkpoint(NamedTuple):
    """The times of a checkpoint in seconds from now: it begins to wait, it writes, its nodes are free."""

    begin: int
    writes: int
    end: int


def checkpoints(problem: Eviction, plan: EvictionPlan) -> Iterator[tuple[str, Checkpoint]]:
    """Yield the jobs that take a checkpoint with its times; without shared bandwidth one after another, as listed.

    Examples
    --------
    >>> from .jobs import EvictionCandidate
    >>> jobs = [EvictionCandidate("a", 64, 7200, 90, None), EvictionCandidate("b", 64, 3600, 300, 200, wait_s=100)]
    >>> dict(checkpoints(Eviction(jobs, 128, 600), EvictionPlan({"a": "sys", "b": "app"})))["b"]
    Checkpoint(begin=120, writes=240, end=360)
    """
    at = 0
    for c in problem.candidates:
        what = plan.strategy.get(c.id, "keep")
        if what not in problem.checkpoint_steps[c.id]:
            continue
        whole, writing = (
            steps[c.id][what] * problem.step_s for steps in (problem.checkpoint_steps, problem.writing_steps)
        )
        if problem.shared_bandwidth:
            start = plan.start.get(c.id, whole - writing)
            yield c.id, Checkpoint(0, start, start + writing)
        else:
            yield c.id, Checkpoint(at, at + whole - writing, at + whole)
            at += whole


def gantt(problem: Eviction, plan: Schedule) -> Gantt:
    """Return the Gantt chart of a plan: jobs are rows; they hold their nodes as long as they run or write.

    Parameters
    ----------
    problem : Eviction
    plan : EvictionPlan

    Returns
    -------
    Gantt
        Times are seconds from now.

    Raises
    ------
    TypeError
        If the schedule is no plan.
    """
    strategy = _of(plan).strategy
    written = dict(checkpoints(problem, _of(plan)))
    end = max([-int(-problem.deadline_s * (1 + AFTER)), *(c.end for c in written.values()), 1])
    bars = []
    for k, c in enumerate(problem.candidates):
        what = strategy.get(c.id, "keep")
        if c.id in written:
            _, writes, free = written[c.id]
            bars += [Bar(k, 0, writes, "", RUNS, 0.3, 0.7)] if writes else []
            bars.append(Bar(k, writes, free, what, NAMES[what]))
        elif what == "kill":
            bars.append(Bar(k, 0, 0, f"loses {c.loss / 3600:,.4g} node-h", NAMES["kill"]))
        else:
            bars.append(Bar(k, 0, end, "", RUNS, 0.3, 0.7))
    return Gantt(
        tuple(Row(f"{c.id} ({how_many(c.nodes, 'node', ',')})") for c in problem.candidates),
        tuple(bars),
        (*NAMES.values(), RUNS),
        colours={RUNS: GREY, NAMES["kill"]: RED},
        title=f"{how_many(problem.nodes_needed, 'node', ',')} to free within {problem.deadline_s:,} s",
        start=-int(AFTER / 2 * problem.deadline_s),
        end=end,
        marks=(Mark(problem.deadline_s, "deadline"),),
    )


def rows(problem: Eviction, plan: Schedule) -> list[dict[str, Any]]:
    """Return a row for each job of a plan.

    Parameters
    ----------
    problem : Eviction
    plan : EvictionPlan

    Returns
    -------
    list of dict
        The columns job, strategy, start (of the checkpoint, with shared bandwidth), nodes (number), writes (begin of
        the checkpoint, s from now), end (the nodes are free, s from now; None if the job is kept), loss (node-seconds).
    """
    written = dict(checkpoints(problem, _of(plan)))
    entries = []
    for row in plan.rows():
        c = problem.by_id[row["job"]]
        times = written.get(c.id)
        killed = row["strategy"] == "kill"
        end = 0 if killed else None
        if times is not None:
            end = times.end
        entries.append(
            {
                **row,
                "nodes": c.nodes,
                "writes": None if times is None else times.writes,
                "end": end,
                "loss": c.loss if killed else 0,
            }
        )
    return entries


def _of(plan: Schedule) -> EvictionPlan:
    if not isinstance(plan, EvictionPlan):
        raise WrongArgument(f"an eviction problem needs an EvictionPlan, not a {type(plan).__name__}")
    return plan
