"""Named tuples of arrays that compiled functions pass by address.

numba passes each array of a tuple as seven numbers, so a call with fifty arrays has 350 arguments. Most of the time to
compile a kernel went into them. A class marked ``by_address`` is stored once, at the call from Python, and compiled
functions pass its address. Its arrays have no owner in compiled code: a function must not return them.

A flag that is marked ``constant`` is part of the type: functions are compiled for each of its values that is used, and what
a value rules out is left out of their machine code.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from typing import Any, TypeVar

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.errors import NumbaError
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import NativeValue, register_model, typeof_impl, unbox
from numba.np.numpy_support import as_dtype

from ...errors import WrongArgument

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
    with suppress(NumbaError):  # an array of objects
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
