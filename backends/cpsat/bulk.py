"""Many native variables, intervals and demands at once.

A call of ortools for one variable takes 4 us, for one interval 6 us. Here one message is filled in again and again, and
copies of it are appended to the ``CpModelProto``: 1 us and 2 us. The Python objects of ortools that stand for variables and
intervals are made when they are first used.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ortools.sat.python import cp_model

from ...models.language import Cumulative, Interval
from ...models.language.clock import look
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
    start = lowering.expressions.start
    for (i, *_), k in zip(rows, add_variables(lowering.native, [(w, n) for _, w, n in rows]), strict=True):
        start[i] = k


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
    first, templates = len(native.lo), {}
    for windows in {windows for windows, _ in rows}:
        templates[windows] = made = _message("variables")
        made.domain.extend(native.domain(windows).flattened_intervals())
    append = native.model.proto.variables.append
    for windows, name in rows:
        look()
        made = templates[windows]
        made.name = name
        append(made)
    native.vars.add(len(rows))
    native.lo += [windows[0][0] for windows, _ in rows]
    native.hi += [windows[-1][1] for windows, _ in rows]
    return range(first, first + len(rows))


def add_intervals(lowering: CpSatLowering, members: Iterable[Interval]) -> None:
    """Make the native intervals of those members that have none, are never absent and have a fixed size above 0.

    Those with a fixed start come last.
    """
    e, known, lo, hi = lowering.expressions, lowering.rows, lowering.native.lo, lowering.native.hi
    presence, sizes, start = e.presence, e.size, e.start
    moving: list[tuple[Interval, int]] = []
    fixed: list[tuple[Interval, int]] = []
    for v in members:
        i = v.index
        if i not in known and presence[i] < 0 and sizes[i] < 0 < v.size_lo and i not in lowering.intervals:
            k = start[i]
            (moving if lo[k] < hi[k] else fixed).append((v, k))
    if moving:
        _append(lowering, moving, False)
    if fixed:
        _append(lowering, fixed, True)


def _append(lowering: CpSatLowering, rows: Sequence[tuple[Interval, int]], fixed: bool) -> None:
    """Append the intervals with these start variables to the native model; ``fixed``: their ends are numbers."""
    known, lo, constraints = lowering.rows, lowering.native.lo, lowering.native.model.proto.constraints
    made, append = _message("constraints"), constraints.append
    start, end, size = made.interval.start, made.interval.end, made.interval.size
    for edge in (start,) if fixed else (start, end):
        edge.vars.append(0)
        edge.coeffs.append(1)
    start_vars, end_vars = start.vars, end.vars
    for row, (v, k) in enumerate(rows, len(constraints)):
        look()
        start_vars[0] = k
        if fixed:
            end.offset = lo[k] + v.size_lo
        else:
            end_vars[0] = k
            end.offset = v.size_lo
        size.offset = v.size_lo
        made.name = v.name
        append(made)
        known[v.index] = row


def add_cumulative(lowering: CpSatLowering, c: Cumulative) -> bool:
    """Post a cumulative of one capacity whose intervals ``add_intervals`` makes and whose demands are numbers.

    Returns
    -------
    bool
        Whether it is such a cumulative; if not, nothing is posted.
    """
    plain = len(c.steps) == 1 and not lowering.guarded and set(map(type, c.demands)) == {int}
    if not plain or lowering.choices.shared(c.intervals):
        return False
    add_intervals(lowering, c.intervals)
    known = lowering.rows
    if not known.keys() >= {v.index for v in c.intervals}:
        return False
    rows = [(known[v.index], amount) for v, amount in zip(c.intervals, c.demands, strict=True) if amount]
    posted = lowering.native.model.proto.constraints.add().cumulative
    posted.capacity.offset = c.steps[0][1]
    posted.intervals.extend([row for row, _ in rows])
    demand, append = _message("constraints").interval.size, posted.demands.append
    for _, demand.offset in rows:
        append(demand)
    lowering.native.nonzeros += len(rows)
    return True


def _message(field: str) -> Any:
    """Return an empty message of a repeated field of a model: its class has another place in older versions of ortools."""
    return type(getattr(_EXAMPLE.proto, field)[0])()


_EXAMPLE = cp_model.CpModel()
_EXAMPLE.new_bool_var("")
_EXAMPLE.add_bool_or([])
