"""The jobs that run at a moment of a log, with checkpoints drawn as the log does not tell of them (paper, IV.B)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol

from ..platform import ProblemError

GB = 1024  # MB
JobRow = tuple[str, int, int, int | None, int | None, int, float]  # the fields of a BatchJob


class Log(Protocol):
    """A log of jobs as columns; a ``Workload`` is one. Units are nodes; a start of -1 is not known."""

    @property
    def name(self) -> str: ...
    @property
    def ids(self) -> Sequence[str]: ...
    @property
    def recorded_start(self) -> Any: ...
    @property
    def runtime(self) -> Any: ...
    @property
    def units(self) -> Any: ...


@dataclass(frozen=True)
class Checkpointing:
    """How running jobs take checkpoints, where nobody knows: the figures are the paper's, for the machine Theta.

    An application-level checkpoint every ``interval`` seconds from a job's start; memory in use a share of ``memory`` MB per
    node, uniform in ``memory_share`` per job; of that the application writes a share uniform in ``application_share``.
    ``node_mb_s``: what one node can write, here that of Theta's SSDs; ``file_system_mb_s``: all
    nodes together. The draws come from ``random.Random(seed).random()`` alone, two per job in the order of the log.
    """

    interval: int = 3600
    memory: int = 192 * GB
    memory_share: tuple[float, float] = (0.40, 0.90)
    application_share: tuple[float, float] = (0.20, 0.60)
    file_system_mb_s: float = 250 * GB
    node_mb_s: float = 700
    seed: int = 1

    def draw(self, random: Random) -> tuple[int, float]:
        """The memory of a job in MB per node, and the application's share of it."""
        memory = int(self.memory * _between(self.memory_share, random))
        return memory, round(_between(self.application_share, random), 3)

    def around(self, start: int, now: int) -> tuple[int | None, int]:
        """The last checkpoint (None before the first one) and the next one of a job, at ``now``; one of this very second is past.

        >>> Checkpointing().around(start=100, now=4000), Checkpointing().around(start=100, now=3000)
        ((3700, 7300), (None, 3700))
        """
        taken = (now - start) // self.interval
        return (start + taken * self.interval if taken else None), start + (taken + 1) * self.interval


def _between(limits: tuple[float, float], random: Random) -> float:
    low, high = limits
    return low + (high - low) * random.random()


def running_jobs(log: Log, at: int, how: Checkpointing) -> Iterator[JobRow]:
    """The fields of the jobs that run at ``at``: recorded start <= at < end. Raises ProblemError if there is none."""
    start = log.recorded_start
    rows = ((start >= 0) & (start <= at) & (at < start + log.runtime)).nonzero()[0].tolist()
    if not rows:
        known = start[start >= 0]
        span = f"its starts run from {known.min()} to {known.max()}" if known.size else "it tells no starts"
        raise ProblemError(f"{log.name}: no job runs at second {at}; {span}")
    random = Random(how.seed)
    for k in rows:
        begin = int(start[k])
        yield (log.ids[k], int(log.units[k]), begin, *how.around(begin, at), *how.draw(random))
