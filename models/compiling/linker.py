"""Compiled functions with our own linker: which machine code is linked into callers, called by name, and optimized when."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any, NoReturn

from llvmlite import binding as llvm
from llvmlite.binding import ffi
from numba.core import config, typed_passes, types, untyped_passes
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, DefaultPassBuilder, Flags
from numba.core.compiler_lock import global_compiler_lock
from numba.core.event import Listener, register
from numba.core.registry import CPUDispatcher

from ...errors import WrongArgument
from .cache import Needed, SharedCache, Source, source_stamp
from .plain import Kind

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
        options.loop_vectorization, options.slp_vectorization = bool(chosen.LOOP_VECTORIZE), bool(chosen.SLP_VECTORIZE)
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
        function.targetctx.codegen()._library_class = LinkedLibrary if linked else JITCodeLibrary


def needed_passes(state: Any) -> Any:
    """Return numba's passes without those that change nothing in a function of ours."""
    manager = DefaultPassBuilder.define_nopython_pipeline(state)  # type: ignore[no-untyped-call]
    superfluous = set(SUPERFLUOUS)
    if not state.flags.nrt:  # a function that creates no arrays
        superfluous |= OF_ARRAYS
    if not any(isinstance(constant, CodeType) for constant in state.bc.co_consts):
        superfluous |= OF_CLOSURES
    manager.passes = [step for step in manager.passes if step[0] not in superfluous]
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
