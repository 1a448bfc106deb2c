"""The fluid relaxation of profit: work of classes of jobs in cells of time; for bounds that no schedule exceeds.

A cell is a part of a segment, a class a set of jobs, and the variables say how much of a class's work (core-seconds) is
done by the end of each cell. Any schedule, summed up per class and cell, is a solution of the same profit or more:

- up to any time t a job has done no more than its cores times ``min(duration, t - release)``, in a cell no more than its
  cores times ``min(duration, what of the cell lies after its release)``;
- in a cell all jobs together take no more of a resource than the machine has, times the cell's length, and of units that
  each need more than 1/k of a node no more than k - 1 run per node;
- a class takes what those of its jobs take per core that take least: of resources, and of power where energy has a price
  (where that is negative, the most);
- the cooling power is that of the mean IT power of the segment, in which it is convex.

What is given up: jobs run without a break and on the same nodes, with all of their cores or none; a class's jobs lend
each other their power and their rate. Where there are few jobs, each is a class.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .. import language as sl
from ..dispatch.job_intervals import SHARES
from ..language import Assignment, Comparison, Linear
from ..language.expressions import Atom
from ..problem import Encoding, Schedule
from .segments import JOULES, Segment, points_to

if TYPE_CHECKING:
    from .problem import Profit

CELLS = 40  # at least one per segment; more of them change bounds by less than 1e-4
VARIABLES = 30_000  # classes times cells

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Fluid:
    """The data of the relaxation: ``jobs`` (indices of those that can earn), the times between cells, the class of each."""

    problem: Profit
    jobs: Ints
    times: Ints
    of: Ints

    @classmethod
    def made(cls, problem: Profit, cells: int = CELLS, variables: int = VARIABLES) -> Fluid:
        """Cells cut at the segments and at quantiles of the releases, and as many classes as the variables allow."""
        release = np.array([problem.dispatch.earliest(j) for j in problem.jobs], np.int64)
        jobs = np.flatnonzero((release < problem.horizon_end) & (problem.cores > 0) & (problem.durations > 0))
        times = _times(problem, release[jobs], cells)
        return cls(problem, jobs, times, _classes(problem, jobs, max(1, variables // (len(times) - 1))))

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return int(self.of.max(initial=-1)) + 1

    @cached_property
    def release(self) -> Ints:
        """The first moment of each job."""
        return np.array([self.problem.dispatch.earliest(self.problem.jobs[k]) for k in self.jobs], np.int64)

    @cached_property
    def requests(self) -> Ints:
        """What a unit of each job asks of each resource."""
        resources = self.problem.platform.resources
        listed = [[self.problem.jobs[k].request.get(r, 0) for r in resources] for k in self.jobs]
        return np.array(listed, np.int64).reshape(len(self.jobs), len(resources))

    @cached_property
    def units(self) -> Ints:
        """The units of each job."""
        return np.array([self.problem.jobs[k].units for k in self.jobs], np.int64)

    def least(self, amounts: Floats) -> Floats:
        """Of something per core: the least of each class."""
        found = np.full(self.classes, np.inf)
        np.minimum.at(found, self.of, amounts)
        return found

    def work(self, ran: Ints) -> Ints:
        """Core-seconds by class, of seconds by job."""
        found = np.zeros(self.classes, np.int64)
        np.add.at(found, self.of, ran * self.problem.cores[self.jobs])
        return found

    @cached_property
    def by_end(self) -> Ints:
        """The most work by class (row) that can be done by the end of each cell (column)."""
        most = [np.clip(t - self.release, 0, self.problem.durations[self.jobs]) for t in self.times[1:]]
        return np.column_stack([self.work(m) for m in most])

    @cached_property
    def inside(self) -> Ints:
        """The most work by class (row) that can be done in each cell (column)."""
        lasts = self.problem.durations[self.jobs]
        pairs = zip(self.times[:-1], self.times[1:], strict=True)
        most = [np.minimum(lasts, np.clip(b - np.maximum(a, self.release), 0, None)) for a, b in pairs]
        return np.column_stack([self.work(m) for m in most])


def fluid(problem: Profit) -> Encoding:
    """The relaxation in the language; ``highs:fluid@lp`` solves it as a linear programme.

    Its starts order the jobs by the mean time of their work; jobs without any come last.
    """
    return encoding(Fluid.made(problem))


def encoding(data: Fluid) -> Encoding:
    """The model of these cells and classes."""
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
    """What each class has done by the end of each cell; None before its first release."""
    times = data.times[1:].tolist()
    return [
        [model.integer(f"class {k + 1} by {t}", 0, m) if m else None for m, t in zip(row, times, strict=True)]
        for k, row in enumerate(data.by_end.tolist())
    ]


def _within(row: Sequence[sl.Integer | None], a: int, b: int) -> Linear:
    """What is done in the cells a to b - 1."""
    now, before = row[b - 1], row[a - 1] if a else None
    terms: dict[Atom, int | float] = {} if now is None else {now: 1}
    if before is not None:
        terms[before] = -1
    return Linear(terms)


def _capacities(model: sl.Model, data: Fluid, work: Sequence[Sequence[Linear]]) -> None:
    """The rows of resources and of large units, cell by cell."""
    platform, cores = data.problem.platform, data.problem.cores[data.jobs]
    length = np.diff(data.times).tolist()

    def add(per_core: Floats, capacity: int, what: str) -> None:
        share = data.least(per_core)
        reach = share @ data.inside if data.classes else np.zeros(len(length))
        some = np.flatnonzero(share).tolist()
        for c, seconds in enumerate(length):
            if reach[c] > capacity * seconds:
                total = sl.sum([work[k][c] for k in some], weights=(share[some] / capacity).tolist())
                model.add(total <= seconds, f"{what} in cell {c + 1}")

    for k, resource in enumerate(platform.resources):
        asked = data.requests[:, k]
        add(asked * data.units / cores, platform.total(resource), resource)
        most = max(vector[k] for vector in platform.classes)
        for s in SHARES:
            nodes = len(platform.nodes) * (s - 1)
            add(np.where(asked * s > most, data.units / cores, 0.0), nodes, f"units above 1/{s} of a node's {resource}")


def _objective(model: sl.Model, data: Fluid, done: Done) -> None:
    """Gain of all work, less what the energy of each segment costs, with its cooling."""
    problem = data.problem
    per_core = problem.watts[data.jobs] / problem.cores[data.jobs]
    least, most = data.least(per_core), -data.least(-per_core)
    last = [row[-1] for row in done if row and row[-1] is not None]
    terms: list[sl.Expression | float] = [*last]
    weights: list[float] = [problem.price / 3600] * len(last)
    for segment in problem.segments:
        watts = (least if segment.energy_price >= 0 else most) / (segment.end - segment.begin)
        a, b = np.searchsorted(data.times, [segment.begin, segment.end]).tolist()
        parts = [_within(row, a, b) for row in done]
        mean = sl.sum(parts, weights=watts.tolist())
        terms.append(sl.piecewise(mean, _cost(problem, segment)))
        weights.append(-1.0)
    model.maximize(sl.sum(terms, weights=weights))


def _cost(problem: Profit, segment: Segment) -> list[tuple[float, float]]:
    """What work and cooling of a segment cost in euro, over the mean IT power; for rounded-up power it goes on."""
    points = points_to(problem, segment)
    (x0, y0), (x1, y1) = points[-2], points[-1]
    if segment.energy_price < 0:
        points[-1] = (2 * x1, y1 + (y1 - y0) / (x1 - x0) * x1)
    euro = segment.energy_price * (segment.end - segment.begin) / JOULES
    return [(x, euro * (x + y)) for x, y in points]


def _times(problem: Profit, release: Ints, cells: int) -> Ints:
    """The edges of segments, and between them quantiles of the releases and even cuts, as many as ``cells`` leaves."""
    edges = np.array([problem.begin, *(s.end for s in problem.segments)], np.int64)
    more = max(0, cells - (len(edges) - 1))
    inside = release[(release > problem.begin) & (release < problem.horizon_end)]
    cuts = [edges]
    if more and inside.size:
        cuts.append(np.quantile(inside, np.arange(1, more + 1) / (more + 1), method="lower").astype(np.int64))
    return np.unique(np.concatenate(cuts))


def _classes(problem: Profit, jobs: Ints, most: int) -> Ints:
    """A class for each job; if that is too many, classes of jobs with similar requests, similar in power per core."""
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
    """Of each resource: how large a job's units are, and what its share is of the machine's, beside that of the cores."""
    platform, job = problem.platform, problem.jobs[k]
    found = []
    for r, resource in enumerate(platform.resources):
        asked = job.request.get(resource, 0)
        if asked:
            largest = max(vector[r] for vector in platform.classes)
            beside = asked * job.units / platform.total(resource) * platform.total("cores") / problem.cores[k]
            found += [1 + min(max(SHARES), largest // asked), math.ceil(2 * math.log2(beside))]
        else:
            found += [0, 0]
    return tuple(found)


def _starts(data: Fluid, done: Ints) -> dict[str, int]:
    """A start for each job: its class's work goes to its jobs one after another, in the order of their releases."""
    problem = data.problem
    middle = (data.times[:-1] + data.times[1:]) / 2
    found = {j.id: max(problem.horizon_end, problem.dispatch.earliest(j)) for j in problem.jobs}
    for k in range(data.classes):
        members = np.flatnonzero(data.of == k)
        members = members[np.argsort(data.release[members], kind="stable")]
        amount = (problem.cores * problem.durations)[data.jobs[members]]
        until = np.cumsum(amount)
        parts = np.diff(done[k], prepend=0)
        reached = np.concatenate([[0], np.cumsum(parts)])
        moment = np.concatenate([[0.0], np.cumsum(parts * middle)])
        lo, hi = np.minimum(until - amount, reached[-1]), np.minimum(until, reached[-1])
        got = hi - lo
        mean = np.diff([np.interp(x, reached, moment) for x in (lo, hi)], axis=0)[0] / np.maximum(1, got)
        start = np.maximum(data.release[members], mean - problem.durations[data.jobs[members]] / 2)
        for i, s, worked in zip(members.tolist(), start.tolist(), got.tolist(), strict=True):
            if worked:
                found[problem.jobs[data.jobs[i]].id] = int(s)
    return found
