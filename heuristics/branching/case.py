"""The arrays of a dispatching problem for the branch and bound."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ...models import Dispatch, Schedule
from ...models.dispatch.job_arrays import Ints, column, request_rows
from ...models.whole_numbers import rational
from ..kernels.branching.search import put_running
from ..kernels.branching.state import NONE, Case, Now, Open, Visited
from ..lagrangian.exact import whole_weight
from ..lagrangian.items import Items
from ..lagrangian.items import supported as is_sum

JOBS = 64  # bits of the set of started jobs
PILE = 50_000  # placements
PLACES = 1 << 21  # visited states, of 24 bytes


def supported(problem: Dispatch) -> bool:
    """Return whether the branch and bound is for a problem: its objective, its jobs, nothing beside them."""
    plain = not problem.limits and problem.desired is None and all(len(j.parts) == 1 for j in problem.jobs)
    lasting = all(problem.duration(j) > 0 for j in problem.jobs)
    return plain and lasting and len(problem.jobs) <= JOBS and is_sum(problem)


def case_of(problem: Dispatch, items: Items, shift: int) -> Case:
    """Return the arrays of a problem, with costs in multiples of ``2 ** -shift``."""
    running = [r.job for r in problem.running if r.end > problem.now]
    members = [*problem.jobs, *running]
    capacity = _capacity(problem)
    request = column(x for row in request_rows(members, problem.platform.resources) for x in row)
    request = request.reshape(len(members), capacity.shape[1])
    units, weight = column(j.units for j in members), _whole_weights(items, shift)
    windows = slice(0, int(items.first[items.jobs]))
    case = Case(
        items.jobs,
        np.argsort(-_urgency(items, units, request, capacity), kind="stable"),
        items.duration,
        units,
        request,
        items.first[: items.jobs + 1].copy(),
        items.low[windows] - problem.now,
        items.high[windows] - problem.now,
        weight,
        items.free[: items.jobs] - problem.now,
        items.late,
        np.full(items.jobs, NONE),
        np.unique(capacity, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64),
    )
    return case._replace(twin=_twins(case))


def _whole_weights(items: Items, shift: int) -> Ints:
    if items.late:
        return np.full(items.jobs, 1 << shift, np.int64)
    return column(whole_weight(float(w), shift) for w in items.weight[: items.jobs])


def _urgency(items: Items, units: Ints, request: Ints, capacity: Ints) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the cost of a second of delay over the share of the machine, times its seconds, that a job takes."""
    share = (request / np.maximum(1, capacity.sum(axis=0))).max(axis=1, initial=0.0) * units + 1e-9
    weight = np.ones(items.jobs) if items.late else items.weight[: items.jobs]
    found: np.ndarray[tuple[int], np.dtype[np.float64]] = weight / (share * items.duration)[: items.jobs]
    return found


def _twins(case: Case) -> Ints:
    """Return for each job an earlier one that may start first without loss: equal but for a submit time that is over."""
    last: dict[tuple[object, ...], int] = {}
    found = np.full(case.jobs, NONE)
    for j in range(case.jobs):
        windows = slice(case.first[j], case.first[j + 1])
        free = max(0, int(case.free[j])) if not case.late else int(case.free[j])
        spans = (tuple(case.low[windows].tolist()), tuple(case.high[windows].tolist()))
        key = (*spans, int(case.duration[j]), int(case.units[j]), tuple(case.request[j]), int(case.weight[j]), free)
        found[j] = last.get(key, NONE)
        last[key] = j
    return found


def _capacity(problem: Dispatch) -> Ints:
    amounts = list(problem.platform.capacity.values())
    return np.array(amounts, np.int64).reshape(len(amounts), len(problem.platform.resources))


def first_state(problem: Dispatch, case: Case) -> Now:
    """Return the state at the time of the problem: the running jobs run, no job has a start."""
    capacity, items = _capacity(problem), case.duration.size
    nodes = {name: n for n, name in enumerate(problem.platform.nodes)}
    now = Now(
        np.full(items, NONE),
        np.full(items, NONE),
        np.zeros((items, len(nodes)), np.int64),
        capacity.copy(),
        capacity,
        np.zeros((len(nodes), 2), np.uint64),
        np.zeros((items, 2), np.uint64),
        np.zeros(1, np.uint64),
        np.zeros(len(nodes), np.int64),
    )
    for i, r in enumerate((r for r in problem.running if r.end > problem.now), case.jobs):
        now.start[i], now.end[i] = 0, case.duration[i]
        for name, units in r.nodes.items():
            now.put[i, nodes[name]] += units
    put_running(case, now)
    return now


def first_decision(case: Case, now: Now, bound: int, limit: int) -> Open:
    """Return the open decisions at the begin: that at the time 0."""
    windows = int(case.first[-1])
    size = (case.duration.size + windows + 2) * (case.jobs + 1) + 2
    time, following, stage, bound_of, cost, left = np.zeros((6, size), np.int64)
    bound_of[0] = bound
    return Open(
        np.zeros(1, np.int64),
        time,
        following,
        stage,
        bound_of,
        cost,
        left,
        np.zeros((size, *now.free.shape), np.int64),
        np.zeros((PILE, case.kind.size), np.int64),
        np.zeros(1, np.int64),
        np.array([limit]),
        np.zeros(1, np.int64),
    )


def no_visits() -> Visited:
    """Return an empty table of visited states."""
    return Visited(np.zeros((PLACES, 2), np.uint64), np.zeros(PLACES, np.int64))


def schedule_of(problem: Dispatch, case: Case, now: Now) -> Schedule:
    """Return the present schedule."""
    names = list(problem.platform.nodes)
    starts = {j.id: problem.now + int(now.start[k]) for k, j in enumerate(problem.jobs)}
    nodes = {
        j.id: {names[n]: int(now.put[k, n]) for n in np.flatnonzero(now.put[k])} for k, j in enumerate(problem.jobs)
    }
    return Schedule(starts, nodes)


def exact_cost(items: Items, problem: Dispatch, schedule: Schedule) -> Fraction:
    """Return the cost of a schedule without rounding."""
    over = [schedule.start[j.id] - int(items.free[k]) for k, j in enumerate(problem.jobs)]
    constant = Fraction(rational(items.constant))
    if items.late:
        return constant + sum(x > 0 for x in over)
    return constant + sum(Fraction(rational(float(w))) * max(0, x) for w, x in zip(items.weight, over, strict=False))
