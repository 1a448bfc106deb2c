"""Errors of heuristics that end without a schedule."""

from __future__ import annotations

from collections.abc import Sequence

from ..models import Dispatch, Job


class NothingFound(Exception):
    """A heuristic ended without a schedule; the message says why."""


class UnknownOrder(ValueError):
    """There is no such criterion, or a list of jobs is not an order of the problem's jobs."""


class CriterionUnusable(ValueError):
    """The problem lacks what the criterion orders by; the message says what."""


class NoSchedule(NothingFound):
    """Placed in this order, some job finds no start in its windows and before its deadline; ``job`` is its id."""

    def __init__(self, problem: Dispatch, job: Job) -> None:
        windows = problem.start_windows(job)
        where = f"in {_some(windows)}" if windows else "at all: its windows and its deadline leave no moment"
        deadline = "" if job.deadline is None else f", to end by its deadline {job.deadline}"
        super().__init__(
            f"job {job.id!r} ({job.units} units of {dict(job.request)}, {problem.duration(job)} s{deadline}) "
            f"cannot start {where} beside the jobs that were placed before it; try another order"
        )
        self.job = job.id


def _some(windows: Sequence[tuple[int, int]]) -> str:
    return ", ".join(f"[{lo}, {hi}]" for lo, hi in windows[:3]) + (", ..." if len(windows) > 3 else "")
