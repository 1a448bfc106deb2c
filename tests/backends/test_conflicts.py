"""The constraints in conflict of random infeasible models, on every backend."""

from functools import cache

import pytest
import schedlab as sl
from on_backends import LABELS, usable
from schedlab.backends import Limits, run
from schedlab.backends.conformance import Contender, brute_force, general_model, judge


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


@pytest.mark.parametrize("backend", ["cpsat", "highs"])
def test_no_constraint_is_named_that_the_others_do_not_need(backend):
    usable(backend)
    m = sl.Model("parts of a constraint", horizon=30)
    a, b, c = (m.interval(n, size=s, start=(0, 5), optional=True) for n, s in (("a", 2), ("b", 1), ("c", 3)))
    m.add(sl.all_or_none([a, c]), "aon")  # a part of the isomorphism needs it, the whole does not
    m.add(sl.isomorphism([a], [b, c]), "iso")
    m.add(abs(b.start - c.start) >= 2, "apart")
    conflict = run(m, backend, Limits(time=60, threads=1)).conflict
    assert set(conflict.names) == {"iso", "apart"}
    if backend == "cpsat":
        assert conflict.reason == "they cannot hold together; without any one of them, the others can"
