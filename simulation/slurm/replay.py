"""The free replay of a log of Slurm: a run of ``simulate`` under ``slurm``, from the submissions of the log on.

What users and operators did happens when the log says: jobs are submitted, released and cancelled, running jobs are requeued,
nodes change. What the scheduler did does not count.

No log says when in its second something happened, nor when in its period a scheduler runs. A second of the replay ends when
the main scheduler looks: what was submitted in the part of its second that follows is seen a second later, and of the runs,
which take parts of a second more or less than is recorded, one half is over a second later. The backfill scheduler looks at
another instant, and sees some of that before. Which is drawn with a seed, and the phases of the two schedulers are spread
evenly over seeds that follow each other; two real runs differ in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...instances.log_preparation import cancellations
from ...instances.workload import NoJobFits, Workload
from ...models.array_types import Bools, Floats, Ints
from ...models.language import Violation
from ...models.node_states import NodeEvent
from ...models.server_events import ServerEvent
from ...models.site import SchedulerSettings, Site
from ..dispatchers.policy import DrawnPhases, Slurm, phases_of
from ..errors import SimulationError
from ..features.feature import Feature, Replay
from ..features.site_limits import NoJobStarts, names_of_reservations, node_events_of
from ..result import Simulation
from ..simulator import simulate
from .jobs import CANCELLED, SlurmJob, check_asked, without_rounding
from .scheduler import SlurmScheduler

REQUEUED = "REQUEUED"  # the state of a run that was put back into the queue


@dataclass(frozen=True, eq=False)
class FreeReplay:
    """A free replay of a log.

    Parameters
    ----------
    simulation : Simulation or None
        The replay; None: the site lets no job start.
    waited : mapping of str to int
        Job -> the seconds that it waited, before all its runs; a job that is missing never started.
    reasons : mapping of str to str
        Job -> why it waited last: a reason of Slurm, or a limit; empty unless they were asked for.
    """

    simulation: Simulation | None
    waited: Mapping[str, int]
    reasons: Mapping[str, str]

    @property
    def violations(self) -> Sequence[Violation]:
        """What in the replay is not valid."""
        if self.simulation is None:
            return ()
        return self.simulation.violations

    def waits(self, jobs: Sequence[SlurmJob]) -> Floats:
        """Return the seconds that each job waited, before all its runs, as ``SlurmJob.wait``; NaN if it did not start."""
        return np.array([self.waited.get(job.id, np.nan) for job in jobs], np.float64)


def free_replay(
    log: Workload,
    site: Site,
    *,
    events: Sequence[NodeEvent] | None = None,
    seed: int = 0,
    begin: int | None = None,
    explain: bool = False,
) -> FreeReplay:
    """Replay a log by the rules of its site, with what was done to its jobs and nodes.

    Parameters
    ----------
    log : Workload
        The jobs, with what they asked of their site and what was recorded; those that were cancelled in the queue are among
        them if the log was read with them (``Trace.with_cancelled``).
    site : Site
        The site, of kind ``"slurm"``.
    events : sequence of NodeEvent, optional
        Changes of nodes in Unix time. None: those of the site.
    seed : int, optional
        Seed of what no log records.
    begin : int, optional
        Unix time of an update of the priorities. None: the first submission.
    explain : bool, optional
        Whether to find out why jobs wait.

    Raises
    ------
    WorkloadError
        The log does not say what the jobs asked of their site.
    WrongValue
        The site is none of Slurm.
    """
    offset = log.unix_start or 0
    if events is None:
        changes = site.events
    else:
        changes = events
    place = replace(site, events=tuple(replace(change, time=change.time - offset) for change in changes))
    phases = phases_of(site, seed)
    recorded = as_recorded(without_rounding(_of_site(log, site), site), seed, phases)
    reasons = LastReasons()
    try:
        run = simulate(
            recorded,
            dispatcher=Slurm(phases=phases.times),
            site=place,
            events=[*node_events_of(place, log, place.platform()), *recorded_events(log)],
            begin=None if begin is None else _begin_before(recorded, site, begin - offset),
            features=[reasons] if explain else [],
        )
    except (NoJobFits, NoJobStarts):
        return FreeReplay(None, {}, {})
    except SimulationError as e:
        if not e.waiting or e.partial is None:
            raise
        run = e.partial  # some jobs never start
    waits = zip(run.workload.ids, run.start.tolist(), run.wait.tolist(), strict=True)
    return FreeReplay(run, {name: wait for name, start, wait in waits if start >= 0}, reasons.by_job)


def _begin_before(log: Workload, site: Site, begin: int) -> int:
    """Return a time at which a period of the priorities begins, not after the first job; second 0 at the earliest."""
    assert isinstance(site.scheduler, SchedulerSettings)
    period = site.scheduler.calc_period
    late = max(0, begin - int(log.submit.min()))
    return max(0, begin - -(-late // period) * period)


# --- What a log records of its users and operators.


def _of_site(log: Workload, site: Site) -> Workload:
    """Return the jobs of a log without what the site does not count, such as memory; of heterogeneous ones, the first component."""
    known = site.platform().resources
    kept = [k for k, name in enumerate(log.resources) if name in known]
    site_of_log = check_asked(log)
    reserved = {r.name for r in site.reservations}
    # jobs start without a reservation that is not known
    requests = tuple(
        request if reserved.intersection(names_of_reservations(request)) else replace(request, reservation="")
        for request in site_of_log.requests
    )
    return replace(
        log,
        site=replace(site_of_log, requests=requests),
        resources=tuple(log.resources[k] for k in kept),
        request=log.request[:, kept],
        chunks={},
    )


def as_recorded(log: Workload, seed: int, phases: DrawnPhases) -> Workload:
    """Return the jobs of a log as they were submitted first, with what happens within a second as it is drawn.

    How long jobs that were cancelled would have run is drawn, too: when they are cancelled is an event.

    Parameters
    ----------
    log : Workload
        The log.
    seed : int
        Seed of the fractions of seconds.
    phases : DrawnPhases
        What the schedulers see of a second.
    """
    site = check_asked(log)
    submit = _first_submissions(log)
    held = np.array([request.held for request in site.requests], np.bool_)[site.request]
    random = np.random.default_rng(seed)
    later = (random.random(len(log)) > phases.seen) & (random.random(len(log)) >= phases.between)
    longer = random.random(len(log)) < (1 - phases.between) / 2
    rows = replace(
        log,
        submit=submit,
        release=np.where(held, log.release, submit) + later,
        runtime=_runtimes(log, random) + longer,
    )
    return rows.keep(np.argsort(submit, kind="stable"))


def _runtimes(log: Workload, random: np.random.Generator) -> Ints:
    """Return how long each job runs if nobody cancels it, shape (jobs,).

    A job that was cancelled, in the queue or as it ran, would have taken a share of its time limit that nobody knows: it is
    drawn among the shares of the jobs that ended by themselves, of those that are not smaller than what the job had run.
    With its whole limit it would keep others waiting for longer than such jobs do.
    """
    ran = _cancelled_running(log)
    unknown = ran | ~_started(log)
    limited = np.isfinite(log.walltime) & (log.walltime > 0)
    drawn = np.flatnonzero(unknown & limited)
    ended = ~unknown & limited
    shares = np.sort(np.minimum(log.runtime[ended] / log.walltime[ended], 1.0))
    runtime = log.runtime.copy()
    if not drawn.size:
        return runtime
    walltime = log.walltime[drawn]
    had = np.where(ran, log.runtime, 0)[drawn]
    first = np.searchsorted(shares, had / walltime)
    left = shares.size - first
    chosen = first + (random.random(drawn.size) * left).astype(np.int64)
    # a job that had run for longer than all others takes its limit
    share = np.append(shares, 1.0)[chosen]
    runtime[drawn] = np.maximum(np.ceil(share * walltime), np.maximum(had, 1))
    return runtime


def recorded_events(log: Workload) -> list[ServerEvent]:
    """Return what users and operators did to jobs: those that were cancelled, waiting or running, and those that were requeued."""
    events = list(cancellations(log))
    for row in np.flatnonzero(_cancelled_running(log)).tolist():
        assert log.recorded_start is not None
        events.append(ServerEvent(int(log.recorded_start[row] + log.runtime[row]), "delete", log.ids[row]))
    for row, attempts in check_asked(log).attempts.items():
        ends = (each.end for each in attempts if each.state == REQUEUED and each.start >= 0)
        events.extend(ServerEvent(end, "requeue", log.ids[row]) for end in ends)
    return events


def _first_submissions(log: Workload) -> Ints:
    """Return when each job was submitted: a log has the last time of those that were requeued."""
    submit = log.submit.copy()
    for row, attempts in check_asked(log).attempts.items():
        submit[row] = min([submit[row], *(each.submit for each in attempts if each.submit >= 0)])
    return submit


def _started(log: Workload) -> Bools:
    """Return which jobs started in the record, shape (jobs,)."""
    if log.recorded_start is None:
        return np.zeros(len(log), np.bool_)
    started: Bools = log.recorded_start >= 0
    return started


def _cancelled_running(log: Workload) -> Bools:
    """Return which jobs were cancelled as they ran, shape (jobs,)."""
    site = check_asked(log)
    cancelled = np.array([text == CANCELLED for text in site.texts], np.bool_)[site.state]
    of_log: Bools = cancelled & _started(log)
    return of_log


# --- Why jobs wait.


class LastReasons(Feature):
    """Finds out why each job waited last in a replay under ``slurm``.

    Attributes
    ----------
    by_job : dict of str to str
        Job -> the reason; jobs that never waited for anything are missing.
    """

    watches = True

    def __init__(self) -> None:
        self.by_job: dict[str, str] = {}

    def begin(self, engine: Replay) -> None:
        """Ask the scheduler for reasons."""
        assert isinstance(engine.scheduler, SlurmScheduler)
        self._scheduler = engine.scheduler
        self._scheduler.keep_reasons()

    def finish(self) -> None:
        """Take the reasons."""
        self.by_job = self._scheduler.kept_reasons()
