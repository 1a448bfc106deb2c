"""The output of ``bench show`` for files: logs, cooling tables, desired profiles, sites; each kind recognises its own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from functools import partial
from itertools import groupby
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from rich.console import Console

from ...errors import MissingPackage, SchedlabError
from ...instances import UnknownInstance
from ...instances.classic import is_classic, read_classic
from ...instances.files.profile_file import read_wishes
from ...instances.files.reading import SETTINGS as INSTANCE
from ...instances.files.reading import FormatError, Sheet, TextError, WorkloadError
from ...instances.formats.cooling_tables import UnknownCooling, about, cooling, cooling_names
from ...instances.sites import read_site
from ...instances.sites.read import is_site
from ...instances.sites.site_toml import SCHEMA
from ...instances.traces import FORMATS, guess_format
from ...instances.workload import Report, Workload
from ...models.platform import Platform, ProblemError
from ...models.profit.problem import Cooling
from ...models.site import QOS, Association, Limits, Partition, PBSSettings, Site, SiteNode, in_ranges, natural_order
from ...models.words import duration, how_many, how_many_of
from ...simulation.curves import HOUR, Hours, hours_of
from ...simulation.forecasts import FORECASTS, Score, parse_forecast, score
from ...simulation.metrics import GROUPINGS, LARGEST, core_hours
from ..errors import WrongUse, check_file, near_files
from ..grid import Column, Grid, count, fixed, percent, time_text
from ..replays.case import check_there, open_log, read_log, required_site, time_zone
from ..replays.settings import SETTINGS, ReplaySettings, read_settings
from ..runs.view import open_instance
from .instances import Composition, show_composition, show_instance


@dataclass(frozen=True)
class Shown:
    """What a user wants to see: the options of ``bench show``.

    Parameters
    ----------
    name
        A file, a folder, or the name of something that is shipped.
    settings
        Settings of logs, as the user gives them.
    plot
        File of a picture to write.
    composition
        Whether only the numbers of jobs per queue, accelerator and number of cores are printed.
    forecasts
        The names of forecasts whose scores are printed.
    drop_impossible
        Whether jobs that can never fit are left out.
    """

    name: str
    settings: Mapping[str, Any]
    plot: Path | None = None
    composition: bool = False
    forecasts: str | None = None
    drop_impossible: bool = False

    def __post_init__(self) -> None:
        if self.forecasts is not None and (self.composition or self.plot is not None):
            raise WrongUse("--forecasts: a table of its own; leave out --composition and --plot")
        if self.composition and self.plot is not None:
            raise WrongUse("--composition: a table without a picture; leave out --plot")

    @property
    def is_file(self) -> bool:
        """Whether the name is that of a file, other than the settings of an instance."""
        path = Path(self.name)
        return path.is_file() and path.name != INSTANCE

    @property
    def of_logs(self) -> list[str]:
        """The settings of logs that are given, as options."""
        return [SETTINGS[name].flag for name, value in self.settings.items() if value not in (None, False)]

    @property
    def options(self) -> list[str]:
        """The options that are given and that not all kinds of files take."""
        given = {
            "--forecasts": self.forecasts is not None,
            "--composition": self.composition,
            "--plot": self.plot is not None,
        }
        return [*self.of_logs, *(option for option, is_given in given.items() if is_given)]


class FileKind(Protocol):
    """A kind of file that ``bench show`` shows."""

    @property
    def what(self) -> str:
        """Its name in messages, in the singular."""

    @property
    def takes(self) -> Sequence[str]:
        """The options that it obeys; ``OF_LOGS`` for all settings of logs."""

    def recognises(self, shown: Shown) -> bool:
        """Return whether the name is that of such a file."""

    def show(self, shown: Shown, console: Console) -> None:
        """Print the file, and draw it on request."""


OF_LOGS = "settings of logs"
HOW_TO_READ = {"format", "zone", "columns"}  # settings of logs that need no machine


class ProfileFile:
    """A CSV file with the desired use of a machine."""

    what = "desired profile"
    takes = ("--plot",)

    def recognises(self, shown: Shown) -> bool:
        """Return whether the file has the columns of a desired profile."""
        return is_profile(shown.name)

    def show(self, shown: Shown, console: Console) -> None:
        """Print the wishes."""
        show_profile(console, shown.name, shown.plot)


class SiteFile:
    """The description of a machine: a ``site.toml``, files of Slurm or PBS, or a folder of them."""

    what = "site"
    takes = ("--plot", "--zone")

    def recognises(self, shown: Shown) -> bool:
        """Return whether a file or a folder describes a site."""
        return is_site(shown.name)

    def show(self, shown: Shown, console: Console) -> None:
        """Print nodes, partitions and QOS."""
        show_site(console, read_site(shown.name, zone=time_zone(shown.settings["zone"]) or UTC), shown.plot)


class LogFile:
    """The log of a machine, in one of the formats of logs."""

    what = "log"
    takes = (OF_LOGS, "--forecasts", "--composition", "--plot")

    def recognises(self, shown: Shown) -> bool:
        """Return whether options name a format, or the content is that of a log."""
        if not shown.is_file or is_classic(shown.name):
            return False
        named = shown.settings["format"] is not None or shown.settings["columns"] is not None
        return named or is_log(shown.name)

    def show(self, shown: Shown, console: Console) -> None:
        """Print how the log was read, with its jobs; or the scores of forecasts, or the composition of the jobs."""
        values, _ = read_settings(shown.settings)
        replay = ReplaySettings(trace=True, **values)
        read_alone = not (values.keys() - HOW_TO_READ or shown.forecasts or shown.composition or shown.plot)
        if read_alone and (trace := read_log(shown.name, replay)).platform is None and not trace.sizes:
            show_jobs(console, trace.workload)
            return
        site = None
        if replay.site is not None:
            site = required_site(replay, "bench show")
        _, workload, platform, _ = open_log(shown.name, replay, site=site)
        if shown.forecasts is not None:
            show_forecasts(console, workload, shown.forecasts)
        elif shown.composition:
            show_composition(console, {workload.name: Composition.of_workload(workload)})
        else:
            show_log(console, workload, platform, time_zone(shown.settings["zone"]), shown.plot)


class CoolingTable:
    """A shipped cooling table, or one in a CSV file."""

    what = "cooling table"
    takes = ("--plot",)

    def recognises(self, shown: Shown) -> bool:
        """Return whether the name is that of a cooling table, or of a CSV file that is nothing else."""
        return is_cooling(shown.name)

    def show(self, shown: Shown, console: Console) -> None:
        """Print PUE and cooling power by temperature and IT power."""
        show_cooling(console, shown.name, shown.plot)


class InstanceFile:
    """A shipped instance, the folder of an instance, or a file of a benchmark library."""

    what = "instance"
    takes = ("--composition",)

    def recognises(self, shown: Shown) -> bool:
        """Return whether the name is one that is shipped, a folder, or a file of a benchmark library."""
        return not shown.is_file or is_classic(shown.name)

    def show(self, shown: Shown, console: Console) -> None:
        """Print the main facts, or the composition of the jobs."""
        path = Path(shown.name)
        if path.is_dir() and not (path / INSTANCE).exists():
            raise WrongUse(
                f"{shown.name}: this folder has neither an instance ({INSTANCE}) nor a site (site.toml, slurm.conf, files of PBS); name a "
                "file, such as a log, or one of its folders; results are shown by bench statistics, bench plot and bench report"
            )
        try:
            check_there(shown.name)
            instance = open_instance(shown.name, shown.drop_impossible)
        except UnknownInstance as e:
            raise meant(e, shown.name) from e
        if shown.composition:
            show_composition(console, {instance.name: Composition.of_instance(instance)})
        else:
            show_instance(console, instance, shown.name)


KINDS: Sequence[FileKind] = (ProfileFile(), SiteFile(), LogFile(), CoolingTable(), InstanceFile())
"""The first kind that recognises a name shows it."""


def show_file(shown: Shown, console: Console) -> None:
    """Print what a user wants to see.

    Raises
    ------
    WrongUse
        The file is of no known kind, or an option is for other kinds.
    UnknownInstance, UnknownCooling, InstanceError, WorkloadError
        There is no such file, or it has faults.
    """
    if Path(shown.name).suffix and near_files(Path(shown.name)):
        check_file(Path(shown.name))
    kind = next((kind for kind in KINDS if kind.recognises(shown)), None)
    if kind is None:
        raise not_recognised(shown.name)
    of_logs = shown.of_logs
    for option in shown.options:
        if option in of_logs:
            group = OF_LOGS
        else:
            group = option
        if group not in kind.takes and option not in kind.takes:
            if kind is KINDS[-1]:  # which recognises any name
                check_there(shown.name)
            takers = [f"{other.what}s" for other in KINDS if group in other.takes]
            if len(takers) > 1:
                others = " and ".join(takers)
            else:
                others = f"{takers[0]} only"
            results = ""
            if option == "--plot":
                results = "; bench plot draws results"
            raise WrongUse(
                f"{option}: for {others}; {shown.name} is no {' and no '.join(w[:-1] for w in takers)}{results}"
            )
    kind.show(shown, console)


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


def print_report(console: Console, workload: Workload) -> None:
    """Print the report of a log."""
    for line in report_lines(workload.report, len(workload)):
        console.print(line, soft_wrap=True, markup=False, highlight=False)


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
        more = ""
        if len(ids) > GROUPED:
            more = f" and {len(ids) - GROUPED} more"
        yield f"  job{'s' * (len(ids) > 1)} {', '.join(ids[:GROUPED])}{more}: {why}"
    if len(reasons) > REASONS_SHOWN:
        yield f"  and {_jobs(sum(len(ids) for ids in list(reasons.values())[REASONS_SHOWN:]))} for other reasons"


def _jobs(n: int) -> str:
    return how_many(n, "job")


def load_text(workload: Workload, platform: Platform, digits: int) -> str:
    """Return the offered load; "unknown" where all jobs have one submit time."""
    load = workload.load(platform)
    if isfinite(load):
        return f"{load:.{digits}f}"
    return "unknown: all jobs have the same submit time"


# --- The output of ``bench show`` for logs: size, groups of jobs, jobs and nodes per hour.

DAY = 24  # hours
GROUPS_MEAN = (
    "core-hours: cores that the jobs had, times the runtimes of their last attempts; share: of all core-hours; units: the CPUs that a job asked for, where the log tells "
    "what jobs asked of their site (sacct, PBS), else parts of a job that run on one node each (of SWF its processors); accuracy: runtime / walltime."
)
HOURS_MEAN = (
    "running jobs, nodes in use: means over whole clock hours, also over the first and the last one, of which the log has only a part; a job "
    "that has a part of a node counts as this part."
)
GROUP_COLUMNS = (Column("jobs", form=count), Column("core-hours\nin all", form=fixed(1)), Column("share", form=percent))


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
        f"{path} is neither a log ({', '.join(FORMATS)}; --format names one), a site, a file of a benchmark library, a cooling table, "
        "nor a desired profile"
    )
    if Path(path).suffix == ".toml":
        return WrongUse(f'{others}; a site.toml has the line schema = "{SCHEMA}", and a suite is run by bench run')
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
    span = time_text(int(workload.submit[-1]) - int(workload.submit[0]))
    console.print(
        f"{workload.name}: {how_many(len(workload), 'job', ',')} in {span} on {how_many(len(platform.nodes), 'node', ',')}, "
        f"offered load {load_text(workload, platform, 2)}",
        style="bold",
    )
    _print_jobs(console, workload)
    _print_hours(console, hours, workload.unix_start, zone)
    if plot is not None:
        from ..pages.inputs import plot_hours

        plot_hours(workload.name, hours, plot)
        console.print(f"{plot}: jobs and nodes per hour", soft_wrap=True)


def show_jobs(console: Console, workload: Workload) -> None:
    """Print how a log was read, and its largest groups of jobs, where its machine is not known."""
    span = time_text(int(workload.submit[-1]) - int(workload.submit[0]))
    console.print(f"{workload.name}: {how_many(len(workload), 'job', ',')} in {span}", style="bold")
    _print_jobs(console, workload)
    console.print(
        "for the offered load and the nodes in use, describe the machine: --site site.toml, or --nodes 300 --cores 32"
    )


def _print_jobs(console: Console, workload: Workload) -> None:
    """Print how a log was read, and its largest groups of jobs."""
    print_report(console, workload)
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
        share = 0.0
        if used.sum() > 0:
            share = 1 / used.sum()
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
    zone_name = ""
    if unix_start is not None:
        zone_name = f" ({zone or 'UTC'})"
    rows = [
        [f"{hour:02}:00", *(sums[name][hour] / days[hour] for name in known)] for hour in np.flatnonzero(days).tolist()
    ]
    rows.append(["mean", *(values.mean() for values in known.values())])
    rows.append(["largest", *(values.max() for values in known.values())])
    means = [Column(name, form=fixed(1)) for name in known]
    console.print(Grid("", [Column(f"hour of the day{zone_name}", words=True), *means], rows))
    if hours.running is not None:
        console.print(HOURS_MEAN, style="dim")
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
    if names == "all":
        listed = list(FORECASTS)
    else:
        listed = [n.strip() for n in names.split(",")]
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
    if (path / INSTANCE).is_file():
        return False
    return name in cooling_names() or (path.suffix.lower() == ".csv" and not path.is_dir())


def meant(fault: UnknownInstance, name: str) -> UnknownInstance | UnknownCooling:
    """Return the error for an unknown name: that of a cooling table if only the name of a cooling table is similar."""
    other = UnknownCooling(name)
    if other.near and not fault.near:
        return other
    return fault


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
        from ..pages.inputs import plot_cooling

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
        if what == "PUE":
            return table.pue(power, celsius)
        return table.power(power, celsius) / 1000

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
    clock = "without end"
    if wishes.end is not None:
        clock = f"up to {wishes.end:,} s"
    if wishes.period is not None:
        clock = f"repeated every {wishes.period:,} s"
    if wishes.origin:
        clock += f", times from second {wishes.origin:,} of the workload on"
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
        from ..pages.inputs import plot_profile

        plot_profile(Path(name).stem, wishes, plot)
        console.print(f"{plot}: the desired use over time", soft_wrap=True)


# --- The output of ``bench show`` for sites: classes of nodes, partitions, QOS, accounts, what is not modelled.


SHOWN = 10  # faults that are printed
LONG = 60  # characters of a list of names in a table
LIMITED = 50  # accounts and users whose limits are printed


class NodeClass(NamedTuple):
    """Neighbouring nodes of one kind.

    Attributes
    ----------
    nodes
        The nodes.
    partitions
        The names of the partitions that have them.
    """

    nodes: Sequence[SiteNode]
    partitions: tuple[str, ...]

    @property
    def names(self) -> str:
        """The names of the nodes, in ranges."""
        return in_ranges(sorted((node.name for node in self.nodes), key=natural_order))


def node_classes(site: Site) -> list[NodeClass]:
    """Return the nodes of a site in groups of neighbours that differ in their names and states alone.

    Examples
    --------
    >>> from schedlab.models.site import SiteNode
    >>> site = Site("s", [SiteNode("a1", 4), SiteNode("a2", 4), SiteNode("b", 8)])
    >>> [(each.names, len(each.nodes)) for each in node_classes(site)]
    [('a[1-2]', 2), ('b', 1)]
    """

    def kind(node: SiteNode) -> tuple[object, ...]:
        amounts = tuple(node.capacity.items())
        return amounts, node.threads, node.features, node.weight, site.partitions_of(node.name)

    groups = (list(group) for _, group in groupby(site.nodes, kind))
    return [NodeClass(nodes, site.partitions_of(nodes[0].name)) for nodes in groups]


def show_site(console: Console, site: Site, plot: Path | None) -> None:
    """Print a site, and draw it on request.

    Parameters
    ----------
    console
        Where it is printed.
    site
        The site.
    plot
        File of a picture to write; None: none.
    """
    cores = sum(node.cpus for node in site.nodes)
    gpus = sum(sum(node.gpus.values()) for node in site.nodes)
    parts = [how_many(len(site.nodes), "node", ","), how_many(cores, "CPU", ",")]
    if gpus:
        parts += [how_many(gpus, "GPU", ",")]
    parts += [how_many(len(site.partitions), "partition")]
    console.print(f"{site.name} ({site.kind}): {', '.join(parts)}", style="bold", markup=False, highlight=False)
    console.print(_nodes(site))
    if site.partitions:
        console.print(_partitions(site))
    if site.qos:
        console.print(_qos(site.qos))
    limited = [each for each in site.associations if each.limits]
    if limited:
        console.print(_accounts(limited[:LIMITED]))
    if len(limited) > LIMITED:
        console.print(f"and {how_many(len(limited) - LIMITED, 'further account or user with limits', ',')}")
    for line in site_lines(site):
        console.print(line, soft_wrap=True, markup=False, highlight=False)
    if plot is not None:
        from ..pages.inputs import plot_site

        classes = [(each.names, len(each.nodes), each.nodes[0].cpus) for each in node_classes(site)]
        order = {node.name: k for k, node in enumerate(site.nodes)}
        places = {p.name: [order[name] for name in p.nodes if name in order] for p in site.partitions}
        plot_site(site.name, classes, places, plot)
        console.print(f"{plot}: nodes and partitions", soft_wrap=True)


def _cut(text: str) -> str:
    if len(text) <= LONG:
        return text
    return f"{text[: LONG - 3]}..."


def _nodes(site: Site) -> Grid:
    def gpus(each: NodeClass) -> str:
        listed = each.nodes[0].gpus
        return ", ".join(f"{n} {kind}".strip() for kind, n in listed.items()) or "-"

    def states(each: NodeClass) -> str:
        others = [node for node in each.nodes if node.state != "up"]
        return ", ".join(f"{sum(n.state == s for n in others)} {s}" for s in dict.fromkeys(n.state for n in others))

    columns = [
        Column("nodes", lambda c: _cut(c.names), words=True),
        Column("number", lambda c: len(c.nodes), "{:,}".format),
        Column("CPUs", lambda c: c.nodes[0].cpus),
        Column("memory\nMB", lambda c: c.nodes[0].memory, "{:,}".format),
        Column("GPUs", gpus, words=True),
        Column("weight", lambda c: c.nodes[0].weight, spare=1),
        Column("features", lambda c: ", ".join(c.nodes[0].features) or "-", words=True, spare=2),
        Column("partitions", lambda c: ", ".join(c.partitions) or "-", words=True, least=12),
        Column("not up", lambda c: states(c) or "-", words=True, spare=1),
    ]
    return Grid.of("", columns, node_classes(site))


def _partitions(site: Site) -> Grid:
    known = {node.name: node for node in site.nodes}

    def total(p: Partition) -> int:
        return sum(known[name].cpus for name in p.nodes if name in known)

    columns = [
        Column("partition", lambda p: p.name + (" (default)" if p.default else ""), words=True),
        Column("nodes", lambda p: len(p.nodes), "{:,}".format),
        Column("CPUs", total, "{:,}".format),
        Column("longest", lambda p: None if p.max_time is None else duration(p.max_time)),
        Column("tier", lambda p: p.tier),
        Column("factor", lambda p: p.job_factor, spare=1),
        Column("rules", lambda p: "; ".join(_rules(p)) or "-", words=True, least=16),
    ]
    return Grid.of("", columns, site.partitions)


def _rules(p: Partition) -> Iterator[str]:
    """Yield what a partition allows and asks for, in words."""
    if p.state != "up":
        yield f"state {p.state}"
    if p.min_nodes > 1 or p.max_nodes is not None:
        yield f"{p.min_nodes or 1} to {'any' if p.max_nodes is None else p.max_nodes} nodes"
    if p.oversubscribe != "no":
        yield "whole nodes" if p.exclusive else f"shared ({p.oversubscribe})"
    if p.qos is not None:
        yield f"limits of QOS {p.qos}"
    for what, allowed, denied in (
        ("QOS", p.allow_qos, p.deny_qos),
        ("accounts", p.allow_accounts, p.deny_accounts),
        ("groups", p.allow_groups, ()),
    ):
        if allowed is not None:
            yield f"only {what} {', '.join(allowed) or 'of no name'}"
        elif denied:
            yield f"not {what} {', '.join(denied)}"
    if p.preempt_mode not in (None, "off"):
        yield f"preempted: {p.preempt_mode}"


def _qos(listed: Sequence[QOS]) -> Grid:
    columns = [
        Column("QOS", lambda q: q.name, words=True),
        Column("priority", lambda q: q.priority, "{:,}".format),
        Column("limits", lambda q: ", ".join(limit_texts(q.limits)) or "-", words=True, least=20),
        Column("preempts", lambda q: ", ".join(q.preempt) or "-", words=True, spare=1),
        Column("flags", lambda q: ", ".join(q.flags) or "-", words=True, spare=2),
    ]
    return Grid.of("", columns, listed)


def _accounts(limited: Sequence[Association]) -> Grid:
    columns = [
        Column("account", lambda a: a.account, words=True),
        Column("user", lambda a: a.user or "-", words=True),
        Column("partition", lambda a: a.partition or "-", words=True) if any(a.partition for a in limited) else None,
        Column("limits", lambda a: ", ".join(limit_texts(a.limits)), words=True, least=20),
    ]
    return Grid.of("", columns, limited)


def limit_texts(limits: Limits) -> Iterator[str]:
    """Yield the limits in words.

    >>> list(limit_texts(Limits(max_jobs_per_user=3, grp_tres={"cpu": 32})))
    ['grp_tres cpu=32', 'max_jobs_per_user 3']
    """
    for name, value in limits.given():
        if isinstance(value, int):
            text = str(value)
        else:
            text = ",".join(f"{k}={n}" for k, n in value.items())
        yield f"{name} {text}"


def site_lines(site: Site) -> Iterator[str]:
    """Yield the lines below the tables: accounts, licences, reservations, the scheduler, faults, what is not modelled."""
    accounts = [a for a in site.associations if not a.user]
    users = {a.user for a in site.associations if a.user}
    if accounts:
        limited = sum(bool(a.limits) for a in site.associations)
        more = ""
        if limited:
            more = f", {limited} of them with limits"
        yield f"accounts: {len(accounts)} with {how_many(len(users), 'user')}{more}"
    if site.licences:
        yield f"licences: {', '.join(f'{x.total} {x.name}' for x in site.licences)}"
    for r in site.reservations:
        where = in_ranges(sorted(r.nodes, key=natural_order)) or (
            "unknown nodes" if r.node_count is None else how_many(r.node_count, "node")
        )
        yield f"reservation {r.name}: {where} for {duration(r.duration)}{_flags(r.flags)}"
    if site.events:
        yield f"events: {how_many(len(site.events), 'change')} of the states of nodes"
    yield f"scheduler: {', '.join(_scheduler(site.scheduler))}"
    faults = site.faults()
    for fault in faults[:SHOWN]:
        yield f"fault: {fault}"
    if len(faults) > SHOWN:
        yield f"fault: {len(faults) - SHOWN:,} more"
    from ...simulation.features.site_limits import not_modelled

    names = not_modelled(site)
    if names:
        yield f"not modelled: {'; '.join(names)}"


def _flags(flags: Sequence[str]) -> str:
    if flags:
        return f" ({', '.join(flags)})"
    return ""


def _scheduler(settings: Any) -> Iterator[str]:
    if isinstance(settings, PBSSettings):
        yield f"backfill depth {settings.backfill_depth}"
        yield "strict ordering" if settings.strict_ordering else "no strict ordering"
        if settings.job_sort_formula:
            yield f"formula {settings.job_sort_formula}"
        return
    yield f"{settings.scheduler_type}, {settings.select_type}"
    if settings.select_parameters:
        yield " ".join(settings.select_parameters)
    yield f"priority {settings.priority_type}"
    names = ("age", "fairshare", "job_size", "partition", "qos", "assoc")
    weights = {name: getattr(settings, f"weight_{name}") for name in names}
    if settings.priority_type == "multifactor" and any(weights.values()):
        yield "weights " + " ".join(f"{name} {n:,}" for name, n in weights.items() if n)
    yield f"backfill every {settings.bf_interval} s over {duration(settings.bf_window)}"
