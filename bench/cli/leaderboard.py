"""``bench leaderboard``: several logs are replayed under several dispatchers, which are ranked by figures with intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.console import Console

from ...backends import UnknownName
from ...instances.files.writing import to_csv, write_whole
from ...models.array_types import Floats, Ints
from ...models.words import how_many
from ...simulation.metrics import size_class, size_class_names, size_name, sizes_asked
from ..errors import WrongUse, writing
from ..grid import DIM, Column, Grid, percent, ratio, short, time_unit
from ..pages import Section, write_page
from ..records.record import failed
from ..records.store import Record
from ..records.verify import recorded_replay
from ..replays.carry_out import prepared
from ..replays.case import ReplayCase
from ..replays.settings import RESULTS, RUNS, SETTINGS, USUAL_FLOOR
from ..runs.executors import Recording, RunTask
from ..runs.process import cores as number_of_cores
from ..runs.selection import RunRequest, parse_seeds
from ..runs.supervision import perform
from ..statistics.comparison import Blocks, jain_index
from ..tables.replays import DispatcherRow
from ..terminal import console_for
from .options import Drop, First, ReplayLimit, Seeds, check_folders, with_options

if TYPE_CHECKING:
    from ...simulation.records import ReplayData

LEADERBOARD_HELP = """Rank dispatchers over logs.

Each log or instance is replayed under each dispatcher, and every start is checked, as by bench simulate. Printed are the
mean rank over the logs and, for each log, mean and 95th percentile of the bounded slowdown and of the wait, fairness over
the users, and the time of a decision. Intervals are from a bootstrap over weeks (days of short logs), the same for all
dispatchers, as waits of jobs near in time depend on each other.

Options of logs, such as --nodes, concern the logs alone; instances have a machine of their own.

The same command again runs only what has no valid record.

Exit code 1 if a replay failed.

Example: bench leaderboard eurora_99 eurora_700 --dispatchers fcfs,easy,conservative,easy++

Example: bench leaderboard january.sacct february.sacct --zone Europe/Rome --dispatchers easy,plan@lns --rank-by wait-p95 --page board.html
"""
OF_LOGS = (
    "site",
    "on_unknown",
    "cancelled",
    "format",
    "nodes",
    "cores",
    "memory",
    "per_node",
    "zone",
    "columns",
    "window",
    "queue_from",
    "partition",
)
OF_REPLAYS = ("predictor", "allocator", "kill", "bsld_floor", "decision_time", "deterministic")


# --- The figures by which dispatchers are ranked.

HOUR = 3600.0
P95 = 0.95


@dataclass(frozen=True)
class Figure:
    """A figure by which dispatchers are ranked.

    Attributes
    ----------
    name
        The name, as ``--rank-by`` has it.
    head
        The heading of its column.
    meaning
        What it is.
    value
        Its value for a replay.
    resampled
        Its values in the resamples of a log, shape (resamples,).
    form
        Its value as text.
    best
        ``min`` or ``max``.
    is_time
        Whether its value is a time in hours; tables show it in a unit that fits, which the heading names after a comma.
    """

    name: str
    head: str
    meaning: str
    value: Callable[[Replayed], float]
    resampled: Callable[[Replayed, Blocks], Floats]
    form: Callable[[float], str] = short
    best: Callable[..., Any] = min
    is_time: bool = False


@dataclass(frozen=True, eq=False)
class Replayed:
    """The jobs whose work was done in the replays of all seeds, with their figures as in the metrics of a replay.

    Parameters
    ----------
    submit, wait : ndarray of int64, shape (jobs,)
        Seconds.
    slowdown : ndarray of float, shape (jobs,)
        The bounded slowdown of each job, at least 1.
    size, user : ndarray of int64, shape (jobs,)
        What each job asked for, as ``sizes_asked`` counts it; its user as a number.
    seeds : int
        Number of the replays.
    size_name : str
        What the sizes count.
    """

    submit: Ints
    wait: Ints
    slowdown: Floats
    size: Ints
    user: Ints
    seeds: int = 1
    size_name: str = "units"

    @classmethod
    def of(cls, replays: Sequence[ReplayData], floor: float) -> Replayed:
        """Return the jobs of the replays of a dispatcher, one for each seed; ``floor``: of the bounded slowdown, in s."""
        from ...simulation.metrics import job_figures

        numbers = {name: k for k, name in enumerate(sorted({name for r in replays for name in r.workload.users}))}
        parts = []
        for replay in replays:
            jobs = replay.workload
            figures = job_figures(jobs, replay.start, replay.end, bsld_floor=floor, history=replay.history)
            row = figures.row
            user = np.array([numbers[name] for name in jobs.users], np.int64)[jobs.user[row]]
            parts.append((jobs.submit[row], figures.wait, figures.bounded_slowdown, sizes_asked(jobs)[row], user))
        submit, wait, slowdown, size, user = (np.concatenate(column) for column in zip(*parts, strict=True))
        return cls(submit, wait, slowdown, size, user, len(replays), size_name(replays[0].workload))


def _user_means(replayed: Replayed) -> Floats:
    numbers = np.bincount(replayed.user)
    sums = np.bincount(replayed.user, replayed.slowdown)
    return np.asarray(sums[numbers > 0] / numbers[numbers > 0], np.float64)


FIGURES = {
    figure.name: figure
    for figure in (
        Figure(
            "slowdown",
            "mean\nbounded\nslow\xad\ndown",
            "bounded slowdown: (wait + duration) / max(duration, the floor), at least 1",
            lambda replayed: float(replayed.slowdown.mean()),
            lambda replayed, blocks: blocks.means(replayed.submit, replayed.slowdown),
        ),
        Figure(
            "slowdown-p95",
            "p95\nslow\xad\ndown",
            "p95: 95th percentile; slowdown: bounded",
            lambda replayed: float(np.quantile(replayed.slowdown, P95, method="inverted_cdf")),
            lambda replayed, blocks: blocks.quantiles(replayed.submit, replayed.slowdown, P95),
        ),
        Figure(
            "wait",
            "mean\nwait",
            "wait: time from submission to start, without that in earlier attempts",
            lambda replayed: float(replayed.wait.mean()) / HOUR,
            lambda replayed, blocks: blocks.means(replayed.submit, replayed.wait / HOUR),
            is_time=True,
        ),
        Figure(
            "wait-p95",
            "p95\nwait",
            "",
            lambda replayed: float(np.quantile(replayed.wait, P95, method="inverted_cdf")) / HOUR,
            lambda replayed, blocks: blocks.quantiles(replayed.submit, replayed.wait / HOUR, P95),
            is_time=True,
        ),
        Figure(
            "fairness",
            "fair\xad\nness",
            "fairness: Jain's index of the users' mean bounded slowdowns, 1 if all users fare alike [Jain1984]",
            lambda replayed: float(jain_index(_user_means(replayed))),
            lambda replayed, blocks: blocks.jain(replayed.submit, replayed.slowdown, replayed.user),
            ratio,
            max,
        ),
    )
}


# --- The command.


@dataclass(frozen=True)
class Shown:
    """By which figure the dispatchers are ranked, and the files to which the ranks are written."""

    rank_by: Annotated[
        str, typer.Option(help=f"the figure by which they are ranked: {', '.join(FIGURES)}", rich_help_panel=RESULTS)
    ] = "slowdown"
    page: Annotated[Path | None, typer.Option(help="HTML file to write", rich_help_panel=RESULTS)] = None
    csv: Annotated[
        Path | None,
        typer.Option(
            help="CSV file to write: a row for each log and dispatcher, with intervals", rich_help_panel=RESULTS
        ),
    ] = None


@dataclass(frozen=True)
class Repeated:
    """How often each log is replayed, for how long, and how many replays there are at the same time."""

    seeds: Seeds = "1"
    time_limit: ReplayLimit = 3600.0
    jobs: Annotated[
        int | None,
        typer.Option(min=1, help="number of replays at the same time; default: the cores", rich_help_panel=RUNS),
    ] = None


@with_options(SETTINGS, names=(*OF_LOGS, *OF_REPLAYS))
def leaderboard(
    *,
    logs: Annotated[list[str], typer.Argument(help="logs, folders with instance.toml, or names of shipped instances")],
    dispatchers: Annotated[
        list[str], typer.Option(help="dispatchers, separated by commas, as of bench simulate", rich_help_panel=RUNS)
    ],
    shown: Shown,
    first: First = None,
    drop_impossible: Drop = False,
    repeated: Repeated,
    out: Annotated[Path, typer.Option(help="folder of the records", rich_help_panel=RESULTS)] = Path(
        "results/leaderboard"
    ),
    recording: Recording,
    **settings: Any,
) -> None:
    """Rank dispatchers over logs: the command; its help text is ``LEADERBOARD_HELP``."""
    from ..replays.request import replay_request
    from ..runs.view import View

    if shown.rank_by not in FIGURES:
        raise UnknownName("figure", shown.rank_by, list(FIGURES))
    check_folders({"--page": shown.page, "--csv": shown.csv})
    view = View(first=first, durations="runtime")
    requests = [
        replay_request(log, dispatchers, view, each) for log, each in zip(logs, _for_each(logs, settings), strict=True)
    ]
    limits = RunRequest(
        time_limit=repeated.time_limit,
        seeds=parse_seeds(repeated.seeds),
        jobs=repeated.jobs or number_of_cores(),
        drop_impossible=drop_impossible,
    )
    task = RunTask((), limits, out, recording)
    tables = console_for(stderr=recording.as_json)
    notes = console_for(stderr=True)
    ready = [prepared(request, task, notes) for request in requests]
    plans = [each.plan for each in ready]
    names = [runs[0].instance for _, runs in plans]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise WrongUse(f"two logs have the name {twice}; rename the file of one of them")
    records = perform(plans, task, tables, notes)
    if isinstance(records, int):
        raise typer.Exit(records)
    listed = standings(records, out, {name: each.case for name, each in zip(names, ready, strict=True)})
    print_tables(listed, shown.rank_by, tables, recording.explain)
    write_files(listed, shown, notes)
    notes.print(f"The records are in {out}. To check them: bench verify {out}", soft_wrap=True)
    raise typer.Exit(1 if any(map(failed, records)) else 0)


def _for_each(logs: Sequence[str], settings: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the settings of each log or instance: those of logs are not for instances, if there are logs beside these."""
    from ..replays.request import is_trace

    of_traces = [is_trace(log) for log in logs]
    if not any(of_traces):
        return [settings] * len(logs)
    known = (name for name in settings if name not in SETTINGS or SETTINGS[name].setting.concerns != "log")
    of_instances = {name: settings[name] for name in known if name not in ("site", "on_unknown")}
    return [settings if of_trace else of_instances for of_trace in of_traces]


def print_tables(listed: Sequence[Standing], rank_by: str, console: Console, explain: bool) -> None:
    """Print the table of each log, and then that of the ranks."""
    for log in dict.fromkeys(s.log for s in listed):
        grid = log_grid(log, listed)
        grid.show(console, explain)
        for note in grid.notes:
            console.print(note, style=DIM, soft_wrap=True)
        classes = classes_grid(log, listed)
        if len(classes.columns) > 2:
            console.print(classes)
        console.print()
    ranking_grid(listed, FIGURES[rank_by]).show(console, explain)


def write_files(listed: Sequence[Standing], shown: Shown, notes: Console) -> None:
    """Write the page and the table that were requested."""
    if shown.csv is not None:
        rows = rows_of(listed)
        with writing(shown.csv, "--csv"):
            write_whole(shown.csv, to_csv(list(rows[0]), [list(row.values()) for row in rows]))
        notes.print(f"{shown.csv}: {how_many(len(rows), 'row')}", soft_wrap=True)
    if shown.page is None:
        return
    logs = list(dict.fromkeys(s.log for s in listed))
    ranks = ranking_grid(listed, FIGURES[shown.rank_by])
    sections = [Section(ranks.title, table=ranks, notes=(ranks.meaning,))]
    for log in logs:
        grid = log_grid(log, listed)
        sections.append(Section(log, grids=(grid, classes_grid(log, listed)), notes=tuple(grid.notes)))
    write_page(shown.page, "leaderboard", ranks.title, sections)
    notes.print(f"{shown.page}: {how_many(len(logs), 'log')}", soft_wrap=True)


# --- The ranks of dispatchers over logs.


@dataclass(frozen=True, eq=False)
class Standing:
    """A dispatcher on a log.

    Parameters
    ----------
    log, dispatcher : str
        Their names.
    replayed : Replayed or None
        Its jobs; None if a replay failed.
    blocks : Blocks or None
        The resamples of the log.
    ms : float or None
        Mean time of a decision in milliseconds.
    failure : str
        Why there are no figures, or "".
    jobs : int
        Number of jobs in a replay.
    """

    log: str
    dispatcher: str
    replayed: Replayed | None
    blocks: Blocks | None
    ms: float | None
    failure: str = ""
    jobs: int = 0

    @property
    def started(self) -> int:
        """The number of jobs whose work was done, in the replay of one seed."""
        if self.replayed is None:
            return 0
        return self.replayed.submit.size // self.replayed.seeds

    def value(self, figure: Figure) -> float | None:
        """Return a figure; None if a replay failed."""
        if self.replayed is None:
            return None
        return figure.value(self.replayed)

    @cached_property
    def resamples(self) -> Mapping[str, Floats]:
        """The figures in the resamples of the log by name; empty if a replay failed."""
        if self.replayed is None or self.blocks is None:
            return {}
        return {name: figure.resampled(self.replayed, self.blocks) for name, figure in FIGURES.items()}

    def interval(self, figure: Figure) -> tuple[float, float] | None:
        """Return the 95 % interval of a figure; None if a replay failed."""
        if self.resamples:
            return Blocks.interval(self.resamples[figure.name])
        return None


def standings(records: Iterable[Record], folder: Path, cases: Mapping[str, ReplayCase]) -> list[Standing]:
    """Return the standings of the replays of a folder, in the order of the records; ``cases``: by the name of the log.

    Raises
    ------
    WrongValue
        If a file of jobs is missing.
    """
    groups: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        groups.setdefault((record["instance"], record["method"]), []).append(record)
    blocks: dict[str, Blocks] = {}
    listed = []
    for (log, dispatcher), members in groups.items():
        row = DispatcherRow(dispatcher, members)
        if not row.whole:
            listed.append(Standing(log, dispatcher, None, None, None, str(row.verdict)))
            continue
        replays = [recorded_replay(record, folder, cases[log]) for record in members]
        floor = members[0]["metrics"].get("bsld_floor") or USUAL_FLOOR
        replayed = Replayed.of(replays, float(floor))
        if log not in blocks:
            blocks[log] = Blocks.of(replayed.submit, seed=len(blocks))
        seconds = row.metric("decisions_seconds_mean")
        ms = None
        if seconds is not None:
            ms = 1000 * seconds
        listed.append(Standing(log, dispatcher, replayed, blocks[log], ms, jobs=len(replays[0].workload)))
    return listed


@dataclass(frozen=True)
class Rank:
    """The rank of a dispatcher over logs.

    Parameters
    ----------
    dispatcher : str
    rank : float
        The mean over the logs of its rank by the figure, from 1; a failed replay has the last rank.
    interval : (float, float)
        Its 95 % interval over the resamples.
    times : float or None
        The geometric mean over the logs of its figure / that of the best dispatcher (of fairness the inverse); None if
        a replay failed.
    first : float
        The share of the resamples in which no dispatcher has a better mean rank.
    failed : int
        The number of logs on which a replay failed.
    """

    dispatcher: str
    rank: float
    interval: tuple[float, float]
    times: float | None
    first: float
    failed: int


def ranking(listed: Sequence[Standing], figure: Figure) -> list[Rank]:
    """Rank dispatchers over the logs by a figure; the best one first.

    Examples
    --------
    >>> day = np.arange(0, 40 * 86_400, 3_600)
    >>> both = {name: Replayed(day, 0 * day + wait, 0.0 * day + 1, 0 * day + 1, 0 * day) for name, wait in (("a", 9), ("b", 5))}
    >>> [(r.dispatcher, r.rank, r.first) for r in ranking([Standing("log", n, r, Blocks.of(day), 1.0) for n, r in both.items()], FIGURES["wait"])]
    [('b', 1.0, 1.0), ('a', 2.0, 0.0)]
    """
    logs = list(dict.fromkeys(s.log for s in listed))
    names = list(dict.fromkeys(s.dispatcher for s in listed))
    by_pair = {(s.log, s.dispatcher): s for s in listed}
    sign = 1.0
    if figure.best is max:
        sign = -1.0
    ranks = np.zeros((len(logs), len(names)))
    drawn: list[Floats] = []
    ratios = np.full((len(logs), len(names)), np.nan)
    for row, log in enumerate(logs):
        own = [by_pair.get((log, name)) for name in names]
        values = np.array([_known(None if s is None else s.value(figure)) for s in own])
        ranks[row] = _ranks(sign * values[None, :])[0]
        if not np.isfinite(values).any():
            best = np.nan
        else:
            best = np.nanmin(sign * values)
        ratios[row] = (values / abs(best)) ** sign
        size = next((s.resamples[figure.name].size for s in own if s is not None and s.resamples), 0)
        if size:
            columns = [
                s.resamples[figure.name] if s is not None and s.resamples else np.full(size, np.nan) for s in own
            ]
            drawn.append(_ranks(sign * np.column_stack(columns)))
    mean = ranks.mean(axis=0)
    if drawn:
        resampled = np.mean(drawn, axis=0)
    else:
        resampled = mean[None, :]
    first = (resampled <= resampled.min(axis=1, keepdims=True)).mean(axis=0)
    made = []
    for k, name in enumerate(names):
        times = None
        if (ratios[:, k] > 0).all():
            times = float(np.exp(np.log(ratios[:, k]).mean()))
        failed = sum(by_pair[log, name].replayed is None for log in logs if (log, name) in by_pair)
        made.append(Rank(name, float(mean[k]), Blocks.interval(resampled[:, k]), times, float(first[k]), failed))
    return sorted(made, key=lambda r: (r.rank, -r.first))


def _known(value: float | None) -> float:
    if value is None:
        return float("nan")
    return value


def _ranks(values: Floats) -> Floats:
    """Return the ranks in each row, from 1; ties have their mean rank, unknown values the last one."""
    from scipy.stats import rankdata

    known = np.where(np.isfinite(values), values, np.inf)
    return np.asarray(rankdata(known, axis=1), np.float64)


# --- The tables.


def ranking_grid(listed: Sequence[Standing], figure: Figure) -> Grid:
    """Return the table of the ranks over all logs."""
    logs = dict.fromkeys(s.log for s in listed)
    columns = [
        Column("dispatcher", lambda r: r.dispatcher, words=True),
        Column("rank", lambda r: r.rank, lambda rank: f"{rank:.2f}", "rank: mean over the logs", best=min),
        Column("95 %\ninterval", lambda r: _span(r.interval, lambda rank: f"{rank:.1f}"), words=True),
        Column(
            "times\nthe best",
            lambda r: r.times,
            ratio,
            "times the best: geometric mean over the logs of the figure / that of the best dispatcher",
        ),
        Column(
            "first",
            lambda r: r.first,
            lambda share: percent(share, 0),
            "first: share of the resamples in which no other dispatcher has a better rank",
        ),
        Column("failed", lambda r: r.failed, meaning="failed: logs whose replay failed; it has the last rank there"),
    ]
    title = f"{how_many(len(logs), 'log')}, ranked by {figure.name}"
    return _with_intervals(Grid.of(title, columns, ranking(listed, figure)), listed)


def log_grid(log: str, listed: Sequence[Standing]) -> Grid:
    """Return the table of a log: the figures of each dispatcher with their intervals."""
    own = [s for s in listed if s.log == log]
    columns: list[Column | None] = [Column("dispatcher", lambda s: s.dispatcher, words=True)]
    for figure in FIGURES.values():
        columns += _figure_columns(_in_fitting_unit(figure, own))
    columns += [
        Column("ms a\ndecision", lambda s: s.ms, short, "ms a decision: mean wall time", spare=1),
        Column("failure", lambda s: s.failure, words=True) if any(s.failure for s in own) else None,
    ]
    return _with_intervals(replace(Grid.of(f"{log}, {_jobs_of(own)}", columns, own), notes=tuple(_why_fewer(own))), own)


def _jobs_of(own: Sequence[Standing]) -> str:
    """Return how many jobs of a log were replayed, and how many of them started where some did not."""
    there = [s for s in own if s.replayed is not None]
    jobs = max((s.jobs for s in there), default=0)
    started = {s.started for s in there}
    if started <= {jobs}:
        return how_many(jobs, "job", ",")
    least, most = min(started), max(started)
    return f"{how_many(jobs, 'job', ',')}, of which {least:,}{f' to {most:,}' if most > least else ''} started"


def _why_fewer(own: Sequence[Standing]) -> Iterator[str]:
    """Yield a line on the jobs that did not start, if there are any."""
    fewer = {s.dispatcher: s.jobs - s.started for s in own if s.replayed is not None and s.started < s.jobs}
    if fewer:
        listed = ", ".join(f"{name} {n:,}" for name, n in fewer.items())
        yield (
            f"not started: {listed} (cancelled while they waited or ran, failed, or without room to the end); the figures are of the other jobs"
        )


def _in_fitting_unit(figure: Figure, own: Sequence[Standing]) -> Figure:
    """Return a figure whose texts have a unit that fits the values of some dispatchers; one that is no time as it is."""
    if not figure.is_time:
        return figure
    unit, length = time_unit(HOUR * max((s.value(figure) or 0.0 for s in own), default=0.0))
    return replace(figure, head=f"{figure.head}, {unit}", form=lambda hours: short(hours * HOUR / length))


def _figure_columns(figure: Figure) -> list[Column]:
    return [
        Column(figure.head, lambda s: s.value(figure), figure.form, figure.meaning, best=figure.best),
        Column(
            "95 %",
            lambda s: _span(s.interval(figure), figure.form),
            words=True,
            spare=2,
            title=f"95 % of {figure.name}",
        ),
    ]


def classes_grid(log: str, listed: Sequence[Standing]) -> Grid:
    """Return the table of the mean waits of a log by the size of the jobs."""
    own = [s for s in listed if s.log == log and s.replayed is not None]
    named = size_class_names()
    there = sorted({k for s in own if s.replayed is not None for k in size_class(s.replayed.size).tolist()})

    def of_class(k: int) -> Column:
        return Column(named[k], lambda s: _wait_of(s.replayed, k), lambda wait: short(wait / length), best=min)

    waits = [_wait_of(s.replayed, k) for s in own if s.replayed is not None for k in there]
    unit, length = time_unit(max((wait for wait in waits if wait is not None), default=0.0))
    columns = [Column("dispatcher", lambda s: s.dispatcher, words=True), *map(of_class, there)]
    counted = next((s.replayed.size_name for s in own if s.replayed is not None), "units")
    return Grid.of(f"{log}: mean wait in {unit} by {counted} of the job", columns, own)


def _wait_of(replayed: Replayed, k: int) -> float | None:
    chosen = size_class(replayed.size) == k
    if chosen.any():
        return float(replayed.wait[chosen].mean())
    return None


def _span(interval: tuple[float, float] | None, form: Callable[[float], str]) -> str | None:
    if interval is None or isnan(interval[0]):
        return None
    return f"{form(interval[0])}..{form(interval[1])}"


def _with_intervals(grid: Grid, listed: Sequence[Standing]) -> Grid:
    texts = dict.fromkeys(s.blocks.text for s in listed if s.blocks is not None)
    if not texts:
        return grid
    meaning = f"95 %: percentile interval of a moving-block bootstrap [Kunsch1989] over {'; '.join(texts)}"
    return replace(grid, meaning=f"{grid.meaning.removesuffix('.')}; {meaning}.")


def rows_of(listed: Sequence[Standing]) -> list[dict[str, Any]]:
    """Return a row per log and dispatcher for CSV and pandas: the figures and the ends of their intervals."""
    rows = []
    for s in listed:
        row: dict[str, Any] = {"log": s.log, "dispatcher": s.dispatcher, "ms_a_decision": s.ms, "failure": s.failure}
        for name, figure in FIGURES.items():
            interval = s.interval(figure) or (None, None)
            key = name.replace("-", "_")
            row |= {key: s.value(figure), f"{key}_low": interval[0], f"{key}_high": interval[1]}
        rows.append(row)
    return rows
