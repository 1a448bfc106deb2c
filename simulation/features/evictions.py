"""Evictions: the checkpoints of jobs, the eviction problem of a moment, and when the jobs of a plan write and leave."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from random import Random

import numpy as np

from ...errors import SchedlabError, WrongValue
from ...instances.workload import Ints, Workload
from ...models import Eviction, EvictionCandidate, EvictionPlan
from ...models.eviction.jobs import checkpoint_seconds, exact
from ...models.plugins import PluginError
from ...models.whole_numbers import is_whole, shown
from ..preemption.settings import Preemption


@dataclass(frozen=True, eq=False)
class Checkpointed:
    """The checkpoints of all jobs; arrays of shape (jobs,).

    Parameters
    ----------
    interval : ndarray of int64
        Seconds of work between two application-level checkpoints; 0: the job writes none.
    system, application : ndarray of int64
        Seconds of writing a system-level and an application-level checkpoint, rounded up.
    mb_s : tuple of Fraction
        The bandwidth of the file system that the nodes of a job use while they write.
    """

    interval: Ints
    system: Ints
    application: Ints
    mb_s: tuple[Fraction, ...]

    @classmethod
    def of(cls, workload: Workload, settings: Preemption, on_demand: Collection[int]) -> Checkpointed:
        """Return the checkpoints of the jobs of a workload; ``on_demand``: rows of jobs without checkpoints."""
        storage, model, n = settings.storage, settings.checkpoints, len(workload)
        interval, system, application = np.zeros((3, n), np.int64)
        bandwidths = [Fraction(0)] * n
        fs, own = storage.file_system_mb_s, storage.node_mb_s
        for j, nodes in enumerate(workload.units.tolist()):
            if j in on_demand:
                continue
            # by id, so that a job has the same memory in every part of a log
            memory, share = storage.draw(Random(f"{storage.seed} {workload.ids[j]}"))
            writing = checkpoint_seconds(nodes, memory * exact(share), fs, own)
            application[j], system[j] = ceil(writing), ceil(checkpoint_seconds(nodes, memory, fs, own))
            bandwidths[j] = min(exact(fs), nodes * exact(own))
            try:
                seconds = model.interval(workload.ids[j], nodes, float(writing))
            except SchedlabError:
                raise
            except Exception as e:
                raise PluginError(f"checkpoints {model.name} raised in interval: {type(e).__name__}: {e}") from e
            if seconds is not None and not (is_whole(seconds) and 1 <= seconds < 2**62):
                raise WrongValue(
                    f"checkpoints {model.name}: interval of job {workload.ids[j]!r}: expected whole seconds of at least 1, "
                    f"or None, found {shown(seconds)}"
                )
            interval[j] = seconds or 0
        return cls(interval, system, application, tuple(bandwidths))

    def taken(self, j: int, worked: int) -> int:
        """Return the seconds of work at the last application-level checkpoint of an attempt that worked ``worked`` s."""
        every = int(self.interval[j])
        return max(0, worked) // every * every if every else 0

    def wait(self, j: int, worked: int) -> int | None:
        """Return the seconds until the next application-level checkpoint; None: there is none.

        ``worked``: seconds of work in this attempt, below 0 before the end of its restart.
        """
        every = int(self.interval[j])
        return self.taken(j, worked) + every - worked if every else None


@dataclass(frozen=True)
class RunningJob:
    """A batch job that may leave: its row, id, nodes, start, and seconds of work in this attempt (below 0: it restarts)."""

    row: int
    id: str
    nodes: int
    start: int
    worked: int


def problem_of(
    jobs: Sequence[RunningJob],
    checkpoints: Checkpointed,
    settings: Preemption,
    needed: int,
    now: int,
    within: int,
    busy: int,
) -> Eviction | None:
    """Return the eviction problem of the moment; None if the jobs have too few nodes.

    Parameters
    ----------
    jobs
        The jobs that may leave.
    checkpoints
        The checkpoints of all jobs.
    settings
        The settings of the replay.
    needed
        Nodes to be freed.
    now
        The time in seconds.
    within
        Seconds from now within which they are to be free.
    busy
        Seconds from now for which the file system still writes earlier checkpoints.
    """
    if needed > sum(r.nodes for r in jobs):
        return None
    candidates = []
    for r in jobs:
        taken, wait = checkpoints.taken(r.row, r.worked), checkpoints.wait(r.row, r.worked)
        wait = None if wait is None else max(0, wait - busy)
        lost = r.worked - taken if taken else now - r.start
        application = None if wait is None else wait + int(checkpoints.application[r.row])
        candidates.append(
            EvictionCandidate(
                r.id, r.nodes, r.nodes * lost, int(checkpoints.system[r.row]), application, wait or 0,
                plain(checkpoints.mb_s[r.row]),
            )
        )  # fmt: skip
    deadline = max(0, within - busy)
    bandwidth, shared = settings.storage.file_system_mb_s, settings.shared_bandwidth
    return Eviction(candidates, needed, deadline, settings.step, now, bandwidth, shared_bandwidth=shared)


def plain(value: Fraction) -> float:
    """Return a fraction as an integer or a float."""
    return value.numerator if value.denominator == 1 else float(value)


def departures_of(
    plan: EvictionPlan,
    problem: Eviction,
    jobs: Sequence[RunningJob],
    checkpoints: Checkpointed,
    now: int,
    busy: int,
    kill_at: int,
) -> Iterator[tuple[RunningJob, str, int, int, int]]:
    """Yield the jobs that leave, with strategy, and the times (s) at which they stop to work, write and leave.

    Killed jobs leave at ``kill_at``. Checkpoints are written one after another, those with the shortest wait first, or
    at the times of the plan.
    """
    running, known = {r.id: r for r in jobs}, problem.by_id
    for name, what in plan.strategy.items():
        if what == "kill":
            yield running[name], what, kill_at, kill_at, kill_at
    free = now + busy
    writing = [(what, running[name]) for name, what in plan.strategy.items() if what in ("app", "sys")]
    for what, r in sorted(writing, key=lambda pair: known[pair[1].id].wait_s if pair[0] == "app" else 0):
        wait = checkpoints.wait(r.row, r.worked) if what == "app" else 0
        assert wait is not None  # the plan was verified
        begin = now + busy + plan.start[r.id] if problem.shared_bandwidth else free
        write = max(begin, now + wait)
        end = write + int((checkpoints.application if what == "app" else checkpoints.system)[r.row])
        free = max(free, end)
        yield r, what, now + wait if what == "app" else write, write, end
