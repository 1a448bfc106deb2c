"""How far a replay is, and the check of its end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...heuristics.kernels.events.nodes import ranges_of
from ...heuristics.kernels.events.rules import ALL, Rules
from ...heuristics.kernels.events.state import WAITING, State, TraceArrays
from ...instances.workload import Ints, Workload
from ...models import Platform
from ..policies.policy import Policy
from ..predictors import Predictor
from .moment import Dispatcher
from .simulation import Decisions, NodeRanges, Simulation, SimulationError

STOPPED = "stopped before its end"


class Progress(NamedTuple):
    """How far a replay is: jobs started, of how many; the simulated time; wall seconds."""

    started: int
    jobs: int
    now: int
    seconds: float


OnProgress = Callable[[Progress], Any]


@dataclass(frozen=True)
class ReplayPlan:
    """What is replayed, with the arrays of it."""

    workload: Workload
    platform: Platform
    dispatcher: Policy | Dispatcher
    name: str
    predictor: Predictor
    allocator: str
    seed: int
    period: int
    charge: bool
    by_count: bool
    trace: TraceArrays
    killed: Any

    def result(self, state: State, decisions: Decisions, seconds: float, notes: tuple[str, ...] = ()) -> Simulation:
        """What has been replayed; jobs that run are taken to run to their end."""
        started = state.start >= 0
        return Simulation(
            workload=self.workload,
            platform=self.platform,
            dispatcher=self.name,
            predictor=self.predictor.name,
            allocator=self.allocator,
            seed=self.seed,
            start=state.start,
            end=np.where(started, state.start + self.trace.runtime, -1),
            killed=self.killed & started,
            expected=state.expected,
            first_reserved=state.first_reserved,
            placement=NodeRanges(*ranges_of(self.trace, state, self.by_count)),
            decisions=decisions,
            seconds=seconds,
            notes=(*self.predictor.notes, *notes),
        )


def rules_of(policy: Policy, workload: Workload, expected: Ints, best: bool) -> Rules:
    """A policy as the kernels take it."""
    key = policy.key(workload, expected)
    base, slope = key if isinstance(key, tuple) else (key, np.zeros(len(workload)))
    return Rules(
        np.asarray(base, np.float64),
        np.asarray(slope, np.float64),
        isinstance(key, tuple),
        policy.strict,
        ALL if policy.reservations is None else policy.reservations,
        ALL if policy.candidates is None else policy.candidates,
        best,
    )


def check_all_started(plan: ReplayPlan, state: State, found: Simulation) -> None:
    """Raise SimulationError if jobs wait when nothing happens any more."""
    waiting = int(state.clock[WAITING])
    if waiting:
        job = plan.workload.ids[int(state.waiting[0])]
        last = int(max(found.end.max(), plan.trace.release.max()))
        raise SimulationError(
            f"job {job!r} waits for ever: at {last} nothing runs and nothing arrives any more, and {plan.name} has not "
            f"started {waiting} waiting job{'s' * (waiting > 1)}",
            job=job,
            time=last,
            partial=found,
        )
