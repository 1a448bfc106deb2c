"""Two figures of each dispatcher against each other, and which dispatchers no other one beats in both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..svg import COLOURS, GREY, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKERS = "osD^vP*X"


class Point(NamedTuple):
    """A dispatcher, and two figures of it; less is better."""

    name: str
    x: float
    y: float

    @property
    def family(self) -> str:
        """The dispatcher without its order and options: ``plan@lns`` for ``plan:weighted:guard=2@lns:rounds=50``."""
        first, _, backend = self.name.partition("@")
        return "@".join(part.split(":")[0] for part in (first, backend) if part)


def frontier(points: Sequence[Point]) -> list[Point]:
    """Return the points for which no other one is at least as good in both figures and better in one, by ``x``.

    Examples
    --------
    >>> [p.name for p in frontier([Point("a", 1, 5), Point("b", 2, 3), Point("c", 3, 4), Point("d", 2, 6)])]
    ['a', 'b']
    """
    best: list[Point] = []
    for point in sorted(points, key=lambda p: (p.x, p.y)):
        if not best or point.y < best[-1].y or (point.x, point.y) == best[-1][1:]:
            best.append(point)
    return best


def draw_frontier(ax: Axes, points: Sequence[Point], labels: tuple[str, str]) -> None:
    """Draw the points on logarithmic axes, a colour and marker per family, and a line through the frontier.

    The dispatchers of the frontier are numbered; their names are in the legend.
    """
    from matplotlib.ticker import LogLocator, NullFormatter

    families = list(dict.fromkeys(p.family for p in points))
    for k, family in enumerate(families):
        own = [p for p in points if p.family == family]
        ax.scatter(
            [p.x for p in own], [p.y for p in own], s=18, label=family, color=COLOURS[k % len(COLOURS)],
            marker=MARKERS[k % len(MARKERS)], linewidths=0, zorder=3,
        )  # fmt: skip
    best = frontier(points)
    ax.step([p.x for p in best], [p.y for p in best], where="post", color=INK, linewidth=0.8, alpha=0.5)
    for k, point in enumerate(best, 1):
        ax.annotate(str(k), (point.x, point.y), xytext=(3, 4), textcoords="offset points", fontsize=7)
        ax.plot([], [], " ", label=f"{k} {point.name}")
    for scale, axis in ((ax.set_xscale, ax.xaxis), (ax.set_yscale, ax.yaxis)):
        scale("log")
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter("{x:,g}")
        axis.set_minor_formatter(NullFormatter())
    ax.grid(color=GREY, alpha=0.25, linewidth=0.5)
    ax.set_xlabel(labels[0])
    ax.set_ylabel(labels[1])
    ax.legend(frameon=False, fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))
