"""The searches and bounds where jobs may run on some nodes only, take whole nodes or hold licences."""

import random
from dataclasses import replace

import pytest
import schedlab as sl
from draws import some_now
from schedlab.heuristics import first_solution
from schedlab.heuristics.lagrangian import base_rows, items_of
from schedlab.models import Dispatch, Job, NodeGroup, Platform, Queue, Running, Schedule
from schedlab.models.dispatch import NotPlaced
from small_sites import FEATURES, may_use, optimum, random_site, violations

FIELDS = ("nodes", "features", "per_node", "whole_nodes", "licences")
SEARCHES = (
    "multi-search",
    "first-solution:-area",
    "lns:rounds=3",
    "delay-search",
    "lns@cpsat:rounds=2",
    "relaxation-search",
)


@pytest.mark.parametrize("seed", some_now(range(100, 125), 10))
def test_schedules_of_searches_pass_a_plain_check(seed):
    """None is better than the optimum; where a search proves its schedule, it is the optimum."""
    p = random_site(seed, fields=(FIELDS[seed % 5],))
    best = float(optimum(p))
    for method in SEARCHES:
        try:
            result = sl.solve(p, method=method, time_limit=20, threads=1)
        except NotPlaced as e:  # a job that requests nothing beside whole-node jobs
            assert "requests nothing" in str(e) and ("@" in method or method == "relaxation-search")
            continue
        assert violations(p, result.schedule) == [] and p.verify(result.schedule) == []
        assert result.objective >= best - 1e-9


@pytest.mark.parametrize(
    "seed", some_now([148, *range(130, 148), *range(149, 160)], 10)
)  # 148: it finds a better schedule
def test_bounds_of_the_lagrangian_relaxation_never_exceed_the_optimum(seed):
    p = _summed(random_site(seed, fields=(FIELDS[seed % 5],)))
    best = float(optimum(p))
    result = sl.solve(p, method="lagrangian", time_limit=20, threads=1)
    assert violations(p, result.schedule) == []
    assert result.bound <= best + 1e-9 <= result.objective + 2e-9


@pytest.mark.parametrize("seed", some_now([170, *range(160, 170), *range(171, 190)], 10))  # 170: its dual begins anew
def test_branch_and_bound_proves_the_optimum(seed):
    p = _summed(random_site(seed, fields=(FIELDS[seed % 3],)))
    p = p.replace(
        jobs=[replace(j, whole_nodes=False, licences={}) for j in p.jobs],
        running=[replace(r, job=replace(r.job, whole_nodes=False, licences={})) for r in p.running],
    )
    result = sl.solve(p, method="branch-and-bound", time_limit=60, threads=1)
    assert result.status == "optimal"
    assert result.objective == pytest.approx(float(optimum(p)), abs=1e-9)


def _summed(p: Dispatch) -> Dispatch:
    """The problem with an objective that is a sum over jobs."""
    return p.replace(objective="weighted-wait") if p.objective == "makespan" else p


def test_the_relaxation_knows_the_nodes_of_a_set_whole_nodes_and_licences():
    machine = Platform([NodeGroup("n", 4, {"cores": 4})], {"tool": 1})
    part = Queue("part", 60, nodes=("n-1", "n-2"))
    jobs = [
        Job("a", 0, 9, 1, {"cores": 2}, "part"),
        Job("w", 0, 9, 3, {"cores": 2}, "all", whole_nodes=True),
        Job("t", 0, 9, 1, {"cores": 2}, "all", licences={"tool": 1}),
    ]
    p = Dispatch(machine, jobs, [Queue("all", 60), part], "waiting")
    items = items_of(p)
    rows = base_rows(machine, items.demands, items.site)
    kept = {(*a, b) for a, b in zip(rows.a[:, items.kind].tolist(), rows.b.tolist(), strict=True)}
    assert (1, 0, 0, 4) in kept  # part: 2 of 8 cores
    assert (1, 4, 1, 8) in kept  # the machine: w takes 2 whole nodes, 8 of 16 cores
    assert (0, 0, 1, 1) in kept  # one licence


# --- Each job of a list schedule starts as early as the jobs before it allow: no start is missed by bounds or shortcuts.


def large_site(seed: int) -> Dispatch:
    rng = random.Random(seed)
    groups = [
        NodeGroup(f"g{k}", rng.randint(2, 4), {"cores": rng.choice([4, 8]), "gpus": rng.choice([0, 2])}, features=tuple(
            f for f in FEATURES if rng.random() < 0.6)) for k in range(3)
    ]  # fmt: skip
    machine = Platform(groups, {"tool": 3, "more": 2})
    queues = [Queue("all", 60), *(Queue(f"q{k}", 60, nodes=tuple(rng.sample(machine.nodes, 4))) for k in range(2))]
    whole = seed % 3 > 0

    def drawn(name: str) -> Job:
        return Job(
            name, rng.randint(0, 40), rng.randint(1, 20), rng.choice([1, 1, 2, 3, 5]),
            {"cores": rng.randint(1, 4), "gpus": rng.choice([0, 0, 0, 1])}, rng.choice(queues).name,
            features=rng.choice(["", "", "ib", "ib|ssd"]), per_node=rng.choice([None, None, 1, 2]),
            whole_nodes=whole and rng.random() < 0.3,
            licences=rng.choice([{}, {}, {"tool": 1}, {"tool": 2, "more": 1}]) if seed % 2 else {},
        )  # fmt: skip

    jobs: list[Job] = []
    while len(jobs) < 40:
        job = drawn(f"j{len(jobs)}")
        try:
            Dispatch(machine, [job], queues)
        except sl.models.ProblemError:
            continue
        jobs.append(job)
    held = Job("r", 0, 30, 1, {"cores": 1}, "all", whole_nodes=whole, licences={"tool": 1} if seed % 2 else {})
    return Dispatch(machine, jobs, queues, "waiting", 0, [Running(held, 0, {machine.nodes[0]: 1}, 25)])


def units_that_fit(p: Dispatch, job: Job, placed: list[tuple[Job, int, dict[str, int]]], start: int) -> int:
    """How many units of a job fit beside others from a start on, second by second; 0 if the licences do not suffice."""
    queues = {q.name: q for q in p.queues}
    room = 0
    beside = [(j, s, s + j.walltime, on) for j, s, on in placed] + [(r.job, r.start, r.end, r.nodes) for r in p.running]
    beside = [b for b in beside if b[1] < start + job.walltime and start < b[2]]
    times = [start, *(s for _, s, _, _ in beside if s > start)]
    for name, total in p.platform.licences.items():
        for t in times:
            if job.licences.get(name, 0) + sum(j.licences.get(name, 0) for j, s, e, _ in beside if s <= t < e) > total:
                return 0
    for group in p.platform.groups:
        for node in group.nodes:
            if not may_use(p, queues, job, node, group):
                continue
            here = [(j, s, e, on[node]) for j, s, e, on in beside if on.get(node)]
            if here and (job.whole_nodes or any(j.whole_nodes for j, *_ in here)):
                continue
            most = job.per_node or job.units
            for t in times:
                for r, amount in group.capacity.items():
                    if job.request.get(r):
                        used = sum(u * j.request.get(r, 0) for j, s, e, u in here if s <= t < e)
                        most = min(most, (amount - used) // job.request[r])
            room += most
    return room


@pytest.mark.parametrize("seed", range(12))
def test_no_job_of_a_list_schedule_can_start_earlier(seed):
    p = large_site(seed)
    order = [j.id for j in p.jobs]
    random.Random(seed).shuffle(order)
    schedule = first_solution(p, order)
    assert violations(p, schedule) == []
    jobs = {j.id: j for j in p.jobs}
    placed: list[tuple[Job, int, dict[str, int]]] = []
    for name in order:
        job = jobs[name]
        assert units_that_fit(p, job, placed, schedule.start[name]) >= job.units
        for earlier in range(job.submit, schedule.start[name]):
            assert units_that_fit(p, job, placed, earlier) < job.units, (name, earlier, schedule.start[name])
        placed.append((job, schedule.start[name], schedule.nodes[name]))


@pytest.mark.parametrize("seed", range(3))
def test_searches_keep_to_the_nodes_of_larger_sites(seed):
    p = large_site(seed)
    for method in ("multi-search", "lns:rounds=6", "lns@cpsat:rounds=4", "relaxation-search:largest=200"):
        result = sl.solve(p, method=method, time_limit=0.4, threads=1, seed=seed)
        assert violations(p, result.schedule) == []
        assert p.verify(result.schedule) == []


def test_chunks_of_a_job_keep_to_its_nodes_and_licences():
    machine = Platform([NodeGroup("n", 3, {"cores": 4})], {"tool": 1})
    queues = [Queue("q", 60, nodes=("n-2", "n-3"))]
    jobs = [
        Job.of_chunks(name, 0, 10, [(1, {"cores": 4}), (1, {"cores": 2})], "q", licences={"tool": 1}) for name in "ab"
    ] + [Job("c", 0, 5, 1, {"cores": 1}, "q", licences={"tool": 1})]
    p = Dispatch(machine, jobs, queues, "waiting")
    for method in ("cpsat:counts", "cpsat:units", "multi-search", "lns:rounds=3", "lns@cpsat:rounds=2"):
        result = sl.solve(p, method=method, time_limit=20, threads=1)
        assert p.verify(result.schedule) == []
        assert sorted(result.schedule.start.values())[0] == 0 and result.objective >= 20
        assert all("n-1" not in on for on in result.schedule.nodes.values())
    assert sl.solve(p, method="cpsat:counts", time_limit=20, threads=1).objective == 5 + 15
    assert isinstance(result.schedule, Schedule)
