"""The Gantt charts of a report, as short lists of numbers which its page draws."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ...errors import SchedlabError
from ...models.array_types import Floats
from ...models.gantt import SHADES, Cells, Gantt, RowPositions, colours_of, gantt_of_schedule, time_unit
from ...models.kind import find
from ...models.words import how_many
from ..kinds.base import bench_kind
from ..records.verify import Instances
from ..statistics.sample import ProblemRuns, name_of

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
        bars; ``marks``: [time, label]; ``closed``: [time, length, label]; ``boxes``: for each style [group, opacity, numbers], five
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
    boxes = _bars(chart, y, start, labels) if chart.cells is None else _grid(chart.cells, y, start)
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
        "closed": [[c.start - start, c.end - c.start, c.label] for c in chart.closed],
        "boxes": [[group, opacity, numbers] for (group, opacity), numbers in boxes.items()],
    }


def _bars(chart: Gantt, y: RowPositions, start: int, labels: dict[str, int]) -> Boxes:
    boxes: Boxes = {}
    group = {name: k for k, name in enumerate(chart.groups)}
    for bar in chart.bars:
        shade = SHADES[labels.get(bar.label, 0) % len(SHADES)] if chart.distinct else 0.0
        style = group[bar.group], HATCHED if bar.hatched else round(1 - shade, 2)
        top, bottom = (_tall(at, y) for at in (y.top(bar.row + bar.low), y.bottom(bar.row + bar.high)))
        box = (bar.start - start, bar.end - bar.start, top, max(bottom - top, 1), labels.get(bar.label, -1))
        boxes.setdefault(style, []).extend(box)
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
    left = min(LEAST + PER_RUN * len(records), MOST) if budget is None else budget
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
        more = ", ..." if n > 1 else ""
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
        found_at = float("inf") if r["best_s"] is None else float(r["best_s"])
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
