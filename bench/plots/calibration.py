"""The pictures of ``bench calibrate``: waits job by job, and the queue over time, recorded and replayed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ...models.array_types import Floats
from ...simulation.slurm.calibration import Calibration
from ..pages import Card
from .statistics import PANEL, figure
from .svg import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEAST = 1.0  # s: shorter waits are drawn here, as the axes are logarithmic


def calibration_cards(calibration: Calibration) -> list[Card]:
    """Return the pictures of a calibration. Needs matplotlib."""
    pictures = figure("waits and queue", [_scatter(calibration), _queue(calibration)], 2, 1.5 * PANEL)
    text = "of each job, on the line where the replays agree with the record; the number of waiting jobs over time"
    return [Card("Waits and queue", text, pictures)]


def _scatter(calibration: Calibration) -> Callable[[Axes], object]:
    def draw(ax: Axes) -> None:
        recorded = np.maximum(calibration.recorded, LEAST)
        replayed = np.maximum(calibration.replayed, LEAST)
        most = float(max(recorded.max(), replayed.max()))
        ax.plot([LEAST, most], [LEAST, most], color="0.6", linewidth=0.8)
        partitions = [",".join(job.request.partitions) for job in calibration.jobs]
        for k, name in enumerate(dict.fromkeys(partitions)):
            own = np.array([partition == name for partition in partitions])
            ax.plot(
                recorded[own], replayed[own], ".", markersize=3, color=COLOURS[k % len(COLOURS)], label=name or "none"
            )
        ax.set_xscale("log")
        ax.set_yscale("log")
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_formatter(lambda value, _: f"{value:,.0f}")
            axis.set_minor_formatter(lambda value, _: "")
        ax.set_xlabel("wait recorded, s")
        ax.set_ylabel("wait replayed, s")
        ax.legend(frameon=False, fontsize=7)

    return draw


def _queue(calibration: Calibration) -> Callable[[Axes], object]:
    submit = np.array([job.submit for job in calibration.jobs], np.float64)
    first = float(submit.min())

    def draw(ax: Axes) -> None:
        for k, (label, waits) in enumerate((("recorded", calibration.recorded), ("replayed", calibration.replayed))):
            times, waiting = queue_length(submit, waits)
            ax.step((times - first) / 3600, waiting, where="post", color=COLOURS[k], linewidth=0.9, label=label)
        ax.set_ylim(bottom=0)
        ax.set_xlabel("hours")
        ax.set_ylabel("waiting jobs")
        ax.legend(frameon=False, fontsize=7)

    return draw


def queue_length(submit: Floats, wait: Floats) -> tuple[Floats, Floats]:
    """Return the times at which the number of waiting jobs changes, and that number from each of them on.

    Examples
    --------
    >>> times, waiting = queue_length(np.array([0.0, 5.0]), np.array([10.0, 2.0]))
    >>> times.tolist(), waiting.tolist()
    ([0.0, 5.0, 7.0, 10.0], [1.0, 2.0, 1.0, 0.0])
    """
    times = np.concatenate([submit, submit + wait])
    change = np.concatenate([np.ones(submit.size), -np.ones(wait.size)])
    distinct, at = np.unique(times, return_inverse=True)
    return distinct, np.cumsum(np.bincount(at.reshape(-1), change))
