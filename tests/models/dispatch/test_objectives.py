"""Objectives: the registry, and costs that cannot be used."""

import numpy as np
import pytest
from schedlab.models import Dispatch, Job, NodeGroup, Platform, ProblemError, Queue
from schedlab.models.dispatch.objectives import (
    Excess,
    LastEnd,
    Late,
    Objective,
    find_objective,
    register_objective,
)
from schedlab.simulation import CPDispatcher

MACHINE = Platform([NodeGroup("n", 1, {"cores": 4})])
JOBS = [Job(name, 0, 10, 1, {"cores": 1}, "q") for name in "ab"]


def test_an_unknown_objective_is_an_error_with_similar_names():
    for make in (
        lambda name: find_objective(name),
        lambda name: Dispatch(MACHINE, JOBS, [Queue("q", 60)], name),
        lambda name: CPDispatcher("hcp", objective=name),
    ):
        with pytest.raises(ProblemError, match=r"no objective 'weighted-wai'; did you mean .*weighted-wait"):
            make("weighted-wai")
        with pytest.raises(ProblemError, match="no objective 'xyz'; known are makespan, waiting"):
            make("xyz")


def test_an_objective_of_schedlab_is_not_replaced():
    shipped = find_objective("waiting")
    with pytest.raises(ProblemError, match="'waiting' belongs to schedlab"):
        register_objective(shipped)
    assert find_objective("waiting") is shipped


def test_an_unknown_sense_is_refused():
    with pytest.raises(ProblemError, match="'minimise'"):
        register_objective(Objective("new", "", lambda p: LastEnd(), lambda p, s: 0, "minimise"))
    with pytest.raises(ProblemError, match="no objective 'new'"):
        find_objective("new")


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: Excess([1.0, -1.0]), "at least 0"),
        (lambda: Excess([1.0, np.nan]), "finite"),
        (lambda: Excess([1.0], constant=[np.inf]), "finite"),
        (lambda: Excess([1.0, 2.0], grace=[1]), "same length"),
        (lambda: Excess(1.0), "lists"),
        (lambda: Excess([1.0], grace=[0.5]), "whole numbers"),
        (lambda: Late([np.nan]), "whole numbers"),
        (lambda: Late(5), "list"),
    ],
)
def test_costs_that_cannot_be_used_are_refused(make, why):
    with pytest.raises(ProblemError, match=why):
        make()


def test_costs_of_other_jobs_than_those_of_the_problem_are_refused():
    problem = Dispatch(MACHINE, JOBS, [Queue("q", 60)])
    three = Objective("three", "", lambda p: Excess([1, 1, 1]), lambda p, s: 0)
    with pytest.raises(ProblemError, match="costs of 3 jobs, not of 2"):
        three.costs_of(problem)


def test_costs_of_some_jobs():
    costs = Excess([2.0, 1.0, 0.5], [0, 5, -5], [0.0, 7.0, 1.0])
    wait = np.array([3, 9, 1])
    parts = [costs.some(np.array(some)).value(wait[some], wait[some]) for some in ([1], [0, 2])]
    assert parts == [11.0, 10.0] and sum(parts) == costs.value(wait, wait)
    assert Late([1, 2]).some(np.array([1])).value(np.array([2]), np.array([9])) == 0
