"""The data of a dispatching problem: queues, jobs, and jobs that run already."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from ..platform import ProblemError
from ..whole_numbers import examined
from .whole_jobs import QUEUE

DAY = 86400


Durations = Literal["walltime", "runtime"]


Window = tuple[int, int]


@dataclass(frozen=True)
class Queue:
    """A queue with its expected waiting time in seconds (``ewt``).

    ``daily``: windows of the day, in seconds since midnight, in which its jobs may start; a window may run past
    midnight, as (64800, 115200) for 18:00 to 08:00. Empty: at any time.
    """

    name: str
    ewt: int
    daily: tuple[Window, ...] = ()

    def __post_init__(self) -> None:
        whole, faults = examined(self, QUEUE, lambda q: f"queue {q.name!r}")
        if faults:
            raise ProblemError("\n".join(faults))
        for name, value in whole.items():
            object.__setattr__(self, name, value)
        if self.ewt <= 0:
            raise ProblemError(
                f"queue {self.name!r}: the expected waiting time is {self.ewt} s, more than 0 is expected"
            )
        for lo, hi in self.daily:
            if not 0 <= lo < DAY or not lo <= hi < lo + DAY:
                raise ProblemError(
                    f"queue {self.name!r}: the daily window ({lo}, {hi}) is not 0 <= lo < 86400, lo <= hi"
                )


@dataclass(frozen=True)
class Job:
    """A job of ``units`` equal units, each asking ``request`` {resource: amount} of the one node it runs on.

    Times in seconds. ``walltime``: what the user asked for; ``runtime``: what it took, if known. ``earliest_start``:
    not before (None: the submit time); ``deadline``: it must have ended by then; ``windows``: (lo, hi) in which it may
    start, both ends included (empty: at any time). ``user`` and ``name`` (of the program) serve the prediction of runtimes;
    ``power``: watts of the whole job, if known.
    """

    id: str
    submit: int
    walltime: int
    units: int
    request: Mapping[str, int]
    queue: str
    earliest_start: int | None = None
    deadline: int | None = None
    windows: tuple[Window, ...] = ()
    runtime: int | None = None
    user: str = ""
    name: str = ""
    power: float | None = None

    @property
    def release(self) -> int:
        """The first moment at which it may start, as far as the job itself goes."""
        return self.submit if self.earliest_start is None else max(self.submit, self.earliest_start)


@dataclass(frozen=True)
class Running:
    """A job that runs already: where it started, on which nodes ({node: units}), and when it is expected to end."""

    job: Job
    start: int
    nodes: Mapping[str, int]
    end: int
