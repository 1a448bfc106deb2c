"""Compilation of loops over flat arrays with numba, with the same options everywhere.

The module imports numba, which takes half a second: import it only where a compiled function is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

F = TypeVar("F", bound=Callable[..., object])


def compiled(function: F, counting: bool = True) -> F:
    """Compile a function with ``numba.njit``; cache it on disk if a directory for the cache is writable.

    numba renews a cached function if the text of its own file changes, but not if a function that it calls changes in
    another file. After editing such a function: ``rm -f */__pycache__/*.nbi``.

    Parameters
    ----------
    function : callable
        The function to compile.
    counting : bool, default True
        Whether the function counts references to arrays; see ``borrowing``.

    Returns
    -------
    callable
        The compiled function.
    """
    # _nrt is always given: a function without it would take the setting of its first caller
    options: dict[str, Any] = {"nogil": True, "_nrt": counting}
    try:
        return cast(F, njit(cache=True, **options)(function))
    except RuntimeError:  # no directory for the cache: compile in every process
        return cast(F, njit(**options)(function))


def borrowing(function: F) -> F:
    """Compile a function that creates and returns no array, without counting references to the arrays it gets.

    Counting costs 0.2 us per call for a state of two dozen arrays. The functions it calls may create arrays if it is
    called from compiled code only. It may be called from Python only if all functions that it calls are borrowing, too.
    """
    return compiled(function, counting=False)
