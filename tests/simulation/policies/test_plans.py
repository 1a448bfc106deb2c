"""Policies that plan their whole queue at each decision, against a plain reference; guard, search, names."""

import heapq
from dataclasses import replace

import numpy as np
import pytest
import schedlab as sl
from draws import some_now
from schedlab.instances import Workload
from schedlab.models import Dispatch, Job, Queue
from schedlab.simulation import check_dispatcher, parse_dispatcher
from simulation.policies.test_textbook import machine


def world(seed, jobs=60, processors=12):
    """A small random workload: (submit, runtime, walltime, processors); some jobs run longer than their walltime."""
    rng = np.random.default_rng(seed)
    submit = np.sort(rng.integers(0, 900, jobs))
    walltime = rng.integers(1, 200, jobs)
    runtime = np.minimum(rng.integers(0, 200, jobs), walltime + 20 * rng.integers(0, 2, jobs))
    units = rng.integers(1, processors + 1, jobs)
    return [tuple(int(x) for x in row) for row in zip(submit, runtime, walltime, units, strict=True)]


def workload(rows, processors=12):
    """The rows as a workload."""
    jobs = [
        Job.of_chunks(f"j{k:04d}", s, w, [(u, {"cores": 1})], "q", runtime=r, user="u")
        for k, (s, r, w, u) in enumerate(rows)
    ]
    return Workload.of(Dispatch(machine(processors), jobs, [Queue("q", 3600)]))


def earliest(free_at, units, duration):
    """The earliest of the times at which this number of processors is free for the duration; ``free_at``: {time: free}."""
    times = sorted(free_at)
    for start in times:
        if all(free_at[t] >= units for t in times if start <= t < start + duration):
            return start
    raise AssertionError("no start")


def planned(rows, processors, key):
    """Starts by conservative backfilling that plans all jobs anew at each event, in the order of ``key(row, number)``."""
    starts, running, waiting, arrived = {}, [], [], 0
    events = sorted({s for s, *_ in rows})
    heapq.heapify(events)
    while events:
        now = heapq.heappop(events)
        while events and events[0] == now:
            heapq.heappop(events)
        running = [k for k in running if starts[k] + rows[k][1] > now]
        while arrived < len(rows) and rows[arrived][0] <= now:
            waiting.append(arrived)
            arrived += 1
        taken = [(now, max(now + 1, starts[k] + rows[k][2]), rows[k][3]) for k in running]  # begin, end, processors
        for k in sorted(waiting, key=lambda k: key(rows[k], k)):
            times = {now, *(t for begin, end, _ in taken for t in (begin, end))}
            free_at = {t: processors - sum(u for begin, end, u in taken if begin <= t < end) for t in times}
            start = earliest(free_at, rows[k][3], rows[k][2])
            taken.append((start, start + rows[k][2], rows[k][3]))
            if start == now:
                starts[k] = now
                running.append(k)
                heapq.heappush(events, now + rows[k][1])
        waiting = [k for k in waiting if k not in starts]
    return [starts[k] for k in range(len(rows))]


@pytest.mark.parametrize("seed", some_now(range(12), 5))
@pytest.mark.parametrize(
    ("name", "key"), [("plan:submit", lambda row, k: k), ("plan:wt:guard=1e9", lambda row, k: (row[2], k))]
)
def test_starts_are_those_of_full_planning(seed, name, key):
    rows = world(seed)
    found = sl.simulate(workload(rows), machine(12), name)
    assert found.violations == []
    assert found.start.tolist() == planned(rows, 12, key)
    assert (found.start > found.workload.submit).sum() > 10  # jobs had to wait


def narrow_jobs_and_a_wide_one():
    """A stream of short narrow jobs that keeps two processors in use, and a job that needs both."""
    rows = [(5 * k, 60, 60, 1) for k in range(300)]
    rows.insert(10, (50, 600, 600, 2))
    return rows


def wait_of_the_wide_job(name):
    rows = narrow_jobs_and_a_wide_one()
    found = sl.simulate(workload(rows, 2), machine(2), name)
    assert found.violations == []
    return int(found.wait[10])


def test_the_guard_ends_starvation():
    starving = wait_of_the_wide_job("plan:wt:guard=1e9")
    guarded = wait_of_the_wide_job("plan:wt:guard=2:least=600")
    assert starving > 5000  # it goes last
    # fair wait: at most 10 running or waiting jobs and its own 600 s; it goes first after 2 * 900 s, when both end
    assert guarded <= 2 * 900 + 60
    assert wait_of_the_wide_job("plan:wt:guard=2:least=3000") <= 3000 + 60


def test_replays_and_decisions_in_python_give_the_same_starts():
    """The loop in Python, with a ranker that ranks all jobs alike, and the compiled loop make the same decisions."""
    jobs = workload(world(3))
    for name in ("plan:submit", "plan:wt"):
        compiled, live = (sl.simulate(jobs, machine(12), n) for n in (name, f"{name}+job-size:favor_small=true"))
        assert compiled.violations == live.violations == []
    alike = sl.simulate(jobs, machine(12), "plan:submit+aging")  # aging alone is first come, first served
    assert alike.start.tolist() == sl.simulate(jobs, machine(12), "plan:submit").start.tolist()


@pytest.mark.parametrize("name", ["plan", "plan:slowdown", "plan@lns", "plan:submit@lns:rounds=5:depth=10"])
def test_nodes_with_several_resources(name):
    found = sl.simulate("eurora_99", dispatcher=name, seed=3)
    assert found.violations == []
    assert (found.start >= 0).all()
    assert found.start.tolist() == sl.simulate("eurora_99", dispatcher=name, seed=3).start.tolist()


def test_the_search_shortens_waits():
    """On random worlds, first come, first served with search has less slowdown than without it, in the mean."""
    gains = []
    for seed in range(6):
        jobs = workload(world(seed))
        plain, searched = (sl.simulate(jobs, machine(12), n) for n in ("plan:submit", "plan:submit@lns:rounds=40"))
        gains.append(plain.metrics.slowdown.mean / searched.metrics.slowdown.mean)
    assert np.mean(gains) > 1.3


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("plan:shortest", "submit"),
        ("plan:weighted:werk=1", "work"),
        ("plan:submit:work=1", "guard"),
        ("plan@cpsat", "lns"),
        ("plan@lns:depht=3", "depth"),
        ("plan:weighted:work=-1", "at least 0"),
        ("plan:weighted:guard=0", "above 0"),
        ("plan:weighted:guard=nan", "guard is .nan.; expected a number"),
        ("plan:weighted:work=many", "expected a number"),
        ("plan:weighted:work=1:work=2", "once"),
        ("plan@lns:depth=1", "at least 2"),
        ("plan@lns:rounds=2.5", "whole number"),
        ("plan@lns:rounds=inf", "whole number"),
        ("plan:weighted+aging", "plan:submit"),
    ],
)
def test_wrong_names(name, what):
    with pytest.raises(sl.SchedlabError, match=what):
        check_dispatcher(name)


def test_names():
    assert parse_dispatcher("plan").make().name == "plan"
    assert parse_dispatcher("plan:wt-r").predictor == "real"
    assert parse_dispatcher("plan@lns").seeded
    assert not parse_dispatcher("plan").seeded
    assert parse_dispatcher("plan:submit+aging:max_age=60").make().ranker.max_age == 60
    with pytest.raises(ValueError, match="reservations is 1"):
        replace(parse_dispatcher("plan").make(), reservations=1)
