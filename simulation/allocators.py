"""The names of the allocators of a replay; ``heuristics.kernels.events.fit`` implements them."""

from __future__ import annotations

ALLOCATORS = ("first-fit", "best-fit")
"""How a compiled policy chooses the nodes of a job [Galleguillos2019, 2.2].

- ``first-fit``: the nodes in the order of the platform.
- ``best-fit``: the nodes in increasing order of ``sum over resources r of free[n, r] / capacity[n, r]``; ties in the
  order of the platform.

Both put as many units on a node as fit before they go to the next node.
"""
