"""Reading a folder of records for the commands about results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ....backends import UnknownName
from ...records.store import Record
from ...runs.selection import parse_methods
from ...statistics.sample import records_of
from ...suites.best_known import known_values


def records_with(folder: Path, methods: Sequence[str] | None) -> list[Record]:
    """Return the records of a folder, only those of some methods if these are given. Raises WrongUse, UnknownName."""
    records = records_of(folder)
    if methods is None:
        return records
    chosen = parse_methods(methods)
    known = list(dict.fromkeys(r["method"] for r in records))
    for name in chosen:
        if name not in known:
            raise UnknownName("method", name, known, f" in {folder}")
    return [r for r in records if r["method"] in chosen]


def known_of(folder: Path) -> dict[str, float]:
    """Return the best-known values beside the records."""
    return {name: known.value for name, known in known_values(folder).items()}
