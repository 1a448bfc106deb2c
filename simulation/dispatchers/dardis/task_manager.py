"""The task manager: it runs the protocol for one job after the other, and selects a start and nodes [Bridi2018, 5.3]."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ....errors import WrongValue
from ....models.array_types import Bools, Floats, Ints
from ....models.compiled import compiled, internal
from .messages import POLICIES, Costs, Extend, Offers, Placement, Release, Request
from .nodes import below, key_of, mixed, moves_of
from .transport import Transport

# --- When a job may start: number of responses, windows of the attempts, calendars [Bridi2018, 5.3.2, 5.3.6].
#
# The attempts for a job with the window [earliest, latest]:
#
# 1. the window, within the desired profile;
# 2. the window, up to the capacity: the latest start is more important than the profile;
# 3. three windows of twice the length of the one before, each from its end on, each with both passes;
# 4. a window after the end of all jobs, as long as the first one, in which nodes return all their starts.
#
# The thesis prints ``(latest - earliest) * 2`` for the end of the next window, which is its length.

Windows = Sequence[tuple[int, int]]
DAY = 86400  # seconds
FAR = 400  # days for which calendars are followed


def number_of_responses(units: int, starts: int, nodes: int) -> int:
    """Return how many different starts each node must offer so that some start is offered by at least ``units`` nodes.

    By the pigeonhole principle: ``nodes * responses > (units - 1) * starts``. It holds if every node has at least this number of starts.
    The thesis has ``latest - earliest`` in the place of ``starts``, which is one too few: 13 nodes that return one of 13
    starts each may return 13 different ones.

    Parameters
    ----------
    units : int
        Number of nodes that must agree, at least 1.
    starts : int
        Number of starts in the window, both ends included.
    nodes : int
        Number of nodes, at least 1.

    Examples
    --------
    >>> number_of_responses(2, 13, 13), number_of_responses(2, 12, 13)
    (2, 1)
    """
    return (units - 1) * starts // nodes + 1


class Attempt(NamedTuple):
    """One attempt to place a job.

    Parameters
    ----------
    name : str
        ``"window"``, ``"later 1"``, ... or ``"last"``; followed by ``", no profile"`` where the profile is ignored.
    windows : ndarray of int64, shape (windows, 2)
        First and last start of each window, ascending.
    profile : bool
        Whether the desired profile holds.
    every : bool
        Whether nodes return all their starts.
    """

    name: str
    windows: Ints
    profile: bool
    every: bool

    @property
    def starts(self) -> int:
        """The number of starts in the windows."""
        return int((self.windows[:, 1] - self.windows[:, 0] + 1).sum())


def attempts(
    earliest: int,
    latest: int,
    now: int,
    end_of_all: Callable[[], int],
    calendar: Calendar,
    soft: bool,
    later: int = 3,
) -> Iterator[Attempt]:
    """Yield the attempts for a job in their order.

    Parameters
    ----------
    earliest, latest : int
        Its window in seconds.
    now : int
        The current time; no job starts before.
    end_of_all : callable
        Returns the end of the last reservation in seconds.
    calendar : Calendar
        When it may start.
    soft : bool
        Whether there is a profile, which some attempts ignore.
    later : int
        Number of further windows.
    """
    length = max(0, latest - earliest)
    for name, low, high in _windows(max(earliest, now), latest, length, end_of_all, later):
        every = name == "last"
        allowed = calendar.allowed(low, high)
        if every and not allowed:
            opening = calendar.next_opening(low)
            allowed = []
            if opening is not None:
                allowed = calendar.allowed(opening, opening + length)
        if allowed:
            candidates = np.array(allowed, np.int64)
            yield Attempt(name, candidates, True, every)
            if soft:
                yield Attempt(f"{name}, no profile", candidates, False, every)


def _windows(
    begin: int, latest: int, length: int, end_of_all: Callable[[], int], later: int
) -> Iterator[tuple[str, int, int]]:
    """Yield the name, the first and the last start of each window."""
    if begin <= latest:
        yield "window", begin, latest
    now = begin
    begin = max(begin, latest)
    lasting = max(1, length)
    for k in range(1, later + 1):
        lasting *= 2
        yield f"later {k}", begin, begin + lasting
        begin += lasting
    end = max(end_of_all(), now)
    yield "last", end, end + length


class Calendar(NamedTuple):
    """When a job may start: in the daily windows of its queue and in its own windows; empty: at any time.

    Examples
    --------
    >>> Calendar(daily=((28800, 36000),)).allowed(0, 40000)
    [(28800, 36000)]
    """

    daily: Windows = ()
    own: Windows = ()

    def allowed(self, low: int, high: int) -> list[tuple[int, int]]:
        """Return the parts of the window from ``low`` to ``high`` in which the job may start, in ascending order."""
        spans = [(low, high)]
        if self.daily:
            days = range(low // DAY - 1, high // DAY + 1)
            spans = _common(spans, ((d * DAY + a, d * DAY + b) for d in days for a, b in self.daily))
        if self.own:
            return _common(spans, self.own)
        return spans

    def next_opening(self, low: int) -> int | None:
        """Return the first time from ``low`` on at which the job may start; None if there is none in the next 400 days."""
        spans = self.allowed(low, low + FAR * DAY)
        if spans:
            return spans[0][0]
        return None


def _common(found: Iterable[tuple[int, int]], windows: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the times that are in both, as windows in ascending order without overlaps."""
    listed = list(windows)
    pairs = sorted((max(a, c), min(b, d)) for a, b in found for c, d in listed if max(a, c) <= min(b, d))
    merged: list[tuple[int, int]] = []
    for a, b in pairs:
        if merged and a <= merged[-1][1] + 1:
            merged[-1] = merged[-1][0], max(b, merged[-1][1])
        else:
            merged.append((a, b))
    return merged


# --- Phase 4: the task manager chooses a start that enough nodes offer, and the nodes [Bridi2018, 5.3.2 to 5.3.5] [Bridi2016].
#
# A node with index I offers floor(I) units of the job, or one if jobs have at most one unit per node. A start is possible
# if the nodes that offer it have room for all units together.
#
# | policy | start | nodes |
# |---|---|---|
# | `min-start` | the earliest one | those with the smallest index first: best fit |
# | `max-prob` | the one with the greatest sum of indices over the nodes that offer it | each unit on the node with the most index left |
# | `min-prob` | the one with the smallest sum | those with the smallest index first |
# | `random` | any one, with equal probability | random nodes, one unit each, then a second one each, ... |
#
# Equal starts go by time, equal nodes by number. Indices are compared and summed in millionths, as whole numbers, so that a
# choice does not depend on the order of the responses.

MIN_START = 0
MAX_PROB = 1
MIN_PROB = 2
RANDOM = 3
NONE = -(2**63)  # no start
MILLION = 1_000_000
DENSE = 4  # seconds per entry up to which a table of all seconds is faster than sorting


@internal
def _possible(low: Ints, high: Ints, offered: Ints, weight: Ints, units: int, most: int) -> tuple[Ints, Ints, Ints]:
    """Return first start, last start and sum of the indices of each span of possible starts; at most ``most`` spans."""
    count = low.size
    opening = np.argsort(low)
    closing = np.argsort(high)
    begin = np.empty(2 * count, np.int64)
    end = np.empty(2 * count, np.int64)
    total = np.empty(2 * count, np.int64)
    a = 0
    b = 0
    room = 0
    weights = 0
    possible = 0
    while b < count and possible < most:
        t = high[closing[b]] + 1
        if a < count:
            t = min(t, low[opening[a]])
        while b < count and high[closing[b]] + 1 == t:
            room -= offered[closing[b]]
            weights -= weight[closing[b]]
            b += 1
        while a < count and low[opening[a]] == t:
            room += offered[opening[a]]
            weights += weight[opening[a]]
            a += 1
        if room < units:
            continue
        last = high[closing[b]]
        if a < count:
            last = min(last, low[opening[a]] - 1)
        begin[possible] = t
        end[possible] = last
        total[possible] = weights
        possible += 1
    return begin[:possible], end[:possible], total[:possible]


@internal
def _possible_in(low: Ints, high: Ints, offered: Ints, weight: Ints, units: int, span: int) -> tuple[Ints, Ints, Ints]:
    """Return what ``_possible`` returns, without sorting: for ``span`` seconds that hardly exceed the number of entries."""
    origin = low.min()
    room = np.zeros(span + 1, np.int64)
    weights = np.zeros(span + 1, np.int64)
    for k in range(low.size):
        room[low[k] - origin] += offered[k]
        room[high[k] + 1 - origin] -= offered[k]
        weights[low[k] - origin] += weight[k]
        weights[high[k] + 1 - origin] -= weight[k]
    size = min(span, 2 * low.size)
    begin = np.empty(size, np.int64)
    end = np.empty(size, np.int64)
    total = np.empty(size, np.int64)
    possible = 0
    here = 0
    sum_here = 0
    for t in range(span):
        here += room[t]
        sum_here += weights[t]
        if here < units:
            continue
        if possible > 0 and end[possible - 1] == origin + t - 1 and total[possible - 1] == sum_here:
            end[possible - 1] = origin + t
        else:
            begin[possible] = origin + t
            end[possible] = origin + t
            total[possible] = sum_here
            possible += 1
    return begin[:possible], end[:possible], total[:possible]


@internal
def _start(low: Ints, high: Ints, offered: Ints, weight: Ints, units: int, policy: int, key: int) -> int:
    """Return the start that the policy chooses; NONE if there is none."""
    most = 1 if policy == MIN_START else 2 * low.size
    span = high.max() - low.min() + 1
    if span < DENSE * low.size:
        begin, end, total = _possible_in(low, high, offered, weight, units, span)
    else:
        begin, end, total = _possible(low, high, offered, weight, units, most)
    if begin.size == 0:
        return NONE
    if policy == MAX_PROB:
        return int(begin[np.argmax(total)])
    if policy == MIN_PROB:
        return int(begin[np.argmin(total)])
    if policy == MIN_START:
        return int(begin[0])
    left = below(key, 0, (end - begin + 1).sum())
    for k in range(begin.size):
        seconds = end[k] - begin[k] + 1
        if left < seconds:
            return int(begin[k] + left)
        left -= seconds
    return NONE


@internal
def _fill(order: Ints, offered: Ints, units: int) -> Ints:
    """Return the units on each node: as many as each offers, in this order."""
    taken = np.zeros(order.size, np.int64)
    for k in order:
        taken[k] = min(units, offered[k])
        units -= taken[k]
    return taken


@internal
def _above(weight: Ints, offered: Ints, level: int) -> Ints:
    """Return how many units each node takes before its index falls below a level."""
    return np.maximum(0, np.minimum(offered, (weight - level) // MILLION + 1))


@internal
def _level_out(weight: Ints, offered: Ints, units: int) -> Ints:
    """Return the units on each node if each of them goes to the node with the most index left."""
    lo = 0  # at level lo there is room for all units
    hi = weight.max() + 1
    while hi - lo > 1:
        middle = (lo + hi) // 2
        if _above(weight, offered, middle).sum() >= units:
            lo = middle
        else:
            hi = middle
    above = _above(weight, offered, lo + 1)
    all_of_level = _above(weight, offered, lo)
    left = units - above.sum()
    for k in range(above.size):
        if left > 0 and all_of_level[k] > above[k]:
            above[k] += 1
            left -= 1
    return above


@internal
def _in_rounds(order: Ints, offered: Ints, units: int) -> Ints:
    """Return the units on each node: one each in this order, then a second one each, ..."""
    taken = np.zeros(order.size, np.int64)
    while units > 0:
        for k in order:
            if units > 0 and taken[k] < offered[k]:
                taken[k] += 1
                units -= 1
    return taken


@compiled
def choose(
    node: Ints, low: Ints, high: Ints, index: Floats, units: int, most: int, policy: int, key: int
) -> tuple[int, Ints, Ints]:
    """Return the start of a job, its nodes in ascending order, and the units on each of them.

    Parameters
    ----------
    node, low, high, index
        The offers, in the order of the nodes (``Offers``).
    units
        Number of units of the job.
    most
        Greatest number of units on one node.
    policy
        Number of the policy in ``POLICIES``.
    key
        Key of the random draws.

    Returns
    -------
    tuple
        The start, ``NONE`` and empty arrays if no start is offered by enough nodes.
    """
    weight = (index * MILLION).astype(np.int64)
    offered = np.minimum(weight // MILLION, most)
    start = _start(low, high, offered, weight, units, policy, key)
    if start == NONE:
        return start, np.empty(0, np.int64), np.empty(0, np.int64)
    here = np.flatnonzero((low <= start) & (start <= high))
    weight = weight[here]
    offered = offered[here]
    nodes = node[here]
    if policy == MAX_PROB:
        chosen = _level_out(weight, offered, units)
    elif policy == RANDOM:
        drawn = np.empty(nodes.size, np.int64)
        for k in range(nodes.size):
            drawn[k] = np.int64(mixed(key, nodes[k] + 1) >> np.uint64(1))
        chosen = _in_rounds(np.argsort(drawn), offered, units)
    else:
        chosen = _fill(np.argsort(weight, kind="mergesort"), offered, units)  # a stable sort
    used = np.flatnonzero(chosen)
    return start, nodes[used], chosen[used]


# --- The task manager: runs the protocol for one job after the other [Bridi2018, 5.3].

REPEATS = 3  # confirmations to a node that does not acknowledge
RESTARTS = 3  # runs for one attempt


class Task(NamedTuple):
    """A job as the task manager knows it; times in seconds.

    Parameters
    ----------
    id : str
        Its id.
    key : int
        The key of its random draws.
    units : int
        Number of units.
    request : ndarray of int64, shape (resources,)
        Amounts of one unit.
    duration : int
        Expected duration, at least 1.
    earliest, latest : int
        The window of its start.
    calendar : Calendar
        When it may start.
    """

    id: str
    key: int
    units: int
    request: Ints
    duration: int
    earliest: int
    latest: int
    calendar: Calendar


class Placed(NamedTuple):
    """A job with a reservation: where, and which attempt placed it, within the profile or not."""

    placement: Placement
    attempt: str
    profile: bool


class TaskManager:
    """Places jobs by asking the node managers.

    Parameters
    ----------
    transport : Transport
        The node managers.
    nodes : int
        Number of nodes.
    policy : str
        Name of the policy of selection.
    seed : int
        Seed of all random draws.
    soft : bool
        Whether there is a desired profile, which later attempts ignore.
    one_per_node : bool
        Whether a node takes at most one unit of a job.
    later : int
        Number of later windows that are tried.

    Raises
    ------
    WrongValue
        If the policy is unknown.
    """

    def __init__(
        self,
        transport: Transport,
        nodes: int,
        policy: str = "min-start",
        seed: int = 0,
        soft: bool = False,
        one_per_node: bool = False,
        later: int = 3,
    ) -> None:
        if policy not in POLICIES:
            raise WrongValue(f"policy is {policy!r}; expected one of {', '.join(POLICIES)}")
        self._transport = transport
        self._policy = POLICIES.index(policy)
        self._seed = seed
        self.soft = soft
        self._one_per_node, self._later = one_per_node, later
        self._answering = np.ones(nodes, np.bool_)
        self.costs = Costs(transport.traffic)

    def key(self, job: str) -> int:
        """Return the key of the draws for a job."""
        return key_of(self._seed, job)

    def answering(self, nodes: Bools) -> None:
        """Note which nodes take part in the protocol, apart from silent ones."""
        self._answering = nodes.copy()
        self._exclude_silent()

    def _exclude_silent(self) -> None:
        self._answering[self._transport.silent] = False
        self.costs.silent = int(self._transport.silent.size)

    def place(self, task: Task, now: int, end_of_all: Callable[[], int]) -> Placed | None:
        """Reserve nodes for a job, in the first attempt that finds a start; None if no attempt does.

        Parameters
        ----------
        task : Task
            The job.
        now : int
            The current time.
        end_of_all : callable
            Returns the end of the last reservation in seconds.
        """
        self.costs.add_job()
        tries = attempts(task.earliest, task.latest, now, end_of_all, task.calendar, self.soft, self._later)
        for attempt in tries:
            placed = self._run(task, attempt, now, None)
            if placed is not None:
                return Placed(placed, attempt.name, attempt.profile)
        return None

    def movable(self, jobs: Sequence[tuple[Task, Placed]], now: int) -> Iterator[int]:
        """Yield the indices of the planned jobs that may have an earlier start on their nodes, in their order.

        A job is tested after the caller has moved those before it. The costs count a run for each job that is passed over.
        """
        if not jobs:
            return
        moves = moves_of([placed.placement for _, placed in jobs])
        k = 0
        while k < len(jobs):
            began = time.thread_time()
            first = k
            k = self._transport.next_move(moves, first, now)
            if k > first:
                self.costs.add_passed(np.diff(moves.first[first : k + 1]).tolist(), time.thread_time() - began)
            if k < len(jobs):
                yield k
            k += 1

    def move(self, task: Task, placed: Placed, now: int) -> Placed | None:
        """Look for an earlier start of a planned job on its own nodes, and reserve it; None if there is none.

        This is backfilling: the window is from now to the planned start [Bridi2018, 5.3.3].
        """
        old = placed.placement
        allowed = task.calendar.allowed(now, old.start)
        if not allowed:
            return None
        attempt = Attempt(placed.attempt, np.array(allowed, np.int64), placed.profile, False)
        moved = self._run(task, attempt, now, old)
        if moved is None:
            return None
        return placed._replace(placement=moved)

    def hold(self, placement: Placement) -> None:
        """Reserve nodes for a job that runs already."""
        self._confirmed(placement)

    def release(self, job: str, now: int) -> None:
        """Give up the rest of a reservation."""
        self._transport.post(Release(job, now))

    def extend(self, job: str, end: int) -> Ints:
        """Extend the reservation of a running job; return the nodes on which it meets others without room for both."""
        return self._transport.post(Extend(job, end))

    def _run(self, task: Task, attempt: Attempt, now: int, old: Placement | None) -> Placement | None:
        """Run the protocol once; again if a chosen node does not acknowledge, without this node.

        ``old``: the placement of a planned job, which moves to an earlier start on its nodes.
        """
        among = None
        if old is not None:
            among = old.nodes
        for _ in range(RESTARTS):
            placement = self._proposed(task, attempt, now, among)
            if placement is None or (old is not None and placement.start >= old.start):
                return None
            silent = self._confirmed(placement)
            if not silent.size:
                return placement
            self.costs.restarts += 1
            self.release(task.id, now)
            if old is not None:
                self._confirmed(old._replace(now=now))
                return None
            if among is None:
                every = np.flatnonzero(self._answering)
            else:
                every = among
            among = np.setdiff1d(every, silent)
            if not among.size:
                return None
        return None

    def _proposed(self, task: Task, attempt: Attempt, now: int, among: Ints | None) -> Placement | None:
        """Run phases 1 to 4; return where the job would start."""
        if self._transport.silent.size > self.costs.silent:
            self._exclude_silent()
        if among is None:
            asked = int(np.count_nonzero(self._answering))
        else:
            asked = among.size
        if not asked:
            return None
        starts = attempt.starts
        if attempt.every:
            responses = starts
        else:
            responses = min(starts, number_of_responses(task.units, starts, asked))
        key = task.key ^ int(attempt.windows[0, 0]) & (2**62 - 1)
        request = Request(
            task.id,
            key,
            task.units,
            task.request,
            task.duration,
            attempt.windows,
            responses,
            attempt.profile,
            now,
            among,
        )
        offers = self._transport.ask(request)
        if not offers.node.size:
            self.costs.add_run(asked, offers.nodes, offers.seconds, 0.0)
            return None
        began = time.thread_time()
        wall = time.perf_counter()
        start, nodes, units = self._chosen(offers, task.units, key)
        took = time.thread_time() - began
        self.costs.add_run(asked, offers.nodes, offers.seconds, took, time.perf_counter() - wall)
        if start == NONE:
            return None
        return Placement(task.id, start, start + task.duration, nodes, units, task.request, now)

    def _chosen(self, offers: Offers, units: int, key: int) -> tuple[int, Ints, Ints]:
        most = 1
        if not self._one_per_node:
            most = units
        return choose(offers.node, offers.low, offers.high, offers.fit, units, most, self._policy, key)

    def _confirmed(self, placement: Placement) -> Ints:
        """Run phases 5 and 6, repeated for nodes that do not acknowledge; return the nodes that never do."""
        began = time.thread_time()
        silent = self._transport.confirm(placement)
        for _ in range(REPEATS):
            if not silent.size:
                break
            self.costs.messages += silent.size
            silent = self._transport.confirm(placement._replace(to=silent))
        self.costs.seconds["reservation"] += time.thread_time() - began
        return silent
