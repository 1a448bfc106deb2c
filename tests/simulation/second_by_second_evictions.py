"""A checker of replays with on-demand jobs, failures and reservations that goes through them second by second."""

from collections import defaultdict
from itertools import product
from random import Random

from schedlab.models.eviction import checkpoint_seconds, exact


def writing_seconds(run, row):
    """Return the seconds of an application-level and a system-level checkpoint of a job."""
    s = run.preemption.settings.storage
    memory, share = s.draw(Random(f"{s.seed} {run.workload.ids[row]}"))
    nodes = int(run.workload.units[row])
    sizes = (memory * exact(share), memory)
    return [-int(-checkpoint_seconds(nodes, size, s.file_system_mb_s, s.node_mb_s) // 1) for size in sizes]


def attempts_by_row(run):
    """Return row -> its attempts by number; those of jobs that run at the begin and never come back have rows below 0."""
    found = defaultdict(list)
    rows = {name: k for k, name in enumerate(run.workload.ids)}
    for a in run.attempts.itertuples():
        found[rows.get(a.job, -1)].append(a)
    return {row: sorted(listed, key=lambda a: a.number) for row, listed in found.items()}


def down_seconds(run):
    """Return node -> the seconds from and to which it is down, from the events of the settings; from the begin on."""
    begin = run.workload.begin
    found = defaultdict(list)
    for event in sorted(run.preemption.settings.failures, key=lambda e: e.time):
        for node in event.nodes:
            if event.kind == "node-down":
                found[node].append([event.time, 10**9])
            else:
                found[node][-1][1] = event.time
    if begin is None:
        return found
    return defaultdict(
        list, {node: [[max(begin, a), b] for a, b in listed if b > begin] for node, listed in found.items()}
    )


def check(run):
    """Check a replay second by second; every job that was not dropped must have ended."""
    record, w = run.preemption, run.workload
    settings, attempts, down = record.settings, attempts_by_row(run), down_seconds(run)
    left = {(d.row, d.attempt): d for d in record.departures}
    check_nodes(run, attempts, down)
    dropped = {} if run.history is None else run.history.dropped
    writers = defaultdict(list)  # second -> jobs
    for row, listed in attempts.items():
        stops = {a.number: stopped(a, down) or requeued(run, a) for a in listed}
        if row in record.rows:
            assert listed[-1].end - listed[-1].start == w.runtime[row]
            assert all(stops[a.number] and a.work_done == 0 for a in listed[:-1])
            continue
        if row < 0:  # they ran at the begin, and failed for good
            assert all(stops[a.number] or by_reservation(run, a.why, a) for a in listed)
            continue
        if run.start[row] < 0:  # deleted while it waited again
            assert run.production.left[row] == "deleted"
            continue
        done, repeated, other = 0, 0, 0
        every = settings.checkpoints.interval(w.ids[row], int(w.units[row]), writing_seconds(run, row)[0]) or 0
        for a in listed:
            departure, worked, saved = left.get((row, a.number)), 0, 0
            for t in range(a.start, a.end):
                if a.number > 1 and t < a.start + settings.restart:
                    other += 1
                elif departure is not None and departure.strategy != "kill" and t >= departure.stop:
                    other += 1
                    if t >= departure.write:
                        writers[t].append(row)
                else:
                    worked += 1
                if every and worked % every == 0:
                    saved = worked
            if departure is not None and departure.strategy == "app":
                assert every and worked % every == 0
            if departure is not None and departure.strategy != "kill":
                saved = worked
                took = writing_seconds(run, row)[departure.strategy == "sys"]
                assert departure.end - departure.write == took
            if departure is None:
                saved = max(saved, record.requeue.kept(worked) or 0)
            if a.number < len(listed) and departure is None:
                assert stops[a.number], f"{a.job} ends at {a.end}, when no node fails"
                if a.work_done != saved:  # it had been chosen to leave, and stopped to work before it failed
                    assert a.work_done < saved
                    assert a.work_done % every == 0
                    assert chosen(record, a)
                    saved = a.work_done
            if a.number == len(listed):
                saved = 0 if row in dropped else worked  # it has ended
            elif departure is not None or a.work_done != saved:
                assert a.work_done == saved
            done, repeated = done + saved, repeated + worked - saved
        total = sum(a.end - a.start for a in listed)
        if row in dropped:
            gone = dropped[row] == "deleted" and deleted(run, w.ids[row], listed[-1].end)
            assert stops[len(listed)] or gone or by_reservation(run, dropped[row], listed[-1])
            continue
        assert done == w.runtime[row]
        assert total == w.runtime[row] + repeated + other
    for t, rows in writers.items():
        if settings.shared_bandwidth:
            used = sum(
                min(settings.storage.file_system_mb_s, int(w.units[k]) * settings.storage.node_mb_s) for k in rows
            )
            assert used <= settings.storage.file_system_mb_s * (1 + 1e-9), t
        else:
            assert len(rows) == 1, t
    check_reservations(run, attempts)
    if not settings.failures and not deleted(run):
        check_plans(run, attempts)


def check_nodes(run, attempts, down):
    """No node holds two jobs, or one while it is down, in any second."""
    at = defaultdict(dict)  # second -> node -> job
    mine = [(a.job, a.start, a.end, a.nodes) for listed in attempts.values() for a in listed]
    failed = {job for job, *_ in mine}
    mine += [(r.job.id, r.start, r.true_end, r.nodes) for r in run.workload.running if r.job.id not in failed]
    for job, start, end, nodes in mine:
        for t in range(start, end):
            for node in nodes:
                assert node not in at[t], f"{node} holds {at[t][node]} and {job} at {t}"
                at[t][node] = job
        for node in nodes:
            assert not any(start < until and end > since for since, until in down[node]), f"{job} on {node}"


def stopped(attempt, down):
    """Return whether a node of an attempt goes down at its end."""
    return any(attempt.end == since for node in attempt.nodes for since, _ in down[node])


def chosen(record, attempt):
    """Return whether a plan made an attempt write a checkpoint."""
    return any(
        d.plan is not None
        and d.plan.strategy.get(attempt.job) in ("app", "sys")
        and attempt.start <= d.time <= attempt.end
        for d in record.decisions
    )


def deleted(run, job=None, time=None):
    """Return whether an event of the server deletes a job, or this job at this time."""
    listed = [] if run.production is None else [e for e in run.production.events if e.kind == "delete"]
    return any(job is None or (e.subject, e.time) == (job, time) for e in listed)


def requeued(run, attempt):
    """Return whether an event of the server puts the job of an attempt back into the queue at its end."""
    listed = [] if run.production is None else [e for e in run.production.events if e.kind == "requeue"]
    return any((e.subject, e.time) == (attempt.job, attempt.end) for e in listed)


def by_reservation(run, why, attempt):
    """Return whether an attempt ends as a reservation of its nodes begins, or the one that it ran in ends."""
    for b in () if run.production is None else run.production.bookings:
        if set(attempt.nodes) & set(b.nodes or ()):
            ended = b.end if b.ended is None else b.ended
            if why == f"reservation: {b.label}" and attempt.end == b.start:
                return True
            if why.startswith(f"reservation {b.label!r} is ") and attempt.end == ended:
                return True
    return False


def check_reservations(run, attempts):
    """Accepted reservations have their nodes in every second; starts leave them free by the walltimes."""
    if run.production is None:
        return
    w, restart = run.workload, run.preemption.settings.restart
    bookings = [b for b in run.production.bookings if b.accepted is not None]
    private = {b.reservation.queue for b in bookings}
    for row, listed in attempts.items():
        saved = 0
        for a in listed:
            inside = w.queues[int(w.queue[row])].name in private
            limit = max(1, int(w.walltime[row]) - saved + (restart if a.number > 1 else 0))
            for b in bookings:
                ended = b.end if b.ended is None else b.ended
                touched = set(a.nodes) & set(b.nodes)
                if inside and b.start <= a.start < ended and set(a.nodes) <= set(b.nodes):
                    touched = set()
                assert not (touched and any(b.start <= t < ended for t in range(a.start, a.end))), (a, b.label)
                known = b.accepted <= a.start and (b.ended is None or b.ended > a.start)
                if known and touched and row not in run.preemption.rows:
                    assert a.start + limit <= b.start, f"{a.job} at {a.start} could run into {b.label}"
            if inside:
                assert any(b.start <= a.start and a.end <= b.end and set(a.nodes) <= set(b.nodes) for b in bookings)
            saved += a.work_done if a.number < len(listed) else 0


def check_plans(run, attempts):
    """Check that on-demand jobs start in time if and only if there was a plan, and the losses by enumeration."""
    record, w = run.preemption, run.workload
    leaving = defaultdict(list)
    for d in record.departures:
        leaving[d.row].append((d.decided, d.end))
    for decision in record.decisions:
        start = record.first_start[
            dict(zip([j.id for j in record.settings.jobs], record.rows, strict=True))[decision.job]
        ]
        job = next(j for j in record.settings.jobs if j.id == decision.job)
        if decision.problem is None or settings_never_evict(record):
            continue
        assert decision.plan is not None
        assert start <= job.latest_start
        # all batch jobs that run and do not leave already may be chosen
        now = decision.time
        own = {
            w.ids[row]
            for row, listed in attempts.items()
            if row not in record.rows and any(a.start <= now < a.end for a in listed)
        } | {r.job.id for r in run.workload.running if r.true_end > now}
        leave_now = {w.ids[row] for row, pairs in leaving.items() if any(end == now for _, end in pairs)}
        assert {c.id for c in decision.problem.candidates} <= own | leave_now
        for name in own - {c.id for c in decision.problem.candidates}:
            row = w.ids.index(name) if name in w.ids else -1
            mine = attempts.get(row, ()) if row >= 0 else [r for r in run.workload.running if r.job.id == name]
            began = any(a.start == now for a in mine)
            left_out = any(reserved_soon(run, a.nodes, now, max(now, job.latest_start) + job.duration) for a in mine)
            inside = row >= 0 and run.production is not None and w.queues[int(w.queue[row])].name == "private"
            goes = any(decided <= now <= end for decided, end in leaving[row])
            assert began or goes or left_out or inside or cancelled(record, name, now)


def reserved_soon(run, nodes, now, end):
    """Return whether a reservation that is known now holds one of the nodes before a time."""
    listed = () if run.production is None else run.production.bookings
    return any(
        b.accepted is not None and b.accepted <= now and b.start < end and now <= b.end and set(nodes) & set(b.nodes)
        for b in listed
    )


def settings_never_evict(record):
    """Return whether the evictor lets on-demand jobs wait."""
    return record.settings.evictor.name.startswith(("none", "reserve"))


def cancelled(record, name, now):
    """Return whether a job had been chosen in an earlier plan."""
    return any(
        d.plan is not None and d.plan.strategy.get(name, "keep") != "keep" for d in record.decisions if d.time <= now
    )


def least(problem):
    """Return the least (loss, checkpoint seconds) of an eviction problem with serial checkpoints, by enumeration."""
    best = None
    for choice in product(("keep", "kill", "app", "sys"), repeat=len(problem.candidates)):
        pairs = list(zip(problem.candidates, choice, strict=True))
        if any(what in ("app", "sys") and what not in problem.checkpoint_steps[c.id] for c, what in pairs):
            continue
        steps = sum(problem.checkpoint_steps[c.id][what] for c, what in pairs if what in ("app", "sys"))
        freed = sum(c.nodes for c, what in pairs if what != "keep")
        if freed < problem.nodes_needed or steps > problem.steps:
            continue
        value = sum(c.loss for c, what in pairs if what == "kill"), steps * problem.step_s
        best = value if best is None else min(best, value)
    return best
