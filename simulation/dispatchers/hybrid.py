"""The hybrid dispatcher: DARDIS follows the profile of a daily offline plan, and nodes beyond it are off [Bridi2018, 7].

In the rolling offline plan the jobs of the next hours are forecast, and the offline problem is solved [Bridi2018, 7.2 to 7.4].
"""

from __future__ import annotations

import time
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import WrongValue
from ...instances.workload import Workload
from ...methods.text import parse_method
from ...models import Queue
from ...models.arguments import is_number, is_real, shown
from ...models.array_types import Bools, Floats, Ints
from ...models.comparing import hashable
from ...models.desired_profile import DesiredProfile, Steps
from ...models.dispatch.jobs import Job, Running
from ...models.dispatch.problem import Dispatch
from ...models.platform import Platform, ProblemError
from ...models.profiles import count_on, extracted, flat, joined, use_of
from ...models.profit.problem import Profit
from ...models.step_function import DAY, HOUR, StepFunction, check_covers
from ...models.words import with_short_repr
from ..dispatcher import Decision, Moment
from ..energy import Centre
from ..forecasts import EmptyForecast, Forecast, Persistence, forecast_jobs, history_at, parse_forecast
from ..node_policies import FollowProfile, Switching
from .dardis.dispatcher import Dardis
from .dardis.messages import Costs, Limits
from .policy import Policy

# --- The names of hybrid dispatchers: ``hybrid:70``, with options ``hybrid:70:forecast=weekly:method=lns:limit=10``.

VARIANTS = (100, 70, 50)  # percent of the unused capacity that stays on [Bridi2018, 7.6]
METHOD = "multi-search"
FORECAST = "persistence"
EVERY = 6.0  # hours between the plans of planned


# --- The offline step: the jobs of the next hours, their most profitable schedule, and its profile [Bridi2018, 7.2 to 7.4].

OVERRUN = 60  # seconds that a job is expected to run on if it has run longer than expected


@hashable
@dataclass(frozen=True)
class OfflineStep:
    """How the plan of a period is made.

    Parameters
    ----------
    centre : Centre
        Cooling, weather and prices.
    method : str or Method
        The method that solves the profit problem, see ``schedlab.solve``.
    limit : float or None
        Its time limit in seconds; None: none.
    offset : float
        The share of the unused capacity that stays wished, 0 to 1.
    hours : int
        The length of the period.
    seed, threads : int
        Of the method.
    """

    centre: Centre
    method: Any
    limit: float | None
    offset: float
    hours: int
    seed: int = 0
    threads: int = 1


@with_short_repr
@hashable
@dataclass(frozen=True)
class DayPlan:
    """The plan of a period.

    Parameters
    ----------
    begin, end : int
        The period in seconds.
    profile : DesiredProfile
        The desired use of the cores; it ends with the period.
    planned : StepFunction or None
        The use of the cores in the offline schedule, as a share; None: there is no schedule, all nodes stay on.
    waiting, expected : int
        The jobs of the problem: those that wait, and those of the forecast.
    forecast : str
        The forecast whose jobs were planned; empty if none has any.
    profit : float or None
        The profit of the schedule in the period, in euro.
    seconds : float
        Wall time of the offline step.
    why : str
        Why there is no schedule, or why forecasts had no jobs.
    starts : mapping of str to int
        The starts in the schedule in seconds, by the ids of the jobs, also of those that are expected.
    """

    begin: int
    end: int
    profile: DesiredProfile
    planned: StepFunction | None
    waiting: int
    expected: int
    forecast: str
    profit: float | None
    seconds: float
    why: str = ""
    starts: Mapping[str, int] = field(default_factory=dict)

    @cached_property
    def lasting(self) -> DesiredProfile:
        """The profile with its last hour for ever, until the next plan is made."""
        if self.profile.end is None:
            return self.profile
        steps = {}
        for key, s in self.profile.steps.items():
            kept = sum(t < self.end for t in s.times)
            steps[key] = Steps(s.times[:kept], s.amounts[:kept])
        return DesiredProfile(self.profile.platform, steps)

    @property
    def shares(self) -> list[float]:
        """The desired share of all cores in each hour."""
        total = self.profile.platform.total("cores")
        return [self.profile.total("cores", t) / total for t in range(self.begin, self.end, HOUR)]

    def as_json(self) -> dict[str, Any]:
        """Return the plan as data: shares by hour, the planned use as means of the hours."""
        return {
            "begin": self.begin,
            "end": self.end,
            "shares": [round(s, 6) for s in self.shares],
            "planned": None if self.planned is None else [round(u, 6) for u in _hourly(self.planned, self)],
            "waiting": self.waiting,
            "expected": self.expected,
            "forecast": self.forecast,
            "profit": self.profit,
            "seconds": round(self.seconds, 3),
            "why": self.why,
        }


def _hourly(use: StepFunction, plan: DayPlan) -> list[float]:
    """Return the mean use of each hour of the period of a plan."""
    return [sum((b - a) * v for a, b, v in use.pieces(t, t + HOUR)) / HOUR for t in range(plan.begin, plan.end, HOUR)]


def offline_problem(centre: Centre, moment: Moment, expected: Workload | None, end: int) -> Profit:
    """Return the profit problem from now to ``end`` (s): running, waiting and expected jobs.

    The duration of a waiting job is the one that is expected of it, that of an expected job its expected runtime.

    Raises
    ------
    ProblemError
        If a job has no power, or the data do not cover the period.
    """
    now = moment.now
    waiting = [_planned(job, moment.expected[job.id]) for job in moment.waiting]
    coming: Sequence[Job] = ()
    if expected is not None:
        coming = [expected.job(k) for k in range(len(expected))]
    jobs = [*waiting, *(_planned(job, job.runtime or 1) for job in coming)]
    running = [Running(r.job, r.start, r.nodes, max(r.end, now + OVERRUN)) for r in moment.running]
    problem = Dispatch(moment.platform, jobs, moment.queues, "waiting", now, running)
    price = centre.tariff.price
    prices = price.lasting(end) if isinstance(price, StepFunction) else price
    return Profit(problem, centre.temperature.lasting(end), centre.cooling, centre.price, prices, end)


def _planned(job: Job, duration: int) -> Job:
    return replace(job, walltime=max(1, duration), runtime=None, latest_start=None)


def plan_of(
    step: OfflineStep, moment: Moment, expected: Workload | None, name: str, real: StepFunction | None, why: str = ""
) -> DayPlan:
    """Solve the offline problem and extract the profile.

    Parameters
    ----------
    step : OfflineStep
        How.
    moment : Moment
        The state of the machine and the queue.
    expected : Workload or None
        The jobs of the forecast; None: it has none, and only the jobs that wait are planned.
    name : str
        The name of the forecast.
    real : StepFunction or None
        The real use of the last 24 hours, up to now, as a share of the cores. None: no profile is extracted, all nodes
        stay wished.
    why : str
        Why the forecast has no jobs.

    Returns
    -------
    DayPlan
        The plan; with all nodes on if the method found no schedule.
    """
    from ...solve import solve  # lazy: it imports the methods

    began = time.perf_counter()
    now = moment.now
    end = now + HOUR * step.hours
    problem = offline_problem(step.centre, moment, expected, end)
    gained = 0.0
    starts = dict[str, int]()
    coming = StepFunction.constant(0, now, end)
    if problem.jobs or problem.dispatch.running:
        result = solve(problem, step.method, time_limit=step.limit, threads=step.threads, seed=step.seed)
        if result.schedule is None:
            why = f"{step.method} found no schedule: {result.message or result.status}"
            return without_schedule(moment, step.hours, why, time.perf_counter() - began)
        coming = use_of(problem.dispatch, result.schedule)
        gained = problem.value(result.schedule)
        starts = dict(result.schedule.start)
    if real is None:
        before = StepFunction.constant(0, now - DAY, now)
    else:
        before = real
    use = joined(before, coming, end)
    pieces = list(use.pieces(now, end))
    everything = flat(moment.platform, 1.0)
    return DayPlan(
        begin=now,
        end=end,
        profile=everything if real is None else extracted(moment.platform, use, now, step.offset, step.hours),
        planned=StepFunction([a for a, *_ in pieces], [v for *_, v in pieces], end),
        waiting=len(moment.waiting),
        expected=0 if expected is None else len(expected),
        forecast=name,
        profit=gained,
        seconds=time.perf_counter() - began,
        why=why,
        starts=starts,
    )


def without_schedule(moment: Moment, hours: int, why: str, seconds: float) -> DayPlan:
    """Return the plan for a period without a schedule: all nodes stay on."""
    everything = flat(moment.platform, 1.0)
    end = moment.now + HOUR * hours
    return DayPlan(moment.now, end, everything, None, len(moment.waiting), 0, "", None, seconds, why)


# --- The rolling offline plan: at its time, forecast the jobs of the next hours and solve the offline problem.


def plain(value: object) -> str:
    """Return a value for a message; 24.0 as 24."""
    if is_real(value):
        return f"{value:g}"
    return shown(value)


class Planner:
    """The offline step of a dispatcher.

    Parameters
    ----------
    name : str
        The name of the dispatcher, for messages.
    forecast : str or Forecast
        The forecast. Where it has no jobs, ``persistence`` takes its place; where that has none either, the jobs that
        wait are planned alone.
    method : str or Method
        The method of the offline step, see ``schedlab.solve``.
    limit : float
        Its time limit in seconds; 0: none.
    hours : float
        The length of a plan in whole hours.
    centre : Centre, optional
        Cooling, weather and prices.

    Raises
    ------
    WrongValue
        If a value is not valid.
    """

    def __init__(
        self, name: str, forecast: str | Forecast, method: object, limit: float, hours: float, centre: Centre | None
    ) -> None:
        if not is_number(limit) or limit < 0:
            raise WrongValue(f"{name}: limit is {plain(limit)}; expected seconds, 0 for no limit")
        if not is_number(hours) or hours < 1 or hours != int(hours):
            raise WrongValue(f"{name}: hours is {plain(hours)}; expected whole hours, such as 24 or 48")
        if isinstance(method, str):
            parse_method(method)
        self.name = name
        self.centre = centre
        self.hours = int(hours)
        self.seed = 0
        self._method, self._limit = method, limit or None
        if isinstance(forecast, str):
            self._forecast = parse_forecast(forecast).make()
        else:
            self._forecast = forecast

    def prepare(self, workload: Workload) -> None:
        """Take the log, of which only the past is used, and by the forecast ``perfect`` the jobs to come.

        Raises
        ------
        ProblemError
            If cooling, weather and prices are not known, or do not cover the submissions.
        """
        if self.centre is None:
            raise ProblemError(
                f"{self.name} plans for profit: expected cooling, weather and prices, such as centre=Centre(...) in Python, "
                "or bench simulate PROFIT_INSTANCE --scenario air,summer,cheap"
            )
        begin = int(workload.submit[0])
        last = int(workload.submit[-1])
        check_covers("temperatures", self.centre.temperature, begin, last)
        self.centre.tariff.check_covers(begin, last)
        self._log = workload
        self._row = {name: k for k, name in enumerate(workload.ids)}
        self._forecast.begin(workload)

    def plan(self, moment: Moment, offset: float, real: StepFunction | None) -> DayPlan:
        """Forecast the jobs of the next hours and plan them; ``offset`` and ``real`` as in ``day_plan``."""
        now = moment.now
        end = moment.now + HOUR * self.hours
        assert self.centre is not None
        expected = None
        name = ""
        reasons = dict[str, None]()
        for forecast in (self._forecast, Persistence()):
            try:
                history = history_at(self._log, now, self._ended(moment))
                expected = forecast_jobs(forecast, history, now, end)
                name = forecast.name
                break
            except EmptyForecast as e:
                reasons[str(e)] = None
        step = OfflineStep(self.centre, self._method, self._limit, offset, self.hours, self.seed)
        return plan_of(step, moment, expected, name, real, "; ".join(reasons))

    def _ended(self, moment: Moment) -> NDArray[np.bool_]:
        """Return whether each job of the log has ended: it was submitted, and neither waits nor runs."""
        ended = self._log.release <= moment.now
        active = [*(j.id for j in moment.waiting), *(r.job.id for r in moment.running)]
        ended[[self._row[name] for name in active if name in self._row]] = False
        return ended


# --- The real use of the machine so far, as a share of its cores.


class UseRecord:
    """The cores in use since the begin of a replay.

    Parameters
    ----------
    total : int
        The cores of the machine.

    Examples
    --------
    >>> record = UseRecord(10)
    >>> record.add(100, 5)
    >>> record.add(200, 10)
    >>> list(record.until(300, since=0).pieces(0, 300))  # as before the begin as at the begin
    [(0, 200, 0.5), (200, 300, 1.0)]
    """

    def __init__(self, total: int) -> None:
        self._total = total
        self._times: list[int] = []
        self._shares: list[float] = []

    def add(self, now: int, cores: int) -> None:
        """Note the cores in use from ``now`` (s) on."""
        share = cores / self._total
        if self._times and self._times[-1] == now:
            self._shares[-1] = share
        elif not self._shares or self._shares[-1] != share:
            self._times.append(now)
            self._shares.append(share)

    def until(self, now: int, since: int) -> StepFunction:
        """Return the use from ``since`` to ``now`` (s); before the first entry it is taken to be that of the first one.

        Raises
        ------
        ProblemError
            If nothing is known before ``now``.
        """
        if not self._times or self._times[0] >= now:
            raise ProblemError(f"the use of the machine before {now} s is not known")
        end = bisect_left(self._times, now)
        first = max(0, bisect_right(self._times, since) - 1)
        times, shares = self._times[first:end], self._shares[first:end]
        times[0] = since
        return StepFunction(times, shares, now)


def cores_of(jobs: Iterable[Job]) -> int:
    """Return the cores of all units of some jobs."""
    return sum(job.units * job.request.get("cores", 0) for job in jobs)


# --- Which nodes a profile wishes to be in use, as the desired use that node managers follow.
#
# The share d of an hour stands for whole nodes: ``ceil(N d)`` of a group of N nodes, and at least those in use or reserved
# then. Nodes in use or reserved come first, the latest planned end first, then the others that are on, then those that are
# off; ties by number. A node that is wished has its capacity as desired use, another one 0.

EARLY = -(2**62)  # before all times


def wished(profile: DesiredProfile, begin: int, hours: int, now: int, ends: Ints, ready: Ints) -> Bools:
    """Return which nodes are wished in each hour.

    Parameters
    ----------
    profile : DesiredProfile
        The profile of a plan.
    begin, hours : int
        The begin of the first hour in seconds, and the number of hours.
    now : int
        The current time in seconds.
    ends : ndarray of int64, shape (nodes,)
        When the last running or planned job of each node ends, in seconds; up to now: there is none.
    ready : ndarray of int64, shape (nodes,)
        The earliest time in seconds at which each node can be on; up to now: it is on.

    Returns
    -------
    ndarray of bool, shape (hours, nodes)
        Whether the node is wished.

    Examples
    --------
    >>> from schedlab.models import NodeGroup
    >>> from schedlab.models.profiles import flat
    >>> half = flat(Platform([NodeGroup("n", 4, {"cores": 8})]), 0.5)
    >>> wished(half, 0, 1, 0, ends=np.array([0, 0, 0, 900]), ready=np.array([300, 0, 0, 0]))[0].tolist()
    [False, True, False, True]
    """
    wishes = np.zeros((hours, ends.size), np.bool_)
    first = 0
    for group in profile.platform.groups:
        nodes = np.arange(first, first + group.count)
        first += group.count
        until = np.maximum(ends[nodes], now)
        order = nodes[np.lexsort((nodes, ready[nodes] > now, -until))]
        for h in range(hours):
            t = begin + HOUR * h
            used = int(np.count_nonzero(until > max(t, now)))
            wishes[h, order[: max(used, count_on(profile, group, t))]] = True
    return wishes


def limits_of(platform: Platform, nodes: Bools, begin: int) -> Limits:
    """Return wished nodes as the desired use of each node.

    Parameters
    ----------
    platform : Platform
        The machine.
    nodes : ndarray of bool, shape (hours, nodes)
        Whether each node is wished, hour by hour from ``begin`` on; the last hour holds for ever.
    begin : int
        The begin of the first hour in seconds.

    Returns
    -------
    Limits
        A step function for each node.
    """
    hours, count = nodes.shape
    capacity = np.array([platform.capacity[n] for n in platform.nodes], np.float64)
    times = begin + HOUR * np.arange(hours)
    times[0] = EARLY
    return Limits(
        curve=np.arange(count),
        first=np.arange(count + 1) * hours,
        time=np.tile(times, count),
        amount=np.ascontiguousarray((nodes.T[:, :, None] * capacity[:, None, :]).reshape(count * hours, -1)),
        period=np.zeros(count, np.int64),
    )


# --- The node policy of the hybrid: nodes follow the profile of its last plan.


@with_short_repr
class FollowPlan(FollowProfile):
    """Follow the profile of a plan, which the dispatcher sets (``desired``); until then all nodes stay on."""

    name = "hybrid"

    def begin(self, platform: Platform, switching: Switching, desired: DesiredProfile | None) -> None:
        """Keep all nodes on; the desired profile of the replay is for its metrics only."""
        super().begin(platform, switching, flat(platform, 1.0))


# --- A rolling offline plan followed with EASY: waiting jobs start in the order of their planned starts, others fill the gaps.
#
# A plan is made at the first decision, and then at the first one ``every`` hours or more after the last plan. It has the
# running jobs, those that wait, and those of the forecast of the next ``hours`` hours. EASY backfilling then takes the
# waiting jobs in the order of their planned starts. A job that arrives after the plan was made stands in this order at its
# submit time, one that the plan leaves out at the end of the plan.
#
# The dispatcher leaves nodes to the node policy of the replay.


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
    needs = frozenset({"log", "one-chunk", "all-nodes"})  # one chunk, as the offline step
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


# --- The hybrid as a dispatcher: DARDIS follows the profile of a daily offline plan, and nodes beyond it are off [Bridi2018, 7].
#
# At each event, in this order: at a multiple of the period the jobs of the next hours are forecast, the offline step plans
# them, and its profile replaces the one before (``day_plan``); the nodes that the profile wishes are chosen anew at each hour
# and whenever nodes are switched (``wishes``); DARDIS dispatches (``dardis``). The engine switches nodes by the same profile
# (``node_policies.following``) and boots those of planned starts ahead of them.
#
# The first plan is made 24 hours after the begin of the replay, as it needs the use of a day. Until then, and for a period
# without a schedule, all nodes stay on. Without a forecast the jobs that wait are planned alone.


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
        self.needs = frozenset({"always", "log", "one-chunk", "all-nodes"})  # one chunk, as DARDIS
        if self.node_policy is not None:
            self.needs |= {"node-policy"}
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
        if moment.ready is None:
            ready = np.full(len(self._platform.nodes), now)
        else:
            ready = moment.ready
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
