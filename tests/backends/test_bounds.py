"""Bounds and ordered objectives: proofs, proofs near 0, bounds that a verified answer refutes, ranges of numbers."""

from __future__ import annotations

import random
from typing import Any

import pytest
import schedlab as sl
from schedlab.backends import Limits, Outcome, Result, close, driver, rounded, run
from schedlab.bench.records import outcome
from schedlab.bench.tables import ViewResults
from schedlab.models import Dispatch, Encoding, Job, NodeGroup, Platform, Queue

LOWERINGS: list[dict[str, Any]] = [
    {"lowering": "pairwise"},
    {"grid": 1, "side": "restrict"},
    {"grid": 1, "side": "relax"},
]


def near_zero(seed: int) -> sl.Model:
    """Return a model with two ordered objectives; the first has the optimum 0, but its bounds allow negative values."""
    rng = random.Random(seed)
    m = sl.Model(f"near zero {seed}", horizon=None if rng.random() < 0.5 else rng.randint(12, 25))
    jobs = [m.interval(f"i{k}", size=rng.randint(1, 5)) for k in range(rng.randint(2, 3))]
    m.add(sl.no_overlap(jobs))
    x = m.integer("x", 0, 9)
    m.minimize([sl.max([j.end - sum(i.size_lo for i in jobs) for j in jobs]), -x])
    return m


@pytest.mark.parametrize("options", LOWERINGS)
def test_highs_goes_on_to_later_objectives_where_the_first_optimum_is_0(options: dict[str, Any]) -> None:
    for seed in range(12):
        r = sl.solve(near_zero(seed), backend="highs", threads=1, **options)
        assert r.objective == (0, -9), seed
        if options.get("side") != "restrict":
            assert (r.status, r.gap) == ("optimal", (0.0, 0.0)), seed


def one_machine() -> sl.Model:
    m = sl.Model("gap")
    jobs = [m.interval(f"j{k}", size=3 + k % 3) for k in range(6)]
    m.add(sl.no_overlap(jobs))
    x = m.integer("x", 0, 9)
    m.minimize([sl.sum([j.end for j in jobs]), -x])
    return m


def test_a_stage_without_proof_is_named_and_the_next_one_follows() -> None:
    r = sl.solve(one_machine(), backend="cpsat", gap_limit=0.9, threads=1, seed=1)
    assert r.status == "feasible" and r.objective[1] == -9
    assert "no proof for objective 1 of 2" in r.message
    assert r.bound[1] is None  # it is true only for the value that the first objective reached


def test_a_stop_says_which_objectives_were_not_optimized() -> None:
    r = sl.solve(one_machine(), backend="highs", lowering="pairwise", threads=1, on_incumbent=lambda _: False)
    assert r.status == "feasible"
    assert "no proof for objective 1 of 2" in r.message and "the last 1 of 2 objectives was not optimized" in r.message


class Planted:
    """A backend that solves by CP-SAT, but reports a bound of its own."""

    name = "planted"
    bound: float | None = 1e9

    def availability(self) -> Any:
        return sl.backends.Availability(self.name, "1")

    def compile(self, model: sl.Model, **options: Any) -> Any:
        compiled = sl.compile(model, "cpsat")
        inner, bound = compiled.run, self.bound

        def lying(watch: Any, limits: Any, warm: Any = None) -> Outcome:
            found = inner(watch, limits, warm)
            return Outcome(found.status, bound, found.log, found.message, found.warm)

        compiled.run = lying  # type: ignore[method-assign]
        return compiled


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> type[Planted]:
    from schedlab.backends import base

    def find(name: str) -> Any:
        return Planted() if name == "planted" else base.backend(name)

    monkeypatch.setattr(driver, "find_backend", find)
    return Planted


def small() -> sl.Model:
    m = sl.Model("small")
    a, b = m.interval("a", size=3), m.interval("b", size=4)
    m.add(sl.no_overlap([a, b]))
    m.minimize(sl.max([a.end, b.end]))
    return m


def test_a_bound_that_the_answer_refutes_is_an_error_of_the_run(planted: type[Planted]) -> None:
    r = run(small(), "planted", Limits(20, 1))
    assert r.status == "error" and r.objective is None and r.bound is None and r.gap is None
    assert "the bound 1000000000.0 is false" in r.message and "objective 7" in r.message
    assert all(i.bound is None for i in r.incumbents)
    with pytest.raises(LookupError, match="error"):
        r[r.model.intervals[0]]


@pytest.fixture
def problem() -> Dispatch:
    platform = Platform([NodeGroup("n", 2, {"cores": 4})])
    jobs = [Job(f"j{k}", k, 10 + k, 1, {"cores": 3}, "q") for k in range(4)]
    return Dispatch(platform, jobs, [Queue("q", 60)], "weighted-wait")


def test_records_take_no_part_of_a_refuted_bound(problem: Dispatch) -> None:
    good = sl.solve(problem, method="multi-search")
    lying = Result("feasible", "mine", "1", good.objective, good.objective + 5, problem=problem, schedule=good.schedule)
    found = outcome(problem, lying)
    assert (found["status"], found["objective"], found["bound"]) == ("error", None, None)
    assert "is false" in found["message"] and found["verified"] is True


def test_a_bound_that_another_method_refutes_sets_no_gap() -> None:
    def record(method: str, objective: float | None, bound: float | None) -> dict[str, Any]:
        return {
            **{"method": method, "objective": objective, "bound": bound, "status": "feasible", "sense": "minimize"},
            **{"verified": objective is not None, "seed": 1, "kind": "project"},
        }

    results = ViewResults([record("lp", None, 90.0), record("wrong", None, 120.0), record("lns", 100.0, None)])
    assert results.bound is not None and results.bound["method"] == "lp"
    assert results.contradiction is not None and "wrong" in results.contradiction


@pytest.mark.parametrize(
    ("method", "who"),
    [
        ("cpsat:modes", "please report this"),
        ("cpsat:mine+warm", "mend the formulation 'mine', which is not of schedlab, or its bound"),
        ("no-such-search", "mend the method 'no-such-search', which is not of schedlab, or its bound"),
    ],
)
def test_a_refuted_bound_says_who_mends_it(method: str, who: str) -> None:
    common = {"status": "feasible", "sense": "minimize", "seed": 1, "kind": "project"}
    bad = {**common, "method": method, "objective": None, "bound": 120.0, "verified": False}
    good = {**common, "method": "lns", "objective": 100.0, "bound": None, "verified": True}
    contradiction = ViewResults([bad, good]).contradiction
    assert contradiction is not None and contradiction.endswith(who)


@pytest.mark.parametrize("solver", ["cpsat", "highs"])
def test_an_exact_formulation_whose_answer_is_no_schedule_is_an_error(
    problem: Dispatch, solver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The formulation lacks its capacities: all jobs start at once."""
    right = type(problem).formulations.fget(problem)["counts"]  # type: ignore[attr-defined]

    def broken() -> Encoding:
        encoding = right()
        encoding.model.constraints = [c for c in encoding.model.constraints if not isinstance(c.constraint, CAPACITIES)]
        return encoding

    monkeypatch.setattr(type(problem), "formulations", property(lambda self: {"counts": broken}))
    r = sl.solve(problem, method=f"{solver}:counts", time_limit=20, threads=1)
    assert r.status == "error" and "the formulation's answer is no schedule of the problem" in r.message
    assert r.objective is None and r.bound is None
    found = outcome(problem, r)
    assert (found["status"], found["objective"]) == ("error", None)


CAPACITIES = (type(sl.cumulative([sl.Model("c").interval("a", 1)], [1], 1)),)


class TestRanges:
    """Models with larger numbers than a solver computes exactly are refused; models with ordinary numbers are not."""

    def product(self, coefficient: int, value: int) -> sl.Model:
        m = sl.Model("product")
        x, y = m.integer("x", value, value + 3), m.integer("y", 0, 3)
        m.add(coefficient * x + coefficient * y == coefficient * (value + 2), "sum")
        m.minimize(x)
        return m

    @pytest.mark.parametrize("backend", ["cpsat", "highs", "cpo"])
    @pytest.mark.parametrize(("coefficient", "value"), [(1, 1), (10**6, 10**6), (10**9, 10), (10, 10**9)])
    def test_large_numbers_within_them(self, backend: str, coefficient: int, value: int) -> None:
        r = sl.solve(self.product(coefficient, value), backend=backend, threads=1, time_limit=20)
        assert (r.status, r.objective) == ("optimal", value)

    @pytest.mark.parametrize(
        ("backend", "coefficient", "value"),
        [
            ("cpo", 2 * 10**9, 10**9),  # the engine calls this infeasible
            ("highs", 1, 10**10),  # HiGHS does not end
            ("cpsat", 10**12, 10**12),
        ],
    )
    def test_beyond_them(self, backend: str, coefficient: int, value: int) -> None:
        r = sl.solve(self.product(coefficient, value), backend=backend, threads=1, time_limit=20)
        assert r.status == "unavailable" and r.objective is None
        assert any(name in r.message for name in ("sum: ", "x: ", "'product'"))

    def test_a_common_divisor_is_not_beyond_them(self) -> None:
        m = self.product(10**16, 1)
        assert sl.solve(m, backend="highs", threads=1).objective == 1
        x, y = m.integers
        m.add(10**16 * x + (10**16 + 1) * y >= 5, "no divisor")
        r = sl.solve(m, backend="highs", threads=1)
        assert r.status == "unavailable" and r.message.startswith("no divisor: ")

    def test_a_big_m_that_a_tolerance_swallows(self) -> None:
        m = sl.Model("years in seconds")
        jobs = [m.interval(f"j{k}", 10, (0, 10**9)) for k in range(3)]
        m.add(sl.no_overlap(jobs), "one after another")
        r = sl.solve(m, backend="highs", lowering="pairwise", threads=1)
        assert r.status == "unavailable" and r.message.startswith("one after another: ")


def test_bounds_on_whole_numbers_are_rounded() -> None:
    assert rounded(-1e-6, 1) == 0.0 and rounded(3.2, 1) == 4.0 and rounded(3.2, -1) == 3.0
    assert rounded(5.00005, 1) == 5.0 and rounded(4.99995, -1) == 5.0  # noise
    assert rounded(10**9 + 0.5, 1) == 10**9 + 0.5  # unchanged: its floating-point error may reach whole numbers


def test_real_objectives_near_0_are_proven_in_their_own_unit() -> None:
    assert close(0.0, -1e-6) and not close(0.0, -1e-6, unit=1e-3)
    assert close(1e9, 1e9 + 500) and not close(1e9, 1e9 + 5000)


@pytest.mark.parametrize("backend", ["cpsat", "highs", "cpo"])
def test_an_infeasible_model_has_no_bound(backend):
    for count in (1, 2):
        m = sl.Model("infeasible", horizon=9)
        a, b = m.interval("a", 3), m.interval("b", 4)
        m.add(sl.no_overlap([a, b]))
        m.add(a.end + b.end <= 9)
        m.minimize([sl.max([a.end, b.end]), a.start][:count])
        r = sl.solve(m, backend=backend)
        assert (r.status, r.bound) == ("infeasible", None if count == 1 else (None, None))
