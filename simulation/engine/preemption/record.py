"""What a replay did for its on-demand jobs: decisions and departures of running jobs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ....models import Eviction, EvictionPlan
from ....models.comparing import hashable
from ....models.excerpt import with_short_repr
from ...preemption.settings import Preemption


@with_short_repr
@dataclass(frozen=True)
class EvictionDecision:
    """One decision of an evictor.

    Parameters
    ----------
    job : str
        The id of the on-demand job.
    time : int
        The time in seconds.
    busy : int
        Seconds for which the file system still writes earlier checkpoints; the times and the deadline of the problem
        count from then on, its losses from ``time``.
    problem : Eviction or None
        The eviction problem of the moment. None: the running batch jobs have too few nodes.
    plan : EvictionPlan or None
        What the evictor decided. None: no job leaves.
    seconds : float
        Wall time of the decision.
    """

    job: str
    time: int
    busy: int
    problem: Eviction | None
    plan: EvictionPlan | None
    seconds: float = 0.0


class Departure(NamedTuple):
    """A batch job that left its nodes for an on-demand job.

    Attributes
    ----------
    row : int
        The row of the job in the workload.
    attempt : int
        The number of the attempt that ended.
    cause : str
        The id of the on-demand job.
    strategy : str
        ``"kill"``, ``"app"`` or ``"sys"``.
    decided : int
        The time of the decision in seconds.
    stop : int
        The time in seconds from which on it makes no progress.
    write : int
        The time in seconds at which it begins to write its checkpoint; that of the end if it was killed.
    end : int
        The time in seconds at which it left.
    """

    row: int
    attempt: int
    cause: str
    strategy: str
    decided: int
    stop: int
    write: int
    end: int


@with_short_repr
@hashable
@dataclass(frozen=True)
class PreemptionRecord:
    """The decisions and departures of a replay.

    Parameters
    ----------
    settings : Preemption
        The settings of the replay.
    rows : tuple of int
        The rows of the on-demand jobs in the workload, in the order of ``settings.jobs``.
    decisions : tuple of EvictionDecision
        The decisions, by time.
    departures : tuple of Departure
        The jobs that left, in the order of their ends. Checkpoints that were planned, but not begun when the on-demand
        job had its nodes, are not among them.
    first_start : mapping of int to int
        Row of an on-demand job -> its first start in seconds.
    """

    settings: Preemption
    rows: tuple[int, ...] = ()
    decisions: tuple[EvictionDecision, ...] = ()
    departures: tuple[Departure, ...] = ()
    first_start: Mapping[int, int] = field(default_factory=dict)
