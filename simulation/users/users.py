"""The protocol of users: they choose the walltime of each job when it is submitted, by what they have experienced.

Users are an object with a ``name`` and two methods; no base class is needed. Pass it to ``schedlab.simulate(...,
users=...)``. They may know the runtimes of their jobs, dispatchers do not.

1. ``begin`` is called once, before the replay.
2. ``request`` is called at each time at which jobs are submitted, before the dispatcher sees them, and returns their
   walltimes.

Examples
--------
Users who request twice the runtime if their last job started late or not yet, else ten times:

>>> import numpy as np
>>> import schedlab as sl
>>> class Hurried:
...     name = "hurried"
...
...     def begin(self, workload):
...         self.workload, self.last = workload, {}
...
...     def request(self, now, jobs, start):
...         found = []
...         for j in jobs.tolist():
...             user, before = self.workload.user[j], self.last.get(self.workload.user[j])
...             waited = before is not None and not 0 <= start[before] - self.workload.submit[before] <= 3600
...             found.append(max(1, self.workload.runtime[j] * (2 if waited else 10)))
...             self.last[user] = j
...         return np.array(found)
>>> run = sl.simulate("eurora_99", dispatcher="psp", users=Hurried())
>>> run.violations, sorted(set((run.workload.walltime // run.workload.runtime).tolist()))
([], [2, 10])
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...instances.workload import Workload
from ...models.plugins import PluginError, check_parts

Ints = NDArray[np.int64]
PARTS = ("name", "begin", "request")  # of users


class Users(Protocol):
    """Objects that choose the walltimes of jobs; see the module docstring.

    Attributes
    ----------
    name : str
        The name in results and error messages.
    notes : tuple of str, optional
        Remarks for ``Simulation.notes``, read after the replay.
    """

    @property
    def name(self) -> str:
        """The name in results and error messages."""

    def begin(self, workload: Workload) -> None:
        """Prepare for a replay; discard everything that was kept from an earlier one.

        Parameters
        ----------
        workload : Workload
            The jobs, with runtimes. ``workload.walltime`` holds the walltimes of the log, and from its submission on the
            requested one of each job.
        """

    def request(self, now: int, jobs: Ints, start: Ints) -> Ints:
        """Return the walltimes of jobs that are submitted.

        Parameters
        ----------
        now : int
            The time in seconds.
        jobs : ndarray of int64
            The rows of the jobs in the workload, in the order of their submission.
        start : ndarray of int64
            The start of each job of the workload in seconds, -1 for jobs that have not started; read only.

        Returns
        -------
        ndarray of int64
            The walltime of each job in seconds, at least 1.
        """


def check_users(found: Any) -> None:
    """Raise PluginError if an object does not follow the protocol."""
    if missing := [part for part in PARTS if not hasattr(found, part)]:
        raise PluginError(
            f"the argument users ({found!r:.100}) has no {' and no '.join(missing)}; expected a name such as 'di', or an "
            "object that follows schedlab.simulation.users.users.Users"
        )
    check_parts("the argument users", found, ("begin", "request"))
