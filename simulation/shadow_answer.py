"""The answer of a dispatcher to the state of a machine, and what is wrong with it: a check on the state alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..instances.sites.machine_state import MachineState
from ..models.comparing import hashable
from ..models.counts import how_many
from ..models.dispatch.jobs import DAY, Job
from ..models.excerpt import with_short_repr
from ..models.node_states import node_states
from .dispatcher import PlannedStart, Start

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
        """Return the answer as an object of the schema ``schedlab-decision`` (docs/decide.md)."""
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


class _Use(NamedTuple):
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
        _Use(state.now, max(r.end, state.now + 1), r.job.id, node, units, r.job.request, r.job.queue, False)
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


def _uses(state: MachineState, job: Job, chunks: Sequence[Nodes], time: int, seconds: int) -> Iterator[_Use]:
    """Yield what a start uses on the nodes of the machine."""
    for part, nodes in zip(job.parts, chunks, strict=False):
        for node, units in nodes.items():
            if node in state.platform.capacity:
                yield _Use(time, time + seconds, job.id, node, units, part.request, job.queue, True)


def _of_start(state: MachineState, job: Job, chunks: Sequence[Nodes], time: int) -> Iterator[str]:
    """Yield what is wrong with one start, apart from the capacities."""
    closed = dict(zip(state.platform.nodes, state.states, strict=True))
    if len(chunks) != len(job.parts):
        yield f"job {job.id!r} has {how_many(len(job.parts), 'chunk')}; its start has nodes of {len(chunks)}"
    for k, (part, nodes) in enumerate(zip(job.parts, chunks, strict=False)):
        if sum(nodes.values()) != part.units or any(units < 1 for units in nodes.values()):
            what = f"chunk {k} of job {job.id!r}" if job.chunks else f"job {job.id!r}"
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


def _shared(alone: Set[str], uses: Iterable[_Use]) -> Iterator[str]:
    """Yield the uses of nodes that other jobs, ``alone``, have whole at the time."""
    by_node: dict[str, list[_Use]] = {}
    for use in uses:
        by_node.setdefault(use.node, []).append(use)
    for node, here in by_node.items():
        for use in here:
            others = [o for o in here if o.job != use.job and o.begin < use.end and use.begin < o.end]
            if use.job in alone and others:
                yield f"job {use.job!r} has whole nodes, and shares node {node!r} with job {others[0].job!r}"
                break


def _overfull(state: MachineState, uses: Iterable[_Use]) -> Iterator[str]:
    """Yield the first time at which a node holds more than it has, for each node."""
    by_node: dict[str, list[tuple[int, int, _Use]]] = {}
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


def _into_reservations(state: MachineState, uses: Iterable[_Use]) -> Iterator[str]:
    """Yield the first use of reserved amounts by the starts on each node.

    The running jobs of the queue of a reservation use what it holds. What other running jobs use of it is not a fault of
    the answer; nothing may start beside them then.
    """
    reserved: dict[str, list[tuple[int, int, str, str, Mapping[str, int], int]]] = {}
    for r in state.reserved:
        for node, units in r.nodes.items():
            reserved.setdefault(node, []).append((r.start, r.end, r.name, r.queue, r.request, units))
    by_node: dict[str, list[_Use]] = {}
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
    node: str, resource: str, capacity: int, now: Sequence[_Use],
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
