"""Greedy method and backtracking for the eviction problem [Maurya2020]; ``evictions`` states the problem.

Greedy method (``greedy``):

1. By falling loss, write the faster checkpoint of each job, until one would end after the deadline.
2. By rising loss, kill jobs that are left, until enough nodes are free.

Backtracking (``backtracking``): depth-first search over the strategies of all jobs.

1. At depth d, try the strategies keep, kill, app and sys for job d.
2. Cut off a branch if its checkpoints end after the deadline, if the jobs that are left have too few nodes, or if its
   loss and time cannot become less than those of the best plan.
3. If enough nodes are free, the plan that keeps all later jobs is the new best plan.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

from ..models import Eviction, EvictionCandidate, EvictionPlan
from ..models.eviction.plan import STRATEGIES
from .evictions import MOST_DENSE, fastest_checkpoint, loss_unit_of, trade_off, with_starts
from .kernels import eviction as kernels
from .kernels.eviction import BacktrackingState, StrategyTable

BUDGET = 500_000  # combinations between two looks at the clock
# on_incumbent((loss in node-seconds, checkpoint time in seconds), plan) -> bool; return False to stop
OnPlan = Callable[[tuple[int, int], EvictionPlan], bool]


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


class Backtracked(NamedTuple):
    """The result of the backtracking search.

    Parameters
    ----------
    plan
        The best plan found; None if none was found in time.
    complete
        Whether the search is complete, which proves that the plan is optimal.
    """

    plan: EvictionPlan | None
    complete: bool


def backtracking(problem: Eviction, time_limit: float | None = None, on_incumbent: OnPlan | None = None) -> Backtracked:
    """Search all combinations of strategies, depth first, and return the best plan.

    A branch is cut off if it cannot become better than the best plan, if its checkpoints end too late, or if the jobs
    that are left have too few nodes. The last condition is not in the paper.

    Parameters
    ----------
    problem
        The eviction problem.
    time_limit
        Seconds; None: no limit.
    on_incumbent
        Called with ((loss, checkpoint time), plan) for each better plan; return False to stop.

    Returns
    -------
    Backtracked
        The best plan, and whether the search is complete.

    References
    ----------
    [Maurya2020].
    """
    began = time.perf_counter()
    strategies, search = _strategies(problem)
    plan: EvictionPlan | None = None
    while (end := kernels.backtrack(strategies, search, problem.nodes_needed, problem.steps, BUDGET)) != kernels.DONE:
        if end == kernels.BETTER:
            names = dict(zip((c.id for c in problem.candidates), search.plan.tolist(), strict=True))
            plan = with_starts(problem, {job: STRATEGIES[what] for job, what in names.items()})
            if on_incumbent is not None and not on_incumbent(problem.objective(plan), plan):
                return Backtracked(plan, False)
        if time_limit is not None and time.perf_counter() - began > time_limit:
            return Backtracked(plan, False)
    if plan is None:  # no node is needed, or keeping all jobs is the best plan
        plan = with_starts(problem, dict.fromkeys((c.id for c in problem.candidates), "keep"))
    return Backtracked(plan, True)


def _strategies(p: Eviction) -> tuple[StrategyTable, BacktrackingState]:
    """Return what the four strategies of each job add to a plan, and the initial state of the search."""
    n = len(p.candidates)
    base, loss_unit, late = n + 1, loss_unit_of(p), p.steps + 1
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
        known.plan()
    backtracking(known.problem)
