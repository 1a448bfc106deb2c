"""What jobs ask of nodes beyond amounts, as resources of nodes: a set of nodes, a whole node, different nodes for its units.

A set of nodes is a resource of which each unit of its jobs requests 1 and each node of the set has plenty. A job that takes
whole nodes requests all of the resource ``node``, of which every other job requests 1. A job whose units must be on
different nodes requests 1 of a resource of its own, of which each node has 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

PLENTY = 10**6
SHARE = "node"
MOST_SETS = 400  # resources of nodes; each is a column of the arrays that dispatchers work on


class NodeSets:
    """The resources that stand for sets of nodes and the like, while a state is made.

    Parameters
    ----------
    nodes
        The names of all nodes.
    """

    def __init__(self, nodes: Iterable[str]) -> None:
        self.nodes = frozenset(nodes)
        self.members: dict[str, frozenset[str]] = {}
        self.each: dict[str, int] = {}
        self.whole_nodes = False
        self.one_job: set[str] = set()  # nodes that are never shared
        self._labels: dict[frozenset[str], str] = {}

    def only_on(self, members: frozenset[str], label: str) -> dict[str, int] | None:
        """Return the request that binds a unit to some nodes; None if there are too many sets of nodes."""
        if members >= self.nodes:
            return {}
        if members not in self._labels:
            if len(self.members) >= MOST_SETS:
                return None
            own, k = label, 2
            while own in self.members:
                own, k = f"{label} ({k})", k + 1
            self._labels[members] = own
            self.members[own], self.each[own] = members, PLENTY
        return {self._labels[members]: 1}

    def apart(self, job: str) -> dict[str, int] | None:
        """Return the request that puts each unit of a job on a node of its own; None if there are too many."""
        if len(self.members) >= MOST_SETS:
            return None
        own = f"different nodes for {job}"
        self.members[own], self.each[own] = self.nodes, 1
        return {own: 1}

    def whole(self) -> dict[str, int]:
        """Return the request that takes a whole node, also of what it does not ask for."""
        self.whole_nodes = True
        return {SHARE: PLENTY}

    def capacity(self, node: str) -> dict[str, int]:
        """Return the resources of a node; all jobs must be known."""
        listed = {own: self.each[own] for own, members in self.members.items() if node in members}
        share = 1 if node in self.one_job else PLENTY
        return listed | ({SHARE: share} if self.whole_nodes or self.one_job else {})

    def shared(self, jobs: Iterable[Mapping[str, Any]]) -> None:
        """Let every waiting job that takes no whole nodes request its share of them."""
        for job in jobs if self.whole_nodes or self.one_job else ():
            for part in job.get("chunks", [job]):
                part["request"].setdefault(SHARE, 1)
