"""Many native variables and intervals at once.

A call of ortools for one variable takes 4 us, for one interval 6 us. Here copies of messages are appended to the
``CpModelProto``, which takes a sixth of the time. A message is made once for each domain of variables, and kept for each
(start variable, size) of intervals: models that are made again and again, as those of online dispatchers, have the same ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from ortools.sat.python import cp_model

from ...models.language import Interval
from ...models.language.expressions import Window

if TYPE_CHECKING:
    from .lowering import CpSatLowering
    from .native import NativeModel


def add_starts(lowering: CpSatLowering) -> None:
    """Make the start variables of a model whose intervals need no other variables; fixed starts have none."""
    intervals = lowering.model.intervals
    if any(v.optional or v.size_lo < v.size_hi for v in intervals):
        return
    rows = [(i, w, v.name) for i, v in enumerate(intervals) if (w := v.windows)[0][0] < w[-1][1]]
    for (i, *_), k in zip(rows, add_variables(lowering.native, [(w, n) for _, w, n in rows]), strict=True):
        lowering.expressions.start[i] = k


def add_variables(native: NativeModel, rows: Sequence[tuple[tuple[Window, ...], str]]) -> range:
    """Add variables of the model.

    Parameters
    ----------
    native : NativeModel
        The model under construction.
    rows : sequence of (windows, str)
        The domain and the name of each variable.

    Returns
    -------
    range
        Their indices.
    """
    proto, first, made = native.model.proto, len(native.lo), {}
    for windows in {windows for windows, _ in rows}:
        made[windows] = kept = _message("variables")
        kept.domain.extend(native.domain(windows).flattened_intervals())
    proto.variables.extend([made[windows] for windows, _ in rows])
    for message, (_, name) in zip(islice(proto.variables, first, None), rows, strict=True):
        message.name = name
    found = range(first, first + len(rows))
    if QUICK:
        native.vars += [cp_model.IntVar(proto, i) for i in found]
    else:
        native.vars += [native.model.get_int_var_from_proto_index(i) for i in found]
    native.lo += [windows[0][0] for windows, _ in rows]
    native.hi += [windows[-1][1] for windows, _ in rows]
    return found


def add_intervals(lowering: CpSatLowering, members: Iterable[Interval]) -> None:
    """Make the native intervals of those members that have none, are never absent and have a fixed size above 0."""
    e, native, known = lowering.expressions, lowering.native, lowering.intervals
    new = [
        v
        for v in members
        if v.index not in known
        and e.presence[v.index] < 0
        and e.size[v.index] < 0 < v.size_lo
        and native.lo[e.start[v.index]] < native.hi[e.start[v.index]]
    ]
    proto = native.model.proto
    first = len(proto.constraints)
    proto.constraints.extend([_interval(e.start[v.index], v.size_lo) for v in new])
    for k, (message, v) in enumerate(zip(islice(proto.constraints, first, None), new, strict=True), first):
        message.name = v.name
        known[v.index] = cp_model.IntervalVar(proto, k) if QUICK else native.model.get_interval_var_from_proto_index(k)


@lru_cache(maxsize=20_000)  # of about 0.5 kB each
def _interval(start: int, size: int) -> Any:
    """Return the constraint of an interval with this variable as start and this size."""
    made = _message("constraints")
    interval = made.interval
    for edge in (interval.start, interval.end):
        edge.vars.append(start)
        edge.coeffs.append(1)
    interval.size.offset = interval.end.offset = size
    return made


def _message(field: str) -> Any:
    """Return an empty message of a repeated field of a model: its class has another place in older versions of ortools."""
    return type(getattr(_EXAMPLE.proto, field)[0])()


def _can_wrap() -> bool:
    """Return whether ortools makes a variable of a model and an index; versions that cannot have slower methods."""
    try:
        return bool(cp_model.IntVar(_EXAMPLE.proto, 0).index == 0)
    except TypeError:
        return False


_EXAMPLE = cp_model.CpModel()
_EXAMPLE.new_bool_var("")
_EXAMPLE.add_bool_or([])
QUICK = _can_wrap()
