"""Lines of a text file with their numbers, for the error messages of the readers of benchmark formats."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from ...errors import SchedlabError
from ...models.platform import LATEST
from ..files.lines import TextError, exact_of, read_text, split_lines, whole_of

MOST_DIGITS = len(str(LATEST))
MOST = 10**MOST_DIGITS - 1
SHOWN = 80  # characters of a line in a message


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
        return FormatError(self.path, self.number, expected, self.text.strip()[:SHOWN])

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
    """Check for a whole number of at least 0 with at most MOST_DIGITS digits; ``wholes_of`` returns such numbers."""
    return len(word) <= MOST_DIGITS and whole_of(word, most=MOST) is not None


def wholes_of(words: Iterable[str]) -> list[int] | None:
    """Return whole numbers of at least 0 with at most MOST_DIGITS digits; None if a word is none."""
    values = [whole_of(word, most=MOST) if len(word) <= MOST_DIGITS else None for word in words]
    return None if None in values else [value for value in values if value is not None]


def decimal_of(word: str) -> int | Fraction | None:
    """Return a whole or decimal number of at least 0, exactly; None if it is none or a part has more than MOST_DIGITS digits."""
    short = all(len(part) <= MOST_DIGITS for part in word.split("."))
    return exact_of(word) if short and word[:1].isdigit() else None


def text_of_file(path: str | Path) -> str:
    """Return the text of a file; raise FormatError if it has none."""
    where = Path(path)
    try:
        return read_text(where)
    except UnicodeDecodeError as e:
        raise FormatError(where, 1, "a text file in UTF-8", str(e)) from None
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
