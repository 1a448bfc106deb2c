"""Random small dispatching problems and their optima by enumeration."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
from schedlab.models import Dispatch, Job, NodeGroup, Platform, Queue, Running

OBJECTIVES = ("weighted-wait", "waiting", "weighted-tardiness", "late-jobs", "slowdown", "queue-priority-wait")


def random_problem(seed: int, objective: str = "weighted-wait", running: bool = False) -> Dispatch:
    """Return 3 to 5 jobs on 2 or 3 nodes of two classes."""
    rng = np.random.default_rng(seed)
    groups = [NodeGroup("a", int(rng.integers(1, 3)), {"cores": 4, "gpus": 2}), NodeGroup("b", 1, {"cores": 4})]
    platform = Platform(groups)
    jobs = []
    for k in range(int(rng.integers(3, 6))):
        gpus = int(rng.choice([0, 0, 1, 2]))
        most = groups[0].count if gpus else len(platform.nodes)
        request = {"cores": int(rng.integers(1, 5)), "gpus": gpus}
        units, queue = int(rng.integers(1, most + 1)), str(rng.choice(["q", "r"]))
        jobs.append(Job(f"j{k}", int(rng.integers(0, 5)), int(rng.integers(1, 7)), units, request, queue))
    busy = [Running(Job("busy", -3, 5, 1, {"cores": 3}, "q"), -2, {platform.nodes[0]: 1}, 3)] if running else []
    return Dispatch(platform, jobs, [Queue("q", 5), Queue("r", 12)], objective, running=busy)


def placings(job: Job, nodes: int) -> list[tuple[int, ...]]:
    """Return all numbers of units per node."""
    return [c for c in itertools.product(range(job.units + 1), repeat=nodes) if sum(c) == job.units]


def optimum(problem: Dispatch) -> float:
    """Return the least objective, by trying all orders of starts and all nodes; each job starts as early as possible."""
    resources, nodes = problem.platform.resources, list(problem.platform.capacity)
    capacity = np.array([problem.platform.capacity[n] for n in nodes])
    busy = []
    for r in problem.running:
        on = np.array([[r.nodes.get(n, 0) * r.job.request.get(x, 0) for x in resources] for n in nodes])
        busy.append((problem.now, r.end, on))
    options = [
        [np.outer(c, [j.request.get(r, 0) for r in resources]) for c in placings(j, len(nodes))] for j in problem.jobs
    ]
    options = [[on for on in each if (on <= capacity).all()] for each in options]
    costs, submit = problem.costs, [j.submit for j in problem.jobs]

    def cost(starts: dict[int, int]) -> float:
        index = np.array(sorted(starts))
        wait = np.array([starts[j] - submit[j] for j in index.tolist()])
        return float(costs.some(index).value(wait, wait)) if index.size else 0.0

    best = np.inf

    def search(starts: dict[int, int], placed: list[tuple[int, int, np.ndarray]], last: int) -> None:
        nonlocal best
        if cost(starts) >= best - 1e-12:
            return
        if len(starts) == len(options):
            best = cost(starts)
            return
        for j in range(len(options)):
            if j in starts:
                continue
            job = problem.jobs[j]
            for on in options[j]:
                for t in sorted({max(last, problem.earliest(job)), *(e for _, e, _ in placed)}):
                    if t < max(last, problem.earliest(job)):
                        continue
                    used = sum((o for s, e, o in placed if s <= t < e), np.zeros_like(on))
                    if (used + on <= capacity).all():
                        search({**starts, j: t}, [*placed, (t, t + problem.duration(job), on)], t)
                        break

    search({}, busy, problem.now)
    return best


def fits(problem: Dispatch, chosen: tuple[int, ...]) -> bool:
    """Return whether jobs fit the empty platform together, by trying all nodes."""
    resources, nodes = problem.platform.resources, list(problem.platform.capacity)
    capacity = np.array([problem.platform.capacity[n] for n in nodes])
    each = [
        [
            np.outer(c, [problem.jobs[j].request.get(r, 0) for r in resources])
            for c in placings(problem.jobs[j], len(nodes))
        ]
        for j in chosen
    ]
    return any((sum(on, np.zeros_like(capacity)) <= capacity).all() for on in itertools.product(*each))


def second_by_second(problem: Dispatch, points: np.ndarray, price: np.ndarray, job: int) -> Fraction:
    """Return the least cost of a weighted-wait job with prices, over all seconds; ``price``: whole, shape (cells,)."""
    j = problem.jobs[job]
    by_second = np.repeat(price, np.diff(points)).tolist() + [0] * 100
    weight = Fraction(1, problem.ewt[j.queue])
    starts = [s for lo, hi in problem.start_windows(j) for s in range(lo, hi + 1)]
    return min(weight * (s - j.submit) + sum(by_second[s : s + j.walltime]) for s in starts)
