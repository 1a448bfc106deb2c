"""The arguments of a call that a backend obeys; all others are refused."""

from __future__ import annotations

from dataclasses import replace

from ...errors import WrongArgument, WrongValue
from ...models.plugins import PluginError
from ..base import Backend
from ..registry import backend, names
from .limits import Limits

ARGUMENTS = {"deterministic_limit": "deterministic", "parameters": "parameters"}
"""Arguments of ``solve`` that only some backends obey, with their fields of `Limits`."""


def require_obeyed(found: Backend, limits: Limits) -> None:
    """Check that a backend obeys all limits that are given.

    Parameters
    ----------
    found : Backend
        Its attribute ``obeys`` is the set of the arguments in ``ARGUMENTS`` that it obeys; without it, none.
    limits : Limits

    Raises
    ------
    TypeError
        If the backend does not obey one of the arguments. The message names the backends that do.
    """
    for argument, name in ARGUMENTS.items():
        if getattr(limits, name) in (None, {}) or argument in getattr(found, "obeys", ()):
            continue
        others = [other for other in names() if argument in _obeyed_by(other)]
        raise WrongArgument(
            f"the backend {found.name!r} does not obey {argument}=...; backends that do: {', '.join(others) or 'none'}"
        )


def _obeyed_by(name: str) -> frozenset[str]:
    try:
        return getattr(backend(name), "obeys", frozenset())
    except PluginError:
        return frozenset()


def checked(found: Backend, limits: Limits) -> Limits:
    """Convert the parameters of a backend; those that are numbers of threads become ``threads``.

    Parameters
    ----------
    found : Backend
        Its attribute ``thread_parameters``, if it has one, is the set of its parameters that are numbers of threads.
    limits : Limits

    Returns
    -------
    Limits
        Its parameters are those that ``check_parameters`` of the backend returned, without numbers of threads.

    Raises
    ------
    UnknownName
        If the solver has no parameter of this name.
    ValueError
        If a value is wrong, or a number of threads is greater than ``limits.threads``.
    """
    if not limits.parameters:
        return limits
    found_values = dict(found.check_parameters(limits.parameters))  # type: ignore[attr-defined]
    threads = limits.threads
    for name in sorted(set(found_values) & getattr(found, "thread_parameters", frozenset())):
        wanted = found_values.pop(name)
        threads = fewer_threads(name, wanted, threads)
    return replace(limits, threads=threads, parameters=found_values)


def fewer_threads(name: str, wanted: object, threads: int | None) -> int | None:
    """Return the smaller one of a parameter for threads and ``threads``; 0 and "Auto" are the solver's default.

    Raises
    ------
    ValueError
        If the parameter is greater than ``threads``.
    """
    if not isinstance(wanted, int) or wanted <= 0:
        return threads
    if threads is not None and wanted > threads:
        raise WrongValue(f"the parameter {name}={wanted} is greater than threads={threads}; threads is an upper limit")
    return wanted
