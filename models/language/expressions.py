"""The atoms of linear expressions: integer variables, attributes of intervals, and functions; and interval variables.

Linear expressions and comparisons are defined in ``linear_expressions`` and can be imported from here as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Literal

from ..counts import how_many
from .linear_expressions import (
    LONGEST,
    OF_INTERVALS,
    Atom,
    Comparison,
    Expression,
    Linear,
    Owner,
    brief,
    common_model,
    linear,
    without,
)
from .quantities import Number, Window

AttributeName = Literal["start", "end", "size", "presence"]


class Integer(Atom):
    """An integer variable in [lo, hi]; made by ``Model.integer`` and ``Model.boolean``.

    Parameters
    ----------
    model : Model
        The model to which the variable belongs.
    index : int
        Its position in ``model.integers``.
    name : str
        The name that messages use.
    lo, hi : int
        The bounds, both included.
    """

    __slots__ = ("_model", "hi", "index", "lo", "name")

    def __init__(self, model: Owner, index: int, name: str, lo: int, hi: int) -> None:
        self._model = model
        self.index = index
        self.name = name
        self.lo = lo
        self.hi = hi

    @property
    def model(self) -> Owner:
        """The model to which the variable belongs."""
        return self._model

    def pieces(self) -> Iterator[str]:
        """Yield the name."""
        yield self.name


class Attribute(Atom):
    """The start, end, size or presence (0 or 1) of an interval as a number; 0 if the interval is absent."""

    __slots__ = ("field", "interval")

    def __init__(self, interval: Interval, field: AttributeName) -> None:
        self.interval = interval
        self.field = field

    @property
    def model(self) -> Owner:
        """The model to which the interval belongs."""
        return self.interval.model

    def pieces(self) -> Iterator[str]:
        """Yield the name of the interval and that of the attribute."""
        yield f"{self.interval.name}.{self.field}"


@without(OF_INTERVALS)
class Interval:
    """An interval variable: it occupies [start, end) with end = start + size; made by ``Model.interval``.

    The properties ``start``, ``end``, ``size`` and ``presence`` are expressions.

    Parameters
    ----------
    model : Model
        The model to which the interval belongs.
    index : int
        Its position in ``model.intervals``.
    name : str
        The name that messages use.
    size : (int, int)
        The least and the greatest size in seconds, kept as ``size_lo`` and ``size_hi``.
    windows : tuple of (int, int), or None
        Disjoint windows (lo, hi) in increasing order, both ends included, in which the start may lie. None: 0 to the
        horizon of the model.
    optional : bool
        Whether the interval may be absent.
    """

    __slots__ = ("_attributes", "_windows", "index", "model", "name", "optional", "size_hi", "size_lo")

    def __init__(
        self,
        model: Owner,
        index: int,
        name: str,
        size: tuple[int, int],
        windows: tuple[Window, ...] | None,
        optional: bool,
    ) -> None:
        self.model = model
        self.index = index
        self.name = name
        self.size_lo, self.size_hi = size
        self._windows = windows
        self.optional = optional
        self._attributes: dict[str, Attribute] | None = None

    def _attribute(self, field: AttributeName) -> Attribute:
        if self._attributes is None:
            self._attributes = {}
        attribute = self._attributes.get(field)
        if attribute is None:
            attribute = self._attributes[field] = Attribute(self, field)
        return attribute

    @property
    def start(self) -> Attribute:
        """The start in seconds, as an expression."""
        return self._attribute("start")

    @property
    def end(self) -> Attribute:
        """The end in seconds, as an expression."""
        return self._attribute("end")

    @property
    def size(self) -> Attribute:
        """The size in seconds, as an expression."""
        return self._attribute("size")

    @property
    def presence(self) -> Attribute:
        """The presence, as an expression: 1 if the interval is present, else 0."""
        return self._attribute("presence")

    @property
    def windows(self) -> tuple[Window, ...]:
        """The windows of the start; from 0 to the model's horizon if none were declared."""
        return self._windows if self._windows is not None else ((0, self.model.horizon),)

    @property
    def declared_windows(self) -> tuple[Window, ...] | None:
        """The windows of the start as declared; None if none were declared."""
        return self._windows

    @property
    def start_lo(self) -> int:
        """The earliest start in seconds."""
        return self.windows[0][0]

    @property
    def start_hi(self) -> int:
        """The latest start in seconds."""
        return self.windows[-1][1]

    def __repr__(self) -> str:
        name = self.name
        if len(name) <= LONGEST and name.isprintable():  # the common case, kept fast
            return name
        return brief([name], LONGEST)


class Function(Atom):
    """An atom that is computed from other expressions, its ``operands``."""

    __slots__ = ("_model", "operands")

    def __init__(self, operands: tuple[Linear, ...]) -> None:
        self.operands = operands
        self._model = common_model((a for e in operands for a in e.terms), type(self).__name__.lower())

    @property
    def model(self) -> Owner | None:
        """The model to which the operands belong; None without variables."""
        return self._model

    def pieces(self) -> Iterator[str]:
        """Yield the text of the function; of its operands at most 6 are shown."""
        for k, e in enumerate(self.operands[:6]):
            yield ", " if k else f"{type(self).__name__.lower()}("
            yield from e.pieces()
        yield ", ...)" if len(self.operands) > 6 else ")"


class Max(Function):
    """The maximum of the operands."""

    __slots__ = ()

    @property
    def integral(self) -> bool:  # type: ignore[override]
        """Whether the value is a whole number for every assignment."""
        return all(e.integral for e in self.operands)


class Min(Function):
    """The minimum of the operands."""

    __slots__ = ()

    @property
    def integral(self) -> bool:  # type: ignore[override]
        """Whether the value is a whole number for every assignment."""
        return all(e.integral for e in self.operands)


class Holds(Function):
    """1 if an integer comparison holds, else 0."""

    __slots__ = ("comparison",)

    def __init__(self, comparison: Comparison) -> None:
        super().__init__((comparison.expr,))
        self.comparison = comparison

    def pieces(self) -> Iterator[str]:
        """Yield the text of the comparison."""
        yield "holds("
        yield from self.comparison.pieces()
        yield ")"


class Overlap(Function):
    """The length in seconds of an interval inside the window [lo, hi); 0 if the interval is absent."""

    __slots__ = ("hi", "interval", "lo")

    def __init__(self, interval: Interval, lo: int, hi: int) -> None:
        super().__init__((interval.start.linear(), interval.end.linear()))
        self.interval = interval
        self.lo = lo
        self.hi = hi

    def pieces(self) -> Iterator[str]:
        """Yield the text with the interval and the window."""
        yield f"overlap({self.interval}, {self.lo}, {self.hi})"


class Element(Function):
    """The entry ``array[index]``; an index outside of the array is infeasible."""

    __slots__ = ("array",)

    def __init__(self, array: tuple[Number, ...], index: Linear) -> None:
        super().__init__((index,))
        self.array = array

    @property
    def integral(self) -> bool:  # type: ignore[override]
        """Whether all entries of the array are whole numbers."""
        return all(type(v) is int for v in self.array)

    def pieces(self) -> Iterator[str]:
        """Yield the text with the length of the array."""
        yield f"element(array of {len(self.array)}, "
        yield from self.operands[0].pieces()
        yield ")"


class Piecewise(Function):
    """The piecewise-linear function through points (x, y); an x outside of them is infeasible."""

    __slots__ = ("points",)
    integral = False

    def __init__(self, x: Linear, points: tuple[tuple[Number, Number], ...]) -> None:
        super().__init__((x,))
        self.points = points

    def pieces(self) -> Iterator[str]:
        """Yield the text with the number of points."""
        yield "piecewise("
        yield from self.operands[0].pieces()
        yield f", {how_many(len(self.points), 'point')})"


class Product(Function):
    """The product of the two operands, which are whole numbers."""

    __slots__ = ()


class Quotient(Function):
    """The first operand divided by the second one, rounded down (``//`` of Python); a divisor of 0 is infeasible."""

    __slots__ = ()


class Remainder(Function):
    """What is left of the first operand after division by the second one; a divisor of 0 is infeasible.

    It is ``x - d * (x // d)``, from 0 to ``d - 1`` (``%`` of Python).
    """

    __slots__ = ()


class Entry(Function):
    """The expression at an index: the first operand is the index, the others are the entries, all whole numbers.

    An index outside of the entries is infeasible.
    """

    __slots__ = ()

    @property
    def entries(self) -> tuple[Linear, ...]:
        """The expressions, by their positions."""
        return self.operands[1:]

    def pieces(self) -> Iterator[str]:
        """Yield the text with the number of entries."""
        yield f"element({how_many(len(self.entries), 'expression')}, "
        yield from self.operands[0].pieces()
        yield ")"


class Neighbours(Function):
    """A sum over the direct neighbours in a sequence; intervals of the sequence that overlap are infeasible.

    With the present intervals i[1], ..., i[m] in the order of their starts, and their types t, it is
    ``first[t[1]] + costs[t[1]][t[2]] + ... + costs[t[m-1]][t[m]] + last[t[m]]``; 0 if none is present. The operands are the
    starts, and the presences of the intervals that are optional.

    Parameters
    ----------
    intervals : tuple of n Interval
        The intervals of the sequence, with sizes of at least 1.
    types : tuple of n int
        The type of each interval, in [0, k).
    costs : tuple of k tuples of k int
        The summand of two neighbours of these types.
    first, last : tuple of k int
        The summands of the first and of the last interval, by their types.
    """

    __slots__ = ("costs", "first", "intervals", "last", "types")

    def __init__(
        self,
        intervals: tuple[Interval, ...],
        types: tuple[int, ...],
        costs: tuple[tuple[int, ...], ...],
        first: tuple[int, ...],
        last: tuple[int, ...],
    ) -> None:
        attributes = [v.start for v in intervals] + [v.presence for v in intervals if v.optional]
        super().__init__(tuple(a.linear() for a in attributes))
        self.intervals = intervals
        self.types = types
        self.costs = costs
        self.first = first
        self.last = last

    def pieces(self) -> Iterator[str]:
        """Yield the text with the first intervals."""
        yield f"neighbours({', '.join(map(str, self.intervals[:4]))}{', ...' if len(self.intervals) > 4 else ''})"

    def value(self, order: Sequence[int]) -> int:
        """Return the sum for an order of intervals, which are given by their positions."""
        kinds = [self.types[k] for k in order]
        if not kinds:
            return 0
        between = sum(self.costs[s][t] for s, t in pairwise(kinds))
        return self.first[kinds[0]] + between + self.last[kinds[-1]]

    def range(self) -> tuple[int, int]:
        """Return bounds of the sum, in which each interval has the summand of what follows it."""
        used = sorted(set(self.types))
        after = {s: [*(self.costs[s][t] for t in used), self.last[s]] for s in used}
        ranges = {s: (min(c), max(c)) for s, c in after.items()}
        low = min([0, *(self.first[s] for s in used)])
        high = max([0, *(self.first[s] for s in used)])
        for v, s in zip(self.intervals, self.types, strict=True):
            least, most = ranges[s]
            low += min(least, 0) if v.optional else least
            high += max(most, 0) if v.optional else most
        return low, high


def atoms_below(expressions: Iterable[Linear], seen: set[Atom] | None = None) -> Iterator[Atom]:
    """Yield every atom of the expressions, and before it the atoms of its operands; each atom once.

    Parameters
    ----------
    expressions : iterable of Linear
        The expressions to search.
    seen : set of Atom, optional
        Atoms that are not yielded, and neither are the atoms below them. The atoms that are yielded are added to the
        set.

    Yields
    ------
    Atom
        The innermost atoms first.

    Examples
    --------
    >>> from schedlab import Model, max
    >>> m = Model("m"); x = m.integer("x", 0, 3)
    >>> list(atoms_below([max([x, 2]) + x]))
    [x, max(x, 2)]
    """
    seen = set() if seen is None else seen
    for expression in expressions:
        stack: list[tuple[Atom, bool]] = [(a, False) for a in reversed(expression.terms)]
        while stack:
            atom, opened = stack.pop()
            if atom in seen:
                continue
            if opened or not isinstance(atom, Function):
                seen.add(atom)
                yield atom
                continue
            stack.append((atom, True))
            stack.extend((a, False) for e in reversed(atom.operands) for a in reversed(e.terms))


__all__ = [
    "Atom",
    "Attribute",
    "AttributeName",
    "Comparison",
    "Element",
    "Entry",
    "Expression",
    "Function",
    "Holds",
    "Integer",
    "Interval",
    "Linear",
    "Max",
    "Min",
    "Neighbours",
    "Number",
    "Overlap",
    "Piecewise",
    "Product",
    "Quotient",
    "Remainder",
    "Window",
    "atoms_below",
    "brief",
    "common_model",
    "linear",
]
