"""Text files, plain or gzip-compressed, settings in TOML and rows in CSV, read within limits; all faults are in one error.

Texts are UTF-8, or UTF-16 with a byte order mark.

The limits are far above real data (the whole Curie log has 313 thousand lines of at most 96 characters, 29 MB
uncompressed), so that a damaged or malicious file costs bounded time and memory:

- ``LARGEST_FILE``: 512 MiB uncompressed; ``MOST_LINES``: 10 million lines;
- ``LONGEST_LINE``: 1 MiB per line, except in JSON, where the whole text may be one line;
- ``LARGEST_JSON``: 256 MiB; ``LARGEST_TOML``: 4 MiB;
- ``LONGEST_FIELD``: 131,072 characters per CSV field; ``MOST_DIGITS``: 4,300 digits per number in JSON and TOML.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import hashlib
import io
import json
import math
import os
import re
import stat
import sys
import tomllib
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain
from math import inf
from pathlib import Path
from typing import IO, Any

from ...errors import SchedlabError, WrongValue
from ...models.comparing import hashable
from ...models.platform import LATEST
from ...models.words import excerpt, how_many, shortened, similar, visible, with_short_repr

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
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)  # what > of PowerShell writes
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
        if line is None:
            where = f"{path}"
        else:
            where = f"{path}, line {line}"
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
    if lines[-1]:
        return lines
    return lines[:-1]


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
        if isinstance(e, OSError):
            why = e.strerror
        else:
            why = str(e)
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
        if self.head:
            self.head = data[len(buffer) :]
        else:
            self.head = b""
        data = data[: len(buffer)]
        buffer[: len(data)] = data
        return len(data)


def _bounded(stream: Any, path: str | Path, most: int, longest_line: int | None) -> Iterator[bytes]:
    """Yield the bytes of a stream in chunks; the limits are checked before each chunk, so memory use stays bounded."""
    size = lines = unfinished = 0  # bytes and complete lines so far, and bytes of the line after them
    for chunk in _in_utf_8(iter(lambda: stream.read(CHUNK), b"")):
        size += len(chunk)
        if size > most:
            raise TextError(path, "file", f"at most {how_many(most, 'byte', ',')} (unpacked)", "more", lines + 1)
        ends = b"\r"
        if b"\n" in chunk:
            ends = b"\n"
        first = chunk.find(ends)
        if (
            longest_line is not None and unfinished + (len(chunk) if first < 0 else first) > longest_line + 1
        ):  # 1: the \r of \r\n
            raise TextError(path, "line", f"at most {how_many(longest_line, 'byte', ',')} in a line", "more", lines + 1)
        if first < 0:
            unfinished = unfinished + len(chunk)
        else:
            unfinished = len(chunk) - 1 - chunk.rfind(ends)
        lines += chunk.count(ends)
        if lines > MOST_LINES:
            raise TextError(path, "file", f"at most {MOST_LINES:,} lines", "more", lines)
        yield chunk


def _in_utf_8(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the chunks of a file; a text in UTF-16 with a byte order mark, as programs on Windows write it, as UTF-8."""
    decoder: codecs.IncrementalDecoder | None = None
    for k, chunk in enumerate(chunks):
        if not k and chunk.startswith(UTF_16):
            decoder = codecs.getincrementaldecoder("utf-16")("replace")
        if decoder is None:
            yield chunk
        elif text := decoder.decode(chunk):
            yield text.encode("utf-8", "replace")
    if decoder is not None and (rest := decoder.decode(b"", final=True)):
        yield rest.encode("utf-8", "replace")


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
    if match is None:
        return None
    return text.count("\n", 0, match.start()) + 1


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
SHOWN_CHARACTERS = 40  # characters of a text in a message
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
    if least <= value <= most:
        return value
    return None


def number_of(text: str, least: float = -math.inf, most: float = math.inf) -> float | None:
    """Return the whole or decimal number from ``least`` to ``most`` that a text is; None if it is none.

    >>> number_of("1.5e3"), number_of("nan"), number_of("-2", least=0), number_of("٣"), number_of("1e999")
    (1500.0, None, None, None, None)
    """
    if len(text) > LONGEST or DECIMAL.fullmatch(text) is None:
        return None
    value = float(text)
    if math.isfinite(value) and least <= value <= most:
        return value
    return None


def exact_of(text: str) -> int | Fraction | None:
    """Return the whole or decimal number of at least 0, without exponent, that a text is, exactly; None if it is none.

    >>> exact_of("3.5"), exact_of("9223372036854778808"), exact_of("1e3")
    (Fraction(7, 2), 9223372036854778808, None)
    """
    if len(text) > LONGEST or PLAIN.fullmatch(text) is None:
        return None
    value = Fraction(text.rstrip(".") if not text.startswith(".") else f"0{text}")
    if value.denominator == 1:
        return int(value)
    return value


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
        low = ""
        if least != -math.inf:
            low = f" of at least {least:g}"
        raise wrong(field, text, f"a number{low}{' and' if low else ' of'} at most {most:g}")
    return value


def wrong(field: str, value: object, expected: str) -> WrongValue:
    """Return the error for the value of a field.

    >>> str(wrong("cores", "many", "a whole number"))
    "cores is 'many'; expected a whole number"
    """
    if isinstance(value, str):
        shown = repr(value[:SHOWN_CHARACTERS])
    else:
        shown = excerpt(value)
    return WrongValue(f"{field} is {shown}; expected {expected}")


def json_number_of(value: object, least: float = -MOST, most: float = MOST) -> int | float | None:
    """Return a number of JSON from ``least`` to ``most``; None for true, false, NaN, infinity and everything else.

    >>> json_number_of(7), json_number_of(2.5), json_number_of(True), json_number_of(float("nan")), json_number_of("7")
    (7, 2.5, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    # false for NaN
    if least <= value <= most:
        return value
    return None


def json_whole_of(value: object, least: int = 0, most: int = MOST) -> int | None:
    """Return a whole number of JSON from ``least`` to ``most``; None for everything else, 7.0 too.

    >>> json_whole_of(7), json_whole_of(7.0), json_whole_of(True), json_whole_of(-1)
    (7, None, None, None)
    """
    number = json_number_of(value, least, most)
    if isinstance(number, int):
        return number
    return None


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
        shown = "nothing"
        if found:
            shown = repr(found)
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
    if None in values:
        return None
    return [value for value in values if value is not None]


def decimal_of(word: str) -> int | Fraction | None:
    """Return a whole or decimal number of at least 0, exactly; None if it is none or a part has more than MOST_DIGITS_OF_NUMBER digits."""
    short = all(len(part) <= MOST_DIGITS_OF_NUMBER for part in word.split("."))
    if short and word[:1].isdigit():
        return exact_of(word)
    return None


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
        if self.line is None:
            where = self.file
        else:
            where = f"{self.file}, line {self.line}"
        value = "nothing"
        if self.found is not None:
            value = excerpt(self.found)
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
        if len(faults) > SHOWN:
            count += f", the first {SHOWN} of them"
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
    schedlab.instances.files.reading.ForeignFile: it is outside of the folder
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
            limit = ""
            if value is not None:
                limit = f", at most {MOST_NUMBER:g}"
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
