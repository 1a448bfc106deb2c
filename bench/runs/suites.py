"""Suites: sets of instances with their methods, limits, seeds and best-known values; the shipped ones are TOML files."""

from __future__ import annotations

import csv
import io
import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from ...backends import UnknownName
from ...backends.result import close, refutes
from ...instances.classic import LIBRARIES, library_name
from ...instances.files.reading import Sheet
from ...instances.files.writing import write_whole
from ...models.words import excerpt
from ..errors import WrongUse
from ..records.store import Record, sealed
from .view import View

SHIPPED = Path(__file__).parents[1] / "suites"
OF_SUITE = {
    "description": str,
    "seeds": (str, list),
    "threads": int,
    "memory_gb": (int, float),
    "runs": list,
    "best_known": list,
}
OF_RUNS: dict[str, Any] = {
    "instances": list, "data": list, "formats": list, "methods": list, "time_limit": (int, float), "at": str, "first": int,
    "durations": str, "objective": str, "nodes_needed": int, "scenarios": list, "keep": str,
}  # fmt: skip
OF_BEST = {"source": str, "values": dict, "file": str, "instance": str, "value": str, "bound": str}


@dataclass(frozen=True)
class RunGroup:
    """Instances of a suite with their methods and limits.

    Attributes
    ----------
    patterns
        Names of shipped instances, paths and globs.
    base
        The folder of relative paths.
    options
        The other keys of the group, such as ``methods`` and ``time_limit``.
    formats
        Formats of benchmark libraries: the group has every file of ``base`` and its folders in one of them, and no patterns.
    """

    patterns: Sequence[str]
    base: Path
    options: Mapping[str, Any]
    formats: Sequence[str] = ()


@dataclass(frozen=True)
class BestTable:
    """Best-known values, given directly or in a CSV file.

    Attributes
    ----------
    source
        Where the values come from.
    values
        Instance -> value.
    file
        The CSV file; None if ``values`` has them all.
    columns
        The columns of the file with the instance, the value and (optional) the bound.
    """

    source: str
    values: Mapping[str, float]
    file: Path | None = None
    columns: tuple[str, str, str | None] = ("", "", None)


@dataclass(frozen=True)
class Suite:
    """A suite: groups of runs, the settings of all of them, and best-known values."""

    name: str
    description: str
    seeds: str | None
    threads: int | None
    memory_gb: float | None
    groups: Sequence[RunGroup]
    best: Sequence[BestTable]


def shipped_suites() -> list[str]:
    """Return the names of the shipped suites.

    Examples
    --------
    >>> shipped_suites()
    ['classic', 'eurora', 'profit', 'smoke', 'theta']
    """
    return sorted(p.stem for p in SHIPPED.glob("*.toml"))


def is_suite(word: str) -> bool:
    """Return whether a word of the command line names a suite: a shipped one, or a TOML file with ``[[runs]]``."""
    if word in shipped_suites():
        return True
    path = Path(word)
    return path.suffix == ".toml" and path.name != "instance.toml" and path.is_file()


def read_suite(word: str, data: Path | None = None) -> Suite:
    """Read a suite.

    Parameters
    ----------
    word
        Name of a shipped suite, or path of a TOML file.
    data
        Folder of files that are not part of the suite; groups with ``data`` use it in place of their ``instances``.

    Returns
    -------
    Suite

    Raises
    ------
    WrongUse
        The file is no suite; the message has the key. A suite without runs is an error.
    UnknownName
        A key is unknown; the message has similar ones.
    """
    if word in shipped_suites():
        file = SHIPPED / f"{word}.toml"
    else:
        file = Path(word)
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as e:  # also UnicodeDecodeError and TOMLDecodeError
        raise WrongUse(f"{file}: not a suite: {e}") from e
    if data is not None and not data.is_dir():
        raise WrongUse(f"--data {data}: there is no such folder")
    values = _checked(content, OF_SUITE, str(file))
    groups = [_group(each, file, data, k) for k, each in enumerate(values.get("runs", ()), 1)]
    if not groups:
        raise WrongUse(f"{file}: the suite is empty: expected at least one [[runs]] with instances")
    if data is not None and not any("data" in each or "formats" in each for each in values["runs"]):
        raise WrongUse(f"--data {data}: the suite {file.stem} has no files of its own outside; leave out --data")
    best = [_best(each, file, data, k) for k, each in enumerate(values.get("best_known", ()), 1)]
    seeds = values.get("seeds")
    return Suite(
        file.stem,
        values.get("description", ""),
        ",".join(map(str, seeds)) if isinstance(seeds, list) else seeds,
        _at_least(values, "threads", 1, str(file)),
        _at_least(values, "memory_gb", 0.01, str(file)),
        groups,
        [table for table in best if table is not None],
    )


def _group(values: Any, file: Path, data: Path | None, k: int) -> RunGroup:
    where = f"{file}: [[runs]] {k}"
    group = _checked(values, OF_RUNS, where)
    if "data" in group and "formats" in group:
        raise WrongUse(f"{where}: expected either data or formats")
    own = "data"
    if "formats" in group:
        own = "formats"
    key = "instances"
    if data is not None and own in group:
        key = own
    for name in ("instances", "data", "formats", "methods", "scenarios"):
        if name in group and not (group[name] and all(isinstance(each, str) and each for each in group[name])):
            raise WrongUse(f"{where}: {name}: expected at least one text, found {excerpt(group[name])}")
    if key not in group:
        hint = ""
        if own in group:
            hint = "; its files are in another folder: give it with --data DIR"
        raise WrongUse(f"{where}: expected instances{hint}")
    _at_least(group, "time_limit", 0.001, where)
    _at_least(group, "first", 1, where)
    _at_least(group, "nodes_needed", 0, where)
    for form in group.get("formats", ()):
        if form not in LIBRARIES:
            raise UnknownName("format", form, list(LIBRARIES), f" in {where}")
    options = {name: value for name, value in group.items() if name not in ("instances", "data", "formats")}
    if key == "formats" and data is not None:
        return RunGroup((), data, options, group["formats"])
    return RunGroup(group[key], data if key == "data" and data is not None else file.parent, options)


def _best(values: Any, file: Path, data: Path | None, k: int) -> BestTable | None:
    """Return a table of best-known values; None if its file is in the folder of data, and none is given or it lacks the file."""
    where = f"{file}: [[best_known]] {k}"
    table = _checked(values, OF_BEST, where)
    if not table.get("source"):
        raise WrongUse(f"{where}: expected source, a text that says where the values come from")
    if ("values" in table) == ("file" in table):
        raise WrongUse(f"{where}: expected either values or a file with the columns instance and value")
    if "values" in table:
        for name, value in table["values"].items():
            if not _is_number(value):
                raise WrongUse(f"{where}: {excerpt(name)}: expected a number, found {excerpt(value)}")
        return BestTable(table["source"], table["values"])
    for name in ("instance", "value"):
        if name not in table:
            raise WrongUse(f"{where}: expected {name}, a column of {table['file']}")
    columns = (table["instance"], table["value"], table.get("bound"))
    places = []
    if data is not None:
        places = [data / table["file"], data / Path(table["file"]).name]
    file_there = next((place for place in places if place.is_file() and _has_columns(place, columns)), None)
    if file_there is None:
        return None
    return BestTable(table["source"], {}, file_there, columns)


def _has_columns(path: Path, columns: tuple[str, str, str | None]) -> bool:
    """Return whether the first line of a CSV file has some columns: a flat folder may have the table of another library."""
    try:
        with path.open(encoding="utf-8") as f:
            header = [cell.strip().strip('"').lower() for cell in f.readline().split(",")]
    except (OSError, UnicodeDecodeError):
        return True  # what is wrong is said when it is read
    return all(column.lower() in header for column in columns if column is not None)


def _checked(values: Any, known: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return a table whose keys are known and whose values have their types. Raises UnknownName, WrongUse."""
    if not isinstance(values, dict):
        raise WrongUse(f"{where}: expected a table, found {excerpt(values)}")
    for name, value in values.items():
        if name not in known:
            raise UnknownName("key", name, list(known), f" in {where}")
        if not isinstance(value, known[name]) or isinstance(value, bool):
            raise WrongUse(f"{where}: {name}: expected {_type(known[name])}, found {excerpt(value)}")
    return values


def _type(kind: Any) -> str:
    names = {str: "a text", int: "a whole number", float: "a number", list: "a list", dict: "a table"}
    return " or ".join(names[each] for each in (kind if isinstance(kind, tuple) else (kind,)))


def _at_least(values: Mapping[str, Any], name: str, least: float, where: str) -> Any:
    value = values.get(name)
    if value is not None and not least <= value < float("inf"):
        raise WrongUse(f"{where}: {name}: expected a number of at least {least:g}, found {excerpt(value)}")
    return value


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and isfinite(value)


# --- Best-known values: read from the tables of a suite, kept beside the records, compared with the results.


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
OF_LITERATURE = SHIPPED / "literature.csv"


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
        if text == LITERATURE:
            path = OF_LITERATURE
        else:
            path = Path(text)
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
    if path.is_file():
        return _of_file(path, ("instance", "value", "bound"), "")
    return {}


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
        if earlier is None:
            limit = known.value
        else:
            limit = earlier.record["objective"]
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
                least = None
                if bound is not None:
                    least = row.maybe(bound)
                dated = ", ".join(filter(None, (row.cells.get("source", ""), row.cells.get("date", ""))))
                known[library_name(row.cells[str(instance)])] = BestKnown(number, least, source or dated)
        sheet.raise_faults()
    except OSError as e:
        raise WrongUse(f"{path}: the best-known values cannot be read ({e.strerror})") from e
    return known
