"""What all formulations of a dispatching problem share: the intervals of jobs, those of running jobs, the objective."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from .. import language as sl
from ..language import Assignment, Cumulative, Integer, Interval, Linear, Model
from ..problem import Schedule
from .jobs import Job

if TYPE_CHECKING:
    from .problem import Dispatch

SHARES = (2, 3, 4)
Need = Callable[[Job], int]
"""What one unit of a job takes of what a cumulative counts."""


class DemandRow(NamedTuple):
    """One demand of a cumulative: ``amount``, multiplied by ``times`` if there is one."""

    interval: Interval
    amount: int
    times: Integer | None = None

    @property
    def most(self) -> int:
        """The greatest demand."""
        return self.amount if self.times is None else self.amount * self.times.hi


@dataclass(frozen=True)
class JobModel:
    """What all formulations share: the problem's model with an interval per job; ``until``: one per end of running jobs.

    All that runs has begun, so that jobs with the same expected end are one interval; what has ended takes nothing.
    """

    problem: Dispatch
    model: Model
    jobs: tuple[Interval, ...]
    running_ends: Mapping[int, Interval]

    def read_starts(self, assignment: Assignment) -> dict[str, int]:
        """Job id -> start, from an assignment; without the jobs that it leaves out."""
        present, start = assignment.present, assignment.start
        rows = zip(self.problem.jobs, self.jobs, strict=True)
        return {j.id: start[v.index] for j, v in rows if present[v.index]}

    def write_starts(self, schedule: Schedule) -> Assignment:
        """An assignment of the job and running intervals; everything else is still 0 and absent.

        Raises KeyError for a job without a start that cannot be left out.
        """
        a = Assignment(self.model)
        for job, v in zip(self.problem.jobs, self.jobs, strict=True):
            if not v.optional or job.id in schedule.start:
                a.set(v, schedule.start[job.id], schedule.start[job.id] + v.size_lo)
        for end, v in self.running_ends.items():
            a.set(v, self.problem.now, end)
        return a

    def running(self, places: Mapping[str, str]) -> dict[str, list[tuple[int, Job, int]]]:
        """By place: (end, job, units there) of what runs; ``places``: node -> place."""
        found: dict[str, list[tuple[int, Job, int]]] = {place: [] for place in places.values()}
        for r in self.problem.running:
            if r.end > self.problem.now:
                for node, n in r.nodes.items():
                    found[places[node]].append((r.end, r.job, n))
        return found

    def running_rows(self, here: Iterable[tuple[int, Job, int]], need: Need) -> list[DemandRow]:
        """The rows of what runs on one place, as ``running`` lists it."""
        amounts: Counter[int] = Counter()
        for end, job, n in here:
            amounts[end] += n * need(job)
        return [DemandRow(self.running_ends[end], amount) for end, amount in amounts.items() if amount]

    def add_cumulative(self, rows: Sequence[DemandRow], capacity: int, name: str) -> None:
        """A cumulative of the rows, unless all of them fit at once."""
        if sum(row.most for row in rows) <= capacity:
            return
        # made directly: a big moment has tens of thousands of demands, and the checks of sl.cumulative would take longest
        demands = tuple(amount if times is None else Linear({times: amount}) for _, amount, times in rows)
        self.model.add(Cumulative(tuple(row.interval for row in rows), demands, ((0, capacity),)), name)


Aim = Callable[[JobModel], None]
"""Gives the model of the intervals its objective."""


def request_of(resource: str) -> Need:
    """How much of the resource one unit takes."""
    return lambda job: job.request.get(resource, 0)


def job_model(problem: Dispatch, name: str, aim: Aim | None = None, before: int | None = None) -> JobModel:
    """The intervals and the objective that every formulation has. A job that can start nowhere makes it infeasible.

    ``aim``: what gives the model its objective; None: the problem's own. ``before``: jobs that may start at any time
    after their release (``startable_later``) do so before this moment, or the model leaves them out.
    """
    horizon = problem.horizon_from(problem.now if before is None else before)
    model = Model(f"{name} of {len(problem.jobs)} jobs", horizon=horizon)
    jobs = []
    for j in problem.jobs:
        windows = problem.start_windows(j, horizon)
        optional = before is not None and startable_later(problem, j)
        if optional:
            windows = tuple((lo, min(hi, before - 1)) for lo, hi in windows if lo < before)  # type: ignore[operator]
        v = model.interval(j.id, size=problem.duration(j), start=windows or problem.earliest(j), optional=optional)
        if not windows:
            model.add(v.start <= problem.earliest(j) - 1, f"job {j.id} can start nowhere in its windows")
        jobs.append(v)
    ends = sorted({r.end for r in problem.running if r.end > problem.now})
    running_ends = {
        end: model.interval(f"running until {end}", size=end - problem.now, start=problem.now) for end in ends
    }
    found = JobModel(problem, model, tuple(jobs), running_ends)
    if aim is None:
        model.minimize(objective_of(found))
    else:
        aim(found)
    return found


def startable_later(problem: Dispatch, job: Job) -> bool:
    """Whether a job can wait for as long as one likes: no deadline, no windows, no calendar."""
    return job.deadline is None and not job.windows and not problem.calendar(job)


def objective_of(b: JobModel) -> sl.Expression:
    """The objective of a problem's jobs, as the problem has it."""
    p = b.problem
    if p.aim == "makespan":
        ends: list[sl.Expression | float] = [v.end for v in b.jobs]
        ends.extend(r.end for r in p.running)
        return sl.max(ends or [p.now])
    waits = [v.start - j.submit for j, v in zip(p.jobs, b.jobs, strict=True)]
    ewts = [p.ewt[j.queue] for j in p.jobs]
    if p.aim == "waiting":
        return sl.sum(waits)
    if p.aim == "weighted-wait":
        return sl.sum(waits, weights=[1 / e for e in ewts])
    if p.aim == "weighted-tardiness":
        late = [sl.positive_part(w - e) for w, e in zip(waits, ewts, strict=True)]
        return sl.sum(late, weights=[1 / e for e in ewts])
    if p.aim == "late-jobs":
        return sl.sum([sl.holds(w >= e + 1) for w, e in zip(waits, ewts, strict=True)])
    if p.aim == "queue-priority-wait":
        greatest = max(p.ewt.values(), default=1)
        return sl.sum(waits, weights=[greatest / e for e in ewts])
    lengths = [max(1, p.duration(j)) for j in p.jobs]
    return sl.sum([w + d for w, d in zip(waits, lengths, strict=True)], weights=[1 / d for d in lengths])
