"""Formulations of third parties: registered for this process, or named as ``module:attribute``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import schedlab as sl
from schedlab.models import Encoding, Item, Knapsack, PluginError, ProjectMax, WrongAnswer
from schedlab.models.dispatch.formulations import counts
from schedlab.models.kind import FORMULATIONS, UnknownKind, all_formulations, encoding_of, fault_of_registered, find
from schedlab.models.profiles import Wish, profile_of
from small_profits import half_a_day

NODES = sl.Platform([sl.NodeGroup("n", 2, {"cores": 4})])
JOBS = [sl.Job(name, k, 10 + k, 1 + k % 2, {"cores": 3}, "q") for k, name in enumerate("abcd")]
PROBLEM = sl.Dispatch(NODES, JOBS, [sl.Queue("q", 60)], objective="waiting", now=5)
EXACT = "cpsat:counts"


def on_a_grid(problem: sl.Dispatch, step: int = 10) -> Encoding:
    """The formulation ``counts`` with starts on a grid: its optimum is not that of the problem."""
    exact = counts(problem)
    for job, v in zip(problem.jobs, exact.model.intervals, strict=False):
        cell = exact.model.integer(f"cell of {job.id}", 0, 100)
        exact.model.add(v.start == step * cell)
    return Encoding(exact.model, exact.read, exact.write, restriction=True)


@pytest.fixture(autouse=True)
def nothing_stays_registered() -> Iterator[None]:
    yield
    for name in list(FORMULATIONS):
        FORMULATIONS.unregister(name)


def test_a_registered_formulation_is_listed_called_and_solved() -> None:
    sl.register_formulation("dispatch", "mine", counts)
    assert list(PROBLEM.formulations)[-1] == "mine" and next(iter(PROBLEM.formulations)) == "counts"
    assert PROBLEM.formulations["mine"]().model.intervals
    assert repr(PROBLEM.formulations) == "Formulations(counts, units, classes, pool, mine)"
    mine = sl.solve(PROBLEM, method="cpsat:mine+warm", time_limit=10, threads=1)
    exact = sl.solve(PROBLEM, method=EXACT, time_limit=10, threads=1)
    assert mine.status == exact.status == "optimal" and mine.objective == exact.objective
    sl.register_formulation("dispatch", "mine", partial(on_a_grid, step=5))  # a cell of a notebook, run again
    assert sl.solve(PROBLEM, method="cpsat:mine", time_limit=10, threads=1).status == "feasible"
    assert "mine" not in all_formulations(sl.load("project_small").problem)


def test_a_restriction_proves_nothing_about_the_problem() -> None:
    sl.register_formulation("dispatch", "grid", on_a_grid)
    news: list[sl.Incumbent] = []
    grid = sl.solve(PROBLEM, method="cpsat:grid", time_limit=10, threads=1, on_incumbent=news.append)
    exact = sl.solve(PROBLEM, method=EXACT, time_limit=10, threads=1)
    assert grid.status == "feasible" and grid.bound is None and grid.violations == []
    assert grid.objective > exact.objective  # type: ignore[operator]
    assert grid.exactness.kind == "restriction" and grid.exactness.notes[0] == "formulation grid"
    assert news and all(each.bound is None for each in news)
    late = PROBLEM.replace(jobs=[sl.Job("a", 0, 10, 1, {"cores": 3}, "q", windows=((6, 9),))])
    assert sl.solve(late, method=EXACT, time_limit=10, threads=1).status == "optimal"
    none = sl.solve(late, method="cpsat:grid", time_limit=10, threads=1)
    assert none.status == "unknown" and none.conflict is None
    with pytest.raises(sl.WrongValue, match="the formulation grid is a restriction, and its lowering a relaxation"):
        sl.solve(PROBLEM, method="highs:grid@5s-relax", time_limit=10)
    encoding = counts(PROBLEM)
    with pytest.raises(sl.WrongValue, match="at most one of them"):
        Encoding(encoding.model, encoding.read, encoding.write, relaxation=True, restriction=True)


def test_an_explanation_does_not_use_it() -> None:
    def broken(problem: sl.Dispatch) -> Encoding:
        raise RuntimeError("never called")

    sl.register_formulation("dispatch", "broken", broken)
    impossible = PROBLEM.replace(jobs=[sl.Job("a", 0, 10, 1, {"cores": 3}, "q", deadline=12)])
    assert sl.explain(impossible, time_limit=10).status == "infeasible"
    with pytest.raises(
        PluginError, match=r"the formulation dispatch\.broken raised RuntimeError: never called \(test_formulations"
    ):
        sl.solve(PROBLEM, method="cpsat:broken", time_limit=5)


def test_wrong_uses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownKind, match="did you mean dispatch"):
        sl.register_formulation("dispach", "mine", counts)
    with pytest.raises(sl.WrongValue, match="letters, digits"):
        sl.register_formulation("dispatch", "my.own", counts)
    with pytest.raises(sl.WrongArgument, match="formulation of register_formulation"):
        sl.register_formulation("dispatch", "mine", 3)  # type: ignore[arg-type]
    sl.register_formulation("dispatch", "model", lambda p: sl.Model("m"))  # type: ignore[arg-type, return-value]
    with pytest.raises(WrongAnswer, match=r"expected Encoding\(model, read, write\)"):
        encoding_of(PROBLEM, "model")
    with pytest.raises(sl.UnknownName, match="there is no formulation of dispatch problems 'count' in 'cpsat:count'"):
        sl.solve(PROBLEM, method="cpsat:count")
    for kind, name in (("knapsack", "items"), ("project", "modes"), ("eviction", "serial"), ("dispatch", "counts")):
        with pytest.raises(sl.WrongValue, match=f"'{name}' belongs to {kind} problems; register yours under another"):
            sl.register_formulation(kind, name, counts)
    FORMULATIONS.register("knapsack.items", counts)  # without the function: found when a problem looks its names up
    with pytest.raises(sl.WrongValue, match="'items' belongs to knapsack problems; register yours under another name"):
        sl.solve(Knapsack([Item("a", 1, 1)], 2), method="cpsat:items")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "made.py").write_text("from schedlab.models.dispatch.formulations import counts as mine\nother = 3\n")
    assert sl.solve(PROBLEM, method="cpsat:made:mine+warm:num_workers=1", time_limit=10).status == "optimal"
    for text, told in {
        "cpsat:made:mina": "no object of the module made called 'mina'",
        "cpsat:nowhere:f": "no module nowhere is in the current folder or installed",
        "cpsat:made:other": "expected a function of a problem",
        "cpsat:made:mine:threads": "expected NAME=VALUE",
    }.items():
        with pytest.raises(sl.SchedlabError, match=told):
            sl.solve(PROBLEM, method=text)


@pytest.mark.parametrize(
    "problem",
    [
        PROBLEM,
        sl.Project([sl.Task.single("a", 3)], []),
        ProjectMax([sl.Task.single("a", 3)], []),
        Knapsack([Item("a", 1, 1)], 2),
        sl.load("theta_12").problem,
        sl.load("profit_medium").problem,
    ],
    ids=lambda problem: problem.kind,
)
def test_the_names_that_are_refused_are_those_of_the_problems(problem: sl.Problem) -> None:
    assert set(find(problem.kind).formulations) >= set(problem.formulations)


def test_the_text_of_a_method_names_it() -> None:
    text = "highs:my_module.inner:mine@900s+warm=lns/5s:mip_rel_gap=0.1"
    method = sl.methods.parse_method(text)
    assert isinstance(method, sl.methods.Highs) and method.formulation == "my_module.inner:mine"
    assert method.grid == 900 and method.text == text and sl.methods.parse_method(method.text) == method


def test_an_answer_of_a_restriction_is_never_worse_than_the_start() -> None:
    sl.register_formulation("dispatch", "grid", partial(on_a_grid, step=50))
    news: list[sl.Incumbent] = []
    r = sl.solve(PROBLEM, method="cpsat:grid+warm", time_limit=10, threads=1, on_incumbent=news.append)
    best = sl.solve(PROBLEM, method=EXACT, time_limit=10, threads=1)
    assert r.status == "feasible" and r.objective == best.objective and r.violations == []
    assert r.warm_start.returned and r.warm_start.fate == "rejected"
    assert r.message == "no answer of the restricted model is better than the start"
    values = [each.objective for each in news if each.objective is not None]
    assert values == sorted(values, reverse=True)  # type: ignore[type-var]
    assert r.incumbents[-1].objective == r.objective


@pytest.mark.parametrize("part", ["read", "write"])
def test_an_error_of_read_or_write_is_told_with_its_line(part: str) -> None:
    def broken(problem: sl.Dispatch) -> Encoding:
        made = counts(problem)
        functions = {"read": made.read, "write": made.write} | {part: lambda given: given.nothing}
        return Encoding(made.model, **functions)

    sl.register_formulation("dispatch", "broken", broken)
    start = sl.solve(PROBLEM, method="multi-search").schedule if part == "write" else None
    with pytest.raises(PluginError, match=rf"{part} raised AttributeError: .*nothing.*test_formulations.py, line"):
        sl.solve(PROBLEM, method="cpsat:broken", time_limit=10, warm_start=start)


@pytest.mark.parametrize(
    ("part", "broken", "said"),
    [
        (
            "read",
            lambda read, a: sl.models.Schedule({n: t + 0.5 for n, t in read(a).start.items()}),
            ".5; a whole number is expected",
        ),
        ("read", lambda read, a: sl.models.Schedule(read(a).start, {"a": {"n1": 0.5}}), "on 'n1' is 0.5"),
        ("read", lambda read, a: None, "returned None; expected a Schedule"),
        (
            "write",
            lambda write, s: sl.Assignment(write(s).model, dict.fromkeys(write(s).model.intervals, 0.5)),
            "not 0.5",
        ),
    ],
)
def test_fractional_and_other_wrong_values_name_the_formulation(part: str, broken: Any, said: str) -> None:
    def wrong(problem: sl.Dispatch) -> Encoding:
        made = counts(problem)
        functions = {"read": made.read, "write": made.write}
        return Encoding(made.model, **functions | {part: lambda given: broken(functions[part], given)})

    sl.register_formulation("dispatch", "wrong", wrong)
    start = sl.solve(PROBLEM, method="multi-search").schedule if part == "write" else None
    with pytest.raises(PluginError) as raised:
        sl.solve(PROBLEM, method="cpsat:wrong", time_limit=10, warm_start=start)
    assert str(raised.value).startswith(f"the formulation dispatch.wrong: {part}: ") and said in str(raised.value)


def _with_a_gap(problem: Any, name: str, delay: int, **arguments: int) -> Encoding:
    """Return a formulation in whose model b starts at least this long after the end of a."""
    encoding: Encoding = problem.formulations[name](**arguments)
    interval = {v.name: v for v in encoding.model.intervals}
    encoding.model.add(sl.end_before_start(interval["a"], interval["b"], delay=delay), "a gap")
    return encoding


PLAIN = sl.Project([sl.Task.single(name, 1, {"r": 1}) for name in "ab"], [sl.Resource("r", 2)])
WAITING = sl.Dispatch(NODES, [sl.Job(n, 0, 10, 1, {"cores": 1}, "q") for n in "ab"], [sl.Queue("q", 60)], "waiting")
LAGGED = ProjectMax(PLAIN.tasks, PLAIN.resources, PLAIN.precedences, lags=[("a", "b", 50)])


@pytest.mark.parametrize("problem", [PLAIN, LAGGED])
def test_a_wider_horizon_of_a_project_admits_an_added_constraint(problem: sl.Project) -> None:
    """The usual horizon suffices for the project alone: a gap of 5 is infeasible within it, and not beyond it."""
    assert problem.horizon == 2 and problem.verify(sl.models.Schedule({"a": 0, "b": 6})) == []
    assert sl.solve(_with_a_gap(problem, "modes", 5).model, "cpsat", threads=1).status == "infeasible"
    wider = _with_a_gap(problem, "modes", 5, horizon=10)
    result = sl.solve(wider.model, "cpsat", threads=1)
    assert (result.status, result.objective) == ("optimal", 7)
    assert wider.read(result.assignment).start == {"a": 0, "b": 6}


@pytest.mark.parametrize("name", ["counts", "units", "classes", "pool"])
def test_a_wider_horizon_of_jobs_admits_an_added_constraint(name: str) -> None:
    assert sl.solve(_with_a_gap(WAITING, name, 50).model, "cpsat", threads=1).status == "infeasible"
    wider = _with_a_gap(WAITING, name, 50, horizon=100)
    result = sl.solve(wider.model, "cpsat", threads=1)
    assert (result.status, result.objective) == ("optimal", 60)
    assert wider.read(result.assignment).start == {"a": 0, "b": 60}


def test_a_wider_horizon_counts_the_use_above_a_soft_profile_to_its_end() -> None:
    """Half of the cores is wished for, up to any time: what the second job uses above it costs also after the horizon."""
    profile = profile_of(NODES, [Wish(0, "cores", 1.0), Wish(400, "cores", 0.0)], None)
    soft = WAITING.replace(desired=profile, over_cost=3600.0)
    gap = soft.horizon + 100
    encoding = _with_a_gap(soft, "counts", gap, horizon=gap + 100)
    result = sl.solve(encoding.model, "cpsat", threads=1)
    schedule = encoding.read(result.assignment)
    assert soft.value(schedule) > soft.replace(desired=None, over_cost=None).value(schedule) == gap + 10
    assert result.objective == pytest.approx(soft.value(schedule))


def test_jobs_that_must_run_in_a_profit_problem_take_a_wider_horizon() -> None:
    """A deadline keeps both jobs in the problem; the second one starts after the usual horizon."""
    jobs = [sl.Job(n, 0, 10, 1, {"cores": 1}, "q", deadline=10**7, power=100.0) for n in "ab"]
    whole = half_a_day(2)
    problem = whole.replace(dispatch=sl.Dispatch(whole.platform, jobs, [sl.Queue("q", 60)]))
    gap = problem.horizon + 100
    assert sl.solve(_with_a_gap(problem, "counts", gap).model, "cpsat", threads=1).status == "infeasible"
    wider = _with_a_gap(problem, "counts", gap, horizon=gap + 100)
    schedule = wider.read(sl.solve(wider.model, "cpsat", threads=1).assignment)
    assert problem.verify(schedule) == [] and schedule.start["b"] >= schedule.start["a"] + 10 + gap


def test_explain_names_the_windows_that_an_added_constraint_meets() -> None:
    found = sl.explain(_with_a_gap(PLAIN, "modes", 5).model)
    assert found.message == (
        "this cannot hold: a gap; the horizon of the model is 2, and the start windows are a from 0 to 1, b from 0 to 1"
    )


def test_explain_names_windows_of_expressions_and_none_where_no_horizon_is_declared() -> None:
    encoding = PLAIN.formulations["modes"]()
    a, b = encoding.model.intervals
    encoding.model.add(b.start - a.start >= 5, "a gap")
    assert sl.explain(encoding.model).message.endswith("the start windows are b from 0 to 1, a from 0 to 1")
    model = sl.Model("plain")
    v = model.interval("v", size=1, start=(0, 3))
    model.add(v.start >= 4, "late")
    assert sl.explain(model).message == "this cannot hold: late"


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("dispatch.mine", ""),
        ("plain", "expected KIND.NAME"),
        ("nokind.x", "no problem kind 'nokind'"),
        ("project.a b", "is 'a b'"),
    ],
)
def test_names_of_entry_points_that_name_no_formulation(name: str, fault: str) -> None:
    said = fault_of_registered(name)
    assert fault in said and bool(said) == bool(fault)
