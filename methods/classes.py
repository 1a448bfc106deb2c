"""The class of a method by the name of its backend or heuristic; classes for third parties are made from what they state."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import field, make_dataclass
from typing import Any

from ..backends import UnknownName, backend, names
from ..backends.registry import OWN as OWN_BACKENDS
from ..models.arguments import named
from ..models.comparing import hashable
from .method import ARGUMENT, BACKEND, OPTION, START, Method
from .portfolio import Auto
from .searches import (
    Backtracking,
    Bounds,
    BranchAndBound,
    DelaySearch,
    DynamicProgram,
    FirstSolution,
    Greedy,
    Lagrangian,
    Lns,
    MultiSearch,
    MultiSgs,
    RelaxationSearch,
    Rule,
    Search,
    SerialSgs,
)
from .solvers import CpOptimizer, CpSat, Highs, Pyomo, SolverMethod

OWN: dict[str, type[Method]] = {
    c.name: c
    for c in (
        Auto,
        *(CpSat, Highs, CpOptimizer, Pyomo),
        *(MultiSearch, FirstSolution, Rule, DelaySearch, RelaxationSearch, Lns, Lagrangian, BranchAndBound),
        *(DynamicProgram, Greedy, Backtracking, SerialSgs, MultiSgs, Bounds),
    )
}
_made: dict[tuple[str, int], type[Method]] = {}


def method_class(name: str, where: str = "") -> type[Method]:
    """Return the class of the methods of a backend or heuristic.

    A backend or a heuristic of a third party may bring its class as the attribute ``method``. Otherwise a class is made:
    its options are the keyword arguments of the backend's ``compile``, or those that the heuristic states.

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
    from ..heuristics import HEURISTICS

    if name in OWN:
        return OWN[name]
    if name in HEURISTICS:
        found: Any = HEURISTICS[name]
    elif name in names():
        found = backend(name)
    else:
        raise UnknownName("method or backend", name, [*HEURISTICS, *names()], where)
    if getattr(found, "method", None) is not None:
        own: type[Method] = found.method
        return own
    key = (name, id(found))
    if key not in _made:
        _made[key] = _of_backend(name, found) if name in names() else _of_heuristic(name, found)
    return _made[key]


def all_classes() -> Iterator[type[Method]]:
    """Yield the classes of all methods that can be used, those of third parties last."""
    from ..heuristics import HEURISTICS

    for name in dict.fromkeys(
        [*OWN, *(n for n in names() if n not in OWN_BACKENDS), *(n for n, _ in HEURISTICS.usable())]
    ):
        yield method_class(name)


def _of_backend(name: str, found: Any) -> type[Method]:
    """Return a class with the keyword arguments of ``compile`` that have a default as options."""
    taken = list(inspect.signature(found.compile).parameters.values())[1:]
    options: list[Any] = [
        (p.name, Any, field(default=p.default, metadata=OPTION)) for p in taken if p.default is not p.empty
    ]
    return _class(name, options, SolverMethod)


def _of_heuristic(name: str, found: Any) -> type[Method]:
    """Return a class with the argument, the backend, the start and the options of a heuristic."""
    rows: list[Any] = [("argument", str | None, field(default=None, metadata=ARGUMENT))] if found.arguments else []
    rows += [("backend", str | None, field(default=found.usual or None, metadata=BACKEND))] if found.backends else []
    rows += [("warm_start", Any, field(default=None, metadata=START))] if found.starts else []
    rows += [(each, Any, field(default=None, metadata=OPTION)) for each in found.options]
    return _class(name, rows, Search)


def _class(name: str, rows: list[Any], base: type[Method]) -> type[Method]:
    title = "".join(word.capitalize() for word in name.replace("_", "-").split("-"))
    bare = make_dataclass(title, rows, bases=(base,), frozen=True, namespace={"name": name})
    made: type[Method] = named(hashable(bare))
    made.__doc__ = f"The {'backend' if base is SolverMethod else 'heuristic'} {name} of a third party."
    return made
