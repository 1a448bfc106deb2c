"""A checker of replays with on-demand jobs that goes through them second by second."""

from collections import defaultdict
from itertools import product
from random import Random

from schedlab.models.eviction.jobs import checkpoint_seconds, exact


def writing_seconds(run, row):
    """Return the seconds of an application-level and a system-level checkpoint of a job."""
    s = run.preemption.settings.storage
    memory, share = s.draw(Random(f"{s.seed} {run.workload.ids[row]}"))
    nodes = int(run.workload.units[row])
    sizes = (memory * exact(share), memory)
    return [-int(-checkpoint_seconds(nodes, size, s.file_system_mb_s, s.node_mb_s) // 1) for size in sizes]


def attempts_by_row(run):
    """Return row -> [(number, start, end, nodes)] of all attempts."""
    found = defaultdict(list)
    rows = {name: k for k, name in enumerate(run.workload.ids)}
    for a in run.attempts.itertuples():
        found[rows[a.job]].append((a.number, a.start, a.end, a.nodes))
    return found


def check(run):
    """Check a replay second by second; every job must have ended."""
    record, w = run.preemption, run.workload
    settings, attempts = record.settings, attempts_by_row(run)
    left = {(d.row, d.attempt): d for d in record.departures}
    at = defaultdict(dict)  # second -> node -> job
    for row, listed in attempts.items():
        for _, start, end, nodes in sorted(listed):
            for t in range(start, end):
                for node in nodes:
                    assert node not in at[t], f"{node} holds {at[t][node]} and {row} at {t}"
                    at[t][node] = row
    writers = defaultdict(list)  # second -> jobs
    for row, listed in attempts.items():
        if row in record.rows:
            assert [e - s for _, s, e, _ in listed][-1] == w.runtime[row]
            continue
        done, repeated, other = 0, 0, 0
        every = settings.checkpoints.interval(w.ids[row], int(w.units[row]), writing_seconds(run, row)[0]) or 0
        for number, start, end, _ in sorted(listed):
            departure, worked, saved = left.get((row, number)), 0, 0
            for t in range(start, end):
                if number > 1 and t < start + settings.restart:
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
            if (row, number) == (row, max(n for n, *_ in listed)):
                saved = worked  # it has ended
            done, repeated = done + saved, repeated + worked - saved
        total = sum(end - start for _, start, end, _ in listed)
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
    check_plans(run, attempts)


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
            if row not in record.rows and any(s <= now < e for _, s, e, _ in listed)
        }
        leave_now = {w.ids[row] for row, pairs in leaving.items() if any(end == now for _, end in pairs)}
        assert {c.id for c in decision.problem.candidates} <= own | leave_now
        for name in own - {c.id for c in decision.problem.candidates}:
            row = w.ids.index(name)
            began = any(s == now for _, s, _, _ in attempts[row])
            assert began or any(decided <= now <= end for decided, end in leaving[row]) or cancelled(record, name, now)


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
