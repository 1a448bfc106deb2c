"""A feature of a replay: a component that puts actions on the agenda and rows into the ledger, and is told what happens.

A feature never knows another one. What one feature must respect of another (closed nodes, reserved amounts, jobs that must
not be changed) it asks the engine.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...heuristics.kernels.events.state import TraceArrays
from ...instances.workload import Workload
from ...models import Platform, Running
from ..timeline import Use

if TYPE_CHECKING:
    from ..engine import Engine


class Feature:
    """What a feature may do; each method does nothing here, and a feature has those that it needs.

    Attributes
    ----------
    watches : bool
        Whether it must be told of each event. Else a policy may be replayed in compiled code between its actions.
    follows_nodes : bool
        Whether the nodes of running jobs must be known, so that nodes cannot only be counted.
    rows_at_begin : mapping of int to tuple of Running
        Row of a job that runs when the replay begins -> its chunks.
    """

    watches = False
    follows_nodes = False
    rows_at_begin: Mapping[int, tuple[Running, ...]] = {}

    def jobs(self, workload: Workload, platform: Platform) -> Workload:
        """Return the jobs of the replay; the feature may add, change or leave out rows."""
        return workload

    def absent(self, workload: Workload) -> Collection[int]:
        """Return the rows that do not arrive by themselves, as the feature starts or shows them."""
        return ()

    def arrays(self, trace: TraceArrays, workload: Workload, by_count: bool) -> TraceArrays:
        """Return the arrays of the replay, which the feature may extend; ``by_count``: nodes are only counted."""
        return trace

    def begin(self, engine: Engine) -> None:
        """Prepare for a replay: put the first actions on the agenda."""

    @property
    def busy(self) -> bool:
        """Whether it has jobs that wait, or run, without being in the queue or on nodes that the kernels know."""
        return False

    @property
    def lacking(self) -> int:
        """The number of whole nodes that it could use now and does not have."""
        return 0

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks for the result."""
        return ()

    def ended(self, rows: Sequence[int]) -> None:
        """Be told of the jobs that have ended at this event."""

    def arriving(self, rows: Sequence[int]) -> None:
        """Be told of jobs that arrive or come back, before dispatchers see them; their walltimes may be set."""

    def arrived(self, rows: Sequence[int]) -> None:
        """Be told of jobs that have arrived, or come back, in the queue."""

    def nodes_changed(self, names: Sequence[str], runs: NDArray[np.bool_]) -> None:
        """Be told of a change of node states, after jobs have failed; ``runs``: whether jobs go on, on each node."""

    def ended_early(self, row: int, nodes: Sequence[int]) -> None:
        """Be told that a running job has ended before its work was done, and which nodes it had."""

    def failed(self, row: int, why: str) -> None:
        """Handle the failure of a running job of which the feature is the owner."""

    def before_decision(self) -> None:
        """Act before the dispatcher decides."""

    def after_decision(self) -> None:
        """Act after the dispatcher has decided."""

    def uses(self) -> Iterable[Use]:
        """Yield what the feature keeps free beside running jobs and reservations."""
        return ()

    def forbids_change(self, row: int) -> str:
        """Return why no server event may change a job now; an empty text if it may."""
        return ""

    def finish(self) -> None:
        """Do what is left at the end of the replay."""

    def result(self, now: int) -> Mapping[str, Any]:
        """Return fields of the result of the replay, which has come to ``now`` (s)."""
        return {}
