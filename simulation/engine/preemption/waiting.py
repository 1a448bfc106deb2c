"""On-demand jobs that wait for nodes, and the departures of running jobs that are on their way."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...preemption.jobs import OnDemandJob


@dataclass(eq=False)
class WaitingJob:
    """An on-demand job that has been announced and has not started.

    ``row``: in the workload. ``due``: the time in seconds by which it should start. ``claimed``: numbers of the nodes
    that are kept free for it. ``power``: milliwatts that are kept for it, in replays with a power cap.
    """

    row: int
    job: OnDemandJob
    due: int
    claimed: list[int] = field(default_factory=list)
    power: int = 0

    @property
    def missing(self) -> int:
        """The number of nodes that it still lacks."""
        return self.job.nodes - len(self.claimed)


@dataclass(eq=False)
class Leaving:
    """A running job that is to leave; times in seconds as in ``record.Departure``."""

    row: int
    owner: WaitingJob
    strategy: str
    decided: int
    stop: int
    write: int
    end: int
