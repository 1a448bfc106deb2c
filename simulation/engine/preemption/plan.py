"""The on-demand jobs of a replay, checked against its other options, and the record of what became of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ....errors import WrongValue
from ....heuristics.kernels.events.state import TraceArrays
from ....instances.workload import Workload
from ....models import NodeEvent, Platform
from ....models.arguments import expect
from ....models.comparing import hashable
from ...preemption.jobs import with_on_demand
from ...preemption.settings import Preemption
from .begun import with_begun_rows
from .checkpointed import Checkpointed
from .record import Departure, EvictionDecision, PreemptionRecord


@hashable
@dataclass(frozen=True)
class PreemptionPlan:
    """The settings of a replay, the rows of its on-demand jobs, the checkpoints of all jobs, and the record so far.

    ``begun``: ids of the jobs that run at the begin, which have rows for later attempts.
    """

    settings: Preemption
    rows: tuple[int, ...]
    checkpoints: Checkpointed
    begun: frozenset[str] = frozenset()
    decisions: list[EvictionDecision] = field(default_factory=list)
    departures: list[Departure] = field(default_factory=list)
    first_start: dict[int, int] = field(default_factory=dict)

    def record(self) -> PreemptionRecord:
        """Return the record so far."""
        return PreemptionRecord(
            self.settings, self.rows, tuple(self.decisions), tuple(self.departures), dict(self.first_start)
        )

    def without_arrivals(self, trace: TraceArrays, ids: Sequence[str]) -> TraceArrays:
        """Return the arrays of a replay in which neither on-demand jobs nor those that run at its begin arrive.

        ``ids``: of all rows.
        """
        begun = [k for k, name in enumerate(ids) if name in self.begun] if self.begun else []
        return trace._replace(order=trace.order[~np.isin(trace.order, [*self.rows, *begun])])


def plan_of(
    settings: Preemption | None, workload: Workload, platform: Platform, options: Mapping[str, tuple[object, str]]
) -> tuple[Workload, PreemptionPlan | None]:
    """Return the workload with the on-demand jobs, and the plan; None without jobs, failures and reserved nodes.

    Parameters
    ----------
    settings
        The settings.
    workload
        The batch jobs.
    platform
        The machine.
    options
        Arguments of ``simulate`` that cannot be combined with preemption: name -> (value, why not).

    Raises
    ------
    WrongValue
        If settings, jobs, machine and options do not fit together.
    """
    expect("preemption of simulate", settings, Preemption | None)
    if settings is None or not (settings.jobs or settings.failures or settings.reserved):
        return workload, None  # the same replay as without settings, nodes are counted where they can be
    for name, (value, why) in options.items():
        if value:
            raise WrongValue(f"preemption and {name} cannot be combined: {why}")
    getattr(settings.evictor, "warm_up", lambda: None)()  # compilation is no part of a decision
    whole, begun = with_begun_rows(workload)
    whole, rows = with_on_demand(whole, platform, settings.jobs, settings.reserved, begun)
    return whole, PreemptionPlan(settings, rows, Checkpointed.of(whole, settings, set(rows)), begun)


def with_failures(events: Sequence[NodeEvent], settings: Preemption | None) -> list[NodeEvent]:
    """Return the events of nodes with the failures of the settings, by time."""
    return [*events, *(() if settings is None else settings.failures)]
