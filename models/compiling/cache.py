"""Compiled functions on disk: processes share the work, and a function is renewed when code that it contains changes."""

from __future__ import annotations

import contextlib
import inspect
import sys
import warnings
from functools import cache
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from llvmlite.binding import address_of_symbol
from numba.core.caching import CompileResultCacheImpl, FunctionCache, InTreeCacheLocator
from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.runtime.nrt import rtsys

from .prebuilt import installed

with warnings.catch_warnings():  # without flock, filelock warns that a lock is then a file with the id of its process
    warnings.simplefilter("ignore")
    from filelock import FileLock

PATIENCE = 120.0  # seconds to wait for a process that compiles
FORMAT = "external symbols"  # part of the keys: earlier entries do not say which symbols they use


class Outdated(Exception):
    """A function in the cache was compiled with other code than that of now."""


@cache
def source_stamp(module: str) -> str:
    """Return a hash of the source file of an imported module; empty if it has none."""
    file = getattr(sys.modules.get(module), "__file__", None)
    return sha256(Path(file).read_bytes()).hexdigest() if file and Path(file).is_file() else ""


def _module(name: str) -> ModuleType | None:
    """Return a module, which is imported if it is not yet; None if that fails."""
    try:
        return import_module(name)
    except ImportError:
        return None


class Source(NamedTuple):
    """Called before a function is loaded from the cache: the file of a function whose code it contains is unchanged."""

    module: str
    stamp: str

    def __call__(self) -> None:
        """Raise Outdated if the file has changed or cannot be found."""
        if _module(self.module) is None or source_stamp(self.module) != self.stamp:
            raise Outdated


class Needed(NamedTuple):
    """Called before a function is loaded from the cache: loads a ``native`` function that it calls by this symbol."""

    module: str
    name: str
    args: tuple[Any, ...]
    symbol: str

    def __call__(self) -> None:
        """Load or compile the function. Raises Outdated if it does not have this symbol."""
        function = getattr(_module(self.module), self.name, None)
        if not isinstance(function, CPUDispatcher):
            raise Outdated
        function.compile(self.args)
        compiled: Any = function.overloads[self.args]
        if compiled.fndesc.mangled_name != self.symbol:
            raise Outdated


class External(NamedTuple):
    """Called before a function is loaded from the cache: the symbols that its machine code uses are there.

    To load functions, numba imports all that it may need to compile: a third of a second, SciPy included. Our functions
    seldom use any of it.
    """

    symbols: tuple[str, ...]

    def __call__(self) -> None:
        """Import what numba needs to compile, if a symbol is missing."""
        context: Any = cpu_target.target_context
        defined = context.codegen()._engine.is_symbol_defined
        if not all(defined(name) or address_of_symbol(name) for name in self.symbols):
            context.refresh()

    @classmethod
    def of(cls, library: Any) -> External:
        """Return the symbols that the machine code of a library uses and does not define."""
        module = library._final_module
        names = {g.name for g in (*module.functions, *module.global_variables) if g.is_declaration}
        return cls(tuple(sorted(name for name in names if not name.startswith("llvm."))))


class _Beside(InTreeCacheLocator):
    """The ``__pycache__`` beside a module, also where nothing can be written: what is there is loaded."""

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> _Beside | None:
        """Return the folder of a function that is in a file."""
        return cls(py_func, py_file) if Path(py_file).is_file() else None


class _Places(CompileResultCacheImpl):
    """numba's places for a cache, and the last one where none of them can be written."""

    _locator_classes = [*CompileResultCacheImpl._locator_classes, _Beside]  # noqa: RUF012 as in numba


class SharedCache(FunctionCache):
    """numba's cache of one function; of several processes that need the function, one compiles it, the others wait.

    What the installed wheel contains is loaded from there (``prebuilt``).

    Each function has a lock of its own, so that processes which need the same functions compile different ones at once.
    A process holds the locks of the function that it compiles and of its callers, and waits for the lock of a function
    that these call. So two processes never wait for each other, except for functions that call each other: they
    wait for ``PATIENCE`` seconds, then each compiles for itself.
    """

    _impl_class = _Places
    held = 0  # how often this function holds its lock

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled version for a signature; None, with the lock held, if there is none."""
        found = self._loaded(sig, target_context)
        if found is not None or not self._take_lock():
            return found
        # another process may have compiled it in the meantime
        found = self._loaded(sig, target_context)
        if found is not None:
            self.release()
        return found

    def _loaded(self, sig: Any, target_context: Any) -> Any:
        rtsys.initialize(target_context)
        for load in (self._prebuilt, self._cached):
            with contextlib.suppress(Outdated, AttributeError, ImportError):  # names in a cache that no longer exist
                found = load(sig, target_context)
                if found is not None:
                    return found
        return None

    def _prebuilt(self, sig: Any, target_context: Any) -> Any:
        """Return the version for a signature from the machine code of the installed wheel; None if it is not there."""
        code: Any = installed()
        if code is None:
            return None
        stamp = self._impl.locator.get_source_stamp()
        file = code.file_of(Path(inspect.getfile(self._py_func)), self._impl.filename_base, stamp)
        key: Any = self._index_key(sig, code)
        data = None if file is None else file.load(key)
        return None if data is None else self._impl.rebuild(target_context, data)

    def _cached(self, sig: Any, target_context: Any) -> Any:
        """Return the version for a signature from the cache; None if it is not there."""
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)  # type: ignore[no-untyped-call]

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save a compiled version; where nothing can be written, every process compiles for itself."""
        checks = [check for check in data.reload_init if not isinstance(check, External)]  # those of called functions
        data = data._replace(reload_init=[*checks, External.of(data.library)])
        with contextlib.suppress(OSError):
            try:
                super().save_overload(sig, data)  # type: ignore[no-untyped-call]
            except (AttributeError, ImportError):  # the index has names that no longer exist: it is begun anew
                self.flush()  # type: ignore[no-untyped-call]
                super().save_overload(sig, data)  # type: ignore[no-untyped-call]

    def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        return (*super()._index_key(sig, codegen), FORMAT)  # type: ignore[no-untyped-call]

    def _take_lock(self) -> bool:
        try:
            Path(self.cache_path).mkdir(parents=True, exist_ok=True)
            self._lock().acquire(timeout=PATIENCE)
        except (OSError, NotImplementedError):  # no lock here, or for too long: every process compiles for itself
            return False
        self.held += 1
        return True

    def release(self) -> None:
        """Release the lock as often as this function has taken it."""
        while self.held:
            self.held -= 1
            self._lock().release()

    def _lock(self) -> FileLock:
        """Return the lock of this function."""
        return _lock(self.cache_path, self._impl.filename_base)


@cache
def _lock(folder: str, name: str) -> FileLock:
    """Return the lock of a function, in its cache folder; it can be taken repeatedly."""
    locks = Path(folder) / f"locks.{FileLock.__name__}"  # locks with and without flock do not see each other
    locks.mkdir(exist_ok=True)
    return FileLock(locks / name)
