"""Attempts: the runs of a job, of which only the last one finishes its work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..models import Running
from ..models.comparing import hashable
from ..models.excerpt import with_short_repr

if TYPE_CHECKING:
    from .result import Simulation

Ints = NDArray[np.int64]
COMPLETED, KILLED = "completed", "walltime"


@with_short_repr
@hashable
@dataclass(frozen=True)
class Attempt:
    """One run of a job.

    Parameters
    ----------
    job : str
        The id of the job.
    number : int
        1 for the first attempt of the job.
    start, end : int
        Seconds.
    nodes : mapping of str to int
        Node name -> number of units.
    why : str
        Why the attempt ended: ``"completed"``, ``"walltime"`` (killed), or the state and the name of the node that
        ended it, such as ``"down: n-3"``.
    work_done : int
        Seconds of work of this attempt that count; ``end - start - work_done`` seconds are lost.
    further : tuple of mapping, optional
        The nodes of each further chunk of a heterogeneous job.
    """

    job: str
    number: int
    start: int
    end: int
    nodes: Mapping[str, int]
    why: str
    work_done: int
    further: tuple[Mapping[str, int], ...] = ()

    @property
    def all_nodes(self) -> frozenset[str]:
        """The names of the nodes of all chunks."""
        return frozenset(self.nodes).union(*self.further)

    @property
    def lost(self) -> int:
        """Seconds of the attempt whose work was lost."""
        return self.end - self.start - self.work_done


@with_short_repr
@dataclass(frozen=True, eq=False)
class History:
    """The attempts of a replay that ended before the work of their jobs was done.

    Parameters
    ----------
    early : tuple of Attempt
        The attempts after which the job came back, in the order of their ends.
    rows : ndarray of int64, shape (len(early),)
        The row of the job of each of these attempts in the workload.
    dropped : mapping of int to str
        Row of a job that did not come back -> why its last attempt ended.
    ran_before : ndarray of int64, shape (jobs,)
        Seconds that each job ran in the attempts of ``early``.
    saved : ndarray of int64, shape (jobs,)
        Seconds of work that these attempts have done.
    begun : mapping of int to tuple of Running
        Row of a job that came back after it had run at the begin of the replay -> how it ran then, chunk after chunk.
        Its first attempt began before the replay.
    gone : tuple of Attempt
        The attempts of the other jobs of ``workload.running`` that failed; these jobs did not come back.
    restarted : ndarray of int64, shape (jobs,), optional
        Seconds without progress at the begin of the last attempt of each job; None: there are none.
    """

    early: tuple[Attempt, ...]
    rows: Ints
    dropped: Mapping[int, str]
    ran_before: Ints
    saved: Ints
    begun: Mapping[int, tuple[Running, ...]] = field(default_factory=dict)
    gone: tuple[Attempt, ...] = ()
    restarted: Ints | None = None

    @classmethod
    def of(
        cls,
        early: Sequence[Attempt],
        rows: Sequence[int],
        dropped: Mapping[int, str],
        jobs: int,
        begun: Mapping[int, tuple[Running, ...]],
        gone: Sequence[Attempt],
    ) -> History | None:
        """Return the history of some attempts of a workload of ``jobs`` jobs; None if no attempt ended early."""
        if not early and not dropped and not gone:
            return None
        order = sorted(range(len(early)), key=lambda i: early[i].end)
        early, rows = [early[i] for i in order], [rows[i] for i in order]
        ran, saved = np.zeros(jobs, np.int64), np.zeros(jobs, np.int64)
        np.add.at(ran, rows, [a.end - a.start for a in early])
        np.add.at(saved, rows, [a.work_done for a in early])
        return cls(tuple(early), np.array(rows, np.int64), dict(dropped), ran, saved, dict(begun), tuple(gone))

    def with_restarts(self, seconds: int, without: Iterable[int]) -> History:
        """Return the history with ``seconds`` of restart in later attempts, but for the jobs of the rows ``without``."""
        restarted = np.zeros(self.saved.size, np.int64)
        restarted[self.rows] = seconds
        restarted[list(without)] = 0
        return replace(self, restarted=restarted)

    @property
    def less(self) -> Ints:
        """The seconds by which the last attempt of each job is shorter than the whole job, shape (jobs,)."""
        return self.saved if self.restarted is None else self.saved - self.restarted

    @property
    def start(self) -> Ints:
        """The starts of ``early`` in seconds."""
        return np.array([a.start for a in self.early], np.int64)

    @property
    def end(self) -> Ints:
        """The ends of ``early`` in seconds."""
        return np.array([a.end for a in self.early], np.int64)


class AttemptLog:
    """The attempts of a running replay that ended early; ``begun`` and ``gone`` as in ``History``.

    ``saved`` is the work in seconds that the earlier attempts of each job have done, shape (jobs,). ``restart``: seconds
    without progress at the begin of each later attempt.
    """

    def __init__(self, jobs: int, restart: int = 0) -> None:
        self.restart = restart
        self.early: list[Attempt] = []
        self.rows: list[int] = []
        self.dropped: dict[int, str] = {}
        self.saved = np.zeros(jobs, np.int64)
        self.counts: Counter[int] = Counter()
        self.begun: dict[int, tuple[Running, ...]] = {}
        self.gone: list[Attempt] = []

    def add(self, row: int, attempt: Attempt) -> None:
        """Add an attempt after which the job comes back."""
        self.early.append(attempt)
        self.rows.append(row)
        self.saved[row] += attempt.work_done
        self.counts[row] += 1

    def less(self, row: int) -> int:
        """Return the seconds by which the next attempt of a job is shorter than the whole job."""
        return int(self.saved[row]) - (self.restart if self.counts[row] else 0)

    def history(self) -> History | None:
        """Return the attempts so far."""
        return History.of(self.early, self.rows, self.dropped, self.saved.size, self.begun, self.gone)


def attempts_of(simulation: Simulation) -> list[Attempt]:
    """Return all attempts of a replay, ordered by start; jobs that never started have none."""
    schedule, ids, found = simulation.schedule(), simulation.workload.ids, simulation.history
    nodes, chunks = schedule.nodes, simulation.workload.chunks
    counts = Counter(found.rows.tolist()) if found is not None else Counter[int]()
    dropped = found.dropped if found is not None else {}
    listed = [*found.early, *found.gone] if found is not None else []
    for k in np.flatnonzero(simulation.start >= 0).tolist():
        start, end = int(simulation.start[k]), int(simulation.end[k])
        why = dropped.get(k, KILLED if simulation.killed[k] else COMPLETED)
        restart = 0 if found is None or found.restarted is None else int(found.restarted[k])
        done = 0 if k in dropped else max(0, end - start - restart)
        further = tuple(schedule.further_chunks(ids[k])) if k in chunks else ()
        listed.append(Attempt(ids[k], counts[k] + 1, start, end, nodes[ids[k]], why, done, further))
    return sorted(listed, key=lambda attempt: (attempt.start, attempt.job, attempt.number))
