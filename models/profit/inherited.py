"""What a profit problem takes from its dispatching problem: the Gantt chart, the table, and the removable elements."""

from __future__ import annotations

from typing import Any

from ..dispatch import display
from ..dispatch.explanation.elements import DispatchElements
from ..display.gantt import Gantt, Mark
from ..problem import Schedule
from .problem import Profit


def gantt(problem: Profit, schedule: Schedule) -> Gantt:
    """Return the Gantt chart of the jobs on nodes, with the time up to which profit counts."""
    return display.gantt(problem.dispatch, schedule, (Mark(problem.horizon_end, "profit counts up to here"),))


def rows(problem: Profit, schedule: Schedule) -> list[dict[str, Any]]:
    """Return a row for each job, as for a dispatching problem, with its power in watts (``watts``)."""
    watts = {j.id: w for j, w in zip(problem.jobs, problem.watts.tolist(), strict=True)}
    return [{**row, "watts": watts[row["job"]]} for row in display.rows(problem.dispatch, schedule)]


class ProfitElements(DispatchElements):
    """The elements of a profit problem; its parts are dispatching problems, as prices and cooling limit no start.

    The profit cannot be limited: a removed job would earn nothing, so that the rest would not become easier.

    Parameters
    ----------
    problem : Profit
        The problem.
    """

    def __init__(self, problem: Profit) -> None:
        super().__init__(problem.dispatch)
        self.objectives = ()
