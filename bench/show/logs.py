"""The output of ``bench show`` for logs, forecasts, cooling tables and desired profiles."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, tzinfo
from functools import partial
from math import isfinite
from pathlib import Path

import numpy as np
from rich.console import Console

from ...errors import MissingPackage, SchedlabError
from ...instances import UnknownInstance
from ...instances.classic import read_classic
from ...instances.files.folder import SETTINGS, Sheet
from ...instances.files.lines import FormatError, TextError, WorkloadError
from ...instances.files.profile_file import read_wishes
from ...instances.formats.cooling_tables import UnknownCooling, about, cooling, cooling_names
from ...instances.traces import FORMATS, guess_format
from ...instances.workload import Report, Workload
from ...models.counts import how_many, how_many_of
from ...models.platform import Platform, ProblemError
from ...models.profit.cooling import Cooling
from ...models.words import how_many, how_many_of
from ...simulation.curves import HOUR, Hours, hours_of
from ...simulation.forecasts import FORECASTS, Score, parse_forecast, score
from ...simulation.groups import GROUPINGS, LARGEST, core_hours
from ..errors import WrongUse
from ..grid import Column, Grid, count, fixed, percent

# --- How a log was read, as lines of text: what was repaired, not read, skipped and left out, with counts by reason.

REASONS_SHOWN = 10  # number of unreadable lines, and of reasons for leaving out jobs, that are printed
GROUPED = 3  # number of ids printed of the jobs that are left out for the same reason


def report_lines(report: Report, taken: int | None = None) -> Iterator[str]:
    """Yield the lines of a report, the same for every command: repairs, lines, jobs left out, rows skipped, notes.

    ``taken``: number of jobs that remain, where those of the log are told.

    Examples
    --------
    >>> list(report_lines(Report({"runtime 0, taken as 1 s": 1}, skipped={"rows of job steps": 2})))
    ['repaired: runtime 0, taken as 1 s: 1 job', 'skipped: 2 rows of job steps']
    """
    for what, n in report.repairs.items():
        if n:
            lost = what.removesuffix(", left out")
            yield f"{'repaired' if lost == what else 'left out'}: {lost}: {_jobs(n)}"
    for what, n in report.not_obeyed.items():
        yield f"not obeyed: {what}: {_jobs(n)}"
    yield from _bad_lines(report)
    for what, n in report.skipped.items():
        yield f"skipped: {how_many_of(n, what, ',')}"
    yield from _dropped_jobs(report)
    if report.dropped and taken is not None:
        gone = len(report.dropped)
        yield f"jobs of the log: {taken + gone:,}, of which {taken:,} are taken and {gone:,} left out"
    for note in report.notes:
        yield f"note: {note}"


def _bad_lines(report: Report) -> Iterator[str]:
    n = len(report.bad_lines)
    if n:
        yield f"not read: {how_many(n, 'line')}{f', the first {REASONS_SHOWN} of them' if n > REASONS_SHOWN else ''}"
        yield from (f"  {line}" for line in report.bad_lines[:REASONS_SHOWN])
    if n > REASONS_SHOWN:
        reasons = Counter(_reason(line.message) for line in report.bad_lines)
        yield from (f"  in all {how_many(k, 'line', ',')}: {why}" for why, k in reasons.most_common(REASONS_SHOWN))


def _reason(message: str) -> str:
    """Return a message without the values of its line."""
    return re.sub(r"'[^']*'|\"[^\"]*\"|(?<![\w-])\d[\d,]*", "...", message)


def _dropped_jobs(report: Report) -> Iterator[str]:
    if not report.dropped:
        return
    reasons: dict[str, list[str]] = {}
    for job, why in report.dropped:
        reasons.setdefault(why, []).append(job)
    yield f"left out: {_jobs(len(report.dropped))}"
    for why, ids in list(reasons.items())[:REASONS_SHOWN]:
        more = f" and {len(ids) - GROUPED} more" if len(ids) > GROUPED else ""
        yield f"  job{'s' * (len(ids) > 1)} {', '.join(ids[:GROUPED])}{more}: {why}"
    if len(reasons) > REASONS_SHOWN:
        yield f"  and {_jobs(sum(len(ids) for ids in list(reasons.values())[REASONS_SHOWN:]))} for other reasons"


def _jobs(n: int) -> str:
    return how_many(n, "job")


def load_text(workload: Workload, platform: Platform, digits: int) -> str:
    """Return the offered load; "unknown" where all jobs have one submit time."""
    load = workload.load(platform)
    return f"{load:.{digits}f}" if isfinite(load) else "unknown: all jobs have the same submit time"


# --- The output of ``bench show`` for logs: size, groups of jobs, jobs and nodes per hour.

DAY = 24  # hours
GROUPS_MEAN = (
    "core-hours: cores of the jobs times their runtimes; share: of all core-hours; units: parts of a job that run on one node each "
    "(of sacct and PBS its nodes or chunks, of SWF its processors); accuracy: runtime / walltime."
)
GROUP_COLUMNS = (Column("jobs", form=count), Column("core-hours", form=fixed(1)), Column("share", form=percent))


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
        f"{workload.name}: {how_many(len(workload), 'job', ',')} in {span:,.1f} h on {how_many(len(platform.nodes), 'node', ',')}, "
        f"offered load {load_text(workload, platform, 2)}",
        style="bold",
    )
    _print_jobs(console, workload)
    _print_hours(console, hours, workload.unix_start, zone)
    if plot is not None:
        from ..plots.inputs import plot_hours

        plot_hours(workload.name, hours, plot)
        console.print(f"{plot}: jobs and nodes per hour", soft_wrap=True)


def show_jobs(console: Console, workload: Workload) -> None:
    """Print how a log was read, and its largest groups of jobs, where its machine is not known."""
    span = (int(workload.submit[-1]) - int(workload.submit[0])) / HOUR
    console.print(f"{workload.name}: {how_many(len(workload), 'job', ',')} in {span:,.1f} h", style="bold")
    _print_jobs(console, workload)
    console.print("for the offered load and the nodes in use, describe the machine: --nodes 300 --cores 32")


def _print_jobs(console: Console, workload: Workload) -> None:
    """Print how a log was read, and its largest groups of jobs."""
    for line in report_lines(workload.report, len(workload)):
        console.print(line, soft_wrap=True, markup=False, highlight=False)
    work = core_hours(workload)
    for by, grouping in GROUPINGS.items():
        grouped = grouping(workload)
        if grouped is None:
            continue
        code, names = grouped
        jobs = np.bincount(code, minlength=len(names))
        used = np.bincount(code, work, len(names))
        order = sorted(np.flatnonzero(jobs).tolist(), key=lambda k: (-int(jobs[k]), names[k]))
        groups = [(names[k] or "(none)", [k]) for k in order[:LARGEST]]
        groups.append((how_many(len(order) - LARGEST, "other"), order[LARGEST:]))
        share = 1 / used.sum() if used.sum() > 0 else 0.0
        rows = [[name, int(jobs[own].sum()), used[own].sum(), share * used[own].sum()] for name, own in groups if own]
        console.print(Grid("", [Column(by, words=True), *GROUP_COLUMNS], rows))
    console.print(GROUPS_MEAN, style="dim")


def _print_hours(console: Console, hours: Hours, unix_start: int | None, zone: tzinfo | None) -> None:
    """Print means by hour of the day, and the largest value of an hour."""
    series = {"jobs submitted": hours.submitted, "running jobs": hours.running, "nodes in use": hours.nodes}
    known = {name: values for name, values in series.items() if values is not None}
    begin = hours.begin + (unix_start or 0)
    clock = (begin // HOUR + np.arange(len(hours.submitted))) % DAY
    if zone is not None and unix_start is not None:
        begins = (begin + HOUR * np.arange(len(hours.submitted))).tolist()
        clock = np.array([datetime.fromtimestamp(t, zone).hour for t in begins], np.int64)
    days = np.bincount(clock, minlength=DAY)
    sums = {name: np.bincount(clock, values, DAY) for name, values in known.items()}
    zone_name = "" if unix_start is None else f" ({zone or 'UTC'})"
    rows = [
        [f"{hour:02}:00", *(sums[name][hour] / days[hour] for name in known)] for hour in np.flatnonzero(days).tolist()
    ]
    rows.append(["mean", *(values.mean() for values in known.values())])
    rows.append(["largest", *(values.max() for values in known.values())])
    means = [Column(name, form=fixed(1)) for name in known]
    console.print(Grid("", [Column(f"hour of the day{zone_name}", words=True), *means], rows))
    if hours.unknown:
        console.print(
            f"{how_many(hours.unknown, 'job', ',', verb='have')} no recorded start: they count only as submitted"
        )


# --- ``bench show LOG --forecasts``: the scores of forecasts of the next day's jobs on a log.

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
        f"{name}: forecasts at midnight of the next 24 h, {how_many(first.days, 'day', ',')}; "
        f"what came: {first.jobs_came:,.1f} jobs and {first.work_came:,.0f} core-hours a day",
        style="bold",
    )
    columns = [
        Column("forecast", lambda pair: pair[0], words=True),
        Column("jobs", lambda pair: pair[1].jobs, fixed(1)),
        Column("core-hours", lambda pair: pair[1].work, count),
        Column("jobs: error\nper hour", lambda pair: pair[1].jobs_error, fixed(2)),
        Column("core-hours:\nerror per hour", lambda pair: pair[1].work_error, fixed(1)),
        Column("error\nper day", lambda pair: pair[1].day_error, percent),
        Column("skill", lambda pair: pair[1].skill, lambda skill: f"{skill:+.3f}"),
    ]
    console.print(Grid.of("", columns, zip(names, scores, strict=True)))
    console.print(EXPLAINED, style="dim")
    for text, s in zip(names, scores, strict=True):
        if s.missing:
            reason = next(iter(s.missing))
            console.print(
                f"{text}: no forecast on {how_many(s.missing.total(), 'day', ',')}, for instance: {reason}", style="dim"
            )


# --- The output of ``bench show`` for a cooling table: PUE and cooling power by temperature and IT power.

STEPS = (1, 2, 2.5, 5, 10)  # steps of a scale, times a power of ten
COLUMNS = 8  # greatest number of columns of IT power


def is_cooling(name: str) -> bool:
    """Return whether a name means a cooling table (a shipped one or a CSV file) and not an instance.

    Examples
    --------
    >>> is_cooling("air"), is_cooling("eurora_700")
    (True, False)
    """
    path = Path(name)
    if (path / SETTINGS).is_file():
        return False
    return name in cooling_names() or (path.suffix.lower() == ".csv" and not path.is_dir())


def meant(fault: UnknownInstance, name: str) -> UnknownInstance | UnknownCooling:
    """Return the error for an unknown name: that of a cooling table if only the name of a cooling table is similar."""
    other = UnknownCooling(name)
    return other if other.near and not fault.near else fault


def show_cooling(console: Console, name: str, plot: Path | None = None) -> None:
    """Print a cooling table with the comments of its file.

    Parameters
    ----------
    console : rich.console.Console
        Where it is printed.
    name : str
        The name of a shipped table, or a CSV file.
    plot : Path, optional
        A file to draw the table to.

    Raises
    ------
    UnknownCooling
        If there is no such table.
    InstanceError
        If the file has errors.
    WrongUse
        If the picture cannot be drawn or written.
    """
    table = cooling(name)
    low, high = table.temperatures[0], table.temperatures[-1]
    console.print(
        f"{table.name}: cooling from {low:g} to {high:g} degrees C, up to {table.most:,g} W of IT power",
        style="bold",
    )
    for line in about(name):
        console.print(line, soft_wrap=True)
    console.print(_grid(table, "PUE"), _grid(table, "cooling kW"))
    if plot is not None:
        from ..plots.inputs import plot_cooling

        plot_cooling(table, plot)
        console.print(f"{plot}: cooling power and PUE over IT power", soft_wrap=True)


def scale(most: float) -> list[float]:
    """Return at most eight round numbers up to ``most``, and ``most`` itself.

    Examples
    --------
    >>> scale(110_000)
    [20000.0, 40000.0, 60000.0, 80000.0, 100000.0, 110000]
    """
    decade = 10.0 ** len(str(int(most))) / 100
    step = next(s * decade for s in STEPS if s * decade * COLUMNS > most)
    count = int(most / step)
    return [step * k for k in range(1, count + 1)] + ([most] if step * count < most else [])


def _grid(table: Cooling, what: str) -> Grid:
    """Return a table with a row per temperature and a column per IT power; ``what``: "PUE" or "cooling kW"."""

    def figure(power: float, celsius: float) -> float | None:
        return table.pue(power, celsius) if what == "PUE" else table.power(power, celsius) / 1000

    form = fixed(4 if what == "PUE" else 3)
    powers = [Column(f"{p / 1000:,.4g}", partial(figure, p), form) for p in scale(table.most)]
    names = Column(f"{what} at IT kW", lambda t: f"{t:g} degrees")
    return Grid.of("", [names, *powers], table.temperatures)


# --- The output of ``bench show`` for a desired profile: its wishes as a table.

WISHES_SHOWN = 60  # rows


def is_profile(name: str) -> bool:
    """Return whether a file is a CSV file with the columns of a desired profile."""
    path = Path(name)
    if path.suffix.lower() != ".csv" or not path.is_file():
        return False
    try:
        header = Sheet(path).header()
    except (WorkloadError, ValueError, OSError):
        return False
    return {"time_s", "resource"} <= set(header) and bool({"share", "amount"} & set(header))


def show_profile(console: Console, name: str, plot: Path | None = None) -> None:
    """Print a desired profile, and draw it on request.

    Raises
    ------
    InstanceError
        If the file has faults.
    WrongUse
        If the picture cannot be drawn or written.
    """
    wishes = read_wishes(name)
    clock = "without end" if wishes.end is None else f"up to {wishes.end:,} s"
    clock = f"repeated every {wishes.period:,} s" if wishes.period is not None else clock
    clock += f", times from second {wishes.origin:,} of the workload on" if wishes.origin else ""
    title = f"{Path(name).stem}: desired use, {len(wishes.wishes)} wish{'es' * (len(wishes.wishes) != 1)}, {clock}"
    console.print(title, style="bold", soft_wrap=True)
    columns = [
        Column("resource", lambda wish: wish.resource, words=True),
        Column("from s", lambda wish: wish.time, count),
        Column("from h", lambda wish: f"{wish.time / 3600:,.6g}"),
        Column("share", lambda wish: "" if wish.share is None else f"{100 * wish.share:.4g}%"),
        Column("amount", lambda wish: "" if wish.amount is None else f"{wish.amount:,g}"),
        Column("nodes", lambda wish: wish.nodes),
    ]
    shown = sorted(wishes.wishes, key=lambda w: (w.resource, w.nodes, w.time))[:WISHES_SHOWN]
    console.print(Grid.of("", columns, shown))
    if len(wishes.wishes) > WISHES_SHOWN:
        console.print(f"... and {len(wishes.wishes) - WISHES_SHOWN:,} more")
    if plot is not None:
        from ..plots.inputs import plot_profile

        plot_profile(Path(name).stem, wishes, plot)
        console.print(f"{plot}: the desired use over time", soft_wrap=True)
