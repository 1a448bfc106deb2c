"""Features of a replay together: cases by hand."""

from dataclasses import replace

import numpy as np
import pytest
import schedlab as sl
from schedlab.models import NodeEvent, Running
from schedlab.models.reservations import Reservation
from schedlab.simulation import Decision, Feature, Moment, OnDemandJob, Preemption, Rank, Start
from schedlab.simulation.features.feature import Replay

QUEUES = [sl.Queue("q", 600), sl.Queue("private", 600)]


def job(name: str, submit: int, runtime: int, walltime: int, units: int = 1, cores: int = 1, **more: object) -> sl.Job:
    return sl.Job(name, submit, walltime, units, {"cores": cores}, more.pop("queue", "q"), runtime=runtime, **more)  # type: ignore[arg-type]


def world(nodes: int, cores: int, *jobs: sl.Job) -> sl.instances.Workload:
    platform = sl.Platform([sl.NodeGroup("n", nodes, {"cores": cores})])
    return sl.instances.Workload.of(sl.Dispatch(platform, list(jobs), QUEUES))


def platform(nodes: int, cores: int) -> sl.Platform:
    return sl.Platform([sl.NodeGroup("n", nodes, {"cores": cores})])


@pytest.mark.parametrize("dispatcher", ["easy", "easy-l", "easy-d", "easy++", "fcfs-l", "conservative-d", "rule:est-d"])
def test_a_job_past_its_prediction_counts_up_to_its_walltime_beside_a_reservation(dispatcher: str) -> None:
    """Job b is expected to last 1 s, as job a did; it may last to 460, and c would run into the reservation."""
    jobs = world(
        1, 4, job("a", 0, 1, 1, user="u"), job("b", 10, 300, 450, 1, 2, user="u"), job("c", 60, 300, 900, 1, 2, user="v")
    )  # fmt: skip
    course = Reservation("R", "private", 100, 50, 1, {"cores": 1}, submitted=30)
    run = sl.simulate(jobs, platform(1, 4), dispatcher, reservations=[course])
    assert run.start.tolist() == [0, 10, 150] and run.violations == []


def test_a_running_job_that_overruns_is_killed_at_the_start_of_a_reservation() -> None:
    running = [Running(job("r", 0, 400, 100), 0, {"n-1": 1}, 100)]
    course = Reservation("R", "private", 200, 50, 2, {"cores": 4}, submitted=20)
    jobs = world(2, 4, job("a", 50, 10, 10))
    run = sl.simulate(jobs, platform(2, 4), "easy", running=running, begin=10, reservations=[course])
    assert run.violations == [] and [(a.end, a.why) for a in run.history.gone] == [(200, "reservation: R")]


def test_a_running_job_writes_its_checkpoint_past_its_end() -> None:
    settings = Preemption([OnDemandJob("o", 590, 1, 600, 50)], "dp", "none", step=1)
    running = [Running(job("a", 0, 600, 600, 2), 0, {"n-1": 1, "n-2": 1}, 600)]
    jobs = world(2, 1, job("z", 2000, 5, 5))
    run = sl.simulate(jobs, platform(2, 1), "easy", preemption=settings, begin=5, running=running)
    assert run.violations == [] and run.attempts["end"].iloc[0] > 600


def test_a_job_that_waits_for_one_that_leaves_arrives_when_it_leaves() -> None:
    jobs = world(2, 1, job("a", 0, 500, 500, queue="private"), job("b", 0, 10, 10), job("c", 5, 10, 10))
    jobs = replace(jobs, after={2: (0, 7)})
    course = Reservation("R", "private", 100, 200, 1, {"cores": 1})
    run = sl.simulate(jobs, platform(2, 1), "easy", reservations=[course])
    assert run.violations == [] and run.start.tolist() == [-1, 0, 307]


class OnTheFirstNode:
    """A dispatcher that starts each job on the first node, and keeps the states that it sees."""

    name = "first-node"

    def __init__(self) -> None:
        self.states: set[tuple[str, ...]] = set()

    def begin(self, platform: sl.Platform, queues: object, seed: int) -> None:
        """Nothing to prepare."""

    def decide(self, moment: Moment) -> Decision:
        """Start all jobs on the first node."""
        self.states.add(tuple(moment.states))
        first = moment.platform.nodes[0]
        return Decision([Start(job.id, {first: job.units}) for job in moment.waiting])


def test_a_node_that_a_feature_closes_is_shown_as_draining() -> None:
    class Closed(Feature):
        def begin(self, engine: Replay) -> None:
            mask = np.array([False, True])
            engine.agenda.add(
                0, Rank.NODE_STATE, lambda: engine.timeline.close("inspection", mask, ["up", "inspected"])
            )

    dispatcher = OnTheFirstNode()
    run = sl.simulate(world(2, 1, job("a", 5, 10, 10)), platform(2, 1), dispatcher, features=[Closed()])
    assert run.violations == [] and dispatcher.states == {("up", "draining")}


def test_a_repair_does_not_end_an_outage_nor_an_outage_a_failure() -> None:
    outage = [NodeEvent(20, "node-down", ["n-1"]), NodeEvent(60, "node-up", ["n-1"])]
    failures = [NodeEvent(10, "node-down", ["n-1"]), NodeEvent(30, "node-up", ["n-1"])]
    jobs = world(1, 1, job("a", 0, 15, 15))
    for events, failed in ((outage, failures), (failures, outage)):
        run = sl.simulate(jobs, platform(1, 1), "easy", events=events, preemption=Preemption(failures=failed))
        assert run.violations == [] and run.start.tolist() == [60]
