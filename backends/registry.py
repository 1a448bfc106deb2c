"""Backends by name: those of schedlab, and those of third parties in the entry-point group ``schedlab.backends``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from functools import cache
from typing import Any

from ..errors import WrongArgument, WrongValue
from ..models.arguments import expect
from ..models.excerpt import excerpt
from ..models.plugins import REFERENCE, PluginError, explained, plain_name
from ..models.registry import Registry
from ..models.unknown_names import UnknownName as UnknownName
from .base import Availability, Backend

OWN = {
    "cpsat": "schedlab.backends.cpsat.backend:CpSat",
    "highs": "schedlab.backends.highs:Highs",
    "cpo": "schedlab.backends.cpo.backend:CpOptimizer",
    "pyomo": "schedlab.backends.pyomo:Pyomo",
}
BACKENDS: Registry[Callable[[], Backend]] = Registry("backend", "schedlab.backends", OWN)
"""The classes of the backends by name."""

ARGUMENTS = frozenset({"deterministic_limit", "parameters"})  # of ``solve``, that only some backends obey
PARTS: Mapping[str, Any] = {
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


def register(found: Backend) -> None:
    """Make a backend known in this process, for example in a notebook; an installed package has an entry point.

    Parameters
    ----------
    found : Backend
        It is used under its attribute ``name``, and replaces a backend that was registered under this name before.

    Raises
    ------
    PluginError
        If it is no object with the parts of a `Backend`, or a part has a wrong type.
    ValueError
        If a backend of schedlab has this name, or it has characters that have a meaning in the texts of methods.
    """
    check_backend("the backend", found)
    if found.name in OWN:
        raise WrongValue(f"the name {found.name!r} belongs to a backend of schedlab")
    _registered[found.name] = found


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


def check_backend(label: str, found: object) -> None:
    """Raise PluginError if an object is no backend: a part lacks or has a wrong type; WrongValue for its name."""
    if isinstance(found, type):
        raise PluginError(f"{label} is {excerpt(found)}, a class; expected an object of it: {found.__name__}()")
    if lacking := [part for part in ("name", "availability", "compile") if not hasattr(found, part)]:
        raise PluginError(f"{label} is not a backend: {excerpt(found)} has no {' and no '.join(lacking)}")
    for part, kind in PARTS.items():
        try:
            expect(f"{part} of {label}", getattr(found, part, frozenset()), kind)
        except WrongArgument as e:
            raise PluginError(str(e)) from None
    plain_name("backend", found.name)  # type: ignore[attr-defined]
    obeys: Set[str] = getattr(found, "obeys", frozenset())
    if unknown := sorted(set(obeys) - ARGUMENTS):
        raise PluginError(f"obeys of {label} has {unknown[0]!r}; expected {' or '.join(map(repr, sorted(ARGUMENTS)))}")
    if "parameters" in obeys and not hasattr(found, "check_parameters"):
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
