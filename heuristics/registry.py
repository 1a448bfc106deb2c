"""Heuristics: the base class of those that a name stands for, and the table of all, those of third parties too."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import Field, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, get_args

from ..backends.base import Limits, Status, WarmStart
from ..backends.base import names as backend_names
from ..backends.result import Incumbent, Result, close, refutation, refutes
from ..errors import WrongArgument
from ..models import Problem, Schedule, kind
from ..models.arguments import expect, named
from ..models.long_calls import Deadline
from ..models.plugins import PluginError, WrongAnswer
from ..models.problem import Value, objective_of, violations_of
from ..models.registry import Registry
from ..models.words import UnknownName, excerpt
from .errors import NotForThisProblem, NothingFound, NotTaken
from .method import Method, fields_of
from .search_parts import OnIncumbent, accepted, answer, improves

if TYPE_CHECKING:
    from .list_scheduling import Allocator

PLACED = ("dispatch", "profit")  # kinds of problems that list scheduling places
Begin = Schedule | None  # a feasible schedule to start from
Callback = OnIncumbent | None  # called with each better Incumbent; returning False stops the search
LIST_SCHEDULING = f"{__package__}.list_scheduling"


@named
@dataclass(frozen=True)
class Heuristic(Method):
    """A heuristic: a dataclass whose fields are its options, and which runs itself.

    A subclass has ``run``, and a field for each option, with the part of the text that it belongs to as its metadata
    (``ARGUMENT``, ``BACKEND``, ``START``, ``OPTION``). It takes a start if it has a field with ``START``. The values that an
    argument may have are ``metadata={**ARGUMENT, "values": (...)}``, those of all other fields follow from their types.

    Attributes
    ----------
    name : str
        The name in texts; if the class states none, its own name in lower case, with hyphens.
    kinds : tuple of str
        The kinds of problems that it supports; ``takes`` can be replaced by a more exact rule.
    condition : str
        What it supports, for the message about a problem of a supported kind that it does not take.
    seeded : bool
        Whether the result depends on the seed.
    unproved : tuple of str
        The kinds of problems of which it proves nothing: records in which it claims a bound, an optimum or that there is
        no schedule are wrong.
    """

    kinds: ClassVar[tuple[str, ...]] = PLACED
    condition: ClassVar[str] = ""
    seeded: ClassVar[bool] = False
    unproved: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        """Give a class that states no name its own one."""
        super().__init_subclass__()
        if "name" not in vars(cls):
            cls.name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", cls.__name__).lower()

    def run(self, problem: Any, limits: Limits, start: Begin, on_incumbent: Callback) -> Result:
        """Search for a schedule.

        Parameters
        ----------
        problem : Problem
            A problem that the heuristic takes.
        limits : Limits
            ``deadline``, ``threads`` (None: all cores) and ``seed`` are those of the call.
        start : Schedule or None
            A feasible schedule to start from.
        on_incumbent : callable or None
            To be called with each better Incumbent; returning False stops the search.

        Returns
        -------
        Result
            ``answer`` makes one of a schedule. ``Incumbents`` reports incumbents, keeps to a start and makes the result.

        Raises
        ------
        NothingFound
            If there is no schedule to return.
        """
        raise PluginError(f"{type(self).__name__} has no method run; see docs/extending.md")

    # --- What it supports, and what is compiled before its time counts.

    @classmethod
    def takes(cls, problem: Problem) -> bool:
        """Return whether it supports a problem."""
        return problem.kind in cls.kinds

    @classmethod
    def refused(cls, problem: Problem) -> tuple[str, ...]:
        """Return what of a problem it does not support, in words, for messages; empty: not known."""
        return ()

    @classmethod
    def _condition_for(cls, problem: Problem) -> str:
        """Return the part of ``condition`` that concerns problems of this kind; without a method of its own, all of it."""
        return cls.condition

    @classmethod
    def _supported(cls, problem: Problem) -> str:
        """Return what it supports, and what of a problem it does not."""
        words = cls.refused(problem)
        return f"supports only {cls._condition_for(problem)}" + (f"; this one has {', '.join(words)}" if words else "")

    @classmethod
    def warm_up(cls, problem: Problem) -> None:
        """Compile the kernels that it needs for a problem: without a method of its own, those of list scheduling."""
        if problem.kind in PLACED:
            kind.resolve(f"{LIST_SCHEDULING}:warm_up")()

    @classmethod
    def warm_up_late(cls, problem: Problem) -> tuple[str, ...]:
        """Return functions, as "module:function", that compile what ``warm_up`` needs late.

        A second process calls them while ``warm_up`` runs, if the kernels are not in the cache.
        """
        if problem.kind in PLACED:
            return (f"{LIST_SCHEDULING}:warm_up_late",)
        return ()

    # --- Its text.

    @classmethod
    def arguments(cls) -> tuple[str, ...]:
        """Return the texts that may follow the colon of its name; empty: none, or any."""
        return next((tuple(f.metadata.get("values", ())) for f in cls._with("argument")), ())

    @classmethod
    def takes_start(cls) -> bool:
        """Return whether it takes a start."""
        return bool(fields_of(cls, "start"))

    @property
    def heuristic(self) -> str:
        """Name of the heuristic."""
        return self.name

    @property
    def argument_text(self) -> str:
        """What stands after the colon: an order or a rule; "" for none."""
        given = next((getattr(self, f.name) for f in self._with("argument")), None)
        if given is None:
            return ""
        return str(given)

    @classmethod
    def obeyed(cls) -> frozenset[str]:
        """Return the start, if the heuristic takes one."""
        return frozenset(("warm_start",) if cls.takes_start() else ())

    def check(self, problem: Problem) -> None:
        """Raise UnknownName if the heuristic is none for problems of this kind, NotTaken if it does not take this one."""
        if not self.takes(problem):
            fitting = [name for name, heuristic in HEURISTICS.usable() if heuristic.takes(problem)]
            known = [*fitting, *backend_names()]
            if self.condition and problem.kind in self.kinds:
                raise NotTaken(self.name, problem.kind, self._supported(problem), known)
            note = ""
            if self.condition:
                note = f", which {self._supported(problem)}"
            raise UnknownName(f"method of {problem.kind} problems", self.name, known, note)

    def check_parts(self) -> None:
        """Raise UnknownName for an unknown argument or backend."""
        values = self.arguments()
        if values and self.argument_text not in values:
            raise UnknownName(f"argument of {self.name}", self.argument_text, list(values), f" in {self.text!r}")
        if self.backend_name and self.backend_name not in backend_names():
            known = [f"@{name}" for name in backend_names()]
            raise UnknownName(f"backend of {self.name}", f"@{self.backend_name}", known, f" in {self.text!r}")

    # --- A run with what all heuristics share.

    def solve(
        self,
        problem: Problem,
        limits: Limits | None = None,
        start: Begin = None,
        on_incumbent: Callback = None,
    ) -> Result:
        """Run the heuristic; after Ctrl-C return the last incumbent with the message "interrupted".

        A start that violates the problem is rejected: the heuristic runs without it, and ``warm_start`` of the result has
        the reason. The result is never worse than a feasible start.

        Raises
        ------
        NotForThisProblem
            If the heuristic does not support the problem.
        TypeError
            If the heuristic takes no start, or if it returns no Result.
        NothingFound
            If the heuristic finds nothing and there is no start; with the message "interrupted", if Ctrl-C arrives before
            the first incumbent.

        Notes
        -----
        Errors of ``run`` and of the callback are passed on.
        """
        from ..backends.solver_thread import INTERRUPTED, catch_first

        if not self.takes(problem):
            if self.condition:
                only = self._supported(problem)
            else:
                only = f"does not support {problem.kind} problems"
            raise NotForThisProblem(f"{self.name} {only}")
        if start is not None and not self.takes_start():
            others = ", ".join(name for name, each in HEURISTICS.usable() if each.takes_start())
            raise WrongArgument(f"{self.name} takes no start; these heuristics do: {others}")
        limits = (Limits() if limits is None else limits).begun()
        latest = _LatestSchedule(on_incumbent)
        start, fate = accepted(problem, start)
        try:
            result = self.run(problem, limits, start, latest)
            if not isinstance(result, Result):
                raise WrongArgument(
                    f"{self.name} returned {type(result).__name__}; a heuristic returns a Result: "
                    "schedlab.heuristics.answer(problem, schedule) makes one"
                )
        except NothingFound as e:
            if start is None:
                raise
            result = answer(problem, start, message=str(e))
        except KeyboardInterrupt as e:
            catch_first(e)
            schedule = latest.schedule()
            if schedule is None:
                schedule = start
            if schedule is None:
                raise NothingFound(INTERRUPTED) from None
            result = answer(problem, schedule, message=INTERRUPTED)
        self._check_returned(result)
        if not _is_own(type(self)):  # those of schedlab have verified it
            _verify(result, problem)
        return self._completed(result, problem, start, fate, latest, limits.deadline)

    def _check_returned(self, result: Result) -> None:
        """Raise WrongAnswer if the status or the schedule of a result is none."""
        if result.status not in get_args(Status):
            known = ", ".join(get_args(Status))
            raise WrongAnswer(
                f"{self.name} returned a Result of status {excerpt(result.status)}; expected one of {known}"
            )
        if result.status in ("optimal", "feasible") and not isinstance(result.schedule, Schedule):
            raise WrongAnswer(
                f"{self.name} returned a Result of status {result.status!r} with the schedule "
                f"{excerpt(result.schedule)}; expected a Schedule: schedlab.heuristics.answer(problem, schedule) makes a "
                "Result of one"
            )

    def _completed(
        self,
        result: Result,
        problem: Problem,
        start: Schedule | None,
        fate: WarmStart,
        latest: _LatestSchedule,
        deadline: Deadline,
    ) -> Result:
        """Return the start if it is better than the result; add what the heuristic has left out."""
        if start is not None and result.status != "error":
            value = objective_of(problem, start)
            if result.objective is None or improves(problem, value, result.objective):
                result = answer(problem, start, message=result.message, details=result.details)
            if result.warm_start.fate == "none":
                result.warm_start = replace(fate, returned=not improves(problem, result.objective, value))
        elif result.warm_start.fate == "none":
            result.warm_start = fate
        result.solver = result.solver or self.name
        result.incumbents = result.incumbents or latest.trace
        total = deadline.elapsed
        result.phases = result.phases or {"build": 0.0, "lower": 0.0, "solve": total, "total": total}
        return result


def _is_own(heuristic: type[Heuristic]) -> bool:
    """Return whether a heuristic is one of schedlab."""
    return heuristic.run.__module__ == OWN_MODULE


def _verify(result: Result, problem: Problem) -> None:
    """Make a result an error if its schedule violates the problem, or if its objective is not that of its schedule."""
    if result.schedule is None or result.status == "error":
        return
    result.violations = violations_of(problem, result.schedule)
    if result.violations:
        result.fail(f"the schedule violates the problem: {result.violations[0].message}")
        return
    value = objective_of(problem, result.schedule)
    if result.objective is not None and not _same(result.objective, value):
        result.fail(
            f"the result says {result.objective} is the objective of its schedule; the problem computes {value}"
        )
        return
    result.objective = value
    if refutes(value, result.bound, problem.sense):
        result.fail(refutation(result.bound, value))


def _same(one: Value, other: Value) -> bool:
    values, others = (v if isinstance(v, tuple) else (v,) for v in (one, other))
    return len(values) == len(others) and all(map(close, values, others))


class _LatestSchedule:
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
        if self.on_incumbent is None:
            return None
        return self.on_incumbent(news)


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
        raise NotForThisProblem(
            f"the answers of relaxations cannot be read as schedules of {problem.kind} problems, whose kind has no allocator; "
            "an Encoding(..., relaxation=False) must have the schedules of the problem alone, and with restriction=True some of them"
        )
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
    used = [HEURISTICS[heuristic] for heuristic in (start, name) if heuristic is not None]
    known = kind.known(problem.kind)
    places: tuple[str, ...] = ()
    if known is not None:
        places = known.warm_up
    late = [place for heuristic in used for place in heuristic.warm_up_late(problem)]
    if known is not None and name is None:
        places += known.solver_warm_up
        late += known.solver_warm_up_late
    if used or places:
        from ..models.compiled import progress_line, second_process  # imports numba

        with progress_line(), second_process(tuple(dict.fromkeys(late))):
            for place in places:
                kind.resolve(place)()
            for heuristic in used:
                heuristic.warm_up(problem)
    if known is not None and known.bound_warm_up is not None and name is None:
        kind.resolve(known.bound_warm_up)(problem)


def _check(label: str, registered: object) -> None:
    """Raise PluginError if an object is no class of heuristics, or states something of a wrong type."""
    if not isinstance(registered, type) or not issubclass(registered, Heuristic):
        raise PluginError(f"{label} is not a subclass of schedlab.heuristics.Heuristic: {registered!r:.100}")
    for name, wanted in STATED.items():
        try:
            expect(f"{name} of {label}", getattr(registered, name), wanted)
        except WrongArgument as e:
            raise PluginError(str(e)) from None
    if registered.run is Heuristic.run or not callable(registered.run):
        raise PluginError(f"run of {label} is {excerpt(registered.run)}; expected a method of its own")
    lost = [name for name, value in vars(registered).items() if isinstance(value, Field)]
    if lost:
        raise PluginError(
            f"{label} is no dataclass, so that {lost[0]} is no field; write @dataclass(frozen=True) above it"
        )
    for declared in fields(registered):
        values = declared.metadata.get("values", ())
        try:
            expect(f"values of {declared.name} of {label}", values, tuple[str, ...])
        except WrongArgument as e:
            raise PluginError(str(e)) from None


STATED = {"kinds": tuple[str, ...], "condition": str, "seeded": bool, "unproved": tuple[str, ...]}
"""The types of what a class of heuristics states, for messages to third parties."""
CLASSES = {
    "multi-search": "MultiSearch",
    "first-solution": "FirstSolution",
    "rule": "Rule",
    "delay-search": "DelaySearch",
    "relaxation-search": "RelaxationSearch",
    "lns": "Lns",
    "lagrangian": "Lagrangian",
    "branch-and-bound": "BranchAndBound",
    "dp": "DynamicProgram",
    "greedy": "Greedy",
    "backtracking": "Backtracking",
    "serial-sgs": "SerialSgs",
    "multi-sgs": "MultiSgs",
    "bounds": "Bounds",
}
OWN_MODULE = f"{__package__}.own"
OWN = {name: f"{OWN_MODULE}:{attribute}" for name, attribute in CLASSES.items()}
HEURISTICS: Registry[type[Heuristic]] = Registry("heuristic", "schedlab.heuristics", OWN, _check)
"""The heuristics by name; a third party adds one by an entry point, a script by ``HEURISTICS.register(name, Class)``."""
