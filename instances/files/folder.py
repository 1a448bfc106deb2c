"""Reading of instance files, settings in TOML and rows in CSV, with all faults in one error."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import tomllib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any

from ...errors import SchedlabError
from ...models.comparing import hashable
from ...models.excerpt import excerpt, shortened, similar, visible, with_short_repr
from ...models.words import how_many
from .lines import (
    LARGEST_TOML,
    LONGEST,
    TextError,
    csv_cells,
    csv_rows,
    line_of_long_number,
    number_of,
    read_lines,
    read_text,
    split_lines,
    text_lines,
    undecodable,
    whole_of,
)

# --- Faults of the files of an instance, each with its place, and the error that lists them.

SHOWN = 50  # faults in the message of an error


@with_short_repr
@hashable
@dataclass(frozen=True)
class Fault:
    """One mistake in the files of an instance.

    Attributes
    ----------
    file
        The name of the file.
    line
        The line number, counted from 1; None if the fault has no line.
    field
        The setting, column or property that is wrong.
    expected
        A description of valid values.
    found
        The value in the file; None if there is none.
    """

    file: str
    line: int | None
    field: str
    expected: str
    found: object

    def __str__(self) -> str:
        where = self.file if self.line is None else f"{self.file}, line {self.line}"
        value = "nothing" if self.found is None else excerpt(self.found)
        return shortened(visible(f"{where}, {self.field}: expected {self.expected}, found {value}"))


class InstanceError(SchedlabError, ValueError):
    """The error for files with faults; the message lists the first 50 of them.

    Parameters
    ----------
    path
        The instance folder or the file.
    faults
        All faults.
    """

    def __init__(self, path: Path, faults: Sequence[Fault]) -> None:
        self.path = path
        self.faults = tuple(faults)
        count = how_many(len(faults), "fault")
        count += f", the first {SHOWN} of them" if len(faults) > SHOWN else ""
        super().__init__("\n".join([f"{path}: {count}", *(f"  {fault}" for fault in faults[:SHOWN])]))


# --- The files that belong to an instance (the regular files inside its folder), and the hash of their content.

BLOCK = 1 << 20


class ForeignFile(SchedlabError, ValueError):
    """The error for a name in a data file that is not that of a regular file of the folder; the message says why."""


def own_file(folder: str | Path, name: str) -> Path:
    """Return the path of a file that is named in a data file, if it belongs to the folder.

    Links are followed, and their target is checked. Names that begin with a dot are refused: they are reserved for
    locks and temporary files, which the content hash ignores.

    Parameters
    ----------
    folder
        The folder of an instance or of results.
    name
        The name of the file, as written in the data file.

    Returns
    -------
    Path
        The path of the file.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    ForeignFile
        The file is outside of the folder, hidden, or not a regular file.

    Examples
    --------
    >>> own_file(".", "../outside.csv")
    Traceback (most recent call last):
    ...
    schedlab.instances.files.folder.ForeignFile: it is outside of the folder
    """
    path = Path(folder, name)
    if ".." in Path(name).parts or Path(name).is_absolute():
        raise ForeignFile("it is outside of the folder")
    try:
        root = Path(folder).resolve(strict=True)
        real = path.resolve(strict=True)
        regular = stat.S_ISREG(real.stat().st_mode)
    except FileNotFoundError:
        raise
    except (OSError, ValueError, RuntimeError) as e:  # name too long, cycle of links, null character
        raise ForeignFile(f"its path cannot be followed ({getattr(e, 'strerror', None) or e})") from e
    if not real.is_relative_to(root):
        raise ForeignFile("it is outside of the folder")
    if path.name.startswith(".") or real.name.startswith("."):
        raise ForeignFile("its name begins with a dot")
    if not regular:
        raise ForeignFile("it is not a regular file")
    return path


def content_of(path: Path) -> str:
    """Return a hash of an instance folder (names and bytes of all files that it may read) or of a log file.

    Parameters
    ----------
    path
        The folder of an instance, or the file of a log.

    Returns
    -------
    str
        20 hexadecimal digits.

    Raises
    ------
    OSError
        A file cannot be read.
    """
    digest = hashlib.sha256()
    for name, file in _files(path) if path.is_dir() else [(path.name, path)]:
        if file is None:
            digest.update(f"{name}\0".encode(errors="surrogateescape"))
            continue
        with file.open("rb") as f:
            digest.update(f"{name}\0{os.fstat(f.fileno()).st_size}\0".encode(errors="surrogateescape"))
            while block := f.read(BLOCK):
                digest.update(block)
    return digest.hexdigest()[:20]


def _files(folder: Path) -> Iterator[tuple[str, Path | None]]:
    """Yield (name, path) of the files of a folder, sorted; for a link to a folder or to the outside (text, None)."""
    root = folder.resolve()
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.name.startswith("."):
            continue
        if path.is_symlink() and (path.is_dir() or not _within(path, root)):
            yield f"{name} -> {os.readlink(path)}", None
        elif path.is_file():
            yield name, path


def _within(path: Path, root: Path) -> bool:
    try:
        return path.resolve().is_relative_to(root)
    except (OSError, RuntimeError):  # cycle of links
        return False


# --- Reading of an instance folder: settings in ``instance.toml``, rows in CSV files such as ``jobs.csv``.
#
# A ``Folder`` collects all faults of all files, each with its place, so that one error message can list all of them.
# After a fault a default value is returned, so that reading can go on.

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
                if _is_deep(parsed := tomllib.loads(text)):
                    raise RecursionError
                values = parsed
            except RecursionError:
                self.add_fault(
                    SETTINGS, None, "syntax", f"TOML with at most {DEEPEST} levels of nested tables and lists", "more"
                )
            except tomllib.TOMLDecodeError as e:
                place = re.search(r"\(at line (\d+)", str(e))
                self.add_fault(SETTINGS, int(place[1]) if place else None, "syntax", "TOML", str(e))
            except ValueError:
                self.add_fault(SETTINGS, line_of_long_number(text), "syntax", "numbers of 64 bits", "more digits")
            self.lines = toml_lines(text)
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
            self.add_fault(name, None, "encoding", "UTF-8", undecodable(e))
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

    def rows(
        self, name: str, columns: Sequence[str], optional: Sequence[str] = (), rare: Collection[str] = ()
    ) -> Iterator[TableRow]:
        """Yield the rows of a CSV file. Missing, unknown and repeated columns and rows of a wrong length are faults.

        Messages do not list the columns ``rare``.
        """
        with self._reading(name):
            lines = text_lines(own_file(self.path, name))
            yield from self._rows(name, csv_rows(name, lines), columns, optional, rare)

    def _rows(
        self,
        name: str,
        table: Iterator[tuple[int, list[str]]],
        columns: Sequence[str],
        optional: Sequence[str],
        rare: Collection[str],
    ) -> Iterator[TableRow]:
        header = [h.strip() for h in next(table, (1, []))[1]]
        for column in columns:
            if column not in header:
                self.add_fault(
                    name, 1, column, f"a column of this name; the file has {', '.join(header) or 'no columns'}", None
                )
        for column, count in Counter(header).items():
            if column not in columns and column not in optional and column not in rare:
                self.add_fault(name, 1, column, f"only the columns {', '.join([*columns, *optional])}", column)
            if count > 1:
                self.add_fault(name, 1, column, "this column only once", count)
        if any(c not in header for c in columns):
            return
        for line, cells in table:
            if len(cells) == len(header):
                yield TableRow(self, name, line, dict(zip(header, (c.strip() for c in cells), strict=True)))
            elif cells:
                self.add_fault(name, line, "row", how_many(len(header), "field"), len(cells))


class Table:
    """A table of ``instance.toml`` with its place; a wrong value is recorded as a fault, and a valid value returned."""

    def __init__(self, folder: Folder, values: Mapping[str, Any], place: Place) -> None:
        self.folder = folder
        self.values = values
        self.place = place

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
        number = self.maybe_whole(column, least, most)
        if number is None:
            self.add_fault(column, f"a whole number of at least {least}", None)
            return least
        return number

    def maybe_whole(self, column: str, least: int, most: int = MOST_WHOLE) -> int | None:
        """Return a whole number from ``least`` to ``most``; None if the cell is empty or the column missing."""
        value = self.cells.get(column, "")
        if not value:
            return None
        number = whole_of(value.strip(), -HUGE, HUGE)
        if number is None or not least <= number <= most:
            self.add_fault(column, _whole_number(number, least, most), value)
            return least
        return number

    def maybe_number(self, column: str) -> float | None:
        """Return a number of at least 0; None if the cell is empty or the column missing."""
        value = self.cells.get(column, "")
        if not value:
            return None
        number = number_of(value.strip())
        if number is None or not 0 <= number <= MOST_NUMBER:
            above = number is not None and number > 0
            self.add_fault(column, f"a number of at least 0{f', at most {MOST_NUMBER:g}' * above}", value)
            return None
        return number


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
                Table(folder, {}, place).add_fault(
                    key, "a number of 64 bits", f"one of {how_many(value.bit_length(), 'bit', ',')}"
                )
                inside[key] = 1
            elif isinstance(value, float) and MOST_NUMBER < abs(value) < inf:
                Table(folder, {}, place).add_fault(key, f"a number of at most {MOST_NUMBER:g}", value)
                inside[key] = 1


def _dotted(place: Place) -> str:
    return "".join(f"[{p + 1}]" if isinstance(p, int) else f".{p}" for p in place).lstrip(".")


def toml_lines(text: str) -> dict[Place, int]:
    """Return the line number, from 1, of each table and key of a TOML text."""
    lines: dict[Place, int] = {}
    counts: dict[Place, int] = {}
    here: Place = ()
    for number, line in enumerate(split_lines(text), 1):
        header = re.match(r"\s*(\[\[?)([\w.\- \t]+)\]", line)
        if header:
            here = tuple(p.strip() for p in header[2].split("."))
            if header[1] == "[[":
                counts[here] = counts.get(here, -1) + 1
                lines.setdefault(here, number)
                here = (*here, counts[here])
            lines[here] = number
        elif key := re.match(r"\s*([\w\-]+)\s*=", line):
            lines.setdefault((*here, key[1]), number)
    return lines


# --- A single CSV file: alternative column names, rows with line numbers.

COMMENT = "#"
SHOWN_OF_SHEET = 10  # faults of one file in the error message


@hashable
@dataclass(frozen=True)
class SheetRow:
    """A row of a CSV file: its cells by column, and its line number, counted from 1."""

    sheet: Sheet
    number: int
    cells: Mapping[str, str]

    def add_fault(self, column: str, expected: str, found: object) -> None:
        """Record a fault of this row."""
        self.sheet.add_fault(self.number, column, expected, found)

    def maybe(self, column: str, expected: str = "a number") -> float | None:
        """Return the number in a column; None if the cell is empty or the column missing, and after a fault."""
        text = self.cells.get(column, "")
        if not text:
            return None
        value = number_of(text)
        if value is None or abs(value) > MOST_NUMBER:
            limit = "" if value is None else f", at most {MOST_NUMBER:g}"
            self.add_fault(column, expected + limit, text)
            return None
        return value

    def number_in(self, column: str, expected: str = "a number") -> float | None:
        """Return the number in a column. An empty cell is a fault; None is returned after a fault."""
        if not self.cells.get(column, ""):
            self.add_fault(column, expected, None)
        return self.maybe(column, expected)


@dataclass
class Sheet:
    """A CSV file, plain or gzip-compressed, that is being read. Lines that begin with # are comments.

    ``raise_faults`` raises InstanceError if there are faults. The constructor raises WorkloadError if the file cannot
    be read.
    """

    path: Path
    faults: list[Fault] = field(default_factory=list)
    lines: list[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.path = Path(self.path)
        self.lines = read_lines(self.path)

    def add_fault(self, line: int | None, where: str, expected: str, found: object) -> None:
        """Record a fault."""
        self.faults.append(Fault(self.path.name, line, where, expected, found))

    def raise_faults(self) -> None:
        """Raise InstanceError, if there are faults, with the first ten of them and the number of the others."""
        if len(self.faults) > SHOWN_OF_SHEET:
            more = len(self.faults) - SHOWN_OF_SHEET
            self.faults[SHOWN_OF_SHEET:] = [
                Fault(self.path.name, None, "further faults", "none", how_many(more, "more fault"))
            ]
        if self.faults:
            raise InstanceError(self.path, self.faults)

    def header(self, skip: int = 0) -> list[str]:
        """Return the column names, in lower case, of the first line that is no comment, after ``skip`` lines."""
        return [h.strip().lower() for h in next(self._cells(skip), (0, []))[1]]

    def rows(self, skip: int = 0, stop_at_empty: bool = False) -> Iterator[SheetRow]:
        """Yield the rows below the header; a row of another length is a fault. Empty lines are skipped, or end it."""
        cells = self._cells(skip)
        _, names = next(cells, (0, []))
        header = [h.strip().lower() for h in names]
        for number, row in cells:
            if not row and stop_at_empty:
                return
            if len(row) == len(header):
                yield SheetRow(self, number, dict(zip(header, (c.strip() for c in row), strict=True)))
            elif row:
                self.add_fault(number, "row", f"{how_many(len(header), 'field')}, as in the header", len(row))

    def _cells(self, skip: int) -> Iterator[tuple[int, Sequence[str]]]:
        """Yield (line number, cells) from the header on, without comments; an empty line has no cells."""
        in_table = False
        for number, text in enumerate(self.lines[skip:], skip + 1):
            in_table = in_table or bool(text.strip() and not text.lstrip().startswith(COMMENT))
            if in_table and not text.lstrip().startswith(COMMENT):
                yield number, self.cells(number, text) if text.strip() else []

    def cells(self, number: int, text: str) -> Sequence[str]:
        """Return the cells of a line. Raises InstanceError if it is not valid CSV."""
        try:
            return csv_cells(self.path, number, text)
        except TextError as e:
            self.add_fault(number, e.field, e.expected, e.found)
            self.raise_faults()
            raise


def one_of(header: Sequence[str], names: Sequence[str]) -> str | None:
    """Return the first of these names that is a column; None if there is none."""
    return next((name for name in names if name in header), None)
