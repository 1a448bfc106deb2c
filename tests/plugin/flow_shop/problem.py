"""Flow shop with two machines: each job runs on machine 1, then on machine 2; the makespan is minimized.

Formulations:

- ``intervals``: an interval per job and machine, no overlap on a machine, precedences.
- ``positions``: binary x[j,k], job j is the k-th on both machines (some optimal schedule has the same order on both)::

      sum_k x[j,k] = 1 for each j,  sum_j x[j,k] = 1 for each k
      C1[k] = C1[k-1] + sum_j p1[j] x[j,k]
      C2[k] >= C1[k] + sum_j p2[j] x[j,k],  C2[k] >= C2[k-1] + sum_j p2[j] x[j,k],  minimize C2[n-1]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any, Literal

import schedlab as sl
from schedlab.models import Encoding, Schedule
from schedlab.models.language import Violation


class FlowShop:
    """The jobs: {name: (seconds on machine 1, seconds on machine 2)}. A schedule holds the starts as "name 1", "name 2"."""

    kind: str = "flow-shop"
    sense: Literal["minimize", "maximize"] = "minimize"

    def __init__(self, jobs: Mapping[str, tuple[int, int]]) -> None:
        self.jobs = dict(jobs)

    @property
    def formulations(self) -> Mapping[str, Callable[[], Encoding]]:
        """The two formulations."""
        return {"intervals": self._intervals, "positions": self._positions}

    def _intervals(self) -> Encoding:
        m = sl.Model("flow shop")
        on = {f"{j} {k + 1}": m.interval(f"{j} {k + 1}", size=p[k]) for j, p in self.jobs.items() for k in (0, 1)}
        for k in "12":
            m.add(sl.no_overlap([v for name, v in on.items() if name.endswith(f" {k}")]))
        for j in self.jobs:
            m.add(sl.end_before_start(on[f"{j} 1"], on[f"{j} 2"]))
        m.minimize(sl.max([v.end for v in on.values()]))
        return Encoding(
            m,
            lambda a: Schedule({name: a[v].start for name, v in on.items()}),
            lambda s: sl.Assignment(m, {v: s.start[name] for name, v in on.items()}),
        )

    def _positions(self) -> Encoding:
        m, names = sl.Model("flow shop by positions"), list(self.jobs)
        total = sum(a + b for a, b in self.jobs.values())
        at = {(j, k): m.integer(f"{j} at {k}", 0, 1) for j in names for k in range(len(names))}
        for j in names:
            m.add(sl.sum([at[j, k] for k in range(len(names))]) == 1)
        ends: list[sl.models.language.Integer] = []
        first: Any = 0
        for k in range(len(names)):
            m.add(sl.sum([at[j, k] for j in names]) == 1)
            first = first + sl.sum([at[j, k] for j in names], weights=[self.jobs[j][0] for j in names])
            second = sl.sum([at[j, k] for j in names], weights=[self.jobs[j][1] for j in names])
            ends.append(m.integer(f"end {k}", 0, total))
            m.add(ends[k] >= first + second)
            if k:
                m.add(ends[k] >= ends[k - 1] + second)
        m.minimize(ends[-1] + 0)

        def read(a: sl.Assignment) -> Schedule:
            return self.in_order(sorted(names, key=lambda j: next(k for k in range(len(names)) if a[at[j, k]])))

        def write(s: Schedule) -> sl.Assignment:
            order = sorted(names, key=lambda j: s.start[f"{j} 1"])
            made = self.in_order(order)
            values: dict[Any, Any] = {at[j, k]: int(order[k] == j) for j, k in at}
            values |= {v: made.start[f"{j} 2"] + self.jobs[j][1] for v, j in zip(ends, order, strict=True)}
            return sl.Assignment(m, values)

        return Encoding(m, read, write)

    def in_order(self, order: list[str]) -> Schedule:
        """Return the schedule that runs the jobs in this order on both machines, each as early as possible."""
        start, free = {}, [0, 0]
        for j in order:
            start[f"{j} 1"] = free[0]
            free[0] += self.jobs[j][0]
            start[f"{j} 2"] = max(free)
            free[1] = max(free) + self.jobs[j][1]
        return Schedule(start)

    def verify(self, schedule: Schedule) -> list[Violation]:
        """Return what the schedule violates."""
        names = [f"{j} {k}" for j in self.jobs for k in "12"]
        found = [Violation(n, 1, f"{n} has no start") for n in names if n not in schedule.start]
        if found:
            return found
        end = {f"{j} {k + 1}": schedule.start[f"{j} {k + 1}"] + p[k] for j, p in self.jobs.items() for k in (0, 1)}
        pairs = [(f"{j} 1", f"{j} 2") for j in self.jobs]
        for k in "12":
            sequence = sorted((n for n in names if n.endswith(f" {k}")), key=lambda n: (schedule.start[n], end[n]))
            pairs += pairwise(sequence)
        return [
            Violation(b, end[a] - schedule.start[b], f"{b} starts at {schedule.start[b]}, before the end of {a}")
            for a, b in pairs
            if schedule.start[b] < end[a]
        ]

    def value(self, schedule: Schedule) -> int:
        """Return the makespan in seconds."""
        return max(schedule.start[f"{j} 2"] + p[1] for j, p in self.jobs.items())

    def read(self, data: Any) -> Schedule:
        """Return a schedule from its JSON form."""
        return Schedule.from_json(data)
