"""Readers of the classic formats of scheduling: PSPLIB, MMLIB, Patterson, job shop and flexible job shop -> Project."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from ...models.platform import ProblemError
from ...models.project.problem import Project
from ...models.project.tasks import Mode, Resource, Task
from .numbered_lines import FormatError, NumberedLine, is_whole, numbered_lines

MOST = 100_000  # resources, machines


def _project(
    path: str | Path, tasks: Sequence[Task], resources: Sequence[Resource], links: Sequence[tuple[str, str]]
) -> Project:
    try:
        return Project(tasks, resources, links)
    except ProblemError as e:
        raise ProblemError(f"{path}: {e}") from None


def read_psplib(path: str | Path) -> Project:
    """An RCPSP or MRCPSP of PSPLIB (``.sm``, ``.mm``); tasks are named by their numbers, the dummy ones included.

    Raises FormatError with the line, ProblemError for data that contradict themselves. Source: Kolisch and Sprecher,
    PSPLIB, European Journal of Operational Research 96 (1996).
    """
    lines = numbered_lines(path)
    renewable, non_renewable = _resource_counts(lines)
    names = [f"R{k + 1}" for k in range(renewable)] + [f"N{k + 1}" for k in range(non_renewable)]
    links, modes_of = _psplib_precedences(lines)
    modes = _psplib_modes(lines, names)
    for task, (count, line) in modes_of.items():
        if len(modes.get(task, ())) != count:
            raise line.error(
                f"{count} modes of job {task} under REQUESTS/DURATIONS, {len(modes.get(task, ()))} are there"
            )
    limits = _section(lines, r"RESOURCE ?AVAILABILITIES")
    if len(limits) < 2:
        raise lines[-1].error("the capacities under RESOURCEAVAILABILITIES")
    capacities = limits[1].numbers(f"{len(names)} capacities", least=len(names))
    resources = [Resource(n, c, n[0] == "R") for n, c in zip(names, capacities, strict=False)]
    return _project(path, [Task(name, tuple(modes.get(name, ()))) for name in modes_of], resources, links)


def read_mmlib(path: str | Path) -> Project:
    """An MRCPSP of MMLIB50, MMLIB100 or MMLIB+, which have the layout of PSPLIB's ``.mm`` files.

    Source: Van Peteghem and Vanhoucke, European Journal of Operational Research 235 (2014). Errors as ``read_psplib``.
    """
    return read_psplib(path)


def _section(lines: Sequence[NumberedLine], title: str) -> list[NumberedLine]:
    """The lines after a title, up to the next row of asterisks; rows of dashes are left out."""
    begin = next((k for k, line in enumerate(lines) if re.match(rf"\s*{title}", line.text, re.IGNORECASE)), None)
    if begin is None:
        raise FormatError(
            lines[-1].path, lines[-1].number, f"a section {title.replace(' ?', ' ')} before the end", None
        )
    found = []
    for line in lines[begin + 1 :]:
        if line.text.lstrip().startswith("*"):
            break
        if not line.text.lstrip().startswith("-" * 5):
            found.append(line)
    return found


def _resource_counts(lines: Sequence[NumberedLine]) -> tuple[int, int]:
    """Numbers of renewable and of non-renewable resources; doubly constrained ones are refused."""
    counts = []
    for kind in ("renewable", "nonrenewable", "doubly constrained"):
        line = next((x for x in lines if re.match(rf"\s*-\s*{kind}", x.text)), lines[0])
        found = re.search(r":\s*(\d{1,6})(?!\d)", line.text, re.ASCII)
        if found is None or int(found[1]) > MOST:
            raise line.error(f"a line '- {kind} : number', at most {MOST:,}")
        counts.append(int(found[1]))
        if kind == "doubly constrained" and counts[-1]:
            raise line.error("no doubly constrained resources (give each as a renewable and a non-renewable one)")
    return counts[0], counts[1]


def _psplib_precedences(
    lines: Sequence[NumberedLine],
) -> tuple[list[tuple[str, str]], dict[str, tuple[int, NumberedLine]]]:
    """The links, and per task its number of modes."""
    links, modes = [], {}
    for line in _section(lines, "PRECEDENCE RELATIONS")[1:]:
        task, count, successors, *after = line.numbers("job, number of modes, number of successors, successors", 3)
        if len(after) != successors:
            raise line.error(f"{successors} successors")
        modes[str(task)] = (count, line)
        links += [(str(task), str(other)) for other in after]
    return links, modes


def _psplib_modes(lines: Sequence[NumberedLine], resources: Sequence[str]) -> dict[str, list[Mode]]:
    """Task -> modes; only the first mode of a task stands behind the task's number."""
    found: dict[str, list[Mode]] = {}
    task = ""
    wanted = f"[job] mode duration and {len(resources)} demands"
    for line in _section(lines, "REQUESTS/DURATIONS")[1:]:
        values = line.numbers(wanted)
        if len(values) == len(resources) + 3:
            task = str(values.pop(0))
        if len(values) != len(resources) + 2 or not task:
            raise line.error(wanted)
        demands = {r: d for r, d in zip(resources, values[2:], strict=True) if d}
        found.setdefault(task, []).append(Mode(str(values[0]), values[1], demands))
    return found


def read_patterson(path: str | Path) -> Project:
    """An RCPSP in the Patterson format (RG30, RG300): tasks and resources, capacities, then per task its duration,
    demands, number of successors and successors, in any breaking of lines. Tasks are numbered from 1.

    Raises FormatError with the line. Source: Patterson, Management Science 30 (1984).
    """
    take = _Numbers(numbered_lines(path))
    n, k = take.next("the number of tasks"), take.next("the number of resources")
    resources = [Resource(f"R{r + 1}", take.next(f"the capacity of resource {r + 1}")) for r in range(k)]
    tasks, links = [], list[tuple[str, str]]()
    for t in range(1, n + 1):
        duration = take.next(f"the duration of task {t}")
        demands = {r.name: take.next(f"the demand of task {t} for {r.name}") for r in resources}
        tasks.append(Task.single(str(t), duration, {r: d for r, d in demands.items() if d}))
        successors = take.next(f"the number of successors of task {t}")
        links.extend((str(t), str(take.next(f"a successor of task {t}"))) for _ in range(successors))
    return _project(path, tasks, resources, links)


class _Numbers:
    """The whole numbers of a file one after another, each with its line."""

    def __init__(self, lines: Sequence[NumberedLine]) -> None:
        self._last = lines[-1]
        self._words: Iterator[tuple[NumberedLine, str]] = ((line, w) for line in lines for w in line.text.split())

    def next(self, expected: str) -> int:
        """The next number. Raises FormatError for anything else, or the end of the file."""
        line, word = next(self._words, (self._last, ""))
        if not is_whole(word):
            raise FormatError(line.path, line.number, expected, word or "the end of the file")
        return int(word)


def read_jsplib(path: str | Path) -> Project:
    """A job shop in the standard text form: "jobs machines", then per job a line of (machine, duration) pairs.

    Machines are numbered from 0. Tasks are named "job 1 step 1" and so on. Raises FormatError with the line.
    Source: Taillard, European Journal of Operational Research 64 (1993), and JSPLIB.
    """
    lines = numbered_lines(path)
    lines[0].numbers("the numbers of jobs and machines")
    jobs, machines = _size(lines[0])
    steps_of = []
    for line in _rows(lines, jobs):
        values = line.numbers(f"{machines} pairs of machine and duration")
        if len(values) != 2 * machines:
            raise line.error(f"{machines} pairs of machine and duration")
        steps = [[(values[i], values[i + 1])] for i in range(0, len(values), 2)]
        _check_machines(line, steps, range(machines))
        steps_of.append(steps)
    return _shop(path, steps_of, range(machines))


def read_fjsplib(path: str | Path) -> Project:
    """A flexible job shop (``.fjs``): "jobs machines [average]", then per job a line with its number of steps and per step
    the number of machines that can do it with the (machine, duration) pairs. Machines are numbered from 1; a step's modes
    are named by them.

    Raises FormatError with the line. Source: Brandimarte, Annals of Operations Research 41 (1993).
    """
    lines = numbered_lines(path)
    jobs, machines = _size(lines[0])
    steps_of = []
    for line in _rows(lines, jobs):
        steps = _flexible_steps(line)
        _check_machines(line, steps, range(1, machines + 1))
        steps_of.append(steps)
    return _shop(path, steps_of, range(1, machines + 1))


def _size(line: NumberedLine) -> tuple[int, int]:
    """The numbers of jobs and of machines; what follows in the line is not read."""
    head = line.text.split()[:2]
    if len(head) < 2 or not all(map(is_whole, head)) or int(head[1]) > MOST:
        raise line.error(f"the numbers of jobs and machines (at most {MOST:,})")
    return int(head[0]), int(head[1])


def _rows(lines: Sequence[NumberedLine], jobs: int) -> Sequence[NumberedLine]:
    if len(lines) - 1 < jobs:
        raise FormatError(lines[-1].path, lines[-1].number, f"{jobs} lines, one per job", f"{len(lines) - 1} of them")
    if len(lines) - 1 > jobs:
        raise lines[jobs + 1].error(f"the end of the file after {jobs} jobs")
    return lines[1:]


Steps = list[list[tuple[int, int]]]


def _flexible_steps(line: NumberedLine) -> Steps:
    values = line.numbers("steps, and per step machines with durations", least=1)
    steps: Steps = []
    at = 1
    for _ in range(values[0]):
        count = values[at] if at < len(values) else 0
        pairs = values[at + 1 : at + 1 + 2 * count]
        if not count or len(pairs) != 2 * count:
            raise line.error(
                f"{values[0]} steps, each with a number of machines and as many pairs (step {len(steps) + 1})"
            )
        steps.append([(pairs[i], pairs[i + 1]) for i in range(0, len(pairs), 2)])
        at += 1 + 2 * count
    if at != len(values):
        raise line.error(f"the end of the line after {values[0]} steps")
    return steps


def _check_machines(line: NumberedLine, steps: Steps, machines: range) -> None:
    for k, options in enumerate(steps, 1):
        for machine, _ in options:
            if machine not in machines:
                raise line.error(f"machines from {machines[0]} to {machines[-1]} (step {k} has machine {machine})")


def _shop(path: str | Path, steps_of: Sequence[Steps], machines: range) -> Project:
    """A project with a resource of capacity 1 per machine, and the steps of each job in a chain."""
    tasks, links = [], []
    for j, steps in enumerate(steps_of, 1):
        for k, options in enumerate(steps, 1):
            modes = tuple(Mode(f"machine {m}", d, {f"machine {m}": 1}) for m, d in options)
            tasks.append(Task(f"job {j} step {k}", modes))
            if k > 1:
                links.append((f"job {j} step {k - 1}", f"job {j} step {k}"))
    return _project(path, tasks, [Resource(f"machine {m}", 1) for m in machines], links)
