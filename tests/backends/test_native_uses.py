"""Native models in users' code: variables and answers that do not belong to the model are told, not read."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import schedlab as sl
from schedlab.backends import Availability, Exactness, Outcome, base, register
from schedlab.backends.decompositions import Construct
from schedlab.models import PluginError

BACKENDS = ("cpsat", "highs", "cpo")


@pytest.fixture(autouse=True)
def no_backend_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "_registered", {})


def two_jobs() -> tuple[sl.Model, sl.Interval, sl.models.language.Integer]:
    m = sl.Model("two jobs", horizon=30)
    a, b = m.interval("a", size=3), m.interval("b", size=4)
    x = m.integer("x", 0, 9)
    m.add(sl.no_overlap([a, b]))
    m.minimize(sl.max([a.end, b.end]) - x)
    return m, a, x


@pytest.mark.parametrize("backend", BACKENDS)
def test_only_variables_of_the_model_have_native_variables(backend: str) -> None:
    m, a, x = two_jobs()
    compiled: Any = sl.compile(m, backend)
    assert compiled.var(a) is not None and compiled.var(x) is not None
    for wrong in ("a", None, 3, a.start, x + 1):
        with pytest.raises(
            sl.ModelError, match=r"var\(.*expected an interval or an integer variable of model 'two jobs'"
        ):
            compiled.var(wrong)
    _, other, _ = two_jobs()
    with pytest.raises(sl.ModelError, match="a belongs to model 'two jobs'; the compiled model is"):
        compiled.var(other)


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_is_no_answer_is_told(backend: str) -> None:
    m, _, _ = two_jobs()
    compiled: Any = sl.compile(m, backend)
    with pytest.raises(TypeError, match="answer of assignment is None; expected "):
        compiled.assignment(None)
    for call in (compiled.hint, compiled.fix):
        with pytest.raises(TypeError, match=r"assignment of hint is {}; expected an Assignment"):
            call({})
        with pytest.raises(sl.ModelError, match="is one of model 'other'; the compiled model is 'two jobs'"):
            call(sl.Assignment(sl.Model("other")))


def test_an_answer_without_a_solution() -> None:
    from ortools.sat.python import cp_model

    m, _, _ = two_jobs()
    with pytest.raises(LookupError, match="the answer holds no solution"):
        sl.compile(m, "cpsat").assignment(cp_model.CpSolver())
    compiled: Any = sl.compile(m, "highs")
    columns = compiled.size["variables"]
    with pytest.raises(LookupError, match="the answer holds no solution"):
        compiled.assignment(compiled.native)  # not run
    with pytest.raises(LookupError, match="a column has no finite value"):
        compiled.assignment([math.nan] * columns)
    with pytest.raises(TypeError, match=rf"answer of assignment is \[0\]; expected .*values of {columns} columns"):
        compiled.assignment([0])
    assert compiled.assignment(np.zeros(columns + 2)) is not None  # columns that a user has added


@pytest.mark.parametrize("backend", ["highs", "pyomo"])
def test_a_misspelt_option_of_a_lowering_names_the_backend(backend: str) -> None:
    with pytest.raises(TypeError, match=f"compile for {backend} has no argument 'lowring'; did you mean lowering"):
        sl.compile(two_jobs()[0], backend, lowring="pairwise")


class Solver:
    """A backend that answers with the least values."""

    name, supports = "of-a-test", frozenset(Construct)

    def availability(self) -> Any:
        return Availability(self.name, "1.0")

    def compile(self, model: sl.Model) -> Any:
        return Solved(model)


class Solved:
    native, exactness = None, Exactness()

    def __init__(self, model: sl.Model) -> None:
        self.model, self.size = model, {"variables": 0, "constraints": 0, "nonzeros": 0}

    def var(self, x: Any) -> Any: ...
    def assignment(self, answer: Any) -> Any: ...
    def hint(self, assignment: Any) -> Any: ...
    def fix(self, assignment: Any) -> None: ...
    def conflict(self, time_limit: float | None = None) -> Any: ...

    def run(self, watch: Any, limits: Any, warm: Any = None) -> Any:
        watch.solution(sl.Assignment(self.model, dict.fromkeys(self.model.intervals, 0)))
        return Outcome("feasible")


def solved(compiled: dict[str, Any] | None = None, **changed: Any) -> sl.Result:
    made = type("Solved", (Solved,), compiled or {})
    register(type("Solver", (Solver,), {"compile": lambda self, model: made(model)} | changed)())
    m = sl.Model("one job")
    m.minimize(m.interval("a", size=3).end)
    return sl.solve(m, backend="of-a-test", time_limit=5)


def test_a_small_backend() -> None:
    assert solved().objective == 3


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "name": ({"name": None}, "name of the backend is None; expected a text"),
    "supports": ({"supports": "interval"}, "supports of the backend is 'interval'; expected a list of texts"),
    "obeys": ({"obeys": frozenset({"gap"})}, "obeys of the backend has 'gap'; expected 'deterministic_limit' or 'param"),
    "no check": ({"obeys": frozenset({"parameters"})}, "obeys 'parameters' and has no check_parameters"),
    "availability": ({"availability": lambda self: "1.0"}, "availability returned '1.0'; expected an Availability"),
    "compile": ({"compile": lambda self, model: None}, "compile returned 'NoneType', which has no native and no size"),
    "exactness": ({"compiled": {"exactness": None}}, "whose exactness is None; expected an Exactness"),
    "run nothing": ({"compiled": {"run": lambda *_: None}}, "run returned None; expected an Outcome"),
    "decomposed": ({"compiled": {"run": lambda *_: "ok"}, "supports": frozenset()}, "run returned 'ok'; expected an Out"),
    "status": ({"compiled": {"run": lambda *_: Outcome("great")}}, "run returned the status 'great'; expected one of optimal"),  # type: ignore[arg-type]
    "bound": ({"compiled": {"run": lambda *_: Outcome("unknown", "3")}}, "run returned the bound '3'; expected a number"),  # type: ignore[arg-type]
    "solution": ({"compiled": {"run": lambda self, watch, *_: watch.solution({})}}, "reported the solution {}; expected an A"),
    "other": (
        {"compiled": {"run": lambda self, watch, *_: watch.solution(sl.Assignment(sl.Model("m")))}},
        r"reported the solution Assignment\(\); expected an Assignment of Model\('one job'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG.values(), ids=WRONG)
def test_a_backend_that_returns_something_else(case: tuple[dict[str, Any], str]) -> None:
    changed, words = case
    with pytest.raises(PluginError, match=words):
        solved(**changed)


def test_a_class_in_place_of_a_backend() -> None:
    with pytest.raises(PluginError, match=r"a class; expected an object of it: Solver\(\)"):
        register(Solver)  # type: ignore[arg-type]
