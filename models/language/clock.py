"""The time limit of the call in which a model is built or lowered: long work looks at it between its steps."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


class _Call(threading.local):
    """The call of this thread; the default is on the class, as a missing attribute costs 2 us."""

    deadline: float | None = None


_call = _Call()


class OutOfTime(Exception):
    """The time limit ended while a model was built or lowered."""


@contextmanager
def within(deadline: float | None) -> Iterator[None]:
    """What is done in this thread meanwhile ends at the deadline (of ``time.perf_counter``), where it looks at it."""
    before = _call.deadline
    _call.deadline = deadline
    try:
        yield
    finally:
        _call.deadline = before


def look(ahead: float = 0.0) -> None:
    """Raise OutOfTime if a step of so many seconds would end after the deadline, if there is one.

    >>> with within(time.perf_counter() + 5):
    ...     look()
    ...     look(ahead=9)
    Traceback (most recent call last):
    ...
    schedlab.models.language.clock.OutOfTime: the time limit ended before the solver began
    """
    deadline = _call.deadline
    if deadline is not None and time.perf_counter() + ahead > deadline:
        raise OutOfTime("the time limit ended before the solver began")
