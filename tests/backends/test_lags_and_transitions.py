"""Maximum time lags, transition times, forbidden extents, all_or_none: the same answers on every backend."""

import pytest
import schedlab as sl
from random_lags import best_job_shop, earliest, job_shop, project
from schedlab.backends.conformance import brute_force
from small_models import CASES, INFEASIBLE, built

WORDS = ("lag", "transition", "setup", "forbidden", "no gap", "all or none", "none if")
SMALL = [name for name in CASES if any(word in name for word in WORDS)]
LABELS = {
    "cpsat": ("cpsat", {}),
    "pairwise": ("highs", {"lowering": "pairwise"}),
    "time-indexed": ("highs", {"lowering": "time-indexed"}),
    "cpo": ("cpo", {}),
}


def solve(m, label, **options):
    backend, lowering = LABELS[label]
    here = sl.backends.available()[backend]
    if not here.ok:
        pytest.skip(f"{backend} is not installed: {here.reason}")
    return sl.solve(m, backend=backend, threads=1, time_limit=30, **lowering, **options)


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("name", SMALL)
def test_small_models_have_their_known_answers(name, label):
    r = solve(built(name), label)
    assert (r.status if r.status == INFEASIBLE else r.objective) == CASES[name][1]


@pytest.mark.parametrize("label", LABELS)
def test_a_job_shop_has_the_makespan_of_its_best_orders(label):
    for seed in range(2):
        m = job_shop(seed, jobs=3, machines=2)
        r = solve(m, label)
        assert (r.status, r.objective) == ("optimal", best_job_shop(m))


@pytest.mark.parametrize("label", LABELS)
def test_a_project_has_the_optimum_of_enumeration(label):
    for seed in range(3):
        m = project(seed, tasks=4, horizon=14)
        truth = brute_force(m)
        r = solve(m, label)
        assert (r.status, (r.objective,)) == ("optimal", truth.objectives)


@pytest.mark.parametrize("label", LABELS)
def test_a_project_without_resources_is_a_longest_path(label):
    for seed in range(6):
        m = project(seed, tasks=7)
        m.constraints = [c for c in m.constraints if not c.name.startswith("resource")]
        lags = [lag for c in m.constraints for p in c.constraint.parts for lag in [start_lag(p)]]
        starts = earliest(m.intervals, lags)
        r = solve(m, label)
        assert starts is not None
        assert (r.status, r.objective) == ("optimal", max(starts[v.index] + v.size_lo for v in m.intervals))


def start_lag(p):
    """Return (before, after, least time between their starts) of a precedence of intervals of fixed size."""
    left = p.before.size_lo if p.fields[0] == "end" else 0
    right = p.after.size_lo if p.fields[1] == "end" else 0
    return p.before, p.after, p.delay + left - right


def test_a_warm_start_is_moved_to_a_coarse_grid_with_its_setups_and_windows():
    m = sl.Model("coarse", horizon=60)
    a, b, c = (m.interval(n, size=4) for n in "abc")
    m.add(sl.no_overlap([a, b, c], transitions=[[0, 3, 3], [3, 0, 3], [3, 3, 0]]))
    m.add(sl.forbid_extent(b, (8, 14)))
    m.add(sl.end_before_start(b, c, delay=2, at_most=9))
    m.minimize(sl.max([v.end for v in (a, b, c)]))
    start = sl.Assignment(m, {a: 0, b: 14, c: 21})
    assert m.check(start) == []
    compiled = sl.compile(m, "highs", lowering="time-indexed", grid=5)
    moved = compiled.assignment(compiled.hint(start))
    assert m.check(moved) == [] and [moved[v].start for v in (a, b, c)] == [0, 15, 25]
    assert compiled.form.violation(compiled.hint(start))[0] < 1e-9


@pytest.mark.parametrize("grid", [1, 3, 7])
@pytest.mark.parametrize("lowering", ["energy", "relax"])
def test_bounds_of_relaxations_are_true(lowering, grid):
    options = {"lowering": "energy"} if lowering == "energy" else {"lowering": "time-indexed", "side": "relax"}
    for seed in range(4):
        for m in (job_shop(seed, jobs=3, machines=2), project(seed, tasks=6)):
            best = solve(m, "cpsat")
            r = sl.solve(m, backend="highs", grid=grid, integral=False, threads=1, time_limit=20, **options)
            if best.status == "optimal":
                assert r.status != "infeasible" and r.bound <= best.objective + 1e-6
                compiled = sl.compile(m, "highs", grid=grid, **options)
                assert compiled.form.violation(compiled.hint(best.assignment))[0] < 1e-6


@pytest.mark.parametrize("backend", ["cpsat", "cpo"])
def test_a_conflict_names_the_new_constraints(backend):
    if not sl.backends.available()[backend].ok:
        pytest.skip(f"{backend} is not installed")
    m = sl.Model("conflict", horizon=40)
    a, b = m.interval("a", size=3), m.interval("b", size=3)
    c, d = (m.interval(n, size=1, optional=True) for n in "cd")
    m.add(sl.no_overlap([a, b], transitions=[[0, 5], [40, 0]]), "setup")
    m.add(sl.end_before_start(a, b, delay=-40, at_most=5), "lag")
    m.add(sl.forbid_extent(b, [(8, 10), (0, 5)]), "maintenance")
    m.add(a.end <= 4, "early")
    m.add(sl.all_or_none([c, d]), "both")
    m.add(c.presence >= 1, "c")
    r = sl.solve(m, backend=backend, time_limit=20)
    assert r.status == "infeasible"
    assert set(r.conflict.names) - {"a", "b"} == {"setup", "lag", "maintenance", "early"}
