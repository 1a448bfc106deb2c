"""The heuristics that can be named as a method or as a warm start: those of schedlab and of third parties."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, get_args

from ..backends import Incumbent, Result, UnknownName, WarmStart
from ..backends.base import Status
from ..backends.gaps import close, refutation, refutes
from ..errors import WrongArgument
from ..models import Problem, Schedule, kind
from ..models.arguments import expect
from ..models.compiled import progress_line
from ..models.compiling.second_process import second_process
from ..models.deadline import Deadline
from ..models.excerpt import excerpt, with_short_repr
from ..models.plugins import PluginError
from ..models.problem import Value, objective_of, violations_of
from ..models.registry import Registry
from ..models.returned import WrongAnswer
from ..models.unknown_names import similar
from .allocation import Allocator
from .errors import NotForThisProblem, NothingFound, UnknownOrder
from .incumbents import OnIncumbent, accepted, answer, improves
from .list_scheduling import warm_up

NO_OPTIONS: Mapping[str, Any] = {}


@with_short_repr
class HeuristicRequest(NamedTuple):
    """The arguments of one call of a heuristic.

    Parameters
    ----------
    argument
        The text after the colon of the method's name (``rule:est``: "est"); "" if there is none.
    time_limit
        Seconds; None: no limit.
    on_incumbent
        Called with each better Incumbent; returning False stops the search.
    seed
        Seed of the random numbers.
    threads
        Threads of the backend; None: all cores.
    backend
        The text after the @ of the method's name; "" if there is none.
    start
        The schedule to start from; None: no start. ``Heuristic.best`` passes on feasible ones only.
    options
        Further options by name, only those that the heuristic obeys (``Heuristic.options``).
    """

    argument: str = ""
    time_limit: float | None = None
    on_incumbent: OnIncumbent | None = None
    seed: int = 0
    threads: int | None = None
    backend: str = ""
    start: Schedule | None = None
    options: Mapping[str, Any] = NO_OPTIONS


@with_short_repr
class Heuristic(NamedTuple):
    """A heuristic in the table ``HEURISTICS``.

    Parameters
    ----------
    run
        The function that runs the heuristic. It returns a Result: ``answer`` makes one of a schedule, and ``Incumbents``
        reports incumbents, keeps to a start and makes the result.
    arguments
        Values that may follow the colon of its name; empty: none.
    kinds
        The problems that the heuristic supports: the names of their kinds, or a function that returns whether it
        supports a problem.
    seeded
        Whether the result depends on the seed.
    backends
        Whether the name of a backend may follow the @ of its name.
    usual
        The backend that is used if none is named.
    warm_up
        Function that compiles the kernels of the heuristic.
    warm_up_late
        Functions without arguments, as "module:function", that compile what ``warm_up`` needs late: a second process
        calls them while ``warm_up`` runs, if the kernels are not in the cache.
    starts
        Whether it takes a start (``HeuristicRequest.start``).
    options
        Names of the options that it obeys (``HeuristicRequest.options``).
    condition
        What it supports, for the message about a problem of a supported kind that it does not take: "jobs without chunks".
    method
        The class of its methods, derived from ``schedlab.methods.Search``; None: one is made from the values above.
    proves
        Whether it may prove a bound, an optimum or that there is no schedule; records that claim these of another one are wrong.
    variants
        Heuristics that run under the same name for problems that this one does not support. Their methods are those of
        this one.
    """

    run: Callable[[Any, HeuristicRequest], Result]
    arguments: tuple[str, ...] = ()
    kinds: tuple[str, ...] | Callable[[Problem], bool] = ("dispatch", "profit")
    seeded: bool = False
    backends: bool = False
    usual: str = ""
    warm_up: Callable[[], None] = warm_up
    warm_up_late: tuple[str, ...] = ()
    starts: bool = False
    options: tuple[str, ...] = ()
    condition: str = ""
    method: type[Any] | None = None
    proves: bool = True
    variants: tuple[Heuristic, ...] = ()

    def takes(self, problem: Problem) -> bool:
        """Return whether the heuristic, or one of its variants, supports a problem."""
        return self.variant(problem) is not None

    def variant(self, problem: Problem) -> Heuristic | None:
        """Return this heuristic or the one of its variants that supports a problem; None if none does."""
        if self.kinds(problem) if callable(self.kinds) else problem.kind in self.kinds:
            return self
        return next((each for each in self.variants if each.variant(problem) is not None), None)

    def best(self, problem: Problem, request: HeuristicRequest) -> Result:
        """Run the heuristic; after Ctrl-C return the last incumbent with the message "interrupted".

        A start that violates the problem is rejected: the heuristic runs without it, and ``warm_start`` of the result has
        the reason. The result is never worse than a feasible start.

        Raises
        ------
        NotForThisProblem
            If the heuristic does not support the problem.
        TypeError
            If the heuristic does not take the start or an option of the request, or if it returns no Result.
        NothingFound
            If the heuristic finds nothing and there is no start; with the message "interrupted", if Ctrl-C arrives before
            the first incumbent.

        Notes
        -----
        Errors of ``run`` and of the callback are passed on.
        """
        from ..backends.solver_thread import INTERRUPTED, catch_first

        own = self.variant(problem)
        if own is None:
            only = f"supports only {self.condition}" if self.condition else f"does not support {problem.kind} problems"
            raise NotForThisProblem(f"{self.name} {only}")
        if own is not self:
            return own.best(problem, request)
        self.check_request(request)
        deadline = Deadline(request.time_limit)
        latest = _Latest(request.on_incumbent)
        start, fate = accepted(problem, request.start)
        try:
            found = self.run(problem, request._replace(start=start, on_incumbent=latest))
            if not isinstance(found, Result):
                raise WrongArgument(
                    f"{self.name} returned {type(found).__name__}; a heuristic returns a Result: "
                    "schedlab.heuristics.answer(problem, schedule) makes one"
                )
        except NothingFound as e:
            if start is None:
                raise
            found = answer(problem, start, message=str(e))
        except KeyboardInterrupt as e:
            catch_first(e)
            schedule = latest.schedule()
            if schedule is None and start is None:
                raise NothingFound(INTERRUPTED) from None
            found = answer(problem, start if schedule is None else schedule, message=INTERRUPTED)  # type: ignore[arg-type]
        return self._completed(found, problem, start, fate, latest, deadline)

    def _completed(
        self,
        found: Result,
        problem: Problem,
        start: Schedule | None,
        fate: WarmStart,
        latest: _Latest,
        deadline: Deadline,
    ) -> Result:
        """Verify the result of a third party; add what the heuristic has left out; return the start if it is better."""
        if found.status not in get_args(Status):
            known = ", ".join(get_args(Status))
            raise WrongAnswer(
                f"{self.name} returned a Result of status {excerpt(found.status)}; expected one of {known}"
            )
        if found.status in ("optimal", "feasible") and not isinstance(found.schedule, Schedule):
            raise WrongAnswer(
                f"{self.name} returned a Result of status {found.status!r} with the schedule {excerpt(found.schedule)}; "
                "expected a Schedule: schedlab.heuristics.answer(problem, schedule) makes a Result of one"
            )
        if self.run.__module__ != OWN_MODULE:  # those of schedlab have verified it
            _verify(found, problem)
        if start is not None and found.status != "error":
            value = objective_of(problem, start)
            if found.objective is None or improves(problem, value, found.objective):
                found = answer(problem, start, message=found.message, details=found.details)
            if found.warm_start.fate == "none":
                found.warm_start = replace(fate, returned=not improves(problem, found.objective, value))
        elif found.warm_start.fate == "none":
            found.warm_start = fate
        found.solver = found.solver or self.name
        found.incumbents = found.incumbents or latest.trace
        total = deadline.elapsed
        found.phases = found.phases or {"build": 0.0, "lower": 0.0, "solve": total, "total": total}
        return found

    @property
    def name(self) -> str:
        """The name in the table ``HEURISTICS``."""
        found = (name for name, each in HEURISTICS.items() if each is self or any(v is self for v in each.variants))
        return next(found, "this heuristic")

    def check(self, argument: str) -> None:
        """Raise UnknownOrder if the argument is not one of ``arguments``."""
        if argument not in (self.arguments or ("",)):
            raise UnknownOrder(argument)

    def check_request(self, request: HeuristicRequest) -> None:
        """Raise TypeError if the heuristic does not take the start or an option of a request."""
        if request.start is not None and not self.starts:
            others = ", ".join(name for name, each in HEURISTICS.usable() if each.starts)
            raise WrongArgument(f"{self.name} takes no start; these heuristics do: {others}")
        for option in request.options:
            if option not in self.options:
                others = ", ".join(name for name, each in HEURISTICS.usable() if option in each.options)
                near = similar(option, self.options, 1)
                takes = f"did you mean {near[0]!r}?" if near else f"it takes: {', '.join(self.options) or 'none'}"
                also = f"; {option!r} is an option of: {others}" if others else ""
                raise WrongArgument(f"{self.name} takes no option {option!r}; {takes}{also}")


def _verify(found: Result, problem: Problem) -> None:
    """Make a result an error if its schedule violates the problem, or if its objective is not that of its schedule."""
    if found.schedule is None or found.status == "error":
        return
    found.violations = violations_of(problem, found.schedule)
    if found.violations:
        found.fail(f"the schedule violates the problem: {found.violations[0].message}")
        return
    value = objective_of(problem, found.schedule)
    if found.objective is not None and not _same(found.objective, value):
        found.fail(f"the result says {found.objective} is the objective of its schedule; the problem computes {value}")
        return
    found.objective = value
    if refutes(value, found.bound, problem.sense):
        found.fail(refutation(found.bound, value))


def _same(one: Value, other: Value) -> bool:
    values, others = (v if isinstance(v, tuple) else (v,) for v in (one, other))
    return len(values) == len(others) and all(map(close, values, others))


class _Latest:
    """A callback that keeps the last schedule of a heuristic and calls the callback of the user."""

    def __init__(self, on_incumbent: OnIncumbent | None) -> None:
        self.on_incumbent = on_incumbent
        self.trace: list[Incumbent] = []
        self.schedule: Callable[[], Schedule | None] = lambda: None

    def __call__(self, news: Incumbent) -> object:
        flat = news.placement
        if flat is not None:
            self.schedule = flat.kept().schedule  # a copy: the search changes its arrays
        elif (schedule := news.schedule()) is not None:
            self.schedule = lambda: schedule
        self.trace.append(Incumbent(*news))
        return None if self.on_incumbent is None else self.on_incumbent(news)


def allocator(problem: Problem, deadline: Deadline | None = None) -> Allocator:
    """Return an ``Allocator``, which converts the answers of a relaxation to schedules of this problem.

    Parameters
    ----------
    problem
        A problem of a kind that has an allocator, such as a dispatching or profit problem.
    deadline
        When its work must have ended; None: no limit.

    Returns
    -------
    Allocator
        The allocator of the problem.

    Raises
    ------
    NotForThisProblem
        For other kinds of problems.
    """
    known = kind.known(problem.kind)
    if known is None or known.allocator is None:
        raise NotForThisProblem(f"the answers of relaxations cannot be read as schedules of {problem.kind} problems")
    made: Allocator = kind.resolve(known.allocator)(problem, deadline)
    return made


def usual_start(problem: Problem) -> str:
    """Return the heuristic that ``+warm`` stands for in a method's name: the ``start`` of its problem kind.

    Parameters
    ----------
    problem
        The problem to solve.

    Returns
    -------
    str
        The name of a heuristic, such as "greedy" for eviction problems.

    Raises
    ------
    UnknownName
        If the kind of the problem has no usual start. The message lists the heuristics that support it.
    """
    known = kind.known(problem.kind)
    if known is None or known.start is None:
        fitting = [name for name, heuristic in HEURISTICS.usable() if heuristic.takes(problem)]
        raise UnknownName(f"usual start of {problem.kind} problems", "+warm", fitting or ["none"])
    return known.start


def warm_up_for(problem: Problem, name: str | None = None, start: str | None = None) -> None:
    """Compile the kernels that this problem needs, so that time measured afterwards is search time.

    Parameters
    ----------
    problem
        The problem to solve.
    name
        The heuristic whose kernels are compiled; None: those that warm starts and the answers of solvers need.
    start
        The heuristic that makes the start; its kernels are compiled, too.
    """
    named = [HEURISTICS[heuristic] for heuristic in (start, name) if heuristic is not None]
    used = [each.variant(problem) or each for each in named]
    known = kind.known(problem.kind)
    places: tuple[str, ...] = () if known is None else known.warm_up
    late = [place for heuristic in used for place in heuristic.warm_up_late]
    if known is not None and name is None:
        places += known.solver_warm_up
        late += known.solver_warm_up_late
    with progress_line(), second_process(tuple(dict.fromkeys(late))):
        for warm in (*map(kind.resolve, places), *(heuristic.warm_up for heuristic in used)):
            warm()


def _check(label: str, found: object) -> None:
    """Raise PluginError if an object is no Heuristic, or a field of it has a wrong type."""
    if not isinstance(found, Heuristic):
        raise PluginError(f"{label} is not a schedlab.heuristics.Heuristic: {found!r:.100}")
    for name, value in found._asdict().items():
        try:
            expect(f"{name} of {label}", value, FIELDS[name])
        except WrongArgument as e:
            raise PluginError(str(e)) from None
    if bad := next((each for each in found.options if not each.isidentifier()), None):
        raise PluginError(f"options of {label} has {bad!r}; expected names of arguments, such as 'rounds'")
    if found.method is not None and not any(base.__name__ == "Search" for base in found.method.__mro__):
        raise PluginError(
            f"method of {label} is {found.method.__name__}; expected a class derived from schedlab.methods.Search"
        )


FIELDS: Mapping[str, Any] = {
    "run": Callable[..., Any],
    "arguments": tuple[str, ...],
    "kinds": tuple[str, ...] | Callable[..., Any],
    "seeded": bool,
    "backends": bool,
    "usual": str,
    "warm_up": Callable[..., Any],
    "warm_up_late": tuple[str, ...],
    "starts": bool,
    "options": tuple[str, ...],
    "condition": str,
    "method": type[Any] | None,
    "proves": bool,
    "variants": tuple[Heuristic, ...],
}  # the types of the fields of a Heuristic, for messages to third parties


NAMES = (
    "multi-search",
    "first-solution",
    "rule",
    "delay-search",
    "relaxation-search",
    "lns",
    "lagrangian",
    "branch-and-bound",
    "dp",
    "greedy",
    "backtracking",
    "serial-sgs",
    "multi-sgs",
    "bounds",
)
OWN_MODULE = f"{__package__}.own"
OWN = {name: f"{OWN_MODULE}:{name.upper().replace('-', '_')}" for name in NAMES}
HEURISTICS: Registry[Heuristic] = Registry("heuristic", "schedlab.heuristics", OWN, _check)
"""The heuristics by name; a third party adds one by an entry point, a script by ``HEURISTICS.register(name, Heuristic(...))``."""
