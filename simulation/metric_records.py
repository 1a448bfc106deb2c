"""The records of metrics: one class for the whole replay (``Metrics``) and one for each group of values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from ..backends import UnknownName
from ..errors import WrongArgument
from ..models.comparing import hashable
from ..models.excerpt import with_short_repr
from ..models.unknown_names import hint
from .accuracy import Accuracy
from .dispatcher import Ended
from .groups import GROUPINGS, Groups
from .model_sizes import ModelSizes
from .spread import Spread

Floats = NDArray[np.float64]
BSLD_FLOOR = 10.0  # seconds, the usual least duration in the bounded slowdown


@with_short_repr
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


@with_short_repr
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


@with_short_repr
@hashable
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
    start_seconds, model_seconds, solve_seconds, allocate_seconds : Timing
        Wall time in seconds of the parts of all calls: warm starts, building and lowering the model, solving it, choosing nodes.
    gain_mean : float
        Mean of ``(start - end) / |start|`` over the calls with a warm start: the relative improvement of the objective
        from ``start`` (warm start) to ``end`` (result). Without unit.
    gain_none : int
        Number of these calls without improvement.
    urgent : int
        Sum over the calls of the number of jobs that ``max_stretch`` put before all others.
    models : ModelSizes
        Mean sizes of the models.
    phases : mapping of str to float
        Other parts of the calls, such as ``"selection"`` -> sum of their wall time in seconds.
    used : mapping of str to int
        Name of a method, of a dispatcher with several -> number of calls that used it.
    counts : mapping of str to int
        Numbers that a dispatcher reports, such as ``"messages"`` -> sum over the calls.
    """

    made: int | None = None
    skipped: int | None = None
    solver: int | None = None
    ended: Mapping[str, int | None] = field(default_factory=lambda: dict.fromkeys(get_args(Ended)))
    seconds: Timing = Timing()
    solver_seconds: Timing = Timing()
    start_seconds: Timing = Timing()
    model_seconds: Timing = Timing()
    solve_seconds: Timing = Timing()
    allocate_seconds: Timing = Timing()
    gain_mean: float | None = None
    gain_none: int | None = None
    urgent: int | None = None
    models: ModelSizes = field(default_factory=ModelSizes)
    phases: Mapping[str, float] = field(default_factory=dict)
    used: Mapping[str, int] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)


@with_short_repr
@hashable
@dataclass(frozen=True)
class Metrics:
    """The metrics of a replay. Times are seconds; a value that is not known is None.

    For each job that started: s is its start, e its end, q its submit time, ``wait = s - q``, and
    ``d = max(1 s, e - s)`` its duration in the replay (a killed job's is shorter than its runtime). Jobs that run at the
    begin of the replay count in the utilisation only. If the begin is given, it replaces ``min(q)``. If a job has
    several attempts, s is the start of the last one, wait the sum of its waiting times, d the work of all attempts, and
    the slowdowns count the time that was lost as well: ``(e - q) / d``. Jobs that did not come back after a failure
    count as not started; utilisation and queue lengths follow all attempts.

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
        ``max(1, (wait + d) / max(d, bsld_floor))``, without unit.
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
    running_max, running_mean : float
        Largest and mean number of running jobs over the makespan, as for waiting jobs.
    in_use : mapping of str to float
        For each resource, the mean amount in use over the makespan, in the unit of the resource.
    wait_over_ewt : mapping of str to int
        Histogram of ``wait / ewt``: bin -> number of jobs. ``"0"`` are jobs without wait, ``"0.5-0.75"`` those with
        ``0.5 < wait / ewt <= 0.75``, ``"above 10"`` those with more than 10. Empty if no job started.
    decisions : DecisionMetrics
        The calls of the dispatcher.
    accuracy : Accuracy
        The expected durations compared with the durations in the replay.
    prediction_seconds : float
        Wall time of the predictor in the whole replay, in seconds.
    bsld_floor : float
        The least duration in the bounded slowdown, in seconds.
    groups : mapping of str to Groups
        The same metrics per queue, user, partition (if the log records it), class of units and class of unit-hours: see
        ``by``.
    percentiles : mapping of str to tuple of float
        The 101 percentiles 0, 1, ..., 100 (linear interpolation) of ``"wait"``, ``"slowdown"`` and ``"ratio"``
        (duration / expected duration); quantities without a value are left out.
    late_starts : mapping of str to float
        ``"jobs"``: number of jobs that started and have a latest start; ``"count"``: of these, those with
        ``s > latest start``; ``"share"``: count / jobs; ``"tardiness"``: sum of ``max(0, s - latest start)`` in seconds.
        Empty if no job of the workload has a latest start.
    wait_contribution : mapping of str to float
        For each queue, the sum of the waits of its jobs / number of all started jobs, in seconds [Bridi2018, table
        3.4]; their sum is the mean wait.
    running_submitting : float
        Mean number of running jobs between the begin and the last submit time; None if these are equal.
    desired : mapping of str to mapping
        The use beside the desired profile, for the resources with a wish: ``"over"``: volume of use above it, summed over
        the nodes, in amount-hours; ``"machine_over"``: the same for the whole machine; ``"dissimilarity"`` and
        ``"squared_distance"``, without unit. See ``schedlab.simulation.desired.figures``. Empty without a profile.
    power_peak : float
        The greatest power of all running jobs in watts; None if the power of a job is unknown.
    preemption : mapping of str to float
        Delays of on-demand jobs and losses of batch jobs, see ``schedlab.simulation.preemption.figures``. Empty without
        preemption.
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
    running_max: int | None = None
    running_mean: float | None = None
    in_use: Mapping[str, float | None] = field(default_factory=dict)
    wait_over_ewt: Mapping[str, int] = field(default_factory=dict)
    prediction_seconds: float | None = None
    bsld_floor: float = BSLD_FLOOR
    groups: Mapping[str, Groups] = field(default_factory=dict, repr=False)
    percentiles: Mapping[str, tuple[float, ...]] = field(default_factory=dict, repr=False)
    late_starts: Mapping[str, float | None] = field(default_factory=dict)
    wait_contribution: Mapping[str, float] = field(default_factory=dict)
    running_submitting: float | None = None
    desired: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)
    preemption: Mapping[str, float | None] = field(default_factory=dict)
    power_peak: float | None = None

    def by(self, grouping: str) -> Groups:
        """Return the metrics of the groups of jobs with respect to a property.

        Parameters
        ----------
        grouping : {"queue", "user", "partition", "units", "unit-hours", "accuracy", "user-accuracy"}
            The property. ``"units"`` are classes by the number of units of a job, ``"unit-hours"`` by units * runtime,
            ``"accuracy"`` by runtime / walltime, ``"user-accuracy"`` by its mean over the jobs of the user.

        Returns
        -------
        Groups
            A mapping from the name of a group to its metrics, the groups with most jobs first.

        Raises
        ------
        UnknownName
            If there is no such property.
        WrongArgument
            If the log does not record the property.

        Examples
        --------
        >>> import schedlab as sl
        >>> queues = sl.simulate("eurora_99", dispatcher="easy").metrics.by("queue")
        >>> list(queues), queues["debug"].jobs
        (['parallel', 'debug', 'np_longpar'], 27)
        """
        if grouping not in GROUPINGS:
            raise UnknownName("grouping", grouping, list(GROUPINGS))
        if grouping not in self.groups:
            raise WrongArgument(
                f"by {grouping}: the log does not record the {grouping} of its jobs; {hint(grouping, self.groups, 'known:', 'it records no groups')}"
            )
        return self.groups[grouping]

    def as_dict(self) -> dict[str, Any]:
        """Return all values as one flat dict for JSON.

        Keys are joined with underscores (``wait_mean``, ``short_slowdown_max``, ``utilisation_cores``,
        ``decisions_ended_optimal``, ``accuracy_mae``); the keys of ``thesis`` stay as they are (``AQ``, ``%O``).
        ``groups`` and ``percentiles`` are not part of it.
        """
        found: dict[str, Any] = {}
        for name, value in parts_of(self):
            if name not in ("groups", "percentiles"):
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
