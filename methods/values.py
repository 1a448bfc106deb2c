"""Values of options and parameters as text: ``name=value``, where the value contains no separator of a method's text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin
from urllib.parse import quote, unquote

from ..errors import WrongArgument, WrongValue

Value = bool | int | float | str
WORDS: dict[str, bool] = {"true": True, "false": False}
INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
EXPECTED = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


class Parameters(Mapping[str, Value]):
    """Parameters of a solver by its own names: a mapping that cannot be changed, so that methods can be compared.

    Parameters
    ----------
    values : mapping of str to bool, int, float or str
        The parameters.

    Raises
    ------
    TypeError
        If a name is no text, or a value has another type.
    """

    def __init__(self, values: Mapping[str, Value] | None = None) -> None:
        self._values = dict(sorted((values or {}).items()))
        for name, value in self._values.items():
            if not isinstance(name, str) or not isinstance(value, (bool, int, float, str)):
                raise WrongArgument(f"parameter {name!r}={value!r}: expected a bool, int, float or str")

    def __getitem__(self, name: str) -> Value:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __hash__(self) -> int:
        return hash(tuple(self._values.items()))

    def __repr__(self) -> str:
        return repr(self._values)


def to_text(value: Value) -> str:
    """Return a value as text; characters that have a meaning in methods, lists and shells are written as ``%2C``.

    Examples
    --------
    >>> to_text(True), to_text(0.5), to_text("a,b"), to_text("1")
    ('true', '0.5', 'a%2Cb', '%31')
    """
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return repr(value).replace("e+", "e")
    text = quote(value, safe="").replace("~", "%7E")
    # a text that reads like a number or a truth value: its first character is escaped
    return text if isinstance(from_text(text), str) else f"%{ord(value[0]):02X}{quote(value[1:], safe='')}"


def from_text(text: str) -> Value:
    """Return the value of a text: a truth value, a whole number, a number, or else a text.

    Examples
    --------
    >>> from_text("true"), from_text("3"), from_text("1e-3"), from_text("a%2Cb"), from_text("%31")
    (True, 3, 0.001, 'a,b', '1')
    """
    if text in WORDS:
        return WORDS[text]
    if "%" in text or "_" in text:  # no number: to_text writes numbers without them
        return unquote(text)
    if INTEGER.fullmatch(text):
        return int(text)
    try:
        return float(text)
    except ValueError:
        return text


def as_type(value: Value, wanted: Any) -> Any:
    """Convert a value to the type of a field.

    Parameters
    ----------
    value : bool, int, float or str
        The value, as ``from_text`` gives it.
    wanted : type
        The type of the field, for example ``int | None``.

    Returns
    -------
    object
        The value.

    Raises
    ------
    ValueError
        If the value has another type; the message says what is expected.
    """
    types = [t for t in get_args(wanted) if t is not NoneType] if get_origin(wanted) in (Union, UnionType) else [wanted]
    for kind in types:
        if type(value) is kind:
            return value
        if kind is float and type(value) is int:
            return float(value)
    raise WrongValue(" or ".join(EXPECTED.get(kind, str(kind)) for kind in types))
