"""The removable elements of an eviction problem: nodes needed, deadline, bandwidth, and the cost of evicting each job.

Without its element, no nodes are needed; checkpoints may take any time; the file system writes all checkpoints at once;
and a job can be killed without a loss. As every job can be killed, a problem is only infeasible with a limit on its
objectives, the loss and the checkpoint time.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from ..counts import how_many
from ..elements import Element, Elements, named, plain_sentence
from ..words import duration, listed
from .jobs import EvictionCandidate
from .problem import Eviction

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
        return p.replace(
            jobs=[c if c.id in jobs else replace(c, loss=0) for c in p.candidates],
            nodes_needed=p.nodes_needed if NODES in names else 0,
            deadline_s=p.deadline_s if DEADLINE in names else max(p.deadline_s, longest * p.step_s),
            file_system_mb_s=bandwidth,
        )

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
