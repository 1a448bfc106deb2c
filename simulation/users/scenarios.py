"""Users of the scenarios of [Rocchetti2015, 5.2], and users who react to long waits.

The seed determines groups, order and accuracies. The same seed gives each job the same random number in all scenarios and
under all dispatchers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random

import numpy as np

from ...errors import WrongValue
from ...instances.generators.estimates import (
    LONGEST,
    Interval,
    improved,
    intervals_of_users,
    walltime_of,
    within,
)
from ...instances.workload import Workload
from ...models.excerpt import with_short_repr
from ...models.whole_numbers import is_number, shown
from ..predictors.names import notes_on_users
from .users import Ints

EVERY = 5  # submitted jobs between two improvements


def check_whole(users: str, least: int, **values: float) -> None:
    """Raise WrongValue if a parameter of users is no whole number of at least ``least``."""
    for what, value in values.items():
        if not is_number(value) or value < least or value != int(value):
            raise WrongValue(f"users {users}: {what} is {shown(value)}, expected a whole number of at least {least}")


@with_short_repr
@dataclass
class Static:
    """Users whose estimates never improve: the accuracy of each job is uniform in the interval of its user's group.

    Parameters
    ----------
    scenario : str
        ``"be"``, ``"ge"``, ``"cf"`` or ``"cfg"``; see ``instances.generators.estimates.SCENARIOS``.
    seed : float
        The random seed, a whole number of at least 0.
    longest : float
        Greatest walltime in seconds, for jobs that do not run longer; a whole number.

    Examples
    --------
    >>> import schedlab as sl
    >>> sl.simulate("eurora_99", dispatcher="psp", users=Static("cf", seed=2))
    Simulation(psp, 99 of 99 jobs, 0 violations)
    """

    scenario: str
    seed: float = 1
    longest: float = LONGEST
    notes: tuple[str, ...] = field(default=(), init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_whole(self.name, 0, seed=self.seed)
        check_whole(self.name, 1, longest=self.longest)
        intervals_of_users(self.scenario, 1, Random(0))

    @property
    def name(self) -> str:
        """The name of the scenario."""
        return self.scenario

    def begin(self, workload: Workload) -> None:
        """Deal the users to the groups, and draw a number for each job. Users without jobs are left out."""
        random = Random(int(self.seed))
        present = np.unique(workload.user)
        intervals = intervals_of_users(self.scenario, len(present), random)
        self._interval: dict[int, Interval] = dict(zip(present.tolist(), intervals, strict=True))
        first = {user: random.random() for user in self._interval}
        self.first = {user: within(self._interval[user], x) for user, x in first.items()}
        """User -> a point of the interval, the first accuracy of users who learn."""
        self._drawn = [random.random() for _ in range(len(workload))]
        self._user: Sequence[int] = workload.user.tolist()
        self._runtime: Sequence[int] = workload.runtime.tolist()
        self._limited = 0
        self.notes = self._about = notes_on_users(workload, f"users={self.name}")

    def request(self, now: int, jobs: Ints, start: Ints) -> Ints:
        """Return runtime / accuracy of each job, at most ``longest``."""
        found = [self._walltime(j, self.accuracy(j, start)) for j in jobs.tolist()]
        if self._limited:
            limited = f"users {self.name}: {self._limited} walltimes are limited to {int(self.longest)} s"
            self.notes = (*self._about, limited)
        return np.array(found, np.int64)

    def accuracy(self, job: int, start: Ints) -> float:
        """Return the accuracy of a job that is submitted now."""
        return within(self._interval[self._user[job]], self._drawn[job])

    def _walltime(self, job: int, accuracy: float) -> int:
        found = walltime_of(self._runtime[job], accuracy, int(self.longest))
        self._limited += round(self._runtime[job] / accuracy) > found
        return found


@with_short_repr
@dataclass
class Learning(Static):
    """Users of Cluster FING who improve their estimates after every five submitted jobs.

    The accuracy A of a user becomes A + 0.1 (1 - A) if it is at most 0.5, else A + 0.1 A, at most 1. The first one is in
    the interval of the user's group in the scenario ``cf``, as [Rocchetti2015] does not state it. Users who do not learn
    keep their first one.

    Parameters
    ----------
    scenario : str
        The static scenario that the users begin with.
    seed, longest : float
        As in ``Static``.
    half : bool
        Whether only every second user learns, in the order of the first accuracies; [Rocchetti2015] does not state which
        half.

    Examples
    --------
    >>> import schedlab as sl
    >>> sl.simulate("eurora_99", dispatcher="easy", users=Learning(half=True))
    Simulation(easy, 99 of 99 jobs, 0 violations)
    """

    scenario: str = "cf"
    half: bool = False

    @property
    def name(self) -> str:
        """Return ``di`` or ``hdi``."""
        return "hdi" if self.half else "di"

    def begin(self, workload: Workload) -> None:
        """Deal the users to the groups, and set their first accuracies."""
        super().begin(workload)
        ordered = sorted(self.first, key=lambda user: self.first[user])
        self._learns = set(ordered[1::2] if self.half else ordered)
        self._now = dict(self.first)
        self._jobs: dict[int, list[int]] = {user: [] for user in self.first}

    def accuracy(self, job: int, start: Ints) -> float:
        """Return the present accuracy of the job's user, improved first if it is time to."""
        user = self._user[job]
        mine = self._jobs[user]
        if user in self._learns and mine and len(mine) % EVERY == 0 and self.improves(mine[-EVERY:], start):
            self._now[user] = improved(self._now[user])
        mine.append(job)
        return self._now[user]

    def improves(self, jobs: Sequence[int], start: Ints) -> bool:
        """Return whether a user improves after these jobs, the last five of the user."""
        return True


@with_short_repr
@dataclass
class Impatient(Learning):
    """Users who improve their estimates, as ``Learning``, only when their jobs wait for long.

    After every five submitted jobs a user looks at these five: those that have started count with their wait, the others
    with their wait so far, up to the submission of the last one. The user improves if the mean is above ``patience``.

    Parameters
    ----------
    scenario, seed, longest, half
        As in ``Learning``.
    patience : float
        Seconds of at least 0.

    Examples
    --------
    >>> import schedlab as sl
    >>> sl.simulate("eurora_99", dispatcher="psp", users=Impatient(patience=600))
    Simulation(psp, 99 of 99 jobs, 0 violations)
    """

    patience: float = 3600

    def __post_init__(self) -> None:
        super().__post_init__()
        if not is_number(self.patience) or self.patience < 0:
            raise WrongValue(
                f"users {self.name}: patience is {shown(self.patience)}, expected a number of seconds of at least 0"
            )

    @property
    def name(self) -> str:
        """Return ``impatient``."""
        return "impatient"

    def begin(self, workload: Workload) -> None:
        """Deal the users to the groups, and set their first accuracies."""
        super().begin(workload)
        self._workload = workload

    def improves(self, jobs: Sequence[int], start: Ints) -> bool:
        """Return whether the mean wait of the jobs is above ``patience``."""
        submit = self._workload.submit[list(jobs)]
        begun = start[list(jobs)]
        wait = np.where(begun >= 0, begun, submit[-1]) - submit
        return bool(wait.mean() > self.patience)


def _static(scenario: str) -> Callable[..., Static]:
    def made(seed: float = 1, longest: float = LONGEST) -> Static:
        return Static(scenario, seed, longest)

    return made


def _learning(half: bool) -> Callable[..., Learning]:
    def made(seed: float = 1, longest: float = LONGEST) -> Learning:
        return Learning(seed=seed, longest=longest, half=half)

    return made


def _impatient(seed: float = 1, longest: float = LONGEST, patience: float = 3600) -> Impatient:
    return Impatient(seed=seed, longest=longest, patience=patience)


OWN: dict[str, Callable[..., Static]] = {
    **{name: _static(name) for name in ("be", "ge", "cf", "cfg")},
    "di": _learning(False),
    "hdi": _learning(True),
    "impatient": _impatient,
}
