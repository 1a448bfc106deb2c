"""The data of a dispatching problem: queues, jobs, and running jobs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np

from ...errors import WrongArgument
from ..arguments import named
from ..comparing import hashable
from ..excerpt import with_short_repr
from ..platform import ProblemError
from ..problem import part_name
from ..whole_numbers import examined
from .chunks.chunk import Chunk
from .whole_jobs import QUEUE

DAY = 86400  # seconds

Durations = Literal["walltime", "runtime"]
Window = tuple[int, int]


@named
@with_short_repr
@dataclass(frozen=True)
class Queue:
    """A queue of jobs with its expected waiting time.

    Parameters
    ----------
    name : str
        The name of the queue.
    ewt : int
        The expected waiting time in seconds, > 0.
    daily : tuple of (int, int), optional
        Windows (lo, hi) of the day in which its jobs may start, in seconds since midnight, both ends included. A window
        may run past midnight: (64800, 115200) is 18:00 to 08:00. Empty: at any time.
    whole_run : bool, optional
        Whether a job must also end, by its walltime, in the window in which it starts; its end may be ``hi``.

    Raises
    ------
    ProblemError
        If a number is wrong; the message names the queue.

    Examples
    --------
    >>> Queue("night", ewt=3600, daily=((64800, 115200),)).ewt
    3600
    """

    name: str
    ewt: int
    daily: tuple[Window, ...] = ()
    whole_run: bool = False

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
        if not isinstance(self.whole_run, bool) or (self.whole_run and not self.daily):
            raise ProblemError(
                f"queue {self.name!r}: whole_run is {self.whole_run!r:.100}; expected True or False, and daily windows if True"
            )

    def hours(self, walltime: int) -> tuple[Window, ...]:
        """Return the windows of the day in which a job may start; with ``daily``, empty if it never may.

        Examples
        --------
        >>> night = Queue("night", 3600, daily=((64800, 115200),), whole_run=True)
        >>> night.hours(3600), night.hours(86400)
        (((64800, 111600),), ())
        """
        if not self.whole_run:
            return self.daily
        return tuple((lo, hi - walltime) for lo, hi in self.daily if lo <= hi - walltime)


def time_after_open(calendars: Iterable[tuple[Window, ...]], begin: int, seconds: int) -> int | None:
    """Return the first open time at or after ``begin`` before which all calendars were open for ``seconds`` together.

    Parameters
    ----------
    calendars : iterable of tuple of (int, int)
        Windows of the day, as of ``Queue.daily``.
    begin : int
        A time in seconds.
    seconds : int
        Seconds, at least 0.

    Returns
    -------
    int or None
        A time in seconds; None if the calendars are never open at the same time.

    Examples
    --------
    >>> time_after_open([((60, 119),), ((90, 200),)], begin=0, seconds=10), time_after_open([], 7, 10)
    (100, 17)
    """
    closed = np.zeros(DAY, np.bool_)
    for windows in calendars:
        allowed = np.zeros(2 * DAY, np.bool_)
        for lo, hi in windows:
            allowed[lo : hi + 1] = True
        closed |= ~(allowed[:DAY] | allowed[DAY:])
    times = np.flatnonzero(~closed)
    if not len(times):
        return None
    before = int(np.searchsorted(times, begin % DAY))
    days, place = divmod(before + seconds, len(times))
    return (begin // DAY + days) * DAY + int(times[place])


@named
@with_short_repr
@hashable
@dataclass(frozen=True)
class Job:
    """A job of ``units`` equal units; each unit runs on one node, and all start together.

    A heterogeneous job has several chunks, which are groups of equal units; all of them start and end together. Make it
    by ``Job.of_chunks``.

    Parameters
    ----------
    id : str
        The name of the job.
    submit : int
        The submit time in seconds.
    walltime : int
        The duration that the user requested, in seconds.
    units : int
        The number of units, at least 1.
    request : mapping of str to int
        The amount of each resource that one unit needs.
    queue : str
        The name of its queue.
    earliest_start : int, optional
        The job does not start before this time in seconds. None: the submit time.
    deadline : int, optional
        The job must have ended by this time in seconds.
    windows : tuple of (int, int), optional
        Windows (lo, hi) in seconds, both ends included, in which the job may start. Empty: at any time.
    runtime : int, optional
        The actual duration in seconds, if known.
    user, name : str, optional
        The user and the name of the program; they are used to predict runtimes.
    power : float, optional
        The power of the whole job in watts, if known.
    latest_start : int, optional
        The time in seconds by which the job should have started. A later start is allowed: replays count such jobs, and
        dispatchers may plan with it.
    chunks : tuple of Chunk, optional
        All chunks of a heterogeneous job. ``units`` and ``request`` are then those of the first one. Empty: the job has
        equal units.
    array : str, optional
        The name of the job array that the job belongs to. The jobs of an array are independent of each other.

    Examples
    --------
    >>> Job("j1", submit=0, walltime=60, units=2, request={"cores": 8}, queue="debug", earliest_start=30).release
    30
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
    latest_start: int | None = None
    chunks: tuple[Chunk, ...] = ()
    array: str = ""

    @classmethod
    def of_chunks(
        cls,
        id: str,
        submit: int,
        walltime: int,
        chunks: Iterable[tuple[int, Mapping[str, int]]],
        queue: str,
        **others: Any,
    ) -> Self:
        """Make a heterogeneous job.

        Parameters
        ----------
        id, submit, walltime, queue
            As in ``Job``.
        chunks : iterable of (int, mapping of str to int)
            Units and request of each chunk, at least one. A job with one chunk is a job of equal units.
        **others
            Further fields of ``Job``, by name.

        Raises
        ------
        ProblemError
            If there is no chunk.

        Examples
        --------
        >>> job = Job.of_chunks("h", 0, 60, [(2, {"cores": 16, "gpus": 2}), (1, {"cores": 4})], "q")
        >>> [(part.id, part.units) for part in job.parts]
        [('h', 2), ('h+1', 1)]
        """
        pairs = tuple(chunks) if isinstance(chunks, Iterable) and not isinstance(chunks, str) else None
        if pairs is None or not all(isinstance(c, tuple | list) and len(c) == 2 for c in pairs):
            raise WrongArgument(f"chunks of job {id!r} is {chunks!r:.100}; a list of (units, request) is expected")
        listed = tuple(Chunk(*c) for c in pairs)
        if not listed:
            raise ProblemError(f"job {id!r} has no chunks; at least one (units, request) is expected")
        units, request = listed[0]
        return cls(
            id, submit, walltime, units, request, queue, chunks=listed if len(listed) > 1 else (), **others
        )  # fmt: skip

    @property
    def parts(self) -> tuple[Job, ...]:
        """The chunks as jobs of equal units, named ``id``, ``id+1``, ...; the job itself if it has one chunk."""
        if not self.chunks:
            return (self,)
        return tuple(
            replace(self, id=part_name(self.id, k), units=units, request=request, chunks=())
            for k, (units, request) in enumerate(self.chunks)
        )

    @property
    def release(self) -> int:
        """The earliest start in seconds, by the data of the job alone."""
        return self.submit if self.earliest_start is None else max(self.submit, self.earliest_start)


@named
@with_short_repr
@hashable
@dataclass(frozen=True)
class Running:
    """A job that is running. The chunks of a heterogeneous job (``Job.parts``) are running jobs of their own.

    Parameters
    ----------
    job : Job
        The job, without chunks.
    start : int
        Its start in seconds.
    nodes : mapping of str to int
        The number of its units on each node.
    end : int
        Its expected end in seconds.

    Examples
    --------
    >>> job = Job("j0", submit=0, walltime=60, units=2, request={"cores": 8}, queue="debug")
    >>> Running(job, start=10, nodes={"n-1": 2}, end=70).end
    70
    """

    job: Job
    start: int
    nodes: Mapping[str, int]
    end: int

    @property
    def true_end(self) -> int:
        """Its end in seconds by its runtime; the expected end if the runtime is not known."""
        return self.end if self.job.runtime is None else self.start + self.job.runtime
