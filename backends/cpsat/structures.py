"""The lowering of domains with holes, and of capacities and time lags that are expressions, to CP-SAT."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Protocol

from ...models.language import InDomain, Interval, Linear, Stated, VariableCapacity, VariableDelay
from ..base import MissingConstruct
from .expressions import CpSatExpressions
from .native import Form, NativeModel

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
