"""The penalty scheduling policy under EASY on equal processors, in plain Python: fractions, nothing kept between events."""

from dataclasses import dataclass
from fractions import Fraction

BEST = 5


@dataclass
class Job:
    """A job; times in s."""

    submit: int
    runtime: int
    walltime: int
    units: int
    user: str
    start: int = -1

    @property
    def end(self) -> int:
        """The end of a job that has started."""
        return self.start + self.runtime


def class_of(user: str, ended: list[Job], first: int) -> int:
    """The class of a user from the last ten of the user's jobs that have ended; ``first`` without any."""
    last = [job for job in ended if job.user == user][-10:]
    if not last:
        return first
    accuracy = sum(min(Fraction(1), Fraction(job.runtime, job.walltime)) for job in last) / len(last)
    return next(k for k in range(BEST, 0, -1) if accuracy >= Fraction(k - 1, BEST))


def decide(waiting: list[Job], running: list[Job], processors: int, now: int) -> list[Job]:
    """The jobs that start now: the first ones of the queue, then those that do not delay the first one that stays."""
    free, started, queue = processors - sum(job.units for job in running), [], list(waiting)
    while queue and queue[0].units <= free:
        started.append(queue.pop(0))
        free -= started[-1].units
    if not queue:
        return started
    head = queue.pop(0)
    held = [(max(job.start + job.walltime, now + 1), job.units) for job in running]
    held += [(now + job.walltime, job.units) for job in started]
    room = {t: free + sum(u for end, u in held if end <= t) for t, _ in held}
    shadow = min(t for t, units in room.items() if units >= head.units)
    extra = room[shadow] - head.units
    for job in queue:
        in_time = now + job.walltime <= shadow
        if job.units <= free and (in_time or job.units <= extra):
            started.append(job)
            free -= job.units
            extra -= 0 if in_time else job.units
    return started


def replay(jobs: list[Job], processors: int, first: int = BEST) -> list[int]:
    """Replay jobs, given in order of arrival, and return their starts."""
    arrivals, waiting, running, ended = list(jobs), [], [], []
    while arrivals or running:
        now = min([job.end for job in running] + [job.submit for job in arrivals[:1]])
        done = [job for job in running if job.end == now]
        ended += sorted(done, key=jobs.index)
        running = [job for job in running if job.end > now]
        while arrivals and arrivals[0].submit <= now:
            waiting.append(arrivals.pop(0))
        waiting.sort(key=lambda job: (-class_of(job.user, ended, first), jobs.index(job)))
        for job in decide(waiting, running, processors, now):
            job.start = now
            waiting.remove(job)
            running.append(job)
    return [job.start for job in jobs]
