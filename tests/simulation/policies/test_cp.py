"""The CP dispatchers on hand-made moments and small replays."""

from dataclasses import replace

import numpy as np
import pytest
import schedlab as sl
from hypothesis import given, settings
from hypothesis import strategies as st
from schedlab.models import Dispatch, Job, NodeGroup, Platform, Queue, Running
from schedlab.simulation import CPDispatcher, Moment, parse_dispatcher, simulate


def make(name, backend="cpsat", **options):
    """Return a dispatcher that solves models by a backend."""
    return parse_dispatcher(f"{name}@{backend}").make(**options)


PLATFORM = Platform([NodeGroup("gpu", 1, {"cores": 4, "gpus": 2}), NodeGroup("cpu", 2, {"cores": 4})])
QUEUES = (Queue("fast", 100), Queue("slow", 1000))


def job(name, submit=0, walltime=10, units=1, cores=1, gpus=0, queue="fast"):
    return Job(name, submit, walltime, units, {"cores": cores, "gpus": gpus}, queue)


def moment(waiting, running=(), now=50):
    free = np.array(list(PLATFORM.capacity.values()), np.int64)
    names = list(PLATFORM.nodes)
    for r in running:
        for node, units in r.nodes.items():
            free[names.index(node)] -= [units * r.job.request.get(x, 0) for x in PLATFORM.resources]
    expected = {j.id: j.walltime for j in waiting} | {r.job.id: r.end - r.start for r in running}
    return Moment(
        now, PLATFORM, QUEUES, tuple(waiting), expected, np.ones(len(waiting), np.bool_), tuple(running), free
    )


def runs(name, node, end, cores=4, start=0):
    return Running(job(name, walltime=max(1, end - start), cores=cores), start, {node: 1}, end)


def decision_of(dispatcher, m):
    dispatcher.begin(PLATFORM, QUEUES, 1)
    return dispatcher.decide(m)


def names(decision):
    return sorted(s.job for s in decision.starts)


def test_no_solver_runs_if_all_jobs_fit():
    found = decision_of(make("hcp3", limit=1), moment([job("a"), job("b", units=2, cores=4)]))
    assert (found.ended, names(found)) == ("trivial", ["a", "b"])
    assert "solve" not in found.seconds


def test_can_start_now_is_counted_per_node():
    """Two cores are free on each of three nodes: three units of two cores fit, one unit of four does not."""
    busy = [runs(f"r{n}", node, 100, cores=2) for n, node in enumerate(PLATFORM.nodes)]
    assert names(decision_of(make("hcp3", limit=1), moment([job("wide", units=3, cores=2)], busy))) == ["wide"]
    assert names(decision_of(make("hcp3", limit=1), moment([job("large", cores=4)], busy))) == []


def test_the_slowdown_prefers_the_short_job_and_the_queue_the_urgent_one():
    busy = [runs("r1", "gpu-1", 100), runs("r2", "cpu-1", 100)]
    both = [job("long", 0, 400, cores=4, queue="fast"), job("short", 10, 5, cores=4, queue="slow")]
    assert names(decision_of(make("hcp3", limit=1), moment(both, busy))) == ["short"]
    # waiting in the fast queue costs 10 times as much, so its job starts first
    both = [job("fast", 0, 30, cores=4, queue="fast"), job("slow", 0, 30, cores=4, queue="slow")]
    assert names(decision_of(make("hcp1", limit=1), moment(both, busy))) == ["fast"]


def test_an_underestimated_job_stops_version_1_and_not_version_2():
    """The running job should have ended 1,000 s ago: the naive horizon ends before now [Galleguillos2019, 4]."""
    busy = [runs("over", "gpu-1", 50 - 1000), runs("r", "cpu-1", 90)]
    both = [job("a", 0, 20, cores=4), job("b", 0, 30, cores=4)]
    naive = decision_of(make("hcp1", limit=1), moment(both, busy))
    assert (naive.ended, names(naive)) == ("infeasible", [])
    assert names(decision_of(make("hcp2", limit=1), moment(both, busy))) == ["a"]


def test_a_job_past_max_stretch_gets_a_reservation():
    """Without a reservation it waits forever; with one, jobs that end after its start stay off its nodes."""
    busy = [runs("r", "cpu-1", 60)]
    whole = job("whole", 0, 1, units=3, cores=4)  # its slowdown is 51
    small = [job("until 60", 40, 10, cores=4), job("past 60", 40, 20, cores=4)]
    free = decision_of(make("hcp3", limit=1, max_stretch=None), moment([whole, *small], busy))
    assert names(free) == ["past 60", "until 60"]
    held = decision_of(make("hcp3", limit=1), moment([whole, *small], busy))
    assert names(held) == ["until 60"]
    assert held.urgent == 1


@pytest.mark.parametrize("name", ["hcp", "hcp1", "hcp2", "hcp3", "pcp", "pcp1", "pcp2", "pcp3"])
def test_every_version_replays_a_morning(name):
    day = sl.load("eurora_99")
    morning = sl.Workload.of(day.dispatch).first(25)
    found = simulate(morning, day.platform, make(name, limit=0.02))
    assert found.violations == []
    assert (found.start >= found.workload.submit).all()


@pytest.mark.parametrize(("family", "formulation"), [("hcp", "classes"), ("hcp", "counts"), ("pcp", "pool")])
def test_any_formulation_may_be_chosen(family, formulation):
    """The starts come from the solution of a relaxation, the nodes are allocated by priority."""
    day = sl.load("eurora_99")
    morning = sl.Workload.of(day.dispatch).first(25)
    found = simulate(morning, day.platform, CPDispatcher(family, 3, formulation=formulation, limit=0.02))
    assert found.violations == [] and (found.start >= 0).all()


def test_deterministic_replays_are_the_same():
    day = sl.load("eurora_99")
    w = sl.Workload.of(day.dispatch).first(40)
    one, two = (simulate(w, day.platform, make("hcp3", deterministic=0.05)) for _ in range(2))
    assert one.start.tolist() == two.start.tolist()
    assert one.placement.low.tolist() == two.placement.low.tolist()


@pytest.mark.parametrize("backend", ["cpsat", "highs", "cpo"])
def test_the_same_decision_through_every_backend(backend):
    if not sl.backends.available()[backend].ok:
        pytest.skip(sl.backends.available()[backend].reason)
    busy = [runs("r1", "gpu-1", 100), runs("r2", "cpu-1", 100)]
    three = [job("a", 0, 40, cores=4), job("b", 20, 8, cores=4), job("c", 30, 12, cores=4)]
    found = decision_of(make("hcp3", backend, limit=60), moment(three, busy))  # optimal long before
    assert (found.ended, names(found)) == ("optimal", ["b"])


@st.composite
def moments(draw):
    busy = []
    for k, node in enumerate(PLATFORM.nodes):
        if draw(st.booleans()):
            busy.append(runs(f"r{k}", node, draw(st.integers(20, 90)), draw(st.integers(1, 4))))
    waiting = [
        job(
            f"j{k}",
            draw(st.integers(0, 50)),
            draw(st.integers(1, 60)),
            draw(st.integers(1, 3)),
            draw(st.integers(1, 4)),
            0,
            draw(st.sampled_from(["fast", "slow"])),
        )
        for k in range(draw(st.integers(1, 6)))
    ]
    return moment(waiting, busy)


@settings(max_examples=25, deadline=None)
@given(moments(), st.sampled_from(["hcp1", "hcp3", "pcp2", "pcp3"]))
def test_no_answer_overfills_a_node(m, name):
    found = decision_of(make(name, limit=0.2), m)
    free = m.free.copy()
    nodes = list(PLATFORM.nodes)
    for start in found.starts:
        one = next(j for j in m.waiting if j.id == start.job)
        assert sum(start.nodes.values()) == one.units
        for node, units in start.nodes.items():
            free[nodes.index(node)] -= [units * one.request.get(r, 0) for r in PLATFORM.resources]
    assert (free >= 0).all()


def test_wrong_options_are_refused():
    with pytest.raises(ValueError, match="above 0"):
        CPDispatcher("hcp", limit=0)
    with pytest.raises(sl.UnknownName):
        simulate(Dispatch(PLATFORM, [replace(job("a"), runtime=3)], QUEUES), dispatcher="hcp9@cpsat")


def test_the_family_has_a_default_and_is_checked():
    assert CPDispatcher(objective="waiting", limit=0.2).name == "hcp3@cpsat:waiting"
    for wrong in ({"family": "pcp3"}, {"family": None}, {"version": 4}, {"version": 1.5}):
        with pytest.raises(sl.SchedlabError, match=f"CPDispatcher: {next(iter(wrong))} is .*; expected"):
            CPDispatcher(**wrong)
