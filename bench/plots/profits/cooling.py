"""The chart of a cooling table: cooling power and PUE over the IT power, one line per temperature. Needs matplotlib."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from ....instances.files.atomic import write_whole
from ....models.profit.cooling import Cooling
from ...errors import WrongUse
from ..svg import STYLE, require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = ("svg", "png", "pdf")
WIDTH, HEIGHT = 9.0, 3.6  # inches
SAMPLES = 200  # points of a line of PUE, which is curved
COLOURS = "turbo"


def plot_cooling(table: Cooling, path: Path) -> None:
    """Draw a cooling table to a file.

    Parameters
    ----------
    table : Cooling
        The table.
    path : Path
        The file; its ending .svg, .png or .pdf decides the format. As SVG, the same table gives the same bytes.

    Raises
    ------
    WrongUse
        If matplotlib is missing, the ending is another one, or the file cannot be written.
    """
    require_matplotlib()
    form = path.suffix.lower().removeprefix(".")
    if form not in FORMATS:
        raise WrongUse(f"--plot {path}: expected a file name that ends in {', '.join('.' + f for f in FORMATS)}")
    from matplotlib import style

    picture = BytesIO()
    with style.context(["default", {**STYLE, "svg.hashsalt": table.name}]):
        metadata = dict.fromkeys(("Date", "Creator")) if form == "svg" else None
        _figure(table).savefig(picture, format=form, metadata=metadata)
    try:
        write_whole(path, picture.getvalue())
    except OSError as e:
        raise WrongUse(f"--plot {path}: cannot be written ({e.strerror})") from e


def _figure(table: Cooling) -> Figure:
    from matplotlib import colormaps
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
    power, pue = figure.subplots(1, 2)
    colours = colormaps[COLOURS]
    last = max(1, len(table.temperatures) - 1)
    for k, t in enumerate(table.temperatures):
        _lines(power, pue, table, t, colours(k / last))
    for ax, what in ((power, "cooling power, kW"), (pue, "PUE")):
        ax.set_xlabel("IT power, kW")
        ax.set_title(what, loc="left", fontsize=8)
        ax.set_xlim(0, table.most / 1000)
    power.set_ylim(bottom=0)
    handles, labels = power.get_legend_handles_labels()
    figure.legend(
        handles[::-1], labels[::-1], frameon=False, loc="outside right center", title=f"{table.name}, at\ntemperature"
    )
    return figure


def _lines(power: Axes, pue: Axes, table: Cooling, temperature: float, colour: object) -> None:
    """Draw the two lines of a temperature: cooling power between its points, PUE from 1 % of the greatest IT power on."""
    points = table.curve(temperature)
    kilowatts = [(p / 1000, w / 1000) for p, w in points]
    power.plot(*zip(*kilowatts, strict=True), color=colour, linewidth=1.2, label=f"{temperature:g} °C")
    low = table.most / 100
    sampled = {low + (table.most - low) * k / SAMPLES for k in range(SAMPLES + 1)}
    at = sorted(sampled | {p for p, _ in points if low <= p < table.most})
    values = [1 + table.power(min(p, table.most), temperature) / p for p in at]
    pue.plot([p / 1000 for p in at], values, color=colour, linewidth=1.2)
