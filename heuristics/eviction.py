"""The eviction problem: dynamic program, greedy method, backtracking [Maurya2020]."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..backends.result import Result
from ..models import Eviction, EvictionCandidate, EvictionPlan, ProblemError, Schedule
from ..models.arguments import checked
from ..models.array_types import Ints
from ..models.eviction.jobs import STRATEGIES
from ..models.kind import WithProblem, given_problem
from ..models.long_calls import Deadline
from ..models.words import how_many, with_short_repr
from .errors import NothingFound
from .kernels import eviction as kernels
from .kernels.eviction import BacktrackingState, Bytes, Dense, Sparse, StrategyTable
from .search_parts import Incumbents, OnIncumbent, compiled_first

# --- The dynamic program of the eviction problem [Maurya2020], algorithm 1.
#
# The problem: for each running job choose keep, kill or one of its checkpoints (application or system), so that enough
# nodes become free before the deadline. Minimize the lost work in node-seconds; ties: the checkpoint time. Checkpoints
# are written one after another here.
#
# 1. Sort the jobs by nodes. best[0, t] = 0 for all deadlines t; best[k, t] = infinity for k > 0 nodes.
# 2. For each job with n nodes, loss l and a fastest checkpoint of c steps, replace best[k, t] by the minimum of
#    best[k, t] (keep), best[max(0, k - n), t] + l (kill) and best[max(0, k - n), t - c] + c (checkpoint).
#    Loss and time enter as one whole number that orders plans by loss, then time; see ``kernels.eviction``.
# 3. best[k, t] is the optimum for k nodes within t steps, for all k and t. Plans are read back job by job.

MOST_DENSE = 128  # steps up to which the dense table is faster than the sparse one
LARGEST_KEY = 2**61


class LeastLoss(NamedTuple):
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
    [LeastLoss(deadline_s=0, loss=10800, checkpoint_s=0), ..., LeastLoss(deadline_s=180, loss=3600, checkpoint_s=120)]
    >>> known.plan(nodes_needed=64, deadline_s=120).schedule.strategy
    {'a': 'sys', 'b': 'keep'}
    """

    problem: Eviction
    rows: EvictionArrays
    table: Dense | Sparse

    @checked
    def deadlines(self, nodes_needed: int | None = None) -> list[LeastLoss]:
        """Return the optimum for each deadline: 0, one step, two steps, ... up to the problem's deadline.

        ``nodes_needed`` is the number of nodes to free; None: the number that the problem needs. Raises ProblemError if the
        jobs use fewer nodes.
        """
        p = self.problem
        loss, steps = self.rows.decode(self._keys(self._row(nodes_needed)))
        pairs = zip(loss.tolist(), steps.tolist(), strict=True)
        return [LeastLoss(t * p.step_s, one, taken * p.step_s) for t, (one, taken) in enumerate(pairs)]

    @checked
    def plan(self, nodes_needed: int | None = None, deadline_s: int | None = None) -> Result:
        """Return the result with an optimal plan that frees ``nodes_needed`` nodes within ``deadline_s`` seconds.

        None: the problem's values. The ``problem`` of the result has these values, its ``schedule`` is the plan. Raises
        ProblemError if a value is outside the range that the table covers.
        """
        deadline = Deadline()
        p = self.problem
        plan = self.best_plan(nodes_needed, deadline_s)
        other = {"nodes_needed": nodes_needed, "deadline_s": deadline_s}
        changes = {name: value for name, value in other.items() if value is not None}
        seen = Incumbents(p.replace(**changes) if changes else p, "dp", deadline=deadline)
        return seen.result(plan, message=one_after_another(p), optimal=not p.shared_bandwidth)

    @checked
    def best_plan(self, nodes_needed: int | None = None, deadline_s: int | None = None) -> EvictionPlan:
        """Return the plan of ``plan`` alone, without its verification."""
        p = self.problem
        k = self._row(nodes_needed)
        if deadline_s is None:
            within = p.deadline_s
        else:
            within = deadline_s
        if not 0 <= within <= p.deadline_s:
            raise ProblemError(
                f"deadline_s is {within}; this trade-off covers 0 to {p.deadline_s} s: choose a deadline in this range"
            )
        t = within // p.step_s
        rows = self.rows
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
        plans: list[EvictionPlan] = []
        keys = self._keys(self._row(nodes_needed)).tolist()
        for t, key in enumerate(keys):
            same = t > 0 and key == keys[t - 1]
            plans.append(plans[-1] if same else self.best_plan(nodes_needed, t * self.problem.step_s))
        return plans

    @cached_property
    def losses(self) -> NDArray[np.int64]:
        """The least loss in node-seconds, shape (nodes in use + 1, deadlines in steps + 1)."""
        return np.array([[d.loss for d in self.deadlines(k)] for k in range(self.problem.nodes_in_use + 1)], np.int64)

    def _row(self, nodes_needed: int | None) -> int:
        """Return the row of the table for a number of nodes."""
        p = self.problem
        if nodes_needed is None:
            wanted = p.nodes_needed
        else:
            wanted = nodes_needed
        if not 0 <= wanted <= p.nodes_in_use:
            raise ProblemError(
                f"cannot free {how_many(wanted, 'node')}: the running jobs use {p.nodes_in_use}; choose 0 to {p.nodes_in_use}"
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
        base = len(jobs) + 1
        loss_unit = loss_unit_of(p)
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
                if what == kernels.KILL:
                    strategy[p.candidates[place].id] = "kill"
                else:
                    strategy[p.candidates[place].id] = kind
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
            f"the losses add up to {sum(losses):,} node-seconds, too large for exact 64-bit sums over {how_many(p.steps, 'step')}; "
            "use a larger step_s, or a solver"
        )
    return unit


def one_after_another(p: Eviction) -> str:
    """Return the message of a plan that does not use a shared bandwidth; "" if there is none."""
    if p.shared_bandwidth:
        return "checkpoints one after another"
    return ""


def with_starts(p: Eviction, strategy: dict[str, str]) -> EvictionPlan:
    """Return the plan; if checkpoints share the bandwidth, with starts that put them one after another."""
    if not p.shared_bandwidth:
        return EvictionPlan(strategy)
    start = {}
    begin = 0
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


# --- Greedy method and backtracking for the eviction problem [Maurya2020]; ``dynamic_program`` states the problem.
#
# Greedy method (``greedy``):
#
# 1. By falling loss, write the faster checkpoint of each job, until one would end after the deadline.
# 2. By rising loss, kill jobs that are left, until enough nodes are free.
#
# Backtracking (``backtracking``): depth-first search over the strategies of all jobs.
#
# 1. At depth d, try the strategies keep, kill, app and sys for job d.
# 2. Cut off a branch if its checkpoints end after the deadline, if the jobs that are left have too few nodes, or if its
#    loss and time cannot become less than those of the best plan.
# 3. If enough nodes are free, the plan that keeps all later jobs is the new best plan.

BUDGET = 500_000  # combinations between two looks at the clock


def greedy(problem: Eviction) -> EvictionPlan:
    """Return the greedy plan: checkpoint jobs by falling loss, then kill jobs by rising loss.

    1. By falling loss (ties: in the problem's order), write the faster checkpoint of each job, until one would end
       after the deadline. Jobs without a checkpoint are skipped.
    2. By rising loss, kill the jobs that are left.

    Both steps end as soon as enough nodes are free.

    Parameters
    ----------
    problem
        The eviction problem.

    Returns
    -------
    EvictionPlan
        The plan.

    References
    ----------
    [Maurya2020].
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
        what, steps = fastest_checkpoint(p, c)
        if used + steps > p.steps:
            break
        strategy[c.id], freed, used = what, freed + c.nodes, used + steps
    for c in reversed(order):
        if freed >= p.nodes_needed:
            break
        if strategy[c.id] == "keep":
            strategy[c.id], freed = "kill", freed + c.nodes
    return with_starts(p, strategy)


@compiled_first("eviction:warm_up")
def backtracking(
    problem: Eviction,
    *,
    time_limit: float | None = None,
    warm_start: Schedule | None = None,
    on_incumbent: OnIncumbent | None = None,
) -> Result:
    """Search all combinations of strategies, depth first, and return the best plan.

    A branch is cut off if it cannot become better than the best plan, if its checkpoints end too late, or if the jobs
    that are left have too few nodes. The last condition is not in the paper. Checkpoints are written one after another.

    Parameters
    ----------
    problem
        The eviction problem.
    time_limit
        Seconds; None: no limit.
    warm_start
        A plan, the best one at the beginning; None: no start.
    on_incumbent
        Called with each Incumbent; return False to stop.

    Returns
    -------
    Result
        It is "optimal" if the search is complete and checkpoints are not written side by side (``shared_bandwidth``). Its
        ``details``: ``complete``, whether the search is complete.

    Raises
    ------
    NothingFound
        If no plan was found within the time limit, and there is no start.

    References
    ----------
    [Maurya2020].
    """
    p = problem
    seen = Incumbents(problem, "backtracking", on_incumbent, warm_start, Deadline(time_limit))
    strategies, search = _strategies(p)
    plan = seen.start
    complete = False
    if plan is not None:
        loss, seconds = p.value(plan)
        search.least[0] = min(search.least[0], _less(p, loss, seconds))
    while not seen.stopped:
        end = kernels.backtrack(strategies, search, p.nodes_needed, p.steps, BUDGET)
        if end == kernels.DONE:
            complete = True
            break
        if end == kernels.BETTER:
            names = dict(zip((c.id for c in p.candidates), search.plan.tolist(), strict=True))
            plan = better = with_starts(p, {job: STRATEGIES[what] for job, what in names.items()})
            seen.report(p.value(plan), lambda better=better: better)  # type: ignore[misc]
        if seen.deadline.passed:
            break
    if complete and (plan is None or p.nodes_needed == 0):  # keeping all jobs is the best plan
        plan = with_starts(p, dict.fromkeys((c.id for c in p.candidates), "keep"))
    if plan is None:
        raise NothingFound("stopped" if time_limit is None else f"no plan was found within {time_limit:g} s")
    optimal = complete and not p.shared_bandwidth
    return seen.result(plan, message=one_after_another(p), optimal=optimal, details={"complete": complete})


def _less(p: Eviction, loss: int, seconds: int) -> int:
    """Return the key below which all plans are better than one of this loss (node-seconds) and checkpoint time."""
    steps = min(-(-seconds // p.step_s), p.steps)
    return (loss // loss_unit_of(p) * (p.steps + 1) + steps - 1) * (len(p.candidates) + 1) + 1


def _strategies(p: Eviction) -> tuple[StrategyTable, BacktrackingState]:
    """Return what the four strategies of each job add to a plan, and the initial state of the search."""
    n = len(p.candidates)
    base = n + 1
    loss_unit = loss_unit_of(p)
    late = p.steps + 1
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
    return StrategyTable(key, steps, nodes, left, bonus), BacktrackingState(
        following, sums, taken, freed, np.zeros(1, np.int64), least, np.zeros(n, np.uint8)
    )


@cache
def warm_up() -> None:
    """Compile the kernels, or load them from numba's cache."""
    jobs = [EvictionCandidate("a", 2, 10, 1, 2), EvictionCandidate("b", 3, 5, 2, None)]
    for deadline in (2, MOST_DENSE + 2):
        known = trade_off(Eviction(jobs, nodes_needed=3, deadline_s=deadline, step_s=1))
        known.best_plan()
    backtracking(known.problem)
