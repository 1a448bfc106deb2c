"""PyJobShop beside schedlab: how many files of three classes each proves in a time limit, and in which time.

Both solve with CP-SAT of OR-Tools in one environment, each file in a process of its own; the time is that of the process,
imports and reading included; what is done once after an installation (byte code, compiled kernels) is done before. A file that
is not proved counts with the time limit. The environment is made once under ``.cache``, with PyJobShop and what schedlab needs,
or ``--python`` names one that has both. The files are those of the folder ``--data``::

    python -m benchmarks.beside_pyjobshop --files 10 --seconds 30 --threads 1
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import requires
from pathlib import Path

from .environments import Unavailable, python_with

PACKAGE = "pyjobshop==0.0.9"
SCRIPT = Path(__file__).with_name("solve_one_shop.py")
CLASSES = {"jsp": ("jsp", "*.txt"), "fjsp": ("fjsp", "*.txt"), "rcpsp": ("rcpsp_psplib", "*/*.sm")}
PACKAGES = ("pyjobshop", "schedlab")
FIRST = 1.0  # time limit in seconds of the first, unmeasured run of each class
GRACE = 120.0  # seconds after the time limit at which a process is ended


@dataclass(frozen=True)
class Run:
    """One file, solved by one package: its class, the process time in seconds, the objective, and whether it is proved."""

    kind: str
    file: str
    package: str
    seconds: float
    objective: float | None
    proved: bool


def as_flexible(text: str) -> str:
    """Return a job shop in the format of flexible job shops: each operation has one machine, counted from 1.

    Examples
    --------
    >>> as_flexible(chr(10).join(["1 2", "0 5 1 3"])).splitlines()
    ['1 2 1', '2 1 1 5 1 2 3']
    """
    rows = [[int(word) for word in line.split()] for line in text.splitlines() if line[:1].isdigit() or line[:1] == " "]
    rows = [row for row in rows if row]
    (jobs, machines), *lines = rows
    out = [f"{jobs} {machines} 1"]
    for row in lines[:jobs]:
        steps = list(zip(row[::2], row[1::2], strict=True))
        out.append(" ".join([str(len(steps)), *(f"1 {machine + 1} {time}" for machine, time in steps)]))
    return "\n".join(out) + "\n"


def chosen(data: Path, kind: str, count: int) -> list[Path]:
    """Return files of a class, spread evenly over all in the order of their names."""
    folder, pattern = CLASSES[kind]
    found = sorted(p for p in (data / folder).glob(pattern) if not p.name.startswith("SOURCE"))
    if len(found) <= count:
        return found
    return [found[k * len(found) // count] for k in range(count)]


def run(python: Path, package: str, kind: str, file: Path, seconds: float, threads: int, ours: Path) -> Run:
    """Solve a file in a new process; ``ours``: a folder with schedlab, for a Python without it."""
    given = {"package": package, "kind": kind, "file": str(file), "seconds": seconds, "threads": threads}
    start = time.perf_counter()
    objective, proved = None, False
    try:
        command = [str(python), str(SCRIPT), json.dumps(given)]
        environment = {**os.environ, "PYTHONPATH": str(ours), "PYTHONDONTWRITEBYTECODE": ""}
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=seconds + GRACE, env=environment
        )
        said = json.loads(done.stdout.splitlines()[-1])
        objective, proved = said["objective"], bool(said["proved"])
    except subprocess.CalledProcessError as e:
        print(f"{package} failed on {file.name}: {(e.stderr or '').strip().splitlines()[-1:]}", file=sys.stderr)
    except subprocess.TimeoutExpired:
        print(f"{package} did not end on {file.name}", file=sys.stderr)
    return Run(kind, file.name, package, time.perf_counter() - start, objective, proved)


def geometric_mean(seconds: Iterable[float]) -> float:
    """Return the geometric mean of positive numbers."""
    logs = [math.log(s) for s in seconds]
    return math.exp(sum(logs) / len(logs))


def summary(runs: Sequence[Run], limit: float) -> list[list[str]]:
    """Return a row for each class: its files, what each package has proved, and its mean time in seconds."""
    rows = [["class", "files", *(f"proved by {p}" for p in PACKAGES), *(f"mean time of {p}, s" for p in PACKAGES)]]
    for kind in dict.fromkeys(r.kind for r in runs):
        of = {p: [r for r in runs if r.kind == kind and r.package == p] for p in PACKAGES}
        proved = [str(sum(r.proved for r in of[p])) for p in PACKAGES]
        means = [geometric_mean(r.seconds if r.proved else max(limit, r.seconds) for r in of[p]) for p in PACKAGES]
        rows.append([kind, str(len(of[PACKAGES[0]])), *proved, *(f"{mean:.1f}" for mean in means)])
    return rows


def printed(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as columns of text."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return "\n".join("  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True)) for row in rows)


def compare(
    python: Path, data: Path, count: int, seconds: float, threads: int, tell: Callable[[str], None]
) -> list[Run]:
    """Solve the files of all classes with both packages, one process after the other, in one environment.

    What OR-Tools imports is part of the times, and depends on the environment: pyarrow, where it is installed, takes 0.1 s.
    """
    runs = []
    used: set[tuple[str, str]] = set()
    with tempfile.TemporaryDirectory() as folder:
        ours = Path(folder) / "packages"
        ours.mkdir()
        (ours / "schedlab").symlink_to(Path(__file__).resolve().parents[1], target_is_directory=True)
        for kind in CLASSES:
            for file in chosen(data, kind, count):
                flexible = Path(folder) / file.name
                if kind == "jsp":
                    flexible.write_text(as_flexible(file.read_text(encoding="utf-8")), encoding="utf-8")
                for package in PACKAGES:
                    given = flexible if kind == "jsp" and package == "pyjobshop" else file
                    if (kind, package) not in used:
                        run(python, package, kind, given, FIRST, threads, ours)
                        used.add((kind, package))
                    one = run(python, package, kind, given, seconds, threads, ours)
                    said = "proved" if one.proved else "not proved"
                    tell(f"{kind} {file.name} {package}: {one.objective} {said}, {one.seconds:.1f} s")
                    runs.append(one)
    return runs


def main() -> int:
    """Print each run and a table."""
    parser = argparse.ArgumentParser(description="PyJobShop beside schedlab")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--files", type=int, default=10, help="files of each class")
    parser.add_argument("--seconds", type=float, default=30.0, help="time limit of a file")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument(
        "--python", type=Path, help="the Python of an environment with pyjobshop and what schedlab needs"
    )
    options = parser.parse_args()
    if not options.data.is_dir():
        parser.error(f"there is no folder {options.data}")
    try:
        needed = [text for text in requires("schedlab") or () if "extra ==" not in text]
        python = options.python or python_with(PACKAGE, others=needed)
    except Unavailable as e:
        parser.error(str(e))
    runs = compare(python, options.data, options.files, options.seconds, options.threads, print)
    print(printed(summary(runs, options.seconds)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
