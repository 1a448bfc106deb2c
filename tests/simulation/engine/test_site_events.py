"""What a site says of its nodes and of MaxNodes in a replay: recorded states of nodes are obeyed, and the request is limited."""

from collections.abc import Mapping

import pytest
from schedlab.instances import Logged, Trace, Workload
from schedlab.models import Association, NodeEvent, Partition, SchedulerSettings, Site, SiteNode, SiteRequest
from schedlab.simulation import Simulation, simulate

DISPATCHERS = ("fcfs", "easy", "slurm")


def site(nodes: int, most: int | None = None, events: tuple[NodeEvent, ...] = ()) -> Site:
    names = tuple(f"n{k}" for k in range(1, nodes + 1))
    return Site(
        "small",
        [SiteNode(name, 4) for name in names],
        [Partition("p", names, max_nodes=most)],
        [],
        [Association("root")],
        events=events,
        scheduler=SchedulerSettings(bf_resolution=1),
    )


def log(*jobs: Logged) -> Workload:
    return Trace.of("log", "sacct", jobs, ["cores"]).workload


def job(name: str, submit: int, nodes: int, asked: int | None = None) -> Logged:
    request = SiteRequest(min_nodes=asked, exclusive="node")
    return Logged(
        name,
        submit,
        runtime=100,
        walltime=200,
        units=nodes,
        request={"cores": 4},
        queue="p",
        start=submit,
        asked=request,
    )  # type: ignore[call-arg]


def times(run: Simulation) -> Mapping[str, tuple[int, int]]:
    assert run.violations == []
    pairs = zip(run.start.tolist(), run.end.tolist(), strict=True)
    return dict(zip(run.workload.ids, pairs, strict=True))


@pytest.mark.parametrize("dispatcher", DISPATCHERS)
class TestStatesOfNodes:
    def test_a_node_that_fails_stops_its_job_until_it_is_up_again(self, dispatcher: str) -> None:
        events = (NodeEvent(50, "node-down", ("n1",)), NodeEvent(400, "node-up", ("n1",)))
        run = simulate(log(job("a", 0, 1), job("b", 1, 1)), dispatcher=dispatcher, site=site(1, events=events))
        first = times(run)
        assert run.history is not None and [a.end for a in run.history.early] == [50]
        assert min(start for start, _ in first.values()) >= 400

    def test_a_drained_node_takes_no_job(self, dispatcher: str) -> None:
        events = (NodeEvent(0, "node-drain", ("n1",)), NodeEvent(300, "node-up", ("n1",)))
        run = simulate(log(job("a", 1, 2), job("b", 2, 1)), dispatcher=dispatcher, site=site(2, events=events))
        assert times(run)["a"][0] >= 300

    def test_other_events_take_their_place(self, dispatcher: str) -> None:
        events = (NodeEvent(50, "node-down", ("n1",)), NodeEvent(400, "node-up", ("n1",)))
        run = simulate(log(job("a", 0, 1)), dispatcher=dispatcher, site=site(1, events=events), events=())
        assert run.history is None and times(run)["a"][1] < 200


@pytest.mark.parametrize("dispatcher", DISPATCHERS)
def test_max_nodes_is_for_what_a_job_asks_for(dispatcher: str) -> None:
    jobs = [job("asked 2, ran on 3", 0, 3, asked=2), job("asked 3", 1, 3, asked=3), job("asked 2", 2, 2, asked=2)]
    run = simulate(log(*jobs), dispatcher=dispatcher, site=site(4, most=2))
    assert sorted(times(run)) == ["asked 2", "asked 2, ran on 3"]
    assert [name for name, _ in run.workload.report.dropped] == ["asked 3"]
