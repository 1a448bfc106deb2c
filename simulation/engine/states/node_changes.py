"""Changes of node states during a replay: nodes take no starts, running jobs fail and come back."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ....heuristics.kernels.events.entries import advance, end_now, release
from ....heuristics.kernels.events.nodes import of_chunks
from ....heuristics.kernels.events.state import DUE, EARLY, NEXT, NOW, RUNNING, STARTED, STOP, WAITING, State
from ....heuristics.kernels.profile import NEVER
from ....models.node_states.timeline import Change
from .attempts import Attempt
from .profile_steps import ProfileSteps
from .requeue import kept_by

if TYPE_CHECKING:
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
        Whether no state changes in the whole replay, and no desired use limits the starts.
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
        self.state.clock[STOP] = min(self._due(), NEVER if self._steps is None else self._steps.due)

    def go(self) -> bool:
        """Go to the next change, of node states or of the desired use, and apply it.

        Return False if there is none, or no job is left, or no later step of the desired use can help a waiting job.
        """
        clock, trace = self.state.clock, self.plan.trace
        to_come = clock[DUE] > 0 or clock[NEXT] < trace.order.size - trace.follower.size
        idle = clock[RUNNING] == 0 and clock[WAITING] == 0 and not to_come
        due = self._due()
        if self._steps is not None and self._steps.due < due:
            if idle or (due >= NEVER and self._steps.useless(to_come)):
                return False
            advance(trace, self.state, max(self._steps.due, int(clock[NOW])))
            self._steps.go()
            self._stop()
            return True
        if idle or due >= NEVER:
            return False
        change = self.changes[self._next]
        self._next += 1
        self._stop()
        advance(trace, self.state, max(change.time, int(clock[NOW])))
        self._apply(change)
        return True

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
            state.clock[EARLY] += 1  # reservations may move to earlier times, as if a job had ended early
            state.room[:] = NEVER

    def nodes_of(self, j: int) -> list[dict[str, int]]:
        """Return {node: units} of each chunk of running job j."""
        first = int(self.plan.trace.first[j])
        slots = slice(first, first + int(self.state.pieces[j]))
        place, share = self.state.place[slots].astype(np.int64), self.state.share[slots].astype(np.int64)
        units = [c.units for c in self.plan.workload.chunks.get(j, ())] or [int(share.sum())]
        return of_chunks((np.array([0, place.size]), place, place, share), 0, units, self.plan.platform.nodes)

    def _fail(self, j: int, node: int, change: Change) -> None:
        """End running job j because its node does not run jobs any more, and put it back into the queue.

        If it does not come back, this is its end, also for the jobs that wait for it.
        """
        plan, state, trace = self.plan, self.state, self.plan.trace
        names, job = plan.platform.nodes, plan.workload.ids[j]
        nodes, *further = self.nodes_of(j)
        start = int(state.start[j])
        ran = change.time - start
        kept = kept_by(plan.requeue, ran, job)
        why = f"{change.names[node]}: {names[node]}"
        end_now(trace, state, j)
        self.failed.append(j)
        if kept is None:
            trace.runtime[j] = ran
            plan.log.dropped[j] = why
            if trace.follower.size:
                release(trace, state, j)
            return
        plan.log.add(j, Attempt(job, plan.log.counts[j] + 1, start, change.time, nodes, why, kept, tuple(further)))
        trace.runtime[j] -= kept
        if kept:
            state.expected[j] = max(1, int(state.expected[j]) - kept)
            self.shortened = True
        clock = state.clock
        state.start[j] = -1
        state.waiting[clock[WAITING]] = j
        clock[WAITING] += 1
        clock[STARTED] -= 1
        for c in (int(trace.own[j]), int(trace.daily[j])):
            if c >= 0:
                state.opened[c] += 1
