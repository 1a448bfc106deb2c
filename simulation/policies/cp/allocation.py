"""Allocation of jobs on nodes, one job after another, each at its earliest start and best-fit.

Running jobs and reservations are taken into account.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ....heuristics.kernels.earliest import Scratch, earliest, fill_most, new_scratch
from ....heuristics.kernels.events.fit import spread
from ....heuristics.kernels.profile import NEVER, Ints, Machine, Profile, grown, new_profile, occupy, segment
from ....models.compiled import compiled, internal
from ....models.dispatch.desired.levels import Blocks
from ....models.dispatch.job_arrays import NO_CHUNKS, offsets
from .chunks import Nodes, have_chunks, nodes_of_chunks, place_chunks
from .waiting import Waiting

LAST = NEVER - 1  # the latest possible start
ROOM = 32  # breakpoints per node, at first


class Requests(NamedTuple):
    """The jobs to allocate, as arrays.

    Parameters
    ----------
    units, duration : ndarray of int64, shape (jobs,)
        Number of units; duration in seconds.
    request : ndarray of int64, shape (jobs, resources)
        Request per unit.
    first : ndarray of int64, shape (jobs + 1,)
        Job j has the start windows ``first[j] .. first[j + 1] - 1``.
    lo, hi : ndarray of int64, shape (windows,)
        First and last start of each window, in seconds.
    slot : ndarray of int64, shape (jobs + 1,)
        The nodes of job j go to the entries ``slot[j] .. slot[j + 1] - 1`` of an ``Allocation``.
    first_further : ndarray of int64, shape (jobs + 1,)
        The further chunks of a heterogeneous job j are ``first_further[j] .. first_further[j + 1] - 1``; ``units`` and
        ``request`` are those of its first chunk.
    further_units, further_request : ndarray of int64, shapes (chunks,) and (chunks, resources)
        The same of the further chunks.
    """

    units: Ints
    duration: Ints
    request: Ints
    first: Ints
    lo: Ints
    hi: Ints
    slot: Ints
    first_further: Ints
    further_units: Ints
    further_request: Ints

    def on_nodes(self, nodes: Mapping[int, Sequence[Nodes]], start: int, names: Sequence[str]) -> Allocation:
        """Return the allocation of some jobs to given nodes, all with the same start; the others have none.

        ``nodes`` has the nodes of each chunk of these jobs by their indices, ``names`` are the names of all nodes.
        """
        found = no_allocation(self)
        index = {name: n for n, name in enumerate(names)}
        for j, chunks in nodes.items():
            found.start[j], found.pieces[j] = start, sum(map(len, chunks))
            listed = [pair for chunk in chunks for pair in chunk.items()]
            for e, (name, units) in enumerate(listed, self.slot[j]):
                found.node[e], found.put[e] = index[name], units
        return found


class Allocation(NamedTuple):
    """The start and the nodes of each job.

    Parameters
    ----------
    start : ndarray of int64, shape (jobs,)
        Start in seconds, -1 if the job does not fit in its windows.
    pieces : ndarray of int64, shape (jobs,)
        Number of nodes of the job.
    node, put : ndarray of int64, shape (slots,)
        Job j has ``put[e]`` units on node ``node[e]`` for e in ``slot[j] .. slot[j] + pieces[j] - 1``; the entries of a
        heterogeneous job are chunk after chunk.
    """

    start: Ints
    pieces: Ints
    node: Ints
    put: Ints

    def nodes(self, requests: Requests, j: int, names: Sequence[str]) -> tuple[Nodes, ...]:
        """Return {node name: units} of each chunk of job j."""
        if requests.first_further[j] < requests.first_further[j + 1]:
            return nodes_of_chunks(requests, self, j, names)
        at = int(requests.slot[j])
        end = at + int(self.pieces[j])
        return ({names[n]: u for n, u in zip(self.node[at:end].tolist(), self.put[at:end].tolist(), strict=True)},)


def no_allocation(requests: Requests) -> Allocation:
    """Return an allocation with no job: the start of each is -1."""
    n, slots = requests.units.size, int(requests.slot[-1])
    return Allocation(
        np.full(n, -1, np.int64), np.zeros(n, np.int64), np.empty(slots, np.int64), np.empty(slots, np.int64)
    )


def requests_of(jobs: Waiting, windows: Sequence[Sequence[tuple[int, int]]], nodes: int) -> Requests:
    """Return the arrays of some jobs with their start windows; ``nodes`` is the number of nodes of the platform."""
    flat = np.array([w for one in windows for w in one], np.int64).reshape(-1, 2)
    further, slots, first_further = (
        jobs.further or NO_CHUNKS,
        np.minimum(jobs.units, nodes),
        np.zeros(len(jobs) + 1, np.int64),
    )
    if jobs.further is not None:
        np.add.at(slots, further.job, np.minimum(further.units, nodes))
        first_further = offsets(further.counts(len(jobs)))
    return Requests(
        units=jobs.units,
        duration=jobs.duration,
        request=jobs.request,
        first=offsets(list(map(len, windows))),
        lo=flat[:, 0].copy(),
        hi=flat[:, 1].copy(),
        slot=offsets(slots),
        first_further=first_further,
        further_units=further.units,
        further_request=jobs.requests[further.kind],
    )


class NodeTimeline:
    """The free capacity of each node over time, beside running jobs, reservations and allocated jobs.

    Parameters
    ----------
    capacity : ndarray of int64, shape (nodes, resources)
        Capacity of each node, in the order of the platform.
    now : int
        The current time in seconds.
    usage : tuple of ndarray
        The use of nodes by the running jobs: node, end, amounts (see ``model.Usage``).
    blocks : Blocks, optional
        What a desired profile takes from the nodes beside them.
    """

    def __init__(self, capacity: Ints, now: int, usage: tuple[Ints, Ints, Ints], blocks: Blocks | None = None) -> None:
        self.now = now
        node, end, amount = usage
        taken = Blocks(node, np.full(end.size, now), end, amount)
        if blocks is not None:
            taken = Blocks(*(np.concatenate(pair) for pair in zip(taken, blocks, strict=True)))
        self.machine = Machine(capacity, 1 / np.maximum(1, capacity.sum(axis=0)), now, *taken)
        self._profile = new_profile(self.machine, ROOM)
        self._scratch = new_scratch(capacity.shape[0])

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return int(self.machine.capacity.shape[0])

    def end(self) -> int:
        """Return the time from which on all nodes are free; ``now`` on an idle machine."""
        return int(max([self.now, *(self._profile.time[n, k - 1] for n, k in enumerate(self._profile.length))]))

    def copy(self) -> NodeTimeline:
        """Return a copy; changes of the copy do not affect this timeline."""
        made = object.__new__(NodeTimeline)
        made.now, made.machine, made._scratch = self.now, self.machine, self._scratch
        made._profile = Profile(*(a.copy() for a in self._profile))
        return made

    def place(self, requests: Requests, order: Ints) -> Allocation:
        """Allocate the jobs in this order, each at its earliest start in its windows.

        A job that does not fit in its windows gets the start -1 and uses no node.
        """
        allocation = no_allocation(requests)
        nodes, begin = (self.machine, self._scratch), 0
        for k in [*np.flatnonzero(have_chunks(requests)[order]).tolist(), order.size]:
            if begin < k:
                self._profile = _place_all(self._profile, *nodes, requests, order[begin:k], allocation)
            if k < order.size:
                self._profile = place_chunks(self._profile, *nodes, requests, int(order[k]), allocation)
            begin = k + 1
        return allocation

    def hold(self, requests: Requests, allocation: Allocation) -> None:
        """Subtract jobs that were allocated on another timeline, with the same starts and nodes."""
        self._profile = _hold_all(self._profile, requests, allocation)

    def fits_now(self, requests: Requests) -> Ints:
        """Return 1 for each job that could start now and run for its duration, each alone; else 0.

        The jobs must have a start now as their only window.
        """
        found = _fit_now(self._profile, self.machine, self._scratch, requests, self.now)
        for j in np.flatnonzero(have_chunks(requests) & (found > 0)).tolist():
            found[j] = self.copy().place(requests, np.array([j])).start[j] == self.now
        return found


def warm_up_kernels() -> None:
    """Use the kernels once on an empty node, so that their compilation is no part of the first decision."""
    timeline = NodeTimeline(np.ones((1, 1), np.int64), 0, (*np.zeros((2, 0), np.int64), np.zeros((0, 1), np.int64)))
    one, zero = np.ones(1, np.int64), np.zeros(1, np.int64)
    ends, none = np.array([0, 1]), np.zeros(2, np.int64)
    requests = Requests(
        one, one, np.ones((1, 1), np.int64), ends, zero, zero, ends, none, zero[:0], np.zeros((0, 1), np.int64)
    )
    timeline.fits_now(requests)
    timeline.copy().hold(requests, timeline.place(requests, zero))


@compiled
def _place_all(
    profile: Profile, machine: Machine, s: Scratch, requests: Requests, order: Ints, allocation: Allocation
) -> Profile:
    nodes, resources = machine.capacity.shape
    free = np.empty((nodes, resources), np.int64)
    chosen, put = np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    for k in range(order.size):
        j = order[k]
        start = _earliest(profile, machine, s, requests, j)
        allocation.start[j] = start
        if start < 0:
            continue
        for n in range(nodes):
            if s.fits[n] > 0:
                free[n] = profile.free[n, segment(profile, n, start)]
        entries = spread(free, machine.capacity, s.fits, requests.units[j], True, chosen, put)
        allocation.pieces[j] = entries
        for e in range(entries):
            n = chosen[e]
            allocation.node[requests.slot[j] + e], allocation.put[requests.slot[j] + e] = n, put[e]
            if profile.length[n] + 2 > profile.time.shape[1]:
                profile = grown(profile)
            occupy(profile, n, start, start + requests.duration[j], requests.request[j], put[e])
    return profile


@compiled
def _hold_all(profile: Profile, requests: Requests, allocation: Allocation) -> Profile:
    for j in range(requests.units.size):
        if allocation.start[j] < 0:
            continue
        row, left = requests.first_further[j] - 1, requests.units[j]
        for e in range(requests.slot[j], requests.slot[j] + allocation.pieces[j]):
            n, end = allocation.node[e], allocation.start[j] + requests.duration[j]
            if profile.length[n] + 2 > profile.time.shape[1]:
                profile = grown(profile)
            if left == 0:  # the next chunk
                row += 1
                left = requests.further_units[row]
            left -= allocation.put[e]
            request = requests.request[j] if row < requests.first_further[j] else requests.further_request[row]
            occupy(profile, n, allocation.start[j], end, request, allocation.put[e])
    return profile


@internal
def _earliest(profile: Profile, machine: Machine, s: Scratch, requests: Requests, j: int) -> int:
    """Return the earliest start of job j in its windows, or -1."""
    fill_most(machine, s, requests.request[j], requests.units[j])
    for w in range(requests.first[j], requests.first[j + 1]):
        if requests.lo[w] <= requests.hi[w]:
            start = earliest(
                profile,
                s,
                None,
                j,
                requests.request[j],
                requests.units[j],
                requests.duration[j],
                requests.lo[w],
                requests.hi[w],
            )
            if start >= 0:
                return start
    return -1


@compiled
def _fit_now(profile: Profile, machine: Machine, s: Scratch, requests: Requests, now: int) -> Ints:
    found = np.zeros(requests.units.size, np.int64)
    for j in range(requests.units.size):
        fill_most(machine, s, requests.request[j], requests.units[j])
        start = earliest(profile, s, None, j, requests.request[j], requests.units[j], requests.duration[j], now, now)
        found[j] = start == now
    return found
