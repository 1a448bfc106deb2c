"""What the formulations and starts are worth on eurora_700 at noon (first 100 jobs), 10 s a run, 5 seeds: `make known`.

The cold ``cpsat:counts`` is held against the same encoding written by hand; warm methods against their start and the
cold one; the best schedule against multi-search; the best bound against the best schedule.
"""

import math
import statistics

import pytest
import schedlab as sl
from ortools.sat.python import cp_model

SECONDS, SEEDS = 10, (1, 2, 3, 4, 5)
WARM = ("cpsat:counts+warm", "cpsat:classes+warm", "cpsat:pool+warm", "cpsat:units+warm", "highs:pool@900s+warm")
BOUND = "highs:pool@600s..36000s-energy"


@pytest.fixture(scope="module")
def noon():
    return sl.load("eurora_700").problem.at(43200, first=100)


@pytest.fixture(scope="module")
def solved(noon):
    """Results by method and seed, each solved once."""
    known = {}

    def solve(method, seed):
        if (method, seed) not in known:
            result = sl.solve(noon, method=method, time_limit=SECONDS, threads=2, seed=seed)
            if result.schedule is not None:
                assert noon.verify(result.schedule) == []
                assert noon.value(result.schedule) == pytest.approx(result.objective, rel=1e-9)
            known[method, seed] = result
        return known[method, seed]

    return solve


def cold(solved, seed):
    """The objective of ``cpsat:counts`` without a start; infinite where 10 s gave no schedule."""
    result = solved("cpsat:counts", seed)
    return math.inf if result.objective is None else result.objective


def counts_by_hand(problem, seed):
    """The encoding ``counts`` against ortools: a start per job, its units per node, a cumulative per node and resource."""
    model = cp_model.CpModel()
    platform = problem.platform
    starts, intervals, units = [], [], []
    for job in problem.jobs:
        windows = [list(w) for w in problem.start_windows(job)]
        start = model.new_int_var_from_domain(cp_model.Domain.from_intervals(windows), job.id)
        starts.append(start)
        intervals.append(model.new_fixed_size_interval_var(start, job.walltime, job.id))
        here = {}
        for node, vector in platform.capacity.items():
            amounts = zip(vector, platform.resources, strict=True)
            fit = min(c // job.request[r] for c, r in amounts if job.request.get(r))
            if fit:
                here[node] = model.new_int_var(0, min(fit, job.units), f"{job.id} on {node}")
        model.add(sum(here.values()) == job.units)
        units.append(here)
    for node, vector in platform.capacity.items():
        for r, resource in enumerate(platform.resources):
            rows = [
                (interval, here[node] * job.request[resource])
                for job, interval, here in zip(problem.jobs, intervals, units, strict=True)
                if node in here and job.request.get(resource)
            ]
            if rows:
                model.add_cumulative([i for i, _ in rows], [d for _, d in rows], vector[r])
    common = 432_000  # of 3600, 18000 and 86400 s
    waits = zip(problem.jobs, starts, strict=True)
    model.minimize(sum(common // problem.ewt[j.queue] * (s - j.submit) for j, s in waits))
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = SECONDS
    solver.parameters.num_workers = 2
    solver.parameters.random_seed = seed
    found = solver.solve(model) in (cp_model.FEASIBLE, cp_model.OPTIMAL)
    return solver.objective_value / common if found else math.inf


def test_cold_counts_are_as_good_as_by_hand(noon, solved):
    by_hand = [counts_by_hand(noon, seed) for seed in SEEDS]
    ours = [cold(solved, seed) for seed in SEEDS]
    print(f"\ncold counts by hand {[round(v, 1) for v in by_hand]}, through schedlab {[round(v, 1) for v in ours]}")
    print(f"medians: by hand {statistics.median(by_hand):.1f}, through schedlab {statistics.median(ours):.1f}")
    assert statistics.median(ours) <= 1.05 * statistics.median(by_hand)


@pytest.mark.parametrize("method", WARM)
def test_warm_methods_beat_their_start_and_the_cold_one(method, solved):
    start = solved("multi-search", 1).objective
    ends = [solved(method, seed).objective for seed in SEEDS]
    alone = statistics.median(cold(solved, seed) for seed in SEEDS)
    print(f"\n{method}: start {start:.1f}, ends {[round(v, 1) for v in ends]}, cold counts {alone:.1f}")
    assert max(ends) <= start * (1 + 1e-9)
    assert max(ends) <= 0.8 * alone


def test_the_best_schedule_and_the_best_bound(solved):
    start = solved("multi-search", 1).objective
    results = [solved(m, seed) for m in (*WARM, BOUND) for seed in SEEDS]
    best = min(r.objective for r in results)
    bound = max(r.bound for r in results if r.bound is not None)
    print(
        f"\nmulti-search {start:.2f}, best {best:.2f} ({1 - best / start:.1%} better), bound {bound:.2f}, gap {1 - bound / best:.1%}"
    )
    assert best <= 0.99 * start
    assert bound >= 0.9 * best
