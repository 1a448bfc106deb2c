"""``python -m benchmarks.studies.evictions LOG... --nodes 4360``: on-demand jobs in batch logs under several evictors."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from schedlab.bench.runs.selection import parse_seeds
from schedlab.instances import open_trace
from schedlab.simulation import evictor_of

from ..run import run_study
from .replays import EVICTORS, METHODS, result_of
from .tables import differences, methods_table, totals


def main(arguments: Sequence[str] | None = None) -> int:
    """Replay the logs, print the tables, and return the exit code; results that are in the folder are read."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.studies.evictions", description=__doc__)
    parser.add_argument("logs", nargs="+", help="logs whose job units are nodes")
    parser.add_argument("--nodes", type=int, required=True, help="nodes of the machine")
    parser.add_argument("--seeds", default="1-10", help="seeds of the on-demand jobs (default: 1-10)")
    parser.add_argument("--rate", type=float, default=4.0, help="on-demand jobs a day (default: 4)")
    parser.add_argument("--evictors", default=",".join(EVICTORS), help=f"default: {','.join(EVICTORS)}")
    parser.add_argument(
        "--solvers", default="", help="methods compared on the problems of the first seed: cpsat:serial,..."
    )
    parser.add_argument("--first", type=int, help="only the first jobs of each log")
    parser.add_argument("--out", default="results/evictions", help="folder of the results (default: results/evictions)")
    options = parser.parse_args(arguments)
    return run_study(_study, options)


def _study(options: argparse.Namespace, console: Console) -> None:
    evictors = [name.strip() for name in options.evictors.split(",")]
    solvers = [name.strip() for name in options.solvers.split(",") if name.strip()]
    for name in [*evictors, *solvers]:
        evictor_of(name)
    logs = [open_trace(path, nodes=options.nodes, cores=1, first=options.first) for path in options.logs]
    seeds = parse_seeds(options.seeds)
    results: list[dict[str, Any]] = []
    for seed in seeds:
        methods = [*METHODS, *(solvers if seed == seeds[0] else ())]
        for log, platform in logs:
            for evictor in evictors:
                result = result_of(Path(options.out), log, platform, seed, evictor, methods, options.rate)
                results.append(result)
                for message in result["violations"]:
                    console.print(f"{log.name}, seed {seed}, {evictor}: {message}", style="bold red", markup=False)
    for grid in (totals(results, evictors), differences(results, evictors), methods_table(results)):
        console.print()
        console.print(grid)
        console.print(grid.meaning, style="dim")


if __name__ == "__main__":
    sys.exit(main())
