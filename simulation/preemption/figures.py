"""The figures of a replay with on-demand jobs: their delays, and what the batch jobs lose."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..spread import Spread

if TYPE_CHECKING:
    from ..groups import JobFigures
    from ..verify.runs import Replay

HOUR = 3600
Figures = dict[str, float | None]


def preemption_figures(replay: Replay, figures: JobFigures) -> Figures:
    """Return the figures of a replay by name; an empty dict without preemption.

    Parameters
    ----------
    replay : Replay
        The replay.
    figures : JobFigures
        Wait and slowdown of its jobs.

    Returns
    -------
    dict
        ``jobs``: on-demand jobs; ``delay_mean``, ``delay_max``: seconds from submission to first start; ``missed``: jobs
        that started late or never. ``lost_node_hours``: node-hours of batch jobs that did not count, the sum of
        ``repeated_`` (work since the last checkpoint), ``writing_`` (checkpoints at departures, and the wait for the file
        system) and ``restart_node_hours``. ``killed``, ``application``, ``system``: departures by strategy; ``failed``:
        attempts that ended as a node failed. ``batch_wait_mean`` (s), ``batch_slowdown_mean`` and
        ``batch_bounded_slowdown_mean``: of batch jobs. ``decisions``: calls of the evictor; ``decision_ms_mean``,
        ``decision_ms_max``: their wall time.
    """
    found = replay.preemption
    if found is None:
        return {}
    rows = np.array(found.rows, np.int64)
    batch = ~np.isin(figures.row, rows)
    jobs = zip(found.rows, found.settings.jobs, strict=True)
    delays = {job.id: found.first_start[row] - job.submit for row, job in jobs if row in found.first_start}
    late = [job.id for job in found.settings.jobs if delays.get(job.id, job.start_within + 1) > job.start_within]
    kinds = [d.strategy for d in found.departures]
    seconds = [1000 * d.seconds for d in found.decisions]
    return {
        "jobs": len(rows),
        "delay_mean": _mean(list(delays.values())),
        "delay_max": max(delays.values(), default=None),
        "missed": len(late),
        **_losses(replay),
        "killed": kinds.count("kill"),
        "application": kinds.count("app"),
        "system": kinds.count("sys"),
        "batch_wait_mean": Spread.of(figures.wait[batch]).mean,
        "batch_slowdown_mean": Spread.of(figures.slowdown[batch]).mean,
        "batch_bounded_slowdown_mean": Spread.of(figures.bounded_slowdown[batch]).mean,
        "decisions": len(seconds),
        "decision_ms_mean": _mean(seconds),
        "decision_ms_max": max(seconds, default=None),
    }


def _mean(values: list[int] | list[float]) -> float | None:
    return float(np.mean(values)) if values else None


def _losses(replay: Replay) -> Figures:
    """Return the node-hours that batch jobs lost, and the number of attempts that failed."""
    found, history, units = replay.preemption, replay.history, replay.workload.units
    assert found is not None
    left = {(d.row, d.attempt): d for d in found.departures}
    lost = writing = restart = 0
    failed, again = 0, found.settings.restart
    for k, a in [] if history is None else zip(history.rows.tolist(), history.early, strict=True):
        if k in found.rows:
            continue
        nodes, d = int(units[k]), left.get((k, a.number))
        failed += d is None
        lost += nodes * a.lost
        begun = min(again if a.number > 1 else 0, a.end - a.start)
        written = 0 if d is None else min(d.end - d.stop, a.end - a.start - begun)
        writing, restart = writing + nodes * written, restart + nodes * begun
    last = set() if history is None else set(history.rows.tolist()) - set(found.rows)
    final = sum(int(units[k]) * again for k in last if replay.start[k] >= 0)
    lost, restart = lost + final, restart + final
    return {
        "lost_node_hours": lost / HOUR,
        "repeated_node_hours": (lost - writing - restart) / HOUR,
        "writing_node_hours": writing / HOUR,
        "restart_node_hours": restart / HOUR,
        "failed": failed,
    }
