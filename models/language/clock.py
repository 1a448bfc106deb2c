"""The time limit of a call that builds or lowers a model; long computations check it between their steps."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from ..deadline import Deadline


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
    schedlab.models.language.clock.OutOfTime: the time limit ended before the solver began
    """
    end = THIS_CALL.end
    if end is not None and time.perf_counter() + ahead > end:
        raise OutOfTime("the time limit ended before the solver began")
