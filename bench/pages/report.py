"""The report of a folder of records: one HTML page without network, or tables and figures for a paper.

The page has what is needed to repeat the runs. For a paper there are LaTeX tables (booktabs), PDF figures, a CSV file behind each.
"""

from __future__ import annotations

import io
import json
import math
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import partial
from itertools import pairwise
from math import isfinite
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from ...errors import SchedlabError
from ...instances import load
from ...instances.files.writing import to_csv, write_whole
from ...models.array_types import Floats
from ...models.gantt import SHADES, Cells, Gantt, RowPositions, colours_of, gantt_of_schedule, time_unit
from ...models.kind import find
from ...models.words import how_many
from ..errors import WrongUse
from ..grid import Column, Grid, fixed, latex_text, number
from ..kinds.base import bench_kind
from ..records.verify import Instances
from ..replays.settings import ReplaySettings
from ..runs.view import View
from ..statistics.comparison import MethodStatistics, statistics_of
from ..statistics.measures import (
    PROOF,
    STATES,
    Goal,
    ProblemRuns,
    ProfileChart,
    RunOutcome,
    Sample,
    gap,
    gap_to_known,
    name_of,
    primal_integral,
    profile_charts,
    sample_of,
)
from ..tables.methods import (
    MEANING,
    MEANING_OF_BETTER,
    MEANING_OF_KNOWN,
    against_grid,
    best_of,
    better_grid,
    lacking,
    of_kind,
)
from . import rendered
from .figures import draw_chart
from .panels import require_matplotlib, styled

# --- The commands that make the records of a folder again, and the machines and versions that they ran on.

Records = Sequence[Mapping[str, Any]]
UNSAID = ("trace", "_content", "_source", "most_power")  # fields of replays that follow from others


def commands(records: Records) -> list[str]:
    """Return commands of ``bench run`` and ``bench simulate`` that together make all records again, and nothing else.

    Instances are joined in one command if their runs have equal methods, seeds, limits and views. Replays of DARDIS over a
    network are left out.

    Parameters
    ----------
    records
        The records.

    Returns
    -------
    list of str
    """
    seeds: dict[tuple[str, str, tuple[str, ...]], list[int]] = {}  # of each path and method with its options
    for r in records:
        if r["replay"] is None:
            seeds.setdefault((r["path"], r["method"], _options(r)), []).append(r["seed"])
    methods: dict[tuple[str, tuple[str, ...], tuple[int, ...]], list[str]] = {}
    for (path, method, options), seeds_run in seeds.items():
        methods.setdefault((path, options, tuple(sorted(set(seeds_run)))), []).append(method)
    paths: dict[tuple[tuple[str, ...], tuple[int, ...], tuple[str, ...]], list[str]] = {}
    for (path, options, own), names in methods.items():
        paths.setdefault((options, own, tuple(sorted(set(names)))), []).append(path)
    runs = [
        shlex.join(
            ["bench", "run", *seeds_run, "--methods", ",".join(names), "--seeds", ",".join(map(str, own)), *options]
        )
        for (options, own, names), seeds_run in paths.items()
    ]
    return runs + _replays(records)


def _replays(records: Records) -> list[str]:
    """Return the commands of ``bench simulate``; dispatchers with equal seeds and options are joined."""
    seeds: dict[tuple[str, str, tuple[str, ...]], list[int]] = {}  # of each path and dispatcher with its options
    for r in records:
        if r["replay"] is not None and r["replay"].get("network") is None:
            seeds.setdefault((r["path"], r["method"], _options_of_replay(r)), []).append(r["seed"])
    joined: dict[tuple[str, tuple[str, ...], tuple[int, ...]], list[str]] = {}
    for (path, method, options), seeds_run in seeds.items():
        joined.setdefault((path, options, tuple(sorted(set(seeds_run)))), []).append(method)
    return [
        shlex.join(
            ["bench", "simulate", path, "--dispatchers", ",".join(names), "--seeds", ",".join(map(str, own)), *options]
        )
        for (path, options, own), names in joined.items()
    ]


def _options_of_replay(record: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the options of ``bench simulate`` that give the settings of a replay."""
    settings = ReplaySettings(**record["replay"])
    usual = ReplaySettings()
    words: list[str] = []
    for field in fields(ReplaySettings):
        value = getattr(settings, field.name)
        if value is None or value == getattr(usual, field.name) or field.name.endswith(UNSAID):
            continue
        words += [f"--{field.name.replace('_', '-')}", *([] if value is True else [_text(value)])]
    given = {"first": record["view"]["first"], "time-limit": record["time_limit"], "threads": record["threads"]}
    words += [word for name, value in given.items() if value is not None for word in (f"--{name}", _text(value))]
    if record["drop_impossible"]:
        return (*words, "--drop-impossible")
    return tuple(words)


def machines(records: Records) -> list[str]:
    """Return a line for each machine and set of versions, with its number of runs."""
    counts: dict[str, int] = {}
    for r in records:
        host = r.get("host") or {}
        parts = [
            host.get("cpu") or "unknown processor",
            f"{host['cores']} cores" if host.get("cores") else "",
            f"{host['memory_gb']:g} GB" if host.get("memory_gb") else "",
            host.get("system") or "",
            f"Python {r['python']}",
            f"schedlab {r['schedlab']}",
            "" if r["solver"] == "schedlab" else f"{r['solver']} {r['version'] or '(not installed)'}",
        ]
        line = ", ".join(filter(None, parts))
        counts[line] = counts.get(line, 0) + 1
    return [f"{line}: {how_many(n, 'run')}" for line, n in counts.items()]


def _options(record: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the options of ``bench run`` that give the part of the instance and the limits of a record."""
    view = View(**record["view"])
    values = {
        "time-limit": record["time_limit"],
        "threads": record["threads"],
        "memory": record["memory_gb"],
        "at": view.at,
        "first": view.first,
        "durations": None if view.durations == "walltime" else view.durations,
        "objective": view.objective,
        "nodes-needed": view.nodes_needed,
        "scenario": view.scenario,
        "keep": view.keep,
        "desired": view.desired,
        "profile": None if view.over_cost is None else f"soft:{view.over_cost:g}",
    }
    words = [word for name, v in values.items() if v is not None for word in (f"--{name}", _text(v))]
    if record["drop_impossible"]:
        return (*words, "--drop-impossible")
    return tuple(words)


def _text(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.15g}"
    return str(value)


# --- What the page of a report shows, as plain data: statistics, curves, problems, runs with their traces.

EXPLAINED = (
    f"{MEANING[0].upper()}{MEANING[1:]} In the profiles, a run without an answer never reaches its goal; a curve ends at the time "
    "limit."
)
ABOUT_PROBLEMS = (
    "best found: the best verified objective of these runs; best known: the value of the literature; bound: the best bound of these "
    "runs that no schedule refutes; solved, proven: runs with a verified schedule, with a proof."
)
ABOUT_RUNS = (
    "state: as in the table of methods; gap %: to the better one of best found and best known, 100 without a verified schedule; "
    "gap to known %: below 0 if better; seconds: of the whole run, building and lowering of those."
)
ABOUT_OBJECTIVES = "The median over the seeds; nothing if a run has no verified schedule."
BUDGET = 8_000_000  # characters of all traces: with the rest, 10,000 runs stay below 15 MB
LONGEST = 100  # most steps of a trace
STEP = 22  # characters of a step, at most about this


def content_of(
    records: Sequence[Mapping[str, Any]],
    known: Mapping[str, float],
    title: str,
    instances: Instances | None = None,
    goal: Goal = PROOF,
    part: Callable[[Sample], Sample] = lambda sample: sample,
    notes: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the content of the page.

    Parameters
    ----------
    records
        The records.
    known
        Instance -> best-known value.
    title
        The name of the folder.
    instances
        The instances for the Gantt charts; None: they are read from the paths in the records.
    goal
        What the times count to.
    part
        Returns the part of the sample that the page is about.
    notes
        Further lines about the data, such as the sources of the best-known values.

    Returns
    -------
    dict
        Lists, texts and numbers, as JSON can represent them; None is unknown or infinite.
    """
    sample = part(sample_of(records, known))
    runs = sum(len(runs_of_method) for p in sample.problems for runs_of_method in p.runs.values())
    charts = charts_of(records, sample.problems, instances or Instances(load))
    most = max(2, min(LONGEST, BUDGET // (STEP * max(1, runs))))
    return {
        "title": title,
        "notes": [*sample.notes, *notes, *notes_of(sample.problems, charts)],
        "machines": machines(records),
        "commands": commands(records),
        "states": list(STATES),
        "methods": list(sample.methods),
        "kinds": [_kind(of_kind(sample, kind), goal) for kind in dict.fromkeys(p.kind for p in sample.problems)],
        "problems": [_problem(p) for p in sample.problems],
        "charts": charts,
        "runs": [
            _run(p, i, k, seed, run, most)
            for i, p in enumerate(sample.problems)
            for k, method in enumerate(sample.methods)
            for seed, run in zip(sample.seeds[method], p.runs[method], strict=True)
            if any(o.state != "missing" for o in p.runs[method]) or p.kind in _kinds_of(sample, method)
        ],
    }


def _kinds_of(sample: Sample, method: str) -> set[str]:
    """Return the kinds of which a method has a record; on the others its runs are not expected."""
    return {p.kind for p in sample.problems if any(o.state != "missing" for o in p.runs[method])}


FIGURES: tuple[Column, ...] = (
    Column("method", lambda s: s.method, words=True),
    Column("runs", lambda s: s.runs),
    Column("solved", lambda s: s.answered),
    Column("proven", lambda s: s.states["proven"]),
    Column("lacking", lambda s: lacking(s)),
    Column("time s", lambda s: _short(s.time)),
    Column("scaled", lambda s: _short(s.scaled)),
    Column("PAR2 s", lambda s: _short(s.par2)),
    Column("PAR10 s", lambda s: _short(s.par10)),
    Column("gap %", lambda s: _short(100 * s.gap)),
    Column("gap to bound %", lambda s: _short(100 * s.gap_bound)),
    Column("gap to known %", lambda s: _short(100 * s.gap_known)),
    Column("primal %", lambda s: _short(100 * s.primal)),
    Column("dual %", lambda s: _short(100 * s.dual)),
    Column("wins", lambda s: s.wins),
    Column("Borda", lambda s: _short(s.borda)),
    Column("MiniZinc", lambda s: _short(s.minizinc)),
    Column("virtual best %", lambda s: _short(100 * s.share)),
    Column("only", lambda s: s.only),
)


def _kind(sample: Sample, goal: Goal) -> dict[str, Any]:
    return {
        "name": sample.problems[0].kind,
        "title": f"{goal.text}, shift {goal.shift:g} s",
        **_heads_and_rows(_figures(statistics_of(sample, goal))),
        "against": _heads_and_rows(against_grid("", sample)),
        "better": _heads_and_rows(better_grid("", sample)),
        "objectives": _heads_and_rows(_objectives(sample)),
        "charts": [chart.as_json() for chart in profile_charts(sample, goal)],
    }


def _figures(methods: Sequence[MethodStatistics]) -> Grid:
    """Return the table of the methods, without the columns of which nothing is known."""
    grid = Grid.of("", FIGURES, methods)
    known = [any(row[k] is not None for row in grid.rows) for k in range(len(FIGURES))]
    shown = [column for column, has in zip(FIGURES, known, strict=True) if has]
    return Grid.of("", shown, methods)


def _heads_and_rows(grid: Grid) -> dict[str, Any]:
    rows = [[_short(v) if isinstance(v, float) else v for v in row] for row in grid.values]
    return {"heads": grid.heads, "rows": rows}


def _objectives(sample: Sample) -> Grid:
    """Return a table with the median objective over the seeds of each method on each problem.

    None unless every run has a verified schedule.
    """

    def median_of(problem: ProblemRuns, method: str) -> float | int | None:
        values = [run.objective for run in problem.runs[method]]
        known = [v for v in values if v is not None]
        if known and len(known) == len(values):
            return _short(median(known))
        return None

    columns = [Column(method, partial(median_of, method=method)) for method in sample.methods]
    return Grid.of("", [Column("problem", lambda p: p.name, words=True), *columns], sample.problems)


def _problem(p: ProblemRuns) -> list[Any]:
    """Return [name, kind, limit, best found, bound, best known, the better one of the two]."""
    found = best_of(p, [run for runs in p.runs.values() for run in runs])
    return [p.name, p.kind, *map(_short, (p.limit, found, p.bound, p.known, p.best))]


def _run(p: ProblemRuns, problem: int, method: int, seed: int, run: RunOutcome, most: int) -> list[Any]:
    """Return [problem, method, seed, state, objective, bound, gap, gap to known, primal integral, seconds, steps, building]."""
    measures = [m(p, run) for m in (gap, gap_to_known, primal_integral)]
    steps = run.steps
    if len(steps) > most:  # the first and the last one are kept
        chosen = np.unique(np.linspace(0, len(steps) - 1, most).astype(np.int64))
        steps = tuple(steps[k] for k in chosen)
    flat = [_short(v) for step in steps for v in step]
    state = STATES.index(run.state)
    return [
        problem,
        method,
        seed,
        state,
        _short(run.objective),
        _short(run.bound),
        *map(_short, measures),
        _short(run.seconds),
        flat,
        None if run.state in ("missing", "refused") else _short(run.building),
    ]


def _short(value: float | None) -> float | int | None:
    """Return a number with six digits, which is enough to read and to draw; integers with all; None if it is not finite."""
    if value is None or isinstance(value, int):
        return value
    if not isfinite(value):
        return None
    short = float(f"{value:.6g}")
    if short.is_integer() and abs(short) < 1e15:
        return int(short)
    return short


# --- The tables of a report for other forms than the page.


def report_grids(content: Mapping[str, Any]) -> dict[str, Grid]:
    """Return the tables of a report, each with the name of its file: problems, runs, methods and objectives of each kind."""
    grids = {
        "problems": figures_grid("Problems", PROBLEM_HEADS, _problem_rows(content), ABOUT_PROBLEMS),
        "runs": figures_grid("Runs", RUN_HEADS, _run_rows(content), ABOUT_RUNS),
    }
    for kind in content["kinds"]:
        name = kind["name"]
        title = f"Methods on {name} problems: {kind['title']}"
        quality = f"Quality of schedules and bounds on {name} problems, by method"
        for key, heads, words in (("methods", OF_TIMES, title), ("quality", OF_QUALITY, quality)):
            grids[f"{key}-{name}"] = figures_grid(words, *_columns(kind["heads"], kind["rows"], heads), EXPLAINED)
        for part, words, about in PARTS:
            if kind[part]["rows"] and (part != "against" or kind[part]["rows"][0][1]):
                title = f"{words}: {name} problems"
                grids[f"{part}-{name}"] = figures_grid(title, kind[part]["heads"], kind[part]["rows"], about)
    return grids


PARTS = (  # of a kind: its name in the content, the caption, the notes
    ("objectives", "Median objectives over the seeds", ABOUT_OBJECTIVES),
    ("against", "Methods against the best-known values", MEANING_OF_KNOWN),
    ("better", "Schedules better than the best-known values", MEANING_OF_BETTER),
)


# the columns of the methods in two tables, as one of all is wider than a page
OF_TIMES = ("method", "runs", "solved", "proven", "lacking", "time s", "scaled", "PAR2 s", "PAR10 s", "wins", "only")
OF_QUALITY = (
    "method", "gap %", "gap to bound %", "gap to known %", "primal %", "dual %", "Borda", "MiniZinc", "virtual best %"
)  # fmt: skip


def _columns(
    heads: Sequence[str], rows: Sequence[Sequence[Any]], wanted: Sequence[str]
) -> tuple[list[str], list[list[Any]]]:
    """Return the wanted columns of a table that it has."""
    places = [heads.index(name) for name in wanted if name in heads]
    return [heads[k] for k in places], [[row[k] for k in places] for row in rows]


PROBLEM_HEADS = ("problem", "kind", "limit s", "best found", "bound", "best known", "solved", "proven", "runs")
RUN_HEADS = (
    "problem", "method", "seed", "state", "objective", "bound", "gap %", "gap to known %", "primal integral %", "seconds",
    "building s",
)  # fmt: skip
TEXTS = ("problem", "method", "kind", "state")
TWO_DECIMALS = re.compile(r"%$| s$|^seconds$|^scaled$|^MiniZinc$")  # the heads of shares, times and ratios


def figures_grid(title: str, heads: Sequence[str], rows: Sequence[Sequence[Any]], meaning: str = "") -> Grid:
    """Return a table of numbers: shares, times and ratios with two decimals, others with four digits, whole numbers as such."""
    columns = [Column(head, form=_form_of(head), words=k == 0 or head in TEXTS) for k, head in enumerate(heads)]
    return Grid(title, columns, rows, meaning)


def _form_of(head: str) -> Callable[[float], str]:
    if head == "Borda":  # ties are one half
        return fixed(1)
    if TWO_DECIMALS.search(head) and head != "limit s":
        return fixed(2)
    return four_digits


def four_digits(value: float) -> str:
    """Return a number with four digits, an integer with all its digits."""
    if isinstance(value, int):
        return f"{value:,}"
    if abs(value) >= 1000:
        return f"{value:,.1f}"
    return f"{value:#.4g}".rstrip(".")


def _problem_rows(content: Mapping[str, Any]) -> list[list[Any]]:
    runs: list[list[Any]] = [[] for _ in content["problems"]]
    for run in content["runs"]:
        runs[run[0]].append(run)
    proven = STATES.index("proven")
    return [
        [*problem[:6], sum(run[4] is not None for run in own), sum(run[3] == proven for run in own), len(own)]
        for problem, own in zip(content["problems"], runs, strict=True)
    ]


def _run_rows(content: Mapping[str, Any]) -> list[list[Any]]:
    rows = []
    for problem, method, seed, state, objective, bound, gap_, to_known, primal, took, _, building in content["runs"]:
        names = content["problems"][problem][0], content["methods"][method], seed, STATES[state]
        shares = [None if share is None else 100 * share for share in (gap_, to_known, primal)]
        rows.append([*names, objective, bound, *map(_short, shares), took, building])
    return rows


# --- The HTML page of a report: the content as JSON; its script sorts, filters and draws in the browser.


def page_of(content: Mapping[str, Any], replays: Sequence[str] = ()) -> str:
    """Return the page for ``content_of``. The same content gives the same text.

    ``replays``: HTML sections about replays, which need no script.
    """
    return rendered("report.html", title=content["title"], content=content, replays=replays)


def write_report(path: Path, content: Mapping[str, Any], replays: Sequence[str] = ()) -> int:
    """Write the page and return its size in bytes. Raises WrongUse."""
    text = page_of(content, replays)
    try:
        write_whole(path, text)
    except OSError as e:
        raise WrongUse(f"--out {path}: cannot be written ({e.strerror})") from e
    return len(text.encode())


# --- A Gantt chart as short lists of numbers, which the page of a report draws.

TALL = 1000  # vertical positions are whole numbers from 0 to this
ROWS = 60  # most rows of the grid of a chart with too many bars
COLUMNS = 160  # most columns of it
LEVELS = 5  # steps of its colours
HATCHED = -1.0  # instead of an opacity
OF_GRID = "; here: the colour of the largest share"
LABELS = 40  # most rows with a label
Boxes = dict[tuple[int, float], list[int]]


def packed(chart: Gantt) -> dict[str, Any]:
    """Return a chart as JSON can represent it.

    Parameters
    ----------
    chart
        The chart.

    Returns
    -------
    dict
        ``title``; ``start`` and ``length`` of the period; ``unit``: the name of the unit of the axis, its length, and the time
        at its 0; ``lines``: how tall the chart is, in rows; ``rows``: [position, label]; ``groups``: [name, colour]; ``labels`` of the
        bars; ``marks``: [time, label]; ``closed``: [time, length, label, position, height]; ``boxes``: for each style [group, opacity, numbers], five
        numbers per bar: time, duration, position, height, index of the label (-1: none). The opacity is ``HATCHED`` for what cannot be
        changed. Times are relative to ``start``; positions are from 0 (top) to ``TALL``. A grid has a box for each
        run of cells in a row with one colour: of the group that uses most of them, the stronger the more of them is used.

    Examples
    --------
    >>> from schedlab.models.gantt import Bar, Row
    >>> packed(Gantt((Row("machine 1"),), (Bar(0, 3, 7, "a"),), ("",)))["boxes"]
    [[0, 1.0, [0, 4, 0, 880, 0]]]
    """
    start, end = chart.period
    y = RowPositions(chart)
    labels = {label: k for k, label in enumerate(dict.fromkeys(b.label for b in chart.bars if b.label))}
    if chart.cells is None:
        boxes = _bars(chart, y, start, labels)
    else:
        boxes = _grid(chart.cells, y, start)
    sections = bool(chart.sections) or chart.cells is not None
    return {
        "title": chart.title + (OF_GRID if chart.cells is not None else ""),
        "start": start,
        "length": end - start,
        "unit": list(time_unit(chart)),
        "lines": 18.0 if sections else round(float(y.total), 2),
        "rows": _rows(chart, y),
        "groups": [[n, c] for n, c in zip(chart.groups, colours_of(chart), strict=True)] if chart.legend else [],
        "colours": colours_of(chart),
        "labels": list(labels),
        "marks": [[m.time - start, m.label] for m in chart.marks],
        "closed": _closed(chart, y),
        "boxes": [[group, opacity, numbers] for (group, opacity), numbers in boxes.items()],
    }


def _bars(chart: Gantt, y: RowPositions, start: int, labels: dict[str, int]) -> Boxes:
    boxes: Boxes = {}
    group = {name: k for k, name in enumerate(chart.groups)}
    for bar in chart.bars:
        shade = 0.0
        if chart.distinct:
            shade = SHADES[labels.get(bar.label, 0) % len(SHADES)]
        style = group[bar.group], HATCHED if bar.hatched else round(1 - shade, 2)
        top, bottom = (_tall(at, y) for at in (y.top(bar.row + bar.low), y.bottom(bar.row + bar.high)))
        box = (bar.start - start, bar.end - bar.start, top, max(bottom - top, 1), labels.get(bar.label, -1))
        boxes.setdefault(style, []).extend(box)
    return boxes


def _closed(chart: Gantt, y: RowPositions) -> list[list[Any]]:
    """Return the closed periods within the chart; one of a single row has its position and height, the others those of the chart."""
    begin, over = chart.period
    boxes: list[list[Any]] = []
    for c in chart.closed:
        start = max(c.start, begin)
        end = min(c.end, over)
        top = 0
        if c.row is not None:
            top = _tall(y.top(c.row), y)
        if c.row is None:
            bottom = TALL
        else:
            bottom = _tall(y.bottom(c.row + 1), y)
        if start < end:
            boxes.append([start - begin, end - start, c.label, top, bottom - top])
    return boxes


def _grid(cells: Cells, y: RowPositions, start: int) -> Boxes:
    """Return the runs of equal cells of each row of a grid, which is made coarser first."""
    down, across = (-(-n // most) for n, most in zip(cells.share.shape[1:], (ROWS, COLUMNS), strict=True))
    share = _coarser(_coarser(cells.share, 1, down), 2, across)
    tops = [*y.tops[:-1:down], y.total]
    edges = np.linspace(cells.start, cells.end, cells.share.shape[2] + 1)
    times = np.rint([*edges[:-1:across], edges[-1]]).astype(np.int64) - start
    group = share.argmax(axis=0)
    level = np.rint(LEVELS * np.clip(share.sum(axis=0), 0, 1)).astype(np.int64)
    boxes: Boxes = {}
    for k, (lo, hi) in enumerate(pairwise(tops)):
        top = _tall(lo, y)
        bottom = _tall(hi, y)
        style = np.where(level[k] > 0, (LEVELS + 1) * group[k] + level[k], -1)
        ends = [0, *(np.flatnonzero(np.diff(style)) + 1).tolist(), style.size]
        for a, b in pairwise(ends):
            if style[a] >= 0:
                box = (int(times[a]), int(times[b] - times[a]), top, max(bottom - top, 1), -1)
                boxes.setdefault((int(group[k, a]), int(level[k, a]) / LEVELS), []).extend(box)
    return boxes


def _coarser(share: Floats, axis: int, factor: int) -> Floats:
    """Return the means of ``factor`` neighbours along an axis; the last mean may be of fewer."""
    first = np.arange(0, share.shape[axis], factor)
    size = np.diff([*first, share.shape[axis]])
    coarse: Floats = np.add.reduceat(share, first, axis=axis) / np.expand_dims(size, tuple({0, 1, 2} - {axis}))
    return coarse


def _rows(chart: Gantt, y: RowPositions) -> list[list[Any]]:
    """Return [position of the middle, label] of the sections or rows, as many as there is room for."""
    if chart.sections:
        edges = np.cumsum([0.0, *(s.height for s in chart.sections)]).tolist()
        return [[_tall((lo + hi) / 2, y), s.label] for (lo, hi), s in zip(pairwise(edges), chart.sections, strict=True)]
    every = -(-len(chart.rows) // LABELS)
    middles = [(y.top(k) + y.bottom(k + 1)) / 2 for k in range(len(chart.rows))]
    return [[_tall(at, y), row.label] for at, row in list(zip(middles, chart.rows, strict=True))[::every] if row.label]


def _tall(position: float, y: RowPositions) -> int:
    return round(TALL * position / max(y.total, 1e-9))


# --- The Gantt charts of a report: the best run of each problem, as many as the size of the page allows.

Record = Mapping[str, Any]
# characters of all charts: 200 runs stay below 2 MB, 10,000 below 15 MB
LEAST = 1_000_000
PER_RUN = 300
MOST = 4_000_000
REASONS = 5  # for problems without a chart, which are listed
TOO_LARGE = "its Gantt chart is left out: the page would be too large"
WRONG = (SchedlabError, ValueError, LookupError, TypeError, OSError)  # what records and instances that do not fit raise


def charts_of(
    records: Sequence[Record], problems: Sequence[ProblemRuns], known: Instances, budget: int | None = None
) -> list[dict[str, Any]]:
    """Return the Gantt chart of the best run of each problem.

    The best run has the best objective; of several, the one whose best schedule was found first. If all charts are too large
    for the page, those of the schedules with most jobs are left out.

    Parameters
    ----------
    records
        The records.
    problems
        The problems of their sample.
    known
        The instances. A chart is drawn from the record alone if its kind keeps all data there, else from the instance.
    budget
        Most characters of all charts; None: by the number of records.

    Returns
    -------
    list of dict
        For each problem: ``method``, ``seed``, ``objective``, and ``chart`` (see ``gantt.packed``), or ``why`` there is none.
    """
    if budget is None:
        left = min(LEAST + PER_RUN * len(records), MOST)
    else:
        left = budget
    best = best_runs(records, problems)
    charts: list[dict[str, Any]] = [{"why": "no run has a verified schedule"}] * len(problems)
    order = sorted(best, key=lambda k: (len(best[k]["schedule"]), k))
    for k in order:
        record = best[k]
        if left <= 0:
            charts[k] = {"why": TOO_LARGE}
            continue
        try:
            chart = packed(_chart(record, known))
        except WRONG as e:
            charts[k] = {"why": str(e)}
            continue
        left -= len(json.dumps(chart, separators=(",", ":")))
        if left < 0:  # all others are at least about as large
            charts[k] = {"why": TOO_LARGE}
            left = 0
            continue
        charts[k] = {name: record[name] for name in ("method", "seed", "objective")} | {"chart": chart}
    return charts


def notes_of(problems: Sequence[ProblemRuns], charts: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return lines about the problems without a chart: how many of them for which reason."""
    reasons = Counter(c["why"] for c in charts if "why" in c)
    example = {c["why"]: p.name for p, c in reversed(list(zip(problems, charts, strict=True))) if "why" in c}
    drawn = len(charts) - reasons.total()
    if not reasons:
        return []
    lines = []
    for why, n in reasons.items():
        more = ""
        if n > 1:
            more = ", ..."
        lines.append(f"{n:,} without a Gantt chart ({example[why]}{more}): {why}")
    shown = lines[:REASONS]
    if len(lines) > REASONS:
        shown.append(f"{len(lines) - REASONS:,} more reasons stand beside their problems")
    return [f"Gantt charts of the best runs: {drawn:,} of {how_many(len(charts), 'problem', ',')}", *shown]


def best_runs(records: Sequence[Record], problems: Sequence[ProblemRuns]) -> dict[int, Record]:
    """Return the record of the best run of each problem that has a verified schedule, by the index of the problem."""
    index = {p.name: k for k, p in enumerate(problems)}
    best: dict[int, tuple[tuple[float, float], Record]] = {}
    for r in records:
        k = index.get(name_of(r))
        if k is None or not _drawable(r):
            continue
        if r["best_s"] is None:
            found_at = float("inf")
        else:
            found_at = float(r["best_s"])
        rank = (problems[k].sign * float(r["objective"]), found_at)
        if k not in best or rank < best[k][0]:
            best[k] = (rank, r)
    return {k: r for k, (_, r) in best.items()}


def _drawable(record: Record) -> bool:
    """Return whether a record of a run (not a replay) has a verified schedule with one objective."""
    sound = record["verified"] is True and record["status"] != "error" and record["replay"] is None
    return sound and isinstance(record["objective"], (int, float)) and isinstance(record["schedule"], dict)


def _chart(record: Record, known: Instances) -> Gantt:
    """Return the chart of a record. Raises one of ``WRONG`` if it cannot be drawn."""
    chart = bench_kind(record["kind"]).chart(record)
    if chart is not None:
        return chart
    if find(record["kind"]).gantt is None:
        raise SchedlabError(f"problems of kind {record['kind']} have no Gantt chart")
    instance = known.instance(record)
    if instance.path is not None and not known.unchanged(record, instance.path):
        raise SchedlabError("the files of its instance are not those that were run")
    problem = known.problem(record)
    return gantt_of_schedule(problem, problem.read(record["schedule"]))


INCHES = (5.0, 2.3)  # of the width of a page, with the legend beside the axes
MOST_ROWS = 45  # of a table on a page
NEVER = (
    "Each curve begins at the axis and ends at its limit; a run that does not reach the goal is never counted as done."
)
OF_BOXES = ("row", "label", "group", "start", "end")  # of the CSV file behind a Gantt chart
WHOLE = "report.tex"  # the document with all tables and figures


def write_latex(folder: Path, content: Mapping[str, Any]) -> list[Path]:
    """Write the tables and figures of a report.

    Parameters
    ----------
    folder
        Where they are written; it is made if it does not exist. Files of an earlier call are replaced.
    content
        See ``report.content_of``.

    Returns
    -------
    list of Path
        The files: each table of ``report.report_grids`` as ``.tex`` and ``.csv``, the profiles of each problem kind as ``.pdf`` and
        ``.csv``, the Gantt chart of the best schedule of each problem as ``.tex`` (TikZ) and ``.csv``, and ``report.tex``: a document
        with all of them, the notes, the machines and the commands of the page.

    Raises
    ------
    WrongUse
        If a file cannot be written, or matplotlib is missing.
    """
    require_matplotlib()
    grids = report_grids(content)
    files: dict[str, str | bytes] = {f"{name}.tex": grid.as_latex() + "\n" for name, grid in grids.items()}
    files |= {f"{name}.csv": grid.as_csv() for name, grid in grids.items()}
    body = [
        grid.as_latex_float(rf"\input{{{name}}}")
        if len(grid.rows) <= MOST_ROWS
        else rf"\noindent {latex_text(grid.title)}: {len(grid.rows)} rows, in \texttt{{{name}.tex}} and \texttt{{{name}.csv}}."
        for name, grid in grids.items()
    ]
    for kind in content["kinds"]:
        for chart in map(ProfileChart.of_json, kind["charts"]):
            name = f"{chart.key}-{kind['name']}"
            points = [(line.name, x, y) for line in chart.lines for x, y in zip(line.x, line.y, strict=True)]
            files |= {
                f"{name}.pdf": _figure(name, chart),
                f"{name}.csv": to_csv(("method", chart.label, f"share of {chart.share.partition(',')[0]}"), points),
            }
            body.append(_floating(name, f"{chart.title} ({kind['name']}). {NEVER}"))
    for name, problem, drawn in _drawn(content):
        end = "end"
        if problem[1].startswith("project"):
            end = "makespan"
        files |= {
            f"{name}.tex": tikz(drawn["chart"], end) + "\n",
            f"{name}.csv": to_csv(OF_BOXES, rows_of_boxes(drawn["chart"])),
        }
        body.append(_gantt(name, problem[0], drawn))
    files[WHOLE] = _document(content, body)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            write_whole(folder / name, text)
    except OSError as e:
        raise WrongUse(f"--latex {folder}: cannot be written ({e.strerror})") from e
    return [folder / name for name in files]


def _drawn(content: Mapping[str, Any]) -> Iterator[tuple[str, Sequence[Any], Mapping[str, Any]]]:
    """Yield the file name, the problem and the chart of each problem that has one of a size for a page."""
    for k, (problem, drawn) in enumerate(zip(content["problems"], content["charts"], strict=True), 1):
        if "chart" in drawn and is_drawn(drawn["chart"]):
            plain = re.sub(r"[^A-Za-z0-9]+", "-", problem[0]).strip("-")[:60]
            yield f"gantt-{k}-{plain}", problem, drawn


def _gantt(name: str, problem: str, drawn: Mapping[str, Any]) -> str:
    """Return the figure with a Gantt chart: what it shows, whose schedule it is, and its objective."""
    seed = ""
    if drawn["seed"] is not None:
        seed = f", seed {drawn['seed']}"
    title = drawn["chart"]["title"]
    what = ""
    if title:
        what = f" Rows: {title}."
    if has_steps(drawn["chart"]):
        what += " 3.2: job 3, step 2."
    grey = dict.fromkeys(label for _, _, label, *_ in drawn["chart"]["closed"])
    if grey:
        what += f" Grey: {', '.join(grey)}."
    caption = f"{problem}: best schedule, by {drawn['method']}{seed}, objective {number(drawn['objective'])}.{what}"
    lines = [
        r"\begin{figure}",
        r"\centering",
        rf"\input{{{name}}}",
        rf"\caption{{{latex_text(caption)}}}",
        r"\end{figure}",
    ]
    return "\n".join(lines)


def _floating(name: str, caption: str) -> str:
    picture = rf"\includegraphics{{{name}.pdf}}"
    return "\n".join(
        [r"\begin{figure}", r"\centering", picture, rf"\caption{{{latex_text(caption)}}}", r"\end{figure}"]
    )


def _document(content: Mapping[str, Any], body: list[str]) -> str:
    """Return a document with the tables and figures, and what the page says in words."""
    head = [
        r"\documentclass{article}",
        r"\usepackage{booktabs,graphicx,tikz}",
        LIBRARIES,
        r"\usepackage[T1]{fontenc}",
        r"\begin{document}",
    ]
    large = sum("chart" in drawn and not is_drawn(drawn["chart"]) for drawn in content["charts"])
    notes = list(content["notes"])
    if large:
        notes.append(f"{how_many(large, 'Gantt chart')} of more than {MOST_BOXES:,} rectangles: on the page alone")
    words = [rf"\section*{{{latex_text(content['title'])}}}", *map(latex_text, notes)]
    for title, name in (("Machines and versions", "machines"), ("Commands that run it again", "commands")):
        words += [rf"\section*{{{title}}}", *(rf"\noindent {latex_text(line)}" for line in content[name])]
    return "\n\n".join(["\n".join(head), *words, *body, r"\end{document}"]) + "\n"


def _figure(name: str, chart: ProfileChart) -> bytes:
    """Return a profile as PDF."""
    from matplotlib.backends.backend_pdf import FigureCanvasPdf
    from matplotlib.figure import Figure

    picture = io.BytesIO()
    with styled(name):
        figure = Figure(figsize=INCHES, layout="constrained")
        FigureCanvasPdf(figure)
        draw_chart(figure.subplots(), chart)
        figure.savefig(picture, format="pdf", metadata=dict.fromkeys(("Creator", "Producer", "CreationDate")))
    return picture.getvalue()


# --- A Gantt chart of a report as a picture in TikZ, for papers: jobs, the unit of the axis, the end of the schedule.


WIDE = 10.0  # cm of the axis
LINE = 0.42  # cm of a row
HIGHEST = 16.0  # cm of all rows
MOST_BOXES = 1500  # rectangles of a picture; with more, LaTeX takes minutes
MOMENT = 0.1  # cm: half the width of a diamond
LETTER, LEAST_HEIGHT = 0.13, 0.26  # cm: the width of a letter of a label, the height of a rectangle that has one
TICKS = 8  # about as many as the axis has
MOST_NAMES = 12  # of a legend
STEP_OF_SHOP = re.compile(r"job (\d+) step (\d+)\b", re.ASCII)  # of shops that are read from files
LIBRARIES = r"\usetikzlibrary{patterns}"


def is_drawn(chart: Mapping[str, Any]) -> bool:
    """Return whether a chart is small enough for a picture."""
    return sum(len(numbers) // 5 for _, _, numbers in chart["boxes"]) <= MOST_BOXES


def tikz(chart: Mapping[str, Any], end: str = "end") -> str:
    r"""Return the picture of a chart.

    Parameters
    ----------
    chart
        A chart as ``gantt.packed`` returns it.
    end
        The word at the line where the last rectangle ends, such as "makespan".

    Returns
    -------
    str
        An environment ``tikzpicture``; the document needs ``tikz`` and ``LIBRARIES``.

    Examples
    --------
    >>> from schedlab.bench.pages.report import packed
    >>> from schedlab.models.gantt import Bar, Gantt, Row
    >>> picture = tikz(packed(Gantt((Row("saw"),), (Bar(0, 0, 4, "a"), Bar(0, 4, 9, "b")), ("",), seconds=False)))
    >>> [line for line in picture.splitlines() if "end 9" in line]
    ['\\draw[dashed] (10,0) -- (10,-0.5) node[above left, at start, font=\\scriptsize] {end 9};']
    """
    return "\n".join([r"\begin{tikzpicture}", *_lines(chart, end), r"\end{tikzpicture}"])


def rows_of_boxes(chart: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """Return a row for each rectangle of a chart: row, label, group, start, end."""
    named = chart["rows"]
    rows = []
    for group, _, numbers in chart["boxes"]:
        name = ""
        if group < len(chart["groups"]):
            name = chart["groups"][group][0]
        for time, length, top, height, label in _fives(numbers):
            middle = top + height / 2
            row = min(named, key=lambda each: abs(each[0] - middle), default=(0, ""))[1]
            text = ""
            if label >= 0:
                text = chart["labels"][label]
            rows.append((row, text, name, chart["start"] + time, chart["start"] + time + length))
    return sorted(rows, key=lambda row: (row[3], row[4], str(row[0]), row[1]))


def _lines(chart: Mapping[str, Any], end: str) -> Iterator[str]:
    """Yield the lines of a picture: colours, closed periods, rectangles, names of rows, axis, marks, legend."""
    high = min(HIGHEST, max(1.0, LINE * chart["lines"]) if chart["lines"] != 1 else 0.5)
    colours = chart["colours"]
    for k, colour in enumerate(colours):
        yield rf"\definecolor{{schedlab{k}}}{{HTML}}{{{colour.removeprefix('#').upper()}}}"
    yield from _closed_rectangles(chart, high, whole=True)
    for group, opacity, numbers in chart["boxes"]:
        style = _style(group, opacity)
        for box in _fives(numbers):
            yield from _box(chart, high, style, box)
    yield from _closed_rectangles(chart, high, whole=False)
    for at, label in chart["rows"]:
        yield rf"\node[left, font=\scriptsize] at (0,{_y(high, at)}) {{{latex_text(str(label))}}};"
    yield from _axis(chart, high, end)
    yield from _legend(chart, high)


def _closed_rectangles(chart: Mapping[str, Any], high: float, whole: bool) -> Iterator[str]:
    """Yield the closed periods of all rows, behind the rectangles, or those of single rows, over them."""
    style = "black, opacity=0.25"
    if whole:
        style = "black!8"
    for time, length, _, top, height in chart["closed"]:
        if (height == TALL) == whole:
            upper = f"({_x(chart, time)},{_y(high, top)})"
            yield rf"\fill[{style}] {upper} rectangle ({_x(chart, time + length)},{_y(high, top + height)});"


def _box(chart: Mapping[str, Any], high: float, style: str, box: Sequence[int]) -> Iterator[str]:
    """Yield a rectangle, and its label if there is room; a moment is a diamond."""
    time, length, top, height, label = box
    left, right = _x(chart, time), _x(chart, time + length)
    upper, lower = _y(high, top), _y(high, top + height)
    if not length:
        middle_of_row = _decimal((float(upper) + float(lower)) / 2)
        yield rf"\filldraw[{style}] ({left},{middle_of_row}) +(0,{MOMENT}) -- +({MOMENT},0) -- +(0,-{MOMENT}) -- +(-{MOMENT},0) -- cycle;"
        return
    yield rf"\filldraw[{style}] ({left},{upper}) rectangle ({right},{lower});"
    text = _fitting(chart["labels"][label] if label >= 0 else "", float(right) - float(left))
    if text and float(upper) - float(lower) >= LEAST_HEIGHT:
        middle = _decimal((float(left) + float(right)) / 2), _decimal((float(upper) + float(lower)) / 2)
        yield rf"\node[font=\tiny] at ({middle[0]},{middle[1]}) {{{latex_text(text)}}};"


def _fitting(label: str, wide: float) -> str:
    """Return a label if it fits into so many cm, else ""; of a shop's step, in every rectangle alike, the numbers of job and step.

    >>> _fitting("weld", 3.0), _fitting("job 3 step 12 (fast)", 3.0), _fitting("job 3 step 12", 0.4)
    ('weld', '3.12', '')
    """
    step = STEP_OF_SHOP.match(label)
    if step:
        text = ".".join(step.groups())
    else:
        text = label
    if LETTER * len(text) <= wide:
        return text
    return ""


def has_steps(chart: Mapping[str, Any]) -> bool:
    """Return whether rectangles are steps of the jobs of a shop, which have the numbers of both alone as label."""
    return any(STEP_OF_SHOP.match(label) for label in chart["labels"])


def _style(group: int, opacity: float) -> str:
    """Return the style of a rectangle; what cannot be changed is hatched."""
    if opacity == HATCHED:
        return rf"draw=black!60, very thin, pattern=north east lines, pattern color=schedlab{group}"
    return rf"draw=black!60, very thin, fill=schedlab{group}!{round(80 * opacity)}"


def _axis(chart: Mapping[str, Any], high: float, end: str) -> Iterator[str]:
    """Yield the axis with its ticks and its unit, and lines at the marks and at the end of the last rectangle."""
    name, unit, zero = chart["unit"]
    low = _decimal(-high)
    yield rf"\draw (0,0) rectangle ({WIDE:g},{low});"
    first, last = ((chart["start"] + t - zero) / unit for t in (0, chart["length"]))
    step = _step(last - first)
    tick = math.ceil(first / step - 1e-9) * step
    while tick <= last + 1e-9:
        x = _decimal(WIDE * (tick - first) / max(last - first, 1e-9))
        yield rf"\draw ({x},{low}) -- ++(0,-0.08) node[below, font=\scriptsize] {{{number(round(tick, 9))}}};"
        tick += step
    yield rf"\node[below, font=\scriptsize] at ({WIDE / 2:g},{_decimal(-high - 0.4)}) {{time{f' ({name})' if name else ''}}};"
    for time, label in chart["marks"]:
        yield rf"\draw[red] ({_x(chart, time)},0) -- ({_x(chart, time)},{low}) node[above, at start, font=\scriptsize] {{{latex_text(label)}}};"
    ends = [time + length for _, _, numbers in chart["boxes"] for time, length, *_ in _fives(numbers)]
    if ends:
        at = _x(chart, max(ends))
        text = number(round((chart["start"] + max(ends) - zero) / unit, 2))
        yield rf"\draw[dashed] ({at},0) -- ({at},{low}) node[above left, at start, font=\scriptsize] {{{latex_text(end)} {text}}};"


def _legend(chart: Mapping[str, Any], high: float) -> Iterator[str]:
    """Yield the names of the groups below the axis; of many the first ones."""
    names = [(k, name) for k, (name, _) in enumerate(chart["groups"]) if name]
    shown = names[:MOST_NAMES]
    if len(names) < 2:
        return
    parts = [rf"\textcolor{{schedlab{k}}}{{\rule{{1ex}}{{1ex}}}}\,{latex_text(name)}" for k, name in shown]
    if len(names) > len(shown):
        parts += [f"and {len(names) - len(shown)} more"]
    text = r"\quad ".join(parts)
    at = f"{WIDE / 2:g},{_decimal(-high - 0.85)}"
    yield rf"\node[below, font=\scriptsize, text width={WIDE:g}cm, align=center] at ({at}) {{{text}}};"


def _step(span: float) -> float:
    """Return a round distance of about an eighth of a span.

    >>> _step(55), _step(1.2), _step(0.0)
    (10, 0.2, 1)
    """
    if span <= 0:
        return 1
    power = 10.0 ** math.floor(math.log10(span / TICKS))
    step = next(power * k for k in (1, 2, 5, 10) if power * k * TICKS >= span)
    if step >= 1:
        return int(step)
    return step


def _fives(numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    return (numbers[k : k + 5] for k in range(0, len(numbers), 5))


def _x(chart: Mapping[str, Any], time: int) -> str:
    return _decimal(WIDE * time / max(chart["length"], 1))


def _y(high: float, position: float) -> str:
    return _decimal(-high * position / TALL)


def _decimal(value: float) -> str:
    """Return a coordinate in cm, to hundredths of a millimetre.

    >>> _decimal(3.14159), _decimal(-0.0), _decimal(11.0)
    ('3.142', '0', '11')
    """
    if abs(value) < 0.0005:
        return re.sub(r"\.?0+$", "", f"{value:.3f}").replace("-0", "0")
    return f"{round(value, 3):g}"
