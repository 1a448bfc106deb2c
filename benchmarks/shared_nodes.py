"""Speed of replays on nodes that jobs share: 30 days of the Curie log on 300 nodes of 32 cores.

Run it as ``python -m benchmarks.shared_nodes`` at the root of the repository. The log is not part of the project;
without it, a random log is replayed, for which there are no targets. Measured are processor seconds of one thread, without
the reading of the log and the compilation of the kernels.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from schedlab.instances.formats.swf import read_swf
from schedlab.instances.workload import Workload
from schedlab.models import NodeGroup, Platform
from schedlab.simulation.simulator import simulate

from .replay import CURIE, write_trace

LOG = CURIE.with_name("curie_part4_fat_30d_2012-04-20.swf.gz")
NODES, CORES, REPEATS = 300, 32, 3
TARGETS = {"easy": 60_000, "easy++": 50_000, "plan": 10_000, "conservative": 3_000}
"""Jobs per second by policy, of processor time."""


def workload(platform: Platform, log: Path = LOG, jobs: int = 8000) -> Workload:
    """Return the jobs of the log that the machine can hold; those of a random log if it is missing."""
    if log.exists():
        return read_swf(log).on(platform)
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder, "random.swf")
        write_trace(written, jobs, processors=NODES * CORES, load=0.85)
        return read_swf(written).on(platform)


def speed(jobs: Workload, platform: Platform, policy: str, repeats: int = REPEATS) -> float:
    """Return the jobs per second of the fastest of some replays, verification of the starts included."""
    simulate(jobs.first(20), platform, policy)  # compiles
    seconds = []
    for _ in range(repeats):
        began = time.process_time()
        run = simulate(jobs, platform, policy)
        assert not run.violations, run.violations[0].message
        seconds.append(time.process_time() - began)
    return len(jobs) / min(seconds)


def main() -> None:
    """Print the measurements with their targets."""
    console, platform = Console(), Platform([NodeGroup("node", NODES, {"cores": CORES})])
    jobs = workload(platform)
    found = LOG.exists()
    what = "Curie, 30 days" if found else "a random log, as that of Curie is missing"
    table = Table("policy", "jobs/s", "target", box=box.SIMPLE)
    for column in table.columns[1:]:
        column.justify = "right"
    with console.status("replaying on shared nodes"):
        for policy, target in TARGETS.items():
            table.add_row(policy, f"{speed(jobs, platform, policy):,.0f}", f"{target:,}" if found else "-")
    console.print(f"{what}: {len(jobs):,} jobs on {NODES} nodes of {CORES} cores", highlight=False, soft_wrap=True)
    console.print(table)


if __name__ == "__main__":
    main()
