"""The time that a call may take: its limit and begin, and the check of it in long computations."""

from __future__ import annotations

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
    schedlab.models.deadline.OutOfTime: the time limit ended before the solver began
    """
    end = THIS_CALL.end
    if end is not None and time.perf_counter() + ahead > end:
        raise OutOfTime("the time limit ended before the solver began")
