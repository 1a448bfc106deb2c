"""A model with times relative to its earliest start, and an objective without its constant offset.

Times of logs are counted from 1970, so that they are 1.7e9 s and more. Neither the size of a native model, nor its big-M
constants, nor the relative gap at which a solver stops may depend on that. With the earliest start O of all intervals, an
interval with the start s gets the start ``s - O`` in the copy, and every expression has ``s' + O p`` in place of s, with
the presence p (1 for an interval that is not optional). The constant of the objective is left out; a common constant of
all operands of a max or min is a part of it.
"""

from __future__ import annotations

from itertools import pairwise

from ...models.language import Bounds, Integer, Interval, Linear, Model, piecewise
from ...models.language.expressions import Attribute, Function, Max, Min, Piecewise, Window
from ...models.language.functions import max as latest
from ...models.language.functions import min as first
from ...models.language.offsets import common_constant, far_origin, offset_of, origin_of
from .decomposition import Decomposition, Variables
from .model_copy import Steps

SHARE = 0.01  # of the range of the objective: a smaller offset does not matter


class Origin(Decomposition):
    """A copy of a model whose times begin at 0, and whose first objective has no constant.

    Parameters
    ----------
    origin : Model
        The model. It is not changed.

    Examples
    --------
    >>> m = Model("late"); a = m.interval("a", size=3, start=(1000, 1010)); m.minimize(2 * a.end + 7)
    >>> made = Origin(m)
    >>> made.model.intervals[0].windows, made.model.objectives, made.bound(6)
    (((0, 10),), [2*a.end], 2013)
    """

    def __init__(self, origin: Model) -> None:
        self.shift = origin_of(origin)
        self.offset: int | float = 0
        super().__init__(origin, frozenset())

    def interval(self, v: Interval) -> Interval:
        """Declare the copy of an interval with earlier windows."""
        windows = [(lo - self.shift, hi - self.shift) for lo, hi in v.windows]
        return self.model.interval(v.name, (v.size_lo, v.size_hi), windows, v.optional)

    def steps(self, steps: Steps) -> Steps:
        """Return the capacity with earlier times."""
        return tuple((t - self.shift, c) for t, c in steps)

    def forbidden(self, windows: tuple[Window, ...]) -> tuple[Window, ...]:
        """Return the forbidden windows with earlier times."""
        return tuple((lo - self.shift, hi - self.shift) for lo, hi in windows)

    def attribute(self, atom: Attribute) -> Linear:
        """Return the attribute in the times of the original."""
        e = super().attribute(atom)
        if atom.field not in ("start", "end"):
            return e
        v = self.intervals[atom.interval]
        return e + self.shift * v.presence if v.optional else e + self.shift

    def function(self, atom: Function) -> Linear:
        """Return the copy of a function; a constant that all operands of a max or min have is added outside of it.

        The constant of the operand of a piecewise-linear function is taken off its points.
        """
        if isinstance(atom, Piecewise):
            x = self.linear(atom.operands[0])
            moved = [(at - x.constant, value) for at, value in atom.points]
            if all(a < b for (a, _), (b, _) in pairwise(moved)):  # points at real numbers may become equal
                return piecewise(x - x.constant, moved)
        if not isinstance(atom, (Max, Min)):
            return super().function(atom)
        operands = [self.linear(e) for e in atom.operands]
        shared = common_constant([e.constant for e in operands])
        rest = [e - shared for e in operands]
        return (latest(rest) if isinstance(atom, Max) else first(rest)) + shared

    def objective(self) -> None:
        """Add the copies of the objectives without the constant of the first one."""
        super().objective()
        if self.model.objectives:
            e = self.model.objectives[0]
            self.offset = e.constant
            self.model.objectives = [Linear(e.terms, 0), *self.model.objectives[1:]]

    def place(self, v: Interval, assignment: object, made: object) -> None:
        """Set the copy of an interval in ``made`` to the earlier value."""
        if assignment.present[v.index]:  # type: ignore[attr-defined]
            start, end = assignment.start[v.index], assignment.end[v.index]  # type: ignore[attr-defined]
            made.set(self.intervals[v], start - self.shift, end - self.shift)  # type: ignore[attr-defined]

    def bound(self, value: float) -> float:
        """Return the bound on the original's objective for one on the objective of the copy."""
        return value + self.offset

    def variables(self, x: Integer | Interval) -> Variables:
        """Return the copy of a variable."""
        return self.integers[x] if isinstance(x, Integer) else self.intervals[x]


def needs_origin(model: Model) -> bool:
    """Return whether a model should be solved with times from its earliest start on.

    So it is if that start is further from 0 than the latest end is from it, or if the constant offset of the objective is
    not small beside the range of the objective, and the objective is as far from 0.
    """
    if far_origin(model):
        return True
    origin = origin_of(model)
    for e in model.objectives[:1]:
        offset = abs(offset_of(e, origin))
        if offset:
            lo, hi = Bounds().of(e)
            return min(offset, abs(lo), abs(hi)) > SHARE * (hi - lo)
    return False
