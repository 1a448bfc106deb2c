"""Replays where jobs may not use all nodes, and where limits hold them: known answers, and starts that are refused."""

from dataclasses import replace

import numpy as np
import pytest
import schedlab as sl
from schedlab import WrongArgument
from schedlab.instances import Workload, WorkloadError
from schedlab.models import (
    QOS,
    Association,
    Dispatch,
    Job,
    Limits,
    NodeGroup,
    Partition,
    Platform,
    Queue,
    SchedulerSettings,
    Site,
    SiteNode,
    SiteRequest,
    SiteReservation,
)
from schedlab.simulation import Decision, SimulationError, Start, violations
from schedlab.simulation.features import not_modelled

POLICIES = ("fcfs", "easy", "easy++", "conservative", "plan", "plan@lns:rounds=2", "sjf", "pbs-fifo")
BACKFILLING = ("easy", "easy++", "conservative", "plan:submit")
TWO = Platform([NodeGroup("n", 2, {"cores": 4})])
ANY = [Queue("q", 60)]


def job(name, submit, runtime, units=1, cores=1, queue="q", **fields):
    return Job(name, submit, runtime, units, {"cores": cores}, queue, runtime=runtime, **fields)


def starts(jobs, dispatcher, platform=TWO, queues=ANY, **options):
    """The start of each job by its id."""
    run = sl.simulate(Dispatch(platform, jobs, queues), dispatcher=dispatcher, **options)
    assert run.violations == []
    return dict(zip(run.workload.ids, run.start.tolist(), strict=True))


@pytest.mark.parametrize("dispatcher", [*POLICIES, "hcp3@cpsat", "pcp3@cpsat"])
def test_a_job_with_whole_nodes_waits_until_a_node_is_empty_and_keeps_others_away(dispatcher):
    jobs = [job("a", 0, 10), job("b", 0, 20, nodes=("n-2",)), job("whole", 1, 5, whole_nodes=True), job("c", 11, 5, 8)]
    found = starts(jobs, dispatcher)
    assert found["whole"] == 10
    assert found["c"] == 20  # five of its units would fit beside b, and none on the node of the whole job


@pytest.mark.parametrize("dispatcher", POLICIES)
def test_queues_whose_nodes_overlap_share_them(dispatcher):
    platform = Platform([NodeGroup("n", 3, {"cores": 2})])
    queues = [Queue("left", 60, nodes=("n-1", "n-2")), Queue("right", 60, nodes=("n-2", "n-3"))]
    jobs = [job("a", 0, 10, 2, 2, "left"), job("b", 1, 5, 1, 2, "right"), job("c", 2, 5, 1, 2, "right")]
    assert starts(jobs, dispatcher, platform, queues) == {"a": 0, "b": 1, "c": 6}


@pytest.mark.parametrize("dispatcher", [*POLICIES, "hcp3@cpsat"])
def test_distinct_nodes(dispatcher):
    jobs = [job("a", 0, 10, 3), job("b", 1, 10, 2, per_node=1), job("c", 2, 10, 1, 4)]
    run = sl.simulate(Dispatch(TWO, jobs, ANY), dispatcher=dispatcher)
    assert run.violations == [] and run.start.tolist() == [0, 1, 11]
    assert run.schedule().nodes["b"] == {"n-1": 1, "n-2": 1}


def test_a_logged_job_of_two_nodes_waits_for_two_nodes_of_its_site(tmp_path):
    log = tmp_path / "jobs.txt"
    log.write_text(
        "JobID|Submit|Start|End|Timelimit|NNodes|NCPUS|Partition\n"
        "1|2024-05-01T08:00:00|2024-05-01T08:00:00|2024-05-01T12:00:00|06:00:00|1|16|p\n"
        "2|2024-05-01T08:10:00|2024-05-01T12:00:00|2024-05-01T13:00:00|02:00:00|2|8|p\n"
    )
    nodes = [SiteNode("n1", 16), SiteNode("n2", 16)]
    site = Site("s", nodes=nodes, partitions=[Partition("p", nodes=("n1", "n2"))])
    run = sl.simulate(sl.read_trace(log), dispatcher="easy", site=site)
    assert np.diff(run.start).tolist() == [4 * 3600]


@pytest.mark.parametrize("dispatcher", POLICIES)
def test_features_and_jobs_beyond_them(dispatcher):
    platform = Platform([NodeGroup("a", 1, {"cores": 4}, features=("ib",)), NodeGroup("b", 1, {"cores": 4})])
    jobs = [job("x", 0, 10, 4, features="ib"), job("y", 1, 10, 1, features="ib"), job("z", 12, 1, 1)]
    assert starts(jobs, dispatcher, platform) == {"x": 0, "y": 10, "z": 12}


@pytest.mark.parametrize("dispatcher", [*POLICIES, "hcp3@cpsat", "cpmodel@cpsat"])
def test_a_licence_releases_the_second_job_and_the_job_that_waits_for_it_blocks_nobody(dispatcher):
    platform = Platform([NodeGroup("n", 2, {"cores": 4})], {"tool": 1})
    jobs = [job("a", 0, 10, licences={"tool": 1}), job("b", 1, 30, 2, licences={"tool": 1}), job("c", 2, 5, 5)]
    assert starts(jobs, dispatcher, platform) == {"a": 0, "b": 10, "c": 2}


SITE = Site(
    "s",
    [SiteNode(f"n{k}", 4) for k in range(2)],
    [Partition("q", ("n0", "n1"), max_time=100), Partition("one", ("n0",), qos="small", oversubscribe="exclusive")],
    [QOS("small", limits=Limits(max_tres_per_job={"cpu": 8})), QOS("high", limits=Limits(max_jobs_per_user=1))],
    [Association("root"), Association("chem", parent="root", limits=Limits(grp_jobs=2)), Association("chem", "ana", limits=Limits(max_jobs=1))],
    scheduler=SchedulerSettings(accounting_enforce=("limits",)),
)  # fmt: skip


def asked(qos="", account="chem"):
    return SiteRequest(account=account, qos=qos)


def site_with(**fields):
    return replace(SITE, **fields)


@pytest.mark.parametrize(
    ("limits", "of_qos", "left"),
    [
        (Limits(max_submit=0), Limits(), ["other"]),
        (Limits(max_submit=2), Limits(), ["one", "other"]),
        (Limits(max_submit=3), Limits(), ["t1", "t2", "t3", "one", "other"]),
        (Limits(grp_submit=2), Limits(), ["one", "other"]),
        (
            Limits(max_submit=2),
            Limits(max_submit_per_user=3),
            ["t1", "t2", "t3", "one", "other"],
        ),  # that of the QOS goes first
        (Limits(), Limits(max_submit_per_account=1), ["one", "other"]),
        (Limits(max_submit=2), Limits(grp_submit=9), ["one", "other"]),
    ],
)
def test_arrays_beyond_a_limit_of_submission_are_refused(limits, of_qos, left):
    """An array of three tasks and a job of chem, a job of another account."""
    jobs = [job(f"t{k}", k, 5, asked=asked("high")) for k in (1, 2, 3)]
    jobs += [job("one", 4, 5, asked=asked("high")), job("other", 5, 5, asked=asked("high", "phys"))]
    site = site_with(
        qos=[QOS("high", limits=of_qos)],
        associations=[
            Association("root"),
            Association("chem", parent="root", limits=limits),
            Association("phys", parent="root"),
        ],
    )
    work = Workload.of(Dispatch(site.platform(), jobs, [Queue("q", 60)]))
    work = replace(work, arrays={0: "t", 1: "t", 2: "t"})
    run = sl.simulate(work, dispatcher="easy", site=site)
    assert list(run.workload.ids) == left
    why = dict(run.workload.report.dropped)
    assert all("submitted together) is" in text for text in why.values()) and len(why) == 5 - len(left)
    quiet = replace(site, scheduler=SchedulerSettings())
    assert len(sl.simulate(work, dispatcher="easy", site=quiet).workload) == 5


def test_what_no_dispatcher_obeys_of_a_site_is_named():
    site = site_with(
        partitions=[
            Partition("q", ("n0", "n1"), oversubscribe="force:2"),
            Partition("one", ("n0",), exclusive_user=True),
        ],
        associations=[
            Association("chem", limits=Limits(max_submit=3)),
            Association("chem", "ana", limits=Limits(max_submit=2)),
        ],
        reservations=[
            SiteReservation("r", 0, 60, node_count=1),
            SiteReservation("c", 0, 60, ("n0",), core_count=2, flags=("magnetic",)),
        ],
        scheduler=SchedulerSettings(
            accounting_enforce=("limits",), complete_wait=32, preempt_type="qos", preempt_mode=("suspend", "gang")
        ),
    )
    told = not_modelled(site)
    for name in (
        "OverSubscribe=force:2 of partition q", "ExclusiveUser of partition one", "the choice of nodes of the reservation r",
        "that the reservation c has 2 cores of its nodes (they are held whole)", "the flag MAGNETIC of the reservation c",
        "CompleteWait=32", "PreemptType=qos, PreemptMode=suspend,gang (slurm and bench calibrate requeue and cancel jobs)",
        "MaxSubmitJobs (2 times; beyond single arrays: the jobs of a log were accepted)",
    ):  # fmt: skip
        assert name in told


@pytest.mark.parametrize("dispatcher", POLICIES)
def test_a_held_head_blocks_nobody_and_limits_of_users_accounts_and_qos_release_jobs(dispatcher):
    jobs = [
        job("a1", 0, 10, user="ana", asked=asked()), job("a2", 1, 10, 8, user="ana", asked=asked()),
        job("b1", 2, 20, user="bob", asked=asked()), job("b2", 3, 5, user="bob", asked=asked()),
        job("e1", 4, 5, user="eva", asked=asked("high", "phys")), job("e2", 4, 5, user="eva", asked=asked("high", "phys")),
    ]  # fmt: skip
    found = starts(jobs, dispatcher, SITE.platform(), [Queue("q", 60)], site=SITE)
    assert (found["a1"], found["b1"], found["e1"], found["e2"]) == (0, 2, 4, 9)
    # chem has two running jobs up to 10; then a2 is held no more, and a strict dispatcher lets it block the queue
    assert found["b2"] == (32 if dispatcher == "fcfs" else 10)
    assert found["a2"] == 22  # it needs all cores


def test_jobs_that_never_can_run_are_said_and_left_out():
    jobs = [
        job("ok", 0, 10),
        job("long", 0, 101),
        job("wide", 0, 10, 5, queue="one"),
        job("there", 0, 10, 4, queue="one"),
    ]
    queues = [Queue("q", 60), Queue("one", 60)]
    run = sl.simulate(Dispatch(SITE.platform(), jobs, queues), dispatcher="easy", site=SITE)
    dropped = dict(run.workload.report.dropped)
    assert set(dropped) == {"long", "wide"} and run.workload.ids == ("ok", "there")
    assert "max_time of partition 'q'" in dropped["long"] and "1 node" in dropped["wide"]
    with pytest.raises(WorkloadError, match="partition"):
        sl.simulate(Dispatch(SITE.platform(), [job("long", 0, 101)], [Queue("q", 60)]), dispatcher="easy", site=SITE)


def test_a_partition_with_exclusive_nodes_gives_whole_nodes():
    jobs = [job("x", 0, 10, queue="one"), job("y", 1, 10, queue="one")]
    assert starts(jobs, "easy", SITE.platform(), [Queue("one", 60)], site=SITE) == {"x": 0, "y": 10}


def test_a_site_without_enforcement_has_no_limits_and_says_so():
    free = replace(SITE, scheduler=SchedulerSettings())
    jobs = [job(f"a{k}", 0, 10, user="ana", asked=asked()) for k in range(3)]
    run = sl.simulate(Dispatch(SITE.platform(), jobs, [Queue("q", 60)]), dispatcher="easy", site=free)
    assert run.start.tolist() == [0, 0, 0]
    assert any("AccountingStorageEnforce" in note for note in run.workload.report.notes)


def test_a_platform_beside_a_site_is_refused():
    with pytest.raises(WrongArgument, match="give one of them"):
        sl.simulate(Dispatch(TWO, [job("a", 0, 1)], ANY), TWO, "easy", site=SITE)


class Chooses:
    """Starts each job on the nodes that it is told."""

    name = "chooses"

    def __init__(self, **nodes):
        self.nodes = nodes

    def begin(self, platform, queues, seed):
        self.may_start = []

    def decide(self, moment):
        self.may_start.append(dict(zip((j.id for j in moment.waiting), moment.may_start.tolist(), strict=True)))
        return Decision([Start(j.id, self.nodes[j.id]) for j in moment.waiting])


@pytest.mark.parametrize(
    ("fields", "nodes", "why"),
    [
        ({"nodes": ("n-2",)}, {"n-1": 2}, "may not use node 'n-1'"),
        ({"per_node": 1}, {"n-1": 2}, "at most 1 may be on one"),
        ({"whole_nodes": True}, {"n-1": 1, "n-2": 1}, r"needs 4 cores on node 'n-1', where 3 are free \(Job.whole_nodes\)"),
    ],
)  # fmt: skip
def test_starts_of_a_dispatcher_on_nodes_that_a_job_may_not_use_are_refused(fields, nodes, why):
    jobs = [job("a", 0, 10), job("b", 0, 10, 2, **fields)]
    with pytest.raises(SimulationError, match=why) as e:
        sl.simulate(Dispatch(TWO, jobs, ANY), dispatcher=Chooses(a={"n-1": 1}, b=nodes))
    assert e.value.job == "b"


def test_a_start_beyond_a_limit_stays_in_the_queue_and_the_moment_says_who_may_start():
    platform = Platform([NodeGroup("n", 2, {"cores": 4})], {"tool": 1})
    jobs = [job("a", 0, 10, licences={"tool": 1}), job("b", 0, 10, licences={"tool": 1})]
    dispatcher = Chooses(a={"n-1": 1}, b={"n-1": 1})
    run = sl.simulate(Dispatch(platform, jobs, ANY), dispatcher=dispatcher)
    assert run.start.tolist() == [0, 10] and run.violations == []
    assert dispatcher.may_start == [{"a": True, "b": True}, {"b": True}]


@pytest.mark.parametrize("name", ["dardis:throughput", "hybrid:100"])
def test_dispatchers_that_place_units_anywhere_refuse_such_jobs_by_name(name):
    with pytest.raises(WorkloadError, match=f"per_node, which dispatcher {name} does not obey"):
        sl.simulate(Dispatch(TWO, [job("a", 0, 10, 2, per_node=1)], ANY), dispatcher=name)


def test_counted_nodes_give_the_starts_of_nodes_that_are_followed():
    """Equal nodes with the same partitions are counted together; a feature that follows nodes keeps them apart.

    With reservations, counted nodes leave more room: which nodes are reserved is decided when the job starts.
    """
    rng = np.random.default_rng(5)
    platform = Platform([NodeGroup("n", 12, {"cores": 2})])
    queues = [Queue("left", 60, nodes=platform.nodes[:8]), Queue("right", 60, nodes=platform.nodes[4:])]
    jobs = [
        job(f"j{k}", 5 * k, int(rng.integers(1, 80)), int(rng.integers(1, 8)), 2, queues[k % 2].name)
        for k in range(120)
    ]
    event = [sl.models.NodeEvent(10**6, "node-drain", ["n-01"])]
    for name in ("fcfs", "sjf"):
        counted = sl.simulate(Dispatch(platform, jobs, queues), dispatcher=name)
        followed = sl.simulate(Dispatch(platform, jobs, queues), dispatcher=name, events=event)
        assert counted.violations == followed.violations == []
        assert counted.start.tolist() == followed.start.tolist(), name


def test_the_verification_finds_runs_on_wrong_nodes_and_jobs_that_are_not_alone():
    jobs = [job("a", 0, 10, whole_nodes=True), job("b", 0, 10, nodes=("n-2",)), job("c", 11, 10, 2, per_node=1)]
    run = sl.simulate(Dispatch(TWO, jobs, ANY), dispatcher="easy")
    assert run.violations == []
    p = run.placement
    on_first = run.placement._replace(low=np.zeros_like(p.low), high=np.zeros_like(p.high))
    run.placement = on_first
    found = " ".join(v.message for v in violations(run))
    assert "'b', started at 0, is on node 'n-1', which it may not use" in found
    assert "node 'n-1' at 0: a job that has whole nodes is not alone" in found


def test_the_verification_finds_licences_and_limits_that_are_exceeded():
    platform = Platform([NodeGroup("n", 2, {"cores": 4})], {"tool": 1})
    jobs = [job("a", 0, 10, licences={"tool": 1}), job("b", 0, 10, licences={"tool": 1})]
    run = sl.simulate(Dispatch(platform, jobs, ANY), dispatcher="easy")
    run.start, run.end = np.array([0, 5]), np.array([10, 15])
    assert [v.message for v in violations(run)] == [
        "licences of 'tool' at 5: 2 are held, 1 is the limit (job 'b' starts)"
    ]


@pytest.mark.parametrize("dispatcher", ["fcfs", "easy", "slurm"])
def test_limits_count_the_cpus_that_a_job_asked_for_where_its_units_are_rounded_up(dispatcher):
    """32 CPUs on 3 nodes are 3 units of 11; a limit of 32 admits them, and one of 31 does not."""
    nodes = [SiteNode(f"n{k}", 16) for k in range(3)]

    def site(most):
        limits = Limits(max_tres_per_user={"cpu": most})
        return Site(
            "s",
            nodes,
            [Partition("p", ("n0", "n1", "n2"))],
            [QOS("normal", limits=limits)],
            [Association("root"), Association("root", "ana")],
            scheduler=SchedulerSettings(accounting_enforce=("limits",)),
        )

    asked = SiteRequest(account="root", qos="normal", cpus=32, min_nodes=3)
    uneven = Job("a", 0, 60, 3, {"cores": 11}, "p", runtime=60, user="ana", asked=asked, per_node=1)
    problem = Dispatch(site(32).platform(), [uneven], [Queue("p", 60)])
    run = sl.simulate(problem, dispatcher, site=site(32))
    assert run.start.tolist() == [0] and run.violations == []
    with pytest.raises(WorkloadError, match="is 31, and it asks for more"):
        sl.simulate(problem, dispatcher, site=site(31))
