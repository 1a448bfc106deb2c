"""CP-SAT: warm starts, limits and interruptions, conflicts, the native object."""

from __future__ import annotations

import os
import random
import signal
import threading

import pytest
import schedlab as sl
from notebook import Notebook
from ortools.sat.python import cp_model
from schedlab.backends import Limits
from schedlab.backends.cpsat.backend import CpSatRun

THREADS = 1


def solve(m: sl.Model, **options: object) -> sl.Result:
    r = sl.solve(m, backend="cpsat", **{"threads": THREADS, "time_limit": 60, **options})  # type: ignore[arg-type]
    assert not r.violations
    return r


# Warm starts


def shop() -> tuple[sl.Model, list[sl.models.language.Interval]]:
    """Return six jobs of different sizes on a resource of capacity 3; it has many solutions."""
    m = sl.Model("shop")
    jobs = [m.interval(f"j{k}", 3 + 5 * k % 11, start=(0, 200)) for k in range(6)]
    m.add(sl.cumulative(jobs, [1 + k % 2 for k in range(6)], 3))
    m.minimize(sl.sum([j.end for j in jobs], weights=[1 + k % 5 for k in range(6)]))
    return m, jobs


def test_a_feasible_start_is_accepted() -> None:
    m, jobs = shop()
    start = sl.Assignment(m, {j: 15 * k for k, j in enumerate(jobs)})
    assert not m.check(start)
    r = solve(m, warm_start=start)
    assert r.warm_start.fate == "accepted"
    assert "feasible" in r.warm_start.reason
    assert not r.warm_start.returned


def test_a_start_that_violates_the_model_is_hinted_and_its_fate_reported() -> None:
    m, jobs = shop()
    compiled = sl.compile(m, "cpsat")
    outcome = compiled.run(Notebook(), Limits(threads=THREADS), sl.Assignment(m, dict.fromkeys(jobs, 0)))
    assert outcome.status == "optimal"
    assert outcome.warm.fate in ("repaired", "rejected")
    assert "infeasible" in outcome.warm.reason
    again = compiled.run(Notebook(), Limits(threads=THREADS))
    assert again.warm.fate == "none"
    assert "hint is" not in again.log


# Limits and interruptions


def test_a_watch_that_answers_false_stops_the_search() -> None:
    m, _ = shop()
    compiled, notebook = sl.compile(m, "cpsat"), Notebook(stop_after=1)
    outcome = compiled.run(notebook, Limits(threads=THREADS))
    assert len(notebook.answers) == 1
    assert outcome.status == "feasible"
    assert outcome.bound is not None
    r = solve(m, on_incumbent=lambda i: i.objective is None)
    assert r.status == "feasible"
    assert r.gap > 0


def test_without_time_nothing_is_known() -> None:
    m, _ = shop()
    outcome = sl.compile(m, "cpsat").run(Notebook(), Limits(time=0.0, threads=THREADS))
    assert (outcome.status, outcome.bound) == ("unknown", None)


def hard() -> sl.Model:
    """Return a model whose optimum no solver proves within seconds."""
    m = sl.Model("hard")
    jobs = [m.interval(f"j{k}", 7 + (k * 37) % 41, start=(0, 2000)) for k in range(60)]
    m.add(sl.cumulative(jobs, [2 + (k * 17) % 9 for k in range(60)], 20))
    m.minimize(sl.sum([j.end for j in jobs], weights=[1 + (k * 7) % 13 for k in range(60)]))
    return m


@pytest.mark.parametrize("threads", [1, 2])
def test_a_deterministic_limit_gives_the_same_answer_twice(threads: int) -> None:
    first, second = (solve(hard(), deterministic_limit=0.2, threads=threads, seed=5) for _ in range(2))
    assert first.status == second.status == "feasible"
    assert first.objective == second.objective
    assert first.assignment.start == second.assignment.start


def test_ctrl_c_returns_the_best_so_far() -> None:
    def interrupt_soon(_: sl.Incumbent) -> None:
        if timer.ident is None:
            timer.start()

    timer = threading.Timer(0.2, os.kill, [os.getpid(), signal.SIGINT])
    r = solve(hard(), on_incumbent=interrupt_soon, time_limit=30)
    timer.join()
    assert r.status == "feasible"


def test_a_gap_limit_ends_the_search_early() -> None:
    r = solve(hard(), gap_limit=0.9, time_limit=30)
    assert r.status == "feasible"
    assert r.gap <= 0.9


def test_a_short_limit_is_not_spent_in_presolve() -> None:
    for limits in (Limits(0.2), Limits(None, deterministic=0.2)):
        light = CpSatRun(limits).solver().parameters
        assert (light.cp_model_probing_level, light.symmetry_level, light.max_presolve_iterations) == (0, 0, 1)
    full = CpSatRun(Limits(10.0)).solver().parameters
    assert full.cp_model_probing_level > 0
    assert full.max_presolve_iterations > 1


# Infeasible models


def test_a_conflict_names_the_constraints_that_cannot_hold_together() -> None:
    m = sl.Model("conflict")
    a, b, c = (m.interval(n, 4, start=(0, 30)) for n in "abc")
    m.add(sl.no_overlap([a, b, c]), "one machine")
    m.add(a.end <= 6, "deadline of a")
    m.add(b.end <= 7, "deadline of b")
    m.add(c.end <= 25, "deadline of c")
    m.add(sl.end_before_start(a, c), "a before c")
    r = solve(m)
    assert r.status == "infeasible"
    assert set(r.conflict.names) == {"one machine", "deadline of a", "deadline of b"}


def test_a_conflict_of_a_capacity_an_alternative_and_a_window() -> None:
    m = sl.Model("conflict")
    a, b = m.interval("a", 4, start=(0, 3)), m.interval("b", 4, start=(0, 3))
    on = [m.interval("a here", 4, optional=True), m.interval("a there", 4, start=(3, 9), optional=True)]
    m.add(sl.alternative(a, on), "a somewhere")
    m.add(sl.cumulative([on[0], on[1], b], [2, 2, 3], [(0, 4), (2, 4)]), "capacity")
    m.add(b.presence >= 1, "b runs")
    m.add(sl.synchronize(a, [b]), "together")
    assert set(solve(m).conflict.names) == {"a somewhere", "capacity"}


def test_an_index_that_is_always_outside_is_a_conflict_by_itself() -> None:
    m = sl.Model("conflict")
    i = m.integer("i", 5, 9)
    m.add(sl.element([1, 2], i) <= 2, "lookup")
    m.add(i <= 8, "harmless")
    assert solve(m).conflict.names == ("lookup",)
    aim = sl.Model("objective without value")
    aim.minimize(sl.element([1, 2], aim.integer("i", 5, 9)))
    assert solve(aim).conflict.names == ("objective 1",)


def test_a_conflict_without_time_says_so() -> None:
    m = sl.Model("conflict")
    a = m.interval("a", 4, start=(0, 3))
    m.add(a.end <= 3, "deadline")
    found = sl.compile(m, "cpsat").conflict(0.0)
    assert found.names is None
    assert "time" in found.reason


# The native object


def test_a_user_adds_native_constraints_and_reads_the_answer_back() -> None:
    m = sl.Model("own constraints")
    a = m.interval("a", 3, start=(0, 20))
    b = m.interval("b", (1, 5), start=(0, 20), optional=True)
    x = m.integer("x", 0, 9)
    m.add(x + a.start == 9)
    m.minimize(a.start + 0)
    compiled = sl.compile(m, "cpsat")
    native = compiled.native
    native.add(compiled.var(x) <= 4)
    native.add(compiled.var(a).start != 5)
    native.add(compiled.var(b).size == 4)
    native.add_bool_and(compiled.var(b).presence)
    assert compiled.var(a).presence is None
    solver = cp_model.CpSolver()
    assert solver.solve(native) == cp_model.OPTIMAL
    found = compiled.assignment(solver)
    assert found[a].start == 6
    assert found[x] == 3
    assert found[b].end - found[b].start == 4
    assert not m.check(found)
    assert compiled.assignment(solver.response_proto)[x] == 3
    with pytest.raises(LookupError, match="no solution"):
        compiled.assignment(type(solver.response_proto)())


def test_an_option_of_one_size_adds_a_boolean_and_an_interval_only() -> None:
    m = sl.Model("sharing")
    a = m.interval("a", 3, start=(0, 20))
    on = [m.interval(f"a on {n}", 3, start=(0, 20), optional=True) for n in range(8)]
    m.add(sl.alternative(a, on))
    for o in on:
        m.add(sl.cumulative([o], [1], 1))
    compiled = sl.compile(m, "cpsat")
    assert compiled.size["variables"] == 1 + 8
    assert compiled.size["constraints"] == 1 + 8 + 8
    assert compiled.native.proto.variables[compiled.var(a).start.index].name == "a"


def test_alternatives_in_a_circle_do_not_share() -> None:
    m = sl.Model("circle")
    a, b = (m.interval(n, 3, start=(k, 9), optional=True) for k, n in enumerate("ab"))
    m.add(sl.alternative(a, [b]))
    m.add(sl.alternative(b, [a]))
    m.minimize(a.start - 5 * b.presence)
    assert solve(m).objective == -4


def test_the_backend_says_its_version() -> None:
    here = sl.backends.available()["cpsat"]
    assert here.ok
    assert here.version.startswith("9.")


def test_a_maximum_of_long_sums_of_booleans_does_not_hang_in_presolve() -> None:
    """If the sums are operands themselves, ortools 9.15 lists their 2^40 values, whatever the time limit."""
    rng = random.Random(1)
    m = sl.Model("long operands")
    xs = [m.boolean(f"x{i}") for i in range(40)]
    lines = [[rng.randint(10**8, 10**9) for _ in xs] for _ in range(2)]
    m.add(sl.sum(xs) >= 20)
    m.minimize(sl.max([sl.sum(xs, weights=w) for w in lines]))
    r = solve(m, time_limit=10)
    assert r.status == "optimal"
