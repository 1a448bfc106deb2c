"""Methods: objects with documented fields and a text with the same content; and heuristics, methods that run themselves."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import Field, dataclass, fields, replace
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, Union, get_args, get_origin, get_type_hints
from urllib.parse import quote, unquote

from ..backends.base import Limits, Status, WarmStart
from ..backends.base import names as backend_names
from ..backends.result import Incumbent, Result, close, refutation, refutes
from ..errors import WrongArgument, WrongValue
from ..models import Problem, Schedule, kind
from ..models.arguments import expect, named, plain_type
from ..models.long_calls import Deadline
from ..models.plugins import PluginError, WrongAnswer
from ..models.problem import Value as ObjectiveValue
from ..models.problem import objective_of, violations_of
from ..models.registry import Registry
from ..models.words import UnknownName, excerpt
from .errors import NotForThisProblem, NothingFound, NotTaken
from .search_parts import OnIncumbent, accepted, answer, improves

if TYPE_CHECKING:
    from .list_scheduling import Allocator

# --- Values of options and parameters as text: ``name=value``, where the value contains no separator of a method's text.

Value = bool | int | float | str
WORDS: dict[str, bool] = {"true": True, "false": False}
INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
EXPECTED = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


class Parameters(Mapping[str, Value]):
    """Parameters of a solver by its own names: a mapping that cannot be changed, so that methods can be compared.

    Parameters
    ----------
    values : mapping of str to bool, int, float or str
        The parameters.

    Raises
    ------
    TypeError
        If a name is no text, or a value has another type.
    """

    def __init__(self, values: Mapping[str, Value] | None = None) -> None:
        self._values = dict(sorted((values or {}).items()))
        for name, value in self._values.items():
            if not isinstance(name, str) or not isinstance(value, (bool, int, float, str)):
                raise WrongArgument(f"parameter {name!r}={value!r}: expected a bool, int, float or str")

    def __getitem__(self, name: str) -> Value:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __hash__(self) -> int:
        return hash(tuple(self._values.items()))

    def __repr__(self) -> str:
        return repr(self._values)


def to_text(value: Value) -> str:
    """Return a value as text; characters that have a meaning in methods, lists and shells are written as ``%2C``.

    Examples
    --------
    >>> to_text(True), to_text(0.5), to_text("a,b"), to_text("1")
    ('true', '0.5', 'a%2Cb', '%31')
    """
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return repr(value).replace("e+", "e")
    text = quote(value, safe="").replace("~", "%7E")
    # a text that reads like a number or a truth value: its first character is escaped
    if isinstance(from_text(text), str):
        return text
    return f"%{ord(value[0]):02X}{quote(value[1:], safe='')}"


def from_text(text: str) -> Value:
    """Return the value of a text: a truth value, a whole number, a number, or else a text.

    Examples
    --------
    >>> from_text("true"), from_text("3"), from_text("1e-3"), from_text("a%2Cb"), from_text("%31")
    (True, 3, 0.001, 'a,b', '1')
    """
    if text in WORDS:
        return WORDS[text]
    if "%" in text or "_" in text:  # no number: to_text writes numbers without them
        return unquote(text)
    if INTEGER.fullmatch(text):
        return int(text)
    try:
        return float(text)
    except ValueError:
        return text


def as_type(value: Value, wanted: Any) -> Any:
    """Convert a value to the type of a field.

    Parameters
    ----------
    value : bool, int, float or str
        The value, as ``from_text`` gives it.
    wanted : type
        The type of the field, for example ``int | None``.

    Returns
    -------
    object
        The value.

    Raises
    ------
    ValueError
        If the value has another type; the message says what is expected.
    """
    if get_origin(wanted) in (Union, UnionType):
        types = [t for t in get_args(wanted) if t is not NoneType]
    else:
        types = [wanted]
    for each in types:
        if type(value) is each:
            return value
        if each is float and type(value) is int:
            return float(value)
    raise WrongValue(" or ".join(EXPECTED.get(each, str(each)) for each in types))


Part = Literal["argument", "backend", "start", "option", "parameters", "lowering"]
# metadata of a field: the part of the text that it belongs to
ARGUMENT: dict[str, Part] = {"part": "argument"}  # after the first colon
BACKEND: dict[str, Part] = {"part": "backend"}  # of a search, after the @
LOWERING: dict[str, Part] = {"part": "lowering"}  # the class writes and reads these fields together
START: dict[str, Part] = {"part": "start"}  # None, the text of a heuristic, a heuristic, or a `Start`
PARAMETERS: dict[str, Part] = {"part": "parameters"}  # the solver's own
OPTION: dict[str, Part] = {"part": "option"}  # :NAME=VALUE, unless it has its default; "least": its smallest value
USUAL = "usual"  # the start that "+warm" stands for: the usual heuristic of the kind of problem
STARTERS = ("multi-search", "lns", "greedy", "multi-sgs", "a heuristic of the problem's kind")  # for messages
SECONDS = re.compile(r"(?P<seconds>\d+(\.\d+)?)s", re.ASCII)


@dataclass(frozen=True)
class Method:
    """A method: a solver with a formulation, or a heuristic. The subclasses have the fields.

    Each field has the part of the text that it belongs to as its metadata, so that the text follows from the fields:
    ``rounds: int | None = field(default=None, metadata=OPTION)``. So do classes of third parties.

    Attributes
    ----------
    name : str
        The backend or the heuristic: the first part of the text.
    seeded : bool
        Whether the result depends on the seed.
    """

    name: ClassVar[str]
    seeded: ClassVar[bool] = True

    def __post_init__(self) -> None:
        hints = _types_of(type(self))
        for f in fields(self):
            value = getattr(self, f.name)
            if part_of(f) == "start":
                value = start_text(value)
            elif part_of(f) == "parameters":
                if not isinstance(value, Parameters):
                    value = Parameters(value)
            elif part_of(f) in ("option", "argument", "backend") and value is not None and hints[f.name] is not Any:
                wanted = plain_type(hints[f.name])
                if part_of(f) == "argument" and wanted is not str and isinstance(value, str):
                    value = from_text(value)
                try:
                    value = as_type(value, wanted)
                except WrongValue as expected:
                    raise WrongValue(f"{f.name} of {self.name} is {value!r}; expected {expected}") from None
                expect(f"{f.name} of {self.name}", value, hints[f.name])
                if value < f.metadata.get("least", value):
                    raise WrongValue(f"{f.name} of {self.name} is {value}; expected at least {f.metadata['least']}")
            object.__setattr__(self, f.name, value)

    def __str__(self) -> str:
        return self.text

    @property
    def text(self) -> str:
        """The method as text; ``parse_method`` makes an equal method of it."""
        words = self._words()
        lowered = self.lowering_text
        start = self.start
        if lowered:
            words[-1] += f"@{lowered}"
        if start is not None:
            if start == USUAL:
                words[-1] += "+warm"
            else:
                words[-1] += f"+warm={start}"
        given = {f.name: getattr(self, f.name) for f in self._with("option") if getattr(self, f.name) != f.default}
        given |= self.solver_parameters
        return ":".join(words + [f"{name}={to_text(value)}" for name, value in given.items()])

    def _words(self) -> list[str]:
        """Return the name, with the backend, and the argument if there is one."""
        head = self.name
        for f in self._with("backend"):
            if getattr(self, f.name) != f.default:
                head += f"@{getattr(self, f.name)}"
        given = [getattr(self, f.name) for f in self._with("argument")]
        return [head, *(str(v) for v in given if v is not None)]

    @classmethod
    def _with(cls, *parts: Part) -> Iterator[Field[Any]]:
        return (f for f in fields(cls) if part_of(f) in parts)

    @property
    def lowering_text(self) -> str:
        """The text after the @ of a formulation; "" for the backend's own choice."""
        return ""

    @property
    def start(self) -> str | None:
        """The text of the `Start`; None: the method starts from nothing, or from a schedule that the caller gives."""
        return next((getattr(self, f.name) for f in self._with("start")), None)

    @property
    def solver_parameters(self) -> Parameters:
        """Parameters of the solver; empty for heuristics."""
        return next((getattr(self, f.name) for f in self._with("parameters")), Parameters())

    @property
    def heuristic(self) -> str | None:
        """Name of the heuristic; None for a solver."""
        return None

    @property
    def backend_name(self) -> str:
        """Name of the backend that is used; "" if there is none."""
        return next((getattr(self, f.name) or "" for f in self._with("backend")), "")

    @property
    def program(self) -> str:
        """The program whose version decides the outcome: the backend, or "schedlab" if there is none."""
        return self.backend_name or "schedlab"

    @classmethod
    def obeyed(cls) -> frozenset[str]:
        """Return the arguments of ``solve`` that these methods obey, beside time limit, threads, seed and callback."""
        return frozenset()

    @classmethod
    def options(cls) -> list[str]:
        """Return the names of the fields that ``solve`` takes as further arguments."""
        return [f.name for f in fields(cls) if part_of(f) in ("option", "lowering")]

    def with_options(self, **options: Any) -> Self:
        """Return the same method with other values of some fields."""
        return replace(self, **options)

    def check(self, problem: Problem) -> None:
        """Raise UnknownName if a part of the method does not exist for this problem."""


@dataclass(frozen=True)
class Start:
    """A heuristic whose schedule a method starts from.

    Parameters
    ----------
    method : Method or None
        The heuristic; None: the usual one of the problem's kind.
    time_limit : float or None
        Seconds; None: no limit of its own, within the limit of the call.
    """

    method: Method | None = None
    time_limit: float | None = None

    def __post_init__(self) -> None:
        if self.method is not None and (self.method.heuristic is None or self.method.start is not None):
            raise UnknownName("heuristic to start from", self.method.text, STARTERS)
        if self.time_limit is not None and not self.time_limit > 0:
            raise WrongValue(f"the time limit of a start is {self.time_limit}; expected seconds above 0")

    @property
    def text(self) -> str:
        """The start as text: "usual", "lns/5s", "first-solution/est"."""
        if self.method is None:
            words = [USUAL]
        else:
            words = self.method.text.split(":")
        return "/".join([*words, *([] if self.time_limit is None else [f"{self.time_limit:.15g}s"])])


def start_text(value: Start | Method | str | None) -> str | None:
    """Return the text of a start, which may be given as a heuristic; raise TypeError for anything else."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (Start, Method)):
        return (Start(value) if isinstance(value, Method) else value).text
    raise WrongArgument(f"warm_start is {value!r:.80}; expected a heuristic, as text or as a method, or a Start")


_types: dict[type[Method], dict[str, Any]] = {}


def _types_of(cls: type[Method]) -> dict[str, Any]:
    """Return the types of the fields of a class; reading them takes longer than all other work on a method."""
    if cls not in _types:
        _types[cls] = get_type_hints(cls, include_extras=True)
    return _types[cls]


def part_of(declared: Field[Any]) -> Part | None:
    """Return the part of the text that a field belongs to."""
    part: Part | None = declared.metadata.get("part")
    return part


def fields_of(cls: type[Method], part: Part) -> list[str]:
    """Return the names of the fields of a class that belong to a part of the text."""
    return [f.name for f in fields(cls) if part_of(f) == part]


# --- Heuristics: the base class of those that a name stands for, and the table of all, those of third parties too.

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


def _same(one: ObjectiveValue, other: ObjectiveValue) -> bool:
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
