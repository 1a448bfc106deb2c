"""Solver parameters by name, the arguments that a backend obeys, and the gap limit, which the driver obeys for all."""

from __future__ import annotations

from typing import Any

import pytest
import schedlab as sl
from schedlab.backends import Availability, Exactness, Limits, Outcome, UnknownName, backend, base, run

HERE = sl.backends.available()


def usable(*names: str) -> list[Any]:
    return [pytest.param(n, marks=pytest.mark.skipif(not HERE[n].ok, reason=f"{n}: {HERE[n].reason}")) for n in names]


def weighted_ends(count: int = 7) -> sl.Model:
    """Return a model whose proof takes some search."""
    m = sl.Model("weighted ends")
    jobs = [m.interval(f"j{k}", size=3 + k % 5, start=(0, 60)) for k in range(count)]
    m.add(sl.cumulative(jobs, [2 + k % 3 for k in range(count)], 5))
    m.minimize(sl.sum([j.end for j in jobs], weights=[1 + (k * 7) % 5 for k in range(count)]))
    return m


def solve(name: str, m: sl.Model | None = None, threads: int | None = 1, **limits: Any) -> sl.Result:
    options = {"lowering": "pairwise"} if name == "highs" else {}
    start = limits.pop("warm_start", None)
    return run(m or weighted_ends(), name, Limits(20, threads, 1, **limits), warm_start=start, **options)


CONVERTED = [
    ("cpsat", {"linearization_level": "2", "cp_model_presolve": "off"}),
    ("cpsat", {"search_branching": "portfolio_search", "restart_period": "40"}),
    ("cpsat", {"search_branching": "2", "relative_gap_limit": "0.05"}),
    ("cpsat", {"ignore_subsolvers": "core+no_lp", "restart_algorithms": "LUBY_RESTART+2"}),
    ("highs", {"mip_rel_gap": "0.1", "mip_detect_symmetry": "false", "mip_pool_age_limit": "20", "presolve": "off"}),
    ("cpo", {"SearchType": "depthfirst", "FailLimit": "100", "RestartGrowthFactor": "1.5", "Workers": "auto"}),
    ("pyomo", {"threads": "1", "mip_rel_gap": "0.5", "fast": "true", "presolve": "on", "level": 3}),
]
TYPED: list[dict[str, Any]] = [
    {"linearization_level": 2, "cp_model_presolve": False},
    {"search_branching": "PORTFOLIO_SEARCH", "restart_period": 40},
    {"search_branching": "PORTFOLIO_SEARCH", "relative_gap_limit": 0.05},
    {"ignore_subsolvers": "core+no_lp", "restart_algorithms": "LUBY_RESTART+DL_MOVING_AVERAGE_RESTART"},
    {"mip_rel_gap": 0.1, "mip_detect_symmetry": False, "mip_pool_age_limit": 20, "presolve": "off"},
    {"SearchType": "DepthFirst", "FailLimit": 100, "RestartGrowthFactor": 1.5, "Workers": "Auto"},
    {"threads": 1, "mip_rel_gap": 0.5, "fast": True, "presolve": "on", "level": 3},
]


@pytest.mark.parametrize(
    ("name", "texts", "typed"), [(*given, typed) for given, typed in zip(CONVERTED, TYPED, strict=True)]
)
def test_texts_become_values_and_values_stay(name: str, texts: dict[str, str], typed: dict[str, Any]) -> None:
    check = backend(name).check_parameters  # type: ignore[attr-defined]
    assert check(texts) == typed and check(typed) == typed
    assert [type(v) for v in check(texts).values()] == [type(v) for v in typed.values()]


@pytest.mark.parametrize(
    ("name", "wrong", "near"),
    [("cpsat", "num_wokers", "num_workers"), ("highs", "mip_gap", "mip_rel_gap"), ("cpo", "SearchTyp", "SearchType")],
)
def test_an_unknown_parameter_gives_near_names(name: str, wrong: str, near: str) -> None:
    with pytest.raises(UnknownName, match=rf"no parameter of .*{wrong}.*{near}"):
        solve(name, parameters={wrong: 1})


@pytest.mark.parametrize(
    ("name", "parameters", "expected"),
    [
        ("cpsat", {"linearization_level": "much"}, "a whole number"),
        ("cpsat", {"linearization_level": 2**40}, "from -2,147,483,648"),
        ("cpsat", {"cp_model_presolve": "perhaps"}, "true or false"),
        ("cpsat", {"search_branching": "best"}, "AUTOMATIC_SEARCH"),
        ("cpsat", {"num_workers": -3}, r"\[0,10000\]"),
        ("cpsat", {"relative_gap_limit": True}, "a number"),
        ("highs", {"mip_rel_gap": -1}, "below lower bound of 0"),
        ("highs", {"presolve": "perhaps"}, 'not one of "off", "choose" or "on"'),
        ("highs", {"threads": 1.5}, "a whole number"),
        ("highs", {"mip_rel_gap": float("nan")}, "a number"),
        ("cpo", {"SearchType": "best"}, "DepthFirst, Restart"),
        ("cpo", {"WarningLevel": 7}, "a whole number from 0 to 3"),
        ("cpo", {"OptimalityTolerance": "-1"}, "a number of at least 0"),
    ],
)
def test_a_wrong_value_says_what_is_expected(name: str, parameters: dict[str, Any], expected: str) -> None:
    with pytest.raises(ValueError, match=rf"the parameter {next(iter(parameters))} of .* cannot be .*{expected}"):
        solve(name, parameters=parameters)


@pytest.mark.parametrize(
    ("name", "parameter", "argument"),
    [
        ("cpsat", "max_time_in_seconds", "give time_limit="),
        ("cpsat", "random_seed", "give seed="),
        ("cpsat", "max_deterministic_time", "give deterministic_limit="),
        ("cpsat", "log_to_stdout", "reads the log"),
        ("highs", "time_limit", "give time_limit="),
        ("highs", "random_seed", "give seed="),
        ("highs", "mip_max_nodes", "give deterministic_limit="),
        ("highs", "output_flag", "reads the log"),
        ("highs", "objective_bound", "infeasible"),
        ("cpo", "TimeLimit", "give time_limit="),
        ("cpo", "RandomSeed", "give seed="),
        ("cpo", "BranchLimit", "give deterministic_limit="),
        ("cpo", "ConflictRefinerTimeLimit", "conflict refiner"),
    ],
)
def test_parameters_that_schedlab_sets_are_refused(name: str, parameter: str, argument: str) -> None:
    with pytest.raises(ValueError, match=rf"{parameter} of .* cannot be given: .*{argument}"):
        solve(name, parameters={parameter: 1})


@pytest.mark.parametrize(
    ("name", "parameters", "logged"),
    [
        pytest.param(*case, marks=usable(case[0])[0].marks)
        for case in [
            ("cpsat", {"linearization_level": 2, "search_branching": "FIXED_SEARCH"}, "linearization_level: 2"),
            ("highs", {"mip_rel_gap": 0.9, "presolve": "on"}, "Presolving model"),
            ("cpo", {"SearchType": "DepthFirst"}, "SearchType = DepthFirst"),
        ]
    ],
)
def test_the_solver_gets_its_parameters(name: str, parameters: dict[str, Any], logged: str) -> None:
    import re

    assert logged in re.sub(r" += +", " = ", solve(name, parameters=parameters).log)
    assert logged not in re.sub(r" += +", " = ", solve(name).log)


@pytest.mark.parametrize(
    ("name", "gap"),
    [
        pytest.param(*case, marks=usable(case[0])[0].marks)
        for case in [
            ("cpsat", {"relative_gap_limit": 0.95}),
            ("cpsat", {"stop_after_first_solution": True}),
            ("highs", {"mip_rel_gap": 0.95}),
            ("highs", {"mip_abs_gap": 1e4}),
            ("highs", {"objective_target": 1e4}),
            ("cpo", {"RelativeOptimalityTolerance": 0.95}),
            ("cpo", {"SolutionLimit": 1}),
        ]
    ],
)
def test_a_tolerance_of_the_solver_does_not_prove_an_optimum(name: str, gap: dict[str, Any]) -> None:
    """The solver calls its answer optimal; the status depends on the gap between objective and bound."""
    r = solve(name, weighted_ends(9), parameters=gap)
    assert r.objective is not None and r.assignment is not None
    assert (r.status == "optimal") == (r.gap is not None and r.gap <= 1e-6)
    assert r.status == "feasible"


@pytest.mark.parametrize(
    ("name", "parameter", "count"),
    [
        pytest.param(*case, marks=usable(case[0])[0].marks)
        for case in [
            ("cpsat", "num_workers", r"with 1 worker|num_workers: 1"),
            ("cpsat", "num_search_workers", r"with 1 worker|num_workers: 1"),
            ("cpo", "Workers", r"Workers += 1\b|Using sequential|Workers"),
        ]
    ],
)
def test_a_parameter_of_threads_is_an_upper_limit_with_threads(name: str, parameter: str, count: str) -> None:
    import re

    fewer = solve(name, weighted_ends(5), threads=2, parameters={parameter: 1})
    assert fewer.status == "optimal" and re.search(count, fewer.log)
    with pytest.raises(ValueError, match=f"{parameter}=2 is greater than threads=1"):
        solve(name, parameters={parameter: 2})


def test_threads_of_highs_are_an_upper_limit_with_threads() -> None:
    assert solve("highs", weighted_ends(4), threads=2, parameters={"threads": 1}).status == "optimal"
    with pytest.raises(ValueError, match="threads=2 is greater than threads=1"):
        solve("highs", parameters={"threads": 2})


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("cpsat", {"cp_model_presolve": False}),
        ("cpsat", {"max_presolve_iterations": 1, "cp_model_probing_level": 0}),
        ("highs", {"presolve": "on"}),
        ("highs", {"presolve": "off"}),
        pytest.param("cpo", {"Presolve": "Off"}, marks=usable("cpo")[0].marks),
    ],
)
def test_starts_are_taken_with_and_without_presolve(name: str, parameters: dict[str, Any]) -> None:
    m = weighted_ends(6)
    first = sl.solve(m, backend="cpsat", threads=1, seed=1, on_incumbent=lambda news: news.objective is None)
    r = solve(name, m, parameters=parameters, warm_start=first.assignment)
    assert r.warm_start.fate == "accepted", r.warm_start
    assert r.objective <= first.objective and (r.status, r.objective) == ("optimal", solve("cpsat", m).objective)


def test_parameters_of_one_run_do_not_stay_in_the_native_model() -> None:
    compiled = sl.compile(weighted_ends(4), "highs", lowering="pairwise")
    before = compiled.native.getOptionValue("mip_rel_gap")[1], compiled.native.getOptionValue("mip_pool_age_limit")[1]

    class Nothing:
        def solution(self, *_: Any) -> bool:
            return True

        bound = solution

    compiled.run(Nothing(), Limits(5, 1, parameters={"mip_pool_age_limit": 7}, deterministic=1))
    assert compiled.native.getOptionValue("mip_pool_age_limit")[1] == before[1]
    assert compiled.native.getOptionValue("mip_max_nodes")[1] == 2**31 - 1


class Stepwise:
    """A backend that obeys nothing of its own: it reports one solution and then better and better bounds."""

    name = "stepwise"

    def availability(self) -> Availability:
        return Availability(self.name, "1")

    def compile(self, model: sl.Model) -> Any:
        compiled = sl.compile(model, "cpsat")
        compiled.exactness = Exactness()
        best = sl.solve(model, backend="cpsat", threads=1)

        def stepwise(watch: Any, limits: Any, warm: Any = None) -> Outcome:
            going = watch.solution(best.assignment)
            for step in range(11):
                going = going and watch.bound(best.objective * step / 10)
            return Outcome("optimal" if going else "feasible")

        compiled.run = stepwise  # type: ignore[method-assign]
        return compiled


@pytest.fixture
def stepwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(base._registered, "stepwise", Stepwise())


@pytest.mark.usefixtures("stepwise")
@pytest.mark.parametrize("gap", [0.55, 0.25, 0.0])
def test_the_gap_limit_is_obeyed_for_a_backend_that_does_not_know_it(gap: float) -> None:
    r = solve("stepwise", gap=gap)
    steps = [i.bound for i in r.incumbents if i.bound is not None]
    assert r.gap <= gap and len(steps) == {0.55: 6, 0.25: 9, 0.0: 11}[gap]
    assert r.status == ("feasible" if gap else "optimal")
    assert solve("stepwise").status == "optimal"


@pytest.mark.usefixtures("stepwise")
def test_the_gap_limit_ends_one_objective_and_the_next_one_follows() -> None:
    m = weighted_ends(4)
    m.minimize([m.objectives[0], m.intervals[0].end], replace=True)
    r = solve("stepwise", m, gap=0.55)
    assert (r.status, r.objective) == ("feasible", sl.solve(m, backend="cpsat").objective)
    assert "not optimized" not in r.message


@pytest.mark.usefixtures("stepwise")
@pytest.mark.parametrize("argument", [{"deterministic": 1.0}, {"parameters": {"num_workers": 1}}])
def test_what_a_backend_does_not_obey_is_a_type_error_that_names_others(argument: dict[str, Any]) -> None:
    name = "deterministic_limit" if "deterministic" in argument else "parameters"
    with pytest.raises(TypeError, match=rf"'stepwise' does not obey {name}=.*cpsat, highs, cpo"):
        solve("stepwise", **argument)
    if name == "deterministic_limit":
        with pytest.raises(TypeError, match="'pyomo' does not obey deterministic_limit"):
            solve("pyomo", **argument)
