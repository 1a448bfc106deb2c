"""The runs of a command: planned, performed where there is no valid record, each record written when its run ends."""

from __future__ import annotations

import shlex
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from rich.console import Console

from ...instances import Instance, load
from ...models.words import how_many
from ..kinds.base import show_results
from ..records.record import failed
from ..records.store import Record, Store
from ..records.verify import Checker
from .executors import LOCAL, POLL, Executor, LocalExecutor, RunTask, Setting, Task
from .process import UNREADABLE, WORKER, is_memory_readable
from .progress import how_long, named, watch
from .selection import Run

# --- The supervision of runs: an executor performs those without a valid record; each record is written when its run ends.

T = TypeVar("T")
CHECKING = 0.05  # greatest share of the time for checks of earlier records beside active runs


class Observer(Protocol):
    """The callbacks for the progress of runs."""

    def begun(self, run: Run) -> None:
        """Note that the process of a run was started."""

    def compiling(self, run: Run) -> None:
        """Note that the process of a run compiles kernels, which happens once after an installation."""

    def incumbent(self, run: Run, event: Mapping[str, Any]) -> None:
        """Note a better solution or bound: ``event`` has "seconds", "objective", "bound"."""

    def log(self, run: Run, event: Mapping[str, Any]) -> None:
        """Note a line of the solver's log: ``event`` has "line"."""

    def progress(self, run: Run, event: Mapping[str, Any]) -> None:
        """Note the progress of a replay: "done" of "total" jobs have started after "seconds"."""

    def ended(self, run: Run, record: Record, kept: bool) -> None:
        """Note the record of a run; ``kept``: it is from an earlier run."""

    def refused(self, run: Run, reason: str) -> None:
        """Note that an earlier record is not valid, so that the run is repeated."""


@dataclass(frozen=True)
class FolderPlan:
    """Runs whose records go to one folder.

    Parameters
    ----------
    store
        Where records are found and written.
    runs
        The runs.
    fault
        What is wrong with an earlier record, "" if it is valid.
    """

    store: Store
    runs: Sequence[Run]
    fault: Callable[[Run, Record], str] = lambda run, record: ""


def supervise(
    runs: Sequence[Run],
    store: Store,
    observer: Observer,
    *,
    jobs: int = 1,
    command: Sequence[str] = WORKER,
    keep: Callable[[Record], bool] = lambda record: True,
    fault: Callable[[Run, Record], str] = lambda run, record: "",
) -> list[Record]:
    """Perform runs of one folder on this machine, ``jobs`` at a time; see ``supervise_all``."""
    return supervise_all([FolderPlan(store, runs, fault)], observer, LocalExecutor(Setting(jobs, command)), keep)


def supervise_all(
    plans: Sequence[FolderPlan],
    observer: Observer,
    executor: Executor,
    keep: Callable[[Record], bool] = lambda record: True,
) -> list[Record]:
    """Perform the runs that have no valid record and return the records of all runs.

    Runs without a record begin at once. The records of earlier runs are checked when no run could begin instead, and else
    beside the active runs, where the checks take at most a small share of the time.

    On an exception, also Ctrl-C, the processes are killed; the records written so far stay.

    Parameters
    ----------
    plans
        The runs by folder. Equal runs of a folder are performed once.
    observer
        Callbacks for the progress.
    executor
        Where the runs are performed. It is closed in the end.
    keep
        Whether the record of an earlier run is used.

    Returns
    -------
    list of Record
        The records in the order of the plans and their runs.
    """
    records: dict[tuple[Store, str], Record] = {}
    distinct: dict[tuple[Store, str], tuple[Task, FolderPlan]] = {}
    for plan in plans:
        folder = plan.store.folder.resolve()
        for run in plan.runs:
            distinct.setdefault((plan.store, run.key), (Task(run, folder), plan))
    of_task = dict(distinct.values())

    def kept(task: Task) -> bool:
        plan = of_task[task]
        earlier = _earlier(task.run, plan.store, observer, keep, plan.fault)
        if earlier is not None:
            records[plan.store, task.run.key] = earlier
            observer.ended(task.run, earlier, True)
        return earlier is not None

    waiting = deque(task for task, plan in of_task.items() if not plan.store.has(task.run.key))
    unchecked = Unchecked((task for task, plan in of_task.items() if plan.store.has(task.run.key)), kept)
    active = 0
    begun: set[Task] = set()
    writer = Writer()
    try:
        executor.open(list(of_task))
        while waiting or unchecked.left or active or writer.pending:
            while waiting and executor.has_room():
                executor.submit(waiting.popleft())
                active += 1
            for store, run, record in writer.written(wait=not active):
                records[store, run.key] = record
                observer.ended(run, record, False)
            idle = executor.has_room()
            patience = 0 if idle and unchecked.left else POLL
            events = executor.events(patience) if active else ()
            for task, event in events:
                if event["event"] == "ended":
                    active -= 1
                    writer.write(of_task[task].store, task.run, event)
                elif event["event"] != "begun":
                    _report(observer, task.run, event)
                elif task not in begun:  # else it begins again, after its worker was lost
                    begun.add(task)
                    _report(observer, task.run, event)
            waiting.extend(unchecked.refused(idle))
    finally:
        executor.close()
        writer.close()
    return [records[plan.store, run.key] for plan in plans for run in plan.runs]


class Writer:
    """Writes records in a thread of its own, so that the next runs do not wait for the disk."""

    def __init__(self) -> None:
        self.pending: deque[tuple[Future[object], Store, Run, Record]] = deque()
        self._thread = ThreadPoolExecutor(1, "records")

    def write(self, store: Store, run: Run, event: Mapping[str, Any]) -> None:
        """Write the record of an event "ended", unless its executor has done so."""
        keep = store.note if event.get("stored") else store.write
        self.pending.append((self._thread.submit(keep, event["record"]), store, run, event["record"]))

    def written(self, wait: bool) -> Iterator[tuple[Store, Run, Record]]:
        """Yield what has been written since the last call, if ``wait`` after all has been. Raises WrongUse."""
        while self.pending and (wait or self.pending[0][0].done()):
            done, store, run, record = self.pending.popleft()
            done.result()
            yield store, run, record

    def close(self) -> None:
        """Wait until all records are written."""
        self._thread.shutdown()


def _report(observer: Observer, run: Run, event: Mapping[str, Any]) -> None:
    """Pass an event on to the observer."""
    if event["event"] == "begun":
        observer.begun(run)
    elif event["event"] == "compiling":
        observer.compiling(run)
    elif event["event"] == "incumbent":
        observer.incumbent(run, event)
    elif event["event"] == "log":
        observer.log(run, event)
    else:
        observer.progress(run, event)


class Unchecked(Generic[T]):
    """The runs with an earlier record that is not checked yet.

    Beside active runs, the checks take at most the share ``CHECKING`` of the time, as measured runs should not be slower.

    Parameters
    ----------
    runs
        The runs.
    kept
        Function that checks the record of a run and returns whether it is used.
    """

    def __init__(self, runs: Iterable[T], kept: Callable[[T], bool]) -> None:
        self.left = deque(runs)
        self._kept = kept
        self._next = 0.0  # the moment from which the next record is checked beside active runs

    def refused(self, idle: bool) -> list[T]:
        """Check records for a moment, if ``idle`` until one is not used; return the run of that record, if any."""
        began = now = time.monotonic()
        if not idle and now < self._next:
            return []
        unused: list[T] = []
        while self.left and not unused:
            run = self.left.popleft()
            if not self._kept(run):
                unused.append(run)
            now = time.monotonic()
            if not idle or now > began + POLL:
                break
        self._next = now + (now - began) / CHECKING
        return unused


def _earlier(
    run: Run,
    store: Store,
    observer: Observer,
    keep: Callable[[Record], bool],
    fault: Callable[[Run, Record], str],
) -> Record | None:
    """Return the record of an earlier run, if it is to be kept and valid."""
    try:
        earlier = store.find(run.key)
        if earlier is None or not keep(earlier):
            return None
        reason = fault(run, earlier)
    except KeyError as e:
        reason = f"the field {e} is missing"
    except ValueError as e:
        reason = str(e)
    if reason:
        observer.refused(run, reason)
    if reason:
        return None
    return earlier


# --- The common part of ``bench run`` and ``bench simulate``: supervise the runs, print the tables.

Plans = Sequence[tuple[Path, Sequence[Run]]]
Records = list[Record]


def perform(plans: Plans, task: RunTask, tables: Console, notes: Console) -> Records | int:
    """Run plans and return their records.

    Parameters
    ----------
    plans
        Pairs of a folder of records and the runs whose records go there.
    task
        The options.
    tables
        Console for the list of runs of a dry run.
    notes
        Console for the progress.

    Returns
    -------
    list of Record or int
        All records, in the order of the runs; an exit code after a dry run or Ctrl-C.
    """
    runs = [run for _, planned in plans for run in planned]
    notes.print(_how_long(runs, task), soft_wrap=True)
    without = once_alone(runs, task.request.seeds)
    if without:
        notes.print(
            f"one seed for {', '.join(without)}: nothing is drawn at random, so that each seed gives the same",
            soft_wrap=True,
        )
    if not is_memory_readable():
        notes.print(UNREADABLE, soft_wrap=True)
    if task.recording.dry_run:
        _print_plan(tables, runs)
        return 0
    try:
        with ExitStack() as stack:
            stores: dict[Path, Store] = {}
            for folder, _ in plans:
                if folder not in stores:
                    stores[folder] = stack.enter_context(Store(folder))
            check = {folder: Checker(folder, partial(_loaded, task)) for folder in stores}
            executor = task.where.make(task.request.jobs, task.command, lambda line: notes.print(line, soft_wrap=True))
            display = stack.enter_context(watch(runs, notes, task.recording.as_json))
            planned = [FolderPlan(stores[folder], runs, check[folder].reason) for folder, runs in plans]
            return supervise_all(planned, display, executor, task.recording.keeps)
    except KeyboardInterrupt:
        notes.print(f"\nstopped; the finished runs are kept. To continue: {resume_command()}", soft_wrap=True)
        return 130


def conclude(plans: Plans, records: Records, task: RunTask, tables: Console, notes: Console) -> int:
    """Print the tables, unless records are printed as JSON, and return the exit code.

    Parameters
    ----------
    plans
        Pairs of a folder of records and its runs.
    records
        Records of all runs.
    task
        The options.
    tables
        Console for the tables.
    notes
        Console for notes.

    Returns
    -------
    int
        1 if a run failed, or if two runs contradict each other, else 0.
    """
    wrong = []
    if not task.recording.as_json:
        wrong = show_results(tables, records, task.recording.explain)
    for folder in dict.fromkeys(f for f, _ in plans):
        notes.print(f"The records are in {folder}. To check them: bench verify {folder}", soft_wrap=True)
    if wrong or any(map(failed, records)):
        return 1
    return 0


def _how_long(runs: Sequence[Run], task: RunTask) -> str:
    """Return a text about the time that the runs take; on a cluster, the number of runs at the same time may be unknown."""
    if task.where.name == LOCAL or task.request.jobs is not None:
        return how_long(runs, task.request.jobs or 1)
    return f"{how_long(runs, 1)}, one after another; they are performed by the executor {task.where.name}"


def once_alone(runs: Sequence[Run], seeds: Sequence[int]) -> list[str]:
    """Return the methods that are run with one of several seeds alone, as they draw nothing at random."""
    own: dict[str, set[int]] = {}
    for run in runs:
        own.setdefault(run.method, set()).add(run.seed)
    return [method for method, drawn in own.items() if len(seeds) > 1 == len(drawn)]


def _loaded(task: RunTask, path: str, drop_impossible: bool) -> Instance:
    """Return an instance of the task, or load another one."""
    here = dict(task.instances).get(path)
    if here is not None:
        return here
    return load(path, drop_impossible=drop_impossible)


def _print_plan(console: Console, runs: Sequence[Run]) -> None:
    for run in runs:
        threads = how_many(run.threads, "thread")
        console.print(f"{named(run)}, {run.time_limit:g} s, {threads}", soft_wrap=True)


def resume_command() -> str:
    """Return the command line of this process, which continues the runs if it is given again."""
    words = [w for w in sys.argv[1:] if w != "--again"]
    return shlex.join(["bench", *words])
