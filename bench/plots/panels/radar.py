"""Radar charts: several quantities of several dispatchers, each as a share of the greatest value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..svg import COLOURS, GREY, LINES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
        side = "center" if abs(x) < 0.1 else "left" if x > 0 else "right"
        ax.text(1.08 * x, 1.12 * y, name, ha=side, va="center", fontsize=7)
    for k, (name, radius) in enumerate(shares(shapes).items()):
        x, y = radius * np.cos(angle), radius * np.sin(angle)
        (shape,) = ax.plot(np.append(x, x[0]), np.append(y, y[0]), label=name, linewidth=1.3, marker=".", markersize=4)
        shape.set(color=COLOURS[k % len(COLOURS)], linestyle=LINES[k % len(LINES)])
    ax.set_aspect("equal")
    ax.set_xlim(-1.85, 1.85)
    ax.set_ylim(-1.2, 1.2)
    ax.set_axis_off()
    ax.set_title(title, fontsize=8)
    ax.legend(frameon=False, fontsize=7, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=1)


def shares(shapes: Shape) -> dict[str, NDArray[np.float64]]:
    """Return each value divided by the greatest one of its quantity; 0 where all are 0.

    Examples
    --------
    >>> {name: radius.tolist() for name, radius in shares({"a": [2, 0], "b": [4, 0]}).items()}
    {'a': [0.5, 0.0], 'b': [1.0, 0.0]}
    """
    table = np.array(list(shapes.values()), np.float64)
    most = table.max(axis=0)
    radius = np.divide(table, most, out=np.zeros_like(table), where=most > 0)
    return dict(zip(shapes, radius, strict=True))
