"""Slurm's multifactor priority: the weighted sum of rankers.

References
----------
Slurm workload manager, documentation of the multifactor priority plugin:
https://slurm.schedmd.com/priority_multifactor.html
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...errors import WrongValue
from ...models import Platform, Queue
from ...models.excerpt import with_short_repr
from ...models.returned import returned_numbers
from ...models.whole_numbers import is_number, shown
from .priorities import DAY, Aging, Fairshare, JobSize, QueuePriority
from .ranker import Floats, News, RankedJobs, Ranker


@with_short_repr
@dataclass
class WeightedSum:
    """The sum of the keys of several rankers, each times its weight, as in Slurm's multifactor priority.

    Parameters
    ----------
    parts : sequence of (float, Ranker)
        Weights of at least 0, and rankers.
    name : str
        The name in results and error messages.

    Examples
    --------
    >>> WeightedSum([(1000, Aging()), (10000, Fairshare(usage="dominant"))]).name
    'weighted-sum'
    """

    parts: Sequence[tuple[float, Ranker]]
    name: str = "weighted-sum"

    def __post_init__(self) -> None:
        for weight, ranker in self.parts:
            if not is_number(weight) or weight < 0:
                why = f"the weight of {ranker.name} is {shown(weight)}, expected a number of at least 0"
                raise WrongValue(f"ranker {self.name}: {why}")

    @property
    def notes(self) -> tuple[str, ...]:
        """The remarks of all rankers on data that the trace lacks."""
        return tuple(note for _, ranker in self.parts for note in getattr(ranker, "notes", ()))

    def begin(self, platform: Platform, queues: Sequence[Queue], users: Sequence[str], seed: int) -> None:
        """Begin all rankers."""
        for _, ranker in self.parts:
            ranker.begin(platform, queues, users, seed)

    def learn(self, news: News) -> None:
        """Pass the news to all rankers."""
        for _, ranker in self.parts:
            ranker.learn(news)

    def rank(self, now: int, waiting: RankedJobs) -> Floats:
        """Return the weighted sum of the keys."""
        total = np.zeros(len(waiting))
        for weight, ranker in self.parts:
            if weight > 0:
                keys = ranker.rank(now, waiting)
                total += weight * returned_numbers(f"ranker {ranker.name}: rank", keys, len(waiting), "waiting jobs")
        return total


def multifactor(
    age: float = 1000,
    fairshare: float = 10000,
    size: float = 1000,
    queue: float | None = None,
    max_age: float = 7 * DAY,
    half_life: float = 7 * DAY,
    usage: str = "cores",
    favor_small: bool = False,
    shares: Mapping[str, float] | None = None,
    priorities: Mapping[str, float] | None = None,
    dampening: float = 1.0,
) -> WeightedSum:
    """Return Slurm's multifactor priority: a weighted sum of age, fair-share, job size and queue.

    The default weights are those of the example in Slurm's documentation.

    Parameters
    ----------
    age, fairshare, size : float
        The weights: Slurm's PriorityWeightAge, PriorityWeightFairshare, PriorityWeightJobSize.
    queue : float, optional
        The weight of ``priorities``: Slurm's PriorityWeightPartition. Default: 1000 if there are priorities.
    max_age : float
        See ``Aging``.
    half_life, usage, shares, dampening
        See ``Fairshare``.
    favor_small : bool
        See ``JobSize``.
    priorities : mapping of str to float, optional
        See ``QueuePriority``.

    Returns
    -------
    WeightedSum
        The ranker.

    Raises
    ------
    WrongValue
        If a value is not valid, or would have no effect: a weight of queues without priorities, or an option of a
        factor whose weight is 0.

    Examples
    --------
    >>> multifactor(queue=5000, priorities={"debug": 2, "parallel": 1}).name
    'multifactor'
    """
    if queue and not priorities:
        raise WrongValue(
            f"ranker multifactor: queue is {shown(queue)}, but all queues have the priority 0; expected "
            "priorities={'debug': 2, ...} as well, on the command line priorities=debug=2/parallel=1"
        )
    weight_of_queues = queue
    if weight_of_queues is None:
        weight_of_queues = 1000 if priorities else 0
    idle = (
        ("age", age, {"max_age": max_age != 7 * DAY}),
        (
            "fairshare",
            fairshare,
            {
                "half_life": half_life != 7 * DAY,
                "usage": usage != "cores",
                "shares": bool(shares),
                "dampening": dampening != 1,
            },
        ),
        ("size", size, {"favor_small": favor_small}),
        ("queue", weight_of_queues, {"priorities": bool(priorities)}),
    )
    for factor, weight, options in idle:
        given = next((name for name, is_given in options.items() if is_given), None)
        if weight == 0 and given is not None:
            raise WrongValue(f"ranker multifactor: {given} has no effect, as the weight {factor} is 0; leave one out")
    parts: list[tuple[float, Ranker]] = [
        (age, Aging(max_age)),
        (fairshare, Fairshare(half_life, usage, shares or {}, dampening)),
        (size, JobSize(favor_small)),
        (weight_of_queues, QueuePriority(priorities or {})),
    ]
    return WeightedSum(parts, "multifactor")
