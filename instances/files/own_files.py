"""The files that belong to an instance (the regular files inside its folder), and the hash of their content."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from ...errors import SchedlabError

BLOCK = 1 << 20


class ForeignFile(SchedlabError, ValueError):
    """The error for a name in a data file that is not that of a regular file of the folder; the message says why."""


def own_file(folder: str | Path, name: str) -> Path:
    """Return the path of a file that is named in a data file, if it belongs to the folder.

    Links are followed, and their target is checked. Names that begin with a dot are refused: they are reserved for
    locks and temporary files, which the content hash ignores.

    Parameters
    ----------
    folder
        The folder of an instance or of results.
    name
        The name of the file, as written in the data file.

    Returns
    -------
    Path
        The path of the file.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    ForeignFile
        The file is outside of the folder, hidden, or not a regular file.

    Examples
    --------
    >>> own_file(".", "../outside.csv")
    Traceback (most recent call last):
    ...
    schedlab.instances.files.own_files.ForeignFile: it is outside of the folder
    """
    path = Path(folder, name)
    if ".." in Path(name).parts or Path(name).is_absolute():
        raise ForeignFile("it is outside of the folder")
    try:
        root, real = Path(folder).resolve(strict=True), path.resolve(strict=True)
        regular = stat.S_ISREG(real.stat().st_mode)
    except FileNotFoundError:
        raise
    except (OSError, ValueError, RuntimeError) as e:  # name too long, cycle of links, null character
        raise ForeignFile(f"its path cannot be followed ({getattr(e, 'strerror', None) or e})") from e
    if not real.is_relative_to(root):
        raise ForeignFile("it is outside of the folder")
    if path.name.startswith(".") or real.name.startswith("."):
        raise ForeignFile("its name begins with a dot")
    if not regular:
        raise ForeignFile("it is not a regular file")
    return path


def content_of(path: Path) -> str:
    """Return a hash of an instance folder (names and bytes of all files that it may read) or of a log file.

    Parameters
    ----------
    path
        The folder of an instance, or the file of a log.

    Returns
    -------
    str
        20 hexadecimal digits.

    Raises
    ------
    OSError
        A file cannot be read.
    """
    found = hashlib.sha256()
    for name, file in _files(path) if path.is_dir() else [(path.name, path)]:
        if file is None:
            found.update(f"{name}\0".encode(errors="surrogateescape"))
            continue
        with file.open("rb") as f:
            found.update(f"{name}\0{os.fstat(f.fileno()).st_size}\0".encode(errors="surrogateescape"))
            while block := f.read(BLOCK):
                found.update(block)
    return found.hexdigest()[:20]


def _files(folder: Path) -> Iterator[tuple[str, Path | None]]:
    """Yield (name, path) of the files of a folder, sorted; for a link to a folder or to the outside (text, None)."""
    root = folder.resolve()
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.name.startswith("."):
            continue
        if path.is_symlink() and (path.is_dir() or not _within(path, root)):
            yield f"{name} -> {os.readlink(path)}", None
        elif path.is_file():
            yield name, path


def _within(path: Path, root: Path) -> bool:
    try:
        return path.resolve().is_relative_to(root)
    except (OSError, RuntimeError):  # cycle of links
        return False
