"""Numbers that no solver can compute with are refused with a sentence: where they are declared, or where a backend begins."""

import fractions

import pytest
import schedlab as sl

DECLARATIONS = {
    "size": lambda m, a, b, x, v: m.interval("c", v),
    "sizes": lambda m, a, b, x, v: m.interval("c", (0, v)),
    "start": lambda m, a, b, x, v: m.interval("c", 1, v),
    "window": lambda m, a, b, x, v: m.interval("c", 1, (0, v)),
    "integer": lambda m, a, b, x, v: m.integer("y", 0, v),
    "coefficient": lambda m, a, b, x, v: m.minimize(v * a.end),
    "constant": lambda m, a, b, x, v: m.minimize(a.end + v),
    "divisor": lambda m, a, b, x, v: m.minimize(a.end / v),
    "weights": lambda m, a, b, x, v: m.minimize(sl.sum([a.end, x], [1, v])),
    "bound": lambda m, a, b, x, v: m.add(a.end <= v),
    "row": lambda m, a, b, x, v: m.add(v * a.start + x <= 7),
    "demand": lambda m, a, b, x, v: m.add(sl.cumulative([a], [v], 3)),
    "capacity": lambda m, a, b, x, v: m.add(sl.cumulative([a], [1], v)),
    "step": lambda m, a, b, x, v: m.add(sl.cumulative([a], [1], [(0, 1), (v, 2)])),
    "transition": lambda m, a, b, x, v: m.add(sl.no_overlap([a, b], [[0, v], [1, 0]])),
    "delay": lambda m, a, b, x, v: m.add(sl.end_before_start(a, b, v)),
    "at_most": lambda m, a, b, x, v: m.add(sl.end_before_start(a, b, -9, at_most=v)),
    "forbidden": lambda m, a, b, x, v: m.add(sl.forbid_extent(a, (3, v))),
    "overlap": lambda m, a, b, x, v: m.minimize(sl.overlap(a, 2, v)),
    "element": lambda m, a, b, x, v: m.minimize(sl.element([1, v], x)),
    "point": lambda m, a, b, x, v: m.minimize(sl.piecewise(x, [(0, 1), (v, 2)])),
    "height": lambda m, a, b, x, v: m.minimize(sl.piecewise(x, [(0, 1), (9, v)])),
    "max": lambda m, a, b, x, v: m.minimize(sl.max([a.end, v])),
    "holds": lambda m, a, b, x, v: m.minimize(sl.holds(a.end >= v)),
    "count": lambda m, a, b, x, v: m.add(sl.alternative(a, [b], count=v)),
    "horizon": lambda m, a, b, x, v: sl.Model("m", horizon=v),
}


def declare(name, value):
    m = sl.Model("m")
    a, b, x = m.interval("a", 3, (0, 20)), m.interval("b", 2, (0, 20), optional=True), m.integer("x", 0, 5)
    DECLARATIONS[name](m, a, b, x, value)
    if not m.objectives:
        m.minimize(a.end)
    return m


@pytest.mark.parametrize(
    "value", [10**400, fractions.Fraction(10**400, 3), 1e308, float("nan"), float("inf")], ids=repr
)
@pytest.mark.parametrize("name", DECLARATIONS)
def test_they_are_refused_where_they_are_declared(name, value):
    with pytest.raises(sl.SchedlabError, match=r"beyond 1e100|finite|whole"):
        declare(name, value)


@pytest.mark.parametrize("value", [10**19, 10**99])
@pytest.mark.parametrize("name", DECLARATIONS)
@pytest.mark.parametrize("backend", ["cpsat", "highs", "cpo"])
def test_smaller_ones_are_solved_or_refused_by_each_backend(name, value, backend):
    r = sl.solve(declare(name, value), backend=backend, time_limit=10)
    assert r.status in ("optimal", "feasible", "infeasible", "unavailable")
    assert r.message or r.status != "unavailable"
