"""Scores of forecasts on a log: at each midnight the jobs of the next day are forecast and compared with what came."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..instances.workload import Workload
from ..models.array_types import Floats
from .forecasts import DAY, EmptyForecast, Forecast, core_seconds, forecast_jobs, history_at

HOUR = 3600


@dataclass(frozen=True)
class Score:
    """The errors of a forecast, over the days for which all compared forecasts have one.

    Parameters
    ----------
    name : str
        The forecast.
    days : int
        The number of days scored.
    jobs, jobs_came : float
        The mean number of jobs per day, forecast and submitted.
    work, work_came : float
        The mean core-hours per day of these jobs.
    jobs_error, work_error : float
        The mean absolute error of the number of jobs per hour, and of the core-hours submitted per hour.
    day_error : float
        The mean absolute error of the core-hours of a day, relative to the mean core-hours of a day.
    skill : float
        1 less ``work_error`` over that of persistence on the same days; 0 is as good as persistence, 1 is perfect. NaN if
        persistence is not among the forecasts, or has no error.
    missing : Counter of str
        How often the forecast had no jobs for a day, by reason.
    """

    name: str
    days: int
    jobs: float
    jobs_came: float
    work: float
    work_came: float
    jobs_error: float
    work_error: float
    day_error: float
    skill: float
    missing: Counter[str]


def score(workload: Workload, forecasts: Sequence[Forecast], hours: int = 24) -> list[Score]:
    """Return the score of each forecast on a log.

    At each midnight of the log's clock (UTC if it has one) after the first job, each forecast gets the history up to then
    and returns the jobs of the next ``hours``. A day counts if all forecasts have jobs for it and the log covers it.

    Parameters
    ----------
    workload : Workload
        The log.
    forecasts : sequence of Forecast
        The forecasts.
    hours : int, default 24
        The length of the forecast period in hours.

    Returns
    -------
    list of Score
        The scores, in the order of the forecasts.

    Raises
    ------
    EmptyForecast
        If there is no day for which all of them have a forecast; the message has the reasons.
    """
    for f in forecasts:
        f.begin(workload)
    missing: list[Counter[str]] = [Counter() for _ in forecasts]
    errors: list[list[tuple[Floats, Floats]]] = [[] for _ in forecasts]
    came: list[tuple[Floats, Floats]] = []
    midnights = _midnights(workload, hours)
    for now in midnights:
        history = history_at(workload, now)
        end = now + hours * HOUR
        made = []
        for f, counted in zip(forecasts, missing, strict=True):
            try:
                made.append(_per_hour(forecast_jobs(f, history, now, end), now, hours))
            except EmptyForecast as e:
                counted[str(e)] += 1
        if len(made) < len(forecasts):
            continue
        came.append(_per_hour(workload, now, hours))
        for one, per_hour in zip(errors, made, strict=True):
            one.append(per_hour)
    if not came:
        detail = (
            "; ".join(reason for counted in missing for reason in list(counted)[:1])
            or f"it has no whole period of {hours} h after a first midnight"
        )
        raise EmptyForecast(f"{workload.name}: there is no day for which all forecasts have jobs: {detail}")
    jobs_came, work_came = _stacked(came)
    stacked = [_stacked(one) for one in errors]
    base = next((w for f, (_, w) in zip(forecasts, stacked, strict=True) if f.name == "persistence"), None)
    return [
        _score(f.name, jobs, work, jobs_came, work_came, base, counted)
        for f, (jobs, work), counted in zip(forecasts, stacked, missing, strict=True)
    ]


def _midnights(workload: Workload, hours: int) -> range:
    """Return the midnights after the first job from which on a whole period is in the log."""
    clock = (workload.unix_start or 0) % DAY
    first = (int(workload.submit[0]) + clock) // DAY * DAY + DAY - clock
    return range(first, int(workload.submit[-1]) + 1 - hours * HOUR + HOUR, DAY)


def _per_hour(jobs: Workload, now: int, hours: int) -> tuple[Floats, Floats]:
    """Return the number of jobs and the core-hours that are submitted in each hour from ``now`` on."""
    hour = (jobs.submit - now) // HOUR
    inside = (hour >= 0) & (hour < hours)
    number = np.bincount(hour[inside], minlength=hours).astype(np.float64)
    work = np.bincount(hour[inside], core_seconds(jobs)[inside] / HOUR, hours).astype(np.float64)
    return number, work


def _stacked(days: Sequence[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """Return jobs and core-hours as arrays, shape (days, hours)."""
    return np.stack([jobs for jobs, _ in days]), np.stack([work for _, work in days])


def _score(
    name: str,
    jobs: Floats,
    work: Floats,
    jobs_came: Floats,
    work_came: Floats,
    base: Floats | None,
    missing: Counter[str],
) -> Score:
    error = float(np.abs(work - work_came).mean())
    usual = np.nan if base is None else float(np.abs(base - work_came).mean())
    daily = work_came.sum(axis=1)
    return Score(
        name=name,
        days=len(jobs),
        jobs=float(jobs.sum(axis=1).mean()),
        jobs_came=float(jobs_came.sum(axis=1).mean()),
        work=float(work.sum(axis=1).mean()),
        work_came=float(daily.mean()),
        jobs_error=float(np.abs(jobs - jobs_came).mean()),
        work_error=error,
        day_error=float(np.abs(work.sum(axis=1) - daily).mean() / max(daily.mean(), 1e-300)),
        skill=1 - error / usual if usual > 0 else np.nan,
        missing=missing,
    )
