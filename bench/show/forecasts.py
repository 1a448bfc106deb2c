"""``bench show LOG --forecasts``: the scores of forecasts of the next day's jobs on a log."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.console import Console

from ...errors import MissingPackage
from ...instances.workload import Workload
from ...simulation.forecasts import FORECASTS, Score, parse_forecast, score
from ..errors import WrongUse
from .grid import grid

EXPLAINED = (
    "jobs, core-hours: means per day; the core-hours are those of the jobs submitted that day. error per hour: mean absolute error of the "
    "jobs and of the core-hours submitted in an hour. error per day: mean absolute error of the core-hours of a day, relative to "
    "the mean day. skill: 1 less the error of core-hours per hour over that of persistence."
)


def show_forecasts(console: Console, workload: Workload, names: str) -> None:
    """Print a row per forecast; ``names``: a comma list, or ``all``."""
    listed = list(FORECASTS) if names == "all" else [n.strip() for n in names.split(",")]
    made = [parse_forecast(n) for n in dict.fromkeys(listed)]
    try:
        scores = score(workload, [n.make() for n in made])
    except MissingPackage as e:
        raise WrongUse(f"--forecasts: {e}") from e
    _print(console, workload.name, [named.text for named in made], scores)


def _print(console: Console, name: str, names: Sequence[str], scores: Sequence[Score]) -> None:
    first = scores[0]
    console.print(
        f"{name}: forecasts at midnight of the next 24 h, {first.days:,} days; "
        f"what came: {first.jobs_came:,.1f} jobs and {first.work_came:,.0f} core-hours a day",
        style="bold",
    )
    table = grid(
        "forecast",
        "jobs",
        "core-hours",
        "jobs: error\nper hour",
        "core-hours:\nerror per hour",
        "error\nper day",
        "skill",
    )
    for text, s in zip(names, scores, strict=True):
        skill = "-" if math.isnan(s.skill) else f"{s.skill:+.3f}"
        table.add_row(
            text, f"{s.jobs:,.1f}", f"{s.work:,.0f}", f"{s.jobs_error:,.2f}", f"{s.work_error:,.1f}",
            f"{100 * s.day_error:.1f}%", skill,
        )  # fmt: skip
    console.print(table)
    console.print(EXPLAINED, style="dim")
    for text, s in zip(names, scores, strict=True):
        if s.missing:
            reason = next(iter(s.missing))
            console.print(f"{text}: no forecast on {s.missing.total():,} days, for instance: {reason}", style="dim")
