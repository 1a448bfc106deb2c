"""The store of results: a folder with one JSON file for each run, its manifest, and the types of the fields of a record.

The types of values of JSON files have the bounds that a check of a file heeds.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields as dataclass_fields
from functools import cache, reduce
from operator import or_
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, NotRequired, get_args, get_type_hints

from annotated_types import Ge, Le, Predicate
from typing_extensions import TypedDict

from ...errors import MissingPackage, WrongValue
from ...instances.files.reading import ForeignFile, own_file
from ...instances.files.writing import sync_folder, write_whole
from ...models import kind as problem_kinds
from ...models.arguments import checked
from ...models.words import excerpt, how_many
from ..errors import WrongUse, question
from ..kinds import bench_object
from ..replays.settings import SETTINGS, ReplaySettings
from ..runs.view import View

if TYPE_CHECKING:
    import pandas
    from filelock import BaseFileLock
    from pydantic import TypeAdapter


LARGEST = 2**53  # of integers: many JSON programs represent larger ones inexactly
FINITE = sys.float_info.max

Whole = Annotated[int, Ge(-LARGEST), Le(LARGEST)]
Count = Annotated[int, Ge(0), Le(LARGEST)]
Positive = Annotated[int, Ge(1), Le(LARGEST)]
Number = Annotated[float, Ge(-FINITE), Le(FINITE)]
Value = Number | list[Number | None] | None  # one objective, several ordered objectives, or unknown
Figures = dict[str, Number | None]


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
    if entries is not None:
        listed_entries = entries
    else:
        listed_entries = entries_of(folder, listed(folder))
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
            size = ""
            if entry.size != expected[name].size:
                size = f": {how_many(expected[name].size, 'byte', ',')} then, {entry.size:,} now"
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
        if self._entries is None:
            self._before = {}
        else:
            self._before = _stamps(folder)

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
NAME_OF_RECORD = re.compile(r"\.\d+\.[0-9a-f]{20}\.json$", re.ASCII)  # seed and key
MOST_FOLDERS = 5  # in a message
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
            process = ""
            if owner.is_file():
                process = owner.read_text(encoding="utf-8").strip()
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
        names = []
        if stem:
            names = self._names.setdefault(key, [])
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
    if isinstance(value, dict):
        return value
    return {}


def files(folder: Path) -> list[Path]:
    """Return the record files of a folder, sorted by name. Raises WrongUse if there is no such folder."""
    if not folder.is_dir():
        raise WrongUse(
            f"{folder}: there is no such folder of results{question(folder)}; bench run writes them to results/<instance>"
        )
    return sorted(p for p in folder.glob("*.json") if not p.name.startswith(".") and p.name != NAME)


def some_files(folder: Path) -> list[Path]:
    """Return the record files of a folder, sorted by name. Raises WrongUse if there is no such folder, or none in it."""
    paths = files(folder)
    if not paths:
        raise no_records(folder)
    return paths


def folders_of_records(folder: Path) -> list[Path]:
    """Return the folder if it has record files, else the nearest folders in it that have some, sorted by name.

    Raises WrongUse if there is no such folder.
    """
    if any(NAME_OF_RECORD.search(path.name) for path in files(folder)):
        return [folder]
    try:
        below = sorted(p for p in folder.iterdir() if p.is_dir() and not p.is_symlink() and not p.name.startswith("."))
    except OSError:  # a folder that may not be read
        return []
    return [each for path in below for each in folders_of_records(path)]


def no_records(folder: Path) -> WrongUse:
    """Return the error about a folder without records; it names folders in it that have some."""
    below = folders_of_records(folder)
    if not below:
        return WrongUse(f"{folder}: there are no records; bench run and bench simulate write them")
    further = ""
    if len(below) > MOST_FOLDERS:
        further = f" and {len(below) - MOST_FOLDERS} more"
    shown = ", ".join(map(str, below[:MOST_FOLDERS]))
    return WrongUse(
        f"{folder}: its records are in {how_many(len(below), 'folder')}, give one of them: {shown}{further}"
    )


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
        The columns are the fields of the records (see ``bench.records.store``). Nested fields have columns such as
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


# --- The types of the fields of a record, and the check of a record against them, by pydantic, before anything else reads it.


SCHEMA = 1  # version of the record format; it is increased when the meaning of a field changes
PRESENT = "to be present"


def table(name: str, needed: Mapping[str, Any], optional: Mapping[str, Any] | None = None, others: Any = None) -> Any:
    """Return the type of an object whose fields are known only at run time, or with a type for all other fields.

    Parameters
    ----------
    name : str
        The name of the type.
    needed, optional : mapping of str to type
        The fields.
    others : type, optional
        The type of all other fields; None: there are none.
    """
    every = {**needed, **{field: NotRequired[kind] for field, kind in (optional or {}).items()}}
    rest: dict[str, Any]
    if others is None:
        rest = {"closed": True}
    else:
        rest = {"extra_items": others}
    return TypedDict(name, every, **rest)  # type: ignore[operator]


def form_of(kind: type[Any], narrower: Mapping[str, Any], needed: Sequence[str] = ()) -> Any:
    """Return the type of an object with the fields of a dataclass.

    Parameters
    ----------
    kind
        The dataclass; its fields are texts, numbers and flags, or None.
    narrower
        Fields with a narrower type than their own, such as a least value.
    needed
        Fields that must be present; records of earlier versions lack the others.
    """
    types = get_type_hints(kind)
    every = {f.name: narrower[f.name] if f.name in narrower else _plain(types[f.name]) for f in dataclass_fields(kind)}
    others = {name: form for name, form in every.items() if name not in needed}
    return table(kind.__name__, {name: every[name] for name in needed}, others)


def _plain(kind: Any) -> Any:
    """Return the type of the JSON values of a type: text, number, flag, a union of these, or None."""
    known: dict[Any, Any] = {int: Whole, float: Number, bool: bool, type(None): None}
    return reduce(or_, [known.get(part, str) for part in get_args(kind) or (kind,)])  # a text: also of a Literal


def equal_lengths(columns: Mapping[str, Any]) -> bool:
    """Raise ValueError, with what is expected, unless all columns have one length: a predicate of a type."""
    if len({len(column) for column in columns.values()}) > 1:
        raise WrongValue("columns of equal length")
    return True


# --- The fields of every record, known before the run (they determine the key).

VIEW = form_of(
    View,
    {"first": Positive | None, "nodes_needed": Count | None, "durations": str},
    needed=("at", "first", "durations", "objective"),
)


def _limited(least: int, most: int | None) -> Any:
    return Annotated[int, Ge(least), Le(LARGEST if most is None else most)] | None


REPLAY = form_of(
    ReplaySettings,
    {
        **{n: _limited(s.setting.least, s.setting.most) for n, s in SETTINGS.items() if s.setting.least is not None},
        "deterministic": Number | bool | None,
        "features": list[str] | None,
    },
)


class PlannedFields(TypedDict):
    """What is known before a run."""

    key: str  # hash of everything that determines the outcome
    instance: str  # name of the instance or log
    path: str  # its path as given by the user
    content: str  # hash of its files
    kind: str  # kind of the problem
    method: str  # method or dispatcher
    seed: int
    time_limit: Number
    threads: Positive
    solver: str  # the backend; "schedlab" for methods without a solver
    version: str | None  # of the solver (null: not installed)
    schedlab: str  # version of schedlab
    memory_gb: Number | None  # memory limit in GB (null: the default)
    drop_impossible: bool  # whether jobs that can never fit are left out
    view: VIEW  # type: ignore[valid-type]  # fields of ``runs.view.View``
    replay: REPLAY | None  # type: ignore[valid-type]  # fields of ``ReplaySettings`` (null: the method is not a dispatcher)
    source: NotRequired[str | None]  # hash of the source of a third party's method, dispatcher, heuristic or backend


# --- The fields of every record, known after the run.


class WarmStartFate(TypedDict):
    """What became of a warm start."""

    fate: str
    returned: bool
    reason: NotRequired[str]


class SecondsOfRun(TypedDict):
    """The parts of the time of a run."""

    build: Number | None
    lower: Number | None
    solve: Number | None
    total: Number | None


class Host(TypedDict):
    """The machine of a run, see ``records.record.host``."""

    cpu: str
    cores: Positive
    memory_gb: Number | None
    system: str


class IncumbentFields(TypedDict):
    """A better solution or bound of a run."""

    seconds: Number
    objective: Value


class AnswerFields(TypedDict):
    """What is known after a run."""

    status: str  # optimal, feasible, infeasible, unknown, ...
    objective: Value  # recomputed from the schedule; a list for several ordered objectives
    bound: Value  # proven; a list for several objectives
    gap: Value  # relative, 0.01 is 1 %
    verified: bool | None  # whether the schedule passed the check (null: no schedule)
    violations: NotRequired[Any]  # list of objects with constraint, amount, message
    sense: Literal["minimize", "maximize"] | None
    warm_start: WarmStartFate | None
    first_solution_s: Number | None  # seconds to the first and to the best solution
    best_s: Number | None
    seconds: SecondsOfRun
    cause: str | None  # of an early end: timeout, out of memory, crash, unavailable, dispatcher
    message: str  # explanation for people
    exactness: NotRequired[Any]  # object with kind, notes: whether the solved model is exact
    size: NotRequired[Any]  # of the native model, such as numbers of variables and constraints
    python: NotRequired[Any]  # version of Python
    started: str  # date and time, ISO 8601
    host: NotRequired[Host]  # records of schedlab 0.1.0 lack it
    incumbents: list[IncumbentFields]
    schedule: dict[str, Any] | None  # in the JSON form of the problem


# --- The fields of the records of replays.


def _columns(columns: Mapping[str, Any]) -> bool:
    """Raise ValueError unless an object without columns, or all needed ones and all of one length, are given."""
    missing = [name for name in OF_GROUP if columns and name not in columns]
    if missing:
        raise WrongValue(f"a column {missing[0]}")
    return not columns or equal_lengths(columns)


OF_GROUP: Mapping[str, Any] = {"name": str, "jobs": Count, "started": Count}
LISTS: Mapping[str, Any] = {"name": list[str], "jobs": list[Count], "started": list[Count]}
GroupColumns = table("GroupColumns", {}, LISTS, list[Number | None])
OtherJobs = table("OtherJobs", OF_GROUP, others=Number | None)


class GroupMetrics(TypedDict, closed=True):
    """The metrics of groups of jobs, largest groups first, and of all jobs outside of the 10 largest groups."""

    columns: Annotated[GroupColumns, Predicate(_columns)]  # type: ignore[valid-type]
    others: OtherJobs | None  # type: ignore[valid-type]


class NodesOfPlatform(TypedDict, closed=True):
    """A group of nodes of the platform of a replay."""

    name: str
    count: Annotated[int, Ge(1), Le(10**7)]
    capacity: dict[str, Count]  # of a node
    names: NotRequired[str | list[str]]  # of the nodes, if they have names of their own: see ``names_of_hosts``


class ReplayDescription(TypedDict):
    """The description of a replay, besides dispatcher, allocator, options, number of jobs, report."""

    predictor: str
    objective: str
    offline: bool  # whether offline methods solve the same problem
    recorded: Figures | None  # metrics of the starts in the log
    recorded_groups: NotRequired[dict[str, GroupMetrics] | None]  # the same of groups of jobs; older records lack it
    platform: list[NodesOfPlatform]
    notes: list[str]


class ReplayFields(TypedDict):
    """What only the records of replays have; further fields are in ``kinds.dispatch``."""

    metrics: NotRequired[Figures | None]  # see ``simulation.metrics.Metrics``
    groups: NotRequired[
        dict[str, GroupMetrics] | None
    ]  # by queue, user, partition, class of units, core-hours, accuracy
    percentiles: NotRequired[
        dict[str, list[Number]] | None
    ]  # 0, 1, ..., 100 of wait (s), slowdown, duration / expected
    simulation: NotRequired[ReplayDescription | None]
    jobs_csv: NotRequired[str | None]  # name of the file with the jobs, beside the record


class RunRecord(PlannedFields, AnswerFields, ReplayFields):
    """All fields of a record but those of the kind of its problem."""


# --- The check of a record.


class RecordFault(NamedTuple):
    """A wrong value: the field, the expected form, the value found."""

    where: str
    expected: str
    found: object

    def __str__(self) -> str:
        if self.expected == PRESENT:
            return f"the field {self.where} is missing"
        return f"{self.where}: expected {self.expected}, found {excerpt(self.found)}"


def first_fault(record: object) -> RecordFault | None:
    """Return the first wrong or missing value of a record, None if there is none.

    Examples
    --------
    >>> print(first_fault({"key": 1}))
    the field instance is missing
    """
    fault = fault_of(RunRecord, record)
    if fault is not None or not isinstance(record, dict):
        return fault
    if record["replay"] is not None and record["status"] == "feasible":
        for name in ("metrics", "simulation", "jobs_csv"):
            if record.get(name) is None:
                return RecordFault(name, PRESENT, None)
    if problem_kinds.known(record["kind"]) is None:
        return RecordFault("kind", f"one of {', '.join(problem_kinds.names())}", record["kind"])
    of_kind = bench_object(record["kind"]).record_fields
    return fault_of(_extra(tuple(of_kind.items())), {name: record[name] for name in of_kind if name in record})


@cache
def _extra(fields: tuple[tuple[str, Any], ...]) -> Any:
    return table("ExtraFields", {}, dict(fields))


def fault_of(kind: Any, value: object) -> RecordFault | None:
    """Return the first fault of a value of JSON that should have a type, None if there is none."""
    from pydantic import ValidationError

    try:
        _adapter(kind).validate_json(json.dumps(value), strict=True)  # of Python values a row would have to be a tuple
    except RecursionError:
        return RecordFault("the record", "fewer objects and lists within each other", "more")
    except ValidationError as e:
        faults = e.errors(include_url=False)
        return _fault(min(faults, key=lambda fault: fault["type"] != "missing"), value)
    return None


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


EXPECTED = {  # by the type of an error of pydantic
    "missing": PRESENT,
    "extra_forbidden": "no such field",
    "string_type": "a text",
    "bool_type": "true or false",
    "int_type": "an integer",
    "int_from_float": "an integer",
    "float_type": "a number",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "an object",
    "json_invalid": "JSON that can be read ({error})",
    "too_short": "at least {min_length} values",
    "too_long": "a list of {max_length}",
    "literal_error": "{expected}",
    "greater_than_equal": "at least {ge}",
    "less_than_equal": "at most {le}",
    "value_error": "{error}",
}


def _fault(error: Any, value: object) -> RecordFault:
    """Return an error of pydantic with the place of the value in the record."""
    where = ""
    at: Any = value
    for part in error["loc"]:
        if isinstance(at, dict) and (part in at or error["type"] == "missing"):
            if where:
                where += f".{part[:80]}"
            else:
                where += part[:80]
            at = at.get(part)
        elif isinstance(at, list) and isinstance(part, int):
            if part >= len(at):  # a list of fixed length that is too short
                return RecordFault(where, f"a list of at least {part + 1}", at)
            where += f"[{part}]"
            at = at[part]
        # else: which part of a union, or no part of the value
    context = error.get("ctx", {})
    bound = context.get("ge", context.get("le"))
    if isinstance(bound, float) and abs(bound) == FINITE:
        return RecordFault(where, "a number", error["input"])
    expected = EXPECTED.get(error["type"])
    if expected is None:
        expected = error["msg"]
    else:
        expected = expected.format(**context)
    return RecordFault(where or "the record", expected, error["input"])


def fault_of_schema(record: Mapping[str, Any]) -> str:
    """Return why a record of another schema cannot be read, "" if it has the schema of this version."""
    if record.get("schema") == SCHEMA:
        return ""
    schema = "no schema"
    if record.get("schema") is not None:
        schema = f"schema {excerpt(record['schema'])}"
    return f"it has {schema}, this version of schedlab reads schema {SCHEMA}; run it again with --again"
