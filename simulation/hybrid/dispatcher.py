"""The hybrid as a dispatcher: DARDIS follows the profile of a daily offline plan, and nodes beyond it are off [Bridi2018, 7].

At each event, in this order: at a multiple of the period the jobs of the next hours are forecast, the offline step plans
them, and its profile replaces the one before (``day_plan``); the nodes that the profile wishes are chosen anew at each hour
and whenever nodes are switched (``wishes``); DARDIS dispatches (``dardis``). The engine switches nodes by the same profile
(``node_policies.following``) and boots those of planned starts ahead of them.

The first plan is made 24 hours after the begin of the replay, as it needs the use of a day. Until then, and for a period
without a schedule, all nodes stay on. Without a forecast the jobs that wait are planned alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...errors import WrongValue
from ...instances.workload import Workload
from ...models import Platform, Queue
from ...models.excerpt import with_short_repr
from ...models.step_function import DAY, HOUR
from ..dardis.costs import Costs
from ..dardis.dispatcher import Dardis
from ..dispatcher import Decision, Moment
from ..energy import Centre
from ..forecasts import Forecast
from .day_plan import DayPlan
from .names import FORECAST, METHOD
from .node_policy import FollowPlan
from .planner import Planner
from .use import UseRecord, cores_of
from .wishes import limits_of, wished

Ints = NDArray[np.int64]


@with_short_repr
class Hybrid:
    """The dispatcher.

    Parameters
    ----------
    percent : float, default 70
        The percentage of the unused capacity that stays on: of a mean use of 60 %, 70 keeps 88 % of the nodes on. 100: all
        nodes stay on, and nothing is planned.
    forecast : str or Forecast, default "persistence"
        The forecast of the jobs of the next hours. Where it has no jobs, ``persistence`` takes its place; where that
        has none either, the jobs that wait are planned alone.
    method : str or Method, default "multi-search"
        The method of the offline step, see ``schedlab.solve``.
    limit : float, default 0
        Its time limit in seconds; 0: none. Its time passes on the clock of the replay with ``charge_decisions``.
    hours : float, default 24
        The period of the plans, in whole hours.
    centre : Centre, optional
        Cooling, weather and prices. None: those of the replay.

    Attributes
    ----------
    plans : list of DayPlan
        The plans of the last replay.
    node_policy : FollowPlan or None
        The node policy that follows them; None: all nodes stay on.

    Raises
    ------
    WrongValue
        If a value is not valid.

    References
    ----------
    [Bridi2018, 7].
    """

    always = True
    takes_chunks = False  # as DARDIS

    def __init__(
        self,
        percent: float = 70,
        forecast: str | Forecast = FORECAST,
        method: object = METHOD,
        limit: float = 0,
        hours: float = 24,
        centre: Centre | None = None,
    ) -> None:
        if not 0 <= percent <= 100:
            raise WrongValue(f"hybrid: the percentage is {percent:g}; expected 0 to 100, such as 70")
        self.name, self.percent = f"hybrid:{percent:g}", percent
        self._planner = Planner(self.name, forecast, method, limit, hours, centre)
        self._dardis = Dardis("throughput")
        self.node_policy = FollowPlan() if percent < 100 else None
        self.plans: list[DayPlan] = []

    @property
    def centre(self) -> Centre | None:
        """Cooling, weather and prices; None: not known."""
        return self._planner.centre

    @centre.setter
    def centre(self, centre: Centre | None) -> None:
        self._planner.centre = centre

    @property
    def plans_for_profit(self) -> bool:
        """Whether its decisions depend on cooling, weather and prices."""
        return self.percent < 100

    @property
    def costs(self) -> Costs:
        """The cost of the protocol of DARDIS in the last replay."""
        return self._dardis.costs

    def prepare(self, workload: Workload) -> None:
        """Take the log, of which only the past is used, and by the forecast ``perfect`` the jobs to come.

        Raises
        ------
        ProblemError
            If cooling, weather and prices are not known, or do not cover the submissions.
        """
        if self.plans_for_profit:
            self._planner.prepare(workload)

    def begin(self, platform: Platform, queues: Sequence[Queue], seed: int) -> None:
        """Prepare for a replay."""
        self._dardis.begin(platform, queues, seed)
        self._platform, self._planner.seed = platform, seed
        self._use = UseRecord(platform.total("cores"))
        self._next: int | None = None  # the next plan
        self._hour: int | None = None  # the next change of the wishes
        self._away: NDArray[np.bool_] = np.zeros(len(platform.nodes), np.bool_)
        self.plans.clear()

    def decide(self, moment: Moment) -> Decision:
        """Return the starts now, and the changes of the plan of DARDIS."""
        if self.percent == 100:
            return self._dardis.decide(moment)
        if self._next is None:
            self._next = moment.now + DAY
        seconds = 0.0
        if moment.now >= self._next:
            plan = self._planner.plan(moment, self.percent / 100, self._use.until(moment.now, moment.now - DAY))
            seconds = plan.seconds
            self.plans.append(plan)
            if self.node_policy is not None:
                self.node_policy.desired = plan.lasting
            self._next, self._hour = plan.end, moment.now
        self._wish(moment)
        decision = self._dardis.decide(moment)
        starting = {s.job for s in decision.starts}
        now = cores_of(r.job for r in moment.running) + cores_of(j for j in moment.waiting if j.id in starting)
        self._use.add(moment.now, now)
        times = [t for t in (decision.wake, self._next, self._hour) if t is not None and t > moment.now]
        decision.wake = min(times, default=None)
        decision.seconds = {**decision.seconds, "offline_step": seconds}
        return decision

    def _wish(self, moment: Moment) -> None:
        """Choose the nodes that the profile wishes, at an hour of a plan or when nodes have been switched."""
        now = moment.now
        if not self.plans:
            return
        ready = np.full(len(self._platform.nodes), now) if moment.ready is None else moment.ready
        away = ready > now
        if (away == self._away).all() and (self._hour is None or now < self._hour):
            return
        self._away, plan = away, self.plans[-1]
        ends = np.full(away.size, now)
        for node, end in self._dardis.plan.ends().items():
            ends[node] = end
        begin = plan.begin + HOUR * min((now - plan.begin) // HOUR, self._planner.hours - 1)
        hours = (plan.end - begin) // HOUR
        nodes = wished(plan.lasting, begin, hours, now, ends, ready)
        self._dardis.wish(limits_of(self._platform, nodes, begin))
        self._hour = begin + HOUR
