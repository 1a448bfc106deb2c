"""The cost of distributed dispatching, as table 5.2 of [Bridi2018]: times of the protocol's phases, and messages."""

from __future__ import annotations

from .columns import compact, short
from .figures import TextGrid
from .results import ReplayResults

COUNTS = ("dardis_jobs", "dardis_runs", "messages", "timeouts", "restarts")
SECONDS = ("generation_one", "node_selection", "reservation", "generation_all")


def protocol(results: ReplayResults) -> TextGrid:
    """Return the mean cost of the protocol of each dispatcher that reports it."""
    rows = []
    for row in results.rows:
        counts = [row.metric(f"decisions_counts_{name}") or 0.0 for name in COUNTS]
        jobs, runs, messages, timeouts, restarts = counts
        if not jobs or not runs:
            continue
        one, selection, reserving, every = (row.metric(f"decisions_phases_{name}") or 0.0 for name in SECONDS)
        times = [one / runs, selection / runs, reserving / jobs, (one + selection + reserving) / jobs, every / runs]
        micro = [short(1e6 * seconds) for seconds in times]
        rates = [f"{runs / jobs:.2f}", f"{messages / jobs:,.0f}"]
        rows.append([row.name, compact(jobs), *rates, *micro, compact(timeouts), compact(restarts)])
    heads = [
        "dispatcher",
        "jobs",
        "runs\na job",
        "messages\na job",
        "generation\nus a node",
        "selection\nus",
        "reserve\nus a job",
        "in sum\nus a job",
        "all nodes\nus a run",
        "time-\nouts",
        "re-\nstarts",
    ]
    meaning = (
        "jobs: also those that are planned anew; runs of the protocol: one for each window that is tried, and for each job that "
        "backfilling looks at; messages: requests, offers, confirmations, notifications; generation: of starts, mean over the "
        "node managers; selection: of a start and nodes, by the task manager; reserve: on all chosen nodes; in sum: as if each "
        "node had a processor of its own and messages took no time; all nodes: generation on all nodes, one after the other; "
        "timeouts: runs in which not all node managers had answered in time; restarts: runs without an acknowledgement."
    )
    return TextGrid("cost of the protocol, in microseconds", heads, rows, meaning)
