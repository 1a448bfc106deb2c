"""A suite, read from a TOML file: a shipped one by its name, or a file of the user.

description = "Job shops of Fisher and Thompson."
seeds = "1-3"                        # of all runs, as after --seeds; default: 1
threads = 2                          # of all runs; default: as in bench run
memory_gb = 4.0                      # of each run; default: as in bench run

[[runs]]
instances = ["ft*.txt", "eurora_99"] # names of shipped instances; files, folders or globs, from the folder of this file
data = ["jsp/*.txt"]                 # with --data DIR: in their place; globs from DIR
formats = ["jsplib", "psplib"]       # or, with --data DIR: every file of DIR and its folders whose content has one of these formats
methods = ["multi-sgs", "cpsat:modes"]   # default: those of each instance
time_limit = 60                      # seconds; default: that of each method
at = "12:00"                         # the part that is run: at, first, durations, objective, nodes_needed,
first = 100                          # scenarios, keep; as the options of bench run

[[best_known]]
source = "ScheduleOpt/benchmarks, 79f0edc"
values = { ft06 = 55, ft10 = 930 }   # of whole instances with their own objective

[[best_known]]
source = "ScheduleOpt/benchmarks, 79f0edc"
file = "jsp/best_known.csv"          # from DIR, or the same name in DIR itself; left out without --data, or if DIR lacks it
instance = "instance"                # its columns; endings of file names are ignored
value = "ub"
bound = "lb"                         # optional: a proven bound
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from ...backends import UnknownName
from ...instances.classic import LIBRARIES
from ...models.excerpt import excerpt
from ..errors import WrongUse

HERE = Path(__file__).parent
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
    return sorted(p.stem for p in HERE.glob("*.toml"))


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
    file = HERE / f"{word}.toml" if word in shipped_suites() else Path(word)
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
    own = "formats" if "formats" in group else "data"
    key = own if data is not None and own in group else "instances"
    for name in ("instances", "data", "formats", "methods", "scenarios"):
        if name in group and not (group[name] and all(isinstance(each, str) and each for each in group[name])):
            raise WrongUse(f"{where}: {name}: expected at least one text, found {excerpt(group[name])}")
    if key not in group:
        hint = "; its files are in another folder: give it with --data DIR" if own in group else ""
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
    places = [] if data is None else [data / table["file"], data / Path(table["file"]).name]
    file_there = next((place for place in places if place.is_file() and _has_columns(place, columns)), None)
    return None if file_there is None else BestTable(table["source"], {}, file_there, columns)


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
