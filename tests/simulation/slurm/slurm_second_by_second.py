"""A replay under Slurm's rules from second to second, without the engine: what starts when, by the state and its own tables.

It shares the passes and priorities with the package, and neither its loop, its clock, nor its jobs in units.
"""

from __future__ import annotations

from collections.abc import Sequence

from schedlab.models import Site
from schedlab.simulation import SlurmJob
from schedlab.simulation.slurm import ENDED, REQUEUE_DELAY, RUNNING, PassTimes, SlurmStart, SlurmState, Victim

LONGEST = 100_000  # s


class SecondBySecond:
    """One replay; ``run`` returns the starts in order. Jobs run as long as their last recorded run."""

    def __init__(self, site: Site, jobs: Sequence[SlurmJob]) -> None:
        self.jobs = jobs
        self.begin = min(job.submit for job in jobs)
        self.state = SlurmState(site, jobs, self.begin, self.begin)
        self.starts: list[SlurmStart] = []
        self._times = PassTimes(self.state.settings, self.begin)
        self._main = self._backfill = LONGEST + self.begin
        self._whole = False
        self._until: dict[int, int] = {}
        self._leaving: list[tuple[Victim, int]] = []  # and the start of its run

    def run(self) -> list[SlurmStart]:
        """Replay each second until all jobs have ended."""
        now = self.begin
        while (self.state.state != ENDED).any():
            assert now < self.begin + LONGEST
            if self._happens(now):
                self._plan(now)
            self._passes(now)
            now += 1
        return self.starts

    def _happens(self, now: int) -> bool:
        """Let jobs end, arrive and leave; return whether anything happened."""
        state = self.state
        ends = sorted(k for k, end in self._until.items() if end == now)
        for k in ends:
            del self._until[k]
            state.end(k, now, self.jobs[k].attempts[-1].state)
        times = [state.next_begin] if state.next_begin is not None else []
        if state.priorities.ages:
            times.append(state.priorities.next_update)
        state.advance(now)
        arrivals = [k for k, job in enumerate(self.jobs) if job.submit == now]
        for k in arrivals:
            state.submit(k, now)
        left = self._leave(now)
        edges = [row for row in state.tables.reservations[:, :2].ravel().tolist() if row == now]
        return bool(ends or arrivals or left or edges or any(time <= now for time in times))

    def _leave(self, now: int) -> bool:
        """End the runs of the jobs whose time to leave is over; return whether there was one."""
        due = [each for each in self._leaving if each[0].end <= now]
        self._leaving = [each for each in self._leaving if each[0].end > now]
        left = False
        for victim, start in due:
            k = victim.job
            if self.state.state[k] != RUNNING or next(s.time for s in reversed(self.starts) if s.job == k) != start:
                continue
            left = True
            del self._until[k]
            self.state.end(k, now, "PREEMPTED", requeued=victim.requeued)
            if victim.requeued:
                self.state.submit(k, now, now + REQUEUE_DELAY)
        return left

    def _plan(self, time: int) -> None:
        if not self.state.waiting:
            return
        for each in self._times.after_change(time):
            if each.backfill:
                self._backfill = each.time
            else:
                self._main, self._whole = each.time, each.whole_queue

    def _passes(self, now: int) -> None:
        never = LONGEST + self.begin
        while self._main <= now:
            self._main = never
            self._times.main_runs(now)
            self._begun(self.state.main(now, self._whole), now)
            for victim in sorted(self.state.preempt(now), key=lambda victim: victim.job):
                start = next(s.time for s in reversed(self.starts) if s.job == victim.job)
                self._leaving.append((victim, start))
            if self._leave(now):
                self._plan(now)
        if self._backfill <= now:
            self._backfill = never
            self._times.backfill_runs()
            self._begun(self.state.backfill(now), now)
            tables = self.state.tables
            if any(int(tables.runs[row, 1]) < now for row in range(int(tables.counts[0]))):  # beyond its limit
                self._plan(now + 1)

    def _begun(self, starts: Sequence[SlurmStart], now: int) -> None:
        for start in starts:
            last = self.jobs[start.job].attempts[-1]
            self.starts.append(start)
            self._until[start.job] = now + max(1, last.end - last.start)
        if starts:
            self._plan(now + 1)


def first_starts(site: Site, jobs: Sequence[SlurmJob]) -> dict[str, int]:
    """Return the first start of each job by its id."""
    starts = SecondBySecond(site, jobs).run()
    return {jobs[each.job].id: each.time for each in reversed(starts)}
