"""Slowdown and wait against the power cap: table and picture of ``bench simulate --power-cap 700kW,650kW``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from ...instances.files.writing import write_whole
from ..records.store import Record
from ..tables.replay_energy import FIGURES, CapPoint, cap_grid, cap_points
from .statistics import PANEL, figure
from .svg import COLOURS, LINES, side_by_side

if TYPE_CHECKING:
    from matplotlib.axes import Axes


PICTURE = "power-caps.svg"


def show_caps(tables: Console, notes: Console, records: Sequence[Record], folder: Path) -> None:
    """Print the table of the caps, and draw it in the folder of the records if matplotlib is installed."""
    points = cap_points(records)
    cap_grid(points).show(tables, explain=True)
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        notes.print("no picture of the power caps: matplotlib is not installed (pip install 'schedlab[plot]')")
        return
    path = folder / PICTURE
    write_whole(path, cap_picture(points))
    notes.print(f"{path}: wait and slowdown against the power cap", soft_wrap=True)


TITLE = "wait and slowdown against the power cap (dotted: without a cap)"


def cap_picture(points: Sequence[CapPoint]) -> str:
    """Return the picture: a panel per figure, a line per dispatcher; dotted: its value without a cap."""
    panels = [_cap_panel(points, label, name) for label, (name, _) in FIGURES.items()]
    return side_by_side([(TITLE, figure("power caps", panels, 2, PANEL))])


def _cap_panel(points: Sequence[CapPoint], label: str, name: str) -> Callable[[Axes], object]:
    def draw(ax: Axes) -> None:
        for k, dispatcher in enumerate(dict.fromkeys(p.dispatcher for p in points)):
            colour = COLOURS[k % len(COLOURS)]
            curve = [(p.cap, p.figure(name)) for p in points if p.dispatcher == dispatcher]
            known = [(cap / 1000, value) for cap, value in curve if cap is not None and value is not None]
            if known:
                ax.plot(*zip(*known, strict=True), label=dispatcher, color=colour, marker=".", linestyle=LINES[0])
            free = next((value for cap, value in curve if cap is None and value is not None), None)
            if free is not None:
                ax.axhline(free, color=colour, linestyle=":", linewidth=0.9)
        ax.set_ylim(bottom=0)
        ax.set_title(label, loc="left", fontsize=8)
        ax.set_xlabel("power cap, kW")
        if ax.lines:
            ax.legend(frameon=False, fontsize=7)

    return draw
