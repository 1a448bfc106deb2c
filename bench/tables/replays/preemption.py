"""The figures of replays with on-demand jobs as a grid of text: a row for each dispatcher and evictor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import fmean
from typing import Any

from .columns import count, short
from .figures import TextGrid
from .results import ReplayResults

COLUMNS = (
    ("missed", "missed", count),
    ("delay\nmean s", "delay_mean", count),
    ("delay\nmax s", "delay_max", count),
    ("lost\nnode h", "lost_node_hours", count),
    ("re-\npeated", "repeated_node_hours", count),
    ("writing", "writing_node_hours", count),
    ("restart", "restart_node_hours", count),
    ("killed", "killed", count),
    ("app", "application", count),
    ("sys", "system", count),
    ("failed", "failed", count),
    ("batch\nwait s", "batch_wait_mean", count),
    ("batch\nslow-\ndown", "batch_slowdown_mean", short),
    ("ms a\ndecision", "decision_ms_mean", short),
)
MEANING = (
    "missed: on-demand jobs that started after their latest start, or not; delay: from their submission to their start; lost: "
    "node-hours of batch jobs that did not count, the sum of repeated work, of writing checkpoints to leave, and of restarts; "
    "killed, app, sys: batch jobs that left, killed, after an application-level or a system-level checkpoint; failed: runs "
    "that ended as a node failed; batch: mean wait and slowdown of batch jobs."
)


def preemption_grid(results: ReplayResults) -> TextGrid:
    """Return the figures of one workload; no rows without on-demand jobs and failures."""
    return evictor_grid([r for row in results.rows for r in row.records])


def evictor_grid(records: Iterable[Mapping[str, Any]]) -> TextGrid:
    """Return a row for each dispatcher and evictor, with the means over the seeds."""
    found: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for r in records:
        if r.get("preemption") is not None and r.get("metrics") is not None:
            found.setdefault((r["method"], r["replay"].get("evictor") or "none"), []).append(r["metrics"])
    rows = []
    for names, metrics in found.items():
        cells = []
        for _, name, written in COLUMNS:
            known = [m.get(f"preemption_{name}") for m in metrics]
            values = [v for v in known if v is not None]
            cells.append(written(fmean(values)) if len(values) == len(known) else "-")
        rows.append([" ".join(names), *cells])
    return TextGrid("on-demand jobs and losses", ["dispatcher\nand evictor", *(h for h, *_ in COLUMNS)], rows, MEANING)
