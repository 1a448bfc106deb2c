"""Tiny random sites (partitions, features, whole and distinct nodes, licences), their optima by enumeration, and a check of their own."""

import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from schedlab.models import Dispatch, Job, NodeGroup, Platform, ProblemError, Queue, Running, Schedule

FEATURES = ("ib", "ssd", "old")
EXPRESSIONS = ("", "", "", "ib", "ib&ssd", "ib|old", "(ib|old)&ssd")
OBJECTIVES = ("waiting", "weighted-wait", "makespan", "late-jobs")
Nodes = dict[str, int]


def has(expression: str, features: tuple[str, ...]) -> bool:
    """Whether a node with these features satisfies an expression, by Python's own operators."""
    if not expression:
        return True
    text = expression.replace("&", " and ").replace("|", " or ")
    return bool(eval(text, {name: name in features for name in FEATURES}))


def random_site(seed: int, most_jobs: int = 4, fields: tuple[str, ...] = ()) -> Dispatch:
    """A problem that can be solved by enumeration; ``fields``: those that some job has in any case."""
    rng = random.Random(seed)
    while True:
        try:
            problem = _drawn(rng, most_jobs)
        except ProblemError:
            continue
        if all(any(getattr(j, name) for j in problem.jobs) for name in fields):
            return problem


def _drawn(rng: random.Random, most_jobs: int) -> Dispatch:
    groups, left = [], rng.randint(2, 4)
    while left:
        count = rng.randint(1, left)
        capacity = {"cores": rng.choice([2, 4, 4]), "gpus": rng.choice([0, 0, 1])}
        groups.append(
            NodeGroup(f"g{len(groups)}", count, capacity, features=tuple(f for f in FEATURES if rng.random() < 0.5))
        )
        left -= count
    machine = Platform(groups, {"tool": rng.randint(1, 2)} if rng.random() < 0.6 else {})
    some = [tuple(n for n in machine.nodes if rng.random() < 0.6) for _ in range(3)]
    queues = [Queue(f"q{k}", rng.choice([2, 3, 5]), nodes=rng.choice([(), some[k]])) for k in range(rng.randint(1, 3))]
    jobs = [_job(rng, f"j{k}", machine, queues) for k in range(rng.randint(2, most_jobs))]
    running = []
    for k in range(rng.choice([0, 0, 1, 2])):
        job = _job(rng, f"r{k}", machine, queues)
        node = rng.choice(machine.nodes)
        running.append(Running(job, -1, {node: 1}, rng.randint(0, 3)))
    problem = Dispatch(machine, jobs, queues, rng.choice(OBJECTIVES), rng.choice([0, 1]), running)
    if violations(problem, Schedule({}, {})):
        raise ProblemError("the running jobs exceed a node")
    return problem


def _job(rng: random.Random, name: str, machine: Platform, queues: list[Queue]) -> Job:
    licences = {"tool": 1} if machine.licences and rng.random() < 0.5 else {}
    return Job(
        name,
        submit=rng.randint(-2, 2),
        walltime=rng.randint(1, 3),
        units=rng.choice([1, 1, 2, 2, 3]),
        request={"cores": rng.choice([0, 1, 1, 2, 2, 3]), "gpus": rng.choice([0, 0, 0, 1])},
        queue=rng.choice(queues).name,
        earliest_start=rng.choice([None, None, None, 2]),
        nodes=tuple(n for n in machine.nodes if rng.random() < 0.7) if rng.random() < 0.2 else (),
        features=rng.choice(EXPRESSIONS),
        per_node=rng.choice([None, None, 1, 2]),
        whole_nodes=rng.random() < 0.3,
        licences=licences,
    )


# --- A check that shares no code with the package: second by second.


def runs(problem: Dispatch, schedule: Schedule) -> list[tuple[Job, int, int, Nodes]]:
    own = [
        (j, schedule.start[j.id], schedule.start[j.id] + j.walltime, schedule.nodes[j.id])
        for j in problem.jobs
        if j.id in schedule.start
    ]
    return own + [(r.job, problem.now, r.end, dict(r.nodes)) for r in problem.running]


def violations(problem: Dispatch, schedule: Schedule) -> list[str]:
    """What is wrong with a schedule of some of the jobs."""
    told = []
    group_of = {n: g for g in problem.platform.groups for n in g.nodes}
    queues = {q.name: q for q in problem.queues}
    for j in problem.jobs:
        if j.id not in schedule.start:
            continue
        on = {n: u for n, u in schedule.nodes[j.id].items() if u}
        if schedule.start[j.id] < max(problem.now, j.submit, j.earliest_start or j.submit):
            told.append(f"{j.id} too early")
        if sum(on.values()) != j.units or any(u < 0 for u in on.values()):
            told.append(f"{j.id}: {on}")
        told += [f"{j.id} not on {n}" for n in on if not may_use(problem, queues, j, n, group_of[n])]
        told += [f"{j.id}: {u} on {n}" for n, u in on.items() if j.per_node is not None and u > j.per_node]
    every = runs(problem, schedule)
    for t in range(problem.now, max((end for _, _, end, _ in every), default=0)):
        here = [(j, on) for j, start, end, on in every if start <= t < end]
        for n, group in group_of.items():
            on_node = [(j, on[n]) for j, on in here if on.get(n, 0) > 0]
            for r in problem.platform.resources:
                if sum(j.request.get(r, 0) * u for j, u in on_node) > group.capacity.get(r, 0):
                    told.append(f"{r} of {n} at {t}")
            if len(on_node) > 1 and any(j.whole_nodes for j, _ in on_node):
                told.append(f"{n} is shared at {t}")
        for name, total in problem.platform.licences.items():
            if sum(j.licences.get(name, 0) for j, _ in here) > total:
                told.append(f"{name} at {t}")
    return told


def may_use(problem: Dispatch, queues: dict[str, Queue], job: Job, node: str, group: NodeGroup) -> bool:
    of_queue = queues[job.queue].nodes
    return (
        (not of_queue or node in of_queue)
        and (not job.nodes or node in job.nodes)
        and has(job.features, group.features)
    )


# --- The least objective, by enumeration of all starts and all numbers of units on nodes.


def cost(problem: Dispatch, job: Job, start: int) -> Fraction:
    ewt = {q.name: q.ewt for q in problem.queues}[job.queue]
    wait = start - job.submit
    if problem.objective == "waiting":
        return Fraction(wait)
    if problem.objective == "weighted-wait":
        return Fraction(wait, ewt)
    if problem.objective == "late-jobs":
        return Fraction(int(wait > ewt))
    return Fraction(start + job.walltime)


def optimum(problem: Dispatch) -> Fraction:
    """The least objective of all schedules that ``violations`` accepts."""
    together = max if problem.objective == "makespan" else lambda a, b: a + b
    nodes = problem.platform.nodes
    begin = max(
        [
            problem.now,
            *(r.end for r in problem.running),
            *(max(j.submit, j.earliest_start or j.submit) for j in problem.jobs),
        ]
    )
    last = begin + sum(j.walltime for j in problem.jobs)
    group_of = {n: g for g in problem.platform.groups for n in g.nodes}
    queues = {q.name: q for q in problem.queues}
    jobs = sorted(problem.jobs, key=lambda j: -j.units * j.walltime)
    placements = []
    for j in jobs:
        most = [j.units if may_use(problem, queues, j, n, group_of[n]) else 0 for n in nodes]
        every = product(*(range(m + 1) for m in most))
        on = [{n: u for n, u in zip(nodes, us, strict=True) if u} for us in every if sum(us) == j.units]
        placements.append(
            [one for one in on if not violations(_alone(problem, j, last), Schedule({j.id: last}, {j.id: one}))]
        )
    starts = [range(max(problem.now, j.submit, j.earliest_start or j.submit), last + 1) for j in jobs]
    least = [cost(problem, j, s[0]) for j, s in zip(jobs, starts, strict=True)]
    best: list[Fraction | None] = [None]

    def rest(k: int) -> Iterator[Fraction]:
        yield from least[k:]

    def go(k: int, spent: Fraction | None, start: dict[str, int], on: dict[str, Nodes]) -> None:
        total = spent
        for more in rest(k):
            total = more if total is None else together(total, more)
        if best[0] is not None and total is not None and total >= best[0]:
            return
        if k == len(jobs):
            best[0] = spent
            return
        job = jobs[k]
        for s in starts[k]:
            one = cost(problem, job, s)
            so_far = one if spent is None else together(spent, one)
            bound = so_far
            for more in rest(k + 1):
                bound = together(bound, more)
            if best[0] is not None and bound >= best[0]:
                if problem.objective != "late-jobs":
                    break
                continue
            for place in placements[k]:
                trial = Schedule({**start, job.id: s}, {**on, job.id: place})
                if not violations(problem, trial):
                    go(k + 1, so_far, trial.start, trial.nodes)

    go(0, None, {}, {})
    assert best[0] is not None
    others = [Fraction(r.end) for r in problem.running] if problem.objective == "makespan" else []
    return max([best[0], *others, *([Fraction(problem.now)] if others else [])])


def _alone(problem: Dispatch, job: Job, last: int) -> Dispatch:
    return problem.replace(jobs=[job], running=())
