"""A run on the machine where its process starts: supervised until it ends, and its record. All executors use it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..processes import machine_memory
from ..records.record import BROKEN_OFF, record
from ..records.store import Record, stem_of
from ..runs.handover import path_of, remove, with_best
from ..runs.process import WORKER, Child
from ..runs.replay_settings import ReplaySettings
from ..runs.selection import Run
from ..runs.view import View

PASSED_ON = ("compiling", "incumbent", "progress")  # events of the worker that the user may see


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
        self._started = datetime.now(UTC).isoformat(timespec="seconds")
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
        found = _reported(self.child)
        try:
            if found.get("cause") in BROKEN_OFF and not found.get("schedule"):
                found = with_best(self.run, found, self._best)
        finally:
            remove(self._best)
        return record(self.run, found, self._started)

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
    started = datetime.now(UTC).isoformat(timespec="seconds")
    return record(run, {"status": "error", "cause": cause, "message": message}, started)


def share_of_memory(share: float) -> float | None:
    """Return the default memory limit of a run in GB: its share of 90 % of the machine; None if unknown."""
    memory = machine_memory()
    return None if memory is None else 0.9 * memory / 2**30 * share


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
