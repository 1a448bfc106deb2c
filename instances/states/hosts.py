"""Lists of hosts in the notation of Slurm."""

from __future__ import annotations

import re
from itertools import product

from ...errors import WrongValue
from ..files.numbers import span_of

MOST = 100_000  # names in one list


def hosts_of(text: str) -> list[str]:
    """Return the names in a list of hosts. Raises WrongValue if it is malformed.

    Examples
    --------
    >>> hosts_of("login,n[01-03,7]-ib")
    ['login', 'n01-ib', 'n02-ib', 'n03-ib', 'n7-ib']
    """
    found: list[str] = []
    for part in re.findall(r"(?:[^,\[\]]|\[[^\]]*\])+", text):
        pieces = re.split(r"\[([^\]]*)\]", part)
        choices = [numbers(piece) if k % 2 else [piece] for k, piece in enumerate(pieces)]
        found.extend("".join(words) for words in product(*choices))
        if len(found) > MOST:
            raise WrongValue(f"a list of hosts with more than {MOST:,} names: {text[:60]!r}")
    return found


def numbers(text: str) -> list[str]:
    """Return the numbers of a list of ranges, with their leading zeros. Raises WrongValue if it is malformed.

    Examples
    --------
    >>> numbers("08-10,20-30:5")
    ['08', '09', '10', '20', '25', '30']
    """
    found: list[str] = []
    for part in text.split(","):
        listed = span_of(part.strip())
        if listed is None:
            raise WrongValue(f"the ranges {text[:60]!r}: expected numbers and ranges such as 1-4,8 or 0-20:5")
        if len(found) + len(listed) > MOST:
            raise WrongValue(f"the ranges {text[:60]!r} have more than {MOST:,} numbers")
        width = len(part.strip().partition("-")[0])
        found.extend(f"{n:0{width}d}" for n in listed)
    return found
