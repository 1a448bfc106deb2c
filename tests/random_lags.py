"""Random job shops with sequence-dependent setup times, and projects with minimum and maximum time lags."""

import random
from itertools import combinations, permutations, product

import schedlab as sl


def job_shop(seed: int, jobs: int, machines: int) -> sl.Model:
    """Return a job shop with a setup time on each machine between each two jobs; it violates the triangle inequality.

    The horizon is the sum of all processing times and of the longest setup times.
    """
    rng = random.Random(seed)
    m = sl.Model(f"job shop {seed}")
    on: dict[int, list[sl.Interval]] = {k: [] for k in range(machines)}
    ends = []
    for j in range(jobs):
        before = None
        for k in rng.sample(range(machines), machines):
            operation = m.interval(f"job {j} on {k}", size=rng.randint(1, 9))
            on[k].append(operation)
            if before is not None:
                m.add(sl.end_before_start(before, operation))
            before = operation
        ends.append(before.end)
    for k, operations in on.items():
        times = [[rng.choice([0, 1, 2, 4, 7]) for _ in operations] for _ in operations]
        m.add(sl.no_overlap(operations, transitions=times), f"machine {k}")
    m.minimize(sl.max(ends))
    return m


def best_job_shop(m: sl.Model) -> int:
    """Return the least makespan of a job shop: each order on each machine, and the longest paths in it."""
    rows = [c.constraint for c in m.constraints if c.name.startswith("machine")]
    chains = [c.constraint for c in m.constraints if not c.name.startswith("machine")]
    best = None
    for orders in product(*(permutations(range(len(c.intervals))) for c in rows)):
        lags = [(p.before, p.after, p.before.size_lo) for p in chains]
        for c, order in zip(rows, orders, strict=True):
            for i, j in combinations(order, 2):
                v, w = c.intervals[i], c.intervals[j]
                lags.append((v, w, v.size_lo + c.transitions[i][j]))
        starts = earliest(m.intervals, lags)
        if starts is not None:
            last = max(starts[v.index] + v.size_lo for v in m.intervals)
            best = last if best is None else min(best, last)
    return best


def earliest(intervals: list, lags: list) -> list | None:
    """Return the earliest starts for minimum lags between starts (Bellman-Ford); None if a cycle cannot hold."""
    start = [0] * len(intervals)
    for _ in range(len(intervals) + 1):
        changed = False
        for v, w, lag in lags:
            if start[v.index] + lag > start[w.index]:
                start[w.index], changed = start[v.index] + lag, True
        if not changed:
            return start
    return None


def project(seed: int, tasks: int, horizon: int | None = None) -> sl.Model:
    """Return a project (RCPSP/max): one or two resources, minimum and maximum lags of all kinds between tasks.

    The lags allow the schedule that places the tasks in a random order as early as the resources allow.
    """
    rng = random.Random(seed)
    m = sl.Model(f"project {seed}", horizon)
    made = [m.interval(f"t{k}", size=rng.randint(1, 6)) for k in range(tasks)]
    rows = [([rng.randint(0, 3) for _ in made], rng.randint(3, 4)) for _ in range(rng.randint(1, 2))]
    start = reference(rng, [t.size_lo for t in made], rows)
    kinds = (sl.end_before_start, sl.start_before_start, sl.end_before_end, sl.start_before_end)
    for a, b in combinations(range(tasks), 2):
        if rng.random() < 3 / tasks:
            kind = rng.choice(kinds)
            ends = [
                start[k] + (made[k].size_lo if side == "end" else 0) for k, side in zip((a, b), ENDS[kind], strict=True)
            ]
            least = ends[1] - ends[0] - rng.randint(0, 4)
            most = None if rng.random() < 0.3 else ends[1] - ends[0] + rng.randint(0, 3)
            m.add(kind(made[a], made[b], least, at_most=most), f"t{a} -> t{b}")
    for k, (demands, capacity) in enumerate(rows):
        m.add(sl.cumulative(made, demands, capacity), f"resource {k}")
    m.minimize(sl.max([t.end for t in made]))
    return m


ENDS = {
    sl.end_before_start: ("end", "start"),
    sl.start_before_start: ("start", "start"),
    sl.end_before_end: ("end", "end"),
    sl.start_before_end: ("start", "end"),
}


def reference(rng: random.Random, sizes: list, rows: list) -> list:
    """Return the starts if the tasks are placed in a random order, each as early as the capacities allow."""
    start = [0] * len(sizes)
    used = [[0] * (sum(sizes) + 1) for _ in rows]
    for k in rng.sample(range(len(sizes)), len(sizes)):
        t = 0
        while any(
            used[r][u] + demands[k] > capacity
            for r, (demands, capacity) in enumerate(rows)
            for u in range(t, t + sizes[k])
        ):
            t += 1
        start[k] = t
        for r, (demands, _) in enumerate(rows):
            for u in range(t, t + sizes[k]):
                used[r][u] += demands[k]
    return start
