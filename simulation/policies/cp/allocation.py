"""Jobs put on the nodes one after another: beside what runs and what is reserved, each at its earliest start, best-fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ....heuristics.kernels.earliest import Scratch, earliest, fill_most, new_scratch
from ....heuristics.kernels.events.fit import spread
from ....heuristics.kernels.profile import NEVER, Ints, Machine, Profile, grown, new_profile, occupy, segment
from ....models.compiled import compiled
from .waiting import Waiting

LAST = NEVER - 1  # as late as a start can be
ROOM = 32  # breakpoints per node, at first


class Requests(NamedTuple):
    """Jobs to place, arrays over them. Job j may start in ``[lo[w], hi[w]]`` for w in ``first[j] .. first[j + 1] - 1``."""

    units: Ints
    duration: Ints
    request: Ints  # jobs x resources, per unit
    first: Ints
    lo: Ints
    hi: Ints
    slot: Ints  # where a job's nodes are noted: slot[j] .. slot[j + 1] - 1


class Allocation(NamedTuple):
    """Starts (-1: found no place) and, on the slots of each job, its nodes and how many units each has; ``pieces`` of them."""

    start: Ints
    pieces: Ints
    node: Ints
    put: Ints

    def nodes(self, asked: Requests, j: int, names: Sequence[str]) -> Mapping[str, int]:
        """{node name: units} of job j."""
        at = int(asked.slot[j])
        until = at + int(self.pieces[j])
        return {names[n]: u for n, u in zip(self.node[at:until].tolist(), self.put[at:until].tolist(), strict=True)}


def asked_for(jobs: Waiting, windows: Sequence[Sequence[tuple[int, int]]], nodes: int) -> Requests:
    """The arrays of jobs, each with its start windows."""
    flat = np.array([w for one in windows for w in one], np.int64).reshape(-1, 2)
    return Requests(
        units=jobs.units,
        duration=jobs.duration,
        request=jobs.request,
        first=_ends([len(one) for one in windows]),
        lo=flat[:, 0].copy(),
        hi=flat[:, 1].copy(),
        slot=_ends(np.minimum(jobs.units, nodes)),
    )


def _ends(sizes: Ints | list[int]) -> Ints:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


class NodeTimeline:
    """The nodes over time, as far as they are taken: by what runs, by reservations, by what was placed.

    ``taken``: (node, until when, amounts) of what runs now; node and amounts as ``platform`` counts them.
    """

    def __init__(self, capacity: Ints, now: int, taken: tuple[Ints, Ints, Ints]) -> None:
        self.now = now
        self.machine = Machine(capacity, np.zeros(capacity.shape[1]), now, *taken)
        self._profile = new_profile(self.machine, ROOM)
        self._scratch = new_scratch(capacity.shape[0])

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return int(self.machine.capacity.shape[0])

    def end(self) -> int:
        """The last moment at which something is taken, ``now`` on an idle machine."""
        return int(max([self.now, *(self._profile.time[n, k - 1] for n, k in enumerate(self._profile.length))]))

    def copy(self) -> NodeTimeline:
        """The same nodes, to try something on."""
        made = object.__new__(NodeTimeline)
        made.now, made.machine, made._scratch = self.now, self.machine, self._scratch
        made._profile = Profile(*(a.copy() for a in self._profile))
        return made

    def place(self, asked: Requests, order: Ints) -> Allocation:
        """Place the jobs in this order, each at the earliest start in its windows; who finds none takes nothing."""
        n, slots = asked.units.size, int(asked.slot[-1])
        placed = Allocation(
            np.full(n, -1, np.int64), np.zeros(n, np.int64), np.empty(slots, np.int64), np.empty(slots, np.int64)
        )
        self._profile = _place_all(self._profile, self.machine, self._scratch, asked, order, placed)
        return placed

    def hold(self, asked: Requests, placed: Allocation) -> None:
        """Take the nodes of jobs that were placed on another board, at the same starts."""
        self._profile = _hold_all(self._profile, asked, placed)

    def fits_now(self, asked: Requests) -> Ints:
        """1 for each job that could start now and run for its duration, were it alone; else 0."""
        return _fit_now(self._profile, self.machine, self._scratch, asked, self.now)


@compiled
def _place_all(
    profile: Profile, machine: Machine, s: Scratch, asked: Requests, order: Ints, placed: Allocation
) -> Profile:
    nodes, resources = machine.capacity.shape
    free = np.empty((nodes, resources), np.int64)
    chosen, put = np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    for k in range(order.size):
        j = order[k]
        start = _earliest(profile, machine, s, asked, j)
        placed.start[j] = start
        if start < 0:
            continue
        for n in range(nodes):
            if s.fits[n] > 0:
                free[n] = profile.free[n, segment(profile, n, start)]
        entries = spread(free, machine.capacity, s.fits, asked.units[j], True, chosen, put)
        placed.pieces[j] = entries
        for e in range(entries):
            n = chosen[e]
            placed.node[asked.slot[j] + e], placed.put[asked.slot[j] + e] = n, put[e]
            if profile.length[n] + 2 > profile.time.shape[1]:
                profile = grown(profile)
            occupy(profile, n, start, start + asked.duration[j], asked.request[j], put[e])
    return profile


@compiled
def _hold_all(profile: Profile, asked: Requests, placed: Allocation) -> Profile:
    for j in range(asked.units.size):
        if placed.start[j] < 0:
            continue
        for e in range(asked.slot[j], asked.slot[j] + placed.pieces[j]):
            n, end = placed.node[e], placed.start[j] + asked.duration[j]
            if profile.length[n] + 2 > profile.time.shape[1]:
                profile = grown(profile)
            occupy(profile, n, placed.start[j], end, asked.request[j], placed.put[e])
    return profile


@compiled
def _earliest(profile: Profile, machine: Machine, s: Scratch, asked: Requests, j: int) -> int:
    """The earliest start of job j in its windows, or -1."""
    fill_most(machine, s, asked.request[j], asked.units[j])
    for w in range(asked.first[j], asked.first[j + 1]):
        if asked.lo[w] <= asked.hi[w]:
            start = earliest(
                profile, s, None, j, asked.request[j], asked.units[j], asked.duration[j], asked.lo[w], asked.hi[w]
            )
            if start >= 0:
                return start
    return -1


@compiled
def _fit_now(profile: Profile, machine: Machine, s: Scratch, asked: Requests, now: int) -> Ints:
    found = np.zeros(asked.units.size, np.int64)
    for j in range(asked.units.size):
        fill_most(machine, s, asked.request[j], asked.units[j])
        start = earliest(profile, s, None, j, asked.request[j], asked.units[j], asked.duration[j], now, now)
        found[j] = start == now
    return found
