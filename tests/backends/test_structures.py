"""Calendars and structures on every backend, against enumeration and known answers."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
import schedlab as sl
from draws import some_now
from on_backends import LABELS, agrees, same_when_decomposed, usable
from schedlab.backends.conformance import RandomStructures, brute_force, declaration, faulty, judge
from schedlab.backends.conformance.planted import STRUCTURE_FAULTS
from schedlab.backends.decompositions import STATED, Construct


@pytest.mark.parametrize("label", LABELS)
def test_every_backend_agrees_with_enumeration(label: str) -> None:
    agrees(label, [RandomStructures(seed).model for seed in range(6)])


def test_decomposed_models_have_the_same_solutions() -> None:
    same_when_decomposed([RandomStructures(seed).model for seed in range(20, 60)], STATED)


def test_declarations_of_random_models_can_be_run() -> None:
    for seed in range(30):
        model = RandomStructures(seed).model
        made: dict[str, Any] = {"sl": sl}
        exec(declaration(model), made)
        left = [c.name for c in model.constraints]
        assert [c.name for c in made["m"].constraints] == left


def test_planted_faults_are_found() -> None:
    missing = set(STRUCTURE_FAULTS)
    for seed in (0, 1, 4, 11, 16, 17, 50, 52, 112):  # those of the first 120 that find them
        model = RandomStructures(seed).model
        truth = brute_force(model)
        missing -= {f for f in missing if judge(model, truth, faulty(f, model))}
    assert not missing


def week() -> tuple[sl.Model, dict[str, Any], Any]:
    """Two repairs by a crew that pauses from 4 to 6 and is half as fast from 10 on; one may go to an outside firm.

    The crew does a (4 s of work) from 0 to 4, and b (4) from 6 to 10: 10. With b outside (7 s, not at night from 8 on,
    so that it ends by 8) b costs 3 more, and a ends at 4: the end is 7 and the cost 3, so that both cost 10.
    """
    m = sl.Model("week", horizon=30)
    crew = [(0, 100), (4, 0), (6, 100), (10, 50)]
    a = m.interval("a", work=4, intensity=crew)
    b = m.interval("b", size=(4, 20))
    inside = m.interval("b inside", work=4, intensity=crew, optional=True)
    outside = m.interval("b outside", size=7, optional=True, end=(0, 8))
    m.add(sl.alternative(b, [inside, outside]))
    m.add(sl.no_overlap([a, inside]))
    whole = m.interval("whole", size=(0, 40))
    m.add(sl.span(whole, [a, b]))
    m.minimize(whole.size + 4 * outside.presence)
    return m, {"inside": inside}, 10


def crates() -> tuple[sl.Model, dict[str, Any], Any]:
    """Three loads of 2, 2, 1 with one to four rented trucks of 3 each, 4 per truck; a load may start at even seconds."""
    m = sl.Model("crates", horizon=12)
    loads = [m.interval(f"load {k}", size=3) for k in range(3)]
    trucks = m.integer("trucks", 1, 4)
    m.add(sl.in_domain(trucks, [1, (3, 4)]))
    for v in loads:
        m.add(sl.in_domain(v.start, [0, 4, (8, None)]))
    m.add(sl.cumulative(loads, [2, 2, 1], 3 * trucks))
    slots = [m.interval(f"slot {k}", size=3, start=4 * k, optional=True) for k in range(3)]
    m.add(sl.isomorphism(loads[:2], slots))
    m.add(sl.start_before_start(loads[2], loads[0], 2 * trucks - 2))
    m.minimize(sl.max([v.end for v in loads]) + 4 * trucks)
    return m, {"trucks": trucks}, 11  # 1 truck: 2 + 1 at 0, 2 at 4: 7 + 4


@pytest.mark.parametrize("make", [week, crates])
@pytest.mark.parametrize("label", ["pyomo", "cpsat", "highs", "cpo"])
def test_known_answers(label: str, make: Any) -> None:
    usable(label)
    m, _, best = make()
    r = sl.solve(m, backend=label, time_limit=60, threads=1)
    assert (r.status, r.objective) == ("optimal", best), r
    assert m.check(r.assignment) == []


@pytest.mark.parametrize("label", ["cpsat", "highs", "cpo"])
def test_conflicts_name_the_constraints(label: str) -> None:
    usable(label)
    m = sl.Model("m", horizon=20)
    a = m.interval("a", size=(2, 12))
    m.add(sl.intensity(a, 4, [(0, 50)]), "slow")
    m.add(sl.in_domain(a.end, [(3, 5)], interval=a), "early")
    m.add(a.start >= 1, "not at once")
    r = sl.solve(m, backend=label, time_limit=60, threads=1)
    assert r.status == "infeasible"
    if label == "cpsat":
        assert r.conflict is not None and set(r.conflict.names or ()) <= {"slow", "early", "not at once"}
        found = sl.explain(m, time_limit=60, threads=1)
        assert found.status == "infeasible" and {"slow", "early"} <= {e.name for e in found.elements}


def calendars() -> Iterator[sl.Model]:
    """Random calendars with breaks alone, and fixed work: lowered by the pairs of pieces in which a start and an end lie."""
    rng = random.Random(7)
    for k in range(12):
        m = sl.Model(f"calendar {k}", horizon=14)
        times = sorted(rng.sample(range(1, 14), 4))
        away = [(times[0], times[1]), (times[2], times[3])]
        a = m.interval("a", work=rng.choice([1, 2, 3]), intensity=sl.breaks(away), start=(0, 9), optional=k % 3 == 0)
        b = m.interval("b", size=(0, 9), work=2, intensity=[(0, 0), (times[0], 100), (times[2], 0)], start=(0, 5))
        m.add(sl.no_overlap([a, b]))
        if k % 2:
            m.add(sl.forbid_start(a, away))
            m.add(sl.forbid_end(a, away))
        m.minimize(a.end + 2 * b.size - 20 * a.presence)
        yield m


@pytest.mark.parametrize("first", some_now([0, 6], 1))
@pytest.mark.parametrize("label", LABELS)
def test_calendars_with_breaks_agree_with_enumeration(label: str, first: int) -> None:
    agrees(label, list(calendars())[first : first + 6])


def test_decomposed_calendars_with_breaks_have_the_same_solutions() -> None:
    same_when_decomposed(calendars(), frozenset({Construct.INTENSITY}))


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize(("last", "work", "most"), [(5, 3, 4), (6, 3, 4), (6, 4, 6)])
def test_a_greatest_size_cuts_off_starts_within_a_break(label: str, last: int, work: int, most: int) -> None:
    m = sl.Model("m", horizon=14)
    a = m.interval("a", size=(work, most), work=work, intensity=sl.breaks([(2, last)]))
    m.minimize(a.end)
    agrees(label, [m])
