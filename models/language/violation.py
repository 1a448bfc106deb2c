"""A violated constraint of a model or a problem."""

from __future__ import annotations

from typing import NamedTuple


class Violation(NamedTuple):
    """A constraint that does not hold.

    Parameters
    ----------
    constraint : str
        The name of the constraint, or of the job, task, node or resource.
    amount : float
        The amount of the violation, in the unit of the constraint.
    message : str
        A sentence with the names, the values and the time.
    """

    constraint: str
    amount: float
    message: str
