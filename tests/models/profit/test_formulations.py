"""Profit on every backend: proven optima equal those of an enumeration; and a sample of ``known_profit``."""

from functools import cache

import pytest
import schedlab as sl
from draws import some_now
from schedlab.heuristics import RULES
from schedlab.models import Cooling, Dispatch, Job, NodeGroup, Platform, Profit, Queue, Schedule, StepFunction
from schedlab.models.profit import points_to
from small_profits import best_by_enumeration, cut, half_a_day, stand_in, tiny, usable

EXACT = ["cpsat:counts", "cpsat:units", "highs:counts@pairwise", "highs:counts@time-indexed", "cpo:counts"]
PROVERS = ["cpsat:counts", "highs:counts@pairwise"]


def solved(p: Profit, method: str, **options: object) -> sl.Result:
    """Return the result after a check that its schedule is feasible and has the objective that it reports."""
    r = sl.solve(p, method=usable(method), **{"time_limit": 60, "threads": 2, **options})
    assert r.schedule is not None and p.verify(r.schedule) == []
    assert r.objective == p.value(r.schedule)
    return r


@cache
def best_value(seed: int) -> float:
    """Return the optimum of a tiny problem by enumeration."""
    return best_by_enumeration(tiny(seed))


@pytest.mark.parametrize("method", EXACT)
@pytest.mark.parametrize("seed", some_now(range(6), 2))
def test_the_optimum_of_tiny_problems_is_the_best_by_enumeration(seed: int, method: str) -> None:
    r = solved(tiny(seed), method, threads=1)
    assert r.status == "optimal"
    assert r.objective == pytest.approx(best_value(seed), rel=1e-6, abs=1e-9)


@pytest.mark.slow
def test_three_solvers_prove_the_same_optimum_above_every_rule() -> None:
    p = half_a_day()
    assert (len(p.jobs), len(p.platform.nodes), len(p.segments)) == (12, 3, 3)
    best_rule = max(solved(p, f"rule:{name}").objective for name in RULES)
    for method in [*PROVERS, *(["cpo:counts"] if sl.backends.available()["cpo"].ok else [])]:
        r = solved(p, method)
        assert r.status == "optimal", method
        assert r.objective == pytest.approx(13.076200687, rel=1e-6)
        assert r.bound == pytest.approx(r.objective, rel=1e-6)
        assert r.objective > best_rule * 1.005


def test_highs_keeps_the_optimum_where_euro_per_second_are_small() -> None:
    """Before costs were scaled, HiGHS 1.14 lost 1 % of this optimum at a tight integrality tolerance."""
    r = solved(stand_in(12), "highs:counts@pairwise", threads=1, seed=1)
    assert r.status == "optimal"
    assert r.objective == pytest.approx(20.612868431757, rel=1e-6)


def test_grids_give_schedules_and_bounds() -> None:
    p = half_a_day()
    optimum = solved(p, "highs:counts@pairwise").objective
    fine = solved(p, "highs:counts@1800s", time_limit=60, gap_limit=0.05)
    assert 0.9 * optimum < fine.objective <= optimum * (1 + 1e-6)
    assert fine.bound is None and fine.exactness.kind == "restriction"
    for formulation, options in (("pool", {"side": "relax"}), ("pool", {"lowering": "energy", "integral": False})):
        model = p.formulations[formulation]().model
        relaxed = sl.solve(model, backend="highs", grid=1800, time_limit=20, threads=2, **options)
        assert relaxed.exactness.kind == "relaxation"
        assert optimum * (1 - 1e-9) <= relaxed.bound < 1.1 * optimum


@pytest.mark.parametrize("formulation", ["counts", "units", "classes", "pool"])
def test_a_schedule_is_a_solution_of_every_formulation_and_is_read_back(formulation: str) -> None:
    p = cut(20)
    schedule = solved(p, "multi-search").schedule
    encoding = p.formulations[formulation]()
    assignment = encoding.write(schedule)
    assert encoding.model.check(assignment) == []
    (objective,) = encoding.model.objectives
    assert encoding.model.value(objective, assignment) == pytest.approx(p.value(schedule), rel=1e-9)
    again = encoding.read(assignment)
    early = [i for i, s in schedule.start.items() if s < p.horizon_end]
    assert {i: again.start[i] for i in early} == {i: schedule.start[i] for i in early}
    assert set(again.start) == set(schedule.start)
    if not encoding.relaxation:
        assert p.verify(again) == []


def one_job(submit: int, walltime: int, until: int, deadline: int | None = None, **more: float) -> Profit:
    """Make a problem with a job of 10 cores and 100 W, and a job at ``until``; cooling takes half of the IT power."""
    jobs = [
        Job("only", submit, walltime, 1, {"cores": 10}, "q", deadline=deadline, power=100.0),
        Job("late", until, 10, 1, {"cores": 1}, "q", power=1.0),
    ]
    flat = Cooling("half", (0, 40), (0, 1000), ((0, 500), (0, 500)))
    machine = Platform([NodeGroup("n", 1, {"cores": 10})])
    given = {"price": 0.1, "energy_price": 0.5, **more}
    return Profit(
        Dispatch(machine, jobs, [Queue("q", 60)]), StepFunction.constant(20, 0, 10**6), flat, horizon_end=until, **given
    )  # type: ignore[arg-type]


@pytest.mark.parametrize("method", PROVERS)
def test_work_that_does_not_pay_waits_until_nothing_counts(method: str) -> None:
    p = one_job(0, 3600, 7200, price=0.001)
    r = solved(p, method)
    assert (r.status, r.objective) == ("optimal", 0)
    assert all(start >= 7200 for start in r.schedule.start.values())


@pytest.mark.parametrize("method", PROVERS)
def test_work_with_a_deadline_cannot_wait(method: str) -> None:
    p = one_job(0, 3600, 7200, deadline=4000, price=0.001)
    r = solved(p, method)
    assert r.status == "optimal"
    assert r.schedule.start["only"] <= 400
    assert r.objective == pytest.approx(0.001 * 10 - 0.5 * 0.15)


@pytest.mark.parametrize("method", PROVERS)
def test_energy_with_a_negative_price_is_earned_with_its_cooling(method: str) -> None:
    p = one_job(0, 3600, 7200, price=0.0, energy_price=StepFunction([0, 5000], [0.5, -0.5], 10**6))
    r = solved(p, method)
    assert r.status == "optimal"
    assert r.schedule.start["only"] == 5000
    assert r.objective == pytest.approx(0.5 * 0.15 * 2200 / 3600)


def test_jobs_that_are_left_out_follow_where_they_fit() -> None:
    p = cut(20)
    encoding = p.formulations["counts"]()
    nothing = sl.Assignment(encoding.model)
    schedule = encoding.read(nothing)
    assert p.verify(schedule) == []
    assert p.value(schedule) == 0
    assert min(schedule.start.values()) == p.horizon_end


def test_points_on_a_line_are_no_bends() -> None:
    p = one_job(0, 3600, 7200)
    bent = Cooling("bent", (0, 40), (0, 10, 20, 30, 1000), ((0, 1, 2, 5, 296),) * 2)
    (segment,) = p.replace(cooling=bent).segments
    assert points_to(p, segment) == [(0, 0), (20, 2), (1000, 296)]


def test_starts_of_a_relaxation_are_made_a_schedule() -> None:
    p = half_a_day()
    r = solved(p, "cpsat:classes", time_limit=5)
    assert isinstance(r.schedule, Schedule)
    assert r.bound >= r.objective * (1 - 1e-6)
