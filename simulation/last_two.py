"""The predictor ``last-two`` in compiled code: what it knows of each user, and the expected durations of waiting jobs.

The predictions are those of ``plain.LastTwo``, whose arrays these are. Only the waiting jobs of users are predicted again
whose jobs have ended at the event, and those that have arrived.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..heuristics.kernels.events.state import ENDED, WAITING, State, TraceArrays
from ..models.array_types import Ints
from ..models.compiled import internal_borrowing
from .predictors import LastTwo


class Users(NamedTuple):
    """What is known of the users of the jobs.

    Parameters
    ----------
    user
        User of each job, shape (jobs,); shape (0,): nothing is learned.
    walltime
        Walltime of each job in seconds, shape (jobs,).
    took
        Runtimes in seconds of the last job of each user that has ended and of the one before, shape (users, 2); 0: none.
    changed
        Scratch: whether a job of the user has ended at this event, shape (users,).
    """

    user: Ints
    walltime: Ints
    took: Ints
    changed: NDArray[np.bool_]


def users_of(predictor: LastTwo | None, walltime: Ints) -> Users:
    """Return the arrays of a predictor; None: those of durations that never change."""
    if predictor is None:
        none = np.zeros((0, 2), np.int64)
        return Users(none[:, 0].copy(), walltime, none, np.zeros(0, np.bool_))
    return Users(predictor.user, walltime, predictor.took, np.zeros(len(predictor.took), np.bool_))


@internal_borrowing
def learn_and_predict(users: Users, trace: TraceArrays, state: State, arrived: int) -> None:
    """Learn the runtimes of the jobs that have ended, and predict waiting jobs; ``arrived``: index of the first new one."""
    if users.user.size == 0:
        return
    clock = state.clock
    user = users.user
    took = users.took
    for i in range(clock[ENDED]):
        j = state.ended[i]
        u = user[j]
        last = max(1, trace.runtime[j])
        before = took[u, 0]
        took[u, 0] = last
        took[u, 1] = before if before > 0 else last
        users.changed[u] = True
    first = arrived
    if clock[ENDED] > 0:
        first = 0
    for i in range(first, clock[WAITING]):
        j = state.waiting[i]
        if i >= arrived or users.changed[user[j]]:
            state.expected[j] = _predicted(users, j)
    for i in range(clock[ENDED]):
        users.changed[user[state.ended[i]]] = False


@internal_borrowing
def _predicted(users: Users, j: int) -> int:
    """Return the expected duration of job j in seconds."""
    walltime = max(1, users.walltime[j])
    u = users.user[j]
    if users.took[u, 0] == 0:
        return int(walltime)
    return int(min(walltime, (users.took[u, 0] + users.took[u, 1] + 1) // 2))
