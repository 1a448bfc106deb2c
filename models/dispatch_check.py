"""Verification and objectives of dispatching schedules, on the data alone: no formulation, heuristic or solver takes part."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator

from .dispatch import DAY, Dispatch, Job
from .language import Violation
from .problem import Schedule


def verify(problem: Dispatch, schedule: Schedule) -> list[Violation]:
    """Everything that the schedule breaks, each with the job, node and time concerned; empty if it is right.

    Checked: every job is there once, starts not before now, its release and its windows, ends by its deadline, has all
    its units on nodes that exist, and no node's capacity is exceeded at any moment (running jobs included).
    """
    jobs = {j.id: j for j in problem.jobs}
    found = [Violation(j, 1, f"job {j!r} is not one of the problem") for j in schedule.start if j not in jobs]
    for job in problem.jobs:
        if job.id not in schedule.start:
            found.append(Violation(job.id, 1, f"job {job.id!r} has no start"))
            continue
        found.extend(_start(problem, job, schedule.start[job.id]))
        found.extend(_placing(problem, job, schedule.nodes.get(job.id, {})))
    found.extend(_capacity(problem, schedule, jobs))
    return found


def _start(problem: Dispatch, job: Job, start: int) -> Iterator[Violation]:
    for limit, what in ((problem.now, "now"), (job.submit, "its submit time"), (job.release, "its earliest start")):
        if start < limit:
            yield Violation(job.id, limit - start, f"job {job.id!r} starts at {start}, before {what}, {limit}")
            break
    if job.windows and not any(lo <= start <= hi for lo, hi in job.windows):
        yield Violation(job.id, 1, f"job {job.id!r} starts at {start}, outside of its windows {list(job.windows)}")
    daily = next(q.daily for q in problem.queues if q.name == job.queue)
    second = start % DAY
    if daily and not any(lo <= second <= hi or lo <= second + DAY <= hi for lo, hi in daily):
        yield Violation(
            job.id,
            1,
            f"job {job.id!r} starts at {start}, {second} s of the day; queue {job.queue!r} allows {list(daily)}",
        )
    end = start + problem.duration(job)
    if job.deadline is not None and end > job.deadline:
        yield Violation(job.id, end - job.deadline, f"job {job.id!r} ends at {end}, after its deadline {job.deadline}")


def _placing(problem: Dispatch, job: Job, nodes: dict[str, int]) -> Iterator[Violation]:
    for node, units in nodes.items():
        if node not in problem.platform.capacity:
            yield Violation(job.id, 1, f"job {job.id!r} has units on {node!r}, which is not a node of the platform")
        if units < 0:
            yield Violation(job.id, -units, f"job {job.id!r} has {units} units on {node!r}")
    placed = sum(nodes.values())
    if placed != job.units:
        yield Violation(job.id, abs(placed - job.units), f"job {job.id!r} has {placed} units on nodes, not {job.units}")


def _capacity(problem: Dispatch, schedule: Schedule, jobs: dict[str, Job]) -> Iterator[Violation]:
    """A sweep over the starts and ends on each node; at one instant ends come before starts."""
    resources = problem.platform.resources
    events: dict[str, list[tuple[int, int, str, Job]]] = defaultdict(list)
    for name, start in schedule.start.items():
        if name in jobs and problem.duration(jobs[name]) > 0:
            for node, units in schedule.nodes.get(name, {}).items():
                events[node].append((start, units, name, jobs[name]))
                events[node].append((start + problem.duration(jobs[name]), -units, name, jobs[name]))
    for r in problem.running:
        for node, units in r.nodes.items():
            if r.end > r.start:
                events[node].append((r.start, units, r.job.id, r.job))
                events[node].append((r.end, -units, r.job.id, r.job))
    for node, list_ in events.items():
        capacity = problem.platform.capacity.get(node)
        if capacity is None:
            continue
        used = dict.fromkeys(resources, 0)
        told: set[str] = set()
        for time, units, name, job in sorted(list_, key=lambda e: (e[0], e[1] > 0)):
            for resource, limit in zip(resources, capacity, strict=True):
                used[resource] += units * job.request.get(resource, 0)
                excess = used[resource] - limit
                if excess > 0 and units > 0 and resource not in told and job.request.get(resource, 0) > 0:
                    told.add(resource)
                    text = f"node {node!r} at {time}: {used[resource]} {resource} in use, it has {limit} (job {name!r} starts)"
                    yield Violation(node, excess, text)


def objective(problem: Dispatch, schedule: Schedule) -> float:
    """The objective's value; an int where it is a whole number by nature. Raises KeyError for a job without a start."""
    starts = [(j, schedule.start[j.id]) for j in problem.jobs]
    if problem.aim == "makespan":
        ends = [s + problem.duration(j) for j, s in starts] + [r.end for r in problem.running]
        return max(ends, default=problem.now)
    if problem.aim == "waiting":
        return sum(s - j.submit for j, s in starts)
    if problem.aim == "late-jobs":
        return sum(s - j.submit > problem.ewt[j.queue] for j, s in starts)
    return math.fsum(_terms(problem, starts))


def _terms(problem: Dispatch, starts: list[tuple[Job, int]]) -> Iterable[float]:
    greatest = max(problem.ewt.values(), default=1)
    for job, s in starts:
        wait, ewt = s - job.submit, problem.ewt[job.queue]
        if problem.aim == "weighted-wait":
            yield wait / ewt
        elif problem.aim == "weighted-tardiness":
            yield max(0, wait - ewt) / ewt
        elif problem.aim == "queue-priority-wait":
            yield greatest * wait / ewt
        else:
            d = max(1, problem.duration(job))
            yield (wait + d) / d
