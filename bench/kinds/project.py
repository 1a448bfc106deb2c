"""What the bench needs to know about projects: fields of records, the section of ``bench plot``, default methods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from rich.console import Console

from ...heuristics import HEURISTICS
from ...instances import Instance
from ...models.gantt import Gantt, draw
from ...models.problem import Problem, Schedule
from ...models.project.display import KEPT, TaskRow, breaks_of, capacities, chart, scheduled
from ...models.project.problem import Project
from ...models.words import how_many
from ..grid import GOOD, Column, Grid, number, percent, seconds
from ..pages import Card, Section
from ..pages.panels import single
from ..records.store import Count, Record
from ..runs.view import WHOLE, Default, Defaults, View
from ..tables.methods import ViewResults, group_by_view, status, summary
from .base import Drawing
from .plain import PlainKind

# --- The extra fields of the record of a project: when each task runs, and what it uses of the renewable resources.
#
# - ``tasks``: rows [task, mode, start, end, object with the demand of each renewable resource].
# - ``resources``: object with the capacity of each renewable resource.
# - ``breaks``: object with the breaks [begin, end] of each renewable resource that has some; missing if none has.
# - ``held``: object with how long tasks keep their resources after their ends; missing if none does.

FIELDS: Mapping[str, Any] = {
    "tasks": list[tuple[str, str, Count, Count, dict[str, Count]]],
    "resources": dict[str, Count],
    "breaks": dict[str, list[tuple[int, int]]],
    "held": dict[str, Count],
}
OF_ROW = 5  # numbers of a row of ``tasks``


def fields(project: Project, schedule: Schedule) -> Record:
    """Return the extra fields of a valid schedule; ``records.store`` describes them."""
    rows = scheduled(project, schedule)
    further = {
        "breaks": {name: [list(window) for window in windows] for name, windows in breaks_of(project).items()},
        "held": {row.task: row.held for row in rows if row.held},
    }
    return {
        "tasks": [list(row[:OF_ROW]) for row in rows],
        "resources": capacities(project),
        **{name: value for name, value in further.items() if value},
    }


def faults_of_tasks(project: Project, record: Mapping[str, Any], schedule: Schedule) -> list[str]:
    """Return the faults of the extra fields of a record: each value is compared with that of the schedule."""
    true = fields(project, schedule)
    faults = []
    if record.get("resources") != true["resources"]:
        faults.append(f"it has resources {record.get('resources')}, its project has {true['resources']}")
    for name in ("breaks", "held"):
        expected = true.get(name, {})
        if record.get(name, expected) != expected:
            faults.append(f"it has {name} {record[name]}, its schedule has {expected}")
    recorded = record.get("tasks") or []
    if len(recorded) != len(true["tasks"]):
        faults.append(f"it has {how_many(len(recorded), 'task')}, its project has {len(true['tasks'])}")
    wrong = [(given, row) for given, row in zip(recorded, true["tasks"], strict=False) if given != row]
    return faults + [f"it has task {given}, its schedule has {row}" for given, row in wrong]


# --- ``bench plot``: a Gantt chart with a band per renewable resource, and a table of the methods.

MACHINE = 0.3  # inches: a band of a resource of capacity 1
MOST_HEIGHT = 40.0  # inches: all bands
AROUND = 0.5  # inches above and below the bands


def drawn_sections(records: Iterable[Record]) -> tuple[list[str], int]:
    """Return an HTML section per project with a schedule, and the number of runs in them."""
    groups = group_by_view(records)
    kept = [(title, results) for title, results in groups if chosen(results)]
    return [_section(title, results) for title, results in kept], sum(len(results.records) for _, results in kept)


def chosen(results: ViewResults) -> list[Record]:
    """Return the runs that are drawn: the best one, and the best one without a solver if it has another makespan."""
    known = [r for row in results.rows for r in row.sound if r.get("tasks")]
    best = min(known, key=lambda r: float(r["objective"]), default=None)
    start = min((r for r in known if r["solver"] == "schedlab"), key=lambda r: float(r["objective"]), default=None)
    records_drawn = []
    if best is not None:
        records_drawn = [best]
    return records_drawn + ([start] if best and start and start["objective"] != best["objective"] else [])


def _section(title: str, results: ViewResults) -> str:
    drawn = chosen(results)
    end = max(int(row[3]) for r in drawn for row in r["tasks"])
    notes = [
        *(line.plain for line in summary(results)),
        "A band is a resource with its capacity; the height of a task is its demand. A task that uses several resources has "
        "the same colour in each; in a job shop the steps of a job have the same colour. Times are in the time unit of the project.",
    ]
    if any(r.get("held") for r in drawn):
        notes.append(f"{KEPT[0].upper()}{KEPT[1:]}.")
    return Section(title, table=_table(results), notes=notes, cards=[_card(title, r, end) for r in drawn]).html()


def chart_of(record: Mapping[str, Any]) -> Gantt:
    """Return the Gantt chart of a record: a band per renewable resource, and one for the tasks that use none."""
    held = record.get("held", {})
    tasks = [TaskRow(*row)._replace(held=held.get(row[0], 0)) for row in record["tasks"]]
    return chart(tasks, record["resources"], closed=record.get("breaks"))


def _card(title: str, record: Record, end: int) -> Card:
    shown = replace(chart_of(record), title="", end=end)
    height = min(MOST_HEIGHT, MACHINE * sum(row.height for row in shown.rows))
    picture = single(f"{title}: {record['method']}", lambda ax: draw(shown, ax), AROUND + height)
    return Card(record["method"], f"{objective_name([record])} {number(record['objective'])}", picture)


def objective_name(records: Iterable[Record]) -> str:
    """Return "makespan" if it is the objective of these records, else "objective"."""
    ends = [(float(r["objective"]), max(int(row[3]) for row in r["tasks"])) for r in records if r.get("tasks")]
    if all(value == end for value, end in ends):
        return "makespan"
    return "objective"


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


# --- The kind: default methods, and all that the bench asks.

SMALL = 20  # tasks up to which HiGHS is among the default methods
METHODS = tuple(Default(name, 20) for name in ("auto", "multi-sgs", "cpsat:modes", "cpsat:modes+warm", "cpo:modes"))
OF_PLACED_TASKS = ("multi-sgs", "cpsat:modes+warm")  # left out where the serial scheme does not support the project
SMALL_METHODS = (*METHODS, Default("highs:modes@pairwise", 20))


class ProjectKind(PlainKind):
    """Projects: resource-constrained project scheduling, shops; other objectives."""

    view_options = ("objective",)

    @property
    def record_fields(self) -> Mapping[str, Any]:
        """The tasks with their modes and times, and the capacities."""
        return FIELDS

    def default_views(self, instance: Instance) -> Defaults:
        """Return the whole project with the methods that support it, with HiGHS if it is small."""
        project = instance.project
        if len(project.tasks) <= SMALL:
            methods = SMALL_METHODS
        else:
            methods = METHODS
        if HEURISTICS["multi-sgs"].takes(project):
            return {WHOLE: methods}
        return {WHOLE: [m for m in methods if m.method not in OF_PLACED_TASKS]}

    def problem(self, instance: Instance, view: View) -> Problem:
        """Return the project, perhaps with another objective."""
        project = cast(Project, instance.problem)
        if view.objective is None:
            return project
        return replace(project, objective=view.objective)

    def extra_fields(self, problem: Problem, schedule: Schedule) -> Record:
        """Return when each task runs, and what it uses."""
        return fields(cast(Project, problem), schedule)

    def faults(self, problem: Problem, record: Mapping[str, Any], schedule: Schedule | None) -> list[str]:
        """Return the extra fields that differ from those of the schedule."""
        if schedule is None:
            return []
        return faults_of_tasks(cast(Project, problem), record, schedule)

    def draw(self, records: Iterable[Record], methods: Sequence[str]) -> Drawing:
        """Draw Gantt charts of the tasks by resource."""
        return Drawing("schedules of projects", *drawn_sections(list(records)))

    def chart(self, record: Mapping[str, Any]) -> Gantt | None:
        """Return the tasks by resource."""
        if record.get("tasks"):
            return chart_of(record)
        return None

    def sizes(self, problem: Problem) -> tuple[str, str]:
        """Return the number of tasks; a project has no nodes."""
        return str(len(cast(Project, problem).tasks)), "-"

    def describe(self, console: Console, instance: Instance) -> None:
        """Print sizes, simple bounds of the makespan and the resources."""
        from ..tables.instances import show_project

        show_project(console, instance.project)


PROJECT = ProjectKind()


class ProjectMaxKind(ProjectKind):
    """Projects with maximal time lags: solvers only."""

    def default_views(self, instance: Instance) -> Defaults:
        """Return the whole project."""
        return {WHOLE: [Default(name, 20) for name in ("cpsat:modes", "cpo:modes")]}


PROJECT_MAX = ProjectMaxKind()
