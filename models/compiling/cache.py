"""Our compiled functions: how their machine code is linked, and how it is kept on disk and in wheels."""

from __future__ import annotations

import contextlib
import inspect
import json
import platform
import sys
import sysconfig
import warnings
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from functools import cache
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, NamedTuple, NoReturn

import llvmlite
import numba
import numpy as np
from llvmlite import binding as llvm
from llvmlite.binding import address_of_symbol, ffi
from numba.core import config, ir, typed_passes, types, untyped_passes
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, InTreeCacheLocator
from numba.core.codegen import JITCodeLibrary, get_host_cpu_features
from numba.core.compiler import Compiler, DefaultPassBuilder, Flags
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.event import Listener, register
from numba.core.ir_utils import get_definition, guard
from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.runtime.nrt import rtsys

from ...errors import WrongArgument
from ..long_calls import uncollected
from .plain import Kind

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
        if lacking:
            return f"the processor lacks {', '.join(lacking)}"
        return None

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
    prebuilt = Prebuilt.read(PACKAGE / FOLDER)
    if prebuilt is not None and prebuilt.misfit() is None:
        return prebuilt
    return None


def described() -> str:
    """Return in a line where the machine code of the kernels comes from."""
    prebuilt = Prebuilt.read(PACKAGE / FOLDER)
    if prebuilt is None:
        return "compiled at the first use of a method"
    reason = prebuilt.misfit()
    if reason is None:
        return f"in the installed wheel, for {prebuilt.processor.name}"
    return f"compiled at the first use of a method; those in the installed wheel do not fit: {reason}"


# --- Compiled functions on disk: processes share the work, and a function is renewed when code that it contains changes.

with warnings.catch_warnings():  # without flock, filelock warns that a lock is then a file with the id of its process
    warnings.simplefilter("ignore")
    from filelock import FileLock

PATIENCE = 120.0  # seconds to wait for a process that compiles
FORMAT = "numbered at random"  # part of the keys: functions in earlier entries can have the names of others (``plain``)


class Outdated(Exception):
    """A function in the cache was compiled with other code than that of now."""


@cache
def source_stamp(module: str) -> str:
    """Return a hash of the source file of an imported module; empty if it has none."""
    file = getattr(sys.modules.get(module), "__file__", None)
    if file and Path(file).is_file():
        return sha256(Path(file).read_bytes()).hexdigest()
    return ""


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


class Frozen(NamedTuple):
    """Called before a function is loaded from the cache: the globals whose values it contains are unchanged.

    A constant may come from another module, whose file is not that of the function.
    """

    module: str
    stamps: tuple[tuple[str, str], ...]  # of the names that the function's code uses

    def __call__(self) -> None:
        """Raise Outdated if a value has changed or no longer exists."""
        module = _module(self.module)
        if any(value_stamp(getattr(module, name, None)) != stamp for name, stamp in self.stamps):
            raise Outdated

    @classmethod
    def of(cls, function: Any) -> Frozen:
        """Return the values of the globals that a Python function uses."""
        values = function.__globals__
        names = sorted(name for name in _names(function.__code__) if name in values)
        stamps = [(name, value_stamp(values[name])) for name in names]
        return cls(function.__module__, tuple((name, stamp) for name, stamp in stamps if stamp))


def _names(code: CodeType) -> set[str]:
    """Return the names of globals and attributes in the code of a function and of the functions within it."""
    inner = [_names(constant) for constant in code.co_consts if isinstance(constant, CodeType)]
    return set(code.co_names).union(*inner)


def value_stamp(value: object) -> str:
    """Return a text that changes with the value of a global; empty for functions, which have a ``Source``.

    Of a module and of a class, it is the hash of the source file.
    """
    if isinstance(value, ModuleType | type):
        return source_stamp(value.__name__ if isinstance(value, ModuleType) else value.__module__)
    if isinstance(value, np.ndarray):
        return sha256(f"{value.dtype} {value.shape}".encode() + value.tobytes()).hexdigest()
    if isinstance(value, int | float | complex | str | tuple | Enum | np.generic):
        return repr(value)
    return ""


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
        if Path(py_file).is_file():
            return cls(py_func, py_file)
        return None


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
        overload = self._loaded(sig, target_context)
        if overload is not None or not self._take_lock():
            return overload
        # another process may have compiled it in the meantime
        overload = self._loaded(sig, target_context)
        if overload is not None:
            self.release()
        return overload

    def _loaded(self, sig: Any, target_context: Any) -> Any:
        rtsys.initialize(target_context)
        for load in (self._prebuilt, self._cached):
            with contextlib.suppress(Outdated, AttributeError, ImportError):  # names in a cache that no longer exist
                overload = load(sig, target_context)
                if overload is not None:
                    return overload
        return None

    def _prebuilt(self, sig: Any, target_context: Any) -> Any:
        """Return the version for a signature from the machine code of the installed wheel; None if it is not there."""
        code: Any = installed()
        if code is None:
            return None
        stamp = self._impl.locator.get_source_stamp()
        file = code.file_of(Path(inspect.getfile(self._py_func)), self._impl.filename_base, stamp)
        key: Any = self._index_key(sig, code)
        data = None
        if file is not None:
            data = file.load(key)
        if data is None:
            return None
        return self._impl.rebuild(target_context, data)

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


# --- The machine code of compiled functions: what is linked into callers, what is called by name, what is optimized when.

SUPERFLUOUS = {
    untyped_passes.WithLifting,
    untyped_passes.InlineInlinables,
    untyped_passes.FindLiterallyCalls,
    untyped_passes.LiteralUnroll,
    typed_passes.InlineOverloads,
    typed_passes.AnnotateTypes,
    typed_passes.DumpParforDiagnostics,
}
OF_ARRAYS = {typed_passes.NopythonRewrites}  # joins operations on whole arrays to one loop
OF_CLOSURES = {untyped_passes.InlineClosureLikes, untyped_passes.MakeFunctionToJitFunction}
ENVIRONMENT = "_ZN08NumbaEnv"  # prefix of the globals in which numba keeps the constants of functions


class _Flags(Flags):
    """Compiler options that are compared quickly: numba compares the options of its caches ten thousands of times."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return type(other) is _Flags and bool(self._values == other._values)

    def __hash__(self) -> int:
        return id(_Flags)


class OwnLibrary(JITCodeLibrary):
    """The code of a function; of a ``native`` function that it calls, it has the name only."""

    def _optimize_functions(self, ll_module: Any) -> None:
        """Make the functions of a module small; all that counts for speed is done where they are linked together."""
        ll_module.data_layout = self._codegen._data_layout
        builder = self._codegen._pass_builder()  # type: ignore[no-untyped-call]
        for function in ll_module.functions:
            if not function.is_declaration:
                self._make_small(function, builder)

    def _make_small(self, function: Any, builder: Any) -> None:
        """Run three cheap passes; numba's passes here take three times as long, and their work is done again later."""
        passes = llvm.newpassmanagers.create_new_function_pass_manager()
        passes.add_sroa_pass()
        passes.add_instruction_combine_pass()
        passes.add_simplify_cfg_pass()
        passes.run(function, builder)

    def _optimize_final_module(self) -> None:
        """Optimize as numba does, but without copies of the bodies of loops, which are short here.

        They took a quarter of the time of LLVM.
        """
        codegen: Any = self._codegen
        chosen: Any = config
        options = llvm.create_pipeline_tuning_options(chosen.OPT)
        options.loop_vectorization = bool(chosen.LOOP_VECTORIZE)
        options.slp_vectorization = bool(chosen.SLP_VECTORIZE)
        options.loop_unrolling = options.loop_interleaving = False
        inlining = codegen._module_pass_manager(loop_vectorize=False, slp_vectorize=False, opt=0, cost="cheap")
        builder = llvm.create_pass_builder(codegen._tm, options)
        everything = builder.getModulePassManager()
        everything.add_refprune_pass()
        for passes, its_builder in (inlining, (everything, builder)):
            passes.run(self._final_module, its_builder)

    def add_linking_library(self, library: Any) -> None:
        """Link the code of a called function into this one; not the code of a ``native`` function."""
        needed = getattr(library, "needed", None)
        if needed is None:
            super().add_linking_library(library)  # type: ignore[no-untyped-call]
            return
        library._ensure_finalized()
        self._reload_init.update(library._reload_init)
        self._reload_init.add(needed)


class EntryLibrary(OwnLibrary):
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


class LinkedLibrary(OwnLibrary):
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


class LinkedParts(Listener):
    """Lets numba's own functions, such as ``max``, be linked like ``internal`` ones where they are part of a kernel."""

    def __init__(self, is_kernel: Callable[[object], bool]) -> None:
        self.is_kernel = is_kernel
        self.stack: list[Any] = []  # what is being compiled, the outermost function first; numba's lock is held

    def on_start(self, event: Any) -> None:
        """Note that a function begins to be compiled."""
        self.stack.append(event.data["dispatcher"])
        self._choose(self.stack[-1])

    def on_end(self, event: Any) -> None:
        """Note that a function has been compiled, or could not be."""
        last = self.stack.pop()
        self._choose(self.stack[-1] if self.stack else last)

    def _choose(self, function: Any) -> None:
        """Set the class of the library that numba makes next."""
        part = bool(
            function.py_func.__module__.startswith("numba.") and function.targetoptions.get("no_cpython_wrapper")
        )
        linked = part and any(map(self.is_kernel, self.stack))
        if linked:
            function.targetctx.codegen()._library_class = LinkedLibrary
        else:
            function.targetctx.codegen()._library_class = JITCodeLibrary


@register_pass(mutates_CFG=False, analysis_only=False)  # type: ignore[no-untyped-call]
class ConstantFields(FunctionPass):
    """Replaces fields that are part of the type of an argument by their values.

    The branches that these rule out are then left out before types are inferred and code is made for them.
    """

    _name = "constant_fields"

    def __init__(self) -> None:
        """Do nothing: numba's class asks for it."""

    def run_pass(self, state: Any) -> bool:
        """Replace the fields; return whether there were any. A type has them as ``constants``, values by name."""
        changed = False
        for block in state.func_ir.blocks.values():
            for statement in block.find_insts(ir.Assign):
                value = _constant_field(state, statement.value)
                if value is not None:
                    known = state.func_ir._definitions[statement.target.name]
                    known[known.index(statement.value)] = value
                    statement.value = value
                    changed = True
        return changed


def _constant_field(state: Any, value: Any) -> Any:
    """Return the constant for an expression that reads such a field of an argument; None for others."""
    if not isinstance(value, ir.Expr) or value.op != "getattr":
        return None
    owner = guard(get_definition, state.func_ir, value.value)  # type: ignore[no-untyped-call]
    if not isinstance(owner, ir.Arg):
        return None
    constants = getattr(state.args[owner.index], "constants", {})
    return ir.Const(constants[value.attr], value.loc) if value.attr in constants else None  # type: ignore[no-untyped-call]


def needed_passes(state: Any) -> Any:
    """Return numba's passes without those that change nothing in a function of ours, and ``ConstantFields``."""
    manager = DefaultPassBuilder.define_nopython_pipeline(state)  # type: ignore[no-untyped-call]
    superfluous = set(SUPERFLUOUS)
    if not state.flags.nrt:  # a function that creates no arrays
        superfluous |= OF_ARRAYS
    if not any(isinstance(constant, CodeType) for constant in state.bc.co_consts):
        superfluous |= OF_CLOSURES
    manager.passes = [step for step in manager.passes if step[0] not in superfluous]
    names = [step[0] for step in manager.passes]
    if untyped_passes.DeadBranchPrune in names:
        manager.passes.insert(names.index(untyped_passes.DeadBranchPrune), (ConstantFields, "constant fields"))
    manager.finalize()
    return manager


class EntryCompiler(Compiler):
    """Compiles functions that are called from Python."""

    library: Callable[[Any, str], JITCodeLibrary] = EntryLibrary

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)  # type: ignore[no-untyped-call]
        self.state.flags = _Flags(self.state.flags)  # type: ignore[no-untyped-call]

    def define_pipelines(self) -> Any:
        """Return numba's passes, with a library of our own."""
        function = self.state.func_id
        self.state.reload_init.append(Source(function.modname, source_stamp(function.modname)))
        self.state.reload_init.append(Frozen.of(function.func))
        self.state.library = self.library(self.state.targetctx.codegen(), function.func_qualname)
        self.state.library.enable_object_caching()
        return [needed_passes(self.state)]


class VectorizedCompiler(EntryCompiler):
    """Compiles ``vectorized`` functions."""

    library = JITCodeLibrary


class LinkedCompiler(EntryCompiler):
    """Compiles ``internal`` functions."""

    library = LinkedLibrary


class NativeCompiler(EntryCompiler):
    """Compiles ``native`` functions."""

    library = OwnLibrary

    def define_pipelines(self) -> Any:
        """Return the passes; give the function a name that is the same in all processes, for callers in the cache."""
        function = self.state.func_id
        function.unique_id = source_stamp(function.modname)[:16]
        return super().define_pipelines()


# --- Dispatchers of compiled functions, with our own cache and linker: for the versions of numba whose private interfaces are known.


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


class Kernel(CPUDispatcher):
    """A compiled function with one version for constants and variables of the same type."""

    def enable_caching(self) -> None:
        """Cache the compiled function on disk."""
        self._cache = SharedCache(self.py_func)  # type: ignore[no-untyped-call]

    def compile(self, sig: Any) -> Any:
        """Load the version for a signature from the cache, or compile it."""
        with global_compiler_lock, uncollected(), _untimed():  # else it goes through millions of objects of numba
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
