"""Groups of vertical bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...tables.replays.columns import short
from ..svg import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
