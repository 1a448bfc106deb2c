"""States of nodes over time: up, down, draining, reserved; made from events such as ``node-down``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import NamedTuple

import numpy as np

from ..errors import WrongValue
from .arguments import is_whole
from .array_types import Bools
from .comparing import hashable
from .platform import LATEST, Platform
from .words import excerpt, how_many, with_short_repr

# --- The states that a node can have, in a registry that is open for more.


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


# --- Events of the machine, such as ``node-down``, and the registry of their kinds.

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


# --- The states of the nodes of a platform over time.


class Change(NamedTuple):
    """The states of the nodes from one time on.

    Parameters
    ----------
    time : int
        Seconds.
    names : tuple of str
        The state of each node, in the order of the platform.
    starts, runs : ndarray of bool, shape (nodes,)
        Whether jobs may start on each node; whether running jobs go on.
    """

    time: int
    names: tuple[str, ...]
    starts: Bools
    runs: Bools


class NodeStates:
    """The states of all nodes over time: all nodes are up until an event changes them.

    Events at one time count in their order. A node with several states, such as reserved and down, is shown with the
    strictest: one that ends running jobs before one that only prevents starts.

    Parameters
    ----------
    platform : Platform
        The nodes.
    events : iterable of NodeEvent
        The events, in any order.
    failures : iterable of NodeEvent
        Failures and repairs of nodes, in any order: a repair does not end an outage of the events, nor the other way around.

    Attributes
    ----------
    events : tuple of NodeEvent
        The events and the failures, sorted by time.
    changes : tuple of Change
        The states from each time on at which there are events, sorted by time.

    Raises
    ------
    WrongValue
        If an event names a node that the platform does not have, or its time is not a whole number of seconds.
    """

    def __init__(self, platform: Platform, events: Iterable[NodeEvent], failures: Iterable[NodeEvent] = ()) -> None:
        self.platform = platform
        listed = [(event, False) for event in events] + [(event, True) for event in failures]
        for event, _ in listed:
            if not is_whole(event.time) or abs(event.time) > LATEST:
                raise WrongValue(f"{event}: the time is {excerpt(event.time)}; expected whole seconds up to {LATEST}")
        self._listed = sorted(listed, key=lambda pair: pair[0].time)
        self.events = tuple(event for event, _ in self._listed)
        self._row = {name: n for n, name in enumerate(platform.nodes)}
        self._rows = members(platform)
        self.changes = tuple(self._changes())

    def _changes(self) -> Iterator[Change]:
        held: list[dict[tuple[str, bool], NodeState]] = [{} for _ in self.platform.nodes]
        names = [UP.name] * len(held)
        starts = np.full(len(held), UP.starts)
        runs = np.full(len(held), UP.runs)
        for time, pairs in groupby(self._listed, key=lambda pair: pair[0].time):
            touched = set()
            for event, is_failure in pairs:
                for n in self._nodes_of(event):
                    touched.add(n)
                    if event.effect.state is None:
                        held[n].pop((event.effect.aspect, is_failure), None)
                    else:
                        held[n][event.effect.aspect, is_failure] = event.effect.state
            for n in touched:
                state = _strictest(held[n].values())
                names[n] = state.name
                starts[n] = state.starts
                runs[n] = state.runs
            yield Change(time, tuple(names), starts.copy(), runs.copy())

    def _nodes_of(self, event: NodeEvent) -> Iterator[int]:
        for name in event.nodes:
            if name not in self._rows:
                groups = ", ".join(g.name for g in self.platform.groups)
                raise WrongValue(
                    f"event {event.kind} at {event.time}: the platform has no node or group {excerpt(name)}; "
                    f"its groups are {groups}, its nodes {self.platform.nodes[0]} ... {self.platform.nodes[-1]}"
                )
            yield from self._rows[name]

    def changes_from(self, begin: int | None) -> tuple[Change, ...]:
        """Return the changes of a replay from ``begin`` (s) on: those up to it are one change at it; None: all."""
        if begin is None:
            return self.changes
        past = [change for change in self.changes if change.time <= begin]
        return (*(change._replace(time=begin) for change in past[-1:]), *self.changes[len(past) :])

    def at(self, node: str, time: int) -> str:
        """Return the name of the state of a node at a time in seconds."""
        name = "up"
        for change in self.changes:
            if change.time > time:
                break
            name = change.names[self._row[node]]
        return name

    def of(self, node: str) -> list[tuple[int, str]]:
        """Return the timeline of a node: pairs (time in seconds, state from then on); it is up before the first.

        Examples
        --------
        >>> from schedlab.models import NodeGroup
        >>> platform = Platform([NodeGroup("n", 2, {"cores": 8})])
        >>> NodeStates(platform, [NodeEvent(5, "node-drain", ["n"]), NodeEvent(9, "node-down", ["n-2"])]).of("n-2")
        [(5, 'draining'), (9, 'down')]
        """
        changes: list[tuple[int, str]] = []
        before = "up"
        for change in self.changes:
            name = change.names[self._row[node]]
            if name != before:
                changes.append((change.time, name))
            before = name
        return changes

    def outages(self) -> Iterator[tuple[int, str, int, int | None]]:
        """Yield when nodes take no starts: (index of the node, state, start in s, end in s or None: to the end)."""
        for n in sorted({n for event in self.events for name in event.nodes for n in self._rows[name]}):
            for (start, state), (end, _) in pairwise([*self.of(self.platform.nodes[n]), (None, "")]):
                if state != UP.name and start is not None:
                    yield n, state, start, end

    def __bool__(self) -> bool:
        """Return whether there are events."""
        return bool(self.events)

    def __repr__(self) -> str:
        return f"NodeStates({how_many(len(self.platform.nodes), 'node')}, {how_many(len(self.events), 'event')})"


def members(platform: Platform) -> dict[str, Sequence[int]]:
    """Return the node numbers of each name that an event may have: a node, a group, or ``"*"`` for all nodes.

    A group with the name of a node of another group stands for the node.
    """
    nodes_by_group: dict[str, Sequence[int]] = {EVERY: range(len(platform.nodes))}
    first = 0
    for group in platform.groups:
        nodes_by_group[group.name] = range(first, first + group.count)
        first += group.count
    return nodes_by_group | {name: (n,) for n, name in enumerate(platform.nodes)}


def _strictest(states: Iterable[NodeState]) -> NodeState:
    """Return the state that allows least; the first of several, ``up`` if there is none."""
    return min(states, key=lambda state: (state.runs, state.starts), default=UP)
