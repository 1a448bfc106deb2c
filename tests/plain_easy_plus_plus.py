"""EASY++ on a machine of equal processors, in plain Python: no arrays, no compiled code, nothing kept between events."""

from dataclasses import dataclass, field

TABLE = [60, 300, 900, 1800, 3600, 7200, 18000, 36000, 72000, 180000, 360000]


@dataclass
class Job:
    """A job; times in s. ``prediction`` is set while it waits, ``history`` has the runtimes of users' ended jobs."""

    submit: int
    runtime: int
    walltime: int
    units: int
    user: int
    prediction: int = 0
    start: int = -1


@dataclass
class Machine:
    """The free processors, the jobs that wait (in order of arrival) and that run."""

    free: int
    waiting: list[Job] = field(default_factory=list)
    running: list[Job] = field(default_factory=list)

    def start(self, job: Job, now: int) -> None:
        """Start a waiting job."""
        job.start = now
        self.free -= job.units
        self.waiting.remove(job)
        self.running.append(job)


def predicted(job: Job, history: dict[int, list[int]]) -> int:
    """The mean of the user's last two runtimes, rounded up; one runtime alone counts, none gives the walltime."""
    last = history.get(job.user, [])[-2:]
    return min(job.walltime, -(-sum(last) // len(last))) if last else job.walltime


def expected_end(job: Job, now: int) -> int:
    """When a running job is expected to end: an expired prediction is increased step by step, up to the walltime."""
    prediction = job.prediction
    for step in TABLE:
        if job.start + prediction > now:
            break
        prediction = min(job.walltime, prediction + step)
    if job.start + prediction <= now:
        prediction = job.walltime
    return max(now + 1, job.start + prediction)


def decide(machine: Machine, now: int) -> None:
    """Start jobs: the first ones of the queue, then shorter ones that do not delay the first that does not fit."""
    while machine.waiting and machine.waiting[0].units <= machine.free:
        machine.start(machine.waiting[0], now)
    if not machine.waiting:
        return
    head, ends = machine.waiting[0], sorted((expected_end(j, now), j.units) for j in machine.running)
    shadow = next(t for t, _ in ends if machine.free + sum(u for e, u in ends if e <= t) >= head.units)
    extra = machine.free + sum(u for e, u in ends if e <= shadow) - head.units
    for job in sorted(machine.waiting[1:], key=lambda j: j.prediction):  # stable: ties by arrival
        in_time = now + job.prediction <= shadow
        if job.units <= machine.free and (in_time or job.units <= extra):
            machine.start(job, now)
            extra -= 0 if in_time else job.units


def replay(jobs: list[Job], processors: int) -> list[int]:
    """Replay jobs, given in order of arrival, and return their starts. Jobs run to their end, also beyond the walltime."""
    machine, history, arrivals = Machine(processors), dict[int, list[int]](), list(jobs)
    while arrivals or machine.running:
        now = min([j.start + j.runtime for j in machine.running] + [j.submit for j in arrivals[:1]])
        for job in [j for j in machine.running if j.start + j.runtime == now]:
            machine.running.remove(job)
            machine.free += job.units
            history.setdefault(job.user, []).append(job.runtime)
        while arrivals and arrivals[0].submit <= now:
            machine.waiting.append(arrivals.pop(0))
        for job in machine.waiting:
            job.prediction = predicted(job, history)
        decide(machine, now)
    return [j.start for j in jobs]
