"""Panels of plain data: distribution functions, bars of mean and deviation, histograms, curves over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ....models.step_function import HOUR
from ...tables.replays.columns import short
from ..svg import COLOURS, GREY, INK, LINES
from .legends import add_legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STEPS = 400  # a curve over time is drawn as means over this many intervals


class Bar(NamedTuple):
    """The bar of a dispatcher: its mean and the standard deviation, None if unknown."""

    name: str
    mean: float
    std: float | None = None


def draw_ecdf(ax: Axes, curves: Mapping[str, Sequence[float]], label: str, log: bool = True) -> None:
    """Draw empirical distribution functions: for each value x, the share of the jobs with a value of at most x.

    Parameters
    ----------
    ax : Axes
        Where it is drawn.
    curves : mapping of str to sequence of float
        Name -> percentiles in equal steps from 0 to 100, such as ``Metrics.percentiles["ratio"]``.
    label : str
        The label of the x axis.
    log : bool
        Whether the x axis is logarithmic; values of at most 0 are then left out.
    """
    from matplotlib.ticker import NullFormatter

    for k, (name, values) in enumerate(curves.items()):
        x, y = np.asarray(values, np.float64), np.linspace(0, 100, len(values))
        keep = x > 0 if log else np.ones_like(x, np.bool_)
        if not keep.any():
            continue
        x = np.concatenate(
            [[x[keep][0]], x[keep], [x[keep][-1]]]
        )  # equal values: the curve rises there from 0 to 100 %
        y = np.concatenate([[0.0 if keep.all() else y[keep][0]], y[keep], [100.0]])
        ax.plot(x, y, label=name, color=COLOURS[k % len(COLOURS)], linestyle=LINES[k % len(LINES)], linewidth=1.3)
    if log:
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter("{x:g}")
        begin, end = ax.get_xlim()
        ax.xaxis.set_minor_formatter("{x:g}" if end < 10 * begin else NullFormatter())
    ax.set_ylim(0, 102)
    ax.set_xlabel(label)
    ax.set_ylabel("jobs, %")
    ax.grid(color=GREY, alpha=0.25, linewidth=0.5)
    add_legend(ax)


def draw_bars(ax: Axes, bars: Sequence[Bar], label: str) -> None:
    """Draw a horizontal bar per dispatcher with its mean as text, and an error bar of one standard deviation.

    The lower end of an error bar is cut at 0.
    """
    place = np.arange(len(bars))
    mean = np.array([bar.mean for bar in bars], np.float64)
    std = np.array([bar.std or 0.0 for bar in bars], np.float64)
    ax.barh(place, mean, height=0.62, color=COLOURS[0], alpha=0.8)
    ax.errorbar(mean, place, xerr=[np.minimum(std, mean), std], fmt="none", ecolor=INK, elinewidth=0.8, capsize=2.0)
    right = float((mean + std).max(initial=0.0)) or 1.0
    for y, value, end in zip(place.tolist(), mean.tolist(), (mean + std).tolist(), strict=True):
        ax.text(end + 0.02 * right, y, short(value), va="center", fontsize=7)
    ax.set_xlim(0, 1.22 * right)
    ax.set_ylim(len(bars) - 0.4, -0.6)
    ax.set_yticks(place, [bar.name for bar in bars])
    ax.tick_params(axis="y", length=0)
    ax.xaxis.set_major_locator(_few())
    ax.xaxis.set_major_formatter("{x:,g}")
    ax.set_xlabel(label)


def draw_histogram(ax: Axes, counts: Mapping[str, Mapping[str, float]], label: str) -> None:
    """Draw shares of jobs by bin, a group of bars per bin with a bar per dispatcher; ``counts``: name -> bin -> jobs."""
    bins = list(next(iter(counts.values()), {}))
    width = 0.8 / max(1, len(counts))
    for k, (name, here) in enumerate(counts.items()):
        total = sum(here.values()) or 1
        shares = [100 * here.get(b, 0) / total for b in bins]
        offset = (k - (len(counts) - 1) / 2) * width
        repeated = "////" if k // len(COLOURS) % 2 else None  # a second round of the colours is hatched
        place, colour = np.arange(len(bins)) + offset, COLOURS[k % len(COLOURS)]
        ax.bar(place, shares, width, label=name, color=colour, hatch=repeated, edgecolor="white", linewidth=0)
    ax.set_xticks(np.arange(len(bins)), bins, fontsize=6.5, rotation=30, ha="right", rotation_mode="anchor")
    ax.set_xlabel(label)
    ax.set_ylabel("jobs, %")
    add_legend(ax)


def draw_over_time(ax: Axes, curves: Mapping[str, tuple[Any, Any]], label: str) -> None:
    """Draw step functions over time; ``curves``: name -> (times in s, values), as ``simulation.curves`` gives them."""
    from ..charts import means

    known = {name: curve for name, curve in curves.items() if len(curve[0])}
    begin = min((int(times[0]) for times, _ in known.values()), default=0)
    end = max((int(times[-1]) for times, _ in known.values()), default=1)
    edges = np.linspace(begin, max(end, begin + 1), STEPS + 1)
    unit, seconds = ("hours", HOUR) if end - begin <= 120 * HOUR else ("days", 24 * HOUR)
    for k, (name, (times, values)) in enumerate(known.items()):
        colour, style = COLOURS[k % len(COLOURS)], LINES[k % len(LINES)]
        x = (edges[:-1] + edges[1:]) / 2 - begin
        ax.plot(x / seconds, means(times, values, edges), label=name, color=colour, linestyle=style, linewidth=1.0)
    ax.set_xlim(0, (end - begin) / seconds)
    ax.set_ylim(bottom=0)
    ax.yaxis.set_major_formatter("{x:,g}")
    ax.set_xlabel(f"time since the first event, {unit}")
    ax.set_ylabel(label)
    add_legend(ax)


def _few() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(4)
