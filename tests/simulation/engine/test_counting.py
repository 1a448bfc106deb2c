"""Replays with counted nodes: the fast kernels decide as the general ones do, and give out the first free nodes."""

import numpy as np
import pytest
import schedlab as sl
from schedlab.heuristics.kernels.events import counted_replay as counting
from schedlab.heuristics.kernels.events.counted_replay import BLOCK, add, none_running, numbered, remove, shadow
from schedlab.instances import lublin_workload
from schedlab.models.compiled import compiled
from schedlab.simulation import POLICIES

POLICY = ("fcfs", "sjf", "rule:est", "rule:wt", "easy", "easy:wt")


def random_log(seed):
    """Return jobs on 64 nodes of which some run longer than expected, some take no time, some arrive together."""
    rng = np.random.default_rng(seed)
    made = lublin_workload(400, seed=seed, nodes=64, load=float(rng.choice([0.7, 1.0, 3.0])), longest=3600)
    made.submit[:] = made.submit // 600 * 600
    made.release[:] = made.submit
    made.runtime[rng.random(400) < 0.1] = 0
    late = rng.random(400) < 0.2
    made.runtime[late] = made.walltime[late] + rng.integers(1, 5000, late.sum())
    return made


@pytest.mark.parametrize("name", POLICY)
def test_the_fast_kernels_decide_as_the_general_ones(name, monkeypatch):
    machine = sl.Platform([sl.NodeGroup("n", 64, {"cores": 1})])
    for seed in range(6):
        log = random_log(seed)
        fast = sl.simulate(log, machine, POLICIES[name])
        with monkeypatch.context() as patch:
            patch.setattr(counting, "suits", lambda *_: False)
            plain = sl.simulate(log, machine, POLICIES[name])
        assert fast.start.tolist() == plain.start.tolist()
        assert fast.decisions.made == plain.decisions.made
        assert not fast.violations
        assert fast.placement.low.tolist() == plain.placement.low.tolist()


def test_only_what_the_fast_kernels_can_do_is_given_to_them(monkeypatch):
    machine = sl.Platform([sl.NodeGroup("n", 64, {"cores": 2})])
    called = []
    real = counting.replay
    monkeypatch.setattr(counting, "replay", lambda *given: (called.append(1), real(*given))[1])
    sl.simulate(lublin_workload(50, seed=1, nodes=64, cores=2), machine, "easy")
    assert called
    called.clear()
    shared = lublin_workload(50, seed=1, nodes=64, cores=1)  # two jobs fit on a node
    sl.simulate(shared, machine, "easy")
    sl.simulate(lublin_workload(50, seed=1, nodes=64, cores=2), machine, "easy", period=600)
    sl.simulate(lublin_workload(50, seed=1, nodes=64, cores=2), machine, "conservative")
    assert not called


def test_jobs_get_the_first_free_nodes():
    rng = np.random.default_rng(4)
    for nodes in (1, 61, 62, 63, 500, 62 * 62 + 5):
        free, held, events = set(range(nodes)), {}, []
        units = rng.integers(1, max(2, nodes // 3), 200)
        runtime = np.where(rng.random(200) < 0.1, 0, 10)
        expected = [[] for _ in units]
        for j, wanted in enumerate(units.tolist()):
            while held and (wanted > len(free) or rng.random() < 0.3):
                gone = list(held)[rng.integers(len(held))]
                free |= held.pop(gone)
                events.append((gone, False))
            if wanted > len(free):
                units[j] = wanted = 1
            got = sorted(free)[:wanted]
            expected[j] = got
            events.append((j, True))
            if runtime[j]:
                held[j] = set(got)
                free -= held[j]
        who, begins = (np.array(part) for part in zip(*events, strict=True))
        first, low, high = numbered(nodes, who, begins.astype(bool), runtime, units)
        for j, got in enumerate(expected):
            ranges = range(first[j], first[j + 1])
            assert [n for i in ranges for n in range(low[i], high[i] + 1)] == got
            assert all(low[i + 1] > high[i] + 1 for i in ranges[:-1])


@compiled
def _changes(running, units, job, end, adds, free, needed, now, time, then):
    for k in range(job.size):
        if adds[k]:
            add(running, units, job[k], end[job[k]])
        else:
            remove(running, units, job[k], end[job[k]])
        if needed[k] > 0:
            time[k], then[k] = shadow(running, units, free[k], needed[k], now[k])
    return True


def test_blocks_of_running_jobs_give_the_shadow_time():
    rng = np.random.default_rng(7)
    jobs = 20 * BLOCK
    units, end = rng.integers(1, 9, jobs), rng.integers(0, 300, jobs)  # many equal ends
    log, here, steps = [], [], iter(range(jobs))
    for k in range(2 * jobs):
        grow = len(here) < 10 or (k < jobs and rng.random() < 0.8)
        j = next(steps, None) if grow else None
        if j is None:
            if not here:
                break
            j = here.pop(int(rng.integers(len(here))))
        else:
            here.append(j)
        held, now = sum(units[i] for i in here), int(rng.integers(0, 300))
        free = int(rng.integers(0, 5))
        needed = int(rng.integers(free + 1, free + held + 1)) if held and k % 10 == 0 else 0
        due = {}
        for i in here:
            due[max(end[i], now + 1)] = due.get(max(end[i], now + 1), 0) + units[i]
        expected, total = (0, 0), free
        for at in sorted(due) if needed else ():
            total += due[at]
            if total >= needed:
                expected = (at, total)
                break
        log.append((j, here[-1:] == [j], free, needed, now, expected))
    job, adds, free, needed, now, expected = zip(*log, strict=True)
    time, then = np.zeros(len(log), np.int64), np.zeros(len(log), np.int64)
    columns = [np.array(part, np.int64) for part in (free, needed, now)]
    _changes(none_running(jobs), units, np.array(job), end, np.array(adds), *columns, time, then)
    assert list(zip(time.tolist(), then.tolist(), strict=True)) == [(int(a), int(b)) for a, b in expected]
