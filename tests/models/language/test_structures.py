"""Calendars and structures in the language: meaning, names, JSON, horizons, wrong uses."""

from __future__ import annotations

import random

import pytest
import schedlab as sl
from schedlab.backends.conformance import RandomStructures, brute_force
from schedlab.models.language import Assignment, Intensity, Interval, ModelError
from schedlab.models.language.calendars import lengths


def shop() -> tuple[sl.Model, Interval, Interval, Interval, sl.Integer]:
    m = sl.Model("m", horizon=30)
    a = m.interval("a", size=(0, 20))
    b, c = (m.interval(name, size=(1, 4), optional=True) for name in "bc")
    return m, a, b, c, m.integer("x", 0, 5)


def broken(constraint: object, values: dict[object, object]) -> str:
    """Return the message on a constraint of a model of ``shop``, whose other values are defaults; "" if it holds."""
    m = next(iter(values)).model  # type: ignore[attr-defined]
    m.add(constraint)
    defaults = {m.intervals[0]: (0, 20), m.integers[0]: 0}
    found = m.check(Assignment(m, {**defaults, **values}))
    return found[0].message if found else ""


@pytest.mark.parametrize(
    ("span", "holds"),
    [
        ((0, 4), True),
        ((0, 7), True),
        ((0, 8), False),
        ((5, 8), False),
        ((4, 8), True),
        ((0, 3), False),
        ((4, 11), True),
    ],
)
def test_work_is_the_rounded_integral_of_the_intensity(span: tuple[int, int], holds: bool) -> None:
    """Four seconds of work: 100 % before 4, 0 from 4 to 7, then 75 %; from 4 on 3.75 s of work are done by 12."""
    _, a, *_ = shop()
    work = {(0, 4): 4, (0, 7): 4, (0, 8): 4, (5, 8): 0, (4, 8): 0, (0, 3): 3, (4, 11): 3}[span]
    text = broken(sl.intensity(a, work if holds else work + 1, [(0, 100), (4, 0), (7, 75)]), {a: span})
    assert bool(text) is not holds, text
    if not holds:
        assert f"a does {work} of its work of {work + 1}" in text


def test_the_first_intensity_holds_before_its_time_and_breaks_make_steps() -> None:
    _, a, *_ = shop()
    assert not broken(sl.intensity(a, 5, sl.breaks([(20, 25), (2, 4), (3, 6)])), {a: (0, 9)})
    assert sl.breaks((3, 5), percent=20) == [(2, 100), (3, 20), (5, 100)] and sl.breaks([]) == [(0, 100)]


def test_lengths_are_those_of_all_starts() -> None:
    rng = random.Random(1)
    a = sl.Model("m").interval("a", size=1)
    for _ in range(15):
        times = sorted(rng.sample(range(10), rng.randint(1, 3)))
        steps = tuple((t, rng.choice([0, 100, 50])) for t in times)
        low = rng.randint(0, 2)
        c = Intensity(a, (low, low + 1), steps)
        found = lengths(c.work, steps)
        if found is None:
            assert 0 in (steps[0][1], steps[-1][1])
            continue
        known = [e - s for s in range(-12, 12) for e in range(s, s + 40) if low <= c.done(s, e) // 100 <= low + 1]
        assert found[0] <= min(known) and found[1] == max(known), (steps, c.work)


def test_a_span_lasts_over_its_present_parts() -> None:
    for values, text in (
        ({"a": (2, 9), "b": (2, 4), "c": (6, 9)}, ""),
        ({"a": (2, 4), "b": (2, 4), "c": None}, ""),
        ({"a": (2, 9), "b": (2, 4), "c": None}, "a is [2, 9), its parts span [2, 4)"),
        ({"a": (2, 9), "b": None, "c": None}, "a is present, but none of its parts is"),
    ):
        _, a, b, c, _ = shop()
        found = broken(sl.span(a, [b, c]), {v: values[v.name] for v in (a, b, c)})
        assert text in found and bool(found) is bool(text)
    _, a, b, c, _ = shop()
    assert "b is absent, but c is present" in broken(sl.span(b, [c]), {a: (0, 1), c: (2, 3)})


def test_an_isomorphism_pairs_equal_intervals() -> None:
    _, a, b, c, _ = shop()
    assert not broken(sl.isomorphism([a], [b, c]), {a: (2, 4), c: (2, 4)})
    _, a, b, c, _ = shop()
    assert "[2, 4) of the first list has no partner" in broken(sl.isomorphism([a], [b, c]), {a: (2, 4), c: (2, 5)})
    _, a, b, c, _ = shop()
    assert "of the second list has no partner" in broken(sl.isomorphism([a], [b, c]), {a: (2, 4), b: (2, 4), c: (2, 4)})


def test_domains_have_holes_and_absent_intervals_are_free() -> None:
    for value, holds in ((1, True), (2, False), (3, True), (5, True)):
        _, _, _, _, x = shop()
        assert bool(broken(sl.in_domain(x, [(3, None), 1]), {x: value})) is not holds
    for span, holds in (((0, 2), True), ((0, 3), False), ((1, 4), False), ((2, 5), True), (None, True)):
        _, a, b, *_ = shop()
        assert bool(broken(sl.forbid_end(b, [(2, 4)]), {a: (0, 0), b: span})) is not holds, span
    for span, holds in (((1, 2), True), ((2, 3), False), ((3, 4), False), ((4, 5), True)):
        _, a, b, *_ = shop()
        assert bool(broken(sl.forbid_start(b, [(2, 4)]), {a: (0, 0), b: span})) is not holds, span


def test_capacities_and_lags_are_expressions() -> None:
    for x_value, holds in ((3, True), (2, False)):
        _, a, b, _, x = shop()
        found = broken(sl.cumulative([a, b], [1, 2], x), {a: (0, 4), b: (2, 4), x: x_value})
        assert bool(found) is not holds
        assert holds or "at 2 the demand is 3, the capacity 2" in found
    for x_value, text in ((2, ""), (4, "4 + 4 is after 7"), (1, "7 is after 4 + 2")):
        _, a, b, _, x = shop()
        found = broken(sl.end_before_start(a, b, x, at_most=x + 1), {a: (0, 4), b: (7, 8), x: x_value})
        assert text in found and bool(found) is bool(text)
    m, a, b, _, x = shop()
    lag = sl.end_before_start(a, b, x)
    assert not broken(lag, {a: (0, 4), x: 5})  # b is absent
    for start, truth in ((8, 0), (9, 1)):
        assert m.value(sl.holds(lag), Assignment(m, {a: (0, 4), b: (start, 10), x: 5})) == truth


def test_names_listing_and_json() -> None:
    m, a, b, c, x = shop()
    m.add(sl.span(a, [b, c]))
    m.add(sl.intensity(a, (2, 3), [(0, 100), (4, 50)]))
    m.add(sl.cumulative([a, b], [1, x], x + 1))
    m.add(sl.end_before_start(a, b, x, at_most=x + 3))
    m.interval("d", work=2, intensity=50, end=[(3, 5), (8, 9)], optional=True)
    text = str(m)
    for line in (
        "span(a, [b, c])", "intensity(a, [2, 3], [(0, 100), (4, 50)])", "cumulative([a, b], [1, x], x + 1)",
        "end_before_start(a, b, x, at_most=x + 3)", "d: optional, size 4 to 5, start 0 to 30",
        "end of d: in_domain(d.end, [(3, 5), (8, 9)], interval=d)",
    ):  # fmt: skip
        assert line in text, text
    again = sl.Model.from_json(m.to_json())
    assert again.to_json() == m.to_json() and str(again) == text
    assert len(m.copy().constraints) == len(m.constraints)
    for seed in range(30):
        model = RandomStructures(seed).model
        assert sl.Model.from_json(model.to_json()).to_json() == model.to_json()
        assert all(len(c.name) < 60 for c in model.constraints) and len(repr(model.constraints[0])) <= 120


def test_a_derived_horizon_contains_an_optimal_solution() -> None:
    """The same models with no windows: the derived horizon gives the optimum of a long declared one."""

    def model(horizon: int | None, seed: int) -> sl.Model:
        rng = random.Random(seed)
        m = sl.Model("m", horizon=horizon)
        a = m.interval(
            "a", work=rng.randint(1, 2), intensity=[(0, 100), (rng.randint(1, 2), 0), (rng.randint(3, 4), 50)]
        )
        b = m.interval("b", size=rng.randint(1, 2))
        x = m.integer("x", 0, 1)
        over = m.interval("over", size=(0, 12))
        m.add(sl.span(over, [a, b]))
        m.add(rng.choice([sl.end_before_start, sl.start_before_start])(a, b, rng.choice([x, 2 * x + 1, -2 * x])))
        m.add(sl.in_domain(b.start, [0, (rng.randint(2, 4), None)]))
        m.add(sl.cumulative([a, b], [1, 1], x + 1))
        m.minimize(b.end + rng.choice([1, 2]) * over.size - rng.choice([0, 4]) * x)
        return m

    for seed in range(6):
        derived = model(None, seed).derived_horizon
        assert derived is not None and derived.proved and derived.value < 60
        answers = [sl.solve(model(h, seed), backend="cpsat", threads=1) for h in (None, 200)]
        assert answers[0].status == answers[1].status == "optimal"
        assert answers[0].objective == answers[1].objective


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (
            lambda m, a, b, c, x: sl.intensity(a, 5, [(0, 120)]),
            "the intensity from 0 on is 120; expected 0 to 100 percent",
        ),
        (lambda m, a, b, c, x: sl.intensity(a, -1, 50), "the work must be 0 <= least <= greatest"),
        (lambda m, a, b, c, x: sl.intensity(a, 1, [(3, 50), (3, 10)]), "must increase, but 3 follows 3"),
        (lambda m, a, b, c, x: sl.intensity(a, 1, []), "the list of steps is empty"),
        (lambda m, a, b, c, x: sl.breaks([(5, 5)]), "is empty; lo < hi is needed"),
        (lambda m, a, b, c, x: sl.in_domain(x * 0.5, [1]), "the expression must be a whole number"),
        (lambda m, a, b, c, x: sl.in_domain(x, [(3, 1)]), "ends before it begins"),
        (lambda m, a, b, c, x: sl.in_domain(x, [1], interval=shop()[1]), "belongs to model"),
        (lambda m, a, b, c, x: sl.forbid_end(x, [(1, 2)]), "the first argument must be an interval"),
        (lambda m, a, b, c, x: sl.span(a, []), "at least 1 part is needed"),
        (lambda m, a, b, c, x: sl.span(a, [b, a]), "a is listed twice"),
        (lambda m, a, b, c, x: sl.isomorphism([a], [shop()[1]]), "belong to different models"),
        (
            lambda m, a, b, c, x: sl.cumulative([a], [1], x - 1),
            "the capacity x + -1 can be -1; capacities must be >= 0",
        ),
        (lambda m, a, b, c, x: sl.end_before_start(a, b, 0.5 * x), "the delay, 0.5*x, must be a whole number"),
        (lambda m, a, b, c, x: m.interval("d", work=3), "intensity is missing"),
        (
            lambda m, a, b, c, x: m.interval("d", work=3, intensity=[(0, 100), (5, 0)]),
            "no greatest size can be derived",
        ),
        (lambda m, a, b, c, x: m.interval("d", size=3, end=[]), "the list of end windows is empty"),
    ],
)
def test_wrong_uses_are_named(wrong: object, text: str) -> None:
    with pytest.raises(ModelError) as caught:
        wrong(*shop())  # type: ignore[operator]
    assert text in str(caught.value), caught.value


def test_enumeration_finds_the_answers_of_small_models() -> None:
    m = sl.Model("m", horizon=6)
    a = m.interval("a", work=3, intensity=sl.breaks([(1, 3)]))
    m.add(sl.forbid_start(a, [(1, 3)]))
    m.maximize(a.size - 2 * a.start)
    truth = brute_force(m)
    assert truth.objectives == (5,) and truth.best is not None and truth.best[a] == (True, 0, 5)
