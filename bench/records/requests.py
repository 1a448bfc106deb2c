"""The walltimes that users have chosen during a stored replay, repeated for its verification."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...models.excerpt import excerpt
from ..kinds.replays.case import ReplayCase

if TYPE_CHECKING:
    from ...simulation.outputs.reading import JobsTable, Replayed


def with_requests(case: ReplayCase, users: str, replayed: Replayed, table: JobsTable) -> tuple[ReplayCase, list[str]]:
    """Return the case with the walltimes that users request given the starts, and where ``jobs.csv`` differs from them.

    With attempts that ended early, the starts that the users have seen are not in ``jobs.csv``; its walltimes are taken as
    they are then.

    Parameters
    ----------
    case : ReplayCase
        The workload with the walltimes of the log.
    users : str
        The name of the users.
    replayed : Replayed
        Starts and ends.
    table : JobsTable
        The stored jobs.
    """
    from ...simulation.users.registry import users_of
    from ...simulation.users.requests import requested

    row = {name: k for k, name in enumerate(table.ids)}
    stored = np.array([table.walltime[row[name]] if name in row else 1 for name in case.workload.ids], np.int64)
    if replayed.history is not None:
        return replace(case, workload=replace(case.workload, walltime=stored)), []
    on_demand = () if replayed.preemption is None else replayed.preemption.rows
    workload = requested(users_of(users), case.workload, replayed.start, on_demand)
    other = np.flatnonzero(stored != workload.walltime).tolist()
    faults = [
        f"users {users}: job {excerpt(case.workload.ids[k])} has the walltime {stored[k]} s, "
        f"the users request {workload.walltime[k]} s"
        for k in other[:1]
    ]
    return replace(case, workload=workload), faults
