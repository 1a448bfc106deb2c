"""``bench plot``: records are drawn on one HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..runs.selection import parse_methods
from ..terminal import say


def plot(
    results: Annotated[
        Path, typer.Argument(help="folder of records of replays, eviction or profit problems, projects")
    ],
    out: Annotated[Path | None, typer.Option(help="HTML file to write; default: plot.html in the folder")] = None,
    colour: Annotated[str | None, typer.Option(help="colour of the jobs by queue, user or length")] = None,
    methods: Annotated[
        list[str] | None,
        typer.Option(help="profit problems: methods to compare, such as lns,rule:est; default: the best two"),
    ] = None,
    figure: Annotated[
        str | None,
        typer.Option(
            help="replays: one figure as SVG (--out FILE.svg): ecdf (duration / predicted duration), bars (mean and deviation "
            "of wait and slowdown), bars-by-length, waits (wait / ewt), ecdf-wait, ecdf-slowdown, running (jobs over time), "
            "accuracy (mean wait by accuracy of the users), desired (use and desired use), frontier (mean bounded slowdown "
            "against longest wait), nodes (nodes that are on and that run jobs, of replays with a node policy)"
        ),
    ] = None,
) -> None:
    """Draw the results of a folder on one HTML page.

    Replays: Gantt charts side by side, used resources and waiting jobs over time, tables of all metrics, and figures of statistics.

    Eviction problems: loss over deadline, extra loss of the greedy method, response times.

    Profit problems: power, temperature, PUE and utilisation over time for the best search and the best rule; the profit of
    each method, and when it was found.

    Projects: Gantt charts with a band per resource, of the best schedule and of the best one without a solver.

    Needs matplotlib.

    Example: bench plot results/eurora_700 --out eurora.html

    Example: bench plot results/log --figure bars --out bars.svg
    """
    from ..plots.page import plot as draw

    path, count = draw(results, out, colour, () if methods is None else parse_methods(methods), figure)
    say(f"{path}: {count} runs")
