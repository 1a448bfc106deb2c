"""The supervision of runs: each has its own process, some run in parallel, each record is written when its run ends."""

from __future__ import annotations

import json
import select
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from ..processes import machine_memory
from ..records.record import BROKEN_OFF, record
from ..records.store import Record, Store, stem_of
from .handover import path_of, remove, with_best
from .process import Child
from .selection import Run

WORKER = (sys.executable, "-m", "schedlab.bench.runs.worker")
POLL = 0.2  # most seconds between two checks of the limits
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
    """Perform the runs that have no valid record and return the records of all runs.

    Runs without a record begin at once. The records of earlier runs are checked when no run could begin instead, and else
    beside the active runs, where the checks take at most a small share of the time.

    On an exception, also Ctrl-C, the processes are killed; the records written so far stay.

    Parameters
    ----------
    runs
        The runs. Equal runs are performed once.
    store
        Where records are found and written.
    observer
        Callbacks for the progress.
    jobs
        Number of runs in parallel.
    command
        Command of a worker, which gets the run as JSON in an additional last argument.
    keep
        Whether the record of an earlier run is used.
    fault
        What is wrong with an earlier record, "" if it is valid.

    Returns
    -------
    list of Record
        The records in the order of ``runs``.
    """
    found: dict[str, Record] = {}

    def kept(run: Run) -> bool:
        earlier = _earlier(run, store, observer, keep, fault)
        if earlier is not None:
            found[run.key] = earlier
            observer.ended(run, earlier, True)
        return earlier is not None

    distinct = {run.key: run for run in runs}.values()
    waiting = deque(run for run in distinct if not store.has(run.key))
    unchecked = Unchecked((run for run in distinct if store.has(run.key)), kept)
    active: list[tuple[Run, Child, str]] = []
    try:
        while waiting or unchecked.runs or active:
            while waiting and len(active) < jobs:
                run = waiting.popleft()
                spec = json.dumps(spec_of(run, store))
                started = datetime.now(UTC).isoformat(timespec="seconds")
                memory = run.memory_gb or share_of_memory(jobs)
                active.append((run, Child(command, spec, run.time_limit, memory), started))
                observer.begun(run)
            idle = len(active) < jobs
            waiting.extend(unchecked.refused(idle))
            if active:
                more = idle and (waiting or unchecked.runs)
                select.select([child.out for _, child, _ in active], [], [], 0 if more else POLL)
            for entry in list(active):
                run, child, started = entry
                for event in child.step():
                    if event["event"] == "incumbent":
                        observer.incumbent(run, event)
                    elif event["event"] == "compiling":
                        observer.compiling(run)
                    elif event["event"] == "progress":
                        observer.progress(run, event)
                if child.over:
                    active.remove(entry)
                    child.end()
                    found[run.key] = record(run, _result(run, child, store), started)
                    store.write(found[run.key])
                    observer.ended(run, found[run.key], False)
    finally:
        for run, child, _ in active:
            child.end()
            remove(_best(run, store))
    return [found[run.key] for run in runs]


class Unchecked:
    """The runs with an earlier record that is not checked yet.

    Beside active runs, the checks take at most the share ``CHECKING`` of the time, as measured runs should not be slower.

    Parameters
    ----------
    runs
        The runs.
    kept
        Function that checks the record of a run and returns whether it is used.
    """

    def __init__(self, runs: Iterable[Run], kept: Callable[[Run], bool]) -> None:
        self.runs = deque(runs)
        self._kept = kept
        self._next = 0.0  # the moment from which the next record is checked beside active runs

    def refused(self, idle: bool) -> list[Run]:
        """Check records for a moment, if ``idle`` until one is not used; return the run of that record, if any."""
        began = now = time.monotonic()
        if not idle and now < self._next:
            return []
        found: list[Run] = []
        while self.runs and not found:
            run = self.runs.popleft()
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


def spec_of(run: Run, store: Store) -> dict[str, Any]:
    """Return the input of a worker: the run, and the folder and name for files beside the record."""
    return {**run.head, "out": str(store.folder.resolve()), "stem": _stem(run)}


def _stem(run: Run) -> str:
    return stem_of({**run.head, "key": run.key})


def _best(run: Run, store: Store) -> Path:
    return path_of(store.folder.resolve(), _stem(run))


def share_of_memory(jobs: int) -> float | None:
    """Return the default memory limit of a run in GB: 90 % of the machine, shared by parallel runs; None if unknown."""
    memory = machine_memory()
    return None if memory is None else 0.9 * memory / 2**30 / jobs


def _result(run: Run, child: Child, store: Store) -> Mapping[str, Any]:
    """Return the result of a run; if it was broken off, with its saved schedule."""
    found = _reported(child)
    try:
        if found.get("cause") in BROKEN_OFF and not found.get("schedule"):
            found = with_best(run, found, _best(run, store))
    finally:
        remove(_best(run, store))
    return found


def _reported(child: Child) -> Mapping[str, Any]:
    """Return the result that a worker reported; if it was broken off, its incumbents and the cause."""
    if child.result is not None and child.result.get("cause") not in BROKEN_OFF:
        return child.result
    fields = ("seconds", "objective", "bound")
    trace = [{f: e[f] for f in fields} for e in child.events if e["event"] == "incumbent"]
    limits = [{"composite": e["composite"]} for e in child.events if e["event"] == "composite"]
    last = next((e for e in reversed(child.events) if e["event"] == "progress"), None)
    progress = "" if last is None else f"; {last['done']:,} of {last['total']:,} jobs had started"
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
