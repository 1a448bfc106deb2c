"""The HiGHS backend: traces, limits, warm starts, outcomes and conflicts."""

from __future__ import annotations

import itertools
import random
import subprocess
import sys
import threading
from typing import Any

import pytest
import schedlab as sl
from schedlab.backends import Limits, run
from schedlab.heuristics import multi_search
from schedlab.models import Dispatch, Job, Neighbourhoods, NodeGroup, Platform, Queue


def job_shop(seed: int, jobs: int = 6, machines: int = 4, horizon: int = 300) -> sl.Model:
    """Return a random job shop that minimizes the makespan."""
    rng = random.Random(seed)
    m = sl.Model(f"shop {seed}")
    on: list[list[Any]] = [[] for _ in range(machines)]
    ends = []
    for j in range(jobs):
        tasks = []
        for k in rng.sample(range(machines), machines):
            tasks.append(m.interval(f"{j} on {k}", size=rng.randint(3, 20), start=(0, horizon)))
            on[k].append(tasks[-1])
        for a, b in itertools.pairwise(tasks):
            m.add(sl.end_before_start(a, b))
        ends.append(tasks[-1].end)
    for tasks in on:
        m.add(sl.no_overlap(tasks))
    m.minimize(sl.max(ends))
    return m


def test_incumbents_and_bounds_are_traced() -> None:
    r = sl.solve(job_shop(1), backend="highs", time_limit=30, threads=1, lowering="pairwise")
    values = [i.objective for i in r.incumbents if i.objective is not None]
    assert r.status == "optimal" and values == sorted(values, reverse=True) and values[-1] == r.objective
    assert r.gap <= 1e-6 and r.bound == pytest.approx(r.objective)
    assert "Solving report" in r.log and r.version is not None
    assert set(r.size) >= {"variables", "constraints", "nonzeros"}


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    sl.solve(job_shop(1, 3, 2), backend="highs", threads=1)
    assert capfd.readouterr().out == ""


FIRST_USES = {
    "solve": "m.minimize(a.end); sl.solve(m, backend='highs', lowering='pairwise', threads=1)",
    "parameters": "m.minimize(a.end); sl.solve(m, backend='highs', lowering='pairwise', parameters={'mip_max_leaves': 9})",
    "availability": "sl.backends.available()",
}


@pytest.mark.parametrize("use", FIRST_USES)
def test_the_first_use_in_a_process_prints_nothing(use: str) -> None:
    """HiGHS 1.16 names itself on the standard output when a process makes its first instance."""
    script = f"import schedlab as sl; m = sl.Model('one job'); a = m.interval('a', size=3); {FIRST_USES[use]}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_the_callback_stops_the_search() -> None:
    r = sl.solve(
        job_shop(2, 10, 5), backend="highs", time_limit=60, threads=1, lowering="pairwise", on_incumbent=lambda i: False
    )
    assert r.status == "feasible" and len([i for i in r.incumbents if i.objective is not None]) == 1


def test_an_error_of_the_callback_is_raised() -> None:
    def fail(_: sl.Incumbent) -> None:
        raise RuntimeError("no room on the disk")

    with pytest.raises(RuntimeError, match="no room on the disk"):
        sl.solve(job_shop(2), backend="highs", time_limit=30, threads=1, on_incumbent=fail)


def test_the_deterministic_limit_counts_nodes() -> None:
    m = job_shop(3, 7, 4)
    runs = [
        sl.solve(m, backend="highs", threads=1, seed=4, deterministic_limit=1, lowering="pairwise") for _ in range(2)
    ]
    assert runs[0].status in ("feasible", "unknown") and runs[0].objective == runs[1].objective


def test_a_start_is_accepted_and_never_lost() -> None:
    m = job_shop(4, 4, 3, horizon=80)
    first = sl.solve(m, backend="highs", threads=1, gap_limit=0.6, lowering="pairwise")
    for options in ({"lowering": "pairwise"}, {"lowering": "time-indexed", "max_nonzeros": 10**8}):
        r = sl.solve(
            m, backend="highs", warm_start=first.assignment, threads=1, deterministic_limit=1, time_limit=30, **options
        )
        assert r.warm_start.fate == "accepted" and r.objective <= first.objective


def test_a_start_that_violates_the_model_is_not_believed() -> None:
    m = sl.Model("two")
    a, b = m.interval("a", size=3), m.interval("b", size=4)
    m.add(sl.no_overlap([a, b]))
    m.minimize(sl.max([a.end, b.end]))
    r = sl.solve(m, backend="highs", warm_start=sl.Assignment(m, {a: 0, b: 1}))
    assert (r.status, r.objective) == ("optimal", 7) and r.warm_start.fate in ("rejected", "repaired")


@pytest.mark.parametrize("lowering", ["pairwise", "time-indexed"])
def test_a_conflict_names_the_constraints(lowering: str) -> None:
    m = sl.Model("too long", horizon=20)
    a, b, c = (m.interval(n, size=6) for n in "abc")
    m.add(sl.end_before_start(a, b), "a before b")
    m.add(b.end <= 10, "b ends by ten")
    m.add(c.end <= 15, "c ends by fifteen")
    r = sl.solve(m, backend="highs", lowering=lowering)
    assert r.status == "infeasible" and r.assignment is None
    assert set(r.conflict.names) == {"a before b", "b ends by ten"}


def test_a_conflict_beyond_the_relaxation_is_found_by_leaving_out_constraints() -> None:
    m = sl.Model("coins")
    coins = [m.boolean(f"coin {k}") for k in range(3)]
    m.add(coins[0] + coins[1] >= 1, "one of two")
    m.add(sl.sum(coins, weights=[6, 10, 15]) == 12, "twelve")
    r = sl.solve(m, backend="highs")
    assert (r.status, r.conflict.names) == ("infeasible", ("twelve",))
    assert "without any one of them, the others can" in r.conflict.reason
    none = sl.compile(m, "highs").conflict(5.0)
    assert none.names is None and "linear relaxation" in none.reason


@pytest.mark.parametrize("backend", ["highs", "cpsat", "cpo"])
@pytest.mark.parametrize("unit", [2, 10**9])
def test_a_comparison_that_no_whole_number_satisfies(backend: str, unit: int) -> None:
    m = sl.Model("parity")
    x = m.integer("x", 0, 9)
    held = sl.holds(2 * unit * x == unit)
    m.maximize(held + sl.holds(2 * unit * x <= 2 * unit * 3 - 1) + x)
    assert sl.solve(m, backend=backend, threads=1).objective == 9
    m.add(held >= 0)
    m.add(2 * unit * x == 5 * unit, "odd")
    r = sl.solve(m, backend=backend)
    assert r.status == "infeasible" and r.conflict.names[0] == "odd"


@pytest.mark.parametrize("backend", ["highs", "cpsat", "cpo"])
def test_a_comparison_that_never_holds_still_needs_its_values(backend: str) -> None:
    m = sl.Model("out of range")
    x = m.integer("x", 0, 9)
    m.maximize(sl.holds(4 * x + 2 * sl.element([2, 4, 6], x) == 3) + x)
    assert sl.solve(m, backend=backend, threads=1).objective == 2


def test_a_model_without_objective_and_one_without_anything() -> None:
    m = sl.Model("feasibility")
    a, b = m.interval("a", size=3, start=(0, 3)), m.interval("b", size=3, start=(0, 3))
    m.add(sl.no_overlap([a, b]))
    r = sl.solve(m, backend="highs")
    assert (r.status, r.objective) == ("optimal", None) and {r[a].start, r[b].start} == {0, 3}
    assert sl.solve(sl.Model("nothing"), backend="highs").status == "optimal"


def test_a_constraint_of_a_model_without_variables() -> None:
    m = sl.Model("constants")
    m.add(sl.sum([]) <= -1, "never")
    assert run(m, "highs", Limits()).status == "infeasible"
    m = sl.Model("constants")
    m.add(sl.sum([]) <= 0, "always")
    assert run(m, "highs", Limits()).status == "optimal"


def test_a_maximum_has_its_bound_above() -> None:
    m = sl.Model("knapsack")
    xs = [m.boolean(f"x{i}") for i in range(12)]
    m.add(sl.sum(xs, weights=[7, 3, 9, 4, 8, 5, 6, 2, 11, 10, 3, 7]) <= 31)
    m.maximize(sl.sum(xs, weights=[9, 4, 13, 5, 9, 7, 8, 2, 15, 12, 5, 8]) + 0.5)
    r = sl.solve(m, backend="highs", threads=1)
    assert r.status == "optimal" and r.bound >= r.objective - 1e-6
    assert r.objective == sl.solve(m, backend="cpsat", threads=1).objective


def test_objectives_in_order() -> None:
    m = sl.Model("two aims")
    a, b = m.interval("a", size=3, start=(0, 9)), m.interval("b", size=4, start=(0, 9))
    m.add(sl.no_overlap([a, b]))
    m.minimize([sl.max([a.end, b.end]), 0.1 * b.start])
    r = sl.solve(m, backend="highs", threads=1)
    assert r.status == "optimal" and r.objective == (7, 0)


def test_own_rows_are_added_to_the_native_model() -> None:
    m = sl.Model("mine")
    a = m.interval("a", size=3, start=(0, 9))
    m.minimize(a.start)
    compiled = sl.compile(m, "highs", lowering="pairwise")
    compiled.native.addRow(4.5, 100.0, 1, [compiled.var(a).start], [1.0])
    compiled.native.run()
    assert compiled.assignment(compiled.native)[a].start == 5


def test_cells_are_columns_that_can_be_forbidden() -> None:
    m = sl.Model("mine, on a grid")
    a = m.interval("a", size=3, start=(0, 9))
    m.minimize(a.start)
    compiled = sl.compile(m, "highs", grid=2)
    cells = dict(zip(compiled.var(a).times.tolist(), compiled.var(a).cells, strict=True))
    compiled.native.changeColBounds(cells[0], 0, 0)
    compiled.native.run()
    assert compiled.assignment(compiled.native)[a].start == 2


def test_the_number_of_threads_may_change_within_a_process() -> None:
    m = job_shop(1, 3, 3)
    values = {sl.solve(m, backend="highs", threads=n).objective for n in (1, 2, 1)}
    assert len(values) == 1


def test_ctrl_c_keeps_the_best_so_far() -> None:
    import _thread

    m = job_shop(6, 12, 6)
    seen = threading.Event()

    def press() -> None:
        seen.wait(30)
        _thread.interrupt_main()

    def look(news: sl.Incumbent) -> None:
        if news.objective is not None:
            seen.set()

    threading.Thread(target=press, daemon=True).start()
    r = sl.solve(m, backend="highs", time_limit=60, threads=1, lowering="pairwise", on_incumbent=look)
    assert r.status == "feasible" and "interrupt" in r.message.lower() and r.assignment is not None


def test_no_optimum_is_lost_to_a_tight_tolerance() -> None:
    """No job has to wait for the 3 nodes; with an integrality tolerance of 1e-8, HiGHS 1.14 called a wait optimal."""
    rng = random.Random(4)
    drawn = []
    for _ in range(9):
        units, cores = rng.choice([1, 1, 1, 2, 2, 4]), rng.choice([4, 8, 16, 32])
        drawn.append((units, cores, int(60 * rng.lognormvariate(4, 1.2)) + 60))
    longer = 1.5 * 3 * 32 * 86400 / sum(u * c * d for u, c, d in drawn)
    jobs = []
    for k, (units, cores, seconds) in enumerate(drawn):
        submit = int(rng.random() * 86400) if k > 1 else 0
        request = {"cores": cores, "memory": rng.choice([8, 16, 64])}
        rng.random()
        walltime = max(60, min(86400, int(seconds * longer) // 60 * 60))
        jobs.append(Job(f"j{k}", 86400 if k == 8 else submit, walltime, min(units, 3), request, "q"))
    problem = Dispatch(Platform([NodeGroup("n", 3, {"cores": 32, "memory": 128})]), jobs, [Queue("q", 3600)], "waiting")
    around = Neighbourhoods(problem)
    start = around.flat.placed(multi_search(problem).schedule)
    single = [k for k, j in enumerate(jobs) if j.units == 1]
    found = around.model(start, single, [k for k, j in enumerate(jobs) if j.units > 1])
    assert run(found.model, "cpsat", Limits(60, 1)).objective == 0
    for seed in range(3):
        r = run(found.model, "highs", Limits(60, 1, seed), lowering="pairwise")
        assert (r.status, r.objective) == ("optimal", 0), seed


@pytest.mark.parametrize("backend", ["highs", "cpsat", "cpo"])
def test_a_constant_objective_without_variables_is_optimal(backend: str) -> None:
    m = sl.Model("constant")
    m.minimize(3)
    r = sl.solve(m, backend=backend)
    assert (r.status, r.objective, r.bound, r.gap) == ("optimal", 3, 3, 0)


@pytest.mark.parametrize("backend", ["highs", "cpsat", "cpo"])
@pytest.mark.parametrize("unit", [1, 10**3, 10**9, 10**12])
def test_comparisons_in_small_units_cut_nothing_off(backend: str, unit: int) -> None:
    m = sl.Model("bytes")
    x, y = m.integer("x", 0, 10), m.integer("y", 0, 10)
    m.add(unit * x - unit * y >= unit)
    m.add(unit * x <= 3 * unit - 1 if unit > 1 else x <= 2)
    m.maximize(x + y)
    r = sl.solve(m, backend=backend, threads=1)
    assert (r.status, r.objective, r.bound) == ("optimal", 3, 3)
