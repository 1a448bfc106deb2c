"""Heterogeneous jobs in the state of a machine: known answers, and random states under many policies."""

from pathlib import Path

import pytest
from draws import some_seeds_now
from machine_states import NOW, random_state, small_state, waiting, with_chunks, with_reservations
from schedlab.instances import WorkloadError
from schedlab.instances.sites.machine_state import Document, state_of
from schedlab.simulation import Answer, PlannedStart, Start, decide, faults


def read(values):
    return state_of(values, Document(Path("state.json")))


def job(name, submit, walltime, *chunks):
    """Return a waiting job of chunks (units, cores)."""
    made = waiting(name, submit, 1, 1, walltime)
    del made["units"], made["request"]
    return made | {"chunks": [{"units": units, "request": {"cores": cores}} for units, cores in chunks]}


def test_a_heterogeneous_job_starts_with_all_its_chunks():
    """n3 has 8 free cores, n2 has 2."""
    answer = decide(read(small_state(waiting=[job("a", NOW, 60, (1, 8), (2, 1))])), "easy")
    assert answer.starts == [Start("a", {"n3": 1}, ({"n2": 2},))]
    assert answer.to_json()["starts"] == [{"id": "a", "nodes": {"n3": 1, "n2": 2}, "chunks": [{"n3": 1}, {"n2": 2}]}]


@pytest.mark.parametrize("name", ["easy", "conservative", "pbs-fifo"])
def test_the_plan_has_the_nodes_of_each_chunk(name):
    """Two whole nodes and two cores are free from 100 s on; the short job ends before."""
    jobs = [job("wide", NOW - 60, 500, (2, 8), (1, 6), (1, 2)), waiting("short", NOW, 1, 8, 90)]
    answer = decide(read(small_state(waiting=jobs)), name)
    assert answer.starts == [Start("short", {"n3": 1})]
    (planned,) = answer.planned
    assert (planned.job, planned.time, len(planned.further)) == ("wide", NOW + 100, 2)
    assert sorted(planned.nodes.values()) == [1, 1] and planned.further[0] == planned.further[1]
    assert planned.further[0].keys() | planned.nodes.keys() == {"n1", "n2", "n3"}
    shown = answer.to_json()["planned"][0]
    assert shown["chunks"] == [dict(nodes) for nodes in (planned.nodes, *planned.further)]
    assert sum(shown["nodes"].values()) == 4


def test_one_chunk_is_a_job_of_equal_units():
    one = read(small_state(waiting=[job("a", NOW, 60, (2, 4))]))
    assert one == read(small_state(waiting=[waiting("a", NOW, 2, 4, 60)]))


def test_a_job_whose_chunks_never_fit_is_left_out():
    found = read(small_state(waiting=[job("a", NOW, 60, (1, 8), (4, 8)), job("b", NOW, 60, (1, 8), (1, 9))]))
    assert found.waiting == () and "no node has more than 8 cores" in found.left_out["b"] and "a" in found.left_out


def test_dispatchers_without_chunks_are_refused_as_in_replays():
    state = read(small_state(waiting=[job("a", NOW, 60, (1, 8), (2, 1))]))
    with pytest.raises(
        WorkloadError, match="job 'a' has several chunks, which dispatcher dardis:throughput does not take"
    ):
        decide(state, "dardis:throughput")


@pytest.mark.parametrize("seeds", some_seeds_now(6, 12))
@pytest.mark.parametrize("name", ["pcp3@cpsat", "hcp3@cpsat", "cpmodel@cpsat", "portfolio@cpsat"])
def test_cp_dispatchers_answer_random_states_with_chunks(name, seeds):
    """``decide`` raises if its independent check finds a fault; odd states have reservations."""
    several = 0
    for seed in seeds:
        values = with_chunks(random_state(seed), seed)
        answer = decide(read(with_reservations(values, seed) if seed % 2 else values), name, decision_time=5)
        several += sum(bool(s.further) for s in answer.starts)
    assert several > 0


NAMES = ("fcfs", "easy", "conservative", "pbs-fifo", "easy+fairshare", "rule:slowdown")


@pytest.mark.parametrize(
    ("name", "beside"), [("easy++", False), *((name, beside) for name in NAMES for beside in (False, True))]
)
def test_answers_to_random_states_with_chunks_are_possible(name, beside):
    """``decide`` raises if its independent check finds a fault. ``beside``: beside reservations."""
    started = planned = several = 0
    for seed in range(40):
        values = with_chunks(random_state(seed), seed)
        answer = decide(read(with_reservations(values, seed) if beside else values), name)
        started, planned = started + len(answer.starts), planned + len(answer.planned)
        several += sum(bool(s.further) for s in (*answer.starts, *answer.planned))
    assert started > 10 and several > 0
    assert (planned > 0) == (name in ("easy", "conservative", "easy++", "pbs-fifo", "easy+fairshare"))


@pytest.mark.parametrize(
    ("start", "why"),
    [
        (Start("a", {"n3": 1}), "has 2 chunks; its start has nodes of 1"),
        (Start("a", {"n3": 1}, ({"n2": 1},)), "chunk 1 of job 'a' has 2 units"),
        (Start("a", {"n2": 1}, ({"n3": 2},)), "node 'n2' lacks 6 cores"),
        (Start("a", {"n3": 1}, ({"n2": 1, "n3": 1},)), "node 'n3' lacks 1 cores"),
        (Start("a", {"n3": 1}, ({"n4": 2},)), "on node 'n4', which is draining"),
    ],
)
def test_the_check_finds_impossible_starts_of_chunks(start, why):
    state = read(small_state(waiting=[job("a", NOW, 60, (1, 8), (2, 1))]))
    assert why in faults(state, Answer(NOW, "mine", [start], [], {"a": 60}))[0]
    planned = PlannedStart(start.job, start.nodes, NOW + 5, start.further)
    assert why in faults(state, Answer(NOW, "mine", [], [planned], {"a": 60}))[0]
