"""A deadline that compiled kernels can see; it begins when the kernels of a search are compiled."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from functools import wraps
from inspect import signature
from types import TracebackType
from typing import ParamSpec, TypeVar

import numpy as np

from ..models.array_types import Ints
from ..models.compiled import progress_line
from ..models.kind import resolve
from ..models.long_calls import Deadline

# --- A deadline that compiled kernels can see.


class KernelStopped(Exception):
    """A kernel stopped at the time limit; its arrays are incomplete."""


def running() -> Ints:
    """Return a ``stop`` array (int64, shape (1,), value 0) for a kernel that has no time limit."""
    return np.zeros(1, np.int64)


class Clock:
    """A deadline for kernels: ``stop[0]`` changes from 0 to 1 when the time limit is reached.

    A thread writes the number. Kernels run without Python's global lock and read it at no cost, and numba can cache
    them on disk. It cannot cache a kernel into which the address of a system function is compiled.

    Parameters
    ----------
    deadline
        When the search must end; None: no limit, and the search begins now.

    Examples
    --------
    >>> with Clock(Deadline(0.01)) as clock:
    ...     while clock.stop[0] == 0:
    ...         pass
    ...     clock.over
    True
    """

    def __init__(self, deadline: Deadline | None = None) -> None:
        if deadline is None:
            self.deadline = Deadline()
        else:
            self.deadline = deadline
        self.stop = running()
        self._timer: threading.Timer | None = None

    @property
    def elapsed(self) -> float:
        """Seconds since the search began."""
        return self.deadline.elapsed

    @property
    def left(self) -> float:
        """Seconds until the limit: at least 0, infinite without a limit."""
        return self.deadline.at_most(math.inf)

    @property
    def over(self) -> bool:
        """Whether the limit has been reached."""
        return self.deadline.passed

    def reserve(self, seconds: float) -> None:
        """Move the limit forward by ``seconds``, which the caller needs for its work after the search."""
        if self.deadline.limit is not None and seconds > 0:
            self.deadline = self.deadline.earlier(seconds)
            if self._timer is not None:
                self._timer.cancel()
                self._begin()

    def __enter__(self) -> Clock:
        self._begin()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _begin(self) -> None:
        left = self.deadline.remaining
        if left is None:
            return
        if left == 0:
            self._finish()
        elif left < threading.TIMEOUT_MAX:
            self._timer = threading.Timer(left, self._finish)
            self._timer.daemon = True
            self._timer.start()

    def _finish(self) -> None:
        self.stop[0] = 1


# --- Searches that are called directly: their kernels are compiled before their time limit begins.

P = ParamSpec("P")
R = TypeVar("R")
LOCK = threading.RLock()  # a thread waits while another one compiles; a warm-up may call the search itself
_done: set[str] = set()


def compiled_first(place: str, for_problem: bool = False) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a search compile its kernels before a call with a time limit, as ``schedlab.solve`` does.

    Parameters
    ----------
    place : str
        The function that compiles them, "module:function" within ``schedlab.heuristics``; it is called once.
    for_problem : bool, default False
        Whether it takes the problem, the first argument of the search, and is called for each.
    """

    def decorate(search: Callable[P, R]) -> Callable[P, R]:
        parameters = signature(search)

        @wraps(search)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            given = parameters.bind_partial(*args, **kwargs).arguments
            if given.get("time_limit") is not None:
                _compile(f"{__package__}.{place}", *([next(iter(given.values()))] if for_problem else []))
            return search(*args, **kwargs)

        return call

    return decorate


def _compile(place: str, *problem: object) -> None:
    with LOCK:
        if place in _done and not problem:
            return
        _done.add(place)
        try:
            with progress_line():
                resolve(place)(*problem)
        except BaseException:
            _done.discard(place)
            raise
