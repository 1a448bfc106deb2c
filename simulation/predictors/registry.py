"""The names of predictors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...backends import UnknownName
from ...models.plugins import REFERENCE, PluginError, check_parts, explained
from ..references import referred
from .data_driven import DataDriven
from .plain import LastTwo, Real, Walltime
from .predictor import Predictor

PREDICTORS: dict[str, Callable[[], Predictor]] = {
    "walltime": Walltime,
    "data-driven": DataDriven,
    "last-two": LastTwo,
    "real": Real,
}


PARTS = ("name", "begin", "predict", "learn")  # of a predictor


def predictor(name: str, kill_at_walltime: bool = False) -> Predictor:
    """Return a new predictor by its name.

    Parameters
    ----------
    name : str
        One of ``PREDICTORS``.
    kill_at_walltime : bool
        Whether jobs are killed at their walltime; it only changes ``real``.

    Returns
    -------
    Predictor
        The predictor.

    Raises
    ------
    UnknownName
        If there is no such predictor; the message lists similar names.

    Examples
    --------
    >>> predictor("last-two").name
    'last-two'
    """
    if name not in PREDICTORS:
        raise UnknownName("predictor", name, list(PREDICTORS))
    return Real(kill_at_walltime) if name == Real.name else PREDICTORS[name]()


def predictor_of(what: str | Predictor | type[Predictor], kill_at_walltime: bool = False) -> Predictor:
    """Return a predictor by its name, or ``module:attribute``; check an object, or make one of a class without arguments.

    Parameters
    ----------
    what : str, Predictor or type
        The name, the object or the class.
    kill_at_walltime : bool
        Whether jobs end at their walltimes, which the recorded durations of ``"real"`` then do not exceed.

    Returns
    -------
    Predictor
        The predictor.

    Raises
    ------
    UnknownName
        If there is no predictor with this name.
    PluginError
        If the object lacks a part of a predictor, or the class cannot be created.
    """
    if isinstance(what, str) and not REFERENCE.fullmatch(what):
        return predictor(what, kill_at_walltime)
    made: Any = referred("predictor", what, list(PREDICTORS)) if isinstance(what, str) else what
    label = what if isinstance(what, str) else f"the argument predictor ({what!r:.100})"
    if isinstance(made, type):
        with explained(f"{label} cannot be created"):
            made = made()
    if missing := [part for part in PARTS if not hasattr(made, part)]:
        raise PluginError(f"{label} is not a predictor: it has no {' and no '.join(missing)} (docs/simulation.md)")
    check_parts(label, made, ("begin", "predict", "learn"))
    checked: Predictor = made
    return checked
