"""Arithmetic, conditions and relations on every backend, against enumeration and known answers."""

import pytest
import schedlab as sl
from on_backends import solved, usable
from schedlab.backends import Limits
from schedlab.backends.conformance import ARITHMETIC, Contender, RandomArithmetic, brute_force, examine_one
from schedlab.backends.decompositions import ALL, NOT_LINEAR, Chain, constructs_of

LABELS = ["pyomo", "cpsat", "highs:pairwise", "highs:time-indexed", "cpo"]  # pyomo before docplex


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("pattern", ARITHMETIC)
def test_every_backend_agrees_with_enumeration(label, pattern):
    usable(label)
    for seed in range(4):
        model = RandomArithmetic(pattern, seed).model
        truth = brute_force(model)
        for check in ("solve", "fixed", "shifted"):
            verdict = examine_one(model, truth, Contender(label), check, Limits(time=30, threads=1))
            assert not verdict.wrong and verdict.decided, (seed, check, verdict.wrong)


@pytest.mark.parametrize("pattern", ARITHMETIC)
def test_decomposed_models_have_the_same_solutions(pattern):
    for seed in range(10, 16):
        model = RandomArithmetic(pattern, seed).model
        truth = brute_force(model)
        for supports in (ALL - NOT_LINEAR, frozenset()):  # the latter: integers and linear comparisons alone
            chain = Chain(model, supports)
            assert not constructs_of(chain.model) & NOT_LINEAR
            if truth.first is not None:
                moved = chain.forward(truth.first)
                assert chain.model.check(moved) == []
                assert not model.check(chain.back(moved))


def magic_square():
    m = sl.Model("magic square")
    cells = [[m.integer(f"cell {r}{c}", 1, 9) for c in range(3)] for r in range(3)]
    flat = [x for row in cells for x in row]
    m.add(sl.all_different(flat))
    lines = [*cells, *zip(*cells, strict=True), [cells[k][k] for k in range(3)], [cells[k][2 - k] for k in range(3)]]
    for line in lines:
        m.add(sl.sum(line) == 15)
    m.minimize(cells[0][0] * 10 + cells[0][1])
    return m, 27  # 2 7 6 / 9 5 1 / 4 3 8


def energy():
    """The power of a job grows with its cores, its size shrinks: 12 core hours in whole hours."""
    m = sl.Model("energy")
    cores = m.integer("cores", 1, 6)
    job = m.interval("job", size=(1, 12), start=(0, 12))
    watts = m.integer("watts", 0, 400)
    m.add(job.size * cores >= 12)
    m.add(sl.table([cores, watts], [(1, 100), (2, 110), (3, 120), (4, 200), (6, 300)]))
    m.minimize(job.size * watts)
    return m, 480


def element_of_times():
    m = sl.Model("element")
    a, b = m.interval("a", size=3, start=(2, 9)), m.interval("b", size=2, start=(0, 9))
    i = m.integer("i", 0, 4)
    m.add(sl.element([a.end, b.end, a.start - b.start], i) == 4)
    m.maximize(10 * i + a.start + b.start)
    return m, 20 + 9 + 5


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("make", [magic_square, energy, element_of_times])
def test_known_optima(label, make):
    usable(label)
    model, optimum = make()
    contender = Contender(label)
    r = sl.solve(model, backend=contender.backend, time_limit=60, threads=1, seed=1, **contender.options)
    assert (r.status, r.objective) == ("optimal", optimum), (r.message, r.assignment)
    assert model.check(r.assignment) == []


def test_what_was_replaced_is_said():
    m = sl.Model("m")
    x = m.integer("x", 0, 3)
    m.minimize(x * x)
    assert (
        sl.solve(m, backend="highs").exactness.notes[-1]
        == "decomposed, because highs does not have them: product of expressions"
    )
    assert sl.solve(m, backend="cpsat").exactness.notes == ()


@pytest.mark.parametrize("name", ["cpsat", "cpo"])
def test_conflicts_name_the_constraints(name):
    usable(name)
    m = sl.Model("m")
    xs = [m.integer(f"x{k}", 0, 1) for k in range(3)]
    m.add(sl.all_different(xs), "three values")
    m.add(xs[0] * xs[1] >= 0, "harmless")
    r = sl.solve(m, backend=name, threads=1)
    assert r.status == "infeasible" and set(r.conflict.names) - {"x0", "x1", "x2"} == {"three values"}


def test_explain_names_the_constraints():
    m = sl.Model("m")
    x = m.integer("x", 0, 5)
    m.add(sl.table([x], [(1,), (4,)]), "allowed")
    m.add(x % 3 == 2, "rest")
    m.add(x != 9, "harmless")
    found = sl.explain(m, backend="cpsat", time_limit=20)
    assert found.status == "infeasible" and {e.name for e in found.elements} == {"allowed", "rest"}


def test_late_times():
    """Times since 1970: the products and remainders are those of the times themselves."""
    day = 86_400
    late = 1_700_000_000
    m = sl.Model("late")
    a = m.interval("a", size=3600, start=(late, late + 2 * day))
    m.add(a.start % day == 7 * 3600)
    m.minimize(a.start)
    for name in ("cpsat", "highs"):
        r = sl.solve(m, backend=name, time_limit=30, threads=1)
        start = r.assignment[a].start
        assert r.status == "optimal" and start % day == 7 * 3600 and late <= start < late + day


@pytest.mark.parametrize("label", LABELS)
def test_a_presence_twice_in_a_sum(label: str) -> None:
    """CP Optimizer 22.2 calls (presenceOf(a) == 1) + presenceOf(a) == 1 feasible."""
    for negated, total, status in (
        (False, 1, "infeasible"),
        (True, 2, "infeasible"),
        (False, 2, "optimal"),
        (True, 1, "optimal"),
    ):
        m = sl.Model("twice", horizon=9)
        a = m.interval("a", size=2, optional=True)
        m.add(sl.holds(a.presence == (0 if negated else 1)) + a.presence == total, "odd")
        m.minimize(a.presence)
        usable(label)
        assert solved(m, label).status == status


@pytest.mark.parametrize("label", LABELS)
def test_an_expression_in_a_window_that_its_values_never_leave_needs_a_value(label: str) -> None:
    m = sl.Model("index")
    i, x = m.integer("i", 0, 2), m.integer("x", 1, 2)
    m.add(sl.in_domain(sl.element([x, 1, 2], i - 2), [-2, (1, 3), (5, None)]))
    m.minimize(i)
    usable(label)
    r = solved(m, label)
    assert (r.status, r.objective) == ("optimal", 2)
