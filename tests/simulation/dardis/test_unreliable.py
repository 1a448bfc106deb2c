"""Replays in which messages are lost or late."""

import pytest
import schedlab as sl
from schedlab.simulation import Dardis
from schedlab.simulation.dispatchers.dardis.transport import unreliable

SETUPS = ("throughput", "profile", "balance")
EURORA = sl.load("eurora_99").dispatch
DAY = EURORA.replace(jobs=EURORA.jobs[:10])


def replay(setup, **network):
    dispatcher = Dardis(setup, connect=unreliable(**network))
    return sl.simulate(DAY, dispatcher=dispatcher), dispatcher


@pytest.mark.parametrize("setup", SETUPS)
def test_a_network_that_loses_nothing_changes_no_start(setup):
    run, dispatcher = replay(setup, loss=0.0, late=0.0)
    assert run.schedule() == sl.simulate(DAY, dispatcher=f"dardis:{setup}").schedule()
    assert dispatcher.costs.timeouts == dispatcher.costs.restarts == 0


@pytest.mark.parametrize("setup", SETUPS)
@pytest.mark.parametrize(("loss", "late"), [(0.1, 0.0), (0.0, 0.3), (0.15, 0.1)])
def test_all_jobs_start_although_messages_are_lost(setup, loss, late):
    run, dispatcher = replay(setup, loss=loss, late=late)
    assert run.violations == [] and (run.start >= 0).all()
    assert dispatcher.costs.timeouts > 0
    assert run.schedule() == replay(setup, loss=loss, late=late)[0].schedule()  # the losses are drawn from the seed
    assert run.schedule() != replay(setup, loss=loss, late=late, seed=1)[0].schedule()


def test_a_reservation_that_is_not_acknowledged_is_made_again_elsewhere():
    _, dispatcher = replay("throughput", loss=0.25)
    assert dispatcher.costs.restarts > 0


def test_more_messages_that_are_lost_are_more_timeouts():
    counts = [replay("throughput", loss=loss)[1].costs for loss in (0.0, 0.02, 0.2)]
    assert 0 == counts[0].timeouts < counts[1].timeouts < counts[2].timeouts


@pytest.mark.parametrize("network", [{"loss": 1.5}, {"late": -0.1}])
def test_probabilities_are_between_0_and_1(network):
    with pytest.raises(ValueError, match="expected a probability"):
        unreliable(**network)
