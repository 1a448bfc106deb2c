"""The bound of the makespan that solvers are given; the modules of bounds, and numba, are imported where there can be one."""

from __future__ import annotations

from ...backends.base import Limits
from ...models.long_calls import Deadline
from ...models.project.problem import Project

FEW_TASKS = 35  # up to here solvers prove as much at once, and numba need not be imported; PSPLIB's j30 have 32
CROWDED = 0.9  # of the longest path: the work on some resource; below it no bound was better than the path, see ``_is_crowded``
SOLVER_SHARE = 0.1  # of the time of a solver's call, for the bound that it is given


def bound_for_solvers(problem: Project, limits: Limits) -> int | None:
    """Return the bound of the makespan that solvers have as a constraint, found in a tenth of their time.

    Parameters
    ----------
    problem
        The project; maximal time lags are left out, so that the bound holds with them.
    limits
        Of the call; with a deterministic limit no clock is looked at.

    Returns
    -------
    int or None
        None for projects of at most 35 tasks, for those of which a makespan of all tasks is not the objective, and for those
        with one mode a task in which the work on no resource takes nine tenths of the longest path.
    """
    if not _is_useful(problem):
        return None
    from ..search_parts import Clock
    from .bounds import MakespanBounds

    left = limits.deadline.remaining
    timed = left is not None and limits.deterministic is None
    with Clock(Deadline(SOLVER_SHARE * left if timed and left is not None else None)) as clock:
        return max(MakespanBounds(problem, clock).compute(problem.horizon).values())


def warm_up_for_solvers(problem: Project) -> None:
    """Compile the kernels if solvers are given a bound of this project."""
    if _is_useful(problem):
        from ...models.compiled import progress_line
        from .bounds import warm_up

        with progress_line():
            warm_up()


def _is_useful(problem: Project) -> bool:
    if len(problem.tasks) <= FEW_TASKS:
        return False
    from .serial_sgs import bounds_hold, longest_path

    return bounds_hold(problem) and _is_crowded(problem, longest_path(problem))


def _is_crowded(project: Project, path: int) -> bool:
    """Return whether a bound can be better than the longest path, which solvers find at once.

    Always where tasks have several modes; else where the work on some resource takes most of the longest path, ``path``. Measured on
    25 files of PSPLIB and on 24 with other capacities: below nine tenths no bound was better after the time limit.
    """
    if any(len(t.modes) > 1 for t in project.tasks):
        return True
    work: dict[str, int] = {}
    for task in project.tasks:
        mode = task.modes[0]
        for name, amount in mode.demands.items():
            work[name] = work.get(name, 0) + amount * mode.duration
    return any(work.get(r.name, 0) >= CROWDED * path * r.capacity for r in project.resources if r.renewable)
