"""The nodes of jobs that run at the begin of a replay, and whether nodes are only counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ....heuristics.kernels.events.beginning import crowded, on_nodes, with_running
from ....heuristics.kernels.events.machine import counted
from ....instances.workload import Workload, WorkloadError
from ....models import Platform
from .begun import chunks_together


def is_counted(jobs: Workload, machine: Platform) -> bool:
    """Return whether it is enough to count the free nodes, see ``counted``: no running job is on given nodes."""
    return not any(r.nodes for r in jobs.running) and counted(
        with_running(jobs, jobs.running, machine.resources), machine
    )


def with_places(jobs: Workload, machine: Platform, by_policy: bool, best: bool, up: Sequence[bool] | None) -> Workload:
    """Return the workload with nodes for its running jobs, unless the replay only counts them; check their nodes.

    ``up``: whether each node runs jobs at the begin; None: all do.
    """
    running = jobs.running
    full = crowded(running, machine)
    if full is not None:
        job, node, resource = full
        why = f"more {resource} than it has" if resource else "but the platform has no such node"
        raise WorkloadError(f"{jobs.name}: job {job!r} runs at the begin on node {node!r}, {why}")
    foreign = [r for r in running if any(n > 0 and name not in machine.resources for name, n in r.job.request.items())]
    kept = [r for r in running if r not in foreign]
    if by_policy and is_counted(replace(jobs, running=tuple(kept)), machine):
        free, order = len(machine.nodes), sorted(range(len(kept)), key=lambda k: kept[k].start)
        fits = set[int]()
        for k in order:
            if kept[k].job.units <= free:
                fits.add(k)
                free -= kept[k].job.units
        kept = [r for k, r in enumerate(kept) if k in fits]
    elif kept:
        kept = on_nodes(kept, machine, best, up)
    placed = {r.job.id for r in kept}  # of the chunks of a job, all or none stay
    left = {r.job.id for c in chunks_together(running) if placed.issuperset(p.job.id for p in c) for r in c}
    kept = [r for r in kept if r.job.id in left]
    gone = [(r.job.id, "runs at the begin, but there is no room for it") for r in running if r.job.id not in left]
    report = (
        jobs.report.and_also({"running at the begin without room, left out": len(gone)}, gone) if gone else jobs.report
    )
    return replace(jobs, running=tuple(kept), report=report)
