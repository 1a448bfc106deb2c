"""The tables of methods: one row per method on a view of an instance, one row per instance, composite objectives; statistics.

The statistics are those of ``bench statistics`` and ``bench compare``, best-known values, and all runs for other programs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite, isnan
from operator import attrgetter
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import Console
from rich.text import Text

from ...backends.result import close, refutes, relative_gap
from ...instances.files.writing import move_whole, temporary_path, write_whole
from ...methods.text import foreign_parts
from ...models.words import how_many, listed, one_line
from ..errors import WrongUse
from ..grid import BAD, DIM, GOOD, MARK, UNKNOWN, WARNING, Column, Grid, Styled, fixed, mean, number, percent, seconds
from ..records.store import Record
from ..runs.view import View
from ..statistics.comparison import (
    Difference,
    MethodStatistics,
    VirtualBest,
    least_problems,
    statistics_of,
    virtual_best,
)
from ..statistics.measures import (
    Goal,
    ProblemRuns,
    RunOutcome,
    Sample,
    dual_integral,
    gap,
    gap_to_bound,
    gap_to_known,
    groups,
    name_of,
    outcome_of,
    primal_gap,
    primal_integral,
    sample_of,
    seconds_to,
)
from ..statistics.measures import seconds as seconds_to_proof

if TYPE_CHECKING:
    from ..runs.suites import BestKnown


MEANING = (
    "runs: problems x seeds that should exist; solved: runs with a verified schedule (proofs too); proven: runs with a proof; "
    "lacking: runs without: f failed (an error, a crash, killed), r refused (no solver, its licence does not "
    "admit the model, or the method does not take the problem), u no schedule found, v not verified, m missing; "
    "time s: shifted geometric mean of the seconds to the goal in the title, the "
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
        if by is not None:
            parts += [(f"{kind} problems of {name}", own) for name, own in groups(part, by)]
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
    if isnan(low):
        return None
    return f"{100 * low:.1f}..{100 * high:.1f}"


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
                side = 1
                if _outcome_against(p, found, known) == "better":
                    side = -1
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
    if problem.sign * found < problem.sign * known:
        return "better"
    return "worse"


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
    if d.quantity == "time":
        return f"x {d.effect:.3f}"
    return f"{100 * d.effect:+.2f}"


def _p_value(p: float) -> str:
    if p < 1e-4:
        return "< 0.0001"
    return f"{p:.4f}"


def _mean_of_side(d: Difference, k: int) -> str:
    if d.quantity == "time":
        return f"{seconds(d.values[k])} s"
    return percent(d.values[k])


def _interval_of_difference(d: Difference) -> str | None:
    if isnan(d.low):
        return None
    if d.quantity == "time":
        return f"{d.low:.3f}..{d.high:.3f}"
    return f"{100 * d.low:+.2f}..{100 * d.high:+.2f}"


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


# --- The runs on one view of an instance: data of the tables.


def who_mends(record: Record) -> str:
    """Return what to do about a bound that a verified schedule refutes: whose fault it is, by the parts of the method."""
    parts = foreign_parts(record["method"], record["kind"])
    if not parts:
        return "please report this"
    return f"mend the {listed(parts)}, which {'is' if len(parts) == 1 else 'are'} not of schedlab, or its bound"


def by_method(records: Iterable[Record]) -> dict[str, list[Record]]:
    """Group records by their method, in the order of the records."""
    groups: dict[str, list[Record]] = {}
    for r in records:
        groups.setdefault(r["method"], []).append(r)
    return groups


@dataclass(frozen=True)
class MethodRow:
    """The runs of one method, one per seed. Figures are means over the seeds that have them."""

    method: str
    records: Sequence[Record]

    @property
    def sound(self) -> list[Record]:
        """The records with a verified schedule."""
        return [r for r in self.records if r["verified"] and isinstance(r["objective"], (int, float))]

    @property
    def objectives(self) -> list[float]:
        """The objective of each record with a verified schedule."""
        return [r["objective"] for r in self.sound]

    @property
    def objective(self) -> float | None:
        """The mean objective if every seed has a verified schedule, else None."""
        if len(self.sound) == len(self.records):
            return mean(self.objectives)
        return None

    @property
    def bounds(self) -> list[float]:
        """The bound of each record that has one."""
        return [r["bound"] for r in self.records if isinstance(r["bound"], (int, float))]

    @property
    def ordered(self) -> list[float] | None:
        """The means of ordered objectives, if every seed has a verified schedule with them, else None."""
        values = [r["objective"] for r in self.records if r["verified"] and isinstance(r["objective"], (list, tuple))]
        if len(values) < len(self.records) or len({len(each) for each in values}) != 1:
            return None
        return [value for each in zip(*values, strict=True) if (value := mean(each)) is not None]

    def ordered_bound(self, sign: int) -> list[float | None] | None:
        """Return the best bound of ordered objectives, of which the later ones may be unknown (None); None without one."""
        known = [list(r["bound"]) for r in self.records if isinstance(r["bound"], (list, tuple))]
        return max(known, key=lambda bound: [sign * b if b is not None else -inf for b in bound], default=None)

    def mean(self, value: Callable[[Record], float | None]) -> float | None:
        """Return the mean of a figure over the seeds that have it, None if no seed has it."""
        return mean(map(value, self.records))


@dataclass(frozen=True)
class ViewResults:
    """All runs on one view of one instance. Objectives are compared in the sense of the problem."""

    records: Sequence[Record]

    @property
    def rows(self) -> list[MethodRow]:
        """One row per method, in the order of the records."""
        return [MethodRow(method, records) for method, records in by_method(self.records).items()]

    @property
    def sign(self) -> int:
        """1 if the objective is minimized, -1 if it is maximized."""
        if any(r["sense"] == "maximize" for r in self.records):
            return -1
        return 1

    @property
    def best(self) -> MethodRow | None:
        """The method with the best mean objective."""
        known = []
        if not self.incomparable:
            known = [row for row in self.rows if row.objective is not None]
        return min(known, key=lambda row: self.sign * (row.objective or 0.0), default=None)

    def is_best(self, row: MethodRow) -> bool:
        """Return whether a row is about the method with the best mean objective."""
        return self.best is not None and row.method == self.best.method

    @property
    def schedule(self) -> Record | None:
        """The record of the best verified schedule."""
        known = [r for row in self.rows for r in row.sound]
        return min(known, key=lambda r: self.sign * r["objective"], default=None)

    @property
    def first_in_order(self) -> Record | None:
        """The record of the best verified schedule of ordered objectives: the best one in lexicographic order."""
        known = [r for r in self.records if r["verified"] and isinstance(r["objective"], (list, tuple))]
        return min(known, key=lambda r: [self.sign * value for value in r["objective"]], default=None)

    @property
    def incomparable(self) -> bool:
        """Whether the runs have solved different problems: composite objectives with different limits."""
        limits = [_part(r, "limits") for r in self.records if r.get("composite")]
        return any(other != limits[0] for other in limits[1:])

    @property
    def bound(self) -> Record | None:
        """The record with the best bound of all methods that no verified schedule refutes; None if they are incomparable."""
        if self.incomparable:
            return None
        known = [r for r in self._bounds if not self._refuted(r)]
        return max(known, key=lambda r: self.sign * r["bound"], default=None)

    def gap(self, row: MethodRow) -> float | None:
        """Return the relative gap of the objective of a row to the best bound."""
        return relative_gap(row.objective, None if self.bound is None else self.bound["bound"])

    @property
    def _bounds(self) -> list[Record]:
        return [r for r in self.records if isinstance(r["bound"], (int, float)) and r["status"] != "error"]

    def _refuted(self, record: Record) -> bool:
        """Return whether the best verified schedule is better than the bound of a record allows."""
        best = None
        if not self.incomparable:
            best = self.schedule
        sense = "minimize"
        if self.sign < 0:
            sense = "maximize"
        return best is not None and refutes(best["objective"], record["bound"], sense)

    @property
    def contradiction(self) -> str | None:
        """The message about a proof that a verified schedule refutes (one of the two programs has a bug), else None."""
        if self.schedule is None or self.incomparable:
            return None
        denied = next((r for r in self.records if r["status"] == "infeasible"), None)
        if denied is not None:
            return (
                f"the status infeasible of {denied['method']} is refuted by the verified schedule of "
                f"{self.schedule['method']} with {number(self.schedule['objective'])}: its formulation is wrong, or its solver"
            )
        wrong = next((r for r in self._bounds if self._refuted(r)), None)
        if wrong is None:
            return None
        return (
            f"the bound {number(wrong['bound'])} of {wrong['method']} is refuted by the verified schedule of "
            f"{self.schedule['method']} with {number(self.schedule['objective'])} and takes no part in gaps: {who_mends(wrong)}"
        )


def group_by_view(records: Iterable[Record]) -> list[tuple[str, ViewResults]]:
    """Return the records grouped by instance, view and number of threads: (title, results) of each group."""
    groups: dict[str, list[Record]] = {}
    for r in records:
        threads = how_many(r["threads"], "thread")
        groups.setdefault(f"{r['instance']}, {View(**r['view']).label}, {threads}", []).append(r)
    return [(title, ViewResults(members)) for title, members in groups.items()]


# --- The table of the methods on one view of an instance: one row per method, the best row marked.

INCOMPARABLE = (
    "theta: the best value of a kept objective alone, in the time given. Each run has the limits of its own theta: their "
    "objectives and bounds are not compared."
)


def named(results: ViewResults) -> list[Column]:
    """Return the first columns of a table with a row per method: the mark of the best one, the method."""
    marks = Column("", lambda row: MARK if results.is_best(row) else "", words=True)
    return [marks, Column("method", lambda row: row.method, words=True, least=12)]


def methods_grid(title: str, results: ViewResults) -> Grid:
    """Return the table of one view."""
    best = None
    if results.bound is not None:
        best = results.bound["bound"]
    seeds = max(len(row.records) for row in results.rows)
    objective = "of the verified schedule, with several seeds their mean and least..most"
    columns = [
        *named(results),
        Column("status", status, meaning="status: how the run ended (bound only: it found a bound but no schedule)", words=True),
        Column(
            "objec\xad\ntive" if seeds == 1 else "mean\nobjec\xad\ntive", _objective, number,
            f"objective: {objective}; of ordered objectives, each of them",
        ),
        Column("least..most", spread) if seeds > 1 else None,
        Column(
            "bound", lambda row: max(row.bounds, key=lambda b: results.sign * b, default=row.ordered_bound(results.sign)), number,
            "bound: the best bound that the method proved",
        ),
        Column("best\nbound", lambda row: best, number, "best bound: the best true bound of all methods", spare=3),
        Column("gap to\nit", results.gap, percent, "gap to it: |objective - best bound| / max(|objective|, |best bound|)"),
        Column(
            "first\nat s", lambda row: row.mean(lambda r: r["first_solution_s"]), seconds,
            "first, best at s: seconds until the first and the best schedule", spare=2,
        ),
        Column("best\nat s", lambda row: row.mean(lambda r: r["best_s"]), seconds),
        Column(
            "build/lower/\nsolve s", spent, spare=4,
            meaning="build/lower/solve s: seconds for building the model, translating it for the solver and solving it",
        ),
        Column(
            "warm\nstart", warm_start, words=True,
            meaning="warm start: accepted, repaired or rejected by the solver, or returned (the run found nothing better than its "
            "warm start)",
        ),
        Column("veri\xad\nfied", verified, meaning="verified: whether every schedule passed the check", words=True),
    ]  # fmt: skip
    return Grid.of(
        title,
        columns,
        results.rows,
        style=lambda row: GOOD if results.is_best(row) else "",
        marked=f"{MARK}: the best objective.",
    )


def _objective(row: MethodRow) -> float | list[float] | None:
    """Return the objective of a row, or its ordered objectives."""
    if row.objective is None:
        return row.ordered
    return row.objective


def show_methods(console: Console, records: Iterable[Record], explain: bool = False) -> list[str]:
    """Print a table per view with its legend and summary; return the contradictions found."""
    groups = group_by_view(records)
    for title, results in groups:
        methods_grid(title, results).show(console, explain)
        console.print(*summary(results), "", sep="\n")
    return contradictions(results for _, results in groups)


def contradictions(several: Iterable[ViewResults]) -> list[str]:
    """Return the message about each bound that a verified schedule refutes."""
    return [results.contradiction for results in several if results.contradiction]


def summary(results: ViewResults) -> list[Text]:
    """Return the lines below a table: the best schedule, the best true bound and its gap, and the reasons of failures."""
    lines: list[Text] = []
    schedule = results.schedule
    bound = results.bound
    if schedule is not None:
        lines.append(Text(f"best schedule: {number(schedule['objective'])} by {schedule['method']}, verified"))
    first = results.first_in_order
    if first is not None:
        lines.append(Text(f"best schedule: {number(first['objective'])} by {first['method']}, verified"))
    if bound is not None:
        gap = ""
        if schedule is not None:
            gap = f", gap {percent(relative_gap(schedule['objective'], bound['bound']))}"
        lines.append(Text(f"best true bound: {number(bound['bound'])} by {bound['method']}{gap}"))
    lines += [Text(line) for row in results.rows for line in kept_lines(row.method, row.records)]
    if results.incomparable:
        lines.append(Text(INCOMPARABLE, style=DIM))
    if results.contradiction:
        lines.append(Text(results.contradiction, style=BAD))
    return lines + reasons(results.records)


def reasons(records: Iterable[Record]) -> list[Text]:
    """Return a line for each different reason why a run of a method has no schedule, or its warm start was rejected."""
    lines = {method: dict.fromkeys(map(trouble, members)) for method, members in by_method(records).items()}
    return [Text(f"{method}: {reason}", style=DIM) for method, several in lines.items() for reason in several if reason]


LONGEST_TROUBLE = 300  # characters


def trouble(record: Mapping[str, Any]) -> str:
    r"""Return one line that says why a run has no schedule or why its warm start was rejected; "" if neither happened.

    >>> trouble({"cause": "dispatcher", "message": "two jobs wait:\n  job 'a': too wide\n  job 'b': too wide"})
    "two jobs wait: job 'a': too wide; job 'b': too wide"
    """
    if record["cause"] or record["status"] in ("error", "unknown"):
        text = record["message"] or ("no solution found within its limit" if record["bound"] is None else "")
        lines = (" ".join(line.split()) for line in text.splitlines())
        said = "; ".join(filter(None, lines)).replace(":; ", ": ")
        return one_line(said, LONGEST_TROUBLE)
    start = record["warm_start"] or {}
    if start.get("fate") == "rejected":
        return f"warm start rejected: {start['reason']}"
    return ""


def kept_lines(method: str, records: Sequence[Record]) -> list[str]:
    """Return the line with value, limit and theta of each kept objective, as means over the seeds; none without them."""
    names = dict.fromkeys(name for r in records for name in _part(r, "theta"))
    texts = []
    for name in names:
        value, limit, theta = (
            number(mean(_part(r, part).get(name) for r in records)) for part in ("values", "limits", "theta")
        )
        texts.append(f"{name} {value} (limit {limit}, theta {theta})")
    if texts:
        return [f"{method} keeps {' and '.join(texts)}"]
    return []


def _part(record: Mapping[str, Any], part: str) -> Mapping[str, Any]:
    """Return a part of what a record says about kept objectives: their values, limits or theta."""
    return (record.get("composite") or {}).get(part) or {}


def counted(names: Sequence[str]) -> str:
    """Return what happened to the seeds of a method: the name if all are equal, else each name with its number."""
    kinds = list(dict.fromkeys(names))
    if len(kinds) == 1:
        return kinds[0]
    return "\n".join(f"{names.count(k)} {k}" for k in kinds)


def status(row: MethodRow) -> Styled:
    """Return the status of a run, or the cause that ended it. If the seeds differ, each status has its count."""
    kinds = [r["cause"] or ("bound only" if _bound_only(r) else r["status"]) for r in row.records]
    bad = {"error", "crash", "timeout", "out of memory"} & set(kinds)
    return Styled(counted(kinds), "red" if bad else "")


def _bound_only(record: Mapping[str, Any]) -> bool:
    return record["status"] == "unknown" and record["schedule"] is None and record["bound"] is not None


def spread(row: MethodRow) -> str:
    """Return the least and the greatest objective over the seeds."""
    known = row.objectives
    if known:
        return f"{number(min(known))}..{number(max(known))}"
    return UNKNOWN


def spent(row: MethodRow) -> str | None:
    """Return the mean seconds of building, lowering and solving."""
    parts = [mean(r["seconds"][part] for r in row.records) for part in ("build", "lower", "solve")]
    if all(p is None for p in parts):
        return None
    return "/".join(map(seconds, parts))


def warm_start(row: MethodRow) -> Styled:
    """Return what became of the warm start; "returned" if the run found nothing better than it."""
    starts = [r["warm_start"] or {"fate": "none", "returned": False} for r in row.records]
    fates = ["returned" if start["returned"] else str(start["fate"]) for start in starts]
    if set(fates) == {"none"}:
        return Styled(UNKNOWN, "")
    text = "\n".join(line for line in counted(fates).split("\n") if not line.endswith("none"))
    return Styled(text, WARNING if {"returned", "rejected"} & set(fates) else "")


def verified(row: MethodRow) -> Styled:
    """Return "yes" if every schedule passed the check, "NO" if one did not, "-" if there is none."""
    return verdict(r["verified"] for r in row.records)


def verdict(marks: Iterable[bool | None]) -> Styled:
    """Return "yes" if all known marks are true, "NO" if one is not, "-" if there are none."""
    known = [mark for mark in marks if mark is not None]
    if not known:
        return Styled(UNKNOWN, "")
    if all(known):
        return Styled("yes", "")
    return Styled("NO", BAD)


# --- The table of instances: a row per instance with the best schedule and bound of all methods, and the best-known value.

INSTANCE_COLUMNS = (
    "best: the best verified objective of all methods and seeds; by: the method that found it first; proven: methods that "
    "proved an optimum, of all; bound: the best bound that no schedule refutes; gap: |best - bound| / max(|best|, |bound|); "
    "known: the best-known value; gap to it: |best - known| / max(|best|, |known|), new: better than it; none: runs without a "
    "verified schedule, of all."
)


def show_instances(
    console: Console, records: Iterable[Record], known: Mapping[str, BestKnown], explain: bool = False
) -> list[str]:
    """Print the table, with the best-known values of ``known``, and what its columns mean; return the contradictions found."""
    from ..runs.suites import known_of

    groups = group_by_view(r for r in records if r["replay"] is None)
    rows = [_instance(title, results, known_of(results.records[0], known)) for title, results in groups]
    heads = ("instance", "best", "by", "proven", "bound", "gap", "known", "gap to it", "none")
    Grid.of_texts("instances", heads, rows, INSTANCE_COLUMNS, ("instance", "by")).show(console, explain)
    wrong = contradictions(results for _, results in groups)
    for text in wrong:
        console.print(Text(text, style=BAD))
    return wrong


def _instance(title: str, results: ViewResults, known: BestKnown | None) -> list[Any]:
    """Return the cells of an instance."""
    first = results.records[0]
    best = results.schedule or results.first_in_order
    value = None
    if best is not None:
        value = best["objective"]
    single = None
    if isinstance(value, (int, float)):
        single = value
    bound = None
    if results.bound is not None:
        bound = results.bound["bound"]
    proven = sum(any(r["status"] == "optimal" and r["verified"] for r in row.records) for row in results.rows)
    lacking = sum(not r["verified"] for r in results.records)
    return [
        title.removesuffix(f", {how_many(first['threads'], 'thread')}").removesuffix(", the whole instance"),
        number(value),
        None if best is None else best["method"],
        f"{proven}/{len(results.rows)}",
        number(bound),
        percent(relative_gap(single, bound)),
        None if known is None else number(known.value),
        _to_known(single, known, first["sense"] or "minimize"),
        f"{lacking}/{len(results.records)}",
    ]


def _to_known(value: float | None, known: BestKnown | None, sense: str) -> str | Styled | None:
    """Return the gap to the best-known value; "new" if the value is better."""
    if value is None or known is None:
        return None
    if refutes(value, known.value, sense):
        return Styled(f"new {percent(relative_gap(value, known.value))}", GOOD)
    if close(value, known.value):
        return percent(0.0)
    return percent(relative_gap(value, known.value))
