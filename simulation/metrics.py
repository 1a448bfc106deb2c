"""What a replay is worth: waiting, slowdown, lateness, utilisation, queue length, decisions, accuracy of predictions.

Of a job: *wait* is its start minus its submit time; its *duration* is what it took in the replay (end minus start; less
than the runtime of the trace if it was killed), taken as at least 1 s; *slowdown* is (wait + duration) / duration; *bounded
slowdown* is max(1, (wait + duration) / max(duration, 10 s)). Only jobs that started (and whose end is known) count.
What is not known is None, never 0 or infinite.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import NDArray

from ..instances.workload import Workload
from ..models.platform import Platform
from .accuracy import Accuracy, accuracy
from .curves import in_use, queue_length, utilisation, waiting
from .engine.moment import Ended

if TYPE_CHECKING:
    from .engine.simulation import Decisions, Simulation

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
BOUND = 10
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


@dataclass(frozen=True)
class Spread:
    """Mean, standard deviation (of the population), median, percentiles and maximum; all None of no jobs."""

    mean: float | None = None
    std: float | None = None
    median: float | None = None
    p95: float | None = None
    p99: float | None = None
    max: float | None = None

    @classmethod
    def of(cls, values: Ints | Floats) -> Spread:
        """Of an array, one value per job."""
        if not values.size:
            return cls()
        median, p95, p99 = np.percentile(values, [50, 95, 99]).tolist()
        return cls(float(values.mean()), float(values.std()), median, p95, p99, float(values.max()))


@dataclass(frozen=True)
class JobClass:
    """The jobs of one class of durations: how many started, and how they fared."""

    jobs: int
    wait: Spread  # seconds
    slowdown: Spread
    bounded_slowdown: Spread


@dataclass(frozen=True)
class Timing:
    """Seconds of the calls of a dispatcher: mean, 99th percentile, maximum, and the sum."""

    mean: float | None = None
    p99: float | None = None
    max: float | None = None
    total: float | None = None

    @classmethod
    def of(cls, seconds: Floats) -> Timing:
        """Of an array, one value per call."""
        if not seconds.size:
            return cls()
        return cls(float(seconds.mean()), float(np.percentile(seconds, 99)), float(seconds.max()), float(seconds.sum()))


@dataclass(frozen=True)
class DecisionMetrics:
    """The calls of a dispatcher; None where it did not tell.

    ``made``, ``skipped``: calls made, and left out because they could not change anything; ``solver``: calls that reached
    a solver; ``ended``: how each call ended (kinds of ``moment.Ended``) -> how many; ``seconds``: time per call, for compiled
    policies the time of the whole replay spread over its calls (no p99, no max); ``solver_seconds``: the same of the calls
    that reached a solver; ``model_seconds``, ``solve_seconds``, ``allocate_seconds``: what it went into; ``gain_mean``: by how much
    the solver improved on its warm start, relative, mean over its calls; ``gain_none``: calls that ended with the warm
    start itself; ``urgent``: jobs that ``max_stretch`` put first.
    """

    made: int | None = None
    skipped: int | None = None
    solver: int | None = None
    ended: Mapping[str, int | None] = field(default_factory=lambda: dict.fromkeys(get_args(Ended)))
    seconds: Timing = Timing()
    solver_seconds: Timing = Timing()
    model_seconds: Timing = Timing()
    solve_seconds: Timing = Timing()
    allocate_seconds: Timing = Timing()
    gain_mean: float | None = None
    gain_none: int | None = None
    urgent: int | None = None


@dataclass(frozen=True)
class Metrics:
    """What a replay is worth. Times in seconds.

    ``jobs``: of the workload as replayed; ``not_started``: never started, in partial results (as recorded: start unknown);
    ``by_class``: "short" (took less than 1 h), "medium" (1 to 5 h), "long" (more than 5 h);
    ``makespan``: from the first submission to the last end; ``utilisation``: resource -> used share (0 to 1) of what the
    platform offers over the makespan; ``utilisation_submitting``: the same from the first to the last submission (None if all
    jobs come at one moment); ``queue_max``, ``queue_mean``: jobs waiting, the mean over the time of the makespan (a job that
    starts as it comes never counts; one that never starts waits to the end);
    ``thesis``: the metrics of the thesis, section 4.5, where a queue's expected waiting time (ewt) is its maximum wait: AQ
    mean wait, WQT sum of wait / ewt, NL jobs with wait > ewt, TR sum of max(0, wait - ewt), WT the same / ewt, AO and MO mean
    and maximum time per decision, %O the time of all decisions in percent of the makespan.
    """

    jobs: int
    started: int
    not_started: int
    killed: int | None
    wait: Spread
    slowdown: Spread
    bounded_slowdown: Spread
    by_class: Mapping[str, JobClass]
    thesis: Mapping[str, float | None]
    makespan: int | None
    utilisation: Mapping[str, float | None]
    utilisation_submitting: Mapping[str, float | None]
    queue_max: int | None
    queue_mean: float | None
    decisions: DecisionMetrics
    accuracy: Accuracy

    def as_dict(self) -> dict[str, Any]:
        """All of it as one flat dict, as JSON can hold it.

        Keys are joined with underscores (``wait_mean``, ``short_slowdown_max``, ``utilisation_cores``,
        ``decisions_ended_optimal``, ``accuracy_mae``); those of the thesis are as there (``AQ``, ``%O``).
        """
        found: dict[str, Any] = {}
        for name, value in _parts(self):
            _flatten("" if name in ("by_class", "thesis") else name, value, found)
        return found


def _parts(value: Any) -> list[tuple[str, Any]]:
    return [(f.name, getattr(value, f.name)) for f in fields(value)]


def _flatten(name: str, value: Any, into: dict[str, Any]) -> None:
    if not is_dataclass(value) and not isinstance(value, Mapping):
        into[name] = value
        return
    for part, inner in value.items() if isinstance(value, Mapping) else _parts(value):
        _flatten(f"{name}_{part}" if name else part, inner, into)


def metrics(simulation: Simulation) -> Metrics:
    """What a replay is worth; also of the partial results of one that failed."""
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
    """The same of what the real machine did, as far as the trace knows; None if it knows no start at all.

    Jobs whose start is not known do not count. Without a platform there is no utilisation.
    """
    known = workload.recorded_start >= 0
    if not known.any():
        return None
    start = workload.recorded_start
    end = np.where(known, start + workload.runtime, -1)
    found = _measure(workload.keep(known), start[known], end[known], platform)
    missing = int((~known).sum())
    values = dict(_parts(found))
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
    begin = int(workload.submit.min())
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
    told = bool(d.ended)
    total = np.asarray(d.seconds.get("total", ()), np.float64)
    parts = {name: np.asarray(d.seconds.get(name, ()), np.float64) for name in PHASES}
    asked = parts["solve"] > 0
    gains = np.asarray(d.gains, np.float64)
    gains = gains[np.isfinite(gains)]
    spread = Timing(mean=d.total_seconds / d.made if d.made else None, total=d.total_seconds)
    return DecisionMetrics(
        made=d.made,
        skipped=d.skipped,
        solver=sum(n for kind, n in d.ended.items() if kind != "trivial") if told else None,
        ended={kind: d.ended.get(kind, 0) if told else None for kind in dict.fromkeys((*get_args(Ended), *d.ended))},
        seconds=Timing.of(total) if total.size else spread,
        solver_seconds=Timing.of(total[asked]) if asked.shape == total.shape else Timing(),
        model_seconds=Timing.of(parts["model"]),
        solve_seconds=Timing.of(parts["solve"]),
        allocate_seconds=Timing.of(parts["allocate"]),
        gain_mean=float(gains.mean()) if gains.size else None,
        gain_none=int((gains <= 0).sum()) if gains.size else None,
        urgent=d.urgent if told else None,
    )


def _used(workload: Workload, platform: Platform | None, start: Ints, end: Ints) -> dict[str, tuple[Ints, Ints]]:
    """Resource -> its curve of use; nothing without a platform."""
    return {
        r: in_use(start, end, workload.units * workload.request[:, workload.resources.index(r)])
        for r in (platform.resources if platform else ())
        if r in workload.resources
    }


def _share(curve: tuple[Ints, Ints] | None, begin: int, end: int | None, offered: int | None) -> float | None:
    """The used share of a capacity from ``begin`` to ``end``."""
    if curve is None or end is None or end <= begin or not offered:
        return None
    return _area(curve, begin, end) / (offered * (end - begin))


def _queue(workload: Workload, start: Ints, begin: int, finish: int | None) -> tuple[int | None, float | None]:
    """The greatest and the mean number of waiting jobs over the makespan."""
    if finish is None:
        return None, None
    curve = waiting(workload.submit, start)
    within = curve[1][curve[0] <= finish]
    mean = _area(curve, begin, finish) / (finish - begin) if finish > begin else None
    return int(within.max(initial=0)), mean


def _area(curve: tuple[Ints, Ints], begin: int, end: int) -> float:
    """Value times seconds of a step function within [begin, end)."""
    times, values = curve
    edges = np.clip(np.append(times, end), begin, end)
    return float((np.diff(edges) * values).sum())
