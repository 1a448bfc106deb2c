"""The Gantt charts of a report: the best run of each problem, as many as the size of the page allows."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ...errors import SchedlabError
from ...models.display.gantt import Gantt
from ...models.display.of_problem import gantt_of_schedule
from ...models.kind import find
from ..kinds.base import bench_kind
from ..records.instances import Instances
from ..statistics.sample import Problem, name_of
from .gantt import packed

Record = Mapping[str, Any]
LEAST, PER_RUN, MOST = (
    1_000_000,
    300,
    4_000_000,
)  # characters of all charts: 200 runs stay below 2 MB, 10,000 below 15 MB
TOO_LARGE = "its Gantt chart is left out: the page would be too large"
WRONG = (SchedlabError, ValueError, LookupError, TypeError, OSError)  # what records and instances that do not fit raise


def charts_of(
    records: Sequence[Record], problems: Sequence[Problem], known: Instances, budget: int | None = None
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
    found: list[dict[str, Any]] = [{"why": "no run has a verified schedule"}] * len(problems)
    order = sorted(best, key=lambda k: (len(best[k]["schedule"]), k))
    for k in order:
        record = best[k]
        if left <= 0:
            found[k] = {"why": TOO_LARGE}
            continue
        try:
            chart = packed(_chart(record, known))
        except WRONG as e:
            found[k] = {"why": str(e)}
            continue
        left -= len(json.dumps(chart, separators=(",", ":")))
        if left < 0:  # all others are at least about as large
            found[k] = {"why": TOO_LARGE}
            left = 0
            continue
        found[k] = {name: record[name] for name in ("method", "seed", "objective")} | {"chart": chart}
    return found


def notes_of(problems: Sequence[Problem], charts: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return lines about the problems without a chart: how many of them for which reason."""
    reasons = Counter(c["why"] for c in charts if "why" in c)
    example = {c["why"]: p.name for p, c in reversed(list(zip(problems, charts, strict=True))) if "why" in c}
    drawn = len(charts) - reasons.total()
    if not reasons:
        return []
    lines = [
        f"{n:,} without a Gantt chart ({example[why]}{', ...' if n > 1 else ''}): {why}" for why, n in reasons.items()
    ]
    shown = lines[:5] + ([f"{len(lines) - 5:,} more reasons stand beside their problems"] if len(lines) > 5 else [])
    return [f"Gantt charts of the best runs: {drawn:,} of {len(charts):,} problems", *shown]


def best_runs(records: Sequence[Record], problems: Sequence[Problem]) -> dict[int, Record]:
    """Return the record of the best run of each problem that has a verified schedule, by the index of the problem."""
    index = {p.name: k for k, p in enumerate(problems)}
    found: dict[int, tuple[tuple[float, float], Record]] = {}
    for r in records:
        k = index.get(name_of(r))
        if k is None or not _drawable(r):
            continue
        rank = problems[k].sign * float(r["objective"]), float("inf") if r["best_s"] is None else float(r["best_s"])
        if k not in found or rank < found[k][0]:
            found[k] = rank, r
    return {k: r for k, (_, r) in found.items()}


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
