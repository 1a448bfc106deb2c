"""The lines of a text file with their numbers, as the readers of the classic formats need them for their errors."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ...models.platform import LATEST
from ..files.lines import TextError, read_text, split_lines

MOST_DIGITS = len(str(LATEST))


class FormatError(ValueError):
    """A file that is not in its format; the message says where, what was expected and what was found."""

    def __init__(self, path: Path, line: int, expected: str, found: object) -> None:
        self.path, self.line = path, line
        shown = repr(found) if found else "nothing"
        super().__init__(f"{path}, line {line}: expected {expected}, found {shown}")


@dataclass(frozen=True)
class NumberedLine:
    """A line of a file that is not empty, with its number, counted from 1."""

    path: Path
    number: int
    text: str

    def error(self, expected: str) -> FormatError:
        """What is wrong with this line."""
        return FormatError(self.path, self.number, expected, self.text.strip()[:80])

    def numbers(self, expected: str, least: int = 0) -> list[int]:
        """Its whole numbers, at least ``least`` of them and none negative."""
        words = self.text.split()
        if len(words) < least or not all(map(is_whole, words)):
            raise self.error(expected)
        return [int(w) for w in words]


def is_whole(word: str) -> bool:
    """Whether it is a whole number that data can have: up to eleven digits."""
    return word.isascii() and word.isdigit() and len(word) <= MOST_DIGITS


def numbered_lines(path: str | Path) -> list[NumberedLine]:
    """The lines with text; those that begin with # are comments."""
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
