"""Instances of kind "project": resources in ``instance.toml``, a row per mode in ``modes.csv``, ``precedences.csv``.

The rows of ``modes.csv`` with the same task are its modes; a column per resource holds the demand of the mode. A row of
``precedences.csv`` says that the task ``after`` starts at the end of the task ``before`` plus ``delay`` or later.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...errors import WrongValue
from ...models.platform import LATEST, MOST_CAPACITY, ProblemError
from ...models.project.problem import Link, Mode, Project, Resource, Task
from ..files.folder import SETTINGS, Folder, Table, TableRow
from ..files.writing import to_csv, to_toml, write_files
from ..instance import Instance

MODES, PRECEDENCES = "modes.csv", "precedences.csv"
COLUMNS = ("task", "mode", "duration")  # of modes.csv, before the resources
LINK, DELAY = ("before", "after"), ("delay",)
HEADING = """\
An instance of schedlab: a project. Times are whole numbers in the time unit of the project.
modes.csv has a row for each mode of each task, with a column for its demand of each resource.
precedences.csv: the task "after" starts at the end of the task "before" plus the delay (0 if there is none) or later."""
Rows = Mapping[str, Sequence[tuple[Mode, TableRow]]]


def read(folder: Folder, drop_impossible: bool = False) -> Instance:
    """Read an instance folder. Raises InstanceError with all faults.

    A task that can never run is a fault even if ``drop_impossible`` is set: a project without one of its tasks would be
    another project.
    """
    s = folder.settings
    s.only("kind", "description", "source", "resources", "generator")
    description = s.text("description", "")
    source = s.text("source", "")
    generator = s.table("generator").values
    resources = _resources(s)
    rows = _modes(folder, [r.name for r in resources])
    links = _precedences(folder, rows)
    folder.raise_faults()
    _check_capacities(resources, rows)
    folder.raise_faults()
    try:
        tasks = [Task(name, tuple(mode for mode, _ in modes)) for name, modes in rows.items()]
        problem = Project(tasks, resources, links)
    except ProblemError as e:
        folder.add_fault(PRECEDENCES, None, "precedences", "precedences without a cycle", str(e))
        folder.raise_faults()
        raise AssertionError("unreachable: a fault was recorded") from e
    return Instance(folder.path.resolve().name, "project", problem, folder.path, description, source, generator)


def _resources(settings: Table) -> list[Resource]:
    """Return the resources; a project without ``[[resources]]`` has none."""
    resources: dict[str, Resource] = {}
    for table in settings.tables("resources") if settings.values.get("resources", []) != [] else []:
        table.only("name", "capacity", "renewable")
        renewable = table.values.get("renewable", True)
        if not isinstance(renewable, bool):
            table.add_fault("renewable", "true or false", renewable)
        resource = Resource(table.text("name"), table.whole("capacity", 0, most=MOST_CAPACITY), bool(renewable))
        if resource.name in resources:
            table.add_fault("name", "each resource once", resource.name)
        if resource.name in COLUMNS:
            table.add_fault("name", f"another name than the columns {', '.join(COLUMNS)} of {MODES}", resource.name)
        resources[resource.name] = resource
    return list(resources.values())


def _modes(folder: Folder, resources: Sequence[str]) -> Rows:
    """Return the modes of each task with their rows."""
    modes: dict[str, list[tuple[Mode, TableRow]]] = {}
    for row in folder.rows(MODES, (*COLUMNS, *resources)):
        demands = {r: row.whole(r, 0, MOST_CAPACITY) for r in resources}
        mode = Mode(row.text("mode"), row.whole("duration", 0, LATEST), {r: d for r, d in demands.items() if d})
        others = modes.setdefault(row.text("task"), [])
        same = next((at.line for other, at in others if other.name == mode.name), None)
        if same is not None:
            row.add_fault("mode", f"each mode of a task once (line {same} has it too)", mode.name)
        others.append((mode, row))
    if not modes and not folder.faults:
        folder.add_fault(MODES, None, "rows", "at least one task", None)
    return modes


def _precedences(folder: Folder, tasks: Rows) -> list[Link]:
    links = []
    for row in folder.rows(PRECEDENCES, LINK, DELAY):
        before = row.text("before")
        after = row.text("after")
        for column, name in zip(LINK, (before, after), strict=True):
            if name and name not in tasks:
                row.add_fault(column, f"a task of {MODES}", name)
        if before and before == after:
            row.add_fault("after", "another task than before", after)
        links.append((before, after, row.maybe_whole("delay", -LATEST, LATEST) or 0))
    return links


def _check_capacities(resources: Sequence[Resource], tasks: Rows) -> None:
    """Record a fault for each task whose modes all exceed a capacity."""
    capacity = {r.name: r.capacity for r in resources}
    for name, modes in tasks.items():
        exceeded = [next((r for r, d in mode.demands.items() if d > capacity[r]), None) for mode, _ in modes]
        if None not in exceeded:
            mode, row = modes[0]
            r = str(exceeded[0])
            others = "; its other modes exceed a capacity, too" if len(modes) > 1 else ""
            row.add_fault(r, f"at most the capacity {capacity[r]}", f"{mode.demands[r]} by task {name}{others}")


def write(instance: Instance, folder: str | Path) -> None:
    """Write a project as a folder; the same instance gives the same bytes.

    Parameters
    ----------
    instance
        The instance.
    folder
        The folder to write to; created if it does not exist.

    Raises
    ------
    NotReadable
        The files cannot represent the project: a name is empty, begins or ends with a space, or is that of another column;
        a number is too large; or there is no task. Nothing was written.
    """
    project = instance.project

    def check(path: Path) -> None:
        if _content(read(Folder(path)).project) != _content(project):
            raise WrongValue("names of tasks, modes or resources change, for example by spaces at their ends")

    files = {
        MODES: _modes_csv(project),
        PRECEDENCES: _precedences_csv(project),
        SETTINGS: to_toml(_settings(instance), HEADING),
    }
    write_files(Path(folder), files, check)


def _content(project: Project) -> object:
    """Return the data of a project for a comparison; a demand of 0 is no demand."""
    tasks = [
        (t.name, [(m.name, m.duration, {r: d for r, d in m.demands.items() if d}) for m in t.modes])
        for t in project.tasks
    ]
    return tasks, project.resources, project.precedences


def _modes_csv(project: Project) -> str:
    names = [r.name for r in project.resources]
    rows = [[t.name, m.name, m.duration, *(m.demands.get(r, 0) for r in names)] for t in project.tasks for m in t.modes]
    return to_csv([*COLUMNS, *names], rows)


def _precedences_csv(project: Project) -> str:
    """Return the text of ``precedences.csv``; without delays it has no column for them."""
    if any(delay for *_, delay in project.precedences):
        return to_csv([*LINK, *DELAY], project.precedences)
    return to_csv(LINK, [link[:2] for link in project.precedences])


def _settings(instance: Instance) -> dict[str, Any]:
    head = {"kind": "project", "description": instance.description, "source": instance.source}
    resources = [{"name": r.name, "capacity": r.capacity, "renewable": r.renewable} for r in instance.project.resources]
    values: dict[str, Any] = {name: text for name, text in head.items() if text}
    values |= {"resources": resources} if resources else {}
    return values | ({"generator": dict(instance.generator)} if instance.generator else {})
