"""The states that a node can have, in a registry that is open for more."""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import WrongValue
from ..excerpt import with_short_repr


@with_short_repr
@dataclass(frozen=True)
class NodeState:
    """A state of a node.

    A node has one state for each *aspect*, such as its health and its reservation: a reserved node can be down, and is
    still reserved when it is repaired. A job may start on a node if the states of all aspects allow it.

    Parameters
    ----------
    name : str
        The name, such as ``"down"``.
    aspect : str
        The aspect that the state belongs to, such as ``"health"``. States of one aspect replace each other.
    starts : bool
        Whether jobs may start on the node.
    runs : bool
        Whether running jobs go on; if not, they fail at the time at which the state begins.
    """

    name: str
    aspect: str
    starts: bool = False
    runs: bool = True

    def __post_init__(self) -> None:
        if self.starts and not self.runs:
            raise WrongValue(f"node state {self.name!r}: jobs may start, but not run; expected runs=True")


UP = NodeState("up", "health", starts=True)
DOWN = NodeState("down", "health", runs=False)
DRAINING = NodeState("draining", "health")
RESERVED = NodeState("reserved", "reservation")
_STATES: dict[str, NodeState] = {state.name: state for state in (UP, DOWN, DRAINING, RESERVED)}


def node_states() -> dict[str, NodeState]:
    """Return all node states.

    Returns
    -------
    dict of str to NodeState
        Name -> state, in the order in which they were registered.

    Examples
    --------
    >>> list(node_states())[:4]
    ['up', 'down', 'draining', 'reserved']
    """
    return dict(_STATES)


def register_node_state(state: NodeState) -> None:
    """Add a node state.

    Parameters
    ----------
    state : NodeState
        The state; nothing happens if it is registered already.

    Raises
    ------
    WrongValue
        If there is another state of this name.

    Examples
    --------
    >>> register_node_state(NodeState("under repair", "health", runs=False))
    >>> node_states()["under repair"].runs
    False
    """
    if _STATES.setdefault(state.name, state) != state:
        raise WrongValue(f"node state {state.name!r} is registered already, as {_STATES[state.name]}")
