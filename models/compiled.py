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
  that Python calls, and only there. Give similar uses one entry, with more arguments;
- NumPy functions: a slice assignment compiles the text of its error message, ``np.sort`` a sort per type. Prepare arrays
  in Python, and write loops.
"""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NoReturn, TypeVar, cast

from llvmlite import binding as llvm
from numba.core import types
from numba.core.caching import FunctionCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, Flags
from numba.core.compiler_lock import global_compiler_lock
from numba.core.event import Listener, install_listener
from numba.core.registry import CPUDispatcher

from ..errors import WrongArgument

with warnings.catch_warnings():  # without flock, filelock warns that a lock is then a file with the id of its process
    warnings.simplefilter("ignore")
    from filelock import FileLock

F = TypeVar("F", bound=Callable[..., object])
ENVIRONMENT = "_ZN08NumbaEnv"  # prefix of the globals in which numba keeps the constants of functions
PATIENCE = 120.0  # seconds to wait for a process that compiles
OnCompile = Callable[[int], object]  # on_compile(number): the n-th function that is not in the cache is being compiled


class _Count(Listener):
    """Counts the functions that are compiled, without those of numba."""

    def __init__(self, on_compile: OnCompile) -> None:
        self.number, self.on_compile = 0, on_compile

    def on_start(self, event: Any) -> None:
        """Count a function that begins to be compiled."""
        if isinstance(event.data["dispatcher"], _Kernel):
            self.number += 1
            self.on_compile(self.number)

    def on_end(self, event: Any) -> None:
        """Do nothing at the end of a function."""


@contextlib.contextmanager
def watching(on_compile: OnCompile) -> Iterator[None]:
    """Call ``on_compile`` with 1, 2, 3, ... when a function is compiled inside this context; not if it is in the cache."""
    with install_listener("numba:compile", _Count(on_compile)):
        yield


@contextlib.contextmanager
def progress_line() -> Iterator[None]:
    """Show on a terminal (standard error) how many functions have been compiled inside this context."""
    if not sys.stderr.isatty():
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


class _SharedCache(FunctionCache):
    """numba's cache of one function; of several processes that need the function, one compiles it, the others wait."""

    held = 0  # how often this function holds the lock

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled version for a signature; None, with the lock held, if there is none."""
        found = super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        if found is not None or not self._take_lock():
            return found
        # another process may have compiled it in the meantime
        found = super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        if found is not None:
            self.release()
        return found

    def _take_lock(self) -> bool:
        try:
            Path(self.cache_path).mkdir(parents=True, exist_ok=True)
            _lock().acquire(timeout=PATIENCE)
        except (OSError, NotImplementedError):  # no lock here, or for too long: every process compiles for itself
            return False
        self.held += 1
        return True

    def release(self) -> None:
        """Release the lock as often as this function has taken it."""
        while self.held:
            self.held -= 1
            _lock().release()


@cache
def _lock() -> FileLock:
    """Return the lock of all compiled functions, in numba's cache folder of this file; it can be taken repeatedly."""
    folder = Path(FunctionCache(watching).cache_path)  # type: ignore[no-untyped-call]
    folder.mkdir(parents=True, exist_ok=True)
    return FileLock(folder / f"compiling.{FileLock.__name__}")  # locks with and without flock do not see each other


class _Kernel(CPUDispatcher):
    """A compiled function with one version for constants and variables of the same type."""

    def enable_caching(self) -> None:
        """Cache the compiled function on disk."""
        self._cache = _SharedCache(self.py_func)  # type: ignore[no-untyped-call]

    def compile(self, sig: Any) -> Any:
        """Load the version for a signature from the cache, or compile it."""
        with global_compiler_lock:
            try:
                return super().compile(sig)
            finally:
                if isinstance(self._cache, _SharedCache):
                    self._cache.release()

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return numba's template of a call from compiled code."""
        plain: Callable[[Any], Any] = types.unliteral
        named = {name: plain(kind) for name, kind in dict(kws).items()}
        return super().get_call_template(tuple(plain(kind) for kind in args), named)


class _Flags(Flags):
    """Compiler options that are compared quickly: numba compares the options of its caches ten thousands of times."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return type(other) is _Flags and bool(self._values == other._values)

    def __hash__(self) -> int:
        return id(_Flags)


class _EntryLibrary(JITCodeLibrary):
    """The code of a function that is called from Python, and of its wrapper.

    They are kept apart: in the function, the memory to which an address points is constant (``by_address``); the
    wrapper writes it.
    """

    def add_ir_module(self, ir_module: Any) -> None:
        """Add functions that are not inlined."""
        for function in ir_module.functions:
            if not function.is_declaration:
                function.attributes.add("noinline")
        super().add_ir_module(ir_module)  # type: ignore[no-untyped-call]


class _LinkedLibrary(JITCodeLibrary):
    """The code of an ``internal`` function: linked into its callers, and optimized and translated only there."""

    def _optimize_final_module(self) -> None:
        """Leave the optimization to the callers."""

    def _finalize_final_module(self) -> None:
        """Keep the code for callers; only the environments of the functions are translated."""
        self._finalize_dynamic_globals()  # type: ignore[no-untyped-call]
        self._finalized = True
        self._get_module_for_linking()  # type: ignore[no-untyped-call]
        names = [g.name for g in self._final_module.global_variables if g.name.startswith(ENVIRONMENT)]
        self._final_module = llvm.parse_assembly("\n".join(f'@"{name}" = common global i64 0' for name in names))
        super()._finalize_final_module()  # type: ignore[no-untyped-call]


class _EntryCompiler(Compiler):
    """Compiles functions that are called from Python."""

    library: Callable[[Any, str], JITCodeLibrary] = _EntryLibrary

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)  # type: ignore[no-untyped-call]
        self.state.flags = _Flags(self.state.flags)  # type: ignore[no-untyped-call]

    def define_pipelines(self) -> Any:
        """Return numba's passes, with a library of our own."""
        self.state.library = self.library(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        self.state.library.enable_object_caching()
        return super().define_pipelines()  # type: ignore[no-untyped-call]


class _LinkedCompiler(_EntryCompiler):
    """Compiles ``internal`` functions."""

    library = _LinkedLibrary


class _Internal(_Kernel):
    """A compiled function without a wrapper for calls from Python."""

    def __call__(self, *args: object) -> NoReturn:
        raise WrongArgument(f"{self.py_func.__qualname__} can be called from compiled functions only")


def compiled(function: F, counting: bool = True, internally: bool = False) -> F:
    """Compile a function with numba at its first call; cache it on disk if a directory for the cache is writable.

    numba renews a cached function if the text of its own file changes, but not if a function that it calls changes in
    another file. After editing such a function: ``rm -f */__pycache__/*.nbi``.

    Parameters
    ----------
    function : callable
        The function to compile.
    counting : bool, default True
        Whether the function counts references to arrays; see ``borrowing``.
    internally : bool, default False
        Whether only compiled functions call it; see ``internal``.

    Returns
    -------
    callable
        The compiled function.
    """
    # _nrt is always given: a function without it would take the setting of its first caller
    options: dict[str, Any] = {"nopython": True, "nogil": True, "_nrt": counting, "no_cfunc_wrapper": True}
    if internally:
        options["no_cpython_wrapper"] = True
    kind, compiler = (_Internal, _LinkedCompiler) if internally else (_Kernel, _EntryCompiler)
    found = kind(function, targetoptions=options, pipeline_class=compiler)
    with contextlib.suppress(RuntimeError):  # no directory for the cache: compile in every process
        found.enable_caching()
    return cast(F, found)


def borrowing(function: F) -> F:
    """Compile a function that creates and returns no array, without counting references to the arrays it gets.

    Counting costs 0.2 us per call for a state of two dozen arrays. The functions it calls may create arrays if it is
    called from compiled code only. It may be called from Python only if all functions that it calls are borrowing, too.
    """
    return compiled(function, counting=False)


def internal(function: F) -> F:
    """Compile a function that only compiled functions call; calls from Python raise TypeError."""
    return compiled(function, internally=True)


def internal_borrowing(function: F) -> F:
    """Compile a function that is ``internal`` and ``borrowing``."""
    return compiled(function, counting=False, internally=True)
