"""Gantt charts: their data, the chart of any answer, and how they are drawn by matplotlib (``pip install 'schedlab[plot]'``).

Each kind of problem makes the data from a schedule.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from ..errors import MissingPackage, WrongArgument
from .array_types import Floats, Ints
from .comparing import compared_by_identity, hashable
from .kind import known, resolve
from .language import Assignment
from .platform import Platform
from .problem import Problem, Schedule
from .step_function import DAY, HOUR
from .words import how_many

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import PathPatch

Span = tuple[int, int]
GREY, RED = "#bab0ac", "#e45756"


class Bar(NamedTuple):
    """A rectangle: what happens in a row from ``start`` to ``end``. If both are equal, a mark is drawn.

    Parameters
    ----------
    row : int
        The index of the row; 0 is the topmost.
    start, end : int
        The period, in the time unit of the chart.
    label : str
        Text in the rectangle; it is drawn where there is room for it.
    group : str
        The group that the colour stands for.
    low, high : float
        The part of the row that the rectangle covers: 0 is its top, 1 its bottom. A rectangle with ``high=3`` covers
        three rows of the same height.
    hatched : bool
        Whether the rectangle is hatched, for what cannot be changed.
    allowed : tuple of (int, int)
        The periods in which the bar may lie; they are drawn as a thin line.
    mark : str
        The marker of matplotlib if ``start`` and ``end`` are equal, by default a diamond.
    """

    row: int
    start: int
    end: int
    label: str = ""
    group: str = ""
    low: float = 0.0
    high: float = 1.0
    hatched: bool = False
    allowed: tuple[Span, ...] = ()
    mark: str = "D"


class Row(NamedTuple):
    """A row: its label, and its height relative to other rows."""

    label: str
    height: float = 1.0


class Section(NamedTuple):
    """Consecutive rows with one label, such as a group of nodes, and the sum of their heights."""

    label: str
    height: float


class Mark(NamedTuple):
    """A moment that is marked by a vertical line."""

    time: int
    label: str


class Closed(NamedTuple):
    """A period in which nothing may start, or in which nothing goes on in one row; its background is grey.

    Parameters
    ----------
    start, end : int
        The period, in the time unit of the chart.
    label : str
        What it is, for the legend.
    row : int, optional
        The index of its row, in which it is hatched, also over the bars. None: all rows.
    """

    start: int
    end: int
    label: str
    row: int | None = None


@compared_by_identity
class Cells(NamedTuple):
    """A grid instead of bars, for charts with too many bars: the colours of a cell are mixed by their shares.

    Parameters
    ----------
    share : array of float, shape (groups, rows, columns)
        The share of each cell that each group uses.
    start, end : int
        The period that the columns divide.
    """

    share: Floats
    start: int
    end: int


@hashable
@dataclass(frozen=True)
class Gantt:
    """A Gantt chart.

    Parameters
    ----------
    rows : tuple of Row
        The rows, from top to bottom.
    bars : tuple of Bar
        The rectangles.
    groups : tuple of str
        The groups of the bars, each once, in the order of their colours.
    colours : mapping of str to str
        The colours of groups that have a fixed one, such as ``GREY`` for what matters less.
    title : str
        What the rows are, or what the chart leaves out.
    start, end : int, optional
        The period that is drawn. None: that of the bars and marks.
    sections : tuple of Section
        Labels for several rows; the rows themselves then have no labels.
    marks : tuple of Mark
        Vertical lines.
    closed : tuple of Closed
        Grey periods.
    cells : Cells, optional
        A grid instead of bars.
    seconds : bool, default True
        Whether times are seconds. If not, they are drawn as they are.
    legend : bool, default True
        Whether the colours need a legend.
    distinct : bool, default False
        Whether neighbouring bars of one group get different shades of its colour.

    Examples
    --------
    >>> chart = Gantt((Row("machine 1"),), (Bar(0, 3, 7, "a"),), ("",))
    >>> chart.period
    (3, 7)
    """

    rows: tuple[Row, ...]
    bars: tuple[Bar, ...]
    groups: tuple[str, ...] = ("",)
    colours: Mapping[str, str] = field(default_factory=dict)
    title: str = ""
    start: int | None = None
    end: int | None = None
    sections: tuple[Section, ...] = ()
    marks: tuple[Mark, ...] = ()
    closed: tuple[Closed, ...] = ()
    cells: Cells | None = None
    seconds: bool = True
    legend: bool = True
    distinct: bool = False

    @property
    def period(self) -> Span:
        """The period that is drawn."""
        times = [t for b in self.bars for t in (b.start, b.end)] + [m.time for m in self.marks]
        if self.cells is not None:
            times += [self.cells.start, self.cells.end]
        if self.start is None:
            start = min(times, default=0)
        else:
            start = self.start
        return start, max(max(times, default=start + 1) if self.end is None else self.end, start + 1)


# --- Tasks as rectangles on the units of a resource.


class Piece(NamedTuple):
    """A rectangle of a task (given by its index): from ``start`` to ``end``, from unit ``low`` to unit ``high``."""

    task: int
    start: int
    end: int
    low: int
    high: int


def pack(use: Iterable[tuple[int, int, int, int]], capacity: int) -> Iterator[Piece]:
    """Yield the rectangles of tasks (index, start, end, demand) on the units of a resource; none of them overlap.

    A task gets the lowest free units in a row; if none are enough, the lowest free units.

    Examples
    --------
    >>> list(pack([(0, 0, 4, 2), (1, 0, 2, 1), (2, 2, 5, 1)], 3))[2]
    Piece(task=2, start=2, end=5, low=0, high=1)
    """
    free: list[Span] = [(0, capacity)]
    active: list[tuple[int, list[Span]]] = []  # (end, units) of the tasks that run
    for task, start, end, demand in sorted(use, key=lambda row: (row[1], row[2], row[0])):
        over = [spans for until, spans in active if until <= start]
        active = [entry for entry in active if entry[0] > start]
        free = _merged([*free, *(span for spans in over for span in spans)])
        taken, free = _take(free, demand)
        active.append((end, taken))
        for low, high in taken:
            yield Piece(task, start, end, low, high)


def _merged(spans: Sequence[Span]) -> list[Span]:
    joined: list[Span] = []
    for low, high in sorted(spans):
        if joined and joined[-1][1] == low:
            joined[-1] = (joined[-1][0], high)
        else:
            joined.append((low, high))
    return joined


def _take(free: Sequence[Span], demand: int) -> tuple[list[Span], list[Span]]:
    """Return the units that a task gets, and the units that are still free."""
    whole = next(((low, high) for low, high in free if high - low >= demand), None)
    taken: list[Span] = []
    left: list[Span] = []
    for low, high in free:
        wanted = 0
        if whole is None or whole == (low, high):
            wanted = demand
        cut = min(high, low + wanted)
        demand -= cut - low
        if cut > low:
            taken += [(low, cut)]
        if high > cut:
            left += [(cut, high)]
    return taken, left


# --- The Gantt chart and the table of any answer: a schedule of any kind of problem, or an assignment of a model.

Cell = Any  # of a table: text, a number, None, or a dictionary


def gantt_of_schedule(problem: Problem, schedule: Schedule) -> Gantt:
    """Return the Gantt chart of a schedule, made by the function that the kind of problem names.

    Parameters
    ----------
    problem : Problem
    schedule : Schedule

    Returns
    -------
    Gantt

    Raises
    ------
    TypeError
        If the kind of problem has no Gantt chart.
    """
    kind = known(problem.kind)
    if kind is None or kind.gantt is None:
        raise WrongArgument(
            f"problems of kind {problem.kind!r} have no Gantt chart; a kind has one if its ProblemKind names a function "
            "(problem, schedule) -> Gantt in the field gantt"
        )
    made: Gantt = resolve(kind.gantt)(problem, schedule)
    return made


def rows_of_schedule(problem: Problem | None, schedule: Schedule) -> list[dict[str, Cell]]:
    """Return the rows of the table of a schedule, with data of the problem if its kind names a function for that.

    Parameters
    ----------
    problem : Problem or None
        The problem, if it is known.
    schedule : Schedule

    Returns
    -------
    list of dict
        A dictionary per row; all have the same keys.
    """
    kind = None
    if problem is not None:
        kind = known(problem.kind)
    if kind is None or kind.rows is None:
        return schedule.rows()
    made: list[dict[str, Cell]] = resolve(kind.rows)(problem, schedule)
    return made


def columns_of_schedule(problem: Problem | None) -> tuple[str, ...]:
    """Return the columns of the table of the schedules of a problem."""
    kind = None
    if problem is not None:
        kind = known(problem.kind)
    if kind is None:
        return Schedule.COLUMNS
    return kind.columns


def gantt_of_assignment(answer: Assignment) -> Gantt:
    """Return the Gantt chart of an assignment: a row for each present interval.

    Examples
    --------
    >>> from schedlab.models.language import Model
    >>> m = Model("two"); a, b = m.interval("a", size=3), m.interval("b", size=2, optional=True)
    >>> chart = gantt_of_assignment(Assignment(m, {a: 4, b: None}))
    >>> [(bar.label, bar.start, bar.end) for bar in chart.bars], chart.title
    ([('a', 4, 7)], 'two: intervals (1 absent one is not drawn)')
    """
    values = [(v, answer[v]) for v in answer.model.intervals]
    there = [(v, x.start, x.end) for v, x in values if x.start is not None and x.end is not None]
    bars = tuple(Bar(k, start, end, v.name) for k, (v, start, end) in enumerate(there))
    absent = len(values) - len(there)
    title = f"{answer.model.name}: intervals" + _without(absent)
    return Gantt(tuple(Row(v.name) for v, *_ in there), bars, title=title, start=0, seconds=False, legend=False)


def _without(absent: int) -> str:
    if not absent:
        return ""
    return f" ({how_many(absent, 'absent one', ',', verb='are')} not drawn)"


def rows_of_assignment(answer: Assignment) -> list[dict[str, Cell]]:
    """Return a row for each interval: name, present, start, end (None for an absent one)."""
    rows = []
    for v in answer.model.intervals:
        x = answer[v]
        rows.append({"name": v.name, "present": x.present, "start": x.start, "end": x.end})
    return rows


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
                if before is not None:
                    drawn += [before]
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
    if height <= 1 + TINY:
        scale = 1.0
    else:
        scale = 1 / height
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
REST: Any = {
    "facecolor": "#c8c8c866",
    "edgecolor": "#8a8a8a",
    "linewidth": 0.0,
    "hatch": "....",
}  # a closed period of one row
ALLOWED: Any = {"color": INK, "linewidth": 0.9, "linestyle": ":", "marker": "|", "markersize": 6}
MOMENT: Any = {  # of a bar that lasts no time
    "markersize": 7,
    "markeredgecolor": "white",
    "markeredgewidth": 0.5,
    "linestyle": "",
    "clip_on": False,
    "zorder": 4,
}
MARK = 0.12  # inches from its middle to its label
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
    if ax is None:
        ax = _figure(chart)
    begin, end = chart.period
    name, unit, origin = time_unit(chart)
    y = RowPositions(chart)
    ax.set_xlim((begin - origin) / unit, (end - origin) / unit)
    ax.set_ylim(max(y.total, 1e-9), 0)
    for k in range(len(chart.rows) if y.gap else 0):
        ax.axhspan(y.top(k), y.bottom(k + 1), color=PALE, linewidth=0, zorder=0)
    for closed in chart.closed:
        if closed.row is None:
            ax.axvspan(
                (closed.start - origin) / unit, (closed.end - origin) / unit, color=CLOSED, linewidth=0, zorder=0.5
            )
    _rests(ax, chart, y, origin, unit)
    if chart.cells is not None:
        edges = ((chart.cells.start - origin) / unit, (chart.cells.end - origin) / unit, y.total, 0.0)
        ax.imshow(mixed(chart.cells, colours_of(chart)), extent=edges, aspect="auto", interpolation="none")
    _bars(ax, chart, y, origin, unit, labels)
    for k, mark in enumerate(chart.marks):
        ax.axvline((mark.time - origin) / unit, color=INK, linewidth=1.1, linestyle=LINES[k % len(LINES)])
    _row_labels(ax, chart, y)
    if not chart.seconds:
        from matplotlib.ticker import MaxNLocator

        ax.xaxis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 2.5, 5, 10], integer=True))
    since = ""
    if origin:
        since = f" since {origin:,} s"
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
        if len(chart.rows) <= GAPS and not chart.sections and chart.cells is None:
            self.gap = GAP
        else:
            self.gap = 0.0

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

    if chart.sections or chart.cells is not None:
        rows = DENSE
    else:
        rows = ROW * sum(r.height for r in chart.rows)
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
    room = _room_of_moments(chart)
    for k, bar in enumerate(chart.bars):
        box = (
            *((bar.start - origin) / unit, (bar.end - origin) / unit),
            *(y.top(bar.row + bar.low), y.bottom(bar.row + bar.high)),
        )
        colour = colours[bar.group]
        middle = (box[2] + box[3]) / 2
        white = 0.0
        if chart.distinct:
            white = SHADES[order[bar.label] % len(SHADES)]
        if bar.start == bar.end:
            ax.plot(box[0], middle, **MOMENT, marker=bar.mark, color=colour)
        else:
            styles.setdefault((colour, white, bar.hatched), []).append(box)
        for lo, hi in bar.allowed:
            ends = [(lo - origin) / unit, (hi - origin) / unit]
            ax.plot(ends, [middle, middle], **ALLOWED, zorder=3)
        fits = bar.start < bar.end or LETTER * len(bar.label) <= wide * room[k] / unit - MARK
        if labels and bar.label and bar.label != chart.rows[bar.row].label and fits:
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


def _room_of_moments(chart: Gantt) -> dict[int, float]:
    """Return how much time is free right of each bar that lasts none, up to the next bar in its row; by the index of the bar."""
    room: dict[int, float] = {}
    rows: dict[int, list[tuple[int, Bar]]] = {}
    for k, bar in enumerate(chart.bars):
        rows.setdefault(bar.row, []).append((k, bar))
    for bars in rows.values():
        moments = [(k, bar.start) for k, bar in bars if bar.start == bar.end]
        starts = sorted(bar.start for _, bar in bars)
        ends = sorted(bar.end for _, bar in bars)
        for k, time in moments:
            runs = bisect_right(starts, time) > bisect_right(ends, time)
            after = bisect_right(starts, time)
            free = starts[after] - time if after < len(starts) else math.inf
            if runs:
                room[k] = 0.0
            else:
                room[k] = free
    return room


def _rests(ax: Axes, chart: Gantt, y: RowPositions, origin: int, unit: int) -> None:
    """Draw the closed periods of single rows, over their bars."""
    begin, end = chart.period
    rests = [
        (max(c.start, begin), min(c.end, end), y.top(c.row), y.bottom(c.row + 1))
        for c in chart.closed
        if c.row is not None and c.start < end and c.end > begin
    ]
    if rests:
        box = np.array([((lo - origin) / unit, (hi - origin) / unit, top, bottom) for lo, hi, top, bottom in rests])
        ax.add_artist(boxes(box, zorder=2.5, **REST))


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
    if chart.cells is None:
        used = {b.group for b in chart.bars}
    else:
        used = set(chart.groups)
    handles: list[Any] = []
    if chart.legend:
        for name, colour in zip(chart.groups, colours_of(chart), strict=True):
            if name in hatched:
                handles.append(Patch(facecolor=_white(colour, 0.75), edgecolor=colour, hatch="////", label=name))
            elif name and name in used:
                handles.append(Patch(facecolor=colour, label=name))
    styles = {c.label: {"facecolor": CLOSED} if c.row is None else REST for c in chart.closed}
    handles += [Patch(label=text, **style) for text, style in styles.items()]
    if any(b.allowed for b in chart.bars):
        handles.append(Line2D([], [], **ALLOWED, label="may run"))
    for k, mark in enumerate(chart.marks):
        handles.append(Line2D([], [], color=INK, linewidth=1.1, linestyle=LINES[k % len(LINES)], label=mark.label))
    if handles:
        place = (1.0, 1.0)
        ax.legend(handles=handles, frameon=False, fontsize=8, borderaxespad=0.3, loc="upper left", bbox_to_anchor=place)
