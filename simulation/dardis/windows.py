"""When a job may start: number of responses, windows of the attempts, calendars [Bridi2018, 5.3.2, 5.3.6].

The attempts for a job with the window [earliest, latest]:

1. the window, within the desired profile;
2. the window, up to the capacity: the latest start is more important than the profile;
3. three windows of twice the length of the one before, each from its end on, each with both passes;
4. a window after the end of all jobs, as long as the first one, in which nodes return all their starts.

The thesis prints ``(latest - earliest) * 2`` for the end of the next window, which is its length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Windows = Sequence[tuple[int, int]]
DAY = 86400  # seconds
FAR = 400  # days for which calendars are followed


def number_of_responses(units: int, starts: int, nodes: int) -> int:
    """Return how many different starts each node must offer so that some start is offered by at least ``units`` nodes.

    By the pigeonhole principle: ``nodes * responses > (units - 1) * starts``. It holds if every node has at least this number of starts.
    The thesis has ``latest - earliest`` in the place of ``starts``, which is one too few: 13 nodes that return one of 13
    starts each may return 13 different ones.

    Parameters
    ----------
    units : int
        Number of nodes that must agree, at least 1.
    starts : int
        Number of starts in the window, both ends included.
    nodes : int
        Number of nodes, at least 1.

    Examples
    --------
    >>> number_of_responses(2, 13, 13), number_of_responses(2, 12, 13)
    (2, 1)
    """
    return (units - 1) * starts // nodes + 1


class Attempt(NamedTuple):
    """One attempt to place a job.

    Parameters
    ----------
    name : str
        ``"window"``, ``"later 1"``, ... or ``"last"``; followed by ``", no profile"`` where the profile is ignored.
    windows : ndarray of int64, shape (windows, 2)
        First and last start of each window, ascending.
    profile : bool
        Whether the desired profile holds.
    every : bool
        Whether nodes return all their starts.
    """

    name: str
    windows: Ints
    profile: bool
    every: bool

    @property
    def starts(self) -> int:
        """The number of starts in the windows."""
        return int((self.windows[:, 1] - self.windows[:, 0] + 1).sum())


def attempts(
    earliest: int,
    latest: int,
    now: int,
    end_of_all: Callable[[], int],
    calendar: Calendar,
    soft: bool,
    later: int = 3,
) -> Iterator[Attempt]:
    """Yield the attempts for a job in their order.

    Parameters
    ----------
    earliest, latest : int
        Its window in seconds.
    now : int
        The current time; no job starts before.
    end_of_all : callable
        Returns the end of the last reservation in seconds.
    calendar : Calendar
        When it may start.
    soft : bool
        Whether there is a profile, which some attempts ignore.
    later : int
        Number of further windows.
    """
    length = max(0, latest - earliest)
    for name, low, high in _windows(max(earliest, now), latest, length, end_of_all, later):
        every = name == "last"
        allowed = calendar.allowed(low, high)
        if every and not allowed:
            opening = calendar.next_opening(low)
            allowed = [] if opening is None else calendar.allowed(opening, opening + length)
        if allowed:
            found = np.array(allowed, np.int64)
            yield Attempt(name, found, True, every)
            if soft:
                yield Attempt(f"{name}, no profile", found, False, every)


def _windows(
    begin: int, latest: int, length: int, end_of_all: Callable[[], int], later: int
) -> Iterator[tuple[str, int, int]]:
    """Yield the name, the first and the last start of each window."""
    if begin <= latest:
        yield "window", begin, latest
    now, begin, lasting = begin, max(begin, latest), max(1, length)
    for k in range(1, later + 1):
        lasting *= 2
        yield f"later {k}", begin, begin + lasting
        begin += lasting
    end = max(end_of_all(), now)
    yield "last", end, end + length


class Calendar(NamedTuple):
    """When a job may start: in the daily windows of its queue and in its own windows; empty: at any time.

    Examples
    --------
    >>> Calendar(daily=((28800, 36000),)).allowed(0, 40000)
    [(28800, 36000)]
    """

    daily: Windows = ()
    own: Windows = ()

    def allowed(self, low: int, high: int) -> list[tuple[int, int]]:
        """Return the parts of the window from ``low`` to ``high`` in which the job may start, in ascending order."""
        found = [(low, high)]
        if self.daily:
            days = range(low // DAY - 1, high // DAY + 1)
            found = _common(found, ((d * DAY + a, d * DAY + b) for d in days for a, b in self.daily))
        return _common(found, self.own) if self.own else found

    def next_opening(self, low: int) -> int | None:
        """Return the first time from ``low`` on at which the job may start; None if there is none in the next 400 days."""
        found = self.allowed(low, low + FAR * DAY)
        return found[0][0] if found else None


def _common(found: Iterable[tuple[int, int]], windows: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the times that are in both, as windows in ascending order without overlaps."""
    listed = list(windows)
    pairs = sorted((max(a, c), min(b, d)) for a, b in found for c, d in listed if max(a, c) <= min(b, d))
    merged: list[tuple[int, int]] = []
    for a, b in pairs:
        if merged and a <= merged[-1][1] + 1:
            merged[-1] = merged[-1][0], max(b, merged[-1][1])
        else:
            merged.append((a, b))
    return merged
