"""What the bench needs to know about projects: default methods, fields of records, plots."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from rich.console import Console

from ...heuristics import HEURISTICS
from ...instances import Instance
from ...models.counts import how_many
from ...models.display.gantt import Gantt
from ...models.json_values import Count
from ...models.problem import Problem, Schedule
from ...models.project.display import capacities, scheduled
from ...models.project.problem import Project
from ..records.store import Record
from ..runs.view import WHOLE, Default, Defaults, View
from .base import Drawing
from .plain import PlainKind

# --- The extra fields of the record of a project: when each task runs, and what it uses of the renewable resources.
#
# - ``tasks``: rows [task, mode, start, end, object with the demand of each renewable resource].
# - ``resources``: object with the capacity of each renewable resource.

FIELDS: Mapping[str, Any] = {
    "tasks": list[tuple[str, str, Count, Count, dict[str, Count]]],
    "resources": dict[str, Count],
}


def fields(project: Project, schedule: Schedule) -> Record:
    """Return the extra fields of a valid schedule; ``records.form`` describes them."""
    rows = [list(row) for row in scheduled(project, schedule)]
    return {"tasks": rows, "resources": capacities(project)}


def faults_of_tasks(project: Project, record: Mapping[str, Any], schedule: Schedule) -> list[str]:
    """Return the faults of the extra fields of a record: each value is compared with that of the schedule."""
    true = fields(project, schedule)
    faults = []
    if record.get("resources") != true["resources"]:
        faults.append(f"it has resources {record.get('resources')}, its project has {true['resources']}")
    recorded = record.get("tasks") or []
    if len(recorded) != len(true["tasks"]):
        faults.append(f"it has {how_many(len(recorded), 'task')}, its project has {len(true['tasks'])}")
    wrong = [(given, row) for given, row in zip(recorded, true["tasks"], strict=False) if given != row]
    return faults + [f"it has task {given}, its schedule has {row}" for given, row in wrong]


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
        methods = SMALL_METHODS if len(project.tasks) <= SMALL else METHODS
        if HEURISTICS["multi-sgs"].takes(project):
            return {WHOLE: methods}
        return {WHOLE: [m for m in methods if m.method not in OF_PLACED_TASKS]}

    def problem(self, instance: Instance, view: View) -> Problem:
        """Return the project, perhaps with another objective."""
        project = cast(Project, instance.problem)
        return project if view.objective is None else replace(project, objective=view.objective)

    def extra_fields(self, problem: Problem, schedule: Schedule) -> Record:
        """Return when each task runs, and what it uses."""
        return fields(cast(Project, problem), schedule)

    def faults(self, problem: Problem, record: Mapping[str, Any], schedule: Schedule | None) -> list[str]:
        """Return the extra fields that differ from those of the schedule."""
        return [] if schedule is None else faults_of_tasks(cast(Project, problem), record, schedule)

    def draw(self, records: Iterable[Record], methods: Sequence[str]) -> Drawing:
        """Draw Gantt charts of the tasks by resource."""
        from ..plots.project_section import sections

        return Drawing("schedules of projects", *sections(list(records)))

    def chart(self, record: Mapping[str, Any]) -> Gantt | None:
        """Return the tasks by resource."""
        from ..plots.project_section import chart_of

        return chart_of(record) if record.get("tasks") else None

    def sizes(self, problem: Problem) -> tuple[str, str]:
        """Return the number of tasks; a project has no nodes."""
        return str(len(cast(Project, problem).tasks)), "-"

    def describe(self, console: Console, instance: Instance) -> None:
        """Print sizes, simple bounds of the makespan and the resources."""
        from ..show.instances import show_project

        show_project(console, instance.project)


PROJECT = ProjectKind()


class ProjectMaxKind(ProjectKind):
    """Projects with maximal time lags: solvers only."""

    def default_views(self, instance: Instance) -> Defaults:
        """Return the whole project."""
        return {WHOLE: [Default(name, 20) for name in ("cpsat:modes", "cpo:modes")]}


PROJECT_MAX = ProjectMaxKind()
