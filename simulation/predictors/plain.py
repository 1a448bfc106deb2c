"""Predictors without similar jobs: the walltime, the real runtime, and the mean of the user's last two runtimes."""

from __future__ import annotations

import numpy as np

from ...instances.workload import Workload
from ...models.excerpt import with_short_repr
from .names import notes_on_users
from .predictor import Ints


@with_short_repr
class Walltime:
    """A predictor that returns the walltime of each job."""

    name = "walltime"
    notes: tuple[str, ...] = ()

    def begin(self, workload: Workload) -> Ints:
        """Return the walltimes, at least 1 s."""
        self._walltime = workload.walltime  # not a copy: users may choose walltimes during the replay
        return np.maximum(workload.walltime, 1)

    def predict(self, job: int) -> int:
        """Return the walltime of the job, at least 1 s."""
        return max(1, int(self._walltime[job]))

    def learn(self, job: int, took: int) -> tuple[int, ...]:
        """Return no users: nothing is learned."""
        return ()


@with_short_repr
class Real:
    """A predictor that knows the runtime of each job, also if it is longer than the walltime.

    Parameters
    ----------
    kill_at_walltime : bool
        Whether jobs are killed at their walltime, so that none runs longer.
    """

    name = "real"
    notes: tuple[str, ...] = ()

    def __init__(self, kill_at_walltime: bool = False) -> None:
        self._kill = kill_at_walltime

    def begin(self, workload: Workload) -> Ints:
        """Return the durations of all jobs in the replay, at least 1 s."""
        took = np.minimum(workload.runtime, workload.walltime) if self._kill else workload.runtime
        self._expected = np.maximum(took, 1)
        return self._expected

    def predict(self, job: int) -> int:
        """Return the duration of the job in the replay, at least 1 s."""
        return int(self._expected[job])

    def learn(self, job: int, took: int) -> tuple[int, ...]:
        """Return no users: nothing is learned."""
        return ()


@with_short_repr
class LastTwo:
    """A predictor from the last two jobs of the same user that have ended [Bridi2018, 2.3].

    It returns ``min(walltime, ceil((a + b) / 2))``, where a and b are the runtimes of these jobs. After one job it
    returns ``min(walltime, a)``, before that the walltime.
    """

    name = "last-two"

    def __init__(self) -> None:
        self.notes: tuple[str, ...] = ()

    def begin(self, workload: Workload) -> None:
        """Start without any ended job."""
        self.notes = notes_on_users(workload)
        self._user: list[int] = workload.user.tolist()
        self._walltime = workload.walltime  # not a copy: users may choose walltimes during the replay
        self._took: dict[int, tuple[int, int]] = {}  # user -> runtimes of the last job and of the job before

    def predict(self, job: int) -> int:
        """Return the mean runtime of the user's last two jobs, at most the walltime."""
        walltime = max(1, int(self._walltime[job]))
        took = self._took.get(self._user[job])
        return walltime if took is None else min(walltime, (took[0] + took[1] + 1) // 2)

    def learn(self, job: int, took: int) -> tuple[int, ...]:
        """Record the job as the last of its user; return this user."""
        user, took = self._user[job], max(1, took)
        before = self._took.get(user)
        self._took[user] = (took, took if before is None else before[0])
        return (user,)
