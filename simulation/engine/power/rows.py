"""Nodes that are not on, as rows of the trace: a job of the whole node that ends when the node is on again.

So rules, backfilling and their reservations take such a node as in use up to the earliest time at which it can be on.
"""

from __future__ import annotations

import numpy as np

from ....heuristics.kernels.events.entries import begin, end_now, keep_places
from ....heuristics.kernels.events.state import RUNNING, STARTED, State, TraceArrays
from ....heuristics.kernels.profile import NEVER, Ints


def with_node_rows(trace: TraceArrays, nodes: int) -> TraceArrays:
    """Return the trace with one more row for each node, after the jobs; these rows never arrive.

    ``nodes``: number of nodes, the first of the places of the trace.

    Such a row takes 1 more than the capacity of its node, so that nothing fits there, not even a unit that requests
    nothing.
    """
    zeros, ones = np.zeros(nodes, np.int64), np.ones(nodes, np.int64)

    def longer(values: Ints, more: Ints) -> Ints:
        return np.concatenate([values, more])

    return trace._replace(
        release=longer(trace.release, ones * NEVER),
        runtime=longer(trace.runtime, ones * NEVER),
        units=longer(trace.units, ones),
        request=np.vstack([trace.request, trace.capacity[:nodes] + 1]),
        kind=longer(trace.kind, zeros),
        first_further=longer(trace.first_further, ones * trace.first_further[-1]),
        first=longer(trace.first, trace.first[-1] + np.arange(1, nodes + 1)),
        own=longer(trace.own, -ones),
        daily=longer(trace.daily, -ones),
        first_follower=longer(trace.first_follower, ones * trace.first_follower[-1]),
    )


class NodeRows:
    """The rows of the nodes that are not on, as running jobs of one replay."""

    def __init__(self, trace: TraceArrays, state: State, nodes: int) -> None:
        self.trace, self.state = trace, state
        self.first = trace.runtime.size - nodes
        self.count = 0

    def take(self, node: int, ready: int, now: int) -> None:
        """Take a node that runs nothing out of use until ``ready``."""
        trace, state, row = self.trace, self.state, self.first + node
        state.chosen[0], state.put[0] = node, 1
        state.expected[row] = max(1, ready - now)
        keep_places(trace, state, row, 1)
        begin(trace, state, row)
        state.clock[STARTED] -= 1  # counts the starts of jobs
        self.count += 1

    def give_back(self, node: int) -> None:
        """Give a node back that is on."""
        end_now(self.trace, self.state, self.first + node)
        self.state.start[self.first + node] = -1
        self.count -= 1

    def expect(self, ready: Ints) -> None:
        """Set the expected ends of the rows to ``ready`` (s), shape (nodes,), and sort the running jobs by theirs."""
        state, n = self.state, int(self.state.clock[RUNNING])
        rows, ends = state.running[:n], state.running_end[:n]
        at = np.flatnonzero(rows >= self.first)
        until = ready[rows[at] - self.first]
        if (ends[at] == until).all():
            return
        state.expected[rows[at]] = until - state.start[rows[at]]
        ends[at] = until
        order = np.argsort(ends, kind="stable")
        rows[:], ends[:] = rows[order], ends[order]
