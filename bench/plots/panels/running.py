"""The jobs that run at one time of a log, as figures 2 to 4 of [Maurya2020]."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ....instances.files.atomic import write_whole
from ....models.step_function import HOUR
from ...errors import WrongUse
from ..picture import side_by_side
from ..svg import COLOURS, INK, require_matplotlib, single

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Ints = NDArray[np.int64]
ROW, LEAST = 0.17, 1.6  # inches


def plot_running(title: str, start: Ints, end: Ints, nodes: Ints, at: int, path: Path) -> None:
    """Write an SVG picture of jobs as bars over time, with lines where all of them run, and at one time.

    Parameters
    ----------
    title : str
        The title.
    start, end : ndarray of int64, shape (jobs,)
        Seconds.
    nodes : ndarray of int64, shape (jobs,)
        Nodes of each job.
    at : int
        The time in seconds.
    path : Path
        The file, which ends in .svg.

    Raises
    ------
    WrongUse
        If matplotlib is missing, the name does not end in .svg or the file cannot be written.
    """
    require_matplotlib()
    if path.suffix.lower() != ".svg":
        raise WrongUse(f"--plot {path}: expected a file name that ends in .svg")
    order, first = np.lexsort((end, start)), int(start.min())

    def draw(ax: Axes) -> None:
        rows = np.arange(len(start))
        ax.barh(rows, (end - start)[order] / HOUR, left=(start[order] - first) / HOUR, color=COLOURS[0], height=0.75)
        for row, k in enumerate(order.tolist()):
            label = f"{nodes[k]:,} "
            ax.text((int(start[k]) - first) / HOUR, row, label, ha="right", va="center", fontsize=6, color=INK)
        for time in (int(start.max()), int(end.min())):
            ax.axvline((time - first) / HOUR, color=INK, linewidth=0.9, linestyle=(0, (4, 2)))
        ax.axvline((at - first) / HOUR, color="#d62728", linewidth=0.9)
        ax.set_ylim(len(start) - 0.4, -0.6)
        ax.set_yticks([])
        ax.set_ylabel("jobs, with their nodes", labelpad=22)
        ax.set_xlabel("hours since the first start; dashed: all jobs run in between; red: the moment")

    svg = single(title, draw, max(LEAST, 0.6 + ROW * len(start)))
    try:
        write_whole(path, side_by_side([(title, svg)]))
    except OSError as e:
        raise WrongUse(f"--plot {path}: cannot be written ({e.strerror})") from e
