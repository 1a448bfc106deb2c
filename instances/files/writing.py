"""Writing of instance files: TOML and CSV texts; files are read once, as a check, before they get their final names."""

from __future__ import annotations

import csv
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import tomli_w

from ...errors import SchedlabError
from .atomic import sync_folder, write_whole

SURROGATE = re.compile("[\ud800-\udfff]")  # not encodable in UTF-8


class NotReadable(SchedlabError, ValueError):
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
            write_whole(temporary / name, SURROGATE.sub("\ufffd", text))
        try:
            read(temporary)
        except (ValueError, LookupError) as e:
            why = str(e).replace(str(temporary), str(folder))
            raise NotReadable(f"{folder}: not written, as it could not be read again: {why}") from e
        for name in files:
            (temporary / name).replace(folder / name)
        sync_folder(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        if made and not any(folder.iterdir()):
            folder.rmdir()


def to_toml(values: Mapping[str, Any], comment: str = "") -> str:
    """Return a TOML text of texts, numbers, lists and tables.

    Parameters
    ----------
    values
        The content. Tables are written after the other values of their table, and lists of short tables as lists.
    comment
        Lines of a comment that is written first.

    Returns
    -------
    str
        The text. The same values in the same order give the same text.

    Examples
    --------
    >>> print(to_toml({"kind": "dispatch", "queues": [{"name": "debug", "ewt_s": 3600}]}, "One queue."))
    # One queue.
    kind = "dispatch"
    queues = [
        { name = "debug", ewt_s = 3600 },
    ]
    <BLANKLINE>
    """
    return "".join(f"# {line}".rstrip() + "\n" for line in comment.splitlines()) + tomli_w.dumps(values)


def to_csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    r"""Return a CSV text with one header line; None becomes an empty cell.

    Examples
    --------
    >>> to_csv(("job", "note"), [("a,b", None), ("c", "two\rlines")])
    'job,note\n"a,b",\nc,"two\rlines"\n'
    """
    lines = _Lines()
    csv.writer(lines).writerows([header, *rows])
    # The writer quotes only the line ends that it writes itself (before Python 3.13), so it writes \r\n, replaced here.
    return "".join(line.removesuffix("\r\n") + "\n" for line in lines)


class _Lines(list[str]):
    """A list as a file: ``csv.writer`` writes each row by one call."""

    write = list.append


def comment_line(text: str) -> str:
    r"""Return a text as one line, for a comment after #.

    >>> comment_line("a\nb")
    'a b'
    """
    return " ".join(re.split(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+", text)).strip()
