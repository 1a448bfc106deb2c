"""Gantt charts as numbers: rectangles in which jobs that share a node lie beside each other, or shares of cells."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...models.platform import Platform
    from ...simulation.outputs.reading import JobsTable

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
HOUR = 3600
TINY = 1e-9


class Rectangle(NamedTuple):
    """A piece of a job (its row): from ``start`` to ``end`` in seconds, from ``top`` to ``bottom`` in nodes."""

    job: int
    start: int
    end: int
    top: float
    bottom: float


class Bar(NamedTuple):
    """A job on one node: seconds, its row, and the share of the node that it holds."""

    start: int
    end: int
    job: int
    share: float


def rectangles(jobs: JobsTable, platform: Platform, asked: Mapping[str, Ints]) -> list[Rectangle]:
    """The jobs as rectangles that do not overlap; a node is 1 high, and a job as high as the share of it that it holds.

    ``asked``: of a unit of each job, by resource. Where jobs hold more than the whole together (one most of the memory,
    another most of the cores), all are drawn flatter. A job on neighbouring nodes that it fills is one rectangle.
    """
    p = jobs.placement
    job, held = np.repeat(np.arange(len(jobs)), np.diff(p.first)), np.zeros(len(p.low))
    real = (jobs.end > jobs.start)[job] & (p.low >= 0) & (p.high < len(platform.nodes))
    held[real] = _held(platform, asked, job[real], p.low[real], p.units[real])
    on: dict[int, list[Bar]] = {}
    for k in np.flatnonzero(real).tolist():
        j = int(job[k])
        run = Bar(int(jobs.start[j]), int(jobs.end[j]), j, float(held[k]))
        for node in range(p.low[k], p.high[k] + 1):
            on.setdefault(node, []).append(run)
    found: list[Rectangle] = []
    filled: dict[int, Rectangle] = {}  # job -> its last rectangle that fills its nodes
    for node in sorted(on):
        for run, top, bottom in _packed(sorted(on[node])):
            before = filled.get(run.job)
            if (top, bottom) != (0, 1):
                found.append(Rectangle(run.job, run.start, run.end, node + top, node + bottom))
            elif before is not None and before.bottom == node:
                filled[run.job] = before._replace(bottom=node + 1)
            else:
                found += [before] if before is not None else []
                filled[run.job] = Rectangle(run.job, run.start, run.end, node, node + 1)
    return sorted([*found, *filled.values()])


def _packed(runs: list[Bar]) -> Iterator[tuple[Bar, float, float]]:
    """The runs of a node, by start, with tops and bottoms from 0 to 1: each at the first gap that is high enough.

    What overlaps in time, directly or through others, is drawn to one scale.
    """
    group: list[tuple[Bar, float, float]] = []
    active: list[tuple[float, float, int]] = []  # (top, bottom, end)
    for run in runs:
        active = sorted(a for a in active if a[2] > run.start)
        if not active:
            yield from _scaled(group)
            group = []
        top = 0.0
        for above, below, _ in active:
            if above - top >= run.share - TINY:
                break
            top = max(top, below)
        active.append((top, top + run.share, run.end))
        group.append((run, top, top + run.share))
    yield from _scaled(group)


def _scaled(group: list[tuple[Bar, float, float]]) -> Iterator[tuple[Bar, float, float]]:
    height = max((bottom for *_, bottom in group), default=1.0)
    scale = 1.0 if height <= 1 + TINY else 1 / height
    yield from ((run, top * scale, bottom * scale) for run, top, bottom in group)


def shares(
    jobs: JobsTable,
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
