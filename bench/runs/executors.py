"""Where runs are performed: executors by name and their protocol, what they are asked for, and the one of this machine.

All executors use the run on this machine, where their process starts: it is supervised until it ends, and recorded.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import select
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Protocol
from uuid import uuid4

import numpy as np
from typer import Option

from ... import __version__
from ...backends import Incumbent, Result, UnknownName
from ...errors import WrongValue
from ...instances import Instance, load
from ...instances.files.writing import whole_file, write_whole
from ...models.plugins import PluginError, explained
from ...models.problem import Problem, Schedule, objective_of, violations_of
from ...models.registry import Registry
from ...models.words import excerpt, how_many, with_short_repr
from ..errors import WrongUse
from ..kinds.dispatch import bounded
from ..records.record import BROKEN_OFF, answer, failed, record
from ..records.store import Record, stem_of
from ..replays.settings import RESULTS, RUNS, ReplaySettings
from .process import WORKER, Child, machine_memory
from .selection import Run, RunRequest
from .view import View

if TYPE_CHECKING:
    from ...heuristics import Placement
    from .suites import BestKnown


# --- The protocol of executors, which decide where the processes of runs start.

MOST_LOST = 3  # processes of a run that are lost; it is given up after that
POLL = 0.2  # most seconds between two checks of the limits of a run


@dataclass(frozen=True, eq=False)
class Task:
    """A run and the folder of its record, an absolute path."""

    run: Run
    folder: Path


@dataclass(frozen=True)
class Setting:
    """What an executor is made from.

    Parameters
    ----------
    jobs
        Number of runs at the same time; None: the default of the executor.
    command
        Command of a worker, which gets the run as JSON in an additional last argument.
    options
        Options of the executor by name, as the user gave them.
    say
        Prints a line for the user.
    """

    jobs: int | None = None
    command: Sequence[str] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    say: Callable[[str], None] = print


class Executor(Protocol):
    """Starts the processes of runs somewhere and hands back what they report.

    ``submit`` and ``events`` are called in turn by one thread. Each submitted task is reported by exactly one event
    ``ended``, however often its process was lost and started again.
    """

    def open(self, tasks: Sequence[Task]) -> None:
        """Check that the runs can be performed and connect, before any run begins. Raises WrongUse.

        Parameters
        ----------
        tasks
            All runs. Those with a valid record are not submitted later.
        """

    def has_room(self) -> bool:
        """Return whether a task that is submitted now would begin soon."""

    def submit(self, task: Task) -> None:
        """Take a task; its process may start later."""

    def events(self, seconds: float) -> Iterable[tuple[Task, Mapping[str, Any]]]:
        """Wait at most about ``seconds`` for news and return them.

        An event is a dictionary. ``event`` is "begun", one of those of the worker (``runs.process.Child``) that has been
        passed on, or "ended", with the ``record``, and ``stored`` if the record is in its folder already. With ``seconds``
        0, further tasks follow at once.
        """

    def close(self) -> None:
        """End what still runs. Called once, also after an error in ``open`` or an exception between the calls."""


# --- The executors by name: those of schedlab and of third parties.

PARTS = ("open", "has_room", "submit", "events", "close")
OWN: dict[str, Any] = {
    "local": "schedlab.bench.runs.executors:LocalExecutor",
    "dask": "schedlab.bench.runs.dask_executor:DaskExecutor",
    "slurm": "schedlab.bench.runs.slurm_executor:SlurmExecutor",
}
LOCAL = "local"


def _check(label: str, kind: Any) -> None:
    lacking = [part for part in PARTS if not hasattr(kind, part)]
    if not isinstance(kind, type) or lacking:
        raise PluginError(f"{label} is not a class of executors: it has no {' and no '.join(lacking or ['methods'])}")


EXECUTORS: Registry[Any] = Registry("executor", "schedlab.executors", OWN, _check)
"""Classes that are called with a ``Setting``. Their attribute ``options`` has the names of the options that they take."""


@dataclass(frozen=True)
class Where:
    """Where runs are performed: the name of an executor, and its options as the user gave them.

    Examples
    --------
    >>> Where.parse(["slurm", "partition=short,pack=600"])
    Where(name='slurm', options={'partition': 'short', 'pack': '600'})
    """

    name: str = LOCAL
    options: dict[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, words: Sequence[str]) -> Where:
        """Return the executor of the texts NAME and OPTION=VALUE,... Raises UnknownName, WrongUse, PluginError."""
        name, *texts = words
        executor = EXECUTORS.get_named(name)
        options: dict[str, str] = {}
        for part in (part.strip() for text in texts for part in text.split(",")):
            key, equals, value = part.partition("=")
            if part and (not equals or not key):
                raise WrongUse(f"--executor {name}: {excerpt(part)}: expected OPTION=VALUE")
            if part:
                options[key.strip()] = value.strip()
        known = list(getattr(executor, "options", ()))
        for key in options:
            if key not in known:
                raise (
                    UnknownName(f"option of the executor {name}", key, known)
                    if known
                    else WrongUse(f"--executor {name}: it takes no option, {excerpt(key)} was given")
                )
        return cls(name, options)

    def make(self, jobs: int | None, command: Sequence[str], say: Callable[[str], None]) -> Executor:
        """Return the executor; ``jobs``: number of runs at the same time. Raises WrongUse, PluginError."""
        setting = Setting(jobs, command, self.options, say)
        if self.name in OWN:
            own: Executor = EXECUTORS[self.name](setting)
            return own
        with explained(f"{EXECUTORS.label(self.name)} cannot be created"):
            made: Executor = EXECUTORS.get_named(self.name)(setting)
        return made


@dataclass(frozen=True)
class Recording:
    """What is performed, recorded and printed: options of ``bench run``, ``simulate`` and ``dardis``."""

    dry_run: Annotated[
        bool,
        Option("--dry-run", help="only print the runs or replays and how long they take", rich_help_panel=RUNS),
    ] = False
    as_json: Annotated[bool, Option("--json", help="print the records as JSON lines", rich_help_panel=RESULTS)] = False
    retry: Annotated[
        bool,
        Option(
            "--retry",
            help="also repeat the runs that failed, crashed, were killed or ran out of memory",
            rich_help_panel=RESULTS,
        ),
    ] = False
    again: Annotated[
        bool, Option("--again", help="repeat all of them, also those with a record", rich_help_panel=RESULTS)
    ] = False
    explain: Annotated[
        bool, Option("--explain", help="print below each table what its columns mean", rich_help_panel=RESULTS)
    ] = False

    def keeps(self, record: Record) -> bool:
        """Return whether the record of an earlier run is used instead of a new run."""
        return not self.again and not (self.retry and (record["cause"] in BROKEN_OFF or failed(record)))


@dataclass(frozen=True)
class RunTask:
    """What ``bench run`` has to do.

    Parameters
    ----------
    instances
        Pairs of the path given by the user and the loaded instance.
    request
        Methods, limits and views of the runs.
    out
        Folder of the records; None: results/<instance>.
    recording
        What is performed, recorded and printed.
    command
        Command that starts a worker.
    where
        The executor.
    known
        Best-known values by the name of the instance, beside those of suites.
    """

    instances: Sequence[tuple[str, Instance]]
    request: RunRequest
    out: Path | None = None
    recording: Recording = field(default_factory=Recording)
    command: Sequence[str] = WORKER
    where: Where = field(default_factory=Where)
    known: Mapping[str, BestKnown] = field(default_factory=dict)


# --- The best schedule of a run so far, saved in a file, so that it survives a kill, a crash or a lack of memory.
#
# The worker writes the file into the folder of the records (to a temporary name, then renamed). If the run ends without an
# answer, the bench reads the file and checks the schedule. The flat arrays of a search are written at once, which takes less
# than a millisecond for 33,000 jobs. Other schedules are written soon after by a thread; kernels and solvers release
# Python's global lock, so that this thread can run.

Parts = Callable[[], list[bytes] | None]
SHARE = 0.02  # greatest share of the run time that saving may take
LATEST = 1.0  # most seconds between two saved schedules, however long the writing takes
SOONEST = 0.05  # seconds before the thread writes
INTEGER = np.dtype("<i8")
# fields of a record that a saved schedule does not contain
UNKNOWN = ("warm_start", "size", "exactness", "seconds", "message", "cause", "bound", "incumbents")


def path_of(out: str | Path, stem: str) -> Path:
    """Return the file of the best schedule of a run. The store removes files left by a bench that died."""
    return Path(out) / f".{stem}.best.tmp"


class HandOver:
    """A callback that writes each better schedule to ``path``, at most about one second after it was found.

    An error in it, such as a full disk, does not stop the run.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._state = threading.Lock()
        self._writing = threading.Lock()
        self._objective: Any = None
        self._due = 0.0
        self._pending: Parts | None = None
        self._timer: threading.Timer | None = None

    def __call__(self, news: Incumbent) -> None:
        """Write the schedule of an incumbent, or leave it for the thread to write."""
        if news.objective is None or news.objective == self._objective:  # only the bound is better
            return
        self._objective = news.objective
        with self._state:
            flat = news.placement
            wait = self._due - time.monotonic()
            if flat is None:
                self._pending = lambda: _of_schedule(news.schedule())
            elif wait <= 0:
                self._pending = lambda: _of_arrays(flat)
            else:
                parts = _of_arrays(flat)  # a copy: the search changes its arrays
                self._pending = lambda: parts
            if (flat is None or wait > 0) and self._timer is None:
                self._timer = threading.Timer(max(SOONEST, wait), self.flush)
                self._timer.daemon = True
                self._timer.start()
        if flat is not None and wait <= 0:
            self.flush()

    def flush(self) -> None:
        """Write the pending schedule now."""
        with self._writing:
            with self._state:
                parts = self._pending
                self._pending = None
                self._timer = None
            if parts is not None:
                began = time.monotonic()
                with contextlib.suppress(OSError, MemoryError):
                    self._write(parts())
                now = time.monotonic()
                self._due = now + min(LATEST, (now - began) / SHARE)

    def _write(self, parts: list[bytes] | None) -> None:
        if parts is not None:
            # it has to survive the end of this process, not a crash of the system: no sync, which would delay a search
            with whole_file(self.path, "wb", durable=False, temporary=_temporary(self.path)) as f:
                f.writelines(parts)


def _temporary(path: Path) -> Path:
    return path.with_suffix(".new.tmp")


def _of_arrays(flat: Placement) -> list[bytes]:
    starts, nodes = (np.ascontiguousarray(part, INTEGER) for part in (flat.starts, flat.nodes))
    head = json.dumps({"jobs": starts.size, "units": nodes.size})
    return [head.encode() + b"\n", starts.tobytes(), nodes.tobytes()]


def _of_schedule(schedule: Schedule | None) -> list[bytes] | None:
    if schedule is None:
        return None
    return [json.dumps({"schedule": schedule.as_json()}).encode() + b"\n"]


def remove(path: Path) -> None:
    """Remove the file of a run and its temporary file."""
    for left_over in (path, _temporary(path)):
        with contextlib.suppress(OSError):
            left_over.unlink(missing_ok=True)


def handed_over(path: Path, problem: Problem) -> Schedule:
    """Return the saved schedule of a run, not verified. Raises ValueError for an invalid file, and OSError."""
    head, _, rest = path.read_bytes().partition(b"\n")
    header = json.loads(head)
    if "schedule" in header:
        return problem.read(header["schedule"])
    from ...heuristics import Placement
    from ...heuristics.arrays import arrays

    flat = np.frombuffer(rest, INTEGER)
    known = arrays(problem)  # type: ignore[arg-type]  # searches on other problems save no arrays
    jobs = known.jobs.units.size
    units = int(known.jobs.first_unit[-1])
    if (header["jobs"], header["units"], flat.size) != (jobs, units, jobs + units):
        raise WrongValue(
            f"the file has {how_many(flat.size, 'number')}, expected those of {how_many(jobs, 'job')} with {how_many(units, 'unit')}"
        )
    return Placement(known, flat[:jobs], flat[jobs:]).schedule()


def with_best(run: Run, reported: Mapping[str, Any], path: Path) -> Record:
    """Return the result of a run that ended without an answer, completed by its saved schedule.

    Parameters
    ----------
    run
        The run.
    reported
        Fields of its record: at least status, cause, message and incumbents.
    path
        File of the saved schedule.

    Returns
    -------
    dict
        The fields, with the schedule if it is verified. An invalid schedule is not used; the message says so.
    """
    if not path.is_file():
        return dict(reported)
    try:
        problem = run.view.of(load(run.path, drop_impossible=run.drop_impossible))
        problem = bounded(problem, reported)
        schedule = handed_over(path, problem)
        broken = violations_of(problem, schedule)
        if broken:
            raise WrongValue(broken[0].message)
        result = Result("feasible", run.method, run.version, problem=problem, schedule=schedule)
        result.objective = objective_of(problem, schedule)
        result.bound = reported.get("bound")
        answered = answer(problem, result)
    except Exception as e:  # a crashed run may have left any content
        return {**reported, "message": f"{reported['message']}; its saved schedule is not valid: {e}"}
    message = "; ".join(filter(None, (reported["message"], "its best schedule is kept", answered["message"])))
    extra = {name: value for name, value in answered.items() if name not in UNKNOWN}
    return {**reported, **extra, "message": message}


# --- What has to hold on a machine before runs are performed there: versions, the folder of the records, the instances.


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
    if missing:
        return f"cannot see {missing[0]}, which is to be run"
    return ""


def _python() -> str:
    return ".".join(platform.python_version_tuple()[:2])


PASSED_ON = ("compiling", "incumbent", "log", "progress")  # events of the worker that the user may see


class RunProcess:
    """The process of a run; its limits are enforced by ``step``.

    Parameters
    ----------
    run
        The run.
    folder
        Folder for files beside its record, an absolute path.
    command
        Command of the worker; empty for that of this Python.
    share
        The share of the memory of this machine that the run may use if it has no limit of its own.
    memory_gb
        Limit in GB in place of the share; None: the share counts.
    environment
        Environment variables of the process; None: those of this process.
    cwd
        Current folder of the process, to which the paths of the run are relative; None: that of this process.
    """

    def __init__(
        self,
        run: Run,
        folder: Path,
        command: Sequence[str] = (),
        share: float = 1.0,
        memory_gb: float | None = None,
        environment: Mapping[str, str] | None = None,
        cwd: str | None = None,
    ) -> None:
        self.run = run
        self._ended = False
        self._best = path_of(folder, _stem(run))
        self._started = datetime.now(UTC).isoformat(timespec="microseconds")
        limit = run.memory_gb or memory_gb or share_of_memory(share)
        spec = json.dumps(spec_of(run, folder))
        self.child = Child(command or WORKER, spec, run.time_limit, limit, environment, cwd)

    @property
    def out(self) -> int:
        """The file descriptor to wait for."""
        return self.child.out

    def step(self) -> list[dict[str, Any]]:
        """Enforce the limits and return the new events that are passed on."""
        return [event for event in self.child.step() if event["event"] in PASSED_ON]

    @property
    def over(self) -> bool:
        """Whether ``end`` can return the record."""
        return self.child.over

    def end(self) -> Record:
        """End the process and return the record of the run; if it was broken off, with its saved schedule."""
        self._ended = True
        self.child.end()
        reported = _reported(self.child)
        try:
            if reported.get("cause") in BROKEN_OFF and not reported.get("schedule"):
                reported = with_best(self.run, reported, self._best)
        finally:
            remove(self._best)
        return record(self.run, reported, self._started)

    def stop(self) -> None:
        """Kill the process, if it has not been ended; there is no record."""
        if not self._ended:
            self._ended = True
            self.child.end()
            remove(self._best)


def spec_of(run: Run, folder: Path) -> dict[str, Any]:
    """Return the input of a worker: the run, and the folder and name for files beside the record."""
    return {**run.head, "out": str(folder), "stem": _stem(run)}


def run_of(spec: Mapping[str, Any]) -> Run:
    """Return the run of the input of a worker."""
    fields = {name: value for name, value in spec.items() if name not in ("out", "stem")}
    replay = spec["replay"] and ReplaySettings(**spec["replay"])
    return Run(**{**fields, "view": View(**spec["view"]), "replay": replay})


def failed_record(run: Run, cause: str, message: str) -> Record:
    """Return the record of a run whose process was lost again and again."""
    started = datetime.now(UTC).isoformat(timespec="microseconds")
    return record(run, {"status": "error", "cause": cause, "message": message}, started)


def share_of_memory(share: float) -> float | None:
    """Return the default memory limit of a run in GB: its share of 90 % of the machine; None if unknown."""
    memory = machine_memory()
    if memory is None:
        return None
    return 0.9 * memory / 2**30 * share


def _stem(run: Run) -> str:
    return stem_of({"method": run.method, "seed": run.seed, "key": run.key})


def _reported(child: Child) -> Mapping[str, Any]:
    """Return the result that a worker reported; if it was broken off, its incumbents and the cause."""
    if child.result is not None and child.result.get("cause") not in BROKEN_OFF:
        return child.result
    fields = ("seconds", "objective", "bound")
    trace = [{f: e[f] for f in fields} for e in child.events if e["event"] == "incumbent"]
    limits = [{"composite": e["composite"]} for e in child.events if e["event"] == "composite"]
    last = next((e for e in reversed(child.events) if e["event"] == "progress"), None)
    progress = ""
    if last is not None:
        progress = f"; {last['done']:,} of {how_many(last['total'], 'job', ',')} had started"
    return {
        "status": "unknown" if child.cause == "timeout" else "error",
        "cause": child.cause,
        "message": child.message + progress,
        "sense": next((e.get("sense") for e in child.events if e["event"] == "begin"), None),
        "bound": next((e["bound"] for e in reversed(trace) if e["bound"] is not None), None),
        "incumbents": trace,
        **(limits[0] if limits else {}),
        **(child.result or {}),
    }


# --- Runs on this machine, some at the same time.


@with_short_repr
class LocalExecutor:
    """Processes of this process; they are killed when it ends, however it ends."""

    def __init__(self, setting: Setting) -> None:
        self.jobs = setting.jobs or 1
        self.command = setting.command
        self.active: list[tuple[Task, RunProcess]] = []
        self._begun: list[Task] = []

    def open(self, tasks: Sequence[Task]) -> None:
        """Do nothing: this machine is there."""

    def has_room(self) -> bool:
        """Return whether fewer runs than the number of jobs are active."""
        return len(self.active) < self.jobs

    def submit(self, task: Task) -> None:
        """Start the process of a run."""
        self.active.append((task, RunProcess(task.run, task.folder, self.command, 1 / self.jobs)))
        self._begun.append(task)

    def events(self, seconds: float) -> Iterator[tuple[Task, Mapping[str, Any]]]:
        """Wait for the output of the processes, enforce their limits, and yield the news."""
        yield from ((task, {"event": "begun"}) for task in self._begun)
        self._begun = []
        if self.active:
            select.select([process.out for _, process in self.active], [], [], seconds)
        for entry in list(self.active):
            task, process = entry
            yield from ((task, event) for event in process.step())
            if process.over:
                self.active.remove(entry)
                yield task, {"event": "ended", "record": process.end()}

    def close(self) -> None:
        """Kill the active processes."""
        for _, process in self.active:
            process.stop()
        self.active = []
