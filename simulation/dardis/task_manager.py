"""The task manager: runs the protocol for one job after the other [Bridi2018, 5.3]."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import WrongValue
from .costs import Costs
from .messages import Bools, Extend, Offers, Placement, Release, Request
from .names import POLICIES
from .nodes.draws import key_of
from .nodes.moves import moves_of
from .selection import NONE, choose
from .transport import Transport
from .windows import Attempt, Calendar, attempts, number_of_responses

Ints = NDArray[np.int64]
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
        self._transport, self._policy, self._seed, self.soft = transport, POLICIES.index(policy), seed, soft
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
            found = self._run(task, attempt, now, None)
            if found is not None:
                return Placed(found, attempt.name, attempt.profile)
        return None

    def movable(self, jobs: Sequence[tuple[Task, Placed]], now: int) -> Iterator[int]:
        """Yield the indices of the planned jobs that may have an earlier start on their nodes, in their order.

        A job is tested after the caller has moved those before it. The costs count a run for each job that is passed over.
        """
        if not jobs:
            return
        moves, k = moves_of([placed.placement for _, placed in jobs]), 0
        while k < len(jobs):
            began, first = time.thread_time(), k
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
        found = self._run(task, attempt, now, old)
        return None if found is None else placed._replace(placement=found)

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
        among = None if old is None else old.nodes
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
            every = np.flatnonzero(self._answering) if among is None else among
            among = np.setdiff1d(every, silent)
            if not among.size:
                return None
        return None

    def _proposed(self, task: Task, attempt: Attempt, now: int, among: Ints | None) -> Placement | None:
        """Run phases 1 to 4; return where the job would start."""
        if self._transport.silent.size > self.costs.silent:
            self._exclude_silent()
        asked = int(np.count_nonzero(self._answering)) if among is None else among.size
        if not asked:
            return None
        starts = attempt.starts
        responses = starts if attempt.every else min(starts, number_of_responses(task.units, starts, asked))
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
        began, wall = time.thread_time(), time.perf_counter()
        start, nodes, units = self._chosen(offers, task.units, key)
        took = time.thread_time() - began
        self.costs.add_run(asked, offers.nodes, offers.seconds, took, time.perf_counter() - wall)
        if start == NONE:
            return None
        return Placement(task.id, start, start + task.duration, nodes, units, task.request, now)

    def _chosen(self, offers: Offers, units: int, key: int) -> tuple[int, Ints, Ints]:
        most = 1 if self._one_per_node else units
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
