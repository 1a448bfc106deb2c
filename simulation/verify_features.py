"""Verification of what features did: evictions, reservations, server events, node states, desired use; it shares no code with them.

All times are computed again from the attempts, the settings and the drawn memory of the jobs. Of reservations, the record of the
replay is believed which were accepted, when and where, and which events were refused; all else is recomputed from the events and
the runs of the jobs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate, pairwise
from random import Random
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..models.array_types import Bools, Ints
from ..models.desired_profile import DesiredProfile
from ..models.dispatch.check import excesses
from ..models.language import Violation
from ..models.node_states import Change
from ..models.platform import Platform
from ..models.problem import part_name
from ..models.server_events import ServerEvent
from ..models.site import QOS, Partition, SchedulerSettings, Site
from ..models.words import how_many
from .curves import Pieces, pieces_of, power_steps
from .features.running import with_rows
from .features.site_limits import Owner, owners_of
from .node_policies import BOOTING, OFF, ON, SHUTTING_DOWN, STATE_NAMES
from .preemption import Requeue
from .records import (
    PREEMPTED_BY,
    REQUEUED,
    Attempt,
    Booking,
    Departure,
    EvictionDecision,
    History,
    JobChange,
    PreemptionRecord,
    PrivateRun,
    ProductionRecord,
    ReplayData,
    Runs,
    chunk_requests,
    chunk_rows,
)


class _Job(NamedTuple):
    """A batch job: nodes, seconds of work between checkpoints (0: none), seconds of writing, and bandwidth in MB/s."""

    nodes: int
    every: int
    sys: int
    app: int
    mb_s: Fraction

    def whole(self, worked: int) -> int:
        """Return the work at the last checkpoint."""
        if self.every:
            return max(0, worked) - max(0, worked) % self.every
        return 0


def _up(value: Fraction) -> int:
    return -(-value.numerator // value.denominator)


def _job(name: str, nodes: int, found: PreemptionRecord) -> _Job:
    """Return the checkpoints of a job by its id and its number of nodes."""
    storage = found.settings.storage
    memory, share = storage.draw(Random(f"{storage.seed} {name}"))
    fs, node = (Fraction(str(b)) for b in (storage.file_system_mb_s, storage.node_mb_s))
    small = memory * Fraction(str(share))
    sys, app = (max(nodes * size / fs, size / node) for size in (Fraction(memory), small))
    every = found.settings.checkpoints.interval(name, nodes, float(app))
    return _Job(nodes, every or 0, _up(sys), _up(app), min(fs, nodes * node))


def departed(replay: ReplayData) -> set[tuple[int, int, int]]:
    """Return (row, number of the attempt, end in seconds) of the attempts that ended by an eviction."""
    record = replay.preemption
    if record is None:
        return set()
    return {(d.row, d.attempt, d.end) for d in record.departures}


def may_write_until(replay: ReplayData, job: str, start: int, own_end: int) -> int:
    """Return the latest second at which a job may still write the checkpoint of its departure; its own end if it is not to leave.

    Parameters
    ----------
    replay : ReplayData
    job : str
        The id of the job.
    start, own_end : int
        When an attempt of the job begins, and when it would end by itself, in seconds.
    """
    record = replay.preemption
    plans = () if record is None else ((d, d.plan, d.problem) for d in record.decisions)
    deadlines = [
        d.time + d.busy + problem.deadline_s
        for d, plan, problem in plans
        if plan is not None and problem is not None and start <= d.time <= own_end
        if plan.strategy.get(job) in ("sys", "app")
    ]
    return max([own_end, *deadlines])


def preemption_faults(replay: ReplayData, runs: Runs, disturbed: bool) -> Iterator[Violation]:
    """Yield the faults of a replay with on-demand jobs; ``disturbed``: a third party's feature ends jobs on some nodes early."""
    record = replay.preemption
    if record is None:
        return
    early = {}
    if replay.history is not None:
        early = _early(replay.history.rows.tolist(), replay.history.early)
    w = replay.workload
    known = {row for row, _ in early} | {d.row for d in record.departures}
    jobs = {k: _job(w.ids[k], int(w.units[k]), record) for k in known}
    on_demand = set(record.rows)
    left = {(d.row, d.attempt): d for d in record.departures}
    for (row, number), attempt in early.items():
        if row not in on_demand:
            yield from _work(attempt, jobs[row], left.get((row, number)), record, number)
    plans = {(d.job, d.time): d for d in record.decisions}
    for d in record.departures:
        a = early.get((d.row, d.attempt))
        if a is None or a.end != d.end:
            yield _fault(
                replay.workload.ids[d.row], 1, f"has no attempt {d.attempt} that ended at {d.end}, when it left"
            )
            continue
        yield from _departure(d, a, jobs[d.row], plans.get((d.cause, d.decided)), record)
    yield from _bandwidth(record, jobs, replay.workload.ids)
    for decision in record.decisions:
        yield from _decision(decision, replay, early, record)
    if not disturbed:
        yield from _in_time(replay, record)
    yield from _reserved(runs, record)


def _early(rows: list[int], early: tuple[Attempt, ...]) -> dict[tuple[int, int], Attempt]:
    return {(k, a.number): a for k, a in zip(rows, early, strict=True)}


def _base(attempt_start: int, number: int, found: PreemptionRecord) -> int:
    """Return the time from which on an attempt makes progress."""
    return attempt_start + (found.settings.restart if number > 1 else 0)


def _work(a: Attempt, job: _Job, d: Departure | None, found: PreemptionRecord, number: int) -> Iterator[Violation]:
    """Check the work that an attempt keeps."""
    worked = max(0, a.end - _base(a.start, number, found))
    if d is not None and d.strategy != "kill":
        due = max(0, d.stop - _base(a.start, number, found))
    elif d is not None:
        due = job.whole(worked)
    else:
        due = max(job.whole(worked), found.requeue.kept(worked) or 0)
    # a job that fails while it writes for its departure has stopped to work before
    saved = (job.every and a.work_done % job.every == 0) or found.requeue.kept(a.work_done) == a.work_done
    less = d is None and 0 <= a.work_done < due and saved and bool(found.decisions)
    if a.work_done != due and not less:
        yield _fault(a.job, 1, f"attempt {number} keeps {a.work_done} s of work; expected {due} s ({a.why})")


def _departure(
    d: Departure, a: Attempt, job: _Job, decision: EvictionDecision | None, found: PreemptionRecord
) -> Iterator[Violation]:
    """Check the times of a departure."""
    if decision is None or decision.plan is None:
        planned = None
    else:
        planned = decision.plan.strategy.get(a.job)
    if planned != d.strategy:
        yield _fault(
            a.job, 1, f"leaves at {d.end} ({d.strategy}); the plan for {d.cause!r} at {d.decided} has {planned}"
        )
    if not d.decided <= d.stop <= d.write <= d.end:
        yield _fault(a.job, 1, f"its times {d.decided}, {d.stop}, {d.write}, {d.end} are not in order")
    due = {"kill": 0, "sys": job.sys, "app": job.app}.get(d.strategy)
    if d.end - d.write != due:
        yield _fault(a.job, 1, f"writes for {d.end - d.write} s ({d.strategy}); expected {due} s")
    worked = d.stop - _base(a.start, d.attempt, found)
    if d.strategy == "app":
        since = d.decided - _base(a.start, d.attempt, found)
        if not job.every or worked != job.whole(since) + job.every:
            yield _fault(a.job, 1, f"stops at {d.stop}, which is not its first checkpoint after {d.decided}")
    elif d.stop != d.write:
        yield _fault(a.job, 1, f"stops at {d.stop} and writes at {d.write}; expected the same time ({d.strategy})")


def _bandwidth(found: PreemptionRecord, jobs: dict[int, _Job], ids: Sequence[str]) -> Iterator[Violation]:
    """Check that checkpoints are written one after another, or within the bandwidth of the file system."""
    written = [(d.write, d.end, d.row) for d in found.departures if d.end > d.write]
    most = Fraction(str(found.settings.storage.file_system_mb_s))
    events = sorted((time, sign, row) for a, b, row in written for time, sign in ((a, 1), (b, -1)))
    used = Fraction(0)
    count = 0
    for time, sign, row in events:
        used = used + sign * jobs[row].mb_s
        count = count + sign
        if count > 1 and not found.settings.shared_bandwidth:
            yield _fault(ids[row], 1, f"begins to write at {time}, while another checkpoint is written")
        elif used > most * (1 + Fraction(1, 10**9)):
            text = f"begins to write at {time}: {float(used):g} MB/s are then in use, of {float(most):g} MB/s"
            yield _fault(ids[row], 1, text)


def _decision(
    decision: EvictionDecision, replay: ReplayData, early: dict[tuple[int, int], Attempt], found: PreemptionRecord
) -> Iterator[Violation]:
    """Check the eviction problem and the plan of a decision."""
    problem = decision.problem
    plan = decision.plan
    now = decision.time
    if problem is None:
        return
    if plan is not None:
        yield from (Violation(v.constraint, v.amount, f"at {now}: {v.message}") for v in problem.verify(plan))
    row = {name: k for k, name in enumerate(replay.workload.ids)}
    others = {r.job.id: r for r in replay.workload.running}  # those at the begin that did not come back
    for c in problem.candidates:
        k = row.get(c.id)
        other = others.get(c.id)
        run = None
        if k is not None:
            run = _run_at(replay, early, k, now)
        if other is not None and other.start <= now <= other.true_end:
            run = other.start, 1
        if run is None:
            yield _fault(c.id, 1, f"may leave at {now}, when it does not run")
            continue
        start, number = run
        units = 0
        if other is not None:
            units = other.job.units
        if k is not None:
            units = int(replay.workload.units[k])
        job = _job(c.id, units, found)
        worked = now - _base(start, number, found)
        kept = job.whole(worked)
        lost = job.nodes * (worked - kept if kept else now - start)
        wait = None
        if job.every:
            wait = max(0, kept + job.every - worked - decision.busy)
        app = None
        if wait is not None:
            app = wait + job.app
        if (c.nodes, c.loss, c.system_s, c.application_s) != (job.nodes, lost, job.sys, app):
            has = f"{how_many(c.nodes, 'node')}, loss {c.loss}, system {c.system_s} s, application {c.application_s} s"
            due = f"{how_many(job.nodes, 'node')}, loss {lost}, system {job.sys} s, application {app} s"
            yield _fault(c.id, 1, f"the eviction problem at {now} has {has}; expected {due}")


def _run_at(replay: ReplayData, early: dict[tuple[int, int], Attempt], k: int, now: int) -> tuple[int, int] | None:
    """Return start and number of the attempt of the job of row k that runs at a time."""
    number = 1
    while (k, number) in early:
        a = early[k, number]
        if a.start <= now <= a.end:
            return a.start, number
        number += 1
    start = int(replay.start[k])
    if 0 <= start <= now <= replay.end[k]:
        return (start, number)
    return None


def _in_time(replay: ReplayData, found: PreemptionRecord) -> Iterator[Violation]:
    """Check that on-demand jobs start in time if there was a plan for them, in replays without failures and deletions."""
    deleted = replay.production is not None and any(e.kind == "delete" for e in replay.production.events)
    if replay.states is not None or deleted:
        return
    planned = {d.job for d in found.decisions if d.plan is not None}
    for row, job in zip(found.rows, found.settings.jobs, strict=True):
        start = int(replay.start[row])
        if job.id in planned and start > job.latest_start:
            yield _fault(job.id, 1, f"starts at {start}, after {job.latest_start}, although there was a plan for it")


def _reserved(runs: Runs, found: PreemptionRecord) -> Iterator[Violation]:
    """Check that no batch job runs on a reserved node."""
    if not found.settings.reserved:
        return
    first = len(runs.platform.nodes) - found.settings.reserved
    p = runs.placement
    job = np.repeat(np.arange(len(runs.workload)), np.diff(p.first))
    there = np.unique(job[p.high >= first])
    names = {runs.workload.ids[k] for k in there[runs.own[there]].tolist()}
    on_demand_names = {job.id for job in found.settings.jobs}
    for name in sorted(names - on_demand_names):
        yield _fault(name, 1, f"runs on a reserved node; the nodes from {runs.platform.nodes[first]!r} on are reserved")


def rows_of(replay: ReplayData) -> Ints:
    """Return the row of the job of each run: of the last attempts, then of those that ended early."""
    rows = np.arange(len(replay.workload))
    if replay.history is None:
        return rows
    return np.concatenate([rows, replay.history.rows])


def as_started(runs: Runs, rows: Ints) -> Runs:
    """Return the runs with the queue and the walltime that each job had at the start of the run, or has in the end."""
    record = runs.production
    if record is None or not (record.moves or record.walltimes):
        return runs
    w = runs.workload
    queue = w.queue.copy()
    walltime = w.walltime.copy()
    for column, changes in ((queue, record.moves), (walltime, record.walltimes)):
        for k, row in enumerate(rows.tolist()):
            mine = [c for c in changes if c.row == row]
            if mine:
                before = [c for c in mine if c.time <= runs.start[k] or runs.start[k] < 0]
                if before:
                    column[k] = before[-1].after
                else:
                    column[k] = mine[0].before
    return replace(runs, workload=replace(w, queue=queue, walltime=walltime))


def production_faults(runs: ReplayData, rows: Ints) -> Iterator[Violation]:
    """Yield what contradicts the reservations and the server events.

    Parameters
    ----------
    runs : ReplayData
        All runs, as ``as_started`` returns them.
    rows : ndarray of int64
        The row of the job of each run.
    """
    record = runs.production
    if record is None:
        return
    yield from _bookings(runs, record)
    inside = _inside(runs, rows, record)
    yield from _private(runs, rows, record, inside)
    yield from _reserved_amounts(runs, record, inside)
    yield from _stopped(runs, record)
    yield from _changes(runs, record)
    yield from _without_effect(runs, record)
    yield from _left(runs, rows, record)


def _end(booking: Booking) -> int:
    if booking.ended is None:
        return booking.end
    return booking.ended


def _accepted(record: ProductionRecord) -> list[tuple[int, Booking]]:
    return [(k, b) for k, b in enumerate(record.bookings) if b.accepted is not None]


def _bookings(runs: ReplayData, record: ProductionRecord) -> Iterator[Violation]:
    """Yield the accepted reservations without all their units, and those that did not start in time."""
    last = int(np.max(np.where(runs.start >= 0, runs.end, -1), initial=-1))
    cancelled = {(e.subject, e.time) for e in record.events if e.kind == "cancel-reservation"}
    for _, b in _accepted(record):
        r = b.reservation
        if (b.start, b.end) not in {(o.start, o.end) for o in r.occurrences()}:
            yield Violation(b.label, 1, f"reservation {b.label!r} from {b.start} to {b.end} was not requested")
        placed = sum(units for node, units in b.nodes.items() if node in runs.platform.capacity and units > 0)
        if placed != r.units:
            yield Violation(
                b.label, 1, f"reservation {b.label!r} has {how_many(placed, 'unit')} on nodes; expected {r.units}"
            )
        if b.outcome == "accepted" and b.start <= last:
            yield Violation(b.label, 1, f"reservation {b.label!r} did not start at {b.start}")
        if _end(b) < b.end and (r.name, _end(b)) not in cancelled:
            yield Violation(b.label, 1, f"reservation {b.label!r} ended at {_end(b)}, before {b.end}; not cancelled")


def _inside(runs: ReplayData, rows: Ints, record: ProductionRecord) -> dict[int, PrivateRun]:
    """Return the run -> the reservation that the record gives for it."""
    at = {(row, start): k for k, (row, start) in enumerate(zip(rows.tolist(), runs.start.tolist(), strict=True))}
    return {at[p.row, p.start]: p for p in record.private if (p.row, p.start) in at}


def _private(
    runs: ReplayData, rows: Ints, record: ProductionRecord, inside: dict[int, PrivateRun]
) -> Iterator[Violation]:
    """Yield the jobs of private queues that run outside of a reservation of theirs, and others that run inside."""
    w = runs.workload
    private = {b.reservation.queue for b in record.bookings}
    for k in range(len(w)):
        queue = w.queues[int(w.queue[k])].name
        user = w.users[int(w.user[k])]
        if runs.start[k] < 0 or (queue not in private and k not in inside):
            continue
        if k not in inside:
            yield _job_fault(w.ids[k], f"of private queue {queue!r} starts at {runs.start[k]} outside of a reservation")
            continue
        b = record.bookings[inside[k].booking]
        start = int(runs.start[k])
        end = int(runs.end[k])
        if b.accepted is None or not b.start <= start <= end <= _end(b):
            yield _job_fault(w.ids[k], f"runs from {start} to {end}, not inside of reservation {b.label!r}")
        if start + rest_of(runs, rows, k) > b.end:
            yield _job_fault(
                w.ids[k], f"starts at {start} and ends by its walltime after reservation {b.label!r}, {b.end}"
            )
        if b.reservation.queue != queue:
            yield _job_fault(w.ids[k], f"of queue {queue!r} runs in reservation {b.label!r} of {b.reservation.queue!r}")
        if b.reservation.users and user not in b.reservation.users:
            yield _job_fault(w.ids[k], f"of user {user!r} runs in reservation {b.label!r}, which is for others")


def rest_of(runs: ReplayData, rows: Ints, k: int) -> int:
    """Return the walltime of run k less the work of the attempts before it."""
    early = () if runs.history is None else runs.history.early
    saved = [
        a.work_done
        for a, row in zip(early, _early_rows(runs), strict=True)
        if row == rows[k] and a.end <= runs.start[k]
    ]
    restart = runs.preemption.settings.restart if saved and runs.preemption is not None else 0
    return max(1, int(runs.workload.walltime[k]) - sum(saved) + restart)


def _early_rows(runs: ReplayData) -> Sequence[int]:
    rows: list[int] = []
    if runs.history is not None:
        rows = runs.history.rows.tolist()
    return rows


def _reserved_amounts(runs: ReplayData, record: ProductionRecord, inside: dict[int, PrivateRun]) -> Iterator[Violation]:
    """Yield uses of reserved amounts by other jobs, and uses beyond the reserved amounts by the jobs inside."""
    accepted = _accepted(record)
    platform = runs.platform
    capacity = np.array(list(platform.capacity.values()), np.int64)
    private = np.zeros(len(runs.workload), np.bool_)
    private[list(inside)] = True
    for text in _sweep(runs, ~private, [b for _, b in accepted], capacity):
        yield Violation("reservations", 1, f"{text}, beside what is reserved")
    for index, b in accepted:
        mine = np.zeros(len(private), np.bool_)
        mine[[k for k, p in inside.items() if p.booking == index]] = True
        whole = np.zeros_like(capacity)
        for node, units in b.nodes.items():
            if node in platform.capacity:
                row = [units * b.reservation.request.get(r, 0) for r in platform.resources]
                whole[platform.nodes.index(node)] = row
        for text in _sweep(runs, mine, [], whole):
            yield Violation(b.label, 1, f"{text}, reserved in {b.label!r}")


def _sweep(runs: ReplayData, mask: Bools, bookings: Sequence[Booking], capacity: Ints) -> Iterator[str]:
    """Yield the uses beyond a capacity by the runs of a mask and by reservations."""
    p, platform = runs.placement, runs.platform
    rows = chunk_rows(runs)
    on = mask & (runs.start >= 0)
    start = runs.start[rows.job]
    end = np.where(on, runs.end, runs.start)[rows.job]
    number = {name: n for n, name in enumerate(platform.nodes)}
    held = [[(number[n], u) for n, u in b.nodes.items() if n in number] for b in bookings]
    flat = np.array([pair for pairs in held for pair in pairs], np.int64).reshape(-1, 2)
    column = chunk_requests(runs, rows)
    of_jobs = np.column_stack([column.get(r, np.zeros(len(rows.job), np.int64)) for r in platform.resources])
    asked = [[b.reservation.request.get(r, 0) for r in platform.resources] for b in bookings]
    of_bookings = np.array(asked, np.int64).reshape(len(bookings), len(platform.resources))
    excess = excesses(
        np.append(start, [b.start for b in bookings]).astype(np.int64),
        np.append(end, [_end(b) for b in bookings]).astype(np.int64),
        np.append(rows.first, rows.first[-1] + np.cumsum([len(pairs) for pairs in held], dtype=np.int64)),
        np.append(p.low, flat[:, 0]),
        np.append(p.high, flat[:, 0]),
        np.append(p.units, flat[:, 1]),
        np.vstack([of_jobs, of_bookings]),
        capacity,
    )
    for node, r, time, used, _ in zip(*(column.tolist() for column in excess), strict=True):
        limit = int(capacity[node, r])
        yield f"node {platform.nodes[node]!r} at {time}: {used} {platform.resources[r]} in use of {limit}"


def _stopped(runs: ReplayData, record: ProductionRecord) -> Iterator[Violation]:
    """Yield the starts from stopped queues."""
    w = runs.workload
    names = np.array([q.name for q in w.queues], object)[w.queue]
    for queue in {e.subject for e in record.events if e.kind == "stop-queue"}:
        since: int | None = None
        spans = []
        for e in record.events:
            if e.subject == queue and e.kind == "stop-queue" and since is None:
                since = e.time
            elif e.subject == queue and e.kind == "start-queue" and since is not None:
                spans.append((since, e.time))
                since = None
        if since is not None:
            spans.append((since, np.iinfo(np.int64).max))
        for lo, hi in spans:
            for k in np.flatnonzero((names == queue) & (lo <= runs.start) & (runs.start < hi)).tolist():
                if runs.start[k] >= 0:
                    yield _job_fault(w.ids[k], f"starts at {runs.start[k]} from queue {queue!r}, stopped since {lo}")


def _changes(runs: ReplayData, record: ProductionRecord) -> Iterator[Violation]:
    """Yield the changes of jobs without an event."""
    w = runs.workload
    asked = [(e.time, e.subject, *_change_of(runs, e)) for e in record.events]
    both: tuple[tuple[str, Sequence[JobChange]], ...] = (("move", record.moves), ("walltime", record.walltimes))
    for kind, changes in both:
        for c in changes:
            if not any(x[1:] == (w.ids[c.row], kind, c.after) and x[0] <= c.time for x in asked):
                yield _job_fault(w.ids[c.row], f"was changed at {c.time} ({kind} to {c.after}) without an event")


def _change_of(runs: ReplayData, event: ServerEvent) -> tuple[str, object]:
    """Return the kind of an event, and its value as ``Change.after`` has it."""
    numbers = {q.name: k for k, q in enumerate(runs.workload.queues)}
    return event.kind, numbers.get(str(event.value)) if event.kind == "move" else event.value


def _without_effect(runs: ReplayData, record: ProductionRecord) -> Iterator[Violation]:
    """Yield the events up to the last start that neither were refused nor changed or ended their jobs.

    Later ones may not have happened: a replay ends with its last job, a partial one before.
    """
    last = int(np.max(runs.start, initial=-1))
    ids = runs.workload.ids[: len(runs.workload) - len(_early_rows(runs))]
    rows = {name: row for row, name in enumerate(ids)}
    refused = Counter(r.event for r in record.refused)
    made: Counter[tuple[str, str, object]] = Counter((ids[c.row], "move", c.after) for c in record.moves)
    made.update((ids[c.row], "walltime", c.after) for c in record.walltimes)
    for e in record.events:
        if e.kind not in ("move", "walltime", "delete", "requeue") or e.time > last:
            continue
        if refused[e]:
            refused[e] -= 1
        elif e.kind == "delete":
            row = rows.get(e.subject)
            if row is not None and runs.start[row] >= 0 and runs.end[row] > e.time:
                yield _job_fault(e.subject, f"runs until {runs.end[row]}, but was deleted at {e.time}")
        elif e.kind == "requeue":
            if not any(job == e.subject and (time, why) == (e.time, REQUEUED) for job, time, why in _early_ends(runs)):
                yield _job_fault(e.subject, f"runs on, but was requeued at {e.time}")
        elif made[e.subject, *_change_of(runs, e)]:
            made[e.subject, *_change_of(runs, e)] -= 1
        else:
            yield _job_fault(e.subject, f"was not changed at {e.time} ({e.kind} to {e.value})")


def _early_ends(runs: ReplayData) -> Iterator[tuple[str, int, str]]:
    """Yield the job, the time and the reason of each attempt that ended early."""
    if runs.history is None:
        return
    yield from ((a.job, a.end, a.why) for a in (*runs.history.early, *runs.history.gone))
    yield from ((runs.workload.ids[row], int(runs.end[row]), why) for row, why in runs.history.dropped.items())


def _left(runs: ReplayData, rows: Ints, record: ProductionRecord) -> Iterator[Violation]:
    """Yield the jobs that left without a reason, or started although they left."""
    w = runs.workload
    deleted = {e.subject for e in record.events if e.kind == "delete"}
    private = {b.reservation.queue for b in record.bookings}
    running = {b.reservation.queue for b in record.bookings if b.pending}
    for row, why in record.left.items():
        queue = w.queues[int(w.queue[row])].name
        if runs.start[row] >= 0:
            yield _job_fault(w.ids[row], f"starts at {runs.start[row]}, but has left ({why})")
        if w.ids[row] not in deleted and (queue not in private or queue in running):
            yield _job_fault(
                w.ids[row], f"has left ({why}); it was not deleted, and its queue {queue!r} still has starts"
            )
        yield from _left_at(runs, record, row)


def _left_at(runs: ReplayData, record: ProductionRecord, row: int) -> Iterator[Violation]:
    """Yield that a job left at a time at which it was not deleted and its queue still had starts, or did not wait."""
    w = runs.workload
    time = record.left_at.get(row)
    job = w.ids[row]
    queue = w.queues[int(w.queue[row])].name
    ends = []
    if runs.history is not None:
        ends = [a.end for a in runs.history.early if a.job == job]
    if time is None or time < max(int(w.release[row]), *ends, 0):
        yield _job_fault(job, f"has left at {time}; expected a time at which it waits")
    elif any(e.kind == "delete" and e.subject == job and e.time == time for e in record.events):
        return
    elif any(b.reservation.queue == queue and (b.ended or 0) > time for b in record.bookings):
        yield _job_fault(job, f"has left at {time}, when it was not deleted and its queue {queue!r} still had starts")


def limits_of_killed(replay: ReplayData, due: Ints) -> Ints:
    """Return the durations of jobs; of those that were killed at a walltime that had changed, as the events give them."""
    record = replay.production
    if record is None or not record.walltimes:
        return due
    limits = due.copy()
    w = replay.workload
    if replay.history is None:
        saved = np.zeros(len(w), np.int64)
    else:
        saved = replay.history.saved
    for row in {c.row for c in record.walltimes if replay.killed[c.row]}:
        start = int(replay.start[row])
        changes = [c for c in record.walltimes if c.row == row]
        limit = max(1, changes[0].before - int(saved[row]))
        for c in changes:
            if start + limit <= c.time and c.time > start:
                break
            limit = max(1, c.after - int(saved[row]))
            if start + limit <= c.time:
                limit = max(0, c.time - start) or limit  # its new walltime had passed: it ends at once
        limits[row] = min(limit, int(w.runtime[row]) - int(saved[row]))
    return limits


def ends_early(replay: ReplayData, row: int, nodes: Mapping[str, int]) -> bool:
    """Return whether an event or a reservation ended the last attempt of a job."""
    record = replay.production
    if record is None:
        return False
    job = replay.workload.ids[row]
    start = int(replay.start[row])
    end = int(replay.end[row])
    limit = int(replay.workload.walltime[row])
    if replay.history is not None and replay.history.saved[row]:
        restart = 0
        if replay.preemption is not None:
            restart = replay.preemption.settings.restart
        limit = max(1, limit - int(replay.history.saved[row]) + restart)
    if _asked(replay, "delete", job, end) or _asked(replay, "requeue", job, end):
        return True
    for b in record.bookings:
        if b.accepted is None:
            continue
        if any(p.row == row and p.start == start and record.bookings[p.booking] is b for p in record.private):
            return end == _end(b)
        if end == b.start and start + limit <= end and any(n in nodes for n in b.nodes):
            return True
    return False


def _job_fault(job: str, text: str) -> Violation:
    return Violation(job, 1, f"job {job!r} {text}")


# --- Verification of attempts and of node states; it shares no code with the simulator.

FOREVER = int(np.iinfo(np.int64).max)


def attempt_faults(
    replay: ReplayData, others: Iterable[tuple[str, int]] = (), preempted: PreemptionRules | None = None
) -> Iterator[Violation]:
    """Yield the faults of the attempts of each job: their numbers and order, their reasons, and the work that they save.

    ``others``: nodes that stop for reasons that the replay does not record, each with the time. ``preempted``: the rules by which
    jobs preempt others.
    """
    history, ids = replay.history, replay.workload.ids
    if history is None:
        return
    left = departed(replay)
    stops = Stops(replay, others)
    rights = None
    if preempted is not None:
        rights = Preempting(replay, preempted)
    ended: dict[int, int] = {}
    count: dict[int, int] = {}
    for k, a in zip(history.rows.tolist(), history.early, strict=True):
        count[k] = count.get(k, 0) + 1
        if a.job != ids[k] or a.number != count[k]:
            yield _fault(a.job, 1, f"attempt {a.number} stands where attempt {count[k]} of job {ids[k]!r} is expected")
        if a.start < ended.get(k, a.start) or a.end < a.start:
            yield _fault(
                a.job, 1, f"attempt {a.number} from {a.start} to {a.end}: the one before ended at {ended.get(k)}"
            )
        if not 0 <= a.work_done <= a.end - a.start:
            yield _fault(a.job, 1, f"attempt {a.number} ran {a.end - a.start} s and has done {a.work_done} s of work")
        if rights is not None and a.why.startswith(PREEMPTED_BY):
            fault = rights.fault(a.job, a.start, a.end, a.why, a.work_done)
            if fault:
                yield _fault(a.job, 1, f"attempt {a.number} ended at {a.end} ({a.why}), {fault}")
        elif a.why == REQUEUED and _asked(replay, "requeue", a.job, a.end):
            pass
        elif (k, a.number, a.end) not in left and not stops.any_of(a.all_nodes, a.end):
            yield _fault(a.job, 1, f"attempt {a.number} ended at {a.end} ({a.why}), when none of its nodes stopped")
        ended[k] = a.end
    for k, last in ended.items():
        if 0 <= replay.start[k] < last:
            yield _fault(ids[k], 1, f"starts at {replay.start[k]}, before the end of its attempt before, {last}")
    yield from _begun_faults(replay, history, stops, left, rights)
    names, p = replay.platform.nodes, replay.placement
    for k, why in history.dropped.items():
        if rights is not None and why.startswith(PREEMPTED_BY):
            fault = rights.fault(ids[k], int(replay.start[k]), int(replay.end[k]), why, None)
            if fault:
                yield _fault(ids[k], 1, f"did not come back at {replay.end[k]} ({why}), {fault}")
            continue
        ranges = range(p.first[k], p.first[k + 1])
        nodes = dict.fromkeys((n for r in ranges for n in names[p.low[r] : p.high[r] + 1]), 1)
        if not stops.any_of(nodes, int(replay.end[k])) and not ends_early(replay, k, nodes):
            yield _fault(ids[k], 1, f"did not come back at {replay.end[k]}, when none of its nodes stopped")


@dataclass(frozen=True)
class PreemptionRules:
    """By what rules jobs preempt others in a replay.

    Parameters
    ----------
    site : Site
        The site, of kind ``"slurm"``.
    requeue : Requeue
        What is kept of the work of a job that is put back into the queue.
    """

    site: Site
    requeue: Requeue


class Preempting:
    """Which jobs of a replay may preempt which, by tiers of partitions or by QOS; read from the site and the attempts.

    Jobs that ran at the begin, and did not come back, are no rows of the replay; they may have been preempted, too.
    """

    def __init__(self, replay: ReplayData, rules: PreemptionRules) -> None:
        assert isinstance(rules.site.scheduler, SchedulerSettings)
        self._replay = replay
        self._rules = rules
        self._settings = rules.site.scheduler
        whole = with_rows(replay.workload, [(r,) for r in replay.workload.running])
        owners, owner = owners_of(whole, rules.site)
        self._owner = {name: owners[k] for name, k in zip(whole.ids, owner.tolist(), strict=True)}
        site = whole.site
        self._leaves = {name for k, name in enumerate(whole.ids) if site is not None and site.asked(k).requeue is False}
        self._qos = {q.name: q for q in rules.site.qos}
        self._row = {name: k for k, name in enumerate(replay.workload.ids)}
        self._runs: dict[int, list[tuple[int, int]]] = {}
        history = replay.history
        for k, a in [] if history is None else zip(history.rows.tolist(), history.early, strict=True):
            self._runs.setdefault(k, []).append((a.start, a.end))

    def fault(self, job: str, start: int, end: int, why: str, kept: int | None) -> str:
        """Return what is wrong with an attempt that ended for a job that is named; an empty text if nothing is.

        Parameters
        ----------
        job : str
            The job.
        start, end : int
            The times of the attempt.
        why : str
            The reason, with the id of the other job.
        kept : int or None
            The work that is kept of the attempt in s; None: the job did not come back.
        """
        urgent = why.removeprefix(PREEMPTED_BY)
        other = self._row.get(urgent)
        if other is None or urgent == job:
            return "which is no other job of the replay"
        ways = self._ways(self._owner[job], self._owner[urgent])
        if not ways:
            return "which may not preempt it"
        in_time = [way for way in ways if start + way.exempt <= end - way.grace]
        if not in_time:
            return f"after {end - start} s, before it could be preempted"
        if not any(self._waits(other, end - way.grace) for way in in_time):
            return "which did not wait"
        dues = {self._kept(job, way.mode, end - start) for way in in_time}
        if kept not in dues and self._replay.preemption is None:
            told = " or ".join(sorted("none, as it leaves" if due is None else f"{due} s" for due in dues))
            return f"with {'none' if kept is None else kept} of its work kept; expected {told}"
        return ""

    def _kept(self, job: str, mode: str, ran: int) -> int | None:
        if mode == "cancel" or job in self._leaves:
            return None
        return self._rules.requeue.kept(ran)

    def _ways(self, own: Owner, urgent: Owner) -> list[PreemptionWay]:
        """Return how a job may be preempted by an urgent one, in each of the partitions in which it may have run."""
        quality = self._qos.get(own.qos)
        exempt = self._settings.preempt_exempt_time
        if quality is not None and quality.preempt_exempt_time is not None:
            exempt = quality.preempt_exempt_time
        givers: list[Partition | QOS] = []  # what gives the right to preempt the job: its mode and grace time
        if self._settings.preempt_type == "qos":
            rights = self._qos.get(urgent.qos)
            if rights is not None and own.qos in rights.preempt:
                givers.append(quality or QOS(own.qos))
        elif self._settings.preempt_type == "partition_prio":
            tier = max((self._rules.site.partition(name).tier for name in urgent.partitions), default=0)
            parts = [self._rules.site.partition(name) for name in own.partitions]
            givers += [part for part in parts if part.tier < tier]
        ways = [PreemptionWay(self._mode(each.preempt_mode), each.grace_time, exempt) for each in givers]
        return [way for way in ways if way.mode]

    def _mode(self, own: str | None) -> str:
        words = self._settings.preempt_mode if own in (None, "", "cluster") else str(own).split(",")
        return next((word for word in words if word in ("cancel", "requeue")), "")

    def _waits(self, row: int, time: int) -> bool:
        """Return whether a job was submitted, and did not run and had not ended, just before a time."""
        last = int(self._replay.start[row])
        runs = any(start < time < end for start, end in self._runs.get(row, ()))
        return int(self._replay.workload.submit[row]) <= time and not runs and (last < 0 or last >= time)


class PreemptionWay(NamedTuple):
    """How a job is preempted: the mode, the seconds that it has to end, and those for which it is exempt from its start on."""

    mode: str
    grace: int
    exempt: int


def _begun_faults(
    replay: ReplayData,
    found: History,
    stops: Stops,
    left: Collection[tuple[int, int, int]],
    rights: Preempting | None,
) -> Iterator[Violation]:
    """Yield the faults of the attempts that began before the replay."""
    ids = replay.workload.ids
    first = {k: a for k, a in zip(found.rows.tolist(), found.early, strict=True) if a.number == 1}
    ends = {r.job.id: r.true_end for r in replay.workload.running}
    for k, parts in found.begun.items():
        a = first.get(k)
        if a is not None:
            attempted = (a.nodes, *a.further)
        else:
            attempted = ()
        for c, r in enumerate(parts):
            on = dict(attempted[c]) if c < len(attempted) else {}
            until = may_write_until(replay, ids[k], r.start, r.true_end)
            late = a is not None and a.end > until and (k, 1, a.end) not in left
            if a is None or a.start != r.start or late or (r.nodes and on != dict(r.nodes)):
                is_what = "has no attempt"
                if a is not None:
                    is_what = f"ran from {a.start} to {a.end} on {on}"
                expected = f"from {r.start}, to {r.true_end} at the latest, on {dict(r.nodes) or 'any nodes'}"
                yield _fault(r.job.id, 1, f"runs at the begin and {is_what}; expected {expected}")
    for a in found.gone:
        chunks = [part_name(a.job, c) for c in range(1 + len(a.further))]
        if rights is not None and a.why.startswith(PREEMPTED_BY):
            fault = rights.fault(a.job, a.start, a.end, a.why, None)
            if fault or ends.get(a.job) != a.end:
                yield _fault(
                    a.job, 1, f"runs at the begin and ended at {a.end} ({a.why}), {fault or 'and at another time'}"
                )
            continue
        stopped = stops.any_of(a.all_nodes, a.end) or _reserved_from(replay, a.all_nodes, a.end)
        if any(ends.get(name) != a.end for name in chunks) or not (stopped or _left_at_event(replay, a)):
            yield _fault(a.job, 1, f"runs at the begin and failed at {a.end} ({a.why}), when none of its nodes stopped")


def _left_at_event(replay: ReplayData, a: Attempt) -> bool:
    """Return whether an event ended an attempt for good."""
    return any(_asked(replay, kind, a.job, a.end) for kind in ("delete", "requeue"))


def _asked(replay: ReplayData, kind: str, job: str, time: int) -> bool:
    """Return whether an event asks for this of a job at this time."""
    if replay.production is not None:
        events = replay.production.events
    else:
        events = ()
    return any((e.kind, e.subject, e.time) == (kind, job, time) for e in events)


def _reserved_from(replay: ReplayData, nodes: Collection[str], time: int) -> bool:
    """Return whether a reservation of one of the nodes has started at this time."""
    if replay.production is not None:
        bookings = replay.production.bookings
    else:
        bookings = ()
    return any(b.start == time and b.accepted is not None and not set(b.nodes).isdisjoint(nodes) for b in bookings)


def _node_changes(replay: ReplayData) -> tuple[Change, ...]:
    """Return the changes of the states of the nodes, from the begin of the replay on."""
    if replay.states is None:
        return ()
    return replay.states.changes_from(replay.workload.begin)


class Stops:
    """The nodes that stop at each time of a replay."""

    def __init__(self, replay: ReplayData, others: Iterable[tuple[str, int]] = ()) -> None:
        self._others = set(others)  # (node, time)
        self._change = {change.time: change for change in _node_changes(replay)}
        self._number = {name: n for n, name in enumerate(replay.platform.nodes)}

    def any_of(self, nodes: Collection[str], time: int) -> bool:
        """Return whether one of the nodes does not run jobs from this time on."""
        if any((name, time) in self._others for name in nodes):
            return True
        change = self._change.get(time)
        number = self._number
        return change is not None and any(not change.runs[number[name]] for name in nodes if name in number)


def _fault(job: str, amount: float, text: str) -> Violation:
    return Violation(job, amount, f"job {job!r}: {text}")


class Barred(NamedTuple):
    """A time (s) in which a node takes no starts, or runs no jobs, and the name of its state."""

    node: int
    since: int
    until: int
    name: str


def _barred(changes: Sequence[Change], flag: str) -> list[Barred]:
    """Return the times in which ``flag`` of a node, ``starts`` or ``runs``, is false."""
    barred = list[Barred]()
    begun = dict[int, tuple[int, str]]()
    before: Bools | None = None
    for change in changes:
        allowed: Bools = getattr(change, flag)
        if before is None:
            before = np.ones_like(allowed)
        for n in np.flatnonzero(before & ~allowed).tolist():
            begun[n] = change.time, change.names[n]
        for n in np.flatnonzero(~before & allowed).tolist():
            since, name = begun.pop(n)
            barred.append(Barred(n, since, change.time, name))
        before = allowed
    return [*barred, *(Barred(n, since, FOREVER, name) for n, (since, name) in begun.items())]


def state_faults(runs: Runs) -> Iterator[Violation]:
    """Yield the runs that start on a node which takes no starts, or go on when a node stops."""
    changes = _node_changes(runs)
    for b, k in _on(runs, _barred(changes, "starts"), runs.own):
        if b.since <= runs.start[k] < b.until:
            yield _state_fault(runs, k, b, "starts")
    stops = _barred(changes, "runs")
    for b, k in _on(runs, stops, runs.started):
        if runs.start[k] < b.since < runs.end[k]:
            yield _state_fault(runs, k, b, "runs on")
    first = {runs.platform.nodes[b.node]: b for b in sorted(stops, key=lambda b: -b.since)}
    for r in runs.workload.running if first else ():
        node = next((node for node in r.nodes if node in first and r.true_end > first[node].since), None)
        if node is not None:
            text = f"runs on node {node!r}, {first[node].name} since {first[node].since} or before"
            yield _fault(r.job.id, 1, f"from {r.start} to {r.true_end}: {text}")


def _state_fault(runs: Runs, k: int, b: Barred, what: str) -> Violation:
    text = f"{what} node {runs.platform.nodes[b.node]!r}, {b.name} since {b.since} or before"
    return _fault(runs.workload.ids[k], 1, f"from {runs.start[k]} to {runs.end[k]}: {text}")


def _on(runs: Runs, barred: Sequence[Barred], mask: Bools) -> Iterator[tuple[Barred, int]]:
    """Yield each barred time of a node with each run of a mask that uses the node."""
    if not barred or not mask.any():
        return
    nodes = np.unique([b.node for b in barred])
    p = runs.placement
    job = np.repeat(np.arange(len(mask)), np.diff(p.first))
    low = np.searchsorted(nodes, p.low)
    count = np.where(mask[job], np.maximum(0, np.searchsorted(nodes, p.high, side="right") - low), 0)
    run = np.repeat(job, count)
    at = np.repeat(low - np.cumsum(count) + count, count) + np.arange(int(count.sum()))
    order = np.argsort(at, kind="stable")
    run = run[order]
    first = np.searchsorted(at[order], np.arange(len(nodes) + 1))
    place = {n: i for i, n in enumerate(nodes.tolist())}
    for b in barred:
        i = place[b.node]
        for k in run[first[i] : first[i + 1]].tolist():
            yield b, k


# --- Verification of the states of nodes that are switched off and on; it shares no code with the simulator.
#
# - A node is on at first, and goes through on, shutting down, off, booting, on, in this order.
# - It shuts down and boots for the given times, and is off for the least time or longer.
# - No job runs on a node that is not on.

NEXT = {ON: SHUTTING_DOWN, SHUTTING_DOWN: OFF, OFF: BOOTING, BOOTING: ON}


def power_faults(replay: ReplayData, runs: Runs) -> Iterator[Violation]:
    """Yield the faults of the states of nodes, and the runs on nodes that were not on."""
    if replay.power is None:
        return
    record = replay.power
    nodes = replay.platform.nodes
    times = replay.power.switching
    state = dict.fromkeys(range(len(nodes)), ON)
    since = dict[int, int]()
    wrong = next((n for n in record.node.tolist() if not 0 <= n < len(nodes)), None)
    if wrong is not None:
        yield Violation("nodes", 1, f"the states of nodes have node {wrong}; the platform has 0 to {len(nodes) - 1}")
        return
    least = {OFF: times.shut_down, BOOTING: times.min_off, ON: times.boot, SHUTTING_DOWN: 0}
    away: list[tuple[int, int, int]] = []
    latest = dict[int, int]()  # node -> its last entry in away
    for n, t, new in zip(record.node.tolist(), record.time.tolist(), record.state.tolist(), strict=True):
        old, name = state[n], nodes[n]
        if NEXT[old] != new:
            yield Violation(name, 1, f"node {name!r} at {t}: {STATE_NAMES[new]} after {STATE_NAMES[old]}")
        took = t - since.get(n, t - least[new])
        if took < least[new] or (took > least[new] and new in (OFF, ON)):
            exactly = ""
            if new in (BOOTING, SHUTTING_DOWN):
                exactly = "at least "
            text = f"node {name!r} at {t}: {STATE_NAMES[new]} after {took} s {STATE_NAMES[old]}; expected {exactly}{least[new]} s"
            yield Violation(name, abs(took - least[new]), text)
        if old == ON:
            latest[n] = len(away)
            away.append((n, t, np.iinfo(np.int64).max))
        elif new == ON and n in latest:
            away[latest[n]] = (n, away[latest[n]][1], t)
        state[n], since[n] = new, t
    yield from _runs_away(runs, away)


def _runs_away(runs: Runs, away: list[tuple[int, int, int]]) -> Iterator[Violation]:
    """Yield the runs on a node in a time [begin, until) in which it is not on; ``away``: (node, begin, until)."""
    if not away:
        return
    p = runs.placement
    names = runs.platform.nodes
    running = runs.workload.running
    count = np.maximum(p.high - p.low + 1, 0)
    piece = np.repeat(np.arange(count.size), count)
    node = p.low[piece] + np.arange(piece.size) - np.repeat(np.cumsum(count) - count, count)
    job = np.repeat(np.arange(len(runs.start)), np.diff(p.first))[piece]
    kept = runs.started[job]
    node = node[kept]
    job = job[kept]
    ids = list(runs.workload.ids)
    start, end = runs.start[job], runs.end[job]
    number = {name: n for n, name in enumerate(names)}
    held = [(number[name], len(ids) + k, r) for k, r in enumerate(running) for name in r.nodes if name in number]
    ids += [r.job.id for r in running]
    node = np.append(node, [n for n, _, _ in held])
    job = np.append(job, [k for _, k, _ in held])
    start = np.append(start, [r.start for _, _, r in held])
    end = np.append(end, [r.true_end for _, _, r in held])
    node, job, start, end = (a.astype(np.int64) for a in (node, job, start, end))
    listed = np.array(sorted(away), np.int64)
    # intervals of a node are disjoint: of those that begin before the end of a run, the last one ends last
    far = int(max(listed[:, 1].max(), end.max(initial=0))) + 1
    last = np.searchsorted(listed[:, 0] * far + listed[:, 1], node * far + end) - 1
    off = listed[np.maximum(last, 0)]
    for k in np.flatnonzero((last >= 0) & (off[:, 0] == node) & (off[:, 2] > start)).tolist():
        name, begin = ids[job[k]], off[k, 1]
        text = (
            f"job {name!r} runs from {start[k]} to {end[k]} on node {names[node[k]]!r}, which is not on from {begin} on"
        )
        yield Violation(name, 1, text)


# --- The check that starts keep to a desired profile; it shares no code with the simulator and the dispatchers.

TOLERANCE = 1e-6  # of an amount


def limit_faults(runs: Runs, within: Sequence[DesiredProfile], on_each_node: bool) -> Iterator[Violation]:
    """Yield the times at which jobs start although more is in use then than a profile allows, node by node.

    Where nodes can be counted (all are equal, each unit takes more than half of one), the number of nodes in use is
    compared with that of the profile: of each group the least share of a wished resource, rounded down; with ``on_each_node``
    it is not. Power is that of all
    running jobs, and all starts must keep to it, also those of on-demand jobs and inside of reservations.
    """
    if not within or not runs.own.any():
        return
    every = np.unique(runs.start[runs.own])
    runs = replace(runs, own=runs.own & ~_exempt(runs))
    begun = np.unique(runs.start[runs.own])
    pieces = pieces_of(runs)
    for profile in within:
        if profile.power is not None:
            yield from _power_faults(runs, profile, every)
        if profile.steps and not on_each_node and _can_be_counted(runs):
            yield from _count_faults(runs, profile, pieces, begun)
        elif profile.steps:
            yield from _node_faults(runs, profile, pieces)


def _exempt(runs: Runs) -> NDArray[np.bool_]:
    """Return the runs that keep to no desired use: of on-demand jobs, and of jobs inside reservations."""
    ids = runs.workload.ids
    names = set[str]()
    if runs.preemption is not None:
        names.update(job.id for job in runs.preemption.settings.jobs)
    if runs.production is not None:
        names.update(ids[run.row] for run in runs.production.private)
    return np.array([name in names for name in ids], np.bool_)


def _can_be_counted(runs: Runs) -> bool:
    vectors = set(runs.platform.capacity.values())
    w = runs.workload
    if len(vectors) > 1 or w.chunks:
        return False
    whole = dict(zip(runs.platform.resources, next(iter(vectors)), strict=True))
    rows = [dict(zip(w.resources, row, strict=True)) for row in np.unique(w.request, axis=0).tolist()]
    rows += [dict(r.job.request) for r in w.running]
    return any(all(2 * row.get(r, 0) > whole[r] for row in rows) for r in whole)


def _power_faults(runs: Runs, profile: DesiredProfile, begun: Ints) -> Iterator[Violation]:
    times, watts = power_steps(runs)
    at = watts[np.searchsorted(times, begun, side="right") - 1]
    assert profile.power is not None
    allowed = profile.power.at_each(begun)
    for k in np.flatnonzero(at > allowed + TOLERANCE * np.maximum(1.0, at)).tolist():
        text = f"jobs start at {begun[k]}, and {at[k]:,.1f} W are in use then; the profile allows {allowed[k]:,.1f} W"
        yield Violation("power", float(at[k] - allowed[k]), text)


def _count_faults(runs: Runs, profile: DesiredProfile, pieces: Pieces, begun: Ints) -> Iterator[Violation]:
    nodes = pieces.high - pieces.low + 1
    times = np.concatenate([pieces.end, pieces.start])
    order = np.argsort(times, kind="stable")
    used = np.cumsum(np.concatenate([-nodes, nodes])[order])
    at = used[np.searchsorted(times[order], begun, side="right") - 1]
    for t, in_use in zip(begun.tolist(), at.tolist(), strict=True):
        allowed = sum(
            int(g.count * min(profile.amount(g.name, r, t) / c for r, c in g.capacity.items() if c) + TOLERANCE)
            for g in runs.platform.groups
        )
        if in_use > allowed:
            text = f"jobs start at {t}, and {how_many(in_use, 'node', verb='are')} in use then; the profile allows {allowed}"
            yield Violation("nodes", in_use - allowed, text)


def _node_faults(runs: Runs, profile: DesiredProfile, pieces: Pieces) -> Iterator[Violation]:
    """Yield the nodes of which more is in use than desired when a job starts there, by events node after node."""
    size = np.maximum(pieces.high - pieces.low + 1, 0)
    of = np.repeat(np.arange(len(size)), size)
    node = pieces.low[of] + np.arange(len(of)) - np.repeat(np.cumsum(size) - size, size)
    both = np.concatenate([of, of])
    time = np.concatenate([pieces.end[of], pieces.start[of]])
    sign = np.repeat([-1, 1], len(of))
    place = np.concatenate([node, node])
    order = np.lexsort((sign, time, place))
    both = both[order]
    time = time[order]
    sign = sign[order]
    place = place[order]
    last = np.append((np.diff(place) > 0) | (np.diff(time) > 0), True)[: len(place)]
    own = np.append(runs.own, False)[pieces.row]  # row -1: one that ran at the begin
    starts = (sign > 0) & own[both] & (pieces.end > pieces.start)[both]
    moment = np.cumsum(last) - last  # events of one node at one time
    group = _group_of(runs.platform)
    for r, resource in enumerate(runs.platform.resources):
        amount = pieces.amount[both, r]
        used = np.cumsum(sign * amount)  # all that begins on a node ends there: each node adds up to 0
        taken = np.bincount(moment, weights=np.where(starts, amount, 0))  # a start that takes nothing exceeds nothing
        for k in np.flatnonzero(last & starts & (taken[moment] > 0)).tolist():
            t = int(time[k])
            name = runs.platform.groups[group[place[k]]].name
            allowed = profile.amount(name, resource, t)
            if used[k] > allowed + TOLERANCE:
                where = runs.platform.nodes[place[k]]
                text = (
                    f"node {where!r} at {t}: {used[k]} {resource} in use after a start, the profile allows {allowed:g}"
                )
                yield Violation(where, float(used[k] - allowed), text)


def _group_of(platform: Platform) -> list[int]:
    bounds = [0, *accumulate(g.count for g in platform.groups)]
    return [k for k, (a, b) in enumerate(pairwise(bounds)) for _ in range(a, b)]
