"""The rolling offline plan: at its time, forecast the jobs of the next hours and solve the offline problem."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...errors import WrongValue
from ...instances.workload import Workload
from ...methods.text import parse_method
from ...models import ProblemError
from ...models.energy.tariff import check_covers
from ...models.step_function import HOUR, StepFunction
from ...models.whole_numbers import is_number, is_real, shown
from ..dispatcher import Moment
from ..energy import Centre
from ..forecasts import EmptyForecast, Forecast, Persistence, forecast_jobs, history_at, parse_forecast
from .day_plan import DayPlan, OfflineStep, plan_of


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
        self.name, self.centre, self.hours, self.seed = name, centre, int(hours), 0
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
        begin, last = int(workload.submit[0]), int(workload.submit[-1])
        check_covers("temperatures", self.centre.temperature, begin, last)
        self.centre.tariff.check_covers(begin, last)
        self._log = workload
        self._row = {name: k for k, name in enumerate(workload.ids)}
        self._forecast.begin(workload)

    def plan(self, moment: Moment, offset: float, real: StepFunction | None) -> DayPlan:
        """Forecast the jobs of the next hours and plan them; ``offset`` and ``real`` as in ``day_plan``."""
        now, end = moment.now, moment.now + HOUR * self.hours
        assert self.centre is not None
        expected, name, reasons = None, "", dict[str, None]()
        for forecast in (self._forecast, Persistence()):
            try:
                history = history_at(self._log, now, self._ended(moment))
                expected, name = forecast_jobs(forecast, history, now, end), forecast.name
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
