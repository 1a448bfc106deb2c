"""The part of ``bench show`` for projects: sizes, simple bounds of the makespan, resources."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich import box
from rich.console import Console
from rich.table import Table

from ...models.project.problem import Project
from ...models.project.tasks import Resource


def show_project(console: Console, project: Project) -> None:
    """Print the sizes of a project, its simple bounds, and a row per resource."""
    for line in _lines(project):
        console.print(line)
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for name, side in HEADS:
        table.add_column(name, justify="left" if side == "left" else "right")
    for resource in project.resources:
        table.add_row(*_row(project, resource))
    if project.resources:
        console.print(table)
        console.print(MEANING, style="dim")


HEADS = (
    ("resource", "left"),
    ("capacity", "right"),
    ("limits", "left"),
    ("tasks", "right"),
    ("demand", "right"),
    ("least use", "right"),
    ("use if fastest", "right"),
    ("makespan at least", "right"),
)
MEANING = (
    "tasks: number of tasks that use it; least use, use if fastest: of all tasks, with the modes that need least of it and "
    "with the shortest modes; of a resource that is limited at every time: demand times duration"
)


def _lines(project: Project) -> Iterator[str]:
    possible = {t.name: project.possible(t) for t in project.tasks}
    modes = [len(t.modes) for t in project.tasks]
    durations = [m.duration for t in project.tasks for m in t.modes]
    delays = sum(delay != 0 for *_, delay in project.precedences)
    impossible = sum(modes) - sum(map(len, possible.values()))
    yield f"objective: makespan ({project.sense})"
    yield (
        f"{len(modes)} tasks with {_range(modes)} mode{'s' * (max(modes) > 1)}, {sum(modes)} in all, durations {_range(durations)}"
        + (f"; {impossible} modes exceed a capacity" if impossible else "")
    )
    yield f"{len(project.precedences)} precedences" + (f", {delays} of them with a delay" if delays else "")
    longest = max(project.heads[name] + min(m.duration for m in ms) for name, ms in possible.items())
    yield f"makespan: at least {longest:,} by the longest path, at most {project.horizon:,}"


def _row(project: Project, resource: Resource) -> Iterator[str]:
    demands = [[m.demands.get(resource.name, 0) for m in project.possible(t)] for t in project.tasks]
    used = [amount for amounts in demands for amount in amounts if amount]
    yield resource.name
    yield f"{resource.capacity:,}"
    yield "at every time" if resource.renewable else "in total"
    yield f"{sum(any(amounts) for amounts in demands):,}"
    yield _range(used)
    least, fastest = _work(project, resource)
    yield f"{least:,}"
    yield f"{fastest:,}"
    yield f"{-(-least // resource.capacity):,}" if resource.renewable and resource.capacity else "-"


def _work(project: Project, resource: Resource) -> tuple[int, int]:
    """Return the least total use of a resource and that of the fastest modes; for a renewable one the use times duration."""
    least = fastest = 0
    for task in project.tasks:
        modes = project.possible(task)
        work = [m.demands.get(resource.name, 0) * (m.duration if resource.renewable else 1) for m in modes]
        least += min(work)
        fastest += work[min(range(len(modes)), key=lambda k: modes[k].duration)]
    return least, fastest


def _range(values: Iterable[int]) -> str:
    """Return the least and the greatest value as a text.

    >>> _range([3, 1]), _range([2, 2]), _range([])
    ('1 to 3', '2', '-')
    """
    found = sorted(values)
    if not found:
        return "-"
    return f"{found[0]:,}" if found[0] == found[-1] else f"{found[0]:,} to {found[-1]:,}"
