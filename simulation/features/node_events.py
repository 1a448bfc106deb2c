"""Changes of node states: nodes take no starts, or stop, and then their jobs fail and come back as the requeue rule says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...heuristics.kernels.events.state import RUNNING
from ...models import NodeStates
from ...models.node_states import Change
from ..agenda import Rank
from .feature import Feature, Replay
from .requeue import Requeue, kept_by

WHY = "node state"  # the reason for which the timeline closes nodes


class NodeEvents(Feature):
    """The node states of a replay.

    Parameters
    ----------
    states : NodeStates
        The states of the nodes over time.
    requeue : Requeue
        What happens to jobs whose node stops.
    """

    follows_nodes = True

    def __init__(self, states: NodeStates, requeue: Requeue) -> None:
        self.states, self.requeue = states, requeue
        self._runs: NDArray[np.bool_] = np.ones(len(states.platform.nodes), np.bool_)

    def begin(self, engine: Replay) -> None:
        """Put the changes on the agenda."""
        self._engine = engine
        requests = (engine.trace.request, engine.trace.further_request)
        self._seen_in_use = all(bool(table.any(axis=1).all()) for table in requests)  # every unit takes some amount
        engine.kept_work = self._kept
        for change in self.states.changes_from(engine.workload.begin):
            engine.agenda.add(change.time, Rank.NODE_STATE, lambda c=change: self._apply(c), waits_for_jobs=True)  # type: ignore[misc]

    def _kept(self, row: int, ran: int) -> int | None:
        return kept_by(self.requeue, ran, self._engine.workload.ids[row])

    def _apply(self, change: Change) -> None:
        engine = self._engine
        stopped = np.flatnonzero(self._runs & ~change.runs)
        self._runs = change.runs
        if stopped.size and not (self._seen_in_use and self._unused(stopped)):
            for j in engine.state.running[: engine.state.clock[RUNNING]].tolist():
                places = engine.ledger.places_of(j)
                hit = ~change.runs[places]
                if hit.any():
                    node = int(places[hit.argmax()])
                    engine.fail(j, f"{change.names[node]}: {engine.platform.nodes[node]}")
        engine.timeline.states = change.names
        engine.timeline.close(WHY, ~change.starts, change.names)
        for feature in engine.features:
            feature.nodes_changed(change.names, change.runs)

    def _unused(self, nodes: Sequence[int] | Any) -> bool:
        return bool((self._engine.state.free[nodes] == self._engine.trace.capacity[nodes]).all())

    def result(self, now: int) -> Mapping[str, Any]:
        """Return the states."""
        return {"states": self.states}
