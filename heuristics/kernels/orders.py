"""Search over orders: changed orders are placed anew from a checkpoint on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...models.array_types import Floats, Ints
from ...models.comparing import compared_by_identity
from ...models.compiled import by_address, compiled, internal, internal_borrowing
from ...models.schedule_arrays import POSTPONED
from .aggregate import Aggregate, new_aggregate
from .costs import EARNINGS, LAST_END, Costs, Jobs, cost, objective, penalty, together
from .earliest import Scratch, new_scratch
from .placement import Hopeless, Same, place, put_counted
from .profile import NEVER, Machine, Profile, new_profile

# --- Checkpoints of a placement: the profile, and the bound of the whole machine, before some places of an order.
#
# Jobs can be added to the bound, but not removed. To place an order from some place on anew, the state is restored from
# the last checkpoint before that place, and the jobs between them are put where they are.

MOST_BYTES = 64_000_000  # of all checkpoints of a search
LEAST_JOBS = 16  # jobs between two checkpoints: a copy takes as long as the placement of some 8 jobs


@by_address
class Checkpoints(NamedTuple):
    """States before the places 0, every, 2 * every, ... of an order; the first index of all tables is the checkpoint.

    Parameters
    ----------
    every
        Number of jobs between two checkpoints.
    valid
        Number of checkpoints that are valid for the present order, shape (1,).
    length, time, free
        The fields of ``Profile``.
    blocks, order, size, bound_time, units, least, most
        The fields of ``Aggregate``.
    """

    every: int
    valid: Ints
    length: Ints
    time: Ints
    free: Ints
    blocks: Ints
    order: Ints
    size: Ints
    bound_time: Ints
    units: Ints
    least: Ints
    most: Ints


def new_checkpoints(jobs: int, profile: Profile, a: Aggregate) -> Checkpoints:
    """Return room for checkpoints of such a profile and bound: at least one, before the first place.

    Parameters
    ----------
    jobs
        Number of jobs.
    profile
        A profile with the room that those in the checkpoints will have.
    a
        The bound.
    """
    tables = (*profile, a.blocks, a.order, a.size, a.time, a.units, a.least, a.most)
    number = max(1, min(MOST_BYTES // sum(table.nbytes for table in tables), -(-jobs // LEAST_JOBS)))
    return Checkpoints(
        max(1, -(-jobs // number)),
        np.zeros(1, np.int64),
        *(np.empty((number, *table.shape), np.int64) for table in tables),
    )


@internal_borrowing
def save(store: Checkpoints, c: int, profile: Profile, a: Aggregate) -> None:
    """Copy the state to checkpoint c."""
    for n in range(profile.length.size):
        length = profile.length[n]
        store.length[c, n] = length
        for i in range(length):
            store.time[c, n, i] = profile.time[n, i]
            for r in range(profile.free.shape[2]):
                store.free[c, n, i, r] = profile.free[n, i, r]
    store.blocks[c, 0] = a.blocks[0]
    for k in range(a.blocks[0]):  # the blocks in use are the first ones
        store.order[c, k], store.size[c, k] = a.order[k], a.size[k]
        for i in range(a.size[k]):
            store.bound_time[c, k, i] = a.time[k, i]
            for x in range(a.units.shape[2]):
                store.units[c, k, i, x] = a.units[k, i, x]
        for x in range(a.units.shape[2]):
            store.least[c, k, x], store.most[c, k, x] = a.least[k, x], a.most[k, x]


@internal_borrowing
def restore(store: Checkpoints, c: int, profile: Profile, a: Aggregate) -> None:
    """Copy checkpoint c to the state; the profile has at least the room of the checkpoints."""
    for n in range(profile.length.size):
        length = store.length[c, n]
        profile.length[n] = length
        for i in range(length):
            profile.time[n, i] = store.time[c, n, i]
            for r in range(profile.free.shape[2]):
                profile.free[n, i, r] = store.free[c, n, i, r]
    a.blocks[0] = store.blocks[c, 0]
    for k in range(a.blocks[0]):
        a.order[k], a.size[k] = store.order[c, k], store.size[c, k]
        for i in range(a.size[k]):
            a.time[k, i] = store.bound_time[c, k, i]
            for x in range(a.units.shape[2]):
                a.units[k, i, x] = store.units[c, k, i, x]
        for x in range(a.units.shape[2]):
            a.least[k, x], a.most[k, x] = store.least[c, k, x], store.most[c, k, x]


# --- Moves of jobs in an order: place the jobs after the first change anew, keep or undo the moves.
#
# A step moves one or more jobs.
#
# 1. Restore the state before the first place that changes (``checkpoints``).
# 2. Place the jobs from there on, each at its earliest start. Stop when the cost of the placed jobs plus a lower bound of
#    the cost of the others exceeds what would be accepted. Stop with the old objective when all changed places have been
#    passed and each of their jobs is where it was: the others do not change.
# 3. Keep the order if it is accepted, else restore the old one.


@compared_by_identity
@by_address
class OrderResult(NamedTuple):
    """An order of jobs and its placement.

    Parameters
    ----------
    order
        Indices of the jobs, shape (jobs,).
    starts
        Start of each job in seconds, shape (jobs,).
    nodes
        Node index of each unit, shape (units of all jobs,).
    """

    order: Ints
    starts: Ints
    nodes: Ints


@by_address
class Trial(NamedTuple):
    """Arrays of a step.

    Parameters
    ----------
    floor
        Lower bound of the cost of each job, shape (jobs,).
    rest
        Lower bound of the cost of the jobs from each place of the trial's order on, shape (jobs + 1,).
    spent
        Cost of the jobs before each place of the answer's order, shape (jobs + 1,).
    """

    floor: Floats
    rest: Floats
    spent: Floats


class Mover:
    """Moves jobs in orders of one problem; keeps the checkpoints between calls.

    Parameters
    ----------
    machine, jobs, costs
        The problem, see ``Arrays``.
    same
        What the placements of the problem share.
    """

    def __init__(self, machine: Machine, jobs: Jobs, costs: Costs, same: Same) -> None:
        n = jobs.release.size
        self.machine = machine
        self.jobs = jobs
        self.costs = costs
        self.scratch = new_scratch(machine.capacity.shape[0])
        size = same.kinds.end.size
        self.kinds = same.kinds._replace(begin=np.zeros(size, np.int64), end=np.zeros(size, np.int64))
        self.profile = new_profile(machine, 64)
        self.bound = new_aggregate(machine, jobs, self.profile, same.levels)
        self.trial = Trial(np.empty(n), np.empty(n + 1), np.empty(n + 1))
        self._same = same
        self._of: OrderResult | None = None  # the answer that the checkpoints are of
        self._store()

    def _store(self) -> None:
        """Make room for checkpoints of the profile's size, with the first one."""
        room = self.profile.time.shape[1]
        self.profile = new_profile(self.machine, room)
        self.bound = new_aggregate(self.machine, self.jobs, self.profile, self._same.levels)
        self.store = new_checkpoints(self.jobs.release.size, self.profile, self.bound)
        self.store.valid[0] = 0

    def improve(
        self,
        answer: OrderResult,
        moves: Ints,
        first_move: Ints,
        value: float,
        best: float,
        over_current: Floats,
        over_best: Floats,
        stop: Ints,
    ) -> tuple[float, float, OrderResult]:
        """Make steps; change the answer where a step is accepted.

        Parameters
        ----------
        answer
            The order and its placement; changed in place.
        moves
            (from, to) places in the order, made one after the other in a step, shape (moves, 2).
        first_move
            Index of the first move of each step, shape (steps + 1,).
        value, best
            The objective of the answer and the best one of the search, to be minimized.
        over_current, over_best
            What the objective after a step may be worse than the answer's, and than the best one, shape (steps,).
        stop
            ``stop`` of a ``Clock``. A step that it interrupts is dropped.

        Returns
        -------
        tuple
            The objective of the answer; the objective of the best order that the steps found and left for a worse one,
            if it is better than ``best``, and this order; else ``best`` and an order without a meaning.
        """
        trial, record = (OrderResult(*(part.copy() for part in answer)) for _ in range(2))
        self._forget(answer)
        done = 0
        steps = first_move.size - 1
        while done < steps and stop[0] == 0:
            if self.profile.time.shape[1] > self.store.time.shape[2]:
                self._store()
            self.profile, value, best, done = _improve(
                self.profile, self.machine, self.jobs, self.costs, self.scratch, self.kinds, self.bound, self.store,
                self.trial, answer, trial, record, moves, first_move, done, value, best, over_current, over_best,
                stop,
            )  # fmt: skip
        self._of = OrderResult(*(part.copy() for part in answer))
        return value, best, record

    def _forget(self, answer: OrderResult) -> None:
        """Drop the checkpoints that do not fit this answer."""
        if self._of is None:
            return
        differs = (self._of.order != answer.order) | (self._of.starts != answer.starts)[answer.order]
        first_unit = self.jobs.first_unit
        moved = np.flatnonzero(self._of.nodes != answer.nodes)
        differs |= np.isin(answer.order, np.searchsorted(first_unit, moved, side="right") - 1)
        if differs.any():
            same = int(np.argmax(differs))
        else:
            same = differs.size
        self.store.valid[0] = min(self.store.valid[0], same // self.store.every + 1)


@internal_borrowing
def _shift(order: Ints, i: int, to: int) -> None:
    """Move the job at place i of an order to place ``to``."""
    j = order[i]
    for k in range(i, to):
        order[k] = order[k + 1]
    for k in range(i, to, -1):
        order[k] = order[k - 1]
    order[to] = j


@internal
def _sum_up(jobs: Jobs, costs: Costs, trial: Trial, answer: OrderResult, low: int) -> None:
    """Set ``trial.spent`` from place ``low`` on."""
    trial.spent[0] = costs.constant
    for k in range(low, answer.order.size):
        j, trial.spent[k + 1] = answer.order[k], trial.spent[k]
        if answer.starts[j] != POSTPONED:
            trial.spent[k + 1] = together(costs, trial.spent[k], cost(costs, jobs, j, answer.starts[j]))


@internal
def _at_least(costs: Costs, trial: Trial, order: Ints, low: int) -> None:
    """Set ``trial.rest``: each job at its earliest start."""
    trial.rest[order.size] = -np.inf if costs.mode == LAST_END else 0.0
    for k in range(order.size - 1, low - 1, -1):
        trial.rest[k] = together(costs, trial.rest[k + 1], trial.floor[order[k]])


@internal
def _to_place(profile: Profile, jobs: Jobs, a: Aggregate, store: Checkpoints, answer: OrderResult, low: int) -> Profile:
    """Set the state to that before place ``low`` of the answer; make checkpoints on the way. Return the profile."""
    if store.valid[0] == 0:  # the state is that of the running jobs alone
        save(store, 0, profile, a)
        store.valid[0] = 1
    c = min(low // store.every, store.valid[0] - 1)
    restore(store, c, profile, a)
    for k in range(c * store.every, low):
        if k == store.valid[0] * store.every and profile.time.shape[1] == store.time.shape[2]:
            save(store, store.valid[0], profile, a)
            store.valid[0] += 1
        j = answer.order[k]
        if answer.starts[j] != POSTPONED:
            chosen = answer.nodes[jobs.first_unit[j] : jobs.first_unit[j + 1]]
            profile = put_counted(profile, jobs, a, j, answer.starts[j], chosen)
    return profile


@internal_borrowing
def _unmoved(jobs: Jobs, answer: OrderResult, trial: OrderResult, j: int) -> bool:
    """Return whether job j has the same place in the answer and in the trial."""
    if trial.starts[j] != answer.starts[j]:
        return False
    for u in range(jobs.first_unit[j], jobs.first_unit[j + 1]):
        if trial.nodes[u] != answer.nodes[u]:
            return False
    return True


@internal
def _place_from(
    profile: Profile,
    machine: Machine,
    jobs: Jobs,
    costs: Costs,
    s: Scratch,
    known: Hopeless,
    bound: Aggregate,
    t: Trial,
    answer: OrderResult,
    trial: OrderResult,
    low: int,
    high: int,
    value: float,
    limit: float,
    stop: Ints,
) -> tuple[Profile, float]:
    """Place the jobs from place ``low`` on; return the profile and the objective.

    The objective is infinite if the trial was given up. Profits, which are no sum over jobs, and the penalty for broken
    limits are compared at the end.
    """
    spent, unmoved = t.spent[low], True
    for k in range(low, trial.order.size):
        if stop[0] != 0:
            return profile, np.inf
        j = trial.order[k]
        chosen = trial.nodes[jobs.first_unit[j] : jobs.first_unit[j + 1]]
        trial.starts[j], profile = place(profile, machine, jobs, s, known, bound, j, -NEVER, NEVER, chosen)
        if trial.starts[j] == POSTPONED and not costs.may_postpone[j]:
            return profile, np.inf
        if trial.starts[j] != POSTPONED:
            spent = together(costs, spent, cost(costs, jobs, j, trial.starts[j]))
        if costs.mode != EARNINGS and together(costs, spent, t.rest[k + 1]) > limit + 1e-12 * abs(limit):
            return profile, np.inf
        unmoved = unmoved and _unmoved(jobs, answer, trial, j)
        if k >= high and unmoved:
            return profile, value if value <= limit + 1e-12 * abs(limit) else np.inf
    if costs.mode == EARNINGS:
        spent = objective(costs, jobs, trial.starts)
    else:
        spent += penalty(costs, jobs, trial.starts)
    if spent > limit + 1e-12 * abs(limit):
        spent = np.inf
    return profile, spent


@compiled
def _improve(
    profile: Profile,
    machine: Machine,
    jobs: Jobs,
    costs: Costs,
    s: Scratch,
    known: Hopeless,
    bound: Aggregate,
    store: Checkpoints,
    t: Trial,
    answer: OrderResult,
    trial: OrderResult,
    record: OrderResult,
    moves: Ints,
    first_move: Ints,
    first: int,
    value: float,
    best: float,
    over_current: Floats,
    over_best: Floats,
    stop: Ints,
) -> tuple[Profile, float, float, int]:
    """Make the steps from ``first`` on, see ``Mover.improve``; return the number of steps that are done, too.

    It returns early if the checkpoints have too little room for the profile.
    """
    n = answer.order.size
    for j in range(n):
        t.floor[j] = cost(costs, jobs, j, jobs.release[j])
    _sum_up(jobs, costs, t, answer, 0)
    for m in range(first, first_move.size - 1):
        if profile.time.shape[1] > store.time.shape[2]:
            return profile, value, best, m
        low, high = n, -1
        for x in range(first_move[m], first_move[m + 1]):
            i, to = moves[x, 0], moves[x, 1]
            low = min(low, i, to)
            high = max(high, i, to)
            _shift(trial.order, i, to)
        if low >= high:
            continue
        _at_least(costs, t, trial.order, low)
        profile = _to_place(profile, jobs, bound, store, answer, low)
        for k in range(known.end.size):
            known.end[k] = 0
        limit = min(value + over_current[m], min(best, value) + over_best[m])
        profile, moved = _place_from(
            profile, machine, jobs, costs, s, known, bound, t, answer, trial, low, high, value, limit, stop
        )
        if stop[0] != 0:
            return profile, value, best, m
        if moved < np.inf:
            if moved > value and value < best:
                best = value
                _copy(answer, record, 0)
            value = moved
            _copy(trial, answer, low)
            _sum_up(jobs, costs, t, answer, low)
            store.valid[0] = min(store.valid[0], low // store.every + 1)
        else:
            _copy(answer, trial, low)
    return profile, value, best, first_move.size - 1


@internal_borrowing
def _copy(kept: OrderResult, changed: OrderResult, low: int) -> None:
    """Copy the order from place ``low`` on, and all starts and nodes."""
    for k in range(low, kept.order.size):
        changed.order[k] = kept.order[k]
    for j in range(kept.starts.size):
        changed.starts[j] = kept.starts[j]
    for u in range(kept.nodes.size):
        changed.nodes[u] = kept.nodes[u]
