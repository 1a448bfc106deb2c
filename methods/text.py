"""Methods by their texts: those that solve a formulation, or a model, by a solver, and the method that a text or arguments give."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, make_dataclass
from typing import Any, ClassVar, get_args

from ..backends import Limits, UnknownName, backend, names
from ..backends import names as backend_names
from ..backends.base import BACKENDS, MOST_THREADS, GridOption, LoweringName, Side
from ..backends.base import OWN as OWN_BACKENDS
from ..errors import SchedlabError, WrongArgument, WrongValue
from ..heuristics.method import (
    ARGUMENT,
    HEURISTICS,
    LOWERING,
    OPTION,
    PARAMETERS,
    SECONDS,
    START,
    USUAL,
    Heuristic,
    Method,
    Parameters,
    Start,
    Value,
    fields_of,
    from_text,
    usual_start,
)
from ..models import Problem
from ..models import kind as kinds
from ..models.arguments import Positive, is_real, is_whole, named
from ..models.comparing import hashable
from ..models.kind import find_formulation, formulation_source
from ..models.plugins import REFERENCE, NoSuchAttribute, is_module, load_reference
from ..models.registry import Registry
from ..models.words import similar

# --- The text of a linear lowering, after the @ of a method.
#
# ============================  ==========================================================================================
# ``pairwise``                  0-1 variables for the order of each pair of intervals; exact
# ``time-indexed``              a grid of 1 s; exact
# ``900s``                      a grid of 900 s; its answers are feasible
# ``900s-relax``                a relaxed grid of 900 s; its optimum is a bound
# ``60s..3600s-lp``             linear relaxation of a relaxed grid from 60 s (early) to 3,600 s (late)
# ``60s..3600s-energy``         linear relaxation by the energy in each grid cell; usually the strongest bounds
# ``60s..3600s-energy-integral``  the same with whole numbers
# ``lp``                        linear relaxation of the pairwise lowering
# ``auto-lp``                   linear relaxation of the lowering that is chosen by default
# ============================  ==========================================================================================

GRID = re.compile(
    r"(?P<fine>[1-9]\d*)s(\.\.(?P<coarse>[1-9]\d*)s)?(-(?P<form>relax|lp|energy|energy-integral))?", re.ASCII
)
WORDS: dict[str, dict[str, Any]] = {
    "": {},
    "pairwise": {"lowering": "pairwise"},
    "time-indexed": {"lowering": "time-indexed"},
    "lp": {"lowering": "pairwise", "integral": False},
    "auto-lp": {"integral": False},
}
FORMS: dict[str | None, dict[str, Any]] = {
    None: {},
    "relax": {"side": "relax"},
    "lp": {"side": "relax", "integral": False},
    "energy": {"lowering": "energy", "integral": False},
    "energy-integral": {"lowering": "energy"},
}
EXAMPLES = ["@pairwise", "@lp", "@time-indexed", "@900s", "@900s-relax", "@900s-lp", "@600s..36000s-energy"]
FIELDS = {"lowering": None, "grid": None, "side": "restrict", "integral": True}


def parse_lowering(text: str, where: str = "") -> dict[str, Any]:
    """Return the fields of a linear method for the text after the @.

    Parameters
    ----------
    text : str
        The text, such as "900s-relax".
    where : str
        Added to the message of an error: the whole method.

    Returns
    -------
    dict
        Values of ``lowering``, ``grid``, ``side`` and ``integral`` that are not the default.

    Raises
    ------
    UnknownName
        If the text is no lowering.

    Examples
    --------
    >>> parse_lowering("60s..900s-relax")
    {'grid': (60, 900), 'side': 'relax'}
    """
    if text in WORDS:
        return dict(WORDS[text])
    grid = GRID.fullmatch(text)
    if grid is None:
        raise UnknownName("lowering", f"@{text}", EXAMPLES, where)
    fine = int(grid["fine"])
    coarse = grid["coarse"]
    return {"grid": (fine, int(coarse)) if coarse else fine} | FORMS[grid["form"]]


def lowering_text(lowering: LoweringName | None, grid: GridOption | None, side: Side, integral: bool) -> str:
    """Return the text of a lowering.

    Raises
    ------
    ValueError
        If the values contradict each other.
    """
    if lowering is not None and lowering not in get_args(LoweringName):
        raise WrongValue(f"lowering is {lowering!r}; expected one of {', '.join(map(repr, get_args(LoweringName)))}")
    if side not in ("restrict", "relax"):
        raise WrongValue(f"side is {side!r}; expected 'restrict' or 'relax'")
    given = {"lowering": lowering, "side": side, "integral": integral}
    fields = {name: value for name, value in given.items() if value != FIELDS[name]}
    if grid is None:
        word = next((word for word, options in WORDS.items() if options == fields), None)
        if word is None:
            raise WrongValue(
                f"no lowering has {_shown(fields)} without a grid; give grid=seconds or grid=(fine, coarse)"
            )
        return word
    form = next((form for form, options in FORMS.items() if options == fields), "?")
    if form == "?":
        raise WrongValue(f"no lowering on a grid has {_shown(fields)}; {_advice(fields)}")
    steps = grid if isinstance(grid, tuple) else (grid,)
    if len(steps) not in (1, 2) or not all(type(s) is int and s > 0 for s in steps):
        raise WrongValue(f"grid is {grid!r}; expected seconds above 0, or a tuple (fine, coarse) of them")
    return "..".join(f"{s}s" for s in steps) + (f"-{form}" if form else "")


def _shown(fields: dict[str, Any]) -> str:
    return " with ".join(f"{name}={value!r}" for name, value in fields.items())


def _advice(fields: dict[str, Any]) -> str:
    if fields.get("lowering") == "pairwise":
        return "a grid belongs to lowering='time-indexed' or 'energy'"
    if fields == {"integral": False}:
        return "integral=False is for bounds, and a restriction has none: use side='relax'"
    return "a side belongs to lowering='time-indexed'"


# --- The methods that solve a formulation of a problem, or a model, by a solver.

MOST_NONZEROS = 20_000_000


@named
@hashable
@dataclass(frozen=True)
class SolverMethod(Method):
    """The base class of methods that use a solver; its fields come first in each of them.

    Parameters
    ----------
    post_bound : bool
        Whether the solver is given the bound that schedlab proves for the kind of problem (``ProblemKind.bound``), as a
        constraint on the objective of an exact formulation of the kind.
    """

    formulation: str | None = field(default=None, metadata=ARGUMENT)
    warm_start: Start | Method | str | None = field(default=None, metadata=START)
    parameters: Mapping[str, Value] = field(default_factory=Parameters, metadata=PARAMETERS)
    post_bound: bool = field(default=True, metadata=OPTION, kw_only=True)

    @property
    def backend_name(self) -> str:
        """Name of the backend."""
        return self.name

    @property
    def compile_options(self) -> dict[str, Any]:
        """Keyword arguments of the backend's ``compile``."""
        names = (name for name in self.options() if name != "post_bound")
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}

    @property
    def takes_bound(self) -> bool:
        """Whether a proved bound is posted: not in a relaxation, which is solved for a bound of its own."""
        return self.post_bound

    @classmethod
    def obeyed(cls) -> frozenset[str]:
        """Return the start, the gap, and what the backend says."""
        more: frozenset[str] = getattr(backend(cls.name), "obeys", frozenset())
        return frozenset(("warm_start", "gap_limit")) | more

    def check(self, problem: Problem) -> None:
        """Raise UnknownName for an unknown formulation."""
        if self.formulation is not None:
            find_formulation(problem, self.formulation, f" in {self.text!r}")

    def load(self) -> None:
        """Import the solver's package if its backend has a function for it."""
        load = getattr(backend(self.name), "load", None)
        if load is not None:
            load()


@named
@hashable
@dataclass(frozen=True)
class CpSat(SolverMethod):
    """OR-Tools CP-SAT.

    Parameters
    ----------
    formulation : str or None
        Name of a formulation of the problem, such as "counts", or ``module:attribute``; None: its first one. None for a model.
    warm_start : str, Method, Start or None
        The heuristic to start from: ``"usual"``, a text such as ``"lns/5s"``, ``Lns()``, or ``Start(Lns(), 5)``.
    parameters : mapping of str to bool, int, float or str
        Fields of CP-SAT's ``SatParameters``, such as ``{"linearization_level": 2}``.
    post_bound : bool
        Whether the solver is given the bound that schedlab proves, as a constraint; for projects.

    Examples
    --------
    >>> import schedlab as sl
    >>> sl.methods.CpSat("counts", warm_start="lns/5s", parameters={"num_workers": 1}).text
    'cpsat:counts+warm=lns/5s:num_workers=1'
    """

    name: ClassVar[str] = "cpsat"


@named
@hashable
@dataclass(frozen=True)
class CpOptimizer(SolverMethod):
    """IBM CP Optimizer.

    Parameters
    ----------
    formulation : str or None
        Name of a formulation of the problem, such as "pool", or ``module:attribute``; None: its first one. None for a model.
    warm_start : str, Method, Start or None
        The heuristic to start from: ``"usual"``, a text such as ``"lns/5s"``, ``Lns()``, or ``Start(Lns(), 5)``.
    parameters : mapping of str to bool, int, float or str
        Parameters of CP Optimizer, such as ``{"SearchType": "Restart"}``.
    post_bound : bool
        Whether the solver is given the bound that schedlab proves, as a constraint; for projects.

    Examples
    --------
    >>> import schedlab as sl
    >>> sl.methods.CpOptimizer("pool", parameters={"SearchType": "Restart"}).text
    'cpo:pool:SearchType=Restart'
    """

    name: ClassVar[str] = "cpo"


@named
@hashable
@dataclass(frozen=True)
class LinearMethod(SolverMethod):
    """The base class of methods that use a linear lowering."""

    lowering: LoweringName | None = field(default=None, metadata=LOWERING)
    grid: GridOption | None = field(default=None, metadata=LOWERING)
    side: Side = field(default="restrict", metadata=LOWERING)
    integral: bool = field(default=True, metadata=LOWERING)
    max_nonzeros: Positive = field(default=MOST_NONZEROS, metadata=OPTION)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.lowering == "time-indexed" and self.grid is not None:  # the same as the grid alone
            object.__setattr__(self, "lowering", None)
        if isinstance(self.grid, list):
            object.__setattr__(self, "grid", tuple(self.grid))
        lowering_text(self.lowering, self.grid, self.side, self.integral)  # raises ValueError

    @property
    def lowering_text(self) -> str:
        """The text after the @ of a formulation."""
        return lowering_text(self.lowering, self.grid, self.side, self.integral)

    @property
    def takes_bound(self) -> bool:
        """Whether a proved bound is posted: not in a relaxation, which is solved for a bound of its own."""
        relaxed = not self.integral or self.side == "relax" or self.lowering == "energy"
        return self.post_bound and not relaxed

    @property
    def compile_options(self) -> dict[str, Any]:
        """Keyword arguments of ``schedlab.backends.linear.lower`` that differ from its defaults."""
        usual = {"side": "restrict", "integral": True, "max_nonzeros": MOST_NONZEROS}
        return {name: value for name, value in super().compile_options.items() if value != usual.get(name)}


@named
@hashable
@dataclass(frozen=True)
class Highs(LinearMethod):
    """HiGHS, on a mixed-integer linear form of the model.

    Parameters
    ----------
    formulation : str or None
        Name of a formulation of the problem, such as "pool", or ``module:attribute``; None: its first one. None for a model.
    warm_start : str, Method, Start or None
        The heuristic to start from: ``"usual"``, a text such as ``"lns/5s"``, ``Lns()``, or ``Start(Lns(), 5)``.
    parameters : mapping of str to bool, int, float or str
        Options of HiGHS, such as ``{"mip_heuristic_effort": 0.2}``.
    lowering : {"pairwise", "time-indexed", "energy"} or None
        "pairwise" is exact. "time-indexed" is exact on a grid of 1 s. "energy" is a relaxation with a strong bound and
        needs a ``grid``. None: "time-indexed" if a ``grid`` is given or if the form is small, else "pairwise".
    grid : int, tuple of two ints, or None
        Step in seconds, or (fine, coarse): a step that grows from ``fine`` to ``coarse``.
    side : {"restrict", "relax"}
        On a grid: whether each answer is feasible for the model ("restrict"), or the optimum is a bound ("relax").
    integral : bool
        False: the linear relaxation, for a fast bound.
    max_nonzeros : int
        Most non-zeros of the form.
    post_bound : bool
        Whether the solver is given the bound that schedlab proves, as a constraint; for projects.

    Examples
    --------
    >>> import schedlab as sl
    >>> sl.methods.Highs("pool", grid=(60, 3600), lowering="energy", integral=False).text
    'highs:pool@60s..3600s-energy'
    """

    name: ClassVar[str] = "highs"


@named
@hashable
@dataclass(frozen=True)
class Pyomo(LinearMethod):
    """A solver that Pyomo can call, on the same linear form as HiGHS.

    Parameters
    ----------
    formulation : str or None
        Name of a formulation of the problem, such as "pool", or ``module:attribute``; None: its first one. None for a model.
    warm_start : str, Method, Start or None
        The heuristic to start from: ``"usual"``, a text such as ``"lns/5s"``, ``Lns()``, or ``Start(Lns(), 5)``.
    parameters : mapping of str to bool, int, float or str
        Options that are passed to the solver as they are.
    lowering : {"pairwise", "time-indexed", "energy"} or None
        As of ``Highs``.
    grid : int, tuple of two ints, or None
        As of ``Highs``, in seconds.
    side : {"restrict", "relax"}
        As of ``Highs``.
    integral : bool
        False: the linear relaxation, for a fast bound.
    max_nonzeros : int
        Most non-zeros of the form.
    solver : object
        Name for Pyomo's ``SolverFactory``, such as "cbc"; or a solver object, which has no text.
    post_bound : bool
        Whether the solver is given the bound that schedlab proves, as a constraint; for projects.

    Examples
    --------
    >>> import schedlab as sl
    >>> sl.methods.Pyomo("pool", lowering="pairwise", solver="cbc").text
    'pyomo:pool@pairwise:solver=cbc'
    """

    name: ClassVar[str] = "pyomo"
    solver: Any = field(default="appsi_highs", metadata=OPTION)


# --- The method ``auto`` as an object.


@named
@dataclass(frozen=True)
class Auto(Method):
    """The portfolio of the problem's kind: heuristics, a relaxation for the bound, a solver on what is small enough.

    The steps run one after another, each with all threads and from the best schedule so far, until the gap is closed or
    the time is over. ``Result.details["steps"]`` has the outcome of each.

    Parameters
    ----------
    warm_start : str, Method, Start or None
        A heuristic whose schedule is the first one.

    Examples
    --------
    >>> import schedlab as sl
    >>> r = sl.solve(sl.load("eurora_99").problem.at(43200, first=5), "auto", time_limit=60)
    >>> r.status, r.gap
    ('optimal', 0.0)
    """

    name: ClassVar[str] = "auto"
    warm_start: Start | Method | str | None = field(default=None, metadata=START)

    @classmethod
    def obeyed(cls) -> frozenset[str]:
        """Return the start and the gap."""
        return frozenset(("warm_start", "gap_limit"))


# --- The class of a method by the name of its backend or heuristic; classes for third parties are made from what they state.

OWN: dict[str, type[Method]] = {
    c.name: c
    for c in (
        Auto,
        *(CpSat, Highs, CpOptimizer, Pyomo),
    )
}
_classes_made: dict[tuple[str, int], type[Method]] = {}


def method_class(name: str, where: str = "") -> type[Method]:
    """Return the class of the methods of a backend, or a heuristic.

    A backend of a third party may bring its class as the attribute ``method``. Otherwise a class is made: its options are
    the keyword arguments of the backend's ``compile``.

    Parameters
    ----------
    name : str
        Name of the backend or heuristic.
    where : str
        Added to the message of an error: the whole text.

    Returns
    -------
    type
        A subclass of ``Method``.

    Raises
    ------
    UnknownName
        If there is no such backend or heuristic.
    PluginError
        If that of a third party cannot be used.
    """
    if name in OWN:
        return OWN[name]
    if name in HEURISTICS:
        heuristic = HEURISTICS[name]
        if heuristic.name == name:
            return heuristic
        return _made_once(name, heuristic, _called)
    if name not in names() and name not in BACKENDS:
        raise UnknownName("method or backend", name, [*HEURISTICS, *names()], where)
    solver = backend(name)
    own: type[Method] | None = getattr(solver, "method", None)
    if own is None:
        return _made_once(name, solver, _of_backend)
    return own


def _made_once(name: str, part: Any, make: Callable[[str, Any], type[Method]]) -> type[Method]:
    """Return the class that is made for a backend or heuristic, the same one for each call."""
    key = (name, id(part))
    if key not in _classes_made:
        _classes_made[key] = make(name, part)
    return _classes_made[key]


def all_classes() -> Iterator[type[Method]]:
    """Yield the classes of all methods that can be used, those of third parties last."""
    third = [name for name in names() if name not in OWN_BACKENDS]
    heuristics = [name for name, _ in HEURISTICS.usable()]
    own = [name for name in heuristics if HEURISTICS.is_own(name)]
    for name in dict.fromkeys([*OWN, *own, *third, *heuristics]):
        yield method_class(name)


def _of_backend(name: str, solver: Any) -> type[Method]:
    """Return a class with the keyword arguments of ``compile`` that have a default as options."""
    taken = list(inspect.signature(solver.compile).parameters.values())[1:]
    options: list[Any] = [
        (p.name, Any, field(default=p.default, metadata=OPTION)) for p in taken if p.default is not p.empty
    ]
    title = "".join(word.capitalize() for word in re.split(r"[\W_]+", name))
    bare = make_dataclass(title, options, bases=(SolverMethod,), frozen=True, namespace={"name": name})
    made: type[Method] = named(hashable(bare))
    made.__doc__ = f"The backend {name} of a third party."
    return made


def _called(name: str, heuristic: type[Heuristic]) -> type[Heuristic]:
    """Return the class of a heuristic under another name: the one that it is registered with, or ``module:attribute``."""
    told = {"name": name, "__doc__": heuristic.__doc__, "__module__": heuristic.__module__}
    return type(heuristic.__name__, (heuristic,), told)


# --- The text of a method, parsed to the object: see ``method`` for the syntax.

NAMED = re.compile(r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)=(?P<value>[^:/+]*)", re.ASCII)


def parse_method(text: str, problem: Problem | None = None) -> Method:
    """Parse the text of a method.

    Parameters
    ----------
    text : str
        The method, such as "cpsat:counts+warm". In place of the name of a heuristic, backend or formulation,
        ``module:attribute`` names one that is not registered: "my_module:MyHeuristic:10", "cpsat:my_module:mine".
    problem : Problem or None
        The problem that it should solve. Its formulations and heuristics are the only ones accepted; None: all.

    Returns
    -------
    Method
        An object whose ``text`` makes an equal one again.

    Raises
    ------
    UnknownName
        If a part of the text is not known. The message gives the part, the text and similar names.
    ValueError
        If the value of an option has a wrong type.

    Examples
    --------
    >>> parse_method("highs:pool@900s+warm=lns/5s:time_limit_buffer=1").grid
    900
    >>> parse_method("lns:rounds=30")
    Lns(backend=None, warm_start=None, rounds=30)
    """
    where = f" in {text!r}"
    plain, plus, start = text.partition("+")
    if plus:
        start, *options = start.split(":")
    else:
        start, *options = ("",)
    if start:
        start, options = _with_reference(start, options, "warm=")
    head, words = _with_reference(*_divided(plain, ":"))
    arguments = [word for word in words if not NAMED.fullmatch(word)]
    if len(arguments) > 1 and issubclass(method_class(head.partition("@")[0], where), SolverMethod):
        arguments = _with_formulation(arguments)
    options += [word for word in words if NAMED.fullmatch(word)]
    options += [word for word in arguments[1:] if word]  # no NAME=VALUE: an error
    parts = _parts(head, arguments[0] if arguments else "", where)
    if plus:
        parts["start"] = _after_plus(start, where)
    made = _made(parts, options, where)
    if problem is not None:
        check_method(made, problem)
    return made


def method_source(what: Method | str) -> str | None:
    """Return a hash of the source of the third parties' parts of a method, of its start too; None if all are of schedlab."""
    if isinstance(what, str):
        method = parse_method(what)
    else:
        method = what
    heuristics = [method.heuristic or ""]
    backends = [method.backend_name]
    if method.start is not None and (start := parse_start(method.start).method) is not None:
        heuristics.append(start.heuristic or "")
        backends.append(start.backend_name)
    hashes = [*map(HEURISTICS.source, heuristics), *map(BACKENDS.source, backends)]
    if isinstance(method, SolverMethod):
        hashes.append(formulation_source(method.formulation))
    return "-".join(filter(None, hashes)) or None


def foreign_parts(text: str, kind: str) -> list[str]:
    """Return the parts of a method for problems of a kind that are not of schedlab; the text itself if it cannot be read.

    Examples
    --------
    >>> foreign_parts("cpsat:mine+warm", "project"), foreign_parts("cpsat:modes", "project")
    (["formulation 'mine'"], [])
    """
    try:
        method = parse_method(text)
    except SchedlabError:
        return [f"method {text!r}"]
    parts = []
    if method.heuristic and HEURISTICS.source(method.heuristic) is not None:
        parts.append(f"heuristic {method.heuristic!r}")
    if method.backend_name and BACKENDS.source(method.backend_name) is not None:
        parts.append(f"backend {method.backend_name!r}")
    formulation = None
    if isinstance(method, SolverMethod):
        formulation = method.formulation
    known_kind = kinds.known(kind)
    if known_kind is not None:
        own = known_kind.formulations
    else:
        own = ()
    return parts + ([f"formulation {formulation!r}"] if formulation is not None and formulation not in own else [])


def check_method(method: Method, problem: Problem) -> None:
    """Raise UnknownName if a part of a method, or of its start, does not exist for a problem."""
    method.check(problem)
    if method.start is not None:
        start_method(problem, parse_start(method.start))


def start_method(problem: Problem, start: Start) -> Heuristic:
    """Return the heuristic of a start: its own, or the usual one of the problem's kind; raise UnknownName."""
    method = start.method or parse_method(usual_start(problem))
    method.check(problem)
    assert isinstance(method, Heuristic)  # a Start holds no solver
    return method


def parse_start(text: str) -> Start:
    """Parse the text of a start: "usual", "lns/5s", "first-solution/est".

    Returns
    -------
    Start

    Raises
    ------
    UnknownName
        If a part of the text is not known.

    Examples
    --------
    >>> parse_start("lns/rounds=30/5s").time_limit
    5.0
    """
    return _start(text, f" in {text!r}")


def _divided(text: str, between: str) -> tuple[str, list[str]]:
    head, *words = re.split(between, text)
    return head, words


def _with_reference(head: str, words: list[str], before: str = "") -> tuple[str, list[str]]:
    """Return the name and the other words of a text, of which the first two may be ``module:attribute``.

    ``before``: what stands before the module. The object is kept among the heuristics or backends.
    """
    module = head.removeprefix(before)
    name = module.partition("@")[0]
    if not words or name in OWN or name in HEURISTICS or name in backend_names():
        return head, words
    attribute = re.split("[@/]", words[0])[0]
    reference = f"{module}:{attribute}"
    if not REFERENCE.fullmatch(reference) or not is_module(module):
        return head, words
    registry: Registry[Any]
    if _is_heuristic(_object(reference)):
        registry = HEURISTICS
    else:
        registry = BACKENDS
    registry.adopt(reference)
    return f"{head}:{words[0]}", words[1:]


def _with_formulation(arguments: list[str]) -> list[str]:
    """Return the arguments of a solver; the first two are one if they name a formulation as ``module:attribute``."""
    together = ":".join(arguments[:2])
    if REFERENCE.fullmatch(together.partition("@")[0]):
        return [together, *arguments[2:]]
    return arguments


def _is_heuristic(what: object) -> bool:
    return isinstance(what, type) and issubclass(what, Heuristic)


def _object(reference: str) -> Any:
    """Return the object ``module:attribute``. Raises UnknownName, PluginError."""
    try:
        return load_reference(reference)
    except NoSuchAttribute as e:
        module, _, attribute = reference.partition(":")
        raise UnknownName(f"object of the module {module} called", attribute, e.known) from None


def _after_plus(text: str, where: str) -> Start:
    """Return the start of the text after the +: "warm" or "warm=START"."""
    word, equals, rest = text.partition("=")
    if word != "warm" or (equals and not rest):
        raise UnknownName("start", f"+{text}", ["+warm", "+warm=lns/5s"], where)
    return _start(rest if equals else USUAL, where)


def _start(text: str, where: str) -> Start:
    head, words = _with_reference(*_divided(text, "[/:]"))
    limit = None
    if words:
        limit = SECONDS.fullmatch(words[-1])
    if limit:
        words.pop()
    seconds = None
    if limit:
        seconds = float(limit["seconds"])
    if head == USUAL and not words:
        return Start(None, seconds)
    arguments = [word for word in words if not NAMED.fullmatch(word)]
    parts = _parts(head, arguments[0] if arguments else "", where)
    options = [word for word in words if NAMED.fullmatch(word)] + arguments[1:]
    return Start(_made(parts, options, where), seconds)


def _parts(head: str, argument: str, where: str) -> dict[str, Any]:
    """Return the class, and the texts of the parts by their role."""
    name, at, solver = head.partition("@")
    cls = method_class(name, where)
    parts: dict[str, Any] = {"class": cls}
    if issubclass(cls, SolverMethod):
        formulation, under, lowered = argument.partition("@")
        if at:  # a model has no formulation: highs@900s
            lowered = solver
            under = at
        if under and not issubclass(cls, LinearMethod):
            raise UnknownName(f"lowering of {name}", f"@{lowered}", ["none"], where)
        return parts | {"argument": formulation, "lowering": parse_lowering(lowered, where) if under else {}}
    if at and not fields_of(cls, "backend"):
        raise UnknownName(f"backend of {name}", f"@{solver}", ["none"], where)
    return parts | {"argument": argument} | ({"backend": solver} if at else {})


def _made(parts: dict[str, Any], options: list[str], where: str) -> Method:
    """Return the method of its parts."""
    cls: type[Method] = parts["class"]
    given: dict[str, Any] = dict(parts.get("lowering", {}))
    for part, known in (("argument", fields_of(cls, "argument")), ("backend", fields_of(cls, "backend"))):
        if known:
            if parts.get(part):
                given |= {known[0]: parts[part]}
            else:
                given |= {}
        elif parts.get(part):
            raise UnknownName(f"argument of {cls.name}", parts[part], ["none"], where)
    required = [name for name in fields_of(cls, "argument") if name not in given]
    if "start" in parts:
        known = fields_of(cls, "start")
        if not known:
            raise UnknownName(f"start of {cls.name}", "+warm", ["none"], where)
        given[known[0]] = parts["start"]
    given |= _options(cls, options, where)
    if required and issubclass(cls, Heuristic):
        raise UnknownName(f"argument of {cls.name}", "", list(cls.arguments()) or ["one"], where)
    made = cls(**given)
    if isinstance(made, Heuristic):
        made.check_parts()
    return made


def _options(cls: type[Method], words: list[str], where: str) -> dict[str, Any]:
    """Return the options and the solver's parameters of the words NAME=VALUE."""
    own = dict.fromkeys(fields_of(cls, "option"))
    values: dict[str, Any] = {}
    parameters: dict[str, Value] = {}
    for word in words:
        named = NAMED.fullmatch(word)
        if named is None:
            raise WrongValue(f"{word!r}{where} is no option; expected NAME=VALUE")
        name = named["name"]
        value = from_text(named["value"])
        if name in own:
            values[name] = value
        elif fields_of(cls, "parameters"):
            parameters[name] = value
        else:
            raise UnknownName(f"option of {cls.name}", name, list(own) or ["none"], where)
    return values | ({fields_of(cls, "parameters")[0]: parameters} if parameters else {})


# --- The arguments of ``solve``: the method that they give, and a TypeError for each that the method does not obey.


ARGUMENTS = (  # of ``solve``
    "method",
    "backend",
    "time_limit",
    "threads",
    "seed",
    "warm_start",
    "gap_limit",
    "deterministic_limit",
    "parameters",
    "on_incumbent",
)


def chosen_method(
    method: Method | str | None,
    backend: str | None,
    parameters: Mapping[str, Value] | None,
    options: Mapping[str, Any],
    usual: str,
) -> Method:
    """Return the method that the arguments of ``solve`` describe.

    Parameters
    ----------
    method : Method, str or None
    backend : str or None
        Name of a backend, in place of a method.
    parameters : mapping or None
        Parameters of the solver, added to those of the method.
    options : mapping
        Other values of the method's fields.
    usual : str
        The method if neither a method nor a backend is given.

    Returns
    -------
    Method

    Raises
    ------
    TypeError
        If both a method and a backend are given, or the method does not have an option. The message names the methods
        that have it.
    UnknownName
        If a part of the method does not exist.
    ValueError
        If two values of one parameter are given, or a value is wrong.
    """
    if method is not None and backend is not None:
        raise WrongArgument(f"method={str(method)!r} and backend={backend!r} are both given; give one of them")
    if parameters is not None and not isinstance(parameters, Mapping):
        raise WrongArgument(
            f"parameters is {parameters!r:.80}; expected a mapping {{name of a parameter: value}} or None"
        )
    if not isinstance(method, (Method, str, type(None))):
        raise WrongArgument(
            f"method is {method!r:.80}; expected a text such as 'cpsat:counts+warm', or an object of sl.methods"
        )
    if isinstance(method, Method):
        chosen = method
    else:
        chosen = parse_method(method or backend or usual)
    for name in options:
        if name not in chosen.options():
            raise WrongArgument(_refusal(name, chosen))
    return _with_parameters(chosen.with_options(**options), parameters)


def _with_parameters(method: Method, parameters: Mapping[str, Value] | None) -> Method:
    if parameters is None:
        return method
    if not fields_of(type(method), "parameters"):
        raise WrongArgument(_refusal("parameters", method))
    for name, value in method.solver_parameters.items():
        if parameters.get(name, value) != value:
            raise WrongValue(
                f"parameter {name} is {value!r} in {method.text!r}, and {parameters[name]!r} in parameters="
            )
    return method.with_options(parameters=Parameters({**method.solver_parameters, **parameters}))


def check_arguments(method: Method, given: Mapping[str, object]) -> None:
    """Raise TypeError for an argument that is given and that the method does not obey.

    Parameters
    ----------
    method : Method
    given : mapping of str to object
        Values of ``warm_start``, ``gap_limit``, ``deterministic_limit`` and ``parameters``; None or empty: not given.
    """
    for name, value in given.items():
        is_given = value is not None and not (isinstance(value, Mapping) and not value)
        if is_given and name not in method.obeyed():
            raise WrongArgument(_refusal(name, method))


def _refusal(argument: str, method: Method) -> str:
    """Return the message about an argument that a method does not obey, with the methods that do."""
    obeying = [c.name for c in all_classes() if argument in c.options() or argument in c.obeyed()]
    if obeying and argument not in method.options():
        return f"{method.text} does not obey {argument}; methods that do: {', '.join(obeying)}"
    options = method.options()
    own = "it has no options"
    if options:
        own = f"its options are {', '.join(options)}"
    near = similar(argument, [*options, *ARGUMENTS])
    if near:
        own += f"; did you mean {' or '.join(near)}?"
    if isinstance(method, SolverMethod):
        own += f"; parameters of the solver are given as parameters={{{argument!r}: value}}"
    return f"{method.text} has no option {argument}; {own}"


def call_limits(
    time_limit: float | None,
    threads: int | None,
    seed: int,
    gap_limit: float | None,
    deterministic_limit: float | None,
    parameters: Mapping[str, Value],
) -> Limits:
    """Return the limits of a call; raise TypeError or ValueError, with the argument, for a wrong value."""
    for name, value in (
        ("time_limit", time_limit),
        ("gap_limit", gap_limit),
        ("deterministic_limit", deterministic_limit),
    ):
        if value is None:
            continue
        if not is_real(value):
            raise WrongArgument(f"{name} is {value!r:.80}; expected a number")
        if math.isnan(value) or value < 0:
            raise WrongValue(f"{name} is {value}; expected a number of at least 0")
    for name, whole, least in (("threads", threads, 1), ("seed", seed, 0)):
        if whole is None and name == "threads":
            continue
        if not is_whole(whole):
            raise WrongArgument(f"{name} is {whole!r:.80}; expected a whole number")
        if whole < least:
            raise WrongValue(f"{name} is {whole}; expected at least {least}")
    if threads is not None and threads > MOST_THREADS:
        raise WrongValue(f"threads is {threads}; expected at most {MOST_THREADS:,}")
    # solvers and searches turn it into whole numbers
    if time_limit == math.inf:
        time_limit = None
    return Limits(time_limit, threads, seed, gap_limit, deterministic_limit, dict(parameters))
