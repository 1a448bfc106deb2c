"""Speed of replays on a site: 200,000 jobs on 5,000 nodes of three kinds in 12 overlapping partitions, with limits of users.

Run it as ``python -m benchmarks.site``. Two sites are measured, under ``easy`` and ``slurm``: one whose jobs have nodes for
themselves (``easy`` counts the nodes kind by kind), and one where most jobs share nodes. The sites and the jobs are generated,
and are the same each time. Processor times are those of ``simulate`` with its verification, without the compilation of the
kernels; that of the first replay of each dispatcher, with compilation where the kernels are not in the cache, is printed too.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table
from schedlab.bench.terminal import console_for
from schedlab.instances import Workload
from schedlab.instances.workload import NodeTerms
from schedlab.models import QOS, Association, Limits, Partition, Queue, SchedulerSettings, Site, SiteNode
from schedlab.simulation import simulate

from .cost import peak_mb

NODES, PARTITIONS, USERS, JOBS = 5000, 12, 300, 200_000
LOAD = 0.85
DISPATCHERS = ("easy", "slurm")
SEED = 1
TARGET_SECONDS, TARGET_MB = 60, 2048
KINDS = ((64, 256_000, 0), (64, 1_024_000, 0), (64, 512_000, 4))  # cores, MB and GPUs of a node
SHARES = (0.8, 0.1, 0.1)
PARTS = ((0.0, 1.0), *((k / 10, k / 10 + 0.3) for k in range(8)), (0.85, 0.9), (0.8, 1.0), (0.0, 0.05))  # of the nodes


def site_of(nodes: int = NODES) -> Site:
    """Return the site: partitions overlap, each user has at most 200 running jobs, and an account at most half of the cores."""
    kinds = np.repeat(np.arange(len(KINDS)), np.round(np.array(SHARES) * nodes).astype(int)).tolist()
    listed = []
    for n, kind in enumerate(kinds):
        cores, memory, gpus = KINDS[kind]
        listed.append(SiteNode(f"n{n:04d}", cores, memory=memory, gpus={"a100": gpus} if gpus else {}))
    names = [node.name for node in listed]
    partitions = [
        Partition(f"p{k:02d}", tuple(names[int(low * nodes) : int(high * nodes)]), qos="normal")
        for k, (low, high) in enumerate(PARTS)
    ]
    cores = sum(node.cores for node in listed)
    accounts = [Association(f"a{a}", parent="root", limits=Limits(grp_tres={"cpu": cores // 2})) for a in range(10)]
    users = [Association(f"a{u % 10}", f"u{u}") for u in range(USERS)]
    return Site(
        "generated",
        listed,
        partitions,
        [QOS("normal", limits=Limits(max_jobs_per_user=200))],
        [Association("root"), *accounts, *users],
        scheduler=SchedulerSettings(accounting_enforce=("limits",)),
    )


def jobs_of(site: Site, jobs: int, shared: bool, load: float = LOAD) -> Workload:
    """Return the jobs: log-uniform sizes, log-normal runtimes, arrivals that give the load; ``shared``: most share nodes."""
    rng = np.random.default_rng(SEED)
    platform = site.platform()
    queue = rng.choice(PARTITIONS, jobs, p=[0.3, *[0.08] * 8, 0.01, 0.04, 0.01])
    size = np.array([len(p.nodes) for p in site.partitions])
    whole = rng.random(jobs) < (0.2 if shared else 1.0)
    most = np.minimum(size[queue] // 2, 256)
    units = np.where(whole, np.exp2(rng.uniform(0, 8, jobs)), np.exp2(rng.uniform(0, 4, jobs))).astype(np.int64)
    units = np.clip(units, 1, np.maximum(1, most))
    cores = np.where(whole, 64, 2 ** rng.integers(0, 6, jobs))
    request = np.zeros((jobs, len(platform.resources)), np.int64)
    request[:, platform.resources.index("cores")] = cores
    request[:, platform.resources.index("memory")] = np.where(whole, 0, cores * 2000)
    runtime = np.clip(np.exp(rng.normal(7.5, 1.5, jobs)), 10, 172_800).astype(np.int64)
    walltime = (runtime * rng.uniform(1, 4, jobs)).astype(np.int64) // 60 * 60 + 60
    work = float((units * cores * runtime).sum())
    span = work / (load * platform.total("cores"))
    submit = np.sort(rng.uniform(0, span, jobs)).astype(np.int64)
    terms = (NodeTerms(), NodeTerms(per_node=1, whole_nodes=True))
    zeros = np.zeros(jobs, np.int64)
    return Workload(
        name="generated", ids=[f"j{k}" for k in range(jobs)], submit=submit, runtime=runtime, walltime=walltime, units=units,
        resources=platform.resources, request=request, queue=queue, queues=tuple(Queue(p.name, 60) for p in site.partitions),
        user=rng.integers(0, USERS, jobs), users=tuple(f"u{u}" for u in range(USERS)), program=zeros, programs=("",),
        release=submit.copy(), recorded_start=zeros - 1, power=np.full(jobs, np.nan), node_term=whole.astype(np.int64),
        node_terms=terms,
    )  # fmt: skip


def measured(console: Console, jobs: int, nodes: int, dispatchers: Sequence[str]) -> None:
    """Print processor time and peak memory of the replays."""
    site = site_of(nodes)
    table = Table(
        "jobs", "dispatcher", "first use s", "processor s", "us per job", "mean wait s", "utilisation", "peak MB", box=box.SIMPLE,
        title=f"{jobs:,} jobs on {nodes:,} nodes in {PARTITIONS} partitions (target of {JOBS:,} jobs: {TARGET_SECONDS} s, {TARGET_MB:,} MB)",
    )  # fmt: skip
    for shared in (False, True):
        log = jobs_of(site, jobs, shared)
        for name in dispatchers:
            began = time.process_time()
            simulate(log.first(3), dispatcher=name, site=site)  # compiles
            first = time.process_time() - began
            began = time.process_time()
            run = simulate(log, dispatcher=name, site=site)
            spent = time.process_time() - began
            assert not run.violations, run.violations[0].message
            figures = run.metrics
            table.add_row(
                "share nodes" if shared else "whole nodes", name, f"{first:.1f}", f"{spent:.1f}", f"{1e6 * spent / jobs:.0f}",
                f"{figures.wait.mean:,.0f}", f"{figures.utilisation['cores']:.3f}", f"{peak_mb():,.0f}",
            )  # fmt: skip
    console.print(table)


def small(console: Console) -> None:
    """Print the figures of a tenth of the jobs, for ``make speed``."""
    measured(console, JOBS // 10, NODES, DISPATCHERS)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the measurements; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.site", description="Speed of replays on a site.")
    parser.add_argument("--jobs", type=int, default=JOBS, help=f"number of jobs (default: {JOBS})")
    parser.add_argument("--nodes", type=int, default=NODES, help=f"number of nodes (default: {NODES})")
    usual = ",".join(DISPATCHERS)
    parser.add_argument("--dispatchers", default=usual, help=f"dispatchers (default: {usual})")
    options = parser.parse_args(arguments)
    measured(console_for(), options.jobs, options.nodes, options.dispatchers.split(","))
    return 0


if __name__ == "__main__":
    sys.exit(main())
