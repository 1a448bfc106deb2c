"""``slurm`` as a dispatcher of ``simulate``: known starts on small sites, starts second by second, all features, wrong use."""

import random
from dataclasses import replace

import pytest
import schedlab as sl
from draws import some_now
from schedlab.instances import WorkloadError
from schedlab.models import (
    QOS,
    Association,
    Chunk,
    Dependency,
    Dispatch,
    Job,
    Limits,
    NodeEvent,
    Partition,
    PBSSettings,
    Queue,
    SchedulerSettings,
    Site,
    SiteNode,
    SiteRequest,
)
from schedlab.models.reservations import Reservation
from schedlab.models.server_events import ServerEvent
from schedlab.simulation import SlurmAttempt, SlurmJob, Switching
from simulation.slurm.slurm_second_by_second import first_starts
from simulation.test_every_dispatcher import FEATURES, day, urgent

SETTINGS = {"bf_resolution": 1, "priority_type": "basic"}


def site(nodes=2, parts=None, qos=(), associations=(), **settings):
    names = tuple(f"n{k}" for k in range(1, nodes + 1))
    machine = [SiteNode(name, 4) for name in names]
    scheduler = SchedulerSettings(**{**SETTINGS, "accounting_enforce": ("limits",), **settings})
    return Site("small", machine, parts or [Partition("p", names)], qos, associations, scheduler=scheduler)


def job(number, submit=0, cores=4, runtime=10, walltime=None, queue="p", name=None, user="ana", **asked):
    return Job(
        name or f"j{number}", submit, walltime or runtime, cores, {"cores": 1}, queue, runtime=runtime, user=user,
        asked=SiteRequest(**asked),
    )  # fmt: skip


def starts(place, jobs, dispatcher="slurm", **options):
    queues = [Queue(p.name, 60) for p in place.partitions]
    run = sl.simulate(Dispatch(place.platform(), jobs, queues, durations="runtime"), dispatcher, site=place, **options)
    assert run.violations == []
    return dict(zip(run.workload.ids, run.start.tolist(), strict=True))


# --- Known answers.


@pytest.mark.parametrize(
    ("dispatcher", "expected"),
    [
        ("slurm", {"j0": 0, "j1": 60, "j2": 30}),  # the backfill scheduler looks at 30 s
        ("slurm:bf_interval=5", {"j0": 0, "j1": 50, "j2": 15}),
        ("slurm:scheduler_type=builtin", {"j0": 0, "j1": 50, "j2": 60}),
        ("easy", {"j0": 0, "j1": 50, "j2": 12}),
    ],
)
def test_backfilling_waits_for_its_interval(dispatcher, expected):
    jobs = [job(0, 0, 4, 50, 100), job(1, 10, 8, 10, 100), job(2, 12, 4, 30)]
    assert starts(site(), jobs, dispatcher) == expected


def test_a_job_in_a_partition_of_a_higher_tier_comes_first():
    parts = [Partition("p", ("n1", "n2")), Partition("q", ("n1", "n2"), tier=5)]
    jobs = [job(0, 0, 8, 20), job(1, 1, 8), job(2, 2, 8, queue="q")]
    assert starts(site(parts=parts), jobs) == {"j0": 0, "j2": 20, "j1": 30}


def test_the_main_scheduler_waits_between_two_passes():
    jobs = [job(k, k, 1, 100) for k in range(6)]
    assert list(starts(site(), jobs).values()) == [0, 3, 3, 3, 6, 6]
    assert list(starts(site(), jobs, "slurm:batch_sched_delay=0").values()) == [0, 1, 2, 3, 4, 5]


def test_sizes_weigh_as_the_site_or_an_option_says():
    jobs = [job(0, 0, 8, 20), job(1, 1, 2), job(2, 2, 8)]
    first = "slurm:priority_type=multifactor:weight_job_size=1000:scheduler_type=builtin"
    assert starts(site(), jobs, first) == {"j0": 0, "j2": 20, "j1": 30}
    assert starts(site(), jobs, f"{first}:favor_small=true") == {"j0": 0, "j1": 20, "j2": 30}


def test_limits_are_those_of_all_dispatchers():
    one = QOS("one", limits=Limits(max_jobs_per_user=1))
    place = site(parts=[Partition("p", ("n1", "n2"), qos="one")], qos=[one], bf_interval=1, batch_sched_delay=0)
    jobs = [job(0), job(1), job(2, user="bob")]
    assert starts(place, jobs) == starts(place, jobs, "easy") == {"j0": 0, "j1": 10, "j2": 0}


def test_arrays_dependencies_and_begin_times_hold_jobs():
    jobs = [
        job(0, 0, 1, 20, name="7_1", array_limit=1),
        job(1, 0, 1, 20, name="7_2", array_limit=1),
        job(2, 0, 1, name="8", dependencies=(Dependency("afterany", ("7",)),)),
        job(3, 0, 1, begin=15),
        job(4, 0, 1, held=True),  # as if it was released at once
    ]
    begun = starts(site(batch_sched_delay=0, bf_interval=1, sched_interval=1), jobs)
    assert begun == {"7_1": 0, "7_2": 20, "8": 40, "j3": 15, "j4": 0}


def test_a_job_that_comes_back_waits_for_its_credential():
    events = [NodeEvent(30, "node-down", ["n1"]), NodeEvent(40, "node-up", ["n1"])]
    assert starts(site(nodes=1), [job(0, 0, 4, 50)], events=events) == {"j0": 151}


def test_several_partitions_are_tried_in_turn():
    parts = [Partition("p", ("n1",)), Partition("q", ("n2",))]
    jobs = [job(0, 0, 4, 50), job(1, 1, 4, partitions=("p", "q")), job(2, 2, 4, queue="q")]
    assert starts(site(parts=parts), jobs) == {"j0": 0, "j1": 3, "j2": 13}


@pytest.mark.parametrize(("whole", "last"), [(True, 60), (False, 3)])
def test_a_job_that_waits_for_a_whole_node_holds_its_partition(whole, last):
    parts = [Partition("p", ("n1", "n2", "n3")), Partition("a", ("n2",)), Partition("hi", ("n1",), tier=5)]
    place = site(nodes=3, parts=parts, scheduler_type="builtin", batch_sched_delay=0, sched_interval=1)
    jobs = [
        replace(job(0, 0, 4, 50, queue="a", exclusive="node" if whole else ""), whole_nodes=whole),
        job(1, 0, 4, 30, queue="hi"),
        job(2, 1, 4, 10, queue="hi"),  # it holds n1
        job(3, 2, 12, 10),  # n2 and n3, which are left, would not do
        job(4, 3, 1, 5),
    ]
    begun = starts(place, jobs)
    assert begun == {"j0": 0, "j1": 0, "j2": 30, "j3": 50, "j4": last}


# --- The same as second by second, where jobs are no units.


def drawn(seed):
    """Return a site and jobs of one-CPU units."""
    rng = random.Random(seed)
    nodes = [
        SiteNode(f"n{k}", rng.choice((2, 4, 8)), weight=rng.choice((1, 1, 2)), features=("a",) if k % 2 else ())
        for k in range(rng.randint(2, 6))
    ]
    names = [n.name for n in nodes]
    parts = [Partition("p", tuple(names))]
    for name in "qr"[: rng.randint(0, 2)]:
        some = tuple(n for n in names if rng.random() < 0.6) or (names[0],)
        parts.append(Partition(name, some, tier=rng.choice((1, 1, 2)), least_loaded=rng.random() < 0.2))
    accounts = [
        Association("root"),
        Association("chem", parent="root", limits=Limits(grp_jobs=rng.choice((None, 3)))),
        Association("chem", "ana"),
        Association("chem", "bob", limits=Limits(max_jobs=rng.choice((None, 2)))),
    ]
    settings = SchedulerSettings(
        accounting_enforce=("limits",), select_parameters=("cr_cpu",), priority_type="basic",
        bf_interval=rng.choice((1, 3, 30)), bf_resolution=rng.choice((1, 60)), sched_interval=rng.choice((1, 60)),
        batch_sched_delay=rng.choice((0, 3)), bf_job_part_count_reserve=rng.choice((0, 0, 2)),
        default_queue_depth=rng.choice((100, 3)),
    )  # fmt: skip
    jobs = []
    for k in range(rng.randint(5, 30)):
        part, units, runtime = rng.choice(parts).name, rng.choice((1, 1, 2, 3, 4)), rng.randint(1, 60)
        asked = SiteRequest(
            account="chem", features=rng.choice(("", "", "a")), exclusive=rng.choice(("", "", "", "node")), cpus=units,
            tasks=units, partitions=(part,),
        )  # fmt: skip
        submit = rng.randint(0, 100) if k else 0
        walltime = runtime + rng.choice((0, 10, 50))
        user = rng.choice(("ana", "bob"))
        jobs.append(
            Job(
                str(k), submit, walltime, units, {"cores": 1}, part, runtime=runtime, user=user, features=asked.features, asked=asked,
                whole_nodes=asked.exclusive == "node",
            )
        )  # fmt: skip
    return Site("drawn", nodes, parts, [], accounts, scheduler=settings), jobs


@pytest.mark.parametrize("seed", some_now(range(30), 10))
def test_starts_are_those_of_a_replay_second_by_second(seed):
    place, jobs = drawn(seed)
    room = {n.name: n.cores for n in place.nodes}
    fits = []
    for each in jobs:
        part = place.partition(each.queue)
        own = [n for n in part.nodes if not each.features or "a" in place.node(n).features]
        if sum(room[n] for n in own) >= each.units:
            fits.append(each)
    begun = starts(place, fits)
    slurm_jobs = sorted(
        (
            SlurmJob(
                j.id, j.user, j.submit, j.walltime, j.asked, number=int(j.id),
                attempts=(SlurmAttempt(j.submit, j.submit + j.runtime, ("n0",)),),
            )
            for j in fits
        ),
        key=lambda j: (j.submit, j.number),
    )  # fmt: skip
    assert begun == first_starts(place, slurm_jobs)


# --- Beside all features.


@pytest.mark.parametrize("preempt_type", ["none", "partition_prio"])
@pytest.mark.parametrize("feature", FEATURES)
def test_every_feature(feature, preempt_type):
    names = tuple(day(0, False).platform.nodes)
    settings = SchedulerSettings(
        bf_interval=5, sched_interval=5, batch_sched_delay=1, bf_resolution=1, preempt_type=preempt_type,
        preempt_mode=("requeue",),
    )  # fmt: skip
    parts = [Partition("q", names, grace_time=3), Partition("r", names, tier=2), Partition("private", names)]
    place = Site("s", [SiteNode(n, 2) for n in names], parts, scheduler=settings)
    options = dict(FEATURES[feature])
    on_demand = "preemption" in options
    if on_demand:
        options["preemption"] = urgent(options["preemption"])
    further = ({}, {"node_policy": "idle:10", "switching": Switching(5, 3, 0)}, {"users": "ge"}, {"period": 7})
    for seed, other in enumerate(further):
        problem = day(seed, on_demand)
        jobs = [*problem.jobs, *([] if on_demand else [Job("own", 30, 20, 1, {"cores": 1}, "private", runtime=10)])]
        given = Dispatch(problem.platform, jobs, problem.queues, durations="runtime")
        assert sl.simulate(given, "slurm", site=place, **options, **other).violations == [], (seed, other)


def test_a_changed_time_limit_is_planned_with():
    jobs = [job(0, 0, 4, 50, 100), job(1, 10, 8, 10, 100), job(2, 12, 4, 30, 200)]
    place = site(bf_interval=1, sched_interval=1, batch_sched_delay=0)
    assert starts(place, jobs)["j2"] == 60  # it would delay j1
    assert starts(place, jobs, events=[ServerEvent(20, "walltime", "j2", 30)])["j2"] == 20


def test_nothing_runs_into_a_reservation():
    jobs = [job(0, 0, 4, 20, 50), job(1, 0, 4, 20, 30), job(2, 1, 1, 1, queue="mine")]
    parts = [Partition("p", ("n1",)), Partition("mine", ("n1",))]
    reserved = [Reservation("r", "mine", start=40, duration=20, units=1, request={"cores": 4}, submitted=0)]
    begun = starts(site(nodes=1, parts=parts, bf_interval=1, batch_sched_delay=0), jobs, reservations=reserved)
    assert begun == {"j1": 0, "j2": 40, "j0": 60}


# --- Wrong use.


@pytest.mark.parametrize(
    ("dispatcher", "why"),
    [
        ("slurm:bf_interva=3", "did you mean bf_interval"),
        ("slurm:bf_interval=0", "bf_interval is 0; expected at least 1"),
        ("slurm:bf_interval=soon", "expected whole seconds"),
        ("slurm:scheduler_type=gang", "backfill"),
        ("slurm-d", "leave the predictor out"),
        ("slurm+fairshare", "slurm is not a policy"),
        ("slurm@cpsat", "did you mean slurm"),
    ],
)
def test_wrong_names_are_refused(dispatcher, why):
    with pytest.raises(sl.SchedlabError, match=why):
        starts(site(), [job(0)], dispatcher)


def test_a_site_of_slurm_is_needed():
    problem = Dispatch(site().platform(), [job(0)], [Queue("p", 60)], durations="runtime")
    with pytest.raises(sl.SchedlabError, match="follows the rules of a site; give one"):
        sl.simulate(problem, "slurm")
    place = Site("torque", [SiteNode("n1", 4)], [Partition("p", ("n1",))], kind="pbs", scheduler=PBSSettings())
    with pytest.raises(sl.SchedlabError, match="is one of pbs; expected one of slurm"):
        sl.simulate(problem, "slurm", site=place)


def test_jobs_of_several_chunks_are_refused():
    chunks = (Chunk(1, {"cores": 1}), Chunk(1, {"cores": 2}))
    with pytest.raises(WorkloadError, match="dispatcher slurm does not take"):
        starts(site(), [Job("j", 0, 10, 1, {"cores": 1}, "p", runtime=10, chunks=chunks)])


def test_a_job_that_never_starts_is_explained():
    jobs = [job(0, name="1"), job(1, name="2", dependencies=(Dependency("afternotok", ("1",)),))]
    with pytest.raises(sl.SimulationError, match="Slurm's reason is DependencyNeverSatisfied"):
        starts(site(), jobs)


@pytest.mark.parametrize(
    ("kind", "modes", "told"),
    [
        ("partition_prio", ("suspend", "gang"), "not modelled: PreemptMode=suspend,gang"),
        ("job_prio", ("requeue",), "not modelled: PreemptType=job_prio"),
    ],
)
def test_what_is_not_modelled_of_preemption_is_said(kind, modes, told):
    place = site(preempt_type=kind, preempt_mode=modes)
    problem = Dispatch(place.platform(), [job(0)], [Queue("p", 60)], durations="runtime")
    (note,) = sl.simulate(problem, "slurm", site=place).notes
    assert note.startswith(told)
