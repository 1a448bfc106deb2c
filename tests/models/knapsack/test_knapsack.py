"""The knapsack: optima by enumeration and by both solvers, exact weights, faults."""

import itertools
import random
from fractions import Fraction

import pytest
import schedlab as sl
from draws import some_now
from schedlab.models import Item, Knapsack, ProblemError, Schedule


def random_knapsack(seed: int) -> Knapsack:
    rng = random.Random(seed)
    items = [
        Item(str(k), rng.choice([rng.randint(0, 20), rng.random() * 20]), Fraction(rng.randint(0, 60), 4))
        for k in range(9)
    ]
    return Knapsack(items, Fraction(rng.randint(0, 160), 4))


@pytest.mark.parametrize("seed", some_now(range(12), 5))
def test_both_solvers_find_the_optimum_by_enumeration(seed: int) -> None:
    sack = random_knapsack(seed)
    names = [item.name for item in sack.items]
    every = [Knapsack.packing(some) for r in range(len(names) + 1) for some in itertools.combinations(names, r)]
    best = max(sack.value(each) for each in every if not sack.verify(each))
    for backend in ("cpsat", "highs"):
        found = sl.solve(sack, backend=backend, threads=1, time_limit=20)
        assert found.status == "optimal" and found.objective == pytest.approx(best)
        assert sack.verify(found.schedule) == []
        again = sl.solve(sack, backend=backend, threads=1, time_limit=20, warm_start=found.schedule)
        assert again.warm_start.fate == "accepted"


def test_weights_are_exact() -> None:
    """Three times a tenth is not more than three tenths."""
    tenth = Fraction(1, 10)
    sack = Knapsack([Item(n, 1, tenth) for n in "abc"], 3 * tenth)
    assert sl.solve(sack, backend="cpsat", threads=1).objective == 3
    less = Knapsack(sack.items, 3 * tenth - Fraction(1, 10**9))
    assert sl.solve(less, backend="cpsat", threads=1).objective == 2
    assert "more than the capacity" in less.verify(Knapsack.packing("abc"))[0].message


def test_wrong_answers_and_data_are_explained() -> None:
    sack = Knapsack([Item("a", 1, 1)], 5)
    assert "not one of the problem" in sack.verify(Knapsack.packing("b"))[0].message
    assert "must start at 0" in sack.verify(Schedule({"a": 3}, {"a": {"knapsack": 1}}))[0].message
    with pytest.raises(ProblemError, match="item 'a' is listed 2 times"):
        Knapsack([Item("a", 1, 1), Item("a", 2, 2)], 5)
    for wrong in ({"value": -1, "weight": 1}, {"value": 1, "weight": float("nan")}):
        with pytest.raises(ProblemError, match="at least 0 is expected"):
            Knapsack([Item("a", **wrong)], 5)


def test_auto_solves_it() -> None:
    found = sl.solve(Knapsack([Item("a", 6, 3), Item("b", 5, 2), Item("c", 4, 2)], 4), time_limit=10)
    assert (found.status, found.objective) == ("optimal", 9)
