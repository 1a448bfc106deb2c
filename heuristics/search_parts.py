"""What all searches share: the clock, the start, the trace of incumbents, the callback, the result."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from importlib import import_module
from inspect import signature
from types import TracebackType
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import numpy as np

from ..backends.base import WarmStart
from ..backends.result import Incumbent, Result
from ..errors import WrongArgument
from ..models import Problem, Schedule
from ..models.array_types import Ints
from ..models.kind import resolve
from ..models.long_calls import Deadline
from ..models.plugins import WrongAnswer, is_false, returned_number
from ..models.problem import Value, objective_of, violations_of
from ..models.words import excerpt, with_short_repr
from .errors import LimitsBroken

if TYPE_CHECKING:
    from ..models import Dispatch
    from .arrays import Placement

# --- A deadline that compiled kernels can see.


class KernelStopped(Exception):
    """A kernel stopped at the time limit; its arrays are incomplete."""


def running() -> Ints:
    """Return a ``stop`` array (int64, shape (1,), value 0) for a kernel that has no time limit."""
    return np.zeros(1, np.int64)


class Clock:
    """A deadline for kernels: ``stop[0]`` changes from 0 to 1 when the time limit is reached.

    A thread writes the number. Kernels run without Python's global lock and read it at no cost, and numba can cache
    them on disk. It cannot cache a kernel into which the address of a system function is compiled.

    Parameters
    ----------
    deadline
        When the search must end; None: no limit, and the search begins now.

    Examples
    --------
    >>> with Clock(Deadline(0.01)) as clock:
    ...     while clock.stop[0] == 0:
    ...         pass
    ...     clock.over
    True
    """

    def __init__(self, deadline: Deadline | None = None) -> None:
        if deadline is None:
            self.deadline = Deadline()
        else:
            self.deadline = deadline
        self.stop = running()
        self._timer: threading.Timer | None = None

    @property
    def elapsed(self) -> float:
        """Seconds since the search began."""
        return self.deadline.elapsed

    @property
    def left(self) -> float:
        """Seconds until the limit: at least 0, infinite without a limit."""
        return self.deadline.at_most(math.inf)

    @property
    def over(self) -> bool:
        """Whether the limit has been reached."""
        return self.deadline.passed

    def reserve(self, seconds: float) -> None:
        """Move the limit forward by ``seconds``, which the caller needs for its work after the search."""
        if self.deadline.limit is not None and seconds > 0:
            self.deadline = self.deadline.earlier(seconds)
            if self._timer is not None:
                self._timer.cancel()
                self._begin()

    def __enter__(self) -> Clock:
        self._begin()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _begin(self) -> None:
        left = self.deadline.remaining
        if left is None:
            return
        if left == 0:
            self._finish()
        elif left < threading.TIMEOUT_MAX:
            self._timer = threading.Timer(left, self._finish)
            self._timer.daemon = True
            self._timer.start()

    def _finish(self) -> None:
        self.stop[0] = 1


# --- Searches that are called directly: their kernels are compiled before their time limit begins.

P = ParamSpec("P")
R = TypeVar("R")
LOCK = threading.RLock()  # a thread waits while another one compiles; a warm-up may call the search itself
_done: set[str] = set()


def compiled_first(place: str, for_problem: bool = False) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a search compile its kernels before a call with a time limit, as ``schedlab.solve`` does.

    Parameters
    ----------
    place : str
        The function that compiles them, "module:function" within ``schedlab.heuristics``; it is called once.
    for_problem : bool, default False
        Whether it takes the problem, the first argument of the search, and is called for each.
    """

    def decorate(search: Callable[P, R]) -> Callable[P, R]:
        parameters = signature(search)

        @wraps(search)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            given = parameters.bind_partial(*args, **kwargs).arguments
            if given.get("time_limit") is not None:
                _compile(f"{__package__}.{place}", *([next(iter(given.values()))] if for_problem else []))
            return search(*args, **kwargs)

        return call

    return decorate


def _compile(place: str, *problem: object) -> None:
    with LOCK:
        if place in _done and not problem:
            return
        from ..models.compiled import progress_line  # imports numba

        _done.add(place)
        try:
            with progress_line():
                resolve(place)(*problem)
        except BaseException:
            _done.discard(place)
            raise


# --- The incumbents of a search, and its result.

OnIncumbent = Callable[[Incumbent], object]
SAME = 1e-12  # relative: smaller differences between two objective values are rounding errors


@with_short_repr
class Incumbents:
    """The incumbents of one search: it verifies the start, keeps the trace, calls the callback and makes the result.

    A start that is not feasible is rejected: ``start`` is then None, and ``warm_start`` has the reason. A feasible start
    is the first incumbent, and the result is never worse than it.

    Parameters
    ----------
    problem
        The problem that is solved.
    method
        Name of the search, the ``solver`` of its result.
    on_incumbent
        Called with each better Incumbent; returning False stops the search. None: no callback.
    warm_start
        The schedule to start from; None: no start.
    deadline
        When the search must end; None: no limit, and the search begins now.

    Attributes
    ----------
    start
        The start, if there is one and it is feasible; else None.
    warm_start
        The fate of the start.
    trace
        The incumbents so far.
    stopped
        Whether the callback has returned False.

    Examples
    --------
    >>> from schedlab.models import Project, Task
    >>> found = Incumbents(Project([Task.single("a", 3)], []), "by hand")
    >>> found.report(3, lambda: Schedule({"a": 0}, {"a": {"1": 1}}))
    True
    >>> found.report(4), len(found.trace)  # not better
    (True, 1)
    """

    def __init__(
        self,
        problem: Problem,
        method: str = "",
        on_incumbent: OnIncumbent | None = None,
        warm_start: Schedule | None = None,
        deadline: Deadline | None = None,
    ) -> None:
        if deadline is None:
            self.deadline = Deadline()
        else:
            self.deadline = deadline
        self.problem = problem
        self.method = method
        self.on_incumbent = on_incumbent
        self.trace: list[Incumbent] = []
        self.stopped = False
        self.start, self.warm_start = accepted(problem, warm_start)
        if self.start is not None:
            start = self.start
            self.report(objective_of(problem, start), lambda: start)

    @property
    def elapsed(self) -> float:
        """Seconds since the search began."""
        return self.deadline.elapsed

    def report(
        self,
        objective: Value,
        schedule: Callable[[], Schedule] | None = None,
        placement: Placement | None = None,
    ) -> bool:
        """Report a schedule, if it is better than all before.

        Parameters
        ----------
        objective
            Its objective value.
        schedule
            Returns the schedule; None: the schedule of ``placement``.
        placement
            The schedule as flat arrays; None: the search has none.

        Returns
        -------
        bool
            Whether the search should go on.

        Raises
        ------
        WrongAnswer
            If the objective is no finite number, or the schedule is no function.
        """
        if type(objective) is not int:
            objective = _checked_value(objective)
        if schedule is not None and not callable(schedule):
            raise WrongAnswer(
                f"schedule of report is {excerpt(schedule)}; expected a function that returns it: lambda: schedule"
            )
        if self.stopped or (self.trace and not improves(self.problem, objective, self.trace[-1].objective)):
            return not self.stopped
        self.trace.append(Incumbent(self.elapsed, objective, None))
        if self.on_incumbent is not None:
            make = placement.schedule if schedule is None and placement is not None else schedule
            news = self.trace[-1].giving(schedule=make, placement=placement)
            self.stopped = is_false(self.on_incumbent(news))
        return not self.stopped

    def result(
        self,
        schedule: Schedule,
        *,
        message: str = "",
        optimal: bool = False,
        details: Mapping[str, object] | None = None,
    ) -> Result:
        """Return the result of the search: the schedule, or the start if the schedule is not better.

        Parameters
        ----------
        schedule
            The best schedule of the search.
        message
            How it was found, for people.
        optimal
            Whether it is proven that no schedule is better than this one and the start.
        details
            Further properties of the search, by their names.
        """
        took = self.elapsed
        problem = self.problem
        result = answer(problem, schedule, message=message, optimal=optimal, details=details)
        fate = self.warm_start
        failed = result.status == "error"
        if self.start is not None and not failed and not improves(problem, result.objective, self.trace[0].objective):
            result = answer(problem, self.start, message=message, optimal=optimal, details=details)
            fate = replace(fate, returned=True)
        result.solver = self.method
        result.incumbents = self.trace
        result.warm_start = fate
        result.phases = {"build": 0.0, "lower": 0.0, "solve": took, "total": self.elapsed}
        return result


def _checked_value(objective: object) -> Value:
    """Return an objective value that a search reports; raise WrongAnswer if it is no finite number, or no tuple of them."""
    if isinstance(objective, tuple):
        values = objective
    else:
        values = (objective,)
    try:
        numbers = tuple(returned_number("", each) for each in values)
    except WrongAnswer:
        raise WrongAnswer(f"objective of report is {excerpt(objective)}; expected a finite number") from None
    if isinstance(objective, tuple):
        return numbers
    return numbers[0]


def accepted(problem: Problem, start: Schedule | None) -> tuple[Schedule | None, WarmStart]:
    """Return a start and its fate; None and the fate "rejected", with the reason, if it violates the problem.

    Raises
    ------
    TypeError
        If the start is not a Schedule.
    """
    if start is None:
        return None, WarmStart()
    if not isinstance(start, Schedule):
        hint = ""
        if isinstance(start, Result):
            hint = "; the schedule of a Result is its attribute `schedule`"
        raise WrongArgument(f"warm_start must be a Schedule, not {type(start).__name__}{hint}")
    if broken := violations_of(problem, start):
        return None, WarmStart("rejected", f"the start violates the problem: {broken[0].message}")
    return start, WarmStart("accepted")


def answer(
    problem: Problem,
    schedule: Schedule,
    *,
    message: str = "",
    optimal: bool = False,
    details: Mapping[str, object] | None = None,
) -> Result:
    """Return the result of a heuristic from its schedule: verified, with the objective that the problem computes.

    Parameters
    ----------
    problem
        The problem that is solved.
    schedule
        The schedule that was found.
    message
        How it was found, for people.
    optimal
        Whether it is proven that no schedule is better.
    details
        Further properties of the search, by their names.

    Returns
    -------
    Result
        Its status is "optimal" or "feasible", or "error" if the schedule violates the problem.

    Examples
    --------
    >>> from schedlab.models import Project, Task
    >>> project = Project([Task.single("a", 3)], [])
    >>> answer(project, Schedule({"a": 0}, {"a": {"1": 1}}), optimal=True).bound
    3
    """
    if not isinstance(schedule, Schedule):
        raise WrongArgument(
            f"answer: schedule is {excerpt(schedule)}; expected a Schedule (a heuristic without one raises NothingFound)"
        )
    version = str(import_module(__name__.partition(".")[0]).__version__)  # of schedlab
    result = Result("optimal" if optimal else "feasible", "", version, message=message, details=dict(details or {}))
    result.problem = problem
    result.schedule = schedule
    result.violations = violations_of(problem, schedule)
    if result.violations:
        result.fail(f"the schedule violates the problem: {result.violations[0].message}")
        return result
    result.objective = objective_of(problem, schedule)
    if optimal:
        result.bound = result.objective
    else:
        result.bound = None
    return result


def improves(problem: Problem, value: Value | None, than: Value | None) -> bool:
    """Return whether an objective value is better than another one by more than a rounding error; None is the worst."""
    if value is None or than is None:
        return value is not None
    sign = -1
    if problem.sense == "minimize":
        sign = 1
    values, others = (v if isinstance(v, tuple) else (v,) for v in (value, than))
    for one, other in zip(values, others, strict=True):
        gain = sign * (other - one)
        if abs(gain) > SAME * abs(other):
            return gain > 0
    return False


def keeping_limits(problem: Dispatch, schedule: Schedule) -> Schedule:
    """Return a schedule of all jobs; raise LimitsBroken if it breaks a limit on an objective."""
    from ..models.dispatch.objectives import broken_limits

    faults = [v.message for v in broken_limits(problem, schedule)]
    if faults:
        raise LimitsBroken(faults)
    return schedule
