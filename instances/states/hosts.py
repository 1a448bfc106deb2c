"""Lists of hosts in the notation of Slurm."""

from __future__ import annotations

import math
import re
from itertools import product

from ...errors import WrongValue
from ..files.numbers import span_of

MOST = 100_000  # names in one list
SHOWN = 60  # characters of a list in a message
# ranges in brackets, the text between them, the comma between two entries, a bracket without its pair
PIECE = re.compile(r"\[([^\[\]]*)\]|([^\[\],]+)|(,)|([\[\]])")
Choices = list[list[str]]  # of an entry: the texts that may stand at each place


def hosts_of(text: str) -> list[str]:
    """Return the names in a list of hosts. Raises WrongValue if it is malformed.

    Examples
    --------
    >>> hosts_of("login,n[01-03,7]-ib")
    ['login', 'n01-ib', 'n02-ib', 'n03-ib', 'n7-ib']
    """
    return ["".join(words) for choices in _entries(text) for words in product(*choices)]


def count_of_hosts(text: str) -> int:
    """Return the number of names in a list of hosts. Raises WrongValue if it is malformed.

    >>> count_of_hosts("login,n[01-03,7]-ib")
    5
    """
    return sum(math.prod(map(len, choices)) for choices in _entries(text))


def _entries(text: str) -> list[Choices]:
    """Return the entries of a list; all of them together have at most MOST names. Raises WrongValue."""
    found: list[Choices] = [[]]
    for ranges, plain, comma, bracket in PIECE.findall(text):
        if bracket:
            raise WrongValue(f"the list of hosts {text[:SHOWN]!r}: expected a ] for each [")
        if comma:
            found.append([])
        else:
            found[-1].append([plain] if plain else numbers(ranges))
    found = [choices for choices in found if choices]
    if sum(math.prod(map(len, choices)) for choices in found) > MOST:
        raise WrongValue(f"a list of hosts with more than {MOST:,} names: {text[:SHOWN]!r}")
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
            raise WrongValue(f"the ranges {text[:SHOWN]!r}: expected numbers and ranges such as 1-4,8 or 0-20:5")
        if len(found) + len(listed) > MOST:
            raise WrongValue(f"the ranges {text[:SHOWN]!r} have more than {MOST:,} numbers")
        width = len(part.strip().partition("-")[0])
        found.extend(f"{n:0{width}d}" for n in listed)
    return found
