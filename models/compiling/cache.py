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

from numba.core.caching import CompileResultCacheImpl, FunctionCache, InTreeCacheLocator
from numba.core.registry import CPUDispatcher

from .prebuilt import installed

with warnings.catch_warnings():  # without flock, filelock warns that a lock is then a file with the id of its process
    warnings.simplefilter("ignore")
    from filelock import FileLock

PATIENCE = 120.0  # seconds to wait for a process that compiles


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
        for load in (self._prebuilt, super().load_overload):
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
        target_context.refresh()
        stamp = self._impl.locator.get_source_stamp()
        file = code.file_of(Path(inspect.getfile(self._py_func)), self._impl.filename_base, stamp)
        key: Any = self._index_key(sig, code)  # type: ignore[no-untyped-call]
        data = None if file is None else file.load(key)
        return None if data is None else self._impl.rebuild(target_context, data)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save a compiled version; where nothing can be written, every process compiles for itself."""
        with contextlib.suppress(OSError):
            super().save_overload(sig, data)  # type: ignore[no-untyped-call]

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
