"""The starts of fcfs, sjf and easy, job by job, compared with a simple simulator that counts processors."""

import heapq
from dataclasses import replace

import numpy as np
import pytest
import schedlab as sl
from schedlab.instances import Workload
from schedlab.models import Dispatch, Job, NodeGroup, Platform, Queue
from schedlab.simulation import POLICIES, Policy, simulate
from shared_data import DATA

KTH = DATA / "kth_sp2_1996" / "KTH-SP2-1996-2.1-cln.swf"


def textbook(jobs, processors, policy):
    """Return the starts of the jobs (submit, runtime, expected, processors), which are sorted by submit time.

    It uses plain lists that are sorted again at every event.
    """
    starts = [None] * len(jobs)
    waiting, running, ends, free, arrived = [], [], [], processors, 0
    while arrived < len(jobs) or ends:
        now = min([j[0] for j in jobs[arrived : arrived + 1]] + [e for e, _ in ends[:1]])
        while ends and ends[0][0] <= now:
            j = heapq.heappop(ends)[1]
            running.remove(j)
            free += jobs[j][3]
        while arrived < len(jobs) and jobs[arrived][0] <= now:
            waiting.append(arrived)
            arrived += 1

        def start(j):
            nonlocal free
            starts[j] = now  # noqa: B023
            waiting.remove(j)
            running.append(j)
            heapq.heappush(ends, (now + jobs[j][1], j))  # noqa: B023
            free -= jobs[j][3]

        if policy == "sjf":
            waiting.sort(key=lambda j: (jobs[j][2], j))
        while waiting and jobs[waiting[0]][3] <= free:
            start(waiting[0])
        if policy == "easy" and waiting:
            head, available = waiting[0], free
            by_end = sorted((max(starts[j] + jobs[j][2], now + 1), jobs[j][3]) for j in running)
            for k, (end, p) in enumerate(by_end):
                available += p
                last = k + 1 == len(by_end) or by_end[k + 1][0] > end
                if available >= jobs[head][3] and last:
                    break
            shadow, extra = end, available - jobs[head][3]
            for j in waiting[1:]:
                short = now + jobs[j][2] <= shadow
                if jobs[j][3] <= free and (short or jobs[j][3] <= extra):
                    extra -= 0 if short else jobs[j][3]
                    start(j)
    return starts


def as_rows(w):
    return list(zip(w.submit.tolist(), w.runtime.tolist(), w.walltime.tolist(), w.units.tolist(), strict=True))


def machine(processors):
    return Platform([NodeGroup("n", processors, {"cores": 1})])


def synthetic(jobs, processors, seed, load=0.9):
    """Draw jobs: powers of two, long-tailed runtimes, some above the walltime, some submitted at the same time."""
    rng = np.random.default_rng(seed)
    runtime = np.maximum(1, rng.lognormal(6, 2, jobs).astype(int))
    units = np.minimum(processors, 2 ** rng.integers(0, 7, jobs))
    walltime = np.maximum(1, (runtime * rng.uniform(0.7, 6, jobs)).astype(int) // 60 * 60)
    submit = np.sort(rng.uniform(0, (runtime * units).sum() / processors / load, jobs).astype(int))
    submit[1::7] = submit[::7][: len(submit[1::7])]
    listed = [
        Job(
            f"j{k}",
            int(np.sort(submit)[k]),
            int(walltime[k]),
            int(units[k]),
            {"cores": 1},
            "q",
            runtime=int(runtime[k]),
        )
        for k in range(jobs)
    ]
    return Workload.of(Dispatch(machine(processors), listed, [Queue("q", 3600)]))


@pytest.mark.parametrize("policy", ["fcfs", "sjf", "easy"])
def test_a_synthetic_trace(policy):
    w = synthetic(5000, 128, seed=3)
    found = simulate(w, machine(128), policy)
    assert found.start.tolist() == textbook(as_rows(w), 128, policy)
    assert found.violations == []


@pytest.mark.parametrize("policy", ["fcfs", "sjf", "easy"])
def test_the_kth_log(policy):
    if not KTH.exists():
        pytest.skip(f"{KTH} is missing")
    w = sl.read_swf(KTH).first(5000)
    found = simulate(w, machine(100), policy)
    assert found.start.tolist() == textbook(as_rows(w), 100, policy)
    assert found.violations == []


@pytest.mark.parametrize("seed", range(4))
def test_easy_is_backfilling_with_one_reservation(seed):
    """The kernel for several reservations, with one reservation, gives the same starts as the kernel of EASY."""
    from schedlab.heuristics.kernels.events import WAITING, new_state, step, trace_of
    from schedlab.simulation.dispatchers.policy_kernels import BACKFILLING, kernel, rules_of

    w = synthetic(300, 64, seed)
    trace = trace_of(w, machine(64), w.runtime, True)
    one = rules_of(POLICIES["easy"], w, w.walltime, True)
    starts = []
    for decide in (kernel(one).decide, BACKFILLING.decide):
        state = new_state(trace, w.walltime)
        while step(trace, state, 0):
            if state.clock[WAITING]:
                decide(trace, state, one)
        starts.append(state.start.tolist())
    assert starts[0] == starts[1]


@pytest.mark.parametrize("name", ["fcfs", "sjf", "rule:est", "rule:wt"])
def test_counting_and_placing_agree(name):
    """With one core per node, the replay that counts nodes and the replay that allocates units give the same starts.

    This holds without reservations only: a reservation of particular nodes excludes more jobs than
    a reservation of a number of nodes.
    """
    w = synthetic(400, 32, seed=5)
    counting = simulate(w, machine(32), name)
    other = Platform([NodeGroup("a", 31, {"cores": 1}), NodeGroup("b", 1, {"cores": 1, "gpus": 1})])  # not all equal
    placing = simulate(w, other, name)
    assert counting.start.tolist() == placing.start.tolist()
    assert counting.violations == placing.violations == []


def test_conservative_keeps_its_first_reservations():
    for seed in range(6):
        w = synthetic(400, 48, seed)
        w = Workload.of(
            Dispatch(machine(48), [_within(w.job(k)) for k in range(len(w))], [Queue("q", 3600)])
        )  # runtimes within the walltimes
        found = simulate(w, machine(48), "conservative")
        promised = found.first_reserved >= 0
        assert promised.all()
        assert (found.start <= found.first_reserved).all()
        assert (found.start > w.submit).any()  # at least one job had to wait


def _within(job):
    return replace(job, walltime=max(job.walltime, job.runtime))


def test_candidates_limit_who_may_start():
    w = synthetic(600, 64, seed=9, load=1.1)
    wide = simulate(w, machine(64), Policy("all", reservations=1))
    narrow = simulate(w, machine(64), Policy("first two", reservations=1, candidates=2))
    assert (narrow.start - w.submit).mean() > (wide.start - w.submit).mean()
    assert simulate(w, machine(64), "easy").start.tolist() == wide.start.tolist()


@pytest.mark.parametrize("policy", ["conservative", "pbs-fifo"])
def test_conservative_moves_what_can_move(policy):
    """The compiled replay keeps its profile and tries few jobs; decisions on their own build it anew: equal starts."""
    from schedlab.heuristics.kernels.events import WAITING, new_state, step, trace_of
    from schedlab.simulation.dispatchers.policy_kernels import BACKFILLING, rules_of

    for seed in range(4):
        w = synthetic(300, 64, seed, load=1.2)
        if seed % 2:
            w = replace(w, walltime=np.maximum(w.walltime, w.runtime))  # else some jobs exceed their walltimes
        trace = trace_of(w, machine(64), w.runtime, True)
        state = new_state(trace, w.walltime)
        while step(trace, state, 0):
            if state.clock[WAITING]:
                BACKFILLING.decide(trace, state, rules_of(POLICIES[policy], w, w.walltime, True))
        found = simulate(w, machine(64), policy)
        assert found.violations == []
        assert found.start.tolist() == state.start.tolist()
