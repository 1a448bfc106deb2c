"""Formulations of third parties: functions that put the problems of a kind into the modelling language, found by name.

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
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

from ..errors import SchedlabError, WrongArgument, WrongValue
from . import kind as kinds
from .arguments import expect
from .deadline import OutOfTime
from .excerpt import ByName, UnknownName, excerpt, one_line
from .garbage_collector import uncollected
from .language import Assignment, Model
from .plugins import PluginError, WrongAnswer, is_module
from .problem import Encoding, Problem, Schedule
from .registry import Registry

NAME = re.compile(r"[\w-]+")
T = TypeVar("T")


class Formulation(Protocol):
    """A function of a problem that returns its model, with the conversions between schedules and assignments."""

    def __call__(self, problem: Any, /) -> Encoding:
        """Return the model of a problem."""


def _check(label: str, part: object) -> None:
    """Raise PluginError if an object is no function."""
    if not callable(part):
        raise PluginError(f"{label} is {excerpt(part)}; expected a function of a problem that returns an Encoding")


FORMULATIONS: Registry[Formulation] = Registry("formulation", "schedlab.formulations", {}, _check)
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


class Formulations(ByName[Callable[[], Encoding]]):
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

    def __init__(self, problem: Problem, own: Mapping[str, Callable[[], Encoding]]) -> None:
        super().__init__("formulation", {**own, **_added_to(problem, own)})
        self.own = own

    def __repr__(self) -> str:
        return one_line(f"Formulations({', '.join(self)})")


def _added_to(problem: Problem, own: Mapping[str, object]) -> dict[str, Callable[[], Encoding]]:
    """Return the registered formulations of the kind of a problem; a package cannot replace those of the kind.

    Raises WrongValue if one that was registered in this process has the name of one of the kind.
    """
    added: dict[str, Callable[[], Encoding]] = {}
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
    return known if isinstance(known, Formulations) else Formulations(problem, known)


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
    chosen = next(iter(all_formulations(problem)), None) if name is None else name
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
    hint = "Encoding(model, read, write)" if isinstance(made, Model) else "an Encoding"
    raise WrongAnswer(f"{label} returned {excerpt(made)}; expected {hint}")


def formulation_source(name: str | None) -> str | None:
    """Return a hash of the source of a third party's formulation, by its name in a method; None for those of schedlab."""
    if name is None:
        return None
    names = [name] if ":" in name else [each for each in FORMULATIONS if each.endswith(f".{name}")]
    return "-".join(filter(None, map(FORMULATIONS.source, names))) or None


def _called(name: str, problem: Problem) -> Encoding:
    """Call a formulation of a third party; its errors, and those of its functions, become PluginError, with their place."""
    make = FORMULATIONS.get_named(name)
    label = FORMULATIONS.label(name) if name in FORMULATIONS else f"the formulation {name}"
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
