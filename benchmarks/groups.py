"""Speed of the metrics of groups of jobs: a log of 100,000 jobs of 500 users, 5 queues and 4 partitions.

Run it as ``python -m benchmarks.groups``. The parts (reading, replay under EASY, metrics) are measured in this
process, without the compilation of the kernels; then the whole command ``bench simulate LOG --dispatchers easy --by ...``,
start-up, verification, records and tables included, with the peak memory of its processes.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from rich import box
from rich.console import Console
from rich.table import Table
from schedlab.instances import open_trace
from schedlab.simulation import simulate
from schedlab.simulation.metrics import GROUPINGS, metrics

from .benchmark import without_arguments
from .cost import cost_of
from .replay import PROCESSORS, write_trace

JOBS = 100_000
USERS = 500
QUEUES = 5
PARTITIONS = 4
SEED = 1
REPEATS = 5
TARGET_SECONDS, TARGET_MB = 10, 1024
BY = "user,queue,partition,class"


def write_log(path: Path, jobs: int = JOBS) -> None:
    """Write the random log in SWF; the same number of jobs gives the same log."""
    write_trace(path, jobs, seed=SEED, users=USERS, queues=QUEUES, partitions=PARTITIONS)


def parts(log: Path, repeats: int = REPEATS) -> dict[str, float]:
    """Return the median processor seconds of reading a log, of its replay under EASY, and of its metrics with all groups."""
    samples: dict[str, list[float]] = {"read": [], "replay and verify": [], "metrics of all groups": []}
    for _ in range(repeats + 1):
        times = [time.process_time()]
        workload, platform = open_trace(log)
        times.append(time.process_time())
        run = simulate(workload, platform, "easy")
        assert not run.violations, run.violations[0].message
        times.append(time.process_time())
        measured = metrics(run)
        assert set(measured.groups) == set(GROUPINGS) - {"account", "qos"}  # SWF has neither
        times.append(time.process_time())
        for name, begin, end in zip(samples, times, times[1:], strict=False):
            samples[name].append(end - begin)
    return {name: median(seconds[1:]) for name, seconds in samples.items()}


def main() -> None:
    """Print the measurements with their targets."""
    console = Console()
    table = Table("part", "seconds", box=box.SIMPLE)
    with tempfile.TemporaryDirectory() as folder, console.status("metrics of groups"):
        log = Path(folder, "log.swf")
        write_log(log)
        for name, seconds in parts(log).items():
            table.add_row(name, f"{seconds:.2f}")
        command = [sys.executable, "-m", "schedlab.bench.cli.app", "simulate", str(log), "--dispatchers", "easy"]
        spent = cost_of([*command, "--by", BY, "--out", str(Path(folder, "results"))])
    console.print(f"metrics of groups: {JOBS:,} jobs of {USERS} users on {PROCESSORS} processors, processor time")
    console.print(table)
    if spent.code:
        console.print(f"bench simulate --by {BY} failed with exit code {spent.code}")
        return
    console.print(
        f"bench simulate LOG --dispatchers easy --by {BY}: {spent.wall:.1f} s wall-clock time (target: at most "
        f"{TARGET_SECONDS} s), {spent.user + spent.system:.1f} s processor time; peak memory {spent.peak_mb:.0f} MB "
        f"(target: at most {TARGET_MB} MB)",
        highlight=False,
        soft_wrap=True,
    )


if __name__ == "__main__":
    without_arguments(__doc__)
    main()
