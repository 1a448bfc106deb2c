"""CP Optimizer: every construct with a known answer, starts, limits, conflicts, and what happens without the engine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import schedlab as sl
from notebook import Notebook
from random_horizons import random_model
from schedlab.backends import Limits, SolverUnavailable
from schedlab.backends import cpo as cpo
from small_models import CASES, INFEASIBLE, built, weighted_tardiness

HERE = cpo.CpOptimizer().availability()
needs_engine = pytest.mark.skipif(not HERE.ok, reason=f"CP Optimizer: {HERE.reason}")


@needs_engine
@pytest.mark.parametrize("name", CASES)
def test_known_answers(name):
    m, answer = built(name), CASES[name][1]
    r = sl.solve(m, backend="cpo", threads=1, time_limit=20)
    assert r.status == (INFEASIBLE if answer == INFEASIBLE else "optimal"), r.message
    if answer != INFEASIBLE:
        assert m.check(r.assignment) == []
        assert r.objective == (None if answer is None else pytest.approx(answer))


@needs_engine
def test_a_search_that_ended_proves_its_answer():
    # the engine goes through the whole tree, says so, and reports the bound of the root, 4
    r = sl.solve(random_model(88), backend="cpo", threads=1, time_limit=60)
    assert (r.status, r.objective, r.bound) == ("optimal", 13, 13)


@needs_engine
@pytest.mark.parametrize("name", [n for n, (_, answer) in CASES.items() if not isinstance(answer, (str, tuple))])
def test_a_hint_is_complete_and_stays_feasible(name):
    m, answer = built(name), CASES[name][1]
    best = sl.solve(m, backend="cpo", threads=1, time_limit=20).assignment
    compiled = cpo.CompiledCpo(m)
    hinted = {v.get_var().get_name() for v in compiled.hint(best).get_all_var_solutions()}
    from docplex.cp.expression import CpoSequenceVar

    # the sequences of no_overlap follow from the intervals
    assert hinted == {v.get_name() for v in compiled.native.get_all_variables() if not isinstance(v, CpoSequenceVar)}
    compiled.fix(best)
    watch = Notebook()
    outcome = compiled.run(watch, Limits(time=20, threads=1), best)
    assert (outcome.status, outcome.warm.fate) == ("feasible" if answer is None else "optimal", "accepted")
    if answer is not None:
        assert m.value(m.objectives[0], watch.answers[-1]) == pytest.approx(answer)


@needs_engine
def test_a_fixed_wrong_assignment_is_infeasible():
    m = built("two jobs on one machine")
    compiled = cpo.CompiledCpo(m)
    wrong = sl.Assignment(m, dict.fromkeys(m.intervals, 0))
    compiled.fix(wrong)
    assert compiled.run(Notebook(), Limits(time=20)).status == INFEASIBLE


@needs_engine
def test_incumbents_bounds_and_log_arrive_and_nothing_is_printed(capfd):
    r = sl.solve(weighted_tardiness(20), backend="cpo", threads=1, deterministic_limit=20_000)
    objectives = [i.objective for i in r.incumbents if i.objective is not None]
    assert len(set(objectives)) > 1
    assert objectives == sorted(objectives, reverse=True)
    assert r.bound is not None and r.bound <= r.objective
    assert "CP Optimizer" in r.log and r.version == HERE.version
    assert capfd.readouterr() == ("", "")


@needs_engine
def test_a_callback_stops_the_search():
    seen = []

    def enough(incumbent):
        seen.append(incumbent)
        return len(seen) < 3

    r = sl.solve(weighted_tardiness(60), backend="cpo", threads=1, time_limit=60, on_incumbent=enough)
    assert r.status == "feasible" and len(seen) == 3


@needs_engine
def test_ctrl_c_returns_the_best_so_far():
    def interrupt(incumbent):
        if incumbent.objective is not None:
            raise KeyboardInterrupt

    r = sl.solve(weighted_tardiness(60), backend="cpo", threads=1, time_limit=60, on_incumbent=interrupt)
    assert (r.status, r.message) == ("feasible", "interrupted")
    assert r.violations == [] and r.objective is not None


@needs_engine
@pytest.mark.slow
def test_a_time_limit_is_kept():
    r = sl.solve(weighted_tardiness(60), backend="cpo", threads=1, time_limit=3.0)
    assert r.status == "feasible"


@needs_engine
def test_a_deterministic_limit_is_reproducible_and_seeds_differ():
    m = weighted_tardiness(40)
    runs = [sl.solve(m, backend="cpo", deterministic_limit=3000, seed=s) for s in (1, 1, 2)]
    traces = [[i.objective for i in r.incumbents] for r in runs]
    assert traces[0] == traces[1] != traces[2]


@needs_engine
def test_a_gap_limit_ends_the_search_early():
    r = sl.solve(weighted_tardiness(30), backend="cpo", threads=1, time_limit=60, gap_limit=0.95)
    assert r.status in ("feasible", "optimal") and r.gap <= 0.95


@needs_engine
def test_the_fate_of_a_start():
    m = built("size 0 takes no part in a cumulative")
    best = sl.solve(m, backend="cpo", threads=1).assignment
    again = sl.solve(m, backend="cpo", threads=1, warm_start=best).warm_start
    assert (again.fate, again.returned) == ("accepted", True)
    a, b = m.intervals
    wrong = sl.Assignment(m, {a: -2, b: (-1, 1)})
    assert sl.solve(m, backend="cpo", threads=1, warm_start=wrong).warm_start.fate == "rejected"
    outcome = cpo.CompiledCpo(m).run(Notebook(), Limits(threads=1), wrong)
    assert outcome.warm.fate == "rejected" and "not consistent" in outcome.warm.reason


@needs_engine
def test_a_conflict_names_the_constraints_and_variables():
    m = sl.Model("conflict")
    a, b, c = (m.interval(n, size=5, start=(0, last)) for n, last in (("a", 3), ("b", 3), ("c", 90)))
    m.add(sl.no_overlap([a, b]), 'one "machine"')
    m.add(sl.no_overlap([b, c]), "another machine")
    m.minimize(c.end)
    r = sl.solve(m, backend="cpo", threads=1)
    assert r.status == INFEASIBLE
    assert r.conflict.names == ('one "machine"', "a", "b")


@needs_engine
def test_no_conflict_in_a_model_that_has_a_solution():
    names, reason = cpo.CompiledCpo(built("no objective")).conflict(5)
    assert names is None and "no conflict" in reason


@needs_engine
def test_names_that_are_strange_or_equal():
    m = sl.Model('a "model"; x = 1')
    same = [m.interval('job\n"é"', size=2), m.interval('job\n"é"', size=3), m.interval("noOverlap", size=1)]
    m.add(sl.no_overlap(same), "intVar")
    m.minimize(sl.max([v.end for v in same]))
    assert sl.solve(m, backend="cpo", threads=1).objective == 6


@needs_engine
def test_a_model_too_large_for_the_edition_is_unavailable():
    m = sl.Model("large")
    jobs = [m.interval(f"j{k}", size=(1, 100), start=(0, 10**6)) for k in range(400)]
    m.add(sl.no_overlap(jobs))
    r = sl.solve(m, backend="cpo", time_limit=2)
    if r.status == "optimal":
        pytest.skip("this engine is not the community edition: it takes large models")
    assert r.status == "unavailable" and "size limit" in r.message


@needs_engine
def test_users_add_their_own_constraints_and_read_the_answer_back():
    from docplex.cp import modeler

    m = built("a calendar of start windows")
    compiled = sl.compile(m, "cpo")
    (a,) = m.intervals
    compiled.native.add(modeler.start_of(compiled.var(a)) >= 13)
    answer = compiled.native.solve(execfile=cpo.find_engine(), LogVerbosity="Quiet", trace_log=False)
    assert compiled.assignment(answer)[a] == (True, 14, 17)


@needs_engine
def test_a_large_sum_is_one_flat_node():
    m = sl.Model("large sum")
    flags = [m.boolean(f"x{k}") for k in range(900)]
    m.add(sl.sum(flags) >= 900)
    m.minimize(sl.sum(flags, weights=[1 + k % 2 for k in range(900)]))
    r = sl.solve(m, backend="cpo", threads=1, time_limit=20)
    assert r.objective == 1350 and r.size["nonzeros"] < 3 * len(flags)


@needs_engine
@pytest.mark.parametrize(("weight", "relaxed"), [(1, True), (0.001, False)])
def test_the_linear_relaxation_is_off_for_real_objectives(weight, relaxed):
    m = sl.Model("weighted ends")
    m.minimize(sl.sum([weight * m.interval(f"j{k}", size=3).end for k in range(3)]))
    log = sl.solve(m, backend="cpo", threads=1).log
    assert ("TemporalRelaxation" not in log) == relaxed


@needs_engine
def test_native_size():
    size = cpo.CompiledCpo(built("size 0 takes no part in a cumulative")).size
    assert size["variables"] == 3  # two jobs, and the shadow of the one whose size can be 0
    assert size["constraints"] == 5 and size["nonzeros"] > 10


def test_without_the_engine_models_compile_but_do_not_run(monkeypatch):
    pytest.importorskip("docplex.cp", reason="docplex is not installed")
    monkeypatch.setattr(cpo, "find_engine", lambda: None)
    here = cpo.CpOptimizer().availability()
    assert not here.ok and "pip install 'schedlab[cpoptimizer]'" in here.reason
    compiled = cpo.CpOptimizer().compile(built("two jobs on one machine"))
    assert "noOverlap" in compiled.native.get_cpo_string()
    assert compiled.run(Notebook(), Limits()).status == "unavailable"
    assert compiled.conflict().names is None


def test_without_docplex_the_reason_is_given(monkeypatch):
    for module in ("docplex", "docplex.cp", "docplex.cp.modeler"):
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, "schedlab.backends.cpo_docplex", raising=False)
    here = cpo.CpOptimizer().availability()
    assert not here.ok and "docplex is missing" in here.reason
    with pytest.raises(SolverUnavailable, match="pip install"):
        cpo.CpOptimizer().compile(built("two jobs on one machine"))


def test_an_engine_that_breaks_is_an_error_with_the_reason(monkeypatch, tmp_path):
    pytest.importorskip("docplex.cp", reason="docplex is not installed")
    broken = tmp_path / "cpoptimizer"
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setattr(cpo, "find_engine", lambda: str(broken))
    here = cpo.CpOptimizer().availability()
    assert not here.ok and "exit code 3" in here.reason
    outcome = cpo.CompiledCpo(built("two jobs on one machine")).run(Notebook(), Limits())
    assert outcome.status == "error" and outcome.message


@needs_engine
def test_an_engine_killed_on_the_way_is_an_error_that_keeps_what_was_found():
    from schedlab.backends import EngineRun

    compiled, watch = cpo.CompiledCpo(weighted_tardiness(60)), Notebook()
    search = EngineRun(cpo.find_engine(), compiled.native, compiled.assignment, watch, Limits(time=60, threads=1))
    listen = search.invoke

    def kill_at_a_solution(solver, event, answer):
        listen(solver, event, answer)
        if watch.answers:
            solver.agent.process.kill()

    search.invoke = kill_at_a_solution
    outcome = search.run()
    assert outcome.status == "error" and "exit code -9" in outcome.message
    assert watch.answers


def test_the_backend_is_looked_up_without_importing_docplex():
    """``pyomo.environ`` cannot be imported after ``docplex.cp``, so ``availability`` must not import docplex."""
    code = "import sys, schedlab; schedlab.backends.backend('cpo').availability(); print('docplex.cp' in sys.modules)"
    root = Path(sl.__file__).parent.parent
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root)
    assert said.stdout.strip() == "False"


# OR-Library [Beasley1990], airland1: earliest, target and latest time, cost per unit of time before and after the target
PLANES = [
    *[(129, 155, 559, 10), (195, 258, 744, 10), (89, 98, 510, 30), (96, 106, 521, 30), (110, 123, 555, 30)],
    *[(120, 135, 576, 30), (124, 138, 577, 30), (126, 140, 573, 30), (135, 150, 591, 30), (160, 180, 657, 30)],
]


@needs_engine
def test_landings_with_costs_through_points_are_proven():
    m = sl.Model("airland1")
    v = [m.interval(f"plane {i}", size=0, start=(first, last)) for i, (first, _, last, _) in enumerate(PLANES)]
    gaps = [[3 if max(i, j) < 2 else 15 if min(i, j) < 2 else 8 for j in range(10)] for i in range(10)]
    m.add(sl.no_overlap(v, transitions=gaps))
    costs = [
        sl.piecewise(x.start, [(first, cost * (due - first)), (due, 0), (last, cost * (last - due))])
        for x, (first, due, last, cost) in zip(v, PLANES, strict=True)
    ]
    m.minimize(sl.sum(costs))
    r = sl.solve(m, backend="cpo", threads=1, time_limit=60)
    assert (r.status, r.objective, r.bound) == ("optimal", 700, pytest.approx(700))


@pytest.mark.parametrize(
    "points", [[(0, 0), (5, 3), (9, 1), (20, 4)], [(0, 4), (5, 0), (20, 9)], [(0, 0), (5, 9), (20, 1)]]
)
def test_a_sum_of_functions_has_the_bound_of_their_points(points):
    m = sl.Model("sum", horizon=20)
    jobs = [m.interval(f"j{k}", 2) for k in range(8)]
    m.add(sl.cumulative(jobs, [1] * 8, 2))
    m.minimize(sl.sum([sl.piecewise(v.start, points) for v in jobs]))
    r = sl.solve(m, backend="cpo", threads=1, deterministic_limit=10)
    assert r.bound >= 8 * min(y for _, y in points)


@needs_engine
def test_a_conflict_that_can_hold_together_is_not_named():
    # the objective has no value, but the refiner of 22.2 names the constraint, which holds with x = 1 and y = 2
    m = sl.Model("no value")
    a = m.interval("a", size=(1, 3), start=(0, 3))
    x, y = m.integer("x", -3, 1), m.integer("y", 2, 6)
    m.add(3 * sl.max([a.presence + y - 2 * x, 0]) <= 4, "a true one")
    m.minimize(sl.element([1.25, 0.1], 3 * a.end))
    r = sl.solve(m, backend="cpo", threads=1)
    assert r.status == "infeasible"
    assert r.conflict.names is None or "objective 1" in r.conflict.names


@needs_engine
@pytest.mark.parametrize("name", ["two\nlines", "zero \0", "\r", '*/ // "quoted" \\', "", "日本"])
def test_any_name_can_be_given(name):
    m = sl.Model(name, horizon=9)
    a, b, x = m.interval(name, 3), m.interval(name, (0, 3), optional=True), m.integer(name, 0, 3)
    m.add(sl.no_overlap([a, b]), name)
    m.add(x + b.size >= 4, name)
    m.minimize(sl.max([a.end, b.end]) + x)
    r = sl.solve(m, backend="cpo", threads=1)
    assert (r.status, r.objective) == ("optimal", 7)
    m.add(a.end + b.end <= 3, name)
    r = sl.solve(m, backend="cpo", threads=1)
    assert r.status == "infeasible" and name in r.conflict.names


@needs_engine
@pytest.mark.parametrize("unit", [2, 90033, 10**9])
def test_a_presence_with_a_large_coefficient(unit):
    m = sl.Model("presence", horizon=7)
    a = m.interval("a", size=0, start=0, optional=True)
    m.add(unit * a.presence == unit // 2)
    assert sl.solve(m, backend="cpo", threads=1).status == "infeasible"


@needs_engine
def test_an_intensity_of_100_percent_at_all_times_is_solved():
    """An engine of 22.1 crashes on such a step function, with the size and the presence of its interval in the objective."""
    m = sl.Model("m", horizon=8)
    v = m.interval("v", size=(1, 8), work=3, intensity=[(1, 100)])
    m.minimize(v.end - 6 * v.presence + v.size)
    assert sl.solve(m, backend="cpo", threads=1, time_limit=30).objective == 0
