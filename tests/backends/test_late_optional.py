"""Optional intervals at Unix times: an absent interval ends at 0, and solvers with tolerances find the optimum all the same."""

import random

import pytest
import schedlab as sl
from schedlab.backends import Limits
from schedlab.backends.conformance import Contender, brute_force

LATE = 1_700_000_000
LABELS = ("cpsat", "highs", "highs:pairwise", "pyomo", "cpo")  # Pyomo cannot be imported after docplex


def contender(label):
    here = sl.backends.available()[label.partition(":")[0]]
    if not here.ok:
        pytest.skip(f"{label} cannot be used: {here.reason}")
    return Contender(label)


def optional_jobs(number):
    m = sl.Model("optional", horizon=LATE + 200)
    jobs = [m.interval(f"v{k}", size=3, start=(LATE, LATE + 90), optional=True) for k in range(number)]
    m.add(sl.no_overlap(jobs))
    m.add(sl.sum([v.presence for v in jobs]) >= 2)
    return m, jobs


@pytest.mark.parametrize("label", LABELS)
def test_a_makespan_of_optional_jobs(label):
    m, jobs = optional_jobs(4)
    m.minimize(sl.max([v.end for v in jobs]))
    r = contender(label).solve(m, Limits(time=30, threads=1))
    assert (r.status, r.objective) == ("optimal", LATE + 6)


@pytest.mark.parametrize("label", LABELS)
def test_an_order_of_optional_jobs(label):
    m, (a, b, c) = optional_jobs(3)
    m.add(a.end <= b.start)  # if a is present, b is too
    m.minimize(a.end + 2 * b.end + 3 * c.end - 7 * LATE * a.presence)
    r = contender(label).solve(m, Limits(time=30, threads=1))
    assert (r.status, r.objective) == ("optimal", 3 + 2 * 6 + (2 - 6) * LATE)


RULES = [
    lambda a, b, at: a.end <= b.start,
    lambda a, b, at: a.start <= at(1, 5),
    lambda a, b, at: a.end >= at(1, 4),
    lambda a, b, at: a.end - b.end >= at(-3, 3) - LATE,
    lambda a, b, at: a.end + b.end <= LATE + at(3, 12),
    lambda a, b, at: a.start == b.end,
    lambda a, b, at: sl.max([a.end, b.end]) <= at(3, 9),
    lambda a, b, at: sl.min([a.start, b.start]) >= at(0, 3),
    lambda a, b, at: 0.5 * a.end - 0.25 * b.end <= 0.25 * at(0, 9),
    lambda a, b, at: sl.holds(a.end <= b.start) + b.presence >= 1,
    lambda a, b, at: sl.element([3, 1, 4, 1, 5, 9, 2, 6], a.end - LATE) <= at(1, 9) - LATE,
    lambda a, b, at: 2 * a.end - b.start - b.end <= at(-3, 6) - LATE,
]
AIMS = [
    lambda vs, at: sl.max([v.end for v in vs]),
    lambda vs, at: sl.min([v.start for v in vs]),
    lambda vs, at: sl.sum([sl.positive_part(v.end - at(1, 5)) for v in vs]) - 2 * sl.sum([v.presence for v in vs]),
    lambda vs, at: sl.sum([v.end for v in vs]),
    lambda vs, at: sl.holds(vs[0].end <= at(1, 6)) * 3 - vs[1].presence + sl.holds(vs[1].end <= vs[0].start),
    lambda vs, at: sl.max([vs[0].end - LATE, 3]) + sl.max([vs[0].end, vs[1].end]),
    lambda vs, at: sl.sum([v.presence for v in vs]) - sl.max([v.end - LATE - 3 for v in vs]),
]


def random_model(seed):
    rng = random.Random(seed)

    def at(least, most):
        return LATE + rng.randint(least, most)

    m = sl.Model(f"late {seed}")
    jobs = []
    for k in range(rng.randint(2, 4)):
        first = at(0, 3)
        jobs.append(m.interval(f"v{k}", rng.randint(1, 3), (first, first + rng.randint(1, 4)), rng.random() < 0.75))
    if rng.random() < 0.5:
        m.add(sl.no_overlap(jobs[:3]))
    m.add(sl.sum([v.presence for v in jobs]) >= rng.randint(0, len(jobs) - 1))
    for _ in range(rng.randint(0, 2)):
        m.add(rng.choice(RULES)(*rng.sample(jobs, 2), at))
    (m.minimize if rng.random() < 0.6 else m.maximize)(rng.choice(AIMS)(jobs, at))
    return m


@pytest.mark.parametrize("label", LABELS)
def test_prices_of_optional_jobs(label):
    m, jobs = optional_jobs(3)
    prices = [(0, 0), (LATE, 0), (LATE + 10, 4), (LATE + 100, 200)]
    m.minimize(sl.sum([sl.piecewise(v.end, prices) for v in jobs]))
    r = contender(label).solve(m, Limits(time=30, threads=1))
    assert (r.status, r.objective) == ("optimal", pytest.approx(1.2 + 2.4))


@pytest.mark.parametrize("label", LABELS)
def test_random_models(label):
    solver = contender(label)
    wrong = []
    for seed in range(25):
        m = random_model(seed)
        truth = brute_force(m)
        best = truth.objectives[0] if truth.feasible else None
        r = solver.solve(m, Limits(time=30, threads=1))
        if (r.status, r.objective) != ("optimal" if truth.feasible else "infeasible", best):
            wrong.append((seed, r.status, r.objective, best, r.message))
    assert wrong == []


def test_a_real_comparison_is_checked_to_what_can_change():
    m = sl.Model("real")
    a, b = (m.interval(n, 1, (LATE, LATE + 900), optional=True) for n in "ab")
    m.add(0.5 * a.end - 0.25 * b.end <= 0.25 * LATE)
    late = sl.Assignment(m, {a: LATE + 300, b: LATE})
    assert len(m.check(late)) == 1


@pytest.mark.parametrize("label", ["highs", "pyomo"])
def test_an_interval_without_a_window_beside_late_ones_is_named(label):
    m, jobs = optional_jobs(3)
    w = m.interval("w", size=2, optional=True)
    m.add(sl.no_overlap([*jobs, w]))
    r = contender(label).solve(m, Limits(time=30, threads=1))
    assert r.status == "unavailable" and "'w' may start from second 0 on" in r.message and "start window" in r.message
