"""Figures of matplotlib as short SVG elements in one common style. matplotlib is optional."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from html import escape
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...instances.files.writing import write_whole
from ...models.step_function import HOUR
from ..errors import WrongUse

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


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
    font = fonts.pop() if len(fonts) == 1 else ""
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
            return found.group(0) if kept.pop() else ""
        if not empty:
            kept.append(bool(attributes.strip()))
        return found.group(0) if attributes.strip() else ""

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
    filled = FILLED.fullmatch(element) if len(path) >= LONG and not RING_AGAIN.search(path) else None
    if filled is None:
        return element.replace(path, "".join(_short_path(path)), 1)
    scaled = element.replace(path, "".join(_filled(path)), 1).replace(
        "<path ", f'<path transform="scale({1 / TWENTIETHS:g})" ', 1
    )
    clip = filled.group(1)  # of a group, as the transformation of an element applies to its clip path too
    return f"<g{clip}>{scaled.replace(clip, '', 1)}</g>" if clip else scaled


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
    decimals = f".{rest:02}".rstrip("0") if rest else ""
    sign = "-" if hundredths < 0 else ""
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
    return ("hours", HOUR) if span <= 120 * HOUR else ("days", 24 * HOUR)


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
LETTER = 0.6  # greatest mean width of the letters of a caption, as a share of the font size


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
        size = min(FONT, (width - GAP) / (LETTER * max(1, len(caption))))  # a long caption is smaller, not cut off
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
