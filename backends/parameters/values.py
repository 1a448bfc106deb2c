"""Values of solver parameters: conversion from texts to their types, and the errors for wrong names and values."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from ...errors import WrongValue
from ...models.excerpt import excerpt
from ..registry import UnknownName
from .limits import Value

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
        self.solver, self.name, self.value = solver, name, value

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
        found = [name for name in names if name.lower() == str(self.value).strip().lower()]
        if not found:
            raise self.wrong(f"one of {', '.join(names)}")
        return found[0]

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
    found: dict[str, Value] = {}
    for name, value in given.items():
        if name in refused:
            raise WrongValue(f"the parameter {name} of {solver} cannot be given: {refused[name]}")
        if name not in names:
            raise UnknownName(f"parameter of {solver}", name, sorted(set(names) - set(refused)))
        found[name] = convert(Parameter(solver, name, value))
    return found


def argument(name: str) -> str:
    """Return the reason why a parameter is refused that is an argument of ``solve``."""
    return f"give {name}=... instead"
