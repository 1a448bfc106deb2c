"""The objectives of dispatching problems: each is declared once, as a cost of the starts of the jobs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import SchedlabError
from ..arguments import checked, expect, is_number, is_real, shown
from ..array_types import Floats, Ints
from ..counts import how_many
from ..excerpt import excerpt, with_short_repr
from ..platform import ProblemError
from ..plugins import PluginError, plain_name
from ..problem import Schedule
from ..registry import Registry
from ..returned import NUMBERS, WrongAnswer, returned_number
from ..unknown_names import UnknownName

if TYPE_CHECKING:
    from .data import DispatchData
    from .jobs import Job


# --- The objectives of dispatching schedules from the data alone, job by job, for the verifier.
#
# These functions share nothing with the costs in ``objectives``, from which formulations and searches are made: a fault
# there shows as a difference. All raise KeyError if a job has no start.


def _waits(problem: DispatchData, schedule: Schedule) -> list[tuple[Job, int, int]]:
    """Return each job, its wait in seconds, and the expected waiting time of its queue."""
    return [(j, schedule.start[j.id] - j.submit, problem.ewt[j.queue]) for j in problem.jobs]


def makespan(problem: DispatchData, schedule: Schedule) -> int:
    """Return the end of the last job in seconds; running jobs count, and ``now`` if there are no jobs."""
    ends = [schedule.start[j.id] + problem.duration(j) for j in problem.jobs]
    return max(ends + [r.end for r in problem.running], default=problem.now)


def waiting(problem: DispatchData, schedule: Schedule) -> int:
    """Return the sum of the waits in seconds."""
    return sum(wait for _, wait, _ in _waits(problem, schedule))


def weighted_wait(problem: DispatchData, schedule: Schedule) -> float:
    """Return the sum of the waits, each divided by the expected waiting time."""
    return math.fsum(wait / ewt for _, wait, ewt in _waits(problem, schedule))


def weighted_tardiness(problem: DispatchData, schedule: Schedule) -> float:
    """Return the sum of the waits beyond the expected waiting time, each divided by it."""
    return math.fsum(max(0, wait - ewt) / ewt for _, wait, ewt in _waits(problem, schedule))


def late_jobs(problem: DispatchData, schedule: Schedule) -> int:
    """Return the number of jobs that wait longer than expected."""
    return sum(wait > ewt for _, wait, ewt in _waits(problem, schedule))


def queue_priority_wait(problem: DispatchData, schedule: Schedule) -> float:
    """Return the sum of the waits, each divided by the expected waiting time and multiplied by the greatest of them."""
    greatest = max(problem.ewt.values(), default=1)
    return math.fsum(greatest * wait / ewt for _, wait, ewt in _waits(problem, schedule))


def slowdown(problem: DispatchData, schedule: Schedule) -> float:
    """Return the sum of (wait + duration) / duration; a duration counts as at least 1 s."""
    waits = [(wait, max(1, problem.duration(j))) for j, wait, _ in _waits(problem, schedule)]
    return math.fsum((wait + d) / d for wait, d in waits)


SAME = 1e-6  # relative and absolute: smaller differences between a value and the costs are rounding errors


@with_short_repr
@dataclass(frozen=True, eq=False)
class Excess:
    """The cost sum over jobs of ``weight * max(0, wait - grace) + constant``.

    Parameters
    ----------
    weight : array of float, shape (jobs,)
        The cost per second, at least 0.
    grace : array of int, shape (jobs,), default 0
        The wait without cost, in seconds. A negative grace adds to the wait.
    constant : array of float, shape (jobs,), default 0
        The cost of each job at any start.

    Raises
    ------
    ProblemError
        If the lengths differ, a weight is negative, a grace is no whole number, or a number is not finite.

    Examples
    --------
    >>> Excess([2.0, 1.0], grace=[0, 60]).value(np.array([10, 70]), np.array([20, 80]))
    30.0
    """

    weight: Floats
    grace: Ints
    constant: Floats

    def __init__(self, weight: ArrayLike, grace: ArrayLike | None = None, constant: ArrayLike | None = None) -> None:
        made = _floats("weights", weight)
        object.__setattr__(self, "weight", made)
        object.__setattr__(self, "grace", np.zeros(made.shape, np.int64) if grace is None else _seconds(grace))
        object.__setattr__(
            self, "constant", np.zeros(made.shape) if constant is None else _floats("constants", constant)
        )
        if made.ndim != 1 or self.grace.shape != made.shape or self.constant.shape != made.shape:
            raise ProblemError("weights, graces and constants of an objective must be lists of the same length")
        if not np.isfinite(self.constant).all() or not (np.isfinite(made) & (made >= 0)).all():
            raise ProblemError("the weights of an objective must be finite and at least 0, its constants finite")

    @property
    def jobs(self) -> int:
        """The number of jobs."""
        return self.weight.size

    @property
    def is_unweighted(self) -> bool:
        """Whether all weights are 1 and all constants 0; the cost is then a whole number."""
        return bool((self.weight == 1).all()) and not self.constant.any()

    def some(self, jobs: Ints) -> Excess:
        """Return the cost of some of the jobs, given by their indices."""
        return Excess(self.weight[jobs], self.grace[jobs], self.constant[jobs])

    def value(self, wait: Ints, end: Ints) -> float:
        """Return the cost of waits in seconds, shape (jobs,); it does not depend on the ends."""
        over = np.maximum(0, wait - self.grace)
        return int(over.sum()) if self.is_unweighted else float((self.weight * over + self.constant).sum())


@with_short_repr
@dataclass(frozen=True, eq=False)
class Late:
    """The number of jobs that wait longer than their grace.

    Parameters
    ----------
    grace : array of int, shape (jobs,)
        The longest wait in seconds of a job that is not late.

    Raises
    ------
    ProblemError
        If a grace is no whole number.

    Examples
    --------
    >>> Late([60, 60]).value(np.array([60, 61]), np.array([70, 71]))
    1
    """

    grace: Ints

    def __init__(self, grace: ArrayLike) -> None:
        object.__setattr__(self, "grace", _seconds(grace))
        if self.grace.ndim != 1:
            raise ProblemError("the graces of an objective must be a list with a number per job")

    @property
    def jobs(self) -> int:
        """The number of jobs."""
        return self.grace.size

    def some(self, jobs: Ints) -> Late:
        """Return the cost of some of the jobs, given by their indices."""
        return Late(self.grace[jobs])

    def value(self, wait: Ints, end: Ints) -> int:
        """Return the cost of waits in seconds, shape (jobs,); it does not depend on the ends."""
        return int((wait > self.grace).sum())


@with_short_repr
@checked
@dataclass(frozen=True)
class LastEnd:
    """The end of the last job.

    Parameters
    ----------
    others : tuple of int, default ()
        Other ends in seconds that count, for instance of running jobs; not empty if there are no jobs.

    Examples
    --------
    >>> LastEnd((5,)).value(np.array([0, 0]), np.array([20, 80]))
    80
    """

    others: tuple[int, ...] = ()

    def some(self, jobs: Ints) -> LastEnd:
        """Return the cost of some of the jobs, given by their indices."""
        return self

    def value(self, wait: Ints, end: Ints) -> int:
        """Return the cost of ends in seconds, shape (jobs,); it does not depend on the waits."""
        ends: list[int] = end.tolist()
        return max([*ends, *self.others])


JobCosts = Excess | Late | LastEnd
"""The cost of the starts of all jobs of a problem."""


class UnknownObjective(UnknownName, ProblemError):
    """There is no objective with this name. ``near``: similar names."""

    def __init__(self, message: str, near: list[str]) -> None:
        SchedlabError.__init__(self, message)
        self.near = near


class ObjectiveDisagrees(SchedlabError, ValueError):
    """The value of an objective is not the one that its costs give, so that searches optimize something else."""


@with_short_repr
@dataclass(frozen=True)
class Objective:
    """An objective of dispatching problems.

    Parameters
    ----------
    name : str
        The name, for ``Dispatch(objective=...)``.
    description : str
        A short formula or phrase, for people.
    costs : callable
        Returns the costs of a problem's jobs, in their order. It reads the data only, and no schedule.
    value : callable
        Computes the objective of a schedule of all jobs from the data, for the verifier. It must not use ``costs``, or
        the verifier cannot find its faults. A job without a start is a KeyError.
    sense : {"minimize", "maximize"}
        Whether the costs are minimized, or minus the costs are maximized.

    Examples
    --------
    >>> def end(problem, job, schedule):
    ...     return schedule.start[job.id] + problem.duration(job)
    >>> Objective(
    ...     "ends",
    ...     "sum of the ends of the jobs",
    ...     lambda problem: Excess([1] * len(problem.jobs), [-j.submit - problem.duration(j) for j in problem.jobs]),
    ...     lambda problem, schedule: sum(end(problem, j, schedule) for j in problem.jobs),
    ... ).name
    'ends'
    """

    name: str
    description: str
    costs: Callable[..., JobCosts]
    value: Callable[..., float]
    sense: Literal["minimize", "maximize"] = "minimize"

    def costs_of(self, problem: DispatchData) -> JobCosts:
        """Return the costs of the problem's jobs; raise ProblemError if their number is wrong, WrongAnswer if they are none."""
        try:
            costs = self.costs(problem)
        except SchedlabError:
            raise
        except Exception as e:
            raise WrongAnswer(f"objective {self.name!r}: costs raised {type(e).__name__}: {e}") from e
        if not isinstance(costs, Excess | Late | LastEnd):
            why = "expected the costs of the jobs: Excess, Late or LastEnd"
            raise WrongAnswer(f"objective {self.name!r}: costs returned {excerpt(costs)}; {why}")
        if not isinstance(costs, LastEnd) and costs.jobs != len(problem.jobs):
            raise ProblemError(
                f"objective {self.name!r} has costs of {how_many(costs.jobs, 'job')}, not of {len(problem.jobs)}"
            )
        return costs

    def value_of(self, problem: DispatchData, schedule: Schedule) -> float:
        """Return the objective of a schedule; raise WrongAnswer if ``value`` raises, or returns no finite number.

        A KeyError is passed on if a job has no start.
        """
        try:
            value = self.value(problem, schedule)
        except SchedlabError:
            raise
        except Exception as e:
            if isinstance(e, KeyError) and any(job.id not in schedule.start for job in problem.jobs):
                raise
            raise WrongAnswer(f"objective {self.name!r}: value raised {type(e).__name__}: {e}") from e
        return returned_number(f"objective {self.name!r}: value", value)

    def checked_value(self, problem: DispatchData, schedule: Schedule) -> float:
        """Return the value of a schedule of all jobs.

        Raises
        ------
        WrongAnswer
            If ``value`` returns no finite number.
        ObjectiveDisagrees
            If the objective is not one of schedlab, and its value is not the one that its costs give.
        KeyError
            If a job has no start.
        """
        value = self.value_of(problem, schedule)
        if REGISTRY.is_own(self.name) and REGISTRY[self.name] is self:
            return value
        other = self._of_costs(problem, schedule)
        if _same(value, other):
            return value
        raise ObjectiveDisagrees(
            f"objective {self.name!r}: its function `value` gives {shown(value)} for a schedule, and its costs give "
            f"{other:.12g}{self._first_difference(problem, schedule)}; both must be the same number for every schedule"
        )

    def _of_costs(self, problem: DispatchData, schedule: Schedule) -> float:
        """Return the value of a schedule by the costs."""
        jobs = problem.job_arrays
        starts = np.array([schedule.start[j.id] for j in problem.jobs], np.int64)
        cost = float(self.costs_of(problem).value(starts - jobs.submit, starts + jobs.duration))
        return cost if self.sense == "minimize" else -cost

    def _first_difference(self, problem: DispatchData, schedule: Schedule) -> str:
        """Return the part of the message about the first job for which they differ in a problem of this job alone."""
        for job in problem.jobs:
            try:
                alone = problem.replace(jobs=[job], limits={})
                start = Schedule({job.id: schedule.start[job.id]}, {job.id: schedule.nodes.get(job.id, {})})
                value = self.value(alone, start)
                other = self._of_costs(alone, start)
            except Exception:  # the functions may need all jobs
                return ""
            if not _same(value, other):
                return (
                    f"; of job {job.id!r} alone, which starts at {start.start[job.id]}, {shown(value)} and {other:.12g}"
                )
        return ""


def _same(value: object, other: float) -> bool:
    return is_number(value) and math.isclose(value, other, rel_tol=SAME, abs_tol=SAME)


def register_objective(objective: Objective) -> None:
    """Make an objective known by its name.

    Parameters
    ----------
    objective : Objective
        The objective. It replaces one that was registered under this name before, so that a cell of a notebook can run
        again.

    Raises
    ------
    WrongArgument
        If it is no Objective, or a field has a wrong type.
    WrongValue
        If the name has characters that have a meaning in the texts of dispatchers.
    ProblemError
        If the name is that of an objective of schedlab, or the sense is unknown.
    """
    expect("objective of register_objective", objective, Objective)
    _check_fields(objective)
    plain_name("objective", objective.name)
    if objective.name in OBJECTIVES:
        raise ProblemError(f"the objective {objective.name!r} belongs to schedlab; give another name")
    REGISTRY.register(objective.name, objective, replace=True)


def _check_fields(objective: Objective) -> None:
    """Raise WrongArgument or ProblemError if a field is not what it should be."""
    for field, kind in (
        ("name", str),
        ("description", str),
        ("costs", Callable[..., Any]),
        ("value", Callable[..., Any]),
    ):
        expect(f"{field} of Objective", getattr(objective, field), kind)
    if not isinstance(objective.sense, str) or objective.sense not in ("minimize", "maximize"):
        raise ProblemError(
            f"objective {objective.name!r}: the sense is 'minimize' or 'maximize', not {_shown(objective.sense)}"
        )


def _check(label: str, found: object) -> None:
    """Raise PluginError if an object is no Objective, or a field of it is wrong."""
    if not isinstance(found, Objective):
        raise PluginError(f"{label} is {excerpt(found)}; expected a schedlab.models.dispatch.objectives.Objective")
    try:
        _check_fields(found)
    except SchedlabError as e:
        raise PluginError(f"{label}: {e}") from e


def objective_names() -> tuple[str, ...]:
    """Return the names of all objectives, those of installed packages and those that were registered later too."""
    return tuple(REGISTRY)


def find_objective(name: str) -> Objective:
    """Return an objective by its name.

    Parameters
    ----------
    name : str
        The name, or ``module:attribute``.

    Returns
    -------
    Objective
        The objective.

    Raises
    ------
    UnknownObjective
        If there is none, a ProblemError; the message lists similar names, or all names.
    PluginError
        If that of a third party cannot be used.

    Examples
    --------
    >>> find_objective("late-jobs").description
    'number of jobs with w > ewt'
    """
    try:
        return REGISTRY.get_named(name)
    except UnknownName as e:
        raise UnknownObjective(str(e), e.near) from None


def _floats(what: str, given: ArrayLike) -> Floats:
    """Return numbers as an array of floats; raise ProblemError for texts, None, mappings and whatever else is no number."""
    return np.array(_numbers(what, given), np.float64)


def _seconds(grace: ArrayLike) -> Ints:
    """Return whole numbers of seconds as an array."""
    given = _numbers("graces", grace)
    try:
        with np.errstate(invalid="ignore"):  # numbers that are not finite differ from what they are cast to
            made = given.astype(np.int64)
    except OverflowError:
        raise ProblemError(f"the graces of an objective are {excerpt(grace)}; a grace must be below 2**63 s") from None
    if (made != given).any():
        raise ProblemError("the graces of an objective must be whole numbers of seconds")
    return made


def _numbers(what: str, given: object) -> NDArray[Any]:
    """Return numbers as an array, of objects if one is a fraction or beyond 64 bits."""
    values = tuple(given) if isinstance(given, Iterator) else given
    no_array = values is None or isinstance(values, (str, bytes, Mapping, Set))
    try:
        array = np.array(None if no_array else values)
    except ValueError:  # lists of different lengths
        array = np.array(None)
    if array.dtype.kind in NUMBERS:
        return array
    if not array.shape or array.dtype.kind != "O" or not all(map(is_real, array.flat)):
        raise ProblemError(
            f"the {what} of an objective are {_shown(given)}; expected a list of numbers, one for each job"
        )
    return array


def _shown(value: object) -> str:
    """Return a value for a message, on one line."""
    return " ".join(excerpt(value).split())


def _ewt(problem: DispatchData) -> Ints:
    """Return the expected waiting time of each job's queue, in seconds."""
    return np.array([problem.ewt[j.queue] for j in problem.jobs], np.int64)


def _last_end(problem: DispatchData) -> LastEnd:
    ends = tuple(r.end for r in problem.running)
    return LastEnd(ends if ends or problem.jobs else (problem.now,))


def _slowdown(problem: DispatchData) -> Excess:
    durations = problem.job_arrays.duration
    return Excess(1 / np.maximum(1, durations), constant=np.ones(durations.size))


OWN = (
    Objective("makespan", "end of the last job", _last_end, makespan),
    Objective("waiting", "sum of w", lambda p: Excess(np.ones(len(p.jobs))), waiting),
    Objective("weighted-wait", "sum of w / ewt", lambda p: Excess(1 / _ewt(p)), weighted_wait),
    Objective(
        "weighted-tardiness",
        "sum of max(0, w - ewt) / ewt",
        lambda p: Excess(1 / _ewt(p), _ewt(p)),
        weighted_tardiness,
    ),
    Objective("late-jobs", "number of jobs with w > ewt", lambda p: Late(_ewt(p)), late_jobs),
    Objective(
        "queue-priority-wait",
        "sum of w / ewt, multiplied by the greatest ewt",
        lambda p: Excess(max(p.ewt.values(), default=1) / _ewt(p)),
        queue_priority_wait,
    ),
    Objective("slowdown", "sum of (w + d) / d", _slowdown, slowdown),
)
REGISTRY: Registry[Objective] = Registry("objective", "schedlab.objectives", {each.name: each for each in OWN}, _check)
"""All objectives by name; a third party adds one by an entry point, a script by ``register_objective``."""
OBJECTIVES = tuple(each.name for each in OWN)
"""The names of the objectives that schedlab brings; ``objective_names`` has the others too."""
