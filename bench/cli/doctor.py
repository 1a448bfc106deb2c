"""``bench doctor``: the solvers of this machine (each solves a tiny problem), its cores and memory, and known traps."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.text import Text

from ...backends import Availability, available
from ...backends.base import BACKENDS
from ...models.plugins import described
from ...models.registry import Registry
from ...models.words import how_many
from ..runs.executors import EXECUTORS
from ..runs.process import UNREADABLE, cores, is_memory_readable, machine_memory
from ..terminal import console_for

TINY = """
import sys, schedlab as sl
m = sl.Model("tiny"); a = m.interval("a", size=3); b = m.interval("b", size=4)
m.add(sl.no_overlap([a, b])); m.minimize(sl.max([a.end, b.end]))
r = sl.solve(m, backend=sys.argv[1], time_limit=20, threads=1)
print(f"answer {r.status} {r.objective} {r.seconds:.2f} {r.message}")
"""
EDITION = """
import schedlab as sl
def fits(n):
    m = sl.Model("n"); m.add(sl.no_overlap([m.interval(f"v{i}", size=1, start=(0, 10 * n)) for i in range(n)]))
    return sl.solve(m, backend="cpo", time_limit=10, threads=1).status != "unavailable"
lo, hi = 1, 1024
if fits(hi):
    print("answer unlimited")
else:
    while hi - lo > 1:
        mid = (lo + hi) // 2
        lo, hi = (mid, hi) if fits(mid) else (lo, mid)
    print("answer", lo)
"""
CHECK_TIMEOUT = 90  # seconds for one check
DISTRIBUTIONS = ("schedlab", "ortools", "highspy", "docplex", "cplex", "pyomo", "numpy", "numba", "networkx", "pandas")


def doctor() -> None:
    """Check which solvers work on this machine, in which version.

    Also checks the dispatchers and heuristics of other installed packages, and prints cores, memory and every known trap that
    is found. Exit code 1 if an installed solver, dispatcher or heuristic does not work.

    Example: bench doctor
    """
    raise typer.Exit(0 if examine(console_for()) else 1)


def examine(console: Console) -> bool:
    """Print the findings. Return False if an installed backend, dispatcher or heuristic does not work."""
    from ...models.compiling import cache as prebuilt

    console.print(f"python {platform.python_version()} on {platform.system()} {platform.machine()}")
    console.print(f"cores {cores()}, memory {_gigabytes()}")
    console.print("packages: " + ", ".join(f"{d} {_version(d)}" for d in DISTRIBUTIONS))
    console.print(f"kernels: {prebuilt.described()}", soft_wrap=True)
    healthy = True
    for name, here in available().items():
        good, text = _solver(name, here)
        healthy = healthy and (good or not here.ok)
        if good:
            state = Text("ok       ", style="green")
        elif here.ok:
            state = Text("broken   ", style="red")
        else:
            state = Text("missing  ", style="yellow")
        console.print(state, end="")
        console.print(f"{name}: {text}", soft_wrap=True)
    for fault, text in third_parties():
        healthy = healthy and not fault
        console.print(Text("broken   " if fault else "ok       ", style="red" if fault else "green"), end="")
        console.print(text, soft_wrap=True)
    for trap in traps():
        console.print(Text("trap     ", style="yellow"), end="")
        console.print(trap, soft_wrap=True)
    return healthy


def registries() -> list[Registry[Any]]:
    """Return the registries of all parts that texts name, backends first."""
    from ...heuristics import HEURISTICS
    from ...instances.traces import FORMATS
    from ...models.dispatch.objectives import REGISTRY as OBJECTIVES
    from ...models.kind import FORMULATIONS, KINDS
    from ...simulation.dispatchers.policy import ALLOCATORS
    from ...simulation.dispatchers.registry import DISPATCHERS
    from ...simulation.forecasts import FORECASTS
    from ...simulation.node_policies import NODE_POLICIES
    from ...simulation.predictors import PREDICTORS
    from ...simulation.preemption import CHECKPOINTS, EVICTORS, REQUEUE_RULES
    from ...simulation.rankers import RANKERS
    from ...simulation.settings import FEATURES
    from ...simulation.users import USERS

    return [
        BACKENDS, HEURISTICS, KINDS, FORMULATIONS, OBJECTIVES, FORMATS, EXECUTORS,
        DISPATCHERS, RANKERS, PREDICTORS, ALLOCATORS, NODE_POLICIES, FORECASTS, USERS, EVICTORS, CHECKPOINTS, REQUEUE_RULES,
        FEATURES,
    ]  # fmt: skip


def third_parties() -> Iterator[tuple[bool, str]]:
    """Yield for each part of a third party, backends apart, whether it is faulty, and a text about it."""
    from ...errors import SchedlabError
    from ...models.kind import FORMULATIONS, KINDS, fault_of_registered, find, is_kept_by_kind

    for registry in registries():
        for name in () if registry is BACKENDS else registry.third_parties:
            if registry is FORMULATIONS and is_kept_by_kind(name):
                continue  # it is ignored, which is a trap
            if registry is FORMULATIONS and (fault := fault_of_registered(name)):
                yield True, f"{registry.label(name)}: {fault}"
                continue
            try:
                if registry is KINDS:
                    find(name)
                else:
                    if registry.parts:
                        _ = registry.make(name)
                    else:
                        _ = registry[name]
                yield False, registry.label(name)
            except SchedlabError as e:
                label = registry.label(name)
                yield True, str(e) if str(e).startswith(label) else f"{label}: {e}"


def _solver(name: str, here: Availability) -> tuple[bool, str]:
    if not here.ok:
        return False, here.reason
    answer = _ask(TINY, name)
    if not answer.startswith("answer optimal 7"):
        return False, f"{here.version}, but it fails on a problem of two jobs: {answer}"
    text = f"{here.version}, solves a problem of two jobs in {answer.split()[3]} s"
    return True, text + (f"; {_edition()}" if name == "cpo" else "")


def _edition() -> str:
    """Return the size limit of the installed edition of CP Optimizer, found by trials."""
    most = _ask(EDITION).removeprefix("answer ").strip()
    if most == "unlimited":
        return "edition without a size limit"
    if not most.isdigit():
        return f"its size limit could not be measured: {most}"
    return (
        f"community edition: at most {how_many(int(most), 'interval')} on one machine; larger models end as unavailable"
    )


def excluded_versions() -> Iterator[str]:
    """Yield for each installed package of a version that schedlab excludes, such as "!=1.14.*", what to do."""
    if _version("schedlab") == "-":  # it runs from a folder that is not installed
        return
    for requirement in requires("schedlab") or ():
        stated, _, condition = requirement.partition(";")
        package = re.split(r"[<>=!~ ]", stated)[0]
        wrong = [f"{number}." for number in re.findall(r"!=\s*([\d.]+)\.\*", stated)]
        if not condition and _version(package).startswith(tuple(wrong)):
            yield f"{package} {_version(package)} gives wrong answers or none: pip install --upgrade {package}"


def traps() -> Iterator[str]:
    """Yield the known traps that are found on this machine, each with its remedy."""
    yield from excluded_versions()
    ortools_first = _ask("import ortools.sat.python.cp_model, highspy; print('answer')")
    highs_first = _ask("import highspy, ortools.sat.python.cp_model; print('answer')")
    failed = [answer for answer in (ortools_first, highs_first) if not answer.startswith("answer")]
    if failed:
        yield f"ortools and highspy cannot be imported into one process ({failed[0]}); pip install --upgrade highspy ortools"
    if _version("docplex") != "-" and not _ask("import docplex.cp.model, pyomo.environ; print('answer')").startswith(
        "a"
    ):
        yield "pyomo.environ cannot be imported after docplex.cp: import pyomo.environ first in your scripts"
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        if os.environ.get(name) == "1":
            yield f"{name}=1 is set (Dask and joblib set it in their child processes): solvers may run on one thread; unset it"
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        yield "NUMBA_DISABLE_JIT is set: the heuristics run uncompiled, a hundred times slower; unset it"
    if cores() == 1:
        yield "only one core: CP-SAT runs without its portfolio of searches; do not compare results with those of more cores"
    if (quota := _quota()) is not None and quota < cores() - 0.01:
        yield f"the container is limited to {how_many(quota, 'core', 'g')}, but {cores()} are visible: use --threads {max(1, int(quota))}"
    from ...models.compiling.cache import installed

    own = os.environ.get("NUMBA_CACHE_DIR") is None and installed() is None
    if own and not _writable(Path(__file__).parents[2] / "heuristics"):
        yield "the folder heuristics is not writable: set NUMBA_CACHE_DIR, else the kernels are compiled again in every run"
    yield from ignored()
    if not is_memory_readable():
        yield UNREADABLE


def ignored() -> Iterator[str]:
    """Yield for each part of a third party that has the name of one of schedlab, or of its kind, that it is ignored."""
    from ...models.kind import FORMULATIONS, is_kept_by_kind

    for registry in registries():
        for entry in registry.ignored:
            yield f"the {registry.what} {described(entry)} is ignored: another one has this name"
    for name, entry in FORMULATIONS.third_parties.items():
        if is_kept_by_kind(name):
            yield f"the formulation {described(entry)} is ignored: the kind has one of this name"


def _quota() -> float | None:
    """Return the number of cores that the quota of a container (cgroup v2) allows, None without a quota."""
    try:
        most, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        if most == "max":
            return None
        return int(most) / int(period)
    except (OSError, ValueError):
        return None


def _writable(folder: Path) -> bool:
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _ask(script: str, *arguments: str) -> str:
    """Run a script in a new Python process. Return the last line that it prints, or how it ended."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", script, *arguments], capture_output=True, text=True, timeout=CHECK_TIMEOUT
        )
    except subprocess.TimeoutExpired:
        return f"no answer within {CHECK_TIMEOUT} s"
    lines = (done.stdout if done.returncode == 0 else done.stderr or done.stdout).strip().splitlines()
    answers = [line for line in lines if line.startswith("answer")] or lines
    if answers:
        return answers[-1]
    return f"exit code {done.returncode}"


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "-"


def _gigabytes() -> str:
    memory = machine_memory()
    if memory is None:
        return "unknown"
    return f"{memory / 2**30:.1f} GB"
