"""Random models whose constraints mean what the manual says: the check of assignments, and the optima on all backends."""

import random

import pytest
import schedlab as sl
from draws import some_now
from manual_semantics import ModelOfTheManual
from on_backends import LABELS, usable
from schedlab.backends import Limits, run
from schedlab.backends.conformance import Contender

SMALL = 8_000  # combinations of values


def small_model(seed: int) -> ModelOfTheManual:
    """Return the model of the first seed from this one on, in steps of 1,000, that is small."""
    made = ModelOfTheManual(seed)
    return made if made.size <= SMALL else small_model(seed + 1_000)


@pytest.mark.parametrize("seed", some_now(range(100), 20))
def test_assignments_hold_where_the_manual_says_so(seed: int) -> None:
    made = small_model(seed)
    rng = random.Random(seed)
    for _ in range(40):
        values = {name: rng.choice(domain) for name, domain in made.domains.items()}
        expected = made.value(values)
        answer = made.assignment(values)
        broken = made.model.check(answer)
        assert (not broken) == (expected is not None), (made.groups, values, broken)
        if not broken:
            assert made.model.value(made.model.objectives[0], answer) == expected


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("seed", some_now(range(60), 10))
def test_optima_are_those_of_the_manual(seed: int, label: str) -> None:
    usable(label)
    made = small_model(seed)
    contender = Contender(label)
    result = run(made.model, contender.backend, Limits(time=120, threads=1), conflict=False, **contender.options)
    best = made.optimum()
    assert result.status == ("infeasible" if best is None else "optimal"), (made.groups, best, result.message)
    assert result.objective == best, made.groups


def test_the_models_have_all_groups_of_constraints_and_are_often_feasible() -> None:
    models = [ModelOfTheManual(seed) for seed in range(600)]
    assert len({group for made in models for group in made.groups}) == 29
    some = [small_model(seed) for seed in range(40)]
    assert sum(made.optimum() is not None for made in some) >= 15
    assert all(isinstance(made.model, sl.Model) for made in some)
