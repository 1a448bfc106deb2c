"""Values in the JSON of Slurm that have several forms: numbers, texts, lists of names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ...errors import WrongValue
from ...models.excerpt import excerpt
from ..files.numbers import json_number_of

MOST = 10**15  # of any number in the JSON of Slurm
# INFINITE and NO_VAL of 32 and 64 bits, which old versions print where nothing is set
NO_VALUES = (2**32 - 1, 2**32 - 2, 2**64 - 1, 2**64 - 2)


@contextmanager
def of_job(name: object) -> Iterator[None]:
    """Add the id of a job to the errors in the block."""
    try:
        yield
    except WrongValue as e:
        raise WrongValue(f"job {name if isinstance(name, str) else excerpt(name)}: {e}") from None


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
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value in NO_VALUES:
        return None
    found = json_number_of(value, -MOST, MOST)
    if found is None:
        raise WrongValue(f"the number {excerpt(value):.60}; expected one from {-MOST:,} to {MOST:,}")
    return int(found)


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
