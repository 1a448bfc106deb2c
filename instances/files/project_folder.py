"""Instances of kind "project": resources in ``instance.toml``, a row per mode in ``modes.csv``, ``precedences.csv``.

The rows of ``modes.csv`` with the same task are its modes; a column per resource holds the demand of the mode. A row of
``precedences.csv`` says that the task ``after`` starts at the end of the task ``before`` plus ``delay`` or later; with 1 in the
column ``no_wait`` exactly then, with 1 in ``blocking`` the first task keeps its resources until then. A folder may have
``tasks.csv`` with the dates, weights and families of tasks, and ``setups.csv`` with the setups of resources.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from ...errors import WrongValue
from ...models.arguments import whole_pairs
from ...models.platform import LATEST, MOST_CAPACITY, ProblemError
from ...models.project.problem import Link, Mode, Pair, Project, Resource, Task
from ...models.project.verification import MAKESPAN, terms
from ...models.words import UnknownName
from ..instance import Instance
from .reading import SETTINGS, Folder, Table, TableRow
from .writing import to_csv, to_toml, write_files

MODES, PRECEDENCES = "modes.csv", "precedences.csv"
TASKS, SETUPS = "tasks.csv", "setups.csv"  # which a folder need not have
NUMBERS = ("release", "deadline", "due", "weight", "earliness_weight", "penalty")  # of tasks.csv
NAMES = ("family", "job")
FLAGS = ("all_pairs", "suspends", "no_idle")  # of [[resources]]
SETUP = ("resource", "before", "after", "time")
COLUMNS = ("task", "mode", "duration")  # of modes.csv, before the resources
LINK, DELAY, RULES = ("before", "after"), ("delay",), ("no_wait", "blocking")
HEADING = """\
An instance of schedlab: a project. Times are whole numbers in the time unit of the project.
modes.csv has a row for each mode of each task, with a column for its demand of each resource.
precedences.csv: the task "after" starts at the end of the task "before" plus the delay (0 if there is none) or later."""
Rows = Mapping[str, Sequence[tuple[Mode, TableRow]]]


class Links(NamedTuple):
    """The rows of ``precedences.csv``."""

    links: list[Link]
    no_wait: list[Pair]
    blocking: list[Pair]


def read(folder: Folder, drop_impossible: bool = False) -> Instance:
    """Read an instance folder. Raises InstanceError with all faults.

    A task that can never run is a fault even if ``drop_impossible`` is set: a project without one of its tasks would be
    another project.
    """
    s = folder.settings
    s.only("kind", "description", "source", "resources", "generator", "objective", "permutation")
    description = s.text("description", "")
    source = s.text("source", "")
    generator = s.table("generator").values
    objective = _objective(s)
    permutation = _permutation(s)
    resources = _resources(s)
    rows = _modes(folder, [r.name for r in resources])
    links = _precedences(folder, rows)
    tasks = _tasks(folder, rows)
    resources = _with_setups(folder, resources)
    folder.raise_faults()
    _check_capacities(resources, rows)
    folder.raise_faults()
    try:
        problem = Project(tasks, resources, links.links, objective, links.no_wait, links.blocking, permutation)
    except ProblemError as e:
        if "form a cycle" in str(e):
            folder.add_fault(PRECEDENCES, None, "precedences", "precedences without a cycle", str(e))
        else:
            for line in str(e).splitlines():
                folder.add_fault(SETTINGS, None, "project", "data that do not contradict each other", line)
        folder.raise_faults()
        raise AssertionError("unreachable: a fault was recorded") from e
    return Instance(folder.path.resolve().name, "project", problem, folder.path, description, source, generator)


def _objective(settings: Table) -> str:
    objective = settings.text("objective", MAKESPAN)
    try:
        terms(objective)
    except (UnknownName, WrongValue) as e:
        settings.add_fault("objective", f"an objective: {e}", objective)
        return MAKESPAN
    return objective


def _permutation(settings: Table) -> list[str]:
    names = settings.values.get("permutation", [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        settings.add_fault("permutation", "a list of names of resources", names)
        return []
    return names


def _resources(settings: Table) -> list[Resource]:
    """Return the resources; a project without ``[[resources]]`` has none."""
    resources: dict[str, Resource] = {}
    for table in settings.tables("resources") if settings.values.get("resources", []) != [] else []:
        table.only("name", "capacity", "renewable", "breaks", *FLAGS)
        resource = Resource(
            table.text("name"),
            table.whole("capacity", 0, most=MOST_CAPACITY),
            _flag(table, "renewable", True),
            breaks=_breaks(table),
            all_pairs=_flag(table, "all_pairs", False),
            suspends=_flag(table, "suspends", False),
            no_idle=_flag(table, "no_idle", False),
        )
        if resource.name in resources:
            table.add_fault("name", "each resource once", resource.name)
        if resource.name in COLUMNS:
            table.add_fault("name", f"another name than the columns {', '.join(COLUMNS)} of {MODES}", resource.name)
        resources[resource.name] = resource
    return list(resources.values())


def _flag(table: Table, key: str, default: bool) -> bool:
    value = table.values.get(key, default)
    if not isinstance(value, bool):
        table.add_fault(key, "true or false", value)
    return bool(value)


def _breaks(table: Table) -> tuple[tuple[int, int], ...]:
    """Return the breaks of a resource: [[begin, end], ...]."""
    given = table.values.get("breaks", [])
    pairs = whole_pairs(given)
    if pairs is None or not all(-LATEST <= begin < end <= LATEST for begin, end in pairs):
        table.add_fault("breaks", f"windows [begin, end] of whole numbers up to {LATEST}, begin < end", given)
        return ()
    return pairs


def _tasks(folder: Folder, rows: Rows) -> list[Task]:
    """Return the tasks with their modes, and with what ``tasks.csv`` says of them."""
    tasks = {name: Task(name, tuple(mode for mode, _ in modes)) for name, modes in rows.items()}
    if not (folder.path / TASKS).exists():
        return list(tasks.values())
    seen: dict[str, int] = {}
    for row in folder.rows(TASKS, ("task",), (*NUMBERS, *NAMES)):
        name = row.text("task")
        if name in seen:
            row.add_fault("task", f"each task once (line {seen[name]} has it too)", name)
        elif name and name not in tasks:
            row.add_fault("task", f"a task of {MODES}", name)
        elif name:
            given = {column: row.maybe_whole(column, 0, LATEST) for column in NUMBERS}
            values: dict[str, Any] = {column: number for column, number in given.items() if number is not None}
            values |= {column: row.cells.get(column, "") for column in NAMES}
            tasks[name] = replace(tasks[name], **values)
        seen[name] = row.line
    return list(tasks.values())


def _with_setups(folder: Folder, resources: Sequence[Resource]) -> list[Resource]:
    """Return the resources with the setups of ``setups.csv``."""
    if not (folder.path / SETUPS).exists():
        return list(resources)
    setups: dict[str, dict[Pair, int]] = {r.name: {} for r in resources}
    for row in folder.rows(SETUPS, SETUP):
        name = row.text("resource")
        pair = (row.text("before"), row.text("after"))
        time = row.whole("time", 0, LATEST)
        if name and name not in setups:
            row.add_fault("resource", "a resource of instance.toml", name)
        elif name and pair in setups[name]:
            row.add_fault("after", "each pair of families once for a resource", pair[1])
        elif name:
            setups[name][pair] = time
    return [replace(r, setups=setups[r.name]) for r in resources]


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


def _precedences(folder: Folder, tasks: Rows) -> Links:
    links = Links([], [], [])
    for row in folder.rows(PRECEDENCES, LINK, DELAY, RULES):
        before = row.text("before")
        after = row.text("after")
        for column, name in zip(LINK, (before, after), strict=True):
            if name and name not in tasks:
                row.add_fault(column, f"a task of {MODES}", name)
        if before and before == after:
            row.add_fault("after", "another task than before", after)
        links.links.append((before, after, row.maybe_whole("delay", -LATEST, LATEST) or 0))
        for column, pairs in zip(RULES, (links.no_wait, links.blocking), strict=True):
            if row.maybe_whole(column, 0, 1):
                pairs.append((before, after))
    return links


def _check_capacities(resources: Sequence[Resource], tasks: Rows) -> None:
    """Record a fault for each task whose modes all exceed a capacity."""
    capacity = {r.name: r.capacity for r in resources}
    for name, modes in tasks.items():
        exceeded = [next((r for r, d in mode.demands.items() if d > capacity[r]), None) for mode, _ in modes]
        if None not in exceeded:
            mode, row = modes[0]
            r = str(exceeded[0])
            others = ""
            if len(modes) > 1:
                others = "; its other modes exceed a capacity, too"
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
    more = {TASKS: _tasks_csv(project), SETUPS: _setups_csv(project)}
    # an old file would be read with the new ones
    files |= {name: text for name, text in more.items() if text.count("\n") > 1 or (Path(folder) / name).exists()}
    write_files(Path(folder), files, check)


def _content(project: Project) -> object:
    """Return the data of a project for a comparison; a demand of 0 is no demand."""
    tasks = [
        replace(t, modes=tuple(Mode(m.name, m.duration, {r: d for r, d in m.demands.items() if d}) for m in t.modes))
        for t in project.tasks
    ]
    rules = set(project.no_wait), set(project.blocking), project.permutation, project.objective
    return tasks, project.resources, project.precedences, rules


def _modes_csv(project: Project) -> str:
    names = [r.name for r in project.resources]
    rows = [[t.name, m.name, m.duration, *(m.demands.get(r, 0) for r in names)] for t in project.tasks for m in t.modes]
    return to_csv([*COLUMNS, *names], rows)


def _precedences_csv(project: Project) -> str:
    """Return the text of ``precedences.csv``; without delays and rules it has no columns for them."""
    columns = [*LINK, *(DELAY if any(delay for *_, delay in project.precedences) else ())]
    rules = [
        (name, set(pairs)) for name, pairs in zip(RULES, (project.no_wait, project.blocking), strict=True) if pairs
    ]
    rows = [
        [*link[: len(columns)], *(1 if link[:2] in pairs else None for _, pairs in rules)]
        for link in project.precedences
    ]
    return to_csv([*columns, *(name for name, _ in rules)], rows)


def _tasks_csv(project: Project) -> str:
    """Return the text of ``tasks.csv``: the columns and tasks that differ from a task without dates."""
    plain = Task("", ())
    columns = [c for c in (*NUMBERS, *NAMES) if any(getattr(t, c) != getattr(plain, c) for t in project.tasks)]
    rows = [[t.name, *(getattr(t, c) for c in columns)] for t in project.tasks]
    return to_csv(["task", *columns], [row for row in rows if columns])


def _setups_csv(project: Project) -> str:
    """Return the text of ``setups.csv``."""
    return to_csv(SETUP, [[r.name, *pair, time] for r in project.resources for pair, time in r.setups.items()])


def _settings(instance: Instance) -> dict[str, Any]:
    head = {"kind": "project", "description": instance.description, "source": instance.source}
    values: dict[str, Any] = {name: text for name, text in head.items() if text}
    if instance.project.objective != MAKESPAN:
        values["objective"] = instance.project.objective
    if instance.project.permutation:
        values["permutation"] = list(instance.project.permutation)
    resources = [_resource_table(r) for r in instance.project.resources]
    if resources:
        values |= {"resources": resources}
    else:
        values |= {}
    return values | ({"generator": dict(instance.generator)} if instance.generator else {})


def _resource_table(r: Resource) -> dict[str, Any]:
    table: dict[str, Any] = {"name": r.name, "capacity": r.capacity, "renewable": r.renewable}
    if r.breaks:
        table |= {"breaks": [list(window) for window in r.breaks]}
    return table | {name: True for name in FLAGS if getattr(r, name)}
