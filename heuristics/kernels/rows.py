"""Least values and sums over rows of small integers, in vector instructions: LLVM makes too little of the plain loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic

ALIGNED = 64  # rows are multiples of this many items: two vectors of 64 bytes for 16-bit items, four for 32-bit items
BYTES = 64  # of one vector
tools: Any = cgutils  # it has no types


def _for_compiled_code(generator: Callable[..., Any]) -> Any:
    """Return the function of compiled code whose instructions the generator writes; its first argument is numba's."""
    return intrinsic(generator)


def _check(*arrays: Any) -> None:
    for array in arrays:
        if not isinstance(array, types.Array) or array.layout != "C" or not isinstance(array.dtype, types.Integer):
            raise TypingError(f"rows are arrays of integers in C order, not {array}")


def _vectors(context: Any, builder: Any, array: Any, at: Any, number: int) -> list[Any]:
    """Return the addresses of ``number`` neighbouring vectors of an array, from item ``at`` on."""
    kind = context.get_value_type(array.dtype)
    lanes = BYTES * 8 // kind.width
    vector = ir.VectorType(kind, lanes)
    data = builder.gep(at[0], [at[1]])
    first = builder.bitcast(data, vector.as_pointer())
    return [builder.gep(first, [context.get_constant(types.intp, k)]) for k in range(number)]


def _load(builder: Any, address: Any, bits: int) -> Any:
    loaded = builder.load(address)
    loaded.align = bits // 8
    return loaded


def _least(builder: Any, a: Any, b: Any) -> Any:
    return builder.select(builder.icmp_signed("<", a, b), a, b)


def _same_everywhere(builder: Any, kind: Any, number: Any) -> Any:
    """Return the vector of a 64-bit integer in all lanes."""
    lanes = BYTES * 8 // kind.width
    item = builder.trunc(number, kind)
    vector: Any = ir.Constant(ir.VectorType(kind, lanes), ir.Undefined)
    for k in range(lanes):
        vector = builder.insert_element(vector, item, ir.Constant(ir.IntType(32), k))
    return vector


@_for_compiled_code
def lower_to_rows(
    _context: Any, least: Any, table: Any, row: Any, stride: Any, offset: Any, first: Any, last: Any
) -> Any:
    """Lower the items of ``least`` to those of rows of a table: of the rows ``row[first], ..., row[last - 1]``.

    For compiled functions only. The indices are not checked.

    Parameters
    ----------
    least
        An array of 16-bit or 32-bit integers in C order, its size a multiple of ALIGNED; changed in place.
    table
        An array of the same kind in C order; item i of row k is item ``k * stride + offset + i``, counted through all
        dimensions.
    row
        The numbers of the rows, int64.
    stride, offset, first, last
        Integers.
    """
    _check(least, table, row)
    integer = types.intp

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds = signature.args
        to, source, rows = (context.make_array(kinds[k])(context, builder, arguments[k]) for k in range(3))
        step, shift, begin, end = arguments[3:]
        bits = context.get_value_type(kinds[0].dtype).width
        number = ALIGNED * bits // 8 // BYTES
        size = to.nitems
        zero = context.get_constant(integer, 0)
        width = context.get_constant(integer, ALIGNED)
        one = context.get_constant(integer, 1)
        with tools.for_range_slice(builder, zero, size, width) as (column, _):
            targets = _vectors(context, builder, kinds[0], (to.data, column), number)
            held = [tools.alloca_once_value(builder, _load(builder, t, bits)) for t in targets]
            with tools.for_range_slice(builder, begin, end, one) as (k, _):
                at = builder.add(builder.mul(builder.load(builder.gep(rows.data, [k])), step), shift)
                items = _vectors(context, builder, kinds[1], (source.data, builder.add(at, column)), number)
                for place, item in zip(held, items, strict=True):
                    builder.store(_least(builder, _load(builder, item, bits), builder.load(place)), place)
            for place, target in zip(held, targets, strict=True):
                builder.store(builder.load(place), target).align = bits // 8
        return context.get_dummy_value()

    return types.void(least, table, row, integer, integer, integer, integer), generate


@_for_compiled_code
def sum_within(_context: Any, items: Any, most: Any) -> Any:
    """Return the sum of the items, each of them at least 0 and at most ``most``; its size a multiple of ALIGNED.

    For compiled functions only. ``most`` must be in the range of the items.
    """
    _check(items)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = context.get_value_type(signature.args[0].dtype)
        lanes = BYTES * 8 // kind.width
        wide = ir.VectorType(ir.IntType(32), lanes)
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        size = array.nitems
        top = _same_everywhere(builder, kind, arguments[1])
        nothing = ir.Constant(ir.VectorType(kind, lanes), [0] * lanes)
        total = tools.alloca_once_value(builder, ir.Constant(wide, [0] * lanes))
        number = ALIGNED * kind.width // 8 // BYTES
        zero = context.get_constant(types.intp, 0)
        width = context.get_constant(types.intp, ALIGNED)
        with tools.for_range_slice(builder, zero, size, width) as (column, _):
            for address in _vectors(context, builder, signature.args[0], (array.data, column), number):
                item = _least(builder, _load(builder, address, kind.width), top)
                item = builder.select(builder.icmp_signed(">", item, nothing), item, nothing)
                if kind.width < 32:
                    item = builder.sext(item, wide)
                builder.store(builder.add(builder.load(total), item), total)
        name = f"llvm.vector.reduce.add.v{lanes}i32"
        reduce = tools.get_or_insert_function(builder.module, ir.FunctionType(ir.IntType(32), [wide]), name)
        return builder.sext(builder.call(reduce, [builder.load(total)]), ir.IntType(64))

    return types.int64(items, types.int64), generate


@_for_compiled_code
def next_amount(_context: Any, items: Any, at: Any, least: Any, above: Any, request: Any) -> Any:
    """Return the smallest amount above ``above`` of the nodes with room for a request; the largest integer: none.

    For compiled functions only. The parameters are those of ``count_before``.
    """
    _check(items, least)
    integer = types.intp

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds = signature.args
        kind = context.get_value_type(kinds[0].dtype)
        source, room = (context.make_array(kinds[k])(context, builder, arguments[k]) for k in (0, 2))
        bottom, needed = (_same_everywhere(builder, kind, arguments[k]) for k in (3, 4))
        lanes = BYTES * 8 // kind.width
        largest = ir.Constant(ir.VectorType(kind, lanes), [2 ** (kind.width - 1) - 1] * lanes)
        place = tools.alloca_once_value(builder, largest)
        vectors = ALIGNED * kind.width // 8 // BYTES
        zero = context.get_constant(integer, 0)
        width = context.get_constant(integer, ALIGNED)
        with tools.for_range_slice(builder, zero, room.nitems, width) as (column, _):
            amounts = _vectors(context, builder, kinds[0], (source.data, builder.add(arguments[1], column)), vectors)
            rooms = _vectors(context, builder, kinds[2], (room.data, column), vectors)
            for address, its_room in zip(amounts, rooms, strict=True):
                amount = _load(builder, address, kind.width)
                free = _load(builder, its_room, kind.width)
                counted = builder.and_(
                    builder.icmp_signed(">=", free, needed), builder.icmp_signed(">", amount, bottom)
                )
                builder.store(_least(builder, builder.select(counted, amount, largest), builder.load(place)), place)
        name = f"llvm.vector.reduce.smin.v{lanes}i{kind.width}"
        reduce = tools.get_or_insert_function(builder.module, ir.FunctionType(kind, [largest.type]), name)
        return builder.sext(builder.call(reduce, [builder.load(place)]), ir.IntType(64))

    return types.int64(items, integer, least, integer, integer), generate


@_for_compiled_code
def nodes_with(_context: Any, items: Any, at: Any, least: Any, amount: Any, request: Any, found: Any) -> Any:
    """Write the nodes with room for a request whose amount is ``amount`` to ``found``, ascending; return their number.

    For compiled functions only. The parameters are those of ``count_before``; ``found`` is an array of 64-bit integers, shape
    (nodes,).
    """
    _check(items, least, found)
    integer = types.intp

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds = signature.args
        kind = context.get_value_type(kinds[0].dtype)
        source, room, to = (context.make_array(kinds[k])(context, builder, arguments[k]) for k in (0, 2, 5))
        wanted, needed = (_same_everywhere(builder, kind, arguments[k]) for k in (3, 4))
        lanes = BYTES * 8 // kind.width
        word = ir.IntType(lanes)
        total = tools.alloca_once_value(builder, context.get_constant(integer, 0))
        left = tools.alloca_once(builder, word)
        vectors = ALIGNED * kind.width // 8 // BYTES
        zero = context.get_constant(integer, 0)
        one = context.get_constant(integer, 1)
        with tools.for_range_slice(builder, zero, room.nitems, context.get_constant(integer, ALIGNED)) as (column, _):
            amounts = _vectors(context, builder, kinds[0], (source.data, builder.add(arguments[1], column)), vectors)
            rooms = _vectors(context, builder, kinds[2], (room.data, column), vectors)
            for v, (address, its_room) in enumerate(zip(amounts, rooms, strict=True)):
                same = builder.icmp_signed("==", _load(builder, address, kind.width), wanted)
                fits = builder.icmp_signed(">=", _load(builder, its_room, kind.width), needed)
                bits = builder.bitcast(builder.and_(same, fits), word)
                builder.store(bits, left)
                begin = builder.add(column, context.get_constant(integer, v * lanes))
                number = builder.zext(builder.ctpop(bits), ir.IntType(64))
                with tools.for_range_slice(builder, zero, number, one) as (_, _):
                    word_left = builder.load(left)
                    place = builder.zext(builder.cttz(word_left, tools.true_bit), ir.IntType(64))
                    builder.store(builder.and_(word_left, builder.sub(word_left, ir.Constant(word, 1))), left)
                    k = builder.load(total)
                    builder.store(builder.add(begin, place), builder.gep(to.data, [k]))
                    builder.store(builder.add(k, one), total)
        return builder.load(total)

    return types.int64(items, integer, least, integer, integer, found), generate


@_for_compiled_code
def count_before(
    _context: Any, items: Any, at: Any, number: Any, limit: Any, place: Any, least: Any, request: Any
) -> Any:
    """Return how many of the nodes with room for a request come before a node, by amount and number.

    For compiled functions only. Node i has room if ``least[i] >= request``; it comes before if its amount
    ``items[at + i]`` is below ``limit``, or if it is equal and ``number[i]`` is below ``place``.

    Parameters
    ----------
    items
        An array of 16-bit or 32-bit integers in C order.
    at
        Index of the first item, counted through all dimensions.
    number, least
        Arrays of the same kind, their size a multiple of ALIGNED.
    limit, place, request
        Integers in the range of the items.
    """
    _check(items, number, least)
    integer = types.intp

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds = signature.args
        kind = context.get_value_type(kinds[0].dtype)
        source, numbers, room = (context.make_array(kinds[k])(context, builder, arguments[k]) for k in (0, 2, 5))
        top, before, needed = (_same_everywhere(builder, kind, arguments[k]) for k in (3, 4, 6))
        lanes = BYTES * 8 // kind.width
        total = tools.alloca_once_value(builder, context.get_constant(integer, 0))
        vectors = ALIGNED * kind.width // 8 // BYTES
        zero = context.get_constant(integer, 0)
        width = context.get_constant(integer, ALIGNED)
        with tools.for_range_slice(builder, zero, numbers.nitems, width) as (column, _):
            places = (
                _vectors(context, builder, kinds[k], (data, index), vectors)
                for k, data, index in (
                    (0, source.data, builder.add(arguments[1], column)),
                    (2, numbers.data, column),
                    (5, room.data, column),
                )
            )
            for addresses in zip(*places, strict=True):
                amount, place, free = (_load(builder, address, kind.width) for address in addresses)
                earlier = builder.and_(builder.icmp_signed("==", amount, top), builder.icmp_signed("<", place, before))
                earlier = builder.or_(earlier, builder.icmp_signed("<", amount, top))
                counted = builder.and_(earlier, builder.icmp_signed(">=", free, needed))
                bits = builder.bitcast(counted, ir.IntType(lanes))
                more = builder.zext(builder.ctpop(bits), ir.IntType(64))
                builder.store(builder.add(builder.load(total), more), total)
        return builder.load(total)

    signature = types.int64(items, integer, number, integer, integer, least, integer)
    return signature, generate
