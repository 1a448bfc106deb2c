"""The table of the dispatchers over a day or a trace, and what stands below it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import fmean
from typing import Any, NamedTuple

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from ..backends.base import relative_gap
from .replay import Replay
from .report import NARROW, Board, number, percent, seconds, trouble
from .selection import View, replay_label
from .store import Record

RECORDED = "as recorded"
MARK = "*"  # behind the best of a column
VERDICTS = {
    "timeout": "cut",
    "out of memory": "memory",
    "dispatcher": "error",
    "unavailable": "none",
}  # to fit a column


@dataclass(frozen=True)
class Line:
    """The replays of one dispatcher, one per seed; figures are means over the seeds, None unless every seed has them."""

    name: str
    records: Sequence[Record] = ()
    real: Mapping[str, Any] = field(default_factory=dict)  # the metrics of what the real machine did

    @property
    def whole(self) -> bool:
        """Whether every seed's replay went to its end and holds."""
        return all(r["verified"] and r["status"] == "feasible" for r in self.records)

    def metric(self, name: str) -> float | None:
        """A figure of ``Metrics.as_dict``."""
        if not self.whole:
            return None
        values = [m.get(name) for m in ([r["metrics"] for r in self.records] or [self.real])]
        return None if any(v is None for v in values) else fmean(values)

    @property
    def objective(self) -> float | None:
        """The mean objective."""
        return fmean([r["objective"] for r in self.records]) if self.records and self.whole else None

    @property
    def verdict(self) -> Text:
        """Whether every schedule holds, or why there is none."""
        if not self.records:
            return Text("-")
        causes = [r["cause"] or ("NO" if r["verified"] is False else r["status"]) for r in self.records]
        why = next((c for c in causes if c != "feasible"), "yes")
        return Text("yes") if self.whole else Text(VERDICTS.get(why, why), style="bold red")


@dataclass(frozen=True)
class DispatchBoard:
    """The replays of one workload, and the offline runs on the same jobs with their true durations."""

    records: Sequence[Record]
    offline: Sequence[Record] = ()

    @cached_property
    def lines(self) -> list[Line]:
        """A line per dispatcher, in their order, then what the real machine did if the trace knows it."""
        found: dict[str, list[Record]] = {}
        for r in self.records:
            found.setdefault(r["method"], []).append(r)
        real = next((r["simulation"]["recorded"] for r in self.records if "simulation" in r), None)
        return [*(Line(n, rs) for n, rs in found.items()), *([Line(RECORDED, real=real)] if real else [])]

    @cached_property
    def clairvoyant(self) -> Board:
        """The offline runs as a board: best schedule, best bound."""
        return Board(self.offline)

    @property
    def contradiction(self) -> str | None:
        """A bound that a verified schedule refutes."""
        same = [r for r in self.records if (r.get("simulation") or {}).get("offline")]
        return Board([*self.offline, *same]).contradiction

    @property
    def best(self) -> float | None:
        """The objective of the best offline schedule."""
        schedule = self.clairvoyant.schedule
        return None if schedule is None else float(schedule["objective"])

    @property
    def bound(self) -> float | None:
        """The best true bound."""
        record = self.clairvoyant.bound
        return None if record is None else float(record["bound"])

    @property
    def aim(self) -> str:
        """The objective of these replays."""
        known = (r["simulation"]["objective"] for r in self.records if "simulation" in r)
        return str(next(known, "objective"))


class Column(NamedTuple):
    """A column: its head, what stands in it, and the figure whose best one is marked (None: no best one)."""

    head: str
    cell: Callable[[Line], str]
    figure: Callable[[Line], float | None] | None = None
    greatest: bool = False
    wide: bool = False  # only where there is room


def sorted_out(records: Iterable[Record]) -> tuple[list[tuple[str, DispatchBoard]], list[Record]]:
    """The boards of the replays among some records, each with its title, and the records that belong to none.

    Offline runs on the same jobs, every job taking what it took, belong to the board of their day.
    """
    left: list[Record] = []
    groups: dict[tuple[Any, ...], list[Record]] = {}
    for r in records:
        if r.get("replay") is None:
            left.append(r)
            continue
        groups.setdefault((r["content"], View(**r["view"]), Replay(**r["replay"]).for_policies), []).append(r)
    boards = []
    for (content, view, _), members in groups.items():
        offline: list[Record] = []
        if any((r.get("simulation") or {}).get("offline") for r in members):
            offline = [r for r in left if r["content"] == content and View(**r["view"]) == view]
            left = [r for r in left if not any(r is o for o in offline)]
        label = max((replay_label(view, Replay(**r["replay"])) for r in members), key=len)
        boards.append((f"{members[0]['instance']}, {label}", DispatchBoard(members, offline)))
    return boards, left


def show_dispatch(console: Console, title: str, board: DispatchBoard) -> list[str]:
    """Print a board's table and its notes; returns the contradictions found."""
    console.print(table(title, board, console.width))
    for line in summary(board):
        console.print(line)
    console.print()
    return [board.contradiction] if board.contradiction else []


def table(title: str, board: DispatchBoard, width: int = 120) -> Table:
    """The table of the dispatchers, within ``width`` columns; below 110 it leaves some out. The best are marked."""
    columns = [c for c in columns_of(board) if width >= NARROW or not c.wide]
    made = Table(title=escape(title), title_justify="left", box=box.SIMPLE_HEAD, padding=0, show_edge=False)
    made.add_column("dispatcher", overflow="fold", min_width=10)
    for column in columns:
        made.add_column(column.head, justify="right", no_wrap=True)
    made.add_column("veri-\nfied", no_wrap=True)
    best = [best_of(column, board.lines) for column in columns]
    for line in board.lines:
        cells: list[Text] = []
        for column, value in zip(columns, best, strict=True):
            mine = column.figure(line) if column.figure is not None else None
            won = mine is not None and mine == value and line.name != RECORDED
            space = MARK if won else " " if column.figure is not None else ""
            cells.append(Text(column.cell(line) + space, style="bold green" if won else ""))
        made.add_row(Text(line.name, style="dim" if line.name == RECORDED else ""), *cells, line.verdict)
    return made


def best_of(column: Column, lines: Sequence[Line]) -> float | None:
    """The best figure of a column among the dispatchers, if there are several and they differ."""
    if column.figure is None:
        return None
    known = [v for v in (column.figure(line) for line in lines if line.name != RECORDED) if v is not None]
    if len(known) < 2 or min(known) == max(known):
        return None
    return max(known) if column.greatest else min(known)


def columns_of(board: DispatchBoard) -> list[Column]:
    """The columns of a board; regret and gap where there is an offline schedule, or a bound."""
    aim = "WQT" if board.aim == "weighted-wait" else board.aim.replace("-", "-\n")
    used = next((n for n in _metrics(board) if n == "utilisation_cores"), None) or next(
        (n for n in _metrics(board) if n.startswith("utilisation_") and "submitting" not in n), "utilisation_cores"
    )
    resource = used.removeprefix("utilisation_")
    found = [
        _figure("mean\nwait s", "wait_mean", count),
        _figure("max\nwait s", "wait_max", count),
        _figure("mean\nslow-\ndown", "slowdown_mean", short),
        _figure("bounded\nslow-\ndown", "bounded_slowdown_mean", short, wide=True),
        Column(aim, lambda line: number(_objective(line, board)), lambda line: _objective(line, board)),
        _figure("late\njobs", "NL", count),
        _figure(f"{resource}\nused", used, lambda v: f"{100 * v:.1f}%", greatest=True, wide=True),
        Column("calls: made/\nsolver/opt/cut", decisions, wide=True),
        Column("ms a call:\nmean/p99/max", milliseconds),
    ]
    if board.best is not None:
        found.append(Column("regret", lambda line: percent(regret(line.objective, board.best))))
    if board.bound is not None:
        found.append(Column("gap to\nbound", lambda line: percent(relative_gap(line.objective, board.bound))))
    return found


def _metrics(board: DispatchBoard) -> Iterable[str]:
    return next((list(r["metrics"]) for r in board.records if "metrics" in r), [])


def _objective(line: Line, board: DispatchBoard) -> float | None:
    """The objective; of what the real machine did, where a metric says it."""
    return line.objective if line.records or board.aim != "weighted-wait" else line.metric("WQT")


def _figure(
    head: str, name: str, written: Callable[[float], str], greatest: bool = False, wide: bool = False
) -> Column:
    def cell(line: Line) -> str:
        value = line.metric(name)
        return "-" if value is None else written(value)

    return Column(head, cell, lambda line: line.metric(name), greatest, wide)


def regret(value: float | None, best: float | None) -> float | None:
    """By how much an objective is worse than the best offline schedule's, relative to that one; below 0: better.

    >>> regret(15.0, 10.0), regret(0.0, 0.0), regret(1.0, 0.0)
    (0.5, 0.0, None)
    """
    if value is None or best is None or (best == 0 and value != 0):
        return None
    return (value - best) / best if best else 0.0


def decisions(line: Line) -> str:
    """Decisions made / that reached the solver / of these proven optimal / cut by the limit."""
    names = ("decisions_made", "decisions_solver", "decisions_ended_optimal", "decisions_ended_limit")
    values = [line.metric(n) for n in names]
    if values[1] is None:
        values = values[:1]
    return "/".join("-" if v is None else compact(v) for v in values)


def milliseconds(line: Line) -> str:
    """Milliseconds of a decision: mean / 99th percentile / greatest; a compiled policy knows the mean alone."""
    values = [line.metric(f"decisions_seconds_{n}") for n in ("mean", "p99", "max")]
    if values[1] is None:
        values = values[:1]
    return "/".join("-" if v is None else short(1000 * v) for v in values)


def summary(board: DispatchBoard) -> list[Text]:
    """What stands below: the clairvoyant's best schedule and bound, what the solver added, what needs a word."""
    lines = []
    offline = board.clairvoyant
    if offline.schedule is not None:
        who = offline.schedule["method"]
        lines.append(Text(f"best offline schedule, every duration known: {number(board.best)} by {who}, verified"))
    if offline.bound is not None:
        lines.append(Text(f"best true bound: {number(board.bound)} by {offline.bound['method']}"))
    if board.contradiction:
        lines.append(Text(board.contradiction, style="bold red"))
    lines += [Text(text) for text in map(solver_calls, board.lines) if text]
    notes: dict[str, list[str]] = {}
    for r in board.records:
        for note in () if r["cause"] else (r.get("simulation") or {}).get("notes", ()):
            names = notes.setdefault(note, [])
            names += [r["method"]] if r["method"] not in names else []
    lines += [Text(f"{', '.join(names)}: {note}", style="dim") for note, names in notes.items()]
    reasons = {r["method"]: reason for r in [*board.records, *board.offline] if (reason := trouble(r))}
    return lines + [Text(f"{method}: {reason}", style="dim") for method, reason in reasons.items()]


def solver_calls(line: Line) -> str:
    """How the calls that reached a solver ended, what it added to its warm start, and what max_stretch did."""
    asked = line.metric("decisions_solver") if line.records else None
    if asked is None:
        return ""
    if not asked:
        return f"{line.name}: no call reached the solver"
    ends = [
        (kind, line.metric(f"decisions_ended_{key}"))
        for key, kind in (
            ("optimal", "proven optimal"),
            ("limit", "cut by the limit"),
            ("no-gain", "ended without gain"),
            ("infeasible", "infeasible"),
            ("nothing", "without answer"),
        )
    ]
    parts = [f"{100 * n / asked:.0f}% {kind}" for kind, n in ends if n]
    same, gain = line.metric("decisions_gain_none"), line.metric("decisions_gain_mean")
    if same is not None and gain is not None:
        parts.append(f"{100 * same / asked:.0f}% with the warm start itself, mean gain {100 * gain:.2f}%")
    p99 = line.metric("decisions_solver_seconds_p99")
    parts += [f"p99 {seconds(p99)} s"] if p99 is not None else []
    urgent = line.metric("decisions_urgent")
    put = f"; max stretch put jobs first {compact(urgent)} times" if urgent else ""
    return f"{line.name}: of {compact(asked)} calls that reached the solver " + ", ".join(parts) + put


def count(value: float) -> str:
    """A figure as a whole number.

    >>> count(12345.6)
    '12,346'
    """
    return f"{value:,.0f}"


def compact(value: float) -> str:
    """A whole number without commas; a mean over seeds with one decimal."""
    return f"{value:.0f}" if value == int(value) else f"{value:.1f}"


def short(value: float) -> str:
    """A figure to three digits.

    >>> short(0.01234), short(3.14159), short(1234.5)
    ('0.012', '3.14', '1,234')
    """
    return (
        f"{value:,.0f}"
        if value >= 100
        else f"{value:.1f}"
        if value >= 10
        else f"{value:.2f}"
        if value >= 0.1
        else f"{value:.3f}"
    )
