"""What delay search needs beside the placement of jobs: copies of profiles, and bounds of the cost (``delay_search``)."""

from __future__ import annotations

import numpy as np

from ...models.compiled import compiled
from .costs.costs import LAST_END, Costs, cost, together
from .placement import Jobs
from .profile import Floats, Ints, Profile


@compiled
def copied(profile: Profile, room: Profile) -> Profile:
    """Copy the profile, into the arrays of ``room`` if they are large enough."""
    if room.time.shape[1] < profile.time.shape[1]:
        return Profile(profile.length.copy(), profile.time.copy(), profile.free.copy())
    for n in range(profile.length.size):
        length = profile.length[n]
        room.length[n] = length
        for i in range(length):
            room.time[n, i] = profile.time[n, i]
            for r in range(profile.free.shape[2]):
                room.free[n, i, r] = profile.free[n, i, r]
    return room


@compiled
def limits(jobs: Jobs, costs: Costs, order: Ints, starts: Ints, bound: Ints, i: int, rest: Floats) -> float:
    """Return the cost of ``order[:i]``; set ``rest[k]`` to a lower bound of the cost of ``order[k:]``."""
    n = order.size
    rest[n] = -np.inf if costs.mode == LAST_END else 0.0
    for k in range(n - 1, i, -1):
        j = order[k]
        rest[k] = together(costs, rest[k + 1], cost(costs, jobs, j, max(jobs.release[j], bound[j])))
    spent = costs.constant
    for k in range(i):
        spent = together(costs, spent, cost(costs, jobs, order[k], starts[order[k]]))
    return spent
