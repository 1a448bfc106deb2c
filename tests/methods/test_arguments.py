"""Every argument of ``solve`` is obeyed by a method, or it is a TypeError that names the methods that obey it."""

import subprocess
import sys
from dataclasses import fields
from functools import cache
from typing import Any

import pyomo.environ  # noqa: F401  before docplex, after which it cannot be imported
import pytest
import schedlab as sl
from made_heuristics import made
from schedlab.backends.cpsat import CpSat
from schedlab.heuristics import HEURISTICS
from schedlab.methods import SolverMethod, all_classes, method_class
from schedlab.models import Dispatch, Job, NodeGroup, OutOfTime, Platform, Queue

PLATFORM = Platform([NodeGroup("n", 3, {"cores": 16})])
ARGUMENTS = ("warm_start", "gap_limit", "deterministic_limit", "parameters")
METHODS = [c.name for c in all_classes()]
OPTIONS = sorted({name for c in all_classes() for name in c.options()})
TEXTS = {"first-solution": "first-solution:est", "rule": "rule:est", "serial-sgs": "serial-sgs:lft"}
VALUES = {
    "post_bound": False,
    "delay": 7, "grid": 1, "integral": False, "largest": 50, "lowering": "pairwise", "max_nonzeros": 10**6, "rounds": 3,
    "side": "restrict", "solver": "appsi_highs",
}  # fmt: skip


@cache
def problem_of(name: str) -> object:
    """Return a small problem that the method solves."""
    if name in HEURISTICS and HEURISTICS[name].kinds == ("eviction",):
        return sl.load("theta_24").problem
    if name in HEURISTICS and HEURISTICS[name].kinds == ("project",):
        return sl.load("project_small").problem
    jobs = [Job(f"j{k}", k, 5 + 7 * k % 11, 1 + k % 2, {"cores": 5 + 2 * (k % 4)}, "q") for k in range(4)]
    return Dispatch(PLATFORM, jobs, [Queue("q", 60)], "weighted-wait")


def solve(name: str, **arguments: object) -> sl.Result:
    # solvers end by themselves on these problems; searches always give an answer, and some use all of their time
    seconds = 120 if issubclass(method_class(name), SolverMethod) else 0.2
    return sl.solve(problem_of(name), TEXTS.get(name, name), **{"time_limit": seconds, "threads": 1, **arguments})


def start_for(name: str) -> sl.Schedule:
    quick = {"dispatch": "first-solution:-area", "eviction": "greedy", "project": "serial-sgs:spt"}
    problem = problem_of(name)
    return sl.solve(problem, quick[problem.kind]).schedule


def parameter_of(name: str) -> dict[str, object]:
    known = {"cpsat": "linearization_level", "highs": "simplex_strategy", "cpo": "SearchType", "pyomo": "presolve"}
    values = {"cpsat": 0, "highs": 1, "cpo": "Restart", "pyomo": "on"}
    return {known[name]: values[name]}


@pytest.mark.parametrize("name", METHODS)
def test_time_limit_threads_seed_and_callback_are_obeyed_by_every_method(name: str) -> None:
    seen: list[sl.Incumbent] = []
    result = solve(name, time_limit=0.7, threads=1, seed=3, on_incumbent=seen.append)
    if result.status == "unknown":  # on a busy machine, before the first answer
        assert seen == []
    else:
        assert result.status in ("optimal", "feasible", "unavailable"), result.message
        assert result.status == "unavailable" or seen[-1].objective == result.objective


@pytest.mark.parametrize("argument", ARGUMENTS)
@pytest.mark.parametrize("name", METHODS)
def test_each_other_argument_is_obeyed_or_refused(name: str, argument: str) -> None:
    if argument not in method_class(name).obeyed():
        value = {"warm_start": start_for(name), "parameters": {"some_name": 1}}.get(argument, 0.5)
        with pytest.raises(TypeError, match=f"does not obey {argument}; methods that do: .*cpsat"):
            solve(name, **{argument: value})
    elif argument == "warm_start":
        start = start_for(name)
        result = solve(name, warm_start=start)
        assert result.warm_start.fate != "none"
        sign = 1 if problem_of(name).sense == "minimize" else -1
        assert sign * result.objective <= sign * problem_of(name).value(start)
    elif argument == "gap_limit":
        result = solve(name, gap_limit=0.9, time_limit=60)  # ends at the gap
        assert result.gap <= 0.9
    elif argument == "deterministic_limit":
        assert solve(name, deterministic_limit=1).status in ("optimal", "feasible", "unknown")
    else:
        assert solve(name, parameters=parameter_of(name)).status in ("optimal", "feasible")
        if name != "pyomo":  # it passes all options to the solver
            with pytest.raises(sl.UnknownName, match="some_name"):
                solve(name, parameters={"some_name": 1})


@pytest.mark.parametrize("name", METHODS)
def test_each_option_is_obeyed_or_refused(name: str) -> None:
    for option in OPTIONS:
        if option in method_class(name).options():
            given = {"lowering": "pairwise", "integral": False} if option == "integral" else {option: VALUES[option]}
            assert solve(name, **given).status in ("optimal", "feasible", "unknown"), option
        else:
            with pytest.raises(TypeError, match=f"does not obey {option}; methods that do: "):
                solve(name, **{option: VALUES[option]})


def test_options_change_what_they_name() -> None:
    problem = problem_of("lns")
    rounds = [sl.solve(problem, "lns", rounds=n).details["operators"] for n in (2, 6)]
    assert [sum(gain.turns for gain in each.values()) for each in rounds] == [2, 6]
    with pytest.raises(sl.LoweringTooLarge):
        sl.solve(problem, "highs:pool@pairwise", max_nonzeros=5)


def test_an_unknown_argument_names_the_options_of_the_method() -> None:
    with pytest.raises(TypeError, match=r"lns has no option ronds; its options are rounds"):
        sl.solve(problem_of("lns"), "lns", ronds=3)
    with pytest.raises(TypeError, match=r"parameters=\{'num_workers': value\}"):
        sl.solve(problem_of("cpsat"), "cpsat", num_workers=1)


def test_a_method_and_a_backend_contradict_each_other() -> None:
    with pytest.raises(TypeError, match="give one of them"):
        sl.solve(problem_of("cpsat"), "cpsat:pool", backend="highs")


def test_parameters_of_the_text_and_of_the_call() -> None:
    problem = problem_of("cpsat")
    result = sl.solve(problem, "cpsat:pool:num_workers=1", parameters={"linearization_level": 0}, time_limit=5)
    assert result.status in ("optimal", "feasible")
    with pytest.raises(ValueError, match="num_workers is 1 in 'cpsat:num_workers=1', and 2 in parameters="):
        sl.solve(problem, "cpsat:num_workers=1", parameters={"num_workers": 2})


@pytest.mark.parametrize(
    ("given", "error", "expected"),
    [
        ({"time_limit": -1}, ValueError, "time_limit is -1"),
        ({"time_limit": "5"}, TypeError, "time_limit is '5'; expected a number"),
        ({"time_limit": float("nan")}, ValueError, "time_limit is nan"),
        ({"threads": 0}, ValueError, "threads is 0; expected at least 1"),
        ({"threads": 1.5}, TypeError, "threads is 1.5; expected a whole number"),
        ({"seed": -3}, ValueError, "seed is -3"),
        ({"gap_limit": True}, TypeError, "gap_limit is True"),
        ({"method": 3}, TypeError, "expected a text such as"),
        ({"method": "cpsat:pool", "warm_start": 3}, TypeError, "expected a heuristic"),
        ({"method": "cpsat:pool", "warm_start": "lsn"}, sl.UnknownName, "lns"),
        ({"method": "cpsat:pool+warm=greedy"}, sl.UnknownName, "greedy"),
    ],
)
def test_wrong_values_are_named(given: dict[str, object], error: type[Exception], expected: str) -> None:
    with pytest.raises(error, match=expected):
        sl.solve(problem_of("cpsat"), **given)


def test_models_take_backends_alone() -> None:
    m = sl.Model("one")
    a = m.interval("a", size=3, start=(2, 9))
    m.minimize(a.end)
    assert sl.solve(m, "highs@pairwise").objective == sl.solve(m, backend="highs", lowering="pairwise").objective == 5
    assert sl.solve(m, sl.methods.CpSat(parameters={"num_workers": 1})).objective == 5
    for method, expected in (
        ("cpsat:pool", "no formulations"),
        ("lns", "solves problems"),
        ("cpsat+warm", "Assignment"),
    ):
        with pytest.raises(TypeError, match=expected):
            sl.solve(m, method)


def test_instances_and_their_names_are_solved_like_their_problems() -> None:
    instance = sl.load("eurora_99")
    objectives = {sl.solve(what, "first-solution:est").objective for what in (instance, instance.problem, "eurora_99")}
    assert len(objectives) == 1
    with pytest.raises(sl.SchedlabError, match="eurora_99"):
        sl.solve("eurora_98")
    with pytest.raises(TypeError, match="expected a Model, a problem, an Instance or its name"):
        sl.solve(3)


def test_a_start_with_a_time_limit_of_its_own() -> None:
    problem = sl.load("eurora_99").problem
    result = sl.solve(problem, "cpsat:pool+warm=lns/0.3s", time_limit=1, threads=1)
    assert result.warm_start.fate == "accepted"
    assert result.objective <= result.incumbents[0].objective


def test_every_option_has_a_value_above() -> None:
    assert set(OPTIONS) == set(VALUES)
    assert [c.name for c in all_classes() if issubclass(c, SolverMethod)] == ["cpsat", "highs", "cpo", "pyomo"]
    assert all(
        f.default is not None or "|" in str(f.type) for c in all_classes() for f in fields(c) if f.name in OPTIONS
    )


def test_a_start_has_at_most_half_of_the_time(request: pytest.FixtureRequest) -> None:
    """``+warm=relaxation-search`` used all of it."""
    tasks = [sl.Task.single("a", 2, {"m": 1}), sl.Task.single("b", 3, {"m": 1})]
    problem = sl.Project(tasks, [sl.Resource("m", 1)], [("a", "b")])  # the longest path proves the optimum
    limits: list[float | None] = []

    def recording(problem: sl.Project, request: Any) -> sl.Result:
        limits.append(request.time_limit)
        return sl.heuristics.multi_sgs(problem, on_incumbent=request.on_incumbent)

    mine = made(recording, kinds=("project",), backends=True, name="mine")
    HEURISTICS.register("mine", mine)
    request.addfinalizer(lambda: HEURISTICS.unregister("mine"))
    for start in ("mine", "mine/100s", "mine/3s"):
        for method in ("cpsat:modes", "multi-sgs", "auto"):
            sl.solve(problem, method, warm_start=start, time_limit=40)
    assert all(0 < limit <= 20 for limit in limits if limit is not None) and len(limits) == 9
    assert limits[-3:] == [3, 3, 3], "its own limit is shorter"
    limits.clear()
    sl.solve(problem, "multi-sgs", warm_start="mine@cpsat")
    assert limits == [60.0], "a start by a solver, in a call without a limit"


def test_a_solver_that_gives_nothing_says_so() -> None:
    m = sl.Model("jobs")
    jobs = [m.interval(f"j{k}", size=3 + k % 5, start=(0, 900)) for k in range(30)]
    m.add(sl.cumulative(jobs, [2 + k % 3 for k in range(30)], 5))
    m.minimize(sl.sum([j.end for j in jobs], weights=[1 + (k * 7) % 5 for k in range(30)]))
    start = sl.Assignment(m)
    for k, j in enumerate(jobs):
        start.set(j, 9 * k, 9 * k + 3 + k % 5)
    parameters = {"stop_after_presolve": True}
    kept = sl.solve(m, "cpsat", warm_start=start, parameters=parameters)
    assert kept.warm_start.returned and "without a better solution than the start" in kept.message
    none = sl.solve(m, "cpsat", parameters=parameters)
    assert none.status == "unknown" and "without a solution" in none.message


def test_a_start_is_the_answer_if_there_is_no_time_to_check_it_against_the_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def late(*_: object) -> None:
        raise OutOfTime("the time limit ended before the solver began")

    problem = sl.load("eurora_99").problem.at(43200, first=5)
    monkeypatch.setattr(sl.Model, "check", late)
    monkeypatch.setattr(CpSat, "compile", late)
    found = sl.solve(problem, "cpsat:counts+warm", time_limit=60)
    assert found.status == "feasible" and found.warm_start.returned and not problem.verify(found.schedule)


@pytest.mark.slow
def test_the_package_of_cp_optimizer_is_imported_before_the_clock() -> None:
    """Its import, 0.7 s, was a part of the first solve."""
    program = """
import sys
import schedlab as sl
from schedlab.methods.portfolio import warm_up
problem = sl.load("project_small").problem
warm_up(sl.methods.parse_method("cpo:modes", problem), problem)
print("docplex.cp.model" in sys.modules)
"""
    pytest.importorskip("docplex.cp.model")
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["True"]
