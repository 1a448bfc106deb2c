"""Values in the JSON of Slurm that have several forms: numbers, texts, lists of names."""

from __future__ import annotations

import math
from typing import Any

from ...errors import WrongValue

MOST = 10**15  # of any number in the JSON of Slurm
SHOWN = 40


def number(value: Any) -> int | None:
    """Return a number of Slurm; None if it is not set or infinite. Raises WrongValue for NaN and huge numbers.

    Examples
    --------
    >>> number({"set": True, "infinite": False, "number": 60}), number({"set": False, "number": 0}), number(7)
    (60, None, 7)
    """
    if isinstance(value, dict):
        known = value.get("set") and not value.get("infinite")
        return number(value.get("number")) if known else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if not (math.isfinite(value) if isinstance(value, float) else True) or not -MOST <= value <= MOST:
        raise WrongValue(f"the number {excerpt_of(value)}; expected one from {-MOST:,} to {MOST:,}")
    return int(value)


def excerpt_of(value: int | float) -> str:
    """Return a number as a short text; Python refuses to print integers of more than 4,300 digits."""
    if isinstance(value, int) and value.bit_length() > 120:
        return f"of {value.bit_length()} bits"
    return str(value)[:SHOWN]


def text(value: Any) -> str:
    """Return a text without blanks around it; "" for null and Slurm's ``(null)``, and for a list its parts with commas.

    >>> text(None), text("(null)"), text(["a", "b"]), text(" x ")
    ('', '', 'a,b', 'x')
    """
    if value is None or isinstance(value, (bool, dict)):
        return ""
    joined = ",".join(map(str, value)) if isinstance(value, list) else str(value)
    return "" if joined.strip().lower() in ("(null)", "n/a", "none assigned") else joined.strip()


def names(value: Any) -> list[str]:
    """Return the names in a list, or in a text with commas.

    >>> names("a, b"), names(["a"]), names(None)
    (['a', 'b'], ['a'], [])
    """
    return [name.strip() for name in text(value).split(",") if name.strip()]


def job_words(value: Any) -> list[str]:
    """Return the words of the state of a job, a list or a text.

    >>> job_words("pending"), job_words(["COMPLETING", "PENDING"])
    (['PENDING'], ['COMPLETING', 'PENDING'])
    """
    return [word.upper() for word in text(value).replace("+", ",").replace(" ", ",").split(",") if word]
