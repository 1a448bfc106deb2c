"""One decision of any dispatcher for the state of a real machine, and its comparison with what the machine did.

The answer is checked against the state alone (``faults``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, fields, replace
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from ..errors import WrongValue
from ..heuristics.kernels.events.state import UNSTARTED, WAITING
from ..instances.sites.machine_state import MachineState
from ..instances.workload import Workload
from ..models import Dispatch, Running
from ..models.array_types import Ints
from ..models.comparing import hashable
from ..models.dispatch.jobs import DAY, Job
from ..models.node_states import node_states
from ..models.reservations import Reserved
from ..models.words import how_many, with_short_repr
from .dispatcher import PlannedStart, Start
from .dispatchers import policy_kernels as kernels
from .dispatchers.policy import BEST_FIT, Allocator, Chosen, Policy, allocator_of, rank_of
from .dispatchers.registry import Named, parse_dispatcher
from .engine import Engine, set_up
from .errors import SimulationError
from .features.batch_server import WHY
from .features.feature import Feature, Replay
from .features.limits import RunningLimits, licences_of
from .features.running import RunningAtBegin
from .predictors import TimedPredictor, predictor_of
from .simulator import check_takes_all_nodes, check_takes_chunks
from .timeline import Hold, Use, holding

# --- The answer of a dispatcher to the state of a machine.

SCHEMA, VERSION = "schedlab-decision", 1


@with_short_repr
@hashable
@dataclass(frozen=True)
class Answer:
    """The answer of a dispatcher to the state of a machine.

    Parameters
    ----------
    now : int
        The time of the state in seconds.
    dispatcher : str
        The name of the dispatcher.
    starts : sequence of Start
        The jobs that start now.
    planned : sequence of PlannedStart
        The starts that the dispatcher plans for later times, by time; see ``schedlab.simulation.decide``.
    expected : mapping of str to int
        Id of a waiting job -> the duration in seconds that the dispatcher expects.
    left_out : mapping of str to str
        Id -> reason, for the jobs that the dispatcher did not see.
    ended : str
        How the decision ended, one of ``schedlab.simulation.dispatcher.Ended``.
    seconds : float
        Wall time of the decision.
    shift : int
        Seconds by which the times are later than those of the state file.
    """

    now: int
    dispatcher: str
    starts: Sequence[Start]
    planned: Sequence[PlannedStart]
    expected: Mapping[str, int]
    left_out: Mapping[str, str] = field(default_factory=dict)
    ended: str = "trivial"
    seconds: float = 0.0
    shift: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return the answer as an object of the schema ``schedlab-decision`` (docs/reference/decide.md)."""
        return {
            "schema": SCHEMA,
            "version": VERSION,
            "now": self.now - self.shift,
            "dispatcher": self.dispatcher,
            "ended": self.ended,
            "seconds": round(self.seconds, 3),
            "waiting": len(self.expected),
            "starts": [{"id": s.job} | _places(s) for s in self.starts],
            "planned": [{"id": p.job, "time": int(p.time) - self.shift} | _places(p) for p in self.planned],
            "left_out": [{"id": job, "reason": why} for job, why in self.left_out.items()],
        }


def _places(start: Start | PlannedStart) -> dict[str, Any]:
    """Return the units on each node; for a heterogeneous job those of all chunks together, and of each chunk."""
    if not start.further:
        return {"nodes": _whole(start.nodes)}
    chunks = [_whole(nodes) for nodes in (start.nodes, *start.further)]
    together: Counter[str] = Counter()
    for nodes in chunks:
        together.update(nodes)
    return {"nodes": dict(together), "chunks": chunks}


def _whole(nodes: Mapping[str, int]) -> dict[str, int]:
    return {node: int(units) for node, units in nodes.items()}


# --- What is wrong with an answer: a check on the state alone, which shares no code with the dispatchers.

Nodes = Mapping[str, int]


class _NodeUse(NamedTuple):
    """Units of a job on a node from ``begin`` to before ``end``; ``starting``: the job does not run yet."""

    begin: int
    end: int
    job: str
    node: str
    units: int
    request: Mapping[str, int]
    queue: str
    starting: bool


def faults(state: MachineState, answer: Answer) -> list[str]:
    """Return a sentence for each start that is not possible; an empty list if the answer is valid.

    Each job starts once, with all units of all its chunks, when its queue is open, on nodes that take starts, and no
    node ever holds more than it has: running jobs last to their expected ends, at least one second, the others their
    expected durations. ``Answer.expected`` is taken as given. By its walltime, no job runs into a reservation.
    """
    jobs = {job.id: job for job in state.waiting}
    starts = [(s.job, (s.nodes, *s.further), answer.now) for s in answer.starts]
    starts += [(p.job, (p.nodes, *p.further), p.time) for p in answer.planned]
    wrong = list[str]()
    seen = set[str]()
    uses = [
        _NodeUse(state.now, max(r.end, state.now + 1), r.job.id, node, units, r.job.request, r.job.queue, False)
        for r in state.running
        for node, units in r.nodes.items()
    ]
    by_walltime = list(uses)
    for name, time in [(p.job, p.time) for p in answer.planned]:
        if time <= state.now:
            wrong.append(f"job {name!r} is planned at {time}; expected a time after now, {state.now}")
    for name, nodes, time in starts:
        if name not in jobs:
            wrong.append(f"there is no job {name!r} that may start")
            continue
        if name in seen:
            wrong.append(f"job {name!r} starts twice")
        seen.add(name)
        wrong.extend(_of_start(state, jobs[name], nodes, time))
        uses.extend(_uses(state, jobs[name], nodes, time, answer.expected[name]))
        by_walltime.extend(_uses(state, jobs[name], nodes, time, jobs[name].walltime))
    alone = {name for name, job in jobs.items() if job.whole_nodes}
    return [
        *wrong, *_of_arrays(state, starts), *_of_licences(state, answer.starts), *_overfull(state, uses), *_shared(alone, uses),
        *_into_reservations(state, by_walltime),
    ]  # fmt: skip


def _of_arrays(state: MachineState, starts: Iterable[tuple[str, Sequence[Nodes], int]]) -> Iterator[str]:
    """Yield the arrays of which more tasks start than their limits allow beside those that run now."""
    started = Counter(state.array_of[name] for name, _, _ in starts if name in state.array_of)
    for array, count in started.items():
        if count > state.may_start[array]:
            yield f"{how_many(count, 'task')} of array {array!r} start; at most {state.may_start[array]} may, beside those that run"


def _of_licences(state: MachineState, starts: Iterable[Start]) -> Iterator[str]:
    """Yield the licences of which the starts of now take more than are free."""
    licences_of = {job.id: job.licences for job in state.waiting}
    taken: Counter[str] = Counter()
    for start in starts:
        taken.update(licences_of.get(start.job, {}))
    for name, amount in taken.items():
        free = state.platform.licences.get(name, 0)
        if amount > free:
            yield f"the starts take {amount} licences of {name!r}, of which {free} are free"


def _uses(state: MachineState, job: Job, chunks: Sequence[Nodes], time: int, seconds: int) -> Iterator[_NodeUse]:
    """Yield what a start uses on the nodes of the machine."""
    for part, nodes in zip(job.parts, chunks, strict=False):
        for node, units in nodes.items():
            if node in state.platform.capacity:
                yield _NodeUse(time, time + seconds, job.id, node, units, part.request, job.queue, True)


def _of_start(state: MachineState, job: Job, chunks: Sequence[Nodes], time: int) -> Iterator[str]:
    """Yield what is wrong with one start, apart from the capacities."""
    closed = dict(zip(state.platform.nodes, state.states, strict=True))
    if len(chunks) != len(job.parts):
        yield f"job {job.id!r} has {how_many(len(job.parts), 'chunk')}; its start has nodes of {len(chunks)}"
    for k, (part, nodes) in enumerate(zip(job.parts, chunks, strict=False)):
        if sum(nodes.values()) != part.units or any(units < 1 for units in nodes.values()):
            if job.chunks:
                what = f"chunk {k} of job {job.id!r}"
            else:
                what = f"job {job.id!r}"
            yield f"{what} has {how_many(part.units, 'unit')}; the units of its start are {dict(nodes)}"
    for node in dict.fromkeys(node for nodes in chunks for node in nodes):
        if node not in closed:
            yield f"job {job.id!r} starts on node {node!r}, which the machine does not have"
        elif not node_states()[closed[node]].starts:
            yield f"job {job.id!r} starts on node {node!r}, which is {closed[node]}"
    queue = next(queue for queue in state.queues if queue.name == job.queue)
    for node, units in ((node, units) for nodes in chunks for node, units in nodes.items()):
        if any(names and node not in names for names in (queue.nodes, job.nodes)):
            yield f"job {job.id!r} starts on node {node!r}, which it may not use"
        if job.per_node is not None and units > job.per_node:
            yield f"job {job.id!r} has {how_many(units, 'unit')} on node {node!r}; at most {job.per_node} are allowed"
    daily = queue.daily
    if daily and not any((time - lo) % DAY <= hi - lo for lo, hi in daily):
        yield f"job {job.id!r} starts at {time}, when queue {job.queue!r} is closed"
    if time < job.release:
        yield f"job {job.id!r} starts at {time}, before {job.release}"


def _shared(alone: Set[str], uses: Iterable[_NodeUse]) -> Iterator[str]:
    """Yield the uses of nodes that other jobs, ``alone``, have whole at the time."""
    by_node: dict[str, list[_NodeUse]] = {}
    for use in uses:
        by_node.setdefault(use.node, []).append(use)
    for node, here in by_node.items():
        for use in here:
            others = [o for o in here if o.job != use.job and o.begin < use.end and use.begin < o.end]
            if use.job in alone and others:
                yield f"job {use.job!r} has whole nodes, and shares node {node!r} with job {others[0].job!r}"
                break


def _overfull(state: MachineState, uses: Iterable[_NodeUse]) -> Iterator[str]:
    """Yield the first time at which a node holds more than it has, for each node."""
    by_node: dict[str, list[tuple[int, int, _NodeUse]]] = {}
    for use in uses:
        by_node.setdefault(use.node, []).extend([(use.begin, 1, use), (use.end, -1, use)])
    for node, changes in by_node.items():
        free = dict(zip(state.platform.resources, state.platform.capacity[node], strict=True))
        for time, sign, use in sorted(changes, key=lambda change: change[:2]):
            for resource, amount in use.request.items():
                if amount:
                    free[resource] = free.get(resource, 0) - sign * use.units * amount
                    if free[resource] < 0:
                        yield (
                            f"node {node!r} lacks {-free[resource]} {resource} at {time}, when job {use.job!r} starts there"
                        )
                        break
            else:
                continue
            break


def _into_reservations(state: MachineState, uses: Iterable[_NodeUse]) -> Iterator[str]:
    """Yield the first use of reserved amounts by the starts on each node.

    The running jobs of the queue of a reservation use what it holds. What other running jobs use of it is not a fault of
    the answer; nothing may start beside them then.
    """
    reserved: dict[str, list[tuple[int, int, str, str, Mapping[str, int], int]]] = {}
    for r in state.reserved:
        for node, units in r.nodes.items():
            reserved.setdefault(node, []).append((r.start, r.end, r.name, r.queue, r.request, units))
    by_node: dict[str, list[_NodeUse]] = {}
    for use in uses:
        if use.node in reserved:
            by_node.setdefault(use.node, []).append(use)
    for node, here in by_node.items():
        times = {use.begin for use in here if use.starting} | {max(start, state.now) for start, *_ in reserved[node]}
        capacity = dict(zip(state.platform.resources, state.platform.capacity[node], strict=True))
        for time in sorted(times):
            now = [use for use in here if use.begin <= time < use.end]
            held = [r for r in reserved[node] if r[0] <= time < r[1]]
            fault = next((f for r in capacity if (f := _clash(node, r, capacity[r], now, held, time))), None)
            if fault is not None:
                yield fault
                break


def _clash(
    node: str, resource: str, capacity: int, now: Sequence[_NodeUse],
    held: Sequence[tuple[int, int, str, str, Mapping[str, int], int]], time: int,
) -> str | None:  # fmt: skip
    """Return the fault if starting jobs use reserved amounts of a resource of a node at a time."""
    mine = [use for use in now if use.starting and use.request.get(resource, 0)]
    kept = 0
    for queue in {r[3] for r in held}:
        asked = sum(units * request.get(resource, 0) for _, _, _, of, request, units in held if of == queue)
        inside = [use for use in now if queue and use.queue == queue and not use.starting]
        kept += max(0, asked - sum(use.units * use.request.get(resource, 0) for use in inside))
    used = sum(use.units * use.request.get(resource, 0) for use in now)
    if not mine or not kept or used + kept <= capacity:
        return None
    names = ", ".join(sorted({repr(r[2]) for r in held}))
    lack = used + kept - capacity
    return f"job {mine[0].job!r} runs on node {node!r} into reservation {names}: {lack} {resource} lack at {time}"


class MachineAtBegin(Feature):
    """The states of the nodes, and what the reservations hold, of the state of a machine.

    Running jobs stay on their nodes, whatever these are: the machine says that they run. Waiting jobs of private queues are
    not among those of the state.

    Parameters
    ----------
    state : MachineState
        The state.
    """

    watches = True
    follows_nodes = True

    def __init__(self, state: MachineState) -> None:
        self._state = state

    def begin(self, engine: Replay) -> None:
        """Close the nodes that take no starts, and hold what is reserved."""
        names = self._state.states
        known = node_states()
        engine.timeline.states = names
        engine.timeline.close(WHY, np.array([not known[name].starts for name in names], np.bool_), names)
        for k, r in enumerate(reserved_beside(self._state)):
            engine.timeline.hold(k, Hold(r.name, r.queue, Use(r.nodes, r.request, r.start, r.end)))


def reserved_beside(state: MachineState) -> tuple[Reserved, ...]:
    """Return what the reservations of a machine hold from now on beside its running jobs; see ``timeline.holding``."""
    running = ((r.job.queue, Use(r.nodes, r.job.request, r.start, max(r.end, state.now + 1))) for r in state.running)
    return holding(state.platform, state.now, state.reserved, running)


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
    options: dict[str, Any] = {}
    if named.backend is not None:
        options = {"threads": threads}
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
        more = ""
        if len(wrong) > 1:
            more = f" (and {how_many(len(wrong) - 1, 'more fault')})"
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
    limits = []
    if state.platform.licences:
        limits = [RunningLimits([licences_of])]
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


COMPARISON_SCHEMA, COMPARISON_VERSION = "schedlab-decision-comparison", 1
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
    """Return comparisons as an object of the schema ``schedlab-decision-comparison`` (docs/reference/decide.md)."""
    listed = [c.to_json() for c in compared]
    return {
        "schema": COMPARISON_SCHEMA,
        "version": COMPARISON_VERSION,
        "dispatcher": dispatcher,
        "within": within,
        "states": listed,
    }
