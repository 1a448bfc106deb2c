"""Urgent jobs (``max_stretch``): which jobs are urgent, and their reservations."""

from dataclasses import replace

import numpy as np
import schedlab as sl
from schedlab.instances import Workload
from schedlab.models import Dispatch, Job, NodeGroup, Platform, Queue, Running
from schedlab.simulation import Moment, parse_dispatcher, simulate
from schedlab.simulation.dispatchers.cp import Guard, NodeTimeline, Register, running_usage


def make(name, backend="cpsat", **options):
    """Return a dispatcher that solves models by a backend."""
    return parse_dispatcher(f"{name}@{backend}").make(**options)


DAY = 86400
PLATFORM = Platform([NodeGroup("n", 4, {"cores": 2})])
QUEUES = (Queue("q", 3600),)


def job(name, submit=0, walltime=100, units=1, cores=2):
    return Job(name, submit, walltime, units, {"cores": cores}, "q")


def moment(now, waiting, running=(), expected=None):
    free = np.full((4, 1), 2, np.int64)
    for r in running:
        for node, units in r.nodes.items():
            free[PLATFORM.nodes.index(node)] -= units * r.job.request["cores"]
    durations = {j.id: j.walltime for j in waiting} | (expected or {})
    return Moment(now, PLATFORM, QUEUES, tuple(waiting), durations, np.ones(len(waiting), np.bool_), running, free)


def held(guard, m):
    jobs = Register(PLATFORM, QUEUES).allowed(m)
    guard.observe(m, jobs)
    timeline = NodeTimeline(
        np.array(list(PLATFORM.capacity.values()), np.int64), m.now, running_usage(m, False).by_walltime
    )
    return guard.hold(m, jobs, timeline)


def guard(max_stretch=50.0):
    return Guard(max_stretch, PLATFORM.resources, np.array([8], np.int64))


def busy(end, nodes=("n-1", "n-2", "n-3", "n-4"), walltime=None):
    one = job("busy", walltime=walltime or end, units=len(nodes))
    return Running(one, 0, dict.fromkeys(nodes, 1), end)


def test_a_job_is_overdue_once_the_machine_could_have_done_all_that_was_ahead_of_it():
    """800,000 core-seconds run or wait before it on 8 cores, and it adds 8,000: its fair wait is 101,000 s."""
    ahead = job("ahead", walltime=50_000, units=4)
    one = job("one", 0, 4000, 1)
    g, runs = guard(max_stretch=1e9), busy(50_000)
    for now, first in ((0, []), (101_000, []), (101_001, ["one"])):
        waiting = [ahead, one] if now == 0 else [one]
        running = [replace(runs, end=now + 50_000, job=replace(runs.job, walltime=now + 50_000))]
        assert [j.id for j in held(g, moment(now, waiting, running)).jobs.jobs] == first


def test_a_day_of_waiting_is_never_overdue_on_an_empty_machine():
    g, one = guard(max_stretch=1e9), job("one", 0, 10)
    held(g, moment(0, [one]))
    assert held(g, moment(DAY, [one])).jobs.jobs == []
    assert [j.id for j in held(g, moment(DAY + 1, [one])).jobs.jobs] == ["one"]


def test_the_reservation_waits_for_walltimes_not_for_predictions():
    """The running job is expected to end at 5,010 but may last to 9,000; the urgent job needs three of its nodes."""
    runs = busy(5010, walltime=9000)
    wide = job("wide", 0, 100, units=3)  # its slowdown is 51 at 5,000
    found = held(guard(), moment(5000, [wide], [runs]))
    assert found.windows == [((9000, 9000),)]


def test_a_reservation_of_next_week_lies_where_the_calendars_are_open():
    """The machine is full for a week, the queue is open from second 1,000 to 3,000; then the job has windows, too."""
    g, end = guard(), 7 * DAY
    queues = (Queue("q", 3600, ((1000, 3000),)),)
    for windows, at in (((), end + 1000), (((0, 9000), (end + DAY + 500, end + DAY + 9000)), end + DAY + 1000)):
        m = replace(moment(6000, [replace(job("wide", 0, 100, units=4), windows=windows)], [busy(end)]), queues=queues)
        assert held(g, m).windows == [((at, at),)]


def test_one_overdue_and_two_stretched_jobs_hold_reservations():
    runs = busy(3 * DAY)
    old = [job(f"old{k}", k, 40_000, 4) for k in range(3)]  # overdue, their slowdown is below 50
    short = [job(f"short{k}", DAY + k, 100 + k, 4) for k in range(4)]
    g = guard()
    for now in (0, 2 * DAY):  # no job ran when the old jobs came: the fair wait of the last is half a day
        m = moment(now, old if now == 0 else [*old, *short], [] if now == 0 else [runs])
        names = [j.id for j in held(g, m).jobs.jobs]
    assert names == ["old0", "short0", "short1"]


def test_a_wide_job_starts_although_narrow_ones_never_cease():
    """Every 25 s a job of one core and 60 s arrives; one job at the begin needs all nodes."""
    narrow = [job(f"n{k}", 25 * k, 70, 1, 1) for k in range(1, 400)]
    jobs = [job("whole", 30, 100, 4, 2), *narrow]
    trace = Workload.of(Dispatch(PLATFORM, [replace(j, runtime=j.walltime - 10) for j in jobs], QUEUES))
    kept = simulate(trace, PLATFORM, make("hcp3", limit=0.02))
    free = simulate(trace, PLATFORM, make("hcp3", limit=0.02, max_stretch=None))
    assert kept.violations == free.violations == []
    whole = kept.workload.ids.index("whole")
    assert kept.start[whole] < 50 * 100 + 200 < free.start[whole]
    assert kept.decisions.urgent > 0 == free.decisions.urgent


def test_the_real_day_waits_no_longer_than_half_as_long_again_as_under_easy():
    day = sl.load("eurora_330")
    first = Workload.of(day.dispatch).first(70)
    ours = simulate(first, day.platform, make("hcp3", deterministic=0.01))
    easy = simulate(first, day.platform, "easy")
    wait = [(r.start - r.workload.submit).max() for r in (ours, easy)]
    assert wait[0] <= 1.5 * wait[1]
