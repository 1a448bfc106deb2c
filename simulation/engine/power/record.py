"""The record of a replay in which nodes are switched off and on: the policy, the times, and the states of the nodes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ....models import Platform
from ....models.excerpt import with_short_repr
from ...energy.power import NodeStates
from ...node_policies import ON, STATE_NAMES, AlwaysOn, NodePolicy, Switching

Ints = NDArray[np.int64]


@with_short_repr
@dataclass(frozen=True, eq=False)
class PowerRecord:
    """The states of the nodes during a replay; all nodes are on before their first change.

    Parameters
    ----------
    policy : str
        The name of the node policy.
    switching : Switching
        The times of boot, shut-down, and the least time off.
    node : ndarray of int64, shape (changes,)
        The index of the node in ``platform.nodes``.
    time : ndarray of int64, shape (changes,)
        The time in seconds, ascending.
    state : ndarray of int64, shape (changes,)
        The state from then on: ``OFF``, ``BOOTING``, ``SHUTTING_DOWN`` or ``ON``.
    """

    policy: str
    switching: Switching
    node: Ints
    time: Ints
    state: Ints

    def named(self, platform: Platform) -> list[tuple[str, int, str]]:
        """Return the changes as (node, time, state), by time."""
        rows = zip(self.node.tolist(), self.time.tolist(), self.state.tolist(), strict=True)
        return [(platform.nodes[n], t, STATE_NAMES[s]) for n, t, s in rows]

    def intervals(self, end: int) -> NodeStates:
        """Return the intervals in which nodes are not on, cut at ``end`` in seconds: what the energy accounts take."""
        order = np.lexsort((np.arange(self.time.size), self.node))
        node, begin, state = self.node[order], self.time[order], self.state[order]
        until = np.append(begin[1:], end)
        last = np.append(node[1:] != node[:-1], True)[: node.size]
        until = np.minimum(np.where(last, end, until[: node.size]), end)
        kept = (state != ON) & (begin < until)
        return NodeStates(node[kept], state[kept], begin[kept], until[kept])


@dataclass
class PowerPlan:
    """The node policy of a replay, and the changes of the states so far, as (time, node, state)."""

    policy: NodePolicy
    switching: Switching
    changes: list[tuple[int, int, int]] = field(default_factory=list)

    @property
    def still(self) -> bool:
        """Whether the policy never switches a node off, so that the replay is that without one."""
        return isinstance(self.policy, AlwaysOn)

    def record(self, until: int) -> PowerRecord:
        """Return the record of the changes up to ``until`` in seconds."""
        # stable: at one time, those of a node keep their order
        changes = sorted((c for c in self.changes if c[0] <= until), key=lambda c: c[0])
        found = np.array(changes, np.int64).reshape(-1, 3)
        return PowerRecord(self.policy.name, self.switching, found[:, 1], found[:, 0], found[:, 2])
