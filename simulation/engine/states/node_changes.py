"""Changes of node states during a replay: nodes take no starts, running jobs fail and come back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ....heuristics.kernels.events.entries import advance, end_now, release
from ....heuristics.kernels.events.nodes import of_chunks
from ....heuristics.kernels.events.state import DUE, EARLY, NEXT, NOW, RUNNING, STARTED, STOP, WAITING, Small, State
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
        self._closed = self.blocked  # by their states: they take no starts
        self._rows = plan.trace.runtime.size  # rows that are jobs
        self.failed: list[int] = []
        self.shortened = False
        self._runs = np.ones(len(nodes), np.bool_)
        requests = (plan.trace.request, plan.trace.further_request)
        self._seen_in_use = all(bool(table.any(axis=1).all()) for table in requests)  # every unit takes some amount
        self._next = 0
        self._steps = ProfileSteps.of(plan, state)
        self._stop()

    def _due(self) -> int:
        """Return the time of the next change of a node state; NEVER if there is none."""
        return self.changes[self._next].time if self._next < len(self.changes) else NEVER

    def next_action(self) -> int:
        """Return the time of the next action that is no change of a node state or the desired use; NEVER: none."""
        return NEVER

    def idle(self) -> bool:
        """Return whether no job runs, waits, or is to come."""
        clock = self.state.clock
        return bool(clock[RUNNING] == self.away and clock[WAITING] == 0 and not self._to_come())

    def _to_come(self) -> bool:
        clock, trace = self.state.clock, self.plan.trace
        return bool(clock[DUE] > 0 or clock[NEXT] < trace.order.size - trace.follower.size)

    def _stop(self) -> None:
        self.state.clock[STOP] = self.next_step()

    def next_step(self) -> int:
        """Return the time of the next change of a node state or of the desired use, or of the next action; NEVER: none."""
        steps = NEVER if self._steps is None else self._steps.due
        return min(self._due(), steps, self.next_action())

    @property
    def away(self) -> int:
        """The number of running rows that are no jobs, but nodes that are not on."""
        return 0

    def go(self) -> bool:
        """Go to the next change of node states or of the desired use and apply it, or to the time of the next action.

        Return False if there is none, or no job is left, or no later step of the desired use can help a waiting job.
        """
        due, action, steps = self._due(), self.next_action(), self._steps
        running = self.state.clock[RUNNING] > self.away
        idle = action >= NEVER and self.idle()
        if steps is not None and steps.due < due and steps.due <= action:
            if idle or (min(due, action) >= NEVER and steps.useless(self._to_come() or running)):
                return False
            self._advance(steps.due)
            steps.go()
        elif min(due, action) >= NEVER or (idle and due <= action):
            return False
        elif due <= action:
            change = self.changes[self._next]
            self._next += 1
            self._stop()
            self._advance(due)
            self._apply(change)
        else:
            self._advance(action)
        self._stop()
        return True

    def _advance(self, time: int) -> None:
        """Go to a time, or stay if it has passed: jobs end and arrive."""
        advance(self.plan.trace, self.state, max(time, int(self.state.clock[NOW])))

    def advance(self, to: int, after_each: Callable[[], None]) -> None:
        """Go to a time, and apply the changes up to it; call ``after_each`` after each of them."""
        while self.state.clock[STOP] <= to and self.go():
            after_each()
        advance(self.plan.trace, self.state, to)

    def _apply(self, change: Change) -> None:
        state = self.state
        self.names, self.failed = change.names, []
        stopped = np.flatnonzero(self._runs & ~change.runs)
        self._runs = change.runs
        if stopped.size and not (self._seen_in_use and self._unused(stopped)):
            for j in [j for j in state.running[: state.clock[RUNNING]].tolist() if j < self._rows]:
                places = self.places_of(j)
                hit = ~change.runs[places]
                if hit.any():
                    self._fail(j, int(places[hit.argmax()]), change)
        opened, closed = np.flatnonzero(change.starts & self._closed), np.flatnonzero(~change.starts & ~self._closed)
        state.free[opened] += BLOCKED
        state.free[closed] -= BLOCKED
        self._closed = ~change.starts
        self._block()
        if opened.size:
            self.release_early()

    def _block(self) -> None:
        """Bring ``blocked`` up to date."""
        self.blocked = self._closed

    def _unused(self, nodes: Ints) -> bool:
        return bool((self.state.free[nodes] == self.plan.trace.capacity[nodes]).all())

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

    def places_of(self, j: int) -> Small:
        """Return the numbers of the nodes of running job j."""
        first = int(self.plan.trace.first[j])
        places = self.state.place[first : first + int(self.state.pieces[j])]
        return places[places < len(self.names)]

    def nodes_of(self, j: int) -> list[dict[str, int]]:
        """Return {node: units} of each chunk of running job j."""
        return chunk_nodes(self.plan, self.state, j)

    def _fail(self, j: int, node: int, change: Change) -> None:
        """End running job j because its node does not run jobs any more, and put it back into the queue.

        If it does not come back, this is its end, also for the jobs that wait for it.
        """
        plan, start = self.plan, self.start_of(j)
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

    def row_of(self, j: int) -> int:
        """Return the row of running job j in the workload."""
        return j

    def start_of(self, j: int) -> int:
        """Return the start of running job j in seconds; the state has 0 for a start before second 0."""
        return int(self.state.start[j])

    def put_back(self, j: int, why: str, kept: int, time: int) -> None:
        """End running job j now, at ``time``, and put it back into the queue with ``kept`` s of the work of this attempt."""
        plan, state, trace, clock, row = self.plan, self.state, self.plan.trace, self.state.clock, self.row_of(j)
        nodes, *further = self.nodes_of(j)
        number, start = plan.log.counts[row] + 1, self.start_of(j)
        self.failed.append(j)
        end_now(trace, state, j)
        self.end_attempt(row, Attempt(plan.workload.ids[row], number, start, time, nodes, why, kept, tuple(further)))
        state.waiting[clock[WAITING]] = row
        clock[WAITING] += 1
        for c in (int(trace.own[row]), int(trace.daily[row])):
            if c >= 0:
                state.opened[c] += 1

    def end_attempt(self, row: int, attempt: Attempt) -> None:
        """Note an attempt that has ended early, and shorten the job of a row by the work that is kept."""
        state, kept = self.state, attempt.work_done
        self.plan.log.add(row, attempt)
        self.plan.trace.runtime[row] -= kept
        if kept:
            state.expected[row] = max(1, int(state.expected[row]) - kept)
            self.shortened = True
        if state.start[row] >= 0:  # not of a job that ran at the begin of the replay
            state.start[row] = -1
            state.clock[STARTED] -= 1


def chunk_nodes(plan: ReplayPlan, state: State, j: int) -> list[dict[str, int]]:
    """Return {node: units} of each chunk of job j, which has places."""
    first = int(plan.trace.first[j])
    slots = slice(first, first + int(state.pieces[j]))
    place, share = state.place[slots].astype(np.int64), state.share[slots].astype(np.int64)
    nodes = place < len(plan.platform.nodes)  # without the place of power
    place, share = place[nodes], share[nodes]
    chunks, names = plan.workload.chunks.get(j, ()), plan.platform.nodes
    if not chunks:
        return [{names[n]: units for n, units in zip(place.tolist(), share.tolist(), strict=True)}]
    return of_chunks((np.array([0, place.size]), place, place, share), 0, [c.units for c in chunks], names)
