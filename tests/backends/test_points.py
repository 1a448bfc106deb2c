"""Intervals of size 0 in a no_overlap: nothing without transition times, a point in the sequence with them; on all backends."""

import itertools
import random

import pytest
import schedlab as sl
from schedlab.backends import Limits
from schedlab.backends.conformance import Contender, brute_force, fixed, judge
from schedlab.backends.decompositions import Construct, decompose

LIMITS = Limits(time=30, threads=1)
LABELS = ("cpsat", "highs:pairwise", "highs:time-indexed", "pyomo", "cpo")  # Pyomo cannot be imported after docplex
ZERO = ((0, 0), (0, 0))


def available(label):
    here = sl.backends.available()[label.partition(":")[0]]
    if not here.ok:
        pytest.skip(f"{label} cannot be used: {here.reason}")
    return Contender(label)


def at(*spans, times=None):
    """Return a model of intervals with fixed starts and sizes."""
    m = sl.Model("fixed", horizon=20)
    some = [m.interval(f"v{k}", size=size, start=start) for k, (start, size) in enumerate(spans)]
    m.add(sl.no_overlap(some, times))
    return m


CYCLE = ((0, 0, 5), (5, 0, 0), (0, 5, 0))  # at the same time: v0 before v1 before v2 before v0
CYCLE_OF_FOUR = ((0, 0, 0, 5), (5, 0, 0, 0), (0, 5, 0, 0), (0, 0, 5, 0))
CASES = {
    "no times: within another interval": (at((0, 5), (2, 0)), True),
    "times of 0: within another interval": (at((0, 5), (2, 0), times=ZERO), False),
    "times of 0: at its start": (at((0, 5), (0, 0), times=ZERO), True),
    "times of 0: at its end": (at((0, 5), (5, 0), times=ZERO), True),
    "at its start, with a time to it": (at((0, 5), (0, 0), times=((0, 0), (1, 0))), False),
    "points at the same time": (at((3, 0), (3, 0), times=ZERO), True),
    "points at the same time, in one order": (at((3, 0), (3, 0), times=((0, 0), (5, 0))), True),
    "points at the same time, in no order": (at((3, 0), (3, 0), times=((0, 2), (5, 0))), False),
    "points with their time between them": (at((3, 0), (5, 0), times=((0, 2), (9, 0))), True),
    "points with less": (at((3, 0), (4, 0), times=((0, 2), (9, 0))), False),
    "a point after an interval": (at((0, 2), (3, 0), times=((0, 1), (0, 0))), True),
    "a point too early": (at((0, 2), (3, 0), times=((0, 2), (0, 0))), False),
    "a time over a point": (at((0, 2), (3, 0), (4, 2), times=((0, 0, 9), (0, 0, 0), (0, 0, 0))), False),
    "a cycle of three points": (at((3, 0), (3, 0), (3, 0), times=CYCLE), False),
    "a cycle of four points": (at(*[(3, 0)] * 4, times=CYCLE_OF_FOUR), False),
}


@pytest.mark.parametrize("label", ["enumeration", *LABELS])
@pytest.mark.parametrize("name", CASES)
def test_what_is_allowed(name, label):
    m, allowed = CASES[name]
    if label == "enumeration":
        assert brute_force(m).feasible == allowed
    else:
        assert available(label).solve(m, LIMITS).status == ("optimal" if allowed else "infeasible")


def random_points(seed):
    """Return a random model of 2 to 4 intervals, many of size 0 or from 0, in a no_overlap with transition times."""
    rng = random.Random(seed)
    m = sl.Model(f"points {seed}", horizon=7)
    for k in range(rng.randint(2, 4)):
        least, first = rng.choice([0, 0, 0, 1, 2]), rng.randint(0, 3)
        size = (least, least + rng.choice([0, 0, 1]))
        m.interval(f"v{k}", size, (first, first + rng.choice([0, 1, 2])), optional=rng.random() < 0.4)
    some = m.intervals
    n = len(some)
    times = [[rng.choice([0, 0, 0, 1, 2]) for _ in some] for _ in some]
    if n > 2 and rng.random() < 0.5:
        times = [[rng.choice([1, 3]) if i == (j + 1) % n else 0 for j in range(n)] for i in range(n)]
    m.add(sl.no_overlap(some, times))
    if rng.random() < 0.3:
        m.add(sl.no_overlap(rng.sample(some, 2)))
    weights = [rng.choice([1, 2, -1]) for _ in some]
    m.minimize(sl.sum([v.end for v in some], weights) - 5 * sl.sum([v.presence for v in some]))
    return m


@pytest.mark.parametrize("label", LABELS)
def test_random_models(label):
    contender = available(label)
    for seed in range(15):
        m = random_points(seed)
        truth = brute_force(m)
        assert judge(m, truth, contender.solve(m, LIMITS)) == []
        if truth.first is not None:
            assert fixed(m, truth.first, contender, LIMITS) == []


def test_the_decomposition_of_random_models():
    for seed in range(40):
        m = random_points(seed)
        truth = brute_force(m)
        made = decompose(m, Construct.TRANSITIONS)
        found = sl.solve(made.model, backend="cpsat", threads=1)
        assert found.objective == (truth.objectives[0] if truth.feasible else None)
        if truth.feasible:
            assert m.check(made.back(found.assignment)) == []
            assert made.model.check(made.forward(truth.best)) == []


def test_enumeration_is_the_definition():
    """Compare ``check`` with a search for an order in which each transition time is kept."""
    for seed in range(300):
        m = random_points(seed)
        rng = random.Random(-seed)
        s = sl.Assignment(m)
        for v in m.intervals:
            if not (v.optional and rng.random() < 0.3):
                start = rng.randint(v.start_lo, v.start_hi)
                s.set(v, start, start + rng.randint(v.size_lo, v.size_hi))
        c = m.constraints[0].constraint
        present = [k for k, v in enumerate(c.intervals) if s.present[v.index]]

        def kept(i, j, c=c, s=s):
            return s.end[c.intervals[i].index] + c.transition(i, j) <= s.start[c.intervals[j].index]

        orders = itertools.permutations(present)
        fine = any(all(kept(i, j) for i, j in itertools.combinations(order, 2)) for order in orders)
        assert fine == all(v.constraint != m.constraints[0].name for v in m.check(s)) or not c.transitions


@pytest.mark.parametrize("label", LABELS)
def test_points_with_a_detour(label):
    """CP Optimizer 22.2 calls this model infeasible at its default level of inference."""
    m = sl.Model("detour", horizon=15)
    sizes, last = (0, 1, 0, 0), (3, 2, 2, 3)
    some = [m.interval(f"t{k}", size=size, start=(0, hi)) for k, (size, hi) in enumerate(zip(sizes, last, strict=True))]
    m.add(sl.no_overlap(some, [[0, 0, 0, 3], [3, 0, 0, 0], [0, 3, 0, 0], [0, 0, 3, 0]]))
    assert available(label).solve(m, LIMITS).status == "optimal"


@pytest.mark.parametrize("label", LABELS)
def test_points_with_a_detour_have_an_optimum_that_no_level_of_inference_of_cp_optimizer_finds(label):
    """CP Optimizer 22.2 calls 11 the optimum of this no_overlap, at each of its levels of inference."""
    m = sl.Model("late detour", horizon=4)
    sizes, starts = [0, 1, 0, (0, 1)], [(1, 4), (0, 3), (0, 1), (1, 4)]
    some = [
        m.interval(f"t{k}", size=size, start=start) for k, (size, start) in enumerate(zip(sizes, starts, strict=True))
    ]
    m.add(sl.no_overlap(some, [[1, 0, 0, 2], [2, 1, 1, 2], [0, 1, 2, 2], [0, 0, 0, 0]]))
    m.minimize(sl.sum([v.end for v in some], [2, 1, 2, 2]))
    r = available(label).solve(m, LIMITS)
    assert (r.status, r.objective) == ("optimal", 9)  # t0, t2 and t3 at 1, t1 from 2 to 3


# earliest, target and latest landing times, cost per second of deviation: airland1 of the OR-Library
PLANES = (
    (129, 155, 559, 10),
    (195, 258, 744, 10),
    (89, 98, 510, 30),
    (96, 106, 521, 30),
    (110, 123, 555, 30),
    (120, 135, 576, 30),
    (124, 138, 577, 30),
    (126, 140, 573, 30),
    (135, 150, 591, 30),
    (160, 180, 657, 30),
)


@pytest.mark.parametrize("label", ["cpsat", "highs:pairwise", "cpo"])
def test_aircraft_landing(label):
    m = sl.Model("airland1", horizon=750)
    planes = [m.interval(f"p{k}", size=0, start=(lo, hi)) for k, (lo, _, hi, _) in enumerate(PLANES)]
    heavy = (3, 15, 8)  # seconds between two of the first two planes, one of them and another one, two others
    times = [[heavy[(i > 1) + (j > 1)] for j in range(len(PLANES))] for i in range(len(PLANES))]
    m.add(sl.no_overlap(planes, times))
    late = [
        sl.positive_part(p.start - t) + sl.positive_part(t - p.start)
        for p, (_, t, _, _) in zip(planes, PLANES, strict=True)
    ]
    m.minimize(sl.sum(late, [cost for *_, cost in PLANES]))
    r = available(label).solve(m, Limits(time=120, threads=2))
    assert (r.status, r.objective) == ("optimal", 700)
