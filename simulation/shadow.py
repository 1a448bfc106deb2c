"""One decision of any dispatcher for the state of a real machine."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby, pairwise
from typing import Any, NamedTuple, NoReturn

import numpy as np

from ..errors import WrongValue
from ..heuristics.kernels.events.entries import step
from ..heuristics.kernels.events.machine import busy_state, busy_trace, of_chunks
from ..heuristics.kernels.events.rules import Rules
from ..heuristics.kernels.events.state import (
    NOW,
    SORTED,
    UNSTARTED,
    WAITING,
    State,
    TraceArrays,
    choose_places,
    has_chunks,
    set_open,
    spread,
)
from ..heuristics.kernels.profile import NEVER
from ..instances.states.machine_state import MachineState
from ..instances.workload import Workload
from ..models import Dispatch, Running
from ..models.array_types import Ints
from ..models.compiled import compiled
from ..models.counts import how_many
from ..models.excerpt import with_short_repr
from ..models.node_states import node_states
from ..models.reservations import Reserved, Usage
from .allocators import BEST_FIT, Allocator, allocator_of, rank_of
from .decisions import fault_of
from .dispatcher import Decision, Moment, PlannedStart, Start
from .dispatchers import policy_kernels as kernels
from .dispatchers.easy import Holds, correct, decide_beside, nothing_returned, shadow_of
from .dispatchers.policy import Policy
from .dispatchers.policy_kernels import rules_of
from .dispatchers.registry import parse_dispatcher
from .errors import SimulationError
from .predictors import Predictor, TimedPredictor, predictor_of
from .rankers import Ranking
from .shadow_answer import Answer, faults
from .simulator import check_takes_chunks

# --- What the reservations of a machine keep free of other jobs, in the form that dispatchers take.
#
# A job that runs in the private queue of a reservation runs inside of it: the reservation keeps what it holds beyond that
# job. Beside other running jobs (one that is past its walltime, or was started in spite of the reservation) a reservation
# holds only what they leave, until they end: no dispatcher could do more.

Vector = tuple[int, ...]


class _Use(NamedTuple):
    """What a running job uses of a node until its end, not before the next second."""

    queue: str
    end: int
    amounts: Vector


def holding(state: MachineState) -> tuple[Reserved, ...]:
    """Return what the reservations hold from now on, by start: each with amounts that are free beside the running jobs.

    Each has a name of its own; a reservation is divided where the amounts change over time or over nodes.
    """
    if not state.reserved:
        return ()
    resources = state.platform.resources
    by_node: dict[str, list[Reserved]] = defaultdict(list)
    for r in state.reserved:
        for node in r.nodes:
            by_node[node].append(r)
    uses: dict[str, list[_Use]] = defaultdict(list)
    for job in state.running:
        amounts = tuple(job.job.request.get(name, 0) for name in resources)
        for node, units in job.nodes.items():
            if node in by_node:
                end = max(job.end, state.now + 1)
                uses[node].append(_Use(job.job.queue, end, tuple(units * n for n in amounts)))
    nodes: dict[tuple[int, int, str, str, Vector], list[str]] = defaultdict(list)
    for node, listed in by_node.items():
        for name, queue, start, end, kept in _pieces(state, listed, uses[node], state.platform.capacity[node]):
            nodes[start, end, name, queue, kept].append(node)
    names: Counter[str] = Counter()
    reserved = []
    for (start, end, name, queue, kept), members in sorted(nodes.items(), key=lambda item: item[0][:3]):
        own = _unused(name, names)
        reserved.append(
            Reserved(own, queue, start, end, dict.fromkeys(members, 1), dict(zip(resources, kept, strict=True)))
        )
    return tuple(reserved)


def _unused(name: str, names: Counter[str]) -> str:
    """Return the name, with a number if it is in use."""
    own = name
    while own in names:
        names[name] += 1
        own = f"{name}+{names[name] - 1}"
    names[own] += 1
    return own


def _pieces(
    state: MachineState, listed: Sequence[Reserved], uses: Sequence[_Use], capacity: Vector
) -> Iterator[tuple[str, str, int, int, Vector]]:
    """Yield (name, queue, start, end, amounts) of what the reservations of one node hold on it."""
    first = state.now
    ends = [u.end for u in uses]
    times = sorted({t for r in listed for t in (max(first, r.start), r.end)} | {t for t in ends if t > first})
    rows = [(lo, hi, _held(state, listed, uses, capacity, lo)) for lo, hi in pairwise(times)]
    for k, r in enumerate(listed):
        spans = [(lo, hi, held[k]) for lo, hi, held in rows if r.start <= lo < r.end]
        for kept, group in groupby(spans, key=lambda span: span[2]):
            members = list(group)
            if any(kept):
                yield r.name, r.queue, members[0][0], members[-1][1], kept


def _held(
    state: MachineState, listed: Iterable[Reserved], uses: Sequence[_Use], capacity: Vector, time: int
) -> list[Vector]:
    """Return what each reservation of a node holds on it at a time."""
    width = range(len(capacity))
    left = list(capacity)
    inside = defaultdict[str, list[int]](lambda: [0 for _ in width])
    for use in uses:
        if use.end > time:
            left = [n - used for n, used in zip(left, use.amounts, strict=True)]
            inside[use.queue] = [n + used for n, used in zip(inside[use.queue], use.amounts, strict=True)]
    vectors: list[Vector] = []
    for r in listed:
        kept = [0 for _ in width]
        if r.start <= time < r.end:
            asked = [r.request.get(name, 0) for name in state.platform.resources]
            within = [min(n, i) for n, i in zip(asked, inside[r.queue], strict=True)] if r.queue else [0 for _ in width]
            kept = [max(0, min(n - i, free)) for n, i, free in zip(asked, within, left, strict=True)]
            if r.queue:
                inside[r.queue] = [n - i for n, i in zip(inside[r.queue], within, strict=True)]
            left = [n - k for n, k in zip(left, kept, strict=True)]
        vectors.append(tuple(kept))
    return vectors


# --- The state of a machine in the forms that dispatchers take: arrays for the compiled policies, a moment for the others.


@with_short_repr
@dataclass(frozen=True, eq=False)
class Situation:
    """The state of a machine with at least one waiting job, and the expected durations of the jobs.

    Parameters
    ----------
    state : MachineState
        The state.
    workload : Workload
        The waiting jobs by submit time, with their walltimes in place of the unknown runtimes, and the running jobs.
    expected : ndarray of int64, shape (jobs,)
        Expected durations of the waiting jobs in seconds.
    """

    state: MachineState
    workload: Workload
    expected: Ints

    @classmethod
    def of(cls, state: MachineState, predictor: Predictor) -> Situation:
        """Return the situation of a state; the predictor has seen no job end. Raises WrongValue for ``real``."""
        if predictor.name == "real":
            raise WrongValue("predictor real: the runtimes of waiting jobs are not known; expected another predictor")
        jobs = [replace(job, runtime=job.walltime) for job in state.waiting]
        running = [_still_running(r, state.now) for r in state.running]
        problem = Dispatch(state.platform, jobs, state.queues, "waiting", state.now, running)
        workload = Workload.of(problem, "state")
        checked = TimedPredictor(predictor)
        fixed = checked.begin(workload)
        expected = [checked.predict(j) for j in range(len(workload))] if fixed is None else fixed
        return cls(state, workload, np.array(expected, np.int64))

    @cached_property
    def blocked(self) -> Ints:
        """The indices of the nodes on which no job may start."""
        known = node_states()
        return np.array([n for n, name in enumerate(self.state.states) if not known[name].starts], np.int64)

    @cached_property
    def reserved(self) -> tuple[Reserved, ...]:
        """What the reservations of the machine hold from now on; see ``holding``."""
        return holding(self.state)

    @cached_property
    def _usage(self) -> Usage:
        """The same by nodes."""
        return Usage.of(self.state.platform, ((r.nodes, r.request, r.start, r.end) for r in self.reserved))

    @property
    def holds(self) -> Holds | None:
        """The same for the compiled policies; None without reservations."""
        return Holds(*self._usage) if self.reserved else None

    @cached_property
    def arrays(self) -> tuple[TraceArrays, State]:
        """The jobs and the machine as arrays, at the time of the state, with all jobs in the queue."""
        w, platform = self.workload, self.state.platform
        trace = busy_trace(w, w.running, platform, w.walltime, False)
        state = busy_state(trace, self.expected, w.begin, w.running, platform.nodes)
        open_ = state.open.copy()
        open_[self.blocked] = False
        set_open(trace, state, open_)
        step(trace, state, 0)
        return trace, state

    def moment(self) -> Moment:
        """Return what a dispatcher in Python sees."""
        trace, arrays = self.arrays
        w = self.workload
        expected = self.expected.tolist()
        rows = arrays.waiting[: len(w)].tolist()
        free = np.maximum(arrays.free, 0)
        free[self.blocked] = 0
        if self.reserved:
            free = np.maximum(free - self._usage.at(self.state.now, len(free)), 0)
        running = tuple(replace(r, job=replace(r.job, runtime=None)) for r in w.running)
        lasting = {r.job.id: max(1, r.end - r.start) for r in running}
        return Moment(
            now=self.state.now,
            platform=self.state.platform,
            queues=w.queues,
            waiting=tuple(w.waiting_job(j) for j in rows),
            expected={w.ids[j]: expected[j] for j in rows} | lasting,
            may_start=kernels.allowed(trace, arrays),
            running=tuple(sorted(running, key=lambda r: r.start)),
            free=free,
            states=self.state.states,
            reserved=self.reserved,
        )


def _still_running(r: Running, now: int) -> Running:
    """Return a running job whose true end, which is unknown, is later than now; its expected end stays."""
    return replace(r, job=replace(r.job, runtime=max(r.end, now + 1) - r.start))


# --- The reservation of EASY's head after a decision; compiled.


@compiled
def place_head(trace: TraceArrays, state: State, head: int, best: bool) -> tuple[int, int]:
    """Return the shadow time of a waiting job (NEVER if there is none) and the number of its places.

    The places and the units on each are the first ones of ``state.chosen`` and ``state.put``.
    """
    shadow = shadow_of(trace, state, head, best)
    if shadow >= NEVER:
        return shadow, 0
    if has_chunks(trace, head):
        usable = state.open_of[trace.node_set[head]]
        return shadow, choose_places(trace, state, state.extra, state.extra, usable, head, best)
    return shadow, spread(
        state.extra, trace.capacity, trace.rank, state.fit, trace.units[head], best, state.chosen, state.put
    )


# --- The decision of a policy for the state of a machine, with its reservations as planned starts.


def decide_by_policy(
    situation: Situation, policy: Policy, allocator: Allocator, seed: int
) -> tuple[list[Start], list[PlannedStart]]:
    """Return the starts of a policy, and its reservations as planned starts.

    Policies without backfilling have no reservations.
    """
    w, (trace, state) = situation.workload, situation.arrays
    rank = rank_of(allocator, situation.state.platform)
    trace = trace if rank is None else trace._replace(rank=rank)
    rules = rules_of(policy, w, situation.expected, allocator.name == BEST_FIT, seed)
    state.clock[SORTED] = 0
    if policy.corrections:
        walltimes = np.concatenate([w.walltime, np.array([r.job.walltime for r in w.running], np.int64)])
        correct(state, walltimes, np.array(policy.corrections, np.int64))
    if policy.ranker is not None:
        ranking = Ranking(policy.ranker, w, state, trace.runtime, False, _refuse(policy, situation))
        ranking.begin(situation.state.platform, w, seed)
        ranking.learn(state.waiting[: state.clock[WAITING]].copy(), np.zeros(0, np.int64))
        rules = ranking.sort(rules)
    if situation.holds is not None:
        # beside reservations each job is taken to last as long as its walltime allows
        state.expected[: len(w)] = np.maximum(state.expected[: len(w)], w.walltime)
        decide_beside(trace, state, rules, situation.holds, nothing_returned(trace), policy.shortest_first)
    else:
        kernels.kernel(rules, policy.shortest_first).decide(trace, state, rules)
    rows = range(len(w))
    starts = []
    for j in rows:
        if state.start[j] != UNSTARTED:
            nodes, *further = _nodes(situation, trace, state, j)
            starts.append(Start(w.ids[j], nodes, tuple(further)))
    if policy.reservations == 1 and situation.holds is None:  # EASY keeps its reservation to itself
        planned = list(_of_head(situation, trace, state, rules))
    else:
        later = [j for j in rows if state.start[j] == UNSTARTED and state.reserved[j] > state.clock[NOW]]
        planned = [_planned(situation, j, _nodes(situation, trace, state, j), int(state.reserved[j])) for j in later]
    return starts, sorted(planned, key=lambda p: p.time)


def _planned(situation: Situation, j: int, chunks: list[dict[str, int]], time: int) -> PlannedStart:
    nodes, *further = chunks
    return PlannedStart(situation.workload.ids[j], nodes, time, tuple(further))


def _refuse(policy: Policy, situation: Situation) -> Callable[[str], NoReturn]:
    def refuse(why: str) -> NoReturn:
        raise SimulationError(f"dispatcher {policy.name} at {situation.state.now}: {why}", time=situation.state.now)

    return refuse


def _nodes(situation: Situation, trace: TraceArrays, state: State, j: int) -> list[dict[str, int]]:
    """Return node -> units of each chunk of a job that has started or has a reservation."""
    slots = slice(trace.first[j], trace.first[j] + state.pieces[j])
    return _chunks(situation, j, state.place[slots].astype(np.int64), state.share[slots].astype(np.int64))


def _chunks(situation: Situation, j: int, places: Ints, units: Ints) -> list[dict[str, int]]:
    """Return node -> units of each chunk of a job; its places are listed chunk after chunk."""
    each = [c.units for c in situation.workload.chunks.get(j, ())] or [int(units.sum())]
    return of_chunks((np.array([0, places.size]), places, places, units), 0, each, situation.state.platform.nodes)


def _of_head(situation: Situation, trace: TraceArrays, state: State, rules: Rules) -> Iterator[PlannedStart]:
    """Yield the reservation of EASY: the first waiting job for which there is one."""
    for j in state.waiting[: state.clock[WAITING]].tolist():
        shadow, entries = place_head(trace, state, j, rules.best)
        if shadow < NEVER:
            yield _planned(
                situation, j, _chunks(situation, j, state.chosen[:entries], state.put[:entries]), int(shadow)
            )
            return


# --- One decision of any dispatcher for the state of a machine.

SMALLEST_PART = 0.2  # of the decision time, for the decision of a CP dispatcher


def decide(
    state: MachineState,
    dispatcher: str = "easy",
    *,
    decision_time: float | None = None,
    allocator: str | Allocator = BEST_FIT,
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
        The state, see ``schedlab.instances.states.machine_state.read_state``.
    dispatcher : str
        The name of a dispatcher, as in ``schedlab.simulate``.
    decision_time : float, optional
        Seconds for this call with a CP dispatcher, loading of kernels and its model included; at least a fifth is left
        for its decision. Default: the limit of the dispatcher. Policies need less than a second, and other
        dispatchers in Python have no limit.
    allocator : str or Allocator
        How policies choose nodes, as in ``schedlab.simulate``.
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
    predictor = predictor_of(named.predictor)
    options: dict[str, Any] = {} if named.backend is None else {"threads": threads}
    if not state.waiting:
        named.make(**options)
        return Answer(state.now, dispatcher, (), (), {}, state.left_out, shift=state.shift)
    began = time.perf_counter()
    situation = Situation.of(state, predictor)
    _ = situation.arrays  # loads the kernels
    if named.backend is not None and decision_time is not None:
        options["limit"] = max(SMALLEST_PART * decision_time, decision_time - (time.perf_counter() - began))
    chosen = named.make(**options)
    if getattr(chosen, "centre", state) is None:
        raise WrongValue(
            f"{dispatcher}: plans for profit with forecasts from a log, cooling, weather and prices, which a state does not "
            "have; expected another dispatcher"
        )
    check_takes_chunks(situation.workload, chosen, dispatcher)
    decision = Decision((), policy=chosen)
    if not isinstance(chosen, Policy):
        decision = _decision_of(chosen, dispatcher, situation.moment(), seed)
    if decision.policy is None:
        starts = list(decision.starts)
        planned = sorted(decision.plan or (), key=lambda p: p.time)
    else:
        starts, planned = decide_by_policy(situation, decision.policy, placing, seed)
    expected = dict(zip(situation.workload.ids, situation.expected.tolist(), strict=True))
    answer = Answer(
        state.now,
        dispatcher,
        starts,
        planned,
        expected,
        state.left_out,
        decision.ended,
        time.perf_counter() - began,
        state.shift,
    )
    wrong = faults(state, answer)
    if wrong:
        more = f" (and {how_many(len(wrong) - 1, 'more fault')})" if len(wrong) > 1 else ""
        raise SimulationError(f"dispatcher {dispatcher}: its answer is not possible: {wrong[0]}{more}", time=state.now)
    return answer


def _decision_of(dispatcher: Any, name: str, moment: Moment, seed: int) -> Decision:
    """Call a dispatcher in Python; turn an exception and a wrong form of its answer into a SimulationError."""
    try:
        dispatcher.begin(moment.platform, moment.queues, seed)
        answer = dispatcher.decide(moment)
        if isinstance(answer, Decision):
            answer.starts = _listed(answer.starts)
            answer.plan = None if answer.plan is None else _listed(answer.plan)
    except SimulationError:
        raise
    except Exception as e:
        raise SimulationError(f"dispatcher {name} raised: {type(e).__name__}: {e}", time=moment.now) from e
    fault = fault_of(answer)
    if fault is not None:
        raise SimulationError(f"dispatcher {name}: {fault.why}", fault.job, fault.node, moment.now)
    decision: Decision = answer
    return decision


def _listed(what: Any) -> Any:
    """Return a generator as a list: it may raise, too."""
    return list(what) if isinstance(what, Iterator) else what
