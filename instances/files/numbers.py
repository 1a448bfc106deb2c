"""Numbers in the texts and the JSON of files: every reader converts them here, so that all of them accept and refuse the same.

A number has ASCII digits: ``1_000``, digits of other scripts, ``nan`` and ``inf`` are none, though Python would convert
them. Length and size are checked before the conversion, so that a number of 5,000 digits costs nothing.

``..._of`` returns None for what is no such number, for readers with messages of their own; the other functions raise
WrongValue with the name of the field, the text and what is expected. The caller adds the file and the line.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction

from ...errors import WrongValue
from ...models.excerpt import excerpt
from ...models.platform import LATEST

MOST = LATEST  # s (317 years), or amounts, where nothing else is said
LONGEST = 60  # characters of a number
SHOWN = 40  # characters of a text in a message
SIGNED = re.compile(r"-?\d+", re.ASCII)
DECIMAL = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d{1,4})?", re.ASCII)
SPAN = re.compile(r"(\d{1,9})(?:-(\d{1,9})(?::(\d{1,9}))?)?", re.ASCII)
PLAIN = re.compile(r"\d+(?:\.\d*)?|\.\d+", re.ASCII)


def whole_of(text: str, least: int = 0, most: int = MOST) -> int | None:
    """Return the whole number from ``least`` to ``most`` that a text is; None if it is none.

    >>> whole_of("16"), whole_of("1_000"), whole_of("-1"), whole_of("-1", -1), whole_of("9" * 5000)
    (16, None, None, -1, None)
    """
    if len(text) > LONGEST or SIGNED.fullmatch(text) is None:
        return None
    value = int(text)
    return value if least <= value <= most else None


def number_of(text: str, least: float = -math.inf, most: float = math.inf) -> float | None:
    """Return the whole or decimal number from ``least`` to ``most`` that a text is; None if it is none.

    >>> number_of("1.5e3"), number_of("nan"), number_of("-2", least=0), number_of("٣"), number_of("1e999")
    (1500.0, None, None, None, None)
    """
    if len(text) > LONGEST or DECIMAL.fullmatch(text) is None:
        return None
    value = float(text)
    return value if math.isfinite(value) and least <= value <= most else None


def exact_of(text: str) -> int | Fraction | None:
    """Return the whole or decimal number of at least 0, without exponent, that a text is, exactly; None if it is none.

    >>> exact_of("3.5"), exact_of("9223372036854778808"), exact_of("1e3")
    (Fraction(7, 2), 9223372036854778808, None)
    """
    if len(text) > LONGEST or PLAIN.fullmatch(text) is None:
        return None
    value = Fraction(text.rstrip(".") if not text.startswith(".") else f"0{text}")
    return int(value) if value.denominator == 1 else value


def whole(field: str, text: str, least: int = 0, most: int = MOST) -> int:
    """Return the whole number from ``least`` to ``most`` that a text is. Raises WrongValue.

    >>> whole("cores", "16", 1, 1024)
    16
    """
    value = whole_of(text, least, most)
    if value is None:
        raise wrong(field, text, f"a whole number from {least} to {most}")
    return value


def number(field: str, text: str, least: float = -math.inf, most: float = MOST) -> float:
    """Return the whole or decimal number from ``least`` to ``most`` that a text is. Raises WrongValue.

    >>> number("power_w", "250.5", least=0)
    250.5
    """
    value = number_of(text, least, most)
    if value is None:
        low = "" if least == -math.inf else f" of at least {least:g}"
        raise wrong(field, text, f"a number{low}{' and' if low else ' of'} at most {most:g}")
    return value


def wrong(field: str, value: object, expected: str) -> WrongValue:
    """Return the error for the value of a field.

    >>> str(wrong("cores", "many", "a whole number"))
    "cores is 'many'; expected a whole number"
    """
    shown = repr(value[:SHOWN]) if isinstance(value, str) else excerpt(value)
    return WrongValue(f"{field} is {shown}; expected {expected}")


def json_number_of(value: object, least: float = -MOST, most: float = MOST) -> int | float | None:
    """Return a number of JSON from ``least`` to ``most``; None for true, false, NaN, infinity and everything else.

    >>> json_number_of(7), json_number_of(2.5), json_number_of(True), json_number_of(float("nan")), json_number_of("7")
    (7, 2.5, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value if least <= value <= most else None  # false for NaN


def json_whole_of(value: object, least: int = 0, most: int = MOST) -> int | None:
    """Return a whole number of JSON from ``least`` to ``most``; None for everything else, 7.0 too.

    >>> json_whole_of(7), json_whole_of(7.0), json_whole_of(True), json_whole_of(-1)
    (7, None, None, None)
    """
    found = json_number_of(value, least, most)
    return found if isinstance(found, int) else None


def seconds_of(days: str | None, hours: str | None, minutes: str | None, seconds: str | None) -> float:
    """Return the seconds of the parts of a duration that a pattern has found; None and "" count 0.

    >>> seconds_of("1", "2", None, "30.5")
    93630.5
    """
    parts = (float(part) if part else 0.0 for part in (days, hours, minutes, seconds))
    return math.fsum(factor * part for factor, part in zip((86400, 3600, 60, 1), parts, strict=True))


def span_of(text: str) -> range | None:
    """Return the numbers of a range such as ``7``, ``1-4`` or ``0-20:5``; None for something else.

    >>> list(span_of("0-20:5") or ()), span_of("4-1"), span_of("1-4:0")
    ([0, 5, 10, 15, 20], range(4, 2), None)
    """
    found = SPAN.fullmatch(text)
    if found is None:
        return None
    first, last, step = (None if part is None else whole_of(part) for part in found.groups())
    if first is None or step == 0:
        return None
    return range(first, (first if last is None else last) + 1, step or 1)
