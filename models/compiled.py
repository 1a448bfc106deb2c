"""Compilation of loops over flat arrays with numba, with the same options everywhere.

The module imports numba, which takes half a second: import it only where a compiled function is needed.

Compiling takes time once after an installation. What costs most of it, and how to avoid it:

- the wrapper for calls from Python: 0.3 s for arguments of 50 arrays. Mark functions that only compiled functions call as
  ``internal``;
- one version per type of arguments: do not call a function with and without None. Constants are no problem:
  ``_Kernel`` compiles one version for ``f(0)`` and ``f(x)``;
- tuples of arrays: each array is seven arguments of a compiled function. Mark the class as ``by_address``
  (``heuristics.kernels``), which takes a fifth of the time off a large kernel;
- one entry for each use: all that a function calls is optimized and translated to machine code again for each function
  that Python calls, and only there. Give similar uses one entry, with more arguments, or mark a large function that
  several entries call, or one entry in several places, as ``native``;
- NumPy functions: a slice assignment compiles the text of its error message, ``np.sort`` a sort per type. Prepare arrays
  in Python, and write loops.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any, TypeVar, cast

from numba import typeof
from numba.core.event import Listener, install_listener

from ..errors import WrongArgument
from .compiling.plain import Kind, say_once, use_own_linker

if use_own_linker():
    from .compiling.cache import is_kernel, make_kernel
else:
    from .compiling.plain import is_kernel, make_kernel

F = TypeVar("F", bound=Callable[..., object])
OnCompile = Callable[[int], object]  # on_compile(number): the n-th function that is not in the cache is being compiled


class _Count(Listener):
    """Counts the functions that are compiled, without those of numba."""

    def __init__(self, on_compile: OnCompile) -> None:
        self.number, self.on_compile = 0, on_compile

    def on_start(self, event: Any) -> None:
        """Count a function that begins to be compiled."""
        if is_kernel(event.data["dispatcher"]):
            self.number += 1
            self.on_compile(self.number)

    def on_end(self, event: Any) -> None:
        """Do nothing at the end of a function."""


@contextlib.contextmanager
def watching(on_compile: OnCompile) -> Iterator[None]:
    """Call ``on_compile`` with 1, 2, 3, ... when a function is compiled inside this context; not if it is in the cache."""
    with install_listener("numba:compile", _Count(on_compile)):
        yield


def _log_once(number: int) -> None:
    """Write one line on the logger ``schedlab`` when the first function of a command is compiled."""
    say_once("compiling", "compiling kernels, once after the installation; this takes 5 to 60 s (docs/installation.md)")


@contextlib.contextmanager
def progress_line() -> Iterator[None]:
    """Say that functions are compiled inside this context: on a terminal (standard error) how many, else once on the logger."""
    if not sys.stderr.isatty():
        with watching(_log_once):
            yield
        return
    shown = False

    def show(number: int) -> None:
        nonlocal shown
        shown = True
        print(f"\rcompiling kernels (once after installation): {number}", end="", file=sys.stderr, flush=True)

    try:
        with watching(show):
            yield
    finally:
        if shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def compiled(function: F, counting: bool = True, kind: Kind = Kind.ENTRY) -> F:
    """Compile a function with numba at its first call; cache it on disk if a directory for the cache is writable.

    A cached function is compiled anew if its file changes, or the file of a function that it calls. It is not if only
    a constant or a class changes in a file without such functions: then ``rm -f */__pycache__/*.nbi``.

    Parameters
    ----------
    function : callable
        The function to compile.
    counting : bool, default True
        Whether the function counts references to arrays; see ``borrowing``.
    kind : Kind
        Who calls the function, and how; see ``internal`` and ``native``.

    Returns
    -------
    callable
        The compiled function.
    """
    return cast(F, make_kernel(function, counting, kind))


def compile_for(function: Callable[..., object], *arguments: object) -> None:
    """Compile a function of any kind for arguments of these types, or load it from the cache, without calling it."""
    cast(Any, function).compile(tuple(typeof(argument) for argument in arguments))  # type: ignore[no-untyped-call]


def borrowing(function: F) -> F:
    """Compile a function that creates and returns no array, without counting references to the arrays it gets.

    Counting costs 0.2 us per call for a state of two dozen arrays. The functions it calls may create arrays if it is
    called from compiled code only. It may be called from Python only if all functions that it calls are borrowing, too.
    """
    return compiled(function, counting=False)


def internal(function: F) -> F:
    """Compile a function that only compiled functions call; calls from Python raise TypeError."""
    return compiled(function, kind=Kind.INTERNAL)


def native(function: F) -> F:
    """Compile a function that only compiled functions call, once for all of them.

    It is neither inlined nor linked into its callers; a call takes some 20 ns more.
    """
    if "<locals>" in function.__qualname__:
        raise WrongArgument(f"{function.__qualname__} is a local function; native functions are those of a module")
    return compiled(function, kind=Kind.NATIVE)


def vectorized(function: F) -> F:
    """Compile a function that spends its time in simple loops over whole arrays, with all of numba's optimizations.

    The cheaper ones of the other kinds keep LLVM from vectorizing loops with several choices of a minimum. The functions
    that contain the loops are marked, and may not call ``native`` functions.
    """
    return compiled(function, kind=Kind.VECTORIZED)


def internal_borrowing(function: F) -> F:
    """Compile a function that is ``internal`` and ``borrowing``."""
    return compiled(function, counting=False, kind=Kind.INTERNAL)
