"""The reservations and server events of a replay, checked against its jobs, machine and options."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ....errors import WrongValue
from ....instances.workload import Ints, Workload
from ....models import NodeEvent, Platform
from ....models.production import Reservation, ServerEvent
from ....models.production.contradictions import Known, of_events, of_reservations
from ...policies.policy import Policy
from ..moment import Dispatcher
from .record import ProductionLog

NOT_ELIGIBLE = "of users who may not use the reservation of the queue, left out"
Event = NodeEvent | ServerEvent


@dataclass(frozen=True)
class ProductionPlan:
    """Reservations and server events of a replay.

    ``reservations`` have their times of request (``submitted``), ``events`` are sorted by time, without ``reserve``.
    ``log``: what happened, filled by the replay.
    """

    reservations: tuple[Reservation, ...]
    events: tuple[ServerEvent, ...]
    log: ProductionLog

    def eligible(self, queue: str, user: str) -> bool:
        """Return whether a user may submit jobs to a private queue."""
        return any(r.queue == queue and (not r.users or user in r.users) for r in self.reservations)

    @classmethod
    def empty(cls) -> ProductionPlan:
        """Return a plan without reservations and events."""
        return cls((), (), ProductionLog((), ()))

    @property
    def private(self) -> set[str]:
        """The names of the private queues."""
        return {r.queue for r in self.reservations}


def split_events(events: Iterable[Event]) -> tuple[list[NodeEvent], list[ServerEvent]]:
    """Return the events of nodes and those of the batch server, each in their order."""
    listed = list(events)
    wrong = [e for e in listed if not isinstance(e, NodeEvent | ServerEvent)]
    if wrong:
        raise WrongValue(f"events contains {wrong[0]!r:.100}; expected NodeEvent and ServerEvent")
    return [e for e in listed if isinstance(e, NodeEvent)], [e for e in listed if isinstance(e, ServerEvent)]


def plan_of(
    events: Sequence[ServerEvent], reservations: Iterable[Reservation], jobs: Workload, platform: Platform, own: bool
) -> ProductionPlan | None:
    """Return the plan of a replay; None if there is nothing to plan. Raises WrongValue for contradictions.

    ``own``: the events are those of the instance, of which the workload may have a part of the jobs only.
    """
    listed = tuple(reservations)
    if not events and not listed:
        return None
    wrong = [r for r in listed if not isinstance(r, Reservation)]
    if wrong:
        raise WrongValue(f"reservations contains {wrong[0]!r:.100}; expected Reservation")
    faults = [
        f"reservation {listed[f.row].name!r}: {f.field}: expected {f.expected}, found {f.found!r}"
        for f in of_reservations(listed, platform, jobs.queues, set(() if own else jobs.users))
    ]
    gone = [name for name, _ in jobs.report.dropped]
    known = Known([q.name for q in jobs.queues], None if own else {*jobs.ids, *gone}, [r.name for r in listed])
    faults += [
        f"event {events[f.row].kind} at {events[f.row].time}: {f.field}: expected {f.expected}, found {f.found!r}"
        for f in of_events(events, known)
    ]
    requests = {e.subject: e.time for e in events if e.kind == "reserve"}
    faults += [
        f"event reserve at {requests[r.name]}: time: expected a time up to the start of reservation {r.name!r}, {r.start}"
        for r in listed
        if requests.get(r.name, r.start) > r.start
    ]
    if faults:
        raise WrongValue("\n".join(faults[:10]) + (f"\n... and {len(faults) - 10} more" if len(faults) > 10 else ""))
    submitted = tuple(replace(r, submitted=requests.get(r.name, r.submitted)) for r in listed)
    left = tuple(sorted((e for e in events if e.kind != "reserve"), key=lambda e: e.time))
    return ProductionPlan(submitted, left, ProductionLog(submitted, left))


def own_copy(jobs: Workload, plan: ProductionPlan) -> Workload:
    """Return the workload with walltimes and queues that the replay may change, without jobs that are not eligible."""
    jobs = replace(jobs, walltime=jobs.walltime.copy(), queue=jobs.queue.copy())
    private = [k for k, q in enumerate(jobs.queues) if q.name in plan.private]
    rows = np.flatnonzero(np.isin(jobs.queue, private)).tolist()
    gone = [k for k in rows if not plan.eligible(jobs.queues[jobs.queue[k]].name, jobs.users[jobs.user[k]])]
    if not gone:
        return jobs
    kept = np.ones(len(jobs), np.bool_)
    kept[gone] = False
    why = [
        (jobs.ids[k], f"user {jobs.users[jobs.user[k]]!r} may not use queue {jobs.queues[jobs.queue[k]].name!r}")
        for k in gone
    ]
    return jobs.keep(kept, jobs.report.and_also({NOT_ELIGIBLE: len(gone)}, why))


def check_supported(
    plan: ProductionPlan,
    jobs: Workload,
    dispatcher: Policy | Dispatcher,
    expected: Ints | None,
    charge: bool,
    limited: bool,
) -> None:
    """Raise WrongValue if the options of a replay cannot be combined with its reservations or events."""
    what = "reservations" if plan.reservations else "events of the batch server"
    if charge:
        raise WrongValue(f"{what} and charge_decisions cannot be combined: leave out one of them")
    if limited:
        raise WrongValue(f"{what} and a desired use or a power cap that limits the starts cannot be combined")
    if jobs.running:
        raise WrongValue(f"{what} and jobs that run at the begin cannot be combined: leave out one of them")
    if not plan.reservations:
        return
    if jobs.after:
        raise WrongValue("reservations and jobs that wait for other jobs (dependencies) cannot be combined")
    private = {k for k, q in enumerate(jobs.queues) if q.name in plan.private}
    windowed = next((k for k in jobs.windows if int(jobs.queue[k]) in private), None)
    if windowed is not None:
        raise WrongValue(f"job {jobs.ids[windowed]!r} of a private queue has start windows of its own; expected none")
    check_by_walltimes(dispatcher, expected, jobs.walltime)


def check_by_walltimes(dispatcher: Policy | Dispatcher, expected: Ints | None, walltime: Ints) -> None:
    """Raise WrongValue if a policy would keep nodes free for reservations by other durations than walltimes.

    Parameters
    ----------
    dispatcher
        The dispatcher; one in Python may leave its decisions to a policy (``delegates``).
    expected
        Expected durations of the jobs in seconds; None: they change.
    walltime
        Walltimes of the jobs in seconds.
    """
    policy = dispatcher if isinstance(dispatcher, Policy) else None
    if policy is not None or getattr(dispatcher, "delegates", False):
        walltimes = expected is not None and bool((expected == np.maximum(1, walltime)).all())
        if (policy is not None and (policy.shortest_first or policy.corrections)) or not walltimes:
            raise WrongValue(
                f"dispatcher {dispatcher.name}: policies keep nodes free for reservations by the walltimes of jobs, not by "
                'predicted durations; expected predictor="walltime" (CP dispatchers and dispatchers in Python take any)'
            )


__all__ = ["ProductionPlan", "check_by_walltimes", "check_supported", "own_copy", "plan_of", "split_events"]
