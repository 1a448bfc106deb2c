"""The picture of ``bench show LOG``: jobs and nodes per hour."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...instances.files.atomic import write_whole
from ..errors import WrongUse
from .picture import side_by_side
from .statistics import COLOURS, PANEL, figure
from .svg import require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ...simulation.hours import Floats, Hours, Ints

DAY = 24  # hours


def plot_hours(name: str, hours: Hours, path: Path) -> None:
    """Write an SVG picture of the jobs submitted, the jobs running and the nodes in use in each hour of a log.

    Raises WrongUse if matplotlib is missing or the file cannot be written.
    """
    require_matplotlib()
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
    """Draw one value per hour as a filled step function over the days of a log."""
    edges = np.arange(len(values) + 1) / DAY
    ax.stairs(values, edges, fill=True, color=COLOURS[0], alpha=0.8, linewidth=0)
    ax.set_xlim(0, float(edges[-1]))
    ax.set_ylim(bottom=0)
    ax.yaxis.set_major_formatter("{x:,g}")
    ax.set_title(label, loc="left", fontsize=8)
    ax.set_xlabel("days since the first submission")
