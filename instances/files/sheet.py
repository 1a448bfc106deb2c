"""A single table file (CSV): its columns by several names, its rows with their lines, and all faults in one message."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .faults import Fault, InstanceError
from .folder import MOST_NUMBER
from .lines import TextError, csv_cells, read_lines

COMMENT = "#"
SHOWN = 10  # faults of one file that are told


@dataclass(frozen=True)
class SheetRow:
    """A row of a sheet: its cells by column, and its line in the file, counted from 1."""

    sheet: Sheet
    number: int
    cells: Mapping[str, str]

    def add_fault(self, column: str, expected: str, found: object) -> None:
        """Note a fault of this row."""
        self.sheet.add_fault(self.number, column, expected, found)

    def maybe(self, column: str, expected: str = "a number") -> float | None:
        """The number in a column; None where the cell is empty or there is no such column, or what is there is none."""
        text = self.cells.get(column, "")
        if not text:
            return None
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not abs(value) <= MOST_NUMBER:
            self.add_fault(column, expected + f", at most {MOST_NUMBER:g}" * (abs(value) > MOST_NUMBER), text)
            return None
        return value

    def number_in(self, column: str, expected: str = "a number") -> float | None:
        """The same of a cell that must not be empty; None after a fault."""
        if not self.cells.get(column, ""):
            self.add_fault(column, expected, None)
        return self.maybe(column, expected)


@dataclass
class Sheet:
    """A CSV file that is being read, .gz too; lines that begin with # are comments. ``done()`` raises InstanceError.

    Raises WorkloadError if there is no such file.
    """

    path: Path
    faults: list[Fault] = field(default_factory=list)
    lines: list[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.path = Path(self.path)
        self.lines = read_lines(self.path)

    def add_fault(self, line: int | None, where: str, expected: str, found: object) -> None:
        """Note a fault and go on."""
        self.faults.append(Fault(self.path.name, line, where, expected, found))

    def raise_faults(self) -> None:
        """Raise InstanceError with the faults told so far, if there are any: the first ten, and how many more."""
        if len(self.faults) > SHOWN:
            more = len(self.faults) - SHOWN
            self.faults[SHOWN:] = [Fault(self.path.name, None, "and more", "none", f"{more} more faults")]
        if self.faults:
            raise InstanceError(self.path, self.faults)

    def header(self, skip: int = 0) -> list[str]:
        """The names in the first line that is no comment, in small letters; ``skip``: so many lines are passed over."""
        return [h.strip().lower() for h in next(self._cells(skip), (0, []))[1]]

    def rows(self, skip: int = 0, until_empty: bool = False) -> Iterator[SheetRow]:
        """The rows below the header; one of another length is told. Empty lines are none, or end the table."""
        cells = self._cells(skip)
        _, names = next(cells, (0, []))
        header = [h.strip().lower() for h in names]
        for number, row in cells:
            if not row and until_empty:
                return
            if len(row) == len(header):
                yield SheetRow(self, number, dict(zip(header, (c.strip() for c in row), strict=True)))
            elif row:
                self.add_fault(number, "row", f"{len(header)} fields, as in the header", len(row))

    def _cells(self, skip: int) -> Iterator[tuple[int, Sequence[str]]]:
        """(line, cells) of all but comments and what stands empty above the header; an empty line has no cells."""
        begun = False
        for number, text in enumerate(self.lines[skip:], skip + 1):
            begun = begun or bool(text.strip() and not text.lstrip().startswith(COMMENT))
            if begun and not text.lstrip().startswith(COMMENT):
                yield number, self.cells(number, text) if text.strip() else []

    def cells(self, number: int, text: str) -> Sequence[str]:
        """The cells of a line. Raises InstanceError where it is no CSV."""
        try:
            return csv_cells(self.path, number, text)
        except TextError as e:
            self.add_fault(number, e.field, e.expected, e.found)
            self.raise_faults()
            raise


def one_of(header: Sequence[str], names: Sequence[str]) -> str | None:
    """The first of these names that is a column."""
    return next((name for name in names if name in header), None)
