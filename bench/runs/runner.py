"""The supervision of runs: an executor performs those without a valid record; each record is written when its run ends."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from ..executors.base import POLL, Executor, Setting, Task
from ..executors.local import LocalExecutor
from ..records.store import Record, Store
from .process import WORKER
from .selection import Run

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

    def progress(self, run: Run, event: Mapping[str, Any]) -> None:
        """Note the progress of a replay: "done" of "total" jobs have started after "seconds"."""

    def ended(self, run: Run, record: Record, kept: bool) -> None:
        """Note the record of a run; ``kept``: it is from an earlier run."""

    def refused(self, run: Run, reason: str) -> None:
        """Note that an earlier record is not valid, so that the run is repeated."""


@dataclass(frozen=True)
class Plan:
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
    return supervise_all([Plan(store, runs, fault)], observer, LocalExecutor(Setting(jobs, command)), keep)


def supervise_all(
    plans: Sequence[Plan],
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
    found: dict[tuple[Store, str], Record] = {}
    distinct: dict[tuple[Store, str], tuple[Task, Plan]] = {}
    for plan in plans:
        folder = plan.store.folder.resolve()
        for run in plan.runs:
            distinct.setdefault((plan.store, run.key), (Task(run, folder), plan))
    of_task = dict(distinct.values())

    def kept(task: Task) -> bool:
        plan = of_task[task]
        earlier = _earlier(task.run, plan.store, observer, keep, plan.fault)
        if earlier is not None:
            found[plan.store, task.run.key] = earlier
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
                found[store, run.key] = record
                observer.ended(run, record, False)
            idle = executor.has_room()
            more = idle and unchecked.left
            for task, event in executor.events(0 if more else POLL) if active else ():
                if event["event"] != "ended":
                    if event["event"] != "begun" or task not in begun:  # it begins again after its worker was lost
                        _report(observer, task.run, event)
                    if event["event"] == "begun":
                        begun.add(task)
                    continue
                active -= 1
                writer.write(of_task[task].store, task.run, event)
            waiting.extend(unchecked.refused(idle))
    finally:
        executor.close()
        writer.close()
    return [found[plan.store, run.key] for plan in plans for run in plan.runs]


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
        found: list[T] = []
        while self.left and not found:
            run = self.left.popleft()
            if not self._kept(run):
                found.append(run)
            now = time.monotonic()
            if not idle or now > began + POLL:
                break
        self._next = now + (now - began) / CHECKING
        return found


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
    return None if reason else earlier
