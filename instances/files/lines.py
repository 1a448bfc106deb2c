"""Text files, plain or gz, opened within limits; all readers of files take their text from here.

The limits lie far above real data, so that a damaged or hostile file costs bounded time and memory (the whole Curie log
has 313 thousand lines of at most 96 characters, 29 MB unpacked):

- ``LARGEST_FILE``, 512 MiB unpacked, and ``MOST_LINES``, 10 million;
- ``LONGEST_LINE``, 1 MiB, but in JSON, which may stand in one line;
- ``LARGEST_JSON``, 256 MiB; ``LARGEST_TOML``, 4 MiB;
- ``LONGEST_FIELD``, 131,072 characters of a field of CSV; ``MOST_DIGITS``, 4,300 digits of a number in JSON or TOML.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from ..workload import WorkloadError

MIB = 1024**2
LARGEST_FILE, LARGEST_JSON, LARGEST_TOML = 512 * MIB, 256 * MIB, 4 * MIB
LONGEST_LINE = MIB
MOST_LINES = 10_000_000
LONGEST_FIELD = csv.field_size_limit()
MOST_DIGITS = sys.int_info.default_max_str_digits
CHUNK = MIB
GZIP = b"\x1f\x8b"
OTHER_PACKERS = {b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"\x28\xb5\x2f\xfd": "zstd", b"PK\x03\x04": "zip"}


class TextError(WorkloadError):
    """A file that cannot be taken as text; ``line``, ``field``, ``expected`` and ``found`` tell it in parts."""

    def __init__(
        self, path: str | Path, field: str, expected: str, found: str | None, line: int | None = None, said: str = ""
    ) -> None:
        self.line, self.field, self.expected, self.found = line, field, expected, found
        where = f"{path}" if line is None else f"{path}, line {line}"
        super().__init__(f"{where}: {said or f'expected {expected}, found {found}'}")


def read_lines(path: str | Path) -> list[str]:
    """The lines of a text file, gz or not; the first one is line 1. Any line ends; what is not UTF-8 becomes U+FFFD.

    Raises WorkloadError if there is no such file, it cannot be read, or it is beyond a limit.
    """
    return split_lines(read_text(path, errors="replace"))


def split_lines(text: str) -> list[str]:
    """The lines of a text, as an editor counts them (``str.splitlines`` also breaks at form feeds and the like).

    >>> split_lines("a\\r\\nb\\x0c\\nc")
    ['a', 'b\\x0c', 'c']
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines if lines[-1] else lines[:-1]


def read_text(
    path: str | Path, most: int = LARGEST_FILE, errors: str = "strict", longest_line: int | None = LONGEST_LINE
) -> str:
    """The text of a file, gz or not, without a byte order mark; line ends stay as they are.

    Raises
    ------
    TextError
        No such file, not readable, or beyond ``most`` bytes (unpacked), ``longest_line`` or MOST_LINES.
    UnicodeDecodeError
        Not UTF-8, unless ``errors`` is "replace".
    """
    return bytes(_read(path, most, longest_line)).removeprefix(b"\xef\xbb\xbf").decode("utf-8", errors=errors)


def _read(path: str | Path, most: int, longest_line: int | None) -> bytearray:
    try:
        with Path(path).open("rb") as file:
            head = file.read(len(GZIP) + 3)
            packer = next((name for magic, name in OTHER_PACKERS.items() if head.startswith(magic)), None)
            if packer is not None:
                raise TextError(path, "file", "a text file, plain or gz", f"{packer} data: unpack it first")
            whole = io.BufferedReader(_Again(head, file))
            if not head.startswith(GZIP):
                return _bounded(whole, path, most, longest_line)
            with gzip.GzipFile(fileobj=whole) as unpacked:
                return _bounded(unpacked, path, most, longest_line)
    except (gzip.BadGzipFile, EOFError, zlib.error) as e:
        said = f"the gzip data are damaged ({e}); fetch or unpack the file again"
        raise TextError(path, "file", "whole gzip data", str(e), said=said) from e
    except FileNotFoundError:
        raise TextError(path, "file", "a file of this name", None, said="there is no such file") from None
    except (OSError, ValueError) as e:  # ValueError: a NUL in the name
        if isinstance(e, WorkloadError):
            raise
        why = e.strerror if isinstance(e, OSError) else str(e)
        raise TextError(path, "file", "a readable file", why, said=f"cannot be read ({why})") from e


class _Again(io.RawIOBase):
    """What was read of a stream, then the rest of it: a pipe cannot be wound back."""

    def __init__(self, head: bytes, rest: IO[bytes]) -> None:
        self.head, self.rest = head, rest

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """The next bytes."""
        data = self.head or self.rest.read(len(buffer))
        self.head = data[len(buffer) :] if self.head else b""
        data = data[: len(buffer)]
        buffer[: len(data)] = data
        return len(data)


def _bounded(stream: Any, path: str | Path, most: int, longest_line: int | None) -> bytearray:
    """All bytes of a stream; the limits are held chunk by chunk, so that what lies beyond them is never in memory."""
    found = bytearray()
    lines = unfinished = 0  # lines so far, and the bytes of the last one
    while chunk := stream.read(CHUNK):
        found += chunk
        if len(found) > most:
            raise TextError(path, "file", f"at most {most:,} bytes (unpacked)", "more", lines + 1)
        ends = b"\n" if b"\n" in chunk else b"\r"
        first = chunk.find(ends)
        if longest_line is not None and unfinished + (len(chunk) if first < 0 else first) > longest_line + 1:  # of \r\n
            raise TextError(path, "line", f"at most {longest_line:,} bytes in a line", "more", lines + 1)
        unfinished = unfinished + len(chunk) if first < 0 else len(chunk) - 1 - chunk.rfind(ends)
        lines += chunk.count(ends)
        if lines > MOST_LINES:
            raise TextError(path, "file", f"at most {MOST_LINES:,} lines", "more", lines)
    return found


def read_json(path: str | Path) -> Any:
    """What a JSON file holds. Raises WorkloadError with the line where it is broken, or beyond a limit."""
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
    """The line of the first number with more digits than Python converts."""
    found = re.search(rf"(?<!\d)\d{{{MOST_DIGITS + 1}}}", text.replace("_", ""), re.ASCII)
    return None if found is None else text.count("\n", 0, found.start()) + 1


def csv_rows(path: str | Path, lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """(line where it ends, cells) of the rows of CSV. Raises TextError for what the csv module cannot take.

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
    """The cells of one line of CSV; none of an empty one. Raises TextError."""
    try:
        return next((cells for _, cells in csv_rows(path, [text])), [])
    except TextError as e:
        raise TextError(path, e.field, e.expected, e.found, number) from None


def streamed(path: Path) -> Iterator[str]:
    """The lines of a plain UTF-8 file of any length with their ends, one after another, for ``csv``.

    Raises TextError for a line beyond LONGEST_LINE, OSError, UnicodeDecodeError.
    """
    with path.open(encoding="utf-8", newline="") as file:
        number = 0
        while line := file.readline(LONGEST_LINE + 2):
            number += 1
            if len(line) > LONGEST_LINE:
                raise TextError(path, "line", f"at most {LONGEST_LINE:,} characters in a line", "more", number)
            yield line
