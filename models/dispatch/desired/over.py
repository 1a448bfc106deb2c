"""The over-utilisation of the machine as a cost of the starts of jobs: data for kernels, expressions for models."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ... import language as sl
from ...language import Expression, Interval
from ..job_arrays import Floats, Ints

if TYPE_CHECKING:
    from ..jobs import Running
    from ..problem import Dispatch

MILLI = 1000  # amounts are counted in thousandths: desired amounts are shares of capacities
HOUR = 3600
OVERLAPS = 1_000  # of a model: CP-SAT has about five variables for each of them
FEWEST = 12  # cells of a model
GROWTH = 8.0  # the last cell is about exp(GROWTH) times as long as the first one: the near future counts most
ROUNDING = 1e-6
POWER = "power"


class Row(NamedTuple):
    """One resource: what the jobs may use without cost, and what they use; in thousandths.

    Parameters
    ----------
    times : array of int, shape (steps,)
        Increasing times in seconds, the first one is now.
    level : array of int, shape (steps,)
        The desired amount of the machine less what the running jobs use, from each time on; negative if these use more.
    demand : array of int, shape (jobs,)
        What each job uses.
    most : int
        The greatest use of the jobs together.
    """

    times: Ints
    level: Ints
    demand: Ints
    most: int

    def beside(self, begin: Ints, end: Ints, demand: Ints) -> Row:
        """Return the row of some jobs beside others that run in [begin, end) (seconds); ``demand``: of the others."""
        times = np.unique(np.concatenate([self.times, begin, end]))
        level = self.level[np.maximum(0, np.searchsorted(self.times, times, side="right") - 1)]
        for at, sign in ((begin, 1), (end, -1)):
            order = np.argsort(at, kind="stable")
            total = np.concatenate([[0], np.cumsum(demand[order])])
            level = level - sign * total[np.searchsorted(at[order], times, side="right")]
        return self._replace(times=times, level=level)

    def volume(self) -> float:
        """Return the volume above the level without any of the jobs, in thousandths of an amount times seconds."""
        return float((np.maximum(0, -self.level)[:-1] * np.diff(self.times)).sum())


@dataclass(frozen=True, eq=False)
class OverCost:
    """The cost of the over-utilisation of a problem.

    Parameters
    ----------
    price : float
        The cost of a thousandth of an amount above the profile for one second.
    rows : tuple of Row
        The resources with a wish.
    """

    price: float
    rows: tuple[Row, ...]

    @classmethod
    def of(cls, problem: Dispatch, until: int) -> OverCost | None:
        """Return the cost of a problem with a soft profile up to a time in seconds; None without one."""
        profile = problem.desired
        if profile is None or problem.over_cost is None:
            return None
        rows = []
        for resource in profile.wished:
            times, wish = profile.totals(resource, problem.now, max(until, problem.now + 1))
            own = resource == POWER and POWER not in problem.platform.resources
            capacity = math.inf if own else problem.platform.total(resource)
            level = np.floor(np.minimum(wish, 2.0**40) * MILLI + ROUNDING).astype(np.int64)
            use = [(r.end, _use(r, resource, own)) for r in problem.running if r.end > problem.now]
            demand = np.array(
                [_watts(j.power) if own else MILLI * sum(p.units * p.request.get(resource, 0) for p in j.parts) for j in problem.jobs],
                np.int64,
            )  # fmt: skip
            row = Row(times, level, demand, int(min(MILLI * capacity, demand.sum())))
            ends = np.array([end for end, _ in use], np.int64)
            rows.append(row.beside(np.full(ends.size, problem.now), ends, np.array([a for _, a in use], np.int64)))
        return cls(problem.over_cost / (MILLI * HOUR), tuple(rows))

    def terms(self, intervals: Sequence[Interval]) -> tuple[list[Expression], list[float]]:
        """Return expressions of the intervals of the jobs, and their weights: the weighted sum is the cost in a model."""
        made: list[Expression] = []
        weights: list[float] = []
        for row in self.rows:
            end = max((v.start_hi + v.size_hi for v in intervals), default=0)
            for begin, stop, room in _cells(row, int(row.demand.sum()), end, len(intervals) * len(self.rows)):
                inside = [
                    (v, a)
                    for v, a in zip(intervals, row.demand.tolist(), strict=True)
                    if a and v.start_lo < stop and v.start_hi + v.size_hi > begin
                ]
                divisor = math.gcd(room, *(a for _, a in inside)) or 1
                overlaps = [sl.overlap(v, begin, stop) for v, _ in inside]
                use = sl.sum(overlaps, weights=[a // divisor for _, a in inside])
                made.append(sl.positive_part(use - room // divisor))
                weights.append(self.price * divisor)
        return made, weights

    def value(self, begin: Ints, end: Ints) -> float:
        """Return the cost if the jobs run in [begin, end), in seconds, shape (jobs,)."""
        return self.price * sum(row.beside(begin, end, row.demand).volume() for row in self.rows)

    def beside(self, begin: Ints, end: Ints, jobs: Ints, others: Ints) -> OverCost:
        """Return the cost of other jobs while some jobs (indices) run in [begin, end), in seconds; it includes theirs."""
        rows = (row.beside(begin, end, row.demand[jobs]) for row in self.rows)
        return OverCost(self.price, tuple(row._replace(demand=row.demand[others]) for row in rows))

    @property
    def flat(self) -> tuple[float, Ints, Ints, Ints, Ints]:
        """Price, first step of each row, times, levels and demands (rows, jobs), for kernels."""
        first = np.concatenate([[0], np.cumsum([row.times.size for row in self.rows])]).astype(np.int64)
        return (
            self.price,
            first,
            np.concatenate([row.times for row in self.rows]),
            np.concatenate([row.level for row in self.rows]),
            np.stack([row.demand for row in self.rows]),
        )

    def greatest(self, duration: Ints) -> float:
        """Return an upper bound of the cost, for jobs with these durations in seconds."""
        own: Floats = np.array([float(row.demand @ duration) for row in self.rows])
        return self.price * float(own.sum() + sum(row.volume() for row in self.rows))


def _use(r: Running, resource: str, power: bool) -> int:
    return _watts(r.job.power) if power else MILLI * sum(r.nodes.values()) * r.job.request.get(resource, 0)


def _watts(power: float | None) -> int:
    """Return a power in thousandths of a watt."""
    return round(MILLI * (power or 0.0))


def _cells(row: Row, demand: int, end: int, jobs: int) -> list[tuple[int, int, int]]:
    """Return (begin, end, room): the cells in which the use can exceed the level, and the integral of the level there."""
    stops = [*row.times[1:].tolist(), max(end, int(row.times[-1]))]
    most = min(row.most, demand)
    steps = [
        (a, b, g)
        for a, b, g in zip(row.times.tolist(), stops, row.level.tolist(), strict=True)
        if a < b and (most > g or g < 0)
    ]
    number = max(FEWEST, OVERLAPS // max(1, jobs))
    bounds = _bounds(sum(b - a for a, b, _ in steps), number)
    found, passed = [], 0
    for a, b, g in steps:
        inner = bounds[np.searchsorted(bounds, passed, side="right") : np.searchsorted(bounds, passed + b - a)]
        cuts = [a, *(a + inner - passed).tolist(), b]
        found += [(lo, hi, g * (hi - lo)) for lo, hi in pairwise(cuts)]
        passed += b - a
    return found


def _bounds(length: int, number: int) -> Ints:
    """Return the bounds of about ``number`` cells of 0 to ``length`` seconds: of one second, or shorter ones first."""
    if length <= number:
        return np.arange(length + 1)
    growing = np.expm1(GROWTH * np.arange(number + 1) / number) / math.expm1(GROWTH)
    return np.unique(np.round(length * growing).astype(np.int64))
