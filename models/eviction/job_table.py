"""Running jobs of an eviction problem from a table of pandas."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

from ..tables import table_rows, whole_cell
from .jobs import BatchJob, EvictionCandidate

MAYBE = ("last_checkpoint", "next_checkpoint", "system_s", "application_s")  # columns that may be left out


def jobs_of_table(table: Any) -> list[BatchJob | EvictionCandidate]:
    """Return the jobs of a table; see ``Eviction.from_pandas``."""
    physical = "memory" in getattr(table, "columns", ())
    kind: type[Any] = BatchJob if physical else EvictionCandidate
    own = fields(kind)
    needed = [f.name for f in own if f.default is MISSING and f.name not in MAYBE]
    _, rows = table_rows(table, "Eviction.from_pandas", needed, [f.name for f in own], same={"job": "id"})
    jobs = []
    for row in rows:
        given = {name: whole_cell(value) for name, value in row.items()}
        absent = {f.name: None if f.default is MISSING else f.default for f in own}
        jobs.append(kind(**{**absent, **{name: value for name, value in given.items() if value is not None}}))
    return jobs
