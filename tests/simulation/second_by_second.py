"""An independent check of replays of small worlds: plain lists, one second after the other, no code of the engine.

``records`` reads the result of a replay of a world (see ``small_worlds``), ``faults`` checks it, and ``startable`` checks
that the jobs which wait at the end can never start. A new part of a world is a field with a default, drawn by an option
of ``random_world``, and a rule in ``RULES``: a function of the world and the records that yields faults as texts.
"""

from collections import defaultdict
from dataclasses import dataclass, replace
from itertools import pairwise

from simulation.small_worlds import fits

DAY = 86_400
ENDED = "completed or killed"  # jobs that run at the begin and do not fail


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


def records(run):
    """The attempts of a simulation and the jobs that run at the begin as plain records; never started: no record."""
    rows = run.attempts.to_dict("records")
    found = [
        Record(*(row[name] for name in ("job", "number", "start", "end", "nodes", "why", "work_done"))) for row in rows
    ]
    failed = {r.job for r in found}
    for r in run.workload.running:
        if r.job.id not in failed:
            took = r.true_end - r.start
            found.append(Record(r.job.id, 1, r.start, r.true_end, dict(r.nodes), ENDED, took))
    return found


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
    jobs = world.all_jobs()
    used = defaultdict(int)
    for r in found:
        for second in range(r.start, r.end):
            for node, units in r.nodes.items():
                for resource, amount in jobs[r.job].request.items():
                    used[second, node, resource] += units * amount
    for (second, node, resource), amount in used.items():
        if amount > world.capacity[node][resource]:
            yield f"second {second}: {amount} {resource} in use on {node}"


def _states(world, found, waiting):
    """Jobs start on nodes that are up and not reserved, and run on nodes that are not down."""
    for r in found:
        for node in r.nodes:
            old = world.began_before(r)
            if not old and state_of(world, node, r.start) != ("up", False):
                yield f"{r.job} starts at {r.start} on {node}, which is {state_of(world, node, r.start)}"
            for second in range(world.begin if old else r.start, r.end):
                if state_of(world, node, second)[0] == "down":
                    yield f"{r.job} runs in second {second} on {node}, which is down"


def _calendars(world, found, waiting):
    """No start before the submission, outside of a window of the job or of the daily hours of its queue."""
    jobs = world.all_jobs()
    for r in found:
        job = jobs[r.job]
        if world.began_before(r):
            continue
        if r.start < max(job.submit, world.begin or 0):
            yield f"{r.job} starts at {r.start}, before its submission or the begin"
        if job.windows and not any(lo <= r.start <= hi for lo, hi in job.windows):
            yield f"{r.job} starts at {r.start}, outside of its windows"
        daily = world.daily[job.queue]
        if daily and not any(lo <= r.start % DAY <= hi for lo, hi in daily):
            yield f"{r.job} starts at {r.start}, outside of the hours of its queue"


def _units(world, found, waiting):
    """Each run has all units of its job."""
    jobs = world.all_jobs()
    for r in found:
        if sum(r.nodes.values()) != jobs[r.job].units or min(r.nodes.values()) < 1:
            yield f"{r.job} has the units {r.nodes}, it needs {jobs[r.job].units}"


def _begin(world, found, waiting):
    """The first run of a job that runs at the begin is the one that was given; one without room is left out."""
    first = {r.job: r for r in found if r.number == 1}
    for r in world.running:
        run, nodes = first.get(r.job.id), dict(r.nodes)
        end = r.end if r.job.runtime is None else r.start + _whole_work(world, r.job)
        if end <= world.begin:  # killed at its walltime before
            if run is not None:
                yield f"{r.job.id} runs, but its walltime ends at {end}"
        elif run is None:
            if nodes or _room(world, found, r.job.units, r.job.request, world.begin, ("down",)):
                yield f"{r.job.id} runs at the begin, but has no run"
        elif run.start != r.start or run.end > end or (nodes and run.nodes != nodes):
            yield f"{r.job.id} runs from {run.start} to {run.end} on {run.nodes}; given: {r}"


def _room(world, found, units, request, second, barred):
    """Whether the idle part of the machine holds a job in a second, on nodes whose health is not ``barred``."""
    jobs, left = world.all_jobs(), {name: dict(amounts) for name, amounts in world.capacity.items()}
    for r in found:
        for node, n in r.nodes.items() if r.start <= second < r.end else ():
            for resource, amount in jobs[r.job].request.items():
                left[node][resource] -= n * amount
    names = [n for n in left if state_of(world, n, second)[0] not in barred]
    if "reserved" in barred:
        names = [n for n in names if not state_of(world, n, second)[1]]
    return sum(fits(left[n], request) for n in names) >= units


def _whole_work(world, job):
    return min(job.runtime, job.walltime) if world.kill else job.runtime


def _dependencies(world, found, waiting):
    """A job starts after the last end of the job that it waits for, and the think time; if that never ends, it waits."""
    for name, (before, think) in world.after.items():
        runs = [r for r in found if r.job == name]
        ends = [r.end for r in found if r.job == before]
        if before in waiting or not ends:
            if runs or name not in waiting:
                yield f"{name} does not wait for {before}, which never ends"
        elif runs and min(r.start for r in runs) < max(ends) + think:
            yield f"{name} starts before {max(ends)} + {think}, the end of {before} and the think time"


def _attempts(world, found, waiting):
    """The attempts of a job follow each other, and end when the work is done, or a node goes down in this second."""
    for job in world.all_jobs().values():
        mine = sorted((r for r in found if r.job == job.id), key=lambda r: r.number)
        if [r.number for r in mine] != list(range(1, len(mine) + 1)):
            yield f"{job.id} has the attempts {[r.number for r in mine]}"
        for before, after in pairwise(mine):
            if after.start < before.end:
                yield f"{job.id}: attempt {after.number} starts before {before.number} ends"
            if before.why in ("completed", "walltime", ENDED) or world.requeue == "drop":
                yield f"{job.id} comes back after an attempt that ended as {before.why}"
        for r in mine:
            if r.why not in ("completed", "walltime", ENDED):
                node = r.why.partition(": ")[2]
                if node not in r.nodes or state_of(world, node, r.end)[0] != "down" or r.end < (world.begin or r.end):
                    yield f"{r.job} ends at {r.end} because of {r.why}, which is not down"


def _work(world, found, waiting):
    """Work is conserved: what each attempt adds, less what is lost, is what the job needs, less what is left."""
    every = int(world.requeue.partition(":")[2] or 0)
    expected = {r.job.id: r.end - r.start for r in world.running}
    for job in world.all_jobs().values():
        if job.runtime is None:
            job = replace(job, runtime=expected[job.id], walltime=max(job.walltime, expected[job.id]))
        left = _whole_work(world, job)
        ended = False
        for r in sorted((r for r in found if r.job == job.id), key=lambda r: r.number):
            useful = 0
            for second in range(r.start, r.end):
                useful += 1
                left -= 1
                if left < 0:
                    yield f"{job.id} runs in second {second}, when its work is done"
            ended = r.why in ("completed", "walltime", ENDED)
            lost = 0 if ended else (useful % every if every else useful)
            left += lost
            if r.work_done != useful - lost:
                yield f"{job.id}: attempt {r.number} has done {r.work_done} s of work, in truth {useful - lost} s"
            killed = world.kill and job.runtime > job.walltime
            if ended and (left != 0 or r.why not in ("walltime" if killed else "completed", ENDED)):
                yield f"{job.id} ends at {r.end} as {r.why}, with {left} s of work left"
        gone = any(r.job == job.id for r in found) and world.requeue == "drop"
        never_ran = job.id in expected and not any(r.job == job.id for r in found)  # see _begin
        if not ended and not gone and not never_ran and job.id not in waiting:
            yield f"{job.id} waits in silence"
        if (ended or gone) and job.id in waiting:
            yield f"{job.id} is said to wait, but has ended"


RULES = [_capacity, _states, _calendars, _units, _begin, _dependencies, _attempts, _work]


def startable(world, found, waiting):
    """The jobs which wait at the end, but could start on the empty machine in some later second."""
    jobs = world.all_jobs()
    last = max([r.end for r in found] + [time for time, _, _ in world.outages] + [j.submit for j in jobs.values()])
    for name in waiting:
        job = jobs[name]
        if name in world.after and world.after[name][0] in waiting:
            continue
        for second in [*range(max(last, 0), 500), *range(DAY, DAY + 100)]:
            open_ = not job.windows or any(lo <= second <= hi for lo, hi in job.windows)
            daily = world.daily[job.queue]
            open_ = open_ and (not daily or any(lo <= second % DAY <= hi for lo, hi in daily))
            if open_ and _room(world, found, job.units, job.request, second, ("down", "drain", "reserved")):
                yield f"{name} could start at {second}"
                break
