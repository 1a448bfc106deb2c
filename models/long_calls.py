"""Calls that take long: their deadline, which long computations check, and the garbage collector kept away from them."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Deadline:
    """A limit on the wall time of a call, counted from the begin of the call.

    Parameters
    ----------
    limit : float or None
        Seconds; None: no limit.
    began : float
        Reading of ``time.perf_counter`` when the call began, in seconds; the default is now.

    Examples
    --------
    >>> Deadline(5, began=time.perf_counter() - 6).passed
    True
    >>> Deadline().remaining, Deadline().at_most(10)
    (None, 10)
    """

    limit: float | None = None
    began: float = field(default_factory=time.perf_counter)

    @classmethod
    def until(cls, end: float | None) -> Deadline:
        """Return the deadline of a call that begins now and must end at a reading of ``time.perf_counter`` (None: no limit)."""
        now = time.perf_counter()
        return cls(None if end is None else end - now, now)

    @property
    def end(self) -> float | None:
        """Reading of ``time.perf_counter`` at the limit, in seconds; None: no limit."""
        if self.limit is None:
            return None
        return self.began + self.limit

    @property
    def elapsed(self) -> float:
        """Seconds since the call began."""
        return time.perf_counter() - self.began

    @property
    def remaining(self) -> float | None:
        """Seconds until the limit, at least 0; None: no limit."""
        if self.limit is None:
            return None
        return max(0.0, self.limit - self.elapsed)

    @property
    def passed(self) -> bool:
        """Whether the limit has been reached."""
        return self.limit is not None and self.elapsed >= self.limit

    def at_most(self, seconds: float) -> float:
        """Return the seconds until the limit, at least 0 and at most ``seconds``."""
        left = self.remaining
        if left is None:
            return seconds
        return min(seconds, left)

    def share(self, part: float) -> Deadline:
        """Return the deadline with the same begin and a part, such as 0.9, of the limit."""
        if self.limit is None:
            return self
        return Deadline(part * self.limit, self.began)

    def earlier(self, seconds: float) -> Deadline:
        """Return the deadline with the same begin and a limit that is ``seconds`` shorter."""
        if self.limit is None:
            return self
        return Deadline(self.limit - seconds, self.began)


# --- The time limit of a call that builds or lowers a model; long computations check it between their steps.


class _Call(threading.local):
    """The end of the current call in this thread; a class attribute, as a missing attribute costs 2 us."""

    end: float | None = None


THIS_CALL = _Call()


class OutOfTime(Exception):
    """The time limit was reached while a model was built or lowered."""


@contextmanager
def within(deadline: Deadline) -> Iterator[None]:
    """Set the deadline that ``look`` checks in this thread while the block runs."""
    before = THIS_CALL.end
    THIS_CALL.end = deadline.end
    try:
        yield
    finally:
        THIS_CALL.end = before


def look(ahead: float = 0.0) -> None:
    """Raise OutOfTime if a step of ``ahead`` seconds would end after the deadline of this thread.

    Examples
    --------
    >>> with within(Deadline(5)):
    ...     look()
    ...     look(ahead=9)
    Traceback (most recent call last):
    ...
    schedlab.models.long_calls.OutOfTime: the time limit ended before the solver began
    """
    end = THIS_CALL.end
    if end is not None and time.perf_counter() + ahead > end:
        raise OutOfTime("the time limit ended before the solver began")


# --- Python's garbage collector, kept away from the millions of objects of a large model, which all stay in use.

MANY_OBJECTS = 100_000  # an examination of fewer takes some milliseconds


@contextmanager
def uncollected() -> Iterator[None]:
    """Switch the garbage collector off while a model is built, lowered or compiled.

    The lowering of 1,000 jobs has millions of objects, all in use. To examine them again and again takes up to half of
    the time. The new objects count as old ones at the end: to examine them at once, as the collector otherwise would,
    stops all threads for a second or more.

    Examples
    --------
    >>> with uncollected():
    ...     gc.isenabled()
    False
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            if gc.get_count()[0] > MANY_OBJECTS and not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()  # into the oldest generation
            gc.enable()


@contextmanager
def unexamined(size: int) -> Iterator[None]:
    """Keep the garbage collector from the objects that exist now, while a solver runs.

    ``size`` is the number of variables and constraints: for a small model nothing is done. A program that has frozen its own objects (``gc.freeze``) keeps them as they are.

    Examples
    --------
    >>> with unexamined(1_000_000):
    ...     gc.get_freeze_count() > 0
    True
    """
    if 10 * size < MANY_OBJECTS or gc.get_freeze_count():
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
