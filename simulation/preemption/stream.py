"""Random streams of on-demand jobs. The distribution is our own: [Maurya2020] has single jobs only."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from ...errors import WrongValue
from ...models.comparing import hashable
from ...models.excerpt import with_short_repr
from ...models.whole_numbers import is_number, shown
from .jobs import OnDemandJob

DAY = 86400
SIZES = (128, 256, 512, 1024, 2048)
WEIGHTS = (5, 4, 3, 2, 1)


@with_short_repr
@hashable
@dataclass(frozen=True)
class Stream:
    """A Poisson process of on-demand jobs; random numbers come from ``random.Random(seed).random()`` only.

    Parameters
    ----------
    rate : float, default 4
        Jobs per day, above 0.
    start_within : float, default 900
        Seconds from the submission within which a job should start.
    shortest, longest : float, default 600 and 14400
        Limits of the durations in seconds, which are log-uniform.
    notice : float, default 0
        Seconds before the submission at which a job is announced.
    seed : float, default 1
        The seed.
    sizes, weights : sequence of int
        Numbers of nodes, and their relative frequencies.

    Examples
    --------
    >>> [(job.id, job.submit, job.nodes) for job in Stream(seed=1).draw(0, 30000, 4360)]
    [('od-1', 3116, 1024), ('od-2', 9477, 256)]
    """

    rate: float = 4
    start_within: float = 900
    shortest: float = 600
    longest: float = 14400
    notice: float = 0
    seed: float = 1
    sizes: Sequence[int] = SIZES
    weights: Sequence[float] = WEIGHTS

    def __post_init__(self) -> None:
        for name in ("rate", "start_within", "shortest", "longest", "notice"):
            value = getattr(self, name)
            least = 1 if name in ("shortest", "longest") else 0
            if not is_number(value) or value < least or (name == "rate" and value == 0):
                raise WrongValue(
                    f"stream: {name}: expected a number {'above 0' if name == 'rate' else f'of at least {least}'}, "
                    f"found {shown(value)}"
                )
        if self.longest < self.shortest:
            raise WrongValue(f"stream: longest: expected at least shortest, {self.shortest:g}, found {self.longest:g}")

    def draw(self, begin: int, end: int, nodes: int) -> tuple[OnDemandJob, ...]:
        """Return the jobs submitted from ``begin`` to ``end`` (seconds); sizes above ``nodes`` are left out."""
        random, found = Random(int(self.seed)), list[OnDemandJob]()
        pairs = [(n, w) for n, w in zip(self.sizes, self.weights, strict=True) if n <= nodes]
        if not pairs:
            pairs = [(nodes, 1.0)]
        time = float(begin)
        while True:
            time -= math.log(1 - random.random()) * DAY / self.rate
            ticket, length = random.random() * sum(w for _, w in pairs), random.random()
            if time > end:
                return tuple(found)
            k = 0
            while ticket >= pairs[k][1] and k + 1 < len(pairs):
                ticket, k = ticket - pairs[k][1], k + 1
            duration = self.shortest * (self.longest / self.shortest) ** length
            name = f"od-{len(found) + 1}"
            found.append(
                OnDemandJob(name, int(time), pairs[k][0], int(self.start_within), int(duration), int(self.notice))
            )
