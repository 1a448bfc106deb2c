"""500 random sites, each under all dispatchers, and 1,000 more under four of them, in turns; the suite has a part of them."""

import pytest
from simulation.random_sites import check, names

pytestmark = pytest.mark.known

EACH = 4
BLOCK = 20


@pytest.mark.parametrize("first", range(0, 500, BLOCK))
def test_replays_of_random_sites_have_no_fault_under_any_dispatcher(first):
    for seed in range(first, first + BLOCK):
        for name in names():
            assert check(seed, name) == [], f"python -m simulation.random_sites --first {seed} --count 1 --only {name}"


@pytest.mark.parametrize("first", range(500, 1500, 100))
def test_replays_of_more_random_sites_have_no_fault(first):
    every = names()
    for seed in range(first, first + 100):
        for name in (every[(seed * EACH + k) % len(every)] for k in range(EACH)):
            assert check(seed, name) == [], f"python -m simulation.random_sites --first {seed} --count 1 --only {name}"
