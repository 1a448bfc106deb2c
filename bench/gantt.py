"""Gantt charts as numbers: rectangles in which jobs that share a node lie beside each other, or shares of cells."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..dispatch.outputs import Jobs
    from ..models.platform import Platform

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
HOUR = 3600


class Rectangle(NamedTuple):
    """A piece of a job (its row): from ``start`` to ``end`` in seconds, from ``top`` to ``bottom`` in nodes."""

    job: int
    start: int
    end: int
    top: float
    bottom: float


def lanes(jobs: Jobs, most: int) -> list[Rectangle] | None:
    """The jobs as rectangles that do not overlap; None if there are more than ``most``.

    A node that runs one job at a time is a row; one that is shared is split in as many lanes as it ever runs jobs. A job
    on neighbouring nodes that it has for itself is one rectangle.
    """
    p = jobs.placement
    long = jobs.end > jobs.start
    if int((np.maximum(p.high - p.low + 1, 0)).sum()) > 20 * most:
        return None
    on: dict[int, list[tuple[int, int, int]]] = {}
    for job in np.flatnonzero(long).tolist():
        for k in range(p.first[job], p.first[job + 1]):
            for node in range(p.low[k], p.high[k] + 1):
                on.setdefault(node, []).append((int(jobs.start[job]), int(jobs.end[job]), job))
    found: list[Rectangle] = []
    alone: dict[int, Rectangle] = {}  # job -> its last rectangle that has nodes for itself
    for node in sorted(on):
        placed, count = _split(on[node])
        for (start, end, job), lane in placed:
            top, bottom = node + lane / count, node + (lane + 1) / count
            before = alone.get(job)
            if count == 1 and before is not None and before.bottom == top:
                alone[job] = before._replace(bottom=bottom)
            elif count == 1:
                found += [before] if before is not None else []
                alone[job] = Rectangle(job, start, end, top, bottom)
            else:
                found.append(Rectangle(job, start, end, top, bottom))
        if len(found) > most:
            return None
    found += alone.values()
    return sorted(found) if len(found) <= most else None


def _split(runs: list[tuple[int, int, int]]) -> tuple[list[tuple[tuple[int, int, int], int]], int]:
    """Each run (start, end, job) of a node with its lane, the first one that is free then; and how many lanes."""
    busy: list[tuple[int, int]] = []  # (end, lane)
    free: list[int] = []
    count, placed = 0, []
    for run in sorted(runs):
        while busy and busy[0][0] <= run[0]:
            heappush(free, heappop(busy)[1])
        lane = heappop(free) if free else count
        count = max(count, lane + 1)
        heappush(busy, (run[1], lane))
        placed.append((run, lane))
    return placed, count


def shares(
    jobs: Jobs,
    platform: Platform,
    asked: Mapping[str, Ints],
    category: Ints,
    categories: int,
    shape: tuple[int, int],
    each: int,
    begin: int,
    end: int,
) -> Floats:
    """The share of each cell that jobs of a category hold: categories x rows x columns.

    ``shape``: rows of ``each`` nodes, and columns that divide [``begin``, ``end``). A job holds of a node the greatest of
    its shares of the node's resources (``asked``: of a unit, by resource). The cell shares of a rectangle are the
    differences, along both axes, of what four ramps at its corners add up to; so the work does not grow with its size.
    """
    p, (rows, columns) = jobs.placement, shape
    job = np.repeat(np.arange(len(jobs)), np.diff(p.first))
    kept = (jobs.end > jobs.start)[job] & (p.high >= p.low) & (p.low >= 0) & (p.high < len(platform.nodes))
    job, low, high, units = job[kept], p.low[kept], p.high[kept], p.units[kept]
    held = _held(platform, asked, job, low, units)
    width = max(end - begin, 1) / columns
    across = [np.clip((t[job] - begin) / width, 0, columns) for t in (jobs.start, jobs.end)]
    down = [low / each, (high + 1) / each]
    found = np.zeros((categories, rows + 2, columns + 2))
    for x, x_sign in zip(across, (1, -1), strict=True):
        for y, y_sign in zip(down, (1, -1), strict=True):
            _corner(found, category[job], y, x, held * (x_sign * y_sign))
    cells: Floats = found.cumsum(axis=1).cumsum(axis=2)[:, :rows, :columns]
    full = np.minimum(each, len(platform.nodes) - each * np.arange(rows)) / each  # the last row may have fewer nodes
    return np.maximum(cells, 0) / full[None, :, None]


def _corner(into: Floats, category: Ints, y: Floats, x: Floats, weight: Floats) -> None:
    """Add the quadrant below and right of (y, x), times weight, as differences along both axes."""
    row, column = y.astype(np.int64), x.astype(np.int64)
    for row_step, row_part in ((0, row + 1 - y), (1, y - row)):
        for column_step, column_part in ((0, column + 1 - x), (1, x - column)):
            at = np.ravel_multi_index((category, row + row_step, column + column_step), into.shape)
            into += np.bincount(at, weight * row_part * column_part, into.size).reshape(into.shape)


def _held(platform: Platform, asked: Mapping[str, Ints], job: Ints, low: Ints, units: Ints) -> Floats:
    """Of each range, the share of a node that it holds; the whole node where nothing is known."""
    capacity = np.array(list(platform.capacity.values()), np.float64)
    share = np.zeros(len(job))
    for k, resource in enumerate(platform.resources):
        limit = capacity[low, k]
        share = np.maximum(share, np.where(limit > 0, units * asked[resource][job] / np.maximum(limit, 1), 0))
    share[share <= 0] = 1.0
    return np.minimum(share, 1.0)
