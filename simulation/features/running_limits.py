"""Limits on what running jobs hold together: licences of the machine, and limits of users, accounts and QOS.

A job that a limit holds takes no reservation and delays no other job; it is tried again whenever a job has ended. The
component knows no dispatcher: limits are amounts of the replay (``TraceArrays.limit``), which every start takes and every
end gives back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...heuristics.kernels.events.state import TraceArrays
from ...instances.workload import Workload
from ...models import Platform
from ...models.array_types import Ints
from ...models.dispatch.arrays import offsets
from .feature import Feature, Replay


@dataclass(frozen=True, eq=False)
class RunningLimit:
    """A limit on what some jobs hold together while they run.

    Parameters
    ----------
    name : str
        What messages call it, such as ``licences of 'matlab'``.
    most : int
        The greatest sum of the amounts.
    rows : ndarray of int64, shape (entries,)
        The rows of the jobs that it is for.
    amounts : ndarray of int64, shape (entries,)
        What each of them holds.

    Examples
    --------
    >>> limit = RunningLimit("licences of 'matlab'", 2, np.array([0, 3]), np.array([1, 3]))
    >>> limit.never().tolist()  # the job of row 3 asks for more than there is
    [3]
    """

    name: str
    most: int
    rows: Ints
    amounts: Ints

    def never(self) -> Ints:
        """Return the rows of the jobs that it never lets start."""
        return self.rows[self.amounts > self.most]


LimitsOf = Callable[[Workload, Platform], Sequence[RunningLimit]]
"""Returns the limits of the rows of a workload on a platform."""


def licences_of(workload: Workload, platform: Platform) -> list[RunningLimit]:
    """Return the limits that the licences of a platform are."""
    limits = []
    for name, total in platform.licences.items():
        amounts = np.array([dict(t.licences).get(name, 0) for t in workload.node_terms], np.int64)[workload.node_term]
        rows = np.flatnonzero(amounts)
        limits.append(RunningLimit(f"licences of {name!r}", total, rows, amounts[rows]))
    return limits


class RunningLimits(Feature):
    """The limits of a replay.

    Parameters
    ----------
    limits_of : sequence of callable
        Each returns limits of the jobs of the replay.
    """

    counts_kinds = True

    def __init__(self, limits_of: Sequence[LimitsOf]) -> None:
        self._limits_of = tuple(limits_of)

    def arrays(self, trace: TraceArrays, workload: Workload, by_count: bool) -> TraceArrays:
        """Return the arrays with the limits that can hold a job."""
        limits = [x for limits_of in self._limits_of for x in limits_of(workload, self._platform) if can_hold(x)]
        self._names = tuple(x.name for x in limits)
        if not limits:
            return trace
        row = np.concatenate([x.rows for x in limits])
        order = np.argsort(row, kind="stable")
        number = np.repeat(np.arange(len(limits)), [x.rows.size for x in limits])
        return trace._replace(
            first_limit=offsets(np.bincount(row, minlength=len(workload))),
            limit=number[order],
            limit_amount=np.concatenate([x.amounts for x in limits])[order],
            limit_capacity=np.array([x.most for x in limits], np.int64),
        )

    def jobs(self, workload: Workload, platform: Platform) -> Workload:
        """Keep the platform; the jobs stay as they are."""
        self._platform = platform
        return workload

    def begin(self, engine: Replay) -> None:
        """Name the limits for messages."""
        engine.timeline.limit_names = self._names


def can_hold(limit: RunningLimit) -> bool:
    """Return whether a limit can keep a job waiting: all its jobs together hold more than it allows."""
    return int(limit.amounts.sum()) > limit.most


def unstartable(limits: Iterable[RunningLimit], why: str = "asks for more than the limit") -> Mapping[int, str]:
    """Return the rows of the jobs that a limit never lets start, each with the reason."""
    reasons: dict[int, str] = {}
    for limit in limits:
        for row in limit.never().tolist():
            reasons.setdefault(row, f"{why} {limit.name}, which is {limit.most:,}")
    return reasons
