"""The Pyomo backend. pyomo.environ is imported first, because it cannot be imported after docplex."""

from __future__ import annotations

import subprocess
import sys

import pytest
import schedlab as sl
from schedlab.backends import Limits, UnknownName, run
from schedlab.backends.conformance import brute_force, general_model
from schedlab.backends.pyomo import options


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
    assert None not in (compiled.var(b).presence, compiled.var(b).start, compiled.var(b).size)
    assert compiled.var(a).presence is compiled.var(a).size is None and "x[" in repr(compiled.var(a))
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


@needs_pyomo
@pytest.mark.parametrize("solver", ["appsi_highs", "highs"])
def test_seed_threads_and_gap_reach_a_known_solver(solver: str) -> None:
    import pyomo.environ as pyo

    asked = {}
    made = pyo.SolverFactory(solver)

    class Recording(type(made)):  # type: ignore[misc]
        def solve(self, model, **keywords):  # type: ignore[no-untyped-def]
            asked.update(keywords["options"])
            return super().solve(model, **keywords)

    made.__class__ = Recording
    made.options["mip_pool_age_limit"] = 17  # of the user
    m, _ = two_jobs()
    limits = Limits(20, threads=1, seed=5, gap=0.25, parameters={"mip_heuristic_effort": "0.2"})
    r = run(m, "pyomo", limits, solver=made, lowering="pairwise")
    assert r.status in ("optimal", "feasible") and r.gap <= 0.25
    expected = {"mip_rel_gap": 0.25, "threads": 1, "random_seed": 5, "mip_heuristic_effort": 0.2}
    assert expected.items() <= asked.items()
    assert made.options["mip_pool_age_limit"] == 17 and "random_seed" not in list(made.options)


@pytest.mark.parametrize(
    ("solver", "options_of_it"),
    [
        ("gurobi_direct", {"MIPGap": 0.1, "Threads": 2, "Seed": 7}),
        ("cplex_direct", {"mip_tolerances_mipgap": 0.1, "threads": 2, "randomseed": 7}),
        ("cbc", {"ratioGap": 0.1, "threads": 2, "randomCbcSeed": 7}),
        ("scip", {"limits/gap": 0.1, "lp/threads": 2, "randomization/randomseedshift": 7}),
        ("glpk", {"mipgap": 0.1}),
    ],
)
def test_the_names_of_options_of_known_solvers(solver: str, options_of_it: dict[str, object]) -> None:
    assert options(solver, Limits(5, 2, 7, 0.1)) == options_of_it
    assert options(solver, Limits()) == {k: {0.1: 1e-6, 7: 0}[v] for k, v in options_of_it.items() if v != 2}


def test_an_unknown_solver_takes_its_own_parameters_but_neither_threads_nor_gap_nor_seed() -> None:
    assert options("mine", Limits(5, parameters={"a": 1})) == {"a": 1}
    for limits, name in ((Limits(threads=2), "threads"), (Limits(gap=0.1), "gap_limit"), (Limits(seed=3), "seed")):
        with pytest.raises(TypeError, match=rf"{name}=.*'mine' is not known.*highs, gurobi"):
            options("mine", limits)


def test_parameters_of_a_known_solver_that_are_arguments_of_solve_are_refused() -> None:
    for solver, name, argument in (
        ("highs", "time_limit", "time_limit"),
        ("highs", "random_seed", "seed"),
        ("gurobi", "TimeLimit", "time_limit"),
        ("cplex", "randomseed", "seed"),
    ):
        with pytest.raises(ValueError, match=f"{name} of .* cannot be given: give {argument}="):
            options(solver, Limits(parameters={name: 1}))
    with pytest.raises(ValueError, match="Threads=4 is greater than threads=2"):
        options("gurobi", Limits(threads=2, parameters={"Threads": 4}))
    with pytest.raises(UnknownName, match="mip_rel_gap"):
        options("appsi_highs", Limits(parameters={"mip_gap": 0.1}))


def test_small_models_are_solved_without_the_presolve_of_highs():
    """With it, HiGHS 1.12 calls this model infeasible."""
    m = general_model(630).model
    result = sl.solve(m, backend="pyomo", threads=1, time_limit=60)
    assert (result.status, (result.objective,)) == ("optimal", brute_force(m).objectives)


def test_a_comparison_of_constants_holds_within_the_tolerance_of_rows():
    m = sl.Model("constants")
    a = m.interval("a", size=1, start=(1, 2))
    m.add(0.1 * a.size <= 0.09999999999999998)
    m.minimize(a.start)
    assert sl.solve(m, backend="pyomo").objective == 1
    m.add(0.1 * a.size <= 0.0999)
    assert sl.solve(m, backend="pyomo").status == "infeasible"


@needs_pyomo
@pytest.mark.parametrize("backend", ["highs", "pyomo"])
@pytest.mark.parametrize("cost", [1e-9, 1e-7, 10**18, 10**22])
def test_an_objective_in_tiny_or_huge_units_is_optimal(backend, cost):
    m = sl.Model("units")
    x, y = m.integer("x", 0, 10), m.integer("y", 0, 10)
    m.add(x + y >= 7)
    m.minimize(cost * x + 2 * cost * y)
    r = sl.solve(m, backend=backend, threads=1, gap_limit=1e-9)
    assert (r.status, r.assignment[x], r.assignment[y]) == ("optimal", 7, 0)
    assert r.bound == pytest.approx(7 * cost)
    if backend == "pyomo":  # the native model of a user has the costs that were declared
        import pyomo.environ as pyo

        native = sl.compile(m, backend).native
        for v in native.x.values():
            v.set_value(1)
        assert pyo.value(native.objective) == pytest.approx(3 * cost)


@needs_pyomo
def test_an_answer_that_rounding_makes_wrong_is_no_error_of_the_solver():
    m = sl.Model("bytes")
    x, y = m.integer("x", 0, 10), m.integer("y", 0, 10)
    m.add(5 * 10**6 * x <= 15 * 10**6 - 1 + y)
    m.add(y <= 0)
    m.maximize(x)
    r = sl.solve(m, backend="pyomo", threads=1)
    assert r.status == "optimal" or "smaller coefficients" in r.message
    assert r.status in ("optimal", "unknown") and r.bound >= 2


def test_a_model_that_no_solver_has_solved_holds_no_solution():
    model = sl.Model("two jobs", horizon=30)
    jobs = [model.interval(name, size=3) for name in "ab"]
    model.add(sl.no_overlap(jobs))
    compiled = sl.compile(model, "pyomo")
    with pytest.raises(LookupError, match="no solver has given its variables values"):
        compiled.assignment(compiled.native)
