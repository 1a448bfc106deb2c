"""Four ways to put a dispatching problem into the language: units, counts, classes, pool.

All share one interval per job, within its start windows, and the objective. They differ in how they see nodes:

- ``units``   an optional interval per node and unit that fits it, alternative with count (thesis 4.3, 6.2); exact.
- ``counts``  an integer number of units per job and node, cumulative with variable demands; exact.
- ``classes`` nodes of equal capacity are one: an integer number of units per job and class, a cumulative per class and
  resource, and for k = 2, 3, 4 one that counts the units which need more than 1/k of a node's amount; a relaxation.
- ``pool``    one cumulative per resource over the whole machine (Galleguillos 2.2, HCP); a coarser relaxation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from .. import language as sl
from ..language import Assignment, Cumulative, Integer, Interval, Linear, Model
from ..problem import Encoding, Schedule
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
class Base:
    """What all formulations share: the problem's model with an interval per job; ``until``: one per end of running jobs.

    All that runs has begun, so that jobs with the same expected end are one interval; what has ended takes nothing.
    """

    problem: Dispatch
    model: Model
    jobs: tuple[Interval, ...]
    until: Mapping[int, Interval]

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
        for end, v in self.until.items():
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

    def held(self, here: Iterable[tuple[int, Job, int]], need: Need) -> list[DemandRow]:
        """The rows of what runs on one place, as ``running`` lists it."""
        amounts: Counter[int] = Counter()
        for end, job, n in here:
            amounts[end] += n * need(job)
        return [DemandRow(self.until[end], amount) for end, amount in amounts.items() if amount]

    def add_cumulative(self, rows: Sequence[DemandRow], capacity: int, name: str) -> None:
        """A cumulative of the rows, unless all of them fit at once."""
        if sum(row.most for row in rows) <= capacity:
            return
        # made directly: a big moment has tens of thousands of demands, and the checks of sl.cumulative would take longest
        demands = tuple(amount if times is None else Linear({times: amount}) for _, amount, times in rows)
        self.model.add(Cumulative(tuple(row.interval for row in rows), demands, ((0, capacity),)), name)


Aim = Callable[[Base], None]
"""Gives the model of the intervals its objective."""


def asks(resource: str) -> Need:
    """How much of the resource one unit takes."""
    return lambda job: job.request.get(resource, 0)


def base(problem: Dispatch, name: str, aim: Aim | None = None, before: int | None = None) -> Base:
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
    until = {end: model.interval(f"running until {end}", size=end - problem.now, start=problem.now) for end in ends}
    found = Base(problem, model, tuple(jobs), until)
    if aim is None:
        model.minimize(total(found))
    else:
        aim(found)
    return found


def startable_later(problem: Dispatch, job: Job) -> bool:
    """Whether a job can wait for as long as one likes: no deadline, no windows, no calendar."""
    return job.deadline is None and not job.windows and not problem.calendar(job)


def total(b: Base) -> sl.Expression:
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


Vector = tuple[int, ...]


def _most(problem: Dispatch, job: Job) -> dict[Vector, int]:
    """How many units of the job fit one empty node of each capacity vector, never more than it has."""
    platform = problem.platform
    request = [job.request.get(r, 0) for r in platform.resources]
    return {vector: min(job.units, platform.units_on(vector, request)) for vector in platform.classes}


def units(problem: Dispatch, aim: Aim | None = None, before: int | None = None) -> Encoding:
    """An optional interval per node and per unit that fits it, ``alternative`` with count; thesis 4.3, 6.2 (exact)."""
    b = base(problem, "units", aim, before)
    capacity = problem.platform.capacity
    rows: dict[str, list[tuple[Interval, Job]]] = {n: [] for n in capacity}
    options: list[list[tuple[str, Interval]]] = []
    for j, v in zip(problem.jobs, b.jobs, strict=True):
        most = _most(problem, j)
        made: list[tuple[str, Interval]] = []
        for node, vector in capacity.items():
            for k in range(most[vector]):
                o = b.model.interval(f"{j.id}.{k + 1} on {node}", v.size_lo, v.windows, optional=True)
                made.append((node, o))
                rows[node].append((o, j))
        b.model.add(sl.alternative(v, [o for _, o in made], count=j.units), f"units of {j.id}")
        options.append(made)
    running = b.running({n: n for n in capacity})
    for node, vector in capacity.items():
        for resource, limit in zip(problem.platform.resources, vector, strict=True):
            need = asks(resource)
            demands = [DemandRow(v, need(j)) for v, j in rows[node] if need(j)]
            b.add_cumulative([*demands, *b.held(running[node], need)], limit, f"{resource} of {node}")

    def read(a: Assignment) -> Schedule:
        nodes: dict[str, dict[str, int]] = {}
        for j, made in zip(problem.jobs, options, strict=True):
            placed = nodes.setdefault(j.id, {})
            for node, o in made:
                if a.present[o.index]:
                    placed[node] = placed.get(node, 0) + 1
        return Schedule(b.read_starts(a), nodes)

    def write(schedule: Schedule) -> Assignment:
        a = b.write_starts(schedule)
        for j, made in zip(problem.jobs, options, strict=True):
            left = dict(schedule.nodes.get(j.id, {})) if j.id in schedule.start else {}
            for node, o in made:
                if left.get(node, 0) > 0:
                    left[node] -= 1
                    a.set(o, schedule.start[j.id], schedule.start[j.id] + o.size_lo)
        return a

    return Encoding(b.model, read, write)


Places = dict[str, Integer]


def _count_variables(b: Base, places: Mapping[str, tuple[Vector, int]]) -> list[Places]:
    """Per job, place -> how many units it has there; the places are nodes or classes (capacity vector, number of nodes)."""
    found = []
    for j, v in zip(b.problem.jobs, b.jobs, strict=True):
        most = _most(b.problem, j)
        made = {
            place: b.model.integer(f"{j.id} on {place}", 0, min(j.units, n * most[vector]))
            for place, (vector, n) in places.items()
            if most[vector]
        }
        total = sl.sum(made.values())
        if v.optional:
            b.model.add(total - j.units * v.presence == 0, f"units of {j.id}")
        else:
            b.model.add(total == j.units, f"units of {j.id}")
        found.append(made)
    return found


def _counted(b: Base, counts: list[Places]) -> dict[str, list[tuple[Job, Interval, Integer]]]:
    """By place: the jobs that may run there, each with its interval and the number of its units there."""
    found: dict[str, list[tuple[Job, Interval, Integer]]] = {}
    for j, v, made in zip(b.problem.jobs, b.jobs, counts, strict=True):
        for place, x in made.items():
            found.setdefault(place, []).append((j, v, x))
    return found


def _rows(here: Iterable[tuple[Job, Interval, Integer]], need: Need) -> list[DemandRow]:
    return [DemandRow(v, amount, x) for j, v, x in here if (amount := need(j))]


def counts(problem: Dispatch, aim: Aim | None = None, before: int | None = None) -> Encoding:
    """An integer number of units per job and node, ``cumulative`` with variable demands (exact)."""
    b = base(problem, "counts", aim, before)
    capacity = problem.platform.capacity
    numbers = _count_variables(b, {n: (vector, 1) for n, vector in capacity.items()})
    running, jobs = b.running({n: n for n in capacity}), _counted(b, numbers)
    for node, here in jobs.items():
        for resource, limit in zip(problem.platform.resources, capacity[node], strict=True):
            need = asks(resource)
            b.add_cumulative(_rows(here, need) + b.held(running[node], need), limit, f"{resource} of {node}")

    def read(a: Assignment) -> Schedule:
        nodes = {
            j.id: {n: a.integer[x.index] for n, x in made.items() if a.integer[x.index]}
            for j, v, made in zip(problem.jobs, b.jobs, numbers, strict=True)
            if a.present[v.index]
        }
        return Schedule(b.read_starts(a), nodes)

    def write(schedule: Schedule) -> Assignment:
        a = b.write_starts(schedule)
        for j, v, made in zip(problem.jobs, b.jobs, numbers, strict=True):
            for node, n in schedule.nodes.get(j.id, {}).items():
                if node in made and a.present[v.index]:
                    a.integer[made[node].index] = n
        return a

    return Encoding(b.model, read, write)


def classes(problem: Dispatch, aim: Aim | None = None, before: int | None = None) -> Encoding:
    """Units per job and class of equal nodes: a relaxation whose bound is true.

    Why: a schedule of the nodes, summed over a class, stays within the class's capacity; and of units that each need
    more than 1/k of a node's amount of the same resource, at most k - 1 run on a node at a time.
    """
    b = base(problem, "classes", aim, before)
    platform = problem.platform
    members = {f"class {i + 1}": (vector, nodes) for i, (vector, nodes) in enumerate(platform.classes.items())}
    numbers = _count_variables(b, {name: (vector, len(nodes)) for name, (vector, nodes) in members.items()})
    running = b.running({node: name for name, (_, nodes) in members.items() for node in nodes})
    for name, here in _counted(b, numbers).items():
        vector, nodes = members[name]

        def add(need: Need, limit: int, what: str) -> None:
            b.add_cumulative(_rows(here, need) + b.held(running[name], need), limit, what)  # noqa: B023

        for resource, limit in zip(platform.resources, vector, strict=True):
            add(asks(resource), len(nodes) * limit, f"{resource} of {name}")
        for resource, limit in zip(platform.resources, vector, strict=True):
            for k in SHARES:
                large = _above(resource, limit / k)
                add(large, len(nodes) * (k - 1), f"units above 1/{k} of a node's {resource} in {name}")

    def write(schedule: Schedule) -> Assignment:
        a = b.write_starts(schedule)
        for j, v, made in zip(problem.jobs, b.jobs, numbers, strict=True):
            for name, (_, nodes) in members.items():
                if name in made and a.present[v.index]:
                    placed = schedule.nodes.get(j.id, {})
                    a.integer[made[name].index] = sum(placed.get(node, 0) for node in nodes)
        return a

    return Encoding(b.model, lambda a: Schedule(b.read_starts(a)), write, relaxation=True)


def _above(resource: str, share: float) -> Need:
    return lambda job: int(job.request.get(resource, 0) > share)


def pool(problem: Dispatch, aim: Aim | None = None, before: int | None = None) -> Encoding:
    """One ``cumulative`` per resource over the whole machine (Galleguillos 2.2): a relaxation whose bound is true."""
    b = base(problem, "pool", aim, before)
    running = b.running(dict.fromkeys(problem.platform.nodes, "the machine"))["the machine"]
    for resource in problem.platform.resources:
        need = asks(resource)
        rows = [DemandRow(v, j.units * need(j)) for j, v in zip(problem.jobs, b.jobs, strict=True) if need(j)]
        b.add_cumulative(rows + b.held(running, need), problem.platform.total(resource), resource)
    return Encoding(b.model, lambda a: Schedule(b.read_starts(a)), b.write_starts, relaxation=True)


FORMULATIONS: dict[str, Callable[..., Encoding]] = {
    "counts": counts,
    "units": units,
    "classes": classes,
    "pool": pool,
}
