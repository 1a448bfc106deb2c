"""The states of the nodes of a platform over time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import WrongValue
from ..excerpt import excerpt
from ..platform import LATEST, Platform
from ..whole_numbers import is_whole
from .events import EVERY, NodeEvent
from .states import UP, NodeState

Mask = NDArray[np.bool_]


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
    starts: Mask
    runs: Mask


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

    Attributes
    ----------
    events : tuple of NodeEvent
        The events, sorted by time.
    changes : tuple of Change
        The states from each time on at which there are events, sorted by time.

    Raises
    ------
    WrongValue
        If an event names a node that the platform does not have, or its time is not a whole number of seconds.
    """

    def __init__(self, platform: Platform, events: Iterable[NodeEvent]) -> None:
        self.platform = platform
        events = list(events)
        for event in events:
            if not is_whole(event.time) or abs(event.time) > LATEST:
                raise WrongValue(f"{event}: the time is {excerpt(event.time)}; expected whole seconds up to {LATEST}")
        self.events = tuple(sorted(events, key=lambda event: event.time))
        self._row = {name: n for n, name in enumerate(platform.nodes)}
        self._rows = members(platform)
        self.changes = tuple(self._changes())

    def _changes(self) -> Iterator[Change]:
        held: list[dict[str, NodeState]] = [{} for _ in self.platform.nodes]
        names = [UP.name] * len(held)
        starts, runs = np.full(len(held), UP.starts), np.full(len(held), UP.runs)
        for time, events in groupby(self.events, key=lambda event: event.time):
            touched = set()
            for event in events:
                for n in self._nodes_of(event):
                    touched.add(n)
                    if event.effect.state is None:
                        held[n].pop(event.effect.aspect, None)
                    else:
                        held[n][event.effect.aspect] = event.effect.state
            for n in touched:
                state = _strictest(held[n].values())
                names[n], starts[n], runs[n] = state.name, state.starts, state.runs
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
        found: list[tuple[int, str]] = []
        before = "up"
        for change in self.changes:
            name = change.names[self._row[node]]
            if name != before:
                found.append((change.time, name))
            before = name
        return found

    def __bool__(self) -> bool:
        """Return whether there are events."""
        return bool(self.events)

    def __repr__(self) -> str:
        return f"NodeStates({len(self.platform.nodes)} nodes, {len(self.events)} events)"


def members(platform: Platform) -> dict[str, Sequence[int]]:
    """Return the node numbers of each name that an event may have: a node, a group, or ``"*"`` for all nodes.

    A group with the name of a node of another group stands for the node.
    """
    found: dict[str, Sequence[int]] = {EVERY: range(len(platform.nodes))}
    first = 0
    for group in platform.groups:
        found[group.name] = range(first, first + group.count)
        first += group.count
    return found | {name: (n,) for n, name in enumerate(platform.nodes)}


def _strictest(states: Iterable[NodeState]) -> NodeState:
    """Return the state that allows least; the first of several, ``up`` if there is none."""
    return min(states, key=lambda state: (state.runs, state.starts), default=UP)
