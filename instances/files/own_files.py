"""Which files belong to an instance: regular files inside of its folder. All of them are part of the content hash."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

BLOCK = 1 << 20


class ForeignFile(ValueError):
    """A name in a file of data that does not lead to a regular file of its folder; the message says why."""


def own_file(folder: str | Path, name: str) -> Path:
    """The path of a file that data name, if it belongs to the folder.

    Links are followed: what counts is where they lead. Names that begin with a dot are left to programs (locks,
    temporary files); the content hash passes over them.

    Parameters
    ----------
    folder
        The folder of an instance or of results.
    name
        The name of a file, as it stands in the data.

    Returns
    -------
    Path
        The file in that folder.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ForeignFile
        If it is outside of the folder, hidden, or no regular file.

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
    except (OSError, ValueError, RuntimeError) as e:  # too long a name, a loop of links, a null character
        raise ForeignFile(f"its path cannot be followed ({getattr(e, 'strerror', None) or e})") from e
    if not real.is_relative_to(root):
        raise ForeignFile("it is outside of the folder")
    if path.name.startswith(".") or real.name.startswith("."):
        raise ForeignFile("its name begins with a dot")
    if not regular:
        raise ForeignFile("it is not a regular file")
    return path


def content_of(path: Path) -> str:
    """A hash of an instance or a log: of a folder, the names and bytes of all files that an instance may read.

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
        If a file cannot be read.
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
    """The files of a folder by name. A link that leads to a folder or outside has no bytes: the name says where it leads."""
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
    except (OSError, RuntimeError):  # a loop of links
        return False
