"""The free amounts of all nodes over time, in slices of time; compiled.

A *slice* lasts from one time at which a job may begin or end to the next one; in it the free amounts of all nodes are
constant. They are one row of small integers, so that the least amounts of many nodes over a time are found by few vector
instructions. ``profile`` keeps breakpoints per node instead: it is slower, and needs less memory where nodes have few of
them. Times are seconds. Heterogeneous jobs are not supported.

The earliest start of a job is found from the end of its window backwards. If too few units fit from slice x to the end of
the window, no start up to x is possible, however far: the next one to test is the begin of slice x + 1. The free amounts of
all nodes together exclude most windows at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic
from numpy.typing import NDArray

from ....models.array_types import Ints
from ....models.compiled import by_address, internal, internal_borrowing
from ..profile import move_items
from .state import NOW, RUNNING, WAITING, State, TraceArrays, allowed_from, is_plain, spread

ALIGNED = 64  # rows are multiples of this many items: two vectors of 64 bytes for 16-bit items, four for 32-bit items
BYTES = 64  # of one vector
SLICES, UNUSED, PENDING = range(3)  # indices of the scalars in ``Slices.number``
OVER, GOING, FULL = range(3)  # what replays return
FEW = 512  # up to this capacity, nodes are sorted by comparing all of them with each amount
SMALL = 2**13  # up to this capacity, amounts are 16-bit integers
LARGE = 2**28  # and up to this one 32-bit integers
LEAST_ROOM = 256  # slices
MOST_BYTES = 2**28  # of the rows of all slices
TOGETHER = 8  # slices that are tested at once


@by_address
class Slices(NamedTuple):
    """The free amounts of all nodes over time.

    Parameters
    ----------
    number
        Scalars, shape (3,): SLICES, UNUSED rows, and whether a decision is PENDING.
    time
        Begin of each slice, ascending, shape (room,). The last one has no end.
    row
        Row of each slice in ``free``, shape (room,).
    uses
        Number of jobs that begin or end at the begin of each slice, shape (room,).
    unused
        Rows that no slice has, shape (room,).
    total
        Free amounts of all nodes together in each slice, negative ones as 0, shape (resources, room).
    free
        Free amounts, shape (room, resources, width); width: the number of nodes, rounded up.
    least, before
        Scratch: least amounts over a time, shape (resources, width).
    numbers
        0, 1, 2, ..., shape (width,).
    alike
        Whether the nodes are equal, have one resource, and at most FEW of it.
    summed
        Whether the nodes have one resource, in 16-bit integers: sums of it over all nodes are 32-bit integers.
    """

    number: Ints
    time: Ints
    row: Ints
    uses: Ints
    unused: Ints
    total: Ints
    free: NDArray[Any]
    least: NDArray[Any]
    before: NDArray[Any]
    numbers: NDArray[Any]
    alike: bool
    summed: bool


def _needed(waiting: int, running: int) -> int:
    """Return the most slices of a decision: one from now on, one from now + 1 s on, and those of begins and ends."""
    return 2 * waiting + running + 2


_needed_here = internal_borrowing(_needed)


def suits(trace: TraceArrays, state: State) -> bool:
    """Return whether the free amounts can be kept in slices: several places, no heterogeneous jobs, and nothing else that ties jobs to places."""
    several = trace.capacity.shape[0] > 1 and not trace.further_units.size and is_plain(trace)
    return several and int(trace.capacity.max(initial=0)) < LARGE and int(state.expected.min(initial=1)) >= 1


def new_slices(trace: TraceArrays, state: State, pending: bool = False) -> Slices:
    """Return arrays with twice the room that a decision needs now; too little room makes a replay return FULL."""
    room = max(LEAST_ROOM, 2 * _needed(int(state.clock[WAITING]), int(state.clock[RUNNING])))
    nodes, resources = trace.capacity.shape
    kind = np.int16 if trace.capacity.max() < SMALL and nodes < 2 * SMALL else np.int32
    width = -(-nodes // ALIGNED) * ALIGNED
    alike = resources == 1 and bool((trace.capacity == trace.capacity[0]).all()) and int(trace.capacity[0, 0]) <= FEW
    numbers = _rows((width,), kind)
    numbers[:] = np.arange(width)
    return Slices(
        number=np.array([0, 0, pending], np.int64),
        time=np.empty(room, np.int64),
        row=np.empty(room, np.int64),
        uses=np.empty(room, np.int64),
        unused=np.empty(room, np.int64),
        total=np.empty((resources, room), np.int64),
        free=_rows((room, resources, width), kind),
        least=_rows((resources, width), kind),
        before=_rows((resources, width), kind),
        numbers=numbers,
        alike=alike,
        summed=resources == 1 and kind is np.int16,
    )


def in_memory(s: Slices) -> bool:
    """Return whether the arrays take no more memory than they should."""
    return s.free.nbytes <= MOST_BYTES


def _rows(shape: tuple[int, ...], kind: Any) -> NDArray[Any]:
    """Return an array of zeros that begins where a vector may begin: loads of others take twice the time."""
    size = int(np.prod(shape)) * np.dtype(kind).itemsize
    memory = np.zeros(size + BYTES, np.uint8)
    first = -memory.ctypes.data % BYTES
    rows: NDArray[Any] = memory[first : first + size].view(kind).reshape(shape)
    return rows


@internal_borrowing
def slice_at(s: Slices, t: int) -> int:
    """Return the index of the last slice that begins at or before time t (0 if there is none)."""
    lo = 0
    hi = s.number[SLICES]
    time = s.time
    while hi - lo > 1:
        middle = (lo + hi) // 2
        if time[middle] <= t:
            lo = middle
        else:
            hi = middle
    return lo


@internal_borrowing
def _move_slices(s: Slices, to: int, source: int) -> None:
    """Move the slices from index ``source`` on, without their rows."""
    count = s.number[SLICES] - source
    move_items(s.time, to, source, count)
    move_items(s.row, to, source, count)
    move_items(s.uses, to, source, count)
    for r in range(s.total.shape[0]):
        at = r * s.total.shape[1]
        move_items(s.total, at + to, at + source, count)


@internal_borrowing
def cut(s: Slices, t: int) -> int:
    """Return the index of the slice that begins at time t; divide a slice if there is none."""
    k = slice_at(s, t)
    if s.time[k] == t:
        return k
    _move_slices(s, k + 2, k + 1)
    s.number[SLICES] += 1
    s.number[UNUSED] -= 1
    row = s.unused[s.number[UNUSED]]
    size = s.free.shape[1] * s.free.shape[2]
    move_items(s.free, row * size, s.row[k] * size, size)
    s.time[k + 1] = t
    s.row[k + 1] = row
    s.uses[k + 1] = 0
    for r in range(s.total.shape[0]):
        s.total[r, k + 1] = s.total[r, k]
    return k + 1


@internal_borrowing
def _join(s: Slices, t: int) -> None:
    """Note that one job fewer begins or ends at time t; without any, the slice is part of the one before."""
    k = slice_at(s, t)
    s.uses[k] -= 1
    if k > 0 and s.uses[k] <= 0:
        s.unused[s.number[UNUSED]] = s.row[k]
        s.number[UNUSED] += 1
        _move_slices(s, k, k + 1)
        s.number[SLICES] -= 1


@internal_borrowing
def drop_past(s: Slices, now: int) -> None:
    """Let the first slice begin now."""
    past = slice_at(s, now)
    for k in range(past):
        s.unused[s.number[UNUSED]] = s.row[k]
        s.number[UNUSED] += 1
    if past > 0:
        _move_slices(s, 0, past)
        s.number[SLICES] -= past
    s.time[0] = now


@internal_borrowing
def _add(s: Slices, trace: TraceArrays, state: State, j: int, first: int, last: int, sign: int) -> bool:
    """Add the amounts of job j (sign 1) to slices, or subtract them (-1); return whether none of them is negative now."""
    begin = trace.first[j]
    end = trace.first[j] + state.pieces[j]
    fits = True
    place = state.place
    share = state.share
    free = s.free
    for r in range(free.shape[1]):
        unit = sign * trace.request[j, r]
        for k in range(first, last):
            row = s.row[k]
            change = 0
            least = 0
            for i in range(begin, end):
                had = np.int64(free[row, r, place[i]])
                has = had + unit * share[i]
                free[row, r, place[i]] = has
                least = min(least, has)
                change += max(0, has) - max(0, had)
            s.total[r, k] += change
            fits = fits and least >= 0
    return fits


@internal_borrowing
def hold(s: Slices, trace: TraceArrays, state: State, j: int, start: int) -> bool:
    """Subtract job j, which starts at ``start`` on its stored places; return whether it fits."""
    first = cut(s, start)
    last = cut(s, start + state.expected[j])
    s.uses[first] += 1
    s.uses[last] += 1
    return _add(s, trace, state, j, first, last, -1)


@internal_borrowing
def let_go(s: Slices, trace: TraceArrays, state: State, j: int, start: int) -> None:
    """Add job j, which ``hold`` subtracted, again."""
    end = start + state.expected[j]
    _add(s, trace, state, j, slice_at(s, start), slice_at(s, end), 1)
    _join(s, end)
    _join(s, start)


@internal_borrowing
def end_early(s: Slices, trace: TraceArrays, state: State, j: int) -> None:
    """Add job j, which has ended, from now to its expected end."""
    end = state.start[j] + state.expected[j]
    if end > s.time[0]:
        _add(s, trace, state, j, 0, slice_at(s, end), 1)
        _join(s, end)


@internal_borrowing
def run_on(s: Slices, trace: TraceArrays, state: State, j: int) -> bool:
    """Subtract job j, which runs longer than expected, for one second; return whether it fits."""
    end = cut(s, s.time[0] + 1)
    s.uses[end] += 1
    return _add(s, trace, state, j, 0, end, -1)


@internal_borrowing
def set_running(s: Slices, trace: TraceArrays, state: State) -> None:
    """Set what is free beside the running jobs. One that runs longer than expected is taken to end at now + 1 s."""
    room, resources, _ = s.free.shape
    now = state.clock[NOW]
    least = -2 * SMALL if s.free.itemsize == 2 else -2 * LARGE
    for k in range(room - 1):
        s.unused[k] = room - 1 - k
    s.number[SLICES] = 1
    s.number[UNUSED] = room - 1
    s.time[0] = now
    s.row[0] = 0
    s.uses[0] = 1
    for r in range(resources):
        s.total[r, 0] = 0
        for p in range(trace.capacity.shape[0]):
            s.free[0, r, p] = max(least, state.free[p, r])
            s.total[r, 0] += max(0, s.free[0, r, p])
    size = resources * s.free.shape[2]
    last = 0
    for i in range(state.clock[RUNNING]):
        j = state.running[i]
        end = max(state.running_end[i], now + 1)
        if s.time[last] < end:
            s.number[UNUSED] -= 1
            row = s.unused[s.number[UNUSED]]
            move_items(s.free, row * size, s.row[last] * size, size)
            s.time[last + 1] = end
            s.row[last + 1] = row
            s.uses[last + 1] = 0
            for r in range(resources):
                s.total[r, last + 1] = s.total[r, last]
            last += 1
            s.number[SLICES] += 1
        s.uses[last] += 1
        _add(s, trace, state, j, last, last + 1, 1)


@internal_borrowing
def _fit(least: NDArray[Any], p: int, request: Ints, units: int) -> int:
    """Return how many units fit into the least amounts of node p."""
    count = units
    for r in range(request.size):
        amount = least[r, p]
        if amount < count * request[r]:
            count = max(0, amount // request[r]) if request[r] > 0 else 0
    return count


@internal_borrowing
def _enough(s: Slices, trace: TraceArrays, request: Ints, units: int) -> bool:
    """Return whether the units fit into the least amounts."""
    if s.summed and request[0] == 1:
        return bool(sum_within(s.least, min(units, 2 * SMALL - 1)) >= units)
    total = 0
    for p in range(trace.capacity.shape[0]):
        total += _fit(s.least, p, request, units)
        if total >= units:
            return True
    return False


@internal_borrowing
def _lower(s: Slices, first: int, last: int) -> None:
    """Lower the least amounts to those of the slices first .. last - 1."""
    lower_to_rows(s.least, s.free, s.row, s.free.shape[1] * s.free.shape[2], 0, first, last)


@internal_borrowing
def _begin_least(s: Slices) -> None:
    """Set the least amounts to those of no slice."""
    most = SMALL * 2 if s.free.itemsize == 2 else LARGE * 2
    for r in range(s.least.shape[0]):
        for p in range(s.least.shape[1]):
            s.least[r, p] = most - 1


@internal_borrowing
def _add_own(s: Slices, trace: TraceArrays, state: State, j: int) -> None:
    """Add what job j holds to the least amounts."""
    for i in range(trace.first[j], trace.first[j] + state.pieces[j]):
        for r in range(s.least.shape[0]):
            s.least[r, state.place[i]] += state.share[i] * trace.request[j, r]


@internal_borrowing
def _copy_least(to: NDArray[Any], source: NDArray[Any]) -> None:
    for r in range(to.shape[0]):
        for p in range(to.shape[1]):
            to[r, p] = source[r, p]


@internal_borrowing
def _last_lack(s: Slices, request: Ints, units: int, first: int, last: int) -> int:
    """Return the last of the slices first .. last in which all nodes together have too little; -1: none."""
    last_lacking = -1
    for r in range(request.size):
        need = units * request[r]
        k = last
        while k >= first and s.total[r, k] >= need:
            k -= 1
        if k >= first:
            last_lacking = max(last_lacking, k)
    return last_lacking


@internal_borrowing
def _last_short(s: Slices, trace: TraceArrays, state: State, j: int, first: int, last: int, held: int) -> int:
    """Return the last slice x from first to last such that too few units fit from x to last; -1: none.

    If there is none, ``s.least`` has the least amounts from first to last. ``held``: job j holds its stored places from
    this slice on, and may use them again.
    """
    request = trace.request[j]
    units = trace.units[j]
    end = last + 1
    _begin_least(s)
    if held < end:
        _lower(s, max(first, held), end)
        _add_own(s, trace, state, j)
        end = max(first, held)
        if end == first and not _enough(s, trace, request, units):
            return first
    while end > first:
        begin = max(first, end - TOGETHER)
        _copy_least(s.before, s.least)
        _lower(s, begin, end)
        if not _enough(s, trace, request, units):
            _copy_least(s.least, s.before)
            while True:
                end -= 1
                _lower(s, end, end + 1)
                if end == begin or not _enough(s, trace, request, units):
                    return end
        end = begin
    return -1


@internal_borrowing
def earliest(s: Slices, trace: TraceArrays, state: State, j: int, lo: int, hi: int, held: int) -> int:
    """Return the earliest start of job j in [lo, hi]; -1 if there is none.

    At the result, ``s.least`` has the least amounts of the nodes. ``held``: as in ``_last_short``; the job then starts
    before this slice. Else NEVER.
    """
    request = trace.request[j]
    units = trace.units[j]
    duration = state.expected[j]
    n = s.number[SLICES]
    k = slice_at(s, lo)
    t = lo
    tested = -1
    while t <= hi:
        last = k
        end = t + duration
        if n - 1 > k and s.time[n - 1] < end:
            last = n - 1
        elif n - 1 > k:
            last = slice_at(s, end - 1)
        lack = _last_lack(s, request, units, max(k, tested + 1), min(last, held - 1))
        tested = last
        if lack < 0:
            lack = _last_short(s, trace, state, j, k, last, held)
            if lack < 0:
                return t
        k = lack + 1
        if k == n:
            return -1
        t = s.time[k]
    return -1


@internal_borrowing
def earliest_allowed(s: Slices, trace: TraceArrays, state: State, j: int, first: int, latest: int, held: int) -> int:
    """Return the earliest start of job j in [first, latest] that nodes and calendars allow; -1 if there is none."""
    start = allowed_from(trace, j, first)
    while start <= latest:
        fits = earliest(s, trace, state, j, start, latest, held)
        if fits < 0:
            return -1
        start = allowed_from(trace, j, fits)
        if start == fits:
            return int(start)
    return -1


@internal_borrowing
def least_within(s: Slices, trace: TraceArrays, state: State, j: int, first: int, last: int) -> None:
    """Set the least amounts to those of the slices first .. last - 1, with what job j holds in them."""
    _begin_least(s)
    _lower(s, first, last)
    _add_own(s, trace, state, j)


@internal_borrowing
def has_room(s: Slices, state: State) -> bool:
    """Return whether there is room for all slices that one decision may need."""
    return bool(_needed_here(state.clock[WAITING], state.clock[RUNNING]) <= s.time.size)


@internal
def choose(s: Slices, trace: TraceArrays, state: State, j: int, k: int, best: bool) -> int:
    """Choose places for job j, which starts in slice k, within the least amounts; return the number of places.

    The places are those of ``fit.spread``; they are written to ``state.chosen`` and ``state.put``.
    """
    request = trace.request[j]
    units = trace.units[j]
    row = s.row[k]
    fit = state.fit
    if best and s.alike and request[0] > 0:
        return _choose_alike(s, state, units, request[0], row)
    places, resources = trace.capacity.shape
    free = np.empty((places, resources), np.int64)
    for p in range(places):
        fit[p] = _fit(s.least, p, request, units)
        for r in range(resources):
            free[p, r] = s.free[row, r, p]
    return spread(free, trace.capacity, trace.rank, fit, units, best, state.chosen, state.put)


@internal_borrowing
def _choose_alike(s: Slices, state: State, units: int, request: int, row: int) -> int:
    """Choose places by best fit among equal nodes with one resource: those with the same amount, one after another."""
    chosen = state.chosen
    put = state.put
    equal = state.fit
    at = row * s.free.shape[2]
    left = units
    entries = 0
    amount = -1
    while left > 0:
        amount = next_amount(s.free, at, s.least, amount, request)
        for i in range(nodes_with(s.free, at, s.least, amount, request, equal)):
            fits = int(s.least[0, equal[i]])
            if request > 1:
                fits //= request
            chosen[entries] = equal[i]
            put[entries] = min(left, fits)
            left -= put[entries]
            entries += 1
            if left == 0:
                break
    return entries


@internal
def same_choice(s: Slices, trace: TraceArrays, state: State, j: int, k: int, best: bool) -> bool:
    """Return whether job j, which holds its stored places from slice k on, would choose the same ones.

    ``s.least`` has the least amounts, with those of the job.
    """
    if best and s.alike and trace.request[j, 0] > 0:
        return _same_alike(s, trace, state, j, k)
    first = trace.first[j]
    _change_row(s, trace, state, j, k, 1)
    entries = choose(s, trace, state, j, k, best)
    _change_row(s, trace, state, j, k, -1)
    same = entries == state.pieces[j]
    for i in range(entries):
        same = same and state.chosen[i] == state.place[first + i] and state.put[i] == state.share[first + i]
    return bool(same)


@internal_borrowing
def _change_row(s: Slices, trace: TraceArrays, state: State, j: int, k: int, sign: int) -> None:
    """Add what job j holds to the free amounts of slice k (sign 1), for a moment, or subtract it again (-1)."""
    row = s.row[k]
    for i in range(trace.first[j], trace.first[j] + state.pieces[j]):
        for r in range(s.free.shape[1]):
            s.free[row, r, state.place[i]] += sign * state.share[i] * trace.request[j, r]


@internal_borrowing
def _same_alike(s: Slices, trace: TraceArrays, state: State, j: int, k: int) -> bool:
    """Return ``same_choice`` for best fit among equal nodes with one resource."""
    request = trace.request[j]
    units = trace.units[j]
    row = s.row[k]
    first = trace.first[j]
    last = trace.first[j] + state.pieces[j] - 1
    before = -1
    for i in range(first, last + 1):  # still in the order of the choice, and on all units of each but the last?
        q, share = state.place[i], state.share[i]
        amount = s.free[row, 0, q] + share * request[0]
        fits = _fit(s.least, q, request, units)
        if fits < share or (i < last and fits > share):
            return False
        if i > first and (amount < before or (amount == before and q < state.place[i - 1])):
            return False
        before = amount
    limit = before
    p = state.place[last]
    free = s.free[row, 0]
    others = count_before(s.free, row * s.free.shape[2], s.numbers, limit, p, s.least, request[0])
    for i in range(first, last + 1):  # these are places of the job
        q = state.place[i]
        others -= int(free[q] < limit or (free[q] == limit and q < p))
    return bool(others == 0)


# --- Least values and sums over rows of small integers, in vector instructions: LLVM makes too little of the plain loops.

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


def _array(context: Any, builder: Any, signature: Any, arguments: Any, k: int) -> Any:
    """Return argument ``k`` as an array."""
    return context.make_array(signature.args[k])(context, builder, arguments[k])


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
        to = _array(context, builder, signature, arguments, 0)
        source = _array(context, builder, signature, arguments, 1)
        rows = _array(context, builder, signature, arguments, 2)
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
        array = _array(context, builder, signature, arguments, 0)
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
        source = _array(context, builder, signature, arguments, 0)
        room = _array(context, builder, signature, arguments, 2)
        bottom = _same_everywhere(builder, kind, arguments[3])
        needed = _same_everywhere(builder, kind, arguments[4])
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
        source = _array(context, builder, signature, arguments, 0)
        room = _array(context, builder, signature, arguments, 2)
        to = _array(context, builder, signature, arguments, 5)
        wanted = _same_everywhere(builder, kind, arguments[3])
        needed = _same_everywhere(builder, kind, arguments[4])
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
        source = _array(context, builder, signature, arguments, 0)
        numbers = _array(context, builder, signature, arguments, 2)
        room = _array(context, builder, signature, arguments, 5)
        top = _same_everywhere(builder, kind, arguments[3])
        before = _same_everywhere(builder, kind, arguments[4])
        needed = _same_everywhere(builder, kind, arguments[6])
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
            for its_amount, its_place, its_room in zip(*places, strict=True):
                amount = _load(builder, its_amount, kind.width)
                place = _load(builder, its_place, kind.width)
                free = _load(builder, its_room, kind.width)
                earlier = builder.and_(builder.icmp_signed("==", amount, top), builder.icmp_signed("<", place, before))
                earlier = builder.or_(earlier, builder.icmp_signed("<", amount, top))
                counted = builder.and_(earlier, builder.icmp_signed(">=", free, needed))
                bits = builder.bitcast(counted, ir.IntType(lanes))
                more = builder.zext(builder.ctpop(bits), ir.IntType(64))
                builder.store(builder.add(builder.load(total), more), total)
        return builder.load(total)

    signature = types.int64(items, integer, number, integer, integer, least, integer)
    return signature, generate
