"""Problem kinds and their formulations, ours and those of third parties by the same code; the problem that a user means.

A package adds a kind by an entry point of the group ``schedlab.problems`` that names a ``ProblemKind``:

    [project.entry-points."schedlab.problems"]
    flow-shop = "my_package.kind:FLOW_SHOP"

The formulations of schedlab stand beside their problems. A script adds one by ``register_formulation``, a package by an entry
point whose name is the kind and the name of the formulation with a dot between them:

    [project.entry-points."schedlab.formulations"]
    "dispatch.time-indexed" = "my_package.formulations:time_indexed"

In a method, ``cpsat:my_module:time_indexed`` names one that is not registered.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

from ..errors import SchedlabError, WrongArgument, WrongValue
from . import kind as kinds
from .arguments import expect
from .comparing import hashable
from .language import Assignment, Model
from .long_calls import OutOfTime, uncollected
from .plugins import PluginError, WrongAnswer, is_module
from .problem import Encoding, Problem, Schedule
from .registry import Registry
from .words import ByName, UnknownName, excerpt, hint, one_line, similar

OWN = {
    "dispatch": "schedlab.models.dispatch.problem:DISPATCH",
    "profit": "schedlab.models.profit.problem:PROFIT",
    "eviction": "schedlab.models.eviction.problem:EVICTION",
    "project": "schedlab.models.project.problem:PROJECT",
    "project-max": "schedlab.models.project.problem:PROJECT_MAX",
    "knapsack": "schedlab.models.knapsack:KNAPSACK",
    "model": "schedlab.models.model_problem:MODEL",
}


class UnknownKind(SchedlabError, LookupError):
    """Error of a name that is no problem kind. The message gives similar names.

    Parameters
    ----------
    name : str
        The unknown name.
    """

    def __init__(self, name: str) -> None:
        known = names()
        self.near = similar(name, known)
        super().__init__(f"there is no problem kind {excerpt(name)}; {hint(name, known)}")


class Step(NamedTuple):
    """A step of a portfolio.

    Parameters
    ----------
    method : str
        The method, as text: "lns", "cpsat:counts".
    share : float
        The share of the whole time limit that the step may take.
    """

    method: str
    share: float = 1.0


@hashable
@dataclass(frozen=True)
class ProblemKind:
    """A problem kind: its problem class, and the names of its parts in higher layers.

    The formulations of a kind come from its problems (``Problem.formulations``). The other parts are named as
    "module:attribute" and imported when they are first needed. A kind may lack any of them.

    Parameters
    ----------
    name : str
        Name of the kind, as instance folders and records use it: the ``kind`` of its problems.
    problem : type
        Class of its problems.
    reader : str, optional
        Function ``(Folder, drop_impossible) -> Instance`` that reads an instance folder.
    writer : str, optional
        Function ``(Instance, folder) -> None`` that writes an instance folder.
    start : str, optional
        The heuristic that ``+warm`` stands for in a method, such as "multi-search".
    portfolio : str, optional
        Function ``(problem) -> sequence of Step``: what the method "auto" runs. Without it: the start, then the first
        formulation on CP-SAT.
    warm_up : tuple of str
        Functions without arguments that compile what any method for problems of this kind needs. Each heuristic compiles
        its own kernels.
    solver_warm_up : tuple of str
        As ``warm_up``, for what only solvers need: the kernels of warm starts and of the conversion of their answers.
    solver_warm_up_late : tuple of str
        What ``solver_warm_up`` needs late: a second process calls them while that runs, if the kernels are not in the cache.
    allocator : str, optional
        Class like ``schedlab.heuristics.Allocator``, which converts the answers of relaxations to schedules. A kind
        needs it if one of its formulations is a relaxation.
    bench : str, optional
        The object that the bench uses for this kind (``schedlab.bench.kinds.base.BenchKind``). Without it, the bench
        runs the first formulation on each backend and prints the table of methods.
    gantt : str, optional
        Function ``(problem, schedule) -> Gantt`` (``schedlab.models.gantt``) for ``Result.plot``.
    rows : str, optional
        Function ``(problem, schedule) -> list of dict`` that returns the rows of ``Result.to_pandas``, with equal keys.
        Without it, the rows are those of ``Schedule.rows``.
    columns : tuple of str
        The columns of these rows, which a table has without an answer, too.
    bound : str, optional
        Function ``(problem, limits) -> int, float or None``: a proved bound of the objective, found within the time of the
        limits; None: none. Solvers have it as a constraint on the objective of the kind's own exact formulations, and the
        result has it.
    bound_warm_up : str, optional
        Function ``(problem) -> None`` that compiles what ``bound`` needs.
    elements : str, optional
        Function or class ``(problem) -> Elements`` (``schedlab.models.elements``): what ``schedlab.explain`` may
        name as a cause of infeasibility. Without it, these are the constraints of the first formulation.
    formulations : tuple of str
        The names of all formulations that its problems have of their own: ``register_formulation`` refuses them at once. Without
        it, a name that is taken is found when a problem first looks it up.

    Examples
    --------
    >>> find("eviction").start
    'greedy'
    """

    name: str
    problem: type[Any]
    reader: str | None = None
    writer: str | None = None
    start: str | None = None
    portfolio: str | None = None
    warm_up: tuple[str, ...] = ()
    solver_warm_up: tuple[str, ...] = ()
    solver_warm_up_late: tuple[str, ...] = ()
    allocator: str | None = None
    bench: str | None = None
    gantt: str | None = None
    rows: str | None = None
    columns: tuple[str, ...] = ("job", "start", "nodes")
    elements: str | None = None
    bound: str | None = None
    bound_warm_up: str | None = None
    formulations: tuple[str, ...] = ()


def _check(label: str, part: object) -> None:
    """Raise PluginError if an object is no ProblemKind."""
    if not isinstance(part, ProblemKind):
        raise PluginError(f"{label} is {excerpt(part)}; expected a schedlab.models.kind.ProblemKind")


KINDS: Registry[ProblemKind] = Registry("problem kind", "schedlab.problems", OWN, _check)
"""The kinds by name; a package adds one by an entry point, a notebook by ``KINDS.register(name, ProblemKind(...))``."""


def names() -> list[str]:
    """Return the names of all problem kinds: ours, then those of third parties.

    Returns
    -------
    list of str

    Examples
    --------
    >>> names()[:4]
    ['dispatch', 'profit', 'eviction', 'project']
    """
    return list(KINDS)


def find(name: str) -> ProblemKind:
    """Return the problem kind with this name.

    Parameters
    ----------
    name : str
        One of ``names()``.

    Returns
    -------
    ProblemKind

    Raises
    ------
    UnknownKind
        If there is no such kind. The message gives similar names.
    PluginError
        If that of a third party cannot be imported, or is something else than the ``ProblemKind`` of this name.
    """
    kind = known(name)
    if kind is None:
        raise UnknownKind(name)
    return kind


def known(name: str) -> ProblemKind | None:
    """Return the problem kind with this name, None if it is not registered.

    Problems of a kind that is not registered can be solved; they have no start, no instance folder and no bench.

    Parameters
    ----------
    name : str
        Name of a kind.

    Returns
    -------
    ProblemKind or None

    Raises
    ------
    PluginError
        If that of a third party cannot be imported, or is something else than the ``ProblemKind`` of this name.
    """
    if name not in KINDS:
        return None
    kind = KINDS[name]
    if kind.name != name:
        raise PluginError(f"{KINDS.label(name)} has the name {excerpt(kind.name)}; expected {name!r}")
    return kind


def having(part: str) -> list[str]:
    """Return the names of the kinds that have a part; kinds that cannot be imported are left out.

    Parameters
    ----------
    part : str
        A field of ``ProblemKind``, such as "reader".

    Returns
    -------
    list of str

    Examples
    --------
    >>> "eviction" in having("writer"), "eviction" in having("allocator")
    (True, False)
    """
    kinds_with_it = []
    for name in names():
        try:
            has = getattr(find(name), part) is not None
        except Exception:  # a faulty kind of a third party must not hide the others
            continue
        if has:
            kinds_with_it += [name]
    return kinds_with_it


def resolve(place: str) -> Any:
    """Import the object that a name "module:attribute" stands for.

    Parameters
    ----------
    place : str
        The name. A module that begins with a dot is relative to ``schedlab.models``.

    Returns
    -------
    object

    Raises
    ------
    ImportError, AttributeError
        If there is no such module, or it has no such attribute.

    Examples
    --------
    >>> resolve(".dispatch.problem:Dispatch").kind
    'dispatch'
    """
    module, _, attribute = place.partition(":")
    return getattr(import_module(module, __package__), attribute)


# --- What a user gives in place of a problem: an instance, the name of one, or the path of its folder.


LOADER = "schedlab.instances.registry:load"  # of a higher layer: imported when a name is given


class WithProblem(Protocol):
    """What has a problem: an ``Instance``."""

    @property
    def problem(self) -> Any:
        """The problem."""


Given = Problem | WithProblem | str | Path
"""What stands for a problem: the problem, an instance, or the name or folder of an instance."""


def given_problem(what: object, kinds: tuple[str, ...] = (), function: str = "") -> Any:
    """Return the problem that a user means.

    Parameters
    ----------
    what : Problem, Instance, str or Path
        The problem, an instance with it, or the name or folder of an instance.
    kinds : tuple of str
        The kinds of problems that the function takes; empty: all.
    function : str
        The name of the function, for the message.

    Returns
    -------
    Problem

    Raises
    ------
    WrongArgument
        If it is no problem, or a problem of another kind.

    Examples
    --------
    >>> given_problem("eurora_99").kind
    'dispatch'
    """
    problem: Any
    if isinstance(what, (str, Path)):
        problem = resolve(LOADER)(what)
    else:
        problem = what
    if not is_problem(problem) and is_problem(getattr(problem, "problem", None)):
        problem = problem.problem
    of = ""
    if function:
        of = f" of {function}"
    expected = "problem"
    if kinds:
        expected = f"{' or '.join(kinds)} problem"
    article = "a"
    if expected[0] in "aeiou":
        article = "an"
    if not is_problem(problem):
        raise WrongArgument(f"the problem{of} is {what!r:.80}; expected {article} {expected}, an Instance or its name")
    if kinds and problem.kind not in kinds:
        raise WrongArgument(
            f"the problem{of} is of kind {problem.kind!r}: {problem!r:.80}; expected {article} {expected} "
            "(sl.solve takes problems of all kinds)"
        )
    return problem


def is_problem(what: object) -> bool:
    """Return whether an object has what a ``Problem`` has; a class has not."""
    parts = ("kind", "formulations", "verify", "value")
    return not isinstance(what, type) and all(hasattr(type(what), name) or hasattr(what, name) for name in parts)


NAME = re.compile(r"[\w-]+")
T = TypeVar("T")


class Formulation(Protocol):
    """A function of a problem that returns its model, with the conversions between schedules and assignments."""

    def __call__(self, problem: Any, /) -> Encoding:
        """Return the model of a problem."""


def _check_built(label: str, part: object) -> None:
    """Raise PluginError if an object is no function."""
    if not callable(part):
        raise PluginError(f"{label} is {excerpt(part)}; expected a function of a problem that returns an Encoding")


FORMULATIONS: Registry[Formulation] = Registry("formulation", "schedlab.formulations", {}, _check_built)
"""The formulations of third parties, by the kind and the name: ``dispatch.time-indexed``."""


def register_formulation(kind: str, name: str, formulation: Formulation) -> None:
    """Make a formulation of the problems of a kind known by a name, for this process.

    Parameters
    ----------
    kind : str
        The kind of the problems, such as "dispatch".
    name : str
        Its name: letters, digits, ``-`` and ``_``. One that was registered under this name before is replaced, so that a
        cell of a notebook can run again.
    formulation : callable
        Function of a problem that returns a ``schedlab.models.Encoding``.

    Raises
    ------
    WrongArgument
        If an argument has a wrong type.
    WrongValue
        If the name has other characters, or is that of one of the kind's own formulations.
    UnknownKind
        If there is no such kind of problem.

    Examples
    --------
    >>> import schedlab as sl
    >>> from schedlab.models.dispatch.formulations import counts
    >>> sl.register_formulation("dispatch", "mine", counts)
    >>> list(sl.load("eurora_99").problem.formulations)
    ['counts', 'units', 'classes', 'pool', 'mine']
    >>> FORMULATIONS.unregister("dispatch.mine")
    """
    expect("kind of register_formulation", kind, str)
    expect("name of register_formulation", name, str)
    expect("formulation of register_formulation", formulation, Callable[..., Any])
    if kind not in kinds.KINDS:
        raise kinds.UnknownKind(kind)
    if not NAME.fullmatch(name):
        raise WrongValue(f"the name of the formulation is {excerpt(name)}; expected letters, digits, '-' and '_' alone")
    if name in kinds.find(kind).formulations:
        raise WrongValue(f"the formulation {name!r} belongs to {kind} problems; register yours under another name")
    FORMULATIONS.register(f"{kind}.{name}", formulation, replace=True)


def fault_of_registered(registered: str) -> str:
    """Return why the name of an entry point names no formulation of a kind, or "".

    Examples
    --------
    >>> fault_of_registered("project.mine"), fault_of_registered("mine")
    ('', "expected KIND.NAME, such as 'dispatch.mine'")
    """
    name_of_kind, _, name = registered.rpartition(".")
    if not name_of_kind:
        return f"expected KIND.NAME, such as {excerpt(f'dispatch.{registered}')}"
    if name_of_kind not in kinds.KINDS:
        return str(kinds.UnknownKind(name_of_kind))
    if not NAME.fullmatch(name):
        return f"the name of the formulation is {excerpt(name)}; expected letters, digits, '-' and '_' alone"
    return ""


def is_kept_by_kind(registered: str) -> bool:
    """Return whether a registered formulation, such as "project.modes", is ignored: its kind has one of this name.

    Examples
    --------
    >>> is_kept_by_kind("project.modes"), is_kept_by_kind("project.mine")
    (True, False)
    """
    name_of_kind, _, name = registered.rpartition(".")
    try:
        return name_of_kind in kinds.KINDS and name in kinds.find(name_of_kind).formulations
    except SchedlabError:  # the kind of a third party that cannot be imported; it is named as faulty
        return False


class Formulations(ByName[Callable[..., Encoding]]):
    """The formulations of a problem by name: those of its kind, then the registered ones.

    Parameters
    ----------
    problem : Problem
        The problem.
    own : mapping of str to callable
        The formulations of its kind.

    Attributes
    ----------
    own : mapping of str to callable
        The same: proofs about a problem use these alone.
    """

    def __init__(self, problem: Problem, own: Mapping[str, Callable[..., Encoding]]) -> None:
        super().__init__("formulation", {**own, **_added_to(problem, own)})
        self.own = own

    def __repr__(self) -> str:
        return one_line(f"Formulations({', '.join(self)})")


def _added_to(problem: Problem, own: Mapping[str, object]) -> dict[str, Callable[..., Encoding]]:
    """Return the registered formulations of the kind of a problem; a package cannot replace those of the kind.

    Raises WrongValue if one that was registered in this process has the name of one of the kind.
    """
    added: dict[str, Callable[..., Encoding]] = {}
    for registered in FORMULATIONS:
        kind, _, name = registered.rpartition(".")
        if kind != problem.kind:
            continue
        if name not in own:
            added[name] = partial(_called, registered, problem)
        elif registered not in FORMULATIONS.third_parties:
            raise WrongValue(
                f"the formulation {name!r} belongs to {kind} problems; register yours under another name, "
                f"and remove this one: FORMULATIONS.unregister({registered!r})"
            )
    return added


def formulations_of(problem: Problem, place: str) -> Formulations:
    """Return the formulations of a problem, by name.

    Parameters
    ----------
    problem : Problem
        The problem.
    place : str
        Where those of its kind are, as "module:attribute": a mapping from names to functions ``(problem) -> Encoding``, the
        default one first. They stand above the problem, which they import; see ``kind.resolve``.
    """
    return Formulations(problem, {name: partial(make, problem) for name, make in kinds.resolve(place).items()})


def all_formulations(problem: Problem) -> Formulations:
    """Return all formulations of a problem, of any kind: its own, then the registered ones."""
    known = problem.formulations
    if isinstance(known, Formulations):
        return known
    return Formulations(problem, known)


def find_formulation(problem: Problem, name: str, where: str = "") -> Callable[[], Encoding]:
    """Return a formulation of a problem by its name, or as ``module:attribute``, not yet called.

    Parameters
    ----------
    problem : Problem
        The problem.
    name : str
        The name.
    where : str
        Added to the message of an error: the whole method.

    Raises
    ------
    UnknownName
        If there is no such formulation; the message lists similar names.
    PluginError
        If that of a third party cannot be used.
    """
    known = all_formulations(problem)
    if name in known:
        return known[name]
    if ":" in name:
        module = name.partition(":")[0]
        if not is_module(module):
            note = f"{where}: no module {module} is in the current folder or installed, and options are given as NAME=VALUE"
            raise UnknownName(f"formulation of {problem.kind} problems", name, known, note)
        FORMULATIONS.referred(name)
        return partial(_called, name, problem)
    raise UnknownName(f"formulation of {problem.kind} problems", name, known, where)


def encoding_of(problem: Problem, name: str | None = None) -> Encoding:
    """Return the encoding of a formulation; None: of the first one.

    Raises
    ------
    WrongArgument
        If the problem has no formulations.
    UnknownName
        If the problem has no such formulation.
    PluginError
        If the function of a third party's formulation raises an error.
    WrongAnswer
        If the function of the formulation returns something else.
    """
    if name is None:
        chosen = next(iter(all_formulations(problem)), None)
    else:
        chosen = name
    if chosen is None:
        raise WrongArgument(f"{problem.kind} problems have no formulations; a heuristic may solve them")
    build = find_formulation(problem, chosen)
    with uncollected():
        made = build()
    return checked_encoding(made, f"formulation {chosen!r} of {problem.kind} problems")


def checked_encoding(made: object, label: str) -> Encoding:
    """Return what a formulation has returned; raise WrongAnswer, which begins with ``label``, if it is no Encoding."""
    if isinstance(made, Encoding):
        return made
    hint = "an Encoding"
    if isinstance(made, Model):
        hint = "Encoding(model, read, write)"
    raise WrongAnswer(f"{label} returned {excerpt(made)}; expected {hint}")


def formulation_source(name: str | None) -> str | None:
    """Return a hash of the source of a third party's formulation, by its name in a method; None for those of schedlab."""
    if name is None:
        return None
    if ":" in name:
        names = [name]
    else:
        names = [each for each in FORMULATIONS if each.endswith(f".{name}")]
    return "-".join(filter(None, map(FORMULATIONS.source, names))) or None


def _called(name: str, problem: Problem) -> Encoding:
    """Call a formulation of a third party; its errors, and those of its functions, become PluginError, with their place."""
    make = FORMULATIONS.get_named(name)
    if name in FORMULATIONS:
        label = FORMULATIONS.label(name)
    else:
        label = f"the formulation {name}"
    made = checked_encoding(_told(make, label)(problem), label)
    made.read = _told(made.read, f"{label}: read", Assignment)
    made.write = _told(made.write, f"{label}: write", Schedule)
    return made


def _told(function: Callable[[Any], T], label: str, takes: type | None = None) -> Callable[[Any], T]:
    """Return a function of a third party whose errors become PluginError, with their place.

    Errors of schedlab stay as they are, unless the function was given what it ``takes``: it has then made wrong values.
    """

    def called(given: Any) -> T:
        try:
            return function(given)
        except OutOfTime:
            raise
        except SchedlabError as e:
            if takes is None or not isinstance(given, takes):
                raise
            kind = WrongAnswer if isinstance(e, WrongAnswer) else PluginError
            raise kind(f"{label}: {e}") from e
        except Exception as e:
            last = traceback.extract_tb(e.__traceback__)[-1]
            place = f"{Path(last.filename).name}, line {last.lineno}"
            raise PluginError(f"{label} raised {type(e).__name__}: {e} ({place})") from e

    return called
