"""Formulations of the profit problem: those of the dispatching problem with another objective, and the fluid relaxation [Bridi2018, 6.5.3]."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .. import language as sl
from ..array_types import Floats, Ints
from ..comparing import hashable
from ..dispatch.arrays import JobArrays, NodeArrays, column, offsets
from ..dispatch.formulations import FORMULATIONS as OF_DISPATCH
from ..dispatch.formulations import SHARES, DemandRow, JobModel, Need, SetObjective, above, request_of, startable_later
from ..dispatch.jobs import Job
from ..dispatch.problem import Dispatch
from ..language import Assignment, Comparison, Linear
from ..language.expressions import Atom
from ..problem import Encoding, Schedule
from ..words import how_many
from .problem import JOULES, Segment, along, points_to

if TYPE_CHECKING:
    from .problem import Profit


# --- Starts and nodes of the jobs that a model or a search of the profit problem leaves out.
#
# They start once profit no longer counts: from ``horizon_end`` on, but after the end of all jobs that must start after
# ``horizon_end`` (a job with a deadline, windows or a calendar cannot be left out). Running jobs keep their nodes until
# their ends. From then on, at each end and each release of a job:
#
# 1. Go through the released jobs by earliest start, then submit time, then in the problem's order.
# 2. Start each job whose units all fit now, and skip the others.
# 3. Best fit: units go to the nodes with the least sum over resources of free amount / capacity, ties by the order of the
#    nodes; as many units on a node as fit.
#
# This is the rule ``est`` of the heuristics (``rule:est``) [Bridi2018, 6.3], without calendars.

PLAIN = 3_000  # jobs x nodes x resources up to which numba is not loaded for the loop
LAST = 2**62  # a time after all events


class Rows(NamedTuple):
    """Jobs as arrays: first those that hold nodes at the beginning, then those to start, in order of priority.

    Parameters
    ----------
    release : array of int, shape (jobs,)
        First time at which a job may start, in seconds; increasing.
    duration, units : array of int, shape (jobs,)
        Duration in seconds; for a job that holds nodes, the time until its end. Number of units.
    request : array of int, shape (jobs, resources)
        The request of one unit.
    kind : array of int, shape (jobs,)
        The number of the job's distinct request.
    slot : array of int, shape (jobs + 1,)
        The nodes of job j are in the slots ``slot[j]`` to ``slot[j] + pieces[j] - 1``.
    pieces : array of int, shape (jobs,)
        Number of nodes of the job; set when it starts.
    node, share : array of int, shape (slots,)
        Node and number of units on it.
    """

    release: Ints
    duration: Ints
    units: Ints
    request: Ints
    kind: Ints
    slot: Ints
    pieces: Ints
    node: Ints
    share: Ints


def with_rest(problem: Profit, schedule: Schedule, *, with_nodes: bool = True) -> Schedule:
    """Return the schedule with a start for every job: jobs without a start follow once profit no longer counts.

    Parameters
    ----------
    problem : Profit
        The problem.
    schedule : Schedule
        A schedule of some jobs.
    with_nodes : bool, default True
        Whether the schedule has nodes. If not (the starts of a relaxation), the other jobs start at ``horizon_end`` or
        at their release.

    Returns
    -------
    Schedule
        A schedule of all jobs.
    """
    arrays = problem.dispatch.job_arrays
    known = np.array([j.id in schedule.start for j in problem.jobs], np.bool_)
    if known.all():
        return schedule
    rest = np.flatnonzero(~known)
    if not with_nodes:
        late = np.maximum(problem.horizon_end, arrays.release[rest])
        return Schedule({**schedule.start, **_by_id(problem, rest, late)}, {})
    start = column((schedule.start[j.id] for j, is_known in zip(problem.jobs, known, strict=True) if is_known))
    some = np.flatnonzero(known)
    end = start + arrays.duration[some]
    now = int(end[start >= problem.horizon_end].max(initial=problem.horizon_end))
    held = [
        *(_Held(problem.jobs[j], schedule.nodes[problem.jobs[j].id], e - now) for j, e in _pairs(some, end) if e > now),
        *(_Held(r.job, r.nodes, r.end - now) for r in problem.dispatch.running if r.end > now),
    ]
    rest = rest[np.lexsort((arrays.submit[rest], np.maximum(now, arrays.release[rest])))]
    rows = _rows(problem, held, rest, now)
    capacity = NodeArrays(problem.platform).capacity
    plain = rest.size * capacity.size <= PLAIN and not _is_loaded()
    begun = (_start_as_they_fit if plain else _compiled())(rows, len(held), now, capacity)
    return Schedule(
        {**schedule.start, **_by_id(problem, rest, begun[len(held) :])},
        {**schedule.nodes, **_named(rows, [problem.jobs[k].id for k in rest.tolist()], problem.platform.nodes)},
    )


def warm_up() -> None:
    """Compile the loop, or load it from numba's cache."""
    one = np.ones(1, np.int64)
    rows = Rows(one, one, one, np.ones((1, 1), np.int64), one - 1, np.array([0, 1]), one - 1, one - 1, one - 1)
    _compiled()(rows, 0, 0, np.ones((1, 1), np.int64))


def _by_id(problem: Profit, jobs: Ints, start: Ints) -> dict[str, int]:
    return {problem.jobs[k].id: at for k, at in _pairs(jobs, start)}


def _pairs(some: Ints, others: Ints) -> Iterator[tuple[int, int]]:
    return zip(some.tolist(), others.tolist(), strict=True)


class _Held(NamedTuple):
    """A job that holds nodes: its units on each node, and the seconds until its end."""

    job: Job
    nodes: Mapping[str, int]
    left: int


def _rows(problem: Profit, held: Sequence[_Held], rest: Ints, now: int) -> Rows:
    """Return the jobs that hold nodes and the jobs to start."""
    before = JobArrays.of([h.job for h in held], problem.platform.resources)
    arrays = before.joined(problem.dispatch.job_arrays.some(rest))
    nodes = NodeArrays(problem.platform)
    slot = offsets(np.minimum(arrays.units, len(problem.platform.nodes)))
    pieces, node, share = (np.zeros(size, np.int64) for size in (len(arrays), slot[-1], slot[-1]))
    for k, (_, on, _) in enumerate(held):
        pieces[k] = len(on)
        node[slot[k] : slot[k] + len(on)] = [nodes.index[name] for name in on]
        share[slot[k] : slot[k] + len(on)] = list(on.values())
    n = len(held)
    return Rows(
        release=np.concatenate([np.full(n, now), np.maximum(now, arrays.release[n:])]),
        duration=np.concatenate([column(h.left for h in held), arrays.duration[n:]]),
        units=arrays.units,
        request=arrays.request,
        kind=np.unique(arrays.kind, return_inverse=True)[1].astype(np.int64),  # below the number of these jobs
        slot=slot,
        pieces=pieces,
        node=node,
        share=share,
    )


def _named(rows: Rows, ids: list[str], names: tuple[str, ...]) -> dict[str, dict[str, int]]:
    """Return {node: units} of each job that was started, by its id; nodes in the order of the platform."""
    named_nodes = {}
    first = rows.units.size - len(ids)
    for k, name in enumerate(ids, first):
        some = slice(int(rows.slot[k]), int(rows.slot[k] + rows.pieces[k]))
        on = sorted(zip(rows.node[some].tolist(), rows.share[some].tolist(), strict=True))
        named_nodes[name] = {names[n]: units for n, units in on}
    return named_nodes


@cache
def _compiled() -> Callable[[Rows, int, int, Ints], Ints]:
    from ..compiled import compiled

    return compiled(_start_as_they_fit)


def _is_loaded() -> bool:
    """Return whether the compiled loop is loaded: it is then always the faster one."""
    return _compiled.cache_info().currsize > 0


def _start_as_they_fit(rows: Rows, held: int, now: int, capacity: Ints) -> Ints:
    """Start all jobs after the first ``held`` ones; return the starts in seconds, and set their nodes in ``rows``."""
    jobs = rows.units.size
    nodes = capacity.shape[0]
    resources = capacity.shape[1]
    free = capacity.copy()
    start = np.empty(jobs, np.int64)
    spare = np.zeros(resources, np.int64)  # free amounts of all nodes
    for n in range(nodes):
        for r in range(resources):
            spare[r] += capacity[n, r]
    room = np.empty(jobs, np.int64)  # per kind: until a job ends, more units than that do not fit
    for k in range(jobs):
        room[k] = LAST
    waiting = np.empty(jobs, np.int64)
    count = 0
    following = 0
    fit = np.empty(nodes, np.int64)
    score = np.empty(nodes, np.float64)
    active = np.empty(jobs, np.int64)
    running = 0
    t = now
    while t < LAST:
        before, running = running, 0
        for i in range(before):
            j = active[i]
            if start[j] + rows.duration[j] > t:
                active[running] = j
                running += 1
                continue
            for k in range(jobs):
                room[k] = LAST
            for r in range(resources):
                spare[r] += rows.units[j] * rows.request[j, r]
                for k in range(rows.slot[j], rows.slot[j] + rows.pieces[j]):
                    free[rows.node[k], r] += rows.share[k] * rows.request[j, r]
        while following < jobs and rows.release[following] <= t:
            waiting[count] = following
            count = count + 1
            following = following + 1
        kept = 0
        for i in range(count):
            j = waiting[i]
            left = rows.units[j]
            entry = rows.slot[j]
            fits = room[rows.kind[j]]
            for r in range(resources):
                if left * rows.request[j, r] > spare[r]:
                    fits = 0
            if j >= held and fits >= left:
                fits = 0
                for n in range(nodes):
                    fit[n], score[n] = left, 0.0
                    for r in range(resources):
                        if rows.request[j, r] > 0:
                            fit[n] = min(fit[n], free[n, r] // rows.request[j, r])
                        score[n] += free[n, r] / max(1, capacity[n, r])
                    fits += fit[n]
                if fits < left:
                    room[rows.kind[j]] = fits
            if j >= held and fits < left:
                waiting[kept] = j
                kept += 1
                continue
            if j >= held:
                while left > 0:
                    best = -1
                    for n in range(nodes):
                        if fit[n] > 0 and (best < 0 or score[n] < score[best]):
                            best = n
                    rows.node[entry], rows.share[entry] = best, min(left, fit[best])
                    left = left - rows.share[entry]
                    entry = entry + 1
                    fit[best] = 0
                rows.pieces[j] = entry - rows.slot[j]
            for r in range(resources):
                spare[r] -= rows.units[j] * rows.request[j, r]
                for k in range(rows.slot[j], rows.slot[j] + rows.pieces[j]):
                    free[rows.node[k], r] -= rows.share[k] * rows.request[j, r]
            start[j], active[running] = t, j
            running += 1
        count = kept
        if following == jobs:
            t = LAST
        else:
            t = rows.release[following]
        for i in range(running):
            t = min(t, start[active[i]] + rows.duration[active[i]])
    return start


# --- The fluid relaxation of the profit problem: work of classes of jobs in cells of time. Its bound is valid.
#
# Sets: cells i = 1..I, parts [t[i-1], t[i]) of segments; segments s, each a set of cells; classes k of jobs. If there are
# few jobs, each one is a class.
#
# Data: for job j its release ``a[j]``, duration ``d[j]``, cores ``c[j]`` over all units, units ``U[j]``, power ``p[j]``
# in watts. For class k, as sums over its jobs::
#
#     B[k,i] = sum_j c[j] * min(d[j], max(0, t[i] - a[j]))                        work possible by the end of cell i
#     A[k,i] = sum_j c[j] * min(d[j], max(0, t[i] - max(t[i-1], a[j])))           work possible inside of cell i
#
# Variables: integers ``W[k,i] in 0..B[k,i]``, the core-seconds of class k that are done by the end of cell i, with
# ``W[k,0] = 0``. Below, ``w[k,i] = W[k,i] - W[k,i-1]``.
#
# Constraints::
#
#     0 <= w[k,i] <= A[k,i]                                                for each class k, cell i
#     sum_k e[k,r] * w[k,i] <= C[r] * (t[i] - t[i-1])                      for each resource r, cell i
#     sum_k g[k,r,h] * w[k,i] <= N * (h-1) * (t[i] - t[i-1])               for each r, cell i and h in 2, 3, 4
#
# ``C[r]`` is the capacity of the machine, N its number of nodes; what running jobs take in a cell is subtracted on the right
# sides. ``e[k,r]`` is the least amount of resource r per core of
# the jobs of class k, ``g[k,r,h]`` the least number of units per core of those whose units need more than 1/h of the
# largest node's amount (0 if a job of the class has smaller units).
#
# Objective (maximized): with K1 in euro per core-hour, the energy price K2[s] in euro per kWh, the length L[s] in seconds
# and the convex cooling curve f[s] in watts::
#
#     K1 / 3600 * sum_k W[k,I] - sum_s K2[s] * L[s] / 3.6e6 * (P[s] + f[s](P[s]))
#     P[s] = sum_k q[k] * (work of class k in segment s) / L[s]                   mean IT power in watts
#
# plus the gain and the power of the running jobs, which are constants.
#
# ``q[k]`` is the least power per core of the jobs of class k; the greatest if K2[s] < 0.
#
# The sums of any schedule are a solution with the same profit or more. The relaxation ignores that a job runs without
# interruption, on fixed nodes and with all of its cores at once, and the jobs of a class share power and rate.

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
        lowest = np.full(self.classes, np.inf)
        np.minimum.at(lowest, self.of, amounts)
        return lowest

    def work(self, ran: Ints) -> Ints:
        """Return the core-seconds of each class, from the seconds of each job."""
        core_seconds = np.zeros(self.classes, np.int64)
        np.add.at(core_seconds, self.of, ran * self.problem.cores[self.jobs])
        return core_seconds

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
    problem = data.problem
    cells = len(data.times) - 1
    model = sl.Model(
        f"fluid of {how_many(len(data.jobs), 'job')} in {how_many(data.classes, 'class')} and {how_many(cells, 'cell')}"
    )
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
    now = row[b - 1]
    before = None
    if a:
        before = row[a - 1]
    terms: dict[Atom, int | float] = {}
    if now is not None:
        terms = {now: 1}
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
        if data.classes:
            reach = share @ data.inside
        else:
            reach = np.zeros(len(length))
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
    least = data.least(per_core)
    most = -data.least(-per_core)
    last = [row[-1] for row in done if row and row[-1] is not None]
    price = problem.price / 3600
    running = problem.running
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
    class_of_job = np.zeros(len(jobs), np.int64)
    first = 0
    for members in kinds.values():
        n = len(members)
        parts = min(n, max(1, (most - len(kinds)) * n // len(jobs)))
        class_of_job[np.array(members)[np.argsort(per_core[members], kind="stable")]] = (
            first + np.arange(n) * parts // n
        )
        first += parts
    return class_of_job


def _kind(problem: Profit, k: int) -> tuple[int, ...]:
    """Return for each resource the size class of a job's units, and on a log scale its demand relative to cores."""
    platform, job = problem.platform, problem.jobs[k]
    sizes = []
    for r, resource in enumerate(platform.resources):
        request = job.request.get(resource, 0)
        if request:
            largest = max(vector[r] for vector in platform.classes)
            beside = request * job.units / platform.total(resource) * platform.total("cores") / problem.cores[k]
            sizes += [1 + min(max(SHARES), largest // request), math.ceil(2 * math.log2(beside))]
        else:
            sizes += [0, 0]
    return tuple(sizes)


def _starts(data: Fluid, done: Ints) -> dict[str, int]:
    """Return a start for each job: the work of a class goes to its jobs one after another, in order of release."""
    problem = data.problem
    middle = (data.times[:-1] + data.times[1:]) / 2
    starts = {j.id: max(problem.horizon_end, problem.dispatch.earliest(j)) for j in problem.jobs}
    for k in range(data.classes):
        members = np.flatnonzero(data.of == k)
        members = members[np.argsort(data.arrays.release[members], kind="stable")]
        amount = (problem.cores * problem.durations)[data.jobs[members]]
        work_end = np.cumsum(amount)
        parts = np.diff(done[k], prepend=0)
        reached = np.concatenate([[0], np.cumsum(parts)])
        moment = np.concatenate([[0.0], np.cumsum(parts * middle)])
        lo = np.minimum(work_end - amount, reached[-1])
        hi = np.minimum(work_end, reached[-1])
        got = hi - lo
        mean = np.diff([np.interp(x, reached, moment) for x in (lo, hi)], axis=0)[0] / np.maximum(1, got)
        start = np.maximum(data.arrays.release[members], mean - problem.durations[data.jobs[members]] / 2)
        for i, s, worked in zip(members.tolist(), start.tolist(), got.tolist(), strict=True):
            if worked:
                starts[problem.jobs[data.jobs[i]].id] = int(s)
    return starts


# --- Formulations of the profit problem: those of the dispatching problem with another objective [Bridi2018, 6.5.3].
#
# Data: price ``K1`` in euro per core-hour; job j has ``c[j]`` cores over all units and power ``p[j]`` in watts; segment
# s = [b[s], b[s] + L[s]) has the energy price ``K2[s]`` in euro per kWh and the piecewise-linear cooling curve ``f[s]``
# (watts over watts of IT power). ``v[j]`` is the interval of job j, see ``dispatch.job_intervals``. With
# ``x[j,s] = overlap(v[j], b[s], b[s] + L[s])`` in seconds, the objective is (equations 6.3 and 6.4)::
#
#     maximize  sum_j,s (K1 * c[j] / 3600 - K2[s] * p[j] / 3.6e6) * x[j,s] - sum_s K2[s] * L[s] / 3.6e6 * f[s](P[s])
#     P[s] = sum_j p[j] * x[j,s] / L[s]                                     mean IT power of segment s in watts
#
# Running jobs have fixed ends, so that their terms of the sums over j are constants.
#
# Two additions help the solvers. A job that can be postponed has an optional interval that starts before ``horizon_end``:
# after that it earns nothing, and it can always run later. Redundant constraints bound the use of each resource r with
# capacity ``C[r]`` over all N nodes, beside the running jobs; job j has ``U[j]`` units, each with a request ``q[j,r]``::
#
#     cumulative(v[j], demand U[j] * q[j,r]) <= C[r]                                              for each r
#     sum_j U[j] * q[j,r] * x[j,s] <= C[r] * L[s]                                                 for each r, s
#
# and the same with demand ``U[j]`` for the jobs whose units need more than 1/k of the largest node's amount, and with the
# capacity ``N * (k - 1)``, for k = 2, 3, 4. No solver derives the sums over segments from the overlaps.


@hashable
@dataclass(frozen=True)
class Fixed:
    """The jobs of a problem that are not in the model, for a neighbourhood.

    Parameters
    ----------
    moving : sequence of int
        The jobs of the model, as indices of the problem's jobs.
    euro : float
        The gain of the other jobs less the cost of their own energy, without cooling.
    watts : sequence of float
        Their mean IT power in each segment of the problem, in watts.
    """

    moving: Sequence[int]
    euro: float
    watts: Sequence[float]


def profit_objective(problem: Profit, fixed: Fixed | None = None) -> SetObjective:
    """Return the function that sets the profit as the objective of a model.

    Parameters
    ----------
    problem : Profit
        The problem.
    fixed : Fixed, optional
        The jobs that are not in the model; their profit is included as a constant. None: all jobs are in the model.
        The profit of running jobs is always included.

    Returns
    -------
    callable
        A function of a JobModel.
    """

    def maximize(b: JobModel) -> None:
        if fixed is None:
            others = Fixed(range(len(b.jobs)), 0.0, [0.0] * len(problem.segments))
        else:
            others = fixed
        moving = np.array(others.moving, np.int64)
        watts = problem.watts[moving].tolist()
        per_second = (problem.price * problem.cores[moving] / 3600).tolist()
        terms: list[sl.Expression | float] = [others.euro + problem.running.euro]
        weights: list[float] = [1.0]
        both = zip(others.watts, problem.running.mean_watts, strict=True)
        for segment, other_watts in zip(problem.segments, map(sum, both), strict=True):
            euro = segment.energy_price / JOULES
            length = segment.end - segment.begin
            some = [k for k, v in enumerate(b.jobs) if _reaches(v, segment)]
            ran = [sl.overlap(b.jobs[k], segment.begin, segment.end) for k in some]
            terms += ran
            weights += [per_second[k] - euro * watts[k] for k in some]
            cost = [(p, euro * length * c) for p, c in points_to(problem, segment)]
            if some:
                mean = sl.sum([*ran, other_watts], weights=[*(watts[k] / length for k in some), 1.0])
                terms.append(sl.piecewise(mean, cost))
            else:
                terms.append(along(cost, other_watts))
            weights.append(-1.0)
        b.model.maximize(sl.sum(terms, weights=weights))

    return maximize


def _reaches(v: sl.Interval, segment: Segment) -> bool:
    """Return whether the interval can run in the segment."""
    return v.windows[0][0] < segment.end and v.windows[-1][1] + v.size_hi > segment.begin


def _strengthen(b: JobModel, segments: Sequence[Segment]) -> None:
    """Add the redundant constraints: capacities of all nodes together, at each time and as a sum over each segment."""
    problem, platform = b.problem, b.problem.platform
    running = b.running(dict.fromkeys(platform.nodes, "the machine"))["the machine"]

    def add(need: Need, capacity: int, what: str) -> None:
        amounts = [(v, j.units * need(j)) for v, j in zip(b.jobs, problem.jobs, strict=True) if need(j)]
        held = b.running_rows(running, need)
        b.add_cumulative([*(DemandRow(v, n) for v, n in amounts), *held], capacity, what)
        for s in segments:
            some = [(v, n) for v, n in amounts if _reaches(v, s)]
            taken = sum(r.amount * max(0, min(s.end, problem.now + r.interval.size_lo) - s.begin) for r in held)
            if sum(n for _, n in some) * (s.end - s.begin) + taken > capacity * (s.end - s.begin):
                ran = sl.sum([sl.overlap(v, s.begin, s.end) for v, _ in some], weights=[n for _, n in some])
                b.model.add(ran <= capacity * (s.end - s.begin) - taken, f"{what} from {s.begin} to {s.end}")

    for k, resource in enumerate(platform.resources):
        add(request_of(resource), platform.total(resource), resource)
        most = max(vector[k] for vector in platform.classes)
        for share in SHARES:
            add(
                above(resource, most / share),
                len(platform.nodes) * (share - 1),
                f"units above 1/{share} of a node's {resource}",
            )


def _with_profit(make: Callable[..., Encoding]) -> Callable[..., Encoding]:
    def encoding(problem: Profit, horizon: int | None = None) -> Encoding:
        within, moving = _earning(problem)
        fixed = Fixed(moving, 0.0, [0.0] * len(problem.segments))

        def declare(b: JobModel) -> None:
            profit_objective(problem, fixed)(b)
            _strengthen(b, problem.segments)

        inner = make(within, declare, problem.horizon_end, horizon)

        def read(assignment: sl.Assignment) -> Schedule:
            return with_rest(problem, inner.read(assignment), with_nodes=not inner.relaxation)

        def write(schedule: Schedule) -> sl.Assignment:
            later = {
                j.id for j in within.jobs if startable_later(within, j) and schedule.start[j.id] >= problem.horizon_end
            }
            return inner.write(Schedule({j: s for j, s in schedule.start.items() if j not in later}, schedule.nodes))

        return replace(inner, read=read, write=write)

    return encoding


def _earning(problem: Profit) -> tuple[Dispatch, list[int]]:
    """Return the problem of the jobs that can earn something or cannot be postponed, and the indices of these jobs."""
    dispatch = problem.dispatch
    jobs = enumerate(dispatch.jobs)
    kept = [k for k, j in jobs if dispatch.earliest(j) < problem.horizon_end or not startable_later(dispatch, j)]
    return dispatch.replace(jobs=[dispatch.jobs[k] for k in kept]), kept


FORMULATIONS: dict[str, Callable[..., Encoding]] = {
    **{name: _with_profit(make) for name, make in OF_DISPATCH.items()},
    "fluid": fluid,
}
