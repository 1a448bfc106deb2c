"""The Pyomo backend. pyomo.environ is imported first, because it cannot be imported after docplex."""

from __future__ import annotations

import subprocess
import sys

import pytest
import schedlab as sl


def two_jobs() -> tuple[sl.Model, list[object]]:
    m = sl.Model("two jobs", horizon=12)
    a, b = m.interval("a", size=3), m.interval("b", size=(2, 4), optional=True)
    x = m.integer("x", 0, 3)
    m.add(sl.no_overlap([a, b]), "one at a time")
    m.add(b.size + x >= 5)
    m.minimize(sl.max([a.end, b.end]) + x - 2.5 * b.presence)
    return m, [a, b, x]


available = sl.backends.available()["pyomo"]
needs_pyomo = pytest.mark.skipif(not available.ok, reason=f"pyomo: {available.reason}")


@needs_pyomo
@pytest.mark.parametrize("lowering", ["pairwise", "time-indexed"])
def test_pyomo_finds_what_highs_finds(lowering: str) -> None:
    m, _ = two_jobs()
    expected = sl.solve(m, backend="highs", lowering=lowering)
    r = sl.solve(m, backend="pyomo", lowering=lowering, time_limit=20)
    assert (r.status, r.objective) == ("optimal", expected.objective)
    assert r.size == expected.size and r.bound == pytest.approx(r.objective)


@needs_pyomo
def test_a_hint_gives_every_variable_its_value() -> None:
    import pyomo.environ as pyo

    m, _ = two_jobs()
    start = sl.solve(m, backend="highs").assignment
    compiled = sl.compile(m, "pyomo")
    compiled.fix(start)
    pyo.SolverFactory("appsi_highs").solve(compiled.native)
    assert pyo.value(compiled.native.objective) == pytest.approx(m.value(m.objectives[0], start))
    assert m.check(compiled.assignment(compiled.native)) == []


@needs_pyomo
def test_variables_of_ours_are_found_in_the_concrete_model() -> None:
    m, (a, b, x) = two_jobs()
    compiled = sl.compile(m, "pyomo", lowering="pairwise")
    assert set(compiled.var(b)) == {"presence", "start", "size"} and set(compiled.var(a)) == {"start"}
    compiled.native.mine = __import__("pyomo.environ").environ.Constraint(expr=compiled.var(x) >= 3)
    r = compiled.solver.solve(compiled.native)
    assert str(r.solver.termination_condition) == "optimal" and compiled.assignment(compiled.native)[x] == 3


@needs_pyomo
def test_infeasible_and_warm_started() -> None:
    m, (a, _, x) = two_jobs()
    start = sl.solve(m, backend="highs").assignment
    assert sl.solve(m, backend="pyomo", warm_start=start).warm_start.fate == "accepted"
    m.add(a.start + x >= 40)
    assert sl.solve(m, backend="pyomo").status == "infeasible"


@needs_pyomo
def test_a_solver_that_is_missing_is_named() -> None:
    m, _ = two_jobs()
    r = sl.solve(m, backend="pyomo", solver="no_such_solver")
    assert r.status == "unavailable" and "no_such_solver" in r.message


def test_after_docplex_it_is_explained() -> None:
    program = (
        "import docplex.cp.model, schedlab.backends as b\n"
        "here = b.available()['pyomo']\n"
        "assert here.ok or 'after docplex.cp' in here.reason, here\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


@needs_pyomo
def test_numbers_beyond_the_precision_of_its_solvers_are_refused() -> None:
    m = sl.Model("far away")
    x = m.integer("x", 10**10, 10**10 + 3)
    m.minimize(x)
    r = sl.solve(m, backend="pyomo", time_limit=20)
    assert r.status == "unavailable" and r.message.startswith("x: values up to 1e+10")
