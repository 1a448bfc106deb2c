"""Forecasts of the jobs that will be submitted: persistence, weekly, perfect, learned; their protocol and names [Bridi2018, 7.2]."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import MissingPackage, SchedlabError, WrongArgument, WrongValue
from ..instances.files.reading import WorkloadError
from ..instances.workload import UNKNOWN, Workload
from ..models.arguments import checked
from ..models.array_types import Floats, Ints
from ..models.plugins import PluginError
from ..models.registry import NamedPart, Registry
from ..models.words import excerpt, with_short_repr

if TYPE_CHECKING:
    from sklearn.linear_model import PoissonRegressor


from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

# --- The work of the jobs of a log.


def core_seconds(workload: Workload) -> NDArray[np.float64]:
    """Return the core-seconds of each job, by its runtime; unit-seconds if the log has no resource ``cores``."""
    arrays = workload.job_arrays
    if "cores" in workload.resources:
        width = arrays.amounts[:, workload.resources.index("cores")]
    else:
        width = arrays.all_units
    return np.maximum(workload.runtime, 0) * width.astype(np.float64)


# --- The protocol of forecasts of jobs, and the call that checks what a forecast returns [Bridi2018, 7.2].

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
        workload = forecast.jobs(history, now, end)
    except SchedlabError:
        raise
    except Exception as e:
        raise ForecastError(f"the forecast {forecast.name} raised {type(e).__name__}: {e}") from e
    if not isinstance(workload, Workload):
        raise ForecastError(
            f"the forecast {forecast.name} returned {excerpt(workload)}; expected a Workload with the jobs that are "
            f"submitted from {now} s to {end} s"
        )
    if not len(workload):
        raise EmptyForecast(f"the forecast {forecast.name} expects no job from {now} s to {end} s")
    outside = np.flatnonzero((workload.submit < now) | (workload.submit >= end))
    if outside.size:
        raise ForecastError(
            f"the forecast {forecast.name} from {now} s to {end} s has a job that is submitted at "
            f"{workload.submit[outside[0]]} s; all jobs must be submitted in the period"
        )
    order = np.argsort(workload.submit, kind="stable")
    if not (np.diff(order) > 0).all():
        workload = workload.keep(order)
    return replace(workload, ids=tuple(f"forecast-{k}" for k in range(1, len(workload) + 1)))


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
    if rows.dtype != np.bool_:
        index = rows
    else:
        index = np.flatnonzero(rows)
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


# --- Forecasts without a model: the jobs of the day before, of the week before, and those that will come.


@with_short_repr
class _Shifted:
    """A forecast that repeats the jobs of an earlier period.

    Parameters
    ----------
    name : str
        The name.
    every : int
        The period is moved by a multiple of these seconds: the least one that reaches into the past.
    """

    def __init__(self, name: str, every: int) -> None:
        self.name, self._every = name, every

    def begin(self, workload: Workload) -> None:
        """Keep nothing of the log."""

    def jobs(self, history: Workload, now: int, end: int) -> Workload:
        """Return the jobs of the earlier period, moved to [now, end)."""
        shift = self._every * -(-(end - now) // self._every)
        there = (history.submit >= now - shift) & (history.submit < end - shift)
        if not there.any():
            first = int(history.submit[0])
            why = ""
            if first > now - shift:
                why = f"; the history begins at {first} s"
            raise EmptyForecast(
                f"the forecast {self.name} of {now} s to {end} s repeats {now - shift} s to {end - shift} s, "
                f"in which no job was submitted{why}"
            )
        return moved(history, there, history.submit[there] + shift)


class Persistence(_Shifted):
    """The submissions of the last 24 h again; for a longer period those of the last whole days [Bridi2018, 7.7]."""

    def __init__(self) -> None:
        super().__init__("persistence", DAY)


class Weekly(_Shifted):
    """The submissions of the same weekdays of the week before."""

    def __init__(self) -> None:
        super().__init__("weekly", 7 * DAY)


@with_short_repr
class Perfect:
    """The jobs that will come, with their runtimes: an upper bound on what a forecast is worth."""

    name = "perfect"

    def begin(self, workload: Workload) -> None:
        """Keep the log."""
        self._log = workload

    def jobs(self, history: Workload, now: int, end: int) -> Workload:
        """Return the jobs of the log in [now, end)."""
        there = (self._log.submit >= now) & (self._log.submit < end)
        if not there.any():
            raise EmptyForecast(f"the forecast perfect: no job is submitted from {now} s to {end} s")
        return moved(self._log, there, self._log.submit[np.flatnonzero(there)])


# --- A forecast learned from the log: numbers of jobs per hour by a Poisson regression, jobs drawn from the recent past.
#
# The number of submissions of an hour is a Poisson regression (scikit-learn, ``PoissonRegressor``) on the logarithms of: the
# submissions in the same hour of the last day that is known, in the same hour of the week before it, the mean of that hour
# of the day over the last week, and the mean per hour of the last day and of the last week. It is trained on the periods of
# the past that begin a whole number of days before ``now``, as a forecast made then would have seen them. The jobs are a
# systematic sample of those of the last week by their core-hours: every part of the distribution has its share. Their hours
# are drawn by a seeded permutation, and the second within the hour is that of the sampled job.

HOUR = 3600
WEEK = 7 * DAY
LEAST = 8  # days of history: a week of periods, and a day before the first of them


@with_short_repr
class Learned:
    """The forecast.

    Parameters
    ----------
    days : float, default 28
        The number of past periods that it is trained on, at most.
    seed : float, default 0
        The seed of the permutation; a whole number.
    """

    name = "learned"

    def __init__(self, days: float = 28, seed: float = 0) -> None:
        if days < LEAST - 1:
            raise WrongValue(f"the forecast learned: days is {days:g}; at least {LEAST - 1} are expected")
        self.days = int(days)
        self.seed = int(seed)

    def begin(self, workload: Workload) -> None:
        """Keep nothing of the log; raise MissingPackage if scikit-learn is missing."""
        _regressor()

    def jobs(self, history: Workload, now: int, end: int) -> Workload:
        """Return the expected jobs of [now, end)."""
        known = (now - int(history.submit[0])) / DAY
        lead = -(-(end - now) // DAY)
        if known < LEAST - 1 + lead:
            raise EmptyForecast(
                f"the forecast learned has {known:.1f} days of history before {now} s; "
                f"at least {LEAST - 1 + lead} are expected"
            )
        number = self._per_hour(history, now, end, lead)
        if not number.sum():
            raise EmptyForecast(f"the forecast learned expects no job from {now} s to {end} s")
        return self._sample(history, number, now, end)

    def _per_hour(self, history: Workload, now: int, end: int, lead: int) -> Ints:
        """Return the number of jobs expected in each hour of the period."""
        hours = -(-(end - now) // HOUR)
        past = (now - int(history.submit[0])) // HOUR  # whole hours of history
        ago = (now - 1 - history.submit) // HOUR  # hours before now, 0 for the last one
        count = np.bincount(ago[ago < past], minlength=past)[::-1].astype(float)  # oldest first
        origins = [past - 24 * d for d in range(lead, self.days + lead) if past - 24 * d >= 24 * lead]
        given = np.concatenate([_features(count, o, hours, lead) for o in origins])
        with _one_thread():
            made = _regressor().fit(given, np.concatenate([count[o : o + hours] for o in origins]))
        mean: Floats = made.predict(_features(count, past, hours, lead))
        return np.diff(np.round(np.cumsum(mean)), prepend=0.0).astype(np.int64)

    def _sample(self, history: Workload, number: Ints, now: int, end: int) -> Workload:
        """Return jobs of the last week with the core-hours of a systematic sample, in the hours of ``number``."""
        recent = np.flatnonzero(history.submit >= min(now - WEEK, int(history.submit[-1])))
        total = int(number.sum())
        ordered = recent[np.argsort(core_seconds(history)[recent], kind="stable")]
        chosen = ordered[((np.arange(total) + 0.5) * len(ordered) / total).astype(np.int64)]
        chosen = chosen[np.random.default_rng([self.seed, abs(now)]).permutation(total)]
        hour = now + HOUR * np.repeat(np.arange(len(number)), number)
        submit = np.minimum(hour + (history.submit[chosen] - now) % HOUR, end - 1)
        order = np.argsort(submit, kind="stable")
        return moved(history, chosen[order], submit[order])


def _features(count: Floats, origin: int, hours: int, lead: int) -> Floats:
    """Return a row per hour of a period from ``origin`` on, of what is known at its begin; shape (hours, 5)."""
    target = np.arange(origin, origin + hours)
    last = target - 24 * lead
    days = [last - 24 * d for d in range(7)]
    known = [d for d in days if d[0] >= 0]
    same = np.mean([count[d] for d in known], axis=0)
    week = target - 7 * 24 * -(-lead // 7)
    recent = [np.full(hours, count[max(0, origin - n) : origin].mean()) for n in (24, 168)]
    values: Floats = np.log1p(np.column_stack([count[last], count[week] if week[0] >= 0 else same, same, *recent]))
    return values


def _regressor() -> PoissonRegressor:
    """Return the model; raise MissingPackage if scikit-learn is missing."""
    try:
        from sklearn.linear_model import PoissonRegressor
    except ImportError as e:
        raise MissingPackage("the forecast learned needs scikit-learn: pip install 'schedlab[guide]'") from e
    return PoissonRegressor(alpha=1e-2, solver="newton-cholesky")


def _one_thread() -> AbstractContextManager[object]:
    """Limit the threads of scikit-learn: on so little data several ones wait for each other on a busy machine."""
    from threadpoolctl import threadpool_limits

    limited: AbstractContextManager[object] = threadpool_limits(1)
    return limited


# --- The names of forecasts: those of schedlab and of third parties, with options as text.

FORECASTS: Registry[Forecast] = Registry(
    "forecast",
    "schedlab.forecasts",
    {
        "persistence": Persistence,
        "weekly": Weekly,
        "learned": Learned,
        "perfect": Perfect,
    },
    parts=PARTS,
    docs="docs/reference/forecasts.md",
)
"""The forecasts by name: a forecast, or a class or function that returns one."""


def parse_forecast(text: str) -> NamedPart[Forecast]:
    """Split the name of a forecast, ``NAME[:OPTION=VALUE]...``, into its parts; ``make`` of the result returns it.

    Parameters
    ----------
    text : str
        ``NAME`` is one of ``FORECASTS``, or ``module:attribute``, a forecast, or a class or function that returns one.

    Returns
    -------
    NamedPart

    Raises
    ------
    UnknownName
        If there is no such forecast; the message lists similar names.
    WrongOption
        If an option has no value, or is given twice.
    PluginError
        If the module of a forecast ``module:attribute`` cannot be imported.

    Examples
    --------
    >>> parse_forecast("learned:days=14").make().days
    14
    """
    return FORECASTS.find(text)


def forecast_source(text: str) -> str | None:
    """Return a hash of the source of a third party's forecast; None for those of schedlab."""
    return FORECASTS.find(text).source


# --- Scores of forecasts on a log: at each midnight the jobs of the next day are forecast and compared with what came.


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
    if base is None:
        usual = np.nan
    else:
        usual = float(np.abs(base - work_came).mean())
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
