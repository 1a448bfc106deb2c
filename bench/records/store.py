"""The store of results: a folder with one JSON file for each run, written completely or not at all; and its manifest."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

from typing_extensions import TypedDict

from ...errors import MissingPackage, WrongValue
from ...instances.files.folder import ForeignFile, own_file
from ...instances.files.writing import sync_folder, write_whole
from ...models.arguments import checked
from ...models.excerpt import excerpt
from ...models.json_values import Count
from ...models.words import how_many
from ..errors import WrongUse
from ..kinds.find import bench_object
from .form import fault_of, fault_of_schema, first_fault

if TYPE_CHECKING:
    import pandas
    from filelock import BaseFileLock


# --- Reading of JSON files, with errors that say what is wrong.


def read_json(path: Path) -> Any:
    """Return the value of a JSON file; NaN and infinities are errors. Raises ValueError that says what is wrong."""
    try:
        if path.exists() and not path.is_file():  # reading a pipe would block
            raise WrongValue(f"{path}: cannot be read (not a regular file)")
        text = path.read_text(encoding="utf-8")
    except OSError as e:
        raise WrongValue(f"{excerpt(str(path))}: cannot be read ({e.strerror})") from e
    except UnicodeDecodeError as e:
        raise WrongValue(f"{path}: not JSON ({e})") from e
    try:
        return json.loads(text, parse_constant=_no_number)
    except ValueError as e:
        raise WrongValue(f"{path}: not JSON ({e})") from e
    except RecursionError as e:
        raise WrongValue(f"{path}: not a file of the bench (objects and lists are nested too deeply)") from e


def _no_number(name: str) -> None:
    raise WrongValue(f"{name} is not a JSON number")


# --- The manifest of a folder of results: the size and SHA-256 of each file, to find what was changed, lost or added later.
#
# ``manifest.json`` is an object with ``files``: name -> {``sha256``, ``size``}, sorted by name. It lists all files of the folder and its
# sub-folders except itself, hidden files, and pages (``*.html``), which are made from the records.

NAME = "manifest.json"
Stamp = tuple[int, int]  # time of the last change in ns, size


class FileEntry(NamedTuple):
    """The SHA-256 (64 hexadecimal digits) and the size in bytes of a file."""

    sha256: str
    size: int


class EntryForm(TypedDict, closed=True):
    """An entry in the file of the manifest."""

    sha256: str
    size: Count


class Manifest(TypedDict, closed=True):
    """The file of the manifest."""

    files: dict[str, EntryForm]


def write_manifest(folder: Path, entries: Mapping[str, FileEntry] | None = None) -> int:
    """Write the manifest of a folder and return its number of files; ``entries``: None for all files as they are.

    Raises OSError.
    """
    listed_entries = entries_of(folder, listed(folder)) if entries is None else entries
    every = {name: listed_entries[name]._asdict() for name in sorted(listed_entries)}
    write_whole(folder / NAME, json.dumps({"files": every}, indent=1) + "\n")
    return len(every)


def read_manifest(folder: Path) -> dict[str, FileEntry] | None:
    """Return the manifest of a folder, None if it has none. Raises ValueError if it is damaged."""
    path = folder / NAME
    if not path.exists():
        return None
    content: Any = read_json(path)
    fault = fault_of(Manifest, content)
    if fault is not None:
        raise WrongValue(f"{path}: {fault}")
    return {name: FileEntry(**entry) for name, entry in content["files"].items()}


def faults_of_manifest(folder: Path) -> list[tuple[str, str]]:
    """Return pairs of a file name and a fault: what is missing, changed, or not in the manifest; none without a manifest."""
    try:
        expected = read_manifest(folder)
    except ValueError as e:
        return [(NAME, str(e))]
    if expected is None:
        return []
    there = set(listed(folder))
    faults = [(name, f"it is missing, but {NAME} lists it") for name in sorted(expected.keys() - there)]
    for name in sorted(there & expected.keys()):
        try:
            entry = entry_of(folder / name)
        except OSError as e:
            faults.append((name, f"it cannot be read ({e.strerror})"))
            continue
        if entry != expected[name]:
            size = (
                ""
                if entry.size == expected[name].size
                else f": {how_many(expected[name].size, 'byte', ',')} then, {entry.size:,} now"
            )
            faults.append((name, f"it was changed after {NAME} was written{size}"))
    return faults + [(name, f"it is not in {NAME}") for name in sorted(there - expected.keys())]


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
            self.folder = folder
            self._entries = read_manifest(folder)
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


def entries_of(folder: Path, names: Iterable[str]) -> dict[str, FileEntry]:
    """Return the entries of some files. Raises OSError."""
    return {name: entry_of(folder / name) for name in names}


def entry_of(path: Path) -> FileEntry:
    """Return the entry of a file. Raises OSError."""
    with path.open("rb") as f:
        digest = hashlib.file_digest(f, "sha256").hexdigest()
        return FileEntry(digest, os.fstat(f.fileno()).st_size)


def _stamps(folder: Path) -> dict[str, Stamp]:
    stamps = {name: (folder / name).stat() for name in listed(folder)}
    return {name: (s.st_mtime_ns, s.st_size) for name, s in stamps.items()}


# --- The store of results: a folder with one JSON file for each run, written completely or not at all, found by its key.

Record = dict[str, Any]
LOCK = ".lock"
OWNER = ".lock.owner"  # the id of the process that holds the lock
LONGEST_NAME = 120  # most characters of the method in a file name
NESTED = (  # fields whose inner fields are columns of their own in a table; problem kinds have further ones
    "seconds", "host", "view", "warm_start", "size", "exactness", "replay", "metrics", "simulation",
)  # fmt: skip


class Store:
    """A folder of records. As a context manager it locks the folder, so that no second bench writes there.

    A record is synced to the disk when it is written, the names of all records when the store is left; then the manifest is
    written again if the folder has one.

    The folder is read once, when the store is entered: its file names are kept by the keys of their records. The lock is
    released by the system when the process ends, however it ends. Temporary files found after locking were left by dead
    processes, and are removed. Entering raises WrongUse if the folder cannot be written or is in use.

    Parameters
    ----------
    folder
        The folder; it is created when the store is entered.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock: BaseFileLock | None = None
        self._seal: Seal | None = None
        self._names: dict[str, list[str]] = {}  # key of a record: the names of its files

    def __enter__(self) -> Store:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = self._locked()
            self._read_folder()
            self._seal = Seal(self.folder)
        except WrongUse:
            self._release()
            raise
        except OSError as e:
            self._release()
            raise WrongUse(f"--out {self.folder}: cannot be written ({e.strerror}); choose another folder") from e
        return self

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, trace: TracebackType | None) -> None:
        self._release()

    def _release(self) -> None:
        if self._lock is None:
            return
        try:
            if self._seal is not None:
                self._seal.renew()
            sync_folder(self.folder)
        finally:
            with contextlib.suppress(OSError):  # only the message for a second bench needs this file
                (self.folder / OWNER).unlink(missing_ok=True)
            self._lock.release()
            self._lock = self._seal = None

    def _locked(self) -> BaseFileLock:
        """Lock the folder and write the id of this process beside the lock. Raises WrongUse, OSError."""
        with warnings.catch_warnings():  # without flock it warns that a lock is then a file with the id of its process
            warnings.simplefilter("ignore")
            from filelock import FileLock, Timeout
        lock = FileLock(self.folder / LOCK)
        owner = self.folder / OWNER
        try:
            lock.acquire(timeout=0)
        except Timeout as e:
            process = owner.read_text(encoding="utf-8").strip() if owner.is_file() else ""
            raise WrongUse(
                f"{self.folder}: another bench (process {process or 'unknown'}) writes there; wait until it ends, or "
                "choose another --out"
            ) from e
        write_whole(owner, str(os.getpid()))
        return lock

    def _read_folder(self) -> None:
        """Note the names of all records, and remove the temporary files of dead processes."""
        self._names = {}
        left_over = []
        with os.scandir(self.folder) as entries:
            for entry in entries:
                if entry.name.startswith("."):
                    if entry.name.endswith(".tmp") and not entry.is_dir():  # a folder is not a file of ours
                        left_over.append(entry.name)
                elif entry.name.endswith(".json"):
                    self._note(entry.name)
        for name in left_over:
            (self.folder / name).unlink(missing_ok=True)

    def _note(self, name: str) -> None:
        stem, _, key = name.removesuffix(".json").rpartition(".")
        names = self._names.setdefault(key, []) if stem else []
        if name not in names:
            names.append(name)

    def has(self, key: str) -> bool:
        """Return whether there is a file with the name of a record with this key, valid or not."""
        return key in self._names

    def find(self, key: str) -> Record | None:
        """Return the record with a key, None if there is none. Raises ValueError if it is invalid or its jobs file is missing."""
        reason = ""
        for name in sorted(self._names.get(key, ())):
            try:
                record = read(self.folder / name)
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
            raise WrongValue(reason)
        return None

    def write(self, record: Mapping[str, Any]) -> Path:
        """Write a record; it replaces an older one with the same key. Raises WrongUse."""
        path = self.folder / name_of(record)
        try:
            write_whole(path, json.dumps(record, indent=1, allow_nan=False) + "\n", name_synced=False)
        except OSError as e:
            raise WrongUse(f"{path}: cannot be written ({e.strerror}); the records of the runs before are kept") from e
        self._note(path.name)
        return path

    def note(self, record: Mapping[str, Any]) -> None:
        """Note a record that another process has written into the folder since it was read."""
        self._note(name_of(record))


def name_of(record: Mapping[str, Any]) -> str:
    """Return the file name of a record: method, seed and key."""
    return f"{stem_of(record)}.json"


def stem_of(record: Mapping[str, Any]) -> str:
    """Return the file name of a record without extension; files beside the record start with it too."""
    method = re.sub(r"[^A-Za-z0-9.+@-]+", "_", record["method"])[:LONGEST_NAME]  # file names have at most 255 bytes
    return f"{method}.{record['seed']}.{record['key']}"


def read(path: Path) -> Record:
    """Return the record of a file. Raises ValueError that says what is wrong with it."""
    content = read_json(path)
    missing = [name for name in ("key", "instance", "method", "status", "schedule") if name not in dict_of(content)]
    if missing:
        raise WrongValue(f"{path}: not a record of the bench: missing fields: {', '.join(missing)}")
    other = fault_of_schema(content)
    if other:
        raise WrongValue(f"{path}: the record is not of this version of the bench: {other}")
    fault = first_fault(content)
    if fault is not None:
        raise WrongValue(f"{path}: the record is not of this version of the bench: {fault}")
    record: Record = content
    return record


def jobs_file(folder: Path, record: Mapping[str, Any]) -> Path:
    """Return the jobs file of the record of a replay. Raises ValueError if it is missing or outside the folder."""
    name = str(record["jobs_csv"])
    try:
        return own_file(folder, name)
    except FileNotFoundError as e:
        raise WrongValue(
            f"{folder / name}: this file with the jobs of {record['method']} is missing; to create it, run it again"
        ) from e
    except ForeignFile as e:
        raise WrongValue(f"{folder}: jobs_csv {excerpt(name)} is not a file in this folder: {e}") from e


def dict_of(value: object) -> Mapping[str, Any]:
    """Return the value if it is a dictionary, else an empty one."""
    return value if isinstance(value, dict) else {}


def files(folder: Path) -> list[Path]:
    """Return the record files of a folder, sorted by name. Raises WrongUse if there is no such folder."""
    if not folder.is_dir():
        raise WrongUse(f"{folder}: there is no such folder of results; bench run writes them to results/<instance>")
    return sorted(p for p in folder.glob("*.json") if not p.name.startswith(".") and p.name != NAME)


@checked
def read_results(folder: str | Path) -> pandas.DataFrame:
    """Return the records of a folder as a pandas table with one row for each run.

    Parameters
    ----------
    folder
        Folder of the records, such as ``results/eurora_700``.

    Returns
    -------
    pandas.DataFrame
        The columns are the fields of the records (see ``bench.records.form``). Nested fields have columns such as
        ``seconds.solve``, ``metrics.wait_mean``, ``account.horizon.pue``; ``incumbents``, ``violations`` and
        ``schedule`` are not divided.

    Raises
    ------
    ImportError
        pandas is not installed.
    WrongUse
        There is no such folder.
    ValueError
        A file is not a record.

    Examples
    --------
    >>> read_results("results/eurora_700")[["method", "seed", "objective"]]  # doctest: +SKIP
    """
    try:
        import pandas
    except ImportError as e:
        raise MissingPackage("read_results needs pandas: pip install 'schedlab[pandas]'") from e
    rows = [dict(flat(read(path))) for path in files(Path(folder))]
    return pandas.DataFrame(rows)


def flat(record: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a record; those of nested objects as ``seconds.solve``, except the schedule."""
    nested = (*NESTED, *bench_object(record["kind"]).nested_fields)
    yield from _flat(record, nested, "")


def _flat(record: Mapping[str, Any], nested: Sequence[str], within: str) -> Iterator[tuple[str, Any]]:
    for name, value in record.items():
        path = within + name
        if path in nested and isinstance(value, dict):
            yield from _flat(value, nested, f"{path}.")
        else:
            yield path, value
