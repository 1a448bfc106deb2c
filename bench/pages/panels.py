"""Panels of figures, each drawn on axes from plain data, as short SVG elements in one common style; the charts of a replay over time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from html import escape
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...instances.files.reading import csv_rows, read_text, split_lines
from ...instances.files.writing import write_whole
from ...models.array_types import Floats, Ints
from ...models.dispatch.arrays import offsets
from ...models.gantt import SHADES, Cells, Rectangle, boxes, mixed, rectangles, shares
from ...models.platform import Platform
from ...models.step_function import HOUR
from ...models.words import how_many
from ...simulation.curves import in_use, waiting
from ..errors import WrongUse
from ..grid import short
from ..records.record import CHECKPOINT, EVICTED, RESERVED, Area, areas_of
from ..records.store import Record, jobs_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ...models.platform import NodeGroup, Platform
    from ...simulation.outputs import JobsTable


# --- Shorter text of SVG elements: no groups without attributes, no needless digits, one font for all texts.

TAG = re.compile(r"<[a-z][^>]*>")
GROUP = re.compile(r"<(/?)g\b([^>]*?)(/?)>")
NUMBER = re.compile(r"-?\d+\.\d{3,}")
PLACE = re.compile(r' (?:x="|y="|transform="rotate\()[^"]*"')
UPRIGHT = re.compile(r' transform="rotate\(-?0 [^"]*\)"')
FONT_IN_STYLE = re.compile(r'(?<=[" ;])font-family: [^;"]*(?:; )?')
STYLE_ATTRIBUTE = re.compile(r' style="[^"]*"')
BLANK = re.compile(r"([:;]) ")


def with_short_markup(svg: str) -> str:
    """Return an SVG element that looks the same with less text.

    Examples
    --------
    >>> with_short_markup('''<svg viewBox="0 0 9 9">
    ...  <g>
    ...   <g clip-path="url(#a)"><text style="font-size: 8px; fill: #333333" x="1.123456" transform="rotate(-0 1 2)">b c</text></g>
    ...  </g>
    ... </svg>''')
    '<svg viewBox="0 0 9 9"><g clip-path="url(#a)"><text style="font-size:8px;fill:#333333" x="1.12">b c</text></g></svg>'
    """
    svg = _without_plain_groups(re.sub(r">\s+<", "><", svg))
    fonts = {font.removesuffix("; ") for tag in TAG.findall(svg) for font in FONT_IN_STYLE.findall(tag)}
    font = ""
    if len(fonts) == 1:
        font = fonts.pop()
    if font:
        svg = TAG.sub(lambda m: FONT_IN_STYLE.sub("", m.group(0)), svg).replace("<svg ", f'<svg style="{font}" ', 1)
    return TAG.sub(lambda m: _short_tag(m.group(0)), svg)


def _short_tag(tag: str) -> str:
    """Return a tag with two decimals in its places, and without what changes nothing."""
    tag = PLACE.sub(lambda m: NUMBER.sub(_rounded, m.group(0)), UPRIGHT.sub("", tag))
    return STYLE_ATTRIBUTE.sub(lambda m: BLANK.sub(r"\1", m.group(0)), tag)


def _rounded(found: re.Match[str]) -> str:
    return f"{round(float(found.group(0)), 2) + 0.0:.2f}".rstrip("0").rstrip(".")  # + 0.0: no minus sign before 0


def _without_plain_groups(svg: str) -> str:
    """Remove the tags of groups that have no attributes."""
    kept: list[bool] = []

    def tag(found: re.Match[str]) -> str:
        closes, attributes, empty = found.groups()
        if closes:
            if kept.pop():
                return found.group(0)
            return ""
        if not empty:
            kept.append(bool(attributes.strip()))
        if attributes.strip():
            return found.group(0)
        return ""

    return GROUP.sub(tag, svg)


# --- Shorter paths in SVG: relative coordinates in hundredths of a point, in place of absolute ones with six decimals.
#
# Long filled paths, such as the jobs of a Gantt chart and curves of use, have whole numbers of twentieths of a point, which a
# transformation scales: their outline is not drawn, and half a twentieth is less than a pixel at any size a page shows.

PATH = re.compile(r'<path [^>]*?\bd="([^"]*)"[^>]*>')
STEP = re.compile(r"([MLQCz])([^MLQCz]*)")  # what matplotlib writes: absolute coordinates
FILLED = re.compile(r'<path d="[^"]*"( clip-path="[^"]*")? style="fill: #\w+(?:; opacity: [\d.]+)?"\s*/>')
RING_AGAIN = re.compile(r"z\s*[LQC]")  # a path that goes on from the begin of a closed ring
LONG = 600  # letters of the path of matplotlib from which a transformation is worth its own letters
HUNDREDTHS = 100  # of a point
TWENTIETHS = 20  # of a point

Step = tuple[str, list[int]]


def with_short_paths(svg: str) -> str:
    """Return an SVG element whose paths take a third of the text or less, long filled ones a quarter.

    No coordinate changes by more than 0.005 points, in long filled paths 0.025.

    Examples
    --------
    >>> with_short_paths('<path d="M 10 20.004 L 30.5 20 L 30.5 40 L 10 40 z" />')
    '<path d="M10 20h20.5v20h-20.5z" />'
    """
    return PATH.sub(_shorter, svg)


def _shorter(found: re.Match[str]) -> str:
    element = found.group(0)
    path = found.group(1)
    filled = None
    if len(path) >= LONG and not RING_AGAIN.search(path):
        filled = FILLED.fullmatch(element)
    if filled is None:
        return element.replace(path, "".join(_short_path(path)), 1)
    scaled = element.replace(path, "".join(_filled(path)), 1).replace(
        "<path ", f'<path transform="scale({1 / TWENTIETHS:g})" ', 1
    )
    clip = filled.group(1)  # of a group, as the transformation of an element applies to its clip path too
    if clip:
        return f"<g{clip}>{scaled.replace(clip, '', 1)}</g>"
    return scaled


def _steps(path: str, parts: int) -> Iterator[Step]:
    """Yield the steps of a path with its numbers in parts of a point.

    Points are rounded before differences are taken, so that errors do not add up.
    """
    for letter, text in STEP.findall(path):
        yield letter, [round(parts * float(number)) for number in text.split()]


def _short_path(path: str) -> Iterator[str]:
    """Yield the steps of a path in hundredths of a point, relative to each other."""
    x = y = begin_x = begin_y = 0
    first = True
    for letter, numbers in _steps(path, HUNDREDTHS):
        if letter == "z":
            yield "z"
            x = begin_x
            y = begin_y
            continue
        deltas = [n - (y if k % 2 else x) for k, n in enumerate(numbers)]
        if letter == "M" and first:
            yield "M" + _joined(map(_number, numbers))
        elif letter == "L" and deltas[1] == 0:
            yield "h" + _number(deltas[0])
        elif letter == "L" and deltas[0] == 0:
            yield "v" + _number(deltas[1])
        else:
            yield letter.lower() + _joined(map(_number, deltas))
        x, y = numbers[-2:]
        if letter == "M":
            begin_x = x
            begin_y = y
            first = False


def _filled(path: str) -> Iterator[str]:
    """Yield the steps of a path in twentieths of a point that cover the same area.

    Rings are not closed, as filling closes them, and lines without length and corners between lines of one direction are left out.
    """
    x = y = across = down = 0  # the last point that was passed; the line from it that has not been written
    for letter, numbers in [*_steps(path, TWENTIETHS), ("z", [])]:
        to_x, to_y = numbers[-2:] or (x, y)
        straight = letter == "L" and (to_x == x or to_y == y)
        if (across and not (straight and to_y == y)) or (down and not (straight and to_x == x)):
            yield f"h{across}" if across else f"v{down}"
            across = down = 0
        if straight:
            across = across + to_x - x
            down = down + to_y - y
        elif letter != "z":
            deltas = [n - (y if k % 2 else x) for k, n in enumerate(numbers)]
            yield letter.lower() + _joined(map(str, deltas))
        x = to_x
        y = to_y


def _joined(numbers: Iterator[str]) -> str:
    """Return numbers with a blank between them where none has a minus sign."""
    return next(numbers, "") + "".join(text if text.startswith("-") else f" {text}" for text in numbers)


def _number(hundredths: int) -> str:
    """Return a number of hundredths without needless digits: 50 -> ".5"."""
    whole, rest = divmod(abs(hundredths), 100)
    decimals = ""
    if rest:
        decimals = f".{rest:02}".rstrip("0")
    sign = ""
    if hundredths < 0:
        sign = "-"
    return f"{sign}{whole if whole or not rest else ''}{decimals}"


# --- Figures of matplotlib as SVG elements in one common style. matplotlib is optional.

WIDTH = 5.8  # inches: of all charts
ABOVE = 0.29  # inches: margin above each axes, below the last one, at the right of all
BELOW = 0.42
RIGHT = 0.08
INK = "#333333"
GREY = "#888888"
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
COLOURS = ("#4c78a8", "#f58518", "#54a24b", "#e45756", "#72b7b2", "#b279a2", "#eeca3b", "#9d755d", "#ff9da6", "#bab0ac")
LINES = ("-", "--", ":", "-.")


def curve_style(k: int) -> dict[str, Any]:
    """Return colour and line style of the curve number ``k`` of a chart."""
    return {"color": COLOURS[k % len(COLOURS)], "linestyle": LINES[k % len(LINES)]}


def time_axis(span: float) -> tuple[str, int]:
    """Return the unit of a time axis of ``span`` seconds and its seconds: minutes up to two hours, hours up to five days, else days."""
    if span <= 2 * HOUR:
        return "minutes", 60
    if span <= 120 * HOUR:
        return ("hours", HOUR)
    return ("days", 24 * HOUR)


def require_matplotlib() -> None:
    """Raise WrongUse, with the command that installs it, if matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as e:
        raise WrongUse("bench plot needs matplotlib: pip install 'schedlab[plot]'") from e


def write_picture(path: Path, draw: Callable[[], str | bytes], endings: Sequence[str] = (".svg",)) -> None:
    """Write the picture of an option ``--plot``.

    Raises WrongUse if matplotlib is missing, the name of the file does not end as expected, or it cannot be written.
    """
    require_matplotlib()
    if path.suffix.lower() not in endings:
        raise WrongUse(f"--plot {path}: expected a file name that ends in {', '.join(endings)}")
    picture = draw()
    try:
        write_whole(path, picture)
    except OSError as e:
        raise WrongUse(f"--plot {path}: cannot be written ({e.strerror})") from e


@contextmanager
def styled(title: str) -> Iterator[None]:
    """Apply the style of all charts, independent of the user's settings. The title seeds the ids in the SVG."""
    from matplotlib import style

    with style.context(["default", {**STYLE, "svg.hashsalt": title}]):
        yield


def as_svg(figure: Figure, title: str) -> str:
    """Return a figure as an SVG element."""
    text = StringIO()
    figure.savefig(text, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    return inline(text.getvalue(), title)


def inline(svg: str, title: str) -> str:
    """Return the SVG element without size and metadata, with a title, in short form, and only with the ids that are referred to."""
    element = svg[svg.index("<svg ") :]
    element = re.sub(r"<metadata>.*?</metadata>\s*", "", element, flags=re.DOTALL)
    element = re.sub(
        r'(<svg [^>]*?)width="[^"]*" height="[^"]*"|(<svg [^>]*?)height="[^"]*"', r"\1\2", element, count=1
    )
    element = with_short_paths(element)
    used = set(re.findall(r'(?:url\(#|href="#)([^)"]+)', element))
    element = re.sub(r' id="([^"]+)"', lambda m: m.group(0) if m.group(1) in used else "", element)
    element = with_short_markup(element)
    text = escape(title, quote=True)
    return re.sub(r"<svg ([^>]*)>", rf'<svg role="img" aria-label="{text}" \1><title>{text}</title>', element, count=1)


def single(title: str, draw: Callable[[Axes], object], height: float, width: float | None = None) -> str:
    """Return one chart as SVG, with a height and a width in inches. ``draw`` draws on the axes; None: the width of the others."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with styled(title):
        figure = Figure(figsize=(WIDTH if width is None else width, height), layout="constrained")
        FigureCanvasSVG(figure)
        draw(figure.subplots())
        return as_svg(figure, title)


def stacked(heights: Sequence[float], left: float) -> tuple[Figure, list[Axes]]:
    """Return a figure with axes one below the other on a common time axis. All lengths are in inches.

    The positions of the axes are computed here, because matplotlib's layout would draw everything once more to find them.

    Parameters
    ----------
    heights : sequence of float
        The height of each axes.
    left : float
        The margin at the left, for the labels.
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


# --- Charts side by side as one SVG picture, for a document that shows pictures but no HTML.

CAPTION = 22  # points
GAP = 14
FONT = 13
LETTER_WIDTH = 0.6  # greatest mean width of the letters of a caption, as a share of the font size


def side_by_side(charts: Sequence[tuple[str, str]]) -> str:
    """Return one SVG document with the charts in a row.

    Parameters
    ----------
    charts
        Pairs of a caption and an SVG element with a ``viewBox``, as ``charts.as_svg`` makes it.

    Returns
    -------
    str
        The document. The same charts give the same text.
    """
    parts = []
    x = 0.0
    tallest = 0.0
    for caption, svg in charts:
        box = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
        if box is None:
            raise WrongUse("a chart has no size and cannot be part of a picture")
        width = float(box[1])
        height = float(box[2])
        size = min(
            FONT, (width - GAP) / (LETTER_WIDTH * max(1, len(caption)))
        )  # a long caption is smaller, not cut off
        parts.append(f'<text x="{x + GAP:g}" y="{FONT + 2}" font-size="{size:.3g}">{escape(caption)}</text>')
        parts.append(svg.replace("<svg ", f'<svg x="{x:g}" y="{CAPTION}" width="{width:g}" height="{height:g}" ', 1))
        x = x + width + GAP
        tallest = max(tallest, height + CAPTION)
    box_of_all = f"{x - GAP:g} {tallest:g}"
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 {box_of_all}"'
    )
    style = 'font-family="sans-serif" fill="#222"'
    return "\n".join([f"{head} {style}>", '<rect width="100%" height="100%" fill="white"/>', *parts, "</svg>", ""])


# --- The legend of a panel with curves or bars, where it covers none of them.

FEW = 4  # most entries of a legend inside the axes
ENTRY_HEIGHT = 0.115  # inches: height of an entry beside a panel


def add_legend(ax: Axes, inside: Literal["best", "lower right"] = "best") -> None:
    """Add the legend inside the axes, or to the right of them if it has more than ``FEW`` entries; none without entries.

    Parameters
    ----------
    ax : Axes
        The panel; its figure has the layout "constrained".
    inside : str
        The place inside the axes: "best" or "lower right".
    """
    entries = len(ax.get_legend_handles_labels()[1])
    if entries > FEW:
        rows = max(1, int(_height(ax) / ENTRY_HEIGHT))
        ax.legend(
            frameon=False, fontsize=6, loc="center left", bbox_to_anchor=(1.0, 0.5), ncols=-(-entries // rows),
            handlelength=1.8, labelspacing=0.3, borderpad=0.0,
        )  # fmt: skip
    elif entries:
        ax.legend(frameon=False, fontsize=7, loc=inside)


def _height(ax: Axes) -> float:
    """Return the height of the panel in inches: that of the picture, or of its row of panels."""
    place = ax.get_subplotspec()
    figure = ax.figure
    down = 1
    if place is not None:
        down = place.get_gridspec().nrows
    return float(figure.bbox.height / figure.dpi / down)


# --- Groups of vertical bars.

Groups = Mapping[str, Sequence[float | None]]  # name -> value of each class


def draw_grouped(ax: Axes, groups: Groups, names: Sequence[str], label: str) -> None:
    """Draw groups of vertical bars with their values as text; None leaves the place of a bar empty.

    Parameters
    ----------
    ax : Axes
        Where it is drawn.
    groups : mapping of str to sequence of float or None
        Name of a group -> the value of each class.
    names : sequence of str
        The names of the classes.
    label : str
        The label of the y axis.
    """
    width = 0.85 / max(1, len(names))
    for k, name in enumerate(names):
        place = np.arange(len(groups)) + (k - (len(names) - 1) / 2) * width
        values = [row[k] for row in groups.values()]
        bars = [0.0 if value is None else value for value in values]
        ax.bar(place, bars, 0.92 * width, label=name, color=COLOURS[k % len(COLOURS)])
        for x, value in zip(place.tolist(), values, strict=True):
            if value is not None:
                ax.text(x, value, f" {short(value)}", ha="center", va="bottom", fontsize=5.5, rotation=90)
    ax.set_xticks(np.arange(len(groups)), list(groups), fontsize=7)
    ax.yaxis.set_major_formatter("{x:,g}")
    ax.margins(y=0.18)
    ax.set_ylabel(label)
    ax.legend(frameon=False, fontsize=7, ncols=len(names))


# --- Panels of plain data: distribution functions, bars of mean and deviation, histograms, curves over time.

MOST_MEANS = 400  # a curve over time is drawn as means over this many intervals


class MeanBar(NamedTuple):
    """The bar of a dispatcher: its mean and the standard deviation, None if unknown."""

    name: str
    mean: float
    std: float | None = None


def draw_ecdf(ax: Axes, curves: Mapping[str, Sequence[float]], label: str, log: bool = True) -> None:
    """Draw empirical distribution functions: for each value x, the share of the jobs with a value of at most x.

    Parameters
    ----------
    ax : Axes
        Where it is drawn.
    curves : mapping of str to sequence of float
        Name -> percentiles in equal steps from 0 to 100, such as ``Metrics.percentiles["ratio"]``.
    label : str
        The label of the x axis.
    log : bool
        Whether the x axis is logarithmic; values of at most 0 are then left out.
    """
    from matplotlib.ticker import NullFormatter

    for k, (name, values) in enumerate(curves.items()):
        x = np.asarray(values, np.float64)
        y = np.linspace(0, 100, len(values))
        if log:
            keep = x > 0
        else:
            keep = np.ones_like(x, np.bool_)
        if not keep.any():
            continue
        x = np.concatenate(
            [[x[keep][0]], x[keep], [x[keep][-1]]]
        )  # equal values: the curve rises there from 0 to 100 %
        y = np.concatenate([[0.0 if keep.all() else y[keep][0]], y[keep], [100.0]])
        ax.plot(x, y, label=name, **curve_style(k), linewidth=1.3)
    if log:
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter("{x:g}")
        begin, end = ax.get_xlim()
        ax.xaxis.set_minor_formatter("{x:g}" if end < 10 * begin else NullFormatter())
    ax.set_ylim(0, 102)
    ax.set_xlabel(label)
    ax.set_ylabel("jobs, %")
    ax.grid(color=GREY, alpha=0.25, linewidth=0.5)
    add_legend(ax)


def draw_bars(ax: Axes, bars: Sequence[MeanBar], label: str) -> None:
    """Draw a horizontal bar per dispatcher with its mean as text, and an error bar of one standard deviation.

    The lower end of an error bar is cut at 0.
    """
    place = np.arange(len(bars))
    mean = np.array([bar.mean for bar in bars], np.float64)
    std = np.array([bar.std or 0.0 for bar in bars], np.float64)
    ax.barh(place, mean, height=0.62, color=COLOURS[0], alpha=0.8)
    ax.errorbar(mean, place, xerr=[np.minimum(std, mean), std], fmt="none", ecolor=INK, elinewidth=0.8, capsize=2.0)
    right = float((mean + std).max(initial=0.0)) or 1.0
    for y, value, end in zip(place.tolist(), mean.tolist(), (mean + std).tolist(), strict=True):
        ax.text(end + 0.02 * right, y, short(value), va="center", fontsize=7)
    ax.set_xlim(0, 1.22 * right)
    ax.set_ylim(len(bars) - 0.4, -0.6)
    ax.set_yticks(place, [bar.name for bar in bars])
    ax.tick_params(axis="y", length=0)
    ax.xaxis.set_major_locator(_few())
    ax.xaxis.set_major_formatter("{x:,g}")
    ax.set_xlabel(label)


def draw_histogram(ax: Axes, counts: Mapping[str, Mapping[str, float]], label: str) -> None:
    """Draw shares of jobs by bin, a group of bars per bin with a bar per dispatcher; ``counts``: name -> bin -> jobs."""
    bins = list(next(iter(counts.values()), {}))
    width = 0.8 / max(1, len(counts))
    for k, (name, here) in enumerate(counts.items()):
        total = sum(here.values()) or 1
        percents = [100 * here.get(b, 0) / total for b in bins]
        offset = (k - (len(counts) - 1) / 2) * width
        # a second round of the colours is hatched
        repeated = None
        if k // len(COLOURS) % 2:
            repeated = "////"
        place = np.arange(len(bins)) + offset
        colour = COLOURS[k % len(COLOURS)]
        ax.bar(place, percents, width, label=name, color=colour, hatch=repeated, edgecolor="white", linewidth=0)
    ax.set_xticks(np.arange(len(bins)), bins, fontsize=6.5, rotation=30, ha="right", rotation_mode="anchor")
    ax.set_xlabel(label)
    ax.set_ylabel("jobs, %")
    add_legend(ax)


def draw_over_time(ax: Axes, curves: Mapping[str, tuple[Any, Any]], label: str) -> None:
    """Draw step functions over time; ``curves``: name -> (times in s, values), as ``simulation.curves`` gives them."""
    known = {name: curve for name, curve in curves.items() if len(curve[0])}
    begin = min((int(times[0]) for times, _ in known.values()), default=0)
    end = max((int(times[-1]) for times, _ in known.values()), default=1)
    edges = np.linspace(begin, max(end, begin + 1), MOST_MEANS + 1)
    unit, seconds = time_axis(end - begin)
    for k, (name, (times, values)) in enumerate(known.items()):
        x = (edges[:-1] + edges[1:]) / 2 - begin
        ax.plot(x / seconds, means(times, values, edges), label=name, **curve_style(k), linewidth=1.0)
    ax.set_xlim(0, (end - begin) / seconds)
    ax.set_ylim(bottom=0)
    ax.yaxis.set_major_formatter("{x:,g}")
    ax.set_xlabel(f"time since the first event, {unit}")
    ax.set_ylabel(label)
    add_legend(ax)


def _few() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(4)


# --- The attempts of jobs that ended early, in Gantt charts: their runs, checkpoints, and where jobs left their nodes.

MARK = 300  # a mark where a job left has this part of the width of the chart


def with_attempts(
    jobs: JobsTable, record: Mapping[str, Any], folder: Path, platform: Platform
) -> tuple[JobsTable, list[Area]]:
    """Return the jobs of a replay with a row for each attempt, and its areas with checkpoints and departures.

    The submit time of a later attempt is the end of the one before it. Without attempts that ended early the jobs are
    returned as they are.

    Parameters
    ----------
    jobs : JobsTable
        The jobs of the replay.
    record : mapping
        Its record.
    folder : Path
        The folder of the record.
    platform : Platform
        The machine.
    """
    from ...simulation.outputs import attempts_file

    areas = list(areas_of(record))
    if (record.get("simulation") or {}).get("attempts_csv") is None:
        return jobs, areas
    early = _early_attempts(attempts_file(jobs_file(folder, record)), jobs.ids)
    width = max(1, (int(jobs.end.max()) - int(jobs.submit.min())) // MARK)
    areas += _departures(record, early, jobs.ids, platform, width)
    return _with_rows(jobs, early), areas


class EarlyAttempt(NamedTuple):
    """An attempt that ended early; ``row``: its job; ``nodes``: pairs of a node number and units; times in seconds."""

    row: int
    number: int
    start: int
    end: int
    nodes: Sequence[tuple[int, int]]


def _early_attempts(path: Path, ids: Sequence[str]) -> list[EarlyAttempt]:
    """Return the attempts of a file after which their jobs came back, by job and number."""
    row = {name: k for k, name in enumerate(ids)}
    lines = [cells for _, cells in csv_rows(path, split_lines(read_text(path)))][1:]
    early = [
        EarlyAttempt(row[job], int(number), int(start), int(end), _nodes(nodes))
        for job, number, start, end, nodes, _, _, back in lines
        if back == "1"
    ]
    return sorted(early, key=lambda attempt: (attempt.row, attempt.number))


def _with_rows(jobs: JobsTable, early: Sequence[EarlyAttempt]) -> JobsTable:
    """Return the jobs with a row for each of these attempts behind their own rows, which are the last attempts."""
    submit = jobs.submit.copy()  # of the last attempts: the ends of those before
    begins = []
    last: dict[int, int] = {}
    for attempt in early:
        begins.append(last.get(attempt.row, int(jobs.submit[attempt.row])))
        last[attempt.row] = attempt.end
        submit[attempt.row] = attempt.end
    rows = np.concatenate([np.arange(len(jobs)), np.array([a.row for a in early], np.int64)])
    p = jobs.placement
    listed = [pair for attempt in early for pair in attempt.nodes]
    node, units = np.array(listed, np.int64).reshape(-1, 2).T
    placement = p._replace(
        first=np.concatenate([p.first, p.first[-1] + offsets([len(a.nodes) for a in early])[1:]]),
        low=np.concatenate([p.low, node]),
        high=np.concatenate([p.high, node]),
        units=np.concatenate([p.units, units]),
    )
    return replace(
        jobs,
        ids=[jobs.ids[k] for k in rows.tolist()],
        submit=np.concatenate([submit, np.array(begins, np.int64)]),
        start=np.concatenate([jobs.start, np.array([a.start for a in early], np.int64)]),
        end=np.concatenate([jobs.end, np.array([a.end for a in early], np.int64)]),
        walltime=jobs.walltime[rows],
        units=jobs.units[rows],
        killed=np.concatenate([jobs.killed, np.zeros(len(early), np.bool_)]),
        placement=placement,
        kind=jobs.kind[rows],
    )


def _departures(
    record: Mapping[str, Any], early: Sequence[EarlyAttempt], ids: Sequence[str], platform: Platform, width: int
) -> list[Area]:
    """Return the areas of checkpoints, and marks of this width in seconds where jobs left their nodes."""
    on = {(ids[attempt.row], attempt.number): attempt.nodes for attempt in early}
    areas = []
    for departure in (record.get("preemption") or {}).get("departures", ()):
        end = departure["end"]
        for n, _ in on.get((departure["job"], departure["attempt"]), ()):
            areas.append(Area(platform.nodes[n], end - width, end, EVICTED))
            if end > departure["write"]:
                areas.append(Area(platform.nodes[n], departure["write"], end, CHECKPOINT))
    return areas


def _nodes(text: str) -> list[tuple[int, int]]:
    """Return pairs of a node number and units, of all chunks."""
    pairs = (piece.partition(":") for piece in text.replace("+", " ").split())
    return [(int(n), int(units)) for n, _, units in pairs]


# --- Two figures of each dispatcher against each other, and which dispatchers no other one beats in both.

MARKERS = "osD^vP*X"


class FrontierPoint(NamedTuple):
    """A dispatcher, and two figures of it; less is better."""

    name: str
    x: float
    y: float

    @property
    def family(self) -> str:
        """The dispatcher without its order and options: ``plan@lns`` for ``plan:weighted:guard=2@lns:rounds=50``."""
        first, _, backend = self.name.partition("@")
        return "@".join(part.split(":")[0] for part in (first, backend) if part)


def frontier(points: Sequence[FrontierPoint]) -> list[FrontierPoint]:
    """Return the points for which no other one is at least as good in both figures and better in one, by ``x``.

    Examples
    --------
    >>> points = [FrontierPoint("a", 1, 5), FrontierPoint("b", 2, 3), FrontierPoint("c", 3, 4), FrontierPoint("d", 2, 6)]
    >>> [p.name for p in frontier(points)]
    ['a', 'b']
    """
    best: list[FrontierPoint] = []
    for point in sorted(points, key=lambda p: (p.x, p.y)):
        if not best or point.y < best[-1].y or (point.x, point.y) == best[-1][1:]:
            best.append(point)
    return best


def draw_frontier(ax: Axes, points: Sequence[FrontierPoint], labels: tuple[str, str]) -> None:
    """Draw the points on logarithmic axes, a colour and marker per family, and a line through the frontier.

    The dispatchers of the frontier are numbered; their names are in the legend.
    """
    from matplotlib.ticker import LogLocator, NullFormatter

    families = list(dict.fromkeys(p.family for p in points))
    for k, family in enumerate(families):
        own = [p for p in points if p.family == family]
        ax.scatter(
            [p.x for p in own], [p.y for p in own], s=18, label=family, color=COLOURS[k % len(COLOURS)],
            marker=MARKERS[k % len(MARKERS)], linewidths=0, zorder=3,
        )  # fmt: skip
    best = frontier(points)
    ax.step([p.x for p in best], [p.y for p in best], where="post", color=INK, linewidth=0.8, alpha=0.5)
    for k, point in enumerate(best, 1):
        ax.annotate(str(k), (point.x, point.y), xytext=(3, 4), textcoords="offset points", fontsize=7)
        ax.plot([], [], " ", label=f"{k} {point.name}")
    for scale, axis in ((ax.set_xscale, ax.xaxis), (ax.set_yscale, ax.yaxis)):
        scale("log")
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter("{x:,g}")
        axis.set_minor_formatter(NullFormatter())
    ax.grid(color=GREY, alpha=0.25, linewidth=0.5)
    ax.set_xlabel(labels[0])
    ax.set_ylabel(labels[1])
    ax.legend(frameon=False, fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))


# --- The nodes that are on and those that run jobs over time, of replays with a node policy.

Curve = tuple[Any, Any]


def node_curves(record: Record, folder: Path) -> tuple[Curve, Curve] | None:
    """Return the curves of the nodes that are on, and of those that run jobs; None without a node policy.

    Parameters
    ----------
    record : Record
        The record of a replay.
    folder : Path
        Its folder.

    Returns
    -------
    tuple of (ndarray, ndarray)
        Times in seconds, number of nodes.

    Raises
    ------
    JobsError
        If the file of the jobs is not valid.
    """
    from ...simulation.curves import busy_nodes, in_use
    from ...simulation.outputs import read_jobs

    name = (record.get("simulation") or {}).get("node_states_csv")
    if name is None or not record.get("jobs_csv"):
        return None
    jobs = read_jobs(jobs_file(folder, record))
    p = jobs.placement
    count = sum(g["count"] for g in record["simulation"]["platform"])
    begin = int(jobs.submit.min())
    end = int(jobs.end.max())
    busy = in_use(*(ends := busy_nodes(jobs.start, jobs.end, p.first, p.low, p.high)), np.ones_like(ends[0]))
    rows = list(csv_rows(folder / name, split_lines(read_text(folder / name))))[1:]
    changes = {begin: count, end: 0}
    for _, (_, time, state) in rows:
        changes[int(time)] = changes.get(int(time), 0) + {"on": 1, "shutting down": -1}.get(state, 0)
    times = np.array(sorted(t for t in changes if t <= end))
    return (times, np.cumsum([changes[t] for t in times.tolist()])), busy


# --- Radar charts: several quantities of several dispatchers, each as a share of the greatest value.

RINGS = (0.25, 0.5, 0.75, 1.0)
Shape = Mapping[str, Sequence[float]]  # name -> value of each quantity


def draw_radar(ax: Axes, shapes: Shape, names: Sequence[str], title: str) -> None:
    """Draw one polygon per dispatcher; 0, the best, is in the centre, and the greatest value of a quantity on the outer ring.

    Parameters
    ----------
    ax : Axes
        Where it is drawn.
    shapes : mapping of str to sequence of float
        Name of a dispatcher -> its values, not negative, in the order of ``names``.
    names : sequence of str
        The names of the quantities.
    title : str
        The title of the chart.
    """
    angle = np.pi / 2 - 2 * np.pi * np.arange(len(names)) / len(names)
    around = np.linspace(0, 2 * np.pi, 181)
    for ring in RINGS:
        ax.plot(ring * np.cos(around), ring * np.sin(around), color=GREY, alpha=0.35, linewidth=0.5)
    for x, y, name in zip(np.cos(angle).tolist(), np.sin(angle).tolist(), names, strict=True):
        ax.plot([0, x], [0, y], color=GREY, alpha=0.35, linewidth=0.5)
        side = "right"
        if x > 0:
            side = "left"
        if abs(x) < 0.1:
            side = "center"
        ax.text(1.08 * x, 1.12 * y, name, ha=side, va="center", fontsize=7)
    for k, (name, radius) in enumerate(radii(shapes).items()):
        x = radius * np.cos(angle)
        y = radius * np.sin(angle)
        (shape,) = ax.plot(np.append(x, x[0]), np.append(y, y[0]), label=name, linewidth=1.3, marker=".", markersize=4)
        shape.set(**curve_style(k))
    ax.set_aspect("equal")
    ax.set_xlim(-1.85, 1.85)
    ax.set_ylim(-1.2, 1.2)
    ax.set_axis_off()
    ax.set_title(title, fontsize=8)
    ax.legend(frameon=False, fontsize=7, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=1)


def radii(shapes: Shape) -> dict[str, NDArray[np.float64]]:
    """Return each value divided by the greatest one of its quantity; 0 where all are 0.

    Examples
    --------
    >>> {name: radius.tolist() for name, radius in radii({"a": [2, 0], "b": [4, 0]}).items()}
    {'a': [0.5, 0.0], 'b': [1.0, 0.0]}
    """
    table = np.array(list(shapes.values()), np.float64)
    most = table.max(axis=0)
    radius = np.divide(table, most, out=np.zeros_like(table), where=most > 0)
    return dict(zip(shapes, radius, strict=True))


# --- Charts of a replay as SVG: Gantt chart, resources in use, length of the queue. They need matplotlib (optional).


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
        return time_axis(self.end - self.begin)

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
    if _by_group(frame):
        names = [_group_label(g) for g in frame.platform.groups]
    else:
        names = [f"node {nodes}"]
    return 0.12 + LETTER * max(map(len, [*names, f"{int(1.08 * frame.queue):,}", "100 %"]))


def _by_group(frame: Frame) -> bool:
    return 1 < len(frame.platform.groups) <= 12


def _group_label(group: NodeGroup) -> str:
    if len(group.name) <= LONGEST:
        name = group.name
    else:
        name = f"{group.name[: LONGEST - 1]}…"
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
    title = "jobs on nodes"
    if by_group:
        title = "jobs on nodes, by node group (number of nodes)"
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
    row = "a node"
    if each != 1:
        row = how_many(each, "node", ",")
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
        if area.end is None:
            end = frame.end
        else:
            end = min(area.end, frame.end)
        if max(area.start, frame.begin) < end:
            if area.state in HATCHES:
                kind = area.state
            else:
                kind = OUTAGE
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
    unit = ""
    if resource == "memory":
        unit = " MB"
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
    if seconds < HOUR:
        return f"{seconds / 60:.2g} min"
    return f"{seconds / HOUR:.2g} h"
