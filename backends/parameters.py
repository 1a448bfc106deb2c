"""Solver parameters by name: their conversion from texts, and which backends obey which arguments."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from ..errors import WrongArgument, WrongValue
from ..models.excerpt import UnknownName, excerpt
from ..models.plugins import PluginError
from .base import Backend, Limits, Value, backend, names

# --- Values of solver parameters: conversion from texts to their types, and the errors for wrong names and values.

TRUE, FALSE = ("true", "on", "yes", "1"), ("false", "off", "no", "0")


class Parameter:
    """One parameter of one solver, for the messages of errors.

    Parameters
    ----------
    solver : str
        Name of the solver, such as "CP-SAT".
    name : str
        Name of the parameter.
    value : object
        The value that the user gave.
    """

    def __init__(self, solver: str, name: str, value: Any) -> None:
        self.solver = solver
        self.name = name
        self.value = value

    def wrong(self, expected: str) -> WrongValue:
        """Return the error for a wrong value; ``expected`` says which values are possible."""
        return WrongValue(
            f"the parameter {self.name} of {self.solver} cannot be {excerpt(self.value)}; expected is {expected}"
        )

    def as_bool(self) -> bool:
        """Return True or False; the texts are true, on, yes, 1 and false, off, no, 0."""
        text = str(self.value).strip().lower()
        if isinstance(self.value, (bool, str)) or self.value in (0, 1):
            if text in TRUE:
                return True
            if text in FALSE:
                return False
        raise self.wrong("true or false")

    def as_int(self, low: float = -math.inf, high: float = math.inf) -> int:
        """Return a whole number within the bounds."""
        try:
            number = int(self.value) if isinstance(self.value, (int, str)) else None
        except ValueError:
            number = None
        if number is None or isinstance(self.value, bool) or not low <= number <= high:
            raise self.wrong(f"a whole number{_range(low, high)}")
        return number

    def as_float(self, low: float = -math.inf, high: float = math.inf) -> float:
        """Return a number within the bounds."""
        try:
            number = float(self.value) if isinstance(self.value, (int, float, str)) else math.nan
        except (ValueError, OverflowError):
            number = math.nan
        if isinstance(self.value, bool) or not low <= number <= high:
            raise self.wrong(f"a number{_range(low, high)}")
        return number

    def as_choice(self, names: Collection[str]) -> str:
        """Return one of the names; capital and small letters do not matter."""
        matching = [name for name in names if name.lower() == str(self.value).strip().lower()]
        if not matching:
            raise self.wrong(f"one of {', '.join(names)}")
        return matching[0]

    def as_text(self) -> str:
        """Return a text."""
        if not isinstance(self.value, str):
            raise self.wrong("a text")
        return self.value

    def guessed(self) -> Value:
        """Return a text as the int, float or bool that it looks like; other values unchanged."""
        if not isinstance(self.value, str):
            if not isinstance(self.value, (bool, int, float)):
                raise self.wrong("a number, a text, true or false")
            return self.value
        for kind in (int, float):
            try:
                return kind(self.value)
            except ValueError:
                continue
        return self.value.lower() == "true" if self.value.lower() in ("true", "false") else self.value


def _range(low: float, high: float) -> str:
    if math.isinf(high):
        return "" if math.isinf(low) else f" of at least {low:,}"
    return f" from {low:,} to {high:,}"


def check_all(
    solver: str,
    given: Mapping[str, Any],
    known: Iterable[str],
    refused: Mapping[str, str],
    convert: Callable[[Parameter], Value],
) -> dict[str, Value]:
    """Convert all parameters of a call.

    Parameters
    ----------
    solver : str
        Name of the solver, for messages.
    given : mapping of str to object
        The parameters of the call.
    known : iterable of str
        The names of all parameters of the solver.
    refused : mapping of str to str
        Parameters that cannot be given, with the reason or what to do instead.
    convert : callable
        Returns the value of a `Parameter`, converted to its type; it raises ValueError for a wrong value.

    Returns
    -------
    dict of str to bool, int, float or str

    Raises
    ------
    UnknownName
        If the solver has no parameter of this name.
    ValueError
        If a value is wrong, or a parameter is refused.
    """
    names = list(known)
    values: dict[str, Value] = {}
    for name, value in given.items():
        if name in refused:
            raise WrongValue(f"the parameter {name} of {solver} cannot be given: {refused[name]}")
        if name not in names:
            raise UnknownName(f"parameter of {solver}", name, sorted(set(names) - set(refused)))
        values[name] = convert(Parameter(solver, name, value))
    return values


def argument(name: str) -> str:
    """Return the reason why a parameter is refused that is an argument of ``solve``."""
    return f"give {name}=... instead"


# --- The arguments of a call that a backend obeys; all others are refused.

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
