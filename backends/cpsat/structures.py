"""The lowering of calendars, domains with holes, and of capacities and time lags that are expressions, to CP-SAT."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any, Protocol

from ...models.language import InDomain, Intensity, Interval, Linear, Stated, VariableCapacity, VariableDelay
from ...models.language.calendars import FULL
from ..base import MissingConstruct
from ..decompositions.breaks import Stretch, breaks_only, percents_of_work, stretches
from .expressions import CpSatExpressions
from .native import Form, NativeModel, WholeForm

ANY = 2**61  # no value of a form is beyond it


class Lowering(Protocol):
    """What is used of the lowering of a model, ``lowering.CpSatLowering``."""

    native: NativeModel
    expressions: CpSatExpressions

    def edge(self, v: Interval, field: str) -> Form:
        """Return the native start or end, which is free if the interval is absent."""

    def present(self, v: Interval) -> tuple[int, ...]:
        """Return the presence literal of an interval; nothing if it is not optional."""

    def rows_of(self, members: Sequence[Interval], amounts: Sequence[int | Linear]) -> tuple[list[Any], list[Any]]:
        """Return the native intervals on a resource, and their demands."""


def stated(lowering: Lowering, c: Stated) -> None:
    """Post one of these constraints; raise MissingConstruct for others."""
    match c:
        case InDomain():
            in_domain(lowering, c)
        case Intensity():
            (breaks if breaks_only(c) else intensity)(lowering, c)
        case VariableCapacity():
            variable_capacity(lowering, c)
        case VariableDelay():
            variable_delay(lowering, c)
        case _:
            raise MissingConstruct(f"CP-SAT has no {type(c).__name__}")


def in_domain(lowering: Lowering, c: InDomain) -> None:
    """Post a domain with holes, as a linear expression in a domain."""
    native = lowering.native
    form = lowering.edge(c.interval, c.own_end) if c.interval and c.own_end in ("start", "end") else None
    w = native.whole(lowering.expressions.form(c.expression) if form is None else form, 1)
    when = () if c.interval is None else lowering.present(c.interval)
    native.inside(w, c.within(-ANY, ANY), (*when, *native.guard))


def breaks(lowering: Lowering, c: Intensity) -> None:
    """Post a calendar with breaks: one literal for each size, with all windows of the start that lead to it.

    An interval that starts or ends in a break has a literal for this break, with its own range of sizes.
    """
    v, native = c.interval, lowering.native
    start, end = lowering.edge(v, "start"), lowering.edge(v, "end")
    terms = Counter(end.terms)
    terms.subtract(start.terms)
    size = native.whole(Form({k: n for k, n in terms.items() if n}, end.constant - start.constant), 1)
    ends, starts = native.whole(end, 1), native.whole(start, 1)
    literals = []
    for same in _alike(stretches(c)):
        recipe = partial(_in_one_of, same=same, start=starts, end=ends)
        literal = native.boolean("", recipe)
        native.inside(starts, [one.starts for one in same], (literal,))
        native.inside(size, [same[0].sizes], (literal,))
        if same[0].sizes[0] < same[0].sizes[1]:
            native.inside(ends, [same[0].ends], (literal,))
        literals.append(literal)
    native.require(Form(dict.fromkeys(literals, 1)), 1, 1, lowering.present(v))


def _alike(made: list[Stretch]) -> list[list[Stretch]]:
    """Return the pairs of pieces by their size, those without a fixed size alone."""
    fixed: dict[int, list[Stretch]] = {}
    alone = []
    for one in made:
        if one.sizes[0] == one.sizes[1]:
            fixed.setdefault(one.sizes[0], []).append(one)
        else:
            alone.append([one])
    return [*fixed.values(), *alone]


def _in_one_of(values: list[int], same: list[Stretch], start: WholeForm, end: WholeForm) -> int:
    """Return whether the start and end lie in one of the pairs of pieces."""
    s, e = start.value(values), end.value(values)
    return int(any(one.holds(s, e) for one in same))


def intensity(lowering: Lowering, c: Intensity) -> None:
    """Post any other calendar: bounds on the work, in percent of seconds."""
    low, high = c.work
    work = lowering.expressions.form(percents_of_work(c))
    lowering.native.require(work, FULL * low, FULL * high + FULL - 1, lowering.present(c.interval))


def variable_capacity(lowering: Lowering, c: VariableCapacity) -> None:
    """Post a cumulative whose capacity is an expression of one variable."""
    intervals, demands = lowering.rows_of(c.intervals, c.demands)
    lowering.native.nonzeros += len(intervals)
    capacity = lowering.expressions.affine(lowering.expressions.form(c.capacity))[1]
    lowering.native.model.add_cumulative(intervals, demands, capacity)


def variable_delay(lowering: Lowering, c: VariableDelay) -> None:
    """Post linear comparisons under the presence of both intervals."""
    left, _, right = c.relation.partition("_before_")
    first = lowering.edge(c.before, left)
    second = lowering.edge(c.after, right)
    when = (*lowering.present(c.before), *lowering.present(c.after))
    for lag, sign in ((c.delay, 1), (c.at_most, -1)):
        if lag is None:
            continue
        own = lowering.expressions.form(lag)
        terms: Counter[int] = Counter()
        for form, factor in ((second, sign), (first, -sign), (own, -sign)):
            for k, coefficient in form.terms.items():
                terms[k] += factor * coefficient  # type: ignore[assignment]
        constant = sign * (second.constant - first.constant - own.constant)
        lowering.native.require(Form(dict(terms), constant), 0, float("inf"), when)
