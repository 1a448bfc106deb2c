"""The picture of ``bench statistics --plot``: performance profile, data profile, and the distribution of gaps."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import log10
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ....instances.files.atomic import write_whole
from ...errors import WrongUse
from ...statistics.measures import Measure, gap
from ...statistics.profiles import Curve, below_one, data_profiles, performance_profiles
from ...statistics.sample import Sample
from ..panels.legends import add_legend
from ..picture import side_by_side
from ..svg import COLOURS, GREY, LINES, require_matplotlib, single

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HEIGHT = 2.7  # inches
LEAST_GAP = 1e-4  # at the left end of the axis of gaps: 0.01 %


def draw_profiles(ax: Axes, curves: Sequence[Curve], begin: float, end: float, label: str, share: str) -> None:
    """Draw step functions on a logarithmic axis.

    Parameters
    ----------
    ax
        Where they are drawn.
    curves
        The curves, one per method; where two are equal, both line styles are seen.
    begin, end
        The axis; what a curve reaches before ``begin`` is its height there.
    label, share
        Labels of the axes.
    """
    from matplotlib.ticker import NullFormatter

    for k, curve in enumerate(curves):
        inside = (curve.x > begin) & (curve.x <= end)
        x = np.concatenate([[begin], curve.x[inside], [end]])
        y = np.concatenate([[curve.at(begin)], curve.y[inside], [curve.at(end)]])
        style: dict[str, Any] = {
            "color": COLOURS[k % len(COLOURS)],
            "linestyle": LINES[k % len(LINES)],
            "linewidth": 1.4,
        }
        ax.step(x, 100 * y, where="post", label=curve.method, **style)
    ax.set_xscale("log")
    ax.set_xlim(begin, end)
    ax.set_ylim(-2, 102)
    ax.xaxis.set_major_formatter("{x:g}")
    ax.xaxis.set_minor_formatter("{x:g}" if end < 10 * begin else NullFormatter())
    ax.set_xlabel(label)
    ax.set_ylabel(share)
    ax.grid(color=GREY, alpha=0.25, linewidth=0.5)
    add_legend(ax, "lower right")


def profile_figures(sample: Sample, time: Measure, target: float | None) -> list[tuple[str, str]]:
    """Return (caption, SVG element) of the three figures. Raises WrongUse if matplotlib is missing."""
    require_matplotlib()
    until = "the proof" if target is None else f"a gap of {100 * target:g} %"
    performance, data = performance_profiles(sample, time), data_profiles(sample, time)
    gaps = below_one(data_profiles(sample, gap))
    limit = max(p.limit for p in sample.problems)
    ratio = max([2.0, *(float(c.x[-1]) for c in performance if c.x.size)])
    quickest = min([limit / 10, *(float(c.x[0]) for c in data if c.x.size)])
    count = len(sample.problems)
    figures = (
        (f"performance profile: seconds to {until}, {count} problems", performance, 1.0, 1.05 * ratio, "times the seconds of the best method"),
        (f"data profile: seconds to {until}", data, max(1e-3, 10 ** np.floor(log10(max(quickest, 1e-3)))), limit, "seconds"),
        ("gap to the best objective known, at the end", _percent(gaps), 100 * LEAST_GAP, 100.0, "gap at most, %"),
    )  # fmt: skip
    shares = ("problems, %", "runs, %", "runs, %")
    found = []
    for (caption, curves, begin, end, label), share in zip(figures, shares, strict=True):
        draw = partial(draw_profiles, curves=curves, begin=begin, end=end, label=label, share=share)
        found.append((caption, single(caption, draw, HEIGHT)))
    return found


def write_profiles(path: Path, sample: Sample, time: Measure, target: float | None) -> None:
    """Write the figures side by side as one SVG picture. Raises WrongUse."""
    if path.suffix.lower() != ".svg":
        raise WrongUse(f"--plot {path}: expected a name that ends in .svg")
    try:
        write_whole(path, side_by_side(profile_figures(sample, time, target)))
    except OSError as e:
        raise WrongUse(f"--plot {path}: cannot be written ({e.strerror})") from e


def _percent(curves: Sequence[Curve]) -> list[Curve]:
    return [Curve(c.method, 100 * c.x, c.y) for c in curves]
