"""Print all tables of a run: eviction problems, profit problems, other problems by method, then replays."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console

from ..records.store import Record
from .methods import show_methods


def show(console: Console, records: Iterable[Record], explain: bool = False) -> list[str]:
    """Print the tables of some records.

    Parameters
    ----------
    console : rich.console.Console
        Where the tables are printed; its width decides how many columns they have.
    records : iterable of Record
        The records of runs and replays, of any problem kind.
    explain : bool
        Whether the meaning of every column is printed below each table.

    Returns
    -------
    list of str
        One message for each bound that a verified schedule refutes.
    """
    from . import eviction as report_eviction
    from . import profit as report_profit
    from .replays.report import extract_replays, show_dispatch

    wrong = []
    replayed, others = extract_replays(records)
    evictions, others = report_eviction.extract_evictions(others)
    for title, kept in evictions:
        wrong += report_eviction.show(console, title, kept, explain)
    profits, others = report_profit.extract_profits(others)
    wrong += report_profit.show(console, profits, explain)
    wrong += show_methods(console, others, explain)
    for title, replays in replayed:
        wrong += show_dispatch(console, title, replays, explain)
    return wrong
