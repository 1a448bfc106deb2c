"""How the loops over flat arrays are compiled, in every room alike. Imports numba: import it where it is needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

from numba import njit

F = TypeVar("F", bound=Callable[..., object])


def compiled(function: F) -> F:
    """``numba.njit``, cached on disk where a directory for it can be written.

    numba renews a cached function when its own file changes, not when one does that it calls: after editing a kernel,
    ``touch heuristics/*.py dispatch/*.py``.
    """
    try:
        return cast(F, njit(cache=True, nogil=True)(function))
    except RuntimeError:  # no place for the cache: compile in every process
        return cast(F, njit(nogil=True)(function))
