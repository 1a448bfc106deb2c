"""What distributed dispatching over processes measures: packets, bytes, and the wall time of each phase."""

from __future__ import annotations

from .columns import compact, short
from .figures import TextGrid
from .results import ReplayResults


def network(results: ReplayResults) -> TextGrid:
    """Return the packets and wall times of each dispatcher that measures them."""
    rows = []
    for row in results.rows:
        jobs, runs, packets, size, silent = (
            row.metric(f"decisions_counts_{name}") or 0.0
            for name in ("dardis_jobs", "dardis_runs", "packets", "packet_bytes", "silent_nodes")
        )
        if not jobs or not runs or not packets:
            continue
        offers, selection, reserving, events, one = (
            row.metric(f"decisions_phases_{name}") or 0.0
            for name in ("wall_offers", "wall_selection", "wall_reservation", "wall_events", "generation_one")
        )
        times = [one / runs, offers / runs, selection / runs, reserving / jobs, events / jobs]
        in_sum = (offers + selection + reserving + events) / jobs
        kilobytes = short(size / 1000 / jobs)
        rows.append(
            [
                row.name,
                f"{packets / jobs:,.1f}",
                kilobytes,
                *(short(1e3 * s) for s in (*times, in_sum)),
                compact(silent),
            ]
        )
    heads = [
        "dispatcher",
        "packets\na job",
        "KB\na job",
        "one node\nms a run",
        "offers\nms a run",
        "selection\nms a run",
        "reserve\nms a job",
        "events\nms a job",
        "in sum\nms a job",
        "silent\nnodes",
    ]
    meaning = (
        "packets: between the processes, of requests and answers, which have the messages for all nodes of a process; KB: their "
        "size; one node: processor time of the generation on one node, which is all that phases 1 to 3 take if messages take no "
        "time and each node has a processor of its own; offers: wall time of phases 1 to 3, until the last offer has arrived; "
        "selection: phase 4; reserve: phases 5 and 6, until the chosen nodes have acknowledged; events: extensions of "
        "reservations; silent nodes: those whose process did not answer before the timer ended."
    )
    return TextGrid("the protocol as measured between processes, wall time in milliseconds", heads, rows, meaning)
