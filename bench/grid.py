"""A table of results: columns, rows and notes, as a table of the terminal, HTML, LaTeX, CSV, JSON or a pandas frame."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import zip_longest
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from ..instances.files.writing import to_csv

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import ConsoleOptions

# --- Forms of numbers.

UNKNOWN = "-"
UNITS_OF_TIME = ((120, ("s", 1)), (7200, ("min", 60)))  # below so many seconds; else hours


def number(value: Any) -> str:
    """Return an objective or a bound with five significant digits, an integer with all its digits, and None as "-".

    >>> number(19.5), number(2750.25), number(33.0), number(None)
    ('19.500', '2,750.2', '33', '-')
    """
    if value is None:
        return UNKNOWN
    if isinstance(value, (list, tuple)):
        return " / ".join(map(number, value))
    if isinstance(value, int) or value.is_integer():
        return f"{value:,.0f}"
    if abs(value) < 1000:
        return f"{value:#.5g}"
    if abs(value) < 1e5:
        return f"{value:,.1f}"
    return f"{value:,.0f}"


def short(value: float) -> str:
    """Return a figure with about three significant digits; one that is not 0 has at most four decimals.

    >>> short(0.01234), short(3.14159), short(1234.5), short(0.0003), short(0)
    ('0.012', '3.14', '1,234', '0.0003', '0.000')
    """
    small = 3
    if 0 < value < 0.001:
        small = 4
    decimals = next((n for least, n in ((100, 0), (10, 1), (0.1, 2)) if value >= least), small)
    return f"{value:,.{decimals}f}"


def fixed(decimals: int) -> Callable[[float], str]:
    """Return the form with this number of decimals.

    >>> fixed(1)(1234.56), fixed(0)(12345.6)
    ('1,234.6', '12,346')
    """
    return lambda value: f"{value:,.{decimals}f}"


def percent(value: float | None, decimals: int = 1) -> str:
    """Return a share between 0 and 1 as percent, and None as "-"."""
    if value is None:
        return UNKNOWN
    return f"{100 * value:.{decimals}f}%"


def signed(value: float | None) -> str:
    """Return a share as percent with its sign.

    >>> signed(0.0123), signed(-0.4), signed(None)
    ('+1.23%', '-40.00%', '-')
    """
    if value is None:
        return UNKNOWN
    return f"{100 * value:+,.2f}%"


def seconds(value: float | None) -> str:
    """Return seconds with two decimals below 10 s and one decimal above, and None as "-"."""
    if value is None:
        return UNKNOWN
    if value < 9.995:
        return f"{value:.2f}"
    return f"{value:.1f}"


def time_unit(seconds: float) -> tuple[str, int]:
    """Return the unit in which a time of some seconds is shown, and its length in seconds.

    >>> time_unit(45), time_unit(1500), time_unit(86400)
    (('s', 1), ('min', 60), ('h', 3600))
    """
    return next((unit for most, unit in UNITS_OF_TIME if abs(seconds) < most), ("h", 3600))


def time_text(seconds: float, decimals: int = 1) -> str:
    """Return a time as text, with a unit that fits it; ``decimals``: of minutes and hours.

    >>> time_text(45), time_text(1380), time_text(90_000_000)
    ('45 s', '23.0 min', '25,000.0 h')
    """
    unit, length = time_unit(seconds)
    if unit == "s":
        return f"{seconds:,.0f} s"
    return f"{seconds / length:,.{decimals}f} {unit}"


def compact(value: float) -> str:
    """Return a number without commas: an integer without decimals, any other number with one decimal."""
    if value == int(value):
        return f"{value:.0f}"
    return f"{value:.1f}"


def milliseconds(value: float) -> str:
    """Return seconds as milliseconds with about three significant digits."""
    return short(1000 * value)


def ratio(value: float) -> str:
    """Return a figure with three decimals."""
    return f"{value:.3f}"


def count(value: float) -> str:
    """Return a figure as a whole number."""
    return f"{value:,.0f}"


def plain_number(value: Any) -> str:
    """Return a whole number with commas, and anything else as its text.

    >>> plain_number(86400), plain_number(2.5)
    ('86,400', '2.5')
    """
    if isinstance(value, int):
        return f"{value:,}"
    return str(value)


def mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of the known values, None if there are none; of integers an integer where it is one.

    >>> mean([3, 5, None]), mean([1, 2]), mean([])
    (4, 1.5, None)
    """
    known = [v for v in values if v is not None]
    if not known:
        return None
    middle = fmean(known)
    if middle.is_integer() and all(isinstance(v, int) for v in known):
        return int(middle)
    return middle


# --- A table of results.

MARK = "*"  # stands after the best value of a column
MARKED = f"{MARK}: the best of its column."
GOOD = "bold green"
BAD = "bold red"
WARNING = "yellow"
DIM = "dim"
CLASSES = {GOOD: "best", BAD: "failed"}  # of cells in HTML
BLANKS = 12  # characters of a column of names to which words with blanks between them may be broken
HINT = "--explain says what each column means."
NUMERAL = re.compile(r"[-+]?[\d,]+(\.\d+)?")
SPECIAL = {c: "\\" + c for c in "&%$#_{}"} | {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
}  # fmt: skip


class Styled(NamedTuple):
    """A value with a style of rich: ``GOOD``, ``BAD``, ..."""

    value: Any
    style: str

    def __str__(self) -> str:
        """Return the value as a text."""
        return str(self.value)


class Cell(NamedTuple):
    """A cell as text; ``pad``: what is missing on the right so that the decimal points of a column are aligned."""

    text: str
    pad: str = ""
    style: str = ""

    @property
    def css(self) -> str:
        """The class of the cell in HTML, or ""."""
        return CLASSES.get(self.style, "")


@dataclass(frozen=True)
class Column:
    r"""A column.

    Attributes
    ----------
    head
        The heading, with line breaks for the terminal; ``"\xad\n"`` (soft hyphen) breaks a word.
    value
        Returns the value of a row, or its ``Styled`` value; None is unknown.
    form
        Returns a known value as text.
    meaning
        What the column means; "" if another column says so.
    unit
        The unit of the values, for JSON, if the heading does not have it.
    best
        ``min`` or ``max``: the least or the greatest value is marked.
    words
        Whether the values are texts, which are aligned on the left and may be broken into lines.
    spare
        0: always shown. On a narrow terminal the columns with the greatest number are left out first, all of them together.
    least
        Of words: the width to which they may be broken before other columns are left out; 0: never.
    title
        The name where the heading needs its neighbours to be understood: in pages, LaTeX, CSV and JSON.

    Examples
    --------
    >>> Column("mean\nslow\xad\ndown").name, Column("95 %", title="95 % of the wait").name
    ('mean slowdown', '95 % of the wait')
    """

    head: str
    value: Callable[[Any], Any] = str
    form: Callable[[Any], str] = str
    meaning: str = ""
    unit: str = ""
    best: Callable[[Iterable[float]], float] | None = None
    words: bool = False
    spare: int = 0
    least: int = 0
    title: str = ""

    @property
    def name(self) -> str:
        """The title, or the heading in one line."""
        return self.title or re.sub(r"(?<=[-/])\n", "", self.head.replace("\xad\n", "")).replace("\n", " ").strip()

    def text(self, value: Any) -> str:
        """Return a value as text, "-" if it is unknown (None or NaN); a text is returned as it is."""
        if isinstance(value, str):
            return value
        if value is None or value != value:
            return UNKNOWN
        return self.form(value)


@dataclass(frozen=True)
class Grid:
    """A table of results.

    Attributes
    ----------
    title
        The title, or the caption.
    columns
        The columns.
    rows
        The values, row by row; a value may be ``Styled``.
    meaning
        What the columns mean.
    notes
        Lines below the table.
    marked
        What the mark after a value, or in a column of its own, means.
    """

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]] = ()
    meaning: str = ""
    notes: Sequence[str] = field(default=())
    marked: str = MARKED

    @classmethod
    def of(
        cls,
        title: str,
        columns: Iterable[Column | None],
        items: Iterable[Any],
        meaning: str = "",
        *,
        style: Callable[[Any], str] = lambda item: "",
        rival: Callable[[Any], bool] = lambda item: True,
        keep_empty: bool = True,
        marked: str = MARKED,
    ) -> Grid:
        """Return a grid with a row for each item.

        Parameters
        ----------
        title, meaning, marked
            See ``Grid``; without ``meaning``, those of the columns are joined.
        columns
            The columns; None is left out.
        items
            What the rows are about.
        style
            Returns the style of the row of an item.
        rival
            Returns whether an item takes part in the comparison of ``Column.best``.
        keep_empty
            Whether rows remain of which nothing but the first cell is known.
        """
        shown = [column for column in columns if column is not None]
        there = list(items)
        table = [[_styled(column.value(item), style(item)) for column in shown] for item in there]
        for k, column in enumerate(shown):
            if column.best is not None:
                _mark([row for row, item in zip(table, there, strict=True) if rival(item)], k, column.best)
        if not keep_empty:
            table = [row for row in table if any(_plain(value) is not None for value in row[1:])]
        meaning = meaning or "; ".join(dict.fromkeys(c.meaning for c in shown if c.meaning)).removesuffix(".") + "."
        return cls(title, shown, table, meaning.removeprefix("."), marked=marked)

    @classmethod
    def of_texts(
        cls,
        title: str,
        heads: Sequence[str],
        rows: Sequence[Sequence[Any]],
        meaning: str = "",
        words: Collection[str] = (),
    ) -> Grid:
        """Return a grid of texts and numbers; the first column and those named in ``words`` are aligned on the left."""
        columns = [Column(head, form=plain_number, words=k == 0 or head in words) for k, head in enumerate(heads)]
        return cls(title, columns, rows, meaning)

    @cached_property
    def cells(self) -> list[list[Cell]]:
        """The cells as texts, row by row."""
        columns = zip_longest(*self.rows) if self.rows else ()
        if self.rows:
            texts = [_column_cells(column, values) for column, values in zip(self.columns, columns, strict=True)]
        else:
            texts = []
        return [list(row) for row in zip(*texts, strict=True)]

    @property
    def texts(self) -> list[list[str]]:
        """The texts of the cells, row by row."""
        return [[cell.text for cell in row] for row in self.cells]

    @property
    def heads(self) -> list[str]:
        """The headings, each in one line."""
        return [column.name for column in self.columns]

    def fitted(self, width: int) -> tuple[Grid, list[Column]]:
        """Return the grid with the columns that fit into ``width`` characters, and the columns that are left out."""
        shown = list(range(len(self.columns)))
        left_out = []
        while sum(self._widths[k] + 1 for k in shown) - 1 > width:
            most = max(self.columns[k].spare for k in shown)
            if not most:
                break
            left_out += [self.columns[k] for k in shown if self.columns[k].spare == most]
            shown = [k for k in shown if self.columns[k].spare != most]
        rows = [[row[k] for k in shown] for row in self.rows]
        return replace(self, columns=[self.columns[k] for k in shown], rows=rows), left_out

    @cached_property
    def _widths(self) -> list[int]:
        """The least width of each column on a terminal."""
        widths = []
        for k, column in enumerate(self.columns):
            own = [len(line) for row in self.cells for line in _terminal_text(column, row[k]).split("\n")]
            if column.least:  # words with blanks between them may be broken there
                own = [
                    min(len(line), BLANKS) if " " in line else len(line)
                    for row in self.cells
                    for line in row[k].text.split("\n")
                ]
            needed = max([*map(len, column.head.split("\n")), *own])
            widths.append(min(needed, column.least) if column.least else needed)
        return widths

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text | Table]:
        """Yield the title and the table for a terminal, without the columns for which it is too narrow."""
        if self.title:
            yield Text(self.title, style="table.title")
        yield self.fitted(options.max_width)[0].table(options.max_width)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """Return the width that the table takes on a terminal."""
        return Measurement.get(console, options, self.table())

    def table(self, width: int | None = None) -> Table:
        """Return the table below the title, with all columns; names that do not fit into its width are broken after a separator."""
        made = Table(box=box.SIMPLE_HEAD, padding=0, show_edge=False)
        if not self.title:  # a table between lines of text: with blank lines around it
            made = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
        texts = [list(map(_terminal_text, self.columns, row)) for row in self.cells]
        has_room = width is None or sum(self._widths) + len(self.columns) - 1 <= width
        for k, (column, least) in enumerate(zip(self.columns, self._widths, strict=True)):
            if column.least and width is not None:
                room = max(least, width - sum(self._widths) + least - len(self.columns) + 1)
                for row in texts:
                    row[k] = "\n".join(broken(line, room) for line in row[k].split("\n"))
            head = Text(column.head.replace("\xad", "-"), justify="left" if column.words else "right")
            aligned = any(row[k].endswith(" ") for row in texts)
            if aligned:  # rich takes blanks at the end of a text away before it aligns it on the right
                for row in texts:
                    row[k] = row[k].rjust(least)
            made.add_column(
                head, justify="left" if column.words or aligned else "right", overflow="fold",
                no_wrap=bool(self.title) and (not column.words or (has_room and not column.least)), min_width=least if column.least else None,
            )  # fmt: skip
        for row, cells in zip(texts, self.cells, strict=True):
            made.add_row(*(Text(text, style=cell.style) for text, cell in zip(row, cells, strict=True)))
        return made

    def key(self, explain: bool) -> Text:
        """Return the text below the table on a terminal: what the mark means if there is one, what the columns mean, or which option says so.

        Examples
        --------
        >>> waits = Column("wait s", lambda wait: wait, count, "wait: time in the queue", best=min)
        >>> Grid.of("", [waits], [30, 20]).key(False).plain
        '*: the best of its column. --explain says what each column means.'
        >>> Grid.of("", [waits], [30, 30]).key(True).plain
        'wait: time in the queue.'
        """
        has_mark = any(
            cell.text == MARK or (column.best is not None and cell.style == GOOD)
            for row in self.cells
            for column, cell in zip(self.columns, row, strict=True)
        )
        return Text(" ".join([self.marked] * has_mark + [self.meaning if explain else HINT]), style=DIM)

    def show(self, console: Console, explain: bool = False) -> None:
        """Print the table, and what its columns mean; nothing without rows."""
        if not self.rows:
            return
        console.print(self)
        shown, left_out = self.fitted(console.width)
        console.print(shown.key(explain))
        if left_out:
            names = ", ".join(column.name for column in left_out)
            console.print(Text(f"Not shown, as the terminal is too narrow: {names}.", style=DIM))

    def as_json(self) -> dict[str, Any]:
        """Return the grid as JSON can represent it: title, columns, rows of values, meaning, notes."""
        columns = [{"name": c.name, "unit": c.unit, "meaning": c.meaning} for c in self.columns]
        return {
            "title": self.title, "columns": columns, "rows": self.values, "meaning": self.meaning, "notes": list(self.notes),
        }  # fmt: skip

    @property
    def values(self) -> list[list[Any]]:
        """The values without styles, row by row."""
        return [[_plain(value) for value in row] for row in self.rows]

    def as_csv(self) -> str:
        """Return the headings and the values as CSV; unknown values are empty."""
        return to_csv(self.heads, [["" if v is None else v for v in row] for row in self.values])

    def frame(self) -> pd.DataFrame:
        """Return a frame of pandas, a column for each column."""
        import pandas as pd

        return pd.DataFrame(self.values, columns=self.heads)

    def as_latex(self) -> str:
        r"""Return a table in the form of the package booktabs. Decimal points of a column are aligned.

        Examples
        --------
        >>> print(Grid.of_texts("", ["method", "gap %"], [["cpsat:counts_1", "0.12"], ["lns", None]]).as_latex())
        \begin{tabular}{lr}
        \toprule
        method & gap \% \\
        \midrule
        cpsat:counts\_1 & 0.12 \\
        lns & -- \\
        \bottomrule
        \end{tabular}
        """
        lines = [" & ".join(map(latex_text, self.heads)) + r" \\"]
        lines += [" & ".join(map(_latex_cell, row)) + r" \\" for row in self.cells]
        sides = "".join("l" if column.words else "r" for column in self.columns)
        body = [r"\toprule", lines[0], r"\midrule", *lines[1:], r"\bottomrule"]
        return "\n".join([rf"\begin{{tabular}}{{{sides}}}", *body, r"\end{tabular}"])

    def as_latex_float(self, tabular: str | None = None) -> str:
        r"""Return a floating table with caption and notes; ``tabular``: what stands for the table, such as ``\input``."""
        notes = [latex_text(line) for line in (self.meaning, *self.notes) if line]
        lines = [r"\begin{table}", r"\centering", rf"\caption{{{latex_text(self.title)}}}", tabular or self.as_latex()]
        return "\n".join([*lines, *(rf"\par\smallskip\footnotesize {note}" for note in notes), r"\end{table}"])


def broken(name: str, width: int) -> str:
    r"""Return a name in lines of at most ``width`` characters, which end after one of ``:+@,/``; longer parts stay whole.

    Examples
    --------
    >>> broken("cpsat:modes+warm:num_workers=1", 16).split("\n")
    ['cpsat:modes+', 'warm:', 'num_workers=1']
    """
    if len(name) <= width or " " in name:
        return name
    lines = [""]
    for part in re.findall(r"[^:+@,/]+[:+@,/]*|[:+@,/]+", name):
        if lines[-1] and len(lines[-1]) + len(part) > width:
            lines.append("")
        lines[-1] += part
    return "\n".join(lines)


def latex_text(text: str) -> str:
    r"""Return a text with the characters that LaTeX takes for commands written as text.

    >>> print(latex_text("--at 5%"))
    -{}-at 5\%
    """
    return "".join(SPECIAL.get(c, c) for c in text).replace("--", "-{}-")  # not a dash, as in options of commands


def _latex_cell(cell: Cell) -> str:
    if cell.text == UNKNOWN:
        return "--"
    return latex_text(cell.text) + (rf"\phantom{{{cell.pad}}}" if cell.pad else "")


def _plain(value: Any) -> Any:
    if isinstance(value, Styled):
        return value.value
    return value


def _styled(value: Any, style: str) -> Any:
    if style and not isinstance(value, Styled):
        return Styled(value, style)
    return value


def _mark(rows: list[list[Any]], k: int, best: Callable[[Iterable[float]], float]) -> None:
    """Style the best value of a column; none if fewer than two values are known, or all are equal."""
    known = [_plain(row[k]) for row in rows if _plain(row[k]) is not None]
    if len(known) < 2 or min(known) == max(known):
        return
    first = best(known)
    for row in rows:
        if _plain(row[k]) == first:
            row[k] = Styled(first, GOOD)


def _terminal_text(column: Column, cell: Cell) -> str:
    """Return a cell with the mark of the best, and blanks that align its decimal point."""
    mark = ""
    if column.best is not None:
        mark = " "
        if cell.style == GOOD:
            mark = MARK
    return cell.text + mark + " " * len(cell.pad)


def _column_cells(column: Column, values: Iterable[Any]) -> list[Cell]:
    """Return the cells of a column; those of numbers have the digits that others have behind the decimal point."""
    pairs = [value if isinstance(value, Styled) else Styled(value, "") for value in values]
    texts = [column.text(pair.value) for pair in pairs]
    numerals = [NUMERAL.fullmatch(text) for text in texts]
    decimals = [match[1] or "" for match in numerals if match]
    longest = max(decimals, key=len, default="")
    aligned = not column.words and all(m or text in (UNKNOWN, "") for m, text in zip(numerals, texts, strict=True))
    pads = [longest[len(m[1] or "") :] if m and aligned else "" for m in numerals]
    return [Cell(text, pad, pair.style) for text, pad, pair in zip(texts, pads, pairs, strict=True)]
