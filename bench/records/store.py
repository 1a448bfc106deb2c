"""The results' store: one JSON file per run in a folder, written whole or not at all, found again by its key."""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any

from ...instances.files.own_files import ForeignFile, own_file
from ...models.excerpt import excerpt
from ..errors import WrongUse
from .form import first_fault

if TYPE_CHECKING:
    import pandas

Record = dict[str, Any]
LOCK = ".lock"
LONGEST_NAME = 120  # characters of a method in the name of a file
NESTED = (
    "seconds", "view", "warm_start", "size", "exactness", "replay", "metrics", "simulation",
    "account", "account.horizon", "account.end",
)  # fmt: skip


class Store:
    """A folder of records. As a context manager it is this process's alone: a second bench there is told so.

    The lock is the kernel's (flock): it ends with its process, however that ends. Left-over temporary files are of dead
    runs then, and are removed. Raises WrongUse if the folder cannot be written or is in use.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock: IO[str] | None = None

    def __enter__(self) -> Store:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            lock = (self.folder / LOCK).open("a+", encoding="utf-8")
        except OSError as e:
            raise WrongUse(f"--out {self.folder}: cannot be written ({e.strerror}); choose another folder") from e
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as e:
            lock.seek(0)
            who = lock.read().strip() or "unknown"
            lock.close()
            raise WrongUse(
                f"{self.folder}: another bench (process {who}) writes there; wait for it or choose another --out"
            ) from e
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        self._lock = lock
        for left_over in self.folder.glob(".*.tmp"):
            if not left_over.is_dir():  # which is none of ours
                left_over.unlink(missing_ok=True)
        return self

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, trace: TracebackType | None) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def find(self, key: str) -> Record | None:
        """The record with that key, if there is one. Raises ValueError for one that is broken or lacks its file of jobs."""
        reason = ""
        for path in sorted(self.folder.glob(f"*.{key}.json")):
            try:
                record = read(path)
            except ValueError as e:
                reason = str(e)
                continue
            if record.get("jobs_csv") is None:
                return record
            try:
                jobs_file(self.folder, record)
                return record
            except ValueError as e:
                reason = str(e)
        if reason:
            raise ValueError(reason)
        return None

    def write(self, record: Mapping[str, Any]) -> Path:
        """Write a record in the place of an older one with its key."""
        path = self.folder / name_of(record)
        try:
            write_whole(path, json.dumps(record, indent=1, allow_nan=False) + "\n")
        except OSError as e:
            raise WrongUse(f"{path}: cannot be written ({e.strerror}); the runs before it are kept") from e
        return path


def name_of(record: Mapping[str, Any]) -> str:
    """The file name of a record: the method and the seed for people, the key for the bench."""
    return f"{stem_of(record)}.json"


def stem_of(record: Mapping[str, Any]) -> str:
    """The file name of a record without its ending; what is written beside the record has the same."""
    method = re.sub(r"[^A-Za-z0-9.+@-]+", "_", record["method"])[:LONGEST_NAME]  # a file's name has 255 bytes at most
    return f"{method}.{record['seed']}.{record['key']}"


def write_whole(path: Path, text: str | bytes) -> None:
    """Write a file beside its place, to the disk, and rename it: at no moment is it half written."""
    beside = path.parent / f".{path.name}.{os.getpid()}.tmp"
    data = text.encode(errors="backslashreplace") if isinstance(text, str) else text
    try:
        with beside.open("wb") as f:
            f.write(data)
            f.flush()
            os.fsync(f.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def read(path: Path) -> Record:
    """A record from its file. Raises ValueError that says what is wrong with it."""
    found = read_json(path)
    missing = [name for name in ("key", "instance", "method", "status", "schedule") if name not in dict_of(found)]
    if missing:
        raise ValueError(f"{path}: not a record of the bench, it lacks {', '.join(missing)}")
    fault = first_fault(found)
    if fault is not None:
        raise ValueError(f"{path}: the record is not of this version of the bench: {fault}")
    record: Record = found
    return record


def read_json(path: Path) -> Any:
    """What a JSON file holds, without NaN and infinities. Raises ValueError that says what is wrong with it."""
    try:
        if path.exists() and not path.is_file():  # a pipe would be waited for
            raise ValueError(f"{path}: cannot be read (not a regular file)")
        text = path.read_text(encoding="utf-8")
    except OSError as e:
        raise ValueError(f"{excerpt(str(path))}: cannot be read ({e.strerror})") from e
    except UnicodeDecodeError as e:
        raise ValueError(f"{path}: not JSON ({e})") from e
    try:
        return json.loads(text, parse_constant=_no_number)
    except ValueError as e:
        raise ValueError(f"{path}: not JSON ({e})") from e
    except RecursionError as e:
        raise ValueError(f"{path}: not JSON of the bench (too many objects and lists within each other)") from e


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is not a number of JSON")


def jobs_file(folder: Path, record: Mapping[str, Any]) -> Path:
    """The file of jobs that the record of a replay names, in its folder. Raises ValueError for one elsewhere, or none."""
    name = str(record["jobs_csv"])
    try:
        return own_file(folder, name)
    except FileNotFoundError as e:
        raise ValueError(f"{folder / name}: there is no such file, the jobs of {record['method']}: run it again") from e
    except ForeignFile as e:
        raise ValueError(f"{folder}: jobs_csv {excerpt(name)} is not a file of the folder: {e}") from e


def dict_of(value: object) -> Mapping[str, Any]:
    """The value if it is an object of JSON, else an empty one."""
    return value if isinstance(value, dict) else {}


def files(folder: Path) -> list[Path]:
    """The record files of a folder, by name. Raises WrongUse if there is no such folder."""
    if not folder.is_dir():
        raise WrongUse(f"{folder}: there is no such folder of results; bench run writes them to results/<instance>")
    return sorted(p for p in folder.glob("*.json") if not p.name.startswith("."))


def read_results(folder: str | Path) -> pandas.DataFrame:
    """The records of a folder as a table, one row per run; nested fields as ``seconds.solve``, ``metrics.wait_mean``.

    Of profit problems also ``account.horizon.pue`` and the like. ``incumbents``, ``violations`` and ``schedule`` stay objects. Raises ImportError without pandas, WrongUse without the
    folder, ValueError for a file that is no record.

    >>> read_results("results/eurora_700")[["method", "seed", "objective"]]  # doctest: +SKIP
    """
    try:
        import pandas
    except ImportError as e:
        raise ImportError("read_results needs pandas: pip install 'schedlab[pandas]'") from e
    rows = [dict(flat(read(path))) for path in files(Path(folder))]
    return pandas.DataFrame(rows)


def flat(record: Mapping[str, Any], within: str = "") -> Iterator[tuple[str, Any]]:
    """The fields of a record, those of nested objects one by one; the schedule stays whole."""
    for name, value in record.items():
        whole = within + name
        if whole in NESTED and isinstance(value, dict):
            yield from flat(value, f"{whole}.")
        else:
            yield whole, value


__all__ = ["Record", "Store", "files", "name_of", "read", "read_results", "write_whole"]
