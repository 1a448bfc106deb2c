"""Sequences on every backend, against enumeration and known answers."""

import itertools

import pytest
import schedlab as sl
from draws import some_seeds_now
from on_backends import LABELS, agrees, same_when_decomposed, solved, usable
from schedlab.backends.conformance import RandomSequences
from schedlab.backends.decompositions import SEQUENCES


@pytest.mark.parametrize("seeds", some_seeds_now(4, 12))
@pytest.mark.parametrize("label", LABELS)
def test_every_backend_agrees_with_enumeration(label: str, seeds: range) -> None:
    agrees(label, [RandomSequences(seed).model for seed in seeds])


def test_decomposed_models_have_the_same_solutions() -> None:
    same_when_decomposed([RandomSequences(seed).model for seed in range(20, 40)], SEQUENCES)


SIZES = (3, 2, 4, 1)
COLOURS = (0, 1, 2, 1)
SETUP = ((0, 4, 2), (3, 0, 6), (5, 1, 0))


def painter():
    """A painter changes colours: setup times between jobs, and costs that are not proportional to them."""
    m = sl.Model("painter")
    jobs = [m.interval(f"job {k}", size=size) for k, size in enumerate(SIZES)]
    work = sl.sequence(jobs, types=COLOURS)
    m.add(work.no_overlap(SETUP), "setup")
    m.minimize(2 * sl.max([v.end for v in jobs]) + 3 * work.cost(SETUP, first=[0, 5, 5]))

    def value(order):
        kinds = [COLOURS[k] for k in order]
        setup = sum(SETUP[a][b] for a, b in itertools.pairwise(kinds))
        return 2 * (sum(SIZES) + setup) + 3 * (setup + (0 if kinds[0] == 0 else 5))

    return m, min(map(value, itertools.permutations(range(4))))


TIMES = ((5, 2, 3), (1, 4, 2), (4, 4, 1))


def flow_shop():
    """Three jobs pass three machines in the same order, of which the second one is never idle."""
    m = sl.Model("flow shop")
    steps = [[m.interval(f"job {j} on {k}", size=t) for k, t in enumerate(row)] for j, row in enumerate(TIMES)]
    for one in steps:
        for before, after in itertools.pairwise(one):
            m.add(sl.end_before_start(before, after))
    machines = [sl.sequence([one[k] for one in steps]) for k in range(3)]
    for machine, following in itertools.pairwise(machines):
        m.add(sl.same_sequence(machine, following), "permutation")
    m.add(machines[1].no_idle(), "busy")
    m.minimize(sl.max([one[-1].end for one in steps]))

    def makespan(order):
        first = [sum(TIMES[j][0] for j in order[: k + 1]) for k in range(3)]
        work = [TIMES[j][1] for j in order]
        begin = max(first[k] - sum(work[:k]) for k in range(3))
        end = 0
        for k, j in enumerate(order):
            end = max(end, begin + sum(work[: k + 1])) + TIMES[j][2]
        return end

    return m, min(map(makespan, itertools.permutations(range(3))))


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("make", [painter, flow_shop])
def test_known_optima(label, make):
    usable(label)
    model, optimum = make()
    r = solved(model, label)
    assert (r.status, r.objective) == ("optimal", optimum), (r.message, r.assignment)
    assert model.check(r.assignment) == []


def test_two_machines_by_the_rule_of_johnson():
    """The optimum of a flow shop of two machines: jobs with a shorter first step come first, by it; the others last."""
    times = [(4, 5), (4, 1), (30, 4), (6, 30), (2, 3), (7, 7)]
    order = sorted((t for t in times if t[0] < t[1]), key=lambda t: t[0])
    order += sorted((t for t in times if t[0] >= t[1]), key=lambda t: -t[1])
    first = end = 0
    for a, b in order:
        first += a
        end = max(end, first) + b
    m = sl.Model("two machines")
    steps = [[m.interval(f"job {j} on {k}", size=t) for k, t in enumerate(row)] for j, row in enumerate(times)]
    for before, after in steps:
        m.add(sl.end_before_start(before, after))
    m.add(sl.same_sequence(*(sl.sequence([one[k] for one in steps]) for k in range(2))))
    m.minimize(sl.max([after.end for _, after in steps]))
    r = solved(m, "cpsat")
    assert (r.status, r.objective) == ("optimal", end)


def test_a_conflict_names_what_is_said_of_the_order():
    m = sl.Model("m", horizon=20)
    a, b, c = (m.interval(n, size=3) for n in "abc")
    work = sl.sequence([a, b, c])
    m.add(work.previous(a, b), "a, then b")
    m.add(work.no_overlap([[0, 1, 1]] * 3), "setup")
    m.add(sl.end_before_start(a, c), "c after a")
    m.add(sl.end_before_start(c, b), "b after c")
    m.add(a.start <= 3, "harmless")
    r = solved(m, "cpsat")
    assert r.status == "infeasible"
    assert set(r.conflict.names) - {"a", "b", "c"} == {"a, then b", "c after a", "b after c"}


def test_a_warm_start_of_a_sequence_is_taken():
    model, _ = painter()
    late = dict(zip(model.intervals, (0, 7, 15, 20), strict=True))
    r = sl.solve(model, backend="cpsat", warm_start=sl.Assignment(model, late), threads=1, time_limit=30, seed=1)
    assert r.status == "optimal" and r.warm_start.fate == "accepted"
