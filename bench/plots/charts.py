"""Charts of a replay as SVG: who runs where (Gantt), what is in use, how many wait. Needs matplotlib, which is optional."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from io import StringIO
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...simulation.curves import in_use, waiting
from ..errors import WrongUse
from .gantt import HOUR, Rectangle, rectangles, shares

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ...models.platform import NodeGroup, Platform
    from ...simulation.outputs.reading import JobsTable

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MOST_NODES = 200  # rows of a Gantt chart that are drawn one by one
MOST_JOBS = 3000
MOST_UNITS = 12_000  # of all jobs together
SHADES = (0.0, 0.22, 0.42)  # of white in a colour, so that neighbouring jobs can be told apart
CELLS = 480  # columns of a Gantt chart that is drawn as cells
STEPS = 600  # of a curve; one with more is drawn as means
WIDTH, GANTT, CURVE = 5.8, 3.1, 0.62  # inches
ABOVE, BELOW, RIGHT = 0.29, 0.42, 0.08  # inches: over each axes for its title, under the last one, beside all
LETTER, LONGEST = 0.068, 20  # inches of a letter of a label at most, and how many of them there may be
APART = 0.05  # of the height of a Gantt chart, between the names of two groups of nodes
INK, GREY = "#333333", "#888888"
STYLE: Any = {
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.family": "sans-serif",
    "font.size": 8,
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.titley": 1.0,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
}


@dataclass(frozen=True)
class Frame:
    """What the charts of all dispatchers on the same jobs share: the machine, the time axis (seconds), the longest queue."""

    platform: Platform
    begin: int
    end: int
    queue: int

    @property
    def unit(self) -> tuple[str, int]:
        """The unit of the time axis and its seconds: minutes, hours or days, so that the numbers are small."""
        span = self.end - self.begin
        known = (("minutes", 60), ("hours", HOUR), ("days", 24 * HOUR))
        return next((u for u, limit in zip(known, (2 * HOUR, 120 * HOUR), strict=False) if span <= limit), known[-1])

    def places(self, seconds: Any) -> Any:
        """Times as places on the axis."""
        return (np.asarray(seconds, np.float64) - self.begin) / self.unit[1]


class Chart(NamedTuple):
    """A picture: the SVG element, and what has to be said of how it is drawn."""

    svg: str
    notes: list[str]


def require_matplotlib() -> None:
    """Raises WrongUse, which says what to install, if there is no matplotlib."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as e:
        raise WrongUse("bench plot needs matplotlib: pip install 'schedlab[plot]'") from e


def chart(frame: Frame, jobs: JobsTable, category: Ints, colours: Sequence[str], title: str) -> Chart:
    """Gantt chart, a curve of use per resource, and the queue, one below the other on one time axis.

    ``category``: of each job, the index of its colour. The same input gives the same bytes.
    """
    asked = requested(jobs, frame.platform.resources)
    curves = [r for r in frame.platform.resources if asked[r].any()]
    with styled(title):
        figure, axes = stacked([GANTT, *[CURVE] * (len(curves) + 1)], _labels_width(frame))
        notes = _gantt(axes[0], frame, jobs, asked, category, colours)
        for ax, resource in zip(axes[1:], curves, strict=False):
            notes += _use(ax, frame, jobs, asked[resource], resource)
        notes += _queue(axes[-1], frame, jobs)
        axes[-1].set_xlim(0, max(float(frame.places(frame.end)), 1e-9))
        axes[-1].set_xlabel(f"{frame.unit[0]} since the first submission")
        picture = as_svg(figure, title)
    if not curves:
        notes.append("the file of the jobs does not say what they asked for: no curves of use")
    return Chart(picture, list(dict.fromkeys(notes)))


@contextmanager
def styled(title: str) -> Iterator[None]:
    """The style of all charts, whatever the user has set; the same title and drawing give the same bytes."""
    from matplotlib import style

    with style.context(["default", {**STYLE, "svg.hashsalt": title}]):
        yield


def as_svg(figure: Figure, title: str) -> str:
    """A figure as the SVG element alone."""
    text = StringIO()
    figure.savefig(text, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    return inline(text.getvalue(), title)


def single(title: str, draw: Callable[[Axes], None], height: float) -> str:
    """One chart as wide as the others and so many inches high, as SVG."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with styled(title):
        figure = Figure(figsize=(WIDTH, height), layout="constrained")
        FigureCanvasSVG(figure)
        draw(figure.subplots())
        return as_svg(figure, title)


def stacked(heights: Sequence[float], left: float) -> tuple[Figure, list[Axes]]:
    """A figure of axes one below the other, of these heights, on one time axis; ``left``: room for labels. Inches.

    The places are told and not found: matplotlib's layout draws everything once more to find them.
    """
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    whole = sum(heights) + ABOVE * len(heights) + BELOW
    figure = Figure(figsize=(WIDTH, whole))
    FigureCanvasSVG(figure)
    top = whole
    axes: list[Axes] = []
    for height in heights:
        top -= ABOVE + height
        place = (left / WIDTH, top / whole, (WIDTH - left - RIGHT) / WIDTH, height / whole)
        axes.append(figure.add_axes(place, sharex=axes[0] if axes else None))
    for ax in axes[:-1]:
        ax.tick_params(axis="x", labelbottom=False)
    return figure, axes


def _labels_width(frame: Frame) -> float:
    """Inches for the longest label at the left of the axes."""
    nodes = f"{len(frame.platform.nodes):,}"
    names = [_group_label(g) for g in frame.platform.groups] if _by_group(frame) else [f"node {nodes}"]
    return 0.12 + LETTER * max(map(len, [*names, f"{int(1.08 * frame.queue):,}", "100 %"]))


def _by_group(frame: Frame) -> bool:
    return 1 < len(frame.platform.groups) <= 12


def _group_label(group: NodeGroup) -> str:
    name = group.name if len(group.name) <= LONGEST else f"{group.name[: LONGEST - 1]}…"
    return f"{name} ({group.count:,})"


def requested(jobs: JobsTable, resources: Sequence[str]) -> dict[str, Ints]:
    """What a unit of each job asks for, by resource."""
    table = np.array([[kind.request.get(r, 0) for r in resources] for kind in jobs.kinds], np.int64)
    return {r: table[jobs.kind, k] for k, r in enumerate(resources)}


def _gantt(
    ax: Axes, frame: Frame, jobs: JobsTable, asked: dict[str, Ints], category: Ints, colours: Sequence[str]
) -> list[str]:
    """Rectangles where there are few, else cells that mix the colours."""
    from matplotlib.ticker import MaxNLocator

    nodes = len(frame.platform.nodes)
    if nodes > MOST_NODES or len(jobs) > MOST_JOBS or jobs.units.sum() > MOST_UNITS:
        notes = _cells(ax, frame, jobs, asked, category, colours)
    else:
        _rectangles(ax, frame, rectangles(jobs, frame.platform, asked), category, colours)
        notes = [
            "each row is a node, and a job as high as the share of the node that it holds of the resource that it needs "
            "most; shades tell neighbouring jobs apart"
        ]
    ax.set_ylim(nodes, 0)
    ax.set_title("jobs on nodes", loc="left", fontsize=8)
    if _by_group(frame):
        edges = np.cumsum([0, *(g.count for g in frame.platform.groups)])
        middle, last = [], -np.inf
        for group, place in zip(frame.platform.groups, (edges[:-1] + edges[1:]) / 2, strict=True):
            if place - last >= APART * nodes:  # else its name would be written over the one before
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
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    ring = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY]
    for k, colour in enumerate(colours):
        for n, shade in enumerate(SHADES):
            mine = [r for r in found if category[r.job] == k and r.job % len(SHADES) == n]
            if not mine:
                continue
            box = np.array([(r.start, r.end, r.top, r.bottom) for r in mine], np.float64)
            left, right, top, bottom = frame.places(box[:, 0]), frame.places(box[:, 1]), box[:, 2], box[:, 3]
            x = np.stack([left, right, right, left, left], axis=1).ravel()
            y = np.stack([top, top, bottom, bottom, top], axis=1).ravel()
            mixed = tuple(c + shade * (1 - c) for c in to_rgb(colour))
            path = Path(np.stack([x, y], axis=1), np.tile(ring, len(mine)))
            ax.add_artist(PathPatch(path, facecolor=mixed, edgecolor="none"))


def _cells(
    ax: Axes, frame: Frame, jobs: JobsTable, asked: dict[str, Ints], category: Ints, colours: Sequence[str]
) -> list[str]:
    from matplotlib.colors import to_rgb

    nodes = len(frame.platform.nodes)
    each = -(-nodes // MOST_NODES)
    rows = -(-nodes // each)
    held = shares(jobs, frame.platform, asked, category, len(colours), (rows, CELLS), each, frame.begin, frame.end)
    total = held.sum(axis=0)
    held = held / np.maximum(total, 1.0)
    missing = np.array([[1 - c for c in to_rgb(colour)] for colour in colours])
    image = np.clip(1 - np.tensordot(held, missing, axes=(0, 0)), 0, 1)
    right = float(frame.places(frame.end))
    ax.imshow(image, extent=(0, right, rows * each, 0), aspect="auto", interpolation="none")
    row = "a node" if each == 1 else f"{each:,} nodes"
    width = (frame.end - frame.begin) / CELLS
    return [
        f"too many jobs or nodes to be drawn one by one: each row of the Gantt chart is {row}, each column "
        f"{_span(width)}; a cell mixes the colours of the jobs by the share of it that they hold, white is idle"
    ]


def _use(ax: Axes, frame: Frame, jobs: JobsTable, asked: Ints, resource: str) -> list[str]:
    """How much of a resource is in use, in percent of what the platform has."""
    total = frame.platform.total(resource)
    times, used = in_use(jobs.start, jobs.end, jobs.units * asked)
    notes = _curve(ax, frame, times, used.astype(np.float64) * (100.0 / max(total, 1)), "#4c78a8")
    ax.axhline(100, color=INK, linewidth=0.7, linestyle=(0, (4, 2)))
    ax.set_ylim(0, 108)
    ax.set_yticks([0, 50, 100], ["0", "50", "100 %"])
    ax.set_title(f"{resource} in use, of {total:,}{' MB' if resource == 'memory' else ''}", loc="left", fontsize=8)
    return notes


def _queue(ax: Axes, frame: Frame, jobs: JobsTable) -> list[str]:
    from matplotlib.ticker import MaxNLocator

    times, queue = waiting(jobs.submit, jobs.start)
    notes = _curve(ax, frame, times, queue.astype(np.float64), "#e45756")
    ax.set_ylim(0, max(1.0, 1.08 * frame.queue))
    ax.yaxis.set_major_locator(MaxNLocator(3, integer=True))
    ax.yaxis.set_major_formatter("{x:,.0f}")
    ax.set_title(f"jobs waiting, at most {int(queue.max(initial=0)):,}", loc="left", fontsize=8)
    return notes


def _curve(ax: Axes, frame: Frame, times: Ints, values: Floats, colour: str) -> list[str]:
    if len(times) > STEPS:
        edges = np.linspace(frame.begin, frame.end, STEPS + 1)
        ax.stairs(means(times, values, edges), frame.places(edges), fill=True, color=colour, alpha=0.75, linewidth=0)
        return [f"curves are means over {_span((frame.end - frame.begin) / STEPS)}"]
    if len(times):
        edges = np.append(times, max(frame.end, int(times[-1]) + 1))
        ax.stairs(values, frame.places(edges), fill=True, color=colour, alpha=0.75, linewidth=0)
    return []


def means(times: Ints, values: Floats, edges: Floats) -> Floats:
    """The mean of a step function between each two edges; before its first time it is 0, after the last it stays.

    >>> means(np.array([0, 10]), np.array([4.0, 0.0]), np.array([-5.0, 5.0, 15.0])).tolist()
    [2.0, 2.0]
    """
    knots = np.append(times.astype(np.float64), max(float(edges[-1]), float(times[-1])) + 1)
    area = np.concatenate([[0.0], np.cumsum(values * np.diff(knots))])
    found: Floats = np.diff(np.interp(edges, knots, area)) / np.diff(edges)
    return found


def _span(seconds: float) -> str:
    """A length of time for people.

    >>> _span(90), _span(5400), _span(40)
    ('1.5 min', '1.5 h', '40 s')
    """
    if seconds < 60:
        return f"{seconds:.2g} s"
    return f"{seconds / 60:.2g} min" if seconds < HOUR else f"{seconds / HOUR:.2g} h"


def inline(svg: str, title: str) -> str:
    """The SVG element alone, as wide as its place, with its title; ids stay only where something refers to them."""
    element = svg[svg.index("<svg ") :]
    element = re.sub(r"<metadata>.*?</metadata>\s*", "", element, flags=re.DOTALL)
    element = re.sub(
        r'(<svg [^>]*?)width="[^"]*" height="[^"]*"|(<svg [^>]*?)height="[^"]*"', r"\1\2", element, count=1
    )
    used = set(re.findall(r'(?:url\(#|href="#)([^)"]+)', element))
    element = re.sub(r' id="([^"]+)"', lambda m: m.group(0) if m.group(1) in used else "", element)
    text = escape(title, quote=True)
    return re.sub(r"<svg ([^>]*)>", rf'<svg role="img" aria-label="{text}" \1><title>{text}</title>', element, count=1)
