"""Replays of 300 small worlds under every dispatcher, checked second by second; the suite has a part of these pairs."""

import pytest
from simulation.test_small_worlds import DISPATCHERS, check

pytestmark = pytest.mark.known


@pytest.mark.parametrize("name", DISPATCHERS)
def test_replays_of_small_worlds_have_no_fault(name):
    assert min(check(name, range(300)).values()) >= 3
