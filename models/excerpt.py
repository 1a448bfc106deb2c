"""Values of the user in messages, and the ``repr`` of objects: no control characters, and no long texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, TypeVar

from .counts import how_many

MOST = 200  # characters of one value in an error message
LONGEST = 1000  # characters of one line of an error message
WIDTH = 120  # characters of the repr of an object
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
VALUE = 40  # characters of one value in it
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


def one_line(text: str, most: int = WIDTH) -> str:
    r"""Return a text on one line, without control characters; of one longer than ``most`` characters the beginning.

    Examples
    --------
    >>> print(one_line("two\nlines and more", 12))
    two\nline...
    """
    shown = visible(text)
    return shown if len(shown) <= most else f"{shown[: most - 3]}..."


T = TypeVar("T")


def with_short_repr(record: type[T]) -> type[T]:
    """Give a class a ``repr`` of one line with at most 120 characters: its name and its fields.

    The fields of a class that is neither a dataclass nor a named tuple are its ``name``, if it has one, and the
    parameters of its constructor that it keeps as attributes. A long value is replaced by its type or its length. If the
    fields do not fit, those with default values are left out first, then the last ones.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @with_short_repr
    ... @dataclass
    ... class Log:
    ...     name: str
    ...     lines: list
    >>> Log("a", [1, 2]), Log("b" * 99, list(range(5000)))
    (Log(name='a', lines=[1, 2]), Log(name='bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb...', lines=[5,000 int]))
    """
    record.__repr__ = _repr  # type: ignore[method-assign]
    return record


def _repr(record: Any) -> str:
    name = type(record).__name__
    named = list(_fields(record))
    whole = f"{name}({', '.join(f'{field}={_short(value)}' for field, value, _ in named)})"
    if len(whole) <= WIDTH:
        return whole
    parts = [f"{field}={_short(value)}" for field, value, default in named if not default]
    kept = []
    length = len(name) + len("(...)")
    for part in parts:
        length += len(part) + 2
        if length > WIDTH:
            break
        kept.append(part)
    return f"{name}({', '.join([*kept, '...'])})"


def _fields(record: Any) -> Iterator[tuple[str, Any, bool]]:
    """Yield the name and the value of each field, and whether the value is the default."""
    if isinstance(record, tuple):
        known = getattr(record, "_field_defaults", {})
        names: Sequence[str] = getattr(record, "_fields", ())
        yield from ((name, value, name in known and known[name] is value) for name, value in zip(names, record))  # noqa: B905
        return
    if not is_dataclass(record):
        yield from _kept_arguments(record)
        return
    for f in fields(record):
        if f.repr:
            value = getattr(record, f.name, None)
            default = f.default_factory() if f.default_factory is not MISSING else f.default
            yield f.name, value, _is_default(default, value)


def _kept_arguments(record: object) -> Iterator[tuple[str, Any, bool]]:
    """Yield the name and the arguments that an object keeps, and whether they are the defaults."""
    from inspect import signature  # takes 10 ms, which `import schedlab` should not pay

    known = {name: p.default for name, p in signature(type(record)).parameters.items()}
    for name in dict.fromkeys(["name", *known]):
        if name in vars(record) or (name == "name" and isinstance(getattr(record, name, None), str)):
            value = getattr(record, name)
            yield name, value, name in known and _is_default(known[name], value)


def _is_default(default: Any, value: Any) -> bool:
    if hasattr(value, "shape"):  # an array: == compares its entries
        return False
    if isinstance(value, Mapping | list):  # comparing long ones takes time
        return value is default or (not value and type(value) is type(default) and not default)
    return value is default or (type(value) is type(default) and value == default)


def _short(value: Any) -> str:
    """Return a value in at most 40 characters; of a collection the items if they fit, else their number."""
    if isinstance(value, str):
        text = repr(value[:VALUE])
        return text if len(value) < VALUE and len(text) <= VALUE else f"{text[: VALUE - 4]}...'"
    if isinstance(value, bytes):
        return how_many(len(value), "byte", ",")
    if isinstance(value, (Mapping, Sequence, Set)) and not hasattr(value, "_fields"):
        text = repr(value) if len(value) <= VALUE // 2 else ""
        if isinstance(value, (Mapping, Set)):
            left, right = "{}"
        else:
            left, right = "[]" if isinstance(value, list) else "()"
        kind = "items" if isinstance(value, Mapping) else type(next(iter(value), None)).__name__
        return text if text and len(text) <= VALUE else f"{left}{len(value):,} {kind}{right}"
    if hasattr(value, "shape"):  # an array
        return f"{type(value).__name__} of shape {value.shape}"[:VALUE]
    if hasattr(value, "__qualname__"):  # a function or a class
        return one_line(value.__qualname__, VALUE)
    try:
        text = repr(value)
    except ValueError:  # Python writes no integer of more than 4,300 digits
        return "a long number"
    if ADDRESS.search(text):
        return f"{type(value).__name__}(...)"
    return visible(text) if len(text) <= VALUE else f"{type(value).__name__}(...)"
