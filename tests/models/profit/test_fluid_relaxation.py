"""The fluid relaxation: every schedule is a solution of it, and its bounds are valid, for all cells and classes."""

import pytest
import schedlab as sl
from draws import some_now
from schedlab.models import Profit
from schedlab.models.profit.formulations import Fluid, encoding
from small_profits import SMALL, best_by_enumeration, cut, tiny

SIZES = [(1, 1), (10, 40), (40, 30_000)]


def bound(p: Profit, cells: int = 40, variables: int = 30_000) -> float:
    r = sl.solve(encoding(Fluid.made(p, cells, variables)).model, backend="highs", lowering="pairwise", integral=False)
    assert r.bound is not None
    return float(r.bound)


@pytest.mark.parametrize("seed", some_now(range(20), 7))
def test_no_schedule_is_better_than_the_bound(seed: int) -> None:
    p = tiny(seed)
    best = best_by_enumeration(p)
    for cells, variables in SIZES:
        assert bound(p, cells, variables) >= best - 1e-9


@pytest.mark.parametrize(("cells", "variables"), SIZES)
@pytest.mark.parametrize("scenario", ["air,summer,cheap", "hybrid,winter,expensive"])
def test_a_schedule_is_a_solution_of_the_same_profit_or_more(scenario: str, cells: int, variables: int) -> None:
    p = sl.load(SMALL).scenario(scenario)
    data = Fluid.made(p, cells, variables)
    relaxed = encoding(data)
    (objective,) = relaxed.model.objectives
    for rule in ("est", "wt-strict", "profit"):
        schedule = sl.solve(p, method=f"rule:{rule}").schedule
        assignment = relaxed.write(schedule)
        assert relaxed.model.check(assignment) == []
        value = relaxed.model.value(objective, assignment)
        assert value >= p.value(schedule) * (1 - 1e-9)
        if data.classes == len(data.jobs):
            assert value == pytest.approx(p.value(schedule), rel=1e-9)


def test_few_variables_merge_jobs_into_classes_and_keep_most_of_the_bound() -> None:
    p = sl.load(SMALL).problem
    assert isinstance(p, Profit)
    merged = Fluid.made(p, 20, 200)
    assert merged.classes < len(merged.jobs) == Fluid.made(p).classes
    assert 1 - 1e-9 <= bound(p, 20, 200) / bound(p) < 1.02


def test_cells_do_not_cross_segments() -> None:
    p = sl.load(SMALL).problem
    assert isinstance(p, Profit)
    assert {s.end for s in p.segments} <= set(Fluid.made(p, 1, 100).times.tolist())


@pytest.mark.slow
def test_the_linear_relaxation_bounds_and_orders() -> None:
    p = cut(12)
    r = sl.solve(p, method="highs:fluid@lp", time_limit=60, threads=1)
    assert r.exactness.kind == "relaxation"
    assert p.verify(r.schedule) == []
    optimum = 25.842870869
    assert 0.97 * optimum < r.objective <= optimum + 1e-6 <= r.bound < 1.02 * optimum


def test_a_problem_in_which_nothing_can_earn_is_worth_nothing() -> None:
    p = cut(12)
    late = p.replace(dispatch=p.dispatch.replace(jobs=[j for j in p.jobs if j.submit > 3600]), horizon_end=3600)
    assert bound(late) == pytest.approx(0, abs=1e-9)
