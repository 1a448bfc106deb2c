"""The table of the dispatchers on one workload, and the texts below it."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..records.store import Record
from .methods import legend, number, seconds, trouble
from .replay_figures import (
    NAMES,
    TextGrid,
    cycles,
    evictor_grid,
    models,
    network,
    phases,
    predictions,
    preemption_grid,
    production_grids,
    protocol,
)
from .replay_figures import reasons as refused
from .replays import (
    RECORDED,
    Column,
    DispatcherRow,
    ReplayResults,
    best_of,
    columns_of,
    compact,
    key_of,
)

MARK = "*"  # stands after the best value of a column


def show_dispatch(console: Console, title: str, results: ReplayResults, explain: bool = False) -> list[str]:
    """Print the tables of some replays with their legends and a summary.

    Parameters
    ----------
    console : rich.console.Console
        Where the tables are printed; its width decides how many columns they have.
    title : str
        The title of the first table.
    results : ReplayResults
        The replays of one workload.
    explain : bool
        Whether the meaning of every column is printed below each table.

    Returns
    -------
    list of str
        A message for each bound that a verified schedule refutes.
    """
    columns, left_out = fitting(results, console.width)
    console.print(table(title, results, columns))
    console.print(legend(key_of(columns), explain, f"{MARK}: the best of its column."))
    if left_out:
        names = ", ".join(c.name for c in left_out)
        console.print(Text(f"Not shown, as the terminal is too narrow: {names} (bench plot shows them).", style="dim"))
    for line in summary(results):
        console.print(line)
    for grid in grids_of(results):
        if grid.rows:
            console.print()
            console.print(drawn(grid))
            console.print(legend(grid.meaning, explain))
    console.print()
    return [results.contradiction] if results.contradiction else []


def grids_of(results: ReplayResults) -> list[TextGrid]:
    """Return the tables below the table of the dispatchers; those without rows are not shown."""
    figures = (predictions, models, phases, cycles, protocol, network)
    return [preemption_grid(results), *production_grids(results), *(of(results) for of in figures)]


def show_evictors(console: Console, records: Sequence[Record], explain: bool) -> None:
    """Print the figures of all dispatchers and evictors of replays with on-demand jobs in one table."""
    grid = evictor_grid(records)
    if grid.rows:
        console.print(drawn(grid))
        console.print(legend(grid.meaning, explain))


def fitting(results: ReplayResults, width: int) -> tuple[list[Column], list[Column]]:
    """Return the columns that fit into ``width`` characters, and those that are left out."""
    shown, left_out = columns_of(results), []
    names = max([len("dispatcher"), *(len(row.name) for row in results.rows)])
    verdicts = max([len("veri-"), *(len(row.verdict.plain) for row in results.rows)])
    size = {c.head: _width(c, results) for c in shown}
    while names + verdicts + 1 + sum(size[c.head] + 1 for c in shown) > width and any(c.spare for c in shown):
        last = max(shown, key=lambda c: c.spare)
        shown.remove(last)
        left_out.append(last)
    return shown, left_out


def _width(column: Column, results: ReplayResults) -> int:
    mark = len(MARK) if column.figure is not None else 0
    return max([*map(len, column.head.split("\n")), *(len(column.cell(row)) + mark for row in results.rows)])


def table(title: str, results: ReplayResults, columns: Sequence[Column]) -> Table:
    """Return the table of the dispatchers, with the best values of each column marked."""
    made = _empty(title)
    made.add_column("dispatcher", overflow="fold", min_width=10)
    for column in columns:
        made.add_column(column.head, justify="right", no_wrap=True)
    made.add_column("veri-\nfied", no_wrap=True)
    best = [best_of(column, results.rows) for column in columns]
    for row in results.rows:
        cells: list[Text] = []
        for column, value in zip(columns, best, strict=True):
            mine = column.figure(row) if column.figure is not None else None
            won = mine is not None and mine == value and row.name != RECORDED
            space = MARK if won else " " if column.figure is not None else ""
            cells.append(Text(column.cell(row) + space, style="bold green" if won else ""))
        made.add_row(Text(row.name, style="dim" if row.name == RECORDED else ""), *cells, row.verdict)
    return made


def drawn(grid: TextGrid) -> Table:
    """Return a grid as a table for the terminal."""
    made = _empty(grid.title)
    for k, head in enumerate(grid.heads):
        words = k == 0 or head == NAMES
        made.add_column(head, justify="left" if words else "right", no_wrap=not words, overflow="fold")
    for row in grid.rows:
        made.add_row(*(Text(cell) for cell in row))
    return made


def _empty(title: str) -> Table:
    return Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=0, show_edge=False)


def summary(results: ReplayResults) -> list[Text]:
    """Return the lines below the table: best offline schedule and bound, use of the solver, notes, reasons of failures."""
    lines = []
    offline = results.clairvoyant
    if offline.schedule is not None:
        method = offline.schedule["method"]
        lines.append(
            Text(f"best offline schedule, every runtime known in advance: {number(results.best)} by {method}, verified")
        )
    if offline.bound is not None:
        lines.append(Text(f"best true bound: {number(results.bound)} by {offline.bound['method']}"))
    if results.contradiction:
        lines.append(Text(results.contradiction, style="bold red"))
    lines += [Text(text) for text in map(solver_calls, results.rows) if text]
    notes: dict[str, list[str]] = {}
    for r in results.records:
        for note in () if r["cause"] else (r.get("simulation") or {}).get("notes", ()):
            names = notes.setdefault(note, [])
            names += [r["method"]] if r["method"] not in names else []
    lines += [Text(f"{', '.join(names)}: {note}", style="dim") for note, names in notes.items()]
    lines += [Text(f"{', '.join(names)}: {why}") for why, names in refused(results).items()]
    reasons = {r["method"]: reason for r in [*results.records, *results.offline] if (reason := trouble(r))}
    return lines + [Text(f"{method}: {reason}", style="dim") for method, reason in reasons.items()]


def solver_calls(row: DispatcherRow) -> str:
    """Return how the calls that used a solver ended, its gain over the warm start, and how often max_stretch acted."""
    calls = row.metric("decisions_solver") if row.records else None
    if calls is None:
        return ""
    if not calls:
        return "" if row.records[0]["solver"] == "schedlab" else f"{row.name}: no call used the solver"
    ends = [
        (kind, row.metric(f"decisions_ended_{key}"))
        for key, kind in (
            ("optimal", "proven optimal"),
            ("limit", "stopped by the limit"),
            ("no-gain", "stopped without further gain"),
            ("infeasible", "infeasible"),
            ("nothing", "without a schedule"),
        )
    ]
    parts = [f"{100 * n / calls:.0f}% {kind}" for kind, n in ends if n]
    same, gain = row.metric("decisions_gain_none"), row.metric("decisions_gain_mean")
    if same is not None and gain is not None:
        parts.append(f"{100 * same / calls:.0f}% kept the warm start, mean gain {100 * gain:.2f}%")
    p99 = row.metric("decisions_solver_seconds_p99")
    parts += [f"99th percentile {seconds(p99)} s"] if p99 is not None else []
    urgent = row.metric("decisions_urgent")
    first = f"; jobs put first against starvation: {compact(urgent)} times" if urgent else ""
    return f"{row.name}: of {compact(calls)} calls that used the solver, " + ", ".join(parts) + first
