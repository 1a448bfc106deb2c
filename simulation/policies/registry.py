"""The names of dispatchers: policies, and CP dispatchers with a backend, each with a predictor."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...backends import UnknownName
from ...backends import names as backend_names
from .policy import POLICIES

CP = ("pcp", "pcp1", "pcp2", "pcp3", "hcp", "hcp1", "hcp2", "hcp3")
PREDICTED_BY = {"w": "walltime", "d": "data-driven", "r": "real", "l": "last-two"}


class Named(NamedTuple):
    """The parts of a dispatcher's name.

    Parameters
    ----------
    text : str
        The whole name.
    dispatcher : str
        The name without predictor and backend.
    predictor : str
        Name of the predictor.
    backend : str or None
        Backend of a CP dispatcher; None for a policy.
    """

    text: str
    dispatcher: str
    predictor: str
    backend: str | None

    def make(self, **options: Any) -> Any:
        """Return the policy or the CP dispatcher; ``options`` go to ``CPDispatcher``, policies ignore them."""
        if self.backend is None:
            return POLICIES[self.dispatcher]
        from .cp.dispatcher import make

        return make(self.dispatcher, self.backend, **options)


def dispatchers() -> list[str]:
    """Return the names of all dispatchers, without predictor and backend."""
    return [*POLICIES, *CP]


def is_dispatcher(text: str) -> bool:
    """Return whether a text is the name of a dispatcher.

    Examples
    --------
    >>> is_dispatcher("easy-r"), is_dispatcher("cpsat:counts")
    (True, False)
    """
    try:
        parse_dispatcher(text)
    except UnknownName:
        return False
    return True


def parse_dispatcher(text: str) -> Named:
    """Split the name of a dispatcher, ``NAME[-w|-d|-r|-l][@BACKEND]``, into its parts.

    Parameters
    ----------
    text : str
        ``NAME`` is one of ``dispatchers()``. The letter selects the predictor: ``w`` walltime (default), ``d``
        data-driven, ``r`` real (the runtimes), ``l`` last-two. ``BACKEND`` is the solver of a CP dispatcher, by default
        ``cpsat``; policies take none.

    Returns
    -------
    Named
        The parts of the name.

    Raises
    ------
    UnknownName
        If a part is unknown; the message lists similar names.

    Examples
    --------
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
