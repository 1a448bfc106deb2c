"""The metrics of a replay: wait, slowdown, lateness, utilisation, queue length, decisions, accuracy of predictions.

``metric_records.Metrics`` states the formula and the unit of each metric. Only jobs with a known start and end count. A
value that is not known is None, never 0 or infinite.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, get_args

import numpy as np
from numpy.typing import NDArray

from ..errors import WrongValue
from ..instances.logs.dependencies import arrived
from ..instances.workload import Workload
from ..models.platform import Platform
from .accuracy import Accuracy, accuracy
from .curves import left_at, over_time, queue_curve, queue_length, running, share_used, usage, use_curve, utilisation
from .desired.figures import desired_figures, power_peak
from .dispatcher import Ended
from .groups import GROUPINGS, GroupMetrics, Groups, JobFigures, groups_of
from .late_starts import late_starts, lateness
from .lateness import thesis_lateness, wait_contribution, wait_over_ewt
from .metric_records import BSLD_FLOOR, DecisionMetrics, JobClass, Metrics, Timing, parts_of
from .model_sizes import ModelSizes
from .preemption.figures import preemption_figures
from .spread import Spread

if TYPE_CHECKING:
    from .attempts import History
    from .result import Decisions, Simulation

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
HOUR = 3600
PHASES = ("start", "model", "solve", "allocate")

__all__ = [
    "BSLD_FLOOR",
    "GROUPINGS",
    "DecisionMetrics",
    "GroupMetrics",
    "Groups",
    "JobClass",
    "Metrics",
    "ModelSizes",
    "Spread",
    "Timing",
    "metrics",
    "queue_length",
    "recorded",
    "running",
    "utilisation",
]


def metrics(simulation: Simulation, bsld_floor: float = BSLD_FLOOR) -> Metrics:
    """Return the metrics of a replay, or of the partial result of a replay that failed.

    Parameters
    ----------
    simulation : Simulation
        The result of ``simulate``, or ``SimulationError.partial``.
    bsld_floor : float
        The least duration in the bounded slowdown, in seconds, above 0; usual values are 10 and 60.

    Returns
    -------
    Metrics
        All metrics; jobs that never started count only in ``not_started`` and in the queue length.

    Raises
    ------
    ValueError
        If ``bsld_floor`` is not a number above 0.

    Examples
    --------
    >>> import schedlab as sl
    >>> found = metrics(sl.simulate("eurora_99", dispatcher="easy"))
    >>> found.started, found.slowdown.mean >= 1
    (99, True)
    """
    s = simulation
    done = _completed(s.start, s.end, s.history)
    found = _measure(
        s.workload,
        s.start,
        s.end,
        s.platform,
        killed=int(s.killed[done].sum()),
        decisions=s.decisions,
        expected=s.expected,
        prediction_seconds=s.prediction_seconds,
        bsld_floor=bsld_floor,
        history=s.history,
        left=left_at(s),
    )
    found = replace(found, desired=desired_figures(s, s.desired), power_peak=power_peak(s))
    if s.preemption is None:
        return found
    figures = job_figures(s.workload, s.start, s.end, s.expected, bsld_floor, s.history)
    return replace(found, preemption=preemption_figures(s, figures))


def recorded(workload: Workload, platform: Platform | None = None, bsld_floor: float = BSLD_FLOOR) -> Metrics | None:
    """Return the metrics of the starts that the trace records from the real machine.

    Waits are counted as in a replay: of a job that waits for another one (``workload.after``), from the recorded end of
    that job and the think time on.

    Parameters
    ----------
    workload : Workload
        The trace. Jobs without a recorded start count only in ``jobs`` and ``not_started``.
    platform : Platform, optional
        The machine; without it there is no utilisation.
    bsld_floor : float
        The least duration in the bounded slowdown, in seconds, above 0.

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
    counted = arrived(workload, end)
    if workload.after:  # a job that did not wait for the other one, although the log names it, arrived by its start
        counted = replace(counted, submit=np.where(known, np.minimum(counted.submit, start), counted.submit))
    found = _measure(counted.keep(known), start[known], end[known], platform, bsld_floor=bsld_floor)
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
    prediction_seconds: float | None = None,
    bsld_floor: float = BSLD_FLOOR,
    history: History | None = None,
    left: Ints | None = None,
) -> Metrics:
    done = _completed(start, end, history)
    figures = job_figures(workload, start, end, expected, bsld_floor, history)
    wait, slowdown, bounded = figures.wait, figures.slowdown, figures.bounded_slowdown
    work = (end - start)[done]  # of all attempts
    took = work if history is None else work + history.less[done]
    begin = int(workload.submit.min()) if workload.begin is None else workload.begin
    last, finish = (int(workload.submit.max()), int(end[done].max())) if done.any() else (None, None)
    makespan = None if finish is None else finish - begin
    used = _used(workload, platform, start, end, history)
    offered = {r: platform.total(r) for r in platform.resources} if platform else dict.fromkeys(workload.resources)
    gone = np.zeros(0, np.int64) if left is None else left
    queue = queue_curve(np.maximum(workload.submit, begin), start, history, gone)
    queue_max, queue_mean = over_time(queue, begin, finish)
    running_curve = use_curve(start, end, np.ones_like(start), history)
    running_max, running_mean = over_time(running_curve, begin, finish)
    calls = _decisions(decisions)
    return Metrics(
        jobs=len(workload),
        started=int(done.sum()),
        not_started=int((~done).sum()),
        killed=killed,
        wait=Spread.of(wait),
        slowdown=Spread.of(slowdown),
        bounded_slowdown=Spread.of(bounded),
        by_class=_by_class(wait, work, slowdown, bounded),
        thesis={**thesis_lateness(workload, wait, done), **_overhead(calls, makespan)},
        makespan=makespan,
        utilisation={r: share_used(used.get(r), begin, finish, offered[r]) for r in offered},
        utilisation_submitting={r: share_used(used.get(r), begin, last, offered[r]) for r in offered},
        queue_max=queue_max,
        queue_mean=queue_mean,
        decisions=calls,
        accuracy=Accuracy() if expected is None else accuracy(expected[done], took),
        running_max=running_max,
        running_mean=running_mean,
        in_use={r: over_time(used[r], begin, finish)[1] if r in used else None for r in offered},
        wait_over_ewt=wait_over_ewt(workload, wait, done),
        prediction_seconds=prediction_seconds,
        bsld_floor=float(bsld_floor),
        groups=groups_of(workload, figures),
        percentiles=_percentiles(figures),
        late_starts=late_starts(figures.late),
        wait_contribution=wait_contribution(workload, wait, done),
        running_submitting=share_used(running_curve, begin, last, 1),
    )


def _completed(start: Ints, end: Ints, history: History | None) -> NDArray[np.bool_]:
    """Return the mask of the jobs whose work was done."""
    done = (start >= 0) & (end >= 0)
    if history is not None:
        done[list(history.dropped)] = False
    return np.asarray(done)


def job_figures(
    workload: Workload,
    start: Ints,
    end: Ints,
    expected: Ints | None = None,
    bsld_floor: float = BSLD_FLOOR,
    history: History | None = None,
) -> JobFigures:
    """Return wait, slowdown and bounded slowdown of each job with a known start and end.

    Parameters
    ----------
    workload : Workload
        The jobs.
    start, end : ndarray of int64, shape (jobs,)
        Seconds, -1 if unknown.
    expected : ndarray of int64, shape (jobs,), optional
        Expected durations in seconds.
    bsld_floor : float
        The least duration in the bounded slowdown, in seconds, above 0.
    history : History, optional
        The attempts that ended early.

    Returns
    -------
    JobFigures
        The figures, in the order of the workload.

    Raises
    ------
    ValueError
        If ``bsld_floor`` is not a number above 0.
    """
    if not 0 < bsld_floor < np.inf:
        raise WrongValue(f"bsld_floor is {bsld_floor}; expected a number of seconds above 0, such as 10 or 60")
    row = np.flatnonzero(_completed(start, end, history))
    wait, work, lost = start[row] - workload.submit[row], end[row] - start[row], np.zeros(len(row), np.int64)
    if history is not None:  # the time that was lost, and restarts, count as part of the response time only
        wait, work = wait - history.ran_before[row], work + history.less[row]
        lost = (history.ran_before - history.less)[row]
    duration = np.maximum(work, 1)
    response = wait + lost + duration
    bounded = np.maximum(1.0, response / np.maximum(duration, bsld_floor))
    ratio = None if expected is None else expected[row] / duration
    return JobFigures(row, wait, response / duration, bounded, ratio, lateness(workload, start, row))


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
    kinds = dict.fromkeys((*get_args(Ended), *d.ended))
    spread = Timing(mean=d.total_seconds / d.made if d.made else None, total=d.total_seconds)
    return DecisionMetrics(
        made=d.made,
        skipped=d.skipped,
        solver=sum(n for kind, n in d.ended.items() if kind != "trivial") if reported else None,
        ended={kind: d.ended.get(kind, 0) if reported else None for kind in kinds},
        seconds=Timing.of(total) if total.size else spread,
        solver_seconds=Timing.of(total[solved]) if solved.shape == total.shape else Timing(),
        start_seconds=Timing.of(parts["start"]),
        model_seconds=Timing.of(parts["model"]),
        solve_seconds=Timing.of(parts["solve"]),
        allocate_seconds=Timing.of(parts["allocate"]),
        gain_mean=float(gains.mean()) if gains.size else None,
        gain_none=int((gains <= 0).sum()) if gains.size else None,
        urgent=d.urgent if reported else None,
        models=d.models,
        phases=d.phases,
        used=d.used,
        counts=d.counts,
    )


def _used(
    workload: Workload, platform: Platform | None, start: Ints, end: Ints, history: History | None
) -> dict[str, tuple[Ints, Ints]]:
    """Return resource -> curve of its use by all attempts; an empty dict without a platform."""
    return {
        r: usage(workload, r, start, end, history)
        for r in (platform.resources if platform else ())
        if r in workload.resources
    }


def _percentiles(figures: JobFigures) -> dict[str, tuple[float, ...]]:
    """Return the percentiles 0 to 100 of the wait, the slowdown, and duration / expected duration."""
    found: dict[str, Ints | Floats] = {"wait": figures.wait, "slowdown": figures.slowdown}
    if figures.expected_ratio is not None:
        found["ratio"] = 1 / figures.expected_ratio
    return {name: tuple(np.percentile(v, np.arange(101)).tolist()) for name, v in found.items() if v.size}
