"""Evictions: the dynamic program of Maurya et al. (2020), their greedy method and their backtracking."""

from __future__ import annotations

import math
import time
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..models import Eviction, EvictionCandidate, EvictionPlan, ProblemError
from ..models.eviction.plan import STRATEGIES
from .kernels import eviction as kernels
from .kernels.eviction import BacktrackingState, Bytes, Dense, Ints, Sparse, Ways

MOST_DENSE = 128  # steps up to which the table of all deadlines is faster than lists of where something changes
BUDGET = 500_000  # combinations between two looks at the clock
LARGEST_KEY = 2**61
OnPlan = Callable[[tuple[int, int], EvictionPlan], bool]


class Deadline(NamedTuple):
    """The best that can be had within ``deadline_s``: loss in node-seconds, checkpoint time in seconds."""

    deadline_s: int
    loss: int
    checkpoint_s: int


@dataclass(frozen=True)
class TradeOff:
    """What every number of nodes costs within every deadline up to the problem's, in whole steps, with the plans.

    >>> from schedlab.models import EvictionCandidate, Eviction
    >>> jobs = [EvictionCandidate("a", 64, 7200, 90, None), EvictionCandidate("b", 64, 3600, 300, 200)]
    >>> known = trade_off(Eviction(jobs, nodes_needed=100, deadline_s=180))
    >>> known.deadlines()
    [Deadline(deadline_s=0, loss=10800, checkpoint_s=0), ..., Deadline(deadline_s=180, loss=3600, checkpoint_s=120)]
    >>> known.plan(nodes=64, deadline_s=120).strategy
    {'a': 'sys', 'b': 'keep'}
    """

    problem: Eviction
    rows: EvictionArrays
    table: Dense | Sparse

    def deadlines(self, nodes: int | None = None) -> list[Deadline]:
        """The best for each deadline of 0, one step, ... up to the problem's; ``nodes`` None: those the problem needs.

        Raises ProblemError if the jobs have fewer nodes.
        """
        p = self.problem
        loss, steps = self.rows.decode(self._keys(self._row(nodes)))
        pairs = zip(loss.tolist(), steps.tolist(), strict=True)
        return [Deadline(t * p.step_s, one, taken * p.step_s) for t, (one, taken) in enumerate(pairs)]

    def plan(self, nodes: int | None = None, deadline_s: int | None = None) -> EvictionPlan:
        """A best plan that frees ``nodes`` within ``deadline_s`` (None: the problem's own). Raises ProblemError."""
        p, k = self.problem, self._row(nodes)
        within = p.deadline_s if deadline_s is None else deadline_s
        if not 0 <= within <= p.deadline_s:
            raise ProblemError(f"deadline_s is {within}; the trade-off was computed for 0 to {p.deadline_s} s")
        t, rows = within // p.step_s, self.rows
        done = np.empty(rows.units.size, np.uint8)
        if isinstance(self.table, Dense):
            kernels.trace_dense(self.table, rows.units, rows.takes, k, t, done)
        else:
            point = bisect_right(self._points(k)[0].tolist(), t) - 1
            kernels.trace_sparse(self.table, int(self.table.row[k]) + point, done)
        return rows.plan(p, done)

    def plans(self, nodes: int | None = None) -> list[EvictionPlan]:
        """The best plan for each of the deadlines of ``deadlines``; one that stays the best is the same object."""
        found: list[EvictionPlan] = []
        keys = self._keys(self._row(nodes)).tolist()
        for t, key in enumerate(keys):
            same = t > 0 and key == keys[t - 1]
            found.append(found[-1] if same else self.plan(nodes, t * self.problem.step_s))
        return found

    @cached_property
    def losses(self) -> NDArray[np.int64]:
        """Least loss in node-seconds, by nodes (0 to all in use) and by deadline in steps."""
        return np.array([[d.loss for d in self.deadlines(k)] for k in range(self.problem.nodes_in_use + 1)], np.int64)

    def _row(self, nodes: int | None) -> int:
        """The row of a number of nodes."""
        p = self.problem
        wanted = p.nodes_needed if nodes is None else nodes
        if not 0 <= wanted <= p.nodes_in_use:
            raise ProblemError(f"{wanted} nodes are asked for; the running jobs have 0 to {p.nodes_in_use} to free")
        return -(-wanted // self.rows.unit)

    def _keys(self, k: int) -> Ints:
        """The least key of a row for every deadline."""
        if isinstance(self.table, Dense):
            return self.table.best[:, k]
        time, key = self._points(k)
        return key[np.searchsorted(time, np.arange(self.problem.steps + 1), side="right") - 1]

    def _points(self, k: int) -> tuple[NDArray[np.int32], Ints]:
        assert isinstance(self.table, Sparse)
        inside = slice(int(self.table.row[k]), int(self.table.row[k + 1]))
        return self.table.time[inside], self.table.key[inside]


@dataclass(frozen=True)
class EvictionArrays:
    """The jobs as the kernels take them, by growing nodes; ``order``: the place of each in the problem."""

    order: Sequence[int]
    unit: int
    units: Ints
    kill: Ints
    checkpoint: Ints
    takes: Ints
    kinds: Sequence[str]
    loss_unit: int
    base: int
    steps: int

    @classmethod
    def of(cls, p: Eviction) -> EvictionArrays:
        """Of an eviction problem. Raises ProblemError if its losses are beyond 64 bits."""
        order = sorted(range(len(p.candidates)), key=lambda k: p.candidates[k].nodes)
        jobs = [p.candidates[k] for k in order]
        fastest = [_fastest(p, c) for c in jobs]
        base, loss_unit = len(jobs) + 1, _loss_unit(p)
        nodes = np.array([c.nodes for c in jobs], np.int64)
        takes = np.array([min(steps, p.steps + 1) for _, steps in fastest], np.int64)
        bonus = np.array([what == "app" for what, _ in fastest], np.int64)
        unit = math.gcd(*nodes.tolist()) or 1
        return cls(
            order=order,
            unit=unit,
            units=nodes // unit,
            kill=np.array([c.loss // loss_unit for c in jobs], np.int64) * ((p.steps + 1) * base),
            checkpoint=takes * base - bonus,
            takes=takes,
            kinds=[what for what, _ in fastest],
            loss_unit=loss_unit,
            base=base,
            steps=p.steps,
        )

    def decode(self, keys: Ints) -> tuple[Ints, Ints]:
        """Loss in node-seconds, and steps of checkpoints."""
        pair = -(-keys // self.base)
        return pair // (self.steps + 1) * self.loss_unit, pair % (self.steps + 1)

    def plan(self, p: Eviction, done: Bytes) -> EvictionPlan:
        """The plan from what is done with each row."""
        strategy = dict.fromkeys((c.id for c in p.candidates), "keep")
        for place, kind, what in zip(self.order, self.kinds, done.tolist(), strict=True):
            if what != kernels.KEEP:
                strategy[p.candidates[place].id] = "kill" if what == kernels.KILL else kind
        return with_starts(p, strategy)


def _fastest(p: Eviction, c: EvictionCandidate) -> tuple[str, int]:
    """A job's faster checkpoint and its steps, the application's if they are equal; beyond the deadline if it has none."""
    return min(p.checkpoint_steps[c.id].items(), key=lambda way: way[1], default=("sys", p.steps + 1))


def _loss_unit(p: Eviction) -> int:
    """The greatest common divisor of the losses. Raises ProblemError if keys are beyond 64 bits even so."""
    losses = [c.loss for c in p.candidates]
    unit = math.gcd(*losses) or 1
    if (sum(losses) // unit + 1) * (p.steps + 1) * (len(losses) + 1) >= LARGEST_KEY:
        raise ProblemError(
            f"the losses add up to {sum(losses):,} node-seconds, too large for exact 64-bit sums over {p.steps} steps; "
            "take a longer step, or a solver"
        )
    return unit


def with_starts(p: Eviction, strategy: dict[str, str]) -> EvictionPlan:
    """The plan; where checkpoints may run side by side, with starts that put them one after another."""
    if not p.shared_bandwidth:
        return EvictionPlan(strategy)
    start, begin = {}, 0
    for job, what in strategy.items():
        if what in ("app", "sys"):
            end = begin + p.checkpoint_steps[job][what]
            start[job] = (end - p.writing_steps[job][what]) * p.step_s
            begin = end
    return EvictionPlan(strategy, start)


def trade_off(problem: Eviction) -> TradeOff:
    """The exact trade-off for all numbers of nodes and all deadlines in one pass, checkpoints one after another.

    Compiled; the first call of a process compiles or loads the kernels. Among equal plans it is always the same one.
    Raises ProblemError for losses beyond 64 bits. Source: algorithm 1 of the paper, by another route to the same table.
    """
    rows = EvictionArrays.of(problem)
    kernel = kernels.dense if rows.steps <= MOST_DENSE else kernels.sparse
    return TradeOff(problem, rows, kernel(rows.units, rows.kill, rows.checkpoint, rows.takes, rows.steps))


def greedy(problem: Eviction) -> EvictionPlan:
    """The paper's greedy plan: the jobs by falling loss take their faster checkpoint until one would end too late, then the
    others are killed by growing loss; it stops as soon as enough nodes are free.

    A job that can take no checkpoint is passed over by the first part. Equal losses: in the order of the jobs.
    """
    p = problem
    order = sorted(p.candidates, key=lambda c: -c.loss)
    strategy = dict.fromkeys((c.id for c in p.candidates), "keep")
    freed = used = 0
    for c in order:
        if freed >= p.nodes_needed:
            break
        if not p.checkpoint_steps[c.id]:
            continue
        what, steps = _fastest(p, c)
        if used + steps > p.steps:
            break
        strategy[c.id], freed, used = what, freed + c.nodes, used + steps
    for c in reversed(order):
        if freed >= p.nodes_needed:
            break
        if strategy[c.id] == "keep":
            strategy[c.id], freed = "kill", freed + c.nodes
    return with_starts(p, strategy)


class Backtracked(NamedTuple):
    """The best plan found, and whether all combinations were tried or abandoned."""

    plan: EvictionPlan | None
    complete: bool


def backtracking(problem: Eviction, time_limit: float | None = None, on_incumbent: OnPlan | None = None) -> Backtracked:
    """The paper's exhaustive search: every strategy of every job, combinations abandoned that cannot become better.

    Beyond the paper, a combination is abandoned, too, where the jobs that are left have too few nodes.
    ``time_limit`` in seconds; ``on_incumbent((loss, checkpoint time), plan)``: called with each better one, False stops.
    """
    began = time.perf_counter()
    ways, search = _ways(problem)
    plan: EvictionPlan | None = None
    while (end := kernels.backtrack(ways, search, problem.nodes_needed, problem.steps, BUDGET)) != kernels.DONE:
        if end == kernels.BETTER:
            names = dict(zip((c.id for c in problem.candidates), search.plan.tolist(), strict=True))
            plan = with_starts(problem, {job: STRATEGIES[what] for job, what in names.items()})
            if on_incumbent is not None and not on_incumbent(problem.objective(plan), plan):
                return Backtracked(plan, False)
        if time_limit is not None and time.perf_counter() - began > time_limit:
            return Backtracked(plan, False)
    if plan is None:  # nothing is needed, or nothing can be better than to keep all
        plan = with_starts(problem, dict.fromkeys((c.id for c in problem.candidates), "keep"))
    return Backtracked(plan, True)


def _ways(p: Eviction) -> tuple[Ways, BacktrackingState]:
    """What the four strategies of each job add, and a search at its beginning."""
    n = len(p.candidates)
    base, loss_unit, late = n + 1, _loss_unit(p), p.steps + 1
    steps = np.array(
        [
            [0, 0, *(min(late, p.checkpoint_steps[c.id].get(what, late)) for what in STRATEGIES[2:])]
            for c in p.candidates
        ],
        np.int64,
    ).reshape(n, 4)
    key = steps * base
    key[:, 1] = [c.loss // loss_unit * late * base for c in p.candidates]
    key[:, 2] -= 1
    nodes = np.array([[0, c.nodes, c.nodes, c.nodes] for c in p.candidates], np.int64).reshape(n, 4)
    left = np.zeros(n + 1, np.int64)
    left[:n] = nodes[::-1, 1].cumsum()[::-1]
    bonus = np.zeros(n + 1, np.int64)
    bonus[:n] = (steps[::-1, 2] == 0).cumsum()[::-1]
    following, sums, taken, freed = np.zeros((4, n + 1), np.int64)
    least = np.array([0 if p.nodes_needed == 0 else kernels.NEVER])
    return Ways(key, steps, nodes, left, bonus), BacktrackingState(
        following, sums, taken, freed, np.zeros(1, np.int64), least, np.zeros(n, np.uint8)
    )


@cache
def warm_up() -> None:
    """Compile the kernels, or load them from numba's cache."""
    jobs = [EvictionCandidate("a", 2, 10, 1, 2), EvictionCandidate("b", 3, 5, 2, None)]
    for deadline in (2, MOST_DENSE + 2):
        known = trade_off(Eviction(jobs, nodes_needed=3, deadline_s=deadline, step_s=1))
        known.plan()
    backtracking(known.problem)
