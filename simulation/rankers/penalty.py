"""The penalty scheduling policy: jobs of users with accurate walltimes go first [Rocchetti2015, 4]."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ...errors import WrongValue
from ...models import Platform, Queue
from ...models.excerpt import with_short_repr
from ...models.whole_numbers import is_number, is_real, shown
from ..users.request_accuracy import CLASSES, accuracy_class, request_accuracy
from .ranker import Floats, Ints, News, RankedJobs

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
    >>> from schedlab.simulation.policies.policy import POLICIES
    >>> sl.simulate("eurora_99", dispatcher="psp")  # the same as easy+psp
    Simulation(psp, 99 of 99 jobs, 0 violations)
    >>> sl.simulate("eurora_99", dispatcher=POLICIES["conservative"].with_ranker(Penalty(aging=3600)))
    Simulation(conservative+psp, 99 of 99 jobs, 0 violations)
    """

    last: float = LAST
    classes: float = CLASSES
    first_class: str = "best"
    aging: float = math.inf
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
        all_of_them = "the trace has no users" if len(nameless) == len(users) else "some jobs have no user"
        self.notes = (f"{all_of_them}: the ranker psp treats them as jobs of one user",) if nameless else ()

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
        return -mine if math.isinf(self.aging) else waiting.submit - self.aging * mine

    def classes_of_users(self) -> Ints:
        """Return the class of each user at the time of the last event, shape (users,)."""
        return self._class.copy()
