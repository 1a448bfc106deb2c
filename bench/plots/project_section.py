"""``bench plot`` of projects: a Gantt chart with a band per renewable resource, and a table of the methods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from ...models.display.drawing import draw
from ...models.display.gantt import Gantt
from ...models.project.display import TaskRow, chart
from ..grid import GOOD, Column, Grid, number, percent, seconds
from ..pages import Card, Section
from ..records.store import Record
from ..tables.methods import ViewResults, group_by_view, status, summary
from .svg import single

KIND = "project"
MACHINE, MOST_HEIGHT = 0.3, 40.0  # inches: a band of a resource of capacity 1, all bands
AROUND = 0.5  # inches above and below the bands


def sections(records: Iterable[Record]) -> tuple[list[str], int]:
    """Return an HTML section per project with a schedule, and the number of runs in them."""
    groups = group_by_view(r for r in records if r.get("kind") == KIND)
    kept = [(title, results) for title, results in groups if chosen(results)]
    return [_section(title, results) for title, results in kept], sum(len(results.records) for _, results in kept)


def chosen(results: ViewResults) -> list[Record]:
    """Return the runs that are drawn: the best one, and the best one without a solver if it has another makespan."""
    known = [r for row in results.rows for r in row.sound if r.get("tasks")]
    best = min(known, key=lambda r: float(r["objective"]), default=None)
    start = min((r for r in known if r["solver"] == "schedlab"), key=lambda r: float(r["objective"]), default=None)
    records_drawn = [] if best is None else [best]
    return records_drawn + ([start] if best and start and start["objective"] != best["objective"] else [])


def _section(title: str, results: ViewResults) -> str:
    drawn = chosen(results)
    end = max(int(row[3]) for r in drawn for row in r["tasks"])
    notes = [
        *(line.plain for line in summary(results)),
        "A band is a resource with its capacity; the height of a task is its demand. A task that uses several resources has "
        "the same colour in each; in a job shop the steps of a job have the same colour. Times are in the time unit of the project.",
    ]
    return Section(title, table=_table(results), notes=notes, cards=[_card(title, r, end) for r in drawn]).html()


def chart_of(record: Mapping[str, Any]) -> Gantt:
    """Return the Gantt chart of a record: a band per renewable resource, and one for the tasks that use none."""
    return chart([TaskRow(*row) for row in record["tasks"]], record["resources"])


def _card(title: str, record: Record, end: int) -> Card:
    shown = replace(chart_of(record), title="", end=end)
    height = min(MOST_HEIGHT, MACHINE * sum(row.height for row in shown.rows))
    picture = single(f"{title}: {record['method']}", lambda ax: draw(shown, ax), AROUND + height)
    return Card(record["method"], f"{objective_name([record])} {number(record['objective'])}", picture)


def objective_name(records: Iterable[Record]) -> str:
    """Return "makespan" if it is the objective of these records, else "objective"."""
    ends = [(float(r["objective"]), max(int(row[3]) for row in r["tasks"])) for r in records if r.get("tasks")]
    return "makespan" if all(value == end for value, end in ends) else "objective"


def _table(results: ViewResults) -> Grid:
    """Return the table of the methods; the best method is bold."""
    columns = [
        Column("method", lambda row: row.method, words=True),
        Column("status", status, words=True),
        Column(objective_name(results.records), lambda row: row.objective, number),
        Column("bound", lambda row: max(row.bounds, default=None), number),
        Column("gap", results.gap, percent),
        Column("best at s", lambda row: row.mean(lambda r: r["best_s"]), seconds),
    ]
    return Grid.of("", columns, results.rows, style=lambda row: GOOD if results.is_best(row) else "")
