"""The protocol of forecasts of jobs, and the call that checks what a forecast returns [Bridi2018, 7.2]."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ...errors import SchedlabError, WrongArgument
from ...instances.times import UNKNOWN
from ...instances.workload import Workload, WorkloadError
from ...models.arguments import checked
from ...models.excerpt import excerpt
from ...models.plugins import PluginError

Ints = NDArray[np.int64]
DAY = 86400  # seconds

PARTS = ("name", "begin", "jobs")  # of a forecast


class EmptyForecast(WorkloadError):
    """A forecast has no job: a plan made from it would switch off the whole machine. The message says why."""


class Forecast(Protocol):
    """The protocol of forecasts: an object that returns the jobs that are expected in a period.

    Attributes
    ----------
    name : str
        The name in results and messages.
    """

    @property
    def name(self) -> str:
        """The name in results and messages."""

    def begin(self, workload: Workload) -> None:
        """Prepare for a log; only a forecast that serves as a bound, such as ``perfect``, may keep it."""

    def jobs(self, history: Workload, now: int, end: int) -> Workload:
        """Return the jobs that are expected to be submitted in [now, end).

        Parameters
        ----------
        history : Workload
            The jobs submitted before ``now``, see ``history_at``.
        now, end : int
            The period in seconds.

        Returns
        -------
        Workload
            The jobs; their runtimes are the expected durations. ``forecast_jobs`` gives them names of their own.

        Raises
        ------
        EmptyForecast
            If no job is expected, or the history is too short.
        """


@checked
def history_at(workload: Workload, now: int, ended: NDArray[np.bool_] | None = None) -> Workload:
    """Return what is known of a log at a time: the jobs submitted before, with the runtimes of those that have ended.

    Parameters
    ----------
    workload : Workload
        The log.
    now : int
        The time in seconds.
    ended : array of bool, shape (jobs,), optional
        Whether each job has ended. None: by its recorded start; without one, as if it had started when it was submitted.

    Returns
    -------
    Workload
        The jobs. The runtime of a job that has not ended is its walltime.

    Raises
    ------
    EmptyForecast
        If no job was submitted before.
    """
    before = workload.submit < now
    if not before.any():
        raise EmptyForecast(
            f"{workload.name}: no job was submitted before {now} s (the first one at {workload.submit[0]} s), "
            "so there is no history to forecast from"
        )
    if ended is None:
        known = workload.recorded_start != UNKNOWN
        ended = np.where(known, workload.recorded_start, workload.submit) + workload.runtime <= now
    seen = replace(workload, runtime=np.where(ended, workload.runtime, workload.walltime))
    return seen.keep(before)


def forecast_jobs(forecast: Forecast, history: Workload, now: int, end: int) -> Workload:
    """Return the jobs that a forecast expects in [now, end), after a check.

    Parameters
    ----------
    forecast : Forecast
        The forecast; its ``begin`` has been called.
    history : Workload
        What is known, see ``history_at``.
    now, end : int
        The period in seconds, ``now < end``.

    Returns
    -------
    Workload
        The jobs, named ``forecast-1``, ``forecast-2``, ..., by submit time.

    Raises
    ------
    EmptyForecast
        If the forecast has no job.
    ForecastError
        If the period has no length, a job is submitted outside of it, or the forecast raises or returns no Workload.
    """
    if isinstance(forecast, type) or not all(hasattr(forecast, part) for part in PARTS):
        raise WrongArgument(
            f"forecast of forecast_jobs is {excerpt(forecast)}; expected an object with name, begin and jobs, "
            "such as parse_forecast('persistence').make()"
        )
    if end <= now:
        raise ForecastError(f"a forecast from {now} s to {end} s: the end must be after the begin")
    try:
        found = forecast.jobs(history, now, end)
    except SchedlabError:
        raise
    except Exception as e:
        raise ForecastError(f"the forecast {forecast.name} raised {type(e).__name__}: {e}") from e
    if not isinstance(found, Workload):
        raise ForecastError(
            f"the forecast {forecast.name} returned {excerpt(found)}; expected a Workload with the jobs that are "
            f"submitted from {now} s to {end} s"
        )
    if not len(found):
        raise EmptyForecast(f"the forecast {forecast.name} expects no job from {now} s to {end} s")
    outside = np.flatnonzero((found.submit < now) | (found.submit >= end))
    if outside.size:
        raise ForecastError(
            f"the forecast {forecast.name} from {now} s to {end} s has a job that is submitted at "
            f"{found.submit[outside[0]]} s; all jobs must be submitted in the period"
        )
    order = np.argsort(found.submit, kind="stable")
    found = found if (np.diff(order) > 0).all() else found.keep(order)
    return replace(found, ids=tuple(f"forecast-{k}" for k in range(1, len(found) + 1)))


class ForecastError(PluginError, ValueError):
    """A forecast breaks its protocol; the message names it."""


def moved(workload: Workload, rows: NDArray[np.bool_] | Ints, submit: Ints) -> Workload:
    """Return jobs of a log as expected jobs: with other submit times, without what was recorded of them.

    Parameters
    ----------
    workload : Workload
        The log.
    rows : array of bool, shape (jobs,), or array of int
        The jobs, as a mask or as indices, which may repeat.
    submit : array of int, shape (rows,)
        The new submit times in seconds. The time from submission to release is kept.
    """
    index = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
    kept = replace(workload, after={}, windows={}, arrays={}).keep(index)
    return replace(
        kept,
        submit=submit,
        release=submit + np.maximum(0, kept.release - kept.submit),
        recorded_start=np.full(len(kept), UNKNOWN, np.int64),
        latest_start=np.zeros(0, np.int64),  # none
        begin=None,
        running=(),
    )
