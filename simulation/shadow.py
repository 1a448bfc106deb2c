"""One decision of any dispatcher for the state of a real machine, and its comparison with what the machine did."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from time import perf_counter
from typing import Any

import numpy as np

from ..errors import WrongValue
from ..heuristics.kernels.events.state import UNSTARTED, WAITING
from ..instances.sites.machine_state import MachineState
from ..instances.workload import Workload
from ..models import Dispatch, Running
from ..models.array_types import Ints
from ..models.comparing import hashable
from ..models.counts import how_many
from ..models.excerpt import with_short_repr
from .allocators import BEST_FIT, Allocator, allocator_of, rank_of
from .dispatcher import PlannedStart, Start
from .dispatchers import policy_kernels as kernels
from .dispatchers.policy import Chosen, Policy
from .dispatchers.registry import Named, parse_dispatcher
from .engine import Engine
from .errors import SimulationError
from .features.feature import Feature
from .features.machine_at_begin import MachineAtBegin
from .features.running import RunningAtBegin
from .features.running_limits import RunningLimits, licences_of
from .predictors import TimedPredictor, predictor_of
from .replay_setup import set_up
from .shadow_answer import Answer, faults
from .simulator import check_takes_all_nodes, check_takes_chunks

SMALLEST_PART = 0.2  # of the decision time, for the decision of a CP dispatcher


def decide(
    state: MachineState,
    dispatcher: str = "easy",
    *,
    decision_time: float | None = None,
    allocator: str | Allocator = BEST_FIT,
    priorities: bool = False,
    seed: int = 0,
    threads: int = 1,
) -> Answer:
    """Return the starts and the planned starts of a dispatcher for the state of a machine, verified.

    Planned starts are the reservations of a policy (EASY: that of the first job that cannot start; conservative: those
    of all jobs) and ``Decision.plan`` of a dispatcher in Python. Policies without backfilling and the CP dispatchers
    decide about now only: they have none.

    Parameters
    ----------
    state : MachineState
        The state, see ``schedlab.instances.sites.machine_state.read_state``.
    dispatcher : str
        The name of a dispatcher, as in ``schedlab.simulate``.
    decision_time : float, optional
        Seconds for this call with a CP dispatcher, loading of kernels and its model included; at least a fifth is left
        for its decision. Default: the limit of the dispatcher. Policies need less than a second, and other
        dispatchers in Python have no limit.
    allocator : str or Allocator
        How policies choose nodes, as in ``schedlab.simulate``.
    priorities : bool
        Whether a policy takes the jobs by their priorities in the state, the highest first, instead of by its own key.
    seed : int
        Passed to ``begin`` of dispatchers and rankers.
    threads : int
        Threads of the solver of a CP dispatcher.

    Returns
    -------
    Answer
        The starts. ``faults`` has found nothing wrong with them.

    Raises
    ------
    SimulationError
        If the dispatcher raises, or its answer is not possible on this machine.
    WorkloadError
        If a job has several chunks, and the dispatcher does not take such jobs.
    UnknownName, PluginError
        If the dispatcher is unknown, or cannot be made.
    ValueError
        If an argument is not valid, or a dispatcher needs what a state does not have (a desired use, a log).
    """
    placing = allocator_of(allocator)
    if decision_time is not None and not decision_time > 0:
        raise WrongValue(f"decision_time is {decision_time:g} s; expected more than 0")
    named = parse_dispatcher(dispatcher)
    if named.needs_profile:
        raise WrongValue(
            f"{dispatcher}: keeps to a desired use, which a state does not have; expected another dispatcher"
        )
    if named.needs_site:
        raise WrongValue(
            f"{dispatcher}: follows the rules of a site, which a state does not have; expected another dispatcher"
        )
    if named.predictor == "real":
        raise WrongValue("predictor real: the runtimes of waiting jobs are not known; expected another predictor")
    options: dict[str, Any] = {} if named.backend is None else {"threads": threads}
    if not state.waiting:
        named.make(**options)
        return Answer(state.now, dispatcher, (), (), {}, state.left_out, shift=state.shift)
    began = perf_counter()
    engine = _at_decision(state, named, options, placing, priorities, seed)
    if named.backend is not None and decision_time is not None:  # what has been loaded by now is not loaded again
        options["limit"] = max(SMALLEST_PART * decision_time, decision_time - (perf_counter() - began))
        engine = _at_decision(state, named, options, placing, priorities, seed)
    expected = dict(engine.ledger.expected)
    engine.decide()
    answer = Answer(
        now=state.now,
        dispatcher=dispatcher,
        starts=_starts(engine),
        planned=sorted(_planned(engine), key=lambda p: p.time),
        expected={job.id: expected[job.id] for job in state.waiting},
        left_out=state.left_out,
        ended=next(iter(engine.calls.ended), "trivial"),
        seconds=perf_counter() - began,
        shift=state.shift,
    )
    wrong = faults(state, answer)
    if wrong:
        more = f" (and {how_many(len(wrong) - 1, 'more fault')})" if len(wrong) > 1 else ""
        raise SimulationError(f"dispatcher {dispatcher}: its answer is not possible: {wrong[0]}{more}", time=state.now)
    return answer


def _by_priorities(made: Any, name: str, state: MachineState) -> Policy:
    """Return a policy that takes the jobs by their priorities in the state. Raises WrongValue."""
    if not isinstance(made, Policy) or made.ranker is not None or (made.plan is not None and made.plan.work > 0):
        raise WrongValue(f"priorities: {name} has an order of its own; expected a policy such as easy or conservative")
    missing = next((job.id for job in state.waiting if job.id not in state.priority), None)
    if missing is not None:
        raise WrongValue(f"priorities: waiting job {missing!r} has none in the state (squeue --json has them)")

    def lowest_last(workload: Workload, expected: Ints) -> Ints:
        return np.array([-state.priority.get(name, 0) for name in workload.ids], np.int64)

    return replace(made, key=lowest_last)


def _at_decision(
    state: MachineState, named: Named, options: dict[str, Any], placing: Allocator, priorities: bool, seed: int
) -> Engine:
    """Return a replay that has come to its first decision, at the time of the state."""
    made = named.make(**options)
    if getattr(made, "centre", state) is None:
        raise WrongValue(
            f"{named.text}: plans for profit with forecasts from a log, cooling, weather and prices, which a state does not "
            "have; expected another dispatcher"
        )
    jobs = _jobs_of(state)
    check_takes_chunks(jobs, made, named.text)
    check_takes_all_nodes(jobs, made, named.text)
    if priorities:
        made = _by_priorities(made, named.text, state)
    running = RunningAtBegin(
        kill=False, known=False, by_policy=False, best=placing.name == BEST_FIT, up=None,
        rank=rank_of(placing, state.platform),
    )  # fmt: skip
    limits = [RunningLimits([licences_of])] if state.platform.licences else []
    features: tuple[Feature, ...] = (running, MachineAtBegin(state), *limits)
    for feature in features:
        jobs = feature.jobs(jobs, state.platform)
    setup = set_up(
        jobs, state.platform, features, Chosen.of(made, named.text, named.predictor),
        TimedPredictor(predictor_of(named.predictor)), placing, seed=seed, period=0, charge=False, kill=False,
        whole_nodes=False, fixed=True,
    )  # fmt: skip
    engine = Engine(setup, features, None)
    engine.to_first_decision()
    return engine


def _jobs_of(state: MachineState) -> Workload:
    """Return the waiting jobs, and the running ones; unknown runtimes are the walltimes."""
    waiting = [replace(job, runtime=job.walltime) for job in state.waiting]
    running = [_still_running(r, state.now) for r in state.running]
    return Workload.of(Dispatch(state.platform, waiting, state.queues, "waiting", state.now, running), "state")


def _still_running(r: Running, now: int) -> Running:
    """Return a running job whose true end, which is unknown, is later than now; its expected end stays."""
    return replace(r, job=replace(r.job, runtime=max(r.end, now + 1) - r.start))


def _starts(engine: Engine) -> list[Start]:
    """Return the starts of the decision, in the order of the submit times."""
    rows = np.flatnonzero(engine.state.start != UNSTARTED).tolist()
    return [_start(engine, j) for j in rows if j not in engine.ledger.begun]


def _start(engine: Engine, j: int) -> Start:
    nodes, *further = engine.ledger.nodes_of(j)
    return Start(engine.workload.ids[j], nodes, tuple(further))


def _planned(engine: Engine) -> Iterator[PlannedStart]:
    """Yield the planned starts of a dispatcher in Python, or the reservations of the policy that has decided."""
    policy, state = engine.ruled, engine.state
    if policy is None:
        yield from engine.plans.by_id.values()
        return
    if policy.reservations == 1:  # EASY keeps its reservation to itself
        kernels.reserve_for_first(engine)
    for j in sorted(state.waiting[: state.clock[WAITING]].tolist()):
        if state.reserved[j] > engine.now:
            job, nodes, further = _start(engine, j)
            yield PlannedStart(job, nodes, int(state.reserved[j]), further)


# --- The starts of a machine after a state, compared with the answer of a dispatcher to that state.


SCHEMA, VERSION = "schedlab-decision-comparison", 1
WITHIN = 30  # seconds by which a start may differ and be the same: schedulers look for starts about twice a minute


@with_short_repr
@hashable
@dataclass(frozen=True)
class Comparison:
    """What a machine did from a state to the next one, and the answer of a dispatcher to the first; jobs are named by their ids.

    A start is compared by its time: that of the dispatcher is now, or the time for which it is planned. Jobs that a state
    holds or leaves out, and jobs that were submitted later, are not among ``same``, ``earlier`` and ``later``: the dispatcher did not
    see them.

    Parameters
    ----------
    now, until : int
        The times of the states in seconds, as in their files.
    same : sequence of str
        The machine started it, and the dispatcher at about the same time.
    earlier : sequence of str
        The machine started it, and the dispatcher earlier.
    later : sequence of str
        The machine started it, and the dispatcher later, or it has no start for it.
    soon : sequence of str
        Those of these three that the machine started at about the time of the first state.
    was_held : sequence of str
        The machine started it, and the first state holds it or leaves it out.
    submitted : int
        The number of the jobs that the machine started, and that were not in the queue at the first state.
    ours : sequence of str
        The starts of the dispatcher now.
    also_made : sequence of str
        Those of them that the machine made until the next state.
    not_made : sequence of str
        Those that it did not make.
    held : sequence of str
        Those that the first state holds or leaves out.
    held_next : sequence of str
        Those that the next state holds or leaves out.
    """

    now: int
    until: int
    same: Sequence[str] = ()
    earlier: Sequence[str] = ()
    later: Sequence[str] = ()
    soon: Sequence[str] = ()
    was_held: Sequence[str] = ()
    submitted: int = 0
    ours: Sequence[str] = ()
    also_made: Sequence[str] = ()
    not_made: Sequence[str] = ()
    held: Sequence[str] = ()
    held_next: Sequence[str] = ()

    @property
    def machine(self) -> int:
        """The number of starts of the machine that are compared."""
        return len(self.same) + len(self.earlier) + len(self.later)

    @property
    def soon_ours(self) -> int:
        """The number of ``soon`` that are starts of the dispatcher, too."""
        return len({*self.soon} & {*self.ours})

    def to_json(self) -> dict[str, Any]:
        """Return the fields; jobs are lists of their ids."""
        shown = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value if isinstance(value, int) else list(value) for name, value in shown.items()}


def compare(state: MachineState, answer: Answer, following: MachineState, within: int = WITHIN) -> Comparison:
    """Return what the machine did from a state to the following one, compared with the answer to the first.

    Parameters
    ----------
    state : MachineState
        The state that the dispatcher has seen.
    answer : Answer
        Its answer.
    following : MachineState
        A later state of the same machine. Its running jobs, and those that have ended, tell what has started.
    within : int
        Seconds by which two starts may differ and are the same.

    Raises
    ------
    WrongValue
        If the second state is not later than the first.
    """
    until = following.now - following.shift + state.shift
    if until <= state.now:
        raise WrongValue(
            f"the time of the next state is {following.now - following.shift}; expected one after that of the first, "
            f"{state.now - state.shift}"
        )
    ours = {p.job: int(p.time) for p in answer.planned} | {s.job: state.now for s in answer.starts}
    waiting = {job.id for job in state.waiting}
    known = {*waiting, *state.left_out, *(r.job.id for r in state.running)}
    started = dict(_started(following, state))
    compared = [(job, time) for job, time in started.items() if job in waiting]
    starts = [s.job for s in answer.starts]
    return Comparison(
        now=state.now - state.shift,
        until=until - state.shift,
        same=[job for job, time in compared if job in ours and abs(ours[job] - time) <= within],
        earlier=[job for job, time in compared if job in ours and ours[job] < time - within],
        later=[job for job, time in compared if job not in ours or ours[job] > time + within],
        soon=[job for job, time in compared if time <= state.now + within],
        was_held=[job for job in started if job in state.left_out],
        submitted=sum(job not in known for job in started),
        ours=starts,
        also_made=[job for job in starts if job in started],
        not_made=[job for job in starts if job not in started],
        held=[job for job in starts if job in state.left_out],
        held_next=[job for job in starts if job in following.left_out],
    )


def _started(following: MachineState, state: MachineState) -> Iterator[tuple[str, int]]:
    """Yield (id, time) of the jobs that have started since a state, on its clock."""
    later = state.shift - following.shift
    times = [(r.job.id, r.start + later) for r in following.running] + [
        (e.job, e.start + later) for e in following.ended
    ]
    return ((job, time) for job, time in times if time >= state.now)


def comparisons_to_json(dispatcher: str, within: int, compared: Sequence[Comparison]) -> dict[str, Any]:
    """Return comparisons as an object of the schema ``schedlab-decision-comparison`` (docs/decide.md)."""
    listed = [c.to_json() for c in compared]
    return {"schema": SCHEMA, "version": VERSION, "dispatcher": dispatcher, "within": within, "states": listed}
