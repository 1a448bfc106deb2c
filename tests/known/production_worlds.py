"""Replays of 300 small worlds with reservations and server events under every dispatcher; the suite has a part of them."""

import pytest
from simulation.test_production_worlds import CP_DISPATCHERS, DISPATCHERS, check

pytestmark = pytest.mark.known


@pytest.mark.parametrize("name", DISPATCHERS)
def test_replays_of_small_worlds_have_no_fault(name):
    assert min(check(range(300), DISPATCHERS[name], chunks=name != "beside").values()) >= 3


@pytest.mark.parametrize("name", CP_DISPATCHERS)
def test_replays_under_cp_dispatchers_have_no_fault(name):
    assert min(check(range(300), CP_DISPATCHERS[name]).values()) >= 3
