"""The metrics of a replay: wait, slowdown, lateness, utilisation, queue length, decisions, accuracy of predictions.

``metric_records.Metrics`` states the formula and the unit of each metric. Only jobs with a known start and end count. A
value that is not known is None, never 0 or infinite.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import numpy as np
from numpy.typing import NDArray

from ..instances.workload import Workload
from ..models.platform import Platform
from .accuracy import Accuracy, accuracy
from .curves import queue_length, usage, utilisation, waiting
from .engine.moment import Ended
from .metric_records import DecisionMetrics, JobClass, Metrics, Spread, Timing, parts_of

if TYPE_CHECKING:
    from .engine.simulation import Decisions, Simulation

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
BOUND = 10  # seconds, the smallest duration in the bounded slowdown
HOUR = 3600
PHASES = ("model", "solve", "allocate")

__all__ = [
    "DecisionMetrics",
    "JobClass",
    "Metrics",
    "Spread",
    "Timing",
    "metrics",
    "queue_length",
    "recorded",
    "utilisation",
]


def metrics(simulation: Simulation) -> Metrics:
    """Return the metrics of a replay, or of the partial result of a replay that failed.

    Parameters
    ----------
    simulation : Simulation
        The result of ``simulate``, or ``SimulationError.partial``.

    Returns
    -------
    Metrics
        All metrics; jobs that never started count only in ``not_started`` and in the queue length.

    Examples
    --------
    >>> import schedlab as sl
    >>> found = metrics(sl.simulate("eurora_99", dispatcher="easy"))
    >>> found.started, found.slowdown.mean >= 1
    (99, True)
    """
    s = simulation
    done = (s.start >= 0) & (s.end >= 0)
    return _measure(
        s.workload,
        s.start,
        s.end,
        s.platform,
        killed=int(s.killed[done].sum()),
        decisions=s.decisions,
        expected=s.expected,
    )


def recorded(workload: Workload, platform: Platform | None = None) -> Metrics | None:
    """Return the metrics of the starts that the trace records from the real machine.

    Parameters
    ----------
    workload : Workload
        The trace. Jobs without a recorded start count only in ``jobs`` and ``not_started``.
    platform : Platform, optional
        The machine; without it there is no utilisation.

    Returns
    -------
    Metrics or None
        None if the trace records no start.
    """
    known = workload.recorded_start >= 0
    if not known.any():
        return None
    start = workload.recorded_start
    end = np.where(known, start + workload.runtime, -1)
    found = _measure(workload.keep(known), start[known], end[known], platform)
    missing = int((~known).sum())
    values = dict(parts_of(found))
    return Metrics(**{**values, "jobs": len(workload), "not_started": missing})


def _measure(
    workload: Workload,
    start: Ints,
    end: Ints,
    platform: Platform | None,
    *,
    killed: int | None = None,
    decisions: Decisions | None = None,
    expected: Ints | None = None,
) -> Metrics:
    done = (start >= 0) & (end >= 0)
    wait = (start - workload.submit)[done]
    took = (end - start)[done]
    slowdown, bounded = _slowdowns(wait, took)
    begin = int(workload.submit.min()) if workload.begin is None else workload.begin
    last, finish = (int(workload.submit.max()), int(end[done].max())) if done.any() else (None, None)
    makespan = None if finish is None else finish - begin
    used = _used(workload, platform, start, end)
    offered = {r: platform.total(r) for r in platform.resources} if platform else dict.fromkeys(workload.resources)
    queue_max, queue_mean = _queue(workload, start, begin, finish)
    calls = _decisions(decisions)
    return Metrics(
        jobs=len(workload),
        started=int(done.sum()),
        not_started=int((~done).sum()),
        killed=killed,
        wait=Spread.of(wait),
        slowdown=Spread.of(slowdown),
        bounded_slowdown=Spread.of(bounded),
        by_class=_by_class(wait, took, slowdown, bounded),
        thesis={**_lateness(workload, wait, done), **_overhead(calls, makespan)},
        makespan=makespan,
        utilisation={r: _share(used.get(r), begin, finish, offered[r]) for r in offered},
        utilisation_submitting={r: _share(used.get(r), begin, last, offered[r]) for r in offered},
        queue_max=queue_max,
        queue_mean=queue_mean,
        decisions=calls,
        accuracy=Accuracy() if expected is None else accuracy(expected[done], took),
    )


def _slowdowns(wait: Ints, took: Ints) -> tuple[Floats, Floats]:
    duration = np.maximum(took, 1)
    response = wait + duration
    return response / duration, np.maximum(1.0, response / np.maximum(duration, BOUND))


def _by_class(wait: Ints, took: Ints, slowdown: Floats, bounded: Floats) -> dict[str, JobClass]:
    masks = {
        "short": took < HOUR,
        "medium": (took >= HOUR) & (took <= 5 * HOUR),
        "long": took > 5 * HOUR,
    }
    return {
        name: JobClass(int(m.sum()), Spread.of(wait[m]), Spread.of(slowdown[m]), Spread.of(bounded[m]))
        for name, m in masks.items()
    }


def _lateness(workload: Workload, wait: Ints, done: NDArray[np.bool_]) -> dict[str, float | None]:
    if not wait.size:
        return dict.fromkeys(("AQ", "WQT", "NL", "TR", "WT"))
    ewt = np.array([q.ewt for q in workload.queues], np.int64)[workload.queue[done]]
    delay = np.maximum(0, wait - ewt)
    return {
        "AQ": float(wait.mean()),
        "WQT": float((wait / ewt).sum()),
        "NL": int((delay > 0).sum()),
        "TR": int(delay.sum()),
        "WT": float((delay / ewt).sum()),
    }


def _overhead(calls: DecisionMetrics, makespan: int | None) -> dict[str, float | None]:
    total = calls.seconds.total
    share = None if total is None or not makespan else 100 * total / makespan
    return {"AO": calls.seconds.mean, "MO": calls.seconds.max, "%O": share}


def _decisions(decisions: Decisions | None) -> DecisionMetrics:
    if decisions is None:
        return DecisionMetrics()
    d = decisions
    reported = bool(d.ended)
    total = np.asarray(d.seconds.get("total", ()), np.float64)
    parts = {name: np.asarray(d.seconds.get(name, ()), np.float64) for name in PHASES}
    solved = parts["solve"] > 0
    gains = np.asarray(d.gains, np.float64)
    gains = gains[np.isfinite(gains)]
    spread = Timing(mean=d.total_seconds / d.made if d.made else None, total=d.total_seconds)
    return DecisionMetrics(
        made=d.made,
        skipped=d.skipped,
        solver=sum(n for kind, n in d.ended.items() if kind != "trivial") if reported else None,
        ended={
            kind: d.ended.get(kind, 0) if reported else None for kind in dict.fromkeys((*get_args(Ended), *d.ended))
        },
        seconds=Timing.of(total) if total.size else spread,
        solver_seconds=Timing.of(total[solved]) if solved.shape == total.shape else Timing(),
        model_seconds=Timing.of(parts["model"]),
        solve_seconds=Timing.of(parts["solve"]),
        allocate_seconds=Timing.of(parts["allocate"]),
        gain_mean=float(gains.mean()) if gains.size else None,
        gain_none=int((gains <= 0).sum()) if gains.size else None,
        urgent=d.urgent if reported else None,
    )


def _used(workload: Workload, platform: Platform | None, start: Ints, end: Ints) -> dict[str, tuple[Ints, Ints]]:
    """Return resource -> curve of its use; an empty dict without a platform."""
    return {
        r: usage(workload, r, start, end) for r in (platform.resources if platform else ()) if r in workload.resources
    }


def _share(curve: tuple[Ints, Ints] | None, begin: int, end: int | None, offered: int | None) -> float | None:
    """Return the used share of the capacity ``offered`` from ``begin`` to ``end``, 0 to 1."""
    if curve is None or end is None or end <= begin or not offered:
        return None
    return _area(curve, begin, end) / (offered * (end - begin))


def _queue(workload: Workload, start: Ints, begin: int, finish: int | None) -> tuple[int | None, float | None]:
    """Return the largest and the mean number of waiting jobs over the makespan."""
    if finish is None:
        return None, None
    curve = waiting(np.maximum(workload.submit, begin), start)
    within = curve[1][curve[0] <= finish]
    mean = _area(curve, begin, finish) / (finish - begin) if finish > begin else None
    return int(within.max(initial=0)), mean


def _area(curve: tuple[Ints, Ints], begin: int, end: int) -> float:
    """Return the integral of a step function over [begin, end)."""
    times, values = curve
    edges = np.clip(np.append(times, end), begin, end)
    return float((np.diff(edges) * values).sum())
