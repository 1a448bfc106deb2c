"""Changes of node states during a replay: nodes take no starts, running jobs fail and come back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ....heuristics.kernels.events.entries import advance, end_now, release
from ....heuristics.kernels.events.nodes import of_chunks
from ....heuristics.kernels.events.state import DUE, EARLY, NEXT, NOW, RUNNING, STARTED, STOP, WAITING, State
from ....heuristics.kernels.profile import NEVER, Ints
from ....models.node_states.timeline import Change
from .attempts import Attempt
from .profile_steps import ProfileSteps
from .requeue import kept_by

if TYPE_CHECKING:
    from ....models.production.reserved import Reserved
    from ...policies.beside_reservations import Holds
    from ..live_jobs import LiveJobs
    from ..progress import ReplayPlan

BLOCKED = 2**50  # subtracted from the free amounts of a node on which no job may start


class NodeChanges:
    """The changes of node states of one replay, applied to its state one after the other.

    ``step`` of the replay stops before the next change (``clock[STOP]``); then call ``go``.

    Attributes
    ----------
    names : tuple of str
        The state of each node now.
    blocked : ndarray of bool, shape (nodes,)
        The nodes on which no job may start now.
    quiet : bool
        Whether nothing but ends and arrivals changes the free amounts in the whole replay, and no desired use limits the
        starts.
    failed : list of int
        Rows of the jobs that failed at the last change.
    shortened : bool
        Whether the expected duration of a job has become shorter since the caller set this to False.
    """

    def __init__(self, plan: ReplayPlan, state: State) -> None:
        nodes = plan.platform.nodes
        self.plan, self.state = plan, state
        self.changes = plan.states.changes_from(plan.workload.begin) if plan.states is not None else ()
        self.quiet = not self.changes and not plan.within
        self.names: tuple[str, ...] = ("up",) * len(nodes)
        self.blocked = np.zeros(len(nodes), np.bool_)
        self.failed: list[int] = []
        self.shortened = False
        self._next = 0
        self._steps = ProfileSteps.of(plan, state)
        self._stop()

    def _due(self) -> int:
        """Return the time of the next change of a node state; NEVER if there is none."""
        return self.changes[self._next].time if self._next < len(self.changes) else NEVER

    def _stop(self) -> None:
        self.state.clock[STOP] = self.next_step()

    def next_step(self) -> int:
        """Return the time of the next change of a node state or of the desired use; NEVER if there is none."""
        return min(self._due(), NEVER if self._steps is None else self._steps.due)

    @property
    def away(self) -> int:
        """The number of running rows that are no jobs, but nodes that are not on."""
        return 0

    def go(self) -> bool:
        """Go to the next change, of node states or of the desired use, and apply it.

        Return False if there is none, or no job is left, or no later step of the desired use can help a waiting job.
        """
        clock, trace = self.state.clock, self.plan.trace
        to_come = clock[DUE] > 0 or clock[NEXT] < trace.order.size - trace.follower.size
        running = clock[RUNNING] > self.away
        idle = not running and clock[WAITING] == 0 and not to_come
        due = self._due()
        if self._steps is not None and self._steps.due < due:
            if idle or (due >= NEVER and self._steps.useless(to_come or running)):
                return False
            advance(trace, self.state, max(self._steps.due, int(clock[NOW])))
            self._steps.go()
            self._stop()
            return True
        if idle or due >= NEVER:
            return False
        self._take(self.changes[self._next])
        return True

    def pending(self) -> Change | None:
        """Return the next change; None if there is none."""
        return self.changes[self._next] if self._next < len(self.changes) else None

    def _take(self, change: Change) -> None:
        """Go to the next change, ``change``, and apply it."""
        self._next += 1
        self._stop()
        advance(self.plan.trace, self.state, max(change.time, int(self.state.clock[NOW])))
        self._apply(change)

    def advance(self, to: int, after_each: Callable[[], None]) -> None:
        """Go to a time, and apply the changes up to it; call ``after_each`` after each of them."""
        while self.state.clock[STOP] <= to and self.go():
            after_each()
        advance(self.plan.trace, self.state, to)

    def _apply(self, change: Change) -> None:
        state = self.state
        self.names, self.failed = change.names, []
        if not change.runs.all():
            for j in state.running[: state.clock[RUNNING]].tolist():
                slots = slice(self.plan.trace.first[j], self.plan.trace.first[j] + state.pieces[j])
                stopped = [n for n in state.place[slots].tolist() if not change.runs[n]]
                if stopped:
                    self._fail(j, stopped[0], change)
        opened, closed = change.starts & self.blocked, ~change.starts & ~self.blocked
        state.free[opened] += BLOCKED
        state.free[closed] -= BLOCKED
        self.blocked = ~change.starts
        if opened.any():
            self.release_early()

    def end_for_good(self, j: int, why: str) -> None:
        """End running job j now, before its work is done; it does not come back."""
        end_now(self.plan.trace, self.state, j)
        self.plan.trace.runtime[j] = self.state.clock[NOW] - self.state.start[j]
        self.plan.log.dropped[j] = why

    def release_early(self) -> None:
        """Note that amounts are free earlier than expected: waiting jobs may get earlier reservations."""
        self.state.clock[EARLY] += 1
        self.state.room[:] = NEVER

    def attach(self, jobs: LiveJobs, fixed: bool) -> None:
        """Connect the changes with the jobs of a replay in Python."""

    def settle(self, arrived: Sequence[int]) -> list[int]:
        """Do what is due after the arrivals of this time; return the jobs that come back into the queue."""
        return []

    def decided(self) -> None:
        """Do what is due after the decision of this time."""

    def ready(self) -> Ints | None:
        """Return the earliest time in seconds at which each node can be on, shape (nodes,); None if all are on."""
        return None

    def state_of(self, node: int) -> str:
        """Return the state of a node, for messages."""
        return self.names[node]

    def free(self) -> Ints:
        """Return the free amounts for which jobs may start, shape (nodes, resources)."""
        return self.state.free.copy() if self.quiet else np.maximum(self.state.free, 0)

    def conflict(self, j: int, nodes: Sequence[Mapping[str, int]]) -> str:
        """Return into which reservation job j would run if it started now; an empty text: into none.

        ``nodes``: node name -> units, of each chunk.
        """
        return ""

    def reserved(self) -> tuple[Reserved, ...]:
        """Return the accepted reservations, for dispatchers."""
        return ()

    def changed(self) -> tuple[str, ...]:
        """Return the ids of the waiting jobs that have changed since the last call."""
        return ()

    def holds(self) -> Holds | None:
        """Return the accepted reservations for the compiled policies; None if there cannot be one."""
        return None

    def finish(self) -> None:
        """Do what is left at the end of the replay."""

    def nodes_of(self, j: int) -> list[dict[str, int]]:
        """Return {node: units} of each chunk of running job j."""
        return chunk_nodes(self.plan, self.state, j)

    def _fail(self, j: int, node: int, change: Change) -> None:
        """End running job j because its node does not run jobs any more, and put it back into the queue.

        If it does not come back, this is its end, also for the jobs that wait for it.
        """
        plan, start = self.plan, int(self.state.start[j])
        why = f"{change.names[node]}: {plan.platform.nodes[node]}"
        kept = self.kept(j, change.time - start)
        if kept is None:
            self.failed.append(j)
            self.end_for_good(j, why)
            if plan.trace.follower.size:
                release(plan.trace, self.state, j)
            return
        self.put_back(j, why, kept, change.time)

    def kept(self, j: int, ran: int) -> int | None:
        """Return the seconds of work that are kept of running job j, which fails after ``ran`` s; None: it is dropped."""
        return kept_by(self.plan.requeue, ran, self.plan.workload.ids[j])

    def put_back(self, j: int, why: str, kept: int, time: int) -> None:
        """End running job j now, at ``time``, and put it back into the queue with ``kept`` s of the work of this attempt."""
        plan, state, trace, clock = self.plan, self.state, self.plan.trace, self.state.clock
        nodes, *further = self.nodes_of(j)
        job, start = plan.workload.ids[j], int(state.start[j])
        self.failed.append(j)
        end_now(trace, state, j)
        plan.log.add(j, Attempt(job, plan.log.counts[j] + 1, start, time, nodes, why, kept, tuple(further)))
        trace.runtime[j] -= kept
        if kept:
            state.expected[j] = max(1, int(state.expected[j]) - kept)
            self.shortened = True
        state.start[j] = -1
        state.waiting[clock[WAITING]] = j
        clock[WAITING] += 1
        clock[STARTED] -= 1
        for c in (int(trace.own[j]), int(trace.daily[j])):
            if c >= 0:
                state.opened[c] += 1


def chunk_nodes(plan: ReplayPlan, state: State, j: int) -> list[dict[str, int]]:
    """Return {node: units} of each chunk of job j, which has places."""
    first = int(plan.trace.first[j])
    slots = slice(first, first + int(state.pieces[j]))
    place, share = state.place[slots].astype(np.int64), state.share[slots].astype(np.int64)
    units = [c.units for c in plan.workload.chunks.get(j, ())] or [int(share.sum())]
    return of_chunks((np.array([0, place.size]), place, place, share), 0, units, plan.platform.nodes)
