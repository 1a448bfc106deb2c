"""The contract between the modelling language and a solver: limits, protocols, their checks, the registry, parameters.

A model with numbers that a solver cannot compute exactly is refused before it is built.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Literal, NamedTuple, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from ..errors import LoweringTooLarge as LoweringTooLarge
from ..errors import NoSolution, SolverUnavailable, WrongArgument, WrongValue
from ..models.arguments import expect, is_real
from ..models.comparing import hashable
from ..models.language import (
    Assignment,
    Bounds,
    Comparison,
    Constraint,
    Cumulative,
    ForbidExtent,
    Integer,
    Interval,
    Level,
    Linear,
    Model,
    ModelError,
    Precedence,
    Stated,
)
from ..models.language.constraints import expressions_of, lags_of
from ..models.language.expressions import Atom, Function, atoms_below
from ..models.long_calls import Deadline, look
from ..models.plugins import REFERENCE, PluginError, WrongAnswer, explained, plain_name
from ..models.registry import Registry
from ..models.words import UnknownName as UnknownName
from ..models.words import excerpt, how_many_of, one_line, with_short_repr


class MissingConstruct(SolverUnavailable):
    """A lowering met a construct that it does not have; the driver then replaces what the backend ``lacks``."""


# --- The limits of a run: time, threads, seed, gap, deterministic limit, and parameters of the solver.

Value = bool | int | float | str
"""A value of a solver parameter."""
MOST_THREADS = 10_000  # of one call; solvers take 32-bit numbers


@with_short_repr
@hashable
@dataclass(frozen=True)
class Limits:
    """Conditions under which a run ends, the resources that it may use, and parameters of the solver.

    Parameters
    ----------
    time : float or None
        Wall time in seconds, counted from ``began``; None: no limit.
    threads : int or None
        Number of threads of the solver; None: the solver's default.
    seed : int
        Seed of the solver's random numbers.
    gap : float or None
        Relative gap between objective and bound at which the run stops; None: 0, or the least gap of the solver.
    deterministic : float or None
        Limit in the solver's own reproducible unit. CP-SAT: its deterministic time; HiGHS: nodes; CP Optimizer:
        branches.
    parameters : mapping of str to bool, int, float or str
        Parameters of the solver by the solver's own names. They are set after those that the backend chooses.
    exact : bool
        Whether the solver stops only at the optimum itself, as later objectives depend on it, not within 1e-6 of it.
    log : bool
        Whether to collect the solver's log. Without it the use of a warm start may be unknown ("none").
    began : float or None
        Reading of ``time.perf_counter`` when the call began, in seconds; None: it has not begun.
    """

    time: float | None = None
    threads: int | None = None
    seed: int = 0
    gap: float | None = None
    deterministic: float | None = None
    parameters: Mapping[str, Value] = field(default_factory=dict, hash=False)
    exact: bool = False
    log: bool = True
    began: float | None = field(default=None, compare=False, repr=False)

    @property
    def deadline(self) -> Deadline:
        """The time limit of the call that has begun, or of one that begins now."""
        if self.began is None:
            return Deadline(self.time)
        return Deadline(self.time, self.began)

    def begun(self) -> Limits:
        """Return the limits of a call that has begun, at the latest now."""
        if self.began is not None:
            return self
        return replace(self, began=self.deadline.began)

    def lasting(self, seconds: float | None) -> Limits:
        """Return the limits of a part of the call that begins now and takes at most ``seconds`` (None: no limit)."""
        return replace(self, time=seconds, began=Deadline().began)


# --- The contract between the modelling language and a solver: the protocols that a backend implements.
#
# A backend is a class that satisfies `Backend`. Its method ``compile`` lowers a model with at most one objective to a
# `Compiled`, whose method ``run`` solves it and reports incumbents and bounds to a `Watch`. ``driver.py`` does the rest.

# options of the linear lowerings
LoweringName = Literal["time-indexed", "pairwise", "energy"]
GridOption = int | tuple[int, int]  # a step in seconds, or (fine, coarse)
Side = Literal["restrict", "relax"]
Status = Literal["optimal", "feasible", "infeasible", "unbounded", "unknown", "unavailable", "error"]


@with_short_repr
@dataclass(frozen=True)
class Exactness:
    """The relation between a lowering and its model.

    Parameters
    ----------
    kind : {"exact", "restriction", "relaxation"}
        "exact": the lowering has the same solutions as the model. "restriction": it has fewer solutions, so that its
        bound is not a bound of the model. "relaxation": it has more solutions, so that its answer may violate the
        model.
    notes : tuple of str
        What else a reader of the result should know, for example which coefficients are rounded.
    """

    kind: Literal["exact", "restriction", "relaxation"] = "exact"
    notes: tuple[str, ...] = ()


@with_short_repr
@dataclass(frozen=True)
class WarmStart:
    """The use that a solver made of a warm start.

    Parameters
    ----------
    fate : {"none", "accepted", "repaired", "rejected"}
        "none": no start was given. "accepted": the solver took it as a solution. "repaired": the solver found a
        solution from it. "rejected": it was not used.
    reason : str
        Why it was repaired or rejected; may be empty.
    returned : bool
        Whether the result is the start itself, because nothing better was found.
    """

    fate: Literal["none", "accepted", "repaired", "rejected"] = "none"
    reason: str = ""
    returned: bool = False


@with_short_repr
@dataclass(frozen=True)
class Availability:
    """Whether a backend can be used on this machine.

    Parameters
    ----------
    name : str
        Name of the backend.
    version : str or None
        Version of its solver; None if the backend cannot be used.
    reason : str
        Why the backend cannot be used; empty if it can.
    """

    name: str
    version: str | None
    reason: str = ""

    @property
    def ok(self) -> bool:
        """Whether the backend can be used."""
        return self.version is not None


@with_short_repr
@dataclass
class Outcome:
    """The end of a run, as a backend reports it. The solutions themselves were reported to the `Watch`.

    Parameters
    ----------
    status : str
        One of the values of ``Status``.
    bound : float or None
        Bound on the objective, from below if the model is minimized and from above if it is maximized; None if unknown.
    log : str
        Log of the solver.
    message : str
        Why the run ended, for the user.
    warm : WarmStart
        The use that the solver made of the warm start.
    running : bool
        Whether the solver has not stopped yet, so that the compiled model cannot be solved again.
    """

    status: Status
    bound: float | None = None
    log: str = ""
    message: str = ""
    warm: WarmStart = field(default_factory=WarmStart)
    running: bool = False


OBJECTIVE = "objective 1"  # in a conflict: that it has a value (no element or piecewise is outside of its domain)

MINIMAL = "they cannot hold together; without any one of them, the others can"  # the reason of a conflict
UNTRIED = "they cannot hold together; smaller sets were not tried"


@with_short_repr
class Conflict(NamedTuple):
    """The constraints of an infeasible model that cannot hold together.

    Parameters
    ----------
    names : tuple of str or None
        Names of these constraints, and of variables whose domains take part; None if they are not known.
    reason : str
        How small the conflict is known to be, or why it is not known. ``MINIMAL`` is said of what was tested alone: models
        with these constraints, and without each one of them, were solved. What a solver says of its own is called so.
    """

    names: tuple[str, ...] | None
    reason: str


class NoConflict(Conflict):
    """No conflict, as the search for one found a solution of the model.

    The driver verifies the solution. If it is one, the result of a solve that ended as infeasible becomes an error.

    Attributes
    ----------
    solution : Assignment
    """

    solution: Assignment

    @classmethod
    def of(cls, solution: Assignment) -> NoConflict:
        """Return the outcome of a search that found this solution."""
        made = cls(None, "the model has a solution")
        made.solution = solution
        return made


class Watch(Protocol):
    """The receiver of the solutions and bounds of a running solver. Its methods may be called from any thread."""

    def solution(self, assignment: Assignment, bound: float | None = None) -> bool:
        """Report a solution.

        Parameters
        ----------
        assignment : Assignment
            The solution. Its objective value is computed again by the watch, not taken from the solver.
        bound : float or None
            Bound on the objective at this moment; None if unknown.

        Returns
        -------
        bool
            Whether the solver should go on.
        """

    def bound(self, value: float) -> bool:
        """Report a bound on the objective.

        Parameters
        ----------
        value : float
            Lower bound if the model is minimized, upper bound if it is maximized.

        Returns
        -------
        bool
            Whether the solver should go on.
        """


def compiled_repr(compiled: Any) -> str:
    """Return a compiled model in one line: its type and its size."""
    size = ", ".join(how_many_of(count, name, ",") for name, count in compiled.size.items() if isinstance(count, int))
    return one_line(f"{type(compiled).__name__}({size})")


class Compiled(Protocol):
    """A lowered model: the native object of a solver, and the map between its variables and those of the model.

    Attributes
    ----------
    native : object
        The solver's own model, to which users may add constraints.
    size : dict of str to int
        Size of the native model: at least "variables", "constraints" and "nonzeros".
    exactness : Exactness
        The relation between the native model and the model.
    """

    native: Any
    size: dict[str, int]
    exactness: Exactness

    def var(self, x: Interval | Integer) -> Any:
        """Return the native variables of a variable of the model.

        Parameters
        ----------
        x : Interval or Integer

        Returns
        -------
        object
            For an interval usually several variables. The type depends on the backend.
        """

    def assignment(self, answer: Any) -> Assignment:
        """Convert the solver's native answer to an assignment of the model.

        Parameters
        ----------
        answer : object
            What the solver returns after a solve.

        Returns
        -------
        Assignment

        Raises
        ------
        LookupError
            If the answer holds no solution.
        """

    def hint(self, assignment: Assignment) -> Any:
        """Return the values of all native variables, auxiliary ones included, under an assignment of the model.

        Parameters
        ----------
        assignment : Assignment

        Returns
        -------
        object
            Values in the form that the solver takes as a warm start.
        """

    def fix(self, assignment: Assignment) -> None:
        """Fix every native variable to its value in ``hint(assignment)``.

        This tests ``hint``: if the assignment satisfies the model, the fixed native model must stay feasible.
        """

    def run(self, watch: Watch, limits: Limits, warm: Assignment | None = None) -> Outcome:
        """Solve the native model.

        Parameters
        ----------
        watch : Watch
            Receives each solution and each bound. The run ends if one of its methods returns False.
        limits : Limits
        warm : Assignment or None
            The warm start. It may violate the model.

        Returns
        -------
        Outcome
        """

    def conflict(self, time_limit: float | None = None) -> Conflict:
        """Find constraints of an infeasible model that cannot hold together.

        Parameters
        ----------
        time_limit : float or None
            Wall time in seconds; None: no limit.

        Returns
        -------
        Conflict
        """


class Backend(Protocol):
    """One solver.

    It may have an attribute ``supports``, a frozenset of `decompositions.Construct`: the constructs that it takes. The
    driver replaces all others by simpler ones. A backend without it takes all constructs. In place of it a backend may have
    an attribute ``lacks``, the constructs that it refuses by raising `MissingConstruct`: they are replaced after such a
    refusal alone, so that other models are not searched for them.

    It may have an attribute ``obeys``, a subset of ``frozenset({"deterministic_limit", "parameters"})``: the arguments of
    ``solve`` that it obeys beside the time limit, threads and seed (``Limits``). The driver refuses them for other
    backends. Warm starts and gap limits are obeyed by the driver, for each backend. A backend that obeys "parameters"
    has a method ``check_parameters``, which gets a mapping of names to values and returns a dict with the values
    converted to their types (a text of the command line may stand for a number); it raises UnknownName for a name that
    the solver does not have and ValueError for a wrong value. It may have an attribute ``thread_parameters``, a
    frozenset of those parameters that are numbers of threads: the driver turns them into ``Limits.threads``.

    Attributes
    ----------
    name : str
        The name under which users select it, such as "cpsat".
    """

    name: str

    def availability(self) -> Availability:
        """Return the version of the solver, or the reason why it cannot be used.

        It imports the solver and catches ImportError.

        Returns
        -------
        Availability
        """

    def compile(self, model: Model, **options: Any) -> Compiled:
        """Lower a model, with its first objective alone.

        Parameters
        ----------
        model : Model
        **options
            Options of this backend, as keyword arguments with defaults.

        Returns
        -------
        Compiled

        Raises
        ------
        LoweringTooLarge
            If the lowering would be too large. It is raised before anything is built.
        SolverUnavailable
            If the solver is missing or cannot take the model.
        """


# --- Checks of what users give to a compiled model, and of what backends of third parties return to the driver.


COMPILED_PARTS = ("native", "size", "exactness", "var", "assignment", "hint", "run")


def own_variable(x: object, model: Model) -> None:
    """Raise ModelError if the argument of ``var`` is no interval or integer variable of the model that was compiled."""
    if not isinstance(x, (Interval, Integer)):
        raise ModelError(
            f"var({excerpt(x)}): expected an interval or an integer variable of model {model.name!r}, as Model.interval and "
            "Model.integer return them; those of a model that was read are model.intervals and model.integers"
        )
    if x.model.intervals is not model.intervals:
        raise ModelError(f"var({x}): {x} belongs to model {x.model.name!r}; the compiled model is {model.name!r}")


def own_values(assignment: object, model: Model, function: str) -> None:
    """Raise WrongArgument or ModelError if a value is no assignment that fits the model that was compiled."""
    if not isinstance(assignment, Assignment):
        raise WrongArgument(f"assignment of {function} is {excerpt(assignment)}; expected an Assignment of {model!r}")
    if not _fits(assignment, model):
        raise ModelError(
            f"assignment of {function} is one of model {assignment.model.name!r}; the compiled model is {model.name!r}"
        )


def _fits(assignment: Assignment, model: Model) -> bool:
    return len(assignment.start) == len(model.intervals) and len(assignment.integer) == len(model.integers)


def column_values(values: object, columns: int, what: str) -> NDArray[np.float64]:
    """Return the values of all columns; raise WrongArgument if they are none, NoSolution if one is not finite.

    Rows and columns that a user has added come after ours; their values are left out.
    """
    try:
        as_floats = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        as_floats = np.zeros((0, 0))
    if as_floats.ndim != 1 or as_floats.size < columns:
        raise WrongArgument(
            f"answer of assignment is {excerpt(values)}; expected {what}, or the values of {columns} columns"
        )
    if not np.isfinite(as_floats[:columns]).all():
        raise NoSolution("the answer holds no solution: a column has no finite value")
    return as_floats[:columns]


def checked_availability(solver: Backend) -> Availability:
    """Return whether a backend can be used; raise WrongAnswer if it returns something else."""
    here: object = solver.availability()
    if not isinstance(here, Availability):
        raise WrongAnswer(f"backend {solver.name!r}: availability returned {excerpt(here)}; expected an Availability")
    return here


def checked_compiled(solver: Backend, compiled: Any) -> Compiled:
    """Return what ``compile`` of a backend returned; raise WrongAnswer if it is no `Compiled`."""
    fault = _compiled_fault(compiled)
    if fault:
        raise WrongAnswer(f"backend {solver.name!r}: compile returned {excerpt(type(compiled).__name__)}, {fault}")
    return compiled  # type: ignore[no-any-return]


def _compiled_fault(compiled: Any) -> str | None:
    """Return what is wrong with what ``compile`` of a backend returned, and what was expected; None if it is a `Compiled`."""
    lacking = [part for part in COMPILED_PARTS if not hasattr(compiled, part)]
    if lacking:
        return f"which has no {' and no '.join(lacking)}; expected an object that follows Compiled"
    if not isinstance(compiled.exactness, Exactness):
        return f"whose exactness is {excerpt(compiled.exactness)}; expected an Exactness"
    if not isinstance(compiled.size, Mapping):
        return f"whose size is {excerpt(compiled.size)}; expected a mapping {{name: number}}"
    return None


def checked_outcome(name: str, outcome: object) -> Outcome:
    """Return what ``run`` of a compiled model returned; raise WrongAnswer if it is no `Outcome` of a known status."""
    who = f"backend {name!r}: run returned"
    if not isinstance(outcome, Outcome):
        raise WrongAnswer(f"{who} {excerpt(outcome)}; expected an Outcome")
    if outcome.status not in get_args(Status):
        raise WrongAnswer(f"{who} the status {excerpt(outcome.status)}; expected one of {', '.join(get_args(Status))}")
    if outcome.bound is not None and not is_real(outcome.bound):
        raise WrongAnswer(f"{who} the bound {excerpt(outcome.bound)}; expected a number or None")
    return outcome


def checked_solution(assignment: object, bound: object, model: Model) -> None:
    """Raise WrongAnswer if what a backend reports as a solution is no assignment of its model, or the bound no number."""
    if not isinstance(assignment, Assignment) or not _fits(assignment, model):
        raise WrongAnswer(
            f"the backend reported the solution {excerpt(assignment)}; expected an Assignment of {model!r}"
        )
    if bound is not None and not is_real(bound):
        raise WrongAnswer(f"the backend reported the bound {excerpt(bound)}; expected a number or None")


# --- Backends by name: those of schedlab, and those of third parties in the entry-point group ``schedlab.backends``.


OWN = {
    "cpsat": "schedlab.backends.cpsat.backend:CpSat",
    "highs": "schedlab.backends.highs:Highs",
    "cpo": "schedlab.backends.cpo:CpOptimizer",
    "pyomo": "schedlab.backends.pyomo:Pyomo",
}
BACKENDS: Registry[Callable[[], Backend]] = Registry("backend", "schedlab.backends", OWN)
"""The classes of the backends by name."""

ARGUMENTS = {"deterministic_limit": "deterministic", "parameters": "parameters"}
"""Arguments of ``solve`` that only some backends obey, with their fields of `Limits`."""
BACKEND_PARTS: Mapping[str, Any] = {
    "name": str,
    "availability": Callable[..., Any],
    "compile": Callable[..., Any],
    "supports": Set[str],
    "obeys": Set[str],
    "thread_parameters": Set[str],
}  # of a backend, with their types; the last three may be missing

_registered: dict[str, Backend] = {}


def names() -> list[str]:
    """Return the names of all backends, installed or not.

    Returns
    -------
    list of str
    """
    return list(dict.fromkeys([*BACKENDS, *_registered]))


def register(solver: Backend) -> None:
    """Make a backend known in this process, for example in a notebook; an installed package has an entry point.

    Parameters
    ----------
    solver : Backend
        It is used under its attribute ``name``, and replaces a backend that was registered under this name before.

    Raises
    ------
    PluginError
        If it is no object with the parts of a `Backend`, or a part has a wrong type.
    ValueError
        If a backend of schedlab has this name, or it has characters that have a meaning in the texts of methods.
    """
    check_backend("the backend", solver)
    if solver.name in OWN:
        raise WrongValue(f"the name {solver.name!r} belongs to a backend of schedlab")
    _registered[solver.name] = solver


def backend(name: str) -> Backend:
    """Return the backend with this name.

    Parameters
    ----------
    name : str
        One of `names`, or ``module:attribute``.

    Returns
    -------
    Backend

    Raises
    ------
    UnknownName
        If there is no such backend. The message gives similar names.
    PluginError
        If a backend of a third party cannot be imported or created.

    Examples
    --------
    >>> backend("cpsat").name
    'cpsat'
    """
    return _registered.get(name) or _installed(name)


@cache
def _installed(name: str) -> Backend:
    """Return a backend of schedlab, or one that an entry point names; the same object each time."""
    if name in OWN:
        return BACKENDS[name]()
    if name not in BACKENDS and isinstance(name, str) and REFERENCE.fullmatch(name):
        BACKENDS.adopt(name)
    if name not in BACKENDS:
        raise UnknownName("backend", name, names())
    label = BACKENDS.label(name)
    with explained(f"{label} cannot be created"):
        made = BACKENDS[name]()
    check_backend(label, made)
    return made


def check_backend(label: str, solver: object) -> None:
    """Raise PluginError if an object is no backend: a part lacks or has a wrong type; WrongValue for its name."""
    if isinstance(solver, type):
        raise PluginError(f"{label} is {excerpt(solver)}, a class; expected an object of it: {solver.__name__}()")
    if lacking := [part for part in ("name", "availability", "compile") if not hasattr(solver, part)]:
        raise PluginError(f"{label} is not a backend: {excerpt(solver)} has no {' and no '.join(lacking)}")
    for part, kind in BACKEND_PARTS.items():
        try:
            expect(f"{part} of {label}", getattr(solver, part, frozenset()), kind)
        except WrongArgument as e:
            raise PluginError(str(e)) from None
    plain_name("backend", solver.name)  # type: ignore[attr-defined]
    obeys: Set[str] = getattr(solver, "obeys", frozenset())
    if unknown := sorted(set(obeys) - set(ARGUMENTS)):
        raise PluginError(f"obeys of {label} has {unknown[0]!r}; expected {' or '.join(map(repr, sorted(ARGUMENTS)))}")
    if "parameters" in obeys and not hasattr(solver, "check_parameters"):
        raise PluginError(f"{label} obeys 'parameters' and has no check_parameters")


def available() -> dict[str, Availability]:
    """Return for each backend whether its solver is installed, in which version, or why it cannot be used.

    Returns
    -------
    dict of str to Availability

    Examples
    --------
    >>> available()["cpsat"].ok
    True
    """
    availability = {}
    for name in names():
        try:
            availability[name] = backend(name).availability()
        except PluginError as e:
            availability[name] = Availability(name, None, str(e))
        except Exception as e:  # a faulty backend of a third party must not hide the others
            availability[name] = Availability(name, None, f"{type(e).__name__}: {e}")
    return availability


# --- Values of solver parameters: conversion from texts to their types, and the errors for wrong names and values.

TRUE, FALSE = ("true", "on", "yes", "1"), ("false", "off", "no", "0")


class Parameter:
    """One parameter of one solver, for the messages of errors.

    Parameters
    ----------
    solver : str
        Name of the solver, such as "CP-SAT".
    name : str
        Name of the parameter.
    value : object
        The value that the user gave.
    """

    def __init__(self, solver: str, name: str, value: Any) -> None:
        self.solver = solver
        self.name = name
        self.value = value

    def wrong(self, expected: str) -> WrongValue:
        """Return the error for a wrong value; ``expected`` says which values are possible."""
        return WrongValue(
            f"the parameter {self.name} of {self.solver} cannot be {excerpt(self.value)}; expected is {expected}"
        )

    def as_bool(self) -> bool:
        """Return True or False; the texts are true, on, yes, 1 and false, off, no, 0."""
        text = str(self.value).strip().lower()
        if isinstance(self.value, (bool, str)) or self.value in (0, 1):
            if text in TRUE:
                return True
            if text in FALSE:
                return False
        raise self.wrong("true or false")

    def as_int(self, low: float = -math.inf, high: float = math.inf) -> int:
        """Return a whole number within the bounds."""
        try:
            number = None
            if isinstance(self.value, (int, str)):
                number = int(self.value)
        except ValueError:
            number = None
        if number is None or isinstance(self.value, bool) or not low <= number <= high:
            raise self.wrong(f"a whole number{_range(low, high)}")
        return number

    def as_float(self, low: float = -math.inf, high: float = math.inf) -> float:
        """Return a number within the bounds."""
        try:
            if isinstance(self.value, (int, float, str)):
                number = float(self.value)
            else:
                number = math.nan
        except (ValueError, OverflowError):
            number = math.nan
        if isinstance(self.value, bool) or not low <= number <= high:
            raise self.wrong(f"a number{_range(low, high)}")
        return number

    def as_choice(self, choices: Collection[str]) -> str:
        """Return one of the choices; capital and small letters do not matter."""
        matching = [name for name in choices if name.lower() == str(self.value).strip().lower()]
        if not matching:
            raise self.wrong(f"one of {', '.join(choices)}")
        return matching[0]

    def as_text(self) -> str:
        """Return a text."""
        if not isinstance(self.value, str):
            raise self.wrong("a text")
        return self.value

    def guessed(self) -> Value:
        """Return a text as the int, float or bool that it looks like; other values unchanged."""
        if not isinstance(self.value, str):
            if not isinstance(self.value, (bool, int, float)):
                raise self.wrong("a number, a text, true or false")
            return self.value
        for kind in (int, float):
            try:
                return kind(self.value)
            except ValueError:
                continue
        if self.value.lower() in ("true", "false"):
            return self.value.lower() == "true"
        return self.value


def _range(low: float, high: float) -> str:
    if math.isinf(high):
        if math.isinf(low):
            return ""
        return f" of at least {low:,}"
    return f" from {low:,} to {high:,}"


def check_all(
    solver: str,
    given: Mapping[str, Any],
    known: Iterable[str],
    refused: Mapping[str, str],
    convert: Callable[[Parameter], Value],
) -> dict[str, Value]:
    """Convert all parameters of a call.

    Parameters
    ----------
    solver : str
        Name of the solver, for messages.
    given : mapping of str to object
        The parameters of the call.
    known : iterable of str
        The names of all parameters of the solver.
    refused : mapping of str to str
        Parameters that cannot be given, with the reason or what to do instead.
    convert : callable
        Returns the value of a `Parameter`, converted to its type; it raises ValueError for a wrong value.

    Returns
    -------
    dict of str to bool, int, float or str

    Raises
    ------
    UnknownName
        If the solver has no parameter of this name.
    ValueError
        If a value is wrong, or a parameter is refused.
    """
    own = list(known)
    values: dict[str, Value] = {}
    for name, value in given.items():
        if name in refused:
            raise WrongValue(f"the parameter {name} of {solver} cannot be given: {refused[name]}")
        if name not in own:
            raise UnknownName(f"parameter of {solver}", name, sorted(set(own) - set(refused)))
        values[name] = convert(Parameter(solver, name, value))
    return values


def argument(name: str) -> str:
    """Return the reason why a parameter is refused that is an argument of ``solve``."""
    return f"give {name}=... instead"


# --- The arguments of a call that a backend obeys; all others are refused.


def require_obeyed(solver: Backend, limits: Limits) -> None:
    """Check that a backend obeys all limits that are given.

    Parameters
    ----------
    solver : Backend
        Its attribute ``obeys`` is the set of the arguments in ``ARGUMENTS`` that it obeys; without it, none.
    limits : Limits

    Raises
    ------
    TypeError
        If the backend does not obey one of the arguments. The message names the backends that do.
    """
    for argument, name in ARGUMENTS.items():
        if getattr(limits, name) in (None, {}) or argument in getattr(solver, "obeys", ()):
            continue
        others = [other for other in names() if argument in _obeyed_by(other)]
        raise WrongArgument(
            f"the backend {solver.name!r} does not obey {argument}=...; backends that do: {', '.join(others) or 'none'}"
        )


def _obeyed_by(name: str) -> frozenset[str]:
    try:
        return getattr(backend(name), "obeys", frozenset())
    except PluginError:
        return frozenset()


def checked_limits(solver: Backend, limits: Limits) -> Limits:
    """Convert the parameters of a backend; those that are numbers of threads become ``threads``.

    Parameters
    ----------
    solver : Backend
        Its attribute ``thread_parameters``, if it has one, is the set of its parameters that are numbers of threads.
    limits : Limits

    Returns
    -------
    Limits
        Its parameters are those that ``check_parameters`` of the backend returned, without numbers of threads.

    Raises
    ------
    UnknownName
        If the solver has no parameter of this name.
    ValueError
        If a value is wrong, or a number of threads is greater than ``limits.threads``.
    """
    if not limits.parameters:
        return limits
    values = dict(solver.check_parameters(limits.parameters))  # type: ignore[attr-defined]
    threads = limits.threads
    for name in sorted(set(values) & getattr(solver, "thread_parameters", frozenset())):
        threads = fewer_threads(name, values.pop(name), threads)
    return replace(limits, threads=threads, parameters=values)


def fewer_threads(name: str, wanted: object, threads: int | None) -> int | None:
    """Return the smaller one of a parameter for threads and ``threads``; 0 and "Auto" are the solver's default.

    Raises
    ------
    ValueError
        If the parameter is greater than ``threads``.
    """
    if not isinstance(wanted, int) or wanted <= 0:
        return threads
    if threads is not None and wanted > threads:
        raise WrongValue(f"the parameter {name}={wanted} is greater than threads={threads}; threads is an upper limit")
    return wanted


# --- The check that a solver can compute a model exactly.
#
# A model with larger numbers is refused before it is built.
#
# A sum ``c_1 x_1 + ... + c_n x_n + d`` is within a limit L if ``|c_1| X_1 + ... + |c_n| X_n + |d| <= L``, where ``X_i``
# is the greatest absolute value of ``x_i``. Then every partial sum, in any order, is within L too.


def require_range(model: Model, solver: str, limit: float, why: str) -> None:
    """Check that all numbers of a model are within a limit.

    Parameters
    ----------
    model : Model
    solver : str
        Name of the solver, for the message.
    limit : float
        The greatest absolute value of a time, an integer variable or a (partial) sum.
    why : str
        The reason for the limit, for the message.

    Raises
    ------
    SolverUnavailable
        If a number is beyond the limit. The message names the first such constraint, variable or objective.
    """
    for name, size in _sizes(model):
        look()
        if size > limit:
            require_horizon(model, solver)
            raise SolverUnavailable(
                f"{name}: values up to {float(size):.3g} are beyond what {solver} computes exactly "
                f"({limit:.3g}, {why}); use smaller units or coefficients"
            )


def require_horizon(model: Model, what: str) -> None:
    """Check that the latest starts of a model are declared or derived, not as good as unlimited.

    Parameters
    ----------
    model : Model
    what : str
        What needs a horizon, for the message.

    Raises
    ------
    SolverUnavailable
        If no horizon can be derived. The message says why, and what to do.
    """
    derived = model.derived_horizon
    if derived is not None and not derived.proved:
        raise SolverUnavailable(
            f"model {model.name!r} has no horizon, and none can be derived that cuts nothing off ({derived.reason}); "
            f"{what} needs one: give the latest start, as in Model(name, horizon=86400), or start windows to the intervals"
        )


def require_data(model: Model, solver: str, limit: int) -> None:
    """Check that no time, demand, capacity and bound of a variable is beyond a limit; raise SolverUnavailable else."""
    for name, size in variable_sizes(model):
        if size > limit:
            raise _too_great(name, size, solver, limit)
    for name, c in model.constraints:
        look()
        for size in _data(c):
            if size > limit:
                raise _too_great(name, size, solver, limit)


def _too_great(name: str, size: int, solver: str, limit: int) -> SolverUnavailable:
    return SolverUnavailable(
        f"{name}: {float(size):.3g} is beyond the greatest number that {solver} takes, {limit:.3g}; use larger units"
    )


def _data(c: Constraint) -> Iterable[int]:
    """Return the absolute values of the whole numbers of a constraint, without those of its expressions."""
    if isinstance(c, Precedence):  # of which models have most
        if c.at_most is None:
            return (abs(c.delay),)
        return (abs(c.delay), abs(c.at_most))
    if isinstance(c, Cumulative):
        demands = [d for d in c.demands if isinstance(d, int)]
        return [*demands, *(max(abs(time), level) for time, level in c.steps)]
    if isinstance(c, ForbidExtent):
        return [max(abs(lo), abs(hi)) for lo, hi in c.windows]
    if isinstance(c, Level):
        known = [height for _, _, height in c.changes if isinstance(height, int)]
        reach = sum(map(abs, known)) + sum(abs(amount) for _, amount in c.steps)
        numbers = (*(t for t, _ in c.steps), c.lo, c.hi, *(c.window or ()))
        return [reach, *(abs(number) for number in numbers if number)]
    if isinstance(c, Stated):
        return c.data()
    return map(abs, lags_of(c))


def variable_sizes(model: Model) -> Iterator[tuple[str, int]]:
    """Yield the name of each variable and its greatest absolute value."""
    for v in model.intervals:
        windows = v.windows
        yield v.name, max(-windows[0][0], windows[-1][1] + v.size_hi)
    for x in model.integers:
        yield x.name, max(abs(x.lo), abs(x.hi))


def _sizes(model: Model) -> Iterator[tuple[str, float]]:
    """Yield the name of each part of a model and the greatest absolute value in it."""
    yield from variable_sizes(model)
    bounds = Bounds()
    seen: set[Atom] = set()
    for name, c in model.constraints:
        yield from ((name, size) for size in _sums(expressions_of(c), bounds, seen))
        if isinstance(c, Comparison):
            yield name, max((abs(side) for side in (c.lo, c.hi) if not math.isinf(side)), default=0)
        yield from ((name, size) for size in _data(c))
    for e in model.objectives:
        yield from (("the objective", size) for size in _sums([e], bounds, seen))


def _sums(expressions: Sequence[Linear], bounds: Bounds, seen: set[Atom]) -> Iterator[float]:
    """Yield the greatest absolute value of each expression, and of the operands of functions not yet ``seen``."""
    for atom in atoms_below(expressions, seen):
        if isinstance(atom, Function):
            yield from (_total(e, bounds) for e in atom.operands)
    yield from (_total(e, bounds) for e in expressions)


def _total(e: Linear, bounds: Bounds) -> float:
    """Return ``|c_1| X_1 + ... + |c_n| X_n + |d|``."""
    bounds.of(e)
    return abs(e.constant) + sum(abs(c) * max(map(abs, bounds.of_atom(atom))) for atom, c in e.terms.items())


# --- Comparisons of whole numbers in lowest terms, for solvers that compute with tolerances.


def in_lowest_terms(c: Comparison) -> Comparison:
    """Return a comparison of whole numbers divided by the common divisor of its coefficients, with rounded bounds.

    If no whole number is between the bounds, the lower one becomes the greater. A solver's tolerance of 1e-6 is a whole unit where coefficients are 1e6 and more.

    Examples
    --------
    >>> from schedlab import Model
    >>> m = Model("m"); x, y = m.integer("x", 0, 9), m.integer("y", 0, 9)
    >>> in_lowest_terms(10 * x + 20 * y <= 39)
    x + 2*y <= 3
    """
    bounds = [b for b in (c.lo, c.hi) if not math.isinf(b)]
    if not (c.expr.terms and c.integral and all(type(b) is int for b in bounds)):
        return c
    divisor = math.gcd(*(int(k) for k in c.expr.terms.values()))
    if divisor <= 1:
        return c
    if math.isinf(c.lo):
        lo = c.lo
    else:
        lo = -(-int(c.lo) // divisor)
    if math.isinf(c.hi):
        hi = c.hi
    else:
        hi = int(c.hi) // divisor
    return Comparison(Linear({a: int(k) // divisor for a, k in c.expr.terms.items()}), lo, hi)
