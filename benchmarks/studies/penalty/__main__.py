"""``python -m benchmarks.studies.penalty --seeds 1-4``: table 3 and figure 1 of [Rocchetti2015] with our values."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from schedlab.bench.pages.figures import grouped_bars
from schedlab.bench.pages.panels import Groups, side_by_side
from schedlab.bench.runs.selection import parse_seeds
from schedlab.instances.files.writing import write_whole
from schedlab.simulation import check_dispatcher

from ..run import run_study
from .replays import JOBS, SCENARIOS, WAIT, Waits, found_load, replay, workload
from .tables import CLASS_HEADS, TABLE_3, of_users, tables

DRAWN = ("cf", "cfg", "di", "hdi")


def main(arguments: Sequence[str] | None = None) -> int:
    """Replay the scenarios, print the tables, draw the figure if a file is given; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.studies.penalty", description=__doc__)
    parser.add_argument("--seeds", default="1-4", help="seeds of the workloads: 1-4 or 1,3 (default: 1-4)")
    parser.add_argument("--load", type=float, help="offered load; default: for each seed that of the mean wait")
    parser.add_argument(
        "--wait",
        type=float,
        default=WAIT / 60,
        help="mean wait per user under EASY with users ge, minutes (default: 800)",
    )
    parser.add_argument("--jobs", type=int, default=JOBS, help=f"jobs of a workload (default: {JOBS})")
    parser.add_argument("--dispatchers", default="psp,easy", help="the first one is compared with the paper")
    parser.add_argument("--figure", help="SVG file for figure 1")
    options = parser.parse_args(arguments)
    return run_study(_study, options)


def _study(options: argparse.Namespace, console: Console) -> None:
    dispatchers = [name.strip() for name in options.dispatchers.split(",")]
    for name in dispatchers:
        check_dispatcher(name)
    results: dict[str, dict[str, list[Waits]]] = {s: {name: [] for name in dispatchers} for s in SCENARIOS}
    for seed in parse_seeds(options.seeds):
        load = options.load or found_load(seed, 60 * options.wait, options.jobs)
        instance = workload(seed, load, options.jobs)
        console.print(f"seed {seed}: offered load {load:g}")
        for scenario in SCENARIOS:
            for name, waits in zip(dispatchers, replay(instance, seed, scenario, dispatchers), strict=True):
                results[scenario][name].append(waits)
    for grid in tables(results, dispatchers):
        console.print()
        console.print(grid)
        console.print(grid.meaning, style="dim")
    if options.figure:
        ours = {scenario: of_users(results[scenario][dispatchers[0]]) for scenario in DRAWN}
        theirs = {scenario: TABLE_3[scenario] for scenario in DRAWN}
        charts: list[tuple[str, Groups]] = [("ours", ours), ("[Rocchetti2015]", theirs)]
        panels = [(title, grouped_bars(bars, CLASS_HEADS, "mean wait per user, minutes")) for title, bars in charts]
        write_whole(Path(options.figure), side_by_side(panels))
        console.print(f"drawn: {options.figure}")


if __name__ == "__main__":
    sys.exit(main())
