"""Figures of statistics from the records of replays: distributions, bars of mean and deviation, waits, running jobs.

``FIGURES`` makes the SVG element of a figure from records.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from ...backends import UnknownName
from ...models.step_function import HOUR
from ..errors import WrongUse
from ..records.store import jobs_file
from ..tables.replays.figures import OF_EWT
from ..tables.replays.results import DispatcherRow, ReplayResults
from .desired.use import draw_use
from .panels.frontier import Point, draw_frontier
from .panels.grouped import Groups, draw_grouped
from .panels.nodes import node_curves
from .panels.plain import Bar, draw_bars, draw_ecdf, draw_histogram, draw_over_time
from .svg import WIDTH, as_svg, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PANEL, ROW = 1.9, 0.24  # inches: height of a panel with curves; height of a bar
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
        found = (row.records[0].get("percentiles") or {}).get(quantity) if row.records else None
        if found:
            name = f"{row.name} ({row.records[0]['simulation']['predictor']})" if quantity == "ratio" else row.name
            same.setdefault(tuple(found), []).append(name)
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
            found = _bars(rows, f"{which}{name}")
            most = max(most, len(found))
            panels.append(_panel(found, f"{name} of {CLASSES[which]}{unit}"))
    title = f"mean and standard deviation per dispatcher: {', '.join(CLASSES[which] for which in classes)}"
    return figure(title, panels, 2, 0.62 + ROW * most) if most else ""


def _bars(rows: Sequence[DispatcherRow], key: str) -> list[Bar]:
    known = [(row.name, row.metric(f"{key}_mean"), row.metric(f"{key}_std")) for row in rows]
    return [Bar(name, mean, std) for name, mean, std in known if mean is not None]


def _panel(found: Sequence[Bar], label: str) -> Callable[[Axes], object]:
    return lambda ax: draw_bars(ax, found, label)


def waits(results: ReplayResults) -> str:
    """Return the histogram of wait / expected waiting time of the queue, per dispatcher."""
    counts = {}
    for row in results.rows:
        known = {key.removeprefix(OF_EWT): row.metric(key) for key in results.metrics if key.startswith(OF_EWT)}
        counts[row.name] = {name: value for name, value in known.items() if value is not None}
    counts = {name: found for name, found in counts.items() if found}
    label = "wait / expected waiting time of the queue (ewt)"
    return figure(label, [lambda ax: draw_histogram(ax, counts, label)], 1, 1.2 * PANEL) if counts else ""


def running(results: ReplayResults, folder: Path) -> str:
    """Return the number of running jobs over time, a curve per dispatcher (its first seed)."""
    from ...simulation.curves import in_use
    from ...simulation.outputs.reading import read_jobs

    curves = {}
    for row in results.rows:
        if row.records and row.records[0].get("jobs_csv"):
            jobs = read_jobs(jobs_file(folder, row.records[0]))
            curves[row.name] = in_use(jobs.start, jobs.end, np.ones_like(jobs.start))
    return (
        figure("running jobs", [lambda ax: draw_over_time(ax, curves, "running jobs")], 1, 1.2 * PANEL)
        if curves
        else ""
    )


def frontier_of_waits(results: ReplayResults) -> str:
    """Return mean bounded slowdown against the longest wait, a point per dispatcher; "" with fewer than two."""
    known = [(r.name, r.metric("wait_max"), r.metric("bounded_slowdown_mean")) for r in results.rows]
    points = [Point(name, x / HOUR, y) for name, x, y in known if x and y]
    labels = "longest wait, hours", "mean bounded slowdown"
    title = "mean bounded slowdown against longest wait"
    return figure(title, [lambda ax: draw_frontier(ax, points, labels)], 1, 1.8 * PANEL) if len(points) > 1 else ""


def nodes(results: ReplayResults, folder: Path) -> str:
    """Return the nodes that are on, and those that run jobs, over time, of replays with a node policy."""
    known = {r.name: found for r in results.rows if r.records and (found := node_curves(r.records[0], folder))}
    labels = ("nodes that are on", "nodes that run jobs")
    panels = [_over_time({name: pair[k] for name, pair in known.items()}, label) for k, label in enumerate(labels)]
    return figure("nodes over time", panels, 1, PANEL) if known else ""


def _over_time(curves: Mapping[str, tuple[Any, Any]], label: str) -> Callable[[Axes], object]:
    return lambda ax: draw_over_time(ax, curves, label)


def grouped_bars(groups: Groups, names: Sequence[str], label: str) -> str:
    """Return grouped bars as an SVG element; see ``draw_grouped``."""
    return figure(label, [lambda ax: draw_grouped(ax, groups, names, label)], 1, 1.4 * PANEL)


def by_accuracy(results: ReplayResults) -> str:
    """Return the mean wait by accuracy class of the users, a group of bars per dispatcher (its first seed).

    "" if no record has these figures.
    """
    found: dict[str, dict[str, float]] = {}
    for row in results.rows:
        groups = (row.records[0].get("groups") or {}).get("user-accuracy") if row.records else None
        if groups:
            columns = groups["columns"]
            waits = zip(columns["name"], columns["wait_mean"], strict=True)
            found[row.name] = {name: wait / 60 for name, wait in waits if wait is not None}
    names = sorted({name for waits in found.values() for name in waits})
    if not names:
        return ""
    bars = {dispatcher: [waits.get(name) for name in names] for dispatcher, waits in found.items()}
    return grouped_bars(bars, names, "mean wait by accuracy of the user, minutes")


def desired(results: ReplayResults) -> str:
    """Return the use of each resource with a wish over time, a curve per dispatcher, and the desired use as a line."""
    found = {
        r.name: r.records[0]["simulation"].get("use")
        for r in results.rows
        if r.records and "simulation" in r.records[0]
    }
    known = {name: use for name, use in found.items() if use}
    resources = list(dict.fromkeys(resource for use in known.values() for resource in use))
    panels = [_use_panel({name: use[resource] for name, use in known.items()}, resource) for resource in resources]
    return figure("use and desired use", panels, 1, 1.4 * PANEL) if panels else ""


def _use_panel(curves: Mapping[str, Mapping[str, Any]], resource: str) -> Callable[[Axes], object]:
    return lambda ax: draw_use(ax, curves, f"{resource} in use" + (", W" if resource == "power" else ""))


FIGURES: Mapping[str, Callable[[ReplayResults, Path], str]] = {
    "ecdf": lambda results, folder: ecdf(results.rows),
    "bars": lambda results, folder: bars(results.rows),
    "bars-by-length": lambda results, folder: bars(results.rows, ("short_", "medium_", "long_")),
    "waits": lambda results, folder: waits(results),
    "ecdf-wait": lambda results, folder: ecdf(results.rows, "wait"),
    "ecdf-slowdown": lambda results, folder: ecdf(results.rows, "slowdown"),
    "running": running,
    "accuracy": lambda results, folder: by_accuracy(results),
    "desired": lambda results, folder: desired(results),
    "frontier": lambda results, folder: frontier_of_waits(results),
    "nodes": nodes,
}
CAPTIONS = {
    "ecdf": "distribution of duration / predicted duration",
    "bars": "wait and slowdown: mean, and error bars of one standard deviation",
    "bars-by-length": "the same by duration of the jobs",
    "waits": "wait / expected waiting time of the queue",
    "ecdf-wait": "distribution of the wait",
    "ecdf-slowdown": "distribution of the slowdown",
    "running": "running jobs over time",
    "accuracy": "mean wait by accuracy class of the users (runtime / walltime)",
    "desired": "use over time, and the desired use (black line)",
    "frontier": "mean bounded slowdown against longest wait; the line joins dispatchers that no other one beats in both",
    "nodes": "nodes that are on, and nodes that run jobs, over time",
}

NEEDS = {
    "desired": " --desired FILE",
    "frontier": " --dispatchers A,B",
    "nodes": " --node-policy idle:30min",
}  # the option without which records lack the data of a figure


def figures_of(found: Sequence[tuple[str, ReplayResults]], folder: Path, name: str, out: Path) -> list[tuple[str, str]]:
    """Return pairs (title, SVG element) of one figure, for each workload that was replayed.

    Raises UnknownName if there is no such figure, WrongUse if the output is no SVG file or no record has the data.
    """
    if name not in FIGURES:
        raise UnknownName("figure", name, list(FIGURES))
    if out.suffix.lower() != ".svg":
        raise WrongUse(f"--figure {name}: a single figure is written as SVG; expected --out {name}.svg, found {out}")
    made = [(title, FIGURES[name](results, folder)) for title, results in found]
    if not any(svg for _, svg in made):
        raise WrongUse(
            f"{folder}: no record has the data of the figure {name}; bench simulate{NEEDS.get(name, '')} writes them, "
            "and replaces records of an earlier version with --again"
        )
    return [(title, svg) for title, svg in made if svg]


def statistics_of(results: ReplayResults, folder: Path) -> list[tuple[str, str]]:
    """Return pairs (caption, SVG element) of all figures that the records of some replays allow."""
    made = [(CAPTIONS[name], draw(results, folder)) for name, draw in FIGURES.items()]
    return [(caption, svg) for caption, svg in made if svg]
