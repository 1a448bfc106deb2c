"""What a replay determines of a job when it arrives: its submit time after another job, and the walltime that its user chooses."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

import numpy as np

from ...instances.workload import NEVER, Workload
from ...models import Platform
from ..users import Requests, Users
from .feature import Feature, Replay


class Dependencies(Feature):
    """The arrivals of jobs with a preceding job (``Workload.after``); the kernels release them at its end."""

    watches = True
    counts_kinds = True

    def jobs(self, workload: Workload, platform: Platform) -> Workload:
        """Return the jobs with submit times, releases and latest starts of their own, which the replay changes."""
        w = workload
        return replace(w, submit=w.submit.copy(), release=w.release.copy(), latest_start=w.latest_start.copy())

    def begin(self, engine: Replay) -> None:
        """Keep the engine."""
        self._engine = engine

    def arriving(self, rows: Sequence[int]) -> None:
        """Set the submit times and latest starts of jobs that arrive now."""
        engine, w = self._engine, self._engine.workload
        for j in rows:
            if j not in w.after:
                continue
            before, think = w.after[j]
            arrival = max(w.submit[j], engine.state.start[before] + engine.trace.runtime[before] + think)
            if w.latest_start[j] != NEVER:
                w.latest_start[j] += arrival - w.submit[j]
            w.submit[j] = arrival
            w.release[j] = max(w.release[j], w.submit[j])
            engine.rules = None  # the order of a policy may depend on submit times


class UserRequests(Feature):
    """The walltimes of a replay.

    Parameters
    ----------
    users : Users
        The users.
    hidden : callable
        Returns the rows of a workload that no user submits: on-demand jobs, and jobs that run at the begin.
    """

    watches = True
    counts_kinds = True

    def __init__(self, users: Users, hidden: Callable[[Workload], Collection[int]]) -> None:
        self._users, self._hidden = users, hidden

    def jobs(self, workload: Workload, platform: Platform) -> Workload:
        """Return the jobs with walltimes of their own, which the users choose."""
        self._requests = Requests(self._users, workload, sorted(self._hidden(workload)))
        return self._requests.workload

    def begin(self, engine: Replay) -> None:
        """Keep the engine."""
        self._engine = engine

    @property
    def notes(self) -> tuple[str, ...]:
        """The remarks of the users."""
        return self._requests.notes

    def arriving(self, rows: Sequence[int]) -> None:
        """Let the users choose the walltimes of jobs that are submitted now; those that come back keep theirs."""
        engine, ledger = self._engine, self._engine.ledger
        start = np.where(engine.state.start < 0, -1, engine.state.start)
        new = self._requests.submit(engine.now, np.array(rows, np.int64), start)
        for j in new.tolist() if engine.options.kill else ():
            limit = int(engine.workload.walltime[j])
            runtime = int(engine.workload.runtime[j])
            engine.trace.runtime[j] = min(limit, runtime)
            ledger.killed[j] = limit < runtime
