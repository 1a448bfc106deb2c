"""What users' parts of the large-neighbourhood search return is checked where it is returned."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import schedlab as sl
from schedlab import lns
from schedlab.heuristics import lns as lns_parts
from schedlab.heuristics.lns import AroundTime, InsertBy, KeyChanges, RuinAndRecreate, Tolerances, Turns
from schedlab.models import PluginError

NAN = float("nan")
HALF_DAY = sl.load("eurora_99").problem.at("12:00", first=6)
NOON = sl.load("eurora_330").problem.at(12 * 3600, first=12)


class Remove:
    """A destroy operator that returns what the given function returns."""

    weight = 1.0

    def __init__(self, answer):
        self.answer = answer

    def __repr__(self):
        return "Remove()"

    def jobs(self, placement, rng):
        return self.answer(len(placement.starts))


class Insert(Remove):
    """A repair operator that returns what the given function returns."""

    def __repr__(self):
        return "Insert()"

    def keys(self, placement, removed, rng):
        return self.answer(len(removed))


def searched(**parts):
    return lns(NOON, seed=1, **({"operators": [KeyChanges()], "stopping": Turns(3)} | parts))


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (lambda n: None, "jobs returned None"),
        (lambda n: np.arange(n) < 3, "jobs returned a mask of truth values.*flatnonzero"),
        (lambda n: [True, False], "jobs returned a mask of truth values"),
        (lambda n: [0, n], "jobs returned 12 at position 1; expected indices of jobs, whole numbers from 0 to 11"),
        (lambda n: [-1], "jobs returned -1 at position 0"),
        (lambda n: [0.5], "jobs returned 0.5 at position 0"),
        (lambda n: [NAN], "jobs returned nan at position 0"),
        (lambda n: 3, "jobs returned 3; expected indices"),
        (lambda n: [[1, 2]], r"jobs returned an array of shape \(1, 2\)"),
        (lambda n: ["a"], "jobs returned 'a' at position 0"),
        (lambda n: "abc", "jobs returned 'abc'"),
    ],
)
def test_a_destroy_operator_that_returns_no_jobs(answer, why):
    ruin = RuinAndRecreate(destroy=[Remove(answer)], repair=[InsertBy("area")])
    with pytest.raises(sl.SchedlabError, match=rf"destroy operator Remove\(\): {why}"):
        searched(operators=[ruin])


def raises(n):
    raise KeyError(n)


def test_parts_that_raise_are_named():
    ruin = RuinAndRecreate(destroy=[Remove(raises)], repair=[InsertBy("area")])
    with pytest.raises(PluginError, match=r"destroy operator Remove\(\): jobs raised KeyError: 12"):
        searched(operators=[ruin])
    ruin = RuinAndRecreate(destroy=[Remove(lambda n: [1])], repair=[Insert(raises)])
    with pytest.raises(PluginError, match=r"repair operator Insert\(\): keys raised KeyError: 1"):
        searched(operators=[ruin])


def test_no_jobs_too_many_and_repeated_ones_are_allowed():
    for answer in (
        lambda n: [],
        lambda n: [2, 5, 2],
        lambda n: np.zeros(0),
        lambda n: range(n),
        lambda n: np.arange(n, dtype=np.int8),
    ):
        ruin = RuinAndRecreate(destroy=[Remove(answer)], repair=[InsertBy("area")], most_jobs=5, steps=4)
        assert NOON.verify(searched(operators=[ruin]).schedule) == []


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (lambda n: None, "keys returned None"),
        (lambda n: [1.0] * (n + 1), r"keys returned an array of shape \(\d+,\)"),
        (lambda n: [NAN] * n, "keys returned NaN at position 0"),
        (lambda n: ["a"] * n, "keys returned an array of type"),
        (lambda n: 1.0, "keys returned 1.0"),
    ],
)
def test_a_repair_operator_that_returns_no_keys(answer, why):
    ruin = RuinAndRecreate(destroy=[AroundTime()], repair=[Insert(answer)])
    with pytest.raises(sl.SchedlabError, match=rf"repair operator Insert\(\): {why}"):
        searched(operators=[ruin])


@pytest.mark.parametrize("weight", [None, -1, NAN, "much", 0])
def test_a_weight_that_is_none(weight):
    operator = Remove(lambda n: [0])
    operator.weight = weight
    with pytest.raises(sl.SchedlabError, match=r"destroy operator.*weight"):
        searched(operators=[RuinAndRecreate(destroy=[operator])])


@pytest.mark.parametrize("k", [None, 1, -1, 0.0, True])
def test_a_selection_that_returns_no_operator(k):
    class Mine:
        def select(self, operators, over, rng):
            return k

    with pytest.raises(sl.SchedlabError, match=f"select returned {k}; expected the index of an operator, 0 to 0"):
        searched(selection=Mine())


@pytest.mark.parametrize("share", [None, NAN, -0.1, "late"])
def test_a_stopping_criterion_that_returns_no_share(share):
    class Mine:
        def over(self, progress):
            return share

    with pytest.raises(sl.SchedlabError, match=r"over returned .*; expected the share of the search that is over"):
        searched(stopping=Mine(), rounds=3)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (lambda n: None, "tolerances returned None; expected Tolerances"),
        (lambda n: np.zeros(n), "tolerances returned array"),
        (lambda n: Tolerances(np.zeros(n), [NAN] * n), "tolerances returned NaN"),
        (lambda n: Tolerances(np.zeros(n + 1), np.zeros(n)), r"tolerances returned an array of shape \(2,\)"),
    ],
)
def test_an_acceptance_criterion_that_returns_no_tolerances(answer, why):
    class Mine:
        def tolerances(self, steps, best, over, rng):
            return answer(steps)

    with pytest.raises(sl.SchedlabError, match=f"acceptance criterion .*{why}"):
        searched(acceptance=Mine())


@pytest.mark.parametrize("schedule", [None, {"a": 0}, 7])
def test_a_heuristic_whose_result_has_no_schedule(schedule):
    from made_heuristics import made
    from schedlab.heuristics import HEURISTICS, answer

    def run(problem, request):
        return answer(problem, schedule)

    def claim(problem, request):
        return sl.Result("optimal", "mine", "1", objective=7, schedule=schedule)

    for each, why in ((run, "answer: schedule is"), (claim, "returned a Result of status 'optimal' with the schedule")):
        HEURISTICS.register("of-a-test", made(each, kinds=("dispatch",)))
        try:
            with pytest.raises(sl.SchedlabError, match=why):
                sl.solve(NOON, "of-a-test")
        finally:
            HEURISTICS.unregister("of-a-test")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: lns_parts.Turns("x"), "most of Turns is 'x'; expected a whole number"),
        (lambda: lns_parts.Threshold(None), "relative of Threshold is None; expected a number"),
        (lambda: lns_parts.RandomChoice(3), "weights of RandomChoice is 3; expected a mapping"),
        (lambda: lns_parts.KeyChanges(trials=1.5), "trials of KeyChanges is 1.5; expected a whole number"),
        (lambda: lns_parts.FirstOf(3), "criteria of FirstOf is 3; expected a list"),
        (lambda: lns_parts.RuinAndRecreate(destroy=3), "destroy of RuinAndRecreate is 3; expected a list"),
        (
            lambda: lns_parts.RuinAndRecreate(destroy=[lns_parts.AroundTime]),
            r"destroy\[0\] of RuinAndRecreate is <class",
        ),
        (lambda: lns_parts.InsertBy([1]), "key of InsertBy is .1.; expected a text"),
        (lambda: sl.lns(HALF_DAY, threads=10**30), "threads of lns is .*; expected at most 10,000"),
        (lambda: sl.solve(HALF_DAY, "multi-search", threads=10**30), "threads is .*; expected at most 10,000"),
    ],
)
def test_parts_of_the_search_with_wrong_values(make: Callable[[], object], words: str) -> None:
    with pytest.raises(sl.SchedlabError, match=words):
        make()


class Follows:
    """An operator whose turn is a function of the search."""

    name = "follows"

    def __init__(self, start: Callable[[Any], Any]) -> None:
        self.start = start


@pytest.mark.parametrize(
    ("start", "words"),
    [
        (lambda search: None, "operator 'follows': start returned None; expected the function that takes turns"),
        (
            lambda search: lambda seconds: search.place(np.zeros(2)),
            r"keys of place is .*of shape \(2,\); expected an array",
        ),
        (
            lambda search: lambda seconds: search.place(None),
            "keys of place is None; expected an array of a number for each",
        ),
        (
            lambda search: lambda seconds: search.place(np.full(6, np.nan)),
            "keys of place is array.*nan.*; expected an array",
        ),
        (lambda search: lambda seconds: search.follow(None, None), "parent of follow is None; expected an Order"),
    ],
)
def test_an_operator_that_places_something_else(start: Callable[[Any], Any], words: str) -> None:
    with pytest.raises(PluginError, match=words):
        sl.lns(HALF_DAY, rounds=1, operators=[Follows(start)])


def test_an_infinite_time_limit_is_none() -> None:
    assert sl.lns(HALF_DAY, time_limit=math.inf, rounds=1).status == "feasible"
    assert sl.solve(HALF_DAY, "lns", time_limit=math.inf, rounds=1).status == "feasible"
