"""Four ways to put a dispatching problem into the language: units, counts, classes, pool.

All share one interval per job, within its start windows, and the objective. They differ in how they see nodes:

- ``units``   an optional interval per node and unit that fits it, alternative with count (thesis 4.3, 6.2); exact.
- ``counts``  an integer number of units per job and node, cumulative with variable demands; exact.
- ``classes`` nodes of equal capacity are one: an integer number of units per job and class, a cumulative per class and
  resource, and for k = 2, 3, 4 one that counts the units which need more than 1/k of a node's amount; a relaxation.
- ``pool``    one cumulative per resource over the whole machine (Galleguillos 2.2, HCP); a coarser relaxation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from . import language as sl
from .dispatch import Dispatch, Job, Running
from .language import Assignment, Interval, Model
from .problem import Encoding, Schedule

SHARES = (2, 3, 4)


@dataclass(frozen=True)
class Base:
    """What all formulations share: the problem's model with an interval per job and per running job."""

    problem: Dispatch
    model: Model
    jobs: tuple[Interval, ...]
    running: tuple[Interval, ...]

    def requests(self, resource: str) -> list[int]:
        """Of each job and then of each running one, per unit."""
        p = self.problem
        return [j.request.get(resource, 0) for j in (*p.jobs, *(r.job for r in p.running))]

    def read_starts(self, assignment: Assignment) -> dict[str, int]:
        """Job id -> start, from an assignment."""
        return {j.id: assignment.start[v.index] for j, v in zip(self.problem.jobs, self.jobs, strict=True)}

    def write_starts(self, schedule: Schedule) -> Assignment:
        """An assignment of the job and running intervals; everything else is still 0 and absent."""
        a = Assignment(self.model)
        for job, v in zip(self.problem.jobs, self.jobs, strict=True):
            a.set(v, schedule.start[job.id], schedule.start[job.id] + v.size_lo)
        for r, v in zip(self.problem.running, self.running, strict=True):
            a.set(v, self.problem.now, max(r.end, self.problem.now))
        return a

    def add_cumulative(self, rows: Sequence[tuple[Interval, int | sl.Expression]], capacity: int, name: str) -> None:
        """A cumulative of those rows whose demand is not 0, if there is one that could matter."""
        used = [(v, d) for v, d in rows if not (isinstance(d, int) and d == 0)]
        if used:
            self.model.add(sl.cumulative([v for v, _ in used], [d for _, d in used], capacity), name)


def base(problem: Dispatch, name: str) -> Base:
    """The intervals and the objective that every formulation has. A job that can start nowhere makes it infeasible."""
    model = Model(f"{name} of {len(problem.jobs)} jobs", horizon=problem.horizon)
    jobs = []
    for j in problem.jobs:
        windows = problem.start_windows(j)
        v = model.interval(j.id, size=problem.duration(j), start=windows or problem.earliest(j))
        if not windows:
            model.add(v.start <= problem.earliest(j) - 1, f"job {j.id} can start nowhere in its windows")
        jobs.append(v)
    running = []
    for r in problem.running:
        left = max(r.end, problem.now) - problem.now
        running.append(model.interval(f"running {r.job.id}", size=left, start=problem.now))
    found = Base(problem, model, tuple(jobs), tuple(running))
    model.minimize(_objective(found))
    return found


def _objective(b: Base) -> sl.Expression:
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


def _most(problem: Dispatch, job: Job, vector: Sequence[int]) -> int:
    """How many units of the job fit one empty node, never more than it has."""
    request = [job.request.get(r, 0) for r in problem.platform.resources]
    return min(job.units, problem.platform.units_on(vector, request))


def units(problem: Dispatch) -> Encoding:
    """An optional interval per node and per unit that fits it, ``alternative`` with count; thesis 4.3, 6.2 (exact)."""
    b = base(problem, "units")
    capacity = problem.platform.capacity
    rows: dict[str, list[tuple[Interval, Job | Running]]] = {n: [] for n in capacity}
    options: list[list[tuple[str, Interval]]] = []
    for j, v in zip(problem.jobs, b.jobs, strict=True):
        made: list[tuple[str, Interval]] = []
        for node, vector in capacity.items():
            for k in range(_most(problem, j, vector)):
                o = b.model.interval(f"{j.id}.{k + 1} on {node}", v.size_lo, v.windows, optional=True)
                made.append((node, o))
                rows[node].append((o, j))
        b.model.add(sl.alternative(v, [o for _, o in made], count=j.units), f"units of {j.id}")
        options.append(made)
    for r, v in zip(problem.running, b.running, strict=True):
        for node in r.nodes:
            rows[node].append((v, r))
    for node, vector in capacity.items():
        for resource, limit in zip(problem.platform.resources, vector, strict=True):
            demands = [(v, _need(who, node, resource)) for v, who in rows[node]]
            b.add_cumulative(demands, limit, f"{resource} of {node}")

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
            left = dict(schedule.nodes.get(j.id, {}))
            for node, o in made:
                if left.get(node, 0) > 0:
                    left[node] -= 1
                    a.set(o, schedule.start[j.id], schedule.start[j.id] + o.size_lo)
        return a

    return Encoding(b.model, read, write)


def _need(who: Job | Running, node: str, resource: str) -> int:
    if isinstance(who, Running):
        return who.nodes[node] * who.job.request.get(resource, 0)
    return who.request.get(resource, 0)


Places = dict[str, sl.Integer]


def _count_variables(b: Base, places: dict[str, tuple[Sequence[int], int]]) -> list[Places]:
    """Per job, place -> how many units it has there; the places are nodes or classes (capacity vector, number of nodes)."""
    found = []
    for j in b.problem.jobs:
        most = {place: n * _most(b.problem, j, vector) for place, (vector, n) in places.items()}
        made = {p: b.model.integer(f"{j.id} on {p}", 0, min(j.units, m)) for p, m in most.items() if m > 0}
        b.model.add(sl.sum(made.values()) == j.units, f"units of {j.id}")
        found.append(made)
    return found


def _counted(
    b: Base, counts: list[Places], place: str, need: Callable[[Job], int]
) -> list[tuple[Interval, sl.Expression | int]]:
    """Rows (interval, demand) of the jobs on one place, ``need`` per unit."""
    rows: list[tuple[Interval, sl.Expression | int]] = []
    for j, v, made in zip(b.problem.jobs, b.jobs, counts, strict=True):
        amount = need(j)
        if amount and place in made:
            rows.append((v, made[place] if amount == 1 else amount * made[place]))
    return rows


def counts(problem: Dispatch) -> Encoding:
    """An integer number of units per job and node, ``cumulative`` with variable demands (exact)."""
    b = base(problem, "counts")
    capacity = problem.platform.capacity
    numbers = _count_variables(b, {n: (vector, 1) for n, vector in capacity.items()})
    for node, vector in capacity.items():
        here = [(v, r) for r, v in zip(problem.running, b.running, strict=True) if node in r.nodes]
        for resource, limit in zip(problem.platform.resources, vector, strict=True):
            rows = _counted(b, numbers, node, lambda j, r=resource: j.request.get(r, 0))  # type: ignore[misc]
            rows += [(v, _need(r, node, resource)) for v, r in here]
            b.add_cumulative(rows, limit, f"{resource} of {node}")

    def read(a: Assignment) -> Schedule:
        nodes = {
            j.id: {n: a.integer[x.index] for n, x in made.items() if a.integer[x.index]}
            for j, made in zip(problem.jobs, numbers, strict=True)
        }
        return Schedule(b.read_starts(a), nodes)

    def write(schedule: Schedule) -> Assignment:
        a = b.write_starts(schedule)
        for j, made in zip(problem.jobs, numbers, strict=True):
            for node, n in schedule.nodes.get(j.id, {}).items():
                if node in made:
                    a.integer[made[node].index] = n
        return a

    return Encoding(b.model, read, write)


def classes(problem: Dispatch) -> Encoding:
    """Units per job and class of equal nodes: a relaxation whose bound is true.

    Why: a schedule of the nodes, summed over a class, stays within the class's capacity; and of units that each need
    more than 1/k of a node's amount of the same resource, at most k - 1 run on a node at a time.
    """
    b = base(problem, "classes")
    platform = problem.platform
    members = {f"class {i + 1}": (vector, nodes) for i, (vector, nodes) in enumerate(platform.classes.items())}
    numbers = _count_variables(b, {name: (vector, len(nodes)) for name, (vector, nodes) in members.items()})
    for name, (vector, nodes) in members.items():
        inside = set(nodes)
        here = [
            (v, r.job, sum(n for node, n in r.nodes.items() if node in inside))
            for r, v in zip(problem.running, b.running, strict=True)
        ]
        for resource, limit in zip(platform.resources, vector, strict=True):
            rows = _counted(b, numbers, name, lambda j, r=resource: j.request.get(r, 0))  # type: ignore[misc]
            rows += [(v, n * job.request.get(resource, 0)) for v, job, n in here]
            b.add_cumulative(rows, len(nodes) * limit, f"{resource} of {name}")
        for resource, limit in zip(platform.resources, vector, strict=True):
            for k in SHARES:

                def large(job: Job, r: str = resource, above: float = limit / k) -> int:
                    return int(job.request.get(r, 0) > above)

                rows = _counted(b, numbers, name, large)
                rows += [(v, n * large(job)) for v, job, n in here]
                b.add_cumulative(rows, len(nodes) * (k - 1), f"units above 1/{k} of a node's {resource} in {name}")

    def write(schedule: Schedule) -> Assignment:
        a = b.write_starts(schedule)
        for j, made in zip(problem.jobs, numbers, strict=True):
            for name, (_, nodes) in members.items():
                if name in made:
                    placed = schedule.nodes.get(j.id, {})
                    a.integer[made[name].index] = sum(placed.get(node, 0) for node in nodes)
        return a

    return Encoding(b.model, lambda a: Schedule(b.read_starts(a)), write, relaxation=True)


def pool(problem: Dispatch) -> Encoding:
    """One ``cumulative`` per resource over the whole machine (Galleguillos 2.2): a relaxation whose bound is true."""
    b = base(problem, "pool")
    sizes = [j.units for j in problem.jobs] + [sum(r.nodes.values()) for r in problem.running]
    for resource in problem.platform.resources:
        demands = [n * q for n, q in zip(sizes, b.requests(resource), strict=True)]
        rows = list(zip((*b.jobs, *b.running), demands, strict=True))
        b.add_cumulative(rows, problem.platform.total(resource), resource)
    return Encoding(b.model, lambda a: Schedule(b.read_starts(a)), b.write_starts, relaxation=True)


FORMULATIONS: dict[str, Callable[[Dispatch], Encoding]] = {
    "counts": counts,
    "units": units,
    "classes": classes,
    "pool": pool,
}
