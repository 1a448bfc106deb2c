"""Figures of statistics from the records of replays, and profiles of methods over many problems."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import log10
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from rich.console import Console

from ...backends import UnknownName
from ...instances.files.writing import write_whole
from ..errors import WrongUse
from ..records.store import Record, jobs_file
from ..statistics.measures import LEAST_SECONDS, Goal, ProfileChart, Sample, by_problem, penalized, profile_charts
from ..tables.dispatchers import CAP_FIGURES, CapPoint, cap_grid, cap_points
from ..tables.replays import OF_EWT, DispatcherRow, ReplayResults
from .panels import (
    COLOURS,
    GREY,
    INK,
    LINES,
    WIDTH,
    FrontierPoint,
    Groups,
    MeanBar,
    add_legend,
    as_svg,
    curve_style,
    draw_bars,
    draw_ecdf,
    draw_frontier,
    draw_grouped,
    draw_histogram,
    draw_over_time,
    node_curves,
    require_matplotlib,
    side_by_side,
    single,
    styled,
    time_axis,
    write_picture,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# --- The use of a resource over time beside the desired use.


def draw_use(ax: Axes, curves: Mapping[str, Mapping[str, Any]], label: str) -> None:
    """Draw the use of a resource over time, a curve per dispatcher, and the desired use as a black line.

    Parameters
    ----------
    ax : Axes
        Where it is drawn.
    curves : mapping of str to mapping
        Dispatcher -> ``{"time": ..., "use": ..., "desired": ...}``, see ``figures.mean_curves``.
    label : str
        The label of the y axis.
    """
    begin = min(use["time"][0] for use in curves.values())
    end = max(use["time"][-1] for use in curves.values())
    unit, seconds = time_axis(end - begin)
    for k, (name, use) in enumerate(curves.items()):
        x = (np.array(use["time"]) - begin) / seconds
        y = np.array(use["use"], np.float64)
        ax.plot(x, y, label=name, **curve_style(k), linewidth=1.0)
    longest = max(curves.values(), key=lambda use: use["time"][-1])
    x = (np.array(longest["time"]) - begin) / seconds
    y = np.array([np.nan if v is None else v for v in longest["desired"]], np.float64)
    ax.step(x, y, where="post", label="desired", color=INK, linewidth=1.4)
    ax.set_xlim(0, max((end - begin) / seconds, 1e-9))
    ax.set_ylim(bottom=0)
    ax.yaxis.set_major_formatter("{x:,g}")
    ax.set_xlabel(f"time since the begin, {unit}")
    ax.set_ylabel(label)
    add_legend(ax)


# --- Figures of statistics from the records of replays: distributions, bars of mean and deviation, waits, running jobs.
#
# ``FIGURES`` makes the SVG element of a figure from records.

PANEL = 1.9  # inches: height of a panel with curves
ROW = 0.24  # inches: height of a bar
LEGEND = 34  # letters of a line of a legend
ALL = ""
CLASSES = {ALL: "all jobs", "short_": "jobs below 1 h", "medium_": "jobs of 1 to 5 h", "long_": "jobs above 5 h"}


def figure(title: str, panels: Sequence[Callable[[Axes], object]], across: int, height: float) -> str:
    """Return panels as one SVG element, ``across`` beside each other, each ``height`` inches high."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    down = -(-len(panels) // across)
    with styled(title):
        made = Figure(figsize=(WIDTH, height * down), layout="constrained")
        FigureCanvasSVG(made)
        axes = made.subplots(down, across, squeeze=False).ravel().tolist()
        for ax, panel in zip(axes, panels, strict=False):
            panel(ax)
        for ax in axes[len(panels) :]:
            ax.set_axis_off()
        return as_svg(made, title)


def ecdf(rows: Sequence[DispatcherRow], quantity: str = "ratio") -> str:
    """Return the distribution of a quantity of ``Metrics.percentiles``, by default duration / expected duration.

    As figure 1 of [Galleguillos2019]: left of 1 durations were overestimated, right of 1 underestimated. Curves that are
    equal are drawn once; a curve of several seeds is that of the first seed.
    """
    label = {
        "ratio": "duration / predicted duration",
        "wait": "wait, s (jobs without wait: the share at the left end)",
        "slowdown": "slowdown",
    }[quantity]
    same: dict[tuple[float, ...], list[str]] = {}
    for row in rows:
        percentiles = None
        if row.records:
            percentiles = (row.records[0].get("percentiles") or {}).get(quantity)
        if percentiles:
            if quantity == "ratio":
                name = f"{row.name} ({row.records[0]['simulation']['predictor']})"
            else:
                name = row.name
            same.setdefault(tuple(percentiles), []).append(name)
    curves = {fill(", ".join(names), LEGEND): values for values, names in same.items()}
    if not curves:
        return ""
    return figure(f"distribution: {label}", [lambda ax: draw_ecdf(ax, curves, label)], 1, 1.4 * PANEL)


def bars(rows: Sequence[DispatcherRow], classes: Sequence[str] = (ALL,)) -> str:
    """Return mean and standard deviation of wait and slowdown per dispatcher, as figures 2 to 4 of [Galleguillos2019].

    Parameters
    ----------
    rows : sequence of DispatcherRow
        The replays of one workload, a bar each; one of them may be the schedule that the log records.
    classes : sequence of {"", "short_", "medium_", "long_"}
        The classes of jobs by duration, a row of two panels each; "": all jobs.
    """
    panels: list[Callable[[Axes], object]] = []
    most = 0
    for which in classes:
        for name, unit in (("wait", ", s"), ("slowdown", "")):
            drawing = _bars(rows, f"{which}{name}")
            most = max(most, len(drawing))
            panels.append(_panel(drawing, f"{name} of {CLASSES[which]}{unit}"))
    title = f"mean and standard deviation per dispatcher: {', '.join(CLASSES[which] for which in classes)}"
    if most:
        return figure(title, panels, 2, 0.62 + ROW * most)
    return ""


def _bars(rows: Sequence[DispatcherRow], key: str) -> list[MeanBar]:
    known = [(row.name, row.metric(f"{key}_mean"), row.metric(f"{key}_std")) for row in rows]
    return [MeanBar(name, mean, std) for name, mean, std in known if mean is not None]


def _panel(found: Sequence[MeanBar], label: str) -> Callable[[Axes], object]:
    return lambda ax: draw_bars(ax, found, label)


def waits(results: ReplayResults) -> str:
    """Return the histogram of wait / expected waiting time of the queue, per dispatcher."""
    counts = {}
    for row in results.rows:
        known = {key.removeprefix(OF_EWT): row.metric(key) for key in results.metrics if key.startswith(OF_EWT)}
        counts[row.name] = {name: value for name, value in known.items() if value is not None}
    counts = {name: metrics for name, metrics in counts.items() if metrics}
    label = "wait / expected waiting time of the queue (ewt)"
    if counts:
        return figure(label, [lambda ax: draw_histogram(ax, counts, label)], 1, 1.2 * PANEL)
    return ""


def running(results: ReplayResults, folder: Path) -> str:
    """Return the number of running jobs over time, a curve per dispatcher (its first seed)."""
    from ...simulation.curves import in_use
    from ...simulation.outputs import read_jobs

    curves = {}
    for row in results.rows:
        if row.records and row.records[0].get("jobs_csv"):
            jobs = read_jobs(jobs_file(folder, row.records[0]))
            curves[row.name] = in_use(jobs.start, jobs.end, np.ones_like(jobs.start))
    if curves:
        return figure("running jobs", [lambda ax: draw_over_time(ax, curves, "running jobs")], 1, 1.2 * PANEL)
    return ""


def frontier_of_waits(results: ReplayResults) -> str:
    """Return mean bounded slowdown against the longest wait, a point per dispatcher; "" with fewer than two."""
    known = [(r.name, r.metric("wait_max"), r.metric("bounded_slowdown_mean")) for r in results.rows]
    unit, length = time_axis(max((x for _, x, _ in known if x), default=0.0))
    points = [FrontierPoint(name, x / length, y) for name, x, y in known if x and y]
    labels = f"longest wait, {unit}", "mean bounded slowdown"
    title = "mean bounded slowdown against longest wait"
    if len(points) > 1:
        return figure(title, [lambda ax: draw_frontier(ax, points, labels)], 1, 1.8 * PANEL)
    return ""


def nodes(results: ReplayResults, folder: Path) -> str:
    """Return the nodes that are on, and those that run jobs, over time, of replays with a node policy."""
    known = {r.name: curves for r in results.rows if r.records and (curves := node_curves(r.records[0], folder))}
    labels = ("nodes that are on", "nodes that run jobs")
    panels = [_over_time({name: pair[k] for name, pair in known.items()}, label) for k, label in enumerate(labels)]
    if known:
        return figure("nodes over time", panels, 1, PANEL)
    return ""


def _over_time(curves: Mapping[str, tuple[Any, Any]], label: str) -> Callable[[Axes], object]:
    return lambda ax: draw_over_time(ax, curves, label)


def grouped_bars(groups: Groups, names: Sequence[str], label: str) -> str:
    """Return grouped bars as an SVG element; see ``draw_grouped``."""
    return figure(label, [lambda ax: draw_grouped(ax, groups, names, label)], 1, 1.4 * PANEL)


def by_accuracy(results: ReplayResults) -> str:
    """Return the mean wait by accuracy class of the users, a group of bars per dispatcher (its first seed).

    "" if no record has these figures.
    """
    values_by_class: dict[str, dict[str, float]] = {}
    for row in results.rows:
        groups = None
        if row.records:
            groups = (row.records[0].get("groups") or {}).get("user-accuracy")
        if groups:
            columns = groups["columns"]
            waits = zip(columns["name"], columns["wait_mean"], strict=True)
            values_by_class[row.name] = {name: wait / 60 for name, wait in waits if wait is not None}
    names = sorted({name for waits in values_by_class.values() for name in waits})
    if not names:
        return ""
    bars = {dispatcher: [waits.get(name) for name in names] for dispatcher, waits in values_by_class.items()}
    return grouped_bars(bars, names, "mean wait by accuracy of the user, minutes")


def desired(results: ReplayResults) -> str:
    """Return the use of each resource with a wish over time, a curve per dispatcher, and the desired use as a line."""
    curves = {
        r.name: r.records[0]["simulation"].get("use")
        for r in results.rows
        if r.records and "simulation" in r.records[0]
    }
    known = {name: use for name, use in curves.items() if use}
    resources = list(dict.fromkeys(resource for use in known.values() for resource in use))
    panels = [_use_panel({name: use[resource] for name, use in known.items()}, resource) for resource in resources]
    if panels:
        return figure("use and desired use", panels, 1, 1.4 * PANEL)
    return ""


def _use_panel(curves: Mapping[str, Mapping[str, Any]], resource: str) -> Callable[[Axes], object]:
    return lambda ax: draw_use(ax, curves, f"{resource} in use" + (", W" if resource == "power" else ""))


class Statistic(NamedTuple):
    """A figure of statistics: what draws it ("" if records lack its data), its caption, and the option that gives them the data."""

    draw: Callable[[ReplayResults, Path], str]
    caption: str
    option: str = ""


FIGURES: Mapping[str, Statistic] = {
    "ecdf": Statistic(lambda results, folder: ecdf(results.rows), "distribution of duration / predicted duration"),
    "bars": Statistic(
        lambda results, folder: bars(results.rows), "wait and slowdown: mean, and error bars of one standard deviation"
    ),
    "bars-by-length": Statistic(
        lambda results, folder: bars(results.rows, ("short_", "medium_", "long_")), "the same by duration of the jobs"
    ),
    "waits": Statistic(lambda results, folder: waits(results), "wait / expected waiting time of the queue"),
    "ecdf-wait": Statistic(lambda results, folder: ecdf(results.rows, "wait"), "distribution of the wait"),
    "ecdf-slowdown": Statistic(lambda results, folder: ecdf(results.rows, "slowdown"), "distribution of the slowdown"),
    "running": Statistic(running, "running jobs over time"),
    "accuracy": Statistic(
        lambda results, folder: by_accuracy(results), "mean wait by accuracy class of the users (runtime / walltime)"
    ),
    "desired": Statistic(
        lambda results, folder: desired(results), "use over time, and the desired use (black line)", " --desired FILE"
    ),
    "frontier": Statistic(
        lambda results, folder: frontier_of_waits(results),
        "mean bounded slowdown against longest wait; the line joins dispatchers that no other one beats in both",
        " --dispatchers A,B",
    ),
    "nodes": Statistic(nodes, "nodes that are on, and nodes that run jobs, over time", " --node-policy idle:30min"),
}


def figures_of(found: Sequence[tuple[str, ReplayResults]], folder: Path, name: str, out: Path) -> list[tuple[str, str]]:
    """Return pairs (title, SVG element) of one figure, for each workload that was replayed.

    Raises UnknownName if there is no such figure, WrongUse if the output is no SVG file or no record has the data.
    """
    if name not in FIGURES:
        raise UnknownName("figure", name, list(FIGURES))
    if out.suffix.lower() != ".svg":
        raise WrongUse(f"--figure {name}: a single figure is written as SVG; expected --out {name}.svg, found {out}")
    made = [(title, FIGURES[name].draw(results, folder)) for title, results in found]
    if not any(svg for _, svg in made):
        raise WrongUse(
            f"{folder}: no record has the data of the figure {name}; bench simulate{FIGURES[name].option} writes them, "
            "and replaces records of an earlier version with --again"
        )
    return [(title, svg) for title, svg in made if svg]


def statistics_of(results: ReplayResults, folder: Path) -> list[tuple[str, str]]:
    """Return pairs (caption, SVG element) of all figures that the records of some replays allow."""
    made = [(statistic.caption, statistic.draw(results, folder)) for statistic in FIGURES.values()]
    return [(caption, svg) for caption, svg in made if svg]


# --- The picture of ``bench statistics --plot``: performance profile, data profile, and the distribution of gaps.

HEIGHT = 2.4  # inches
MANY = 20  # times: an axis that spans more has labels at the powers of ten alone


def draw_chart(ax: Axes, chart: ProfileChart) -> None:
    """Draw the step functions of a chart on a logarithmic axis, with the legend beside them.

    Parameters
    ----------
    ax
        Where they are drawn; its figure has the layout "constrained".
    chart
        The chart. Where two lines are equal, both line styles are seen.
    """
    from matplotlib.ticker import LogLocator, NullFormatter

    for k, line in enumerate(chart.lines):
        y = [100 * share for share in line.y]
        ax.step(line.x, y, where="post", label=line.name, **curve_style(k), linewidth=1.4)
    ax.set_xscale("log")
    ax.set_xlim(chart.begin, chart.end)
    ax.set_ylim(-2, 102)
    ax.xaxis.set_major_formatter("{x:g}")
    ax.xaxis.set_minor_formatter(NullFormatter())
    if chart.end < MANY * chart.begin:
        ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 3.0, 5.0)))
    ax.set_xlabel(fill(chart.label, LETTERS))
    ax.set_ylabel(chart.share)
    ax.grid(color=GREY, alpha=0.25, linewidth=0.5)
    ax.legend(frameon=False, fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))


LETTERS = 46  # of a line of the label of an axis


def write_profiles(path: Path, sample: Sample, goal: Goal) -> None:
    """Write the charts side by side as one SVG picture. Raises WrongUse."""

    def picture() -> str:
        require_matplotlib()
        charts = profile_charts(sample, goal)
        return side_by_side([(c.title, single(c.title, partial(draw_chart, chart=c), HEIGHT)) for c in charts])

    write_picture(path, picture)


# --- The picture of ``bench compare --scatter``: the times of two methods, a point per problem.

SIDE = 3.4  # inches


def draw_scatter(ax: Axes, sample: Sample, methods: tuple[str, str], goal: Goal) -> None:
    """Draw the times of two methods on logarithmic axes, a point per problem; those without the goal on a line at the limit.

    Parameters
    ----------
    ax
        Where they are drawn.
    sample
        The runs.
    methods
        The method of each axis.
    goal
        What the times count to.
    """
    from matplotlib.ticker import NullFormatter

    times = by_problem(sample, penalized(1, goal.measure))
    columns = [list(sample.methods).index(method) for method in methods]
    x, y = (np.maximum(times[:, k], LEAST_SECONDS) for k in columns)
    limit = max(p.limit for p in sample.problems)
    least = 10.0 ** np.floor(log10(min(x.min(), y.min())))
    ax.plot([least, limit], [least, limit], color=GREY, linewidth=0.8)
    for side in (ax.axvline, ax.axhline):
        side(limit, color=GREY, linewidth=0.8, linestyle="--")
    ax.plot(x, y, "o", color=INK, alpha=0.55, markersize=4, markeredgewidth=0)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlim(least, 1.4 * limit)
    ax.set_ylim(least, 1.4 * limit)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter("{x:g}")
        axis.set_minor_formatter(NullFormatter())
    ax.set_xlabel(fill(methods[0], LETTERS))
    ax.set_ylabel(fill(methods[1], LETTERS))


def write_scatter(path: Path, sample: Sample, methods: tuple[str, str], goal: Goal) -> None:
    """Write the scatter plot of two methods as an SVG picture. Raises WrongUse."""
    title = f"{goal.text}; a point per problem, dashed: the time limit"

    def picture() -> str:
        require_matplotlib()
        return side_by_side([(title, single(title, lambda ax: draw_scatter(ax, sample, methods, goal), SIDE, SIDE))])

    write_picture(path, picture)


# --- Slowdown and wait against the power cap: table and picture of ``bench simulate --power-cap 700kW,650kW``.

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
    panels = [_cap_panel(points, label, name) for label, (name, _) in CAP_FIGURES.items()]
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
