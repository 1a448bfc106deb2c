"""Each decomposition against enumeration, and a backend of a third party that has only linear comparisons."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import schedlab as sl
from draws import some_now
from schedlab.backends import Conflict, Limits, base, register, run
from schedlab.backends.conformance import Truth, brute_force, random_model
from schedlab.backends.conformance import run as conformance
from schedlab.backends.conformance.agreement import Keeper
from schedlab.backends.decompositions import ALL, Chain, Construct, constructs_of, decompose, linear_model

LIMITS = Limits(time=20, threads=1)
MODELS = 25
WHOLE_MODEL = {Construct.INTERVAL, Construct.VARIABLE_SIZE}  # without these, the whole model becomes linear


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The class of the backend in docs/reference/own_backend.md, which is registered as "small"."""
    monkeypatch.setattr(base, "_registered", {})
    page = (Path(sl.__file__).parent / "docs" / "reference" / "own_backend.md").read_text(encoding="utf-8")
    (block,) = (b for b in re.findall(r"^```python\n(.*?)^```", page, flags=re.M | re.S) if "class Small:" in b)
    space: dict[str, Any] = {"__name__": "page"}
    exec(block, space)
    yield space["Small"]


@cache
def constructs_of_seed(seed: int) -> frozenset[Construct]:
    """Return the constructs of the random model of a seed."""
    return constructs_of(random_model(seed).model)


@cache
def one_objective(seed: int) -> tuple[sl.Model, Truth]:
    """Return the random model of a seed with its first objective alone, and its optimum by enumeration."""
    m = random_model(seed).model
    m.objectives = m.objectives[:1]
    return m, brute_force(m)


def agree(m: sl.Model, truth: Truth, made: Chain) -> None:
    """Check that a decomposed model has the optimum of the original, that solutions fit both, and the bound."""
    r = run(made.model, "cpsat", LIMITS)
    assert r.status == ("optimal" if truth.feasible else "infeasible")
    if not truth.feasible:
        return
    assert made.model.check(made.forward(truth.best)) == []
    again, best = made.back(made.forward(truth.best)), truth.best
    assert (again.start, again.end, again.present, again.integer) == (best.start, best.end, best.present, best.integer)
    answer = made.back(r.assignment)
    assert m.check(answer) == []
    if m.objectives:
        assert m.value(m.objectives[0], answer) == pytest.approx(truth.objectives[0], abs=1e-6)
        assert made.bound(r.bound) == pytest.approx(truth.objectives[0], abs=1e-6)


@pytest.mark.parametrize("first", some_now([1, 26], 1))
def test_a_backend_with_linear_comparisons_alone_agrees_with_enumeration(small: Any, first: int) -> None:
    decided = 0
    for case in conformance.cases(MODELS, first, ["small"], LIMITS):
        for verdict in case.verdicts:
            assert verdict.wrong == (), f"seed {case.seed}, {verdict.check}"
            decided += verdict.decided and verdict.check == "solve"
    assert decided >= 0.98 * MODELS


@pytest.mark.parametrize("containing", some_now([7, 20], 1))  # random models that are decomposed for each construct
@pytest.mark.parametrize("construct", sorted(ALL - WHOLE_MODEL))
def test_without_a_construct_a_model_has_the_same_optimum(construct: Construct, containing: int) -> None:
    count = seed = 0
    while count < containing:
        seed += 1
        if construct in constructs_of_seed(seed):
            m, truth = one_objective(seed)
            if construct in constructs_of(m):
                count += 1
                made = decompose(m, construct)
                assert construct not in constructs_of(made.model)
                agree(m, truth, made)


@pytest.mark.parametrize("seed", some_now(range(1, 61), 20))
def test_some_constructs_are_enough_for_every_model(seed: int) -> None:
    rng = random.Random(seed)
    share = rng.choice([0.3, 0.6, 0.9])
    supports = frozenset(c for c in sorted(ALL) if rng.random() < share)
    m, truth = one_objective(seed)
    made = Chain(m, supports)
    assert constructs_of(made.model) <= supports
    agree(m, truth, made)


@pytest.mark.parametrize("seeds", some_now([range(1, 21), range(21, 41)], 1))
@pytest.mark.parametrize("supports", [frozenset(), frozenset([Construct.REAL])])
def test_a_linear_model_has_whole_coefficients_where_the_model_has_them(
    supports: frozenset[Construct], seeds: range
) -> None:
    for seed in seeds:
        m, truth = one_objective(seed)
        made = Chain(m, supports)
        assert not made.model.intervals and constructs_of(made.model) <= supports & constructs_of(m)
        agree(m, truth, made)


def two_jobs() -> tuple[sl.Model, sl.Interval, sl.Interval, Any]:
    m = sl.Model("two jobs", horizon=12)
    a, b = m.interval("a", size=3), m.interval("b", size=(2, 4), optional=True)
    x = m.integer("x", 0, 3)
    m.add(sl.no_overlap([a, b]), "one at a time")
    m.add(b.size + x >= 5, "work")
    m.minimize(sl.max([a.end, b.end]) + x - 2.5 * b.presence)
    return m, a, b, x


def test_a_result_says_what_was_replaced(small: Any) -> None:
    m, _, _, _ = two_jobs()
    r = sl.solve(m, backend="small", time_limit=10)
    assert (r.status, r.objective, r.bound) == ("optimal", 5.5, 5.5)
    (note,) = [n for n in r.exactness.notes if "decomposed" in n]
    for construct in ("interval", "no_overlap", "max", "optional interval", "real coefficients"):
        assert construct in note
    assert not any("decomposed" in n for n in sl.solve(m, backend="cpsat", time_limit=10).exactness.notes)


def test_native_variables_of_a_decomposed_model_take_constraints(small: Any) -> None:
    m, a, b, x = two_jobs()
    compiled = sl.compile(m, "small")
    assert set(compiled.var(a)) == {"start"} and set(compiled.var(b)) == {"presence", "start", "size"}
    compiled.native.add(compiled.var(b)["start"] >= 7)
    compiled.native.add(compiled.var(x) == 1)
    keeper = Keeper(m)
    compiled.run(keeper, LIMITS)
    found = keeper.last
    assert found is not None and m.check(found) == []
    assert found[b].start == 7 and found[x] == 1


def test_an_optional_interval_becomes_an_interval_and_a_presence() -> None:
    m, a, b, _ = two_jobs()
    made = decompose(m, Construct.OPTIONAL)
    assert made.variables(a).name == "a"  # type: ignore[union-attr]
    assert {k: v.name for k, v in made.variables(b).items()} == {"interval": "b", "presence": "b is present"}  # type: ignore[union-attr]


def test_a_start_that_violates_the_model_becomes_a_hint(small: Any) -> None:
    m, a, b, x = two_jobs()
    y = m.integer("y", 0, 9)
    m.add(sl.element([4, 5], y) + sl.piecewise(0.5 * y, [(0, 0), (1, 3)]) <= 9)
    start = sl.Assignment(m, {a: 0, b: (1, 3), x: 0, y: 7})  # they overlap, and y is outside of the array
    r = sl.solve(m, backend="small", time_limit=10, warm_start=start)
    assert (r.status, r.warm_start.fate) == ("optimal", "rejected")
    r = sl.solve(m, backend="small", time_limit=10, warm_start=r.assignment)
    assert (r.status, r.warm_start.fate) == ("optimal", "accepted")


def test_conflicts_have_the_names_of_the_original(small: Any) -> None:
    m = sl.Model("too tight", horizon=3)
    a, b = m.interval("a", size=3), m.interval("b", size=3)
    m.add(sl.no_overlap([a, b]), "one at a time")
    m.add(a.start >= 2, "late")
    compiled = sl.compile(m, "small")
    compiled.inner.conflict = lambda limit: Conflict(("domains", "one at a time", "one at a time"), "")  # type: ignore[attr-defined]
    assert compiled.conflict().names == ("one at a time",)


def test_coefficients_that_cannot_be_scaled_are_refused(small: Any) -> None:
    m = sl.Model("irrational")
    x, y = m.integer("x", 0, 10**8), m.integer("y", 0, 10**8)
    m.add(2**0.5 * x - 3**0.5 * y <= 0.5)
    r = sl.solve(m, backend="small", time_limit=10)
    assert r.status == "unavailable" and "cannot be scaled" in r.message


def test_an_objective_that_is_rounded_has_a_true_bound(small: Any) -> None:
    m = sl.Model("irrational")
    x, y = m.integer("x", 3, 10**6), m.integer("y", 0, 10**6)
    m.add(x + y >= 5)
    m.minimize(2**0.5 * x + 3**0.5 * y + 1)
    r = sl.solve(m, backend="small", time_limit=10)
    best = 5 * 2**0.5 + 1
    assert r.objective == pytest.approx(best)
    assert best - 1e-3 < r.bound < best
    assert any("the objective is rounded" in n for n in r.exactness.notes)


def test_a_model_that_is_too_large_is_refused_before_it_is_built(small: Any) -> None:
    m = sl.Model("large", horizon=10**6)
    m.add(sl.no_overlap([m.interval(f"j{k}", size=5) for k in range(2000)]))
    with pytest.raises(sl.backends.LoweringTooLarge, match="a backend that has interval variables"):
        linear_model(m)


def test_numbers_beyond_double_precision_are_refused(small: Any) -> None:
    m = sl.Model("large numbers", horizon=10**9)
    m.add(10**12 * m.interval("a", size=3).start <= 10**20)
    r = sl.solve(m, backend="small", time_limit=10)
    assert r.status == "unavailable" and "double precision" in r.message


def test_a_name_of_schedlab_cannot_be_registered(small: Any) -> None:
    taken = type("Taken", (small,), {"name": "cpsat"})
    with pytest.raises(ValueError, match="cpsat"):
        register(taken())


@pytest.mark.parametrize("present", [True, False])
def test_the_digits_of_a_demand_sum_up_to_it_while_an_optional_interval_runs(present: bool) -> None:
    m = sl.Model("units", horizon=9)
    a, b = m.interval("a", size=3, start=0, optional=True), m.interval("b", size=3, start=1)
    units = m.integer("units", 1, 6)
    m.add(sl.cumulative([a, b], [units, 2], 5))
    m.add(a.presence == int(present))
    m.maximize(units)
    truth = brute_force(m)
    assert truth.objectives == ((3,) if present else (6,))
    agree(m, truth, decompose(m, Construct.VARIABLE_DEMAND))


def test_a_scaled_comparison_has_the_same_solutions() -> None:
    m = sl.Model("scaled")
    x, y = m.integer("x", 0, 9), m.integer("y", 0, 9)
    m.add(0.1 * x <= 0.35)
    m.add(x / 3 + y / 7 >= 1.1)
    m.add(0.1 * x + 0.2 * y == 1.1)
    made = decompose(m, Construct.REAL).model
    every = [(a, b) for a in range(10) for b in range(10)]
    allowed = [p for p in every if not m.check(sl.Assignment(m, dict(zip(m.integers, p, strict=True))))]
    assert [
        p for p in every if not made.check(sl.Assignment(made, dict(zip(made.integers, p, strict=True))))
    ] == allowed
    assert allowed == [(3, 4)]
