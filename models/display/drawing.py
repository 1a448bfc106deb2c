"""Drawing of Gantt charts by matplotlib, which is optional (``pip install 'schedlab[plot]'``)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from ...errors import MissingPackage
from ..array_types import Floats, Ints
from ..platform import Platform
from ..step_function import DAY, HOUR
from .gantt import Bar, Cells, Gantt

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import PathPatch


# --- The geometry of jobs on nodes: a rectangle per job, or the share of each cell of a grid that the jobs use.

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
    job = np.repeat(np.arange(len(p.first) - 1), np.diff(p.first))
    held = np.zeros(len(p.low))
    real = (jobs.end > jobs.start)[job] & (p.low >= 0) & (p.high < len(platform.nodes))
    held[real] = _held(platform, requests, job[real], p.low[real], p.units[real])
    on: dict[int, list[Run]] = {}
    for k in np.flatnonzero(real).tolist():
        j = int(job[k])
        run = Run(int(jobs.start[j]), int(jobs.end[j]), j, float(held[k]))
        for node in range(p.low[k], p.high[k] + 1):
            on.setdefault(node, []).append(run)
    drawn: list[Rectangle] = []
    filled: dict[int, Rectangle] = {}  # job -> its last rectangle that fills its nodes
    for node in sorted(on):
        for run, top, bottom in _packed(sorted(on[node])):
            before = filled.get(run.job)
            if (top, bottom) != (0, 1):
                drawn.append(Rectangle(run.job, run.start, run.end, node + top, node + bottom))
            elif before is not None and before.bottom == node:
                filled[run.job] = before._replace(bottom=node + 1)
            else:
                drawn += [before] if before is not None else []
                filled[run.job] = Rectangle(run.job, run.start, run.end, node, node + 1)
    return sorted([*drawn, *filled.values()])


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
    job = job[kept]
    low = p.low[kept]
    high = p.high[kept]
    units = p.units[kept]
    held = _held(platform, requests, job, low, units)
    width = max(end - begin, 1) / columns
    across = [np.clip((t[job] - begin) / width, 0, columns) for t in (jobs.start, jobs.end)]
    down = [low / each, (high + 1) / each]
    covered = np.zeros((categories, rows + 2, columns + 2))
    for x, x_sign in zip(across, (1, -1), strict=True):
        for y, y_sign in zip(down, (1, -1), strict=True):
            _corner(covered, category[job], y, x, held * (x_sign * y_sign))
    cells: Floats = covered.cumsum(axis=1).cumsum(axis=2)[:, :rows, :columns]
    full = np.minimum(each, len(platform.nodes) - each * np.arange(rows)) / each  # the last row may have fewer nodes
    return np.maximum(cells, 0) / full[None, :, None]


def _corner(into: Floats, category: Ints, y: Floats, x: Floats, weight: Floats) -> None:
    """Add ``weight`` to the quadrant below and right of (y, x), stored as differences along both axes."""
    row = y.astype(np.int64)
    column = x.astype(np.int64)
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


PALETTE = ("#4c78a8", "#f58518", "#54a24b", "#e45756", "#72b7b2", "#b279a2", "#eeca3b", "#9d755d", "#ff9da6")
INK = "#333333"
PALE = "#f4f4f4"
CLOSED = "#e2e2e2"
SHADES = (0.0, 0.22, 0.42)  # share of white in a colour, to separate neighbouring bars of one group
LINES = ((0, (4, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)))  # of marks
ALLOWED: Any = {"color": INK, "linewidth": 0.9, "linestyle": ":", "marker": "|", "markersize": 6}
OUTLINED = 500  # bars up to which each has a white outline
GAP = 0.12  # between two rows, as a share of a row
GAPS = 60  # rows up to which there are gaps
WIDTH = 10.0  # inches: a figure; its least and greatest height; without the rows
LEAST = 2.4
MOST = 14.0
AROUND = 1.1
ROW, DENSE = 0.28, 5.0  # inches: a row of height 1, all rows with labels by section
LETTER, LINE = 0.065, 0.13  # inches: width and height of a letter of a label
LONGEST = 28  # letters of a label of a row
FAR = 14 * DAY  # later times are drawn relative to the begin of the chart


def require_matplotlib() -> None:
    """Raise ImportError, with the command that installs it, if matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as e:
        raise MissingPackage("a Gantt chart needs matplotlib: pip install 'schedlab[plot]'") from e


def draw(chart: Gantt, ax: Axes | None = None, *, legend: bool = True, labels: bool = True) -> Axes:
    """Draw a Gantt chart.

    Parameters
    ----------
    chart : Gantt
    ax : matplotlib.axes.Axes, optional
        Where to draw. None: a new figure, whose height suits the number of rows.
    legend : bool, default True
        Whether to explain the colours and lines.
    labels : bool, default True
        Whether to write the labels of bars that have room for them.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ImportError
        If matplotlib is missing.
    """
    require_matplotlib()
    ax = _figure(chart) if ax is None else ax
    begin, end = chart.period
    name, unit, origin = time_unit(chart)
    y = RowPositions(chart)
    ax.set_xlim((begin - origin) / unit, (end - origin) / unit)
    ax.set_ylim(max(y.total, 1e-9), 0)
    for k in range(len(chart.rows) if y.gap else 0):
        ax.axhspan(y.top(k), y.bottom(k + 1), color=PALE, linewidth=0, zorder=0)
    for closed in chart.closed:
        ax.axvspan((closed.start - origin) / unit, (closed.end - origin) / unit, color=CLOSED, linewidth=0, zorder=0.5)
    if chart.cells is not None:
        edges = ((chart.cells.start - origin) / unit, (chart.cells.end - origin) / unit, y.total, 0.0)
        ax.imshow(mixed(chart.cells, colours_of(chart)), extent=edges, aspect="auto", interpolation="none")
    _bars(ax, chart, y, origin, unit, labels)
    for k, mark in enumerate(chart.marks):
        ax.axvline((mark.time - origin) / unit, color=INK, linewidth=1.1, linestyle=LINES[k % len(LINES)])
    _row_labels(ax, chart, y)
    since = f" since {origin:,} s" if origin else ""
    ax.set_xlabel(f"time{since}, {name}" if name else "time")
    ax.set_title(chart.title, loc="left", fontsize=9, wrap=True)
    if legend:
        _legend(ax, chart)
    return ax


class RowPositions:
    """The vertical positions of the rows of a chart and of their parts; ``total`` is the height of all rows."""

    def __init__(self, chart: Gantt) -> None:
        self.heights = np.array([r.height for r in chart.rows], np.float64)
        self.tops = np.concatenate([[0.0], np.cumsum(self.heights)])
        self.total = float(self.tops[-1])
        self.gap = GAP if len(chart.rows) <= GAPS and not chart.sections and chart.cells is None else 0.0

    def top(self, at: float) -> float:
        """Return the position of the upper edge of a bar at ``at`` rows."""
        k = min(int(at), len(self.heights) - 1)
        return float(self.tops[k] + (at - k) * self.heights[k] * (1 - self.gap))

    def bottom(self, at: float) -> float:
        """Return the position of the lower edge of a bar at ``at`` rows: at a whole number it is before the gap."""
        k = min(max(int(np.ceil(at)) - 1, 0), len(self.heights) - 1)
        return float(self.tops[k] + (at - k) * self.heights[k] * (1 - self.gap))


def _figure(chart: Gantt) -> Axes:
    from matplotlib import pyplot

    rows = DENSE if chart.sections or chart.cells is not None else ROW * sum(r.height for r in chart.rows)
    height = min(max(AROUND + rows, LEAST), MOST)
    return pyplot.subplots(figsize=(WIDTH, height), layout="constrained")[1]


def time_unit(chart: Gantt) -> tuple[str, int, int]:
    """Return the name of the unit of the time axis, its length, and the time at its 0."""
    begin, end = chart.period
    if not chart.seconds:
        return "", 1, 0
    known = (("seconds", 1), ("minutes", 60), ("hours", HOUR), ("days", DAY))
    limits = (300, 2 * HOUR, 120 * HOUR)
    name, unit = next((u for u, limit in zip(known, limits, strict=False) if end - begin <= limit), known[-1])
    return name, unit, begin if begin > FAR else 0


def colours_of(chart: Gantt) -> list[str]:
    """Return the colour of each group."""
    free = (colour for colour in cycle(PALETTE) if colour not in chart.colours.values())
    return [chart.colours.get(group) or next(free) for group in chart.groups]


def _white(colour: str, share: float) -> tuple[float, float, float]:
    """Return a colour with a share of white."""
    from matplotlib.colors import to_rgb

    red, green, blue = (c + share * (1 - c) for c in to_rgb(colour))
    return red, green, blue


def mixed(cells: Cells, colours: Sequence[str]) -> Floats:
    """Return the colours of a grid, in which each cell mixes the colours of its groups; what nobody uses is white.

    Parameters
    ----------
    cells : Cells
    colours : sequence of str
        The colour of each group.

    Returns
    -------
    array of float, shape (rows, columns, 3)
        Red, green and blue from 0 to 1.

    Examples
    --------
    >>> mixed(Cells(np.array([[[0.5]], [[0.0]]]), 0, 1), ("#ff0000", "#0000ff")).tolist()
    [[[1.0, 0.5, 0.5]]]
    """
    held = cells.share / np.maximum(cells.share.sum(axis=0), 1.0)
    missing = np.array([[1 - c for c in _white(colour, 0)] for colour in colours])
    mix: Floats = np.clip(1 - np.tensordot(held, missing, axes=(0, 0)), 0, 1)
    return mix


def boxes(box: Floats, **style: Any) -> PathPatch:
    """Return many rectangles of one style as one artist, which keeps pictures small.

    Parameters
    ----------
    box : array of float, shape (rectangles, 4)
        Left, right, top and bottom of each rectangle.
    **style
        Arguments of matplotlib's ``PathPatch``, such as ``facecolor``.
    """
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    left, right, top, bottom = box.T
    x = np.stack([left, right, right, left, left], axis=1).ravel()
    y = np.stack([top, top, bottom, bottom, top], axis=1).ravel()
    ring = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY]
    return PathPatch(Path(np.stack([x, y], axis=1), np.tile(ring, len(box))), **style)


def _bars(ax: Axes, chart: Gantt, y: RowPositions, origin: int, unit: int, labels: bool) -> None:
    colours = dict(zip(chart.groups, colours_of(chart), strict=True))
    order = {label: k for k, label in enumerate(dict.fromkeys(b.label for b in chart.bars))}
    styles: dict[tuple[str, float, bool], list[tuple[float, float, float, float]]] = {}
    wide, high = _inches(ax)
    for bar in chart.bars:
        box = (
            *((bar.start - origin) / unit, (bar.end - origin) / unit),
            *(y.top(bar.row + bar.low), y.bottom(bar.row + bar.high)),
        )
        colour = colours[bar.group]
        middle = (box[2] + box[3]) / 2
        white = SHADES[order[bar.label] % len(SHADES)] if chart.distinct else 0.0
        if bar.start == bar.end:
            ax.plot(box[0], middle, marker="X", color=colour, markersize=7, linestyle="", clip_on=False, zorder=4)
        else:
            styles.setdefault((colour, white, bar.hatched), []).append(box)
        for lo, hi in bar.allowed:
            ends = [(lo - origin) / unit, (hi - origin) / unit]
            ax.plot(ends, [middle, middle], **ALLOWED, zorder=3)
        if labels and bar.label and bar.label != chart.rows[bar.row].label:
            _label(ax, bar, box, _white(colour, 0.75 if bar.hatched else white), (wide, high))
    for (colour, white, hatched), bars_of_style in styles.items():
        style: dict[str, Any] = {
            "facecolor": _white(colour, white),
            "edgecolor": "white" if len(chart.bars) <= OUTLINED else "none",
            "linewidth": 0.3,
        }
        if hatched:
            style = {"facecolor": _white(colour, 0.75), "edgecolor": colour, "linewidth": 0.3, "hatch": "////"}
        ax.add_artist(boxes(np.array(bars_of_style), zorder=2, **style))


def _inches(ax: Axes) -> tuple[float, float]:
    """Return the inches of a unit of the time axis and of a row of height 1, about."""
    place = ax.get_position()
    size = ax.get_figure(root=True).get_size_inches()  # type: ignore[union-attr]
    left, right = ax.get_xlim()
    bottom, top = ax.get_ylim()
    return 0.9 * place.width * size[0] / max(right - left, 1e-9), 0.9 * place.height * size[1] / max(bottom - top, 1e-9)


def _label(ax: Axes, bar: Bar, box: Sequence[float], colour: Sequence[float], inches: tuple[float, float]) -> None:
    """Write the label of a bar into it, if there is room; the label of a mark stands right of it."""
    left, right, top, bottom = box
    if bar.start == bar.end:
        ax.annotate(
            bar.label,
            (left, (top + bottom) / 2),
            (8, 0),
            textcoords="offset points",
            va="center",
            fontsize=7,
            color=INK,
        )
    elif LETTER * len(bar.label) <= inches[0] * (right - left) and inches[1] * (bottom - top) >= LINE:
        red, green, blue = colour
        bright = 0.3 * red + 0.59 * green + 0.11 * blue > 0.62
        middle = ((left + right) / 2, (top + bottom) / 2)
        ax.text(
            *middle, bar.label, ha="center", va="center", fontsize=7, color=INK if bright else "white", clip_on=True
        )


def _row_labels(ax: Axes, chart: Gantt, y: RowPositions) -> None:
    if chart.sections:
        edges = np.cumsum([0.0, *(s.height for s in chart.sections)]).tolist()
        labels = [((lo + hi) / 2, s.label) for (lo, hi), s in zip(pairwise(edges), chart.sections, strict=True)]
        for edge in edges[1:-1]:
            ax.axhline(edge, color=INK, linewidth=0.5)
    else:
        labels = [((y.top(k) + y.bottom(k + 1)) / 2, row.label) for k, row in enumerate(chart.rows)]
    kept: list[tuple[float, str]] = []
    least = LINE / _inches(ax)[1]
    for at, text in labels:  # a label needs the height of a line
        if text and (not kept or at - kept[-1][0] >= least):
            kept.append((at, text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"))
    ax.set_yticks([at for at, _ in kept], [text for _, text in kept])
    ax.tick_params(axis="y", length=0, labelsize=8)


def _legend(ax: Axes, chart: Gantt) -> None:
    """Explain the colours and lines, right of the axes."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    hatched = {b.group for b in chart.bars if b.hatched}
    used = {b.group for b in chart.bars} if chart.cells is None else set(chart.groups)
    handles: list[Any] = []
    if chart.legend:
        for name, colour in zip(chart.groups, colours_of(chart), strict=True):
            if name in hatched:
                handles.append(Patch(facecolor=_white(colour, 0.75), edgecolor=colour, hatch="////", label=name))
            elif name and name in used:
                handles.append(Patch(facecolor=colour, label=name))
    handles += [Patch(facecolor=CLOSED, label=text) for text in dict.fromkeys(c.label for c in chart.closed)]
    if any(b.allowed for b in chart.bars):
        handles.append(Line2D([], [], **ALLOWED, label="may run"))
    for k, mark in enumerate(chart.marks):
        handles.append(Line2D([], [], color=INK, linewidth=1.1, linestyle=LINES[k % len(LINES)], label=mark.label))
    if handles:
        place = (1.0, 1.0)
        ax.legend(handles=handles, frameon=False, fontsize=8, borderaxespad=0.3, loc="upper left", bbox_to_anchor=place)
