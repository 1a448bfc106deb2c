"""What each node may hold, when, and why: closed nodes, nodes that are away for a time, reserved and claimed amounts.

Running jobs are not part of it: ``free`` of the state is what they leave, less what the timeline keeps from starts now.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

import numpy as np

from ..heuristics.kernels.events.state import EARLY, NOW, State, TraceArrays, set_open
from ..heuristics.kernels.profile import NEVER
from ..models import Platform
from ..models.array_types import Bools, Ints
from ..models.node_states import DRAINING, UP
from ..models.reservations import Overuse, Reserved, Usage, overuse
from .dispatcher import Moment
from .dispatchers.easy import Holds

# --- What each node, and the whole machine, may hold, when, and why: closed nodes, reserved, claimed and limited amounts.
#
# Running jobs are not part of it: ``free`` and ``machine_free`` of the state are what they leave, less what the timeline
# keeps from starts now. Jobs inside of reservations are not among the running jobs of the kernels: what they take of the
# whole machine is.


class Use(NamedTuple):
    """Units on nodes from ``start`` to before ``end`` (s), each with a request: a chunk of a job, or what is kept for one."""

    nodes: Mapping[str, int]
    request: Mapping[str, int]
    start: int
    end: int


class Hold(NamedTuple):
    """What a reservation holds for the jobs of a queue; no other job may run into it by its walltime."""

    label: str
    queue: str
    use: Use


class Timeline:
    """What the nodes of one replay may hold.

    Attributes
    ----------
    holds : dict of Hashable to Hold
        The reserved amounts that are not over, by the key of whoever holds them: the number of a reservation, for instance.
    barred : ndarray of bool, shape (nodes,)
        The nodes that reservations may never have.
    for_all : ndarray of bool, shape (machine resources,)
        The amounts of the whole machine that also limit on-demand jobs, and jobs inside of reservations.
    inside : dict of int to None
        The rows of the jobs that run inside of reservations.
    limit_names : sequence of str
        The name of each limit of the replay, for messages.
    changed : int
        The time in seconds at which nodes were last closed or opened.
    states : tuple of str
        The state of each node by node events, such as ``up`` or ``down``.
    """

    def __init__(self, platform: Platform, trace: TraceArrays, state: State) -> None:
        self.platform = platform
        self._trace = trace
        self._state = state
        self._limited: Ints = np.zeros_like(state.free)
        self._machine_limited: Ints = np.zeros_like(state.machine_free)
        self.inside: dict[int, None] = {}
        self.limit_names: Sequence[str] = ()
        self.for_all: Bools = np.ones(state.machine_free.size, np.bool_)
        self.number = {name: n for n, name in enumerate(platform.nodes)}
        nodes = len(platform.nodes)
        self.barred: Bools = np.zeros(nodes, np.bool_)
        self.holds: dict[Hashable, Hold] = {}
        self.states: tuple[str, ...] = ("up",) * nodes
        self.changed = -NEVER
        self._closed: dict[str, tuple[Bools, Sequence[str]]] = {}
        self._away: tuple[str, Ints] | None = None
        self._back: Ints | None = None
        self._shown: tuple[Reserved, ...] | None = None
        self._shown_states: tuple[str, ...] | None = None
        self._kept: Holds | None = None

    @property
    def open(self) -> Bools:
        """Whether jobs may start on each node now, shape (nodes,)."""
        return self._state.open

    @property
    def now(self) -> int:
        """The time in seconds."""
        return int(self._state.clock[NOW])

    def close(self, why: str, closed: Bools, names: Sequence[str]) -> None:
        """Say which nodes are closed for a reason, instead of those that were; running jobs go on.

        Parameters
        ----------
        why : str
            The reason; a node is open if no reason closes it.
        closed : ndarray of bool, shape (nodes,)
            The closed nodes.
        names : sequence of str
            The state of each node, for messages.
        """
        if why in self._closed:
            before = self._closed[why][0]
        else:
            before = np.zeros_like(closed)
        self._closed[why] = closed.copy(), names
        self._shown_states = None
        self.changed = self.now
        if np.array_equal(before, closed):
            return
        self._back = None
        set_open(self._trace, self._state, ~np.logical_or.reduce([mask for mask, _ in self._closed.values()]))
        self._note_ready()
        if (before & ~closed).any():  # also nodes that are away for another reason may be reserved earlier now
            self.freed_early()

    def shown_states(self) -> tuple[str, ...]:
        """Return the state of each node, for dispatchers; one that is closed for a reason of its own is shown as draining.

        Nodes that are away (``ready``) keep their states.
        """
        if self._shown_states is None:
            away = None
            if self._away is not None:
                away = self._away[0]
            others = [mask for why, (mask, _) in self._closed.items() if why != away]
            closed = np.logical_or.reduce([np.zeros_like(self.open), *others]).tolist()
            self._shown_states = tuple(
                DRAINING.name if shut and name == UP.name else name
                for shut, name in zip(closed, self.states, strict=True)
            )
        return self._shown_states

    def set_away(self, why: str, ready: Ints) -> None:
        """Say when the nodes that are closed for a reason open again (s), shape (nodes,)."""
        if self._away is None or self._away[0] != why:
            self._back = None
        self._away = why, ready
        self._note_ready()

    def _note_ready(self) -> None:
        """Note when closed nodes open again, for policies."""
        back = self.coming_back()
        ready = self._state.ready
        ready[:] = NEVER
        if self._away is not None:
            ready[back] = self._away[1][back]

    def state_of(self, node: int) -> str:
        """Return why a node is closed, or ``up``, for messages."""
        return next((names[node] for closed, names in self._closed.values() if closed[node]), "up")

    def ready(self) -> Ints | None:
        """Return the earliest time in seconds at which each node can be on, shape (nodes,); None if all are on."""
        if self._away is None:
            return None
        return self._away[1].copy()

    def freed_early(self) -> None:
        """Note that amounts are free earlier than expected: waiting jobs may get earlier reservations."""
        self._state.clock[EARLY] += 1
        self._state.room[:] = NEVER

    def bookable(self, start: int) -> Bools:
        """Return the nodes that reservations from ``start`` (s) on may have, shape (nodes,): those that can be open then."""
        bookable = self.open.copy()
        back = self.coming_back()
        if self._away is not None:
            bookable[back] = self._away[1][back] <= start
        return bookable & ~self.barred

    def limit(self, held: Ints, of_machine: Ints) -> None:
        """Say what no start may use now, instead of what it was: by a desired use, or a cap.

        Parameters
        ----------
        held : ndarray of int64, shape (places, resources)
            Amounts of nodes.
        of_machine : ndarray of int64, shape (machine resources,)
            Amounts of the whole machine.
        """
        self._state.free[:] += self._limited - held
        self._state.machine_free[:] += self._machine_limited - of_machine
        freed = (held < self._limited).any() or (of_machine < self._machine_limited).any()
        self._limited, self._machine_limited = held, of_machine
        if freed:
            self.freed_early()

    def machine_lacks(self, row: int) -> Ints:
        """Return what the whole machine lacks for a job that no desired use limits, shape (machine resources,); at most 0: nothing."""
        lacks = self._trace.machine_request[row] - self._state.machine_free
        lacking: Ints = np.where(self.for_all, lacks, 0)
        return lacking

    def limit_on(self, row: int) -> str:
        """Return the name of the first limit that keeps a job from a start now; an empty text if none does."""
        limits, amounts = self._limits_of(row)
        checked = self._trace.limit_checked[int(self._trace.first_limit[row]) : int(self._trace.first_limit[row + 1])]
        reached = np.flatnonzero(checked & (amounts > self._state.limit_free[limits]))
        if reached.size:
            return self.limit_names[int(limits[reached[0]])]
        return ""

    def _limits_of(self, row: int) -> tuple[Ints, Ints]:
        """Return the limits of a job, and what it takes of each."""
        entries = slice(int(self._trace.first_limit[row]), int(self._trace.first_limit[row + 1]))
        return self._trace.limit[entries], self._trace.limit_amount[entries]

    def _take_of_limits(self, row: int, sign: int) -> None:
        limits, amounts = self._limits_of(row)
        self._state.limit_free[limits] -= sign * amounts

    def take_inside(self, row: int) -> None:
        """Note that a job has started inside of a reservation."""
        self.inside[row] = None
        self._take_of_limits(row, 1)
        self._state.machine_free[:] -= self._trace.machine_request[row]

    def give_inside(self, row: int) -> None:
        """Note that a job inside of a reservation has ended."""
        del self.inside[row]
        self._take_of_limits(row, -1)
        self._state.machine_free[:] += self._trace.machine_request[row]
        if self._trace.machine_request.size:
            self.freed_early()

    def take(self, nodes: Sequence[int]) -> None:
        """Keep whole nodes, on which nothing runs, from starts."""
        self._state.free[nodes] -= self._trace.capacity[nodes]

    def give(self, nodes: Sequence[int]) -> None:
        """Give back whole nodes that were kept."""
        self._state.free[nodes] += self._trace.capacity[nodes]

    def empty(self) -> Bools:
        """Return the nodes that are open, on which nothing runs, and of which nothing is kept."""
        empty: Bools = (self._state.free + self._limited == self._trace.capacity).all(axis=1) & self.open
        return empty

    def hold(self, key: Hashable, hold: Hold) -> None:
        """Hold reserved amounts."""
        self.holds[key] = hold
        self._forget()

    def release(self, key: Hashable) -> None:
        """Give reserved amounts back."""
        if self.holds.pop(key, None) is not None:
            self._forget()

    def _forget(self) -> None:
        self._shown = self._kept = None

    def reserved_uses(self) -> Iterator[Use]:
        """Yield what reservations hold."""
        return (hold.use for hold in self.holds.values())

    def shown(self) -> tuple[Reserved, ...]:
        """Return what reservations hold, for dispatchers, by start."""
        if self._shown is None:
            listed = sorted(self.holds.values(), key=lambda hold: hold.use.start)
            self._shown = tuple(
                Reserved(h.label, h.queue, h.use.start, h.use.end, dict(h.use.nodes), dict(h.use.request))
                for h in listed
            )
        return self._shown

    def held_between(self, start: int, end: int) -> Bools:
        """Return the nodes of which a reservation holds something in [start, end), shape (nodes,)."""
        held = np.zeros(len(self.open), np.bool_)
        for hold in self.holds.values():
            if hold.use.start < end and start < hold.use.end:
                held[[self.number[name] for name in hold.use.nodes]] = True
        return held

    def free(self) -> Ints:
        """Return the free amounts for which jobs may start, shape (nodes, resources); 0 on closed nodes."""
        amounts = self._state.free.copy()
        amounts[~self.open] = 0
        if self.holds:
            held = Usage.of(self.platform, self.reserved_uses()).at(self.now, len(self.open))
            amounts[: len(held), : held.shape[1]] -= held
        free: Ints = np.maximum(amounts, 0)
        return free

    def kept(self) -> Holds | None:
        """Return the reserved amounts, for policies; None if nothing is reserved, and no closed node opens by itself."""
        if not (self.holds or self.coming_back().size):
            return None
        if self._kept is None:
            self._kept = self.holds_of(self.reserved_uses())
        return self._kept

    def holds_of(self, uses: Iterable[Use]) -> Holds:
        """Return uses as policies take them, with a column for each amount of the replay."""
        usage = Usage.of(self.platform, uses)
        amounts = np.zeros((usage.node.size, self._state.free.shape[1]), np.int64)
        amounts[:, : usage.amounts.shape[1]] = usage.amounts
        return Holds(usage.node, usage.start, usage.end, amounts)

    def closed_for_good(self) -> Ints:
        """Return the nodes that are closed, unless they open again by themselves."""
        back = set(self.coming_back().tolist())
        return np.array([n for n in np.flatnonzero(~self.open).tolist() if n not in back], np.int64)

    def coming_back(self) -> Ints:
        """Return the nodes that are closed for the reason of ``set_away`` alone."""
        if self._away is None:
            return np.zeros(0, np.int64)
        if self._back is None:
            back = ~self.open
            for why, (mask, _) in self._closed.items():
                if why != self._away[0]:
                    back &= ~mask
            self._back = np.flatnonzero(back)
        return self._back

    def conflict(self, job: str, mine: Iterable[Use], others: Iterable[Use], end: int) -> str:
        """Return into which reservation a job would run if it ran now to ``end``; an empty text if into none.

        Parameters
        ----------
        job : str
            The id of the job.
        mine : iterable of Use
            What its chunks would use.
        others : iterable of Use
            What other jobs use.
        end : int
            The end by its walltime in seconds.
        """
        mine = list(mine)
        own = {name for use in mine for name in use.nodes}
        near = [h for h in self.holds.values() if h.use.start < end and not own.isdisjoint(h.use.nodes)]
        if not near:
            return ""
        touched = {name for hold in near for name in hold.use.nodes} & own
        uses = [
            ({n: units for n, units in use.nodes.items() if n in touched}, use.request, use.start, use.end)
            for use in [*others, *self.reserved_uses(), *mine]
            if any(n in touched for n in use.nodes)
        ]
        for o in overuse(self.platform, Usage.of(self.platform, uses), self.now, end):
            first = next((h for h in near if _covers(h, o, self.now)), near[0])
            return (
                f"job {job!r} could run until {end} (its walltime) into reservation {first.label!r}, which holds amounts "
                f"of node {o.node!r} from {first.use.start} to {first.use.end}: {o.used - o.capacity} {o.resource} lack at "
                f"{o.time}"
            )
        return ""


def _covers(hold: Hold, fault: Overuse, now: int) -> bool:
    return hold.use.start <= max(fault.time, now) < hold.use.end and fault.node in hold.use.nodes


# --- What the simulator keeps free without a reservation that dispatchers see: for on-demand jobs, and the reserve for them.


def kept_free(moment: Moment, unused: Ints) -> Ints:
    """Return the amounts that are kept free, shape (nodes, resources); on nodes that take no starts, all that is unused.

    ``unused``: what no running job uses, of the same shape.
    """
    left = unused - moment.free
    number = {}
    if moment.reserved:
        number = {name: n for n, name in enumerate(moment.platform.nodes)}
    for r in moment.reserved:
        if r.start <= moment.now:
            request = np.array([r.request.get(name, 0) for name in moment.platform.resources], np.int64)
            for name, units in r.nodes.items():
                left[number[name]] -= units * request
    kept: Ints = np.maximum(0, left)
    return kept


# --- What reservations keep free of other jobs beside running ones.
#
# A job that runs in the private queue of a reservation runs inside of it: the reservation keeps what it holds beyond that
# job. Beside other running jobs (one that is past its time limit, or was started in spite of the reservation) a reservation
# holds only what they leave, until they end: no dispatcher could do more.

Vector = tuple[int, ...]


class _NodeUse(NamedTuple):
    """What a job of a queue uses of a node from its start until its end."""

    queue: str
    start: int
    end: int
    amounts: Vector


def holding(
    platform: Platform, now: int, reserved: Sequence[Reserved], running: Iterable[tuple[str, Use]]
) -> tuple[Reserved, ...]:
    """Return what reservations hold from now on, by start: each with amounts that are free beside the running jobs.

    Each has a name of its own; a reservation is divided where the amounts change over time or over nodes.

    Parameters
    ----------
    platform : Platform
        The machine.
    now : int
        The time in s.
    reserved : sequence of Reserved
        What the reservations would hold on an empty machine, one unit on each node; those that come first hold first.
    running : iterable of (str, Use)
        What the running jobs use up to their ends, after now, each with the queue of its job; other uses may begin later.

    Examples
    --------
    >>> from schedlab.models import NodeGroup
    >>> maintenance = Reserved("m", "", 50, 90, {"n-1": 1, "n-2": 1}, {"cores": 4})
    >>> late = Use({"n-1": 1}, {"cores": 1}, 0, 60)
    >>> machine = Platform([NodeGroup("n", 2, {"cores": 4})])
    >>> [(r.name, r.start, r.end, *r.nodes, r.request["cores"]) for r in holding(machine, 55, [maintenance], [("", late)])]
    [('m', 55, 60, 'n-1', 3), ('m+1', 55, 90, 'n-2', 4), ('m+2', 60, 90, 'n-1', 4)]
    """
    if not reserved:
        return ()
    by_node: dict[str, list[int]] = defaultdict(list)
    for k, r in enumerate(reserved):
        for node in r.nodes:
            by_node[node].append(k)
    uses: dict[str, list[_NodeUse]] = defaultdict(list)
    for queue, use in running:
        amounts = tuple(use.request.get(name, 0) for name in platform.resources)
        for node, units in use.nodes.items():
            if node in by_node:
                uses[node].append(_NodeUse(queue, use.start, use.end, tuple(units * n for n in amounts)))
    alike: dict[tuple[Vector, tuple[int, ...], tuple[_NodeUse, ...]], list[str]] = defaultdict(list)
    for node, listed in by_node.items():
        alike[platform.capacity[node], tuple(listed), tuple(uses.get(node, ()))].append(node)
    nodes: dict[tuple[int, int, str, str, Vector], list[str]] = defaultdict(list)
    for (capacity, numbers, here), members in alike.items():
        on_node = [reserved[k] for k in numbers]
        for name, queue, start, end, kept in _pieces(platform, now, on_node, here, capacity):
            nodes[start, end, name, queue, kept] += members
    names: Counter[str] = Counter()
    return tuple(
        Reserved(
            _unused(name, names),
            queue,
            start,
            end,
            dict.fromkeys(members, 1),
            dict(zip(platform.resources, kept, strict=True)),
        )
        for (start, end, name, queue, kept), members in sorted(nodes.items(), key=lambda item: item[0][:3])
    )


def _unused(name: str, names: Counter[str]) -> str:
    """Return the name, with a number if it is in use."""
    own = name
    while own in names:
        names[name] += 1
        own = f"{name}+{names[name] - 1}"
    names[own] += 1
    return own


def _pieces(
    platform: Platform, now: int, listed: Sequence[Reserved], uses: Sequence[_NodeUse], capacity: Vector
) -> Iterator[tuple[str, str, int, int, Vector]]:
    """Yield (name, queue, start, end, amounts) of what the reservations of one node hold on it."""
    changes = [t for u in uses for t in (u.start, u.end)]
    times = sorted({t for r in listed for t in (max(now, r.start), r.end)} | {t for t in changes if t > now})
    rows = [(lo, hi, _held(platform, listed, uses, capacity, lo)) for lo, hi in pairwise(times)]
    for k, r in enumerate(listed):
        spans = [(lo, hi, held[k]) for lo, hi, held in rows if r.start <= lo < r.end]
        for kept, group in groupby(spans, key=lambda span: span[2]):
            members = list(group)
            if any(kept):
                yield r.name, r.queue, members[0][0], members[-1][1], kept


def _held(
    platform: Platform, listed: Iterable[Reserved], uses: Sequence[_NodeUse], capacity: Vector, time: int
) -> list[Vector]:
    """Return what each reservation of a node holds on it at a time."""
    width = range(len(capacity))
    left = list(capacity)
    inside = defaultdict[str, list[int]](lambda: [0 for _ in width])
    for use in uses:
        if use.start <= time < use.end:
            left = [n - used for n, used in zip(left, use.amounts, strict=True)]
            inside[use.queue] = [n + used for n, used in zip(inside[use.queue], use.amounts, strict=True)]
    vectors: list[Vector] = []
    for r in listed:
        kept = [0 for _ in width]
        if r.start <= time < r.end:
            asked = [r.request.get(name, 0) for name in platform.resources]
            if r.queue:
                within = [min(n, i) for n, i in zip(asked, inside[r.queue], strict=True)]
            else:
                within = [0 for _ in width]
            kept = [max(0, min(n - i, free)) for n, i, free in zip(asked, within, left, strict=True)]
            if r.queue:
                inside[r.queue] = [n - i for n, i in zip(inside[r.queue], within, strict=True)]
            left = [n - k for n, k in zip(left, kept, strict=True)]
        vectors.append(tuple(kept))
    return vectors
