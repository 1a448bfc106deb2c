"""A table with a row per run for other programs: CSV, Parquet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

from ...instances.files.writing import move_whole, temporary_path, write_whole
from ..errors import WrongUse
from ..grid import Column, Grid
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


def runs_grid(records: Sequence[Record], known: Mapping[str, float]) -> Grid:
    """Return a row per run: fields of its record, its state, and its measures in the sample of all records.

    Runs that are no part of the statistics (replays, several objectives) have no measures.
    """
    problems = {p.name: p for p in sample_of(records, known).problems}
    heads = [*OF_RECORD, "problem", "state", "seconds", *MEASURES]
    rows = []
    for r in records:
        name = name_of(r)
        row: dict[str, Any] = dict.fromkeys(heads) | {field: r.get(field) for field in OF_RECORD}
        row |= {"problem": name, "seconds": r["seconds"].get("total")}
        problem = problems.get(name)
        if problem is not None and r["method"] in problem.runs and not isinstance(r["objective"], list):
            run = outcome_of(r)
            measures = {what: measure(problem, run) for what, measure in MEASURES.items()}
            row |= {"state": run.state} | {what: v if isfinite(v) else None for what, v in measures.items()}
        else:
            row |= {"objective": None, "bound": None}
        rows.append(list(row.values()))
    return Grid("runs", [Column(head) for head in heads], rows)


def write_csv(path: Path, records: Sequence[Record], known: Mapping[str, float]) -> int:
    """Write the rows as CSV and return their number. Raises WrongUse."""
    grid = runs_grid(records, known)
    try:
        write_whole(path, grid.as_csv())
    except OSError as e:
        raise WrongUse(f"{path}: cannot be written ({e.strerror})") from e
    return len(grid.rows)


def write_parquet(path: Path, records: Sequence[Record], known: Mapping[str, float]) -> int:
    """Write the rows as Parquet and return their number. Raises WrongUse, also if pyarrow is missing."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as e:
        raise WrongUse("--parquet needs pyarrow: pip install 'schedlab[parquet]'") from e
    grid = runs_grid(records, known)
    columns = dict(zip(grid.heads, map(_of_one_type, zip(*grid.rows, strict=True)), strict=True))
    temporary = temporary_path(path)
    try:
        parquet.write_table(pyarrow.table(columns), temporary)
        move_whole(temporary, path)
    except OSError as e:
        raise WrongUse(f"{path}: cannot be written ({e.strerror})") from e
    finally:
        temporary.unlink(missing_ok=True)
    return len(grid.rows)


def _of_one_type(values: Sequence[Any]) -> list[Any]:
    """Return a column of one type: numbers become floats if one is a float."""
    numbers = any(isinstance(v, float) for v in values)
    return [float(v) if numbers and isinstance(v, int) and not isinstance(v, bool) else v for v in values]
