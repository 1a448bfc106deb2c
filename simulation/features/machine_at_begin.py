"""What the state of a real machine says of its nodes and its reservations, in a replay of one decision."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

import numpy as np

from ...instances.sites.machine_state import MachineState
from ...models.node_states import node_states
from ...models.reservations import Reserved
from ..timeline import Hold, Use
from .feature import Feature, Replay
from .node_events import WHY


class MachineAtBegin(Feature):
    """The states of the nodes, and what the reservations hold, of the state of a machine.

    Running jobs stay on their nodes, whatever these are: the machine says that they run. Waiting jobs of private queues are
    not among those of the state.

    Parameters
    ----------
    state : MachineState
        The state.
    """

    watches = True
    follows_nodes = True

    def __init__(self, state: MachineState) -> None:
        self._state = state

    def begin(self, engine: Replay) -> None:
        """Close the nodes that take no starts, and hold what is reserved."""
        names = self._state.states
        known = node_states()
        engine.timeline.states = names
        engine.timeline.close(WHY, np.array([not known[name].starts for name in names], np.bool_), names)
        for k, r in enumerate(holding(self._state)):
            engine.timeline.hold(k, Hold(r.name, r.queue, Use(r.nodes, r.request, r.start, r.end)))


# --- What the reservations of a machine keep free of other jobs.
#
# A job that runs in the private queue of a reservation runs inside of it: the reservation keeps what it holds beyond that
# job. Beside other running jobs (one that is past its walltime, or was started in spite of the reservation) a reservation
# holds only what they leave, until they end: no dispatcher could do more.

Vector = tuple[int, ...]


class _Use(NamedTuple):
    """What a running job uses of a node until its end, not before the next second."""

    queue: str
    end: int
    amounts: Vector


def holding(state: MachineState) -> tuple[Reserved, ...]:
    """Return what the reservations hold from now on, by start: each with amounts that are free beside the running jobs.

    Each has a name of its own; a reservation is divided where the amounts change over time or over nodes.
    """
    if not state.reserved:
        return ()
    resources = state.platform.resources
    by_node: dict[str, list[Reserved]] = defaultdict(list)
    for r in state.reserved:
        for node in r.nodes:
            by_node[node].append(r)
    uses: dict[str, list[_Use]] = defaultdict(list)
    for job in state.running:
        amounts = tuple(job.job.request.get(name, 0) for name in resources)
        for node, units in job.nodes.items():
            if node in by_node:
                end = max(job.end, state.now + 1)
                uses[node].append(_Use(job.job.queue, end, tuple(units * n for n in amounts)))
    nodes: dict[tuple[int, int, str, str, Vector], list[str]] = defaultdict(list)
    for node, listed in by_node.items():
        for name, queue, start, end, kept in _pieces(state, listed, uses[node], state.platform.capacity[node]):
            nodes[start, end, name, queue, kept].append(node)
    names: Counter[str] = Counter()
    reserved = []
    for (start, end, name, queue, kept), members in sorted(nodes.items(), key=lambda item: item[0][:3]):
        own = _unused(name, names)
        reserved.append(
            Reserved(own, queue, start, end, dict.fromkeys(members, 1), dict(zip(resources, kept, strict=True)))
        )
    return tuple(reserved)


def _unused(name: str, names: Counter[str]) -> str:
    """Return the name, with a number if it is in use."""
    own = name
    while own in names:
        names[name] += 1
        own = f"{name}+{names[name] - 1}"
    names[own] += 1
    return own


def _pieces(
    state: MachineState, listed: Sequence[Reserved], uses: Sequence[_Use], capacity: Vector
) -> Iterator[tuple[str, str, int, int, Vector]]:
    """Yield (name, queue, start, end, amounts) of what the reservations of one node hold on it."""
    first = state.now
    ends = [u.end for u in uses]
    times = sorted({t for r in listed for t in (max(first, r.start), r.end)} | {t for t in ends if t > first})
    rows = [(lo, hi, _held(state, listed, uses, capacity, lo)) for lo, hi in pairwise(times)]
    for k, r in enumerate(listed):
        spans = [(lo, hi, held[k]) for lo, hi, held in rows if r.start <= lo < r.end]
        for kept, group in groupby(spans, key=lambda span: span[2]):
            members = list(group)
            if any(kept):
                yield r.name, r.queue, members[0][0], members[-1][1], kept


def _held(
    state: MachineState, listed: Iterable[Reserved], uses: Sequence[_Use], capacity: Vector, time: int
) -> list[Vector]:
    """Return what each reservation of a node holds on it at a time."""
    width = range(len(capacity))
    left = list(capacity)
    inside = defaultdict[str, list[int]](lambda: [0 for _ in width])
    for use in uses:
        if use.end > time:
            left = [n - used for n, used in zip(left, use.amounts, strict=True)]
            inside[use.queue] = [n + used for n, used in zip(inside[use.queue], use.amounts, strict=True)]
    vectors: list[Vector] = []
    for r in listed:
        kept = [0 for _ in width]
        if r.start <= time < r.end:
            asked = [r.request.get(name, 0) for name in state.platform.resources]
            within = [min(n, i) for n, i in zip(asked, inside[r.queue], strict=True)] if r.queue else [0 for _ in width]
            kept = [max(0, min(n - i, free)) for n, i, free in zip(asked, within, left, strict=True)]
            if r.queue:
                inside[r.queue] = [n - i for n, i in zip(inside[r.queue], within, strict=True)]
            left = [n - k for n, k in zip(left, kept, strict=True)]
        vectors.append(tuple(kept))
    return vectors
