"""400 random models without a horizon (``make known``): every backend gives the answer of the same model with a huge one."""

import pytest
import schedlab as sl
from random_horizons import differences, random_model

pytestmark = pytest.mark.known
SOLVERS = [name for name in ("cpsat", "highs", "cpo") if sl.backends.available()[name].ok]


@pytest.mark.parametrize("first", range(0, 400, 20))
def test_nothing_is_cut_off(first):
    assert [differences(seed, SOLVERS)[0] for seed in range(first, first + 20)] == [[]] * 20


def test_few_models_need_a_horizon():
    assert sum(not random_model(seed).derived_horizon.proved for seed in range(400)) <= 8
