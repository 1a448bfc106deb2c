"""The tables of ``bench statistics``: a row per method, and the virtual best method, for each problem kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isnan

from rich.console import Console
from rich.text import Text

from ..grid import DIM, Column, Grid, Styled, fixed, percent, seconds
from ..statistics.goal import Goal
from ..statistics.sample import Sample
from ..statistics.subsets import groups
from ..statistics.summary import MethodStatistics, VirtualBest, statistics_of, virtual_best
from .known import against_grid, better_grid

MEANING = (
    "runs: problems x seeds that should exist; solved: runs with a verified schedule (proofs too); proven: runs with a proof; "
    "lacking: runs without: f failed (an error, a crash, killed), r refused (no solver, or its licence does not admit the model), "
    "u no schedule found, v not verified, m missing; time s: shifted geometric mean of the seconds to the goal in the title, the "
    "time limit for runs that do not reach it; scaled: time s over that of the quickest method; PAR2, PAR10: mean of the seconds, "
    "with 2 or 10 time limits for these runs; gap: mean gap to the best objective known, 100 % for runs without a verified "
    "schedule, with its 95 % bootstrap interval over the problems; to bound: to the best bound of all methods; to known: to the "
    "best-known value of the literature, below 0 if better; primal, dual: means over the time limit of the gaps of schedule and "
    "bound; wins: problems with the least gap, ties count for each; Borda: methods beaten, over all problems, ties one half; "
    "MiniZinc: the same, with ties divided by the times; share: of the virtual best (least gap, then least time, ties divided); "
    "only: problems that only this method solved. Formulas: docs/statistics.md."
)
LACKING = {"failed": "f", "refused": "r", "unsolved": "u", "unverified": "v", "missing": "m"}
COLUMNS = (
    Column("method", lambda s: s.method, words=True, least=20),
    Column("runs", lambda s: s.runs, spare=4),
    Column("solved", lambda s: s.answered),
    Column("proven", lambda s: s.states["proven"]),
    Column("lacking", lambda s: lacking(s)),
    Column("time s", lambda s: s.time, seconds),
    Column("scaled", lambda s: s.scaled, fixed(2), spare=6),
    Column("PAR2", lambda s: s.par2, seconds, spare=6),
    Column("PAR10", lambda s: s.par10, seconds),
    Column("gap", lambda s: s.gap, percent),
    Column("95 %", lambda s: _interval(s), spare=7),
    Column("to\nbound", lambda s: s.gap_bound, percent, spare=3),
    Column("to\nknown", lambda s: s.gap_known, percent),
    Column("primal", lambda s: s.primal, percent),
    Column("dual", lambda s: s.dual, percent, spare=2),
    Column("wins", lambda s: s.wins),
    Column("Borda", lambda s: s.borda, fixed(1), spare=7),
    Column("Mini\xad\nZinc", lambda s: s.minizinc, fixed(2), spare=7),
    Column("share", lambda s: s.share, percent, spare=5),
    Column("only", lambda s: s.only, spare=1),
)  # fmt: skip


def show_statistics(console: Console, sample: Sample, goal: Goal, by: str | None = None, explain: bool = False) -> None:
    """Print the table of each problem kind, and those of its groups.

    Parameters
    ----------
    console
        Where it is printed.
    sample
        The runs.
    goal
        What the times count to.
    by
        How the problems are grouped (``subsets.groups``); None: not at all.
    explain
        Whether the meaning of the columns is printed.
    """
    for note in sample.notes:
        console.print(Text(note, style=DIM))
    for kind in dict.fromkeys(p.kind for p in sample.problems):
        part = of_kind(sample, kind)
        parts = [(f"{kind} problems", part)]
        parts += [] if by is None else [(f"{kind} problems of {name}", own) for name, own in groups(part, by)]
        for name, own in parts:
            known = sum(p.known is not None for p in own.problems)
            title = f"{name}: {len(own.problems)}, with best-known value {known}; {goal.text}, shift {goal.shift:g} s"
            statistics_grid(title, own, statistics_of(own, goal), virtual_best(own, goal)).show(console, explain)
            console.print()
        if any(p.known is not None for p in part.problems):
            against_grid(f"{kind} problems: best-known values", part).show(console, explain)
            better_grid("better than the best-known values", part).show(console, explain)
            console.print()


def statistics_grid(title: str, sample: Sample, methods: Sequence[MethodStatistics], best: VirtualBest) -> Grid:
    """Return the table of a problem kind, with the virtual best method in its last row."""
    columns = [c for c in COLUMNS if c.name != "to known" or any(not isnan(s.gap_known) for s in methods)]
    grid = Grid.of(title, columns, methods, MEANING)
    of_best = {
        "method": "virtual best, per problem", "runs": len(sample.problems), "solved": best.solved, "proven": best.proven,
        "time s": best.time, "gap": best.gap,
    }  # fmt: skip
    last = [Styled(of_best.get(column.name, ""), DIM) for column in columns]
    return replace(grid, rows=[*grid.rows, last])


def of_kind(sample: Sample, kind: str) -> Sample:
    """Return the problems of a kind, with the methods that have a record of any of them."""
    problems = [p for p in sample.problems if p.kind == kind]
    methods = [m for m in sample.methods if any(o.state != "missing" for p in problems for o in p.runs[m])]
    return replace(sample, methods=methods, problems=problems, seeds={m: sample.seeds[m] for m in methods})


def lacking(s: MethodStatistics) -> str:
    """Return the numbers of runs without a verified schedule, such as "2f 1m"."""
    return " ".join(f"{n}{letter}" for state, letter in LACKING.items() if (n := s.states[state])) or "-"  # type: ignore[index]


def _interval(s: MethodStatistics) -> str | None:
    low, high = s.gap_interval
    return None if isnan(low) else f"{100 * low:.1f}..{100 * high:.1f}"
