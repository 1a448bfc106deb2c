"""Moves of items within an array, as one instruction instead of a loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic


def _for_compiled_code(generator: Callable[..., Any]) -> Any:
    """Return the function of compiled code whose instructions the generator writes; its first argument is numba's."""
    return intrinsic(generator)


@_for_compiled_code
def move_items(_context: Any, array: Any, to: Any, source: Any, items: Any) -> Any:
    """Copy items of an array to another place in it; the places may overlap.

    For compiled functions only. The indices are not checked.

    Parameters
    ----------
    array
        An array in C order; changed in place.
    to, source
        Index of the first item that is written, and of the first one that is read, counted through all dimensions.
    items
        Number of items; nothing happens if it is not above 0.
    """
    if not isinstance(array, types.Array) or array.layout != "C":
        raise TypingError(f"move_items takes an array in C order, not {array}")

    tools: Any = cgutils

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = signature.args[0]
        place = context.make_array(kind)(context, builder, arguments[0])
        size = context.get_abi_sizeof(context.get_data_type(kind.dtype))
        first, second = (builder.gep(place.data, [index]) for index in arguments[1:3])
        with tools.if_likely(builder, builder.icmp_signed(">", arguments[3], arguments[3].type(0))):
            tools.raw_memmove(builder, first, second, arguments[3], size)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp, types.intp), generate
