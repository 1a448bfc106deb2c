"""A constant offset of the objective, such as times since 1970, is in no gap, and changes no answer, bound or size."""

import itertools
import random

import pytest
import schedlab as sl
from schedlab.backends import close, relative_gap
from schedlab.models.language import Assignment, offset_of, origin_of

EPOCH = 1_700_000_000
SOLVERS = ["cpsat", "highs", "cpo"]
LOWERINGS = [("cpsat", {}), ("cpo", {}), ("highs", {"lowering": "pairwise"}), ("highs", {"grid": 1})]


def shop(seed, shift, objective):
    """Return a random model with windows, steps, forbidden times, options and deadlines, all later by ``shift``."""
    rng = random.Random(seed)
    m = sl.Model(f"shop {seed}")
    jobs = [m.interval(f"j{k}", rng.randint(1, 5), (shift + rng.randint(0, 4), shift + 40)) for k in range(5)]
    extra = m.interval("extra", 2, (shift, shift + 30), optional=True)
    m.add(sl.no_overlap(jobs[:3]))
    steps = [(shift, 2), (shift + rng.randint(3, 9), 3)]
    m.add(sl.cumulative([*jobs, extra], [1, 2, 1, 2, 1, 1], steps))
    m.add(sl.forbid_extent(jobs[0], (shift + 2, shift + 5)))
    m.add(jobs[1].start >= shift + rng.randint(0, 9))
    m.add(sl.implies(jobs[2].start >= shift + 4, extra.presence))
    ends, dues = [v.end for v in jobs], [shift + rng.randint(4, 20) for _ in jobs]
    aims = {
        "makespan": lambda: sl.max(ends),
        "sum": lambda: sl.sum(ends, [1, 2, 1, 1, 3]),
        "real": lambda: sl.sum(ends, [0.5, 1 / 3600, 1, 1, 0.25]),
        "deviations": lambda: sl.sum([sl.max([e - d, d - e]) for e, d in zip(ends, dues, strict=True)]),
        "overlap": lambda: sl.sum(ends) - 3 * sl.overlap(jobs[3], shift + 10, shift + 14) - 2 * extra.presence,
        "order": lambda: [sl.max(ends), sl.sum(ends)],
    }
    m.minimize(aims[objective]())
    return m


OBJECTIVES = ["makespan", "sum", "real", "deviations", "overlap", "order"]


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("solver", LOWERINGS, ids=str)
def test_later_times_give_the_same_answer_later(solver, objective):
    backend, options = solver
    early = sl.solve(shop(1, 0, objective), backend=backend, threads=1, **options)
    model = shop(1, EPOCH, objective)
    late = sl.solve(model, backend=backend, threads=1, **options)
    assert early.status == late.status == "optimal"
    back = Assignment(model)
    back.start = [s + EPOCH if p else 0 for s, p in zip(early.assignment.start, early.assignment.present, strict=True)]
    back.end = [e + EPOCH if p else 0 for e, p in zip(early.assignment.end, early.assignment.present, strict=True)]
    back.present = early.assignment.present
    assert model.check(back) == []
    values = [tuple(model.value(e, s) for e in model.objectives) for s in (back, late.assignment)]
    assert values[0] == pytest.approx(values[1], rel=0, abs=1e-4)
    assert late.size == early.size


@pytest.mark.parametrize("backend", SOLVERS)
def test_a_sum_of_late_ends_is_optimal_to_the_second(backend):
    m = sl.Model("queue")
    jobs = [m.interval(f"j{k}", 100 + 7 * k, (EPOCH, EPOCH + 5000)) for k in range(5)]
    m.add(sl.no_overlap(jobs))
    m.minimize(sl.sum([v.end for v in jobs]))
    best = sum((5 - k) * (100 + 7 * k) for k in range(5)) + 5 * EPOCH
    r = sl.solve(m, backend=backend, time_limit=60, threads=1)
    assert r.objective >= best
    assert (r.status == "optimal") <= (r.objective == best and r.gap is not None and r.gap < 1e-6)
    if r.bound is not None and r.gap:
        assert r.gap == pytest.approx((r.objective - r.bound) / (r.objective - 5 * EPOCH))


@pytest.mark.parametrize("backend", SOLVERS)
def test_a_constant_in_the_objective_is_in_no_gap(backend):
    m = sl.Model("constant")
    xs = [m.integer(f"x{k}", 0, 30) for k in range(6)]
    m.add(sl.sum(xs, [3, 5, 7, 11, 13, 17]) == 101)
    m.minimize(sl.sum(xs, [5, 7, 9, 12, 15, 19]) + 10**9)
    alone = sl.Model("alone")
    ys = [alone.integer(f"x{k}", 0, 30) for k in range(6)]
    alone.add(sl.sum(ys, [3, 5, 7, 11, 13, 17]) == 101)
    alone.minimize(sl.sum(ys, [5, 7, 9, 12, 15, 19]))
    r, other = sl.solve(m, backend=backend), sl.solve(alone, backend=backend)
    assert (r.status, r.objective) == ("optimal", other.objective + 10**9)


@pytest.mark.parametrize("backend", SOLVERS)
@pytest.mark.parametrize("shift", [0, EPOCH])
def test_a_function_of_late_times_is_as_exact_as_of_early_ones(backend, shift):
    m = sl.Model("prices")
    a, b, c = (m.interval(n, 1, (shift + 1, shift + 5)) for n in "abc")
    m.add(sl.no_overlap([a, b]))
    prices = [(shift - 60, 1), (shift - 5, 0.5), (shift - 4, -2.25), (shift + 60, 0.5)]
    late = 2 * b.start - 2 * c.end + a.end
    m.maximize(-0.1 * sl.piecewise(late, prices) - 0.001 * sl.element(list(range(40)), late + 14 - shift))
    times = range(shift + 1, shift + 6)
    best = max(
        m.value(m.objectives[0], Assignment(m, {a: x, b: y, c: z}))
        for x, y, z in itertools.product(times, repeat=3)
        if x != y
    )
    r = sl.solve(m, backend=backend, threads=1, time_limit=60)
    assert r.status == "optimal" and r.objective == pytest.approx(best) and r.bound >= best - 1e-6


def test_an_offset_is_what_a_shift_of_all_times_takes_off():
    m = sl.Model("m")
    a, b = m.interval("a", 3, (EPOCH, EPOCH + 9)), m.interval("b", 3, (EPOCH + 2, EPOCH + 9), optional=True)
    assert origin_of(m) == EPOCH
    for e, offset in [
        (a.end + 5, EPOCH + 5),
        (a.end - a.start, 0),
        (a.end + b.end, EPOCH),
        (sl.max([a.end, a.start + 2]), EPOCH),
        (sl.max([a.end - EPOCH - 4, EPOCH + 4 - a.end]), 0),
        (0.5 * a.end, EPOCH / 2),
    ]:
        assert offset_of(e.linear(), EPOCH) == offset


def test_gaps_are_never_looser_with_an_offset():
    assert relative_gap(1020, 1018, 1000) == 0.1 and relative_gap(20, 18, -1000) == 0.1
    assert not close(EPOCH + 1593, EPOCH + 859, offset=EPOCH) and close(EPOCH + 1593, EPOCH + 859)


@pytest.mark.parametrize(
    "method",
    [
        "highs:counts@pairwise",
        "highs:counts",
        "cpsat:counts",
        "cpo:counts",
        pytest.param("auto", marks=pytest.mark.slow),
    ],
)
def test_a_makespan_since_1970_is_proven_to_the_second(method):
    nodes = sl.Platform([sl.NodeGroup("n", 2, {"cores": 4})])
    walltimes, waits = [600, 420, 780, 300, 540, 360], [5, 10, 12, 20, 25, 31]
    jobs = [
        sl.Job(str(k), EPOCH + wait, time, 1, {"cores": 3}, "q")
        for k, (wait, time) in enumerate(zip(waits, walltimes, strict=True))
    ]
    problem = sl.Dispatch(nodes, jobs, [sl.Queue("q", 600)], "makespan")
    r = sl.solve(problem, method, time_limit=2, threads=1)
    assert r.objective is None or r.objective >= EPOCH + 1510
    assert r.status != "optimal" or r.objective == EPOCH + 1510
    assert r.gap is None or r.status == "optimal" or r.gap > 1e-3


@pytest.mark.parametrize("backend", SOLVERS)
def test_a_conflict_of_late_times_is_found_as_that_of_early_ones(backend):
    names = set()
    for shift in (0, EPOCH):
        m = sl.Model("late")
        a = m.interval("a", 2, (shift, shift + 4))
        b = m.interval("b", 3, (shift + 1, shift + 5), optional=True)
        m.add(sl.synchronize(b, [a]), "together")  # a row of b needs its presence times its time since 1970
        m.add(b.presence >= 1, "needed")
        m.minimize(a.end)
        r = sl.solve(m, backend=backend, threads=1)
        assert r.status == "infeasible"
        names.add(r.conflict.names)
    assert len(names) == 1


@pytest.mark.parametrize("backend", SOLVERS)
def test_a_conflict_names_an_objective_that_has_no_value(backend):
    m = sl.Model("d", horizon=5)
    a, x = m.interval("a", 1), m.integer("x", 0, 3)
    m.add(x >= 1, "low")
    m.minimize(sl.piecewise(a.start + x, [(0, 0), (0.5, 1)]))
    r = sl.solve(m, backend=backend)
    assert r.status == "infeasible"
    assert {"low", "objective 1"} <= set(r.conflict.names) <= {"low", "objective 1", "a"}  # CP Optimizer names domains


def mean_of_ends(shift):
    """Return a model with a limit of the mean of two ends, a start that breaks it by 550 s, and the greatest sum of ends."""
    m = sl.Model("mean")
    a, b = (m.interval(n, 10, (shift, shift + 1000)) for n in "ab")
    m.add(sl.no_overlap([a, b]))
    m.add(0.5 * a.end + 0.5 * b.end <= shift + 100.5, "mean")
    m.maximize(a.end + b.end)
    return m, sl.Assignment(m, {a: shift + 500, b: shift + 801}), 2 * shift + 201


@pytest.mark.parametrize("shift", [0, 10**6, EPOCH])
def test_a_real_limit_of_late_times_is_checked_to_the_second(shift):
    m, wrong, best = mean_of_ends(shift)
    assert [v.constraint for v in m.check(wrong)] == ["mean"]
    for backend in SOLVERS:
        r = sl.solve(m, backend=backend, warm_start=wrong, threads=1)
        assert (r.status, r.objective) == ("optimal", best) and r.warm_start.fate in ("rejected", "repaired")
        compiled = sl.compile(m, backend)  # in the times of the user
        compiled.fix(wrong)
        if backend == "highs":
            compiled.native.run()
            assert "nfeasible" in compiled.native.modelStatusToString(compiled.native.getModelStatus())


def test_a_native_model_of_late_times_breaks_no_real_limit():
    from ortools.sat.python import cp_model

    m, wrong, _ = mean_of_ends(EPOCH)
    compiled = sl.compile(m, "cpsat")
    compiled.fix(wrong)
    solver = cp_model.CpSolver()
    assert solver.status_name(solver.solve(compiled.native)) == "INFEASIBLE"


@pytest.mark.parametrize("shift", [0, 10**6, EPOCH])
def test_a_real_argument_beyond_late_points_has_no_value(shift):
    m = sl.Model("price of a mean")
    a, b = (m.interval(n, 10, (shift, shift + 1000)) for n in "ab")
    m.minimize(sl.piecewise(0.5 * a.end + 0.5 * b.end, [(shift, 9), (shift + 100, 5)]))
    assert m.check(sl.Assignment(m, {a: shift + 500, b: shift + 801})) != []
    assert m.check(sl.Assignment(m, {a: shift + 90, b: shift + 90})) == []
    for backend in SOLVERS:
        r = sl.solve(m, backend=backend, threads=1)
        assert r.status == "optimal" and r.objective == pytest.approx(5)
