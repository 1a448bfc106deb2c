"""Writes the files of an instance: TOML and CSV that every reader takes, read once before they are renamed into place."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

BARE = re.compile(r"[A-Za-z0-9_-]+")  # keys of TOML that need no quotes
ESCAPED = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
UNUSUAL = re.compile(r'[\\"\x00-\x1f\x7f-\x9f\u2028\u2029]')
SURROGATE = re.compile("[\ud800-\udfff]")  # no text file can hold them


class NotReadable(ValueError):
    """What would be written could not be read again; nothing was written. The message says why."""


def write_files(folder: Path, files: Mapping[str, str], read: Callable[[Path], object]) -> None:
    """Write text files into a folder: beside it first, read once from there, then renamed.

    Parameters
    ----------
    folder
        Made if it is not there; other files in it stay.
    files
        Texts by file name.
    read
        Called with the folder that holds the files for the time being; what it raises ends the writing.

    Raises
    ------
    NotReadable
        ``read`` raised a ValueError or LookupError; nothing was written.
    OSError
        A file cannot be written.
    """
    made = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(prefix=".schedlab-", suffix=".tmp", dir=folder))
    try:
        for name, text in files.items():
            (beside / name).write_text(SURROGATE.sub("\ufffd", text), encoding="utf-8", newline="\n")
        try:
            read(beside)
        except (ValueError, LookupError) as e:
            why = str(e).replace(str(beside), str(folder))
            raise NotReadable(f"{folder}: not written, as it could not be read again: {why}") from e
        for name in files:
            (beside / name).replace(folder / name)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
        if made and not any(folder.iterdir()):
            folder.rmdir()


def to_toml(values: Mapping[str, Any], comment: str = "") -> str:
    """A TOML text of texts, numbers, lists, tables and lists of tables; a table inside of a list is written in one line.

    >>> print(to_toml({"kind": "dispatch", "queues": [{"name": "debug", "ewt_s": 3600}]}, "One queue."))
    # One queue.
    kind = "dispatch"
    <BLANKLINE>
    [[queues]]
    name = "debug"
    ewt_s = 3600
    <BLANKLINE>
    """
    lines = [f"# {line}".rstrip() for line in comment.splitlines()]
    return "\n".join([*lines, *_toml_table(values, ())]).lstrip("\n") + "\n"


def _toml_table(values: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    """The plain values first, then the tables under their headers."""
    later = [k for k, v in values.items() if isinstance(v, Mapping) or _is_tables(v)]
    yield from (f"{_key(k)} = {_toml_value(v)}" for k, v in values.items() if k not in later)
    for key in later:
        value, name = values[key], ".".join(map(_key, [*path, key]))
        if _is_tables(value):
            for table in value:
                yield from ("", f"[[{name}]]")
                yield from (f"{_key(k)} = {_toml_value(v)}" for k, v in table.items())
        else:
            if not all(isinstance(v, Mapping) or _is_tables(v) for v in value.values()):
                yield from ("", f"[{name}]")
            yield from _toml_table(value, (*path, key))


def _is_tables(value: object) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], Mapping)


def _key(name: object) -> str:
    return str(name) if BARE.fullmatch(str(name)) else _quoted(str(name))


def _toml_value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float):  # numpy's too, whose own repr names their type
        return float.__repr__(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(k)} = {_toml_value(v)}" for k, v in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_toml_value, value)) + "]"
    return _quoted(str(value))


def _quoted(text: str) -> str:
    """A basic string of TOML.

    >>> _quoted('a "b" \\x1b')
    '"a \\\\"b\\\\" \\\\u001b"'
    """
    return '"' + UNUSUAL.sub(lambda c: ESCAPED.get(c[0], f"\\u{ord(c[0]):04x}"), text) + '"'


def to_csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A CSV text with one header line; None is an empty cell."""
    lines = [header, *([("" if c is None else c) for c in row] for row in rows)]
    return "".join(",".join(map(_cell, line)) + "\n" for line in lines)


def _cell(value: object) -> str:
    text = str(value)
    return '"' + text.replace('"', '""') + '"' if re.search(r'[",\n\r]', text) else text


def comment_line(text: str) -> str:
    """A text as it can stand behind a # in one line.

    >>> comment_line("a\\nb")
    'a b'
    """
    return " ".join(re.split(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+", text)).strip()
