"""Dispatchers that return invalid decisions, and dispatchers under which jobs wait forever."""

import time
from dataclasses import replace

import pytest
import schedlab as sl
from schedlab.models import Dispatch, Job, NodeGroup, Platform, Queue
from schedlab.simulation import Decision, Start, simulate

DAY = 86400
PLATFORM = Platform([NodeGroup("n", 2, {"cores": 1})])
QUEUES = (Queue("any", 60), Queue("day", 60, ((1000, 3000),)), Queue("night", 60, ((80000, 90000),)))
MOST = 200  # calls in a replay of a few jobs; more calls mean that the replay does not end


class Custom:
    """A dispatcher that returns ``answer(moment)``; it fails the test after too many calls."""

    name = "custom"

    def __init__(self, answer):
        self.answer = answer
        self.times = []

    def begin(self, platform, queues, seed):
        pass

    def decide(self, moment):
        self.times.append(moment.now)
        if len(self.times) > MOST:
            pytest.fail(f"{MOST} calls, and the replay has not ended")
        return self.answer(moment)


def nothing(moment):
    return Decision(())


def as_early_as_possible(moment):
    """Start the first job that may start, on the first nodes, one unit per node."""
    for job, may in zip(moment.waiting, moment.may_start, strict=True):
        if may:
            return Decision([Start(job.id, {f"n-{k + 1}": 1 for k in range(job.units)})])
    return Decision(())


def job(name, submit=7, runtime=10, queue="any", **more):
    return Job(name, submit, 20, 1, {"cores": 1}, queue, runtime=runtime, **more)


def day(*jobs):
    return Dispatch(PLATFORM, jobs, QUEUES, "waiting", durations="runtime")


# answers


def of_starts(*starts):
    return lambda moment: Decision(starts)


def generated(moment):
    yield Start("j0", {"n-1": 1})
    raise RuntimeError("out of ideas")


@pytest.mark.parametrize(
    ("answer", "message", "blamed"),
    [
        (lambda m: None, r"decide returned None.*expected a Decision", None),
        (lambda m: [1], r"decide returned \[1\].*expected a Decision", None),
        (lambda m: Decision(None), "starts is None", None),
        (lambda m: Decision(5), "starts is 5", None),
        (of_starts(1), r"starts contains 1; expected Start\(", None),
        (of_starts(("j0", {"n-1": 1})), r"starts contains \('j0'.*expected Start\(", None),
        (of_starts(Start(0, {"n-1": 1})), "Start.job is 0; expected the id", None),
        (of_starts(Start(["j0"], {"n-1": 1})), r"Start.job is \['j0'\]", None),
        (of_starts(Start("j0", None)), "nodes of job 'j0' is None", "j0"),
        (of_starts(Start("j0", ["n-1"])), r"nodes of job 'j0' is \['n-1'\]", "j0"),
        (of_starts(Start("j0", {"n-1": 1.5})), r"1.5 units of job 'j0' on node 'n-1'.*whole number", "j0"),
        (of_starts(Start("j0", {"n-1": "1"})), "'1' units of job 'j0'", "j0"),
        (of_starts(Start("j0", {"n-1": None})), "None units of job 'j0'", "j0"),
        (of_starts(Start("j0", {"n-1": 10**30})), "has 1 unit", "j0"),
        (of_starts(Start("j0", {"n-1": 0})), "has 1 unit", "j0"),
        (of_starts(Start("j0", {7: 1})), "no node 7", "j0"),
        (lambda m: Decision(generated(m)), "raised at 7.*RuntimeError: out of ideas", None),
        (lambda m: Decision((), ended=["x"]), r"ended is \['x'\].*trivial, optimal", None),
        (lambda m: Decision((), seconds=3.0), "seconds is 3.0", None),
        (lambda m: Decision((), seconds={"solve": "long"}), "seconds is {'solve': 'long'}", None),
        (lambda m: Decision((), gain="much"), "gain is 'much'", None),
        (lambda m: Decision((), urgent=None), "urgent is None", None),
    ],
)
def test_an_answer_that_is_none_names_dispatcher_time_and_job(answer, message, blamed):
    with pytest.raises(sl.SimulationError, match=f"dispatcher custom.*{message}") as caught:
        simulate(day(job("j0"), job("j1")), dispatcher=Custom(answer))
    e = caught.value
    assert " at 7" in str(e)
    assert (e.job, e.time) == (blamed, 7)
    assert e.partial.start.tolist() == [-1, -1]


def test_what_ran_before_a_wrong_answer_is_kept():
    answer = lambda m: as_early_as_possible(m) if m.now < 50 else None  # noqa: E731
    with pytest.raises(sl.SimulationError, match=r"custom at 100: decide returned None") as caught:
        simulate(day(job("j0"), job("j1", submit=100)), dispatcher=Custom(answer))
    assert caught.value.partial.start.tolist() == [7, -1]


def test_whole_numbers_of_numpy_are_units():
    import numpy as np

    found = simulate(day(job("j0")), dispatcher=Custom(of_starts(Start("j0", {"n-1": np.int64(1)}))))
    assert found.start.tolist() == [7]


def test_a_dispatcher_that_raises_as_the_replay_begins():
    class Unready(Custom):
        def begin(self, platform, queues, seed):
            raise KeyError("weights")

    with pytest.raises(
        sl.SimulationError, match="custom raised in begin, before the replay: KeyError: 'weights'"
    ) as caught:
        simulate(day(job("j0")), dispatcher=Unready(nothing))
    assert caught.value.partial.start.tolist() == [-1]


# jobs that wait forever


def refused_as_waiting_forever(problem, dispatcher, **options):
    with pytest.raises(sl.SimulationError, match="waits forever") as caught:
        simulate(problem, dispatcher=dispatcher, **options)
    return caught.value


def test_a_day_with_calendars_under_a_dispatcher_that_starts_nothing_ends():
    lazy = Custom(nothing)
    e = refused_as_waiting_forever("eurora_99", lazy)
    assert "custom has not started 99 waiting jobs" in str(e)
    assert DAY + 18 * 3600 in lazy.times  # when the last queue opens again after the last arrival
    assert lazy.times[-1] < 3 * DAY


def test_every_calendar_opens_once_before_it_is_told():
    lazy = Custom(nothing)
    e = refused_as_waiting_forever(day(job("d", queue="day"), job("n", queue="night", submit=500)), lazy)
    assert (e.job, e.time) == ("d", 500)
    assert "after time 500 no job runs and no job arrives" in str(e)
    assert lazy.times == [500, 1000, 80000, DAY + 1000]


def test_jobs_that_end_long_after_the_last_arrival_are_waited_for():
    long, late = job("long", runtime=5 * DAY), replace(job("late", queue="day", submit=8), units=2)
    found = simulate(day(long, late), dispatcher=Custom(as_early_as_possible))
    assert found.start.tolist() == [7, 5 * DAY + 1000]


def test_a_job_whose_own_window_opens_much_later_is_waited_for():
    windows = ((40 * DAY, 42 * DAY),)
    later = job("later", queue="day", windows=windows)
    patient = lambda m: as_early_as_possible(m) if m.now >= 40 * DAY else Decision(())  # noqa: E731
    for dispatcher, soon in ((Custom(patient), 40 * DAY + 1010), ("fcfs", 1000), ("easy-d", 1000)):
        found = simulate(day(later, job("soon", queue="day")), dispatcher=dispatcher)
        assert found.start.tolist() == [40 * DAY + 1000, soon]
    lazy = Custom(nothing)
    refused_as_waiting_forever(day(job("soon", queue="day"), later), lazy)
    assert 40 * DAY + 1000 in lazy.times
    assert lazy.times[-1] < 42 * DAY


@pytest.mark.parametrize("dispatcher", ["fcfs", "easy", "conservative", "easy-d", "hcp3@cpsat"])
def test_a_job_whose_own_window_has_passed_is_told_though_its_queue_opens_every_day(dispatcher):
    first = replace(job("first", runtime=5000), units=2)
    e = refused_as_waiting_forever(day(first, job("missed", queue="day", windows=((0, 2000),))), dispatcher)
    assert (e.job, e.time) == ("missed", 5007)
    assert e.partial.start.tolist() == [7, -1]
    assert "1 waiting job" in str(e) and "jobs" not in str(e)


def test_time_that_is_charged_for_decisions_is_no_progress(monkeypatch):
    ticks = iter(range(0, 10**6, 3))
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(ticks)))
    lazy = Custom(nothing)
    refused_as_waiting_forever(day(job("j0"), job("j1", submit=9)), lazy, charge_decisions=True)
    assert len(lazy.times) == 2  # at 7, and again after the second job has arrived


def test_a_job_that_ends_while_a_decision_is_charged_is_progress(monkeypatch):
    ticks = iter(range(0, 10**6, 3))
    whole = [replace(job(f"j{k}", runtime=1), units=2) for k in range(3)]
    simulate(day(*whole), dispatcher="fcfs", charge_decisions=True)  # compiling reads the clock, too
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(ticks)))
    found = simulate(day(*whole), dispatcher="fcfs", charge_decisions=True)
    assert found.start.tolist() == [7, 10, 13]


# predictions


def test_the_clairvoyant_knows_that_jobs_are_killed():
    over = replace(job("over", submit=0, runtime=100), units=1)
    p = day(over, replace(job("both", submit=1), units=2), replace(job("fill", submit=2, runtime=19), units=1))
    for dispatcher, options in (("easy-r", {}), ("easy", {"predictor": "real"})):
        assert simulate(p, dispatcher=dispatcher, **options).expected.tolist() == [100, 10, 19]
        killed = simulate(p, dispatcher=dispatcher, kill_at_walltime=True, **options)
        assert killed.expected.tolist() == [20, 10, 19]
        assert killed.start.tolist() == [0, 20, 30]  # job 'fill' would end at 21 and delay job 'both'
