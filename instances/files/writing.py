"""Writing of instance files: TOML and CSV texts; files are read once, as a check, before they get their final names."""

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
SURROGATE = re.compile("[\ud800-\udfff]")  # not encodable in UTF-8


class NotReadable(ValueError):
    """The error for files that could not be read again after writing; none of them is kept. The message says why."""


def write_files(folder: Path, files: Mapping[str, str], read: Callable[[Path], object]) -> None:
    """Write text files into a folder: first into a temporary folder inside it, where they are read once, then renamed.

    Parameters
    ----------
    folder
        The folder; created if it does not exist. Other files in it stay.
    files
        File name -> text.
    read
        Reads the files; called with the temporary folder. An exception cancels the writing.

    Raises
    ------
    NotReadable
        ``read`` raised ValueError or LookupError. Nothing was written.
    OSError
        A file cannot be written.
    """
    made = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=".schedlab-", suffix=".tmp", dir=folder))
    try:
        for name, text in files.items():
            (temporary / name).write_text(SURROGATE.sub("\ufffd", text), encoding="utf-8", newline="\n")
        try:
            read(temporary)
        except (ValueError, LookupError) as e:
            why = str(e).replace(str(temporary), str(folder))
            raise NotReadable(f"{folder}: not written, as it could not be read again: {why}") from e
        for name in files:
            (temporary / name).replace(folder / name)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        if made and not any(folder.iterdir()):
            folder.rmdir()


def to_toml(values: Mapping[str, Any], comment: str = "") -> str:
    """Return a TOML text of texts, numbers, lists, tables and lists of tables; a table inside a list is written inline.

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
    """Yield the lines of a table: plain values first, then tables with their headers."""
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
    if isinstance(value, float):  # NumPy's floats too, whose own repr contains their type
        return float.__repr__(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(k)} = {_toml_value(v)}" for k, v in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_toml_value, value)) + "]"
    return _quoted(str(value))


def _quoted(text: str) -> str:
    r"""Return a TOML basic string.

    >>> _quoted('a "b" \x1b')
    '"a \\"b\\" \\u001b"'
    """
    return '"' + UNUSUAL.sub(lambda c: ESCAPED.get(c[0], f"\\u{ord(c[0]):04x}"), text) + '"'


def to_csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a CSV text with one header line; None becomes an empty cell."""
    lines = [header, *([("" if c is None else c) for c in row] for row in rows)]
    return "".join(",".join(map(_cell, line)) + "\n" for line in lines)


def _cell(value: object) -> str:
    text = str(value)
    return '"' + text.replace('"', '""') + '"' if re.search(r'[",\n\r]', text) else text


def comment_line(text: str) -> str:
    r"""Return a text as one line, for a comment after #.

    >>> comment_line("a\nb")
    'a b'
    """
    return " ".join(re.split(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+", text)).strip()
