"""Speed of replays: 10,000 jobs beside AccaSim 1.1.3, and the full log of Curie by ``bench simulate``.

Run it as ``python -m schedlab.bench.speed.replay`` at the root of the repository. AccaSim is no dependency: it is
installed into an environment of its own under ``.cache``, once; without a network the rest still prints. Both sides are
timed from the text of the log to the last job, in seconds of the one processor that each uses, so that other work on the
machine disturbs neither: AccaSim without its start-up and with nothing written; ours without the kernels' compilation,
and with the check of the whole run, which AccaSim has not.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from ...instances.formats.swf import read_swf
from ...models import NodeGroup, Platform
from .accasim import DISPATCHERS

CACHE, ACCASIM = Path(".cache"), "accasim==1.1.3"
JOBS, PROCESSORS, LOAD, SEED = 10_000, 256, 0.75, 1
REPEATS, ASKED = 7, 100
PATIENCE = 900.0  # seconds until an installation, or a replay by AccaSim, is given up
CURIE = Path("..", "shared", "data", "cea_curie_2011", "CEA-Curie-2011-2.1-cln.swf.gz")
CURIE_NODES, CURIE_SECONDS, CURIE_MB = 93_312, 20, 1024
NOTE = """\
FCFS and the textbook's EASY start every job when AccaSim does. AccaSim's EASY as published differs: it keeps a head's first
reservation, does not try the head before it, and lets the others fill without heeding it (1.1.3 hands its allocator no
reserved nodes), so heads may wait longer. "textbook" is its own class with these three mended (bench/speed_accasim.py)."""


class Unavailable(Exception):
    """AccaSim cannot be measured here; the message says why."""


class ReplayTime(NamedTuple):
    """One replay: processor seconds, and the start of each job by its id."""

    seconds: float
    starts: Mapping[str, int]


def write_trace(
    path: Path, jobs: int = JOBS, processors: int = PROCESSORS, load: float = LOAD, seed: int = SEED
) -> None:
    """Write a seeded log in SWF: sizes even over the powers of two, long tails of runtimes, requested times above them.

    Arrivals at random over the time in which the machine offers 1 / ``load`` of the work.

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
    asked = np.ceil(runtime * (1 + rng.exponential(1, jobs)) / 300).astype(np.int64) * 300
    gaps = rng.exponential(1, jobs).cumsum()
    submit = 1000 + (gaps / gaps[-1] * (size * runtime).sum() / processors / load).astype(np.int64)
    user = rng.integers(1, 40, jobs)
    with path.open("w") as out:
        out.write(f"; MaxProcs: {processors}\n")
        for k, row in enumerate(np.column_stack([submit, runtime, size, asked, user]).tolist(), 1):
            at, took, units, wall, who = row
            out.write(f"{k} {at} -1 {took} {units} -1 -1 {units} {wall} -1 1 {who} 1 -1 1 -1 -1 -1\n")


def ours(log: Path, nodes: int, cores: int, policy: str) -> ReplayTime:
    """The median of some replays by schedlab, reading and verification included."""
    from ...simulation.engine.simulator import simulate

    platform, seconds = Platform([NodeGroup("node", nodes, {"cores": cores})]), []
    for _ in range(REPEATS + 1):
        began = time.process_time()
        run = simulate(read_swf(log), platform, policy, allocator="first-fit")
        seconds.append(time.process_time() - began)
        assert not run.violations, run.violations[0].message
    return ReplayTime(median(seconds[1:]), dict(zip(run.workload.ids, run.start.tolist(), strict=True)))


def accasim_python(cache: Path = CACHE) -> Path:
    """The python of an environment with AccaSim, made if it is not there. Raises Unavailable."""
    home = (cache / "accasim").resolve()
    python, ready = home / "bin" / "python", home / ".ready"
    if ready.exists():
        return python
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    (cache / ".gitignore").write_text("*\n")
    try:
        venv.create(home, with_pip=True, symlinks=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", ACCASIM]
        subprocess.run(pip, check=True, capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.CalledProcessError as e:
        said = str(e.stderr or e.stdout or e).strip().splitlines()
        raise Unavailable(f"pip could not install {ACCASIM}: {said[-1] if said else e}") from None
    except (OSError, subprocess.TimeoutExpired) as e:
        raise Unavailable(f"{ACCASIM} could not be installed: {e}") from None
    ready.touch()
    return python


def accasim(
    python: Path, log: Path, nodes: int, cores: int, dispatcher: str, told: Callable[[int], object] = lambda done: None
) -> ReplayTime:
    """One replay by AccaSim; ``told``: how many jobs have ended, now and then. Raises Unavailable."""
    script = Path(__file__).with_name("accasim.py")
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as errors:
        asked = {"log": str(log), "nodes": nodes, "cores": cores, "dispatcher": dispatcher, "folder": folder}
        command, began = [str(python), "-I", str(script), json.dumps(asked)], time.monotonic()
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as child:
            assert child.stdout is not None
            for line in child.stdout:
                news: dict[str, Any] = json.loads(line)
                if "starts" in news:
                    return ReplayTime(news["seconds"], news["starts"])
                told(news["done"])
                if time.monotonic() - began > PATIENCE:
                    child.kill()
                    raise Unavailable(f"it had ended {news['done']:,} jobs after {PATIENCE:g} s, and was stopped")
        errors.seek(0)
        said = errors.read().strip().splitlines()
    raise Unavailable(f"AccaSim failed: {said[-1] if said else f'exit code {child.returncode}'}")


def beside_accasim(console: Console, log: Path) -> None:
    """Table both on machines of 256 processors: nodes of one core, as asked, and one node of them all."""
    submit = dict(zip((w := read_swf(log)).ids, w.submit.tolist(), strict=True))
    table = Table(
        box=box.SIMPLE,
        collapse_padding=True,
        pad_edge=False,
        title=f"{len(submit):,} jobs on {PROCESSORS} processors (asked: a ratio of {ASKED} on {PROCESSORS} nodes)",
    )
    for head in ("dispatcher", "nodes", "AccaSim\njobs/s", "ours\njobs/s", "ratio", "same\nstarts",
                 "AccaSim\nwait s", "ours\nwait s"):  # fmt: skip
        table.add_column(head, no_wrap=True, justify="left" if head == "dispatcher" else "right")
    python, spent = None, 0.0
    with console.status("AccaSim's environment") as status:
        try:
            python = accasim_python()
        except Unavailable as e:
            console.print(f"AccaSim is not measured: {e}", highlight=False, markup=False)
        for nodes, cores in ((PROCESSORS, 1), (1, PROCESSORS)):
            paces = {policy: ours(log, nodes, cores, policy) for policy in ("fcfs", "easy")}
            for name in DISPATCHERS if python else paces:
                what, theirs = f"AccaSim, {name}, {nodes} x {cores}", None

                def told(done: int, what: str = what) -> None:
                    status.update(f"{what}: {done:,} of {len(submit):,} jobs")

                try:
                    theirs = accasim(python, log, nodes, cores, name, told) if python else None
                except Unavailable as e:
                    console.print(f"{what}: {e}", highlight=False, markup=False)
                spent += theirs.seconds if theirs else 0.0
                table.add_row(name, str(nodes), *_compared(theirs, paces[name.split(",")[0]], submit))
    console.print(table)
    if python is not None:
        console.print(
            f"AccaSim's six replays took {spent:.0f} s. {NOTE}", highlight=False, markup=False, soft_wrap=True
        )


def _compared(theirs: ReplayTime | None, mine: ReplayTime, submit: Mapping[str, int]) -> list[str]:
    """The cells of a row: speeds, their ratio, equal starts, mean waits in s."""

    def wait(pace: ReplayTime) -> str:
        return f"{np.mean([pace.starts[job] - at for job, at in submit.items()]):,.0f}"

    speed = f"{len(submit) / mine.seconds:,.0f}"
    if theirs is None:
        return ["-", speed, "-", "-", "-", wait(mine)]
    same = sum(theirs.starts.get(job) == start for job, start in mine.starts.items())
    ratio = f"{theirs.seconds / mine.seconds:.0f}"
    return [f"{len(submit) / theirs.seconds:,.0f}", speed, ratio, f"{same:,}", wait(theirs), wait(mine)]


class Cost(NamedTuple):
    """A command: wall seconds, processor seconds (user and system, its children's too), highest memory of all its
    processes together in MB (what they share counted more than once), exit code."""

    wall: float
    user: float
    system: float
    peak_mb: float
    code: int


def cost_of(command: list[str]) -> Cost:
    """Run a command to its end, its output aside."""
    before, began, peak = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter(), 0.0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        while child.poll() is None:
            peak = max(peak, memory_below(child.pid))
            with suppress(subprocess.TimeoutExpired):
                child.wait(0.1)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    unit = 1024 if sys.platform != "darwin" else 1024**2
    return Cost(
        wall, after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime,
        max(peak, after.ru_maxrss / unit), child.returncode,
    )  # fmt: skip


def memory_below(process: int) -> float:
    """The resident memory in MB of a process and all below it; 0 where /proc does not tell."""
    parent, resident = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it ended meanwhile
            fields = stat.read_text().rpartition(")")[2].split()
            parent[int(stat.parent.name)], resident[int(stat.parent.name)] = int(fields[1]), int(fields[21])
    found, fresh = 0, {process}
    while fresh:
        found += sum(resident.get(p, 0) for p in fresh)
        fresh = {p for p, above in parent.items() if above in fresh}
    return found * os.sysconf("SC_PAGE_SIZE") / 2**20


def whole_curie(console: Console, log: Path = CURIE) -> None:
    """Print what ``bench simulate`` of the full log costs under EASY, from the shell's prompt back to it."""
    if not log.exists():
        console.print(f"the full Curie log: skipped, {log} is missing (run at the root of the repository)")
        return
    with tempfile.TemporaryDirectory() as folder, console.status("the full log of Curie under easy"):
        command = [sys.executable, "-m", "schedlab.bench.cli.app", "simulate", str(log), "--dispatchers", "easy"]
        spent = cost_of([*command, "--nodes", str(CURIE_NODES), "--cores", "1", "--out", folder])
        records = [json.loads(p.read_text()) for p in Path(folder).glob("*.json")]
    if spent.code or not records:
        console.print(f"the full Curie log: bench simulate failed with exit code {spent.code}")
        return
    jobs, replay = records[0]["simulation"]["jobs"], records[0]["seconds"]["total"]
    console.print(
        f"bench simulate, the full Curie log under easy: {spent.wall:.1f} s (asked: {CURIE_SECONDS} s), of it the replay "
        f"{replay:.1f} s;\n  {jobs:,} jobs, {CURIE_NODES:,} processors, {spent.user:.1f} s user + {spent.system:.1f} s "
        f"system, peak {spent.peak_mb:.0f} MB (asked: {CURIE_MB} MB)",
        highlight=False,
        soft_wrap=True,
    )


def main() -> None:
    """Print the figures beside what is asked for."""
    console = Console()
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log.swf")
        write_trace(log)
        beside_accasim(console, log)
    whole_curie(console)


if __name__ == "__main__":
    main()
