"""A bound of the makespan by a short run of CP-SAT from the best schedule of a search."""

from __future__ import annotations

import math
from typing import NamedTuple

from ...models import Project, Schedule
from ...models.project.formulations import modes
from ..clock import Clock
from .bounds import MOST_EXCLUSIVE, MakespanBounds
from .serial_sgs import bounds_hold

SOLVER = "cpsat"
SHARE = 0.1  # of the time limit of a search
SHORTEST = 5.0  # seconds of a search below which the share would not suffice to build the model
MOST_TASKS = 2000  # of larger projects, the model alone takes seconds


class Proved(NamedTuple):
    """A bound, and a schedule that is better than the best one of the search, if the solver has found one."""

    bound: int
    schedule: Schedule | None
    interrupted: bool = False


def kept_for_bound(problem: Project, time_limit: float | None) -> float:
    """Return the seconds of a search that are kept for its bound.

    0 without a time limit, if the solver is missing, or if a makespan of all tasks is not the objective.
    """
    from ...backends import backend

    if (
        not bounds_hold(problem)
        or time_limit is None
        or not SHORTEST <= time_limit < math.inf
        or len(problem.tasks) > MOST_TASKS
    ):
        return 0.0
    return SHARE * time_limit if backend(SOLVER).availability().ok else 0.0


def proved_bound(problem: Project, best: Schedule, least: int, seconds: float, threads: int, seed: int) -> Proved:
    """Return the better one of the bounds of schedlab and CP-SAT.

    Parameters
    ----------
    problem
        The project.
    best
        A feasible schedule, from which the solver starts. No longer one is looked for.
    least
        A bound that is known.
    seconds
        Time limit, above 0. The solver also ends after as many units of its own work, so that on an idle machine the bound
        does not depend on a clock.
    threads, seed
        Of the solver.

    Returns
    -------
    Proved
    """
    from ...backends import INTERRUPTED, Limits, LoweringTooLarge, SolverUnavailable, run

    limits = Limits(seconds, threads, seed, deterministic=seconds, log=False).begun()
    makespan = int(problem.value(best))
    with Clock(limits.deadline) as clock:
        least = max(least, *MakespanBounds(problem, clock).compute(makespan).values())
    if least == makespan:
        return Proved(least, None)
    exclusive = None if len(problem.tasks) <= MOST_EXCLUSIVE else ()  # the sets are redundant
    encoding = modes(problem, makespan, exclusive)
    try:
        result = run(encoding.model, SOLVER, limits, warm_start=encoding.write(best), conflict=False, known_bound=least)
    except (SolverUnavailable, LoweringTooLarge):
        return Proved(least, None)
    if result.status not in ("optimal", "feasible", "unknown"):
        return Proved(least, None, result.message == INTERRUPTED)
    assert result.bound is not None and not isinstance(result.bound, tuple)  # at least ``least``
    shorter = result.assignment is not None and not result.violations and result.objective != makespan
    schedule = encoding.read(result.assignment) if shorter and result.assignment is not None else None
    return Proved(round(result.bound), schedule, result.message == INTERRUPTED)
