"""``bench plot``: the replays, eviction problems, profit problems and projects of a folder on one HTML page.

The page needs no network and has no scripts. The same records give the same bytes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files as package_files
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...instances.files.writing import write_whole
from ...models.array_types import Ints
from ...models.counts import how_many
from ...models.step_function import HOUR
from ..errors import WrongUse
from ..kinds.base import Drawing, bench_kind
from ..kinds.find import kinds_with
from ..records.record import platform_of
from ..records.store import Record, files, jobs_file, read
from ..tables.replay_figures import TextGrid, all_figures
from ..tables.replay_groups import group_grids
from ..tables.replay_report import grids_of, summary
from ..tables.replays import RECORDED, ReplayResults, best_of, columns_of, extract_replays, key_of
from ..tables.report import by_kind
from .charts import Chart, Frame, chart
from .panels import with_attempts
from .statistics import figures_of, statistics_of
from .svg import require_matplotlib, side_by_side

if TYPE_CHECKING:
    from ...simulation.outputs.reading import JobsTable

ENDINGS = (".html", ".htm", ".svg")
TEMPLATE = "plot.html"
PALETTE = ("#4c78a8", "#f58518", "#54a24b", "#e45756", "#72b7b2", "#b279a2", "#eeca3b", "#9d755d", "#ff9da6")
OTHERS = "#bab0ac"
BEST = ' class="best"'
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
    found, others = _read_replays(folder)
    if figure is not None:
        pictures = figures_of(found, folder, figure, path)
        return _save(path, side_by_side(pictures)), sum(len(results.rows) for _, results in found)
    drawings = [(title, results, drawn) for title, results in found if (drawn := _to_draw(results))]
    charts = [_draw(folder, title, results, drawn, colour) for title, results, drawn in drawings]
    if path.suffix.lower() == ".svg":
        return _save(path, _picture(path, charts)), sum(len(drawing.charts) for drawing in charts)
    sections = _sections(folder, drawings, charts)
    others_drawn = [drawing for drawing in _of_kinds(others, methods) if drawing.sections]
    sections += [section for drawing in others_drawn for section in drawing.sections]
    if not sections:
        raise WrongUse(
            f"{folder}: no replays among its records, and no runs of an eviction or profit problem or of a project: there is nothing to draw; "
            "bench simulate writes replays, and bench run does so for dispatchers such as easy"
        )
    template = Template(package_files(__package__).joinpath(TEMPLATE).read_text(encoding="utf-8"))
    what = "dispatchers side by side" if drawings else others_drawn[0].caption
    page = template.substitute(title=escape(folder.resolve().name), what=what, sections="\n".join(sections))
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
    found, _ = extract_replays(records)
    drawings = [(title, results, _to_draw(results)) for title, results in found]
    if drawings:
        require_matplotlib()
    return _sections(folder, drawings, [_draw(folder, *drawing, None) if drawing[2] else None for drawing in drawings])


Drawings = Sequence[tuple[str, ReplayResults, Sequence[Record]]]


def _sections(folder: Path, drawings: Drawings, charts: Sequence[_Charts | None]) -> list[str]:
    """Return the section of each workload; one whose replays left no jobs has tables alone."""
    return [
        f"<section><h2>{escape(title)}</h2>{_table(results)}</section>"
        if made is None
        else _section(title, results, made, statistics_of(results, folder))
        for (title, results, _), made in zip(drawings, charts, strict=True)
    ]


def _of_kinds(records: Iterable[Record], methods: Sequence[str]) -> list[Drawing]:
    """Draw the records that are no replays by their problem kinds; raise WrongUse if ``methods`` fit no kind."""
    found = by_kind(records)
    if methods and not any(bench_kind(name).compared_in_plots for name in found):
        kinds = " and ".join(kinds_with(lambda kind: kind.compared_in_plots))
        raise WrongUse(f"--methods: only for {kinds} problems, but no record has a schedule of a {kinds} problem")
    return [
        bench_kind(name).draw(members, methods if bench_kind(name).compared_in_plots else ())
        for name, members in found.items()
    ]


def _save(path: Path, text: str) -> Path:
    try:
        write_whole(path, text)
    except OSError as e:
        raise WrongUse(f"--out {path}: cannot be written ({e.strerror})") from e
    return path


def _picture(path: Path, charts: Sequence[_Charts]) -> str:
    """Return the charts of the replays as one SVG document."""
    found = [(name, made.svg) for drawing in charts for name, _, made in drawing.charts]
    if not found:
        raise WrongUse(
            f"--out {path}: an SVG picture shows replays, and there are none; write a page, such as plot.html"
        )
    return side_by_side(found)


def _read_replays(folder: Path) -> tuple[list[tuple[str, ReplayResults]], list[Record]]:
    """Read the records of a folder: the results of replays, each with its title, and all other records."""
    try:
        return extract_replays(sorted(map(read, files(folder)), key=lambda r: str(r.get("started"))))
    except ValueError as e:
        raise WrongUse(str(e)) from e
    except (KeyError, TypeError) as e:
        raise WrongUse(
            f"{folder}: a record was written by another version of the bench ({e}); run it again with --again"
        ) from e


def _to_draw(results: ReplayResults) -> list[Record]:
    """Return one replay of each dispatcher, that of its first seed."""
    found: dict[str, Record] = {}
    for r in sorted(results.records, key=lambda r: int(r["seed"])):
        if r.get("jobs_csv") and r.get("simulation"):
            found.setdefault(r["method"], r)
    return [found[row.name] for row in results.rows if row.name in found]


class _Charts(NamedTuple):
    """The charts of some replays of the same jobs, on the same axes: (name, record, chart) of each."""

    lead: str
    legend: Legend
    charts: list[tuple[str, Record, Chart]]


def _draw(folder: Path, title: str, results: ReplayResults, drawn: Sequence[Record], colour: str | None) -> _Charts:
    """Draw one chart per record."""
    replays, platform = [_jobs(folder, r) for r in drawn], platform_of(drawn[0]["simulation"]["platform"])
    frame = Frame(
        platform,
        min(int(jobs.submit.min()) for jobs in replays),
        max(int(max(jobs.end.max(), jobs.submit.max() + 1)) for jobs in replays),
        max(_longest(jobs, _left_at(r)) for r, jobs in zip(drawn, replays, strict=True)),
    )
    legend = legend_of(replays, colour)
    charts = []
    for record, jobs in zip(drawn, replays, strict=True):
        name = f"{record['method']}, seed {record['seed']}" if _seeds(results, record) > 1 else str(record["method"])
        runs, areas = with_attempts(jobs, record, folder, platform)
        made = chart(frame, runs, legend.category(runs), legend.colours, f"{title}: {name}", areas, _left_at(record))
        charts.append((name, record, made))
    resources = ", ".join(f"{platform.total(r):,} {r}{' (MB)' if r == 'memory' else ''}" for r in platform.resources)
    lead = f"{how_many(len(replays[0]), 'job', ',')} on {how_many(len(platform.nodes), 'node', ',')} with {resources}. All charts have the same axes."
    return _Charts(lead, legend, charts)


def _section(title: str, results: ReplayResults, drawing: _Charts, statistics: Sequence[tuple[str, str]]) -> str:
    """Return the HTML section of some replays: tables, meaning of the colours, a card per dispatcher, statistics."""
    notes = dict.fromkeys(note for *_, made in drawing.charts for note in made.notes)
    cards = "".join(_card(*each) for each in drawing.charts)
    return "\n".join(
        [
            f"<section><h2>{escape(title)}</h2><p>{escape(drawing.lead)}</p>",
            _table(results),
            _list([key_of(columns_of(results)), *(line.plain for line in summary(results))]),
            *map(_grid, grids_of(results)),
            f"<details><summary>All figures</summary>{''.join(map(_grid, [*all_figures(results), *group_grids(results)]))}</details>",
            _swatches(drawing.legend),
            f'<div class="cards">{cards}</div>',
            _list(f"{note[0].upper()}{note[1:]}." for note in notes),
            f'<h3>Statistics</h3><div class="cards">{"".join(_figure(*each) for each in statistics)}</div>',
            "</section>",
        ]
    )


def _figure(caption: str, svg: str) -> str:
    return f"<figure><figcaption>{escape(caption[0].upper() + caption[1:])}</figcaption>{svg}</figure>"


def _jobs(folder: Path, record: Mapping[str, Any]) -> JobsTable:
    from ...simulation.outputs.reading import JobsError, read_jobs

    path = folder / str(record["jobs_csv"])
    try:
        jobs = read_jobs(jobs_file(folder, record))
    except (JobsError, OSError, ValueError) as e:
        cause = e if isinstance(e, OSError) else e.__cause__
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
    others = [(how_many(left, "other"), OTHERS)] if left else []
    pairs = [*zip(sorted(common), PALETTE, strict=False), *others]
    return Legend(what, [value for value, _ in pairs], [c for _, c in pairs])


def _card(name: str, record: Mapping[str, Any], picture: Chart) -> str:
    known = record.get("metrics") or {}
    figures: list[tuple[str, str, Callable[[float], str]]] = [
        ("mean wait", "wait_mean", lambda v: f"{v / HOUR:,.2f} h"),
        ("max wait", "wait_max", lambda v: f"{v / HOUR:,.2f} h"),
        ("mean slowdown", "slowdown_mean", lambda v: f"{v:,.1f}"),
    ]
    text = ", ".join(f"{what} {written(known[key])}" for what, key, written in figures if known.get(key) is not None)
    failure = f'<p class="failed">{escape(str(record["message"]))}</p>' if record["status"] == "error" else ""
    return f"<figure><figcaption><b>{escape(name)}</b> {escape(text)}</figcaption>{failure}{picture.svg}</figure>"


def _table(results: ReplayResults) -> str:
    """Return the table that the bench prints as HTML, with all columns; the best value of a column is bold."""
    columns = columns_of(results)
    best = [best_of(column, results.rows) for column in columns]
    heads = (_head(c.name, c.meaning) for c in columns)
    rows = [f"<tr><th>dispatcher</th>{''.join(heads)}<th>verified</th></tr>"]
    for row in results.rows:
        cells = []
        for column, value in zip(columns, best, strict=True):
            mine = column.figure(row) if column.figure is not None else None
            won = mine is not None and mine == value and row.name != RECORDED
            cells.append(f"<td{BEST if won else ''}>{escape(column.cell(row))}</td>")
        rows.append(f"<tr><th>{escape(row.name)}</th>{''.join(cells)}<td>{escape(row.verdict.plain)}</td></tr>")
    return f"<table>{''.join(rows)}</table>"


def _grid(grid: TextGrid) -> str:
    """Return a grid as HTML, with its title and the meaning of its columns; "" if it has no rows."""
    if not grid.rows:
        return ""
    heads = "".join(_head(head.replace("\n", " ")) for head in grid.heads)
    rows = (
        f"<tr><th>{escape(first)}</th>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
        for first, *cells in grid.rows
    )
    return f"<h3>{escape(grid.title)}</h3><table><tr>{heads}</tr>{''.join(rows)}</table>{_list([grid.meaning])}"


def _head(name: str, meaning: str = "") -> str:
    tooltip = f' title="{escape(meaning, quote=True)}"' if meaning else ""
    return (
        f"<th{tooltip}>{re.sub(' (?=m?s$)', '&nbsp;', escape(name))}</th>"  # no line break between a name and its unit
    )


def _swatches(legend: Legend) -> str:
    what = "length (runtime)" if legend.what == "length" else legend.what
    items = "".join(
        f'<li><span style="background:{colour}"></span>{escape(value or "(none)")}</li>'
        for value, colour in zip(legend.values, legend.colours, strict=True)
    )
    return f'<ul class="legend"><li>Colour of a job: {escape(what)}</li>{items}</ul>'


def _list(lines: Iterable[str]) -> str:
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f'<ul class="notes">{items}</ul>' if items else ""
