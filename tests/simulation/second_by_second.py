"""An independent check of replays of small worlds: plain lists, one second after the other, no code of the engine.

``random_world`` makes a world, ``World.problem`` and ``World.events`` give it to the simulator, ``records`` reads the
answer, and ``faults`` checks it. A new part of a world is a field with a default, drawn by an option of ``random_world``,
and a rule in ``RULES``: a function of the world and the records that yields faults as texts.
"""

import random
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import pairwise

from schedlab.models import Dispatch, Job, NodeEvent, NodeGroup, Platform, Queue
from schedlab.simulation.engine.moment import Decision, Start

DAY = 86_400


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
class World:
    """A machine, its jobs and what happens to it; ``outages``: (second, kind, node), in order of time."""

    capacity: dict  # node -> {resource: amount}
    jobs: list
    daily: dict = field(default_factory=lambda: {"any": ()})  # queue -> windows of the day
    outages: list = field(default_factory=list)
    requeue: str = "restart"
    kill: bool = False

    def problem(self):
        """The world as the simulator takes it."""
        groups = [NodeGroup(name.removesuffix("-1"), 1, amounts) for name, amounts in self.capacity.items()]
        jobs = [
            Job.of_chunks(
                j.id,
                j.submit,
                j.walltime,
                [(j.units, j.request), *j.further],
                j.queue,
                windows=j.windows,
                runtime=j.runtime,
            )
            for j in self.jobs
        ]
        return Dispatch(Platform(groups), jobs, [Queue(name, 60, tuple(w)) for name, w in self.daily.items()])

    def events(self):
        """The outages as the simulator takes them."""
        return [NodeEvent(time, kind, [node]) for time, kind, node in self.outages]


@dataclass
class Record:
    """A run of a job: ``end`` is the first second in which it does not run any more."""

    job: str
    number: int
    start: int
    end: int
    nodes: dict
    why: str
    work_done: int
    further: tuple = ()  # the nodes of the further chunks


def random_world(seed, *, calendars=True, outages=True, chunks=False):
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
        fits = sum(_fits(amounts, {"cores": cores, "gpus": gpus}) for amounts in capacity.values())
        if fits < 1:
            continue
        job = SmallJob(
            f"j{k}",
            rng.randint(0, 40),
            rng.choice([0, *range(1, 30)]),
            rng.randint(1, 30),
            rng.randint(1, min(fits, 5)),
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
    world.requeue = rng.choice(["restart", "restart", "drop", "checkpoint:1", "checkpoint:4"])
    if outages:
        kinds = ["node-down", "node-up", "node-drain", "node-reserve", "node-release"]
        times = sorted(rng.randint(-5, 120) for _ in range(rng.randint(0, 8)))
        world.outages = [(time, rng.choice(kinds), rng.choice(nodes)) for time in times]
        if rng.random() < 0.7:  # in the end all is well
            world.outages += [(130, kind, node) for node in nodes for kind in ("node-up", "node-release")]
    return world


def _add_chunks(jobs, capacity, rng):
    """Give some jobs further chunks, for which the empty machine has room beside the others."""
    for job in jobs:
        left = {node: dict(amounts) for node, amounts in capacity.items()}
        placed = _put(left, job.units, job.request)
        for _ in range(rng.choice([0, 1, 1, 2])):
            chunk = rng.randint(1, 2), {"cores": rng.randint(0, 2), "gpus": rng.choice([0, 0, 1])}
            placed = placed and _put(left, *chunk)
            if placed:
                job.further += (chunk,)


def _put(left, units, request):
    """Whether the units fit into what is left; first fit, which takes the amounts."""
    for amounts in left.values():
        while units and all(amounts[r] >= q for r, q in request.items()):
            for r, q in request.items():
                amounts[r] -= q
            units -= 1
    return units == 0


def _fits(amounts, request):
    return min((amounts[r] // q for r, q in request.items() if q), default=5)


def records(run):
    """The attempts of a simulation as plain records; jobs that never started have none."""
    rows = run.attempts.to_dict("records")
    return [
        Record(
            *(row[name] for name in ("job", "number", "start", "end", "nodes", "why", "work_done")),
            further=row.get("further", ()),
        )
        for row in rows
    ]


def faults(world, found, waiting=()):
    """All faults of the records of a replay, as texts; ``waiting``: the jobs that the simulator says never start again."""
    return [fault for rule in RULES for fault in rule(world, found, set(waiting))]


def state_of(world, node, second):
    """The health and the reservation of a node in a second."""
    health, reserved = "up", False
    for time, kind, name in world.outages:
        if name != node or time > second:
            continue
        if kind in ("node-up", "node-down", "node-drain"):
            health = kind.removeprefix("node-")
        else:
            reserved = kind == "node-reserve"
    return health, reserved


def _capacity(world, found, waiting):
    """In each second the jobs use no more of a node than it has."""
    jobs = {j.id: j for j in world.jobs}
    used = defaultdict(int)
    for r in found:
        for second in range(r.start, r.end):
            requests = (jobs[r.job].request, *(request for _, request in jobs[r.job].further))
            for on, request in zip((r.nodes, *r.further), requests, strict=True):
                for node, units in on.items():
                    for resource, amount in request.items():
                        used[second, node, resource] += units * amount
    for (second, node, resource), amount in used.items():
        if amount > world.capacity[node][resource]:
            yield f"second {second}: {amount} {resource} in use on {node}"


def _states(world, found, waiting):
    """Jobs start on nodes that are up and not reserved, and run on nodes that are not down."""
    for r in found:
        for node in {node for on in (r.nodes, *r.further) for node in on}:
            if state_of(world, node, r.start) != ("up", False):
                yield f"{r.job} starts at {r.start} on {node}, which is {state_of(world, node, r.start)}"
            for second in range(r.start, r.end):
                if state_of(world, node, second)[0] == "down":
                    yield f"{r.job} runs in second {second} on {node}, which is down"


def _calendars(world, found, waiting):
    """No start before the submission, outside of a window of the job or of the daily hours of its queue."""
    jobs = {j.id: j for j in world.jobs}
    for r in found:
        job = jobs[r.job]
        if r.start < job.submit:
            yield f"{r.job} starts at {r.start}, before its submission"
        if job.windows and not any(lo <= r.start <= hi for lo, hi in job.windows):
            yield f"{r.job} starts at {r.start}, outside of its windows"
        daily = world.daily[job.queue]
        if daily and not any(lo <= r.start % DAY <= hi for lo, hi in daily):
            yield f"{r.job} starts at {r.start}, outside of the hours of its queue"


def _units(world, found, waiting):
    """Each run has all units of its job."""
    jobs = {j.id: j for j in world.jobs}
    for r in found:
        needs = (jobs[r.job].units, *(units for units, _ in jobs[r.job].further))
        for on, units in zip((r.nodes, *r.further), needs, strict=True):
            if sum(on.values()) != units or min(on.values()) < 1:
                yield f"{r.job} has the units {on}, it needs {units}"


def _attempts(world, found, waiting):
    """The attempts of a job follow each other, and end when the work is done, or a node goes down in this second."""
    for job in world.jobs:
        mine = sorted((r for r in found if r.job == job.id), key=lambda r: r.number)
        if [r.number for r in mine] != list(range(1, len(mine) + 1)):
            yield f"{job.id} has the attempts {[r.number for r in mine]}"
        for before, after in pairwise(mine):
            if after.start < before.end:
                yield f"{job.id}: attempt {after.number} starts before {before.number} ends"
            if before.why in ("completed", "walltime") or world.requeue == "drop":
                yield f"{job.id} comes back after an attempt that ended as {before.why}"
        for r in mine:
            if r.why not in ("completed", "walltime"):
                node = r.why.partition(": ")[2]
                if not any(node in on for on in (r.nodes, *r.further)) or state_of(world, node, r.end)[0] != "down":
                    yield f"{r.job} ends at {r.end} because of {r.why}, which is not down"


def _work(world, found, waiting):
    """Work is conserved: what each attempt adds, less what is lost, is what the job needs, less what is left."""
    every = int(world.requeue.partition(":")[2] or 0)
    for job in world.jobs:
        left = min(job.runtime, job.walltime) if world.kill else job.runtime
        ended = False
        for r in sorted((r for r in found if r.job == job.id), key=lambda r: r.number):
            useful = 0
            for second in range(r.start, r.end):
                useful += 1
                left -= 1
                if left < 0:
                    yield f"{job.id} runs in second {second}, when its work is done"
            ended = r.why in ("completed", "walltime")
            lost = 0 if ended else (useful % every if every else useful)
            left += lost
            if r.work_done != useful - lost:
                yield f"{job.id}: attempt {r.number} has done {r.work_done} s of work, in truth {useful - lost} s"
            killed = world.kill and job.runtime > job.walltime
            if ended and (left != 0 or r.why != ("walltime" if killed else "completed")):
                yield f"{job.id} ends at {r.end} as {r.why}, with {left} s of work left"
        gone = any(r.job == job.id for r in found) and world.requeue == "drop"
        if not ended and not gone and job.id not in waiting:
            yield f"{job.id} waits in silence"
        if (ended or gone) and job.id in waiting:
            yield f"{job.id} is said to wait, but has ended"


RULES = [_capacity, _states, _calendars, _units, _attempts, _work]


class FirstFit:
    """A dispatcher in Python: each job in order of arrival that fits starts on the first nodes that are up."""

    name = "first-fit"

    def begin(self, platform, queues, seed):
        """Nothing to prepare."""

    def decide(self, moment):
        """Start what fits."""
        free, starts = moment.free.copy(), []
        for job, may_start in zip(moment.waiting, moment.may_start, strict=True):
            then, placed = free.copy(), []
            for part in job.parts if may_start else ():
                request = [part.request.get(r, 0) for r in moment.platform.resources]
                nodes, left = {}, part.units
                for n, name in enumerate(moment.platform.nodes):
                    if left and moment.states[n] == "up":
                        fits = min([left, *(int(f) // q for f, q in zip(then[n], request, strict=True) if q)])
                        if fits:
                            nodes[name], left = fits, left - fits
                            then[n] -= [fits * q for q in request]
                if left:
                    break
                placed.append(nodes)
            if len(placed) == len(job.parts):
                free = then
                starts.append(Start(job.id, placed[0], tuple(placed[1:])))
        return Decision(starts)
