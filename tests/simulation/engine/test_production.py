"""Reservations and server events in replays: small cases by hand, refusals, and planted faults for the verifier."""

from dataclasses import replace

import numpy as np
import pytest
import schedlab as sl
from schedlab import WrongValue
from schedlab.instances import Workload
from schedlab.models import Dispatch, Job, NodeEvent, NodeGroup, Platform, Queue, Running
from schedlab.models.reservations import Repeat, Reservation
from schedlab.models.server_events import ServerEvent
from schedlab.simulation import Decision, SimulationError, Start, Switching, violations
from schedlab.simulation.curves import queue_length

MACHINE = Platform([NodeGroup("n", 2, {"cores": 4})])
QUEUES = [Queue("q", 60), Queue("course", 60), Queue("night", 60, ((100, 200),)), Queue("whole", 60, ((0, 50),), True)]
COURSE = Reservation("course", "course", start=20, duration=10, units=1, request={"cores": 4})


def job(name, submit, runtime, walltime=None, units=1, cores=4, queue="q", user="u"):
    return Job(name, submit, walltime or runtime, units, {"cores": cores}, queue, runtime=runtime, user=user)


def replay(jobs, reservations=(), events=(), dispatcher="easy", **options):
    problem = Dispatch(MACHINE, jobs, QUEUES)
    run = sl.simulate(problem, dispatcher=dispatcher, reservations=reservations, events=events, **options)
    assert run.violations == []
    return run


def times(run):
    spans = zip(run.start.tolist(), run.end.tolist(), strict=True)
    return {name: span for name, span in zip(run.workload.ids, spans, strict=True) if span[0] >= 0}


def outcomes(run):
    return [(b.label, b.outcome) for b in run.production.bookings]


@pytest.mark.parametrize(
    "dispatcher", ["fcfs", "rule:wt", "easy", "conservative", "plan", "pbs-fifo", "hcp3@cpsat", "pcp3@cpsat"]
)
def test_a_reservation_starts_in_time_and_its_jobs_run_inside(dispatcher):
    jobs = [job("a", 0, 10, units=2), job("b", 1, 15), job("c", 2, 15), job("p", 3, 4, queue="course"),
            job("o", 4, 4, 8, queue="course"), job("x", 5, 3, queue="course")]  # fmt: skip
    run = replay(jobs, [COURSE], dispatcher=dispatcher)
    # two nodes are free at 10, one of them only until 20: one of b and c waits until the reservation is over
    found = times(run)
    assert found["a"] == (0, 10) and sorted([found["b"], found["c"]]) == [(10, 25), (25, 40)]
    # p from 20; o (walltime 8) could not end by 30 from 24 on; x could
    assert found["p"] == (20, 24) and found["x"] == (24, 27) and "o" not in found
    assert outcomes(run) == [("course", "over")]
    assert list(run.production.left.values()) == ["its queue 'course' has no reservation any more"]


def test_start_windows_of_jobs_hold_inside_of_reservations():
    """The reservation lasts from 20 to 80; no event but the opening of the second window of w is at 40."""
    inside = Reservation("course", "course", start=20, duration=60, units=1, request={"cores": 4})
    jobs = [
        replace(job("w", 0, 5, queue="course"), windows=((3, 9), (40, 45))),
        replace(job("x", 0, 5, queue="course"), windows=((90, 95),)),
        replace(job("moved", 0, 5), windows=((60, 61),)),
    ]
    run = replay(jobs, [inside], [ServerEvent(1, "move", "moved", "course")])
    assert times(run) == {"w": (40, 45), "moved": (60, 65)}
    assert list(run.production.left.values()) == ["its queue 'course' has no reservation any more"]


def test_reservations_are_accepted_in_order_of_submission_each_repetition_by_itself():
    standing = Reservation("s", "course", 3600, 60, 2, {"cores": 4}, repeat=Repeat("hour", 3), submitted=5)
    early = Reservation("e", "night2", 7200, 10, 1, {"cores": 1}, submitted=4)
    queues = [*QUEUES, Queue("night2", 60)]
    jobs = [job("a", 0, 100, 4000)]
    run = sl.simulate(Dispatch(MACHINE, jobs, queues), reservations=[standing, early])
    assert outcomes(run) == [("s#1", "refused"), ("s#2", "refused"), ("s#3", "over"), ("e", "over")]
    first, second = (b.why for b in run.production.bookings[:2])
    assert first == "reservation 's#1' is refused: at 3600 4 cores lack; 1 of 2 units fit on the nodes (4 cores each)"
    assert "at 7200 4 cores lack" in second  # e was first


@pytest.mark.parametrize("dispatcher", ["easy", "dardis:throughput"])
def test_a_reservation_that_ends_before_the_begin_holds_nothing(dispatcher):
    """The replay begins at 40. The last of three reservations on both nodes has begun then; a repetition is to come."""
    asked = [
        Reservation("over", "b", 5, 10, 2, {"cores": 4}),
        Reservation("just", "b", 30, 10, 2, {"cores": 4}),
        Reservation("on", "c", 35, 30, 2, {"cores": 4}),
        Reservation("again", "course", 0, 40, 1, {"cores": 4}, repeat=Repeat("hour", 2)),
    ]
    problem = Dispatch(MACHINE, [job("a", 41, 5)], [*QUEUES, Queue("b", 60), Queue("c", 60)])
    run = sl.simulate(Workload.of(problem).beginning(40, []), MACHINE, dispatcher, reservations=asked)
    assert run.violations == [] and times(run) == {"a": (65, 70)}
    found = {b.label: b.outcome for b in run.production.bookings}
    assert found == {"over": "refused", "just": "refused", "on": "over", "again#1": "refused", "again#2": "over"}
    assert run.production.bookings[0].why == "reservation 'over' ends at 15, not after the begin of the replay at 40"


def test_a_job_that_overruns_its_walltime_ends_when_the_reservation_starts():
    both = replace(COURSE, units=2)
    run = replay([job("a", 0, 40, 15), job("b", 0, 5, 15)], [both], dispatcher="fcfs")
    assert times(run) == {"a": (0, 20), "b": (0, 5)}
    assert run.history.dropped == {0: "reservation: course"}
    assert run.attempts["why"].tolist() == ["reservation: course", "completed"]
    killed = replay([job("a", 0, 40, 15)], [both], dispatcher="fcfs", kill_at_walltime=True)
    assert times(killed) == {"a": (0, 15)} and killed.history is None


def test_jobs_inside_that_overrun_end_with_the_reservation():
    run = replay([job("p", 0, 40, 5, queue="course")], [COURSE])
    assert times(run) == {"p": (20, 30)} and run.history.dropped == {0: "reservation 'course' is over"}


def test_users_who_may_not_use_the_reservation_are_left_out_with_the_reason():
    mine = replace(COURSE, users=("u",))
    run = replay([job("p", 0, 4, queue="course"), job("x", 0, 4, queue="course", user="v")], [mine])
    assert times(run) == {"p": (20, 24)}
    assert run.workload.report.dropped == (("x", "user 'v' may not use queue 'course'"),)


def test_cancelled_reservations_give_their_nodes_back():
    jobs = [job("a", 0, 30), job("b", 0, 30), job("p", 0, 9, queue="course")]
    assert sorted(times(replay(jobs, [COURSE])).values())[:2] == [(0, 30), (20, 29)]
    before = replay(jobs, [COURSE], [ServerEvent(12, "cancel-reservation", "course")])
    assert times(before) == {"a": (0, 30), "b": (12, 42)} and outcomes(before) == [("course", "cancelled")]
    during = replay(jobs, [COURSE], [ServerEvent(22, "cancel-reservation", "course")])
    assert times(during) == {"a": (0, 30), "p": (20, 22), "b": (22, 52)}


def test_the_event_reserve_is_the_time_of_the_request():
    run = replay([job("a", 0, 30, units=2)], [COURSE], [ServerEvent(10, "reserve", "course")])
    assert outcomes(run) == [("course", "refused")]  # submitted at 0 it would be accepted before a starts
    assert outcomes(replay([job("a", 1, 30, units=2)], [COURSE])) == [("course", "over")]


def test_stopped_queues_start_no_job_and_running_jobs_go_on():
    jobs = [job("a", 0, 10, units=2), job("b", 1, 5, units=2), job("n", 2, 5, units=2, queue="course")]
    run = replay(
        jobs, events=[ServerEvent(5, "stop-queue", "q"), ServerEvent(50, "start-queue", "q")], dispatcher="fcfs"
    )
    assert times(run) == {"a": (0, 10), "n": (10, 15), "b": (50, 55)}
    with pytest.raises(SimulationError) as e:
        replay(jobs, events=[ServerEvent(5, "stop-queue", "q")])
    assert e.value.waiting == {"b": "its queue 'q' is stopped since 5"}


def test_a_job_that_leaves_without_a_start_waits_until_it_leaves():
    """a runs 0 to 10 on both nodes; c is deleted at 3; p finds that the last course is over at 30 and leaves then."""
    jobs = [job("a", 0, 10, units=2), job("c", 1, 5), job("p", 2, 5, 50, queue="course"), job("z", 100, 5)]
    run = replay(jobs, [COURSE], [ServerEvent(3, "delete", "c")])
    assert run.production.left_at == {1: 3, 2: 30}
    waiting, length = queue_length(run)
    assert dict(zip(waiting.tolist(), length.tolist(), strict=True)) == {0: 0, 1: 1, 2: 2, 3: 1, 30: 0, 100: 0}
    assert run.metrics.queue_mean * run.metrics.makespan == pytest.approx((3 - 1) + (30 - 2))


def test_jobs_are_changed_moved_and_deleted():
    jobs = [job("a", 0, 10, 20, units=2), job("b", 1, 5), job("c", 1, 5), job("d", 1, 5)]
    events = [ServerEvent(2, "move", "b", "night"), ServerEvent(3, "delete", "c"), ServerEvent(4, "walltime", "d", 9)]
    run = replay(jobs, events=events)
    assert times(run) == {"a": (0, 10), "d": (10, 15), "b": (100, 105)}
    assert run.production.left == {2: "deleted"} and run.workload.walltime.tolist() == [20, 5, 5, 9]
    gone = replay(jobs, events=[ServerEvent(4, "delete", "a")])
    assert times(gone)["a"] == (0, 4) and gone.history.dropped == {0: "deleted"}


def test_a_job_that_is_requeued_waits_again():
    """a has the machine from 0 on; it comes back at 4 to its old place, before b, and needs what the rule says."""
    jobs = [job("a", 0, 10, 20, units=2), job("b", 1, 5)]
    requeued = [ServerEvent(4, "requeue", "a")]
    run = replay(jobs, events=requeued)
    assert times(run) == {"a": (4, 14), "b": (14, 19)}
    assert [(a.job, a.start, a.end, a.why) for a in run.history.early] == [("a", 0, 4, "requeued")]
    assert times(replay(jobs, events=requeued, requeue="checkpoint:3"))["a"] == (4, 11)
    dropped = replay(jobs, events=requeued, requeue="drop")
    assert times(dropped) == {"a": (0, 4), "b": (4, 9)} and dropped.history.dropped == {0: "requeued"}
    planted = replace(run, production=replace(run.production, events=(ServerEvent(3, "requeue", "a"),)))
    told = " ".join(v.message for v in violations(planted))
    assert "runs on, but was requeued at 3" in told
    assert "ended at 4 (requeued), when none of its nodes stopped" in told


def test_a_job_that_runs_at_the_begin_can_be_requeued():
    running = [Running(job("r", 0, 90, 99, units=2), 0, dict.fromkeys(MACHINE.nodes, 1), 90)]
    run = replay([job("a", 41, 5)], events=[ServerEvent(53, "requeue", "r")], begin=40, running=running)
    assert times(run) == {"r": (53, 143), "a": (143, 148)}


def test_a_new_walltime_ends_running_jobs_that_are_killed_at_it():
    jobs = [job("a", 0, 30, 20)]

    def end(time, walltime):
        return times(replay(jobs, events=[ServerEvent(time, "walltime", "a", walltime)], kill_at_walltime=True))["a"][1]

    assert (end(5, 12), end(15, 12), end(5, 25), end(5, 99)) == (12, 15, 25, 30)


@pytest.mark.parametrize(
    ("event", "why"),
    [
        (ServerEvent(5, "walltime", "a", 30), "into reservation 'course'"),
        (ServerEvent(5, "move", "a", "night"), "runs already"),
        (ServerEvent(5, "delete", "late"), "has not been submitted"),
        (ServerEvent(5, "requeue", "b"), "does not run"),
        (ServerEvent(5, "start-queue", "q"), "is not stopped"),
        (ServerEvent(5, "move", "b", "course"), "user 'v' may not use queue 'course'"),
        (ServerEvent(40, "cancel-reservation", "course"), "is over or was refused"),
    ],
)  # fmt: skip
def test_events_that_are_not_possible_are_recorded(event, why):
    jobs = [job("a", 0, 12, units=2), job("b", 1, 4, user="v"), job("late", 60, 5)]
    run = replay(jobs, [replace(COURSE, units=2, users=("u",))], [event])
    ((refused, text),) = run.production.refused
    assert refused == event and why in text


def test_a_waiting_job_with_followers_is_not_deleted():
    """A follower arrives after the end of its job, which a job that never starts has not; one that runs can be deleted."""
    jobs = [job("a", 0, 10, units=2), job("b", 1, 5, units=2), job("c", 2, 5)]
    workload = replace(Workload.of(Dispatch(MACHINE, jobs, QUEUES)), after={2: (1, 3)})

    def after(time):
        run = sl.simulate(workload, MACHINE, "easy", events=[ServerEvent(time, "delete", "b")])
        assert run.violations == []
        return run

    waits = after(4)
    ((event, why),) = waits.production.refused
    assert event == ServerEvent(4, "delete", "b")
    assert why == "other jobs wait for the end of job 'b', which has not started"
    assert times(waits) == {"a": (0, 10), "b": (10, 15), "c": (18, 23)} and not waits.production.left
    runs = after(12)
    assert runs.production.refused == () and times(runs) == {"a": (0, 10), "b": (10, 12), "c": (15, 20)}


def test_a_job_that_runs_at_the_begin_can_be_deleted():
    running = [Running(job("r", 0, 90, 99, units=2), 0, dict.fromkeys(MACHINE.nodes, 1), 90)]
    run = replay([job("a", 41, 5)], events=[ServerEvent(53, "delete", "r")], begin=40, running=running)
    assert times(run) == {"a": (53, 58)} and run.production.refused == ()
    assert [(a.end, a.why) for a in run.history.gone] == [(53, "deleted")]
    elsewhere = replace(run.production, events=(ServerEvent(54, "delete", "r"),))
    assert (
        "failed at 53 (deleted), when none of its nodes stopped"
        in violations(replace(run, production=elsewhere))[0].message
    )


def test_whole_runs_lie_inside_of_the_hours():
    jobs = [job("a", 0, 5, 10, units=2), job("w", 0, 5, 42, queue="whole"), job("v", 1, 5, 40, queue="whole")]
    for dispatcher in ("fcfs", "easy", "conservative"):
        found = times(replay(jobs, dispatcher=dispatcher))
        assert found["v"] == found["w"] == (5, 10)
    replay(jobs, dispatcher="hcp3@cpsat")  # verified
    late = [job("a", 0, 9, 10, units=2), job("w", 1, 5, 42, queue="whole")]
    assert times(replay(late))["w"] == (86_400, 86_405)  # 9 + 42 > 50: on the next day
    problem = Dispatch(MACHINE, late, QUEUES)
    for method in ("cpsat", "multi-search"):
        schedule = sl.solve(problem, method, time_limit=10).schedule
        assert schedule.start["w"] in range(1, 9) and problem.verify(schedule) == []  # offline, w goes before a
    assert problem.verify(sl.models.Schedule({"a": 0, "w": 10}, {"a": {"n-1": 1, "n-2": 1}, "w": {"n-1": 1}}))
    with pytest.raises(sl.models.ProblemError, match="walltime 51 s does not fit into a daily window of queue 'whole'"):
        Dispatch(MACHINE, [job("w", 0, 5, 51, queue="whole")], QUEUES)


class Greedy:
    """Starts each waiting job at once on the first node."""

    name = "greedy"

    def begin(self, platform, queues, seed):
        """Nothing to prepare."""

    def decide(self, moment):
        """Start the first job."""
        self.seen = moment.reserved
        return Decision([Start(moment.waiting[0].id, {"n-1": 1})] if moment.waiting else [])


def test_dispatchers_in_python_see_reservations_and_may_not_run_into_them():
    greedy = Greedy()
    replay([job("a", 0, 20)], [replace(COURSE, units=2)], dispatcher=greedy)
    assert [(r.name, r.start, r.end, r.nodes) for r in greedy.seen] == [("course", 20, 30, {"n-1": 1, "n-2": 1})]
    with pytest.raises(SimulationError, match=r"could run until 21 .* into reservation 'course'.* 4 cores lack at 20"):
        replay([job("a", 0, 21)], [replace(COURSE, units=2)], dispatcher=greedy)


def test_nodes_that_are_down_are_not_reserved_and_jobs_inside_fail_with_their_node():
    events = [NodeEvent(0, "node-down", ["n-1"]), NodeEvent(5, "node-up", ["n-1"])]
    run = replay([job("a", 0, 3)], [COURSE], events)
    assert run.production.bookings[0].nodes == {"n-2": 1}
    assert outcomes(replay([job("a", 0, 3)], [replace(COURSE, units=2)], events)) == [("course", "refused")]
    events = [NodeEvent(22, "node-down", ["n-1"]), NodeEvent(24, "node-up", ["n-1"])]
    run = replay([job("p", 0, 5, queue="course")], [COURSE], events)
    assert times(run) == {"p": (24, 29)}
    assert run.attempts["why"].tolist() == ["down: n-1", "completed"]


def test_reservations_beside_other_features():
    jobs = [job("a", 0, 5), job("p", 0, 4, queue="course")]
    held = [Running(job("r", 0, 50), 0, {"n-1": 1}, 50)]
    for options in (
        {"charge_decisions": True},
        {"running": held, "begin": 0},
        {"dispatcher": "easy", "predictor": "last-two"},
        {"dispatcher": "easy++"},
        {"node_policy": "idle:2", "switching": Switching(boot=1, shut_down=1, min_off=1)},
    ):
        run = replay(jobs, [COURSE], **options)
        assert run.violations == [] and (run.start >= 0).all()
        assert [b.outcome for b in run.production.bookings] == ["over"]


@pytest.mark.parametrize(
    ("reservations", "events", "text"),
    [
        ([replace(COURSE, queue="x")], [], "reservation 'course': queue: expected one of the queues q, course"),
        ([replace(COURSE, units=3)], [], "units: expected units that the empty platform can hold"),
        ([COURSE, COURSE], [], "name: expected a unique name"),
        ([COURSE, replace(COURSE, name="b", start=29)], [], "reservation 'b': start: expected a start from 30 on"),
        ([replace(COURSE, users=("z",))], [], "users: expected users of the jobs, found 'z'"),
        ([], [ServerEvent(1, "stop-queue", "x")], "event stop-queue at 1: subject: expected a queue"),
        ([], [ServerEvent(1, "delete", "z")], "event delete at 1: subject: expected a job"),
        ([COURSE], [ServerEvent(21, "reserve", "course")], "expected a time up to the start of reservation 'course', 20"),
        (["r"], [], "expected Reservation"),
        ([], ["e"], "expected NodeEvent and ServerEvent"),
    ],
)  # fmt: skip
def test_contradictions_are_named(reservations, events, text):
    with pytest.raises(WrongValue, match=text):
        replay([job("a", 0, 5)], reservations, events)


def planted(run, **changes):
    """The violations of a replay with some of its arrays or of its record changed."""
    return " ".join(v.message for v in violations(replace(run, **changes)))


def test_the_verifier_sees_planted_faults():
    jobs = [job("a", 0, 5), job("b", 0, 5), job("p", 0, 4, queue="course"), job("d", 50, 5)]
    events = [ServerEvent(40, "stop-queue", "q"), ServerEvent(60, "start-queue", "q")]
    run = replay(jobs, [replace(COURSE, units=2, users=("u",))], events)
    assert times(run) == {"a": (0, 5), "b": (0, 5), "p": (20, 24), "d": (60, 65)}
    shift = np.array([18, 0, 0, 0])
    assert "beside what is reserved" in planted(run, start=run.start + shift, end=run.end + shift)
    shift = np.array([0, 0, 0, -5])
    assert "from queue 'q', stopped since 40" in planted(run, start=run.start + shift, end=run.end + shift)
    shift = np.array([0, 0, 20, 0])
    text = planted(run, start=run.start + shift, end=run.end + shift)
    assert "of private queue 'course' starts at 40 outside of a reservation" in text
    record = run.production
    (booking,) = record.bookings
    for changed, text in (
        ({"start": 23}, "was not requested"),
        ({"nodes": {"n-1": 1}}, "has 1 unit on nodes; expected 2"),
        ({"outcome": "accepted"}, "did not start at 20"),
        ({"ended": 25}, "ended at 25, before 30; not cancelled"),
        ({"end": 23, "ended": 23}, "runs from 20 to 24, not inside"),
        ({"reservation": replace(booking.reservation, users=("v",))}, "which is for others"),
    ):
        assert text in planted(run, production=replace(record, bookings=(replace(booking, **changed),)))
    moved = replace(record, left={0: "deleted"})
    assert "starts at 0, but has left" in planted(run, production=moved)
    assert "it was not deleted" in planted(run, production=moved)


def test_the_verifier_sees_events_without_effect():
    """Of the four events only the second move is refused: b runs from 100 on."""
    jobs = [job("a", 0, 10, 20, units=2), job("b", 1, 5), job("c", 1, 5), job("d", 1, 5), job("e", 120, 5)]
    move = ServerEvent(2, "move", "b", "night")
    events = [move, ServerEvent(3, "delete", "c"), ServerEvent(4, "walltime", "d", 9), replace(move, time=101)]
    run = replay(jobs, events=events)
    record = run.production
    assert [r.event.time for r in record.refused] == [101] and times(run)["b"] == (100, 105)
    assert planted(run, production=replace(record, moves=())) == "job 'b' was not changed at 2 (move to night)"
    assert "job 'd' was not changed at 4 (walltime to 9)" in planted(run, production=replace(record, walltimes=()))
    assert "job 'b' was not changed at 101" in planted(run, production=replace(record, refused=()))
    start, end = run.start.copy(), run.end.copy()
    start[2], end[2] = 10, 15
    text = planted(run, start=start, end=end, production=replace(record, left={}))
    assert "job 'c' runs until 15, but was deleted at 3" in text


def test_heterogeneous_jobs_run_in_and_beside_reservations():
    """Chunks of 4 and 2 cores; the reservation holds 4 cores of n-1 and 2 of n-2 from 20 to 30."""
    both = Reservation("course", "course", 20, 10, 3, {"cores": 2})
    inside = Job.of_chunks("p", 0, 5, [(1, {"cores": 2}), (1, {"cores": 4})], "course", runtime=5)
    small = Job.of_chunks("s", 0, 5, [(1, {"cores": 1}), (2, {"cores": 1})], "course", runtime=5)
    large = Job.of_chunks("l", 0, 5, [(1, {"cores": 4}), (1, {"cores": 3})], "course", runtime=5)
    early = Job.of_chunks("e", 0, 20, [(1, {"cores": 4}), (1, {"cores": 2})], "q", runtime=20)
    late = Job.of_chunks("o", 0, 9, [(1, {"cores": 2}), (1, {"cores": 3})], "q", runtime=9)
    run = replay([inside, small, large, early, late], [both])
    assert times(run) == {"p": (20, 25), "s": (25, 30), "e": (0, 20), "o": (30, 39)}
    nodes = run.schedule()
    assert sorted(nodes.nodes["p"]) != sorted(nodes.further_chunks("p")[0])
    assert run.production.left == {2: "its queue 'course' has no reservation any more"}


def test_a_new_walltime_of_a_heterogeneous_job_changes_all_its_chunks():
    """Dispatchers in Python see the walltime of each chunk that runs."""
    seen = []

    class Watching:
        name = "watching"

        def begin(self, platform, queues, seed):
            pass

        def decide(self, moment):
            seen.append([(r.job.id, r.job.walltime, r.end) for r in moment.running])
            return Decision([Start("h", {"n-1": 1}, ({"n-2": 1},))] if moment.now == 0 else [])

    both = Job.of_chunks("h", 0, 40, [(1, {"cores": 4}), (1, {"cores": 2})], "q", runtime=9)
    with pytest.raises(SimulationError):
        replay([both, job("x", 2, 5, cores=1)], events=[ServerEvent(1, "walltime", "h", 30)], dispatcher=Watching)
    assert seen[1] == [("h", 30, 30), ("h+1", 30, 30)]


def test_a_heterogeneous_job_cannot_be_planned_into_a_reservation_by_its_second_chunk():
    class Second:
        name = "second"

        def begin(self, platform, queues, seed):
            pass

        def decide(self, moment):
            free = next(n for n in ("n-1", "n-2") if n not in moment.reserved[0].nodes)
            return Decision([Start("h", {free: 1}, ({"n-1" if free == "n-2" else "n-2": 1},))])

    both = Job.of_chunks("h", 0, 40, [(1, {"cores": 4}), (1, {"cores": 2})], "q", runtime=9)
    with pytest.raises(SimulationError, match="into reservation 'course'"):
        replay([both], [COURSE], dispatcher=Second)


def test_a_job_that_comes_back_overruns_what_is_left_of_its_walltime():
    """It saved 7 of 9 s; of its second attempt, 2 s are left, and a reservation of its node ends it after 3 s."""
    work = Workload.of(
        Dispatch(
            Platform([NodeGroup("n", 1, {"cores": 4})]),
            [Job("j", 0, 9, 4, {"cores": 1}, "q", runtime=30)],
            [Queue("q", 60), Queue("own", 60)],
        )
    )
    events = [NodeEvent(8, "node-down", ["n-1"]), NodeEvent(20, "node-up", ["n-1"])]
    own = Reservation("own", "own", 23, 10, 1, {"cores": 4})
    run = sl.simulate(
        work, Platform([NodeGroup("n", 1, {"cores": 4})]), "fcfs", events=events, reservations=[own], requeue="checkpoint:7"
    )  # fmt: skip
    assert (run.start.tolist(), run.end.tolist(), run.violations) == ([20], [23], [])
