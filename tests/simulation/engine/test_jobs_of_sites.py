"""Jobs of a site in replays: cancelled jobs leave the queue, and jobs that run at the begin keep what they asked."""

from dataclasses import replace

import pytest
from schedlab.instances import Logged, Trace, Workload
from schedlab.instances.log_preparation import cancellations
from schedlab.models import (
    Dispatch,
    Gres,
    Job,
    NodeGroup,
    Partition,
    Platform,
    Queue,
    Recorded,
    Running,
    SchedulerSettings,
    Site,
    SiteNode,
    SiteRequest,
)
from schedlab.simulation import Simulation, simulate
from schedlab.simulation.features import with_rows

MACHINE = Platform([NodeGroup("n", 1, {"cores": 4})])
CANCELLED = "it never started: it was cancelled in the queue"


def logged(job: str, submit: int, cores: int, **others: object) -> Logged:
    usual = {"runtime": 100, "walltime": 200, "units": 1, "request": {"cores": cores}, "queue": "q", "start": submit}
    asked = SiteRequest(account=f"of {job}")
    return Logged(job, submit, **{**usual, "asked": asked, **others})  # type: ignore[arg-type]


def test_a_cancelled_job_holds_its_place_until_it_leaves() -> None:
    jobs = [
        logged("first", 0, 4),
        logged("wide", 1, 4, unusable=CANCELLED, recorded=Recorded(cancelled=60)),
        logged("last", 2, 4),
    ]
    trace = Trace.of("log", "sacct", jobs, ["cores"]).with_cancelled()
    w = trace.workload
    run = simulate(w, MACHINE, "fcfs", events=cancellations(w))
    start = dict(zip(run.workload.ids, run.start.tolist(), strict=True))
    assert (start["first"], start["last"]) == (0, 100)
    assert start["wide"] < 0  # it left at 60


def test_rows_of_running_jobs_keep_what_they_asked() -> None:
    waiting = Job("w", 50, 60, 1, {"cores": 1}, "q", runtime=9, asked=SiteRequest(qos="low"), recorded=Recorded(70))
    job = Job("r", 0, 60, 1, {"cores": 1}, "q", runtime=60, asked=SiteRequest(qos="high"))
    running = Running(job, 10, {"n-1": 1}, 70)
    w = Workload.of(Dispatch(MACHINE, [waiting], [Queue("q", 60)], now=50, running=[running]))
    both = with_rows(w, [(running,)])
    assert both.ids == ("r", "w")
    assert [both.job(k).asked for k in range(2)] == [job.asked, waiting.asked]
    assert both.job(1).recorded == Recorded(70)
    plain = with_rows(replace(w, site=None), [(replace(running, job=replace(job, asked=None)),)])
    assert plain.site is None


def test_the_table_of_a_replay_has_what_was_asked_and_recorded() -> None:
    pytest.importorskip("pandas")
    w = Trace.of("log", "sacct", [logged("first", 0, 4), logged("last", 2, 4, start=120)], ["cores"]).workload
    table = simulate(w, MACHINE, "fcfs").to_pandas()
    assert table["asked.account"].tolist() == ["of first", "of last"]
    assert table["recorded.start"].tolist() == [0, 120]
    assert table["start"].tolist() == [0, 100]


@pytest.mark.parametrize("dispatcher", ["easy", "slurm"])
def test_gpus_count_by_the_type_that_jobs_asked_for_or_that_alone_their_partition_has(dispatcher: str) -> None:
    """Each job runs for 100 s; of a type that a job asks for, it waits until enough are free."""
    nodes = [SiteNode("n1", 4, gpus={"a100": 2, "v100": 2}), SiteNode("n2", 4, gpus={"h100": 4})]
    parts = [Partition("mixed", ("n1",)), Partition("pure", ("n2",))]
    site = Site("s", nodes, parts, scheduler=SchedulerSettings(select_parameters=("cr_cpu",)))
    asked = {
        "a": ("mixed", 2, (Gres("gpu", "a100", 2, "node"),)),
        "b": ("mixed", 1, (Gres("gpu", "a100", 1, "job"),)),  # no a100 is free until 100 s, two v100 are
        "c": ("mixed", 1, (Gres("gpu", "", 1, "job"),)),  # nobody knows of which type
        "d": ("pure", 1, (Gres("gpu", "", 1, "job"),)),
        "e": ("mixed", 2, (Gres("gpu", "a100", 1, "task"), Gres("gpu", "v100", 1, "task"))),
    }
    jobs = [
        logged(
            name,
            0,
            1,
            queue=part,
            request={"cores": 1, "gpus": number},
            asked=SiteRequest(partitions=(part,), gres=gres, tasks=1),
        )
        for name, (part, number, gres) in asked.items()
    ]
    workload = Trace.of("log", "sacct", jobs, ["cores", "gpus"]).workload
    run = simulate(workload, dispatcher=dispatcher, site=site)
    assert run.violations == []
    start = dict(zip(run.workload.ids, run.start.tolist(), strict=True))
    late = {name for name, at in start.items() if at >= 100}
    assert late - {"c"} == {"b", "e"}
    assert ("c" in late) == (dispatcher == "slurm")  # which reserves whole nodes for b
    used = run.metrics.in_use
    span = run.metrics.makespan
    assert span is not None
    kinds = {"gpus": 7, "gpus a100": 4, "gpus v100": 1, "gpus h100": 1}
    assert {name: used[name] for name in kinds} == pytest.approx({name: 100 * n / span for name, n in kinds.items()})


@pytest.mark.parametrize("dispatcher", ["easy", "slurm"])
@pytest.mark.parametrize("untold", [False, True])
def test_a_job_that_asks_for_gpus_of_a_type_that_no_node_has_never_starts(dispatcher: str, untold: bool) -> None:
    """Where some node has GPUs of an untold type, they may be those."""
    nodes = [SiteNode("n1", 4, gpus={"a100": 2}), SiteNode("n2", 4, gpus={"" if untold else "v100": 2})]
    site = Site("s", nodes, [Partition("p", ("n1", "n2"))], scheduler=SchedulerSettings(select_parameters=("cr_cpu",)))
    jobs = [
        logged(
            name,
            0,
            1,
            queue="p",
            request={"cores": 1, "gpus": 1},
            asked=SiteRequest(partitions=("p",), gres=(Gres("gpu", kind, 1, "node"),), tasks=1),
        )
        for name, kind in (("a", "a100"), ("h", "h100"))
    ]
    run = simulate(Trace.of("log", "sacct", jobs, ["cores", "gpus"]).workload, dispatcher=dispatcher, site=site)
    assert run.violations == []
    why = [] if untold else [("h", "never starts: it asks for GPUs of type 'h100'; the nodes have a100, v100")]
    assert [(name, text.partition("; did")[0]) for name, text in run.workload.report.dropped] == why
    assert run.workload.ids == (("a", "h") if untold else ("a",))


RACKS = {"n1": "r1", "n2": "r1", "n3": "r2", "n4": "r2"}


def of_racks(features: str, units: int, jobs: int = 6, nodes: str = "") -> Workload:
    asked = SiteRequest(partitions=("p",), features=features, min_nodes=units, max_nodes=units, cpus=4 * units)
    made = [
        Job(
            f"j{k}",
            k,
            60,
            units,
            {"cores": 4},
            "p",
            runtime=30,
            asked=asked,
            recorded=Recorded(nodes=nodes) if nodes else None,
        )
        for k in range(jobs)
    ]
    return Workload.of(Dispatch(RACKED.platform(), made, [Queue("p", 60)]))


RACKED = Site(
    "s",
    [SiteNode(name, 4, features=(rack, "ib")) for name, rack in RACKS.items()],
    [Partition("p", tuple(RACKS))],
    scheduler=SchedulerSettings(bf_resolution=1, bf_interval=1),
)


@pytest.mark.parametrize("dispatcher", ["slurm", "easy", "conservative", "fcfs"])
def test_all_nodes_of_a_job_are_from_one_of_several_sets_of_features(dispatcher: str) -> None:
    run = simulate(of_racks("ib&[r1|r2]", 2), dispatcher=dispatcher, site=RACKED)
    used = racks_of(run)
    assert [len(racks) for racks in used] == [1] * 6
    assert [racks.copy().pop() for racks in used].count("r1") == 3  # in turn, so that both are in use
    assert run.violations == [] and max(run.start.tolist()) < 95  # two at a time
    assert any(
        "6 jobs ask for several nodes with the same one of some features" in note for note in run.workload.report.notes
    )


def racks_of(run: Simulation) -> list[set[str]]:
    """Return the racks on which each job ran."""
    return [{RACKS[name] for name in run.schedule().nodes[job]} for job in run.workload.ids]


def test_a_job_has_the_set_of_its_recorded_nodes_and_one_on_a_node_has_all() -> None:
    run = simulate(of_racks("[r1|r2]", 2, 4, nodes="n[3-4]"), dispatcher="easy", site=RACKED)
    assert racks_of(run) == [{"r2"}] * 4
    single = simulate(of_racks("[r1|r2]", 1, 4), dispatcher="easy", site=RACKED)
    assert single.start.tolist() == [0, 1, 2, 3]  # on the nodes of both
    assert not any("several nodes with the same" in note for note in single.workload.report.notes)
    counted = simulate(of_racks("[r1*1&r2*1]", 2, 1), dispatcher="easy", site=RACKED)
    assert any("features '[r1*1&r2*1]' are not understood" in note for note in counted.workload.report.notes)


@pytest.mark.parametrize(("select", "first"), [("linear", 2), ("cons_tres", 4)])
@pytest.mark.parametrize("dispatcher", ["slurm", "easy", "conservative"])
def test_select_linear_gives_whole_nodes(dispatcher: str, select: str, first: int) -> None:
    site = Site(
        "s",
        [SiteNode("n1", 4), SiteNode("n2", 4)],
        [Partition("p", ("n1", "n2"))],
        scheduler=SchedulerSettings(select_type=select, select_parameters=("cr_cpu",) * (select != "linear")),
    )
    asked = SiteRequest(partitions=("p",), cpus=2)
    jobs = [Job(f"j{k}", 0, 600, 1, {"cores": 2}, "p", runtime=600, asked=asked) for k in range(6)]
    run = simulate(Workload.of(Dispatch(site.platform(), jobs, [Queue("p", 60)])), dispatcher=dispatcher, site=site)
    assert run.violations == [] and int((run.start < 600).sum()) == first
