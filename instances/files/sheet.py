"""Reading of a single CSV file: alternative column names, rows with line numbers, all faults in one error message."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ...models.comparing import hashable
from ...models.words import how_many
from .folder import MOST_NUMBER, Fault, InstanceError
from .lines import TextError, csv_cells, number_of, read_lines

COMMENT = "#"
SHOWN = 10  # faults of one file in the error message


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
        if len(self.faults) > SHOWN:
            more = len(self.faults) - SHOWN
            self.faults[SHOWN:] = [Fault(self.path.name, None, "further faults", "none", how_many(more, "more fault"))]
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
