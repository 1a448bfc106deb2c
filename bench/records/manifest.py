"""The manifest of a folder of results: the size and SHA-256 of each file, to find what was changed, lost or added later.

``manifest.json`` is an object with ``files``: name -> {``sha256``, ``size``}, sorted by name. It lists all files of the folder and its
sub-folders except itself, hidden files, and pages (``*.html``), which are made from the records.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from ...errors import WrongValue
from ...instances.files.atomic import write_whole
from ..errors import WrongUse
from .form import TEXT, fields, integer, mapping
from .json_files import read_json

NAME = "manifest.json"
FORM = fields({"files": mapping(fields({"sha256": TEXT, "size": integer(0)}))})
Stamp = tuple[int, int]  # time of the last change in ns, size


class Entry(NamedTuple):
    """The SHA-256 (64 hexadecimal digits) and the size in bytes of a file."""

    sha256: str
    size: int


def write_manifest(folder: Path, entries: Mapping[str, Entry] | None = None) -> int:
    """Write the manifest of a folder and return its number of files; ``entries``: None for all files as they are.

    Raises OSError.
    """
    found = entries_of(folder, listed(folder)) if entries is None else entries
    every = {name: found[name]._asdict() for name in sorted(found)}
    write_whole(folder / NAME, json.dumps({"files": every}, indent=1) + "\n")
    return len(every)


def read_manifest(folder: Path) -> dict[str, Entry] | None:
    """Return the manifest of a folder, None if it has none. Raises ValueError if it is damaged."""
    path = folder / NAME
    if not path.exists():
        return None
    found: Any = read_json(path)
    fault = next(FORM(found, ""), None)
    if fault is not None:
        raise WrongValue(f"{path}: {fault}")
    return {name: Entry(**entry) for name, entry in found["files"].items()}


def faults_of_manifest(folder: Path) -> list[tuple[str, str]]:
    """Return pairs of a file name and a fault: what is missing, changed, or not in the manifest; none without a manifest."""
    try:
        expected = read_manifest(folder)
    except ValueError as e:
        return [(NAME, str(e))]
    if expected is None:
        return []
    there = set(listed(folder))
    found = [(name, f"it is missing, but {NAME} lists it") for name in sorted(expected.keys() - there)]
    for name in sorted(there & expected.keys()):
        try:
            entry = entry_of(folder / name)
        except OSError as e:
            found.append((name, f"it cannot be read ({e.strerror})"))
            continue
        if entry != expected[name]:
            size = (
                "" if entry.size == expected[name].size else f": {expected[name].size:,} bytes then, {entry.size:,} now"
            )
            found.append((name, f"it was changed after {NAME} was written{size}"))
    return found + [(name, f"it is not in {NAME}") for name in sorted(there - expected.keys())]


class Seal:
    """The manifest of a folder into which a bench writes: it is renewed when the bench has written.

    What changes between entering and ``renew`` is the work of the bench. What was changed, lost or added before keeps its old entry,
    or has none, so that ``bench verify`` still names it. A folder without a manifest gets none.

    Parameters
    ----------
    folder
        The folder.

    Raises
    ------
    WrongUse
        The manifest is damaged.
    OSError
        A file cannot be read.
    """

    def __init__(self, folder: Path) -> None:
        try:
            self.folder, self._entries = folder, read_manifest(folder)
        except ValueError as e:
            raise WrongUse(f"{e}; remove it, and write it again by bench verify {folder} --manifest") from e
        self._before = {} if self._entries is None else _stamps(folder)

    def renew(self) -> None:
        """Write the manifest again if files were changed meanwhile. Raises OSError."""
        if self._entries is None:
            return
        now = _stamps(self.folder)
        written = [name for name, stamp in now.items() if self._before.get(name) != stamp]
        gone = self._before.keys() - now.keys()
        if written or gone:
            kept = {name: entry for name, entry in self._entries.items() if name not in gone}
            write_manifest(self.folder, kept | entries_of(self.folder, written))


@contextmanager
def sealed(folder: Path) -> Iterator[None]:
    """Renew the manifest of a folder, if it has one, after the block has written files into it. Raises WrongUse, OSError."""
    seal = Seal(folder)
    yield
    seal.renew()


def listed(folder: Path) -> Iterator[str]:
    """Yield the names of the files that a manifest lists, such as ``new_best/ft06.json``."""
    for place, inner, names in os.walk(folder):
        inner[:] = [name for name in inner if not name.startswith(".")]
        for name in names:
            whole = Path(place, name).relative_to(folder).as_posix()
            if whole != NAME and not name.startswith(".") and not name.endswith(".html"):
                yield whole


def entries_of(folder: Path, names: Iterable[str]) -> dict[str, Entry]:
    """Return the entries of some files. Raises OSError."""
    return {name: entry_of(folder / name) for name in names}


def entry_of(path: Path) -> Entry:
    """Return the entry of a file. Raises OSError."""
    with path.open("rb") as f:
        digest = hashlib.file_digest(f, "sha256").hexdigest()
        return Entry(digest, os.fstat(f.fileno()).st_size)


def _stamps(folder: Path) -> dict[str, Stamp]:
    found = {name: (folder / name).stat() for name in listed(folder)}
    return {name: (s.st_mtime_ns, s.st_size) for name, s in found.items()}
