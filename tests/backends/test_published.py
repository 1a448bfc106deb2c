"""Published scheduling models on every backend that can solve them: the known optima, and those of independent routes."""

import pytest
import schedlab as sl
from on_backends import usable
from published_models import MODELS
from schedlab.backends.conformance import Contender

LABELS = ["pyomo", "cpsat", "highs:pairwise", "cpo"]  # pyomo before docplex
LONG = {("houses with skilled workers", "cpo"), *((name, "pyomo") for name in MODELS)}  # pyomo: HiGHS by another way
CASES = [
    pytest.param(name, label, marks=pytest.mark.slow if (name, label) in LONG else ())
    for label in LABELS
    for name in MODELS
    if label not in MODELS[name].cannot
]


def built(name: str) -> sl.Model:
    m = sl.Model(name)
    MODELS[name].build(m)
    return m


@pytest.mark.parametrize(("name", "label"), CASES)
def test_a_published_model_has_its_known_optimum(name: str, label: str) -> None:
    usable(label)
    contender = Contender(label)
    r = sl.solve(built(name), backend=contender.backend, time_limit=600, threads=1, seed=1, **contender.options)
    assert (r.status, r.objective) == ("optimal", pytest.approx(MODELS[name].optimum))
    assert r.assignment is not None and r.assignment.model.check(r.assignment) == []


@pytest.mark.parametrize("name", [name for name, published in MODELS.items() if published.truth is not None])
def test_the_optimum_is_that_of_an_independent_route(name: str) -> None:
    truth = MODELS[name].truth
    assert truth is not None and truth() == MODELS[name].optimum


def test_there_are_23_models_and_each_exception_has_a_reason() -> None:
    assert len(MODELS) >= 23
    for name, published in MODELS.items():
        assert "cpsat" not in published.cannot or "cpo" not in published.cannot, name
        assert all(reason for reason in published.cannot.values())
