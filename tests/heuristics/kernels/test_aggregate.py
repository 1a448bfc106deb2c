"""The bound of the whole machine (``aggregate``) makes the search faster and never changes starts or nodes."""

import random

import numpy as np
import pytest
from schedlab import load
from schedlab.heuristics import ORDERINGS, CriterionUnusable, ListScheduler, running
from schedlab.heuristics.kernels import (
    KINDS,
    NEVER,
    new_aggregate,
    new_hopeless,
    new_profile,
    new_scratch,
    no_aggregate,
)
from schedlab.heuristics.kernels import fill as _fill
from schedlab.heuristics.kernels.aggregate import BLOCK
from schedlab.heuristics.kernels.aggregate import possible as _possible
from schedlab.heuristics.kernels.placement import place as _place
from schedlab.models import POSTPONED, Dispatch, Job, NodeGroup, Platform, Queue, Running
from schedlab.models.compiled import compiled


@compiled
def place(profile, machine, jobs, scratch, known, bound, j, not_before, chosen):
    return _place(profile, machine, jobs, scratch, known, bound, j, not_before, NEVER, chosen)


@compiled
def possible(bound, j, units, duration, t):
    return _possible(bound, j, units, duration, t)


def without_the_bound(scheduler, order):
    """Return the starts and nodes that the search finds without the bound of the whole machine."""
    a = scheduler.arrays
    n = order.size
    starts, nodes = np.empty(n, np.int64), np.empty(int(a.jobs.first_unit[-1]), np.int64)
    profile, scratch = new_profile(a.machine, 64), new_scratch(a.machine.capacity.shape[0])
    known, anytime, rest = new_hopeless(a.jobs, KINDS), np.full(n, -NEVER, np.int64), np.zeros(n + 1)
    _, filled, _ = _fill(
        profile, a.machine, a.jobs, a.costs, scratch, known, no_aggregate(),
        order.astype(np.int64), anytime, starts, nodes, 0, n, -np.inf, rest, np.inf, running(),
    )  # fmt: skip
    assert filled == n
    return starts, nodes


def assert_same(problem, names):
    scheduler = ListScheduler(problem)
    first = scheduler.arrays.jobs.first_unit
    for name in names:
        try:
            order = scheduler.order(name)
        except CriterionUnusable:
            continue
        (starts, nodes), (expected, on) = scheduler.place(order), without_the_bound(scheduler, order)
        assert starts.tolist() == expected.tolist(), name
        scheduled = np.repeat(starts != POSTPONED, np.diff(first))
        assert nodes[scheduled].tolist() == on[scheduled].tolist(), name


def crowd(seed, jobs=300):
    """Return a problem with too much work: many kinds of nodes and requests, running jobs, windows, a calendar."""
    rng = random.Random(seed)
    kinds = rng.choice([1, 2, 12])  # 12 are more than ``GROUPS``
    groups = [NodeGroup(f"n{k}", rng.randint(2, 6), {"cores": 8 + 4 * k, "gpus": k % 3}) for k in range(kinds)]
    platform = Platform([NodeGroup("gpu", 4, {"cores": 64, "gpus": 4}), *groups])
    listed = []
    for i in range(jobs):
        request = {"cores": rng.randint(0, 8)} if rng.random() < 0.7 else {"cores": rng.randint(1, 64), "gpus": 1}
        duration = rng.choice([0, 1, 9, 60, rng.randint(1, 900)])
        windows = ((0, 400), (2000, 90000)) if rng.random() < 0.1 else ()
        queue, units = rng.choice(["q", "q", "night"]), rng.randint(1, 4)
        listed.append(Job(f"j{i}", rng.randint(0, 2000), 1 + duration, units, request, queue, None, None, windows))
    held = Job("held", 0, 500, 2, {"cores": 3}, "q")
    running = [Running(held, 0, {"gpu-1": 2}, 500)]
    queues = [Queue("q", 100), Queue("night", 500, ((1000, 3000), (64800, 71000)))]
    return Dispatch(platform, listed, queues, "waiting", 10, running)


@pytest.mark.parametrize("seed", range(12))
def test_random_machines(seed):
    assert_same(crowd(seed), ("est", "-area", "duration", "-request"))


@pytest.mark.parametrize("name", ["eurora_99", "eurora_330", "eurora_700", "profit_small", "profit_medium"])
def test_shipped_instances(name):
    assert_same(load(name).problem, ORDERINGS if name != "eurora_700" else ("est", "-est", "-area", "duration"))


def test_what_is_excluded_is_impossible_and_counts_stay_true():
    """After each job the counts equal those of the nodes; some blocks are divided."""
    scheduler = ListScheduler(crowd(3, jobs=120))
    a = scheduler.arrays
    jobs, machine = a.jobs, a.machine
    profile, scratch, known = (
        new_profile(machine, 64),
        new_scratch(machine.capacity.shape[0]),
        new_hopeless(jobs, KINDS),
    )
    bound, nodes = new_aggregate(machine, jobs, profile), np.zeros(int(jobs.first_unit[-1]), np.int64)
    for j in scheduler.order("est"):
        chosen = nodes[jobs.first_unit[j] : jobs.first_unit[j + 1]]
        request, units, duration = jobs.request[j], int(jobs.units[j]), max(1, int(jobs.duration[j]))
        before = possible(bound, j, units, duration, int(jobs.release[j]))
        start, profile = place(profile, machine, jobs, scratch, known, bound, j, -NEVER, chosen)
        assert start >= before or jobs.duration[j] == 0 or not request.any()
    assert bound.blocks[0] > 2
    levels, seen = bound.level.size, []
    for b in bound.order[: bound.blocks[0]].tolist():
        assert 0 < bound.size[b] <= BLOCK
        for i in range(bound.size[b]):
            t = int(bound.time[b, i])
            seen.append(t)
            counts = np.zeros(bound.groups * levels, np.int64)
            for n, g in enumerate(bound.group.tolist()):
                free = profile.free[n, np.searchsorted(profile.time[n, : profile.length[n]], t, side="right") - 1]
                for r in range(free.size):
                    at = slice(bound.first_level[r], bound.first_level[r + 1])
                    counts[g * levels : (g + 1) * levels][at] += free[r] // bound.level[at]
            assert counts.tolist() == bound.units[b, i].tolist()
        part = bound.units[b, : bound.size[b]]
        assert part.min(axis=0).tolist() == bound.least[b].tolist()
        assert part.max(axis=0).tolist() == bound.most[b].tolist()
    assert seen == sorted(set(seen))


@pytest.mark.parametrize("factor", [1, 10**12 // 8])
def test_the_largest_amounts_are_counted_exactly(factor):
    platform = Platform([NodeGroup("n", 3, {"mem": 8 * factor})])
    jobs = [Job(f"j{i}", i, 10 + i, 1 + i % 4, {"mem": (1 + i % 3) * factor - i % 2}, "q") for i in range(40)]
    assert_same(Dispatch(platform, jobs, [Queue("q", 100)], "waiting"), ["est", "-area"])
