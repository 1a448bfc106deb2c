"""The picture of ``bench show LOG``: jobs and nodes per hour."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...instances.files.writing import write_whole
from ..errors import WrongUse
from .statistics import PANEL, figure
from .svg import COLOURS, require_matplotlib, side_by_side

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ...models.array_types import Floats, Ints
    from ...simulation.hours import Hours

DAY, WEEK = 24, 7 * 24  # hours
MOST = 600  # intervals; more of them cannot be distinguished in a picture


def plot_hours(name: str, hours: Hours, path: Path) -> None:
    """Write an SVG picture of the jobs submitted, the jobs running and the nodes in use in each hour of a log.

    Raises WrongUse if matplotlib is missing, the name does not end in .svg or the file cannot be written.
    """
    require_matplotlib()
    if path.suffix.lower() != ".svg":
        raise WrongUse(f"--plot {path}: the picture of a log is written as SVG; expected a file name that ends in .svg")
    known = (
        ("nodes in use", hours.nodes),
        ("running jobs", hours.running),
        ("jobs submitted per hour", hours.submitted),
    )
    panels = [_panel(label, values) for label, values in known if values is not None]
    try:
        write_whole(
            path,
            side_by_side([(f"{name}: jobs and nodes per hour", figure(f"{name}: hours", panels, 1, 0.75 * PANEL))]),
        )
    except OSError as e:
        raise WrongUse(f"--plot {path}: cannot be written ({e.strerror})") from e


def _panel(label: str, values: Floats | Ints) -> Callable[[Axes], object]:
    return lambda ax: draw_hours(ax, values, label)


def draw_hours(ax: Axes, values: Floats | Ints, label: str) -> None:
    """Draw one value per hour over the days of a log.

    A log of at most ``MOST`` hours is a filled step function. A longer one is drawn by days, one of more than ``MOST``
    days by weeks: their mean as a line on the range from the least to the greatest hour.
    """
    size = interval_of(len(values))
    begins = np.arange(0, len(values), size)
    edges = np.append(begins, len(values)) / DAY
    if size == 1:
        ax.stairs(values, edges, fill=True, color=COLOURS[0], alpha=0.8, linewidth=0)
        note = ""
    else:
        low, high = np.minimum.reduceat(values, begins), np.maximum.reduceat(values, begins)
        mean = np.add.reduceat(values, begins) / np.diff(np.append(begins, len(values)))
        ax.stairs(high, edges, baseline=low, fill=True, color=COLOURS[0], alpha=0.3, linewidth=0)
        ax.stairs(mean, edges, baseline=None, color=COLOURS[0], linewidth=0.9)
        unit = "day" if size == DAY else "week"
        note = f" (line: mean of a {unit}; band: its least to its greatest hour)"
    ax.set_xlim(0, float(edges[-1]))
    ax.set_ylim(bottom=0)
    ax.yaxis.set_major_formatter("{x:,g}")
    ax.set_title(f"{label}{note}", loc="left", fontsize=8)
    ax.set_xlabel("days since the first submission")


def interval_of(hours: int) -> int:
    """Return the hours of an interval of the picture: 1, a day or a week.

    Examples
    --------
    >>> interval_of(600), interval_of(601), interval_of(24 * 601)
    (1, 24, 168)
    """
    return next((size for size in (1, DAY) if hours <= MOST * size), WEEK)
