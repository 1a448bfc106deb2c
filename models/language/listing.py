"""The text of a model: its objectives, variables and constraints, one per line, in the notation of the language."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import MISSING, Field, fields
from functools import cache
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

from ..counts import how_many_of
from ..excerpt import one_line, visible
from .calendars import InDomain, Intensity
from .constraints import Constraint, Stated, expressions_of
from .expressions import (
    Atom,
    Attribute,
    Comparison,
    Element,
    Entry,
    Function,
    Holds,
    Integer,
    Interval,
    Linear,
    Neighbours,
    Overlap,
    Piecewise,
    atoms_below,
)
from .structures import Isomorphism, Span, VariableCapacity, VariableDelay

if TYPE_CHECKING:
    from .data import ModelData

WIDTH = 200  # characters of a line of a listing that is not complete
SHORT = 40  # characters of a function that is written out wherever it occurs

Section = tuple[str, list[Any], Callable[[Any], str]]


def kinds_of(constraint: type) -> tuple[str, ...]:
    """Return the types in JSON of a class of constraints: the values of its field ``kind``, or its name in snake case.

    Examples
    --------
    >>> from schedlab.models.language import NoOverlap, Precedence
    >>> kinds_of(NoOverlap), kinds_of(Precedence)[0]
    (('no_overlap',), 'end_before_start')
    """
    hints = get_type_hints(constraint)
    if "kind" in hints:
        return get_args(hints["kind"])
    return ("".join(f"_{c.lower()}" if c.isupper() else c for c in constraint.__name__).strip("_"),)


STATED = (InDomain, Intensity, Isomorphism, Span, VariableCapacity, VariableDelay)
OF_OTHERS = (c for c in get_args(Constraint) if c not in (Comparison, Stated))
CLASSES: dict[str, type] = {kind: c for c in (*OF_OTHERS, *STATED) for kind in kinds_of(c)}
"""The classes of constraints other than comparisons, by their types in JSON."""


@cache
def arguments(kind: str) -> tuple[tuple[Field[Any], Any], ...]:
    """Return the fields of a type of constraint with their annotations, without ``kind``."""
    hints = get_type_hints(CLASSES[kind])
    left_out = {"kind", "other"} if kind in ("first", "last") else {"kind"}  # an order of one interval has no other
    return tuple((f, hints[f.name]) for f in fields(CLASSES[kind]) if f.name not in left_out)


def kind_and_values(constraint: Constraint) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """Return the type of a constraint other than a comparison, its fields without and those with a default value.

    Fields that have their default value are left out.
    """
    kind: str = getattr(constraint, "kind", None) or kinds_of(type(constraint))[0]
    values = [(f, getattr(constraint, f.name)) for f, _ in arguments(kind)]
    required = {f.name: value for f, value in values if f.default is MISSING}
    return kind, required, {f.name: v for f, v in values if f.name not in required and v != f.default}


def functions_of(model: ModelData) -> list[Function]:
    """Return the functions in the constraints and objectives of a model; each one after those that it contains."""
    parts = [e for c in model.constraints for e in linears_of(c.constraint)]
    return [a for a in atoms_below([*parts, *model.objectives]) if isinstance(a, Function)]


def linears_of(constraint: Constraint) -> Iterator[Linear]:
    """Yield the expressions in the fields of a constraint."""
    yield from expressions_of(constraint)


def listing(model: ModelData, limit: int | None, describe: Callable[[Constraint], str]) -> str:
    """Return the text of a model: ``limit`` entries with at most 200 characters each, or everything if it is None.

    ``describe`` makes the names of constraints that were declared without one; the listing leaves these names out.
    """
    notation = Notation(model, None if limit is None else WIDTH)

    def constraint(entry: tuple[str, Constraint]) -> str:
        text = notation.constraint(entry[1])
        return text if entry[0] == describe(entry[1]) else f"{entry[0]}: {text}"

    sections: list[Section] = [
        ("objectives", model.objectives, notation.linear),
        ("intervals", model.intervals, _interval),
        ("integers", model.integers, lambda x: f"{x.name}: {_range(x.lo, x.hi)}"),
        ("functions", notation.named, lambda f: f"{notation.names[f]} = {notation.texts[f]}"),
        ("constraints", model.constraints, constraint),
    ]
    counted = [(len(items), title) for title, items, _ in sections if title != "functions"]
    counts = ", ".join(how_many_of(n, title, ",") for n, title in counted)
    lines = [f"Model {model.name!r}: {counts}; horizon {model.horizon}"]
    for (title, items, write), shown in zip(sections, _shares([len(s[1]) for s in sections], limit), strict=True):
        if items:
            lines.append(f"{model.sense if title == 'objectives' else title}:")
            lines += [f"  {_cut(write(item), notation.width)}" for item in itertools.islice(items, shown)]
        if shown < len(items):
            lines.append(f"  ... and {len(items) - shown:,} more")
    return "\n".join(lines)


def _shares(sizes: list[int], limit: int | None) -> list[int]:
    """Return how many entries of each section are listed: short sections are complete, long ones get equal shares.

    Examples
    --------
    >>> _shares([1, 1000, 500, 20], 101)
    [1, 40, 40, 20]
    """
    if limit is None:
        return sizes
    shares = list(sizes)
    left = max(0, limit)
    for position, k in enumerate(sorted(range(len(sizes)), key=sizes.__getitem__)):
        shares[k] = min(sizes[k], left // (len(sizes) - position))
        left -= shares[k]
    return shares


class Notation:
    """Texts of expressions and constraints in the notation of the language.

    A function of more than 40 characters that occurs several times gets a name, f1, f2, ..., and is in the list
    ``named``: written out, functions of shared functions could be exponentially long.

    Parameters
    ----------
    model : Model
        The model.
    width : int or None
        Texts may be cut after this number of characters. None: they are complete.
    """

    def __init__(self, model: ModelData, width: int | None) -> None:
        self.width = width
        self.texts: dict[Atom, str] = {}
        self.names: dict[Atom, str] = {}
        functions = functions_of(model)
        outer = [*model.objectives, *(e for c in model.constraints for e in linears_of(c.constraint))]
        inner = (e for f in functions for e in f.operands)
        uses = Counter(a for e in itertools.chain(outer, inner) for a in e.terms if isinstance(a, Function))
        for f in functions:
            self.texts[f] = _cut(self._function(f), width)
            if uses[f] > 1 and len(self.texts[f]) > SHORT:
                self.names[f] = f"f{len(self.names) + 1}"
        self.named = list(self.names)

    def linear(self, e: Linear) -> str:
        """Return the text of an expression."""
        length = 0
        terms: Iterable[tuple[str, int | float]] = ((self._atom(a), k) for a, k in e.terms.items())
        parts: list[str] = []
        for name, k in itertools.chain(terms, [("", e.constant)] if e.constant or not e.terms else []):
            times = "*" if name else ""
            size = "" if abs(k) == 1 and name else f"{abs(k)!r}{times}"
            if parts:
                sign = "- " if k < 0 else "+ "
            else:
                sign = "-" if k < 0 else ""
            parts.append(f"{sign}{size}{name}")
            length += len(parts[-1])
            if self.width is not None and length > self.width:
                break
        return " ".join(parts)

    def comparison(self, c: Comparison) -> str:
        """Return the text of a comparison."""
        e = self.linear(c.expr)
        if c.lo == c.hi:
            return f"{e} == {c.hi}"
        below = "" if c.lo == -math.inf else f"{c.lo} <= "
        return f"{e} >= {c.lo}" if c.hi == math.inf else f"{below}{e} <= {c.hi}"

    def constraint(self, c: Constraint) -> str:
        """Return the text of a constraint: a comparison, or a call of the function that declares the constraint."""
        if isinstance(c, Comparison):
            return self.comparison(c)
        kind, required, optional = kind_and_values(c)
        if kind == "cumulative" and len(required["steps"]) == 1:
            required["steps"] = required["steps"][0][1]  # a constant capacity
        if kind == "variable_capacity":
            kind = "cumulative"
        if kind == "variable_delay":
            kind = required.pop("relation")
        given = [self._value(v) for v in required.values()] + [f"{k}={self._value(v)}" for k, v in optional.items()]
        return f"{kind}({', '.join(given)})"

    def _value(self, value: Any, nested: bool = False) -> str:
        if isinstance(value, tuple):
            inner = ", ".join(self._value(v, nested=True) for v in value[: self.width])
            return f"({inner})" if nested else f"[{inner}]"
        if isinstance(value, Linear):
            return self.linear(value)
        if isinstance(value, Comparison):
            return self.comparison(value)
        return value.name if isinstance(value, (Interval, Integer)) else str(value)

    def _atom(self, a: Atom) -> str:
        if isinstance(a, Integer):
            return a.name
        return f"{a.interval.name}.{a.field}" if isinstance(a, Attribute) else self.names.get(a) or self.texts[a]

    def _function(self, f: Function) -> str:
        match f:
            case Holds():
                return f"holds({self.comparison(f.comparison)})"
            case Overlap():
                return f"overlap({f.interval.name}, {f.lo}, {f.hi})"
            case Element():
                return f"element({list(f.array[: self.width])}, {self.linear(f.operands[0])})"
            case Piecewise():
                return f"piecewise({self.linear(f.operands[0])}, {list(f.points[: self.width])})"
            case Entry():
                entries = ", ".join(self.linear(e) for e in f.entries[: self.width])
                return f"element([{entries}], {self.linear(f.operands[0])})"
            case Neighbours():
                given = (f.intervals, f.types, f.costs, f.first, f.last)
                return f"neighbours({', '.join(map(self._value, given))})"
        return f"{type(f).__name__.lower()}({', '.join(self.linear(e) for e in f.operands[: self.width])})"


def _interval(v: Interval) -> str:
    optional = "optional, " if v.optional else ""
    return (
        f"{v.name}: {optional}size {_range(v.size_lo, v.size_hi)}, start {' or '.join(_range(*w) for w in v.windows)}"
    )


def _range(lo: int, hi: int) -> str:
    return str(lo) if lo == hi else f"{lo} to {hi}"


def _cut(text: str, width: int | None) -> str:
    """Return a text on one line; of one that is longer than ``width`` the beginning.

    Examples
    --------
    >>> _cut("a sum of many terms", 10)
    'a sum o...'
    """
    return visible(text) if width is None else one_line(text, width)
