"""The rows of Slurm's accounting as columns and texts: ``sacct`` with any delimiter, ``sacct --json``, ``jobcomp/filetxt``.

Texts of users, such as names of jobs, may contain the delimiter and line ends; ``sacct`` does not quote them. Such rows are
put together again: the columns of a known form (times, states, numbers, resources) show which cells belong to a text, and the
values that other rows have (partitions, users, reservations, ...) where forms leave several readings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from ...errors import WrongValue
from ...models.words import how_many
from ..files.reading import WorkloadError, csv_rows, each_line, json_number_of, read_json, whole_of, wrong
from .slurm_values import COMMANDS, SHORT_STATES, WITHOUT_LIMIT, is_unknown

FIELDS = "JobID,Submit,Start,End,Elapsed,Timelimit,NNodes,NCPUS,User,JobName,Partition,State,AllocTRES,NodeList"
EXPECTED = f"expected what sacct --allusers --duplicates --parsable2 --format={FIELDS} prints"
TEXTS = (
    "JobName", "SubmitLine", "Comment", "AdminComment", "SystemComment", "WorkDir", "Container", "Constraints", "Extra",
    "StdIn", "StdOut", "StdErr", "WCKey", "Licenses", "FailedNode", "Name",
)  # fmt: skip  # columns that users fill, which may contain anything
LISTS = ("AllocTRES", "ReqTRES", "NodeList", "ReqNodeList", "AllocGRES", "ReqGRES", "Partition")  # with commas inside
TIME = r"(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?|\d{9,11}|0)"
LENGTH = r"-?(?:\d+-\d+(?::\d+){0,2}|\d+(?::\d+){0,2})(?:\.\d+)?"
JOB = r"\d+(?:_(?:\d+|\[[^\]]*\]))?(?:\+\d+)?(?:\.[\w+]+)?"
WORDS = "|".join(sorted({*SHORT_STATES, *SHORT_STATES.values(), "LAUNCH_FAILED", "RECONFIG_FAIL", "REVOKED"}))
FORMS = {
    **dict.fromkeys(("JobID", "JobIDRaw"), JOB),
    **dict.fromkeys(("Submit", "Start", "End", "Eligible"), TIME),
    **dict.fromkeys(("Elapsed", "CPUTime", "Suspended", "Planned", "Reserved"), LENGTH),
    "Timelimit": rf"{LENGTH}|UNLIMITED|Partition_Limit|INFINITE",
    **dict.fromkeys(("NNodes", "AllocNodes", "ReqNodes", "NCPUS", "AllocCPUS", "ReqCPUS", "ElapsedRaw"), r"\d+"),
    **dict.fromkeys(("UID", "GID", "CPUTimeRAW", "NTasks", "Priority", "QOSRAW", "AssocID"), r"\d*"),
    "TimelimitRaw": r"\d*|UNLIMITED|Partition_Limit|INFINITE",
    "State": rf"(?:{WORDS})\b.*",
    "ReqMem": r"\d+(?:\.\d+)?[KMGTPE]?B?[cn?]?",
    **dict.fromkeys(("ExitCode", "DerivedExitCode"), r"\d+:\d+"),
    **dict.fromkeys(("AllocTRES", "ReqTRES"), r"[\w/:.-]+=[^=]*(?:,[\w/:.-]+=[^=]*)*"),
}  # forms of cells by which a row with too many of them is understood
KNOWN = {
    name.lower(): name
    for name in (
        *FORMS, *TEXTS, *LISTS, "User", "Group", "Account", "Cluster", "QOS", "Reservation", "WCKey", "Flags", "Reason",
    )
}  # fmt: skip  # names in lower case -> as sacct prints them
PATTERNS = {column: re.compile(form, re.ASCII | re.IGNORECASE) for column, form in FORMS.items()}
ONE_OF = re.compile(r"[\w.:=*&()\[\]-]+(?:\|[\w.:=*&()\[\]-]+)+", re.ASCII)  # a constraint such as a|b or [rack1|rack2]
ISO_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?\S{0,6}", re.ASCII)
NAME = re.compile(r"[A-Za-z]\w*(?:%-?\d+)?", re.ASCII)
LEAST_KNOWN = 3  # known columns by which a header without JobID is recognised
MOST_FRAGMENTS = 30  # lines that one row may span
MOST_EXTRA = 60  # delimiters that the texts of one row may contain
BRACKETED = ("Constraints", "NodeList", "ReqNodeList", "AllocGRES", "ReqGRES")
PATHS = ("WorkDir", "StdIn", "StdOut", "StdErr")
ALWAYS_FILLED = ("User", "Partition", "Cluster")  # in the row of a job
DIGITS = re.compile(r"\[[^\]]*\]|\d+", re.ASCII)  # what differs in values of one kind: n[1-4] and n7, run3 and run12
MISFIT = 1000  # the costs of a reading of a row: brackets that do not match, paths and commands that are none
UNSEEN = 100  # a value that no other row has, in a column of few values
SIMILAR = 20  # the same, but a value of other rows differs in its digits only
UNKNOWN_HERE = 10  # no value in a column in which the other rows have one
NEW_TEXT = 1  # a text that no other row has, one of several cells, one that begins or ends with a delimiter
MOST_SEEN = 10_000  # values of a column that are kept
SAMPLE = 1000  # first lines of a file that tell whether rows end with a delimiter
ENOUGH = 20  # rows that outweigh a header
INFINITE = 2**32 - 1  # limits and unknown numbers in the JSON of old versions
NO_VALUES = (2**32 - 2, 2**64 - 2, -2)
MOST_TASK = 2**32 - 10  # greater numbers mean no task of an array
MOST_IN_JSON = 2**64  # memory with the flag "per CPU" of old versions
T = TypeVar("T")


class Row(NamedTuple):
    """A row: its first line in the file, its cells by column, and whether it was put together from several cells or lines.

    ``open``: whether it can be put together in another way that is as likely.
    """

    line: int
    cells: Mapping[str, str]
    rejoined: bool
    open: bool = False


class Refused(NamedTuple):
    """A line that is part of no row, and why."""

    line: int
    why: str


class Fitted(NamedTuple):
    """The cells of a row, one for each column; whether some were joined, and whether another reading is as likely."""

    cells: list[str]
    joined: bool
    open: bool


class _Reading(NamedTuple):
    """The best way to give cells to a column and those after it: how many further ones the column has, and how well all fits.

    ``in_names``: how many of the cells are joined to names of jobs; ``ways``: how many readings have the same cost.
    """

    joined: int
    cost: int
    in_names: int
    ways: int


class Table:
    """The columns of a text of ``sacct`` and its delimiter.

    Parameters
    ----------
    columns
        Names of the columns.
    delimiter
        What is between two cells.
    ends
        Whether each line ends with a delimiter too (``--parsable``). The header tells it; ``against_header``: that many rows
        do so, and no row else, although the header has none, as if it was written by hand.
    lines
        Returns all lines of the text, once more: the values of other rows tell where the cells of a broken one belong.

    Examples
    --------
    >>> table = Table(["JobID", "JobName", "State"], "|")
    >>> table.row("7|my|name|COMPLETED")
    Fitted(cells=['7', 'my|name', 'COMPLETED'], joined=True, open=False)
    """

    def __init__(
        self,
        columns: Sequence[str],
        delimiter: str,
        ends: bool = False,
        lines: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        self.columns = tuple(columns)
        self.delimiter = delimiter
        self.ends = ends
        self.against_header = False
        self.lines = lines
        self.patterns = [PATTERNS.get(c) for c in self.columns]
        joinable = {*TEXTS, *(LISTS if delimiter == "," else ())}
        self.joinable = [c in joinable for c in self.columns]
        self.job = self.columns.index("JobID")

    def is_header(self, line: str) -> bool:
        """Check whether a line is the header of this table; whether it ends with a delimiter holds for the lines after it."""
        if not line.lstrip()[: len("JobIDRaw")].lower().startswith(self.columns[0].lower()[: len("JobID")]):
            return False
        header = header_of(line)
        if header is None or header[0] != list(self.columns):
            return False
        self.ends = ends_with(line, self.delimiter)
        return True

    def plain_row(self, line: str) -> list[str] | None:
        """Return the cells of a line that has one for each column; None if it has more or fewer."""
        cells = line.split(self.delimiter)
        if self.ends and len(cells) == len(self.columns) + 1 and not cells[-1].strip():
            cells.pop()
        if len(cells) == len(self.columns):
            return cells
        return None

    def row(self, text: str) -> Fitted | None:
        """Return the cells of a row, one for each column; None if nothing fits."""
        cells = text.split(self.delimiter)
        spare = len(cells) - len(self.columns)
        if spare < 0 or spare > MOST_EXTRA:
            return None
        whole = (cells, spare)
        without_end = []
        if spare and not cells[-1].strip():
            without_end = [(cells[:-1], spare - 1)]
        for some, extra in [*without_end, whole] if self.ends else [whole, *without_end]:
            fitted = self._fitted(some, extra)
            if fitted is not None:
                return fitted
        return None

    @cached_property
    def seen(self) -> list[set[str]]:
        """The values of each column, of one with a form only those that tell nothing, in rows of jobs that are whole."""
        values: list[set[str]] = [set() for _ in self.columns]
        for line in self.lines():
            cells = self.plain_row(line)
            if cells is None or not self.starts_row(cells) or is_step(cells[self.job]):
                continue
            for known, pattern, cell in zip(values, self.patterns, map(str.strip, cells), strict=True):
                if len(known) < MOST_SEEN and (pattern is None or is_unknown(cell)):
                    known.add(cell)
        return values

    @cached_property
    def similar(self) -> list[set[str]]:
        """The values of each column without their digits."""
        return [{DIGITS.sub("0", value) for value in known} for known in self.seen]

    def _fitted(self, cells: list[str], spare: int) -> Fitted | None:
        """Give the spare cells to columns of texts so that every other cell fits its column best."""
        n = len(self.columns)
        best: list[list[_Reading | None]] = []  # of the columns, from the last one; by the number of cells spent before
        after: list[_Reading | None] = [None] * spare + [_Reading(0, 0, 0, 1)]
        for column in reversed(range(n)):
            after = [self._best(column, cells, spent, after) for spent in range(spare + 1)]
            best.append(after)
            if not any(after):
                return None
        first = after[0]
        if first is None:
            return None
        cells_of_row = []
        spent = 0
        for column in range(n):
            reading = best[n - 1 - column][spent]
            joined = 0 if reading is None else reading.joined
            begin = column + spent
            cells_of_row.append(self.delimiter.join(cells[begin : begin + joined + 1]))
            spent += joined
        return Fitted(cells_of_row, spare > 0, first.ways > 1)

    def _best(self, column: int, cells: list[str], spent: int, after: Sequence[_Reading | None]) -> _Reading | None:
        """Return the best reading from a column on, before which so many spare cells were joined; None if nothing fits."""
        begin = column + spent
        readings: list[_Reading] = []
        for joined in range(len(after) - spent if self.joinable[column] else 1):
            rest = after[spent + joined]
            if rest is None:
                continue
            cost = self._cost(column, cells[begin : begin + joined + 1])
            if cost is not None:
                in_names = rest.in_names + joined * (self.columns[column] == "JobName")
                readings.append(_Reading(joined, rest.cost + cost, in_names, rest.ways))
        if not readings:
            return None
        best = min(readings, key=lambda each: (each.cost, -each.in_names))
        return best._replace(ways=sum(each.ways for each in readings if each.cost == best.cost))

    def _cost(self, column: int, parts: Sequence[str]) -> int | None:
        """Return how badly cells, joined, fit a column; None if they cannot be its value."""
        text = self.delimiter.join(parts).strip()
        several = len(parts) > 1
        if self.patterns[column] is not None:
            return self._cost_of_form(column, text)
        name = self.columns[column]
        if not self.joinable[column] and "\n" in text:
            return None
        if several and name == "Constraints" and not ONE_OF.fullmatch(text):
            return None
        cost = 0
        if _is_misfit(name, text):
            cost += MISFIT
        if several:
            cost += NEW_TEXT * (1 + (not parts[0].strip()) + (not parts[-1].strip()))
        return cost + self._cost_of_value(column, text)

    def _cost_of_form(self, column: int, text: str) -> int | None:
        if is_unknown(text):
            if column == self.job:
                return None
            return 0 if text in self.seen[column] else UNKNOWN_HERE
        pattern = self.patterns[column]
        if pattern is not None and pattern.fullmatch(text):
            return 0
        return None

    def _cost_of_value(self, column: int, text: str) -> int:
        if text in self.seen[column] or not (text or self.columns[column] in ALWAYS_FILLED):
            return 0
        if self.joinable[column]:
            return NEW_TEXT
        if DIGITS.sub("0", text) in self.similar[column]:
            return SIMILAR
        return UNSEEN

    def has_forms(self, cells: Sequence[str]) -> bool:
        """Check whether the cells of a row, one for each column, have the forms of their columns."""
        return all(
            pattern is None or is_unknown(text) or pattern.fullmatch(text) is not None
            for pattern, text in zip(self.patterns, map(str.strip, cells), strict=True)
        )

    def starts_row(self, cells: Sequence[str]) -> bool:
        """Check whether cells look like a row: the id of the job has the form of one."""
        return PATTERNS["JobID"].fullmatch(cells[self.job].strip()) is not None


def _is_misfit(name: str, text: str) -> bool:
    """Check whether a text is unlikely in a column: brackets that do not match, no path, no command of Slurm."""
    if name in BRACKETED:
        return any(text.count(begin) != text.count(end) for begin, end in ("[]", "()"))
    if is_unknown(text):
        return False
    if name in PATHS:
        return not text.startswith("/")
    if name == "SubmitLine":
        return text.split(maxsplit=1)[0].rpartition("/")[2] not in COMMANDS
    return False


def is_step(job: str) -> bool:
    """Check whether the id of a row is that of a step of a job, such as ``12.batch``; a long list of tasks ends with ...

    >>> is_step("12.batch"), is_step("12_[1,3,5,...]")
    (True, False)
    """
    return "." in job.partition("[")[0]


def is_sacct(lines: Sequence[str]) -> bool:
    """Check whether the first lines of a file are those of ``sacct``, with or without a header, or of its kin."""
    first = next((line for line in lines if line.strip()), "")
    if (
        header_of(first) is not None
        or is_header_without_job(first)
        or is_completion(first.strip())
        or is_database(first)
    ):
        return True
    cells = first.split("|")
    times = sum(ISO_TIME.fullmatch(cell.strip()) is not None for cell in cells)
    return times >= 2 and any(PATTERNS["JobID"].fullmatch(cell.strip()) for cell in cells)


def table_of(path: str | Path, lines: Iterator[tuple[int, str]], columns: Sequence[str]) -> tuple[Table, int]:
    """Return the table of a text of sacct, from its header or the given columns, and the line of the header (0: none).

    Raises WorkloadError for an empty file, a header that is none, and columns of fixed width.
    """
    number, line = next(((n, text) for n, text in lines if text.strip()), (0, ""))
    if not number:
        raise WorkloadError(f"{path}: the file is empty; {EXPECTED}")
    header = header_of(line)
    if is_header_without_job(line):
        raise WorkloadError(
            f"{path}, line {number}: there is no column JobID, which tells jobs and their steps apart; {EXPECTED}"
        )
    if header is None and not columns:
        raise WorkloadError(
            f"{path}, line {number}: there is no column JobID in the first line; {EXPECTED}, or give the columns of "
            "--noheader (bench: --columns JobID,Submit,...)"
        )
    if header is not None and columns:
        raise WorkloadError(f"{path}, line {number}: there is a header; leave out the columns (bench: --columns)")
    if header is not None:
        names, delimiter = header
        if not delimiter:
            raise WorkloadError(
                f"{path}, line {number}: the columns have a fixed width, which cuts long values; {EXPECTED}"
            )
        made = Table(names, delimiter, ends_with(line, delimiter), lambda: each_line(path))
        made.against_header = not made.ends and _rows_end(made) >= ENOUGH
        made.ends = made.ends or made.against_header
        return made, number
    named = canonical(columns)
    if "JobID" not in named:
        raise WorkloadError(f"{path}: the columns {','.join(columns)[:80]} have no JobID; {EXPECTED}")
    made = Table(named, delimiter_of(path, number, line, named), lines=lambda: each_line(path))
    made.ends = _rows_end(made) > 0
    return made, 0


def ends_with(line: str, delimiter: str) -> bool:
    """Check whether a line ends with a delimiter."""
    return line.rstrip("\r\n ").endswith(delimiter.rstrip(" "))


def _rows_end(table: Table) -> int:
    """Return how many of the first rows have a delimiter at their end, 0 if one has none or does not fit the columns so."""
    n = len(table.columns)
    number = 0
    for line in islice(table.lines(), SAMPLE):
        cells = line.split(table.delimiter)
        if len(cells) < n or not table.starts_row(cells):
            continue
        if len(cells) == n:
            return 0
        if len(cells) == n + 1 and not cells[-1].strip():
            if not table.has_forms(cells[:-1]):
                return 0
            number += 1
    return number


def header_of(line: str) -> tuple[list[str], str] | None:
    """Return the columns of a header of sacct and its delimiter, "" for columns of fixed width; None if it is none.

    >>> header_of("JobID|Submit%20|State|"), header_of("JobID;Submit"), header_of("31|2024")
    ((['JobID', 'Submit', 'State'], '|'), (['JobID', 'Submit'], ';'), None)
    """
    text = line.strip("\r\n ")
    first = NAME.match(text)
    if first is None:
        return None
    second = NAME.search(text, first.end())
    delimiter = ""
    if second:
        delimiter = text[first.end() : second.start()]
    if not delimiter.strip(" ") and "\t" not in delimiter:
        names = canonical(text.split())
        if "JobID" in names and len(names) > 1:
            return (names, "")
        return None
    parts = text.removesuffix(delimiter).split(delimiter)
    names = canonical(parts)
    if "JobID" in names:
        return (names, delimiter)
    return None


def is_header_without_job(line: str) -> bool:
    """Check whether a line is a header of sacct without ``JobID``: most of its cells are names of other columns.

    >>> is_header_without_job("User|Submit|Start|State"), is_header_without_job("JobID|Submit"), is_header_without_job("a|b")
    (True, False, False)
    """
    for delimiter in ("|", ";", "\t", "^"):
        names = canonical(line.strip().strip(delimiter).split(delimiter))
        known = [name for name in names if name in KNOWN.values()]
        if len(known) >= LEAST_KNOWN and 2 * len(known) > len(names):
            return "JobID" not in names
    return False


def canonical(names: Iterable[str]) -> list[str]:
    """Return names of columns as sacct prints them: ``--format`` takes them in any case; without a JobID, JobIDRaw is it.

    >>> canonical(["jobid", "submit%20", "Colour"]), canonical(["JobIDRaw", "State"])
    (['JobID', 'Submit', 'Colour'], ['JobID', 'State'])
    """
    known = [KNOWN.get(name.lower(), name) for name in (name.strip().split("%")[0] for name in names)]
    if "JobID" in known:
        return known
    return ["JobID" if name == "JobIDRaw" else name for name in known]


def delimiter_of(path: str | Path, number: int, line: str, columns: Sequence[str]) -> str:
    """Return the delimiter of a row without header: the one that gives at least as many cells as there are columns."""
    for delimiter in ("|", "\t", ";", ",", "^", "#"):
        if line.count(delimiter) >= len(columns) - 1 > 0 and Table(columns, delimiter).row(line) is not None:
            return delimiter
    cells = line.count("|") + 1
    raise WorkloadError(
        f"{path}, line {number}: {how_many(cells, 'field')}, which are not the {how_many(len(columns), 'column')} {','.join(columns)[:120]}"
    )


def text_rows(
    table: Table, lines: Iterable[tuple[int, str]], read: Callable[[Row], T]
) -> Iterator[tuple[Row, T] | Refused]:
    """Yield the rows of a text of sacct with what ``read`` makes of them, and the lines that are part of no row.

    Parameters
    ----------
    table
        Columns and delimiter.
    lines
        Line numbers and lines after the header.
    read
        Reads a row; it raises ValueError for one that is damaged.
    """
    waiting: list[tuple[int, str]] = []  # lines that are no whole row, the begin of a broken row or the rest of one
    last: tuple[Row, T] | None = None
    for number, line in lines:
        if not line.strip() and not waiting:
            continue
        cells = table.plain_row(line)
        made = None
        if cells is not None and (not waiting or table.starts_row(cells)):
            made = _readable(_row(table, number, cells, False), read)
        begin = len(waiting)
        waiting.append((number, line))
        if made is None:
            made, begin = _joined(table, waiting, read)
        elif begin and table.joinable[0] and not table.joinable[-1]:
            made, begin = _with_its_begin(table, waiting, read) or (made, begin)
        if made is not None:
            yield from _ended(table, last, waiting[:begin], read)
            waiting = []
            last = made
        elif len(waiting) > MOST_FRAGMENTS:
            yield from _ended(table, last, waiting, read)
            waiting = []
            last = None
    yield from _ended(table, last, waiting, read)


def _readable(row: Row, read: Callable[[Row], T]) -> tuple[Row, T] | None:
    try:
        return row, read(row)
    except ValueError:
        return None


def _row(table: Table, number: int, cells: Sequence[str], rejoined: bool) -> Row:
    return Row(number, dict(zip(table.columns, (c.strip() for c in cells), strict=True)), rejoined)


def _with_its_begin(
    table: Table, waiting: Sequence[tuple[int, str]], read: Callable[[Row], T]
) -> tuple[tuple[Row, T], int] | None:
    """Return a whole row and the lines without a delimiter before it, which are the begin of its first text; None if none are."""
    begin = len(waiting) - 1
    while begin and table.delimiter not in waiting[begin - 1][1]:
        begin -= 1
    if begin == len(waiting) - 1:
        return None
    cells = table.plain_row("\n".join(line for _, line in waiting[begin:]))
    made = None
    if cells is not None:
        made = _readable(_row(table, waiting[begin][0], cells, True), read)
    if made is None:
        return None
    return (made, begin)


def _joined(
    table: Table, waiting: Sequence[tuple[int, str]], read: Callable[[Row], T]
) -> tuple[tuple[Row, T] | None, int]:
    """Return a row of the last waiting lines, as few as give one, and the index of its first line."""
    needed = len(table.columns) - 1
    marks = 0
    for begin in reversed(range(len(waiting))):
        marks += waiting[begin][1].count(table.delimiter)
        if marks > needed + MOST_EXTRA:
            break
        if marks < needed:
            continue
        fitted = table.row("\n".join(line for _, line in waiting[begin:]))
        if fitted is not None:
            broken = fitted.joined or len(waiting) - begin > 1
            row = _row(table, waiting[begin][0], fitted.cells, broken)
            made = _readable(row._replace(open=fitted.open), read)
            if made is not None:
                return made, begin
    return None, 0


def _ended(
    table: Table, last: tuple[Row, T] | None, rest: Sequence[tuple[int, str]], read: Callable[[Row], T]
) -> Iterator[tuple[Row, T] | Refused]:
    """Yield a row that is complete now, and the lines after it that belong to no row.

    Lines without a delimiter after a row whose last column is a text are the rest of this text.
    """
    tail = list(rest)
    if last is not None:
        row = last[0]
        column = table.columns[-1]
        own = list[str]()
        while tail and table.joinable[-1] and table.delimiter not in tail[0][1].rstrip().removesuffix(table.delimiter):
            own.append(tail.pop(0)[1].rstrip().removesuffix(table.delimiter))
        if any(own):
            row = Row(row.line, {**row.cells, column: "\n".join([row.cells[column], *own]).strip()}, True)
            last = _readable(row, read) or last
        yield last
    for number, line in tail:
        if line.strip():
            yield Refused(number, _why(table, number, line, read))


def _why(table: Table, number: int, line: str, read: Callable[[Row], T]) -> str:
    cells = table.plain_row(line)
    if cells is None:
        n = line.count(table.delimiter) + 1
        return f"{how_many(n, 'field')}; the header has {len(table.columns)}"
    try:
        read(_row(table, number, cells, False))
    except ValueError as e:
        return str(e)
    return "a part of a row that is broken, of which the other parts are missing"


COMPLETION = {
    "JobId": "JobIDRaw", "ArrayJobId": "", "ArrayTaskId": "", "HetJobId": "", "HetJobOffset": "", "UserId": "User",
    "GroupId": "Group", "Name": "JobName", "JobState": "State", "Partition": "Partition", "TimeLimit": "TimelimitRaw",
    "StartTime": "Start", "EndTime": "End", "NodeList": "NodeList", "NodeCnt": "NNodes", "ProcCnt": "NCPUS",
    "WorkDir": "WorkDir", "ReservationName": "Reservation", "Tres": "ReqTRES", "Account": "Account", "QOS": "QOS",
    "WcKey": "WCKey", "Cluster": "Cluster", "SubmitTime": "Submit", "EligibleTime": "Eligible",
    "DerivedExitCode": "DerivedExitCode", "ExitCode": "ExitCode",
}  # fmt: skip  # keys of jobcomp/filetxt -> columns of sacct; "": not used as it is
COMPLETION_KEY = re.compile(rf"(?:^| )({'|'.join(COMPLETION)})=")


def is_completion(line: str) -> bool:
    """Check whether a line is that of a job in the text file of Slurm's plug-in ``jobcomp/filetxt``."""
    return line.startswith("JobId=") and "JobState=" in line and "EndTime=" in line


def completion_rows(lines: Iterable[tuple[int, str]]) -> Iterator[Row | Refused]:
    """Yield the rows of the text file of ``jobcomp/filetxt``: a line of ``Key=value`` for each job that ended."""
    for number, line in lines:
        if not line.strip():
            continue
        parts = COMPLETION_KEY.split(line.strip())
        values = {key: text.strip() for key, text in zip(parts[1::2], parts[2::2], strict=True)}
        if not is_completion(line.strip()):
            yield Refused(number, "expected JobId=... JobState=... StartTime=... EndTime=...")
            continue
        cells = {COMPLETION[key]: text for key, text in values.items() if COMPLETION[key]}
        job = values["JobId"]
        array = values.get("ArrayJobId", "0")
        if array in ("", "0"):
            cells["JobID"] = job
        else:
            cells["JobID"] = f"{array}_{values.get('ArrayTaskId', job)}"
        cells["User"] = re.sub(r"\(\d+\)$", "", cells.get("User", ""))
        yield Row(number, cells, False)


DATABASE = {
    "id_user": "User", "account": "Account", "partition": "Partition", "time_submit": "Submit", "time_eligible": "Eligible",
    "time_start": "Start", "time_end": "End", "nodes_alloc": "NNodes", "nodelist": "NodeList", "cpus_req": "ReqCPUS",
    "priority": "Priority", "constraints": "Constraints", "job_name": "JobName", "array_max_tasks": "ArrayLimit",
}  # fmt: skip  # columns of the table of jobs in Slurm's accounting database -> columns of sacct
DATABASE_STATES = (
    "PENDING", "RUNNING", "SUSPENDED", "COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "PREEMPTED",
    "BOOT_FAIL", "DEADLINE", "OUT_OF_MEMORY",
)  # fmt: skip
DATABASE_TRES = {"1": "cpu", "2": "mem", "3": "energy", "4": "node", "1001": "gres/gpu:tesla", "1002": "gres/gpu:volta"}
PER_CPU = 2**63  # flag in mem_req


def is_database(line: str) -> bool:
    """Check whether a line is the header of the table of jobs of Slurm's accounting database, as CSV.

    The log of the MIT Supercloud dataset is one. The numbers of its GPUs (1001, 1002) are those of that machine.
    """
    return {"id_job", "time_submit", "time_start", "time_end", "tres_alloc"} <= {c.strip() for c in line.split(",")}


def database_rows(path: str | Path) -> Iterator[Row | Refused]:
    """Yield the rows of a table of jobs of Slurm's accounting database, with the texts that ``sacct`` has."""
    table = csv_rows(path, each_line(path))
    header = [name.strip() for name in next(table, (1, []))[1]]
    for number, cells in table:
        if not cells:
            continue
        if len(cells) != len(header):
            yield Refused(number, f"{how_many(len(cells), 'field')}; the header has {len(header)}")
            continue
        yield Row(number, _database_cells(dict(zip(header, (c.strip() for c in cells), strict=True))), False)


def _database_cells(row: Mapping[str, str]) -> dict[str, str]:
    cells = {ours: row.get(theirs, "") for theirs, ours in DATABASE.items()}
    array = _plain_number(row.get("id_array_job", ""))
    task = _plain_number(row.get("id_array_task", ""))
    if array and task is not None and task < MOST_TASK:
        cells["JobID"] = f"{array}_{task}"
    else:
        cells["JobID"] = row["id_job"]
    state = _plain_number(row.get("state", ""))
    if state is not None and 0 <= state < len(DATABASE_STATES):
        cells["State"] = DATABASE_STATES[state]
    else:
        cells["State"] = ""
    for column in ("Submit", "Eligible", "Start", "End"):
        if not _plain_number(cells[column]):
            cells[column] = "Unknown"
    limit = _plain_number(row.get("timelimit", ""))
    if limit in (None, INFINITE - 1):
        cells["TimelimitRaw"] = ""
    else:
        cells["TimelimitRaw"] = str(limit)
    if limit == INFINITE:
        cells["TimelimitRaw"] = "UNLIMITED"
    suspended = _plain_number(row.get("time_suspended", "")) or 0
    if suspended:
        cells["Suspended"] = f"00:00:{suspended}"
    else:
        cells["Suspended"] = ""
    asked = _plain_number(row.get("mem_req", "")) or 0
    per_node = ""
    if asked:
        per_node = f"{asked}Mn"
    if asked >= PER_CPU:
        cells["ReqMem"] = f"{asked - PER_CPU}Mc"
    else:
        cells["ReqMem"] = per_node
    for theirs, ours in (("tres_alloc", "AllocTRES"), ("tres_req", "ReqTRES")):
        pairs = (pair.partition("=") for pair in row.get(theirs, "").split(",") if "=" in pair)
        cells[ours] = ",".join(f"{DATABASE_TRES[kind]}={n}" for kind, _, n in pairs if kind in DATABASE_TRES)
    return cells


def _plain_number(text: str) -> int | None:
    """Return a whole number, also of a text such as 12.0, which other programs make of columns with gaps."""
    return whole_of(text.removesuffix(".0"), -MOST_IN_JSON, MOST_IN_JSON)


def is_json_of_sacct(values: object) -> bool:
    """Check whether JSON values are those of ``sacct --json``: a list of jobs that have the times of one."""
    if not isinstance(values, dict) or not isinstance(values.get("jobs"), list):
        return False
    jobs = values["jobs"]
    if not jobs:
        return "meta" in values
    times = (job.get("time") for job in jobs if isinstance(job, dict))  # the first one may be damaged
    return any(isinstance(time, dict) and "submission" in time for time in times)


def json_rows(path: str | Path) -> Iterator[Row | Refused]:
    """Yield the rows of ``sacct --json``, with the texts that ``sacct --parsable2`` has; the line is the place of the job.

    Raises WorkloadError if the file is something else.
    """
    values = read_json(path)
    if not is_json_of_sacct(values):
        raise WorkloadError(
            f'{path}: expected what sacct --json prints, an object with a list "jobs" of jobs with times'
        )
    for place, job in enumerate(values["jobs"], 1):
        try:
            yield Row(place, _json_cells(job), False)
        except WrongValue as e:
            yield Refused(place, f"entry {place} of the list of jobs: {e}")


def _object(values: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Return an object of JSON, an empty one if it is missing or null. Raises WrongValue for something else."""
    value = values.get(key)
    if value is not None and not isinstance(value, dict):
        raise wrong(key, value, "an object")
    return value or {}


def _json_cells(job: object) -> dict[str, str]:
    """Return the cells of a job. Raises WrongValue."""
    if not isinstance(job, dict):
        raise wrong("the job", job, "an object")
    if not isinstance(job.get("time"), dict):
        raise wrong("time", job.get("time"), "an object with submission, start, end and elapsed")
    times = job["time"]
    required = _object(job, "required")
    resources = _object(job, "tres")
    state = job.get("state") or {}
    if isinstance(state, dict):
        current = state.get("current", "")
    else:
        current = state
    if isinstance(current, list):
        words = current
    else:
        words = str(current).split()
    user = job.get("user") or _object(job, "association").get("user") or ""
    cells = {
        "JobID": _json_id(job),
        "JobName": str(job.get("name") or ""),
        "User": str(user),
        "Account": str(job.get("account") or ""),
        "Partition": str(job.get("partition") or ""),
        "Cluster": str(job.get("cluster") or ""),
        "State": str(words[0]) if words else "",
        "Restarts": str(_number("restart_cnt", job.get("restart_cnt"), 0)),
        "Submit": _second("time.submission", times.get("submission")),
        "Eligible": _second("time.eligible", times.get("eligible")),
        "Start": _second("time.start", times.get("start")),
        "End": _second("time.end", times.get("end")),
        "ElapsedRaw": str(_number("time.elapsed", times.get("elapsed"), 0)),
        "TimelimitRaw": _limit(times.get("limit")),
        "NNodes": str(_number("allocation_nodes", job.get("allocation_nodes"), 0)),
        "NodeList": str(job.get("nodes") or ""),
        "ReqCPUS": str(_number("required.CPUs", required.get("CPUs", required.get("cpus")), 0)),
        "AllocTRES": _tres_text(resources.get("allocated")),
        "ReqTRES": _tres_text(resources.get("requested")),
        "QOS": str(job.get("qos") or ""),
        "Constraints": str(job.get("constraints") or ""),
        "Licenses": str(job.get("licenses") or ""),
        "Reservation": _reservation(job.get("reservation")),
        "Priority": str(_number("priority", job.get("priority"), 0) or ""),
        "Reason": str(state.get("reason") or "") if isinstance(state, dict) else str(job.get("state_reason") or ""),
        "SubmitLine": str(job.get("submit_line") or ""),
        "ArrayLimit": str(_running_tasks(job) or ""),
    }
    per_cpu, per_node = (
        _number(f"memory_per_{each}", required.get(f"memory_per_{each}"), 0) for each in ("cpu", "node")
    )
    in_one = _number("memory", required.get("memory"), 0)  # before 22.05, of a node, or of a CPU with a flag
    if per_cpu or per_node or in_one:
        if per_cpu:
            cells["ReqMem"] = f"{per_cpu}Mc"
        else:
            cells["ReqMem"] = f"{per_node or in_one}Mn"
    return cells


def _reservation(value: object) -> str:
    if isinstance(value, dict):
        return str(value.get("name") or "")
    return str(value or "")


def _running_tasks(job: Mapping[str, Any]) -> int | None:
    """Return how many tasks of the array of a job may run at once. Raises WrongValue."""
    tasks: object = _object(_object(_object(_object(job, "array"), "limits"), "max"), "running").get("tasks")
    return _number("array.limits.max.running.tasks", tasks, 0)


def _json_id(job: Mapping[str, Any]) -> str:
    number = _number("job_id", job.get("job_id"))
    array = _object(job, "array")
    het = _object(job, "het")
    of_array = _number("array.job_id", array.get("job_id"), 0)
    of_het = _number("het.job_id", het.get("job_id"), 0)
    if of_het:
        return f"{of_het}+{_number('het.job_offset', het.get('job_offset'), 0)}"
    if not of_array:
        if number is None:
            raise WrongValue("there is no job_id")
        return str(number)
    task = _number("array.task_id", array.get("task_id"))
    waiting = str(array.get("task") or "")
    if task is None and waiting:
        return f"{of_array}_[{waiting}]"
    return f"{of_array}_{task or 0}"


def _number(field: str, value: object, default: int | None = None) -> int | None:
    """Return a number of Slurm's JSON, where it may be ``{"set": true, "infinite": false, "number": 5}``, or a text.

    Raises WrongValue for a text that is no whole number.
    """
    if isinstance(value, dict):
        known = value.get("set") and not value.get("infinite")
        if known:
            return _number(field, value.get("number"), default)
        return default
    if value is None or (isinstance(value, str) and (is_unknown(value) or value.lower() in WITHOUT_LIMIT)):
        return default
    if isinstance(value, str):
        number: int | float | None = whole_of(value, -MOST_IN_JSON, MOST_IN_JSON)
    else:
        number = json_number_of(value, -MOST_IN_JSON, MOST_IN_JSON)
    if number in NO_VALUES:
        return default
    if number is None:
        raise wrong(field, value, "a whole number")
    return int(number)


def _second(field: str, value: object) -> str:
    number = _number(field, value, 0)
    if number:
        return str(number)
    return "Unknown"


def _limit(value: object) -> str:
    if isinstance(value, dict):
        infinite = value.get("infinite")
    else:
        infinite = value in (INFINITE, "INFINITE", "UNLIMITED")
    if infinite:
        return "UNLIMITED"
    number = _number("time.limit", value)
    if number is None:
        return ""
    return str(number)


def _tres_text(listed: object) -> str:
    """Return trackable resources of JSON as sacct prints them: ``cpu=4,gres/gpu:a100=2,mem=4000``."""
    if isinstance(listed, str):
        return listed
    pairs = []
    for each in listed if isinstance(listed, list) else []:
        if not isinstance(each, dict) or not isinstance(each.get("type"), str):
            raise wrong("tres", each, "an object with type, name and count")
        if each.get("name"):
            name = f"{each['type']}/{each['name']}"
        else:
            name = each["type"]
        count = _number(f"tres {name}", each.get("count"), 0)
        if count is not None and count >= 0:  # negative: not known
            pairs.append(f"{name}={count}")
    return ",".join(pairs)
