"""Decompositions of intervals: start windows with gaps, and optional intervals."""

from __future__ import annotations

from functools import partial

from ...errors import WrongValue
from ...models.language import Assignment, Constraint, Evaluator, Integer, Interval, Linear, Model
from ...models.language import sum as total
from ...models.language.constraints import intervals_of
from ...models.language.expressions import Attribute
from .constructs import Construct
from .decomposition import Decomposition, Variables


class StartWindows(Decomposition):
    """Several start windows become one, with a binary variable for each window.

    For the windows ``[a[k], b[k]]`` in increasing time, the start has the one window from the first a to the last b::

        sum_k w[k] = p,   sum_k a[k] w[k] <= s <= sum_k b[k] w[k],   w[k] in {0, 1}

    If the interval is absent, all w and the start are 0.
    """

    replaces = frozenset([Construct.START_WINDOWS])

    def interval(self, v: Interval) -> Interval:
        """Declare the copy of an interval."""
        if len(v.windows) == 1:
            return super().interval(v)
        made = self.model.interval(v.name, (v.size_lo, v.size_hi), (v.start_lo, v.start_hi), v.optional)
        w = [self.auxiliary(f"{v.name} in {x}", 0, 1, partial(_inside, v=made, window=x)) for x in v.windows]
        self.add(total(w) == made.presence)
        self.add(made.start >= total(w, [a for a, _ in v.windows]))
        self.add(made.start <= total(w, [b for _, b in v.windows]))
        return made


def _inside(ev: Evaluator, v: Interval, window: tuple[int, int]) -> int:
    return int(ev.value(v.presence) == 1 and window[0] <= ev.value(v.start) <= window[1])


class Optionals(Decomposition):
    """An optional interval becomes a binary variable and an interval that has the size 0 if the original is absent.

    For the earliest and latest start ``a, b`` and the sizes from L to U, the interval has a start s' in the same
    windows, a size z' in [0, U], and::

        L p <= z' <= U p,   s' <= a + (b - a) p
        s = s' - a (1 - p),   e = s + z',   z = z'      in expressions

    An absent interval lies at a with the size 0, where no_overlap, forbid_extent and cumulative ignore it. Alternative,
    all_or_none, synchronize and precedences, which do not ignore it, are replaced before.
    """

    replaces = frozenset([Construct.OPTIONAL])

    def __init__(self, origin: Model, missing: frozenset[Construct]) -> None:
        self.present: dict[Interval, Integer] = {}
        super().__init__(origin, missing)

    def interval(self, v: Interval) -> Interval:
        """Declare the copy of an interval, and its presence."""
        if not v.optional:
            return super().interval(v)
        made = self.model.interval(v.name, (0, v.size_hi), list(v.windows))
        p = self.present[v] = self.model.boolean(f"{v.name} is present")
        if v.size_hi:
            self.add(made.size >= v.size_lo * p)
            self.add(made.size <= v.size_hi * p)
        self.add(made.start <= v.start_lo + (v.start_hi - v.start_lo) * p)
        return made

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint."""
        copied = super().constraint(c)
        if Construct.OPTIONAL in self.missing and type(c).__name__ in (
            "AllOrNone",
            "Alternative",
            "Synchronize",
            "Precedence",
        ):
            some = [v.name for v in intervals_of(c) if v.optional]
            if some:
                raise WrongValue(f"{self.name}: replace this constraint before its optional intervals {some}")
        return copied

    def attribute(self, atom: Attribute) -> Linear:
        """Return the start, end, size or presence in terms of the copy."""
        p = self.present.get(atom.interval)
        if p is None:
            return super().attribute(atom)
        if atom.field == "presence":
            return p.linear()
        e = super().attribute(atom)
        earliest = atom.interval.start_lo
        return e - earliest + earliest * p if atom.field in ("start", "end") and earliest else e

    def place(self, v: Interval, assignment: Assignment, made: Assignment) -> None:
        """Set the copy of an interval, and its presence."""
        super().place(v, assignment, made)
        if v in self.present:
            made.integer[self.present[v].index] = int(assignment.present[v.index])
            if not assignment.present[v.index]:
                made.set(self.intervals[v], v.start_lo, v.start_lo)

    def back(self, assignment: Assignment) -> Assignment:
        """Convert an assignment of the copy to one of the original."""
        made = super().back(assignment)
        for v, p in self.present.items():
            if not assignment.integer[p.index]:
                i = v.index
                made.start[i], made.end[i], made.present[i] = 0, 0, False
        return made

    def variables(self, x: Integer | Interval) -> Variables:
        """Return what stands for a variable of the original."""
        if isinstance(x, Interval) and x in self.present:
            return {"interval": self.intervals[x], "presence": self.present[x]}
        return super().variables(x)
