"""Values of the user in messages: control characters are shown as escapes, and long texts are shortened."""

from __future__ import annotations

import re

MOST = 200  # characters of one value in an error message
LONGEST = 1000  # characters of one line of an error message
SPACES = "\u00a0\u202f\u2009\u3000"  # spaces that Python does not regard as printable; harmless in a terminal


def visible(text: str, kept: str = "") -> str:
    r"""Return the text with each control character replaced by its Python escape.

    Terminals obey escape sequences, carriage returns and marks of the writing direction. A name in a file could use
    them to change colours, hide other text or write into another line.

    Parameters
    ----------
    text
        Any text, for instance from a file.
    kept
        Control characters that are not replaced, such as line ends.

    Returns
    -------
    str
        The same text if all its characters are printable.

    Examples
    --------
    >>> print(visible("a\x1b[31mb\rc\u202ed"))
    a\x1b[31mb\rc\u202ed
    >>> visible("two\nlines", kept="\n")
    'two\nlines'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in kept or c in SPACES else repr(c)[1:-1] for c in text)


def excerpt(value: object) -> str:
    r"""Return a value for an error message: on one line, as ``repr`` writes it, and at most 200 characters of it.

    Examples
    --------
    >>> print(excerpt("red\x1b[31m"), excerpt(3.5))
    'red\x1b[31m' 3.5
    >>> excerpt("x" * 5000)[-28:]
    "xxxxxxxx' ... (5,000 in all)"
    """
    if isinstance(value, str):
        return repr(value) if len(value) <= MOST else f"{value[:MOST]!r} ... ({len(value):,} in all)"
    try:
        text = repr(value)
    except ValueError:  # Python writes no integer of more than 4,300 digits
        return "a number of thousands of digits"
    except RecursionError:
        return "a value that is nested too deeply"
    return text if len(text) <= MOST else f"{text[:MOST]} ... ({len(text):,} in all)"


def clipped(text: str, most: int = 120) -> str:
    r"""Return a text as one line of at most ``most`` characters, for the ``repr`` of an object.

    Examples
    --------
    >>> clipped("Schedule(two\nlines)"), len(clipped("x" * 500))
    ('Schedule(two\\nlines)', 120)
    """
    line = visible(text)
    return line if len(line) <= most else f"{line[: most - 4]}...{line[-1]}"


def shortened(message: str) -> str:
    """Return an error message without control characters, with long words and lines shortened; line ends are kept.

    Examples
    --------
    >>> len(shortened("there is no instance " + "x" * 100_000))
    242
    """
    lines = (re.sub(rf"\S{{{MOST + 1},}}", _cut_word, line) for line in message.split("\n"))
    return "\n".join(visible(_cut_line(line), kept="\t") for line in lines)


def _cut_word(found: re.Match[str]) -> str:
    word = found[0]
    return f"{word[:MOST]} ... ({len(word):,} in all)"


def _cut_line(line: str) -> str:
    """Return the beginning and the end of a long line: the expected value is often named at the end."""
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 300]} ... {line[-250:]}"
