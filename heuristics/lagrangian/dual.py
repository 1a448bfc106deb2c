"""The smoothed Lagrangian dual on one grid, and its maximization."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...models.dispatch.job_arrays import Floats, Ints
from ..kernels.lagrangian.descent import minimize
from ..kernels.lagrangian.pricing import cheapest_starts, dearest_sets
from .grid import Stopped, candidates
from .items import Items
from .rows import Rows
from .sets import Sets


class Prices(NamedTuple):
    """Prices per second in each cell, not negative.

    Parameters
    ----------
    points : array of int, shape (cells + 1,)
        Grid points in seconds.
    rows : array of float, shape (rows, cells)
        The price of a unit of each row.
    sets : array of float, shape (members, cells)
        The price of each item of the sets.
    """

    points: Ints
    rows: Floats
    sets: Floats

    def on(self, points: Ints) -> Prices:
        """Return the prices on another grid: those at the first second of each cell, 0 behind the last cell."""
        cell = np.searchsorted(self.points, points[:-1], side="right") - 1
        inside = cell < self.points.size - 1
        cell = np.minimum(cell, self.points.size - 2)
        return Prices(points, self.rows[:, cell] * inside, self.sets[:, cell] * inside)


class Dual:
    """The function of prices whose values are bounds.

    Parameters
    ----------
    items, rows, sets
        What is priced.
    points : array of int
        Grid points in seconds.
    scale : float
        A typical price per second of the whole machine: variables are prices divided by it.
    stopped : callable
        Returns whether to stop.

    Raises
    ------
    Stopped
        If it is to stop before the candidates are made.

    Attributes
    ----------
    best : float
        The greatest bound so far, computed in floating point.
    prices : Prices or None
        Its prices.
    mean : array of float, shape (items,)
        The expected start of each item at the last prices.
    """

    def __init__(
        self, items: Items, rows: Rows, sets: Sets, points: Ints, scale: float, stopped: Callable[[], bool]
    ) -> None:
        self.items, self.rows, self.sets, self.points, self.stopped = items, rows, sets, points, stopped
        self.grid, self.length = points.astype(np.float64), np.diff(points).astype(np.float64)
        self.candidates = candidates(items, points, stopped)
        self.cells, members = points.size - 1, sets.items.size
        self.a = rows.a.astype(np.float64)
        # kinds of prices: that of each demand, then that of each member of the sets
        self.kind = items.kind.copy()
        self.kind[sets.items] = len(items.demands) + np.arange(members)
        self.of_member = items.kind[sets.items]
        size = (rows.a / rows.b[:, None]).max(axis=0, initial=0.0)[self.of_member] if rows.b.size else np.ones(members)
        self.scale = scale * np.concatenate([1.0 / rows.b, size])[:, None]
        self.usage = np.zeros((len(items.demands) + members, self.cells))
        self.in_sets = np.zeros((members, self.cells))
        self.mean = np.zeros(items.duration.size)
        self.evaluations = 0
        self.best, self.prices = -np.inf, None  # type: tuple[float, Prices | None]

    def value(self, x: Floats, tau: float) -> tuple[float, Floats]:
        """Return minus the smoothed bound of scaled prices, and its gradient; raise Stopped."""
        if self.stopped():
            raise Stopped
        self.evaluations += 1
        items, rows, c = self.items, self.rows, self.candidates
        y = x.reshape(-1, self.cells) * self.scale
        row, own = y[: rows.b.size], np.ascontiguousarray(y[rows.b.size :])
        price = np.einsum("rk,rt->kt", self.a, row)  # not BLAS, whose threads wait for each other on a busy computer
        price = np.concatenate([price, price[self.of_member] + own])
        hard, smooth = cheapest_starts(
            self.grid, price, self.kind, items.duration, c.first, c.start, c.cost, c.begin, c.end, tau, self.usage, self.mean
        )  # fmt: skip
        each = tau * items.duration.size / max(1, self.cells)
        most, smooth_most = dearest_sets(self.length, own, self.sets.first, self.sets.member, each, self.in_sets)
        fixed = items.constant - float((rows.b * (row * self.length).sum(axis=1)).sum())
        if hard - most + fixed > self.best:
            self.best = hard - most + fixed
            self.prices = Prices(self.points, row.copy(), own.copy())
        kinds = len(items.demands)
        used = self.usage[:kinds].copy()
        np.add.at(used, self.of_member, self.usage[kinds:])
        slope = np.concatenate(
            [np.einsum("rk,kt->rt", self.a, used) - rows.b[:, None] * self.length, self.usage[kinds:] - self.in_sets]
        )
        return smooth_most - smooth - fixed, -(slope * self.scale).ravel()

    def maximize(self, start: Prices, tau: float, steps: int) -> Prices:
        """Return better prices, found in at most ``steps`` steps at the temperature ``tau``; raise Stopped.

        The scaled variables are bounded below by 0. The prices of the best bound are kept in ``prices``.
        """
        x = (np.concatenate([start.rows, start.sets]) / self.scale).ravel()
        y = minimize(lambda z: self.value(z, tau), x, steps).reshape(-1, self.cells) * self.scale
        return Prices(self.points, y[: self.rows.b.size], y[self.rows.b.size :])
