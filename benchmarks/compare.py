"""Replays of two versions of the package, in turns: ``python -m benchmarks.compare OTHER/.venv/bin/python [NAME...]``.

The interpreter is of an environment with the other version. Each process measures with the files of this folder; times are
processor seconds. Names are those of ``benchmarks.replays``.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from statistics import median

from rich import box
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parents[1]
Seconds = dict[str, list[float]]


def measured(python: str, names: list[str]) -> Seconds:
    """Return the seconds of each benchmark/point in a process of its own."""
    command = [python, "-m", "benchmarks.replays", "--json", *names]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{python} failed: {done.stderr.strip()[-1000:]}")
    seconds: Seconds = json.loads(done.stdout.splitlines()[-1])
    return seconds


def main() -> None:
    """Print the least times of both versions, and the ratios of the least and of the median times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("python", help="the interpreter of the other version")
    parser.add_argument("names", nargs="*", help="benchmarks; default: all")
    parser.add_argument("--rounds", type=int, default=3, help="how often each version is measured (default: 3)")
    options = parser.parse_args()
    other = defaultdict[str, list[float]](list)
    this = defaultdict[str, list[float]](list)
    for _ in range(options.rounds):
        for python, seconds in ((options.python, other), (sys.executable, this)):
            for point, times in measured(python, options.names).items():
                seconds[point] += times
    shown = Table("replay", "other, s", "this, s", "least / least", "median / median", box=box.SIMPLE)
    for point in this:
        least = min(this[point]) / min(other[point])
        middle = median(this[point]) / median(other[point])
        shown.add_row(point, f"{min(other[point]):.4f}", f"{min(this[point]):.4f}", f"{least:.2f}", f"{middle:.2f}")
    Console().print(shown)


if __name__ == "__main__":
    main()
