"""Predictors of the duration of jobs: walltime, data-driven, last two runtimes, real runtime; their protocol and names."""

from __future__ import annotations

import heapq
import re
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, NoReturn, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import SchedlabError, WrongValue
from ..heuristics.kernels.events.state import ENDED, WAITING, State, TraceArrays
from ..instances.files.reading import WorkloadError
from ..instances.workload import Workload
from ..models.arguments import is_whole, whole_array, wrong
from ..models.array_types import Ints
from ..models.compiled import internal_borrowing
from ..models.plugins import WrongAnswer, notes_of, returned_wholes, seen_by
from ..models.registry import Registry
from ..models.words import excerpt, how_many, with_short_repr
from .errors import SimulationError

# --- The protocol of predictors of the duration of jobs.


class Predictor(Protocol):
    """The protocol of predictors: an object that returns the expected duration of each job of a workload.

    A job is its row in the workload. Durations are whole seconds, at least 1. The predictors of schedlab, except
    ``real``, never predict more than the walltime. The simulator calls ``begin`` once. If it returns None, the
    simulator calls ``learn`` for each job that ends, and ``predict`` for each job that arrives and again for each
    waiting job of the users that ``learn`` returns.

    Attributes
    ----------
    name : str
        The name in results and error messages.
    notes : tuple of str
        Remarks on data that the trace lacks, set by ``begin``; they go to ``Simulation.notes``.
    """

    @property
    def name(self) -> str:
        """The name in results and error messages."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks on data that the trace lacks."""

    def begin(self, workload: Workload) -> Ints | None:
        """Prepare for a replay.

        Returns
        -------
        ndarray of int64, shape (jobs,), or None
            The expected durations in seconds, if they never change during the replay; else None.
        """

    def predict(self, job: int) -> int:
        """Return the expected duration of a job in seconds, given the jobs that have ended so far."""

    def learn(self, job: int, took: int) -> tuple[int, ...]:
        """Record that a job has ended after ``took`` seconds.

        Returns
        -------
        tuple of int
            The users (values of ``workload.user``) whose expected durations may have changed.
        """


# --- Names of users and programs: prefixes of programs, and notes on jobs without a name.


def prefix(program: str) -> str:
    """Return the name of a program without the digits at its end; a name of digits alone stays as it is.

    Parameters
    ----------
    program : str
        The name.

    Returns
    -------
    str
        The name without the digits, not empty unless ``program`` is.

    Examples
    --------
    >>> prefix("run_017"), prefix("lammps"), prefix("4711")
    ('run_', 'lammps', '4711')
    """
    return re.sub(r"\d+$", "", program) or program


def notes_on_users(workload: Workload, who: str = "the predictor") -> tuple[str, ...]:
    """Return a note on jobs without a user, if there are some; ``who`` treats them as jobs of one user."""
    nameless = _nameless(workload.users, workload.user)
    if nameless == len(workload):
        return (f"the trace has no users: {who} treats all jobs as jobs of one user",)
    if nameless:
        return (f"{how_many(nameless, 'job', verb='have')} no user: {who} treats them as jobs of one user",)
    return ()


def notes_on_programs(workload: Workload) -> tuple[str, ...]:
    """Return a note on jobs without a program name, if there are some."""
    nameless = _nameless(workload.programs, workload.program)
    if nameless == len(workload):
        return (
            "the trace has no program names: similar jobs of a user are those with the same queue, walltime and "
            "requests, then those with the same queue and walltime, then all",
        )
    if nameless:
        return (f"{how_many(nameless, 'job', verb='have')} no program name: the predictor treats them as one program",)
    return ()


def _nameless(names: tuple[str, ...], column: Ints) -> int:
    """Return how many jobs have an empty name."""
    return int(np.isin(column, [k for k, name in enumerate(names) if not name.strip()]).sum())


# --- Predictors without similar jobs: the walltime, the real runtime, and the mean of the user's last two runtimes.


@with_short_repr
class Walltime:
    """A predictor that returns the walltime of each job."""

    name = "walltime"
    notes: tuple[str, ...] = ()

    def begin(self, workload: Workload) -> Ints:
        """Return the walltimes, at least 1 s."""
        self._walltime = workload.walltime  # not a copy: users may choose walltimes during the replay
        return np.maximum(workload.walltime, 1)

    def predict(self, job: int) -> int:
        """Return the walltime of the job, at least 1 s."""
        return max(1, int(self._walltime[job]))

    def learn(self, job: int, took: int) -> tuple[int, ...]:
        """Return no users: nothing is learned."""
        return ()


@with_short_repr
class Real:
    """A predictor that knows the runtime of each job, also if it is longer than the walltime.

    Parameters
    ----------
    kill_at_walltime : bool
        Whether jobs are killed at their walltime, so that none runs longer.
    """

    name = "real"
    notes: tuple[str, ...] = ()

    def __init__(self, kill_at_walltime: bool = False) -> None:
        self._kill = kill_at_walltime

    def begin(self, workload: Workload) -> Ints:
        """Return the durations of all jobs in the replay, at least 1 s."""
        if self._kill:
            took = np.minimum(workload.runtime, workload.walltime)
        else:
            took = workload.runtime
        self._expected = np.maximum(took, 1)
        return self._expected

    def predict(self, job: int) -> int:
        """Return the duration of the job in the replay, at least 1 s."""
        return int(self._expected[job])

    def learn(self, job: int, took: int) -> tuple[int, ...]:
        """Return no users: nothing is learned."""
        return ()


@with_short_repr
class LastTwo:
    """A predictor from the last two jobs of the same user that have ended [Bridi2018, 2.3].

    It returns ``min(walltime, ceil((a + b) / 2))``, where a and b are the runtimes of these jobs. After one job it
    returns ``min(walltime, a)``, before that the walltime.
    """

    name = "last-two"

    def __init__(self) -> None:
        self.notes: tuple[str, ...] = ()

    def begin(self, workload: Workload) -> None:
        """Start without any ended job."""
        self.notes = notes_on_users(workload)
        self.user: Ints = workload.user.astype(np.int64)
        self._walltime = workload.walltime  # not a copy: users may choose walltimes during the replay
        # runtimes of each user's last job and of the job before; 0: none. Replays in compiled code change them
        self.took: Ints = np.zeros((int(self.user.max(initial=-1)) + 1, 2), np.int64)

    def predict(self, job: int) -> int:
        """Return the mean runtime of the user's last two jobs, at most the walltime."""
        walltime = max(1, int(self._walltime[job]))
        last, before = self.took[self.user[job]].tolist()
        return walltime if last == 0 else min(walltime, (last + before + 1) // 2)

    def learn(self, job: int, took: int) -> tuple[int, ...]:
        """Record the job as the last of its user; return this user."""
        user = int(self.user[job])
        took = max(1, took)
        before = int(self.took[user, 0])
        self.took[user] = took, before or took
        return (user,)


# --- The data-driven predictor: the duration of the last similar job of the same user.
#
# [Galleguillos2019] uses such a predictor and cites an earlier paper for it, without the rules. The six rules here follow
# the programs that its authors have published; ties and the distance of amounts of 0 are ours.


@with_short_repr
class DataDriven:
    """A predictor from the last similar job of the same user that has ended; see the module for the source of its rules.

    It returns the runtime of that job, at most the walltime. The first of these rules that finds an ended job decides
    which jobs are similar:

    1. same name, queue, walltime and requests (units, and amount of each resource per unit);
    2. as rule 1, but with the same prefix of the name (see ``prefix``);
    3. same name, queue and walltime, with any requests;
    4. as rule 3, but with the same prefix of the name;
    5. same name;
    6. same prefix of the name.

    If no rule finds a job, the prediction is the walltime. If a rule finds several jobs, it takes the one that ended
    last (of those that ended at the same time, the one learned last). Rules 3 and 4 first keep the jobs with the
    smallest distance of requests. The distance of the requests a and b is ``sum_i |log(a[i] / b[i])|``, where i runs
    over the number of units and the amounts per unit; so it does not depend on units of measure. An amount of 0 counts
    as half of the smallest positive amount of that resource in the trace.
    """

    name = "data-driven"

    def __init__(self) -> None:
        self.notes: tuple[str, ...] = ()

    def begin(self, workload: Workload) -> None:
        """Start without any ended job."""
        self.notes = (*notes_on_users(workload), *notes_on_programs(workload))
        stems: dict[str, int] = {}
        stem_of = np.array([stems.setdefault(prefix(p), len(stems)) for p in workload.programs], np.int64)
        kind, logs = _kinds(workload)
        kinds: list[int] = kind.tolist()
        # not copies: users, and events of the server, may change both during the replay
        queue, self._walltime = workload.queue, workload.walltime

        def rules_of(program: Ints) -> tuple[_Latest, _Similar, _Latest]:
            loose: list[int] = _group(workload.user, program).tolist()

            def profile(job: int) -> Group:
                return loose[job], int(queue[job]), int(self._walltime[job])

            return (
                _Latest(lambda job: (*profile(job), kinds[job])),
                _Similar(profile, kinds, logs),
                _Latest(lambda job: (loose[job],)),
            )

        one, three, five = rules_of(workload.program)
        two, four, six = rules_of(stem_of[workload.program])
        self._rules: tuple[_Latest | _Similar, ...] = (one, two, three, four, five, six)
        self._user: list[int] = workload.user.tolist()

    def predict(self, job: int) -> int:
        """Return the runtime that the first matching rule finds, at most the walltime; without one the walltime."""
        walltime = max(1, int(self._walltime[job]))
        for rule in self._rules:
            took = rule.find(job)
            if took:
                return min(took, walltime)
        return walltime

    def rule(self, job: int) -> int:
        """Return the number of the rule that ``predict`` would use now, 1 to 6; 0 if none matches."""
        return next((number for number, rule in enumerate(self._rules, 1) if rule.find(job)), 0)

    def learn(self, job: int, took: int) -> tuple[int, ...]:
        """Record the job as the last one of its groups; return its user."""
        took = max(1, took)
        for rule in self._rules:
            rule.learn(job, took)
        return (self._user[job],)


Group = tuple[int, ...]
"""What the jobs of a group have in common."""


class _Latest:
    """The runtime of the last ended job of each group; ``group`` returns the group of a job as it is now."""

    def __init__(self, group: Callable[[int], Group]) -> None:
        self._group = group
        self._took: dict[Group, int] = {}

    def find(self, job: int) -> int:
        """Return the runtime of the last ended job of this job's group, in seconds; 0 if none has ended."""
        return self._took.get(self._group(job), 0)

    def learn(self, job: int, took: int) -> None:
        self._took[self._group(job)] = took


class _Similar:
    """The runtime of the last ended job with the most similar requests, in the group of a job.

    ``kind`` numbers the distinct requests. For each group, the kinds seen so far are kept in order of first appearance,
    each with its last job. For each (group, kind) looked up, the nearest kinds are kept, so that the next lookup
    compares only the kinds that are new.
    """

    def __init__(self, group: Callable[[int], Group], kind: list[int], logs: list[tuple[float, ...]]) -> None:
        self._group = group
        self._kind = kind
        self._logs = logs
        self._clock = 0
        self._seen: dict[Group, dict[int, tuple[int, int]]] = {}  # group -> kind -> (time of learning, runtime)
        self._order: dict[Group, list[int]] = {}  # group -> kinds in order of first appearance
        self._nearest: dict[
            tuple[Group, int], tuple[int, float, list[int]]
        ] = {}  # -> (kinds compared, distance, kinds)

    def find(self, job: int) -> int:
        """Return the runtime of the last of the most similar jobs, in seconds; 0 if none has ended."""
        group = self._group(job)
        seen = self._seen.get(group)
        if seen:
            return max(seen[k] for k in self._near(group, self._kind[job]))[1]
        return 0

    def _near(self, group: Group, kind: int) -> list[int]:
        order = self._order[group]
        done, least, nearest = self._nearest.get((group, kind), (0, float("inf"), []))
        if done == len(order):
            return nearest
        here = self._logs[kind]
        for other in order[done:]:
            # rounded, so that 2 : 4 and 4 : 8 are equally far apart
            distance = round(sum(abs(a - b) for a, b in zip(here, self._logs[other], strict=True)), 9)
            if distance < least:
                least, nearest = distance, [other]
            elif distance == least:
                nearest.append(other)
        self._nearest[group, kind] = len(order), least, nearest
        return nearest

    def learn(self, job: int, took: int) -> None:
        group = self._group(job)
        kind = self._kind[job]
        seen = self._seen.setdefault(group, {})
        if kind not in seen:
            self._order.setdefault(group, []).append(kind)
        self._clock += 1
        seen[kind] = self._clock, took


def _group(*columns: Ints) -> Ints:
    """Return a number for each row; two rows have the same number if and only if they agree in all columns."""
    group = np.unique(columns[0], return_inverse=True)[1].reshape(-1)
    for column in columns[1:]:
        numbers = np.unique(column, return_inverse=True)[1].reshape(-1)
        group = np.unique(group * (int(numbers.max(initial=0)) + 1) + numbers, return_inverse=True)[1].reshape(-1)
    return group.astype(np.int64)


def _kinds(workload: Workload) -> tuple[Ints, list[tuple[float, ...]]]:
    """Return the kind of each job, and for each kind the logarithms of its units and amounts per unit."""
    kind = _group(workload.units, workload.request_kind)
    _, sample = np.unique(kind, return_index=True)
    amounts = np.column_stack([workload.units, workload.request])[sample].astype(np.float64)
    for column in amounts.T:
        positive = column[column > 0]
        if positive.size:
            column[column <= 0] = positive.min() / 2
        else:
            column[column <= 0] = 1.0
    return kind, [tuple(row) for row in np.log(amounts).tolist()]


# --- A predictor as a replay calls it: its answers are checked, and its time is measured.

R = TypeVar("R")


@with_short_repr
class TimedPredictor:
    """A predictor that checks the answers of another one and measures its wall time, and otherwise behaves as it.

    Attributes
    ----------
    seconds : float
        Wall time of all calls of ``begin``, ``predict`` and ``learn`` so far, in seconds.

    Raises
    ------
    SimulationError
        By all methods: if the predictor raises, or returns durations that are no whole seconds of at least 1, a wrong
        number of them, or users that are none.
    """

    def __init__(self, predictor: Predictor) -> None:
        self._predictor = predictor
        self._ids: Sequence[str] = ()
        self._users = 0
        self.seconds = 0.0

    @property
    def name(self) -> str:
        """The name of the predictor."""
        return self._predictor.name

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks on data that the trace lacks; none if the predictor has no ``notes``."""
        return notes_of(self._predictor)

    @property
    def last_two(self) -> LastTwo | None:
        """The predictor, if it is ``last-two``, which compiled code can replace."""
        if type(self._predictor) is LastTwo:
            return self._predictor
        return None

    def begin(self, workload: Workload) -> Ints | None:
        """Prepare for a replay; see ``Predictor.begin``."""
        self._ids = workload.ids
        self._users = len(workload.users)
        predicted = self._call("begin", lambda: self._predictor.begin(seen_by(self._predictor, workload)))
        if predicted is None:
            return None
        try:
            return returned_wholes(f"predictor {self.name}: begin", predicted, len(workload), "jobs", 1, "of seconds ")
        except WrongAnswer as e:
            message = str(e)
        if np.shape(predicted) == (len(workload),):
            values, fault = whole_array(predicted)
        else:
            values = None
            fault = None
        if fault is None and values is not None:
            fault = next(((j, value) for j, value in enumerate(values.tolist()) if value < 1), None)
        if fault is None:
            raise SimulationError(message)
        self._refuse(fault[0], fault[1])

    def predict(self, job: int) -> int:
        """Return the expected duration of a job in seconds."""
        predicted = self._call("predict", lambda: self._predictor.predict(job))
        if not is_whole(predicted) or not 1 <= predicted < 2**63:
            self._refuse(job, predicted)
        return int(predicted)

    def learn(self, job: int, took: int) -> tuple[int, ...]:
        """Record that a job has ended; return the users whose expected durations may have changed."""
        users = self._call("learn", lambda: self._predictor.learn(job, took))
        if isinstance(users, tuple) and not users:
            return ()
        if not isinstance(users, Collection | np.ndarray) or not all(
            is_whole(u) and 0 <= u < self._users for u in users
        ):
            raise SimulationError(
                f"predictor {self.name}: learn returned {excerpt(users)}; expected the numbers of the users whose "
                f"expected durations may have changed, each from 0 to {self._users - 1}, or ()"
            )
        return tuple(int(u) for u in users)

    def _call(self, method: str, call: Callable[[], R]) -> R:
        began = time.perf_counter()
        try:
            return call()
        except SchedlabError:
            raise
        except Exception as e:
            raise SimulationError(f"predictor {self.name} raised in {method}: {type(e).__name__}: {e}") from e
        finally:
            self.seconds += time.perf_counter() - began

    def _refuse(self, job: int, predicted: object) -> NoReturn:
        """Raise SimulationError for the duration of a job that is no whole number of seconds, or below 1."""
        name = self._ids[job]
        why = wrong(predicted)
        if is_whole(predicted):
            why = f"is {excerpt(predicted)} s; at least 1 s {'and below 2**63 s ' if predicted > 0 else ''}is expected"
        raise SimulationError(f"predictor {self.name}: the duration of job {name!r} {why}", job=name)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._predictor, name)


# --- The names of predictors: those of schedlab and of third parties, with options as text.

PREDICTORS: Registry[Predictor] = Registry(
    "predictor",
    "schedlab.predictors",
    {
        "walltime": Walltime,
        "data-driven": DataDriven,
        "last-two": LastTwo,
        "real": Real,
    },
    parts=("name", "begin", "predict", "learn"),
    docs="docs/reference/users.md",
)
"""The predictors by name: a predictor, or a class or function that returns one."""


def predictor_of(what: str | Predictor | type[Predictor], kill_at_walltime: bool = False) -> Predictor:
    """Return a predictor by its name, ``NAME[:OPTION=VALUE]...`` or ``module:attribute``; an object is checked and returned.

    Parameters
    ----------
    what : str, Predictor or type
        The name, the object, or a class without arguments.
    kill_at_walltime : bool
        Whether jobs end at their walltimes, which the recorded durations of ``"real"`` then do not exceed.

    Returns
    -------
    Predictor
        The predictor.

    Raises
    ------
    UnknownName
        If there is no predictor, or no option, with this name.
    WrongOption
        If the value of an option is not allowed.
    PluginError
        If the object lacks a part of a predictor, or the class cannot be created.

    Examples
    --------
    >>> predictor_of("last-two").name
    'last-two'
    """
    return PREDICTORS.make(what, kill_at_walltime=kill_at_walltime)


# --- The predictor ``last-two`` in compiled code: what it knows of each user, and the expected durations of waiting jobs.


class Users(NamedTuple):
    """What is known of the users of the jobs.

    Parameters
    ----------
    user
        User of each job, shape (jobs,); shape (0,): nothing is learned.
    walltime
        Walltime of each job in seconds, shape (jobs,).
    took
        Runtimes in seconds of the last job of each user that has ended and of the one before, shape (users, 2); 0: none.
    changed
        Scratch: whether a job of the user has ended at this event, shape (users,).
    """

    user: Ints
    walltime: Ints
    took: Ints
    changed: NDArray[np.bool_]


def users_of(predictor: LastTwo | None, walltime: Ints) -> Users:
    """Return the arrays of a predictor; None: those of durations that never change."""
    if predictor is None:
        none = np.zeros((0, 2), np.int64)
        return Users(none[:, 0].copy(), walltime, none, np.zeros(0, np.bool_))
    return Users(predictor.user, walltime, predictor.took, np.zeros(len(predictor.took), np.bool_))


@internal_borrowing
def learn_and_predict(users: Users, trace: TraceArrays, state: State, arrived: int) -> None:
    """Learn the runtimes of the jobs that have ended, and predict waiting jobs; ``arrived``: index of the first new one."""
    if users.user.size == 0:
        return
    clock = state.clock
    user = users.user
    took = users.took
    for i in range(clock[ENDED]):
        j = state.ended[i]
        u = user[j]
        last = max(1, trace.runtime[j])
        before = took[u, 0]
        took[u, 0] = last
        took[u, 1] = before if before > 0 else last
        users.changed[u] = True
    first = arrived
    if clock[ENDED] > 0:
        first = 0
    for i in range(first, clock[WAITING]):
        j = state.waiting[i]
        if i >= arrived or users.changed[user[j]]:
            state.expected[j] = _predicted(users, j)
    for i in range(clock[ENDED]):
        users.changed[user[state.ended[i]]] = False


@internal_borrowing
def _predicted(users: Users, j: int) -> int:
    """Return the expected duration of job j in seconds."""
    walltime = max(1, users.walltime[j])
    u = users.user[j]
    if users.took[u, 0] == 0:
        return int(walltime)
    return int(min(walltime, (users.took[u, 0] + users.took[u, 1] + 1) // 2))


# --- The accuracy of predicted durations.


@with_short_repr
@dataclass(frozen=True)
class Accuracy:
    """The comparison of expected durations with durations in the replay.

    e is the expected duration of a job and d its duration, at least 1 s. All values are None if there is no job.

    Parameters
    ----------
    mae : float
        Mean absolute error, ``mean(|d - e|)``, in seconds.
    under, over, exact : float
        Share of the jobs with ``d > e`` (underestimated), ``d < e`` (overestimated), ``d == e``; each from 0 to 1.
    within_quarter : float
        Share of the jobs with ``0.75 <= d / e <= 1.25``, from 0 to 1.
    ratio_p5, ratio_p25, ratio_p50, ratio_p75, ratio_p95 : float
        Percentiles of ``d / e``, without unit.
    """

    mae: float | None = None
    under: float | None = None
    over: float | None = None
    exact: float | None = None
    within_quarter: float | None = None
    ratio_p5: float | None = None
    ratio_p25: float | None = None
    ratio_p50: float | None = None
    ratio_p75: float | None = None
    ratio_p95: float | None = None

    def as_dict(self) -> dict[str, float | None]:
        """Return a dict of all values by name."""
        return asdict(self)


def accuracy(expected: Ints, runtime: Ints) -> Accuracy:
    """Compare expected durations with runtimes.

    Parameters
    ----------
    expected : ndarray of int64, shape (jobs,)
        Expected durations in seconds, at least 1.
    runtime : ndarray of int64, shape (jobs,)
        Runtimes in seconds; values below 1 count as 1.

    Returns
    -------
    Accuracy
        All values None if there is no job.

    Raises
    ------
    ValueError
        If the arrays have different lengths, or an expected duration is below 1 s.

    Examples
    --------
    >>> a = accuracy(np.array([100, 100, 100, 50]), np.array([100, 50, 150, 60]))
    >>> a.mae, a.under, a.over, a.exact, a.within_quarter
    (27.5, 0.5, 0.25, 0.25, 0.5)
    """
    if expected.shape != runtime.shape:
        raise WrongValue(f"{len(expected)} expected durations for {len(runtime)} runtimes; expected equal numbers")
    if not expected.size:
        return Accuracy()
    if expected.min() < 1:
        k = int(expected.argmin())
        raise WrongValue(f"the expected duration of job {k} is {expected[k]} s; expected at least 1 s")
    took = np.maximum(runtime, 1)
    ratio = took / expected
    p5, p25, p50, p75, p95 = np.percentile(ratio, [5, 25, 50, 75, 95]).tolist()
    return Accuracy(
        mae=float(np.abs(took - expected).mean()),
        under=float((took > expected).mean()),
        over=float((took < expected).mean()),
        exact=float((took == expected).mean()),
        within_quarter=float(((ratio >= 0.75) & (ratio <= 1.25)).mean()),
        ratio_p5=p5,
        ratio_p25=p25,
        ratio_p50=p50,
        ratio_p75=p75,
        ratio_p95=p95,
    )


def expected_as_recorded(workload: Workload, predictor: Predictor) -> Ints:
    """Return the durations that a predictor expects at the starts recorded in the trace, without a simulation.

    At each recorded start, the predictor has learned from the jobs that had ended on the real machine.

    Parameters
    ----------
    workload : Workload
        A trace that records the start of every job.
    predictor : Predictor
        The predictor; it starts without knowledge.

    Returns
    -------
    ndarray of int64, shape (jobs,)
        Expected durations in seconds.

    Raises
    ------
    WorkloadError
        If the trace does not record the start of a job.
    """
    start = workload.recorded_start
    if (start < 0).any():
        k = int(np.flatnonzero(start < 0)[0])
        raise WorkloadError(
            f"{workload.name}: the trace does not record when job {workload.ids[k]!r} started; remove such jobs with "
            "Workload.keep, or simulate the trace"
        )
    predictor = TimedPredictor(predictor)
    fixed = predictor.begin(workload)
    if fixed is not None:
        return fixed
    expected = np.zeros(len(workload), np.int64)
    starts = start.tolist()
    runtimes = workload.runtime.tolist()
    running: list[tuple[int, int]] = []
    for job in np.argsort(start, kind="stable").tolist():
        while running and running[0][0] <= starts[job]:
            ended = heapq.heappop(running)[1]
            predictor.learn(ended, runtimes[ended])
        expected[job] = predictor.predict(job)
        heapq.heappush(running, (starts[job] + runtimes[job], job))
    return expected
