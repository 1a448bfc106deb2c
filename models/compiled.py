"""How the loops over flat arrays are compiled, in every room alike. Imports numba: import it where it is needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

F = TypeVar("F", bound=Callable[..., object])


def compiled(function: F, counting: bool = True) -> F:
    """``numba.njit``, cached on disk where a directory for it can be written.

    numba renews a cached function when the text of its own file changes, not when a function does that it calls: after
    editing a kernel, ``rm -f */__pycache__/*.nbi``.
    """
    # said in either case: a function that leaves it open takes it over from whoever calls it first
    options: dict[str, Any] = {"nogil": True, "_nrt": counting}
    try:
        return cast(F, njit(cache=True, **options)(function))
    except RuntimeError:  # no place for the cache: compile in every process
        return cast(F, njit(**options)(function))


def borrowing(function: F) -> F:
    """``compiled``, for a function that makes and returns no array: it counts no references to those that it is given.

    Counting them costs 0.2 us a call where a state of two dozen arrays is handed on. What it calls may make arrays if it is
    itself called from compiled code alone; Python may call it only if all that it calls is borrowing, too.
    """
    return compiled(function, counting=False)
