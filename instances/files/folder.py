"""Reading of an instance folder: settings in ``instance.toml``, rows in CSV files such as ``jobs.csv``.

A ``Folder`` collects all faults of all files, each with its place, so that one error message can list all of them.
After a fault a default value is returned, so that reading can go on.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any

from ...models.comparing import hashable
from ...models.unknown_names import similar
from .faults import Fault, InstanceError
from .lines import LARGEST_TOML, TextError, csv_rows, line_of_long_number, read_text, split_lines, text_lines
from .numbers import LONGEST, number_of, whole_of
from .own_files import ForeignFile, own_file

SETTINGS = "instance.toml"
MOST_WHOLE = 2**53  # default upper limit of whole numbers: a float represents them exactly up to here
HUGE = 10**LONGEST  # above every number that is read; told as too large
MOST_NUMBER = 1e15  # upper limit of the absolute value of other numbers: their sums and products stay finite
Place = tuple[str | int, ...]
DEEPEST = 20  # levels of nested tables and lists


@dataclass
class Folder:
    """An instance folder that is being read; ``raise_faults`` raises InstanceError if there are faults.

    >>> Folder(Path("nowhere")).settings.text("kind")
    ''
    """

    path: Path
    faults: list[Fault] = field(default_factory=list)
    lines: dict[Place, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        values: dict[str, Any] = {}
        text = None
        with self._reading(SETTINGS):
            text = read_text(own_file(self.path, SETTINGS), LARGEST_TOML)
        if text is not None:
            try:
                if _is_deep(found := tomllib.loads(text)):
                    raise RecursionError
                values = found
            except RecursionError:
                self.add_fault(
                    SETTINGS, None, "syntax", f"TOML with at most {DEEPEST} levels of nested tables and lists", "more"
                )
            except tomllib.TOMLDecodeError as e:
                place = re.search(r"\(at line (\d+)", str(e))
                self.add_fault(SETTINGS, int(place[1]) if place else None, "syntax", "TOML", str(e))
            except ValueError:
                self.add_fault(SETTINGS, line_of_long_number(text), "syntax", "numbers of 64 bits", "more digits")
            self.lines = _toml_lines(text)
        _check_range(self, values)
        self.settings = Table(self, values, ())

    @contextmanager
    def _reading(self, name: str) -> Iterator[None]:
        """Record what is wrong with a file as a whole as a fault."""
        try:
            yield
        except FileNotFoundError:
            self.add_fault(name, None, "file", f"a file of this name in {self.path}", None)
        except UnicodeDecodeError as e:
            self.add_fault(name, None, "encoding", "UTF-8", str(e))
        except ForeignFile as e:
            self.add_fault(name, None, "file", f"a regular file of {self.path}", str(e))
        except TextError as e:
            self.add_fault(
                name, e.line, e.field, f"{e.expected} in {self.path}" if e.found is None else e.expected, e.found
            )

    def add_fault(self, file: str, line: int | None, where: str, expected: str, found: object) -> None:
        """Record a fault."""
        self.faults.append(Fault(file, line, where, expected, found))

    def raise_faults(self) -> None:
        """Raise InstanceError with all faults recorded so far, if there are any."""
        if self.faults:
            raise InstanceError(self.path, self.faults)

    def rows(self, name: str, columns: Sequence[str], optional: Sequence[str] = ()) -> Iterator[TableRow]:
        """Yield the rows of a CSV file. Missing, unknown and repeated columns and rows of a wrong length are faults."""
        with self._reading(name):
            lines = text_lines(own_file(self.path, name))
            yield from self._rows(name, csv_rows(name, lines), columns, optional)

    def _rows(
        self, name: str, table: Iterator[tuple[int, list[str]]], columns: Sequence[str], optional: Sequence[str]
    ) -> Iterator[TableRow]:
        header = [h.strip() for h in next(table, (1, []))[1]]
        for column in columns:
            if column not in header:
                self.add_fault(
                    name, 1, column, f"a column of this name; the file has {', '.join(header) or 'no columns'}", None
                )
        for column in dict.fromkeys(header):
            if column not in columns and column not in optional:
                self.add_fault(name, 1, column, f"only the columns {', '.join([*columns, *optional])}", column)
            if header.count(column) > 1:
                self.add_fault(name, 1, column, "this column only once", header.count(column))
        if any(c not in header for c in columns):
            return
        for line, cells in table:
            if len(cells) == len(header):
                yield TableRow(self, name, line, dict(zip(header, (c.strip() for c in cells), strict=True)))
            elif cells:
                self.add_fault(name, line, "row", f"{len(header)} fields", len(cells))


class Table:
    """A table of ``instance.toml`` with its place; a wrong value is recorded as a fault, and a valid value returned."""

    def __init__(self, folder: Folder, values: Mapping[str, Any], place: Place) -> None:
        self.folder, self.values, self.place = folder, values, place

    def add_fault(self, key: str | int, expected: str, found: object) -> None:
        """Record a fault of the value of ``key``, with the line of the key or, if it is missing, of its table."""
        place: Place = (*self.place, key)
        lines = self.folder.lines
        line = next((lines[place[:n]] for n in range(len(place), 0, -1) if place[:n] in lines), None)
        self.folder.add_fault(SETTINGS, line, _dotted(place), expected, found)

    def text(self, key: str, default: str | None = None) -> str:
        """Return a string. Without a default, a missing key is a fault."""
        value = self.values.get(key, default)
        if isinstance(value, str):
            return value
        self.add_fault(key, "a text", value)
        return ""

    def whole(self, key: str, least: int, default: int | None = None, most: int = MOST_WHOLE) -> int:
        """Return a whole number from ``least`` to ``most``. Without a default, a missing key is a fault."""
        value = self.values.get(key, default)
        if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
            return value
        self.add_fault(key, _whole_number(value, least, most), value)
        return least

    def wholes(self, key: str, least: int = 0, *, needed: bool = True, most: int = MOST_WHOLE) -> dict[str, int]:
        """Return a table of whole numbers, {name: number}. If ``needed``, a missing key is a fault."""
        value = self.values.get(key, None if needed else {})
        if not isinstance(value, dict):
            self.add_fault(key, "a table of whole numbers", value)
            return {}
        inside = Table(self.folder, value, (*self.place, key))
        return {name: inside.whole(name, least, most=most) for name in value}

    def table(self, key: str) -> Table:
        """Return a table; an empty one if the key is missing."""
        value = self.values.get(key, {})
        if not isinstance(value, dict):
            self.add_fault(key, "a table", value)
            value = {}
        return Table(self.folder, value, (*self.place, key))

    def tables(self, key: str) -> list[Table]:
        """Return a list of tables. An empty or missing list is a fault."""
        value = self.values.get(key)
        if not isinstance(value, list) or not value or not all(isinstance(v, dict) for v in value):
            self.add_fault(key, f"at least one table [[{_dotted((*self.place, key))}]]", value)
            return []
        return [Table(self.folder, v, (*self.place, key, i)) for i, v in enumerate(value)]

    def only(self, *known: str) -> None:
        """Record a fault for every key that is not in ``known``, with a similar key if there is one."""
        for key in self.values:
            if key not in known:
                near = similar(key, known, 1)
                self.add_fault(key, f"{near[0]!r} perhaps" if near else f"one of {', '.join(known)}", key)


@hashable
@dataclass(frozen=True)
class TableRow:
    """A row of a CSV file: its cells by column, and its line number."""

    folder: Folder
    file: str
    line: int
    cells: Mapping[str, str]

    def add_fault(self, column: str, expected: str, found: object) -> None:
        """Record a fault of the cell in ``column``."""
        self.folder.add_fault(self.file, self.line, column, expected, found)

    def text(self, column: str) -> str:
        """Return a text. An empty cell is a fault."""
        value = self.cells[column]
        if not value:
            self.add_fault(column, "a text", None)
        return value

    def whole(self, column: str, least: int, most: int = MOST_WHOLE) -> int:
        """Return a whole number from ``least`` to ``most``. An empty cell is a fault."""
        found = self.maybe_whole(column, least, most)
        if found is None:
            self.add_fault(column, f"a whole number of at least {least}", None)
            return least
        return found

    def maybe_whole(self, column: str, least: int, most: int = MOST_WHOLE) -> int | None:
        """Return a whole number from ``least`` to ``most``; None if the cell is empty or the column missing."""
        value = self.cells.get(column, "")
        if not value:
            return None
        found = whole_of(value.strip(), -HUGE, HUGE)
        if found is None or not least <= found <= most:
            self.add_fault(column, _whole_number(found, least, most), value)
            return least
        return found

    def maybe_number(self, column: str) -> float | None:
        """Return a number of at least 0; None if the cell is empty or the column missing."""
        value = self.cells.get(column, "")
        if not value:
            return None
        found = number_of(value.strip())
        if found is None or not 0 <= found <= MOST_NUMBER:
            above = found is not None and found > 0
            self.add_fault(column, f"a number of at least 0{f', at most {MOST_NUMBER:g}' * above}", value)
            return None
        return found


def _is_deep(value: object) -> bool:
    """Check for more than DEEPEST levels of nested tables and lists."""
    level: list[Any] = [value]
    for _ in range(DEEPEST):
        inside = (v.values() if isinstance(v, dict) else v for v in level if isinstance(v, (dict, list)))
        level = [v for each in inside for v in each]
    return bool(level)


def _whole_number(value: object, least: int, most: int) -> str:
    """Describe the expected whole number; the upper limit is named only if the value is above it."""
    above = isinstance(value, int) and value > most
    return f"a whole number of at least {least}" + (f" and at most {most}" if above else "")


def _check_range(folder: Folder, values: dict[str, Any]) -> None:
    """Record numbers beyond 64 bits, which TOML does not allow, and beyond 1e15 as faults; replace them by 1."""
    todo: list[tuple[Place, Any]] = [((), values)]
    while todo:
        place, inside = todo.pop()
        for key, value in inside.items() if isinstance(inside, dict) else enumerate(inside):
            if isinstance(value, (dict, list)):
                todo.append(((*place, key), value))
            elif isinstance(value, int) and abs(value) >= 2**63:
                Table(folder, {}, place).add_fault(key, "a number of 64 bits", f"one of {value.bit_length():,} bits")
                inside[key] = 1
            elif isinstance(value, float) and MOST_NUMBER < abs(value) < inf:
                Table(folder, {}, place).add_fault(key, f"a number of at most {MOST_NUMBER:g}", value)
                inside[key] = 1


def _dotted(place: Place) -> str:
    return "".join(f"[{p + 1}]" if isinstance(p, int) else f".{p}" for p in place).lstrip(".")


def _toml_lines(text: str) -> dict[Place, int]:
    """Return the line number, from 1, of each table and key of a TOML text."""
    found: dict[Place, int] = {}
    counts: dict[Place, int] = {}
    here: Place = ()
    for number, line in enumerate(split_lines(text), 1):
        header = re.match(r"\s*(\[\[?)([\w.\- \t]+)\]", line)
        if header:
            here = tuple(p.strip() for p in header[2].split("."))
            if header[1] == "[[":
                counts[here] = counts.get(here, -1) + 1
                found.setdefault(here, number)
                here = (*here, counts[here])
            found[here] = number
        elif key := re.match(r"\s*([\w\-]+)\s*=", line):
            found.setdefault((*here, key[1]), number)
    return found
