"""On-demand jobs with reservations, server events, running jobs, users and a rule for failed jobs, second by second."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest
import schedlab as sl
from schedlab.instances import Workload, WorkloadError
from schedlab.models import Checkpointing, Dispatch, Job, NodeEvent, NodeGroup, Platform, Queue, Running
from schedlab.models.reservations import Reservation
from schedlab.models.server_events import ServerEvent
from schedlab.simulation import OnDemandJob, Preemption, violations
from simulation.preemption.test_random_replays import world
from simulation.second_by_second_evictions import check

MACHINE = Platform([NodeGroup("n", 4, {"cores": 1})])
STORAGE = Checkpointing(memory=100, file_system_mb_s=50, node_mb_s=20)
PLAIN = [Queue("q", 100), Queue("private", 100)]


def day(*rows):
    """Return a workload of jobs (submit, runtime, nodes) with exact walltimes."""
    jobs = [
        Job(f"b{k}", submit, runtime, nodes, {"cores": 1}, "q", runtime=runtime)
        for k, (submit, runtime, nodes) in enumerate(rows)
    ]
    return Workload.of(Dispatch(MACHINE, jobs, PLAIN))


def replayed(workload, *urgent, machine=MACHINE, evictor="dp", dispatcher="easy", settings=None, **options):
    made = settings or Preemption(urgent, evictor, "fixed:30", storage=STORAGE, step=1)
    run = sl.simulate(workload, machine, dispatcher, preemption=made, **options)
    assert run.violations == [], run.violations[0].message
    check(run)
    return run


def starts(run):
    return dict(zip(run.workload.ids, run.start.tolist(), strict=True))


def nodes(run, job):
    return set(run.schedule().nodes[job])


def reservation(start, duration, units, submitted=0):
    return Reservation("r", "private", start, duration, units, {"cores": 1}, (), submitted)


def test_an_on_demand_job_leaves_the_nodes_of_a_reservation():
    # two nodes are free, but reserved from 60 on: the job of 50 s that comes at 20 takes those of b0
    run = replayed(day((0, 200, 2)), OnDemandJob("u", 20, 2, 10, 50), reservations=[reservation(60, 50, 2)])
    (booking,) = run.production.bookings
    assert booking.outcome == "over" and not nodes(run, "u") & set(booking.nodes)
    assert [d.strategy for d in run.preemption.departures] != [] and starts(run)["u"] <= 30
    # a job of 30 s ends before that: no job is evicted
    run = replayed(day((0, 200, 2)), OnDemandJob("u", 20, 2, 10, 30), reservations=[reservation(60, 50, 2)])
    assert starts(run)["u"] == 20 and run.preemption.departures == ()


def test_jobs_on_nodes_that_are_reserved_soon_do_not_leave():
    # b0 ends before the reservation of all nodes; no node is free for long enough before it
    run = replayed(day((0, 50, 4)), OnDemandJob("u", 20, 2, 10, 50), reservations=[reservation(60, 50, 4)])
    assert run.preemption.departures == () and starts(run)["u"] == 110
    assert run.metrics.preemption["missed"] == 1


def test_a_reservation_gets_no_nodes_that_are_kept_for_an_on_demand_job():
    # the on-demand job is announced at 10, for 40; its nodes are kept from then on
    urgent = OnDemandJob("u", 40, 3, 5, 50, notice=30)
    run = replayed(day((0, 5, 1)), urgent, reservations=[reservation(60, 20, 2, submitted=20)])
    assert run.production.bookings[0].outcome == "refused" and starts(run)["u"] == 40
    run = replayed(day((0, 5, 1)), urgent, reservations=[reservation(60, 20, 1, submitted=20)])
    assert run.production.bookings[0].outcome == "over" and starts(run)["u"] == 40


def test_server_events_do_not_change_jobs_that_leave_and_a_deleted_one_is_replaced():
    slow = replace(STORAGE, memory=200, memory_share=(1, 1))  # 8 s for a system-level checkpoint
    made = Preemption([OnDemandJob("u", 50, 2, 40, 10)], "dp", "none", storage=slow, step=1)
    rows = (0, 100, 2), (0, 100, 2)
    run = replayed(day(*rows), settings=made)
    (first,) = run.preemption.departures
    name = run.workload.ids[first.row]
    events = [ServerEvent(52, "walltime", name, 300), ServerEvent(52, "walltime", "u", 300)]
    run = replayed(day(*rows), settings=made, events=events)
    assert [r.why for r in run.production.refused] == [
        f"job {name!r} leaves for on-demand job 'u'", "job 'u' has not been submitted"]  # fmt: skip
    run = replayed(day(*rows), settings=made, events=[ServerEvent(52, "delete", name)])
    assert starts(run)["u"] == 52 and run.preemption.departures == ()
    assert run.history.dropped == {run.workload.ids.index(name): "deleted"}


def at_begin(*rows):
    """Return running jobs (start, runtime, nodes) on the first nodes that are left."""
    found, n = [], 0
    for k, (start, runtime, units) in enumerate(rows):
        on = {MACHINE.nodes[n + i]: 1 for i in range(units)}
        job = Job(f"r{k}", start, runtime, units, {"cores": 1}, "q", runtime=runtime)
        found.append(Running(job, start, on, start + runtime))
        n += units
    return found


def test_a_job_that_runs_at_the_begin_leaves_and_comes_back():
    run = replayed(
        day((100, 10, 1)), OnDemandJob("u", 150, 2, 0, 10), evictor="kill", running=at_begin((20, 200, 3)), begin=100
    )
    assert starts(run) == {"r0": 160, "u": 150, "b0": 100}
    (early,) = run.history.early
    assert (early.start, early.end, early.work_done) == (20, 150, 120)
    assert run.end.tolist()[run.workload.ids.index("r0")] == 160 + 80 and run.workload.running == ()


def test_jobs_that_run_at_the_begin_and_stay_have_no_row():
    begun = at_begin((20, 200, 2), (30, 300, 1))
    run = replayed(day((100, 10, 1)), OnDemandJob("u", 150, 1, 0, 10), running=begun, begin=100)
    assert sorted(run.workload.ids) == ["b0", "u"] and [r.job.id for r in run.workload.running] == ["r0", "r1"]
    assert run.metrics.jobs == 2


def test_a_job_that_runs_at_the_begin_fails_and_is_dropped_or_comes_back():
    down = [NodeEvent(130, "node-down", ["n-1"]), NodeEvent(140, "node-up", ["n-1"])]
    made = Preemption((), "none", "fixed:30", storage=STORAGE, failures=down)
    run = replayed(day((100, 10, 1)), settings=made, running=at_begin((20, 200, 2)), begin=100)
    assert starts(run)["r0"] == 130 and [a.work_done for a in run.history.early] == [90]
    run = replayed(day((100, 10, 1)), settings=made, running=at_begin((20, 200, 2)), begin=100, requeue="drop")
    assert run.workload.ids == ("b0",) and [(a.job, a.end) for a in run.history.gone] == [("r0", 130)]
    assert [r.true_end for r in run.workload.running] == [130]


def test_a_reserve_that_is_in_use_at_the_begin_is_kept_when_it_becomes_free():
    run = replayed(
        day((100, 50, 1), (100, 50, 1), (100, 50, 1)), OnDemandJob("u", 150, 2, 30, 10), evictor="reserve:2",
        running=at_begin((20, 145, 4)), begin=100,
    )  # fmt: skip
    assert starts(run) == {"b0": 165, "b1": 165, "b2": 215, "u": 165} and nodes(run, "u") == {"n-3", "n-4"}


def test_dropped_jobs_failed_evicted_ones_come_back():
    down = [NodeEvent(20, "node-down", ["n-1"]), NodeEvent(30, "node-up", ["n-1"])]
    made = Preemption([OnDemandJob("u", 50, 4, 0, 10)], "kill", "none", storage=STORAGE, failures=down)
    run = replayed(day((0, 100, 2), (0, 100, 2)), settings=made, requeue="drop")
    (failed,) = run.history.dropped
    assert "n-1" in nodes(run, run.workload.ids[failed])
    assert [a.why for a in run.history.early] == ["evicted (kill): u"]


@pytest.mark.parametrize("dispatcher", ["easy", "dardis:throughput"])
def test_an_on_demand_job_whose_node_fails_starts_on_another_at_the_same_time(dispatcher):
    """u runs on n-1, from 30 on on n-2, until 80: the job that waits there starts then."""
    two = Platform([NodeGroup("n", 2, {"cores": 1})])
    down = [NodeEvent(30, "node-down", ["n-1"])]
    made = Preemption([OnDemandJob("u", 10, 1, 0, 50)], "kill", "none", storage=STORAGE, failures=down)
    run = replayed(day((40, 20, 1)), machine=two, dispatcher=dispatcher, settings=made)
    assert nodes(run, "u") == {"n-2"} and starts(run) == {"b0": 80, "u": 30}


def test_users_do_not_see_on_demand_jobs():
    workload, machine, settings = world(4)
    for users in ("cf", "ge"):
        plain = sl.simulate(workload, machine, "easy", users=users)
        run = replayed(workload, machine=machine, settings=settings, users=users)
        asked = dict(zip(run.workload.ids, run.workload.walltime.tolist(), strict=True))
        assert {name: asked[name] for name in workload.ids} == dict(
            zip(plain.workload.ids, plain.workload.walltime.tolist(), strict=True)
        )


def power_faults(run, cap):
    """Return the seconds in which a job starts although the running jobs then take more than the cap."""
    w = run.workload
    watts = {name: float(p) for name, p in zip(w.ids, w.power.tolist(), strict=True)}
    running = [(a.start, a.end, watts[a.job]) for a in run.attempts.itertuples()]
    running += [(r.start, r.true_end, r.job.power) for r in w.running]
    begun = sorted({start for start, *_ in running if start >= (w.begin or 0)})
    return [t for t in begun if sum(p for start, end, p in running if start <= t < end) > cap + 1e-6]


def powered(*rows):
    """Return a workload of jobs (submit, runtime, nodes, watts)."""
    whole = day(*(row[:3] for row in rows))
    return replace(whole, power=np.array([row[3] for row in rows], float))


def test_more_jobs_leave_if_the_power_does_not_suffice():
    urgent = OnDemandJob("u", 50, 2, 0, 10, power=900.0)
    rows = (0, 100, 2, 200.0), (0, 100, 2, 500.0)
    run = replayed(powered(*rows), urgent, evictor="kill")
    assert len(run.preemption.departures) == 1
    run = replayed(powered(*rows), urgent, evictor="kill", power_cap=1000)
    assert len(run.preemption.departures) == 2 and starts(run)["u"] == 50
    assert power_faults(run, 1000) == [] and starts(run)["b0"] == 60
    # all nodes are free, but the power is in use
    run = replayed(powered((0, 100, 1, 600.0)), urgent, evictor="kill", power_cap=1000)
    assert [d.strategy for d in run.preemption.departures] == ["kill"] and starts(run) == {"b0": 60, "u": 50}
    with pytest.raises(WorkloadError, match="'u' takes 900 W, more than the power cap of 800 W"):
        replayed(powered(*rows), urgent, power_cap=800)
    with pytest.raises(WorkloadError, match="'u' has no power"):
        replayed(powered(*rows), replace(urgent, power=None), power_cap=1000)


def test_random_replays_keep_to_a_power_cap():
    lower = 0
    for seed in range(40):
        random = Random(seed)
        workload, machine, settings = world(seed)
        cap = random.choice((500.0, 700.0))
        workload = replace(
            workload, power=np.array([random.randint(20, 80) * u for u in workload.units.tolist()], float)
        )
        settings = replace(
            settings, jobs=[replace(j, power=float(random.randint(30, 60) * j.nodes)) for j in settings.jobs]
        )
        run = replayed(
            workload, machine=machine, settings=settings, power_cap=cap,
            dispatcher=("easy", "conservative", "fcfs")[seed % 3],
        )  # fmt: skip
        assert power_faults(run, cap) == []
        plain = sl.simulate(workload, machine, ("easy", "conservative", "fcfs")[seed % 3], preemption=settings)
        lower += bool(power_faults(plain, cap))
    assert lower > 5  # without the cap, more power is used


@pytest.mark.parametrize("rule", ["drop", "restart"])
@pytest.mark.parametrize("stop", ["node-down", "delete"])
@pytest.mark.parametrize("begun", [False, True])
def test_a_job_that_writes_past_its_own_end_may_fail(rule, stop, begun):
    """The job of 50 s writes its checkpoint from 45 to 61; at 53 its node fails, or it is deleted."""
    slow = replace(STORAGE, memory=200, memory_share=(1, 1))
    made = Preemption([OnDemandJob("u", 45, 2, 40, 10)], "dp", "none", storage=slow, step=1)
    job = Job("a", 0, 1000, 4, {"cores": 1}, "q", runtime=50)
    later = Job("later", 46, 10, 1, {"cores": 1}, "q", runtime=10)
    events = [NodeEvent(53, "node-down", ["n-1"]), NodeEvent(60, "node-up", ["n-1"])]
    if stop == "delete":
        events = [ServerEvent(53, "delete", "a")]
    workload = Workload.of(Dispatch(MACHINE, [later] if begun else [job, later], PLAIN))
    options = {"begin": 40, "running": [Running(job, 0, dict.fromkeys(MACHINE.nodes, 1), 1000)]} if begun else {}
    run = sl.simulate(workload, MACHINE, "easy", preemption=made, requeue=rule, events=events, **options)
    assert run.violations == [], run.violations[0].message
    assert [d.plan.strategy["a"] for d in run.preemption.decisions] == ["sys"] and run.preemption.departures == ()
    assert starts(run)["u"] == 53


def test_a_job_that_ends_late_without_writing_is_still_a_fault():
    slow = replace(STORAGE, memory=200, memory_share=(1, 1))
    made = Preemption([OnDemandJob("u", 45, 2, 40, 10)], "dp", "none", storage=slow, step=1)
    job = Job("a", 0, 1000, 4, {"cores": 1}, "q", runtime=50)
    events = [NodeEvent(53, "node-down", ["n-1"]), NodeEvent(60, "node-up", ["n-1"])]
    workload = Workload.of(Dispatch(MACHINE, [job], PLAIN))
    run = sl.simulate(workload, MACHINE, "easy", preemption=made, requeue="drop", events=events)
    kept = replace(run.preemption, decisions=())
    assert "runs from 0 to 53, 53 s; expected 50 s" in violations(replace(run, preemption=kept))[0].message


def combined(seed):
    """Return a random world with reservations and server events, or with jobs that run at the begin."""
    random = Random(seed)
    workload, machine, settings = world(seed)
    jobs = [replace(job, queue=random.choice(("q", "q", "q", "private"))) for job in workload.dispatch(machine).jobs]
    if seed % 2:
        queues = [Queue("q", 100), Queue("private", 100)]
        booked = [
            Reservation(
                f"r{k}", "private", 40 + 120 * k + random.randint(0, 40), random.randint(10, 60), random.randint(1, 6),
                {"cores": 1}, (), random.randint(0, 40),
            )
            for k in range(2)
        ]  # fmt: skip
        names = [j.id for j in jobs]
        kinds = [
            ServerEvent(random.randint(20, 120), "delete", random.choice(names)),
            ServerEvent(random.randint(20, 120), "walltime", random.choice(names), random.randint(30, 200)),
            ServerEvent(random.randint(20, 60), "stop-queue", "q"),
            ServerEvent(random.randint(60, 120), "start-queue", "q"),
        ]
        chosen = [kinds[2:], kinds[:1], kinds[1:2], []][seed % 4 if seed % 8 else 3]
        return jobs, queues, machine, settings, {"reservations": booked, "events": chosen}
    jobs = [replace(job, queue="q", submit=job.submit + 100) for job in jobs]
    units = [random.randint(1, 3) for _ in range(3)]
    running, n = [], 0
    for k, count in enumerate(units):
        on = {machine.nodes[n + i]: 1 for i in range(count)} if n + count <= 8 else {}
        runtime, start = random.randint(40, 200), random.randint(20, 90)
        if on and start + runtime > 100:
            job = Job(f"r{k}", start, runtime + random.randint(0, 50), count, {"cores": 1}, "q", runtime=runtime)
            running.append(Running(job, start, on, start + job.walltime))
            n += count
    later = [replace(u, submit=u.submit + 100) for u in settings.jobs]
    failures = [replace(f, time=f.time + 100) for f in settings.failures]
    rule = random.choice(("restart", "drop"))
    options = {"running": running, "begin": 100, "requeue": rule}
    return jobs, [Queue("q", 100)], machine, replace(settings, jobs=later, failures=failures), options


@pytest.mark.parametrize("part", range(2))
def test_random_replays_are_right_second_by_second(part):
    evictions = 0
    for seed in range(part * 40, part * 40 + 40):
        jobs, queues, machine, settings, options = combined(seed)
        workload = Workload.of(Dispatch(machine, jobs, queues))
        run = replayed(
            workload, machine=machine, settings=settings, dispatcher=("easy", "fcfs")[seed % 3 == 0], **options
        )
        evictions += len(run.preemption.departures)
    assert evictions > 20
