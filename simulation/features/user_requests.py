"""Users who choose the walltimes of their jobs when they submit them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import numpy as np

from ...instances.workload import Workload
from ...models import Platform
from ..users import Requests, Users
from .feature import Feature, Replay


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
