"""Without a horizon nothing is cut off: the derived horizon contains an optimal solution, or a backend asks for one."""

import pytest
import schedlab as sl
from draws import some_now
from random_horizons import differences
from schedlab.models.language import latest_without_end

BACKENDS = ["cpsat", "highs", "cpo"]


def model(*sizes):
    m = sl.Model("m")
    return m, *(m.interval(f"j{k}", size=size) for k, size in enumerate(sizes))


def late_start():
    m, a = model(3)
    m.add(a.start >= 50)
    m.minimize(a.end)
    return m, 53


def lag_as_comparison():
    m, a, b = model(3, 4)
    m.add(a.end + 100 <= b.start)
    m.minimize(b.end)
    return m, 107


def deviations():
    m, a, b = model(3, 4)
    m.add(sl.no_overlap([a, b]))
    m.minimize(sl.sum([sl.max([v.end - 40, 40 - v.end]) for v in (a, b)]))
    return m, 3


def capacity_that_opens():
    m, a = model(3)
    m.add(sl.cumulative([a], [1], [(0, 0), (10, 1)]))
    m.minimize(a.end)
    return m, 13


def several_windows():
    m = sl.Model("m")
    a, c = m.interval("a", 2, [(0, 0), (100, 110)]), m.interval("c", 2, 0)
    b = m.interval("b", 3)
    m.add(sl.no_overlap([a, c]))
    m.add(sl.end_before_start(a, b))
    m.minimize(b.end)
    return m, 105


def span():
    m, a, b = model(3, 4)
    m.add(sl.no_overlap([a, b]))
    m.minimize(sl.max([a.end, b.end]) - sl.min([a.start, b.start]))
    return m, 7


def later_than_two_others():
    m, a, b, c = model(1, 1, 1)
    m.add(a.start >= 7)
    m.add(b.start >= 2 * a.start + 3)
    m.add(c.start >= a.start + 3 * b.start)
    m.minimize(c.start + 0)
    return m, 58


def latest_start_before_a_deadline():
    m, a, b = model(3, 4)
    m.add(sl.end_before_start(a, b))
    m.add(b.end <= 500)
    m.maximize(a.start + 0)
    return m, 493


def element_of_a_start():
    m, a = model(3)
    m.minimize(sl.element([*range(300, 0, -1)], a.start))
    return m, 1


def piecewise_of_a_difference():
    m, a, b = model(3, 4)
    m.minimize(sl.piecewise(b.start - a.end, [(-5, 90), (200, 1), (300, 8)]))
    return m, 1


def late_overlap():
    m, a = model(3)
    m.add(sl.overlap(a, 70, 90) >= 2)
    m.minimize(a.start + 0)
    return m, 69


def implication():
    m, a, b = model(3, 4)
    m.add(sl.implies(b.start >= 0, a.start >= 150))
    m.minimize(a.end + b.end)
    return m, 157


CASES = [
    late_start,
    lag_as_comparison,
    deviations,
    capacity_that_opens,
    several_windows,
    span,
    later_than_two_others,
    latest_start_before_a_deadline,
    element_of_a_start,
    piecewise_of_a_difference,
    late_overlap,
    implication,
]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_optima_are_not_cut_off(case, backend):
    m, best = case()
    assert m.derived_horizon.proved
    r = sl.solve(m, backend=backend)
    assert (r.status, r.objective) == ("optimal", best)


@pytest.mark.parametrize("backend", ["cpsat", "cpo"])
def test_an_objective_without_end_is_called_unbounded(backend):
    m, a = model(3)
    m.maximize(a.end)
    r = sl.solve(m, backend=backend)
    assert (r.status, r.objective, r.bound) == ("unbounded", None, None)
    assert "j0" in r.message and "horizon=" in r.message


@pytest.mark.parametrize("backend", ["cpsat", "cpo"])
def test_a_makespan_that_is_maximized_by_mistake_is_unbounded(backend):
    m = sl.Model("without a horizon")
    a, b = m.interval("a", size=3), m.interval("b", size=4)
    m.add(sl.no_overlap([a, b]))
    m.add(a.start <= 99)
    m.maximize(sl.max([a.end, b.end]))
    r = sl.solve(m, backend=backend, threads=1, time_limit=60)  # CP-SAT went from second to second
    assert (r.status, r.objective, r.bound) == ("unbounded", None, None)
    assert "the later b starts" in r.message


def test_an_answer_whose_objective_has_no_value_later_shows_no_missing_end():
    m = sl.Model("prices")
    a, b = m.interval("a", size=3), m.interval("b", size=4)
    m.maximize(a.start + sl.piecewise(a.end - b.start, [(0, 0), (9, 5)]) - 2 * b.end)
    answer = sl.Assignment(m, {a: 4, b: 2})
    assert m.derived_horizon.endless and m.check(answer) == []
    assert latest_without_end(m, answer) is None


def test_a_bound_that_is_not_found_does_not_make_an_objective_unbounded():
    m, a = model(3)
    m.add(sl.min([2 * a.end, 100]) >= 2 * a.end)  # so a.end <= 50
    m.maximize(a.start + 0)
    r = sl.solve(m, backend="cpsat")
    assert not m.derived_horizon.proved and (r.status, r.objective) == ("optimal", 47)


def test_a_linear_lowering_asks_for_a_horizon():
    m, a = model(3)
    m.maximize(a.end)
    r = sl.solve(m, backend="highs")
    assert r.status == "unavailable" and "horizon=86400" in r.message and "without end" in r.message
    with pytest.raises(sl.SchedlabError, match="horizon"):
        sl.compile(m, "highs", grid=5)


def test_a_solution_beyond_the_derived_horizon_is_no_violation():
    m, a, b = model(3, 4)
    m.minimize(a.end + b.end)
    far = sl.Assignment(m, {a: 10**6, b: 0})
    assert m.horizon == 7 and m.check(far) == []
    r = sl.solve(m, backend="cpsat", warm_start=far, threads=1, seed=1)
    assert (r.status, r.objective, r.warm_start.fate == "rejected") == ("optimal", 7, False)
    assert m.check(sl.Assignment(m, {a: -1, b: 0})) != []


def test_the_horizon_follows_what_is_added():
    m, a, b = model(3, 4)
    assert m.horizon == 7
    m.add(a.start >= 50)
    assert m.horizon == 57
    m.minimize(sl.max([b.end - 900, 900 - b.end]))
    assert m.horizon > 900 and m.derived_horizon.proved


@pytest.mark.parametrize("seed", some_now(range(40), 12))
def test_random_models_answer_as_with_a_huge_horizon(seed):
    assert differences(seed, BACKENDS)[0] == []
