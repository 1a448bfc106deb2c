"""The tables of ``bench statistics``: a row per method, and the virtual best method, for each problem kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import isnan

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..statistics.measures import Measure, MethodStatistics, VirtualBest, statistics_of, virtual_best
from ..statistics.sample import Sample
from .methods import NARROW, legend, percent, seconds

COLUMNS = (
    "runs: problems x seeds that should exist; solved: runs with a verified schedule (proofs too); proven: runs with a proof; "
    "lacking: runs without: f failed (an error, a crash, killed, no solver), u no schedule found, v not verified, m missing; "
    "time s: shifted geometric mean of the seconds to the proof (with --target: to a schedule within that gap), the time "
    "limit for runs without; PAR2, PAR10: their mean, with 2 or 10 time limits for runs without; gap: mean gap to the best "
    "objective known, 100 % for runs without a verified schedule, with its 95 % bootstrap interval over the problems; to "
    "bound: to the best bound of all methods; to known: to the best-known value of the literature, below 0 if better; primal, "
    "dual: means over the time limit of the gaps of schedule and bound; wins: problems with the least gap, ties count for each; "
    "share: of the virtual best (least gap, then least time, ties divided); only: problems that only this method solved. "
    "Formulas: docs/statistics.md."
)
Cell = Callable[[MethodStatistics], str]
LACKING = {"failed": "f", "unsolved": "u", "unverified": "v", "missing": "m"}


def show_statistics(
    console: Console, sample: Sample, time: Measure, target: float | None, shift: float, explain: bool = False
) -> None:
    """Print the table of each problem kind.

    Parameters
    ----------
    console
        Where it is printed.
    sample
        The runs.
    time, target
        The measure of seconds, and the gap that it means; None: the proof.
    shift
        Seconds added before the geometric mean.
    explain
        Whether the meaning of the columns is printed.
    """
    for note in sample.notes:
        console.print(Text(note, style="dim"))
    for kind in dict.fromkeys(p.kind for p in sample.problems):
        part = of_kind(sample, kind)
        known = sum(p.known is not None for p in part.problems)
        until = "proof" if target is None else f"gap {100 * target:g} %"
        title = f"{kind} problems: {len(part.problems)}, with best-known value {known}; times to the {until}, shift {shift:g} s"
        statistics, best = statistics_of(part, time, shift), virtual_best(part, time, shift)
        console.print(_table(title, part, statistics, best, console.width))
        console.print(legend(COLUMNS, explain))
        console.print()


def of_kind(sample: Sample, kind: str) -> Sample:
    """Return the problems of a kind, with the methods that have a record of any of them."""
    problems = [p for p in sample.problems if p.kind == kind]
    methods = [m for m in sample.methods if any(o.state != "missing" for p in problems for o in p.runs[m])]
    return replace(sample, methods=methods, problems=problems, seeds={m: sample.seeds[m] for m in methods})


def lacking(s: MethodStatistics) -> str:
    """Return the numbers of runs without a verified schedule, such as "2f 1m"."""
    return " ".join(f"{n}{letter}" for state, letter in LACKING.items() if (n := s.states[state])) or "-"  # type: ignore[index]


def _table(title: str, sample: Sample, rows: list[MethodStatistics], best: VirtualBest, width: int) -> Table:
    wide = width >= NARROW
    known = any(not isnan(s.gap_known) for s in rows)
    columns: list[tuple[str, bool, Cell]] = [
        ("runs", wide, lambda s: str(s.runs)),
        ("solved", True, lambda s: str(s.answered)),
        ("proven", True, lambda s: str(s.states["proven"])),
        ("lacking", True, lacking),
        ("time s", True, lambda s: seconds(s.time)),
        ("PAR2", wide, lambda s: seconds(s.par2)),
        ("PAR10", True, lambda s: seconds(s.par10)),
        ("gap", True, lambda s: percent(s.gap)),
        ("95 %", wide, lambda s: _interval(s.gap_interval)),
        ("to\nbound", wide, lambda s: percent(s.gap_bound)),
        ("to\nknown", known, lambda s: percent(s.gap_known)),
        ("primal", True, lambda s: percent(s.primal)),
        ("dual", wide, lambda s: percent(s.dual)),
        ("wins", True, lambda s: str(s.wins)),
        ("share", wide, lambda s: percent(s.share)),
        ("only", wide, lambda s: str(s.only)),
    ]
    shown = [(name, cell) for name, when, cell in columns if when]
    made = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=0, show_edge=False)
    made.add_column("method", overflow="fold", min_width=12)
    for name, _ in shown:
        made.add_column(name, justify="right", no_wrap=True)
    for s in rows:
        made.add_row(Text(s.method), *(cell(s) for _, cell in shown))
    of_best = {
        "runs": str(len(sample.problems)), "solved": str(best.solved), "proven": str(best.proven),
        "time s": seconds(best.time), "gap": percent(best.gap),
    }  # fmt: skip
    made.add_row(Text("virtual best, per problem"), *(of_best.get(name, "") for name, _ in shown), style="dim")
    return made


def _interval(bounds: tuple[float, float]) -> str:
    return "-" if isnan(bounds[0]) else f"{100 * bounds[0]:.1f}..{100 * bounds[1]:.1f}"
