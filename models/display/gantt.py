"""The data of a Gantt chart. ``drawing`` draws it; each kind of problem makes it from a schedule."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ..array_types import Floats
from ..comparing import compared_by_identity, hashable

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
    """A period in which nothing may start; its background is grey."""

    start: int
    end: int
    label: str


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
        start = min(times, default=0) if self.start is None else self.start
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
        wanted = demand if whole is None or whole == (low, high) else 0
        cut = min(high, low + wanted)
        demand -= cut - low
        taken += [(low, cut)] if cut > low else []
        left += [(cut, high)] if high > cut else []
    return taken, left
