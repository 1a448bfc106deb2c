"""Pictures of desired profiles: alone, and slowdown and wait against a power cap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from ...instances.files.profile_file import WishList
from ...instances.files.writing import write_whole
from ...models.profiles.builders import Wish
from ...models.step_function import HOUR
from ..errors import WrongUse
from ..records.store import Record
from ..tables.replay_energy import FIGURES, CapPoint, cap_grid, cap_points
from .statistics import PANEL, figure
from .svg import COLOURS, LINES, require_matplotlib, side_by_side

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# --- The picture of ``bench show profile.csv``: the wishes of a file over time.

Series = list[Wish]


def plot_profile(name: str, wishes: WishList, path: Path) -> None:
    """Write an SVG picture of the wishes: a panel for each resource, a line for each group of nodes.

    Raises WrongUse if matplotlib is missing, the name does not end in .svg or the file cannot be written.
    """
    require_matplotlib()
    if path.suffix.lower() != ".svg":
        raise WrongUse(f"--plot {path}: a profile is drawn as SVG; expected a file name that ends in .svg")
    series: dict[tuple[str, bool], dict[str, Series]] = {}
    for wish in wishes.wishes:
        series.setdefault((wish.resource, wish.share is not None), {}).setdefault(wish.nodes, []).append(wish)
    panels = [_wish_panel(resource, by_share, nodes, wishes) for (resource, by_share), nodes in series.items()]
    try:
        write_whole(path, side_by_side([(f"{name}: desired use", figure(name, panels, 1, PANEL))]))
    except OSError as e:
        raise WrongUse(f"--plot {path}: cannot be written ({e.strerror})") from e


def _wish_panel(resource: str, by_share: bool, nodes: dict[str, Series], wishes: WishList) -> Callable[[Axes], object]:
    def draw(ax: Axes) -> None:
        for k, (name, listed) in enumerate(nodes.items()):
            times, values = steps_of(listed, wishes)
            ax.step([t / HOUR for t in times], values, where="post", label=name, color=COLOURS[k % len(COLOURS)])
        ax.set_ylim(bottom=0)
        ax.set_title(f"{resource}, {'share of each node' if by_share else 'amount'}", loc="left", fontsize=8)
        ax.set_xlabel("time, hours" + (" of the period" if wishes.period else ""))
        if len(nodes) > 1:
            ax.legend(frameon=False, fontsize=7)

    return draw


def steps_of(listed: Series, wishes: WishList) -> tuple[list[int], list[float]]:
    """Return times in seconds and values of a series, with its begin and its end.

    Examples
    --------
    >>> night = [Wish(28800, "cores", 0.6), Wish(72000, "cores", 1.0)]
    >>> steps_of(night, WishList(tuple(night), period=86400))
    ([0, 28800, 72000, 86400], [1.0, 0.6, 1.0, 1.0])
    """
    listed = sorted(listed)
    times = [wish.time for wish in listed]
    values = [wish.share if wish.share is not None else wish.amount or 0.0 for wish in listed]
    if wishes.period is not None and times[0] > 0:
        times, values = [0, *times], [values[-1], *values]
    last = wishes.period or wishes.end or max(w.time for w in wishes.wishes) + HOUR
    return [*times, last], [*values, values[-1]]


# --- Slowdown and wait against the power cap: the table and the picture of ``bench simulate --power-cap 700kW,650kW``.

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
            found = [(p.cap, p.figure(name)) for p in points if p.dispatcher == dispatcher]
            known = [(cap / 1000, value) for cap, value in found if cap is not None and value is not None]
            if known:
                ax.plot(*zip(*known, strict=True), label=dispatcher, color=colour, marker=".", linestyle=LINES[0])
            free = next((value for cap, value in found if cap is None and value is not None), None)
            if free is not None:
                ax.axhline(free, color=colour, linestyle=":", linewidth=0.9)
        ax.set_ylim(bottom=0)
        ax.set_title(label, loc="left", fontsize=8)
        ax.set_xlabel("power cap, kW")
        if ax.lines:
            ax.legend(frameon=False, fontsize=7)

    return draw
