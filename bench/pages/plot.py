"""``bench plot``: the replays, eviction problems, profit problems and projects of a folder on one HTML page.

The page needs no network and has no scripts. The same records give the same bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...instances.files.writing import write_whole
from ...models.array_types import Ints
from ...models.step_function import HOUR
from ...models.words import how_many
from ..errors import WrongUse
from ..grid import time_text
from ..kinds import kinds_with
from ..kinds.base import Drawing, bench_kind, by_kind
from ..records.record import platform_of
from ..records.store import Record, files, folders_of_records, jobs_file, no_records, read
from ..tables.dispatchers import dispatcher_columns, dispatchers_grid, further_grids, group_grids, summary
from ..tables.replays import ReplayResults, all_figures, extract_replays
from . import Card, Section, rendered
from .figures import figures_of, statistics_of
from .panels import Chart, Frame, chart, require_matplotlib, side_by_side, with_attempts

if TYPE_CHECKING:
    from ...simulation.outputs import JobsTable

ENDINGS = (".html", ".htm", ".svg")
PALETTE = ("#4c78a8", "#f58518", "#54a24b", "#e45756", "#72b7b2", "#b279a2", "#eeca3b", "#9d755d", "#ff9da6")
OTHERS = "#bab0ac"
LENGTHS = ("short: less than 1 h", "medium: 1 to 5 h", "long: more than 5 h")
COLOURS = ("queue", "user", "length")


@dataclass(frozen=True)
class Legend:
    """What the colours of jobs mean.

    Attributes
    ----------
    what : {"queue", "user", "length"}
        The property of a job that its colour shows.
    values : sequence of str
        The values of that property; the last one may stand for all other values.
    colours : sequence of str
        The colour of each value.
    """

    what: str
    values: Sequence[str]
    colours: Sequence[str]

    def category(self, jobs: JobsTable) -> Ints:
        """Return the index of the colour of each job; the last index (others) for values without their own colour."""
        if self.what == "length":
            return np.searchsorted(np.array([HOUR, 5 * HOUR + 1]), jobs.end - jobs.start, side="right")
        index = {value: k for k, value in enumerate(self.values)}
        kinds = np.array([index.get(getattr(kind, self.what), len(self.values) - 1) for kind in jobs.kinds], np.int64)
        return kinds[jobs.kind]


def plot(
    folder: Path,
    out: Path | None = None,
    colour: str | None = None,
    methods: Sequence[str] = (),
    figure: str | None = None,
) -> tuple[Path, int]:
    """Draw the records of a folder on one HTML page, or its replays as one SVG picture.

    Parameters
    ----------
    folder : Path
        The folder of the records.
    out : Path, optional
        The page; by default plot.html in the folder. A name that ends in .svg: the Gantt charts and curves of the
        replays alone, side by side.
    colour : {"queue", "user", "length"}, optional
        What the colour of a job in a Gantt chart shows; length is its runtime. By default the queue if there are several,
        else the length.
    methods : sequence of str
        The methods whose schedules of profit problems are drawn over time; by default the best search and the best rule.
    figure : str, optional
        A name of ``statistics.FIGURES``: an SVG picture shows this figure of the replays instead of their Gantt charts.

    Returns
    -------
    Path
        The page.
    int
        The number of runs that are drawn.

    Raises
    ------
    WrongUse
        If matplotlib is missing, there is nothing to draw, or a file cannot be read or written.
    UnknownName
        If a method of ``methods`` has no schedule.
    """
    require_matplotlib()
    if colour is not None and colour not in COLOURS:
        raise WrongUse(f"--colour {colour}: expected {', '.join(COLOURS[:-1])} or {COLOURS[-1]}")
    path = out or folder / "plot.html"
    if figure is None and path.suffix.lower() not in ENDINGS:
        raise WrongUse(f"--out {out}: this is a page, or a picture as SVG; expected a name that ends in .html or .svg")
    if out is not None and not out.parent.is_dir():
        raise WrongUse(f"--out {out}: cannot be written (there is no folder {out.parent})")
    replays, others = _read_replays(folder)
    if figure is not None:
        pictures = figures_of(replays, folder, figure, path)
        return _save(path, side_by_side(pictures)), sum(len(results.rows) for _, results in replays)
    drawings = [(title, results, drawn) for title, results in replays if (drawn := _to_draw(results))]
    charts = [_draw(folder, title, results, drawn, colour) for title, results, drawn in drawings]
    if path.suffix.lower() == ".svg":
        return _save(path, _picture(path, charts)), sum(len(drawing.charts) for drawing in charts)
    sections = [
        _section(title, results, drawing, folder) for (title, results, _), drawing in zip(drawings, charts, strict=True)
    ]
    others_drawn = [drawing for drawing in _of_kinds(others, methods) if drawing.sections]
    sections += [section for drawing in others_drawn for section in drawing.sections]
    if not sections:
        raise WrongUse(
            f"{folder}: no replays among its records, and no runs of an eviction or profit problem or of a project: there is nothing to draw; "
            "bench simulate writes replays, and bench run does so for dispatchers such as easy"
        )
    what = "dispatchers side by side"
    if not drawings:
        what = others_drawn[0].caption
    page = rendered("plot.html", title=folder.resolve().name, what=what, sections=sections)
    return _save(path, page), sum(len(drawn) for *_, drawn in drawings) + sum(drawing.runs for drawing in others_drawn)


def replay_sections(folder: Path, records: Iterable[Record]) -> list[str]:
    """Return HTML sections with the tables, Gantt charts and statistics of replays, one for each workload.

    Parameters
    ----------
    folder : Path
        The folder of the records, which has the jobs files.
    records : iterable of Record
        The records; those of other runs are left out.

    Raises
    ------
    WrongUse
        If matplotlib is missing, or a jobs file cannot be read.
    """
    replays, _ = extract_replays(records)
    drawings = [(title, results, _to_draw(results)) for title, results in replays]
    if drawings:
        require_matplotlib()
    return [
        _section(title, results, _draw(folder, title, results, drawn, None) if drawn else None, folder)
        for title, results, drawn in drawings
    ]


def _of_kinds(records: Iterable[Record], methods: Sequence[str]) -> list[Drawing]:
    """Draw the records that are no replays by their problem kinds; raise WrongUse if ``methods`` fit no kind."""
    records_by_kind = by_kind(records)
    if methods and not any(bench_kind(name).compared_in_plots for name in records_by_kind):
        kinds = " and ".join(kinds_with(lambda kind: kind.compared_in_plots))
        raise WrongUse(f"--methods: only for {kinds} problems, but no record has a schedule of a {kinds} problem")
    return [
        bench_kind(name).draw(members, methods if bench_kind(name).compared_in_plots else ())
        for name, members in records_by_kind.items()
    ]


def _save(path: Path, text: str) -> Path:
    try:
        write_whole(path, text)
    except OSError as e:
        raise WrongUse(f"--out {path}: cannot be written ({e.strerror})") from e
    return path


def _picture(path: Path, charts: Sequence[_Charts]) -> str:
    """Return the charts of the replays as one SVG document."""
    pictures = [(name, made.svg) for drawing in charts for name, _, made in drawing.charts]
    if not pictures:
        raise WrongUse(
            f"--out {path}: an SVG picture shows replays, and there are none; write a page, such as plot.html"
        )
    return side_by_side(pictures)


def _read_replays(folder: Path) -> tuple[list[tuple[str, ReplayResults]], list[Record]]:
    """Read the records of a folder: the results of replays, each with its title, and all other records."""
    paths = files(folder)
    if not paths and folders_of_records(folder):
        raise no_records(folder)
    try:
        return extract_replays(sorted(map(read, paths), key=lambda r: str(r.get("started"))))
    except ValueError as e:
        raise WrongUse(str(e)) from e
    except (KeyError, TypeError) as e:
        raise WrongUse(
            f"{folder}: a record was written by another version of the bench ({e}); run it again with --again"
        ) from e


def _to_draw(results: ReplayResults) -> list[Record]:
    """Return one replay of each dispatcher, that of its first seed."""
    drawn: dict[str, Record] = {}
    for r in sorted(results.records, key=lambda r: int(r["seed"])):
        if r.get("jobs_csv") and r.get("simulation"):
            drawn.setdefault(r["method"], r)
    return [drawn[row.name] for row in results.rows if row.name in drawn]


class _Charts(NamedTuple):
    """The charts of some replays of the same jobs, on the same axes: (name, record, chart) of each."""

    lead: str
    legend: Legend
    charts: list[tuple[str, Record, Chart]]


def _draw(folder: Path, title: str, results: ReplayResults, drawn: Sequence[Record], colour: str | None) -> _Charts:
    """Draw one chart per record."""
    replays = [_jobs(folder, r) for r in drawn]
    platform = platform_of(drawn[0]["simulation"]["platform"])
    frame = Frame(
        platform,
        min(int(jobs.submit.min()) for jobs in replays),
        max(int(max(jobs.end.max(), jobs.submit.max() + 1)) for jobs in replays),
        max(_longest(jobs, _left_at(r)) for r, jobs in zip(drawn, replays, strict=True)),
    )
    legend = legend_of(replays, colour)
    charts = []
    for record, jobs in zip(drawn, replays, strict=True):
        if _seeds(results, record) > 1:
            name = f"{record['method']}, seed {record['seed']}"
        else:
            name = str(record["method"])
        runs, areas = with_attempts(jobs, record, folder, platform)
        made = chart(frame, runs, legend.category(runs), legend.colours, f"{title}: {name}", areas, _left_at(record))
        charts.append((name, record, made))
    resources = ", ".join(f"{platform.total(r):,} {r}{' (MB)' if r == 'memory' else ''}" for r in platform.resources)
    lead = f"{how_many(len(replays[0]), 'job', ',')} on {how_many(len(platform.nodes), 'node', ',')} with {resources}. All charts have the same axes."
    return _Charts(lead, legend, charts)


def _section(title: str, results: ReplayResults, drawing: _Charts | None, folder: Path) -> str:
    """Return the section of a workload; one whose replays left no jobs has its first table alone."""
    table = dispatchers_grid("", results, dispatcher_columns(results))
    if drawing is None:
        return Section(title, table=table).html()
    remarks = dict.fromkeys(note for *_, made in drawing.charts for note in made.notes)
    return Section(
        title,
        lead=drawing.lead,
        table=table,
        notes=[table.meaning, *(line.plain for line in summary(results))],
        grids=further_grids(results),
        details="All figures",
        folded=[*all_figures(results), *group_grids(results)],
        colours=_swatches(drawing.legend),
        cards=[_card(*each) for each in drawing.charts],
        remarks=[f"{note[0].upper()}{note[1:]}." for note in remarks],
        statistics=[Card("", f"{c[0].upper()}{c[1:]}", svg) for c, svg in statistics_of(results, folder)],
    ).html()


def _jobs(folder: Path, record: Mapping[str, Any]) -> JobsTable:
    from ...simulation.outputs import JobsError, read_jobs

    path = folder / str(record["jobs_csv"])
    try:
        jobs = read_jobs(jobs_file(folder, record))
    except (JobsError, OSError, ValueError) as e:
        if not isinstance(e, OSError):
            cause = e.__cause__
        else:
            cause = e
        if not isinstance(cause, OSError):
            raise WrongUse(str(e)) from e
        raise WrongUse(
            f"{path}: cannot be read ({cause.strerror}); this file has the jobs of {record['method']}, "
            f"seed {record['seed']}: run it again"
        ) from e
    expected = record["simulation"].get("jobs")  # jobs that run at the begin of the replay are further rows
    if isinstance(expected, int) and len(jobs) < expected:
        raise WrongUse(
            f"{path}: it has {len(jobs):,} of {how_many(expected, 'job', ',')}; it was cut off or changed: run it again"
        )
    return jobs


def _longest(jobs: JobsTable, left: Ints) -> int:
    from ...simulation.curves import waiting

    return int(waiting(jobs.submit, jobs.start, left)[1].max(initial=0))


def _left_at(record: Mapping[str, Any]) -> Ints:
    """Return the seconds at which jobs left the queue without a start."""
    return np.array(list(((record.get("production") or {}).get("left_at") or {}).values()), np.int64)


def _seeds(results: ReplayResults, record: Mapping[str, Any]) -> int:
    return sum(r["method"] == record["method"] for r in results.records)


def legend_of(replays: Sequence[JobsTable], colour: str | None) -> Legend:
    """Return the colours of the jobs, the same in all replays. The nine most frequent values have their own colour."""
    queues = {kind.queue for kind in replays[0].kinds}
    what = colour or ("queue" if len(queues) > 1 else "length")
    if what == "length":
        return Legend(what, LENGTHS, PALETTE[: len(LENGTHS)])
    jobs = replays[0]
    count: Counter[str] = Counter()
    for kind, n in zip(jobs.kinds, np.bincount(jobs.kind, minlength=len(jobs.kinds)).tolist(), strict=True):
        count[getattr(kind, what)] += n
    common = sorted(count, key=lambda value: (-count[value], value))[: len(PALETTE)]
    left = len(count) - len(common)
    others = []
    if left:
        others = [(how_many(left, "other"), OTHERS)]
    pairs = [*zip(sorted(common), PALETTE, strict=False), *others]
    return Legend(what, [value for value, _ in pairs], [c for _, c in pairs])


def _card(name: str, record: Mapping[str, Any], picture: Chart) -> Card:
    known = record.get("metrics") or {}
    waits = {"mean wait": known.get("wait_mean"), "max wait": known.get("wait_max")}
    texts = [f"{what} {time_text(seconds, 2)}" for what, seconds in waits.items() if seconds is not None]
    if known.get("slowdown_mean") is not None:
        texts.append(f"mean slowdown {known['slowdown_mean']:,.1f}")
    failure = ""
    if record["status"] == "error":
        failure = str(record["message"])
    return Card(name, ", ".join(texts), picture.svg, failure)


def _swatches(legend: Legend) -> tuple[str, list[tuple[str, str]]]:
    what = "length (runtime)"
    if legend.what != "length":
        what = legend.what
    pairs = zip(legend.colours, legend.values, strict=True)
    return f"Colour of a job: {what}", [(colour, value or "(none)") for colour, value in pairs]
