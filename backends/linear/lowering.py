"""The choice of a lowering, the linear form that it gives, and the conversion of solutions in both directions.

The usual one is the pairwise lowering of no_overlap and cumulative: binary columns for the order of each pair of intervals.
"""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from ...errors import LoweringTooLarge, WrongValue
from ...models.arguments import checked, unknown_keyword
from ...models.array_types import Floats, Ints
from ...models.language import (
    AllOrNone,
    Alternative,
    Assignment,
    Bounds,
    Comparison,
    Cumulative,
    ForbidExtent,
    Integer,
    Interval,
    Linear,
    Model,
    NoOverlap,
    Precedence,
    Synchronize,
)
from ...models.language.bounds import attribute_bounds
from ...models.long_calls import look
from ...models.words import with_short_repr
from ..base import Exactness, GridOption, LoweringName, MissingConstruct, Side, require_data, require_horizon
from . import expressions
from .energy import Energy
from .expressions import (
    GE,
    LE,
    ColumnStarts,
    IntervalColumns,
    Intervals,
    LinearExpressions,
    Overlaps,
    alternative,
    forbid_extent,
    no_linear_form,
    transitions,
)
from .form import INF, Affine, Blocks, FormBuilder, LinearForm, Point, column
from .time_indexed import Grid, TimeIndexed

# --- The intervals and fillers of one resource of the pairwise lowering, as arrays.


@dataclass(frozen=True, eq=False)
class Members:
    """The n intervals of one resource followed by its m fillers, as arrays of length n + m unless noted.

    Attributes
    ----------
    index : array of shape (n,)
        Index of each interval in the model.
    filler : array of shape (m, 2)
        Start and end of each filler in seconds.
    start, size : arrays
        Columns of the start and of the size; size -1 if it is fixed.
    fixed : array
        The size in seconds if it is fixed, else 0.
    low, high : arrays
        Earliest and latest start in seconds if present.
    floor, ceiling : arrays
        Bounds of the start column in seconds, with the 0 of an absent interval included.
    size_lo, size_hi : arrays
        Least and greatest size in seconds.
    runs : list of Affine
        The flag r of each member.
    """

    index: Ints
    filler: Ints
    start: Ints
    size: Ints
    fixed: Ints
    low: Ints
    high: Ints
    floor: Ints
    ceiling: Ints
    size_lo: Ints
    size_hi: Ints
    runs: list[Affine]

    def times(self, p: Point) -> tuple[Ints, Ints, NDArray[np.bool_]]:
        """Return start, end and whether it runs (present, positive size) of each member at a point."""
        s = np.concatenate([p.start[self.index], self.filler[:, 0]])
        e = np.concatenate([p.end[self.index], self.filler[:, 1]])
        present = np.concatenate([p.present[self.index], np.ones(len(self.filler), dtype=bool)])
        return s, e, present & (e > s)


def span(v: Interval) -> tuple[int, int, int, int]:
    """Return the bounds of the start of v if it is present, then the bounds of its start column."""
    return v.start_lo, v.start_hi, *attribute_bounds(v, "start")


def state(p: Point, m: Members, a: Ints, b: Ints, whole: bool, gap: int) -> NDArray[np.bool_]:
    """Return the values of the binaries B (``whole``) or A of the pairs (a, b) at a point."""
    s, e, runs = m.times(p)
    both = runs[a] & runs[b]
    if whole:
        return both & (e[a] <= s[b])
    return both & (s[a] + gap <= s[b]) & (s[b] < e[a])


ADVICE = "use lowering='time-indexed' with a coarse grid (grid=seconds), or raise max_nonzeros"


class Pairwise:
    """The pairwise lowering of one model (formulas: see the module)."""

    exactness = Exactness("exact", ("lowering pairwise",))

    def __init__(self, model: Model, form: FormBuilder, max_nonzeros: int) -> None:
        rows, columns, nonzeros = self.predict(model)
        if nonzeros > max_nonzeros:
            raise LoweringTooLarge(rows, columns, nonzeros, max_nonzeros, ADVICE)
        self.form = form
        self.intervals: ColumnStarts = ColumnStarts(model, form)
        overlaps = Overlaps(model, form, self.intervals)
        self.expressions = LinearExpressions(form, self.intervals.integers, self.intervals.view, overlaps.lowered)
        self._whole: dict[tuple[int, int], tuple[int, int]] = {}  # (B[i,j], B[j,i]) by the start columns of i and j
        self._at: dict[tuple[int, int], tuple[int, int]] = {}  # (A[i,j], A[j,i]), -1 for none
        self._apart: set[tuple[int, int]] = set()  # pairs that some resource does not let run at the same time

    @staticmethod
    def predict(model: Model) -> tuple[int, int, int]:
        """Return about how many (rows, columns, non-zeros) the pairs need; the other rows are few in comparison."""
        rows = columns = nonzeros = 0
        for _, c in model.constraints:
            if isinstance(c, (NoOverlap, Cumulative)):
                n = len(c.intervals) + (len(c.steps) - 1 if isinstance(c, Cumulative) else 0)
                pairs = n * (n - 1) // 2
                states = 4
                if isinstance(c, NoOverlap):
                    states = 2
                if isinstance(c, NoOverlap) and c.timed:
                    rows += 2 * pairs
                rows = rows + (states + 1) * pairs
                columns = columns + states * pairs
                nonzeros += (4 * states + (10 if isinstance(c, NoOverlap) and c.timed else 4)) * pairs
        return rows, columns, nonzeros

    def rebuilt(self, assignment: Assignment) -> Assignment:
        """Return the assignment itself: the form can represent every assignment."""
        return assignment

    def alternative(self, c: Alternative) -> None:
        """Add the rows of an alternative (see ``expressions``)."""
        alternative(self.form, self.intervals, c)

    def forbid_extent(self, c: ForbidExtent) -> None:
        """Add the rows of a forbid_extent (see ``expressions``)."""
        forbid_extent(self.form, self.intervals, c)

    def no_overlap(self, c: NoOverlap) -> None:
        """Add the rows of a no_overlap: for each pair, one interval ends before the other starts."""
        m = self._members([v for v in c.intervals if v.size_hi > 0], [])
        i, j = self._pairs(m)
        self._states(m, i, j, np.zeros(len(i), dtype=bool))
        if c.timed:
            transitions(self.form, self.intervals, c, self._before)

    def _before(self, v: Interval, w: Interval) -> tuple[int, int] | None:
        """Return the columns of B[v,w] and B[w,v] (-1: none), or None for a pair that cannot run at the same time.

        Also None if one of them can have size 0, as B is then 0 for both orders.
        """
        if 0 in (v.size_lo, w.size_lo):
            return None
        a = self.intervals.first + v.index
        b = self.intervals.first + w.index
        columns = self._whole.get((min(a, b), max(a, b)))
        if columns is None or a < b:
            return columns
        return columns[::-1]

    def cumulative(self, c: Cumulative) -> None:
        """Add the rows of a cumulative: at each start the demands of the running intervals are at most the capacity."""
        tasks: list[Interval] = []
        demands: list[int | Linear] = []
        for v, d in zip(c.intervals, c.demands, strict=True):
            if isinstance(d, Linear):
                self.expressions.affine(d, 0)  # its functions must be defined also where the interval is absent
            if v.size_hi > 0 and not (isinstance(d, int) and d == 0):
                tasks.append(v)
                demands.append(d)
        peak = max(capacity for _, capacity in c.steps)
        fillers = self._fillers(c, tasks, peak)
        demands += [f[2] for f in fillers]
        least, most = np.array([Bounds().of(d) for d in demands], dtype=np.int64).reshape(-1, 2).T
        if most.sum() <= peak:
            return
        m = self._members(tasks, [f[:2] for f in fillers])
        i, j = self._pairs(m)
        at_j, at_i, who = self._states(m, i, j, least[i] + least[j] <= peak)
        runner = np.concatenate([i[who], j[who]])
        at = np.concatenate([j[who], i[who]])
        self._levels(m, demands, peak, (runner, at, np.concatenate([at_j, at_i])))

    def _levels(self, m: Members, demands: list[int | Linear], peak: int, states: tuple[Ints, Ints, Ints]) -> None:
        """Add the capacity row of each member j; ``states``: arrays of i, j and the column of A[i,j]."""
        runner, at, state = states
        known = np.array([isinstance(d, int) for d in demands])
        variable = {n: self._most(d) for n, d in enumerate(demands) if isinstance(d, Linear)}
        loads = [
            r.times(d) if isinstance(d, int) else self._load(*variable[n], r)
            for n, (d, r) in enumerate(zip(demands, m.runs, strict=True))
        ]
        for a, b, k in zip(*(x[~known[runner]].tolist() for x in states), strict=True):
            look()
            loads[b] = loads[b].plus(self._load(*variable[a], column(k)))
        first = self.form.n_rows
        for load in loads:
            self.form.row(load, -INF, peak)
        plain = known[runner]
        amounts = np.array([d if isinstance(d, int) else 0 for d in demands], dtype=np.int64)
        self.form.entries(first + at[plain], state[plain], amounts[runner[plain]])

    def _most(self, demand: Linear) -> tuple[Affine, float]:
        """Return a variable demand in linear form, and its greatest value."""
        return self.expressions.affine(demand, GE), self.expressions.bounds.of(demand)[1]

    def _load(self, e: Affine, most: float, on: Affine) -> Affine:
        """Return an expression that is at least the demand ``e`` if ``on`` (a constant or a binary) is 1, else at least 0."""
        if not on.terms:
            return e.times(on.constant)
        w = self.form.column(
            0, most, integral=False, name="load", recipe=lambda p: e.value(p.x) if on.value(p.x) > 0.5 else 0
        )
        self.form.row(column(w).plus(e, -1).plus(on, -most), -most, INF)
        return column(w)

    def _fillers(self, c: Cumulative, tasks: list[Interval], peak: int) -> list[tuple[int, int, int]]:
        """Return (start, end, demand) of each filler of a stepwise capacity."""
        if not tasks:
            return []
        begin = min(v.start_lo for v in tasks)
        end = max(v.start_hi + v.size_hi for v in tasks)
        times = [begin, *(max(begin, t) for t, _ in c.steps[1:]), end]
        fillers = [(a, min(b, end), peak - cap) for a, b, (_, cap) in zip(times[:-1], times[1:], c.steps, strict=True)]
        return [f for f in fillers if f[1] > f[0] and f[2] > 0]

    def _members(self, tasks: list[Interval], fillers: list[tuple[int, int]]) -> Members:
        """Return the intervals and fillers of a resource as arrays; add the start columns of the fillers."""
        filler = np.array(fillers, dtype=np.int64).reshape(-1, 2)
        begin = filler[:, 0]
        at = self.form.columns(len(filler), begin, begin, integral=True, name="filler", recipe=lambda p: begin)
        lengths = filler[:, 1] - begin
        of = self.intervals
        table = [(v.index, of.first + v.index, of.size[v.index], *span(v), v.size_lo, v.size_hi) for v in tasks]
        index, start, size, low, high, floor, ceiling, size_lo, size_hi = (
            np.array(table, dtype=np.int64).reshape(-1, 9).T
        )
        return Members(
            index=index,
            filler=filler,
            start=np.concatenate([start, np.arange(at, at + len(filler))]),
            size=np.concatenate([size, np.full(len(filler), -1)]),
            fixed=np.concatenate([np.where(size < 0, size_lo, 0), lengths]),
            low=np.concatenate([low, begin]),
            high=np.concatenate([high, begin]),
            floor=np.concatenate([floor, begin]),
            ceiling=np.concatenate([ceiling, begin]),
            size_lo=np.concatenate([size_lo, lengths]),
            size_hi=np.concatenate([size_hi, lengths]),
            runs=[of.runs(v) for v in tasks] + [Affine({}, 1.0)] * len(filler),
        )

    def _pairs(self, m: Members) -> tuple[Ints, Ints]:
        """Return the pairs (i, j) that can run at the same time, start column of i < that of j; no pair of fillers."""
        i, j = np.triu_indices(len(m.start), 1)
        apart = (m.high + m.size_hi)[i] <= m.low[j]
        apart |= (m.high + m.size_hi)[j] <= m.low[i]
        keep = ~apart & (i < len(m.index))
        i, j = i[keep], j[keep]
        forth = m.start[i] < m.start[j]
        return np.where(forth, i, j), np.where(forth, j, i)

    def _states(self, m: Members, i: Ints, j: Ints, overlap: NDArray[np.bool_]) -> tuple[Ints, Ints, NDArray[np.bool_]]:
        """Add the binaries of pairs that have none yet, and return those of all pairs.

        Resources that share a pair share its binaries. ``overlap`` says of each pair whether this resource lets it run
        at the same time. If it does not, but an earlier resource did, the row ``B[i,j] + B[j,i] >= r[i] + r[j] - 1``
        is added.

        Returns
        -------
        at_j, at_i : arrays
            Columns of A[i,j] and A[j,i] of the pairs selected by ``who``.
        who : array of bool
            The pairs that may run at the same time on all resources seen so far.
        """
        keys = list(zip(m.start[i].tolist(), m.start[j].tolist(), strict=True))
        settled = np.array([k in self._apart for k in keys], dtype=bool)
        met = np.array([k in self._whole for k in keys], dtype=bool)
        self._new_states(m, i, j, ~met & ~settled, overlap)
        separated = met & ~settled & ~overlap
        self._separate(m, i[separated], j[separated])
        self._apart.update(k for k, o in zip(keys, overlap.tolist(), strict=True) if not o)
        who = overlap & ~settled
        columns = np.array([self._at[k] for k, w in zip(keys, who.tolist(), strict=True) if w], dtype=np.int64)
        at_j, at_i = columns.reshape(-1, 2).T
        return at_j, at_i, who

    def _new_states(self, m: Members, i: Ints, j: Ints, new: NDArray[np.bool_], overlap: NDArray[np.bool_]) -> None:
        """Add the binaries B and A of the pairs ``new`` and their rows."""
        i = i[new]
        j = j[new]
        overlap = overlap[new]
        forth, back = ((m.low + m.size_lo)[a] <= m.high[b] for a, b in ((i, j), (j, i)))
        number = self._both_run(m, i, j)
        kinds: list[tuple[Ints, Ints, NDArray[np.bool_], bool, int]] = [
            (i, j, forth, True, 0),
            (j, i, back, True, 0),
            (i, j, overlap, False, 0),
            (j, i, overlap, False, 1),
        ]
        new_states = []
        for a, b, which, whole, gap in kinds:
            a, b = a[which], b[which]
            first = self.form.columns(
                len(a),
                0,
                1,
                integral=True,
                name="before" if whole else "runs at start",
                recipe=partial(state, m=m, a=a, b=b, whole=whole, gap=gap),
            )
            states = np.arange(first, first + len(a))
            self.form.entries(number[which], states, 1)
            self._order(m, a, b, states, whole, gap)
            column = np.full(len(which), -1)
            column[which] = states
            new_states.append(column.tolist())
        keys = zip(m.start[i].tolist(), m.start[j].tolist(), strict=True)
        for key, before, after, at_j, at_i in zip(keys, *new_states, strict=True):
            self._whole[key] = before, after
            self._at[key] = at_j, at_i

    def _separate(self, m: Members, i: Ints, j: Ints) -> None:
        """Add the rows ``B[i,j] + B[j,i] >= r[i] + r[j] - 1``."""
        number = self._both_run(m, i, j)
        keys = zip(m.start[i].tolist(), m.start[j].tolist(), strict=True)
        columns = np.array([self._whole[k] for k in keys], dtype=np.int64).reshape(-1, 2)
        rows, sides = np.nonzero(columns >= 0)
        self.form.entries(number[rows], columns[rows, sides], 1)

    def _order(self, m: Members, a: Ints, b: Ints, states: Ints, whole: bool, gap: int) -> None:
        """Add the rows of B (``whole``): s[a] + z[a] + gap <= s[b], or of A: s[a] + gap <= s[b], if the state is 1."""
        fixed = (m.fixed[a] if whole else 0) + gap
        reach = m.size_hi[a] + gap if whole else gap
        slack = np.maximum(m.ceiling[a] + reach - m.floor[b], 0)
        first = self.form.rows(-INF, slack - fixed, len(a))
        rows = np.arange(first, first + len(a))
        self.form.entries(rows, m.start[a], 1)
        self.form.entries(rows, m.start[b], -1)
        self.form.entries(rows, states, slack)
        if whole:
            some = m.size[a] >= 0
            self.form.entries(rows[some], m.size[a][some], 1)

    def _both_run(self, m: Members, i: Ints, j: Ints) -> Ints:
        """Add the rows ``(binaries) - r[i] - r[j] >= -1``; the caller adds the entries of the binaries."""
        certain = np.array([r.constant for r in m.runs])
        flags = np.array([next(iter(r.terms), -1) for r in m.runs], dtype=np.int64)
        first = self.form.rows(certain[i] + certain[j] - 1, INF, len(i))
        rows = np.arange(first, first + len(i))
        for a in (i, j):
            some = flags[a] >= 0
            self.form.entries(rows[some], flags[a][some], -1)
        return rows


LOWERINGS = get_args(LoweringName)
LARGEST_DATUM = 2**62
MODERATE = 100_000  # most non-zeros of a time-indexed form of step 1 that is chosen by default


class Scheme(Protocol):
    """The part that differs between the lowerings: starts, resources and exactness."""

    expressions: LinearExpressions
    exactness: Exactness

    @property
    def intervals(self) -> Intervals:
        """The columns of integers and intervals."""

    def alternative(self, c: Alternative) -> None:
        """Add the rows of an alternative."""

    def no_overlap(self, c: NoOverlap) -> None:
        """Add the rows of a no_overlap."""

    def cumulative(self, c: Cumulative) -> None:
        """Add the rows of a cumulative."""

    def forbid_extent(self, c: ForbidExtent) -> None:
        """Add the rows of a forbid_extent."""

    def rebuilt(self, assignment: Assignment) -> Assignment:
        """Return the assignment with starts that the form can represent."""


def require_options(backend: str, options: Mapping[str, Any]) -> None:
    """Raise WrongArgument for an option that no lowering has.

    Parameters
    ----------
    backend : str
        The name of the backend, for the message.
    options : mapping
        The options of ``compile``.
    """
    known = [name for name in inspect.signature(lower).parameters if name != "model"]
    for name in options:
        if name not in known:
            raise unknown_keyword(f"compile for {backend}", name, known)


@checked(values=False)
def lower(
    model: Model,
    *,
    lowering: LoweringName | None = None,
    grid: GridOption | None = None,
    side: Side | None = None,
    integral: bool = True,
    max_nonzeros: int = 20_000_000,
) -> Lowered:
    """Lower a model to linear form. Of several objectives only the first is used.

    Parameters
    ----------
    model : Model
        The model.
    lowering : {"pairwise", "time-indexed", "energy"}, optional
        "pairwise" is exact. "time-indexed" is exact with ``grid=1``, otherwise see ``side``. "energy" relaxes
        no_overlap and cumulative; it has few columns and a strong bound, and needs a ``grid``. By default
        "time-indexed" if a ``grid`` is given or if its form with a step of 1 s is small, else "pairwise".
    grid : int or tuple of two ints, optional
        Step of the grid in seconds; or (fine, coarse): the step grows from ``fine`` at the earliest start to ``coarse``
        at the horizon.
    side : {"restrict", "relax"}, optional
        For "time-indexed" alone, on a grid coarser than 1 s. "restrict" (the default): starts lie on grid points and an interval occupies
        each cell that it touches, so each solution is feasible for the model. "relax": an interval occupies only the
        cells that it occupies for each start in its start cell, so the optimum is a valid bound.
    integral : bool
        False for the linear relaxation: columns need not be whole numbers. It gives a fast bound.
    max_nonzeros : int
        Largest number of non-zeros that may be predicted for the form.

    Returns
    -------
    Lowered
        The arrays, and methods that convert solutions in both directions.

    Raises
    ------
    LoweringTooLarge
        Before anything is built, if more than ``max_nonzeros`` non-zeros are predicted.
    ValueError
        If options contradict each other.

    Examples
    --------
    >>> import schedlab as sl
    >>> m = sl.Model("two jobs", horizon=8); a, b = m.interval("a", size=3), m.interval("b", size=4)
    >>> m.add(sl.no_overlap([a, b])); m.minimize(sl.max([a.end, b.end]))
    >>> lower(m, lowering="pairwise").form.size
    {'variables': 5, 'constraints': 5, 'nonzeros': 12}
    """
    if lowering is not None and lowering not in LOWERINGS:
        raise WrongValue(f"lowering={lowering!r} is unknown; use one of {', '.join(map(repr, LOWERINGS))}")
    if side not in (None, "restrict", "relax"):
        raise WrongValue(f"side={side!r} is unknown; a grid has the sides 'restrict' and 'relax'")
    if lowering == "pairwise" and grid is not None:
        raise WrongValue("a grid belongs to lowering='time-indexed' or 'energy', not to 'pairwise'")
    if lowering == "energy" and grid is None:
        raise WrongValue("lowering='energy' needs a grid: grid=seconds or grid=(fine, coarse)")
    require_horizon(model, "a linear lowering")
    require_data(model, "a linear lowering", LARGEST_DATUM)
    if lowering is None:
        lowering = "pairwise"
        if grid is not None or _small_on_step_1(model):
            lowering = "time-indexed"
    if side is not None and lowering != "time-indexed":
        raise WrongValue(f"side={side!r} belongs to lowering='time-indexed' with a grid, not to {lowering!r}")
    form = FormBuilder()
    scheme: Scheme
    if lowering == "pairwise":
        scheme = Pairwise(model, form, max_nonzeros)
    elif lowering == "energy" and grid is not None:
        scheme = Energy(model, form, grid, max_nonzeros)
    else:
        scheme = TimeIndexed(model, form, 1 if grid is None else grid, side or "restrict", max_nonzeros)
    if not integral and scheme.exactness.kind == "restriction":
        raise WrongValue("integral=False is for bounds, but a restriction has none; use side='relax'")
    return Lowered(model, form, scheme, integral)


def _small_on_step_1(model: Model) -> bool:
    """Return whether a time-indexed form with a step of 1 s is small, also compared to the pairwise form."""
    try:
        nonzeros = TimeIndexed.predict(model, Grid.cover(model, 1, MODERATE), "restrict")[2]
    except LoweringTooLarge:
        return False
    return nonzeros <= min(MODERATE, 2_000 + 20 * Pairwise.predict(model)[2])


@with_short_repr
class Lowered:
    """A model in linear form, and the conversion between assignments and column values.

    Attributes
    ----------
    model : Model
        The model.
    form : LinearForm
        The linear program as sparse arrays.
    scheme : Scheme
        The lowering that made it.
    exactness : Exactness
        Whether the form is exact, a restriction or a relaxation of the model.
    integral : bool
        False if only the linear relaxation is to be solved.
    """

    def __init__(self, model: Model, form: FormBuilder, scheme: Scheme, integral: bool) -> None:
        self.model = model
        self.scheme = scheme
        self.integral = integral
        self.exactness = scheme.exactness
        if not integral:
            self.exactness = Exactness("relaxation", (*scheme.exactness.notes, "linear relaxation"))
        for name, constraint in model.constraints:
            form.name_rows(name)
            self._lower(constraint)
        form.name_rows("objective")
        maximize = model.sense == "maximize"
        if model.objectives:
            objective = model.objectives[0]
        else:
            objective = Linear({})
        cost = scheme.expressions.affine(objective, LE if maximize else GE)
        self._builder = form
        self.form: LinearForm = form.build(cost, maximize=maximize)

    def _lower(self, c: Any) -> None:
        """Add the rows of one constraint."""
        s = self.scheme
        match c:
            case Comparison():
                s.expressions.compare(c)
            case Alternative():
                s.alternative(c)
            case Synchronize():
                expressions.synchronize(self.scheme.expressions.form, s.intervals, c)
            case Precedence():
                expressions.precedence(self.scheme.expressions.form, s.intervals, c)
            case AllOrNone():
                expressions.all_or_none(self.scheme.expressions.form, s.intervals, c)
            case ForbidExtent():
                s.forbid_extent(c)
            case NoOverlap():
                s.no_overlap(c)
            case Cumulative():
                s.cumulative(c)
            case _:
                raise MissingConstruct(no_linear_form(type(c).__name__))

    def columns(self, x: Interval | Integer) -> IntervalColumns | int:
        """Return the column of an integer variable or the columns of an interval."""
        if isinstance(x, Integer):
            return self.scheme.intervals.integers + x.index
        return self.scheme.intervals.columns(x)

    def read(self, x: Floats) -> Assignment:
        """Return the assignment for column values ``x``, rounded to whole numbers."""
        of = self.scheme.intervals
        assignment = Assignment(self.model)
        starts, lengths, present = of.read(x)
        assignment.start = np.where(present, starts, 0).tolist()
        assignment.end = np.where(present, starts + lengths, 0).tolist()
        assignment.present = present.tolist()
        n = len(self.model.integers)
        assignment.integer = np.rint(x[of.integers : of.integers + n]).astype(np.int64).tolist()
        return assignment

    def rebuilt(self, assignment: Assignment) -> Assignment:
        """Return the assignment with starts that the form can represent: moved to grid points if the grid restricts."""
        return self.scheme.rebuilt(assignment)

    def hint(self, assignment: Assignment) -> Floats:
        """Return the value of each column for the rebuilt assignment: a warm start for a solver."""
        return self._builder.values(self.rebuilt(assignment))


# --- Names of the columns and rows of a linear form, as files in the formats LP and MPS can have them.


LONGEST = 200  # characters; readers of LP files take 255
NUMBERED = 12  # characters that a number and its mark may add
# words of the format LP in which a section begins, and what it takes for numbers: "e5", "inf"
RESERVED = re.compile(
    r"(?i)^(max|min|st|s\.t\.?|subject|such|bounds?|free|inf(inity)?|bin(ar(y|ies))?|gen(erals?)?|int(egers?)?|semis?|end"
    r"|obj|e\d.*|sec|sin|sos[12]?|maxim(um|ize)|minim(um|ize))$"
)


def written(name: str) -> str:
    """Return a name in the letters that files in the formats LP and MPS can have.

    Examples
    --------
    >>> written("a on node 3"), written("3 <= a.end"), written("e5"), written("ä")
    ('a_on_node_3', '_3_a.end', '_e5', '_')
    >>> written("end"), written("endless")
    ('_end', 'endless')
    """
    plain = re.sub(r"[^A-Za-z0-9_.]+", "_", name)[: LONGEST - NUMBERED]
    if not plain or plain[0] in "0123456789." or RESERVED.match(plain):
        return f"_{plain}"
    return plain


def distinct(names: Iterable[str]) -> list[str]:
    """Return names of which no two are equal, also if a dot counts as an underscore, as for Pyomo; equal ones are numbered.

    Examples
    --------
    >>> distinct(["lag", "a", "lag", "lag_1"])
    ['lag_2', 'a', 'lag_3', 'lag_1']
    >>> distinct(["", "", "Free", "st"])
    ['__1', '__2', '_Free', '_st']
    """
    plain = [written(name) for name in names]
    count = Counter(map(_key, plain))
    taken = {key for key, times in count.items() if times == 1}
    last: Counter[str] = Counter()
    made = []
    for name in plain:
        key = _key(name)
        chosen = name
        while count[key] > 1 and (chosen == name or _key(chosen) in taken):
            last[key] += 1
            chosen = f"{name}_{last[key]}"
        taken.add(_key(chosen))
        made.append(chosen)
    return made


def _key(name: str) -> str:
    return name.replace(".", "_")


def column_names(lowered: Lowered) -> list[str]:
    """Return the name of each column: ``x`` of an integer, ``a.start``, ``a.size``, ``a.presence`` of an interval.

    A column of a start on a grid is ``a.start_is_5``; other columns are named for what the lowering uses them, such as
    ``before_7``.
    """
    blocks = lowered.form.column_blocks
    names = _of_blocks(blocks, lowered.form.size["variables"])
    for x in lowered.model.integers:
        index: Any = lowered.columns(x)
        names[index] = x.name
    for v in lowered.model.intervals:
        columns: Any = lowered.columns(v)
        parts = {"presence": columns.presence, "start": columns.start, "size": columns.size}
        for part, k in parts.items():
            if k is not None:
                names[k] = f"{v.name}.{part}"
        for time, k in zip(columns.times, columns.cells, strict=False):
            names[k] = f"{v.name}.start_is_{time}"
    return distinct(names)


def row_names(lowered: Lowered) -> list[str]:
    """Return the name of each row: that of the constraint from which it comes, numbered if several do."""
    return distinct(_of_blocks(lowered.form.row_blocks, lowered.form.size["constraints"]))


def _of_blocks(blocks: Blocks, count: int) -> list[str]:
    """Return the name of the block of each index."""
    ends = [*blocks.first[1:], count]
    if blocks.first:
        names = [""] * blocks.first[0]
    else:
        names = [""] * count
    for name, first, end in zip(blocks.names, blocks.first, ends, strict=True):
        names += [name] * (end - first)
    return names
