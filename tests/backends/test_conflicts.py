"""The constraints in conflict of random infeasible models, on every backend."""

from functools import cache

import pytest
from on_backends import LABELS, usable
from schedlab.backends import Limits, run
from schedlab.backends.conformance import Contender, general_model, judge
from schedlab.backends.conformance.brute_force import brute_force


@cache
def infeasible_models():
    """Return small models without a solution."""
    models = [general_model(seed).model for seed in range(60)]
    return [m for m in models if brute_force(m).best is None][:12]


@pytest.mark.parametrize("label", LABELS)
def test_every_backend_names_constraints_that_cannot_hold_together(label):
    usable(label)
    contender = Contender(label)
    assert len(infeasible_models()) == 12
    for model in infeasible_models():
        result = run(model, contender.backend, Limits(time=60, threads=1), **contender.options)
        assert result.status == "infeasible" and result.conflict.names, (model.name, result.conflict)
        assert judge(model, brute_force(model), result) == []
