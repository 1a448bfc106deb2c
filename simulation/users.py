"""Users who choose the walltimes of their jobs during a replay [Rocchetti2015, 4 and 5.2]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import SchedlabError, WrongValue
from ..instances.generators.fing import LONGEST, Interval, improved, intervals_of_users, walltime_of, within
from ..instances.workload import Workload
from ..models.arguments import is_number, shown
from ..models.array_types import Floats, Ints
from ..models.plugins import WrongAnswer, notes_of, returned_wholes, seen_by
from ..models.registry import Registry, Seconds
from ..models.words import with_short_repr
from .errors import SimulationError
from .predictors import notes_on_users

# --- The protocol of users: they choose the walltime of each job when it is submitted, by what they have experienced.
#
# Users are an object with a ``name`` and two methods; no base class is needed. Pass it to ``schedlab.simulate(...,
# users=...)``. They may know the runtimes of their jobs, dispatchers do not.
#
# 1. ``begin`` is called once, before the replay.
# 2. ``request`` is called at each time at which jobs are submitted, before the dispatcher sees them, and returns their
#    walltimes.
#
# Examples
# --------
# Users who request twice the runtime if their last job started late or not yet, else ten times:
#
# >>> import numpy as np
# >>> import schedlab as sl
# >>> class Hurried:
# ...     name = "hurried"
# ...
# ...     def begin(self, workload):
# ...         self.workload, self.last = workload, {}
# ...
# ...     def request(self, now, jobs, start):
# ...         found = []
# ...         for j in jobs.tolist():
# ...             user, before = self.workload.user[j], self.last.get(self.workload.user[j])
# ...             waited = before is not None and not 0 <= start[before] - self.workload.submit[before] <= 3600
# ...             found.append(max(1, self.workload.runtime[j] * (2 if waited else 10)))
# ...             self.last[user] = j
# ...         return np.array(found)
# >>> run = sl.simulate("eurora_99", dispatcher="psp", users=Hurried())
# >>> run.violations, sorted(set((run.workload.walltime // run.workload.runtime).tolist()))
# ([], [2, 10])

PARTS = ("name", "begin", "request")  # of users


class Users(Protocol):
    """Objects that choose the walltimes of jobs; see the module docstring.

    Attributes
    ----------
    name : str
        The name in results and error messages.
    notes : tuple of str, optional
        Remarks for ``Simulation.notes``, read after the replay.
    """

    @property
    def name(self) -> str:
        """The name in results and error messages."""

    def begin(self, workload: Workload) -> None:
        """Prepare for a replay; discard everything that was kept from an earlier one.

        Parameters
        ----------
        workload : Workload
            The jobs, with runtimes. ``workload.walltime`` holds the walltimes of the log, and from its submission on the
            requested one of each job.
        """

    def request(self, now: int, jobs: Ints, start: Ints) -> Ints:
        """Return the walltimes of jobs that are submitted.

        Parameters
        ----------
        now : int
            The time in seconds.
        jobs : ndarray of int64
            The rows of the jobs in the workload, in the order of their submission.
        start : ndarray of int64
            The start of each job of the workload in seconds, -1 for jobs that have not started; read only.

        Returns
        -------
        ndarray of int64
            The walltime of each job in seconds, at least 1.
        """


# --- The accuracy of requested walltimes, runtime / walltime, and its classes [Rocchetti2015, 4].

CLASSES = 5
DIGITS = 9  # of an accuracy times the number of classes: the mean of ten times 0.2 is in the class of 0.2


def request_accuracy(runtime: Ints, walltime: Ints) -> Floats:
    """Return runtime / walltime of each job, at most 1.

    Parameters
    ----------
    runtime, walltime : ndarray of int64, shape (jobs,)
        Seconds; values below 1 count as 1.

    Examples
    --------
    >>> request_accuracy(np.array([35, 500]), np.array([100, 400])).tolist()
    [0.35, 1.0]
    """
    accuracy: Floats = np.minimum(1.0, np.maximum(runtime, 1) / np.maximum(walltime, 1))
    return accuracy


def accuracy_class(accuracy: Floats, classes: int = CLASSES) -> Ints:
    """Return the class of each accuracy: 1 for the least accurate, ``classes`` for the most accurate.

    Class k holds the accuracies from (k - 1) / classes to less than k / classes; the last one also 1.

    Parameters
    ----------
    accuracy : ndarray of float
        Values from 0 to 1.
    classes : int
        Number of classes, at least 1.

    Examples
    --------
    >>> accuracy_class(np.array([0.0, 0.19, 0.2, 0.35, 0.6, 0.8, 1.0])).tolist()
    [1, 1, 2, 2, 4, 5, 5]
    """
    number_of_class: Ints = np.minimum(classes, np.floor(np.round(accuracy * classes, DIGITS)).astype(np.int64) + 1)
    return number_of_class


def class_names(classes: int = CLASSES) -> Sequence[str]:
    """Return the names of the classes with their limits.

    Examples
    --------
    >>> class_names()
    ['a1 (0-0.2)', 'a2 (0.2-0.4)', 'a3 (0.4-0.6)', 'a4 (0.6-0.8)', 'a5 (0.8-1)']
    """
    return [f"a{k + 1} ({k / classes:g}-{(k + 1) / classes:g})" for k in range(classes)]


# --- Walltimes that users choose during a replay: the seam between users and the engine.


class Requests:
    """The walltimes of a replay, chosen by users when they submit their jobs.

    Parameters
    ----------
    users : Users
        The users.
    workload : Workload
        The jobs; ``self.workload`` has the same jobs with walltimes of its own, which are changed during the replay.
    without : sequence of int
        Rows of jobs that no user submits (on-demand jobs), which the users do not see.

    Raises
    ------
    SimulationError
        If the users raise.
    """

    def __init__(self, users: Users, workload: Workload, without: Sequence[int] = ()) -> None:
        self.users = users
        self.workload = replace(workload, walltime=workload.walltime.copy())
        self._walltime = self.workload.walltime
        self._asked = np.zeros(len(workload), np.bool_)
        self._seen = np.ones(len(workload), np.bool_)
        self._seen[list(without)] = False
        self._asked[list(without)] = True  # they keep their walltimes
        self._number = np.cumsum(self._seen) - 1  # of each row among those that the users see
        if len(without):
            self._visible = self.workload.keep(self._seen)
        else:
            self._visible = self.workload
        self._call("begin", seen_by(self.users, self._visible))

    @property
    def notes(self) -> tuple[str, ...]:
        """The remarks of the users; none if they have no ``notes``."""
        return notes_of(self.users)

    def submit(self, now: int, jobs: Ints, start: Ints) -> Ints:
        """Set the walltimes of jobs that arrive at ``now`` (s), and return these jobs; others that come back keep theirs.

        ``start``: the start of each job in seconds, -1: none.
        """
        new = jobs[~self._asked[jobs]]
        if len(new):
            seen = start[self._seen]
            seen.flags.writeable = False
            self._asked[new] = True
            visible = self._number[new]
            self._walltime[new] = self._checked(new, self._call("request", now, visible, seen), now)
            self._visible.walltime[visible] = self._walltime[new]
        return new

    def _checked(self, jobs: Ints, found: object, now: int) -> Ints:
        try:
            return returned_wholes(f"users {self.users.name}: request", found, len(jobs), "jobs", 1, "of seconds ")
        except WrongAnswer as e:
            raise SimulationError(str(e), time=now) from e

    def _call(self, method: str, *arguments: object) -> object:
        try:
            return getattr(self.users, method)(*arguments)
        except SchedlabError:
            raise
        except Exception as e:
            raise SimulationError(f"users {self.users.name} raised in {method}: {type(e).__name__}: {e}") from e


def requested(users: Users, workload: Workload, start: NDArray[np.int64], without: Sequence[int] = ()) -> Workload:
    """Return a workload with the walltimes that users request in a replay of which the starts are known.

    It repeats the calls of ``Users.request`` in the order of arrival, for the verification of a stored replay;
    ``without``: as in ``Requests``.
    """
    made = Requests(users, workload, without)
    order = np.argsort(workload.release, kind="stable")
    order = order[~np.isin(order, list(without))]
    arrival = workload.release[order]
    for rows in np.split(order, np.flatnonzero(np.diff(arrival)) + 1):
        now = int(workload.release[rows[0]])
        made.submit(now, rows, np.where(start < now, start, -1))
    return made.workload


# --- Users of the scenarios of [Rocchetti2015, 5.2], and users who react to long waits.
#
# The seed determines groups, order and accuracies. The same seed gives each job the same random number in all scenarios and
# under all dispatchers.

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
        ``"be"``, ``"ge"``, ``"cf"`` or ``"cfg"``; see ``instances.generators.fing.SCENARIOS``.
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
        walltimes = [self._walltime(j, self.accuracy(j, start)) for j in jobs.tolist()]
        if self._limited:
            limited = f"users {self.name}: {self._limited} walltimes are limited to {int(self.longest)} s"
            self.notes = (*self._about, limited)
        return np.array(walltimes, np.int64)

    def accuracy(self, job: int, start: Ints) -> float:
        """Return the accuracy of a job that is submitted now."""
        return within(self._interval[self._user[job]], self._drawn[job])

    def _walltime(self, job: int, accuracy: float) -> int:
        walltime = walltime_of(self._runtime[job], accuracy, int(self.longest))
        self._limited += round(self._runtime[job] / accuracy) > walltime
        return walltime


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
        if self.half:
            return "hdi"
        return "di"

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


def be(seed: float = 1, longest: Seconds = LONGEST) -> Static:
    """Return users with bad estimates that never improve."""
    return Static("be", seed, longest)


def ge(seed: float = 1, longest: Seconds = LONGEST) -> Static:
    """Return users with good estimates that never improve."""
    return Static("ge", seed, longest)


def cf(seed: float = 1, longest: Seconds = LONGEST) -> Static:
    """Return the users of Cluster FING, whose estimates never improve."""
    return Static("cf", seed, longest)


def cfg(seed: float = 1, longest: Seconds = LONGEST) -> Static:
    """Return the users of Cluster FING with good estimates, which never improve."""
    return Static("cfg", seed, longest)


def di(seed: float = 1, longest: Seconds = LONGEST) -> Learning:
    """Return users who all improve their estimates."""
    return Learning(seed=seed, longest=longest)


def hdi(seed: float = 1, longest: Seconds = LONGEST) -> Learning:
    """Return users of whom every second improves the estimates."""
    return Learning(seed=seed, longest=longest, half=True)


def impatient(seed: float = 1, longest: Seconds = LONGEST, patience: Seconds = 3600) -> Impatient:
    """Return users who improve their estimates only when their jobs wait for long."""
    return Impatient(seed=seed, longest=longest, patience=patience)


# --- The names of users: those of schedlab and of third parties, with options as text.

USERS: Registry[Users] = Registry(
    "group of users",
    "schedlab.users",
    {name: f"{__name__}:{name}" for name in ("be", "ge", "cf", "cfg", "di", "hdi", "impatient")},
    parts=PARTS,
    docs="docs/reference/users.md",
    argument="users",
)
"""Users by name: an object, or a class or function that returns one."""


def users_of(what: str | Users | type[Users]) -> Users:
    """Return users by their name, ``NAME[:OPTION=VALUE]...`` or ``module:attribute``; an object is checked and returned.

    Parameters
    ----------
    what : str or Users
        A name of ``USERS``: ``be``, ``ge``, ``cf``, ``cfg`` (``Static``), ``di``, ``hdi`` (``Learning``), ``impatient``.

    Returns
    -------
    Users
        The users.

    Raises
    ------
    UnknownName
        If there is no such name or option; the message lists similar ones.
    WrongOption
        If the value of an option is not allowed.
    PluginError
        If the object cannot be created, or does not follow the protocol.

    Examples
    --------
    >>> users_of("di:seed=3").seed
    3.0
    """
    return USERS.make(what)
