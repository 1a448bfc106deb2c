"""Writing of files, completely or not at all; instance files are read once, as a check, before they get their names."""

from __future__ import annotations

import contextlib
import csv
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Literal

import tomli_w

from ...errors import SchedlabError

# --- Atomic writing: a file appears under its name completely written, or not at all.
#
# Every file that schedlab writes goes through this module: it is written under a temporary name in the same folder, synced
# to the disk, and renamed. The folder is synced, too, where the system can do that (not on Windows).


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
    if isinstance(content, str):
        data = content.encode(errors="backslashreplace")
    else:
        data = content
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


# --- Writing of instance files: TOML and CSV texts; files are read once, as a check, before they get their final names.

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
