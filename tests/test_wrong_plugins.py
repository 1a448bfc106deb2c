"""Parts of third parties that return something else than their protocol says: an error of ours names part and value."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
import schedlab as sl
from made_heuristics import made
from schedlab.heuristics import HEURISTICS, Incumbents, answer
from schedlab.models import Encoding, PluginError, Schedule
from schedlab.models.dispatch.objectives import Excess, LastEnd, Late, Objective, register_objective
from schedlab.models.language import Violation


class Line:
    """Jobs on one machine, one after another, for the least sum of ends."""

    kind, sense = "line", "minimize"

    def __init__(self, sizes: dict[str, int]) -> None:
        self.sizes = sizes

    @property
    def formulations(self) -> Any:
        return {"intervals": self.intervals}

    def intervals(self) -> Encoding:
        m = sl.Model("line")
        jobs = {name: m.interval(name, size=size) for name, size in self.sizes.items()}
        m.add(sl.no_overlap(list(jobs.values())))
        m.minimize(sl.sum([v.end for v in jobs.values()]))
        return Encoding(
            m,
            lambda a: Schedule({name: a[v].start for name, v in jobs.items()}),
            lambda s: sl.Assignment(m, {v: s.start[name] for name, v in jobs.items()}),
        )

    def verify(self, schedule: Schedule) -> Any:
        return []

    def value(self, schedule: Schedule) -> Any:
        return sum(start + self.sizes[name] for name, start in schedule.start.items())

    def read(self, data: Any) -> Schedule:
        return Schedule.from_json(data)


def line(**changed: Any) -> Any:
    return type("Line", (Line,), changed)({"a": 3, "b": 5})


def formulation(returned: object) -> property:
    return property(lambda self: {"only": lambda: returned})


MODEL = sl.Model("m")

PROBLEMS: dict[str, tuple[dict[str, Any], str]] = {
    "kind": ({"kind": None}, "kind of the problem Line is None; expected a text"),
    "sense": ({"sense": "min"}, "sense of the problem Line is 'min'; did you mean minimize"),
    "formulations a list": ({"formulations": ["intervals"]}, r"formulations of the problem Line is \['intervals'\]; expected a"),
    "formulations a method": ({"formulations": lambda self: {}}, "expected a mapping {name: function}"),
    "no formulations": ({"formulations": {}}, "line problems have no formulations"),
    "a model": ({"formulations": formulation(MODEL)}, r"formulation 'only' .* returned Model.*; expected Encoding\(model"),
    "nothing": ({"formulations": formulation(None)}, "formulation 'only' of line problems returned None; expected an Enc"),
    "verify nothing": ({"verify": lambda self, s: None}, "verify of line problems returned None; expected a list"),
    "verify a text": ({"verify": lambda self, s: "wrong"}, "verify of line problems returned 'wrong'; expected a list"),
    "verify True": ({"verify": lambda self, s: True}, "verify of line problems returned True"),
    "verify numbers": ({"verify": lambda self, s: [3]}, "returned a list with 3; expected texts or Violation"),
    "no value": ({"value": lambda self, s: None}, "value of line problems returned None; expected a finite"),
    "value NaN": ({"value": lambda self, s: math.nan}, "returned nan; expected a finite number"),
    "value a text": ({"value": lambda self, s: "3"}, "returned '3'; expected a finite number"),
    "value a pair": ({"value": lambda self, s: (1, 2)}, r"returned \(1, 2\); expected a number.* one objective"),
    "read": ({"formulations": property(lambda self: {"i": lambda: Encoding(self.intervals().model, lambda a: {}, id)})},
             "read of the model 'line' returned {}; expected a Schedule"),
}  # fmt: skip


@pytest.mark.parametrize("case", PROBLEMS.values(), ids=PROBLEMS)
def test_a_problem_that_returns_something_else(case: tuple[dict[str, Any], str]) -> None:
    changed, words = case
    with pytest.raises(sl.SchedlabError, match=words):
        sl.solve(line(**changed), "cpsat", time_limit=5)


@pytest.mark.parametrize("broken", [["a starts too early"], [Violation("a", 3, "a starts too early")]])
def test_violations_are_texts_or_violations(broken: list[Any]) -> None:
    found = sl.solve(line(verify=lambda self, s: broken), "cpsat", time_limit=5)
    assert found.status == "error" and "a starts too early" in found.message


ENCODING = line().intervals()

ENCODINGS: dict[str, tuple[Callable[[], object], str]] = {
    "model": (lambda: Encoding("m", id, id), "model of Encoding is 'm'; expected a Model"),  # type: ignore[arg-type]
    "read": (lambda: Encoding(MODEL, None, id), "read of Encoding is None; expected a function"),  # type: ignore[arg-type]
    "relaxation": (lambda: Encoding(MODEL, id, id, 1), "relaxation of Encoding is 1; expected True"),  # type: ignore[arg-type]
    "read nothing": (lambda: ENCODING.read(None), "assignment of read is None; expected an Assignment"),  # type: ignore[arg-type]
    "read another model": (lambda: ENCODING.read(sl.Assignment(MODEL)), "one of model 'm'; expected one of 'line'"),
    "write a dict": (lambda: ENCODING.write({"a": 0}), "schedule of write is {'a': 0}; expected a Schedule"),  # type: ignore[arg-type]
    "write a part": (lambda: ENCODING.write(Schedule({"a": 0})), "'b' has no start in the schedule of write"),
}  # fmt: skip


@pytest.mark.parametrize("case", ENCODINGS.values(), ids=ENCODINGS)
def test_an_encoding_is_used_wrongly(case: tuple[Callable[[], object], str]) -> None:
    call, words = case
    with pytest.raises(sl.SchedlabError, match=words):
        call()


def test_the_encodings_of_schedlab_tell_it_too() -> None:
    encoding = sl.load("eurora_99").problem.at("12:00", first=3).formulations["counts"]()
    with pytest.raises(KeyError, match="'j01' has no start in the schedule of write"):
        encoding.write(Schedule({}))


def heuristic(run: Callable[..., object], **fields: Any) -> Callable[[], sl.Result]:
    def solve() -> sl.Result:
        HEURISTICS.register("of-a-test", made(run, **{"kinds": ("dispatch",)} | fields))
        try:
            return sl.solve(DAY, "of-a-test", time_limit=5)
        finally:
            HEURISTICS.unregister("of-a-test")

    return solve


DAY = sl.load("eurora_99").problem.at("12:00", first=4)
GOOD = sl.first_solution(DAY)


def right(problem: Any, request: Any) -> sl.Result:
    return answer(problem, GOOD)


def reports(*what: Any) -> Callable[[Any, Any], sl.Result]:
    def run(problem: Any, request: Any) -> sl.Result:
        seen = Incumbents(problem, "of-a-test")
        seen.report(*what)
        return seen.result(GOOD)

    return run


HEURISTIC_FIELDS: dict[str, tuple[dict[str, Any], str]] = {
    "arguments": ({"arguments": "10"}, "values of argument of the heuristic of-a-test is '10'; expected a list of texts"),
    "kinds": ({"kinds": "dispatch"}, "kinds of the heuristic of-a-test is 'dispatch'; expected a list of texts"),
    "no kinds": ({"kinds": None}, "kinds of the heuristic of-a-test is None"),
    "seeded": ({"seeded": "yes"}, "seeded of the heuristic of-a-test is 'yes'; expected True or False"),
}  # fmt: skip


@pytest.mark.parametrize("case", HEURISTIC_FIELDS.values(), ids=HEURISTIC_FIELDS)
def test_a_heuristic_with_wrong_fields_is_not_registered(case: tuple[dict[str, Any], str]) -> None:
    fields, words = case
    with pytest.raises(PluginError, match=words):
        heuristic(right, **fields)()
    assert sl.solve(DAY, "multi-search").status == "feasible"  # the others are not disturbed


def test_a_heuristic_without_a_method_run_is_not_registered() -> None:
    with pytest.raises(PluginError, match="run of the heuristic of-a-test is 3; expected a method of its own"):
        heuristic(3)()  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["a b", "a:b", "a@b", "a,b", "a+b", "a/b", "a=b", "a\n"])
def test_names_with_characters_of_the_texts_of_methods_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"the name of the heuristic is .*; expected letters, digits"):
        HEURISTICS.register(name, made(right))
    with pytest.raises(ValueError, match=r"the name of the objective is .*; expected letters, digits"):
        register_objective(Objective(name, "", costs, value))


HEURISTIC_RESULTS: dict[str, tuple[Callable[..., object], str]] = {
    "status": (lambda p, r: sl.Result("great", "", None), "returned a Result of status 'great'; expected one of optimal"),  # type: ignore[arg-type]
    "report NaN": (reports(math.nan, lambda: GOOD), "objective of report is nan; expected a finite number"),
    "report a text": (reports("3", lambda: GOOD), "objective of report is '3'; expected a finite number"),
    "report nothing": (reports(None), "objective of report is None; expected a finite number"),
    "report a schedule": (reports(3, GOOD), "schedule of report is Schedule.*; expected a function that returns it"),
}  # fmt: skip


@pytest.mark.parametrize("case", HEURISTIC_RESULTS.values(), ids=HEURISTIC_RESULTS)
def test_a_heuristic_that_returns_or_reports_something_else(case: tuple[Callable[..., object], str]) -> None:
    run, words = case
    with pytest.raises(PluginError, match=words):
        heuristic(run)()


def test_a_bound_that_the_answer_refutes_makes_an_error() -> None:
    def run(problem: Any, request: Any) -> sl.Result:
        return sl.Result("optimal", "", None, bound=1e9, schedule=GOOD)

    found = heuristic(run)()
    assert found.status == "error" and "1000000000" in found.message.replace(",", "")


@pytest.mark.parametrize("method", ["multi-search", "cpsat:counts"])
@pytest.mark.parametrize("answer", [False, np.bool_(False)])
def test_false_of_numpy_ends_a_call_too(method: str, answer: object) -> None:
    seen: list[sl.Incumbent] = []
    sl.solve(DAY, method, time_limit=10, on_incumbent=lambda news: (seen.append(news), answer)[1])
    assert sum(news.objective is not None for news in seen) == 1


def costs(problem: Any) -> Excess:
    return Excess([1] * len(problem.jobs))


def value(problem: Any, schedule: Schedule) -> int:
    return sum(schedule.start[job.id] - job.submit for job in problem.jobs)


def objective(costs: Any = costs, value: Any = value) -> float:
    register_objective(Objective("of-a-test", "", costs, value))
    found = sl.solve(DAY.replace(objective="of-a-test"), "multi-search").objective
    assert isinstance(found, (int, float))
    return found


N = len(DAY.jobs)

OBJECTIVES: dict[str, tuple[Callable[[], object], str]] = {
    "costs raise": (lambda: objective(lambda p: 1 / 0), "objective 'of-a-test': costs raised ZeroDivisionError: division"),
    "value raises": (lambda: objective(value=lambda p, s: 1 / 0), "objective 'of-a-test': value raised ZeroDivisionError"),
    "value KeyError": (lambda: objective(value=lambda p, s: {}["x"]), "objective 'of-a-test': value raised KeyError: 'x'"),
    "value arity": (lambda: objective(value=lambda p: 1), "value raised TypeError: .*takes 1 positional argument"),
    "weights texts": (lambda: Excess(["1"]), r"the weights of an objective are \['1'\]; expected a list of numbers, one"),
    "weights None": (lambda: Excess([None]), r"the weights of an objective are \[None\]; expected a list of numbers"),
    "weights a dict": (lambda: Excess({"a": 1}), "the weights of an objective are {'a': 1}; expected a list of numbers"),
    "weights ragged": (lambda: Excess([[1], [1, 2]]), "the weights of an objective are .*; expected a list of numbers"),
    "graces None": (lambda: Late([None]), r"the graces of an objective are \[None\]; expected a list of numbers"),
    "graces huge": (lambda: Late([10**30]), r"the graces of an objective are .*; a grace must be below 2\*\*63 s"),
    "ends a number": (lambda: LastEnd(3), "others of LastEnd is 3; expected a list of whole numbers"),  # type: ignore[arg-type]
    "no objective": (lambda: register_objective(costs), "objective of register_objective is .*; expected an Objective"),  # type: ignore[arg-type]
    "name": (lambda: register_objective(Objective(None, "", costs, value)), "name of Objective is None; expected a text"),  # type: ignore[arg-type]
    "costs": (lambda: register_objective(Objective("a", "", 3, value)), "costs of Objective is 3; expected a function"),  # type: ignore[arg-type]
    "sense": (lambda: register_objective(Objective("a", "", costs, value, "min")), "the sense is 'minimize' or 'maximize'"),  # type: ignore[arg-type]
    "ours": (lambda: register_objective(Objective("waiting", "", costs, value)), "the objective 'waiting' belongs to sched"),
}  # fmt: skip


@pytest.mark.parametrize("case", OBJECTIVES.values(), ids=OBJECTIVES)
def test_an_objective_that_is_something_else(case: tuple[Callable[[], object], str]) -> None:
    call, words = case
    with pytest.raises(sl.SchedlabError, match=words):
        call()


def test_weights_come_from_iterators_and_tables_and_a_cell_runs_again() -> None:
    expected = objective()
    for weights in ((1 for _ in range(N)), pd.Series([1] * N), [Fraction(1)] * N, [np.float64(1)] * N):
        assert objective(lambda p, w=tuple(weights): Excess(iter(w))) == expected
    assert Excess(w for w in [1, 2]).jobs == 2
