"""Charts of the schedule of a profit problem over time: power, temperature, PUE and use of the cores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ....models.step_function import DAY
from ..svg import COLOURS, INK, as_svg, single, stacked, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WORK, COOLING, WARM, USE = "#4c78a8", "#f58518", "#e45756", "#54a24b"
POWER, LOW, PUE = 1.5, 0.62, 0.85  # inches: heights of the axes of power, of a low curve, of the PUE
LEFT = 0.62  # inches: the margin for the labels
KILO = 2000  # from this power in watts on, the axis is in kW
LEAST_PUE = 0.05  # the axis of the PUE spans at least this
Curves = Mapping[str, Any]  # the field "operation" of a record


class Axis(NamedTuple):
    """The ranges of the axes that the charts of all methods of a scenario have in common.

    Attributes
    ----------
    begin, end : int
        The time axis in seconds.
    watts : float
        The greatest power, cooling included.
    pue : (float, float)
        The least and the greatest PUE.
    celsius : (float, float)
        The least and the greatest temperature.
    """

    begin: int
    end: int
    watts: float
    pue: tuple[float, float]
    celsius: tuple[float, float]

    def days(self, at: Any) -> Any:
        """Return times in seconds as days since ``begin``."""
        return (np.asarray(at, np.float64) - self.begin) / DAY


def axis_of(several: Sequence[Curves]) -> Axis:
    """Return axes that show all curves of several runs; the range of the PUE counts only segments before the horizon."""
    celsius = [c for curves in several for c in curves["segments"]["celsius"]]
    known = [p for c in several for p, t in zip(pues(c), _edges(c), strict=False) if p is not None and t < c["until"]]
    known = known or [1.0]  # all segments before the horizon are idle
    return Axis(
        min(c["begin"] for c in several),
        max(c["end"] for c in several),
        max(w + c for curves in several for w, c in _powers(curves)),
        (max(1.0, min(min(known), max(known) - LEAST_PUE)), max(max(known), 1 + LEAST_PUE)),
        (min(celsius), max(celsius)),
    )


def _powers(curves: Curves) -> list[tuple[float, float]]:
    return list(zip(curves["segments"]["watts"], curves["segments"]["cooling"], strict=True))


def pues(curves: Curves) -> list[float | None]:
    """Return the PUE of each segment; None if nothing runs in it."""
    return [1 + cooling / watts if watts > 0 else None for watts, cooling in _powers(curves)]


def over_time(title: str, curves: Curves, axis: Axis) -> str:
    """Draw power, temperature, PUE and use of the cores of a run, one below the other on one time axis, as SVG."""
    with styled(title):
        drawing, axes = stacked([POWER, LOW, PUE, LOW], LEFT)
        _power(axes[0], curves, axis)
        _steps(axes[1], axis.days(_edges(curves)), curves["segments"]["celsius"], WARM)
        low, high = axis.celsius
        axes[1].set_ylim(low - 0.1 * (high - low) - 0.5, high + 0.1 * (high - low) + 0.5)
        axes[1].set_title("temperature, °C", loc="left", fontsize=8)
        _pue(axes[2], curves, axis)
        _use(axes[3], curves, axis)
        for ax in axes:
            ax.axvline(axis.days(curves["until"]), color=INK, linewidth=0.9, linestyle=(0, (4, 2)))
        axes[-1].set_xlim(0, axis.days(axis.end))
        axes[-1].set_xlabel("time since the start of the problem, days")
        return as_svg(drawing, title)


def _edges(curves: Curves) -> list[int]:
    return [curves["begin"], *curves["segments"]["end"]]


def _steps(ax: Axes, edges: Any, values: Sequence[float | None], colour: str) -> None:
    """Draw a line that is constant in each segment and has a gap where there is no value."""
    from matplotlib.ticker import MaxNLocator

    known = np.array([np.nan if v is None else v for v in values], np.float64)
    ax.stairs(known, edges, baseline=None, color=colour, linewidth=1.3)
    ax.yaxis.set_major_locator(MaxNLocator(3))


def _power(ax: Axes, curves: Curves, axis: Axis) -> None:
    """Draw the power of the jobs (IT) and, stacked on it, the power of their cooling."""
    unit, kilo = ("kW", 1000.0) if axis.watts >= KILO else ("W", 1.0)
    edges = axis.days(_edges(curves))
    work = np.array(curves["segments"]["watts"], np.float64) / kilo
    whole = work + np.array(curves["segments"]["cooling"], np.float64) / kilo
    ax.stairs(work, edges, fill=True, color=WORK, alpha=0.85, linewidth=0, label="jobs (IT)")
    ax.stairs(whole, edges, baseline=work, fill=True, color=COOLING, alpha=0.85, linewidth=0, label="cooling")
    ax.set_ylim(0, 1.08 * max(axis.watts, 1e-9) / kilo)
    ax.set_title(f"power, {unit}", loc="left", fontsize=8)
    ax.legend(frameon=False, ncols=2, loc="lower right", bbox_to_anchor=(1.0, 0.99), borderaxespad=0.1, fontsize=8)


def _pue(ax: Axes, curves: Curves, axis: Axis) -> None:
    """Draw the PUE of each segment, and the overall PUE up to the horizon."""
    total = total_pue(curves)
    if total is not None:
        ax.plot([0, axis.days(curves["until"])], [total, total], color=COOLING, linewidth=1.0)
    _steps(ax, axis.days(_edges(curves)), pues(curves), INK)
    low, high = axis.pue
    ax.set_ylim(max(1.0, low - 0.1 * (high - low)), high + 0.1 * (high - low))
    ax.yaxis.set_major_formatter("{x:.2f}" if high - low > 2 * LEAST_PUE else "{x:.3f}")
    overall = "" if total is None else f" (overall up to the horizon: {total:.4f})"
    ax.set_title(f"PUE of each segment{overall}", loc="left", fontsize=8)


def known_pues(record: Mapping[str, Any]) -> list[tuple[int, float]]:
    """Return (number of the day from 1, PUE) of the days of the horizon on which something runs."""
    return [(k, float(d["pue"])) for k, d in enumerate(record.get("daily") or (), 1) if d.get("pue") is not None]


def trend(points: Sequence[tuple[int, float]]) -> tuple[float, float]:
    """Return slope and intercept of the linear regression; a slope of 0 for a single day.

    Examples
    --------
    >>> slope, at_0 = trend([(1, 1.1), (2, 1.2), (3, 1.3)])
    >>> round(slope, 9), round(at_0, 9)
    (0.1, 1.0)
    """
    if len(points) < 2:
        return 0.0, points[0][1]
    slope, at_0 = np.polyfit([day for day, _ in points], [pue for _, pue in points], 1).tolist()
    return slope, at_0


def daily_pue(title: str, records: Sequence[Mapping[str, Any]]) -> str:
    """Draw the PUE of each day of the horizon and its trend, for each run, as SVG [Bridi2018, figure 6.6]."""
    return single(f"{title}: PUE of each day", lambda ax: _daily_pue(ax, records), 2.6)


def _daily_pue(ax: Axes, records: Sequence[Mapping[str, Any]]) -> None:
    from matplotlib.ticker import MaxNLocator

    for record, colour in zip(records, COLOURS, strict=False):
        points = known_pues(record)
        if not points:
            continue
        days, values = zip(*points, strict=True)
        slope, at_0 = trend(points)
        ax.plot(days, values, color=colour, marker="o", markersize=3, linewidth=1.0, label=record["method"])
        ends = (days[0], days[-1])
        text = f"trend: {slope:+.2g} a day"
        ax.plot(ends, [at_0 + slope * d for d in ends], color=colour, linewidth=1.2, linestyle=(0, (4, 2)), label=text)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.yaxis.set_major_formatter("{x:.4f}")
    ax.set_xlabel("day")
    ax.set_ylabel("PUE of the day")
    ax.legend(frameon=False, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.22), fontsize=7)


def total_pue(curves: Curves) -> float | None:
    """Return the PUE of all segments up to the horizon together; None if nothing runs."""
    edges = np.minimum(np.array(_edges(curves), np.float64), curves["until"])
    work, cooling = np.diff(edges) @ np.array(_powers(curves), np.float64).reshape(-1, 2)
    return 1 + float(cooling / work) if work > 0 else None


def _use(ax: Axes, curves: Curves, axis: Axis) -> None:
    used = 100 * np.array(curves["steps"]["utilisation"], np.float64)
    edges = np.minimum(curves["begin"] + curves["step"] * np.arange(used.size + 1), curves["end"])
    ax.stairs(used, axis.days(edges), fill=True, color=USE, alpha=0.75, linewidth=0)
    ax.set_ylim(0, 108)
    ax.set_yticks([0, 50, 100], ["0", "50", "100 %"])
    ax.set_title("cores in use", loc="left", fontsize=8)
