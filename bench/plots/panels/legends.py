"""The legend of a panel with curves or bars, where it covers none of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FEW = 4  # most entries of a legend inside the axes
ROW = 0.115  # inches: height of an entry beside a panel


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
        rows = max(1, int(_height(ax) / ROW))
        ax.legend(
            frameon=False, fontsize=6, loc="center left", bbox_to_anchor=(1.0, 0.5), ncols=-(-entries // rows),
            handlelength=1.8, labelspacing=0.3, borderpad=0.0,
        )  # fmt: skip
    elif entries:
        ax.legend(frameon=False, fontsize=7, loc=inside)


def _height(ax: Axes) -> float:
    """Return the height of the panel in inches: that of the picture, or of its row of panels."""
    place, figure = ax.get_subplotspec(), ax.figure
    down = 1 if place is None else place.get_gridspec().nrows
    return float(figure.bbox.height / figure.dpi / down)
