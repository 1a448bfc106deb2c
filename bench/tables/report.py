"""Tables: per view one row per method, the best marked, the best true bound below."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console

from ..records.store import Record
from .methods import boards, summary, table


def show(console: Console, records: Iterable[Record]) -> list[str]:
    """Print the tables; returns the contradictions found."""
    from . import eviction as report_eviction
    from . import profit as report_profit
    from .replays.report import show_dispatch, sorted_out

    wrong = []
    replayed, others = sorted_out(records)
    evictions, others = report_eviction.sorted_out(others)
    for title, kept in evictions:
        wrong += report_eviction.show(console, title, kept)
    profits, others = report_profit.sorted_out(others)
    wrong += report_profit.show(console, profits)
    for title, board in boards(others):
        console.print(table(title, board, console.width))
        for line in summary(board):
            console.print(line)
        console.print()
        if board.contradiction:
            wrong.append(board.contradiction)
    for title, replays in replayed:
        wrong += show_dispatch(console, title, replays)
    return wrong
