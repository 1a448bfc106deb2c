"""A violated constraint of a model or a problem."""

from __future__ import annotations

from typing import NamedTuple


class Violation(NamedTuple):
    """A constraint that does not hold: its name, by how much, and where."""

    constraint: str
    amount: float
    message: str
