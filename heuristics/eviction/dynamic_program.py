"""The dynamic program of the eviction problem [Maurya2020], algorithm 1.

The problem: for each running job choose keep, kill or one of its checkpoints (application or system), so that enough
nodes become free before the deadline. Minimize the lost work in node-seconds; ties: the checkpoint time. Checkpoints
are written one after another here.

1. Sort the jobs by nodes. best[0, t] = 0 for all deadlines t; best[k, t] = infinity for k > 0 nodes.
2. For each job with n nodes, loss l and a fastest checkpoint of c steps, replace best[k, t] by the minimum of
   best[k, t] (keep), best[max(0, k - n), t] + l (kill) and best[max(0, k - n), t - c] + c (checkpoint).
   Loss and time enter as one whole number that orders plans by loss, then time; see ``kernels.eviction``.
3. best[k, t] is the optimum for k nodes within t steps, for all k and t. Plans are read back job by job.
"""

from __future__ import annotations

import math
import time
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...backends.result import Result
from ...models import Eviction, EvictionCandidate, EvictionPlan, ProblemError
from ...models.arguments import checked
from ...models.excerpt import with_short_repr
from ...models.given import WithProblem, given_problem
from ..incumbents import Incumbents
from ..kernels import eviction as kernels
from ..kernels.eviction import Bytes, Dense, Ints, Sparse

MOST_DENSE = 128  # steps up to which the dense table is faster than the sparse one
LARGEST_KEY = 2**61


class Deadline(NamedTuple):
    """The optimum within one deadline.

    Parameters
    ----------
    deadline_s
        The deadline in seconds.
    loss
        Lost work in node-seconds.
    checkpoint_s
        Time for the checkpoints in seconds.
    """

    deadline_s: int
    loss: int
    checkpoint_s: int


@with_short_repr
@dataclass(frozen=True, eq=False)
class TradeOff:
    """The optimal loss for every number of nodes and every deadline in whole steps, with the plans.

    Parameters
    ----------
    problem
        The eviction problem.
    rows
        The jobs as arrays.
    table
        The table of the dynamic program: all deadlines (dense), or only those at which a value changes (sparse).

    Examples
    --------
    >>> from schedlab.models import EvictionCandidate, Eviction
    >>> jobs = [EvictionCandidate("a", 64, 7200, 90, None), EvictionCandidate("b", 64, 3600, 300, 200)]
    >>> known = trade_off(Eviction(jobs, nodes_needed=100, deadline_s=180))
    >>> known.deadlines()
    [Deadline(deadline_s=0, loss=10800, checkpoint_s=0), ..., Deadline(deadline_s=180, loss=3600, checkpoint_s=120)]
    >>> known.plan(nodes_needed=64, deadline_s=120).schedule.strategy
    {'a': 'sys', 'b': 'keep'}
    """

    problem: Eviction
    rows: EvictionArrays
    table: Dense | Sparse

    @checked
    def deadlines(self, nodes_needed: int | None = None) -> list[Deadline]:
        """Return the optimum for each deadline: 0, one step, two steps, ... up to the problem's deadline.

        ``nodes_needed`` is the number of nodes to free; None: the number that the problem needs. Raises ProblemError if the
        jobs use fewer nodes.
        """
        p = self.problem
        loss, steps = self.rows.decode(self._keys(self._row(nodes_needed)))
        pairs = zip(loss.tolist(), steps.tolist(), strict=True)
        return [Deadline(t * p.step_s, one, taken * p.step_s) for t, (one, taken) in enumerate(pairs)]

    @checked
    def plan(self, nodes_needed: int | None = None, deadline_s: int | None = None) -> Result:
        """Return the result with an optimal plan that frees ``nodes_needed`` nodes within ``deadline_s`` seconds.

        None: the problem's values. The ``problem`` of the result has these values, its ``schedule`` is the plan. Raises
        ProblemError if a value is outside the range that the table covers.
        """
        began, p = time.perf_counter(), self.problem
        plan = self.best_plan(nodes_needed, deadline_s)
        other = {"nodes_needed": nodes_needed, "deadline_s": deadline_s}
        changes = {name: value for name, value in other.items() if value is not None}
        seen = Incumbents(p.replace(**changes) if changes else p, "dp", began=began)
        return seen.result(plan, message=one_after_another(p), optimal=not p.shared_bandwidth)

    @checked
    def best_plan(self, nodes_needed: int | None = None, deadline_s: int | None = None) -> EvictionPlan:
        """Return the plan of ``plan`` alone, without its verification."""
        p, k = self.problem, self._row(nodes_needed)
        within = p.deadline_s if deadline_s is None else deadline_s
        if not 0 <= within <= p.deadline_s:
            raise ProblemError(
                f"deadline_s is {within}; this trade-off covers 0 to {p.deadline_s} s: choose a deadline in this range"
            )
        t, rows = within // p.step_s, self.rows
        done = np.empty(rows.units.size, np.uint8)
        if isinstance(self.table, Dense):
            kernels.trace_dense(self.table, rows.units, rows.takes, k, t, done)
        else:
            point = bisect_right(self._points(k)[0].tolist(), t) - 1
            kernels.trace_sparse(self.table, int(self.table.row[k]) + point, done)
        return rows.plan(p, done)

    @checked
    def plans(self, nodes_needed: int | None = None) -> list[EvictionPlan]:
        """Return the optimal plan for each deadline of ``deadlines``; equal neighbours are the same object."""
        found: list[EvictionPlan] = []
        keys = self._keys(self._row(nodes_needed)).tolist()
        for t, key in enumerate(keys):
            same = t > 0 and key == keys[t - 1]
            found.append(found[-1] if same else self.best_plan(nodes_needed, t * self.problem.step_s))
        return found

    @cached_property
    def losses(self) -> NDArray[np.int64]:
        """The least loss in node-seconds, shape (nodes in use + 1, deadlines in steps + 1)."""
        return np.array([[d.loss for d in self.deadlines(k)] for k in range(self.problem.nodes_in_use + 1)], np.int64)

    def _row(self, nodes_needed: int | None) -> int:
        """Return the row of the table for a number of nodes."""
        p = self.problem
        wanted = p.nodes_needed if nodes_needed is None else nodes_needed
        if not 0 <= wanted <= p.nodes_in_use:
            raise ProblemError(
                f"cannot free {wanted} nodes: the running jobs use {p.nodes_in_use}; choose 0 to {p.nodes_in_use}"
            )
        return -(-wanted // self.rows.unit)

    def _keys(self, k: int) -> Ints:
        """Return the least key of a row for every deadline."""
        if isinstance(self.table, Dense):
            return self.table.best[:, k]
        time, key = self._points(k)
        return key[np.searchsorted(time, np.arange(self.problem.steps + 1), side="right") - 1]

    def _points(self, k: int) -> tuple[NDArray[np.int32], Ints]:
        assert isinstance(self.table, Sparse)
        inside = slice(int(self.table.row[k]), int(self.table.row[k + 1]))
        return self.table.time[inside], self.table.key[inside]


@with_short_repr
@dataclass(frozen=True, eq=False)
class EvictionArrays:
    """The jobs as arrays, sorted by nodes (ascending); all arrays have the shape (jobs,).

    Parameters
    ----------
    order
        Index of each job in ``problem.candidates``.
    unit
        Greatest common divisor of the nodes of all jobs.
    units
        Nodes of each job, divided by ``unit``.
    kill
        Key of killing the job, see ``kernels.eviction``.
    checkpoint
        Key of the fastest checkpoint of the job.
    takes
        Steps of that checkpoint; more than the deadline if the job has none.
    kinds
        Kind of that checkpoint: "app" or "sys".
    loss_unit
        Greatest common divisor of the losses, in node-seconds.
    base
        Factor of one step in a key: jobs + 1.
    steps
        The deadline in steps.
    """

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
        fastest = [fastest_checkpoint(p, c) for c in jobs]
        base, loss_unit = len(jobs) + 1, loss_unit_of(p)
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
        """Return the loss in node-seconds and the steps of checkpoints of each key."""
        pair = -(-keys // self.base)
        return pair // (self.steps + 1) * self.loss_unit, pair % (self.steps + 1)

    def plan(self, p: Eviction, done: Bytes) -> EvictionPlan:
        """Return the plan from the action (keep, kill, checkpoint) of each row."""
        strategy = dict.fromkeys((c.id for c in p.candidates), "keep")
        for place, kind, what in zip(self.order, self.kinds, done.tolist(), strict=True):
            if what != kernels.KEEP:
                strategy[p.candidates[place].id] = "kill" if what == kernels.KILL else kind
        return with_starts(p, strategy)


def fastest_checkpoint(p: Eviction, c: EvictionCandidate) -> tuple[str, int]:
    """Return kind and steps of a job's fastest checkpoint, "app" if equal; more steps than allowed if none."""
    return min(p.checkpoint_steps[c.id].items(), key=lambda kind: kind[1], default=("sys", p.steps + 1))


def loss_unit_of(p: Eviction) -> int:
    """Return the greatest common divisor of the losses. Raises ProblemError if the keys would exceed 64 bits."""
    losses = [c.loss for c in p.candidates]
    unit = math.gcd(*losses) or 1
    if (sum(losses) // unit + 1) * (p.steps + 1) * (len(losses) + 1) >= LARGEST_KEY:
        raise ProblemError(
            f"the losses add up to {sum(losses):,} node-seconds, too large for exact 64-bit sums over {p.steps} steps; "
            "use a larger step_s, or a solver"
        )
    return unit


def one_after_another(p: Eviction) -> str:
    """Return the message of a plan that does not use a shared bandwidth; "" if there is none."""
    return "checkpoints one after another" if p.shared_bandwidth else ""


def with_starts(p: Eviction, strategy: dict[str, str]) -> EvictionPlan:
    """Return the plan; if checkpoints share the bandwidth, with starts that put them one after another."""
    if not p.shared_bandwidth:
        return EvictionPlan(strategy)
    start, begin = {}, 0
    for job, what in strategy.items():
        if what in ("app", "sys"):
            end = begin + p.checkpoint_steps[job][what]
            start[job] = (end - p.writing_steps[job][what]) * p.step_s
            begin = end
    return EvictionPlan(strategy, start)


@checked(skip=("problem",))
def trade_off(problem: Eviction | WithProblem | str) -> TradeOff:
    """Return the optimum for every number of nodes and every deadline, with checkpoints one after another.

    The first call in a process compiles the kernels or loads them from the cache. Among equal plans the result is
    always the same one.

    Parameters
    ----------
    problem
        The eviction problem, an Instance, or the name of one; its deadline is the largest deadline of the table.

    Returns
    -------
    TradeOff
        The table of optima, from which plans can be read.

    Raises
    ------
    ProblemError
        If the losses need more than 64 bits.

    References
    ----------
    [Maurya2020], algorithm 1; the table is the same, computed in another order.
    """
    p: Eviction = given_problem(problem, ("eviction",), "trade_off")
    rows = EvictionArrays.of(p)
    kernel = kernels.dense if rows.steps <= MOST_DENSE else kernels.sparse
    return TradeOff(p, rows, kernel(rows.units, rows.kill, rows.checkpoint, rows.takes, rows.steps))
