"""Best-known values: read from the tables of a suite, kept beside the records, compared with the results.

They stand in ``best_known.csv`` in the folder of records: instance, value, bound, source. They are values of whole instances
with their own objective; runs on a part of an instance are not compared with them.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ...backends.result import close, refutes
from ...instances.classic import library_name
from ...instances.files.sheet import Sheet
from ...instances.files.writing import write_whole
from ..errors import WrongUse
from ..records.store import Record, sealed
from ..runs.view import View
from .suite import BestTable

FILE = "best_known.csv"
NEW = "new_best"
COLUMNS = ("instance", "value", "bound", "source")


class BestKnown(NamedTuple):
    """The best-known value of an instance, a proven bound (None: unknown), and where they come from."""

    value: float
    bound: float | None
    source: str


class NewBest(NamedTuple):
    """A schedule that is better than the best-known value.

    Attributes
    ----------
    record
        The record of the run.
    known
        The value that it improves.
    refuted
        Whether it is better than the proven bound allows: then one of the two is wrong.
    """

    record: Record
    known: BestKnown
    refuted: bool


Table = Mapping[str, BestKnown]


def collected(tables: Iterable[BestTable]) -> dict[str, BestKnown]:
    """Return the values of all tables by the name of the instance. Raises WrongUse for a wrong file."""
    known: dict[str, BestKnown] = {}
    for table in tables:
        known |= {library_name(name): BestKnown(value, None, table.source) for name, value in table.values.items()}
        if table.file is not None:
            known |= _of_file(table.file, table.columns, table.source)
    return known


LITERATURE = "literature"
OF_LITERATURE = Path(__file__).with_name("literature.csv")


def given(texts: Iterable[str]) -> dict[str, BestKnown]:
    """Return the values of the option ``--known``: CSV files, or the list of the literature that schedlab brings.

    Parameters
    ----------
    texts
        Paths of CSV files with the columns ``instance`` and ``value``, and ``bound``, ``source`` and ``date`` if there are such; or
        "literature". Later ones replace the values of earlier ones.

    Raises
    ------
    WrongUse
        If a file cannot be read, or is wrong.
    """
    known: dict[str, BestKnown] = {}
    for text in texts:
        path = OF_LITERATURE if text == LITERATURE else Path(text)
        if not path.is_file():
            raise WrongUse(f"--known {text}: there is no such file; expected a CSV file, or {LITERATURE}")
        values = _of_file(path, ("instance", "value", "bound" if _has_bounds(path) else None), "")
        known |= {name: best._replace(source=best.source or path.name) for name, best in values.items()}
    return known


def _has_bounds(path: Path) -> bool:
    """Return whether a CSV file has a column of bounds. Raises WrongUse."""
    try:
        return "bound" in Sheet(path).header()
    except OSError as e:
        raise WrongUse(f"{path}: the best-known values cannot be read ({e.strerror})") from e


def known_values(folder: Path) -> dict[str, BestKnown]:
    """Return the best-known values beside the records of a folder; none if there is no such file. Raises WrongUse."""
    path = folder / FILE
    return _of_file(path, ("instance", "value", "bound"), "") if path.is_file() else {}


def keep_known(folder: Path, values: Table) -> None:
    """Write best-known values beside the records; those of other instances that stand there are kept."""
    if not values:
        return
    every = known_values(folder) | dict(values)
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(COLUMNS)
    rows.writerows(
        [name, *("" if v is None else f"{v:.15g}" for v in known[:2]), known.source]
        for name, known in sorted(every.items())
    )
    folder.mkdir(parents=True, exist_ok=True)
    with sealed(folder):
        write_whole(folder / FILE, text.getvalue())


def known_of(record: Mapping[str, Any], values: Table) -> BestKnown | None:
    """Return the best-known value that a record is compared with; None for a part of an instance or a replay."""
    if record["replay"] is not None or View(**record["view"]) != View():
        return None
    return values.get(record["instance"])


def new_bests(records: Iterable[Record], values: Table) -> list[NewBest]:
    """Return the best verified schedule of each instance whose best-known value it improves."""
    best: dict[str, NewBest] = {}
    for r in records:
        known = known_of(r, values)
        objective = r["objective"]
        if known is None or not r["verified"] or not isinstance(objective, (int, float)):
            continue
        earlier = best.get(r["instance"])
        limit = known.value if earlier is None else earlier.record["objective"]
        if refutes(objective, limit, r["sense"]):
            wrong = known.bound is not None and refutes(objective, known.bound, r["sense"])
            best[r["instance"]] = NewBest(r, known, wrong)
    return list(best.values())


def keep_new(folder: Path, bests: Sequence[NewBest]) -> list[Path]:
    """Write the records of new best schedules to the folder ``new_best``, as ``bench verify FILE --instance`` reads them."""
    paths = [folder / NEW / f"{new.record['instance']}.json" for new in bests]
    with sealed(folder):
        for path, new in zip(paths, bests, strict=True):
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, json.dumps(new.record, indent=1, allow_nan=False) + "\n")
    return paths


def reached(objective: float, known: BestKnown) -> bool:
    """Return whether an objective equals the best-known value within the tolerance of objectives."""
    return close(objective, known.value)


def _of_file(path: Path, columns: tuple[str, str, str | None], source: str) -> dict[str, BestKnown]:
    """Return the values of a CSV file; an empty ``source`` stands for its column of this name."""
    try:
        sheet = Sheet(path)
        header = sheet.header()
        for column in filter(None, columns):
            if column.lower() not in header:
                sheet.add_fault(1, column, f"a column of this name; the file has {', '.join(header)}", None)
        sheet.raise_faults()
        instance, value, bound = (None if c is None else c.lower() for c in columns)
        known: dict[str, BestKnown] = {}
        for row in sheet.rows():
            number = row.number_in(str(value))
            if number is not None:
                least = None if bound is None else row.maybe(bound)
                dated = ", ".join(filter(None, (row.cells.get("source", ""), row.cells.get("date", ""))))
                known[library_name(row.cells[str(instance)])] = BestKnown(number, least, source or dated)
        sheet.raise_faults()
    except OSError as e:
        raise WrongUse(f"{path}: the best-known values cannot be read ({e.strerror})") from e
    return known
