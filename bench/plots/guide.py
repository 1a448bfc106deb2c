"""The chart of the days behind an efficiency guide: distance from the slope-change point, right and wrong advice.

The upper charts correspond to figure 6.8 of [Bridi2018], the lower ones, with the wrong advice alone, to figure 6.9.
"""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...models.counts import how_many
from ...models.profit.guide import MAXIMISE, OPTIMISE, Day, Guide, percent
from .svg import GREY, INK, styled, write_picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

COLOURS = {MAXIMISE: "#e45756", OPTIMISE: "#4c78a8"}
LINEAR = 0.001  # distances (of PUE) up to this are drawn on a linear scale, greater ones on a log scale
WIDTH, HEIGHT = 4.6, 3.6  # inches: the chart of one cooling


def plot_guide(guide: Guide, days: Sequence[Day], path: Path) -> None:
    """Draw the days to an SVG file. The same guide and days give the same bytes.

    Parameters
    ----------
    guide : Guide
        The guide.
    days : sequence of Day
        The days that it was learned from.
    path : Path
        The file; its name ends in .svg.

    Raises
    ------
    WrongUse
        If matplotlib is missing, the ending is another one, or the file cannot be written.
    """
    write_picture(path, lambda: _picture(guide, days))


def _picture(guide: Guide, days: Sequence[Day]) -> bytes:
    picture = BytesIO()
    with styled("guide"):
        _figure(guide, days).savefig(picture, format="svg", metadata=dict.fromkeys(("Date", "Creator")))
    return picture.getvalue()


def _figure(guide: Guide, days: Sequence[Day]) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH * len(guide.rules), 2 * HEIGHT), layout="constrained")
    low = min((day.utilisation for day in days), default=0.0)
    upper, lower = figure.subplots(2, len(guide.rules), squeeze=False)
    for above, below, name in zip(upper, lower, guide.rules, strict=True):
        mine = [day for day in days if day.cooling == name]
        wrong = [day for day in mine if guide.advise(name, day.utilisation) != day.aim]
        _days(above, guide, mine, name, f"{name}: {_number(mine)}")
        _days(below, guide, wrong, name, f"{name}: wrong advice on {_number(wrong)}")
        for ax in (above, below):
            ax.set_xlim(100 * low - 2, 102)
        below.set_yscale("linear")  # errors are near the slope change
        if not wrong:
            below.set_ylim(-LINEAR, LINEAR)
    kinds = [(aim, colour, marker) for aim, colour in COLOURS.items() for marker in "ox"]
    figure.legend(
        handles=[_key(aim, colour, marker) for aim, colour, marker in kinds],
        frameon=False,
        loc="outside lower center",
        ncols=2 if len(guide.rules) == 1 else len(kinds),
        title="what the best schedule did, and the advice of the guide",
    )
    return figure


def _number(days: Sequence[Day]) -> str:
    return how_many(len(days), "day", ",")


def _days(ax: Axes, guide: Guide, days: Sequence[Day], cooling: str, title: str) -> None:
    ax.axhline(0, color=INK, linewidth=0.8)
    edges = [high for _, high, _ in guide.ranges(cooling)[:-1]]
    for edge in edges:
        ax.axvline(100 * edge, color=GREY, linewidth=0.8, linestyle=(0, (4, 2)))
    for aim, colour in COLOURS.items():
        for marker in "ox":
            mine = [
                d for d in days if d.aim == aim and (guide.advise(cooling, d.utilisation) == aim) is (marker == "o")
            ]
            x = [100 * d.utilisation for d in mine]
            y = [d.distance for d in mine]
            ax.plot(x, y, **_style(colour, marker))
    threshold = f", threshold {', '.join(map(percent, edges))}" if edges else ""
    ax.set_title(f"{title}{threshold}", loc="left", fontsize=8)
    ax.set_xlabel("utilisation of the day before, %")
    ax.set_ylabel("PUE minus PUE at the slope change")
    ax.set_yscale("symlog", linthresh=LINEAR)
    ax.yaxis.set_major_formatter("{x:.3g}")


def _style(colour: str, marker: str) -> dict[str, Any]:
    return {
        "color": colour,
        "marker": marker,
        "linestyle": "none",
        "markersize": 5,
        "markerfacecolor": "none" if marker == "o" else colour,
        "markeredgewidth": 0.9 if marker == "o" else 1.5,
    }


def _key(aim: str, colour: str, marker: str) -> Line2D:
    from matplotlib.lines import Line2D

    return Line2D([], [], label=f"{aim}, {'right' if marker == 'o' else 'wrong'}", **_style(colour, marker))
