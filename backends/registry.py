"""The backends by name: our own, and third parties' through the entry-point group ``schedlab.backends``."""

from __future__ import annotations

import difflib
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points

from ..models.excerpt import MOST, excerpt
from .base import Availability, Backend

GROUP = "schedlab.backends"
OWN = {
    "cpsat": ".cpsat.backend:CpSat",
    "highs": ".highs.backend:Highs",
    "cpo": ".cpo.backend:CpOptimizer",
    "pyomo": ".pyomo.backend:Pyomo",
}


class UnknownName(LookupError):
    """A name that is not known; the message gives the near ones."""

    def __init__(self, what: str, name: str, known: list[str]) -> None:
        self.near = difflib.get_close_matches(name[:MOST], known, n=3, cutoff=0.4)
        hint = f"did you mean {' or '.join(self.near)}?" if self.near else f"known are {', '.join(known)}"
        super().__init__(f"there is no {what} {excerpt(name)}; {hint}")


def names() -> list[str]:
    """Names of all backends, installed or not."""
    return [*OWN, *(e.name for e in entry_points(group=GROUP) if e.name not in OWN)]


@cache
def backend(name: str) -> Backend:
    """The backend of that name. Raises UnknownName, with the near names.

    >>> backend("cpsat").name
    'cpsat'
    """
    if name in OWN:
        module, _, attribute = OWN[name].partition(":")
        made: Backend = getattr(import_module(module, __package__), attribute)()
        return made
    for entry in entry_points(group=GROUP):
        if entry.name == name:
            loaded: Backend = entry.load()()
            return loaded
    raise UnknownName("backend", name, names())


def available() -> dict[str, Availability]:
    """What is installed, in which version, and why something is missing.

    >>> available()["cpsat"].ok
    True
    """
    found = {}
    for name in names():
        try:
            found[name] = backend(name).availability()
        except Exception as e:  # a third party's backend must not take the others down
            found[name] = Availability(name, None, f"{type(e).__name__}: {e}")
    return found
