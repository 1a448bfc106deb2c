"""How accurately users estimate runtimes: the groups and scenarios of [Rocchetti2015, 5].

The accuracy of a job is runtime / walltime. Taken from [Rocchetti2015]: the six groups of users of Cluster FING, their
shares, the four static scenarios, and the improvement of users who learn. Own assumptions: accuracies are uniform in the
interval of a group; an accuracy of 0 would be an infinite walltime, so the least one is 0.01; numbers of users follow
from the shares by largest remainders, in random order; walltimes are at most 10 days, the limit of the queue.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

from ...errors import WrongValue

LEAST = 0.01
LONGEST = 10 * 86400  # seconds, the limit of the queue
Interval = tuple[float, float]
T = TypeVar("T")
FING: tuple[Interval, ...] = ((LEAST, 0.05), (0.05, 0.15), (0.15, 0.25), (0.25, 0.35), (0.35, 0.60), (0.60, 1.0))
SCENARIOS: dict[str, tuple[Sequence[Interval], Sequence[int]]] = {
    "be": ([(LEAST, 0.2)], [100]),
    "ge": ([(0.8, 1.0)], [100]),
    "cf": (FING, [21, 21, 18, 17, 19, 4]),
    "cfg": (FING, [12, 12, 9, 8, 10, 49]),
}
"""The static scenarios of [Rocchetti2015, table 2]: the groups of users and their shares in percent.

``be``: bad estimates, ``ge``: good estimates, ``cf``: Cluster FING, ``cfg``: Cluster FING with good estimates.
"""


def numbers_by_share(shares: Sequence[int], users: int) -> list[int]:
    """Return how many of the users are in each group, by largest remainders.

    Examples
    --------
    >>> numbers_by_share([21, 21, 18, 17, 19, 4], 20)
    [4, 4, 4, 3, 4, 1]
    """
    total = sum(shares)
    numbers = [users * share // total for share in shares]
    by_remainder = sorted(range(len(shares)), key=lambda k: -(users * shares[k] % total))
    for k in by_remainder[: users - sum(numbers)]:
        numbers[k] += 1
    return numbers


def intervals_of_users(scenario: str, users: int, random: Random) -> list[Interval]:
    """Return the interval of accuracies of each user of a static scenario, in random order."""
    if scenario not in SCENARIOS:
        raise WrongValue(f"scenario is {scenario!r}; expected one of {', '.join(SCENARIOS)}")
    groups, shares = SCENARIOS[scenario]
    dealt = [group for group, n in zip(groups, numbers_by_share(shares, users), strict=True) for _ in range(n)]
    shuffle(dealt, random)
    return dealt


def shuffle(values: list[T], random: Random) -> None:
    """Put values into random order (Fisher-Yates; ``random.shuffle`` may change between versions)."""
    for i in range(len(values) - 1, 0, -1):
        k = int(random.random() * (i + 1))
        values[i], values[k] = values[k], values[i]


def within(interval: Interval, x: float) -> float:
    """Return the point of an interval at the share ``x`` of its length."""
    return interval[0] + (interval[1] - interval[0]) * x


def improved(accuracy: float) -> float:
    """Return the accuracy after one improvement [Rocchetti2015, 5.2]; at most 1.

    Examples
    --------
    >>> [round(improved(a), 6) for a in (0.1, 0.5, 0.6, 0.95)]
    [0.19, 0.55, 0.66, 1.0]
    """
    return min(1.0, accuracy + 0.1 * (1 - accuracy if accuracy <= 0.5 else accuracy))


def walltime_of(runtime: int, accuracy: float, longest: int = LONGEST) -> int:
    """Return the walltime of a job of which the user's estimate has the accuracy: runtime / accuracy, rounded.

    Parameters
    ----------
    runtime : int
        Seconds.
    accuracy : float
        Above 0, at most 1.
    longest : int
        Greatest walltime in seconds, unless the runtime is longer.

    Examples
    --------
    >>> walltime_of(30, 0.4), walltime_of(86400, 0.05), walltime_of(0, 0.5)
    (75, 864000, 1)
    """
    return max(1, runtime, min(longest, round(runtime / accuracy)))
