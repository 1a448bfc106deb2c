"""The tables of ``bench statistics`` and ``bench compare``, of best-known values, and of all runs for other programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite, isnan
from operator import attrgetter
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from rich.console import Console
from rich.text import Text

from ...backends.result import close
from ...instances.files.writing import move_whole, temporary_path, write_whole
from ...models.words import how_many
from ..errors import WrongUse
from ..grid import DIM, Column, Grid, Styled, fixed, number, percent, seconds
from ..records.store import Record
from .comparison import Difference, MethodStatistics, VirtualBest, least_problems, statistics_of, virtual_best
from .measures import Goal, dual_integral, gap, gap_to_bound, gap_to_known, primal_gap, primal_integral, seconds_to
from .measures import seconds as seconds_to_proof
from .sample import ProblemRuns, RunOutcome, Sample, groups, name_of, outcome_of, sample_of

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
    Column("runs", lambda s: s.runs, spare=6),
    Column("solved", lambda s: s.answered),
    Column("proven", lambda s: s.states["proven"]),
    Column("lacking", lambda s: lacking(s)),
    Column("time s", lambda s: s.time, seconds),
    Column("scaled", lambda s: s.scaled, fixed(2), spare=9),
    Column("PAR2", lambda s: s.par2, seconds, spare=8),
    Column("PAR10", lambda s: s.par10, seconds),
    Column("gap", lambda s: s.gap, percent),
    Column("95 %", lambda s: _interval(s), spare=12),
    Column("to\nbound", lambda s: s.gap_bound, percent, spare=5),
    Column("to\nknown", lambda s: s.gap_known, percent),
    Column("primal", lambda s: s.primal, percent),
    Column("dual", lambda s: s.dual, percent, spare=4),
    Column("wins", lambda s: s.wins),
    Column("Borda", lambda s: s.borda, fixed(1), spare=11),
    Column("Mini\xad\nZinc", lambda s: s.minizinc, fixed(2), spare=10),
    Column("share", lambda s: s.share, percent, spare=7),
    Column("only", lambda s: s.only, spare=3),
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


# --- The tables that compare verified schedules with the best-known values of the literature.

MEANING_OF_KNOWN = (
    "known: problems with a best-known value; better, equal, worse: problems on which the best verified schedule of the method, of "
    "all its seeds, is better than it, equal to it, worse; none: problems without a verified schedule; gap %: mean gap to it, "
    "below 0 if better, over the problems with a schedule."
)
MEANING_OF_BETTER = (
    "Verified schedules that are better than the best-known value of the list: a value of the list may be out of date, or that "
    "of another problem; check both before you claim it. gain %: |objective - best known| over the greater of the two."
)


class Against(NamedTuple):
    """A method against the best-known values; the problems of each outcome, and the mean gap (None without a schedule)."""

    method: str
    known: int
    better: int
    equal: int
    worse: int
    none: int
    gap: float | None


class BetterThanKnown(NamedTuple):
    """A problem on which a method has found more than the list knows."""

    problem: str
    method: str
    objective: float
    known: float
    gain: float


def best_of(problem: ProblemRuns, runs: list[RunOutcome]) -> float | None:
    """Return the best objective of some runs; None without a verified schedule."""
    values = [run.objective for run in runs if run.objective is not None]
    return min(values, key=lambda v: problem.sign * v, default=None)


def against(sample: Sample) -> list[Against]:
    """Return each method against the best-known values of the problems that have one."""
    rows = []
    for method in sample.methods:
        counts = dict.fromkeys(("better", "equal", "worse", "none"), 0)
        gaps = []
        listed = [(p, p.known) for p in sample.problems if p.known is not None]
        for p, known in listed:
            found = best_of(p, list(p.runs[method]))
            counts[_outcome_against(p, found, known)] += 1
            if found is not None:
                side = -1 if _outcome_against(p, found, known) == "better" else 1
                gaps.append(side * primal_gap(found, known))
        rows.append(Against(method, len(listed), **counts, gap=fmean(gaps) if gaps else None))
    return rows


def better_than_known(sample: Sample) -> list[BetterThanKnown]:
    """Return the schedules that are better than the best-known values, the best method of each problem first."""
    rows = []
    for p in sample.problems:
        own = [(method, best_of(p, list(p.runs[method]))) for method in sample.methods]
        known = p.known
        if known is None:
            continue
        better = [(m, v) for m, v in own if v is not None and _outcome_against(p, v, known) == "better"]
        sign = p.sign
        for method, value in sorted(better, key=lambda pair: sign * pair[1]):
            rows.append(BetterThanKnown(p.name, method, value, known, primal_gap(value, known)))
    return rows


def _outcome_against(problem: ProblemRuns, found: float | None, known: float) -> str:
    if found is None:
        return "none"
    if close(found, known):
        return "equal"
    return "better" if problem.sign * found < problem.sign * known else "worse"


def against_grid(title: str, sample: Sample) -> Grid:
    """Return the table of the methods against the best-known values."""
    columns = [
        Column("method", lambda r: r.method, words=True),
        *(Column(name, attrgetter(name)) for name in ("known", "better", "equal", "worse", "none")),
        Column("gap %", lambda r: None if r.gap is None else 100 * r.gap, "{:,.2f}".format),
    ]
    return Grid.of(title, columns, against(sample), MEANING_OF_KNOWN)


def better_grid(title: str, sample: Sample) -> Grid:
    """Return the table of the schedules that are better than the best-known values."""
    columns = [
        Column("problem", lambda r: r.problem, words=True),
        Column("method", lambda r: r.method, words=True),
        Column("objective", lambda r: r.objective, number),
        Column("best known", lambda r: r.known, number),
        Column("gain %", lambda r: 100 * r.gain, "{:,.2f}".format),
    ]
    return Grid.of(title, columns, better_than_known(sample), MEANING_OF_BETTER)


# --- The table of ``bench compare``: a row per pair of methods and quantity, the real differences marked.

MEANING_OF_COMPARISON = (
    "gap: mean gap to the best objective known, 100 % without a verified schedule; time: shifted geometric mean of the seconds to "
    "the proof (with --target: to a schedule within that gap), the time limit for runs without; integral: mean gap over the "
    "time limit; first, second: the means; effect: mean of second - first in percentage points, of times the ratio second / "
    "first; interval: its bootstrap interval over the problems; less, equal, more: problems on which the second is less, "
    "equal, more; p: Wilcoxon's signed-rank test, adjusted by Holm's method. Formulas: docs/statistics.md."
)


def show_comparison(
    console: Console, sample: Sample, differences: Sequence[Difference], alpha: float, explain: bool = False
) -> None:
    """Print a table for each pair of methods, and how many problems are needed to show anything.

    ``alpha``: the level of the tests; ``explain``: whether the meaning of the comparison_columns is printed.
    """
    problems = len(sample.problems)
    for note in sample.notes:
        console.print(Text(note, style=DIM))
    for one, other in dict.fromkeys((d.one, d.other) for d in differences):
        title = f"first: {one}; second: {other}; {how_many(problems, 'problem')}, level {alpha:g}"
        own = [d for d in differences if (d.one, d.other) == (one, other)]
        console.print(
            Grid.of(
                title, comparison_columns(alpha), own, MEANING_OF_COMPARISON, style=lambda d: "bold" if d.real else ""
            )
        )
    tests = sum(d.less + d.more > 0 for d in differences)
    real = sum(d.real for d in differences)
    console.print(f"{real} of {how_many(tests, 'tested difference', verb='are')} real")
    needed = least_problems(max(1, tests), alpha)
    if problems < needed:
        console.print(
            f"{how_many(problems, 'problem', verb='are')} too few to show any of them at level {alpha:g}: at least {needed} are needed"
        )
    console.print(Grid("", (), meaning=MEANING_OF_COMPARISON).key(explain))


def comparison_columns(alpha: float) -> list[Column]:
    """Return the comparison_columns; their values are texts, as a time is compared by a ratio and a gap by a difference."""
    return [
        Column("quantity", lambda d: d.quantity, words=True),
        Column("first", lambda d: _mean_of_side(d, 0)),
        Column("second", lambda d: _mean_of_side(d, 1)),
        Column("effect", _effect),
        Column(f"{100 * (1 - alpha):g} % interval", _interval_of_difference),
        Column("less", lambda d: d.less),
        Column("equal", lambda d: d.equal),
        Column("more", lambda d: d.more),
        Column("p", lambda d: d.adjusted if d.less + d.more else None, _p_value),
        Column("verdict", lambda d: d.verdict, words=True, least=12),
    ]


def _effect(d: Difference) -> str:
    return f"x {d.effect:.3f}" if d.quantity == "time" else f"{100 * d.effect:+.2f}"


def _p_value(p: float) -> str:
    return "< 0.0001" if p < 1e-4 else f"{p:.4f}"


def _mean_of_side(d: Difference, k: int) -> str:
    return f"{seconds(d.values[k])} s" if d.quantity == "time" else percent(d.values[k])


def _interval_of_difference(d: Difference) -> str | None:
    if isnan(d.low):
        return None
    return f"{d.low:.3f}..{d.high:.3f}" if d.quantity == "time" else f"{100 * d.low:+.2f}..{100 * d.high:+.2f}"


def differences_grid(differences: Sequence[Difference], problems: int, alpha: float) -> Grid:
    """Return a row per pair of methods and quantity with all digits; gaps and integrals are shares, times seconds."""
    heads = [
        *("first", "second", "quantity", "problems", "level", "value_of_first", "value_of_second", "effect"),
        *("interval_low", "interval_high", "less", "equal", "more", "p", "p_adjusted", "verdict"),
    ]
    rows = []
    for d in differences:
        tested = d.less + d.more > 0
        p = [d.p, d.adjusted] if tested else [None, None]
        limits = [None if isnan(limit) else limit for limit in (d.low, d.high)]
        row: list[Any] = [d.one, d.other, d.quantity, problems, alpha, *d.values, d.effect, *limits]
        rows.append([*row, d.less, d.equal, d.more, *p, d.verdict])
    return Grid("differences", [Column(head) for head in heads], rows)


def write_differences(path: Path, differences: Sequence[Difference], problems: int, alpha: float) -> None:
    """Write the rows of ``differences_grid`` as CSV. Raises WrongUse."""
    _write_csv(path, differences_grid(differences, problems, alpha))


def _write_csv(path: Path, grid: Grid) -> None:
    try:
        write_whole(path, grid.as_csv())
    except OSError as e:
        raise WrongUse(f"{path}: cannot be written ({e.strerror})") from e


# --- A table with a row per run for other programs: CSV, Parquet.

OF_RECORD = (
    "instance", "kind", "method", "seed", "threads", "time_limit", "solver", "version", "schedlab", "status", "cause", "verified",
    "objective", "bound", "first_solution_s", "best_s", "started", "key",
)  # fmt: skip
MEASURES = {
    "seconds_to_proof": seconds_to_proof,
    "gap": gap,
    "gap_to_bound": gap_to_bound,
    "gap_to_known": gap_to_known,
    "primal_integral": primal_integral,
    "dual_integral": dual_integral,
}


def runs_grid(records: Sequence[Record], known: Mapping[str, float], target: float | None = None) -> Grid:
    """Return a row per run: fields of its record, its state, and its measures in the sample of all records.

    With a ``target`` gap, also the seconds to a schedule within it. Runs that are no part of the statistics (replays, several objectives) have no measures.
    """
    problems = {p.name: p for p in sample_of(records, known).problems}
    measured = MEASURES if target is None else {**MEASURES, "seconds_to_target": seconds_to(target)}
    heads = [*OF_RECORD, "problem", "state", "seconds", *measured]
    rows = []
    for r in records:
        name = name_of(r)
        row: dict[str, Any] = dict.fromkeys(heads) | {field: r.get(field) for field in OF_RECORD}
        row |= {"problem": name, "seconds": r["seconds"].get("total")}
        problem = problems.get(name)
        if problem is not None and r["method"] in problem.runs and not isinstance(r["objective"], list):
            run = outcome_of(r)
            measures = {what: measure(problem, run) for what, measure in measured.items()}
            row |= {"state": run.state} | {what: v if isfinite(v) else None for what, v in measures.items()}
        else:
            row |= {"objective": None, "bound": None}
        rows.append(list(row.values()))
    return Grid("runs", [Column(head) for head in heads], rows)


def write_csv(path: Path, records: Sequence[Record], known: Mapping[str, float], target: float | None = None) -> int:
    """Write the rows as CSV and return their number. Raises WrongUse."""
    grid = runs_grid(records, known, target)
    _write_csv(path, grid)
    return len(grid.rows)


def write_parquet(
    path: Path, records: Sequence[Record], known: Mapping[str, float], target: float | None = None
) -> int:
    """Write the rows as Parquet and return their number. Raises WrongUse, also if pyarrow is missing."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as e:
        raise WrongUse("--parquet needs pyarrow: pip install 'schedlab[parquet]'") from e
    grid = runs_grid(records, known, target)
    columns = dict(zip(grid.heads, map(_of_one_type, zip(*grid.rows, strict=True)), strict=True))
    temporary = temporary_path(path)
    try:
        parquet.write_table(pyarrow.table(columns), temporary)
        move_whole(temporary, path)
    except OSError as e:
        raise WrongUse(f"{path}: cannot be written ({e.strerror})") from e
    finally:
        temporary.unlink(missing_ok=True)
    return len(grid.rows)


def _of_one_type(values: Sequence[Any]) -> list[Any]:
    """Return a column of one type: numbers become floats if one is a float."""
    numbers = any(isinstance(v, float) for v in values)
    return [float(v) if numbers and isinstance(v, int) and not isinstance(v, bool) else v for v in values]
