"""The output of ``bench show`` for logs: size, groups of jobs, jobs and nodes per hour."""

from __future__ import annotations

from datetime import datetime, tzinfo
from pathlib import Path

import numpy as np
from rich.console import Console

from ...errors import SchedlabError
from ...instances.classic.recognition import read_classic
from ...instances.files.lines import TextError
from ...instances.formats.numbered_lines import FormatError
from ...instances.traces import FORMATS, guess_format
from ...instances.workload import Workload, WorkloadError
from ...models.platform import Platform, ProblemError
from ...simulation.groups import GROUPINGS, LARGEST
from ...simulation.hours import HOUR, Hours, hours_of
from ..errors import WrongUse
from .grid import grid
from .reading import load_text, report_lines

DAY = 24  # hours


def is_log(path: str) -> bool:
    """Return whether the content of a file is that of a known format of logs."""
    try:
        return bool(guess_format(path))
    except (WorkloadError, ValueError, OSError):
        return False


def not_recognised(path: str) -> SchedlabError:
    """Return the error for a file that ``bench show`` cannot read: what it can read, and the line at which it failed."""
    try:
        guess_format(path)
    except TextError as e:  # the file cannot be read as text, whatever its format
        return e
    except WorkloadError:
        pass
    others = (
        f"{path} is neither a log ({', '.join(FORMATS)}; --format names one), a cooling table, nor a desired profile"
    )
    try:
        read_classic(path)
    except (FormatError, ProblemError) as e:
        return WrongUse(f"{e}; {others}")
    return WrongUse(others)


def show_log(console: Console, workload: Workload, platform: Platform, zone: tzinfo | None, plot: Path | None) -> None:
    """Print the size of a log, how it was read, its largest groups of jobs, and jobs and nodes by hour of the day.

    Parameters
    ----------
    console
        Where it is printed.
    workload, platform
        The log.
    zone
        Time zone of the hours of the day; None: UTC.
    plot
        File of a picture to draw; None: none.
    """
    hours = hours_of(workload, platform)
    span = (int(workload.submit[-1]) - int(workload.submit[0])) / HOUR
    console.print(
        f"{workload.name}: {len(workload):,} jobs in {span:,.1f} h on {len(platform.nodes):,} nodes, "
        f"offered load {load_text(workload, platform, 2)}",
        style="bold",
    )
    for line in report_lines(workload.report):
        console.print(line, soft_wrap=True, markup=False, highlight=False)
    work = workload.job_arrays.all_units * np.maximum(workload.runtime, 0) / HOUR
    for by, grouping in GROUPINGS.items():
        grouped = grouping(workload)
        if grouped is None:
            continue
        code, names = grouped
        jobs, used = np.bincount(code, minlength=len(names)), np.bincount(code, work, len(names))
        order = sorted(np.flatnonzero(jobs).tolist(), key=lambda k: (-int(jobs[k]), names[k]))
        table = grid(by, "jobs", "unit-hours", "share")
        for name, rows in [
            *((names[k] or "(none)", [k]) for k in order[:LARGEST]),
            (f"{len(order) - LARGEST} others", order[LARGEST:]),
        ]:
            if rows:
                mine = float(used[rows].sum())
                share = mine / float(used.sum()) if used.sum() > 0 else 0.0
                table.add_row(name, f"{int(jobs[rows].sum()):,}", f"{mine:,.1f}", f"{100 * share:.1f}%")
        console.print(table)
    _print_hours(console, hours, workload.unix_start, zone)
    if plot is not None:
        from ..plots.hours import plot_hours

        plot_hours(workload.name, hours, plot)
        console.print(f"{plot}: jobs and nodes per hour", soft_wrap=True)


def _print_hours(console: Console, hours: Hours, unix_start: int | None, zone: tzinfo | None) -> None:
    """Print means by hour of the day, and the largest value of an hour."""
    columns = {"jobs submitted": hours.submitted, "running jobs": hours.running, "nodes in use": hours.nodes}
    known = {name: values for name, values in columns.items() if values is not None}
    begin = hours.begin + (unix_start or 0)
    clock = (begin // HOUR + np.arange(len(hours.submitted))) % DAY
    if zone is not None and unix_start is not None:
        begins = (begin + HOUR * np.arange(len(hours.submitted))).tolist()
        clock = np.array([datetime.fromtimestamp(t, zone).hour for t in begins], np.int64)
    days = np.bincount(clock, minlength=DAY)
    sums = {name: np.bincount(clock, values, DAY) for name, values in known.items()}
    table = grid("hour of the day" + ("" if unix_start is None else f" ({zone or 'UTC'})"), *known)
    for hour in np.flatnonzero(days).tolist():
        table.add_row(f"{hour:02}:00", *(f"{sums[name][hour] / days[hour]:,.1f}" for name in known))
    table.add_row("mean", *(f"{values.mean():,.1f}" for values in known.values()))
    table.add_row("largest", *(f"{values.max():,.1f}" for values in known.values()))
    console.print(table)
    if hours.unknown:
        console.print(f"{hours.unknown:,} jobs have no recorded start: they count only as submitted")
