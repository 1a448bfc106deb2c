"""The objectives of dispatching problems, each declared once as a cost of the starts of the jobs; and limits on them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import ObjectiveDisagrees, SchedlabError
from ...models import language as sl
from ..arguments import checked, expect, is_number, is_real, is_whole, rational, shown
from ..array_types import Floats, Ints
from ..language import Expression, Interval, Linear, Model, Violation
from ..language.expressions import Number
from ..language.semantics import REAL_TOLERANCE
from ..platform import ProblemError
from ..plugins import NUMBERS, PluginError, WrongAnswer, plain_name, returned_number
from ..problem import Schedule
from ..registry import Registry
from ..words import UnknownName, excerpt, how_many, with_short_repr
from .arrays import DispatchData

if TYPE_CHECKING:
    from ..problem import Schedule
    from .arrays import DispatchData
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
        if self.is_unweighted:
            return int(over.sum())
        return float((self.weight * over + self.constant).sum())


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
        if self.sense == "minimize":
            return cost
        return -cost

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


def _check(label: str, part: object) -> None:
    """Raise PluginError if an object is no Objective, or a field of it is wrong."""
    if not isinstance(part, Objective):
        raise PluginError(f"{label} is {excerpt(part)}; expected a schedlab.models.dispatch.objectives.Objective")
    try:
        _check_fields(part)
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
    if not isinstance(given, Iterator):
        values = given
    else:
        values = tuple(given)
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


# --- Limits on objectives: a schedule must keep them, whichever objective is optimized [Bridi2018, 3.3].


EXACT = 1e-6  # two whole numbers that differ by less are equal
RELATIVE = 1e-9


class CostLimit(NamedTuple):
    """A limit on the cost of the jobs of a problem.

    Parameters
    ----------
    name : str
        The name of the objective.
    costs : JobCosts
        Its costs, which are minimized.
    limit, tolerance : float
        The greatest cost, and by how much it may be exceeded.
    scale : float
        What an excess is divided by, above 0.
    """

    name: str
    costs: JobCosts
    limit: float
    tolerance: float
    scale: float

    @property
    def most(self) -> float:
        """The greatest cost, with the tolerance."""
        return self.limit + self.tolerance

    def excess(self, wait: Ints, end: Ints) -> float:
        """Return the relative excess of waits and ends of all jobs in seconds; 0 if the limit is kept."""
        return max(0.0, (self.costs.value(wait, end) - self.most) / self.scale)


def whole_limits(limits: object) -> dict[str, float]:
    """Return limits with Python's numbers.

    Raises
    ------
    ProblemError
        If they are no mapping of names of objectives to finite numbers.
    """
    if not isinstance(limits, Mapping):
        raise ProblemError(f"limits are {shown(limits)}; expected {{objective: number}}, such as {{'late-jobs': 4}}")
    by_name: dict[str, float] = {}
    for name, value in limits.items():
        find_objective(name)
        if not is_number(value):
            raise ProblemError(f"the limit on {name} is {shown(value)}; expected a finite number")
        if is_whole(value):
            by_name[name] = int(value)
        else:
            by_name[name] = float(value)
    return by_name


def tolerance(limit: float, exact: bool) -> float:
    """Return by how much a value may exceed a limit; ``exact``: the value is a whole number."""
    if exact:
        return EXACT
    return RELATIVE * max(1.0, abs(limit))


class WithCosts(DispatchData, Protocol):
    """A dispatching problem with the costs of its objective and of its limits."""

    @property
    def costs(self) -> JobCosts:
        """The objective as costs of the starts of the jobs."""

    @property
    def limit_costs(self) -> tuple[CostLimit, ...]:
        """The limits as limits on costs of the starts of the jobs."""


def scale_of(problem: WithCosts, name: str, limit: float) -> float:
    """Return what an excess over a limit is divided by: the limit, for the end of the last job measured from now."""
    return abs(limit - origin_of(problem, name)) or 1.0


def origin_of(problem: WithCosts, name: str) -> int:
    """Return the value from which relative differences of an objective are measured.

    The end of the last job is a time on the clock of the problem, so it is measured from ``now``; others from 0.
    """
    if name == problem.objective:
        costs = problem.costs
    else:
        costs = find_objective(name).costs_of(problem)
    if isinstance(costs, LastEnd):
        return problem.now
    return 0


def cost_limits(problem: WithCosts) -> tuple[CostLimit, ...]:
    """Return the limits of a problem as limits on costs, for models and searches."""
    limits = []
    for name, limit in problem.limits.items():
        objective = find_objective(name)
        costs = objective.costs_of(problem)
        exact = True
        if isinstance(costs, Excess):
            exact = costs.is_unweighted
        if objective.sense == "minimize":
            most = limit
        else:
            most = -limit
        limits.append(CostLimit(name, costs, most, tolerance(limit, exact), scale_of(problem, name, limit)))
    return tuple(limits)


def broken_limits(problem: DispatchData, schedule: Schedule) -> Iterator[Violation]:
    """Yield a violation for each limit that a schedule of all jobs breaks, by the values that the verifier computes."""
    for name, limit in problem.limits.items():
        objective = find_objective(name)
        value = objective.checked_value(problem, schedule)
        sign = -1
        if objective.sense == "minimize":
            sign = 1
        over = sign * (value - limit)
        if over > tolerance(limit, is_whole(value)):
            most = "at least"
            if sign > 0:
                most = "at most"
            text = f"{name} is {value:.10g}, the limit is {most} {limit:.10g}"
            yield Violation(name, over, text)


def excess_of(problem: WithCosts, starts: Ints) -> float:
    """Return the total relative excess of starts in seconds, shape (jobs,); 0 if all limits are kept."""
    if not problem.limits:
        return 0.0
    jobs = problem.job_arrays
    starts = np.asarray(starts, np.int64)
    return sum(limit.excess(starts - jobs.submit, starts + jobs.duration) for limit in problem.limit_costs)


# --- Costs of the starts of jobs as expressions of the modelling language.
#
# With the start variable s, submit time q, weight and grace of a job (``objectives``), and its wait w = s - q::
#
#     Excess    sum over jobs of weight * (w - grace) + constant, with max(0, w - grace) where grace > 0
#     Late      sum over jobs of (w >= grace + 1)
#     LastEnd   max(ends of the jobs, other ends)


def total_cost(costs: JobCosts, jobs: Sequence[Interval], submit: Sequence[int], fixed: float | None) -> Expression:
    """Return the cost of the jobs, together with the cost of other jobs, whose starts are fixed.

    Parameters
    ----------
    costs : JobCosts
        The costs of the jobs.
    jobs : sequence of Interval
        The interval of each job.
    submit : sequence of int
        The submit time of each job in seconds.
    fixed : float or None
        The cost of the other jobs; None if there are none.

    Returns
    -------
    Expression
    """
    if isinstance(costs, LastEnd):
        return sl.max([*(v.end for v in jobs), *costs.others, *(() if fixed is None else (fixed,))])
    if isinstance(costs, Excess) and not (costs.grace > 0).any():  # linear in the starts
        begun = np.array(submit, np.int64) + costs.grace
        shift: Number = -int(begun.sum())
        weights: list[Number] = [1] * len(jobs)
        if not costs.is_unweighted:
            weights = costs.weight.tolist()
            shift = float((costs.constant - costs.weight * begun).sum())
        # made directly: sl.sum would check weights again that are known to be finite
        cost = Linear({v.start: w for v, w in zip(jobs, weights, strict=True) if w}, shift)
        if fixed is None:
            return cost
        return cost + fixed
    terms = cost_terms(costs, jobs, submit)
    if isinstance(costs, Late):
        cost = sl.sum(terms)
    else:
        cost = sl.sum(terms, weights=None if costs.is_unweighted else costs.weight.tolist())
        if costs.constant.any():
            cost = cost + float(costs.constant.sum())
    if fixed is None:
        return cost
    return cost + fixed


def cost_terms(costs: Excess | Late, jobs: Sequence[Interval], submit: Sequence[int]) -> list[Expression]:
    """Return for each job the wait beyond its grace in seconds, or 1 if it is late and 0 if not."""
    waits = [v.start - q for v, q in zip(jobs, submit, strict=True)]
    graces = costs.grace.tolist()
    if isinstance(costs, Late):
        return [sl.holds(w >= g + 1) for w, g in zip(waits, graces, strict=True)]
    # no job starts before its submit time: a grace of at most 0 needs no maximum
    return [sl.positive_part(w - g) if g > 0 else w - g for w, g in zip(waits, graces, strict=True)]


# --- Limits on objectives as constraints of a model: exact, in whole numbers.
#
# Let ``w[j]`` be the wait of job j, ``x[j] = max(0, w[j] - grace[j])``, and L the greatest cost::
#
#     LastEnd    v[j].end <= floor(L)                       for each job j
#     Late       sum_j (w[j] >= grace[j] + 1) <= floor(L)
#     Excess     sum_j C[j] x[j] <= floor(D (L - constants))
#
# where the weights are fractions ``C[j] / D``, D their least common denominator (expected waiting times of 3600, 18000 and
# 86400 s: D = 432000), divided by the common divisor of the C. If ``D * sum_j weight[j] x[j]`` can be greater than 2^53,
# as with the slowdown of many different durations, the row keeps its real weights, and L is lowered by the tolerance that
# the language has for real numbers, so that every answer keeps the limit; a schedule within this tolerance may be lost.
#
# Jobs that stay where they are (``neighbourhood``) subtract their part from the right-hand side, exactly.

LARGEST = 1 << 53  # a solver that computes in double precision adds whole numbers up to this one exactly


class Fixed(NamedTuple):
    """Jobs that stay: their indices in the costs of the limits, their waits and ends in seconds, shape (jobs,)."""

    jobs: Ints
    wait: Ints
    end: Ints


def add_limits(
    model: Model,
    limits: Sequence[CostLimit],
    intervals: Sequence[Interval],
    submit: Sequence[int],
    moving: Ints | None = None,
    fixed: Fixed | None = None,
) -> None:
    """Add the constraints of limits to a model.

    Parameters
    ----------
    model : Model
        The model.
    limits : sequence of CostLimit
        The limits of the whole problem.
    intervals : sequence of Interval
        The intervals of the jobs of the model, which are always present.
    submit : sequence of int
        The submit times of these jobs in seconds.
    moving : array of int, optional
        The indices of these jobs in the costs of the limits. None: all jobs, in their order.
    fixed : Fixed, optional
        All other jobs.
    """
    for limit in limits:
        for constraint in _constraints(limit, intervals, submit, moving, fixed):
            if isinstance(constraint, bool):
                if not constraint:
                    _forbid(model, f"limit on {limit.name}")
            else:
                model.add(constraint, f"limit on {limit.name}")


def _forbid(model: Model, name: str) -> None:
    """Make a model infeasible."""
    model.add(model.integer(name, 0, 0) >= 1, name)


def _constraints(
    limit: CostLimit,
    intervals: Sequence[Interval],
    submit: Sequence[int],
    moving: Ints | None,
    fixed: Fixed | None,
) -> Iterator[sl.Comparison | bool]:
    """Yield the constraints of one limit; True or False for one without a variable."""
    costs = limit.costs
    if isinstance(costs, LastEnd):
        most = math.floor(limit.most)
        yield max([*costs.others, *(() if fixed is None else fixed.end.tolist())], default=most) <= most
        yield from (v.end <= most for v in intervals)
        return
    if moving is None:
        own = costs
    else:
        own = costs.some(moving)
    terms = cost_terms(own, intervals, submit)
    if isinstance(costs, Late):
        spent = 0
        if fixed is not None:
            spent = int(costs.some(fixed.jobs).value(fixed.wait, fixed.end))
        yield sl.sum(terms) <= math.floor(limit.most) - spent if terms else spent <= limit.most
        return
    assert isinstance(own, Excess)
    reach = [max(0, v.start_hi - q - g) for v, q, g in zip(intervals, submit, own.grace.tolist(), strict=True)]
    row = _whole_row(costs, limit.most)
    if moving is None:
        weights = list(row.weights)
    else:
        weights = [row.weights[j] for j in moving.tolist()]
    spent = 0
    if fixed is not None:
        spent = _spent(row, costs, fixed)
    if not terms:
        yield spent <= row.most
    elif sum(c * x for c, x in zip(weights, reach, strict=True)) + abs(row.most) <= LARGEST:
        yield sl.sum(terms, weights=weights) <= row.most - spent
    else:
        left = 0.0
        if fixed is not None:
            left = costs.some(fixed.jobs).value(fixed.wait, fixed.end)
        margin = REAL_TOLERANCE * max(1.0, abs(limit.limit)) + float(own.constant.sum())
        yield sl.sum(terms, weights=own.weight.tolist()) <= limit.limit - margin - left


class _Row(NamedTuple):
    """``sum_j weights[j] * x[j] <= most``, in whole numbers."""

    weights: tuple[int, ...]
    most: int


def _whole_row(costs: Excess, most: float) -> _Row:
    """Return a limit on all jobs in whole numbers."""
    weights = [Fraction(rational(w)) for w in costs.weight.tolist()]
    denominator = math.lcm(*(w.denominator for w in weights))
    whole = [int(w * denominator) for w in weights]
    constant = sum((Fraction(rational(c)) for c in costs.constant[costs.constant != 0].tolist()), Fraction(0))
    divisor = math.gcd(*whole) or 1
    limit = (Fraction(most) - constant) * denominator / divisor
    return _Row(tuple(w // divisor for w in whole), math.floor(limit))


def _spent(row: _Row, costs: Excess, fixed: Fixed) -> int:
    """Return the part of the jobs that stay in the left-hand side."""
    over = np.maximum(0, fixed.wait - costs.grace[fixed.jobs]).tolist()
    return sum(row.weights[j] * x for j, x in zip(fixed.jobs.tolist(), over, strict=True))
