"""Node managers in several processes: the same starts, what is sent, processes that fall silent; without an engine."""

import numpy as np
import pytest
import schedlab as sl
from schedlab.models import Dispatch, Job, NodeEvent, NodeGroup, Platform, Queue
from schedlab.models.profiles import daily
from schedlab.simulation import Dardis
from schedlab.simulation.dispatchers.dardis import GENERATORS, POLICIES, Answering, Extend, Placement, Release, Request
from schedlab.simulation.dispatchers.dardis.transport import (
    Block,
    LocalLink,
    Network,
    Processes,
    Setup,
    TransportError,
    in_process,
    packed,
    unpacked,
)

WHOLE = sl.load("eurora_99").problem
DAY = WHOLE.replace(jobs=WHOLE.jobs[:25])


def replay(day, setup, network=None, link=None, **options):
    """The simulation and the dispatcher."""
    network = network or Network()
    with network.link() as usual:
        dispatcher = Dardis(setup, connect=network.over(link or usual))
        return sl.simulate(day, dispatcher=dispatcher, **options), dispatcher


def cores(nodes, jobs, ewt=50):
    """Return a machine of nodes with one core, and jobs (name, submit, runtime, units)."""
    made = [Job(name, at, took, units, {"cores": 1}, "q", runtime=took) for name, at, took, units in jobs]
    return Dispatch(
        Platform([NodeGroup("n", nodes, {"cores": 1})]), made, (Queue("q", ewt),), "waiting", durations="runtime"
    )


@pytest.mark.parametrize(("setup", "processes"), [("throughput", 2), ("profile", 3), ("balance", 5)])
def test_starts_are_the_same_with_any_number_of_processes(setup, processes):
    run, dispatcher = replay(DAY, setup, Network(processes=processes), seed=3)
    assert run.violations == [] and run.schedule() == sl.simulate(DAY, dispatcher=f"dardis:{setup}", seed=3).schedule()
    traffic = dispatcher.costs.traffic
    assert traffic.packets % 2 == 0 and traffic.bytes > 100 * traffic.packets
    assert dispatcher.costs.counts["packets"] == traffic.packets and dispatcher.costs.silent == 0


@pytest.mark.parametrize("setup", [f"{g}/{p}" for g in GENERATORS for p in POLICIES])
def test_starts_are_the_same_for_each_generator_and_policy(setup):
    few = WHOLE.replace(jobs=WHOLE.jobs[:12])
    nights = daily(WHOLE.platform, {"08:00": 0.6, "20:00": 1.0})
    run, _ = replay(few, setup, Network(processes=3), seed=5, desired=nights)
    assert run.violations == []
    assert run.schedule() == sl.simulate(few, dispatcher=f"dardis:{setup}", seed=5, desired=nights).schedule()


def test_node_events_reach_all_processes():
    events = [NodeEvent(30000, "node-down", ["gpu-1"]), NodeEvent(60000, "node-up", ["gpu-1"])]
    run, _ = replay(DAY, "throughput", events=events)
    assert run.schedule() == sl.simulate(DAY, dispatcher="dardis:throughput", events=events).schedule()


def test_losses_are_drawn_as_in_one_process():
    found = [replay(DAY, "throughput", Network(processes=p, lost=0.05, late=0.1))[0] for p in (2, 4)]
    assert found[0].schedule() == found[1].schedule() and found[0].violations == []
    assert found[0].schedule() != sl.simulate(DAY, dispatcher="dardis:throughput").schedule()


def request(job="j", nodes=None):
    return Request(job, 1, 1, np.ones(1, np.int64), 10, np.array([[0, 50]]), 3, False, 0, nodes)


def placement(nodes, job="j", to=None):
    return Placement(job, 5, 15, np.array(nodes), np.ones(len(nodes), np.int64), np.ones(1, np.int64), 0, to)


class Counting(LocalLink):
    """A link that keeps the numbers of the processes of each exchange; those in ``deaf`` get the packet, but their answer is late."""

    def __init__(self, processes, deaf=()):
        super().__init__(processes)
        self.sent, self.deaf = [], deaf

    def exchange(self, packets, seconds):
        self.sent.append(sorted(packets))
        return {k: a for k, a in super().exchange(packets, seconds).items() if k not in self.deaf}


def test_only_messages_that_are_answered_cost_a_packet_and_all_arrive_in_order():
    link, capacity = Counting(3), np.ones((6, 1), np.int64)
    several, one = Processes(link, capacity, "first"), in_process(capacity, "first", None)
    steps = [
        (request(), [0, 1, 2]),
        (placement([0, 3]), [0, 1]),  # process 2 learns it with the next packet
        (request("k"), [0, 1, 2]),
        (Release("j", 7), None),
        (placement([3, 4, 5], "k"), [1, 2]),
        (Answering(np.array([True, True, True, True, False, True])), None),
        (request("l", np.array([2, 3])), [1]),
        (Extend("k", 40), [0, 1, 2]),
        (placement([3, 4, 5], "k", np.array([0, 4])), [2]),
        (request("m"), [0, 1, 2]),
    ]
    for message, expected in steps:
        link.sent.clear()
        name = {Request: "ask", Placement: "confirm"}.get(type(message), "post")
        found, true = getattr(several, name)(message), getattr(one, name)(message)
        assert link.sent == ([] if expected is None else [expected]), message
        if name == "ask":
            assert (
                all(np.array_equal(a, b) for a, b in zip(found[:4], true[:4], strict=True))
                and found.nodes == true.nodes
            )
        else:
            assert found.tolist() == true.tolist()


def test_a_process_that_does_not_answer_in_time_is_not_asked_again():
    link = Counting(3)
    several = Processes(link, np.ones((6, 1), np.int64), "first")
    link.deaf = (1,)
    assert several.silent.size == 0 and several.ask(request()).nodes == 4 and several.silent.tolist() == [2, 3]
    link.deaf = ()  # its late answer does not bring it back
    link.sent.clear()
    assert set(several.ask(request()).node.tolist()) == {0, 1, 4, 5}
    assert several.confirm(placement([1, 2, 3])).tolist() == [2, 3] and link.sent == [[0, 2], [0]]
    link.deaf = (0, 2)
    with pytest.raises(TransportError, match="no process of node managers answers any more"):
        several.ask(request())


@pytest.mark.parametrize("at", range(1, 11))
def test_jobs_planned_on_silent_nodes_are_planned_anew_and_no_other_job_is_lost(at):
    jobs = [("a", 0, 10, 3), ("b", 0, 10, 3), ("c", 1, 10, 2), ("d", 2, 10, 1), ("e", 3, 10, 2), ("f", 4, 30, 1)]
    day = cores(6, jobs, ewt=200)
    network = Network(processes=4, fault=f"2@{at}")  # nodes n-3 and n-4
    run, dispatcher = replay(day, "first/min-start", network)
    assert run.violations == [] and (run.start >= 0).all()
    assert dispatcher.costs.silent == 2 and dispatcher.costs.counts["silent_nodes"] == 2
    schedule, noticed = run.schedule(), 4  # all are planned by then
    on_silent = {job for job, nodes in schedule.nodes.items() if {"n-3", "n-4"} & set(nodes)}
    assert all(schedule.start[job] <= noticed for job in on_silent), (schedule.start, on_silent)


def test_a_job_for_which_no_node_is_left_does_not_start_on_silent_ones():
    day = cores(4, [("a", 0, 10, 4), ("b", 1, 10, 4), ("c", 2, 10, 1)], ewt=200)
    with pytest.raises(sl.SchedlabError, match="'b' waits forever") as failed:
        replay(day, "first/min-start", Network(processes=3, fault="2@5"))
    why = "it has 4 units, and only 2 fit on the nodes whose managers answer; those of n-3, n-4 have fallen silent"
    assert failed.value.waiting == {"b": why}
    assert failed.value.partial.start.tolist()[::2] == [0, 20] and failed.value.partial.start[1] < 0


def test_a_fault_in_a_process_is_an_error_with_its_traceback():
    block = Block()
    answer = unpacked(block.handle(packed(request())))
    assert "the first message is a Setup" in answer.text
    several = Processes(LocalLink(2), np.ones((2, 1), np.int64), "first")
    with pytest.raises(TransportError, match=r"has failed(.|\n)*Traceback"):
        several.ask(request()._replace(windows=None))


def test_a_block_that_is_set_up_anew_has_no_reservations_and_counts_its_packets_from_the_begin():
    block, setup = Block(), Setup(np.ones((1, 1), np.int64), "first", None, 0, 3)
    for _ in range(2):
        assert unpacked(block.handle(packed(setup))).size == 0
        assert unpacked(block.handle(packed(request()))).low.tolist() == [0]
    assert block.handle(packed(request())) is not None and block.handle(packed(request())) is None


def test_networks_have_one_text():
    text = "mpi:processes=4:timer=2.5:lost=0.01:late=0.5:fault=3@7"
    assert Network.parse(text).text == text and Network.parse("simulate").text == "simulate:processes=4"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("tcp", "no network 'tcp'; known are simulate, mpi, dask"),
        ("mpi:processes=1", "at least 2"),
        ("mpi:timer=0", "seconds above 0"),
        ("simulate:timer=1", "messages take no time"),
        ("simulate:lost=1.1", "a probability"),
        ("simulate:late=-1", "a probability"),
        ("simulate:fault=4@1", "from 1 to 3"),
        ("simulate:fault=1@0", "PROCESS@PACKET"),
        ("simulate:speed=1", "no option of the network simulate called 'speed'"),
        ("mpi:timer=fast", "the network mpi: timer is 'fast'; expected seconds"),
    ],
)
def test_a_wrong_network_is_refused(text, why):
    with pytest.raises(sl.SchedlabError, match=why):
        Network.parse(text)


def test_more_processes_than_nodes_are_refused():
    with pytest.raises(ValueError, match="3 processes of node managers for 2 nodes"):
        Processes(LocalLink(3), np.ones((2, 1), np.int64), "first")
