"""Which projects are shops, and their machines."""

from __future__ import annotations

import numpy as np

from ....kernels.profile import Ints
from ....kernels.projects.shops.graph import NONE
from ....kernels.projects.tasks import Tasks


def machines(t: Tasks) -> Ints | None:
    """Return the machine of each mode of a shop, shape (modes,); None for another project.

    In a shop each mode occupies at most one resource, of capacity 1; no other resource is limited, and no precedence has
    a negative delay. Job shops, flow shops, open chains of machines and flexible job shops are shops, with any precedences
    between tasks. The machine is the index of the resource, ``NONE`` for a mode that occupies none.

    Examples
    --------
    >>> from schedlab.heuristics.project.arrays import ProjectArrays
    >>> from schedlab.models import Project, Resource, Task
    >>> tasks = [Task.single("saw", 3, {"saw": 1}), Task.single("dry", 8)]
    >>> machines(ProjectArrays(Project(tasks, [Resource("saw", 1)])).tasks).tolist()
    [0, -1]
    >>> machines(ProjectArrays(Project(tasks, [Resource("saw", 2)])).tasks)
    """
    used = np.diff(t.demand_first)
    alone = bool((used <= 1).all() and (t.capacity[t.resource] == 1).all())
    if not alone or t.budget.size or (t.before_delay < 0).any():
        return None
    found = np.full(t.duration.size, NONE, np.int64)
    found[used == 1] = t.resource
    return found
