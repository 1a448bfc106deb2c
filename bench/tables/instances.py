"""The table of instances: a row per instance with the best schedule and bound of all methods, and the best-known value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...backends.gaps import close, refutes, relative_gap
from ..records.store import Record
from .legend import legend
from .methods import ViewResults, group_by_view
from .numbers import number, percent

if TYPE_CHECKING:
    from ..suites.best_known import BestKnown

COLUMNS = (
    "best: the best verified objective of all methods and seeds; by: the method that found it first; proven: methods that "
    "proved an optimum, of all; bound: the best bound that no schedule refutes; gap: |best - bound| / max(|best|, |bound|); "
    "known: the best-known value; gap to it: (best - known) / |known|, positive if worse, new: better than it; failed: runs "
    "without a verified schedule, of all."
)
HEADS = ("instance", "best", "by", "proven", "bound", "gap", "known", "gap to it", "failed")


def show_instances(console: Console, records: Iterable[Record], known: Mapping[str, BestKnown]) -> list[str]:
    """Print the table, with the best-known values of ``known``; return the contradictions found."""
    groups = group_by_view(r for r in records if r["replay"] is None)
    if not groups:
        return []
    table = Table(title="instances", title_justify="left", box=box.SIMPLE_HEAD, padding=0, show_edge=False)
    for head in HEADS:
        left = head in ("instance", "by")
        table.add_column(head, justify="left" if left else "right", overflow="fold", no_wrap=not left)
    for title, results in groups:
        table.add_row(*_cells(title, results, known))
    console.print(table)
    console.print(legend(COLUMNS, False))
    wrong = [results.contradiction for _, results in groups if results.contradiction]
    for text in wrong:
        console.print(Text(text, style="bold red"))
    return wrong


def _cells(title: str, results: ViewResults, known: Mapping[str, BestKnown]) -> list[str | Text]:
    from ..suites.best_known import known_of

    first, best, bound = results.records[0], results.schedule, results.bound
    value = None if best is None else best["objective"]
    limit = None if bound is None else bound["bound"]
    proven = sum(any(r["status"] == "optimal" for r in row.sound) for row in results.rows)
    lacking = sum(not r["verified"] for r in results.records)
    there = known_of(first, known)
    name = title.removesuffix(f", {'1 thread' if first['threads'] == 1 else str(first['threads']) + ' threads'}")
    return [
        name.removesuffix(", the whole instance"),
        number(value),
        "-" if best is None else Text(best["method"]),
        f"{proven}/{len(results.rows)}",
        number(limit),
        percent(relative_gap(value, limit)),
        "-" if there is None else number(there.value),
        _to_known(value, there, first["sense"] or "minimize"),
        f"{lacking}/{len(results.records)}",
    ]


def _to_known(value: float | None, known: BestKnown | None, sense: str) -> str | Text:
    """Return the signed gap to the best-known value; "new" if the value is better."""
    if value is None or known is None:
        return "-"
    if refutes(value, known.value, sense):
        return Text(f"new {percent(abs(value - known.value) / max(abs(known.value), 1e-9))}", style="bold green")
    if close(value, known.value):
        return "0.0%"
    return percent(abs(value - known.value) / abs(known.value)) if known.value else "-"
