"""The data of a replay, its progress, and the check that all jobs have started."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ...errors import SchedlabError
from ...heuristics.kernels.events.beginning import busy_state
from ...heuristics.kernels.events.nodes import by_name, ranges_of
from ...heuristics.kernels.events.rules import ALL, NO_PLANNING, Rules
from ...heuristics.kernels.events.state import NOW, WAITING, State, TraceArrays
from ...instances.workload import Ints, Workload
from ...models import DesiredProfile, NodeStates, Platform
from ...models.excerpt import excerpt
from ...models.returned import WrongAnswer, returned_numbers
from ..given_parts import only_read, seen_by
from ..policies.policy import Floats, Policy
from ..predictors import TimedPredictor
from ..users.requests import Requests
from .moment import Dispatcher
from .power.record import PowerPlan
from .preemption.plan import PreemptionPlan
from .production.calendars import Hours
from .production.plan import ProductionPlan
from .simulation import Decisions, NodeRanges, Simulation, SimulationError
from .states.attempts import AttemptLog
from .states.begun import ending_at
from .states.never import reasons
from .states.power_place import of_nodes
from .states.requeue import Requeue, Restart

STOPPED = "stopped before its end"
SHOWN = 10  # jobs that wait forever in a message


class Progress(NamedTuple):
    """The progress of a replay: the argument of ``on_progress``.

    Parameters
    ----------
    started : int
        Number of jobs that have started.
    jobs : int
        Number of jobs in the workload.
    now : int
        Simulated time in seconds.
    seconds : float
        Wall time since the begin of the replay, in seconds.
    """

    started: int
    jobs: int
    now: int
    seconds: float


OnProgress = Callable[[Progress], Any]  # the replay stops if it returns False


@dataclass(frozen=True, eq=False)
class ReplayPlan:
    """All inputs of a replay.

    ``name`` is the name of the dispatcher. ``period`` is in seconds, 0 for none. ``charge``: decisions take simulated
    time. ``by_count``: nodes are interchangeable and the replay only counts them. ``killed``: mask of the jobs that end
    at their walltime. ``trace``: the workload, its running jobs and the platform as arrays. ``states``: the states of the
    nodes, None without events; ``requeue``: what happens to the jobs that fail; ``log``: their attempts, filled by the
    replay. ``production``: reservations and server events; ``calendars``: the numbers of the calendars that these may
    give to jobs. ``killing``: jobs end at their walltimes. ``held_back``: why jobs wait that no dispatcher may start.
    ``desired``: the desired use; ``within``: the profiles that limit the starts. ``requests``: the walltimes that users
    choose, None if they are those of the workload. ``preemption``: on-demand jobs. ``power``: the node policy.
    """

    workload: Workload
    platform: Platform
    dispatcher: Policy | Dispatcher
    name: str
    predictor: TimedPredictor
    allocator: str
    seed: int
    period: int
    charge: bool
    by_count: bool
    trace: TraceArrays
    killed: Any
    states: NodeStates | None = None
    desired: DesiredProfile | None = None
    within: tuple[DesiredProfile, ...] = ()
    requeue: Requeue = field(default_factory=Restart)
    log: AttemptLog = field(default_factory=lambda: AttemptLog(0))
    production: ProductionPlan | None = None
    calendars: Mapping[Hours, int] = field(default_factory=dict)
    killing: bool = False
    held_back: dict[int, str] = field(default_factory=dict)
    requests: Requests | None = None
    preemption: PreemptionPlan | None = None
    power: PowerPlan | None = None

    @cached_property
    def row(self) -> dict[str, int]:
        """The row of each job in the workload, by its id."""
        return {name: j for j, name in enumerate(self.workload.ids)}

    def first_state(self, expected: Ints) -> State:
        """Return the state at the begin; ``expected``: expected durations of the jobs in seconds."""
        w = self.workload
        return busy_state(self.trace, expected, w.begin, w.running, None if self.by_count else self.platform.nodes)

    def result(self, state: State, decisions: Decisions, seconds: float, notes: tuple[str, ...] = ()) -> Simulation:
        """Return the result of the replay so far; running jobs get the end that their runtime gives."""
        n, w = len(self.workload), self.workload
        first, low, high, units = of_nodes(ranges_of(self.trace, state, self.by_count), len(self.platform.nodes))
        if w.running:
            held = by_name((first[n : n + len(w.running) + 1], low, high, units), self.platform.nodes)
            back = {r.job.id for parts in self.log.begun.values() for r in parts}
            pairs = zip(w.running, held, strict=True)
            left = tuple(replace(r, nodes=on) for r, on in pairs if r.job.id not in back)
            w = replace(w, running=ending_at(left, {a.job: a.end for a in self.log.gone}))
        used, started = int(first[n]), state.start[:n] >= 0
        completed, history = started.copy(), self.log.history()
        if history is not None and self.preemption is not None:
            history = history.with_restarts(self.preemption.settings.restart, self.preemption.rows)
        completed[list(self.log.dropped)] = False
        return Simulation(
            workload=w,
            platform=self.platform,
            dispatcher=self.name,
            predictor=self.predictor.name,
            allocator=self.allocator,
            seed=self.seed,
            start=state.start[:n],
            end=np.where(started, state.start[:n] + self.trace.runtime[:n], -1),
            killed=self.killed & completed,
            expected=state.expected[:n],
            first_reserved=state.first_reserved[:n],
            placement=NodeRanges(first[: n + 1], low[:used], high[:used], units[:used]),
            decisions=decisions,
            seconds=seconds,
            notes=(*self.predictor.notes, *(() if self.requests is None else self.requests.notes), *notes),
            prediction_seconds=self.predictor.seconds,
            history=history,
            states=self.states,
            production=None if self.production is None else self.production.log.record(),
            desired=self.desired,
            preemption=None if self.preemption is None else self.preemption.record(),
            power=None if self.power is None else self.power.record(int(state.clock[NOW])),
        )


def rules_of(policy: Policy, workload: Workload, expected: Ints, best: bool, seed: int = 0) -> Rules:
    """Return a policy in the form that the compiled kernels take.

    Parameters
    ----------
    policy : Policy
        The policy.
    workload : Workload
        The jobs.
    expected : ndarray of int64, shape (jobs,)
        Expected durations in seconds.
    best : bool
        Whether the allocator is best-fit (else first-fit).
    seed : int
        Seed of a search for better plans.

    Returns
    -------
    Rules
        Priority of each job, and the options of the policy.

    Raises
    ------
    SimulationError
        If the key of the policy raises, or returns something else than one number per job, or a pair of such arrays.
    """
    base, slope = _key_of(policy, workload, expected)
    return Rules(
        base,
        np.zeros(len(workload)) if slope is None else slope,
        slope is not None,
        policy.strict,
        ALL if policy.reservations is None else policy.reservations,
        ALL if policy.candidates is None else policy.candidates,
        best,
        NO_PLANNING if policy.plan is None else policy.plan.planning(workload, seed),
    )


def _key_of(policy: Policy, workload: Workload, expected: Ints) -> tuple[Floats, Floats | None]:
    """Return the key of a policy, checked: base and slope, shape (jobs,), no slope if it does not change with time."""
    who = f"policy {policy.name!r}: its key"
    try:
        key = policy.key(seen_by(policy.key, workload), only_read(policy.key, expected))
    except SchedlabError:
        raise
    except Exception as e:
        raise SimulationError(f"{who} raised {type(e).__name__}: {e}") from e
    try:
        if not isinstance(key, tuple):
            return returned_numbers(who, key, len(workload), "jobs"), None
        if len(key) != 2:
            what = f"a tuple of {len(key)} values, {excerpt(key)}"
            raise WrongAnswer(f"{who} returned {what}; expected an array, or a pair (base, slope) of arrays")
        base, slope = (
            returned_numbers(f"{who}, a pair (base, slope),", part, len(workload), "jobs", finite=True) for part in key
        )
    except WrongAnswer as e:
        raise SimulationError(str(e)) from e
    return base, slope


def check_all_started(plan: ReplayPlan, state: State, found: Simulation) -> None:
    """Raise SimulationError, with a reason for each job, if jobs still wait although no event is left."""
    waiting = int(state.clock[WAITING])
    if waiting:
        job = plan.workload.ids[int(state.waiting[0])]
        ends = [r.true_end for r in plan.workload.running]
        last = int(max(found.end.max(), found.workload.release.max(), *ends))
        why = reasons(plan, state)
        after = len(why) - waiting
        held = f", and {after} job{'s wait' if after > 1 else ' waits'} for the end of another job" if after else ""
        lines = [f"\n  job {name!r}: {reason}" for name, reason in why.items()]
        more = f"\n  and {len(lines) - SHOWN} more" if len(lines) > SHOWN else ""
        raise SimulationError(
            f"job {job!r} waits forever: after time {last} no job runs and no job arrives, and dispatcher {plan.name} "
            f"has not started {waiting} waiting job{'s' * (waiting > 1)}{held}:{''.join(lines[:SHOWN])}{more}",
            job=job,
            time=last,
            partial=found,
            waiting=why,
        )
