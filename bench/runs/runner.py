"""Supervises the runs: each in a process of its own, some side by side, each record written as its run ends."""

from __future__ import annotations

import json
import os
import select
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from ..records.record import BROKEN_OFF, record
from ..records.store import Record, Store, stem_of
from .handover import path_of, remove, with_best
from .process import Child
from .selection import Run

WORKER = (sys.executable, "-m", "schedlab.bench.runs.worker")
POLL = 0.2  # seconds between two looks at limits


class Audience(Protocol):
    """Who is told of the runs as they go."""

    def begun(self, run: Run) -> None:
        """The run's process was started."""

    def incumbent(self, run: Run, event: Mapping[str, Any]) -> None:
        """It found a better solution or bound: "seconds", "objective", "bound"."""

    def progress(self, run: Run, event: Mapping[str, Any]) -> None:
        """A replay went on: "done" of "total" jobs have started after "seconds"."""

    def ended(self, run: Run, record: Record, kept: bool) -> None:
        """Its record is there; ``kept``: from an earlier time."""

    def refused(self, run: Run, reason: str) -> None:
        """Its earlier record does not hold: it is run again."""


def supervise(
    runs: Sequence[Run],
    store: Store,
    audience: Audience,
    *,
    jobs: int = 1,
    command: Sequence[str] = WORKER,
    keep: Callable[[Record], bool] = lambda record: True,
    fault: Callable[[Run, Record], str] = lambda run, record: "",
) -> list[Record]:
    """Run what has no record yet, ``jobs`` side by side, and return all records in the order of ``runs``.

    ``command``: of the worker, which gets the run as JSON in its last argument; ``keep``: whether an earlier record
    counts; ``fault``: what is wrong with it, empty if it holds. On any exception, Ctrl-C too, the processes are killed;
    the records written stay.
    """
    found: dict[str, Record] = {}
    waiting: deque[Run] = deque()
    for run in {run.key: run for run in runs}.values():
        earlier = _earlier(run, store, audience, keep, fault)
        if earlier is None:
            waiting.append(run)
        else:
            found[run.key] = earlier
            audience.ended(run, earlier, True)
    active: list[tuple[Run, Child, str]] = []
    try:
        while waiting or active:
            while waiting and len(active) < jobs:
                run = waiting.popleft()
                spec = json.dumps(spec_of(run, store))
                started = datetime.now(UTC).isoformat(timespec="seconds")
                memory = run.memory_gb or share_of_memory(jobs)
                active.append((run, Child(command, spec, run.time_limit, memory), started))
                audience.begun(run)
            select.select([child.out for _, child, _ in active], [], [], POLL)
            for entry in list(active):
                run, child, started = entry
                for event in child.step():
                    if event["event"] == "incumbent":
                        audience.incumbent(run, event)
                    elif event["event"] == "progress":
                        audience.progress(run, event)
                if child.over:
                    active.remove(entry)
                    child.end()
                    found[run.key] = record(run, _found(run, child, store), started)
                    store.write(found[run.key])
                    audience.ended(run, found[run.key], False)
    finally:
        for run, child, _ in active:
            child.end()
            remove(_best(run, store))
    return [found[run.key] for run in runs]


def _earlier(
    run: Run,
    store: Store,
    audience: Audience,
    keep: Callable[[Record], bool],
    fault: Callable[[Run, Record], str],
) -> Record | None:
    """The record of an earlier time, if it counts and holds."""
    try:
        earlier = store.find(run.key)
        if earlier is None or not keep(earlier):
            return None
        reason = fault(run, earlier)
    except KeyError as e:
        reason = f"it lacks {e}"
    except ValueError as e:
        reason = str(e)
    if reason:
        audience.refused(run, reason)
    return None if reason else earlier


def spec_of(run: Run, store: Store) -> dict[str, Any]:
    """What the worker is told: the run, and under which name it may put files beside the record."""
    return {**run.head, "out": str(store.folder.resolve()), "stem": _stem(run)}


def _stem(run: Run) -> str:
    return stem_of({**run.head, "key": run.key})


def _best(run: Run, store: Store) -> Path:
    return path_of(store.folder.resolve(), _stem(run))


def share_of_memory(jobs: int) -> float | None:
    """The GB that each of some runs side by side may take if nothing is asked for: nine tenths of the machine's."""
    try:
        return 0.9 * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30 / jobs
    except (ValueError, OSError):
        return None


def _found(run: Run, child: Child, store: Store) -> Mapping[str, Any]:
    """What a run found; of one that was broken off, the best schedule until then."""
    found = _told(child)
    try:
        if found.get("cause") in BROKEN_OFF and not found.get("schedule"):
            found = with_best(run, found, _best(run, store))
    finally:
        remove(_best(run, store))
    return found


def _told(child: Child) -> Mapping[str, Any]:
    """What a run said at its end; of one that was broken off, the trace until then and the cause."""
    if child.words is not None and child.words.get("cause") not in BROKEN_OFF:
        return child.words
    fields = ("seconds", "objective", "bound")
    trace = [{f: e[f] for f in fields} for e in child.events if e["event"] == "incumbent"]
    far = next((e for e in reversed(child.events) if e["event"] == "progress"), None)
    how_far = "" if far is None else f"; {far['done']:,} of {far['total']:,} jobs had started"
    return {
        "status": "unknown" if child.cause == "timeout" else "error",
        "cause": child.cause,
        "message": child.message + how_far,
        "sense": next((e.get("sense") for e in child.events if e["event"] == "begin"), None),
        "bound": next((e["bound"] for e in reversed(trace) if e["bound"] is not None), None),
        "incumbents": trace,
        **(child.words or {}),
    }
