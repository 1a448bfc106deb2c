"""What is wrong with an answer: a check on the state alone, which shares no code with the dispatchers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...instances.states.machine_state import MachineState
from ...models.dispatch.jobs import DAY, Job
from ...models.node_states import node_states
from .answer import Answer

Use = tuple[int, int, str, str, int, Mapping[str, int]]  # begin, end, job, node, units, amounts per unit


def faults(state: MachineState, answer: Answer) -> list[str]:
    """Return a sentence for each start that is not possible; an empty list if the answer is valid.

    Each job starts once, with all of its units, when its queue is open, on nodes that take starts, and no node ever
    holds more than it has: running jobs last to their expected ends, at least one second, the others their expected
    durations. ``Answer.expected`` is taken as given.
    """
    jobs = {job.id: job for job in state.waiting}
    starts = [(s.job, s.nodes, answer.now) for s in answer.starts] + [(p.job, p.nodes, p.time) for p in answer.planned]
    found, seen = list[str](), set[str]()
    uses: list[Use] = [
        (state.now, max(r.end, state.now + 1), r.job.id, node, units, r.job.request)
        for r in state.running
        for node, units in r.nodes.items()
    ]
    for name, _, time in [(p.job, p.nodes, p.time) for p in answer.planned]:
        if time <= state.now:
            found.append(f"job {name!r} is planned at {time}; expected a time after now, {state.now}")
    for name, nodes, time in starts:
        if name not in jobs:
            found.append(f"there is no job {name!r} that may start")
            continue
        if name in seen:
            found.append(f"job {name!r} starts twice")
        seen.add(name)
        found.extend(_of_start(state, jobs[name], nodes, time))
        known = {node: units for node, units in nodes.items() if node in state.platform.capacity}
        end = time + answer.expected[name]
        uses.extend((time, end, name, node, units, jobs[name].request) for node, units in known.items())
    return [*found, *_overfull(state, uses)]


def _of_start(state: MachineState, job: Job, nodes: Mapping[str, int], time: int) -> Iterator[str]:
    """Yield what is wrong with one start, apart from the capacities."""
    closed = dict(zip(state.platform.nodes, state.states, strict=True))
    if sum(nodes.values()) != job.units or any(units < 1 for units in nodes.values()):
        yield f"job {job.id!r} has {job.units} units; the units of its start are {dict(nodes)}"
    for node in nodes:
        if node not in closed:
            yield f"job {job.id!r} starts on node {node!r}, which the machine does not have"
        elif not node_states()[closed[node]].starts:
            yield f"job {job.id!r} starts on node {node!r}, which is {closed[node]}"
    daily = next(queue.daily for queue in state.queues if queue.name == job.queue)
    if daily and not any((time - lo) % DAY <= hi - lo for lo, hi in daily):
        yield f"job {job.id!r} starts at {time}, when queue {job.queue!r} is closed"
    if time < job.release:
        yield f"job {job.id!r} starts at {time}, before {job.release}"


def _overfull(state: MachineState, uses: list[Use]) -> Iterator[str]:
    """Yield the first time at which a node holds more than it has, for each node."""
    by_node: dict[str, list[tuple[int, int, str, int, Mapping[str, int]]]] = {}
    for begin, end, job, node, units, request in uses:
        by_node.setdefault(node, []).extend([(begin, 1, job, units, request), (end, -1, job, units, request)])
    for node, changes in by_node.items():
        free = dict(zip(state.platform.resources, state.platform.capacity[node], strict=True))
        for time, sign, job, units, request in sorted(changes, key=lambda change: change[:2]):
            for resource, amount in request.items():
                if amount:
                    free[resource] = free.get(resource, 0) - sign * units * amount
                    if free[resource] < 0:
                        yield f"node {node!r} lacks {-free[resource]} {resource} at {time}, when job {job!r} starts there"
                        break
            else:
                continue
            break
