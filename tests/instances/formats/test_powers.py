"""Watts per core for jobs whose power a log does not record."""

import pytest
from schedlab.instances import Workload, WorkloadError
from schedlab.instances.log_preparation import below_power, powered
from schedlab.models import Dispatch, Job, NodeGroup, Platform, Queue, Running

MACHINE = Platform([NodeGroup("n", 4, {"cores": 8, "gpus": 1})])


def _workload():
    jobs = [
        Job("plain", 0, 60, 2, {"cores": 4}, "q", runtime=60),
        Job("measured", 0, 60, 2, {"cores": 4}, "q", runtime=60, power=33.0),
        Job.of_chunks("h", 0, 60, [(1, {"cores": 4}), (2, {"cores": 3, "gpus": 1})], "q", runtime=60),
    ]
    running = [Running(Job("r", 0, 60, 1, {"cores": 2}, "q", runtime=60), 0, {"n-1": 1}, 60)]
    return Workload.of(Dispatch(MACHINE, jobs, [Queue("q", 60)], running=running))


def test_each_core_takes_the_watts_unless_the_power_is_known():
    found = powered(_workload(), 10)
    assert dict(zip(found.ids, found.power.tolist(), strict=True)) == {"plain": 80.0, "measured": 33.0, "h": 100.0}
    assert found.running[0].job.power == 20.0


def test_jobs_above_the_power_are_left_out_and_listed():
    found = below_power(powered(_workload(), 10), 90)
    assert sorted(found.ids) == ["measured", "plain"]
    assert found.report.dropped[-1] == ("h", "takes 100 W, more than 90 W")
    assert below_power(_workload(), 30).ids != _workload().ids  # only the known power counts


@pytest.mark.parametrize("watts", [0, -1, float("nan"), float("inf"), None])
def test_a_wrong_power_is_refused(watts):
    with pytest.raises(WorkloadError, match="power per core"):
        powered(_workload(), watts)
