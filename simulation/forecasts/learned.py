"""A forecast learned from the log: numbers of jobs per hour by a Poisson regression, jobs drawn from the recent past.

The number of submissions of an hour is a Poisson regression (scikit-learn, ``PoissonRegressor``) on the logarithms of: the
submissions in the same hour of the last day that is known, in the same hour of the week before it, the mean of that hour
of the day over the last week, and the mean per hour of the last day and of the last week. It is trained on the periods of
the past that begin a whole number of days before ``now``, as a forecast made then would have seen them. The jobs are a
systematic sample of those of the last week by their core-hours: every part of the distribution has its share. Their hours
are drawn by a seeded permutation, and the second within the hour is that of the sampled job.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...errors import MissingPackage, WrongValue
from ...instances.workload import Workload
from ...models.excerpt import with_short_repr
from .forecast import DAY, EmptyForecast, Ints, moved
from .work import core_seconds

if TYPE_CHECKING:
    from sklearn.linear_model import PoissonRegressor

HOUR, WEEK = 3600, 7 * DAY
LEAST = 8  # days of history: a week of periods, and a day before the first of them
Floats = NDArray[np.float64]


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
        self.days, self.seed = int(days), int(seed)

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
    found: Floats = np.log1p(np.column_stack([count[last], count[week] if week[0] >= 0 else same, same, *recent]))
    return found


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
