"""Node states over time: aspects, the order of events, and files of events with their faults."""

import pytest
import schedlab as sl
from schedlab import WrongValue
from schedlab.instances import InstanceError, read_events, write_events
from schedlab.models import NodeEvent, NodeGroup, NodeStates, Platform
from schedlab.models.node_states import EventKind, NodeState, event_kinds, register_event_kind

PLATFORM = Platform([NodeGroup("cpu", 3, {"cores": 8}), NodeGroup("gpu", 1, {"cores": 8, "gpus": 1})])


def test_a_reserved_node_that_is_repaired_is_still_reserved():
    kinds = ["node-reserve", "node-down", "node-up", "node-release"]
    states = NodeStates(PLATFORM, [NodeEvent(10 * k, kind, ["cpu-1"]) for k, kind in enumerate(kinds)])
    assert states.of("cpu-1") == [(0, "reserved"), (10, "down"), (20, "reserved"), (30, "up")]
    assert [states.at("cpu-1", t) for t in (-1, 9, 10)] == ["up", "reserved", "down"]


def test_the_release_of_a_node_that_is_down_leaves_it_down():
    events = [
        NodeEvent(0, "node-reserve", ["*"]),
        NodeEvent(1, "node-down", ["cpu"]),
        NodeEvent(2, "node-release", ["*"]),
    ]
    states = NodeStates(PLATFORM, events)
    assert states.changes[-1].names == ("down", "down", "down", "up")
    assert states.changes[-1].starts.tolist() == [False, False, False, True]
    assert states.changes[0].runs.all() and not states.changes[0].starts.any()


def test_of_several_events_at_one_time_the_last_counts():
    events = [
        NodeEvent(5, "node-down", ["gpu"]),
        NodeEvent(5, "node-up", ["gpu-1"]),
        NodeEvent(3, "node-drain", ["gpu"]),
    ]
    assert NodeStates(PLATFORM, events).of("gpu-1") == [(3, "draining"), (5, "up")]


def test_events_that_are_wrong_are_errors_with_the_remedy():
    with pytest.raises(WrongValue, match=r"no node or group 'disk'; its groups are cpu, gpu"):
        NodeStates(PLATFORM, [NodeEvent(5, "node-down", ["disk"])])
    with pytest.raises(WrongValue, match="'node-of'; expected one of node-down, node-up"):
        NodeEvent(5, "node-of", ["cpu"])
    with pytest.raises(WrongValue, match="whole seconds"):
        NodeStates(PLATFORM, [NodeEvent(0.5, "node-down", ["cpu"])])
    with pytest.raises(WrongValue, match="names of nodes"):
        NodeEvent(5, "node-down", "cpu")


def test_a_file_of_events_is_read_as_it_was_written(tmp_path):
    events = [NodeEvent(60, "node-down", ["cpu-1", "gpu"]), NodeEvent(90, "node-up", ["*"])]
    write_events(events, tmp_path / "e.csv")
    assert read_events(tmp_path / "e.csv", PLATFORM) == events


def test_all_faults_of_a_file_of_events_are_listed_with_their_lines(tmp_path):
    (tmp_path / "e.csv").write_text("time,kind,nodes\n5,node-down,cpu-1 disk\nx,node-up,cpu\n7,node-of,*\n8,node-up,\n")
    with pytest.raises(InstanceError) as e:
        read_events(tmp_path / "e.csv", PLATFORM)
    for text in ("line 2, nodes", "'disk'", "line 3, time", "line 4, kind", "line 5, nodes"):
        assert text in str(e.value)
    with pytest.raises(InstanceError, match="a file of this name"):
        read_events(tmp_path / "none.csv")


def test_the_events_of_an_instance_are_obeyed_and_written_again(tmp_path):
    sl.instances.write(sl.load("eurora_99"), tmp_path / "a")
    (tmp_path / "a" / "events.csv").write_text("time,kind,nodes\n40000,node-down,gpu\n45000,node-up,gpu\n")
    instance = sl.load(str(tmp_path / "a"))
    run = sl.simulate(instance, dispatcher="easy")
    assert [a.end for a in run.history.early] == [40000] * 3
    assert sl.simulate(instance, dispatcher="easy", events=[]).history is None
    sl.instances.write(instance, tmp_path / "b")
    assert sl.load(str(tmp_path / "b")).events == instance.events
    (tmp_path / "a" / "events.csv").write_text("time,kind,nodes\n40000,node-down,disk\n")
    with pytest.raises(InstanceError, match=r"events.csv, line 2, nodes"):
        sl.load(str(tmp_path / "a"))


def test_a_registered_kind_and_state_are_obeyed():
    """A state of a third party: no job starts during a firmware update, running jobs go on."""
    if "node-update" not in event_kinds():
        register_event_kind(EventKind("node-update", "firmware", NodeState("in update", "firmware")))
        register_event_kind(EventKind("node-updated", "firmware", None))
    jobs = [sl.Job(f"j{k}", k, 10, 1, {"cores": 8}, "q", runtime=10) for k in (0, 4)]
    problem = sl.Dispatch(Platform([NodeGroup("n", 2, {"cores": 8})]), jobs, [sl.Queue("q", 60)])
    events = [NodeEvent(2, "node-update", ["n"]), NodeEvent(30, "node-updated", ["n"])]
    run = sl.simulate(problem, dispatcher="fcfs", events=events)
    assert (run.start.tolist(), run.end.tolist()) == ([0, 30], [10, 40])
    with pytest.raises(WrongValue, match="registered already"):
        register_event_kind(EventKind("node-down", "health", None))
