"""Decisions beside reservations of the machine: known answers, and random states under many dispatchers."""

import math
from pathlib import Path

import pytest
from draws import some_seeds_now
from machine_states import NOW, random_state, reservation, small_state, waiting, with_reservations
from schedlab.instances.sites.machine_state import Document, state_of
from schedlab.simulation import Answer, Decision, PlannedStart, Portfolio, Start, decide, faults
from schedlab.simulation.shadow import reserved_beside

ALL_NODES = {"n1": 1, "n2": 1, "n3": 1}
MAINTENANCE = reservation("maintenance", 300, 900, {"n3": 8})


def read(values):
    return state_of(values, Document(Path("state.json")))


def state(*reservations, **changes):
    return read(small_state(reservations=list(reservations), **changes))


@pytest.mark.parametrize("name", ["fcfs", "easy", "conservative", "rule:est", "hcp3@cpsat", "cpmodel@cpsat"])
def test_no_job_runs_into_a_reservation(name):
    """The long job would end at 600 s, the short one ends at 90 s; without the wide job, it is the first."""
    jobs = [waiting("long", NOW - 50, 1, 8, 600), waiting("short", NOW - 40, 1, 8, 90)]
    answer = decide(state(MAINTENANCE, waiting=jobs), name)
    assert answer.starts == ([] if name == "fcfs" else [Start("short", {"n3": 1})])


def test_planned_starts_leave_the_reserved_nodes_free():
    """Without the reservation, the wide job would start at 100 s, and the long one at 600 s."""
    answer = decide(state(MAINTENANCE), "easy")
    assert answer.planned == [PlannedStart("wide", ALL_NODES, NOW + 900)]
    answer = decide(state(MAINTENANCE), "conservative")
    assert {(p.job, p.time - NOW) for p in answer.planned} == {("wide", 900), ("long", 100)}


def test_what_a_reservation_holds_now_is_not_free():
    answer = decide(state(reservation("r1", -5, 50, {"n3": 7})), "easy")
    assert answer.starts == [] and answer.planned[0].time == NOW + 100
    jobs = [waiting("a", NOW, 1, 1, 4000), waiting("b", NOW, 1, 2, 60)]
    answer = decide(state(reservation("r1", -5, 50, {"n3": 7}), waiting=jobs), "conservative")
    assert answer.starts == [Start("a", {"n3": 1}), Start("b", {"n2": 1})], "best fit: n3 has one free core, n2 has two"


def test_waiting_jobs_of_a_private_queue_are_left_out():
    queues = [{"name": "batch"}, {"name": "private"}]
    jobs = [waiting("a", NOW, 1, 8, 60, queue="private"), waiting("b", NOW, 1, 8, 60)]
    answer = decide(state(MAINTENANCE | {"queue": "private"}, queues=queues, waiting=jobs), "easy")
    assert answer.left_out == {"a": "queue private is private to reservation maintenance"}
    assert [s.job for s in answer.starts] == ["b"]


def test_a_job_past_its_walltime_shares_its_node_with_a_reservation():
    """The node has no place for both; the reservation holds it from the end of the job on."""
    late = [{"id": "r", "start": NOW - 500, "walltime": 200, "nodes": {"n1": {"cores": 6}}}]
    jobs = [waiting("a", NOW, 1, 8, 60), waiting("b", NOW, 1, 8, 60)]
    found = state(reservation("r1", -5, 50, {"n1": 8, "n2": 8}), running=late, waiting=jobs)
    assert [(r.name, r.start - NOW, r.end - NOW, dict(r.nodes), r.request) for r in reserved_beside(found)] == [
        ("r1", 0, 1, {"n1": 1}, {"cores": 2}), ("r1+1", 0, 50, {"n2": 1}, {"cores": 8}),
        ("r1+2", 1, 50, {"n1": 1}, {"cores": 8}),
    ]  # fmt: skip
    for name in ("easy", "conservative", "hcp3@cpsat", "cpmodel@cpsat"):
        answer = decide(found, name)
        assert [s.nodes for s in answer.starts] == [{"n3": 1}]


def test_running_jobs_of_the_private_queue_are_inside_of_the_reservation():
    """Half of n3 is reserved, and all of this half is in use by its own job; the other half is free."""
    queues = [{"name": "batch"}, {"name": "private"}]
    mine = {"id": "m", "start": NOW - 5, "walltime": 20, "nodes": {"n3": {"cores": 4}}}
    held = reservation("half", -5, 50, {"n3": 4}, queue="private")
    job = [waiting("a", NOW, 1, 4, 900)]
    answer = decide(state(held, queues=queues, running=[mine | {"queue": "private"}], waiting=job), "easy")
    assert {n for s in answer.starts for n in s.nodes} <= {"n1", "n2", "n3"} and len(answer.starts) == 1
    busy = [{"id": n, "start": NOW - 5, "walltime": 200, "nodes": {n: {"cores": 8}}} for n in ("n1", "n2")]
    for queue, starts in (("private", [Start("a", {"n3": 1})]), ("batch", [])):
        running = [mine | {"queue": queue}, *busy]
        assert decide(state(held, queues=queues, running=running, waiting=job), "easy").starts == starts


@pytest.mark.parametrize("seeds", some_seeds_now(12, 40))
@pytest.mark.parametrize(
    "name",
    [
        "fcfs", "easy", "conservative", "easy+fairshare", "pbs-fifo", "pbs-walltime", "rule:slowdown", "hcp3@cpsat",
        "cpmodel@cpsat", "portfolio@cpsat",
    ],
)  # fmt: skip
def test_answers_to_random_states_with_reservations_are_possible(name, seeds):
    """``decide`` raises if its independent check finds a fault."""
    started = planned = 0
    for seed in seeds:
        found = read(with_reservations(random_state(seed), seed))
        answer = decide(found, name, decision_time=0.2)
        started, planned = started + len(answer.starts), planned + len(answer.planned)
    assert started > 2
    assert (planned > 0) == (name in ("easy", "conservative", "easy+fairshare", "pbs-fifo", "pbs-walltime"))


def test_reservations_that_hold_nothing_of_the_machine_change_no_start():
    """On a node that is down, reservations do not matter; both paths of the policies agree."""
    for seed in range(15):
        values = random_state(seed)
        down = {"name": "gone", "state": "down", "capacity": {"cores": 8, "memory": 100}}
        values["nodes"] = [*values["nodes"], down]
        beside = values | {"reservations": [reservation("r", 5, 900, {"gone": 8})]}
        for name in ("fcfs", "easy", "conservative", "pbs-fifo"):
            plain, other = decide(read(values), name), decide(read(beside), name)
            assert {s.job for s in plain.starts} == {s.job for s in other.starts}
            assert {(p.job, p.time) for p in plain.planned} == {(p.job, p.time) for p in other.planned}


@pytest.mark.parametrize("name", ["easy++", "easy-d", "easy-l"])
def test_policies_with_predictions_keep_nodes_free_by_walltimes(name):
    assert decide(state(MAINTENANCE), name).starts == decide(state(MAINTENANCE), "easy").starts


def test_the_policy_to_which_a_dispatcher_leaves_its_decision_respects_reservations(monkeypatch):
    monkeypatch.setattr(Portfolio, "load", lambda self, moment: math.inf)
    answer, expected = decide(state(MAINTENANCE), "portfolio@cpsat"), decide(state(MAINTENANCE), "pbs-walltime")
    assert answer.starts == expected.starts and answer.planned == expected.planned != []


def test_the_check_finds_starts_and_plans_that_run_into_a_reservation():
    found = state(MAINTENANCE)
    expected = {job.id: 1 for job in found.waiting}  # the walltimes count
    long, wide = Start("long", {"n3": 1}), PlannedStart("wide", ALL_NODES, NOW + 100)
    assert (
        "into reservation 'maintenance': 8 cores lack at "
        in faults(found, Answer(NOW, "mine", [long], [], expected))[0]
    )
    assert "job 'wide' runs on node 'n3'" in faults(found, Answer(NOW, "mine", [], [wide], expected))[0]
    later = wide._replace(time=NOW + 900)
    assert faults(found, Answer(NOW, "mine", [Start("short", {"n3": 1})], [later], expected)) == []


class Mine:
    name = "mine"

    def begin(self, platform, queues, seed):
        pass

    def decide(self, moment):
        assert [(r.name, r.start, dict(r.nodes)) for r in moment.reserved] == [("r", NOW, {"n3": 1})]
        assert moment.free[:, 0].tolist() == [0, 2, 5, 0]
        return Decision([])


def test_a_dispatcher_of_a_third_party_sees_the_reservations():
    assert decide(state(reservation("r", -9, 50, {"n3": 3})), f"{__name__}:Mine").starts == []
