"""Speed of replays: 10,000 jobs compared with AccaSim 1.1.3, and the full Curie log with ``bench simulate``.

Run it as ``python -m benchmarks.replay`` at the root of the repository. AccaSim is not a dependency: it is
installed once into a separate environment under ``.cache``. Without a network only schedlab is measured. Both programs are
measured from the text of the log to the last job, in processor seconds of one thread, so that other work on the machine
does not change the ratio. AccaSim is measured without its start-up and writes nothing. schedlab is measured without the
compilation of its kernels, but with the verification of the whole schedule, which AccaSim does not have.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table
from schedlab.instances import read_swf
from schedlab.models import NodeGroup, Platform

from .accasim import DISPATCHERS
from .benchmark import without_arguments
from .cost import cost_of
from .environments import Unavailable, python_with

ACCASIM = "accasim==1.1.3"
JOBS = 10_000
PROCESSORS = 256
LOAD = 0.75
SEED = 1
USERS = 39
REPEATS, TARGET_RATIO = 7, 100
PATIENCE = 900.0  # seconds: time limit of a replay with AccaSim
CURIE = Path("..", "shared", "data", "cea_curie_2011", "CEA-Curie-2011-2.1-cln.swf.gz")
CURIE_NODES = 93_312
TARGET_SECONDS = 20
TARGET_MB = 1024
NOTE = """\
With fcfs and with "easy, textbook", schedlab starts every job at the same time as AccaSim. The EASY backfilling of AccaSim
as published differs: it keeps the first reservation of the head of the queue, does not try to start the head earlier, and
backfills other jobs without respecting the reservation (1.1.3 gives its allocator no reserved nodes), so the head may wait
longer. "easy, textbook" is that class of AccaSim with these three points corrected (benchmarks/accasim.py)."""


class ReplayTime(NamedTuple):
    """One replay: its processor seconds, and the start in seconds of each job by its id."""

    seconds: float
    starts: Mapping[str, int]


def write_trace(
    path: Path,
    jobs: int = JOBS,
    processors: int = PROCESSORS,
    load: float = LOAD,
    seed: int = SEED,
    users: int = USERS,
    queues: int = 1,
    partitions: int = 0,
) -> None:
    """Write a random log in SWF. The same arguments give the same log.

    The numbers of processors are log-uniform, the runtimes are log-normal, the walltimes are above the runtimes, and the
    submit times are random over a span that gives the offered load.

    Parameters
    ----------
    path : Path
        The file.
    jobs : int
        The number of jobs.
    processors : int
        The number of processors of the machine.
    load : float
        The offered load: work of all jobs / work that the machine can do in the span of the submit times.
    seed : int
        The random seed.
    users : int
        The number of users, each with about the same number of jobs.
    queues, partitions : int
        The numbers of queues and of partitions, to which the jobs belong in turn; no partition is recorded for 0.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_trace(Path(folder, "log.swf"), jobs=50)
    ...     workload = read_swf(Path(folder, "log.swf"))
    >>> len(workload), bool((workload.runtime <= workload.walltime).all())
    (50, True)
    """
    rng = np.random.default_rng(seed)
    size = np.ceil(2.0 ** rng.uniform(0, np.log2(processors) - 1, jobs)).astype(np.int64)
    runtime = np.ceil(np.exp(rng.normal(7, 1.6, jobs)).clip(1, 86_400)).astype(np.int64)
    walltime = np.ceil(runtime * (1 + rng.exponential(1, jobs)) / 300).astype(np.int64) * 300
    gaps = rng.exponential(1, jobs).cumsum()
    submit = 1000 + (gaps / gaps[-1] * (size * runtime).sum() / processors / load).astype(np.int64)
    user = rng.integers(1, users + 1, jobs)
    with path.open("w") as out:
        out.write(f"; MaxProcs: {processors}\n")
        for k, row in enumerate(np.column_stack([submit, runtime, size, walltime, user]).tolist(), 1):
            at, run, units, wall, user_id = row
            queue = k % queues + 1
            partition = k % partitions + 1 if partitions else -1
            out.write(f"{k} {at} -1 {run} {units} -1 -1 {units} {wall} -1 1 {user_id} 1 -1 {queue} {partition} -1 -1\n")


def ours(log: Path, nodes: int, cores: int, policy: str) -> ReplayTime:
    """Replay a log with schedlab, reading and verification included, and return the median of REPEATS runs.

    Parameters
    ----------
    log : Path
        The SWF file.
    nodes, cores : int
        The number of nodes, and of cores per node.
    policy : str
        The dispatcher, such as easy.

    Returns
    -------
    ReplayTime
    """
    from schedlab.simulation import simulate

    platform = Platform([NodeGroup("node", nodes, {"cores": cores})])
    seconds = []
    for _ in range(REPEATS + 1):
        began = time.process_time()
        run = simulate(read_swf(log), platform, policy, allocator="first-fit")
        seconds.append(time.process_time() - began)
        assert not run.violations, run.violations[0].message
    return ReplayTime(median(seconds[1:]), dict(zip(run.workload.ids, run.start.tolist(), strict=True)))


def accasim(
    python: Path,
    log: Path,
    nodes: int,
    cores: int,
    dispatcher: str,
    on_progress: Callable[[int], object] = lambda done: None,
) -> ReplayTime:
    """Replay a log with AccaSim in a process of its own.

    Parameters
    ----------
    python : Path
        The interpreter of an environment with AccaSim.
    log : Path
        The SWF file.
    nodes, cores : int
        The number of nodes, and of cores per node.
    dispatcher : str
        One of ``accasim.DISPATCHERS``.
    on_progress : callable
        Called every few seconds with the number of ended jobs.

    Returns
    -------
    ReplayTime

    Raises
    ------
    Unavailable
        If AccaSim fails or exceeds the time limit.
    """
    script = Path(__file__).with_name("accasim.py")
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as errors:
        options = {"log": str(log), "nodes": nodes, "cores": cores, "dispatcher": dispatcher, "folder": folder}
        command = [str(python), "-I", str(script), json.dumps(options)]
        began = time.monotonic()
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as child:
            assert child.stdout is not None
            for line in child.stdout:
                message: dict[str, Any] = json.loads(line)
                if "starts" in message:
                    return ReplayTime(message["seconds"], message["starts"])
                on_progress(message["done"])
                if time.monotonic() - began > PATIENCE:
                    child.kill()
                    raise Unavailable(f"stopped after {PATIENCE:g} s, when {message['done']:,} jobs had ended")
        errors.seek(0)
        output = errors.read().strip().splitlines()
    raise Unavailable(f"AccaSim failed: {output[-1] if output else f'exit code {child.returncode}'}")


def beside_accasim(console: Console, log: Path) -> None:
    """Print the speeds of AccaSim and schedlab on 256 processors: as 256 nodes of one core, and as one node."""
    submit = dict(zip((w := read_swf(log)).ids, w.submit.tolist(), strict=True))
    table = Table(
        box=box.SIMPLE,
        collapse_padding=True,
        pad_edge=False,
        title=f"replay of {len(submit):,} jobs on {PROCESSORS} processors (target: ratio at least {TARGET_RATIO} on {PROCESSORS} nodes)",
    )
    for head in ("dispatcher", "nodes", "AccaSim\njobs/s", "schedlab\njobs/s", "ratio", "same\nstarts",
                 "AccaSim\nmean wait s", "schedlab\nmean wait s"):  # fmt: skip
        table.add_column(head, no_wrap=True, justify="left" if head == "dispatcher" else "right")
    python, spent = None, 0.0
    with console.status("installing AccaSim") as status:
        try:
            python = python_with(ACCASIM)
        except Unavailable as e:
            console.print(f"AccaSim is not measured: {e}", highlight=False, markup=False)
        for nodes, cores in ((PROCESSORS, 1), (1, PROCESSORS)):
            times = {policy: ours(log, nodes, cores, policy) for policy in ("fcfs", "easy")}
            for name in DISPATCHERS if python else times:
                what, theirs = f"AccaSim, {name}, {nodes} x {cores}", None

                def on_progress(done: int, what: str = what) -> None:
                    status.update(f"{what}: {done:,} of {len(submit):,} jobs")

                try:
                    theirs = accasim(python, log, nodes, cores, name, on_progress) if python else None
                except Unavailable as e:
                    console.print(f"{what}: {e}", highlight=False, markup=False)
                spent += theirs.seconds if theirs else 0.0
                table.add_row(name, str(nodes), *_compared(theirs, times[name.split(",")[0]], submit))
    console.print(table)
    if python is not None:
        console.print(
            f"The six replays with AccaSim took {spent:.0f} s. {NOTE}", highlight=False, markup=False, soft_wrap=True
        )


def _compared(theirs: ReplayTime | None, mine: ReplayTime, submit: Mapping[str, int]) -> list[str]:
    """Return the cells of a row: speeds in jobs/s, their ratio, number of equal starts, mean waits in s."""

    def wait(run: ReplayTime) -> str:
        return f"{np.mean([run.starts[job] - at for job, at in submit.items()]):,.0f}"

    speed = f"{len(submit) / mine.seconds:,.0f}"
    if theirs is None:
        return ["-", speed, "-", "-", "-", wait(mine)]
    same = sum(theirs.starts.get(job) == start for job, start in mine.starts.items())
    ratio = f"{theirs.seconds / mine.seconds:.0f}"
    return [f"{len(submit) / theirs.seconds:,.0f}", speed, ratio, f"{same:,}", wait(theirs), wait(mine)]


def whole_curie(console: Console, log: Path = CURIE) -> None:
    """Print the cost of the whole command ``bench simulate`` for the full Curie log under EASY."""
    if not log.exists():
        console.print(f"the full Curie log: not measured, as {log} is missing (run this at the root of the repository)")
        return
    with tempfile.TemporaryDirectory() as folder, console.status("replaying the full Curie log under easy"):
        command = [sys.executable, "-m", "schedlab.bench.cli.app", "simulate", str(log), "--dispatchers", "easy"]
        spent = cost_of([*command, "--nodes", str(CURIE_NODES), "--cores", "1", "--out", folder])
        records = [json.loads(p.read_text()) for p in Path(folder).glob("*.json")]
    if spent.code or not records:
        console.print(f"the full Curie log: bench simulate failed with exit code {spent.code}")
        return
    jobs, replay = records[0]["simulation"]["jobs"], records[0]["seconds"]["total"]
    console.print(
        f"bench simulate, the full Curie log under easy: {spent.wall:.1f} s wall-clock time (target: at most "
        f"{TARGET_SECONDS} s), of which the replay {replay:.1f} s\n  {jobs:,} jobs, {CURIE_NODES:,} processors; processor "
        f"time {spent.user:.1f} s user + {spent.system:.1f} s system; peak memory {spent.peak_mb:.0f} MB (target: at most "
        f"{TARGET_MB} MB)",
        highlight=False,
        soft_wrap=True,
    )


def main() -> None:
    """Print the measurements with their targets."""
    console = Console()
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log.swf")
        write_trace(log)
        beside_accasim(console, log)
    whole_curie(console)


if __name__ == "__main__":
    without_arguments(__doc__)
    main()
