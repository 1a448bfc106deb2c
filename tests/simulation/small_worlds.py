"""Small random worlds: a machine, jobs, outages, dependencies, calendars, and jobs that run at the begin."""

import random
from dataclasses import dataclass, field, replace

from schedlab.instances import Workload
from schedlab.models import Dispatch, Job, NodeEvent, NodeGroup, Platform, Queue, Running


@dataclass
class SmallJob:
    """A job: seconds; ``request`` per unit; ``windows``: first and last second of its starts; ``daily``: of its queue."""

    id: str
    submit: int
    runtime: int
    walltime: int
    units: int
    request: dict
    queue: str = "any"
    windows: tuple = ()
    further: tuple = ()  # (units, request) of each further chunk


@dataclass
class SmallRunning:
    """A job that runs at the begin: its start, its nodes (none: the allocator chooses), the end that is expected."""

    job: SmallJob
    start: int
    nodes: dict
    end: int


@dataclass
class World:
    """A machine, its jobs and what happens to it.

    ``outages``: (second, kind, node), in order of time. ``after``: id of a job -> (id of the job that it waits for,
    seconds from the end of that job to its own submission). ``running``: at ``begin``, before which no job starts.
    """

    capacity: dict  # node -> {resource: amount}
    jobs: list
    daily: dict = field(default_factory=lambda: {"any": ()})  # queue -> windows of the day
    outages: list = field(default_factory=list)
    requeue: str = "restart"
    kill: bool = False
    after: dict = field(default_factory=dict)
    begin: int | None = None
    running: list = field(default_factory=list)

    def platform(self):
        """The machine as the simulator takes it."""
        return Platform([NodeGroup(name.removesuffix("-1"), 1, amounts) for name, amounts in self.capacity.items()])

    def workload(self):
        """The jobs as the simulator takes them."""
        queues = [Queue(name, 60, tuple(w)) for name, w in self.daily.items()]
        found = Workload.of(Dispatch(self.platform(), [_job(j) for j in self.jobs], queues))
        row = {name: k for k, name in enumerate(found.ids)}
        found = replace(found, after={row[j]: (row[before], think) for j, (before, think) in self.after.items()})
        if self.begin is None:
            return found
        return found.beginning(self.begin, [Running(_job(r.job), r.start, r.nodes, r.end) for r in self.running])

    def all_jobs(self):
        """The jobs by id, also those that run at the begin."""
        return {j.id: j for j in [*self.jobs, *(r.job for r in self.running)]}

    def began_before(self, record):
        """Whether this is the run of a job from before the begin."""
        return record.number == 1 and any(r.job.id == record.job for r in self.running)

    def events(self):
        """The outages as the simulator takes them."""
        return [NodeEvent(time, kind, [node]) for time, kind, node in self.outages]


def _job(j):
    return Job.of_chunks(
        j.id,
        j.submit,
        j.walltime,
        [(j.units, j.request), *j.further],
        j.queue,
        windows=j.windows,
        runtime=j.runtime,
        user=f"u{j.units}",
    )


def random_world(seed, *, calendars=True, outages=True, busy=True, dependencies=True, chunks=False):
    """A small world that is the same for the same seed."""
    rng = random.Random(seed)
    nodes = [f"{letter}-1" for letter in "abcd"[: rng.randint(1, 4)]]
    capacity = {name: {"cores": rng.randint(1, 4), "gpus": rng.choice([0, 0, 2])} for name in nodes}
    capacity[nodes[0]]["gpus"] = 2
    daily = {"any": (), "day": ((10, 40), (60, 90))}
    jobs = []
    for k in range(rng.randint(1, 10)):
        gpus = rng.choice([0, 0, 0, 1])
        cores = rng.randint(0, 2)
        most = sum(fits(amounts, {"cores": cores, "gpus": gpus}) for amounts in capacity.values())
        if most < 1:
            continue
        job = SmallJob(
            f"j{k}",
            rng.randint(0, 40),
            rng.choice([0, *range(1, 30)]),
            rng.randint(1, 30),
            rng.randint(1, min(most, 5)),
            {"cores": cores, "gpus": gpus},
        )
        if calendars and rng.random() < 0.3:
            job.queue = "day"
        if calendars and rng.random() < 0.2:
            job.windows = tuple(
                (lo, lo + rng.randint(0, 30)) for lo in rng.sample(range(10, 200, 45), rng.randint(1, 3))
            )
        jobs.append(job)
    if not jobs:
        jobs.append(SmallJob("j", 0, 3, 5, 1, {"cores": 0, "gpus": 0}))
    if chunks:
        _add_chunks(jobs, capacity, random.Random(f"chunks of {seed}"))
    world = World(capacity, jobs, daily, kill=rng.random() < 0.3)
    world.requeue = rng.choice(["restart", "drop", "drop", "checkpoint:1", "checkpoint:4"])
    if busy and rng.random() < 0.6:
        world.begin = rng.choice([0, rng.randint(1, 30)])
        world.running = _random_running(rng, world)
    if dependencies and rng.random() < 0.5:
        followers = rng.sample(jobs[1:], rng.randint(0, len(jobs) - 1))
        earlier = {j.id: jobs[: jobs.index(j)] for j in followers}
        world.after = {j.id: (rng.choice(earlier[j.id]).id, rng.choice([0, 0, 1, 7])) for j in followers}
    if outages:
        kinds = ["node-down", "node-up", "node-drain", "node-reserve", "node-release"]
        times = sorted(rng.randint(-5, 120) for _ in range(rng.randint(0, 8)))
        world.outages = [(time, rng.choice(kinds), rng.choice(nodes)) for time in times]
        for node in nodes:  # short outages while jobs run
            if rng.random() < 0.6:
                time = rng.randint(5, 60)
                world.outages += [(time, "node-down", node), (time + rng.randint(1, 15), "node-up", node)]
        if world.running and rng.random() < 0.6:
            world.outages.append((world.begin + rng.randint(0, 20), "node-down", rng.choice(nodes)))
        world.outages.sort(key=lambda outage: outage[0])
        if rng.random() < 0.7:  # in the end all is well
            world.outages += [(130, kind, node) for node in nodes for kind in ("node-up", "node-release")]
    return world


def _random_running(rng, world):
    """Up to four jobs that run at the begin; some start before second 0, some have no nodes or no runtime."""
    found = []
    free = {name: dict(amounts) for name, amounts in world.capacity.items()}
    for k in range(rng.randint(0, 4)):
        cores, start = rng.randint(0, 2), world.begin - rng.randint(0, 25)
        request = {"cores": cores, "gpus": 0}
        nodes = {}
        for name in rng.sample(list(free), len(free))[: rng.randint(1, 2)]:
            units = rng.randint(0, min(2, fits(free[name], request)))
            if units:
                nodes[name] = units
                free[name]["cores"] -= units * cores
        if not nodes:
            continue
        runtime = world.begin - start + rng.randint(1, 30)
        job = SmallJob(f"r{k}", start - rng.randint(0, 5), runtime, rng.randint(1, 40), sum(nodes.values()), request)
        if rng.random() < 0.2:
            job.queue = "day"
        if rng.random() < 0.2:
            job.windows = ((start, start + rng.randint(0, 80)),)
        if rng.random() < 0.15:
            job.runtime = None  # it ends as expected
        without = rng.random() < 0.2
        found.append(SmallRunning(job, start, {} if without else nodes, world.begin + rng.randint(1, 40)))
    return found


def _add_chunks(jobs, capacity, rng):
    """Give some jobs further chunks, for which the empty machine has room beside the others."""
    for job in jobs:
        left = {node: dict(amounts) for node, amounts in capacity.items()}
        placed = put(left, job.units, job.request)
        for _ in range(rng.choice([0, 1, 1, 2])):
            chunk = rng.randint(1, 2), {"cores": rng.randint(0, 2), "gpus": rng.choice([0, 0, 1])}
            placed = placed and put(left, *chunk)
            if placed:
                job.further += (chunk,)


def put(left, units, request):
    """Whether the units fit into what is left; first fit, which takes the amounts."""
    for amounts in left.values():
        while units and all(amounts[r] >= q for r, q in request.items()):
            for r, q in request.items():
                amounts[r] -= q
            units -= 1
    return units == 0


def fits(amounts, request):
    """The number of units of a request that fit on a node with these free amounts, at most 5."""
    return min((amounts[r] // q for r, q in request.items() if q), default=5)
