"""``python -m benchmarks.studies.hybrid low medium high``: table 7.1 and figures 7.2 to 7.4 of [Bridi2018] with our values."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from schedlab.bench.errors import STOPPED, WRONG, WrongUse
from schedlab.bench.grid import Grid
from schedlab.bench.pages.panels import side_by_side
from schedlab.bench.terminal import console_for
from schedlab.errors import SchedlabError
from schedlab.instances import Instance, load
from schedlab.instances.files.writing import write_whole
from schedlab.simulation import check_dispatcher

from .bound import bound_of
from .pictures import means, over_time, profits
from .replays import RULES, SCENARIOS, Variant, results_of
from .tables import Result, bounds_table, tables

VARIANTS = ("hybrid:100", "hybrid:70", "hybrid:50")


def main(arguments: Sequence[str] | None = None) -> int:
    """Replay the traces, print the tables, draw the figures, and return the exit code (130: Ctrl-C); results in the folder are read."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.studies.hybrid", description=__doc__)
    parser.add_argument("traces", nargs="+", help="profit instances, such as folders of bench import curie")
    parser.add_argument(
        "--variants", default=",".join(VARIANTS), help="DISPATCHER[/NODE_POLICY],...: hybrid:70,easy/idle:30min"
    )
    parser.add_argument("--rules", default=",".join(RULES), help="the rules, of which the best one is compared with")
    parser.add_argument("--scenarios", default=";".join(SCENARIOS), help="separated by semicolons; default: four")
    parser.add_argument("--seed", type=int, default=0, help="seed of the replays (default: 0)")
    parser.add_argument(
        "--deterministic", type=float, help="limit of a decision with a solver, in its deterministic units"
    )
    parser.add_argument("--out", default="results/hybrid", help="folder of the results (default: results/hybrid)")
    parser.add_argument("--bound", action="store_true", help="also a bound on every schedule's profit")
    parser.add_argument("--draw", action="store_true", help="draw the figures in the folder of the results")
    options = parser.parse_args(arguments)
    try:
        _study(options, console_for())
    except (SchedlabError, OSError) as e:
        console_for(stderr=True).print(f"error: {e}", markup=False, highlight=False, soft_wrap=True)
        return WRONG
    except KeyboardInterrupt:
        console_for(stderr=True).print("\nstopped; the same command makes what is missing", soft_wrap=True)
        return STOPPED
    return 0


def _study(options: argparse.Namespace, console: Console) -> None:
    variants = [Variant.parse(text.strip()) for text in options.variants.split(",") if text.strip()]
    rules = [Variant(name.strip(), None) for name in options.rules.split(",") if name.strip()]
    for variant in (*rules, *variants):
        check_dispatcher(variant.dispatcher)
    scenarios = [text.strip() for text in options.scenarios.split(";")]
    wrong = [s for s in scenarios if s not in SCENARIOS]
    if wrong:
        raise WrongUse(f"--scenarios {wrong[0]}: expected some of {'; '.join(SCENARIOS)}")
    instances = [_instance(path) for path in options.traces]
    results: dict[str, dict[str, dict[str, Result]]] = {i.name: {} for i in instances}
    for instance in instances:
        for variant in (*rules, *variants):
            of_trace = results_of(Path(options.out), instance, variant, scenarios, options.seed, options.deterministic)
            results[instance.name][variant.text] = of_trace
            faults: list[str] = next((r["violations"] for r in of_trace.values() if r["violations"]), [])
            console.print(f"{instance.name} {variant.text}: done", markup=False, highlight=False)
            for message in faults:
                console.print(f"{instance.name} {variant.text}: {message}", style="bold red", markup=False)
    names = [v.text for v in variants]
    for grid in tables(results, names):
        console.print()
        console.print(grid)
        console.print(grid.meaning, style="dim")
    if options.bound:
        grid = _bounds(instances, results, scenarios)
        console.print()
        console.print(grid)
        console.print(grid.meaning, style="dim")
    if options.draw:
        _draw(options, console, instances, results, names, scenarios)


def _bounds(
    instances: Sequence[Instance],
    results: dict[str, dict[str, dict[str, Result]]],
    scenarios: Sequence[str],
) -> Grid:
    """Return the table of the bounds, over all schedules that end when the latest of the replays does."""
    bounds: dict[str, dict[str, float]] = {}
    for i in instances:
        first = min(j.submit for j in i.jobs)
        longest = max(r["makespan"] for of in results[i.name].values() for r in of.values())
        bounds[i.name] = {s: bound_of(i, s, first + longest) for s in scenarios}
    return bounds_table(results, bounds)


def _instance(path: str) -> Instance:
    instance = load(path)
    if not instance.scenarios or instance.path is None:
        raise WrongUse(f"{path}: expected a profit instance with scenarios, such as a folder of bench import curie")
    return instance


def _draw(
    options: argparse.Namespace,
    console: Console,
    instances: Sequence[Instance],
    results: dict[str, dict[str, dict[str, Result]]],
    names: Sequence[str],
    scenarios: Sequence[str],
) -> None:
    """Write the figures."""
    charts = {
        "figure-7.2.svg": [("profit over the best rule", profits(results, names, scenarios))],
        "figures-7.3-7.4.svg": [("makespan and overhead", means(results, names, scenarios))],
    }
    for instance in instances:
        for name in names:
            for scenario in scenarios:
                result = results[instance.name][name][scenario]
                if result["plans"]:
                    file = f"{instance.name}-{name}-{scenario}.svg".replace(":", "_").replace(",", "-")
                    charts[file] = [(f"{instance.name}, {name}, {scenario}", over_time(instance, scenario, result))]
    for file, pairs in charts.items():
        write_whole(Path(options.out) / file, side_by_side(pairs))
        console.print(f"drawn: {Path(options.out) / file}", soft_wrap=True)


if __name__ == "__main__":
    sys.exit(main())
