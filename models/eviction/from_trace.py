"""The jobs that run at one time of a log, with checkpoints that are drawn at random [Maurya2020, IV.B]."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol

from ..arguments import checked
from ..excerpt import with_short_repr
from ..platform import ProblemError

GB = 1024  # MB
JobRow = tuple[str, int, int, int | None, int | None, int, float]  # the fields of a BatchJob


class Log(Protocol):
    """A log of jobs as columns, such as a ``Workload``; one job unit is one node."""

    @property
    def name(self) -> str:
        """The name of the log, for messages."""

    @property
    def ids(self) -> Sequence[str]:
        """The id of each job."""

    @property
    def recorded_start(self) -> Any:
        """The start of each job in seconds; -1 if it is unknown."""

    @property
    def runtime(self) -> Any:
        """The runtime of each job in seconds."""

    @property
    def units(self) -> Any:
        """The number of nodes of each job."""


@checked
@with_short_repr
@dataclass(frozen=True)
class Checkpointing:
    """The random model of checkpoints; the default values are those of [Maurya2020] for the machine Theta.

    The random numbers come from ``random.Random(seed).random()`` only, two per job in the order of the log.

    Parameters
    ----------
    interval : int, default 3600
        Seconds between two application-level checkpoints of a job, counted from its start.
    memory : int, default 192 GB
        The memory of a node in MB.
    memory_share : (float, float)
        Limits of the share of the memory that a job uses, drawn uniformly.
    application_share : (float, float)
        Limits of the share of the used memory that an application-level checkpoint writes, drawn uniformly.
    file_system_mb_s : float
        The bandwidth of the file system for all nodes together, in MB/s.
    node_mb_s : float
        The bandwidth of one node, in MB/s; by default that of Theta's SSDs.
    seed : int, default 1
        The seed of the random numbers.
    """

    interval: int = 3600
    memory: int = 192 * GB
    memory_share: tuple[float, float] = (0.40, 0.90)
    application_share: tuple[float, float] = (0.20, 0.60)
    file_system_mb_s: float = 250 * GB
    node_mb_s: float = 700
    seed: int = 1

    def draw(self, random: Random) -> tuple[int, float]:
        """Draw the memory of a job in MB per node, and the share that an application-level checkpoint writes."""
        memory = int(self.memory * _between(self.memory_share, random))
        return memory, round(_between(self.application_share, random), 3)

    def around(self, start: int, now: int) -> tuple[int | None, int]:
        """Return the times of the last checkpoint before ``now`` (None if there is none) and of the next one.

        A checkpoint at ``now`` itself counts as the last one.

        Examples
        --------
        >>> Checkpointing().around(start=100, now=4000), Checkpointing().around(start=100, now=3000)
        ((3700, 7300), (None, 3700))
        """
        taken = (now - start) // self.interval
        return (start + taken * self.interval if taken else None), start + (taken + 1) * self.interval


def _between(limits: tuple[float, float], random: Random) -> float:
    low, high = limits
    return low + (high - low) * random.random()


def running_jobs(log: Log, at: int, checkpointing: Checkpointing) -> Iterator[JobRow]:
    """Yield the fields of the jobs with recorded start <= ``at`` < end; raise ProblemError if there is none."""
    start = log.recorded_start
    rows = ((start >= 0) & (start <= at) & (at < start + log.runtime)).nonzero()[0].tolist()
    if not rows:
        known = start[start >= 0]
        span = f"its starts are from {known.min()} s to {known.max()} s" if known.size else "it has no recorded starts"
        raise ProblemError(f"{log.name}: no job runs at {at} s; {span}")
    random = Random(checkpointing.seed)
    for k in rows:
        begin = int(start[k])
        yield (log.ids[k], int(log.units[k]), begin, *checkpointing.around(begin, at), *checkpointing.draw(random))
