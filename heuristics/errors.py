"""Errors of heuristics that end without a schedule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..errors import SchedlabError
from ..models.words import UnknownName, how_many

if TYPE_CHECKING:
    from ..models import Dispatch, Job


class NothingFound(SchedlabError, RuntimeError):
    """A heuristic ended without a schedule; the message gives the reason."""


class NotForThisProblem(SchedlabError, ValueError):
    """The heuristic does not support this kind of problem."""


class NotTaken(NotForThisProblem, UnknownName):
    """A method of this kind of problem does not take this one; also an ``UnknownName``, as for other kinds.

    Parameters
    ----------
    name : str
        The name of the method.
    kind : str
        The kind of the problem.
    reason : str
        What it supports, and what this problem has.
    known : sequence of str
        The methods that take the problem.

    Examples
    --------
    >>> print(NotTaken("bounds", "project", "supports only projects that minimize the makespan", ["cpsat"]))
    the method 'bounds' does not take this project problem: it supports only projects that minimize the makespan; cpsat does
    """

    def __init__(self, name: str, kind: str, reason: str, known: Sequence[str]) -> None:
        self.near: list[str] = []
        verb = "does"
        if len(known) > 1:
            verb = "do"
        others = f"{', '.join(known) or 'no method'} {verb}"
        Exception.__init__(self, f"the method {name!r} does not take this {kind} problem: it {reason}; {others}")


class UnknownOrder(SchedlabError, ValueError):
    """The name of an ordering or rule is unknown, or a list of job ids is not a permutation of the problem's jobs."""


class CriterionUnusable(SchedlabError, ValueError):
    """The problem lacks the data that an ordering criterion needs; the message names them."""


class LimitsBroken(NothingFound):
    """The best schedule that a heuristic found breaks a limit on an objective.

    Parameters
    ----------
    faults
        One text for each broken limit.
    """

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__(
            f"the best schedule that was found breaks a limit: {'; '.join(faults)}; an exact method, such as "
            "cpsat:counts, can show whether a schedule keeps it"
        )


class ConstraintBroken(NothingFound):
    """Each schedule that an allocation tried breaks a constraint of the model of its starts.

    Parameters
    ----------
    model
        The name of the model.
    fault
        What the last schedule breaks.
    """

    def __init__(self, model: str, fault: str) -> None:
        super().__init__(
            f"no schedule was found that keeps the constraints of the model {model!r}: {fault}; formulations with the nodes in "
            "their answers, such as counts, find one if there is one"
        )


class NoSchedule(NothingFound):
    """A job finds no start inside its windows and before its deadline when the jobs are placed in this order.

    Parameters
    ----------
    problem
        The dispatching problem.
    job
        The job that has no start; its id is the attribute ``job``.
    """

    def __init__(self, problem: Dispatch, job: Job) -> None:
        windows = problem.start_windows(job)
        where = "at any time: its windows and its deadline exclude every start"
        if windows:
            where = f"in {_some(windows)}"
        deadline = ""
        if job.deadline is not None:
            deadline = f", to end by its deadline {job.deadline}"
        super().__init__(
            f"job {job.id!r} ({how_many(job.units, 'unit')} of {dict(job.request)}, {problem.duration(job)} s{deadline}) "
            f"cannot start {where}: the jobs that were placed before it occupy the nodes; try another order"
        )
        self.job = job.id


def _some(windows: Sequence[tuple[int, int]]) -> str:
    return ", ".join(f"[{lo}, {hi}]" for lo, hi in windows[:3]) + (", ..." if len(windows) > 3 else "")
