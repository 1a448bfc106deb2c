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
from ...models import Platform, ProblemError, Queue
from ...models.energy.tariff import check_covers
from ...models.step_function import DAY, HOUR
from ..dardis.costs import Costs
from ..dardis.dispatcher import Dardis
from ..energy import Centre
from ..engine.moment import Decision, Moment
from ..forecasts import EmptyForecast, Forecast, Persistence, forecast_jobs, history_at, parse_forecast
from .day_plan import DayPlan, OfflineStep, plan_of
from .names import FORECAST, METHOD
from .node_policy import FollowPlan
from .use import UseRecord, cores_of
from .wishes import limits_of, wished

Ints = NDArray[np.int64]


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
        if limit < 0:
            raise WrongValue(f"hybrid: limit is {limit:g}; expected seconds, 0 for no limit")
        if hours < 1 or hours != int(hours):
            raise WrongValue(f"hybrid: hours is {hours:g}; expected whole hours, such as 24 or 48")
        self.name, self.percent, self.centre = f"hybrid:{percent:g}", percent, centre
        self._method, self._limit, self._hours = method, limit or None, int(hours)
        self._forecast = parse_forecast(forecast).make() if isinstance(forecast, str) else forecast
        self._dardis = Dardis("throughput")
        self.node_policy = FollowPlan() if percent < 100 else None
        self.plans: list[DayPlan] = []

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
        self._log = workload
        self._row = {name: k for k, name in enumerate(workload.ids)}
        if self.percent == 100:
            return
        if self.centre is None:
            raise ProblemError(
                f"{self.name} plans for profit: expected cooling, weather and prices, such as Hybrid(..., centre=Centre(...)), "
                "or bench simulate PROFIT_INSTANCE --scenario air,summer,cheap"
            )
        begin, last = int(workload.submit[0]), int(workload.submit[-1])
        check_covers("temperatures", self.centre.temperature, begin, last)
        self.centre.tariff.check_covers(begin, last)
        self._forecast.begin(workload)

    def begin(self, platform: Platform, queues: Sequence[Queue], seed: int) -> None:
        """Prepare for a replay."""
        self._dardis.begin(platform, queues, seed)
        self._platform, self._seed = platform, seed
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
            plan = self._planned(moment)
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

    def _planned(self, moment: Moment) -> DayPlan:
        """Forecast the jobs of the next period, and plan it."""
        now, end = moment.now, moment.now + HOUR * self._hours
        assert self.centre is not None
        history = history_at(self._log, now, self._ended(moment))
        expected, name, reasons = None, "", dict[str, None]()
        for forecast in (self._forecast, Persistence()):
            try:
                expected, name = forecast_jobs(forecast, history, now, end), forecast.name
                break
            except EmptyForecast as e:
                reasons[str(e)] = None
        step = OfflineStep(self.centre, self._method, self._limit, self.percent / 100, self._hours, self._seed)
        return plan_of(step, moment, expected, name, self._use.until(now, now - DAY), "; ".join(reasons))

    def _ended(self, moment: Moment) -> NDArray[np.bool_]:
        """Return whether each job of the log has ended: it was submitted, and neither waits nor runs."""
        ended = self._log.release <= moment.now
        active = [*(j.id for j in moment.waiting), *(r.job.id for r in moment.running)]
        ended[[self._row[name] for name in active if name in self._row]] = False
        return ended

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
        begin = plan.begin + HOUR * min((now - plan.begin) // HOUR, self._hours - 1)
        hours = (plan.end - begin) // HOUR
        nodes = wished(plan.lasting, begin, hours, now, ends, ready)
        self._dardis.wish(limits_of(self._platform, nodes, begin))
        self._hour = begin + HOUR
