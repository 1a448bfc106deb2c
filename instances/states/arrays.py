"""Tasks of job arrays: those that still wait, and the number of them that may run at once."""

from __future__ import annotations

import re
from itertools import chain, islice
from typing import NamedTuple

from ...errors import WrongValue
from ..files.numbers import span_of, whole_of

SHOWN = 60
FEWEST = 1000  # tasks of an array that are listed, if the machine has fewer cores
MOST = 100_000  # tasks of all arrays of a state that are listed: each is a waiting job


class WaitingTasks(NamedTuple):
    """The waiting tasks of an array.

    Attributes
    ----------
    indices
        The indices of the first of them.
    more
        How many of the listed tasks are beyond these.
    limit
        How many tasks may run at once; None: no limit.
    cut
        Whether the list ends with "...": Slurm prints only so many characters (``SLURM_BITSTR_LEN``).
    """

    indices: list[int]
    more: int
    limit: int | None
    cut: bool


def most_listed(cores: int, listed: int) -> int:
    """Return how many tasks of a further array are listed: as many as the machine may start, in all at most MOST.

    >>> most_listed(16, 0), most_listed(5000, 99_000), most_listed(10**12, MOST)
    (1000, 1000, 0)
    """
    return min(max(FEWEST, cores), MOST - listed)


def waiting_tasks(text: str, most: int) -> WaitingTasks:
    """Return the tasks of a text such as ``5-9,12%2``, at most ``most`` of them. Raises WrongValue if it is malformed.

    >>> waiting_tasks("1-1000000%7", 3)
    WaitingTasks(indices=[1, 2, 3], more=999997, limit=7, cut=False)
    >>> waiting_tasks("[1-3,8,...%2]", 9), waiting_tasks("0-20:10,35...", 9).indices
    (WaitingTasks(indices=[1, 2, 3, 8], more=0, limit=2, cut=True), [0, 10, 20])
    """
    listed, percent, limit = re.sub(r"[\[\]\s]", "", text).partition("%")
    most_at_once = whole_of(limit) if percent else None
    if percent and most_at_once is None:
        raise WrongValue(f"the tasks {text[:SHOWN]!r}: expected a number after %")
    listed, cut, rest = listed.partition("...")
    if rest:
        raise WrongValue(f"the tasks {text[:SHOWN]!r}: expected nothing after ...")
    words = listed.split(",")
    if cut:  # what stands before ... without a comma may be a part of a number
        words.pop()
    ranges = []
    for word in filter(None, words):
        listed_here = span_of(word)
        if listed_here is None:
            raise WrongValue(f"the tasks {text[:SHOWN]!r}: expected numbers and ranges such as 1-4,8 or 0-20:5")
        ranges.append(listed_here)
    indices = list(islice(chain.from_iterable(ranges), most))
    return WaitingTasks(indices, sum(map(len, ranges)) - len(indices), most_at_once or None, bool(cut))
