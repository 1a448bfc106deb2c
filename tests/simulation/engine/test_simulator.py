"""Replays: capacity, order and causality on random workloads; calendars, options, and invalid decisions."""

import time
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import schedlab as sl
from hypothesis import given, settings
from hypothesis import strategies as st
from schedlab.instances import Workload, WorkloadError
from schedlab.models import Dispatch, Job, NodeGroup, Platform, ProblemError, Queue
from schedlab.simulation import POLICIES, Decision, Start, simulate

PLATFORM = Platform([NodeGroup("gpu", 2, {"cores": 8, "gpus": 2}), NodeGroup("cpu", 3, {"cores": 12})])
QUEUES = (Queue("day", 3600, ((1000, 3000),)), Queue("any", 600))

WITHOUT_PROFILE = sorted(name for name, policy in POLICIES.items() if not policy.within_profile)


@st.composite
def jobs(draw):
    count = draw(st.integers(1, 14))
    found = []
    for k in range(count):
        gpus = draw(st.sampled_from([0, 0, 0, 1, 2]))
        found.append(
            Job(
                f"j{k}",
                submit=draw(st.integers(0, 400)),
                walltime=draw(st.integers(1, 300)),
                units=draw(st.integers(1, 2 if gpus else 5)),
                request={"cores": draw(st.integers(0, 8)), "gpus": gpus},
                queue=draw(st.sampled_from(["any", "any", "day"])),
                runtime=draw(st.integers(0, 300)),
            )
        )
    return found


def problem(listed):
    return Dispatch(PLATFORM, listed, QUEUES, "waiting", durations="runtime")


@settings(max_examples=70, deadline=None)
@given(jobs(), st.sampled_from(WITHOUT_PROFILE), st.sampled_from(["first-fit", "best-fit"]), st.sampled_from("wdrl"))
def test_no_policy_breaks_capacity_order_or_causality(listed, name, allocator, letter):
    p = problem(listed)
    found = simulate(p, dispatcher=f"{name}-{letter}", allocator=allocator)
    assert found.violations == []
    assert p.verify(found.schedule()) == []  # the check of offline schedules
    w = found.workload
    if POLICIES[name].strict and letter == "w":  # no job overtakes one whose calendar was open
        base = POLICIES[name].key(w, w.walltime)
        if not isinstance(base, tuple):
            first = np.lexsort((np.arange(len(w)), base))
            for before, later in pairwise(first):
                if w.queue[before] == 1 and w.submit[before] <= found.start[later]:
                    assert found.start[before] <= found.start[later]


def line(*jobs_, nodes=2):
    """Return a problem with the jobs (submit, runtime, walltime, units) on nodes of one core."""
    listed = [Job(f"j{k}", s, w, u, {"cores": 1}, "q", runtime=r) for k, (s, r, w, u) in enumerate(jobs_)]
    return Dispatch(Platform([NodeGroup("n", nodes, {"cores": 1})]), listed, [Queue("q", 60)])


def test_completions_come_before_arrivals_at_one_instant():
    assert simulate(line((0, 10, 10, 2), (10, 5, 5, 2)), dispatcher="fcfs").start.tolist() == [0, 10]


def test_a_job_that_takes_no_time_leaves_its_nodes_to_one_that_was_submitted_before():
    p = line((0, 10, 10, 2), (1, 5, 5, 1), (2, 0, 1, 2), (3, 5, 6, 1), (12, 3, 3, 2))
    found = simulate(p, dispatcher="rule:wt-r")
    assert found.start.tolist() == [0, 10, 10, 10, 15]
    assert found.violations == []
    both = {"n-1": 1, "n-2": 1}
    assert found.schedule().nodes == {"j0": both, "j1": {"n-1": 1}, "j2": both, "j3": {"n-2": 1}, "j4": both}


def test_jobs_that_ask_for_most_of_different_resources_share_a_node():
    node = Platform([NodeGroup("n", 1, {"cores": 4, "gpus": 2})])
    jobs = [Job("a", 0, 9, 1, {"cores": 3}, "q", runtime=9), Job("b", 0, 9, 1, {"cores": 1, "gpus": 2}, "q", runtime=9)]
    assert simulate(Dispatch(node, jobs, [Queue("q", 60)]), dispatcher="fcfs").start.tolist() == [0, 0]


def test_a_calendar_opens_without_any_other_event():
    p = Dispatch(PLATFORM, [Job("j", 10, 5, 1, {"cores": 1}, "day", runtime=5)], QUEUES)
    assert simulate(p, dispatcher="fcfs").start.tolist() == [1000]


def test_kill_at_walltime_ends_jobs_that_run_over():
    p = line((0, 100, 30, 2), (1, 5, 5, 1))
    assert simulate(p, dispatcher="fcfs").start.tolist() == [0, 100]
    killed = simulate(p, dispatcher="fcfs", kill_at_walltime=True)
    assert killed.start.tolist() == [0, 30]
    assert killed.killed.tolist() == [True, False]
    assert killed.violations == []


def test_jobs_that_the_platform_cannot_hold_are_told():
    p = line((0, 5, 5, 1), (0, 5, 5, 9), nodes=9)
    found = simulate(p, Platform([NodeGroup("n", 4, {"cores": 1})]), "fcfs")
    assert found.workload.ids == ("j0",)
    assert found.workload.report.dropped[0][0] == "j1"
    with pytest.raises(WorkloadError, match="hold none of the 2 jobs"):
        simulate(p, Platform([NodeGroup("n", 4, {"gpus": 1})]), "fcfs")


def test_an_empty_workload_is_told():
    w = Workload.of(line((0, 5, 5, 1)))
    with pytest.raises(WorkloadError, match="no job"):
        w.keep(np.array([], np.int64))
    with pytest.raises(WorkloadError, match="no job was submitted"):
        w.between(100, 200)
    with pytest.raises(WorkloadError, match="no runtime"):
        Workload.of(w.dispatch(line((0, 5, 5, 1)).platform).replace(jobs=[replace(w.job(0), runtime=None)]))


class Scripted:
    """A dispatcher that starts what ``answer(moment)`` returns."""

    name = "scripted"

    def __init__(self, answer):
        self.answer = answer

    def begin(self, platform, queues, seed):
        pass

    def decide(self, moment):
        return Decision(self.answer(moment))


def first_fit(moment):
    """Yield the start of each waiting job on the first free nodes (of one core), in order of arrival."""
    free = [n for n, amount in zip(moment.platform.nodes, moment.free[:, 0], strict=True) if amount]
    for job in moment.waiting:
        if len(free) >= job.units:
            yield Start(job.id, dict.fromkeys([free.pop(0) for _ in range(job.units)], 1))


def test_a_dispatcher_of_ones_own_never_sees_a_runtime():
    seen = []

    def answer(moment):
        seen.extend(moment.waiting)
        assert all(moment.expected[j.id] == j.walltime for j in moment.waiting)
        return list(first_fit(moment))

    p = line((0, 10, 20, 2), (1, 5, 9, 1), (2, 5, 9, 1))
    found = simulate(p, dispatcher=Scripted(answer))
    assert found.start.tolist() == [0, 10, 10]
    assert found.start.tolist() == simulate(p, dispatcher="rule:est").start.tolist()
    assert seen
    assert all(j.runtime is None for j in seen)
    assert found.decisions.made == 2
    assert found.decisions.skipped == 2  # at 1 and 2, when no job could have started


@pytest.mark.parametrize(
    "answer, message, job, node",
    [
        (lambda m: [Start("nobody", {"n-1": 1})], "no job 'nobody'", "nobody", None),
        (lambda m: [Start("j0", {"n-1": 1}), Start("j0", {"n-2": 1})], "has started already, at 7", "j0", None),
        (lambda m: [Start("j0", {"n-1": 2})], "has 1 unit", "j0", None),
        (lambda m: [Start("j0", {"n-9": 1})], "no node 'n-9'", "j0", "n-9"),
        (
            lambda m: [Start("j0", {"n-1": 1}), Start("j1", {"n-1": 1})],
            "needs 1 cores on node 'n-1', where 0",
            "j1",
            "n-1",
        ),
        (lambda m: 1 / 0, "ZeroDivisionError", None, None),
    ],
)
def test_a_dispatcher_that_misbehaves(answer, message, job, node):
    p = line((7, 10, 20, 1), (7, 5, 9, 1))
    with pytest.raises(sl.SimulationError, match=message) as caught:
        simulate(p, dispatcher=Scripted(answer))
    e = caught.value
    assert (e.job, e.node, e.time) == (job, node, 7)
    assert len(e.partial.start) == 2


def test_jobs_that_wait_for_ever_are_told():
    with pytest.raises(sl.SimulationError, match=r"job 'j0' waits forever: after time 7 no job runs") as caught:
        simulate(line((7, 10, 20, 1)), dispatcher=Scripted(lambda m: []))
    assert caught.value.partial.start.tolist() == [-1]


def test_decision_time_can_be_charged(monkeypatch):
    ticks = iter(range(0, 10**6, 3))
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(ticks)))
    found = simulate(
        line((0, 10, 10, 1), (1, 5, 5, 1)), dispatcher=Scripted(lambda m: list(first_fit(m))), charge_decisions=True
    )
    assert found.start[0] == 3
    assert found.start[1] > 3
    assert found.violations == []


def test_a_period_wakes_the_dispatcher():
    times = []

    def answer(moment):
        times.append(moment.now)
        return list(first_fit(moment)) if moment.now >= 25 else []

    found = simulate(line((3, 10, 10, 1), (100, 1, 1, 1)), dispatcher=Scripted(answer), period=10)
    assert times == [3, 10, 20, 30, 100]
    assert found.start.tolist() == [30, 100]


def test_progress_is_told_and_can_stop():
    reports = []
    found = simulate("eurora_99", dispatcher="fcfs", on_progress=lambda news: reports.append(news))
    assert found.notes == ()
    stopped = simulate(
        line(*[(t, 1, 1, 1) for t in range(30000)]),
        dispatcher="fcfs",
        on_progress=lambda news: reports.append(news) or False,
    )
    assert stopped.notes == ("stopped before its end",)
    assert reports[-1].jobs == 30000


def test_a_short_compiled_replay_can_be_stopped_before_its_end():
    """The decisions of a search may take long, so that the first events are followed by a call."""
    work = line(*[(t, 1, 1, 1) for t in range(300)])
    for dispatcher in ("fcfs", "easy", "conservative", "plan@lns:rounds=2"):
        run = simulate(work, dispatcher=dispatcher, on_progress=lambda news: False)
        assert run.notes == ("stopped before its end",) and 0 < (run.start >= 0).sum() < 300


@pytest.mark.parametrize("dispatcher", ["rule:wt", "easy", "conservative", "pbs-fifo", "plan@lns:rounds=3"])
@pytest.mark.parametrize("day", ["eurora_99", "equal nodes"])
def test_starts_do_not_depend_on_how_often_progress_is_told(monkeypatch, dispatcher, day):
    if day == "equal nodes":
        jobs = [Job(f"j{k}", 37 * k % 900, 60 + 97 * k % 500, 1 + k * k % 7, {"cores": 1}, "any", runtime=50 + 61 * k % 500)
                for k in range(120)]  # fmt: skip
        day = Dispatch(Platform([NodeGroup("n", 8, {"cores": 1})]), jobs, QUEUES)  # its nodes are counted
    whole, reports = simulate(day, dispatcher=dispatcher), []
    monkeypatch.setattr("schedlab.simulation.engine.BATCH", 1)
    monkeypatch.setattr("schedlab.simulation.engine.FIRST", 1)
    told = simulate(day, dispatcher=dispatcher, on_progress=reports.append)
    assert len(reports) > 50 and told.start.tolist() == whole.start.tolist()
    assert told.schedule() == whole.schedule()


def test_the_same_replay_twice_is_the_same():
    one, two = (simulate("eurora_330", dispatcher="easy-d") for _ in range(2))
    assert one.start.tolist() == two.start.tolist()
    assert one.placement.low.tolist() == two.placement.low.tolist()


def test_an_offered_load_is_reached():
    instance = sl.load("eurora_700")
    w = Workload.of(instance.dispatch)
    denser = w.at_load(1.2, instance.platform)
    assert denser.load(instance.platform) == pytest.approx(1.2, rel=1e-3)
    assert denser.ids == w.ids
    with pytest.raises(WorkloadError, match="offered load"):
        w.at_load(0, instance.platform)


def test_a_policy_says_what_is_wrong_with_it():
    with pytest.raises(ValueError, match="candidates is 0, expected at least 1"):
        sl.Policy("none", candidates=0)
    with pytest.raises(ProblemError):
        Dispatch(PLATFORM, [Job("j", 0, 1, 99, {"cores": 8}, "any")], QUEUES)
