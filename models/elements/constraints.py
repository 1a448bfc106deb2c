"""The removable elements of a model, and of problems whose kind declares none.

They are the constraints, the horizon if one is declared and some interval has no start windows, and the objectives that
do not have a value for all values of the variables.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Collection
from functools import cached_property

from ..language import Model
from ..language.defined import defined
from ..language.model import NamedConstraint
from .element import Element, Elements


class ConstraintElements(Elements):
    """The constraints of a model; without its element, a constraint does not hold.

    Parameters
    ----------
    model : Model
        The model.

    Examples
    --------
    >>> m = Model("one"); x = m.integer("x", 0, 9); m.add(x >= 5, "at least 5")
    >>> [str(e) for e in ConstraintElements(m).all]
    ['constraint: at least 5']
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.objectives = ["objective", *(f"objective {k}" for k in range(2, len(model.objectives) + 1))]
        self.objectives = self.objectives[: len(model.objectives)]
        self.maximized = model.sense == "maximize"
        seen: Counter[str] = Counter()
        self._rows = []
        for constraint in model.constraints:
            seen[constraint.name] += 1
            number = seen[constraint.name]
            name = constraint.name if number == 1 else f"{constraint.name} ({number})"
            self._rows.append(Element("constraint", name, name))
        self._values = {
            k: Element("value", name, f"the {name} has a value")
            for k, name in enumerate(self.objectives)
            if defined(model, k) is not None
        }
        limited = model.declared_horizon is not None and any(v.declared_windows is None for v in model.intervals)
        text = f"no interval without start windows starts after the horizon, {model.horizon} s"
        self._horizon = Element("horizon", "horizon", text) if limited else None
        self.all = (*self._rows, *self._values.values(), *((self._horizon,) if self._horizon else ()))

    @cached_property
    def _unlimited(self) -> Model:
        """The same model without the horizon."""
        return self.model.with_horizon(None)

    def part(self, kept: Collection[Element]) -> Model:
        """Return the model with the kept elements alone; what an objective needs to have a value is a constraint."""
        wanted = set(kept)
        whole = self.model if self._horizon is None or self._horizon in wanted else self._unlimited
        part = copy.copy(whole)
        part.constraints = [c for e, c in zip(self._rows, whole.constraints, strict=True) if e in wanted]
        for k, e in self._values.items():
            row = defined(whole, k)
            if e in wanted and row is not None:
                part.constraints.append(NamedConstraint(e.name, row))
        return part
