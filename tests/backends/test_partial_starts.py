"""Warm starts that give some of the variables, by variable or name, on every backend."""

from __future__ import annotations

from typing import Any

import pytest
import schedlab as sl
from schedlab.backends import backend
from schedlab.models.language import IntervalValue, ModelError

BACKENDS = ["pyomo", "cpsat", "highs", "cpo"]  # pyomo before docplex


def modes() -> tuple[sl.Model, dict[str, Any]]:
    """Two tasks with a fast and a slow machine each; the fast one is one machine. The best makespan is 5: 3 beside 5."""
    m = sl.Model("modes", horizon=20)
    known: dict[str, Any] = {}
    fast = []
    for name, slow in (("a", 6), ("b", 5)):
        task = known[name] = m.interval(name, size=(3, slow))
        options = [
            m.interval(f"{name} fast", size=3, optional=True),
            m.interval(f"{name} slow", size=slow, optional=True),
        ]
        known |= {v.name: v for v in options}
        fast.append(options[0])
        m.add(sl.alternative(task, options), f"machine of {name}")
    m.add(sl.no_overlap(fast), "fast machine")
    known["x"] = m.integer("x", 0, 5)
    m.add(known["x"] >= 2 * known["a fast"].presence, "x")
    m.minimize([sl.max([known["a"].end, known["b"].end]), known["x"]])
    return m, known


@pytest.mark.parametrize("name", BACKENDS)
def test_the_missing_values_are_found(name: str) -> None:
    if not backend(name).availability().ok:
        pytest.skip(f"{name} is not installed")
    m, v = modes()
    for start in (
        {"a fast": True},
        {v["a"]: 0, "x": 3},
        {"a": (1, 4), "b fast": None},
        {v["b slow"]: IntervalValue(True, 2, 7)},
    ):
        r = sl.solve(m, backend=name, warm_start=start, threads=1, time_limit=60)
        assert (r.status, r.objective) == ("optimal", (5, 2))
        assert r.warm_start.fate == "repaired" and "of 7 variables" in r.warm_start.reason, r.warm_start
    r = sl.solve(m, backend=name, warm_start={"a": (0, 3), "a slow": True}, threads=1, time_limit=60)
    assert r.warm_start.fate == "rejected" and "no solution of the model has the values" in r.warm_start.reason
    assert (r.status, r.objective) == ("optimal", (5, 2))


def test_a_dict_of_all_values_is_a_whole_start() -> None:
    m, v = modes()
    values = {"a": (0, 3), "b": (0, 5), "a fast": 0, "a slow": False, "b fast": None, "b slow": 0, v["x"]: 2}
    r = sl.solve(m, backend="cpsat", warm_start=values, threads=1)
    assert r.warm_start.fate == "accepted" and r.warm_start.returned and r.objective == (5, 2)


def test_wrong_keys_and_values_are_named() -> None:
    m, v = modes()
    for start, text in (
        ({"a fsat": 3}, "no variable 'a fsat' for the warm start; .*a fast"),
        ({v["a"]: 0, "a": 3}, "gives 'a' twice"),
        ({3: 3}, "a key of the warm start is 3"),
        ({"x": 2.5}, "the warm start of x must be a whole number, not 2.5"),
        ({"a": "now"}, "the warm start of a is 'now'; expected a start, a pair"),
        ({modes()[1]["a"]: 3}, "is not a variable of model"),
    ):
        with pytest.raises(ModelError, match=text):
            sl.solve(m, backend="cpsat", warm_start=start)
    m.interval("a", size=1)
    with pytest.raises(ModelError, match="has 2 variables 'a'; give the variable itself"):
        sl.solve(m, backend="cpsat", warm_start={"a": 0})
    with pytest.raises(TypeError, match="not a dict"):
        sl.solve("eurora_99", "multi-search", warm_start={"j01": 0})  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["cpsat", "highs"])
def test_the_missing_values_give_the_objective_a_value(name: str) -> None:
    """The objective is the entry of an array; without it, nothing keeps the index inside of the array."""
    m = sl.Model("m")
    x, y, z = m.integer("x", 0, 1), m.integer("y", 0, 9), m.integer("z", 0, 9)
    m.add(y + z >= 12, "both are large")
    m.minimize([x, sl.element([5, 4, 3, 2, 1], y - 3) + x])
    result = sl.solve(m, backend=name, warm_start={z: 9}, threads=1, seed=1, time_limit=60)
    assert (result.status, result.objective) == ("optimal", (0, 1))
    assert result.warm_start is not None
    assert result.warm_start.fate == "repaired"


def test_missing_values_without_a_value_of_the_objective_are_refused() -> None:
    m = sl.Model("m")
    x, y = m.integer("x", 0, 1), m.integer("y", 0, 9)
    m.minimize(sl.element([5, 4], y) + x)
    result = sl.solve(m, backend="cpsat", warm_start={y: 7}, threads=1, seed=1, time_limit=60)
    assert (result.status, result.objective) == ("optimal", 4)
    assert result.warm_start is not None
    assert (result.warm_start.fate, result.warm_start.reason) == (
        "rejected",
        "no solution of the model has the values of the partial start",
    )
