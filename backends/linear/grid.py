"""Time grids for the time-indexed and the energy lowering."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...errors import LoweringTooLarge
from ...models.array_types import Floats, Ints
from ...models.language import Cumulative, Model, ModelError
from ...models.words import how_many
from ..base import GridOption, Side


@dataclass(frozen=True, eq=False)
class Grid:
    """A grid of m + 1 time points P; cell k is [P[k], P[k + 1]) for k = 0, ..., m - 1.

    Attributes
    ----------
    points : array of shape (m + 1,)
        The points in seconds, increasing.
    exact : bool
        True if each possible start is a point and each cell in which an interval can start or end is 1 s long.
    name : str
        Description for reports.
    """

    points: Ints
    exact: bool
    name: str

    @property
    def cells(self) -> int:
        """The number of cells."""
        return len(self.points) - 1

    def capacity(self, steps: Sequence[tuple[int, int]], side: Side) -> Floats:
        """Return the capacity of each cell: the least within it (restrict), or that at its last second (relax)."""
        times, capacities = np.array(steps, dtype=np.int64).T
        instants = self.points[:-1] if side == "restrict" else self.points[1:] - 1
        limit: Floats = capacities[np.maximum(np.searchsorted(times, instants, side="right") - 1, 0)].astype(np.float64)
        if side == "restrict":
            cell = np.searchsorted(self.points, times, side="right") - 1
            inside = (cell >= 0) & (cell < self.cells) & (np.arange(len(times)) > 0)
            np.minimum.at(limit, cell[inside], capacities[inside])
        return limit

    @staticmethod
    def cover(model: Model, option: GridOption, limit: int) -> Grid:
        """Return the grid of a model, from its earliest start to its latest end.

        Before the earliest start that is not fixed, the points are the starts and ends of the fixed intervals and the
        times at which a capacity changes. So intervals that already run keep their exact times.

        Parameters
        ----------
        model : Model
            The model.
        option : int or tuple of two ints
            Step in seconds; or (fine, coarse): the step grows linearly from fine to coarse.
        limit : int
            Largest number of points.

        Raises
        ------
        LoweringTooLarge
            If the grid would have more than ``limit`` points.
        ModelError
            If a step is less than 1 s or fine > coarse.
        """
        fine, coarse = (option, option) if isinstance(option, int) else option
        if not 1 <= fine <= coarse:
            raise ModelError(f"grid={option!r}: give a step in seconds, or (fine, coarse) with 1 <= fine <= coarse")
        fixed = [v for v in model.intervals if v.start_lo == v.start_hi and v.size_lo == v.size_hi]
        free = [v for v in model.intervals if v.start_lo != v.start_hi or v.size_lo != v.size_hi]
        end = max((v.start_hi + v.size_hi for v in model.intervals), default=0) + 1
        begin = min((v.start_lo for v in free or fixed), default=0)
        count = _count(end - begin, fine, coarse)
        if count > limit:
            raise LoweringTooLarge(count, count, count, limit, f"use a coarser grid than {option!r}")
        edges = {t for v in fixed for t in (v.start_lo, v.start_lo + v.size_lo)}
        edges |= {t for _, c in model.constraints if isinstance(c, Cumulative) for t, _ in c.steps if fixed}
        past = {t for t in edges if min(v.start_lo for v in fixed) <= t < begin}
        points = np.concatenate([np.array(sorted(past), dtype=np.int64), _points(begin, end, fine, coarse)])
        name = f"step {fine} s" if fine == coarse else f"steps of {fine} to {coarse} s"
        return Grid(points, coarse == 1, f"grid of {name}, {how_many(len(points) - 1, 'cell')}")


def _count(span: int, fine: int, coarse: int) -> int:
    """Return about how many points a grid over ``span`` seconds has: the integral of 1 / step."""
    if fine == coarse:
        return span // fine + 2
    return int(span * math.log(coarse / fine) / (coarse - fine)) + 2


def _points(begin: int, end: int, fine: int, coarse: int) -> Ints:
    """Return the points from ``begin`` to the first point at or after ``end``."""
    if fine == coarse:
        return begin + fine * np.arange(-(-(end - begin) // fine) + 1, dtype=np.int64)
    points = [begin]
    growth = (coarse - fine) / max(1, end - begin)
    while points[-1] < end:
        points.append(points[-1] + int(fine + growth * (points[-1] - begin)))
    return np.array(points, dtype=np.int64)
