"""The constraints in conflict of random infeasible models, on every backend."""

from functools import cache

import pytest
import schedlab as sl
from on_backends import LABELS, usable
from schedlab.backends import Limits, run
from schedlab.backends.base import Conflict
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


@pytest.mark.parametrize("backend", ["cpsat", "highs", "cpo"])
def test_a_conflict_that_is_called_minimal_is_so_by_enumeration(backend: str) -> None:
    usable(backend)
    checked = 0
    for model in infeasible_models():
        conflict = run(model, backend, Limits(time=60, threads=1)).conflict
        assert conflict.reason.startswith("they cannot hold together; without any one of them, the others can")
        constraints = [c for c in model.constraints if c.name in conflict.names]
        if any("objective" in name for name in conflict.names):
            continue
        for left_out in (None, *constraints):
            part = model.copy()
            for c in model.constraints:
                if c not in constraints or c is left_out:
                    part.remove(c.name)
            part.objectives = []
            assert (brute_force(part).best is None) == (left_out is None), (model.name, conflict, left_out)
        checked += 1
    assert checked >= 8


def test_what_was_not_tested_of_a_conflict_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    usable("cpo")
    m = sl.Model("one machine", horizon=2)
    a, b = (m.interval(name, size=3) for name in "ab")
    m.add(sl.no_overlap([a, b]), "machine")
    m.minimize(b.end)
    tested = run(m, "cpo", Limits(time=60, threads=1)).conflict
    assert tested.names[0] == "machine" and "without any one of them" in tested.reason
    assert "that the values of a and b take part is the word of cpo" in tested.reason
    monkeypatch.setattr("schedlab.backends.driver._Filter._is_infeasible", undecided)
    untested = run(m, "cpo", Limits(time=60, threads=1)).conflict
    assert untested.names and "a minimal conflict by the word of CP Optimizer" in untested.reason
    assert "not tested" in untested.reason


def undecided(self, some: object) -> bool:
    """Stand for a search whose time has ended."""
    self.undecided += 1
    return False


@pytest.mark.parametrize("backend", ["highs", "cpo"])
def test_constraints_that_can_hold_together_are_no_conflict(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    usable(backend)
    m = sl.Model("one machine", horizon=2)
    a, b = (m.interval(name, size=3) for name in "ab")
    m.add(sl.no_overlap([a, b]), "machine")
    m.add(a.start >= 0, "no conflict")
    m.minimize(b.end)
    wrong = Conflict(("no conflict",), "a conflict")
    monkeypatch.setattr("schedlab.backends.driver._conflict", lambda *_: wrong)
    conflict = run(m, backend, Limits(time=60, threads=1)).conflict
    assert conflict.names[0] == "machine" and "no conflict" not in conflict.names
