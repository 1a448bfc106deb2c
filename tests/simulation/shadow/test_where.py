"""Where waiting jobs may run: nodes of queues and of jobs, distinct and whole nodes, beside a real machine."""

from dataclasses import replace
from pathlib import Path

import pytest
from machine_states import NOW, small_state, waiting
from schedlab.instances import InstanceError, WorkloadError
from schedlab.instances.sites.machine_state import Document, state_of
from schedlab.simulation import Answer, PlannedStart, Start, decide, faults

DISPATCHERS = ("fcfs", "easy", "conservative", "pbs-fifo", "hcp3@cpsat")


def read(*jobs, queues=({"name": "batch"},), **changes):
    return state_of(small_state(waiting=list(jobs), queues=list(queues), **changes), Document(Path("state.json")))


def idle(*jobs, **changes):
    return read(*jobs, running=[], **changes)


@pytest.mark.parametrize("name", DISPATCHERS)
def test_a_job_stays_on_the_nodes_of_its_queue_and_its_own(name):
    """Without them, best fit takes n2, of which two cores are free."""
    queue = [{"name": "batch", "nodes": ["n1", "n3"]}]
    assert decide(read(waiting("a", NOW, 1, 2, 60), queues=queue), name).starts == [Start("a", {"n3": 1})]
    assert decide(read(waiting("a", NOW, 1, 2, 60, nodes=["n3"])), name).starts == [Start("a", {"n3": 1})]
    both = waiting("a", NOW, 1, 2, 60, nodes=["n1", "n2"])
    assert decide(read(both, queues=queue), name).starts == []


@pytest.mark.parametrize("name", DISPATCHERS)
def test_units_on_different_nodes(name):
    (start,) = decide(idle(waiting("a", NOW, 3, 2, 60, per_node=1)), name).starts
    assert start.nodes == {"n1": 1, "n2": 1, "n3": 1}
    assert decide(read(waiting("a", NOW, 3, 1, 60, per_node=1)), name).starts == []


@pytest.mark.parametrize("name", DISPATCHERS)
def test_no_more_licences_are_taken_than_are_free(name):
    """Two of three jobs hold a licence of which one is free; the third one needs none."""
    jobs = [waiting(f"j{k}", NOW - 9 + k, 1, 1, 60, **({"licences": {"tool": 1}} if k < 3 else {})) for k in (1, 2, 3)]
    state = idle(*jobs, licences={"tool": 1})
    answer = decide(state, name)
    assert sorted(s.job for s in answer.starts)[-1] == "j3" and len(answer.starts) == 2
    both = replace(answer, starts=[Start("j1", {"n1": 1}), Start("j2", {"n1": 1})], planned=[])
    assert faults(state, both) == ["the starts take 2 licences of 'tool', of which 1 are free"]
    wide = idle(waiting("a", NOW, 1, 1, 60, licences={"tool": 2}), waiting("b", NOW, 1, 1, 60), licences={"tool": 1})
    assert wide.left_out == {"a": "asks for 2 licences of 'tool', of which 1 are free"}
    assert [s.job for s in decide(wide, name).starts] == ["b"]
    with pytest.raises(InstanceError, match=r"waiting\[1\].licences.tol \(a\): expected one of the licences tool"):
        idle(waiting("a", NOW, 1, 1, 60, licences={"tol": 2}), licences={"tool": 1})


@pytest.mark.parametrize("name", DISPATCHERS)
def test_whole_nodes_are_shared_with_no_job(name):
    """n1 and n2 are in use; the job that needs one core has n3 for itself."""
    jobs = [waiting("a", NOW - 2, 1, 1, 60, whole_nodes=True), waiting("b", NOW - 1, 1, 4, 60)]
    assert decide(read(*jobs), name).starts == [Start("a", {"n3": 1})]


def test_a_node_that_others_hold_in_part_is_not_whole():
    """Half of n3 is neither free nor of a running job: it cannot be had whole, but shared."""
    nodes = small_state()["nodes"]
    nodes[2]["free"] = {"cores": 4}
    one, two = waiting("a", NOW, 1, 4, 60, whole_nodes=True), waiting("b", NOW, 1, 4, 60)
    assert [s.job for s in decide(read(one, two, nodes=nodes), "easy").starts] == ["b"]
    nowhere = read(one | {"nodes": ["n3"]}, nodes=nodes)
    assert nowhere.left_out == {"a": "takes whole nodes, and others have a part of each that it may use"}


def test_a_job_that_its_nodes_cannot_hold_is_left_out():
    state = read(waiting("a", NOW, 2, 8, 60, nodes=["n3"]), waiting("b", NOW, 5, 1, 60, per_node=1))
    assert {*state.left_out} == {"a", "b"}


def test_dispatchers_that_place_jobs_anywhere_are_refused():
    state = read(waiting("a", NOW, 1, 2, 60, nodes=["n3"]))
    with pytest.raises(WorkloadError, match="jobs ask for nodes, which dispatcher dardis:throughput does not obey"):
        decide(state, "dardis:throughput")


@pytest.mark.parametrize(
    ("more", "start", "why"),
    [
        ({"nodes": ["n1", "n2"]}, {"n3": 2}, "starts on node 'n3', which it may not use"),
        ({"per_node": 1}, {"n3": 2}, "has 2 units on node 'n3'; at most 1 are allowed"),
        ({"whole_nodes": True}, {"n2": 1, "n3": 1}, "has whole nodes, and shares node 'n2' with job 'r+1'"),
    ],
)
def test_the_check_finds_starts_where_a_job_may_not_run(more, start, why):
    state = read(waiting("a", NOW, 2, 1, 60, **more))
    assert any(why in fault for fault in faults(state, Answer(NOW, "mine", [Start("a", start)], [], {"a": 60})))
    planned = PlannedStart("a", start, NOW + 50)
    assert any(why in fault for fault in faults(state, Answer(NOW, "mine", [], [planned], {"a": 60})))


@pytest.mark.parametrize(
    ("job", "queue", "said"),
    [
        ({"nodes": ["n9"]}, {}, "nodes (a): expected names of the list nodes, found 'n9'"),
        ({"nodes": []}, {}, "nodes (a): expected names of the list nodes"),
        ({"per_node": 0}, {}, "per_node (a): expected a whole number of at least 1, found 0"),
        ({"whole_nodes": 1}, {}, "whole_nodes (a): expected true or false, found 1"),
        ({}, {"nodes": "n1"}, "nodes (batch): expected names of the list nodes"),
        (
            {"chunks": [{"units": 1, "request": {}}], "per_node": 1, "units": None, "request": None},
            {},
            "per_node (a): expected no such field beside chunks",
        ),
    ],
)
def test_wrong_fields_are_faults(job, queue, said):
    made = {key: value for key, value in (waiting("a", NOW, 1, 1, 60) | job).items() if value is not None}
    with pytest.raises(InstanceError) as e:
        read(made, queues=[{"name": "batch"} | queue])
    assert said in str(e.value)
