"""Verification of dispatching schedules from the data alone, without formulation or solver."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..language import Violation
from ..problem import Schedule
from .capacity_sweep import Whole, excesses
from .costs.limits import broken_limits
from .desired.check import excess_on_nodes
from .jobs import DAY, Job

if TYPE_CHECKING:
    from .problem import Dispatch


def verify(problem: Dispatch, schedule: Schedule) -> list[Violation]:
    """Return all violations, each with the job, node and time concerned; an empty list for a feasible schedule.

    Starts and units must be whole numbers; if not, nothing else is checked. Every job has a start that is
    not before now or its release and is inside of its windows; it ends by its deadline; all its units are on nodes that
    exist. The units of a job fit their node, also if it takes 0 s. Jobs and running jobs together never exceed the capacity of a node, nor a hard desired profile (``desired``). The limits
    on objectives are kept.
    """
    fractions = [Violation(j, 1, text) for j, text in schedule.not_whole()]
    if fractions:
        return fractions
    jobs = {j.id: j for j in problem.jobs}
    found = [Violation(j, 1, f"job {j!r} is not one of the problem") for j in schedule.start if j not in jobs]
    for job in problem.jobs:
        if job.id not in schedule.start:
            found.append(Violation(job.id, 1, f"job {job.id!r} has no start"))
            continue
        found.extend(_start(problem, job, schedule.start[job.id]))
        for name, (units, request) in _groups(job):
            found.extend(_check_nodes(problem, name, units, schedule.nodes.get(name, {})))
            if problem.duration(job) == 0:
                found.extend(_check_fit(problem, name, request, schedule.nodes.get(name, {})))
    found.extend(_capacity(problem, schedule, jobs))
    found.extend(excess_on_nodes(problem, schedule))
    if all(job.id in schedule.start for job in problem.jobs):
        found.extend(broken_limits(problem, schedule))
    return found


def _start(problem: Dispatch, job: Job, start: int) -> Iterator[Violation]:
    for limit, what in ((problem.now, "now"), (job.submit, "its submit time"), (job.release, "its earliest start")):
        if start < limit:
            yield Violation(job.id, limit - start, f"job {job.id!r} starts at {start}, before {what}, {limit}")
            break
    if job.windows and not any(lo <= start <= hi for lo, hi in job.windows):
        yield Violation(job.id, 1, f"job {job.id!r} starts at {start}, outside of its windows {list(job.windows)}")
    queue = next(q for q in problem.queues if q.name == job.queue)
    daily, second = queue.daily, start % DAY
    rest = job.walltime if queue.whole_run else 0
    if daily and not any(lo <= s and s + rest <= hi for s in (second, second + DAY) for lo, hi in daily):
        yield Violation(
            job.id,
            1,
            f"job {job.id!r} starts at {start}, {second} s of the day; queue {job.queue!r} allows {list(daily)}"
            + (f" for whole runs, its walltime is {job.walltime} s" if rest else ""),
        )
    end = start + problem.duration(job)
    if job.deadline is not None and end > job.deadline:
        yield Violation(job.id, end - job.deadline, f"job {job.id!r} ends at {end}, after its deadline {job.deadline}")


def _groups(job: Job) -> list[tuple[str, tuple[int, Mapping[str, int]]]]:
    """Return the name, the units and the request of each group of equal units of a job."""
    if not job.chunks:
        return [(job.id, (job.units, job.request))]
    return [(f"{job.id}+{k}" if k else job.id, chunk) for k, chunk in enumerate(job.chunks)]


def _check_nodes(problem: Dispatch, name: str, expected: int, nodes: dict[str, int]) -> Iterator[Violation]:
    for node, units in nodes.items():
        if node not in problem.platform.capacity:
            yield Violation(name, 1, f"job {name!r} has units on {node!r}, which is not a node of the platform")
        if units < 0:
            yield Violation(name, -units, f"job {name!r} has {units} units on {node!r}")
    count = sum(nodes.values())
    if count != expected:
        yield Violation(name, abs(count - expected), f"job {name!r} has {count} units on nodes, not {expected}")


def _check_fit(problem: Dispatch, name: str, request: Mapping[str, int], nodes: dict[str, int]) -> Iterator[Violation]:
    """Yield a violation for each node that cannot hold the units of a job of 0 s, which occupy it at no time."""
    for node, units in nodes.items():
        for resource, has in zip(problem.platform.resources, problem.platform.capacity.get(node, ()), strict=False):
            amount = units * request.get(resource, 0)
            if amount > has:
                text = f"job {name!r} asks for {amount} {resource} of node {node!r}, which has {has}"
                yield Violation(name, amount - has, text)


def _capacity(problem: Dispatch, schedule: Schedule, jobs: dict[str, Job]) -> Iterator[Violation]:
    """Yield a violation for each node and resource whose capacity is exceeded."""
    platform = problem.platform
    index = {node: k for k, node in enumerate(platform.nodes)}
    occupying: list[tuple[str, Mapping[str, int], int, int, dict[str, int]]] = []
    for name, start in schedule.start.items():
        if name in jobs:
            end = start + problem.duration(jobs[name])
            for part, (_, request) in _groups(jobs[name]):
                occupying.append((part, request, start, end, schedule.nodes.get(part, {})))
    occupying.extend((r.job.id, r.job.request, r.start, r.end, dict(r.nodes)) for r in problem.running)
    on_nodes = [[(index[node], units) for node, units in nodes.items() if node in index] for *_, nodes in occupying]
    node = _whole([node for pairs in on_nodes for node, _ in pairs])
    found = excesses(
        _whole([start for *_, start, _, _ in occupying]),
        _whole([end for *_, end, _ in occupying]),
        np.cumsum([0, *(len(pairs) for pairs in on_nodes)]),
        node,
        node,
        _whole([units for pairs in on_nodes for _, units in pairs]),
        _whole(
            [request.get(r, 0) for _, request, *_ in occupying for r in platform.resources], len(platform.resources)
        ),
        _whole([amount for n in platform.nodes for amount in platform.capacity[n]], len(platform.resources)),
    )
    for at, r, time, used, job in zip(*found, strict=True):
        name, resource = platform.nodes[at], platform.resources[r]
        limit, starter, used = platform.capacity[name][r], occupying[job][0], int(used)
        text = f"node {name!r} at {time}: {used} {resource} in use, it has {limit} (job {starter!r} starts)"
        yield Violation(name, used - limit, text)


def _whole(values: list[int], columns: int | None = None) -> Whole:
    """Return an array of 64-bit integers with this number of columns, or of Python's integers if one is greater."""
    try:
        made: Whole = np.array(values, np.int64)
    except OverflowError:
        made = np.array(values, object)
    return made if columns is None else made.reshape(-1, columns)
