"""Compilation of loops over flat arrays with numba, with the same options everywhere.

The module imports numba, which takes half a second: import it only where a compiled function is needed.

Compiling takes time once after an installation. What costs most of it, and how to avoid it:

- the wrapper for calls from Python: 0.3 s for arguments of 50 arrays. Mark functions that only compiled functions call as
  ``internal``;
- one version per type of arguments: do not call a function with and without None. Constants are no problem:
  ``_Kernel`` compiles one version for ``f(0)`` and ``f(x)``;
- tuples of arrays: each array is seven arguments of a compiled function. Mark the class as ``by_address``,
  which takes a fifth of the time off a large kernel;
- one entry for each use: all that a function calls is optimized and translated to machine code again for each function
  that Python calls, and only there. Give similar uses one entry, with more arguments, or mark a large function that
  several entries call, or one entry in several places, as ``native``;
- NumPy functions: a slice assignment compiles the text of its error message, ``np.sort`` a sort per type. Prepare arrays
  in Python, and write loops.
"""

from __future__ import annotations

import contextlib
import os
import reprlib
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar, cast

from llvmlite import ir
from numba import typeof
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.errors import NumbaError
from numba.core.event import Listener, install_listener
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import NativeValue, register_model, typeof_impl, unbox
from numba.np.numpy_support import as_dtype

from ..errors import WrongArgument
from .compiling.plain import Kind, say_once, use_own_linker
from .kind import resolve

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
    cast(Any, function).compile(tuple(typeof(argument) for argument in arguments))


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


# --- Named tuples of arrays that compiled functions pass by address.
#
# numba passes each array of a tuple as seven numbers, so a call with fifty arrays has 350 arguments. Most of the time to
# compile a kernel went into them. A class marked ``by_address`` is stored once, at the call from Python, and compiled
# functions pass its address. Its arrays have no owner in compiled code: a function must not return them.
#
# A flag that is marked ``constant`` is part of the type: functions are compiled for each of its values that is used, and what
# a value rules out is left out of their machine code.

T = TypeVar("T", bound=type)
_constants: dict[type, tuple[str, ...]] = {}  # by named tuple


class Address(types.Type):
    """The type of an address of a named tuple."""

    def __init__(self, fields: Any, members: Any) -> None:
        self.instance_class, self.types = fields, members
        digest = sha256(repr([(m.key if isinstance(m, types.Array) else m.name) for m in members]).encode())
        super().__init__(f"{fields.__name__}.{digest.hexdigest()[:12]}")

    @property
    def constants(self) -> dict[str, bool]:
        """Return the values of the flags that are part of the type."""
        names = zip(self.instance_class._fields, self.types, strict=True)
        return {name: m.literal_value for name, m in names if isinstance(m, types.BooleanLiteral)}

    @property
    def key(self) -> Any:
        """Return what tells types apart."""
        return self.instance_class, self.types


@register_model(Address)
class _AddressModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Address) -> None:
        members = ir.LiteralStructType([manager.lookup(m).get_value_type() for m in kind.types])
        super().__init__(manager, kind, members.as_pointer())


@infer_getattr
class _Field(AttributeTemplate):
    key = Address

    def generic_resolve(self, kind: Address, name: str) -> Any:  # type: ignore[override]
        fields = kind.instance_class._fields
        if name in fields:
            return kind.types[fields.index(name)]
        return None


def by_address(fields: T) -> T:
    """Let compiled functions take instances of a named tuple by address."""
    typeof_impl.register(fields)(_type_of)
    return fields


def constant(*names: str) -> Callable[[T], T]:
    """Let compiled functions have a version for each value of some flags of a named tuple: True, or None for no.

    Not False: a call from Python tells versions by the Python types of the values, and False has that of True.
    """

    def mark(fields: T) -> T:
        _constants[fields] = names
        return fields

    return mark


def _type_of(value: Any, context: Any) -> Address:
    constants = _constants.get(type(value), ())
    members = [
        _constant_type(value, name, item) if name in constants else _type_of_item(value, name, item, context)
        for name, item in zip(value._fields, value, strict=True)
    ]
    return Address(type(value), tuple(members))


def _constant_type(value: Any, name: str, item: Any) -> Any:
    """Return the type of a flag that is part of the type of its tuple."""
    if item is not True and item is not None:
        raise WrongArgument(f"{type(value).__name__}.{name} is {reprlib.repr(item)}; expected True or None")
    return types.literal(item is True)


def _type_of_item(value: Any, name: str, item: Any, context: Any) -> Any:
    """Return the type of a field. Raises WrongArgument for what cannot be used without an owner, such as lists."""
    with contextlib.suppress(NumbaError):  # an array of objects
        item_type = typeof_impl(item, context)
        if isinstance(item_type, types.Array | types.Number | types.Boolean | Address) and item_type.is_precise():
            return item_type
    raise WrongArgument(
        f"{type(value).__name__}.{name} is {reprlib.repr(item)}; compiled functions take arrays of numbers, numbers and "
        "named tuples that are marked by_address"
    )


@unbox(Address)
def _stored(kind: Address, value: Any, c: Any) -> NativeValue:
    """Store the items in memory of the call from Python; return its address."""
    address = cgutils.alloca_once(c.builder, c.context.get_value_type(kind).pointee)
    failed = cgutils.alloca_once_value(c.builder, cgutils.false_bit)
    items = []
    for k, member in enumerate(kind.types):
        item = c.unbox(member, c.pyapi.tuple_getitem(value, k))
        c.builder.store(item.value, cgutils.gep_inbounds(c.builder, address, 0, k))
        with c.builder.if_then(item.is_error, likely=False):
            c.builder.store(cgutils.true_bit, failed)
        items.append((member, item))

    def cleanup() -> None:
        for member, item in reversed(items):
            if item.cleanup is not None:
                item.cleanup()
            if c.context.enable_nrt:
                c.context.nrt.decref(c.builder, member, item.value)

    return NativeValue(address, is_error=c.builder.load(failed), cleanup=cleanup)


@lower_getattr_generic(Address)
def _item(context: Any, builder: Any, kind: Address, address: Any, name: str) -> Any:
    index = kind.instance_class._fields.index(name)
    member = kind.types[index]
    if isinstance(member, types.BooleanLiteral):
        return context.get_constant(types.boolean, member.literal_value)
    if not isinstance(member, types.Array):
        return _constant(builder, address, index)
    kind_of_array = context.data_model_manager[member]
    position = kind_of_array.get_field_position
    shape = [_constant(builder, address, index, position("shape"), d) for d in range(member.ndim)]
    itemsize = context.get_constant(types.intp, as_dtype(member.dtype).itemsize)  # get_abi_sizeof asks LLVM each time
    if member.layout == "C":
        strides = [itemsize]
        for size in reversed(shape[1:]):
            strides.insert(0, builder.mul(strides[0], size))
    else:
        strides = [_constant(builder, address, index, position("strides"), d) for d in range(member.ndim)]
    items = context.get_constant(types.intp, 1)
    for size in shape:
        items = builder.mul(items, size, flags=["nsw"])
    # numba's populate_array does the same in memory, with three times the instructions
    array = ir.Constant(kind_of_array.get_value_type(), None)  # without an owner
    array = builder.insert_value(array, _constant(builder, address, index, position("data")), position("data"))
    for name, value in (("nitems", items), ("itemsize", itemsize)):
        array = builder.insert_value(array, value, position(name))
    for name, values in (("shape", shape), ("strides", strides)):
        for d, value in enumerate(values):
            array = builder.insert_value(array, value, (position(name), d))
    return array


def _constant(builder: Any, address: Any, *indices: int) -> Any:
    """Load a number that does not change during the call."""
    loaded = builder.load(cgutils.gep_inbounds(builder, address, 0, *indices))
    loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
    return loaded


# --- A second process that compiles kernels while this one compiles others, once after an installation.
#
# It begins at the first function of a block that is not in the cache, calls functions that compile what the block needs
# late, and ends with the block, or with this process. Both take from the cache what the other one has compiled
# (``cache.SharedCache``). It shows nothing: without it, or if it fails, the block compiles everything itself.

SECOND_PROCESS = f"import sys; from {__name__} import call_all; call_all(sys.argv[1:])"


def _can_start() -> bool:
    """Return whether there is a second processor, and a Python that is not part of another program."""
    return (os.cpu_count() or 1) > 1 and Path(sys.executable or "").stem.startswith("python")


@contextlib.contextmanager
def second_process(places: Sequence[str]) -> Iterator[None]:
    """Compile in a second process what this block needs late, if something has to be compiled in the block.

    Parameters
    ----------
    places
        Functions without arguments, named as in ``kind.resolve``, that the second process calls; empty: no second process.
    """
    started: list[subprocess.Popen[bytes]] = []

    def begin(number: int) -> None:
        if number > 1 or not places or not _can_start():
            return
        with contextlib.suppress(OSError):
            started.append(
                subprocess.Popen(
                    [sys.executable, "-P", "-c", SECOND_PROCESS, *places],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
                )
            )

    try:
        with watching(begin):
            yield
    finally:
        for process in started:
            process.kill()
            process.communicate()


def _end_with_the_first_process() -> None:
    """End this process when the pipe from the first one is closed: its block or the process itself has ended."""
    sys.stdin.buffer.read()
    os._exit(1)


def call_all(places: Sequence[str]) -> None:
    """Call the functions in the second process; Ctrl-C is for the first one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_the_first_process, daemon=True).start()
    for place in places:
        resolve(place)()
