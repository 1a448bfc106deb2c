"""What has to hold on a machine before runs are performed there: versions, the folder of the records, the instances."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

from ... import __version__
from ...instances.files.atomic import write_whole
from .base import Task


class Needed(NamedTuple):
    """What a machine must have: text fields only, which JSON and Dask can carry.

    ``tokens``: files with the text ``token``. ``folders``: the folders of the records. ``paths``: the files and folders of
    the instances.
    """

    schedlab: str
    python: str
    cwd: str
    token: str
    tokens: Sequence[str]
    folders: Sequence[str]
    paths: Sequence[str]


@contextmanager
def needed(tasks: Sequence[Task]) -> Iterator[Needed]:
    """Write a token into each folder of the tasks and return what a machine must have for them; then remove the tokens.

    Raises
    ------
    OSError
        A token cannot be written.
    """
    token = uuid4().hex
    folders = dict.fromkeys(task.folder for task in tasks)
    tokens = [folder / f".{token}.tmp" for folder in folders]
    paths = [path for path in dict.fromkeys(task.run.path for task in tasks) if Path(path).exists()]
    try:
        for path in tokens:
            write_whole(path, token)
        yield Needed(__version__, _python(), os.getcwd(), token, list(map(str, tokens)), list(map(str, folders)), paths)
    finally:
        for path in tokens:
            path.unlink(missing_ok=True)


def lacking(need: Needed) -> str:
    """Return what this machine lacks, as the end of a sentence that begins with its name; "" if it lacks nothing."""
    if __version__ != need.schedlab:
        return f"has schedlab {__version__}, expected {need.schedlab}"
    if _python() != need.python:
        return f"has Python {_python()}, expected {need.python}: records would not tell which one ran"
    for path in map(Path, need.tokens):
        try:
            seen = path.read_text(encoding="utf-8") == need.token
        except OSError:
            seen = False
        if not seen:
            return f"cannot see the folder {path.parent}: choose --out on a file system that all machines share"
    for folder in need.folders:
        if not os.access(folder, os.W_OK):
            return f"cannot write to the folder {folder}"
    if not Path(need.cwd).is_dir():
        return f"cannot see the current folder {need.cwd}: start bench in a folder that all machines share"
    missing = [path for path in need.paths if not Path(need.cwd, path).exists()]
    return f"cannot see {missing[0]}, which is to be run" if missing else ""


def _python() -> str:
    return ".".join(platform.python_version_tuple()[:2])
