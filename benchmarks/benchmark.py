"""A benchmark is a name, a function that builds what is timed, and the points of a sweep; the commands of its modules.

Times are processor seconds of this process, without what is compiled at the first call. The points of a sweep are timed
in turns, so that a disturbance of the machine affects all of them.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from rich import box
from rich.console import Console
from rich.table import Table


@dataclass(frozen=True)
class Case:
    """What is timed at one point of a sweep.

    Parameters
    ----------
    run
        The call.
    jobs
        How many jobs it handles.
    most
        The target: at most this many seconds.
    """

    run: Callable[[], object]
    jobs: int
    most: float | None = None


@dataclass(frozen=True)
class Benchmark:
    """A benchmark.

    Parameters
    ----------
    name
        What is measured.
    build
        Returns the case of a point.
    sweep
        The points, such as dispatchers.
    data
        A file that is not part of the project; without it the benchmark is left out.
    repeats
        How often each point is timed.
    """

    name: str
    build: Callable[[str], Case]
    sweep: Sequence[str]
    data: Path | None = None
    repeats: int = 5

    def cases(self) -> dict[str, Case]:
        """Return the case of each point, all of them compiled."""
        cases = {point: self.build(point) for point in self.sweep}
        for case in cases.values():
            case.run()
        return cases

    def seconds(self, cases: Mapping[str, Case]) -> dict[str, list[float]]:
        """Return the processor seconds of all repeats of each point."""
        seconds: dict[str, list[float]] = {point: [] for point in cases}
        for _ in range(self.repeats):
            for point, case in cases.items():
                began = time.process_time()
                case.run()
                seconds[point].append(time.process_time() - began)
        return seconds


def table(benchmark: Benchmark, cases: Mapping[str, Case], seconds: Mapping[str, Sequence[float]]) -> Table:
    """Return the table of a benchmark: the least and the median time, and jobs per second of the least."""
    shown = Table(benchmark.name, "least s", "median s", "jobs/s", "target: at most s", box=box.SIMPLE)
    for column in shown.columns[1:]:
        column.justify = "right"
    for point, case in cases.items():
        least = min(seconds[point])
        target = "-" if case.most is None else f"{case.most:.3g}"
        shown.add_row(point, f"{least:.4f}", f"{median(seconds[point]):.4f}", f"{case.jobs / least:,.0f}", target)
    return shown


def without_arguments(description: str | None) -> None:
    """Read the command line of a module that takes no arguments: ``--help`` prints the description and ends the program."""
    form = argparse.RawDescriptionHelpFormatter
    argparse.ArgumentParser(description=description, formatter_class=form).parse_args()


def main(benchmarks: Sequence[Benchmark], arguments: Sequence[str] | None = None) -> None:
    """Print the measurements of the named benchmarks, or of all; with ``--json`` their seconds as one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help=f"some of: {', '.join(b.name for b in benchmarks)}; default: all")
    parser.add_argument("--json", action="store_true", help="the seconds by benchmark/point, as JSON")
    options = parser.parse_args(arguments)
    unknown = set(options.names) - {b.name for b in benchmarks}
    if unknown:
        parser.error(f"there is no benchmark {', '.join(sorted(unknown))}")
    console = Console()
    everything = dict[str, list[float]]()
    for benchmark in benchmarks:
        if options.names and benchmark.name not in options.names:
            continue
        if benchmark.data is not None and not benchmark.data.exists():
            if not options.json:
                console.print(f"{benchmark.name}: not measured, as {benchmark.data} is missing", highlight=False)
            continue
        cases = benchmark.cases()
        seconds = benchmark.seconds(cases)
        everything |= {f"{benchmark.name}/{point}": times for point, times in seconds.items()}
        if not options.json:
            console.print(table(benchmark, cases, seconds))
    if options.json:
        print(json.dumps(everything))
