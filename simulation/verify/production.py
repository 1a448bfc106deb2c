"""Verification of reservations and server events; it shares no code with the simulator.

Of the record of the replay it believes which reservations were accepted, when and where, and which events were refused;
all else is recomputed from the events and the runs of the jobs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...models.array_types import Bools, Ints
from ...models.dispatch.check import excesses
from ...models.language import Violation
from ...models.server_events import ServerEvent
from ...models.words import how_many
from ..records import Booking, Change, PrivateRun, ProductionRecord, ReplayData
from .runs import Runs, chunk_requests, chunk_rows


def rows_of(replay: ReplayData) -> Ints:
    """Return the row of the job of each run: of the last attempts, then of those that ended early."""
    rows = np.arange(len(replay.workload))
    return rows if replay.history is None else np.concatenate([rows, replay.history.rows])


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
                column[k] = before[-1].after if before else mine[0].before
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
    return booking.end if booking.ended is None else booking.ended


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
            yield _fault(w.ids[k], f"of private queue {queue!r} starts at {runs.start[k]} outside of a reservation")
            continue
        b = record.bookings[inside[k].booking]
        start = int(runs.start[k])
        end = int(runs.end[k])
        if b.accepted is None or not b.start <= start <= end <= _end(b):
            yield _fault(w.ids[k], f"runs from {start} to {end}, not inside of reservation {b.label!r}")
        if start + _rest(runs, rows, k) > b.end:
            yield _fault(w.ids[k], f"starts at {start} and ends by its walltime after reservation {b.label!r}, {b.end}")
        if b.reservation.queue != queue:
            yield _fault(w.ids[k], f"of queue {queue!r} runs in reservation {b.label!r} of {b.reservation.queue!r}")
        if b.reservation.users and user not in b.reservation.users:
            yield _fault(w.ids[k], f"of user {user!r} runs in reservation {b.label!r}, which is for others")


def _rest(runs: ReplayData, rows: Ints, k: int) -> int:
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
    rows: list[int] = [] if runs.history is None else runs.history.rows.tolist()
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
                    yield _fault(w.ids[k], f"starts at {runs.start[k]} from queue {queue!r}, stopped since {lo}")


def _changes(runs: ReplayData, record: ProductionRecord) -> Iterator[Violation]:
    """Yield the changes of jobs without an event."""
    w = runs.workload
    asked = [(e.time, e.subject, *_change_of(runs, e)) for e in record.events]
    both: tuple[tuple[str, Sequence[Change]], ...] = (("move", record.moves), ("walltime", record.walltimes))
    for kind, changes in both:
        for c in changes:
            if not any(x[1:] == (w.ids[c.row], kind, c.after) and x[0] <= c.time for x in asked):
                yield _fault(w.ids[c.row], f"was changed at {c.time} ({kind} to {c.after}) without an event")


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
        if e.kind not in ("move", "walltime", "delete") or e.time > last:
            continue
        if refused[e]:
            refused[e] -= 1
        elif e.kind == "delete":
            row = rows.get(e.subject)
            if row is not None and runs.start[row] >= 0 and runs.end[row] > e.time:
                yield _fault(e.subject, f"runs until {runs.end[row]}, but was deleted at {e.time}")
        elif made[e.subject, *_change_of(runs, e)]:
            made[e.subject, *_change_of(runs, e)] -= 1
        else:
            yield _fault(e.subject, f"was not changed at {e.time} ({e.kind} to {e.value})")


def _left(runs: ReplayData, rows: Ints, record: ProductionRecord) -> Iterator[Violation]:
    """Yield the jobs that left without a reason, or started although they left."""
    w = runs.workload
    deleted = {e.subject for e in record.events if e.kind == "delete"}
    private = {b.reservation.queue for b in record.bookings}
    running = {b.reservation.queue for b in record.bookings if b.pending}
    for row, why in record.left.items():
        queue = w.queues[int(w.queue[row])].name
        if runs.start[row] >= 0:
            yield _fault(w.ids[row], f"starts at {runs.start[row]}, but has left ({why})")
        if w.ids[row] not in deleted and (queue not in private or queue in running):
            yield _fault(w.ids[row], f"has left ({why}); it was not deleted, and its queue {queue!r} still has starts")
        yield from _left_at(runs, record, row)


def _left_at(runs: ReplayData, record: ProductionRecord, row: int) -> Iterator[Violation]:
    """Yield that a job left at a time at which it was not deleted and its queue still had starts, or did not wait."""
    w = runs.workload
    time = record.left_at.get(row)
    job = w.ids[row]
    queue = w.queues[int(w.queue[row])].name
    ends = [] if runs.history is None else [a.end for a in runs.history.early if a.job == job]
    if time is None or time < max(int(w.release[row]), *ends, 0):
        yield _fault(job, f"has left at {time}; expected a time at which it waits")
    elif any(e.kind == "delete" and e.subject == job and e.time == time for e in record.events):
        return
    elif any(b.reservation.queue == queue and (b.ended or 0) > time for b in record.bookings):
        yield _fault(job, f"has left at {time}, when it was not deleted and its queue {queue!r} still had starts")


def limits_of_killed(replay: ReplayData, due: Ints) -> Ints:
    """Return the durations of jobs; of those that were killed at a walltime that had changed, as the events give them."""
    record = replay.production
    if record is None or not record.walltimes:
        return due
    limits = due.copy()
    w = replay.workload
    saved = np.zeros(len(w), np.int64) if replay.history is None else replay.history.saved
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
    if any(e.kind == "delete" and e.subject == job and e.time == end for e in record.events):
        return True
    for b in record.bookings:
        if b.accepted is None:
            continue
        if any(p.row == row and p.start == start and record.bookings[p.booking] is b for p in record.private):
            return end == _end(b)
        late = start + int(replay.workload.walltime[row]) <= end
        if end == b.start and late and any(n in nodes for n in b.nodes):
            return True
    return False


def _fault(job: str, text: str) -> Violation:
    return Violation(job, 1, f"job {job!r} {text}")
