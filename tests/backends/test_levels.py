"""Levels on every backend, against enumeration and known answers."""

import pytest
import schedlab as sl
from draws import some_seeds_now
from on_backends import LABELS, agrees, same_when_decomposed, usable
from schedlab.backends.conformance import Contender, RandomLevels
from schedlab.backends.decompositions import LEVELS


@pytest.mark.parametrize("seeds", some_seeds_now(5, 16))
@pytest.mark.parametrize("label", LABELS)
def test_every_backend_agrees_with_enumeration(label: str, seeds: range) -> None:
    agrees(label, [RandomLevels(seed).model for seed in seeds])


def test_decomposed_models_have_the_same_solutions() -> None:
    same_when_decomposed([RandomLevels(seed).model for seed in range(20, 40)], LEVELS)


def tank():
    """Deliveries of 4 fill a tank of 5 at their ends; consumers take 3 at their starts, one of them is optional."""
    m = sl.Model("tank", horizon=20)
    fill = [m.interval(f"fill {k}", size=4) for k in range(2)]
    use = [m.interval(f"use {k}", size=2, optional=k == 2) for k in range(3)]
    m.add(sl.no_overlap(fill))
    level = sl.step_at(0, 2) + sum(sl.at_end(v, 4) for v in fill) - sum(sl.at_start(v, 3) for v in use)
    m.add(sl.always_in(level, 0, 5), "tank")
    m.minimize(sl.max([v.end for v in [*fill, *use]]) - 10 * use[2].presence)
    return m, 0  # ends 4 and 8; 2 + 4 - 3 = 3, 3 + 4 - 3 - 3 = 1: all is used by 10


def oven():
    """Two parts are baked while the oven has 200 degrees at least; each heating lasts 5 and costs its power."""
    m = sl.Model("oven", horizon=12)
    heat = [m.interval(f"heat {k}", size=5, optional=True) for k in range(2)]
    watts = m.integer("power of heat 0", 1, 3)
    bake = [m.interval(f"bake {k}", size=3) for k in range(2)]
    power = sl.pulse(heat[0], 100 * watts) + sl.pulse(heat[1], 150)
    for v in bake:
        m.add(sl.always_in(power, lo=200, during=v), f"hot for {v}")
    m.add(sl.no_overlap(bake))
    m.add(sl.always_in(power, hi=0, window=(2, 4)), "no power")
    m.minimize(sl.max([v.end for v in bake]) + 10 * watts + 7 * heat[1].presence)
    return m, None


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("make", [tank])
def test_known_optima(label, make):
    usable(label)
    model, optimum = make()
    contender = Contender(label)
    r = sl.solve(model, backend=contender.backend, time_limit=60, threads=1, seed=1, **contender.options)
    assert (r.status, r.objective) == ("optimal", optimum), (r.message, r.assignment)
    assert model.check(r.assignment) == []


@pytest.mark.parametrize("label", LABELS)
def test_infeasible_levels(label):
    """Both parts need 6 s of heat, but the oven is hot for 5 s."""
    usable(label)
    model, _ = oven()
    contender = Contender(label)
    r = sl.solve(model, backend=contender.backend, time_limit=60, threads=1, seed=1, **contender.options)
    assert r.status == "infeasible", r.assignment


def test_pulses_below_a_capacity_are_a_cumulative():
    m = sl.Model("m", horizon=9)
    jobs = [m.interval(f"j{k}", size=3) for k in range(3)]
    m.add(sum(sl.pulse(v, 2) for v in jobs) <= 5)
    native = sl.compile(m, "cpsat").native
    assert sum(c.has_cumulative() for c in native.proto.constraints) == 1


def test_a_conflict_names_the_level():
    m = sl.Model("m", horizon=9)
    a, b = m.interval("a", size=3), m.interval("b", size=3, start=(0, 2))
    m.add(sl.at_end(a, 2) - sl.at_start(b, 2) >= 0, "stock")
    m.add(a.start >= 0, "harmless")
    r = sl.solve(m, backend="cpsat", threads=1)
    assert r.status == "infeasible" and set(r.conflict.names) - {"a", "b"} == {"stock"}
