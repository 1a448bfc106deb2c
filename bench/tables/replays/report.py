"""The table of the dispatchers over a day or a trace, and what stands below it."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..methods import trouble
from ..numbers import number, seconds
from .board import RECORDED, DispatcherRow, ReplayResults, sorted_out
from .columns import Column, best_of, columns_of, compact, key_of
from .figures import TextGrid, predictions

MARK = "*"  # behind the best of a column


def show_dispatch(console: Console, title: str, board: ReplayResults) -> list[str]:
    """Print a board's tables, what the columns mean, and the notes; returns the contradictions found."""
    columns, left_out = fitting(board, console.width)
    console.print(table(title, board, columns))
    console.print(Text(f"{MARK}: the best. {key_of(columns)}", style="dim"))
    if left_out:
        names = ", ".join(c.name for c in left_out)
        console.print(Text(f"Not shown for lack of room: {names} (the records have them, as bench plot).", style="dim"))
    for line in summary(board):
        console.print(line)
    told = predictions(board)
    if told.rows:
        console.print()
        console.print(drawn(told))
        console.print(Text(told.meaning, style="dim"))
    console.print()
    return [board.contradiction] if board.contradiction else []


def fitting(board: ReplayResults, width: int) -> tuple[list[Column], list[Column]]:
    """The columns for which there is room within ``width``, and those that are left out."""
    shown, left_out = columns_of(board), []
    names = max([len("dispatcher"), *(len(line.name) for line in board.lines)])
    verdicts = max([len("veri-"), *(len(line.verdict.plain) for line in board.lines)])
    size = {c.head: _width(c, board) for c in shown}
    while names + verdicts + 1 + sum(size[c.head] + 1 for c in shown) > width and any(c.spare for c in shown):
        last = max(shown, key=lambda c: c.spare)
        shown.remove(last)
        left_out.append(last)
    return shown, left_out


def _width(column: Column, board: ReplayResults) -> int:
    mark = len(MARK) if column.figure is not None else 0
    return max([*map(len, column.head.split("\n")), *(len(column.cell(line)) + mark for line in board.lines)])


def table(title: str, board: ReplayResults, columns: Sequence[Column]) -> Table:
    """The table of the dispatchers. The best of each column are marked."""
    made = _empty(title)
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


def drawn(grid: TextGrid) -> Table:
    """A grid as a table of the terminal."""
    made = _empty(grid.title)
    for k, head in enumerate(grid.heads):
        words = k == 0 or k == len(grid.heads) - 1
        made.add_column(head, justify="left" if words else "right", no_wrap=not words, overflow="fold")
    for row in grid.rows:
        made.add_row(*(Text(cell) for cell in row))
    return made


def _empty(title: str) -> Table:
    return Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=0, show_edge=False)


def summary(board: ReplayResults) -> list[Text]:
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


def solver_calls(line: DispatcherRow) -> str:
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
    put = f"; against starvation jobs went first {compact(urgent)} times" if urgent else ""
    return f"{line.name}: of {compact(asked)} calls that reached the solver " + ", ".join(parts) + put


__all__ = ["fitting", "show_dispatch", "sorted_out", "summary", "table"]
