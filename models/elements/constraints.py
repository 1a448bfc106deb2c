"""The removable elements of a model, and of problems whose kind declares none: the constraints."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Collection

from ..language import Model
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
        found = []
        for constraint in model.constraints:
            seen[constraint.name] += 1
            number = seen[constraint.name]
            name = constraint.name if number == 1 else f"{constraint.name} ({number})"
            found.append(Element("constraint", name, name))
        self.all = tuple(found)

    def part(self, kept: Collection[Element]) -> Model:
        """Return the model with the kept constraints alone."""
        wanted, part = set(kept), copy.copy(self.model)
        rows = zip(self.all, self.model.constraints, strict=True)
        part.constraints = [c for e, c in rows if e in wanted]
        return part
