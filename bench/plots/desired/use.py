"""The use of a resource over time beside the desired use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ....models.step_function import HOUR
from ..panels.legends import add_legend
from ..svg import COLOURS, INK, LINES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LONG = 120  # hours; longer times are shown in days


def draw_use(ax: Axes, curves: Mapping[str, Mapping[str, Any]], label: str) -> None:
    """Draw the use of a resource over time, a curve per dispatcher, and the desired use as a black line.

    Parameters
    ----------
    ax : Axes
        Where it is drawn.
    curves : mapping of str to mapping
        Dispatcher -> ``{"time": ..., "use": ..., "desired": ...}``, see ``figures.mean_curves``.
    label : str
        The label of the y axis.
    """
    begin = min(use["time"][0] for use in curves.values())
    end = max(use["time"][-1] for use in curves.values())
    unit, seconds = ("hours", HOUR) if end - begin <= LONG * HOUR else ("days", 24 * HOUR)
    for k, (name, use) in enumerate(curves.items()):
        x = (np.array(use["time"]) - begin) / seconds
        y = np.array(use["use"], np.float64)
        ax.plot(x, y, label=name, color=COLOURS[k % len(COLOURS)], linestyle=LINES[k % len(LINES)], linewidth=1.0)
    longest = max(curves.values(), key=lambda use: use["time"][-1])
    x = (np.array(longest["time"]) - begin) / seconds
    y = np.array([np.nan if v is None else v for v in longest["desired"]], np.float64)
    ax.step(x, y, where="post", label="desired", color=INK, linewidth=1.4)
    ax.set_xlim(0, max((end - begin) / seconds, 1e-9))
    ax.set_ylim(bottom=0)
    ax.yaxis.set_major_formatter("{x:,g}")
    ax.set_xlabel(f"time since the begin, {unit}")
    ax.set_ylabel(label)
    add_legend(ax)
