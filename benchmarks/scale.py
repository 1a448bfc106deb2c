"""Replays of large workloads: cost per job for each doubling of the jobs, and the whole command ``bench simulate``.

Run it as ``python -m benchmarks.scale``; ``--whole`` replays a month of 1.3 million jobs on 158,976 nodes
with ``bench simulate``, with reading, verification and writing, under each dispatcher. The workloads are generated
(``schedlab.instances.generators.lublin``). Processor times do not depend on what else the machine does.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from schedlab.bench.terminal import console_for
from schedlab.instances import lublin_workload, write_swf
from schedlab.models import NodeGroup, Platform
from schedlab.simulation import simulate

from .cost import cost_of

MONTH = 1_300_000
NODES = 158_976
LARGEST = 256
LOAD = 0.9
SEED = 1
GROWTH = 1.3  # target: cost per job / cost per job of half as many jobs
SECONDS, MB = {"fcfs": 60, "easy": 90}, 4096  # targets of the whole command


def microseconds(jobs: int, dispatcher: str, nodes: int = NODES, load: float = LOAD) -> float:
    """Return the processor time of a replay per job in microseconds, verification included; the second of two runs."""
    log = lublin_workload(jobs, SEED, nodes, load, min(LARGEST, nodes))
    machine = Platform([NodeGroup("n", nodes, {"cores": 1})])
    simulate(log.first(2), machine, dispatcher)  # compiles
    began = time.process_time()
    run = simulate(log, machine, dispatcher)
    assert not run.violations, run.violations[0].message
    return 1e6 * (time.process_time() - began) / jobs


def doublings(console: Console, first: int, times: int, dispatchers: Sequence[str]) -> None:
    """Print the cost per job of ``first`` jobs, twice as many, and so on."""
    table = Table(
        "jobs",
        *(text for name in dispatchers for text in (f"{name}\nus per job", "growth")),
        box=box.SIMPLE,
        title=f"replays on {NODES:,} nodes, load {LOAD} (target: growth at most {GROWTH} per doubling)",
    )
    before: dict[str, float] = {}
    for k in range(times):
        jobs = first * 2**k
        cells = []
        for name in dispatchers:
            time = microseconds(jobs, name)
            cells += [f"{time:.1f}", f"{time / before[name]:.2f}" if name in before else "-"]
            before[name] = time
        table.add_row(f"{jobs:,}", *cells)
    console.print(table)


def whole_month(console: Console, dispatchers: Sequence[str], jobs: int = MONTH) -> None:
    """Print the cost of ``bench simulate`` for the month under each dispatcher."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "month.swf")
        write_swf(lublin_workload(jobs, SEED, NODES, LOAD, LARGEST), NODES, log)
        for name in dispatchers:
            out = str(Path(folder, name))
            command = [sys.executable, "-m", "schedlab.bench.cli.app", "simulate", str(log), "--dispatchers", name]
            spent = cost_of([*command, "--out", out])
            outcome = "" if spent.code == 0 else f"; it failed with exit code {spent.code}"
            console.print(
                f"bench simulate, {jobs:,} jobs on {NODES:,} nodes under {name}: {spent.wall:.0f} s wall-clock time, "
                f"{spent.user + spent.system:.0f} s processor time (target: {SECONDS.get(name, '-')} s), peak memory "
                f"{spent.peak_mb:,.0f} MB (target: {MB:,} MB){outcome}",
                highlight=False,
                soft_wrap=True,
            )


def small(console: Console) -> None:
    """Print the growth for two doublings, for ``make speed``."""
    doublings(console, 25_000, 3, ("fcfs", "easy"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the measurements; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description="Replays of large workloads.")
    parser.add_argument("--whole", action="store_true", help="also the whole command on a month of 1.3 million jobs")
    parser.add_argument("--first", type=int, default=40_000, help="jobs of the smallest replay (default: 40000)")
    parser.add_argument("--times", type=int, default=6, help="number of replays, each twice as large (default: 6)")
    parser.add_argument("--dispatchers", default="fcfs,easy", help="dispatchers (default: fcfs,easy)")
    options = parser.parse_args(arguments)
    console = console_for()
    names = options.dispatchers.split(",")
    doublings(console, options.first, options.times, names)
    if options.whole:
        whole_month(console, names)
    return 0


if __name__ == "__main__":
    sys.exit(main())
