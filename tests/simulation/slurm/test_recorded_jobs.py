"""Jobs of a log under ``slurm`` of ``simulate``: they start as second by second, however they ran."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
import schedlab as sl
from draws import some_now
from schedlab.instances import Workload, read_sacct
from schedlab.models import NodeEvent, Partition, SchedulerSettings, Site, SiteNode
from schedlab.simulation import as_submitted, slurm_jobs
from schedlab.simulation.features import node_events_of
from simulation.slurm.slurm_second_by_second import first_starts
from simulation.slurm.test_calibration import needs_lab, recording

BEGIN = 1_700_000_000
HEAD = "JobID|User|Account|Partition|Submit|Eligible|Start|End|Timelimit|ReqCPUS|AllocCPUS|NNodes|NodeList|State|AllocTRES|SubmitLine"
MEMORY = 1000  # MB for each CPU, unless a job asks for more


def place(**settings: object) -> Site:
    """Return a site of six nodes of 8 CPUs, two of which have more memory and are taken last."""
    nodes = [SiteNode(f"n{k}", 8, memory=16_000 if k < 5 else 32_000, weight=1 if k < 5 else 5) for k in range(1, 7)]
    names = tuple(n.name for n in nodes)
    parts = [Partition("p", names[:5], default=True), Partition("q", names[2:], tier=2)]
    given = {
        "select_parameters": ("cr_cpu_memory",), "def_mem_per_cpu": MEMORY, "bf_interval": 2, "bf_resolution": 1,
        "sched_interval": 2, "batch_sched_delay": 0, "priority_type": "basic", **settings,
    }  # fmt: skip
    return Site("six", nodes, parts, scheduler=SchedulerSettings(**given))  # type: ignore[arg-type]


def clock(seconds: int) -> str:
    """Return a time of the log as sacct writes it."""
    return datetime.fromtimestamp(BEGIN + seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def row(
    name: str, part: str, cpus: int, submit: int, start: int, runtime: int, limit: int, on: int, options: str, memory: int = MEMORY,
    eligible: int | None = None,
) -> str:  # fmt: skip
    """Return a line of sacct of a job that ran on nodes n1 to n``on``, or on n3 and so on in partition q."""
    first = 1 if part == "p" else 3
    hosts = ",".join(f"n{k}" for k in range(first, first + on))
    tres = f"cpu={cpus},mem={cpus * memory}M,node={on}"
    return "|".join(
        [
            name, "ana", "chem", part, clock(submit), clock(submit if eligible is None else eligible), clock(start),
            clock(start + runtime), f"00:{limit // 60:02}:{limit % 60:02}", str(cpus), str(cpus), str(on), hosts, "COMPLETED",
            tres, f"sbatch -p {part} -t {limit // 60} {options}",
        ]
    )  # fmt: skip


def log(folder: Path, lines: list[str]) -> Workload:
    """Return the jobs of the lines of a log."""
    file = folder / "jobs.txt"
    file.write_text("\n".join([HEAD, *lines]) + "\n")
    return read_sacct(file)


def drawn(seed: int, folder: Path) -> Workload:
    """Return a log of jobs of tasks, of tasks on each node, of whole nodes, of more memory; in arrays, with begin times."""
    rng = random.Random(seed)
    lines = []
    submit = 0
    for k in range(1, rng.randint(12, 40)):
        part = rng.choice("ppq")
        limit = 60 * rng.randint(1, 4)
        runtime = rng.randint(1, limit)
        submit += rng.choice((0, 0, 3, 20))
        late = submit + rng.randint(0, 200)
        kind = rng.choice(("tasks", "tasks", "tasks", "memory", "per node", "whole", "array", "begin", "after"))
        cpus = rng.choice((1, 2, 3, 5, 8, 12, 16))
        on = rng.randint(-(-cpus // 8), min(cpus, 4))
        options = f"-n {cpus}"
        memory = MEMORY
        name = str(1000 - k if rng.random() < 0.3 else 1000 + k)
        if kind == "memory":
            memory = rng.choice((1500, 2000))
            options += f" --mem-per-cpu={memory}"
        elif kind == "per node":
            each, on = rng.choice((2, 4)), rng.choice((2, 3))
            cpus = each * on
            options = f"-N {on} --ntasks-per-node={each}"
        elif kind == "whole":
            on = rng.choice((1, 2))
            cpus = 8 * on
            options = f"-N {on} --exclusive"
        elif kind == "begin":
            options += " --begin=now+50"
        elif kind == "after" and lines:
            options += f" --dependency=afterany:{lines[-1].split('|')[0].split('_')[0]}"
        if kind == "array":
            options += " --array=1-3%1"
            lines += [
                row(f"{name}_{t}", part, cpus, submit, late + t, runtime, limit, on, options, eligible=late) for t in (3, 1, 2)
            ]  # fmt: skip
        else:
            held = late if kind in ("begin", "after") else None
            lines.append(row(name, part, cpus, submit, late, runtime, limit, on, options, memory, held))
    return log(folder, lines)


def both(workload: Workload, site: Site) -> tuple[dict[str, int], dict[str, int]]:
    """Return the starts under ``slurm`` of ``simulate``, and those of a replay second by second."""
    run = sl.simulate(workload, dispatcher="slurm", site=site)
    assert run.violations == []
    offset = workload.unix_start or 0
    freely = {name: start - offset for name, start in first_starts(site, slurm_jobs(workload)).items()}
    return dict(zip(run.workload.ids, run.start.tolist(), strict=True)), freely


@pytest.mark.parametrize("seed", some_now(range(30), 12))
def test_jobs_start_as_second_by_second(seed: int, tmp_path: Path) -> None:
    multifactor = {"priority_type": "multifactor", "weight_age": 1000, "weight_job_size": 300, "calc_period": 30}
    settings = multifactor if seed % 2 else {"bf_interval": 5}
    starts, freely = both(drawn(seed, tmp_path), place(**settings))
    assert starts == freely


def test_cpus_that_ran_on_three_nodes_may_be_divided_otherwise(tmp_path: Path) -> None:
    lines = [
        row("1", "p", 4, 0, 0, 50, 60, 1, "-n 4"),
        row("2", "p", 32, 1, 60, 50, 60, 5, "-n 32"),  # 7 CPUs on each of 5 nodes would be 35
    ]
    starts, freely = both(log(tmp_path, lines), place())
    assert starts == freely
    assert starts["2"] - starts["1"] <= 2


def test_a_job_waits_for_its_dependency_and_not_for_the_recorded_time(tmp_path: Path) -> None:
    lines = [
        row("1", "p", 8, 0, 300, 20, 60, 1, "-n 8"),
        row("2", "p", 8, 0, 330, 20, 60, 1, "-n 8 --dependency=afterok:1", eligible=320),
    ]
    starts, freely = both(log(tmp_path, lines), place())
    assert starts == freely
    assert 20 <= starts["2"] - starts["1"] <= 22


def test_jobs_of_one_second_are_taken_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    lines = [row(name, "p", 40, 0, 0, 10, 60, 5, "-n 40") for name in ("12", "11", "10")]  # a log by end
    starts, freely = both(log(tmp_path, lines), place())
    assert starts == freely
    assert starts["10"] < starts["11"] < starts["12"]


def test_a_node_that_is_drained_in_the_log_takes_no_job_after_its_last_one(tmp_path: Path) -> None:
    workload = log(
        tmp_path, [row("1", "p", 8, 0, 0, 100, 120, 1, "-n 8"), row("2", "p", 40, 10, 200, 10, 60, 5, "-n 40")]
    )
    site = place()
    events = [NodeEvent(BEGIN + 100, "node-drain", ["n1"]), NodeEvent(BEGIN + 150, "node-up", ["n1"])]
    moved = node_events_of(Site("six", site.nodes, site.partitions, events=events), workload, site.platform())
    assert [(event.time, event.kind) for event in moved] == [
        (BEGIN + 1, "node-drain"),
        (BEGIN + 150, "node-up"),
    ]


def test_only_what_belongs_to_no_node_is_divided(tmp_path: Path) -> None:
    options = ("-n 16", "-N 2 --ntasks-per-node=8", "-n 16 --mem=8G", "-N 2 --exclusive", "-N 2 -n 16")
    lines = [row(str(k), "p", 16, 0, 0, 10, 60, 2, text) for k, text in enumerate(options, 1)]
    workload = log(tmp_path, lines)
    rows = as_submitted(workload, place())
    assert rows.units.tolist() == [16, 2, 2, 2, 16]
    assert rows.node_terms[int(rows.node_term[4])].per_node == 15  # on two nodes at least
    assert (rows.units * rows.request[:, 0]).tolist() == (workload.units * workload.request[:, 0]).tolist()


# --- MaxCPUsPerNode: what the jobs of a partition may have of a node, together.


def shared_nodes(most: int | None) -> Site:
    """Return a site of two nodes of 8 CPUs, of which partition q may have ``most``, and partition p all."""
    nodes = [SiteNode(f"n{k}", 8) for k in (1, 2)]
    parts = [Partition("p", ("n1", "n2"), default=True), Partition("q", ("n1", "n2"), max_cpus_per_node=most)]
    settings = SchedulerSettings(
        select_parameters=("cr_cpu",), bf_interval=1, bf_resolution=1, sched_interval=1, batch_sched_delay=0,
        priority_type="basic",
    )  # fmt: skip
    return Site("two", nodes, parts, scheduler=settings)


def without_memory(folder: Path, lines: list[str]) -> Workload:
    """Return the jobs of a log on nodes without memory."""
    return log(folder, [line.replace(",mem=", ",xmem=") for line in lines])


@pytest.mark.parametrize(("most", "late"), [(None, 0), (3, 20)])
def test_jobs_of_a_partition_have_no_more_of_a_node_than_it_allows(most: int | None, late: int, tmp_path: Path) -> None:
    lines = [row(str(k), "q", 3, 0, 0, 20, 60, 1, "-n 3") for k in (1, 2, 3)]  # n1, n2, and no third node
    lines.append(row("4", "p", 5, 0, 0, 20, 60, 1, "-n 5"))  # beside them
    starts, freely = both(without_memory(tmp_path, lines), shared_nodes(most))
    assert starts == freely
    first = starts["1"]
    assert [starts[k] - first for k in "124"] == [0, 0, 0]
    assert late <= starts["3"] - first <= late + 2


@pytest.mark.parametrize("seed", range(6))
def test_no_moment_has_more_than_a_partition_allows(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    lines = []
    for k in range(1, 30):
        cpus = rng.randint(1, 4)  # more of one node would never start
        options = rng.choice((f"-n {cpus}", f"-N 1 -n {cpus}", f"-N 2 -n {max(2, cpus)}"))
        on = 2 if "-N 2" in options else 1
        cpus = max(cpus, on)
        lines.append(row(str(k), rng.choice("pq"), cpus, 5 * k, 5 * k, rng.randint(1, 60), 60, on, options))
    site = shared_nodes(4)
    workload = without_memory(tmp_path, lines)
    starts, freely = both(workload, site)
    assert starts == freely
    run = sl.simulate(workload, dispatcher="slurm", site=site)
    w = run.workload
    in_q = np.array([w.partitions[k] == "q" for k in w.partition])
    for time in run.start.tolist():
        used = np.zeros(2, np.int64)
        for row_of_job in np.flatnonzero(in_q & (run.start <= time) & (time < run.end)).tolist():
            for k in range(run.placement.first[row_of_job], run.placement.first[row_of_job + 1]):
                cpus = run.placement.units[k] * w.request[row_of_job, 0]
                used[run.placement.low[k] : run.placement.high[k] + 1] += cpus
        assert used.max() <= 4


# --- Recordings.


@needs_lab
@pytest.mark.parametrize("name", ["simple", "full"])
def test_the_jobs_of_a_recording_start_as_second_by_second(name: str) -> None:
    """They asked for CPUs, memory, whole nodes, GPUs on each node, licences, in arrays, with dependencies; all run, and no node fails."""
    site, log = recording(name)
    assert log.recorded_start is not None and log.site is not None
    once = ~np.isin(np.arange(len(log)), list(log.site.attempts))
    ran = log.keep((log.recorded_start >= 0) & once)
    site = replace(site, events=())
    run = sl.simulate(ran, dispatcher="slurm", site=site, events=[])
    assert run.violations == []
    offset = ran.unix_start or 0
    ids = set(run.workload.ids)
    jobs = [replace(job, cancelled=None) for job in slurm_jobs(ran) if job.id in ids]
    freely = first_starts(site, jobs)
    starts = dict(zip(run.workload.ids, (run.start + offset).tolist(), strict=True))
    assert [job.id for job in jobs if starts[job.id] != freely[job.id]] == []
    assert len(starts) > 200
