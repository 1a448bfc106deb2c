"""Pictures of what a user gives to the bench: logs by the hour, jobs at one time, desired profiles, cooling tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...instances.files.profile_file import WishList
from ...models.array_types import Floats, Ints
from ...models.profiles import Wish
from ...models.profit.problem import Cooling
from ...models.step_function import HOUR
from .figures import PANEL, figure
from .panels import COLOURS, INK, side_by_side, single, styled, time_axis, write_picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ...simulation.curves import Hours


# --- ``bench show LOG``: jobs and nodes per hour.

DAY = 24  # hours
WEEK = 7 * 24
MOST = 600  # intervals; more of them cannot be distinguished in a picture


def plot_hours(name: str, hours: Hours, path: Path) -> None:
    """Write an SVG picture of the jobs submitted, the jobs running and the nodes in use in each hour of a log.

    Raises WrongUse, see ``write_picture``.
    """
    known = {"nodes in use": hours.nodes, "running jobs": hours.running, "jobs submitted per hour": hours.submitted}
    panels = [partial(draw_hours, values=values, label=label) for label, values in known.items() if values is not None]
    title = f"{name}: jobs and nodes per hour"
    write_picture(path, lambda: side_by_side([(title, figure(f"{name}: hours", panels, 1, 0.75 * PANEL))]))


def draw_hours(ax: Axes, values: Floats | Ints, label: str) -> None:
    """Draw one value per hour over the time of a log.

    A log of at most ``MOST`` hours is a filled step function. A longer one is drawn by days, one of more than ``MOST``
    days by weeks: their mean as a line on the range from the least to the greatest hour.
    """
    size = interval_of(len(values))
    begins = np.arange(0, len(values), size)
    unit_of_time, length = time_axis(HOUR * len(values))
    edges = np.append(begins, len(values)) * HOUR / length
    if size == 1:
        ax.stairs(values, edges, fill=True, color=COLOURS[0], alpha=0.8, linewidth=0)
        note = ""
    else:
        low = np.minimum.reduceat(values, begins)
        high = np.maximum.reduceat(values, begins)
        mean = np.add.reduceat(values, begins) / np.diff(np.append(begins, len(values)))
        ax.stairs(high, edges, baseline=low, fill=True, color=COLOURS[0], alpha=0.3, linewidth=0)
        ax.stairs(mean, edges, baseline=None, color=COLOURS[0], linewidth=0.9)
        unit = "week"
        if size == DAY:
            unit = "day"
        note = f" (line: mean of a {unit}; band: its least to its greatest hour)"
    ax.set_xlim(0, float(edges[-1]))
    ax.set_ylim(bottom=0)
    ax.yaxis.set_major_formatter("{x:,g}")
    ax.set_title(f"{label}{note}", loc="left", fontsize=8)
    ax.set_xlabel(f"{unit_of_time} since the first submission")


def interval_of(hours: int) -> int:
    """Return the hours of an interval of the picture: 1, a day or a week.

    Examples
    --------
    >>> interval_of(600), interval_of(601), interval_of(24 * 601)
    (1, 24, 168)
    """
    return next((size for size in (1, DAY) if hours <= MOST * size), WEEK)


# --- The jobs that run at one time of a log, as figures 2 to 4 of [Maurya2020].

JOB_ROW = 0.17  # inches
LEAST = 1.6  # inches


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
    order = np.lexsort((end, start))
    first = int(start.min())

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

    height = max(LEAST, 0.6 + JOB_ROW * len(start))
    write_picture(path, lambda: side_by_side([(title, single(title, draw, height))]))


# --- The picture of ``bench show profile.csv``: the wishes of a file over time.

Series = list[Wish]


def plot_profile(name: str, wishes: WishList, path: Path) -> None:
    """Write an SVG picture of the wishes: a panel for each resource, a line for each group of nodes.

    Raises WrongUse, see ``write_picture``.
    """
    series: dict[tuple[str, bool], dict[str, Series]] = {}
    for wish in wishes.wishes:
        series.setdefault((wish.resource, wish.share is not None), {}).setdefault(wish.nodes, []).append(wish)
    panels = [_wish_panel(resource, by_share, nodes, wishes) for (resource, by_share), nodes in series.items()]
    write_picture(path, lambda: side_by_side([(f"{name}: desired use", figure(name, panels, 1, PANEL))]))


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
        times = [0, *times]
        values = [values[-1], *values]
    last = wishes.period or wishes.end or max(w.time for w in wishes.wishes) + HOUR
    return [*times, last], [*values, values[-1]]


# --- The chart of a cooling table: cooling power and PUE over the IT power, one line per temperature. Needs matplotlib.

ENDINGS = (".svg", ".png", ".pdf")
COOLING_SIZE = (9.0, 3.6)  # inches
SAMPLES = 200  # points of a line of PUE, which is curved
COLOUR_MAP = "turbo"


def plot_cooling(table: Cooling, path: Path) -> None:
    """Draw a cooling table to a file.

    Parameters
    ----------
    table : Cooling
        The table.
    path : Path
        The file; its ending .svg, .png or .pdf decides the format. As SVG, the same table gives the same bytes.

    Raises
    ------
    WrongUse
        If matplotlib is missing, the ending is another one, or the file cannot be written.
    """
    write_picture(path, lambda: _cooling_picture(table, path.suffix.lower()), ENDINGS)


def _cooling_picture(table: Cooling, ending: str) -> bytes:
    picture = BytesIO()
    metadata = None
    if ending == ".svg":
        metadata = dict.fromkeys(("Date", "Creator"))
    with styled(table.name):
        _cooling_figure(table).savefig(picture, format=ending[1:], metadata=metadata)
    return picture.getvalue()


def _cooling_figure(table: Cooling) -> Figure:
    from matplotlib import colormaps
    from matplotlib.figure import Figure

    drawing = Figure(figsize=COOLING_SIZE, layout="constrained")
    power, pue = drawing.subplots(1, 2)
    colours = colormaps[COLOUR_MAP]
    last = max(1, len(table.temperatures) - 1)
    for k, t in enumerate(table.temperatures):
        _lines(power, pue, table, t, colours(k / last))
    for ax, what in ((power, "cooling power, kW"), (pue, "PUE")):
        ax.set_xlabel("IT power, kW")
        ax.set_title(what, loc="left", fontsize=8)
        ax.set_xlim(0, table.most / 1000)
    power.set_ylim(bottom=0)
    handles, labels = power.get_legend_handles_labels()
    drawing.legend(
        handles[::-1], labels[::-1], frameon=False, loc="outside right center", title=f"{table.name}, at\ntemperature"
    )
    return drawing


def _lines(power: Axes, pue: Axes, table: Cooling, temperature: float, colour: object) -> None:
    """Draw the two lines of a temperature: cooling power between its points, PUE from 1 % of the greatest IT power on."""
    points = table.curve(temperature)
    kilowatts = [(p / 1000, w / 1000) for p, w in points]
    power.plot(*zip(*kilowatts, strict=True), color=colour, linewidth=1.2, label=f"{temperature:g} °C")
    low = table.most / 100
    sampled = {low + (table.most - low) * k / SAMPLES for k in range(SAMPLES + 1)}
    at = sorted(sampled | {p for p, _ in points if low <= p < table.most})
    values = [1 + table.power(min(p, table.most), temperature) / p for p in at]
    pue.plot([p / 1000 for p in at], values, color=colour, linewidth=1.2)


# --- ``bench show SITE``: the nodes, and the partitions that have them.

ROW = 0.24  # inches of a partition
LABELLED = 40  # nodes of which a class needs one in so many to have its name in the picture


def plot_site(
    name: str, classes: Sequence[tuple[str, int, int]], partitions: Mapping[str, Sequence[int]], path: Path
) -> None:
    """Write an SVG picture of the CPUs of each node, and below it of the nodes of each partition.

    Parameters
    ----------
    name : str
        The name of the site.
    classes : sequence of (str, int, int)
        The names, number and CPUs of the nodes of each class, in the order of the nodes.
    partitions : mapping
        Name -> indices of its nodes.
    path : Path
        The file, which ends in .svg.

    Raises
    ------
    WrongUse
        If matplotlib is missing, the name does not end in .svg or the file cannot be written.
    """
    total = sum(number for _, number, _ in classes)

    def cpus(ax: Axes) -> None:
        begin = 0
        for k, (label, number, height) in enumerate(classes):
            ax.bar(begin + number / 2, height, width=number, color=COLOURS[k % len(COLOURS)], alpha=0.8)
            if number * LABELLED >= total:
                ax.text(begin + number / 2, height, label[:24], ha="center", va="bottom", fontsize=6, color=INK)
            begin += number
        ax.set_xlim(0, total)
        ax.margins(y=0.2)
        ax.set_title("CPUs of each node", loc="left", fontsize=8)

    def members(ax: Axes) -> None:
        for row, places in enumerate(partitions.values()):
            ax.broken_barh(runs_of(places), (row - 0.38, 0.76), color=COLOURS[0], alpha=0.8)
        ax.set_yticks(range(len(partitions)), [label[:24] for label in partitions])
        ax.set_ylim(len(partitions) - 0.5, -0.5)
        ax.set_xlim(0, total)
        ax.set_xlabel("nodes, in the order of the site")
        ax.set_title("nodes of each partition", loc="left", fontsize=8)

    height = max(PANEL * 0.6, 0.8 + ROW * len(partitions))
    if partitions:
        panels = [cpus, members]
    else:
        panels = [cpus]
    write_picture(
        path, lambda: side_by_side([(f"{name}: nodes and partitions", figure(f"{name}: site", panels, 1, height))])
    )


def runs_of(places: Sequence[int]) -> list[tuple[int, int]]:
    """Return (first, length) of each run of neighbours.

    >>> runs_of([3, 0, 1, 7])
    [(0, 2), (3, 1), (7, 1)]
    """
    runs: list[tuple[int, int]] = []
    for place in sorted(set(places)):
        if runs and sum(runs[-1]) == place:
            runs[-1] = (runs[-1][0], runs[-1][1] + 1)
        else:
            runs.append((place, 1))
    return runs
