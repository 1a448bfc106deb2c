"""The rankers of schedlab: the factors of Slurm's multifactor priority.

Each factor lies between 0 and 1; the job with the greatest factor goes first, so that its key is minus the factor.

References
----------
Slurm workload manager, documentation of the multifactor priority plugin and of the classic fair-share algorithm:
https://slurm.schedmd.com/priority_multifactor.html, https://slurm.schedmd.com/classic_fair_share.html
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...errors import WrongValue
from ...models import Platform, Queue
from ...models.excerpt import with_short_repr
from ...models.whole_numbers import is_number, is_real, shown
from .ranker import Floats, Ints, News, RankedJobs

DAY = 86400
USAGES = ("cores", "dominant")
DIGITS = 9  # of the usage per share: users with the same usage have the same factor
FINEST = 2.0**40  # dominant shares are multiples of 1 / FINEST, so that sums of them are exact


def _positive(ranker: str, **values: float) -> None:
    for name, value in values.items():
        if not is_real(value) or not value > 0:
            raise WrongValue(f"ranker {ranker}: {name} is {shown(value)}, expected a number above 0")


def _known(ranker: str, what: str, given: Mapping[str, Any], names: Sequence[str]) -> None:
    """Raise WrongValue if a key of ``given`` is no name of the workload, or its value is negative or no number."""
    for name, value in given.items():
        if name not in names:
            raise WrongValue(f"ranker {ranker}: there is no {what} {name!r} in the workload")
        if not is_number(value) or value < 0:
            raise WrongValue(f"ranker {ranker}: {what} {name!r} has {shown(value)}, expected a number of at least 0")


@with_short_repr
@dataclass
class Fairshare:
    """Jobs of users who have used less than their share go first.

    The factor of a user is ``2 ** -(U / S / dampening)``, the exponent rounded to 9 digits. S is the user's part of all
    shares. U is the user's part of the usage of all users, where usage of ``t`` seconds ago counts ``2 ** (-t /
    half_life)``: exactly, while Slurm adds up intervals of 5 minutes. The usage of running jobs counts up to now. A user
    who has used exactly the share has the factor 0.5, a user without usage 1, and a user with a share of 0 has 0.

    Parameters
    ----------
    half_life : float
        Seconds after which usage counts half; ``math.inf``: no decay. Default: 7 days, as in Slurm.
    usage : str
        What is counted: ``"cores"``, core-seconds (of the first resource if there are no cores), or ``"dominant"``,
        seconds times the greatest part of a resource of the whole machine that the job requests.
    shares : mapping of str to float
        Shares by user name; 1 for users who are not listed.
    dampening : float
        Slurm's FairShareDampeningFactor: greater values make the factors more alike.

    Raises
    ------
    ValueError
        If a parameter is not valid; for ``shares``, at the begin of the replay.

    Examples
    --------
    >>> import schedlab as sl
    >>> from schedlab.simulation.policies.policy import POLICIES
    >>> daily = POLICIES["easy"].with_ranker(Fairshare(half_life=86400))
    >>> sl.simulate("eurora_99", dispatcher=daily)
    Simulation(easy+fairshare, 99 of 99 jobs, 0 violations)
    """

    half_life: float = 7 * DAY
    usage: str = "cores"
    shares: Mapping[str, float] = field(default_factory=dict)
    dampening: float = 1.0
    name = "fairshare"

    def __post_init__(self) -> None:
        _positive(self.name, half_life=self.half_life, dampening=self.dampening)
        if self.usage not in USAGES:
            raise WrongValue(f"ranker {self.name}: usage is {self.usage!r}, expected one of {', '.join(USAGES)}")

    def begin(self, platform: Platform, queues: Sequence[Queue], users: Sequence[str], seed: int) -> None:
        """Start without any usage. Raises WrongValue for shares of unknown users."""
        _known(self.name, "user", self.shares, users)
        shares = np.array([self.shares.get(user, 1.0) for user in users])
        if not shares.sum() > 0:
            raise WrongValue(f"ranker {self.name}: all users have a share of 0; at least one above 0 is expected")
        self._entitled = (shares > 0).astype(np.float64)
        self._scale = np.where(shares > 0, shares / shares.sum(), 1.0) * self.dampening
        self._cores = _cores(platform)
        self._totals = np.maximum(1.0, _totals(platform))
        self._now: int | None = None
        self._used = np.zeros(len(users))  # decayed usage
        self._rate = np.zeros(len(users))  # usage per second of the running jobs

    def learn(self, news: News) -> None:
        """Count the usage up to now, and change it per second by the jobs that have started or ended."""
        self._go_to(news.now)
        if len(news.started):
            np.add.at(self._rate, news.started.user, self._charge(news.started))
        if len(news.ended):
            user, charge = news.ended.user, self._charge(news.ended)
            np.subtract.at(self._rate, user, charge)
            too_long = news.now - news.ended.end  # above 0 only if decisions take simulated time
            if too_long.any():
                np.subtract.at(self._used, user, charge * self._weight(too_long))

    def rank(self, now: int, waiting: RankedJobs) -> Floats:
        """Return minus the factor of each job's user."""
        self._go_to(now)
        return (-self.factors())[waiting.user]

    def factors(self) -> Floats:
        """Return the factor of each user at the time of the last event, shape (users,)."""
        total = self._used.sum()
        exponent = self._used / total / self._scale if total > 0 else np.zeros(len(self._used))
        found: Floats = self._entitled * np.exp2(-np.round(exponent, DIGITS))
        return found

    def _charge(self, jobs: RankedJobs) -> Floats:
        """Return the usage of each job per second."""
        if self.usage == "cores":
            return (jobs.units * jobs.request[:, self._cores]).astype(np.float64)
        parts: Floats = (jobs.units[:, None] * jobs.request / self._totals).max(axis=1)
        return np.round(parts * FINEST) / FINEST

    def _weight(self, seconds: Ints) -> Floats:
        """Return the usage that 1 per second makes in a time until now."""
        if math.isinf(self.half_life):
            return seconds.astype(np.float64)
        found: Floats = -np.expm1(-seconds * math.log(2) / self.half_life) * (self.half_life / math.log(2))
        return found

    def _go_to(self, now: int) -> None:
        """Let the usage decay up to now, and add that of the running jobs."""
        if self._now is None:
            self._now = now
        elapsed = now - self._now
        if elapsed > 0:
            added = self._rate * self._weight(np.array(elapsed))
            self._used = self._used * 2.0 ** (-elapsed / self.half_life) + added
            self._now = now


@with_short_repr
@dataclass
class Aging:
    """The priority of a job grows with its waiting time.

    The factor is ``weight * min(1, (now - submit) / max_age)``, with the weight of the job's queue.

    Parameters
    ----------
    max_age : float
        Waiting time in seconds after which the priority grows no more. Default: 7 days, as in Slurm.
    weights : mapping of str to float
        Weights by queue name; 1 for queues that are not listed: then jobs go first come, first served.

    Raises
    ------
    ValueError
        If a parameter is not valid; for ``weights``, at the begin of the replay.

    Examples
    --------
    A job of the queue debug overtakes jobs that have waited less than ten times as long:

    >>> import schedlab as sl
    >>> from schedlab.simulation.policies.policy import POLICIES
    >>> quick = POLICIES["conservative"].with_ranker(Aging(weights={"debug": 10}))
    >>> sl.simulate("eurora_99", dispatcher=quick)
    Simulation(conservative+aging, 99 of 99 jobs, 0 violations)
    """

    max_age: float = 7 * DAY
    weights: Mapping[str, float] = field(default_factory=dict)
    name = "aging"

    def __post_init__(self) -> None:
        _positive(self.name, max_age=self.max_age)

    def begin(self, platform: Platform, queues: Sequence[Queue], users: Sequence[str], seed: int) -> None:
        """Keep the weights. Raises WrongValue for weights of unknown queues."""
        _known(self.name, "queue", self.weights, [q.name for q in queues])
        self._weight = np.array([self.weights.get(q.name, 1.0) for q in queues])

    def learn(self, news: News) -> None:
        """Do nothing: the submit times are known."""

    def rank(self, now: int, waiting: RankedJobs) -> Floats:
        """Return minus the factor of each job."""
        age = np.minimum(1.0, (now - waiting.submit) / self.max_age)
        return -self._weight[waiting.queue] * age


@with_short_repr
@dataclass
class JobSize:
    """Large jobs go first: the factor is the part of all cores that a job requests.

    Parameters
    ----------
    favor_small : bool
        Whether small jobs go first: the factor is 1 minus that part.
    """

    favor_small: bool = False
    name = "job-size"

    def begin(self, platform: Platform, queues: Sequence[Queue], users: Sequence[str], seed: int) -> None:
        """Keep the number of cores."""
        self._cores = _cores(platform)
        self._total = max(1.0, float(_totals(platform)[self._cores]))

    def learn(self, news: News) -> None:
        """Do nothing: the sizes are known."""

    def rank(self, now: int, waiting: RankedJobs) -> Floats:
        """Return minus the factor of each job."""
        part = waiting.units * waiting.request[:, self._cores] / self._total
        return part - 1.0 if self.favor_small else -part


@with_short_repr
@dataclass
class QueuePriority:
    """Jobs of queues with a high priority go first: the factor is priority / greatest priority.

    Parameters
    ----------
    priorities : mapping of str to float
        Priorities by queue name; 0 for queues that are not listed.
    """

    priorities: Mapping[str, float] = field(default_factory=dict)
    name = "queue-priority"

    def begin(self, platform: Platform, queues: Sequence[Queue], users: Sequence[str], seed: int) -> None:
        """Keep the priorities. Raises WrongValue for priorities of unknown queues."""
        _known(self.name, "queue", self.priorities, [q.name for q in queues])
        listed = np.array([self.priorities.get(q.name, 0.0) for q in queues])
        self._factor = listed / max(listed.max(initial=0.0), np.finfo(np.float64).tiny)

    def learn(self, news: News) -> None:
        """Do nothing: the queues are known."""

    def rank(self, now: int, waiting: RankedJobs) -> Floats:
        """Return minus the factor of each job."""
        found: Floats = -self._factor[waiting.queue]
        return found


def _cores(platform: Platform) -> int:
    """Return the column of the cores, or of the first resource if there are none."""
    return platform.resources.index("cores") if "cores" in platform.resources else 0


def _totals(platform: Platform) -> Floats:
    """Return the amounts of the whole machine, shape (resources,)."""
    return np.array([platform.total(resource) for resource in platform.resources], np.float64)
