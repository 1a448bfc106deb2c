"""The report of a folder of records as one HTML page without network, with what is needed to repeat the runs."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import partial
from math import isfinite
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from ...instances import load
from ...instances.files.writing import write_whole
from ...models.words import how_many
from ..errors import WrongUse
from ..grid import Column, Grid, fixed
from ..records.verify import Instances
from ..replays.settings import ReplaySettings
from ..runs.view import View
from ..statistics.charts import profile_charts
from ..statistics.measures import PROOF, Goal, gap, gap_to_known, primal_integral
from ..statistics.sample import STATES, ProblemRuns, RunOutcome, Sample, sample_of
from ..statistics.summary import MethodStatistics, statistics_of
from ..tables.statistics import (
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
from .gantt import charts_of, notes_of

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
    return (*words, "--drop-impossible") if record["drop_impossible"] else tuple(words)


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
    return (*words, "--drop-impossible") if record["drop_impossible"] else tuple(words)


def _text(value: object) -> str:
    return f"{value:.15g}" if isinstance(value, float) else str(value)


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
        return _short(median(known)) if known and len(known) == len(values) else None

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
    return int(short) if short.is_integer() and abs(short) < 1e15 else short


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
        for key, heads in (("methods", OF_TIMES), ("quality", OF_QUALITY)):
            grids[f"{key}-{name}"] = figures_grid(title, *_columns(kind["heads"], kind["rows"], heads), EXPLAINED)
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
    return fixed(2) if TWO_DECIMALS.search(head) and head != "limit s" else four_digits


def four_digits(value: float) -> str:
    """Return a number with four digits, an integer with all its digits."""
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.1f}" if abs(value) >= 1000 else f"{value:#.4g}".rstrip(".")


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
