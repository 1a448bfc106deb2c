"""Calibration: whether a replay by the rules of Slurm starts jobs when the recorded machine did.

There are two questions, with an answer each. **One step**: at each recorded event the recorded state is set, and asked what
starts now; of the answers and of the recorded starts, how many agree? A wrong rule shows itself at the first instant at which
it is wrong. **Free**: the site is replayed from the submissions on. A free replay is chaotic: what happens within a second is
not recorded, and one other decision moves all that follow. So there are several replays with other fractions of seconds; how
much they differ from each other is as much as a recording can be expected to differ from them.

A free replay (``replay``) is a run of the engine. One step has no loop: recorded events set a state (``SlurmState``) whose tables
take requests as Slurm has them, since jobs must be on their recorded nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ...errors import WrongValue
from ...instances.files.reading import WorkloadError
from ...instances.sites.of_log import with_draining
from ...instances.workload import Workload
from ...models.array_types import Bools, Floats
from ...models.node_states import EVERY, NodeEvent
from ...models.site import SchedulerSettings, Site
from ...models.words import how_many
from ..features.site_limits import not_obeyed_settings
from ..metrics import cpus_asked
from .events import main_delay
from .jobs import SlurmJob, slurm_jobs
from .replay import FreeReplay, free_replay
from .state import REQUEUE_DELAY, SlurmState

WITHIN = 2  # s: a start is predicted if it was recorded at most so much later
SIZES = ((1, "1 CPU"), (8, "2 to 8 CPUs"), (64, "9 to 64 CPUs"), (512, "65 to 512 CPUs"), (2**62, "more than 512 CPUs"))
MOST_SUBMISSIONS = 2000  # by whose priorities the phase of the updates is found
FEW = 5  # jobs whose priorities may agree by chance
WORST = 10  # jobs with the largest errors that are named
GOOD = (0.95, 0.05)  # least precision and recall; greatest relative error of the mean wait
USABLE = (0.85, 0.15)
UNOBEYED_LIMITS = frozenset({
    "grp_wall", "grp_tres_mins", "max_tres_per_node", "min_tres", "grp_submit", "max_submit", "max_submit_per_user",
    "max_submit_per_account",
})  # fmt: skip
UNOBEYED_OF_QOS = ("usage_threshold", "limit_factor")
RULE = (
    "exact: one-step precision and recall are 1, and so is the share of equal starts; "
    f"good: both at least {GOOD[0]:.0%} and the mean wait within {GOOD[1]:.0%}; "
    f"usable: both at least {USABLE[0]:.0%} and the mean wait within {USABLE[1]:.0%}; else not usable"
)


@dataclass(frozen=True)
class WrongInstant:
    """An instant at which the answer of one step is wrong.

    Parameters
    ----------
    time : int
        Unix time in s.
    job : str
        The job.
    partition : str
        Its partition.
    recorded : int or None
        The next recorded start of the job; None: it did not start any more.
    why : str
        Which scheduler would have started it, or, of a start that was not predicted, why it waits.
    predicted : bool
        Whether it was predicted to start and did not; else it started and was not predicted.
    """

    time: int
    job: str
    partition: str
    recorded: int | None
    why: str
    predicted: bool


@dataclass(frozen=True)
class OneStep:
    """How well the starts are predicted from each recorded state.

    Parameters
    ----------
    within : int
        Seconds within which a start counts as predicted.
    predicted, right : int
        Predictions, one for each instant and job, and those that came true.
    starts, foreseen : int
        Recorded starts, and those that were predicted.
    wrong : tuple of WrongInstant
        All wrong answers in order of time.

    Examples
    --------
    >>> OneStep(2, predicted=100, right=98, starts=50, foreseen=49, wrong=()).precision
    0.98
    """

    within: int
    predicted: int
    right: int
    starts: int
    foreseen: int
    wrong: tuple[WrongInstant, ...]

    @property
    def precision(self) -> float:
        """Share of the predictions that came true; NaN without any."""
        if self.predicted:
            return self.right / self.predicted
        return float("nan")

    @property
    def recall(self) -> float:
        """Share of the recorded starts that were predicted; NaN without any."""
        if self.starts:
            return self.foreseen / self.starts
        return float("nan")


@dataclass(frozen=True)
class Agreement:
    """Waits that were recorded, and those of a replay, of the same jobs.

    Parameters
    ----------
    jobs : int
        Their number.
    recorded, replayed : float
        Mean waits in s.
    median_recorded, median_replayed, p95_recorded, p95_replayed : float
        Medians and 95 % quantiles in s.
    mean_error : float
        Mean absolute difference in s.
    within_10_s, within_1_min, within_10_min : float
        Shares of the starts that differ by no more.
    rank_correlation : float
        Spearman's, of the waits.
    """

    jobs: int
    recorded: float
    replayed: float
    median_recorded: float
    median_replayed: float
    p95_recorded: float
    p95_replayed: float
    mean_error: float
    within_10_s: float
    within_1_min: float
    within_10_min: float
    rank_correlation: float

    @property
    def deviation(self) -> float:
        """Relative difference of the mean waits."""
        if self.recorded:
            return self.replayed / self.recorded - 1
        return float("nan")


@dataclass(frozen=True)
class LargeError:
    """A job whose start a replay misses by much: both waits in s, and why it waited last in the replay."""

    job: str
    recorded: float
    replayed: float
    why: str


@dataclass(frozen=True, eq=False)
class Calibration:
    """The result of ``calibrate``.

    Parameters
    ----------
    one_step : OneStep
        Predictions from recorded states.
    free : Agreement
        The recorded waits against the mean of the replays, job by job.
    single : tuple of Agreement
        The recorded waits against each replay.
    between : tuple of Agreement
        The waits of each replay against those of the next: what chance alone does.
    by : mapping of str to mapping of str to Agreement
        ``free`` for each partition, QOS, account and class of size.
    jobs : tuple of SlurmJob
        The jobs that are compared: those that started in the record or in a replay.
    recorded, replayed : ndarray of float, shape (jobs,)
        Their waits in s, before all their runs: as recorded, and the mean of the replays. A job that did not start waited until
        it was cancelled, or until the record ends: left out, it would take a long wait out of one side alone.
    not_replayed : tuple of str
        Jobs that started in the record and not in every replay.
    only_replayed : tuple of str
        Jobs that did not start in the record, and did in a replay.
    worst : tuple of LargeError
        The jobs with the largest differences.
    verdict, rule : str
        One word, and how it is found.
    not_modelled : tuple of str
        What the site has and the replay does not obey.
    """

    one_step: OneStep
    free: Agreement
    single: tuple[Agreement, ...]
    between: tuple[Agreement, ...]
    by: Mapping[str, Mapping[str, Agreement]]
    jobs: tuple[SlurmJob, ...]
    recorded: Floats
    replayed: Floats
    not_replayed: tuple[str, ...]
    only_replayed: tuple[str, ...]
    worst: tuple[LargeError, ...]
    verdict: str
    rule: str = RULE
    not_modelled: tuple[str, ...] = field(default=())

    def __str__(self) -> str:
        one = self.one_step
        free = self.free
        return (
            f"{self.verdict}: one step precision {one.precision:.3f}, recall {one.recall:.3f}; "
            f"mean wait {free.recorded:,.0f} s recorded, {free.replayed:,.0f} s replayed ({free.deviation:+.1%}), "
            f"rank correlation {free.rank_correlation:.3f}, {free.within_10_s:.0%} of the starts within 10 s"
        )


def calibrate(
    log: Workload,
    site: Site,
    *,
    events: Sequence[NodeEvent] | None = None,
    begin: int | None = None,
    within: int = WITHIN,
    replays: int = 16,
    seed: int = 0,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> Calibration:
    """Compare what was recorded with what the rules of Slurm would have done.

    Parameters
    ----------
    log : Workload
        The jobs, with what they asked of their site and what was recorded.
    site : Site
        The site that ran them, of kind ``"slurm"``.
    events : sequence of NodeEvent, optional
        Changes of nodes in Unix time. None: those of the site.
    begin : int, optional
        Unix time of a CalcPeriod of the priorities. None: found from the recorded priorities, or the first submission.
    within : int, optional
        Seconds within which a recorded start agrees with a prediction.
    replays : int, optional
        Number of free replays.
    seed : int, optional
        Seed of the fractions of seconds.
    on_progress : callable, optional
        Called with the steps that are done, and their number: the predictions from recorded states, and each replay.

    Returns
    -------
    Calibration
        The figures, the first wrong instants, and a verdict.

    Raises
    ------
    WorkloadError
        The log does not say what the jobs asked for or on which nodes they ran, or no job started.
    WrongValue
        A job names a partition that the site does not have, or ``replays`` is below 1.
    """
    jobs = slurm_jobs(log)
    if not any(job.attempts for job in jobs):
        raise WorkloadError("no job of the log started; a calibration compares starts")
    if replays < 1:
        raise WrongValue(f"replays is {replays}; at least 1 is expected")
    if events is None:
        changes = site.events
    else:
        changes = events
    if begin is None:
        begin = priority_begin(jobs, site, events=changes)
    one = one_step(jobs, site, events=changes, begin=begin, within=within)
    recorded = np.array([np.nan if job.wait is None else job.wait for job in jobs], float)
    runs = []
    for k in range(replays):
        on_progress(k + 1, replays + 1)
        runs.append(free_replay(log, site, events=changes, seed=seed + k, begin=begin, explain=k == 0))
    waits = np.array([run.waits(jobs) for run in runs])
    started = ~np.isnan(recorded)
    until = left_after(jobs)
    lacking = started & np.isnan(waits).any(axis=0)
    further = ~started & (waits < until).any(axis=0)
    compared = started | further
    recorded = np.where(started, recorded, until)
    waits = np.where(np.isnan(waits), until, waits)
    waits[:, ~started] = np.minimum(waits, until)[:, ~started]
    mean = waits.mean(axis=0)
    free = agreement(recorded[compared], mean[compared])
    errors = np.where(compared, np.abs(mean - recorded), -1.0)
    order = np.argsort(-errors, kind="stable")[:WORST]
    return Calibration(
        one_step=one,
        free=free,
        single=tuple(agreement(recorded[compared], wait[compared]) for wait in waits),
        between=tuple(agreement(a[compared], b[compared]) for a, b in pairwise(waits)),
        by=_by_group(jobs, recorded, mean, compared),
        jobs=tuple(job for job, kept in zip(jobs, compared, strict=True) if kept),
        recorded=recorded[compared],
        replayed=mean[compared],
        not_replayed=tuple(jobs[k].id for k in np.flatnonzero(lacking)),
        only_replayed=tuple(jobs[k].id for k in np.flatnonzero(further)),
        worst=tuple(
            LargeError(jobs[k].id, float(recorded[k]), float(mean[k]), runs[0].reasons.get(jobs[k].id, "None"))
            for k in order
            if errors[k] > 0
        ),
        verdict=_verdict(one, free),
        not_modelled=(*site.not_modelled, *not_obeyed(site), *_not_obeyed_requests(jobs), *_broken(runs)),
    )


def left_after(jobs: Sequence[SlurmJob]) -> Floats:
    """Return how long each job was there to be started, in s: until it was cancelled, or until the record ends.

    >>> from schedlab.simulation import SlurmAttempt
    >>> left_after([SlurmJob("1", "ana", 0, attempts=(SlurmAttempt(5, 50),)), SlurmJob("2", "ben", 10, cancelled=30)]).tolist()
    [50.0, 20.0]
    """
    last = max(job.submit for job in jobs)
    for job in jobs:
        last = max([last, *(run.end for run in job.attempts)])
    return np.array([(last if job.cancelled is None else job.cancelled) - job.submit for job in jobs], np.float64)


def _broken(runs: Sequence[FreeReplay]) -> list[str]:
    """Return the faults of free replays."""
    return [
        f"free replay {k} breaks a rule: {fault.message}" for k, run in enumerate(runs, 1) for fault in run.violations
    ]


def _not_obeyed_requests(jobs: Sequence[SlurmJob]) -> list[str]:
    """Return what jobs ask for that the replay does not obey, with their numbers."""
    names = []
    counted = [job for job in jobs if "*" in job.request.features or "[" in job.request.features]
    if counted:
        names.append(
            f"constraints such as [a|b] and a*2 (each node has one of the features; {how_many(len(counted), 'job', ',')})"
        )
    gpus = [job for job in jobs if job.request.memory_per_gpu]
    if gpus:
        names.append(f"--mem-per-gpu ({how_many(len(gpus), 'job', ',')})")
    late = [job for job in jobs if any(dependency.delay for dependency in job.request.dependencies)]
    if late:
        names.append(f"the delay of --dependency=after:ID+MINUTES ({how_many(len(late), 'job', ',')})")
    return names


def not_obeyed(site: Site) -> list[str]:
    """Return, by name, what a site of Slurm has and the replay does not obey.

    >>> from schedlab.models.site import Partition
    >>> not_obeyed(Site("s", partitions=[Partition("p", oversubscribe="force:2"), Partition("q")]))
    ['OverSubscribe=force:2 of partition p']
    """
    settings = site.scheduler
    names = [
        f"OverSubscribe={p.oversubscribe} of partition {p.name}" for p in site.partitions if p.jobs_per_resource > 1
    ]
    names.extend(f"ExclusiveUser of partition {p.name}" for p in site.partitions if p.exclusive_user)
    owners = [(f"QOS {q.name}", q.limits) for q in site.qos] + [(a.label, a.limits) for a in site.associations]
    for owner, limits in owners:
        names.extend(f"{name} of {owner}" for name, _ in limits.given() if name in UNOBEYED_LIMITS)
    if any("node" in tres for _, limits in owners for tres in (limits.grp_tres, limits.max_tres_per_user)):
        names.append("that nodes shared by the jobs of a limit of nodes count once (they count for each job)")
    for q in site.qos:
        names.extend(f"{name} of QOS {q.name}" for name in UNOBEYED_OF_QOS if getattr(q, name) is not None)
    names.extend(
        f"the choice of nodes of reservation {r.name}"
        for r in site.reservations
        if not r.nodes and (r.node_count is not None or r.core_count is not None)
    )
    if isinstance(settings, SchedulerSettings):
        names.extend(not_obeyed_settings(settings))
        if "suspend" in settings.preempt_mode or "gang" in settings.preempt_mode:
            names.append("PreemptMode=" + ",".join(settings.preempt_mode))
    return names


def _verdict(one: OneStep, free: Agreement) -> str:
    least = min(one.precision, one.recall)
    off = abs(free.deviation)
    if least == 1 and free.mean_error == 0:
        return "exact"
    for word, (share, error) in (("good", GOOD), ("usable", USABLE)):
        if least >= share and off <= error:
            return word
    return "not usable"


def agreement(recorded: Floats, replayed: Floats) -> Agreement:
    """Return how two series of waits of the same jobs agree; NaN where there are too few jobs.

    >>> both = agreement(np.array([0.0, 10.0, 20.0]), np.array([0.0, 12.0, 40.0]))
    >>> both.recorded, both.rank_correlation, round(both.within_10_s, 2)
    (10.0, 1.0, 0.67)
    """
    from scipy.stats import rankdata

    number = len(recorded)
    if not number:
        return Agreement(0, *[float("nan")] * 11)
    error = np.abs(recorded - replayed)
    first = rankdata(recorded)
    second = rankdata(replayed)
    spread = float(first.std() * second.std())
    covariance = float(((first - first.mean()) * (second - second.mean())).mean())
    return Agreement(
        jobs=number,
        recorded=float(recorded.mean()),
        replayed=float(replayed.mean()),
        median_recorded=float(np.median(recorded)),
        median_replayed=float(np.median(replayed)),
        p95_recorded=float(np.quantile(recorded, 0.95)),
        p95_replayed=float(np.quantile(replayed, 0.95)),
        mean_error=float(error.mean()),
        within_10_s=float((error <= 10).mean()),
        within_1_min=float((error <= 60).mean()),
        within_10_min=float((error <= 600).mean()),
        rank_correlation=covariance / spread if spread > 0 else float("nan"),
    )


def _size(job: SlurmJob) -> str:
    cpus = cpus_asked(job.request) or 1
    return next(name for most, name in SIZES if cpus <= most)


def _by_group(
    jobs: Sequence[SlurmJob], recorded: Floats, replayed: Floats, compared: Bools
) -> dict[str, dict[str, Agreement]]:
    keys: dict[str, Callable[[SlurmJob], str]] = {
        "partition": lambda job: ",".join(job.request.partitions),
        "qos": lambda job: job.request.qos,
        "account": lambda job: job.request.account,
        "size": _size,
    }
    tables = {}
    for name, key in keys.items():
        names = np.array([key(job) for job in jobs])
        tables[name] = {
            str(each): agreement(recorded[compared & (names == each)], replayed[compared & (names == each)])
            for each in sorted(set(names[compared]))
        }
    return tables


def one_step(
    jobs: Sequence[SlurmJob],
    site: Site,
    *,
    events: Sequence[NodeEvent] | None = None,
    begin: int | None = None,
    within: int = WITHIN,
) -> OneStep:
    """Ask at each recorded event what starts now, in the recorded state, and compare with the starts that followed.

    A prediction is right if the job started at most ``within`` seconds later, or within the period of the scheduler that would
    start it if that is longer; a recorded start was foreseen if such an answer has it. The events are submissions, starts, ends, cancellations and changes of nodes; a job that
    starts at the time of an event still waits.

    Parameters
    ----------
    jobs, site, events, begin, within
        As those of ``calibrate``.

    Examples
    --------
    >>> from schedlab.models.dispatch.jobs import SiteRequest
    >>> from schedlab.models.site import Partition, SiteNode
    >>> from schedlab.simulation.slurm.jobs import SlurmAttempt
    >>> site = Site("s", [SiteNode("n1", 4)], [Partition("p", ("n1",), default=True)], scheduler=SchedulerSettings())
    >>> job = SlurmJob("1", "ana", 0, 60, SiteRequest(cpus=4), attempts=(SlurmAttempt(0, 30, ("n1",)),))
    >>> late = SlurmJob("2", "ana", 5, 60, SiteRequest(cpus=4), attempts=(SlurmAttempt(50, 80, ("n1",)),))
    >>> [(wrong.time, wrong.job, wrong.recorded) for wrong in one_step([job, late], site).wrong]
    [(30, '2', 50)]
    """
    changes = node_changes(site, events, jobs)
    history = recorded_history(jobs, changes)
    first = min((event.time for event in history), default=0)
    last = max((event.time for event in history), default=0)
    state = SlurmState(site, jobs, first if begin is None else begin, last)
    partition = [
        state.tables.part_index.get(job.request.partitions[0] if job.request.partitions else "", 0) for job in jobs
    ]
    settings = state.settings
    looks = min(settings.sched_interval, main_delay(settings) + 1)  # s until the main scheduler looks at an event
    periods = {False: max(within, looks), True: within}
    if settings.bf_interval > within:
        periods[True] = settings.bf_interval + within
    predicted = 0
    right = 0
    foreseen: set[tuple[int, int]] = set()
    wrong: list[WrongInstant] = []
    starts: list[tuple[int, int, str]] = []
    for time, at_once in moments(history):
        state.advance(time)
        begun = []
        for event in at_once:
            if event.what == What.START:
                begun.append((event.subject, event.number))
                continue
            _set(state, jobs, event.subject, event.what, event.number, time)
            if event.what == What.NODE:
                state.set_node(event.subject, changes[event.number].up)
        for answer in state.ask(time):
            job = jobs[answer.job]
            following = next((a.start for a in job.attempts if a.start >= time), None)
            agrees = following is not None and following <= time + periods[answer.backfilled]
            if agrees and following is not None:
                foreseen.add((answer.job, following))
            predicted += 1
            right += agrees
            if not agrees:
                how = "main"
                if answer.backfilled:
                    how = "backfill"
                name = state.tables.partitions[answer.partition].name
                wrong.append(WrongInstant(time, job.id, name, following, how, True))
        place = {int(row[0]): k for k, row in enumerate(state.queue())}
        for k, n in sorted(begun, key=lambda pair: place.get(pair[0], len(place))):
            attempt = jobs[k].attempts[n]
            starts.append((k, attempt.start, state.held[k]))
            nodes = [state.tables.node_index[name] for name in attempt.nodes if name in state.tables.node_index]
            state.start(k, time, partition[k], nodes)
    for k, time, why in starts:
        if (k, time) not in foreseen:
            name = ",".join(jobs[k].request.partitions)
            wrong.append(WrongInstant(time, jobs[k].id, name, time, why or "no rule held it", False))
    wrong.sort(key=lambda each: each.time)
    return OneStep(within, predicted, right, len(starts), len(foreseen), tuple(wrong))


def priority_begin(jobs: Sequence[SlurmJob], site: Site, *, events: Sequence[NodeEvent] | None = None) -> int | None:
    """Return a time at which Slurm updated its priorities, found from the priorities that were recorded; None if it cannot.

    An update is every CalcPeriod after the controller began, which no log says. The age in a recorded priority tells when it
    was computed, to one point of the priority: the time modulo CalcPeriod that most jobs agree on is taken. Where few jobs
    agree, the priorities are those of the submissions, and tell which usage was known then: of some phases of the period, the
    one with the least errors is taken, if it is far better than most.

    Parameters
    ----------
    jobs, site, events
        As those of ``calibrate``.
    """
    settings = site.scheduler
    if not isinstance(settings, SchedulerSettings) or settings.priority_type != "multifactor":
        return None
    agreeing = 0
    begin = None
    if settings.weight_age and settings.max_age / settings.weight_age <= settings.calc_period / 8:
        agreeing, begin = _begin_by_age(jobs, site, events, settings)
    if agreeing < FEW and settings.weight_fairshare:
        by_usage = _begin_by_usage(jobs, site, events, settings.calc_period)
        if by_usage is not None:
            begin = by_usage
    return begin


def _begin_by_usage(
    jobs: Sequence[SlurmJob], site: Site, events: Sequence[NodeEvent] | None, period: int
) -> int | None:
    """Return the begin of the period for which the priorities at the submissions are closest to those recorded; None: none is."""
    first = min(job.submit for job in jobs) - period
    some = sorted(jobs, key=lambda job: job.submit)[:MOST_SUBMISSIONS]
    step = max(1, period // 15)
    errors = {first + k: _error_at_submission(some, site, events, first + k) for k in range(0, period, step)}
    usual = float(np.median(list(errors.values())))
    best = min(errors, key=lambda begin: errors[begin])
    if not errors[best] < usual / 2:
        return None
    near = {begin: _error_at_submission(some, site, events, begin) for begin in range(best - step + 1, best + step)}
    return min(near, key=lambda begin: near[begin])


def _error_at_submission(jobs: Sequence[SlurmJob], site: Site, events: Sequence[NodeEvent] | None, begin: int) -> float:
    """Return the median error of the priorities at the submissions if updates count from ``begin``; infinite without any."""
    changes = node_changes(site, events, jobs)
    history = recorded_history(jobs, changes)
    state = SlurmState(site, jobs, begin, max(event.time for event in history))
    errors = []
    for time, at_once in moments(history):
        state.advance(time)
        for event in at_once:
            k = event.subject
            if event.what == What.START:
                names = jobs[k].attempts[event.number].nodes
                nodes = [state.tables.node_index[name] for name in names if name in state.tables.node_index]
                state.start(k, time, state.tables.job_parts[k][0], nodes)
                continue
            _set(state, jobs, k, event.what, event.number, time)
            priority = jobs[k].priority
            if event.what == What.SUBMIT and not event.number and priority and not jobs[k].array:
                errors.append(abs(int(state.priorities.priority[k, 0]) - priority))
    if errors:
        return float(np.median(errors))
    return float("inf")


def _begin_by_age(
    jobs: Sequence[SlurmJob], site: Site, events: Sequence[NodeEvent] | None, settings: SchedulerSettings
) -> tuple[int, int | None]:
    """Return how many jobs agree with the begin of the period with which most ages in recorded priorities agree; None: none does."""
    period = settings.calc_period
    point = settings.max_age / settings.weight_age  # s that one point of the age takes
    first = min(job.submit for job in jobs)
    best: tuple[int, int] | None = None
    begin = first
    tried: set[int] = set()
    for _ in range(4):  # the fair shares that the estimate needs depend a little on it
        if begin in tried:
            break
        tried.add(begin)
        agreeing, estimates = _computed_at(jobs, site, events, begin, point)
        if best is None or agreeing > best[0]:
            best = (agreeing, begin)
        if len(estimates) < 5:
            break
        phases = (np.array(estimates) - first) % period
        near = [int((np.minimum((phases - p) % period, (p - phases) % period) <= point).sum()) for p in range(period)]
        begin = first - period + int(np.argmax(near))
    for begin in () if best is None else range(best[1] - 1, best[1] + 2):
        agreeing, _ = _computed_at(jobs, site, events, begin, point)
        if best is not None and agreeing > best[0]:
            best = (agreeing, begin)
    if best is not None and best[0]:
        return best
    return (0, None)


def _computed_at(
    jobs: Sequence[SlurmJob], site: Site, events: Sequence[NodeEvent] | None, begin: int, point: float
) -> tuple[int, list[float]]:
    """Return how many recorded priorities are equal if updates count from ``begin``, and when each was computed."""
    changes = node_changes(site, events, jobs)
    history = recorded_history(jobs, changes)
    state = SlurmState(site, jobs, begin, max(event.time for event in history))
    period = state.settings.calc_period
    agreeing = 0
    estimates = []
    for time, at_once in moments(history):
        state.advance(time)
        for event in at_once:
            if event.what != What.START:
                _set(state, jobs, event.subject, event.what, event.number, time)
                continue
            k = event.subject
            priority = jobs[k].priority
            if priority is not None and event.number + 1 == len(jobs[k].attempts) and time - jobs[k].submit > period:
                agreeing += int(state.priorities.priority[k, 0]) == priority
                age = priority + 0.5 - sum(v[k] for name, v in state.priorities.parts.items() if name != "age")
                computed = state.priorities.since(k) + (age + jobs[k].request.nice) * point
                if time - period - 2 <= computed <= time + 1:
                    estimates.append(computed)
            state.start_anywhere(k, time)
    return agreeing, estimates


def _set(state: SlurmState, jobs: Sequence[SlurmJob], subject: int, what: What, number: int, time: int) -> None:
    """Let a recorded event happen in a state."""
    if what == What.SUBMIT:
        state.submit(subject, time, time + REQUEUE_DELAY if number else None)
    elif what == What.END:
        attempts = jobs[subject].attempts
        state.end(subject, time, attempts[number].state, requeued=number + 1 < len(attempts))
    elif what == What.CANCEL:
        state.cancel(subject, time)


# --- What was recorded, in order.


class What(IntEnum):
    """Kinds of recorded events, in the order in which those of one time happen."""

    END = 0
    NODE = 1
    CANCEL = 2
    SUBMIT = 3
    START = 4


class SlurmEvent(NamedTuple):
    """A recorded event: its time, its kind, and the job or the node, by index; the number of the attempt, or what a node does."""

    time: int
    what: What
    subject: int
    number: int = 0


class NodeChange(NamedTuple):
    """A node begins or ceases to take jobs."""

    time: int
    node: int
    up: bool


def node_changes(site: Site, events: Sequence[NodeEvent] | None, jobs: Sequence[SlurmJob]) -> list[NodeChange]:
    """Return the changes of the nodes of a site, in order; those of nodes that were drained as jobs ran on them show.

    Parameters
    ----------
    site : Site
        The site.
    events : sequence of NodeEvent or None
        The recorded changes. None: those of the site.
    jobs : sequence of SlurmJob
        What ran on the nodes.
    """
    index = {n.name: k for k, n in enumerate(n for n in site.nodes if n.state != "future")}
    runs = runs_of(jobs)
    changes: list[NodeChange] = []
    listed = sorted(site.events if events is None else events, key=lambda event: event.time)
    for event in with_draining(listed, lambda name: runs.get(name, ())):
        state = event.effect.state
        names = index if EVERY in event.nodes else event.nodes
        up = state is None or state.starts
        changes.extend(NodeChange(event.time, index[name], up) for name in names if name in index)
    return changes


def runs_of(jobs: Sequence[SlurmJob]) -> dict[str, list[tuple[int, int]]]:
    """Return what was recorded to run on each node: starts and ends in Unix time."""
    runs: dict[str, list[tuple[int, int]]] = {}
    for job in jobs:
        for attempt in job.attempts:
            for name in attempt.nodes:
                runs.setdefault(name, []).append((attempt.start, attempt.end))
    return runs


def recorded_history(jobs: Sequence[SlurmJob], changes: Sequence[NodeChange]) -> list[SlurmEvent]:
    """Return what was recorded: submissions, starts, ends, cancellations and changes of nodes, in order.

    ``number`` is that of the attempt, of a change of a node its place in ``changes``.
    """
    events = []
    for k, job in enumerate(jobs):
        events.append(SlurmEvent(job.submit, What.SUBMIT, k))
        for n, attempt in enumerate(job.attempts):
            if n:
                events.append(SlurmEvent(job.attempts[n - 1].end, What.SUBMIT, k, n))
            events.append(SlurmEvent(attempt.start, What.START, k, n))
            events.append(SlurmEvent(attempt.end, What.END, k, n))
        if not job.attempts and job.cancelled is not None:
            events.append(SlurmEvent(job.cancelled, What.CANCEL, k))
    events.extend(SlurmEvent(change.time, What.NODE, change.node, n) for n, change in enumerate(changes))
    return sorted(events)


def moments(events: Sequence[SlurmEvent]) -> Iterator[tuple[int, list[SlurmEvent]]]:
    """Yield each time with its events."""
    i = 0
    while i < len(events):
        time = events[i].time
        at_once = []
        while i < len(events) and events[i].time == time:
            at_once.append(events[i])
            i += 1
        yield time, at_once
