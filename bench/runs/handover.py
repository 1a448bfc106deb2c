"""The best schedule of a run so far, saved in a file, so that it survives a kill, a crash or a lack of memory.

The worker writes the file into the folder of the records (to a temporary name, then renamed). If the run ends without an
answer, the bench reads the file and checks the schedule. The flat arrays of a search are written at once, which takes less
than a millisecond for 33,000 jobs. Other schedules are written soon after by a thread; kernels and solvers release
Python's global lock, so that this thread can run.
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
from ...errors import WrongValue
from ...instances import load
from ...instances.files.atomic import whole_file
from ...models.problem import Problem, Schedule
from ...models.problem_answers import objective_of, violations_of
from ..kinds.composites import bounded
from ..records.answer import answer
from ..records.store import Record
from .selection import Run

if TYPE_CHECKING:
    from ...heuristics import Placement

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
        self._state, self._writing = threading.Lock(), threading.Lock()
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
            flat, wait = news.placement, self._due - time.monotonic()
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
                parts, self._pending, self._timer = self._pending, None, None
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
    return None if schedule is None else [json.dumps({"schedule": schedule.as_json()}).encode() + b"\n"]


def remove(path: Path) -> None:
    """Remove the file of a run and its temporary file."""
    for left_over in (path, _temporary(path)):
        with contextlib.suppress(OSError):
            left_over.unlink(missing_ok=True)


def handed_over(path: Path, problem: Problem) -> Schedule:
    """Return the saved schedule of a run, not verified. Raises ValueError for an invalid file, and OSError."""
    head, _, rest = path.read_bytes().partition(b"\n")
    found = json.loads(head)
    if "schedule" in found:
        return problem.read(found["schedule"])
    from ...heuristics import Placement
    from ...heuristics.arrays import arrays

    flat = np.frombuffer(rest, INTEGER)
    known = arrays(problem)  # type: ignore[arg-type]  # searches on other problems save no arrays
    jobs, units = known.jobs.units.size, int(known.jobs.first_unit[-1])
    if (found["jobs"], found["units"], flat.size) != (jobs, units, jobs + units):
        raise WrongValue(f"the file has {flat.size} numbers, expected those of {jobs} jobs with {units} units")
    return Placement(known, flat[:jobs], flat[jobs:]).schedule()


def with_best(run: Run, found: Mapping[str, Any], path: Path) -> Record:
    """Return the result of a run that ended without an answer, completed by its saved schedule.

    Parameters
    ----------
    run
        The run.
    found
        Fields of its record: at least status, cause, message and incumbents.
    path
        File of the saved schedule.

    Returns
    -------
    dict
        The fields, with the schedule if it is verified. An invalid schedule is not used; the message says so.
    """
    if not path.is_file():
        return dict(found)
    try:
        problem = run.view.of(load(run.path, drop_impossible=run.drop_impossible))
        problem = bounded(problem, found)
        schedule = handed_over(path, problem)
        broken = violations_of(problem, schedule)
        if broken:
            raise WrongValue(broken[0].message)
        result = Result("feasible", run.method, run.version, problem=problem, schedule=schedule)
        result.objective, result.bound = objective_of(problem, schedule), found.get("bound")
        answered = answer(problem, result)
    except Exception as e:  # a crashed run may have left any content
        return {**found, "message": f"{found['message']}; its saved schedule is not valid: {e}"}
    message = "; ".join(filter(None, (found["message"], "its best schedule is kept", answered["message"])))
    extra = {name: value for name, value in answered.items() if name not in UNKNOWN}
    return {**found, **extra, "message": message}
