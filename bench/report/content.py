"""What the page of a report shows, as plain data: statistics, curves, problems, runs with their traces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np

from ...instances import load
from ..records.instances import Instances
from ..statistics.measures import SHIFT, gap, gap_to_known, primal_integral, seconds
from ..statistics.profiles import Curve, below_one, data_profiles, performance_profiles
from ..statistics.sample import STATES, Outcome, Problem, Sample, sample_of
from ..statistics.summary import statistics_of
from ..tables.statistics import lacking, of_kind
from .charts import charts_of, notes_of
from .reproduction import commands, machines

CURVE = 200  # most points of a profile
BUDGET = 8_000_000  # characters of all traces: with the rest, 10,000 runs stay below 15 MB
LONGEST = 100  # most steps of a trace
STEP = 22  # characters of a step, at most about this


def content_of(
    records: Sequence[Mapping[str, Any]], known: Mapping[str, float], title: str, instances: Instances | None = None
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

    Returns
    -------
    dict
        Lists, texts and numbers, as JSON can represent them; None is unknown or infinite.
    """
    sample = sample_of(records, known)
    runs = sum(len(found) for p in sample.problems for found in p.runs.values())
    charts = charts_of(records, sample.problems, instances or Instances(load))
    most = max(2, min(LONGEST, BUDGET // (STEP * max(1, runs))))
    return {
        "title": title,
        "notes": [*sample.notes, *notes_of(sample.problems, charts)],
        "machines": machines(records),
        "commands": commands(records),
        "states": list(STATES),
        "methods": list(sample.methods),
        "kinds": [_kind(of_kind(sample, kind)) for kind in dict.fromkeys(p.kind for p in sample.problems)],
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


def _kind(sample: Sample) -> dict[str, Any]:
    heads = ["method", "runs", "solved", "proven", "lacking", f"time s (shift {SHIFT:g})", "PAR2 s", "PAR10 s", "gap %", "gap to bound %",
             "gap to known %", "primal %", "dual %", "wins", "virtual best %", "only"]  # fmt: skip
    rows = [
        [s.method, s.runs, s.answered, s.states["proven"], lacking(s), _short(s.time), _short(s.par2), _short(s.par10),
         *(_short(100 * v) for v in (s.gap, s.gap_bound, s.gap_known, s.primal, s.dual)), s.wins, _short(100 * s.share), s.only]
        for s in statistics_of(sample)
    ]  # fmt: skip
    return {
        "name": sample.problems[0].kind,
        "heads": heads,
        "rows": rows,
        "curves": [
            _chart(
                "Performance profile: seconds to the proof",
                "times the best method",
                performance_profiles(sample, seconds),
            ),
            _chart("Data profile: seconds to the proof", "seconds", data_profiles(sample, seconds)),
            _chart("Gap to the best objective known", "gap", below_one(data_profiles(sample, gap))),
        ],
    }


def _chart(title: str, label: str, curves: Sequence[Curve]) -> dict[str, Any]:
    found = []
    for c in curves:
        keep = np.unique(np.linspace(0, c.x.size - 1, min(CURVE, c.x.size)).astype(np.int64))
        found.append(
            {"name": c.method, "x": [_short(float(v)) for v in c.x[keep]], "y": [_short(float(v)) for v in c.y[keep]]}
        )
    return {"title": title, "label": label, "curves": found}


def _problem(p: Problem) -> list[Any]:
    return [p.name, p.kind, p.limit, _short(p.best), _short(p.bound), _short(p.known)]


def _run(p: Problem, problem: int, method: int, seed: int, run: Outcome, most: int) -> list[Any]:
    """Return [problem, method, seed, state, objective, bound, gap, gap to known, primal integral, seconds, steps]."""
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
    ]


def _short(value: float | None) -> float | int | None:
    """Return a number with six digits, which is enough to read and to draw; integers with all; None if it is not finite."""
    if value is None or isinstance(value, int):
        return value
    if not isfinite(value):
        return None
    short = float(f"{value:.6g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short
