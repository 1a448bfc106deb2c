"""Print all tables of a run: those of each problem kind, chosen by the kind of the records."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console

from ..kinds.base import bench_kind
from ..records.store import Record


def by_kind(records: Iterable[Record]) -> dict[str, list[Record]]:
    """Group records by their problem kind, in the order of their first record."""
    found: dict[str, list[Record]] = {}
    for record in records:
        found.setdefault(record["kind"], []).append(record)
    return found


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
    wrong: list[str] = []
    for kind, members in by_kind(records).items():
        wrong += bench_kind(kind).show_results(console, members, explain)
    return wrong
