"""Charts of a replay as SVG: Gantt chart, resources in use, length of the queue. They need matplotlib (optional)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...models.array_types import Floats, Ints
from ...models.gantt import SHADES, Cells, Rectangle, boxes, mixed, rectangles, shares
from ...models.step_function import HOUR
from ...models.words import how_many
from ...simulation.curves import in_use, waiting
from ..records.record import CHECKPOINT, EVICTED, RESERVED, Area
from .svg import INK, as_svg, stacked, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ...models.platform import NodeGroup, Platform
    from ...simulation.outputs import JobsTable


# A Gantt chart with more nodes, jobs or job units than these is drawn as cells instead of one rectangle per job.
MOST_NODES = 200
MOST_JOBS = 3000
MOST_UNITS = 12_000
CELLS = 480  # columns of a Gantt chart that is drawn as cells
STEPS = 600  # a curve with more steps than this is drawn as means
GANTT = 3.1  # inches: height of the Gantt chart
CURVE = 0.62  # inches: height of a curve
LETTER = 0.068  # inches: greatest width of a letter of a label
LONGEST = 20  # greatest number of letters of a name
APART = 0.05  # least distance between the names of two node groups, as a share of the height of the Gantt chart
OUTAGE = "outage"
# pattern, colour of the pattern, and colour of the area
HATCHES = {
    RESERVED: ("////", "#333333", "none"),
    OUTAGE: ("xxxx", "#b22222", "none"),
    EVICTED: ("", "#d62728", "#d62728"),
    CHECKPOINT: ("", "#111111", "#111111"),
}


@dataclass(frozen=True)
class Frame:
    """What the charts of all dispatchers on the same jobs have in common.

    Attributes
    ----------
    platform : Platform
        The machine.
    begin, end : int
        The range of the time axis in seconds.
    queue : int
        The greatest number of waiting jobs in any of the charts.
    """

    platform: Platform
    begin: int
    end: int
    queue: int

    @property
    def unit(self) -> tuple[str, int]:
        """The unit of the time axis (minutes, hours or days, depending on its length) and its seconds."""
        span = self.end - self.begin
        known = (("minutes", 60), ("hours", HOUR), ("days", 24 * HOUR))
        return next((u for u, limit in zip(known, (2 * HOUR, 120 * HOUR), strict=False) if span <= limit), known[-1])

    def positions(self, seconds: Any) -> Any:
        """Return times in seconds as positions on the time axis, in its unit."""
        return (np.asarray(seconds, np.float64) - self.begin) / self.unit[1]


class Chart(NamedTuple):
    """A picture.

    Attributes
    ----------
    svg : str
        The SVG element.
    notes : list of str
        Remarks on how the picture is drawn, for the text beside it.
    """

    svg: str
    notes: list[str]


def chart(
    frame: Frame,
    jobs: JobsTable,
    category: Ints,
    colours: Sequence[str],
    title: str,
    areas: Iterable[Area] = (),
    left: Ints | None = None,
) -> Chart:
    """Draw the Gantt chart, a curve of use per resource, and the queue, one below the other on one time axis.

    The same input gives the same bytes.

    Parameters
    ----------
    frame : Frame
        The machine and the ranges of the axes.
    jobs : JobsTable
        The jobs with their starts, ends and nodes.
    category : ndarray of int, shape (jobs,)
        The index of the colour of each job.
    colours : sequence of str
        The colours.
    title : str
        The title of the SVG element, for screen readers.
    areas : iterable of Area
        Reservations and outages of nodes, which are hatched in the Gantt chart.
    left : ndarray of int64, optional
        The seconds at which jobs left the queue without a start.

    Returns
    -------
    Chart
        The picture and the notes on it.
    """
    chunks, job = jobs.by_chunk()
    requests = requested(chunks, frame.platform.resources)
    curves = [r for r in frame.platform.resources if requests[r].any()]
    with styled(title):
        figure, axes = stacked([GANTT, *[CURVE] * (len(curves) + 1)], _labels_width(frame))
        notes = _gantt(axes[0], frame, chunks, requests, category[job], colours)
        notes += _hatched(axes[0], frame, areas)
        for ax, resource in zip(axes[1:], curves, strict=False):
            notes += _use(ax, frame, chunks, requests[resource], resource)
        notes += _queue(axes[-1], frame, jobs, np.zeros(0, np.int64) if left is None else left)
        axes[-1].set_xlim(0, max(float(frame.positions(frame.end)), 1e-9))
        axes[-1].set_xlabel(f"time since the first submission, {frame.unit[0]}")
        picture = as_svg(figure, title)
    if not curves:
        notes.append("the jobs file has no resource requests: no curves of use are drawn")
    return Chart(picture, list(dict.fromkeys(notes)))


def _labels_width(frame: Frame) -> float:
    """Return the width in inches of the longest label at the left of the axes."""
    nodes = f"{len(frame.platform.nodes):,}"
    names = [_group_label(g) for g in frame.platform.groups] if _by_group(frame) else [f"node {nodes}"]
    return 0.12 + LETTER * max(map(len, [*names, f"{int(1.08 * frame.queue):,}", "100 %"]))


def _by_group(frame: Frame) -> bool:
    return 1 < len(frame.platform.groups) <= 12


def _group_label(group: NodeGroup) -> str:
    name = group.name if len(group.name) <= LONGEST else f"{group.name[: LONGEST - 1]}…"
    return f"{name} ({group.count:,})"


def requested(jobs: JobsTable, resources: Sequence[str]) -> dict[str, Ints]:
    """Return the request of one unit of each job, as an array per resource."""
    table = np.array([[kind.request.get(r, 0) for r in resources] for kind in jobs.kinds], np.int64)
    return {r: table[jobs.kind, k] for k, r in enumerate(resources)}


def _gantt(
    ax: Axes, frame: Frame, jobs: JobsTable, requests: dict[str, Ints], category: Ints, colours: Sequence[str]
) -> list[str]:
    """Draw the Gantt chart: a rectangle per job if there are few jobs, else cells that mix the colours."""
    from matplotlib.ticker import MaxNLocator

    nodes = len(frame.platform.nodes)
    if nodes > MOST_NODES or len(jobs) > MOST_JOBS or jobs.units.sum() > MOST_UNITS:
        notes = _cells(ax, frame, jobs, requests, category, colours)
    else:
        _rectangles(ax, frame, rectangles(jobs, frame.platform, requests), category, colours)
        notes = [
            "each row is a node; the height of a job is the largest share of a resource of the node that it uses; shades of "
            "a colour only separate neighbouring jobs"
        ]
    ax.set_ylim(nodes, 0)
    by_group = _by_group(frame)
    title = "jobs on nodes, by node group (number of nodes)" if by_group else "jobs on nodes"
    ax.set_title(title, loc="left", fontsize=8)
    if by_group:
        edges = np.cumsum([0, *(g.count for g in frame.platform.groups)])
        middle = []
        last = -np.inf
        for group, place in zip(frame.platform.groups, (edges[:-1] + edges[1:]) / 2, strict=True):
            if place - last >= APART * nodes:  # else the names overlap
                middle.append((float(place), _group_label(group)))
                last = place
        ax.set_yticks([place for place, _ in middle], [name for _, name in middle])
        ax.tick_params(axis="y", length=0)
        for edge in edges[1:-1]:
            ax.axhline(edge, color=INK, linewidth=0.5)
    else:
        ax.yaxis.set_major_locator(MaxNLocator(6, integer=True))
        ax.yaxis.set_major_formatter("{x:,.0f}")
        ax.set_ylabel("node")
    return notes


def _rectangles(ax: Axes, frame: Frame, found: Sequence[Rectangle], category: Ints, colours: Sequence[str]) -> None:
    from matplotlib.colors import to_rgb

    for k, colour in enumerate(colours):
        for n, shade in enumerate(SHADES):
            mine = [r for r in found if category[r.job] == k and r.job % len(SHADES) == n]
            if not mine:
                continue
            box = np.array([(r.start, r.end, r.top, r.bottom) for r in mine], np.float64)
            box[:, :2] = frame.positions(box[:, :2])
            mixture = tuple(c + shade * (1 - c) for c in to_rgb(colour))
            ax.add_artist(boxes(box, facecolor=mixture, edgecolor="none"))


def _cells(
    ax: Axes, frame: Frame, jobs: JobsTable, requests: dict[str, Ints], category: Ints, colours: Sequence[str]
) -> list[str]:
    nodes = len(frame.platform.nodes)
    each = -(-nodes // MOST_NODES)
    rows = -(-nodes // each)
    held = shares(jobs, frame.platform, requests, category, len(colours), (rows, CELLS), each, frame.begin, frame.end)
    image = mixed(Cells(held, frame.begin, frame.end), colours)
    right = float(frame.positions(frame.end))
    ax.imshow(image, extent=(0, right, rows * each, 0), aspect="auto", interpolation="none")
    row = "a node" if each == 1 else how_many(each, "node", ",")
    width = (frame.end - frame.begin) / CELLS
    return [
        f"there are too many jobs or nodes to draw each job: each row of the Gantt chart is {row}, each column "
        f"{_span(width)}; a cell mixes the colours of its jobs in proportion to their shares, white is idle"
    ]


def _hatched(ax: Axes, frame: Frame, areas: Iterable[Area]) -> list[str]:
    """Hatch reservations and outages; neighbouring nodes with the same times are one rectangle."""
    row = {name: n for n, name in enumerate(frame.platform.nodes)}
    hatched = dict[str, list[tuple[int, int, int]]]()
    for area in areas:
        end = frame.end if area.end is None else min(area.end, frame.end)
        if max(area.start, frame.begin) < end:
            kind = area.state if area.state in HATCHES else OUTAGE
            hatched.setdefault(kind, []).append((max(area.start, frame.begin), end, row[area.node]))
    for kind, cells in hatched.items():
        box: list[list[float]] = []
        for start, end, node in sorted(cells):
            if box and box[-1][:2] == [start, end] and box[-1][3] == node:
                box[-1][3] = node + 1
            else:
                box.append([start, end, node, node + 1])
        table = np.array(box, np.float64)
        table[:, :2] = frame.positions(table[:, :2])
        hatch, colour, face = HATCHES[kind]
        ax.add_artist(boxes(table, facecolor=face, edgecolor=colour, linewidth=0.4, hatch=hatch, zorder=3))
    meaning = {
        RESERVED: "hatched with lines: nodes of a reservation, also if it holds only a part of them",
        OUTAGE: "hatched with crosses: nodes that take no starts (down, draining, reserved)",
        EVICTED: "red: a job left its nodes for an on-demand job, and comes back later",
        CHECKPOINT: "black: a job writes a checkpoint to leave",
    }
    return [meaning[kind] for kind in meaning if kind in hatched]


def _use(ax: Axes, frame: Frame, jobs: JobsTable, requests: Ints, resource: str) -> list[str]:
    """Draw how much of a resource is in use, in percent of its total capacity."""
    total = frame.platform.total(resource)
    times, used = in_use(jobs.start, jobs.end, jobs.units * requests)
    notes = _curve(ax, frame, times, used.astype(np.float64) * (100.0 / max(total, 1)), "#4c78a8")
    ax.axhline(100, color=INK, linewidth=0.7, linestyle=(0, (4, 2)))
    ax.set_ylim(0, 108)
    ax.set_yticks([0, 50, 100], ["0", "50", "100 %"])
    unit = " MB" if resource == "memory" else ""
    ax.set_title(f"{resource} in use (capacity: {total:,}{unit})", loc="left", fontsize=8)
    return notes


def _queue(ax: Axes, frame: Frame, jobs: JobsTable, left: Ints) -> list[str]:
    from matplotlib.ticker import MaxNLocator

    times, queue = waiting(jobs.submit, jobs.start, left)
    notes = _curve(ax, frame, times, queue.astype(np.float64), "#e45756")
    ax.set_ylim(0, max(1.0, 1.08 * frame.queue))
    ax.yaxis.set_major_locator(MaxNLocator(3, integer=True))
    ax.yaxis.set_major_formatter("{x:,.0f}")
    ax.set_title(f"jobs in the queue (maximum: {int(queue.max(initial=0)):,})", loc="left", fontsize=8)
    return notes


def _curve(ax: Axes, frame: Frame, times: Ints, values: Floats, colour: str) -> list[str]:
    if len(times) > STEPS:
        edges = np.linspace(frame.begin, frame.end, STEPS + 1)
        ax.stairs(means(times, values, edges), frame.positions(edges), fill=True, color=colour, alpha=0.75, linewidth=0)
        return [f"curves are means over {_span((frame.end - frame.begin) / STEPS)}"]
    if len(times):
        edges = np.append(times, max(frame.end, int(times[-1]) + 1))
        ax.stairs(values, frame.positions(edges), fill=True, color=colour, alpha=0.75, linewidth=0)
    return []


def means(times: Ints, values: Floats, edges: Floats) -> Floats:
    """Return the mean of a step function between each pair of consecutive edges.

    Parameters
    ----------
    times : ndarray of int, shape (n,)
        The times in seconds at which the function changes. Before the first one it is 0.
    values : ndarray of float, shape (n,)
        The value from each time on.
    edges : ndarray of float, shape (m + 1,)
        The edges of the intervals in seconds.

    Returns
    -------
    ndarray of float, shape (m,)
        The mean of each interval.

    Examples
    --------
    >>> means(np.array([0, 10]), np.array([4.0, 0.0]), np.array([-5.0, 5.0, 15.0])).tolist()
    [2.0, 2.0]
    """
    knots = np.append(times.astype(np.float64), max(float(edges[-1]), float(times[-1])) + 1)
    area = np.concatenate([[0.0], np.cumsum(values * np.diff(knots))])
    averages: Floats = np.diff(np.interp(edges, knots, area)) / np.diff(edges)
    return averages


def _span(seconds: float) -> str:
    """Return a number of seconds with a suitable unit.

    Examples
    --------
    >>> _span(90), _span(5400), _span(40)
    ('1.5 min', '1.5 h', '40 s')
    """
    if seconds < 60:
        return f"{seconds:.2g} s"
    return f"{seconds / 60:.2g} min" if seconds < HOUR else f"{seconds / HOUR:.2g} h"
