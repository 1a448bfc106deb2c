"""Greedy method and backtracking for the eviction problem [Maurya2020]; ``dynamic_program`` states the problem.

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

from functools import cache

import numpy as np

from ...backends.result import Result
from ...models import Eviction, EvictionCandidate, EvictionPlan, Schedule
from ...models.eviction.plan import STRATEGIES
from ..compiled_first import compiled_first
from ..errors import NothingFound
from ..incumbents import Incumbents, OnIncumbent
from ..kernels import eviction as kernels
from ..kernels.eviction import BacktrackingState, StrategyTable
from .dynamic_program import MOST_DENSE, fastest_checkpoint, loss_unit_of, one_after_another, trade_off, with_starts

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


@compiled_first("eviction.search:warm_up")
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
    p, seen = problem, Incumbents(problem, "backtracking", on_incumbent, warm_start)
    strategies, search = _strategies(p)
    plan, complete = seen.start, False
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
            plan = found = with_starts(p, {job: STRATEGIES[what] for job, what in names.items()})
            seen.report(p.value(plan), lambda found=found: found)  # type: ignore[misc]
        if time_limit is not None and seen.elapsed > time_limit:
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
        known.best_plan()
    backtracking(known.problem)
