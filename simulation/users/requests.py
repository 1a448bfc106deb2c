"""Walltimes that users choose during a replay: the seam between users and the engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...errors import SchedlabError
from ...instances.workload import Ints, Workload
from ...models.returned import WrongAnswer, returned_wholes
from ..given_parts import notes_of, seen_by
from ..result import SimulationError
from .users import Users


class Requests:
    """The walltimes of a replay, chosen by users when they submit their jobs.

    Parameters
    ----------
    users : Users
        The users.
    workload : Workload
        The jobs; ``self.workload`` has the same jobs with walltimes of its own, which are changed during the replay.
    without : sequence of int
        Rows of jobs that no user submits (on-demand jobs), which the users do not see.

    Raises
    ------
    SimulationError
        If the users raise.
    """

    def __init__(self, users: Users, workload: Workload, without: Sequence[int] = ()) -> None:
        self.users = users
        self.workload = replace(workload, walltime=workload.walltime.copy())
        self._walltime, self._asked = self.workload.walltime, np.zeros(len(workload), np.bool_)
        self._seen = np.ones(len(workload), np.bool_)
        self._seen[list(without)] = False
        self._asked[list(without)] = True  # they keep their walltimes
        self._number = np.cumsum(self._seen) - 1  # of each row among those that the users see
        self._visible = self.workload.keep(self._seen) if len(without) else self.workload
        self._call("begin", seen_by(self.users, self._visible))

    @property
    def notes(self) -> tuple[str, ...]:
        """The remarks of the users; none if they have no ``notes``."""
        return notes_of(self.users)

    def submit(self, now: int, jobs: Ints, start: Ints) -> Ints:
        """Set the walltimes of jobs that arrive at ``now`` (s), and return these jobs; others that come back keep theirs.

        ``start``: the start of each job in seconds, -1: none.
        """
        new = jobs[~self._asked[jobs]]
        if len(new):
            seen = start[self._seen]
            seen.flags.writeable = False
            self._asked[new] = True
            visible = self._number[new]
            self._walltime[new] = self._checked(new, self._call("request", now, visible, seen), now)
            self._visible.walltime[visible] = self._walltime[new]
        return new

    def _checked(self, jobs: Ints, found: object, now: int) -> Ints:
        try:
            return returned_wholes(f"users {self.users.name}: request", found, len(jobs), "jobs", 1, "of seconds ")
        except WrongAnswer as e:
            raise SimulationError(str(e), time=now) from e

    def _call(self, method: str, *arguments: object) -> object:
        try:
            return getattr(self.users, method)(*arguments)
        except SchedlabError:
            raise
        except Exception as e:
            raise SimulationError(f"users {self.users.name} raised in {method}: {type(e).__name__}: {e}") from e


def requested(users: Users, workload: Workload, start: NDArray[np.int64], without: Sequence[int] = ()) -> Workload:
    """Return a workload with the walltimes that users request in a replay of which the starts are known.

    It repeats the calls of ``Users.request`` in the order of arrival, for the verification of a stored replay;
    ``without``: as in ``Requests``.
    """
    made = Requests(users, workload, without)
    order = np.argsort(workload.release, kind="stable")
    order = order[~np.isin(order, list(without))]
    arrival = workload.release[order]
    for rows in np.split(order, np.flatnonzero(np.diff(arrival)) + 1):
        now = int(workload.release[rows[0]])
        made.submit(now, rows, np.where(start < now, start, -1))
    return made.workload
