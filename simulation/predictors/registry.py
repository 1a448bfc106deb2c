"""The names of predictors."""

from __future__ import annotations

from collections.abc import Callable

from ...backends import UnknownName
from .data_driven import DataDriven
from .plain import LastTwo, Real, Walltime
from .predictor import Predictor

PREDICTORS: dict[str, Callable[[], Predictor]] = {
    "walltime": Walltime,
    "data-driven": DataDriven,
    "last-two": LastTwo,
    "real": Real,
}


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
