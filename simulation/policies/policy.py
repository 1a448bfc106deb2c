"""Policies that need no solver: a priority, strictness, reservations; the names under which they are known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...instances.workload import Ints, Workload

Floats = NDArray[np.float64]
Key = Callable[[Workload, Ints], "Floats | Ints | tuple[Floats, Floats]"]
"""Of a workload and the expected durations of its jobs, a number per job: the least goes first, ties by submit time.
A pair (base, slope) is a priority that changes with time: base + slope x now."""


def by_submit(workload: Workload, expected: Ints) -> Ints:
    """First come, first served."""
    return workload.submit


def by_release(workload: Workload, expected: Ints) -> Ints:
    """The earliest start that the job allows."""
    return workload.release


def by_duration(workload: Workload, expected: Ints) -> Ints:
    """The shortest expected duration first (the walltime, where that is the predictor)."""
    return expected


def by_profit(workload: Workload, expected: Ints) -> Floats:
    """The greatest profit per cost first (thesis 6.3): see ``heuristics.rules.most_profit_first``."""
    from ...heuristics.rules import most_profit_first  # naming a policy needs no compiler, this does

    cores = workload.units * workload.request[:, _cores(workload)]
    return most_profit_first(cores, expected, workload.power)


def by_slowdown(workload: Workload, expected: Ints) -> tuple[Floats, Floats]:
    """The greatest slowdown by now first: (now - submit + d) / d (Galleguillos 4)."""
    d = np.maximum(1, expected).astype(np.float64)
    return (workload.submit - d) / d, -1 / d


def _cores(workload: Workload) -> int:
    return workload.resources.index("cores") if "cores" in workload.resources else 0


@dataclass(frozen=True)
class Policy:
    """Waiting jobs in the order of ``key``; a compiled policy.

    ``reservations``: how many of the first jobs that cannot start, for want of nodes or by their calendars, hold a
    reservation which later jobs must not delay (None: all), at the earliest start that both allow; with 0, ``strict`` says whether later jobs have to wait behind the first that does not fit. ``candidates``: only
    so many jobs at the head are looked at (None: all).

    >>> Policy("first 10 may start, one holds a reservation", by_submit, reservations=1, candidates=10).reservations
    1
    """

    name: str
    key: Key = by_submit
    strict: bool = False
    reservations: int | None = 0
    candidates: int | None = None

    def __post_init__(self) -> None:
        for what, least in (("reservations", 0), ("candidates", 1)):
            value = getattr(self, what)
            if value is not None and value < least:
                raise ValueError(f"policy {self.name!r}: {what} is {value}, expected at least {least}, or None for all")


POLICIES: dict[str, Policy] = {
    p.name: p
    for p in (
        Policy("fcfs", by_submit, strict=True),
        Policy("sjf", by_duration, strict=True),
        Policy("rule:est", by_release),
        Policy("rule:est-strict", by_release, strict=True),
        Policy("rule:wt", by_duration),
        Policy("rule:wt-strict", by_duration, strict=True),
        Policy("rule:profit", by_profit),
        Policy("rule:profit-strict", by_profit, strict=True),
        Policy("rule:slowdown", by_slowdown),
        Policy("rule:slowdown-strict", by_slowdown, strict=True),
        Policy("easy", by_submit, reservations=1),
        Policy("conservative", by_submit, reservations=None),
        Policy("pbs-fifo", by_submit, reservations=10),
        Policy("pbs-walltime", by_duration, reservations=400),
    )
}
"""``pbs-fifo`` and ``pbs-walltime`` are the two configurations of thesis 4.5: backfill depth 10 and 400. The depth is read
as PBS Professional has it, the number of jobs at the head that hold a reservation while every other job may fill around
them; ``candidates`` is the other reading."""
