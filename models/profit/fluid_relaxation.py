"""The fluid relaxation of the profit problem: work of classes of jobs in cells of time. Its bound is valid.

Sets: cells i = 1..I, parts [t[i-1], t[i]) of segments; segments s, each a set of cells; classes k of jobs. If there are
few jobs, each one is a class.

Data: for job j its release ``a[j]``, duration ``d[j]``, cores ``c[j]`` over all units, units ``U[j]``, power ``p[j]``
in watts. For class k, as sums over its jobs::

    B[k,i] = sum_j c[j] * min(d[j], max(0, t[i] - a[j]))                        work possible by the end of cell i
    A[k,i] = sum_j c[j] * min(d[j], max(0, t[i] - max(t[i-1], a[j])))           work possible inside of cell i

Variables: integers ``W[k,i] in 0..B[k,i]``, the core-seconds of class k that are done by the end of cell i, with
``W[k,0] = 0``. Below, ``w[k,i] = W[k,i] - W[k,i-1]``.

Constraints::

    0 <= w[k,i] <= A[k,i]                                                for each class k, cell i
    sum_k e[k,r] * w[k,i] <= C[r] * (t[i] - t[i-1])                      for each resource r, cell i
    sum_k g[k,r,h] * w[k,i] <= N * (h-1) * (t[i] - t[i-1])               for each r, cell i and h in 2, 3, 4

``C[r]`` is the capacity of the machine, N its number of nodes; what running jobs take in a cell is subtracted on the right
sides. ``e[k,r]`` is the least amount of resource r per core of
the jobs of class k, ``g[k,r,h]`` the least number of units per core of those whose units need more than 1/h of the
largest node's amount (0 if a job of the class has smaller units).

Objective (maximized): with K1 in euro per core-hour, the energy price K2[s] in euro per kWh, the length L[s] in seconds
and the convex cooling curve f[s] in watts::

    K1 / 3600 * sum_k W[k,I] - sum_s K2[s] * L[s] / 3.6e6 * (P[s] + f[s](P[s]))
    P[s] = sum_k q[k] * (work of class k in segment s) / L[s]                   mean IT power in watts

plus the gain and the power of the running jobs, which are constants.

``q[k]`` is the least power per core of the jobs of class k; the greatest if K2[s] < 0.

The sums of any schedule are a solution with the same profit or more. The relaxation ignores that a job runs without
interruption, on fixed nodes and with all of its cores at once, and the jobs of a class share power and rate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from .. import language as sl
from ..dispatch.job_arrays import Floats, Ints, JobArrays
from ..dispatch.job_intervals import SHARES, Need, above, request_of
from ..language import Assignment, Comparison, Linear
from ..language.expressions import Atom
from ..problem import Encoding, Schedule
from .segments import JOULES, Segment, points_to

if TYPE_CHECKING:
    from .problem import Profit

CELLS = 40  # at least one per segment; more cells change bounds by less than 1e-4
VARIABLES = 30_000  # classes times cells


@dataclass(frozen=True, eq=False)
class Fluid:
    """The data of the relaxation.

    Parameters
    ----------
    problem : Profit
        The problem.
    jobs : array of int
        Indices of the jobs that can earn something.
    times : array of int, shape (cells + 1,)
        The times between the cells, in seconds.
    of : array of int, shape (jobs,)
        The class of each of ``jobs``.
    """

    problem: Profit
    jobs: Ints
    times: Ints
    of: Ints

    @classmethod
    def made(cls, problem: Profit, cells: int = CELLS, variables: int = VARIABLES) -> Fluid:
        """Return the relaxation with cells cut at segments and quantiles of releases, and as many classes as allowed.

        Parameters
        ----------
        problem : Profit
            The problem.
        cells : int
            The number of cells; at least one per segment is made.
        variables : int
            The greatest number of classes times cells.
        """
        release = problem.dispatch.job_arrays.release
        jobs = np.flatnonzero((release < problem.horizon_end) & (problem.cores > 0) & (problem.durations > 0))
        times = _times(problem, release[jobs], cells)
        return cls(problem, jobs, times, _classes(problem, jobs, max(1, variables // (len(times) - 1))))

    @property
    def classes(self) -> int:
        """The number of classes."""
        return int(self.of.max(initial=-1)) + 1

    @cached_property
    def arrays(self) -> JobArrays:
        """The jobs of the relaxation as arrays."""
        return self.problem.dispatch.job_arrays.some(self.jobs)

    def least(self, amounts: Floats) -> Floats:
        """Return the minimum over the jobs of each class."""
        found = np.full(self.classes, np.inf)
        np.minimum.at(found, self.of, amounts)
        return found

    def work(self, ran: Ints) -> Ints:
        """Return the core-seconds of each class, from the seconds of each job."""
        found = np.zeros(self.classes, np.int64)
        np.add.at(found, self.of, ran * self.problem.cores[self.jobs])
        return found

    @cached_property
    def by_end(self) -> Ints:
        """The greatest work in core-seconds by the end of each cell, an array (classes x cells)."""
        most = [np.clip(t - self.arrays.release, 0, self.problem.durations[self.jobs]) for t in self.times[1:]]
        return np.column_stack([self.work(m) for m in most])

    @cached_property
    def inside(self) -> Ints:
        """The greatest work in core-seconds inside of each cell, an array (classes x cells)."""
        lasts = self.problem.durations[self.jobs]
        pairs = zip(self.times[:-1], self.times[1:], strict=True)
        most = [np.minimum(lasts, np.clip(b - np.maximum(a, self.arrays.release), 0, None)) for a, b in pairs]
        return np.column_stack([self.work(m) for m in most])


def fluid(problem: Profit) -> Encoding:
    """Make the relaxation; ``highs:fluid@lp`` solves it as a linear programme.

    The starts that it reads order the jobs by the mean time of their work; jobs without work come last.
    """
    return encoding(Fluid.made(problem))


def encoding(data: Fluid) -> Encoding:
    """Make the model for these cells and classes."""
    problem, cells = data.problem, len(data.times) - 1
    model = sl.Model(f"fluid of {len(data.jobs)} jobs in {data.classes} classes and {cells} cells")
    done = _variables(model, data)
    work = [[_within(row, c, c + 1) for c in range(cells)] for row in done]
    for k, row in enumerate(work):
        for c, w in enumerate(row):
            if w.terms:
                most = int(data.inside[k, c])
                model.add(Comparison(w, 0, most), f"class {k + 1} in cell {c + 1}")
    _capacities(model, data, work)
    _objective(model, data, done)

    def read(a: Assignment) -> Schedule:
        value = np.array([[0 if x is None else a.integer[x.index] for x in row] for row in done], np.int64)
        return Schedule(_starts(data, value.reshape(data.classes, cells)))

    def write(schedule: Schedule) -> Assignment:
        a = Assignment(model)
        starts = np.array([schedule.start[problem.jobs[k].id] for k in data.jobs], np.int64)
        for c, t in enumerate(data.times[1:].tolist()):
            amounts = data.work(np.clip(t - starts, 0, problem.durations[data.jobs])).tolist()
            for row, amount in zip(done, amounts, strict=True):
                if (x := row[c]) is not None:
                    a.integer[x.index] = amount
        return a

    return Encoding(model, read, write, relaxation=True)


Done = list[list[sl.Integer | None]]


def _variables(model: sl.Model, data: Fluid) -> Done:
    """Declare the work of each class by the end of each cell; None before the first release of the class."""
    times = data.times[1:].tolist()
    return [
        [model.integer(f"class {k + 1} by {t}", 0, m) if m else None for m, t in zip(row, times, strict=True)]
        for k, row in enumerate(data.by_end.tolist())
    ]


def _within(row: Sequence[sl.Integer | None], a: int, b: int) -> Linear:
    """Return the work in the cells a to b - 1."""
    now, before = row[b - 1], row[a - 1] if a else None
    terms: dict[Atom, int | float] = {} if now is None else {now: 1}
    if before is not None:
        terms[before] = -1
    return Linear(terms)


def _capacities(model: sl.Model, data: Fluid, work: Sequence[Sequence[Linear]]) -> None:
    """Add the constraints on resources and on large units for each cell."""
    platform, cores = data.problem.platform, data.problem.cores[data.jobs]
    length = np.diff(data.times).tolist()

    running = [(r.end, r.job) for r in data.problem.dispatch.running]
    ran = [np.diff(np.clip(data.times, None, end)) for end, _ in running]  # seconds in each cell

    def add(per_core: Floats, need: Need, capacity: int, what: str) -> None:
        share = data.least(per_core)
        reach = share @ data.inside if data.classes else np.zeros(len(length))
        some = np.flatnonzero(share).tolist()
        taken = sum((s * j.units * need(j) for s, (_, j) in zip(ran, running, strict=True)), np.zeros(len(length)))
        for c, seconds in enumerate(length):
            if reach[c] > capacity * seconds - taken[c]:
                total = sl.sum([work[k][c] for k in some], weights=(share[some] / capacity).tolist())
                model.add(total <= seconds - taken[c] / capacity, f"{what} in cell {c + 1}")

    for k, resource in enumerate(platform.resources):
        request = data.arrays.request[:, k]
        add(request * data.arrays.units / cores, request_of(resource), platform.total(resource), resource)
        most = max(vector[k] for vector in platform.classes)
        for s in SHARES:
            nodes = len(platform.nodes) * (s - 1)
            add(
                np.where(request * s > most, data.arrays.units / cores, 0.0),
                above(resource, most / s),
                nodes,
                f"units above 1/{s} of a node's {resource}",
            )


def _objective(model: sl.Model, data: Fluid, done: Done) -> None:
    """Set the objective: the gain of all work, less the cost of energy and cooling in each segment."""
    problem = data.problem
    per_core = problem.watts[data.jobs] / problem.cores[data.jobs]
    least, most = data.least(per_core), -data.least(-per_core)
    last = [row[-1] for row in done if row and row[-1] is not None]
    price, running = problem.price / 3600, problem.running
    terms: list[sl.Expression | float] = [*last, running.by(problem.horizon_end)[0]]
    weights: list[float] = [price] * len(terms)
    for segment, before in zip(problem.segments, running.mean_watts, strict=True):
        watts = (least if segment.energy_price >= 0 else most) / (segment.end - segment.begin)
        a, b = np.searchsorted(data.times, [segment.begin, segment.end]).tolist()
        parts = [_within(row, a, b) for row in done]
        mean = sl.sum([*parts, before], weights=[*watts.tolist(), 1.0])
        terms.append(sl.piecewise(mean, _cost(problem, segment)))
        weights.append(-1.0)
    model.maximize(sl.sum(terms, weights=weights))


def _cost(problem: Profit, segment: Segment) -> list[tuple[float, float]]:
    """Return points (mean IT power in watts, cost of work and cooling in euro) of a segment.

    For a negative price the last piece continues: the greatest power per core of a class may exceed the last point.
    """
    points = points_to(problem, segment)
    (x0, y0), (x1, y1) = points[-2], points[-1]
    if segment.energy_price < 0:
        points[-1] = (2 * x1, y1 + (y1 - y0) / (x1 - x0) * x1)
    euro = segment.energy_price * (segment.end - segment.begin) / JOULES
    return [(x, euro * (x + y)) for x, y in points]


def _times(problem: Profit, release: Ints, cells: int) -> Ints:
    """Return the edges of the segments, and quantiles of the releases as long as ``cells`` allows more cells."""
    edges = np.array([problem.begin, *(s.end for s in problem.segments)], np.int64)
    more = max(0, cells - (len(edges) - 1))
    inside = release[(release > problem.begin) & (release < problem.horizon_end)]
    cuts = [edges]
    if more and inside.size:
        cuts.append(np.quantile(inside, np.arange(1, more + 1) / (more + 1), method="lower").astype(np.int64))
    return np.unique(np.concatenate(cuts))


def _classes(problem: Profit, jobs: Ints, most: int) -> Ints:
    """Return the class of each job: one per job or, if these are too many, of similar requests and power per core."""
    if len(jobs) <= most:
        return np.arange(len(jobs))
    kinds: dict[tuple[int, ...], list[int]] = {}
    for i, k in enumerate(jobs.tolist()):
        kinds.setdefault(_kind(problem, k), []).append(i)
    per_core = problem.watts[jobs] / problem.cores[jobs]
    found = np.zeros(len(jobs), np.int64)
    first = 0
    for members in kinds.values():
        n = len(members)
        parts = min(n, max(1, (most - len(kinds)) * n // len(jobs)))
        found[np.array(members)[np.argsort(per_core[members], kind="stable")]] = first + np.arange(n) * parts // n
        first += parts
    return found


def _kind(problem: Profit, k: int) -> tuple[int, ...]:
    """Return for each resource the size class of a job's units, and on a log scale its demand relative to cores."""
    platform, job = problem.platform, problem.jobs[k]
    found = []
    for r, resource in enumerate(platform.resources):
        request = job.request.get(resource, 0)
        if request:
            largest = max(vector[r] for vector in platform.classes)
            beside = request * job.units / platform.total(resource) * platform.total("cores") / problem.cores[k]
            found += [1 + min(max(SHARES), largest // request), math.ceil(2 * math.log2(beside))]
        else:
            found += [0, 0]
    return tuple(found)


def _starts(data: Fluid, done: Ints) -> dict[str, int]:
    """Return a start for each job: the work of a class goes to its jobs one after another, in order of release."""
    problem = data.problem
    middle = (data.times[:-1] + data.times[1:]) / 2
    found = {j.id: max(problem.horizon_end, problem.dispatch.earliest(j)) for j in problem.jobs}
    for k in range(data.classes):
        members = np.flatnonzero(data.of == k)
        members = members[np.argsort(data.arrays.release[members], kind="stable")]
        amount = (problem.cores * problem.durations)[data.jobs[members]]
        work_end = np.cumsum(amount)
        parts = np.diff(done[k], prepend=0)
        reached = np.concatenate([[0], np.cumsum(parts)])
        moment = np.concatenate([[0.0], np.cumsum(parts * middle)])
        lo, hi = np.minimum(work_end - amount, reached[-1]), np.minimum(work_end, reached[-1])
        got = hi - lo
        mean = np.diff([np.interp(x, reached, moment) for x in (lo, hi)], axis=0)[0] / np.maximum(1, got)
        start = np.maximum(data.arrays.release[members], mean - problem.durations[data.jobs[members]] / 2)
        for i, s, worked in zip(members.tolist(), start.tolist(), got.tolist(), strict=True):
            if worked:
                found[problem.jobs[data.jobs[i]].id] = int(s)
    return found
