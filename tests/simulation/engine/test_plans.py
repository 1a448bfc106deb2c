"""Planned starts, requested calls and calls at every event."""

import time
from dataclasses import replace

import numpy as np
import pytest
import schedlab as sl
from schedlab.instances import Workload
from schedlab.models import Dispatch, Job, NodeGroup, Platform, Queue
from schedlab.simulation import Decision, FailedStart, PlannedStart, Start, simulate

ONE, TWO = {"n-1": 1}, {"n-1": 1, "n-2": 1}
QUEUES = (Queue("any", 60), Queue("day", 60, ((1000, 3000),)))
MOST = 300  # calls in a replay of a few jobs


class Custom:
    """A dispatcher that returns ``answer(moment)`` and keeps the moments."""

    name = "custom"

    def __init__(self, answer, always=False):
        self.answer, self.needs = answer, {"always"} if always else set()
        self.moments = []

    def begin(self, platform, queues, seed):
        self.moments.clear()

    def decide(self, moment):
        self.moments.append(moment)
        if len(self.moments) > MOST:
            pytest.fail(f"{MOST} calls, and the replay has not ended")
        return self.answer(moment)

    @property
    def times(self):
        return [m.now for m in self.moments]


def job(name, submit=0, runtime=10, units=1, queue="any", walltime=None):
    return Job(name, submit, walltime or max(1, runtime), units, {"cores": 1}, queue, runtime=runtime)


def day(*jobs, nodes=2):
    return Dispatch(Platform([NodeGroup("n", nodes, {"cores": 1})]), jobs, QUEUES, "waiting", durations="runtime")


def at(times, decision):
    """Return an answer that gives ``decision`` at these times, and nothing at others."""
    return lambda moment: decision if moment.now in times else Decision([])


def first_fit(moment):
    """Start waiting jobs in their order, one unit per node, as far as the free nodes allow."""
    free = [n for n, left in zip(moment.platform.nodes, moment.free[:, 0], strict=True) if left]
    starts = []
    for each, may in zip(moment.waiting, moment.may_start, strict=True):
        if may and each.units <= len(free):
            starts.append(Start(each.id, {free.pop(0): 1 for _ in range(each.units)}))
    return Decision(starts)


# planned starts


def test_planned_jobs_start_at_their_times_without_a_call():
    plan = [PlannedStart("a", ONE, 5), PlannedStart("b", {"n-2": 1}, 7), PlannedStart("late", ONE, 20)]
    dispatcher = Custom(at([0], Decision([], plan=iter(plan))))
    found = simulate(day(job("a"), job("b", runtime=99), job("late", submit=20)), dispatcher=dispatcher)
    assert found.schedule().start == {"a": 5, "b": 7, "late": 20}
    assert found.schedule().nodes == {"a": ONE, "b": {"n-2": 1}, "late": ONE}
    assert found.violations == []
    assert dispatcher.times == [0, 5]  # at 5 job b could start; at 7 and 20 nothing waits any more
    assert list(dispatcher.moments[1].planned) == []  # the mapping of the replay, at its end


def test_a_plan_at_the_end_of_a_job_holds_if_the_job_ends_as_planned():
    p = day(job("a"), job("b"), nodes=1)
    dispatcher = Custom(at([0], Decision([Start("a", ONE)], plan=[PlannedStart("b", ONE, 10)])))
    assert simulate(p, dispatcher=dispatcher).start.tolist() == [0, 10]
    assert dispatcher.times == [0]


def test_a_plan_that_cannot_hold_is_reported_with_the_reason():
    def answer(moment):
        if moment.now == 0:
            return Decision([Start("a", ONE)], plan=[PlannedStart("b", ONE, 10), PlannedStart("c", ONE, 40)])
        return first_fit(moment) if moment.now == 15 else Decision([])

    dispatcher = Custom(answer)
    found = simulate(day(job("a", runtime=15, walltime=10), job("b"), job("c"), nodes=1), dispatcher=dispatcher)
    assert found.schedule().start == {"a": 0, "b": 15, "c": 40}
    (failed,) = dispatcher.moments[1].failed
    assert failed[:3] == ("b", ONE, 10)
    assert failed.why == "node 'n-1' has 0 free cores, job 'b' needs 1; there run: 'a'"
    assert [j.id for j in dispatcher.moments[1].waiting] == ["b", "c"]
    assert [(m.now, len(m.failed)) for m in dispatcher.moments] == [(0, 0), (10, 1), (15, 0), (25, 0)]


def test_planned_shows_what_is_planned_now():
    seen = []

    def answer(moment):
        seen.append(dict(moment.planned))
        plans = {
            0: [PlannedStart("a", ONE, 50), PlannedStart("b", ONE, 70)],
            1: [PlannedStart("a", ONE, 30)],  # replaces the plan of a; that of b stays
            2: [],
        }
        return Decision([], plan=plans[moment.now], wake=moment.now + 1) if moment.now in plans else first_fit(moment)

    found = simulate(day(job("a"), job("b")), dispatcher=Custom(answer))
    assert [{name: p.time for name, p in each.items()} for each in seen] == [
        {},
        {"a": 50, "b": 70},
        {"a": 30, "b": 70},
        {},
    ]
    assert found.start.tolist() == [3, 3]


def test_a_planned_start_is_withdrawn_alone():
    def answer(moment):
        if moment.now == 0:
            return Decision([], plan=[PlannedStart("a", ONE, 5), PlannedStart("b", {"n-2": 1}, 7)], wake=2)
        if moment.now == 2:
            return Decision([], withdrawn=["a", "c", "unknown"], wake=50)  # c has no planned start
        return first_fit(moment) if moment.now >= 50 else Decision([])

    found = simulate(day(job("a"), job("b"), job("c")), dispatcher=Custom(answer))
    assert found.schedule().start == {"a": 50, "b": 7, "c": 50}


@pytest.mark.parametrize("withdrawn", ["a", [1], None])
def test_what_is_withdrawn_are_ids_of_jobs(withdrawn):
    with pytest.raises(sl.SchedlabError, match=r"Decision.withdrawn is .*expected a list of ids of jobs"):
        simulate(day(job("a")), dispatcher=Custom(at([0], Decision([], withdrawn=withdrawn))))


def test_a_start_now_may_take_the_nodes_of_a_plan():
    def answer(moment):
        if moment.now == 0:
            return Decision([], plan=[PlannedStart("a", ONE, 5)], wake=3)
        if moment.now == 3:
            return Decision([Start("b", ONE)])
        return first_fit(moment)

    dispatcher = Custom(answer)
    found = simulate(day(job("a"), job("b"), nodes=1), dispatcher=dispatcher)
    assert found.start.tolist() == [13, 3]
    assert dispatcher.moments[2].failed[0].job == "a"


def test_a_job_that_starts_now_leaves_the_plan():
    answer = lambda m: Decision([], plan=[PlannedStart("a", ONE, 50)], wake=3) if m.now == 0 else first_fit(m)  # noqa: E731
    dispatcher = Custom(answer)
    assert simulate(day(job("a")), dispatcher=dispatcher).start.tolist() == [3]
    assert dispatcher.times == [0, 3]


def test_calendars_and_arrivals_hold_for_plans():
    plan = [PlannedStart("early", ONE, 5), PlannedStart("night", ONE, 10), PlannedStart("noon", {"n-2": 1}, 1500)]
    answer = lambda m: Decision([], plan=plan) if m.now == 0 else first_fit(m)  # noqa: E731
    p = day(job("first", runtime=1), job("early", submit=8), job("night", queue="day"), job("noon", queue="day"))
    dispatcher = Custom(answer)
    found = simulate(p, dispatcher=dispatcher)
    failed = [f for m in dispatcher.moments for f in m.failed]
    assert [(f.job, f.time, f.why) for f in failed] == [
        ("early", 5, "job 'early' has not arrived"),
        ("night", 10, "the calendars of job 'night' do not allow a start"),
    ]
    assert found.schedule().start == {"first": 5, "early": 8, "night": 1000, "noon": 1000}
    assert found.violations == []


def test_a_decision_that_lasts_beyond_a_planned_start(monkeypatch):
    ticks = iter(range(0, 10**6, 3))
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(ticks)))
    answer = lambda m: first_fit(m) if m.failed else Decision([], plan=[PlannedStart("a", ONE, m.now + 1)])  # noqa: E731
    dispatcher = Custom(answer)
    found = simulate(day(job("a")), dispatcher=dispatcher, charge_decisions=True)
    assert dispatcher.moments[1].failed == [FailedStart("a", ONE, 1, "a decision lasted until 3")]
    assert found.start[0] >= 3
    assert found.violations == []


# calls


def test_a_call_is_made_at_the_requested_time_whatever_happens_before():
    def answer(moment):
        wakes = {0: 50, 10: 30}  # the later request of the earlier call counts, too
        return Decision([Start("a", ONE)] if moment.now == 0 else [], wake=wakes.get(moment.now))

    p = day(job("a"), job("b", submit=10, units=1), job("c", submit=60), nodes=2)
    dispatcher = Custom(lambda m: first_fit(m) if m.now >= 60 else answer(m))
    found = simulate(p, dispatcher=dispatcher)
    assert dispatcher.times == [0, 10, 30, 50, 60]
    assert found.schedule().start == {"a": 0, "b": 60, "c": 60}


def test_calls_are_made_although_nothing_waits_or_fits():
    dispatcher = Custom(lambda m: Decision(first_fit(m).starts, wake=m.now + 4 if m.now < 12 else None))
    found = simulate(day(job("a", runtime=20), job("b", runtime=20, units=2, submit=1)), dispatcher=dispatcher)
    assert dispatcher.times == [0, 4, 8, 12, 20]
    assert found.start.tolist() == [0, 20]


def test_always_calls_at_every_arrival_and_end():
    p = day(job("a", runtime=30), job("b", submit=5, units=2), job("c", submit=200))
    sometimes, always = Custom(first_fit), Custom(first_fit, always=True)
    same = [simulate(p, dispatcher=d).start.tolist() for d in (sometimes, always)]
    assert same[0] == same[1] == [0, 30, 200]
    assert sometimes.times == [0, 30, 200]
    assert always.times == [0, 5, 30, 40, 200, 210]


def test_a_dispatcher_that_asks_for_calls_for_ever_ends_with_the_job_that_waits(monkeypatch):
    monkeypatch.setattr("schedlab.simulation.engine.MOST_CALLS", 50)
    dispatcher = Custom(lambda m: Decision([], wake=m.now + 1))
    with pytest.raises(sl.SimulationError, match="job 'a' waits forever") as caught:
        simulate(day(job("a")), dispatcher=dispatcher)
    assert caught.value.partial.start.tolist() == [-1]
    assert len(dispatcher.times) <= 60


def test_requested_calls_end_with_the_last_job_also_if_a_job_has_waited_for_another():
    p = day(job("a"), job("b"))
    later = replace(Workload.of(p), after={1: (0, 5)})
    dispatcher = Custom(lambda m: Decision(first_fit(m).starts, wake=m.now + 2))
    found = simulate(later, p.platform, dispatcher)
    assert found.start.tolist() == [0, 15] and dispatcher.times[-1] == 25


def test_calls_end_when_the_windows_of_all_waiting_jobs_have_closed():
    """The windows are not in the hours of the queue, which opens every day between two calls."""
    late = replace(job("a", queue="day"), windows=((40, 50),))
    dispatcher = Custom(lambda m: Decision(first_fit(m).starts, wake=m.now + 10_000))
    with pytest.raises(sl.SimulationError, match=r"job .a. waits forever(.|\n)*its last start window has closed at 50"):
        simulate(day(late, job("b")), dispatcher=dispatcher)


def test_calls_for_ever_end_although_a_queue_opens_every_day(monkeypatch):
    monkeypatch.setattr("schedlab.simulation.engine.MOST_CALLS", 50)
    dispatcher = Custom(lambda m: Decision([], wake=m.now + 10_000))
    with pytest.raises(sl.SimulationError, match="job 'a' waits forever"):
        simulate(day(job("a", queue="day")), dispatcher=dispatcher)


# wrong answers


@pytest.mark.parametrize(
    ("answer", "message", "blamed", "node"),
    [
        (Decision([], wake=1.5), "Decision.wake is 1.5; a whole number, or None, is expected", None, None),
        (Decision([], wake=True), "Decision.wake is True", None, None),
        (Decision([], wake=7), "Decision.wake is 7; expected a time after 7", None, None),
        (Decision([], plan=3), "Decision.plan is 3; expected a list of PlannedStart", None, None),
        (Decision([], plan=[Start("a", ONE)]), r"Decision.plan contains Start\(", None, None),
        (Decision([], plan=[PlannedStart(1, ONE, 9)]), "PlannedStart.job is 1; expected the id", None, None),
        (Decision([], plan=[PlannedStart("a", [], 9)]), r"PlannedStart.nodes of job 'a' is \[\]", "a", None),
        (Decision([], plan=[PlannedStart("a", ONE, 9.0)]), "PlannedStart.time of job 'a' is 9.0", "a", None),
        (Decision([], plan=[PlannedStart("a", ONE, 7)]), "planned at 7; expected a time after 7", "a", None),
        (Decision([], plan=[PlannedStart("x", ONE, 9)]), "workload has no such job", "x", None),
        (Decision([], plan=[PlannedStart("a", TWO, 9)]), "has 1 unit; the units of its start", "a", None),
        (Decision([], plan=[PlannedStart("a", {"m": 1}, 9)]), "no node 'm'", "a", "m"),
        (Decision([], plan=[PlannedStart("b", {"n-1": 2}, 9)]), "needs 2 cores on node 'n-1', which has 1", "b", "n-1"),
        (Decision([], plan=[PlannedStart("a", ONE, t) for t in (8, 9)]), "has two starts in one Decision", "a", None),
        (Decision([Start("a", ONE)], plan=[PlannedStart("a", ONE, 9)]), "has two starts", "a", None),
    ],
)
def test_a_wrong_request_is_refused(answer, message, blamed, node):
    p = day(job("a", submit=7), job("b", submit=7, units=2))
    with pytest.raises(sl.SimulationError, match=f"dispatcher custom at 7: .*{message}") as caught:
        simulate(p, dispatcher=Custom(lambda moment: answer))
    e = caught.value
    assert (e.job, e.node, e.time) == (blamed, node, 7)
    assert e.partial is not None


def test_a_job_that_has_started_cannot_be_planned():
    answer = lambda m: Decision([Start("a", ONE)]) if m.now == 0 else Decision([], plan=[PlannedStart("a", ONE, 9)])  # noqa: E731
    with pytest.raises(sl.SimulationError, match="job 'a' has started already, at 0"):
        simulate(day(job("a"), job("b", submit=3)), dispatcher=Custom(answer))


def test_a_plan_may_raise_and_have_numbers_of_numpy():
    def wrong():
        yield PlannedStart("a", ONE, 5)
        raise RuntimeError("out of ideas")

    with pytest.raises(sl.SimulationError, match=r"raised at 0.*RuntimeError: out of ideas"):
        simulate(day(job("a")), dispatcher=Custom(lambda m: Decision([], plan=wrong())))
    plan = [PlannedStart("a", {"n-1": np.int64(1)}, np.int64(5))]
    assert simulate(day(job("a")), dispatcher=Custom(at([0], Decision([], plan=plan)))).start.tolist() == [5]


def with_attributes(**attributes):
    """Return a dispatcher without a set of needs, with these attributes."""

    class Plain:
        name = "plain"

        def begin(self, platform, queues, seed):
            """Nothing to prepare."""

        def decide(self, moment):
            return Decision(first_fit(moment).starts)

    for name, value in attributes.items():
        setattr(Plain, name, value)
    return Plain()


@pytest.mark.parametrize(
    ("attributes", "match"),
    [
        ({"needs": {"alwais"}}, r"dispatcher plain: needs is {'alwais'}; expected a set of 'always', 'log'"),
        ({"needs": "always"}, r"dispatcher plain: needs is 'always'; expected a set of"),
        ({"needs": {"log"}}, r"dispatcher plain needs 'log', but has no attribute prepare"),
        (
            {"always": True},
            r"dispatcher plain has always, .* needs = frozenset\({'always'}\), or needs = frozenset\(\) if",
        ),
        ({"takes_chunks": False, "prepare": print}, r"has prepare, takes_chunks.*frozenset\({'log', 'one-chunk'}\)"),
    ],
)
def test_wrong_needs_are_refused(attributes, match):
    with pytest.raises(sl.models.plugins.PluginError, match=match):
        simulate(day(job("a")), dispatcher=with_attributes(**attributes))


def test_a_dispatcher_with_a_set_of_needs_may_have_other_attributes():
    assert simulate(day(job("a")), dispatcher=with_attributes(needs=set(), prepare=None)).start.tolist() == [0]
