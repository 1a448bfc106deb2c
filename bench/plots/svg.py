"""Figures of matplotlib as SVG elements in one common style. matplotlib is optional."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from html import escape
from io import StringIO
from typing import TYPE_CHECKING, Any

from ..errors import WrongUse
from .markup import with_short_markup
from .paths import with_short_paths

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 5.8  # inches: of all charts
ABOVE, BELOW, RIGHT = 0.29, 0.42, 0.08  # inches: margin above each axes, below the last one, at the right of all
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
COLOURS = ("#4c78a8", "#f58518", "#54a24b", "#e45756", "#72b7b2", "#b279a2", "#eeca3b", "#9d755d", "#ff9da6", "#bab0ac")
LINES = ("-", "--", ":", "-.")


def require_matplotlib() -> None:
    """Raise WrongUse, with the command that installs it, if matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as e:
        raise WrongUse("bench plot needs matplotlib: pip install 'schedlab[plot]'") from e


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


def single(title: str, draw: Callable[[Axes], object], height: float) -> str:
    """Return one chart as SVG, with the width of the others and a height in inches. ``draw`` draws on the axes."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with styled(title):
        figure = Figure(figsize=(WIDTH, height), layout="constrained")
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
