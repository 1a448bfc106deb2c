"""Verification of evictions, checkpoints and on-demand jobs; it shares no code with the simulator.

All times are computed again from the attempts, the settings and the drawn memory of the jobs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from random import Random
from typing import NamedTuple

import numpy as np

from ...models.language import Violation
from ...models.words import how_many
from ..records import Attempt, Departure, EvictionDecision, PreemptionRecord, ReplayData
from .runs import Runs


class _Job(NamedTuple):
    """A batch job: nodes, seconds of work between checkpoints (0: none), seconds of writing, and bandwidth in MB/s."""

    nodes: int
    every: int
    sys: int
    app: int
    mb_s: Fraction

    def whole(self, worked: int) -> int:
        """Return the work at the last checkpoint."""
        return max(0, worked) - max(0, worked) % self.every if self.every else 0


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
    return set() if record is None else {(d.row, d.attempt, d.end) for d in record.departures}


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
    early = {} if replay.history is None else _early(replay.history.rows.tolist(), replay.history.early)
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
            yield _fault(replay.workload.ids[d.row], f"has no attempt {d.attempt} that ended at {d.end}, when it left")
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
        yield _fault(a.job, f"attempt {number} keeps {a.work_done} s of work; expected {due} s ({a.why})")


def _departure(
    d: Departure, a: Attempt, job: _Job, decision: EvictionDecision | None, found: PreemptionRecord
) -> Iterator[Violation]:
    """Check the times of a departure."""
    planned = None if decision is None or decision.plan is None else decision.plan.strategy.get(a.job)
    if planned != d.strategy:
        yield _fault(a.job, f"leaves at {d.end} ({d.strategy}); the plan for {d.cause!r} at {d.decided} has {planned}")
    if not d.decided <= d.stop <= d.write <= d.end:
        yield _fault(a.job, f"its times {d.decided}, {d.stop}, {d.write}, {d.end} are not in order")
    due = {"kill": 0, "sys": job.sys, "app": job.app}.get(d.strategy)
    if d.end - d.write != due:
        yield _fault(a.job, f"writes for {d.end - d.write} s ({d.strategy}); expected {due} s")
    worked = d.stop - _base(a.start, d.attempt, found)
    if d.strategy == "app":
        since = d.decided - _base(a.start, d.attempt, found)
        if not job.every or worked != job.whole(since) + job.every:
            yield _fault(a.job, f"stops at {d.stop}, which is not its first checkpoint after {d.decided}")
    elif d.stop != d.write:
        yield _fault(a.job, f"stops at {d.stop} and writes at {d.write}; expected the same time ({d.strategy})")


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
            yield _fault(ids[row], f"begins to write at {time}, while another checkpoint is written")
        elif used > most * (1 + Fraction(1, 10**9)):
            text = f"begins to write at {time}: {float(used):g} MB/s are then in use, of {float(most):g} MB/s"
            yield _fault(ids[row], text)


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
        run = None if k is None else _run_at(replay, early, k, now)
        if other is not None and other.start <= now <= other.true_end:
            run = other.start, 1
        if run is None:
            yield _fault(c.id, f"may leave at {now}, when it does not run")
            continue
        start, number = run
        units = 0 if other is None else other.job.units
        if k is not None:
            units = int(replay.workload.units[k])
        job = _job(c.id, units, found)
        worked = now - _base(start, number, found)
        kept = job.whole(worked)
        lost = job.nodes * (worked - kept if kept else now - start)
        wait = max(0, kept + job.every - worked - decision.busy) if job.every else None
        app = None if wait is None else wait + job.app
        if (c.nodes, c.loss, c.system_s, c.application_s) != (job.nodes, lost, job.sys, app):
            has = f"{how_many(c.nodes, 'node')}, loss {c.loss}, system {c.system_s} s, application {c.application_s} s"
            due = f"{how_many(job.nodes, 'node')}, loss {lost}, system {job.sys} s, application {app} s"
            yield _fault(c.id, f"the eviction problem at {now} has {has}; expected {due}")


def _run_at(replay: ReplayData, early: dict[tuple[int, int], Attempt], k: int, now: int) -> tuple[int, int] | None:
    """Return start and number of the attempt of the job of row k that runs at a time."""
    number = 1
    while (k, number) in early:
        a = early[k, number]
        if a.start <= now <= a.end:
            return a.start, number
        number += 1
    start = int(replay.start[k])
    return (start, number) if 0 <= start <= now <= replay.end[k] else None


def _in_time(replay: ReplayData, found: PreemptionRecord) -> Iterator[Violation]:
    """Check that on-demand jobs start in time if there was a plan for them, in replays without failures and deletions."""
    deleted = replay.production is not None and any(e.kind == "delete" for e in replay.production.events)
    if replay.states is not None or deleted:
        return
    planned = {d.job for d in found.decisions if d.plan is not None}
    for row, job in zip(found.rows, found.settings.jobs, strict=True):
        start = int(replay.start[row])
        if job.id in planned and start > job.latest_start:
            yield _fault(job.id, f"starts at {start}, after {job.latest_start}, although there was a plan for it")


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
        yield _fault(name, f"runs on a reserved node; the nodes from {runs.platform.nodes[first]!r} on are reserved")


def _fault(job: str, text: str) -> Violation:
    return Violation(job, 1, f"job {job!r}: {text}")
