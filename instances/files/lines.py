"""Text files, plain or gzip-compressed, and the numbers in them, read within limits. All readers of files use these functions.

The limits are far above real data (the whole Curie log has 313 thousand lines of at most 96 characters, 29 MB
uncompressed), so that a damaged or malicious file costs bounded time and memory:

- ``LARGEST_FILE``: 512 MiB uncompressed; ``MOST_LINES``: 10 million lines;
- ``LONGEST_LINE``: 1 MiB per line, except in JSON, where the whole text may be one line;
- ``LARGEST_JSON``: 256 MiB; ``LARGEST_TOML``: 4 MiB;
- ``LONGEST_FIELD``: 131,072 characters per CSV field; ``MOST_DIGITS``: 4,300 digits per number in JSON and TOML.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import re
import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import IO, Any

from ...errors import SchedlabError, WrongValue
from ...models.excerpt import excerpt
from ...models.platform import LATEST
from ...models.words import how_many

MIB = 1024**2
LARGEST_FILE = 512 * MIB
LARGEST_JSON = 256 * MIB
LARGEST_TOML = 4 * MIB
LONGEST_LINE = MIB
MOST_LINES = 10_000_000
LONGEST_FIELD = csv.field_size_limit()
MOST_DIGITS = sys.int_info.default_max_str_digits
CHUNK = MIB
GZIP = b"\x1f\x8b"
BOM = b"\xef\xbb\xbf"
OTHER_PACKERS = {b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"\x28\xb5\x2f\xfd": "zstd", b"PK\x03\x04": "zip"}


class WorkloadError(SchedlabError, ValueError):
    """The error for a log that cannot be used: unreadable, empty, or without a job that the platform can hold."""


class TextError(WorkloadError):
    """The error for a file that cannot be read as text; ``line``, ``field``, ``expected``, ``found`` are its parts."""

    def __init__(
        self, path: str | Path, field: str, expected: str, found: str | None, line: int | None = None, said: str = ""
    ) -> None:
        self.line = line
        self.field = field
        self.expected = expected
        self.found = found
        where = f"{path}" if line is None else f"{path}, line {line}"
        super().__init__(f"{where}: {said or f'expected {expected}, found {found}'}")


def read_lines(path: str | Path) -> list[str]:
    """Read the lines of a text file, plain or gzip-compressed, with any line ends; invalid UTF-8 becomes U+FFFD.

    Raises WorkloadError if there is no such file, it cannot be read, or it exceeds a limit.
    """
    return split_lines(read_text(path, errors="replace"))


def split_lines(text: str) -> list[str]:
    r"""Split a text into lines as an editor does (``str.splitlines`` also splits at form feeds and similar characters).

    >>> split_lines("a\r\nb\x0c\nc")
    ['a', 'b\x0c', 'c']
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines if lines[-1] else lines[:-1]


def read_text(
    path: str | Path, most: int = LARGEST_FILE, errors: str = "strict", longest_line: int | None = LONGEST_LINE
) -> str:
    """Read the text of a file, plain or gzip-compressed, without a byte order mark; line ends are kept.

    Parameters
    ----------
    path
        The file.
    most
        Upper limit of the uncompressed size, in bytes.
    errors
        "strict" or "replace": the handling of invalid UTF-8, as in ``bytes.decode``.
    longest_line
        Upper limit of the length of a line, in bytes; None: no limit.

    Returns
    -------
    str
        The text.

    Raises
    ------
    TextError
        There is no such file, it cannot be read, or it exceeds ``most``, ``longest_line`` or MOST_LINES.
    UnicodeDecodeError
        The file is not UTF-8 and ``errors`` is "strict".
    """
    return bytes(_read(path, most, longest_line)).removeprefix(BOM).decode("utf-8", errors=errors)


def undecodable(fault: UnicodeDecodeError) -> str:
    r"""Return what a message says of bytes that are no text.

    Examples
    --------
    >>> try:
    ...     b"ab\xff".decode()
    ... except UnicodeDecodeError as e:
    ...     print(undecodable(e))
    the byte 0xff at position 2, as in a binary file
    """
    return f"the byte 0x{fault.object[fault.start]:02x} at position {fault.start:,}, as in a binary file"


def line_blocks(path: str | Path) -> Iterator[list[str]]:
    """Yield the lines of a text file in blocks of about CHUNK bytes, as ``read_lines`` returns them all.

    The memory in use does not grow with the file. Raises WorkloadError if there is no such file, it cannot be read, or
    it exceeds a limit, the latter after the blocks before.
    """
    for block in _whole_lines(path):
        yield split_lines(block.decode("utf-8", errors="replace"))


def each_line(path: str | Path) -> Iterator[str]:
    """Yield the lines of a text file, as ``read_lines`` returns them all; it is read block by block (``line_blocks``)."""
    return chain.from_iterable(line_blocks(path))


def begins_with(path: str | Path, sign: str) -> bool:
    """Check whether the first character of a text that is no space is ``sign``; False also for an empty text.

    Raises WorkloadError if there is no such file or it cannot be read.
    """
    for chunk in _chunks(path, LARGEST_FILE, None):
        text = chunk.removeprefix(BOM).lstrip()
        if text:
            return text.startswith(sign.encode())
    return False


def text_lines(path: str | Path) -> Iterator[str]:
    """Yield the lines of a UTF-8 text with their ends, for the ``csv`` module; it is read block by block.

    Raises TextError if there is no such file, it cannot be read, is not UTF-8, or exceeds a limit, the latter two after
    the lines before.
    """
    number = 0
    for block in _whole_lines(path):
        for line in block.splitlines(keepends=True):
            number += 1
            try:
                yield line.decode("utf-8")
            except UnicodeDecodeError as e:
                raise TextError(path, "encoding", "UTF-8", undecodable(e), number) from None


def _whole_lines(path: str | Path) -> Iterator[bytes]:
    """Yield the bytes of a file, without a byte order mark, in blocks that end with a line."""
    rest = b""
    for k, chunk in enumerate(_chunks(path, LARGEST_FILE, LONGEST_LINE)):
        data = rest + (chunk if k else chunk.removeprefix(BOM))
        # a carriage return at the end may be the first half of a line end
        cut = max(data.rfind(b"\n"), data.rfind(b"\r", 0, len(data) - 1)) + 1
        rest = data[cut:]
        if cut:
            yield data[:cut]
    if rest:
        yield rest


def _read(path: str | Path, most: int, longest_line: int | None) -> bytearray:
    content = bytearray()
    for chunk in _chunks(path, most, longest_line):
        content += chunk
    return content


def _chunks(path: str | Path, most: int, longest_line: int | None) -> Iterator[bytes]:
    try:
        with Path(path).open("rb") as file:
            head = file.read(len(GZIP) + 3)
            packer = next((name for magic, name in OTHER_PACKERS.items() if head.startswith(magic)), None)
            if packer is not None:
                raise TextError(path, "file", "a text file, plain or gz", f"{packer} data: unpack it first")
            whole = io.BufferedReader(_Rejoined(head, file))
            if not head.startswith(GZIP):
                yield from _bounded(whole, path, most, longest_line)
                return
            with gzip.GzipFile(fileobj=whole) as unpacked:
                yield from _bounded(unpacked, path, most, longest_line)
    except (gzip.BadGzipFile, EOFError, zlib.error) as e:
        said = f"the gzip data are damaged ({e}); fetch or unpack the file again"
        raise TextError(path, "file", "whole gzip data", str(e), said=said) from e
    except FileNotFoundError:
        raise TextError(path, "file", "a file of this name", None, said="there is no such file") from None
    except (OSError, ValueError) as e:  # ValueError: a null character in the name
        if isinstance(e, WorkloadError):
            raise
        why = e.strerror if isinstance(e, OSError) else str(e)
        raise TextError(path, "file", "a readable file", why, said=f"cannot be read ({why})") from e


class _Rejoined(io.RawIOBase):
    """A stream that gives the bytes already read and then the rest; needed because a pipe cannot be rewound."""

    def __init__(self, head: bytes, rest: IO[bytes]) -> None:
        self.head = head
        self.rest = rest

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read the next bytes into ``buffer`` and return their number."""
        data = self.head or self.rest.read(len(buffer))
        self.head = data[len(buffer) :] if self.head else b""
        data = data[: len(buffer)]
        buffer[: len(data)] = data
        return len(data)


def _bounded(stream: Any, path: str | Path, most: int, longest_line: int | None) -> Iterator[bytes]:
    """Yield the bytes of a stream in chunks; the limits are checked before each chunk, so memory use stays bounded."""
    size = lines = unfinished = 0  # bytes and complete lines so far, and bytes of the line after them
    while chunk := stream.read(CHUNK):
        size += len(chunk)
        if size > most:
            raise TextError(path, "file", f"at most {how_many(most, 'byte', ',')} (unpacked)", "more", lines + 1)
        ends = b"\n" if b"\n" in chunk else b"\r"
        first = chunk.find(ends)
        if (
            longest_line is not None and unfinished + (len(chunk) if first < 0 else first) > longest_line + 1
        ):  # 1: the \r of \r\n
            raise TextError(path, "line", f"at most {how_many(longest_line, 'byte', ',')} in a line", "more", lines + 1)
        unfinished = unfinished + len(chunk) if first < 0 else len(chunk) - 1 - chunk.rfind(ends)
        lines += chunk.count(ends)
        if lines > MOST_LINES:
            raise TextError(path, "file", f"at most {MOST_LINES:,} lines", "more", lines)
        yield chunk


def read_json(path: str | Path) -> Any:
    """Read a JSON file. Raises WorkloadError, with the line, if it is invalid or exceeds a limit."""
    text = read_text(path, LARGEST_JSON, "replace", longest_line=None)
    try:
        return json.loads(text)
    except json.JSONDecodeError as e:
        raise TextError(path, "syntax", "JSON", str(e), said=f"not a JSON file: {e}") from e
    except RecursionError:
        raise TextError(path, "syntax", "JSON", "too deep nesting", said="not a JSON file: too deep nesting") from None
    except ValueError as e:
        line = line_of_long_number(text)
        raise TextError(path, "number", f"numbers of at most {MOST_DIGITS:,} digits", "more", line) from e


def line_of_long_number(text: str) -> int | None:
    """Return the line of the first number with more than MOST_DIGITS digits, which Python does not convert."""
    match = re.search(rf"(?<!\d)\d{{{MOST_DIGITS + 1}}}", text.replace("_", ""), re.ASCII)
    return None if match is None else text.count("\n", 0, match.start()) + 1


def csv_rows(path: str | Path, lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number at which the row ends, cells) of each row of CSV. Raises TextError for invalid CSV.

    >>> list(csv_rows("t.csv", ['a,"b', 'c"']))
    [(2, ['a', 'bc'])]
    """
    reader = csv.reader(lines)
    try:
        for cells in reader:
            yield reader.line_num, cells
    except csv.Error as e:
        expected = f"CSV with fields of at most {LONGEST_FIELD:,} characters"
        raise TextError(path, "row", expected, str(e), reader.line_num) from e


def csv_cells(path: str | Path, number: int, text: str) -> Sequence[str]:
    """Return the cells of one line of CSV; an empty line has none. Raises TextError."""
    try:
        return next((cells for _, cells in csv_rows(path, [text])), [])
    except TextError as e:
        raise TextError(path, e.field, e.expected, e.found, number) from None


def streamed(path: Path) -> Iterator[str]:
    """Yield the lines, with their ends, of an uncompressed UTF-8 file of any length, for the ``csv`` module.

    Raises TextError for a line longer than LONGEST_LINE, OSError, UnicodeDecodeError.
    """
    with path.open(encoding="utf-8", newline="") as file:
        number = 0
        while line := file.readline(LONGEST_LINE + 2):
            number += 1
            if len(line) > LONGEST_LINE:
                raise TextError(path, "line", f"at most {LONGEST_LINE:,} characters in a line", "more", number)
            yield line


# --- Numbers in the texts and the JSON of files: every reader converts them here, so that all of them accept and refuse the same.
#
# A number has ASCII digits: ``1_000``, digits of other scripts, ``nan`` and ``inf`` are none, though Python would convert
# them. Length and size are checked before the conversion, so that a number of 5,000 digits costs nothing.
#
# ``..._of`` returns None for what is no such number, for readers with messages of their own; the other functions raise
# WrongValue with the name of the field, the text and what is expected. The caller adds the file and the line.


MOST = LATEST  # s (317 years), or amounts, where nothing else is said
LONGEST = 60  # characters of a number
SHOWN = 40  # characters of a text in a message
SIGNED = re.compile(r"-?\d+", re.ASCII)
DECIMAL = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d{1,4})?", re.ASCII)
SPAN = re.compile(r"(\d{1,9})(?:-(\d{1,9})(?::(\d{1,9}))?)?", re.ASCII)
PLAIN = re.compile(r"\d+(?:\.\d*)?|\.\d+", re.ASCII)


def whole_of(text: str, least: int = 0, most: int = MOST) -> int | None:
    """Return the whole number from ``least`` to ``most`` that a text is; None if it is none.

    >>> whole_of("16"), whole_of("1_000"), whole_of("-1"), whole_of("-1", -1), whole_of("9" * 5000)
    (16, None, None, -1, None)
    """
    if len(text) > LONGEST or SIGNED.fullmatch(text) is None:
        return None
    value = int(text)
    return value if least <= value <= most else None


def number_of(text: str, least: float = -math.inf, most: float = math.inf) -> float | None:
    """Return the whole or decimal number from ``least`` to ``most`` that a text is; None if it is none.

    >>> number_of("1.5e3"), number_of("nan"), number_of("-2", least=0), number_of("٣"), number_of("1e999")
    (1500.0, None, None, None, None)
    """
    if len(text) > LONGEST or DECIMAL.fullmatch(text) is None:
        return None
    value = float(text)
    return value if math.isfinite(value) and least <= value <= most else None


def exact_of(text: str) -> int | Fraction | None:
    """Return the whole or decimal number of at least 0, without exponent, that a text is, exactly; None if it is none.

    >>> exact_of("3.5"), exact_of("9223372036854778808"), exact_of("1e3")
    (Fraction(7, 2), 9223372036854778808, None)
    """
    if len(text) > LONGEST or PLAIN.fullmatch(text) is None:
        return None
    value = Fraction(text.rstrip(".") if not text.startswith(".") else f"0{text}")
    return int(value) if value.denominator == 1 else value


def whole(field: str, text: str, least: int = 0, most: int = MOST) -> int:
    """Return the whole number from ``least`` to ``most`` that a text is. Raises WrongValue.

    >>> whole("cores", "16", 1, 1024)
    16
    """
    value = whole_of(text, least, most)
    if value is None:
        raise wrong(field, text, f"a whole number from {least} to {most}")
    return value


def number(field: str, text: str, least: float = -math.inf, most: float = MOST) -> float:
    """Return the whole or decimal number from ``least`` to ``most`` that a text is. Raises WrongValue.

    >>> number("power_w", "250.5", least=0)
    250.5
    """
    value = number_of(text, least, most)
    if value is None:
        low = "" if least == -math.inf else f" of at least {least:g}"
        raise wrong(field, text, f"a number{low}{' and' if low else ' of'} at most {most:g}")
    return value


def wrong(field: str, value: object, expected: str) -> WrongValue:
    """Return the error for the value of a field.

    >>> str(wrong("cores", "many", "a whole number"))
    "cores is 'many'; expected a whole number"
    """
    shown = repr(value[:SHOWN]) if isinstance(value, str) else excerpt(value)
    return WrongValue(f"{field} is {shown}; expected {expected}")


def json_number_of(value: object, least: float = -MOST, most: float = MOST) -> int | float | None:
    """Return a number of JSON from ``least`` to ``most``; None for true, false, NaN, infinity and everything else.

    >>> json_number_of(7), json_number_of(2.5), json_number_of(True), json_number_of(float("nan")), json_number_of("7")
    (7, 2.5, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value if least <= value <= most else None  # false for NaN


def json_whole_of(value: object, least: int = 0, most: int = MOST) -> int | None:
    """Return a whole number of JSON from ``least`` to ``most``; None for everything else, 7.0 too.

    >>> json_whole_of(7), json_whole_of(7.0), json_whole_of(True), json_whole_of(-1)
    (7, None, None, None)
    """
    number = json_number_of(value, least, most)
    return number if isinstance(number, int) else None


def seconds_of(days: str | None, hours: str | None, minutes: str | None, seconds: str | None) -> float:
    """Return the seconds of the parts of a duration that a pattern has found; None and "" count 0.

    >>> seconds_of("1", "2", None, "30.5")
    93630.5
    """
    parts = (float(part) if part else 0.0 for part in (days, hours, minutes, seconds))
    return math.fsum(factor * part for factor, part in zip((86400, 3600, 60, 1), parts, strict=True))


def span_of(text: str) -> range | None:
    """Return the numbers of a range such as ``7``, ``1-4`` or ``0-20:5``; None for something else.

    >>> list(span_of("0-20:5") or ()), span_of("4-1"), span_of("1-4:0")
    ([0, 5, 10, 15, 20], range(4, 2), None)
    """
    match = SPAN.fullmatch(text)
    if match is None:
        return None
    first, last, step = (None if part is None else whole_of(part) for part in match.groups())
    if first is None or step == 0:
        return None
    return range(first, (first if last is None else last) + 1, step or 1)


# --- Lines with their numbers, for the readers of benchmark formats.

MOST_DIGITS_OF_NUMBER = len(str(LATEST))
LARGEST_NUMBER = 10**MOST_DIGITS_OF_NUMBER - 1
SHOWN_OF_LINE = 80  # characters of a line in a message


class FormatError(SchedlabError, ValueError):
    """The error for a file that does not follow its format.

    Parameters
    ----------
    path
        The file.
    line
        The line number, counted from 1.
    expected
        A description of valid content.
    found
        The content found; empty or None if there is none.
    """

    def __init__(self, path: Path, line: int, expected: str, found: object) -> None:
        self.path = path
        self.line = line
        self.found = found
        shown = repr(found) if found else "nothing"
        super().__init__(f"{path}, line {line}: expected {expected}, found {shown}")


@dataclass(frozen=True)
class NumberedLine:
    """A non-empty line of a file, with its number, counted from 1."""

    path: Path
    number: int
    text: str

    def error(self, expected: str) -> FormatError:
        """Return the error that this line is not as expected."""
        return FormatError(self.path, self.number, expected, self.text.strip()[:SHOWN_OF_LINE])

    def numbers(self, expected: str, least: int = 0) -> list[int]:
        """Return the whole numbers of the line. Raises FormatError for fewer than ``least``, or another word."""
        values = wholes_of(self.text.split())
        if values is None or len(values) < least:
            raise self.error(expected)
        return values

    def begins_with_number(self) -> bool:
        """Return whether the first word is a number of any kind, ``nan`` too; other lines are titles."""
        return like_number(self.text.split(maxsplit=1)[0])

    def exactly(self, count: int, expected: str) -> list[int]:
        """Return the whole numbers of the line. Raises FormatError for another number of words, or another word."""
        values = self.numbers(expected)
        if len(values) != count:
            raise self.error(expected)
        return values


def end_error(lines: Sequence[NumberedLine], expected: str, found: str | None = None) -> FormatError:
    """Return the error that something is missing at the end of a file."""
    return FormatError(lines[-1].path, lines[-1].number, expected, found)


def like_number(word: str) -> bool:
    """Return whether a word is meant as a number, perhaps one that is refused: ``nan``, ``1_000``, digits of another script."""
    unsigned = word.lstrip("+-.,").lower()
    return unsigned[:1].isnumeric() or unsigned in ("nan", "inf", "infinity")


def is_whole(word: str) -> bool:
    """Check for a whole number of at least 0 with at most MOST_DIGITS_OF_NUMBER digits; ``wholes_of`` returns such numbers."""
    return len(word) <= MOST_DIGITS_OF_NUMBER and whole_of(word, most=LARGEST_NUMBER) is not None


def wholes_of(words: Iterable[str]) -> list[int] | None:
    """Return whole numbers of at least 0 with at most MOST_DIGITS_OF_NUMBER digits; None if a word is none."""
    values = [whole_of(word, most=LARGEST_NUMBER) if len(word) <= MOST_DIGITS_OF_NUMBER else None for word in words]
    return None if None in values else [value for value in values if value is not None]


def decimal_of(word: str) -> int | Fraction | None:
    """Return a whole or decimal number of at least 0, exactly; None if it is none or a part has more than MOST_DIGITS_OF_NUMBER digits."""
    short = all(len(part) <= MOST_DIGITS_OF_NUMBER for part in word.split("."))
    return exact_of(word) if short and word[:1].isdigit() else None


def text_of_file(path: str | Path) -> str:
    """Return the text of a file; raise FormatError if it has none."""
    where = Path(path)
    try:
        return read_text(where)
    except UnicodeDecodeError as e:
        raise FormatError(where, 1, "a text file in UTF-8", undecodable(e)) from None
    except TextError as e:
        raise FormatError(where, e.line or 1, e.expected, e.found) from None


def numbered_lines(path: str | Path) -> list[NumberedLine]:
    """Return the non-empty lines of a file. Lines that begin with # are comments and are left out."""
    where = Path(path)
    lines = enumerate(split_lines(text_of_file(where)), 1)
    numbered = [NumberedLine(where, n, t) for n, t in lines if t.strip() and not t.lstrip().startswith("#")]
    if not numbered:
        raise FormatError(where, 1, "a text", None)
    return numbered
