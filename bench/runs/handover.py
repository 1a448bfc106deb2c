"""The best schedule so far of a run, handed over while it goes on: it outlives a kill, a crash, the end of the memory.

The worker writes it in the folder of the records, beside its place and then renamed; the bench reads and checks it where
the run ends without an answer. The flat arrays of a search are written at once, which takes less than a millisecond for
33,000 jobs; other schedules by a thread soon after. Kernels and solvers release Python's lock, so the thread gets its turn.
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...backends import Incumbent, Result
from ...instances import load
from ...models.problem import Problem, Schedule
from ..records.answer import answer
from ..records.store import Record
from .selection import Run

if TYPE_CHECKING:
    from ...heuristics import Placement

Parts = Callable[[], list[bytes] | None]
SHARE = 0.02  # of the run's time, that handing over may take
LATEST = 1.0  # seconds from one schedule to the next, however long writing one takes
SOONEST = 0.05  # seconds until the thread writes
WHOLE = np.dtype("<i8")
UNKNOWN = ("warm_start", "size", "exactness", "seconds", "message", "cause", "bound", "incumbents")  # what it does not


def path_of(out: str | Path, stem: str) -> Path:
    """Return the file for the schedule of the run with this stem; the store removes what a dead bench left there."""
    return Path(out) / f".{stem}.best.tmp"


class HandOver:
    """Callback of a solve that writes each better schedule to ``path``, at most about a second after it was found.

    A fault in it, such as a full disk, ends the handing over and never the run.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._state, self._writing = threading.Lock(), threading.Lock()
        self._objective: Any = None
        self._due = 0.0
        self._waiting: Parts | None = None
        self._timer: threading.Timer | None = None

    def __call__(self, news: Incumbent) -> None:
        """Write the schedule of an incumbent, or note it for the thread."""
        if news.objective is None or news.objective == self._objective:  # a better bound alone
            return
        self._objective = news.objective
        with self._state:
            flat, wait = news.placement, self._due - time.monotonic()
            if flat is None:
                self._waiting = lambda: _of_schedule(news.answer())
            elif wait <= 0:
                self._waiting = lambda: _of_arrays(flat)
            else:
                parts = _of_arrays(flat)  # a copy: the search goes on with its arrays
                self._waiting = lambda: parts
            if (flat is None or wait > 0) and self._timer is None:
                self._timer = threading.Timer(max(SOONEST, wait), self.flush)
                self._timer.daemon = True
                self._timer.start()
        if flat is not None and wait <= 0:
            self.flush()

    def flush(self) -> None:
        """Write the schedule that waits, now."""
        with self._writing:
            with self._state:
                parts, self._waiting, self._timer = self._waiting, None, None
            if parts is not None:
                began = time.monotonic()
                with contextlib.suppress(OSError, MemoryError):
                    self._write(parts())
                now = time.monotonic()
                self._due = now + min(LATEST, (now - began) / SHARE)

    def _write(self, parts: list[bytes] | None) -> None:
        if parts is not None:
            beside = _beside(self.path)
            with beside.open("wb") as f:
                f.writelines(parts)
            beside.replace(self.path)


def _beside(path: Path) -> Path:
    return path.with_suffix(".new.tmp")


def _of_arrays(flat: Placement) -> list[bytes]:
    starts, nodes = (np.ascontiguousarray(part, WHOLE) for part in (flat.starts, flat.nodes))
    head = json.dumps({"jobs": starts.size, "units": nodes.size})
    return [head.encode() + b"\n", starts.tobytes(), nodes.tobytes()]


def _of_schedule(schedule: Schedule | None) -> list[bytes] | None:
    return None if schedule is None else [json.dumps({"schedule": schedule.as_json()}).encode() + b"\n"]


def remove(path: Path) -> None:
    """Remove what a run left, whole or half written."""
    for left_over in (path, _beside(path)):
        with contextlib.suppress(OSError):
            left_over.unlink(missing_ok=True)


def handed_over(path: Path, problem: Problem) -> Schedule:
    """Return the schedule that a run left, unchecked. Raises ValueError for a broken file, OSError."""
    head, _, rest = path.read_bytes().partition(b"\n")
    found = json.loads(head)
    if "schedule" in found:
        return problem.read(found["schedule"])
    from ...heuristics import Placement
    from ...heuristics.arrays import arrays

    flat = np.frombuffer(rest, WHOLE)
    known = arrays(problem)  # type: ignore[arg-type]  # searches on other problems leave no arrays
    jobs, units = known.jobs.units.size, int(known.jobs.first_unit[-1])
    if (found["jobs"], found["units"], flat.size) != (jobs, units, jobs + units):
        raise ValueError(f"it has {flat.size} numbers, the problem has {jobs} jobs of {units} units")
    return Placement(known, flat[:jobs], flat[jobs:]).schedule()


def with_best(run: Run, found: Mapping[str, Any], path: Path) -> Record:
    """Return what is known of a run that ended without an answer, with the schedule that it left, checked here.

    ``found``: at least its status, cause, message and incumbents, as ``record`` takes them. A schedule that does not hold
    is not used, and the message says so.
    """
    if not path.is_file():
        return dict(found)
    try:
        problem = run.view.of(load(run.path, drop_impossible=run.drop_impossible))
        schedule = handed_over(path, problem)
        broken = problem.verify(schedule)
        if broken:
            raise ValueError(broken[0].message)
        result = Result("feasible", run.method, run.version, problem=problem, schedule=schedule)
        result.objective, result.bound = problem.objective(schedule), found.get("bound")
        worth = answer(problem, result)
    except Exception as e:  # whatever a run that crashed has left, its record says so
        return {**found, "message": f"{found['message']}; the schedule that it had found does not hold: {e}"}
    said = "; ".join(filter(None, (found["message"], "its best schedule is kept", worth["message"])))
    extra = {name: value for name, value in worth.items() if name not in UNKNOWN}
    return {**found, **extra, "message": said}
