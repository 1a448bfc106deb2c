"""Jobs that run at the begin of a profit problem: they count as jobs that must start at the begin."""

import random
from dataclasses import replace

import pytest
import schedlab as sl
from draws import some_now
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st
from schedlab import account
from schedlab.heuristics import RULES
from schedlab.models import Job, ProblemError, Profit, Running, Schedule
from schedlab.models.profit import daily, makespan, operation
from schedlab.models.profit.formulations import Fluid
from schedlab.models.profit.formulations import encoding as fluid_of
from small_profits import best_by_enumeration, cut, tiny, usable

NOW = 2


def began(seed: int) -> Profit:
    """A tiny problem from second 2 on, with one or two running jobs; the second one may run beyond the horizon."""
    rng = random.Random(seed)
    p = tiny(seed)
    node = p.platform.nodes[-1]
    running = [
        Running(Job(f"r{k}", 0, 99, 1, {"cores": rng.randint(1, 2), "memory": rng.randint(0, 3)}, "q",
                    power=float(rng.randint(50, 700))), start=NOW - 1, nodes={node: 1}, end=NOW + rng.randint(1, 4) + 5 * k)
        for k in range(rng.randint(1, 2))
    ]  # fmt: skip
    ended = Running(replace(running[0].job, id="ended"), -9, {node: 1}, NOW - 1)  # it counts nowhere
    return p.replace(dispatch=p.dispatch.replace(running=[*running, ended], now=NOW))


def as_jobs(p: Profit) -> tuple[Profit, Schedule]:
    """The same problem with fixed jobs instead of the running jobs, and the starts and nodes of these jobs."""
    held = [r for r in p.dispatch.running if r.end > p.begin]
    fixed = [
        replace(r.job, submit=p.begin, walltime=r.end - p.begin, windows=((p.begin, p.begin),), runtime=None)
        for r in held
    ]
    dispatch = p.dispatch.replace(jobs=[*p.jobs, *fixed], running=())
    there = Schedule({r.job.id: p.begin for r in held}, {r.job.id: dict(r.nodes) for r in held})
    return p.replace(dispatch=dispatch), there


@examples(deadline=None, max_examples=25)
@given(st.integers(0, 30), st.data())
def test_accounts_are_those_of_jobs_with_fixed_starts(seed: int, data: st.DataObject) -> None:
    p = began(seed)
    same, there = as_jobs(p)
    starts = {j.id: data.draw(st.integers(NOW, 12)) for j in p.jobs}
    s, t = Schedule(starts), Schedule({**starts, **there.start})
    end = data.draw(st.sampled_from([None, NOW, 5, 20]))
    assert p.value(s) == pytest.approx(same.value(t), rel=1e-12, abs=1e-12)
    assert makespan(p, s) == makespan(same, t)
    assert p.most_power == same.most_power
    pairs = [(account(p, s, end), account(same, t, end)), *zip(daily(p, s, end), daily(same, t, end), strict=True)]
    for a, b in pairs:
        for name in ("core_hours", "gain", "it_kwh", "cooling_kwh", "work_cost", "cooling_cost", "utilisation"):
            assert getattr(a, name) == pytest.approx(getattr(b, name), rel=1e-12, abs=1e-12), name
    assert operation(p, s, end).watts == pytest.approx(operation(same, t, end).watts)


@pytest.mark.parametrize("method", ["cpsat:counts", "cpsat:units", "highs:counts@pairwise", "cpo:counts"])
@pytest.mark.parametrize("seed", some_now([3, 24, 7, 8], 2))
def test_the_optimum_is_the_best_by_enumeration(seed: int, method: str) -> None:
    p = began(seed)
    r = sl.solve(p, method=usable(method), time_limit=60, threads=1)
    assert r.status == "optimal"
    assert p.verify(r.schedule) == []
    assert r.objective == pytest.approx(best_by_enumeration(p), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("seed", [1, 6, 7, 14, 18, 23, 24, 26])
def test_relaxations_are_not_below_the_best_schedule(seed: int) -> None:
    p = began(seed)
    best = best_by_enumeration(p)
    relaxed = sl.solve(fluid_of(Fluid.made(p)).model, backend="highs", time_limit=20, integral=False)
    assert relaxed.bound >= best - 1e-6 * max(1.0, abs(best))
    for name in ("classes", "pool"):
        r = sl.solve(p.formulations[name]().model, backend="cpsat", time_limit=20, threads=1)
        assert r.status == "optimal"
        assert r.objective >= best - 1e-6 * max(1.0, abs(best))


def day() -> Profit:
    """Half of a day of ``profit_small``, seen at 2:00, with three running jobs on its three nodes."""
    p = cut(20, until=43200)
    nodes = p.platform.nodes
    jobs = [Job(f"r{k}", 0, 90000, 1, {"cores": 20, "memory": 100}, "", power=180.0 + k) for k in range(3)]
    running = [Running(j, 0, {n: 1}, 7200 + 5000 * (k + 1)) for k, (j, n) in enumerate(zip(jobs, nodes, strict=True))]
    running[2] = replace(running[2], end=50000)
    queue = p.dispatch.queues[0].name
    running = [replace(r, job=replace(r.job, queue=queue)) for r in running]
    return p.replace(dispatch=p.dispatch.replace(running=running, now=7200))


METHODS = [
    *(f"rule:{name}" for name in RULES), "multi-search", "delay-search", "relaxation-search@cpsat", "lns", "lns@cpsat", "cpsat:pool",
]  # fmt: skip


@pytest.mark.slow
def test_every_search_keeps_the_running_jobs_and_reports_the_profit_of_the_data() -> None:
    p = day()
    same, there = as_jobs(p)
    bound = sl.solve(p, method="highs:fluid@lp", time_limit=20).bound
    known = sl.solve(same, method="highs:fluid@lp", time_limit=20).bound
    assert bound <= known * (1 + 1e-9)  # fixed jobs may be spread by the relaxation, running jobs may not
    for method in METHODS:
        r = sl.solve(p, method=method, time_limit=1, threads=1, seed=1)
        if r.schedule is None:  # the machine was too busy for an answer
            assert r.status == "unknown" and method.partition(":")[0] in sl.backends.names()
            continue
        assert p.verify(r.schedule) == []
        assert r.objective == p.value(r.schedule)
        whole = Schedule({**r.schedule.start, **there.start}, {**r.schedule.nodes, **there.nodes})
        assert same.verify(whole) == []
        assert r.objective == pytest.approx(same.value(whole), rel=1e-9)
        assert r.objective <= bound * (1 + 1e-9), method


@pytest.mark.parametrize("formulation", ["counts", "units", "classes", "pool", "fluid"])
def test_a_schedule_is_a_solution_of_every_formulation(formulation: str) -> None:
    p = day()
    schedule = sl.first_solution(p, "est")
    made = p.formulations[formulation]()
    assignment = made.write(schedule)
    assert made.model.check(assignment) == []
    value = made.model.value(made.model.objectives[0], assignment)
    if formulation == "fluid":  # a class has the least power of its jobs; here each job is a class
        assert value >= p.value(schedule) * (1 - 1e-9)
    else:
        assert value == pytest.approx(p.value(schedule), rel=1e-9)


def test_jobs_that_are_left_out_wait_for_the_end_of_running_jobs() -> None:
    p = day()
    running = [replace(r, job=replace(r.job, request={"cores": 32}), end=50000) for r in p.dispatch.running]
    full = p.replace(dispatch=p.dispatch.replace(running=running))
    made = full.formulations["counts"]()
    schedule = made.read(sl.Assignment(made.model))
    assert full.verify(schedule) == []
    assert min(schedule.start.values()) == 50000


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"nodes": {}}, "running job 'r0': 0 of its 1 unit is on nodes; give the nodes of all of them"),
        ({"power": None}, "running job 'r0' has no power; give its power in watts, or watts_per_core"),
        ({"request": {}}, "running job 'r0' takes 180 W but has no cores"),
    ],
)
def test_a_running_job_needs_power_cores_and_nodes(changes: dict[str, object], message: str) -> None:
    p = day()
    first = p.dispatch.running[0]
    nodes = changes.pop("nodes", first.nodes)
    wrong = replace(first, job=replace(first.job, **changes), nodes=nodes)
    with pytest.raises(ProblemError) as caught:
        p.replace(dispatch=p.dispatch.replace(running=[wrong, *p.dispatch.running[1:]]))
    assert message in str(caught.value)
