"""What jobs ask of nodes beyond amounts, as resources of nodes: a set of nodes, a whole node, different nodes for its units.

A set of nodes is a resource of which each unit of its jobs requests 1 and each node of the set has plenty. A job that takes
whole nodes requests all of the resource ``node``, of which every other job requests 1; a node that shares its jobs whatever
they ask for has plenty of that. Where nodes are never shared, every job requests 1 of the resource ``job of its own``, of
which such a node has 1. A job whose units must be on different nodes requests 1 of a resource of its own, of which each node
has 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ...models.platform import MOST_CAPACITY

PLENTY = 10**6
SHARE, ALONE = "node", "job of its own"
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
        self.always_shared: set[str] = set()  # nodes that no job takes whole
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

    def capacity(self, node: str, jobs: int = 0) -> dict[str, int]:
        """Return the resources of a node on which so many jobs run; all waiting jobs must be known."""
        listed = {own: self.each[own] for own, members in self.members.items() if node in members}
        return listed | self._of_node(node, jobs)

    def free_beside_others(self, node: str, jobs: int) -> dict[str, int]:
        """Return what is free of the shares of a node on which something is beside so many jobs of the list."""
        return {own: max(0, n - jobs - 1) for own, n in self._of_node(node, jobs).items()}

    def _of_node(self, node: str, jobs: int) -> dict[str, int]:
        found = {}
        if self.whole_nodes:
            found[SHARE] = MOST_CAPACITY if node in self.always_shared else PLENTY
        if self.one_job:
            found[ALONE] = max(1, jobs) if node in self.one_job else PLENTY
        return found

    @property
    def of_a_job(self) -> dict[str, int]:
        """What a running job has of each of its nodes, and a waiting one requests of them if it does not take them whole."""
        found = {SHARE: 1} if self.whole_nodes else {}
        if self.one_job:
            found[ALONE] = 1
        return found

    def shared(self, jobs: Iterable[Mapping[str, Any]]) -> None:
        """Let every waiting job request its share of nodes."""
        for job in jobs:
            for part in job.get("chunks", [job]):
                for own, amount in self.of_a_job.items():
                    part["request"].setdefault(own, amount)
