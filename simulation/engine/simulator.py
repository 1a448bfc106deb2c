"""Replays a workload under a dispatcher: completions, then arrivals, then one decision (thesis 4.3; Galleguillos 2.1)."""

from __future__ import annotations

import time

import numpy as np

from ...heuristics.kernels.events.machine import counted, trace_of
from ...heuristics.kernels.events.standstill import Standstill
from ...heuristics.kernels.events.state import DECISIONS, NOW, STARTED, new_state
from ...instances import Instance, load
from ...instances.workload import Ints, Workload, WorkloadError
from ...models import Dispatch, Platform
from ...models.whole_numbers import is_whole, shown, whole_array, wrong
from ..policies.policy import Policy
from ..policies.registry import parse_dispatcher
from ..predictors import Predictor
from ..predictors import predictor as predictor_named
from . import compiled_replay as kernels
from .allocators import ALLOCATORS
from .live import LiveReplay
from .moment import Dispatcher
from .progress import STOPPED, OnProgress, Progress, ReplayPlan, check_all_started, rules_of
from .simulation import Decisions, Simulation, SimulationError

BATCH = 20_000  # events between two looks at the progress


def simulate(
    workload: Workload | Dispatch | Instance | str,
    platform: Platform | None = None,
    dispatcher: str | Policy | Dispatcher = "easy",
    *,
    predictor: str | Predictor | None = None,
    allocator: str = "best-fit",
    seed: int = 0,
    kill_at_walltime: bool = False,
    charge_decisions: bool = False,
    period: int | None = None,
    on_progress: OnProgress | None = None,
) -> Simulation:
    """ReplayPlan a workload on a platform; the whole run is verified by code that no dispatcher shares.

    ``workload``: a trace, an instance or its name, or a dispatch problem whose jobs have runtimes; ``platform``: may be
    left out where the instance brings one; ``dispatcher``: a name as ``easy``, ``pbs-fifo``, ``hcp3-d@cpsat``, a
    ``Policy``, or an object of your own (``dispatch.moment.Dispatcher``); ``predictor``: walltime, data-driven,
    last-two, real (by default what the name says, or walltime); ``allocator``: first-fit or best-fit;
    ``kill_at_walltime``: jobs end at their walltime at the latest; ``charge_decisions``: the wall time of a decision
    passes on the simulated clock; ``period``: decide also every so many seconds; ``on_progress``: told now and then,
    returning False stops with what is there.

    At one instant jobs end, then jobs arrive, then the dispatcher is called, once; never for an answer that cannot start
    anything. It never sees a runtime. A job of runtime 0 gives its nodes back at the same instant.

    Raises SimulationError (with ``.partial``) if the dispatcher raises, starts a job twice, overfills a node, or lets
    jobs wait for ever; WorkloadError if there is nothing to replay; UnknownName for names.

    >>> import schedlab as sl
    >>> run = sl.simulate("eurora_99", dispatcher="easy")
    >>> len(run.start), run.violations
    (99, [])
    """
    jobs, machine = _workload(workload, platform)
    chosen, name, named_predictor = _dispatcher(dispatcher)
    if allocator not in ALLOCATORS:
        raise ValueError(f"there is no allocator {allocator!r}; known are {', '.join(ALLOCATORS)}")
    if period is not None and (not is_whole(period) or period < 1):
        raise ValueError(f"period is {shown(period)} s; a whole number of at least 1 is expected")
    asked = predictor if predictor is not None else named_predictor
    model = predictor_named(asked, kill_at_walltime) if isinstance(asked, str) else asked
    runtime = np.minimum(jobs.runtime, jobs.walltime) if kill_at_walltime else jobs.runtime
    by_count = isinstance(chosen, Policy) and counted(jobs, machine)
    plan = ReplayPlan(
        jobs, machine, chosen, name, model, allocator, seed, int(period or 0), charge_decisions, by_count,
        trace_of(jobs, machine, runtime, by_count), runtime < jobs.runtime,
    )  # fmt: skip
    known = _expected(model, jobs)
    if isinstance(chosen, Policy) and known is not None and not charge_decisions:
        found = _compiled(plan, chosen, known, on_progress)
    else:
        found = LiveReplay(plan, known, on_progress).run()
    from .verification import violations

    found.violations = violations(found, partial=STOPPED in found.notes)
    return found


def _workload(what: Workload | Dispatch | Instance | str, platform: Platform | None) -> tuple[Workload, Platform]:
    instance = load(what) if isinstance(what, str) else what
    if isinstance(instance, Instance):
        jobs, own = Workload.of(instance.dispatch, instance.name), instance.platform
    elif isinstance(instance, Dispatch):
        jobs, own = Workload.of(instance), instance.platform
    elif platform is None:
        raise WorkloadError(f"{instance.name}: a trace is replayed on a platform, and none was given")
    else:
        jobs, own = instance.checked(), platform
    machine = platform or own
    return jobs.on(machine), machine


def _dispatcher(what: str | Policy | Dispatcher) -> tuple[Policy | Dispatcher, str, str]:
    if isinstance(what, str):
        named = parse_dispatcher(what)
        return named.make(), what, named.predictor
    return what, what.name, "walltime"


def _expected(model: Predictor, jobs: Workload) -> Ints | None:
    """What a predictor says at the begin, as whole seconds. Raises SimulationError for anything else."""
    known = model.begin(jobs)
    if known is None:
        return None
    durations, fault = whole_array(known)
    if fault is None:
        return durations
    job = jobs.ids[fault[0]]
    raise SimulationError(f"predictor {model.name}: the duration of job {job!r} {wrong(fault[1])}", job=job)


def _compiled(plan: ReplayPlan, policy: Policy, expected: Ints, told: OnProgress | None) -> Simulation:
    """A policy whose expectations never change is replayed without leaving compiled code."""
    state = new_state(plan.trace, expected)
    rules = rules_of(policy, plan.workload, expected, plan.allocator == "best-fit")
    began = time.perf_counter()
    notes: tuple[str, ...] = ()
    replay = kernels.kernel(rules).replay
    standstill = Standstill(plan.trace, state)
    while replay(plan.trace, state, rules, plan.period, BATCH):
        if told is not None:
            news = Progress(
                int(state.clock[STARTED]), len(plan.workload), int(state.clock[NOW]), time.perf_counter() - began
            )
            if told(news) is False:
                notes = (STOPPED,)
                break
        if standstill.reached():
            break
    seconds = time.perf_counter() - began
    made = Decisions(int(state.clock[DECISIONS]), total_seconds=seconds)
    found = plan.result(state, made, seconds, notes)
    if not notes:
        check_all_started(plan, state, found)
    return found
