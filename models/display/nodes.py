"""The geometry of jobs on nodes: a rectangle per job, or the share of each cell of a grid that the jobs use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..platform import Platform

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
TINY = 1e-9


class Ranges(Protocol):
    """The nodes of all jobs as ranges: job k has the ranges ``first[k]`` to ``first[k + 1] - 1``.

    Attributes
    ----------
    first : ndarray of int, shape (jobs + 1,)
        The index of the first range of each job, and the number of ranges.
    low, high : ndarray of int, shape (ranges,)
        The first and the last node of each range, both included.
    units : ndarray of int, shape (ranges,)
        The units of the job on each node of the range.
    """

    @property
    def first(self) -> Ints: ...  # noqa: D102
    @property
    def low(self) -> Ints: ...  # noqa: D102
    @property
    def high(self) -> Ints: ...  # noqa: D102
    @property
    def units(self) -> Ints: ...  # noqa: D102


class PlacedJobs(Protocol):
    """Jobs with their starts and ends in seconds, and their nodes."""

    @property
    def start(self) -> Ints: ...  # noqa: D102
    @property
    def end(self) -> Ints: ...  # noqa: D102
    @property
    def placement(self) -> Ranges: ...  # noqa: D102


class Rectangle(NamedTuple):
    """A piece of a job (given by its index): from ``start`` to ``end`` in seconds, from ``top`` to ``bottom`` in nodes."""

    job: int
    start: int
    end: int
    top: float
    bottom: float


class Run(NamedTuple):
    """A job on one node: start and end in seconds, index of the job, and the share of the node that it uses."""

    start: int
    end: int
    job: int
    share: float


def rectangles(jobs: PlacedJobs, platform: Platform, requests: Mapping[str, Ints]) -> list[Rectangle]:
    """Return the jobs as rectangles that do not overlap.

    A node has height 1. The height of a job is the greatest share of a resource of the node that it uses. If the heights at
    one time add up to more than 1 (one job uses most of the memory, another most of the cores), all of them are scaled
    down. A job that fills several neighbouring nodes is one rectangle.

    Parameters
    ----------
    jobs : PlacedJobs
        The jobs with their starts, ends and nodes.
    platform : Platform
        The machine.
    requests : mapping of str to ndarray of int, shape (jobs,)
        The request of one unit of each job, by resource.

    Returns
    -------
    list of Rectangle
        Sorted by job.
    """
    p = jobs.placement
    job, held = np.repeat(np.arange(len(p.first) - 1), np.diff(p.first)), np.zeros(len(p.low))
    real = (jobs.end > jobs.start)[job] & (p.low >= 0) & (p.high < len(platform.nodes))
    held[real] = _held(platform, requests, job[real], p.low[real], p.units[real])
    on: dict[int, list[Run]] = {}
    for k in np.flatnonzero(real).tolist():
        j = int(job[k])
        run = Run(int(jobs.start[j]), int(jobs.end[j]), j, float(held[k]))
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


def _packed(runs: list[Run]) -> Iterator[tuple[Run, float, float]]:
    """Yield the jobs on a node (sorted by start) with their tops and bottoms from 0 to 1, each in the first gap that fits.

    Jobs that overlap in time, directly or through other jobs, are drawn to the same scale.
    """
    group: list[tuple[Run, float, float]] = []
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


def _scaled(group: list[tuple[Run, float, float]]) -> Iterator[tuple[Run, float, float]]:
    height = max((bottom for *_, bottom in group), default=1.0)
    scale = 1.0 if height <= 1 + TINY else 1 / height
    yield from ((run, top * scale, bottom * scale) for run, top, bottom in group)


def shares(
    jobs: PlacedJobs,
    platform: Platform,
    requests: Mapping[str, Ints],
    category: Ints,
    categories: int,
    shape: tuple[int, int],
    each: int,
    begin: int,
    end: int,
) -> Floats:
    """Return the share of each cell that the jobs of each category use.

    The share of a node that a job uses is the greatest of its shares of the resources of the node. The shares of the cells
    under a rectangle are computed from its four corners, by cumulative sums along both axes, so that the work does not
    grow with the size of the rectangle.

    Parameters
    ----------
    jobs : PlacedJobs
        The jobs with their starts, ends and nodes.
    platform : Platform
        The machine.
    requests : mapping of str to ndarray of int, shape (jobs,)
        The request of one unit of each job, by resource.
    category : ndarray of int, shape (jobs,)
        The category of each job.
    categories : int
        The number of categories.
    shape : (int, int)
        The numbers of rows and columns of cells.
    each : int
        The number of nodes of a row.
    begin, end : int
        The seconds that the columns divide.

    Returns
    -------
    ndarray of float, shape (categories, rows, columns)
    """
    p, (rows, columns) = jobs.placement, shape
    job = np.repeat(np.arange(len(p.first) - 1), np.diff(p.first))
    kept = (jobs.end > jobs.start)[job] & (p.high >= p.low) & (p.low >= 0) & (p.high < len(platform.nodes))
    job, low, high, units = job[kept], p.low[kept], p.high[kept], p.units[kept]
    held = _held(platform, requests, job, low, units)
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
    """Add ``weight`` to the quadrant below and right of (y, x), stored as differences along both axes."""
    row, column = y.astype(np.int64), x.astype(np.int64)
    for row_step, row_part in ((0, row + 1 - y), (1, y - row)):
        for column_step, column_part in ((0, column + 1 - x), (1, x - column)):
            at = np.ravel_multi_index((category, row + row_step, column + column_step), into.shape)
            into += np.bincount(at, weight * row_part * column_part, into.size).reshape(into.shape)


def _held(platform: Platform, requests: Mapping[str, Ints], job: Ints, low: Ints, units: Ints) -> Floats:
    """Return the share of a node that each range of nodes uses; 1 if its job has no request."""
    capacity = np.array(list(platform.capacity.values()), np.float64)
    share = np.zeros(len(job))
    for k, resource in enumerate(platform.resources):
        limit = capacity[low, k]
        share = np.maximum(share, np.where(limit > 0, units * requests[resource][job] / np.maximum(limit, 1), 0))
    share[share <= 0] = 1.0
    return np.minimum(share, 1.0)
