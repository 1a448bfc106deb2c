"""The records of metrics: one class for the whole replay (``Metrics``) and one for each group of values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from .accuracy import Accuracy
from .engine.moment import Ended

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Spread:
    """Statistics of a quantity over jobs, in the unit of the quantity; all None if there is no job.

    Parameters
    ----------
    mean : float
        ``sum(x) / n``.
    std : float
        Standard deviation of the population, ``sqrt(sum((x - mean)^2) / n)``.
    median, p95, p99 : float
        The 50th, 95th and 99th percentiles, with linear interpolation (``numpy.percentile``).
    max : float
        The largest value.
    """

    mean: float | None = None
    std: float | None = None
    median: float | None = None
    p95: float | None = None
    p99: float | None = None
    max: float | None = None

    @classmethod
    def of(cls, values: Ints | Floats) -> Spread:
        """Return the statistics of an array with one value per job."""
        if not values.size:
            return cls()
        median, p95, p99 = np.percentile(values, [50, 95, 99]).tolist()
        return cls(float(values.mean()), float(values.std()), median, p95, p99, float(values.max()))


@dataclass(frozen=True)
class JobClass:
    """The metrics of the jobs of one class of durations.

    Parameters
    ----------
    jobs : int
        Number of jobs of the class that started.
    wait : Spread
        Seconds.
    slowdown, bounded_slowdown : Spread
        Without unit.
    """

    jobs: int
    wait: Spread
    slowdown: Spread
    bounded_slowdown: Spread


@dataclass(frozen=True)
class Timing:
    """Wall time of the calls of a dispatcher, in seconds; None if unknown.

    Parameters
    ----------
    mean, max, total : float
        Mean, largest value and sum over the calls.
    p99 : float
        The 99th percentile.
    """

    mean: float | None = None
    p99: float | None = None
    max: float | None = None
    total: float | None = None

    @classmethod
    def of(cls, seconds: Floats) -> Timing:
        """Return the statistics of an array with one value (seconds) per call."""
        if not seconds.size:
            return cls()
        return cls(float(seconds.mean()), float(np.percentile(seconds, 99)), float(seconds.max()), float(seconds.sum()))


@dataclass(frozen=True)
class DecisionMetrics:
    """The metrics of the calls of a dispatcher; None if it does not report the value.

    Parameters
    ----------
    made : int
        Number of calls.
    skipped : int
        Number of events without a call, because no waiting job could have started.
    solver : int
        Number of calls with ``ended`` other than ``"trivial"``.
    ended : mapping of str to int
        How the calls ended (see ``moment.Ended``) -> number of calls.
    seconds : Timing
        Wall time per call in seconds. For compiled replays: mean = time of the replay / calls, no p99 and max.
    solver_seconds : Timing
        Wall time in seconds of the calls that used a solver (those with a solve time above 0).
    model_seconds, solve_seconds, allocate_seconds : Timing
        Wall time in seconds of the parts of all calls: build the model, solve it, choose nodes.
    gain_mean : float
        Mean of ``(start - end) / |start|`` over the calls with a warm start: the relative improvement of the objective
        from ``start`` (warm start) to ``end`` (result). Without unit.
    gain_none : int
        Number of these calls without improvement.
    urgent : int
        Sum over the calls of the number of jobs that ``max_stretch`` put before all others.
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
    """The metrics of a replay. Times are seconds; a value that is not known is None.

    For each job that started: s is its start, e its end, q its submit time, ``wait = s - q``, and
    ``d = max(1 s, e - s)`` its duration in the replay (a killed job's is shorter than its runtime). Jobs that run at the
    begin of the replay count in the utilisation only. If the begin is given, it replaces ``min(q)``.

    Parameters
    ----------
    jobs : int
        Number of jobs in the workload.
    started, not_started : int
        Number of jobs that started; ``jobs - started``. In metrics of recorded starts, ``not_started`` is the number of
        jobs whose start is unknown.
    killed : int
        Number of jobs killed at their walltime.
    wait : Spread
        ``wait = s - q``, seconds.
    slowdown : Spread
        ``(wait + d) / d``, without unit, at least 1.
    bounded_slowdown : Spread
        ``max(1, (wait + d) / max(d, 10 s))``, without unit.
    by_class : mapping of str to JobClass
        The metrics of the jobs by ``e - s``: ``"short"`` (less than 1 h), ``"medium"`` (1 to 5 h), ``"long"`` (more
        than 5 h) [Galleguillos2019, 5].
    thesis : mapping of str to float
        The metrics of [Bridi2018, 4.5], where ewt is the expected waiting time of the job's queue, in seconds:

        - ``AQ``: mean of wait, seconds.
        - ``WQT``: sum of ``wait / ewt``, without unit.
        - ``NL``: number of jobs with ``wait > ewt``.
        - ``TR``: sum of ``max(0, wait - ewt)``, seconds.
        - ``WT``: sum of ``max(0, wait - ewt) / ewt``, without unit.
        - ``AO``, ``MO``: mean and maximum wall time per decision, seconds.
        - ``%O``: ``100 * (wall time of all decisions) / makespan``, percent.
    makespan : int
        ``max(e) - min(q)``, seconds.
    utilisation : mapping of str to float
        For each resource r, ``(sum of units * request[r] * (e - s)) / (capacity[r] * makespan)``, from 0 to 1, where
        capacity[r] is that of the whole platform.
    utilisation_submitting : mapping of str to float
        The same between the first and the last submit time, instead of over the makespan; None if all jobs have the
        same submit time.
    queue_max : int
        Largest number of waiting jobs, those with ``q <= t < s``, over all times t of the makespan. A job that starts
        at its submit time never counts; a job that never starts waits to the end.
    queue_mean : float
        Mean number of waiting jobs over the makespan: (integral of the number of waiting jobs) / makespan.
    decisions : DecisionMetrics
        The calls of the dispatcher.
    accuracy : Accuracy
        The expected durations compared with the durations in the replay.
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
        """Return all values as one flat dict for JSON.

        Keys are joined with underscores (``wait_mean``, ``short_slowdown_max``, ``utilisation_cores``,
        ``decisions_ended_optimal``, ``accuracy_mae``); the keys of ``thesis`` stay as they are (``AQ``, ``%O``).
        """
        found: dict[str, Any] = {}
        for name, value in parts_of(self):
            _flatten("" if name in ("by_class", "thesis") else name, value, found)
        return found


def parts_of(value: Any) -> list[tuple[str, Any]]:
    """Return the names and values of the fields of a dataclass, without conversion."""
    return [(f.name, getattr(value, f.name)) for f in fields(value)]


def _flatten(name: str, value: Any, into: dict[str, Any]) -> None:
    if not is_dataclass(value) and not isinstance(value, Mapping):
        into[name] = value
        return
    for part, inner in value.items() if isinstance(value, Mapping) else parts_of(value):
        _flatten(f"{name}_{part}" if name else part, inner, into)
