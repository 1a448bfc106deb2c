"""Rankers: priorities of waiting jobs that are learned during a replay, such as the factors of Slurm's multifactor priority."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import SchedlabError, WrongValue
from ..heuristics.kernels.events.rules import Rules
from ..heuristics.kernels.events.state import NOW, SORTED, WAITING, State
from ..instances.workload import Workload
from ..models import Platform, Queue
from ..models.arguments import is_number, is_real, shown
from ..models.array_types import Floats, Ints
from ..models.plugins import PluginError, WrongAnswer, check_parts, returned_numbers
from ..models.registry import NamedPart, Registry, Seconds
from ..models.words import how_many, with_short_repr
from .users import CLASSES, accuracy_class, request_accuracy

# --- The protocol of rankers, and the jobs as a ranker sees them: arrays without runtimes.
#
# A ranker orders the waiting jobs of a policy at each decision. It is an object with a ``name`` and three methods; no base
# class is needed.
#
# 1. ``begin`` is called once, before the replay.
# 2. ``learn`` is called at each time at which jobs end or are submitted, and once more after a decision that starts jobs.
# 3. ``rank`` is called before each decision and returns a key for each waiting job. The least key goes first; the policy
#    orders jobs with equal keys by its own key, then by the submit time.
#
# If the ranker has an attribute ``notes``, texts about data that the trace lacks, they go to ``Simulation.notes``.
#
# Examples
# --------
# Users whose jobs have ended with the fewest core-seconds first:
#
# >>> import numpy as np
# >>> import schedlab as sl
# >>> from schedlab.simulation.dispatchers.policy import by_submit
# >>> class LeastUsed:
# ...     name = "least-used"
# ...
# ...     def begin(self, platform, queues, users, seed):
# ...         self.cores = platform.resources.index("cores")
# ...         self.used = np.zeros(len(users))
# ...
# ...     def learn(self, news):
# ...         ended = news.ended
# ...         np.add.at(self.used, ended.user, ended.units * ended.request[:, self.cores] * ended.took)
# ...
# ...     def rank(self, now, waiting):
# ...         return self.used[waiting.user]
# >>> policy = sl.Policy("easy+least-used", by_submit, reservations=1, ranker=LeastUsed())
# >>> run = sl.simulate("eurora_99", dispatcher=policy)
# >>> run.violations, int((run.start >= 0).sum())
# ([], 99)

PARTS = ("name", "begin", "learn", "rank")  # of a ranker


class Columns(NamedTuple):
    """The columns of all jobs of a replay that a ranker may see, shape (jobs,); ``request``: (jobs, resources)."""

    submit: Ints
    user: Ints
    queue: Ints
    units: Ints
    request: Ints
    walltime: Ints
    expected: Ints


@dataclass(frozen=True, repr=False, eq=False)
class RankedJobs:
    """Some jobs of a replay as arrays, one entry per job; copies, which a ranker may change.

    Parameters
    ----------
    rows : ndarray of int64
        The number of each job in the workload, by which a ranker recognises it. Later submitted jobs have larger ones.
    """

    rows: Ints
    _columns: Columns

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({how_many(len(self), 'job')})"

    @property
    def submit(self) -> Ints:
        """Submit times in seconds."""
        return self._columns.submit[self.rows]

    @property
    def user(self) -> Ints:
        """Users, indices into the ``users`` of ``Ranker.begin``."""
        return self._columns.user[self.rows]

    @property
    def queue(self) -> Ints:
        """Queues, indices into the ``queues`` of ``Ranker.begin``."""
        return self._columns.queue[self.rows]

    @property
    def units(self) -> Ints:
        """Numbers of units; a heterogeneous job counts as one unit with all that it requests."""
        return self._columns.units[self.rows]

    @property
    def request(self) -> Ints:
        """Amounts per unit, shape (jobs, resources), in the order of ``platform.resources``."""
        return self._columns.request[self.rows]

    @property
    def walltime(self) -> Ints:
        """Walltimes in seconds."""
        return self._columns.walltime[self.rows]

    @property
    def expected(self) -> Ints:
        """Expected durations in seconds, from the predictor of the replay."""
        return self._columns.expected[self.rows]


@dataclass(frozen=True, repr=False, eq=False)
class EndedJobs(RankedJobs):
    """Jobs that have ended.

    Parameters
    ----------
    rows
        As in ``RankedJobs``.
    took : ndarray of int64
        The runtime of each job in seconds.
    end : ndarray of int64
        The end of each job in seconds: the time of ``News.now``, or before if decisions take simulated time.
    nodes : ndarray of int64
        The number of nodes that each job used.
    """

    took: Ints
    end: Ints
    nodes: Ints


class News(NamedTuple):
    """What has happened since the last call of ``Ranker.learn``.

    Parameters
    ----------
    now : int
        The time in seconds.
    submitted, started : RankedJobs
        The jobs that arrived, or that started, at this time.
    ended : EndedJobs
        The jobs that have ended.
    stopped : RankedJobs
        The jobs that were stopped before their end: evicted, on a node that failed, deleted. Some of them start again.
    """

    now: int
    submitted: RankedJobs
    started: RankedJobs
    ended: EndedJobs
    stopped: RankedJobs


class Ranker(Protocol):
    """An object that learns during a replay and orders the waiting jobs; see the module docstring.

    Attributes
    ----------
    name : str
        The name in results and error messages.
    """

    @property
    def name(self) -> str:
        """The name in results and error messages."""

    def begin(self, platform: Platform, queues: Sequence[Queue], users: Sequence[str], seed: int) -> None:
        """Prepare for a replay; discard everything that was learned in an earlier replay.

        Parameters
        ----------
        platform : Platform
            The machine.
        queues : sequence of Queue
            All queues of the workload.
        users : sequence of str
            The names of all users of the workload.
        seed : int
            The argument ``seed`` of ``simulate``.
        """

    def learn(self, news: News) -> None:
        """Record what has happened.

        Parameters
        ----------
        news : News
            The jobs that were submitted, started or ended.
        """

    def rank(self, now: int, waiting: RankedJobs) -> Floats | Ints:
        """Return the keys of the waiting jobs, shape (len(waiting),); the least goes first.

        Parameters
        ----------
        now : int
            The time in seconds.
        waiting : RankedJobs
            The waiting jobs, in no particular order.

        Returns
        -------
        ndarray
            One number per job, not NaN.
        """


def lacking(found: Any) -> list[str]:
    """Return the parts of a ranker that an object lacks."""
    return [part for part in PARTS if not hasattr(found, part)]


def check_ranker(label: str, found: Any) -> None:
    """Raise PluginError, beginning with ``label``, if an object is no ranker."""
    if missing := lacking(found):
        raise PluginError(f"{label} is not a ranker: it has no {' and no '.join(missing)} (docs/extending.md)")
    check_parts(label, found, PARTS[1:])


# --- The rankers of schedlab: the factors of Slurm's multifactor priority.
#
# Each factor lies between 0 and 1; the job with the greatest factor goes first, so that its key is minus the factor.
#
# References
# ----------
# Slurm workload manager, documentation of the multifactor priority plugin and of the classic fair-share algorithm:
# https://slurm.schedmd.com/priority_multifactor.html, https://slurm.schedmd.com/classic_fair_share.html

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
    >>> from schedlab.simulation.dispatchers.policy import POLICIES
    >>> daily = POLICIES["easy"].with_ranker(Fairshare(half_life=86400))
    >>> sl.simulate("eurora_99", dispatcher=daily)
    Simulation(easy+fairshare, 99 of 99 jobs, 0 violations)
    """

    half_life: Seconds = 7 * DAY
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
        if len(news.stopped):
            np.subtract.at(self._rate, news.stopped.user, self._charge(news.stopped))
        if len(news.ended):
            user = news.ended.user
            charge = self._charge(news.ended)
            np.subtract.at(self._rate, user, charge)
            too_long = news.now - news.ended.end  # above 0 only if decisions take simulated time
            if too_long.any():
                np.subtract.at(self._used, user, charge * self._weight(too_long))
                self._used = np.maximum(self._used, 0.0)  # the difference of two sums, rounded, can be below 0

    def rank(self, now: int, waiting: RankedJobs) -> Floats:
        """Return minus the factor of each job's user."""
        self._go_to(now)
        return (-self.factors())[waiting.user]

    def factors(self) -> Floats:
        """Return the factor of each user at the time of the last event, shape (users,)."""
        total = self._used.sum()
        if total > 0:
            exponent = self._used / total / self._scale
        else:
            exponent = np.zeros(len(self._used))
        factors: Floats = self._entitled * np.exp2(-np.round(exponent, DIGITS))
        return factors

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
        weights: Floats = -np.expm1(-seconds * math.log(2) / self.half_life) * (self.half_life / math.log(2))
        return weights

    def _go_to(self, now: int) -> None:
        """Let the usage decay up to now, and add that of the running jobs."""
        if self._now is None:
            self._now = now
        elapsed = now - self._now
        if elapsed > 0:
            added = self._rate * self._weight(np.array(elapsed))
            self._used = self._used * 2.0 ** (-elapsed / self.half_life) + added
            self._now = now


def fairshare(
    half_life: Seconds = 7 * DAY, usage: str = "cores", shares: Mapping[str, float] | None = None
) -> Fairshare:
    """Jobs of users who have used less than their share go first.

    Dampening, which does not change an order by fair-share alone, is an option of multifactor.
    """
    return Fairshare(half_life, usage, shares or {})


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
    >>> from schedlab.simulation.dispatchers.policy import POLICIES
    >>> quick = POLICIES["conservative"].with_ranker(Aging(weights={"debug": 10}))
    >>> sl.simulate("eurora_99", dispatcher=quick)
    Simulation(conservative+aging, 99 of 99 jobs, 0 violations)
    """

    max_age: Seconds = 7 * DAY
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
        if self.favor_small:
            return part - 1.0
        return -part


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
        keys: Floats = -self._factor[waiting.queue]
        return keys


def _cores(platform: Platform) -> int:
    """Return the column of the cores, or of the first resource if there are none."""
    if "cores" in platform.resources:
        return platform.resources.index("cores")
    return 0


def _totals(platform: Platform) -> Floats:
    """Return the amounts of the whole machine, shape (resources,)."""
    return np.array([platform.total(resource) for resource in platform.resources], np.float64)


# --- The penalty scheduling policy: jobs of users with accurate walltimes go first [Rocchetti2015, 4].

LAST = 10
FIRST_CLASSES = ("best", "middle", "worst")


@with_short_repr
@dataclass
class Penalty:
    """Jobs of users whose walltimes are accurate go first.

    The accuracy of a job is runtime / walltime, at most 1; that of a user is the mean over the user's last jobs that
    have ended. Users are in classes of equal width by their accuracy, and jobs of the best class go first. Ties go by
    the key of the policy. Classes are those of the time of the decision, also for jobs that already wait.

    Parameters
    ----------
    last : float
        Number of ended jobs of a user that count, a whole number of at least 1.
    classes : float
        Number of classes, a whole number of at least 1; with 1, the order is that of the policy.
    first_class : str
        The class of users without ended jobs, which [Rocchetti2015] does not state: ``"best"``, ``"middle"`` or
        ``"worst"``.
    aging : float
        Seconds that are worth one class: a job goes before all jobs that were submitted more than ``aging * (classes -
        1)`` seconds later. Default: ``math.inf``, no aging, as in [Rocchetti2015]: jobs may starve.

    Raises
    ------
    ValueError
        If a parameter is not valid.

    Examples
    --------
    >>> import schedlab as sl
    >>> from schedlab.simulation.dispatchers.policy import POLICIES
    >>> sl.simulate("eurora_99", dispatcher="psp")  # the same as easy+psp
    Simulation(psp, 99 of 99 jobs, 0 violations)
    >>> sl.simulate("eurora_99", dispatcher=POLICIES["conservative"].with_ranker(Penalty(aging=3600)))
    Simulation(conservative+psp, 99 of 99 jobs, 0 violations)
    """

    last: float = LAST
    classes: float = CLASSES
    first_class: str = "best"
    aging: Seconds = math.inf
    name = "psp"
    notes: tuple[str, ...] = field(default=(), init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for what in ("last", "classes"):
            value = getattr(self, what)
            if not is_number(value) or value < 1 or value != int(value):
                raise WrongValue(f"ranker psp: {what} is {shown(value)}, expected a whole number of at least 1")
        if self.first_class not in FIRST_CLASSES:
            raise WrongValue(
                f"ranker psp: first_class is {shown(self.first_class)}, expected one of {', '.join(FIRST_CLASSES)}"
            )
        if not is_real(self.aging) or not self.aging > 0:
            raise WrongValue(f"ranker psp: aging is {shown(self.aging)}, expected a number of seconds above 0")

    def begin(self, platform: Platform, queues: Sequence[Queue], users: Sequence[str], seed: int) -> None:
        """Start without any ended job."""
        classes = int(self.classes)
        self._first = {"best": classes, "middle": (classes + 1) // 2, "worst": 1}[self.first_class]
        self._seen = np.zeros((len(users), int(self.last)))  # accuracies of the last jobs, each row a ring
        self._ended = np.zeros(len(users), np.int64)
        self._class = np.full(len(users), self._first, np.int64)
        nameless = [user for user in users if not user.strip()]
        all_of_them = "some jobs have no user"
        if len(nameless) == len(users):
            all_of_them = "the trace has no users"
        if nameless:
            self.notes = (f"{all_of_them}: the ranker psp treats them as jobs of one user",)
        else:
            self.notes = ()

    def learn(self, news: News) -> None:
        """Record the accuracies of the jobs that have ended, and update the classes of their users."""
        ended = news.ended
        if not len(ended):
            return
        users = ended.user
        for user, value in zip(users.tolist(), request_accuracy(ended.took, ended.walltime).tolist(), strict=True):
            self._seen[user, self._ended[user] % self._seen.shape[1]] = value
            self._ended[user] += 1
        counted = np.minimum(self._ended[users], self._seen.shape[1])
        self._class[users] = accuracy_class(self._seen[users].sum(axis=1) / counted, int(self.classes))

    def rank(self, now: int, waiting: RankedJobs) -> Floats:
        """Return minus the class of each job's user; with aging, the submit time less the seconds of the class."""
        mine = self._class[waiting.user].astype(np.float64)
        if math.isinf(self.aging):
            return -mine
        return waiting.submit - self.aging * mine

    def classes_of_users(self) -> Ints:
        """Return the class of each user at the time of the last event, shape (users,)."""
        return self._class.copy()


# --- Slurm's multifactor priority: the weighted sum of rankers.
#
# References
# ----------
# Slurm workload manager, documentation of the multifactor priority plugin:
# https://slurm.schedmd.com/priority_multifactor.html


@with_short_repr
@dataclass
class WeightedSum:
    """The sum of the keys of several rankers, each times its weight, as in Slurm's multifactor priority.

    Parameters
    ----------
    parts : sequence of (float, Ranker)
        Weights of at least 0, and rankers.
    name : str
        The name in results and error messages.

    Examples
    --------
    >>> WeightedSum([(1000, Aging()), (10000, Fairshare(usage="dominant"))]).name
    'weighted-sum'
    """

    parts: Sequence[tuple[float, Ranker]]
    name: str = "weighted-sum"

    def __post_init__(self) -> None:
        for weight, ranker in self.parts:
            if not is_number(weight) or weight < 0:
                why = f"the weight of {ranker.name} is {shown(weight)}, expected a number of at least 0"
                raise WrongValue(f"ranker {self.name}: {why}")

    @property
    def notes(self) -> tuple[str, ...]:
        """The remarks of all rankers on data that the trace lacks."""
        return tuple(note for _, ranker in self.parts for note in getattr(ranker, "notes", ()))

    def begin(self, platform: Platform, queues: Sequence[Queue], users: Sequence[str], seed: int) -> None:
        """Begin all rankers."""
        for _, ranker in self.parts:
            ranker.begin(platform, queues, users, seed)

    def learn(self, news: News) -> None:
        """Pass the news to all rankers."""
        for _, ranker in self.parts:
            ranker.learn(news)

    def rank(self, now: int, waiting: RankedJobs) -> Floats:
        """Return the weighted sum of the keys."""
        total = np.zeros(len(waiting))
        for weight, ranker in self.parts:
            if weight > 0:
                keys = ranker.rank(now, waiting)
                total += weight * returned_numbers(f"ranker {ranker.name}: rank", keys, len(waiting), "waiting jobs")
        return total


def multifactor(
    age: float = 1000,
    fairshare: float = 10000,
    size: float = 1000,
    queue: float | None = None,
    max_age: Seconds = 7 * DAY,
    half_life: Seconds = 7 * DAY,
    usage: str = "cores",
    favor_small: bool = False,
    shares: Mapping[str, float] | None = None,
    priorities: Mapping[str, float] | None = None,
    dampening: float = 1.0,
) -> WeightedSum:
    """Return Slurm's multifactor priority: a weighted sum of age, fair-share, job size and queue.

    The default weights are those of the example in Slurm's documentation.

    Parameters
    ----------
    age, fairshare, size : float
        The weights: Slurm's PriorityWeightAge, PriorityWeightFairshare, PriorityWeightJobSize.
    queue : float, optional
        The weight of ``priorities``: Slurm's PriorityWeightPartition. Default: 1000 if there are priorities.
    max_age : float
        See ``Aging``.
    half_life, usage, shares, dampening
        See ``Fairshare``.
    favor_small : bool
        See ``JobSize``.
    priorities : mapping of str to float, optional
        See ``QueuePriority``.

    Returns
    -------
    WeightedSum
        The ranker.

    Raises
    ------
    WrongValue
        If a value is not valid, or would have no effect: a weight of queues without priorities, or an option of a
        factor whose weight is 0.

    Examples
    --------
    >>> multifactor(queue=5000, priorities={"debug": 2, "parallel": 1}).name
    'multifactor'
    """
    if queue and not priorities:
        raise WrongValue(
            f"ranker multifactor: queue is {shown(queue)}, but all queues have the priority 0; expected "
            "priorities={'debug': 2, ...} as well, on the command line priorities=debug=2/parallel=1"
        )
    weight_of_queues = queue
    if weight_of_queues is None:
        weight_of_queues = 0
        if priorities:
            weight_of_queues = 1000
    idle = (
        ("age", age, {"max_age": max_age != 7 * DAY}),
        (
            "fairshare",
            fairshare,
            {
                "half_life": half_life != 7 * DAY,
                "usage": usage != "cores",
                "shares": bool(shares),
                "dampening": dampening != 1,
            },
        ),
        ("size", size, {"favor_small": favor_small}),
        ("queue", weight_of_queues, {"priorities": bool(priorities)}),
    )
    for factor, weight, options in idle:
        given = next((name for name, is_given in options.items() if is_given), None)
        if weight == 0 and given is not None:
            raise WrongValue(f"ranker multifactor: {given} has no effect, as the weight {factor} is 0; leave one out")
    parts: list[tuple[float, Ranker]] = [
        (age, Aging(max_age)),
        (fairshare, Fairshare(half_life, usage, shares or {}, dampening)),
        (size, JobSize(favor_small)),
        (weight_of_queues, QueuePriority(priorities or {})),
    ]
    return WeightedSum(parts, "multifactor")


# --- The names of rankers: those of schedlab and of third parties, with options as text.

RANKERS: Registry[Ranker] = Registry(
    "ranker",
    "schedlab.rankers",
    {
        "fairshare": fairshare,
        "aging": Aging,
        "job-size": JobSize,
        "multifactor": multifactor,
        "psp": Penalty,
    },
    parts=PARTS,
    docs="docs/extending.md",
)
"""The rankers by name: a ranker, or a class or function that returns one."""


def parse_ranker(text: str) -> NamedPart[Ranker]:
    """Split the name of a ranker, ``NAME[:OPTION=VALUE]...``, into its parts; ``make`` of the result returns the ranker.

    Parameters
    ----------
    text : str
        ``NAME`` is one of ``RANKERS``, or ``module:attribute``, a ranker, or a class or function that returns one.

    Returns
    -------
    NamedPart

    Raises
    ------
    UnknownName
        If there is no such ranker; the message lists similar names.
    WrongOption
        If an option has no value, or is given twice.
    PluginError
        If the module of a ranker ``module:attribute`` cannot be imported.

    Examples
    --------
    >>> named = parse_ranker("fairshare:half_life=1d:usage=dominant")
    >>> named.name, named.make().half_life
    ('fairshare', 86400)
    """
    return RANKERS.find(text)


# --- A ranker in a replay: the calls of its methods, and the order of the waiting jobs that its keys give.


NONE = np.empty(0, np.int64)
Refuse = Callable[[str], NoReturn]  # refuse(why) ends the replay with an error


@with_short_repr
class Ranking:
    """The order of the waiting jobs of a replay by a ranker.

    Parameters
    ----------
    ranker : Ranker
        The ranker.
    workload : Workload
        The jobs.
    state : State
        The state of the replay.
    runtime : ndarray of int64, shape (jobs,)
        The durations in the replay in seconds, which are shown only of jobs that have ended.
    by_count : bool
        Whether each unit has a node of its own, and nodes are only counted.
    refuse : callable
        Ends the replay with an error.
    """

    def __init__(
        self, ranker: Ranker, workload: Workload, state: State, runtime: Ints, by_count: bool, refuse: Refuse
    ) -> None:
        self.ranker = ranker
        self._state = state
        self._runtime = runtime
        self._refuse = refuse
        if by_count:
            self._nodes = workload.units
        else:
            self._nodes = state.pieces
        units, request = workload.units, workload.request
        if several := list(workload.chunks):  # a heterogeneous job counts as one unit with all that it requests
            units = units.copy()
            request = request.copy()
            units[several], request[several] = 1, workload.job_arrays.amounts[several]
        self._columns = Columns(
            workload.submit,
            workload.user,
            workload.queue,
            units,
            request,
            workload.walltime,
            state.expected,
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """The remarks of the ranker on data that the trace lacks; none if it has no ``notes``."""
        return tuple(getattr(self.ranker, "notes", ()))

    def begin(self, platform: Platform, workload: Workload, seed: int) -> None:
        """Begin the ranker."""
        self._call("begin", platform, workload.queues, workload.users, seed)

    def learn(self, arrived: Ints, ended: Ints) -> None:
        """Pass on the jobs that have arrived, and those that have ended at this event."""
        if len(arrived) or len(ended):
            self._learn(submitted=arrived, ended=ended)

    def started(self, rows: Ints) -> None:
        """Pass on the jobs that a decision or a feature has started."""
        if len(rows):
            self._learn(started=rows)

    def stopped(self, rows: Ints) -> None:
        """Pass on the jobs that were stopped before their end."""
        self._learn(stopped=rows)

    def _learn(self, submitted: Ints = NONE, started: Ints = NONE, ended: Ints = NONE, stopped: Ints = NONE) -> None:
        took = self._runtime[ended]
        done = EndedJobs(ended, self._columns, took, self._state.start[ended] + took, self._nodes[ended])
        now = int(self._state.clock[NOW])
        jobs = self._columns
        news = News(now, RankedJobs(submitted, jobs), RankedJobs(started, jobs), done, RankedJobs(stopped, jobs))
        self._call("learn", news)

    def sort(self, rules: Rules) -> Rules:
        """Sort the waiting jobs by rank, ties by the key of ``rules``; return rules that keep this order.

        If the order of the waiting jobs changes, their reservations are deleted.
        """
        state = self._state
        now = int(state.clock[NOW])
        n = int(state.clock[WAITING])
        waiting = state.waiting[:n]
        keys = self._keys(now, waiting.copy())
        if rules.dynamic:
            own = rules.base[waiting] + rules.slope[waiting] * now
        else:
            own = rules.base[waiting]
        order = np.argsort(keys, kind="stable")  # the queue is nearly sorted: twenty times as fast as lexsort
        if not _in_order(keys[order], own[order], waiting[order]):
            order = np.lexsort((waiting, own, keys))
        if (order[1:] < order[:-1]).any():
            waiting[:] = waiting[order]
            state.reserved[waiting] = -1
        state.clock[SORTED] = n
        return rules._replace(dynamic=False)

    def _keys(self, now: int, waiting: Ints) -> Floats:
        """Return the keys of the ranker, checked."""
        returned = self._call("rank", now, RankedJobs(waiting, self._columns))
        try:
            return returned_numbers(f"its ranker {self.ranker.name}: rank", returned, len(waiting), "waiting jobs")
        except WrongAnswer as e:
            self._refuse(str(e))

    def _call(self, method: str, *arguments: Any) -> Any:
        try:
            return getattr(self.ranker, method)(*arguments)
        except WrongAnswer as e:
            self._refuse(str(e))
        except SchedlabError:
            raise
        except Exception as e:
            self._refuse(f"its ranker {self.ranker.name} raised in {method}: {type(e).__name__}: {e}")


def _in_order(keys: Floats, own: Floats, rows: Ints) -> bool:
    """Return whether jobs with equal keys stand in the order of their own keys, then of their rows."""
    same: NDArray[np.bool_] = keys[1:] == keys[:-1]
    wrong = (own[1:] < own[:-1]) | ((own[1:] == own[:-1]) & (rows[1:] < rows[:-1]))
    return not (same & wrong).any()
