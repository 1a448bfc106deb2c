"""The removable elements of a profit problem: those of its dispatching problem, as prices and cooling limit no start."""

from __future__ import annotations

from ..dispatch.explanation.elements import DispatchElements
from .problem import Profit


class ProfitElements(DispatchElements):
    """The elements of a profit problem; its parts are dispatching problems.

    The profit cannot be limited: a removed job would earn nothing, so that the rest would not become easier.

    Parameters
    ----------
    problem : Profit
        The problem.
    """

    def __init__(self, problem: Profit) -> None:
        super().__init__(problem.dispatch)
        self.objectives = ()
