"""State functions and batches on every backend, against enumeration and known answers."""

import itertools

import pytest
import schedlab as sl
from on_backends import LABELS, agrees, same_when_decomposed, solved, usable
from schedlab.backends.conformance import RandomStates
from schedlab.backends.decompositions import STATES


@pytest.mark.parametrize("label", LABELS)
def test_every_backend_agrees_with_enumeration(label: str) -> None:
    agrees(label, [RandomStates(seed).model for seed in range(6)])


def test_decomposed_models_have_the_same_solutions() -> None:
    same_when_decomposed([RandomStates(seed).model for seed in range(20, 40)], STATES)


JOBS = ((4, 0, 1), (4, 0, 2), (5, 1, 1), (5, 1, 1), (5, 1, 2))  # duration, temperature, size in the furnace
CHANGE = ((1, 6), (3, 2))  # time between two batches, by their temperatures
ROOM = 3


def furnace():
    """Jobs of a temperature are baked together in batches that start and end together, within the room."""
    m = sl.Model("furnace")
    bake = [m.interval(f"job {k}", size=size) for k, (size, _, _) in enumerate(JOBS)]
    uses = [
        sl.always_equal(v, t, start_aligned=True, end_aligned=True) for v, (_, t, _) in zip(bake, JOBS, strict=True)
    ]
    m.add(sl.state_function(uses, CHANGE), "furnace")
    m.add(sl.cumulative(bake, [room for _, _, room in JOBS], ROOM), "room")
    m.minimize(sl.max([v.end for v in bake]))
    best = min(
        sum(JOBS[batch[0]][0] for batch in order)
        + sum(CHANGE[JOBS[a[0]][1]][JOBS[b[0]][1]] for a, b in itertools.pairwise(order))
        for batches in batchings(len(JOBS))
        if all(len({JOBS[k][1] for k in b}) == 1 and sum(JOBS[k][2] for k in b) <= ROOM for b in batches)
        for order in itertools.permutations(batches)
    )
    return m, best


BURN_IN = ((3, 0), (5, 0), (2, 1), (6, 1), (4, 1))  # least duration, family


def burn_in():
    """A batch holds two compatible jobs, starts with both, and takes as long as the longer one: late jobs cost."""
    m = sl.Model("burn-in")
    jobs = [m.interval(f"job {k}", size=size) for k, (size, _) in enumerate(BURN_IN)]
    m.add(
        sl.state_function([sl.always_equal(v, f, start_aligned=True) for v, (_, f) in zip(jobs, BURN_IN, strict=True)])
    )
    m.add(sl.cumulative(jobs, [1] * len(jobs), 2), "two places")
    m.minimize(sl.sum([v.end for v in jobs]))

    def ends(order):
        begin = total = 0
        for batch in order:
            total += sum(begin + BURN_IN[k][0] for k in batch)
            begin += max(BURN_IN[k][0] for k in batch)
        return total

    best = min(
        ends(order)
        for batches in batchings(len(BURN_IN))
        if all(len({BURN_IN[k][1] for k in b}) == 1 and len(b) <= 2 for b in batches)
        for order in itertools.permutations(batches)
    )
    return m, best


def batchings(n):
    """All partitions of the numbers below n."""
    if n == 0:
        yield []
        return
    for smaller in batchings(n - 1):
        for k in range(len(smaller)):
            yield [*smaller[:k], [*smaller[k], n - 1], *smaller[k + 1 :]]
        yield [*smaller, [n - 1]]


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("make", [furnace, burn_in])
def test_known_optima(label, make):
    usable(label)
    model, optimum = make()
    r = solved(model, label)
    assert (r.status, r.objective) == ("optimal", optimum), (r.message, r.assignment)
    assert model.check(r.assignment) == []


def test_a_conflict_names_the_state():
    m = sl.Model("m", horizon=9)
    a, b = m.interval("a", size=3), m.interval("b", size=3)
    m.add(sl.state_function([sl.always_equal(a, 0), sl.always_equal(b, 1)], [[0, 7], [7, 0]]), "oven")
    m.add(a.start >= 0, "harmless")
    r = solved(m, "cpsat")
    assert r.status == "infeasible"
    assert set(r.conflict.names) - {"a", "b"} == {"oven", "horizon of 9 s"}
