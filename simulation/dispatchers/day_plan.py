"""The rolling offline plan: the jobs of the next hours are forecast, and the offline problem is solved [Bridi2018, 7.2 to 7.4]."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import WrongValue
from ...instances.workload import Workload
from ...methods.text import parse_method
from ...models import ProblemError
from ...models.arguments import is_number, is_real, shown
from ...models.comparing import hashable
from ...models.desired_profile import DesiredProfile, Steps
from ...models.dispatch.jobs import Job, Running
from ...models.dispatch.problem import Dispatch
from ...models.profiles import extracted, flat, joined, use_of
from ...models.profit.problem import Profit
from ...models.step_function import DAY, HOUR, StepFunction, check_covers
from ...models.words import with_short_repr
from ..dispatcher import Moment
from ..energy import Centre
from ..forecasts import EmptyForecast, Forecast, Persistence, forecast_jobs, history_at, parse_forecast

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
    coming: Sequence[Job] = () if expected is None else [expected.job(k) for k in range(len(expected))]
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
    before = StepFunction.constant(0, now - DAY, now) if real is None else real
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
    return f"{value:g}" if is_real(value) else shown(value)


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
        self._forecast = parse_forecast(forecast).make() if isinstance(forecast, str) else forecast

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
