"""One decision for the state of a machine: known answers, and random states under many dispatchers."""

import math
from pathlib import Path

import pytest
from draws import some_seeds_now
from machine_states import NOW, random_state, small_state, waiting
from schedlab import SchedlabError, WrongValue
from schedlab.instances.sites.machine_state import Document, state_of
from schedlab.simulation import Answer, Decision, PlannedStart, Portfolio, SimulationError, Start, decide, faults

ALL_NODES = {"n1": 1, "n2": 1, "n3": 1}


def read(values):
    return state_of(values, Document(Path("state.json")))


def test_easy_backfills_what_ends_before_its_reservation():
    """The wide job needs three nodes, in 100 s; the short job ends before that, the long one does not."""
    answer = decide(read(small_state()), "easy")
    assert answer.starts == [Start("short", {"n3": 1})]
    assert answer.planned == [PlannedStart("wide", ALL_NODES, NOW + 100)]


def test_the_policy_to_which_a_dispatcher_leaves_its_decision_makes_it(monkeypatch):
    """The portfolio does so under a high load."""
    monkeypatch.setattr(Portfolio, "load", lambda self, moment: math.inf)
    answer, expected = decide(read(small_state()), "portfolio@cpsat"), decide(read(small_state()), "pbs-walltime")
    assert answer.starts == expected.starts != []
    assert answer.planned == expected.planned != []


def test_conservative_backfilling_plans_every_job():
    answer = decide(read(small_state()), "conservative")
    assert answer.starts == [Start("short", {"n3": 1})]
    assert [(p.job, p.time) for p in answer.planned] == [("wide", NOW + 100), ("long", NOW + 600)]


def test_dispatchers_without_reservations_plan_nothing():
    assert decide(read(small_state()), "fcfs").planned == []
    answer = decide(read(small_state()), "rule:est")
    assert (answer.starts, answer.planned) == ([Start("long", {"n3": 1})], [])


@pytest.mark.parametrize(
    ("dispatcher", "lacking"),
    [
        ("easy-profile", "easy-profile: keeps to a desired use, which a state does not have"),
        ("hcp3-profile@cpsat", "keeps to a desired use"),
        ("planned", "planned: plans for profit with forecasts from a log"),
        ("hybrid:70", "hybrid:70: plans for profit"),
    ],
)
def test_dispatchers_that_need_more_than_a_state_are_refused(dispatcher, lacking):
    with pytest.raises(WrongValue, match=lacking):
        decide(read(small_state()), dispatcher)


def test_a_job_past_its_walltime_keeps_its_nodes_for_a_second():
    late = [{"id": "r", "start": NOW - 500, "walltime": 200, "nodes": {"n1": {"cores": 8}, "n2": {"cores": 6}}}]
    answer = decide(read(small_state(running=late)), "easy")
    assert [(p.job, p.time) for p in answer.planned] == [("wide", NOW + 1)]


def test_amounts_that_are_neither_free_nor_of_running_jobs_are_not_used():
    nodes = small_state()["nodes"]
    nodes[2]["free"] = {"cores": 7}
    answer = decide(read(small_state(nodes=nodes)), "easy")
    assert answer.starts == []
    assert [(p.job, p.time) for p in answer.planned] == [("long", NOW + 100)]


def test_held_jobs_stopped_queues_and_later_jobs_are_left_out_with_the_reason():
    queues = [{"name": "batch"}, {"name": "night", "stopped": True}]
    jobs = [
        waiting("a", NOW, 1, 8, 60, held="dependency"),
        waiting("b", NOW, 1, 8, 60, queue="night"),
        waiting("c", NOW, 1, 8, 60, earliest_start=NOW + 5),
        waiting("d", NOW, 1, 9, 60),
        waiting("e", NOW, 1, 8, 60),
    ]
    answer = decide(read(small_state(queues=queues, waiting=jobs)), "easy")
    assert answer.starts == [Start("e", {"n3": 1})]
    reasons = {"a": "dependency", "b": "queue night is stopped", "c": f"must not start before {NOW + 5}"}
    assert {k: answer.left_out[k] for k in reasons} == reasons
    assert "no node has more than 8 cores" in answer.left_out["d"]


def test_the_calendar_follows_the_clock_of_the_machine():
    """It is 22:13:20 UTC, and 23:13:20 one hour east."""
    night = [{"name": "batch", "start_between": [["23:00", "05:00"]]}]
    job = [waiting("a", NOW, 1, 8, 60)]
    early = decide(read(small_state(queues=night, waiting=job)), "conservative")
    assert early.starts == [] and early.planned[0].time == NOW + 2800
    late = decide(read(small_state(queues=night, waiting=job, utc_offset=3600)), "conservative")
    assert late.to_json()["starts"] == [{"id": "a", "nodes": {"n3": 1}}] and late.to_json()["now"] == NOW


def test_an_empty_queue_has_an_empty_answer():
    assert decide(read(small_state(waiting=[])), "easy").to_json()["starts"] == []


@pytest.mark.parametrize("seeds", some_seeds_now(12, 25))
@pytest.mark.parametrize(
    "name", ["fcfs", "easy", "conservative", "easy++", "pbs-fifo", "easy+fairshare", "rule:slowdown", "hcp3@cpsat"]
)
def test_answers_to_random_states_are_possible(name, seeds):
    """``decide`` raises if its independent check finds a fault."""
    started = planned = 0
    for seed in seeds:
        answer = decide(read(random_state(seed)), name, decision_time=0.2)
        started, planned = started + len(answer.starts), planned + len(answer.planned)
    assert started > 9
    assert (planned > 0) == (name in ("easy", "conservative", "easy++", "pbs-fifo", "easy+fairshare"))


@pytest.mark.parametrize(
    ("start", "why"),
    [
        (Start("long", {"n4": 1}), "on node 'n4', which is draining"),
        (Start("long", {"n1": 1}), "node 'n1' lacks 8 cores"),
        (Start("long", {"n9": 1}), "which the machine does not have"),
        (Start("wide", {"n3": 1}), "has 3 units"),
        (Start("x", {"n3": 1}), "no job 'x' that may start"),
    ],
)
def test_the_check_finds_impossible_starts(start, why):
    state = read(small_state())
    expected = {job.id: job.walltime for job in state.waiting}
    assert why in faults(state, Answer(state.now, "mine", [start], [], expected))[0]


def test_the_check_finds_impossible_plans():
    state = read(small_state())
    expected = {job.id: job.walltime for job in state.waiting}
    short, wide = Start("short", {"n3": 1}), PlannedStart("wide", ALL_NODES, NOW + 100)
    assert faults(state, Answer(NOW, "mine", [short], [wide], expected)) == []
    for planned, why in [
        (wide._replace(time=NOW + 89), "lacks"),
        (wide._replace(time=NOW), "after now"),
        (PlannedStart("short", {"n3": 1}, NOW + 700), "starts twice"),
    ]:
        assert why in " ".join(faults(state, Answer(NOW, "mine", [short], [planned], expected)))


class Mine:
    name = "mine"

    def begin(self, platform, queues, seed):
        assert platform.nodes == ("n1", "n2", "n3", "n4")

    def decide(self, moment):
        assert moment.free[:, 0].tolist() == [0, 2, 8, 0] and moment.states[3] == "draining"
        assert [job.runtime for job in moment.waiting] == [None] * 3 and moment.running[0].job.runtime is None
        return Decision([Start("long", {"n3": 1})], plan=iter([PlannedStart("wide", ALL_NODES, NOW + 600)]))


class Wrong(Mine):
    def decide(self, moment):
        return Decision([Start("long", {"n4": 1})])


def test_a_dispatcher_of_a_third_party_sees_the_names_of_the_machine_and_may_plan():
    answer = decide(read(small_state()), f"{__name__}:Mine")
    assert answer.starts == [Start("long", {"n3": 1})] and answer.planned[0].time == NOW + 600


def test_an_impossible_answer_is_not_given():
    with pytest.raises(SimulationError, match="job 'long' cannot start on node 'n4', which is draining"):
        decide(read(small_state()), f"{__name__}:Wrong")


def test_wrong_arguments_are_refused():
    state = read(small_state())
    for options, why in [({"allocator": "x"}, "no allocator 'x'"), ({"decision_time": 0}, "expected more than 0")]:
        with pytest.raises(SchedlabError, match=why):
            decide(state, "easy", **options)
    with pytest.raises(ValueError, match="runtimes of waiting jobs are not known"):
        decide(state, "easy-r")


def test_policies_may_take_the_jobs_by_the_priorities_of_the_machine():
    """One node is free, for the first of two jobs; the order of the submit times is that of the names."""
    jobs = [waiting(name, NOW - 9 + k, 1, 8, 60, priority=p) for k, (name, p) in enumerate([("a", 5), ("b", 7)])]
    state = read(small_state(waiting=jobs))
    for name in ("fcfs", "easy", "conservative", "pbs-fifo"):
        assert [s.job for s in decide(state, name).starts] == ["a"]
        assert [s.job for s in decide(state, name, priorities=True).starts] == ["b"]


@pytest.mark.parametrize("dispatcher", ["easy+fairshare", "hcp3@cpsat", "dardis:throughput"])
def test_dispatchers_with_an_order_of_their_own_take_no_priorities(dispatcher):
    state = read(small_state(waiting=[waiting("a", NOW, 1, 8, 60, priority=1)]))
    with pytest.raises(WrongValue, match="has an order of its own; expected a policy such as easy"):
        decide(state, dispatcher, priorities=True)


def test_priorities_that_the_state_does_not_have_are_refused():
    with pytest.raises(WrongValue, match="waiting job 'wide' has none in the state"):
        decide(read(small_state()), "easy", priorities=True)


class Planner:
    name = "planner"

    def begin(self, platform, queues, seed):
        pass

    def decide(self, moment):
        return Decision([], plan=[PlannedStart("wide", ALL_NODES, NOW + 100)])


def test_a_dispatcher_is_asked_for_its_plan_although_no_job_fits():
    answer = decide(read(small_state(waiting=[waiting("wide", NOW - 60, 3, 8, 500)])), f"{__name__}:Planner")
    assert (answer.starts, [p.time for p in answer.planned]) == ([], [NOW + 100])
