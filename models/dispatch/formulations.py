"""Four formulations of a dispatching problem: ``units``, ``counts``, ``classes`` and ``pool``.

All use the intervals ``v[j]`` of ``job_intervals``, one per job j. Data: nodes n with capacity ``C[n,r]`` of each
resource r; job j has ``U[j]`` units, each with a request ``q[j,r]``; at most ``m[j,n]`` <= ``U[j]`` of them fit an
empty node n. Running jobs are further demands of the cumulatives, with the intervals ``r[e]``. For a heterogeneous job,
j stands for each of its chunks below; all of them have the same ``v[j]``.

``units`` (exact; [Bridi2018, 4.3 and 6.2])::

    o[j,n,k]       optional interval for k = 1..m[j,n], with the size and the windows of v[j]
    alternative(v[j], {o[j,n,k] for all n, k}, count = U[j])              for each job j
    cumulative(o[j,n,k], demand q[j,r]) <= C[n,r]                         for each node n, resource r

``counts`` (exact)::

    u[j,n]         integer in 0..m[j,n]
    sum_n u[j,n] = U[j]                                                   for each job j
    cumulative(v[j], demand q[j,r] * u[j,n]) <= C[n,r]                    for each node n, resource r

``classes`` (a relaxation): nodes of equal capacity form a class c of ``N[c]`` nodes, each with capacity ``C[c,r]``::

    u[j,c]         integer in 0..min(U[j], N[c] * m[j,c])
    sum_c u[j,c] = U[j]                                                   for each job j
    cumulative(v[j], demand q[j,r] * u[j,c]) <= N[c] * C[c,r]             for each class c, resource r
    cumulative(v[j], demand u[j,c], for j with q[j,r] > C[c,r] / k)
        <= N[c] * (k - 1)                                                 for each c, r and k in 2, 3, 4

``pool`` (a coarser relaxation; HCP in [Galleguillos2019, 2.2])::

    cumulative(v[j], demand U[j] * q[j,r]) <= sum_n C[n,r]                for each resource r

If v[j] is optional, ``U[j]`` is multiplied by its presence.

With a hard desired profile, ``C[n,r]`` is a step function of time, and the sums over nodes are those of the steps; a soft one
is a part of the objective (``desired``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from .. import language as sl
from ..language import Assignment, Integer, Interval
from ..problem import Encoding, Schedule
from .desired.levels import Capacity
from .job_arrays import request_rows
from .job_intervals import (
    SHARES,
    DemandRow,
    JobModel,
    Need,
    SetObjective,
    above,
    job_model,
    least,
    request_of,
    returned,
)
from .jobs import Job

if TYPE_CHECKING:
    from .problem import Dispatch

Vector = tuple[int, ...]
Request = tuple[int, ...]
"""What one unit of a job needs of each resource."""
Needed = TypeVar("Needed")


def _requests(b: JobModel) -> list[Request]:
    """Return the request of each part of each job."""
    return request_rows([j for j, _ in b.parts], b.problem.platform.resources)


def _most(problem: Dispatch, job: Job) -> dict[Vector, int]:
    """Return for each capacity vector the number of the job's units that fit an empty node."""
    platform = problem.platform
    request = [job.request.get(r, 0) for r in platform.resources]
    return {vector: min(job.units, platform.units_on(vector, request)) for vector in platform.classes}


def units(problem: Dispatch, set_objective: SetObjective | None = None, before: int | None = None) -> Encoding:
    """Make the formulation with an optional interval per job, node and unit."""
    b = job_model(problem, "units", set_objective, before)
    capacity = problem.platform.capacity
    rows: dict[str, list[tuple[Request, Interval]]] = {n: [] for n in capacity}
    options: list[list[tuple[str, Interval]]] = []
    parts = b.parts
    for (j, v), request in zip(parts, _requests(b), strict=True):
        most = _most(problem, j)
        made: list[tuple[str, Interval]] = []
        for node, vector in capacity.items():
            for k in range(most[vector]):
                o = b.model.interval(f"{j.id}.{k + 1} on {node}", v.size_lo, v.windows, optional=True)
                made.append((node, o))
                rows[node].append((request, o))
        b.model.add(sl.alternative(v, [o for _, o in made], count=j.units), f"units of {j.id}")
        options.append(made)
    back = b.returned_on_nodes()
    for node, vector in capacity.items():
        for r, (resource, limit) in enumerate(zip(problem.platform.resources, vector, strict=True)):
            demands = [DemandRow(o, request[r]) for request, o in rows[node] if request[r]]
            b.add_cumulative(demands, b.capacity((node,), resource, limit), f"{resource} of {node}", back[node][r])

    def read(a: Assignment) -> Schedule:
        nodes: dict[str, dict[str, int]] = {}
        for (j, _), made in zip(parts, options, strict=True):
            on_nodes = nodes.setdefault(j.id, {})
            for node, o in made:
                if a.present[o.index]:
                    on_nodes[node] = on_nodes.get(node, 0) + 1
        return Schedule(b.read_starts(a), nodes)

    def write(schedule: Schedule) -> Assignment:
        a = b.write_starts(schedule)
        for (j, v), made in zip(parts, options, strict=True):
            left = dict(schedule.nodes.get(j.id, {})) if a.present[v.index] else {}
            for node, o in made:
                if left.get(node, 0) > 0:
                    left[node] -= 1
                    a.set(o, a.start[v.index], a.end[v.index])
        return a

    return Encoding(b.model, read, write)


Places = dict[str, Integer]


def _count_variables(b: JobModel, places: Mapping[str, tuple[Vector, int]]) -> list[Places]:
    """Declare for each part of a job the number of its units on each place, which add up to its units.

    ``places``: name -> (capacity vector of a node, number of nodes). A place is a node or a class.
    """
    found = []
    for j, v in b.parts:
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


def _counted(
    b: JobModel, counts: list[Places], needed: Sequence[Needed]
) -> dict[str, list[tuple[Needed, Interval, Integer]]]:
    """Return for each place what the parts that may run there need, with their intervals and numbers of units there."""
    found: dict[str, list[tuple[Needed, Interval, Integer]]] = {}
    for needs, (_, v), made in zip(needed, b.parts, counts, strict=True):
        for place, x in made.items():
            found.setdefault(place, []).append((needs, v, x))
    return found


def _rows(here: Iterable[tuple[Job, Interval, Integer]], need: Need) -> list[DemandRow]:
    return [DemandRow(v, amount, x) for j, v, x in here if (amount := need(j))]


def counts(problem: Dispatch, set_objective: SetObjective | None = None, before: int | None = None) -> Encoding:
    """Make the formulation with an integer number of units per job and node."""
    b = job_model(problem, "counts", set_objective, before)
    capacity = problem.platform.capacity
    numbers = _count_variables(b, {n: (vector, 1) for n, vector in capacity.items()})
    back = b.returned_on_nodes()
    for node, here in _counted(b, numbers, _requests(b)).items():
        for r, (resource, limit) in enumerate(zip(problem.platform.resources, capacity[node], strict=True)):
            rows = [DemandRow(v, request[r], x) for request, v, x in here if request[r]]
            b.add_cumulative(rows, b.capacity((node,), resource, limit), f"{resource} of {node}", back[node][r])

    def read(a: Assignment) -> Schedule:
        nodes = {
            j.id: {n: a.integer[x.index] for n, x in made.items() if a.integer[x.index]}
            for (j, v), made in zip(b.parts, numbers, strict=True)
            if a.present[v.index]
        }
        return Schedule(b.read_starts(a), nodes)

    def write(schedule: Schedule) -> Assignment:
        a = b.write_starts(schedule)
        for (j, v), made in zip(b.parts, numbers, strict=True):
            for node, n in schedule.nodes.get(j.id, {}).items():
                if node in made and a.present[v.index]:
                    a.integer[made[node].index] = n
        return a

    return Encoding(b.model, read, write)


def classes(problem: Dispatch, set_objective: SetObjective | None = None, before: int | None = None) -> Encoding:
    """Make the relaxation with an integer number of units per job and class of equal nodes.

    Its bound is valid: the units of a class never exceed the sum of the capacities of its nodes, and of units that need
    more than 1/k of a node's amount of one resource, at most k - 1 run on a node at the same time.
    """
    b = job_model(problem, "classes", set_objective, before)
    platform = problem.platform
    members = {f"class {i + 1}": (vector, nodes) for i, (vector, nodes) in enumerate(platform.classes.items())}
    numbers = _count_variables(b, {name: (vector, len(nodes)) for name, (vector, nodes) in members.items()})
    running = b.running({node: name for name, (_, nodes) in members.items() for node in nodes})
    for name, here in _counted(b, numbers, [j for j, _ in b.parts]).items():
        vector, nodes = members[name]

        def add(need: Need, limit: int | Capacity, what: str) -> None:
            b.add_cumulative(_rows(here, need), limit, what, returned(running[name], need))  # noqa: B023

        for resource, limit in zip(platform.resources, vector, strict=True):
            add(request_of(resource), b.capacity(nodes, resource, len(nodes) * limit), f"{resource} of {name}")
        for resource, limit in zip(platform.resources, vector, strict=True):
            for k in SHARES:
                large = above(resource, limit / k)
                add(large, len(nodes) * (k - 1), f"units above 1/{k} of a node's {resource} in {name}")

    def write(schedule: Schedule) -> Assignment:
        a = b.write_starts(schedule)
        for (j, v), made in zip(b.parts, numbers, strict=True):
            for name, (_, nodes) in members.items():
                if name in made and a.present[v.index]:
                    on_nodes = schedule.nodes.get(j.id, {})
                    a.integer[made[name].index] = sum(on_nodes.get(node, 0) for node in nodes)
        return a

    return Encoding(b.model, lambda a: Schedule(b.read_starts(a)), write, relaxation=True)


def pool(problem: Dispatch, set_objective: SetObjective | None = None, before: int | None = None) -> Encoding:
    """Make the relaxation with one cumulative per resource over the whole platform."""
    b = job_model(problem, "pool", set_objective, before)
    platform, ends = problem.platform, problem.returns.end.tolist()
    use = zip(problem.job_arrays.amounts.T.tolist(), problem.returns.amount.T.tolist(), strict=True)
    for resource, (amounts, returns) in zip(platform.resources, use, strict=True):
        capacity = b.capacity(platform.nodes, resource, platform.total(resource))
        if sum(amounts) + sum(returns) <= least(capacity):
            continue
        rows = [DemandRow(v, amount) for v, amount in zip(b.jobs, amounts, strict=True) if amount]
        held = {end: amount for end, amount in zip(ends, returns, strict=True) if amount}
        b.add_cumulative(rows, capacity, resource, held)
    return Encoding(b.model, lambda a: Schedule(b.read_starts(a)), b.write_starts, relaxation=True)


FORMULATIONS: dict[str, Callable[..., Encoding]] = {
    "counts": counts,
    "units": units,
    "classes": classes,
    "pool": pool,
}
