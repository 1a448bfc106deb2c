"""Models of a group of constructs on every backend, against enumeration, and with these constructs decomposed."""

from collections.abc import Iterable

import pytest
import schedlab as sl
from schedlab.backends import Limits, backend
from schedlab.backends.conformance import Contender, brute_force, examine_one
from schedlab.backends.decompositions import ALL, Chain, Construct, constructs_of

LABELS = ["pyomo", "cpsat", "highs:pairwise", "highs:time-indexed", "cpo"]  # pyomo before docplex


def usable(label: str) -> None:
    """Skip a test whose backend is not installed."""
    name = Contender(label).backend
    if not backend(name).availability().ok:
        pytest.skip(f"{name} is not installed")


def solved(model: sl.Model, label: str) -> sl.Result:
    """Return the result of a backend."""
    contender = Contender(label)
    return sl.solve(model, backend=contender.backend, time_limit=60, threads=1, seed=1, **contender.options)


def agrees(label: str, models: Iterable[sl.Model]) -> None:
    """Check that a backend has the answers of enumeration."""
    usable(label)
    for model in models:
        truth = brute_force(model)
        for check in ("solve", "fixed", "shifted"):
            verdict = examine_one(model, truth, Contender(label), check, Limits(time=30, threads=1))
            assert not verdict.wrong and verdict.decided, (model.name, check, verdict.wrong)


def same_when_decomposed(models: Iterable[sl.Model], constructs: frozenset[Construct]) -> None:
    """Check that models without these constructs, and without any, have the solutions of the original."""
    for model in models:
        truth = brute_force(model)
        for supports in (ALL - constructs, frozenset[Construct]()):
            chain = Chain(model, supports)
            assert not constructs_of(chain.model) & constructs
            if truth.first is not None:
                moved = chain.forward(truth.first)
                assert chain.model.check(moved) == []
                assert not model.check(chain.back(moved))
