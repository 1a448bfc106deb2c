"""How an eviction problem is shown: the Gantt chart and the table of a plan, and the elements of which an explanation speaks.

The elements are the nodes needed, the deadline, the bandwidth, and the cost of evicting each job. Without its element, no
nodes are needed; checkpoints may take any time; the file system writes all checkpoints at once; and a job can be killed
without a loss. As every job can be killed, a problem is only infeasible with a limit on its objectives, the loss and the
checkpoint time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ...errors import WrongArgument
from ..elements import Element, Elements, named, plain_sentence
from ..gantt import GREY, RED, Bar, Gantt, Mark, Row
from ..problem import Schedule
from ..words import duration, how_many, listed
from .jobs import EvictionCandidate, EvictionPlan
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
        writes = None
        if times is not None:
            end = times.end
            writes = times.writes
        loss = c.loss if killed else 0
        entries.append({**row, "nodes": c.nodes, "writes": writes, "end": end, "loss": loss})
    return entries


def _of(plan: Schedule) -> EvictionPlan:
    if not isinstance(plan, EvictionPlan):
        raise WrongArgument(f"an eviction problem needs an EvictionPlan, not a {type(plan).__name__}")
    return plan


# --- The elements of which an explanation speaks.

NODES = "nodes needed"
DEADLINE = "deadline"
BANDWIDTH = "bandwidth"
LOSS, TIME = "loss in node-seconds", "checkpoint time in seconds"


class EvictionElements(Elements):
    """The elements of an eviction problem.

    Parameters
    ----------
    problem : Eviction
        The problem.
    """

    objectives = (LOSS, TIME)

    def __init__(self, problem: Eviction) -> None:
        self.problem = problem
        by_loss = sorted(problem.candidates, key=lambda c: -c.loss)
        self.all = (
            Element("limit", NODES, f"{how_many(problem.nodes_needed, 'node', verb='are')} needed"),
            Element("deadline", DEADLINE, f"checkpoints end within {duration(problem.deadline_s)}"),
            *([Element("limit", BANDWIDTH, _bandwidth(problem))] if problem.shared_bandwidth else []),
            *(Element("job", c.id, _cost(c)) for c in by_loss),
        )

    def part(self, kept: Collection[Element]) -> Eviction:
        """Return the problem with the kept elements alone."""
        p = self.problem
        names = {e.name for e in kept if e.kind != "job"}
        jobs = {e.name for e in kept if e.kind == "job"}
        longest = sum(max(steps.values(), default=0) for steps in p.checkpoint_steps.values())
        draw = sum(c.mb_s or 0 for c in p.candidates)
        bandwidth = p.file_system_mb_s
        if bandwidth is not None and BANDWIDTH not in names:
            bandwidth = max(bandwidth, int(draw) + 1)
        nodes = p.nodes_needed if NODES in names else 0
        deadline = p.deadline_s if DEADLINE in names else max(p.deadline_s, longest * p.step_s)
        candidates = [c if c.id in jobs else replace(c, loss=0) for c in p.candidates]
        return p.replace(jobs=candidates, nodes_needed=nodes, deadline_s=deadline, file_system_mb_s=bandwidth)

    def sentence(self, found: Sequence[Element]) -> str:
        """Return how many nodes are free without a loss in time, and what is missing."""
        jobs = named(found, "job")
        limits = [e.text for e in found if e.kind == "limit" and e.name in (LOSS, TIME)]
        if NODES not in {e.name for e in found} or not limits:
            return plain_sentence(found)
        others = [c.nodes for c in self.problem.candidates if c.id not in jobs]
        if not jobs:
            return plain_sentence(found)
        within = [e.text for e in found if e.name in (DEADLINE, BANDWIDTH)]
        return (
            f"{how_many(self.problem.nodes_needed, 'node', verb='are')} needed, and the jobs other than {listed(jobs)} have {sum(others)}; "
            f"no choice among {listed(jobs)} frees the missing nodes if {listed([*within, *limits])}"
        )


def _bandwidth(problem: Eviction) -> str:
    return f"the file system writes {problem.file_system_mb_s:g} MB/s"


def _cost(c: EvictionCandidate) -> str:
    """Return the nodes of a job, its loss and its checkpoints in words."""
    kinds = (("an application-level", c.application_s), ("a system-level", c.system_s))
    written = [f"{kind} one ends after {float(s):g} s" for kind, s in kinds if s is not None]
    checkpoint = f"with a checkpoint, {listed(written)}" if written else "it can take no checkpoint"
    return f"{c.id} ({how_many(c.nodes, 'node')}) loses {c.loss} node-seconds if it is killed; {checkpoint}"
