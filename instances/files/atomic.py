"""Atomic writing: a file appears under its name completely written, or not at all.

Every file that schedlab writes goes through this module: it is written under a temporary name in the same folder, synced
to the disk, and renamed. The folder is synced, too, where the system can do that (not on Windows).
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Literal


def write_whole(path: Path, content: str | bytes, *, name_synced: bool = True) -> None:
    """Write a file atomically.

    Parameters
    ----------
    path
        The file; an existing file is replaced. Its folder must exist.
    content
        The bytes, or a text that is written as UTF-8; characters that UTF-8 cannot encode are written as escapes.
    name_synced
        Whether the folder is synced too. Without it, a crash of the system may lose the file, but leaves no part of it.

    Raises
    ------
    OSError
        The file cannot be written; an existing file is unchanged.
    """
    data = content.encode(errors="backslashreplace") if isinstance(content, str) else content
    with whole_file(path, "wb", name_synced=name_synced) as f:
        f.write(data)


@contextlib.contextmanager
def whole_file(
    path: Path,
    mode: Literal["w", "wb"] = "w",
    *,
    durable: bool = True,
    name_synced: bool = True,
    temporary: Path | None = None,
) -> Iterator[IO[Any]]:
    """Open a temporary file; it gets its name if the block ends without an exception, else it is removed.

    Parameters
    ----------
    path
        The file; an existing file is replaced. Its folder must exist.
    mode
        "w" for a text in UTF-8 whose line ends are written as they are, "wb" for bytes.
    durable
        Whether the file is synced to the disk, so that it survives a crash of the system. Without it, the file survives
        the end of this process, and writing takes less than a millisecond.
    name_synced
        Whether the folder is synced too, so that also the name survives a crash of the system.
    temporary
        The temporary file, in the same folder; by default ``temporary_path(path)``.

    Yields
    ------
    file object
        The temporary file.

    Raises
    ------
    OSError
        The file cannot be written; an existing file is unchanged.
    """
    temporary = temporary or temporary_path(path)
    text = mode == "w"
    try:
        with temporary.open(mode, encoding="utf-8" if text else None, newline="" if text else None) as f:
            yield f
            if durable:
                f.flush()
                os.fsync(f.fileno())
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    if durable and name_synced:
        sync_folder(path.parent)


def temporary_path(path: Path) -> Path:
    """Return the temporary name of a file: hidden, in the same folder, different for each process.

    Examples
    --------
    >>> temporary_path(Path("results", "a.json")).name == f".a.json.{os.getpid()}.tmp"
    True
    """
    return path.parent / f".{path.name}.{os.getpid()}.tmp"


def move_whole(made: Path, path: Path) -> None:
    """Sync a file that another program or library has written, and rename it.

    Parameters
    ----------
    made
        The file, on the same file system as ``path``.
    path
        Its new name; an existing file is replaced.

    Raises
    ------
    OSError
        The file cannot be synced or renamed.
    """
    with made.open("rb+") as f:
        os.fsync(f.fileno())
    made.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Sync the names in a folder to the disk; do nothing where the system cannot open folders."""
    with contextlib.suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
