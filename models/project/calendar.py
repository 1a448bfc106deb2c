"""Times of tasks that breaks suspend: when a task ends, and which windows a time lies in."""

from __future__ import annotations

from collections.abc import Iterable

Window = tuple[int, int]  # [begin, end)


def joined(windows: Iterable[Window]) -> tuple[Window, ...]:
    """Return windows in increasing order; those that overlap or touch are joined, empty ones are left out.

    Examples
    --------
    >>> joined([(12, 13), (5, 7), (7, 8)])
    ((5, 8), (12, 13))
    """
    made: list[Window] = []
    for begin, end in sorted(windows):
        if begin >= end:
            continue
        if made and begin <= made[-1][1]:
            made[-1] = (made[-1][0], max(end, made[-1][1]))
        else:
            made.append((begin, end))
    return tuple(made)


def suspended_end(start: int, duration: int, windows: Iterable[Window]) -> int:
    """Return the end of a task that does not work within windows; these are in increasing order, without overlap.

    Examples
    --------
    >>> suspended_end(3, 4, [(5, 8), (12, 13)]), suspended_end(3, 2, [(5, 8)])
    (10, 5)
    """
    end = start + duration
    for begin, over in windows:
        if begin >= end:
            break
        if over > start:
            end += over - max(begin, start)
    return end
