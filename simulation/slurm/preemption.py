"""Preemption: which running jobs make room for a job that may preempt them, and what becomes of them.

With ``partition_prio``, a job may preempt those in partitions of lower tiers; with ``qos``, those of the QOS that its own QOS
names. Candidates are taken off in order, the lowest tier and priority first, until the job fits; the last of them is then
tried first, which finds fewer. Those that are not on its nodes stay [SlurmDoc, preempt]. Victims are cancelled or put back into
the queue, after the grace time of their partition or QOS. Suspended jobs are not modelled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...models.site import QOS, Partition, SchedulerSettings, Site
from . import columns as c
from .jobs import SlurmJob
from .priority import JobPriorities
from .tables import Tables

MODES = ("cancel", "requeue")


@dataclass(frozen=True)
class Victim:
    """A job that must end: its index, when (Unix time in s), and whether it is put back into the queue."""

    job: int
    end: int
    requeued: bool


@dataclass
class Preemption:
    """The rules of preemption of a site.

    Parameters
    ----------
    site : Site
        The site.
    jobs : sequence of SlurmJob
        All jobs.
    tables : Tables
        The running jobs.
    priorities : JobPriorities
        The priorities of jobs.
    """

    site: Site
    jobs: Sequence[SlurmJob]
    tables: Tables
    priorities: JobPriorities

    def __post_init__(self) -> None:
        settings = self.site.scheduler
        assert isinstance(settings, SchedulerSettings)
        self.settings = settings
        self._qos = {q.name: q for q in self.site.qos}

    @property
    def enabled(self) -> bool:
        """Whether any job may preempt others."""
        return self.settings.preempt_type in ("partition_prio", "qos")

    def _partition(self, job: int) -> Partition:
        run = self.tables.runs[self.tables.row_of[job]]
        return self.tables.partitions[int(run[c.RUN_PARTITION])]

    def _quality(self, job: int) -> QOS | None:
        return self._qos.get(self.jobs[job].request.qos)

    def mode(self, victim: int) -> str:
        """Return what becomes of a running job: ``"cancel"`` or ``"requeue"``; empty: it cannot be preempted."""
        own: str | None = None
        if self.settings.preempt_type == "qos":
            quality = self._quality(victim)
            own = None if quality is None else quality.preempt_mode
        else:
            own = self._partition(victim).preempt_mode
        words = own.split(",") if own and own != "cluster" else list(self.settings.preempt_mode)
        mode = next((word for word in words if word in MODES), "")
        if mode == "requeue" and self.jobs[victim].request.requeue is False:
            return "cancel"
        return mode

    def _may(self, job: int, part: int, victim: int, now: int) -> bool:
        if not self.mode(victim):
            return False
        quality = self._quality(victim)
        exempt = self.settings.preempt_exempt_time
        if quality is not None and quality.preempt_exempt_time is not None:
            exempt = quality.preempt_exempt_time
        if now - int(self.tables.runs[self.tables.row_of[victim], c.RUN_START]) < exempt:
            return False
        if self.settings.preempt_type == "partition_prio":
            return self._partition(victim).tier < self.tables.partitions[part].tier
        own = self._quality(job)
        return own is not None and self.jobs[victim].request.qos in own.preempt

    def victims(self, job: int, part: int, now: int) -> list[Victim]:
        """Return the jobs that end so that a job can start; none if it cannot start even then.

        Parameters
        ----------
        job, part : int
            The job, and the partition in which it is to start.
        now : int
            Unix time in s.
        """
        tables = self.tables
        runs = tables.runs
        candidates = [k for k in tables.row_of if self._may(job, part, k, now)]
        if self.settings.preempt_youngest_first:
            candidates.sort(key=lambda k: -int(runs[tables.row_of[k], c.RUN_START]))
        else:
            candidates.sort(key=lambda k: (self._partition(k).tier, int(self.priorities.priority[k, 0])))
        nodes: set[int] = set()
        gone: list[int] = []
        for _ in range(1 + max(0, self.settings.preempt_reorder_count)):
            nodes, gone = self._until_it_fits(job, part, candidates)
            if not nodes:
                return []
            last = gone[-1]
            candidates = [last, *(k for k in candidates if k != last)]
        on = [k for k in gone if nodes & {int(n) for n in tables.pieces_of(k)[:, c.PIECE_NODE]}]
        return [Victim(k, now + self._grace(k), self.mode(k) == "requeue") for k in on]

    def _until_it_fits(self, job: int, part: int, candidates: Sequence[int]) -> tuple[set[int], list[int]]:
        for number in range(1, len(candidates) + 1):
            gone = list(candidates[:number])
            nodes = self.tables.nodes_without(job, part, gone)
            if nodes:
                return nodes, gone
        return set(), []

    def _grace(self, victim: int) -> int:
        if self.settings.preempt_type == "qos":
            quality = self._quality(victim)
            return 0 if quality is None else quality.grace_time
        return self._partition(victim).grace_time
