"""Compiled functions on disk: the cache that processes share, and the machine code that a wheel brings."""

from __future__ import annotations

import contextlib
import inspect
import json
import platform
import sys
import sysconfig
import warnings
from collections.abc import Callable, Mapping
from functools import cache
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import llvmlite
import numba
from llvmlite import binding as llvm
from llvmlite.binding import address_of_symbol
from numba.core import config
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, InTreeCacheLocator
from numba.core.codegen import get_host_cpu_features
from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.runtime.nrt import rtsys

# --- Machine code of our kernels that a wheel contains (``make wheel``), loaded where it fits instead of being compiled.
#
# The folder ``prebuilt`` of an installed package has the files of numba's cache, in the folders of the modules, and
# ``about.json``: what the machine code was made for. It is used on a machine with the same runtime (Python, numba,
# llvmlite, operating system) whose processor has all features that the machine code may use. Each function is also checked
# as in numba's cache: its source file, its types, and the files of the functions that it contains (``cache.Source``).

NUMBA: Any = config
host_features: Callable[[], str] = get_host_cpu_features
PACKAGE = Path(__file__).parents[2]
FOLDER, ABOUT = "prebuilt", "about.json"


class Processor(NamedTuple):
    """A processor for which LLVM makes code: its name in LLVM, and the features that the code may use."""

    name: str
    features: tuple[str, ...] = ()


V3 = (  # x86-64-v3 of the x86-64 psABI, in the names of LLVM; sse and sse2 belong to all x86-64
    "avx", "avx2", "bmi", "bmi2", "crc32", "cx16", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sahf",
    "sse3", "sse4.1", "sse4.2", "ssse3", "xsave",
)  # fmt: skip
COMMON = {"x86_64": Processor("x86-64-v3", V3)}
"""The processor for which wheels are built, by machine; "generic" on others."""


def common_processor(machine: str | None = None) -> Processor:
    """Return the processor for which a wheel is built on a machine such as "x86_64"; default: this one."""
    name = (machine or platform.machine()).lower()
    return COMMON.get({"amd64": "x86_64"}.get(name, name), Processor("generic"))


def runtime() -> dict[str, Any]:
    """Return what machine code depends on besides the processor; equal when it is made and when it is loaded."""
    return {
        "python": sysconfig.get_config_var("SOABI") or sysconfig.get_config_var("EXT_SUFFIX"),
        "numba": numba.__version__,
        "llvmlite": llvmlite.__version__,
        "system": llvm.get_process_triple(),
        "svml": bool(NUMBA.USING_SVML),  # Intel's vector functions, which the code then calls
    }


class Prebuilt(NamedTuple):
    """A folder of machine code, and what it was made for.

    Parameters
    ----------
    folder : Path
        The folder, with a folder for each folder of the package.
    runtime : dict
        See ``runtime``.
    processor : Processor
        The processor.
    """

    folder: Path
    runtime: Mapping[str, Any]
    processor: Processor

    def about(self) -> str:
        """Return the text of ``about.json``."""
        return json.dumps({"runtime": self.runtime, "processor": self.processor._asdict()}, indent=2) + "\n"

    @staticmethod
    def read(folder: Path) -> Prebuilt | None:
        """Return what a folder contains; None if there is no folder, or it cannot be read."""
        try:
            about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
            made_for = Processor(str(about["processor"]["name"]), tuple(about["processor"]["features"]))
            return Prebuilt(folder, dict(about["runtime"]), made_for)
        except (OSError, ValueError, LookupError, TypeError):
            return None

    def misfit(self) -> str | None:
        """Return why the machine code is not used here; None if it is used."""
        if NUMBA.CPU_NAME is not None or NUMBA.CPU_FEATURES is not None:
            return "NUMBA_CPU_NAME or NUMBA_CPU_FEATURES is set"
        here = runtime()
        if self.runtime != here:
            differing = [name for name in here if self.runtime.get(name) != here[name]]
            return ", ".join(f"{name} is {here[name]}, not {self.runtime.get(name)}" for name in differing)
        present = host_features().split(",")  # "+avx2,-avx512f,..."; NUMBA_ENABLE_AVX=0 is obeyed
        lacking = [name for name in self.processor.features if f"+{name}" not in present]
        return f"the processor lacks {', '.join(lacking)}" if lacking else None

    def magic_tuple(self) -> tuple[str, str, str]:
        """Return numba's description of the machine code in the keys of its cache."""
        return self.runtime["system"], self.processor.name, flags(self.processor)

    def file_of(self, source: Path, base: str, stamp: object) -> IndexDataCacheFile | None:
        """Return the file of a function's machine code, which may not exist; None: the function is not of the package.

        Parameters
        ----------
        source
            The file of the function.
        base, stamp
            Names of its files in numba's cache; numba's hash of its source file.
        """
        if not source.is_relative_to(PACKAGE):
            return None
        place = self.folder / source.parent.relative_to(PACKAGE)
        return IndexDataCacheFile(str(place), base, stamp)  # type: ignore[no-untyped-call]


def flags(processor: Processor) -> str:
    """Return the features of a processor as numba's ``NUMBA_CPU_FEATURES`` takes them."""
    return ",".join(f"+{name}" for name in processor.features)


@cache
def installed() -> Prebuilt | None:
    """Return the machine code of the installed package; None if it has none, or that does not fit."""
    found = Prebuilt.read(PACKAGE / FOLDER)
    return found if found is not None and found.misfit() is None else None


def described() -> str:
    """Return in a line where the machine code of the kernels comes from."""
    found = Prebuilt.read(PACKAGE / FOLDER)
    if found is None:
        return "compiled at the first use of a method"
    reason = found.misfit()
    if reason is None:
        return f"in the installed wheel, for {found.processor.name}"
    return f"compiled at the first use of a method; those in the installed wheel do not fit: {reason}"


# --- Compiled functions on disk: processes share the work, and a function is renewed when code that it contains changes.

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
