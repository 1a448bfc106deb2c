"""The extra fields of the record of a project: when each task runs, and what it uses of the renewable resources.

- ``tasks``: rows [task, mode, start, end, object with the demand of each renewable resource].
- ``resources``: object with the capacity of each renewable resource.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...models import Project, Schedule
from ...models.project.display import capacities, scheduled
from ..records.form import TEXT, Form, integer, mapping, row, several
from ..records.store import Record

FORMS: Mapping[str, Form] = {
    "tasks": several(row(TEXT, TEXT, integer(0), integer(0), mapping(integer(0)))),
    "resources": mapping(integer(0)),
}


def fields(project: Project, schedule: Schedule) -> Record:
    """Return the extra fields of a valid schedule; ``records.form`` describes them."""
    rows = [list(row) for row in scheduled(project, schedule)]
    return {"tasks": rows, "resources": capacities(project)}


def faults_of_tasks(project: Project, record: Mapping[str, Any], schedule: Schedule) -> list[str]:
    """Return the faults of the extra fields of a record: each value is compared with that of the schedule."""
    true = fields(project, schedule)
    found = []
    if record.get("resources") != true["resources"]:
        found.append(f"it has resources {record.get('resources')}, its project has {true['resources']}")
    recorded = record.get("tasks") or []
    if len(recorded) != len(true["tasks"]):
        found.append(f"it has {len(recorded)} tasks, its project has {len(true['tasks'])}")
    wrong = [(given, row) for given, row in zip(recorded, true["tasks"], strict=False) if given != row]
    return found + [f"it has task {given}, its schedule has {row}" for given, row in wrong]
