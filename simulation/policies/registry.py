"""The dispatchers by name: policies, and CP dispatchers on a backend, each with a predictor."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...backends import UnknownName
from ...backends import names as backend_names
from .policy import POLICIES

CP = ("pcp", "pcp1", "pcp2", "pcp3", "hcp", "hcp1", "hcp2", "hcp3")
PREDICTED_BY = {"w": "walltime", "d": "data-driven", "r": "real", "l": "last-two"}


class Named(NamedTuple):
    """A dispatcher's name, taken apart. ``backend``: of a CP dispatcher; None for a policy."""

    text: str
    dispatcher: str
    predictor: str
    backend: str | None

    def make(self, **options: Any) -> Any:
        """The policy or the CP dispatcher; ``options`` are those of ``cp.CPDispatcher`` and concern it alone."""
        if self.backend is None:
            return POLICIES[self.dispatcher]
        from .cp.dispatcher import make

        return make(self.dispatcher, self.backend, **options)


def dispatchers() -> list[str]:
    """The names, without predictors and backends."""
    return [*POLICIES, *CP]


def is_dispatcher(text: str) -> bool:
    """Whether a name is meant as a dispatcher's.

    >>> is_dispatcher("easy-r"), is_dispatcher("cpsat:counts")
    (True, False)
    """
    try:
        parse_dispatcher(text)
    except UnknownName:
        return False
    return True


def parse_dispatcher(text: str) -> Named:
    """A dispatcher from ``NAME[-w|-d|-r|-l][@BACKEND]``: by walltime, data-driven, real durations, the last two runtimes.

    Without a letter it is the walltime; a CP dispatcher without a backend is on CP-SAT. Raises UnknownName with the near
    names.

    >>> parse_dispatcher("hcp3-d@cpsat")
    Named(text='hcp3-d@cpsat', dispatcher='hcp3', predictor='data-driven', backend='cpsat')
    """
    head, at, backend = text.partition("@")
    name, dash, letter = head.rpartition("-")
    if head in dispatchers() or letter not in PREDICTED_BY or not dash:
        name, letter = head, "w"
    if name not in dispatchers():
        raise UnknownName("dispatcher", text, dispatchers())
    if name in POLICIES and at:
        raise UnknownName("dispatcher", text, [head])
    if name in POLICIES:
        return Named(text, name, PREDICTED_BY[letter], None)
    backend = backend or "cpsat"
    if backend not in backend_names():
        raise UnknownName("backend", backend, backend_names())
    return Named(text, name, PREDICTED_BY[letter], backend)
