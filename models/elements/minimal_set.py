"""A minimal subset of elements that have no solution together: the algorithm QuickXplain [Junker2004]."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def minimal_set(
    elements: Sequence[T], refuted: Callable[[Sequence[T]], bool], on_smaller: Callable[[Sequence[T]], None]
) -> list[T]:
    """Return a subset without a solution; no element of it can be removed as far as ``refuted`` can prove it.

    With n elements and a subset of k it calls ``refuted`` about ``k * log2(n / k)`` times.

    Parameters
    ----------
    elements : sequence
        Elements that have no solution together. The first ones are preferred in the subset.
    refuted : callable
        Returns whether some of the elements are proven to have no solution. It may fail to prove it; the subset is then
        larger, but still has no solution.
    on_smaller : callable
        Called with each subset that has no solution, so that a search that is interrupted has an answer.

    Returns
    -------
    list

    Examples
    --------
    >>> minimal_set(range(10), lambda some: {3, 7} <= set(some), lambda some: None)
    [3, 7]
    """

    def needed(others: list[T], doubtful: Sequence[T], changed: bool) -> list[T]:
        """Return the part of ``doubtful`` that has no solution together with ``others``."""
        if changed and refuted(others):
            on_smaller(others)
            return []
        if len(doubtful) == 1:
            return list(doubtful)
        middle = (len(doubtful) + 1) // 2
        first, second = doubtful[:middle], doubtful[middle:]
        of_second = needed([*others, *first], second, True)
        on_smaller([*others, *first, *of_second])
        of_first = needed([*others, *of_second], first, bool(of_second))
        return [*of_first, *of_second]

    return needed([], list(elements), False) if elements else []
