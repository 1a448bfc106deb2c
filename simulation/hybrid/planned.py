"""A rolling offline plan followed with EASY: waiting jobs start in the order of their planned starts, others fill the gaps.

A plan is made at the first decision, and then at the first one ``every`` hours or more after the last plan. It has the
running jobs, those that wait, and those of the forecast of the next ``hours`` hours. EASY backfilling then takes the
waiting jobs in the order of their planned starts. A job that arrives after the plan was made stands in this order at its
submit time, one that the plan leaves out at the end of the plan.

The dispatcher leaves nodes to the node policy of the replay.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...errors import WrongValue
from ...instances.workload import Workload
from ...models import Platform, Queue
from ...models.excerpt import with_short_repr
from ...models.step_function import HOUR
from ...models.whole_numbers import is_number
from ..dispatcher import Decision, Moment
from ..energy import Centre
from ..forecasts import Forecast
from ..policies.policy import Policy
from .day_plan import DayPlan
from .names import EVERY, FORECAST, METHOD
from .planner import Planner, plain

Floats = NDArray[np.float64]


@with_short_repr
class Planned:
    """The dispatcher.

    Parameters
    ----------
    every : float, default 6
        Hours between plans, at least 1 s.
    forecast, method, limit, centre
        As of ``Hybrid``.
    hours : float, default 24
        The length of a plan in whole hours.

    Attributes
    ----------
    plans : list of DayPlan
        The plans of the last replay.

    Raises
    ------
    WrongValue
        If a value is not valid.

    Examples
    --------
    >>> Planned(every=12).name
    'planned'
    """

    name = "planned"
    takes_chunks = False  # as the offline step
    plans_for_profit = True

    def __init__(
        self,
        every: float = EVERY,
        forecast: str | Forecast = FORECAST,
        method: object = METHOD,
        limit: float = 0,
        hours: float = 24,
        centre: Centre | None = None,
    ) -> None:
        if not is_number(every) or every * HOUR < 1:
            raise WrongValue(f"planned: every is {plain(every)}; expected hours of more than 0, such as 6")
        self._every = round(every * HOUR)
        self._planner = Planner(self.name, forecast, method, limit, hours, centre)
        self.plans: list[DayPlan] = []

    @property
    def centre(self) -> Centre | None:
        """Cooling, weather and prices; None: not known."""
        return self._planner.centre

    @centre.setter
    def centre(self, centre: Centre | None) -> None:
        self._planner.centre = centre

    def prepare(self, workload: Workload) -> None:
        """Take the log and the submit times. Raises ProblemError as ``Planner.prepare``."""
        self._planner.prepare(workload)
        self._release = workload.release.astype(np.float64)
        self._row = {name: k for k, name in enumerate(workload.ids)}

    def begin(self, platform: Platform, queues: Sequence[Queue], seed: int) -> None:
        """Prepare for a replay."""
        self._planner.seed = seed
        self._policy: Policy | None = None  # EASY in the order of the last plan
        self.plans.clear()

    def decide(self, moment: Moment) -> Decision:
        """Make a plan if it is time for one, and leave the starts to EASY in its order."""
        if self.plans and moment.now < self.plans[-1].begin + self._every:
            return Decision((), policy=self._policy)
        plan = self._planner.plan(moment, offset=1.0, real=None)
        self.plans.append(plan)
        self._policy = self._in_order_of(plan, moment)
        return Decision((), policy=self._policy, seconds={"offline_step": plan.seconds})

    def _in_order_of(self, plan: DayPlan, moment: Moment) -> Policy:
        """Return EASY with the jobs in the order of a plan; of a period without a schedule, by submit time."""
        order = self._release.copy()
        if plan.starts:
            for job in moment.waiting:
                order[self._row[job.id]] = plan.starts.get(job.id, plan.end)

        def key(workload: Workload, expected: NDArray[np.int64]) -> Floats:
            return order

        return Policy(self.name, key, reservations=1)
