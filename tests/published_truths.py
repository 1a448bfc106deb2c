"""Optima of published scheduling problems by enumeration or dynamic programming, from data alone, without the package."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations, pairwise, permutations, product

Order = Sequence[int]


def longest_path(sizes: dict[str, int], before: Iterable[tuple[str, str]]) -> int:
    """Return the length of the longest chain of tasks."""
    ends: dict[str, int] = {}
    while len(ends) < len(sizes):
        for task in sizes.keys() - ends.keys():
            previous = [a for a, b in before if b == task]
            if ends.keys() >= set(previous):
                ends[task] = sizes[task] + max([ends[p] for p in previous], default=0)
    return max(ends.values())


def flow_shop(times: Sequence[Sequence[int]], blocking: bool = False) -> int:
    """Return the least makespan of a permutation flow shop, over all orders of the jobs.

    ``left[k]`` is when the machine k is left by the job before; without room between machines, a job leaves a machine
    when the next one is free.
    """
    machines = range(len(times[0]))

    def makespan(order: Order) -> int:
        left = [0] * len(machines)
        for job in order:
            here = left[0]
            for k in machines:
                here = max(here, left[k]) + times[job][k]
                if blocking and k + 1 < len(machines):
                    here = max(here, left[k + 1])
                left[k] = here
        return left[-1]

    return min(makespan(order) for order in permutations(range(len(times))))


def hybrid_flow_shop(times: Sequence[tuple[int, int]], machines: tuple[int, int]) -> int:
    """Return the least makespan of two stages of equal machines: each stage takes the jobs in some order, as early as it can."""

    def ends(stage: int, order: Order, ready: Sequence[int]) -> list[int]:
        free, out = [0] * machines[stage], [0] * len(times)
        for job in order:
            machine = min(range(len(free)), key=free.__getitem__)
            free[machine] = out[job] = max(free[machine], ready[job]) + times[job][stage]
        return out

    orders = list(permutations(range(len(times))))
    firsts = {tuple(ends(0, order, [0] * len(times))) for order in orders}
    return min(max(ends(1, order, first)) for first in firsts for order in orders)


def one_machine(count: int, step: Callable[[int, int, int], tuple[int, int] | None]) -> int:
    """Return the least total cost of the orders of jobs on a machine.

    ``step(last, job, time)`` is the end and the cost of a job that follows another one (-1: none) that ends at a time,
    None if it is forbidden. All ends that are not dominated are kept for each set of jobs and its last one.
    """
    states: dict[tuple[frozenset[int], int], set[tuple[int, int]]] = {(frozenset(), -1): {(0, 0)}}
    for _ in range(count):
        following: dict[tuple[frozenset[int], int], set[tuple[int, int]]] = {}
        for (done, last), labels in states.items():
            for (time, cost), job in product(labels, set(range(count)) - done):
                found = step(last, job, time)
                if found is not None:
                    following.setdefault((done | {job}, job), set()).add((found[0], cost + found[1]))
        states = following
    return min(cost for labels in states.values() for _, cost in labels)


def batches(jobs: Sequence[tuple[int, int, int]], capacity: int) -> int:
    """Return the least makespan of one batch machine: jobs (release, duration, size), all orders cut into batches everywhere."""
    least = None
    for order in permutations(range(len(jobs))):
        for cuts in (c for n in range(len(jobs)) for c in combinations(range(1, len(jobs)), n)):
            edges = [0, *cuts, len(jobs)]
            parts = [[jobs[k] for k in order[a:b]] for a, b in pairwise(edges)]
            if all(sum(size for *_, size in part) <= capacity for part in parts):
                time = 0
                for part in parts:
                    time = max(time, *(release for release, *_ in part)) + max(d for _, d, _ in part)
                least = time if least is None else min(least, time)
    assert least is not None
    return least


def preemptive_lateness(jobs: Sequence[tuple[int, int, int]]) -> int:
    """Return the least maximum lateness of jobs (release, duration, due) with preemption: at each time the earliest due date."""
    left, ends, time = [duration for _, duration, _ in jobs], [0] * len(jobs), 0
    while any(left):
        ready = [k for k, (release, *_) in enumerate(jobs) if left[k] and release <= time]
        time += 1
        if ready:
            job = min(ready, key=lambda k: jobs[k][2])
            left[job] -= 1
            ends[job] = time
    return max(end - due for end, (*_, due) in zip(ends, jobs, strict=True))


Choice = tuple[int, dict[str, int]]  # duration, demand of each resource


def project(tasks: Sequence[Sequence[Choice]], before: Sequence[tuple[int, int]], capacity: dict[str, int]) -> int:
    """Return the least makespan of a project: for all modes and all lists of tasks, each as early as it fits (serial scheme).

    Resources whose names begin with "total" are limited in sum.
    """
    totals = [r for r in capacity if r.startswith("total")]
    lists = [p for p in permutations(range(len(tasks))) if all(p.index(a) < p.index(b) for a, b in before)]
    best = sum(max(d for d, _ in modes) for modes in tasks)
    for modes in product(*tasks):
        if all(sum(use.get(r, 0) for _, use in modes) <= capacity[r] for r in totals):
            renewable = {r: c for r, c in capacity.items() if r not in totals}
            best = min(best, *(_serial(order, modes, before, renewable) for order in lists))
    return best


def _serial(order: Order, modes: Sequence[Choice], before: Sequence[tuple[int, int]], capacity: dict[str, int]) -> int:
    used: dict[tuple[str, int], int] = {}
    ends: dict[int, int] = {}
    for task in order:
        duration, use = modes[task]
        start = max([ends[a] for a, b in before if b == task], default=0)
        while any(
            used.get((r, t), 0) + use.get(r, 0) > c for r, c in capacity.items() for t in range(start, start + duration)
        ):
            start += 1
        ends[task] = start + duration
        for r, t in product(use, range(start, start + duration)):
            used[r, t] = used.get((r, t), 0) + use[r]
    return max(ends.values())


def all_starts(sizes: Sequence[int], horizon: int, allowed: Callable[[tuple[int, ...]], bool]) -> int:
    """Return the least makespan among all starts in [0, horizon] that are allowed."""
    ends = [
        max(s + p for s, p in zip(starts, sizes, strict=True))
        for starts in product(range(horizon + 1), repeat=len(sizes))
        if allowed(starts)
    ]
    return min(ends)
