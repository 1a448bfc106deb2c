"""1,000 random sites, each under four of all dispatchers, in turns; the suite has a part of them."""

import pytest
from simulation.random_sites import check, names

pytestmark = pytest.mark.known

EACH = 4


@pytest.mark.parametrize("first", range(0, 1000, 100))
def test_replays_of_random_sites_have_no_fault(first):
    every = names()
    for seed in range(first, first + 100):
        for name in (every[(seed * EACH + k) % len(every)] for k in range(EACH)):
            assert check(seed, name) == [], f"python -m simulation.random_sites --first {seed} --count 1 --only {name}"
