"""Lines of a text file with their numbers, for the error messages of the readers of benchmark formats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...errors import SchedlabError
from ...models.platform import LATEST
from ..files.lines import TextError, read_text, split_lines

MOST_DIGITS = len(str(LATEST))


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
        self.path, self.line, self.found = path, line, found
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
        return FormatError(self.path, self.number, expected, self.text.strip()[:80])

    def numbers(self, expected: str, least: int = 0) -> list[int]:
        """Return the whole numbers of the line. Raises FormatError for fewer than ``least``, or another word."""
        words = self.text.split()
        if len(words) < least or not all(map(is_whole, words)):
            raise self.error(expected)
        return [int(w) for w in words]

    def begins_with_number(self) -> bool:
        """Return whether the first word is a number of any kind, ``nan`` too; other lines are titles."""
        try:
            float(self.text.split(maxsplit=1)[0])
        except ValueError:
            return False
        return True

    def exactly(self, count: int, expected: str) -> list[int]:
        """Return the whole numbers of the line. Raises FormatError for another number of words, or another word."""
        values = self.numbers(expected)
        if len(values) != count:
            raise self.error(expected)
        return values


def end_error(lines: Sequence[NumberedLine], expected: str, found: str | None = None) -> FormatError:
    """Return the error that something is missing at the end of a file."""
    return FormatError(lines[-1].path, lines[-1].number, expected, found)


def is_whole(word: str) -> bool:
    """Check for a whole number of at least 0 with at most MOST_DIGITS digits."""
    return word.isascii() and word.isdigit() and len(word) <= MOST_DIGITS


def is_decimal(word: str) -> bool:
    """Check for a whole or decimal number of at least 0, both parts with at most MOST_DIGITS digits."""
    whole, _, decimals = word.partition(".")
    return is_whole(whole) and (not decimals or is_whole(decimals))


def numbered_lines(path: str | Path) -> list[NumberedLine]:
    """Return the non-empty lines of a file. Lines that begin with # are comments and are left out."""
    where = Path(path)
    try:
        text = read_text(where)
    except UnicodeDecodeError as e:
        raise FormatError(where, 1, "a text file in UTF-8", str(e)) from None
    except TextError as e:
        raise FormatError(where, e.line or 1, e.expected, e.found) from None
    lines = enumerate(split_lines(text), 1)
    found = [NumberedLine(where, n, t) for n, t in lines if t.strip() and not t.lstrip().startswith("#")]
    if not found:
        raise FormatError(where, 1, "a text", None)
    return found
