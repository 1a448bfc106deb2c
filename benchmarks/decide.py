"""Wall time of ``bench decide``: 500 waiting jobs on a machine of 1,000 nodes that is nearly full.

Run it as ``python -m benchmarks.decide``. Each figure is the median of whole commands, start of Python, reading and
check of the answer included; the compilation of the kernels is not.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from .benchmark import without_arguments
from .cost import Cost, cost_of

JOBS = 500
NODES = 1_000
SEED = 1
NOW = 1_700_000_000
CORES = 16
GPUS = 2
GPU_NODES = 250
DISPATCHERS = ("easy", "conservative", "pbs-walltime", "hcp3@cpsat", "cpmodel@cpsat")
REPEATS = 5
DECISION_TIME, TARGET_SECONDS = 1.0, 2.0


def state(jobs: int = JOBS, nodes: int = NODES) -> dict[str, Any]:
    """Return a random state, seeded: jobs of 1 to 32 units of which one in five uses GPUs; one node in twenty is idle."""
    rng = np.random.default_rng(SEED)
    names = [f"n{k:04d}" for k in range(nodes)]
    machine = [
        {"name": n, "capacity": {"cores": CORES, "gpus": GPUS if k < GPU_NODES else 0}} for k, n in enumerate(names)
    ]
    running: list[dict[str, Any]] = []
    first = 0
    while first < nodes:
        size = int(rng.integers(1, 33))
        if rng.random() > 0.05:
            used = {n: {"cores": CORES} for n in names[first : first + size]}
            elapsed = int(rng.integers(60, 20_000))
            walltime = int(rng.integers(300, 86_400))
            running.append({"id": f"r{len(running)}", "start": NOW - elapsed, "walltime": walltime, "nodes": used})
        first += size
    waiting = [
        {
            "id": f"w{k}",
            "submit": NOW - 40_000 + 80 * k,
            "walltime": int(rng.integers(5, 1440)) * 60,
            "units": int(2 ** rng.integers(0, 6)),
            "request": {"cores": int(rng.integers(1, CORES + 1)), "gpus": int(rng.random() < 0.2)},
            "queue": ("debug", "parallel")[k % 2],
        }
        for k in range(jobs)
    ]
    queues = [{"name": "debug", "ewt": 1800}, {"name": "parallel", "ewt": 21_600}]
    return {
        "schema": "schedlab-state", "version": 1, "now": NOW, "queues": queues, "nodes": machine,
        "running": running, "waiting": waiting,
    }  # fmt: skip


def cost(path: Path, dispatcher: str, repeats: int = REPEATS) -> tuple[Cost, float]:
    """Return the cost of one command and the median wall time of all; one command before them is not counted."""
    command = [sys.executable, "-m", "schedlab.bench.cli.app", "decide", str(path), "--dispatcher", dispatcher]
    runs = [cost_of([*command, "--decision-time", str(DECISION_TIME)]) for _ in range(repeats + 1)][1:]
    return runs[0], median(r.wall for r in runs)


def main() -> None:
    """Print the wall time of each dispatcher with the target."""
    console = Console()
    table = Table("dispatcher", "wall s", "processor s", "MB", "exit code", box=box.SIMPLE)
    with tempfile.TemporaryDirectory() as folder, console.status("bench decide"):
        path = Path(folder, "state.json")
        path.write_text(json.dumps(state()))
        for name in DISPATCHERS:
            one, wall = cost(path, name)
            table.add_row(name, f"{wall:.2f}", f"{one.user + one.system:.2f}", f"{one.peak_mb:.0f}", str(one.code))
    console.print(
        f"bench decide: {JOBS} waiting jobs, {NODES:,} nodes, --decision-time {DECISION_TIME:g} (target: at most "
        f"{TARGET_SECONDS:g} s wall-clock time)",
        highlight=False,
    )
    console.print(table)


if __name__ == "__main__":
    without_arguments(__doc__)
    main()
