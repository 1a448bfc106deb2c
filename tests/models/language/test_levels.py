"""Levels over time: their value at each instant by hand, in ``check``, texts, JSON, and what refuses them."""

import pytest
import schedlab as sl
from schedlab.models.language import LevelFunction


@pytest.fixture
def m():
    return sl.Model("m", horizon=30)


def level_at(function, assignment, t):
    """Return the level at a time, straight from its definition."""
    total = sum(amount for time, amount in function.steps if time <= t)
    for edge, v, height in function.changes:
        value = assignment[v]
        if value.present:
            h = assignment.model.value(height, assignment)
            made = {"at_start": value.start <= t, "at_end": value.end <= t, "pulse": value.start <= t < value.end}
            total += h * made[edge]
    return total


def whole(m):
    """Return a level of all kinds of changes, and assignments."""
    a, b = m.interval("a", size=(0, 4)), m.interval("b", size=2, optional=True)
    x = m.integer("x", -2, 3)
    f = sl.step_at(2, 3) + sl.at_start(a, 2) - sl.at_end(b, x) + sl.pulse(a, -1) + sl.pulse(b, 2 * x + 1)
    answers = [
        sl.Assignment(m, {a: (s, s + size), x: value, **({} if t is None else {b: t})})
        for s in (0, 2, 5)
        for size in (0, 3)
        for t in (None, 0, 2, 4)
        for value in (-2, 0, 3)
    ]
    return f, a, answers


@pytest.mark.parametrize("bounds", [(None, 5), (-1, None), (0, 9)])
def test_bounds_at_all_times(m, bounds):
    f, _, answers = whole(m)
    m.add(sl.always_in(f, *bounds), "level")
    lo, hi = (-99 if bounds[0] is None else bounds[0]), (99 if bounds[1] is None else bounds[1])
    kept = 0
    for answer in answers:
        levels = [level_at(f, answer, t) for t in range(-1, 12)]
        worst = max(max(lo - x, x - hi, 0) for x in levels)
        assert [v.amount for v in m.check(answer)] == [worst] * bool(worst)
        kept += not worst
    assert 0 < kept < len(answers)


@pytest.mark.parametrize("window", [(0, 3), (2, 4), (-5, 40)])
def test_bounds_in_a_window(m, window):
    f, _, answers = whole(m)
    m.add(sl.always_in(f, 1, 4, window=window))
    for answer in answers:
        fits = all(1 <= level_at(f, answer, t) <= 4 for t in range(*window))
        assert (not m.check(answer)) == fits


def test_bounds_during_an_interval(m):
    f, a, answers = whole(m)
    m.add(sl.always_in(f, 2, 4, during=a))
    kept = 0
    for answer in answers:
        fits = all(2 <= level_at(f, answer, t) <= 4 for t in range(answer[a].start, answer[a].end))
        assert (not m.check(answer)) == fits
        kept += fits
    assert 0 < kept < len(answers)


def test_changes_at_one_instant_count_together(m):
    make, ship = m.interval("make", size=3), m.interval("ship", size=1)
    stock = sl.at_end(make, 5) - sl.at_start(ship, 5)
    m.add(stock >= 0, "stock")
    assert not m.check(sl.Assignment(m, {make: 0, ship: 3}))
    (fault,) = m.check(sl.Assignment(m, {make: 0, ship: 2}))
    assert fault == ("stock", 5, "stock: at 2 the level is -5, below 0")


def test_before_the_first_change_the_level_is_0(m):
    a = m.interval("a", size=3)
    m.add(sl.at_start(a, 4) >= 1, "always")
    (fault,) = m.check(sl.Assignment(m, {a: 0}))
    assert fault.message == "always: before the first change the level is 0, below 1"


def test_levels_are_added_subtracted_and_summed(m):
    a, b = m.interval("a", size=3), m.interval("b", size=3)
    f = sum(sl.pulse(v, 2) for v in (a, b)) - sl.step_at(3, 1) + sl.at_end(a, sl.max([1, 2]))
    assert isinstance(f, LevelFunction)
    assert f.changes == (("pulse", a, 2), ("pulse", b, 2), ("at_end", a, 2)) and f.steps == ((3, -1),)


@pytest.mark.parametrize(
    "mistake",
    [
        lambda a: sl.always_in(sl.pulse(a, 1)),
        lambda a: sl.always_in(sl.pulse(a, 1), 3, 2),
        lambda a: sl.always_in(a, 0, 2),
        lambda a: sl.always_in(sl.pulse(a, 1), 0, 2, window=(3, 3)),
        lambda a: sl.always_in(sl.pulse(a, 1), 0, 2, window=(0, 3), during=a),
        lambda a: sl.always_in(sl.pulse(a, 1), 0, 2, during=a.start),
        lambda a: sl.pulse(a.start, 2),
        lambda a: sl.pulse(a, 0.5),
        lambda a: sl.at_start(a, 0.5 * a.size),
        lambda a: sl.step_at(1.5, 2),
        lambda a: sl.pulse(a, 2) + 3,
        lambda a: sl.pulse(a, 2) - 3,
        lambda a: bool(sl.pulse(a, 2)),
        lambda a: 0 <= sl.pulse(a, 2) <= 3,
        lambda a: sl.always_in(sl.pulse(a, 2) + sl.pulse(sl.Model("other").interval("b", size=1), 2), hi=3),
        lambda a: sl.holds(sl.pulse(a, 2) <= 3),
    ],
)
def test_mistakes_are_refused(m, mistake):
    with pytest.raises(sl.ModelError):
        mistake(m.interval("a", size=3))


def test_json_listing_and_names(m):
    a, b = m.interval("a", size=3), m.interval("b", size=1)
    x = m.integer("x", 0, 2)
    m.add(sl.step_at(0, 2) + sl.at_end(a, 5) - sl.at_start(b, 2 * x) >= 0)
    m.add(sl.always_in(sl.pulse(a, sl.max([x, 1])), 1, 2, window=(4, 9)), "busy")
    m.add(sl.always_in(sl.pulse(a, 3), hi=2, during=b), "not at once")
    m.minimize(a.end)
    text = m.to_json()
    assert '"type": "level", "changes": [["at_end", 0, 5], ["at_start", 1, {"terms": [[-2, "integer", 0]]}]]' in text
    assert sl.Model.from_json(text).to_json() == text
    assert m.constraints[0].name == "level of a, b >= 0"
    for line in (
        "  level([(at_end, a, 5), (at_start, b, -2*x)], [(0, 2)], lo=0)",
        "  busy: level([(pulse, a, max(x, 1))], [], lo=1, hi=2, window=[4, 9])",
        "  not at once: level([(pulse, a, 3)], [], hi=2, during=b)",
    ):
        assert line in str(m).splitlines()
    with pytest.raises(sl.ModelError, match=r"changes\[0\]\[0\]: expected one of at_start, at_end, pulse"):
        sl.Model.from_json(text.replace('"at_end"', '"at_begin"'))


def test_the_horizon_is_derived_with_levels():
    m = sl.Model("m")
    jobs = [m.interval(f"j{k}", size=3) for k in range(3)]
    m.add(sl.step_at(50, 2) - sum(sl.pulse(v, 2) for v in jobs) >= 0)
    m.minimize(sl.max([v.end for v in jobs]))
    assert m.derived_horizon.proved and m.horizon >= 56
    assert sl.solve(m, backend="cpsat", time_limit=20).objective == 59


def test_many_levels_are_summed_as_expressions_are(m):
    v = [m.interval(f"v{k}", size=2 + k) for k in range(3)]
    x = m.integer("x", 0, 2)
    levels = [sl.pulse(v[0], 2), sl.step_at(0, 3), sl.at_end(v[1], x) - sl.at_start(v[2], 1)]
    total, added = sl.sum(levels), levels[0] + levels[1] + levels[2]
    assert (total.changes, total.steps) == (added.changes, added.steps)
    assert sl.sum(iter(levels)).steps == added.steps
    m.add(sl.sum([sl.pulse(a, 1) for a in v]) <= 1, "one at a time")
    m.minimize(sl.max([a.end for a in v]))
    assert sl.solve(m, backend="cpsat", time_limit=60).objective == 9
    for wrong, said in (
        (lambda: sl.sum([levels[0], 3]), "step_at(0, amount)"),
        (lambda: sl.sum([x, levels[0]]), "levels and"),
        (lambda: sl.sum(levels, weights=[1, 2, 3]), "give them as heights"),
    ):
        with pytest.raises(sl.ModelError) as raised:
            wrong()
        assert said in str(raised.value)
