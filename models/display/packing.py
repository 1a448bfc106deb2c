"""Tasks as rectangles on the units of a resource."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

Span = tuple[int, int]


class Piece(NamedTuple):
    """A rectangle of a task (given by its index): from ``start`` to ``end``, from unit ``low`` to unit ``high``."""

    task: int
    start: int
    end: int
    low: int
    high: int


def pack(use: Iterable[tuple[int, int, int, int]], capacity: int) -> Iterator[Piece]:
    """Yield the rectangles of tasks (index, start, end, demand) on the units of a resource; none of them overlap.

    A task gets the lowest free units in a row; if none are enough, the lowest free units.

    Examples
    --------
    >>> list(pack([(0, 0, 4, 2), (1, 0, 2, 1), (2, 2, 5, 1)], 3))[2]
    Piece(task=2, start=2, end=5, low=0, high=1)
    """
    free: list[Span] = [(0, capacity)]
    active: list[tuple[int, list[Span]]] = []  # (end, units) of the tasks that run
    for task, start, end, demand in sorted(use, key=lambda row: (row[1], row[2], row[0])):
        over = [spans for until, spans in active if until <= start]
        active = [entry for entry in active if entry[0] > start]
        free = _merged([*free, *(span for spans in over for span in spans)])
        taken, free = _take(free, demand)
        active.append((end, taken))
        for low, high in taken:
            yield Piece(task, start, end, low, high)


def _merged(spans: Sequence[Span]) -> list[Span]:
    found: list[Span] = []
    for low, high in sorted(spans):
        if found and found[-1][1] == low:
            found[-1] = (found[-1][0], high)
        else:
            found.append((low, high))
    return found


def _take(free: Sequence[Span], demand: int) -> tuple[list[Span], list[Span]]:
    """Return the units that a task gets, and the units that are still free."""
    whole = next(((low, high) for low, high in free if high - low >= demand), None)
    taken: list[Span] = []
    left: list[Span] = []
    for low, high in free:
        wanted = demand if whole is None or whole == (low, high) else 0
        cut = min(high, low + wanted)
        demand -= cut - low
        taken += [(low, cut)] if cut > low else []
        left += [(cut, high)] if high > cut else []
    return taken, left
