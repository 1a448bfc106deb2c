"""Dispatchers of compiled functions, with our own cache and linker: for the versions of numba whose private interfaces are known."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from llvmlite.binding import ffi
from numba.core import types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.event import register
from numba.core.registry import CPUDispatcher

from ...errors import WrongArgument
from .cache import Needed, SharedCache, source_stamp
from .kinds import Kind
from .libraries import EntryCompiler, LinkedCompiler, LinkedParts, NativeCompiler, VectorizedCompiler


@contextlib.contextmanager
def _untimed() -> Iterator[None]:
    """Switch off numba's measurement of the time in LLVM, which takes longer than most of the calls."""
    measured = ffi.lib._lock._cblist
    kept = measured[:]
    measured.clear()
    try:
        yield
    finally:
        measured[:] = kept


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Switch the garbage collector off: it would go through millions of numba's objects, and find nothing to delete."""
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()


class Kernel(CPUDispatcher):
    """A compiled function with one version for constants and variables of the same type."""

    def enable_caching(self) -> None:
        """Cache the compiled function on disk."""
        self._cache = SharedCache(self.py_func)  # type: ignore[no-untyped-call]

    def compile(self, sig: Any) -> Any:
        """Load the version for a signature from the cache, or compile it."""
        with global_compiler_lock, _no_collection(), _untimed():
            try:
                return super().compile(sig)
            finally:
                if isinstance(self._cache, SharedCache):
                    self._cache.release()

    def add_overload(self, cres: Any) -> None:
        """Add a version that was compiled or loaded; numba forgets ``_reload_init`` of a loaded one."""
        cres.library._reload_init.update(cres.reload_init)
        super().add_overload(cres)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return numba's template of a call from compiled code."""
        plain: Callable[[Any], Any] = types.unliteral
        named = {name: plain(kind) for name, kind in dict(kws).items()}
        return super().get_call_template(tuple(plain(kind) for kind in args), named)


class Vectorized(Kernel):
    """A compiled function with all of numba's optimizations."""


class Internal(Kernel):
    """A compiled function without a wrapper for calls from Python."""

    def __call__(self, *args: object) -> NoReturn:
        """Raise WrongArgument: the function is not for Python."""
        raise WrongArgument(f"{self.py_func.__qualname__} can be called from compiled functions only")


class Native(Internal):
    """A compiled function that is called, not linked into its callers."""

    def add_overload(self, cres: Any) -> None:
        """Add a version; its library knows how callers load it."""
        cres.library.needed = Needed(
            self.py_func.__module__, self.py_func.__qualname__, tuple(cres.signature.args), cres.fndesc.mangled_name
        )
        super().add_overload(cres)


register("numba:compile", LinkedParts(lambda function: isinstance(function, Kernel)))  # type: ignore[no-untyped-call]

CLASSES: dict[Kind, tuple[type[Kernel], type[EntryCompiler]]] = {
    Kind.ENTRY: (Kernel, EntryCompiler),
    Kind.VECTORIZED: (Vectorized, VectorizedCompiler),
    Kind.INTERNAL: (Internal, LinkedCompiler),
    Kind.NATIVE: (Native, NativeCompiler),
}


def make_kernel(function: Callable[..., object], counting: bool, kind: Kind) -> Any:
    """Return a dispatcher of a function; see ``models.compiled``."""
    # _nrt is always given: a function without it would take the setting of its first caller
    options: dict[str, Any] = {"nopython": True, "nogil": True, "_nrt": counting, "no_cfunc_wrapper": True}
    dispatcher, compiler = CLASSES[kind]
    if issubclass(dispatcher, Internal):
        options["no_cpython_wrapper"] = True
    source_stamp(function.__module__)  # the text that was imported, not what the file has when the function is compiled
    kernel = dispatcher(function, targetoptions=options, pipeline_class=compiler)
    with contextlib.suppress(RuntimeError):  # no directory for the cache: compile in every process
        kernel.enable_caching()
    return kernel


def is_kernel(dispatcher: object) -> bool:
    """Return whether a function that numba compiles is one of ours."""
    return isinstance(dispatcher, Kernel)
