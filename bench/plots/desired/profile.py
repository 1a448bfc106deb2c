"""The picture of ``bench show profile.csv``: the wishes of a file over time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ....instances.files.atomic import write_whole
from ....instances.files.profile_file import WishList
from ....models.profiles import Wish
from ....models.step_function import HOUR
from ...errors import WrongUse
from ..picture import side_by_side
from ..statistics import PANEL, figure
from ..svg import COLOURS, require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
    panels = [_panel(resource, by_share, nodes, wishes) for (resource, by_share), nodes in series.items()]
    try:
        write_whole(path, side_by_side([(f"{name}: desired use", figure(name, panels, 1, PANEL))]))
    except OSError as e:
        raise WrongUse(f"--plot {path}: cannot be written ({e.strerror})") from e


def _panel(resource: str, by_share: bool, nodes: dict[str, Series], wishes: WishList) -> Callable[[Axes], object]:
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
