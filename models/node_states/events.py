"""Events of the machine, such as ``node-down``, and the registry of their kinds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...errors import WrongValue
from ..comparing import hashable
from ..excerpt import with_short_repr
from .states import DOWN, DRAINING, RESERVED, UP, NodeState, register_node_state

EVERY = "*"


@with_short_repr
@dataclass(frozen=True)
class EventKind:
    """A kind of event that changes the states of nodes.

    Parameters
    ----------
    name : str
        The name, as in the column ``kind`` of ``events.csv``.
    aspect : str
        The aspect of the nodes that the event changes; see ``NodeState``.
    state : NodeState, optional
        The new state of this aspect. None: no state of this aspect any more, as after the release of a reservation.
    """

    name: str
    aspect: str
    state: NodeState | None

    def __post_init__(self) -> None:
        if self.state is not None and self.state.aspect != self.aspect:
            raise WrongValue(
                f"event kind {self.name!r} changes the aspect {self.aspect!r}; "
                f"its state {self.state.name!r} belongs to {self.state.aspect!r}"
            )


_KINDS: dict[str, EventKind] = {
    kind.name: kind
    for kind in (
        EventKind("node-down", "health", DOWN),
        EventKind("node-up", "health", UP),
        EventKind("node-drain", "health", DRAINING),
        EventKind("node-reserve", "reservation", RESERVED),
        EventKind("node-release", "reservation", None),
    )
}


def event_kinds() -> dict[str, EventKind]:
    """Return all kinds of events.

    Returns
    -------
    dict of str to EventKind
        Name -> kind, in the order in which they were registered.

    Examples
    --------
    >>> list(event_kinds())[:5]
    ['node-down', 'node-up', 'node-drain', 'node-reserve', 'node-release']
    """
    return dict(_KINDS)


def register_event_kind(kind: EventKind) -> None:
    """Add a kind of event, and its state if that is new.

    Parameters
    ----------
    kind : EventKind
        The kind; nothing happens if it is registered already.

    Raises
    ------
    WrongValue
        If there is another kind or another state of the same name.

    Examples
    --------
    >>> from schedlab.models.node_states import NodeState
    >>> register_event_kind(EventKind("node-test", "test", NodeState("in test", "test")))
    >>> event_kinds()["node-test"].state.starts
    False
    """
    if _KINDS.get(kind.name, kind) != kind:
        raise WrongValue(f"event kind {kind.name!r} is registered already, as {_KINDS[kind.name]}")
    if kind.state is not None:
        register_node_state(kind.state)
    _KINDS[kind.name] = kind


@with_short_repr
@hashable
@dataclass(frozen=True)
class NodeEvent:
    """A change of the states of some nodes at one time.

    Parameters
    ----------
    time : int
        Seconds, on the clock of the workload.
    kind : str
        One of ``event_kinds()``.
    nodes : sequence of str
        Names of nodes or of groups of nodes; ``"*"``: all nodes.

    Raises
    ------
    WrongValue
        If there is no such kind, or no node is given.

    Examples
    --------
    >>> NodeEvent(3600, "node-drain", ("gpu-1", "mic"))
    NodeEvent(time=3600, kind='node-drain', nodes=('gpu-1', 'mic'))
    """

    time: int
    kind: str
    nodes: Sequence[str]

    def __post_init__(self) -> None:
        if self.kind not in _KINDS:
            raise WrongValue(f"there is no event kind {self.kind!r}; expected one of {', '.join(_KINDS)}")
        if isinstance(self.nodes, str) or not self.nodes:
            raise WrongValue(f"nodes is {self.nodes!r}; expected a list of names of nodes or groups, such as ['n-1']")
        object.__setattr__(self, "nodes", tuple(self.nodes))

    @property
    def effect(self) -> EventKind:
        """What the event does."""
        return _KINDS[self.kind]
