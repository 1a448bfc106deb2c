"""The parts of the large-neighbourhood search, one left out at a time, on generated days: ``python -m benchmarks.studies.ablation``.

Time is processor time of one thread, so that other programs on the machine hardly matter. The settings of the search were
chosen on days of other seeds than 101 to 110.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from multiprocessing import get_context
from statistics import fmean
from typing import cast

from rich.console import Console
from schedlab.bench.replays.carry_out import paired
from schedlab.heuristics.arrays import arrays
from schedlab.heuristics.lns import (
    AroundTime,
    ConsecutiveStarts,
    KeyChanges,
    Operator,
    OrderMoves,
    Progress,
    RoomForWaiting,
    RuinAndRecreate,
    SimulatedAnnealing,
    usual_selection,
)
from schedlab.heuristics.lns.search import lns
from schedlab.instances import generators
from schedlab.models.words import how_many

from .run import run_study

DEFAULT = "keys, moves, ruin (the default)"
VARIANTS: Mapping[str, Callable[[], tuple[Operator, ...]]] = {
    DEFAULT: lambda: (KeyChanges(), OrderMoves(), RuinAndRecreate()),
    "without keys": lambda: (OrderMoves(), RuinAndRecreate()),
    "without moves": lambda: (KeyChanges(), RuinAndRecreate()),
    "without ruin": lambda: (KeyChanges(), OrderMoves()),
    "ruin removes jobs around idle times, 2 to 11 and up to 6 waiting ones": lambda: (
        KeyChanges(),
        OrderMoves(),
        RuinAndRecreate(
            destroy=[
                AroundTime(jobs=(2, 10), waiting=(1, 6)),
                ConsecutiveStarts(jobs=(3, 12), waiting=(0, 6)),
                RoomForWaiting(),
            ]
        ),
    ),
    "ruin removes up to 32 jobs and 12 waiting jobs": lambda: (
        KeyChanges(),
        OrderMoves(),
        RuinAndRecreate(destroy=[AroundTime(), ConsecutiveStarts(), RoomForWaiting()]),
    ),
    "ruin accepts as in simulated annealing": lambda: (
        KeyChanges(),
        OrderMoves(),
        RuinAndRecreate(acceptance=SimulatedAnnealing(4e-4, 3e-5), restart=0.05),
    ),
}
"""Operators by what differs from the default."""


class ProcessorSeconds:
    """A stopping criterion: this number of seconds of processor time after it was made."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.began = time.process_time()

    def over(self, progress: Progress) -> float:
        """Return the share of the processor time that is over."""
        return (time.process_time() - self.began) / self.seconds


def objectives(day: int, seconds: float, jobs: int = 700) -> dict[str, float]:
    """Return the objective of each variant on a day.

    Parameters
    ----------
    day : int
        Seed of the day, and of the searches.
    seconds : float
        Processor time of each search in seconds.
    jobs : int
        Jobs of the day.
    """
    problem = generators["eurora"](jobs, seed=day).dispatch
    lns(problem, rounds=6)  # compiles
    values = {}
    for name, operators in VARIANTS.items():
        chosen = operators()
        selection = usual_selection(arrays(problem), chosen, timed=True)
        result = lns(problem, seed=day, stopping=ProcessorSeconds(seconds), selection=selection, operators=chosen)
        values[name] = float(cast(float, result.objective))
    return values


def study(options: argparse.Namespace, console: Console) -> None:
    """Print the table."""
    days = range(options.first, options.first + options.days)
    with ProcessPoolExecutor(options.processes, mp_context=get_context("spawn")) as pool:
        results = list(pool.map(objectives, days, repeat(options.seconds), repeat(options.jobs)))
    console.print(
        f"{how_many(options.days, 'day')} of {how_many(options.jobs, 'job')}, {options.seconds:g} s of processor time each"
    )
    default = [one[DEFAULT] for one in results]
    for name in VARIANTS:
        values = [one[name] for one in results]
        than = paired(default, values)
        half = "" if than.half is None else f" +- {than.half:.1f}"
        worse = "" if name == DEFAULT else f", worse than the default by {than.mean:.1f}{half}"
        console.print(f"{fmean(values):9.1f}  {name}{worse}", soft_wrap=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.studies.ablation", description=__doc__)
    parser.add_argument("--first", type=int, default=101, help="seed of the first day (default: 101)")
    parser.add_argument("--days", type=int, default=10, help="number of days (default: 10)")
    parser.add_argument("--jobs", type=int, default=700, help="jobs of a day (default: 700)")
    parser.add_argument("--seconds", type=float, default=10.0, help="processor time of each search (default: 10 s)")
    parser.add_argument("--processes", type=int, default=1, help="days that run at the same time (default: 1)")
    options = parser.parse_args(arguments)
    if min(options.days, options.jobs, options.processes) < 1 or options.seconds <= 0:
        parser.error("--days, --jobs and --processes must be at least 1, --seconds above 0")
    return run_study(study, options)


if __name__ == "__main__":
    sys.exit(main())
