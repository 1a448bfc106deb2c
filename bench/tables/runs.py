"""A table with a row per run for other programs: CSV, Parquet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

from ...instances.files.writing import move_whole, temporary_path, to_csv, write_whole
from ..errors import WrongUse
from ..records.store import Record
from ..statistics.measures import dual_integral, gap, gap_to_bound, gap_to_known, primal_integral, seconds
from ..statistics.sample import name_of, outcome_of, sample_of

OF_RECORD = (
    "instance", "kind", "method", "seed", "threads", "time_limit", "solver", "version", "schedlab", "status", "cause", "verified",
    "objective", "bound", "first_solution_s", "best_s", "started", "key",
)  # fmt: skip
MEASURES = {
    "seconds_to_proof": seconds,
    "gap": gap,
    "gap_to_bound": gap_to_bound,
    "gap_to_known": gap_to_known,
    "primal_integral": primal_integral,
    "dual_integral": dual_integral,
}


def rows_of(records: Sequence[Record], known: Mapping[str, float]) -> list[dict[str, Any]]:
    """Return a row per run: fields of its record, its state, and its measures in the sample of all records.

    Runs that are no part of the statistics (replays, several objectives) have no measures.
    """
    problems = {p.name: p for p in sample_of(records, known).problems}
    rows = []
    for r in records:
        name = name_of(r)
        row: dict[str, Any] = {field: r.get(field) for field in OF_RECORD} | {"problem": name, "state": None}
        row["seconds"] = r["seconds"].get("total")
        row |= dict.fromkeys(MEASURES)
        problem = problems.get(name)
        if problem is not None and r["method"] in problem.runs and not isinstance(r["objective"], list):
            run = outcome_of(r)
            row["state"] = run.state
            row |= {what: value if isfinite(value := m(problem, run)) else None for what, m in MEASURES.items()}
        else:
            row["objective"] = row["bound"] = None
        rows.append(row)
    return rows


def write_csv(path: Path, records: Sequence[Record], known: Mapping[str, float]) -> int:
    """Write the rows as CSV and return their number. Raises WrongUse."""
    rows = rows_of(records, known)
    head = list(rows[0])
    try:
        write_whole(path, to_csv(head, [["" if v is None else v for v in row.values()] for row in rows]))
    except OSError as e:
        raise WrongUse(f"{path}: cannot be written ({e.strerror})") from e
    return len(rows)


def write_parquet(path: Path, records: Sequence[Record], known: Mapping[str, float]) -> int:
    """Write the rows as Parquet and return their number. Raises WrongUse, also if pyarrow is missing."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as e:
        raise WrongUse("--parquet needs pyarrow: pip install 'schedlab[parquet]'") from e
    rows = rows_of(records, known)
    table = pyarrow.table({name: _column(row[name] for row in rows) for name in rows[0]})
    temporary = temporary_path(path)
    try:
        parquet.write_table(table, temporary)
        move_whole(temporary, path)
    except OSError as e:
        raise WrongUse(f"{path}: cannot be written ({e.strerror})") from e
    finally:
        temporary.unlink(missing_ok=True)
    return len(rows)


def _column(values: Iterable[Any]) -> list[Any]:
    """Return a column of one type: numbers become floats if one is a float."""
    found = list(values)
    numbers = any(isinstance(v, float) for v in found)
    return [float(v) if numbers and isinstance(v, int) and not isinstance(v, bool) else v for v in found]
