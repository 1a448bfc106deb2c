"""Overhead of executors: what a run costs beyond its process, and the memory of the bench for 10,000 short runs.

Run it as ``python -m benchmarks.executors``. The process of a run is a shell that prints a result at once, so that starting
it is nearly all that it does. One run at a time, the least and the median of some batches; the start of workers and jobs is not counted.
SLURM is measured where it is running.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from schedlab.bench.records.store import Record, Store
from schedlab.bench.runs.executors import Where
from schedlab.bench.runs.process import LEASH
from schedlab.bench.runs.selection import Run
from schedlab.bench.runs.supervision import FolderPlan, supervise_all

from .benchmark import without_arguments

RUNS = 60
BATCHES = 5
MANY = 10_000
TARGETS_MS = {"local": 5.0, "dask": 10.0, "slurm": 50.0}  # per run, above starting its process
TARGET_GB = 1.0
SCHEDULE = {f"job{k}": {"start": 1000 * k, "nodes": {f"node-{k % 16}": 1}} for k in range(100)}
TRACE = [{"seconds": 0.01 * k, "objective": 1000.0 - k, "bound": 3.0} for k in range(20)]
END = {
    "event": "end", "status": "feasible", "objective": 980.0, "verified": True, "sense": "minimize",
    "incumbents": TRACE, "schedule": SCHEDULE,
}  # fmt: skip
COMMAND = ("/bin/sh", "-c", f"echo '{json.dumps(END)}'", "worker")


class Clock:
    """An observer that notes when the first run began and when the last one ended."""

    def __init__(self) -> None:
        self.first = self.last = 0.0

    def begun(self, run: Run) -> None:
        """Note the first run."""
        self.first = self.first or time.perf_counter()

    def ended(self, run: Run, record: Record, kept: bool) -> None:
        """Note the last record."""
        self.last = time.perf_counter()

    def compiling(self, run: Run) -> None:
        """Do nothing."""

    def incumbent(self, run: Run, event: Mapping[str, Any]) -> None:
        """Do nothing."""

    def log(self, run: Run, event: Mapping[str, Any]) -> None:
        """Do nothing."""

    def progress(self, run: Run, event: Mapping[str, Any]) -> None:
        """Do nothing."""

    def refused(self, run: Run, reason: str) -> None:
        """Do nothing."""


def runs_of(count: int) -> list[Run]:
    """Return short runs that differ in their seed."""
    return [Run("day", "day", "c0ffee", "planted", seed=k, time_limit=1.0, kind="dispatch") for k in range(count)]


def process_seconds(count: int = RUNS) -> float:
    """Return the mean seconds to start the process of a run and read its result, without any supervision."""
    command: Sequence[str] = ["/bin/sh", "-c", LEASH, "leash", *COMMAND, "{}"]
    began = time.perf_counter()
    for _ in range(count):
        subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, start_new_session=True)
    return (time.perf_counter() - began) / count


def run_seconds(name: str, folder: Path, count: int = RUNS) -> float:
    """Return the mean seconds of a run under an executor, one at a time.

    In a job array the client sees the records late; the time between the first and the last record counts there.
    """
    where = Where.parse([name, *(["pack=1000000000"] if name == "slurm" else [])])
    clock = Clock()
    with Store(folder) as store:
        supervise_all([FolderPlan(store, runs_of(count))], clock, where.make(1, COMMAND, print))
    if name != "slurm":
        return (clock.last - clock.first) / count
    written = sorted(path.stat().st_mtime for path in folder.glob("*.json"))
    return (written[-1] - written[0]) / (count - 1)


def memory_gb(folder: Path, count: int) -> tuple[float, float]:
    """Return the greatest memory in GB of a bench that performs many short runs on this machine, and the minutes taken."""
    script = (
        "import sys; from pathlib import Path; from benchmarks.scale import executors as e; "
        "print('%.3f %.2f' % e.peak(Path(sys.argv[1]), int(sys.argv[2])))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(folder), str(count)], capture_output=True, text=True, check=True
    )
    gigabytes, minutes = map(float, done.stdout.split())
    return gigabytes, minutes


def peak(folder: Path, count: int) -> tuple[float, float]:
    """Perform runs in this process and return its greatest memory in GB, and the minutes taken."""
    import resource

    began = time.perf_counter()
    with Store(folder) as store:
        supervise_all([FolderPlan(store, runs_of(count))], Clock(), Where().make(os.cpu_count() or 1, COMMAND, print))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, (time.perf_counter() - began) / 60


def is_slurm_running() -> bool:
    """Return whether SLURM is installed here and answers."""
    return bool(shutil.which("sinfo")) and subprocess.run(["sinfo"], capture_output=True, check=False).returncode == 0


def main() -> None:
    """Print the overhead of each executor and the memory of many runs, with the targets."""
    console = Console()
    table = Table("executor", "ms of a run", "ms of its process", "overhead ms", "median", "target ms", box=box.SIMPLE)
    for name in [name for name in TARGETS_MS if name != "slurm" or is_slurm_running()]:
        with TemporaryDirectory(dir=Path.cwd()) as folder:
            batches = [(run_seconds(name, Path(folder, str(k))), process_seconds()) for k in range(BATCHES)]
        each, alone = map(min, zip(*batches, strict=True))
        figures = (each, alone, each - alone, median(run - process for run, process in batches))
        table.add_row(name, *(f"{1000 * x:.1f}" for x in figures), f"{TARGETS_MS[name]:g}")
    console.print(
        f"{RUNS} runs, one at a time, the least of {BATCHES} batches, and the median overhead", highlight=False
    )
    console.print(table)
    with TemporaryDirectory(dir=Path.cwd()) as folder:
        gigabytes, minutes = memory_gb(Path(folder, "out"), MANY)
    console.print(
        f"{MANY:,} short runs in {minutes:.1f} minutes: {gigabytes:.2f} GB of memory (target: below {TARGET_GB:g} GB)",
        highlight=False,
    )


if __name__ == "__main__":
    without_arguments(__doc__)
    main()
